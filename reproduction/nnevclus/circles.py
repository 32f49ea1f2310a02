"""Example 5: a cluster inside a ring, found with 50 links or 50 labels and a learned metric. Figures 15 to 21."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from evidentia import NNEVCLUS, PairwiseConstraints
from evidentia.datasets import make_circles
from evidentia.metric_learning import KFDA, KPCCA
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit
from reproduction.nnevclus.keeping import from_text, to_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_KNOWN = 50
GAMMA = 0.3
GOOD = 0.99  # ARI of a draw in which both clusters were found
DRAWS = 10
ONE_DRAW = "The paper has one draw, in which it calls both clusters perfectly separated: an ARI of 1."
COLORS = ("#0072b2", "#d55e00")


def circles(draw: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    data = make_circles(random_state=seed + draw)
    return np.asarray(data.data), np.asarray(data.target)


def linked(draw: int, seed: int) -> tuple[PairwiseConstraints, np.ndarray]:
    """Random links, and the feature that KPCCA makes of them."""
    X, y = circles(draw, seed)
    links = PairwiseConstraints.sample(y, N_KNOWN, random_state=seed + draw)
    return links, KPCCA(1, gamma=GAMMA).fit(X, constraints=links).transform(X)


def labeled(draw: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random labels, -1 for the others, and the feature that KFDA makes of them."""
    X, y = circles(draw, seed)
    known = np.random.RandomState(seed + draw).choice(len(y), N_KNOWN, replace=False)
    labels = np.full(len(y), -1)
    labels[known] = y[known]
    return labels, KFDA(1, gamma=GAMMA).fit(X, labels).transform(X)


def measure(known: str, draw: int, n_init: int, seed: int) -> Result:
    """The network sees the plane; its conflicts match distances in the learned feature."""
    X, y = circles(draw, seed)
    start = process_time()
    knowledge, feature = linked(draw, seed) if known == "links" else labeled(draw, seed)
    model = NNEVCLUS(2, focal_sets="full", hidden=30, l2=0.01, xi=0.1, n_init=n_init, random_state=seed + draw)
    given: dict[str, Any] = {"constraints" if known == "links" else "partial_labels": knowledge}
    model.set_params(metric=cdist(feature, feature)).fit(X, **given)
    return {
        "ari": adjusted_rand_score(y, model.labels_),
        "loss": model.loss_,
        "model": to_text(model),
        "seed": seed,
        "seconds": process_time() - start,
    }


def circle_units(known: str, n_draws: int, quick: bool, seed: int) -> list[Unit]:
    settings = {"known": known, "n_init": 2 if quick else 5, "seed": seed}
    return [Unit(f"circles/{known}/{draw}", measure, {**settings, "draw": draw}) for draw in range(n_draws)]


def first_link_unit(quick: bool, seed: int) -> list[Unit]:
    return circle_units("links", 1, quick, seed)


def link_units(quick: bool, seed: int) -> list[Unit]:
    return circle_units("links", DRAWS, quick, seed)


def label_units(quick: bool, seed: int) -> list[Unit]:
    return circle_units("labels", DRAWS, quick, seed)


def aris(known: str, results: Results) -> dict[int, float]:
    keys = {draw: f"circles/{known}/{draw}" for draw in range(DRAWS)}
    return {draw: results[key]["ari"] for draw, key in keys.items() if key in results}


def ari_cells(known: str, results: Results) -> list[Cell]:
    found = aris(known, results)
    values = list(found.values())
    mean, spread = (float(np.mean(values)), float(np.std(values))) if values else (None, None)
    return [
        Cell("mean of draws", "ARI", mean, spread, paper=1.0, runs=max(1, len(values)), single=True),
        *(Cell(f"draw {draw + 1}", "ARI", found.get(draw)) for draw in range(DRAWS)),
    ]


def link_cells(results: Results) -> list[Cell]:
    return ari_cells("links", results)


def label_cells(results: Results) -> list[Cell]:
    return ari_cells("labels", results)


def ari_notes(known: str, results: Results) -> list[str]:
    values = np.array(list(aris(known, results).values()))
    return [f"ARI of {GOOD} or more in {int((values >= GOOD).sum())} of {len(values)} draws."] if len(values) else []


def link_notes(results: Results) -> list[str]:
    return ari_notes("links", results)


def label_notes(results: Results) -> list[str]:
    return ari_notes("labels", results)


def scatter(ax: Axes, X: np.ndarray, y: np.ndarray) -> None:
    for k, color in enumerate(COLORS):
        ax.scatter(X[y == k, 0], X[y == k, 1], s=9, color=color, alpha=0.5, linewidths=0)
    ax.set(xlabel="x1", ylabel="x2", aspect="equal")


