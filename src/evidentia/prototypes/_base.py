"""What the methods with centers share: how rows are read, starts, the descent over all rows, prediction."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Predicate, fitted, param
from evidentia._streaming import RunningMean
from evidentia.belief import FocalSets
from evidentia.belief.transforms import pignistic
from evidentia.constraints import PairwiseConstraints
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.prototypes._kernel import (
    ColumnChunk,
    Costs,
    Criterion,
    DistanceCosts,
    Prototypes,
    as_vector,
    block_masses,
    chunk_sums,
    descent_step,
    from_vector,
    renumber_sets,
    update_prototypes,
)
from evidentia.rows.passes import map_handles, reduce_rows
from evidentia.rows.scan import Table, scan
from evidentia.rows.source import ArrayRows, Chunk, MappedRows, RowSource, chunk_bounds, chunk_rows
from evidentia.solvers.coordinates import ColumnScales, Coordinates, SpannedScales, coordinates_of
from evidentia.solvers.descent import Run, Vectors, descend
from evidentia.solvers.overlap import is_automatic
from evidentia.solvers.starts import START_RULES, kmeans_starts
from evidentia.solvers.threads import one_blas_thread

RHO_FACTOR = 3.0
LATE = 1e-5  # gain of an iteration, as a share of the criterion, below which the next ones are extrapolated
RHO_LEAST = 1e-6  # of the spread of the table: with an object on every center only rounding errors are left

INIT = Choice(*START_RULES) | Predicate("array of shape (n_clusters, n_features)")
INIT_DOC = """Start of the centers. ``"mixed"`` begins half of the starts at k-means solutions (``"k-means"``) and half
        at random rows (``"random"``): k-means gives far outliers a cluster of their own."""
SHAPES = {
    "covariances_": "ndarray of shape (n_clusters, n_features, n_features) or None\nEvidential covariances of the "
    "clusters (``adaptive``).",
    "cluster_metrics_": "ndarray of shape (n_clusters, n_features, n_features) or None\nTheir metrics, of determinant "
    "one (``adaptive``). A column that is constant in the data has no part in them.",
}

Frame = Coordinates | ColumnScales | SpannedScales
Iteration = Callable[[Any, float, Criterion, Prototypes], tuple[float, Prototypes]]  # see _kernel.descent_step


class Slices:
    """Columns in memory, read by :mod:`evidentia.rows.passes` in chunks that are views."""

    in_memory = True

    def __init__(self, rows: np.ndarray, weight: np.ndarray):
        self.rows, self.weight = rows, weight
        self.handles = chunk_bounds(*rows.shape[::-1])

    def read(self, handle: tuple[int, int]) -> Iterator[ColumnChunk]:
        start, stop = handle
        size = chunk_rows(len(self.rows))
        for first in range(start, stop, size):
            part = slice(first, min(first + size, stop))
            yield ColumnChunk(self.rows[:, part], self.weight[part])


class ScaledObjects(NamedTuple):
    """The objects as the descent sees them: rows as columns (p, n) without units, weights (n,), and their coordinates.

    Of a large table these are a sample, whose weights add up to those of all rows; ``whole`` has all rows then, in
    chunks of :class:`~evidentia.prototypes._kernel.ColumnChunk`. ``source`` has them as they were given.
    """

    rows: np.ndarray
    weight: np.ndarray
    coordinates: Frame
    source: RowSource
    whole: MappedRows | None = None

    @classmethod
    def from_table(cls, table: Table, source: RowSource, coordinates: Frame) -> ScaledObjects:
        whole = None if table.complete else source.map_chunks(partial(to_columns, coordinates))
        return cls(to_rows(table.sample.X, coordinates), table.sample.weight, coordinates, source, whole)

    @property
    def chunks(self) -> Any:
        """All rows, to go over chunk by chunk."""
        return Slices(self.rows, self.weight) if self.whole is None else self.whole

    def sample(self) -> ScaledObjects:
        """Return the sample alone."""
        return self._replace(whole=None)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @property
    def unit(self) -> float:
        return unit_of(self.coordinates)


def unit_of(coordinates: Frame) -> float:
    """Return squared distances in X over those in the rows, when metrics have unit volume in both."""
    return float(np.exp(-2 * coordinates.log_jacobian / coordinates.width))


def to_rows(table: np.ndarray, coordinates: Frame) -> np.ndarray:
    """Return rows of X as columns in coordinates."""
    return np.ascontiguousarray(coordinates.transform(table).T)


def to_columns(coordinates: Frame, chunk: Chunk) -> ColumnChunk:
    """Return a chunk of the source as the kernel takes it."""
    return ColumnChunk(to_rows(chunk.table, coordinates), chunk.weight)


class ClusterSizes(NamedTuple):
    """Sums of pignistic probabilities (c,); their largest values, and the numbers of the first rows that have them."""

    size: np.ndarray
    largest: np.ndarray
    at: np.ndarray
    n_rows: int

    @classmethod
    def from_likely(cls, likely: np.ndarray, weight: np.ndarray | None) -> ClusterSizes:
        """Sum pignistic probabilities (c, n)."""
        size = likely.sum(axis=1) if weight is None else likely @ weight
        at = likely.argmax(axis=1)
        return cls(size, likely[np.arange(len(likely)), at], at, likely.shape[1])

    def __add__(self, other: ClusterSizes) -> ClusterSizes:  # type: ignore[override]
        """Return the sums with the rows that follow."""
        theirs = other.largest > self.largest
        return ClusterSizes(
            self.size + other.size,
            np.where(theirs, other.largest, self.largest),
            np.where(theirs, self.n_rows + other.at, self.at),
            self.n_rows + other.n_rows,
        )


class LinkedMasses(NamedTuple):
    """Masses (k, f) of the linked objects, and their numbers (k,), rising: links give them, not the rows alone."""

    numbers: np.ndarray
    masses: np.ndarray

    def put_into(self, masses: np.ndarray, first: int) -> None:
        """Overwrite the masses (n, f) of the linked objects among rows that are numbered from ``first``."""
        low, high = np.searchsorted(self.numbers, [first, first + len(masses)])
        masses[self.numbers[low:high] - first] = self.masses[low:high]


class LinkedPartition(LazyPartition):
    """Lazy partition of numbered rows, with given masses of the linked objects."""

    def __init__(self, other: LazyPartition, linked: LinkedMasses):
        super().__init__(
            other.rows, other._place, other.focal_sets, label_rule=other.label_rule, no_answer=other.no_answer
        )
        self._linked = linked

    def _partition(self, chunk: Chunk) -> CredalPartition:
        masses = self._place(chunk.table)
        self._linked.put_into(masses, chunk.first)
        return CredalPartition(masses, self.focal_sets, label_rule=self.label_rule, copy=False)


@dataclass(frozen=True)
class Solution:
    """Prototypes, the criterion that they minimize, and the masses of the linked objects where there are links."""

    prototypes: Prototypes
    criterion: Criterion
    linked: LinkedMasses | None = None

    @classmethod
    def from_fields(cls, prototypes: Prototypes, criterion: Criterion, **masses: Any) -> Solution:
        """Return the solution of a file; masses of linked objects are those of its partition."""
        return cls(prototypes, criterion)

    def renumber(self, order: np.ndarray) -> Solution:
        """Return the solution whose cluster ``k`` is cluster ``order[k]`` of this one."""
        focal_sets, before = renumber_sets(self.criterion.focal_sets, order)
        linked = None if self.linked is None else self.linked._replace(masses=self.linked.masses[:, before])
        return Solution(self.prototypes.reorder(order), replace(self.criterion, focal_sets=focal_sets), linked)


def chunk_sizes(chunk: Chunk, coordinates: Frame, costs: Costs, solution: Solution) -> ClusterSizes:
    """Return the sizes of the clusters in a chunk of the table."""
    parts = []
    for block, _, _, columns, _ in block_masses(to_rows(chunk.table, coordinates), costs):
        masses = columns.T
        if solution.linked is not None:
            solution.linked.put_into(masses, chunk.first + block.start)
        likely = pignistic(masses, solution.criterion.focal_sets).T
        parts.append(ClusterSizes.from_likely(likely, None if chunk.weight is None else chunk.weight[block]))
    return reduce(operator.add, parts)


class PrototypeStream(NamedTuple):
    """What ``partial_fit`` goes on from: the criterion, and the means of its sums over the batches."""

    criterion: Criterion
    mean: RunningMean


class PrototypeClusterer(_base.IterativeClusterer):
    """Base of the methods that descend on the criterion of evidential c-means.

    A subclass gives ``_fit(data)``, made of the parts below. What it does not let its user choose is a plain
    class attribute.
    """

    _least_share = 1e-8  # squared distances are computed from products of coordinates

    beta: float = param(
        _base.BETA,
        """Fuzzifier, elsewhere often called m: near 1 the masses become crisp, large values blur them. With 2 the
        centers meet in the middle where clusters and columns are many, as 50 and ten: 1.2 keeps them apart.""",
        default=2.0,
    )
    rho: Any = "auto"
    adaptive = False
    focal_sets: Any = "singletons"
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

    # -- parts of a fit -----------------------------------------------------------------------------------------------

    _coordinates: Frame = fitted()
    _solution: Solution = fitted()

    def _read_objects(self, rows: RowSource) -> ScaledObjects:
        """Read the rows, check what of the parameters depends on them, and take the units from them."""
        table = scan(
            rows, mixing=False, missing=False, who=type(self).__name__, sort=False, least_share=self._least_share
        )
        _checks.check_enough_rows(self, table.n_rows, self.n_clusters)
        if (given := given_start(self.init)) is not None:
            check_start(self, given, rows.n_features)
        kind = "diag" if self.adaptive else "spherical"
        return ScaledObjects.from_table(table, rows, coordinates_of(table.moments, kind=kind))

    def _draw_starts(self, objects: ScaledObjects, rng: np.random.RandomState) -> list[Prototypes]:
        """Return the starts that ``init`` names, or the one that it gives."""
        if (given := given_start(self.init)) is None:
            return self._draw_by_rule(self.init, objects, rng)
        start = prototypes_at(objects.coordinates.transform(given.centers), self.adaptive)
        if given.covariances is None or not self.adaptive:
            return [start]
        assert not isinstance(objects.coordinates, SpannedScales), "a given start may lie outside of the span"
        covariances = objects.coordinates.covariance_to(given.covariances)
        if not (np.linalg.eigvalsh(covariances) > 0).all():
            raise ValueError(
                f"The covariances in the 'init' parameter of {type(self).__name__} must be positive definite."
            )
        return [replace(start, covariances=covariances)]

    def _draw_by_rule(self, rule: str, objects: ScaledObjects, rng: np.random.RandomState) -> list[Prototypes]:
        drawn = START_RULES[rule](objects.rows.T, self.n_clusters, self.n_init, rng, objects.weight)
        return [prototypes_at(centers, self.adaptive) for centers in drawn]

    def _given_rho(self, objects: ScaledObjects) -> float | None:
        """Return the distance to the empty set that the user gave, in the units of the rows; None for ``"auto"``."""
        if isinstance(self.rho, str):
            return None
        unit = float(np.sqrt(objects.unit))
        return _checks.check_rho(self, unit) / unit

    def _kmeans_rho(self, objects: ScaledObjects, starts: list[Prototypes], rng: np.random.RandomState) -> float:
        """Return the default distance to the empty set: from the nearest center of k-means solutions.

        With ``adaptive`` a fit without sets and outliers begins there, and its own metric measures that distance.
        """
        n_kmeans = {"k-means": self.n_init, "mixed": (self.n_init + 1) // 2}
        candidates = starts[: n_kmeans.get(self.init, 0)] if isinstance(self.init, str) else []
        if not candidates:
            centers = next(kmeans_starts(objects.rows.T, self.n_clusters, 1, rng, objects.weight))
            candidates = [prototypes_at(centers, self.adaptive)]
        distances = [nearest_distance(objects, start) for start in candidates]
        if not self.adaptive:
            return rho_from(min(distances), objects)
        end = self._end_of(descent_step, objects, candidates[int(np.argmin(distances))])
        return rho_from(nearest_distance(objects, end), objects)

    def _end_of(self, step: Iteration, objects: ScaledObjects, start: Prototypes) -> Prototypes:
        """Return where a fit of single clusters to the sample ends; an interrupt ends all: there is nothing to keep."""
        criterion = single_clusters(len(start.centers), self.beta)
        single = partial(step, objects.sample().chunks, objects.total, criterion)
        run = descend(single, start, max_iter=self.max_iter, tol=self.tol, relative=True)
        if run.interrupted:
            raise KeyboardInterrupt
        return run.state

    def _minimize(
        self, step: Iteration, objects: ScaledObjects, criterion: Criterion, starts: list[Prototypes]
    ) -> tuple[Run, list[Run]]:
        """Return the best run, and the runs from all starts.

        Those of a large table are over its sample; the best of them goes on over all rows.
        """
        self._refuse_masses(objects.source, criterion.focal_sets)
        vectors = Vectors(as_vector, from_vector, LATE)
        on_sample = partial(step, objects.sample().chunks, objects.total, criterion)
        best, runs = self._best_descent(on_sample, starts, len(starts), vectors)
        if objects.whole is not None and not runs[-1].interrupted:
            on_all = partial(step, objects.whole, objects.total, criterion)
            best, _ = self._best_descent(on_all, [best.state], 1, vectors)
        return best, runs

    # -- the result ---------------------------------------------------------------------------------------------------

    def _costs(self, solution: Solution) -> Costs:
        """Return the costs of the focal sets, which give the masses of any row."""
        return DistanceCosts(solution.prototypes, solution.criterion)

    def _store_solution(
        self, objects: ScaledObjects, solution: Solution, best: Run, runs: list[Run], share: float = 1.0
    ) -> tuple[Solution, np.ndarray]:
        """Number the clusters from the largest to the smallest, unless their order was given, and publish them.

        The sum of the kernel is multiplied by ``share`` when the criterion is published. Returns the solution as it is
        numbered, and the old numbers of the clusters in their new order.
        """
        order = np.arange(len(solution.prototypes.centers))
        if isinstance(self.focal_sets, str) and isinstance(self.init, str):
            arguments = objects.coordinates, self._costs(solution), solution
            sizes = reduce_rows(chunk_sizes, objects.source, *arguments)
            order = _base.largest_first(sizes.size, tie=sizes.at)
            solution = solution.renumber(order)
        rho = solution.criterion.rho
        self.rho_ = None if rho is None else float(rho * np.sqrt(objects.unit))
        self._publish_run(best, runs, objects.unit * share)
        self._coordinates, self.focal_sets_ = objects.coordinates, solution.criterion.focal_sets
        self.__dict__.pop("_stream", None)  # batches that follow begin anew
        self._publish_prototypes(replace(solution, linked=None))
        spread = float(np.sqrt(objects.coordinates.width))
        _checks.warn_if_centers_coincide(self, solution.prototypes.describe(), spread)
        return solution, order

    def _publish_prototypes(self, solution: Solution) -> None:
        """Publish centers and shapes in the units of X."""
        self._solution, frame, prototypes = solution, self._coordinates, solution.prototypes
        self.cluster_centers_ = frame.inverse_transform(prototypes.centers)
        self.covariances_ = self.cluster_metrics_ = None
        if prototypes.covariances is not None and prototypes.metric is not None:
            self.covariances_ = frame.covariance_back(prototypes.covariances)
            self.cluster_metrics_ = unit_of(frame) * frame.metric_back(prototypes.metric)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        rows, costs = ArrayRows(X), self._costs(self._solution)
        masses = np.empty((len(X), len(self._solution.criterion.focal_sets)))

        def fill(rows: RowSource, handle: Any) -> None:
            for chunk in rows.read(handle):
                for block in block_masses(to_rows(chunk.table, self._coordinates), costs):
                    masses[chunk.first + block.rows.start : chunk.first + block.rows.stop] = block.masses.T

        with one_blas_thread():
            for _ in map_handles(fill, rows):
                pass
        return masses

    def _masses_with_links(self, rows: RowSource, linked: LinkedMasses | None) -> np.ndarray | LazyPartition:
        """Return the masses of the rows, among them those that links gave the linked objects."""
        if not isinstance(rows, ArrayRows):
            lazy = self._make_lazy(rows)
            return lazy if linked is None else LinkedPartition(lazy, linked)
        masses = self._masses(rows.table)
        if linked is not None:
            linked.put_into(masses, 0)
        return masses

    # -- batches of rows, for methods with partial_fit ----------------------------------------------------------------

    def _begin_stream(self, rows: ArrayRows, rng: np.random.RandomState) -> PrototypeStream:
        self._fit(Data(rows.table, rows, rows.weight, PairwiseConstraints.from_links(), None, rng))
        solution = self._solution
        criterion = solution.criterion
        if is_automatic(self.focal_sets):  # its sets are added to what single clusters give
            single = FocalSets(self.n_clusters, "singletons", empty=criterion.focal_sets.empty_index is not None)
            criterion = replace(criterion, focal_sets=single)
        sums, total = self._batch_sums(rows, DistanceCosts(solution.prototypes, criterion))
        return PrototypeStream(criterion, RunningMean.of((sums,), total))

    def _follow_stream(self: Any, rows: ArrayRows, kappa: float) -> PrototypeStream:
        solution, (criterion, mean) = self._solution, self._stream
        sums, weight = self._batch_sums(rows, DistanceCosts(solution.prototypes, criterion))
        mean = mean.add((sums,), weight, kappa)
        moved = update_prototypes(mean.sums[0], solution.prototypes, criterion, mean.total)
        self._publish_prototypes(replace(solution, prototypes=moved))
        return PrototypeStream(criterion, mean)

    def _batch_sums(self, rows: ArrayRows, costs: Costs) -> tuple[np.ndarray, float]:
        """Return the sums of a batch, and its weight."""
        columns = rows.map_chunks(partial(to_columns, self._coordinates))
        total = float(len(rows.table) if rows.weight is None else rows.weight.sum())
        return reduce_rows(chunk_sums, columns, costs).sums, total


# -- starts -----------------------------------------------------------------------------------------------------------


class GivenStart(NamedTuple):
    """Centers (c, p) of the user, and covariances (c, p, p) when ``init`` is a pair of both."""

    centers: np.ndarray
    covariances: np.ndarray | None


def given_start(init: Any) -> GivenStart | None:
    """Return the start that ``init`` gives; None when it names a rule."""
    if isinstance(init, str):
        return None
    if isinstance(init, tuple) and len(init) == 2 and np.ndim(init[1]) == 3:
        return GivenStart(np.asarray(init[0], dtype=float), np.asarray(init[1], dtype=float))
    return GivenStart(np.asarray(init, dtype=float), None)


def check_start(estimator: Any, start: GivenStart, n_features: int) -> None:
    """Refuse a given start that is not one finite center, and covariance, per cluster."""
    check_centers(estimator, start.centers, n_features)
    expected, covariances = (*start.centers.shape, n_features), start.covariances
    if covariances is not None and (covariances.shape != expected or not np.isfinite(covariances).all()):
        raise ValueError(
            f"The covariances in the 'init' parameter of {type(estimator).__name__} must be finite and of shape "
            f"{expected}. Got {covariances.shape}."
        )


def check_centers(estimator: Any, centers: np.ndarray, n_features: int) -> None:
    """Refuse centers given as ``init`` that are not one finite row per cluster."""
    expected = (estimator.n_clusters, n_features)
    if centers.shape != expected or not np.isfinite(centers).all():
        raise ValueError(
            f"The 'init' parameter of {type(estimator).__name__} must be {', '.join(map(repr, START_RULES))} or an "
            f"array of finite centers of shape {expected}, one row per cluster. Got an array of shape {centers.shape}."
        )


def prototypes_at(centers: np.ndarray, adaptive: bool) -> Prototypes:
    """Return prototypes that start at the centers, with no shape yet."""
    c, p = centers.shape
    return Prototypes(centers, np.tile(np.eye(p), (c, 1, 1)) if adaptive else None)


# -- the distance to the empty set ------------------------------------------------------------------------------------


def single_clusters(n_clusters: int, beta: float) -> Criterion:
    """Return the criterion of fuzzy c-means: every cluster alone, no outliers."""
    return Criterion(FocalSets(n_clusters, "singletons", empty=False), 1.0, beta)


def nearest_distance(objects: ScaledObjects, prototypes: Prototypes) -> float:
    """Return the root mean squared distance of the objects to their nearest center."""
    blocks = block_masses(objects.rows, DistanceCosts(prototypes, single_clusters(len(prototypes.centers), 2.0)))
    total = sum(objects.weight[block.rows] @ block.cost.min(axis=0) for block in blocks)
    return float(np.sqrt(total / objects.weight.sum()))


def rho_from(distance: float, objects: ScaledObjects) -> float:
    """Return the default distance to the empty set, from a typical distance to the nearest center."""
    return RHO_FACTOR * max(distance, RHO_LEAST * np.sqrt(objects.coordinates.width))


def value_at_end(run: Run, objective: float) -> Run:
    """Return a run that ends with another objective: that of more focal sets around the same prototypes."""
    return replace(run, trace=np.append(run.trace[:-1], objective))
