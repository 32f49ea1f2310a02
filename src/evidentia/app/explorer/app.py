"""The page of a table: controls on the left, the map and other views in the middle, what is selected on the right."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import panel as pn

from evidentia import methods
from evidentia.app.advisor.n_clusters import parse_clusters, words_of
from evidentia.app.advisor.rules import SCALERS
from evidentia.app.explorer.asking import Questions
from evidentia.app.explorer.comparing import Compare
from evidentia.app.explorer.notebook import OURS
from evidentia.app.explorer.objects import Details, ObjectMap, ObjectTable
from evidentia.app.explorer.page import Hub, Maker, Page, zip_files
from evidentia.app.explorer.parts import WIDTH, Range, button, heading, options, side_by_side, text, to_html
from evidentia.app.explorer.peaks import Numbers, Peaks, Tree
from evidentia.app.explorer.recipe import script
from evidentia.app.explorer.state import Exploration
from evidentia.app.explorer.tabs import ColumnsTab, LogTab, Tabs, chain_words
from evidentia.partition.counts import describe_clusters
from evidentia.safe_text import guard_table
from evidentia.verdict.words import describe_verdict, is_one_cloud

AUTO = "auto"
TABS = {"Questions": Questions, "Columns": ColumnsTab, "Numbers": Numbers, "Peaks": Peaks, "Tree": Tree,
        "Compare": Compare, "Log": LogTab}  # fmt: skip


class TablePage(Page):
    """One view of an exploration of a table."""

    exploration: Exploration

    def __init__(self, hub: Hub, *, narrow: bool = False):
        super().__init__(hub, narrow=narrow)
        self.selection = np.empty(0, dtype=np.int64)
        self.group: tuple[str, ...] = ()
        self.drawn = text("", sizing_mode="stretch_width")
        self.map, self.details, self.table = ObjectMap(self), Details(self), ObjectTable(self)
        self.tabs = Tabs(self, TABS)
        self._make_controls()

    def _make_controls(self) -> None:
        able = [name for name, cls in methods.clusterers().items() if {"table", "categories"} & set(cls.method.reads)]
        self.method = pn.widgets.Select(label="method", options=[AUTO, *able], width=135)
        self.clusters = pn.widgets.TextInput(label="clusters: 3, 2-6, auto", value=AUTO, width=135)
        self.scale = pn.widgets.Select(label="scale", options=[AUTO, "none", *SCALERS], width=135)
        self.parameters = pn.widgets.TextInput(label="its settings, as n_init=5, alpha=2", width=280)
        self.known = text("", width=WIDTH, styles={"font-size": "11px"})
        self.method.param.watch(self._on_method, "value")
        self.columns = pn.widgets.MultiSelect(
            label="columns to cluster", options=options(self.exploration.table.columns), width=280, size=6
        )
        self.sure = Range(label="how sure you are", start=0.05, value=1, width=280)
        self.label = pn.widgets.TextInput(label="label for the selected", width=135)
        self.groups = text("", width=WIDTH)

    def _link(self, action: Callable[..., Any], *given: Any) -> None:
        """Say something of the selected objects, as sure as the slider says."""
        sure = self.sure.value
        self.act_later(lambda: action(*given, certainty=sure), "Taking it in – fitting")

    def _name_group(self) -> None:
        self.group = tuple(self.selected_names())
        self._show_groups()
        self.count()

    def _show_groups(self) -> None:
        n = len(self.selection)
        words = f"{n:,} object{'s' * (n != 1)} selected. "
        words += f"Group A: {len(self.group):,}." if self.group else "No group A yet."
        self.groups.object = to_html(words)

    def _fit(self) -> None:
        def work() -> Any:
            settings = self.exploration.settings
            same = self.method.value == settings.method
            hidden = {name: value for name, value in settings.parameters.items() if same and not is_written(value)}
            return self.exploration.set(
                method=self.method.value, clusters=parse_clusters(self.clusters.value), scale=self.scale.value,
                columns=tuple(self.columns.value), parameters={**hidden, **read_parameters(self.parameters.value)},
            )  # fmt: skip

        self.act_later(work, "Fitting with these")

    def _on_method(self, event: Any) -> None:
        """Which settings a method has, by its own record; those of another one are gone."""
        self.parameters.value = ""
        self.known.object = to_html(known_parameters(event.new))

    # -- selecting ----------------------------------------------------------------------------------------------------

    def select(self, rows: np.ndarray, by: Any = None) -> None:
        """Select objects in all views; ``by`` knows already."""
        self.selection = np.unique(np.asarray(rows, dtype=np.int64))
        if self.exploration.at >= 0:
            self.batch_changes(lambda: self._show_selection(by))

    def _show_selection(self, by: Any) -> None:
        with self.ignore_events():
            for view in (self.map, self.table, self.details, self.tabs.open):
                if view is not None and view is not by:
                    view.show_selection(self.selection)
        self._show_groups()
        if by is not None:  # a person; else what selects has more to do
            self.count()

    def selected_names(self) -> list[str]:
        return [self.exploration.names[row] for row in self.selection]

    # -- drawing ------------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        settings = self.exploration.settings
        self.method.value, self.scale.value = settings.method, settings.scale
        self.columns.value, self.clusters.value = list(settings.columns), words_of(settings.clusters)
        written = {name: value for name, value in settings.parameters.items() if is_written(value)}
        self.parameters.value = ", ".join(f"{name}={value}" for name, value in written.items())
        for view in (self.map, self.details, self.table, self.tabs):
            view.redraw()
        self._show_groups()

    def describe_step(self) -> str:
        exploration, step = self.exploration, self.exploration.step
        partition = exploration.partition_
        assigned, ambiguous, outliers = partition.kind_counts.values()
        told = describe_verdict(partition.verdict, partition.n_clusters)
        said = [*told[:1], f"{step.words}."]
        if exploration.at:
            said.append(f"{len(step.moved) or 'No'} object{'s' * (len(step.moved) != 1)} moved.")
        cloud, alone = is_one_cloud(partition.verdict), partition.n_clusters == 1
        what = describe_clusters(partition.n_clusters, partition.set_counts, "part" if cloud else "cluster")
        kinds = ("inside one part", "between parts") if cloud else ("assigned", "ambiguous")
        counts = "" if alone else f"{assigned:,} {kinds[0]}, {ambiguous:,} {kinds[1]}, "
        said.append(f"{counts}{outliers:,} outliers in {what}{' of one cloud' * cloud}.")
        broken, chains = exploration.broken_links(), exploration.contradictions()
        if len(broken):
            first = broken.iloc[0]
            said.append(f"{len(broken)} of {len(exploration.constraints_)} links are not respected, such as "
                        f"{first['link']} of {first['first']} and {first['second']}; Log lists them.")  # fmt: skip
        if chains:
            said.append(f"Soft links contradict each other: {chain_words(chains[0])}.")
        said += [f"Note: {note}" for note in step.notes]
        if exploration.table_changed:
            said.append("The file of the table has changed since it was read; what is shown is what was read.")
        return " ".join(said)

    def log_note(self, step: Any) -> str:
        return "" if step is self.exploration.steps[0] else f" – {len(step.moved)} moved"

    def opening_text(self) -> str:
        try:
            return f"Fitting {type(self.exploration.estimator()).__name__}"
        except (ValueError, TypeError, ImportError):
            return "Fitting for the first time"  # what is wrong with the settings is told by the fit itself

    def _separate(self) -> None:
        self._link(self.exploration.separate, self.group, self.selected_names())

    def view(self) -> pn.Column:
        """One below the other if narrow."""
        act = self.exploration
        controls = [
            heading("Say what you know"), self.groups, self.sure,
            button("Belong together", lambda: self._link(act.join, self.selected_names())),
            button("Name as group A", self._name_group),
            button("Apart from group A", self._separate, width=280),
            self.label, button("Give label", lambda: self._link(act.label, self.selected_names(), self.label.value)),
            self.undo, self.redo,
            button("Select what moved", lambda: self.select(act.step.moved, self.redo), width=280),
            heading("The map"), *self.map.controls(),
            heading("Method and settings"), self.method, self.clusters, self.scale, self.parameters, self.known,
            self.columns, button("Fit with these", self._fit, color="primary"),
            heading("Take away"), *self.downloads(),
        ]  # fmt: skip
        left = side_by_side(controls)
        views: list[Any] = [self.tabs.choice, self.tabs.shown, self.drawn, self.table.widget]
        side = self.details.view()
        if self.narrow:
            return pn.Column(self.header(), *views, side, left, sizing_mode="stretch_width")
        middle = pn.Column(*views, sizing_mode="stretch_width", min_width=480)
        row = pn.Row(left, middle, pn.Column(side, width=470), sizing_mode="stretch_width")
        return pn.Column(self.header(), row, sizing_mode="stretch_width")

    # -- out ----------------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, tuple[str, Maker]]:
        exploration = self.exploration
        return {
            "script": ("again.py", lambda: script(exploration).encode()),
            "masses": ("masses.csv", self._masses),
            "partition": ("partition.npz", lambda: saved(exploration.partition_.save, "partition.npz")),
            "model": ("model.npz", lambda: saved(exploration.model_.save, "model.npz")),
            "pictures": ("pictures.zip", self._pictures),
            "interactive page": ("partition.html", self._interactive),
        }

    def _masses(self) -> bytes:
        table = guard_table(self.exploration.partition_.to_pandas())
        return table.to_csv().encode("utf-8", "backslashreplace")  # halves of letters have no bytes

    def _numbers(self) -> Any:
        numbers = self.exploration.table[list(self.exploration.choice().columns)].select_dtypes("number")
        return None if numbers.empty else numbers

    def _pictures(self) -> bytes:
        from evidentia.app.report.pictures import draw

        drawn = draw(self.exploration.partition_, X=self._numbers())
        return zip_files((f"{one.name}.png", one.png) for one in drawn)

    def _interactive(self) -> bytes:
        from evidentia.app.report import write_interactive

        write = partial(write_interactive, partition=self.exploration.partition_, X=self._numbers())
        return saved(write, "partition.html")


def saved(write: Callable[[Path], Path], name: str) -> bytes:
    """What something writes into a file."""
    with TemporaryDirectory() as folder:
        return write(Path(folder) / name).read_bytes()


def is_written(value: Any) -> bool:
    """Whether a parameter can be shown, and changed, in a line of text."""
    return value is None or isinstance(value, str | bool | int | float)


def known_parameters(method: str) -> str:
    """The parameters of a method that can be written, with their defaults."""
    if method == AUTO:
        return "Of the method that is chosen."
    known = {name: p.default for name, p in methods.find(method).parameters.items()
             if name not in OURS and p.check.writable and is_written(p.default)}  # fmt: skip
    return "By default: " + ", ".join(f"{name}={value}" for name, value in known.items())


def read_parameters(words: str) -> dict[str, Any]:
    """Parameters as somebody has written them.

    Examples
    --------
    >>> read_parameters("alpha=2, focal_sets=pairs,adaptive=True")
    {'alpha': 2, 'focal_sets': 'pairs', 'adaptive': True}
    """
    found: dict[str, Any] = {}
    for part in filter(None, map(str.strip, words.split(","))):
        name, equals, value = map(str.strip, part.partition("="))
        if not equals or not name or not value:
            raise ValueError(f"Settings are a name and a value each, as in n_init=5, alpha=2. Got {part!r}.")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found
