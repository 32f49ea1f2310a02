r"""EM for many Gaussian mixtures on the same rows at once: starts, or weightings of the rows, along a leading axis.

The E-step is the one of :mod:`evidentia.mixtures._em` for single clusters: with the features
:math:`\phi(x) = (x, \mathrm{vech}(xx^T), 1)` a log density is linear,
:math:`\log \pi_k N(x; \mu_k, \Sigma_k) = \theta_k^T \phi(x)`, and the statistics that the M-step needs are sums of the
features, weighted by the posterior probabilities (:mod:`evidentia.solvers.posterior_sums`). Rows are whitened first, so
that the squares lose no digits. The M-step is that of :mod:`evidentia.mixtures._covariances`. For rows in memory all
iterations run in one compiled loop, :func:`climb`; where M-step or rows need Python, in :func:`climb_by_steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._covariances import inner_limits, solve
from evidentia.mixtures._em import quadratic_coefficients
from evidentia.solvers.compiling import at_a_time, compiled
from evidentia.solvers.coordinates import Coordinates
from evidentia.solvers.descent import RISE
from evidentia.solvers.posterior_sums import BLOCK, add_posterior_sums, add_sums_of_some, in_blocks, write_posteriors
from evidentia.solvers.small_matrices import inverses, invert

KEPT_NUMBERS = 1 << 23  # of a table in blocks; those of a larger one are made anew in each pass
SMALLEST_SPREAD = 1e-4  # of the correlation matrix: a direction with less is not stretched to unit variance
SMALLEST_SIZE = 0.5  # rows: a component that holds less has vanished
TINY = np.finfo(float).tiny
EVEN = np.empty((1, 0))  # weights of rows that all count once

EStep = Callable[[np.ndarray, int, np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class FitSettings:
    """When EM ends, and which covariances it allows; see :func:`fit_replicates`."""

    tol: float
    max_iter: int
    reg_covar: float
    max_ratio: float | None = None

    def rule(self, model: str) -> CovarianceModel:
        """Return the M-step of a model."""
        return CovarianceModel(model, self.max_ratio)


class MixtureParameters(NamedTuple):
    """Gaussian mixtures along the leading axis: shapes (m, c), (m, c, d) and (m, c, d, d).

    Diagonal covariances may be kept as their diagonals, shape (m, c, d, 1).
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    @property
    def diagonal(self) -> bool:
        """Whether covariances are kept as diagonals."""
        return self.covariances.shape[-1] < self.covariances.shape[-2]

    @property
    def matrices(self) -> np.ndarray:
        """Covariances, shape (m, c, d, d), however they are kept."""
        return self.covariances * np.eye(self.means.shape[-1]) if self.diagonal else self.covariances

    def take(self, which: np.ndarray | slice) -> MixtureParameters:
        """Some of the mixtures."""
        return MixtureParameters(self.weights[which], self.means[which], self.covariances[which])


class Replicates(NamedTuple):
    """What :func:`fit_replicates` found for each replicate.

    ``trace[t]`` are the log-likelihoods after t iterations, NaN for replicates that had finished before.
    ``degenerate``: a component vanished or its covariance became singular. The likelihood of such a replicate means
    nothing, and its parameters are those of that moment.
    """

    parameters: MixtureParameters
    log_likelihood: np.ndarray
    trace: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    degenerate: np.ndarray


