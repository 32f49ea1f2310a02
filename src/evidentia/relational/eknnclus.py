"""EkNNclus (Denœux, Kanjanatarakul & Sriboonchitta, 2015): clusters that agree with the evidence of near neighbours."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from tqdm.auto import tqdm

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS
from evidentia.dissimilarities import check_dissimilarities
from evidentia.solvers.descent import Run
from evidentia.solvers.label_sweeps import sweep, weight_between, weight_by_label
from evidentia.solvers.neighbours import default_n_neighbors, nearest

SUREST = 36.0  # weight of evidence: beyond it a double cannot tell the mass of "same cluster" from one


def neighbour_weights(distance: np.ndarray, gamma: float) -> np.ndarray:
    r"""Weights of evidence :math:`w = -\log(1 - e^{-\gamma d^2})` that two neighbours share a cluster.

    Examples
    --------
    >>> neighbour_weights(np.array([0.0, 1.0, 2.0]), gamma=np.log(2)).round(4)     # -log(1/2), -log(15/16)
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
) -> Run:
    """Sweep over the objects in random order until none changes its label; the trace is the conflict."""
    labels = labels.copy()
    trace = [weight_between(start, neighbor, weight, labels)]
    score = np.zeros(labels.max() + 1)
    converged = False
    while not converged and len(trace) <= max_iter:
        converged = sweep(start, neighbor, weight, rng.permutation(len(labels)), labels, score) == 0
        trace.append(weight_between(start, neighbor, weight, labels))
    return Run(labels, np.array(trace), converged)


