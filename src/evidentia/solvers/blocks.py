"""Walk over the rows of a table in chunks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK_BYTES = 1 << 20


def row_blocks(n_rows: int, width: int, n_bytes: int | None = None) -> Iterator[slice]:
    """Slices of rows such that a block of ``width`` doubles a row fills about ``n_bytes``, a megabyte.

    Examples
    --------
    >>> [block.stop - block.start for block in row_blocks(40_000, 8)]
    [16384, 16384, 7232]
    """
    size = max(16, (n_bytes or BLOCK_BYTES) // (8 * max(width, 1)))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
