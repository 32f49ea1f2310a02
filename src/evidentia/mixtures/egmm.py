"""EGMM, the evidential Gaussian mixture model (Jiao, Denœux, Liu & Pan, 2022).

Every non-empty set of clusters is a Gaussian component; the mean of a set is the barycenter of its clusters' means,
and all components share one covariance. The posterior probabilities of the components, given an object, are its
mass function. Equation numbers are those of the paper.

The functions below are the block interface: :func:`observe` turns rows into patterns, :func:`e_step` gives statistics
that add up over patterns, and :func:`m_step` takes their sum, wherever the rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia._parameters import Choice, Integer, Kind, Number, param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, MixtureClusterer, ebic
from evidentia.partition import CredalPartition
from evidentia.solvers.barycentric import averaging, solve_centers
from evidentia.solvers.coordinates import RANK_TOLERANCE, Coordinates, columnwise, unit_free
from evidentia.solvers.descent import Run, best_descent, descend
from evidentia.solvers.overlap import is_near_pairs, near_pair_sets
from evidentia.solvers.shared_covariance import linear_scores, posteriors, statistics, with_ones
from evidentia.solvers.starts import START_RULES, Rows, representatives
from evidentia.solvers.threads import one_blas_thread

CHUNK = 65_536  # rows transformed at a time when masses are computed


class Parameters(NamedTuple):
    """Mixing probabilities of the focal sets, means of the clusters, and the covariance all share."""

    weights: np.ndarray
    centers: np.ndarray
    covariance: np.ndarray


class Pattern(NamedTuple):
    """Rows with the same observed columns; complete data are one pattern."""

    observed: np.ndarray
    features: np.ndarray  # (x_observed, 1)
    weight: np.ndarray | None
    second: np.ndarray  # sum of x_observed x_observed^T
    total: float


class Statistics(NamedTuple):
    """What the M-step needs of the rows: size N, sum T and second moment S; they add up, as the log-likelihood does."""

    size: np.ndarray
    sum: np.ndarray
    second: np.ndarray
    log_likelihood: float

    def plus(self, other: Statistics) -> Statistics:
        return Statistics(
            self.size + other.size,
            self.sum + other.sum,
            self.second + other.second,
            self.log_likelihood + other.log_likelihood,
        )


def missing_patterns(Y: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
    """``(observed columns, rows)`` for every pattern of missing entries; complete rows need no search."""
    if not np.isnan(Y.sum()):
        yield np.arange(Y.shape[1]), slice(None)
        return
    missing, which = np.unique(np.isnan(Y), axis=0, return_inverse=True)
    for pattern, row in enumerate(missing):
        yield np.flatnonzero(~row), np.flatnonzero(which.ravel() == pattern)


def observe(Y: np.ndarray, weight: np.ndarray | None = None) -> list[Pattern]:
    """Group rows by which of their entries are there (NaN is not)."""
    patterns = []
    for observed, rows in missing_patterns(Y):
        features = with_ones(Y[rows][:, observed])
        seen = features[:, :-1]
        share = None if weight is None else weight[rows]
        second = seen.T @ (seen if share is None else share[:, None] * seen)
        total = float(len(seen) if share is None else share.sum())
        patterns.append(Pattern(observed, features, share, second, total))
    return patterns


def e_step(pattern: Pattern, parameters: Parameters, average: np.ndarray) -> Statistics:
    """Expected statistics of the complete data (23), and the log-likelihood (18), for one pattern.

    What is missing enters by its mean and covariance given what is observed and the component.
    """
    set_centers, covariance, o = average @ parameters.centers, parameters.covariance, pattern.observed
    complete = len(o) == len(covariance)
    within = covariance if complete else covariance[np.ix_(o, o)]
    scores = linear_scores(parameters.weights, set_centers[:, o], within)
    size, seen_sum, log_likelihood = statistics(pattern.features, scores.coefficients, pattern.weight)
    log_likelihood += pattern.total * scores.normalizer - 0.5 * float((scores.precision * pattern.second).sum())
    if complete:
        return Statistics(size, seen_sum, pattern.second, log_likelihood)

    u = np.setdiff1d(np.arange(len(covariance)), o)
    regression = covariance[np.ix_(u, o)] @ scores.precision  # E[x_u | x_o, j] = shift_j + regression x_o
    shift = set_centers[:, u] - set_centers[:, o] @ regression.T
    total_sum = np.empty_like(set_centers)
    total_sum[:, o] = seen_sum
    total_sum[:, u] = size[:, None] * shift + seen_sum @ regression.T
    second = np.empty_like(covariance)
    second[np.ix_(o, o)] = pattern.second
    cross = shift.T @ seen_sum + regression @ pattern.second
    second[np.ix_(u, o)], second[np.ix_(o, u)] = cross, cross.T
    given = covariance[np.ix_(u, u)] - regression @ covariance[np.ix_(o, u)]
    mixed = shift.T @ seen_sum @ regression.T
    second[np.ix_(u, u)] = (
        pattern.total * given
        + shift.T @ (size[:, None] * shift)
        + mixed
        + mixed.T
        + regression @ pattern.second @ regression.T
    )
    return Statistics(size, total_sum, second, log_likelihood)


def m_step(
    found: Statistics, previous: Parameters, average: np.ndarray, constrain: Callable[[np.ndarray], np.ndarray]
) -> Parameters:
    """Parameters that maximize the expected log-likelihood: (25) to (29)."""
    total = found.size.sum()
    centers = solve_centers(found.size, found.sum, average, previous.centers)
    set_centers = average @ centers
    cross = found.sum.T @ set_centers
    scatter = found.second - cross - cross.T + set_centers.T @ (found.size[:, None] * set_centers)
    return Parameters(found.size / total, centers, constrain(scatter / total))


class Floor(NamedTuple):
    """The smallest covariance allowed, ``level * reference``, with what is needed to compare with the reference."""

    level: float
    reference: np.ndarray
    root: np.ndarray
    inverse: np.ndarray

    @classmethod
    def of(cls, level: float, reference: np.ndarray) -> Floor:
        root = np.linalg.cholesky(reference)
        return cls(level, reference, root, np.linalg.inv(root))

    def spread(self, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues relative to the reference, smallest first, and eigenvectors."""
        return np.linalg.eigh(self.inverse @ covariance @ self.inverse.T)

    def reached(self, covariance: np.ndarray) -> bool:
        return bool(self.spread(covariance)[0][0] < 1.01 * self.level)


