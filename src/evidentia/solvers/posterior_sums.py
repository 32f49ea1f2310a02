r"""Posteriors of components whose log densities are linear in features of a row, and their sums, in one go.

The score of component j is :math:`\theta_j \cdot \varphi(x)`, its posterior :math:`m_j = e^{s_j} / \sum_l e^{s_l}`.
Only sums over rows are wanted, so nothing needs to be written down: sixty-four rows at a time are laid out as columns,
and features, scores, exponentials and sums of these few rows stay in the nearest cache. No array grows with the number
of rows, no step allocates, and the interpreter is free for other threads meanwhile.

The number of coefficients tells the features: ``(x, 1)``, ``(x, x², 1)``, or ``(x, x_p x_q for all p <= q, 1)``.
"""

from __future__ import annotations

import math

import numpy as np

from evidentia.solvers.compiling import compiled

BLOCK = 64  # rows
WIDTH = (
    BLOCK + 8
)  # of a line of the buffers: at a power of two all lines would compete for the same places of the cache
TILE = 32  # components at a time, whose scores of a block then stay in the nearest cache
GROUP = 16  # sums of exponentials whose product is finite for any number of components

# exp(x) = 2**k exp(r) with |r| <= log(2)/2; adding SHIFT rounds to a whole number and leaves it in the lowest bits.
PER_LOG2 = 1.4426950408889634
SHIFT = 1.5 * 2.0**52
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k * LOG2_HIGH is exact
LEAST = -708.0  # below it exp is taken to be zero; a little lower it would be a number of reduced precision
C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1 / math.factorial(power) for power in range(3, 14))

# Parts are built into what calls them: a copy of their own, which only the process that compiles it has, may round
# otherwise, and a fit would not have the bits that it has when its code comes from the cache, or in another process.
INSIDE = {"nogil": True, "forceinline": True}
LINEAR = {"fastmath": {"contract"}}  # a product and a sum may be rounded once
ANY_ORDER = {"fastmath": {"contract", "reassoc"}}  # sums over a block may run in several lanes


@compiled(**INSIDE, **LINEAR)
def _lay_out(rows: np.ndarray, start: int, count: int, features: np.ndarray) -> None:
    """Features of rows ``start`` to ``start + count`` as columns; zeros beyond, which add nothing to any sum."""
    n_columns, n_terms = rows.shape[1] - 1, len(features)
    for i in range(count):
        for p in range(n_columns):
            features[p, i] = rows[start + i, p]
        features[n_terms - 1, i] = rows[start + i, n_columns]
    if count < BLOCK:
        features[:, count:] = 0.0
    if n_terms == 2 * n_columns + 1:
        for p in range(n_columns):
            for i in range(BLOCK):
                features[n_columns + p, i] = features[p, i] * features[p, i]
    elif n_terms > n_columns + 1:
        at = n_columns
        for p in range(n_columns):
            for q in range(p, n_columns):
                for i in range(BLOCK):
                    features[at, i] = features[p, i] * features[q, i]
                at += 1


