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

import operator
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evidentia._objects import align_objects
from evidentia.belief import uncertainty
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.partition.relational import PairFactors, RelationalMasses, triangle_tiles
from evidentia.rows.source import same_rows
from evidentia.scores.hard import check_same_objects, encode


def pair_nonspecificity(partition: CredalPartition | LazyPartition) -> float:
    r"""Mean mass that says neither "same" nor "different" of a pair of objects.

    .. math:: NS = \frac{2}{n(n-1)} \sum_{i<j} m_{ij}(\varnothing) + m_{ij}(\{\text{same}, \text{different}\})

    Zero for a hard partition, one when nothing is known. Time and memory grow with the number of objects only; of a
    :class:`~evidentia.partition.LazyPartition` it takes one pass over the rows, and memory does not grow.

    Examples
    --------
    Two sure objects and an ignorant one: the two pairs with the latter are open.

    >>> from evidentia import FocalSets
    >>> round(pair_nonspecificity(CredalPartition([[1, 0, 0], [0, 1, 0], [0, 0, 1]], FocalSets(2, empty=False))), 4)
    0.6667
    """
    if isinstance(partition, LazyPartition):
        sums = partition.reduce(_own_sums)
        _check_pairs(sums.n, "partition")
    else:
        sums = OwnSums.of(_pair_factors(partition, "partition"))
    return 1 - sums.decided_mass()


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
    is said of the clusters alone, give ``partition.normalize()``.

    For two hard partitions all three are the Rand index. Conflict takes time in proportion to the number of objects;
    the distances walk over all pairs in small tiles and need no memory to speak of.

    Parameters
    ----------
    p, q : CredalPartition, LazyPartition or array-like of shape (n_samples,)
        Partitions into any number of clusters; labels are certain masses, each distinct value a cluster. Conflict alone
        is made of sums over objects, so that a :class:`~evidentia.partition.LazyPartition` is compared by conflict: in
        one pass if both are of the same source, else with the rows of both in the same order. Objects with names, in a
        partition or in the index of a Series, are joined by them; names against no names are refused. Arrays and lists,
        which cannot have any, are taken in the order of the other.
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
    q = align_objects(p, q, ("'p'", "'q'"))
    if measure == "conflict":
        sums = _sums_of_two(p, q)
        _check_pairs(sums.n, "p")
        return sums.harmony()
    if isinstance(p, LazyPartition) or isinstance(q, LazyPartition):
        raise TypeError(
            f"measure={measure!r} looks at every pair of objects, which are too many for rows that are not in memory. "
            "Take measure='conflict', or partitions of a sample of the rows: model.predict_partition(sample)."
        )
    first, second = _pair_factors(p, "p"), _pair_factors(q, "q")
    check_same_objects(len(first.empty), len(second.empty))
    return 1 - _mean_distance(first, second, _DISTANCES[measure])


