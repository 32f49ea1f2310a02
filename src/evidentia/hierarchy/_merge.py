r"""The merges of belief hierarchical clustering, as compiled loops.

Both ways give each cluster :math:`C_i` masses on the other :math:`K-1` clusters and on all of them together, and merge
the pair with the largest product of pignistic probabilities. With :math:`x_{ij} = (K-1)\,BetP_i(j) - 1`, what the
masses add to ignorance,

.. math:: (K-1)^2\, BetP_i(j)\, BetP_j(i) = 1 + x_{ij} + x_{ji} + x_{ij} x_{ji}

so the loops compare :math:`g = x_{ij} + x_{ji} + x_{ij} x_{ji}`: where all masses are tiny, the product of the
probabilities would round to the same number for every pair. Where even the masses underflow they are kept relative to
the largest of them, as :math:`e^{-\lambda}` times their value; :math:`e^{\lambda}` is called ``unit`` below and is one
in ordinary data.

Pairs live in a packed lower triangle: ``(i, j)`` with ``j < i`` at ``i (i - 1) / 2 + j``. Row ``i`` is contiguous, and
when the last cluster takes the place of a merged one, the triangle of those that remain stays packed.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evidentia.solvers.compiling import MOMENT, at_a_time, compiled, parts
from evidentia.solvers.threads import n_threads, thread_pool

SINGLE, COMPLETE, AVERAGE, WARD = range(4)
LINKS = {"single": SINGLE, "complete": COMPLETE, "average": AVERAGE, "ward": WARD}

FAINT = 1e-200  # relative masses below this call for another unit
UNITS = 3  # that are tried for a merge: the second is relative to the largest mass there is
SLACK = 1 + 4e-15  # rounding of a bound
CALM = 32.0  # a row whose probabilities grow by more than this over K in one merge is looked at at once
LOST = 1e-6  # a sum that fell to this share of itself is summed anew, else rounding errors are left of it
ALONE = 1 << 17  # products below which one thread is as fast
PARTS = 4  # of the clusters for each thread, whose sizes differ
CHUNK = 128  # factors of at most 1 / (1 - alpha) multiplied before a logarithm is taken


@compiled
def pack_index(i, j):
    return i * (i - 1) // 2 + j if j < i else j * (j - 1) // 2 + i


@compiled
def union_distance(link, to_a, to_b, between, size_a, size_b, size):
    """Squared distance of a cluster to the union of a and b, by Lance and Williams."""
    if link == SINGLE:
        return min(to_a, to_b)
    if link == COMPLETE:
        return max(to_a, to_b)
    if link == AVERAGE:
        mean = (size_a * np.sqrt(to_a) + size_b * np.sqrt(to_b)) / (size_a + size_b)
        return mean * mean
    total = size_a + size_b + size
    return max(((size_a + size) * to_a + (size_b + size) * to_b - size * between) / total, 0.0)


@compiled
def _masses(k, total, unit, alpha, common, slope, level):
    """For every row: ``x = slope * similarity - level``, from eqs. (10), (11) with masses that sum to at most alpha.

    Where they would sum to more, all rows are scaled alike (``common``), or each for itself.
    """
    worst = total[:k].max()
    for i in range(k):
        reliability = alpha / max(1.0, unit * (worst if common else total[i]))
        slope[i] = (k - 1) * reliability
        level[i] = reliability * total[i]


@compiled
def _gain(s, i, j, slope, level, unit):
    x, y = slope[i] * s - level[i], slope[j] * s - level[j]
    return x + y + unit * x * y


@compiled
def _best_of_row(i, similarity, slope, level, unit):
    """Largest gain of row i over partners j < i."""
    base = i * (i - 1) // 2
    a, b = slope[i], level[i]
    best = -np.inf
    for j in range(i):
        s = similarity[base + j]
        x, y = a * s - b, slope[j] * s - level[j]
        best = max(best, x + y + unit * x * y)
    return best


@compiled
def _partner(i, gain, similarity, slope, level, unit):
    base = i * (i - 1) // 2
    for j in range(i):
        if _gain(similarity[base + j], i, j, slope, level, unit) == gain:
            return j
    return 0  # not reached: the same sums gave the gain


@compiled
def _sum_of_row(i, k, similarity):
    total = 0.0
    for j in range(k):
        if j != i:
            total += similarity[pack_index(i, j)]
    return total


def _refresh(k: int, squared: np.ndarray, gamma: float, similarity: np.ndarray, total: np.ndarray) -> float:
    """Similarities and their sums relative to the largest of those that remain; gives the logarithm of the unit."""
    shift = float(squared[: k * (k - 1) // 2].min())
    if gamma * shift < 0.5 * -np.log(FAINT):
        shift = 0.0
    total[:k] = 0.0
    for part in parts(k, 10 * k):
        _refresh_rows(part.start, part.stop, squared, gamma, shift, similarity, total)
    return -gamma * shift


@compiled
def _refresh_rows(first, last, squared, gamma, shift, similarity, total):
    for i in range(first, last):
        base = i * (i - 1) // 2
        for j in range(i):
            s = np.exp(-gamma * (squared[base + j] - shift))
            similarity[base + j] = s
            total[i] += s
            total[j] += s


@compiled
def _best_row(k, bound, similarity, slope, level, unit, search, moment):
    """The row of the pair with the largest gain, and how many rows were looked through.

    Those are looked through whose bound lets them hold it; they get the bound of 1 + unit * gain that they have
    reached. The search, which is returned, is the largest gain, its row, the row that was looked at first, and the next
    step. It ends after a moment, with a step below k, and goes on from there.
    """
    best, row, first, step = search
    scans, work = 0, 0.0
    if step == 0:
        best, row, first = -np.inf, 0, int(np.argmax(bound[:k]))
    while step < k and work < moment:
        i = first if step == 0 else step if step > first else step - 1
        if i > 0 and (step == 0 or bound[i] >= 1 + unit * best):
            reached = _best_of_row(i, similarity, slope, level, unit)
            bound[i] = (1 + unit * reached) * SLACK
            scans += 1
            work += i
            if reached > best or (reached == best and i < row):
                best, row = reached, i
        step += 1
    return (best, row, first, step), scans


@compiled
def _write_merge(t, a, b, k, s, unit, slope, level, name, merges, betp, mass):
    """Enter the t-th merge, with what each of the two of k clusters gives to the other."""
    merges[t, 0], merges[t, 1] = min(name[a], name[b]), max(name[a], name[b])
    for side in range(2):
        i = a if (side == 0) == (name[a] < name[b]) else b
        share = unit * (slope[i] * s - level[i]) + 1
        betp[t, side] = min(share / (k - 1), 1.0)
        mass[t, side] = unit * slope[i] * s / (k - 1)


@compiled
def _join(k, a, b, link, gamma, log_unit, squared, similarity, size, total, reference):
    """The union takes the place of a, the last of k clusters that of b; sums that lost their digits are made anew."""
    between = squared[pack_index(a, b)]
    last, sum_a = k - 1, 0.0
    for c in range(k):
        if c in (a, b):
            continue
        at_a, at_b = pack_index(c, a), pack_index(c, b)
        squared[at_a] = union_distance(link, squared[at_a], squared[at_b], between, size[a], size[b], size[c])
        s = np.exp(-gamma * squared[at_a] - log_unit)
        total[c] += s - similarity[at_a] - similarity[at_b]
        similarity[at_a] = s
        sum_a += s
    size[a] += size[b]
    total[a] = reference[a] = sum_a
    if b != last:
        for c in range(last):
            if c != b:
                squared[pack_index(c, b)] = squared[pack_index(c, last)]
                similarity[pack_index(c, b)] = similarity[pack_index(c, last)]
        size[b], total[b], reference[b] = size[last], total[last], reference[last]
    for c in range(last):
        if total[c] <= LOST * reference[c]:
            total[c] = reference[c] = _sum_of_row(c, last, similarity)


@compiled
def _loosen(k, a, b, similarity, unit, slope, level, old_slope, old_level, bound):
    """What the rows knew about their best partners becomes a bound, by how much each probability may have grown.

    ``old_slope`` is destroyed.
    """
    calm, most = 1 + CALM / k, 0.5  # not zero: a row that was never looked at is bounded by infinity
    for c in range(k):
        low = (1 - unit * level[c]) / (1 - unit * old_level[c])
        high = (1 + unit * (slope[c] - level[c])) / (1 + unit * (old_slope[c] - old_level[c]))
        growth = max(low, high)
        old_slope[c] = growth
        if c != a and growth <= calm:
            most = max(most, growth)
    for c in range(1, k):
        bound[c] *= old_slope[c] * most * SLACK
    for c in range(k):
        if c in (a, b) or old_slope[c] > calm:
            bound[c] = np.inf if c > 0 else -np.inf
            for i in range(c + 1, k):
                gain = _gain(similarity[pack_index(i, c)], i, c, slope, level, unit)
                bound[i] = max(bound[i], (1 + unit * gain) * SLACK)


def merge_by_distance(
    squared: np.ndarray, size: np.ndarray, link: int, gamma: float, alpha: float, common: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Merge all clusters by eqs. (10)-(12).

    Parameters
    ----------
    squared : ndarray of shape (n * (n - 1) / 2,)
        Squared distances, packed; destroyed.
    size : ndarray of shape (n,)
        Weight of each cluster; destroyed.
    link : int
        One of ``LINKS``.
    gamma, alpha : float
    common : bool
        Whether masses that would sum to more than alpha are scaled in all rows alike.

    Returns
    -------
    merges : ndarray of shape (n - 1, 2)
        Clusters joined; the t-th merge makes cluster n + t.
    betp, mass : ndarray of shape (n - 1, 2)
        Pignistic probability and mass that each of the two gives to the other.
    scans : int
        Rows looked through in all: n² / 2 at the very worst, and the time goes as n + scans, times n.
    """
    n = len(size)
    similarity, total = np.empty(len(squared)), np.empty(n)
    log_unit = _refresh(n, squared, gamma, similarity, total)
    reference, bound = total.copy(), np.full(n, np.inf)  # bound of 1 + unit * gain
    bound[0] = -np.inf
    slope, level, older = np.empty(n), np.empty(n), np.empty((2, n))
    result = np.empty((n - 1, 2), np.int64), np.empty((n - 1, 2)), np.empty((n - 1, 2))
    state = squared, size, similarity, total, reference, slope, level, older, bound, np.arange(n)
    rule = link, gamma, alpha, common
    _masses(n, total, np.exp(log_unit), alpha, common, slope, level)
    t, scans, tried, search = 0, 0, 0, (0.0, 0, 0, 0)
    while t < n - 1:
        sure, before = tried == UNITS, t
        t, faint, looked, search = _merge_some(t, sure, log_unit, rule, state, result, search, MOMENT)
        scans, tried, k = scans + looked, tried if t == before else 0, n - t
        if not faint:
            continue
        fainter = _refresh(k, squared, gamma, similarity, total)
        if fainter == log_unit:  # all that is left really is as far apart
            tried = UNITS
            continue
        log_unit, tried = fainter, tried + 1
        reference[:k], bound[1:k] = total[:k], np.inf
        _masses(k, total, np.exp(log_unit), alpha, common, slope, level)
    return *result, scans


