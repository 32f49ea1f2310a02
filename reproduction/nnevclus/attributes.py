"""Section 4.1: eleven methods on fourteen tables. Table 3, the times of Table 4, and Figures 23 to 25."""

from __future__ import annotations

import warnings
from functools import cache
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score

from evidentia import BPEC, CCM, ECM, EVCLUS, NNEVCLUS, BootGMM, CredalPartition, FocalSets, SECMdd
from evidentia.datasets import load
from evidentia.experimental import WECMdd
from evidentia.prototypes import belief_peaks
from evidentia.scores import credal_rand_index, pair_nonspecificity
from reproduction.bootgmm.fits import PAPER_TOL
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = (
    "EVCLUS",
    "NN-EVCLUS",
    "NN-EVCLUS-bp",
    "ECM",
    "ECM-bp",
    "CCM",
    "CCM-bp",
    "sECMdd",
    "wECMdd",
    "BPEC",
    "Bootclus",
)
OWN = ("NN-EVCLUS", "NN-EVCLUS-bp")
TABLE_3: dict[str, tuple[float | None, ...]] = {
    "Wine": (0.91, 0.91, 0.93, 0.85, 0.85, 0.45, 0.45, 0.24, 0.39, 0.80, 0.93),
    "Iris": (0.77, 0.77, 0.70, 0.62, 0.62, 0.63, 0.63, 0.54, 0.66, 0.64, 0.90),
    "Ecoli": (0.80, 0.80, 0.82, 0.79, 0.79, 0.70, 0.70, 0.11, 0.64, 0.78, 0.60),
    "Heart": (0.41, 0.42, 0.41, 0.38, 0.38, 0.37, 0.40, -0.0058, 0.39, 0.22, 0.27),
    "Seeds": (0.81, 0.80, 0.75, 0.73, 0.73, 0.79, 0.79, 0.45, 0.69, 0.72, 0.73),
    "Letters4p1": (0.50, 0.52, None, 0.050, None, 0.089, None, 0.075, 0.099, None, 0.10),
    "Glass": (0.35, 0.36, None, 0.31, None, 0.21, None, 0.20, 0.26, None, 0.18),
    "Segment": (0.51, 0.54, None, 0.50, None, 0.36, None, 0.44, 0.23, None, 0.61),
    "S2": (0.88, 0.81, 0.93, 0.93, 0.93, 0.72, 0.94, None, None, 0.93, None),
    "S4": (0.63, 0.55, 0.64, 0.63, 0.63, 0.52, 0.63, None, None, 0.65, None),
    "D31": (0.91, 0.69, 0.94, 0.86, 0.95, 0.48, 0.95, None, None, 0.94, None),
    "Mice": (0.47, 0.69, 0.80, 0.60, 0.60, 0.66, 0.70, -0.02, 0.58, 0.75, 0.77),
    "DryBean": (0.62, 0.63, 0.75, 0.73, 0.66, 0.51, 0.60, 0.47, 0.28, 0.67, 0.67),
    "Leaves5p1": (0.60, 0.64, None, 0.42, None, 0.25, None, 0.20, 0.25, None, 0.62),
}

NOT_GIVEN = {
    "Glass": "the paper counts ten attributes where the file has nine and a row number; with the number (rows are "
    "ordered by class) EVCLUS has 0.21 to 0.53, with the class as an attribute 0.16 to 0.49, by delta_0 and scaling",
    "Letters4p1": "the six letters are not named; A, B, J, M, O, X have the same number of rows",
    "Mice": "the paper's list of 22 proteins could not be had; all 71 without gaps are used",
    "Leaves5p1": "neither the 20 species nor the feature set is named; the first 20 of the margin file are used",
}

