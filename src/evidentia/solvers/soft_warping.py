r"""Soft dynamic time warping: all alignments of two series, each the more the cheaper it is.

.. math::
    R_{ij} = \|x_i - y_j\|^2 - \gamma \ln \big( e^{-R_{i-1,j} / \gamma} + e^{-R_{i,j-1} / \gamma}
             + e^{-R_{i-1,j-1} / \gamma} \big), \qquad \mathrm{sdtw}(x, y) = R_{ts}

Of a series with itself it is below zero, so that unlikeness is its divergence: see :func:`divergence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import minimize

from evidentia.solvers.compiling import compiled, parts
from evidentia.solvers.posterior_sums import (
    ANY_ORDER,
    C2,
    C3,
    C4,
    C5,
    C6,
    C7,
    C8,
    C9,
    C10,
    C11,
    LINEAR,
    LOG2_HIGH,
    LOG2_LOW,
    PER_LOG2,
)

STEPS = 10  # of L-BFGS, for given weights
LANES = 16  # series that are compared with another side by side
NOTHING = -1e300  # power of two of a sum over no alignment
LOST = -1000.0  # a term smaller by so many powers of two does not change a sum
NO_WAYS = np.empty((0, 0, 3, LANES))
NO_SUMS = np.full((2, 1, LANES), np.inf)
ONE, FRACTION = np.int64(1023), np.int64(52)  # exponent of 1.0, and how many bits come after an exponent


def warp_sums(x: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """R with a row and a column of infinity before, but zero in the corner, (t + 1, s + 1)."""
    total = np.full((len(x) + 1, len(y) + 1), np.inf)
    total[0, 0] = 0.0
    for part in parts(len(x), _work_of_time(y)):
        _warp_some(x, y, gamma, part.start, part.stop, total)
    return total


def _work_of_time(others: np.ndarray) -> float:
    return float(others.size + 10 * len(others))


@compiled
def _warp_some(x: np.ndarray, y: np.ndarray, gamma: float, first: int, last: int, total: np.ndarray) -> None:
    for i in range(first, last):
        for j in range(len(y)):
            cost = 0.0
            for q in range(x.shape[1]):
                cost += (x[i, q] - y[j, q]) ** 2
            a, b, c = total[i, j + 1], total[i + 1, j], total[i, j]
            least = min(a, b, c)
            shares = np.exp((least - a) / gamma) + np.exp((least - b) / gamma) + np.exp((least - c) / gamma)
            total[i + 1, j + 1] = cost + least - gamma * np.log(shares)


def alignment_shares(x: np.ndarray, y: np.ndarray, total: np.ndarray, gamma: float) -> np.ndarray:
    """How large the share of alignments is that match each two times, (t, s): the slope of sdtw by their cost."""
    t, s = len(x), len(y)
    shares = np.zeros((t, s))
    shares[t - 1, s - 1] = 1.0
    for part in parts(t, _work_of_time(y)):
        _share_some(x, y, total, gamma, t - part.start, t - part.stop, shares)
    return shares


@compiled
def _share_some(
    x: np.ndarray, y: np.ndarray, total: np.ndarray, gamma: float, after: int, first: int, shares: np.ndarray
) -> None:
    """Shares of the times before ``after`` down to ``first``."""
    for i in range(after - 1, first - 1, -1):
        for j in range(len(y) - 1, -1, -1):
            # Hand on to the three places that one can come from, each by its part of the sum over them.
            cost = 0.0
            for q in range(x.shape[1]):
                cost += (x[i, q] - y[j, q]) ** 2
            before = total[i + 1, j + 1] - cost
            for up, left in ((1, 0), (0, 1), (1, 1)):
                if i >= up and j >= left:
                    way = np.exp((before - total[i + 1 - up, j + 1 - left]) / gamma)
                    shares[i - up, j - left] += shares[i, j] * way


def align(x: np.ndarray, y: np.ndarray, gamma: float) -> tuple[float, np.ndarray]:
    """Soft-DTW, and the shares of alignments."""
    total = warp_sums(x, y, float(gamma))
    return float(total[-1, -1]), alignment_shares(x, y, total, float(gamma))


def soft_dtw(x: np.ndarray, y: np.ndarray, gamma: float) -> float:
    """Soft-DTW of series (t, k) and (s, k) [1]_.

    References
    ----------
    .. [1] M. Cuturi, M. Blondel. Soft-DTW: a differentiable loss function for time-series. ICML 2017.

    Examples
    --------
    Two numbers against one have one alignment, and two against two have three, of costs 0, 1 and 1.

    >>> one, two = np.array([[3.0]]), np.array([[0.0], [1.0]])
    >>> soft_dtw(two, one, 0.5), round(soft_dtw(two, two, 0.5), 4), round(-0.5 * float(np.log(1 + 2 * np.exp(-2))), 4)
    (13.0, -0.1198, -0.1198)
    """
    return float(warp_sums(x, y, float(gamma))[-1, -1])


def warp_many(x: np.ndarray, others: np.ndarray, lengths: np.ndarray, gamma: float, ways: np.ndarray) -> np.ndarray:
    r"""Soft-DTW of a series (t, k) with many: others (s, k, LANES), of which each has its own length, at most s.

    The sums over alignments, :math:`e^{-R_{ij} / \gamma}`, are kept as numbers of [1, 2) and powers of two, so that
    none is too small or large, and a place costs one exponential, of its own cost, and no logarithm. What is beyond the
    end of a shorter series changes nothing before it. If ``ways`` is (t, s, 3, LANES), it gets the shares of the three
    places that each place is come to from: the same j, the same i, and neither.
    """
    found, so_far = NO_SUMS[0, 0], NO_SUMS
    for part in parts(len(x), _work_of_time(others)):
        found, so_far = _warp_some_of_many(x, others, lengths, gamma, ways, part.start, part.stop, so_far)
    return found


@compiled(nogil=True, **LINEAR)
def _warp_some_of_many(
    x: np.ndarray,
    others: np.ndarray,
    lengths: np.ndarray,
    gamma: float,
    ways: np.ndarray,
    first: int,
    last: int,
    so_far: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Go on with the times ``first`` to ``last - 1``; ``so_far`` are the sums over alignments at the time before them.

    Gives what is found if these are the last, and the sums. They are worked on in arrays of this function alone: loops
    over arrays that may overlap do not become vector instructions.
    """
    s, k = others.shape[0], others.shape[1]
    number, power = np.zeros((s + 1, LANES)), np.full((s + 1, LANES), NOTHING)
    before, before_power, found, term = np.zeros(LANES), np.zeros(LANES), np.empty(LANES), np.empty((4, LANES))
    number[0], power[0] = 1.0, 0.0
    if first > 0:
        number[:], power[:] = so_far[0], so_far[1]
    for i in range(first, last):
        for lane in range(LANES):
            before[lane], before_power[lane] = number[0, lane], power[0, lane]
        number[0], power[0] = 0.0, NOTHING
        for j in range(s):
            for lane in range(LANES):
                term[3, lane] = 0.0
            for q in range(k):
                for lane in range(LANES):
                    apart = x[i, q] - others[j, q, lane]
                    term[3, lane] += apart * apart
            for lane in range(LANES):
                # Three sums brought to the largest power of two among them.
                above, left, corner = power[j + 1, lane], power[j, lane], before_power[lane]
                largest = max(above, left, corner)
                one, two, three = max(above - largest, LOST), max(left - largest, LOST), max(corner - largest, LOST)
                one = number[j + 1, lane] * np.int64((np.int64(one) + ONE) << FRACTION).view(np.float64)
                two = number[j, lane] * np.int64((np.int64(two) + ONE) << FRACTION).view(np.float64)
                three = before[lane] * np.int64((np.int64(three) + ONE) << FRACTION).view(np.float64)
                before[lane], before_power[lane] = number[j + 1, lane], above
                # Times exp(-cost / gamma), as in solvers.posterior_sums.
                exponent = -term[3, lane] / gamma
                twos = np.floor(exponent * PER_LOG2 + 0.5)
                r = (exponent - twos * LOG2_HIGH) - twos * LOG2_LOW
                r2 = r * r
                r4 = r2 * r2
                low = ((1.0 + r) + (C2 + C3 * r) * r2) + ((C4 + C5 * r) + (C6 + C7 * r) * r2) * r4
                product = (one + two + three) * (low + ((C8 + C9 * r) + (C10 + C11 * r) * r2) * (r4 * r4))
                bits = np.float64(product).view(np.int64)
                more = (bits >> FRACTION) - ONE
                number[j + 1, lane] = np.int64(bits - (more << FRACTION)).view(np.float64)
                power[j + 1, lane] = largest + twos + np.float64(more)
                term[0, lane], term[1, lane], term[2, lane] = one, two, three
            if len(ways):
                for lane in range(LANES):
                    share = 1 / (term[0, lane] + term[1, lane] + term[2, lane])
                    ways[i, j, 0, lane] = term[0, lane] * share
                    ways[i, j, 1, lane] = term[1, lane] * share
                    ways[i, j, 2, lane] = term[2, lane] * share
    for lane in range(LANES):
        at = lengths[lane]
        found[lane] = -gamma * (np.log(number[at, lane]) + power[at, lane] * (LOG2_HIGH + LOG2_LOW))
    if last == len(x):
        return found, so_far
    kept = np.empty((2, s + 1, LANES))
    kept[0], kept[1] = number, power
    return found, kept