@compiled
def _merge_some(t, sure, log_unit, rule, state, result, search, moment):
    """Merges from the t-th on, until all are made, a moment has passed, or the nearest pair is faint (unless ``sure``).

    Gives how many are made, whether the next is faint, how many rows were looked through, and how far the search for
    the next is.
    """
    link, gamma, alpha, common = rule
    squared, size, similarity, total, reference, slope, level, older, bound, name = state
    n, unit = len(size), np.exp(log_unit)
    scans, work = 0, 0.0
    while t < n - 1 and work < moment:
        k = n - t
        search, looked = _best_row(k, bound, similarity, slope, level, unit, search, moment)
        scans += looked
        work += float(k) * (looked + 30)
        if search[3] < k:
            break
        row, other = search[1], _partner(search[1], search[0], similarity, slope, level, unit)
        search = (0.0, 0, 0, 0)
        if not sure and similarity[pack_index(row, other)] <= FAINT:
            return t, True, scans, search
        sure = False
        a, b, last = min(row, other), max(row, other), k - 1
        _write_merge(t, a, b, k, similarity[pack_index(a, b)], unit, slope, level, name, *result)
        _join(k, a, b, link, gamma, log_unit, squared, similarity, size, total, reference)
        name[a], name[b] = n + t, name[last]
        slope[b], level[b] = slope[last], level[last]
        older[0, :last], older[1, :last] = slope[:last], level[:last]
        _masses(last, total, unit, alpha, common, slope, level)
        _loosen(last, a, b, similarity, unit, slope, level, older[0], older[1], bound)
        t += 1
    return t, False, scans, search


