"""What figures have in common: their looks, words for those who do not see them, and the objects in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import CategoricalMarkerMapper, ColumnDataSource

from evidentia.plots.styles import ObjectStyles
from evidentia.safe_text import printable

if TYPE_CHECKING:
    from evidentia.app.explorer.app import TablePage

SYMBOLS = {"circle": "●", "diamond": "◆", "triangle": "▲", "cross": "✚", "square": "■", "x": "✖"}
PLOT = {"toolbar_location": "above", "background_fill_color": "#ffffff", "border_fill_color": "#ffffff",
        "sizing_mode": "stretch_width"}  # fmt: skip
FADED = 0.3


def remove_grid(figure_: Any) -> Any:
    """Without a grid or an outline that would be mistaken for data."""
    figure_.grid.grid_line_color = "#eeeeee"
    figure_.outline_line_color = None
    figure_.toolbar.logo = None
    return figure_


def name_figure(figure_: Any, words: str) -> None:
    """Words for those who do not see a figure; its tools stay within reach, which those of an image would not."""
    figure_.html_attributes = {"role": "figure", "aria-label": printable(words)}


def by_mark(field: str) -> dict[str, Any]:
    """A marker of Bokeh by a column of :func:`mark_letters`."""
    mapper = CategoricalMarkerMapper(factors=[str(k) for k in range(len(SYMBOLS))], markers=list(SYMBOLS))
    return {"field": field, "transform": mapper}


def mark_letters(styles: ObjectStyles, objects: np.ndarray) -> list[str]:
    """The mark of each object as a single letter."""
    letters = np.array([str(list(SYMBOLS).index(mark)) for mark in styles.marks])
    return letters[styles.codes[objects]].tolist()


class Points:
    """Objects in figures over one source: what is selected there is selected everywhere, and the other way round."""

    def __init__(self, page: TablePage, *columns: str):
        self.page = page
        self.objects = np.empty(0, dtype=np.int64)
        self.source = ColumnDataSource({name: [] for name in columns})
        self.source.selected.on_change("indices", self._on_select)

    def _on_select(self, attr: str, old: list[int], new: list[int]) -> None:
        if not self.page.ignores_events:
            self.page.select(self.objects[new], self)

    def show_selection(self, rows: np.ndarray) -> None:
        self.source.selected.indices = np.flatnonzero(np.isin(self.objects, rows)).tolist()
