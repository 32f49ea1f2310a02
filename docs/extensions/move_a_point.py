"""The page in which a reader moves a point between two groups and sees its masses: one file, no server, no network.

The masses are not computed in the browser: each method is fitted here and asked about every place of a fine grid; the
page looks up the nearest place.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from bokeh.document import Document
from bokeh.embed import file_html
from bokeh.layouts import column, row
from bokeh.models import ColumnDataSource, CustomJS, Div, FactorRange, PointDrawTool, RadioButtonGroup
from bokeh.plotting import figure
from bokeh.resources import INLINE

from evidentia import ECM, EGMM, EVCLUS, FCM, CredalPartition
from evidentia.plots import set_style
from evidentia.rows.strange import StrangeRows

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAMES = ["{}: none of them", "{0}", "{1}", "{0,1}: one of both"]
X_GRID, Y_GRID = np.linspace(-6, 12, 121), np.linspace(-8, 8, 107)
START = (3.0, 0.5)


class Scene(NamedTuple):
    """Two groups, and what each method says about every place: masses on {}, {0}, {1} and {0,1}."""

    objects: np.ndarray
    masses: dict[str, np.ndarray]


def make_scene() -> Scene:
    rng = np.random.default_rng(0)
    objects = np.vstack([rng.normal([0, 0], 0.9, (40, 2)), rng.normal([6, 0.5], 0.9, (40, 2))])
    models = {
        "ECM": ECM(2, focal_sets="full", rho=5, random_state=0),
        "EGMM": EGMM(2, model="EEE", focal_sets="full", random_state=0),
        "EVCLUS": EVCLUS(2, random_state=0),
        "FCM": FCM(2, random_state=0),
    }
    places = np.column_stack([axis.ravel() for axis in np.meshgrid(X_GRID, Y_GRID)])
    masses = {}
    for name, model in models.items():
        first = int(model.fit(objects).labels_[0])  # the left group is cluster 0, whatever its number was
        with warnings.catch_warnings():  # the grid is wider than the groups on purpose
            warnings.simplefilter("ignore", StrangeRows)
            masses[name] = all_masses(model.predict_partition(places).relabel([first, 1 - first]))
    return Scene(objects, masses)


def all_masses(partition: CredalPartition) -> np.ndarray:
    """Masses on {}, {0}, {1}, {0,1}, shape (n_samples, 4); zero where a method does not have the set."""
    full = np.zeros((len(partition), 4))
    full[:, partition.focal_sets.masks] = partition.masses
    return full


MOVE = """
const at = {x: point.data.x[0], y: point.data.y[0]};
const near = (value, axis) => {
    const step = (axis[axis.length - 1] - axis[0]) / (axis.length - 1);
    return Math.min(axis.length - 1, Math.max(0, Math.round((value - axis[0]) / step)));
};
const place = near(at.y, y_grid) * x_grid.length + near(at.x, x_grid);
const m = [0, 1, 2, 3].map(k => table.data[names[method.active]][4 * place + k]);
bars.data = {...bars.data, mass: m, text: m.map(v => v.toFixed(2))};
const word = ["far from both groups: an outlier", "in the left group", "in the right group",
              "in one of the two, and the data cannot tell which"][m.indexOf(Math.max(...m))];
const interval = k => `${m[k].toFixed(2)} and ${(m[k] + m[3]).toFixed(2)}`;
words.text = `<b>${names[method.active]}</b>: the largest mass says that the point is <b>${word}</b>.<br>`
    + `Belief and plausibility: ${interval(1)} for the left group, ${interval(2)} for the right one.`;
"""


def draw(scene: Scene) -> Document:
    """The page."""
    colors = [set_style(mask, 2).color for mask in range(4)]
    plot = figure(width=640, height=330, x_range=(-6, 12), y_range=(-8, 8), tools="", toolbar_location=None)
    plot.title.text = "Drag the diamond"
    for group, color in ((scene.objects[:40], colors[1]), (scene.objects[40:], colors[2])):
        plot.scatter(group[:, 0], group[:, 1], size=7, color=color, alpha=0.7)
    point = ColumnDataSource({"x": [START[0]], "y": [START[1]]})
    moved = plot.scatter("x", "y", source=point, size=20, marker="diamond", color="black", line_color="white")
    tool = PointDrawTool(renderers=[moved], add=False)
    plot.add_tools(tool)
    plot.toolbar.active_tap = tool
    bars = ColumnDataSource({"name": NAMES, "mass": [0.0] * 4, "text": [""] * 4, "color": colors})
    chart = figure(
        width=380, height=230, y_range=FactorRange(*NAMES[::-1]), x_range=(0, 1.15), tools="", toolbar_location=None
    )
    chart.title.text = "Its masses"
    chart.hbar(y="name", right="mass", height=0.7, color="color", source=bars)
    chart.text(x="mass", y="name", text="text", x_offset=6, text_baseline="middle", text_font_size="12px", source=bars)
    names = list(scene.masses)
    method = RadioButtonGroup(labels=names, active=0)
    words = Div(width=250, text="")
    table = ColumnDataSource({name: masses.astype(np.float32).ravel() for name, masses in scene.masses.items()})
    grids = {"x_grid": X_GRID.tolist(), "y_grid": Y_GRID.tolist(), "names": names}
    move = CustomJS(
        args={"point": point, "bars": bars, "table": table, "words": words, "method": method, **grids}, code=MOVE
    )
    point.js_on_change("data", move)
    point.js_on_change("patching", move)
    method.js_on_change("active", move)
    page = Document()
    page.add_root(column(method, plot, row(chart, words)))
    page.js_on_event("document_ready", move)
    return page


def write_page(app: Sphinx, error: Exception | None) -> None:
    path = Path(app.outdir) / "move-a-point.html"
    if not error and app.builder.format == "html" and not path.exists():
        path.write_text(file_html(draw(make_scene()), INLINE, title="Move a point"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