def _relative(k: int, log_mass: np.ndarray, owner: np.ndarray, mass: np.ndarray) -> float:
    """Masses of all objects on all clusters but their own, relative to the largest; gives its logarithm, or zero."""
    n, shift = len(log_mass), -np.inf
    for part in parts(n, k):
        shift = _largest(k, part.start, part.stop, log_mass, owner, shift)
    if shift > 0.5 * np.log(FAINT):
        shift = 0.0
    for part in parts(n, 10 * k):
        _scale_rows(k, part.start, part.stop, log_mass, owner, shift, mass)
    return shift


@compiled
def _largest(k, first, last, log_mass, owner, shift):
    for i in range(first, last):
        for c in range(k):
            if c != owner[i]:
                shift = max(shift, log_mass[i, c])
    return shift


@compiled
def _scale_rows(k, first, last, log_mass, owner, shift, mass):
    for i in range(first, last):
        for c in range(k):
            mass[i, c] = 0.0 if c == owner[i] else np.exp(log_mass[i, c] - shift)


@compiled
def _combine(k, own, first, following, weight, mass, unit, alpha, factor, log_factor):
    r"""Combine the mass functions of the objects of one cluster by Dempster's rule.

    Each has masses on single clusters and on the frame, and so has the result: with
    :math:`1 + E_k = \prod_i (1 + m_i(k) / m_i(\Omega))` its masses are proportional to :math:`E_k` and to one. The
    :math:`E_k` are left in ``factor``, both they and the one divided by the largest factor where that is huge.
    Gives the sum of the :math:`E_k`, and what has become of the one.
    """
    factor[:k] = 0.0
    log_factor[:k] = 0.0
    pending, logs, i = 0, False, first
    while i >= 0:
        total = mass[i, :k].sum()
        scale = 1.0 / max(1.0, unit * total / alpha)
        odds = scale / (1 - unit * scale * total)
        if weight[i] == 1.0 or unit < 1.0:
            for c in range(k):
                step = weight[i] * odds * mass[i, c]
                factor[c] += step + unit * factor[c] * step
            pending += 1
        else:
            logs = True
            for c in range(k):
                log_factor[c] += weight[i] * np.log1p(odds * mass[i, c])
        if pending == CHUNK and unit == 1.0:
            logs, pending = True, 0
            for c in range(k):
                log_factor[c] += np.log1p(factor[c])
                factor[c] = 0.0
        i = following[i]
    one = 1.0
    if logs:
        for c in range(k):
            log_factor[c] += np.log1p(factor[c])
        largest = log_factor[:k].max()
        huge = largest if largest > 300 else 0.0
        one = np.exp(-huge)
        for c in range(k):
            factor[c] = np.exp(log_factor[c] - huge) - one if huge > 0 else np.expm1(log_factor[c])
    factor[own] = 0.0
    return factor[:k].sum(), one


