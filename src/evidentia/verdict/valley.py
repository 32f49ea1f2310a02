r"""The evidence of a valley: how much better two peaks describe points on a line than one.

A histogram is compared with the best density that has one peak. Both are found by pooling adjacent violators. The
log-likelihood that a second peak adds is the *hump*. Of all densities with one peak the uniform has the largest humps,
so quantiles of the hump for uniform samples give a limit and a p-value for any density with one peak.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled

__all__ = ["LEVELS", "SIZES", "hump", "hump_limit", "p_value"]

FEWEST_BINS, MOST_BINS = 10, 50
OUTER = 0.005  # share of the points on either side that lie in the tails of the end bins
LEVELS = (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)

# Quantiles of the hump of uniform samples, a row for each size and a column for each level. They are printed by
# ``python -m reproduction.truth.uniform`` (20,000 samples of each size, with the valley in the middle half).
SIZES = (50, 100, 200, 300, 500, 1000, 2000, 4000, 10000)
QUANTILES = np.array([
    [1.63, 2.57, 3.74, 4.86, 5.64, 6.19, 6.80, 8.00],  # 50
    [2.00, 2.93, 4.05, 4.88, 5.87, 6.79, 7.75, 9.21],  # 100
    [2.39, 3.38, 4.53, 5.30, 6.28, 6.97, 7.75, 9.69],  # 200
    [2.65, 3.67, 4.85, 5.65, 6.68, 7.40, 8.11, 9.99],  # 300
    [3.03, 4.09, 5.26, 6.09, 7.11, 7.88, 8.59, 10.37],  # 500
    [3.47, 4.58, 5.79, 6.66, 7.74, 8.44, 9.39, 11.40],  # 1000
    [4.10, 5.26, 6.54, 7.43, 8.50, 9.27, 10.01, 11.77],  # 2000
    [4.74, 5.92, 7.26, 8.16, 9.24, 10.05, 10.77, 12.50],  # 4000
    [4.79, 6.01, 7.30, 8.20, 9.41, 10.26, 11.01, 12.53],  # 10000
])  # fmt: skip


@compiled
def increasing_fits(counts, widths):  # type: ignore[no-untyped-def]
    """Log-likelihood of the best increasing density on the first m bins, for every m from 0 on."""
    n = len(counts)
    fits = np.zeros(n + 1)
    mass, width, term = np.zeros(n), np.zeros(n), np.zeros(n)
    top, total = -1, 0.0
    for m in range(n):
        top += 1
        mass[top], width[top] = counts[m], widths[m]
        term[top] = mass[top] * np.log(mass[top] / width[top]) if mass[top] > 0 else 0.0
        total += term[top]
        while top > 0 and mass[top - 1] * width[top] >= mass[top] * width[top - 1]:
            total -= term[top] + term[top - 1]
            top -= 1
            mass[top] += mass[top + 1]
            width[top] += width[top + 1]
            term[top] = mass[top] * np.log(mass[top] / width[top]) if mass[top] > 0 else 0.0
            total += term[top]
        fits[m + 1] = total
    return fits


@compiled
def one_peak_fit(counts, widths):  # type: ignore[no-untyped-def]
    """Log-likelihood of the best density with one peak on all bins, up to a constant."""
    return (increasing_fits(counts, widths) + increasing_fits(counts[::-1], widths[::-1])[::-1]).max()


@compiled
def hump_of_bins(counts, widths, allowed):  # type: ignore[no-untyped-def]
    """Gain of log-likelihood by two peaks with a valley at an inner edge that is allowed; zero if none gains."""
    one, best = one_peak_fit(counts, widths), 0.0
    for edge in range(1, len(counts)):
        if allowed[edge]:
            two = one_peak_fit(counts[:edge], widths[:edge]) + one_peak_fit(counts[edge:], widths[edge:])
            best = max(best, two - one)
    return best


def bin_line(y: np.ndarray, weights: np.ndarray, blur: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return counts, widths and edges of bins of equal width over sorted points.

    The end bins reach to the extremes with their true width: counts clipped into narrow end bins would make a peak.

    Parameters
    ----------
    y : ndarray of shape (n,)
        In increasing order.
    weights : ndarray of shape (n,)
    blur : float
        Width over which each point is spread evenly, for points that are known up to rounding.
    """
    total = weights.sum()
    n_bins = int(np.clip(round(3 * total ** (1 / 3)), FEWEST_BINS, MOST_BINS))
    below = np.cumsum(weights)
    low, high = np.interp([OUTER, 1 - OUTER], (below - 0.5 * weights) / total, y)
    if not high > low:
        low, high = y[0], y[-1]
    inner = np.linspace(low, high, n_bins + 1)
    edges = inner.copy()
    edges[0], edges[-1] = min(low, y[0] - blur / 2), max(high, y[-1] + blur / 2)
    before = _weight_below(y, below, weights, inner[1:-1], blur)
    counts = np.diff(np.concatenate([[0.0], before, [total]]))
    return np.maximum(counts, 0.0), np.diff(edges), edges


def _weight_below(y: np.ndarray, below: np.ndarray, weights: np.ndarray, edges: np.ndarray, blur: float) -> np.ndarray:
    """Weight of the points left of each edge, a blurred point with its part that lies there."""
    whole = np.concatenate([[0.0], below])
    if blur <= 0:
        return whole[np.searchsorted(y, edges, side="left")]
    first, last = np.searchsorted(y, edges - blur / 2), np.searchsorted(y, edges + blur / 2)
    moments = np.concatenate([[0.0], np.cumsum(weights * y)])
    parts = (edges / blur + 0.5) * (whole[last] - whole[first]) - (moments[last] - moments[first]) / blur
    return whole[first] + parts


def hump(y: np.ndarray, weights: np.ndarray, between: tuple[float, float], blur: float = 0.0) -> float:
    r"""Log-likelihood gained by a second peak, with the valley between two places.

    .. math::
        \max_v\; \left[\ell_1(\text{bins left of } v) + \ell_1(\text{bins right of } v)\right] - \ell_1(\text{all bins})

    where :math:`\ell_1` is the log-likelihood of the best density with one peak.

    Parameters
    ----------
    y : ndarray of shape (n,)
        In increasing order.
    weights : ndarray of shape (n,)
    between : (float, float)
        The valley lies at an edge of a bin between these places.
    blur : float
        See :func:`bin_line`.
    """
    counts, widths, edges = bin_line(y, weights, blur)
    keep = widths > 0
    counts, widths = counts[keep], widths[keep]
    allowed = (edges >= min(between)) & (edges <= max(between))
    return float(hump_of_bins(counts, widths, allowed[: len(counts)])) if len(counts) > 1 else 0.0


def hump_limit(n: float) -> float:
    """Hump from which on a valley counts as shown: the 98 % quantile of uniform samples of that size.

    Two units more, which the answer "groups" asks for, are beyond the 99.5 % quantile.
    """
    return float(np.interp(np.log(n), np.log(SIZES), QUANTILES[:, LEVELS.index(0.98)]))


def p_value(value: float, n: float) -> float:
    """Probability of a hump as large as this or larger in a uniform sample of size n, no less than 0.001.

    Between sizes and levels it is interpolated, and below the median 1 stands for "nothing speaks for a valley".
    """
    quantiles = np.array([np.interp(np.log(n), np.log(SIZES), column) for column in QUANTILES.T])
    if value <= 0:
        return 1.0
    return float(np.exp(np.interp(value, [0.0, *quantiles], np.log([1.0, *(1 - np.array(LEVELS))]))))
