"""Two partitions side by side: where they differ, and how far they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from bokeh.models import LassoSelectTool
from bokeh.plotting import figure

from evidentia.explorer.objects import FADED, PLOT, Points, by_mark, mark_letters, remove_grid
from evidentia.explorer.page import button, text, to_html
from evidentia.explorer.state import moved_objects
from evidentia.explorer.tabs import Tab
from evidentia.plots.looks import looks
from evidentia.scores import credal_rand_index

STEPS = ("there", "here")


class Compare(Points, Tab):
    """The present step beside an earlier or later one."""

    def __init__(self, page: Any):
        super().__init__(page, "x", "y", "line", *(f"{what} {name}" for name in STEPS for what in ("color", "mark")))
        self.other = pn.widgets.Select(label="compare with", options={}, width=340)
        self.words = text("", sizing_mode="stretch_width")
        self.figures = []
        for name in STEPS:
            shown = figure(name=name, tools="pan,wheel_zoom,reset,tap", height=380, **PLOT)
            shown.add_tools(lasso := LassoSelectTool(continuous=False))
            shown.toolbar.active_drag = lasso
            shown.scatter(
                "x", "y", source=self.source, size=7, fill_color=f"color {name}", line_color="line", line_width=1.5,
                marker=by_mark(f"mark {name}"), nonselection_fill_alpha=FADED, nonselection_line_alpha=FADED,
            )  # fmt: skip
            self.figures.append(remove_grid(shown))
        self.figures[1].x_range, self.figures[1].y_range = self.figures[0].x_range, self.figures[0].y_range
        self.differ: np.ndarray = np.empty(0, dtype=np.int64)
        self.pick = button("Select what differs", lambda: self.page.select(self.differ, self.pick), width=160)
        self.other.param.watch(self._on_choose, "value")

    def redraw(self) -> None:
        exploration = self.page.exploration
        steps = {f"{at + 1}. {step.words}"[:80]: at for at, step in enumerate(exploration.steps)
                 if step.partition is not None and at != exploration.at}  # fmt: skip
        value = self.other.value if self.other.value in steps.values() else next(reversed(steps.values()), None)
        with self.page.ignore_events():
            self.other.param.update(options=steps, value=value)
        self._show()

    def _on_choose(self, event: Any) -> None:
        if not self.page.ignores_events:
            self.page.batch_changes(self._show)
            self.page.count()

    def _show(self) -> None:
        exploration = self.page.exploration
        if self.other.value is None or self.other.value >= len(exploration.steps):
            self.words.object = to_html("There is one partition so far: fit another one, and compare the two.")
            return
        there, here = exploration.steps[self.other.value].partition, exploration.partition_
        assert there is not None
        self.differ = moved_objects(there, here)
        index = credal_rand_index(there, here, measure="conflict")
        distance = "" if len(here) > 5000 else (
            f", by Jousselme's distance {credal_rand_index(there, here, measure='jousselme'):.3f}"
        )  # fmt: skip
        self.words.object = to_html(
            f"{len(self.differ):,} of {len(here):,} objects are in another cluster (outlined). Credal Rand index by "
            f"conflict {index:.3f}{distance}; 1 is perfect agreement. Left: the other step, right: the present one."
        )
        self.objects = self.page.map.objects
        x, y = self.page.map.xy[self.objects].T
        line = np.where(np.isin(self.objects, self.differ), 0x000000FF, 0x00000000).astype(np.uint32)
        data: dict[str, Any] = {"x": x, "y": y, "line": line}
        for name, look in zip(STEPS, map(looks, (there, here))):
            data |= {f"color {name}": look.colors[self.objects], f"mark {name}": mark_letters(look, self.objects)}
        self.source.data = data
        with self.page.ignore_events():
            self.show_selection(self.page.selection)

    def view(self) -> Any:
        panes = [pn.pane.Bokeh(one, sizing_mode="stretch_width", height=380) for one in self.figures]
        return pn.Column(
            pn.Row(self.other, self.pick), self.words, pn.Row(*panes, sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )  # fmt: skip