@compiled(nogil=True)
def _combine_some(k, first, following, weight, relative, unit, alpha, given, excess, chosen):
    """For each cluster ``chosen`` of k: masses ``given`` to the others, and what they add to ignorance."""
    factor, log_factor = np.empty(k), np.empty(k)
    for c in chosen:
        total, one = _combine(k, c, first[c], following, weight, relative, unit, alpha, factor, log_factor)
        norm = one + unit * total
        for d in range(k):
            given[c, d] = factor[d] / norm
            excess[c, d] = ((k - 1) * factor[d] - total) / norm


def _largest_gain(k: int, excess: np.ndarray, unit: float) -> tuple[int, int]:
    best = -np.inf, 0, 1
    for part in parts(k, k):
        best = _larger_gain(part.start, part.stop, excess, unit, best)
    return best[1:]


@compiled
def _larger_gain(first, last, excess, unit, before):
    best, a, b = before
    for c in range(first, last):
        for d in range(c):
            gain = excess[c, d] + excess[d, c] + unit * excess[c, d] * excess[d, c]
            if gain > best:
                best, a, b = gain, d, c
    return best, a, b


@compiled
def _unite(a, b, last, log_unit, owner, log_mass, relative):
    """The union takes the place of a, the last cluster that of b."""
    for i in range(len(owner)):
        if owner[i] == b:
            owner[i] = a
        elif owner[i] == last:
            owner[i] = b
        log_mass[i, a] += log_mass[i, b]
        log_mass[i, b] = log_mass[i, last]
        relative[i, b] = relative[i, last]
        relative[i, a] = 0.0 if owner[i] == a else np.exp(log_mass[i, a] - log_unit)


