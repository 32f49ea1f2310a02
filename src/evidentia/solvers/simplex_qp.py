r"""Minimize :math:`x^T Q x + u^T x` over the simplex :math:`x \ge 0, \sum x = 1`, for positive semi-definite Q.

A primal active-set method: on the present support the minimizer solves a small linear system; a negative entry
leaves the support, the entry with the steepest descent outside enters. Started from the solution of a similar
problem it needs a few of these steps. Q may be singular (the whole frame meets every set, so its row of a
disjointness table is zero): a relative shift of 1e-12 picks one of the equal minimizers and changes the minimum by no
more than that.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled

SHIFT = 1e-12
TOLERANCE = 1e-10


def program_work(f: int) -> float:
    """Simple steps of a program over f entries that all leave one by one, the worst that is seen."""
    return f**4 / 24 + 10 * f**3


@compiled
def _cholesky(matrix, size):
    """Lower factor in place, of the leading ``size`` rows and columns."""
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(max(total, 1e-300)) if i == j else total / matrix[j, j]


@compiled
def _solve(factor, size, right):
    """Forward and back substitution in place."""
    for i in range(size):
        for k in range(i):
            right[i] -= factor[i, k] * right[k]
        right[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            right[i] -= factor[k, i] * right[k]
        right[i] /= factor[i, i]


@compiled
def minimize_on_simplex(Q, u, x):
    """Move ``x``, a point of the simplex, to the minimizer; in place.

    Parameters
    ----------
    Q : ndarray of shape (f, f)
        Symmetric, positive semi-definite.
    u : ndarray of shape (f,)
    x : ndarray of shape (f,)
        Feasible start, overwritten by the solution.
    """
    f = len(u)
    scale = 0.0
    for k in range(f):
        scale = max(scale, Q[k, k], abs(u[k]))
    if scale == 0.0:
        return
    free = x > 0
    factor = np.empty((f, f))
    level = np.empty(f)
    target = np.empty(f)
    at = np.empty(f, dtype=np.int64)
    for _ in range(10 * f + 10):
        size = 0
        for k in range(f):
            if free[k]:
                at[size] = k
                size += 1
        # on the support: 2 Q x + u = lambda 1 and sum x = 1
        for a in range(size):
            for b in range(a + 1):
                factor[a, b] = 2 * Q[at[a], at[b]]
            factor[a, a] += SHIFT * scale
            target[a] = -u[at[a]]
            level[a] = 1.0
        _cholesky(factor, size)
        _solve(factor, size, target)
        _solve(factor, size, level)
        multiplier = (1.0 - target[:size].sum()) / level[:size].sum()
        step = 1.0
        blocking = -1
        for a in range(size):
            target[a] += multiplier * level[a]
            if target[a] < 0.0:
                reach = x[at[a]] / (x[at[a]] - target[a])
                if reach < step:
                    step = reach
                    blocking = a
        for a in range(size):
            x[at[a]] += step * (target[a] - x[at[a]])
        if blocking >= 0:
            x[at[blocking]] = 0.0
            free[at[blocking]] = False
            continue
        steepest = -1
        lowest = multiplier - TOLERANCE * scale
        for k in range(f):
            if not free[k]:
                slope = u[k]
                for a in range(size):
                    slope += 2 * Q[k, at[a]] * x[at[a]]
                if slope < lowest:
                    lowest = slope
                    steepest = k
        if steepest < 0:
            break
        free[steepest] = True
    total = 0.0
    for k in range(f):
        x[k] = max(x[k], 0.0)
        total += x[k]
    for k in range(f):
        x[k] /= total
