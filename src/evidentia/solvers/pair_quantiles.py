r"""Percentile intervals for the probability that two objects share a class, from replicated posteriors.

Replicate b gives :math:`P^b_{ij} = \sum_k \pi^b_{ik} \pi^b_{jk}`, which does not change when its classes are
renumbered. The quantiles interpolate linearly between order statistics (NumPy's default, type 7 of Hyndman & Fan
1996).

Numbers that are not negative have the order of their bits read as whole numbers. So an order statistic is found by
halving a range of whole numbers and counting the draws up to its middle: a dozen passes over a short row, which take
less time than a partial sort and do not mind draws that are equal.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.threads import n_threads, thread_pool

ALONE = 1 << 20  # draws in all that one thread goes through before others would be of help


@compiled
def _range(codes):
    low, high = codes[0], codes[0]
    for b in range(len(codes)):
        low = low if low < codes[b] else codes[b]
        high = high if high > codes[b] else codes[b]
    return low, high


@compiled
def _count(codes, most):
    count = 0
    for b in range(len(codes)):
        count += codes[b] <= most
    return count


@compiled
def _largest(codes, most, low):
    """The largest up to ``most``; ``low`` is the smallest of all."""
    found = low
    for b in range(len(codes)):
        code = codes[b] if codes[b] <= most else low
        found = found if found > code else code
    return found


@compiled
def _next(codes, most, high):
    """The smallest beyond ``most``; ``high`` is the largest of all."""
    found = high
    for b in range(len(codes)):
        code = codes[b] if codes[b] > most else high
        found = found if found < code else code
    return found


@compiled
def _order_statistics(codes, k, low, high):
    """The numbers at places k and k + 1 in rising order; all lie from ``low`` to ``high``."""
    first, last = low, high
    while first < last:  # place k holds at least `first`, and more than k + 1 numbers are at most `last`
        middle = np.int32(first + (last - first) // 2)
        count = _count(codes, middle)
        if count == k + 1:
            return _largest(codes, middle, low), _next(codes, middle, high)
        if count > k:
            last = middle
        else:
            first = np.int32(middle + 1)
    return last, last


@compiled
def _multiply(one, other, draws):
    for b in range(len(draws)):
        draws[b] = one[0, b] * other[0, b]
    for k in range(1, len(one)):
        mine, theirs = one[k], other[k]
        for b in range(len(draws)):
            draws[b] += mine[b] * theirs[b]


@compiled(nogil=True)
def _find(posteriors, others, pairs, below, draws, codes, found):
    """Codes of the two order statistics around each of both quantiles; ``codes`` are the bits of ``draws``."""
    for p in range(len(pairs)):
        _multiply(posteriors[:, pairs[p, 0]], others[:, pairs[p, 1]], draws)
        low, high = _range(codes)
        found[p, 0], found[p, 1] = _order_statistics(codes, below, low, high)
        found[p, 2], found[p, 3] = _order_statistics(codes, len(codes) - 2 - below, low, high)


def pair_quantiles(
    posteriors: np.ndarray, pairs: np.ndarray, share: float, others: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of order ``share`` and ``1 - share`` of the probability that two objects share a class.

    Parameters
    ----------
    posteriors : ndarray of shape (n_classes, n_samples, n_replicates), dtype=float32
    pairs : ndarray of shape (n_pairs, 2)
    share : float
        At most one half.
    others : ndarray of shape (n_classes, n_others, n_replicates), dtype=float32, optional
        Where the second of a pair is looked up; in ``posteriors`` without it.

    Returns
    -------
    lower, upper : ndarray of shape (n_pairs,), dtype=float32
    """
    others = posteriors if others is None else others
    if posteriors.shape[2] == 1:
        posteriors, others = np.repeat(posteriors, 2, axis=2), np.repeat(others, 2, axis=2)
    lower, upper = np.empty((2, len(pairs)), dtype=np.float32)
    n_draws = posteriors.shape[2]
    position = share * (n_draws - 1)
    below = int(position)  # the quantile lies between the order statistics `below` and `below + 1`

    def fill(block: slice) -> None:
        draws = np.empty(n_draws, dtype=np.float32)
        found = np.empty((len(pairs[block]), 4), dtype=np.int32)
        _find(posteriors, others, pairs[block], below, draws, draws.view(np.int32), found)
        first, second, third, fourth = found.view(np.float32).T
        part = np.float32(position - below)
        lower[block] = first + part * (second - first)
        upper[block] = fourth - part * (fourth - third)

    with thread_pool(n_threads() if len(pairs) * n_draws > ALONE else 1) as each:
        each(fill, row_blocks(len(pairs), n_draws))
    return lower, upper
