r"""The evidence of shapes: two normal clouds or one cloud of any shape tried, for points on a line.

The line is the one that parts two clusters best by their moments. On it, two normal densities are compared by EBIC
with one density of five families: normal, sinh-arcsinh (skewed or heavy-tailed), beta (flat, or with sharp edges),
lognormal, and a flat top with normal tails. All functions take a batch of lines, one in each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, polygamma

CONDENSED = 150  # points of a line after neighbors were averaged
STEPS, TOLERANCE = 200, 1e-4  # of EM, per line
NEWTON_STEPS = 60
MOST_DAMPING = 10.0  # beyond which no Newton step gains
LEAST_SIDE = 3.0  # objects left of a normal density: with fewer EM ends
SKEW_STARTS = (0.0, 0.8, -0.8)
SHAPE_PENALTY = 0.01
MOST_EXPONENT = 400.0  # of the beta density
SHIFTS = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the lognormal density, in ranges of the line
LOG_2PI = float(np.log(2 * np.pi))


class Lines(NamedTuple):
    """Points on lines in units of each line's standard deviation, with the two sides that are to be compared.

    Parameters
    ----------
    points, weights : ndarray of shape (n_lines, n_points)
        In increasing order; the weight of places that are not filled is zero.
    share : ndarray of shape (n_lines,)
        Part of the weight that belongs to the first side.
    centers, spreads : ndarray of shape (n_lines, 2)
        Means and standard deviations of the sides.
    least_spread : ndarray of shape (n_lines,)
        Standard deviation that a normal density may not fall below.
    """

    points: np.ndarray
    weights: np.ndarray
    share: np.ndarray
    centers: np.ndarray
    spreads: np.ndarray
    least_spread: np.ndarray

    @property
    def total(self) -> np.ndarray:
        return self.weights.sum(axis=1)


class Fits(NamedTuple):
    """Log-likelihood of the best density of a family on each line, and its parameters, one row for each line."""

    log_likelihood: np.ndarray
    parameters: np.ndarray


def condense(y: np.ndarray, weights: np.ndarray, limit: int = CONDENSED) -> tuple[np.ndarray, np.ndarray]:
    """Average neighbors of equal total weight, so that at most ``limit`` sorted points are left."""
    if len(y) <= limit:
        return y, weights
    rank = np.cumsum(weights) - 0.5 * weights
    group = np.minimum((rank / weights.sum() * limit).astype(int), limit - 1)
    together = np.bincount(group, weights, limit)
    sums = np.bincount(group, weights * y, limit)
    return sums[together > 0] / together[together > 0], together[together > 0]


def log_normal_density(y: np.ndarray, center: np.ndarray, spread: np.ndarray) -> np.ndarray:
    return -0.5 * np.square((y - center) / spread) - np.log(spread) - 0.5 * LOG_2PI


# -- two clouds --------------------------------------------------------------------------------------------------------


def two_normals_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Log density of a mixture of two normals; ``parameters``: share of the first, means, standard deviations."""
    share, a, b, s, t = np.moveaxis(parameters[..., None], -2, 0)
    first = np.log(share) + log_normal_density(y, a, s)
    return np.logaddexp(first, np.log1p(-share) + log_normal_density(y, b, t))


def fit_two_normals(lines: Lines, *, equal: bool) -> Fits:
    """Fit a mixture of two normals by EM from the moments of the two sides; ``equal``: with one variance for both."""
    y, w, total = lines.points, lines.weights, lines.total
    share, floor = np.clip(lines.share, 0.01, 0.99), lines.least_spread
    spreads = lines.spreads
    if equal:
        pooled = np.sqrt(share * spreads[:, 0] ** 2 + (1 - share) * spreads[:, 1] ** 2)
        spreads = np.stack([pooled, pooled], axis=1)
    now = np.column_stack([share, lines.centers, np.maximum(spreads, floor[:, None])])
    found, best, active = now.copy(), np.full(len(y), -np.inf), np.arange(len(y))
    for _ in range(STEPS):
        yy, ww = y[active], w[active]
        p, a, b, s, t = now.T[:, :, None]
        first = np.log(p) + log_normal_density(yy, a, s)
        both = np.logaddexp(first, np.log1p(-p) + log_normal_density(yy, b, t))
        value = (ww * both).sum(axis=1)
        gained = value - best[active]
        found[active], best[active] = now, np.maximum(value, best[active])
        left = ww * np.exp(first - both)
        right = ww - left
        sums = np.stack([left.sum(axis=1), right.sum(axis=1)], axis=1)
        go_on = (gained >= TOLERANCE) & (sums.min(axis=1) >= LEAST_SIDE)
        if not go_on.any():
            break
        active, yy, left, right, sums = (part[go_on] for part in (active, yy, left, right, sums))
        means = np.stack([(left * yy).sum(axis=1), (right * yy).sum(axis=1)], axis=1) / sums
        squares = np.stack(
            [(left * (yy - means[:, :1]) ** 2).sum(axis=1), (right * (yy - means[:, 1:]) ** 2).sum(axis=1)], axis=1
        )
        if equal:
            variances = np.repeat(squares.sum(axis=1, keepdims=True) / sums.sum(axis=1, keepdims=True), 2, axis=1)
        else:
            variances = squares / sums
        now = np.column_stack(
            [
                np.clip(sums[:, 0] / total[active], 1e-3, 1 - 1e-3),
                means,
                np.maximum(np.sqrt(variances), floor[active, None]),
            ]
        )
    return Fits(best, found)


