"""Tables 2 to 4 and Figures 1 to 5: the Diamond, two classes and four classes."""

from __future__ import annotations

from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from evidentia.belief import FocalSets
from evidentia.datasets import Dataset, make_diamond, make_egmm_four_class, make_egmm_two_class
from evidentia.mixtures import BootGMM
from evidentia.partition import CredalPartition
from evidentia.plots import plot_ellipses, plot_masses, plot_partition, set_style
from evidentia.prototypes import ECM
from reproduction.bootgmm.fits import PAPER_TOL
from reproduction.egmm import paper
from reproduction.egmm.methods import paper_egmm
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNTS = (2, 3, 4, 5, 6)
MIDDLE = 5  # object 6 of the paper
DISTRIBUTIONS: dict[str, tuple[list[list[float]], list[list[float]]]] = {  # means, and the covariance of all classes
    "Two-class": ([[2, 4], [2, 0]], [[3, 2], [2, 3]]),
    "Four-class": ([[0, 0], [0, 4], [4, 4], [4, 0]], [[2, 0], [0, 2]]),
}
CONTOURS = (0.5, 0.9)  # probability inside each line


def drawn(data: str, seed: int) -> Dataset:
    make: Any = {"Two-class": make_egmm_two_class, "Four-class": make_egmm_four_class}
    return make_diamond() if data == "Diamond" else make[data](random_state=seed)


def measure_ebic(data: str, draws: int, tol: float, n_init: int, seed: int) -> Result:
    """EBIC for each number of clusters, one list a draw, and whether the covariance collapsed."""
    begin = process_time()
    found, collapsed = [], []
    for draw in range(seed, seed + draws):
        X = drawn(data, draw).data
        settings: Any = {"focal_sets": "full" if data == "Diamond" else "pairs", "tol": tol, "n_init": n_init}
        models = [paper_egmm(X, c, draw, **settings) for c in COUNTS]
        found.append([model.ebic_ for model in models])
        collapsed.append([bool(model.collapsed_) for model in models])
    return {"ebic": found, "collapsed": collapsed, "seconds": process_time() - begin}


def ebic_units(data: str, quick: bool, seed: int) -> list[Unit]:
    if data == "Diamond":  # the authors stop when the log-likelihood rises by less than 0.001; ours counts per object
        return [Unit("ebic/Diamond", measure_ebic, {"data": data, "draws": 1, "tol": 1e-3, "n_init": 10, "seed": seed})]
    settings = {"data": data, "draws": 2 if quick else 10, "tol": 1e-6, "n_init": 1 if quick else 3, "seed": seed}
    return [Unit(f"ebic/{data}", measure_ebic, settings)]


def ebic_cells(data: str, results: Results) -> list[Cell]:
    """The table is about which number of clusters is best, so what is compared is how far each is from C = 2.

    The paper's draw of a simulated set is not published, and is one of those that our deviation is over.
    """
    found = results.get(f"ebic/{data}", {"ebic": [], "collapsed": []})
    runs = np.array(found["ebic"], dtype=float).reshape(-1, len(COUNTS))
    runs[np.array(found["collapsed"], dtype=bool).reshape(runs.shape)] = np.nan  # the likelihood has no maximum
    printed = [entry.mean or 0.0 for entry in paper.EBIC[data].values()]
    levels: Any = {"incomparable": "A level: the table is about the differences.", "better": "equal"}
    cells = [
        Cell("EBIC", f"C = {count}", *mean_of(runs[:, at]), printed[at], runs=max(1, len(runs)), **levels)
        for at, count in enumerate(COUNTS)
    ]
    for at, count in list(enumerate(COUNTS))[1:]:
        cells.append(
            Cell(
                "less that of C = 2",
                f"C = {count}",
                *mean_of(runs[:, at] - runs[:, 0]),
                round(printed[at] - printed[0], 1),
                better="equal",
                tolerance=0.1,  # both levels are printed to 0.1
                reason=EBIC_REASONS[data].get(count, ""),
                runs=max(1, len(runs)),
                single=data != "Diamond",
            )
        )
    return cells


