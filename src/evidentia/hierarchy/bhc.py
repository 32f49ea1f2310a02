r"""Belief hierarchical clustering (Maalel, Zhou, Martin & Elouedi, 2014).

Each of K clusters has a mass function on the other :math:`K - 1`: eqs. (10), (11) from a distance between clusters, or
(13), (14) from those of the objects, combined by Dempster's rule. The pair with the largest product of pignistic
probabilities is merged (12), and the sum of the two is the index of the tree.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia.belief import FocalSets, MassFunctions
from evidentia.belief.focal import MAX_CLUSTERS, canonical_order
from evidentia.hierarchy._places import Places, group_means, group_rows, jousselme_coordinates, yardstick
from evidentia.hierarchy._tree import BeliefTree
from evidentia.partition import CredalPartition
from evidentia.solvers.blocks import row_blocks

RELIABILITY = 0.95
FEW = 10  # numbers of clusters that are tried in small tables too
LINKAGES = ("single", "complete", "average", "ward", "product")


def coarsened_masses(
    squared: np.ndarray,
    weight: np.ndarray,
    cluster: np.ndarray,
    own: np.ndarray | None,
    joint: np.ndarray,
    focal_sets: FocalSets,
    *,
    gamma: float,
    alpha: float,
) -> np.ndarray:
    r"""Masses of objects on the clusters of a cut, from the masses (8) that they give to other objects.

    Object i gives :math:`m_i(x_j) = \alpha_i e^{-\gamma d_{ij}^2}` to each other object, scaled so that they sum to at
    most :math:`\alpha`. Their sum over the members of a cluster is what i gives to that cluster. What it gives to its
    own goes to its own alone; what it gives to another one, to the smallest node of the tree above both; what it gives
    to nobody, up to :math:`\alpha`, to the empty set; and :math:`1 - \alpha` to the frame.

    Parameters
    ----------
    squared : ndarray of shape (n_samples, n_leaves)
    weight : ndarray of shape (n_leaves,) or (n_samples, n_leaves)
        How many objects each leaf is for each object: not counting itself.
    cluster : ndarray of shape (n_leaves,)
    own : ndarray of shape (n_samples,), optional
        Cluster of each object; without it the one it gives most to.
    joint : ndarray of shape (n_clusters, n_clusters)
        Mask of the node above two clusters.
    """
    n_clusters = len(joint)
    similar = weight * np.exp(-gamma * squared)
    given = similar @ (cluster[:, None] == np.arange(n_clusters)).astype(float)
    given *= (alpha / np.maximum(1.0, given.sum(axis=1)))[:, None]
    if own is None:
        own = given.argmax(axis=1)
    masses = np.zeros((len(squared), len(focal_sets)))
    position = {mask: at for at, mask in enumerate(focal_sets.masks.tolist())}
    columns = np.vectorize(position.__getitem__, otypes=[np.int64])(joint)[own]
    for k in range(n_clusters):
        masses[np.arange(len(masses)), columns[:, k]] += given[:, k]
    masses[:, position[0]] = np.maximum(alpha - given.sum(axis=1), 0)
    masses[:, position[(1 << n_clusters) - 1]] += 1 - alpha
    return masses


class BeliefHierarchical(_base.EvidentialClusterer):
    r"""Belief hierarchical clustering [1]_: a tree whose merges are driven by belief.

    .. math::
        m_i(C_j) = \alpha e^{-\gamma d^2(C_i, C_j)}, \qquad m_i(\Omega_i) = 1 - \sum_j m_i(C_j), \qquad
        BetP_i(j) = m_i(C_j) + \frac{m_i(\Omega_i)}{K - 1}

    Of K clusters the two with the largest :math:`BetP_i(j)\,BetP_j(i)` are merged, until one is left. The BetP index of
    a merge is :math:`BetP_i(j) + BetP_j(i)`.

    Parameters
    ----------
    n_clusters : int or "auto"
        Where ``labels_`` and ``partition_`` cut the tree, see :meth:`cut`.
    linkage : {"average", "single", "complete", "ward", "product"}
        The distance between clusters in the formula above. ``"ward"`` takes for :math:`d^2` twice the rise of the
        inertia, which is the squared distance for two single objects. ``"product"`` is the second way of the paper:
        object i gives cluster C the mass :math:`\prod_{x_j \in C} \alpha e^{-\gamma d_{ij}^2}`, and the mass function
        of a cluster is that of its objects combined by Dempster's rule.
    alpha : float in (0, 1) or "auto"
        The most that the masses on other clusters may sum to; the paper leaves it open, and one number for all would
        let them sum to more than one. With a number, each cluster's masses are scaled, where needed, to sum to it.
        ``"auto"`` is 0.95, and where a cluster needs scaling all of them are scaled alike, so that two clusters give
        each other the same mass, as the paper writes it. With ``"product"`` it is 0.95.
    gamma : float or "auto"
        ``"auto"`` is one over the lower quartile of the squared distances between objects. The evidential nearest
        neighbour rule, from which the formula comes, takes the mean inside the classes; clusters are not known yet, but
        the smaller distances are those inside them, and a far outlier does not move a quartile.
    metric : {"euclidean", "precomputed"}
        With ``"precomputed"`` X holds the distances of the objects, n × n.
    n_groups : int, optional
        Merge this many groups of objects, each at its mean and with its weight, instead of the objects (K_init in the
        paper). For large data.
    grouping : {"k-means", "neighbours"}
        How groups are made: one run of k-means, or Ward merges of objects that are among each other's ten nearest.
    max_gigabytes : float
        ``fit`` refuses, before it starts, to take more memory than this.
    random_state : int, RandomState or None
        Of k-means.
    verbose : int
        1 says how much memory is needed.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_leaves - 1, 4)
        The tree for SciPy's ``dendrogram``, ``fcluster`` and ``cophenet``. The BetP index can fall from one merge to
        the next, so a height is the largest index so far (and rises by the last bit where that does not change).
    betp_index_ : ndarray of shape (n_leaves - 1,)
    merge_mass_ : ndarray of shape (n_leaves - 1,)
        Mean of the masses that the two merged clusters gave to each other.
    gaps_ : ndarray of shape (n_tried, 2)
        Numbers of clusters, and how much belief is lost by merging further; see :meth:`cut`.
    n_clusters_ : int
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered from the largest to the smallest.
    partition_ : CredalPartition
        See :meth:`partition`.
    groups_ : ndarray of shape (n_samples,)
        Leaf of each object; without ``n_groups`` every object is a leaf.
    alpha_, gamma_ : float

    Notes
    -----
    *The index depends on the number of clusters left.* Clusters that know nothing have :math:`BetP = 1 / (K - 1)`, and
    of two clusters each gives the other probability one, so the last merge has index 2 in any data. This is why an
    outlier that merges last stands far above the rest, and why the largest gap of the plain index says two clusters
    almost always. :meth:`cut` therefore looks at the part of the index that the masses give, without the frame's.

    *The paper says that the first way gives the partitions of the classical method.* It does for two and three
    clusters: with common masses the nearest pair then has the largest probabilities. For more, a cluster with few
    others near has more mass left on the frame, which raises all its probabilities, so of two pairs at about the same
    distance the one in a sparser place is merged first.

    *Nothing underflows.* Where all masses are tiny, they are compared by what they add to ignorance, relative to the
    largest of them, so far outliers are merged nearest first.

    *Cost.* Rows remember their best gain and how much it may have grown since; a merge looks again only at rows that
    may hold the best pair. Memory is 8 n² bytes; time is O(n²) in ordinary data, and O(n³) when all pairs are tied.
    ``"product"`` needs 32 n² bytes and O(n³) time.

    References
    ----------
    .. [1] W. Maalel, K. Zhou, A. Martin, Z. Elouedi. Belief hierarchical clustering. Belief Functions: Theory and
       Applications (BELIEF 2014), LNCS 8764, 68-76, 2014.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [8, 0], [8, 1], [9, 0], [4, 30]]
    >>> model = BeliefHierarchical().fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 2])
    >>> model.partition_.outliers(), model.betp_index_[-2:].round(2)
    (array([6]), array([1., 2.]))
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        linkage: str = "average",
        alpha: float | str = "auto",
        gamma: float | str = "auto",
        metric: str = "euclidean",
        n_groups: int | None = None,
        grouping: str = "k-means",
        max_gigabytes: float = 4.0,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.alpha = alpha
        self.gamma = gamma
        self.metric = metric
        self.n_groups = n_groups
        self.grouping = grouping
        self.max_gigabytes = max_gigabytes
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, uncertainty: Any = None) -> Self:
        """Build the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or MassFunctions
            Numbers, none of them missing; n × n distances with ``metric="precomputed"``; or objects that are themselves
            given as mass functions, which are compared by Jousselme's distance.
        y : None
            Ignored.
        uncertainty : array-like of shape (n_samples, n_features), optional
            Standard deviation of each value. Squared distances become expected ones,
            :math:`\\|x - y\\|^2 + \\sum_p (\\sigma_{xp}^2 + \\sigma_{yp}^2)`.
        """
        table = self._table(X, reset=True)
        self._check_params(table)
        spread = self._spread(uncertainty, table)
        self.groups_ = np.arange(len(table))
        self._places = Places(table, spread, np.ones(len(table)), self.metric == "precomputed")
        if self.n_groups is not None:
            rng = check_random_state(self.random_state)
            self.groups_ = group_rows(table, self.n_groups, self.grouping, rng)
            weight = np.bincount(self.groups_).astype(float)
            self._places = Places(group_means(table, self.groups_), group_means(spread, self.groups_), weight, False)
        self._rows, self._rows_spread = table, spread
        self._check_memory(len(self._places.table))
        self._tree = self._merge()

        self.linkage_ = self._tree.linkage()
        self.betp_index_ = self._tree.index
        self.merge_mass_ = self._tree.mass.mean(axis=1)
        self.gaps_ = np.column_stack(self._tree.gaps(max(FEW, int(np.sqrt(len(table))))))
        self.n_clusters_ = self._number(self.n_clusters)
        self.partition_ = self.partition(self.n_clusters_, object_names=_base.row_names(X))
        self.focal_sets_ = self.partition_.focal_sets
        self.labels_ = self.cut(self.n_clusters_)
        return self

    def cut(self, n_clusters: int | str = "auto") -> np.ndarray:
        """Labels of the objects when the tree is cut, shape (n_samples,); the largest cluster is number 0.

        Parameters
        ----------
        n_clusters : int or "auto"
            ``"auto"`` cuts at the largest gap of the part of the index that comes from the masses: where the logarithm
            of the mass that drives a merge falls most, among 2 to sqrt(n_samples) clusters (10 in small tables). A weak
            merge before a strong one is no gap, and masses below 0.001 are all the same. Made for masses from
            distances: those of ``linkage="product"`` fall with the size of the clusters, which looks like gaps.
        """
        check_is_fitted(self)
        return self._cut(self._number(n_clusters))[0][self.groups_]

    def partition(self, n_clusters: int | str = "auto", *, object_names: Any = None) -> CredalPartition:
        """Credal partition of a cut: a mass function for every object, from those that started the merges.

        An object gives masses to the other objects, eq. (8). Those to members of its own cluster become mass of that
        cluster. Those to another cluster become mass of the smallest node of the tree that holds both: clusters that
        are joined just above it, or far above. What the object gives to nobody is mass of the empty set, so an object
        that is far from everyone is an outlier, even if the cut made it a cluster of its own; and the share
        1 - alpha, by which no mass function is trusted, belongs to the frame.

        No cluster is more plausible for an object than the one the cut put it in. Others are as plausible for an object
        that is a cluster of its own, since only sets of clusters speak for it.
        """
        check_is_fitted(self, "linkage_")
        n_clusters = self._number(n_clusters)
        if n_clusters > MAX_CLUSTERS:
            raise ValueError(
                f"A credal partition has at most {MAX_CLUSTERS} clusters. Got {n_clusters}; cut() gives the labels."
            )
        cluster, joint = self._cut(n_clusters)
        focal_sets = FocalSets(n_clusters, canonical_order({0, (1 << n_clusters) - 1, *joint.ravel().tolist()}))
        own = cluster[self.groups_]
        masses = np.empty((len(own), len(focal_sets)))
        for block in row_blocks(len(own), len(cluster)):
            squared = self._places.squared_from(self._rows[block], self._rows_spread[block])
            others = np.repeat(self._places.weight[None], len(squared), axis=0)
            others[np.arange(len(squared)), self.groups_[block]] -= 1
            masses[block] = coarsened_masses(
                squared, others, cluster, own[block], joint, focal_sets, gamma=self.gamma_, alpha=self.alpha_
            )
        return CredalPartition(masses, focal_sets, object_names=object_names, copy=False)

    def classical(self) -> np.ndarray:
        """SciPy's tree of the same leaves by the same link (average for ``"product"``), to compare with.

        Groups count as one object each.
        """
        check_is_fitted(self)
        n = len(self._places.table)
        condensed = squareform(np.sqrt(unpacked(self._places.packed(), n)), checks=False)
        return linkage(condensed, "average" if self.linkage == "product" else self.linkage)

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, by the masses they give to those of ``fit``.

        A new object belongs to the cluster it gives most to. For an object of ``fit`` this need not be the cluster that
        the tree put it in, and it would meet itself: take ``partition_`` for those.

        Parameters
        ----------
        X : as in ``fit``
            With ``metric="precomputed"`` the distances of each new object to all objects of ``fit``.
        """
        check_is_fitted(self)
        masses = self._masses(self._table(X, reset=False))
        return CredalPartition(masses, self.focal_sets_, object_names=_base.row_names(X), copy=False)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        cluster, joint = self._cut(self.n_clusters_)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for block in row_blocks(len(X), len(cluster)):
            masses[block] = coarsened_masses(
                self._places.squared_from(X[block]),
                self._places.weight,
                cluster,
                None,
                joint,
                self.focal_sets_,
                gamma=self.gamma_,
                alpha=self.alpha_,
            )
        return masses

    def _merge(self) -> BeliefTree:
        from evidentia.hierarchy._merge import LINKS, merge_by_distance, merge_by_products  # numba loads late

        weight = self._places.weight
        squared = self._places.packed()
        self.gamma_ = 1 / yardstick(squared) if self.gamma == "auto" else float(self.gamma)
        self.alpha_ = RELIABILITY if self.alpha == "auto" else float(self.alpha)
        if self.linkage == "product":
            full = unpacked(squared, len(weight))
            return BeliefTree(*merge_by_products(full, weight, self.gamma_, self.alpha_)[:3])
        if self.linkage == "ward" and self.n_groups is not None:
            for i in range(1, len(weight)):
                row = slice(i * (i - 1) // 2, i * (i + 1) // 2)
                squared[row] *= 2 * weight[i] * weight[:i] / (weight[i] + weight[:i])
        found = merge_by_distance(
            squared, weight.copy(), LINKS[self.linkage], self.gamma_, self.alpha_, self.alpha == "auto"
        )
        return BeliefTree(*found[:3])

    def _number(self, n_clusters: int | str) -> int:
        if isinstance(n_clusters, str):
            if n_clusters != "auto":
                raise ValueError(f"'n_clusters' must be an integer or 'auto'. Got {n_clusters!r}.")
            numbers, gaps = self.gaps_.T
            return int(numbers[gaps.argmax()]) if len(gaps) and gaps.max() > 0 else 1
        n_leaves = self._tree.n_leaves
        if not 1 <= n_clusters <= n_leaves:
            raise ValueError(f"The tree has {n_leaves} leaves and can be cut into 1 to {n_leaves}. Got {n_clusters!r}.")
        return int(n_clusters)

    def _cut(self, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Cluster of each leaf, and masks of the nodes above two clusters (for as many as a mask can hold)."""
        nodes, which = np.unique(self._tree.leaves_of(n_clusters), return_inverse=True)
        first = np.full(n_clusters, len(self.groups_))
        np.minimum.at(first, which[self.groups_], np.arange(len(self.groups_)))
        order = _base.largest_first(np.bincount(which, weights=self._places.weight), tie=first)
        number = np.argsort(order)
        if n_clusters > MAX_CLUSTERS:
            return number[which], np.empty((0, 0), dtype=np.int64)
        joint = self._tree.joint_nodes(n_clusters, dict(zip(nodes.tolist(), number.tolist())))
        return number[which], joint

    def _table(self, X: Any, *, reset: bool) -> np.ndarray:
        if isinstance(X, MassFunctions):
            if self.metric == "precomputed":
                raise ValueError("Mass functions have distances of their own: leave metric='euclidean'.")
            X = jousselme_coordinates(X.masses, X.focal_sets)
        table = _base.check_table(self, X, reset=reset)
        if self.metric == "precomputed":
            check_distances(table, square=reset)
        return table

    def _spread(self, uncertainty: Any, table: np.ndarray) -> np.ndarray:
        if uncertainty is None:
            return np.zeros(len(table))
        deviation = np.asarray(uncertainty, dtype=float)
        if self.metric == "precomputed":
            raise ValueError("'uncertainty' is about values; with metric='precomputed' put it into the distances.")
        if deviation.shape != table.shape or not np.isfinite(deviation).all() or (deviation < 0).any():
            raise ValueError(
                f"'uncertainty' must hold a standard deviation, finite and not negative, for each value of X, shape "
                f"{table.shape}. Got shape {deviation.shape}."
            )
        return np.square(deviation).sum(axis=1)

    def _check_params(self, table: np.ndarray) -> None:
        if isinstance(self.n_clusters, str):
            _base.check_choice(self, "n_clusters", ("auto",))
        else:
            _base.check_number(self, "n_clusters", low=1, high=MAX_CLUSTERS, integer=True)
            _base.check_enough_rows(self, len(table), self.n_clusters)
        _base.check_choice(self, "linkage", LINKAGES)
        _base.check_choice(self, "metric", ("euclidean", "precomputed"))
        _base.check_choice(self, "grouping", ("k-means", "neighbours"))
        _base.check_number(self, "max_gigabytes", low=0, strict=True)
        for name, high in (("alpha", 0.999), ("gamma", np.inf)):
            if isinstance(getattr(self, name), str):
                _base.check_choice(self, name, ("auto",))
            else:
                _base.check_number(self, name, low=0, high=high, strict=True)
        if self.n_groups is not None:
            least = 2 if isinstance(self.n_clusters, str) else max(2, self.n_clusters)
            _base.check_number(self, "n_groups", low=least, high=len(table), integer=True)
            if self.metric == "precomputed":
                raise ValueError("'n_groups' needs attributes: distances have no means. Group the objects beforehand.")

    def _check_memory(self, n_leaves: int) -> None:
        needed = (32 if self.linkage == "product" else 8) * n_leaves**2 / 2**30
        if self.verbose:
            print(f"BeliefHierarchical: a tree of {n_leaves} leaves needs {needed:.2f} GiB of memory.")
        if needed > self.max_gigabytes:
            raise MemoryError(
                f"A tree of {n_leaves} leaves needs {needed:.1f} GiB of memory, more than "
                f"max_gigabytes={self.max_gigabytes:g}. Merge groups of objects (n_groups=1000), or raise the limit."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def unpacked(packed: np.ndarray, n: int) -> np.ndarray:
    """Full symmetric matrix of a packed lower triangle."""
    full = np.zeros((n, n))
    for i in range(1, n):
        full[i, :i] = full[:i, i] = packed[i * (i - 1) // 2 : i * (i + 1) // 2]
    return full


def check_distances(table: np.ndarray, *, square: bool) -> None:
    """Refuse what cannot be distances, saying where."""
    if square and table.shape[0] != table.shape[1]:
        raise ValueError(f"Distances must be a square matrix, one row and column an object. Got shape {table.shape}.")
    if table.min() < 0:
        i, j = np.argwhere(table < 0)[0]
        raise ValueError(f"Distances must not be negative, but that of objects {i} and {j} is {table[i, j]:g}.")
    if not square:
        return
    slack = 1e-8 * table.max()
    if np.diagonal(table).max() > slack:
        i = int(np.diagonal(table).argmax())
        raise ValueError(f"The distance of object {i} to itself is {table[i, i]:g}, not zero. Are these similarities?")
    for i, row in enumerate(table):
        off = np.abs(row - table[:, i])
        if off.max() > slack:
            j = int(off.argmax())
            raise ValueError(
                f"Distances must be the same both ways, but objects {i} and {j} have {table[i, j]:g} and "
                f"{table[j, i]:g}. Take the mean of both: (D + D.T) / 2."
            )
