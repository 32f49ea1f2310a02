"""Belief-peaks evidential clustering (Su & Denœux, 2019): evidential c-means around centres that stay fixed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Self

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.prototypes._base import RHO_FACTOR, RHO_LEAST, nearest_distance, single_clusters
from evidentia.prototypes._kernel import Criterion, Prototypes, guard_cost, update_covariances, weighted_sums
from evidentia.prototypes.belief_peaks import belief_peaks
from evidentia.prototypes.ecm import ECM
from evidentia.solvers.descent import Step, descend


def fixed_step(
    rows: np.ndarray, weight: np.ndarray, criterion: Criterion, prototypes: Prototypes
) -> tuple[float, Prototypes]:
    """J of the prototypes, and prototypes with better metrics around the same centres."""
    objective, sums = weighted_sums(rows, weight, prototypes, criterion)
    if prototypes.covariances is None:
        return objective, prototypes
    total_weight = weight.sum()
    covariances = update_covariances(sums, prototypes.centers, criterion, total_weight)
    return objective + guard_cost(prototypes, total_weight), Prototypes(prototypes.centers, covariances)


class _FixedCenters(ECM):
    """Evidential c-means from one start, whose centres do not move."""

    def around(self, centers: np.ndarray) -> _FixedCenters:
        self._fixed = centers
        return self

    def _starts(self, rows: np.ndarray, weight: np.ndarray, rng: np.random.RandomState) -> list[Prototypes]:
        return [self._at(self._coordinates.to(self._fixed))]

    def _step(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion) -> Step:
        return partial(fixed_step, rows, weight, criterion)

    def _distance_to_empty(
        self, rows: np.ndarray, weight: np.ndarray, starts: list[Prototypes], rng: np.random.RandomState
    ) -> float:
        if self.rho != "auto":
            return super()._distance_to_empty(rows, weight, starts, rng)
        singles = self._step(rows, weight, single_clusters(self.n_clusters, self.beta))
        shaped = descend(singles, starts[0], max_iter=self.max_iter, tol=self.tol, relative=True).state
        return RHO_FACTOR * max(nearest_distance(rows, weight, shaped), RHO_LEAST * np.sqrt(len(rows)))


_FixedCenters.__name__ = "BPEC"  # its messages speak of the method that was called
PUBLISHED = (
    *("cluster_centers_", "covariances_", "metric_", "focal_sets_", "pairs_", "rho_"),
    *("criterion_", "criterion_trace_", "n_iter_"),
)


class BPEC(_base.EvidentialClusterer):
    r"""Belief-peaks evidential clustering [1]_: centres from the density, then evidential c-means around them.

    The centres :math:`v_k` are objects, found in the δ–Bel graph (:func:`belief_peaks`), and they stay where they
    are. The masses, and the metrics :math:`S_k` of determinant one, minimise the criterion of evidential c-means

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta}
            (x_i - \bar v_A)^T \bar S_A (x_i - \bar v_A) + \rho^2 m_i(\varnothing)^{\beta} \Big]

    with :math:`\bar v_A`, :math:`\bar S_A` the means over the clusters in A. There is nothing random in it.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of centres; ``"auto"`` cuts the sorted peaks at the widest gap.
    n_neighbors : int or "auto"
        Neighbours that testify for a centre; ``"auto"`` is three times the square root of the number of objects, at
        most 100.
    q : float in (0, 1]
        Quantile of the distances to its neighbours that is the scale of an object.
    min_belief, min_delta : float, optional
        Take the objects with at least this belief and this δ instead of a number of them (``n_clusters="auto"``).
    peaks : array-like of int, optional
        Take these objects, for instance those chosen by hand with :func:`evidentia.plots.click_peaks`.
    focal_sets : {"full", "pairs", "simple", "near-pairs"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass, as in :class:`ECM`. ``"near-pairs"`` suits any number of clusters.
    alpha, beta, rho
        As in :class:`ECM`. ``rho="auto"`` is three times the root mean squared distance to the nearest centre, in the
        metrics of a fit without sets and outliers.
    metric : {"mahalanobis", "euclidean"}
        Whether each cluster learns its own metric.
    n_near : int
        Neighbours of a cluster that ``"near-pairs"`` looks at.
    max_iter : int
    tol : float
        The descent ends when the criterion falls by less than this share of itself.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
    graph_ : BeliefPeaks
        The δ–Bel graph; :func:`evidentia.plots.plot_belief_peaks` draws it.
    peaks_ : ndarray of shape (n_clusters,)
        Objects that are the centres.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless a list of focal sets fixes them.
    n_clusters_ : int
    focal_sets_ : FocalSets
    pairs_ : list of (int, int)
        Pairs of clusters among the focal sets.
    rho_ : float or None
    criterion_ : float
    criterion_trace_ : ndarray
        Criterion after each iteration; it never rises.
    n_iter_ : int
    covariances_, metric_ : ndarray of shape (n_clusters, n_features, n_features) or None

    Notes
    -----
    Objects have no weights: what peaks is the density of the rows given.

    References
    ----------
    .. [1] Z.-G. Su, T. Denœux. BPEC: belief-peaks evidential clustering.
       IEEE Transactions on Fuzzy Systems 27(1):111-123, 2019.

    Examples
    --------
    The number of clusters comes out of the density.

    >>> from evidentia.datasets import make_student_four_class
    >>> model = BPEC().fit(make_student_four_class(random_state=1).data)
    >>> model.n_clusters_
    4
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        n_neighbors: int | str = "auto",
        q: float = 0.9,
        min_belief: float | None = None,
        min_delta: float | None = None,
        peaks: Any = None,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "near-pairs",
        alpha: float = 1.0,
        beta: float = 2.0,
        rho: float | str = "auto",
        metric: str = "mahalanobis",
        n_near: int = 2,
        max_iter: int = 300,
        tol: float = 1e-8,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.q = q
        self.min_belief = min_belief
        self.min_delta = min_delta
        self.peaks = peaks
        self.focal_sets = focal_sets
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        self.metric = metric
        self.n_near = n_near
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the belief peaks of the rows of X, and a credal partition around them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : None
            Ignored.
        """
        table = _base.check_table(self, X)
        self._check_params(len(table))
        self.graph_ = belief_peaks(table, n_neighbors=self.n_neighbors, q=self.q)
        found = self._chosen(len(table))
        shared = {name: value for name, value in self.get_params().items() if name in ECM().get_params()}
        self._engine = _FixedCenters(**{**shared, "n_clusters": len(found)}).around(table[found]).fit(table)
        for name in PUBLISHED:
            setattr(self, name, getattr(self._engine, name))
        self.n_clusters_ = len(found)
        gaps = np.square(self.cluster_centers_[:, None] - table[found]).sum(axis=2)
        self.peaks_ = found[gaps.argmin(axis=1)]
        self._publish(X, self._engine.partition_.masses)
        return self

    def _check_params(self, n: int) -> None:
        if self.n_clusters != "auto":
            _base.check_number(self, "n_clusters", low=1, integer=True)
            _base.check_enough_rows(self, n, int(self.n_clusters))
        if self.n_neighbors != "auto":
            _base.check_number(self, "n_neighbors", low=1, high=n - 1, integer=True)
        _base.check_number(self, "q", low=0, high=1, strict=True)

    def _chosen(self, n: int) -> np.ndarray:
        if self.peaks is None:
            return self.graph_.choose(self.n_clusters, min_belief=self.min_belief, min_delta=self.min_delta)
        peaks = np.asarray(self.peaks)
        if peaks.ndim != 1 or peaks.dtype.kind not in "iu" or not len(peaks) or not ((peaks >= 0) & (peaks < n)).all():
            raise ValueError(f"The 'peaks' parameter of BPEC must list objects by number, 0 to {n - 1}. Got {peaks!r}.")
        return peaks

    def _masses(self, X: np.ndarray) -> np.ndarray:
        return self._engine._masses(X)
