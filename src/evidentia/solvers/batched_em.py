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
from numba import njit

from evidentia.solvers.coordinates import RANK_TOLERANCE, Coordinates
from evidentia.solvers.small_matrices import inverses

TILE = 1 << 17  # numbers in a tile of replicates × components × rows: one megabyte, which stays in the cache
ROWS = 1024  # rows of a tile, at most
KEPT_FEATURES = 1 << 23  # numbers; the features of a larger table are made anew in each pass
SMALLEST_SHARE = 0.5  # of one row: a component that holds less has vanished
NEGLIGIBLE = -40.0  # log of a posterior probability that does not change the sum of all

CovarianceRule = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], np.ndarray]


class MixtureParameters(NamedTuple):
    """Gaussian mixtures along the leading axis: shapes (m, c), (m, c, d) and (m, c, d, d)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def take(self, which: np.ndarray | slice) -> MixtureParameters:
        """Some of the mixtures."""
        return MixtureParameters(self.weights[which], self.means[which], self.covariances[which])


class Replicates(NamedTuple):
    """What :func:`fit_replicates` found for each replicate.

    ``degenerate`` says that a component vanished or that its covariance became singular: the likelihood of such a
    replicate means nothing, and its parameters are those of the moment when it was found out.
    """

    parameters: MixtureParameters
    log_likelihood: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    degenerate: np.ndarray


def whitening(mean: np.ndarray, covariance: np.ndarray) -> Coordinates:
    """Coordinates of unit covariance. Directions without spread are kept, as if they had a very small one."""
    deviation = np.sqrt(np.diag(covariance))
    deviation[deviation == 0] = 1
    correlation = covariance / deviation / deviation[:, None]
    values, vectors = np.linalg.eigh(correlation + RANK_TOLERANCE * np.eye(len(mean)))
    root = np.sqrt(np.maximum(values, RANK_TOLERANCE / 2))
    log_jacobian = -float(np.log(root).sum() + np.log(deviation).sum())
    return Coordinates(mean, vectors / root / deviation[:, None], (vectors * root).T * deviation, log_jacobian)


def _features(Y: np.ndarray) -> np.ndarray:
    """(1, y, vech(y y^T)) of each row."""
    low, high = np.triu_indices(Y.shape[1])
    return np.hstack([np.ones((len(Y), 1)), Y, Y[:, low] * Y[:, high]])


class _Table:
    """Whitened rows, served as blocks of features."""

    def __init__(self, rows: np.ndarray, frame: Coordinates):
        self.frame, self.rows, (self.n, self.d) = frame, rows, rows.shape
        self.low, self.high = np.triu_indices(self.d)
        self.vech = np.zeros((self.d, self.d), int)
        self.vech[self.low, self.high] = self.vech[self.high, self.low] = np.arange(len(self.low))
        width = 1 + self.d + len(self.low)
        self._kept = list(self._make_blocks()) if self.n * width <= KEPT_FEATURES else None

    def _make_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, self.n, ROWS):
            block = slice(start, min(start + ROWS, self.n))
            yield block, _features(self.frame.to(self.rows[block]))

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        return self._make_blocks() if self._kept is None else iter(self._kept)

    def groups(self, m: int, c: int) -> Iterator[slice]:
        """Replicates that share a tile."""
        step = max(1, TILE // (c * min(self.n, ROWS)))
        return (slice(start, min(start + step, m)) for start in range(0, m, step))

    def coefficients(self, parameters: MixtureParameters) -> tuple[np.ndarray, np.ndarray]:
        """Theta (m c, width), and the trace of each precision in whitened coordinates (m, c)."""
        weights, means, covariances = parameters
        precision, log_det = inverses(_congruent(covariances.reshape(-1, self.d, self.d), self.frame.forward))
        center = self.frame.to(means.reshape(-1, self.d))
        linear = (precision @ center[:, :, None])[:, :, 0]
        theta = np.empty((m * c, 1 + self.d + len(self.low)))
        constant = log_det + (linear * center).sum(axis=1) + self.d * np.log(2 * np.pi)
        theta[:, 0] = np.log(weights).ravel() - 0.5 * constant + self.frame.log_jacobian
        theta[:, 1 : 1 + self.d] = linear
        theta[:, 1 + self.d :] = precision[:, self.low, self.high] * np.where(self.low == self.high, -0.5, -1.0)
        return theta, np.einsum("mjj->m", precision).reshape(m, c)

    def moments(self, statistics: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sizes (m, c), means (m, c, d) and scatters (m, c, d, d), in the units of the rows."""
        m, c, _ = statistics.shape
        flat = statistics.reshape(m * c, -1)
        size = flat[:, :1]
        center = flat[:, 1 : 1 + self.d] / size
        scatter = flat[:, 1 + self.d + self.vech] - (size * center)[:, :, None] * center[:, None, :]
        scatter = _congruent(scatter, self.frame.backward)
        means = self.frame.back(center)
        return size.reshape(m, c), means.reshape(m, c, self.d), scatter.reshape(m, c, self.d, self.d)

    def tiles(self, parameters: MixtureParameters) -> Iterator[tuple[slice, slice, np.ndarray, np.ndarray]]:
        """``(replicates, rows, features, joint log densities)``, the last of shape (replicates, c, rows)."""
        m, c = parameters.weights.shape
        theta = self.coefficients(parameters)[0]
        for block, features in self.blocks():
            for group in self.groups(m, c):
                scores = theta[group.start * c : group.stop * c] @ features.T
                yield group, block, features, scores.reshape(-1, c, len(features))

    def e_step(self, parameters: MixtureParameters, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Statistics (m, c, width) and log-likelihoods (m,)."""
        m, c = parameters.weights.shape
        statistics, log_likelihood = np.zeros((m, c, self.width)), np.zeros(m)
        for group, block, features, scores in self.tiles(parameters):
            share = weight[group if len(weight) > 1 else slice(None), block]
            log_likelihood[group] += (share * _normalise(scores, share)).sum(axis=1)
            statistics[group] += (scores.reshape(-1, len(features)) @ features).reshape(-1, c, self.width)
        return statistics, log_likelihood

    def statistics(self, posterior: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Statistics (m, c, width) of posterior probabilities (m, n, c)."""
        return sum(
            np.einsum("mnc,mn,np->mcp", posterior[:, block], weight[:, block], features, optimize=True)
            for block, features in self.blocks()
        )

    def m_step(
        self, statistics: np.ndarray, rule: CovarianceRule, reg_covar: float, previous: np.ndarray | None = None
    ) -> MixtureParameters:
        size, means, scatter = self.moments(statistics)
        total = size.sum(axis=1, keepdims=True)
        one_row = (total / self.n)[:, :, None, None] * (self.frame.backward.T @ self.frame.backward)
        return MixtureParameters(size / total, means, rule(scatter + reg_covar * one_row, size, previous))


def _congruent(matrices: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """F^T M F for symmetric M, by two large products."""
    d = len(factor)
    half = (np.ascontiguousarray(matrices).reshape(-1, d) @ factor).reshape(-1, d, d)
    return (half.swapaxes(1, 2).reshape(-1, d) @ factor).reshape(-1, d, d)


@njit(cache=True)
def _normalise(scores, weight):
    """Log densities (m, n) from joint ones (m, c, n), which turn into weighted posterior probabilities.

    ``weight`` has m lines, or one for all.
    """
    m, c, n = scores.shape
    log_density = np.zeros((m, n))
    for r in range(m):
        share = weight[r if len(weight) > 1 else 0]
        for i in range(n):
            if share[i] == 0.0:
                scores[r, :, i] = 0.0
                continue
            top = scores[r, 0, i]
            for k in range(1, c):
                top = max(top, scores[r, k, i])
            total = 0.0
            for k in range(c):
                gap = scores[r, k, i] - top
                scores[r, k, i] = np.exp(gap) if gap > NEGLIGIBLE else 0.0
                total += scores[r, k, i]
            for k in range(c):
                scores[r, k, i] *= share[i] / total
            log_density[r, i] = top + np.log(total)
    return log_density


def _table(rows: np.ndarray, weight: np.ndarray) -> _Table:
    """Rows whitened by their covariance under the mean weight."""
    share = weight.mean(axis=0)
    mean = np.average(rows, axis=0, weights=share)
    centred = rows - mean
    return _Table(rows, whitening(mean, centred.T @ (share[:, None] * centred) / share.sum()))


def from_posteriors(
    rows: np.ndarray,
    weight: np.ndarray | None,
    posterior: np.ndarray,
    rule: CovarianceRule,
    *,
    reg_covar: float = 1e-8,
) -> MixtureParameters:
    """One M-step from given probabilities of the components, shape (m, n, c): a start for :func:`fit_replicates`."""
    weight = np.ones((1, len(rows))) if weight is None else np.atleast_2d(weight)
    table = _table(rows, weight)
    return table.m_step(table.statistics(posterior, weight), rule, reg_covar)


def fit_replicates(
    rows: np.ndarray,
    weight: np.ndarray | None,
    start: MixtureParameters,
    rule: CovarianceRule,
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
    reg_covar: float = 1e-8,
) -> Replicates:
    """Fit one mixture to each weighting of the rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weight : ndarray of shape (m, n), (1, n) or None
        Weights count as copies. None or one line serve several starts on the same data.
    start : MixtureParameters
        m mixtures, or one for all.
    rule : callable
        ``rule(scatter, size, previous) -> covariances``: the M-step of a covariance model, as
        ``functools.partial(covariances, "VEV")``.
    tol : float
        A replicate has converged when its log-likelihood per object rises by no more than this.
    max_iter : int
    reg_covar : float
        The covariance of the whole table times this is added to each scatter, and a component whose covariance is
        smaller than it in some direction is called singular.

    Returns
    -------
    Replicates
        In the order of the weights. What a replicate gives does not depend on the others.

    Notes
    -----
    Memory is that of the results and of one tile of a megabyte, beyond the features of at most 8,192 k numbers.
    """
    n, d = rows.shape
    weight = np.ones((1, n)) if weight is None else np.atleast_2d(weight)
    m = max(len(weight), len(start.weights))
    mean_weight = weight.mean(axis=0)
    mean = np.average(rows, axis=0, weights=mean_weight)
    covariance = (rows - mean).T @ (mean_weight[:, None] * (rows - mean)) / mean_weight.sum()
    table = _Table(rows, whitening(mean, covariance))

    parameters = MixtureParameters(*(np.array(np.broadcast_to(part, (m, *part.shape[1:]))) for part in start))
    result = Replicates(parameters, np.empty(m), np.zeros(m, int), np.zeros(m, bool), np.zeros(m, bool))
    active, state, last = np.arange(m), parameters, np.full(m, -np.inf)
    for iteration in range(max_iter + 1):
        statistics, log_likelihood, trace = table.e_step(state, weight)
        size = statistics[:, :, 0]
        total = size.sum(axis=1)
        vanished = (size < SMALLEST_SHARE / n * total[:, None]).any(axis=1)
        degenerate = vanished | ~(trace <= 1 / reg_covar).all(axis=1)
        converged = (log_likelihood - last <= tol * total) & ~degenerate
        finished = converged | degenerate | (iteration == max_iter)
        if finished.any():
            done = active[finished]
            for part, found in zip(parameters, state):
                part[done] = found[finished]
            result.log_likelihood[done], result.n_iter[done] = log_likelihood[finished], iteration
            result.converged[done], result.degenerate[done] = converged[finished], degenerate[finished]
            going = ~finished
            if not going.any():
                break
            active, state, statistics = active[going], state.take(going), statistics[going]
            log_likelihood = log_likelihood[going]
            weight = weight[going] if len(weight) > 1 else weight
        last = log_likelihood
        state = table.m_step(statistics, rule, reg_covar, state.covariances)
    return result
