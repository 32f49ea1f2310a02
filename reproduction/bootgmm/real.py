"""Tables 5 to 12 and Figures 11 to 18: Iris and Diabetes, by BootGMM, by ECM and by EVCLUS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from evidentia import ECM, EVCLUS, BootGMM, CredalPartition, FocalSets, ParsimoniousGaussianMixture
from evidentia.datasets import load
from reproduction.bootgmm import printed
from reproduction.bootgmm.calibration import StoppedEarly
from reproduction.bootgmm.fits import (
    PAPER_TOL,
    bootstrapped,
    class_order,
    draw_fit,
    draw_planes,
    packed,
    remarks,
    reordered,
    set_names,
    unpacked,
)
from reproduction.bootgmm.printed import Counts
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSES = {"iris": ["se", "ve", "vi"], "diabetes": ["ch", "no", "ov"]}
MODELS = {"iris": "VEV", "diabetes": "VVV"}
SIZES = {"se": 50, "ve": 50, "vi": 50, "ch": 36, "no": 76, "ov": 33}
PLANES = {"iris": [(0, 1), (2, 3)], "diabetes": [(0, 1), (0, 2)]}
WRONG = "on a set without their class"
LIMIT = "Means over ten seeds; the paper's is one run, and its error is taken as the deviation between ours."


def table_of(data: str) -> tuple[np.ndarray, np.ndarray]:
    found = load(data)
    return np.asarray(found.data, dtype=float), np.asarray(found.target)


# -- what is measured --------------------------------------------------------------------------------------------------


def confusion(partition: CredalPartition, target: np.ndarray, classes: Sequence[str]) -> Counts:
    """How many objects of each class have their largest mass on each set."""
    best = np.array(set_names(partition))[partition.masses.argmax(axis=1)]
    return {
        name: {held: int((best[target == k] == held).sum()) for held in set_names(partition)}
        for k, name in enumerate(classes)
    }


def wrong(counts: Counts) -> int:
    """Objects on a set of clusters that does not contain their class; outliers are on none.

    >>> wrong({"a": {"{a}": 5, "{b}": 2, "{a,b}": 3}, "b": {"{}": 1, "{b}": 4}})
    2
    """
    return sum(
        number
        for name, row in counts.items()
        for held, number in row.items()
        if held != "{}" and name not in held[1:-1].split(",")
    )


def measure_selection(data: str, n_components: int | None, seed: int) -> Result:
    """The model that BIC prefers, of the fourteen, for a number of components or any from 1 to 9."""
    begin = perf_counter()
    X, _ = table_of(data)
    best = ParsimoniousGaussianMixture(n_components or "auto", random_state=seed).fit(X)
    return {"model": best.model_, "n_components": int(best.n_clusters_), "seconds": perf_counter() - begin}


def measure_bootgmm(data: str, model: str, n_boot: int, seed: int) -> Result:
    begin = perf_counter()
    X, target = table_of(data)
    fitted = BootGMM(3, model=model, n_boot=n_boot, boot_tol=PAPER_TOL, random_state=seed).fit(X)
    order, names = class_order(fitted.partition_, target, CLASSES[data])
    found = bootstrapped(fitted, order, names)
    hard, soft = unpacked(found["hard"]), unpacked(found["partition"])
    return {
        **found,
        "counts": confusion(soft, target, CLASSES[data]),
        "hard counts": confusion(hard, target, CLASSES[data]),
        "hard ARI": adjusted_rand_score(target, fitted.mixture_.labels_),
        "ARI": adjusted_rand_score(target, fitted.labels_),
        "seconds": perf_counter() - begin,
    }


def measure_stopped(data: str, model: str, n_boot: int, seed: int) -> Result:
    begin = perf_counter()
    X, target = table_of(data)
    mixture = StoppedEarly(3, model=model, random_state=seed)
    fitted = BootGMM(mixture=mixture, n_boot=n_boot, random_state=seed).fit(X)
    return {**named(fitted.partition_, data, target), "seconds": perf_counter() - begin}


def named(partition: CredalPartition, data: str, target: np.ndarray) -> Result:
    found = reordered(partition, *class_order(partition, target, CLASSES[data]))
    return {"partition": packed(found), "counts": confusion(found, target, CLASSES[data])}


def measure_ecm(data: str, standardized: bool, rho: float, seed: int) -> Result:
    """Single clusters first; then with the pair of clusters that are nearest to each other, from the same centers."""
    begin = perf_counter()
    X, target = table_of(data)
    rows = scale(X) if standardized else X
    single = [(), (0,), (1,), (2,)]
    first = ECM(3, focal_sets=single, rho=rho, random_state=seed).fit(rows)
    plausible = first.partition_.contour
    similarity = np.triu(plausible.T @ plausible, 1)
    near = tuple(map(int, np.unravel_index(similarity.argmax(), similarity.shape)))
    fitted = ECM(3, focal_sets=[*single, near], rho=rho, init=first.cluster_centers_).fit(rows)
    return {**named(fitted.partition_, data, target), "seconds": perf_counter() - begin}


def measure_evclus(data: str, pair: list[str] | None, n_pairs: int, n_near: int, seed: int) -> Result:
    """On standardized attributes; a pair of classes that is given takes the place of the search for near clusters."""
    begin = perf_counter()
    X, target = table_of(data)
    rows = scale(X)
    fitted = EVCLUS(3, focal_sets="near-pairs", n_near=n_near, n_pairs=n_pairs, random_state=seed).fit(rows)
    if pair is not None:
        single = EVCLUS(3, focal_sets="simple", n_pairs=n_pairs, random_state=seed).fit(rows)
        order, names = class_order(single.partition_, target, CLASSES[data])
        asked = tuple(order[names.index(name)] for name in pair)
        sets = FocalSets(3, [(), (0,), (1,), (2,), asked, (0, 1, 2)])
        start = np.zeros((len(rows), len(sets)))
        for at, held in enumerate(single.focal_sets_):
            start[:, sets.index(held)] = single.partition_.masses[:, at]
        fitted = EVCLUS(3, focal_sets=sets, n_pairs=n_pairs, init=start, random_state=seed).fit(rows)
    return {**named(fitted.partition_, data, target), "loss": fitted.criterion_, "seconds": perf_counter() - begin}


# -- units -------------------------------------------------------------------------------------------------------------

Units = Callable[[bool, int], list[Unit]]


def bootgmm_units(data: str) -> Units:
    def units(quick: bool, seed: int) -> list[Unit]:
        settings = {"data": data, "model": MODELS[data], "n_boot": 1000}
        return [
            Unit(f"{data}/BootGMM/{run}", measure_bootgmm, {**settings, "seed": seed + run})
            for run in range(3 if quick else 10)
        ]

    return units


def selected_units(data: str, n_components: int | None) -> Units:
    def units(quick: bool, seed: int) -> list[Unit]:
        settings = {"data": data, "n_components": n_components, "seed": seed}
        return [Unit(f"{data}/BIC", measure_selection, settings), *bootgmm_units(data)(quick, seed)]

    return units


def diabetes_units(quick: bool, seed: int) -> list[Unit]:
    """Those of the bootstrap, and the same with the paper's rule for when EM stops."""
    stopped = [
        Unit(unit.key.replace("BootGMM", "stopped early"), measure_stopped, unit.settings)
        for unit in bootgmm_units("diabetes")(quick, seed)
    ]
    return [*bootgmm_units("diabetes")(quick, seed), *stopped]


