"""Tables 5 and 6 (how much the weight of the links matters) and 7 to 9 (seconds and iterations)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from reproduction.cecm import numbers
from reproduction.cecm.collecting import blocks, gathered, joined, mean_and_deviation
from reproduction.cecm.trials import FILES, METHODS, SETS, four_clusters, rand_by_xi, rand_curve
from reproduction.exhibit import Cell, Exhibit, Results, Unit

METRIC_NAMES = {"euclidean": "Eucl.", "mahalanobis": "Mah."}
TIMED = METHODS[:4]
N_LINKS = 100  # of Tables 7 to 9
PAPER_TRIALS = 100  # of Tables 5 and 6
VARIANTS = {
    "CECM-1 Eucl": ("euclidean", "full"),
    "CECM-2 Eucl": ("euclidean", "pairs"),
    "CECM-1 Mah": ("mahalanobis", "full"),
    "CECM-2 Mah": ("mahalanobis", "pairs"),
}
OTHER_MACHINE = "another machine and language: Matlab on an AMD Opteron 885"
OTHER_STOP = (
    "the paper does not say when a change of the centers is small enough to stop, and ours leaves out the first steps, "
    "in which the links grow to full strength"
)


def xi_units(counts: tuple[int, ...], quick: bool, seed: int) -> list[Unit]:
    trials = 10 if quick else 100
    return [
        unit
        for name, metric in numbers.COLUMNS.items()
        for n_links in counts
        for unit in blocks(
            f"xi/{name}/{n_links}",
            rand_by_xi,
            {"dataset": name, "metric": metric, "n_links": n_links, "xis": list(numbers.XIS), "seed": seed},
            trials,
        )
    ]


def xi_cells(counts: tuple[int, ...], results: Results) -> list[Cell]:
    cells = []
    for n_links in counts:
        for at, xi in enumerate(numbers.XIS):
            for name, metric in numbers.COLUMNS.items():
                means, deviations = numbers.RAND[n_links][name]
                values = joined(gathered(results, f"xi/{name}/{n_links}"), "rand", at)
                cells.append(
                    Cell(
                        f"{n_links} links, ξ = {xi:g}",
                        f"{name} ({METRIC_NAMES[metric]})",
                        *mean_and_deviation(values),
                        means[at],
                        deviations[at],
                        runs=max(1, len(values)),
                        paper_runs=PAPER_TRIALS,
                        reason=XI_REASONS.get((name, n_links, xi), ""),
                    )
                )
    return cells


XI_REASONS = {
    ("Glass", 100, 0.6): "The paper's row has 0.93 at ξ = 0.5 and again from 0.7 to 0.9, and 0.94 here alone. Three "
    "sets of 100 draws of the links have 0.917, 0.922 and 0.919 at 0.5, 0.919, 0.925 and 0.921 at 0.6, and 0.919, "
    "0.926 and 0.921 at 0.7: no peak at 0.6, and all within 0.02 of the paper's 0.93.",
}
XI_WORDS = (
    "One start a trial, as in the paper; ours is at k-means centers, the paper's at random ones.",
    "These tables rest on a ramp that the paper does not speak of: in our fits the links first grow from weak to full "
    "strength. In 20 trials with ξ = 0.5 the mean Rand index with the ramp and without it, begun at full strength at "
    "the same kind of centers, was 0.933 and 0.863 on Iris with 20 links (the paper's 0.94), 0.985 and 0.920 with 100 "
    "(0.97); 0.852 and 0.810 on Glass with 20 links (0.87), 0.916 and 0.908 with 100 (0.93); on Wine they do not "
    "differ.",
    "The paper does not speak of scaling. Its 0.95 for Wine without links is that of standardized columns (raw: 0.73). "
    "Iris and Glass are raw: under the adaptive metric the scale only changes what ξ means, and with standardized "
    "columns Glass stays below the paper at small ξ (0.87 instead of 0.94 at ξ = 0.1, 200 links). Both were found by "
    "matching.",
)


def timed_units(quick: bool, seed: int) -> list[Unit]:
    settings = {"counts": [N_LINKS], "first": 0, "trials": 5 if quick else 20, "seed": seed}
    return [
        Unit(f"timed/{name}/{method}", rand_curve, {"dataset": name, "method": method, **settings})
        for name in SETS
        for method in TIMED
    ]


def timed_cells(
    what: str, paper: dict[str, dict[str, tuple[float, float]]], incomparable: str, results: Results
) -> list[Cell]:
    cells = []
    for name in SETS:
        for method in TIMED:
            found = results.get(f"timed/{name}/{method}")
            values = found[what][0] if found else []
            more: Any = {"better": "lower", "incomparable": incomparable, "rival": not method.startswith("CECM")}
            cells.append(
                Cell(name, method, *mean_and_deviation(values), *paper[name][method], runs=max(1, len(values)), **more)
            )
    return cells


def four_units(quick: bool, seed: int) -> list[Unit]:
    settings = {"n_links": N_LINKS, "trials": 5 if quick else 20, "seed": seed}
    return [
        Unit(f"four/{name}", four_clusters, {"metric": metric, "focal_sets": focal_sets, **settings})
        for name, (metric, focal_sets) in VARIANTS.items()
    ]


def four_cells(results: Results) -> list[Cell]:
    cells = []
    for name, (seconds, iterations) in numbers.FOUR.items():
        found = results.get(f"four/{name}", {"rand": [], "seconds_of_fit": [], "iterations": []})
        runs: Any = {"runs": max(1, len(found["rand"]))}
        cells += [
            Cell("Rand index", name, *mean_and_deviation(found["rand"]), numbers.FOUR_RAND, **runs),
            Cell(
                "CPU (sec.)",
                name,
                *mean_and_deviation(found["seconds_of_fit"]),
                *seconds,
                better="lower",
                incomparable=OTHER_MACHINE,
                **runs,
            ),
            Cell(
                "iterations",
                name,
                *mean_and_deviation(found["iterations"]),
                *iterations,
                better="lower",
                incomparable=OTHER_STOP,
                **runs,
            ),
        ]
    return cells


def _xi_exhibit(table: int, counts: tuple[int, ...]) -> Exhibit:
    return Exhibit(
        f"cecm.table{table}",
        f"Rand index as a function of ξ, {counts[0]} and {counts[1]} random links",
        partial(xi_units, counts),
        partial(xi_cells, counts),
        words=XI_WORDS,
        data=FILES[:3],
        minutes=(0.4, 3.5),
    )


def _timed_exhibit(table: int, title: str, cells: Callable[[Results], list[Cell]]) -> Exhibit:
    return Exhibit(f"cecm.table{table}", title, timed_units, cells, data=FILES, minutes=(0.2, 0.7))


EXHIBITS = [
    _xi_exhibit(5, (20, 50)),
    _xi_exhibit(6, (100, 200)),
    _timed_exhibit(
        7, "Seconds of a fit, 100 random links", partial(timed_cells, "seconds_of_fit", numbers.SECONDS, OTHER_MACHINE)
    ),
    _timed_exhibit(
        8, "Iterations, 100 random links", partial(timed_cells, "iterations", numbers.ITERATIONS, OTHER_STOP)
    ),
    Exhibit(
        "cecm.table9",
        "All sets (CECM-1) against pairs (CECM-2): Two-class in four clusters, 100 random links",
        four_units,
        four_cells,
        words=("Two-class in four clusters: the truth is which of the four Gaussians a point was drawn from.",),
        minutes=(0.1, 0.2),
    ),
]
