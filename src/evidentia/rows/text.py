"""Rows of tables in text, ``.csv`` and ``.tsv``; a file is read from its beginning to its end by one worker."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evidentia.rows.files import (
    HANDLE_CHUNKS,
    Block,
    Columns,
    FileRows,
    Files,
    check_other_file,
    choose_columns,
    damaged_message,
    group_neighbors,
    no_rows,
    reading,
    whole_file,
)
from evidentia.rows.source import CHUNK_BYTES, chunk_rows

LOOK_ROWS = 1_000  # of each file, to see which columns hold numbers
BROKEN = (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, EOFError, OSError, zlib.error, csv.Error)


class Head(NamedTuple):
    """How a table in text is written."""

    names: tuple[str, ...]
    separator: str
    header: int | None  # the line of the names; None when the first line holds numbers

    def options(self) -> dict[str, Any]:
        return {"sep": self.separator, "header": self.header, "names": list(self.names), "low_memory": False}


class TextRows(FileRows):
    """Rows of tables in text. A handle is one or several files, (start, stop); the rows are not counted beforehand."""

    def __init__(self, files: Files, heads: Sequence[Head], columns: Columns):
        self.files, self.columns, self.names = files, columns, columns.names
        self.heads = list(dict.fromkeys(heads))
        self.head_of = [self.heads.index(head) for head in heads]
        self.n_features = len(columns.names)
        self.handles = group_neighbors(files.stamps[:, 0], HANDLE_CHUNKS * CHUNK_BYTES)

    def chosen_columns(self) -> Any:
        return self.columns

    def blocks(self, handle: tuple[int, int]) -> Iterator[Block]:
        for at in range(*handle):
            yield from reading(self.files.path(at), partial(self.files.check, at), self._rows(at), BROKEN)

    def _rows(self, at: int) -> Iterator[Block]:
        path, place, first = self.files.path(at), f"{self.files.names[at]}, row ", 0
        wanted, d = self.columns.all, self.n_features
        for frame in self._frames(at):
            found = frame[wanted]
            try:
                table = found.to_numpy(dtype=np.float64)
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}{_first_text(found, first)} Correct it, or leave it empty.") from error
            weight = None if self.columns.weight is None else table[:, d].copy()
            yield Block(np.ascontiguousarray(table[:, :d]), weight, place, first)
            first += len(frame)

    def _frames(self, at: int) -> Iterator[pd.DataFrame]:
        # All columns: where some are left out, pandas does not see that a line has too many cells.
        options = self.heads[self.head_of[at]].options()
        with pd.read_csv(self.files.path(at), chunksize=chunk_rows(self.n_features), **options) as frames:
            yield from map(_check_frame, frames)


def _check_frame(frame: pd.DataFrame) -> pd.DataFrame:
    if not isinstance(frame.index, pd.RangeIndex):  # the first cells of each line were taken for names of the rows
        raise pd.errors.ParserError(f"lines have more cells than the {frame.shape[1]} of the first line")
    return frame


def _first_text(frame: pd.DataFrame, first: int) -> str:
    """Where the first cell is that is no number."""
    for name, column in frame.items():
        bad = pd.to_numeric(column, errors="coerce").isna() & column.notna()
        if bad.any():
            row = int(bad.to_numpy().argmax())
            return f", row {first + row}, column {name!r} holds {column.iloc[row]!r}, which is not a number."
    return f", rows {first} and following hold something that is not a number."


def open_text(paths: Sequence[str], columns: Any, weight: Any) -> TextRows:
    """Rows of one or several tables in text."""
    files = Files(paths)
    chosen, known, heads, empty = None, {}, [], True
    for path in paths:
        try:
            head = _head(whole_file(path))
            sample = _check_frame(pd.read_csv(path, nrows=LOOK_ROWS, **head.options()))
        except BROKEN as error:
            raise ValueError(damaged_message(path, error)) from error
        kinds = {str(name): _kind(column) for name, column in sample.items()}
        if chosen is None:
            known, chosen = kinds, choose_columns(path, kinds, columns, weight)
        else:
            check_other_file(path, kinds, paths[0], known, chosen, columns is not None)
        heads.append(head)
        empty = empty and sample.empty
    if empty:
        raise no_rows(files)
    assert chosen is not None
    return TextRows(files, heads, chosen)


def _head(path: str) -> Head:
    ending = path.lower()
    opened = gzip.open if ending.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        line = next((line for line in file if line.strip()), "")
    separator = "\t" if ending.removesuffix(".gz").endswith(".tsv") else max(",;\t", key=line.count)
    cells = next(csv.reader([line], delimiter=separator), [])
    if not counts_columns(cells) and all(map(_is_number, cells)):
        return Head(tuple(f"x{at}" for at in range(len(cells))), separator, None)
    if len(set(cells)) < len(cells):
        raise ValueError(f"{path} has several columns with the name {max(cells, key=cells.count)!r}. Rename them.")
    return Head(tuple(cells), separator, 0)


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether a first line is 0, 1, 2 and so on: the names that pandas gives to columns without names.

    Examples
    --------
    >>> counts_columns(["0", "1", "2"]), counts_columns(["1", "2"]), counts_columns(["0"])
    (True, False, False)
    """
    return len(cells) > 1 and list(cells) == [str(at) for at in range(len(cells))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _kind(column: pd.Series) -> str | None:
    """What a column holds, if not numbers."""
    if column.dtype.kind in "iuf" or column.isna().all():
        return None
    return "true or false" if column.dtype.kind == "b" else "text"
