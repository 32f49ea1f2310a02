r"""Row-wise quadratic programming: fit a credal partition to numbers given for pairs of objects.

The criterion is

.. math::
    J(M) = \sum_t \sum_{i < j} \left( m_i^T A_t m_j - d^t_{ij} \right)^2

with small symmetric matrices :math:`A_t`. EVCLUS has one, the disjointness table, and dissimilarities as targets;
bootGMM has two, for "same" and "different", and the bounds of confidence intervals. In one row :math:`m_i` it is a
quadratic programme on the simplex, so a sweep over the rows never raises it (ter Braak, Kourmpetis, Kiers & Bink
2009; Denœux, Sriboonchitta & Kanjanatarakul 2016).

With all pairs given, :math:`\sum_{j \ne i} m_j m_j^T` is one f × f matrix that two rank-one terms keep up to date,
and a sweep is one pass over the targets: O(n² f) time. With k partners per object it is O(n k f²) time and O(n k)
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.simplex_qp import minimize_on_simplex


class PairTargets(NamedTuple):
    """Targets for some of the pairs, as rows of a symmetric sparse matrix: each pair stands in both rows.

    ``values[t, indptr[i]:indptr[i + 1]]`` belong to object i and its partners ``indices[indptr[i]:indptr[i + 1]]``.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


class Descent(NamedTuple):
    """Masses, the criterion after each sweep (first: at the start), and whether the stopping rule was met."""

    masses: np.ndarray
    trace: np.ndarray
    converged: bool


@njit(cache=True)
def _move_row(masses, i, gram, pull, forms):
    """Minimise over row i; ``pull[t]`` is the sum of its targets times its partners. Gives the change of J."""
    f = masses.shape[1]
    Q = np.zeros((f, f))
    u = np.zeros(f)
    for t in range(len(forms)):
        Q += forms[t] @ gram @ forms[t]
        u -= 2 * (forms[t] @ pull[t])
    old = masses[i].copy()
    minimize_on_simplex(Q, u, masses[i])
    new = masses[i]
    change = (new @ Q @ new + u @ new) - (old @ Q @ old + u @ old)
    if change > 0.0:  # rounding at a minimum already reached
        masses[i] = old
        return 0.0
    return change


@njit(cache=True)
def _sweep_dense(masses, forms, targets):
    """One pass over all rows when every pair has a target, ``targets (t, n, n)``."""
    n, f = masses.shape
    gram = masses.T @ masses
    pull = np.empty((len(forms), f))
    change = 0.0
    for i in range(n):
        for t in range(len(forms)):
            for k in range(f):
                pull[t, k] = 0.0
            row = targets[t, i]
            for j in range(n):
                for k in range(f):
                    pull[t, k] += row[j] * masses[j, k]
            for k in range(f):
                pull[t, k] -= row[i] * masses[i, k]
        for k in range(f):
            for m in range(f):
                gram[k, m] -= masses[i, k] * masses[i, m]
        change += _move_row(masses, i, gram, pull, forms)
        for k in range(f):
            for m in range(f):
                gram[k, m] += masses[i, k] * masses[i, m]
    return change


@njit(cache=True)
def _sweep_pairs(masses, forms, indptr, indices, values):
    """One pass over all rows when each has some partners."""
    n, f = masses.shape
    gram = np.empty((f, f))
    pull = np.empty((len(forms), f))
    change = 0.0
    for i in range(n):
        gram[:] = 0.0
        pull[:] = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            partner = masses[indices[at]]
            for k in range(f):
                for m in range(f):
                    gram[k, m] += partner[k] * partner[m]
                for t in range(len(forms)):
                    pull[t, k] += values[t, at] * partner[k]
        change += _move_row(masses, i, gram, pull, forms)
    return change


