"""What a credal partition says of two objects: same cluster, different clusters, neither known, or an outlier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evidentia.belief.focal import FocalSets
from evidentia.solvers.memory import row_blocks

TILE = 256  # the half-dozen arrays of a tile of 256 x 256 pairs stay in the processor's cache


class RelationalMasses(NamedTuple):
    r"""Mass functions of pairs of objects on the frame {same, different}.

    .. math::
        m_{ij}(\text{same}) = \sum_k m_i(\{k\}) m_j(\{k\}), \qquad
        m_{ij}(\text{different}) = \sum_{A \cap B = \varnothing \ne A, B} m_i(A) m_j(B)

    and :math:`m_{ij}(\varnothing) = m_i(\varnothing) + m_j(\varnothing) - m_i(\varnothing) m_j(\varnothing)`;
    the rest is ``unknown``. The four arrays share one shape and add up to one.
    """

    empty: np.ndarray
    same: np.ndarray
    different: np.ndarray
    unknown: np.ndarray

    @property
    def plausibility_same(self) -> np.ndarray:
        """Plausibility that the two share a cluster; the belief is ``same`` itself."""
        return self.same + self.unknown

    @property
    def plausibility_different(self) -> np.ndarray:
        """Plausibility that the two lie in different clusters; the belief is ``different`` itself."""
        return self.different + self.unknown


class PairFactors(NamedTuple):
    """Per object, the factors whose products are the relational masses: a pair costs two short dot products.

    Attributes
    ----------
    empty : ndarray of shape (n_samples,)
        Mass of the empty set.
    single : ndarray of shape (n_samples, n_singletons)
        Masses of the single clusters.
    solid, apart : ndarray of shape (n_samples, n_nonempty)
        Masses of the non-empty focal sets, and of all non-empty focal sets disjoint from each of them.
    """

    empty: np.ndarray
    single: np.ndarray
    solid: np.ndarray
    apart: np.ndarray

    @classmethod
    def of(cls, masses: np.ndarray, focal_sets: FocalSets) -> PairFactors:
        at = focal_sets.empty_index
        empty = np.zeros(len(masses)) if at is None else masses[:, at]
        single = masses[:, focal_sets.singleton_index[focal_sets.singleton_index >= 0]]
        held = focal_sets.masks != 0
        solid = masses[:, held]
        return cls(empty, single, solid, solid @ focal_sets.disjoint[np.ix_(held, held)].astype(float))

    def cross(self, rows: slice, columns: slice) -> RelationalMasses:
        """Relational masses of every one of ``rows`` with every one of ``columns``."""
        return _assemble(
            self.empty[rows, None],
            self.empty[columns],
            self.single[rows] @ self.single[columns].T,
            self.apart[rows] @ self.solid[columns].T,
        )


def _assemble(empty_i: Any, empty_j: Any, same: np.ndarray, different: np.ndarray) -> RelationalMasses:
    unknown = (1 - empty_i) * (1 - empty_j)
    empty = 1 - unknown
    unknown -= same
    unknown -= different
    np.maximum(unknown, 0, out=unknown)  # a difference of rounded numbers, never below zero
    return RelationalMasses(empty, same, different, unknown)


def pairwise(masses: np.ndarray, focal_sets: FocalSets, pairs: np.ndarray) -> RelationalMasses:
    """Relational masses of chosen pairs, ``pairs (n_pairs, 2)``; memory grows with the number of pairs only."""
    pairs = np.asarray(pairs)
    empty, single, solid, apart = PairFactors.of(masses, focal_sets)
    same, different = np.empty(len(pairs)), np.empty(len(pairs))
    for block in row_blocks(len(pairs), 4 * len(focal_sets)):
        i, j = pairs[block].T
        np.einsum("pf,pf->p", single[i], single[j], out=same[block])
        np.einsum("pf,pf->p", solid[i], apart[j], out=different[block])
    return _assemble(empty[pairs[:, 0]], empty[pairs[:, 1]], same, different)


def pairwise_blocks(masses: np.ndarray, focal_sets: FocalSets) -> Iterator[tuple[slice, RelationalMasses]]:
    """Relational masses of blocks of rows against all objects.

    Each item is ``(rows, relational)`` with arrays of shape ``(len(rows), n_samples)``. Time grows as :math:`n^2 f`.
    The diagonal holds what two *different* objects with the same mass function would get.
    """
    factors = PairFactors.of(masses, focal_sets)
    for rows in row_blocks(len(masses), len(masses)):
        yield rows, factors.cross(rows, slice(None))


def triangle_tiles(n_samples: int) -> Iterator[tuple[slice, slice]]:
    """Square tiles of pairs that cover the upper triangle: all that symmetric sums over pairs need.

    Tiles on the diagonal hold each of their pairs twice, and the diagonal itself.

    Examples
    --------
    >>> [(rows.start, columns.start) for rows, columns in triangle_tiles(600)]
    [(0, 0), (0, 256), (0, 512), (256, 256), (256, 512), (512, 512)]
    """
    starts = range(0, n_samples, TILE)
    return ((slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if i <= j)
