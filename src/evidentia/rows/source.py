"""Rows from anywhere: a source has handles, which are small and can be sent anywhere, and reads the rows of each."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

__all__ = ["RowSource", "TransformedRows"]

CHUNK_ROWS = 32_768
CHUNK_BYTES = 4 << 20  # a wide table has chunks of fewer rows
CHUNKS_AT_WORK = 8  # as much memory as so many chunks is needed to work on one
MOST_HANDLES = 2_000  # a pass over more of them would be spent on handing them out


def chunk_rows(n_features: int) -> int:
    """Return the number of rows that are worked on at a time: what they need stays near the cache."""
    return min(max(CHUNK_BYTES // (8 * max(n_features, 1)), 256), CHUNK_ROWS)


def chunk_bounds(n_rows: int, n_features: int) -> list[tuple[int, int]]:
    """Return the handles of an array, (start, stop): a chunk each, or several where there are very many.

    Examples
    --------
    >>> chunk_bounds(70_000, 4)
    [(0, 32768), (32768, 65536), (65536, 70000)]
    """
    size = chunk_rows(n_features)
    size *= max(1, -(-n_rows // (size * MOST_HANDLES)))
    return [(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


class Chunk(NamedTuple):
    """Some rows of a source: numbers, weights (None: all one), and where they came from."""

    table: np.ndarray
    weight: np.ndarray | None
    place: str  # of the first row, up to its number: "row " or "cells.parquet, row group 3, row "
    first: int  # number of the first row there
    further: tuple[tuple[int, str, int], ...] = ()  # row where another place begins, that place, and the number there
    used: np.ndarray | None = None  # which rows these were before those of weight zero were left out

    @property
    def total(self) -> float:
        """Return the sum of the weights."""
        return float(len(self.table) if self.weight is None else self.weight.sum())

    def where(self, row: int) -> str:
        """Return where a row of the chunk is, in words."""
        row = row if self.used is None else int(self.used[row])
        begun = [one for one in self.further if one[0] <= row]
        start, place, first = begun[-1] if begun else (0, self.place, self.first)
        return f"{place}{first + row - start}"

    def without_zero_weights(self) -> Iterator[Chunk]:
        """Yield the chunk without its rows of weight zero; nothing if it has no others."""
        if self.weight is None or self.weight.all():
            yield self
        elif self.weight.any():
            used = np.flatnonzero(self.weight)
            yield self._replace(table=self.table[used], weight=self.weight[used], used=used)


def drop_zero_weights(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Return chunks without their rows of weight zero."""
    return (counted for chunk in chunks for counted in chunk.without_zero_weights())


class RowSource(ABC):
    """A table whose rows are read chunk by chunk, as often as asked, each time the same.

    ``handles`` name parts of the table, in order, and are hashable; :meth:`read` gives the rows of one of them. A
    source can be pickled, and is small then: another thread, process or machine reads its part by itself.
    """

    in_memory = False
    derived = False  # whether it has the fingerprint of another source, whose rows it changes
    handles: Sequence[Any]
    n_features: int
    n_rows: int | None = None  # when known before the rows are read
    names: tuple[str, ...] | None = None

    @abstractmethod
    def read(self, handle: Any) -> Iterator[Chunk]:
        """Yield the rows of a handle in chunks of at most ``chunk_rows(n_features)`` rows."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a text that differs for other tables, and for this one after a change."""

    @property
    def words(self) -> str:
        """Describe the source for a person."""
        n = "rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"{n} of {self.n_features} columns in {len(self.handles)} parts"

    @property
    def working_bytes(self) -> int:
        """Return the bytes that work on a handle needs: some chunks, and what is made of them."""
        return CHUNKS_AT_WORK * 8 * chunk_rows(self.n_features) * self.n_features

    def without_handles(self) -> Self:
        """Return a copy without the list of handles, which is sent elsewhere together with a few of them."""
        other = copy(self)
        other.handles = ()
        return other

    def block(self, handle: Any) -> Any:
        """Return what Dask computes the rows of a handle from; None if they are read."""
        return None

    @property
    def changes(self) -> Any:
        """Return what is done to the rows with this fingerprint: both together tell two passes apart."""
        return ()

    def map_chunks(self, prepare: Callable[[Chunk], Any]) -> MappedRows:
        """Return the rows of weight above zero, prepared: once for a table in memory, else in every pass."""
        return MappedRows(self, prepare)


class DerivedRows(RowSource):
    """Base of sources that are made from the rows of another source."""

    derived = True
    source: RowSource

    @property
    def working_bytes(self) -> int:
        return self.source.working_bytes

    def without_handles(self) -> Self:
        other = super().without_handles()
        other.source = self.source.without_handles()
        return other

    def block(self, handle: Any) -> Any:
        return self.source.block(handle)

    def fingerprint(self) -> str:
        return self.source.fingerprint()