def merge_by_products(
    squared: np.ndarray, weight: np.ndarray, gamma: float, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Merge all clusters by eqs. (13), (14), Dempster's rule and (12).

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        Squared distances of the objects.
    weight : ndarray of shape (n,)
        An object of weight w counts as w objects at the same place that are together from the start.
    gamma, alpha : float

    Returns
    -------
    merges, betp, mass, scans
        As :func:`merge_by_distance`.
    """
    n = len(weight)
    workers = n_threads() if n * n > ALONE else 1
    log_mass = (np.log(alpha) - gamma * squared) * weight
    owner, name = np.arange(n), np.arange(n)
    first, final, following = np.arange(n), np.arange(n), np.full(n, -1)  # members of a cluster, as a chain
    relative = np.empty((n, n))
    log_unit = _relative(n, log_mass, owner, relative)
    excess, given = np.zeros((n, n)), np.zeros((n, n))
    merges, betp, mass = np.empty((n - 1, 2), np.int64), np.empty((n - 1, 2)), np.empty((n - 1, 2))
    scans = 0
    with thread_pool(workers) as each:
        for t in range(n - 1):
            k = n - t
            least = -(-k // at_a_time(10 * n))  # shares, so that each takes no longer than a moment
            shares = np.array_split(np.arange(k), max(least, PARTS * workers if workers > 1 and n * k > ALONE else 1))
            for _ in range(UNITS):
                unit = np.exp(log_unit)
                work = partial(_combine_some, k, first, following, weight, relative, unit, alpha, given, excess)
                if len(shares) > 1:
                    each(work, shares)
                else:
                    work(shares[0])
                scans += k
                a, b = _largest_gain(k, excess, unit)
                if max(given[a, b], given[b, a]) > FAINT:
                    break
                fainter = _relative(k, log_mass, owner, relative)
                if fainter == log_unit:
                    break
                log_unit = fainter
            merges[t] = sorted((name[a], name[b]))
            for side in range(2):
                c, d = (a, b) if (side == 0) == (name[a] < name[b]) else (b, a)
                betp[t, side] = min((1 + unit * excess[c, d]) / (k - 1), 1.0)
                mass[t, side] = unit * given[c, d]
            last = k - 1
            following[final[a]] = first[b]
            final[a], name[a] = final[b], n + t
            first[b], final[b], name[b] = first[last], final[last], name[last]
            _unite(a, b, last, log_unit, owner, log_mass, relative)
    return merges, betp, mass, scans