@njit(cache=True)
def place_rows(new, forms, masses, partners, targets):
    """Minimise over rows that are not in the partition, each against its partners; ``new`` holds starts and results.

    ``partners (n_new, k)`` number rows of ``masses``; ``targets (t, n_new, k)`` are what the pairs should give.
    """
    f = new.shape[1]
    gram = np.empty((f, f))
    pull = np.empty((len(forms), f))
    for i in range(len(new)):
        gram[:] = 0.0
        pull[:] = 0.0
        for at in range(partners.shape[1]):
            partner = masses[partners[i, at]]
            for k in range(f):
                for m in range(f):
                    gram[k, m] += partner[k] * partner[m]
                for t in range(len(forms)):
                    pull[t, k] += targets[t, i, at] * partner[k]
        _move_row(new, i, gram, pull, forms)


def criterion(masses: np.ndarray, forms: np.ndarray, targets: np.ndarray | PairTargets) -> float:
    """J(M), computed from scratch in blocks of rows."""
    total = 0.0
    if isinstance(targets, PairTargets):
        rows = np.repeat(np.arange(len(masses)), np.diff(targets.indptr))
        for form, values in zip(forms, targets.values):
            moved = masses @ form
            for block in row_blocks(len(rows), 2 * masses.shape[1]):
                found = np.einsum("pf,pf->p", moved[rows[block]], masses[targets.indices[block]])
                total += float(np.square(found - values[block]).sum())
        return total / 2
    for form, wanted in zip(forms, targets):
        for block in row_blocks(len(masses), len(masses)):
            gap = masses[block] @ form @ masses.T - wanted[block]
            np.fill_diagonal(gap[:, block], 0)
            total += float(np.square(gap).sum())
    return total / 2


def irqp(
    masses: np.ndarray,
    forms: np.ndarray,
    targets: np.ndarray | PairTargets,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Callable[[int, float], Any] | None = None,
) -> Descent:
    """Sweep over the rows until the running mean of the relative change falls below ``tol``.

    The rule is (18) of Denœux (2020): the mean starts at 1 and each sweep averages it with its own relative change.

    Parameters
    ----------
    masses : ndarray of shape (n_samples, n_focal)
        Start; it is not changed.
    forms : ndarray of shape (n_forms, n_focal, n_focal)
        The symmetric matrices :math:`A_t`.
    targets : ndarray of shape (n_forms, n_samples, n_samples) or PairTargets
        The diagonal is not looked at.
    tol : float
        Threshold of the stopping rule.
    max_iter : int
        Largest number of sweeps.
    watch : callable, optional
        Called after each sweep with its number and the criterion.

    Returns
    -------
    Descent
        An interrupt from the keyboard ends the search and keeps what the last whole row update left.
    """
    masses = np.ascontiguousarray(masses, dtype=float).copy()
    forms = np.ascontiguousarray(forms, dtype=float)
    trace = [criterion(masses, forms, targets)]
    error, converged = 1.0, trace[0] == 0
    try:
        while not converged and len(trace) <= max_iter:
            if isinstance(targets, PairTargets):
                change = _sweep_pairs(masses, forms, *targets)
            else:
                change = _sweep_dense(masses, forms, targets)
            trace.append(max(trace[-1] + change, 0.0))
            error = 0.5 * error + 0.5 * -change / trace[-2]
            converged = error < tol or trace[-1] == 0
            if watch is not None:
                watch(len(trace) - 1, trace[-1])
    except KeyboardInterrupt:
        pass
    return Descent(masses, np.array(trace), converged)


def symmetric_pairs(pairs: np.ndarray, values: np.ndarray, n_samples: int) -> PairTargets:
    """Targets ``values (n_forms, n_pairs)`` of ``pairs (n_pairs, 2)``, each given once, as rows of both objects."""
    i, j = np.asarray(pairs).T
    row, column = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort([column, row])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_samples))])
    both = np.concatenate([values, values], axis=1)[:, order]
    return PairTargets(indptr, column[order], np.ascontiguousarray(both))
