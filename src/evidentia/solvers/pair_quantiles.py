r"""Percentile intervals for the probability that two objects share a class, from replicated posteriors.

Replicate b gives :math:`P^b_{ij} = \sum_k \pi^b_{ik} \pi^b_{jk}`, which does not change when its classes are
renumbered. The quantiles interpolate linearly between order statistics (NumPy's default, type 7 of Hyndman & Fan
1996). Two partial sorts find them, and only one object's pairs × replicates are held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evidentia.solvers.blocks import row_blocks


def tail_quantiles(values: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The quantiles of order ``share`` and ``1 - share`` along the last axis; ``values`` are shuffled in place.

    Parameters
    ----------
    values : ndarray of shape (n_pairs, n_replicates)
    share : float
        At most one half.
    """
    count = values.shape[1]
    if count == 1:
        return values[:, 0].copy(), values[:, 0].copy()
    position = share * (count - 1)
    below = int(position)  # the quantile lies between the order statistics `below` and `below + 1`
    above = below + 1
    values.partition(above, axis=1)
    first, second = values[:, :above].max(axis=1), values[:, above]
    lower = first + (position - below) * (second - first)
    mirrored = count - 1 - above
    start = above if above <= mirrored else 0  # what the first partition left beyond `above` is larger than all else
    rest = values[:, start:]
    rest.partition(mirrored - start, axis=1)
    second, first = rest[:, mirrored - start], rest[:, mirrored - start + 1 :].min(axis=1)
    return lower, first - (position - below) * (first - second)


def _products(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Probability of a common class, shape (n_others, n_replicates), from posteriors (c, ..., B)."""
    total = one[0] * others[0]
    for k in range(1, len(others)):
        total += one[k] * others[k]
    return total


def all_pairs(posteriors: np.ndarray, share: float) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each object i: i, and lower and upper bounds for its pairs with the objects after it.

    Parameters
    ----------
    posteriors : ndarray of shape (n_classes, n_samples, n_replicates)
    share : float
        Probability left out at each end.
    """
    for i in range(posteriors.shape[1] - 1):
        yield i, *tail_quantiles(_products(posteriors[:, i], posteriors[:, i + 1 :]), share)


def chosen_pairs(
    posteriors: np.ndarray, pairs: np.ndarray, share: float, others: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds for ``pairs (n_pairs, 2)``; the second of a pair is looked up in ``others`` when given."""
    others = posteriors if others is None else others
    lower, upper = np.empty(len(pairs)), np.empty(len(pairs))
    for block in row_blocks(len(pairs), posteriors.shape[2]):
        i, j = pairs[block].T
        lower[block], upper[block] = tail_quantiles(_products(posteriors[:, i], others[:, j]), share)
    return lower, upper