def fit_replicates(
    rows: np.ndarray,
    weight: np.ndarray | None,
    start: MixtureParameters,
    rule: CovarianceModel,
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
    reg_covar: float = 1e-8,
    objects: float | None = None,
) -> Replicates:
    """Fit one mixture to each weighting of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weight : ndarray of shape (m, n) or (1, n), or None
        Weights count as copies. One line, or None, is for several starts on the same data.
    start : MixtureParameters
        m mixtures, or one for all.
    rule : CovarianceModel
        Its M-step.
    tol : float
        A replicate has converged when an iteration lifts its log-likelihood per row by no more than this.
    max_iter : int
    reg_covar : float
        Relative to the covariance of the whole table: as much is added to the scatter of every component, and a
        component whose covariance falls to it in some direction is singular.
    objects : float, optional
        How many the rows stand for, where that is not their number: a component of less than half of one has vanished.

    Returns
    -------
    Replicates
        In the order of the weights. What becomes of one replicate does not depend, but for rounding, on the others.
    """
    weight = _lines(weight)
    m = max(len(weight), len(start.weights))
    table = WhitenedRows.from_rows(rows, weight, start.diagonal, objects)
    settings = (float(tol), max_iter, float(reg_covar))
    if rule.max_ratio is None:
        return table.climb(weight, _begin(start, m), rule.letters, settings)

    def e_step(theta: np.ndarray, c: int, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return table.e_step(theta, c, lambda r: weight[active[r] if len(weight) > 1 else 0])

    return climb_by_steps(table, e_step, start, m, rule, tol=tol, max_iter=max_iter, reg_covar=reg_covar)


def _begin(start: MixtureParameters, m: int) -> Replicates:
    """m replicates at their starts."""
    kept = MixtureParameters(*(np.array(np.broadcast_to(part, (m, *part.shape[1:]))) for part in start))
    return Replicates(kept, np.empty(m), np.empty((0, m)), np.zeros(m, int), np.zeros(m, bool), np.zeros(m, bool))


def climb_by_steps(
    steps: Steps,
    e_step: EStep,
    start: MixtureParameters,
    m: int,
    rule: CovarianceModel,
    *,
    tol: float,
    max_iter: int,
    reg_covar: float,
) -> Replicates:
    """EM of m replicates, as :func:`fit_replicates`, by an E-step that is given, wherever the rows are.

    ``e_step(theta, c, active)`` gives statistics and log-likelihoods of some replicates, by rising number, from the
    coefficients of their c components each.
    """
    result, c = _begin(start, m), start.weights.shape[1]
    kept = result.parameters
    active, state, before, last, trace = np.arange(m), kept, kept, np.full(m, -np.inf), []
    for iteration in range(max_iter + 1):
        theta, narrowness = steps.coefficients(state)
        statistics, log_likelihood = e_step(theta, c, active)
        trace.append(np.full(m, np.nan))
        fell = log_likelihood < last - RISE * np.abs(last)  # the floor has the last word: the step is taken back
        trace[-1][active[~fell]] = log_likelihood[~fell]
        size = statistics[:, :, -1]
        total = size.sum(axis=1)
        degenerate = ~steps.healthy(size, narrowness, reg_covar) & ~fell
        converged = ((log_likelihood - last <= tol * total) & ~degenerate) | fell
        finished = converged | degenerate | (iteration == max_iter)
        if finished.any():
            done, going = active[finished], ~finished
            for part, reached, earlier in zip(kept, state, before):
                part[done] = reached[finished]
                part[active[fell]] = earlier[fell]
            result.log_likelihood[done] = np.where(fell, last, log_likelihood)[finished]
            result.n_iter[done] = iteration - fell[finished]
            result.converged[done], result.degenerate[done] = converged[finished], degenerate[finished]
            if not going.any():
                break
            active, state, statistics, log_likelihood = (
                active[going],
                state.take(going),
                statistics[going],
                log_likelihood[going],
            )
        last, before = log_likelihood, state
        state = steps.m_step(statistics, rule, reg_covar, state.covariances)
    return result._replace(trace=np.array(trace))


def from_posteriors(
    rows: np.ndarray,
    weight: np.ndarray | None,
    posterior: np.ndarray,
    rule: CovarianceModel,
    *,
    reg_covar: float = 1e-8,
    objects: float | None = None,
) -> MixtureParameters:
    """One M-step from given probabilities of the components, shape (m, n, c): a start for :func:`fit_replicates`."""
    weight = _lines(weight)
    table = WhitenedRows.from_rows(rows, weight, rule.diagonal, objects)
    share = posterior if weight.shape[1] == 0 else posterior * weight[:, :, None]
    Y = table.frame.transform(rows)
    squares = np.square(Y) if table.side < table.d else Y[:, table.low] * Y[:, table.high]
    features = np.column_stack([Y, squares, np.ones(len(Y))])
    return table.m_step(share.swapaxes(1, 2) @ features, rule, reg_covar)


def posteriors(rows: np.ndarray, parameters: MixtureParameters) -> np.ndarray:
    """Posterior probabilities of the components given each row, shape (m, n, c)."""
    return evaluate(rows, parameters)[0]


def evaluate(rows: np.ndarray, parameters: MixtureParameters) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities (m, n, c) and log densities (m, n) of rows that need not be those of the fit."""
    m, c = parameters.weights.shape
    table = WhitenedRows(rows, _overall(parameters))
    theta = table.coefficients(parameters)[0].reshape(m, c, -1)
    posterior, log_density = np.empty((m, table.n, c)), np.empty((m, table.n))
    blocks = table.blocks
    for r in range(m):
        write_posteriors(blocks, theta[r], posterior[r], log_density[r])
    return posterior, log_density


def whitening(mean: np.ndarray, covariance: np.ndarray) -> Coordinates:
    """Coordinates of unit covariance. Directions without spread are kept, as if they had a small one."""
    deviation = np.sqrt(np.diag(covariance))
    deviation = np.where(deviation == 0, 1, deviation)
    correlation = covariance / deviation / deviation[:, None]
    values, vectors = np.linalg.eigh(correlation)
    root = np.sqrt(np.maximum(values, SMALLEST_SPREAD))
    log_jacobian = -float(np.log(root).sum() + np.log(deviation).sum())
    return Coordinates(mean, vectors / root / deviation[:, None], (vectors * root).T * deviation, log_jacobian)


class Scaling(NamedTuple):
    """Coordinates of columns that are scaled one by one: ``y = (x - origin) * forward``; factors have shape (d, 1)."""

    origin: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    log_jacobian: float

    @classmethod
    def to_unit(cls, mean: np.ndarray, variance: np.ndarray) -> Scaling:
        deviation = np.sqrt(np.where(variance == 0, 1, variance))
        return cls(mean, 1 / deviation[:, None], deviation[:, None], -float(np.log(deviation).sum()))

    def transform(self, X: np.ndarray) -> np.ndarray:
        Y = X - self.origin
        Y *= self.forward[:, 0]
        return Y

    def inverse_transform(self, Y: np.ndarray) -> np.ndarray:
        return Y * self.backward[:, 0] + self.origin


def _overall(parameters: MixtureParameters) -> Coordinates | Scaling:
    """Coordinates by mean and covariance of all mixtures taken together."""
    weights, means, covariances = parameters
    share = weights / weights.sum()
    mean = np.einsum("mk,mkp->p", share, means)
    gap, within = means - mean, np.einsum("mk,mkpq->pq", share, covariances)
    if parameters.diagonal:
        return Scaling.to_unit(mean, within[:, 0] + np.einsum("mk,mkp,mkp->p", share, gap, gap))
    return whitening(mean, within + np.einsum("mk,mkp,mkq->pq", share, gap, gap, optimize=True))


def _lines(weight: np.ndarray | None) -> np.ndarray:
    """Weights (m, n) or (1, n); ``EVEN`` if all are one."""
    if weight is None:
        return EVEN
    lines = np.ascontiguousarray(np.atleast_2d(np.asarray(weight, dtype=float)))
    return EVEN if len(lines) == 1 and (lines == 1).all() else lines


class Steps:
    """The two steps of EM in coordinates of unit covariance, or variances; sums over rows come in between.

    For diagonal covariances columns are scaled one by one, and of the products y y^T only the squares are features.
    """

    def __init__(self, frame: Coordinates | Scaling, objects: float):
        self.frame, self.objects = frame, objects
        self.d, self.side = frame.forward.shape
        self.low, self.high = np.triu_indices(self.d) if self.side == self.d else (np.arange(self.d),) * 2
        self.width = 1 + self.d + len(self.low)
        full = self.side == self.d
        self.spread = frame.backward.T @ frame.backward if full else np.square(frame.backward)

    def coefficients(self, parameters: MixtureParameters) -> tuple[np.ndarray, np.ndarray]:
        """Theta (m c, width), and the trace of each precision in whitened coordinates, (m, c)."""
        weights, means, covariances = parameters
        within = _congruent(covariances.reshape(-1, self.d, self.side), self.frame.forward)
        centers = self.frame.transform(means.reshape(-1, self.d))
        constant = self.frame.log_jacobian - 0.5 * self.d * np.log(2 * np.pi)
        log_weights = np.log(np.maximum(weights.ravel(), TINY))  # a component of nothing is left to ``healthy``
        theta, narrowness = quadratic_coefficients(log_weights + constant, centers, *invert(within))
        return theta, narrowness.reshape(weights.shape)

    def healthy(self, size: np.ndarray, narrowness: np.ndarray, reg_covar: float) -> np.ndarray:
        """Whether no component of a mixture has vanished or become singular, (m,)."""
        total = size.sum(axis=1, keepdims=True)
        return ((size >= SMALLEST_SIZE / self.objects * total) & (narrowness * reg_covar < SMALLEST_SIZE)).all(axis=1)

    def m_step(
        self, statistics: np.ndarray, rule: CovarianceModel, reg_covar: float, previous: np.ndarray | None = None
    ) -> MixtureParameters:
        """Parameters, in the units of the rows, that maximize the expected likelihood."""
        m, c, _ = statistics.shape
        size = statistics[:, :, -1]
        total = size.sum(axis=1, keepdims=True)
        centers, scatter = moments(statistics.reshape(m * c, self.width), self.d, self.side < self.d)
        means = self.frame.inverse_transform(centers).reshape(m, c, self.d)
        scatter = _congruent(scatter, self.frame.backward).reshape(m, c, self.d, self.side)
        scatter += (reg_covar / self.objects * total)[:, :, None, None] * self.spread
        least = SMALLEST_SIZE / self.objects * total  # what is smaller has vanished, and has no covariance of its own
        return MixtureParameters(size / total, means, rule(scatter, np.maximum(size, least), previous))


class WhitenedRows(Steps):
    """Rows in coordinates of unit covariance, or variances, in blocks, which may be kept."""

    def __init__(self, rows: np.ndarray, frame: Coordinates | Scaling, keep: bool = True, objects: float | None = None):
        super().__init__(frame, len(rows) if objects is None else objects)
        self.rows, self.n, self._kept = rows, len(rows), self._lay_out(rows) if keep else None

    @classmethod
    def from_rows(
        cls, rows: np.ndarray, weight: np.ndarray, diagonal: bool, objects: float | None = None
    ) -> WhitenedRows:
        """By the covariance of the rows; replicates have one frame, whichever of them are fitted together."""
        share = weight[0] if weight.shape == (1, len(rows)) else np.ones(len(rows))
        mean = np.average(rows, axis=0, weights=share)
        centered = rows - mean
        if diagonal:
            squares = np.square(centered, out=centered)
            return cls(rows, Scaling.to_unit(mean, share @ squares / share.sum()), objects=objects)
        frame = whitening(mean, centered.T @ (share[:, None] * centered) / share.sum())
        return cls(rows, frame, objects=objects)

    def _lay_out(self, rows: np.ndarray) -> np.ndarray:
        if isinstance(self.frame, Scaling):
            return in_blocks(rows, self.frame.origin, self.frame.forward[:, 0])
        return in_blocks(self.frame.transform(rows))

    @property
    def blocks(self) -> np.ndarray:
        """The rows as :mod:`evidentia.solvers.posterior_sums` takes them."""
        return self._lay_out(self.rows) if self._kept is None else self._kept

    def e_step(self, theta: np.ndarray, c: int, weights: Callable[[int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Statistics (m, c, width) and log-likelihoods (m,); ``weights(r)`` are those of the rows in mixture r."""
        theta = theta.reshape(-1, c, self.width)
        statistics, log_likelihood, blocks = np.zeros(theta.shape), np.empty(len(theta)), self.blocks
        for r, own in enumerate(theta):
            log_likelihood[r] = add_posterior_sums(blocks, self.n, own, weights(r), statistics[r])
        return statistics, log_likelihood

    def climb(
        self,
        weight: np.ndarray,
        result: Replicates,
        letters: tuple[int, int, int],
        settings: tuple[float, int, float],
    ) -> Replicates:
        """All iterations in compiled loops, from the parameters of the result, which are replaced."""
        trace = np.full((settings[1] + 1, len(result.n_iter)), np.nan)
        frame = tuple(np.ascontiguousarray(part) for part in self.frame[:3])
        _, log_likelihood, _, *counts = result
        m, c, d, side = result.parameters.covariances.shape
        problem = (
            self.blocks,
            self.n,
            weight,
            (*frame, self.frame.log_jacobian),
            tuple(result.parameters),
            (letters, inner_limits()),
            (*settings, float(self.objects)),
            (log_likelihood, trace, *counts),
            tuple(part[0].copy() for part in result.parameters),
        )
        work = 2 * self.n * self.width * c + 100 * c * d * side**2
        share, at = at_a_time(work), (0, 0)
        while at[0] < m:
            at = climb(*problem, at, share)
        return result._replace(trace=trace[: result.n_iter.max() + 1])


def _congruent(matrices: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """F^T M F for symmetric M, by two large products; of diagonals (m, d, 1) with a diagonal factor (d, 1)."""
    d, side = factor.shape
    if side < d:
        return matrices * np.square(factor)
    half = (np.ascontiguousarray(matrices).reshape(-1, d) @ factor).reshape(-1, d, d)
    return (half.swapaxes(1, 2).reshape(-1, d) @ factor).reshape(-1, d, d)


# -- compiled ----------------------------------------------------------------------------------------------------------


@compiled
def moments(statistics, d, diagonal):
    """Means (m, d) and scatters about them (m, d, d) from sums of (y, vech(y y^T), 1).

    Or their diagonals, (m, d, 1), from sums of (y, y², 1).
    """
    m = len(statistics)
    centers, scatter = np.empty((m, d)), np.empty((m, d, 1 if diagonal else d))
    for r in range(m):
        at, size = d, max(statistics[r, -1], TINY)  # of nothing: zero
        for p in range(d):
            centers[r, p] = statistics[r, p] / size
        for p in range(d):
            if diagonal:
                scatter[r, p, 0] = statistics[r, at + p] - statistics[r, p] * centers[r, p]
                continue
            for q in range(p, d):
                scatter[r, p, q] = scatter[r, q, p] = statistics[r, at] - statistics[r, p] * centers[r, q]
                at += 1
    return centers, scatter


@compiled
def congruent(matrices, factor):
    """F^T M F for symmetric M, (m, d, d); of diagonals, (m, d, 1), with a diagonal factor (d, 1)."""
    m, d, side = matrices.shape
    result, half = np.zeros((m, d, side)), np.empty(d)
    for r in range(m):
        if side < d:
            for p in range(d):
                result[r, p, 0] = factor[p, 0] * matrices[r, p, 0] * factor[p, 0]
            continue
        for i in range(d):
            for q in range(d):
                half[q] = 0.0
            for k in range(d):
                for q in range(d):
                    half[q] += matrices[r, i, k] * factor[k, q]
            for p in range(d):
                for q in range(d):
                    result[r, p, q] += factor[i, p] * half[q]
    return result


@compiled
def _affine(rows, before, factor, after, result):
    """(x - before) F + after, with a factor (d, d), or (d, 1) if it is diagonal, put into ``result``."""
    m, d = rows.shape
    for r in range(m):
        for q in range(d):
            if factor.shape[1] < d:
                result[r, q] = (rows[r, q] - before[q]) * factor[q, 0] + after[q]
                continue
            result[r, q] = after[q]
            for p in range(d):
                result[r, q] += (rows[r, p] - before[p]) * factor[p, q]


@compiled
def _e_step(blocks, n_rows, share, frame, state, statistics):
    """Write statistics (c, width); return the log-likelihood and the traces of the precisions."""
    weights, means, covariances = state
    origin, forward, _, log_jacobian = frame
    c, d = means.shape
    offset = np.empty(c)
    for k in range(c):
        offset[k] = np.log(max(weights[k], TINY)) + log_jacobian - 0.5 * d * np.log(2 * np.pi)
    precision, log_det = inverses(congruent(covariances, forward))
    centers = np.empty((c, d))
    _affine(means, origin, forward, np.zeros(d), centers)
    theta, narrowness = quadratic_coefficients(offset, centers, precision, log_det)
    for k in range(c):
        for p in range(statistics.shape[1]):
            statistics[k, p] = 0.0
    so_far = (0.0, np.ones(BLOCK), np.zeros(BLOCK))
    return add_sums_of_some(blocks, n_rows, theta, share, statistics, 0, len(blocks), so_far), narrowness


@compiled
def _expectation(statistics, floor, frame, weights, means, covariances):
    """Scatters (1, c, d, side) and sizes (1, c), in the units of the rows; weights and means are replaced."""
    origin, _, backward, _ = frame
    c, d, side = covariances.shape
    size, total = np.empty((1, c)), statistics[:, -1].sum()
    centers, scatter = moments(statistics, d, side < d)
    scatter = congruent(scatter, backward)
    for k in range(c):
        size[0, k] = statistics[k, -1]
        weights[k] = statistics[k, -1] / total
        for p in range(d):
            for q in range(side):
                scatter[k, p, q] += floor * total * _covariance(backward, p, q)
    _affine(centers, np.zeros(d), backward, origin, means)
    return scatter.reshape(1, c, d, side), size


@compiled
def _covariance(backward, p, q):
    """An entry of B^T B, the covariance of the table, or of its diagonal."""
    d, side = backward.shape
    if side < d:
        return backward[p, 0] * backward[p, 0]
    total = 0.0
    for k in range(d):
        total += backward[k, p] * backward[k, q]
    return total


@compiled
def climb(blocks, n_rows, weight, frame, start, rule, settings, outcome, before, at, share):
    """EM from each start to its end, one after the other, on a table of kept features, ``share`` iterations of it.

    Gives the start and the iteration that come next, which are ``at`` of the next call.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, d, …)
        Rows in the coordinates of the frame, from :func:`evidentia.solvers.posterior_sums.in_blocks`.
    n_rows : int
    weight : ndarray of shape (m, n), or (1, n) for several starts on the same rows, or (1, 0): all are one
    frame : tuple
        Origin (d,), forward and backward (d, d) or (d, 1), log Jacobian.
    start : tuple of ndarray
        Weights, means and covariances of m mixtures, which are replaced by the solutions.
    rule : tuple
        Letters and limits of :func:`evidentia.mixtures._covariances.solve`.
    settings : tuple
        tol, max_iter, reg_covar, and how many objects the rows stand for.
    outcome : tuple of ndarray
        Log-likelihood, trace (max_iter + 1, m), iterations, converged, degenerate, to be written to.
    before : tuple of ndarray
        The mixture one iteration ago: weights (c,), means (c, d) and covariances, to be written to.
    at : tuple of int
        The start, and the iteration of it, that are to come.
    share : int
    """
    tol, max_iter, reg_covar, objects = settings
    log_likelihood, trace, n_iter, converged, degenerate = outcome
    c = start[1].shape[1]
    d, side = start[2].shape[2:]
    statistics = np.empty((c, 1 + d + side * (2 * d - side + 1) // 2))
    r, iteration = at
    while r < len(n_iter) and share > 0:
        share -= 1
        share_of_rows = weight[r if len(weight) > 1 else 0]
        state = (start[0][r], start[1][r], start[2][r])
        total, last = (
            share_of_rows.sum() if len(share_of_rows) else float(n_rows),
            trace[iteration - 1, r] if iteration else -np.inf,
        )
        now, narrowness = _e_step(blocks, n_rows, share_of_rows, frame, state, statistics)
        if now < last - RISE * abs(last):  # the floor of the covariances has the last word: the step is taken back
            state[0][:], state[1][:], state[2][:] = before
            converged[r] = True
            r, iteration = r + 1, 0
            continue
        trace[iteration, r], n_iter[r], log_likelihood[r] = now, iteration, now
        for k in range(c):
            if not (statistics[k, -1] >= SMALLEST_SIZE / objects * total and narrowness[k] * reg_covar < SMALLEST_SIZE):
                degenerate[r] = True
        converged[r] = not degenerate[r] and now - last <= tol * total
        if degenerate[r] or converged[r] or iteration == max_iter:
            r, iteration = r + 1, 0
            continue
        before[0][:], before[1][:], before[2][:] = state
        scatter, size = _expectation(statistics, reg_covar / objects, frame, state[0], state[1], state[2])
        solve(rule[0], size, scatter[:0], scatter, start[2][r : r + 1], rule[1], start[2][r : r + 1])
        iteration += 1
    return r, iteration
