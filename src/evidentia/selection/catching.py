"""Warnings of several fits, each told to the fit that gave it, also where they are under way in several threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

CAUGHT: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("CAUGHT", default=None)


@contextmanager
def separate_warnings() -> Iterator[None]:
    """Warnings go to the fit that gives them, also where several are under way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        elsewhere = warnings.showwarning

        def show_warning(
            message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None
        ) -> None:
            caught = CAUGHT.get()
            if caught is None:
                elsewhere(message, category, filename, lineno, file, line)
            else:
                caught.append((str(message), category))

        warnings.showwarning = show_warning
        yield
