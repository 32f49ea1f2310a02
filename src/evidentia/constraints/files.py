"""Links in CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from evidentia.constraints.lines import parse_lines, read_lines, write_lines

COLUMNS = ("first", "second", "link")
CERTAINTY = "certainty"
WORDS = {"must-link": 0, "cannot-link": 1}
READINGS = ("auto", "index", "name")


def read_links(path: str | os.PathLike[str], by: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Must-links and cannot-links of a file, each as (first, second, certainty)."""
    if by not in READINGS:
        raise ValueError(f"'by' must be one of {', '.join(map(repr, READINGS))}. Got {by!r}.")
    found = list(parse_lines(read_lines(path, [*COLUMNS, CERTAINTY], COLUMNS, "a file of links"), _link, "links"))
    names = [end for _, *ends, _ in found for end in ends if not end.isdecimal()]
    if by == "index" and names:
        raise ValueError(f"{path} was said to hold row numbers, but it holds {names[0]!r}. Read it by='name'.")
    if by == "index" or (by == "auto" and not names):
        found = [(kind, int(first), int(second), s) for kind, first, second, s in found]
    must, cannot = ([tuple(link) for kind, *link in found if kind == wanted] for wanted in (0, 1))
    return must, cannot


def write_links(path: str | os.PathLike[str], links: Iterable[tuple[Any, Any, float, str]]) -> None:
    """Write (first, second, certainty, word) of each link."""
    lines = ((first, second, repr(float(certainty)), word) for first, second, certainty, word in links)
    write_lines(path, ("first", "second", CERTAINTY, "link"), lines)


def _link(cells: dict[str, str]) -> tuple[int, Any, Any, float]:
    first, second, word = (cells[name] for name in COLUMNS)
    if not first or not second or word not in WORDS:
        raise ValueError(f"expected first, second and 'must-link' or 'cannot-link'. Got {[first, second, word]}.")
    return WORDS[word], first, second, float(cells.get(CERTAINTY) or 1)
