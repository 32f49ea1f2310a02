r"""Weights of a bootstrap that need not be drawn ahead or kept: each is a hash of a row's number and a replicate.

How often a row is drawn in a resampled table of n rows is a binomial number, which for large n is a Poisson number of
mean one, and nearly independent of those of other rows. A replicate therefore takes such a number for every row. It
comes from 64 bits that SplitMix64 (Steele, Lea & Flood, 2014) gives in the row's place, begun at a number of the
replicate's own: whoever reads the row, in whatever part of the table, finds the same weight, and so in every pass.
"""

from __future__ import annotations

import math

import numpy as np

from evidentia.solvers.compiling import compiled

STEP = np.uint64(0x9E3779B97F4A7C15)
# A hash up to the k-th of these gives a weight of at most k; beyond the last, no double tells the probability from one.
ENDS = np.array(
    [int(math.ldexp(math.fsum(math.exp(-1) / math.factorial(j) for j in range(k + 1)), 64)) for k in range(17)],
    dtype=np.uint64,
)


@compiled
def _mix_bits(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled(nogil=True)
def _fill(weights, first, replicates, seed, ends):
    m, n = weights.shape
    for r in range(m):
        begin = _mix_bits(_mix_bits(seed) + replicates[r] * STEP) + first * STEP
        for i in range(n):
            begin += STEP
            hashed = _mix_bits(begin)
            k = 0
            while k < len(ends) and hashed > ends[k]:
                k += 1
            weights[r, i] = k


def poisson_weights(first: int, n_rows: int, replicates: np.ndarray, seed: int) -> np.ndarray:
    """Weights, shape (n_replicates, n_rows), of the rows from number ``first`` on in some replicates, by number.

    Examples
    --------
    >>> poisson_weights(0, 10, np.array([0, 1]), seed=5).astype(int)
    array([[0, 2, 0, 1, 0, 0, 1, 0, 0, 0],
           [1, 0, 1, 3, 0, 1, 2, 0, 2, 1]])
    >>> poisson_weights(6, 4, np.array([1]), seed=5).astype(int)
    array([[2, 0, 2, 1]])
    """
    weights = np.empty((len(replicates), n_rows))
    with np.errstate(over="ignore"):  # where the loop is not compiled
        _fill(weights, np.uint64(first), np.asarray(replicates, dtype=np.uint64), np.uint64(seed), ENDS)
    return weights
