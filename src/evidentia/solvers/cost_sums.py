r"""Masses that minimize costs which are linear in features of a row, and their sums, in one go.

The cost of set j is :math:`c_j = \theta_j \cdot \varphi(x)`, its mass with the fuzzifier two
:math:`m_j \propto 1 / c_j`, and :math:`\sum_i w_i m_{ij}^2 \varphi(x_i)` is all that a descent wants. As in
:mod:`evidentia.solvers.posterior_sums`, a few rows at a time stay in the nearest cache, nothing grows with the number
of rows, and the interpreter is free for other threads meanwhile: as NumPy's many small steps, two threads took longer
than one.

The number of coefficients tells the features: ``(1, x, |x|²)`` or ``(1, x, x_p x_q for all p <= q)``. The costs are
squared distances from places :math:`v_j`, and what is left of the products where a row is next to one of them is
rounding errors: such a cost is found anew from differences.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled, parts
from evidentia.solvers.posterior_sums import ANY_ORDER, BLOCK, INSIDE, LINEAR, add, lines, score


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
def _measure_near(
    terms: np.ndarray,
    places: np.ndarray,
    near: np.ndarray,
    least_cost: float,
    features: np.ndarray,
    costs: np.ndarray,
) -> None:
    """Costs below those that are near, from differences."""
    for j in range(len(costs)):
        for i in range(BLOCK):
            if costs[j, i] < near[j]:
                costs[j, i] = max(_measure(terms[j], places[j], features[:, i]), least_cost)


@compiled(**INSIDE, **LINEAR)
def _measure(terms: np.ndarray, place: np.ndarray, features: np.ndarray) -> float:
    total, at = 0.0, len(place)
    if len(features) == at + 1:
        for p in range(at):
            total += (features[p] - place[p]) ** 2
        return terms[at] * total
    for p in range(len(place)):
        for q in range(p, len(place)):
            total += terms[at] * (features[p] - place[p]) * (features[q] - place[q])
            at += 1
    return total


@compiled(**INSIDE, **LINEAR)
def _invert(costs: np.ndarray, near: np.ndarray, total: np.ndarray) -> int:
    """Costs become their inverses, of which ``total`` is the sum; gives how many were near."""
    n_near = 0
    total[:] = 0.0
    for j in range(len(costs)):
        for i in range(BLOCK):
            n_near += costs[j, i] < near[j]
            costs[j, i] = 1 / costs[j, i]
            total[i] += costs[j, i]
    return n_near


@compiled(**INSIDE, **LINEAR)
def _weigh(inverse: np.ndarray, least: np.ndarray) -> None:
    """Inverse costs become squared masses, and sums of them what the costs of a row sum up to with these."""
    for i in range(BLOCK):
        least[i] = 1 / least[i]
    for j in range(len(inverse)):
        for i in range(BLOCK):
            mass = inverse[j, i] * least[i]
            inverse[j, i] = mass * mass


@compiled(**INSIDE, **ANY_ORDER)
def _sum(values: np.ndarray, count: int) -> float:
    found = 0.0
    for i in range(count):
        found += values[i]
    return found


def add_cost_sums(
    columns: np.ndarray,
    theta: np.ndarray,
    places: np.ndarray,
    near: np.ndarray,
    weight: np.ndarray,
    least_cost: float,
    sums: np.ndarray,
) -> float:
    r"""Add :math:`\sum_i w_i m_{ij}^2 \varphi(x_i)` to ``sums``; gives :math:`\sum_{ij} w_i c_{ij} m_{ij}^2`.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples)
        Rows as columns.
    theta : ndarray of shape (n_focal, n_terms)
        Coefficients of the costs in the features, that of the constant first.
    places : ndarray of shape (n_focal, n_features)
        Where the costs that depend on the row are zero.
    near : ndarray of shape (n_focal,)
        Costs below it, ``least_cost`` or more, are found from differences.
    weight : ndarray of shape (n_samples,) or (0,)
        Empty: all ones.
    least_cost : float
        What costs are at least.
    sums : ndarray of shape (n_focal, n_terms)
    """
    objective, n_rows = 0.0, columns.shape[1]
    for part in parts(-(-n_rows // BLOCK), BLOCK * theta.size):
        first, last = part.start * BLOCK, min(part.stop * BLOCK, n_rows)
        objective = _add_sums_of_some(columns, theta, places, near, weight, least_cost, sums, first, last, objective)
    return objective


@compiled(nogil=True, **LINEAR)
def _add_sums_of_some(
    columns: np.ndarray,
    theta: np.ndarray,
    places: np.ndarray,
    near: np.ndarray,
    weight: np.ndarray,
    least_cost: float,
    sums: np.ndarray,
    first: int,
    last: int,
    objective: float,
) -> float:
    """Add those of the rows ``first`` to ``last - 1``, to an objective too."""
    features, costs, least = lines(theta.shape[1] - 1), lines(len(theta)), np.empty(BLOCK)
    terms, found = np.empty_like(theta), np.empty_like(sums)  # with the constant last
    terms[:, :-1], terms[:, -1] = theta[:, 1:], theta[:, 0]
    found[:, :-1], found[:, -1] = sums[:, 1:], sums[:, 0]
    for start in range(first, last, BLOCK):
        count = min(BLOCK, last - start)
        _lay_out(columns, start, count, features)
        score(terms, features, costs)
        if _invert(costs, near, least) > 0:
            score(terms, features, costs)
            _measure_near(terms, places, near, least_cost, features, costs)
            _invert(costs, near, least)
        _weigh(costs, least)
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
    sums[:, 1:], sums[:, 0] = found[:, :-1], found[:, -1]
    return objective
