"""Fitted models as a unit keeps them, and as the plots take them back."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia import BootGMM, CredalPartition, FocalSets
from reproduction.exhibit import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIGITS = 5
PAPER_TOL = 1e-5  # `boot_tol` of the papers' bootGMM: mclust ends the EM of a replicate early, earlier still than this
WIDTHS = (0.5, 0.8, 0.95, 1.0)  # a pair at each of these quantiles of the widths of the intervals


def short(values: Any) -> list[Any]:
    return np.round(np.asarray(values, dtype=float), DIGITS).tolist()


def class_order(partition: CredalPartition, target: np.ndarray, short: Sequence[str]) -> tuple[list[int], list[str]]:
    """Clusters in the order of the classes that most of their objects have, as in the paper, and their names.

    Clusters of the same class get a number after its name.

    >>> partition = CredalPartition([[0, 1], [1, 0], [1, 0]], FocalSets(2, [{0}, {1}]))
    >>> class_order(partition, np.array([0, 1, 1]), ["a", "b"])
    ([1, 0], ['a', 'b'])
    """
    labels = partition.labels()
    classes = [int(np.bincount(target[labels == k], minlength=len(short)).argmax()) for k in range(len(short))]
    order = sorted(range(len(short)), key=classes.__getitem__)
    distinct = len(set(classes)) == len(short)
    return order, [short[classes[k]] if distinct else f"{short[classes[k]]}{k}" for k in order]


def reordered(partition: CredalPartition, order: Sequence[int], names: Sequence[str]) -> CredalPartition:
    """Cluster ``order[k]`` becomes cluster k, called ``names[k]``."""
    moved = partition.relabel(order)
    return CredalPartition(moved.masses, moved.focal_sets, cluster_names=list(names))


def set_names(partition: CredalPartition) -> list[str]:
    return partition.focal_sets.names(partition.cluster_names)


def packed(partition: CredalPartition) -> Result:
    names = partition.cluster_names
    return {
        "masses": short(partition.masses),
        "masks": partition.focal_sets.masks.tolist(),
        "n_clusters": partition.n_clusters,
        "clusters": None if names is None else list(names),
    }


def unpacked(kept: Result) -> CredalPartition:
    masses = np.array(kept["masses"])
    sets = FocalSets(kept["n_clusters"], kept["masks"])
    return CredalPartition(masses / masses.sum(axis=1, keepdims=True), sets, cluster_names=kept["clusters"])


def apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Points of the unit square that can be told apart in a picture: one of each small square.

    >>> apart(np.array([0.1, 0.101, 0.5]), np.array([0.9, 0.9, 0.2]))
    array([0, 2])
    """
    return np.unique(np.round([x, y], 2), axis=1, return_index=True)[1]


def bootstrapped(
    model: BootGMM, order: Sequence[int] | None = None, names: Sequence[str] | None = None, truth: Any = None
) -> Result:
    """What the exhibits show of a fitted BootGMM, with its clusters in an order.

    Of the pairs of objects only those are kept that can be told apart in a picture, and all draws of four of them.

    Parameters
    ----------
    model : BootGMM
    order, names : sequence, optional
        As in :func:`reordered`.
    truth : ndarray of shape (n_pairs,), optional
        True probability of each pair.
    """
    mixture = model.mixture_
    place = list(range(model.n_clusters_)) if order is None else list(order)
    called = [str(k) for k in place] if names is None else list(names)
    pairs, lower, upper = model.intervals_
    relation = model.partition_.relational(pairs)
    true = np.full(len(pairs), np.nan) if truth is None else truth
    said = relation.same, relation.plausibility_same
    seen = [apart(lower, said[0]), apart(upper, said[1])]
    if truth is not None:
        seen += [apart(true, said[0]), apart(true, said[1])]
    dots = np.unique(np.concatenate(seen))
    told = np.argsort(upper - lower, kind="stable")[[int(share * (len(pairs) - 1)) for share in WIDTHS]]
    return {
        "partition": packed(reordered(model.partition_, place, called)),
        "hard": packed(reordered(mixture.partition_, place, called)),
        "weights": short(mixture.weights_[place]),
        "means": short(mixture.means_[place]),
        "covariances": short(mixture.covariances_[place]),
        "pairs": pairs[dots].tolist(),
        "lower": short(lower[dots]),
        "upper": short(upper[dots]),
        "truth": None if truth is None else short(true[dots]),
        "draws": [
            {
                "pair": pairs[at].tolist(),
                "draws": short(model.pair_draws(*pairs[at].tolist())),
                "truth": None if truth is None else float(true[at]),
                "lower": float(lower[at]),
                "upper": float(upper[at]),
                "belief": float(relation.same[at]),
                "plausibility": float(relation.plausibility_same[at]),
            }
            for at in told.tolist()
        ],
        "inside": None
        if truth is None
        else float(((relation.same <= true) & (true <= relation.plausibility_same)).mean()),
        "confidence": model.confidence,
        "approximation": model.approximation_,
        "replicates": model.bootstrap_.n_drawn,
        "degenerate": model.bootstrap_.n_degenerate,
        "sweeps": model.n_iter_,
    }


