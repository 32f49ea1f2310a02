"""Which pair of objects to ask about next: rules that look at a credal partition.

A rule yields pairs from the most to the least worth asking; the first one whose answer does not follow from earlier
answers is asked. Rules never loop over all pairs of a large table: where they compare pairs, they do so among the
:data:`POOL` most doubtful objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evidentia.constraints.building import random_pairs
from evidentia.constraints.pairwise import PairwiseConstraints
from evidentia.partition import CredalPartition

Pair = tuple[int, int]
POOL = 300


class KnownPairs:
    """What follows from must-links and cannot-links between ``n_objects``, without writing out their closure."""

    def __init__(self, links: PairwiseConstraints, n_objects: int, asked: set[frozenset[int]]):
        self.group = links.groups(n_objects)
        self.apart = {frozenset(pair) for pair in self.group[links.cannot_link].tolist()}
        self.asked = asked

    def __contains__(self, pair: Pair) -> bool:
        a, b = self.group[list(pair)].tolist()
        return a == b or frozenset((a, b)) in self.apart or frozenset(pair) in self.asked


def probability_same(partition: CredalPartition, pairs: Any) -> np.ndarray:
    r"""Probability that two objects share a cluster, :math:`\sum_k BetP_i(k)\, BetP_j(k)`, shape (n_pairs,).

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> partition = CredalPartition([[1, 0, 0], [0.5, 0.1, 0.4]], FocalSets(2, empty=False))  # {0}, {1}, {0,1}
    >>> probability_same(partition, [(0, 1)]).round(2)
    array([0.7])
    """
    first, second = np.asarray(pairs).T
    return np.einsum("ik,ik->i", partition.pignistic[first], partition.pignistic[second])


def surest_objects(model: Any, X: Any) -> np.ndarray:
    """For each cluster the object nearest to its center in its metric; the likeliest one when there are no centers.

    Where the model has learned a metric, its centers are in the space of the transformed rows, and so are distances.
    """
    if "cluster_centers_" not in model.attributes:
        return model.partition_.pignistic.argmax(axis=0)
    learner = getattr(model, "metric_learner_", None)
    table = np.asarray(X if learner is None else learner.transform(X), dtype=float)
    apart = table - model.cluster_centers_[:, None, :]
    metrics = model.cluster_metrics_ if "cluster_metrics_" in model.attributes else None
    shaped = apart if metrics is None else apart @ metrics
    return np.einsum("kip,kip->ki", shaped, apart).argmin(axis=1)


def boundary_pairs(model: Any, X: Any) -> Iterator[Pair]:
    """The rule of Antoine et al. (2012): an ambiguous object, and the object nearest to a center of its clusters.

    First objects come in the order of their largest mass on a set of two clusters. Of the two, the cluster that the
    object is more likely to be in comes first: "same" then settles it.
    """
    partition = model.partition_
    twos = np.flatnonzero(partition.focal_sets.card == 2)
    if not twos.size:
        raise ValueError(
            "The rule 'boundary' looks at sets of two clusters, and the focal sets have none. Choose focal_sets='full' "
            "or 'pairs', or another rule."
        )
    sure = surest_objects(model, X)
    masses = partition.masses[:, twos]
    for i in np.argsort(-masses.max(axis=1), kind="stable").tolist():
        clusters = np.flatnonzero(partition.focal_sets.member[twos[masses[i].argmax()]])
        for k in clusters[np.argsort(-partition.pignistic[i, clusters], kind="stable")].tolist():
            if sure[k] != i:
                yield i, int(sure[k])


def uncertain_pairs(model: Any, X: Any) -> Iterator[Pair]:
    """Pairs by the mass that says neither "same" nor "different", among the most doubtful objects."""
    partition = model.partition_
    pool = np.sort(partition.most_doubtful(POOL))
    i, j = np.triu_indices(len(pool), 1)
    unknown = partition.relational(np.c_[pool[i], pool[j]]).unknown
    for at in np.argsort(-unknown, kind="stable").tolist():
        yield int(pool[i[at]]), int(pool[j[at]])


def random_questions(n_objects: int, rng: np.random.RandomState) -> Iterator[Pair]:
    """Pairs at random, as often as somebody asks for one."""
    while True:
        yield tuple(random_pairs(n_objects, 1, rng)[0].tolist())


def first_unknown(pairs: Iterator[Pair], known: KnownPairs, tries: int | None = None) -> Pair | None:
    """The first pair that is not known, of all or of so many tries."""
    for count, pair in enumerate(pairs, start=1):
        if pair not in known:
            return pair
        if count == tries:
            break
    return None


def any_unknown(known: KnownPairs) -> Pair | None:
    """A pair that is not known when one is left: what to ask when a rule has no more to say."""
    n_objects = len(known.group)
    return first_unknown(((i, j) for i in range(n_objects) for j in range(i + 1, n_objects)), known)


def expected_change(before: CredalPartition, same: CredalPartition, different: CredalPartition, pair: Pair) -> float:
    """How far the probabilities of the clusters move when a pair is answered, on average over the two answers.

    The change is the mean over objects of half the sum of absolute differences, between 0 and 1. Each answer counts by
    its present probability.

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> family = FocalSets(2, "singletons", empty=False, omega=False)
    >>> before = CredalPartition([[1, 0], [0.25, 0.75]], family)  # "same" has probability 0.25
    >>> same, different = CredalPartition([[1, 0], [1, 0]], family), CredalPartition([[1, 0], [0, 1]], family)
    >>> expected_change(before, same, different, (0, 1))  # 0.25 * 0.75 / 2 + 0.75 * 0.25 / 2
    0.1875
    """
    p = float(probability_same(before, [pair])[0])
    moved = [np.abs(after.align(before).pignistic - before.pignistic).sum(axis=1).mean() for after in (same, different)]
    return float(p * moved[0] + (1 - p) * moved[1]) / 2