class MappedRows(DerivedRows):
    """Chunks of a source as a function prepares them; see :meth:`RowSource.map_chunks`."""

    def __init__(self, source: RowSource, prepare: Callable[[Chunk], Any]):
        self.source, self.prepare, self.handles = source, prepare, source.handles
        self.in_memory, self.n_features = source.in_memory, source.n_features
        self._cache: dict[Any, list[Any]] = {}

    @property
    def changes(self) -> Any:
        return self.source.changes, self.prepare

    def read(self, handle: Any) -> Iterator[Any]:
        if not self.in_memory:
            yield from map(self.prepare, drop_zero_weights(self.source.read(handle)))
            return
        if handle not in self._cache:
            self._cache[handle] = list(map(self.prepare, drop_zero_weights(self.source.read(handle))))
        yield from self._cache[handle]


class TransformedRows(DerivedRows):
    """Rows of another source, changed by something that has ``transform(table)``."""

    def __init__(self, source: RowSource, change: Any):
        self.source, self.change = source, change
        self.in_memory, self.handles, self.n_rows = source.in_memory, source.handles, source.n_rows
        self.n_features = change.transform(np.zeros((1, source.n_features))).shape[1]
        self.names = source.names if self.n_features == source.n_features else None

    @property
    def changes(self) -> Any:
        return self.source.changes, self.change

    def read(self, handle: Any) -> Iterator[Chunk]:
        for chunk in self.source.read(handle):
            yield chunk._replace(table=self.change.transform(chunk.table))


class ArrayRows(RowSource):
    """Rows of an array in memory; chunks of one in single precision are doubles."""

    in_memory = True

    def __init__(self, table: np.ndarray, weight: np.ndarray | None = None, names: tuple[str, ...] | None = None):
        self.table, self.weight, self.names = table, weight, names
        self.n_rows, self.n_features = table.shape
        self.handles = chunk_bounds(*table.shape)

    def read(self, handle: tuple[int, int]) -> Iterator[Chunk]:
        start, stop = handle
        size = chunk_rows(self.n_features)
        for first in range(start, stop, size):
            part = slice(first, min(first + size, stop))
            table = np.asarray(self.table[part], dtype=np.float64)
            yield Chunk(table, None if self.weight is None else self.weight[part], "row ", first)

    def fingerprint(self) -> str:
        raise TypeError("A table in memory is gone when its process ends, so that there is nothing to go on with.")


def same_rows(one: RowSource, other: RowSource) -> bool:
    """Return whether both sources are known to have the same chunks."""
    if one is other:
        return True
    known = type(one) is type(other) and not (one.in_memory or one.derived)
    return known and one.fingerprint() == other.fingerprint()


def gather_rows(source: RowSource, check: Callable[[Chunk], Any] = lambda chunk: None) -> ArrayRows:
    """Read all rows of a source into memory, each chunk after a check."""
    chunks = [chunk for handle in source.handles for chunk in source.read(handle)]
    for chunk in chunks:
        check(chunk)
    table = np.concatenate([chunk.table for chunk in chunks]) if chunks else np.empty((0, source.n_features))
    weights = [np.ones(len(chunk.table)) if chunk.weight is None else chunk.weight for chunk in chunks]
    weighted = any(chunk.weight is not None for chunk in chunks)
    return ArrayRows(table, np.concatenate(weights) if weighted else None, source.names)


def in_memory(source: RowSource) -> ArrayRows:
    """Return the source itself if it is a table in memory, else read all its rows."""
    return source if isinstance(source, ArrayRows) else gather_rows(source)


def is_sparse(rows: RowSource) -> bool:
    """Return whether rows are made from a sparse matrix: memory has room for their masses."""
    while not isinstance(rows, SparseRows) and hasattr(rows, "source"):
        rows = rows.source
    return isinstance(rows, SparseRows)


class SparseRows(RowSource):
    """Rows of a matrix or array of SciPy in any sparse format."""

    def __init__(self, matrix: Any, weight: np.ndarray | None = None):
        self.matrix, self.weight = matrix.tocsr(), weight
        self.n_rows, self.n_features = matrix.shape
        self.handles = chunk_bounds(*matrix.shape)

    def read(self, handle: tuple[int, int]) -> Iterator[Chunk]:
        start, stop = handle
        size = chunk_rows(self.n_features)
        for first in range(start, stop, size):
            part = slice(first, min(first + size, stop))
            rows = np.asarray(self.matrix[part].toarray(), dtype=np.float64)
            yield Chunk(rows, None if self.weight is None else self.weight[part], "row ", first)

    def fingerprint(self) -> str:
        raise TypeError("A table in memory is gone when its process ends, so that there is nothing to go on with.")


# -- tables of all kinds -----------------------------------------------------------------------------------------------


def as_rows(X: Any) -> RowSource | None:
    """Return the rows of a source, a Dask collection or a sparse matrix, read chunk by chunk; None for all else."""
    if isinstance(X, RowSource):
        return X
    sparse = sys.modules.get("scipy.sparse")  # whoever has such a matrix has loaded it
    if sparse is not None and sparse.issparse(X):
        return SparseRows(X)
    if not is_collection(X):
        return None
    from evidentia.rows.dask import DaskRows

    return DaskRows(X)


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection of rows; Dask is not imported for this."""
    array, frame = sys.modules.get("dask.array"), sys.modules.get("dask.dataframe")
    if array is not None and isinstance(X, array.Array):
        return True
    return frame is not None and isinstance(X, frame.DataFrame | frame.Series)
