"""The page of an image: its channels, its segments and the doubt about them, pens, and questions about regions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, FreehandDrawTool, Range1d
from bokeh.plotting import figure

from evidentia import methods
from evidentia.app.advisor.n_clusters import parse_clusters, words_of
from evidentia.app.explorer.asking import Asking
from evidentia.app.explorer.page import Hub, Maker, Page, zip_files
from evidentia.app.explorer.parts import (
    WIDTH,
    Range,
    button,
    choices,
    heading,
    name_figure,
    side_by_side,
    text,
    to_html,
)
from evidentia.app.explorer.recipe import image_script
from evidentia.app.explorer.segments import PENS, ImageExploration, RegionQuestion
from evidentia.app.images import write_segmentation
from evidentia.app.images.pictures import MOST_CHANNELS, color_sets, single_sets, to_rgb
from evidentia.app.images.strokes import Stroke
from evidentia.app.maps import remove_grid
from evidentia.plots.palette import set_label, set_style
from evidentia.plots.styles import number_palette
from evidentia.safe_text import escape

# Not the colors of clusters: a pen says that something is one segment, not which.
INKS = ("#ffe119", "#f032e6", "#42d4f4")
INK_NAMES = ("yellow", "pink", "light blue")
SEGMENTS, SETS, DOUBT, OUTLIERS = "most plausible cluster", "set", "nonspecificity", "mass on ∅"
SIDE = 480  # pixels of a figure, the longer way
EMPTY: dict[str, list[Any]] = {"xs": [], "ys": [], "pen": []}


class ImagePage(Page):
    """One view of an exploration of an image."""

    exploration: ImageExploration

    def __init__(self, hub: Hub, *, narrow: bool = False):
        super().__init__(hub, narrow=narrow)
        exploration = self.exploration
        pens = {f"{color}: {words}": pen for pen, (color, words) in enumerate(zip(INK_NAMES, PENS))}
        self.pen = choices("pen", pens, inline=False, width=280)
        self.radius = Range(label="width of the pen, pixels", start=1, end=15, step=1, value=3, width=280)
        self.shown = pn.widgets.Select(label="over the image", options=[SETS, SEGMENTS, DOUBT, OUTLIERS], width=280)
        self.strength = Range(label="how strongly", value=0.55, width=280)
        last, middle = max(exploration.n_planes - 1, 1), exploration.n_planes // 2
        self.slice = Range(label="slice", end=last, step=1, value=middle, width=280)
        self.slice.visible = exploration.n_planes > 1
        able = [name for name, cls in methods.clusterers().items() if "table" in cls.method.reads]
        self.method = pn.widgets.Select(label="method", options=able, width=135)
        self.clusters = pn.widgets.TextInput(label="clusters: 3, auto", width=135)
        self.asking = Asking(self, exploration.ask, exploration.answer, self._show_question)
        self.legend, self.steps = text("", width=WIDTH), text("", width=WIDTH)
        self._make_figures()
        self.pen.param.watch(self._take_pen, "value")
        for widget in (self.shown, self.strength, self.slice):
            widget.param.watch(self._on_change, "value")

    # -- figures ------------------------------------------------------------------------------------------------------

    def _make_figures(self) -> None:
        """The segments over the first channel, with the pen, and every channel beside it; all move together."""
        image = self.exploration.image
        height, width = self.exploration.plane(image.channels[0], 0).shape
        zoom = min(SIDE / width, SIDE / height)
        self.look = {
            "x_range": Range1d(0, width), "y_range": Range1d(height, 0), "tools": "pan,wheel_zoom,reset,save",
            "frame_width": round(zoom * width), "frame_height": round(zoom * height),
        }  # fmt: skip
        self.place = {"x": 0, "y": 0, "dw": width, "dh": height}
        self.gray: list[tuple[Any, np.ndarray, float, float]] = []
        self.channels: list[Any] = []
        for name, channel in list(zip(image.names, image.channels))[:MOST_CHANNELS]:
            low, high = float(np.nanmin(channel)), float(np.nanmax(channel))
            source = ColumnDataSource({"image": [np.zeros((1, 1), dtype=np.uint8)]})
            self.gray.append((source, channel, low, (high - low) or 1.0))
            shown = self._figure(f"channel {len(self.channels)}", source, f"Channel {name} of the image.")
            self.channels.append(pn.Column(text(name), pn.pane.Bokeh(shown)))
        self.figure = self._figure("segments", self.gray[0][0], "The image, to draw on.")
        self.over = ColumnDataSource({"image": [np.zeros((1, 1), dtype=np.uint32)]}, name="over")
        self.figure.image_rgba("image", source=self.over, **self.place)
        self.lines, self.said = ColumnDataSource(EMPTY, name="strokes"), ColumnDataSource(EMPTY)
        ink = {"line_width": 5, "line_color": "pen"}
        drawn = self.figure.multi_line("xs", "ys", source=self.lines, **ink)
        self.figure.multi_line("xs", "ys", source=self.said, line_dash="dotted", **ink)
        self.tool = FreehandDrawTool(renderers=[drawn], default_overrides={"pen": INKS[0]}, num_objects=0)
        self.figure.add_tools(self.tool)
        self.figure.toolbar.active_drag = self.tool
        self.lines.on_change("data", lambda attribute, old, new: self.count())

    def _figure(self, name: str, source: Any, words: str) -> Any:
        found = figure(name=name, **self.look)
        found.axis.visible = found.grid.visible = False
        name_figure(found, words)
        found.image("image", source=source, palette="Greys256", level="image", **self.place)
        return remove_grid(found)

    def redraw(self) -> None:
        """The plane at hand, what lies over it, strokes that were said, the legend and the log."""
        exploration, at, step = self.exploration, self.plane, self.exploration.step
        for source, channel, low, span in self.gray:
            plane = np.nan_to_num(exploration.plane(channel, at), nan=low)
            source.data = {"image": [np.round(255 * (plane - low) / span).astype(np.uint8)]}
        colors, self.legend.object = self._colors(at)
        name_figure(self.figure, f"The image, to draw on, with its {self.shown.value}. {self.describe_step()}")
        question = self.asking.question
        if question is not None and question.of is step:
            for mask, ink in zip(question[:2], INKS):
                colors[outline(exploration.plane(mask, at))] = (*to_rgb(ink), 255)
        self.over.data = {"image": [as_pixels(colors)]}
        said = [one for one in step.strokes if one.plane == at]
        xs, ys = ([[point[axis] for point in one.points] for one in said] for axis in (0, 1))
        self.said.data = {"xs": xs, "ys": ys, "pen": [INKS[one.pen] for one in said]}
        self.method.value, self.clusters.value = step.settings.method, words_of(step.settings.clusters)
        self.steps.object = self.log()

    def _colors(self, at: int) -> tuple[np.ndarray, str]:
        """What lies over the image, shape (height, width, 4) of uint8, and its legend as HTML."""
        found, c = self.exploration.segmentation_, self.exploration.segmentation_.n_clusters
        kind = self.shown.value
        if kind in (DOUBT, OUTLIERS):
            values = found.nonspecificity() / max(np.log2(c), 1e-9) if kind == DOUBT else found.empty()
            plane = self.exploration.plane(values, at)
            palette = np.array([to_rgb(color) for color in number_palette()], dtype=np.uint8)
            rgb = palette[np.round(np.nan_to_num(np.clip(plane, 0, 1)) * (len(palette) - 1)).astype(int)]
            inside, legend = ~np.isnan(plane), to_html("dark: none; light: as much as there can be")
        else:
            masks = self.exploration.plane(found.sets(), at)
            if kind == SEGMENTS:
                masks = single_sets(self.exploration.plane(found.labels(), at))
            rgb, inside = color_sets(masks, c), masks >= 0
            legend = _legend(masks[inside], c)
        alpha = np.where(inside, round(255 * self.strength.value), 0).astype(np.uint8)
        return np.dstack([rgb, alpha]), legend

    # -- doing --------------------------------------------------------------------------------------------------------

    @property
    def plane(self) -> int:
        """The slice that is shown."""
        return int(self.slice.value) % self.exploration.n_planes

    def strokes(self) -> list[Stroke]:
        """What was drawn and not said yet."""
        data, at = self.lines.data, self.plane
        return [
            Stroke(INKS.index(pen), tuple(zip(map(float, xs), map(float, ys))), at, self.radius.value / 2)
            for xs, ys, pen in zip(data["xs"], data["ys"], data["pen"])
        ]

    def _draw(self) -> None:
        strokes = self.strokes()
        self.act_later(lambda: self.exploration.draw(strokes), "Segmenting with the strokes", lambda step: self._wipe())

    def _set(self) -> None:
        method, number = self.method.value, self.clusters.value

        def work() -> Any:
            clusters = parse_clusters(number)
            if isinstance(clusters, tuple):
                raise ValueError("The number of clusters of an image is a number, as 3, or auto.")
            return self.exploration.set(method=method, clusters=clusters)

        self.act_later(work, "Segmenting with these")

    def _take_pen(self, event: Any) -> None:
        self.tool.default_overrides = {"pen": INKS[event.new]}
        self.count()

    def _on_change(self, event: Any) -> None:
        if self.ignores_events or self.exploration.at < 0:
            return
        if event.obj is self.slice and len(self.lines.data["xs"]):
            self._wipe()
            self.show_message("Strokes that were not said yet were wiped with their slice.")
        self.batch_changes(self.redraw)
        self.count()

    def _wipe(self) -> None:
        self.lines.data = EMPTY

    def _show_question(self, question: RegionQuestion | None) -> str:
        self.asking.question = question
        if question is not None:
            with self.ignore_events():
                self.slice.value = question.plane
        self.redraw()
        if question is None:
            return "No question is left: every region is assigned."
        return f"{question.words} They are outlined in {INK_NAMES[0]} and {INK_NAMES[1]}."

    def opening_text(self) -> str:
        return "Segmenting"

    def describe_step(self) -> str:
        step, found = self.exploration.step, self.exploration.segmentation_
        assigned, ambiguous, outliers = found.kind_counts.values()
        said = f"{step.words}. {assigned:,} {found.image.points} are assigned, {ambiguous:,} ambiguous, {outliers:,} "
        said += f"outliers in {found.n_clusters} segments."
        return " ".join(
            [said, *([f"{found.rounding}."] if found.rounding else []), *(f"Note: {n}" for n in step.notes)]
        )

    # -- out ----------------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, tuple[str, Maker]]:
        return {
            "script": ("again.py", lambda: image_script(self.exploration).encode()),
            "maps and masses": ("segmentation.zip", self._maps),
        }

    def _maps(self) -> bytes:
        """What ``evidentia segment --out`` writes."""
        with TemporaryDirectory() as folder:
            written = write_segmentation(self.exploration.segmentation_, Path(folder))
            return zip_files((path.name, path.read_bytes()) for path in written)

    def view(self) -> pn.Column:
        """Controls on the left, the segments and the channels beside each other; below each other if narrow."""
        asking = self.asking
        left = side_by_side([
            heading("Draw what you know"), text("Lines of one pen are one segment, of two pens two.", width=WIDTH),
            self.pen, self.radius, button("Segment again", self._draw, color="primary"),
            button("Wipe the strokes", self._wipe), self.undo, self.redo,
            heading("Be asked about two regions"), asking.next, asking.words, *asking.answers,
            heading("What is shown"), self.shown, self.strength, self.slice, self.legend,
            heading("Method and settings"), self.method, self.clusters, button("Fit with these", self._set),
            heading("Take away"), *self.downloads(), heading("What was done"), self.steps,
        ])  # fmt: skip
        right = pn.FlexBox(pn.Column(text("segments, to draw on"), pn.pane.Bokeh(self.figure)), *self.channels)
        both: Callable[..., Any] = pn.Column if self.narrow else pn.Row
        parts = [right, left] if self.narrow else [left, right]
        return pn.Column(self.header(), both(*parts, sizing_mode="stretch_width"), sizing_mode="stretch_width")


def as_pixels(colors: np.ndarray) -> np.ndarray:
    """Red, green, blue and alpha in one number each, as Bokeh draws images: shape (height, width) of uint32."""
    return np.ascontiguousarray(colors).view(np.uint32)[..., 0]


def outline(mask: np.ndarray) -> np.ndarray:
    """Pixels of a mask that touch what is not in it."""
    from scipy.ndimage import binary_erosion

    return mask & ~binary_erosion(mask)


def _legend(masks: np.ndarray, n_clusters: int) -> str:
    """A patch and a name for each set in view, with its share of the pixels."""
    used, counts = np.unique(masks, return_counts=True)
    lines = []
    for mask, count in zip(used.tolist(), counts.tolist()):
        color = set_style(mask, n_clusters).color
        look = f"display:inline-block;width:14px;height:14px;background:{color};border:1px solid #555"
        words = escape(f"{set_label(mask, n_clusters)}  {count / len(masks):.0%}")
        lines.append(f'<div><span style="{look}" aria-hidden="true"></span> {words}</div>')
    return "".join(lines)
