"""Constrained evidential c-means (Antoine, Quost, Masson & Denœux, 2012)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import Subset
from evidentia.metric_learning import learn_metric
from evidentia.prototypes._base import squared_unit
from evidentia.prototypes._constrained import ConstrainedClusterer
from evidentia.prototypes._kernel import Criterion, Prototypes

RHO_FACTOR = 10.0  # of the largest distance from the mean: at least five times the largest distance of two objects


class CECM(ConstrainedClusterer):
    r"""Evidential c-means that listens to what is known about pairs of objects [1]_.

    .. math::
        J = (1 - \xi) \frac{1}{n f} \sum_i \Big[ \sum_{A \ne \varnothing} |A|^{\alpha} m_i(A)^2 d_{iA}^2
            + \rho^2 m_i(\varnothing)^2 \Big]
            + \frac{\xi}{|\mathcal M| + |\mathcal C|} \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\bar\theta)
            + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\theta) \Big]

    with :math:`pl_{ij}(\theta)` the plausibility that objects i and j share a cluster, :math:`pl_{ij}(\bar\theta)` that
    they do not, :math:`s_{ij}` the certainty of the link, and f the number of focal sets (:math:`2^c` for all subsets).

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"full", "pairs", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass; the named families hold the empty set and the set of all clusters.
        ``"full"`` is CECM-1 and ``"pairs"`` CECM-2 of [1]_.
    xi : float in [0, 1)
        Weight of the links against the geometry of the data.
    alpha : float >= 0
        Penalty of larger sets: the larger, the fewer objects are torn.
    rho : float or "auto"
        Distance of every object to the empty set, in the units of X. ``"auto"`` is ten times the largest distance of an
        object from the mean, larger than any distance between two objects: no outliers. For the Mahalanobis metric it
        is measured in scaled columns.
    metric : {"euclidean", "mahalanobis"}
        ``"mahalanobis"`` learns a matrix of determinant one for each cluster, which lets few links turn a partition.
    metric_learner : transformer, optional
        Learns a metric from the links before anything else, such as :class:`~evidentia.metric_learning.PCCA` or
        :class:`~evidentia.metric_learning.KPCCA`; all that follows sees the transformed rows.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept. Each first takes a few steps in which
        the links grow from weak to full strength.
    init : {"k-means", "random"}, array-like of shape (n_clusters, n_features), or (centres, covariances)
        Start. ``"k-means"`` begins half of the starts at k-means solutions and half at random rows. An array makes
        one start, at once with links of full strength, and keeps its order of clusters; to go on from a model when
        links were added, give its ``cluster_centers_``, for the Mahalanobis metric
        ``(cluster_centers_, covariances_)``.
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
        Most plausible cluster of each object.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
        With a ``metric_learner`` they, ``init``, ``rho_`` and the covariances are in the space of the transformed rows.
    metric_learner_ : transformer or None
        The learner, fitted; ``predict_partition`` sends new rows through it.
    constraints_ : PairwiseConstraints
        The links by row number; ``constraints_.violations(partition_)`` tells how far each is broken.
    focal_sets_ : FocalSets
    rho_ : float or None
        Distance to the empty set that was used.
    criterion_ : float
        J above.
    criterion_trace_ : ndarray
        J after each iteration; it never rises.
    start_criteria_ : ndarray
        Final criterion of every start.
    n_iter_ : int
    covariances_, metric_ : ndarray of shape (n_clusters, n_features, n_features) or None
        Evidential covariances of the clusters and their metrics (``metric="mahalanobis"``).

    Notes
    -----
    The first part of J has the units of X squared and the second has none, so ``xi`` means the same only on the same
    scale: standardise the columns, or choose ``xi`` for the units at hand. Sample weights take the place of the ones in
    the first sum, and their total that of n.

    Only linked objects depend on each other. The others have the closed form of ECM; linked ones are moved one at a
    time, each to its own optimum, until all rest. An iteration costs what one of ECM costs, plus f per link and f² per
    linked object. The masses of linked objects are a local minimum, so several starts pay.

    A new object has no links: ``predict_partition`` gives it the closed form of ECM. So does a linked object of the
    training table when it is given again, and its answer may then differ from ``partition_``.

    References
    ----------
    .. [1] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CECM: Constrained evidential c-means algorithm.
       Computational Statistics & Data Analysis 56(4):894-914, 2012.

    Examples
    --------
    Four groups on the corners of a square: a few links tell which of them belong together.

    >>> import numpy as np
    >>> from evidentia.constraints import PairwiseConstraints
    >>> corners = np.array([[0, 0], [0, 8], [8, 0], [8, 8]])
    >>> X = np.repeat(corners, 25, axis=0) + np.random.default_rng(0).normal(size=(100, 2))
    >>> model = CECM(2, metric="mahalanobis", random_state=0)
    >>> links = PairwiseConstraints.from_links(must_link=[(0, 25), (50, 75)], cannot_link=[(0, 50)])
    >>> model.fit(X, constraints=links).labels_[[10, 35, 60, 85]]
    array([0, 0, 1, 1])
    >>> links = PairwiseConstraints.from_links(must_link=[(0, 50), (25, 75)], cannot_link=[(0, 25)])
    >>> model.fit(X, constraints=links).labels_[[10, 35, 60, 85]]
    array([0, 1, 0, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "full",
        xi: float = 0.5,
        alpha: float = 1.0,
        rho: float | str = "auto",
        metric: str = "euclidean",
        metric_learner: Any = None,
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.xi = xi
        self.alpha = alpha
        self.rho = rho
        self.metric = metric
        self.metric_learner = metric_learner
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _family(self) -> FocalSets:
        if isinstance(self.focal_sets, str):
            _base.check_choice(self, "focal_sets", ("full", "pairs", "simple"))
        return resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True)

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        table = super()._check_table(X, reset=reset)
        if reset:
            self.metric_learner_, rows = learn_metric(self.metric_learner, X, self.constraints_)
            return table if self.metric_learner_ is None else rows
        return table if self.metric_learner_ is None else np.asarray(self.metric_learner_.transform(X), dtype=float)

    def _check_params(self, table: np.ndarray, weight: np.ndarray) -> None:
        super()._check_params(table, weight)
        _base.check_number(self, "xi", low=0, high=np.nextafter(1, 0))

    def _share(self, focal_sets: FocalSets, weight: np.ndarray) -> float:
        return float((1 - self.xi) / (len(focal_sets) * weight.sum()))

    def _strength(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, start: Prototypes) -> float:
        scale = squared_unit(self._coordinates) * self._share(criterion.focal_sets, weight)
        return self.xi / (scale * len(self.constraints_))

    def _distance_to_empty(
        self, rows: np.ndarray, weight: np.ndarray, starts: list[Prototypes], rng: np.random.RandomState
    ) -> float:
        if self.rho != "auto":
            return super()._distance_to_empty(rows, weight, starts, rng)
        return RHO_FACTOR * float(np.sqrt(np.einsum("qi,qi->i", rows, rows).max()))
