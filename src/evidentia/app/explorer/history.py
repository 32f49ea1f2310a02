"""Steps that can be undone, and one change at a time, which another thread can stop."""

from __future__ import annotations

import ctypes
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from evidentia.solvers.descent import InterruptedFit, send_progress_to

S = TypeVar("S")
STOPPED = "Stopped. Nothing was changed."


class StoppedFit(Exception):
    """A fit was stopped by the person who waited for it."""


class History(ABC, Generic[S]):
    """Steps, of which one is the present one.

    Attributes
    ----------
    steps : list
        Also those that were undone and can be redone.
    at : int
        The present step; -1 before the first.
    progress : str
        What the fit that is running tells of itself.
    """

    def __init__(self) -> None:
        self.steps: list[S] = []
        self.at = -1
        self.progress = ""
        self._changing, self._lock = threading.RLock(), threading.Lock()
        self._thread: int | None = None
        self._stopped = False

    @property
    def step(self) -> S:
        """The present step."""
        if self.at < 0:
            raise ValueError("Nothing was fitted yet.")
        return self.steps[self.at]

    @property
    def path(self) -> list[S]:
        """The steps that led to the present one, without what was undone."""
        return self.steps[: self.at + 1]

    def undo(self) -> S:
        """Back to the step before."""
        if self.at < 1:
            raise ValueError("There is nothing to undo.")
        return self._move_to(self.at - 1)

    def redo(self) -> S:
        """Forward again, after :meth:`undo`."""
        if self.at + 1 >= len(self.steps):
            raise ValueError("There is nothing to redo.")
        return self._move_to(self.at + 1)

    def stop(self) -> None:
        """End the fit that is running in another thread; its step is not made."""
        with self._lock:
            if self._thread is not None:
                self._stopped = True
                interrupt = ctypes.pythonapi.PyThreadState_SetAsyncExc
                interrupt(ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt))

    def _move_to(self, at: int) -> S:
        with self._change_lock():
            self._keep(self.steps, at)
        return self.step

    @abstractmethod
    def _keep(self, steps: list[Any], at: int) -> None:
        """Write the steps, and only then have them."""

    @contextmanager
    def _change_lock(self) -> Iterator[None]:
        """One change at a time; a thread may be inside of it more than once."""
        if not self._changing.acquire(blocking=False):
            raise ValueError("Another change is being computed: wait for it, or stop it.")
        try:
            yield
        finally:
            self._changing.release()

    @contextmanager
    def _work(self) -> Iterator[list[str]]:
        """A fit that :meth:`stop` can end, and is heard; what it warned of is in the list once it is done."""
        notes: list[str] = []
        with self._change_lock():
            outermost = self._thread is None
            if outermost:
                self._thread, self._stopped = threading.get_ident(), False
            try:
                with warnings.catch_warnings(record=True) as noticed, send_progress_to(self._set_progress):
                    warnings.simplefilter("always")
                    yield notes
                if self._stopped or any(issubclass(w.category, InterruptedFit) for w in noticed):
                    raise KeyboardInterrupt
                notes += dict.fromkeys(str(w.message) for w in noticed if issubclass(w.category, UserWarning))
            except KeyboardInterrupt:
                raise StoppedFit(STOPPED) from None
            finally:
                if outermost:
                    self._thread, self.progress = None, ""

    def _set_progress(self, words: str) -> None:
        self.progress = words
