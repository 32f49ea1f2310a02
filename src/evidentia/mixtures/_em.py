r"""EM for Gaussian mixtures over sets of clusters, for any of the fourteen covariance models.

Every focal set A is a component: its mean is the barycenter of the means of its clusters, its covariance the mean of
their covariances. With single clusters alone this is the ordinary Gaussian mixture. :func:`em` is the algorithm; an
:class:`Engine` has its two steps for a covariance model. The E-step gives statistics that add up over pieces of the
table, wherever the rows are kept; the M-step takes their sum to the next parameters.

There are two engines. Where all clusters have the same covariance, log densities are linear in a row but for a term
that all components share, so that an E-step is two products and one exponential; else they are linear in the row and
its squares. Diagonal models keep variances only, (c, d) in place of (c, d, d). Equation numbers are those of the paper
on EGMM.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from evidentia.mixtures._covariances import Bound, Floor, Prior, bound
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import MappedRows
from evidentia.solvers.barycentric import solve_centers, solve_semidefinite
from evidentia.solvers.compiling import compiled
from evidentia.solvers.coordinates import ColumnScales, Coordinates
from evidentia.solvers.descent import LARGEST_LOG, RISE, Guesses, Run, Vectors, Watch, exponentials, logarithms
from evidentia.solvers.posterior_sums import BLOCK, NEVER, in_blocks, posteriors, statistics
from evidentia.solvers.small_matrices import invert

SHARED = ("EII", "EEI", "EEE")
ROTATED = ("EVE", "VVE", "EEV", "VEV")  # orientations are shared, or shapes are while orientations differ
LATE = 1e-4  # gain of an iteration, per object, below which the next ones are guessed
COPIES = 1e-6  # of a variance, within clusters: no more is no width, but values that are equal
NOTHING_LEFT = 1e-14  # of all objects: a cluster that holds less says nothing about its covariance
SMALLEST_SIZE = 0.5  # objects: a cluster that holds less has vanished
LOG_2PI = float(np.log(2 * np.pi))


class Parameters(NamedTuple):
    """Mixing probabilities of the focal sets, means (c, d) and covariances of the clusters.

    Covariances are (c, d, d), or variances (c, d) of diagonal models; one line, not c, when all clusters share them.
    """

    weights: np.ndarray
    centers: np.ndarray
    covariances: np.ndarray

    def reorder(self, sets: np.ndarray, clusters: np.ndarray) -> Parameters:
        """Sets and clusters in another order, by their old numbers."""
        within = self.covariances if len(self.covariances) == 1 else self.covariances[clusters]
        return Parameters(self.weights[sets], self.centers[clusters], within)


class PartialLabel(NamedTuple):
    """A mass function about the cluster of an object: masses of some sets of clusters, none of them empty."""

    masks: np.ndarray
    masses: np.ndarray

    def weigh(self, parameters: Parameters, average: np.ndarray) -> Parameters:
        r"""Return parameters whose mixing probabilities are multiplied by the commonalities of the sets.

        .. math:: q(A) = \sum_{B \supseteq A} m(B)

        The class of an object is a set A. If its cluster is known to be in B, its class is a set within B: a mass
        function about clusters is one over families of sets, and q(A) is the plausibility of class A.
        """
        sets = (average > 0) @ (1 << np.arange(average.shape[1], dtype=np.int64))
        inside = (sets[:, None] & ~self.masks) == 0
        return parameters._replace(weights=parameters.weights * (inside @ self.masses))


class PartialLabels(NamedTuple):
    """Partial labels of some rows: which of the different ``contents`` each row has; None is no label."""

    codes: np.ndarray
    contents: tuple[PartialLabel | None, ...]

    def take(self, rows: Any) -> PartialLabels:
        return self._replace(codes=self.codes[rows])

    def groups(self) -> Iterator[tuple[PartialLabel | None, np.ndarray]]:
        """Yield the rows that share a partial label."""
        order = np.argsort(self.codes, kind="stable")
        present, starts = np.unique(self.codes[order], return_index=True)
        for code, rows in zip(present, np.split(order, starts[1:])):
            yield self.contents[code], rows


class Pattern(NamedTuple):
    """Rows with the same observed columns and the same partial label; complete data are one pattern."""

    observed: np.ndarray
    blocks: np.ndarray  # of the observed columns, from solvers.posterior_sums.in_blocks
    n_rows: int
    weight: np.ndarray | None
    turn: np.ndarray | None = None  # coordinates are x @ turn; None: x itself
    label: PartialLabel | None = None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def second(self, diagonal: bool) -> np.ndarray:
        """Sum of x x^T in coordinates, or of the squares."""
        width = self.blocks.shape[1] if self.turn is None else self.turn.shape[1]
        sums = np.zeros(width if diagonal else (width, width))
        for at, block in enumerate(self.blocks[:, :, :BLOCK]):
            columns = block if self.turn is None else self.turn.T @ block
            weighted = columns
            if self.weight is not None:
                weight = self.weight[at * BLOCK : (at + 1) * BLOCK]
                columns = columns[:, : len(weight)]
                weighted = columns * weight
            sums += np.einsum("ji,ji->j", columns, weighted) if diagonal else columns @ weighted.T
        return sums


class LinearScores(NamedTuple):
    """Component scores as linear functions of a row, see :func:`linear_scores`."""

    coefficients: np.ndarray
    precision: np.ndarray
    normalizer: float


def log_weights(weights: np.ndarray) -> np.ndarray:
    """Logarithms of mixing probabilities; ``NEVER`` for zero."""
    dead = weights == 0
    return np.where(dead, NEVER, np.log(weights + dead))


def linear_scores(weights: np.ndarray, centers: np.ndarray, covariance: np.ndarray) -> LinearScores:
    r"""Coefficients :math:`w_j` of the linear part of :math:`\log \pi_j N(x; \mu_j, \Sigma)`.

    .. math::
        \log \pi_j N(x; \mu_j, \Sigma) = w_j \cdot (x, 1) - \tfrac12 x^T \Sigma^{-1} x + \text{normalizer}

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
    centers : ndarray of shape (n_components, n_features)
    covariance : ndarray of shape (n_features, n_features) or (n_features,)
        The latter are variances.

    Returns
    -------
    coefficients : ndarray of shape (n_components, n_features + 1)
        A component of weight zero has the score ``NEVER`` everywhere.
    precision : ndarray of the shape of the covariance
    normalizer : float
    """
    if covariance.ndim == 1:
        precision, log_det = 1 / covariance, np.log(covariance).sum()
        slopes = centers * precision
    else:
        precision, log_det = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        slopes = centers @ precision
    intercepts = log_weights(weights)
    dead = intercepts == NEVER
    intercepts -= 0.5 * (slopes * centers).sum(axis=1)
    if dead.any():
        slopes[dead], intercepts[dead] = 0, NEVER
    normalizer = -0.5 * (len(covariance) * np.log(2 * np.pi) + log_det)
    return LinearScores(np.column_stack([slopes, intercepts]), precision, float(normalizer))


class Layout(NamedTuple):
    """How rows are laid out: coordinates are ``(part - origin) * factor @ turn``, without what is None."""

    part: np.ndarray
    origin: np.ndarray | None = None
    factor: np.ndarray | None = None
    turn: np.ndarray | None = None


class Patterns:
    """Rows as the engines take them, each chunk a list of patterns.

    Of rows without missing entries the second moment about the origin is the same in every pass; where all clusters
    share a covariance it is all that squares of the rows are needed for, so it is kept after the first pass.
    """

    def __init__(self, rows: MappedRows, complete: bool):
        self.rows, self.complete = rows, complete
        self.second: np.ndarray | None = None


class Statistics(NamedTuple):
    """What the M-step needs: size N, sum T and second moment S, of each set or of all; and the log-likelihood."""

    size: np.ndarray
    sum: np.ndarray
    second: np.ndarray
    log_likelihood: float

    def __add__(self, other: Statistics) -> Statistics:  # type: ignore[override]
        return Statistics(
            self.size + other.size,
            self.sum + other.sum,
            self.second + other.second,
            self.log_likelihood + other.log_likelihood,
        )


def reweigh(roots: np.ndarray, like: Parameters) -> Parameters:
    """Parameters with other mixing probabilities, from their square roots."""
    return like._replace(weights=np.square(roots) / np.square(roots).sum())


WEIGHTS = Vectors(lambda state: np.sqrt(state.weights), reweigh, np.inf)  # alone they have one maximum


# -- the algorithm -----------------------------------------------------------------------------------------------------


def em(
    engine: Engine,
    rows: Patterns,
    average: np.ndarray,
    total: float,
    start: Parameters,
    watch: Watch,
    *,
    tol: float,
    max_iter: int,
) -> Run:
    r"""Fit the mixture by EM from one start.

    Starting from parameters :math:`\theta`, repeat until the criterion, the log-likelihood with the log density of the
    prior, rises by no more than ``tol`` per object:

    - E-step: the masses :math:`m_i(A)` of the rows (23), of which the sums over the rows are kept;
    - M-step: mixing probabilities, means and covariances from these sums, (25) to (29).

    Late steps of single clusters are also tried farther ahead (:mod:`evidentia.solvers.descent`); with larger sets
    a likelihood has many maxima near each other, and a longer step may lead to another one. A step by which rounding
    makes the criterion fall is taken back and is the last. An interrupt keeps the last complete state.

    Parameters
    ----------
    engine : Engine
        The steps of the covariance model.
    rows : Patterns
    average : ndarray of shape (f, c)
        Rows 1/|A| on the members of each set.
    total : float
        Sum of the weights of the rows.
    start : Parameters
    watch : callable
        Is called with the iteration and minus the mean criterion.
    tol, max_iter
        As of EGMM; ``tol=0`` asks for that many iterations.
    """
    vectors = engine.vectors() if tol and len(average) == average.shape[1] else None
    guesses = Guesses(vectors) if vectors else None
    trace: list[float] = []
    state = kept = plain = start
    converged = guessed = False
    try:
        while len(trace) <= max_iter:
            sums = engine.gather(rows, state, average)  # E-step
            objective = (engine.cost(state) - sums.log_likelihood) / total
            following = engine.m_step(sums, state, average)  # M-step
            if guessed and guesses:
                guessed = False
                better = guesses.judge(trace[-1] - objective, tol if converged else 0.0)
                if converged and not better:
                    break
                if better:
                    kept, plain, converged = state, following, False
                    guesses.remember(kept, following)
                    trace.append(objective)
                    watch(len(trace) - 1, objective)
                state = plain
                continue
            before, kept, state = kept, state, following
            trace.append(objective)
            watch(len(trace) - 1, objective)
            if len(trace) == 1:
                continue
            gain = trace[-2] - objective
            if gain < -RISE * abs(objective):
                trace.pop()
                return Run(before, np.array(trace), True)
            converged = bool(gain <= tol)
            if guesses and len(trace) < max_iter:
                guess = guesses.after_plain(gain, 1.0, kept, following, resting=converged)
                if guess is not None:
                    plain, state, guessed = following, guess, True
                    continue
            if converged:
                break
    except KeyboardInterrupt:
        if not trace:
            raise
        return Run(kept, np.array(trace), converged, interrupted=True)
    return Run(kept, np.array(trace), converged)


def best_first(runs: list[Run], engine: Engine, average: np.ndarray, total: float) -> list[Run]:
    """Return runs by their criterion, the best first, collapsed ones last."""
    return sorted(runs, key=lambda run: (engine.collapsed(run.state, average, total), run.objective))


def missing_patterns(Y: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
    """``(observed columns, rows)`` for every pattern of missing entries; complete rows need no search."""
    if not np.isnan(Y.sum()):
        yield np.arange(Y.shape[1]), slice(None)
        return
    missing, which = np.unique(np.isnan(Y), axis=0, return_inverse=True)
    for pattern, row in enumerate(missing):
        yield np.flatnonzero(~row), np.flatnonzero(which.ravel() == pattern)


def take_observed(Y: np.ndarray, observed: np.ndarray, rows: Any) -> np.ndarray:
    """Entries of a pattern of missing ones; complete rows need no copy."""
    return Y[rows] if len(observed) == Y.shape[1] else Y[rows][:, observed]


def patterns_of(
    Y: np.ndarray, labels: PartialLabels | None, parameters: Parameters, average: np.ndarray
) -> Iterator[tuple[Parameters, np.ndarray, np.ndarray, Any]]:
    """The parameters, entries, observed columns and rows of every pattern of missing entries and of labels."""
    if labels is None:
        for observed, rows in missing_patterns(Y):
            yield parameters, take_observed(Y, observed, rows), observed, rows
        return
    for label, at in labels.groups():
        state = parameters if label is None else label.weigh(parameters, average)
        for observed, rows in missing_patterns(Y[at]):
            yield state, take_observed(Y, observed, at[rows]), observed, at[rows]


@dataclass(frozen=True, eq=False)
class Engine(ABC):
    """The steps of EM for a covariance model, from patterns of rows and the sets that ``average`` describes.

    ``average`` has the shape (f, c), with 1/|A| on the members of each set. A row is known up to a ``blur``, the
    covariance of where it may lie: log densities are expected ones, and second moments hold it once for each row.
    """

    model: str
    prior: Prior | None = None
    floor: Floor | None = None
    ridge: Any = 0.0
    blur: np.ndarray = field(default_factory=lambda: np.zeros(()))  # (d, d), (d,) for diagonal models, or zero
    in_doubt: np.ndarray | None = None  # objects that a prior gives to each set

    @property
    def diagonal(self) -> bool:
        """Whether the model knows variances only."""
        return self.model.endswith("I")

    def with_doubt(self, in_doubt: np.ndarray) -> Engine:
        """Return the engine with so many objects as the prior of each set."""
        return replace(self, in_doubt=in_doubt)

    def observe(
        self, X: np.ndarray, weight: np.ndarray | None = None, coordinates: Coordinates | ColumnScales | None = None
    ) -> list[Pattern]:
        """Rows in coordinates, grouped by which of their entries are there (NaN is not)."""
        part, origin, factor, turn = self._lay_out(X, coordinates)
        patterns = []
        for seen, chosen in missing_patterns(part):
            rows = take_observed(part, seen, chosen)
            blocks = in_blocks(rows, None if origin is None else origin[seen], None if factor is None else factor[seen])
            patterns.append(Pattern(seen, blocks, len(rows), None if weight is None else weight[chosen], turn))
        return patterns

    def _lay_out(self, X: np.ndarray, coordinates: Coordinates | ColumnScales | None) -> Layout:
        """Columns that are used, what is taken from them and what they are multiplied by, and what turns them."""
        if isinstance(coordinates, Coordinates):
            return Layout(coordinates.transform(X))
        if coordinates is None:
            return Layout(X)
        kept = coordinates.kept
        part = X if len(kept) == X.shape[1] else X[:, kept]
        return Layout(part, coordinates.origin[kept], 1 / coordinates.scale)

    def gather(self, rows: Patterns, parameters: Parameters, average: np.ndarray) -> Statistics:
        """Statistics of all rows."""
        return reduce_rows(self.e_steps, rows.rows, parameters, average)

    def e_steps(self, patterns: list[Pattern], parameters: Parameters, average: np.ndarray) -> Statistics:
        """Statistics of some patterns; the log-likelihood is the generalized one where something is known."""

        def sums_of(pattern: Pattern) -> Statistics:
            label = pattern.label
            return self.e_step(pattern, parameters if label is None else label.weigh(parameters, average), average)

        return reduce(operator.add, map(sums_of, patterns))

    def blur_of(self, observed: np.ndarray) -> np.ndarray:
        """The blur of some columns."""
        if self.blur.ndim == 0:
            return self.blur
        return self.blur[observed] if self.diagonal else self.blur[np.ix_(observed, observed)]

    def cost(self, parameters: Parameters) -> float:
        """Minus the log density of the priors, up to a constant."""
        cost = self.prior.cost(parameters.covariances) if self.prior else 0.0
        if self.in_doubt is not None:
            given = self.in_doubt > 0
            cost -= float(self.in_doubt[given] @ np.log(parameters.weights[given]))
        return cost

    def weigh(self, size: np.ndarray) -> np.ndarray:
        """Mixing probabilities (25)."""
        size = size if self.in_doubt is None else size + self.in_doubt
        return size / size.sum()

    @abstractmethod
    def e_step(self, pattern: Pattern, parameters: Parameters, average: np.ndarray) -> Statistics:
        """Expected statistics of the complete data (23), and the log-likelihood (18), for one pattern.

        What is missing enters by its mean and covariance given what is observed and the component.
        """

    @abstractmethod
    def m_step(self, sums: Statistics, previous: Parameters, average: np.ndarray) -> Parameters:
        """Parameters that raise the expected log-likelihood: (25) to (29)."""

    @abstractmethod
    def evaluate(
        self, seen: np.ndarray, observed: np.ndarray, parameters: Parameters, average: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Masses (23) and log densities (17) of rows, from the columns that are observed."""

    def vectors(self) -> Vectors | None:
        """Parameters as vectors for :func:`evidentia.solvers.descent.descend`; None if that is not possible.

        Square roots of mixing probabilities, means, logarithms of covariances. Sums of logarithms keep volumes and
        shapes that are equal or trivial, but not orientations that clusters share, or shapes where these differ.
        """
        if self.model in ROTATED or np.any(self.ridge):
            return None

        def flatten(state: Parameters) -> np.ndarray:
            logs = np.log(state.covariances) if self.diagonal else logarithms(state.covariances)
            return np.concatenate([np.sqrt(state.weights), state.centers.ravel(), logs.ravel()])

        def restore(vector: np.ndarray, like: Parameters) -> Parameters | None:
            roots, centers, logs = np.split(vector, np.cumsum([like.weights.size, like.centers.size]))
            logs = logs.reshape(like.covariances.shape)
            covariances = np.exp(np.minimum(logs, LARGEST_LOG)) if self.diagonal else exponentials(logs)
            if covariances is None or (self.floor and self.floor.reached(covariances)):
                return None
            weights = np.square(roots)
            return Parameters(weights / weights.sum(), centers.reshape(like.centers.shape), covariances)

        return Vectors(flatten, restore, LATE)

    def constrain(self, covariance: np.ndarray) -> np.ndarray:
        """Return the covariance above the floor, with the ridge."""
        return (self.floor.raise_to(covariance) if self.floor else covariance) + self.ridge

    def collapsed(self, parameters: Parameters, average: np.ndarray, total: float) -> bool:
        """Whether a cluster vanished or its covariance fell to the floor."""
        smallest = float((parameters.weights @ average).min())
        return bool(smallest * total < SMALLEST_SIZE) or (
            self.floor is not None and self.floor.reached(parameters.covariances)
        )


