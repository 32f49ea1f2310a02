"""What pages are made of: words, buttons, sliders and figures, with names for those who do not see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import param
from bokeh.models import ColumnDataSource

from evidentia.safe_text import escape, printable, printable_table

if TYPE_CHECKING:
    from evidentia.app.explorer.app import TablePage


INK, FAINT = "#1b1b1b", "#6b6b6b"
BANNERS = {"alert": ("#8a0000", "#fdecea"), "busy": ("#5c3d00", "#fff4dc"), "status": (INK, "#eef4f8")}
STYLE = f"""
:root {{ --design-primary-color: #0072b2; }}
body {{ font-family: system-ui, sans-serif; color: {INK}; background: #ffffff; }}
*:focus-visible {{ outline: 2px solid #0072b2; outline-offset: 1px; }}
"""
WIDTH = 290  # of the controls
CHOICES = """
:host .bk-input-group { gap: 2px 6px; }
label { padding: 4px 7px; border-bottom: 3px solid #dddddd; position: relative; }
label:has(input:checked) { border-bottom-color: #0072b2; font-weight: 600; }
label:has(input:focus-visible) { outline: 2px solid #0072b2; }
input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; z-index: 1; cursor: pointer; }
"""


class Html(pn.pane.HTML):
    """HTML of which only the words are sent again: with its styles the whole page would be laid out anew."""

    def _update(self, ref: str, model: Any) -> None:
        model.text = self._get_properties(model.document)["text"]


def text(words: str, *, pre: bool = False, **look: Any) -> Html:
    """Words as text, whatever they hold."""
    return Html(to_html(words, pre=pre), margin=look.pop("margin", (0, 10)), **look)


def to_html(words: str, *, pre: bool = False) -> str:
    """Of text with columns, parts that are set in are not wrapped."""
    if not pre:
        return f'<div style="line-height:1.35">{escape(words)}</div>'
    parts = [("pre;overflow-x:auto" if part.startswith(" ") else "pre-wrap", part) for part in words.split("\n\n")]
    look = "font-size:11px;margin:0 0 9px;white-space"
    return "".join(f'<pre style="{look}:{wrap}" tabindex="0">{escape(part)}</pre>' for wrap, part in parts)


def table_html(frame: Any) -> str:
    """A table as HTML that shows its names and cells as text."""
    return printable_table(frame).to_html(index=False, border=0, justify="left")  # which escapes them


def options(names: Iterable[Any]) -> dict[str, str]:
    """Names to choose from, as a page shows them; as they are where two would look the same."""
    given = list(map(str, names))
    shown = dict(zip(map(printable, given), given))
    return shown if len(shown) == len(given) else dict(zip(given, given))


def heading(words: str) -> Html:
    """The name of a group of controls."""
    found = f'<h2 style="font-size:15px;font-weight:600;margin:0">{escape(words)}</h2>'
    return Html(found, width=WIDTH, margin=(14, 10, 2, 10))


def button(label: str, do: Callable[[], Any], *, width: int = 135, color: str = "default") -> Any:
    """A button, and what a click does."""
    found = pn.widgets.Button(label=label, width=width, color=color)
    found.on_click(lambda event: do())
    return found


def side_by_side(controls: list[Any]) -> pn.Row:
    """Controls on the left of a page, as many on a line as there is room for."""
    look = {"flex-wrap": "wrap", "align-content": "flex-start", "align-items": "end"}
    return pn.Row(*controls, width=WIDTH + 20, styles=look)


class Range(pn.reactive.ReactiveHTML):
    """A slider that has a name for screen readers, which those of Panel have not; it tells of a value once let go."""

    label = param.String()
    told = param.String()
    value = param.Number(default=0.5)
    margin = param.Parameter(default=(5, 10))
    start = param.Number(default=0.0)
    end = param.Number(default=1.0)
    step = param.Number(default=0.05)
    disabled = param.Boolean(default=False)
    _child_config = {"told": "literal"}
    _dom_events = {"range": ["change"]}
    _template = """
    <div id="whole" style="width: 100%"><span id="words">${told}</span>
    <input id="range" type="range" aria-label="{{ label }}" min="${start}" max="${end}" step="${step}" value="${value}"
     disabled="${disabled}" style="width: 100%; margin: 4px 0; accent-color: #0072b2"></input></div>
    """

    @param.depends("value", watch=True, on_init=True)
    def _tell(self) -> None:
        self.told = f"{self.label}: {self.value:g}"


def banner(words: str, kind: str) -> str:
    """The line above the page: how it stands, what is being computed, or what went wrong."""
    ink, paper = BANNERS[kind]
    role = "alert" if kind == "alert" else "status"
    return f'<div role="{role}" style="color:{ink};background:{paper};padding:7px 12px">{to_html(words)}</div>'


def choices(label: str, options: Any, **look: Any) -> pn.widgets.RadioBoxGroup:
    """One of several, as radio buttons, which the keyboard and screen readers know."""
    look = {"margin": (0, 10), "inline": True, **look}
    first = next(iter(options.values() if isinstance(options, dict) else options))
    return pn.widgets.RadioBoxGroup(label=label, options=options, value=first, stylesheets=[CHOICES], **look)


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
