"""Median evidential c-means (Zhou, Martin, Pan & Liu, 2015)."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from evidentia._parameters import Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._kernel import LEAST_COST
from evidentia.prototypes._medoid_base import FAMILIES, MedoidClusterer, Position
from evidentia.solvers.barycentric import sums_over_pairs
from evidentia.solvers.memory import row_blocks


class SpacedMedoids(NamedTuple):
    """The medoids of the clusters, (n_clusters,), and the sum of dissimilarities between those of a set, (n_focal,)."""

    clusters: np.ndarray
    apart: np.ndarray


def unevenness(first: np.ndarray, others: np.ndarray) -> np.ndarray:
    r"""Return :math:`\min_k \tau_k \sum_{k < l} |\tau_k - \tau_l|`.

    Arrays are as for :func:`to_set`; ``first`` may have a row for each candidate.

    Examples
    --------
    >>> unevenness(np.array([2.0]), np.array([[6.0], [7.0]]))      # 2 * (4 + 5 + 1)
    array([20.])
    """
    total = np.abs(first - others[0])
    for other in others[1:]:
        total += np.abs(first - other)
    for one, other in combinations(others, 2):
        total += np.abs(one - other)
    total *= np.minimum(first, others.min(axis=0))
    return total


def inverse(scale: np.ndarray) -> np.ndarray:
    """Return one over each number, zero over those that are zero."""
    return np.divide(1.0, scale, out=np.zeros(scale.shape), where=scale > LEAST_COST)


def to_set(first: np.ndarray, others: np.ndarray, apart: float, *, gamma: float, eta: float) -> np.ndarray:
    r"""Return the dissimilarity to a set of clusters, from those to its clusters and those between them.

    .. math::
        \frac{\gamma\, \mathrm{mean}_k\, \tau_k + \rho \min_k \tau_k}{\gamma + 1}, \qquad
        \rho = \frac{\sum_{k < l} |\tau_k - \tau_l|}{\eta \sum_{k < l} \tau(v_k, v_l)}

    For clusters that all have the same medoid :math:`\rho` is zero.

    Parameters
    ----------
    first : ndarray of shape (n_samples,)
        Dissimilarities of the objects to one cluster.
    others : ndarray of shape (n_others, n_samples)
        To the other clusters.
    apart : float
        Sum of the dissimilarities between the clusters.

    Examples
    --------
    >>> to_set(np.array([2.0]), np.array([[6.0]]), 5.0, gamma=3.0, eta=1.0)      # (3 * 4 + 4 / 5 * 2) / 4
    array([3.4])
    """
    mean = (first + others.sum(axis=0)) / (len(others) + 1)
    return (gamma * mean + inverse(np.array(eta * apart)) * unevenness(first, others)) / (gamma + 1)


def to_sets(
    to_clusters: np.ndarray, apart: np.ndarray, focal_sets: FocalSets, *, gamma: float, eta: float
) -> np.ndarray:
    """Return the dissimilarity to each focal set, (n_focal, n), from those to the clusters, (n_clusters, n)."""
    found = focal_sets.member @ to_clusters
    for j in np.flatnonzero(focal_sets.card > 1):
        first, *others = np.flatnonzero(focal_sets.member[j])
        found[j] = to_set(to_clusters[first], to_clusters[others], apart[j], gamma=gamma, eta=eta)
    return found


def candidate_costs(
    dissimilarity: np.ndarray,
    medoids: np.ndarray,
    k: int,
    weight: np.ndarray,
    focal_sets: FocalSets,
    *,
    gamma: float,
    eta: float,
) -> np.ndarray:
    r"""Return the part of J that contains medoid k, were it each of the objects, shape (n_samples,).

    ``weight`` is :math:`|A|^\alpha m_{iA}^\beta`, shape (n_focal, n_samples).
    """
    single = focal_sets.singleton_index[k]
    cost = dissimilarity @ weight[single] if single >= 0 else np.zeros(len(dissimilarity))
    for j in np.flatnonzero((focal_sets.member[:, k] == 1) & (focal_sets.card > 1)):
        rest = medoids[np.setdiff1d(np.flatnonzero(focal_sets.member[j]), k)]
        others = dissimilarity[rest]
        apart = dissimilarity[:, rest].sum(axis=1) + np.triu(dissimilarity[np.ix_(rest, rest)]).sum()
        mean = (dissimilarity @ weight[j] + others.sum(axis=0) @ weight[j]) / (len(rest) + 1)
        least = np.empty(len(cost))
        for rows in row_blocks(len(cost), 3 * dissimilarity.shape[1]):
            least[rows] = unevenness(dissimilarity[rows], others) @ weight[j]
        cost += (gamma * mean + inverse(eta * apart) * least) / (gamma + 1)  # to_set, which is linear in its two terms
    return cost


class MECM(MedoidClusterer):
    r"""Median evidential c-means [1]_: medoids for single clusters only; sets are for objects about as near to each.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad d_{i\{k\}} = \tau(i, v_k),

    .. math::
        d_{iA} = \frac{1}{\gamma + 1} \Big[ \frac{\gamma}{|A|} \sum_{k \in A} \tau(i, v_k)
            + \rho_{iA} \min_{k \in A} \tau(i, v_k) \Big] \quad (|A| > 1), \qquad
        \rho_{iA} = \frac{\sum_{k < l \in A} |\tau(i, v_k) - \tau(i, v_l)|}{\eta \sum_{k < l \in A} \tau(v_k, v_l)}

    with :math:`\tau` the dissimilarity and :math:`v_k` the medoid of cluster k. It was made for communities in graphs:
    dissimilarities need not come from any space. For a metric :math:`0 \le \rho_{iA} \le 1/\eta`, from an object that
    is as near to each medoid of A to one far out on the side of one of them.

    Notes
    -----
    *From a source* (a public program by others, where it does not contradict itself): J, the form of
    :math:`d_{iA}`, and :math:`\rho_{iA}`, divided by what lies between the medoids. There gamma is 0.5.

    *Derived* from the criterion: the masses.

    *Our reading*, from memory: the mean over the clusters as the first term, dissimilarities that are not squared
    (squared, :math:`\rho_{iA}` has no bound), and a medoid chosen by all sets that contain its cluster, where the
    program takes the single cluster alone. Where all medoids of a set coincide :math:`\rho_{iA}` is zero.

    For given masses each medoid in turn goes to the object that minimizes J, all objects being tried: an iteration
    costs n² operations for each cluster and each set it is in. All pairs are compared, and the n × n numbers held.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. Median evidential c-means algorithm and its application to community
       detection. Knowledge-Based Systems 74:69-88, 2015. arXiv:1501.01460, hal-01100902.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [7], [10], [11], [12]]
    >>> model = MECM(n_clusters=2, random_state=0).fit(X)
    >>> model.medoid_indices_
    array([2, 7])
    """

    method = Method(
        name="mecm",
        title="median evidential c-means: objects stand for clusters; sets are for those about as near to each",
        papers=("Zhou et al., *Knowledge-Based Systems* 74, 2015",), guide="density",
        reads=("table", "dissimilarities"), families=FAMILIES, empty_set=True, power=2, grows="*{n} f*", memory="*{n}*",
        doubt="sets, outliers",
        limit="local minima, so many starts", quick={"n_init": 3},
        sources="its abstract, a program by others and memory",
    )  # fmt: skip

    gamma: float = param(
        Number(low=0),
        "Weight of the mean dissimilarity to the clusters of a set against their unevenness.",
        default=1.0,
    )
    eta: float = param(Number(above=0), "Tolerance of unevenness: the larger, the more are ambiguous.", default=1.0)

    def _represent(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> SpacedMedoids:
        return SpacedMedoids(medoids, sums_over_pairs(dissimilarity[np.ix_(medoids, medoids)], focal_sets))

    def _compare(self, dissimilarity: np.ndarray, representatives: SpacedMedoids, focal_sets: FocalSets) -> np.ndarray:
        to_clusters = dissimilarity[:, representatives.clusters].T
        return to_sets(to_clusters, representatives.apart, focal_sets, gamma=self.gamma, eta=self.eta)

    def _improve(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> SpacedMedoids:
        medoids = position.representatives.clusters.copy()
        weight = position.powered * (focal_sets.card.astype(float) ** self.alpha)[:, None]
        for k in range(self.n_clusters):
            cost = candidate_costs(dissimilarity, medoids, k, weight, focal_sets, gamma=self.gamma, eta=self.eta)
            cost[np.delete(medoids, k)] = np.inf  # no object stands for two clusters
            medoids[k] = cost.argmin()
        return self._represent(medoids, dissimilarity, focal_sets)
