"""EGMM's search for a covariance model, a number of clusters and sets of clusters.

:func:`search` is the algorithm. Trials of a few iterations cover models at numbers that grow; the best are fitted to
the end, a criterion chooses among them, and automatic sets are added to the choice. With one model and a family of
sets that is given, a short range of numbers is fitted to the end instead, as in the paper. The guide to EGMM explains
why; the constants are here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.stats import chi2
from sklearn.metrics import pairwise_distances_argmin
from tqdm.auto import tqdm

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.mixtures._base import Candidate, bic, ebic
from evidentia.mixtures._covariances import Bound, Floor, Prior, n_covariance_parameters
from evidentia.mixtures._em import (
    COPIES,
    SHARED,
    WEIGHTS,
    Engine,
    Parameters,
    PartialLabel,
    PartialLabels,
    Pattern,
    Patterns,
    best_first,
    em,
    engine,
    patterns_of,
)
from evidentia.mixtures.parsimonious import START_ROWS
from evidentia.partition import CredalPartition
from evidentia.rows.scan import Table
from evidentia.rows.source import ArrayRows, Chunk
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.coordinates import ColumnScales, Coordinates, coordinates_of, moments_of, scales_of
from evidentia.solvers.descent import INTERRUPTED_EARLY, InterruptedFit, Run, all_runs, descend
from evidentia.solvers.gaussian_agglomeration import MergeTree, start_trees
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.overlap import is_automatic, least_committed, shared_sets
from evidentia.solvers.starts import START_RULES, Rows, representative_rows, sorted_rows

TRIAL = {"tol": 3e-3, "max_iter": 25}  # enough to tell which models and numbers are worth fitting to the end
ACTIVE = 5  # models that are tried at the numbers between the steps
SMALLEST_GROUP = 5  # objects: fewer are outliers rather than a group
PATIENCE = 2  # steps without a better criterion after which the search ends
BARELY = 2.0  # a difference of BIC not worth more than a bare mention (Kass & Raftery 1995)
FINALISTS = 4  # models and numbers that are fitted to the end
FEW_NUMBERS = 10  # of clusters, which are all fitted to the end if one model and a family of sets are given
COLLAPSE = "a covariance collapsed"
INNERMOST = 0.1  # share of the objects of a cluster that are its very middle
FEW, SAMPLE, ALL = "few", "sample", "all"  # rows that a step goes over
KIND = {
    **dict.fromkeys(("EEE", "VEE", "EVV", "VVV"), "full"),
    **dict.fromkeys(("EVE", "VVE", "EEV", "VEV"), "rotated"),
    **dict.fromkeys(("EEI", "VEI", "EVI", "VVI"), "diag"),
    **dict.fromkeys(("EII", "VII"), "spherical"),
}  # the widest choice of coordinates that leaves each model what it is


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What a search tries and how; variances and centers are of the columns that are clustered.

    ``prior`` is ``"data"``, variances, or None. ``rounding`` are the variances of what rounding took from each value.
    """

    numbers: list[int]
    models: list[str]
    criterion: str  # which chooses, "bic" or "ebic"
    barely_better: float  # difference of it up to which more clusters are preferred
    focal_sets: Any
    init: Any
    n_init: int
    prior: Any
    ridge: np.ndarray | None
    rounding: np.ndarray
    reg_covar: float
    standardized: bool
    tol: float
    max_iter: int
    verbose: int

    @property
    def automatic_sets(self) -> bool:
        """Whether sets are added to a mixture of single clusters."""
        return is_automatic(self.focal_sets)

    @property
    def fits_all(self) -> bool:
        """Whether every number is fitted to the end."""
        return len(self.models) == 1 and len(self.numbers) <= (1 if self.automatic_sets else FEW_NUMBERS)

    def family(self, n_clusters: int) -> FocalSets:
        """Return the sets that are fitted together with so many clusters."""
        return resolve_focal_sets("singletons" if self.automatic_sets else self.focal_sets, n_clusters, empty=False)

    def progress(self, model: str, n_clusters: int) -> dict[str, Any]:
        """Return the name and the verbosity of the starts of a model."""
        return {"name": f"EGMM, {model}, {n_clusters} clusters", "verbose": max(0, self.verbose - 1)}

    def criteria(self, log_likelihood: float, n_free: int, total: float) -> dict[str, float]:
        """Return the value by which fits are compared."""
        return {self.criterion: (bic if self.automatic_sets else ebic)(log_likelihood, n_free, total)}

    def flaw(self, state: Parameters, total: float) -> str:
        """Return why clusters are not groups, if they are not: two in one place, or a tiny one.

        A likelihood depends on densities alone, and outliers and heavy tails are dense in clusters of their own. With a
        family of sets that is given EBIC decides alone, as in the paper.
        """
        if not self.automatic_sets or len(state.centers) == 1:
            return ""
        if state.weights.min() * total < SMALLEST_GROUP:
            return f"a cluster of fewer than {SMALLEST_GROUP} objects"
        return "two clusters in one place" if concentric(state) else ""


