r"""Covariances of clusters when sets of clusters are components too, for the fourteen models.

The covariance of a set is the mean of those of its clusters, :math:`\Sigma_A = \frac{1}{|A|}\sum_{k\in A}\Sigma_k`.
With sizes :math:`N_A` and scatters :math:`S_A` about the center of each set, the M-step has to lower
:math:`\sum_A N_A \log|\Sigma_A| + \mathrm{tr}(\Sigma_A^{-1} S_A)`. For a set of several clusters both terms are bounded
by sums over its clusters: the logarithm is concave, and :math:`x^T\Sigma_A^{-1}x` is the least cost of sharing x out
among them. With equality at the present covariances, what is left to minimize is

.. math:: \sum_k n_k \log|\Sigma_k| + \mathrm{tr}(P_k \Sigma_k) + \mathrm{tr}(Q_k \Sigma_k^{-1})

over the covariances that the model allows, so that a step never lowers the likelihood. :func:`bound` makes n, P and Q,
:func:`minimize_bound` solves. Diagonal models know variances only, arrays (n_clusters, n_features): nothing of
the size d × d is ever made for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from evidentia.solvers.small_matrices import along, diagonal_of, turned_axes, uneven_sum

INNER_TOLERANCE = 1e-10  # relative change of the covariances at which alternating rules end
INNER_ITERATIONS = 10  # any number of rounds is a valid step; the next one goes on where this one ended
NEWTON_ITERATIONS = 50


class Bound(NamedTuple):
    """What is to be minimized: sizes (c,), slopes P and scatters Q, each (c, d, d), or (c, d) for diagonal models."""

    size: np.ndarray
    slope: np.ndarray
    scatter: np.ndarray

    def keep_resting(self, clusters: np.ndarray, weight: float, covariances: np.ndarray) -> Bound:
        """With some clusters where they are: those that lost all objects have no covariance of their own."""
        if not len(clusters):
            return self
        size, slope, scatter = (part.copy() for part in self)
        size[clusters], slope[clusters], scatter[clusters] = weight, 0.0, weight * covariances[clusters]
        return Bound(size, slope, scatter)


def bound(
    average: np.ndarray, size: np.ndarray, scatter: np.ndarray, covariances: np.ndarray, precisions: np.ndarray
) -> Bound:
    """The bound at the present covariances.

    Parameters
    ----------
    average : ndarray of shape (f, c)
        Rows 1/|A| on the members of each set.
    size : ndarray of shape (f,)
    scatter : ndarray of shape (f, d, d) or (f, d)
        About the centers of the sets.
    covariances : ndarray of shape (c, d, d) or (c, d)
        Of the clusters.
    precisions : ndarray of shape (f, d, d) or (f, d)
        Inverses of the covariances of the sets.
    """
    single = average.max(axis=1) == 1
    members, shares = average[single], average[~single]
    slope = np.tensordot(shares.T * size[~single], precisions[~single], axes=1)
    own = np.tensordot(members.T, scatter[single], axes=1)
    P, S = precisions[~single], scatter[~single]
    if S.ndim == 2:
        return Bound(members.T @ size[single], slope, own + np.square(covariances) * (shares.T @ (P * S * P)))
    shared = np.tensordot(shares.T, P @ S @ P, axes=1)
    return Bound(members.T @ size[single], slope, own + covariances @ shared @ covariances)


def minimize_bound(model: str, found: Bound, previous: np.ndarray) -> np.ndarray:
    """Covariances that lower the bound, or variances for a diagonal model; ``previous`` is where searches begin.

    Examples
    --------
    One cluster of size 3 on a line: 3 log s + 2 s + 8 / s is least at s = 1.386.

    >>> minimize_bound("VVI", Bound(np.array([3.0]), np.array([[2.0]]), np.array([[8.0]])), np.ones((1, 1))).round(3)
    array([[1.386]])
    """
    return _RULES[model](found, previous)


Rule = Callable[[Bound, np.ndarray], np.ndarray]


def _least(size: np.ndarray, slope: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """Where n log s + p s + q / s is least."""
    return 2 * scatter / (size + np.sqrt(np.square(size) + 4 * slope * scatter))


def _align_sizes(size: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sizes (c,) ready to meet values of shape (c, …)."""
    return size.reshape(-1, *[1] * (values.ndim - 1))


