"""Agglomerative clustering under a Gaussian model: merge, again and again, the two groups that cost least likelihood.

Banfield & Raftery (1993) and Fraley (1998): twice the loss of classification likelihood is a sum over groups,
so a merge changes three terms only, and the cost of every pair can be kept and updated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.compiling import compiled


class MergeTree(NamedTuple):
    """Merges in order: row t joins two groups into group ``n_rows + t``; rows themselves are groups 0, 1, …

    ``cost`` is the rise of the criterion by each merge; it need not be monotone for the unconstrained model.
    """

    merges: np.ndarray
    cost: np.ndarray

    def labels(self, n_groups: int) -> np.ndarray:
        """Groups of the rows when ``n_groups`` are left, numbered by first appearance.

        Examples
        --------
        >>> tree = agglomerate(np.array([[0.0], [5.0], [0.2], [5.1]]), model="EII")
        >>> tree.labels(2)
        array([0, 1, 0, 1])
        """
        n_rows = len(self.merges) + 1
        group = np.arange(2 * n_rows - 1)
        for t in range(n_rows - n_groups - 1, -1, -1):  # from the top down, each group hands its name to its parts
            group[self.merges[t]] = group[n_rows + t]
        return np.unique(_first_seen(group[:n_rows]), return_inverse=True)[1]


def _first_seen(names: np.ndarray) -> np.ndarray:
    """Each name replaced by the position of its first occurrence."""
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    return first[which]


def agglomerate(rows: np.ndarray, weight: np.ndarray | None = None, *, model: str = "VVV") -> MergeTree:
    r"""Model-based hierarchical agglomeration of all rows.

    The criterion is :math:`\sum_k n_k \log(|W_k/n_k| + \mathrm{tr}(W_k)/n_k + \mathrm{tr}(W)/(nd))` for groups of any
    shape (``"VVV"``), where the two traces tell groups of few objects, whose scatter :math:`W_k` is singular, from
    each other; and :math:`\mathrm{tr}(\sum_k W_k)`, that of Ward, for equal spheres (``"EII"``).

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        ``"VVV"`` depends on their units: see :func:`scaled_svd`.
    weight : ndarray of shape (n_samples,), optional
        Positive; counts as copies.
    model : {"VVV", "EII"}

    Notes
    -----
    Memory is 8 n² bytes (32 MB for 2,000 rows) and time O(n² d) for equal spheres, 8 n (n + d²) and O(n² d³) for groups
    of any shape: take a sample of a large table.

    References
    ----------
    J. D. Banfield, A. E. Raftery. Model-based Gaussian and non-Gaussian clustering. Biometrics 49:803-821, 1993.

    C. Fraley. Algorithms for model-based Gaussian hierarchical clustering. SIAM J. Sci. Comput. 20:270-281, 1998.
    """
    size = np.ones(len(rows)) if weight is None else np.array(weight, dtype=float)
    centered = rows - np.average(rows, axis=0, weights=size)
    spread = float(size @ np.square(centered).sum(axis=1)) / (size.sum() * rows.shape[1])
    return MergeTree(*_merge_all(np.ascontiguousarray(centered), size, model == "VVV", spread))


def scaled_svd(rows: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Principal coordinates of standardized rows, each divided by the root of its singular value.

    This is halfway between principal components and whitened rows, which Scrucca & Raftery (2015) found to be the best
    coordinates for starting values. Directions without spread are left out.
    """
    share = np.full(len(rows), 1 / len(rows)) if weight is None else weight / weight.sum()
    mean = share @ rows
    deviation = np.sqrt(share @ np.square(rows - mean))
    spread = deviation > 10 * np.finfo(float).eps * np.abs(mean)
    standard = (rows - mean)[:, spread] / deviation[spread]
    variance, axes = np.linalg.eigh(standard.T @ (share[:, None] * standard))
    kept = variance > 1e-10 * variance[-1]
    return (standard @ axes[:, kept]) / variance[kept] ** 0.25


