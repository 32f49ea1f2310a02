"""Credal c-means (Liu, Pan, Dezert & Mercier, 2015)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.prototypes._credal_means import CredalMeans, SetCosts, mixed_with_centres


class CCM(CredalMeans):
    r"""Credal c-means [1]_: an object is torn between clusters only when it is near to *all* of their centres.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} m_i(A)^{\beta} D_{iA}^2
            + \rho^2 m_i(\varnothing)^{\beta} \Big], \qquad
        D_{iA}^2 = \frac{\sum_{k \in A} \|x_i - v_k\|^2 + \gamma \|x_i - \bar v_A\|^2}{|A| + \gamma}
        \quad (|A| > 1)

    with :math:`D_{i\{k\}} = \|x_i - v_k\|` and :math:`\bar v_A` the barycentre of the centres of A. Evidential c-means
    (:class:`ECM`) looks at the barycentre alone, so that a third cluster which happens to lie between two others
    is mistaken for their overlap; here it is not.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass; every single cluster must be one of them. The named families hold the empty
        set and the set of all clusters. The authors bound the size of sets by :math:`T_c`, two by default, which is
        ``FocalSets(n_clusters, "pairs", omega=False)``.
    beta : float > 1
        Fuzzifier: near 1 each object has its mass on one set, large values spread it.
    gamma : float > 0
        Weight of the barycentre: the larger, the more objects are torn.
    rho : float or "auto"
        Distance of every object to the empty set, in the units of X (often called delta): the smaller, the more
        outliers. ``"auto"`` is three times the root mean squared distance to the nearest centre of a k-means solution.
    n_init : int
        Number of starts; the one that ends with the lowest criterion is kept.
    init : {"k-means", "random"} or array-like of shape (n_clusters, n_features)
        Start of the centres, as in :class:`ECM`; with the belief peaks of X it is
        ``init=X[belief_peaks(X).choose(n_clusters)]``.
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

    For sets of three and more the paper asks for a point as far from each of their centres; the barycentre, the same
    thing for pairs, keeps the centres a linear system and the criterion monotone.

    References
    ----------
    .. [1] Z. Liu, Q. Pan, J. Dezert, G. Mercier. Credal c-means clustering method based on belief functions.
       Knowledge-Based Systems 74:119-132, 2015.

    Examples
    --------
    Three groups in a row. The middle of the outer two is a group of its own, and no overlap.

    >>> X = [[-9.0], [-8], [-7], [-1], [0], [1], [7], [8], [9], [4]]
    >>> model = CCM(n_clusters=3, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().round(0).tolist())
    [-8.0, 0.0, 8.0]
    >>> model.partition_.sets().sum(axis=1)       # 4 lies between two of them
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 2])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        beta: float = 2.0,
        gamma: float = 1.0,
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
        mixing = mixed_with_centres(focal_sets, self.gamma, focal_sets.card + self.gamma)
        return SetCosts(mixing, 0.0 * focal_sets.card)
