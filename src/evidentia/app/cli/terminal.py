"""Writing to the terminal: results to stdout, notes and progress to stderr, color only where it is welcome."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

import typer

from evidentia.safe_text import printable

if TYPE_CHECKING:
    from evidentia.partition import CredalPartition


LABEL_WIDTH = 11


def has_color(stream: TextIO) -> bool:
    """Whether escape codes are welcome on a stream (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, stream: TextIO | None = None, **style: object) -> str:
    return typer.style(text, **style) if has_color(stream or sys.stdout) else text  # type: ignore[arg-type]


def echo(text: object = "", *, err: bool = False) -> None:
    """Print; when nobody reads any more (``| head``), the work goes on without printing."""
    stream = sys.stderr if err else sys.stdout
    try:
        typer.echo(text, err=err)
    except BrokenPipeError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


def print_heading(text: str) -> None:
    echo(style(printable(text), bold=True))


def print_labeled(label: str, text: str) -> None:
    """``  label      text``, wrapped beside the label when there is a terminal to fit into."""
    indent, text = " " * (LABEL_WIDTH + 3), printable(text)
    if sys.stdout.isatty():
        width = max(40, shutil.get_terminal_size().columns - 1)
        text = textwrap.fill(
            text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ).lstrip()
    echo(f"  {style(f'{label:<{LABEL_WIDTH}}', fg='cyan')} {text}")


def print_note(text: str) -> None:
    """Something worth knowing that is not an error."""
    echo(f"{style('note:', sys.stderr, fg='yellow')} {_lines(text)}", err=True)


def print_problem(text: str) -> None:
    echo(f"{style('error:', sys.stderr, fg='red', bold=True)} {_lines(text)}", err=True)


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def print_summary(summary: str) -> None:
    """The first line in bold; in a terminal, sentences are wrapped."""
    width = max(40, shutil.get_terminal_size().columns - 1) if sys.stdout.isatty() else 0
    for at, line in enumerate(summary.splitlines()):
        shown = textwrap.fill(line, width, break_on_hyphens=False) if width and not line.startswith(" ") else line
        echo(style(_lines(shown), bold=True) if at == 0 else shown)


def print_doubtful(partition: CredalPartition, count: int) -> None:
    """The objects that are hardest to place, and where their mass goes."""
    names = list(map(printable, partition.focal_sets.names(partition.cluster_names)))
    order, masses = partition.largest(4)
    rows = [("object", "set", "masses")]
    for i in partition.most_doubtful(count).tolist():
        shared = [f"{names[j]} {m:.2f}" for j, m in zip(order[i], masses[i]) if m >= 0.005]
        rows.append((printable(partition.name(i)), names[order[i, 0]], "  ".join(shared)))
    widths = [max(len(row[k]) for row in rows) for k in (0, 1)]
    for at, (name, best, shared_text) in enumerate(rows):
        line = f"  {name:<{widths[0]}}  {best:<{widths[1]}}  {shared_text}"
        echo(style(line, fg="cyan") if at == 0 else line)
