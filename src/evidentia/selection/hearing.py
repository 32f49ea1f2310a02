"""Warnings of several fits, each told to the fit that gave it, also where they are under way in several threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

SAID: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("SAID", default=None)


@contextmanager
def heard_apart() -> Iterator[None]:
    """Warnings go to the fit that gives them, also where several are under way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        elsewhere = warnings.showwarning

        def hear(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
            said = SAID.get()
            if said is None:
                elsewhere(message, category, filename, lineno, file, line)
            else:
                said.append((str(message), category))

        warnings.showwarning = hear
        yield
