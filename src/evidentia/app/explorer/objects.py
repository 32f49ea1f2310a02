"""The objects: a map with hulls and a legend that filters, mass bars, a table, and why an object is doubtful.

Views read the exploration and the selection of their page, and are drawn again when one of them has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import panel as pn
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    PlainText,
    Range1d,
)
from bokeh.plotting import figure

from evidentia.app.explorer.parts import PLOT, WIDTH, Html, Points, Range, choices, name_figure, options, text, to_html
from evidentia.app.maps import SYMBOLS, draw_map, hull_columns, mark_letters, remove_grid
from evidentia.app.report.pictures import choose_view
from evidentia.belief import format_mask
from evidentia.partition.profiles import read_columns
from evidentia.plots import partition_plot_data
from evidentia.plots.palette import set_style
from evidentia.plots.styles import ObjectStyles, choose_drawn, column_shades, object_styles, pack_colors
from evidentia.plots.table import fill_missing, principal_plane
from evidentia.safe_text import printable, printable_table

if TYPE_CHECKING:
    from evidentia.app.explorer.app import TablePage

HOVERED, BARS, SHOWN_COLUMNS = 8, 20, 12
FIRST, SECOND, BY_SET = "PC 1", "PC 2", "set of clusters"
SETS, CAUTIOUS = "sets", "cautious choice"
RULES = {
    SETS: "Drawn: the set of each object, one cluster if it is assigned.",
    CAUTIOUS: "Drawn: the clusters that remain possible at caution {:.2f}, from one cluster (0) to all that no other "
    "one dominates (1).",
}
NAMES = {"text_align": "right", "text_baseline": "middle"}
COMPACT = ":host {font-size: 12px} .tabulator-row .tabulator-cell {padding: 4px 8px}"
LINES = ":host label {display: block; height: 24px; line-height: 24px; margin: 0} :host {font-size: 13px}"


class ObjectMap(Points):
    """Where the objects are, how they look, and what is selected."""

    def __init__(self, page: TablePage):
        super().__init__(page, "x", "y", "color", "size", "mark", "name", "doubt")
        table = page.exploration.table
        self.numbers = [str(name) for name in table.columns if pd.api.types.is_numeric_dtype(table[name])]
        places = [*self.numbers, *([FIRST, SECOND] if len(self.numbers) != 1 else [])]
        self.x = pn.widgets.Select(label="across", options=options(places), width=135)
        self.y = pn.widgets.Select(label="up", options=options(places), width=135)
        self.color = pn.widgets.Select(label="color by", options=options([BY_SET, *table.columns]), width=280)
        self.rule = choices("which sets are drawn", list(RULES), width=280)
        self.caution = Range(label="how cautious the choice is", value=0.5, width=280, disabled=True)
        self.words = text(RULES[SETS], width=WIDTH)
        self.legend = pn.widgets.CheckBoxGroup(label="sets shown", width=200, margin=0, stylesheets=[LINES])
        self.swatches = Html("", width=30, margin=(0, 0, 0, 10))
        self.hulls = ColumnDataSource(hull_columns([], []))
        self.placed = False
        self.figure = self._figure()
        self.pane = pn.pane.Bokeh(self.figure, sizing_mode="stretch_width", height=520, margin=(0, 10))
        for widget in (self.x, self.y, self.color, self.rule, self.caution, self.legend):
            widget.param.watch(self._on_change, "value")

    def _figure(self) -> Any:
        found, points, _ = draw_map(self.source, self.hulls, height=520, **PLOT)
        self.hover = HoverTool(renderers=[points], tooltips=[("object", "@name")])
        found.add_tools(self.hover)
        return found

    # -- drawing ------------------------------------------------------------------------------------------------------

    def place(self) -> None:
        """Choose where objects stand, once there is a partition."""
        if self.placed or len(self.numbers) == 1:
            return
        self.placed = True
        exploration, used = self.page.exploration, self._clustered_numbers()
        if not self.numbers:
            self.x.value, self.y.value = FIRST, SECOND
        elif len(used) > 1:
            view = choose_view(exploration.partition_, read_columns(exploration.table[used]))
            pair = (FIRST, SECOND) if view.columns is None else (used[view.columns[0]], used[view.columns[1]])
            self.x.value, self.y.value = pair

    def _clustered_numbers(self) -> list[str]:
        return [name for name in self.page.exploration.choice().columns if name in self.numbers]

    def coordinates(self) -> np.ndarray:
        """Where all objects stand, shape (n_samples, 2); without numbers, by the probabilities of the clusters."""
        table, partition = self.page.exploration.table, self.page.exploration.partition_
        wanted = self.x.value, self.y.value
        plane = np.empty((len(table), 2))
        if {FIRST, SECOND} & set(wanted):
            used = self._clustered_numbers() or self.numbers
            filled = fill_missing(table[used].to_numpy(dtype=float)) if used else partition.pignistic
            components = principal_plane(filled, standardize=bool(used)).project(filled)
        for at, name in enumerate(wanted):
            if name in (FIRST, SECOND):
                plane[:, at] = components[:, int(name == SECOND)]
            elif name is not None:
                plane[:, at] = table[name].to_numpy(dtype=float)
        if len(self.numbers) == 1:  # one column: spread upward by the doubt, so that points do not hide each other
            plane[:, 1] = partition.doubt
        return plane

    def redraw(self) -> None:
        """Everything, for a new partition; where objects stand and what they are called is sent when it changes."""
        page, partition = self.page, self.page.exploration.partition_
        with page.ignore_events():
            self.place()
            linked = [page.exploration.rows[name] for one in page.exploration.step.statements
                      for name in (*one.objects, *one.others)]  # fmt: skip
            always = np.concatenate([page.selection, page.exploration.step.moved, np.array(linked, dtype=np.int64)])
            drawn = choose_drawn(object_styles(partition).kinds, always=always.astype(np.int64))
            top = np.sort(np.argsort(-partition.masses.sum(axis=0), kind="stable")[:HOVERED])
            masses = partition.masses[drawn.objects].astype(np.float32)
            new = {"doubt": partition.doubt[drawn.objects].astype(np.float32)}
            new |= {f"m{k}": masses[:, at] for k, at in enumerate(top)}
            xy = self.coordinates()
            if not np.array_equal(drawn.objects, self.objects):
                self.objects, self.xy = drawn.objects, np.empty((0, 2))
                new["name"] = [printable(partition.name(i)) for i in self.objects.tolist()]
            if not np.array_equal(xy, self.xy):
                self.xy = xy
                new |= {"x": xy[self.objects, 0], "y": xy[self.objects, 1]}
            styles = self._styles()
            self._show_legend(styles)
            new |= self._columns(styles)
            kept = {name: self.source.data[name] for name in ("x", "y", "name") if name not in new}
            if len(kept) == 3 and set(self.source.data) == {*kept, *new}:
                self.source.data.update(new)
            else:
                self.source.data = {**kept, **new}
            self.show_selection(page.selection)
        self._tell(styles)
        names = partition.focal_sets.names(partition.cluster_names)
        tips = [(f"mass of {printable(names[at])}", f"@m{k}{{0.00}}") for k, at in enumerate(top)]
        self.hover.tooltips = [("object", "@name"), ("doubt", "@doubt{0.00}"), *tips]
        corners = partition_plot_data(partition, self.xy)
        self.hulls.data = hull_columns(corners.lower, corners.upper)
        self._name_axes()
        page.drawn.object = to_html(drawn.words)

    def _styles(self) -> ObjectStyles:
        partition = self.page.exploration.partition_
        if self.rule.value == SETS:
            return object_styles(partition)
        return object_styles(partition, sets=partition.sets("cautious", cautiousness=self.caution.value))

    def _columns(self, styles: ObjectStyles) -> dict[str, Any]:
        """Colors as bytes, marks as single letters, sizes; an object whose set is not shown has none."""
        codes = styles.codes[self.objects]
        colors = styles.fills[codes]
        if self.color.value != BY_SET:
            columns = read_columns(self.page.exploration.table[[self.color.value]])
            shades = column_shades(columns.values[:, 0], columns.levels.get(0))
            colors = pack_colors(list(shades.palette))[shades.codes[self.objects]]
        shown = np.isin(styles.masks, self.legend.value)
        sizes = np.where(shown[codes], styles.sizes[self.objects], 0).astype(np.float32)
        return {"color": colors, "mark": mark_letters(styles, self.objects), "size": sizes}

    def _show_legend(self, styles: ObjectStyles) -> None:
        """Sets that were hidden stay so."""
        masks = styles.masks.tolist()
        hidden = set(self.legend.options.values() if self.legend.options else ()) - set(self.legend.value)
        labels = [f"{printable(label)}: {count:,}" for label, count in zip(styles.labels, styles.counts)]
        shown = [mask for mask in masks if mask not in hidden]
        self.legend.param.update(options=dict(zip(labels, masks)), value=shown)
        lines = [
            f'<div style="height:24px;line-height:22px;font-size:17px;text-align:center;color:#{fill >> 8:06x};'
            f'-webkit-text-stroke:.4px #333" aria-hidden="true">{SYMBOLS[mark]}</div>'
            for fill, mark in zip(styles.fills.tolist(), styles.marks)
        ]
        self.swatches.object = "".join(lines)

    def _tell(self, styles: ObjectStyles) -> None:
        """What is drawn in words; the table has the rest of them."""
        across, up = self.axis_names()
        colors = ", ".join(f"{label} {count:,}" for label, count in zip(styles.labels, styles.counts))
        by = "" if self.color.value == BY_SET else f" Colored by {self.color.value}."
        name_figure(
            self.figure, f"Map of {len(self.objects):,} objects by {across} and {up}. Sets: {colors}.{by} "
            "The table below lists the objects."
        )  # fmt: skip

    def axis_names(self) -> tuple[str, str]:
        if not self.numbers:
            return f"{self.x.value} of the probabilities", f"{self.y.value} of the probabilities"
        return self.x.value, self.y.value if len(self.numbers) > 1 else "doubt"

    def _name_axes(self) -> None:
        """As text: Bokeh would take a name with dollars for mathematics."""
        for axis, words in zip((self.figure.xaxis[0], self.figure.yaxis[0]), self.axis_names()):
            if axis.axis_label is None or axis.axis_label.text != printable(words):
                axis.axis_label = PlainText(text=printable(words))

    def _on_change(self, event: Any) -> None:
        """A control of the map was used: nothing is fitted."""
        if self.page.ignores_events or self.page.exploration.at < 0:
            return
        self.caution.disabled = self.rule.value == SETS
        if event.obj in (self.x, self.y):
            self.page.batch_changes(self.redraw)
        else:
            self.page.batch_changes(lambda: self._recolor(event.obj))
        self.page.count()

    def _recolor(self, used: Any) -> None:
        styles = self._styles()
        if used in (self.rule, self.caution):
            with self.page.ignore_events():
                self._show_legend(styles)
            self.words.object = to_html(RULES[self.rule.value].format(self.caution.value))
        self.source.data.update(self._columns(styles))
        self._tell(styles)

    def controls(self) -> list[Any]:
        return [
            self.x, self.y, self.color, text("Which sets are drawn", width=WIDTH), self.rule, self.caution, self.words,
            text("Sets and how many objects have them", width=WIDTH), self.swatches, self.legend,
        ]  # fmt: skip


class Details:
    """What is selected: its masses as bars, and why the most doubtful of them is so."""

    def __init__(self, page: TablePage):
        self.page = page
        self.source = ColumnDataSource({name: [] for name in ("y", "left", "right", "color")})
        self.names = ColumnDataSource({"y": [], "name": []})
        self.figure = figure(name="bars", height=260, x_range=(-0.25, 1), y_range=Range1d(-0.6, 5), tools="", **PLOT)
        self.figure.text(-0.01, "y", "name", source=self.names, text_font_size="11px", **NAMES)
        self.figure.hbar("y", left="left", right="right", height=0.8, color="color", source=self.source)
        remove_grid(self.figure).toolbar_location = None
        self.figure.yaxis.visible = self.figure.ygrid.visible = False  # a change of an axis has all be laid out anew
        self.figure.xaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
        self.bars = pn.pane.Bokeh(self.figure, sizing_mode="stretch_width", height=260)
        self.title = text("", margin=(4, 10))
        self.why = text("", pre=True, sizing_mode="stretch_width")

    def redraw(self) -> None:
        self.show_selection(self.page.selection)

    def show_selection(self, rows: np.ndarray) -> None:
        exploration = self.page.exploration
        partition = exploration.partition_
        doubt = partition.doubt
        shown = rows[np.argsort(-doubt[rows], kind="stable")] if len(rows) else partition.most_doubtful(10)
        words = f"{len(rows):,} selected" if len(rows) else "Nothing is selected; the most doubtful objects"
        more = f", the {BARS} most doubtful of them" if len(rows) > BARS else ""
        shown = shown[:BARS]
        masses = partition.masses[shown]
        right = masses.cumsum(axis=1)
        colors = [set_style(mask, partition.n_clusters).color for mask in partition.focal_sets.masks.tolist()]
        n = len(shown)
        y = np.arange(max(n, 4))[::-1][:n]  # from the top
        self.source.data = {
            "y": np.repeat(y, masses.shape[1]),
            "left": (right - masses).ravel(),
            "right": right.ravel(),
            "color": colors * n,
        }
        self.figure.y_range.update(start=-0.6, end=max(n, 4) - 0.4)
        self.names.data = {"y": y, "name": [printable(partition.name(i))[:18] for i in shown]}
        self.title.object = to_html(words + more)
        name_figure(self.figure, f"Masses as bars. {words}{more}: {', '.join(self.names.data['name'])}.")
        if n:
            table = exploration.table[list(exploration.choice().columns)]
            self.why.object = to_html(str(partition.explain(int(shown[0]), table)), pre=True)

    def view(self) -> pn.Column:
        return pn.Column(
            self.title, self.bars, text("Why is the first of these doubtful?", styles={"font-weight": "600"}),
            self.why, sizing_mode="stretch_width",
        )  # fmt: skip


class ObjectTable:
    """All objects in a table: sort, filter, search, and select by the keyboard."""

    def __init__(self, page: TablePage):
        self.page = page
        shown = printable_table(page.exploration.table.iloc[:, :SHOWN_COLUMNS].reset_index(drop=True))
        fields = [f"column {at}" for at in range(shown.shape[1])]  # two columns may look the same
        clash = {name: f"{name} (column)" for name in ("object", "set", "doubt", "moved")}
        titles = {field: str(clash.get(name, name)) for field, name in zip(fields, shown.columns)}
        shown.columns = fields
        numbers = shown.select_dtypes("number").columns
        self.columns = shown.assign(**{name: shown[name].round(4) for name in numbers})
        rows = self._rows("", np.nan, "")
        self.widget = pn.widgets.Tabulator(
            rows, titles=titles, editors=dict.fromkeys(rows.columns), pagination="remote", page_size=12, disabled=True,
            selectable="checkbox", show_index=False, sizing_mode="stretch_width", layout="fit_data",
            configuration={"columnDefaults": {"headerSortTristate": True, "titleFormatter": "plaintext"}},
            stylesheets=[COMPACT],
            header_filters={"object": {"type": "input", "func": "like", "placeholder": "search"},
                            "set": {"type": "input", "func": "like", "placeholder": "find"}},
        )  # fmt: skip
        self.widget.param.watch(self._on_select, "selection")

    def _rows(self, sets: Any, doubt: Any, moved: Any) -> pd.DataFrame:
        """With the same columns always: the browser fails where they change before it has built the table."""
        first = pd.DataFrame({"object": list(map(printable, self.page.exploration.names))}).assign(
            set=sets, doubt=doubt, moved=moved
        )
        return pd.concat([first, self.columns], axis=1)

    def redraw(self) -> None:
        exploration = self.page.exploration
        partition = exploration.partition_
        names = {mask: printable(format_mask(mask, partition.cluster_names)) for mask in partition.set_counts}
        sets = [names[mask] for mask in partition.set_masks.tolist()]
        moved = np.isin(np.arange(len(partition)), exploration.step.moved)
        with self.page.ignore_events():
            self.widget.value = self._rows(sets, partition.doubt.round(3), np.where(moved, "moved", ""))
            self.widget.selection = self.page.selection.tolist()

    def _on_select(self, event: Any) -> None:
        if not self.page.ignores_events:
            self.page.select(np.array(event.new, dtype=np.int64), self)

    def show_selection(self, rows: np.ndarray) -> None:
        """Ticked, on the page of the first of them."""
        self.widget.selection = rows.tolist()
        places = np.flatnonzero(np.isin(self.widget.current_view.index, rows))
        if len(places):
            self.widget.page = int(places[0]) // self.widget.page_size + 1
