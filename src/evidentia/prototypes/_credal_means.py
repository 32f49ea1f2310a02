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

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia import _checks
from evidentia._base import RHO, focal_families
from evidentia._parameters import param
from evidentia.belief import FocalSets
from evidentia.prototypes._base import Blocks, Objects, PrototypeClusterer, Solution
from evidentia.prototypes._kernel import (
    LEAST_COST,
    Columns,
    Costs,
    Criterion,
    Prototypes,
    Sums,
    lift,
    sums_over,
    update_masses,
)
from evidentia.rows.passes import reduce_rows
from evidentia.solvers.barycentric import averaging, solve_semidefinite, sums_over_pairs
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.descent import Step

FAMILIES = ("full", "pairs", "simple", "singletons")


class SetCosts(NamedTuple):
    """The mixture L, shape (n_focal, n_focal), and the weight g of the spread of the centers, shape (n_focal,)."""

    mixing: np.ndarray
    spring: np.ndarray


def spread(focal_sets: FocalSets, centers: np.ndarray) -> np.ndarray:
    r"""Sum of squared distances between the centers of each set, :math:`\sum_{x<y \in A} \|v_x - v_y\|^2`."""
    return sums_over_pairs(np.square(centers[:, None] - centers).sum(axis=2), focal_sets)


def block_masses(
    rows: np.ndarray, prototypes: Prototypes, criterion: Criterion, costs: SetCosts
) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Block by block: which rows, their features, costs, masses and least costs."""
    each, apart = Costs.of(prototypes, criterion), costs.spring * spread(criterion.focal_sets, prototypes.centers)
    for block in row_blocks(rows.shape[1], 4 * len(each.terms) + each.terms.shape[1]):
        features = lift(rows[:, block], adaptive=False)
        cost = each.terms @ features
        prototypes.measure_near(cost, rows[:, block], each)
        cost = np.maximum(costs.mixing @ cost + apart[:, None], LEAST_COST)
        yield block, features, cost, *update_masses(cost, criterion.beta)


def credal_sums(chunk: Columns, prototypes: Prototypes, criterion: Criterion, costs: SetCosts) -> Sums:
    """J and its sums of a chunk of the table."""
    return sums_over(block_masses(chunk.rows, prototypes, criterion, costs), chunk.weight)


def credal_step(chunks: Any, criterion: Criterion, costs: SetCosts, prototypes: Prototypes) -> tuple[float, Prototypes]:
    """J of the centers, and better centers: masses, then centers, each at its optimum."""
    objective, sums = reduce_rows(credal_sums, chunks, prototypes, criterion, costs)
    return objective, Prototypes(update_centers(sums, prototypes.centers, criterion.focal_sets, costs))


def update_centers(sums: np.ndarray, previous: np.ndarray, focal_sets: FocalSets, costs: SetCosts) -> np.ndarray:
    r"""Centers for given masses: :math:`(S^T \mathrm{diag}(L^T n) S + \mathrm{springs})\, V = S^T L^T T`."""
    member, average = focal_sets.member, averaging(focal_sets)
    mixed = costs.mixing.T @ sums[:, : 1 + previous.shape[1]]
    pull = costs.spring * sums[:, 0]
    together = member.T @ (pull[:, None] * member)
    springs = np.diag(together.sum(axis=1)) - together  # Laplacian: the diagonals of both cancel
    gram = average.T @ (mixed[:, :1] * average) + springs
    return previous + solve_semidefinite(gram, average.T @ mixed[:, 1:] - gram @ previous)


class CredalMeans(PrototypeClusterer):
    """Base of the two methods; a subclass has a parameter ``gamma`` and gives its :class:`SetCosts`."""

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

    def _set_costs(self, focal_sets: FocalSets) -> SetCosts:
        raise NotImplementedError

    def _family(self, n_clusters: int) -> FocalSets:
        found = super()._family(n_clusters)
        _checks.check_single_clusters(self, found, "measures sets by the centers of single clusters")
        return found

    def _step(self, objects: Objects, criterion: Criterion) -> Step:
        return partial(credal_step, objects.chunks, criterion, self._set_costs(criterion.focal_sets))

    def _blocks(self, solution: Solution) -> Blocks:
        costs = self._set_costs(solution.criterion.focal_sets)
        return partial(block_masses, prototypes=solution.prototypes, criterion=solution.criterion, costs=costs)


def mix_with_centers(focal_sets: FocalSets, own: float, total: np.ndarray) -> np.ndarray:
    """L that gives a set weight 1 on each of its centers and ``own`` on its barycenter, divided by ``total``."""
    mixing = np.eye(len(focal_sets))
    larger = np.flatnonzero(focal_sets.card > 1)
    mixing[larger] *= own
    mixing[np.ix_(larger, focal_sets.singleton_index)] += focal_sets.member[larger]
    mixing[larger] /= total[larger, None]
    return mixing
