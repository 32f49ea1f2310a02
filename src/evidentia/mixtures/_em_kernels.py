r"""Compiled parts of EM for Gaussian mixtures, and the whole of it for tables so small that calls would cost more.

With the features :math:`\phi(y) = (1, y, \mathrm{vech}(yy^T))`, or :math:`(1, y, y^2)` for diagonal covariances, a log
density is linear; see :mod:`evidentia.mixtures._replicates`. A diagonal matrix is an array of shape (d, 1).
"""

from __future__ import annotations

import numpy as np

from evidentia.mixtures._covariances import solve
from evidentia.mixtures._em import quadratic_coefficients
from evidentia.solvers.compiling import compiled
from evidentia.solvers.descent import RISE
from evidentia.solvers.small_matrices import inverses

NEGLIGIBLE = -40.0  # log of a ratio of densities too small to change their sum
TINY = np.finfo(float).tiny
SMALLEST_SIZE = 0.5  # rows: a component that holds less has vanished


@compiled
def moments(statistics, d, diagonal):
    """Means (m, d) and scatters about them (m, d, d) from sums of (1, y, vech(y y^T)).

    Or their diagonals, (m, d, 1), from sums of (1, y, y²).
    """
    m = len(statistics)
    centers, scatter = np.empty((m, d)), np.empty((m, d, 1 if diagonal else d))
    for r in range(m):
        at = 1 + d
        for p in range(d):
            centers[r, p] = statistics[r, 1 + p] / max(statistics[r, 0], TINY)  # of nothing: zero
        for p in range(d):
            if diagonal:
                scatter[r, p, 0] = statistics[r, at + p] - statistics[r, 1 + p] * centers[r, p]
                continue
            for q in range(p, d):
                scatter[r, p, q] = scatter[r, q, p] = statistics[r, at] - statistics[r, 1 + p] * centers[r, q]
                at += 1
    return centers, scatter


@compiled
def _exp(gap):
    """exp of a number in [-40, 0], to thirteen digits: a series for a small part of it, squared seven times.

    Loops over this become vector instructions, which those over the exp of the library do not.
    """
    x = gap / 128.0
    series = 1.0
    for n in range(13, 0, -1):
        series = 1.0 + series * (x * (1.0 / n))
    for _ in range(7):
        series *= series
    return series


@compiled(nogil=True)
def normalize(scores, weight):
    """Log densities (m, n) from joint ones (m, c, n), which turn into posterior probabilities times weights.

    ``weight`` has m lines, or one for all; the log density of a row of weight zero is put to zero.
    """
    m, c, n = scores.shape
    log_density, total = np.empty((m, n)), np.empty(n)
    for r in range(m):
        share, top = weight[r if len(weight) > 1 else 0], log_density[r]
        for i in range(n):
            top[i], total[i] = scores[r, 0, i], 0.0
        for k in range(1, c):
            for i in range(n):
                top[i] = max(top[i], scores[r, k, i])
        for k in range(c):
            for i in range(n):
                gap = scores[r, k, i] - top[i]
                ratio = _exp(max(gap, NEGLIGIBLE))
                scores[r, k, i] = ratio if gap > NEGLIGIBLE else 0.0
                total[i] += scores[r, k, i]
        for i in range(n):
            top[i] = top[i] + np.log(total[i]) if share[i] > 0.0 else 0.0
            total[i] = share[i] / total[i]
        for k in range(c):
            for i in range(n):
                scores[r, k, i] *= total[i]
    return log_density


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
def _e_step(features, share, frame, state, scores, statistics):
    """Statistics (c, width) are written; gives the log-likelihood and the traces of the precisions."""
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
    np.dot(theta, features.T, scores)
    log_density = normalize(scores.reshape(1, c, len(features)), share)
    np.dot(scores, features, statistics)
    log_likelihood = 0.0
    for i in range(len(features)):
        log_likelihood += share[0, i] * log_density[0, i]
    return log_likelihood, narrowness


@compiled
def _expectation(statistics, floor, frame, weights, means, covariances):
    """Scatters (1, c, d, side) and sizes (1, c), in the units of the rows; weights and means are replaced."""
    origin, _, backward, _ = frame
    c, d, side = covariances.shape
    size, total = np.empty((1, c)), statistics[:, 0].sum()
    centers, scatter = moments(statistics, d, side < d)
    scatter = congruent(scatter, backward)
    for k in range(c):
        size[0, k] = statistics[k, 0]
        weights[k] = statistics[k, 0] / total
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
def climb(features, weight, frame, start, rule, settings, outcome, before, at, share):
    """EM from each start to its end, one after the other, on a table of kept features, ``share`` iterations of it.

    Gives the start and the iteration that come next, which are ``at`` of the next call.

    Parameters
    ----------
    features : ndarray of shape (n, width)
        Of rows in the coordinates of the frame.
    weight : ndarray of shape (m, n), or (1, n) for several starts on the same rows
    frame : tuple
        Origin (d,), forward and backward (d, d) or (d, 1), log Jacobian.
    start : tuple of ndarray
        Weights, means and covariances of m mixtures, which are replaced by what is found.
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
    n, width = features.shape
    scores, statistics = np.empty((c, n)), np.empty((c, width))
    r, iteration = at
    while r < len(n_iter) and share > 0:
        share -= 1
        weights = weight[r : r + 1] if len(weight) > 1 else weight
        state = (start[0][r], start[1][r], start[2][r])
        total, last = weights.sum(), trace[iteration - 1, r] if iteration else -np.inf
        now, narrowness = _e_step(features, weights, frame, state, scores, statistics)
        if now < last - RISE * abs(last):  # the floor of the covariances has the last word: the step is taken back
            state[0][:], state[1][:], state[2][:] = before
            converged[r] = True
            r, iteration = r + 1, 0
            continue
        trace[iteration, r], n_iter[r], log_likelihood[r] = now, iteration, now
        for k in range(c):
            if not (statistics[k, 0] >= SMALLEST_SIZE / objects * total and narrowness[k] * reg_covar < SMALLEST_SIZE):
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
