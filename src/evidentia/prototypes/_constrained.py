r"""Methods with centers that add a penalty for broken links to their criterion.

.. math::
    J(M, V, S) + \lambda \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\text{different})
    + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\text{same}) \Big]

Both plausibilities are bilinear in the masses of the two objects, so with :math:`\beta = 2` everything is quadratic in
the masses of one object. Objects without links keep the closed form of evidential c-means; the others are moved one at
a time (:mod:`evidentia.solvers.linked_masses`). Centers and metrics are updated as before, from the masses of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, starmap
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from evidentia._parameters import Integer, param
from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints, resolve_constraints
from evidentia.prototypes._base import INIT, INIT_DOC, SHAPES, Objects, PrototypeClusterer, Solution
from evidentia.prototypes._kernel import (
    LEAST_COST,
    Criterion,
    Prototypes,
    cost_terms,
    guard_cost,
    lift,
    update_masses,
    update_prototypes,
    weighted_sums,
)
from evidentia.solvers.descent import Run
from evidentia.solvers.threads import one_blas_thread

if TYPE_CHECKING:
    from evidentia.solvers.linked_masses import Ties

# Shares of their strength at which links begin to pull. On a long ramp all starts end in one minimum, and not always a
# good one; on a short one each remembers more of where it began.
RAMPS = tuple(np.geomspace(weakest, 1, 25)[:-1] for weakest in (1e-4, 1e-2, 1e-1))


def breaking_tables(focal_sets: FocalSets) -> np.ndarray:
    r"""Tables P with :math:`m_i^T P\, m_j` the plausibility that a link is broken: cannot-link, must-link; (2, f, f).

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


class Linked(NamedTuple):
    """What the descent moves: prototypes, and masses (k, f) from which those of the linked objects are sought."""

    prototypes: Prototypes
    masses: np.ndarray | None = None


@dataclass(frozen=True)
class Bonds:
    """The linked objects: their rows (p, k) and weights (k,), and what ties them, over the tables of broken links."""

    rows: np.ndarray
    weight: np.ndarray
    tables: np.ndarray
    ties: Ties

    @classmethod
    def of(cls, constraints: PairwiseConstraints, penalty: float, objects: Objects, focal_sets: FocalSets) -> Bonds:
        """Links that cost ``penalty`` times their certainty when they are surely broken."""
        from evidentia.solvers.linked_masses import make_ties  # numba: loaded only when there are links

        linked = constraints.objects
        pairs = np.searchsorted(linked, constraints.pairs)
        ties = make_ties(pairs, constraints.must, penalty * constraints.certainty, len(linked))
        return cls(objects.rows[:, linked], objects.weight[linked], breaking_tables(focal_sets), ties)

    def weakened(self, share: float) -> Bonds:
        return replace(self, ties=self.ties._replace(strength=share * self.ties.strength))

    def masses(self, state: Linked, criterion: Criterion) -> tuple[np.ndarray, np.ndarray, float]:
        """Features (n_terms, k) and masses (k, f) of the linked objects, and their part of the objective."""
        from evidentia.solvers.linked_masses import linked_masses

        features = lift(self.rows, state.prototypes.covariances is not None)
        cost = np.maximum(self.weight * (cost_terms(state.prototypes, criterion) @ features), LEAST_COST)
        start = update_masses(cost, criterion.beta)[0].T if state.masses is None else state.masses
        return features, *linked_masses(cost.T, start, self.tables, self.ties)


def linked_step(
    rows: np.ndarray, free_weight: np.ndarray, total_weight: float, criterion: Criterion, bonds: Bonds, state: Linked
) -> tuple[float, Linked]:
    """Criterion with its penalty, and a better state; ``free_weight`` is zero for the linked objects."""
    objective, sums = weighted_sums(rows, free_weight, state.prototypes, criterion)
    features, masses, part = bonds.masses(state, criterion)
    sums = sums + (bonds.weight[:, None] * np.square(masses)).T @ features.T
    objective += part + guard_cost(state.prototypes, total_weight)
    return objective, Linked(update_prototypes(sums, state.prototypes, criterion, total_weight), masses)