def distance_of_normals(parameters: np.ndarray) -> np.ndarray:
    """Distance of the means over the root of the mean variance (Ashman's D)."""
    _, a, b, s, t = parameters.T
    return np.abs(a - b) / np.sqrt((s**2 + t**2) / 2)


# -- one cloud ---------------------------------------------------------------------------------------------------------


def normal_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    center, spread = np.moveaxis(parameters[..., None], -2, 0)
    return log_normal_density(y, center, spread)


def fit_normal(lines: Lines) -> Fits:
    center = (lines.weights * lines.points).sum(axis=1) / lines.total
    spread = np.sqrt((lines.weights * (lines.points - center[:, None]) ** 2).sum(axis=1) / lines.total)
    return Fits(-0.5 * lines.total * (LOG_2PI + 2 * np.log(spread) + 1), np.stack([center, spread], axis=1))


def sinh_arcsinh_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    r"""Log density of the sinh-arcsinh family [1]_; ``parameters``: xi, log eta, eps, log delta.

    .. math::
        f(y) = \frac{\delta \cosh(\delta \sinh^{-1} z - \varepsilon)}{\eta \sqrt{1 + z^2}}
        \varphi\!\left(\sinh(\delta \sinh^{-1} z - \varepsilon)\right), \qquad z = \frac{y - \xi}{\eta}

    References
    ----------
    .. [1] M. C. Jones, A. Pewsey. Sinh-arcsinh distributions. Biometrika 96(4):761-780, 2009.
    """
    xi, log_eta, eps, log_delta = np.moveaxis(parameters[..., None], -2, 0)
    z = (y - xi) * np.exp(-log_eta)
    a = np.clip(np.exp(log_delta) * np.arcsinh(z) - eps, -30, 30)
    return log_delta - log_eta + np.log(np.cosh(a)) - 0.5 * np.log1p(z * z) - 0.5 * np.sinh(a) ** 2 - 0.5 * LOG_2PI