def add_matches(
    ways: np.ndarray, others: np.ndarray, lengths: np.ndarray, weight: np.ndarray, mass: np.ndarray, sums: np.ndarray
) -> None:
    """Add what each time of a series is matched with, by weight, to ``mass`` (t,), and times its values to ``sums``.

    The shares of alignments are handed on from the end to the three places that one can come from.
    """
    t, shares = len(ways), NO_SUMS[0]
    for part in parts(t, _work_of_time(others)):
        after, first = t - part.start, t - part.stop
        shares = _add_some_matches(ways, others, lengths, weight, after, first, shares, mass, sums)


@compiled(nogil=True, **ANY_ORDER)
def _add_some_matches(
    ways: np.ndarray,
    others: np.ndarray,
    lengths: np.ndarray,
    weight: np.ndarray,
    after: int,
    first: int,
    shares: np.ndarray,
    mass: np.ndarray,
    sums: np.ndarray,
) -> np.ndarray:
    """Those of the times before ``after`` down to ``first``; gives the shares at the time before, from these there."""
    s, k = others.shape[0], others.shape[1]
    here, above = np.zeros((s + 1, LANES)), np.zeros((s + 1, LANES))  # the first: before the first time, never reached
    if after < len(ways):
        here[:] = shares
    else:
        for lane in range(LANES):
            here[lengths[lane], lane] = weight[lane]
    for i in range(after - 1, first - 1, -1):
        above[:] = 0.0
        for j in range(s, 0, -1):
            matched = 0.0
            for lane in range(LANES):
                share = here[j, lane]
                above[j, lane] += share * ways[i, j - 1, 0, lane]
                above[j - 1, lane] = share * ways[i, j - 1, 2, lane]
                here[j - 1, lane] += share * ways[i, j - 1, 1, lane]
                matched += share
            mass[i] += matched
            for q in range(k):
                pulled = 0.0
                for lane in range(LANES):
                    pulled += here[j, lane] * others[j - 1, q, lane]
                sums[i, q] += pulled
        here, above = above, here
    return here