def mean_of(values: np.ndarray) -> tuple[float | None, float | None]:
    """Mean and standard deviation of the draws that did not collapse."""
    values = values[~np.isnan(values)]
    if not len(values):
        return None, None
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None


MANY_MAXIMA = {
    5: "Ours is the likeliest of ten starts that do not collapse. Of 200 starts as in the authors' program, with 0.01 "
    "added to the covariance, two end at the paper's level (-91.4), 58 at ours, and all from -71.0 to -96.6.",
    6: "Ours is the likeliest of ten starts that do not collapse. Of 200 starts as in the authors' program, with 0.01 "
    "added to the covariance, none ends at the paper's level of -132.3: the nearest are -135.2, as ours, and -128.6. "
    "Its number could not be explained.",
}
ONE_START = (
    "Ours is the likeliest of three starts. With one k-means start, 0.01 added to the covariance and EM ended as in "
    "the authors' program, "
)
EBIC_REASONS: dict[str, dict[int, str]] = {
    "Diamond": MANY_MAXIMA,
    "Two-class": {
        5: f"{ONE_START}20 draws have -54.9 ± 3.6, and one of them -47.2, less of a fall than the paper's -48.1.",
    },
    "Four-class": dict.fromkeys(
        (4, 5, 6),
        f"{ONE_START}20 draws have 2.5 ± 8.0, -19.0 ± 8.0 and -41.4 ± 8.9 for four to six clusters. Two of them have "
        "the paper's 13.3 or more, and of these one has -3.9 and -24.9 for five and six, above the paper's numbers.",
    ),
}
FEW_SETS = (
    "Sets of one and two clusters and the set of all: with all subsets EBIC falls faster from C = 4 on than the "
    "paper's numbers do. That was found by matching."
)
DRAWS = "Ten draws of ours; the paper's one draw is not published."


def ebic_notes(data: str, results: Results) -> list[str]:
    found = results.get(f"ebic/{data}")
    if not found or data == "Diamond":
        return []
    chosen = [COUNTS[int(np.argmax(row))] for row in found["ebic"]]
    shown = ", ".join(f"{count}: {chosen.count(count)}" for count in COUNTS if count in chosen)
    lost = sum(map(sum, found["collapsed"]))
    left_out = [f"{lost} fits in which the covariance collapsed are left out."] if lost else []
    return [f"Number of clusters with the highest EBIC, by draw: {shown}.", *left_out]


# -- figures ----------------------------------------------------------------------------------------------------------


def kept(partition: CredalPartition, centers: Any) -> Result:
    masks = partition.focal_sets.masks.tolist()
    return {"masses": partition.masses.round(6).tolist(), "masks": masks, "centers": np.asarray(centers).tolist()}


def restored(found: Result, n_clusters: int) -> CredalPartition:
    masses = np.array(found["masses"])
    return CredalPartition(masses / masses.sum(axis=1, keepdims=True), FocalSets(n_clusters, found["masks"]))


def measure_diamond(seed: int) -> Result:
    """Probabilities of a Gaussian mixture with free covariances, and masses of EGMM, two clusters each."""
    X = drawn("Diamond", seed).data
    mixture = GaussianMixture(2, n_init=10, reg_covar=1e-2, random_state=seed).fit(X)
    fuzzy = CredalPartition(mixture.predict_proba(X), FocalSets(2, "singletons", empty=False, omega=False))
    model = paper_egmm(X, 2, seed)
    return {"GMM": kept(fuzzy, mixture.means_), "EGMM": kept(model.partition_, model.cluster_centers_)}


def measure_two_class(seed: int, n_boot: int) -> Result:
    X = drawn("Two-class", seed).data
    models: dict[str, Any] = {
        "ECM": ECM(2, focal_sets="full", random_state=seed).fit(X),
        "bootGMM": BootGMM(2, model="bic", n_boot=n_boot, boot_tol=PAPER_TOL, focal_sets="full", random_state=seed).fit(
            X
        ),
        "EGMM": paper_egmm(X, 2, seed),
    }
    found = {name: kept(model.partition_, getattr(model, "cluster_centers_", [])) for name, model in models.items()}
    return {**found, "seed": seed}


