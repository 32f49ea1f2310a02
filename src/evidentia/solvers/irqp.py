r"""Row-wise quadratic programming: fit a credal partition to numbers given for pairs of objects.

The criterion is

.. math::
    J(M) = \sum_t \sum_{i < j} \left( m_i^T A_t m_j - d^t_{ij} \right)^2 + \sum_{i < j} w_{ij}\, m_i^T B m_j

with small symmetric matrices :math:`A_t`, :math:`B`. EVCLUS has one :math:`A`, the disjointness table, and
dissimilarities as targets; bootGMM has two, for "same" and "different", and the bounds of confidence intervals. The
second sum is there when an expert links some pairs (CEVCLUS). In one row :math:`m_i` it is a quadratic program on the
simplex, so a sweep over the rows never raises it (ter Braak, Kourmpetis, Kiers & Bink 2009; Denœux, Sriboonchitta &
Kanjanatarakul 2016).

With all pairs given, :math:`\sum_{j \ne i} m_j m_j^T` is one f × f matrix that two rank-one terms keep up to date,
and a sweep is one pass over the targets: O(n² f) time. With k partners per object it is O(n k f²) time and O(n k)
memory; when groups of objects share their partners, the matrix is made once a group, and all but O(n k f) of the time
goes into products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.compiling import compiled
from evidentia.solvers.descent import Run
from evidentia.solvers.simplex_qp import minimize_on_simplex


class PairTargets(NamedTuple):
    """Targets for some of the pairs, as rows of a symmetric sparse matrix: each pair stands in both rows.

    ``values[t, indptr[i]:indptr[i + 1]]`` belong to object i and its partners ``indices[indptr[i]:indptr[i + 1]]``.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


class GroupTargets(NamedTuple):
    """Targets for pairs of objects whose groups are partners of each other.

    Position p belongs to object ``order[p]`` and to group ``p // size``; the last places of the last groups are empty.
    ``partners (n_groups, n_partners)`` holds groups: symmetric, and never the group itself, so that the rows of a group
    do not touch each other. ``values (t, n_groups, size, n_partners * size)`` are the targets, zero at empty places.
    """

    order: np.ndarray
    partners: np.ndarray
    values: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """Positions of the partners of each group, shape (n_groups, n_partners * size)."""
        size = self.values.shape[2]
        return (self.partners[:, :, None] * size + np.arange(size)).reshape(len(self.partners), -1)


class Links(NamedTuple):
    """The second sum of J: ``form`` is B and the rest a symmetric sparse matrix of weights, each link in both rows.

    ``constant`` is added to J, which must not fall below zero.
    """

    form: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    constant: float


@compiled
def _improve_row(masses, i, Q, u):
    """Minimize x'Qx + u'x over row i. Gives the change."""
    old = masses[i].copy()
    minimize_on_simplex(Q, u, masses[i])
    new = masses[i]
    change = (new @ Q @ new + u @ new) - (old @ Q @ old + u @ old)
    if change > 0.0:  # rounding at a minimum already reached
        masses[i] = old
        return 0.0
    return change


@compiled
def _quadratic(gram, forms):
    Q = forms[0] @ gram @ forms[0]
    for t in range(1, len(forms)):
        Q += forms[t] @ gram @ forms[t]
    return Q


@compiled
def _linear(pull, forms):
    """``pull[t]`` is the sum of a row's targets times its partners."""
    u = np.zeros(forms.shape[1])
    for t in range(len(forms)):
        u -= 2 * (forms[t] @ pull[t])
    return u


@compiled
def _add_links(u, masses, i, form, indptr, indices, weights):
    for at in range(indptr[i], indptr[i + 1]):
        u += weights[at] * (form @ masses[indices[at]])


@compiled
def _meet_partners(masses, partners, targets, gram, pull):
    """Sums over the partners of one row; masses are sparse, and zeros are passed over."""
    f = masses.shape[1]
    gram[:] = 0.0
    pull[:] = 0.0
    for at in range(len(partners)):
        partner = masses[partners[at]]
        for k in range(f):
            if partner[k] != 0.0:
                for m in range(f):
                    gram[k, m] += partner[k] * partner[m]
                for t in range(len(pull)):
                    pull[t, k] += targets[t, at] * partner[k]


