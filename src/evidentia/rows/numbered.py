"""Rows by their number, which is their position in the order of the source: to pick some, and to leave some out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evidentia.rows.passes import each_handle
from evidentia.rows.source import ArrayRows, Piece, RowSource


def first_numbers(source: RowSource) -> np.ndarray:
    """Number of the first row of each handle, and of all rows: one pass that counts."""
    return np.concatenate([[0], np.cumsum(list(each_handle(_count, source)), dtype=np.int64)])


def _count(source: RowSource, handle: Any) -> int:
    return sum(len(piece.table) for piece in source.read(handle))


def rows_at(source: RowSource, numbers: np.ndarray, first: np.ndarray | None = None) -> ArrayRows:
    """Some rows, in memory, by rising number; ``first`` as :func:`first_numbers` gives it."""
    if isinstance(source, ArrayRows):
        return ArrayRows(source.table[numbers], None if source.weight is None else source.weight[numbers])
    first = first_numbers(source) if first is None else first
    tables, weights = [np.empty((0, source.n_features))], [np.empty(0)]
    for handle, begin, end in zip(source.handles, first, first[1:]):
        wanted = numbers[(numbers >= begin) & (numbers < end)] - begin
        for piece, places in _parts(source.read(handle), wanted) if len(wanted) else ():
            tables.append(piece.table[places])
            weights.append(np.ones(len(places)) if piece.weight is None else piece.weight[places])
    return ArrayRows(np.concatenate(tables), np.concatenate(weights))


def rows_without(source: RowSource, numbers: np.ndarray, first: np.ndarray | None = None) -> RowSource:
    """All rows but some; ``first`` as :func:`first_numbers` gives it."""
    if isinstance(source, ArrayRows):
        weight = np.ones(len(source.table)) if source.weight is None else source.weight.copy()
        weight[numbers] = 0
        return ArrayRows(source.table, weight, source.names)
    return Without(source, numbers, first_numbers(source) if first is None else first)


class Without(RowSource):
    """Rows of another source, some of them left out."""

    def __init__(self, source: RowSource, numbers: np.ndarray, first: np.ndarray):
        self.source, self.n_features, self.names = source, source.n_features, source.names
        self.in_memory = source.in_memory
        self.n_rows = None if source.n_rows is None else source.n_rows - len(numbers)
        cuts = np.searchsorted(numbers, first)
        self.handles = [
            (handle, tuple((numbers[low:high] - begin).tolist()))
            for handle, begin, low, high in zip(source.handles, first, cuts, cuts[1:])
        ]

    def read(self, handle: tuple[Any, tuple[int, ...]]) -> Iterator[Piece]:
        of_source, left_out = handle
        for piece, places in _parts(self.source.read(of_source), np.array(left_out, dtype=np.int64)):
            kept = np.delete(np.arange(len(piece.table)), places) if len(places) else slice(None)
            weight = None if piece.weight is None else piece.weight[kept]
            if len(places) == len(piece.table):
                continue
            yield piece._replace(table=piece.table[kept], weight=weight)

    def fingerprint(self) -> str:
        return f"{self.source.fingerprint()} without {self.handles}"


def _parts(pieces: Iterator[Piece], numbers: np.ndarray) -> Iterator[tuple[Piece, np.ndarray]]:
    """Each piece of a handle with the places in it of rows numbered from the beginning of the handle."""
    begin = 0
    for piece in pieces:
        end = begin + len(piece.table)
        yield piece, numbers[(numbers >= begin) & (numbers < end)] - begin
        begin = end
