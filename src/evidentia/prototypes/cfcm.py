"""Constrained fuzzy c-means (Grira, Crucianu & Boujemaa, 2008)."""

from __future__ import annotations

from typing import Any

from evidentia._parameters import BOOLEAN, Choice, Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._base import Objects
from evidentia.prototypes._constrained import ConstrainedClusterer
from evidentia.prototypes._kernel import Criterion, Prototypes, chunk_sums
from evidentia.rows.passes import reduce_rows


class CFCM(ConstrainedClusterer):
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

    def _link_strength(self, objects: Objects, criterion: Criterion, start: Prototypes) -> float:
        if not len(self.constraints_):
            return 0.0
        if self.xi != "auto":
            return float(self.xi)
        found = self._end_of(self._step(objects.sample(), criterion), start)
        objective, sums = reduce_rows(chunk_sums, objects.sample().chunks, found, criterion)
        mean = objects.unit * objective / sums[:, 0].sum()
        return float(mean * objects.weight.sum() / len(self.constraints_))

    def _penalty(self, xi: float, objects: Objects, focal_sets: FocalSets) -> float:
        return xi / objects.unit
