"""How the command line fails: one message, an exit code, no traceback."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from evidentia.app.cli import terminal

USER_MISTAKE, BUG, INTERRUPTED = 2, 1, 130


class UserError(Exception):
    """Something the user can cure; the message says how."""


class Commands(TyperGroup):
    """Turns exceptions of any command into one line on stderr and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["arguments"] = list(args)  # for the report: what was typed
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (Exception, KeyboardInterrupt) as error:
            if ctx.params.get("debug") or isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code"):
                raise  # typer's own exceptions know how to end
            message, code = describe(error)
            terminal.print_problem(message)
            raise typer.Exit(code) from None


def describe(error: BaseException) -> tuple[str, int]:
    """What to tell the user about an exception with its notes, and the exit code."""
    message, code = _describe(error)
    return " ".join([message, *getattr(error, "__notes__", ())]), code


def _describe(error: BaseException) -> tuple[str, int]:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted.", INTERRUPTED
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}.", USER_MISTAKE
    if isinstance(error, UserError | ValueError | OSError | ImportError | MemoryError):
        return str(error) or type(error).__name__, USER_MISTAKE
    return (
        f"this should not have happened ({type(error).__name__}: {error}). It is a mistake in evidentia, not yours; "
        "'evidentia --debug ...' shows where, please report it.",
        BUG,
    )


def listing(names: Sequence[str], most: int = 8) -> str:
    """Some names in a sentence: ``a, b, c and 4 more``."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def closest(name: str, names: Sequence[str]) -> str:
    """``Did you mean 'x'?`` with a space before it, or nothing."""
    by_lower = {known.lower(): known for known in names}
    match = difflib.get_close_matches(name.lower(), list(by_lower), n=1)
    return f" Did you mean {by_lower[match[0]]!r}?" if match else ""
