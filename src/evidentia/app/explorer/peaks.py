"""Numbers of clusters: peaks of the δ–Bel graph in a box, the cut of a tree, and EBIC to click on."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import BoxSelectTool, ColumnDataSource, PointDrawTool, TapTool
from bokeh.plotting import figure

from evidentia import methods
from evidentia.app.explorer.parts import PLOT, Points, Range, button, name_figure, text
from evidentia.app.explorer.tabs import Tab
from evidentia.app.maps import FADED, remove_grid
from evidentia.partition.alignment import match_labels
from evidentia.plots import dendrogram_plot_data
from evidentia.plots.palette import HUES
from evidentia.safe_text import printable

GRAY, LEAVES = "#5f5f5f", 2000


class Graph(Tab):
    """A figure of its own beside the map."""

    title = ""

    def __init__(self, page: Any):
        super().__init__(page)
        self.figure = self._figure()
        name_figure(self.figure, self.title)
        self.pane = pn.pane.Bokeh(self.figure, sizing_mode="stretch_width", height=460)

    @abstractmethod
    def _figure(self) -> Any:
        """The figure, with nothing in it."""

    def view(self) -> pn.Column:
        return pn.Column(text(self.title), *self.controls(), self.pane, sizing_mode="stretch_width")

    def controls(self) -> list[Any]:
        """What stands between the words and the figure."""
        return []


class Computed(Graph):
    """A graph of the columns and the scale at hand, computed when somebody looks, and again when they are others."""

    what = ""  # a method of the exploration
    of: Any = None

    @abstractmethod
    def _show(self, found: Any) -> None:
        """What the method gave."""

    @property
    def now(self) -> Any:
        """What the graph should be of."""
        return self.page.exploration.settings.columns, self.page.exploration.settings.scale

    def on_open(self) -> None:
        self.redraw()
        if self.of == self.now:
            self.page.count()

    def redraw(self) -> None:
        if self.of != self.now:
            compute = getattr(self.page.exploration, self.what)
            self.page.act_later(compute, "Computing the graph", partial(self._take, self.now))

    def _take(self, now: Any, found: Any) -> None:
        self.of = now
        self._show(found)


class Peaks(Points, Computed):
    """The δ–Bel graph: objects in a box can be made the centers of BPEC."""

    what = "peaks"
    title = (
        "Objects in dense places (belief, to the right) and far from denser ones (δ, up) are centers. "
        "Draw a box around some, or select them elsewhere."
    )

    def __init__(self, page: Any):
        Points.__init__(self, page, "x", "y", "name")
        Computed.__init__(self, page)

    def controls(self) -> list[Any]:
        return [
            button(f"{methods.best_for('peaks').__name__} around the selected", self._fit, width=220, color="primary")
        ]

    def _figure(self) -> Any:
        found = figure(tools="pan,wheel_zoom,reset", name="peaks", height=460, tooltips=[("object", "@name")], **PLOT)
        box = BoxSelectTool(continuous=False)
        found.add_tools(box, TapTool())
        found.toolbar.active_drag = box
        found.scatter("x", "y", source=self.source, size=7, color=HUES[0], nonselection_fill_alpha=FADED)
        found.xaxis.axis_label, found.yaxis.axis_label = "belief in being a center", "δ"
        return remove_grid(found)

    def _show(self, found: Any) -> None:
        self.objects = np.argsort(-found.score, kind="stable")[:LEAVES]
        names = [printable(self.page.exploration.names[i]) for i in self.objects]
        self.source.data = {"x": found.belief[self.objects], "y": found.delta[self.objects], "name": names}
        with self.page.ignore_events():
            self.show_selection(self.page.selection)

    def _fit(self) -> None:
        rows = self.page.selection.tolist()
        self.page.act_later(lambda: self.page.exploration.choose_peaks(rows), "Clusters around the peaks")


class Tree(Graph):
    """The tree of a belief hierarchy, with a cut to drag."""

    title = "The tree of a belief hierarchy. Drag its cut up or down, or move the slider; build the tree first."

    def __init__(self, page: Any):
        super().__init__(page)
        self.method = methods.best_for("trees").method.name
        self.build = button(f"Build the tree (method {self.method})", self._build, width=220, color="primary")
        self.number = Range(label="cut into clusters", start=1, end=10, step=1, value=2, width=300, disabled=True)
        self.number.param.watch(self._on_slide, "value")

    def _figure(self) -> Any:
        self.source = ColumnDataSource({"xs": [], "ys": [], "color": []})
        found = figure(tools="pan,wheel_zoom,box_zoom,reset", name="tree", height=420, **PLOT)
        found.multi_line("xs", "ys", color="color", source=self.source, line_width=1.3)
        self.cut = ColumnDataSource({"y": []}, name="cut")
        found.hspan("y", source=self.cut, line_color="#111111", line_dash="dashed", line_width=2)
        # What is taken hold of: as wide as the tree, which is drawn from 0 to 1, and with no column that a drag to the
        # side could change.
        grip = found.rect(0.5, "y", 1, 13, source=self.cut, height_units="screen", color="#111111", alpha=0.1)
        tool = PointDrawTool(renderers=[grip], add=False, description="Drag the cut")
        found.add_tools(tool)
        found.toolbar.active_drag = tool
        self.cut.on_change("data", self._on_drag)
        found.yaxis.axis_label = "BetP index (largest so far)"
        found.xaxis.visible = False
        return remove_grid(found)

    def _build(self) -> None:
        self.page.act_later(lambda: self.page.exploration.set(method=self.method, clusters=None), "Building the tree")

    def _on_slide(self, event: Any) -> None:
        if not self.page.ignores_events:
            self._cut_into(int(event.new))

    def _on_drag(self, attr: str, old: Any, new: Any) -> None:
        """So many clusters as there are branches at the line; the line itself then comes to rest between two merges."""
        if self.page.ignores_events:
            return
        wanted = [1 + int((self.heights > y).sum()) for y in new["y"]]
        number = min(wanted[0], int(self.number.end)) if wanted else int(self.number.value)
        if number == self.number.value:  # put back where it was
            self.page.batch_changes(self.redraw)
            self.page.count()
        else:
            self._cut_into(number)

    def _cut_into(self, number: int) -> None:
        self.page.act_later(lambda: self.page.exploration.cut(number), "Cutting the tree")

    def redraw(self) -> None:
        exploration = self.page.exploration
        model = exploration.step.model if exploration.has_tree else None
        self.build.disabled = exploration.has_tree
        self.number.disabled = model is None
        if model is None:
            self.source.data = {"xs": [], "ys": [], "color": []}
            with self.page.ignore_events():
                self.cut.data = {"y": []}
            if self.build.disabled:  # it was taken up again, or is far back: drawn when it is there
                self.page.act_later(lambda: exploration.model_, "Building the tree")
            return
        k, heights = exploration.partition_.n_clusters, model.linkage_[:, 2]
        labels, self.heights = model.cut(k), heights
        clusters = np.zeros(len(heights) + 1, dtype=int)  # with the numbers, and so the colors, of the other views
        clusters[model.groups_] = match_labels(labels, exploration.partition_.labels(), (k, k))[labels]
        data = dendrogram_plot_data(model.linkage_, clusters)
        colors = [GRAY if c < 0 else HUES[c % len(HUES)] for c in data.clusters.tolist()]
        self.source.data = {"xs": (data.x / len(heights)).tolist(), "ys": data.y.tolist(), "color": colors}
        at = (heights[-k] + heights[1 - k]) / 2 if 1 < k < len(heights) else heights[-1]
        with self.page.ignore_events():
            self.cut.data = {"y": [float(at)]}
            self.number.param.update(end=min(30, len(heights)), value=k)
        name_figure(self.figure, f"Tree of {len(clusters):,} leaves, cut into {k} clusters. The slider moves the cut.")

    def controls(self) -> list[Any]:
        return [pn.Row(self.build, self.number)]


class Numbers(Computed):
    """BIC against the number of clusters."""

    what = "numbers"
    title = "BIC of Gaussian mixtures by their number of clusters; larger is better. Click on a number to fit with it."

    def _figure(self) -> Any:
        self.source = ColumnDataSource({"x": [], "y": [], "words": []})
        found = figure(tools=[TapTool()], name="numbers", height=420, tooltips=[("", "@words")], **PLOT)
        found.line("x", "y", source=self.source, color="#999999", nonselection_line_alpha=1)
        found.scatter("x", "y", source=self.source, size=16, color=HUES[0], nonselection_fill_alpha=FADED)
        found.xaxis.axis_label, found.yaxis.axis_label = "number of clusters", "BIC"
        found.xaxis.ticker.mantissas = [1, 2, 5]
        found.xaxis.ticker.min_interval = 1
        self.source.selected.on_change("indices", self._on_choose)
        return remove_grid(found)

    def _show(self, found: Any) -> None:
        table = found.table.dropna(subset=[found.criterion])
        words = [f"{k} clusters" for k in table["n_clusters"]]
        self.source.data = {"x": table["n_clusters"].tolist(), "y": table[found.criterion].tolist(), "words": words}

    def _on_choose(self, attr: str, old: list[int], new: list[int]) -> None:
        if new:
            self.source.selected.indices = []  # so that the same number can be clicked again
            number = int(self.source.data["x"][new[0]])
            self.page.act_later(lambda: self.page.exploration.set(clusters=number), f"Fitting {number} clusters")
