"""Median evidential c-means (Zhou, Martin, Pan & Liu, 2015)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.prototypes._medoid_base import MedoidClusterer, Position
from evidentia.solvers.blocks import row_blocks


def to_set(first: np.ndarray, others: np.ndarray, *, gamma: float, eta: float) -> np.ndarray:
    r"""Dissimilarity to a set of clusters, from those to its clusters.

    .. math::
        \frac{\gamma\, \mathrm{mean}_k\, \tau_k + \rho \min_k \tau_k}{\gamma + 1}, \qquad
        \rho = \frac{\sum_{k < l} |\tau_k - \tau_l|}{\eta \sum_k \tau_k}

    Parameters
    ----------
    first : ndarray of shape (..., n)
        Dissimilarities of n objects to one cluster, for several candidates at once.
    others : ndarray of shape (n_others, n)
        To the other clusters.

    Examples
    --------
    >>> to_set(np.array([2.0]), np.array([[6.0]]), gamma=3.0, eta=1.0)      # (3 * 4 + 4 / 8 * 2) / 4
    array([3.25])
    """
    total = first + others.sum(axis=0)
    gaps = sum((np.abs(one - other) for one, other in combinations(others, 2)), np.zeros(others.shape[1]))
    for other in others:
        gaps = gaps + np.abs(first - other)
    least = np.minimum(first, others.min(axis=0))
    ratio = np.divide(gaps, eta * total, out=np.zeros_like(total), where=total > 0)
    return (gamma / (len(others) + 1) * total + ratio * least) / (gamma + 1)


class MECM(MedoidClusterer):
    r"""Median evidential c-means [1]_: medoids for single clusters only; sets are for objects about as near to each.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad d_{i\{k\}} = \tau(i, v_k),

    .. math::
        d_{iA} = \frac{1}{\gamma + 1} \Big[ \frac{\gamma}{|A|} \sum_{k \in A} \tau(i, v_k)
            + \rho_{iA} \min_{k \in A} \tau(i, v_k) \Big] \quad (|A| > 1), \qquad
        \rho_{iA} = \frac{\sum_{k < l \in A} |\tau(i, v_k) - \tau(i, v_l)|}{\eta \sum_{k \in A} \tau(i, v_k)}

    with :math:`\tau` the dissimilarity and :math:`v_k` the medoid of cluster k. It was made for communities in graphs:
    dissimilarities need not come from any space.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass. The named families hold the empty set and the set of all clusters.
    alpha : float >= 0
        Penalty of larger sets: the larger, the fewer objects are torn.
    beta : float > 1
        Fuzzifier: near 1 each object has its mass on one set, large values spread it.
    gamma : float >= 0
        Weight of the mean dissimilarity to the clusters of a set against their unevenness.
    eta : float > 0
        Tolerance of unevenness: the larger, the more objects are torn.
    rho : float or "auto"
        Dissimilarity of every object to the empty set: the smaller, the more outliers. The papers write
        :math:`\delta^2` for it. ``"auto"`` is the 0.95-quantile of all dissimilarities.
    metric : str or callable
        ``"precomputed"`` for a matrix of dissimilarities, or a metric that scikit-learn knows.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept.
    init : "spread" or array-like of int, shape (n_clusters,)
        ``"spread"`` draws first medoids far from each other. Numbers of objects make one start and keep its order of
        clusters.
    max_iter : int
    tol : float
        A descent ends when the criterion falls by less than this share of itself.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
    medoid_indices_ : ndarray of shape (n_clusters,)
        The medoid of each cluster. Clusters are numbered from the largest to the smallest, unless ``init`` or a list of
        focal sets fixes them.
    focal_sets_ : FocalSets
    rho_ : float or None
    criterion_ : float
    criterion_trace_ : ndarray
        Criterion after each iteration; it never rises.
    start_criteria_ : ndarray
        Final criterion of every start.
    n_iter_ : int

    Notes
    -----
    The article was not at hand when this was written: the criterion above is what is minimised, and it may differ from
    the authors' program in details.

    Objects have no weights; a row that counts twice is given twice.

    For given masses each medoid in turn goes to the object that minimises J, all objects being tried: an iteration
    costs n² operations for each cluster and each set it is in. n × n dissimilarities are held.

    ``predict_partition`` takes new rows, or for ``metric="precomputed"`` dissimilarities to the training objects.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. Median evidential c-means algorithm and its application to community
       detection. Knowledge-Based Systems 74:69-88, 2015.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [7], [10], [11], [12]]
    >>> model = MECM(n_clusters=2, random_state=0).fit(X)
    >>> model.medoid_indices_
    array([2, 7])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        alpha: float = 1.0,
        beta: float = 2.0,
        gamma: float = 1.0,
        eta: float = 1.0,
        rho: float | str = "auto",
        metric: Any = "euclidean",
        n_init: int = 10,
        init: Any = "spread",
        max_iter: int = 300,
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.eta = eta
        self.rho = rho
        self.metric = metric
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self, n: int) -> None:
        super()._check_params(n)
        _base.check_number(self, "gamma", low=0)
        _base.check_number(self, "eta", low=0, strict=True)

    def _to_sets(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        to_clusters = dissimilarity[:, representatives].T
        found = focal_sets.member @ to_clusters
        for j in np.flatnonzero(focal_sets.card > 1):
            first, *others = np.flatnonzero(focal_sets.member[j])
            found[j] = to_set(to_clusters[first], to_clusters[others], gamma=self.gamma, eta=self.eta)
        return found

    def _moved(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> np.ndarray:
        medoids = position.representatives.copy()
        powered = position.powered * (focal_sets.card.astype(float) ** self.alpha)[:, None]
        for k in range(self.n_clusters):
            cost = self._cost_of_candidates(dissimilarity, medoids, k, powered, focal_sets)
            cost[np.delete(medoids, k)] = np.inf  # no object stands for two clusters
            medoids[k] = cost.argmin()
        return medoids

    def _cost_of_candidates(
        self, dissimilarity: np.ndarray, medoids: np.ndarray, k: int, powered: np.ndarray, focal_sets: FocalSets
    ) -> np.ndarray:
        """The part of J that contains medoid k, were it each of the objects."""
        single = focal_sets.singleton_index[k]
        cost = dissimilarity @ powered[single] if single >= 0 else np.zeros(len(dissimilarity))
        for j in np.flatnonzero((focal_sets.member[:, k] == 1) & (focal_sets.card > 1)):
            others = dissimilarity[medoids[np.setdiff1d(np.flatnonzero(focal_sets.member[j]), k)]]
            for rows in row_blocks(len(cost), 4 * dissimilarity.shape[1]):
                cost[rows] += to_set(dissimilarity[rows], others, gamma=self.gamma, eta=self.eta) @ powered[j]
        return cost