@dataclass(frozen=True, eq=False)
class SharedEngine(Engine):
    """One covariance for all clusters, and so for all sets (EII, EEI, EEE): the mixture of the paper.

    Scores are linear in the rows, so that rows need not be turned into coordinates: coefficients and sums are.
    """

    def _lay_out(self, X: np.ndarray, coordinates: Coordinates | ColumnScales | None) -> Layout:
        if not isinstance(coordinates, Coordinates):
            return super()._lay_out(X, coordinates)
        return Layout(X, coordinates.origin, turn=coordinates.forward)

    def gather(self, rows: Patterns, parameters: Parameters, average: np.ndarray) -> Statistics:
        if not rows.complete:
            return super().gather(rows, parameters, average)
        scores = linear_scores(parameters.weights, average @ parameters.centers, parameters.covariances[0])
        sums = reduce_rows(self.linear_sums, rows.rows, scores, rows.second is None)
        if rows.second is None:
            rows.second = sums.second
        second = rows.second + sums.size.sum() * self.blur
        squares = 0.5 * float((scores.precision * second).sum())
        return sums._replace(second=second, log_likelihood=sums.log_likelihood - squares)

    def linear_sums(self, patterns: list[Pattern], scores: LinearScores, squares: bool) -> Statistics:
        """Statistics of complete rows, with the second moment if asked; the log-likelihood lacks what that adds."""
        (pattern,) = patterns
        sums = self._sums(pattern, scores)
        return sums._replace(second=pattern.second(self.diagonal)) if squares else sums

    def _sums(self, pattern: Pattern, scores: LinearScores) -> Statistics:
        """Sizes and sums of the observed columns; no second moment, and the log-likelihood without it."""
        coefficients, turn = scores.coefficients, pattern.turn
        if turn is not None:
            coefficients = np.column_stack([coefficients[:, :-1] @ turn.T, coefficients[:, -1]])
        size, total_sum, log_likelihood = statistics(pattern.blocks, pattern.n_rows, coefficients, pattern.weight)
        log_likelihood += pattern.total * scores.normalizer
        return Statistics(size, total_sum if turn is None else total_sum @ turn, np.empty(0), log_likelihood)

    def e_step(self, pattern: Pattern, parameters: Parameters, average: np.ndarray) -> Statistics:
        set_centers, covariance = average @ parameters.centers, parameters.covariances[0]
        complete = pattern.turn is not None or len(pattern.observed) == len(covariance)
        o = np.arange(len(covariance)) if complete else pattern.observed
        within = covariance if complete else covariance[o] if self.diagonal else covariance[np.ix_(o, o)]
        scores = linear_scores(parameters.weights, set_centers[:, o], within)
        seen_second = pattern.second(self.diagonal) + pattern.total * self.blur_of(o)
        size, seen_sum, _, log_likelihood = self._sums(pattern, scores)
        log_likelihood -= 0.5 * float((scores.precision * seen_second).sum())
        if complete:
            return Statistics(size, seen_sum, seen_second, log_likelihood)
        u = np.setdiff1d(np.arange(len(covariance)), o)
        total_sum, second = np.empty_like(set_centers), np.empty_like(covariance)
        total_sum[:, o] = seen_sum
        if self.diagonal:
            total_sum[:, u] = size[:, None] * set_centers[:, u]
            second[o] = seen_second
            second[u] = pattern.total * covariance[u] + size @ np.square(set_centers[:, u])
            return Statistics(size, total_sum, second, log_likelihood)
        regression = covariance[np.ix_(u, o)] @ scores.precision  # E[x_u | x_o, j] = shift_j + regression x_o
        shift = set_centers[:, u] - set_centers[:, o] @ regression.T
        total_sum[:, u] = size[:, None] * shift + seen_sum @ regression.T
        second[np.ix_(o, o)] = seen_second
        cross = shift.T @ seen_sum + regression @ seen_second
        second[np.ix_(u, o)], second[np.ix_(o, u)] = cross, cross.T
        given = covariance[np.ix_(u, u)] - regression @ covariance[np.ix_(o, u)]
        mixed = shift.T @ seen_sum @ regression.T
        second[np.ix_(u, u)] = (
            pattern.total * given
            + shift.T @ (size[:, None] * shift)
            + mixed
            + mixed.T
            + regression @ seen_second @ regression.T
        )
        return Statistics(size, total_sum, second, log_likelihood)

    def m_step(self, sums: Statistics, previous: Parameters, average: np.ndarray) -> Parameters:
        total = sums.size.sum()
        centers = solve_centers(sums.size, sums.sum, average, previous.centers)
        set_centers = average @ centers
        if self.diagonal:
            scatter = sums.second - 2 * (sums.sum * set_centers).sum(axis=0) + sums.size @ np.square(set_centers)
        else:
            cross = sums.sum.T @ set_centers
            scatter = sums.second - cross - cross.T + set_centers.T @ (sums.size[:, None] * set_centers)
        if self.prior:
            scatter, total = scatter + self.prior.scale, total + self.prior.objects
        pooled = Bound(np.array([total]), None, scatter[None]).minimize(self.model, previous.covariances)
        return Parameters(self.weigh(sums.size), centers, self.constrain(pooled[0])[None])

    def evaluate(
        self, seen: np.ndarray, observed: np.ndarray, parameters: Parameters, average: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        covariance = parameters.covariances[0]
        within = covariance[observed] if self.diagonal else covariance[np.ix_(observed, observed)]
        scores = linear_scores(parameters.weights, average @ parameters.centers[:, observed], within)
        masses, linear = posteriors(seen, scores.coefficients)
        if self.diagonal:
            squares = np.square(seen) @ scores.precision
        else:
            squares = np.einsum("ip,pq,iq->i", seen, scores.precision, seen, optimize=True)
        return masses, linear + scores.normalizer - 0.5 * (squares + (scores.precision * self.blur_of(observed)).sum())


def complete_sums(patterns: list[Pattern], theta: np.ndarray) -> Statistics:
    """Statistics of complete rows; second moments are squares of columns, or products of all pairs of them."""
    (pattern,) = patterns
    size, sums, log_likelihood = statistics(pattern.blocks, pattern.n_rows, theta, pattern.weight)
    d = pattern.blocks.shape[1]
    return Statistics(size, sums[:, :d], sums[:, d:], log_likelihood)


@dataclass(frozen=True, eq=False)
class OwnEngine(Engine):
    """Covariances that differ between clusters: those of sets are means of them (the paper's future work)."""

    def _set_parameters(self, parameters: Parameters, average: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centers and covariances of the sets."""
        return average @ parameters.centers, np.tensordot(average, parameters.covariances, axes=1)

    def _coefficients(
        self, weights: np.ndarray, centers: np.ndarray, covariances: np.ndarray, blur: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the features in the joint log densities of the sets, and precisions."""
        constant = log_weights(weights) - 0.5 * centers.shape[1] * LOG_2PI
        if self.diagonal:
            precisions, log_det = 1 / covariances, np.log(covariances).sum(axis=1)
            slopes = centers * precisions
            level = constant - 0.5 * (log_det + (slopes * centers).sum(axis=1))
            theta = np.hstack([slopes, -0.5 * precisions, level[:, None]])
        else:
            precisions, log_det = invert(np.ascontiguousarray(covariances))
            theta = quadratic_coefficients(constant, centers, precisions, log_det)[0]
        theta[:, -1] -= 0.5 * (precisions * blur).reshape(len(precisions), -1).sum(axis=1)
        if not weights.all():
            theta[weights == 0] = 0
            theta[weights == 0, -1] = log_weights(weights)[weights == 0]
        return theta, precisions

    def gather(self, rows: Patterns, parameters: Parameters, average: np.ndarray) -> Statistics:
        if not rows.complete:
            return super().gather(rows, parameters, average)
        of_sets = self._set_parameters(parameters, average)
        theta, _ = self._coefficients(parameters.weights, *of_sets, self.blur)  # once for all chunks
        sums = reduce_rows(complete_sums, rows.rows, theta)
        return sums._replace(second=self._second(sums.size, sums.second, np.arange(parameters.centers.shape[1])))

    def e_step(self, pattern: Pattern, parameters: Parameters, average: np.ndarray) -> Statistics:
        o, d = pattern.observed, parameters.centers.shape[1]
        centers, covariances = self._set_parameters(parameters, average)
        within = covariances[:, o] if self.diagonal else covariances[:, o[:, None], o]
        theta, precisions = self._coefficients(parameters.weights, centers[:, o], within, self.blur_of(o))
        size, sums, log_likelihood = statistics(pattern.blocks, pattern.n_rows, theta, pattern.weight)
        seen = Statistics(size, sums[:, : len(o)], self._second(size, sums[:, len(o) :], o), log_likelihood)
        return seen if len(o) == d else self._complete(seen, o, centers, covariances, precisions)

    def _second(self, size: np.ndarray, squares: np.ndarray, observed: np.ndarray) -> np.ndarray:
        """Second moments (f, d, d) from upper triangles, or (f, d) of diagonal models, with the blur of each row."""
        if self.diagonal:
            return squares + size[:, None] * self.blur_of(observed)
        d = len(observed)
        low, high = np.triu_indices(d)
        second = np.empty((len(squares), d, d))
        second[:, low, high] = second[:, high, low] = squares
        return second + size[:, None, None] * self.blur_of(observed)

    def _complete(
        self, seen: Statistics, o: np.ndarray, centers: np.ndarray, covariances: np.ndarray, precisions: np.ndarray
    ) -> Statistics:
        """Add what is expected of the missing entries, given the component and the observed ones."""
        size, u = seen.size, np.setdiff1d(np.arange(centers.shape[1]), o)
        total_sum, second = np.empty_like(centers), np.empty_like(covariances)
        total_sum[:, o] = seen.sum
        if self.diagonal:
            total_sum[:, u] = size[:, None] * centers[:, u]
            second[:, o] = seen.second
            second[:, u] = size[:, None] * (covariances[:, u] + np.square(centers[:, u]))
            return Statistics(size, total_sum, second, seen.log_likelihood)
        regression = covariances[:, u[:, None], o] @ precisions  # E[x_u | x_o, A] = shift_A + regression_A x_o
        shift = centers[:, u] - np.einsum("auo,ao->au", regression, centers[:, o])
        linear = np.einsum("auo,ao->au", regression, seen.sum)
        total_sum[:, u] = size[:, None] * shift + linear
        cross = shift[:, :, None] * seen.sum[:, None, :] + regression @ seen.second
        given = covariances[:, u[:, None], u] - regression @ covariances[:, o[:, None], u]
        mixed = shift[:, :, None] * linear[:, None, :]
        second[:, o[:, None], o] = seen.second
        second[:, u[:, None], o], second[:, o[:, None], u] = cross, cross.swapaxes(1, 2)
        second[:, u[:, None], u] = (
            size[:, None, None] * (given + shift[:, :, None] * shift[:, None, :])
            + mixed
            + mixed.swapaxes(1, 2)
            + regression @ seen.second @ regression.swapaxes(1, 2)
        )
        return Statistics(size, total_sum, second, seen.log_likelihood)

    def m_step(self, sums: Statistics, previous: Parameters, average: np.ndarray) -> Parameters:
        """Means by a linear system, then covariances by a step that lowers a bound of the criterion."""
        weights, precisions = self.weigh(sums.size), None
        if (average.max(axis=1) < 1).any():  # a set of several clusters
            covariances = self._set_parameters(previous, average)[1]
            precisions = 1 / covariances if self.diagonal else invert(np.ascontiguousarray(covariances))[0]
        centers = self._centers(sums, previous.centers, average, precisions)
        mean = average @ centers
        if self.diagonal:
            scatter = sums.second - 2 * sums.sum * mean + sums.size[:, None] * np.square(mean)
        else:
            cross = sums.sum[:, :, None] * mean[:, None, :]
            outer = mean[:, :, None] * mean[:, None, :]
            scatter = sums.second - cross - cross.swapaxes(1, 2) + sums.size[:, None, None] * outer
        problem = bound(average, sums.size, scatter, previous.covariances, precisions)
        if self.prior:
            problem = problem._replace(
                size=problem.size + self.prior.objects, scatter=problem.scatter + self.prior.scale
            )
        if self.floor:  # a scatter is never singular
            problem = problem._replace(scatter=problem.scatter + self.floor.level * self.floor.reference)
        if not self.prior:
            lost = average.T @ sums.size <= NOTHING_LEFT * sums.size.sum()
            problem = problem.keep(np.flatnonzero(lost), NOTHING_LEFT * sums.size.sum(), previous.covariances)
        return Parameters(weights, centers, problem.minimize(self.model, previous.covariances))

    def _centers(
        self, sums: Statistics, previous: np.ndarray, average: np.ndarray, precisions: np.ndarray | None
    ) -> np.ndarray:
        """Means of the clusters: generalized least squares, as the precisions of the sets weigh their residuals."""
        size, (c, d) = sums.size, previous.shape
        if precisions is None:  # single clusters: each mean is its own, and stays where nothing is left
            own = (average.T @ size)[:, None]
            return np.where(own > 0, average.T @ sums.sum / np.where(own > 0, own, 1), previous)
        if average.shape == (c, c) and size.all():
            return np.linalg.inv(average) @ (sums.sum / size[:, None])
        residual = sums.sum - size[:, None] * (average @ previous)
        pairs = (size[:, None] * average)[:, :, None] * average[:, None, :]
        if self.diagonal:
            gram = np.einsum("akl,aj->jkl", pairs, precisions)
            right = np.einsum("ak,aj->jk", average, precisions * residual)
            return previous + (np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ right[:, :, None])[:, :, 0].T
        gram = np.einsum("akl,apq->kplq", pairs, precisions, optimize=True).reshape(c * d, c * d)
        right = (average.T @ np.einsum("apq,aq->ap", precisions, residual)).reshape(c * d, 1)
        try:
            move = cho_solve(cho_factor(gram), right)
        except LinAlgError:  # a cluster that lost all its objects stays where it is
            move = solve_semidefinite(gram, right)
        return previous + move.reshape(c, d)

    def evaluate(
        self, seen: np.ndarray, observed: np.ndarray, parameters: Parameters, average: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        centers, covariances = self._set_parameters(parameters, average)
        within = covariances[:, observed] if self.diagonal else covariances[:, observed[:, None], observed]
        theta, _ = self._coefficients(parameters.weights, centers[:, observed], within, self.blur_of(observed))
        return posteriors(seen, theta)


def engine(
    model: str, prior: Prior | None = None, floor: Floor | None = None, ridge: Any = 0.0, blur: Any = 0.0
) -> Engine:
    """Return the engine of a covariance model."""
    return (SharedEngine if model in SHARED else OwnEngine)(model, prior, floor, ridge, np.asarray(blur, dtype=float))


@compiled
def quadratic_coefficients(
    constant: np.ndarray, centers: np.ndarray, precision: np.ndarray, log_det: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients of (y, vech(y y^T), 1) in joint log densities, (m, width), and the traces of the precisions.

    An infinite precision has no coefficients; its trace tells. Precisions that are diagonals, shape (m, d, 1), have
    coefficients of (y, y², 1).
    """
    m, d, side = precision.shape
    theta, trace = np.zeros((m, 1 + d + side * (2 * d - side + 1) // 2)), np.zeros(m)
    for r in range(m):
        if log_det[r] == -np.inf:
            trace[r] = np.inf
            continue
        theta[r, -1] = constant[r] - 0.5 * log_det[r]
        at = d
        for p in range(d):
            linear = 0.0
            if side < d:
                linear = precision[r, p, 0] * centers[r, p]
            else:
                for q in range(d):
                    linear += precision[r, p, q] * centers[r, q]
            theta[r, p] = linear
            theta[r, -1] -= 0.5 * linear * centers[r, p]
            own = precision[r, p, min(p, side - 1)]
            theta[r, at] = -0.5 * own
            for q in range(p + 1, side):
                theta[r, at + q - p] = -precision[r, p, q]
            at += max(side - p, 1)
            trace[r] += own
    return theta, trace
