"""Which clusters are groups: pairs of clusters, then unions of them, by the evidence on the line that parts them best.

The rule takes means, covariances and shares of clusters, and rows with posterior probabilities. It is described in the
guide, *Are there groups?*. All evidence is in natural logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evidentia.verdict.line import (
    CONDENSED,
    ONE,
    Comparison,
    Lines,
    compare,
    condense,
    log_normal_density,
    two_normals_log_density,
)
from evidentia.verdict.result import FAR, DrawnLine, Split, Verdict
from evidentia.verdict.valley import hump, hump_limit, p_value

FEWEST_OBJECTS = 50  # with fewer no rule can tell
FAR_APART = 8.0  # distance of means, in deviations within, from which on two sides need no test
LEAST_DISTANCE = 2.0  # of two normals: nearer ones have one peak, and are no evidence by shape
TINY, TINY_SHARE = 20, 0.05  # a smaller side is a group by its valley alone: outliers look like a normal of their own
FEWEST_MEMBERS = 5  # weight of a side below which it is no group, as in the search of EGMM
NOTHING = -99.0  # evidence of a side that has none
VETO = 0.25  # two clusters whose path falls below this are not bridged by a third
# Evidence of "groups". On development tables 1.5 and 2 give 0 of 145 tables with one group; two normals 3 apart with
# n = 300 are "groups" in 73 % and 66 %, flat tops made to look like them in 20 % and 15 %.
SURE = 1.5
CLEAR = -1.0  # evidence of "no evidence of groups"
LEAST_POSTERIOR = 0.02  # of both sides together, for an object to lie on their line
MISSING_LIMIT, UNDECIDED = 0.1, 1.0  # share of missing entries beyond which the evidence of a pair is set to this
WEIGHT_STEPS = 60  # of EM over mixing probabilities
EQUAL = 1e-12  # of the length of a line: nearer points are one
RIDGE = 1e-9  # of the mean variance, added to covariances
RIDGELINE_POINTS = 41


class Clusters(NamedTuple):
    """Clusters by their moments, and the rows with their posterior probabilities, in standardized columns.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weights : ndarray of shape (n,)
    means, covariances, proportions : ndarray of shape (c, d), (c, d, d) and (c,)
    posteriors : ndarray of shape (n, c)
    steps : ndarray of shape (d,)
        Step to which the values of each column were rounded; zero for none.
    missing : ndarray of shape (n,) or None
        Share of the entries of each row that are missing.
    """

    rows: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    proportions: np.ndarray
    posteriors: np.ndarray
    steps: np.ndarray
    missing: np.ndarray | None


Group = tuple[int, ...]


class PairLine(NamedTuple):
    """All points on the line of two clusters, sorted, and the moments of both sides there."""

    points: np.ndarray
    weights: np.ndarray
    share: float
    centers: tuple[float, float]
    spreads: tuple[float, float]
    gap: float
    blur: float
    direction: np.ndarray
    missing: float

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def is_tiny(self) -> bool:
        smaller = min(self.share, 1 - self.share)
        return smaller < TINY_SHARE or smaller * self.total < TINY


# -- densities ---------------------------------------------------------------------------------------------------------


def log_densities(points: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Log density of each normal component at each point, shape (n, c)."""
    found = np.empty((len(points), len(means)))
    for k, (mean, covariance) in enumerate(zip(means, covariances)):
        root = np.linalg.cholesky(covariance)
        z = np.linalg.solve(root, (points - mean).T)
        found[:, k] = -0.5 * np.square(z).sum(axis=0) - np.log(np.diag(root)).sum()
    return found - 0.5 * points.shape[1] * np.log(2 * np.pi)


