r"""What the methods with medoids share: dissimilarities in, starts, a descent that never rises, prediction.

All of them minimize, for the dissimilarity :math:`d_{iA}` of object i and set A that each of them defines,

.. math::
    J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^\alpha m_{iA}^\beta d_{iA} + \rho\, m_{i\varnothing}^\beta \Big],

and for given representatives the masses are those of evidential c-means. So a method is two functions: how unlike
objects and sets are, and which representatives are better for given masses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Number, Predicate, fitted, param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.dissimilarities import RelationalClusterer, Source, full_matrix, new_blocks
from evidentia.partition import CredalPartition
from evidentia.prototypes._kernel import LEAST_COST, Criterion, renumber_sets, update_masses
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.descent import Run
from evidentia.solvers.starts import OBJECT_START_RULES

FAMILIES = ("full", "pairs", "simple", "singletons")
RHO_QUANTILE = 0.95
COPIES = 3  # of the matrix of dissimilarities, while it is checked
CURE = "Take a sample of them and predict_partition for the others, or ECM, CCM or EkNNclus."


@dataclass(frozen=True, eq=False)
class Position:
    """Where a descent stands: what represents the clusters, and what follows from it."""

    representatives: Any
    powered: np.ndarray  # m**beta, shape (n_focal, n_samples)
    objective: float


def best_distinct(cost: np.ndarray) -> np.ndarray:
    """Return the cheapest object for each cluster, from a table (n_samples, n_clusters), no object taken twice.

    Examples
    --------
    >>> best_distinct(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]))
    array([0, 1])
    """
    chosen: list[int] = []
    for column in cost.T.copy():
        column[chosen] = np.inf
        chosen.append(int(column.argmin()))
    return np.array(chosen)


def mix(own: np.ndarray, to_clusters: np.ndarray, focal_sets: FocalSets, share: float) -> np.ndarray:
    r"""Return the dissimilarity to sets with their own representatives, mixed with the mean of that to their clusters.

    .. math:: d_{iA} = \frac{o_{iA} + s \frac{1}{|A|} \sum_{k \in A} d_{ik}}{1 + s} \quad (|A| > 1)

    Parameters
    ----------
    own : ndarray of shape (n_focal, n_samples)
        To the representatives of the sets.
    to_clusters : ndarray of shape (n_clusters, n_samples)
    focal_sets : FocalSets
    share : float

    Examples
    --------
    >>> mix(np.array([[9.0], [1.0]]), np.array([[2.0], [4.0]]), FocalSets(2, [{0}, {0, 1}]), share=3.0).ravel()
    array([2. , 2.5])
    """
    mixed = (own + share * (averaging(focal_sets) @ to_clusters)) / (1 + share)
    single = focal_sets.card == 1
    mixed[single] = focal_sets.member[single] @ to_clusters
    return mixed


def pull(powered: np.ndarray, focal_sets: FocalSets, alpha: float, share: float) -> np.ndarray:
    r"""Return how much the dissimilarity of each object to each cluster counts in J, by way of :func:`mix`.

    .. math::
        w_{ik} = m_{i\{k\}}^\beta + \frac{s}{1 + s} \sum_{A \ni k,\, |A| > 1} |A|^{\alpha - 1} m_{iA}^\beta

    Examples
    --------
    >>> pull(np.array([[0.5], [0.1]]), FocalSets(2, [{0}, {0, 1}]), alpha=2.0, share=1.0)       # 0.5 + 2 * 0.1 / 2
    array([[0.6, 0.1]])
    """
    part = np.where(focal_sets.card > 1, share / (1 + share), 1.0)
    return powered.T @ (averaging(focal_sets) * (focal_sets.card.astype(float) ** alpha * part)[:, None])


Compared = Any  # what objects are compared by: a matrix of dissimilarities, or the several that MECMdd has


class MedoidClusterer(RelationalClusterer):
    """Base of the methods with medoids.

    A subclass says how unlike object i and set A are, given what represents the clusters, and how to represent them
    better. A step that would raise the criterion is not taken, and ends the descent.
    """

    focal_sets: Any = param(
        _base.focal_families(*FAMILIES),
        "Sets of clusters that may hold mass. The named families hold the empty set.",
        default="pairs",
    )
    alpha: float = param(_base.ALPHA, "Penalty of larger sets: the larger, the fewer are ambiguous.", default=1.0)
    beta: float = param(
        _base.BETA, "Fuzzifier: near 1 each object has its mass on one set, large values spread it.", default=2.0
    )
    rho: Any = param(
        _base.RHO,
        r"""Dissimilarity of every object to the empty set: the smaller, the more outliers. The papers write
        :math:`\delta^2` for it. ``"auto"`` is the 0.95-quantile of all dissimilarities.""",
        default="auto",
    )
    init: Any = param(
        Choice(*OBJECT_START_RULES) | Predicate("array of n_clusters object numbers"),
        """``"spread"`` draws first medoids far from each other. Numbers of objects make one start and keep its order of
        clusters.""",
        default="spread",
    )
    tol: float = param(
        Number(low=0),
        "A start ends when an iteration improves the criterion by no more than this share of it.",
        default=1e-8,
    )

    attributes = {
        "medoid_indices_": "ndarray of shape (n_clusters,)\nThe object that stands for each cluster. Clusters are "
        "numbered from the largest to the\nsmallest, unless ``init`` or a list of focal sets fixes them.",
        "rho_": "float or None\nDissimilarity to the empty set that was used; None without the empty set.",
    }

    # -- what a subclass gives ----------------------------------------------------------------------------------------

    _least_cost: float = fitted()
    _representatives: Any = fitted()
    _criterion: Any = fitted()

    def _represent(self, medoids: np.ndarray, dissimilarity: Compared, focal_sets: FocalSets) -> Any:
        """Return representatives of clusters and sets when these objects are the medoids."""
        raise NotImplementedError

    def _compare(self, dissimilarity: Compared, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        """Return the dissimilarity of some objects, rows of (n, n_train), to each focal set, (n_focal, n)."""
        raise NotImplementedError

    def _improve(self, dissimilarity: Compared, position: Position, focal_sets: FocalSets) -> Any:
        """Return better representatives for given masses."""
        raise NotImplementedError

    def _medoids(self, representatives: Any) -> np.ndarray:
        """Return one object for each cluster."""
        return representatives.clusters

    def _joint(self, dissimilarity: Compared) -> np.ndarray:
        """Return what starts are drawn from, (n, n)."""
        return dissimilarity

    def _reorder(self, representatives: Any, order: np.ndarray, dissimilarity: Compared, focal_sets: FocalSets) -> Any:
        """Return representatives when old cluster ``order[k]`` is cluster ``k`` of the new focal sets."""
        return self._represent(self._medoids(representatives)[order], dissimilarity, focal_sets)

    # -- the fit ------------------------------------------------------------------------------------------------------

    def _fit(self, data: Data[Source]) -> np.ndarray:
        check_given_objects(self, len(data.rows), *OBJECT_START_RULES)
        dissimilarity = full_matrix(data.rows, who=type(self).__name__, cure=CURE, copies=COPIES)
        # The cost of an object that is a medoid, in the units of the dissimilarities:
        self._least_cost = max(LEAST_COST * float(dissimilarity.max()), np.finfo(float).tiny)
        focal_sets = self._family()
        rho = self._distance_to_empty(dissimilarity) if focal_sets.empty_index is not None else None
        criterion = Criterion(focal_sets, self.alpha, self.beta, rho)
        best, runs = self._search(dissimilarity, criterion, data.rng)
        self.rho_, self._source = rho, data.rows.needed_for_new()
        self._publish_run(best, runs)
        self._store_solution(dissimilarity, best.state.representatives, criterion)
        return self._place(dissimilarity, self._representatives, self._criterion)

    def _search(
        self, dissimilarity: Compared, criterion: Criterion, rng: np.random.RandomState
    ) -> tuple[Run, list[Run]]:
        starts = [np.asarray(self.init)]
        if self._starts_by_rule:
            starts = list(OBJECT_START_RULES[self.init](self._joint(dissimilarity), self.n_clusters, self.n_init, rng))
        positions = (
            self._position(dissimilarity, self._represent(start, dissimilarity, criterion.focal_sets), criterion)
            for start in starts
        )
        return self._best_descent(partial(self._step, dissimilarity, criterion), positions, len(starts))

    def _step(self, dissimilarity: Compared, criterion: Criterion, here: Position) -> tuple[float, Position]:
        there = self._position(dissimilarity, self._improve(dissimilarity, here, criterion.focal_sets), criterion)
        return here.objective, there if there.objective < here.objective else here

    def _position(self, dissimilarity: Compared, representatives: Any, criterion: Criterion) -> Position:
        cost = self._cost(dissimilarity, representatives, criterion)
        masses, least = update_masses(cost, criterion.beta)
        return Position(representatives, masses * (least / cost), float(least.sum()))

    def _cost(self, dissimilarity: Compared, representatives: Any, criterion: Criterion) -> np.ndarray:
        cost = self._compare(dissimilarity, representatives, criterion.focal_sets)
        cost *= criterion.penalty[:, None]
        if criterion.rho is not None:
            cost[criterion.focal_sets.empty_index] = criterion.rho
        return np.maximum(cost, self._least_cost, out=cost)

    def _place(self, dissimilarity: Compared, representatives: Any, criterion: Criterion) -> np.ndarray:
        return update_masses(self._cost(dissimilarity, representatives, criterion), criterion.beta)[0].T

    def _store_solution(self, dissimilarity: Compared, representatives: Any, criterion: Criterion) -> None:
        """Number the clusters from the largest to the smallest, unless their order was given, and publish them."""
        focal_sets = criterion.focal_sets
        if isinstance(self.focal_sets, str) and self._starts_by_rule:
            masses = self._place(dissimilarity, representatives, criterion)
            share = CredalPartition(masses, focal_sets, copy=False).pignistic
            order = _base.largest_first(share.sum(axis=0), tie=share.argmax(axis=0))
            focal_sets, _ = renumber_sets(focal_sets, order)
            representatives = self._reorder(representatives, order, dissimilarity, focal_sets)
        self._representatives, self._criterion = representatives, replace(criterion, focal_sets=focal_sets)
        self.focal_sets_, self.medoid_indices_ = focal_sets, self._medoids(representatives)

    def _masses(self, X: Any) -> np.ndarray:
        masses = np.empty((len(X), len(self.focal_sets_)))
        for rows, block in new_blocks(self._source, X):
            masses[rows] = self._place(block, self._representatives, self._criterion)
        return masses

    # -- what the user gave -------------------------------------------------------------------------------------------

    @property
    def _starts_by_rule(self) -> bool:
        return isinstance(self.init, str)

    def _family(self) -> FocalSets:
        return resolve_focal_sets(self.focal_sets, self.n_clusters, empty=self.method.empty_set)

    def _distance_to_empty(self, dissimilarity: np.ndarray) -> float:
        if self.rho != "auto":
            return _checks.check_rho(self, float(dissimilarity.max()))
        pairs = squareform(dissimilarity, checks=False)
        typical = float(np.quantile(pairs, RHO_QUANTILE))
        return typical if typical > 0 else float(pairs.max())


def check_given_objects(estimator: Any, n: int, *names: str) -> None:
    """Refuse more clusters than objects, and an ``init`` that is neither a name nor as many objects as clusters."""
    _checks.check_enough_rows(estimator, n, estimator.n_clusters)
    if isinstance(estimator.init, str):
        return
    given, c = np.asarray(estimator.init), estimator.n_clusters
    good = given.shape == (c,) and given.dtype.kind in "iu"
    if not good or len(set(given.tolist())) < len(given) or given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"The 'init' parameter of {type(estimator).__name__} must be {', '.join(map(repr, names))} or {c} "
            f"different objects by number, 0 to {n - 1}. Got {estimator.init!r}."
        )