def credal_scores(partition: CredalPartition, truth: Any) -> pd.Series:
    """Scores of a credal partition against a truth: consistency, nonspecificity, and both distance-based indices.

    ``consistency``, ``jousselme`` and ``belief`` are :func:`credal_rand_index` by conflict and by the two distances,
    larger for better; ``nonspecificity`` is :func:`pair_nonspecificity`, the price paid for consistency.

    Parameters
    ----------
    partition : CredalPartition
    truth : array-like of shape (n_samples,) or CredalPartition
        A Series is joined with the partition by the names in its index, an array or a list is in the order of the
        partition.

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
    truth = align_objects(partition, truth, ("'partition'", "'truth'"))
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
        _check_pairs(len(partition), name)
        return _factors_of(partition)
    codes = encode(partition, name)
    certain = np.eye(codes.max() + 1)[codes]
    return PairFactors(np.zeros(len(codes)), certain, certain, 1 - certain)


def _check_pairs(n_samples: int, name: str) -> None:
    if n_samples < 2:
        raise ValueError(f"'{name}' must be a partition of at least two objects. Got {n_samples}.")


# -- means over pairs of products: no pair is ever looked at ------------------------------------------------------


class OwnSums(NamedTuple):
    r"""Sums over objects from which the nonspecificity of their pairs is made; they add up over parts.

    The sum of a product :math:`l_i \cdot r_j` over all i and j is the product of the sums, the diagonal included.
    """

    n: int
    single: np.ndarray
    solid: np.ndarray
    apart: np.ndarray
    diagonal: float  # same and different, of each object with itself

    @classmethod
    def of(cls, p: PairFactors) -> OwnSums:
        single, solid, apart = (factor.sum(axis=0) for factor in (p.single, p.solid, p.apart))
        diagonal = float(np.vdot(p.single, p.single) + np.vdot(p.solid, p.apart))
        return cls(len(p.empty), single, solid, apart, diagonal)

    def __add__(self, other: OwnSums) -> OwnSums:  # type: ignore[override]
        return OwnSums(*map(operator.add, self, other))

    def decided_mass(self) -> float:
        """Mean mass over pairs that says "same" or "different"."""
        total = self.single @ self.single + self.solid @ self.apart
        return float(total - self.diagonal) / (self.n * (self.n - 1))


class CrossSums(NamedTuple):
    r"""Sums over objects from which the mean conflict of two partitions is made; they add up over parts.

    A product of two dot products is the dot product of the outer products, and these sum up to small matrices.
    """

    n: int
    held: float  # neither empty set takes part
    held_twice: float  # of each object with itself
    single_solid: np.ndarray  # of the first and of the second partition
    single_apart: np.ndarray
    solid_single: np.ndarray
    apart_single: np.ndarray
    diagonal: float

    @classmethod
    def of(cls, p: PairFactors, q: PairFactors) -> CrossSums:
        held = (1 - p.empty) * (1 - q.empty)
        products = (p.single.T @ q.solid, p.single.T @ q.apart, p.solid.T @ q.single, p.apart.T @ q.single)
        alone = [
            np.square(one.single).sum(axis=1) @ (two.solid * two.apart).sum(axis=1) for one, two in ((p, q), (q, p))
        ]
        return cls(len(held), float(held.sum()), float(held @ held), *products, float(sum(alone)))

    def __add__(self, other: CrossSums) -> CrossSums:  # type: ignore[override]
        return CrossSums(*map(operator.add, self, other))

    def harmony(self) -> float:
        """One minus the mean conflict of the masses of a pair."""
        against = np.vdot(self.single_solid, self.single_apart) + np.vdot(self.solid_single, self.apart_single)
        total = self.held**2 - self.held_twice - (against - self.diagonal)
        return float(total) / (self.n * (self.n - 1))


def _factors_of(part: CredalPartition) -> PairFactors:
    return PairFactors.of(part.masses, part.focal_sets)


def _own_sums(part: CredalPartition) -> OwnSums:
    return OwnSums.of(_factors_of(part))


def _cross_sums(p: CredalPartition, q: CredalPartition) -> CrossSums:
    return CrossSums.of(_factors_of(p), _factors_of(q))


def _sums_of_two(p: Any, q: Any) -> CrossSums:
    """Of two partitions in memory or not: in one pass over rows that they share, else chunk beside chunk."""
    if isinstance(p, LazyPartition) and isinstance(q, LazyPartition) and same_rows(p.rows, q.rows):
        return p.reduce(_cross_sums, q)
    return reduce(operator.add, (CrossSums.of(*both) for both in _side_by_side(_chunks(p, "p"), _chunks(q, "q"))))


def _chunks(partition: Any, name: str) -> Iterator[PairFactors]:
    if isinstance(partition, LazyPartition):
        return map(_factors_of, partition.blocks())
    return iter([_pair_factors(partition, name)])


def _side_by_side(p: Iterator[PairFactors], q: Iterator[PairFactors]) -> Iterator[tuple[PairFactors, PairFactors]]:
    """Factors of the same objects in both, however each is cut."""
    seen, a, b = 0, next(p, None), next(q, None)
    while a is not None and b is not None:
        size = min(len(a.empty), len(b.empty))
        yield _part(a, slice(size)), _part(b, slice(size))
        seen += size
        a = _part(a, slice(size, None)) if len(a.empty) > size else next(p, None)
        b = _part(b, slice(size, None)) if len(b.empty) > size else next(q, None)
    rest = [sum(len(one.empty) for one in (c, *others) if one is not None) for c, others in ((a, p), (b, q))]
    check_same_objects(seen + rest[0], seen + rest[1])


def _part(factors: PairFactors, objects: slice) -> PairFactors:
    return PairFactors(*(factor[objects] for factor in factors))


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


def object_uncertainty(partition: CredalPartition) -> pd.DataFrame:
    """One row per object: where it goes, and how uncertain that is, and why.

    ==================  ===================================================================================
    ``cluster``         most plausible cluster
    ``set``             its set: one cluster if it is assigned, several if it is ambiguous
    ``belief``          belief in that cluster
    ``plausibility``    plausibility of that cluster
    ``outlier``         mass of the empty set: fits no cluster
    ``nonspecificity``  bits; large when the mass lies on sets of several clusters (cannot tell)
    ``dissonance``      bits; large when the mass lies on sets that exclude each other (contradiction)
    ``entropy``         bits; of the pignistic probability, large in both cases
    ==================  ===================================================================================

    Examples
    --------
    A certain object, one that nothing is known of, and one that is pulled both ways.

    >>> from evidentia import FocalSets
    >>> p = CredalPartition([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]], FocalSets(2, empty=False))
    >>> print(object_uncertainty(p).to_string())
            cluster    set  belief  plausibility  outlier  nonspecificity  dissonance  entropy
    object
    0             0    {0}     1.0           1.0      0.0             0.0         0.0      0.0
    1             0  {0,1}     0.0           1.0      0.0             1.0         0.0      1.0
    2             0  {0,1}     0.5           0.5      0.0             0.0         1.0      1.0
    """
    table = partition.to_pandas()[["cluster", "set", "belief", "plausibility"]]
    return table.assign(
        outlier=partition.empty,
        nonspecificity=partition.nonspecificity,
        dissonance=uncertainty.dissonance(partition.masses, partition.focal_sets),
        entropy=uncertainty.pignistic_entropy(partition.masses, partition.focal_sets),
    )
