"""Rows of a Dask Array or DataFrame, block by block; Dask is imported only when such a collection came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np

from evidentia.rows.source import Chunk, RowSource, chunk_rows

_preloaded: ContextVar[Any] = ContextVar("block")  # where Dask has computed a block, and the work on it goes on


@contextmanager
def preloaded(block: Any) -> Iterator[None]:
    """Let a source that was sent without its blocks read this one."""
    token = _preloaded.set(block)
    try:
        yield
    finally:
        _preloaded.reset(token)


class DaskRows(RowSource):
    """Rows of a Dask collection.

    In this process one block after the other is computed, by the thread that works on it; on a client, the scheduler
    computes them, and none stays longer than the work on it takes. What blocks have in common, such as a mean
    that is subtracted from all, is computed for each of them here, and once for a pass on a client.

    Parameters
    ----------
    collection : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame
        Numbers. Lengths of the blocks need not be known; a block has all columns.
    """

    def __init__(self, collection: Any):
        from dask.base import tokenize

        if hasattr(collection, "chunks"):
            _check_array(collection)
            lengths, self.n_features = collection.chunks[0], collection.shape[1]
            blocks = collection.to_delayed()[:, 0].tolist()
            if not np.isnan(lengths).any():
                self.n_rows, self._longest = int(sum(lengths)), int(max(lengths, default=0))
        else:
            _check_frame(collection)
            self.names = tuple(map(str, collection.columns))
            self.n_features = len(self.names)
            blocks = collection.to_delayed()
        self._token = tokenize(collection)
        self.collection = collection  # blocks that were persisted are let go with it
        self.handles = list(range(len(blocks)))
        self._blocks: Sequence[Any] | None = blocks
        self._graph: dict[Any, Any] = dict(blocks[0].dask) if blocks else {}

    _longest = 0  # rows of the longest block, where lengths are known

    def read(self, handle: int) -> Iterator[Chunk]:
        rows = _preloaded.get() if self._blocks is None else self._compute(self._blocks[handle])
        size = chunk_rows(self.n_features)
        for start in range(0, len(rows), size):
            part = rows.iloc[start : start + size] if hasattr(rows, "iloc") else rows[start : start + size]
            yield Chunk(_numbers(part), None, f"block {handle}, row ", start)

    def _compute(self, block: Any) -> Any:
        from dask.local import get_sync
        from dask.optimization import cull

        from evidentia.rows.passes import active_client

        if (client := active_client()) is not None:  # blocks that were persisted are there
            future = client.compute(block)
            try:
                return future.result()
            finally:
                future.release()
        return get_sync(cull(self._graph, [block.key])[0], block.key)

    def block(self, handle: int) -> Any:
        return None if self._blocks is None else self._blocks[handle]

    @property
    def working_bytes(self) -> int:
        """Return the bytes of two blocks, the current and the next one, and of their chunks."""
        return super().working_bytes + 2 * 8 * self._longest * self.n_features

    def without_handles(self) -> Self:
        other = super().without_handles()
        other._graph, other._blocks, other.collection = {}, None, None
        return other

    def fingerprint(self) -> str:
        return f"dask {self._token}, {self.n_rows} rows, {self.n_features} columns"


def _check_array(X: Any) -> None:
    if X.ndim != 2:
        raise ValueError(f"A Dask array of rows must have 2 dimensions, rows and columns. Got {X.ndim}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"A Dask array of rows must hold numbers. Got dtype {X.dtype}.")
    if np.isnan(X.shape[1]):
        raise ValueError("The number of columns of the Dask array is not known: call X.compute_chunk_sizes() first.")
    if X.numblocks[1] != 1:
        raise ValueError(
            f"Each block of a Dask array of rows must have all columns, but these are cut into {X.numblocks[1]} parts. "
            "Give X.rechunk({1: -1})."
        )


def _check_frame(X: Any) -> None:
    if X.ndim != 2:
        raise ValueError("A column of a Dask DataFrame is no table: give X.to_frame().")
    text = [str(name) for name, kind in zip(X.columns, X.dtypes) if getattr(kind, "kind", "O") not in "biuf"]
    if text:
        raise ValueError(
            f"The rows must be numbers, but these columns are not: {', '.join(text[:5])}"
            f"{f' and {len(text) - 5} more' if len(text) > 5 else ''}. Drop them, or encode them as numbers."
        )


def _numbers(part: Any) -> np.ndarray:
    """Return rows as doubles, NaN for what is missing in a frame."""
    if hasattr(part, "to_numpy"):
        return part.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.ascontiguousarray(part, dtype=np.float64)
