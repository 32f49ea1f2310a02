"""Writing to the terminal: results to stdout, complaints and progress to stderr, color only where it is welcome."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TextIO

import typer

LABEL_WIDTH = 11


def colorful(stream: TextIO) -> bool:
    """Whether escape codes are welcome on a stream (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, stream: TextIO | None = None, **style: object) -> str:
    return typer.style(text, **style) if colorful(stream or sys.stdout) else text  # type: ignore[arg-type]


def heading(text: str) -> None:
    typer.echo(styled(text, bold=True))


def labeled(label: str, text: str) -> None:
    """``  label      text``, wrapped beside the label when there is a terminal to fit into."""
    indent = " " * (LABEL_WIDTH + 3)
    if sys.stdout.isatty():
        width = max(40, shutil.get_terminal_size().columns - 1)
        text = textwrap.fill(
            text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ).lstrip()
    typer.echo(f"  {styled(f'{label:<{LABEL_WIDTH}}', fg='cyan')} {text}")


def note(text: str) -> None:
    """Something worth knowing that is not an error."""
    typer.echo(f"{styled('note:', sys.stderr, fg='yellow')} {text}", err=True)


def complain(text: str) -> None:
    typer.echo(f"{styled('error:', sys.stderr, fg='red', bold=True)} {text}", err=True)
