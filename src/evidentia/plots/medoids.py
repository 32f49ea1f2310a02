"""The objects that represent the clusters, among those they represent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia._objects import align_objects
from evidentia.plots.mpl import drawing, name_axes
from evidentia.plots.palette import set_style
from evidentia.plots.partition import plot_partition
from evidentia.plots.table import Columns, choose_plane, column_names, read_fitted, to_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 420.0  # area of the mark of the object with the largest weight


class MedoidPlotData(NamedTuple):
    """The numbers of :func:`plot_medoids`.

    Attributes
    ----------
    xy : ndarray of shape (n_samples, 2)
    medoids : ndarray of shape (n_clusters,)
        Objects that represent the clusters most.
    weights : ndarray of shape (n_clusters, n_samples) or None
        How much each object represents each cluster, relative to the one that does so most.
    axis_names : tuple of two str
    """

    xy: np.ndarray
    medoids: np.ndarray
    weights: np.ndarray | None
    axis_names: tuple[str, str]


def medoid_plot_data(model: Any, X: Any, *, columns: Columns = None) -> MedoidPlotData:
    """Places of the objects and of the medoids, without drawing anything; X as for :func:`plot_medoids`.

    Examples
    --------
    >>> from evidentia.prototypes import SECMdd
    >>> X = [[0.0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [10, 0], [11, 0], [12, 0]]
    >>> data = medoid_plot_data(SECMdd(2, random_state=0).fit(X), X)
    >>> data.xy[data.medoids]
    array([[ 2.,  0.],
           [11.,  0.]])
    """
    medoids = read_fitted(model, "medoid_indices_", "it has no medoids")
    precomputed = isinstance(model.metric, str) and model.metric == "precomputed"
    square = precomputed and np.shape(X) == (len(model.partition_),) * 2
    table = to_table(align_objects(model.partition_, X, ("the partition", "'X'"), square=square))
    if len(table) != len(model.partition_):
        raise ValueError(f"'X' must have a row for each of the {len(model.partition_)} objects. Got {len(table)} rows.")
    if square:
        table, names = principal_coordinates(table), ["first principal coordinate", "second principal coordinate"]
    else:
        names = column_names(X, None, table.shape[1])
    plane = choose_plane(table, names, columns)
    weights = getattr(model, "medoid_weights_", None)
    relative = None if weights is None else weights / weights.max(axis=1, keepdims=True)
    return MedoidPlotData(plane.project(table), medoids, relative, plane.names)


def principal_coordinates(dissimilarity: np.ndarray) -> np.ndarray:
    """Places in the plane whose distances are as near to the dissimilarities as classical scaling makes them.

    Examples
    --------
    >>> line = np.array([0.0, 3.0, 4.0])
    >>> places = principal_coordinates(np.abs(line[:, None] - line))
    >>> np.abs(places[:, :1] - places[:, 0]).round(6)
    array([[0., 3., 4.],
           [3., 0., 1.],
           [4., 1., 0.]])
    """
    squared = np.square(dissimilarity)
    gram = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    return vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))


@drawing(":meth:`matplotlib.axes.Axes.scatter` for the objects", numbers="medoid_plot_data")
def plot_medoids(model: Any, X: Any, *, columns: Columns = None, ax: Axes | None = None, **scatter: Any) -> Axes:
    """Draw the objects by their set of clusters, and mark those that represent the clusters.

    A numbered ring is the medoid of a cluster. For a method with weights
    (:class:`~evidentia.experimental.WECMdd`) a circle around each object is the larger the more it represents the
    cluster of that color.

    Parameters
    ----------
    model : fitted SECMdd, WECMdd or MECM
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
        What the model was fitted to. A matrix of dissimilarities is drawn in its two principal coordinates.
    columns : pair of int or str, "pca", optional
        As in :func:`plot_partition`.
    """
    data = medoid_plot_data(model, X, columns=columns)
    ax = plot_partition(model.partition_, data.xy, hulls=None, centers=data.xy[data.medoids], ax=ax, **scatter)
    if data.weights is not None:
        for k, weights in enumerate(data.weights):
            hue = set_style(1 << k, len(data.weights)).color
            x, y = data.xy.T
            ax.scatter(x, y, s=LARGEST * weights**2, facecolors="none", edgecolors=hue, linewidths=0.9, zorder=2)
    name_axes(ax, data.axis_names)
    return ax
