"""The map of the objects, which the explorer and the interactive page draw alike: marks over one source, and hulls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import BoxSelectTool, CategoricalMarkerMapper, ColumnDataSource, LassoSelectTool
from bokeh.plotting import figure

from evidentia.plots.palette import set_style
from evidentia.plots.styles import ObjectStyles

SYMBOLS = {"circle": "●", "diamond": "◆", "triangle": "▲", "cross": "✚", "square": "■", "x": "✖"}
FADED = 0.3


def draw_map(source: ColumnDataSource, hulls: ColumnDataSource, **options: Any) -> tuple[Any, Any, Any]:
    """Return a figure of objects, what draws them, and what draws the outlines of clusters below them.

    Columns of ``source`` are x, y, size (0 hides an object), color and mark (:func:`mark_letters`); those of ``hulls``
    are as of :func:`hull_columns`.
    """
    lasso = LassoSelectTool(continuous=False, name="lasso")
    tools = ["pan", "wheel_zoom", "box_zoom", lasso, BoxSelectTool(continuous=False), "tap", "reset", "save"]
    plot = figure(name="map", tools=tools, active_drag=lasso, **options)
    outlines = plot.patches(
        "xs", "ys", source=hulls, fill_color="color", fill_alpha="fill", line_color="color", line_width=1.4,
        line_dash="dash", line_alpha=0.8,
    )  # fmt: skip
    outlines.nonselection_glyph = None  # a click on one leaves the others as they are
    points = plot.scatter(
        "x", "y", source=source, marker=by_mark("mark"), size="size", fill_color="color", line_color="color",
        fill_alpha=0.9, nonselection_fill_alpha=FADED, nonselection_line_alpha=FADED,
    )  # fmt: skip
    return remove_grid(plot), points, outlines


def remove_grid(plot: Any) -> Any:
    """Return a figure without a grid or an outline that would be mistaken for data."""
    plot.grid.grid_line_color = "#eeeeee"
    plot.outline_line_color = None
    plot.toolbar.logo = None
    return plot


def by_mark(field: str) -> dict[str, Any]:
    """Return a marker of Bokeh by a column of :func:`mark_letters`."""
    mapper = CategoricalMarkerMapper(factors=[str(k) for k in range(len(SYMBOLS))], markers=list(SYMBOLS))
    return {"field": field, "transform": mapper}


def mark_letters(styles: ObjectStyles, objects: np.ndarray) -> list[str]:
    """Return the mark of each object as a single letter."""
    letters = np.array([str(list(SYMBOLS).index(mark)) for mark in styles.marks])
    return letters[styles.codes[objects]].tolist()


def hull_columns(lower: Sequence[np.ndarray], upper: Sequence[np.ndarray]) -> dict[str, list[Any]]:
    """Return corners and colors of hulls: filled around the assigned objects of a cluster, dashed around possible ones.

    Examples
    --------
    >>> hull_columns([np.eye(3)[:, :2]], [np.empty((0, 2))])
    {'xs': [[1.0, 0.0, 0.0]], 'ys': [[0.0, 1.0, 0.0]], 'color': ['#0072b2'], 'dash': ['solid'], 'fill': [0.09]}
    """
    rows = [
        (*corners.T.tolist(), set_style(1 << k, len(lower)).color, dash, fill)
        for hulls, dash, fill in ((upper, "dashed", 0.0), (lower, "solid", 0.09))
        for k, corners in enumerate(hulls)
        if len(corners) > 1
    ]
    names = ("xs", "ys", "color", "dash", "fill")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
