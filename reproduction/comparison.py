"""Every method of the package on every table with classes, as a user meets it: by its defaults.

Columns are z-scored, the number of clusters is that of the classes, and large tables are sampled. What is not a
default: with more than eight clusters the sets of two or more clusters are fewer (`MANY_CLUSTERS`), and with more than
a thousand objects EVCLUS and BootGMM look at a hundred partners of each object.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from evidentia.constraints import PairwiseConstraints
from evidentia.datasets import load
from evidentia.methods import clusterers
from evidentia.scores import credal_rand_index, pair_nonspecificity
from reproduction.claims import Claim
from reproduction.egmm.ranks import average_ranks
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE = "k-means"
LINKED = {"CECM": "ECM", "CEVCLUS": "EVCLUS", "CFCM": "FCM", "COPKMeans": "k-means"}  # and what each is without links
ADAPTIVE = "ECM, adaptive"
CLASSES = {cls.__name__: cls for cls in clusterers().values() if "table" in cls.method.reads}
METHODS = (REFERENCE, *(name for name in CLASSES if name not in LINKED), ADAPTIVE)
DISSIMILARITIES = tuple(name for name in METHODS if name in CLASSES and "dissimilarities" in CLASSES[name].method.reads)
N_LINKS = 50


def few_sets(cls: Any) -> str | None:
    """The family of sets for many clusters: near pairs, or single clusters where dissimilarities are read."""
    if "near-pairs" in cls.method.families:
        return "near-pairs"
    return "simple" if "simple" in cls.method.families and "dissimilarities" in cls.method.reads else None


FILES = {  # the smallest first
    "Diabetes": "diabetes",
    "Iris": "iris",
    "Wine": "wine",
    "Seeds": "seeds",
    "Protein": "protein",
    "Glass": "glass",
    "NewThyroid": "newthyroid",
    "Heart": "heart",
    "Ecoli": "ecoli_egmm",
    "FourClass": "fourclass",
    "Knowledge": "knowledge",
    "Mice": "mice_trisomic",
    "Vehicle": "vehicle",
    "DryBean": "drybean",
    "Magic": "magic",
    "LettersIJL": "letters_ijl",
    "Segment": "segment",
    "D31": "d31",
    "S2": "s2",
    "S4": "s4",
}
MOST = 2_000  # objects of a table; of DryBean 200 of each class
SMALL = ("Diabetes", "Iris", "Wine", "Seeds", "Protein", "Glass", "NewThyroid", "Heart", "Ecoli")
MIDDLING = ("FourClass", "Knowledge")
AVERAGED = tuple(data for data in SMALL + MIDDLING if data != "Protein")  # tables that every method is tried on
WITH_LINKS = tuple(data for data in AVERAGED if data != "Ecoli")  # 256 sets of clusters are slow for CECM
ONCE = ("BPEC", "BeliefHierarchical", "ParsimoniousGaussianMixture", "BootGMM", "NNEVCLUS")  # little chance, or slow

DOUBT = {
    "consistency": "consistency",
    "nonspecificity": "nonspecificity",
    "share torn": "torn",
    "share outliers": "outlier",
    "ARI": "ari",
    "ARI of the sure": "ari of the sure",
}

SLOW = "more than a minute of one core, as the times on smaller tables grow with the square of the number of objects"
LEFT_OUT = {
    **{(data, "NNEVCLUS"): SLOW for data in ("Segment", "D31")},
    **{(data, "MECM"): SLOW for data in ("Segment", "D31", "S2", "S4")},
}


# -- data and methods -------------------------------------------------------------------------------------------------


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Z-scored columns (of Protein the dissimilarities) and classes; of large tables a sample, always the same."""
    data = load(FILES[name])
    y = np.unique(np.asarray(data.target), return_inverse=True)[1]
    if data.data is None:
        return np.asarray(data.dissimilarity, dtype=float), y
    X = np.asarray(data.data, dtype=float)
    rng = np.random.RandomState(0)
    rows = np.arange(len(y))
    if name == "DryBean":
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), 200, replace=False) for k in np.unique(y)])
    elif len(y) > MOST:
        rows = rng.choice(len(y), MOST, replace=False)
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def build(method: str, n_objects: int, n_clusters: int, seed: int, *, pairwise: bool = False) -> BaseEstimator:
    """The method by its defaults, but for what the module's first lines say."""
    if method == REFERENCE:
        return KMeans(n_clusters, n_init=10, random_state=seed)
    cls = CLASSES[method.partition(",")[0]]
    wanted: dict[str, Any] = {"n_clusters": n_clusters, "random_state": seed}
    if "given" not in cls.method.number:
        del wanted["n_clusters"]  # only where it would begin; it ends with a number of its own
    if method == ADAPTIVE:
        wanted["adaptive"] = True
    if pairwise:
        wanted["metric"] = "precomputed"
    if n_clusters > 8 and (family := few_sets(cls)) is not None:
        wanted["focal_sets"] = family
    if n_objects > 1_000 and method in ("EVCLUS", "BootGMM"):
        wanted["n_pairs"] = 100
    return cls(**{name: value for name, value in wanted.items() if name in cls.parameters})


