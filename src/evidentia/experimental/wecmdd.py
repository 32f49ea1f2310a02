"""Evidential c-medoids with many weighted objects for a cluster (Zhou, Martin, Pan & Liu, 2016), as we recall it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from evidentia._base import BETA, RHO
from evidentia._parameters import Number, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._kernel import LEAST_COST, Criterion, update_masses
from evidentia.prototypes._medoid_base import FAMILIES, MedoidClusterer, Position, mix, pull
from evidentia.solvers.barycentric import averaging

COINCIDING = 0.01  # share of the weights in which two clusters differ


def set_weights(weights: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Return weights of the objects in each set, (n_focal, n_samples): the least over its clusters, as shares of one.

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


def cluster_weights(dissimilarity: np.ndarray, weight: np.ndarray, psi: float) -> np.ndarray:
    r"""Return weights (n_clusters, n_samples) that minimize :math:`\sum_i w_{ik} \sum_l v_{kl}^\psi \tau(i, l)`.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 3.0])
    >>> cluster_weights(np.abs(line[:, None] - line), np.array([[1.0], [0.0], [1.0]]), psi=2.0)      # all sums are 3
    array([[0.33333333, 0.33333333, 0.33333333]])
    """
    cost = dissimilarity @ weight
    return update_masses(np.maximum(cost, LEAST_COST * (cost.max() or 1.0)), psi)[0].T


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

    Attributes
    ----------
    medoid_weights_ : ndarray of shape (n_clusters, n_samples)
        How much each object represents each cluster; rows sum to one, and ``medoid_indices_`` are their largest.

    Notes
    -----
    *From a source* (the abstract; no program was found): each object has a weight in each cluster, and several may
    represent one.

    *Derived* from the criterion: the masses, and the weights for given masses and :math:`\bar v_A`.

    *Our reading*, from memory: :math:`d_{i\{k\}}` and the least weight for sets; that the latter are scaled to sum to
    one, that :math:`d_{iA}` is mixed with the clusters', and that sets count when weights are chosen. psi and mixing
    are by trial; from psi 1.5 on, on Iris, a descent that takes every step ends with clusters that coincide.

    :math:`\bar v_A` follows the weights and may raise J again, in which case the step is not taken and the descent
    ends. All pairs are compared, and the n × n dissimilarities held.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. ECMdd: evidential c-medoids clustering with multiple prototypes.
       Pattern Recognition 60:239-257, 2016. arXiv:1606.01113, hal-01326332.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [10], [11], [12]]
    >>> model = WECMdd(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_, model.medoid_indices_
    (array([0, 0, 0, 0, 0, 1, 1, 1]), array([2, 6]))
    """

    method = Method(
        name="wecmdd", title="evidential c-medoids: every object stands for each cluster by a weight",
        papers=("Zhou et al., *Pattern Recognition* 60, 2016",), guide="density", reads=("table", "dissimilarities"),
        families=FAMILIES, empty_set=True, power=2, grows="*{n} c*", memory="*{n}*", doubt="sets, outliers",
        limit="clusters may coincide", sources="its abstract and memory", quick={"n_init": 3},
    )  # fmt: skip

    psi: float = param(
        BETA,
        """Exponent of the weights: near 1 one object represents a cluster, large values spread the weights until the
        clusters coincide, which is said by a warning.""",
        default=1.1,
    )
    mixing: float = param(
        Number(low=0), r":math:`\xi`, the weight of the clusters in the dissimilarity to a set.", default=5.0
    )
    rho: Any = param(
        RHO,
        r"""Dissimilarity of every object to the empty set: the smaller, the more outliers. The paper writes
        :math:`\delta^2` for it. Dissimilarities to clusters are small when the weight is spread over many objects:
        ``"auto"`` is the 0.95-quantile of all dissimilarities times :math:`(c/n)^{\psi-1}`, what it is to a cluster
        whose weight is spread evenly over n/c objects.""",
        default="auto",
    )

    def _distance_to_empty(self, dissimilarity: np.ndarray) -> float:
        found = super()._distance_to_empty(dissimilarity)
        even = (self.n_clusters / len(dissimilarity)) ** (self.psi - 1)
        return found * even if self.rho == "auto" else found

    def _represent(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Return weights (n_clusters, n_samples) of clusters that hold the objects nearest to their medoid."""
        nearest = np.eye(self.n_clusters)[dissimilarity[:, medoids].argmin(axis=1)]
        nearest[medoids] = np.eye(self.n_clusters)  # copies of a medoid leave no cluster empty
        return cluster_weights(dissimilarity, nearest, self.psi)

    def _medoids(self, representatives: np.ndarray) -> np.ndarray:
        return representatives.argmax(axis=1)

    def _reorder(
        self, representatives: np.ndarray, order: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets
    ) -> np.ndarray:
        return representatives[order]

    def _compare(self, dissimilarity: np.ndarray, representatives: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        to_clusters = representatives**self.psi @ dissimilarity.T
        to_sets = set_weights(representatives, focal_sets) ** self.psi @ dissimilarity.T
        return mix(to_sets, to_clusters, focal_sets, self.mixing)

    def _improve(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> np.ndarray:
        return cluster_weights(dissimilarity, pull(position.powered, focal_sets, self.alpha, self.mixing), self.psi)

    def _store_solution(self, dissimilarity: np.ndarray, representatives: np.ndarray, criterion: Criterion) -> None:
        super()._store_solution(dissimilarity, representatives, criterion)
        self.medoid_weights_ = self._representatives
        for a, b in combinations(range(self.n_clusters), 2):
            if np.abs(self.medoid_weights_[a] - self.medoid_weights_[b]).sum() < 2 * COINCIDING:
                warn_user(
                    f"WECMdd: clusters {a} and {b} are represented by the same weights: they are one. "
                    "Lower psi toward 1, or ask for fewer clusters.",
                    UserWarning,
                )
                break