def sinh_arcsinh_slopes(y: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient, shape (4, ...), and Hessian, shape (4, 4, ...), of the log density at each point."""
    xi, log_eta, eps, log_delta = np.moveaxis(parameters[..., None], -2, 0)
    eta, delta = np.exp(log_eta), np.exp(log_delta)
    z = (y - xi) / eta
    root, arc = np.sqrt(1 + z * z), np.arcsinh(z)
    a = np.clip(delta * arc - eps, -30, 30)
    sinh, cosh = np.sinh(a), np.cosh(a)
    da, daa = sinh / cosh - sinh * cosh, 1 / cosh**2 - cosh**2 - sinh**2  # of log cosh a - sinh² a / 2
    az, azz = delta / root, -delta * z / root**3
    dz, dzz = da * az - z / root**2, daa * az**2 + da * azz - (1 - z * z) / root**4
    dza, dzd = -daa * az, daa * az * delta * arc + da * az  # of dz by eps, and by log delta
    zx = -1 / eta  # of z by xi; by log eta it is -z
    gradient = np.stack([dz * zx, -dz * z - 1, -da, da * delta * arc + 1])
    h = np.empty((4, 4, *y.shape))
    h[0, 0], h[0, 1], h[1, 1] = dzz * zx**2, -(dzz * z + dz) * zx, dzz * z * z + dz * z
    h[0, 2], h[1, 2], h[2, 2] = dza * zx, -dza * z, daa
    h[0, 3], h[1, 3], h[2, 3] = dzd * zx, -dzd * z, -daa * delta * arc
    h[3, 3] = daa * (delta * arc) ** 2 + da * delta * arc
    for i in range(4):
        for j in range(i):
            h[i, j] = h[j, i]
    return gradient, h


def fit_sinh_arcsinh(lines: Lines) -> Fits:
    """Fit by damped Newton steps from three starts, with a small penalty on eps and log delta."""
    starts = len(SKEW_STARTS)
    y, w = np.repeat(lines.points, starts, axis=0), np.repeat(lines.weights, starts, axis=0)
    normal = fit_normal(lines).parameters
    now = np.zeros((len(y), 4))
    now[:, 0], now[:, 1] = np.repeat(normal[:, 0], starts), np.repeat(np.log(normal[:, 1]), starts)
    now[:, 2] = np.tile(SKEW_STARTS, len(lines.points))

    def value(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
        penalty = SHAPE_PENALTY * (at[:, 2] ** 2 + at[:, 3] ** 2)
        return (w[rows] * sinh_arcsinh_log_density(y[rows], at)).sum(axis=1) - penalty

    active, damping = np.arange(len(y)), np.full(len(y), 1e-2)
    best = value(active, now)
    for _ in range(NEWTON_STEPS):
        gradient, hessian = sinh_arcsinh_slopes(y[active], now[active])
        slope = (gradient * w[active]).sum(axis=-1).T
        bend = -np.moveaxis((hessian * w[active]).sum(axis=-1), -1, 0)
        slope[:, 2:] -= 2 * SHAPE_PENALTY * now[active, 2:]
        bend[:, [2, 3], [2, 3]] += 2 * SHAPE_PENALTY
        # Negative curvature is turned around, and the damping shortens all directions alike.
        size, axes = np.linalg.eigh(bend)
        size = np.abs(size) + (damping[active] * lines.total[active // starts])[:, None]
        step = np.einsum("kij,kj->ki", axes, np.einsum("kij,ki->kj", axes, slope) / size)
        tried = now[active] + np.clip(step, -1, 1)
        tried[:, [1, 3]] = np.clip(tried[:, [1, 3]], [-5, -2.5], [5, 2.5])
        reached = value(active, tried)
        better = reached > best[active]
        gained = np.where(better, reached - best[active], np.inf)
        now[active[better]], best[active[better]] = tried[better], reached[better]
        damping[active] *= np.where(better, 0.1, 10.0)
        active = active[(gained > TOLERANCE) & (damping[active] < MOST_DAMPING)]
        if not len(active):
            break
    chosen = best.reshape(-1, starts).argmax(axis=1) + starts * np.arange(len(lines.points))
    return Fits(best[chosen], now[chosen])


def beta_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Log density of the beta family over a range; ``parameters``: low end, high end, two exponents of at least 1."""
    low, high, a, b = np.moveaxis(parameters[..., None], -2, 0)
    u = (y - low) / (high - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = (a - 1) * np.log(u) + (b - 1) * np.log1p(-u) - betaln(a, b) - np.log(high - low)
    return np.where((u > 0) & (u < 1), inside, -np.inf)


def beta_exponents(log_u: np.ndarray, log_v: np.ndarray) -> np.ndarray:
    """Maximum likelihood exponents, at least 1, by the means of log u and log(1 - u): a concave problem.

    Exponents of at least 1 never make two peaks.

    Examples
    --------
    >>> beta_exponents(np.array([digamma(3.0) - digamma(8.0)]), np.array([digamma(5.0) - digamma(8.0)])).round(6)
    array([[3., 5.]])
    """
    found = np.ones((len(log_u), 2))
    mean = np.stack([log_u, log_v], axis=1)
    best = _beta_value(found, mean)
    for _ in range(NEWTON_STEPS):
        slope = mean - digamma(found) + digamma(found.sum(axis=1, keepdims=True))
        a, b, both = polygamma(1, found[:, 0]), polygamma(1, found[:, 1]), polygamma(1, found.sum(axis=1))
        fixed = (found <= 1) & (slope <= 0)  # at its bound, and held there
        det = (a - both) * (b - both) - both**2
        step = np.stack(
            [
                ((b - both) * slope[:, 0] + both * slope[:, 1]) / det,
                (both * slope[:, 0] + (a - both) * slope[:, 1]) / det,
            ],
            axis=1,
        )
        alone = slope / (np.stack([a, b], axis=1) - both[:, None])
        step = np.where(fixed.any(axis=1, keepdims=True), np.where(fixed, 0.0, alone), step)
        length, moved = np.ones((len(found), 1)), np.zeros(len(found), dtype=bool)
        tried, reached = found, best
        for _ in range(12):  # halved until the likelihood rises
            trial = np.clip(found + length * step, np.maximum(1.0, found / 4), np.minimum(MOST_EXPONENT, 4 * found))
            value = _beta_value(trial, mean)
            up = ~moved & (value > best)
            tried, reached = np.where(up[:, None], trial, tried), np.where(up, value, reached)
            moved |= up
            length = np.where(moved[:, None], length, length / 2)
            if moved.all():
                break
        done = reached - best < 1e-10
        found, best = tried, reached
        if done.all():
            break
    return found


def _beta_value(exponents: np.ndarray, mean_logs: np.ndarray) -> np.ndarray:
    return ((exponents - 1) * mean_logs).sum(axis=1) - betaln(exponents[:, 0], exponents[:, 1])


def fit_beta(lines: Lines) -> Fits:
    """Fit over six ranges, from a little wider than what was seen to four times as wide."""
    y, w, n = lines.points, lines.weights, lines.total
    low, high = _ends(lines)
    margin = (high - low) / n
    best = np.full(len(y), -np.inf)
    parameters = np.zeros((len(y), 4))
    for below, above in ((1, 1), (0.3 * n, 1), (1, 0.3 * n), (0.2 * n, 0.2 * n), (3 * n, 1), (1, 3 * n)):
        bottom, top = low - below * margin, high + above * margin
        u = np.where(w > 0, (y - bottom[:, None]) / (top - bottom)[:, None], 0.5)
        mean = np.stack([(w * np.log(u)).sum(axis=1) / n, (w * np.log1p(-u)).sum(axis=1) / n], axis=1)
        exponents = beta_exponents(*mean.T)
        value = n * (_beta_value(exponents, mean) - np.log(top - bottom))
        up = value > best
        best = np.where(up, value, best)
        parameters[up] = np.column_stack([bottom, top, exponents])[up]
    return Fits(best, parameters)


def _ends(lines: Lines) -> tuple[np.ndarray, np.ndarray]:
    there = lines.weights > 0
    low = np.where(there, lines.points, np.inf).min(axis=1)
    return low, np.where(there, lines.points, -np.inf).max(axis=1)


def lognormal_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Log density of a shifted lognormal; ``parameters``: side (1 or -1), origin, mean and deviation of logarithms."""
    side, origin, center, spread = np.moveaxis(parameters[..., None], -2, 0)
    x = side * (y - origin)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.log(x)
        return np.where(x > 0, log_normal_density(t, center, spread) - t, -np.inf)


def fit_lognormal(lines: Lines) -> Fits:
    """Fit with six origins on either side of the points."""
    y, w, n = lines.points, lines.weights, lines.total
    low, high = _ends(lines)
    best, parameters = np.full(len(y), -np.inf), np.zeros((len(y), 4))
    for shift in (0.5 / n, *SHIFTS):
        for side, end in ((1, low), (-1, high)):
            origin = end - side * shift * (high - low)
            t = np.log(np.where(w > 0, side * (y - origin[:, None]), 1.0))
            center = (w * t).sum(axis=1) / n
            spread = np.sqrt((w * (t - center[:, None]) ** 2).sum(axis=1) / n)
            value = -n * (0.5 * LOG_2PI + np.log(spread) + 0.5 + center)
            up = value > best
            best = np.where(up, value, best)
            parameters[up] = np.column_stack([np.full(len(y), side), origin, center, spread])[up]
    return Fits(best, parameters)


def flat_top_log_density(y: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Log density that is flat between two places and falls like a normal one outside; the tails have one deviation."""
    left, right, spread = np.moveaxis(parameters[..., None], -2, 0)
    outside = np.maximum(np.maximum(left - y, y - right), 0)
    return -0.5 * (outside / spread) ** 2 - np.log(right - left + spread * np.sqrt(2 * np.pi))


def fit_flat_top(lines: Lines) -> Fits:
    r"""Fit by the best of all pairs of ends on a grid of quantiles, each with its best deviation.

    With :math:`S` the sum of squares outside and W the width of the top, the deviation solves
    :math:`n \sqrt{2\pi}\, s^3 = S\, (W + s \sqrt{2\pi})`.
    """
    y, w, n = lines.points, lines.weights, lines.total
    rank = (np.cumsum(w, axis=1) - 0.5 * w) / n[:, None]
    levels = np.linspace(0.02, 0.98, 33)
    best, parameters = np.full(len(y), -np.inf), np.zeros((len(y), 3))
    for i in range(len(y)):
        there = w[i] > 0
        ends = np.interp(levels, rank[i, there], y[i, there])
        beyond = ends[:, None] - y[i, there]
        left = (w[i, there] * np.maximum(beyond, 0) ** 2).sum(axis=1)
        right = (w[i, there] * np.maximum(-beyond, 0) ** 2).sum(axis=1)
        a, b = np.triu_indices(len(ends), 1)
        width, squares = ends[b] - ends[a], left[a] + right[b]
        spread = _tail_deviation(width, squares, n[i], lines.least_spread[i])
        value = -n[i] * np.log(width + spread * np.sqrt(2 * np.pi)) - 0.5 * squares / spread**2
        at = value.argmax()
        best[i], parameters[i] = value[at], (ends[a[at]], ends[b[at]], spread[at])
    return Fits(best, parameters)


def _tail_deviation(width: np.ndarray, squares: np.ndarray, n: float, floor: float) -> np.ndarray:
    """Positive root of n √(2π) s³ = S (W + s √(2π)), by Newton steps from above, where the cubic is convex."""
    root = np.sqrt(2 * np.pi)
    s = np.sqrt(squares / n) + np.cbrt(squares * width / (n * root)) + floor
    for _ in range(30):
        s = s - (n * root * s**3 - squares * (width + root * s)) / np.maximum(
            3 * n * root * s**2 - squares * root, 1e-300
        )
    return np.maximum(s, floor)


# -- the comparison ----------------------------------------------------------------------------------------------------

ONE: tuple[tuple[str, Callable[[Lines], Fits], Callable[[np.ndarray, np.ndarray], np.ndarray], float], ...] = (
    ("normal", fit_normal, normal_log_density, 1.0),
    ("skewed or heavy-tailed", fit_sinh_arcsinh, sinh_arcsinh_log_density, 2.0),
    ("flat or sharp-edged", fit_beta, beta_log_density, 2.0),
    ("lognormal", fit_lognormal, lognormal_log_density, 1.5),
    ("flat-topped", fit_flat_top, flat_top_log_density, 2.0),
)
"""Name of a shape, its fit, its log density, and half its number of parameters.

A flat top is the density with one peak that is nearest to two equal normals. Neither is the simpler one, so it counts
as many parameters as these, and ``FLAT_HANDICAP`` was chosen between them: on tables of 300 to 3,000 such flat tops the
answer is then "groups" in 4 % (12 % without this shape), and for two normals 3 apart in 68 % for n = 300 (71 %).
"""
FLAT_HANDICAP = 1.0


class Comparison(NamedTuple):
    """Of each line: EBIC of two normals less that of the best single shape, and what was compared."""

    gain: np.ndarray
    distance: np.ndarray  # of the two normals
    shape: list[str]
    two: np.ndarray  # parameters, (n_lines, 5)
    one: list[np.ndarray]  # parameters of the best single shape
    two_score: np.ndarray
    one_score: np.ndarray


def compare(lines: Lines) -> Comparison:
    """Compare two normal clouds with one cloud of the best shape, on each line."""
    log_n = np.log(np.maximum(lines.total, 2))
    own, equal = fit_two_normals(lines, equal=False), fit_two_normals(lines, equal=True)
    scores = np.stack([own.log_likelihood - 2.5 * log_n, equal.log_likelihood - 2 * log_n])
    use_own = scores[0] >= scores[1]
    two = np.where(use_own[:, None], own.parameters, equal.parameters)
    fits = [fit(lines) for _, fit, _, _ in ONE]
    single = np.stack([found.log_likelihood - half * log_n for found, (_, _, _, half) in zip(fits, ONE)])
    single[-1] -= FLAT_HANDICAP
    at = single.argmax(axis=0)
    one = [fits[k].parameters[i] for i, k in enumerate(at)]
    two_score, one_score = scores.max(axis=0), single.max(axis=0)
    names = [ONE[k][0] for k in at]
    return Comparison(two_score - one_score, distance_of_normals(two), names, two, one, two_score, one_score)