def constrain_covariance(covariance: np.ndarray, kind: str, floor: Floor) -> np.ndarray:
    """The admissible covariance of highest likelihood.

    ``kind`` may ask for a diagonal or a spherical matrix. Raising eigenvalues (relative to the reference) below the
    floor up to it is the exact constrained maximum, so EM with it never lowers the likelihood, and a fit
    that stays clear of the floor does not know of it.
    """
    if kind == "spherical":
        covariance = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    elif kind == "diag":
        covariance = np.diag(np.diag(covariance))
    values, vectors = floor.spread(covariance)
    if values[0] >= floor.level:
        return covariance
    spanned = floor.root @ vectors
    return (spanned * np.maximum(values, floor.level)) @ spanned.T


def n_parameters(n_focal: int, n_clusters: int, n_features: int, covariance: str) -> int:
    """Free parameters: mixing probabilities, means, and the covariance, as counted below (33)."""
    free = {"full": n_features * (n_features + 1) // 2, "diag": n_features, "spherical": 1}[covariance]
    return n_focal - 1 + n_clusters * n_features + free


class _Problem(NamedTuple):
    """The table in unit-free coordinates, ready for any number of clusters."""

    coordinates: Coordinates
    patterns: list[Pattern]
    rows: Rows  # some rows for the starts, in the coordinates of the patterns, NaN replaced by the mean
    total: float
    gain: float  # what the log-likelihood gains when it is expressed in the units of the table
    floor: Floor  # relative to the covariance of the whole table


class EGMM(MixtureClusterer):
    r"""Evidential Gaussian mixture model [1]_.

    .. math::
        p(x) = \sum_{A \ne \varnothing} \pi_A\, N(x; \bar\mu_A, \Sigma), \qquad
        \bar\mu_A = \frac{1}{|A|} \sum_{k \in A} \mu_k, \qquad
        m_i(A) = \frac{\pi_A N(x_i; \bar\mu_A, \Sigma)}{p(x_i)}

    There is no empty set: an object far from everything gets its mass by the relative densities.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
    covariance_ : ndarray of shape (n_features, n_features)
    weights_ : ndarray of shape (n_focal,)
        Mixing probabilities of ``focal_sets_``.
    criterion_trace_ : ndarray
        Log-likelihood after each iteration of the best start; it never falls (``ridge=0``).
    start_criteria_ : ndarray
        Log-likelihood at the end of every start (of the first fit for ``"near-pairs"``).

    Notes
    -----
    An iteration costs two products of n × d by d × f matrices and n f exponentials (f focal sets), in blocks of rows:
    memory beyond one copy of the table does not grow with n until the masses are written. Missing values
    (NaN) are integrated out by EM; cost then grows with the number of distinct patterns of missing entries. Results do
    not depend on the units of the columns nor on the order of the rows. Weights count as copies.

    References
    ----------
    .. [1] L. Jiao, T. Denœux, Z.-G. Liu, Q. Pan. EGMM: an evidential version of the Gaussian mixture model for
       clustering. Applied Soft Computing 129, 109619, 2022.

    Examples
    --------
    Two groups and one object halfway between them.

    >>> from evidentia.datasets import make_diamond
    >>> model = EGMM(n_clusters=2, random_state=0).fit(make_diamond().data)
    >>> model.partition_.sets()[5]
    array([ True,  True])
    >>> round(model.ebic_, 1)
    -55.9
    """

    method = Method(
        name="egmm", title="evidential Gaussian mixture, number of clusters by EBIC, missing values, weights",
        papers=("Jiao, Denœux, Liu & Pan, *Applied Soft Computing* 129, 2022",), guide="egmm",
        takes=("weights", "missing values"), number=("given", "searched"),
        families=("full", "pairs", "simple", "singletons", "near-pairs"), labels="pignistic", criterion="maximized",
        quick={"n_init": 2}, grows="*n p f*", memory="*n f*", doubt="sets",
        limit="one covariance for all clusters; no outliers",
    )  # fmt: skip

    cluster_range: Any = param(
        CLUSTER_RANGE,
        'Smallest and largest number of clusters that ``"auto"`` tries; it takes the one of the highest EBIC.',
        default=(2, 6),
    )
    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass; never the empty set. A function of the number of clusters goes with
        ``n_clusters="auto"``. Cost grows with their number: 2**n_clusters - 1 for ``"full"``. ``"singletons"`` make it
        the Gaussian mixture with one covariance for all components. With many clusters the center of a set often lies
        in the midst of another cluster: ``"near-pairs"`` first fits single clusters, then adds only pairs of clusters
        that share objects, and not the set of all.""",
        default="full",
    )
    n_near: int = param(Integer(low=1), 'Neighbors of a cluster that ``"near-pairs"`` looks at.', default=2)
    covariance: str = param(Choice("full", "diag", "spherical"), "Form of the shared covariance.", default="full")
    reg_covar: float = param(
        Number(above=0, high=1),
        """Floor of the covariance relative to that of the whole table. A solution that reaches it has collapsed onto a
        few objects: its likelihood means nothing, so it is used only if every start ends so.""",
        default=1e-8,
    )
    ridge: float = param(
        Number(low=0),
        """Added to the diagonal of the covariance in the units of X before each E-step, as the authors' program does
        with 0.01. It depends on units and may make the likelihood fall; it is there to repeat published numbers.""",
        default=0.0,
    )
    init: Any = param(
        Choice(*START_RULES) | Kind("array of shape (n_clusters, n_features)"),
        """Start of the means: k-means solutions, rows drawn at random, or an array, which makes one start and keeps its
        order of clusters.""",
        default="k-means",
    )

    _collapse = "covariance collapsed"
    _cure = "Ask for fewer clusters or covariance='diag', or give more objects."

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters in the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        """
        self.check_parameters()
        table = self._check_table(X, reset=True)
        weight = _base.check_weight(self, sample_weight, len(table))
        numbers = self._numbers(len(table) if weight is None else int(np.count_nonzero(weight)))
        rng = check_random_state(self.random_state)
        problem = self._prepare(table, weight, rng)
        found = self._search(numbers, partial(self._fit_number, problem, rng))
        self._publish_model(problem.coordinates, self._publish_choice(found))
        del problem  # a copy of the table; the masses need the room
        self._publish(X, self._masses(table))
        return self

    def _prepare(self, table: np.ndarray, weight: np.ndarray | None, rng: np.random.RandomState) -> _Problem:
        if weight is not None:  # a row of weight zero must not even be drawn as a start
            table, weight = table[weight > 0], weight[weight > 0]
        coordinates = unit_free(table, weight, kind=self.covariance)
        Y = coordinates.to(table)
        patterns = observe(Y, weight)
        whole = Parameters(np.ones(1), np.zeros((1, Y.shape[1])), np.eye(Y.shape[1]))
        if len(patterns) > 1:  # the covariance of an incomplete table is itself found by EM, with a single cluster
            step = self._step(patterns, np.ones((1, 1)), Floor.of(self.reg_covar, whole.covariance))
            run = descend(step, whole, max_iter=200, tol=1e-4)
            if run.interrupted:  # there is nothing to keep yet
                raise KeyboardInterrupt
            whole = run.state
        total = sum(pattern.total for pattern in patterns)
        rows = representatives(np.nan_to_num(Y, copy=False), weight, rng)
        gain = sum(pattern.total * coordinates.log_jacobian_of(pattern.observed) for pattern in patterns)
        return _Problem(coordinates, patterns, rows, total, gain, Floor.of(self.reg_covar, whole.covariance))

    def _step(
        self, patterns: list[Pattern], average: np.ndarray, floor: Floor, ridge: np.ndarray | float = 0.0
    ) -> Callable[[Parameters], tuple[float, Parameters]]:
        """One EM iteration: minus the mean log-likelihood of the parameters given, and the next parameters."""
        total = sum(pattern.total for pattern in patterns)

        def constrain(covariance: np.ndarray) -> np.ndarray:
            return constrain_covariance(covariance, self.covariance, floor) + ridge

        def step(parameters: Parameters) -> tuple[float, Parameters]:
            found = reduce(Statistics.plus, (e_step(pattern, parameters, average) for pattern in patterns))
            return -float(found.log_likelihood) / total, m_step(found, parameters, average, constrain)

        return step

    def _ridge(self, coordinates: Coordinates) -> np.ndarray:
        """The ridge of the units of X, in the coordinates of the fit."""
        return self.ridge * (coordinates.forward.T @ coordinates.forward)

    def _starts(self, problem: _Problem, focal_sets: FocalSets, rng: np.random.RandomState) -> Iterator[Parameters]:
        """Means by c-means, the covariance within those clusters, equal mixing probabilities (section 3.4)."""
        n_clusters, frame, (Y, weight) = focal_sets.n_clusters, problem.coordinates, problem.rows
        centers_of_starts: Iterable[np.ndarray]
        if isinstance(self.init, str):
            # c-means is not blind to scale: it works on columns of equal spread, where whitening would hide clusters.
            deviation = np.linalg.norm(frame.backward, axis=0)
            deviation[deviation == 0] = 1
            Z = Y @ (frame.backward / deviation)
            found = START_RULES[self.init](Z, n_clusters, self.n_init, rng, weight)
            centers_of_starts = (centers @ (deviation[:, None] * frame.forward) for centers in found)
        else:
            given = np.asarray(self.init, dtype=float)
            if given.shape != (n_clusters, len(frame.origin)) or not np.isfinite(given).all():
                raise ValueError(
                    f"'init' of EGMM must be finite and of shape ({n_clusters}, {len(frame.origin)}): one row for each "
                    f"cluster. Got an array of shape {given.shape}."
                )
            centers_of_starts = [frame.to(given)]
        for centers in centers_of_starts:
            residual = Y - centers[pairwise_distances_argmin(Y, centers)]
            within = residual.T @ (weight[:, None] * residual) / weight.sum()
            covariance = constrain_covariance(within, self.covariance, problem.floor) + self._ridge(frame)
            yield Parameters(np.full(len(focal_sets), 1 / len(focal_sets)), centers, covariance)

    def _fit_number(self, problem: _Problem, rng: np.random.RandomState, n_clusters: int) -> list[Candidate]:
        """The family asked for; near pairs are found by a fit of single clusters, which an interrupt leaves."""
        n_starts = self.n_init if isinstance(self.init, str) else 1
        by_nearness = is_near_pairs(self.focal_sets)
        family = "singletons" if by_nearness else self.focal_sets
        focal_sets = resolve_focal_sets(family, n_clusters, empty=False)
        found = self._fit_family(problem, focal_sets, self._starts(problem, focal_sets, rng), n_starts)
        if by_nearness and not found.interrupted:
            parameters, (Y, weight) = found.best.state, problem.rows
            masses = posteriors(with_ones(Y), linear_scores(*parameters).coefficients)[0]
            similarity = masses.T @ (weight[:, None] * masses)
            finer = near_pair_sets(similarity, self.n_near, empty=False, omega=False)
            start = parameters._replace(weights=np.full(len(finer), 1 / len(finer)))
            try:
                found = replace(self._fit_family(problem, finer, [start], 1), runs=found.runs)
            except KeyboardInterrupt:
                found = replace(found, interrupted=True)
        return [found]

    def _fit_family(
        self, problem: _Problem, focal_sets: FocalSets, starts: Iterable[Parameters], n_starts: int
    ) -> Candidate:
        n_clusters = focal_sets.n_clusters
        step = self._step(problem.patterns, averaging(focal_sets), problem.floor, self._ridge(problem.coordinates))

        def collapsed(run: Run) -> bool:
            return problem.floor.reached(run.state.covariance)

        def in_units_of_the_table(run: Run) -> Run:
            return replace(run, trace=problem.total * run.trace - problem.gain)

        best, runs = best_descent(
            step,
            starts,
            name=f"EGMM with {n_clusters} clusters",
            max_iter=self.max_iter,
            tol=self.tol,
            rank=lambda run: (collapsed(run), run.objective),
            n_starts=n_starts,
            verbose=self.verbose,
            warn=False,
        )
        n_free = n_parameters(len(focal_sets), n_clusters, problem.coordinates.forward.shape[1], self.covariance)
        log_likelihood = -in_units_of_the_table(best).objective
        return Candidate(
            focal_sets=focal_sets,
            best=in_units_of_the_table(best),
            runs=[in_units_of_the_table(run) for run in runs],
            log_likelihood=log_likelihood,
            n_parameters=n_free,
            n_objects=problem.total,
            criteria={"ebic": ebic(log_likelihood, n_free, problem.total)},
            collapsed=collapsed(best),
            interrupted=runs[-1].interrupted,
        )

    def _publish_model(self, frame: Coordinates, best: Candidate) -> None:
        parameters, focal_sets = best.best.state, best.focal_sets
        if isinstance(self.init, str) and isinstance(self.focal_sets, str):  # else the caller has fixed the order
            order = _base.largest_first(parameters.weights @ averaging(focal_sets))
            each = CredalPartition(np.eye(len(focal_sets)), focal_sets).relabel(order)
            focal_sets, columns = each.focal_sets, each.masses.argmax(axis=0)
            parameters = Parameters(parameters.weights[columns], parameters.centers[order], parameters.covariance)
        self._parameters, self._coordinates = parameters, frame
        self.focal_sets_, self.weights_ = focal_sets, parameters.weights
        self.cluster_centers_ = frame.back(parameters.centers)
        self.covariance_ = frame.backward.T @ parameters.covariance @ frame.backward
        _base.warn_if_centers_coincide(self, parameters.centers, 1.0)

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Masses (23) and log densities (17) of checked rows, from the entries that are observed."""
        average = averaging(self.focal_sets_)
        masses, log_density = np.empty((len(table), len(average))), np.empty(len(table))
        for start in range(0, len(table), CHUNK):
            chunk = slice(start, start + CHUNK)
            frame, parameters = self._frame_for(table[chunk])
            Y = frame.to(table[chunk])
            for o, rows in missing_patterns(Y):
                seen, within = Y[rows][:, o], parameters.covariance[np.ix_(o, o)]
                scores = linear_scores(parameters.weights, average @ parameters.centers[:, o], within)
                masses[chunk][rows], linear = posteriors(with_ones(seen), scores.coefficients)
                squares = np.einsum("ip,pq,iq->i", seen, scores.precision, seen, optimize=True)
                log_density[chunk][rows] = linear + scores.normalizer + frame.log_jacobian_of(o) - 0.5 * squares
        return masses, log_density

    def _frame_for(self, X: np.ndarray) -> tuple[Coordinates, Parameters]:
        """The coordinates of the fit, or, for rows with missing entries, coordinates that do not mix columns."""
        if not np.isnan(X.sum()):
            return self._coordinates, self._parameters
        frame = columnwise(self._coordinates.origin, np.sqrt(np.diag(self.covariance_)))
        within = frame.forward.T @ self.covariance_ @ frame.forward
        within[np.diag_indices_from(within)] += RANK_TOLERANCE  # columns that are combinations of others
        return frame, Parameters(self.weights_, frame.to(self.cluster_centers_), within)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        component : ndarray of shape (n_samples,)
            Position in ``focal_sets_`` of the set each object was drawn from.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        component = rng.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum())
        means = averaging(self.focal_sets_) @ self._parameters.centers
        noise = rng.standard_normal((n_samples, means.shape[1])) @ np.linalg.cholesky(self._parameters.covariance).T
        return self._coordinates.back(means[component] + noise), component