@compiled
def _determinant(matrix):
    """Of a positive semi-definite matrix, which is destroyed; zero when it is singular."""
    d = len(matrix)
    product = 1.0
    for j in range(d):
        pivot = matrix[j, j]
        if pivot <= 0.0:
            return 0.0
        product *= pivot
        for i in range(j + 1, d):
            factor = matrix[i, j] / pivot
            for k in range(j + 1, i + 1):
                matrix[i, k] -= factor * matrix[k, j]
    return product


@compiled
def _term(size, scatter, spread, work):
    """What one group of any shape adds to the criterion; of ``scatter`` only the lower triangle is read."""
    d = len(scatter)
    trace = 0.0
    for i in range(d):
        trace += scatter[i, i]
        for j in range(i + 1):
            work[i, j] = scatter[i, j] / size
    return size * np.log(_determinant(work) + trace / size + spread)


@compiled
def _cost(i, j, size, mean, scatter, term, free, spread, joint, work):
    """Rise of the criterion when groups i and j merge."""
    total = size[i] + size[j]
    shrink = size[i] * size[j] / total
    if not free:  # what the trace gains: no scatter is needed
        gap = 0.0
        for p in range(mean.shape[1]):
            gap += (mean[i, p] - mean[j, p]) * (mean[i, p] - mean[j, p])
        return shrink * gap
    for p in range(mean.shape[1]):
        for q in range(p + 1):
            gap = (mean[i, p] - mean[j, p]) * (mean[i, q] - mean[j, q])
            joint[p, q] = scatter[i, p, q] + scatter[j, p, q] + shrink * gap
    return _term(total, joint, spread, work) - term[i] - term[j]


@compiled
def _merge_all(mean, size, free, spread):
    """Greedy merges. Each row of the table of costs remembers its cheapest partner of higher number."""
    n, d = mean.shape
    side = d if free else 0
    scatter, joint, work = np.zeros((n, side, side)), np.zeros((side, side)), np.zeros((side, side))
    term, costs = np.zeros(n), np.empty((n, n))
    partner, cheapest = np.zeros(n, np.int64), np.empty(n)
    name, alive = np.arange(n), np.ones(n, np.bool_)
    merges, paid = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    if free:
        for i in range(n):
            term[i] = _term(size[i], scatter[i], spread, work)
    for i in range(n):
        for j in range(i + 1, n):
            costs[i, j] = _cost(i, j, size, mean, scatter, term, free, spread, joint, work)
        cheapest[i] = _look(i, costs, alive, partner)
    for t in range(n - 1):
        i = 0
        for k in range(n):
            if cheapest[k] < cheapest[i]:
                i = k
        j, paid[t] = partner[i], cheapest[i]
        merges[t, 0], merges[t, 1] = min(name[i], name[j]), max(name[i], name[j])
        _cost(i, j, size, mean, scatter, term, free, spread, joint, work)  # leaves the joint scatter
        for p in range(d):
            mean[i, p] = (size[i] * mean[i, p] + size[j] * mean[j, p]) / (size[i] + size[j])
        for p in range(side):
            for q in range(p + 1):
                scatter[i, p, q] = joint[p, q]
        size[i] += size[j]
        term[i] += term[j] + paid[t]
        name[i], alive[j], cheapest[j] = n + t, False, np.inf
        for k in range(n):
            if alive[k] and k != i:
                cost = _cost(i, k, size, mean, scatter, term, free, spread, joint, work)
                costs[min(i, k), max(i, k)] = cost
                if k < i and cost < cheapest[k]:
                    cheapest[k], partner[k] = cost, i
        for k in range(n):  # whose cheapest partner has changed or gone
            if alive[k] and (k == i or partner[k] == i or partner[k] == j):
                cheapest[k] = _look(k, costs, alive, partner)
    return merges, paid


@compiled
def _look(k, costs, alive, partner):
    """Find the cheapest partner of group k among those of higher number; gives its cost."""
    lowest = np.inf
    for other in range(k + 1, len(costs)):
        if alive[other] and costs[k, other] < lowest:
            lowest, partner[k] = costs[k, other], other
    return lowest
