"""Evidential c-medoids (Zhou, Martin, Pan & Liu, 2016): one object stands for a cluster, one for a set of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._parameters import Choice, Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._medoid_base import FAMILIES, MedoidClusterer, Position, best_distinct, mix, pull
from evidentia.solvers.barycentric import averaging


class MedoidsOfSets(NamedTuple):
    """The objects that stand for the clusters, (n_clusters,), and for the focal sets, (n_focal,)."""

    clusters: np.ndarray
    sets: np.ndarray


def set_medoids(to_medoids: np.ndarray, focal_sets: FocalSets, eta: float, evenness: str = "deviation") -> np.ndarray:
    r"""Return the object that represents each set: about as near to all of its clusters, and near.

    .. math::
        \bar v_A = \arg\min_i\; \mathrm{dev}_{k \in A}\, \tau(i, v_k)
            + \eta\, \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)

    with dev the standard deviation, or the variance. For a single cluster that is its medoid.

    Parameters
    ----------
    to_medoids : ndarray of shape (n_samples, n_clusters)
        Dissimilarities of all objects to the medoids.
    focal_sets : FocalSets
    eta : float
    evenness : {"deviation", "variance"}

    Examples
    --------
    MedoidsOfSets 0 and 2 of four objects on a line; the second object is in the middle.

    >>> line = np.array([0.0, 1.0, 2.0, 9.0])
    >>> set_medoids(np.abs(line[:, None] - line[[0, 2]]), FocalSets(2, [{0}, {1}, {0, 1}]), eta=1.0)
    array([0, 2, 1])
    """
    average = averaging(focal_sets)
    mean = to_medoids @ average.T
    variance = np.maximum(to_medoids**2 @ average.T - mean**2, 0)
    return ((np.sqrt(variance) if evenness == "deviation" else variance) + eta * mean).argmin(axis=0)


class SECMdd(MedoidClusterer):
    r"""Evidential c-medoids with one object for each cluster and each set of clusters [1]_.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad
        d_{iA} = \frac{\tau(i, \bar v_A) + \gamma \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)}{1 + \gamma}
        \quad (|A| > 1)

    with :math:`\tau` the dissimilarity, :math:`d_{i\{k\}} = \tau(i, v_k)`, :math:`v_k` the medoid of cluster k, and
    :math:`\bar v_A` the object that minimizes
    :math:`\mathrm{dev}_{k \in A}\, \tau(i, v_k) + \eta \frac{1}{|A|} \sum_{k \in A} \tau(i, v_k)`: as near as possible
    to all medoids of A, and about as near to each.

    Notes
    -----
    *From sources* (two public programs by others, and that of the authors of :class:`~evidentia.views.MECMdd`): J,
    :math:`d_{iA}`, ``"auto"`` of rho, and the steps: :math:`\bar v_A` by the variance and :math:`v_k` by the single
    cluster alone, that is ``evenness="variance", medoid_masses="single"``, with alpha 1 and gamma 0.5.

    *Derived* from the criterion: the masses, and ``medoid_masses="all"``, which minimizes J for given masses and
    :math:`\bar v_A`.

    *Ours*: the standard deviation, since a variance has squared units, so that ``1000 * X`` would be clustered
    differently from ``X``; medoids by all masses, since on Iris and Wine the single clusters ended with a larger J, or
    with the same; gamma 1, and alpha 0.5 as from 1 on no set would then hold more mass than its nearest cluster.

    :math:`\bar v_A` follows the medoids and may raise J again, in which case the step is not taken and the descent
    ends. All pairs are compared, and the n × n dissimilarities held.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z. Liu. ECMdd: evidential c-medoids clustering with multiple prototypes.
       Pattern Recognition 60:239-257, 2016. arXiv:1606.01113, hal-01326332; an earlier form is arXiv:1507.04091.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [3], [4], [10], [11], [12]]
    >>> model = SECMdd(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_, model.medoid_indices_
    (array([0, 0, 0, 0, 0, 1, 1, 1]), array([2, 6]))
    """

    method = Method(
        name="secmdd", title="evidential c-medoids: an object stands for each cluster and each set of clusters",
        papers=("Zhou et al., *Pattern Recognition* 60, 2016",), guide="density", reads=("table", "dissimilarities"),
        families=FAMILIES, empty_set=True, power=2, grows="*{n} c*", memory="*{n}*", doubt="sets, outliers",
        limit="local minima, so many starts", quick={"n_init": 3},
        sources="its abstract and programs by others",
    )  # fmt: skip

    alpha: float = param(_base.ALPHA, "Penalty of larger sets: the larger, the fewer are ambiguous.", default=0.5)
    eta: float = param(
        Number(low=0),
        "How much nearness counts against evenness when an object is chosen to represent a set.",
        default=1.0,
    )
    gamma: float = param(
        Number(low=0), "Weight of the medoids of its clusters in the dissimilarity to a set.", default=1.0
    )
    evenness: str = param(
        Choice("deviation", "variance"),
        "What dev is: the standard deviation, or the variance with which the result depends on the units.",
        default="deviation",
    )
    medoid_masses: str = param(
        Choice("all", "single"),
        """Which masses choose the medoid of a cluster: those of all sets that contain it, or of the single cluster
        alone.""",
        default="all",
    )

    def _family(self) -> FocalSets:
        focal_sets = super()._family()
        if self.medoid_masses == "single":
            _checks.check_single_clusters(self, focal_sets, "chooses medoids by the masses of single clusters")
        return focal_sets

    def _represent(self, medoids: np.ndarray, dissimilarity: np.ndarray, focal_sets: FocalSets) -> MedoidsOfSets:
        return MedoidsOfSets(medoids, set_medoids(dissimilarity[:, medoids], focal_sets, self.eta, self.evenness))

    def _compare(self, dissimilarity: np.ndarray, representatives: MedoidsOfSets, focal_sets: FocalSets) -> np.ndarray:
        to_clusters, to_sets = (dissimilarity[:, objects].T for objects in representatives)
        return mix(to_sets, to_clusters, focal_sets, self.gamma)

    def _improve(self, dissimilarity: np.ndarray, position: Position, focal_sets: FocalSets) -> MedoidsOfSets:
        if self.medoid_masses == "single":
            weight = position.powered[focal_sets.singleton_index].T
        else:
            weight = pull(position.powered, focal_sets, self.alpha, self.gamma)
        return self._represent(best_distinct(dissimilarity @ weight), dissimilarity, focal_sets)