class Trial(NamedTuple):
    """A model and number of clusters after some iterations: the runs, and the criterion expected of the whole table."""

    model: str
    focal_sets: FocalSets
    engine: Engine
    runs: list[Run]  # over a few rows, the best first
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
        """Return its line in ``selection_``."""
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


class SearchResult(NamedTuple):
    """The best mixture, with its sets and before they were added, and everything that was tried."""

    best: Candidate
    single: Candidate
    engine: Engine  # of both
    tried: pd.DataFrame


# -- the search --------------------------------------------------------------------------------------------------------


def search(table: SearchTable, settings: SearchSettings, rng: np.random.RandomState) -> SearchResult:
    """Find the model and the number of clusters of the highest criterion, and the sets of clusters that overlap.

    1. Try models and numbers: some iterations over a few rows from each start.
    2. Fit the best of these to the end, and take the one of the highest criterion, or one of nearly the same criterion
       with more clusters.
    3. Add automatic sets to it.

    An interrupt keeps the best of what is there.
    """
    trials: list[Trial] = []
    interrupted = False
    limits: Any = {"tol": 0.0, "max_iter": 0} if settings.fits_all else TRIAL
    try:
        hierarchical = isinstance(settings.init, str) and settings.init == "hierarchical"
        trees = table.merge_trees(settings.n_init) if hierarchical else []
        with tqdm(desc="EGMM", unit="size", disable=not settings.verbose) as bar:
            for number, models in worth_trying(settings, trials):
                starts = list(table.starts(number, settings.init, settings.n_init, trees, rng))
                within = table.variances_within(number, starts, settings)
                family, size = settings.family(number), table.weight_of(FEW)
                for model in models:
                    tool = table.engine(model, number, within, settings)
                    run = partial(em, tool, table.patterns(model, FEW), averaging(family), size, **limits)
                    states = [table.begin(tool, start, family) for start in starts]
                    runs = all_runs(run, states, **settings.progress(model, number), n_starts=len(states))
                    runs = best_first(runs, tool, averaging(family), size)
                    trials.append(judge(table, settings, tool, family, runs))
                    if any(run.interrupted for run in runs):
                        raise KeyboardInterrupt
                bar.update()
    except KeyboardInterrupt:
        if not trials:
            raise KeyboardInterrupt(INTERRUPTED_EARLY.format(who="EGMM")) from None
        interrupted = True
    return choose(table, settings, trials, interrupted)


def worth_trying(settings: SearchSettings, trials: list[Trial]) -> Iterator[tuple[int, list[str]]]:
    """Yield numbers of clusters with models, in the light of the trials so far, which the caller appends to.

    All models at steps over the numbers, then the good models around the best number; or one model at every number if
    all are fitted to the end.
    """
    models, numbers = settings.models, settings.numbers
    if settings.fits_all:
        yield from ((number, models) for number in numbers)
        return
    coarse = growing_steps(numbers)
    for at, number in enumerate(coarse):
        shared = [model for model in models if model in SHARED] or models[:1]
        yield number, models if number > 1 else shared
        best = min(trials, key=lambda trial: trial.rank).focal_sets.n_clusters
        if at - coarse.index(best) >= PATIENCE:
            break
    ranked = sorted(trials, key=lambda trial: trial.rank)
    good = list(dict.fromkeys(trial.model for trial in ranked))[:ACTIVE]
    place = coarse.index(best)
    around = range(coarse[max(place - 1, 0)], coarse[min(place + 1, len(coarse) - 1)] + 1)
    for number in numbers:
        if number in around and number not in coarse:
            yield number, [model for model in models if model in good]


