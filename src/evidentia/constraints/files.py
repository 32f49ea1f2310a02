"""CSV files about pairs of objects, links and answers; a line that evidentia wrote carries a check, others need none.

``check`` holds the number of the line, how many there are, and eight digits of a digest of all this and of the other
cells: ``2/7-9f86d081``. A line that was damaged, left out or moved is refused with its number, and never taken for
another one.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evidentia._warnings import warn_user
from evidentia.files import write_whole
from evidentia.safe_text import guard, unguard

__all__ = ["Answer", "parse_answer", "read_answers", "write_answers"]

CHECK = "check"
T = TypeVar("T")


def write_lines(path: str | os.PathLike[str], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Replace a file at once: whoever looks, or pulls the plug, finds all old lines or all new ones."""
    rows = [tuple(map(str, line)) for line in lines]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, CHECK] if rows else columns)
    for number, row in enumerate(rows, start=1):
        cells = dict(zip(columns, row))
        writer.writerow([*map(guard, row), line_check(cells, number, len(rows))])
    write_whole(path, text.getvalue().encode("utf-8", "surrogatepass"))


def line_check(cells: dict[str, str], number: int, total: int) -> str:
    """The check of a line, whatever the order of its columns."""
    held = json.dumps([number, total, sorted(cells.items())]).encode()
    return f"{number}/{total}-{hashlib.sha256(held).hexdigest()[:8]}"


class Lines(NamedTuple):
    """The lines of a file as they stand there: cells by column, and whether the end of the file is that of a line."""

    path: str | os.PathLike[str]
    columns: list[str]
    cells: list[list[str]]
    ended: bool


def read_lines(path: str | os.PathLike[str], known: Sequence[str], needed: Sequence[str], what: str) -> Lines:
    """The lines of a file with ``needed`` among its columns, and none but the ``known``."""
    text = _decode(path, Path(path).read_bytes(), what)
    ended = text.endswith(("\n", "\r")) and text.count('"') % 2 == 0
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(f"{path} is not {what}: {error}.") from None
    columns = rows[0] if rows else []
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ValueError(
            f"{path} is not {what}: it must have the columns {', '.join(needed)}. Missing: {', '.join(missing)}."
        )
    strange = [name for name in columns if name not in (*known, CHECK)]
    if strange or len(set(columns)) < len(columns):
        said = f"there is no column {strange[0]!r}" if strange else "a column comes twice"
        raise ValueError(f"{path} is not {what}: {said} among {', '.join([*known, CHECK])}.")
    if not ended and len(rows) == 1:
        raise ValueError(f"{path} ends in its first line, and was cut off there.")
    return Lines(path, columns, rows[1:], ended)


def parse_lines(lines: Lines, parse: Callable[[dict[str, str]], T], what: str) -> Iterator[T]:
    """Each line parsed; a last one that was cut off is left out with a warning, any other fault has its number."""
    total, number = 0, 0
    for at, row in enumerate(lines.cells, start=2):
        if not row:
            continue
        number += 1
        try:
            if len(row) != len(lines.columns):
                raise ValueError(f"expected {', '.join(lines.columns)}. Got {row}.")
            cells = {name: unguard(cell.strip() if name == CHECK else cell) for name, cell in zip(lines.columns, row)}
            if CHECK in cells:
                total = _expected_lines(cells, number)
            found = parse(cells)
        except ValueError as error:
            if lines.ended or at <= len(lines.cells):
                raise ValueError(f"{lines.path}, line {at}: {error}") from None
            warn_user(
                f"{lines.path} ends in the middle of line {at}; the {number - 1} {what} before it were read.",
                UserWarning,
            )
            return
        yield found
    if number < total or (CHECK in lines.columns and not total):
        warn_user(f"{lines.path} ends after {number} {what}{f' of {total}' * (total > 0)}.", UserWarning)


def _expected_lines(cells: dict[str, str], number: int) -> int:
    """How many lines there should be, by a line that is whole and the one of this number."""
    given = cells.pop(CHECK)
    total = given.partition("-")[0].partition("/")[2]
    if not total.isdecimal() or line_check(cells, number, int(total)) != given:
        raise ValueError(
            f"the line, or one before it, was damaged or changed ({list(cells.values())}). If you changed it, take the "
            f"column '{CHECK}' out of the file."
        )
    return int(total)


def _decode(path: str | os.PathLike[str], data: bytes, what: str) -> str:
    """Text in UTF-8, also with the mark that some programs put before it, UTF-16, or Latin-1 with a warning."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not {what}: {error}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":  # half a letter
            return data[: error.start].decode("utf-8-sig")
    warn_user(f"{path} is not UTF-8 and was read as Latin-1: letters with accents may look wrong.", UserWarning)
    return data.decode("latin-1")


# -- links -------------------------------------------------------------------------------------------------------------


LINK_COLUMNS = ("first", "second", "link")
CERTAINTY = "certainty"
WORDS = {"must-link": 0, "cannot-link": 1}
READINGS = ("auto", "index", "name")


def read_links(path: str | os.PathLike[str], by: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Must-links and cannot-links of a file, each as (first, second, certainty)."""
    if by not in READINGS:
        raise ValueError(f"'by' must be one of {', '.join(map(repr, READINGS))}. Got {by!r}.")
    found = list(
        parse_lines(read_lines(path, [*LINK_COLUMNS, CERTAINTY], LINK_COLUMNS, "a file of links"), _link, "links")
    )
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
    first, second, word = (cells[name] for name in LINK_COLUMNS)
    if not first or not second or word not in WORDS:
        raise ValueError(f"expected first, second and 'must-link' or 'cannot-link'. Got {[first, second, word]}.")
    return WORDS[word], first, second, float(cells.get(CERTAINTY) or 1)


# -- answers to questions about pairs of objects -----------------------------------------------------------------------


ANSWERS = ("same", "different", "unknown")  # none begins another one, so that a word cut off is seen to be so
SPELLINGS = {word: word for word in ANSWERS} | {"don't know": "unknown"}
ANSWER_COLUMNS = ("first", "second", "answer")


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
    write_lines(path, ANSWER_COLUMNS, ((names[first], names[second], answer) for first, second, answer in answers))


def read_answers(path: str | os.PathLike[str], names: Sequence[str]) -> list[Answer]:
    """Answers of a file about the objects of these names; a last line that was cut off is left out, with a warning."""
    rows = {name: row for row, name in enumerate(names)}

    def parse(cells: dict[str, str]) -> Answer:
        first, second, word = (cells[name] for name in ANSWER_COLUMNS)
        answer = parse_answer(word)
        for name in (first, second):
            if name not in rows:
                raise ValueError(f"there is no object {name!r} in the table. Are these answers about other data?")
        return Answer(rows[first], rows[second], answer)

    return list(parse_lines(read_lines(path, ANSWER_COLUMNS, ANSWER_COLUMNS, "a file of answers"), parse, "answers"))
