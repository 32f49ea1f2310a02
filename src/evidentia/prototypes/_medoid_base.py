r"""What the methods with medoids share: dissimilarities in, starts, a descent that never rises, prediction.

All of them minimize, for the dissimilarity :math:`d_{iA}` of object i and set A that each of them defines,

.. math::
    J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^\alpha m_{iA}^\beta d_{iA} + \rho\, m_{i\varnothing}^\beta \Big],

and for given representatives the masses are those of evidential c-means. So a method is two functions: how unlike
objects and sets are, and which representatives are better for given masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from evidentia import _base
from evidentia._docs import DESCENT
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import MAX_CLUSTERS, canonical_order
from evidentia.dissimilarities import check_dissimilarities
from evidentia.partition import CredalPartition
from evidentia.prototypes._kernel import LEAST_COST, update_masses
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.descent import best_descent
from evidentia.solvers.neighbours import distances

LARGEST = 2 << 30  # bytes of a matrix of dissimilarities that is made without being asked twice
RHO_QUANTILE = 0.95

DOCS = DESCENT | {
    "sets": """
        n_clusters : int
        focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
            Sets of clusters that may hold mass. The named families hold the empty set and the set of all clusters.
        alpha : float >= 0
            Penalty of larger sets: the larger, the fewer objects are torn.
        beta : float > 1
            Fuzzifier: near 1 each object has its mass on one set, large values spread it.
        """,
    "rho": r"""
        rho : float or "auto"
            Dissimilarity of every object to the empty set: the smaller, the more outliers. The papers write
            :math:`\delta^2` for it. ``"auto"`` is the 0.95-quantile of all dissimilarities.
        """,
    "search": """
        metric : str or callable
            ``"precomputed"`` for a matrix of dissimilarities, or a metric that scikit-learn knows.
        %(n_init)s
        init : "spread" or array-like of int, shape (n_clusters,)
            ``"spread"`` draws first medoids far from each other. Numbers of objects make one start and keep its order
            of clusters.
        %(limits)s
        """,
    "results": """
        partition_ : CredalPartition
        labels_ : ndarray of shape (n_samples,)
        medoid_indices_ : ndarray of shape (n_clusters,)
            The object that stands for each cluster. Clusters are numbered from the largest to the smallest, unless
            ``init`` or a list of focal sets fixes them.
        %(trace)s
        """,
    "use": """
        Objects have no weights; a row that counts twice is given twice. All pairs of objects are compared: n × n
        dissimilarities are held. ``predict_partition`` takes new rows, or for ``metric="precomputed"`` dissimilarities
        to the training objects.
        """,
}


@dataclass(frozen=True, eq=False)
class Position:
    """Where a descent stands: what represents the clusters, and what follows from it."""

    representatives: Any
    powered: np.ndarray  # m**beta, shape (n_focal, n_samples)
    objective: float


def seeds(dissimilarity: np.ndarray, n_clusters: int, rng: np.random.RandomState) -> np.ndarray:
    """Objects far from each other: each next one is drawn in proportion to its dissimilarity to those before."""
    chosen = [rng.randint(len(dissimilarity))]
    nearest = dissimilarity[chosen[0]].copy()
    nearest[chosen[0]] = 0
    while len(chosen) < n_clusters:
        left = np.ones(len(nearest))
        left[chosen] = 0
        chances = np.cumsum(nearest if nearest.any() else left)  # only copies are left: any object will do
        chosen.append(int(np.searchsorted(chances, rng.uniform() * chances[-1], side="right")))
        nearest = np.minimum(nearest, dissimilarity[chosen[-1]])
        nearest[chosen] = 0
    return np.array(chosen)


def best_distinct(cost: np.ndarray) -> np.ndarray:
    """The cheapest object for each cluster, from a table (n_samples, n_clusters), no object taken twice.

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
    r"""Dissimilarity to sets that have a representative of their own: mixed with the mean of that to their clusters.

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
    r"""How much the dissimilarity of each object to each cluster counts in J, by way of :func:`mix`.

    .. math::
        w_{ik} = m_{i\{k\}}^\beta + \frac{s}{1 + s} \sum_{A \ni k,\, |A| > 1} |A|^{\alpha - 1} m_{iA}^\beta

    Examples
    --------
    >>> pull(np.array([[0.5], [0.1]]), FocalSets(2, [{0}, {0, 1}]), alpha=2.0, share=1.0)       # 0.5 + 2 * 0.1 / 2
    array([[0.6, 0.1]])
    """
    part = np.where(focal_sets.card > 1, share / (1 + share), 1.0)
    return powered.T @ (averaging(focal_sets) * (focal_sets.card.astype(float) ** alpha * part)[:, None])


class MedoidClusterer(_base.EvidentialClusterer):
    """Base of the methods with medoids.

    A subclass says how unlike object i and set A are, given what represents the clusters, and how to represent them
    better. A step that would raise the criterion is not taken, and ends the descent.
    """

    n_clusters: int
    focal_sets: Any
    alpha: float
    beta: float
    rho: Any
    metric: Any
    n_init: int
    init: Any
    max_iter: int
    tol: float
    random_state: Any
    verbose: int

    # -- what a subclass gives ----------------------------------------------------------------------------------------

    def _represent(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> Any:
        """Representatives of clusters and sets when these objects are the medoids."""
        raise NotImplementedError

    def _compare(self, dissimilarity: np.ndarray, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        """Dissimilarity of some objects, rows of (n, n_train), to each focal set, (n_focal, n)."""
        raise NotImplementedError

    def _improve(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> Any:
        """Better representatives for given masses."""
        raise NotImplementedError

    def _medoids(self, representatives: Any) -> np.ndarray:
        """One object for each cluster."""
        return representatives.clusters

    def _reorder(
        self, representatives: Any, order: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets
    ) -> Any:
        """Representatives when old cluster ``order[k]`` is cluster ``k`` of the new focal sets."""
        return self._represent(self._medoids(representatives)[order], dissimilarity, focal_sets)

    # -- the fit ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters in a matrix of dissimilarities, or in the rows of a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of dissimilarities
        y : None
            Ignored.
        """
        table = _base.check_table(self, X)
        self._check_params(len(table))
        dissimilarity = self._dissimilarities(table)
        focal_sets = self._family()
        self.rho_ = self._distance_to_empty(dissimilarity) if focal_sets.empty_index is not None else None

        rng = check_random_state(self.random_state)
        starts = [self._start(dissimilarity, rng) for _ in range(self.n_init if self._named_start else 1)]
        best, runs = best_descent(
            lambda position: self._step(dissimilarity, focal_sets, position),
            (
                self._position(dissimilarity, self._represent(start, dissimilarity, focal_sets), focal_sets)
                for start in starts
            ),
            name=type(self).__name__,
            max_iter=self.max_iter,
            tol=self.tol,
            relative=True,
            n_starts=len(starts),
            verbose=self.verbose,
        )
        self.criterion_trace_, self.criterion_, self.n_iter_ = best.trace, best.objective, best.n_iter
        self.start_criteria_ = np.array([run.objective for run in runs])
        self._settle(dissimilarity, best.state.representatives, focal_sets)
        self._train = None if self._pairwise else table
        self.medoid_indices_ = self._medoids(self._representatives)
        self._publish(X, self._masses_of(dissimilarity, self._representatives, self.focal_sets_))
        return self

    def _step(self, dissimilarity: np.ndarray, focal_sets: FocalSets, here: Position) -> tuple[float, Position]:
        there = self._position(dissimilarity, self._improve(dissimilarity, here, focal_sets), focal_sets)
        return here.objective, there if there.objective < here.objective else here

    def _position(self, dissimilarity: np.ndarray, representatives: Any, focal_sets: FocalSets) -> Position:
        cost = self._cost(dissimilarity, representatives, focal_sets)
        masses, least = update_masses(cost, self.beta)
        return Position(representatives, masses * (least / cost), float(least.sum()))

    def _cost(self, dissimilarity: np.ndarray, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        cost = self._compare(dissimilarity, representatives, focal_sets)
        cost *= (focal_sets.card.astype(float) ** self.alpha)[:, None]
        if focal_sets.empty_index is not None:
            cost[focal_sets.empty_index] = self.rho_
        return np.maximum(cost, LEAST_COST, out=cost)  # an object that is a medoid

    def _masses_of(self, dissimilarity: np.ndarray, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        return update_masses(self._cost(dissimilarity, representatives, focal_sets), self.beta)[0].T

    def _settle(self, dissimilarity: np.ndarray, found: Any, focal_sets: FocalSets) -> None:
        """Number the clusters from the largest to the smallest, unless their order was given."""
        self._representatives, self.focal_sets_ = found, focal_sets
        if isinstance(self.focal_sets, str) and self._named_start:
            masses = self._masses_of(dissimilarity, found, focal_sets)
            share = CredalPartition(masses, focal_sets, copy=False).pignistic
            order = _base.largest_first(share.sum(axis=0), tie=share.argmax(axis=0))
            masks = canonical_order(focal_sets.relabel(order).masks.tolist())
            self.focal_sets_ = FocalSets(self.n_clusters, masks)
            self._representatives = self._reorder(found, order, dissimilarity, self.focal_sets_)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        masses = np.empty((len(X), len(self.focal_sets_)))
        for rows in row_blocks(len(X), X.shape[1] if self._train is None else len(self._train)):
            block = X[rows] if self._train is None else distances(X[rows], self._train, metric=self.metric)
            masses[rows] = self._masses_of(block, self._representatives, self.focal_sets_)
        return masses

    # -- what the user gave -------------------------------------------------------------------------------------------

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _named_start(self) -> bool:
        return isinstance(self.init, str)

    def _dissimilarities(self, table: np.ndarray) -> np.ndarray:
        who = type(self).__name__
        if self._pairwise:
            return check_dissimilarities(table, who)
        if 8 * len(table) ** 2 > LARGEST:
            raise MemoryError(
                f"{who} compares all pairs of objects, which for {len(table)} of them needs "
                f"{8 * len(table) ** 2 / 2**30:.1f} GiB. Take a sample of them and predict_partition for the others, "
                "or ECM, CCM or EkNNclus."
            )
        return check_dissimilarities(distances(table, table, metric=self.metric), who)

    def _family(self) -> FocalSets:
        if isinstance(self.focal_sets, str):
            _base.check_choice(self, "focal_sets", ("full", "pairs", "simple"))
        return resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True)

    def _distance_to_empty(self, dissimilarity: np.ndarray) -> float:
        if self.rho != "auto":
            return float(self.rho)
        pairs = dissimilarity[np.triu_indices(len(dissimilarity), 1)]
        typical = float(np.quantile(pairs, RHO_QUANTILE))
        return typical if typical > 0 else float(pairs.max())

    def _start(self, dissimilarity: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        return seeds(dissimilarity, self.n_clusters, rng) if self._named_start else np.asarray(self.init)

    def _check_params(self, n: int) -> None:
        _base.check_number(self, "n_clusters", low=1, high=MAX_CLUSTERS, integer=True)
        _base.check_number(self, "alpha", low=0, high=100)
        _base.check_number(self, "beta", low=1, strict=True)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)
        _base.check_number(self, "tol", low=0)
        if isinstance(self.rho, str):
            _base.check_choice(self, "rho", ("auto",))
        else:
            _base.check_number(self, "rho", low=0, strict=True)
        _base.check_enough_rows(self, n, self.n_clusters)
        if self._named_start:
            _base.check_choice(self, "init", ("spread",))
            return
        given = np.asarray(self.init)
        good = given.shape == (self.n_clusters,) and given.dtype.kind in "iu"
        if not good or len(set(given.tolist())) < len(given) or given.min() < 0 or given.max() >= n:
            raise ValueError(
                f"The 'init' parameter of {type(self).__name__} must be 'spread' or {self.n_clusters} different "
                f"objects by number, 0 to {n - 1}. Got {self.init!r}."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags
