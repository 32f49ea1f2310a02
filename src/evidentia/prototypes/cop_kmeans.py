"""COP-KMEANS (Wagstaff, Cardie, Rogers & Schrödl, 2001): k-means that breaks no link."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import param
from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.methods import Method
from evidentia.prototypes._base import INIT, check_centers
from evidentia.rows.source import ArrayRows
from evidentia.solvers.descent import best_descent
from evidentia.solvers.neighbors import common_offset
from evidentia.solvers.starts import START_RULES


class UnsatisfiedLinks(ValueError):
    """COP-KMEANS found no partition that obeys all links; ``links`` are the cannot-links that stood in its way."""

    def __init__(self, message: str, links: list[tuple[int, int]]):
        super().__init__(message)
        self.links = links


class Groups(NamedTuple):
    """Objects joined by must-links, moved as one.

    The group of each object (n,), means (g, p) and weights (g,) of the groups, what each is apart from, and the sum of
    squares inside them, which no assignment changes.
    """

    of: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    apart: dict[int, np.ndarray]
    inside: float


class Assignment(NamedTuple):
    """Centers, the cluster of each group (g,) by them, and the group for which none was left, if there is one."""

    centers: np.ndarray
    order: np.ndarray
    chosen: np.ndarray
    stuck: int | None


def make_groups(table: np.ndarray, weight: np.ndarray, constraints: PairwiseConstraints) -> Groups:
    of = constraints.groups(len(table))
    total = np.bincount(of, weight)
    placing = np.where(total[of] > 0, weight, 1.0)  # objects that weigh nothing have a place all the same
    share = placing / np.bincount(of, placing)[of]
    mean = np.column_stack([np.bincount(of, share * column) for column in table.T])
    parted = np.unique(np.sort(of[constraints.cannot_link], axis=1), axis=0)
    one, other = np.concatenate([parted, parted[:, ::-1]]).T
    order = np.argsort(one, kind="stable")
    numbers, starts = np.unique(one[order], return_index=True)
    apart = dict(zip(numbers.tolist(), np.split(other[order], starts[1:])))
    inside = float(weight @ np.square(table - mean[of]).sum(axis=1))
    return Groups(of, mean, total, apart, inside)


def assign(groups: Groups, centers: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Nearest allowed center of each group, shape (g,), and the first group for which there was none.

    Groups without cannot-links take their nearest center; the others choose in the given order, and never again.
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


def assignment(groups: Groups, centers: np.ndarray, order: np.ndarray) -> Assignment:
    return Assignment(centers, order, *assign(groups, centers, order))


def reassign(groups: Groups, state: Assignment) -> tuple[float, Assignment]:
    """Sum of squares of an assignment, and the next one; a start that is stuck stays so, at an infinite sum."""
    if state.stuck is not None:
        return np.inf, state
    chosen, c = state.chosen, len(state.centers)
    gap = groups.mean - state.centers[chosen]
    size = np.bincount(chosen, groups.weight, minlength=c)
    sums = np.column_stack([np.bincount(chosen, groups.weight * column, minlength=c) for column in gap.T])
    means = state.centers + sums / np.where(size > 0, size, 1)[:, None]  # a center that got nothing stays
    return float(groups.inside + groups.weight @ np.square(gap).sum(axis=1)), assignment(groups, means, state.order)


def is_unchanged(before: Assignment, after: Assignment) -> bool:
    return before.stuck == after.stuck and np.array_equal(before.chosen, after.chosen)


def failure(groups: Groups, links: np.ndarray, stuck: int, n_starts: int) -> UnsatisfiedLinks:
    """Return the error that names the cannot-links (n_links, 2) of the group for which no cluster was left."""
    touched = [(i, j) for i, j in links[(groups.of[links] == stuck).any(axis=1)].tolist()]
    members = np.flatnonzero(groups.of == stuck)[:5].tolist()
    return UnsatisfiedLinks(
        f"COPKMeans failed from all {n_starts} starts: no cluster was left for objects {members}. "
        f"Its cannot-links: {', '.join(map(str, touched[:5]))}{' ...' if len(touched) > 5 else ''}. Ask for more "
        "clusters or starts, or take CECM or CFCM, for which links are soft.",
        touched,
    )


class COPKMeans(_base.IterativeClusterer):
    """k-means in which no link may be broken [1]_.

    An object takes the nearest center that its links allow. When they allow none, the method fails: this start is
    given up, and when all of them are, ``fit`` raises :class:`UnsatisfiedLinks` and names the links. All links count as
    hard, whatever their certainty.

    Attributes
    ----------
    partition_ : CredalPartition
        All mass of an object is on its cluster.
    criterion_ : float
        Sum of squared distances to the centers.
    criterion_trace_ : ndarray
        The criterion after each iteration of the best start. With cannot-links it may rise.
    start_criteria_ : ndarray
        The criterion at the end of every start, infinite for those that failed.
    n_failed_ : int
        Number of starts that ended without a partition.
    converged_ : bool
        Whether the best start came to rest. With cannot-links the centers may go round in circles; a
        ``ConvergenceWarning`` says so.

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

    method = Method(
        name="cop-kmeans", title="k-means that breaks no link", papers=("Wagstaff et al., *ICML* 2001",),
        guide="constraints", takes=("links", "weights"), grows="*n p c*", memory="*n p c*", doubt="none",
        limit="can fail where a partition exists",
    )  # fmt: skip

    tol = 0.0  # a start ends when no object moves
    init: Any = param(
        INIT,
        """Start of the centers: k-means solutions, random rows, half of each, or an array of centers that keep their
        order.""",
        default="k-means",
    )

    attributes = {
        "cluster_centers_": "ndarray of shape (n_clusters, n_features)\nClusters are numbered from the largest to the "
        "smallest, unless ``init`` gives them.",
        "constraints_": "PairwiseConstraints\nThe links by row number.",
    }

    def _fit(self, data: Data[ArrayRows]) -> np.ndarray:
        links, table, rng = data.constraints.check(soft=True), data.table, data.rng
        weight = np.ones(len(table)) if data.weight is None else data.weight
        self._check_start(table, weight)
        offset = common_offset(table)  # rounding in the mean of a constant may be more than all other differences
        table = table - offset
        groups = make_groups(table, weight, links)
        starts = self._starts(table, weight, offset, rng)
        linked = np.array(sorted(groups.apart), dtype=np.int64)
        best, runs = best_descent(
            partial(reassign, groups),
            (assignment(groups, centers, rng.permutation(linked)) for centers in starts),
            name="COPKMeans",
            max_iter=self.max_iter,
            rests=is_unchanged,
            unrest="its centers came to rest; with cannot-links they may go round in circles.",
            n_starts=len(starts),
            verbose=self.verbose,
        )
        self.n_failed_ = sum(run.state.stuck is not None for run in runs)
        if best.state.stuck is not None:
            raise failure(groups, links.cannot_link, best.state.stuck, len(runs))
        self._publish_run(best, runs)
        labels, centers = best.state.chosen[groups.of], best.state.centers
        if isinstance(self.init, str):
            order = _base.largest_first(np.bincount(labels, weight, minlength=self.n_clusters))
            labels, centers = np.argsort(order)[labels], centers[order]
        self.cluster_centers_ = centers + offset
        self.focal_sets_ = FocalSets(self.n_clusters, "singletons", empty=False)
        return np.eye(self.n_clusters)[labels]

    def _check_start(self, table: np.ndarray, weight: np.ndarray) -> None:
        """What of the parameters depends on the table."""
        _checks.check_enough_rows(self, int(np.count_nonzero(weight)), self.n_clusters)
        if not isinstance(self.init, str):
            check_centers(self, np.asarray(self.init, dtype=float), table.shape[1])

    def _starts(
        self, table: np.ndarray, weight: np.ndarray, offset: np.ndarray, rng: np.random.RandomState
    ) -> list[np.ndarray]:
        if isinstance(self.init, str):
            return list(START_RULES[self.init](table, self.n_clusters, self.n_init, rng, weight))
        return [np.asarray(self.init, dtype=float) - offset] * self.n_init  # the order of the choices still differs

    def _masses(self, X: np.ndarray) -> np.ndarray:
        sq_dist = np.square(X[:, None] - self.cluster_centers_).sum(axis=2)
        return np.eye(self.n_clusters_)[sq_dist.argmin(axis=1)]