def _spectrum(slope: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B and m with B B^T = Q and B^T P B = diag(m): in these coordinates the matrices of the bound are numbers."""
    values, vectors = np.linalg.eigh(scatter)
    half = vectors * np.sqrt(np.maximum(values, 0))[..., None, :]
    m, turned = np.linalg.eigh(half.swapaxes(-1, -2) @ slope @ half)
    return half @ turned, np.maximum(m, 0)


def _least_matrix(size: np.ndarray, slope: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """The matrix at which n log|S| + tr(P S) + tr(Q S^-1) is least, for each along the leading axes."""
    base, m = _spectrum(slope, scatter)
    return along(base, _least(_align_sizes(np.atleast_1d(size), m) if m.ndim > 1 else size, m, np.ones_like(m)))


def _equal_volume_sizes(size: np.ndarray, offset: np.ndarray, product: np.ndarray) -> np.ndarray:
    r"""Sizes :math:`\mu_k` of the same sum for which all log determinants are equal.

    With them in place of :math:`n_k` the free rules solve the problem of equal volumes: they are its multipliers. The
    log determinant of cluster k is ``offset[k]`` plus :math:`\sum_j \log 2/(\mu_k + \sqrt{\mu_k^2 + 4 m_{kj}})`, the
    gradient of a concave function of the multipliers, which Newton's steps climb. Of single clusters there is nothing
    to climb: :math:`m` vanishes.
    """
    if not product.any():
        mu = np.exp((offset - offset.max()) / product.shape[1])
        return mu * (size.sum() / mu.sum())

    def climb(mu: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        root = np.sqrt(np.square(mu)[:, None] + 4 * product)
        with np.errstate(divide="ignore"):
            logs = np.log(2 / (mu[:, None] + root))
        height = np.sum(root) + mu @ (offset + logs.sum(axis=1))
        with np.errstate(divide="ignore"):
            return float(height), offset + logs.sum(axis=1), (1 / root).sum(axis=1)

    # A cluster whose products vanish needs a positive multiplier; where they do not, any sign will do.
    mu = np.maximum(size, 1e-3 * size.mean())
    mu *= size.sum() / mu.sum()
    height, log_det, curvature = climb(mu)
    for _ in range(NEWTON_ITERATIONS):
        level = (log_det / curvature).sum() / (1 / curvature).sum()
        if np.abs(log_det - level).max() <= 1e-11 * max(1.0, abs(level)):
            break
        step, fraction = (log_det - level) / curvature, 1.0
        for _ in range(60):
            tried = mu + fraction * step
            following = climb(tried) if ((tried > 0) | (product > 0).all(axis=1)).all() else None
            if following is not None and following[0] >= height - 1e-15 * abs(height):
                break
            fraction /= 2
        else:
            break
        mu, (height, log_det, curvature) = tried, following
    return mu


def _vvi(found: Bound, _: np.ndarray) -> np.ndarray:
    return _least(found.size[:, None], found.slope, found.scatter)


def _vii(found: Bound, _: np.ndarray) -> np.ndarray:
    d = found.scatter.shape[1]
    volume = _least(d * found.size, found.slope.sum(axis=1), found.scatter.sum(axis=1))
    return np.repeat(volume[:, None], d, axis=1)


def _evi(found: Bound, _: np.ndarray) -> np.ndarray:
    mu = _equal_volume_sizes(found.size, np.log(found.scatter).sum(axis=1), found.slope * found.scatter)
    return _least(mu[:, None], found.slope, found.scatter)


def _evv(found: Bound, _: np.ndarray) -> np.ndarray:
    base, m = _spectrum(found.slope, found.scatter)
    mu = _equal_volume_sizes(found.size, 2 * np.linalg.slogdet(base)[1], m)
    return along(base, _least(mu[:, None], m, np.ones_like(m)))


def _vei(found: Bound, previous: np.ndarray) -> np.ndarray:
    """λ_k a: volumes and the shape in turn; each is a sum of scalar problems."""
    size, slope, scatter = found
    shape = np.exp(np.log(previous).mean(axis=0))
    for _ in range(INNER_ITERATIONS):
        volume = _least(shape.size * size, slope @ shape, scatter @ (1 / shape))
        last, shape = shape, _least(size.sum(), volume @ slope, (1 / volume) @ scatter)
        if np.abs(shape / last - 1).max() <= INNER_TOLERANCE:
            break
    return volume[:, None] * shape


def _vvv(found: Bound, _: np.ndarray) -> np.ndarray:
    return _least_matrix(*found)


def _vee(found: Bound, previous: np.ndarray) -> np.ndarray:
    """λ_k C: volumes and the common matrix in turn."""
    size, slope, scatter = found
    common = previous[0]
    for _ in range(INNER_ITERATIONS):
        against = np.linalg.inv(common)
        volume = _least(len(common) * size, (slope * common).sum(axis=(1, 2)), (scatter * against).sum(axis=(1, 2)))
        last, common = (
            common,
            _least_matrix(size.sum(), np.tensordot(volume, slope, 1), np.tensordot(1 / volume, scatter, 1)),
        )
        if np.abs(common - last).max() <= INNER_TOLERANCE * np.abs(common).max():
            break
    return volume[:, None, None] * common


def _axes_and_variances(found: Bound, previous: np.ndarray, *, rule: Rule, common: bool) -> np.ndarray:
    """Axes, one set of them for all clusters or one each, and variances along them by a diagonal rule, in turn."""
    mixed = previous
    if common:
        mixed = uneven_sum(previous)
    axes = np.broadcast_to(np.linalg.eigh(mixed)[1], previous.shape)
    variances = diagonal_of(axes.swapaxes(-1, -2) @ previous @ axes)
    for _ in range(INNER_ITERATIONS):
        if common:
            matrices, values = np.concatenate([found.slope, found.scatter]), np.concatenate([variances, 1 / variances])
            axes = np.broadcast_to(turned_axes(matrices, values, axes[0]), previous.shape)
        else:
            each = zip(np.stack([found.slope, found.scatter], 1), np.stack([variances, 1 / variances], 1), axes)
            axes = np.stack([turned_axes(*cluster) for cluster in each])
        slope, scatter = (diagonal_of(axes.swapaxes(-1, -2) @ part @ axes) for part in found[1:])
        last, variances = variances, rule(Bound(found.size, slope, scatter), variances)
        if np.abs(variances / last - 1).max() <= INNER_TOLERANCE:
            break
    return along(axes, variances)


def _eei(found: Bound, _: np.ndarray) -> np.ndarray:
    pooled = _least(found.size.sum(), found.slope.sum(axis=0), found.scatter.sum(axis=0))
    return np.broadcast_to(pooled, found.scatter.shape)


_axes = partial(partial, _axes_and_variances)
_RULES: dict[str, Rule] = {
    "VII": _vii,
    "VEI": _vei,
    "EVI": _evi,
    "VVI": _vvi,
    "VEE": _vee,
    "EVE": _axes(rule=_evi, common=True),
    "VVE": _axes(rule=_vvi, common=True),
    "EEV": _axes(rule=_eei, common=False),
    "VEV": _axes(rule=_vei, common=False),
    "EVV": _evv,
    "VVV": _vvv,
}
