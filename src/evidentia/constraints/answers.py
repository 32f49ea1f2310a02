"""Answers to questions about pairs of objects, and their CSV file, which is whole at every moment."""

from __future__ import annotations

import codecs
import csv
import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evidentia._warnings import warn_user

ANSWERS = ("same", "different", "unknown")  # none begins another one, so that a word cut off is seen to be so
SPELLINGS = {word: word for word in ANSWERS} | {"don't know": "unknown"}
COLUMNS = ("first", "second", "answer")
HEADER = ",".join(COLUMNS)


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
    target = Path(path).resolve()  # a link stays a link
    with tempfile.NamedTemporaryFile(
        "w", dir=target.parent, prefix=f".{target.name}.", delete=False, encoding="utf-8", newline=""
    ) as file:
        try:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows((names[first], names[second], answer) for first, second, answer in answers)
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                os.chmod(file.name, target.stat().st_mode & 0o777)
            else:
                os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def read_answers(path: str | os.PathLike[str], names: Sequence[str]) -> list[Answer]:
    """Answers of a file about the objects of these names; a last line that was cut off is left out, with a warning."""
    data = Path(path).read_bytes()
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)  # without half a letter at the end
        text = text.removeprefix("\ufeff")  # which spreadsheets put before the first letter
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a file of answers: {error}.") from None
    cut_off = bool(data) and (not text.endswith("\n") or text.count('"') % 2 == 1)
    if HEADER.startswith(text):
        lines = [list(COLUMNS)]
    if tuple(lines[0]) != COLUMNS:
        raise ValueError(f"{path} is not a file of answers: its first line should be {HEADER}.")
    rows = {name: row for row, name in enumerate(names)}
    found: list[Answer] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            found.append(_parsed(line, rows))
        except ValueError as error:
            if not cut_off or number < len(lines):
                raise ValueError(f"{path}, line {number}: {error}") from None
            warn_user(
                f"{path} ends in the middle of line {number}; the {len(found)} answers before it were read.",
                UserWarning,
            )
    return found


def _parsed(line: Sequence[str], rows: dict[str, int]) -> Answer:
    if len(line) != len(COLUMNS):
        raise ValueError(f"expected {', '.join(COLUMNS)}. Got {list(line)}.")
    first, second, word = line
    answer = parse_answer(word)
    for name in (first, second):
        if name not in rows:
            raise ValueError(f"there is no object {name!r} in the table. Are these answers about other data?")
    return Answer(rows[first], rows[second], answer)
