r"""A penalty for broken links, added to the criterion of evidential c-means.

.. math::
    J(M, V, S) + \lambda \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\text{different})
    + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\text{same}) \Big]

Both plausibilities are bilinear in the masses of the two objects, so with :math:`\beta = 2` everything is quadratic in
the masses of one object. Objects without links keep the closed form of evidential c-means; the others are moved one at
a time (:mod:`evidentia.solvers.linked_masses`). Centers and metrics are updated as before, from the masses of all.

Links at full strength freeze the linked objects where the first centers put them. So a start first takes a few steps
while its links grow from weak to full strength, and the centers have found their places before. How weak they begin
changes from start to start: that is its :class:`LinkSchedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.prototypes._base import GivenStart, LinkedMasses, Objects, Solution, to_rows
from evidentia.prototypes._kernel import (
    LEAST_COST,
    Criterion,
    DistanceCosts,
    Prototypes,
    Sums,
    chunk_sums,
    guard_cost,
    lift,
    update_masses,
    update_prototypes,
)
from evidentia.rows.numbered import rows_apart
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import scan
from evidentia.rows.source import ArrayRows
from evidentia.solvers.descent import Run
from evidentia.solvers.linked_masses import LinkGraph, linked_masses
from evidentia.solvers.memory import refuse_beyond_memory

LINK_BYTES = 160  # of memory that a link takes in a fit, as was measured


class LinkSchedule(NamedTuple):
    """Shares of their strength through which links grow, and whether the centers are held meanwhile."""

    ramp: np.ndarray
    held: bool = False


AT_ONCE = LinkSchedule(np.empty(0))
# Links begin to pull at these shares of their strength. On a long ramp all starts end in one minimum, and not always a
# good one; on a short one each remembers more of where it began.
GRADUAL = tuple(LinkSchedule(np.geomspace(weakest, 1, 25)[:-1]) for weakest in (1e-4, 1e-2, 1e-1))


class LinkedStart(NamedTuple):
    """Prototypes at which a start begins, how its links grow, and whether its order of the clusters is the user's."""

    prototypes: Prototypes
    schedule: LinkSchedule
    given: bool = False


class LinkedState(NamedTuple):
    """The state of the descent: prototypes, and masses (k, f) from which those of the linked objects are sought."""

    prototypes: Prototypes
    masses: np.ndarray | None = None


def breaking_tables(focal_sets: FocalSets) -> np.ndarray:
    r"""Return tables P: :math:`m_i^T P\, m_j` is the plausibility that a cannot-link, a must-link is broken; (2, f, f).

    A cannot-link may be broken by two sets that meet. A must-link may be broken by any two non-empty sets but twice the
    same single cluster.

    Examples
    --------
    >>> breaking_tables(FocalSets(2)).astype(int)      # {}, {0}, {1}, {0,1}
    array([[[0, 0, 0, 0],
            [0, 1, 0, 1],
            [0, 0, 1, 1],
            [0, 1, 1, 1]],
           [[0, 0, 0, 0],
            [0, 0, 1, 1],
            [0, 1, 0, 1],
            [0, 1, 1, 1]]])
    """
    solid = focal_sets.card > 0
    differ = np.outer(solid, solid) & ~np.diag(focal_sets.card == 1)
    return np.stack([~focal_sets.disjoint, differ]).astype(float)


@dataclass(frozen=True)
class LinkPenalty:
    """The linked objects, few and in memory, and the links between them, over the tables of broken links.

    ``numbers`` (k,) are those of the objects, ``rows`` (p, k) and ``weight`` (k,) what they are.
    """

    numbers: np.ndarray
    rows: np.ndarray
    weight: np.ndarray
    tables: np.ndarray
    graph: LinkGraph

    def weaken(self, share: float) -> LinkPenalty:
        """Return the penalty of links at a share of their strength."""
        return replace(self, graph=self.graph._replace(strength=share * self.graph.strength))

    def masses(self, criterion: Criterion, state: LinkedState) -> tuple[np.ndarray, np.ndarray, float]:
        """Return features (n_terms, k) and masses (k, f) of the linked objects, and their part of the objective."""
        costs = DistanceCosts(state.prototypes, criterion)
        features = lift(self.rows, state.prototypes.covariances is not None)
        cost = np.maximum(self.weight * costs.measure(self.rows, features), LEAST_COST)
        start = update_masses(cost, criterion.beta)[0].T if state.masses is None else state.masses
        return features, *linked_masses(cost.T, start, self.tables, self.graph)