@cache
def warm_up(method: str) -> None:
    """Load and compile what the method uses, so that its time does not hold it."""
    X = np.random.RandomState(0).normal(size=(40, 2)) + 5 * (np.arange(40) % 2)[:, None]
    model = build(method, 40, 2, 0)
    if "n_boot" in model.get_params(deep=False):
        model.set_params(n_boot=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)


# -- what is measured -------------------------------------------------------------------------------------------------


def scores(model: Any, y: np.ndarray) -> dict[str, float]:
    """Agreement with the classes, and doubt; labels without masses are certain."""
    labels = model.labels_
    partition = getattr(model, "partition_", None)
    size = np.ones(len(y)) if partition is None else np.array([int(mask).bit_count() for mask in partition.hard_masks])
    sure = size == 1
    return {
        "ari": adjusted_rand_score(y, labels),
        "nmi": normalized_mutual_info_score(y, labels),
        "consistency": credal_rand_index(labels if partition is None else partition, y),
        "nonspecificity": 0.0 if partition is None else pair_nonspecificity(partition),
        "torn": float((size > 1).mean()),
        "outlier": float((size == 0).mean()),
        "ari of the sure": adjusted_rand_score(y[sure], labels[sure]) if sure.sum() > 1 else float("nan"),
    }


def measure(data: str, method: str, runs: int, seed: int, links: int = 0) -> Result:
    """Scores and CPU seconds of each run; a run has a seed, and a draw of links, of its own."""
    X, y = table(data)
    warm_up(method)
    found: dict[str, list[float]] = {}
    for draw in range(runs):
        model: Any = build(method, len(y), len(np.unique(y)), seed + draw, pairwise=data == "Protein")
        more = {"constraints": PairwiseConstraints.sample(y, links, random_state=seed + draw)} if links else {}
        start = process_time()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, **more)
        seconds = process_time() - start
        unfinished = any(issubclass(warning.category, ConvergenceWarning) for warning in said)
        for name, value in {**scores(model, y), "seconds": seconds, "unfinished": float(unfinished)}.items():
            found.setdefault(name, []).append(value)
    return found


def applies(data: str, method: str) -> bool:
    return data != "Protein" or method in DISSIMILARITIES


def units(quick: bool, seed: int) -> list[Unit]:
    return [
        Unit(
            f"{data}/{method}",
            measure,
            {"data": data, "method": method, "runs": runs(data, method, quick), "seed": seed},
        )
        for data in (SMALL if quick else FILES)
        for method in METHODS
        if applies(data, method) and (data, method) not in LEFT_OUT
    ]


def runs(data: str, method: str, quick: bool) -> int:
    """Three; one in quick runs, of large tables, and of methods that hardly differ from run to run or are slow."""
    return 1 if quick or method in ONCE or data not in SMALL + MIDDLING else 3


def links_units(quick: bool, seed: int) -> list[Unit]:
    """With links, and the same methods without."""
    sets = [data for data in WITH_LINKS if data in SMALL or not quick]
    linked = [
        Unit(
            f"links/{data}/{method}",
            measure,
            {"data": data, "method": method, "runs": 1 if quick else 3, "seed": seed, "links": N_LINKS},
        )
        for data in sets
        for method in LINKED
    ]
    without = {f"{data}/{method}" for data in sets for method in LINKED.values()}
    return [*linked, *(unit for unit in units(quick, seed) if unit.key in without)]


# -- tables -----------------------------------------------------------------------------------------------------------


def computed(results: Results) -> list[str]:
    """Data sets of which there is anything."""
    return [data for data in FILES if any(f"{data}/{method}" in results for method in METHODS)]