TABLE_4 = {
    "S4": {"EVCLUS": (55.75, 11.2), "NN-EVCLUS": (430.02, 21.5), "ECM": (10.51, 3.3), "CCM": (248.09, 64.7)},
    "D31": {"EVCLUS": (94.88, 19.8), "NN-EVCLUS": (400.60, 82.7), "ECM": (46.08, 10.6), "CCM": (1728.82, 430.5)},
}
SECMDD_FAR = ": none comes near, so the paper's program is another algorithm or stops at once"
REASONS = {
    ("Wine", "NN-EVCLUS-bp"): (
        "The start decides, and the lowest loss is not the best partition: five seeds of five starts have 0.86, 0.88, "
        "0.91, 0.90 and 0.86, ten single starts 0.83 to 0.91. Ended after 200 iterations, one of five single starts "
        "has the paper's 0.93 and the others 0.85 to 0.86; RMSprop on the whole table has 0.82 to 0.90."
    ),
    ("Wine", "BPEC"): (
        "The adaptive metric of the paper gives 0.33 to 0.58 with 10 to 50 neighbors; the Euclidean one gives the "
        "paper's 0.80 with 20 and 30."
    ),
    ("Iris", "EVCLUS"): (
        "All starts end at one minimum of the loss, ARI 0.65; with other quantiles for delta_0 and other families of "
        "sets it is 0.63 to 0.66. On columns that are not z-scored it is 0.73 (0.74 to 0.79 with smaller quantiles), "
        "but then ECM has 0.52 (paper 0.62) instead of 0.60."
    ),
    ("Iris", "NN-EVCLUS"): (
        "As EVCLUS, whose one minimum has 0.65: six single starts have 0.63 to 0.65, and three seeds of five starts "
        "0.64. On columns that are not z-scored it is 0.73, as of EVCLUS."
    ),
    ("Iris", "NN-EVCLUS-bp"): (
        "The start decides, within what EVCLUS's one minimum allows: six single starts have 0.62 to 0.67, three seeds "
        "of five starts 0.67, 0.63 and 0.64. On columns that are not z-scored it is 0.71."
    ),
    ("Iris", "wECMdd"): (
        "With psi = 2 two of the clusters become one when the descent is run to its rest; with psi = 1.1 five seeds "
        "have 0.66, stopped after one iteration 0.56 to 0.67. The article on wECMdd was not at hand."
    ),
    ("Ecoli", "Bootclus"): (
        "The likelier mixture is the worse partition: the search of the model takes VVE with a BIC of -2719 and an "
        "ARI of 0.24; VVE alone, from fewer starts, has -2762 and 0.70."
    ),
    ("Seeds", "Bootclus"): (
        "Ours is at the highest maximum of EEV, with a BIC of 132 and an ARI of 0.63. A lower one, with 42, has "
        "0.69, and bootGMM's partitions of it have 0.69 to 0.72."
    ),
    ("Ecoli", "NN-EVCLUS"): "One seed: four others of five starts have 0.81 to 0.82, ten single starts 0.79 to 0.83.",
    ("Heart", "NN-EVCLUS"): (
        "The start and the end of a descent decide: five seeds of five starts have 0.38 to 0.39, ten single starts "
        "0.37 to 0.44. Ended after 50 iterations, five single starts have 0.39 to 0.43, 0.41 in the mean."
    ),
    ("Heart", "NN-EVCLUS-bp"): (
        "The start decides: five seeds of five starts have 0.37, 0.31, 0.42, 0.36 and 0.39, ten single starts 0.28 to "
        "0.42."
    ),
    ("Seeds", "wECMdd"): (
        "As on Iris, two of the clusters become one; with psi = 1.1 five seeds have 0.72 to 0.73, stopped after one "
        "iteration 0.61 to 0.67."
    ),
    ("Segment", "NN-EVCLUS"): (
        "The paper does not name its 16 attributes. Four single starts have 0.49 to 0.52, and three by RMSprop on 30 "
        "mini-batches, as in the paper, 0.48 to 0.50."
    ),
    ("Segment", "Bootclus"): (
        "Four of the 16 attributes are linear in the others, so ours takes every mixture with correlations for "
        "collapsed and has VVI. With noise of 1e-5 added and a smaller limit to collapse, VVV has the best BIC and, "
        "from merge trees, 0.62 in three draws of the noise. Nine other choices of 16 attributes have 0.45 to 0.48."
    ),
    ("D31", "NN-EVCLUS"): (
        "Ours is the lowest loss of five starts. Four other single starts have 0.67 to 0.75, 0.70 in the mean, and two "
        "with 30 hidden units 0.70 and 0.73."
    ),
    ("DryBean", "EVCLUS"): "Another draw of the objects: three draws have 0.59, 0.61 and 0.63.",
    ("DryBean", "NN-EVCLUS-bp"): (
        "The 0.5 quantile for delta_0 is our rule: one start on each of three draws of the objects has 0.54, 0.55 and "
        "0.62 with it and 0.67, 0.57 and 0.63 with 0.2, which is nearer to the paper's number and does not reach it."
    ),
    ("DryBean", "ECM"): (
        "Single clusters alone, the first of the two steps, have 0.74; the second one's pairs lower it."
    ),
    ("DryBean", "ECM-bp"): "As ECM: it is the pairs of the second step.",
    **{
        (data, "sECMdd"): (
            "Four variants of our method (two measures of evenness, two ways to update the medoids) with three seeds "
            f"each have {least:.2f} to {most:.2f}{words}."
        )
        for data, least, most, words in (
            ("Wine", 0.50, 0.74, SECMDD_FAR),
            ("Iris", 0.66, 0.70, SECMDD_FAR),
            ("Ecoli", 0.47, 0.59, SECMDD_FAR),
            ("Heart", 0.22, 0.31, SECMDD_FAR),
            ("Seeds", 0.67, 0.80, SECMDD_FAR),
            ("Segment", 0.38, 0.58, ""),
            ("DryBean", 0.46, 0.60, ""),
        )
    },
}


