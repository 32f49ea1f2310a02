"""Several views: how much each counts, and the objects about which they disagree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.partition import CredalPartition
from evidentia.plots.mpl import count, drawing, new_axes, set_legend
from evidentia.plots.palette import HUES, set_style
from evidentia.plots.table import read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ONE_TABLE = "it reads one table only"  # what a model without weights of views may be


class ViewWeightPlotData(NamedTuple):
    """The numbers of :func:`plot_view_weights`: a name, a weight and the number of its view for each bar."""

    names: list[str]
    weights: np.ndarray
    view: np.ndarray


class ViewConflictPlotData(NamedTuple):
    """The numbers of :func:`plot_view_conflict`.

    Attributes
    ----------
    objects : ndarray of shape (n_shown,)
        Those with the largest conflict, the largest first.
    conflict : ndarray of shape (n_shown,)
    masks : ndarray of shape (n_shown, n_views + 1)
        The clusters that are at least half as plausible as any, by each view and by all of them; the empty set for an
        outlier.
    names : list of str
        Of the columns.
    """

    objects: np.ndarray
    conflict: np.ndarray
    masks: np.ndarray
    names: list[str]


def view_weight_plot_data(model: Any, *, columns: bool = False) -> ViewWeightPlotData:
    """Weights of the views, or of the columns of each view, without drawing anything.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(view_names_=["blood", "scan"], view_weights_=np.array([0.8, 0.2]))
    >>> view_weight_plot_data(model).names
    ['blood', 'scan']
    """
    read_fitted(model, "view_weights_", ONE_TABLE)
    if not columns:
        return ViewWeightPlotData(model.view_names_, model.view_weights_, np.arange(len(model.view_names_)))
    if not hasattr(model, "feature_weights_"):
        raise ValueError(f"{type(model).__name__} has no weights of columns; WMVECFP has. Draw it without 'columns'.")
    names, views = [], []
    for at, (view, known) in enumerate(zip(model.view_names_, model.view_columns_)):
        width = len(model.feature_weights_[view])
        names += [f"{view}: {name}" for name in (range(width) if known is None else known)]
        views += [at] * width
    weights = np.concatenate([model.feature_weights_[view] for view in model.view_names_])
    return ViewWeightPlotData(names, weights, np.array(views))


@drawing(":meth:`matplotlib.axes.Axes.barh`", numbers="view_weight_plot_data")
def plot_view_weights(model: Any, *, columns: bool = False, ax: Axes | None = None, **bars: Any) -> Axes:
    """Draw how much each view counts.

    Parameters
    ----------
    model : fitted WMVEC, WMVECFP or MECMdd
    columns : bool
        Draw the weights of the columns in their views instead (WMVECFP).
    """
    data = view_weight_plot_data(model, columns=columns)
    ax = new_axes(ax, figsize=(5.2, 0.8 + 0.32 * len(data.names)))
    at = np.arange(len(data.names))
    ax.barh(at, data.weights, **{"color": [HUES[k % len(HUES)] if columns else HUES[0] for k in data.view], **bars})
    ax.set_yticks(at, labels=data.names, parse_math=False)
    ax.invert_yaxis()
    ax.set(xlabel="weight in its view" if columns else "weight", xlim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plausible_masks(partition: CredalPartition) -> np.ndarray:
    """The clusters that are at least half as plausible as any, as a mask for each object; none for an outlier, (n,).

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> sets = FocalSets(3, [(), {0}, {1}, {2}])
    >>> plausible_masks(CredalPartition([[0.0, 0.5, 0.4, 0.1], [0.7, 0.2, 0.1, 0.0]], sets))
    array([3, 0])
    """
    inside = partition.contour >= 0.5 * partition.contour.max(axis=1, keepdims=True)
    masks = inside @ (1 << np.arange(partition.n_clusters))
    masks[partition.outliers()] = 0
    return masks


def view_conflict_plot_data(model: Any, *, n_objects: int = 25) -> ViewConflictPlotData:
    """The objects with the largest conflict between views, and what each view says of them; nothing is drawn.

    Examples
    --------
    >>> from evidentia import WMVEC
    >>> left, right = np.array([[0.0], [1], [9], [10], [1]]), np.array([[0.0], [1], [9], [10], [9]])
    >>> model = WMVEC(2, random_state=0).fit([left, right])
    >>> view_conflict_plot_data(model, n_objects=1).objects
    array([4])
    """
    read_fitted(model, "view_weights_", ONE_TABLE)
    order = np.argsort(-model.view_conflict_, kind="stable")[:n_objects]
    said = [*model.view_partitions_.values(), model.partition_]
    masks = np.column_stack([plausible_masks(partition[order]) for partition in said])
    return ViewConflictPlotData(order, model.view_conflict_[order], masks, [*model.view_names_, "all"])


@drawing(":meth:`matplotlib.axes.Axes.scatter`", numbers="view_conflict_plot_data")
def plot_view_conflict(model: Any, *, n_objects: int = 25, ax: Axes | None = None, **scatter: Any) -> Axes:
    """Draw what each view says of the objects about which the views disagree most, and what all say together.

    A row is an object, with its conflict at the right; a mark is the set of clusters at least half as plausible
    as any. Views that share a cluster there do not contradict each other.

    Parameters
    ----------
    model : fitted WMVEC, WMVECFP or MECMdd
    n_objects : int
        How many are shown.
    """
    data = view_conflict_plot_data(model, n_objects=n_objects)
    ax = new_axes(ax, figsize=(2.6 + 0.75 * len(data.names), 1.2 + 0.24 * len(data.objects)))
    n_clusters = model.partition_.n_clusters
    shown = Counter(data.masks.ravel().tolist())
    for mask in sorted(shown, key=lambda one: (one.bit_count(), one)):
        row, column = np.nonzero(data.masks == mask)
        style = set_style(mask, n_clusters)
        look = {"s": 42, "color": style.color, "marker": style.marker}
        if style.marker != "x":
            look["edgecolors"] = style.edge
        ax.scatter(column, row, **{**look, **scatter})
    last = len(data.names) - 1
    ax.axvline(last - 0.5, color="#bdbdbd", lw=1)
    ax.set_xticks(range(last + 1), labels=data.names, parse_math=False)
    ax.set_yticks(
        range(len(data.objects)), labels=[model.partition_.name(int(i)) for i in data.objects], fontsize="small"
    )
    for at, conflict in enumerate(data.conflict.tolist()):
        ax.text(last + 0.75, at, f"{conflict:.2f}", va="center", fontsize="small")
    ax.text(last + 0.75, -1, "conflict", va="center", fontsize="small")
    ax.set(xlim=(-0.6, last + 1.6), ylim=(len(data.objects) - 0.4, -1.6), xlabel="view", ylabel="object")
    ax.spines[["top", "right"]].set_visible(False)
    weights = {mask: float(shown[mask]) for mask in sorted(shown, key=lambda one: (one.bit_count(), one))}
    set_legend(ax, weights, n_clusters, model.partition_.cluster_names, title="plausible", number=count)
    return ax