@compiled(**INSIDE, **LINEAR)
def score(theta: np.ndarray, features: np.ndarray, scores: np.ndarray) -> None:
    """``scores = theta @ features``, four features and two components at a time."""
    n_components, n_terms = theta.shape
    scores[:] = 0.0
    fours = n_terms - n_terms % 4
    for first in range(0, n_components, TILE):
        last = min(first + TILE, n_components)
        pairs = last - (last - first) % 2
        for p in range(0, fours, 4):
            for j in range(first, pairs, 2):
                a0, a1, a2, a3 = theta[j, p], theta[j, p + 1], theta[j, p + 2], theta[j, p + 3]
                b0, b1, b2, b3 = theta[j + 1, p], theta[j + 1, p + 1], theta[j + 1, p + 2], theta[j + 1, p + 3]
                for i in range(BLOCK):
                    x0, x1, x2, x3 = features[p, i], features[p + 1, i], features[p + 2, i], features[p + 3, i]
                    scores[j, i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                    scores[j + 1, i] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
            for j in range(pairs, last):
                a0, a1, a2, a3 = theta[j, p], theta[j, p + 1], theta[j, p + 2], theta[j, p + 3]
                for i in range(BLOCK):
                    x0, x1, x2, x3 = features[p, i], features[p + 1, i], features[p + 2, i], features[p + 3, i]
                    scores[j, i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
        for p in range(fours, n_terms):
            for j in range(first, last):
                a0 = theta[j, p]
                for i in range(BLOCK):
                    scores[j, i] += a0 * features[p, i]


@compiled(**INSIDE, **LINEAR)
def _exponentials(
    scores: np.ndarray, bits: np.ndarray, top: np.ndarray, total: np.ndarray, scaled: np.ndarray, power: np.ndarray
) -> None:
    """Scores become their exponentials over the largest of a row, ``top``; ``total`` is their sum.

    ``bits`` and ``power`` are the same numbers as ``scores`` and ``scaled``, as integers: adding to the exponent of a
    floating-point number multiplies it by a power of two.
    """
    for i in range(BLOCK):
        top[i], total[i] = scores[0, i], 0.0
    for j in range(1, len(scores)):
        for i in range(BLOCK):
            top[i] = scores[j, i] if scores[j, i] > top[i] else top[i]
    for j in range(len(scores)):
        for i in range(BLOCK):
            below = scores[j, i] - top[i]
            x = below if below > LEAST else 0.0
            shifted = x * PER_LOG2 + SHIFT
            k = shifted - SHIFT
            r = (x - k * LOG2_HIGH) - k * LOG2_LOW
            r2 = r * r
            r4 = r2 * r2
            low = ((1.0 + r) + (0.5 + C3 * r) * r2) + ((C4 + C5 * r) + (C6 + C7 * r) * r2) * r4
            high = ((C8 + C9 * r) + (C10 + C11 * r) * r2) + (C12 + C13 * r) * r4
            scores[j, i] = low + high * (r4 * r4) if below > LEAST else 0.0
            scaled[i] = shifted
        for i in range(BLOCK):
            bits[j, i] += power[i] << 52
        for i in range(BLOCK):
            total[i] += scores[j, i]


@compiled(**INSIDE, **ANY_ORDER)
def _log_likelihood(top: np.ndarray, total: np.ndarray) -> float:
    """Sum of ``top + log(total)``: a few logarithms of products."""
    found = 0.0
    for i in range(BLOCK):
        found += top[i]
    for start in range(0, BLOCK, GROUP):
        product = 1.0
        for i in range(start, start + GROUP):
            product *= total[i]
        found += math.log(product)
    return found


@compiled(**INSIDE, **ANY_ORDER)
def add(posterior: np.ndarray, features: np.ndarray, sums: np.ndarray) -> None:
    """``sums += posterior @ features.T``, four features and two components at a time."""
    n_components, n_terms = sums.shape
    fours = n_terms - n_terms % 4
    for first in range(0, n_components, TILE):
        last = min(first + TILE, n_components)
        pairs = last - (last - first) % 2
        for p in range(0, fours, 4):
            for j in range(first, pairs, 2):
                a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
                for i in range(BLOCK):
                    a, b = posterior[j, i], posterior[j + 1, i]
                    x0, x1, x2, x3 = features[p, i], features[p + 1, i], features[p + 2, i], features[p + 3, i]
                    a0, a1, a2, a3 = a0 + a * x0, a1 + a * x1, a2 + a * x2, a3 + a * x3
                    b0, b1, b2, b3 = b0 + b * x0, b1 + b * x1, b2 + b * x2, b3 + b * x3
                sums[j, p] += a0
                sums[j, p + 1] += a1
                sums[j, p + 2] += a2
                sums[j, p + 3] += a3
                sums[j + 1, p] += b0
                sums[j + 1, p + 1] += b1
                sums[j + 1, p + 2] += b2
                sums[j + 1, p + 3] += b3
            for j in range(pairs, last):
                a0 = a1 = a2 = a3 = 0.0
                for i in range(BLOCK):
                    a = posterior[j, i]
                    a0, a1 = a0 + a * features[p, i], a1 + a * features[p + 1, i]
                    a2, a3 = a2 + a * features[p + 2, i], a3 + a * features[p + 3, i]
                sums[j, p] += a0
                sums[j, p + 1] += a1
                sums[j, p + 2] += a2
                sums[j, p + 3] += a3
        for p in range(fours, n_terms):
            for j in range(first, last):
                a0 = 0.0
                for i in range(BLOCK):
                    a0 += posterior[j, i] * features[p, i]
                sums[j, p] += a0


@compiled(nogil=True, **LINEAR)
def add_posterior_sums(rows: np.ndarray, theta: np.ndarray, weight: np.ndarray, sums: np.ndarray) -> float:
    r"""Add :math:`\sum_i w_i m_{ij} \varphi(x_i)` to ``sums``; gives :math:`\sum_i w_i \log \sum_j e^{s_{ij}}`.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features + 1)
        ``(x, 1)``.
    theta : ndarray of shape (n_components, n_terms)
        Coefficients of the features, that of the constant last.
    weight : ndarray of shape (n_samples,) or (0,)
        Empty: all ones.
    sums : ndarray of shape (n_components, n_terms)
    """
    features, scores = np.empty((theta.shape[1], WIDTH)), np.empty((len(theta), WIDTH))
    top, total, scaled = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    bits, power = scores.view(np.int64), scaled.view(np.int64)
    log_likelihood = 0.0
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        _lay_out(rows, start, count, features)
        score(theta, features, scores)
        _exponentials(scores, bits, top, total, scaled, power)
        if len(weight):
            for i in range(count):
                log_likelihood += weight[start + i] * (top[i] + math.log(total[i]))
                total[i] = weight[start + i] / total[i]
        else:
            top[count:], total[count:] = 0.0, 1.0
            log_likelihood += _log_likelihood(top, total)
            for i in range(BLOCK):
                total[i] = 1 / total[i]
        for j in range(len(scores)):
            for i in range(BLOCK):
                scores[j, i] *= total[i]
        add(scores, features, sums)
    return log_likelihood


@compiled(nogil=True, **LINEAR)
def write_posteriors(rows: np.ndarray, theta: np.ndarray, posterior: np.ndarray, log_sum: np.ndarray) -> None:
    r"""Posteriors (n_samples, n_components) of the rows, and :math:`\log \sum_j e^{s_{ij}}`; for the rest see above."""
    features, scores = np.empty((theta.shape[1], WIDTH)), np.empty((len(theta), WIDTH))
    top, total, scaled = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    bits, power = scores.view(np.int64), scaled.view(np.int64)
    for start in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - start)
        _lay_out(rows, start, count, features)
        score(theta, features, scores)
        _exponentials(scores, bits, top, total, scaled, power)
        for i in range(count):
            log_sum[start + i] = top[i] + math.log(total[i])
            for j in range(len(scores)):
                posterior[start + i, j] = scores[j, i] / total[i]
