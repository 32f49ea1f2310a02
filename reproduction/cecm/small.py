"""Examples, data and pictures: Tables 1 to 4, Two-class (Figures 1 to 5) and the brain slice (Figures 15 to 19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.cecm import brain, numbers, two_class
from reproduction.cecm.collecting import blocks, gathered, joined, mean_and_deviation
from reproduction.cecm.trials import FILES, SETS, table
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_LINKS = 10
TABLE_2 = ((0, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))  # masses of four objects: {}, {0}, {1}, {0,1}
TABLE_3 = {(0, 1): (1, 0), (0, 2): (0, 1), (0, 3): (1, 1)}  # plausibility of "same" and of "different"


# -- Tables 3 and 4 ---------------------------------------------------------------------------------------------------


def pair_plausibilities(masses: list[list[float]]) -> Result:
    """Plausibility that the first object shares a cluster with each other one, and that it does not."""
    from evidentia import CredalPartition, FocalSets

    partition = CredalPartition(masses, FocalSets(2))
    told = partition.relational([(0, j) for j in range(1, len(masses))])
    return {"same": (told.same + told.unknown).tolist(), "different": (told.different + told.unknown).tolist()}


def pair_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("table3", pair_plausibilities, {"masses": [list(map(float, row)) for row in TABLE_2]})]


def pair_cells(results: Results) -> list[Cell]:
    found = results.get("table3")
    return [
        Cell(f"pl({event})", f"objects {i + 1}, {j + 1}", found[event][j - 1] if found else None,
             paper=TABLE_3[i, j][at], better="equal", tolerance=1e-12)
        for at, event in enumerate(("same", "different"))
        for i, j in TABLE_3
    ]  # fmt: skip


def sizes(dataset: str, seed: int) -> Result:
    if dataset == "Two-class":
        data = two_class.points(seed, 0)
        rows, n_classes = data.data, len(np.unique(data.target))
    else:
        rows, _, n_classes = table(dataset, seed)
    return {"sizes": [len(rows), n_classes, rows.shape[1]]}


def size_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit(f"sizes/{name}", sizes, {"dataset": name, "seed": seed}) for name in (*SETS, "Two-class")]


def size_cells(results: Results) -> list[Cell]:
    return [
        Cell(what, name, float(results[f"sizes/{name}"]["sizes"][at]) if f"sizes/{name}" in results else None,
             paper=paper[at], better="equal", tolerance=0)
        for at, what in enumerate(("objects", "classes", "attributes"))
        for name, paper in numbers.SIZES.items()
    ]  # fmt: skip


# -- Two-class --------------------------------------------------------------------------------------------------------


def picture_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("two-class/pictures", two_class.pictures, {"n_links": N_LINKS, "seed": seed})]


def two_class_units(quick: bool, seed: int) -> list[Unit]:
    trials, settings = 10 if quick else 100, {"n_links": N_LINKS, "seed": seed}
    return [
        *picture_units(quick, seed),
        *blocks("two-class/points", two_class.many_points, settings, trials),
        *blocks("two-class/links", two_class.many_links, settings, trials),
    ]


def share_right(rand: list[float]) -> float | None:
    return float(np.mean(np.array(rand) >= two_class.RIGHT)) if rand else None


def n_runs(values: list[float]) -> int:
    return max(1, len(values))


def two_class_cells(results: Results) -> list[Cell]:
    shown = list(results.get("two-class/pictures", {"rand": {}})["rand"].values()) or [None] * 3
    over_points, over_links = gathered(results, "two-class/points"), gathered(results, "two-class/links")
    rand = {name: joined(over_points, name) for name in ("euclidean", "mahalanobis", "linked", "middle")}
    linked = joined(over_links, "rand")
    score, right = "Rand index", f"share of trials with {two_class.RIGHT:g} or more"
    points, links = "draws of the points", "draws of the links"
    return [
        Cell("points shown: ECM, Euclidean", score, shown[0], paper=numbers.DIAGONAL, better="equal",
             incomparable="how the diagonal runs depends on the points, which are not published"),
        Cell("points shown: ECM, adaptive metric", score, shown[1], paper=numbers.ACROSS, better="equal"),
        Cell(f"points shown: CECM, adaptive metric, {N_LINKS} links", score, shown[2]),
        Cell(f"{links}: CECM, adaptive metric, {N_LINKS} links", score, *mean_and_deviation(linked),
             runs=n_runs(linked)),
        Cell(f"{links}: CECM, adaptive metric, {N_LINKS} links", right, share_right(linked)),
        *(
            cell
            for name, what in (
                ("euclidean", "ECM, Euclidean"),
                ("mahalanobis", "ECM, adaptive metric"),
                ("linked", f"CECM, adaptive metric, {N_LINKS} links"),
                ("middle", "boundary half way between the classes"),
            )
            for cell in (
                Cell(f"{points}: {what}", score, *mean_and_deviation(rand[name]), runs=n_runs(rand[name])),
                Cell(f"{points}: {what}", right, share_right(rand[name])),
            )
        ),
    ]  # fmt: skip


TWO_CLASS_WORDS = (
    "The Euclidean metric always cuts along a diagonal. The adaptive metric without links cuts left from right or top "
    "from bottom: the square is symmetric, so which of the two has the lower criterion is the chance of a draw of the "
    "points. The points shown, and those of the draws of links, are the first for which it is the wrong one, as in "
    "the paper's Figure 4.",
    "In some draws of the points the wrong boundary has the lower criterion even with ten links, all of them obeyed: "
    "the linked objects are moved and their neighbors stay. That is the criterion, not the search: a descent from the "
    "right boundary ends higher.",
)


def scatter(ax: Any, points: np.ndarray, sets: list[int]) -> None:
    for mask, (name, marker) in {0: ("{}", "x"), 1: ("{0}", "o"), 2: ("{1}", "^"), 3: ("{0,1}", "s")}.items():
        chosen = points[np.array(sets) == mask]
        if len(chosen):
            ax.scatter(*chosen.T, s=10, marker=marker, label=name)
    ax.set_aspect("equal")


def draw_points(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 4), layout="constrained")
    ax = figure.subplots()
    if "two-class/pictures" in results:
        found = results["two-class/pictures"]
        scatter(ax, np.array(found["points"]), [k + 1 for k in found["truth"]])
    ax.set_title("Two-class")
    return figure


def draw_partitions(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    axes = figure.subplots(1, 3)
    if "two-class/pictures" not in results:
        return figure
    found = results["two-class/pictures"]
    points = np.array(found["points"])
    for ax, (name, sets) in zip(axes, found["sets"].items()):
        scatter(ax, points, sets)
        ax.plot(*np.array(found["centers"][name]).T, "k+", markersize=16, markeredgewidth=2)
        ax.set_title(f"{name}\nRand index {found['rand'][name]:.2f}")
        ax.legend(fontsize="small")
    for (i, j), must in zip(found["pairs"], found["must"]):
        axes[-1].plot(*points[[i, j]].T, "k-" if must else "k--", linewidth=0.8)
    return figure


# -- the brain slice --------------------------------------------------------------------------------------------------


def brain_units(quick: bool, seed: int) -> list[Unit]:
    settings = {"size": brain.HEIGHT, "radii": list(brain.RADII)}
    return [Unit(f"brain/{at}", brain.segmented, {**settings, "seed": seed + at}) for at in range(2 if quick else 5)]


def brain_cells(results: Results) -> list[Cell]:
    found = gathered(results, "brain")
    columns = ("adjusted Rand index", "Dice", "share of pixels on Ω", "seconds")
    return [
        Cell(method, column, *mean_and_deviation([one[method][column] for one in found]), runs=max(1, len(found)),
             better="higher" if column in columns[:2] else "lower")
        for method in ("ECM", *map(brain.name_of, brain.RADII))
        for column in columns
    ]  # fmt: skip


BRAIN_WORDS = (
    "The paper's image is private. In its place: the T2 contrast of drawn slices of the same height, bright lesions "
    "among normal tissue and fluid, at most 400 gray levels between 0 and 1, c = 2, α = 2, ρ² = 10, ξ = 0.5. Gray "
    "levels count by their pixels.",
    "The regions: the inside of the largest lesion, and a disc of normal tissue, small or larger. When the disc names "
    "too few gray levels, the criterion can be lowest where these alone are moved and the bright cluster takes in "
    "normal tissue too.",
)


def brain_notes(results: Results) -> list[str]:
    found = gathered(results, "brain")
    methods = ("ECM", *map(brain.name_of, brain.RADII)) if found else ()
    dice = {method: ", ".join(f"{one[method]['Dice']:.2f}" for one in found) for method in methods}
    return [f"Dice in each slice, {method}: {listed}." for method, listed in dice.items()]


def draw_brain(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15.6, 3.2), layout="constrained")
    axes = figure.subplots(1, 6)
    if "brain/0" not in results:
        return figure
    found = results["brain/0"]
    pictures = {
        "slice": (found["gray"], "gray"),
        "regions": (found["regions"], "viridis"),
        "ECM: sets": (found["sets"]["ECM"], "viridis"),
        "CECM: sets": (found["sets"][brain.name_of(brain.RADII[-1])], "viridis"),
        "ECM: pignistic": (found["labels"]["ECM"], "viridis"),
        "CECM: pignistic": (found["labels"][brain.name_of(brain.RADII[-1])], "viridis"),
    }
    for ax, (title, (picture, colors)) in zip(axes, pictures.items()):
        ax.imshow(np.array(picture), cmap=colors, interpolation="nearest")
        ax.set(title=title, xticks=[], yticks=[])
    return figure


EXAMPLE = "an example of masses that is written down, not computed"
EXHIBITS = [
    Exhibit("cecm.table1", "A credal partition", absent=EXAMPLE),
    Exhibit("cecm.table2", "A credal partition that speaks of pairs", absent=f"{EXAMPLE}; table 3 follows from it"),
    Exhibit("cecm.table3", "Plausibility of belonging together", pair_units, pair_cells, minutes=(0.05, 0.05)),
    Exhibit("cecm.table4", "The data sets", size_units, size_cells, data=FILES, minutes=(0.05, 0.05)),
    Exhibit("cecm.figure1", "Two-class", picture_units, draw=draw_points, minutes=(0.05, 0.05)),
    Exhibit("cecm.figure2", "Links that help and links that do not", absent="a sketch"),
    Exhibit(
        "cecm.figure3-5",
        "Two-class: ten links turn a wrong partition into the right one",
        two_class_units,
        two_class_cells,
        draw_partitions,
        words=TWO_CLASS_WORDS,
        minutes=(0.2, 1.5),
    ),
    Exhibit(
        "cecm.figure15-19",
        "A brain slice with lesions: two regions drawn by an expert",
        brain_units,
        brain_cells,
        draw_brain,
        brain_notes,
        words=BRAIN_WORDS,
        minutes=(0.1, 0.2),
    ),
]
