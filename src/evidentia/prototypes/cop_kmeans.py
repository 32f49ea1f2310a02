"""COP-KMEANS (Wagstaff, Cardie, Rogers & Schrödl, 2001): k-means that breaks no link."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS
from evidentia.constraints import PairwiseConstraints, resolve_constraints
from evidentia.solvers.starts import START_RULES


class UnsatisfiedLinks(ValueError):
    """COP-KMEANS found no partition that obeys all links; ``links`` are the cannot-links that stood in its way."""

    def __init__(self, message: str, links: list[tuple[int, int]]):
        super().__init__(message)
        self.links = links


class Groups(NamedTuple):
    """Objects joined by must-links, moved as one: means (g, p), weights (g,), and what each is apart from."""

    of: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    apart: dict[int, list[int]]


def make_groups(table: np.ndarray, weight: np.ndarray, constraints: PairwiseConstraints) -> Groups:
    of = constraints.groups(len(table))
    total = np.bincount(of, weight)
    share = weight / np.where(total > 0, total, 1)[of]
    mean = np.column_stack([np.bincount(of, share * column) for column in table.T])
    apart: dict[int, list[int]] = {}
    for a, b in np.unique(np.sort(of[constraints.cannot_link], axis=1), axis=0).tolist():
        apart.setdefault(a, []).append(b)
        apart.setdefault(b, []).append(a)
    return Groups(of, mean, total, apart)


def assign(groups: Groups, centers: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Nearest allowed centre of each group, shape (g,), and the first group for which there was none.

    Groups without cannot-links take their nearest centre; the others choose in the given order, and never again.
    """
    sq_dist = np.square(groups.mean[:, None] - centers).sum(axis=2)
    chosen = sq_dist.argmin(axis=1)
    chosen[order] = -1
    for group in order.tolist():
        taken = chosen[groups.apart[group]]
        allowed = sq_dist[group].copy()
        allowed[taken[taken >= 0]] = np.inf
        if np.isinf(allowed.min()):
            return chosen, group
        chosen[group] = allowed.argmin()
    return chosen, None


