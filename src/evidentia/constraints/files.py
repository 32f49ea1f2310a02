"""Links in CSV files, and what to do when such a file was cut off."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from evidentia._warnings import warn_user

COLUMNS = ("first", "second", "link")
WORDS = {"must-link": 0, "cannot-link": 1}
READINGS = ("auto", "index", "name")


def read_links(path: str | os.PathLike[str], by: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Must-links and cannot-links of a file, each as (first, second, certainty)."""
    if by not in READINGS:
        raise ValueError(f"'by' must be one of {', '.join(map(repr, READINGS))}. Got {by!r}.")
    text = Path(path).read_text(encoding="utf-8")
    reader = csv.DictReader(text.splitlines())
    absent = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if absent:
        raise ValueError(f"{path} must have the columns {', '.join(COLUMNS)}. Missing: {', '.join(absent)}.")
    found: list[tuple[int, Any, Any, float]] = []
    rows = list(reader)
    for number, row in enumerate(rows):
        try:
            found.append(_link(row))
        except ValueError as error:
            if number == len(rows) - 1 and not text.endswith("\n"):
                warn_user(
                    f"{path} ends in the middle of line {number + 2}; the {len(found)} links before it were read.",
                    UserWarning,
                )
                break
            raise ValueError(f"{path}, line {number + 2}: {error}") from None
    names = [end for _, *ends, _ in found for end in ends if not end.isdecimal()]
    if by == "index" and names:
        raise ValueError(f"{path} was said to hold row numbers, but it holds {names[0]!r}. Read it by='name'.")
    if by == "index" or (by == "auto" and not names):
        found = [(kind, int(first), int(second), s) for kind, first, second, s in found]
    must, cannot = ([tuple(link) for kind, *link in found if kind == wanted] for wanted in (0, 1))
    return must, cannot


def _link(row: dict[str, Any]) -> tuple[int, str, str, float]:
    first, second, word = (row[name] for name in COLUMNS)
    if not first or not second or word not in WORDS:
        raise ValueError(f"expected first, second and 'must-link' or 'cannot-link'. Got {[first, second, word]}.")
    return WORDS[word], first, second, float(row.get("certainty") or 1)