def split_objects(
    objects: Objects, constraints: PairwiseConstraints, strength: float, focal_sets: FocalSets, name: str
) -> tuple[LinkPenalty, Objects | None]:
    """Return the linked objects with their penalty, and the other objects; None when all are linked.

    A link costs ``strength`` times its certainty when it is surely broken. Both parts are in the coordinates of the
    whole table.
    """
    chosen, rest = rows_apart(objects.source, constraints.objects)
    assert chosen.weight is not None
    pairs = np.searchsorted(constraints.objects, constraints.pairs)
    graph = LinkGraph.from_pairs(pairs, constraints.must, strength * constraints.certainty, len(constraints.objects))
    rows = to_rows(chosen.table, objects.coordinates)
    penalty = LinkPenalty(constraints.objects, rows, chosen.weight, breaking_tables(focal_sets), graph)
    weight = rest.weight if isinstance(rest, ArrayRows) else None
    if not (rest.n_rows if weight is None else np.count_nonzero(weight)):
        return penalty, None
    table = scan(rest, mixing=False, missing=False, who=name, sort=False, least_share=0)
    return penalty, Objects.from_table(table, rest, objects.coordinates)


def linked_step(
    free: Any, total_weight: float, criterion: Criterion, penalty: LinkPenalty, state: LinkedState
) -> tuple[float, LinkedState]:
    """Return J of a state with its penalty, and a better state: masses, then centers, then metrics.

    ``free`` are chunks of the objects without links, or None.
    """
    objective, sums = (
        Sums(0.0, np.zeros((1, 1)))
        if free is None
        else reduce_rows(chunk_sums, free, DistanceCosts(state.prototypes, criterion))
    )
    features, masses, part = penalty.masses(criterion, state)
    sums = sums + (penalty.weight[:, None] * np.square(masses)).T @ features.T
    objective += part + guard_cost(state.prototypes, total_weight)
    return objective, LinkedState(update_prototypes(sums, state.prototypes, criterion, total_weight), masses)


def minimize_with_links(
    descent: Callable[..., tuple[Run, list[Run]]],
    objects: Objects,
    free: Objects | None,
    criterion: Criterion,
    penalty: LinkPenalty,
    starts: list[LinkedStart],
) -> tuple[Solution, Run, list[Run]]:
    """Return the solution, the best run, and the runs from all starts.

    ``descent(step, starts, n_starts)`` runs the steps. Those of a large table are over a sample of the free objects;
    the best of them goes on over all rows.
    """
    few = None if free is None else free.sample().chunks

    def step(penalty: LinkPenalty, state: LinkedState) -> tuple[float, LinkedState]:
        return linked_step(few, objects.total, criterion, penalty, state)

    def strengthen(start: LinkedStart) -> LinkedState:
        state = LinkedState(start.prototypes)
        for share in start.schedule.ramp:
            _, state = step(penalty.weaken(share), state)
            if start.schedule.held:
                held = replace(state.prototypes, centers=start.prototypes.centers)
                state = state._replace(prototypes=held)
        return state

    # The map prepares a start when its turn comes, so that an interrupt finds the ends of those before.
    best, runs = descent(partial(step, penalty), map(strengthen, starts), len(starts))
    began = next(start for run, start in zip(runs, starts) if run is best)
    if free is not None and free.whole is not None and not runs[-1].interrupted:
        on_all = partial(linked_step, free.whole, objects.total, criterion, penalty)
        best, _ = descent(on_all, [best.state], 1)
    _, masses, _ = penalty.masses(criterion, best.state)
    solution = Solution(best.state.prototypes, criterion, LinkedMasses(penalty.numbers, masses))
    if starts[0].given and not began.given:  # the order of the given centers is kept
        solution = solution.renumber(pair_centers(starts[0].prototypes.centers, solution.prototypes.centers))
    return solution, best, runs


def schedule_links(
    starts: list[Prototypes],
    given: GivenStart | None,
    gradual: bool,
    search: Callable[[], list[Prototypes]] | None = None,
) -> list[LinkedStart]:
    """Return the starts with the ways in which their links grow.

    The starts of a search take the ways in turn. A start that the user gave takes each of them. Covariances given with
    it mean that it is the end of another fit, which goes on as it is. Centers alone may be such an end too, without its
    metrics: the centers are held while these are learned. The starts of ``search`` are added to given centers: linked
    objects have many minima, and centers do not tell to which of them they belong.
    """
    if not gradual:
        return [LinkedStart(start, AT_ONCE, given is not None) for start in starts]
    if given is None:
        return [LinkedStart(start, schedule) for start, schedule in zip(starts, cycle(GRADUAL))]
    begin = starts[0]
    if given.covariances is not None:
        return [LinkedStart(begin, AT_ONCE, given=True)]
    held = [] if begin.covariances is None else [schedule._replace(held=True) for schedule in GRADUAL]
    schedules = [AT_ONCE, *GRADUAL, *held]
    searched = [] if search is None else schedule_links(search(), None, gradual)
    return [*(LinkedStart(begin, schedule, given=True) for schedule in schedules), *searched]


def check_number(links: PairwiseConstraints, name: str) -> None:
    """Refuse more links than memory holds."""
    refuse_beyond_memory(LINK_BYTES * len(links), f"{name} with {len(links):,} links", "Give fewer links.")


def pair_centers(given: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return for each given center the number of its center, such that all pairs together are as near as can be."""
    return linear_sum_assignment(cdist(given, centers, "sqeuclidean"))[1]