class COPKMeans(_base.EvidentialClusterer):
    """k-means in which no link may be broken [1]_.

    An object takes the nearest centre that its links allow. When they allow none, the method fails: this start is
    given up, and when all of them are, ``fit`` raises :class:`UnsatisfiedLinks` and names the links. All links count as
    hard, whatever their certainty.

    Parameters
    ----------
    n_clusters : int
    n_init : int
        Number of starts; the one with the lowest sum of squares among those that succeed is kept.
    init : {"k-means", "random"} or array-like of shape (n_clusters, n_features)
        Start of the centres: k-means solutions, random rows, or centres that keep their order.
    max_iter : int
    random_state : int, RandomState or None

    Attributes
    ----------
    partition_ : CredalPartition
        All mass of an object is on its cluster.
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` gives them.
    constraints_ : PairwiseConstraints
        The links by row number.
    n_failed_ : int
        Number of starts that ended without a partition.
    converged_ : bool
        Whether the kept start came to rest. With cannot-links the centres may go round in circles; a
        ``ConvergenceWarning`` says so.
    criterion_ : float
        Sum of squared distances to the centres.
    start_criteria_ : ndarray
        Final criterion of every start, infinite for those that failed.
    n_iter_ : int
    focal_sets_ : FocalSets

    Notes
    -----
    Objects joined by must-links move as one, by their mean. Cannot-links are obeyed greedily, in an order drawn for
    each start, and a choice is not taken back: the method can fail where a partition exists.

    References
    ----------
    .. [1] K. Wagstaff, C. Cardie, S. Rogers, S. Schrödl. Constrained k-means clustering with background knowledge.
       ICML, 577-584, 2001.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [4.4], [8.0], [9.0]]
    >>> links = PairwiseConstraints.from_links(must_link=[(3, 4)])
    >>> COPKMeans(2, random_state=0).fit(X, constraints=links).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        random_state: Any = None,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, constraints: Any = None) -> Self:
        """Find clusters in the rows of X that obey all links.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        constraints : PairwiseConstraints, optional
        """
        self.constraints_ = resolve_constraints(self, constraints, X).check(soft=True)
        table = _base.check_table(self, X)
        weight = _base.check_weight(self, sample_weight, len(table))
        weight = np.ones(len(table)) if weight is None else weight
        self._check_params(table, weight)
        groups = make_groups(table, weight, self.constraints_)
        rng = check_random_state(self.random_state)
        runs = [self._run(groups, start, rng) for start in self._starts(table, weight, rng)]

        inside = float(weight @ np.square(table - groups.mean[groups.of]).sum(axis=1))
        self.start_criteria_ = np.array([inside + run["spread"] for run in runs])
        self.n_failed_ = int(np.isinf(self.start_criteria_).sum())
        if self.n_failed_ == len(runs):
            raise self._failure(groups, runs[0]["stuck"])
        best = runs[int(self.start_criteria_.argmin())]
        self.criterion_, self.n_iter_, self.converged_ = min(self.start_criteria_), best["n_iter"], best["converged"]
        if not self.converged_:
            warn_user(
                f"COPKMeans reached max_iter={self.max_iter} before its centres came to rest; with cannot-links they "
                "may go round in circles.",
                ConvergenceWarning,
            )
        labels = best["chosen"][groups.of]
        self._centers = best["centers"]
        if isinstance(self.init, str):
            order = _base.largest_first(np.bincount(labels, weight, minlength=self.n_clusters))
            labels, self._centers = np.argsort(order)[labels], self._centers[order]
        self.cluster_centers_ = self._centers
        self.focal_sets_ = FocalSets(self.n_clusters, "singletons", empty=False, omega=False)
        self._publish(X, np.eye(self.n_clusters)[labels])
        return self

    def _check_params(self, table: np.ndarray, weight: np.ndarray) -> None:
        _base.check_number(self, "n_clusters", low=1, high=MAX_CLUSTERS, integer=True)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)
        _base.check_enough_rows(self, int(np.count_nonzero(weight)), self.n_clusters)
        if isinstance(self.init, str):
            _base.check_choice(self, "init", tuple(START_RULES))
        elif np.shape(self.init) != (self.n_clusters, table.shape[1]):
            raise ValueError(
                "The 'init' parameter of COPKMeans must be 'k-means', 'random' or an array of centres of shape "
                f"{(self.n_clusters, table.shape[1])}, one row per cluster. Got shape {np.shape(self.init)}."
            )

    def _starts(self, table: np.ndarray, weight: np.ndarray, rng: np.random.RandomState) -> list[np.ndarray]:
        if isinstance(self.init, str):
            return list(START_RULES[self.init](table, self.n_clusters, self.n_init, rng, weight))
        return [np.asarray(self.init, dtype=float)] * self.n_init  # the order of the choices still differs

    def _run(self, groups: Groups, centers: np.ndarray, rng: np.random.RandomState) -> dict[str, Any]:
        order = rng.permutation(np.array(sorted(groups.apart), dtype=np.int64))
        run: dict[str, Any] = {"chosen": None, "converged": False, "stuck": None, "spread": np.inf, "n_iter": 0}
        while not run["converged"] and run["n_iter"] < self.max_iter:
            chosen, run["stuck"] = assign(groups, centers, order)
            if run["stuck"] is not None:
                return {**run, "spread": np.inf}
            run["converged"] = run["chosen"] is not None and np.array_equal(chosen, run["chosen"])
            run["chosen"], run["n_iter"] = chosen, run["n_iter"] + 1
            size = np.bincount(chosen, groups.weight, minlength=self.n_clusters)
            sums = np.column_stack(
                [np.bincount(chosen, groups.weight * column, minlength=self.n_clusters) for column in groups.mean.T]
            )
            centers = np.where(size[:, None] > 0, sums / np.where(size > 0, size, 1)[:, None], centers)
            run["centers"] = centers
            run["spread"] = float(groups.weight @ np.square(groups.mean - centers[chosen]).sum(axis=1))
        return run

    def _failure(self, groups: Groups, stuck: int) -> UnsatisfiedLinks:
        touched = [(i, j) for i, j in self.constraints_.cannot_link.tolist() if stuck in (groups.of[i], groups.of[j])]
        members = np.flatnonzero(groups.of == stuck)[:5].tolist()
        return UnsatisfiedLinks(
            f"COPKMeans failed from all {len(self.start_criteria_)} starts: no cluster was left for objects {members}. "
            f"Its cannot-links: {', '.join(map(str, touched[:5]))}{' ...' if len(touched) > 5 else ''}. Ask for more "
            "clusters or starts, or take CECM or CFCM, for which links are soft.",
            touched,
        )

    def _masses(self, X: np.ndarray) -> np.ndarray:
        sq_dist = np.square(X[:, None] - self._centers).sum(axis=2)
        return np.eye(self.n_clusters)[sq_dist.argmin(axis=1)]
