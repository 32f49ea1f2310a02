"""Belief c-means (Liu, Dezert, Mercier & Pan, 2012)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.prototypes._credal_means import CredalMeans, SetCosts, mixed_with_centres


class BCM(CredalMeans):
    r"""Belief c-means [1]_: an object is torn between clusters that are nearer to each other than to it.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} m_i(A)^{\beta} D_{iA}^2
            + \rho^2 m_i(\varnothing)^{\beta} \Big], \qquad
        D_{iA}^2 = \frac{\sum_{k \in A} \|x_i - v_k\|^2 + \gamma \sum_{k < l \in A} \|v_k - v_l\|^2}
                        {|A| + \gamma |A| (|A| - 1) / 2} \quad (|A| > 1)

    with :math:`D_{i\{k\}} = \|x_i - v_k\|`. So a set of clusters is for objects far away from clusters which, seen from
    there, are hard to tell apart. An object in the middle between two centres has equal masses on both, where
    :class:`ECM` and :class:`CCM` have one mass on the pair.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass; every single cluster must be one of them. The named families hold the empty
        set and the set of all clusters.
    beta : float > 1
        Fuzzifier: near 1 each object has its mass on one set, large values spread it.
    gamma : float > 0
        Weight of the distances between centres. They are part of the criterion, so a large weight pulls the centres of
        overlapping clusters together until they coincide, which is said by a warning; take a smaller one then.
    rho : float or "auto"
        Distance of every object to the empty set, in the units of X (often called delta): the smaller, the more
        outliers. ``"auto"`` is three times the root mean squared distance to the nearest centre of a k-means solution.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept.
    init : {"k-means", "random"} or array-like of shape (n_clusters, n_features)
        Start of the centres, as in :class:`ECM`.
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
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
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

    References
    ----------
    .. [1] Z. Liu, J. Dezert, G. Mercier, Q. Pan. Belief c-means: an extension of fuzzy c-means algorithm in belief
       functions framework. Pattern Recognition Letters 33(3):291-300, 2012.

    Examples
    --------
    Two groups side by side and an object far above both.

    >>> X = [[-2.0, 0], [-3, 0], [-2, 1], [2, 0], [3, 0], [2, 1], [0, 9]]
    >>> model = BCM(n_clusters=2, rho=20, random_state=0).fit(X)
    >>> model.partition_.sets()[-1], model.partition_.sets()[:-1].sum(axis=1)
    (array([ True,  True]), array([1, 1, 1, 1, 1, 1]))
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        beta: float = 2.0,
        gamma: float = 0.3,
        rho: float | str = "auto",
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 300,
        tol: float = 1e-10,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.beta = beta
        self.gamma = gamma
        self.rho = rho
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _set_costs(self, focal_sets: FocalSets) -> SetCosts:
        card = focal_sets.card
        total = card + self.gamma * card * (card - 1) / 2
        spring = np.where(card > 1, self.gamma / np.maximum(total, 1), 0.0)
        return SetCosts(mixed_with_centres(focal_sets, 0.0, total), spring)
