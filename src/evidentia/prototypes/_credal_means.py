r"""Credal and belief c-means: a set of clusters costs by the centers of its clusters, not by its barycenter alone.

Both methods minimize :math:`J = \sum_i w_i [ \sum_{A \neq \varnothing} m_{iA}^\beta D_{iA}^2 + \rho^2
m_{i\varnothing}^\beta ]`, and in both the cost of a set is

.. math::
    D_{iA}^2 = \sum_B L_{AB}\, \|x_i - \bar v_B\|^2 + g_A \sum_{x < y \in A} \|v_x - v_y\|^2,

a mixture L of plain squared distances to centers and barycenters, and g times the spread of the set's centers. So one
step serves both: costs are the mixed costs of evidential c-means, and for given masses the centers solve the linear
system of evidential c-means with mixed sums, plus springs between the centers that share a set.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evidentia import _checks
from evidentia._base import RHO, focal_families
from evidentia._data import Data
from evidentia._parameters import param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.prototypes._base import PrototypeClusterer, Solution
from evidentia.prototypes._kernel import LEAST_COST, Criterion, DistanceCosts, Prototypes, chunk_sums
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import RowSource
from evidentia.solvers.barycentric import averaging, solve_semidefinite, sums_over_pairs

FAMILIES = ("full", "pairs", "simple", "singletons")


def spread(focal_sets: FocalSets, centers: np.ndarray) -> np.ndarray:
    r"""Return the squared distances between the centers of each set, :math:`\sum_{x<y \in A} \|v_x - v_y\|^2`."""
    return sums_over_pairs(np.square(centers[:, None] - centers).sum(axis=2), focal_sets)


@dataclass(frozen=True)
class SetWeights:
    """The mixture L, shape (n_focal, n_focal), and the weight g of the spread of the centers, shape (n_focal,)."""

    mixing: np.ndarray
    spring: np.ndarray


@dataclass(frozen=True)
class MixedCosts(DistanceCosts):
    """Costs of evidential c-means, mixed, and the spread of the centers of each set."""

    weights: SetWeights

    def measure(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        apart = self.weights.spring * spread(self.criterion.focal_sets, self.prototypes.centers)
        return np.maximum(self.weights.mixing @ super().measure(rows, features) + apart[:, None], LEAST_COST)


def credal_step(
    weights: SetWeights, chunks: Any, total_weight: float, criterion: Criterion, prototypes: Prototypes
) -> tuple[float, Prototypes]:
    """Return J of the centers, and better centers: masses, then centers, each at its optimum."""
    objective, sums = reduce_rows(chunk_sums, chunks, MixedCosts(prototypes, criterion, weights))
    return objective, Prototypes(update_centers(sums, prototypes.centers, criterion.focal_sets, weights))


def update_centers(sums: np.ndarray, previous: np.ndarray, focal_sets: FocalSets, weights: SetWeights) -> np.ndarray:
    r"""Solve :math:`(S^T \mathrm{diag}(L^T n) S + \mathrm{springs})\, V = S^T L^T T` for the centers."""
    average, mixed = averaging(focal_sets), weights.mixing.T @ sums[:, : 1 + previous.shape[1]]
    together = focal_sets.member.T @ ((weights.spring * sums[:, 0])[:, None] * focal_sets.member)
    springs = np.diag(together.sum(axis=1)) - together  # Laplacian: the diagonals of both cancel
    gram = average.T @ (mixed[:, :1] * average) + springs
    return previous + solve_semidefinite(gram, average.T @ mixed[:, 1:] - gram @ previous)


class CredalMeans(PrototypeClusterer):
    """Base of the two methods; a subclass has a parameter ``gamma`` and gives its :class:`SetWeights`."""

    alpha = 0.0  # sets are not penalized by their size, but by the distances to all their clusters
    focal_sets: Any = param(
        focal_families(*FAMILIES),
        """Sets of clusters that may hold mass; every single cluster must be one of them. All named families have the
        empty set.""",
        default="pairs",
    )
    rho: Any = param(
        RHO,
        """Distance of every object to the empty set, in the units of X (often called delta): the smaller, the more
        outliers. ``"auto"`` is three times the root mean squared distance to the nearest center of a k-means
        solution.""",
        default="auto",
    )

    attributes = {"rho_": "float or None\nDistance to the empty set that was used; None without the empty set."}

    def _set_weights(self, focal_sets: FocalSets) -> SetWeights:
        raise NotImplementedError

    def _fit(self, data: Data[RowSource]) -> None:
        objects = self._read_objects(data.rows)
        starts = self._draw_starts(objects, data.rng)
        family = resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True)
        _checks.check_single_clusters(self, family, "measures sets by the centers of single clusters")
        rho = None
        if family.empty_index is not None:
            rho = self._given_rho(objects) or self._kmeans_rho(objects, starts, data.rng)
        criterion = Criterion(family, self.alpha, self.beta, rho)
        step = partial(credal_step, self._set_weights(family))  # masses, then centers
        best, runs = self._minimize(step, objects, criterion, starts)
        self._store_solution(objects, Solution(best.state, criterion), best, runs)

    def _costs(self, solution: Solution) -> MixedCosts:
        weights = self._set_weights(solution.criterion.focal_sets)
        return MixedCosts(solution.prototypes, solution.criterion, weights)


def mix_with_centers(focal_sets: FocalSets, own: float, total: np.ndarray) -> np.ndarray:
    """Return L: a set has weight 1 on each of its centers and ``own`` on its barycenter, divided by ``total``."""
    mixing = np.eye(len(focal_sets))
    larger = np.flatnonzero(focal_sets.card > 1)
    mixing[larger] *= own
    mixing[np.ix_(larger, focal_sets.singleton_index)] += focal_sets.member[larger]
    mixing[larger] /= total[larger, None]
    return mixing
