"""What every page has: a line that says how it stands, undo, a log, downloads, and one :meth:`Page.act`.

An exploration is shared by all pages that show it. One thing is computed at a time, in a thread, so that pages stay
alive; when it is done each page is drawn again, and what changed goes to the browser in one message.
"""

from __future__ import annotations

import asyncio
import io
import time
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import Any

import panel as pn
import param

from evidentia.explorer.history import STOPPED, StoppedFit

EVERY = 0.5  # seconds between two words about progress
INK, FAINT = "#1b1b1b", "#6b6b6b"
BANNERS = {"alert": ("#8a0000", "#fdecea"), "busy": ("#5c3d00", "#fff4dc"), "status": (INK, "#eef4f8")}
STYLE = f"""
:root {{ --design-primary-color: #0072b2; }}
body {{ font-family: system-ui, sans-serif; color: {INK}; background: #ffffff; }}
*:focus-visible {{ outline: 2px solid #0072b2; outline-offset: 1px; }}
"""
WIDTH = 290  # of the controls
Maker = Callable[[], bytes]


CHOICES = """
:host .bk-input-group { gap: 2px 6px; }
label { padding: 4px 7px; border-bottom: 3px solid #dddddd; position: relative; }
label:has(input:checked) { border-bottom-color: #0072b2; font-weight: 600; }
label:has(input:focus-visible) { outline: 2px solid #0072b2; }
input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; z-index: 1; cursor: pointer; }
"""


def choices(label: str, options: Any, **look: Any) -> pn.widgets.RadioBoxGroup:
    """One of several, as radio buttons, which the keyboard and screen readers know."""
    look = {"margin": (0, 10), "inline": True, **look}
    first = next(iter(options.values() if isinstance(options, dict) else options))
    return pn.widgets.RadioBoxGroup(label=label, options=options, value=first, stylesheets=[CHOICES], **look)


class Html(pn.pane.HTML):
    """HTML of which only the words are sent again: with its styles the whole page would be laid out anew."""

    def _update(self, ref: str, model: Any) -> None:
        model.text = self._get_properties(model.document)["text"]


def text(words: str, *, pre: bool = False, **look: Any) -> Html:
    """Words as they are, whatever they hold."""
    return Html(to_html(words, pre=pre), margin=look.pop("margin", (0, 10)), **look)


def to_html(words: str, *, pre: bool = False) -> str:
    """Of text with columns, parts that are set in are not wrapped."""
    if not pre:
        return f'<div style="line-height:1.35">{escape(words)}</div>'
    parts = [("pre;overflow-x:auto" if part.startswith(" ") else "pre-wrap", part) for part in words.split("\n\n")]
    look = "font-size:11px;margin:0 0 9px;white-space"
    return "".join(f'<pre style="{look}:{wrap}" tabindex="0">{escape(part)}</pre>' for wrap, part in parts)


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


