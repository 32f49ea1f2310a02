"""EGMM, the evidential Gaussian mixture model (Jiao, Denœux, Liu & Pan, 2022).

Every non-empty set of clusters is a Gaussian component; the mean of a set is the barycentre of its clusters' means,
and all components share one covariance. The posterior probabilities of the components, given an object, are its
mass function. Equation numbers are those of the paper.

The functions below are the block interface: :func:`observe` turns rows into patterns, :func:`e_step` gives statistics
that add up over patterns, and :func:`m_step` takes their sum, wherever the rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import Subset, canonical_order, to_mask
from evidentia.partition import CredalPartition
from evidentia.solvers.barycentric import averaging, solve_centers
from evidentia.solvers.coordinates import RANK_TOLERANCE, Coordinates, columnwise, unit_free
from evidentia.solvers.descent import Run, best_descent
from evidentia.solvers.overlap import mutual_near_pairs
from evidentia.solvers.shared_covariance import linear_scores, posteriors, statistics, with_ones
from evidentia.solvers.starts import START_RULES, Rows, representatives

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
    log_likelihood += pattern.total * scores.normaliser - 0.5 * float((scores.precision * pattern.second).sum())
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
    found: Statistics,
    previous: Parameters,
    average: np.ndarray,
    constrain: Callable[[np.ndarray], np.ndarray],
) -> Parameters:
    """Parameters that maximise the expected log-likelihood: (25) to (29)."""
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


def ebic(log_likelihood: float, n_free: int, n_samples: float) -> float:
    """Evidential Bayesian information criterion (33), to be maximised."""
    return float(log_likelihood - 0.5 * n_free * np.log(n_samples))


class _Problem(NamedTuple):
    """The table in unit-free coordinates, ready for any number of clusters."""

    coordinates: Coordinates
    patterns: list[Pattern]
    rows: Rows  # some rows for the starts, in the coordinates of the patterns, NaN replaced by the mean
    total: float
    gain: float  # what the log-likelihood gains when it is expressed in the units of the table
    floor: Floor  # relative to the covariance of the whole table


class _Fit(NamedTuple):
    """The best solution for one number of clusters."""

    focal_sets: FocalSets
    run: Run
    criteria: np.ndarray
    interrupted: bool
    collapsed: bool
    log_likelihood: float
    n_free: int
    ebic: float

    @property
    def note(self) -> str:
        return "covariance collapsed in every start" if self.collapsed else ""


class EGMM(_base.EvidentialClusterer):
    r"""Evidential Gaussian mixture model [1]_.

    .. math::
        p(x) = \sum_{A \ne \varnothing} \pi_A\, N(x; \bar\mu_A, \Sigma), \qquad
        \bar\mu_A = \frac{1}{|A|} \sum_{k \in A} \mu_k, \qquad
        m_i(A) = \frac{\pi_A N(x_i; \bar\mu_A, \Sigma)}{p(x_i)}

    There is no empty set: an object far from everything gets its mass by the relative densities.

    Parameters
    ----------
    n_clusters : int or "auto"
        ``"auto"`` takes the number in ``cluster_range`` with the highest EBIC.
    cluster_range : (int, int)
        Smallest and largest number of clusters that ``"auto"`` tries.
    focal_sets : {"full", "pairs", "simple", "near-pairs"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass; never the empty set. A function of the number of clusters goes with
        ``n_clusters="auto"``. Cost grows with their number: 2**n_clusters - 1 for ``"full"``. With many clusters the
        centre of a set often lies in the midst of another cluster: ``"near-pairs"`` first fits single clusters, then
        adds only pairs of clusters that share objects.
    n_near : int
        Neighbours of a cluster that ``"near-pairs"`` looks at.
    covariance : {"full", "diag", "spherical"}
        Form of the shared covariance.
    reg_covar : float
        Floor of the covariance relative to that of the whole table. A solution that reaches it has
        collapsed onto a few objects: its likelihood means nothing, so it is used only if every start ends so.
    ridge : float
        Added to the diagonal of the covariance in the units of X before each E-step, as the authors' program does with
        0.01. It depends on units and may make the likelihood fall; it is there to repeat published numbers.
    n_init : int
        Number of starts.
    init : {"k-means", "random"} or array-like of shape (n_clusters, n_features)
        Start of the means. An array makes one start and keeps its order of clusters.
    max_iter : int
    tol : float
        EM ends when the mean log-likelihood of an object rises by less.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
    covariance_ : ndarray of shape (n_features, n_features)
    weights_ : ndarray of shape (n_focal,)
        Mixing probabilities of ``focal_sets_``.
    focal_sets_ : FocalSets
    n_clusters_ : int
    ebic_, log_likelihood_ : float
    collapsed_ : bool
        Whether the covariance reached its floor, so that likelihood and EBIC mean nothing.
    selection_ : DataFrame
        EBIC, log-likelihood, parameters and remarks for each number of clusters that was tried.
    criterion_trace_ : ndarray
        Log-likelihood after each iteration; it never falls (``ridge=0``).
    start_criteria_ : ndarray
        Final log-likelihood of every start (of the first fit for ``"near-pairs"``).
    n_iter_ : int

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

    _accepts_missing = True

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        cluster_range: tuple[int, int] = (2, 6),
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "full",
        n_near: int = 2,
        covariance: str = "full",
        reg_covar: float = 1e-8,
        ridge: float = 0.0,
        n_init: int = 10,
        init: Any = "k-means",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.cluster_range = cluster_range
        self.focal_sets = focal_sets
        self.n_near = n_near
        self.covariance = covariance
        self.reg_covar = reg_covar
        self.ridge = ridge
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EGMM:
        """Find clusters in the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        table = _base.check_table(self, X)
        counts = self._check_params(len(table))
        rng = check_random_state(self.random_state)
        problem = self._prepare(table, sample_weight, rng)
        fits: dict[int, _Fit] = {}
        for count in counts:
            try:
                fits[count] = self._fit_count(problem, count, rng)
            except KeyboardInterrupt:
                if not fits:
                    raise
                break
            if fits[count].interrupted:
                break
        chosen = max(fits, key=lambda count: (not fits[count].collapsed, fits[count].ebic))
        self._publish_model(problem, fits, chosen)
        del problem  # a copy of the table; the masses need the room
        self._publish(X, self._masses(table))
        return self

    def _check_params(self, n_samples: int) -> list[int]:
        """Every range and option in one place; gives the numbers of clusters to try."""
        _base.check_choice(self, "covariance", ("full", "diag", "spherical"))
        _base.check_number(self, "reg_covar", low=0, high=1, strict=True)
        _base.check_number(self, "ridge", low=0)
        if isinstance(self.focal_sets, str):
            _base.check_choice(self, "focal_sets", ("full", "pairs", "simple", "near-pairs"))
        _base.check_number(self, "n_near", low=1, integer=True)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)
        _base.check_number(self, "tol", low=0)
        if isinstance(self.init, str):
            _base.check_choice(self, "init", tuple(START_RULES))
        if isinstance(self.n_clusters, str):
            _base.check_choice(self, "n_clusters", ("auto",))
            low, high = self.cluster_range
            if not 1 <= low <= high:
                raise ValueError(
                    f"'cluster_range' of EGMM must be (low, high) with 1 <= low <= high. Got ({low}, {high})."
                )
            _base.check_enough_rows(self, n_samples, low)
            return list(range(low, min(high, n_samples) + 1))
        _base.check_number(self, "n_clusters", low=1, integer=True)
        _base.check_enough_rows(self, n_samples, self.n_clusters)
        return [int(self.n_clusters)]

    def _prepare(self, table: np.ndarray, sample_weight: Any, rng: np.random.RandomState) -> _Problem:
        weight = _base.check_weight(self, sample_weight, len(table))
        if weight is not None:  # a row of weight zero must not even be drawn as a start
            table, weight = table[weight > 0], weight[weight > 0]
        coordinates = unit_free(table, weight, kind=self.covariance)
        Y = coordinates.to(table)
        patterns = observe(Y, weight)
        whole = Parameters(np.ones(1), np.zeros((1, Y.shape[1])), np.eye(Y.shape[1]))
        if len(patterns) > 1:  # the covariance of an incomplete table is itself found by EM, with a single cluster
            step = self._step(patterns, np.ones((1, 1)), Floor.of(self.reg_covar, whole.covariance))
            whole = best_descent(step, [whole], name="EGMM", max_iter=200, tol=1e-4)[0].state
        total = sum(pattern.total for pattern in patterns)
        rows = representatives(np.nan_to_num(Y, copy=False), weight, rng)
        gain = sum(pattern.total * coordinates.log_jacobian_of(pattern.observed) for pattern in patterns)
        return _Problem(coordinates, patterns, rows, total, gain, Floor.of(self.reg_covar, whole.covariance))

    def _step(
        self,
        patterns: list[Pattern],
        average: np.ndarray,
        floor: Floor,
        ridge: np.ndarray | float = 0.0,
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
            if given.shape != (n_clusters, len(frame.origin)):
                raise ValueError(
                    f"'init' of EGMM must have shape ({n_clusters}, {len(frame.origin)}): one row for each cluster. "
                    f"Got {given.shape}."
                )
            centers_of_starts = [frame.to(given)]
        for centers in centers_of_starts:
            residual = Y - centers[pairwise_distances_argmin(Y, centers)]
            within = residual.T @ (weight[:, None] * residual) / weight.sum()
            covariance = constrain_covariance(within, self.covariance, problem.floor) + self._ridge(frame)
            yield Parameters(np.full(len(focal_sets), 1 / len(focal_sets)), centers, covariance)

    def _fit_count(self, problem: _Problem, n_clusters: int, rng: np.random.RandomState) -> _Fit:
        n_starts = self.n_init if isinstance(self.init, str) else 1
        if not (isinstance(self.focal_sets, str) and self.focal_sets == "near-pairs"):
            focal_sets = resolve_focal_sets(self.focal_sets, n_clusters, empty=False)
            return self._fit_family(problem, focal_sets, self._starts(problem, focal_sets, rng), n_starts)
        single = FocalSets(n_clusters, "singletons", empty=False, omega=False)
        coarse = self._fit_family(problem, single, self._starts(problem, single, rng), n_starts)
        if coarse.interrupted:
            return coarse
        found, (Y, weight) = coarse.run.state, problem.rows
        masses = posteriors(with_ones(Y), linear_scores(*found).coefficients)[0]
        pairs = mutual_near_pairs(masses.T @ (weight[:, None] * masses), self.n_near)
        masks = {*single.masks.tolist(), *(to_mask(pair, n_clusters) for pair in pairs)}
        finer = FocalSets(n_clusters, canonical_order(masks))
        start = found._replace(weights=np.full(len(finer), 1 / len(finer)))
        return self._fit_family(problem, finer, [start], 1)._replace(criteria=coarse.criteria)

    def _fit_family(
        self, problem: _Problem, focal_sets: FocalSets, starts: Iterable[Parameters], n_starts: int
    ) -> _Fit:
        n_clusters = focal_sets.n_clusters
        step = self._step(problem.patterns, averaging(focal_sets), problem.floor, self._ridge(problem.coordinates))

        def collapsed(run: Run) -> bool:
            return problem.floor.reached(run.state.covariance)

        best, runs = best_descent(
            step,
            starts,
            name=f"EGMM with {n_clusters} clusters",
            max_iter=self.max_iter,
            tol=self.tol,
            rank=lambda run: (collapsed(run), run.objective),
            n_starts=n_starts,
            verbose=self.verbose,
        )
        n_free = n_parameters(len(focal_sets), n_clusters, problem.coordinates.forward.shape[1], self.covariance)
        criteria = np.array([problem.gain - problem.total * run.objective for run in runs])
        reached = problem.gain - problem.total * best.objective
        score = ebic(reached, n_free, problem.total)
        return _Fit(focal_sets, best, criteria, runs[-1].interrupted, collapsed(best), reached, n_free, score)

    def _publish_model(self, problem: _Problem, fits: dict[int, _Fit], chosen: int) -> None:
        fit, frame = fits[chosen], problem.coordinates
        if fit.collapsed:
            warn_user(
                f"EGMM with {chosen} clusters: the covariance collapsed onto a few objects in every start, so its "
                "likelihood and EBIC mean nothing. Ask for fewer clusters or covariance='diag', or give more objects.",
                UserWarning,
            )
        parameters, focal_sets = fit.run.state, fit.focal_sets
        if isinstance(self.init, str) and isinstance(self.focal_sets, str):  # else the caller has fixed the order
            order = _base.largest_first(parameters.weights @ averaging(focal_sets))
            each = CredalPartition(np.eye(len(focal_sets)), focal_sets).relabel(order)
            focal_sets, columns = each.focal_sets, each.masses.argmax(axis=0)
            parameters = Parameters(parameters.weights[columns], parameters.centers[order], parameters.covariance)
        self._parameters, self._coordinates = parameters, frame
        self.focal_sets_, self.n_clusters_ = focal_sets, chosen
        self.weights_ = parameters.weights
        self.cluster_centers_ = frame.back(parameters.centers)
        self.covariance_ = frame.backward.T @ parameters.covariance @ frame.backward
        self.criterion_trace_ = problem.gain - problem.total * fit.run.trace
        self.log_likelihood_ = fit.log_likelihood
        self.start_criteria_, self.n_iter_, self.ebic_ = fit.criteria, fit.run.n_iter, fit.ebic
        self.collapsed_ = fit.collapsed
        self.selection_ = pd.DataFrame(
            {
                "n_clusters": list(fits),
                "ebic": [f.ebic for f in fits.values()],
                "log_likelihood": [f.log_likelihood for f in fits.values()],
                "n_parameters": [f.n_free for f in fits.values()],
                "note": [f.note for f in fits.values()],
            }
        )
        _base.warn_if_centers_coincide(self, parameters.centers, 1.0)

    def _posteriors(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Masses (23) and log densities (17) of checked rows, from the entries that are observed."""
        average = averaging(self.focal_sets_)
        masses, log_density = np.empty((len(X), len(average))), np.empty(len(X))
        for start in range(0, len(X), CHUNK):
            chunk = slice(start, start + CHUNK)
            frame, parameters = self._frame_for(X[chunk])
            Y = frame.to(X[chunk])
            for o, rows in missing_patterns(Y):
                seen, within = Y[rows][:, o], parameters.covariance[np.ix_(o, o)]
                scores = linear_scores(parameters.weights, average @ parameters.centers[:, o], within)
                masses[chunk][rows], linear = posteriors(with_ones(seen), scores.coefficients)
                squares = np.einsum("ip,pq,iq->i", seen, scores.precision, seen, optimize=True)
                log_density[chunk][rows] = linear + scores.normaliser + frame.log_jacobian_of(o) - 0.5 * squares
        return masses, log_density

    def _frame_for(self, X: np.ndarray) -> tuple[Coordinates, Parameters]:
        """The coordinates of the fit, or, for rows with missing entries, coordinates that do not mix columns."""
        if not np.isnan(X.sum()):
            return self._coordinates, self._parameters
        frame = columnwise(self._coordinates.origin, np.sqrt(np.diag(self.covariance_)))
        within = frame.forward.T @ self.covariance_ @ frame.forward
        within[np.diag_indices_from(within)] += RANK_TOLERANCE  # columns that are combinations of others
        return frame, Parameters(self.weights_, frame.to(self.cluster_centers_), within)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        return self._posteriors(X)[0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row, shape (n_samples,)."""
        check_is_fitted(self)
        return self._posteriors(_base.check_table(self, X, reset=False))[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        return float(self.score_samples(X).mean())

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
