"""The line that parts two clusters: the objects on it, and one cloud beside two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.plots.mpl import drawing, legend_beside, new_axes
from evidentia.plots.palette import HUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evidentia.verdict import Verdict

BINS = (12, 40)  # fewest and most bars


class SplitPlotData(NamedTuple):
    """Bars of the objects as a density, and two densities at the places of ``grid``."""

    edges: np.ndarray
    heights: np.ndarray
    grid: np.ndarray
    two: np.ndarray
    one: np.ndarray


def split_plot_data(verdict: Verdict) -> SplitPlotData:
    """Histogram of the objects on the line of the weakest split, and the densities of two clouds and of one.

    Examples
    --------
    >>> from evidentia import EGMM
    >>> X = np.random.default_rng(0).normal(size=(200, 1)) + np.repeat([[0], [5]], 100, axis=0)
    >>> data = split_plot_data(EGMM(2, random_state=0).fit(X).verdict_)
    >>> float((data.heights * np.diff(data.edges)).sum().round(6)), bool(data.one.max() < data.two.max())
    (1.0, True)
    """
    line = verdict.line
    if line is None:
        raise ValueError(f"There is no line to draw: no two clusters were compared. The verdict: {verdict.sentence}")
    bins = int(np.clip(2 * line.weights.sum() ** (1 / 3), *BINS))
    heights, edges = np.histogram(line.points, bins=bins, weights=line.weights, density=True)
    return SplitPlotData(edges, heights, line.grid, line.two, line.one)


@drawing(":meth:`matplotlib.axes.Axes.plot` for both curves", numbers="split_plot_data")
def plot_split(verdict: Verdict, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the weakest split of a verdict: the objects on the line that parts two clusters best, and two densities.

    Where one cloud follows the bars as well as two clouds do, the split is not supported.

    Parameters
    ----------
    verdict : Verdict
        ``verdict_`` of a fitted method.
    """
    data = split_plot_data(verdict)
    drawn = verdict.line
    assert drawn is not None
    ax = new_axes(ax, figsize=(7, 3.4))
    ax.stairs(data.heights, data.edges, fill=True, color="#d5dade", label="objects")
    for density, color, style, words in (
        (data.two, HUES[0], "-", "two clouds"),
        (data.one, HUES[1], "--", f"one cloud ({drawn.shape or 'normal'})"),
    ):
        ax.plot(data.grid, density, **{"color": color, "ls": style, "lw": 2, "label": words, **line})
    sides = [name_side(group) for group in (drawn.a, drawn.b)]
    ax.set(xlabel=f"line from {sides[0]} to {sides[1]}, in standard deviations", ylabel="density", yticks=[])
    ax.spines[["top", "right", "left"]].set_visible(False)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax


def name_side(group: tuple[int, ...]) -> str:
    """Return the name of one side of a split.

    Examples
    --------
    >>> name_side((2,)), name_side((0, 3))
    ('cluster 2', 'clusters {0,3}')
    """
    return f"cluster {group[0]}" if len(group) == 1 else f"clusters {{{','.join(map(str, group))}}}"
