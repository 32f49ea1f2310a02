"""Blocks of rows cover a table once, and are as large as their memory allows."""

import pytest

from evidentia.solvers.blocks import row_blocks


@pytest.mark.parametrize(
    ("n_rows", "width", "n_bytes", "sizes"),
    [
        (300_000, 1, None, [131_072, 131_072, 37_856]),
        (140_000, 0, None, [131_072, 8_928]),
        (40, 10**9, None, [16, 16, 8]),
        (10, 2, 512, [10]),
        (70, 2, 512, [32, 32, 6]),
        (0, 3, None, []),
    ],
)
def test_blocks_by_hand(n_rows, width, n_bytes, sizes):
    blocks = list(row_blocks(n_rows, width, n_bytes))
    assert [block.stop - block.start for block in blocks] == sizes
    assert [i for block in blocks for i in (block.start, block.stop)][1:-1:2] == [block.start for block in blocks][1:]
