"""A table as EGMM's search sees it: coordinates of each covariance model, a sample of rows, starts, first looks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import chi2
from sklearn.metrics import pairwise_distances_argmin

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.mixtures.covariance_models import n_covariance_parameters
from evidentia.mixtures.parsimonious import START_ROWS
from evidentia.mixtures.set_mixture import (
    COPIES,
    SHARED,
    Engine,
    Floor,
    Knowledge,
    Known,
    Parameters,
    Pattern,
    Patterns,
    Prior,
    engine,
)
from evidentia.partition import CredalPartition
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import Table, chunk_moments
from evidentia.rows.source import ArrayRows, Chunk, RowSource, TransformedRows
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.coordinates import ColumnScales, Coordinates, coordinates_of, moments_of, scales_of
from evidentia.solvers.descent import Run
from evidentia.solvers.gaussian_agglomeration import MergeTree, start_trees
from evidentia.solvers.principal import Independent, Principal
from evidentia.solvers.set_covariances import Bound, minimize_bound
from evidentia.solvers.starts import START_RULES, Rows, representative_rows, sorted_rows

if TYPE_CHECKING:
    from evidentia.mixtures.egmm import EGMM

FEW_VALUES = 5  # different ones in a column: it is a category or a grade rather than a measurement
HEAD = 64  # rows in which most columns of more values show them
INNERMOST = 0.1  # share of the objects of a cluster that are its very middle
FEW, SAMPLE, ALL = "few", "sample", "all"  # rows that a step goes over
KIND = {
    **dict.fromkeys(("EEE", "VEE", "EVV", "VVV"), "full"),
    **dict.fromkeys(("EVE", "VVE", "EEV", "VEV"), "rotated"),
    **dict.fromkeys(("EEI", "VEI", "EVI", "VVI"), "diag"),
    **dict.fromkeys(("EII", "VII"), "spherical"),
}  # the widest choice of coordinates that leaves each model what it is


def n_parameters(model: str, n_focal: int, n_clusters: int, n_features: int) -> int:
    """Free parameters: mixing probabilities, means, and covariances, as counted below (33)."""
    return n_focal - 1 + n_clusters * n_features + n_covariance_parameters(model, n_clusters, n_features)


def data_prior(
    model: str, variances: np.ndarray, n_clusters: int, within: np.ndarray | float = np.inf
) -> tuple[float, np.ndarray]:
    r"""Count and scale of the prior of Fraley & Raftery (2007) for the covariances of a model, in units of the table.

    An inverse Wishart density with d + 2 degrees of freedom and the scale :math:`\mathrm{diag}(s^2) / C^{2/d}`; the
    variances of diagonal models have one of dimension one each. The diagonal scale is what keeps columns that
    are nearly combinations of each other from collapsing. That scale supposes that clusters share the range of a
    column out among them: the covariance of highest density, scale / count, is not let exceed what is known to lie
    `within` clusters.
    """
    d, count = len(variances), 5.0 if model.endswith("I") else 2.0 * len(variances) + 3.0
    return count, np.minimum(variances / n_clusters ** (2 / d), count * within)


def few_values(X: np.ndarray) -> list[np.ndarray | None]:
    """The different values of each column that has few of them, and nothing of the others.

    Most of these show it in their first rows already: wide tables have many columns to look through.
    """
    steps = (np.diff(np.sort(X[:HEAD], axis=0), axis=0) > 0).sum(axis=0)  # NaN is sorted last, and no step
    maybe = [np.unique(X[~np.isnan(X[:, j]), j]) if steps[j] < FEW_VALUES else None for j in range(X.shape[1])]
    return [None if values is None or len(values) > FEW_VALUES else values for values in maybe]


def resolutions(found: list[np.ndarray | None]) -> np.ndarray:
    """The smallest step between the few values of each column, and zero for those of more values.

    Examples
    --------
    >>> X = np.array([[0.0, 5.1], [1.0, 4.9], [1.0, 5.2], [0.0, 4.2], [np.nan, 3.0], [3.0, 2.6]])
    >>> resolutions(few_values(X))
    array([1., 0.])
    """
    return np.array([0.0 if values is None or len(values) < 2 else np.diff(values).min() for values in found])


def spread_to(variances: np.ndarray, coordinates: Coordinates | ColumnScales, *, diagonal: bool) -> np.ndarray:
    """Variances of the columns as a covariance in coordinates, or its diagonal."""
    if isinstance(coordinates, ColumnScales):
        inside = variances[coordinates.kept] / np.square(coordinates.scale)
        return inside if diagonal else np.diag(inside)
    return (coordinates.forward.T * variances) @ coordinates.forward


def on_principal_axes(whitened: Coordinates, scales: ColumnScales) -> Coordinates:
    """Principal axes of the standardized columns: the coordinates that whiten them, with the spread along each axis."""
    root = 1 / np.linalg.norm(whitened.forward * scales.deviation[:, None], axis=0)
    return Coordinates(
        whitened.origin,
        whitened.forward * root,
        whitened.backward / root[:, None],
        whitened.log_jacobian + float(np.log(root).sum()),
    )


def growing_steps(numbers: list[int]) -> list[int]:
    """Some of the numbers, at steps that grow by a third, and the last one.

    Examples
    --------
    >>> growing_steps(list(range(1, 41)))
    [1, 2, 3, 4, 5, 7, 9, 12, 16, 21, 28, 37, 40]
    """
    steps = [numbers[0]]
    while steps[-1] < numbers[-1]:
        steps.append(min(numbers[-1], max(steps[-1] + 1, round(4 / 3 * steps[-1]))))
    return steps


class Look(NamedTuple):
    """A model and number of clusters after some iterations: where its starts came, and the criterion to be expected."""

    model: str
    focal_sets: FocalSets
    runs: list[Run]  # over the sample, the best first
    log_likelihood: float
    n_parameters: int
    criteria: dict[str, float]  # one, to be maximized
    collapsed: bool
    flaw: str  # why its clusters are no groups, if they are not

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Lower is better; the likelihood of a collapsed one means nothing."""
        return self.collapsed, bool(self.flaw), -max(self.criteria.values())

    def row(self, collapse: str) -> dict[str, Any]:
        """Its line in ``selection_``."""
        return {
            "model": self.model,
            "n_clusters": self.focal_sets.n_clusters,
            **{name: np.nan if self.collapsed else value for name, value in self.criteria.items()},
            "log_likelihood": np.nan if self.collapsed else self.log_likelihood,
            "n_parameters": self.n_parameters,
            "n_iter": self.runs[0].n_iter,
            "note": "; ".join(
                [_base.FIRST_LOOK] + [f"{collapse} in every start"] * self.collapsed + [self.flaw] * (self.flaw != "")
            ),
        }


