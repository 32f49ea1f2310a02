"""A sample of the distinct rows of a table that does not depend on how the rows are ordered, cut or repeated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SKETCH_ROWS = 50_000
EVERYTHING = np.uint64(2**64 - 1)


class Sketch(NamedTuple):
    """The rows of smallest hash, each once, with the weight of all its copies; unsorted until :meth:`keep_smallest`."""

    hashes: np.ndarray
    rows: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray, weight: np.ndarray | None, below: np.uint64 = EVERYTHING) -> Sketch:
        """Rows of a chunk whose hash is at most ``below``."""
        hashes = row_hashes(table)
        chosen = slice(None) if below == EVERYTHING else np.flatnonzero(hashes <= below)
        share = np.ones(len(table)) if weight is None else weight
        return cls(hashes[chosen], table[chosen], share[chosen])

    def __add__(self, other: Sketch) -> Sketch:  # type: ignore[override]
        both = Sketch(*(np.concatenate(pair) for pair in zip(self, other)))
        return both if len(both.hashes) < 4 * SKETCH_ROWS else both.keep_smallest()

    def keep_smallest(self, size: int = SKETCH_ROWS) -> Sketch:
        """The ``size`` rows of smallest hash, in the order of their hashes."""
        order = np.argsort(self.hashes, kind="stable")
        hashes = self.hashes[order]
        first = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
        weight = np.add.reduceat(self.weight[order], first)[:size] if len(order) else self.weight
        first = first[:size] if len(order) else order
        return Sketch(hashes[first], self.rows[order[first]], weight)


def row_hashes(table: np.ndarray) -> np.ndarray:
    """64 bits for each row, from all its numbers; 0 and -0 are the same, and so is every NaN.

    Examples
    --------
    >>> a, b, c = row_hashes(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    hashes = np.full(len(table), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in np.asarray(table, dtype=np.float64).T:
        plain = column + 0.0
        plain[np.isnan(plain)] = np.nan
        hashes ^= plain.view(np.uint64)
        # The finalizer of SplitMix64 (Steele, Lea & Flood, 2014): each bit in changes half of the bits out.
        hashes ^= hashes >> np.uint64(30)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(27)
        hashes *= np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes
