"""Distances as an image, before and after a metric was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from evidentia._objects import align_objects
from evidentia.plots.mpl import new_axes, pyplot
from evidentia.plots.table import to_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 1000  # objects an image can show


class DistancePlotData(NamedTuple):
    """The numbers of :func:`plot_distances`.

    Attributes
    ----------
    order : ndarray of int
        Objects in the order of the image; of more than 1,000 every so many-th.
    images : list of ndarray of shape (n_shown, n_shown)
        Distances over the largest shown, of what was before and, if given, of what came after.
    edges : ndarray of shape (n_groups + 1,)
        Where each group begins, and where the last one ends.
    names : list of str
        The groups.
    """

    order: np.ndarray
    images: list[np.ndarray]
    edges: np.ndarray
    names: list[str]


def distance_plot_data(before: Any, after: Any = None, *, labels: Any = None) -> DistancePlotData:
    """Distances in the order of the labels, without drawing anything.

    The parameters are those of :func:`plot_distances`.

    Examples
    --------
    >>> data = distance_plot_data([[0.0], [4.0], [1.0]], labels=["a", "b", "a"])
    >>> data.order, data.images[0]
    (array([0, 2, 1]), array([[0.  , 0.25, 1.  ],
           [0.25, 0.  , 0.75],
           [1.  , 0.75, 0.  ]]))
    """
    square = len(np.shape(after)) == 2 and np.shape(after)[0] == np.shape(after)[1]
    after = align_objects(before, after, ("'before'", "'after'"), square=square)
    labels = align_objects(before, labels, ("'before'", "'labels'"))
    tables = [to_table(found) for found in (before, after) if found is not None]
    n = len(tables[0])
    if len(tables[-1]) != n:
        raise ValueError(f"Before there are {n} objects, and after {len(tables[-1])}. Give the same objects.")
    groups = np.zeros(n, dtype=int) if labels is None else np.asarray(labels)
    if groups.shape != (n,):
        raise ValueError(f"'labels' must hold one label for each of {n} objects. Got shape {groups.shape}.")
    names, number = np.unique(groups, return_inverse=True)
    order = np.argsort(number, kind="stable")
    if n > LARGEST:
        order = order[np.linspace(0, n - 1, LARGEST).round().astype(int)]
    edges = np.searchsorted(number[order], np.arange(len(names) + 1))
    words = [] if labels is None else [str(name) for name in names]
    return DistancePlotData(order, [_shares(table, order) for table in tables], edges, words)


def plot_distances(before: Any, after: Any = None, *, labels: Any = None, ax: Any = None, **image: Any) -> Any:
    """Draw the distances of all pairs of objects as an image: dark is near.

    Groups that a method can find are dark squares along the diagonal. With ``after`` there are two images side by side,
    for instance of a table and of what a metric learner made of it.

    Parameters
    ----------
    before, after : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
        Rows, whose Euclidean distances are taken, or a matrix of dissimilarities: square, symmetric, zero on the
        diagonal.
    labels : array-like of shape (n_samples,), optional
        Groups to put side by side, for instance ``model.labels_``; without them objects keep their order.
    ax : matplotlib.axes.Axes, or two of them with ``after``, optional
        Without it a new figure is made.
    **image
        Passed to :meth:`matplotlib.axes.Axes.imshow`.

    Returns
    -------
    matplotlib.axes.Axes, or ndarray of two of them with ``after``

    See Also
    --------
    distance_plot_data : the same in numbers.
    """
    data = distance_plot_data(before, after, labels=labels)
    if after is None:
        axes = [new_axes(ax, figsize=(5, 4.2))]
    elif ax is None:
        axes = list(pyplot().subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")[1])
    else:
        axes = list(ax)
    titles = ["before", "after"] if after is not None else [None]
    for place, shares, title in zip(axes, data.images, titles):
        drawn = _draw(place, shares, data, image)
        if title is not None:
            place.set_title(title, fontsize="medium")
    bar = axes[-1].figure.colorbar(drawn, ax=axes)
    bar.set_label("distance, share of the largest")
    bar.outline.set_linewidth(0.5)
    return axes[0] if after is None else np.array(axes, dtype=object)


def _shares(table: np.ndarray, order: np.ndarray) -> np.ndarray:
    square = table.shape[0] == table.shape[1]
    if square and not np.diagonal(table).any() and np.allclose(table, table.T):
        found = table[np.ix_(order, order)]
    else:
        found = cdist(table[order], table[order])
    largest = found.max(initial=0)
    return found / largest if largest > 0 else found


def _draw(ax: Axes, shares: np.ndarray, data: DistancePlotData, image: dict[str, Any]) -> Any:
    n = len(shares)
    look: dict[str, Any] = {"cmap": "viridis", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    drawn = ax.imshow(shares, extent=(0, n, n, 0), **{**look, **image})
    for edge in data.edges[1:-1]:
        ax.axhline(edge, color="white", lw=0.8)
        ax.axvline(edge, color="white", lw=0.8)
    if data.names:
        middle = (data.edges[:-1] + data.edges[1:]) / 2
        ax.set_xticks(middle, data.names, parse_math=False)
        ax.set_yticks(middle, data.names, parse_math=False)
        ax.tick_params(length=0)
    else:
        ax.set(xlabel="object", ylabel="object")
    return drawn