def judge(table: SearchTable, settings: SearchSettings, tool: Engine, family: FocalSets, runs: list[Run]) -> Trial:
    """Return a trial over a few rows with the criterion that is expected of the whole table."""
    n_free = n_parameters(tool.model, len(family), family.n_clusters, table.coordinates(tool.model).width)
    size = table.weight_of(FEW)
    reached = table.log_likelihood(runs[0], tool, FEW)
    # A maximum over the sample exceeds the truth by about half the number of parameters, and so does that over
    # the table; what is in between grows with the number of rows.
    expected = table.total / size * (reached - n_free / 2) + n_free / 2
    criteria, flaw = settings.criteria(expected, n_free, table.total), settings.flaw(runs[0].state, table.total)
    collapsed = tool.collapsed(runs[0].state, averaging(family), size)
    return Trial(tool.model, family, tool, runs, expected, n_free, criteria, collapsed, flaw)


def choose(table: SearchTable, settings: SearchSettings, trials: list[Trial], interrupted: bool) -> SearchResult:
    """Return the best, fitted to the end: the one of the highest criterion, or a level one with more clusters."""
    by = settings.criterion
    ranked = sorted(trials, key=lambda trial: trial.rank)
    few = FINALISTS if table.total <= START_ROWS else FINALISTS // 2
    fitted: list[tuple[Candidate, Engine]] = []
    for trial in ranked if settings.fits_all else ranked[:few]:
        if interrupted and fitted:
            break
        candidate = finish(table, settings, trial, look_only=interrupted)
        fitted.append((candidate, trial.engine))
        interrupted = interrupted or candidate.interrupted
    candidates = [candidate for candidate, _ in fitted]
    order = [(candidate.collapsed, bool(candidate.flaw), -candidate.criteria[by]) for candidate in candidates]
    least = min(order)
    # Sets can say that two clusters may be one; nothing could say that one may be two.
    slack = settings.barely_better
    level = [pair for pair, rank in zip(fitted, order) if rank[:2] == least[:2] and rank[2] <= least[2] + slack]
    single, tool = max(level, key=lambda pair: (pair[0].n_clusters, pair[0].criteria[by]))
    best, done = single, {}
    for candidate in candidates:
        row, above = candidate.row(COLLAPSE), candidate.criteria[by] > single.criteria[by]
        passed = _base.BARELY_BETTER * (above and any(candidate is other for other, _ in level))
        note = "; ".join(filter(None, [row["note"], passed]))
        done[candidate.settings["model"], candidate.n_clusters] = {**row, "note": note}
    if settings.automatic_sets and not (interrupted or best.collapsed) and best.n_clusters > 1:
        try:
            best = add_sets(table, settings, single, tool)
        except KeyboardInterrupt:
            best = replace(best, interrupted=True)
        interrupted = best.interrupted
    if interrupted:
        warn_user(
            f"EGMM was interrupted; the best of {len(trials)} first looks and {len(candidates)} fits is kept.",
            InterruptedFit,
        )
    rows = [done.get((trial.model, trial.focal_sets.n_clusters), trial.row(COLLAPSE)) for trial in trials]
    return SearchResult(best, single, tool, pd.DataFrame(rows))