def measure_four_class(seed: int) -> Result:
    model = paper_egmm(drawn("Four-class", seed).data, 4, seed, focal_sets="pairs")
    return {"EGMM": kept(model.partition_, model.cluster_centers_), "seed": seed}


def diamond_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("pictures/Diamond", measure_diamond, {"seed": seed})]


def two_class_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("pictures/Two-class", measure_two_class, {"seed": seed, "n_boot": 50 if quick else 500})]


def four_class_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("pictures/Four-class", measure_four_class, {"seed": seed})]


def draw_truth(ax: Any, name: str, data: Dataset) -> None:
    """Draw the objects by their true class, and contours of the distributions they were drawn from."""
    means, covariance = DISTRIBUTIONS[name]
    sets = FocalSets(len(means), "singletons", empty=False, omega=False)
    truth = SimpleNamespace(
        partition_=CredalPartition(np.eye(len(means))[data.target], sets),
        cluster_centers_=np.array(means, dtype=float),
        covariances_=np.array([covariance] * len(means), dtype=float),
    )
    for level in CONTOURS[:-1]:
        plot_ellipses(truth, level=level, ax=ax)
    plot_ellipses(truth, data.data, level=CONTOURS[-1], ax=ax)
    ax.set_title(f"true classes, contours of {' and '.join(f'{level:.0%}' for level in CONTOURS)}")


def draw_hulls(ax: Any, partition: CredalPartition, X: np.ndarray) -> None:
    """Draw the convex hull of the objects of each set of the hard partition."""
    for mask in np.unique(partition.hard_masks).tolist():
        members = X[partition.hard_masks == mask]
        if len(members) > X.shape[1]:
            corners = members[ConvexHull(members).vertices]
            style = set_style(mask, partition.n_clusters)
            ax.fill(*corners.T, fc=style.color, ec="none", alpha=0.1, zorder=1.4)
            ax.fill(*corners.T, fill=False, ec=style.edge, lw=1.3, zorder=1.6)


def centered(ax: Any, found: Result) -> None:
    if len(found["centers"]):
        ax.plot(*np.array(found["centers"]).T[:2], "x", color="black", markersize=10, markeredgewidth=2.5, zorder=9)


def draw_points(results: Results) -> Figure:
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
    X = make_diamond().data
    ax.plot(*X.T, "o", color="0.3")
    for i, at in enumerate(X):
        ax.annotate(str(i + 1), at, xytext=(5, 5), textcoords="offset points")
    ax.set(xlabel="x1", ylabel="x2", aspect="equal", ylim=(-3, 3))
    return figure


def draw_diamond(method: str, results: Results) -> Figure:
    from matplotlib import pyplot as plt

    found = results["pictures/Diamond"][method]
    partition = restored(found, 2)
    figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    plot_masses(partition, order="given", ax=axes[0])
    axes[0].set_title(f"{method}: {'probabilities' if method == 'GMM' else 'masses'} (objects from 0)")
    plot_partition(partition, make_diamond().data, hulls=None, ax=axes[1])
    centered(axes[1], found)
    axes[1].set_title("set of largest mass, and centers")
    return figure


def draw_two_class(results: Results) -> Figure:
    from matplotlib import pyplot as plt

    seed, found_by = results["pictures/Two-class"]["seed"], dict(results["pictures/Two-class"])
    del found_by["seed"]
    data = drawn("Two-class", seed)
    figure, axes = plt.subplots(2, 2, figsize=(12, 10), layout="constrained")
    draw_truth(axes[0, 0], "Two-class", data)
    for ax, (method, found) in zip(axes.ravel()[1:], found_by.items()):
        partition = restored(found, 2)
        plot_partition(partition, data.data, hulls=None, ax=ax)
        draw_hulls(ax, partition, data.data)
        centered(ax, found)
        ax.set_title(f"{method}: sets of largest mass")
    return figure


