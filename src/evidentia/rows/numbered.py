"""Rows by their number, which is their position in the order of a source: to pick some, and to leave some out."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np

from evidentia.rows.passes import map_handles
from evidentia.rows.source import ArrayRows, Chunk, DerivedRows, RowSource


class NumberedRows(DerivedRows):
    """Rows of another source, which one pass has counted: a chunk knows the number of its first row among all."""

    n_rows: int

    def __init__(self, source: RowSource):
        self.source, self.in_memory = source, source.in_memory
        self.n_features, self.names = source.n_features, source.names
        counts = np.fromiter(map_handles(_count, source), dtype=np.int64)
        ends = np.cumsum(counts)
        self.n_rows = int(counts.sum())
        nothing: tuple[int, ...] = ()
        self.handles = [
            (handle, begin, end, nothing)
            for handle, begin, end in zip(source.handles, (ends - counts).tolist(), ends.tolist())
        ]

    @property
    def changes(self) -> Any:
        return self.source.changes, [left_out for *_, left_out in self.handles]

    def without(self, numbers: np.ndarray) -> Self:
        """Return the rows without some, given by rising number; a chunk keeps the number of its first row."""
        other = copy(self)
        other.n_rows = self.n_rows - len(numbers)
        other.handles = [
            (handle, begin, end, tuple(_slice_between(numbers, begin, end).tolist()))
            for handle, begin, end, _ in self.handles
        ]
        return other

    def at(self, numbers: np.ndarray) -> ArrayRows:
        """Return some rows, by rising number, in memory."""
        tables, weights = [np.empty((0, self.n_features))], [np.empty(0)]
        for handle in self.handles:
            wanted = _slice_between(numbers, *handle[1:3])
            for chunk in self.read(handle) if len(wanted) else ():
                places = _slice_between(wanted, chunk.first, chunk.first + len(chunk.table)) - chunk.first
                tables.append(chunk.table[places])
                weights.append(np.ones(len(places)) if chunk.weight is None else chunk.weight[places])
        return ArrayRows(np.concatenate(tables), np.concatenate(weights))

    def read(self, handle: tuple[Any, int, int, tuple[int, ...]]) -> Iterator[Chunk]:
        of_source, begin, _, left_out = handle
        for chunk in self.source.read(of_source):
            end = begin + len(chunk.table)
            places = _slice_between(np.array(left_out, dtype=np.int64), begin, end) - begin
            if not len(places):
                yield chunk._replace(place="row ", first=begin)
            elif len(places) < len(chunk.table):
                kept = np.delete(np.arange(len(chunk.table)), places)
                weight = None if chunk.weight is None else chunk.weight[kept]
                yield Chunk(chunk.table[kept], weight, "row ", begin)
            begin = end

    def block(self, handle: tuple[Any, int, int, tuple[int, ...]]) -> Any:
        return self.source.block(handle[0])


def _count(source: RowSource, handle: Any) -> int:
    return sum(len(chunk.table) for chunk in source.read(handle))


def _slice_between(numbers: np.ndarray, begin: int, end: int) -> np.ndarray:
    return numbers[slice(*np.searchsorted(numbers, [begin, end]))]


def rows_apart(source: RowSource, numbers: np.ndarray) -> tuple[ArrayRows, RowSource]:
    """Return some rows, by rising number, in memory, and the source without them."""
    if not isinstance(source, ArrayRows):
        counted = source if isinstance(source, NumberedRows) else NumberedRows(source)
        return counted.at(numbers), counted.without(numbers)
    weight = np.ones(len(source.table)) if source.weight is None else source.weight.copy()
    some = ArrayRows(source.table[numbers], weight[numbers])
    weight[numbers] = 0
    return some, ArrayRows(source.table, weight, source.names)
