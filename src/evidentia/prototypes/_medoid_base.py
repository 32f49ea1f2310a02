"""What the methods with medoids share: dissimilarities in, starts, a descent that never rises, prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from evidentia import _base
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import MAX_CLUSTERS, canonical_order
from evidentia.dissimilarities import check_dissimilarities
from evidentia.prototypes._kernel import LEAST_COST, update_masses
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.descent import best_descent
from evidentia.solvers.neighbours import distances

LARGEST = 2 << 30  # bytes of a matrix of dissimilarities that is made without being asked twice
RHO_QUANTILE = 0.95


@dataclass(frozen=True, eq=False)
class Position:
    """Where a descent stands: what represents the clusters, and what follows from it."""

    representatives: np.ndarray
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


class MedoidClusterer(_base.EvidentialClusterer):
    r"""Base of the methods with medoids.

    .. math:: J = \sum_i \Big[ \sum_A |A|^\alpha m_{iA}^\beta d_{iA} + \rho\, m_{i\varnothing}^\beta \Big]

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

    def _placed(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Representatives of clusters whose medoids are these objects."""
        return medoids

    def _to_sets(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Dissimilarity of some objects, rows of (n, n_train), to each focal set, (n_focal, n)."""
        raise NotImplementedError

    def _moved(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> np.ndarray:
        """Better representatives for given masses."""
        raise NotImplementedError

    def _reordered(
        self, representatives: np.ndarray, order: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets
    ) -> np.ndarray:
        """Representatives when old cluster ``order[k]`` is cluster ``k`` of the new focal sets."""
        return representatives[order]

    def _medoids(self, representatives: np.ndarray) -> np.ndarray:
        """One object for each cluster."""
        return representatives

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
                self._position(dissimilarity, self._placed(start, dissimilarity, focal_sets), focal_sets)
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
        there = self._position(dissimilarity, self._moved(dissimilarity, here, focal_sets), focal_sets)
        return here.objective, there if there.objective < here.objective else here

    def _position(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> Position:
        cost = self._cost(dissimilarity, representatives, focal_sets)
        masses, least = update_masses(cost, self.beta)
        return Position(representatives, masses * (least / cost), float(least.sum()))

    def _cost(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        cost = self._to_sets(dissimilarity, representatives, focal_sets)
        cost *= (focal_sets.card.astype(float) ** self.alpha)[:, None]
        if focal_sets.empty_index is not None:
            cost[focal_sets.empty_index] = self.rho_
        return np.maximum(cost, LEAST_COST, out=cost)  # an object that is a medoid

    def _masses_of(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        return update_masses(self._cost(dissimilarity, representatives, focal_sets), self.beta)[0].T

    def _settle(self, dissimilarity: np.ndarray, found: np.ndarray, focal_sets: FocalSets) -> None:
        """Number the clusters from the largest to the smallest, unless their order was given."""
        self._representatives, self.focal_sets_ = found, focal_sets
        if isinstance(self.focal_sets, str) and self._named_start:
            share = self._masses_of(dissimilarity, found, focal_sets) @ averaging(focal_sets)
            order = _base.largest_first(share.sum(axis=0), tie=share.argmax(axis=0))
            masks = canonical_order(focal_sets.relabel(order).masks.tolist())
            self.focal_sets_ = FocalSets(self.n_clusters, masks)
            self._representatives = self._reordered(found, order, dissimilarity, self.focal_sets_)

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
