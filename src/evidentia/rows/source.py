"""Rows from anywhere: a source has handles, which are small and can be sent anywhere, and reads the rows of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

PIECE_ROWS = 32_768
PIECE_BYTES = 4 << 20  # a wide table has pieces of fewer rows
PIECES_AT_WORK = 8  # as much memory as so many pieces is needed to work on one


def piece_rows(n_features: int) -> int:
    """Rows that are worked on at a time: what they need stays near the cache."""
    return int(np.clip(PIECE_BYTES // (8 * max(n_features, 1)), 256, PIECE_ROWS))


class Piece(NamedTuple):
    """Some rows of a source: numbers, weights (None: all one), and where they came from."""

    table: np.ndarray
    weight: np.ndarray | None
    place: str  # of the first row, up to its number: "row " or "cells.parquet, row group 3, row "
    first: int  # number of the first row there

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self.table) if self.weight is None else self.weight.sum())

    def where(self, row: int) -> str:
        """Where a row of the piece is, in words."""
        return f"{self.place}{self.first + row}"


class RowSource(ABC):
    """A table whose rows are read piece by piece, as often as asked, each time the same.

    ``handles`` name parts of the table, in order; :meth:`read` gives the rows of one of them. A source can be pickled,
    and is small then: another thread, process or machine reads its part by itself.
    """

    in_memory = False
    handles: Sequence[Any]
    n_features: int
    n_rows: int | None = None  # when known before the rows are read
    names: tuple[str, ...] | None = None

    @abstractmethod
    def read(self, handle: Any) -> Iterator[Piece]:
        """Rows of a handle in pieces of at most :func:`piece_rows` rows; none of weight zero."""

    @abstractmethod
    def fingerprint(self) -> str:
        """What tells this table from another, or from itself after a change."""

    @property
    def words(self) -> str:
        """What it is, for a person."""
        n = "rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"{n} of {self.n_features} columns in {len(self.handles)} parts"

    @property
    def working_bytes(self) -> int:
        """Memory that one who reads and works on a handle needs: some pieces, and what is made of them."""
        return PIECES_AT_WORK * 8 * piece_rows(self.n_features) * self.n_features

    def bare(self) -> Self:
        """A copy that does not list the handles: what is sent elsewhere, together with a few of them."""
        other = copy(self)
        other.handles = ()
        return other

    def mapped(self, prepare: Callable[[Piece], Any]) -> MappedRows:
        """The same rows, each piece made into what ``prepare`` gives: once in memory, in every pass elsewhere."""
        return MappedRows(self, prepare)


class MappedRows:
    """Pieces of a source as a function prepares them; see :meth:`RowSource.mapped`."""

    def __init__(self, source: RowSource, prepare: Callable[[Piece], Any]):
        self.source, self.prepare, self.handles = source, prepare, source.handles
        self.in_memory = source.in_memory
        self._kept: dict[Any, list[Any]] = {}

    @property
    def working_bytes(self) -> int:
        return self.source.working_bytes

    def bare(self) -> MappedRows:
        return MappedRows(self.source.bare(), self.prepare)

    def read(self, handle: Any) -> Iterator[Any]:
        if not self.in_memory:
            yield from map(self.prepare, self.source.read(handle))
            return
        if handle not in self._kept:
            self._kept[handle] = list(map(self.prepare, self.source.read(handle)))
        yield from self._kept[handle]


class ArrayRows(RowSource):
    """Rows of an array in memory."""

    in_memory = True

    def __init__(self, table: np.ndarray, weight: np.ndarray | None = None, names: tuple[str, ...] | None = None):
        self.table, self.weight, self.names = table, weight, names
        self.n_rows, self.n_features = table.shape
        size = piece_rows(self.n_features)
        self.handles = [(start, min(start + size, len(table))) for start in range(0, len(table), size)]

    def read(self, handle: tuple[int, int]) -> Iterator[Piece]:
        part = slice(*handle)
        weight = None if self.weight is None else self.weight[part]
        if weight is None or weight.all():
            yield Piece(self.table[part], weight, "row ", handle[0])
        elif weight.any():
            used = np.flatnonzero(weight)
            yield Piece(self.table[part][used], weight[used], "row ", handle[0])

    def fingerprint(self) -> str:
        raise TypeError("A table in memory is gone when its process ends, so that there is nothing to go on with.")


def gathered(source: RowSource) -> ArrayRows:
    """All rows of a source in memory."""
    pieces = [piece for handle in source.handles for piece in source.read(handle)]
    table = np.concatenate([piece.table for piece in pieces]) if pieces else np.empty((0, source.n_features))
    weights = [np.ones(len(piece.table)) if piece.weight is None else piece.weight for piece in pieces]
    weighted = any(piece.weight is not None for piece in pieces)
    return ArrayRows(table, np.concatenate(weights) if weighted else None, source.names)
