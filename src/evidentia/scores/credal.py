r"""Credal partitions compared by what they say of pairs of objects [1]_.

Whatever its clusters are called and however many there are, a credal partition gives each pair of objects a mass
function on {same, different}: masses :math:`m(\varnothing)`, :math:`m(\text{same})`, :math:`m(\text{different})` and
the rest, unknown. Two partitions of the same objects are compared pair by pair. A hard partition is the special case
of certain masses, so a truth given as labels goes everywhere a partition goes.

References
----------
.. [1] T. Denœux, S. Li, S. Sriboonchitta. Evaluating and comparing soft partitions: an approach based on
   Dempster-Shafer theory. IEEE Transactions on Fuzzy Systems 26(3):1231-1244, 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from evidentia.partition import CredalPartition
from evidentia.partition.relational import PairFactors, RelationalMasses, triangle_tiles
from evidentia.scores._labels import check_same_objects, encode


def pair_nonspecificity(partition: CredalPartition) -> float:
    r"""Mean mass that says neither "same" nor "different" of a pair of objects.

    .. math:: NS = \frac{2}{n(n-1)} \sum_{i<j} m_{ij}(\varnothing) + m_{ij}(\{\text{same}, \text{different}\})

    Zero for a hard partition, one when nothing is known. Time and memory grow with the number of objects only.

    Examples
    --------
    Two sure objects and an ignorant one: the two pairs with the latter are open.

    >>> from evidentia import FocalSets
    >>> round(pair_nonspecificity(CredalPartition([[1, 0, 0], [0, 1, 0], [0, 0, 1]], FocalSets(2, empty=False))), 4)
    0.6667
    """
    factors = _pair_factors(partition, "partition")
    same = _mean_product(factors.single, factors.single)
    return 1 - same - _mean_product(factors.solid, factors.apart)


def credal_rand_index(p: Any, q: Any, *, measure: str = "conflict") -> float:
    r"""Agreement of two partitions of the same objects, 1 minus the mean disagreement over pairs of objects.

    ==============  =======================================================================================
    ``measure``     disagreement of the masses :math:`m, m'` of a pair
    ==============  =======================================================================================
    ``conflict``    degree of conflict :math:`\sum_{A \cap B = \varnothing} m(A) m'(B)`; against a truth the
                    index is the *consistency* with it. Doubt never disagrees, so read it together with
                    :func:`pair_nonspecificity`; and a partition conflicts with itself unless it is certain.
    ``jousselme``   Jousselme distance :math:`\sqrt{\tfrac12 (m - m')^\top D (m - m')}`
    ``belief``      :math:`\tfrac12 \sum_A |Bel(A) - Bel'(A)|`
    ==============  =======================================================================================

    Mass on the empty set conflicts with everything, a truth included: an outlier agrees with nothing. To compare what
    is said of the clusters alone, give ``partition.normalized()``.

    For two hard partitions all three are the Rand index. Conflict takes time in proportion to the number of objects;
    the distances walk over all pairs in small tiles and need no memory to speak of.

    Parameters
    ----------
    p, q : CredalPartition or array-like of shape (n_samples,)
        Partitions into any number of clusters; labels are certain masses, each distinct value a cluster.
    measure : {"conflict", "jousselme", "belief"}

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> p = CredalPartition([[0.8, 0, 0.2], [1, 0, 0], [0, 0.5, 0.5]], FocalSets(2, empty=False))
    >>> {name: round(credal_rand_index(p, [0, 0, 1], measure=name), 3) for name in ("conflict", "jousselme", "belief")}
    {'conflict': 1.0, 'jousselme': 0.694, 'belief': 0.783}
    """
    measures = ("conflict", *_DISTANCES)
    if measure not in measures:
        raise ValueError(f"'measure' must be one of {', '.join(map(repr, measures))}. Got {measure!r}.")
    first, second = _pair_factors(p, "p"), _pair_factors(q, "q")
    check_same_objects(len(first.empty), len(second.empty))
    if measure == "conflict":
        return _mean_harmony(first, second)
    return 1 - _mean_distance(first, second, _DISTANCES[measure])


def credal_scores(partition: CredalPartition, truth: Any) -> pd.Series:
    """Scores of a credal partition against a truth: consistency, nonspecificity, and both distance-based indices.

    ``consistency``, ``jousselme`` and ``belief`` are :func:`credal_rand_index` by conflict and by the two distances,
    larger for better; ``nonspecificity`` is :func:`pair_nonspecificity`, the price paid for consistency.

    Parameters
    ----------
    partition : CredalPartition
    truth : array-like of shape (n_samples,) or CredalPartition

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> p = CredalPartition([[0.8, 0, 0.2], [1, 0, 0], [0, 0.5, 0.5]], FocalSets(2, empty=False))
    >>> credal_scores(p, [0, 0, 1]).round(3)
    consistency            1.000
    pair_nonspecificity    0.433
    jousselme              0.694
    belief                 0.783
    dtype: float64
    """
    return pd.Series(
        {
            "consistency": credal_rand_index(partition, truth, measure="conflict"),
            "pair_nonspecificity": pair_nonspecificity(partition),
            "jousselme": credal_rand_index(partition, truth, measure="jousselme"),
            "belief": credal_rand_index(partition, truth, measure="belief"),
        }
    )


def _pair_factors(partition: Any, name: str) -> PairFactors:
    """Factors of a partition, or of certain masses on labels (of which there may be more than a frame can hold)."""
    if isinstance(partition, CredalPartition):
        if len(partition) < 2:
            raise ValueError(f"'{name}' must be a partition of at least two objects. Got {len(partition)}.")
        return PairFactors.of(partition.masses, partition.focal_sets)
    codes = encode(partition, name)
    certain = np.eye(codes.max() + 1)[codes]
    return PairFactors(np.zeros(len(codes)), certain, certain, 1 - certain)


# -- means over pairs of products: no pair is ever looked at ------------------------------------------------------


def _mean_product(left: np.ndarray, right: np.ndarray) -> float:
    r"""Mean of :math:`l_i \cdot r_j` over pairs, for a product that is symmetric in i and j.

    The sum over all i and j is the product of the sums; what remains is the diagonal.
    """
    n = len(left)
    return float(left.sum(axis=0) @ right.sum(axis=0) - np.vdot(left, right)) / (n * (n - 1))


def _mean_double_product(p: PairFactors, q: PairFactors) -> float:
    r"""Mean over pairs of :math:`m_{ij}(\text{same})` in p times :math:`m_{ij}(\text{different})` in q.

    A product of two dot products is the dot product of the outer products, and these sum up to small matrices.
    """
    n = len(p.empty)
    total = np.vdot(p.single.T @ q.solid, p.single.T @ q.apart)
    diagonal = (p.single**2).sum(axis=1) @ (q.solid * q.apart).sum(axis=1)
    return float(total - diagonal) / (n * (n - 1))


def _mean_harmony(p: PairFactors, q: PairFactors) -> float:
    """One minus the mean conflict of the masses of a pair."""
    held = ((1 - p.empty) * (1 - q.empty))[:, None]  # neither empty set takes part
    return _mean_product(held, held) - _mean_double_product(p, q) - _mean_double_product(q, p)


# -- means over pairs of distances: every pair, tile by tile ------------------------------------------------------


def _mean_distance(
    p: PairFactors, q: PairFactors, distance: Callable[[RelationalMasses, RelationalMasses], np.ndarray]
) -> float:
    n = len(p.empty)
    total = 0.0
    for rows, columns in triangle_tiles(n):
        tile = distance(p.cross(rows, columns), q.cross(rows, columns))
        total += tile.sum() if rows != columns else (tile.sum() - tile.trace()) / 2
    return float(2 * total / (n * (n - 1)))


def _jousselme(p: RelationalMasses, q: RelationalMasses) -> np.ndarray:
    r"""Jousselme distance on {same, different}, the unknown mass eliminated (all gaps add up to zero)."""
    empty, same, different = p.empty - q.empty, p.same - q.same, p.different - q.different
    return np.sqrt(empty**2 + (same**2 + different**2 + empty * (same + different)) / 2)


def _belief(p: RelationalMasses, q: RelationalMasses) -> np.ndarray:
    """Belief in "same", in "different" and in either of them, which is one minus the empty mass."""
    return (np.abs(p.same - q.same) + np.abs(p.different - q.different) + np.abs(p.empty - q.empty)) / 2


_DISTANCES = {"jousselme": _jousselme, "belief": _belief}