@compiled
def _sweep_dense(masses, forms, targets, form, indptr, indices, weights):
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
        u = _linear(pull, forms)
        _add_links(u, masses, i, form, indptr, indices, weights)
        change += _improve_row(masses, i, _quadratic(gram, forms), u)
        for k in range(f):
            for m in range(f):
                gram[k, m] += masses[i, k] * masses[i, m]
    return change


@compiled
def _sweep_pairs(masses, forms, starts, partners, values, form, indptr, indices, weights):
    """One pass over all rows when each has some partners."""
    n, f = masses.shape
    gram = np.empty((f, f))
    pull = np.empty((len(forms), f))
    change = 0.0
    for i in range(n):
        mine = slice(starts[i], starts[i + 1])
        _meet_partners(masses, partners[mine], values[:, mine], gram, pull)
        u = _linear(pull, forms)
        _add_links(u, masses, i, form, indptr, indices, weights)
        change += _improve_row(masses, i, _quadratic(gram, forms), u)
    return change


@compiled
def _sweep_groups(masses, forms, n, groups, values, form, indptr, indices, weights):
    """One pass over the n rows that are objects, when groups of them share their partners."""
    n_groups, size = values.shape[1:3]
    partners = np.empty((groups.shape[1] * size, masses.shape[1]))
    change = 0.0
    for g in range(n_groups):
        for at in range(groups.shape[1]):
            other = groups[g, at] * size
            partners[at * size : (at + 1) * size] = masses[other : other + size]
        Q = _quadratic(partners.T @ partners, forms)
        U = (values[0, g] @ partners) @ forms[0]
        for t in range(1, len(forms)):
            U += (values[t, g] @ partners) @ forms[t]
        for row in range(min(size, n - g * size)):
            i = g * size + row
            u = -2 * U[row]
            _add_links(u, masses, i, form, indptr, indices, weights)
            change += _improve_row(masses, i, Q, u)
    return change


@compiled
def place_among(new, forms, masses, targets):
    """Minimize over rows that are not in the partition, each against all rows of it: one Q serves every row.

    ``new`` holds starts and results; ``targets (t, n_new, n_samples)`` are what the pairs should give.
    """
    Q = _quadratic(masses.T @ masses, forms)
    for i in range(len(new)):
        u = np.zeros(len(Q))
        for t in range(len(forms)):
            u -= 2 * (forms[t] @ (masses.T @ targets[t, i]))
        _improve_row(new, i, Q, u)


def criterion(
    masses: np.ndarray, forms: np.ndarray, targets: np.ndarray | PairTargets | GroupTargets, links: Links | None = None
) -> float:
    """J(M), computed from scratch in blocks of rows."""
    total = 0.0
    if isinstance(targets, GroupTargets):
        placed, size = _placed(masses, targets), targets.values.shape[2]
        for form, values in zip(forms, targets.values):
            moved = placed @ form
            for g, places in enumerate(targets.places):
                total += float(np.square(moved[g * size : (g + 1) * size] @ placed[places].T - values[g]).sum())
    elif isinstance(targets, PairTargets):
        rows = np.repeat(np.arange(len(masses)), np.diff(targets.indptr))
        for form, values in zip(forms, targets.values):
            moved = masses @ form
            for block in row_blocks(len(rows), 2 * masses.shape[1]):
                found = np.einsum("pf,pf->p", moved[rows[block]], masses[targets.indices[block]])
                total += float(np.square(found - values[block]).sum())
    else:
        for form, wanted in zip(forms, targets):
            for block in row_blocks(len(masses), len(masses)):
                gap = masses[block] @ form @ masses.T - wanted[block]
                np.fill_diagonal(gap[:, block], 0)
                total += float(np.square(gap).sum())
    if links is None:
        return total / 2
    rows = np.repeat(np.arange(len(masses)), np.diff(links.indptr))
    found = np.einsum("pf,pf->p", masses[rows] @ links.form, masses[links.indices])
    return (total + float(links.weights @ found)) / 2 + links.constant


