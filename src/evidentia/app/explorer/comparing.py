"""Two partitions side by side: where they differ, and how far they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from bokeh.models import LassoSelectTool
from bokeh.plotting import figure

from evidentia.app.explorer.parts import PLOT, Points, button, name_figure, text, to_html
from evidentia.app.explorer.tabs import Tab
from evidentia.app.maps import FADED, by_mark, mark_letters, remove_grid
from evidentia.belief import FocalSets
from evidentia.partition import CredalPartition
from evidentia.partition.alignment import align_objects, match_labels, moved_objects
from evidentia.plots.styles import object_styles
from evidentia.safe_text import printable
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
            name_figure(shown, "Map of another step.")
            self.figures.append(remove_grid(shown))
        self.figures[1].x_range, self.figures[1].y_range = self.figures[0].x_range, self.figures[0].y_range
        self.differ: np.ndarray = np.empty(0, dtype=np.int64)
        self.pick = button("Select what differs", lambda: self.page.select(self.differ, self.pick), width=160)
        self.other.param.watch(self._on_choose, "value")

    def redraw(self) -> None:
        exploration = self.page.exploration
        steps = {printable(f"{at + 1}. {step.words}")[:80]: at for at, step in enumerate(exploration.steps)
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
        for name, styles in zip(STEPS, map(object_styles, (number_alike(there, here), here))):
            data |= {f"color {name}": styles.colors[self.objects], f"mark {name}": mark_letters(styles, self.objects)}
        self.source.data = data
        for figure_, at in zip(self.figures, (self.other.value, exploration.at)):
            name_figure(figure_, f"Map of step {at + 1}, {exploration.steps[at].words}.")
        with self.page.ignore_events():
            self.show_selection(self.page.selection)

    def view(self) -> Any:
        panes = [pn.pane.Bokeh(one, sizing_mode="stretch_width", height=380) for one in self.figures]
        return pn.Column(
            pn.Row(self.other, self.pick), self.words, pn.Row(*panes, sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )  # fmt: skip


def number_alike(there: CredalPartition, here: CredalPartition) -> CredalPartition:
    """A partition whose clusters have the numbers, and so the colors, of those of another one that they match.

    Its frame has room for the clusters of both.

    Examples
    --------
    >>> three = CredalPartition(np.eye(3)[[0, 1, 1, 2]], FocalSets(3, [{0}, {1}, {2}]))
    >>> two = CredalPartition(np.eye(2)[[1, 1, 1, 0]], FocalSets(2, [{0}, {1}]))
    >>> number_alike(two, three).labels()
    array([1, 1, 1, 2])
    """
    there, counts = align_objects(here, there), (there.n_clusters, here.n_clusters)
    numbers = match_labels(there.labels(), here.labels(), counts)
    sets = FocalSets(max(counts), (there.focal_sets.member.astype(np.int64) @ (1 << numbers)).tolist())
    return CredalPartition(there.masses, sets, label_rule=there.label_rule, copy=False)
