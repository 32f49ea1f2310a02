"""The Shepard diagram: how well a credal partition renders the dissimilarities it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.plots.mpl import drawing, new_axes
from evidentia.plots.palette import HUES
from evidentia.plots.table import read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 20
FEWEST = 10  # pairs in a bin that make a median worth drawing
POINTS = 3000  # dots that can still be told apart
FEW = 300  # dots that may be large


def shepard_plot_data(model: Any) -> dict[str, np.ndarray]:
    """Wanted and found conflict of each pair, and the middle half of the found conflict along the wanted one.

    Parameters
    ----------
    model : fitted estimator with ``shepard_``

    Returns
    -------
    dict
        ``wanted``, ``conflict`` (n_pairs,); ``center``, ``low``, ``median``, ``high`` (n_bins,): quartiles in 20 bins
        of equal width, those with fewer than 10 pairs left out.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> wanted = np.linspace(0, 0.04, 21)
    >>> model = SimpleNamespace(shepard_=SimpleNamespace(wanted=wanted, conflict=wanted + 0.1))
    >>> data = shepard_plot_data(model)
    >>> data["center"], data["median"].round(2)
    (array([0.025]), array([0.12]))
    """
    found = read_fitted(model, "shepard_", "it does not match conflicts")
    at = np.minimum((found.wanted * BINS).astype(int), BINS - 1)
    full = np.flatnonzero(np.bincount(at, minlength=BINS) >= FEWEST)
    quartiles = np.array([np.quantile(found.conflict[at == k], [0.25, 0.5, 0.75]) for k in full]).reshape(-1, 3)
    return {
        "wanted": found.wanted,
        "conflict": found.conflict,
        "center": (full + 0.5) / BINS,
        "low": quartiles[:, 0],
        "median": quartiles[:, 1],
        "high": quartiles[:, 2],
    }


@drawing(":meth:`matplotlib.axes.Axes.scatter`", numbers="shepard_plot_data")
def plot_shepard(model: Any, *, ax: Axes | None = None, **scatter: Any) -> Axes:
    """Draw the conflict of pairs of objects against the conflict that their dissimilarity asks for.

    On the diagonal the partition renders the dissimilarities exactly. The line is the median, the band the middle
    half of the pairs; of very many pairs only some are drawn as dots.

    Parameters
    ----------
    model : fitted EVCLUS, or another estimator with ``shepard_``
    """
    data = shepard_plot_data(model)
    ax = new_axes(ax, figsize=(5.2, 4.8))
    shown = np.linspace(0, len(data["wanted"]) - 1, min(POINTS, len(data["wanted"]))).astype(int)
    few = len(shown) < FEW
    look = {"s": 18 if few else 6, "color": HUES[0], "alpha": 0.6 if few else 0.25, "linewidths": 0}
    ax.scatter(data["wanted"][shown], data["conflict"][shown], **{**look, "label": "pairs of objects", **scatter})
    if len(data["center"]) > 1:
        ax.fill_between(data["center"], data["low"], data["high"], color="black", alpha=0.15, lw=0, label="middle half")
        ax.plot(data["center"], data["median"], color="black", lw=1.5, label="median")
    ax.plot([0, 1], [0, 1], color="#5f5f5f", lw=1, ls="--", label="exact")
    ax.set(xlabel="transformed dissimilarity", ylabel="degree of conflict", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    for handle in ax.legend(loc="upper left", fontsize="small", frameon=False, markerscale=1.5).legend_handles[:1]:
        if handle is not None:
            handle.set_alpha(1)
    return ax
