r"""EM for Gaussian mixtures, for many weightings of the same rows at once.

With the features :math:`\phi(x) = (1, x, \mathrm{vech}(xx^T))` a log density is linear,
:math:`\log \pi_k N(x; \mu_k, \Sigma_k) = \theta_k^T \phi(x)`: the densities of all components of all replicates are one
product :math:`\Theta\Phi^T`, and the statistics that the M-step needs are another, :math:`(w \circ r)\,\Phi`. Rows
are whitened first, so that the squares lose no digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._covariances import inner_limits
from evidentia.mixtures._em import quadratic_coefficients
from evidentia.mixtures._em_kernels import SMALLEST_SIZE, TINY, climb, moments, normalize
from evidentia.solvers.compiling import at_a_time
from evidentia.solvers.coordinates import Coordinates
from evidentia.solvers.descent import RISE
from evidentia.solvers.small_matrices import invert

TILE = 1 << 17  # numbers in a tile of replicates × components × rows: one megabyte, which stays in the cache
ROWS = 1024  # rows of a tile, at most
KEPT_FEATURES = 1 << 23  # numbers; the features of a larger table are made anew in each pass
SMALLEST_SPREAD = 1e-4  # of the correlation matrix: a direction with less is not stretched to unit variance
SMALL = 1 << 18  # numbers of features × components up to which the whole of EM is compiled: calls would cost more

Weights = Callable[[slice, slice], np.ndarray]  # of some replicates (or one line for all) and some rows
EStep = Callable[[np.ndarray, int, np.ndarray], tuple[np.ndarray, np.ndarray]]


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
    nothing, and its parameters are those of the moment when it was found out.
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

    Notes
    -----
    Beyond its arguments and its result it needs the memory of one tile (1 MB) and of the features (at most 64 MB).
    """
    weight = _lines(weight, len(rows))
    m, c = max(len(weight), len(start.weights)), start.weights.shape[1]
    table = Features.whiten(rows, weight, start.diagonal, objects)
    if rule.max_ratio is None and table.n * table.width * c <= SMALL:
        return table.climb(weight, _begin(start, m), rule.letters, (float(tol), max_iter, float(reg_covar)))
    return climb_by_steps(
        table, WeightedRows(table, weight), start, m, rule, tol=tol, max_iter=max_iter, reg_covar=reg_covar
    )


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
        size = statistics[:, :, 0]
        total = size.sum(axis=1)
        degenerate = ~steps.healthy(size, narrowness, reg_covar) & ~fell
        converged = ((log_likelihood - last <= tol * total) & ~degenerate) | fell
        finished = converged | degenerate | (iteration == max_iter)
        if finished.any():
            done, going = active[finished], ~finished
            for part, found, earlier in zip(kept, state, before):
                part[done] = found[finished]
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
    weight = _lines(weight, len(rows))
    table = Features.whiten(rows, weight, rule.diagonal, objects)
    share = posterior * weight[:, :, None]
    statistics = sum(share[:, block].swapaxes(1, 2) @ features for block, features in table.blocks())
    return table.m_step(statistics, rule, reg_covar)


def posteriors(rows: np.ndarray, parameters: MixtureParameters) -> np.ndarray:
    """Posterior probabilities of the components given each row, shape (m, n, c)."""
    return evaluate(rows, parameters)[0]