def sentence(error: BaseException) -> str:
    """What to tell a person about something that failed."""
    if isinstance(error, StoppedFit | ValueError | TypeError | OSError | ImportError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    if isinstance(error, MemoryError):
        return f"There is not enough memory for this. {error}".strip()
    return f"This should not have happened ({type(error).__name__}: {error}). Nothing was changed; please report it."


class Hub:
    """What the pages of one exploration share: who they are, and what is being computed."""

    def __init__(self, exploration: Any):
        self.exploration = exploration
        self.pages: list[Page] = []
        self.busy = ""

    def for_each_page(self, do: Callable[[Page], None]) -> None:
        """Do something on every page, in its own turn."""
        for page in list(self.pages):
            page.schedule(partial(do, page))


class Page(ABC):
    """One view of an exploration, in a browser or a notebook."""

    def __init__(self, hub: Hub, *, narrow: bool = False):
        self.hub, self.exploration, self.narrow = hub, hub.exploration, narrow
        document = pn.state.curdoc
        self.document = None if document is None or document.session_context is None else document
        self.ignores_events = False
        self.counter = pn.widgets.IntInput(value=0, visible=False, label="counter", css_classes=["counter"])
        self.status = Html(to_html("…"), sizing_mode="stretch_width", margin=(6, 10))
        self.stop = button("Stop", self.exploration.stop, width=80)
        self.stop.disabled = True  # and never gone: the page would be laid out anew
        self.undo = button("↶ Undo", lambda: self.act_later(self.exploration.undo, "Undo"))
        self.redo = button("↷ Redo", lambda: self.act_later(self.exploration.redo, "Redo"))
        hub.pages.append(self)

    @abstractmethod
    def redraw(self) -> None:
        """Draw what the exploration has come to."""

    @abstractmethod
    def view(self) -> pn.Column:
        """What is shown."""

    @abstractmethod
    def describe_step(self) -> str:
        """The present step in a few sentences."""

    @abstractmethod
    def files(self) -> dict[str, tuple[str, Maker]]:
        """What can be taken away: words for it, the name of the file, and what makes its content."""

    @abstractmethod
    def opening_text(self) -> str:
        """What is being done the first time."""

    # -- doing --------------------------------------------------------------------------------------------------------

    async def act(self, work: Callable[[], Any], what: str, then: Callable[[Any], None] | None = None) -> None:
        """Compute something in a thread, say what it is, and draw every page again; what fails is a sentence."""
        if self.hub.busy:
            self.schedule(
                lambda: self.show_message(f"Still busy: {self.hub.busy} Wait for it, or stop it.", wrong=True)
            )
            return
        self.hub.busy = f"{what}…"
        self.hub.for_each_page(partial(Page._show_busy, words=self.hub.busy))
        began, words, found = time.monotonic(), "", None
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            while not (await asyncio.wait([task], timeout=EVERY))[0]:
                told = f"{self.hub.busy} {time.monotonic() - began:.0f} s {self.exploration.progress}"
                self.hub.for_each_page(partial(Page._show_busy, words=told))
            found = task.result()
        except BaseException as error:
            words = sentence(error)
        self.hub.busy = ""
        after = None if words or then is None else partial(then, found)
        self.hub.for_each_page(lambda page: page._finish(words, after if page is self else None))

    def act_later(self, work: Callable[[], Any], what: str, then: Callable[[Any], None] | None = None) -> None:
        """:meth:`act` without waiting for it: a handler that waited would keep the page from being drawn."""
        self._task = asyncio.ensure_future(self.act(work, what, then))

    def schedule(self, do: Callable[[], None]) -> None:
        """Change the page in its own turn."""
        if self.document is None:
            self.batch_changes(do)
        else:
            self.document.add_next_tick_callback(partial(self.batch_changes, do))

    def batch_changes(self, do: Callable[[], None]) -> None:
        """Change the page, and tell the browser of it in one message: it draws once. What fails is a sentence."""
        with pn.io.hold(self.document, freeze=True):
            try:
                do()
            except Exception as error:
                self.show_message(sentence(error), wrong=True)

    @contextmanager
    def ignore_events(self) -> Iterator[None]:
        """Changes made inside come from here, not from the person."""
        before, self.ignores_events = self.ignores_events, True
        try:
            yield
        finally:
            self.ignores_events = before

    # -- saying -------------------------------------------------------------------------------------------------------

    def show_message(self, words: str, *, wrong: bool = False) -> None:
        self.status.object = banner(words, "alert" if wrong else "status")
        self.count()

    def count(self) -> None:
        """Tell whoever watches that something was done."""
        self.counter.value += 1

    def _show_busy(self, words: str) -> None:
        self.status.object = banner(words, "busy")
        self.stop.disabled = False

    def _finish(self, words: str, then: Callable[[], None] | None) -> None:
        self.stop.disabled = True
        if then is not None:
            then()
        if self.exploration.at >= 0 and not words:
            self.redraw()
        stands = self.describe_step() if self.exploration.at >= 0 else "Nothing was fitted yet."
        self.show_message(words or stands, wrong=bool(words))

    def log(self) -> str:
        """The steps as HTML; those that were undone are struck out."""
        lines = []
        for at, step in enumerate(self.exploration.steps):
            look = f"color:{FAINT};text-decoration:line-through" if at > self.exploration.at else ""
            lines.append(f'<li style="{look}">{to_html(step.words + self.log_note(step))}</li>')
        return f"<ol>{''.join(lines)}</ol>"

    def log_note(self, step: Any) -> str:
        """What the log adds to the words of a step."""
        return ""

    # -- beginning and taking away ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Fit for the first time, now that the page is there."""
        if not self.hub.busy:  # else another page has begun, and this one is drawn when it is done
            self.act_later(self.exploration.begin, self.opening_text())

    def downloads(self) -> list[Any]:
        """A button for each file, which is made in memory when asked for."""
        return [
            pn.widgets.FileDownload(
                callback=partial(self._make_file, make), filename=name, label=what, auto=True, embed=False,
                width=135, height=34, color="default",
            ) for what, (name, make) in self.files().items()
        ]  # fmt: skip

    def _make_file(self, make: Maker) -> io.BytesIO:
        try:
            return io.BytesIO(make())
        except Exception as error:
            self.show_message(sentence(error), wrong=True)
            raise param.Skip from error

    def header(self) -> pn.Row:
        return pn.Row(self.status, self.stop, self.counter, sizing_mode="stretch_width")


def start_page(page: Page) -> pn.Column:
    """The view of a page that is drawn before it is sent, or begins when it is shown, and is forgotten when closed."""
    hub, view = page.hub, page.view()
    if page.exploration.at >= 0:
        page._finish("", None)

    if page.document is not None:
        page.document.template_variables["app_favicon"] = "data:,"  # else the browser asks for one at the root
        if page.exploration.at < 0:
            pn.state.onload(page.begin)
        pn.state.on_session_destroyed(lambda context: hub.pages.remove(page) if page in hub.pages else None)
    return view


def prepare(*, notebook: bool = False) -> None:
    """Load what pages need from this machine alone: a notebook holds it, a server serves it."""
    import panel.reactive
    import panel.theme.base
    from bokeh.settings import settings
    from panel.io import resources

    pn.extension("tabulator", raw_css=[STYLE], inline=notebook, notifications=False)
    settings.resources.set_value("inline" if notebook else "server")
    # Of a part that is added later Panel does not know the document, and asks its own site for style sheets.
    if notebook:
        panel.reactive.patch_stylesheet = resources.patch_stylesheet = put_inside
    else:
        send_all_messages()
        for module in (panel.reactive, panel.theme.base):
            module.CDN_DIST = resources.LOCAL_DIST


def send_all_messages() -> None:
    """Let Panel send what was said while it was sending: 1.9.4 leaves it until something else is said."""
    from panel.io import document

    send = document._dispatch_msgs

    async def send_all(doc: Any) -> None:
        await send(doc)
        while doc in document._WRITE_MSGS and doc not in document._WRITE_BLOCK:
            document._WRITE_BLOCK[doc] = True
            await send(doc)

    if send.__name__ != send_all.__name__:
        document._dispatch_msgs = send_all


def put_inside(sheet: Any, place: str) -> None:
    """Let a style sheet of Panel's site be its own content; takes the place of Panel's ``patch_stylesheet``."""
    from panel.io.resources import CDN_DIST, DIST_DIR

    name = str(sheet.url).partition("?")[0]
    path = DIST_DIR / name.removeprefix(CDN_DIST)
    if name.startswith(CDN_DIST) and path.is_file():
        sheet.url = "data:text/css;base64," + b64encode(path.read_bytes()).decode()
