"""Belief hierarchical clustering (Maalel, Zhou, Martin & Elouedi, BELIEF 2014).

What the paper leaves open: alpha, gamma, the link, which of its two ways made the tables, and the start of k-means.
Here gamma is one over the lower quartile of the squared distances of the leaves, as near to the paper's words as a rule
without clusters can be, and not the library's own choice; ``bhc.numbers`` has that. Numbers are means over seeds of
k-means. For alpha there are two rules: "auto", and 0.95 with each row scaled for itself. The second, with the second
way of the paper ("product") beside the average link of HAC, is compared with the paper's numbers because it came
nearest to them: it was chosen after looking. ``bhc.links`` and ``bhc.alpha`` show the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cut_tree
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.preprocessing import scale

from evidentia.datasets import load, make_diamond
from evidentia.hierarchy import BeliefHierarchical
from evidentia.scores import pair_precision, pair_recall
from reproduction.claims import Case, Claim, Tables, above, best, value_text
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINAL = range(2, 7)
LINKAGES = ("single", "complete", "average", "ward", "product")
MEASURES = ("precision", "recall", "RI")
METHODS = ("BHC", "HAC")

Lines = dict[str, dict[int, tuple[float, float, float]]]  # method -> final number of clusters -> measures
TABLE_1: Lines = {
    "BHC": {
        2: (0.5951, 1.0000, 0.7763),
        3: (0.8011, 0.8438, 0.8797),
        4: (0.9506, 0.8275, 0.9291),
        5: (0.8523, 0.6063, 0.8360),
        6: (0.9433, 0.5524, 0.8419),
    },
    "HAC": {
        2: (0.5951, 1.0000, 0.7763),
        3: (0.6079, 0.9282, 0.7795),
        4: (0.8183, 0.7230, 0.8561),
        5: (0.8523, 0.6063, 0.8360),
        6: (0.8916, 0.5818, 0.8392),
    },
}
TABLE_2: Lines = {
    "BHC": {
        2: (0.3873, 0.8177, 0.5146),
        3: (0.7313, 0.8190, 0.8415),
        4: (0.8701, 0.6833, 0.8623),
        5: (0.8670, 0.6103, 0.8411),
        6: (0.9731, 0.6005, 0.8632),
    },
    "HAC": {
        2: (0.5951, 1.0000, 0.7763),
        3: (0.6288, 0.8759, 0.7892),
        4: (0.7887, 0.7091, 0.8419),
        5: (0.7551, 0.6729, 0.8207),
        6: (0.8526, 0.6014, 0.8347),
    },
}


def implied_share(measures: tuple[float, float, float]) -> float:
    """Share of pairs of the same class that a line of precision, recall and RI can only have come from.

    Of a share p of pairs of one class, p (1 - recall) are missed, and p recall (1 / precision - 1) others are found
    wrongly; the two sum to 1 - RI.

    >>> round(implied_share((0.5, 0.8, 0.7)), 3)  # 0.3 / (0.8 + 0.2)
    0.3
    """
    precision, recall, rand = measures
    return (1 - rand) / (recall * (1 / precision - 1) + 1 - recall)


def share_of_pairs(counts: Sequence[int]) -> float:
    """Share of pairs of objects that are of one class.

    >>> share_of_pairs([2, 1])
    0.3333333333333333
    """
    sizes = np.asarray(counts)
    return float((sizes * (sizes - 1)).sum() / (sizes.sum() * (sizes.sum() - 1)))


def table_of(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Of the votes: yes 1, no 0, and halfway where none is known."""
    found = load(data)
    return np.nan_to_num(np.asarray(found.data, dtype=float), nan=0.5), np.asarray(found.target)