def draw_four_class(results: Results) -> Figure:
    from matplotlib import pyplot as plt

    found = results["pictures/Four-class"]
    data, partition = drawn("Four-class", found["seed"]), restored(found["EGMM"], 4)
    figure, axes = plt.subplots(2, 2, figsize=(13, 11), layout="constrained")
    draw_truth(axes[0, 0], "Four-class", data)
    draw_hulls(axes[0, 1], partition, data.data)
    for ax, hulls, title in zip(
        axes.ravel()[1:],
        (None, "lower", "upper"),
        ("sets of largest mass", "lower approximations", "upper approximations"),
    ):
        plot_partition(partition, data.data, hulls=hulls, ax=ax)
        centered(ax, found["EGMM"])
        ax.set_title(title)
    return figure


def middle_cells(method: str, results: Results) -> list[Cell]:
    """Masses of the object between the rhombs, and how far the centers are off; the paper prints no numbers."""
    found = results.get("pictures/Diamond")
    if not found:
        return []
    partition = restored(found[method], 2)
    X = make_diamond().data
    middles = X[:MIDDLE].mean(axis=0), X[MIDDLE + 1 :].mean(axis=0)
    away = cdist(middles, np.array(found[method]["centers"])).min(axis=1)
    return [
        *(
            Cell("object 6", name, float(mass))
            for name, mass in zip(partition.focal_sets.names(), partition.masses[MIDDLE])
        ),
        Cell("centers", "largest distance from the middle of a rhomb", float(away.max())),
    ]


def partition_cells(name: str, results: Results) -> list[Cell]:
    """ARI, and the share of the objects whose set of largest mass has several clusters; the paper prints no numbers."""
    kept = dict(results.get(f"pictures/{name}", {}))
    if not kept:
        return []
    data = drawn(name, kept["seed"])
    means, covariance = DISTRIBUTIONS[name]
    nearest = cdist(data.data, np.array(means), "mahalanobis", VI=np.linalg.inv(covariance)).argmin(axis=1)
    cells = [Cell("true distributions", "ARI", float(adjusted_rand_score(data.target, nearest)))]
    for method, found in kept.items():
        if isinstance(found, dict) and "masses" in found:
            partition = restored(found, len(DISTRIBUTIONS[name][0]))
            several = partition.sets("mass").sum(axis=1) > 1
            cells += [
                Cell(method, "ARI", float(adjusted_rand_score(data.target, partition.labels("pignistic")))),
                Cell(method, "on several clusters", float(several.mean())),
            ]
    return cells


def tabulated(number: int, data: str, minutes: tuple[float, float]) -> Exhibit:
    return Exhibit(
        f"egmm.table{number}",
        f"EBIC by the number of clusters, {data}",
        lambda quick, seed: ebic_units(data, quick, seed),
        cells=lambda results: ebic_cells(data, results),
        notes=lambda results: ebic_notes(data, results),
        words=("EM stops as early as the paper's; run on, three clusters have -63.0.",)
        if data == "Diamond"
        else (FEW_SETS, DRAWS),
        minutes=minutes,
    )


def divided(number: int, method: str) -> Exhibit:
    return Exhibit(
        f"egmm.figure{number}",
        f"The Diamond by {method}",
        diamond_units,
        cells=lambda results: middle_cells(method, results),
        draw=lambda results: draw_diamond(method, results),
        minutes=(0.05, 0.05),
    )


EXHIBITS = [
    tabulated(2, "Diamond", (0.05, 0.05)),
    tabulated(3, "Two-class", (0.2, 0.6)),
    tabulated(4, "Four-class", (0.2, 0.6)),
    Exhibit("egmm.figure1", "The Diamond", diamond_units, draw=draw_points, minutes=(0.05, 0.05)),
    divided(2, "GMM"),
    divided(3, "EGMM"),
    Exhibit(
        "egmm.figure4",
        "Two classes by ECM, bootGMM and EGMM",
        two_class_units,
        cells=lambda results: partition_cells("Two-class", results),
        draw=draw_two_class,
        minutes=(0.2, 0.5),
    ),
    Exhibit(
        "egmm.figure5",
        "Four classes by EGMM",
        four_class_units,
        cells=lambda results: partition_cells("Four-class", results),
        draw=draw_four_class,
        minutes=(0.05, 0.05),
    ),
]
