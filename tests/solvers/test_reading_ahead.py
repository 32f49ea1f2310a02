"""Asking for numbers early changes no number, and is an instruction where code is compiled."""

import numba
import numpy as np
import pytest

from evidentia.solvers.compiling import read_ahead
from evidentia.solvers.posterior_sums import AHEAD, BLOCK, PER_LINE, add_posterior_sums, in_blocks


def test_it_is_one_instruction_and_may_ask_beyond_the_end():
    ask = read_ahead.make()

    @numba.njit
    def last_after_asking(table):
        ask(table, 3)
        ask(table, table.size + 10_000)
        return table[1, 1]

    assert last_after_asking(np.array([[1.0, 2.0], [3.0, 4.5]])) == 4.5
    if not numba.config.DISABLE_JIT:  # else it is nothing
        (code,) = last_after_asking.inspect_llvm().values()
        assert "call void @llvm.prefetch" in code


@pytest.mark.parametrize("n_rows", [BLOCK, 3 * BLOCK + 5, 40 * BLOCK])
def test_blocks_begin_with_a_line_of_the_cache(n_rows):
    blocks = in_blocks(np.random.default_rng(0).normal(size=(n_rows, 3)))
    assert blocks.ctypes.data % (8 * PER_LINE) == 0
    assert blocks[0, 1].ctypes.data % (8 * PER_LINE) == 0


def test_sums_of_blocks_that_are_asked_for_are_those_of_each_by_itself():
    rng = np.random.default_rng(1)
    rows, theta = rng.normal(size=(20 * BLOCK, 10)), rng.normal(size=(3, 11))
    assert rows.size > 4 * AHEAD
    together, apart = np.zeros_like(theta), np.zeros_like(theta)
    add_posterior_sums(in_blocks(rows), len(rows), theta, np.empty(0), together)
    for start in range(0, len(rows), BLOCK):
        add_posterior_sums(in_blocks(rows[start : start + BLOCK]), BLOCK, theta, np.empty(0), apart)
    assert together.tobytes() == apart.tobytes()
