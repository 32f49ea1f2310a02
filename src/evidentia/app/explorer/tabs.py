"""Views beside the map that are built when they are opened, and drawn again while they are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn

from evidentia.app.explorer.parts import choices, table_html, text, to_html
from evidentia.partition.profiles import column_separations, read_columns
from evidentia.safe_text import printable

if TYPE_CHECKING:
    from evidentia.app.explorer.app import TablePage
    from evidentia.constraints import Contradiction

TELLING = 10  # columns that are shown
LISTED = 100  # links that are listed
CELLS = "td, th { padding: 2px 16px 2px 0; overflow-wrap: anywhere; }"


def chain_words(found: Contradiction) -> str:
    """Must-links from one object to another that a cannot-link keeps apart."""
    return f"{' = '.join(map(str, found.chain))}, yet apart"


class Tab:
    """A view of a page."""

    def __init__(self, page: TablePage):
        self.page = page

    def on_open(self) -> None:
        """Somebody looks."""
        self.redraw()
        self.page.count()

    def redraw(self) -> None:
        """After a step, while somebody looks."""

    def show_selection(self, rows: np.ndarray) -> None:
        """After something was selected elsewhere, while somebody looks."""

    def view(self) -> Any:
        """What is shown."""
        raise NotImplementedError


class ColumnsTab(Tab):
    """The columns that tell the clusters apart."""

    def __init__(self, page: TablePage):
        super().__init__(page)
        self.bars = text("", pre=True, sizing_mode="stretch_width")

    def redraw(self) -> None:
        exploration = self.page.exploration
        columns = read_columns(exploration.table[list(exploration.choice().columns)])
        share = column_separations(exploration.partition_, columns)
        order = np.argsort(-share, kind="stable")[:TELLING]
        names = {j: printable(columns.names[j]) for j in order}
        width = max(map(len, names.values()))
        lines = [f"{name:<{width}} {share[j]:4.0%} {'█' * round(20 * share[j])}" for j, name in names.items()]
        self.bars.object = to_html("\n".join(lines), pre=True)

    def view(self) -> Any:
        return pn.Column(text("The share of each column's scatter that lies between clusters"), self.bars)


class LogTab(Tab):
    """What was done, and what of it the partition does not respect."""

    def __init__(self, page: TablePage):
        super().__init__(page)
        self.lines = text("", sizing_mode="stretch_width", stylesheets=[CELLS])

    def redraw(self) -> None:
        exploration, parts = self.page.exploration, [self.page.log()]
        broken, chains = exploration.broken_links(), exploration.contradictions()
        if len(broken):
            parts += [f"<h3>Links that are not respected: {len(broken):,} of {len(exploration.constraints_):,}</h3>",
                      table_html(broken.head(LISTED).round(3))]  # fmt: skip
        if chains:
            lines = [f"<li>{to_html(f'{chain_words(one)} ({one.certainty:.0%} sure)')}</li>" for one in chains[:LISTED]]
            parts.append(f"<h3>What contradicts itself</h3><ul>{''.join(lines)}</ul>")
        self.lines.object = "".join(parts)

    def view(self) -> Any:
        return self.lines


class Tabs:
    """The map, and the others by name: radio buttons, and the view that was chosen."""

    def __init__(self, page: TablePage, others: dict[str, type[Tab]]):
        self.page, self.kinds = page, others
        self.open: Tab | None = None
        self.built: dict[str, Tab] = {}
        self.choice = choices("view", ["Map", *others], sizing_mode="stretch_width")
        self.shown = pn.Column(page.map.pane, sizing_mode="stretch_width")
        self.choice.param.watch(self._on_tab, "value")

    def _on_tab(self, event: Any) -> None:
        name = event.new
        if name == "Map" or self.page.exploration.at < 0:  # before the first fit there is nothing else to look at
            self.open, self.choice.value, self.shown[:] = None, "Map", [self.page.map.pane]
            self.page.count()
            return
        if name not in self.built:
            self.built[name] = self.kinds[name](self.page)
        self.open = self.built[name]
        self.shown[:] = [self.open.view()]
        self.open.on_open()

    def redraw(self) -> None:
        if self.open is not None:
            self.open.redraw()
