"""Constrained fuzzy c-means (Grira, Crucianu & Boujemaa, 2008)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from evidentia._data import Data
from evidentia._parameters import BOOLEAN, Choice, Number, param
from evidentia.methods import Method
from evidentia.partition import LazyPartition
from evidentia.prototypes._base import Objects, PrototypeClusterer, Solution, given_start, single_clusters
from evidentia.prototypes._kernel import DistanceCosts, Prototypes, chunk_sums, descent_step
from evidentia.prototypes._links import check_number, minimize_with_links, schedule_links, split_objects
from evidentia.prototypes.cecm import CECM
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import RowSource


class CFCM(PrototypeClusterer):
    r"""Fuzzy c-means with a penalty for broken links [1]_, the method CECM is nearest to.

    .. math::
        J = \sum_i \sum_k u_{ik}^2 d_{ik}^2 + \xi \Big[ \sum_{(i, j) \in \mathcal M} s_{ij} \sum_{k \ne l} u_{ik} u_{jl}
            + \sum_{(i, j) \in \mathcal C} s_{ij} \sum_k u_{ik} u_{jk} \Big]

    with :math:`s_{ij}` the certainty of the link.

    Attributes
    ----------
    partition_ : CredalPartition
        Masses on single clusters: ``partition_.pignistic`` is the fuzzy partition U.
    xi_ : float
        The cost of a broken link that was used; 0 without links.

    Notes
    -----
    [1]_ adds a term that lets clusters compete and die, to find their number; here the number is given. The degrees of
    linked objects are found one object at a time on the simplex, where [1]_ clips a formula that may be negative.

    References
    ----------
    .. [1] N. Grira, M. Crucianu, N. Boujemaa. Active semi-supervised fuzzy clustering.
       Pattern Recognition 41(5), 2008.

    Examples
    --------
    >>> from evidentia.constraints import PairwiseConstraints
    >>> X = [[0.0], [1.0], [2.0], [4.4], [8.0], [9.0]]
    >>> CFCM(2, random_state=0).fit(X).labels_
    array([0, 0, 0, 0, 1, 1])
    >>> links = PairwiseConstraints.from_links(must_link=[(3, 4)])
    >>> CFCM(2, init=[[1], [8]]).fit(X, constraints=links).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    method = Method(
        name="cfcm", title="fuzzy c-means with links", papers=("Grira et al., *Pattern Recognition* 41, 2008",),
        guide="constraints", takes=("links", "weights", "rows beyond memory"), grows="as CECM, *f = c*", memory="*n c*",
        doubt="memberships", limit="no outliers, no sets",
    )  # fmt: skip

    beta = 2.0  # what makes the criterion quadratic in the masses
    n_init: Any = CECM.parameters["n_init"]
    gradual: Any = CECM.parameters["gradual"]
    init: Any = CECM.parameters["init"]
    xi: Any = param(
        Choice("auto") | Number(low=0),
        r"""Cost of a broken link, in the units of X squared. ``"auto"`` follows [1]_ and makes both parts comparable:
        the mean squared distance :math:`\sum u^2 d^2 / \sum u^2` of a solution without links, times the number of
        objects per link. (There it follows the descent; here it is fixed, so that J never rises.)""",
        default="auto",
    )
    adaptive: bool = param(
        BOOLEAN, "Give each cluster its fuzzy covariance, as Gustafson and Kessel do.", default=False
    )

    attributes = CECM.attributes

    def _fit(self, data: Data[RowSource]) -> np.ndarray | LazyPartition:
        links, given, rows, rng = data.constraints, given_start(self.init), data.rows, data.rng
        check_number(links, "CFCM")
        objects = self._read_objects(rows)
        starts = self._draw_starts(objects, rng)
        criterion, self.xi_ = single_clusters(self.n_clusters, self.beta), 0.0
        if len(links):
            self._refuse_masses(rows, criterion.focal_sets)
            automatic = isinstance(self.xi, str)
            self.xi_ = self._mean_cost(objects, starts[0], len(links)) if automatic else float(self.xi)
            penalty, free = split_objects(objects, links, self.xi_ / objects.unit, criterion.focal_sets, "CFCM")
            draw = check_random_state(0) if self.random_state is None else rng  # what is given is no matter of chance
            search = partial(self._draw_by_rule, "mixed", objects, draw)
            solution, best, runs = minimize_with_links(
                self._best_descent, objects, free, criterion, penalty,
                schedule_links(starts, given, self.gradual, search),
            )  # fmt: skip
        else:
            best, runs = self._minimize(descent_step, objects, criterion, starts)
            solution = Solution(best.state, criterion)
        solution, _ = self._store_solution(objects, solution, best, runs)
        return self._masses_with_links(rows, solution.linked)

    def _mean_cost(self, objects: Objects, start: Prototypes, n_links: int) -> float:
        """Return the mean squared distance of a solution without links, times the number of objects per link."""
        end = self._end_of(descent_step, objects, start)
        costs = DistanceCosts(end, single_clusters(self.n_clusters, self.beta))
        objective, sums = reduce_rows(chunk_sums, objects.sample().chunks, costs)
        mean = objects.unit * objective / sums[:, 0].sum()
        return float(mean * objects.total / n_links)