def mixing_proportions(log_density: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mixing probabilities of fixed components by EM, and the posterior probabilities."""
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    proportions = np.full(density.shape[1], 1 / density.shape[1])
    for _ in range(WEIGHT_STEPS):
        posteriors = density * proportions
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        proportions = weights @ posteriors / weights.sum()
    return proportions, posteriors


def path_densities(clusters: Clusters, near: np.ndarray) -> np.ndarray:
    """Path between every two clusters: lowest density on the best way over the lower of the two ends, (c, c).

    A way goes along ridgelines [1]_ between clusters that are near, and may pass through others.

    References
    ----------
    .. [1] S. Ray, B. G. Lindsay. The topography of multivariate normal mixtures. Annals of Statistics 33(5):2042-2065,
       2005.
    """
    means, log_shares = clusters.means, np.log(np.maximum(clusters.proportions, 1e-300))
    count = len(means)

    def log_density(points: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(log_densities(points, means, clusters.covariances) + log_shares, axis=1)

    peaks = log_density(means)
    pairs = [(i, j) for i in range(count) for j in range(i) if near[i, j]]
    lowest = np.full((count, count), -np.inf)
    np.fill_diagonal(lowest, peaks)
    precisions = np.linalg.inv(clusters.covariances)
    t = np.linspace(0, 1, RIDGELINE_POINTS)[:, None]
    for i, j in pairs:
        both = (1 - t[:, :, None]) * precisions[i] + t[:, :, None] * precisions[j]
        pull = (1 - t) * (precisions[i] @ means[i]) + t * (precisions[j] @ means[j])
        lowest[i, j] = lowest[j, i] = log_density(np.linalg.solve(both, pull[:, :, None])[:, :, 0]).min()
    for k in range(count):  # widest ways, by way of k
        lowest = np.maximum(lowest, np.minimum(lowest[:, k, None], lowest[None, k, :]))
    return np.minimum(np.exp(lowest - np.minimum(peaks[:, None], peaks)), 1.0)


# -- lines -------------------------------------------------------------------------------------------------------------


def moments_of(group: Group, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the mixture of some clusters."""
    at = list(group)
    share = clusters.proportions[at] / clusters.proportions[at].sum()
    mean = share @ clusters.means[at]
    away = clusters.means[at] - mean
    return mean, np.tensordot(share, clusters.covariances[at], axes=1) + (share[:, None] * away).T @ away


def best_direction(a: Group, b: Group, clusters: Clusters) -> tuple[np.ndarray, float]:
    """Direction that parts two clusters best, with a mean variance within of 1, and the distance of the means on it."""
    (mean_a, spread_a), (mean_b, spread_b) = moments_of(a, clusters), moments_of(b, clusters)
    within = (spread_a + spread_b) / 2
    within = within + RIDGE * np.trace(within) / len(within) * np.eye(len(within))
    direction = np.linalg.solve(within, mean_b - mean_a)
    length = float(np.sqrt(max(direction @ within @ direction, 0.0)))
    return direction / max(length, 1e-150), length


def line_of(a: Group, b: Group, clusters: Clusters) -> PairLine:
    """The points on the line of two clusters, by their posterior probabilities."""
    direction, gap = best_direction(a, b, clusters)
    on_a = clusters.posteriors[:, list(a)].sum(axis=1)
    both = on_a + clusters.posteriors[:, list(b)].sum(axis=1)
    kept = np.flatnonzero(both > LEAST_POSTERIOR)
    y, weights = clusters.rows[kept] @ direction, clusters.weights[kept] * both[kept]
    first = clusters.weights[kept] * on_a[kept]
    second = weights - first
    total = float(weights.sum())
    centers, spreads = [], []
    for side in (first, second):
        size = max(float(side.sum()), 1e-300)
        center = float((side * y).sum() / size)
        centers.append(center)
        spreads.append(float(np.sqrt(max((side * (y - center) ** 2).sum() / size, 0.0))))
    missing = 0.0 if clusters.missing is None else float((weights * clusters.missing[kept]).sum() / max(total, 1e-300))
    points, weights = merge_equal(y, weights)
    return PairLine(
        points,
        weights,
        float(first.sum()) / max(total, 1e-300),
        (centers[0], centers[1]),
        (spreads[0], spreads[1]),
        gap,
        float(np.sqrt(np.sum((direction * clusters.steps) ** 2))),
        direction,
        missing,
    )


def merge_equal(y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort points and add up the weights of equal ones, so that a weight of two is two rows."""
    order = np.argsort(y, kind="stable")
    y, weights = y[order], weights[order]
    if not len(y):
        return y, weights
    first = np.flatnonzero(np.r_[True, np.diff(y) > EQUAL * (y[-1] - y[0])])
    return y[first], np.add.reduceat(weights, first)


def standardized(lines: Sequence[PairLine]) -> tuple[Lines, np.ndarray, np.ndarray]:
    """Condensed points of many lines in units of each line's deviation; origins and units."""
    points, weights = np.zeros((len(lines), CONDENSED)), np.zeros((len(lines), CONDENSED))
    origins, units = np.zeros(len(lines)), np.ones(len(lines))
    for i, line in enumerate(lines):
        y, w = condense(line.points, line.weights)
        origins[i] = (w * y).sum() / w.sum()
        units[i] = np.sqrt((w * (y - origins[i]) ** 2).sum() / w.sum())
        points[i, : len(y)], weights[i, : len(y)] = (y - origins[i]) / units[i], w
    centers = (np.array([line.centers for line in lines]) - origins[:, None]) / units[:, None]
    spreads = np.array([line.spreads for line in lines]) / units[:, None]
    floor = np.maximum(1e-3, np.array([line.blur for line in lines]) / np.sqrt(12) / units)
    return Lines(points, weights, np.array([line.share for line in lines]), centers, spreads, floor), origins, units


def is_degenerate(line: PairLine) -> bool:
    """Whether a line has no two places that could be compared."""
    return len(line.points) < 3 or not line.points[-1] - line.points[0] > 1e-9


# -- evidence ----------------------------------------------------------------------------------------------------------


def splits_between(pairs: Sequence[tuple[Group, Group]], clusters: Clusters) -> list[Split]:
    """The evidence that the clusters of each pair are two groups and not one."""
    found: list[Split | None] = [None] * len(pairs)
    lines: dict[int, PairLine] = {}
    for at, (a, b) in enumerate(pairs):
        line = line_of(a, b, clusters)
        if line.missing > MISSING_LIMIT:
            found[at] = Split(a, b, UNDECIDED, gap=line.gap)
        elif line.gap > FAR_APART and not line.is_tiny:
            found[at] = Split(a, b, FAR, basis="valley", gap=line.gap, p=0.001)
        elif is_degenerate(line) or min(line.share, 1 - line.share) * line.total < FEWEST_MEMBERS:
            found[at] = Split(a, b, NOTHING, gap=line.gap)
        else:
            lines[at] = line
    if lines:
        scaled, origins, units = standardized(list(lines.values()))
        comparison = compare(scaled)
        for i, (at, line) in enumerate(lines.items()):
            found[at] = _split(*pairs[at], line, clusters, comparison, i, origins[i], units[i], scaled)
    return [split for split in found if split is not None]


def _split(
    a: Group, b: Group, line: PairLine, clusters: Clusters, comparison: Comparison, i: int, origin: float,
    unit: float, lines: Lines,
) -> Split:  # fmt: skip
    gain, distance = float(comparison.gain[i]), float(comparison.distance[i])
    if len(a) + len(b) > 2:  # the components themselves may describe the line better than two normals
        components = _components_score(a + b, line, clusters, origin, unit, lines, i)
        gain = max(gain, components - float(comparison.one_score[i]))
        distance = max(distance, line.gap)
    n = line.total
    peaks = hump(line.points, line.weights, line.centers, line.blur)
    by_shape = gain if distance >= LEAST_DISTANCE and not line.is_tiny else NOTHING
    by_valley = peaks - hump_limit(n)
    evidence = max(by_shape, by_valley)
    return Split(
        a,
        b,
        float(evidence),
        basis="valley" if by_valley >= min(by_shape, SURE) else "shape",  # a valley says more, if it says enough
        gap=line.gap,
        gain=gain,
        shape=comparison.shape[i],
        hump=peaks,
        p=p_value(peaks, n),
        n=n,
    )


def _components_score(
    group: Group, line: PairLine, clusters: Clusters, origin: float, unit: float, lines: Lines, i: int
) -> float:
    """EBIC, up to what all scores of a line share, of the mixture of the clusters themselves on the line."""
    at = list(group)
    shares = clusters.proportions[at] / clusters.proportions[at].sum()
    centers = (clusters.means[at] @ line.direction - origin) / unit
    variances = np.einsum("i,kij,j->k", line.direction, clusters.covariances[at], line.direction)
    spreads = np.maximum(np.sqrt(np.maximum(variances, 0)) / unit, lines.least_spread[i])
    parts = np.log(np.maximum(shares, 1e-300))[:, None] + log_normal_density(
        lines.points[i], centers[:, None], spreads[:, None]
    )
    value = float((lines.weights[i] * np.logaddexp.reduce(parts, axis=0)).sum())
    return value - 0.5 * (3 * len(at) - 1) * float(np.log(max(line.total, 2)))


# -- from pairs to groups ----------------------------------------------------------------------------------------------


class Merging(NamedTuple):
    """Clusters that are left, the splits that were not supported, and the splits between what is left."""

    groups: list[Group]
    joined: list[Split]
    left: list[Split]
    paths: np.ndarray


def merge_clusters(clusters: Clusters) -> Merging:
    """Join clusters that one cloud describes as well: first pairs, then unions of clusters."""
    count = len(clusters.means)
    pairs = [((i,), (j,)) for i in range(count) for j in range(i + 1, count)]
    splits = splits_between(pairs, clusters)
    evidence, near = np.zeros((count, count)), np.zeros((count, count), dtype=bool)
    for split in splits:
        i, j = split.a[0], split.b[0]
        evidence[i, j] = evidence[j, i] = split.evidence
        near[i, j] = near[j, i] = split.evidence < FAR
    paths = path_densities(clusters, near)
    veto = (evidence > 0) & (paths < VETO)
    size = clusters.proportions * clusters.weights.sum()
    small = size < max(TINY, TINY_SHARE * clusters.weights.sum())
    of = np.arange(count)
    joined = []
    for split in sorted((one for one in splits if one.evidence <= 0), key=lambda one: one.evidence):
        i, j = split.a[0], split.b[0]
        if of[i] == of[j]:
            continue
        one, other = np.flatnonzero(of == of[i]), np.flatnonzero(of == of[j])
        if veto[np.ix_(one, other)].any():
            continue
        large = evidence[np.ix_(one[~small[one]], other[~small[other]])]
        if (small[i] or small[j]) and (large > 0).any():
            continue
        of[other] = of[i]
        joined.append(split)
    groups: list[Group] = [tuple(np.flatnonzero(of == k).tolist()) for k in dict.fromkeys(of.tolist())]
    known = {(split.a, split.b): split for split in splits}
    while len(groups) > 1:
        unions = [(a, b) for at, a in enumerate(groups) for b in groups[at + 1 :]]
        new = [pair for pair in unions if pair not in known]
        known |= dict(zip(new, splits_between(new, clusters)))
        left = [known[pair] for pair in unions]
        worst = min(left, key=lambda one: one.evidence)
        if worst.evidence > 0:
            return Merging(groups, joined, left, paths)
        joined.append(worst)
        groups = [group for group in groups if group not in (worst.a, worst.b)]
        groups = sorted([*groups, tuple(sorted(worst.a + worst.b))])
    return Merging(groups, joined, [], paths)


# -- the verdict -------------------------------------------------------------------------------------------------------


def judge(
    rows: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    steps: np.ndarray | None = None,
    missing: np.ndarray | None = None,
) -> Verdict:
    """Judge whether the clusters of a table are groups.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Finite numbers; where entries are missing, what is expected of them given the others.
    means : ndarray of shape (c, d)
    covariances : ndarray of shape (c, d, d)
        Of each cluster, as a normal cloud. Their shares are found by EM.
    weights : ndarray of shape (n,), optional
        A row of weight two counts as two rows.
    steps : ndarray of shape (d,), optional
        Step to which the values of each column were rounded; zero for none.
    missing : ndarray of shape (n,), optional
        Share of the entries of each row that are missing.
    """
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    n_objects, count = float(weights.sum()), len(means)
    few = n_objects < FEWEST_OBJECTS
    reason = f"a table of {n_objects:g} objects is too small" if few else ""
    if count < 2:
        answer = "cannot tell" if few else "no evidence"
        groups = tuple((k,) for k in range(count))
        return Verdict(answer, None, groups=groups, n_objects=n_objects, paths=np.ones((count, count)), reason=reason)
    clusters = prepare(rows, means, covariances, weights, steps, missing)
    merging = merge_clusters(clusters)
    splits = (*merging.left, *sorted(merging.joined, key=lambda one: -one.evidence))
    if len(merging.groups) > 1:
        strongest = max(merging.left, key=lambda one: one.evidence)
        weakest = min(merging.left, key=lambda one: one.evidence)
        answer = "groups" if strongest.evidence >= SURE and not few else "cannot tell"
    else:
        strongest = weakest = max(merging.joined, key=lambda one: one.evidence)
        answer = "cannot tell" if strongest.evidence > CLEAR or few else "no evidence"
    return Verdict(
        answer,
        strongest.evidence,
        strongest.basis,
        splits,
        groups=tuple(merging.groups),
        n_objects=n_objects,
        decisive=splits.index(strongest),
        paths=merging.paths,
        line=draw_line(weakest, clusters),
        reason=reason,
    )


def prepare(
    rows: np.ndarray, means: np.ndarray, covariances: np.ndarray, weights: np.ndarray,
    steps: np.ndarray | None, missing: np.ndarray | None,
) -> Clusters:  # fmt: skip
    """Clusters in standardized columns, with covariances that can be inverted, shares and posteriors."""
    origin = weights @ rows / weights.sum()
    unit = np.sqrt(weights @ np.square(rows - origin) / weights.sum())
    varies = unit > 1e-12 * np.maximum(np.abs(origin), np.finfo(float).tiny)
    if not varies.any():
        varies[:1] = True
    origin, unit = origin[varies], np.where(unit[varies] > 0, unit[varies], 1.0)
    scaled = (rows[:, varies] - origin) / unit
    centers = (means[:, varies] - origin) / unit
    within = covariances[:, varies][:, :, varies] / np.outer(unit, unit)
    width = within.shape[1]
    within = within + RIDGE * np.maximum(np.trace(within, axis1=1, axis2=2) / width, 1e-6)[:, None, None] * np.eye(
        width
    )
    proportions, posteriors = mixing_proportions(log_densities(scaled, centers, within), weights)
    rounding = np.zeros(width) if steps is None else steps[varies] / unit
    return Clusters(scaled, weights, centers, within, proportions, posteriors, rounding, missing)


def draw_line(split: Split, clusters: Clusters) -> DrawnLine | None:
    """Points and both densities on the line of a split, in deviations within the clusters."""
    line = line_of(split.a, split.b, clusters)
    if is_degenerate(line):
        return None
    lines, origins, units = standardized([line])
    comparison = compare(lines)
    density = next(density for name, _, density, _ in ONE if name == comparison.shape[0])
    there = lines.weights[0] > 0
    points = lines.points[0, there] * units[0] + origins[0]
    margin = 0.05 * (points[-1] - points[0])
    grid = np.linspace(points[0] - margin, points[-1] + margin, 200)
    at = (grid - origins[0]) / units[0]
    return DrawnLine(
        split.a,
        split.b,
        points - origins[0],
        lines.weights[0, there],
        grid - origins[0],
        np.exp(two_normals_log_density(at, comparison.two[0])) / units[0],
        np.exp(density(at, comparison.one[0])) / units[0],
        comparison.shape[0],
        comparison.two[0],
    )
