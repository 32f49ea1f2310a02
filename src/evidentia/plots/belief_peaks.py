"""The δ–Bel graph: which objects stand out as centers of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.plots.mpl import drawing, legend_beside, new_axes
from evidentia.plots.palette import HUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evidentia.prototypes import BeliefPeaks

OTHERS = "#8c8c8c"
CORNERS = ((5, 4), (5, -11), (-10, 4), (-10, -11))  # where numbers stand: centers often lie close together


class BeliefPeaksPlotData(NamedTuple):
    """The numbers of :func:`plot_belief_peaks`.

    Attributes
    ----------
    xy : ndarray of shape (n_samples, 2)
        δ and belief of each object.
    peaks : ndarray of int
        Objects taken as centers, in the order of their clusters.
    """

    xy: np.ndarray
    peaks: np.ndarray


def belief_peaks_plot_data(graph: BeliefPeaks | Any, *, peaks: Any = None) -> BeliefPeaksPlotData:
    """δ and belief of every object, and which ones are centers, without drawing anything.

    The parameters are those of :func:`plot_belief_peaks`.

    Examples
    --------
    >>> from evidentia.prototypes import belief_peaks
    >>> data = belief_peaks_plot_data(belief_peaks([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], n_neighbors=2))
    >>> data.peaks, data.xy[data.peaks].round(3)
    (array([1, 4]), array([[10.   ,  0.614],
           [10.   ,  0.614]]))
    """
    if hasattr(graph, "graph_"):
        model: Any = graph  # a fitted BPEC
        peaks, graph = model.peaks_ if peaks is None else peaks, model.graph_
    chosen = graph.choose() if peaks is None else np.asarray(peaks, dtype=int)
    return BeliefPeaksPlotData(np.column_stack([graph.delta, graph.belief]), chosen)


@drawing(":meth:`matplotlib.axes.Axes.scatter` for the objects that are no centers")
def plot_belief_peaks(graph: BeliefPeaks | Any, *, peaks: Any = None, ax: Axes | None = None, **scatter: Any) -> Axes:
    """Draw belief against δ; centers of clusters stand out in the upper right corner.

    Parameters
    ----------
    graph : BeliefPeaks or fitted BPEC
        From :func:`evidentia.prototypes.belief_peaks`.
    peaks : array-like of int, optional
        Objects marked and numbered as centers. Without it those of the fit, or those before the widest gap.

    See Also
    --------
    belief_peaks_plot_data : the same in numbers.
    click_peaks : choose the centers by hand.
    """
    data = belief_peaks_plot_data(graph, peaks=peaks)
    ax = new_axes(ax, figsize=(6.6, 4.4))
    others = np.delete(data.xy, data.peaks, axis=0)
    look = {"s": 14, "color": OTHERS, "linewidths": 0, "rasterized": len(others) > 2000, "label": "other objects"}
    ax.scatter(*others.T, **{**look, **scatter})
    for turn, k in enumerate(np.argsort(data.xy[data.peaks, 0])):
        (delta, belief), hue = data.xy[data.peaks[k]], HUES[k % len(HUES)]
        ax.scatter(delta, belief, s=52, color=hue, edgecolors="white", linewidths=0.8, zorder=3)
        beside = CORNERS[turn % len(CORNERS)]
        ax.annotate(
            str(k), (delta, belief), xytext=beside, textcoords="offset points", fontsize="small", color=hue, zorder=3
        )
    ax.set(xlabel="δ: distance to the nearest object of larger belief", ylabel="belief to be a center")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.06, y=0.08)
    from matplotlib.lines import Line2D

    dots = [Line2D([], [], ls="", marker="o", ms=size, color=color) for size, color in ((7, HUES[0]), (4, OTHERS))]
    legend_beside(ax, dots, [f"{len(data.peaks)} centers", f"{len(others):,} other objects"])
    return ax


def click_peaks(graph: BeliefPeaks | Any, *, ax: Axes | None = None, timeout: float = 0) -> np.ndarray:
    """Choose the centers by two clicks: opposite corners of a rectangle in the δ–Bel graph.

    Needs a window (an interactive backend of matplotlib). Give the result to ``BPEC(peaks=…)``, or ``X[peaks]`` to the
    ``init`` of :class:`~evidentia.prototypes.ECM` or :class:`~evidentia.prototypes.CCM`.

    Parameters
    ----------
    graph : BeliefPeaks or fitted BPEC
    ax : matplotlib.axes.Axes, optional
    timeout : float
        Seconds to wait for the clicks; 0 waits for ever.

    Returns
    -------
    ndarray of int
        Objects in the rectangle, the largest score first.
    """
    ax = plot_belief_peaks(graph, peaks=[], ax=ax)
    ax.set_title("click two corners around the centers", fontsize="medium")
    corners = np.array(ax.figure.ginput(2, timeout=timeout))  # type: ignore[union-attr]
    if len(corners) < 2:
        raise ValueError(f"A rectangle has two corners, but {len(corners)} clicks came. Click twice.")
    graph = getattr(graph, "graph_", graph)
    (low, least), (high, most) = corners.min(axis=0), corners.max(axis=0)
    inside = (graph.delta >= low) & (graph.delta <= high) & (graph.belief >= least) & (graph.belief <= most)
    chosen = np.flatnonzero(inside)
    return chosen[np.argsort(-graph.score[chosen], kind="stable")]
