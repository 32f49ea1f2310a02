"""Ellipses of the methods that learn the shape of their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.plots.mpl import drawing, name_axes, new_axes, percent, set_legend
from evidentia.plots.palette import set_style
from evidentia.plots.partition import plot_partition
from evidentia.plots.table import column_names, column_numbers
from evidentia.solvers.barycentric import averaging

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORNERS = 121
VISIBLE = 0.005  # a set that explains less of the data would only be clutter


class EllipsePlotData(NamedTuple):
    """The numbers of :func:`plot_ellipses`, one row for each focal set drawn.

    Attributes
    ----------
    masks : ndarray of shape (n_drawn,)
    centers : ndarray of shape (n_drawn, 2)
    outlines : ndarray of shape (n_drawn, n_corners, 2)
    weights : ndarray of shape (n_drawn,)
        Mixing probability of each set; for methods without one, the share of objects that have it as their set.
    axis_names : tuple of two str
    """

    masks: np.ndarray
    centers: np.ndarray
    outlines: np.ndarray
    weights: np.ndarray
    axis_names: tuple[str, str]


def ellipse_plot_data(model: Any, *, columns: Sequence[int | str] = (0, 1), level: float = 0.9) -> EllipsePlotData:
    """Outlines of the components of a fitted model, without drawing anything.

    The parameters are those of :func:`plot_ellipses`.
    """
    from scipy.stats import chi2

    centers = getattr(model, "cluster_centers_", None)
    covariances = getattr(model, "covariances_", None)
    if centers is None or covariances is None:
        raise ValueError(
            f"{type(model).__name__} has no covariances to draw. Fitted models of EGMM, GustafsonKessel and "
            "ECM(adaptive=True) have; plot_partition shows any method."
        )
    names = column_names(None, getattr(model, "feature_names_in_", None), centers.shape[1])
    at = list(column_numbers(columns, names))
    focal_sets = model.partition_.focal_sets
    counts = focal_sets.card == 1
    weights = getattr(model, "weights_", None)
    if weights is not None:  # a mixture: its sets are components too
        counts = counts | (np.asarray(weights) >= VISIBLE) & (focal_sets.card > 0)
    drawn = np.flatnonzero(counts)
    means = averaging(focal_sets)[drawn]
    middle = means @ centers[:, at]
    # A set has the mean of its clusters' covariances.
    marginal = np.einsum("sk,kij->sij", means, covariances[:, at][:, :, at])
    masks = focal_sets.masks[drawn]
    if weights is not None:
        weights = np.asarray(weights)[drawn]
    else:
        weights = (model.partition_.hard_masks[:, None] == masks).mean(axis=0)
    outlines = middle[:, None] + np.sqrt(chi2.ppf(level, df=2)) * _unit_ellipses(marginal)
    return EllipsePlotData(masks, middle, outlines, weights, (names[at[0]], names[at[1]]))


@drawing(":class:`matplotlib.patches.Polygon`", numbers="ellipse_plot_data")
def plot_ellipses(
    model: Any,
    X: Any = None,
    *,
    columns: Sequence[int | str] = (0, 1),
    level: float = 0.9,
    ax: Axes | None = None,
    **patch: Any,
) -> Axes:
    """Draw the covariance ellipses of clusters and of sets of clusters.

    A cluster is filled, a set of clusters dashed around the barycenter of its members; the lines of a set are the
    stronger the more of the data it explains, and below half a per cent it is not drawn. In a table with more than
    two columns the ellipses are those of the marginal distributions of the two columns.

    Parameters
    ----------
    model : fitted estimator
        EGMM, whose sets have the mean of the covariances of their clusters, or another method with a covariance for
        each cluster: GustafsonKessel, ECM with ``adaptive=True``.
    X : array-like of shape (n_samples, n_features), optional
        The table the model was fitted to, drawn below the ellipses.
    columns : pair of int or str
    level : float in (0, 1)
        Probability inside the ellipse of a normal distribution.
    """
    from matplotlib.patches import Polygon

    data = ellipse_plot_data(model, columns=columns, level=level)
    n_clusters = model.partition_.n_clusters
    ax = new_axes(ax)
    if X is not None:
        plot_partition(model.partition_, X, columns=(columns[0], columns[1]), hulls=None, ax=ax, alpha=0.7)
    strength = data.weights / max(data.weights.max(), np.finfo(float).tiny)
    for mask, center, outline, share in zip(data.masks.tolist(), data.centers, data.outlines, strength.tolist()):
        style = set_style(mask, n_clusters)
        single = mask.bit_count() == 1
        if single:
            ax.add_patch(Polygon(outline, fc=style.color, alpha=0.1, lw=0, zorder=1.4))
        faint = 1.0 if single else 0.5 + 0.5 * share
        look = {"ls": "-" if single else "--", "lw": 2.0 if single else 1.0 + share, "alpha": faint}
        ax.add_patch(Polygon(outline, fill=False, **{**look, "ec": style.edge, "zorder": 3, **patch}))
        ax.plot(*center, marker="+", ms=10 if single else 6, mew=2, color=style.edge, alpha=faint, zorder=3)
    if X is None:
        set_legend(
            ax,
            dict(zip(data.masks.tolist(), data.weights.tolist())),
            n_clusters,
            model.partition_.cluster_names,
            title="share by set",
            number=percent,
        )
    ax.autoscale_view()
    name_axes(ax, data.axis_names)
    return ax


def _unit_ellipses(covariances: np.ndarray) -> np.ndarray:
    """Points at Mahalanobis distance one, shape (n, CORNERS, 2); a singular covariance gives a segment."""
    values, vectors = np.linalg.eigh(covariances)
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    angle = np.linspace(0, 2 * np.pi, CORNERS)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ root.transpose(0, 2, 1)