def finish(table: SearchTable, settings: SearchSettings, trial: Trial, *, look_only: bool) -> Candidate:
    """Fit the model and number of clusters of a trial to the end."""
    states = [run.state for run in trial.runs]
    if not table.is_all(FEW) and trial.runs[0].n_iter:  # the trial over a few rows has told the starts apart
        states = states[:1]

    def fit(states: list[Parameters], size: str) -> list[Run]:
        average, total = averaging(trial.focal_sets), table.weight_of(size)
        max_iter = 0 if look_only else settings.max_iter
        rows = table.patterns(trial.model, size)
        run = partial(em, trial.engine, rows, average, total, tol=settings.tol, max_iter=max_iter)
        progress = settings.progress(trial.model, trial.focal_sets.n_clusters)
        runs = all_runs(run, states, **progress, n_starts=len(states))
        return best_first(runs, trial.engine, average, total)

    runs = fit(states, ALL if table.is_all(SAMPLE) else SAMPLE)
    if not table.is_all(SAMPLE):
        try:
            runs = fit([runs[0].state], ALL)
        except KeyboardInterrupt:  # in the first pass over all rows: the result on the sample is kept
            runs = [replace(runs[0], interrupted=True)]
    result = candidate_of(table, settings, trial.engine, trial.focal_sets, runs)
    return replace(result, interrupted=result.interrupted or look_only)


def candidate_of(
    table: SearchTable, settings: SearchSettings, tool: Engine, family: FocalSets, runs: list[Run]
) -> Candidate:
    """Return what runs over all rows came to, in the units of the table."""
    best, total, model = runs[0], table.total, tool.model
    n_free = n_parameters(model, len(family), family.n_clusters, table.coordinates(model).width)
    gain, log_likelihood = table.gain(model, ALL), table.log_likelihood(best, tool, ALL)
    return Candidate(
        focal_sets=family,
        best=replace(best, trace=total * best.trace - gain),
        runs=[replace(run, trace=total * run.trace - gain) for run in runs],
        log_likelihood=log_likelihood,
        n_parameters=n_free,
        n_objects=total,
        criteria=settings.criteria(log_likelihood, n_free, total),
        flaw=settings.flaw(best.state, total) if len(family) == family.n_clusters else "",
        collapsed=tool.collapsed(best.state, averaging(family), total),
        interrupted=best.interrupted,
        settings={"model": model},
    )


# -- sets of clusters --------------------------------------------------------------------------------------------------


def overlaps(table: SearchTable, single: Candidate, tool: Engine) -> tuple[FocalSets, np.ndarray]:
    """Return the sets of clusters that share objects, and how many of these a choice of one cluster would get wrong."""
    average = np.eye(single.n_clusters)
    X, weight = table.table.sample
    Y = table.coordinates(tool.model).transform(X)
    posterior = np.empty((len(Y), len(average)))
    for state, seen, observed, rows in patterns_of(Y, table.labels(SAMPLE), single.best.state, average):
        posterior[rows] = tool.evaluate(seen, observed, state, average)[0]
    family = shared_sets(posterior, weight)
    # For a pair this is the sum of the smaller posterior probabilities.
    return family, weight @ least_committed(posterior, family) / family.card


def add_sets(table: SearchTable, settings: SearchSettings, single: Candidate, tool: Engine) -> Candidate:
    """Return the mixture with the sets of clusters that overlap.

    Clusters stay where they are; the mixing probabilities are fitted anew. As many objects as are expected to be given
    to the wrong one of the clusters of a set are its prior: without it a likelihood that single clusters explain leaves
    nothing to the sets, and if clusters could move, sets would take their places.
    """
    larger, in_doubt = overlaps(table, single, tool)
    if len(larger) == single.n_clusters:
        return single
    tool = tool.with_doubt(in_doubt * (larger.card > 1))
    average = averaging(larger)

    def reweigh(rows: Patterns, state: Parameters) -> tuple[float, Parameters]:
        sums = tool.gather(rows, state, average)
        cost = tool.cost(state) - sums.log_likelihood
        return cost / table.total, state._replace(weights=tool.weigh(sums.size))

    state = single.best.state._replace(weights=in_doubt / in_doubt.sum())
    for size in [SAMPLE] * (not table.is_all(SAMPLE)) + [ALL]:
        step = partial(reweigh, table.patterns(tool.model, size))
        run = descend(step, state, max_iter=settings.max_iter, tol=settings.tol, vectors=WEIGHTS)
        state = run.state
    result = candidate_of(table, settings, tool, larger, [run])
    return replace(result, criteria=single.criteria, flaw=single.flaw)


# -- what trials are judged by -----------------------------------------------------------------------------------------


