r"""The δ–Bel graph (Su & Denœux, 2019): which objects are centers of clusters.

An object is a good center when its neighborhood is dense, and when no better center is near.

* The neighbors of object i are pieces of evidence that it is a center (C). Neighbor j gives the mass
  :math:`m_{ij}(\{C\}) = \frac1K \exp(-d_{ij}^2/\sigma_j^2)`, with :math:`\sigma_j` the q-quantile of the distances of j
  to its own K neighbors, and Dempster's rule combines them to
  :math:`\mathrm{Bel}_i(C) = 1 - \prod_{j \in N_K(i)} \bigl(1 - \tfrac1K e^{-d_{ij}^2/\sigma_j^2}\bigr)`.
* :math:`\delta_i` is the distance to the nearest object of larger belief; for the object of largest belief, the largest
  of the other :math:`\delta`.

Centers have both large: they stand out in the upper right corner of the graph of δ against Bel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evidentia.solvers.memory import row_blocks
from evidentia.solvers.neighbors import default_n_neighbors, distances, nearest


@dataclass(frozen=True, eq=False)
class BeliefPeaks:
    """The δ–Bel graph as numbers.

    Attributes
    ----------
    belief : ndarray of shape (n_samples,)
        Belief that each object is a center.
    delta : ndarray of shape (n_samples,)
        Distance to the nearest object of larger belief.
    parent : ndarray of shape (n_samples,)
        That object; -1 for the object of largest belief.
    is_local : ndarray of bool, shape (n_samples,)
        Whether an object has the largest belief in its own neighborhood.
    """

    belief: np.ndarray
    delta: np.ndarray
    parent: np.ndarray
    is_local: np.ndarray

    @cached_property
    def score(self) -> np.ndarray:
        """Belief times δ, shape (n_samples,): large for centers only."""
        return self.belief * self.delta

    def __repr__(self) -> str:
        return f"BeliefPeaks({len(self.belief)} objects, {self.is_local.sum()} local peaks)"

    def choose(
        self, n_clusters: int | str = "auto", *, min_belief: float | None = None, min_delta: float | None = None
    ) -> np.ndarray:
        """Return numbers of the objects taken as centers, the largest score first.

        Parameters
        ----------
        n_clusters : int or "auto"
            That many objects of largest score. ``"auto"`` cuts at the widest gap: the local peaks are sorted by
            score, and those before the largest ratio of two successive scores are centers. There are at least two.
        min_belief, min_delta : float, optional
            Instead of a number: all objects with at least this belief and this δ, as if a rectangle had been drawn in
            the graph.

        Examples
        --------
        >>> graph = belief_peaks([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], n_neighbors=2)
        >>> graph.choose(), graph.choose(1), graph.choose(min_delta=5)
        (array([1, 4]), array([1]), array([1, 4]))
        """
        order = np.lexsort([-self.belief, -self.score])
        if min_belief is not None or min_delta is not None:
            low = -np.inf if min_belief is None else min_belief
            far = -np.inf if min_delta is None else min_delta
            chosen = order[(self.belief[order] >= low) & (self.delta[order] >= far)]
            if not len(chosen):
                raise ValueError(
                    f"No object has a belief of at least min_belief={low:g} and a delta of at least min_delta={far:g}; "
                    f"the largest are {self.belief.max():.4g} and {self.delta.max():.4g}. Lower them; "
                    "plot_belief_peaks shows all objects."
                )
            return chosen
        if n_clusters == "auto":
            return self._before_the_gap(order)
        if isinstance(n_clusters, str) or not 1 <= n_clusters <= len(order):
            raise ValueError(f"'n_clusters' must be 'auto' or a number from 1 to {len(order)}. Got {n_clusters!r}.")
        return order[: int(n_clusters)]

    def _before_the_gap(self, order: np.ndarray) -> np.ndarray:
        local = order[self.is_local[order]]
        if len(local) <= 2:
            return order[:2]
        # What no local peak separates has no score: the first of the others closes the list.
        rest = order[~self.is_local[order]]
        score = self.score[np.append(local, rest[:1])]
        score = np.maximum(score, np.finfo(float).tiny)
        ratio = score[1:-1] / score[2:]
        return local[: 2 + int(ratio.argmax())]


def belief_peaks(X: Any, *, n_neighbors: int | str = "auto", q: float = 0.9, metric: Any = "euclidean") -> BeliefPeaks:
    r"""Compute the δ–Bel graph [1]_.

    .. math::
        \mathrm{Bel}_i = 1 - \prod_{j \in N_K(i)} \Bigl(1 - \frac1K e^{-d_{ij}^2/\sigma_j^2}\Bigr), \qquad
        \delta_i = \min_{j:\, \mathrm{Bel}_j > \mathrm{Bel}_i} d_{ij}

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of dissimilarities
    n_neighbors : int or "auto"
        K. Small values see small clusters, and chance; the graph of large ones is smoother. ``"auto"`` is three times
        the square root of the number of objects, at most 100.
    q : float in (0, 1]
        The quantile of its K distances that is the scale :math:`\sigma_j` of an object.
    metric : str or callable
        ``"precomputed"`` for dissimilarities, or a metric that scikit-learn knows.

    Returns
    -------
    BeliefPeaks

    Notes
    -----
    Time is that of a search for K neighbors; objects that have no better one among their neighbors, a few in a
    thousand, are compared with all others. No n × n matrix is made.

    References
    ----------
    .. [1] Z.-G. Su, T. Denœux. BPEC: belief-peaks evidential clustering.
       IEEE Transactions on Fuzzy Systems 27(1):111-123, 2019.

    Examples
    --------
    Start evidential c-means at the belief peaks:

    >>> import numpy as np
    >>> from evidentia import ECM
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [0.4, 0.4], [9, 9], [9, 8], [8, 9], [8.6, 8.7]])
    >>> peaks = belief_peaks(X, n_neighbors=3).choose()
    >>> ECM(len(peaks), init=X[peaks]).fit(X).labels_
    array([1, 1, 1, 1, 0, 0, 0, 0])
    """
    table = np.asarray(X, dtype=float)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"'X' of belief_peaks must be a table of finite numbers. Got shape {table.shape}.")
    pairwise = isinstance(metric, str) and metric == "precomputed"
    if pairwise or callable(metric):
        from evidentia.dissimilarities import Objects, check_dissimilarities  # not with every method of this folder

        if pairwise:
            table = check_dissimilarities(table, "belief_peaks")
        else:
            Objects(list(table), metric, {}).check_symmetric("belief_peaks")
    n = len(table)
    if n_neighbors == "auto":
        n_neighbors = default_n_neighbors(n)
    if isinstance(n_neighbors, str) or not 1 <= n_neighbors < n:
        raise ValueError(f"'n_neighbors' must be 'auto' or a number from 1 to {n - 1}. Got {n_neighbors!r}.")
    if not 0 < q <= 1:
        raise ValueError(f"'q' must be a quantile above 0 and at most 1. Got {q!r}.")
    distance, neighbor = nearest(table, int(n_neighbors), metric=metric)
    belief = center_belief(distance, neighbor, q)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort([np.arange(n), -belief])] = np.arange(n)  # of two equal beliefs the first object is the larger
    better = rank[neighbor] < rank[:, None]
    first = better.argmax(axis=1)
    delta, parent = distance[np.arange(n), first], neighbor[np.arange(n), first]
    is_local = ~better.any(axis=1)
    peaks = np.flatnonzero(is_local)
    for some in row_blocks(len(peaks), n):
        far = table[peaks[some]].copy() if pairwise else distances(table[peaks[some]], table, metric=metric)
        far[rank >= rank[peaks[some], None]] = np.inf
        parent[peaks[some]], delta[peaks[some]] = far.argmin(axis=1), far.min(axis=1)
    top = int(rank.argmin())
    parent[top], delta[top] = -1, np.delete(delta, top).max()
    return BeliefPeaks(belief, delta, parent, is_local)


def center_belief(distance: np.ndarray, neighbor: np.ndarray, q: float) -> np.ndarray:
    """Return belief that each object is a center, from its neighbors (n, K); see the top of this file."""
    n_neighbors = distance.shape[1]
    scale = np.quantile(distance, q, axis=1)
    scale = np.maximum(scale, 1e-9 * scale.max() or 1.0)  # K copies of an object: only they are near it
    belief = np.empty(len(distance))
    for rows in row_blocks(len(distance), 2 * n_neighbors):
        ratio = distance[rows] / scale[neighbor[rows]]
        belief[rows] = 1 - np.prod(1 - np.exp(-(ratio**2)) / n_neighbors, axis=1)
    return belief
