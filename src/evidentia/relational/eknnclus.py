"""EkNNclus (Denœux, Kanjanatarakul & Sriboonchitta, 2015): clusters that agree with the evidence of near neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Integer, Number, fitted, param
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS
from evidentia.dissimilarities import RelationalClusterer, Source, nearest_objects
from evidentia.methods import Method
from evidentia.solvers.descent import Run, Watch, all_runs, best_of
from evidentia.solvers.label_sweeps import sweep, weight_between, weight_by_label
from evidentia.solvers.neighbors import default_n_neighbors

SUREST = 36.0  # weight of evidence: beyond it a double cannot tell the mass of "same cluster" from one


def neighbor_weights(distance: np.ndarray, gamma: float) -> np.ndarray:
    r"""Weights of evidence :math:`w = -\log(1 - e^{-\gamma d^2})` that two neighbors share a cluster.

    Examples
    --------
    >>> neighbor_weights(np.array([0.0, 1.0, 2.0]), gamma=np.log(2)).round(4)     # -log(1/2), -log(15/16)
    array([36.    ,  0.6931,  0.0645])
    """
    with np.errstate(divide="ignore"):  # copies of an object
        return np.minimum(-np.log(-np.expm1(-gamma * distance**2)), SUREST)


def combined_masses(support: np.ndarray) -> np.ndarray:
    r"""Dempster's combination of simple masses, from the weight :math:`u_{ik}` for each cluster; Ω comes last.

    .. math:: m_i(\{k\}) \propto e^{u_{ik}} - 1, \qquad m_i(\Omega) \propto 1

    Examples
    --------
    >>> combined_masses(np.log([[4.0, 2.0]]))            # 3 : 1 : 1
    array([[0.6, 0.2, 0.2]])
    """
    if support.shape[1] == 1:  # one cluster is the set of all clusters
        return np.ones((len(support), 1))
    highest = support.max(axis=1, keepdims=True)
    masses = np.hstack([np.exp(support - highest) - np.exp(-highest), np.exp(-highest)])
    return masses / masses.sum(axis=1, keepdims=True)


def settle(
    start: np.ndarray,
    neighbor: np.ndarray,
    weight: np.ndarray,
    labels: np.ndarray,
    rng: np.random.RandomState,
    *,
    max_iter: int,
    watch: Watch | None = None,
) -> Run:
    """Sweep over the objects in random order until none changes its label; the trace is the conflict."""
    labels = labels.copy()
    trace = [weight_between(start, neighbor, weight, labels)]
    score = np.zeros(labels.max() + 1)
    converged = interrupted = False
    try:
        while not converged and len(trace) <= max_iter:
            converged = sweep(start, neighbor, weight, rng.permutation(len(labels)), labels, score) == 0
            trace.append(weight_between(start, neighbor, weight, labels))
            if watch is not None:
                watch(len(trace) - 1, trace[-1])
    except KeyboardInterrupt:
        interrupted = True
        trace[-1] = weight_between(start, neighbor, weight, labels)  # a part of a sweep may have been made
    return Run(labels, np.array(trace), converged, interrupted)


class EkNNclus(RelationalClusterer):
    r"""Evidential clustering by the K nearest neighbors [1]_: the number of clusters comes out of the data.

    Neighbor j of object i is evidence of weight :math:`w_{ij} = -\log(1 - e^{-\gamma d_{ij}^2})` that both share a
    cluster. What speaks against a partition is the evidence it goes against, its conflict

    .. math:: J = \sum_i \sum_{j \in N_K(i)} w_{ij}\, [\, \text{i and j in different clusters}\, ],

    minus the logarithm of the partition's plausibility. Every object begins as a cluster of its own; then, in random
    order, each moves to the cluster that the evidence of its neighbors supports most, until none moves. The masses are
    those of the evidential k-nearest neighbor rule: :math:`m_i(\{k\}) \propto e^{u_{ik}} - 1`,
    :math:`m_i(\Omega) \propto 1`, with :math:`u_{ik}` the weight of the neighbors of i in cluster k.

    Attributes
    ----------
    n_clusters_ : int
        What came out.
    gamma_ : float
    criterion_ : float
        The conflict.
    criterion_trace_ : ndarray
        Conflict after each sweep. It never rises when K is the number of all others. With fewer neighbors j may be one
        of i's without i being one of j's, and it may rise by a little.

    Notes
    -----
    Only the n × K neighbors are kept: no n × n matrix is made from attributes. Objects have no weights.

    ``predict_partition`` applies the evidential k-nearest neighbor rule to new objects, with training objects as their
    neighbors. A training object is there its own nearest neighbor: it keeps its label, with more certainty. For
    ``metric="precomputed"`` a new object is a row of dissimilarities to the training objects.

    References
    ----------
    .. [1] T. Denœux, O. Kanjanatarakul, S. Sriboonchitta. EK-NNclus: a clustering procedure based on the evidential
       K-nearest neighbor rule. Knowledge-Based Systems 88:57-69, 2015.

    Examples
    --------
    >>> X = [[0.0], [1], [2], [10], [11], [12], [13]]
    >>> model = EkNNclus(n_neighbors=3, random_state=0).fit(X)
    >>> model.n_clusters_, model.labels_, model.predict([[9.0], [3.0]])
    (2, array([1, 1, 1, 0, 0, 0, 0]), array([0, 1]))
    """

    method = Method(
        name="eknnclus", title="objects follow their neighbors; the number of clusters comes out",
        papers=("Denœux et al., *Knowledge-Based Systems* 88, 2015",), guide="density",
        reads=("table", "dissimilarities"), number=("found",), grows="search for *K* neighbors, then *n K*",
        memory="*n K*", doubt='mass on "all"', limit="*K* decides how many clusters; curved groups are cut",
    )  # fmt: skip

    n_clusters: Any = param(
        Choice("auto") | _base.N_CLUSTERS,
        """Clusters to begin with; how many remain is ``n_clusters_``. ``"auto"`` begins with as many as objects. A
        number begins with as many labels at random, of which some may die: it is the most that can come out. In a
        single start two groups far apart may settle on one label by chance; ten (``n_init``) tell them apart.""",
        default="auto",
        kw_only=False,
    )
    n_neighbors: Any = param(
        Choice("auto") | Integer(low=1),
        """K: the more, the fewer clusters. ``"auto"`` is three times the square root of the number of objects, at most
        100.""",
        default="auto",
    )
    q: float = param(
        Number(above=0, high=1),
        r":math:`\gamma` is one over the q-quantile of the squared distances to the neighbors.",
        default=0.9,
    )
    n_init: int = param(
        Integer(low=1),
        """Number of starts; that of least conflict is kept, among those that kept most clusters when ``n_clusters`` is
        a number: one cluster for all has no conflict at all.""",
        default=1,
    )
    max_iter: int = param(Integer(low=1), "Most sweeps over the objects in one start.", default=100)
    tol = 0.0  # a start ends when no object moves

    _train_labels: np.ndarray = fitted()
    _n_neighbors: int = fitted()

    def _fit(self, data: Data[Source]) -> np.ndarray:
        n, rng = len(data.rows), data.rng
        n_neighbors = self._count_neighbors(n)
        distance, neighbor = nearest_objects(data.rows, n_neighbors)
        scale = np.quantile(distance**2, self.q)
        if scale == 0:
            raise ValueError(
                f"{self.q:.0%} of the distances to the {n_neighbors} nearest neighbors are zero, so EkNNclus has no "
                "scale to compare with: most rows are copies. Drop them, or raise n_neighbors."
            )
        self.gamma_ = float(1 / scale)
        graph = _graph(distance, neighbor, self.gamma_)
        runs = all_runs(
            lambda start, watch: settle(*graph, start, rng, max_iter=self.max_iter, watch=watch),
            self._starts(n, rng),
            name="EkNNclus",
            n_starts=self.n_init,
            verbose=self.verbose,
        )
        best = best_of(runs, name="EkNNclus", max_iter=self.max_iter, tol=self.tol, rank=self._preference)
        self._publish_run(best, runs)
        self._train_labels = self.labels_ = number_by_size(best.state)
        self.focal_sets_ = self._family(int(self.labels_.max()) + 1)
        self._n_neighbors, self._source = n_neighbors, data.rows.needed_for_new()
        return self._support_masses(distance, neighbor)

    def _count_neighbors(self, n: int) -> int:
        """K, which must be fewer than there are objects."""
        if not isinstance(self.n_clusters, str):
            _checks.check_enough_rows(self, n, self.n_clusters)
        if isinstance(self.n_neighbors, str):
            return default_n_neighbors(n)
        if self.n_neighbors >= n:
            raise ValueError(
                f"The 'n_neighbors' parameter of EkNNclus must be below the number of objects, {n}. "
                f"Got {self.n_neighbors!r} instead."
            )
        return int(self.n_neighbors)

    def _starts(self, n: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
        for _ in range(self.n_init):
            yield np.arange(n) if isinstance(self.n_clusters, str) else rng.randint(self.n_clusters, size=n)

    def _preference(self, run: Run) -> tuple[int, float]:
        """With a number given, starts that kept more clusters come first: one cluster for all has no conflict."""
        alive = 0 if isinstance(self.n_clusters, str) else len(np.unique(run.state))
        return -alive, run.objective

    def _family(self, n_clusters: int) -> FocalSets:
        if n_clusters > MAX_CLUSTERS:
            raise ValueError(
                f"EkNNclus found {n_clusters} clusters, and a credal partition has at most {MAX_CLUSTERS}. "
                f"Raise n_neighbors for fewer, or begin with n_clusters={MAX_CLUSTERS}. (labels_ holds what was found.)"
            )
        return FocalSets(n_clusters, "simple", empty=False)

    def _support_masses(self, distance: np.ndarray, neighbor: np.ndarray) -> np.ndarray:
        graph = _graph(distance, neighbor, self.gamma_)
        return combined_masses(weight_by_label(*graph, self._train_labels, self.focal_sets_.n_clusters))

    def _masses(self, X: Any) -> np.ndarray:
        return self._support_masses(*nearest_objects(self._source, self._n_neighbors, X))


def number_by_size(labels: np.ndarray) -> np.ndarray:
    """The same clusters, numbered from the largest to the smallest, those of one size by their first object.

    Examples
    --------
    >>> number_by_size(np.array([7, 3, 3, 5, 5]))
    array([2, 0, 0, 1, 1])
    """
    _, first, found, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(_base.largest_first(size, tie=first))[found]


def _graph(distance: np.ndarray, neighbor: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges to the neighbors as :func:`sweep` takes them: where each row starts, the other end, the weight."""
    start = np.arange(0, neighbor.size + 1, neighbor.shape[1])
    return start, neighbor.ravel(), neighbor_weights(distance, gamma).ravel()