def concentric(parameters: Parameters) -> bool:
    """Whether the center of a cluster lies in the innermost tenth of another one.

    Two clusters in one place, a narrow one and a wide one, are one group with heavy tails.
    """
    _, centers, within = parameters
    c, d = centers.shape
    gap = centers[:, None] - centers
    within = np.broadcast_to(within, (c, *within.shape[1:]))
    if within.ndim == 2:
        distance = (np.square(gap) / within).sum(axis=2)
    else:
        distance = np.einsum("klp,lpq,klq->kl", gap, np.linalg.inv(within), gap, optimize=True)
    return bool((distance + np.diag(np.full(c, np.inf)) < chi2.ppf(INNERMOST, d)).any())


class Start(NamedTuple):
    """Clusters of the rows of the sample, or centers in the columns of the table."""

    labels: np.ndarray | None = None
    centers: np.ndarray | None = None


def reduce_table(table: Table, reduction: Principal | Independent | None) -> Table:
    """A table in fewer columns, with its moments there."""
    if reduction is None:
        return table
    sample = Rows(reduction.transform(table.sample.X), table.sample.weight)
    rows: RowSource = TransformedRows(table.rows, reduction)
    if table.complete:
        assert isinstance(table.rows, ArrayRows)
        rows = ArrayRows(sample.X, table.rows.weight)
    return Table(rows, table.n_rows, reduce_rows(chunk_moments, rows, True), sample, table.complete)


class KnownTable(NamedTuple):
    """A table in memory with what is known of its rows, and its contour and pignistic probabilities, (n, c)."""

    table: Table
    knowledge: Knowledge
    contour: np.ndarray
    pignistic: np.ndarray

    @classmethod
    def of(cls, rows: ArrayRows, partition: CredalPartition, *, mixing: bool) -> KnownTable:
        """Of the rows that count, sorted as those of a table of which nothing is known."""
        weight = np.ones(len(rows.table)) if rows.weight is None else rows.weight
        used = np.flatnonzero(weight)
        used = used[sorted_rows(rows.table[used])]
        X, share = rows.table[used], weight[used]
        kept = ArrayRows(X, None if rows.weight is None else share, rows.names)
        table = Table(kept, len(X), moments_of(X, kept.weight, mixing), Rows(X, share), True)
        return cls(table, knowledge_of(partition).take(used), partition.contour[used], partition.pignistic[used])