class EkNNclus(_base.EvidentialClusterer):
    r"""Evidential clustering by the K nearest neighbours [1]_: the number of clusters comes out of the data.

    Neighbour j of object i is evidence of weight :math:`w_{ij} = -\log(1 - e^{-\gamma d_{ij}^2})` that both share a
    cluster. What speaks against a partition is the evidence it goes against, its conflict

    .. math:: J = \sum_i \sum_{j \in N_K(i)} w_{ij}\, [\, \text{i and j in different clusters}\, ],

    minus the logarithm of the partition's plausibility. Every object begins as a cluster of its own; then, in random
    order, each moves to the cluster that the evidence of its neighbours supports most, until none moves. The masses are
    those of the evidential k-nearest neighbour rule: :math:`m_i(\{k\}) \propto e^{u_{ik}} - 1`,
    :math:`m_i(\Omega) \propto 1`, with :math:`u_{ik}` the weight of the neighbours of i in cluster k.

    Parameters
    ----------
    n_clusters : int or "auto"
        ``"auto"`` begins with as many clusters as objects. A number begins with as many clusters at random, of which
        some may die; it is an upper bound.
    n_neighbors : int or "auto"
        K: the more, the fewer clusters. ``"auto"`` is three times the square root of the number of objects, at most
        100.
    q : float in (0, 1]
        :math:`\gamma` is one over the q-quantile of the squared distances to the neighbours.
    metric : str or callable
        ``"precomputed"`` for a matrix of dissimilarities, or a metric that scikit-learn knows.
    n_init : int
        Number of starts; that of least conflict is kept, among those that kept most clusters when ``n_clusters`` is a
        number: one cluster for all has no conflict at all.
    max_iter : int
        Sweeps over the objects.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
        Masses on single clusters and on the set of all.
    labels_ : ndarray of shape (n_samples,)
        The most plausible cluster, the one that the sweeps ended with.
    n_clusters_ : int
    gamma_ : float
    criterion_ : float
    criterion_trace_ : ndarray
        Conflict after each sweep. It never rises when K is the number of all others. With fewer neighbours j may be one
        of i's without i being one of j's, and it may rise by a little.
    start_criteria_ : ndarray
        Final criterion of every start.
    n_iter_ : int
    focal_sets_ : FocalSets

    Notes
    -----
    Only the n × K neighbours are kept: no n × n matrix is made from attributes. Objects have no weights.

    ``predict_partition`` applies the evidential k-nearest neighbour rule to new objects, with training objects as their
    neighbours. A training object is there its own nearest neighbour: it keeps its label, with more certainty. For
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

    finds_its_number = True  # n_clusters is only where it begins

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        n_neighbors: int | str = "auto",
        q: float = 0.9,
        metric: Any = "euclidean",
        n_init: int = 1,
        max_iter: int = 100,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.q = q
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters in the rows of X, or in a matrix of dissimilarities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of dissimilarities
        y : None
            Ignored.
        """
        table = _base.check_table(self, X)
        n = len(table)
        self._check_params(n)
        if self._pairwise:
            table = check_dissimilarities(table, "EkNNclus")
        n_neighbors = default_n_neighbors(n) if self.n_neighbors == "auto" else int(self.n_neighbors)
        distance, neighbor = nearest(table, n_neighbors, metric=self.metric)
        scale = np.quantile(distance**2, self.q)
        if scale == 0:
            raise ValueError(
                f"{self.q:.0%} of the distances to the {n_neighbors} nearest neighbours are zero, so EkNNclus has no "
                "scale to compare with: most rows are copies. Drop them, or raise n_neighbors."
            )
        self.gamma_ = float(1 / scale)
        graph = _graph(distance, neighbor, self.gamma_)
        rng = check_random_state(self.random_state)
        bar = tqdm(range(self.n_init), desc="EkNNclus", unit="start", leave=False, disable=not self.verbose)
        runs = [settle(*graph, self._start(n, rng), rng, max_iter=self.max_iter) for _ in bar]
        best = min(runs, key=self._preferred)
        if not best.converged:
            warn_user(
                f"EkNNclus reached max_iter={self.max_iter} while objects still moved; raise max_iter.",
                ConvergenceWarning,
            )
        self.criterion_trace_, self.criterion_, self.n_iter_ = best.trace, best.objective, best.n_iter
        self.start_criteria_ = np.array([run.objective for run in runs])
        self._number(best.state)
        self._train = None if self._pairwise else table
        self._n_neighbors = n_neighbors
        self._publish(X, combined_masses(weight_by_label(*graph, self._given, self.n_clusters_)))
        self.labels_ = self._given  # also for an object whose neighbours leave two clusters equally plausible
        return self

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_params(self, n: int) -> None:
        if self.n_clusters != "auto":
            _base.check_number(self, "n_clusters", low=1, high=MAX_CLUSTERS, integer=True)
            _base.check_enough_rows(self, n, int(self.n_clusters))
        if self.n_neighbors != "auto":
            _base.check_number(self, "n_neighbors", low=1, high=n - 1, integer=True)
        _base.check_number(self, "q", low=0, high=1, strict=True)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)

    def _start(self, n: int, rng: np.random.RandomState) -> np.ndarray:
        return np.arange(n) if self.n_clusters == "auto" else rng.randint(int(self.n_clusters), size=n)

    def _preferred(self, run: Run) -> tuple[int, float]:
        """With a number given, starts that kept more clusters come first: one cluster for all has no conflict."""
        alive = 0 if self.n_clusters == "auto" else len(np.unique(run.state))
        return -alive, run.objective

    def _number(self, found: np.ndarray) -> None:
        """Number the clusters from the largest to the smallest."""
        _, first, labels, size = np.unique(found, return_index=True, return_inverse=True, return_counts=True)
        order = _base.largest_first(size, tie=first)
        self._given = self.labels_ = np.argsort(order)[labels]
        self.n_clusters_ = len(size)
        if self.n_clusters_ > MAX_CLUSTERS:
            raise ValueError(
                f"EkNNclus found {self.n_clusters_} clusters, and a credal partition has at most {MAX_CLUSTERS}. "
                f"Raise n_neighbors for fewer, or begin with n_clusters={MAX_CLUSTERS}. (labels_ holds what was found.)"
            )
        self.focal_sets_ = FocalSets(self.n_clusters_, "simple", empty=False)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        if self._train is None:  # X holds dissimilarities to the training objects
            near = np.argsort(X, axis=1, kind="stable")[:, : self._n_neighbors]
            distance = np.take_along_axis(X, near, axis=1)
        else:
            distance, near = nearest(self._train, self._n_neighbors, metric=self.metric, queries=X)
        return combined_masses(weight_by_label(*_graph(distance, near, self.gamma_), self._given, self.n_clusters_))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise
        return tags


def _graph(distance: np.ndarray, neighbor: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges to the neighbours as :func:`sweep` takes them: where each row starts, the other end, the weight."""
    start = np.arange(0, neighbor.size + 1, neighbor.shape[1])
    return start, neighbor.ravel(), neighbour_weights(distance, gamma).ravel()
