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
and a sweep is one pass over the targets: O(n² f) time. Products of targets and masses are made for a block of rows at a
time, and corrected by what rows of the block have changed since. With k partners per object it is O(n k f²) time and
O(n k) memory; when groups of objects share their partners, the matrix is made once a group, and all but O(n k f) of the
time goes into products of matrices.

A sweep is a chain: each row sees what the rows before it became. But rows see their partners alone. So a row, or group
of rows, belongs to a *wave*, one later than the latest of its partners before it; waves follow each other, the rows of
one wave may be improved side by side, and the masses are those of the chain, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from evidentia.solvers.compiling import at_a_time, compiled, parts
from evidentia.solvers.descent import Run
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.pair_rows import pair_rows
from evidentia.solvers.threads import Each, n_threads, thread_pool

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
    r"""Move ``x``, a point of the simplex, to the minimizer of :math:`x^T Q x + u^T x` there; in place.

    A primal active-set method: on the present support the minimizer solves a small linear system; a negative entry
    leaves the support, the entry with the steepest descent outside enters. Started from the solution of a similar
    problem it needs a few of these steps. Q may be singular (the whole frame meets every set, so its row of a
    disjointness table is zero): a relative shift of 1e-12 picks one of the equal minimizers and changes the minimum by
    no more than that.

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


BLOCK, PART = 256, 32  # rows whose products are made at once, and by one thread
ALONE = 1 << 20  # multiplications between two meetings of threads below which one thread is as fast


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
    """Add what the links of a row say of it; the masses it is linked to are summed before the form meets them."""
    if indptr[i] == indptr[i + 1]:
        return
    total = np.zeros(len(u))
    for at in range(indptr[i], indptr[i + 1]):
        partner = masses[indices[at]]
        for k in range(len(u)):
            total[k] += weights[at] * partner[k]
    u += form @ total


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


@compiled(nogil=True)
def _sweep_block(masses, first, rows, change, moved, pulls, gram, forms, targets, form, indptr, indices, weights):
    """Improve some ``rows``, from one to before another, of the block that begins at ``first``; returns the change.

    ``pulls (t, n_rows, f)`` are the targets of the block times the masses, and ``moved (n_rows, f)`` how far its rows
    have moved since. ``targets (t, n, n)`` are of every pair; ``gram``, the masses' cross product, is kept up to date.
    """
    n_forms, _, f = pulls.shape
    pull = np.empty((n_forms, f))
    for r in range(rows[0], rows[1]):
        i = first + r
        for t in range(n_forms):
            row = targets[t, i]
            for k in range(f):
                pull[t, k] = pulls[t, r, k] - row[i] * masses[i, k]
            for q in range(r):
                for k in range(f):
                    pull[t, k] += row[first + q] * moved[q, k]
        for k in range(f):
            for m in range(f):
                gram[k, m] -= masses[i, k] * masses[i, m]
        u = _linear(pull, forms)
        _add_links(u, masses, i, form, indptr, indices, weights)
        moved[r] = -masses[i]
        change += _improve_row(masses, i, _quadratic(gram, forms), u)
        moved[r] += masses[i]
        for k in range(f):
            for m in range(f):
                gram[k, m] += masses[i, k] * masses[i, m]
    return change


def _sweep_dense(
    masses: np.ndarray, forms: np.ndarray, targets: np.ndarray, links: tuple[Any, ...], each: Each
) -> float:
    """One pass over all rows when every pair has a target, ``targets (t, n, n)``."""
    n, f = masses.shape
    gram, change = masses.T @ masses, 0.0
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        pulls, moved = np.empty((len(forms), size, f)), np.empty((size, f))

        def multiply(start: int, first: int = first, size: int = size, pulls: np.ndarray = pulls) -> None:
            part = slice(start, min(start + PART, size))
            for t in range(len(forms)):
                np.matmul(targets[t, first + part.start : first + part.stop], masses, out=pulls[t, part])

        each(multiply, range(0, size, PART))
        of_block = 0.0
        for part in parts(size, program_work(f)):
            rows = part.start, part.stop
            of_block = _sweep_block(masses, first, rows, of_block, moved, pulls, gram, forms, targets, *links)
        change += of_block
    return change


@compiled(nogil=True)
def _sweep_pairs(chosen, _, changes, masses, forms, starts, partners, values, form, indptr, indices, weights):
    """Improve the rows ``chosen``, when each has some partners; a row is never shared out."""
    f = masses.shape[1]
    gram = np.empty((f, f))
    pull = np.empty((len(forms), f))
    for i in chosen:
        mine = slice(starts[i], starts[i + 1])
        _meet_partners(masses, partners[mine], values[:, mine], gram, pull)
        u = _linear(pull, forms)
        _add_links(u, masses, i, form, indptr, indices, weights)
        changes[i] = _improve_row(masses, i, _quadratic(gram, forms), u)


@compiled(nogil=True)
def _sweep_groups(chosen, rows, changes, masses, forms, groups, values, form, indptr, indices, weights):
    """Improve some ``rows``, from one to before another, of each of the groups ``chosen``; positions have ``changes``.

    Groups share their partners.
    """
    size = values.shape[2]
    partners = np.empty((groups.shape[1] * size, masses.shape[1]))
    for g in chosen:
        for at in range(groups.shape[1]):
            other = groups[g, at] * size
            partners[at * size : (at + 1) * size] = masses[other : other + size]
        Q = _quadratic(partners.T @ partners, forms)
        U = (values[0, g] @ partners) @ forms[0]
        for t in range(1, len(forms)):
            U += (values[t, g] @ partners) @ forms[t]
        for row in range(rows[0], min(rows[1], len(changes) - g * size)):
            i = g * size + row
            u = -2 * U[row]
            _add_links(u, masses, i, form, indptr, indices, weights)
            changes[i] = _improve_row(masses, i, Q, u)


@compiled
def _number_waves(wave, first, last, indptr, indices):
    """The wave of each of the rows ``first`` to ``last - 1``: one more than the latest of its partners before it."""
    for i in range(first, last):
        for at in range(indptr[i], indptr[i + 1]):
            if indices[at] < i:
                wave[i] = max(wave[i], wave[indices[at]] + 1)


def waves(partners: csr_array) -> list[np.ndarray]:
    """Rows that may be improved side by side, wave after wave; ``partners (n, n)`` say which rows see which.

    Examples
    --------
    Rows 0 and 2 see row 1, and row 3 sees row 0.

    >>> waves(csr_array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]))
    [array([0]), array([1, 3]), array([2])]
    """
    n, number = partners.shape[0], np.zeros(partners.shape[0], np.int64)
    for part in parts(n, 10 * partners.nnz / max(n, 1)):
        _number_waves(number, part.start, part.stop, partners.indptr, partners.indices)
    return np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])


@compiled(nogil=True)
def _place(new, Q, forms, masses, targets):
    for i in range(len(new)):
        u = np.zeros(len(Q))
        for t in range(len(forms)):
            u -= 2 * (forms[t] @ (masses.T @ targets[t, i]))
        _improve_row(new, i, Q, u)


def place_among(new: np.ndarray, forms: np.ndarray, masses: np.ndarray, targets: np.ndarray) -> None:
    """Minimize over rows that are not in the partition, each against all rows of it: one Q serves every row.

    ``new`` holds starts and results; ``targets (t, n_new, n_samples)`` are what the pairs should give.
    """
    with thread_pool(n_threads() if targets.size * masses.shape[1] > 2 * ALONE else 1) as each:
        Q = sum(form @ (masses.T @ masses) @ form for form in forms)

        def place(block: slice) -> None:
            rows, wanted = new[block], targets[:, block]
            for part in parts(len(rows), program_work(masses.shape[1])):
                _place(rows[part], Q, forms, masses, wanted[:, part])

        each(place, row_blocks(len(new), len(masses)))


def criterion(
    masses: np.ndarray, forms: np.ndarray, targets: np.ndarray | PairTargets | GroupTargets, links: Links | None = None
) -> float:
    """J(M), computed from scratch in blocks of rows."""
    total = 0.0
    if isinstance(targets, GroupTargets):
        placed, size = _place_masses(masses, targets), targets.values.shape[2]
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
    linked = csr_array((links.weights, links.indices, links.indptr), shape=(len(masses), len(masses)))
    return (total + float(np.vdot(masses @ links.form, linked @ masses))) / 2 + links.constant


def _place_masses(masses: np.ndarray, targets: GroupTargets) -> np.ndarray:
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
    rows = _place_masses(masses, targets) if isinstance(targets, GroupTargets) else masses
    try:
        with _sweeper(len(masses), forms, targets, links) as sweep:
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
    if interrupted:
        trace[-1] = criterion(masses, forms, targets, links)  # a part of a sweep may have been made
    return Run(masses, np.array(trace), converged, interrupted)


@contextmanager
def _sweeper(
    n: int, forms: np.ndarray, targets: np.ndarray | PairTargets | GroupTargets, links: Links | None
) -> Iterator[Callable[[np.ndarray], float]]:
    """A pass over the rows as a function of the masses, which it changes; it gives the change of J."""
    f = forms.shape[1]
    none = np.zeros(0, np.int64)
    told = links or Links(np.zeros((f, f)), np.zeros(n + 1, np.int64), none, none.astype(float), 0.0)
    if isinstance(targets, np.ndarray):
        work = min(n, BLOCK) * n * f * len(forms)  # of products of matrices, which are several times as fast as loops
        with thread_pool(n_threads() if work > 8 * ALONE else 1) as each:
            yield lambda rows: _sweep_dense(rows, forms, targets, told[:4], each)
        return
    kernel: Callable[..., None] = _sweep_groups if isinstance(targets, GroupTargets) else _sweep_pairs
    given: tuple[np.ndarray, ...] = targets
    n_units, work = n, targets.values.size * f**2
    if isinstance(targets, GroupTargets):
        given, n_units, work = targets[1:], len(targets.partners), targets.values.size * f
        told = _links_of_positions(told, targets.order)
    turns, workers = [np.arange(n_units)], 1
    if n_threads() > 1 and work > 2 * ALONE:
        found = waves(_visible_rows(targets, told))
        if work > ALONE * len(found):
            turns, workers = found, n_threads()
    size = targets.values.shape[2] if isinstance(targets, GroupTargets) else 1
    share = at_a_time(work / n_units + size * program_work(f))
    ranges = [(part.start, part.stop) for part in parts(size, program_work(f))]  # of a group
    with thread_pool(workers) as each:
        changes = np.zeros(n)

        def sweep(masses: np.ndarray) -> float:
            for turn in turns:
                each(
                    lambda part: kernel(*part, changes, masses, forms, *given, *told[:4]),
                    product(np.array_split(turn, max(workers, -(-len(turn) // share))), ranges),
                )
            return float(sum(changes.tolist()))

        yield sweep


def _links_of_positions(links: Links, order: np.ndarray) -> Links:
    """Links of positions, from those of objects."""
    n = len(order)
    linked = csr_array((links.weights, links.indices, links.indptr), shape=(n, n))[order][:, order]
    indptr, indices = linked.indptr.astype(np.int64), linked.indices.astype(np.int64)
    return links._replace(indptr=indptr, indices=indices, weights=linked.data)


def _visible_rows(targets: PairTargets | GroupTargets, links: Links) -> csr_array:
    """Which rows of a sweep, or groups of them, see which."""
    i, j = np.repeat(np.arange(len(links.indptr) - 1), np.diff(links.indptr)), links.indices
    if isinstance(targets, GroupTargets):
        size = targets.values.shape[2]
        i, j, indices = i // size, j // size, targets.partners.ravel()
        indptr = np.arange(0, len(indices) + 1, targets.partners.shape[1])
    else:
        indptr, indices = targets.indptr, targets.indices
    shape = (len(indptr) - 1, len(indptr) - 1)
    seen = csr_array((np.ones(len(indices), bool), indices, indptr), shape=shape)
    return seen + csr_array((np.ones(len(i), bool), (i, j)), shape=shape) if len(i) else seen


def symmetric_pairs(pairs: np.ndarray, values: np.ndarray, n_samples: int) -> PairTargets:
    """Targets ``values (n_forms, n_pairs)`` of ``pairs (n_pairs, 2)``, each given once, as rows of both objects."""
    rows = pair_rows(np.asarray(pairs), n_samples)
    return PairTargets(rows.start, rows.partner, np.ascontiguousarray(values[:, rows.number]))
