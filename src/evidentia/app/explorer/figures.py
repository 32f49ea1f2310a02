"""Figures of the explorer: their size, words for those who do not see them, and the objects in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource

from evidentia.safe_text import printable

if TYPE_CHECKING:
    from evidentia.app.explorer.app import TablePage

PLOT = {"toolbar_location": "above", "background_fill_color": "#ffffff", "border_fill_color": "#ffffff",
        "sizing_mode": "stretch_width"}  # fmt: skip


def name_figure(figure_: Any, words: str) -> None:
    """Words for those who do not see a figure; its tools stay within reach, which those of an image would not."""
    figure_.html_attributes = {"role": "figure", "aria-label": printable(words)}


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
