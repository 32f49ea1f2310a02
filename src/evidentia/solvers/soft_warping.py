r"""Soft dynamic time warping: all alignments of two series, each the more the cheaper it is.

.. math::
    R_{ij} = \|x_i - y_j\|^2 - \gamma \ln \big( e^{-R_{i-1,j} / \gamma} + e^{-R_{i,j-1} / \gamma}
             + e^{-R_{i-1,j-1} / \gamma} \big), \qquad \mathrm{sdtw}(x, y) = R_{ts}

Of a series with itself it is below zero, so that unlikeness is its divergence: see :func:`divergence`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from evidentia.solvers.compiling import compiled

STEPS = 10  # of L-BFGS, for given weights


@compiled
def warp_sums(x: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    """R with a row and a column of infinity before, but zero in the corner, (t + 1, s + 1)."""
    t, k = x.shape
    s = len(y)
    total = np.full((t + 1, s + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(t):
        for j in range(s):
            cost = 0.0
            for q in range(k):
                cost += (x[i, q] - y[j, q]) ** 2
            a, b, c = total[i, j + 1], total[i + 1, j], total[i, j]
            least = min(a, b, c)
            shares = np.exp((least - a) / gamma) + np.exp((least - b) / gamma) + np.exp((least - c) / gamma)
            total[i + 1, j + 1] = cost + least - gamma * np.log(shares)
    return total


@compiled
def alignment_shares(x: np.ndarray, y: np.ndarray, total: np.ndarray, gamma: float) -> np.ndarray:
    """How large the share of alignments is that match each two times, (t, s): the slope of sdtw by their cost."""
    t, s = len(x), len(y)
    shares = np.zeros((t, s))
    shares[t - 1, s - 1] = 1.0
    for i in range(t - 1, -1, -1):
        for j in range(s - 1, -1, -1):
            # Hand on to the three places that one can come from, each by its part of the sum over them.
            cost = 0.0
            for q in range(x.shape[1]):
                cost += (x[i, q] - y[j, q]) ** 2
            before = total[i + 1, j + 1] - cost
            for up, left in ((1, 0), (0, 1), (1, 1)):
                if i >= up and j >= left:
                    way = np.exp((before - total[i + 1 - up, j + 1 - left]) / gamma)
                    shares[i - up, j - left] += shares[i, j] * way
    return shares


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
    first = np.array([soft_dtw(x, x, gamma) for x in one])
    if other is None:
        found = np.zeros((len(one), len(one)))
        for i, x in enumerate(one):
            for j in range(i):
                found[i, j] = found[j, i] = soft_dtw(x, one[j], gamma) - (first[i] + first[j]) / 2
        return np.maximum(found, 0)
    second = np.array([soft_dtw(y, y, gamma) for y in other])
    found = np.array([[soft_dtw(x, y, gamma) for y in other] for x in one]).reshape(len(one), len(other))
    return np.maximum(found - (first[:, None] + second) / 2, 0)


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
    mass = np.zeros(len(center))
    for one, pull in zip(series, weight):
        apart, shares = align(one, center, gamma)
        value, shares = value + pull * apart, pull * shares
        matched = shares.sum(axis=0)
        gradient += 2 * (matched[:, None] * center - shares.T @ one)
        mass += matched
    return float(value), gradient, mass


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
