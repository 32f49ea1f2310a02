r"""Masses of objects with links between them, by descent on one object at a time.

.. math::
    J(M) = \sum_i \sum_j a_{ij} m_{ij}^2 + \sum_{(i, i')} s_{ii'}\, m_i^T P_{t(i, i')} m_{i'}

with costs :math:`a > 0`, strengths :math:`s \ge 0` and small symmetric tables :math:`P_t`, one for each kind of link.
As a whole it need not be convex, but in one row :math:`m_i` it is a quadratic program with a diagonal matrix on the
simplex, solved in a few passes over the row. A sweep over the rows never raises J. It costs a product with each table
per object and one row per link, whatever the number of objects outside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.compiling import at_a_time, compiled, read_ahead
from evidentia.solvers.pair_rows import pair_rows

AHEAD = 16  # links between the present one and that whose partner is fetched


class LinkGraph(NamedTuple):
    """Links as rows of a symmetric sparse matrix: every link stands in the rows of both objects.

    Object i has links with ``partner[start[i]:start[i + 1]]``, of those ``kind`` and ``strength``.
    """

    start: np.ndarray
    partner: np.ndarray
    kind: np.ndarray
    strength: np.ndarray

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, kind: np.ndarray, strength: np.ndarray, n_objects: int) -> LinkGraph:
        """Make the graph of links that are listed once."""
        rows = pair_rows(pairs, n_objects)
        kinds, strengths = kind[rows.number].astype(np.int8), strength[rows.number].astype(float)
        return cls(rows.start, rows.partner.astype(np.int32), kinds, strengths)


@compiled
def diagonal_qp(cost, slope, out):
    r"""Minimize :math:`\sum_j a_j x_j^2 + g_j x_j` over the simplex, for a > 0; the result goes to ``out``.

    Variable fixing: solve without :math:`x \ge 0`, drop what came out negative for good, repeat. The multiplier is
    measured from the entry of least cost, so that an entry of almost no cost takes the rest without cancellation.
    """
    f = len(cost)
    free = np.ones(f, dtype=np.bool_)
    dropped = True
    while dropped:
        least = -1
        for j in range(f):
            if free[j] and (least < 0 or cost[j] < cost[least]):
                least = j
        above, below = 1.0, 1.0
        for j in range(f):
            if free[j] and j != least:
                above += (slope[j] - slope[least]) / (2 * cost[j])
                below += cost[least] / cost[j]
        share = above / below
        dropped = False
        for j in range(f):
            if not free[j]:
                out[j] = 0.0
                continue
            out[j] = share if j == least else (2 * cost[least] * share - (slope[j] - slope[least])) / (2 * cost[j])
            if out[j] < 0.0:
                free[j] = False
                dropped = True


@compiled
def _sweep(cost, masses, pushed, tables, start, partner, kind, strength, first, last, change, objective):
    """Minimize over the rows ``first`` to ``last - 1`` in turn; adds to the change of J, and to J.

    ``pushed[t]`` is ``masses @ tables[t]``, kept so. J comes with the sweep: a pair is counted at its second object,
    when the first has its masses for this sweep.
    """
    n, f = masses.shape
    slope, earlier, found = np.empty(f), np.empty(f), np.empty(f)
    for i in range(first, last):
        for j in range(f):
            slope[j] = earlier[j] = 0.0
        for at in range(start[i], start[i + 1]):
            if at + AHEAD < len(partner):
                read_ahead(pushed, (kind[at + AHEAD] * n + partner[at + AHEAD]) * f)
            t, other, s = kind[at], partner[at], strength[at]
            for j in range(f):
                slope[j] += s * pushed[t, other, j]
            if other < i:
                for j in range(f):
                    earlier[j] = slope[j]
        diagonal_qp(cost[i], slope, found)
        gain = 0.0
        for j in range(f):
            gain += (found[j] - masses[i, j]) * (cost[i, j] * (found[j] + masses[i, j]) + slope[j])
        if gain < 0.0:  # else rounding, at a minimum already reached
            change += gain
            for j in range(f):
                masses[i, j] = found[j]
            for t in range(len(tables)):
                for j in range(f):
                    total = 0.0
                    for k in range(f):
                        total += tables[t, j, k] * found[k]
                    pushed[t, i, j] = total
        for j in range(f):
            objective += masses[i, j] * (cost[i, j] * masses[i, j] + earlier[j])
    return change, objective


@compiled
def _sweep_some(
    cost,
    masses,
    pushed,
    tables,
    start,
    partner,
    kind,
    strength,
    tol,
    max_sweeps,
    share,
    done,
    first,
    change,
    objective,
    before,
    rests,
):
    """Visit ``share`` objects, in as many sweeps as that takes, or fewer where a sweep hardly lowers J.

    The last six, which are returned, are the number of whole sweeps, the next object, the change of J and J in the
    present sweep, J before the first of all, and whether the last whole sweep hardly lowered it.
    """
    n = len(masses)
    while share > 0 and done < max_sweeps and not rests:
        if first == 0:
            change = objective = 0.0
        last = min(n, first + share)
        change, objective = _sweep(
            cost, masses, pushed, tables, start, partner, kind, strength, first, last, change, objective
        )
        share -= last - first
        first = last
        if first == n:
            before = max(before, objective - change)
            rests = -change <= tol * before
            done, first = done + 1, 0
    return done, first, change, objective, before, rests


def linked_masses(
    cost: np.ndarray,
    masses: np.ndarray,
    tables: np.ndarray,
    graph: LinkGraph,
    *,
    tol: float = 1e-12,
    max_sweeps: int = 100,
) -> tuple[np.ndarray, float]:
    """Sweep from given masses until a sweep lowers J by no more than a share ``tol`` of it.

    Parameters
    ----------
    cost : ndarray of shape (n_objects, n_focal)
        Above 1e-150.
    masses : ndarray of shape (n_objects, n_focal)
        Start; it is not changed.
    tables : ndarray of shape (n_kinds, n_focal, n_focal)
        Symmetric.
    graph : LinkGraph
    tol : float
    max_sweeps : int

    Returns
    -------
    masses : ndarray of shape (n_objects, n_focal)
    objective : float
    """
    masses = np.array(masses, dtype=float, order="C")
    tables = np.ascontiguousarray(tables, dtype=float)
    problem = (np.ascontiguousarray(cost), masses, masses @ tables, tables, *graph)
    n, f = masses.shape
    share = at_a_time(f * (len(graph.partner) / max(n, 1) + tables.shape[0] * f))
    state = 0, 0, 0.0, 0.0, -1.0, n == 0
    while state[0] < max_sweeps and not state[-1]:
        state = _sweep_some(*problem, tol, max_sweeps, share, *state)
    return masses, float(state[3])
