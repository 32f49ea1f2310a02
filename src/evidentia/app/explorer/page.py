"""What every page has: a line that says how it stands, undo, a log, downloads, and one :meth:`Page.act`.

An exploration is shared by all pages that show it. One thing is computed at a time, in a thread, so that pages stay
alive; when it is done each page is drawn again, and what changed goes to the browser in one message.
"""

from __future__ import annotations

import asyncio
import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from zipfile import ZipFile

import panel as pn
import param

from evidentia.app.explorer.history import STOPPED, StoppedFit
from evidentia.app.explorer.parts import FAINT, Html, banner, button, to_html

EVERY = 0.5  # seconds between two words about progress
Maker = Callable[[], bytes]


def zip_files(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Files by name as one archive."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


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
        if page.exploration.at < 0:
            pn.state.onload(page.begin)
        pn.state.on_session_destroyed(lambda context: hub.pages.remove(page) if page in hub.pages else None)
    return view
