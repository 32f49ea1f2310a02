"""Mass and plausibility over the plane, for methods that predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.belief.focal import Subset, to_mask
from evidentia.partition import CredalPartition
from evidentia.plots.mpl import drawing, legend_beside, name_axes, new_axes
from evidentia.plots.palette import set_label, set_style
from evidentia.plots.partition import MANY
from evidentia.plots.table import column_names, column_numbers, to_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHAT = ("mass", "plausibility")
RESOLUTION = 150  # grid lines each way: smooth on paper, and 22,500 rows to predict
LEVELS = (0.25, 0.5, 0.75, 0.95)
BOUNDARY: dict[str, Any] = {"colors": ["#d3003f"], "linewidths": 2.2, "zorder": 3}


class ContourPlotData(NamedTuple):
    """The numbers of :func:`plot_contours`.

    Attributes
    ----------
    x, y : ndarray of shape (n_grid,)
    masks : tuple of int
        The sets whose values are given.
    values : ndarray of shape (n_masks, n_grid, n_grid)
        ``values[m, j, i]`` belongs to the point ``(x[i], y[j])``.
    axis_names : tuple of two str
    contour : ndarray of shape (n_clusters, n_grid, n_grid)
        Plausibility of each cluster; where the two largest are equal lies the decision boundary.
    """

    x: np.ndarray
    y: np.ndarray
    masks: tuple[int, ...]
    values: np.ndarray
    axis_names: tuple[str, str]
    contour: np.ndarray


def contour_plot_data(
    model: Any,
    X: Any,
    *,
    what: str = "mass",
    subset: Subset | None = None,
    columns: Sequence[int | str] = (0, 1),
    n_grid: int = RESOLUTION,
) -> ContourPlotData:
    """Mass or plausibility on a grid, without drawing anything.

    The parameters are those of :func:`plot_contours`; ``n_grid`` is the number of grid lines each way.
    """
    if what not in WHAT:
        raise ValueError(f"'what' must be 'mass' or 'plausibility'. Got {what!r}.")
    if not hasattr(model, "predict_partition"):
        raise ValueError(
            f"{type(model).__name__} cannot place new points, so there is nothing to draw between the objects. "
            "Take a method with predict_partition, such as EGMM or ECM."
        )
    table = to_table(X)
    names = column_names(X, None, table.shape[1])
    i, j = column_numbers(columns, names)
    x, y = (_grid_line(table[:, column], n_grid) for column in (i, j))
    rows = np.tile(np.nanmean(table, axis=0), (n_grid * n_grid, 1))
    rows[:, i], rows[:, j] = (lines.ravel() for lines in np.meshgrid(x, y))
    partition = model.predict_partition(_like(X, rows))
    n_clusters = partition.n_clusters
    masks = tuple(1 << k for k in range(n_clusters)) if subset is None else (to_mask(subset, n_clusters),)
    values = np.stack([_value(partition, mask, what) for mask in masks])
    values, contour = (found.reshape(-1, n_grid, n_grid) for found in (values, partition.contour.T))
    return ContourPlotData(x, y, masks, values, (names[i], names[j]), contour)


@drawing(":meth:`matplotlib.axes.Axes.contour`, or ``contourf`` for one set", numbers="contour_plot_data")
def plot_contours(
    model: Any,
    X: Any,
    *,
    what: str = "mass",
    subset: Subset | None = None,
    columns: Sequence[int | str] = (0, 1),
    boundary: bool = False,
    ax: Axes | None = None,
    **contour: Any,
) -> Axes:
    """Draw the mass or plausibility of a set of clusters over the plane of two columns.

    Without ``subset`` every single cluster gets contour lines in its color; with it, that set is drawn as a
    filled map with a scale. When the table has more than two columns, all others are held at their means: the picture
    is a cut through the middle of the data, not a summary of it.

    Parameters
    ----------
    model : fitted estimator with ``predict_partition``
    X : array-like of shape (n_samples, n_features)
        The table the model was fitted to: it gives the range of the picture, and its rows are drawn as dots.
    what : {"mass", "plausibility"}
    subset : collection of int, or int mask, optional
        ``{1}`` or ``{0, 2}``. The plausibility of any set can be drawn, the mass of focal sets only.
    columns : pair of int or str
    boundary : bool
        Also draw, thick and red, where the most plausible cluster changes.
    """
    data = contour_plot_data(model, X, what=what, subset=subset, columns=columns)
    table = to_table(X)
    i, j = column_numbers(columns, column_names(X, None, table.shape[1]))
    n_clusters = model.partition_.n_clusters
    ax = new_axes(ax)
    if subset is None:
        _draw_lines(ax, data, n_clusters, model.partition_.cluster_names, what, boundary, contour)
    else:
        _draw_map(ax, data, n_clusters, model.partition_.cluster_names, what, contour)
    if boundary:
        _draw_boundary(ax, data)
    size = float(np.clip(4000 / max(len(table), 1), 3, 12))
    dots: dict[str, Any] = {
        "s": size,
        "color": "#404040",
        "edgecolors": "white",
        "linewidths": 0.25,
        "alpha": 0.7,
        "zorder": 2.5,
    }
    ax.scatter(table[:, i], table[:, j], rasterized=len(table) > MANY, **dots)
    name_axes(ax, data.axis_names)
    return ax


def _like(X: Any, rows: np.ndarray) -> Any:
    """Rows with the column names of X, which a model fitted to a DataFrame wants back."""
    if not hasattr(X, "columns"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=list(X.columns))


def _grid_line(values: np.ndarray, n_grid: int) -> np.ndarray:
    low, high = np.nanmin(values), np.nanmax(values)
    margin = 0.08 * (high - low) or 0.5  # a constant column still needs a width
    return np.linspace(low - margin, high + margin, n_grid)


def _value(partition: CredalPartition, mask: int, what: str) -> np.ndarray:
    if what == "mass":
        return partition.masses[:, partition.focal_sets.index(mask)]
    return partition.masses[:, partition.focal_sets.masks & mask != 0].sum(axis=1)


def _draw_boundary(ax: Axes, data: ContourPlotData) -> None:
    """Where a cluster is as plausible as the best of the others, cluster by cluster."""
    for k, plausible in enumerate(data.contour[:-1]):
        margin = plausible - np.delete(data.contour, k, axis=0).max(axis=0)
        if margin.min() < 0 < margin.max():
            ax.contour(data.x, data.y, margin, levels=[0.0], **BOUNDARY)


def _draw_lines(
    ax: Axes, data: ContourPlotData, n_clusters: int, names: Any, what: str, boundary: bool, contour: dict[str, Any]
) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for mask, values in zip(data.masks, data.values):
        color = set_style(mask, n_clusters).color
        widths = np.linspace(0.7, 1.9, len(LEVELS))
        look = {"levels": LEVELS, "colors": [color], "linewidths": widths}
        ax.contour(data.x, data.y, values, **{**look, **contour})
        handles.append(Line2D([], [], color=color))
    words = [set_label(mask, n_clusters, names) for mask in data.masks]
    if boundary:
        handles.append(Line2D([], [], color=BOUNDARY["colors"][0], lw=BOUNDARY["linewidths"]))
        words.append("boundary")
    legend_beside(ax, handles, words, title=f"{what}\n" + ", ".join(f"{level:g}" for level in LEVELS))


def _draw_map(ax: Axes, data: ContourPlotData, n_clusters: int, names: Any, what: str, contour: dict[str, Any]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    style = set_style(data.masks[0], n_clusters)
    shades = LinearSegmentedColormap.from_list("set", list(dict.fromkeys(["white", style.color, style.edge])))
    look = {"levels": np.linspace(0, 1, 11), "colors": shades(np.linspace(0, 1, 10))}  # nothing stays white
    drawn = ax.contourf(data.x, data.y, np.clip(data.values[0], 0, 1), **{**look, **contour})
    bar = ax.figure.colorbar(drawn, ax=ax, ticks=np.linspace(0, 1, 6))
    bar.set_label(f"{what} of {set_label(data.masks[0], n_clusters, names)}", parse_math=False)
    bar.outline.set_linewidth(0.5)