def boxes(ax: Axes, feature: np.ndarray, y: np.ndarray, name: str) -> None:
    drawn = ax.boxplot(
        [feature[y == k, 0] for k in range(2)], widths=0.5, patch_artist=True, medianprops={"color": "black"}
    )
    for patch, color in zip(drawn["boxes"], COLORS):
        patch.set(facecolor=color, alpha=0.5)
    ax.set_xticks([1, 2], ["inner cluster", "ring"])
    ax.set_ylabel(name)
    ax.spines[["top", "right"]].set_visible(False)


def draw_links(results: Results) -> Figure:
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    seed = results["circles/links/0"]["seed"]
    (X, y), (links, _) = circles(0, seed), linked(0, seed)
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 5), layout="constrained", sharey=True)
    for ax, must, name in zip(axes, (True, False), ("must-links", "cannot-links")):
        scatter(ax, X, y)
        pairs = links.pairs[links.must == must]
        ax.add_collection(LineCollection(list(X[pairs]), colors="#202020", linewidths=0.9))
        ax.set_title(f"{len(pairs)} {name}")
    return figure


def draw_feature(results: Results) -> Figure:
    import matplotlib.pyplot as plt

    from evidentia.plots import plot_distances

    seed = results["circles/links/0"]["seed"]
    (X, y), (_, feature) = circles(0, seed), linked(0, seed)
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained", width_ratios=(0.8, 1, 1))
    boxes(axes[0], feature, y, "feature by KPCCA")
    plot_distances(X, feature, labels=np.where(y == 0, "inner", "ring"), ax=axes[1:])
    return figure


def draw_masses(results: Results) -> Figure:
    import matplotlib.pyplot as plt

    from evidentia.plots import plot_contours

    found = results["circles/links/0"]
    model, (X, _) = from_text(found["model"]), circles(0, found["seed"])
    figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained", sharex=True, sharey=True)
    for subset, ax in zip(model.focal_sets_, axes.ravel()):
        plot_contours(model, X, subset=subset, ax=ax)
        ax.set(xlabel="", ylabel="")
    return figure


def draw_plausible(known: str, results: Results) -> Figure:
    import matplotlib.pyplot as plt

    from evidentia.plots import plot_contours

    found = results[f"circles/{known}/0"]
    model, (X, _) = from_text(found["model"]), circles(0, found["seed"])
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", sharey=True)
    for k, ax in enumerate(axes):
        plot_contours(model, X, what="plausibility", subset={k}, boundary=True, ax=ax)
        ax.set(xlabel="x1", ylabel="x2")
    return figure


def draw_by_links(results: Results) -> Figure:
    return draw_plausible("links", results)


def draw_by_labels(results: Results) -> Figure:
    return draw_plausible("labels", results)


def draw_labels(results: Results) -> Figure:
    import matplotlib.pyplot as plt

    seed = results["circles/labels/0"]["seed"]
    (X, y), (labels, feature) = circles(0, seed), labeled(0, seed)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    scatter(left, X, y)
    left.scatter(*X[labels >= 0].T, s=40, facecolors="none", edgecolors="#202020", label=f"{N_KNOWN} labeled objects")
    left.legend(loc="upper right", fontsize="small")
    boxes(right, feature, y, "feature by KFDA")
    return figure


def first_label_unit(quick: bool, seed: int) -> list[Unit]:
    return circle_units("labels", 1, quick, seed)


EXHIBITS = [
    Exhibit("nnevclus.figure15", "A cluster in a ring, and 50 links", first_link_unit, draw=draw_links),
    Exhibit(
        "nnevclus.figure16-17",
        "The feature that KPCCA makes of the links, and distances before and after",
        first_link_unit,
        draw=draw_feature,
    ),
    Exhibit("nnevclus.figure18", "Links: mass of each set over the plane", first_link_unit, draw=draw_masses),
    Exhibit(
        "nnevclus.figure19",
        "Links: plausibility of both clusters, and the boundary between them",
        link_units,
        link_cells,
        draw_by_links,
        link_notes,
        minutes=(0.1, 0.5),
        words=(ONE_DRAW,),
    ),
    Exhibit(
        "nnevclus.figure20", "50 labels, and the feature that KFDA makes of them", first_label_unit, draw=draw_labels
    ),
    Exhibit(
        "nnevclus.figure21",
        "Labels: plausibility of both clusters, and the boundary between them",
        label_units,
        label_cells,
        draw_by_labels,
        label_notes,
        minutes=(0.1, 0.5),
        words=(ONE_DRAW,),
    ),
]
