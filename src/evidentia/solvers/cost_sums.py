r"""Masses that minimize costs which are linear in features of a row, and their sums, in one go.

The cost of set j is :math:`c_j = \theta_j \cdot \varphi(x)`, its mass with the fuzzifier two
:math:`m_j \propto 1 / c_j`, and :math:`\sum_i w_i m_{ij}^2 \varphi(x_i)` is all that a descent wants. As in
:mod:`evidentia.solvers.posterior_sums`, a few rows at a time stay in the nearest cache, nothing grows with the number
of rows, and the interpreter is free for other threads meanwhile: as NumPy's many small steps, two threads took longer
than one.

The number of coefficients tells the features: ``(1, x, |x|²)`` or ``(1, x, x_p x_q for all p <= q)``. With the first,
:math:`\theta_j = w_j (|v_j|^2, -2 v_j, 1)`, and what is left of the squares where a row is next to :math:`v_j` is
rounding errors: such a cost is found anew from differences.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled
from evidentia.solvers.posterior_sums import ANY_ORDER, BLOCK, INSIDE, LINEAR, add, lines, score

NEAR = 1e-6  # of a row's squared length: a squared distance below it has lost six digits or more


@compiled(**INSIDE, **LINEAR)
def _lay_out(columns: np.ndarray, start: int, count: int, features: np.ndarray) -> None:
    """Features of rows ``start`` to ``start + count`` but for the constant; zeros beyond."""
    n_columns = at = len(columns)
    for p in range(n_columns):
        for i in range(count):
            features[p, i] = columns[p, start + i]
    if count < BLOCK:
        features[:, count:] = 0.0
    if len(features) == n_columns + 1:
        features[at] = 0.0
        for p in range(n_columns):
            for i in range(BLOCK):
                features[at, i] += features[p, i] * features[p, i]
        return
    for p in range(n_columns):
        for q in range(p, n_columns):
            for i in range(BLOCK):
                features[at, i] = features[p, i] * features[q, i]
            at += 1


@compiled(**INSIDE, **LINEAR)
def _measure_near(terms: np.ndarray, features: np.ndarray, costs: np.ndarray) -> None:
    """Costs of rows that are next to a prototype, from differences."""
    at = len(features) - 1
    for j in range(len(costs)):
        weight, n_near = terms[j, at], 0
        for i in range(BLOCK):
            n_near += costs[j, i] < NEAR * weight * features[at, i]
        if n_near == 0:
            continue
        for i in range(BLOCK):
            if costs[j, i] < NEAR * weight * features[at, i]:
                total = 0.0
                for p in range(at):
                    gap = features[p, i] + terms[j, p] / (2.0 * weight)
                    total += gap * gap
                costs[j, i] = weight * total


@compiled(**INSIDE, **LINEAR)
def _weigh(costs: np.ndarray, least_cost: float, least: np.ndarray) -> None:
    """Costs become squared masses; ``least`` is what the costs of a row sum up to with these."""
    least[:] = 0.0
    for j in range(len(costs)):
        for i in range(BLOCK):
            costs[j, i] = 1 / (least_cost if costs[j, i] < least_cost else costs[j, i])  # NaN stays NaN
            least[i] += costs[j, i]
    for i in range(BLOCK):
        least[i] = 1 / least[i]
    for j in range(len(costs)):
        for i in range(BLOCK):
            mass = costs[j, i] * least[i]
            costs[j, i] = mass * mass


@compiled(**INSIDE, **ANY_ORDER)
def _sum(values: np.ndarray, count: int) -> float:
    found = 0.0
    for i in range(count):
        found += values[i]
    return found


@compiled(nogil=True, **LINEAR)
def add_cost_sums(
    columns: np.ndarray, theta: np.ndarray, weight: np.ndarray, least_cost: float, sums: np.ndarray
) -> float:
    r"""Add :math:`\sum_i w_i m_{ij}^2 \varphi(x_i)` to ``sums``; gives :math:`\sum_{ij} w_i c_{ij} m_{ij}^2`.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples)
        Rows as columns.
    theta : ndarray of shape (n_focal, n_terms)
        Coefficients of the costs in the features, that of the constant first.
    weight : ndarray of shape (n_samples,) or (0,)
        Empty: all ones.
    least_cost : float
        What costs are at least.
    sums : ndarray of shape (n_focal, n_terms)
    """
    features, costs, least = lines(theta.shape[1] - 1), lines(len(theta)), np.empty(BLOCK)
    terms, found = np.empty_like(theta), np.zeros_like(sums)  # with the constant last
    terms[:, :-1], terms[:, -1] = theta[:, 1:], theta[:, 0]
    n_rows, objective = columns.shape[1], 0.0
    for start in range(0, n_rows, BLOCK):
        count = min(BLOCK, n_rows - start)
        _lay_out(columns, start, count, features)
        score(terms, features, costs)
        if len(features) == len(columns) + 1:
            _measure_near(terms, features, costs)
        _weigh(costs, least_cost, least)
        if len(weight):
            for i in range(count):
                least[i] *= weight[start + i]
            for j in range(len(costs)):
                for i in range(count):
                    costs[j, i] *= weight[start + i]
        if count < BLOCK:
            costs[:, count:] = 0.0  # what is no row adds nothing to any sum
        add(costs, features, found)
        objective += _sum(least, count)
    sums[:, 0] += found[:, -1]
    sums[:, 1:] += found[:, :-1]
    return objective
