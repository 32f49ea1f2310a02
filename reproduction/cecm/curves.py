"""Figures 6 to 14: the Rand index against the number of links, random or asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.cecm import numbers
from reproduction.cecm.collecting import blocks, gathered, joined, mean_and_deviation
from reproduction.cecm.trials import FILES, METHODS, METRICS, SETS, active_curve, rand_curve
from reproduction.exhibit import Cell, Exhibit, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = (0, 10, 20, 50, 100, 200)
ASKED = {"Iris": "CECM-Mah", "Glass": "CECM-Mah", "Letters": "CECM-Mah", "Wine": "CECM-Eucl"}  # Figures 7 to 10
ASKED_AT = (0, 10, 20, 30, 40, 50, 100, 200)
ACTIVE_STARTS = 3
IMPLIED = "our session never asks about a pair that follows from earlier answers, so that an answer counts for more"
GOOD = 0.97


def curve_units(name: str, method: str, quick: bool, seed: int) -> list[Unit]:
    settings = {"dataset": name, "method": method, "counts": list(COUNTS), "seed": seed}
    return blocks(f"curve/{name}/{method}", rand_curve, settings, 10 if quick else 100)


def random_units(quick: bool, seed: int) -> list[Unit]:
    return curve_units("Iris", "CECM-Mah", quick, seed)


def active_units(quick: bool, seed: int) -> list[Unit]:
    units = []
    for name, method in ASKED.items():
        units += curve_units(name, method, quick, seed)
        settings = {
            "dataset": name,
            "metric": METRICS[method.partition("-")[2]],
            "n_questions": 40 if quick else 200,
            "starts": ACTIVE_STARTS,
            "seed": seed,
        }
        units.append(Unit(f"active/{name}", active_curve, settings))
    return units


def comparison_units(quick: bool, seed: int) -> list[Unit]:
    return [unit for name in SETS for method in METHODS for unit in curve_units(name, method, quick, seed)]


# -- cells ------------------------------------------------------------------------------------------------------------


def measured(row: str, column: str, values: list[float]) -> Cell:
    return Cell(row, column, *mean_and_deviation(values), runs=max(1, len(values)))


def random_cells(results: Results) -> list[Cell]:
    parts = gathered(results, "curve/Iris/CECM-Mah")
    return [
        measured(f"{count} links", column, joined(parts, what, at))
        for at, count in enumerate(COUNTS)
        for what, column in (("rand", "all objects"), ("unlinked", "objects without links"))
    ]


def first_at(curve: list[float], level: float) -> int | None:
    """Number of answers from which a curve has a value."""
    return next((answers for answers, value in enumerate(curve) if value >= level), None)


def active_cells(results: Results) -> list[Cell]:
    cells = []
    for name, method in ASKED.items():
        parts = gathered(results, f"curve/{name}/{method}")
        asked = results.get(f"active/{name}", {"rand": []})["rand"]
        for answers in ASKED_AT:
            row = f"{name}, {answers} links"
            if answers in COUNTS:
                at = COUNTS.index(answers)
                cells.append(measured(row, "random", joined(parts, "rand", at)))
            cells.append(Cell(row, "active", asked[answers] if answers < len(asked) else None))
    curve = results.get("active/Iris", {"rand": []})["rand"]
    best = first_at(curve, max(curve)) if curve else None
    cells.append(
        Cell(
            "Iris, links until the best partition",
            "active",
            best,
            paper=numbers.ANSWERS_TO_THE_BEST,
            better="lower",
            incomparable=IMPLIED,
        )
    )
    return cells


def active_notes(results: Results) -> list[str]:
    notes = []
    for name in ASKED:
        curve = results.get(f"active/{name}", {"rand": []})["rand"]
        if curve:
            reached = first_at(curve, GOOD)
            good = f"{GOOD:g} with {reached}" if reached is not None else f"never {GOOD:g}"
            notes.append(
                f"{name}, active questions: Rand index {good}, its highest value {max(curve):.3f} with "
                f"{first_at(curve, max(curve))} of {len(curve) - 1} answers."
            )
    return notes


def of_curve(results: Results, name: str, method: str) -> list[list[float]]:
    """Rand indices of the trials for each count, none where no trial gave a partition."""
    parts = gathered(results, f"curve/{name}/{method}")
    return [joined(parts, "rand", at) for at in range(len(COUNTS))]


def comparison_cells(results: Results) -> list[Cell]:
    return [
        measured(f"{name}, {method}", f"{count} links", values)
        for name in SETS
        for method in METHODS
        for count, values in zip(COUNTS, of_curve(results, name, method))
    ]


COMPARISON_WORDS = (
    "Letters is a draw of our own of 227 rows with the letters I, J and L; the paper's is not published.",
    "CECM, CFCM and FCM start once, as in the paper, CECM's links on a ramp as in Tables 5 and 6; COP-KMEANS has ten "
    "starts and fails when none of them ends in a partition that obeys all links. Its means are over the trials that "
    "did not.",
)
ACTIVE_WORDS = (
    f"Active questions: {IMPLIED}. The paper does not say whether its own skipped such pairs. {ACTIVE_STARTS} starts "
    "of CECM after each answer.",
)


def comparison_notes(results: Results) -> list[str]:
    """How COP-KMEANS fared."""
    notes = []
    for name in SETS:
        parts = gathered(results, f"curve/{name}/COP")
        trials = sum(len(part["rand"][0]) + part["failed"][0] for part in parts)
        told = []
        for at, count in enumerate(COUNTS):
            failed, unsettled = (sum(part[what][at] for part in parts) for what in ("failed", "unsettled"))
            if failed or unsettled:
                told.append(f"{count} links: {failed} failed, {unsettled} went round in circles")
        if parts:
            notes.append(f"COP-KMEANS on {name}, of {trials} trials: {'; '.join(told) or 'none failed'}.")
    return notes


# -- figures ----------------------------------------------------------------------------------------------------------


def draw_curve(ax: Any, results: Results, key: str, label: str, what: str = "rand") -> None:
    """Mean over the trials with its 95 % confidence interval; points at which every trial failed are left out."""
    parts = gathered(results, key)
    values = [(count, joined(parts, what, at)) for at, count in enumerate(COUNTS)]
    values = [(count, found) for count, found in values if found]
    if values:
        means = [np.mean(found) for _, found in values]
        errors = [1.96 * np.std(found) / np.sqrt(len(found)) for _, found in values]
        ax.errorbar([count for count, _ in values], means, errors, label=label, capsize=2, marker="o", markersize=3)


def finish(ax: Any, title: str) -> None:
    ax.set(title=title, xlabel="number of links", ylabel="Rand index")
    if ax.has_data():
        ax.legend(fontsize="small")


def draw_random(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.6), layout="constrained")
    ax = figure.subplots()
    draw_curve(ax, results, "curve/Iris/CECM-Mah", "all objects")
    draw_curve(ax, results, "curve/Iris/CECM-Mah", "objects without links", "unlinked")
    finish(ax, "Iris, random links")
    return figure


def draw_active(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    for ax, (name, method) in zip(figure.subplots(2, 2).flat, ASKED.items()):
        draw_curve(ax, results, f"curve/{name}/{method}", "random links")
        if f"active/{name}" in results:
            ax.plot(results[f"active/{name}"]["rand"], label="active questions")
        finish(ax, name)
    return figure


def draw_comparison(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    for ax, name in zip(figure.subplots(2, 2).flat, SETS):
        for method in METHODS:
            draw_curve(ax, results, f"curve/{name}/{method}", method)
        finish(ax, name)
    return figure


EXHIBITS = [
    Exhibit(
        "cecm.figure6",
        "Iris: Rand index against the number of random links",
        random_units,
        random_cells,
        draw_random,
        data=FILES[:1],
        minutes=(0.1, 0.4),
    ),
    Exhibit(
        "cecm.figure7-10",
        "Questions that the partition asks, against random links",
        active_units,
        active_cells,
        draw_active,
        active_notes,
        data=FILES,
        minutes=(0.6, 4),
        words=ACTIVE_WORDS,
    ),
    Exhibit(
        "cecm.figure11-14",
        "Six methods that take links",
        comparison_units,
        comparison_cells,
        draw_comparison,
        comparison_notes,
        data=FILES,
        minutes=(1.5, 14),
        words=COMPARISON_WORDS,
    ),
]