def as_model(kept: Result) -> SimpleNamespace:
    """As much of the BootGMM as the plots of :mod:`evidentia.plots.intervals` look at."""
    draws = {tuple(told["pair"]): np.array(told["draws"]) for told in kept["draws"]}
    return SimpleNamespace(
        partition_=unpacked(kept["partition"]),
        intervals_=SimpleNamespace(**{name: np.array(kept[name]) for name in ("pairs", "lower", "upper")}),
        approximation_=kept["approximation"],
        confidence=kept["confidence"],
        pair_draws=lambda i, j: draws[i, j],
    )


def as_mixture(kept: Result, feature_names: Sequence[str]) -> SimpleNamespace:
    """As much of its mixture as :func:`~evidentia.plots.plot_ellipses` looks at."""
    return SimpleNamespace(
        partition_=unpacked(kept["hard"]),
        cluster_centers_=np.array(kept["means"]),
        covariances_=np.array(kept["covariances"]),
        weights_=np.array(kept["weights"]),
        feature_names_in_=np.array(feature_names, dtype=object),
    )


def remarks(kept: Result) -> list[str]:
    off = kept["approximation"]
    return [
        f"{kept['replicates']} replicates, {kept['degenerate']} left out, {kept['sweeps']} sweeps, "
        f"{kept['seconds']:.1f} s on the clock.",
        f"Belief is off the lower bounds by {off['rmse_lower']:.3f}, plausibility off the upper ones by "
        f"{off['rmse_upper']:.3f} (root mean square); correlations {off['correlation_lower']:.3f} and "
        f"{off['correlation_upper']:.3f}.",
    ]


def draw_planes(
    kept: Result, X: np.ndarray, feature_names: Sequence[str], planes: Sequence[tuple[int, int]], *, ellipses: bool
) -> Figure:
    """The mixture with its ellipses, or the credal partition with its hulls, in some planes of the attributes."""
    from matplotlib.figure import Figure

    from evidentia.plots import plot_ellipses, plot_partition

    figure = Figure(figsize=(6.8 * len(planes), 4.6), layout="constrained")
    for ax, plane in zip(figure.subplots(1, len(planes), squeeze=False)[0], planes):
        if ellipses:
            plot_ellipses(as_mixture(kept, feature_names), X, columns=plane, ax=ax)
            ax.set(xlabel=feature_names[plane[0]], ylabel=feature_names[plane[1]])
        else:
            plot_partition(unpacked(kept["partition"]), X, columns=plane, feature_names=feature_names, ax=ax)
    return figure


def draw_fit(kept: Result) -> Figure:
    """Belief against the lower bounds, plausibility against the upper ones."""
    from matplotlib.figure import Figure

    from evidentia.plots import plot_interval_fit

    figure = Figure(figsize=(13, 4.4), layout="constrained")
    for ax, bound in zip(figure.subplots(1, 2), ("lower", "upper")):
        plot_interval_fit(as_model(kept), bound=bound, ax=ax)
    return figure


def draw_pairs(kept: Result) -> Figure:
    """Bootstrap draws of four pairs of objects."""
    from matplotlib.figure import Figure

    from evidentia.plots import plot_pair_draws

    figure = Figure(figsize=(14, 7), layout="constrained")
    for ax, told in zip(figure.subplots(2, 2).ravel(), kept["draws"]):
        plot_pair_draws(as_model(kept), *told["pair"], truth=told["truth"], ax=ax)
    return figure
