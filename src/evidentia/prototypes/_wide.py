r"""The criterion of evidential c-means where columns are many: no row is lifted to the products of its columns.

In :mod:`evidentia.prototypes._kernel` squared distances are linear in :math:`(1, x, x x^T)`, which is p²/2 numbers a
row and as many for every set. They are linear in p + c + 1 numbers too, when the metrics are given:

.. math::
    \varphi(x) = (1,\ x,\ q_1(x), \dots, q_c(x)), \qquad q_k(x) = (x - v_k)^T S_k (x - v_k),

and what the metrics need of n rows is one matrix of second moments a *cluster*, not one a set. Both come with the
Cholesky factors of the covariances. An object on a center is at distance zero from it, exactly.

Fewer rows than columns span a part of the space only; in all other directions a covariance is the guard alone. There
the rows are taken in a basis of what they span (:class:`~evidentia.solvers.coordinates.SpannedScales`), whose last
coordinate stands for all the directions outside, ``repeats`` of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri

from evidentia.prototypes._kernel import (
    GUARD,
    LEAST_COST,
    ColumnChunk,
    Criterion,
    DistanceCosts,
    Prototypes,
    block_masses,
)
from evidentia.rows.passes import reduce_rows


@dataclass(frozen=True)
class WidePrototypes(Prototypes):
    """Centers (c, p) and covariances (c, p, p) of many columns; coordinate j stands for ``repeats[j]`` alike."""

    covariances: np.ndarray
    repeats: np.ndarray = field(kw_only=True)

    @cached_property
    def roots(self) -> np.ndarray:
        """Lower triangular R with R' R the inverse of the covariance, shape (c, p, p)."""
        found = np.linalg.cholesky(self.covariances)
        return np.stack([dtrtri(factor, lower=1)[0] for factor in found])

    @cached_property
    def volume(self) -> np.ndarray:
        """Geometric means of the variances along the axes, shape (c,)."""
        logs = -2 * np.log(np.diagonal(self.roots, axis1=1, axis2=2))
        return np.exp(logs @ self.repeats / self.repeats.sum())

    @cached_property
    def metric(self) -> np.ndarray:
        return self.volume[:, None, None] * (self.roots.transpose(0, 2, 1) @ self.roots)

    @property
    def trace(self) -> float:
        """Sum of the traces of the metrics over all directions."""
        return float(self.volume @ np.square(self.roots).sum(axis=1) @ self.repeats)

    def features(self, rows: np.ndarray) -> np.ndarray:
        p, n = rows.shape
        found = np.empty((1 + p + len(self.centers), n))
        found[0] = 1
        found[1 : 1 + p] = rows
        for k, (center, root) in enumerate(zip(self.centers, self.roots)):
            away = root @ (rows - center[:, None])
            found[1 + p + k] = self.volume[k] * np.einsum("qi,qi->i", away, away)
        return found

    def distance_terms(self, average: np.ndarray) -> np.ndarray:
        terms = np.zeros((len(average), 1 + self.centers.shape[1] + len(self.centers)))
        terms[:, -len(self.centers) :] = average
        middles = average @ self.centers
        for k, (center, root) in enumerate(zip(self.centers, self.roots)):
            sets = np.flatnonzero((average[:, k] > 0) & (average[:, k] < 1))  # of a cluster alone, q is the distance
            away, share = middles[sets] - center, average[sets, k]
            pulled = (share * self.volume[k])[:, None] * (away @ root.T @ root)
            terms[sets, 0] += np.einsum("jq,jq->j", pulled, away + 2 * center)
            terms[sets, 1 : 1 + len(center)] -= 2 * pulled
        return terms

    def replace_small(self, cost: np.ndarray, rows: np.ndarray, costs: DistanceCosts) -> None:
        """Keep costs positive; the features are made of differences already."""
        np.maximum(cost, LEAST_COST, out=cost)


class WideSums(NamedTuple):
    """J of some rows at its best masses, weights and sums of the sets, and second moments of the clusters."""

    objective: float
    sums: np.ndarray
    scatter: np.ndarray

    def __add__(self, other: WideSums) -> WideSums:  # type: ignore[override]
        return WideSums(self.objective + other.objective, self.sums + other.sums, self.scatter + other.scatter)


def chunk_moments(chunk: ColumnChunk, prototypes: WidePrototypes, criterion: Criterion) -> WideSums:
    """Return what a better metric needs of a chunk of the table."""
    centers, (rows, weight) = prototypes.centers, chunk
    c, p = centers.shape
    share = (criterion.average * criterion.penalty[:, None]).T
    objective, sums, scatter = 0.0, np.zeros((1, 1)), np.zeros((c, p, p))
    for block, features, cost, masses, least in block_masses(rows, DistanceCosts(prototypes, criterion)):
        if weight is not None:
            least *= weight[block]
        objective += least.sum()
        masses *= least / cost  # m**beta, as cost * m**(beta - 1) is the same for all focal sets
        sums = sums + masses @ features[: 1 + p].T
        for k, part in enumerate(np.sqrt(share @ masses)):
            away = (rows[:, block] - centers[k][:, None]) * part
            scatter[k] += away @ away.T
    return WideSums(float(objective), sums, scatter)


def wide_step(
    chunks: Any, total_weight: float, criterion: Criterion, prototypes: WidePrototypes
) -> tuple[float, WidePrototypes]:
    """Return J of the prototypes, and prototypes with better metrics around the same centers."""
    centers, p = prototypes.centers, prototypes.centers.shape[1]
    share = (criterion.average * criterion.penalty[:, None]).T
    objective, sums, scatter = reduce_rows(chunk_moments, chunks, prototypes, criterion)
    scatter = scatter.copy()  # the sum may be kept by a checkpoint
    for k in range(len(centers)):
        # The sums are around the center of the cluster: those of a larger set move to its barycenter.
        away = criterion.average @ centers - centers[k]
        total = sums[:, 1:] - sums[:, :1] * centers[k]
        cross = (share[k][:, None] * (sums[:, :1] * away / 2 - total)).T @ away
        scatter[k] += cross + cross.T
    prior = GUARD * total_weight
    scatter[:, np.arange(p), np.arange(p)] += prior
    covariances = scatter / (share @ sums[:, 0] + prior)[:, None, None]
    return objective + prior * prototypes.trace, WidePrototypes(centers, covariances, repeats=prototypes.repeats)