class ConstrainedClusterer(PrototypeClusterer):
    """Base of the methods with centers that take links; a subclass says how much a broken link costs.

    Links at full strength freeze the linked objects where the first centers put them. So a start first takes a few
    steps while its links grow from weak to full strength, and the centers have found their places before. How weak they
    begin changes from start to start. Centers that the user gives are tried in each of these ways and at full strength;
    a pair of centers and covariances, the end of another fit, at full strength alone.
    """

    beta = 2.0  # what makes the criterion quadratic in the masses
    n_init: int = param(
        Integer(low=1),
        """Number of starts; the one with the best criterion is kept. Each first takes 24 steps in which the links
        grow to full strength: the first from a ten-thousandth of it, the next from a hundredth, then from a tenth, and
        so on in turn.""",
        default=10,
    )
    init: Any = param(
        INIT,
        f"""{INIT_DOC}
        An array keeps its order of clusters, and is one place for four starts: at once with links of full strength, and
        with links that grow in each of three ways. To go on from a model when links were added, give its
        ``cluster_centers_``, with ``adaptive`` ``(cluster_centers_, covariances_)``; the pair makes one start, with
        links of full strength.""",
        default="mixed",
    )

    attributes = {
        "constraints_": "PairwiseConstraints\nThe links by row number; ``constraints_.violations(partition_)`` tells "
        "how far each is broken.",
        **SHAPES,
    }

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, constraints: Any = None) -> Self:
        """Find clusters in the rows of X that agree with what is known about pairs of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing. Links by name need a DataFrame whose index holds the names.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects in the geometrical part; its links count once.
        constraints : PairwiseConstraints, optional
            Hard links that contradict each other are refused; soft ones may.
        """
        self.check_parameters()
        self.constraints_ = resolve_constraints(self, constraints, X).check()
        table = self._check_table(X, reset=True)
        return self._fit_table(X, self._learn_rows(X, table), sample_weight)

    def _learn_rows(self, X: Any, table: np.ndarray) -> np.ndarray:
        """The rows that are clustered: those of the table, unless a method learns others from the links."""
        return table

    def _link_strength(self, objects: Objects, criterion: Criterion, start: Prototypes) -> float:
        """The xi that is used, in the units of X."""
        raise NotImplementedError

    def _penalty(self, xi: float, objects: Objects, focal_sets: FocalSets) -> float:
        """What a link surely broken adds to the plain sum of the kernel."""
        raise NotImplementedError

    def _search(
        self, objects: Objects, criterion: Criterion, starts: list[Prototypes]
    ) -> tuple[Solution, Run, list[Run]]:
        self.xi_ = self._link_strength(objects, criterion, starts[0])
        if not len(self.constraints_):
            return super()._search(objects, criterion, starts)
        penalty = self._penalty(self.xi_, objects, criterion.focal_sets)
        bonds = Bonds.of(self.constraints_, penalty, objects, criterion.focal_sets)
        free_weight = objects.weight.copy()
        free_weight[self.constraints_.objects] = 0

        def step(bonds: Bonds, state: Linked) -> tuple[float, Linked]:
            return linked_step(objects.rows, free_weight, objects.weight.sum(), criterion, bonds, state)

        def prepared(start: Prototypes, ramp: np.ndarray) -> Linked:
            state = Linked(start)
            for share in ramp:
                _, state = step(bonds.weakened(share), state)
            return state

        # The map prepares a start when its turn comes, so that an interrupt finds the ends of those before.
        ramped = self._ramped(starts)
        best, runs = self._descend(partial(step, bonds), starmap(prepared, ramped), len(ramped))
        _, tied, _ = bonds.masses(best.state, criterion)
        return Solution(best.state.prototypes, criterion, tied), best, runs

    def _ramped(self, starts: list[Prototypes]) -> list[tuple[Prototypes, np.ndarray]]:
        """Each start with the shares of their strength by which its links grow; given centers with all ways there are.

        Given covariances say that the start is the end of another fit: it is taken as it is.
        """
        if not self._start_given:
            return list(zip(starts, cycle(RAMPS)))
        at_once = RAMPS[0][:0]
        ways = (at_once, *RAMPS) if self._given_start()[1] is None else (at_once,)
        return [(start, ramp) for start in starts for ramp in ways]

    def _training_masses(self, rows: np.ndarray, solution: Solution) -> np.ndarray:
        masses = super()._training_masses(rows, solution)
        if solution.tied is not None:
            masses[self.constraints_.objects] = solution.tied
        return masses
