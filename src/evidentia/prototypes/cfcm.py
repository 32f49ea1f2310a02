"""Constrained fuzzy c-means (Grira, Crucianu & Boujemaa, 2008)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.prototypes._base import squared_unit
from evidentia.prototypes._constrained import ConstrainedClusterer
from evidentia.prototypes._kernel import Criterion, Prototypes, descent_step, weighted_sums
from evidentia.solvers.descent import descend


class CFCM(ConstrainedClusterer):
    r"""Fuzzy c-means with a penalty for broken links [1]_, the method CECM is nearest to.

    .. math::
        J = \sum_i \sum_k u_{ik}^2 d_{ik}^2 + w \Big[ \sum_{(i, j) \in \mathcal M} s_{ij} \sum_{k \ne l} u_{ik} u_{jl}
            + \sum_{(i, j) \in \mathcal C} s_{ij} \sum_k u_{ik} u_{jk} \Big]

    with :math:`s_{ij}` the certainty of the link.

    Parameters
    ----------
    n_clusters : int
    weight : float >= 0 or "auto"
        Cost w of a broken link, in the units of X squared. ``"auto"`` follows [1]_ and makes both parts comparable: the
        mean squared distance :math:`\sum u^2 d^2 / \sum u^2` of a solution without links, times the number of objects
        per link. (There it follows the descent; here it is fixed, so that J never rises.)
    metric : {"euclidean", "mahalanobis"}
        ``"mahalanobis"`` gives each cluster its fuzzy covariance, as Gustafson and Kessel do.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept. Each first takes a few steps in which
        the links grow from weak to full strength.
    init : {"k-means", "random"}, array-like of shape (n_clusters, n_features), or (centres, covariances)
        Start. ``"k-means"`` begins half of the starts at k-means solutions and half at random rows. An array makes
        one start, at once with links of full strength, and keeps its order of clusters.
    max_iter : int
    tol : float
        A descent ends when the criterion falls by less than this share of itself.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
        Masses on single clusters: ``partition_.pignistic`` is the fuzzy partition U.
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` gives them.
    constraints_ : PairwiseConstraints
        The links by row number.
    weight_ : float
        The w that was used; 0 without links.
    criterion_ : float
    criterion_trace_ : ndarray
        J after each iteration; it never rises.
    start_criteria_ : ndarray
    n_iter_ : int
    focal_sets_ : FocalSets
    covariances_, metric_ : ndarray of shape (n_clusters, n_features, n_features) or None

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

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        weight: float | str = "auto",
        metric: str = "euclidean",
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.weight = weight
        self.metric = metric
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _family(self) -> FocalSets:
        self.weight_ = 0.0
        return FocalSets(self.n_clusters, "singletons", empty=False, omega=False)

    def _check_params(self, table: np.ndarray, weight: np.ndarray) -> None:
        super()._check_params(table, weight)
        if isinstance(self.weight, str):
            _base.check_choice(self, "weight", ("auto",))
        else:
            _base.check_number(self, "weight", low=0)

    def _strength(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, start: Prototypes) -> float:
        unit = squared_unit(self._coordinates)
        if isinstance(self.weight, str):
            step = partial(descent_step, rows, weight, criterion)
            found = descend(step, start, max_iter=self.max_iter, tol=self.tol, relative=True).state
            objective, sums = weighted_sums(rows, weight, found, criterion)
            self.weight_ = float(unit * objective / sums[:, 0].sum() * weight.sum() / len(self.constraints_))
        else:
            self.weight_ = float(self.weight)
        return self.weight_ / unit