def knowledge_of(partition: CredalPartition) -> Knowledge:
    """Different mass functions of a partition; one that is all on the set of all clusters says nothing."""
    masses, codes = np.unique(partition.masses, axis=0, return_inverse=True)
    masks, everything = partition.focal_sets.masks, partition.focal_sets.omega_index
    contents = tuple(
        None if everything is not None and row[everything] == 1 else Known(masks[row > 0], row[row > 0])
        for row in masses
    )
    return Knowledge(codes.ravel(), contents)


def observe(
    tool: Engine, coordinates: Coordinates | ColumnScales, knowledge: Knowledge | None, chunk: Chunk
) -> list[Pattern]:
    """A chunk of the table as an engine takes it."""
    if knowledge is None:
        return tool.observe(chunk.table, chunk.weight, coordinates)
    return [
        pattern._replace(known=known)
        for known, at in knowledge.take(slice(chunk.first, chunk.first + len(chunk.table))).groups()
        for pattern in tool.observe(chunk.table[at], None if chunk.weight is None else chunk.weight[at], coordinates)
    ]


def fill_missing(Y: np.ndarray) -> np.ndarray:
    """Zero for what is missing, in place."""
    return np.nan_to_num(Y, copy=False) if np.isnan(Y.sum()) else Y


class Problem:
    """The table as the models see it: coordinates and patterns of each, of all rows and of samples of them.

    There are three sizes: a few rows for starts and first looks, the sample of a large table, and all rows. A table
    of few rows is all three.
    """

    def __init__(self, table: Table, rng: np.random.RandomState, settings: EGMM, known: KnownTable | None = None):
        self.table, self.settings, self.total, self.known = table, settings, table.total, known
        self.scales = scales = scales_of(table.moments)
        self.standardized = settings.standardizes(table)
        # Columns of equal spread, as k-means needs them.
        self.filled = fill_missing(scales.transform(table.sample.X))
        sample = ArrayRows(table.sample.X, table.sample.weight)
        self.rows = {ALL: table.rows, SAMPLE: table.rows if table.complete else sample}
        self.picked: Any = slice(None)  # rows of the sample for starts and first looks
        self.few_weight = table.sample.weight
        if len(table.sample.X) > START_ROWS:
            some, share = representative_rows(self.filled, table.sample.weight, rng)
            steps = (np.arange(START_ROWS) + 0.5) / START_ROWS
            cumulative = np.cumsum(share)
            self.picked = some[np.searchsorted(cumulative, steps * cumulative[-1])]
            self.few_weight = np.ones(START_ROWS)
            self.rows[FEW] = ArrayRows(table.sample.X[self.picked], self.few_weight)
        else:
            self.rows[FEW] = self.rows[SAMPLE]
        self.trees: list[MergeTree] = []
        self._coordinates: dict[str, Coordinates | ColumnScales] = {"diag": scales}
        self._few: dict[str, np.ndarray] = {}
        self._within: dict[int, np.ndarray] = {}  # by number of clusters, in variances of the columns that are kept
        self._engines: dict[tuple[str, int], Engine] = {}
        self._patterns: dict[tuple[str, bool, int], Patterns] = {}
        self.whole = bool((table.moments.observed == table.total).all())  # nothing is missing

    def is_all(self, size: str) -> bool:
        """Whether rows of that size are all rows."""
        return self.rows[size] is self.rows[ALL]

    def weight_of(self, size: str) -> float:
        """Sum of the weights of the rows of that size."""
        return self.total if size != FEW or self.is_all(FEW) else float(len(self.few_weight))

    def coordinates(self, model: str) -> Coordinates | ColumnScales:
        kind = KIND[model]
        if kind not in self._coordinates:
            self._coordinates[kind] = self._make_coordinates(kind)
        return self._coordinates[kind]

    def _make_coordinates(self, kind: str) -> Coordinates | ColumnScales:
        if kind == "full" or not self.standardized:
            return coordinates_of(self.table.moments, kind=kind)
        whitened = self.scales if kind == "spherical" else coordinates_of(self.table.moments, kind="full")
        return on_principal_axes(whitened, self.scales) if isinstance(whitened, Coordinates) else self.scales

    def few(self, model: str) -> np.ndarray:
        """A few rows in the coordinates of the model, not to be changed; zero stands for what is missing."""
        kind, coordinates = KIND[model], self.coordinates(model)
        if kind not in self._few and coordinates is self.scales:
            self._few[kind] = self.filled[self.picked]
        elif kind not in self._few:
            self._few[kind] = fill_missing(coordinates.transform(self.table.sample.X[self.picked]))
        return self._few[kind]

    def patterns(self, model: str, size: str) -> Patterns:
        """Rows of one size as the engine of the model takes them."""
        rows = self.rows[size]
        key = (KIND[model], model in SHARED, id(rows))
        if key not in self._patterns:
            prepare = partial(observe, engine(model), self.coordinates(model), self.knowledge(size))
            self._patterns[key] = Patterns(rows.map_chunks(prepare), self.whole and self.known is None)
        return self._patterns[key]

    def knowledge(self, size: str) -> Knowledge | None:
        """What is known of the rows of one size."""
        if self.known is None:
            return None
        return self.known.knowledge if self.is_all(size) else self.known.knowledge.take(self.picked)

    def engine(self, model: str, n_clusters: int) -> Engine:
        if (model, n_clusters) not in self._engines:
            self._engines[model, n_clusters] = self._make_engine(model, n_clusters)
        return self._engines[model, n_clusters]

    def _make_engine(self, model: str, n_clusters: int) -> Engine:
        coordinates, settings = self.coordinates(model), self.settings
        diagonal = model.endswith("I")
        reference = np.ones(coordinates.width)
        if KIND[model] == "rotated":
            reference = moments_of(
                coordinates.transform(self.table.sample.X[self.picked]), self.few_weight, False
            ).spread
        prior = None
        if settings.prior is not None:
            variances = np.square(self.scales.deviation)
            if isinstance(settings.prior, str):
                kept = variances[variances > 0]
                within = kept * self._within.get(n_clusters, np.inf)
                count, variances[variances > 0] = data_prior(model, kept, n_clusters, within)
            else:
                variances = settings.clustered_variances(np.asarray(settings.prior, dtype=float))
                count, _ = data_prior(model, variances, 1)
            prior = Prior(count, spread_to(variances, coordinates, diagonal=diagonal))
        ridge: Any = 0.0
        if settings.ridge:
            added = settings.clustered_variances(np.full(settings.n_features_in_, settings.ridge))
            ridge = spread_to(added, coordinates, diagonal=diagonal)
        floor = Floor(settings.reg_covar, reference if diagonal else np.diag(reference))
        return engine(
            model, prior, floor, ridge, spread_to(settings.rounding_variances(), coordinates, diagonal=diagonal)
        )

    def gain(self, model: str, size: str) -> float:
        """What the log-likelihood gains when it is expressed in the units of the table."""
        coordinates, observed = self.coordinates(model), self.table.moments.observed
        if isinstance(coordinates, Coordinates):
            return self.weight_of(size) * coordinates.log_jacobian
        if not self.is_all(size) and np.isnan(self.table.sample.X.sum()):
            weight = self.few_weight if size == FEW else self.table.sample.weight
            rows = self.table.sample.X[self.picked] if size == FEW else self.table.sample.X
            observed = weight @ ~np.isnan(rows)
        elif size == FEW:
            observed = np.full(len(observed), self.weight_of(size))
        return -float(observed[coordinates.kept] @ np.log(coordinates.scale))

    def log_likelihood(self, model: str, run: Run, tool: Engine, size: str) -> float:
        """Of the rows of one size, in the units of the table, without the priors."""
        return tool.cost(run.state) - self.weight_of(size) * run.objective + self.gain(model, size)

    def grow_trees(self, n_trees: int) -> None:
        """Merge trees of a few rows."""
        self.trees = start_trees(self.filled[self.picked], self.few_weight, n_trees)

    def starts(self, n_clusters: int, init: Any, n_init: int, rng: np.random.RandomState) -> Iterator[Start]:
        """Clusters to begin from; where something is known of objects, numbered as there."""
        if not isinstance(init, str) or self.known is None:
            yield from self._plain_starts(n_clusters, init, n_init, rng)
            return
        yield from self._known_centers()
        yield from map(self._renumber, self._plain_starts(n_clusters, init, n_init, rng))

    def narrow_prior(self, n_clusters: int, starts: list[Start]) -> None:
        """Let the prior expect clusters no wider than those of the tightest start.

        Of clusters far apart the scale of Fraley and Raftery is many times their width. One covariance for all hardly
        feels it, each of its own does, and so likelihood alone would prefer more clusters of one shape.
        """
        if n_clusters == 1 or not isinstance(self.settings.prior, str):  # one that is given, or none, stays
            return
        Y, weight = self.filled[self.picked], self.few_weight
        seen = np.ones((len(Y), 1))
        if not self.whole:
            seen = ~np.isnan(self.table.sample.X[self.picked][:, self.scales.kept])
        degrees = weight @ seen - n_clusters
        squares, found = weight @ np.square(Y), []
        for start in starts:
            labels = start.labels
            if start.centers is not None:
                labels = pairwise_distances_argmin(Y, self.scales.transform(start.centers))
            member = np.eye(n_clusters)[labels] * weight[:, None]
            size = member.T @ seen
            found.append(squares - (np.square(member.T @ Y) / np.where(size > 0, size, 1)).sum(axis=0))
        tightest = min(found, key=lambda one: one.sum())
        within = tightest / np.where(degrees > 0, degrees, 1)
        self._within[n_clusters] = np.where((degrees > 0) & (within > COPIES), within, np.inf)

    def _known_centers(self) -> Iterator[Start]:
        """Means of the objects that are known, if each cluster has one that is rather there than elsewhere."""
        assert self.known is not None
        share = self.known.pignistic
        share = np.where(share > 0.5, share, 0) * self.table.sample.weight[:, None]
        if share.any(axis=0).all():
            yield Start(centers=self.scales.inverse_transform(share.T @ self.filled / share.sum(axis=0)[:, None]))

    def _renumber(self, start: Start) -> Start:
        """A start with the numbers of its clusters that agree best with the plausibilities of what is known."""
        assert self.known is not None
        contour, weight = self.known.contour, self.table.sample.weight
        if start.centers is None:
            assert start.labels is not None
            member = np.eye(contour.shape[1])[start.labels] * self.few_weight[:, None]
            centers = member.T @ self.filled[self.picked] / member.sum(axis=0)[:, None]
        else:
            centers = self.scales.transform(start.centers)
        told = np.flatnonzero(contour.min(axis=1) < 1)
        nearest = np.eye(contour.shape[1])[pairwise_distances_argmin(self.filled[told], centers)]
        new = linear_sum_assignment(nearest.T @ (weight[told, None] * contour[told]), maximize=True)[1]
        if start.centers is None:
            return Start(labels=new[start.labels])
        return Start(centers=start.centers[np.argsort(new)])

    def _plain_starts(self, n_clusters: int, init: Any, n_init: int, rng: np.random.RandomState) -> Iterator[Start]:
        if not isinstance(init, str):
            yield Start(centers=init)
            return
        if init == "hierarchical":
            yield from (Start(labels=tree.labels(n_clusters)) for tree in self.trees)
            init, n_init = "k-means", n_init - len(self.trees)
        if n_init > 0:
            for centers in START_RULES[init](self.filled, n_clusters, n_init, rng, self.table.sample.weight):
                yield Start(centers=self.scales.inverse_transform(centers))

    def begin(self, model: str, start: Start, focal_sets: FocalSets) -> Parameters:
        """Means and covariances within the clusters of the sample; all sets are equally probable (section 3.4).

        One covariance for all begins at the average of those of the clusters where means were given, as in the paper,
        and at that of all objects about their means where labels were.
        """
        tool, c = self.engine(model, focal_sets.n_clusters), focal_sets.n_clusters
        Y = self.few(model)
        if start.centers is None:
            assert start.labels is not None
            labels = start.labels
        else:
            centers = self.coordinates(model).transform(start.centers)
            labels = pairwise_distances_argmin(self.filled[self.picked], self.scales.transform(start.centers))
        member = np.eye(c)[labels] * self.few_weight[:, None]
        size = member.sum(axis=0)
        if start.centers is None:
            centers = member.T @ Y / size[:, None]
        width = Y.shape[1:] if tool.diagonal else Y.shape[1:] * 2
        scatter = np.zeros((c, *width))
        for block in row_blocks(len(Y), int(np.prod(width))):
            residual = Y[block] - centers[labels[block]]
            squares = np.square(residual) if tool.diagonal else residual[:, :, None] * residual[:, None, :]
            scatter += np.tensordot(member[block].T, squares, axes=1)
        weights = np.full(len(focal_sets), 1 / len(focal_sets))
        if model in SHARED:
            within = scatter.sum(axis=0) / size.sum()
            if start.centers is not None:
                within = (scatter[size > 0] / size[size > 0].reshape(-1, *[1] * len(width))).mean(axis=0)
            return Parameters(weights, centers, tool.constrain(within)[None])
        # A cluster of few rows has no shape of its own yet: as much of the whole as one object is mixed in.
        assert tool.floor is not None
        scatter = scatter + tool.floor.reference
        problem = Bound(size + 1, np.zeros_like(scatter), scatter)
        return Parameters(
            weights,
            centers,
            minimize_bound(model, problem, scatter / (size + 1).reshape(-1, *[1] * (scatter.ndim - 1))),
        )
