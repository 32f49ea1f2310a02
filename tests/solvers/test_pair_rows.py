"""Pairs as rows of a symmetric table, against a sort of all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evidentia.solvers.pair_rows import pair_rows


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_every_pair_stands_in_both_rows_as_often_as_it_is_listed(pairs):
    start, partner, number = pair_rows(np.array(pairs, dtype=np.int64).reshape(-1, 2), 7)
    entries = [(i, j, k) for k, (i, j) in enumerate(pairs)] + [(j, i, k) for k, (i, j) in enumerate(pairs)]
    entries.sort(key=lambda entry: entry[:2])
    assert list(zip(np.repeat(np.arange(7), np.diff(start)).tolist(), partner.tolist(), number.tolist())) == entries
    assert start[0] == 0
    assert start[-1] == 2 * len(pairs)
    assert start.dtype == partner.dtype == np.int64
