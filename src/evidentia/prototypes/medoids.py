"""Evidential c-medoids (Zhou, Martin, Pan & Liu, 2016): a cluster is represented by one object, or by many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any, Self

import numpy as np

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.prototypes._kernel import LEAST_COST, update_masses
from evidentia.prototypes._medoid_base import MedoidClusterer, Position, best_distinct
from evidentia.solvers.barycentric import averaging

COINCIDING = 0.01  # share of the weights in which two clusters differ


def set_medoids(to_medoids: np.ndarray, focal_sets: FocalSets, eta: float) -> np.ndarray:
    r"""The object that represents each set: about as near to all of its clusters, and near.

    .. math::
        \bar v_A = \arg\min_i\; \mathrm{dev}_{k \in A}\, \tau(i, v_k)
            + \eta\, \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)

    with dev the standard deviation, so that units do not matter. For a single cluster that is its medoid.

    Parameters
    ----------
    to_medoids : ndarray of shape (n_samples, n_clusters)
        Dissimilarities of all objects to the medoids.
    focal_sets : FocalSets
    eta : float

    Examples
    --------
    Medoids 0 and 2 of four objects on a line; the second object is in the middle.

    >>> line = np.array([0.0, 1.0, 2.0, 9.0])
    >>> set_medoids(np.abs(line[:, None] - line[[0, 2]]), FocalSets(2, [{0}, {1}, {0, 1}]), eta=1.0)
    array([0, 2, 1])
    """
    average = averaging(focal_sets)
    mean = to_medoids @ average.T
    deviation = np.sqrt(np.maximum(to_medoids**2 @ average.T - mean**2, 0))
    return (deviation + eta * mean).argmin(axis=0)


class SECMdd(MedoidClusterer):
    r"""Evidential c-medoids with one object for each cluster and each set of clusters [1]_.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad
        d_{iA} = \frac{\tau(i, \bar v_A) + \gamma \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)}{1 + \gamma}

    with :math:`\tau` the dissimilarity, :math:`v_k` the medoid of cluster k, and :math:`\bar v_A` the object that is as
    near as possible to all medoids of A and about as near to each: with dev the standard deviation, it minimises
    :math:`\mathrm{dev}_{k \in A}\, \tau(i, v_k) + \eta \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)`. For a single cluster
    :math:`d_{i\{k\}} = \tau(i, v_k)`.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass. The named families hold the empty set and the set of all clusters.
    alpha : float >= 0
        Penalty of larger sets: the larger, the fewer objects are torn; from 1 on a set never holds most of the mass.
    beta : float > 1
        Fuzzifier: near 1 each object has its mass on one set, large values spread it.
    eta : float >= 0
        How much nearness counts against evenness when an object is chosen to represent a set.
    gamma : float >= 0
        Weight of the medoids of its clusters in the dissimilarity to a set.
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

    A new medoid :math:`v_k` minimises the part of J that contains it, for given masses and :math:`\bar v_A`; these
    follow the medoids and may raise J again, in which case the step is not taken and the descent ends. All pairs of
    objects are compared: n × n dissimilarities are held.

    ``predict_partition`` takes new rows, or for ``metric="precomputed"`` dissimilarities to the training objects.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. ECMdd: evidential c-medoids clustering with multiple prototypes.
       Pattern Recognition 60:239-257, 2016.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [10], [11], [12]]
    >>> model = SECMdd(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_, model.medoid_indices_
    (array([0, 0, 0, 0, 0, 1, 1, 1]), array([2, 6]))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        alpha: float = 0.5,
        beta: float = 2.0,
        eta: float = 1.0,
        gamma: float = 1.0,
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
        self.eta = eta
        self.gamma = gamma
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
        _base.check_number(self, "eta", low=0)
        _base.check_number(self, "gamma", low=0)

    def _placed(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Medoids of the clusters, then those of the sets."""
        return np.append(medoids, set_medoids(dissimilarity[:, medoids], focal_sets, self.eta))

    def _medoids(self, representatives: np.ndarray) -> np.ndarray:
        return representatives[: self.n_clusters]

    def _reordered(
        self, representatives: np.ndarray, order: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets
    ) -> np.ndarray:
        return self._placed(self._medoids(representatives)[order], dissimilarity, focal_sets)

    def _to_sets(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        to_clusters, to_sets = np.split(dissimilarity[:, representatives].T, [self.n_clusters])
        mixed = (to_sets + self.gamma * (averaging(focal_sets) @ to_clusters)) / (1 + self.gamma)
        single = focal_sets.card == 1
        mixed[single] = focal_sets.member[single] @ to_clusters
        return mixed

    def _moved(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> np.ndarray:
        share = np.where(focal_sets.card > 1, self.gamma / (1 + self.gamma), 1.0)
        pull = averaging(focal_sets) * (focal_sets.card.astype(float) ** self.alpha * share)[:, None]
        medoids = best_distinct(dissimilarity @ (position.powered.T @ pull))
        return self._placed(medoids, dissimilarity, focal_sets)


def set_weights(weights: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Weights of the objects in each set, (n_focal, n_samples): the least over its clusters, scaled to sum to one.

    Where no object has weight in all clusters of a set, the mean over them.

    Examples
    --------
    >>> set_weights(np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]), FocalSets(2, [{0}, {0, 1}]))
    array([[0.5, 0.5, 0. ],
           [0. , 1. , 0. ]])
    """
    least = averaging(focal_sets) @ weights
    for j, members in enumerate(focal_sets.member.astype(bool)):
        shared = weights[members].min(axis=0, initial=np.inf)
        if members.any() and shared.any():
            least[j] = shared / shared.sum()
    return least


class WECMdd(MedoidClusterer):
    r"""Evidential c-medoids in which every object represents each cluster by a weight [1]_.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad
        d_{i\{k\}} = \sum_l v_{kl}^{\psi}\, \tau(i, l), \qquad \sum_l v_{kl} = 1

    .. math::
        d_{iA} = \frac{\sum_l \bar v_{Al}^{\psi}\, \tau(i, l) + \xi \frac{1}{|A|} \sum_{k \in A} d_{i\{k\}}}{1 + \xi}
        \quad (|A| > 1), \qquad \bar v_{Al} \propto \min_{k \in A} v_{kl}

    with :math:`\tau` the dissimilarity.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass. The named families hold the empty set and the set of all clusters.
    alpha : float >= 0
        Penalty of larger sets: the larger, the fewer objects are torn.
    beta : float > 1
        Fuzzifier: near 1 each object has its mass on one set, large values spread it.
    psi : float > 1
        Exponent of the weights: near 1 one object represents a cluster, large values spread the weights until the
        clusters coincide, which is said by a warning. (At the authors' choice, 2, a descent that is not cut short ends
        there for most data.)
    xi : float >= 0
        Weight of its clusters in the dissimilarity to a set.
    rho : float or "auto"
        Dissimilarity of every object to the empty set: the smaller, the more outliers. The papers write
        :math:`\delta^2` for it. ``"auto"`` is the 0.95-quantile of all dissimilarities
        times :math:`(c/n)^{\psi-1}`, what it is to a cluster whose weight is spread evenly over n/c objects.
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
        The object of largest weight in each cluster. Clusters are numbered from the largest to the smallest, unless
        ``init`` or a list of focal sets fixes them.
    weights_ : ndarray of shape (n_clusters, n_samples)
        How much each object represents each cluster; rows sum to one.
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

    New weights :math:`v_{kl}` minimise the part of J that contains them, for given masses and :math:`\bar v_A`; these
    follow the weights and may raise J again, in which case the step is not taken and the descent ends. All pairs of
    objects are compared: n × n dissimilarities are held.

    ``predict_partition`` takes new rows, or for ``metric="precomputed"`` dissimilarities to the training objects.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. ECMdd: evidential c-medoids clustering with multiple prototypes.
       Pattern Recognition 60:239-257, 2016.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [10], [11], [12]]
    >>> model = WECMdd(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_, model.medoid_indices_
    (array([0, 0, 0, 0, 0, 1, 1, 1]), array([2, 6]))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        alpha: float = 1.0,
        beta: float = 2.0,
        psi: float = 1.1,
        xi: float = 5.0,
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
        self.psi = psi
        self.xi = xi
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
        _base.check_number(self, "psi", low=1, strict=True)
        _base.check_number(self, "xi", low=0)

    def _distance_to_empty(self, dissimilarity: np.ndarray) -> float:
        found = super()._distance_to_empty(dissimilarity)
        even = (self.n_clusters / len(dissimilarity)) ** (self.psi - 1)
        return found * even if self.rho == "auto" else found

    def _placed(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Weights (n_clusters, n_samples) of clusters that hold whoever is nearest to their medoid."""
        to_medoids = dissimilarity[:, medoids]
        nearest = (to_medoids.argmin(axis=1)[:, None] == np.arange(self.n_clusters)).astype(float)
        nearest[medoids] = np.eye(self.n_clusters)  # copies of a medoid leave no cluster empty
        return self._weights(dissimilarity, nearest)

    def _medoids(self, representatives: np.ndarray) -> np.ndarray:
        return representatives.argmax(axis=1)

    def _to_sets(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        to_clusters = representatives**self.psi @ dissimilarity.T
        to_sets = set_weights(representatives, focal_sets) ** self.psi @ dissimilarity.T
        mixed = (to_sets + self.xi * (averaging(focal_sets) @ to_clusters)) / (1 + self.xi)
        single = focal_sets.card == 1
        mixed[single] = focal_sets.member[single] @ to_clusters
        return mixed

    def _moved(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> np.ndarray:
        share = np.where(focal_sets.card > 1, self.xi / (1 + self.xi), 1.0)
        pull = averaging(focal_sets) * (focal_sets.card.astype(float) ** self.alpha * share)[:, None]
        return self._weights(dissimilarity, position.powered.T @ pull)

    def _weights(self, dissimilarity: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Weights that minimise the sum of pulls times dissimilarities to the clusters."""
        return update_masses(np.maximum(dissimilarity @ pull, LEAST_COST), self.psi)[0].T

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters in a matrix of dissimilarities, or in the rows of a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of dissimilarities
        y : None
            Ignored.
        """
        super().fit(X)
        self.weights_ = self._representatives
        alike = [
            (a, b)
            for a, b in combinations(range(self.n_clusters), 2)
            if np.abs(self.weights_[a] - self.weights_[b]).sum() < 2 * COINCIDING
        ]
        if alike:
            warn_user(
                f"WECMdd: clusters {alike[0][0]} and {alike[0][1]} are represented by the same weights: they are one. "
                "Lower psi towards 1, or ask for fewer clusters.",
                UserWarning,
            )
        return self
