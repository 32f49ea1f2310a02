"""What the methods with centers share: the fit from several starts, the default of rho, prediction."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple, Self

import numpy as np

from evidentia import _base, _checks
from evidentia._parameters import Choice, Kind, param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import canonical_order
from evidentia.belief.transforms import pignistic
from evidentia.prototypes._kernel import (
    Columns,
    Criterion,
    Prototypes,
    as_vector,
    block_masses,
    descent_step,
    from_vector,
)
from evidentia.rows.passes import map_handles, reduce_rows
from evidentia.rows.scan import Table, scan
from evidentia.rows.source import ArrayRows, Chunk, MappedRows, RowSource, chunk_bounds, chunk_rows
from evidentia.rows.tables import any_table
from evidentia.solvers.acceleration import Vectors
from evidentia.solvers.callbacks import run_callbacks
from evidentia.solvers.coordinates import ColumnScales, Coordinates, SpannedScales, coordinates_of
from evidentia.solvers.descent import Run, Step, descend
from evidentia.solvers.starts import START_RULES, kmeans_starts
from evidentia.solvers.threads import one_blas_thread, one_blas_thread_here

RHO_FACTOR = 3.0
LATE = 1e-5  # gain of an iteration, as a share of the criterion, below which the next ones are guessed
RHO_LEAST = 1e-6  # of the spread of the table: with an object on every center, rounding errors are no yardstick

INIT = Choice(*START_RULES) | Kind("array of shape (n_clusters, n_features)")
INIT_DOC = """Start of the centers. ``"mixed"`` begins half of the starts at k-means solutions (``"k-means"``) and half
        at random rows (``"random"``): k-means gives far outliers a cluster of their own."""
SHAPES = {
    "covariances_": "ndarray of shape (n_clusters, n_features, n_features) or None\nEvidential covariances of the "
    "clusters (``adaptive``).",
    "cluster_metrics_": "ndarray of shape (n_clusters, n_features, n_features) or None\nTheir metrics, of determinant "
    "one (``adaptive``). A column that is constant in the data has no part in them.",
}


# From rows (p, n) to which of them, their features, costs, masses (f, k) and least costs; it can be pickled.
Blocks = Callable[[np.ndarray], Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]]


class Slices:
    """Columns in memory, read by :mod:`evidentia.rows.passes` in chunks that are views."""

    in_memory = True

    def __init__(self, rows: np.ndarray, weight: np.ndarray):
        self.rows, self.weight = rows, weight
        self.handles = chunk_bounds(*rows.shape[::-1])

    def read(self, handle: tuple[int, int]) -> Iterator[Columns]:
        start, stop = handle
        size = chunk_rows(len(self.rows))
        for first in range(start, stop, size):
            part = slice(first, min(first + size, stop))
            yield Columns(self.rows[:, part], self.weight[part])


class Objects(NamedTuple):
    """The objects as the descent sees them: rows as columns (p, n) without units, weights (n,), and the way back.

    Of a large table these are a sample, whose weights add up to those of all rows; ``whole`` has all rows then, in
    chunks of :class:`~evidentia.prototypes._kernel.Columns`. ``source`` has them as they were given.
    """

    rows: np.ndarray
    weight: np.ndarray
    coordinates: Coordinates | ColumnScales | SpannedScales
    source: RowSource
    whole: MappedRows | None = None

    @classmethod
    def of(cls, table: Table, source: RowSource, *, adaptive: bool) -> Objects:
        coordinates = coordinates_of(table.moments, kind="diag" if adaptive else "spherical")
        whole = None if table.complete else source.map_chunks(partial(to_columns, coordinates))
        return cls(to_rows(table.sample.X, coordinates), table.sample.weight, coordinates, source, whole)

    @property
    def chunks(self) -> Any:
        """All rows, to go over chunk by chunk."""
        return Slices(self.rows, self.weight) if self.whole is None else self.whole

    def sample(self) -> Objects:
        """The sample alone."""
        return self._replace(whole=None)

    @property
    def unit(self) -> float:
        return unit_of(self.coordinates)


def unit_of(coordinates: Coordinates | ColumnScales | SpannedScales) -> float:
    """Squared distances in X over those in the rows, when metrics have unit volume in both."""
    return float(np.exp(-2 * coordinates.log_jacobian / coordinates.width))


def to_rows(table: np.ndarray, coordinates: Coordinates | ColumnScales | SpannedScales) -> np.ndarray:
    return np.ascontiguousarray(coordinates.transform(table).T)


def to_columns(coordinates: Coordinates | ColumnScales | SpannedScales, chunk: Chunk) -> Columns:
    """A chunk of the source as the kernel takes it."""
    return Columns(to_rows(chunk.table, coordinates), chunk.weight)


class ClusterSizes(NamedTuple):
    """Sums of pignistic probabilities (c,); their largest values, and the numbers of the first rows that have them."""

    size: np.ndarray
    largest: np.ndarray
    at: np.ndarray
    n_rows: int

    @classmethod
    def of(cls, likely: np.ndarray, weight: np.ndarray | None) -> ClusterSizes:
        """Of pignistic probabilities (c, n)."""
        size = likely.sum(axis=1) if weight is None else likely @ weight
        at = likely.argmax(axis=1)
        return cls(size, likely[np.arange(len(likely)), at], at, likely.shape[1])

    def __add__(self, other: ClusterSizes) -> ClusterSizes:  # type: ignore[override]
        """With the rows that follow."""
        return self.add_rows(other._replace(at=self.n_rows + other.at))

    def add_rows(self, other: ClusterSizes) -> ClusterSizes:
        """With other rows, numbered alike."""
        theirs = (other.largest > self.largest) | ((other.largest == self.largest) & (other.at < self.at))
        return ClusterSizes(
            self.size + other.size,
            np.where(theirs, other.largest, self.largest),
            np.where(theirs, other.at, self.at),
            self.n_rows + other.n_rows,
        )


def chunk_sizes(
    chunk: Chunk, coordinates: Coordinates | ColumnScales, blocks: Blocks, focal_sets: FocalSets
) -> ClusterSizes:
    """Sizes of the clusters in a chunk of the table."""
    parts = (
        ClusterSizes.of(pignistic(masses.T, focal_sets).T, None if chunk.weight is None else chunk.weight[block])
        for block, _, _, masses, _ in blocks(to_rows(chunk.table, coordinates))
    )
    return reduce(operator.add, parts)


@dataclass(frozen=True)
class Solution:
    """Prototypes, the criterion that they minimize, and the masses (k, f) of objects that links tie, when there are."""

    prototypes: Prototypes
    criterion: Criterion
    tied: np.ndarray | None = None

    def renumber(self, order: np.ndarray) -> Solution:
        """Old cluster ``order[k]`` becomes cluster ``k``."""
        moved = self.criterion.focal_sets.relabel(order)
        focal_sets = FocalSets(moved.n_clusters, canonical_order(moved.masks.tolist()))
        tied = None if self.tied is None else self.tied[:, [moved.index(mask) for mask in focal_sets.masks]]
        return Solution(self.prototypes.reorder(order), replace(self.criterion, focal_sets=focal_sets), tied)


def check_centers(estimator: Any, centers: np.ndarray, n_features: int) -> None:
    """Refuse centers given as ``init`` that are not one finite row per cluster."""
    expected = (estimator.n_clusters, n_features)
    if centers.shape != expected or not np.isfinite(centers).all():
        raise ValueError(
            f"The 'init' parameter of {type(estimator).__name__} must be {', '.join(map(repr, START_RULES))} or an "
            f"array of finite centers of shape {expected}, one row per cluster. Got an array of shape {centers.shape}."
        )


class PrototypeClusterer(_base.IterativeClusterer):
    """Base of the methods that descend on the criterion of evidential c-means.

    What a subclass does not let its user choose is a plain class attribute here.
    """

    _least_share = 1e-8  # squared distances are computed from products of coordinates

    alpha = 1.0  # single clusters only: the penalty of larger sets plays no part
    beta: float = param(
        _base.BETA,
        """Fuzzifier, elsewhere often called m: near 1 the masses become crisp, large values blur them. With 2 the
        centers meet in the middle where clusters and columns are many, as 50 and ten: 1.2 keeps them apart.""",
        default=2.0,
    )
    rho = "auto"
    adaptive = False
    focal_sets = "singletons"
    init: Any = param(
        INIT,
        f"""{INIT_DOC}
        An array makes one start and keeps its order of clusters.""",
        default="mixed",
    )

    attributes = {
        "cluster_centers_": "ndarray of shape (n_clusters, n_features)\nClusters are numbered from the largest to the "
        "smallest, unless ``init`` or a list of focal sets fixes them."
    }

    @any_table
    @run_callbacks
    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Find clusters in the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows of :func:`~evidentia.rows.open_rows`
            Numbers, none of them missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        checkpoint : path, optional
            For rows that are not in memory: a file from which the same fit goes on, should its process end.
        """
        self.check_parameters()
        self.__dict__.pop("_stream", None)
        return self._fit_kept(X, self._check_rows(X, sample_weight), checkpoint)

    def _fit_kept(self, X: Any, rows: RowSource, checkpoint: Any) -> Self:
        """Fit to rows that were checked; X has their names."""
        with self._checkpointed_passes(checkpoint, rows) as rng:
            self._fit_rows(rows, rng)
        self._publish_rows(X, rows)
        return self

    def _fit_rows(self, rows: RowSource, rng: np.random.RandomState) -> None:
        table = scan(
            rows, mixing=False, missing=False, who=type(self).__name__, sort=False, least_share=self._least_share
        )
        self._check_start(table.n_rows, rows.n_features)
        objects = Objects.of(table, rows, adaptive=self.adaptive)
        del table  # its rows are not needed any more
        self._fit_from(objects, self._starts(objects, rng), rng)

    def _fit_from(
        self, objects: Objects, starts: list[Prototypes], rng: np.random.RandomState | None = None
    ) -> np.ndarray:
        """Descend from the starts and publish the best end but its masses; gives the old numbers of the clusters."""
        focal_sets = self._family(len(starts[0].centers))
        self._refuse_masses(objects.source, focal_sets)
        rho = self._distance_to_empty(objects, starts, rng) if focal_sets.empty_index is not None else None
        solution, best, runs = self._search(objects, Criterion(focal_sets, self.alpha, self.beta, rho), starts)
        self.rho_ = None if rho is None else float(rho * np.sqrt(objects.unit))
        self._publish_run(best, runs, objects.unit * self._share(solution.criterion.focal_sets, objects.weight))
        order = self._settle(objects, solution)
        _checks.warn_if_centers_coincide(self, self._solution.prototypes.describe(), np.sqrt(objects.coordinates.width))
        return order

    def _family(self, n_clusters: int) -> FocalSets:
        """The focal sets of the descent."""
        return resolve_focal_sets(self.focal_sets, n_clusters, empty=self.method.empty_set)

    def _share(self, focal_sets: FocalSets, weight: np.ndarray) -> float:
        """What the plain sum of the kernel is multiplied by when the criterion is published."""
        return 1.0

    # -- starts -------------------------------------------------------------------------------------------------------

    @property
    def _start_given(self) -> bool:
        return not isinstance(self.init, str)

    def _check_start(self, n_rows: int, n_features: int) -> None:
        """What of the parameters depends on the table."""
        _checks.check_enough_rows(self, n_rows, self.n_clusters)
        if not self._start_given:
            return
        centers, covariances = self._given_start()
        check_centers(self, centers, n_features)
        expected = (*centers.shape, n_features)
        if covariances is not None and (covariances.shape != expected or not np.isfinite(covariances).all()):
            raise ValueError(
                f"The covariances in the 'init' parameter of {type(self).__name__} must be finite and of shape "
                f"{expected}. Got {covariances.shape}."
            )

    def _given_start(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Centers, and covariances when ``init`` is a pair of both."""
        if isinstance(self.init, tuple) and len(self.init) == 2 and np.ndim(self.init[1]) == 3:
            return np.asarray(self.init[0], dtype=float), np.asarray(self.init[1], dtype=float)
        return np.asarray(self.init, dtype=float), None

    def _starts(self, objects: Objects, rng: np.random.RandomState) -> list[Prototypes]:
        if not self._start_given:
            drawn = START_RULES[self.init](objects.rows.T, self.n_clusters, self.n_init, rng, objects.weight)
            return [self._prototypes_at(centers) for centers in drawn]
        centers, covariances = self._given_start()
        start = self._prototypes_at(objects.coordinates.transform(centers))
        if covariances is None or not self.adaptive:
            return [start]
        assert not isinstance(objects.coordinates, SpannedScales), "a given start may lie outside of the span"
        covariances = objects.coordinates.covariance_to(covariances)
        if not (np.linalg.eigvalsh(covariances) > 0).all():
            raise ValueError(
                f"The covariances in the 'init' parameter of {type(self).__name__} must be positive definite."
            )
        return [replace(start, covariances=covariances)]

    def _prototypes_at(self, centers: np.ndarray) -> Prototypes:
        """Prototypes that start at the centers, with no shape yet."""
        c, p = centers.shape
        return Prototypes(centers, np.tile(np.eye(p), (c, 1, 1)) if self.adaptive else None)

    # -- the distance to the empty set --------------------------------------------------------------------------------

    def _distance_to_empty(
        self, objects: Objects, starts: list[Prototypes], rng: np.random.RandomState | None
    ) -> float:
        if self.rho != "auto":
            return _checks.check_rho(self, np.sqrt(objects.unit)) / np.sqrt(objects.unit)
        return self._automatic_rho(objects, starts, rng)

    def _automatic_rho(self, objects: Objects, starts: list[Prototypes], rng: Any) -> float:
        by_means = (
            0 if self._start_given else {"k-means": self.n_init, "mixed": (self.n_init + 1) // 2}.get(self.init, 0)
        )
        candidates = starts[:by_means]
        if not candidates:
            candidates = [
                self._prototypes_at(next(kmeans_starts(objects.rows.T, self.n_clusters, 1, rng, objects.weight)))
            ]
        distances = [nearest_distance(objects, found) for found in candidates]
        if not self.adaptive:
            return rho_from(min(distances), objects)
        singles = single_clusters(self.n_clusters, self.beta)
        step = partial(descent_step, objects.sample().chunks, objects.weight.sum(), singles)
        return rho_from(nearest_distance(objects, self._end_of(step, candidates[int(np.argmin(distances))])), objects)

    def _end_of(self, step: Step, start: Prototypes) -> Prototypes:
        """Where a descent before the search ends; an interrupt is passed on, as there is nothing to keep yet."""
        run = descend(step, start, max_iter=self.max_iter, tol=self.tol, relative=True)
        if run.interrupted:
            raise KeyboardInterrupt
        return run.state

    # -- the search ---------------------------------------------------------------------------------------------------

    def _search(
        self, objects: Objects, criterion: Criterion, starts: list[Prototypes]
    ) -> tuple[Solution, Run, list[Run]]:
        """The solution, the best run, and the runs from all starts.

        Those of a large table are over its sample; the best of them goes on over all rows.
        """
        vectors = Vectors(as_vector, from_vector, LATE)
        best, runs = self._best_descent(self._step(objects.sample(), criterion), starts, len(starts), vectors)
        if objects.whole is not None and not runs[-1].interrupted:
            best, _ = self._best_descent(self._step(objects, criterion), [best.state], 1, vectors)
        return Solution(best.state, criterion), best, runs

    def _step(self, objects: Objects, criterion: Criterion) -> Step:
        return partial(descent_step, objects.chunks, objects.weight.sum(), criterion)

    # -- the result ---------------------------------------------------------------------------------------------------

    def _settle(self, objects: Objects, solution: Solution) -> np.ndarray:
        """Number the clusters and publish the prototypes in the units of X; gives the old numbers in the new order."""
        order = np.arange(len(solution.prototypes.centers))
        if isinstance(self.focal_sets, str) and not self._start_given:
            found = self._sizes(objects, solution)
            order = _base.largest_first(found.size, tie=found.at)
            solution = solution.renumber(order)
        self._coordinates, self.focal_sets_ = objects.coordinates, solution.criterion.focal_sets
        self._publish_prototypes(solution)
        return order

    def _publish_prototypes(self, solution: Solution) -> None:
        """Centers and shapes in the units of X."""
        self._solution, frame, found = solution, self._coordinates, solution.prototypes
        self.cluster_centers_ = frame.inverse_transform(found.centers)
        self.covariances_ = self.cluster_metrics_ = None
        if found.covariances is not None and found.metric is not None:
            self.covariances_ = frame.covariance_back(found.covariances)
            self.cluster_metrics_ = unit_of(frame) * frame.metric_back(found.metric)

    def _sizes(self, objects: Objects, solution: Solution) -> ClusterSizes:
        """What the clusters hold of the rows as they were given."""
        family = solution.criterion.focal_sets
        return reduce_rows(chunk_sizes, objects.source, objects.coordinates, self._blocks(solution), family)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        rows, blocks = ArrayRows(X), self._blocks(self._solution)
        masses = np.empty((len(X), len(self._solution.criterion.focal_sets)))

        def fill(rows: RowSource, handle: Any) -> None:
            for chunk in rows.read(handle):
                columns = to_rows(chunk.table, self._coordinates)
                for block, _, _, found, _ in blocks(columns):
                    masses[chunk.first + block.start : chunk.first + block.stop] = found.T

        with one_blas_thread_here():
            for _ in map_handles(fill, rows):
                pass
        return masses

    def _blocks(self, solution: Solution) -> Blocks:
        """What gives the masses of rows (p, n), block by block."""
        return partial(block_masses, prototypes=solution.prototypes, criterion=solution.criterion)


def single_clusters(n_clusters: int, beta: float) -> Criterion:
    """The criterion of fuzzy c-means: every cluster alone, no outliers."""
    return Criterion(FocalSets(n_clusters, "singletons", empty=False), 1.0, beta)


def nearest_distance(objects: Objects, prototypes: Prototypes) -> float:
    """Root mean squared distance of the objects to their nearest center."""
    singles = single_clusters(len(prototypes.centers), 2.0)
    found = block_masses(objects.rows, prototypes, singles)
    total = sum(objects.weight[block] @ cost.min(axis=0) for block, _, cost, _, _ in found)
    return float(np.sqrt(total / objects.weight.sum()))


def rho_from(distance: float, objects: Objects) -> float:
    """The default distance to the empty set, from a typical distance to the nearest center."""
    return RHO_FACTOR * max(distance, RHO_LEAST * np.sqrt(objects.coordinates.width))
