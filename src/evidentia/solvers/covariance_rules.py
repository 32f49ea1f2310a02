r"""Compiled M-steps of the fourteen covariance models (Celeux & Govaert, 1995).

A model is three letters, volume, shape and orientation, each of which is trivial (``I``), equal for all clusters
(``E``) or varies (``V``); here they are numbers. Models without orientation see only the diagonals of the scatters: a
matrix of theirs is kept as its diagonal, an array of shape (d, 1), and no d × d matrix is made.
"""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled
from evidentia.solvers.small_matrices import common_axes, eigenvectors, inverses, uneven_shares

TRIVIAL, EQUAL, VARIES = 0, 1, 2
LETTERS = {"I": TRIVIAL, "E": EQUAL, "V": VARIES}
FLAT = 4 * float(np.finfo(float).eps)  # of a trace, for each column: what rounding may make of a variance of zero


@compiled
def solve(letters, scatter, size, previous, limits, found):
    """Covariances of highest likelihood, for each of m problems.

    Parameters
    ----------
    letters : tuple of three int
        Volume, shape, orientation.
    scatter : ndarray of shape (m, c, d, d), or (m, c, d, 1) for models without orientation
    size : ndarray of shape (m, c)
    previous : ndarray of the shape of ``scatter``, or of length zero
        Covariances of the same model to start inner iterations from.
    limits : tuple
        Relative change of volumes at which inner iterations end, their largest number, and the sine of the last
        turn of common axes.
    found : ndarray of the shape of ``scatter``
        To be written to; it may be ``previous``.
    """
    volume, shape, orientation = letters
    lifted = _lift(scatter)
    for r in range(len(scatter)):
        W, n, before = lifted[r], size[r], previous[r : r + 1]
        volumes = _volumes(volume, shape, orientation, W, n, before)
        if shape == EQUAL and orientation == EQUAL:
            _one_matrix(volume, W, n, volumes, limits, found[r])
        elif shape == VARIES and orientation == VARIES:
            _own_matrices(W, n, volumes, found[r])
        else:
            axes, values = _values(volume, orientation, lifted[r : r + 1], size[r : r + 1], before, limits)
            _fit_values(volume, shape, values, n, volumes, limits)
            _compose(axes, values, found[r])


@compiled
def _lift(scatter):
    """Scatters, those that are not positive definite, as rounding made them so, with more on their diagonals."""
    m, c, d, width = scatter.shape
    lifted = scatter.copy()
    if width == d:
        for r in range(m):
            log_det = inverses(scatter[r])[1]
            for k in range(c):
                if log_det[k] == -np.inf:
                    for p in range(d):
                        lifted[r, k, p, p] += FLAT * d * np.trace(scatter[r, k])
    return lifted


@compiled
def _volumes(volume, shape, orientation, scatter, size, previous):
    """Where the search for volumes starts (models VE*), the volumes of the scatters (EVV), their sizes (VVV)."""
    c, d, width = scatter.shape
    start = size.copy()
    if volume == VARIES and shape == EQUAL:
        log_det = inverses(previous[0])[1] if len(previous) else np.full(c, -np.inf)
        for k in range(c):
            start[k] = np.exp(log_det[k] / d)
            if start[k] == 0.0:  # nothing to start from, or a matrix that rounding made flat
                for p in range(d):
                    start[k] += scatter[k, p, min(p, width - 1)] / (d * size[k])
    elif volume == EQUAL and shape == VARIES and orientation == VARIES:
        log_det = inverses(scatter)[1]
        for k in range(c):
            start[k] = np.exp(log_det[k] / d)
    return start


@compiled
def _fit_values(volume, shape, values, size, start, limits):
    """Eigenvalues of the scatters (c, d) become those of the covariances, with volumes and shapes as the model says."""
    c, d = values.shape
    if shape == TRIVIAL:
        for k in range(c):
            mean = values[k].sum() / d
            for p in range(d):
                values[k, p] = mean
    if volume == VARIES and shape == EQUAL:
        _equal_shape(values, size, start, limits)
    elif volume == VARIES:
        for k in range(c):
            for p in range(d):
                values[k, p] /= size[k]
    elif shape == VARIES:
        volumes = np.zeros(c)
        for k in range(c):
            for p in range(d):
                volumes[k] += np.log(values[k, p]) / d
            volumes[k] = np.exp(volumes[k])
        pooled = volumes.sum() / size.sum()
        for k in range(c):
            for p in range(d):
                values[k, p] *= pooled / volumes[k]
    else:
        for p in range(d):
            pooled = values[:, p].sum() / size.sum()
            for k in range(c):
                values[k, p] = pooled


