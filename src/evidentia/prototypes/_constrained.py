r"""Methods with centres that add a penalty for broken links to their criterion.

.. math::
    J(M, V, S) + \lambda \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\text{different})
    + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\text{same}) \Big]

Both plausibilities are bilinear in the masses of the two objects, so with :math:`\beta = 2` everything is quadratic in
the masses of one object. Objects without links keep the closed form of evidential c-means; the others are moved one at
a time (:mod:`evidentia.solvers.linked_masses`). Centres and metrics are updated as before, from the masses of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints, resolve_constraints
from evidentia.prototypes._base import PrototypeClusterer
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
from evidentia.solvers.descent import Run, Step

if TYPE_CHECKING:
    from evidentia.solvers.linked_masses import Ties

RAMP = np.geomspace(1e-4, 1, 25)[:-1]  # shares of their strength at which links begin to pull


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
    def of(
        cls,
        constraints: PairwiseConstraints,
        strength: float,
        rows: np.ndarray,
        weight: np.ndarray,
        focal_sets: FocalSets,
    ) -> Bonds:
        """Links whose penalty counts ``strength`` times their certainty."""
        from evidentia.solvers.linked_masses import make_ties  # numba: loaded only when there are links

        objects = constraints.objects
        pairs = np.searchsorted(objects, constraints.pairs)
        ties = make_ties(pairs, constraints.must, strength * constraints.certainty, len(objects))
        return cls(rows[:, objects], weight[objects], breaking_tables(focal_sets), ties)

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
    """Base of the methods with centres that take links; a subclass says how much a broken link costs.

    Links at full strength freeze the linked objects where the first centres put them. So a start first takes a few
    steps while its links grow from weak to full strength, and the centres have found their places before. A start that
    the user gives is taken as it is.
    """

    beta = 2.0  # what makes the criterion quadratic in the masses

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
        self.constraints_ = resolve_constraints(self, constraints, X).check()
        return super().fit(X, y, sample_weight)

    def _strength(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, start: Prototypes) -> float:
        """Penalty of a link surely broken, in the units of the kernel's plain sum."""
        raise NotImplementedError

    def _search(
        self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, starts: Any
    ) -> tuple[Criterion, Run, list[Run]]:
        if not len(self.constraints_):
            return super()._search(rows, weight, criterion, starts)
        strength = self._strength(rows, weight, criterion, starts[0])
        self._bonds = Bonds.of(self.constraints_, strength, rows, weight, criterion.focal_sets)
        prepared = map(partial(self._prepared, rows, weight, criterion), starts)  # one by one: it may be interrupted
        return super()._search(rows, weight, criterion, prepared)

    def _prepared(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, start: Prototypes) -> Linked:
        state = Linked(start)
        for share in () if self._start_given else RAMP:
            _, state = self._step(rows, weight, criterion, share)(state)
        return state

    def _step(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, share: float = 1.0) -> Step:
        if not len(self.constraints_):
            return super()._step(rows, weight, criterion)
        free_weight = weight.copy()
        free_weight[self.constraints_.objects] = 0
        return partial(linked_step, rows, free_weight, weight.sum(), criterion, self._bonds.weakened(share))

    def _settle(self, table: np.ndarray, weight: np.ndarray, prototypes: Any, criterion: Criterion) -> None:
        self._linked_masses = None
        if isinstance(prototypes, Linked):
            _, self._linked_masses, _ = self._bonds.masses(prototypes, criterion)
            prototypes = prototypes.prototypes
            del self._bonds
        super()._settle(table, weight, prototypes, criterion)

    def _renumber(self, order: np.ndarray) -> None:
        moved = self._criterion.focal_sets.relabel(order)
        super()._renumber(order)
        if self._linked_masses is not None:
            columns = [moved.index(mask) for mask in self._criterion.focal_sets.masks]
            self._linked_masses = self._linked_masses[:, columns]

    def _training_masses(self, table: np.ndarray) -> np.ndarray:
        masses = super()._training_masses(table)
        if self._linked_masses is not None:
            masses[self.constraints_.objects] = self._linked_masses
        return masses
