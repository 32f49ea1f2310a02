"""Noise clustering (Davé, 1991): fuzzy c-means with one more cluster, as far from every object."""

from __future__ import annotations

from typing import Any

from evidentia.belief import FocalSets
from evidentia.prototypes._base import PrototypeClusterer


class NoiseClustering(PrototypeClusterer):
    r"""Fuzzy c-means that may call an object an outlier [1]_.

    .. math::
        J = \sum_i \Big[ \sum_k u_{ik}^{\beta} \|x_i - v_k\|^2 + \rho^2 u_{i*}^{\beta} \Big], \qquad
        \sum_k u_{ik} + u_{i*} = 1

    The degree :math:`u_{i*}` of "noise" is the mass of the empty set, ``partition_.empty``.

    Parameters
    ----------
    n_clusters : int
    beta : float > 1
        Fuzzifier, elsewhere often called m.
    rho : float or "auto"
        Distance of every object to the noise, in the units of X (often called delta): the smaller, the more outliers.
        ``"auto"`` is three times the root mean squared distance to the nearest centre of a k-means solution.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept.
    init : {"k-means", "random"} or array-like of shape (n_clusters, n_features)
        Start of the centres. ``"k-means"`` begins half of the starts at k-means solutions and half, as ``"random"``
        does, at random rows: k-means gives far outliers a cluster of their own. An array makes one start and keeps
        its order of clusters.
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
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` gives them.
    rho_ : float
        Distance to the noise that was used.
    criterion_ : float
    criterion_trace_ : ndarray
        Criterion after each iteration; it never rises.
    start_criteria_ : ndarray
        Final criterion of every start.
    n_iter_ : int
    focal_sets_ : FocalSets

    References
    ----------
    .. [1] R. N. Davé. Characterization and detection of noise in clustering.
       Pattern Recognition Letters 12(11):657-664, 1991.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [90.0]]
    >>> model = NoiseClustering(n_clusters=2, rho=5, random_state=0).fit(X)
    >>> model.partition_.outliers(), model.partition_.empty.round(2)
    (array([5]), array([0.04, 0.  , 0.04, 0.01, 0.01, 0.99]))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        beta: float = 2.0,
        rho: float | str = "auto",
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.beta = beta
        self.rho = rho
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _family(self) -> FocalSets:
        return FocalSets(self.n_clusters, "singletons", omega=False)
