"""Agglomerative clustering under a Gaussian model: merge, again and again, the two groups that cost least likelihood.

Banfield & Raftery (1993) and Fraley (1998): twice the loss of classification likelihood is a sum over groups,
so a merge changes three terms only, and the cost of every pair can be kept and updated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.compiling import at_a_time, compiled

TREE_WORK = 2e9  # of a merge tree, at most


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
    Memory is 8 n² bytes (32 MB for 2,000 rows) for equal spheres, 8 n (n + d²) for groups of any shape: take a sample
    of a large table. Time is about n² d; for groups of any shape n² d³ when many of them are large early.

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
    scores, variance = _principal_scores((rows - mean)[:, spread] / deviation[spread], share)
    return scores / variance**0.25


def _principal_scores(centered: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal coordinates of centered rows and their variances, smallest first, by the smaller of two matrices."""
    n, d = centered.shape
    root = np.sqrt(share)[:, None]
    if d <= n:
        scaled = root * centered
        variance, axes = np.linalg.eigh(scaled.T @ scaled)
    else:
        variance, axes = np.linalg.eigh(root * (centered @ centered.T) * root.T)
    kept = variance > 1e-10 * variance[-1]
    if d <= n:
        return centered @ axes[:, kept], variance[kept]
    return axes[:, kept] * np.sqrt(variance[kept]) / root, variance[kept]


def start_trees(rows: np.ndarray, weight: np.ndarray, n_trees: int) -> list[MergeTree]:
    """Up to three merge trees to start mixtures from: two for groups of any shape, one for equal spheres.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Columns of equal spread. Of many columns only as many principal components are taken as keep
        n² d³, the most that a tree can cost, below 2e9: 39 of 180 rows, 12 of 1,000, 7 of 2,000.
    weight : ndarray of shape (n_samples,)
    n_trees : int
    """
    most = max(2, int((TREE_WORK / len(rows) ** 2) ** (1 / 3)))
    if rows.shape[1] > most:
        share = weight / weight.sum()
        rows = _principal_scores(rows - share @ rows, share)[0][:, -most:]
    halfway = scaled_svd(rows, weight)
    ways = ((halfway, "VVV"), (rows, "VVV"), (halfway, "EII"))
    return [agglomerate(at, weight, model=model) for at, model in ways[:n_trees]]


@compiled
def _reduce(matrix):
    """Gaussian elimination of a positive semi-definite matrix, of which the upper triangle is read and written.

    Row j ends as the j-th row of the triangle: pivot and what stands to its right. Gives the determinant, zero when the
    matrix is singular.
    """
    d = len(matrix)
    product = 1.0
    for j in range(d):
        pivot = matrix[j, j]
        if pivot <= 0.0:
            return 0.0
        product *= pivot
        for i in range(j + 1, d):
            factor = matrix[j, i] / pivot
            for k in range(i, d):
                matrix[i, k] -= factor * matrix[j, k]
    return product


@compiled
def _squared_lengths(triangle, gaps):
    """g^T M^-1 g of all columns g, from what :func:`_reduce` leaves of M; ``gaps`` (d, m) are destroyed."""
    d, m = gaps.shape
    total, factor = np.zeros(m), np.empty(m)
    for j in range(d):
        for s in range(m):
            factor[s] = gaps[j, s] / triangle[j, j]
            total[s] += factor[s] * gaps[j, s]
        for k in range(j + 1, d):
            for s in range(m):
                gaps[k, s] -= factor[s] * triangle[j, k]
    return total


@compiled
def _join(i, j, size, mean, scatter, joint):
    """Scatter of two groups together, its upper triangle."""
    shrink = size[i] * size[j] / (size[i] + size[j])
    d = mean.shape[1]
    for p in range(d):
        gap = shrink * (mean[i, p] - mean[j, p])
        for q in range(p, d):
            joint[p, q] = scatter[i, p, q] + scatter[j, p, q] + gap * (mean[i, q] - mean[j, q])


@compiled
def _distance(i, j, mean):
    """Squared, between two means."""
    total = 0.0
    for p in range(mean.shape[1]):
        total += (mean[i, p] - mean[j, p]) * (mean[i, p] - mean[j, p])
    return total


