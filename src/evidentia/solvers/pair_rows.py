"""Pairs of objects as the rows of a symmetric table: each pair stands in the rows of both of its objects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array


class PairRows(NamedTuple):
    """Object i has the partners ``partner[start[i]:start[i + 1]]``, in order, by the pairs of those ``number``."""

    start: np.ndarray
    partner: np.ndarray
    number: np.ndarray


def pair_rows(pairs: np.ndarray, n_objects: int) -> PairRows:
    """Rows of pairs ``(n_pairs, 2)``; one that is listed twice stands twice in each. Time grows with their number.

    Examples
    --------
    >>> pair_rows(np.array([[2, 0], [1, 2]]), 3)
    PairRows(start=array([0, 1, 2, 4]), partner=array([2, 2, 0, 1]), number=array([0, 1, 0, 1]))
    """
    row, column = np.concatenate([pairs, pairs[:, ::-1]]).T
    order = _places(column, n_objects).indices
    rows = _places(row[order], n_objects)
    order = order[rows.indices]
    return PairRows(rows.indptr.astype(np.int64), column[order], order % max(len(pairs), 1))


def _places(key: np.ndarray, n_keys: int) -> csr_array:
    """Places of each key, in order: a table of key and place, whose rows are found by counting and not by sorting."""
    return csr_array((np.ones(len(key), np.int8), (key, np.arange(len(key)))), shape=(n_keys, len(key)))
