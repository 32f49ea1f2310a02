"""Fuzzy c-means (Bezdek, 1981): evidential c-means on single clusters."""

from __future__ import annotations

from typing import Any

from evidentia.belief import FocalSets
from evidentia.prototypes._base import PrototypeClusterer


class FCM(PrototypeClusterer):
    r"""Fuzzy c-means [1]_: every object belongs to each cluster by a degree.

    .. math::
        J = \sum_i \sum_k u_{ik}^{\beta} \|x_i - v_k\|^2, \qquad \sum_k u_{ik} = 1

    The degrees are masses on single clusters, so ``partition_.pignistic`` is the fuzzy partition :math:`U`.
    No object is an outlier (see :class:`NoiseClustering`) and no object is torn between clusters (see
    :class:`ECM`).

    Parameters
    ----------
    n_clusters : int
    beta : float > 1
        Fuzzifier, elsewhere often called m: near 1 the clusters become crisp, large values blur them.
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
    criterion_ : float
    criterion_trace_ : ndarray
        Criterion after each iteration; it never rises.
    start_criteria_ : ndarray
        Final criterion of every start.
    n_iter_ : int
    focal_sets_ : FocalSets

    Notes
    -----
    An iteration costs two products of n × p by p × c matrices and n c powers, in blocks of rows.

    References
    ----------
    .. [1] J. C. Bezdek. Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum Press, 1981.

    Examples
    --------
    >>> model = FCM(n_clusters=2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.partition_.pignistic.round(2)
    array([[0.99, 0.01],
           [1.  , 0.  ],
           [0.99, 0.01],
           [0.  , 1.  ],
           [0.  , 1.  ]])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        beta: float = 2.0,
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.beta = beta
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _family(self) -> FocalSets:
        return FocalSets(self.n_clusters, "singletons", empty=False, omega=False)