@compiled
def _free_costs(i, first, alive, size, count, mean, scatter, trace, term, spread, costs):
    """Rise of the criterion when group i, of any shape, merges with each of those alive from ``first`` on.

    A group of no more than d rows has no determinant. With a single row the determinant grows by
    det(W + s g g^T) = det(W) (1 + s g^T W^-1 g): so that only groups of several rows that are more than d together
    need a determinant of their own, and a whole tree costs about n² d.
    """
    d = mean.shape[1]
    triangle, joint, length = np.empty((d, d)), np.empty((d, d)), np.empty(len(size))
    own = 0.0
    if count[i] > d:
        for p in range(d):
            for q in range(p, d):
                triangle[p, q] = scatter[i, p, q] / size[i]
        own = _reduce(triangle)
    if own > 0.0:
        single = np.flatnonzero((count == 1) & alive)
        gaps = np.empty((d, len(single)))
        for s in range(len(single)):
            for p in range(d):
                gaps[p, s] = mean[i, p] - mean[single[s], p]
        length[single] = _squared_lengths(triangle, gaps)
    for k in range(first, len(size)):
        if k == i or not alive[k]:
            continue
        total = size[i] + size[k]
        shrink = size[i] * size[k] / total
        variance = (trace[i] + trace[k] + shrink * _distance(i, k, mean)) / total
        determinant = 0.0
        if count[k] == 1 and own > 0.0:
            longer = 1.0 + shrink / size[i] * length[k]
            determinant = own * longer * (size[i] / total) ** d
        elif count[i] + count[k] > d:
            _join(i, k, size, mean, scatter, joint)
            for p in range(d):
                for q in range(p, d):
                    joint[p, q] /= total
            determinant = _reduce(joint)
        cost = total * np.log(determinant + variance + spread) - term[i] - term[k]
        costs[min(i, k), max(i, k)] = cost


@compiled
def _sphere_costs(i, first, alive, size, mean, costs):
    """Rise of the summed squares when group i merges with each of those alive from ``first`` on."""
    for k in range(first, len(size)):
        if k != i and alive[k]:
            costs[min(i, k), max(i, k)] = size[i] * size[k] / (size[i] + size[k]) * _distance(i, k, mean)


def _merge_all(mean: np.ndarray, size: np.ndarray, free: bool, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Greedy merges. Each row of the table of costs remembers its cheapest partner of higher number."""
    n, d = mean.shape
    scatter = np.zeros((n, d, d) if free else (n, 0, 0))
    count, trace, term, costs = np.ones(n, np.int64), np.zeros(n), size * np.log(spread), np.empty((n, n))
    partner, cheapest, name, alive = np.zeros(n, np.int64), np.empty(n), np.arange(n), np.ones(n, np.bool_)
    merges, paid = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    groups = mean, size, scatter, count, trace, term, name, alive
    share = at_a_time(n * (d**3 if free else d))
    for first in range(-n, n - 1, share):  # first the costs of all pairs, one row after the other
        steps = first, min(first + share, n - 1)
        _merge_some(steps, free, spread, groups, costs, partner, cheapest, merges, paid)
    return merges, paid


@compiled
def _merge_some(steps, free, spread, groups, costs, partner, cheapest, merges, paid):
    """Some of the merges of :func:`_merge_all`; steps below zero find the costs of a row."""
    mean, size, scatter, count, trace, term, name, alive = groups
    n, d = mean.shape
    for t in range(steps[0], steps[1]):
        i = first = t + n
        if t >= 0:
            i, first = _cheapest(cheapest), 0
        j = partner[i]
        if t >= 0:
            paid[t] = cheapest[i]
            merges[t, 0], merges[t, 1] = min(name[i], name[j]), max(name[i], name[j])
            total = size[i] + size[j]
            trace[i] += trace[j] + size[i] * size[j] / total * _distance(i, j, mean)
            if free:
                _join(i, j, size, mean, scatter, scatter[i])
            for p in range(d):
                mean[i, p] = (size[i] * mean[i, p] + size[j] * mean[j, p]) / total
            size[i], count[i] = total, count[i] + count[j]
            term[i] += term[j] + paid[t]
            name[i], alive[j], cheapest[j] = n + t, False, np.inf
        if free:
            _free_costs(i, first, alive, size, count, mean, scatter, trace, term, spread, costs)
        else:
            _sphere_costs(i, first, alive, size, mean, costs)
        for k in range(first, n):
            if k < i and alive[k] and costs[k, i] < cheapest[k]:
                cheapest[k], partner[k] = costs[k, i], i
            elif k == i or (t >= 0 and alive[k] and (partner[k] == i or partner[k] == j)):
                cheapest[k] = _look(k, costs, alive, partner)  # its cheapest partner has become dearer, or is gone


@compiled
def _cheapest(cheapest):
    """The group with the cheapest merge."""
    i = 0
    for k in range(len(cheapest)):
        if cheapest[k] < cheapest[i]:
            i = k
    return i


@compiled
def _look(k, costs, alive, partner):
    """Find the cheapest partner of group k among those of higher number; gives its cost."""
    lowest = np.inf
    for other in range(k + 1, len(costs)):
        if alive[other] and costs[k, other] < lowest:
            lowest, partner[k] = costs[k, other], other
    return lowest
