r"""Posteriors of components whose log densities are linear in features of a row, and their sums, in one go.

The score of component j is :math:`\theta_j \cdot \varphi(x)`, its posterior :math:`m_j = e^{s_j} / \sum_l e^{s_l}`.
Only sums over rows are wanted, so nothing needs to be written down: rows are laid out in blocks, in which each column
is a line (:func:`laid_out`), and features, scores, exponentials and sums of one block stay near the core. No array
grows with the number of rows, no step allocates, and the interpreter is free for other threads meanwhile.

The number of coefficients tells the features: ``(x, 1)``, ``(x, x², 1)``, or ``(x, x_p x_q for all p <= q, 1)``. The
coefficient of the constant comes last, and the constant itself is never multiplied. Features of a wide table are made
of some columns at a time, once for the scores and once for the sums: all of them would not stay near.
"""

from __future__ import annotations

import math

import numpy as np

from evidentia.solvers.compiling import at_a_time, compiled, parts, read_ahead
from evidentia.solvers.memory import BLOCK_BYTES, row_blocks

BLOCK = 128  # rows
WIDTH = BLOCK + 8  # of a line: at a power of two all lines would compete for the same places of the cache
TILE = 16  # components at a time, whose scores of a block then stay in the nearest cache
PER_LINE = 8  # numbers that come from memory together
COLUMNS = 64  # of a wide table whose features are made at a time, so that they stay near
AHEAD = 5_500  # numbers between those that are worked on and those asked for: memory answers late
LANES = 16  # products of sums of exponentials that grow side by side, so that logarithms are few
LARGEST = 300.0  # decimal exponent that such a product may have

# exp(x) = 2**k exp(r) with |r| <= log(2)/2; adding SHIFT rounds to a whole number and leaves it in the lowest bits.
PER_LOG2 = 1.4426950408889634
SHIFT = 1.5 * 2.0**52
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # k * LOG2_HIGH is exact
NEVER = -1e300  # score of a component of weight zero: finite, since an infinity in a product makes NaN on some machines
LEAST = -708.0  # below it exp is taken to be zero; a little lower it would be a number of reduced precision
# (exp(r) - 1 - r) / r² through Chebyshev's nodes: within 2e-17 of exp, for which Taylor needs two terms more.
C2, C3, C4, C5, C6 = 0.5, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717
C7, C8, C9 = 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06
C10, C11 = 2.7620088445409746e-07, 2.510038549551032e-08

# Parts are built into what calls them: a copy of their own, which only the process that compiles it has, may round
# otherwise, and a fit would not have the bits that it has when its code comes from the cache, or in another process.
INSIDE = {"nogil": True, "forceinline": True}
LINEAR = {"fastmath": {"contract"}}  # a product and a sum may be rounded once
ANY_ORDER = {"fastmath": {"contract", "reassoc"}}  # sums over a block may run in several lanes


