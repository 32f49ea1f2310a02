r"""Belief hierarchical clustering (Maalel, Zhou, Martin & Elouedi, 2014).

Each of K clusters has a mass function on the other :math:`K - 1`: eqs. (10), (11) from a distance between clusters, or
(13), (14) from those of the objects, combined by Dempster's rule. The pair with the largest product of pignistic
probabilities is merged (12), and the sum of the two is the index of the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._objects import Names, align_objects
from evidentia._parameters import BOOLEAN, NOTHING, SEED, Choice, Integer, Number, Predicate, fitted, param
from evidentia.belief import FocalSets, MassFunctions
from evidentia.belief.focal import MAX_CLUSTERS, canonical_order
from evidentia.dissimilarities import METRIC, METRIC_PARAMS, Source, Table, read_new, read_source
from evidentia.hierarchy._places import Places, group_means, group_rows, jousselme_coordinates, reference_distance
from evidentia.hierarchy._tree import BeliefTree
from evidentia.methods import Method
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.rows.scan import LARGEST
from evidentia.solvers.memory import refuse_beyond_memory, row_blocks

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


def agreement(squared: np.ndarray, same: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    r"""How well the clusters of a cut predict the similarity of two objects, and the gamma of this similarity.

    The similarity is :math:`e^{-\gamma d^2}` with :math:`\gamma` one over twice the mean squared distance inside the
    clusters. The first number is its correlation, over pairs of objects, with being in the same cluster, zero where
    one of them does not vary.

    Parameters
    ----------
    squared, same, weight : ndarray of shape (n_pairs,)
        Squared distance, whether the two are in one cluster, and how much the pair counts.

    Examples
    --------
    >>> squared = np.array([1.0, 3.0, 2.0, 8.0, 9.0, 9.0])
    >>> score, gamma = agreement(squared, np.array([1, 1, 1, 0, 0, 0]), np.ones(6))
    >>> gamma, round(score, 3)
    (0.25, 0.943)
    """
    apart = squared[squared > 0]
    if not apart.size or same.all() or not same.any():
        return 0.0, 1.0
    share = np.average(same, weights=weight)
    inside = max(np.average(squared, weights=weight * same), apart.min() / 20)  # equal objects alone: no other in reach
    gamma = 1 / (2 * max(inside, np.finfo(float).tiny, apart.max() * 1e-290))  # finite, and its products too
    similar = np.exp(-gamma * squared)
    excess = similar - np.average(similar, weights=weight)
    variance = share * (1 - share) * np.average(np.square(excess), weights=weight)
    if variance <= 0:
        return 0.0, gamma
    return float(np.average(excess * same, weights=weight) / np.sqrt(variance)), float(gamma)


class BeliefHierarchical(_base.EvidentialClusterer):
    r"""Belief hierarchical clustering [1]_: a tree whose merges are driven by belief.

    .. math::
        m_i(C_j) = \alpha e^{-\gamma d^2(C_i, C_j)}, \qquad m_i(\Omega_i) = 1 - \sum_j m_i(C_j), \qquad
        BetP_i(j) = m_i(C_j) + \frac{m_i(\Omega_i)}{K - 1}

    Of K clusters the two with the largest :math:`BetP_i(j)\,BetP_j(i)` are merged, until one is left. The BetP index of
    a merge is :math:`BetP_i(j) + BetP_j(i)`.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_leaves - 1, 4)
        The tree for SciPy's ``dendrogram``, ``fcluster`` and ``cophenet``. The BetP index can fall from one merge to
        the next, so a height is the largest index so far (and rises by the last bit where that does not change).
    betp_index_ : ndarray of shape (n_leaves - 1,)
    merge_mass_ : ndarray of shape (n_leaves - 1,)
        Mean of the masses that the two merged clusters gave to each other.
    cut_scores_ : ndarray of shape (n_tried, 2)
        Numbers of clusters, and how well each cut predicts which objects are similar; see :meth:`cut`.
    labels_ : ndarray of shape (n_samples,)
        Where the cut of the tree puts each object; clusters are numbered from the largest to the smallest. No cluster
        is more plausible for the object, but others may be as plausible (see :meth:`partition`).
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
    almost always. :meth:`cut` therefore asks the clusters, not the index.

    *The choice of gamma.* [1]_ leaves it open. The evidential nearest neighbor rule, from which the formula comes,
    takes one over the mean squared distance inside the classes: gamma needs clusters, and clusters a gamma. A first
    tree (Ward's link, one over the lower quartile of the squared distances) is cut into the clusters that are wanted,
    or where :meth:`cut` says; gamma is one over twice the mean squared distance inside them, and the tree is built
    again. It does not depend on the number of objects. The choice of the link matters more than gamma: with a number
    of clusters given, the average link spends them on single outliers, whatever gamma is. That is why ``"ward"`` is the
    default, for dissimilarities too. Labels hardly depend on alpha, which is the share of doubt in the masses.

    *The paper says that the first way gives the partitions of the classical method.* It does for two and three
    clusters: with common masses the nearest pair then has the largest probabilities. For more, a cluster with few
    others near has more mass left on the frame, which raises all its probabilities, so of two pairs at about the same
    distance the one in a sparser place is merged first.

    *Nothing underflows.* Where all masses are tiny, they are compared by what they add to ignorance, relative to the
    largest of them, so far outliers are merged nearest first.

    *Cost.* Rows remember their best gain and how much it may have grown since; a merge looks again only at rows that
    may hold the best pair. Memory is 8 n² bytes; time is O(n²) in ordinary data, and O(n³) when all pairs are tied.
    ``"product"`` needs 32 n² bytes and O(n³) time. ``gamma="auto"`` needs one tree more, of Ward's link. The scores of
    the cuts look at the pairs of at most 500 leaves, 125,000 for each of at most sqrt(n_samples) numbers.

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

    The method of the paper, and its tree cut between two values of the BetP index:

    >>> from scipy.cluster.hierarchy import fcluster
    >>> c, gamma = 3, 1.0
    >>> paper = BeliefHierarchical(c, linkage="average", alpha=0.95, gamma=gamma).fit(X)
    >>> paper.linkage_[-3:, 2].round(2)
    array([0.96, 1.  , 2.  ])
    >>> fcluster(paper.linkage_, 0.98, "distance").tolist(), paper.labels_.tolist()
    ([1, 1, 1, 2, 2, 2, 3], [0, 0, 0, 1, 1, 1, 2])
    """

    method = Method(
        name="bhc", title="a tree by belief, from a table, from distances, or from uncertain objects",
        papers=("Maalel, Zhou, Martin & Elouedi, *Belief Functions*, 2014",), guide="bhc",
        reads=("table", "dissimilarities", "mass functions"), number=("given", "found"), empty_set=True,
        chosen_for=("trees",),
        criterion=None, power=2, grows='*{n}* in all (`"product"`: *n³*)', memory="*{n}*",
        doubt="sets of the tree, outliers",
        limit="no way back from a merge; many columns leave most objects ambiguous",
        as_in_paper='BeliefHierarchical(c, linkage="average", alpha=0.95, gamma=gamma)',
        differs='That is its first way; the link may be another one, and `linkage="product"` is its second way. The '
        "paper leaves alpha and gamma open. Its masses may sum to more than one; here the masses of each cluster are "
        "scaled where they do. The paper looks for a cut in the dendrogram of the BetP index; at a value t it is "
        '`scipy.cluster.hierarchy.fcluster(model.linkage_, t, "distance")`.',
    )  # fmt: skip

    n_clusters: Any = param(
        Choice("auto") | _base.N_CLUSTERS,
        "Where ``labels_`` and ``partition_`` cut the tree, see :meth:`cut`.",
        default="auto",
        kw_only=False,
    )
    linkage: str = param(
        Choice(*LINKAGES),
        r"""The distance between clusters in the formula above. ``"ward"`` takes for :math:`d^2` twice the rise of the
        inertia, which is the squared distance for two single objects. ``"product"`` is the second way of the paper:
        object i gives cluster C the mass :math:`\prod_{x_j \in C} \alpha e^{-\gamma d_{ij}^2}`, and the mass function
        of a cluster is that of its objects combined by Dempster's rule.""",
        default="ward",
    )
    alpha: Any = param(
        Choice("auto") | Number(above=0, high=0.999),
        """The most that the masses on other clusters may sum to; the paper leaves it open, and one number for all would
        let them sum to more than one. With a number, each cluster's masses are scaled, where needed, to sum to it.
        ``"auto"`` is 0.95, and where a cluster needs scaling all of them are scaled alike, so that two clusters give
        each other the same mass, as the paper writes it. With ``"product"`` it is 0.95.""",
        default="auto",
    )
    gamma: Any = param(
        Choice("auto") | Number(above=0),
        """How fast belief falls with the squared distance. ``"auto"`` is one over twice the mean squared distance
        inside the clusters of a first tree, see the notes.""",
        default="auto",
    )
    metric: Any = METRIC
    metric_params: Any = METRIC_PARAMS
    n_groups: Any = param(
        Integer(low=2) | NOTHING,
        """Merge this many groups of objects, each at its mean and with its weight, instead of the objects (K_init in
        the paper). For large data. With ``"ward"`` the tree above the groups is that of their objects. With the other
        links it is not: the distance of two groups is that of their means, in place of the least, largest or mean
        distance of their objects, and ``"product"`` counts each object of a group as one at its mean.""",
        default=None,
    )
    grouping: str = param(
        Choice("k-means", "neighbors"),
        "How groups are made: one run of k-means, or Ward merges of objects that are among each other's ten nearest.",
        default="k-means",
    )
    uncertainty: Any = param(
        NOTHING | Predicate("array of shape (n_samples, n_features)"),
        r"""Standard deviation of each value of the rows that are fitted. Squared distances become expected ones,
        :math:`\|x - y\|^2 + \sum_p (\sigma_{xp}^2 + \sigma_{yp}^2)`.""",
        default=None,
    )
    random_state: Any = param(SEED, "Seed of k-means.", default=None)
    verbose: int = param(Integer(low=0) | BOOLEAN, "1 says how much memory is needed.", default=0)

    _objects: Places = fitted()
    _names: Names | None = fitted()
    _leaves: Places = fitted()
    _tree: BeliefTree = fitted()

    def _read_rows(self, X: Any) -> Source:
        return read_source(self, self._coordinates(X), contrast=False)

    def _fit(self, data: Data[Source]) -> np.ndarray:
        """Build the tree, and cut it."""
        n = len(data.rows)
        self._objects = Places(data.rows, np.zeros(n), np.ones(n))
        if self.uncertainty is not None:
            given = align_objects(data.given, self.uncertainty, ("X", "'uncertainty' of BeliefHierarchical"))
            self._objects = self._blur(self._objects, given)
        self._names = data.names
        self._check_counts()
        self.groups_, self._leaves = self._group(data.rng)
        self._refuse_beyond_memory(len(self._leaves))
        self.alpha_ = RELIABILITY if self.alpha == "auto" else float(self.alpha)
        self.gamma_ = self._choose_gamma() if self.gamma == "auto" else float(self.gamma)
        self._tree = self._merge(self.linkage, self.gamma_)
        self.linkage_ = self._tree.linkage()
        self.betp_index_ = self._tree.index
        self.merge_mass_ = self._tree.mass.mean(axis=1)
        self.cut_scores_ = self._score_cuts(self._tree, self._numbers_to_try(self._tree))[:, :2]
        cut = self.partition(self.n_clusters)
        self.focal_sets_ = cut.focal_sets
        return cut.masses

    def _store(self, data: Data[Source], masses: np.ndarray | LazyPartition | None) -> None:
        super()._store(data, masses)
        self.labels_ = self.cut(self.n_clusters_)

    def cut(self, n_clusters: int | str = "auto") -> np.ndarray:
        """Labels of the objects when the tree is cut, shape (n_samples,); the largest cluster is number 0.

        Parameters
        ----------
        n_clusters : int or "auto"
            ``"auto"`` takes the cut whose clusters best predict which objects are similar: of 2 to sqrt(n_samples)
            clusters (10 in small tables) the number with the largest correlation, over pairs of objects, between being
            in the same cluster and :math:`e^{-\\gamma_k d^2}`, with :math:`\\gamma_k` one over twice the mean squared
            distance inside the k clusters. One cluster only where all objects are alike or there are but two.
        """
        check_is_fitted(self)
        return self._cut(self._number(n_clusters))[0][self.groups_]

    def partition(self, n_clusters: int | str = "auto") -> CredalPartition:
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
            squared = self._squared_to_leaves(block)
            others = np.repeat(self._leaves.weight[None], len(squared), axis=0)
            others[np.arange(len(squared)), self.groups_[block]] -= 1
            masses[block] = coarsened_masses(
                squared, others, cluster, own[block], joint, focal_sets, gamma=self.gamma_, alpha=self.alpha_
            )
        return CredalPartition(masses, focal_sets, object_names=self._names, copy=False)

    def classical(self) -> np.ndarray:
        """SciPy's tree of the same leaves by the same link (average for ``"product"``), to compare with.

        Groups count as one object each.
        """
        check_is_fitted(self)
        condensed = squareform(np.sqrt(unpack(self._leaves.pack(), len(self._leaves))), checks=False)
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
        return super().predict_partition(X)

    def _read_new(self, X: Any) -> Any:
        return read_new(self, self._objects.source, self._coordinates(X))

    def _masses(self, X: Any) -> np.ndarray:
        cluster, joint = self._cut(self.n_clusters_)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for block in row_blocks(len(X), len(cluster)):
            masses[block] = coarsened_masses(
                self._leaves.squared_from(X[block]),
                self._leaves.weight,
                cluster,
                None,
                joint,
                self.focal_sets_,
                gamma=self.gamma_,
                alpha=self.alpha_,
            )
        return masses

    def _merge(self, link: str, gamma: float) -> BeliefTree:
        from evidentia.hierarchy._merge import LINKS, merge_by_distance, merge_by_products  # numba loads late

        weight = self._leaves.weight
        squared = self._leaves.pack()
        if squared.max(initial=0) > np.finfo(float).max / 1e10 / max(gamma, 1) / weight.sum():
            raise ValueError(
                f"Squared distances of up to {squared.max():g} times gamma={gamma:g} are more than doubles carry. "
                "Lower the 'gamma' parameter of BeliefHierarchical, or measure X (and 'uncertainty') in a larger unit."
            )
        if link == "product":
            return BeliefTree(*merge_by_products(unpack(squared, len(weight)), weight, gamma, self.alpha_)[:3])
        if link == "ward" and self.n_groups is not None:
            for i in range(1, len(weight)):
                row = slice(i * (i - 1) // 2, i * (i + 1) // 2)
                squared[row] *= 2 * weight[i] * weight[:i] / (weight[i] + weight[:i])
        found = merge_by_distance(squared, weight.copy(), LINKS[link], gamma, self.alpha_, self.alpha == "auto")
        return BeliefTree(*found[:3])

    def _choose_gamma(self) -> float:
        """The gamma of the clusters of a first tree: of as many as are wanted, or of its best cut."""
        first = 1 / reference_distance(self._leaves.pack())
        tree = self._merge("ward", first)
        scores = self._score_cuts(
            tree, self._numbers_to_try(tree) if isinstance(self.n_clusters, str) else [self.n_clusters]
        )
        if not len(scores) or scores[:, 1].max() <= 0:
            return first
        return float(scores[scores[:, 1].argmax(), 2])

    def _numbers_to_try(self, tree: BeliefTree) -> Sequence[int]:
        """Numbers of clusters that are tried."""
        return range(2, min(max(FEW, int(np.sqrt(len(self.groups_)))), tree.n_leaves - 1) + 1)

    def _score_cuts(self, tree: BeliefTree, numbers: Sequence[int]) -> np.ndarray:
        """Numbers of clusters, and the :func:`agreement` and the gamma of each cut; shape (n_tried, 3)."""
        leaves, full = self._leaves.sample()
        one, other = np.tril_indices(len(leaves), -1)
        squared, weight = full[one, other], self._leaves.weight[leaves[one]] * self._leaves.weight[leaves[other]]
        scores = np.empty((len(numbers), 3))
        for at, k in enumerate(numbers):
            node = tree.leaves_of(k)[leaves]
            scores[at] = k, *agreement(squared, node[one] == node[other], weight)
        return scores

    def _number(self, n_clusters: int | str) -> int:
        if isinstance(n_clusters, str):
            if n_clusters != "auto":
                raise ValueError(f"'n_clusters' must be an integer or 'auto'. Got {n_clusters!r}.")
            numbers, scores = self.cut_scores_.T
            return int(numbers[scores.argmax()]) if len(scores) and scores.max() > 0 else 1
        n_leaves = self._tree.n_leaves
        if not 1 <= n_clusters <= n_leaves:
            raise ValueError(
                f"The tree has {n_leaves} leaves and can be cut into n_clusters=1 to {n_leaves}. Got {n_clusters!r}."
            )
        return int(n_clusters)

    def _cut(self, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Cluster of each leaf, and masks of the nodes above two clusters (for as many as a mask can hold)."""
        nodes, which = np.unique(self._tree.leaves_of(n_clusters), return_inverse=True)
        first = np.full(n_clusters, len(self.groups_))
        np.minimum.at(first, which[self.groups_], np.arange(len(self.groups_)))
        order = _base.largest_first(np.bincount(which, weights=self._leaves.weight), tie=first)
        number = np.argsort(order)
        if n_clusters > MAX_CLUSTERS:
            return number[which], np.empty((0, 0), dtype=np.int64)
        joint = self._tree.joint_nodes(n_clusters, dict(zip(nodes.tolist(), number.tolist())))
        return number[which], joint

    def _coordinates(self, X: Any) -> Any:
        """X, or rows whose Euclidean distances are those of mass functions."""
        if not isinstance(X, MassFunctions):
            return X
        if self.metric != "euclidean":
            raise ValueError("Mass functions have distances of their own: leave metric='euclidean'.")
        return jousselme_coordinates(X.masses, X.focal_sets)

    def _blur(self, objects: Places, uncertainty: Any) -> Places:
        """The same objects with values that have variances."""
        if objects.rows is None:
            raise ValueError(
                f"'uncertainty' is about values and Euclidean distances; with metric={self.metric!r} put it into the "
                "distances."
            )
        deviation = np.asarray(_checks.fill_masked(uncertainty, "BeliefHierarchical", "uncertainty"), dtype=float)
        if deviation.shape != objects.rows.shape or not np.isfinite(deviation).all() or (deviation < 0).any():
            raise ValueError(
                f"'uncertainty' must hold a standard deviation, finite and not negative, for each value of X, shape "
                f"{objects.rows.shape}. Got shape {deviation.shape}."
            )
        if deviation.max(initial=0) > LARGEST:
            row, column = np.unravel_index(deviation.argmax(), deviation.shape)
            raise ValueError(
                f"'uncertainty' of BeliefHierarchical holds {deviation.max():g} in row {row}, column {column}, whose "
                f"square doubles do not carry; {LARGEST:g} is the most. An object of which nothing is known is dropped."
            )
        return replace(objects, spread=np.square(deviation).sum(axis=1))

    @property
    def _least(self) -> int:
        """Fewest leaves that a tree may have."""
        return 2 if isinstance(self.n_clusters, str) else max(2, self.n_clusters)

    def _check_counts(self) -> None:
        """What of the parameters depends on the number of objects."""
        n_samples = len(self._objects)
        if not isinstance(self.n_clusters, str):
            _checks.check_enough_rows(self, n_samples, self.n_clusters)
        if self.n_groups is None:
            return
        if not self._least <= self.n_groups <= n_samples:
            raise ValueError(
                f"The 'n_groups' parameter of BeliefHierarchical must be from {self._least}, for as many clusters, to "
                f"{n_samples}, the number of objects. Got {self.n_groups!r} instead."
            )
        if self._objects.rows is None:
            raise ValueError(
                "'n_groups' needs attributes and metric='euclidean': other distances have no means. "
                "Group the objects beforehand."
            )

    def _group(self, rng: np.random.RandomState) -> tuple[np.ndarray, Places]:
        """Leaf of each object, and the leaves: the objects, or means of groups of them."""
        objects = self._objects
        if self.n_groups is None or objects.rows is None:
            return np.arange(len(objects)), objects
        groups = group_rows(objects.rows, self.n_groups, self.grouping, rng)
        if groups.max() + 1 < self._least:
            raise ValueError(
                f"So few rows of X differ that of n_groups={self.n_groups} only {groups.max() + 1} are left, but "
                f"BeliefHierarchical needs {self._least}. Give it the objects themselves (n_groups=None), or fewer "
                "clusters."
            )
        means = Table(group_means(objects.rows, groups), "euclidean", {})
        return groups, Places(means, group_means(objects.spread, groups), np.bincount(groups).astype(float))

    def _squared_to_leaves(self, objects: slice) -> np.ndarray:
        """Squared distances of some objects to all leaves."""
        if self._objects.rows is None:
            return np.square(self._objects.source.block(objects, slice(None)))
        return self._leaves.squared_from(self._objects.rows[objects], self._objects.spread[objects])

    def _refuse_beyond_memory(self, n_leaves: int) -> None:
        needed = (32 if self.linkage == "product" else 8) * n_leaves**2
        if self.verbose:
            words = f"BeliefHierarchical: a tree of {n_leaves} leaves needs {needed / 2**30:.2f} GiB of memory."
            tqdm.write(words, file=sys.stderr)  # beside the bars of other methods
        refuse_beyond_memory(needed, f"A tree of {n_leaves} leaves", "Merge groups of objects (n_groups=1000).")


def unpack(packed: np.ndarray, n: int) -> np.ndarray:
    """Full symmetric matrix of a packed lower triangle."""
    full = np.zeros((n, n))
    for i in range(1, n):
        full[i, :i] = full[:i, i] = packed[i * (i - 1) // 2 : i * (i + 1) // 2]
    return full