def n_parameters(model: str, n_focal: int, n_clusters: int, n_features: int) -> int:
    """Return the number of free parameters: mixing probabilities, means, and covariances, as counted below (33)."""
    return n_focal - 1 + n_clusters * n_features + n_covariance_parameters(model, n_clusters, n_features)


def growing_steps(numbers: list[int]) -> list[int]:
    """Return some of the numbers, at steps that grow by a third, and the last one.

    Examples
    --------
    >>> growing_steps(list(range(1, 41)))
    [1, 2, 3, 4, 5, 7, 9, 12, 16, 21, 28, 37, 40]
    """
    steps = [numbers[0]]
    while steps[-1] < numbers[-1]:
        steps.append(min(numbers[-1], max(steps[-1] + 1, round(4 / 3 * steps[-1]))))
    return steps


def concentric(parameters: Parameters) -> bool:
    """Return whether the center of a cluster lies in the innermost tenth of another one.

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


# -- the table ---------------------------------------------------------------------------------------------------------


def data_prior(
    model: str, variances: np.ndarray, n_clusters: int, within: np.ndarray | float = np.inf
) -> tuple[float, np.ndarray]:
    r"""Return count and scale of the prior of Fraley & Raftery (2007) for a model, in units of the table.

    An inverse Wishart density with d + 2 degrees of freedom and the scale :math:`\mathrm{diag}(s^2) / C^{2/d}`; the
    variances of diagonal models have one of dimension one each. The diagonal scale is what keeps columns that
    are nearly combinations of each other from collapsing. That scale supposes that clusters share the range of a
    column out among them: the covariance of highest density, scale / count, is not let exceed what is known to lie
    `within` clusters.
    """
    d, count = len(variances), 5.0 if model.endswith("I") else 2.0 * len(variances) + 3.0
    return count, np.minimum(variances / n_clusters ** (2 / d), count * within)


def spread_to(variances: np.ndarray, coordinates: Coordinates | ColumnScales, *, diagonal: bool) -> np.ndarray:
    """Return variances of the columns as a covariance in coordinates, or its diagonal."""
    if isinstance(coordinates, ColumnScales):
        inside = variances[coordinates.kept] / np.square(coordinates.scale)
        return inside if diagonal else np.diag(inside)
    return (coordinates.forward.T * variances) @ coordinates.forward


def on_principal_axes(whitened: Coordinates, scales: ColumnScales) -> Coordinates:
    """Return the principal axes of the standardized columns: whitened coordinates with the spread along each axis."""
    root = 1 / np.linalg.norm(whitened.forward * scales.deviation[:, None], axis=0)
    return Coordinates(
        whitened.origin,
        whitened.forward * root,
        whitened.backward / root[:, None],
        whitened.log_jacobian + float(np.log(root).sum()),
    )


class Start(NamedTuple):
    """Clusters of the rows of the sample, or centers in the columns of the table."""

    labels: np.ndarray | None = None
    centers: np.ndarray | None = None


class LabelledTable(NamedTuple):
    """A table in memory with partial labels of its rows, and their contour and pignistic probabilities, (n, c)."""

    table: Table
    labels: PartialLabels
    contour: np.ndarray
    pignistic: np.ndarray

    @classmethod
    def from_partition(cls, rows: ArrayRows, partition: CredalPartition, *, mixing: bool) -> LabelledTable:
        """Return the rows that count, sorted like those of a table without labels."""
        weight = np.ones(len(rows.table)) if rows.weight is None else rows.weight
        used = np.flatnonzero(weight)
        used = used[sorted_rows(rows.table[used])]
        X, share = rows.table[used], weight[used]
        kept = ArrayRows(X, None if rows.weight is None else share, rows.names)
        table = Table(kept, len(X), moments_of(X, kept.weight, mixing), Rows(X, share), True)
        return cls(table, partial_labels_of(partition).take(used), partition.contour[used], partition.pignistic[used])


def partial_labels_of(partition: CredalPartition) -> PartialLabels:
    """Return the different mass functions of a partition; one that is all on the set of all clusters is no label."""
    masses, codes = np.unique(partition.masses, axis=0, return_inverse=True)
    masks, everything = partition.focal_sets.masks, partition.focal_sets.omega_index
    contents = tuple(
        None if everything is not None and row[everything] == 1 else PartialLabel(masks[row > 0], row[row > 0])
        for row in masses
    )
    return PartialLabels(codes.ravel(), contents)


def observe(
    tool: Engine, coordinates: Coordinates | ColumnScales, labels: PartialLabels | None, chunk: Chunk
) -> list[Pattern]:
    """Return a chunk of the table as an engine takes it."""
    if labels is None:
        return tool.observe(chunk.table, chunk.weight, coordinates)
    return [
        pattern._replace(label=label)
        for label, at in labels.take(slice(chunk.first, chunk.first + len(chunk.table))).groups()
        for pattern in tool.observe(chunk.table[at], None if chunk.weight is None else chunk.weight[at], coordinates)
    ]


def fill_missing(Y: np.ndarray) -> np.ndarray:
    """Put zero for what is missing, in place."""
    return np.nan_to_num(Y, copy=False) if np.isnan(Y.sum()) else Y


class SearchTable:
    """The table in the coordinates of each model: patterns of all rows and of samples of them, and starts.

    There are three sizes: a few rows for starts and trials, the sample of a large table, and all rows. A table
    of few rows is all three.
    """

    def __init__(
        self, table: Table, rng: np.random.RandomState, *, standardized: bool, labelled: LabelledTable | None = None
    ):
        self.table, self.total, self.labelled, self.standardized = table, table.total, labelled, standardized
        self.scales = scales = scales_of(table.moments)
        # Columns of equal spread, as k-means needs them.
        self.filled = fill_missing(scales.transform(table.sample.X))
        sample = ArrayRows(table.sample.X, table.sample.weight)
        self.rows = {ALL: table.rows, SAMPLE: table.rows if table.complete else sample}
        self.picked: Any = slice(None)  # rows of the sample for starts and trials
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
        self._coordinates: dict[str, Coordinates | ColumnScales] = {"diag": scales}
        self._few: dict[str, np.ndarray] = {}
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
            prepare = partial(observe, engine(model), self.coordinates(model), self.labels(size))
            self._patterns[key] = Patterns(rows.map_chunks(prepare), self.whole and self.labelled is None)
        return self._patterns[key]

    def labels(self, size: str) -> PartialLabels | None:
        """Return the partial labels of the rows of one size."""
        if self.labelled is None:
            return None
        return self.labelled.labels if self.is_all(size) else self.labelled.labels.take(self.picked)

    def engine(self, model: str, n_clusters: int, within: np.ndarray | float, settings: SearchSettings) -> Engine:
        """Return the engine of a model, whose prior expects clusters no wider than ``within``.

        ``within`` are variances in those of the columns, from :meth:`variances_within`.
        """
        coordinates, diagonal = self.coordinates(model), model.endswith("I")
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
                count, variances[variances > 0] = data_prior(model, kept, n_clusters, kept * within)
            else:
                variances = settings.prior
                count, _ = data_prior(model, variances, 1)
            prior = Prior(count, spread_to(variances, coordinates, diagonal=diagonal))
        ridge = 0.0 if settings.ridge is None else spread_to(settings.ridge, coordinates, diagonal=diagonal)
        floor = Floor(settings.reg_covar, reference if diagonal else np.diag(reference))
        return engine(model, prior, floor, ridge, spread_to(settings.rounding, coordinates, diagonal=diagonal))

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

    def log_likelihood(self, run: Run, tool: Engine, size: str) -> float:
        """Return that of the rows of one size, in the units of the table, without the priors."""
        return tool.cost(run.state) - self.weight_of(size) * run.objective + self.gain(tool.model, size)

    def merge_trees(self, n_trees: int) -> list[MergeTree]:
        """Return merge trees of a few rows."""
        return start_trees(self.filled[self.picked], self.few_weight, n_trees)

    def starts(
        self, n_clusters: int, init: Any, n_init: int, trees: list[MergeTree], rng: np.random.RandomState
    ) -> Iterator[Start]:
        """Yield clusters to begin from; with partial labels, numbered as there."""
        if not isinstance(init, str):
            yield Start(centers=init)
            return
        if self.labelled is not None:
            yield from self._labelled_centers()
        starts: list[Start] = [Start(labels=tree.labels(n_clusters)) for tree in trees]
        if n_init > len(trees):
            rule = START_RULES["k-means" if init == "hierarchical" else init]
            centers = rule(self.filled, n_clusters, n_init - len(trees), rng, self.table.sample.weight)
            starts += [Start(centers=self.scales.inverse_transform(own)) for own in centers]
        yield from starts if self.labelled is None else map(self._renumber, starts)

    def variances_within(self, n_clusters: int, starts: list[Start], settings: SearchSettings) -> np.ndarray | float:
        """Return the variances within the clusters of the tightest start, in those of the columns; or infinity.

        Of clusters far apart the scale of Fraley and Raftery is many times their width. One covariance for all hardly
        feels it, each of its own does, and so likelihood alone would prefer more clusters of one shape.
        """
        if n_clusters == 1 or not isinstance(settings.prior, str):  # a prior that is given, or none, stays
            return np.inf
        Y, weight = self.filled[self.picked], self.few_weight
        seen = np.ones((len(Y), 1))
        if not self.whole:
            seen = ~np.isnan(self.table.sample.X[self.picked][:, self.scales.kept])
        degrees = weight @ seen - n_clusters
        squares, sums = weight @ np.square(Y), []
        for start in starts:
            labels = start.labels
            if start.centers is not None:
                labels = pairwise_distances_argmin(Y, self.scales.transform(start.centers))
            member = np.eye(n_clusters)[labels] * weight[:, None]
            size = member.T @ seen
            sums.append(squares - (np.square(member.T @ Y) / np.where(size > 0, size, 1)).sum(axis=0))
        tightest = min(sums, key=lambda own: own.sum())
        within = tightest / np.where(degrees > 0, degrees, 1)
        return np.where((degrees > 0) & (within > COPIES), within, np.inf)

    def _labelled_centers(self) -> Iterator[Start]:
        """Yield means of the labelled objects, if each cluster has one that is rather there than elsewhere."""
        assert self.labelled is not None
        share = self.labelled.pignistic
        share = np.where(share > 0.5, share, 0) * self.table.sample.weight[:, None]
        if share.any(axis=0).all():
            yield Start(centers=self.scales.inverse_transform(share.T @ self.filled / share.sum(axis=0)[:, None]))

    def _renumber(self, start: Start) -> Start:
        """Return a start whose clusters have the numbers that agree best with the plausibilities of the labels."""
        assert self.labelled is not None
        contour, weight = self.labelled.contour, self.table.sample.weight
        if start.centers is None:
            assert start.labels is not None
            member = np.eye(contour.shape[1])[start.labels] * self.few_weight[:, None]
            centers = member.T @ self.filled[self.picked] / member.sum(axis=0)[:, None]
        else:
            centers = self.scales.transform(start.centers)
        labelled = np.flatnonzero(contour.min(axis=1) < 1)
        nearest = np.eye(contour.shape[1])[pairwise_distances_argmin(self.filled[labelled], centers)]
        new = linear_sum_assignment(nearest.T @ (weight[labelled, None] * contour[labelled]), maximize=True)[1]
        if start.centers is None:
            return Start(labels=new[start.labels])
        return Start(centers=start.centers[np.argsort(new)])

    def begin(self, tool: Engine, start: Start, focal_sets: FocalSets) -> Parameters:
        """Return means and covariances within the clusters of the sample; all sets are equally probable (section 3.4).

        One covariance for all begins at the average of those of the clusters where means were given, as in the paper,
        and at that of all objects about their means where labels were.
        """
        model, c = tool.model, focal_sets.n_clusters
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
            first = Bound(np.ones(1), None, within[None]).minimize(model, within[None])[0]
            return Parameters(weights, centers, tool.constrain(first)[None])
        # A cluster of few rows has no shape of its own yet: as much of the whole as one object is mixed in.
        assert tool.floor is not None
        scatter = scatter + tool.floor.reference
        first = scatter / (size + 1).reshape(-1, *[1] * (scatter.ndim - 1))
        return Parameters(weights, centers, Bound(size + 1, None, scatter).minimize(model, first))