@compiled(**INSIDE)
def _aligned(size: int) -> np.ndarray:
    """So many numbers of which the first is the first of a line of the cache: eight at a time then touch one line."""
    room = np.empty(size + PER_LINE)
    start = -(room.ctypes.data // room.itemsize) % PER_LINE
    return room[start : start + size]


@compiled(**INSIDE)
def lines(count: int) -> np.ndarray:
    """Room for so many lines of a block."""
    return _aligned(count * WIDTH).reshape(count, WIDTH)


@compiled(nogil=True)
def laid_out(X: np.ndarray, origin: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Rows ``(x - origin) * factor`` in blocks, (n_blocks, n_features, WIDTH), each column a line; zeros beyond.

    Lines of a table of less than a block are as short as it is.
    """
    n_columns, n_blocks = X.shape[1], -(-len(X) // BLOCK)
    width = WIDTH if len(X) >= BLOCK else len(X)
    blocks = _aligned(n_blocks * n_columns * width).reshape(n_blocks, n_columns, width)
    for b in range(n_blocks):
        count = min(BLOCK, len(X) - b * BLOCK)
        blocks[b, :, count:] = 0.0
        for i in range(count):
            for p in range(n_columns):
                blocks[b, p, i] = (X[b * BLOCK + i, p] - origin[p]) * factor[p]
    return blocks


@compiled(**INSIDE)
def _in_parts(values: np.ndarray, n_columns: int, ready: bool) -> np.ndarray:
    """Coefficients or sums of the features of some columns at a time, (n_parts, n_components, n_terms).

    They are one part, the values themselves, if the table is not wide, its lines are ``ready``, or features are
    products of columns too. The constant belongs to the first part.
    """
    n_terms = values.shape[1] - 1
    if ready or n_columns <= COLUMNS or n_terms > 2 * n_columns:
        return values.reshape(1, len(values), n_terms + 1)
    parts = np.zeros((-(-n_columns // COLUMNS), len(values), n_terms // n_columns * COLUMNS + 1))
    _copy_parts(values, n_columns, parts, False)
    return parts


@compiled(**INSIDE)
def _copy_parts(values: np.ndarray, n_columns: int, parts: np.ndarray, back: bool) -> None:
    """Values into parts, or ``back``; what the last part has of columns of the one before it is left as it is."""
    for p in range(values.shape[1] - 1):
        square, column = divmod(p, n_columns)
        t = column // COLUMNS
        place = square * COLUMNS + column - min(t * COLUMNS, n_columns - COLUMNS)
        for j in range(len(values)):
            if back:
                values[j, p] = parts[t, j, place]
            else:
                parts[t, j, place] = values[j, p]
    for j in range(len(values)):
        if back:
            values[j, -1] = parts[0, j, -1]
        else:
            parts[0, j, -1] = values[j, -1]


@compiled(**INSIDE)
def _columns_of(block: np.ndarray, parts: np.ndarray, t: int) -> np.ndarray:
    """Columns of a part: all, or ``COLUMNS`` of them, the last part those that end with the last column."""
    width = len(block) if len(parts) == 1 else COLUMNS
    first = min(t * width, len(block) - width)
    return block[first : first + width]


@compiled(**INSIDE, **LINEAR)
def _lift(block: np.ndarray, features: np.ndarray) -> None:
    """Columns of a block in lines of full length, and their squares or products as further lines, if there are any."""
    n_columns, n_terms = len(block), len(features)
    for p in range(n_columns):
        for i in range(min(BLOCK, block.shape[1])):
            features[p, i] = block[p, i]
        features[p, block.shape[1] :] = 0.0
    if n_terms == 2 * n_columns:
        for p in range(n_columns):
            for i in range(BLOCK):
                features[n_columns + p, i] = features[p, i] * features[p, i]
    elif n_terms > n_columns:
        at = n_columns
        for p in range(n_columns):
            for q in range(p, n_columns):
                for i in range(BLOCK):
                    features[at, i] = features[p, i] * features[q, i]
                at += 1


@compiled(**INSIDE, **LINEAR)
def score(theta: np.ndarray, features: np.ndarray, scores: np.ndarray) -> None:
    """``scores = theta @ (features, 1)``: the constant with up to three features, then eight or four at a time."""
    n_components, n_terms = theta.shape[0], theta.shape[1] - 1
    eights, fours = n_terms - n_terms % 8, n_terms - n_terms % 4
    for first in range(0, n_components, TILE):
        last = min(first + TILE, n_components)
        pairs = last - (last - first) % 2
        for j in range(first, last):
            constant = theta[j, n_terms]
            if n_terms - fours == 0:
                for i in range(BLOCK):
                    scores[j, i] = constant
            elif n_terms - fours == 1:
                a0 = theta[j, fours]
                for i in range(BLOCK):
                    scores[j, i] = constant + a0 * features[fours, i]
            elif n_terms - fours == 2:
                a0, a1 = theta[j, fours], theta[j, fours + 1]
                for i in range(BLOCK):
                    scores[j, i] = (constant + a0 * features[fours, i]) + a1 * features[fours + 1, i]
            else:
                a0, a1, a2 = theta[j, fours], theta[j, fours + 1], theta[j, fours + 2]
                for i in range(BLOCK):
                    x0, x1, x2 = features[fours, i], features[fours + 1, i], features[fours + 2, i]
                    scores[j, i] = (constant + a0 * x0) + (a1 * x1 + a2 * x2)
        for p in range(0, eights, 8):
            for j in range(first, pairs, 2):
                a0, a1, a2, a3 = theta[j, p], theta[j, p + 1], theta[j, p + 2], theta[j, p + 3]
                a4, a5, a6, a7 = theta[j, p + 4], theta[j, p + 5], theta[j, p + 6], theta[j, p + 7]
                b0, b1, b2, b3 = theta[j + 1, p], theta[j + 1, p + 1], theta[j + 1, p + 2], theta[j + 1, p + 3]
                b4, b5, b6, b7 = theta[j + 1, p + 4], theta[j + 1, p + 5], theta[j + 1, p + 6], theta[j + 1, p + 7]
                for i in range(BLOCK):
                    x0, x1, x2, x3 = features[p, i], features[p + 1, i], features[p + 2, i], features[p + 3, i]
                    x4, x5, x6, x7 = features[p + 4, i], features[p + 5, i], features[p + 6, i], features[p + 7, i]
                    scores[j, i] += ((a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)) + (
                        (a4 * x4 + a5 * x5) + (a6 * x6 + a7 * x7)
                    )
                    scores[j + 1, i] += ((b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)) + (
                        (b4 * x4 + b5 * x5) + (b6 * x6 + b7 * x7)
                    )
        _score_fours(theta, features, scores, pairs, last, 0, eights)
        _score_fours(theta, features, scores, first, last, eights, fours)


@compiled(**INSIDE, **LINEAR)
def _score_fours(
    theta: np.ndarray, features: np.ndarray, scores: np.ndarray, first: int, last: int, start: int, stop: int
) -> None:
    """Add what features ``start`` to ``stop`` give components ``first`` to ``last``, four at a time."""
    for p in range(start, stop, 4):
        for j in range(first, last):
            a0, a1, a2, a3 = theta[j, p], theta[j, p + 1], theta[j, p + 2], theta[j, p + 3]
            for i in range(BLOCK):
                x0, x1, x2, x3 = features[p, i], features[p + 1, i], features[p + 2, i], features[p + 3, i]
                scores[j, i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)


@compiled(**INSIDE, **LINEAR)
def _score_parts(
    block: np.ndarray, parts: np.ndarray, features: np.ndarray, lift: bool, scores: np.ndarray, further: np.ndarray
) -> None:
    """Scores of a block, from the coefficients of some columns at a time, whose features are made if they are to be."""
    for t in range(len(parts)):
        if lift:
            _lift(_columns_of(block, parts, t), features)
        score(parts[t], features, further if t else scores)
        if t:
            for j in range(len(scores)):
                for i in range(BLOCK):
                    scores[j, i] += further[j, i]


@compiled(**INSIDE)
def _ask_for(blocks: np.ndarray, b: int, part: int, parts: int) -> None:
    """Have come near what is ``AHEAD`` of block ``b``: a part of it, as few lines can be on their way at a time."""
    size = blocks.shape[1] * blocks.shape[2]
    start = b * size + AHEAD
    for at in range(start + part * size // parts, min(start + (part + 1) * size // parts, blocks.size), PER_LINE):
        read_ahead(blocks, at)


@compiled(**INSIDE, **LINEAR)
def _exponentials(scores: np.ndarray, top: np.ndarray, total: np.ndarray, blocks: np.ndarray, b: int) -> None:
    """Scores become their exponentials over the largest of a row, ``top``; ``total`` is their sum.

    Meanwhile what follows block ``b`` comes near.
    Adding to the exponent of a floating-point number, seen as an integer, multiplies it by a power of two.
    """
    for i in range(BLOCK):
        top[i], total[i] = scores[0, i], 0.0
    for j in range(1, len(scores)):
        for i in range(BLOCK):
            top[i] = scores[j, i] if scores[j, i] > top[i] else top[i]
    for j in range(len(scores)):
        _ask_for(blocks, b, j, len(scores))
        for i in range(BLOCK):
            below = scores[j, i] - top[i]
            x = below if below > LEAST else 0.0
            shifted = x * PER_LOG2 + SHIFT
            k = shifted - SHIFT
            r = (x - k * LOG2_HIGH) - k * LOG2_LOW
            r2 = r * r
            r4 = r2 * r2
            low = ((1.0 + r) + (C2 + C3 * r) * r2) + ((C4 + C5 * r) + (C6 + C7 * r) * r2) * r4
            high = (C8 + C9 * r) + (C10 + C11 * r) * r2
            power = np.float64(shifted).view(np.int64) << 52
            scaled = np.float64(low + high * (r4 * r4)).view(np.int64) + power
            found = np.int64(scaled).view(np.float64) if below > LEAST else 0.0
            scores[j, i] = found
            total[i] += found


@compiled(**INSIDE, **ANY_ORDER)
def _sum_of(values: np.ndarray) -> float:
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@compiled(**INSIDE, **ANY_ORDER)
def _logs_of(products: np.ndarray) -> float:
    """Sum of the logarithms of products, which are one again."""
    found = 0.0
    for first in range(LANES):
        product = 1.0
        for i in range(first, BLOCK, LANES):
            product *= products[i]
            products[i] = 1.0
        found += math.log(product)
    return found


@compiled(**INSIDE, **ANY_ORDER)
def add(posterior: np.ndarray, features: np.ndarray, sums: np.ndarray) -> None:
    """``sums += posterior @ (features, 1).T``, four features and two components at a time."""
    n_components, n_terms = sums.shape[0], sums.shape[1] - 1
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
        for j in range(first, last):
            _add_last(posterior[j], features, fours, sums[j])


@compiled(**INSIDE, **ANY_ORDER)
def _add_last(posterior: np.ndarray, features: np.ndarray, fours: int, sums: np.ndarray) -> None:
    """Sums of one component over the features that are left, at most three, and over the constant."""
    size = a0 = a1 = a2 = 0.0
    left = len(sums) - 1 - fours
    if left == 0:
        for i in range(BLOCK):
            size += posterior[i]
    elif left == 1:
        for i in range(BLOCK):
            size, a0 = size + posterior[i], a0 + posterior[i] * features[fours, i]
    elif left == 2:
        for i in range(BLOCK):
            a = posterior[i]
            size, a0, a1 = size + a, a0 + a * features[fours, i], a1 + a * features[fours + 1, i]
    else:
        for i in range(BLOCK):
            a = posterior[i]
            size, a0 = size + a, a0 + a * features[fours, i]
            a1, a2 = a1 + a * features[fours + 1, i], a2 + a * features[fours + 2, i]
    sums[len(sums) - 1] += size
    if left > 0:
        sums[fours] += a0
    if left > 1:
        sums[fours + 1] += a1
    if left > 2:
        sums[fours + 2] += a2


def add_posterior_sums(
    blocks: np.ndarray, n_rows: int, theta: np.ndarray, weight: np.ndarray, sums: np.ndarray
) -> float:
    r"""Add :math:`\sum_i w_i m_{ij} \varphi(x_i)` to ``sums``; gives :math:`\sum_i w_i \log \sum_j e^{s_{ij}}`.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, n_features, WIDTH or n_rows)
        From :func:`laid_out`.
    n_rows : int
        How many rows the blocks hold.
    theta : ndarray of shape (n_components, n_terms)
        Coefficients of the features, that of the constant last.
    weight : ndarray of shape (n_rows,) or (0,)
        Empty: all ones.
    sums : ndarray of shape (n_components, n_terms)
    """
    log_likelihood, products, tops = 0.0, np.ones(BLOCK), np.zeros(BLOCK)
    for part in parts(len(blocks), BLOCK * theta.size):
        so_far = log_likelihood, products, tops
        log_likelihood = add_sums_of_some(blocks, n_rows, theta, weight, sums, part.start, part.stop, so_far)
    return log_likelihood


@compiled(nogil=True, **LINEAR)
def add_sums_of_some(
    blocks: np.ndarray,
    n_rows: int,
    theta: np.ndarray,
    weight: np.ndarray,
    sums: np.ndarray,
    first: int,
    last: int,
    so_far: tuple[float, np.ndarray, np.ndarray],
) -> float:
    """Add those of the blocks ``first`` to ``last - 1``, after the blocks before them.

    ``so_far`` is what was given for these, products of sums of exponentials, and sums of largest scores.
    """
    ready = theta.shape[1] == blocks.shape[1] + 1 and blocks.shape[2] == WIDTH  # lines are the features
    parts, found = _in_parts(theta, blocks.shape[1], ready), _in_parts(sums, blocks.shape[1], ready)
    lifted, scores, further = lines(0 if ready else parts.shape[2] - 1), lines(len(theta)), lines(len(theta))
    top, total = _aligned(BLOCK), _aligned(BLOCK)
    log_likelihood, products, tops = so_far
    most = max(1, int(LARGEST / math.log10(len(theta) + 1.0)) * LANES // BLOCK)  # blocks between two logarithms
    for b in range(first, last):
        start, count = b * BLOCK, min(BLOCK, n_rows - b * BLOCK)
        features = blocks[b] if ready else lifted
        _score_parts(blocks[b], parts, features, not ready, scores, further)
        _exponentials(scores, top, total, blocks, b)
        if len(weight):
            for i in range(count):
                log_likelihood += weight[start + i] * (top[i] + math.log(total[i]))
                total[i] = weight[start + i] / total[i]
        else:
            if count < BLOCK:
                top[count:], total[count:] = 0.0, 1.0
            for i in range(BLOCK):
                products[i] *= total[i]
                tops[i] += top[i]
                total[i] = 1 / total[i]
            if b % most == most - 1:
                log_likelihood += _logs_of(products)
        if count < BLOCK:
            total[count:] = 0.0  # what is no row adds nothing to any sum
        for j in range(len(scores)):
            for i in range(BLOCK):
                scores[j, i] *= total[i]
        for t in range(len(parts)):
            if len(parts) > 1:
                _lift(_columns_of(blocks[b], parts, t), lifted)
            add(scores, features, found[t])
    if len(parts) > 1:
        _copy_parts(sums, blocks.shape[1], found, True)
    return log_likelihood + _sum_of(tops) + _logs_of(products) if last == len(blocks) else log_likelihood


@compiled(nogil=True, **LINEAR)
def write_posteriors(blocks: np.ndarray, theta: np.ndarray, posterior: np.ndarray, log_sum: np.ndarray) -> None:
    r"""Posteriors (n_rows, n_components) of the rows, and :math:`\log \sum_j e^{s_{ij}}`; for the rest see above."""
    ready = theta.shape[1] == blocks.shape[1] + 1 and blocks.shape[2] == WIDTH  # lines are the features
    parts = _in_parts(theta, blocks.shape[1], ready)
    lifted, scores, further = lines(0 if ready else parts.shape[2] - 1), lines(len(theta)), lines(len(theta))
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    for b in range(len(blocks)):
        _score_parts(blocks[b], parts, blocks[b] if ready else lifted, not ready, scores, further)
        _exponentials(scores, top, total, blocks, b)
        start = b * BLOCK
        for i in range(min(BLOCK, len(posterior) - start)):
            log_sum[start + i] = top[i] + math.log(total[i])
            for j in range(len(scores)):
                posterior[start + i, j] = scores[j, i] / total[i]


def in_blocks(X: np.ndarray, origin: np.ndarray | None = None, factor: np.ndarray | None = None) -> np.ndarray:
    """Rows ``(x - origin) * factor`` as :func:`statistics` and :func:`posteriors` take them."""
    d = X.shape[1]
    return laid_out(
        np.ascontiguousarray(X), np.zeros(d) if origin is None else origin, np.ones(d) if factor is None else factor
    )


def _living(coefficients: np.ndarray) -> slice | np.ndarray:
    """Components of positive weight; the others cost nothing and get nothing."""
    alive = coefficients[:, -1] > NEVER
    return slice(None) if alive.all() else np.flatnonzero(alive)


def statistics(
    blocks: np.ndarray, n_rows: int, coefficients: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Size :math:`N_j = \sum_i m_{ij}`, sum :math:`T_j = \sum_i m_{ij} x_i` of each component, and the log-likelihood.

    The log-likelihood lacks the two terms that do not depend on the component:
    :math:`\sum_i (\text{normalizer} - \frac12 x_i^T \Sigma^{-1} x_i)`. No array of the size n × n_components is made.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, n_features, n_lanes)
        From :func:`in_blocks`.
    n_rows : int
    coefficients : ndarray of shape (n_components, n_features + 1)
        Coefficients of the columns, or of these and their squares or products; the sums are then of those as well.
    weight : ndarray of shape (n_rows,), optional
    """
    alive = _living(coefficients)
    living = np.ascontiguousarray(coefficients[alive])
    sums = np.zeros_like(living)
    log_likelihood = add_posterior_sums(blocks, n_rows, living, np.empty(0) if weight is None else weight, sums)
    if len(living) < len(coefficients):
        found = np.zeros_like(coefficients)
        found[alive] = sums
        sums = found
    return sums[:, -1], sums[:, :-1], float(log_likelihood)


def posteriors(X: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior of every row and component, shape (n_samples, n_components), and the linear part of its log density."""
    alive, log_density = _living(coefficients), np.empty(len(X))
    living = np.ascontiguousarray(coefficients[alive])
    masses = np.empty((len(X), len(living)))
    d = X.shape[1]
    share = BLOCK * at_a_time(BLOCK * living.size)
    for rows in row_blocks(len(X), d, 8 * d * max(BLOCK, min(BLOCK_BYTES // (8 * d), share))):  # not a second table
        write_posteriors(in_blocks(X[rows]), living, masses[rows], log_density[rows])
    if len(living) < len(coefficients):
        found = np.zeros((len(X), len(coefficients)))
        found[:, alive] = masses
        masses = found
    return masses, log_density
