"""Belief-peaks evidential clustering (Su & Denœux, 2019): evidential c-means around centers that stay fixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, NOTHING, Integer, Kind, Number, param
from evidentia.methods import Method
from evidentia.prototypes._base import (
    Objects,
    PrototypeClusterer,
    Solution,
    nearest_distance,
    prototypes_at,
    rho_from,
    to_rows,
)
from evidentia.prototypes._kernel import (
    Criterion,
    DistanceCosts,
    Prototypes,
    chunk_sums,
    guard_cost,
    update_covariances,
)
from evidentia.prototypes._wide import WidePrototypes, wide_step
from evidentia.prototypes.belief_peaks import BeliefPeaks, belief_peaks
from evidentia.prototypes.ecm import ALL_FAMILIES, ECM, add_sets, first_sets, pairs_among
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import scan
from evidentia.rows.source import RowSource, in_memory
from evidentia.solvers.coordinates import ColumnScales, SpannedScales, coordinates_of
from evidentia.solvers.starts import draw_evenly

WIDE = 16  # columns from which second moments by clusters take less time than all products of columns


def fixed_step(
    chunks: Any, total_weight: float, criterion: Criterion, prototypes: Prototypes
) -> tuple[float, Prototypes]:
    """Return J of the prototypes, and prototypes with better metrics around the same centers."""
    if isinstance(prototypes, WidePrototypes):
        return wide_step(chunks, total_weight, criterion, prototypes)
    objective, sums = reduce_rows(chunk_sums, chunks, DistanceCosts(prototypes, criterion))
    if prototypes.covariances is None:
        return objective, prototypes
    covariances = update_covariances(sums, prototypes.centers, criterion, total_weight)
    return objective + guard_cost(prototypes, total_weight), Prototypes(prototypes.centers, covariances)


def begin_at(peaks: np.ndarray, objects: Objects, *, adaptive: bool) -> tuple[Objects, Prototypes]:
    """Return the objects, and round clusters around the peaks."""
    coordinates = objects.coordinates
    if not adaptive or coordinates.width < WIDE:
        return objects, prototypes_at(coordinates.transform(peaks), adaptive)
    repeats = np.ones(coordinates.width)
    if isinstance(coordinates, ColumnScales) and coordinates.width > objects.rows.shape[1]:
        table = coordinates.inverse_transform(objects.rows.T)  # fewer rows than columns: all of them are in memory
        coordinates = SpannedScales.of(table, coordinates)
        objects = objects._replace(rows=to_rows(table, coordinates), coordinates=coordinates)
        repeats = coordinates.repeats
    centers = coordinates.transform(peaks)
    return objects, WidePrototypes(centers, np.tile(np.eye(len(repeats)), (len(peaks), 1, 1)), repeats=repeats)


class BPEC(PrototypeClusterer):
    r"""Belief-peaks evidential clustering [1]_: centers from the density, then evidential c-means around them.

    The centers :math:`v_k` are objects, found in the δ–Bel graph (:func:`belief_peaks`), and they stay where they
    are. The masses, and the metrics :math:`S_k` of determinant one, minimize the criterion of evidential c-means

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta}
            (x_i - \bar v_A)^T \bar S_A (x_i - \bar v_A) + \rho^2 m_i(\varnothing)^{\beta} \Big]

    with :math:`\bar v_A`, :math:`\bar S_A` the means over the clusters in A. There is nothing random in it.

    Attributes
    ----------
    graph_ : BeliefPeaks
        The δ–Bel graph; :func:`evidentia.plots.plot_belief_peaks` draws it. Of a table of more than 50,000 rows it is
        that of a sample of so many.
    peaks_ : ndarray of shape (n_clusters,)
        Objects of the graph that are the centers.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless a list of focal sets fixes them.
    start_criteria_ : ndarray
        J at the end of the one start (over single clusters for ``"auto"`` and ``"near-pairs"``).

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

    method = Method(
        name="bpec", title="centers from the density, their number too",
        papers=("Su & Denœux, *IEEE Trans. Fuzzy Systems* 27, 2019",), guide="density",
        takes=("rows beyond memory",), number=("given", "found"), chosen_for=("peaks",),
        families=ALL_FAMILIES, empty_set=True, grows="search for *K* neighbors, then as ECM", memory="*n (K + f)*",
        doubt="sets, outliers", limit="centers do not move; needs one peak a cluster",
    )  # fmt: skip

    n_init = 1
    init = "belief peaks"
    random_state = None

    n_clusters: Any = param(
        _base.N_CLUSTERS | "auto",
        'Number of centers; ``"auto"`` cuts the sorted peaks at the widest gap.',
        default="auto",
        kw_only=False,
    )
    n_neighbors: Any = param(
        Integer(low=1) | "auto",
        """Neighbors that testify for a center; ``"auto"`` is three times the square root of the number of objects, at
        most 100.""",
        default="auto",
    )
    q: float = param(
        Number(above=0, high=1),
        "Quantile of the distances to its neighbors that is the scale of an object.",
        default=0.9,
    )
    min_belief: float | None = param(
        Number() | NOTHING,
        "Take the objects with at least this belief, and at least ``min_delta``, instead of a number of them.",
        default=None,
    )
    min_delta: float | None = param(
        Number() | NOTHING, "Take the objects with at least this δ; see ``min_belief``.", default=None
    )
    peaks: Any = param(
        Kind("array of int") | NOTHING,
        "Take these objects of the graph, for instance those chosen with :func:`evidentia.plots.click_peaks`.",
        default=None,
    )
    focal_sets: Any = param(
        _base.focal_families(*ALL_FAMILIES),
        """Sets of clusters that may hold mass, as in :class:`ECM`. ``"near-pairs"`` suits any number of clusters.""",
        default="near-pairs",
    )
    rho: Any = param(
        _base.RHO,
        """Distance of every object to the empty set, in the units of X. ``"auto"`` is three times the root mean squared
        distance to the nearest center, in the metrics of a fit without sets and outliers.""",
        default="auto",
    )
    alpha: Any = ECM.parameters["alpha"]
    n_near: Any = ECM.parameters["n_near"]
    adaptive: bool = param(BOOLEAN, "Learn a Mahalanobis metric of determinant one for each cluster.", default=True)
    tol: float = param(
        Number(low=0),
        "The descent ends when an iteration improves the criterion by no more than this share of it.",
        default=1e-8,
    )

    attributes = ECM.attributes

    def _fit(self, data: Data[RowSource]) -> None:
        rows = data.rows
        table = scan(rows, mixing=False, missing=False, who="BPEC", sort=False, least_share=self._least_share)
        candidates = in_memory(rows).table if table.complete else draw_evenly(table.sample)
        self._check_numbers(len(candidates))
        graph = belief_peaks(candidates, n_neighbors=self.n_neighbors, q=self.q)
        peaks = self._choose(graph)
        kind = "diag" if self.adaptive else "spherical"
        objects = Objects.from_table(table, rows, coordinates_of(table.moments, kind=kind))
        objects, start = begin_at(candidates[peaks], objects, adaptive=self.adaptive)
        family = first_sets(self.focal_sets, len(peaks), empty=True)
        rho = None
        if family.empty_index is not None:
            rho = self._given_rho(objects)
            rho = rho or rho_from(nearest_distance(objects, self._end_of(fixed_step, objects, start)), objects)
        criterion = Criterion(family, self.alpha, self.beta, rho)
        best, runs = self._minimize(fixed_step, objects, criterion, [start])  # masses, then metrics
        if not runs[-1].interrupted:
            criterion, best = add_sets(
                self.focal_sets, self.n_near, self._minimize, fixed_step, objects, criterion, best
            )
        _, order = self._store_solution(objects, Solution(best.state, criterion), best, runs)
        self.graph_, self.peaks_, self.pairs_ = graph, peaks[order], pairs_among(self.focal_sets_)

    def _check_numbers(self, n_samples: int) -> None:
        """What of the parameters depends on the number of objects."""
        if self.n_clusters != "auto":
            _checks.check_enough_rows(self, n_samples, self.n_clusters)
        if self.n_neighbors != "auto" and self.n_neighbors >= n_samples:
            raise ValueError(
                f"The 'n_neighbors' parameter of BPEC must be 'auto' or at most {n_samples - 1}, the number of other "
                f"objects. Got {self.n_neighbors} instead."
            )

    def _choose(self, graph: BeliefPeaks) -> np.ndarray:
        if self.peaks is None:
            return graph.choose(self.n_clusters, min_belief=self.min_belief, min_delta=self.min_delta)
        peaks, n = np.asarray(self.peaks), len(graph.belief)
        if peaks.ndim != 1 or peaks.dtype.kind not in "iu" or not len(peaks) or not ((peaks >= 0) & (peaks < n)).all():
            raise ValueError(f"The 'peaks' parameter of BPEC must list objects by number, 0 to {n - 1}. Got {peaks!r}.")
        return peaks