@compiled
def _equal_shape(values, size, volume, limits):
    """λ_k a_j from the eigenvalues of W_k: λ_k = Σ_j values_kj / a_j / (d n_k) and a ∝ Σ_k values_k / λ_k in turn."""
    c, d = values.shape
    shape = np.empty(d)
    for _ in range(limits[1]):
        mean = 0.0
        for p in range(d):
            shape[p] = 0.0
            for k in range(c):
                shape[p] += values[k, p] / volume[k]
            mean += np.log(shape[p]) / d
        scale, moved = np.exp(-mean), 0.0
        for p in range(d):
            shape[p] *= scale
        for k in range(c):
            last, volume[k] = volume[k], 0.0
            for p in range(d):
                volume[k] += values[k, p] / shape[p] / (d * size[k])
            moved = max(moved, abs(volume[k] / last - 1.0))
        if moved <= limits[0]:
            break
    for k in range(c):
        for p in range(d):
            values[k, p] = volume[k] * shape[p]


@compiled
def _sum(matrices, divisor, result):
    """Σ_k M_k / divisor_k, put into the first of ``result``."""
    c, d, _ = matrices.shape
    for p in range(d):
        for q in range(d):
            result[0, p, q] = 0.0
            for k in range(c):
                result[0, p, q] += matrices[k, p, q] / divisor[k]


@compiled
def _one_matrix(volume, scatter, size, volumes, limits, result):
    """EEE: the pooled scatter. VEE: λ_k C with λ_k = tr(W_k C^-1) / (d n_k) and C ∝ Σ_k W_k / λ_k in turn."""
    c, d, _ = scatter.shape
    common, factor, pooled = np.empty((1, d, d)), np.ones(c), size.sum()
    if volume == EQUAL:
        for k in range(c):
            volumes[k] = pooled
    for _ in range(limits[1]):
        _sum(scatter, volumes, common)
        if volume == EQUAL:
            break
        inverse, log_det = inverses(common)
        root, moved = np.exp(log_det[0] / d), 0.0
        for k in range(c):
            last, volumes[k] = volumes[k], 0.0
            for p in range(d):
                for q in range(d):
                    volumes[k] += scatter[k, p, q] * inverse[0, p, q] * root / (d * size[k])
            factor[k] = volumes[k] / root
            moved = max(moved, abs(volumes[k] / last - 1.0))
        if moved <= limits[0]:
            break
    for k in range(c):
        for p in range(d):
            for q in range(d):
                result[k, p, q] = factor[k] * common[0, p, q]


@compiled
def _own_matrices(scatter, size, volumes, result):
    """VVV: the scatters over their sizes. EVV: W_k / |W_k|^(1/d) times the mean of |W_k|^(1/d)."""
    c, d, _ = scatter.shape
    mean = volumes.sum() / size.sum()
    for k in range(c):
        for p in range(d):
            for q in range(d):
                result[k, p, q] = mean / volumes[k] * scatter[k, p, q]


@compiled
def _values(volume, orientation, scatter, size, previous, limits):
    """Axes and the scatters along them, (c, d): the columns' (no axes), the clusters' own, or common ones."""
    _, c, d, _ = scatter.shape
    if orientation == VARIES:
        values, axes = eigenvectors(scatter[0])
        return axes, values
    axes, values = np.empty((0, d, d)), np.zeros((c, d))
    if orientation == EQUAL:
        mixed = np.empty((1, d, d))
        if len(previous):
            _sum(previous[0], 1.0 / uneven_shares(c), mixed)
        else:
            _sum(scatter[0], np.ones(c), mixed)
        axes = common_axes(scatter, size, volume == EQUAL, eigenvectors(mixed)[1], limits[2])
    for k in range(c):
        for j in range(d):
            if orientation == TRIVIAL:
                values[k, j] = scatter[0, k, j, 0]
                continue
            for p in range(d):
                for q in range(d):
                    values[k, j] += axes[0, p, j] * scatter[0, k, p, q] * axes[0, q, j]
    return axes, values


@compiled
def _compose(axes, values, result):
    """D_k diag(a_k) D_k^T, with own or common axes; or the values themselves where there are no axes."""
    c, d = values.shape
    for k in range(c):
        if len(axes) == 0:
            for p in range(d):
                result[k, p, 0] = values[k, p]
            continue
        own = axes[min(k, len(axes) - 1)]
        for p in range(d):
            for q in range(p, d):
                total = 0.0
                for j in range(d):
                    total += own[p, j] * values[k, j] * own[q, j]
                result[k, p, q] = result[k, q, p] = total
