"""The reliability curve: how often objects are right, by the probability that is stated of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.plots.mpl import drawing, new_axes
from evidentia.plots.palette import HUES
from evidentia.scores.reliability import Reliability, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_MARK = 12.0  # points, of the bin with most objects
SMALLEST_MARK = 3.0


def reliability_plot_data(stated: Any, correct: Any, *, n_bins: int = 10) -> Reliability:
    """Return the numbers of the curve, see :func:`evidentia.scores.reliability`.

    Examples
    --------
    >>> reliability_plot_data([0.75, 0.71, 0.98, 0.96], [True, False, True, True]).counts
    array([2, 2])
    """
    return reliability(stated, correct, n_bins=n_bins)


@drawing(":meth:`matplotlib.axes.Axes.plot`", numbers="reliability_plot_data")
def plot_reliability(stated: Any, correct: Any, *, n_bins: int = 10, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the share of objects that are right against the probability that is stated of them.

    On the diagonal probabilities are right; above it they are too timid, below it they claim too much. The larger a
    mark, the more objects its bin has.

    Parameters
    ----------
    stated : array-like of shape (n_samples,)
        Probability of the cluster that each object is put into, for instance ``partition.pignistic.max(axis=1)``.
    correct : array-like of shape (n_samples,)
        Whether that cluster is the right one.
    n_bins : int
        Bins of equal width between 0 and 1.

    Examples
    --------
    >>> ax = plot_reliability([0.75, 0.71, 0.98, 0.96], [True, False, True, True])
    >>> ax.get_title()
    'mean error 0.13'
    """
    curve = reliability_plot_data(stated, correct, n_bins=n_bins)
    ax = new_axes(ax, figsize=(4.2, 4.2))
    ax.plot([0, 1], [0, 1], color="#5f5f5f", lw=1, ls="--", zorder=1)
    ax.plot(curve.stated, curve.observed, **{"color": HUES[0], "lw": 1.3, "zorder": 2, **line})
    size = SMALLEST_MARK + (LARGEST_MARK - SMALLEST_MARK) * np.sqrt(curve.counts / curve.counts.max())
    ax.scatter(curve.stated, curve.observed, s=size**2, color=line.get("color", HUES[0]), zorder=3)
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="stated probability", ylabel="share that is right")
    ax.set(title=f"mean error {curve.error:.2f}", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