def evaluate(rows: np.ndarray, parameters: MixtureParameters) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities (m, n, c) and log densities (m, n) of rows that need not be those of the fit."""
    m, c = parameters.weights.shape
    table = Features(rows, _overall(parameters))
    theta = table.coefficients(parameters)[0]
    posterior, log_density = np.empty((m, table.n, c)), np.empty((m, table.n))
    for group, block, features, scores in table.tiles(theta, c):
        log_density[group, block] = normalize(scores, np.ones((1, len(features))))
        posterior[group, block] = scores.swapaxes(1, 2)
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


def _lines(weight: np.ndarray | None, n: int) -> np.ndarray:
    return np.ones((1, n)) if weight is None else np.atleast_2d(np.asarray(weight, dtype=float))


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
        size = statistics[:, :, 0]
        total = size.sum(axis=1, keepdims=True)
        centers, scatter = moments(statistics.reshape(m * c, self.width), self.d, self.side < self.d)
        means = self.frame.inverse_transform(centers).reshape(m, c, self.d)
        scatter = _congruent(scatter, self.frame.backward).reshape(m, c, self.d, self.side)
        scatter += (reg_covar / self.objects * total)[:, :, None, None] * self.spread
        least = SMALLEST_SIZE / self.objects * total  # what is smaller has vanished, and has no covariance of its own
        return MixtureParameters(size / total, means, rule(scatter, np.maximum(size, least), previous))


class Features(Steps):
    """Rows in coordinates of unit covariance, or variances, served as blocks of features, which may be kept."""

    def __init__(
        self,
        rows: np.ndarray,
        frame: Coordinates | Scaling,
        keep: bool | None = None,
        objects: float | None = None,
    ):
        super().__init__(frame, len(rows) if objects is None else objects)
        self.rows, self.n = rows, len(rows)
        keep = self.n * self.width <= KEPT_FEATURES if keep is None else keep
        self._cache = list(self._make_blocks()) if keep else None

    @classmethod
    def whiten(cls, rows: np.ndarray, weight: np.ndarray, diagonal: bool, objects: float | None = None) -> Features:
        """By the covariance of the rows; replicates have one frame, whichever of them are fitted together."""
        share = weight[0] if len(weight) == 1 else np.ones(len(rows))
        mean = np.average(rows, axis=0, weights=share)
        centered = rows - mean
        if diagonal:
            squares = np.square(centered, out=centered)
            return cls(rows, Scaling.to_unit(mean, share @ squares / share.sum()), None, objects)
        return cls(rows, whitening(mean, centered.T @ (share[:, None] * centered) / share.sum()), None, objects)

    def _make_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, self.n, ROWS):
            block = slice(start, min(start + ROWS, self.n))
            features = np.empty((block.stop - start, self.width))
            Y, products = features[:, 1 : 1 + self.d], features[:, 1 + self.d :]
            features[:, 0], Y[:] = 1, self.frame.transform(self.rows[block])
            if self.side < self.d:
                np.square(Y, out=products)
            else:
                np.multiply(Y[:, self.low], Y[:, self.high], out=products)
            yield block, features

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """``(rows, features (rows, width))``, the features being (1, y, vech(y y^T)) or (1, y, y²)."""
        return self._make_blocks() if self._cache is None else iter(self._cache)

    def tiles(self, theta: np.ndarray, c: int) -> Iterator[tuple[slice, slice, np.ndarray, np.ndarray]]:
        """``(replicates, rows, features, joint log densities (replicates, c, rows))``."""
        step = max(1, TILE // (c * min(self.n, ROWS)))
        for block, features in self.blocks():
            for start in range(0, len(theta), step * c):
                scores = theta[start : start + step * c] @ features.T
                group = slice(start // c, start // c + len(scores) // c)
                yield group, block, features, scores.reshape(-1, c, len(features))

    def e_step(self, theta: np.ndarray, c: int, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
        """Statistics (m, c, width) and log-likelihoods (m,)."""
        m = len(theta) // c
        statistics, log_likelihood = np.zeros((m, c, self.width)), np.zeros(m)
        for group, block, features, scores in self.tiles(theta, c):
            share = weights(group, block)
            log_likelihood[group] += (share * normalize(scores, share)).sum(axis=1)
            statistics[group] += (scores.reshape(-1, len(features)) @ features).reshape(-1, c, self.width)
        return statistics, log_likelihood

    def climb(
        self,
        weight: np.ndarray,
        result: Replicates,
        letters: tuple[int, int, int],
        settings: tuple[float, int, float],
    ) -> Replicates:
        """All iterations in compiled loops, from the parameters of the result, which are replaced."""
        features = np.ascontiguousarray(np.concatenate([block for _, block in self.blocks()]))
        trace = np.full((settings[1] + 1, len(result.n_iter)), np.nan)
        frame = tuple(np.ascontiguousarray(part) for part in self.frame[:3])
        _, log_likelihood, _, *counts = result
        m, c, d, side = result.parameters.covariances.shape
        problem = (
            features,
            np.ascontiguousarray(weight),
            (*frame, self.frame.log_jacobian),
            tuple(result.parameters),
            (letters, inner_limits()),
            (*settings, float(self.objects)),
            (log_likelihood, trace, *counts),
            tuple(part[0].copy() for part in result.parameters),
        )
        share, at = at_a_time(2 * features.size * c + 100 * c * d * side**2), (0, 0)
        while at[0] < m:
            at = climb(*problem, at, share)
        return result._replace(trace=trace[: result.n_iter.max() + 1])


class WeightedRows:
    """The E-step over rows in memory with a line of weights for each replicate, or one for all."""

    def __init__(self, table: Features, weight: np.ndarray):
        self.table, self.weight, self.numbers = table, weight, np.arange(len(weight))

    def __call__(self, theta: np.ndarray, c: int, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if 1 < len(self.weight) != len(active):  # those that are done need no weights any more
            self.weight, self.numbers = self.weight[np.isin(self.numbers, active)], active
        several = len(self.numbers) > 1
        return self.table.e_step(theta, c, lambda group, block: self.weight[group if several else slice(None), block])


def _congruent(matrices: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """F^T M F for symmetric M, by two large products; of diagonals (m, d, 1) with a diagonal factor (d, 1)."""
    d, side = factor.shape
    if side < d:
        return matrices * np.square(factor)
    half = (np.ascontiguousarray(matrices).reshape(-1, d) @ factor).reshape(-1, d, d)
    return (half.swapaxes(1, 2).reshape(-1, d) @ factor).reshape(-1, d, d)
