"""Rows of a sparse matrix: those of a chunk are made dense, never all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evidentia.rows.source import Chunk, RowSource, chunk_bounds, chunk_rows


def is_sparse(rows: RowSource) -> bool:
    """Whether rows are those of a sparse matrix, perhaps with others made of them: memory has room for their masses."""
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