def means(results: Results, what: str) -> pd.DataFrame:
    """Mean over runs by data set and method; NaN where there is none."""
    rows = {
        data: [np.mean(results.get(f"{data}/{method}", {}).get(what, np.nan)) for method in METHODS]
        for data in computed(results)
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=METHODS, dtype=float)


def averaged(results: Results) -> list[str]:
    """Tables over which methods are averaged; a failure is no excuse."""
    return [data for data in computed(results) if data in AVERAGED]


def score_cells(results: Results, what: str) -> list[Cell]:
    """Methods by data sets, then the average rank and the mean over the smaller tables."""
    found = means(results, what)
    shared = found.loc[averaged(results)]
    rank, mean = average_ranks(shared), shared.mean()
    cells = []
    for method in METHODS:
        cells += [own_cell(results, data, method, what) for data in found.index]
        cells.append(Cell(method, "average rank", finite(rank[method]), better="lower"))
        cells.append(Cell(method, "mean", finite(mean[method])))
    return cells


def own_cell(results: Results, data: str, method: str, what: str) -> Cell:
    """Mean and deviation over runs, or why there is none."""
    values = results.get(f"{data}/{method}", {}).get(what)
    if not values:
        why = LEFT_OUT.get((data, method), "") if applies(data, method) else "needs a table of attributes"
        return Cell(method, data, None, incomparable=why)
    deviation = float(np.std(values)) if len(values) > 1 else None
    return Cell(method, data, float(np.mean(values)), deviation, runs=len(values))