def batches(series: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Numbers of some series, these side by side (s, k, LANES), and their lengths; those together are about as long."""
    order = np.argsort([len(one) for one in series], kind="stable")
    for start in range(0, len(series), LANES):
        chosen = order[start : start + LANES]
        lengths = np.ones(LANES, dtype=np.int64)
        lengths[: len(chosen)] = [len(series[at]) for at in chosen]
        side_by_side = np.zeros((lengths.max(), series[0].shape[1], LANES))
        for lane, at in enumerate(chosen):
            side_by_side[: lengths[lane], :, lane] = series[at]
        yield chosen, side_by_side, lengths


def warp_all(one: Sequence[np.ndarray], other: Sequence[np.ndarray], gamma: float, below: bool = False) -> np.ndarray:
    """Soft-DTW of all series of two lists, (n, m).

    ``below``: a list with itself, in the order of lengths; what is above the diagonal may be left out.
    """
    found = np.zeros((len(one), len(other)))
    for chosen, side_by_side, lengths in batches(other):
        for i in range(chosen[0] if below else 0, len(one)):
            found[i, chosen] = warp_many(one[i], side_by_side, lengths, float(gamma), NO_WAYS)[: len(chosen)]
    return found


def warp_own(series: Sequence[np.ndarray], gamma: float) -> np.ndarray:
    """Soft-DTW of each series with itself, by the operations of :func:`warp_all`, so that equal ones do not differ."""
    found = np.empty(len(series))
    for chosen, side_by_side, lengths in batches(series):
        for lane, at in enumerate(chosen):
            found[at] = warp_many(series[at], side_by_side, lengths, float(gamma), NO_WAYS)[lane]
    return found


def divergence(one: Sequence[np.ndarray], other: Sequence[np.ndarray] | None, gamma: float) -> np.ndarray:
    r"""Soft-DTW divergences of two lists of series, or of one list, (n, m) [1]_.

    .. math:: D(x, y) = \mathrm{sdtw}(x, y) - \tfrac12 \mathrm{sdtw}(x, x) - \tfrac12 \mathrm{sdtw}(y, y)

    References
    ----------
    .. [1] M. Blondel, A. Mensch, J.-P. Vert. Differentiable divergences between time series. AISTATS 2021.

    Examples
    --------
    >>> series = [np.array([[0.0], [1.0]]), np.array([[3.0]])]
    >>> divergence(series, None, 0.5).round(2)
    array([[ 0.  , 13.06],
           [13.06,  0.  ]])
    """
    if other is None:
        order = np.argsort([len(x) for x in one], kind="stable")
        ordered = [one[at] for at in order]
        lower = np.tril(warp_all(ordered, ordered, gamma, below=True))
        found = np.empty_like(lower)
        found[np.ix_(order, order)] = lower + np.tril(lower, -1).T
        own = np.diagonal(found)
        return np.maximum(found - (own[:, None] + own) / 2, 0)
    first, second = warp_own(one, gamma), warp_own(other, gamma)
    return np.maximum(warp_all(one, other, gamma) - (first[:, None] + second) / 2, 0)


def weighted_divergence(
    center: np.ndarray, series: Sequence[np.ndarray], weight: np.ndarray, gamma: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """The weighted sum of divergences of series from a center (t, k), but for what the center does not change.

    Returns
    -------
    value : float
    gradient : ndarray of shape (t, k)
    mass : ndarray of shape (t,)
        What each time of the center is matched with, by weight.
    """
    value, own = align(center, center, gamma)
    value *= -0.5 * weight.sum()
    gradient = -2 * weight.sum() * (own.sum(axis=0)[:, None] * center - own.T @ center)
    mass, sums = np.zeros(len(center)), np.zeros(center.shape)
    for chosen, side_by_side, lengths in batches(series):
        ways, pull = np.empty((len(center), len(side_by_side), 3, LANES)), np.zeros(LANES)
        pull[: len(chosen)] = weight[chosen]
        value += pull @ warp_many(center, side_by_side, lengths, float(gamma), ways)
        add_matches(ways, side_by_side, lengths, pull, mass, sums)
    return float(value), gradient + 2 * (mass[:, None] * center - sums), mass


def step_down(center: np.ndarray, series: Sequence[np.ndarray], weight: np.ndarray, gamma: float) -> np.ndarray:
    """A center nearer to the series, or the same: some steps of L-BFGS.

    Units are such that a step along the slope would lead to the mean along the present alignments.
    """
    mass = weighted_divergence(center, series, weight, gamma)[2]
    unit = 1 / np.sqrt(2 * mass[:, None])

    def sloped(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = weighted_divergence(flat.reshape(center.shape) * unit, series, weight, gamma)
        return value, (gradient * unit).ravel()

    start = (center / unit).ravel()
    found = minimize(sloped, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return found.x.reshape(center.shape) * unit if found.fun < sloped(start)[0] else center