def ecm_units(data: str) -> Units:
    def units(quick: bool, seed: int) -> list[Unit]:
        settings = {"data": data, "standardized": data == "diabetes", "rho": 100, "seed": seed}
        return [Unit(f"{data}/ECM", measure_ecm, settings)]

    return units


def evclus_units(data: str, pair: list[str] | None = None) -> Units:
    def units(quick: bool, seed: int) -> list[Unit]:
        found = []
        for run in range(3 if quick else 10):
            for asked, words in ((None, ""), (pair, " with the paper's pair")):
                settings = {"data": data, "pair": asked, "n_pairs": 50, "n_near": 1, "seed": seed + run}
                if asked is not None or not words:
                    found.append(Unit(f"{data}/EVCLUS{words}/{run}", measure_evclus, settings))
        return found

    return units


def runs_of(start: str, results: Results) -> list[Result]:
    return [found for key, found in results.items() if key == start or key.startswith(f"{start}/")]


# -- cells -------------------------------------------------------------------------------------------------------------


def spread(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and standard deviation, of what there is."""
    if not values:
        return None, None
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def count_cells(
    table: Counts,
    runs: Sequence[Result],
    *,
    counts: str = "counts",
    reasons: dict[str, str] | None = None,
    rival: bool = False,
    more: Sequence[str] = (),
) -> list[Cell]:
    """Counts by class and set, mean over the runs, and how many objects of all are on a wrong set.

    Parameters
    ----------
    table : dict
        The paper's.
    reasons : dict, optional
        By column, why ours are another number.
    rival : bool
        Of a method that the paper compares its own with.
    more : sequence of str
        Sets that ours puts objects on and the paper's table does not have.
    """
    held = [*next(iter(table.values())), *more]
    held += [
        name for run in runs for name in run[counts][next(iter(table))] if any(r[name] for r in run[counts].values())
    ]
    cells = []
    for row, printed_row in table.items():
        for column in dict.fromkeys(held):
            mean, deviation = spread([run[counts][row].get(column, 0) for run in runs])
            cells.append(
                Cell(
                    row,
                    column,
                    mean,
                    deviation,
                    printed_row.get(column, 0),
                    better="equal",
                    tolerance=max(1.0, 0.02 * SIZES[row]),
                    reason=(reasons or {}).get(column, ""),
                    runs=max(1, len(runs)),
                    rival=rival,
                    single=True,
                )
            )
    errors = spread([wrong(run[counts]) for run in runs])
    why = (reasons or {}).get(WRONG, "")
    total = 0.02 * sum(SIZES[row] for row in table)
    same: Any = {"runs": max(1, len(runs)), "rival": rival, "single": True}
    cells.append(Cell("all", WRONG, *errors, wrong(table), better="lower", tolerance=total, reason=why, **same))
    return cells


def mass_cells(results: Results) -> list[Cell]:
    runs = runs_of("iris/BootGMM", results)
    partitions = [unpacked(run["partition"]) for run in runs]
    cells = []
    for number, printed_row in printed.TABLE_5.items():
        for column, paper in zip(printed.PAIRS["iris"], printed_row):
            masses = [found.masses[number - 1, set_names(found).index(column)] for found in partitions]
            runs_of_ours = max(1, len(masses))
            cells.append(
                Cell(f"object {number}", column, *spread(masses), paper, better="equal", runs=runs_of_ours, single=True)
            )
    return cells


def mixture_cells(data: str, ari: float, mistaken: int) -> Callable[[Results], list[Cell]]:
    def cells(results: Results) -> list[Cell]:
        runs = runs_of(f"{data}/BootGMM", results)[:1]  # the mixture itself has no bootstrap
        errors = [wrong(run["hard counts"]) for run in runs]
        soft = [run["ARI"] for run in runs_of(f"{data}/BootGMM", results)]
        return [
            Cell("mixture", "ARI", spread([run["hard ARI"] for run in runs])[0], paper=ari),
            Cell("mixture", "in a wrong cluster", spread(errors)[0], paper=mistaken, better="lower", tolerance=1),
            Cell("BootGMM, most plausible cluster", "ARI", *spread(soft), runs=max(1, len(soft))),
        ]

    return cells


# -- notes and drawings ------------------------------------------------------------------------------------------------


def first_run(data: str, results: Results) -> Result | None:
    return next(iter(runs_of(f"{data}/BootGMM", results)), None)


def selection_notes(data: str, words: str) -> Callable[[Results], list[str]]:
    def notes(results: Results) -> list[str]:
        best = results.get(f"{data}/BIC")
        if best is None:
            return []
        return [f"Best by BIC: {best['model']} with {best['n_components']} components (paper: {words})."]

    return notes


def fit_notes(data: str) -> Callable[[Results], list[str]]:
    def notes(results: Results) -> list[str]:
        found = first_run(data, results)
        return remarks(found) if found else []

    return notes


def iris_notes(results: Results) -> list[str]:
    runs = runs_of("iris/BootGMM", results)
    if not runs:
        return []
    torn = [[run["counts"][name]["{ve,vi}"] for name in ("ve", "vi")] for run in runs]
    partition = unpacked(runs[0]["partition"])
    _, target = table_of("iris")
    on_virginica = partition.masses.argmax(axis=1) == set_names(partition).index("{vi}")
    moved = (1 + np.flatnonzero((target == 1) & on_virginica)).tolist()
    return [
        f"Versicolor given to virginica, with the first seed: {moved} (paper: 84).",
        f"Versicolor and virginica on {{ve,vi}}, by seed of the bootstrap: {torn} (paper: [11, 3]).",
    ]


MCLUST = (
    "mclust, which the paper used, stops the EM of the replicates earlier, while they are still near the estimate of "
    "the whole table; stopped so, ours are the paper's counts within two objects (see the notes)"
)


def mean_counts(table: Counts, runs: Sequence[Result], more: Sequence[str] = ()) -> str:
    """In words, for a note."""

    def mean(row: str, column: str) -> float:
        return float(np.mean([run["counts"][row].get(column, 0) for run in runs]))

    return "; ".join(
        f"{row}: " + ", ".join(f"{column} {mean(row, column):.1f}" for column in (*more, *table[row])) for row in table
    )


LAST_COLUMN = (
    "The last column is printed as {no,ov} in the paper, surely a slip for {ch,ov}, and is compared so. From Table 9 "
    "to Table 10 the six overt on it left {ch} and {ov}, never {no}; so did, once three of the nine on {no} are given "
    "to {ch,no}, the four chemical. With the name as printed 14 objects are on a wrong set, read so ten."
)


def diabetes_notes(results: Results) -> list[str]:
    notes = []
    stopped = runs_of("diabetes/stopped early", results)
    if stopped:
        notes.append(
            "EM of a replicate begins at the estimate of the whole table. mclust, which the paper used, ends it when "
            "the log-likelihood rises by less than 1e-5 of itself, ours when it rises by 1e-5 a row, 16 times less; "
            f"an early end makes for short intervals. Ours with that rule: {mean_counts(printed.TABLE_10, stopped)}."
        )
    return notes + fit_notes("diabetes")(results)


ECM_WORDS = (
    "Settings of the paper: alpha = 1, beta = 2, delta = 100, and the pair of mutually nearest clusters of a first fit."
)
RAW = "On the attributes as they are."
STANDARDIZED = (
    "On standardized attributes: the paper does not say so, but only these give its table. As they are, with the "
    "paper's delta of 100, a third of the patients are outliers."
)
EVCLUS_WORDS = "k-EVCLUS, k = 50, on standardized attributes; means over seeds of the partners and of the start."


ONE_BOOTSTRAP = (
    "The paper's is one bootstrap. Of our ten one has the paper's three virginica on {ve,vi}, three have two and six "
    "have one. EM of the replicates stopped as by mclust is no cause: five such bootstraps have 1, 1, 2, 3 and 1."
)
ONE_RUN = (
    "the paper's is one draw of the partners: of 200 draws of ours 35 are within two objects of each of its counts. "
    "They have 1 to 9 versicolor on {ve,vi} (mean 4.6; the paper's 8 or more in 2 draws) and 15 to 21 objects on a "
    "wrong set (mean 18.9; its 16 or fewer in 7). With 20 partners in place of 50 the means are 6.6 and 17.2, with "
    "masses updated by an object's own partners alone, as in the paper's program, 4.3 and 19.2"
)
OTHER_PAIR = (
    "our search finds {ch,no} near, the paper's {no,ov}; with that pair given, ours are the paper's counts within two "
    "objects (see the notes)"
)


def diabetes_evclus_notes(results: Results) -> list[str]:
    notes = []
    given = runs_of("diabetes/EVCLUS with the paper's pair", results)
    if given:
        notes.append(
            "Which two clusters are near is nearly a tie here: the similarity of {ch} and {no} is about 15.2, that of "
            "{no} and {ov} 14.4, and every seed of ours finds the first where the paper found the second. With {no,ov} "
            f"given: {mean_counts(printed.TABLE_12, given, ['{}'])}."
        )
    return notes


def draw_of(data: str, start: str, *, ellipses: bool = False) -> Callable[[Results], Figure]:
    def draw(results: Results) -> Figure:
        X, _ = table_of(data)
        return draw_planes(
            runs_of(start, results)[0], X, list(load(data).feature_names), PLANES[data], ellipses=ellipses
        )

    return draw


def draw_fit_of(data: str) -> Callable[[Results], Figure]:
    return lambda results: draw_fit(runs_of(f"{data}/BootGMM", results)[0])


# -- the exhibits ------------------------------------------------------------------------------------------------------

IRIS, DIABETES = ("iris",), ("diabetes",)
BOOT = (0.05, 0.15)
EXHIBITS = [
    Exhibit(
        "bootgmm.figure11",
        "Iris: the mixture",
        selected_units("iris", 3),
        mixture_cells("iris", 0.90, 5),
        draw_of("iris", "iris/BootGMM", ellipses=True),
        selection_notes("iris", "VEV with 3, which it fixed"),
        IRIS,
        BOOT,
    ),
    Exhibit(
        "bootgmm.table5",
        "Iris: masses of the five versicolor that the mixture calls virginica",
        bootgmm_units("iris"),
        mass_cells,
        words=(LIMIT,),
        data=IRIS,
        minutes=BOOT,
    ),
    Exhibit(
        "bootgmm.figure12",
        "Iris: belief and plausibility against the bounds",
        bootgmm_units("iris"),
        draw=draw_fit_of("iris"),
        notes=fit_notes("iris"),
        data=IRIS,
        minutes=BOOT,
    ),
    Exhibit(
        "bootgmm.table6",
        "Iris: classes against sets of BootGMM",
        bootgmm_units("iris"),
        lambda results: count_cells(
            printed.TABLE_6, runs_of("iris/BootGMM", results), reasons=dict.fromkeys(("{vi}", "{ve,vi}"), ONE_BOOTSTRAP)
        ),
        notes=iris_notes,
        words=(LIMIT,),
        data=IRIS,
        minutes=BOOT,
    ),
    Exhibit(
        "bootgmm.figure13",
        "Iris: credal partition of BootGMM",
        bootgmm_units("iris"),
        draw=draw_of("iris", "iris/BootGMM"),
        data=IRIS,
        minutes=BOOT,
    ),
    Exhibit(
        "bootgmm.table7-figure14",
        "Iris: classes against sets of ECM",
        ecm_units("iris"),
        lambda results: count_cells(printed.TABLE_7, runs_of("iris/ECM", results), rival=True),
        draw_of("iris", "iris/ECM"),
        data=IRIS,
        minutes=(0.01, 0.01),
        words=(RAW, ECM_WORDS),
    ),
    Exhibit(
        "bootgmm.table8-figure15",
        "Iris: classes against sets of k-EVCLUS",
        evclus_units("iris"),
        lambda results: count_cells(
            printed.TABLE_8,
            runs_of("iris/EVCLUS", results),
            reasons=dict.fromkeys(("{ve}", "{vi}", "{ve,vi}", WRONG), ONE_RUN),
            rival=True,
        ),
        draw_of("iris", "iris/EVCLUS"),
        data=IRIS,
        minutes=(0.05, 0.1),
        words=(LIMIT, EVCLUS_WORDS),
    ),
    Exhibit(
        "bootgmm.table9-figure16",
        "Diabetes: classes against clusters of the mixture",
        selected_units("diabetes", None),
        lambda results: [
            *mixture_cells("diabetes", 0.66, 20)(results),
            *count_cells(printed.TABLE_9, runs_of("diabetes/BootGMM", results)[:1], counts="hard counts")[:-1],
        ],
        draw_of("diabetes", "diabetes/BootGMM", ellipses=True),
        selection_notes("diabetes", "VVV with 3"),
        DIABETES,
        BOOT,
    ),
    Exhibit(
        "bootgmm.table10-figure18",
        "Diabetes: classes against sets of BootGMM",
        diabetes_units,
        lambda results: count_cells(
            printed.TABLE_10,
            runs_of("diabetes/BootGMM", results),
            reasons=dict.fromkeys(("{ch}", "{ch,no}"), MCLUST),
        ),
        draw_of("diabetes", "diabetes/BootGMM"),
        diabetes_notes,
        DIABETES,
        BOOT,
        words=(LIMIT, LAST_COLUMN),
    ),
    Exhibit(
        "bootgmm.figure17",
        "Diabetes: belief and plausibility against the bounds",
        bootgmm_units("diabetes"),
        draw=draw_fit_of("diabetes"),
        notes=fit_notes("diabetes"),
        data=DIABETES,
        minutes=BOOT,
    ),
    Exhibit(
        "bootgmm.table11",
        "Diabetes: classes against sets of ECM",
        ecm_units("diabetes"),
        lambda results: count_cells(printed.TABLE_11, runs_of("diabetes/ECM", results), rival=True),
        words=(STANDARDIZED, ECM_WORDS),
        data=DIABETES,
        minutes=(0.01, 0.01),
    ),
    Exhibit(
        "bootgmm.table12",
        "Diabetes: classes against sets of k-EVCLUS",
        evclus_units("diabetes", ["no", "ov"]),
        lambda results: count_cells(
            printed.TABLE_12,
            runs_of("diabetes/EVCLUS", results),
            reasons=dict.fromkeys(("{no}", "{ch,no}", "{ov}", "{no,ov}", "{}", WRONG), OTHER_PAIR),
            rival=True,
            more=("{}", "{ch,no}"),
        ),
        notes=diabetes_evclus_notes,
        words=(LIMIT, EVCLUS_WORDS),
        data=DIABETES,
        minutes=(0.1, 0.2),
    ),
]