@cache
def attributes(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Z-scored attributes and classes of a set of Table 2."""
    files = {
        "Ecoli": "ecoli_nnevclus",
        "Mice": "mice_trisomic",
        "Letters4p1": "letter",
        "Leaves5p1": "leaves_margin",
    }
    data = load(files.get(name, name.lower()))
    X, y = np.asarray(data.data, dtype=float), np.asarray(data.target)
    if name == "Segment":
        dropped = ("region_pixel_count", "short_line_density_5", "short_line_density_2")
        X = X[:, [k for k, column in enumerate(data.feature_names) if column.replace("-", "_") not in dropped]]
    if name == "Letters4p1":
        kept = np.isin(np.asarray(data.target_names)[y], list("ABJMOX"))
        X, y = X[kept], y[kept]
    if name == "Leaves5p1":
        X, y = X[y < 20], y[y < 20]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    if name == "DryBean":  # drawn after scaling: only so the paper's value for CCM-bp is met
        rng = np.random.RandomState(seed)
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), 200, replace=False) for k in np.unique(y)])
        X, y = X[rows], y[rows]
    return X, y


def quantile(n_clusters: int) -> float:
    """The paper's heuristic for delta_0, as a rule: 0.9 up to four clusters, and smaller for more of them."""
    return next(q for most, q in ((4, 0.9), (9, 0.5), (19, 0.2), (np.inf, 0.1)) if n_clusters <= most)


def focal_family(n_clusters: int) -> str:
    """Pairs of clusters below five clusters, as the paper has it for EVCLUS and NN-EVCLUS."""
    return "pairs" if n_clusters < 5 else "simple"


def build(method: str, X: np.ndarray, n_clusters: int, n_init: int, seed: int) -> BaseEstimator:
    """The method with the paper's settings: rho = 5 on z-scored columns, five starts, delta_0 by `quantile`.

    A network has 1.5 hidden units for each focal set.
    """
    c, many = n_clusters, len(X) > 1000
    drawn: dict[str, Any] = {"n_init": n_init, "random_state": seed}
    near: dict[str, Any] = {"focal_sets": "pairs" if c <= 3 else "near-pairs", "rho": 5.0}
    relational: dict[str, Any] = {
        "focal_sets": focal_family(c),
        "delta0": quantile(c),
        "n_pairs": 500 if many else None,
    }
    if method.startswith("NN-EVCLUS"):
        start = "belief-peaks" if method.endswith("-bp") else "random"
        del relational["n_pairs"]
        hidden = int(1.5 * len(FocalSets(c, relational["focal_sets"])))
        return NNEVCLUS(c, **relational, hidden=hidden, init=start, **drawn)
    if method.endswith("-bp"):
        peaks = belief_peaks(X).choose(c)
        drawn |= {"init": X[peaks], "n_init": 1}
    return {
        "EVCLUS": lambda: EVCLUS(c, **relational, **drawn),
        "ECM": lambda: ECM(c, **near, tol=1e-6, **drawn),
        "CCM": lambda: CCM(c, rho=5.0, tol=1e-6, **drawn),
        "sECMdd": lambda: SECMdd(c, alpha=2.0, beta=2.0, eta=1.0, gamma=1.0, rho=5.0, **drawn),
        "wECMdd": lambda: WECMdd(c, alpha=2.0, beta=2.0, mixing=5.0, psi=2.0, rho=5.0, **drawn),
        "BPEC": lambda: BPEC(c, rho=5.0),
        "Bootclus": lambda: BootGMM(
            c, model="bic", n_boot=500, boot_tol=PAPER_TOL, n_pairs=200 if many else None, random_state=seed
        ),
    }[method.removesuffix("-bp")]()


def measure(data: str, method: str, n_init: int, seed: int) -> Result:
    """ARI of the plausible labels, consistency with the classes and nonspecificity."""
    X, y = attributes(data, seed)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a method has to say of 14 tables is not the matter here
        model: Any = build(method, X, len(np.unique(y)), n_init, seed).fit(X)
    seconds = process_time() - start
    masses = model.partition_.normalize("dempster")
    without_conflict = CredalPartition(masses.masses, masses.focal_sets)
    return {
        "ari": adjusted_rand_score(y, model.labels_),
        "consistency": credal_rand_index(model.partition_, y),
        "nonspecificity": pair_nonspecificity(model.partition_),
        "consistency, normalized": credal_rand_index(without_conflict, y),
        "nonspecificity, normalized": pair_nonspecificity(without_conflict),
        "seconds": seconds,
        "seconds of a start": seconds / getattr(model, "n_init", 1),
    }


def units(quick: bool, seed: int) -> list[Unit]:
    slow = ("Letters4p1", "Segment", "S2", "S4", "D31", "DryBean")
    return [
        Unit(
            f"{data}/{method}",
            measure,
            {"data": data, "method": method, "n_init": 2 if quick else 5, "seed": seed},
        )
        for data, row in TABLE_3.items()
        for method, paper in zip(METHODS, row)
        if paper is not None and not (quick and data in slow)
    ]


def cells(results: Results) -> list[Cell]:
    return [
        Cell(
            data,
            method,
            ours=results.get(f"{data}/{method}", {}).get("ari"),
            paper=paper,
            incomparable=NOT_GIVEN.get(data, ""),
            reason=REASONS.get((data, method), ""),
            rival=method not in OWN,
        )
        for data, row in TABLE_3.items()
        for method, paper in zip(METHODS, row)
        if paper is not None
    ]


def times(results: Results) -> list[Cell]:
    """CPU seconds of one start."""
    found = []
    for data, row in TABLE_4.items():
        for method, (paper, deviation) in row.items():
            seconds = results.get(f"{data}/{method}", {}).get("seconds of a start")
            other: Any = {"better": "lower", "incomparable": "another machine, and R", "rival": method not in OWN}
            found.append(Cell(data, method, seconds, None, paper, deviation, **other))
    return found


INDICES = ("consistency", "nonspecificity", "consistency, normalized", "nonspecificity, normalized")


def index_cells(results: Results) -> list[Cell]:
    """What the figures show, which the paper does not print."""
    return [
        Cell(f"{data}, {method}", index, results.get(f"{data}/{method}", {}).get(index), rival=method not in OWN)
        for data, row in TABLE_3.items()
        for method, paper in zip(METHODS, row)
        if paper is not None
        for index in INDICES
    ]


def draw(results: Results) -> Figure:
    """Consistency with the classes against nonspecificity: up and to the left is better; hollow marks: normalized."""
    import matplotlib.pyplot as plt

    sets = [data for data in TABLE_3 if any(key.startswith(f"{data}/") for key in results)]
    figure, axes = plt.subplots(
        -(-len(sets) // 4) or 1, 4, figsize=(15, 3.6 * (-(-len(sets) // 4) or 1)), layout="constrained", squeeze=False
    )
    for ax in axes.ravel()[len(sets) :]:
        ax.remove()
    colors = dict(zip(METHODS, plt.get_cmap("tab20").colors))  # type: ignore[attr-defined]
    for data, ax in zip(sets, axes.ravel()):
        for method in METHODS:
            if found := results.get(f"{data}/{method}"):
                marker = "s" if method.endswith("-bp") else "o"
                color = colors[method]
                ax.plot(found["nonspecificity"], found["consistency"], marker, color=color, label=method, ms=8)
                normalized = found["nonspecificity, normalized"], found["consistency, normalized"]
                ax.plot(*normalized, marker, color=color, mfc="none", ms=8)
        ax.set(title=data, xlabel="nonspecificity", ylabel="consistency")
    handles = {label: line for ax in figure.axes for line, label in zip(*ax.get_legend_handles_labels())}
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6)
    return figure


WORDS = (
    "Columns are z-scored: the paper does not say so, but its values for Wine, Ecoli, Heart and Seeds are met only "
    "then.",
    "delta_0 is the 0.9, 0.5, 0.2 or 0.1 quantile for up to 4, 9, 19 and more clusters; the paper chose among them "
    "set by set. Belief peaks are chosen by their score, where the paper chose by eye.",
    "Our networks take quasi-Newton steps on all pairs up to 2,000 objects and beyond, on Letters4p1, Segment, S2, "
    "S4 and D31, Adam on batches of 128 objects; the paper's take gradient steps on the whole table up to 1,000 "
    "objects and RMSprop on mini-batches beyond (30 of them for S4 and D31). A network has 1.5 hidden units for each "
    "focal set, as in the paper. Five starts, as in the paper, and one seed.",
    "Segment: 16 attributes without the pixel count and both line densities, the likeliest reading of d = 16. "
    "DryBean: 200 objects a class, drawn after the whole table was scaled, because only so the paper's value for "
    "CCM-bp is met; another draw than the paper's.",
    *(f"{data}: {why}." for data, why in NOT_GIVEN.items()),
)
INDEX_WORDS = (
    "Consistency with the classes is one minus the mean conflict of pairs of objects with them. The mass of the empty "
    "set counts as conflict, so the indices are shown of the partitions as they are and normalized by Dempster's rule. "
    "The paper does not say which it shows. What it says of ten cases on Heart (Figure 23d) holds of most of our "
    "normalized partitions and of few of the others, so its claims are decided by the normalized ones.",
)


NEEDS = (
    "wine", "iris", "ecoli_nnevclus", "heart", "seeds", "letter", "glass", "segment", "s2", "s4", "d31",
    "mice_trisomic", "drybean", "leaves_margin",
)  # fmt: skip
TIMED = {f"{data}/{method}" for data, row in TABLE_4.items() for method in row}
EXHIBITS = [
    Exhibit(
        "nnevclus.table3",
        "ARI of eleven methods on tables of attributes",
        units,
        cells,
        words=WORDS,
        data=NEEDS,
        minutes=(4, 60),
    ),
    Exhibit(
        "nnevclus.table4",
        "CPU seconds of one start on S4 and D31",
        lambda quick, seed: [unit for unit in units(False, seed) if unit.key in TIMED] if not quick else [],
        times,
        data=("s4", "d31"),
        minutes=(0, 20),
        words=(*WORDS[2:3], "The paper's times are of 30 hidden units; ours has 25 on S4 and 49 on D31."),
    ),
    Exhibit(
        "nnevclus.figure23-25",
        "Consistency with the classes against nonspecificity",
        units,
        index_cells,
        draw,
        data=NEEDS,
        minutes=(4, 60),
        words=INDEX_WORDS,
    ),
]