def _placed(masses: np.ndarray, targets: GroupTargets) -> np.ndarray:
    """Masses by position, zero at empty places."""
    _, n_groups, size, _ = targets.values.shape
    placed = np.zeros((n_groups * size, masses.shape[1]))
    placed[: len(masses)] = masses[targets.order]
    return placed


def irqp(
    masses: np.ndarray,
    forms: np.ndarray,
    targets: np.ndarray | PairTargets | GroupTargets,
    *,
    links: Links | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Callable[[int, float], Any] | None = None,
) -> Run:
    """Sweep over the rows until the running mean of the relative change falls below ``tol``.

    The rule is (18) of Denœux (2020): the mean starts at 1 and each sweep averages it with its own relative change.

    Parameters
    ----------
    masses : ndarray of shape (n_samples, n_focal)
        Start; it is not changed.
    forms : ndarray of shape (n_forms, n_focal, n_focal)
        The symmetric matrices :math:`A_t`.
    targets : ndarray of shape (n_forms, n_samples, n_samples), PairTargets or GroupTargets
        The diagonal is not looked at.
    links : Links, optional
        The second sum of J.
    tol : float
        Threshold of the stopping rule.
    max_iter : int
        Largest number of sweeps.
    watch : callable, optional
        Called after each sweep with its number and the criterion.

    Returns
    -------
    Run
        Its state are the masses. An interrupt from the keyboard ends the search and keeps what the last whole row
        update left.
    """
    masses = np.ascontiguousarray(masses, dtype=float).copy()
    forms = np.ascontiguousarray(forms, dtype=float)
    trace = [criterion(masses, forms, targets, links)]
    error, converged, interrupted = 1.0, trace[0] == 0, False
    rows, sweep = masses, _sweeper(len(masses), forms, targets, links)
    if isinstance(targets, GroupTargets):
        rows = _placed(masses, targets)
    try:
        while not converged and len(trace) <= max_iter:
            change = sweep(rows)
            trace.append(max(trace[-1] + change, 0.0))
            error = 0.5 * error + 0.5 * -change / trace[-2]
            converged = error < tol or trace[-1] == 0
            if watch is not None:
                watch(len(trace) - 1, trace[-1])
    except KeyboardInterrupt:
        interrupted = True
    if isinstance(targets, GroupTargets):
        masses[targets.order] = rows[: len(masses)]
    return Run(masses, np.array(trace), converged, interrupted)


def _sweeper(
    n: int, forms: np.ndarray, targets: np.ndarray | PairTargets | GroupTargets, links: Links | None
) -> Callable[[np.ndarray], float]:
    """A pass over the rows as a function of the masses, which it changes; it gives the change of J."""
    if links is None:
        f = forms.shape[1]
        links = Links(np.zeros((f, f)), np.zeros(n + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), 0.0)
    if isinstance(targets, GroupTargets):
        numbered = csr_array((links.weights, links.indices, links.indptr), shape=(n, n))
        numbered = numbered[targets.order][:, targets.order]  # from objects to positions
        linked = links.form, numbered.indptr.astype(np.int64), numbered.indices.astype(np.int64), numbered.data
        return lambda rows: _sweep_groups(rows, forms, n, targets.partners, targets.values, *linked)
    if isinstance(targets, PairTargets):
        return lambda rows: _sweep_pairs(rows, forms, *targets, *links[:4])
    return lambda rows: _sweep_dense(rows, forms, targets, *links[:4])


def symmetric_pairs(pairs: np.ndarray, values: np.ndarray, n_samples: int) -> PairTargets:
    """Targets ``values (n_forms, n_pairs)`` of ``pairs (n_pairs, 2)``, each given once, as rows of both objects."""
    i, j = np.asarray(pairs).T
    row, column = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort([column, row])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_samples))])
    both = np.concatenate([values, values], axis=1)[:, order]
    return PairTargets(indptr, column[order], np.ascontiguousarray(both))