def by_quartile(X: np.ndarray, **params: Any) -> BeliefHierarchical:
    """A tree with gamma one over the lower quartile of the squared distances of its leaves."""
    groups = BeliefHierarchical(gamma=1.0, **params).fit(X).groups_
    leaves = np.array([X[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    squared = pdist(leaves, "sqeuclidean")
    return BeliefHierarchical(gamma=1 / float(np.quantile(squared[squared > 0], 0.25)), **params).fit(X)


# -- Figure 1: the Diamond ---------------------------------------------------------------------------------------------

DIAMONDS = ("diamond, 12 at (0, 10)", "x12")


def diamond(name: str) -> np.ndarray:
    return np.asarray(load("x12").data) if name == "x12" else np.vstack([make_diamond().data, [0, 10]])


def measure_diamond(name: str) -> Result:
    """When object 12 merges, and how far below the last height the one before is."""
    begin = perf_counter()
    X = diamond(name)
    found: Result = {}
    for linkage in LINKAGES:
        model = by_quartile(X, linkage=linkage)
        for method, tree in (("BHC", model.linkage_), ("HAC", model.classical())):
            found[f"{linkage}, {method}"] = {
                "12 merges last": float(11 in tree[-1, :2]),
                "last gap": float(1 - tree[-2, 2] / tree[-1, 2]),
                "clusters (auto)": model.n_clusters_ if method == "BHC" else None,
            }
    return {"trees": found, "seconds": perf_counter() - begin}


def diamond_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit(f"diamond/{name}", measure_diamond, {"name": name}) for name in DIAMONDS]


def diamond_cells(results: Results) -> list[Cell]:
    return [
        Cell(f"{key.partition('/')[2]}, {tree}", column, value)
        for key, found in results.items()
        for tree, measures in found["trees"].items()
        for column, value in measures.items()
        if value is not None
    ]


DIAMOND_WORDS = (
    "The paper prints no coordinates of its twelve objects; these are the two public sets that fit its words.",
    "The last gap is a share of the last height. Paper: a big gap for object 12 in BHC, a small one in HAC.",
    "Of two clusters each gives the other BetP = 1, so the last index is 2 in any data, and three clusters without "
    "belief in each other have 1: a last gap of one half is what BHC says of everything that is far.",
    "Single link: HAC's own gap is larger, since its distance to the outlier is not averaged.",
)


def draw_diamond(results: Results) -> Figure:
    from matplotlib.figure import Figure

    from evidentia.plots import plot_dendrogram, plot_partition

    figure = Figure(figsize=(19, 8.5), layout="constrained")
    names = [str(i + 1) for i in range(12)]  # as the paper numbers them
    for row, name in zip(figure.subplots(2, 3), DIAMONDS):
        X = diamond(name)
        model = by_quartile(X, linkage="average")
        plot_partition(model.partition_, X, ax=row[0])
        for number, place in zip(names, X.tolist()):
            row[0].annotate(number, place, (4, 4), textcoords="offset points", fontsize="small")
        row[0].set_title(name)
        for ax, tree, title in zip(row[1:], ("classical", "belief"), ("HAC", "BHC")):
            plot_dendrogram(model, tree=tree, names=names, ax=ax)
            ax.set_title(f"{title}, average link")
    return figure


# -- Tables 1 and 2, Figures 2 and 3: groups of k-means, merged --------------------------------------------------------


def grouped(
    data: str, linkage: str, n_groups: int, alpha: float | str, seed: int, gamma: str = "auto"
) -> BeliefHierarchical:
    """A tree over groups of k-means; gamma is by the quartile, or one over the mean squared distance of objects."""
    X, _ = table_of(data)
    params: dict[str, Any] = {"linkage": linkage, "alpha": alpha, "n_groups": n_groups, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # k-means on votes that are equal
        if gamma == "auto":
            return by_quartile(X, **params)
        return BeliefHierarchical(gamma=1 / float(np.square(pdist(X)).mean()), **params).fit(X)


def measure_groups(
    data: str, linkage: str, n_groups: int, alpha: float | str, gamma: str, n_seeds: int, seed: int
) -> Result:
    """Precision, recall and RI of both methods from the same groups: a row for each method, F_c and seed of k-means."""
    begin = perf_counter()
    _, truth = table_of(data)
    rows = []
    for at in range(seed, seed + n_seeds):
        model = grouped(data, linkage, n_groups, alpha, at, gamma)
        classical = model.classical()
        for f in FINAL:
            for method, labels in zip(METHODS, (model.cut(f), cut_tree(classical, f).ravel()[model.groups_])):
                scores = pair_precision(labels, truth), pair_recall(labels, truth), rand_score(truth, labels)
                rows.append({"method": method, "F_c": f, **dict(zip(MEASURES, scores))})
    return {"rows": rows, "seconds": perf_counter() - begin}


def group_unit(
    data: str, linkage: str, n_groups: int, alpha: float | str, quick: bool, seed: int, gamma: str = "auto"
) -> Unit:
    settings = {"data": data, "linkage": linkage, "n_groups": n_groups, "alpha": alpha, "gamma": gamma}
    key = f"{data}/{linkage}/{n_groups} groups/alpha {alpha}" + ("" if gamma == "auto" else f"/gamma {gamma}")
    return Unit(key, measure_groups, {**settings, "n_seeds": 10 if quick else 30, "seed": seed})


def rows_of(key: str, results: Results) -> pd.DataFrame | None:
    return pd.DataFrame(results[key]["rows"]) if key in results else None


def compared(data: str) -> tuple[Callable[[bool, int], list[Unit]], str]:
    """The way that is compared with the paper's numbers, and its key."""

    def units(quick: bool, seed: int) -> list[Unit]:
        return [group_unit(data, "product", 13, 0.95, quick, seed)]

    return units, f"{data}/product/13 groups/alpha 0.95"


IRIS_UNITS, IRIS_KEY = compared("iris_uci")
VOTES_UNITS, VOTES_KEY = compared("housevotes84")
OTHER_TREE = (
    "the paper's line is not of one tree with its line of F_c = 5 (see the notes); of our starts of k-means, links and "
    "rules for alpha few reach its RI (bhc.alpha), and none in the mean"
)
NOT_VOTES = "the paper's line is not of the votes: its share of pairs of one class is that of Iris"
OTHER_TREE_2 = (
    "the paper's line is not of one tree with its line of F_c = 3: recall rises there from 0.8177 to 0.8190, and a "
    "split cannot bring pairs of one class together. The three measures fit two clusters of three classes of 50 in "
    "one way only: 28 and 122 objects, 27 of the 28 of one class"
)
OTHER_GROUPS = "the paper's is one run of k-means, within two deviations of ours over starts"


def line_cells(
    key: str,
    table: Lines,
    results: Results,
    *,
    name: str = "",
    incomparable: str = "",
    reasons: dict[tuple[str, int], str] | None = None,
) -> list[Cell]:
    rows = rows_of(key, results)
    cells = []
    for f in FINAL:
        for method in METHODS:
            for measure, paper in zip(MEASURES, table[method][f]):
                mean = spread = None
                found = pd.Series(dtype=float)
                if rows is not None:
                    found = rows.loc[(rows["method"] == method) & (rows["F_c"] == f), measure]
                    mean, spread = float(found.mean()), float(found.std())
                why = (reasons or {}).get((method, f), "")
                cells.append(
                    Cell(
                        f"{name}F_c = {f}",
                        f"{method}, {measure}",
                        mean,
                        spread,
                        paper,
                        incomparable=incomparable,
                        reason=why,
                        runs=max(1, len(found)),
                        rival=method != "BHC",
                        single=True,
                    )
                )
    return cells


def table_1_cells(results: Results) -> list[Cell]:
    reasons = {("BHC", 4): OTHER_TREE, ("HAC", 3): OTHER_GROUPS}
    return line_cells(IRIS_KEY, TABLE_1, results, reasons=reasons)


TABLE_1_WORDS = (
    "K_init = 13; the second way of the paper (products of masses) beside HAC with the average link, alpha 0.95. The "
    "paper says neither; these came nearest to its numbers, which are of one run of k-means, ours means over 30 "
    "starts.",
    "Paper: F_c = 4 has 158 wrong pairs (FP) and F_c = 5 has 386: a split cannot add wrong pairs, so the two lines "
    "are not of one tree; the line of F_c = 5 repeats HAC's.",
)


def table_1_notes(results: Results) -> list[str]:
    rows = rows_of(IRIS_KEY, results)
    if rows is None:
        return []
    rand = rows.loc[(rows["method"] == "BHC") & (rows["F_c"] == 4), "RI"]
    return [
        f"RI of BHC at F_c = 4 over {len(rand)} starts of k-means: {rand.min():.3f} to {rand.max():.3f} (paper: 0.929)."
    ]


def implied_words() -> str:
    implied = {
        method: ", ".join(f"{implied_share(line):.3f}" for line in lines.values()) for method, lines in TABLE_2.items()
    }
    return (
        "Precision, recall and RI fix the share of pairs that are of one class. The votes have "
        f"{share_of_pairs([267, 168]):.3f}, Iris has {share_of_pairs([50, 50, 50]):.3f}; the lines of Table 2 imply "
        f"{implied['BHC']} (BHC) and {implied['HAC']} (HAC). So every line is of Iris, or of three classes of 50, not "
        "of the votes. HAC's line for F_c = 2 is that of Table 1."
    )


TABLE_2_WORDS = (
    implied_words(),
    "So the lines are compared with Iris, too. With K_init = 10, products, and gamma one over the mean squared "
    "distance, found by matching, the means over 30 starts are the lines of BHC for F_c = 4 and 5 to 0.001 and 0.009, "
    "and single starts are those for F_c = 3 and 5 to the last digit.",
    "Our votes: yes 1, no 0 and an unknown vote 0.5, K_init = 13.",
)


def table_2_units(quick: bool, seed: int) -> list[Unit]:
    return [*VOTES_UNITS(quick, seed), group_unit("iris_uci", "product", 10, 0.95, quick, seed, "mean")]


def table_2_cells(results: Results) -> list[Cell]:
    return [
        *line_cells(
            "iris_uci/product/10 groups/alpha 0.95/gamma mean",
            TABLE_2,
            results,
            name="Iris, ",
            reasons={("BHC", 2): OTHER_TREE_2},
        ),
        *line_cells(VOTES_KEY, TABLE_2, results, name="votes, ", incomparable=NOT_VOTES),
    ]


def tree_units(data: str) -> Callable[[bool, int], list[Unit]]:
    def units(quick: bool, seed: int) -> list[Unit]:
        settings = {"data": data, "seed": seed}
        return [Unit(f"{data}/trees", measure_trees, settings)]

    return units


def measure_trees(data: str, seed: int) -> Result:
    """Trees over 10 and 13 groups with the average link: the BetP index of the last merges, and where to cut."""
    begin = perf_counter()
    found = {}
    for n_groups in (10, 13):
        model = grouped(data, "average", n_groups, "auto", seed)
        found[str(n_groups)] = {
            "index": model.betp_index_.tolist(),
            "clusters": model.n_clusters_,
            "height": model.classical()[:, 2].tolist(),
        }
    return {"trees": found, "seed": seed, "seconds": perf_counter() - begin}


def tree_cells(results: Results) -> list[Cell]:
    return [
        Cell(f"K_init = {n_groups}", column, value)
        for found in results.values()
        for n_groups, tree in found["trees"].items()
        for column, value in (
            ("clusters (auto)", tree["clusters"]),
            ("BetP index at 3 clusters", tree["index"][-3]),
            ("BetP index at 2 clusters", tree["index"][-2]),
            ("least rise of the BetP index", float(np.diff(tree["index"]).min())),
        )
    ]


UNPUBLISHED = "The start of k-means is not published, so that groups and their numbers differ from the paper's."


def draw_trees(data: str) -> Callable[[Results], Figure]:
    def draw(results: Results) -> Figure:
        from matplotlib.figure import Figure

        from evidentia.plots import plot_dendrogram

        figure = Figure(figsize=(14, 8), layout="constrained")
        for column, n_groups in zip(figure.subplots(2, 2).T, (10, 13)):
            model = grouped(data, "average", n_groups, "auto", results[f"{data}/trees"]["seed"])
            names = [str(k + 1) for k in range(n_groups)]
            for ax, tree, title in zip(column, ("classical", "belief"), ("HAC", "BHC")):
                plot_dendrogram(model, tree=tree, names=names, ax=ax)
                ax.set_title(f"{title}, average link, K_init = {n_groups}")
        return figure

    return draw


# -- what the paper leaves open ----------------------------------------------------------------------------------------

CASES = [(data, n_groups) for data in ("iris_uci", "housevotes84") for n_groups in (10, 13)]


def link_units(quick: bool, seed: int) -> list[Unit]:
    return [group_unit(data, link, n_groups, 0.95, quick, seed) for data, n_groups in CASES for link in LINKAGES]


def link_cells(results: Results) -> list[Cell]:
    """RI of BHC less RI of HAC."""
    cells = []
    for data, n_groups in CASES:
        for link in LINKAGES:
            rows = rows_of(f"{data}/{link}/{n_groups} groups/alpha 0.95", results)
            for f in FINAL:
                gain = None
                if rows is not None:
                    part = rows[rows["F_c"] == f]
                    rand = [part.loc[part["method"] == method, "RI"].to_numpy() for method in METHODS]
                    gain = float((rand[0] - rand[1]).mean())
                cells.append(Cell(f"{data}, K_init = {n_groups}, {link}", f"F_c = {f}", gain))
    return cells


def link_notes(results: Results) -> list[str]:
    gains = [cell.ours for cell in link_cells(results) if cell.ours is not None]
    if not gains:
        return []
    better, worse = sum(gain > 0.005 for gain in gains), sum(gain < -0.005 for gain in gains)
    return [f"BHC is better by more than 0.005 in {better} of {len(gains)}, HAC in {worse}."]


ALPHAS: tuple[float | str, ...] = ("auto", 0.95)
REACHED = "share of starts >= 0.929"


def alpha_units(quick: bool, seed: int) -> list[Unit]:
    return [group_unit("iris_uci", link, 13, alpha, quick, seed) for link in LINKAGES for alpha in ALPHAS]


def alpha_cells(results: Results) -> list[Cell]:
    cells = []
    for link in LINKAGES:
        for alpha in ALPHAS:
            rows = rows_of(f"iris_uci/{link}/13 groups/alpha {alpha}", results)
            if rows is None:
                continue
            rand = rows.loc[(rows["method"] == "BHC") & (rows["F_c"] == 4), "RI"]
            row = f"{link}, alpha {alpha}"
            cells += [
                Cell(row, "mean", float(rand.mean()), float(rand.std()), runs=len(rand)),
                Cell(row, "least", float(rand.min())),
                Cell(row, "most", float(rand.max())),
                Cell(row, REACHED, float((rand >= 0.929).mean())),
            ]
    return cells


def alpha_notes(results: Results) -> list[str]:
    means = [cell.ours for cell in alpha_cells(results) if cell.column == "mean" and cell.ours is not None]
    notes = []
    if means:
        shares = [cell.ours for cell in alpha_cells(results) if cell.column == REACHED and cell.ours is not None]
        notes.append(
            f"The best link and rule reach {max(means):.3f} in the mean; some start reaches the paper's RI in "
            f"{sum(share > 0 for share in shares)} of the {len(shares)}."
        )
    return notes


# -- the number of clusters --------------------------------------------------------------------------------------------

SEEN = ("iris", "wine", "ecoli_egmm", "knowledge", "glass", "heart", "diabetes", "letters_ijl")
FRESH = ("seeds", "newthyroid", "vehicle")
KINDS = {"fresh": "not looked at before", "seen": "looked at when the rules for gamma and for the cut were chosen"}
RULES = ("BHC auto", "BHC plain index", "HAC gap")
NUMBER_LINKS = ("average", "complete", "ward")


def largest_gap(heights: np.ndarray, most: int) -> int:
    """Number of clusters, at most ``most``, below the largest gap of the heights of a tree.

    >>> largest_gap(np.array([1.0, 1.1, 1.3, 5.0, 6.0]), most=4)  # three clusters are left when height 5 is next
    3
    """
    n = len(heights) + 1
    numbers = np.arange(2, most + 1)
    return int(numbers[np.argmax(heights[n - numbers] - heights[n - numbers - 1])])


def known_data(kind: str, n_blobs: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Made and real tables with known classes; an outlier is a class of its own."""
    found = {}
    first = 0 if kind == "seen" else 100
    for seed in range(first, first + n_blobs):
        for n_clusters in (3, 5, 8):
            X, y = make_blobs(200, centers=n_clusters, center_box=(-12, 12), random_state=seed)
            found[f"{n_clusters} blobs, seed {seed}"] = X, y
    for seed in range(first, first + 2):
        X, y = make_blobs(
            [30, 100, 200], centers=[[0, 0], [8, 0], [4, 9]], cluster_std=[0.5, 1, 1.6], random_state=seed
        )
        found[f"uneven blobs, seed {seed}"] = X, y
        X, y = make_blobs(150, centers=[[0, 0], [6, 0], [3, 5]], random_state=seed)
        found[f"3 blobs and an outlier, seed {seed}"] = np.vstack([X, [30, 30]]), np.append(y, 3)
    for name in SEEN if kind == "seen" else FRESH:
        data = load(name)
        found[name] = (data.data if name == "iris" else scale(data.data)), data.target
    return found


def measure_numbers(kind: str, linkage: str, n_blobs: int) -> Result:
    """The number of clusters that each rule finds, and ARI at the right one."""
    begin = perf_counter()
    found = {}
    for name, (X, y) in known_data(kind, n_blobs).items():
        model = BeliefHierarchical(linkage=linkage).fit(X)
        classical = model.classical()
        classes, most = len(set(y)), int(model.cut_scores_[-1, 0])
        found[name] = {
            "classes": classes,
            "BHC auto": model.n_clusters_,
            "BHC plain index": largest_gap(model.betp_index_, most),
            "HAC gap": largest_gap(classical[:, 2], most),
            "ARI BHC": adjusted_rand_score(y, model.cut(classes)),
            "ARI HAC": adjusted_rand_score(y, cut_tree(classical, classes).ravel()),
        }
    return {"found": found, "seconds": perf_counter() - begin}


def number_units(quick: bool, seed: int) -> list[Unit]:
    return [
        Unit(f"{kind}/{link}", measure_numbers, {"kind": kind, "linkage": link, "n_blobs": 2 if quick else 4})
        for kind in KINDS
        for link in NUMBER_LINKS
    ]


def number_cells(results: Results) -> list[Cell]:
    """Share of the data sets with the right number, and mean ARI."""
    cells = []
    for kind in KINDS:
        for link in NUMBER_LINKS:
            if f"{kind}/{link}" not in results:
                continue
            table = pd.DataFrame(results[f"{kind}/{link}"]["found"]).T
            row = f"{kind}, {link}"
            for rule in RULES:
                cells.append(Cell(row, f"right: {rule}", float((table[rule] == table["classes"]).mean())))
            for method in METHODS:
                cells.append(Cell(row, f"ARI at the right number: {method}", float(table[f"ARI {method}"].mean())))
    return cells


def number_notes(results: Results) -> list[str]:
    notes = []
    for key, found in results.items():
        table = pd.DataFrame(found["found"]).T
        ours, theirs = (table[rule] == table["classes"] for rule in ("BHC auto", "HAC gap"))
        one, other = ("; ".join(table.index[only]) or "none" for only in (ours & ~theirs, theirs & ~ours))
        notes.append(f"{key}, {len(table)} data sets. BHC right and HAC not: {one}. HAC right and BHC not: {other}.")
    return notes


EXHIBITS: list[Exhibit] = [
    Exhibit(
        "bhc.figure1",
        "The outlier of the Diamond",
        diamond_units,
        diamond_cells,
        draw_diamond,
        data=("x12",),
        minutes=(0.01, 0.01),
        words=DIAMOND_WORDS,
    ),
    Exhibit(
        "bhc.figure2",
        "Iris: trees over 10 and 13 groups",
        tree_units("iris_uci"),
        tree_cells,
        draw_trees("iris_uci"),
        data=("iris_uci",),
        minutes=(0.01, 0.01),
        words=(
            "Paper: BHC at a BetP of 0.5 shows three clusters, and in HAC the number is hard to tell. Our rule for the "
            "number does not use the index itself, which is 2 at the last merge in any data.",
            UNPUBLISHED,
        ),
    ),
    Exhibit(
        "bhc.table1",
        "Iris, 13 groups: precision, recall and RI",
        IRIS_UNITS,
        table_1_cells,
        notes=table_1_notes,
        words=TABLE_1_WORDS,
        data=("iris_uci",),
        minutes=(0.02, 0.05),
    ),
    Exhibit(
        "bhc.figure3",
        "Congressional votes: trees over 10 and 13 groups",
        tree_units("housevotes84"),
        tree_cells,
        draw_trees("housevotes84"),
        data=("housevotes84",),
        minutes=(0.01, 0.01),
        words=(
            "The paper does not say how votes and unknown votes are coded; here yes is 1, no 0, unknown 0.5.",
            UNPUBLISHED,
        ),
    ),
    Exhibit(
        "bhc.table2",
        "Congressional votes: precision, recall and RI",
        table_2_units,
        table_2_cells,
        words=TABLE_2_WORDS,
        data=("housevotes84", "iris_uci"),
        minutes=(0.02, 0.05),
    ),
    Exhibit(
        "bhc.links",
        "BHC against HAC by link and number of groups",
        link_units,
        link_cells,
        notes=link_notes,
        words=(
            "RI of BHC less RI of HAC from the same groups, mean over starts of k-means. HAC has the average link "
            "beside 'product'.",
        ),
        data=("iris_uci", "housevotes84"),
        minutes=(0.3, 0.7),
    ),
    Exhibit(
        "bhc.alpha",
        "Iris: two rules for alpha",
        alpha_units,
        alpha_cells,
        notes=alpha_notes,
        words=("Iris, K_init = 13, F_c = 4: RI of BHC over starts of k-means. Paper: 0.9291.",),
        data=("iris_uci",),
        minutes=(0.1, 0.3),
    ),
    Exhibit(
        "bhc.numbers",
        "The number of clusters that a tree says",
        number_units,
        number_cells,
        notes=number_notes,
        words=tuple(f"{kind}: data {words}." for kind, words in KINDS.items()),
        data=(*SEEN, *FRESH),
        minutes=(0.1, 0.2),
    ),
]

# -- what the paper says of its method ---------------------------------------------------------------------------------


def against_hac(name: str, rows: Sequence[str], measures: Sequence[str]) -> Callable[[Tables], list[Case]]:
    def cases(tables: Tables) -> list[Case]:
        return [
            best(
                f"{row}, {measure}",
                {"BHC": tables[name][row][f"BHC, {measure}"]},
                {"HAC": tables[name][row][f"HAC, {measure}"]},
            )
            for row in rows
            for measure in measures
        ]

    return cases


def outlier_gap(tables: Tables) -> list[Case]:
    """By link, whether the last gap of BHC is larger than that of HAC."""
    table = tables["bhc.figure1"]
    cases = []
    for name in DIAMONDS:
        for link in LINKAGES:
            own, classical = (table[f"{name}, {link}, {method}"]["last gap"] for method in METHODS)
            words = f"BHC {value_text(own)}, HAC {value_text(classical)}"
            cases.append(Case(f"{name}, {link}", (own.ours or 0) > (classical.ours or 0), words))
    return cases


def outlier_last(tables: Tables) -> list[Case]:
    """By link, whether object 12 joins the others last in both trees."""
    table = tables["bhc.figure1"]
    cases = []
    for name in DIAMONDS:
        for link in LINKAGES:
            last = {method: table[f"{name}, {link}, {method}"]["12 merges last"].ours == 1 for method in METHODS}
            words = ", ".join(f"{method} {'last' if found else 'earlier'}" for method, found in last.items())
            cases.append(Case(f"{name}, {link}", all(last.values()), words))
    return cases


def rises(tables: Tables) -> list[Case]:
    """Whether the index rises at each merge."""
    return [
        Case(row, (cells["least rise of the BetP index"].ours or 0.0) > 0, f"least rise {value:.3g}")
        for row, cells in tables["bhc.figure3"].items()
        if (value := cells["least rise of the BetP index"].ours) is not None
    ]


def precision_low(tables: Tables, name: str, low: Sequence[str], high: Sequence[str] = ()) -> list[Case]:
    """In some rows precision is below recall, in others above it."""
    cases = []
    for row in (*low, *high):
        precision, recall = (tables[name][row][f"BHC, {measure}"] for measure in ("precision", "recall"))
        holds = above(recall, precision) if row in low else above(precision, recall)
        cases.append(Case(row, holds, f"precision {value_text(precision)}, recall {value_text(recall)}"))
    return cases


def three_clusters(tables: Tables) -> list[Case]:
    table = tables["bhc.figure2"]
    return [
        Case(row, cells["clusters (auto)"].ours == 3, value_text(cells["clusters (auto)"]))
        for row, cells in table.items()
    ]


CLAIMS = [
    Claim(
        "Figure 1",
        "Object 12 is an outlier in both trees: it merges last.",
        ("bhc.figure1",),
        outlier_last,
    ),
    Claim(
        "Figure 1",
        "The outlier's gap is clearer in BHC than in HAC.",
        ("bhc.figure1",),
        outlier_gap,
    ),
    Claim("Figure 2", "BHC shows three clusters in Iris.", ("bhc.figure2",), three_clusters),
    Claim("Figure 3", "The index of BHC rises at each level of the votes' tree.", ("bhc.figure3",), rises),
    Claim(
        "Table 1",
        "With two clusters precision is low and recall is high, with five or six it is the other way round (here: "
        "which of the two is the higher one).",
        ("bhc.table1",),
        partial(precision_low, name="bhc.table1", low=("F_c = 2",), high=("F_c = 5", "F_c = 6")),
    ),
    Claim(
        "Table 2",
        "With two and three clusters of the votes precision is low and recall is high (here: precision is the lower "
        "one).",
        ("bhc.table2",),
        partial(precision_low, name="bhc.table2", low=("votes, F_c = 2", "votes, F_c = 3")),
    ),
    Claim(
        "Table 1",
        "With four clusters BHC is better than HAC in precision, recall and RI.",
        ("bhc.table1",),
        against_hac("bhc.table1", ("F_c = 4",), MEASURES),
    ),
    Claim(
        "Table 2",
        "With three to six clusters of the votes precision and RI of BHC are higher than HAC's.",
        ("bhc.table2",),
        against_hac("bhc.table2", [f"votes, F_c = {f}" for f in (3, 4, 5, 6)], ("precision", "RI")),
    ),
]