def undominated(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """Methods (consistency, nonspecificity) that no other one beats in one and equals in the other, to two decimals.

    >>> sorted(undominated({"sure": (0.8, 0.0), "doubtful": (0.95, 0.4), "vague": (0.9, 0.5), "wrong": (0.7, 0.0)}))
    ['doubtful', 'sure']
    """
    short = {name: (round(consistency, 2), round(doubt, 2)) for name, (consistency, doubt) in points.items()}
    return {
        name
        for name, own in short.items()
        if not any(other != own and other[0] >= own[0] and other[1] <= own[1] for other in short.values())
    }


def points(results: Results, data: str) -> dict[str, tuple[float, float]]:
    """Consistency and nonspecificity of the methods on a data set."""
    return {
        method: (float(np.mean(found["consistency"])), float(np.mean(found["nonspecificity"])))
        for method in METHODS
        if (found := results.get(f"{data}/{method}"))
    }


def doubt_cells(results: Results) -> list[Cell]:
    """Over the smaller tables: how often a method is undominated, and means."""
    sets = averaged(results)
    mean = {head: means(results, what).loc[sets].mean().round(6) + 0.0 for head, what in DOUBT.items()}  # never -0
    best = [undominated(points(results, data)) for data in sets]
    cells = []
    for method in METHODS:
        wins = sum(method in methods for methods in best)
        cells.append(Cell(method, "undominated", float(wins) if sets else None))
        cells += [Cell(method, head, finite(mean[head][method])) for head in DOUBT]
    return cells


def ratios(results: Results) -> pd.DataFrame:
    """CPU time as a multiple of that of k-means, by data set and method."""
    seconds = means(results, "seconds")
    return seconds.div(seconds[REFERENCE], axis=0).dropna(how="all")


def time_cells(results: Results) -> list[Cell]:
    found = ratios(results)
    seconds = means(results, "seconds")[REFERENCE]
    cells = [Cell(f"{REFERENCE}, seconds", data, seconds[data], better="lower") for data in found.index]
    typical = np.exp(np.log(found.loc[[data for data in averaged(results) if data in found.index]]).mean())
    for method in METHODS:
        for data in found.index:
            why = LEFT_OUT.get((data, method), "")
            cells.append(Cell(method, data, finite(found.at[data, method]), better="lower", incomparable=why))
        cells.append(Cell(method, "geometric mean", finite(typical[method]), better="lower"))
    return cells


def finite(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def links_cells(results: Results) -> list[Cell]:
    """ARI with links, and how much higher it is than without."""
    gained: dict[str, list[float]] = {method: [] for method in LINKED}
    cells = []
    for data in WITH_LINKS:
        if not any(f"links/{data}/{method}" in results for method in LINKED):
            continue
        for method, plain in LINKED.items():
            linked = results.get(f"links/{data}/{method}", {}).get("ari")
            without = results.get(f"{data}/{plain}", {}).get("ari")
            gain = float(np.mean(linked) - np.mean(without)) if linked and without else None
            cells.append(Cell(data, method, *((np.mean(linked), np.std(linked)) if linked else (None,))))
            cells.append(Cell(data, f"over {plain}", gain))
            if gain is not None:
                gained[method].append(gain)
    for method, plain in LINKED.items():
        cells.append(Cell("mean gain", f"over {plain}", float(np.mean(gained[method])) if gained[method] else None))
    return cells


# -- words ------------------------------------------------------------------------------------------------------------


def score_notes(results: Results) -> list[str]:
    sets = averaged(results)
    return [
        "Z-scored columns, the number of clusters of the classes, defaults of the package; no paper has these numbers.",
        "More than eight clusters: sets of near pairs (ECM, EVCLUS, NNEVCLUS, BootGMM, EGMM) or single clusters "
        "(the others that read dissimilarities). More than a thousand objects: a hundred partners each in EVCLUS and "
        "BootGMM. EkNNclus finds its own number.",
        "The sets for many clusters, and the default delta0 of EVCLUS and NNEVCLUS, were chosen after all pairs and a "
        "delta0 of 0.9 had given lower indices on D31, S2, S4, DryBean and Segment: these columns flatter those "
        "methods.",
        f"Of tables with more than {MOST:,} objects {MOST:,} were drawn once; of DryBean 200 of each class.",
        f"Ranks and means are over the {len(sets)} tables that every method is tried on ({', '.join(sets)}); a failure "
        "ranks last. Ranks count scores to two decimals.",
    ]


def doubt_notes(results: Results) -> list[str]:
    sets = averaged(results)
    return [
        f"Counts and means are over the {len(sets)} tables that every method is tried on ({', '.join(sets)}).",
        "Consistency: one minus the mean conflict of pairs of objects with the classes; doubt never conflicts, so it "
        "is paid for in nonspecificity. A method is undominated on a set when no other one is as consistent with less "
        "nonspecificity, or more consistent with no more of it (both to two decimals).",
        "Torn: the largest mass is on two or more clusters; an outlier: on none. The ARI of the sure leaves both out.",
    ]


def time_notes(results: Results) -> list[str]:
    stopped = {
        method: sum(sum(results.get(f"{data}/{method}", {}).get("unfinished", [])) for data in computed(results))
        for method in METHODS
    }
    words = [f"{method} {count:.0f}" for method, count in stopped.items() if count]
    said = f"Fits that warned of their convergence: {', '.join(words)}." if words else ""
    return [
        "CPU time of a whole fit, all starts and the choice of a covariance model included, as a multiple of that of "
        "scikit-learn's k-means with ten starts; loading and compiling left out.",
        *([said] if said else []),
    ]


def links_notes(results: Results) -> list[str]:
    return [
        f"{N_LINKS} correct links between pairs drawn at random, drawn anew for each run. The ARI is of all objects, "
        "linked ones included.",
    ]


# -- figures ----------------------------------------------------------------------------------------------------------


def draw_scores(results: Results, what: str) -> Figure:
    """A map of scores, the methods of best average rank on top."""
    import matplotlib.pyplot as plt

    found = means(results, what)
    shared = found.loc[averaged(results)]
    order = average_ranks(shared if len(shared) else found).sort_values().index
    values = found[order].T
    figure, ax = plt.subplots(figsize=(0.62 * len(found) + 3, 0.34 * len(order) + 1.2), layout="constrained")
    image = ax.imshow(values, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(values.to_numpy()):
        if not np.isnan(value):
            ax.text(column, row, f"{value:z.2f}", ha="center", va="center", size=7, color="w" if value > 0.6 else "k")
    ax.set_xticks(range(len(found)), found.index, rotation=45, ha="right")
    ax.set_yticks(range(len(order)), order)
    figure.colorbar(image, label=what.upper(), fraction=0.025)
    return figure


def draw_doubt(results: Results) -> Figure:
    """Consistency against nonspecificity; up and to the left is better, the undominated methods are joined."""
    import matplotlib.pyplot as plt

    sets = computed(results)
    rows = -(-len(sets) // 4)
    figure, axes = plt.subplots(rows, 4, figsize=(15, 3.3 * rows), layout="constrained", squeeze=False)
    for ax in axes.ravel()[len(sets) :]:
        ax.remove()
    looks = dict(zip(METHODS, ((f"C{at % 7}", "osD"[at // 7]) for at in range(len(METHODS)))))
    handles: dict[str, Any] = {}
    for data, ax in zip(sets, axes.ravel()):
        found = points(results, data)
        front = sorted((found[method][1], found[method][0]) for method in undominated(found))
        ax.plot(*zip(*front), color="0.6", lw=1, zorder=1)
        for method, (consistency, doubt) in found.items():
            color, marker = looks[method]
            handles[method] = ax.scatter(doubt, consistency, color=color, marker=marker, s=34, alpha=0.85, zorder=2)
        ax.set(title=data, xlabel="nonspecificity", ylabel="consistency")
    figure.legend(
        [handles[method] for method in METHODS if method in handles],
        [method for method in METHODS if method in handles],
        loc="outside lower center",
        ncols=7,
    )
    return figure


def draw_time(results: Results) -> Figure:
    """A dot for each data set, a bar at the geometric mean, the quickest method on top."""
    import matplotlib.pyplot as plt

    found = ratios(results)
    typical = np.exp(np.log(found).mean()).sort_values(ascending=False)
    figure, ax = plt.subplots(figsize=(8, 0.32 * len(typical) + 1.2), layout="constrained")
    for at, method in enumerate(typical.index):
        ax.plot(found[method], np.full(len(found), at), "o", color="C0", ms=5, alpha=0.5)
        ax.plot(typical[method], at, "|", color="k", ms=16, mew=2)
    ax.set_yticks(range(len(typical)), typical.index)
    ax.set(xscale="log", xlabel="CPU time, as a multiple of that of k-means")
    ax.grid(axis="x", color="0.9")
    return figure


def draw_links(results: Results) -> Figure:
    """ARI without links and with them, an arrow for each data set."""
    import matplotlib.pyplot as plt

    sets = [data for data in WITH_LINKS if any(f"links/{data}/{method}" in results for method in LINKED)]
    figure, axes = plt.subplots(
        1, len(LINKED), figsize=(13, 0.32 * len(sets) + 1.4), layout="constrained", sharey=True, sharex=True
    )
    for (method, plain), ax in zip(LINKED.items(), axes):
        for at, data in enumerate(sets[::-1]):
            linked, without = (results.get(key) for key in (f"links/{data}/{method}", f"{data}/{plain}"))
            if linked and without:
                begin, end = np.mean(without["ari"]), np.mean(linked["ari"])
                ax.annotate("", (end, at), (begin, at), arrowprops={"arrowstyle": "->", "color": "C0"})
                ax.plot(begin, at, "o", color="0.5", ms=5)
                ax.plot(end, at, "o", color="C0", ms=5)
        ax.set(title=f"{plain} → {method}", xlabel="ARI, gray without links")
        ax.grid(color="0.92")
    axes[0].set_yticks(range(len(sets)), sets[::-1])
    return figure


# -- what is shown ----------------------------------------------------------------------------------------------------


def by(what: str, make: Callable[..., Any]) -> Callable[[Results], Any]:
    return lambda results: make(results, what)


NEEDS = tuple(FILES.values())
CLAIMS: list[Claim] = []  # of no paper
EARLIER = (
    "Computed before version 0.1.0: MECM by an earlier reading of its article (on Iris and Wine the present one has an "
    "index higher by 0.05 to 0.07), labels of EGMM by plausibility, where they are pignistic now. CatECM, "
    "LatentProfileMixture and SoftECM are of later and are missing.",
)
EXHIBITS = [
    Exhibit(
        "comparison.ari",
        "Adjusted Rand index of every method on every data set",
        units,
        by("ari", score_cells),
        by("ari", draw_scores),
        score_notes,
        NEEDS,
        (3, 20),
        words=EARLIER,
    ),
    Exhibit(
        "comparison.nmi",
        "Normalized mutual information of every method on every data set",
        units,
        by("nmi", score_cells),
        notes=score_notes,
        data=NEEDS,
        minutes=(3, 20),
        words=EARLIER,
    ),
    Exhibit(
        "comparison.doubt",
        "Consistency with the classes against nonspecificity",
        units,
        doubt_cells,
        draw_doubt,
        doubt_notes,
        NEEDS,
        (3, 20),
    ),
    Exhibit(
        "comparison.time", "CPU time as a multiple of k-means", units, time_cells, draw_time, time_notes, NEEDS, (3, 20)
    ),
    Exhibit(
        "comparison.links",
        f"Adjusted Rand index with {N_LINKS} correct links, and without",
        links_units,
        links_cells,
        draw_links,
        links_notes,
        tuple(FILES[data] for data in WITH_LINKS),
        (1, 4),
    ),
]
