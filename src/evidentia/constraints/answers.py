"""Answers to questions about pairs of objects, and their CSV file, which is whole at every moment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evidentia.constraints.lines import parse_lines, read_lines, write_lines

__all__ = ["Answer", "parse_answer", "read_answers", "write_answers"]

ANSWERS = ("same", "different", "unknown")  # none begins another one, so that a word cut off is seen to be so
SPELLINGS = {word: word for word in ANSWERS} | {"don't know": "unknown"}
COLUMNS = ("first", "second", "answer")


class Answer(NamedTuple):
    """Two objects by row number, and one of "same", "different" and "unknown"."""

    first: int
    second: int
    answer: str


def parse_answer(word: object) -> str:
    """One of :data:`ANSWERS`, or an error that lists them."""
    found = SPELLINGS.get(word) if isinstance(word, str) else None
    if found is None:
        raise ValueError(f'An answer is "same", "different" or "don\'t know" ("unknown" for short). Got {word!r}.')
    return found


def write_answers(path: str | os.PathLike[str], answers: Iterable[Answer], names: Sequence[str]) -> None:
    """Replace the file at once: whoever looks, or pulls the plug, finds all old answers or all new ones."""
    write_lines(path, COLUMNS, ((names[first], names[second], answer) for first, second, answer in answers))


def read_answers(path: str | os.PathLike[str], names: Sequence[str]) -> list[Answer]:
    """Answers of a file about the objects of these names; a last line that was cut off is left out, with a warning."""
    rows = {name: row for row, name in enumerate(names)}

    def parse(cells: dict[str, str]) -> Answer:
        first, second, word = (cells[name] for name in COLUMNS)
        answer = parse_answer(word)
        for name in (first, second):
            if name not in rows:
                raise ValueError(f"there is no object {name!r} in the table. Are these answers about other data?")
        return Answer(rows[first], rows[second], answer)

    return list(parse_lines(read_lines(path, COLUMNS, COLUMNS, "a file of answers"), parse, "answers"))
