"""Thousands of small symmetric matrices at once.

LAPACK is called once a matrix, and for a 4 × 4 matrix the call costs more than the work: compiled loops are
several times faster. Matrices stand along the leading axis; their number and order never change a result. The loops
are spelled out, because array expressions take seconds to compile.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evidentia.solvers.compiling import compiled, parts

SWEEPS = 50  # over all pairs of axes, for one matrix; fewer than ten are needed
COMMON_SWEEPS = 500  # for axes common to several matrices, where progress can be slow
GOLDEN = (5**0.5 - 1) / 2
ROUNDING = 1e-15  # an entry off the diagonal smaller than this, relative to the diagonal, is zero


def diagonal_of(matrices: np.ndarray) -> np.ndarray:
    """Of each matrix along the leading axes."""
    return np.einsum("...jj->...j", matrices)


def along(axes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """D diag(a) D^T."""
    return (axes * values[..., None, :]) @ axes.swapaxes(-1, -2)


def invert(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What :func:`inverses` gives, for some of the matrices after the other."""
    return _in_parts(inverses, matrices, 2)


def diagonalize(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What :func:`eigenvectors` gives, for some of the matrices after the other."""
    return _in_parts(eigenvectors, matrices, 50)


def _in_parts(
    function: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], matrices: np.ndarray, passes: int
) -> tuple[np.ndarray, np.ndarray]:
    """``function`` of all matrices, which goes so many times through the products of all pairs of their columns."""
    _, d, width = matrices.shape
    shares = list(parts(len(matrices), passes * d * width**2))
    if len(shares) < 2:
        return function(matrices)
    found = [function(matrices[part]) for part in shares]
    return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])


@compiled
def uneven_shares(n):
    """Shares between one half and three halves, no two of them equal."""
    shares = np.empty(n)
    for k in range(n):
        shares[k] = 0.5 + GOLDEN * (k + 1) % 1
    return shares


@compiled
def cholesky(matrix, factor):
    """Lower factor; False when the matrix is not positive definite."""
    for j in range(len(matrix)):
        for i in range(j, len(matrix)):
            rest = matrix[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = rest / factor[j, j]
            elif rest > 0.0:
                factor[j, j] = np.sqrt(rest)
            else:
                return False
    return True


@compiled
def _all_positive(column):
    positive = True
    for j in range(len(column)):
        positive = positive and column[j, 0] > 0.0
    return positive


@compiled
def inverses(matrices):
    """Inverses and log determinants of positive definite matrices, shapes (m, d, d) and (m,).

    A matrix that is not positive definite has an infinite inverse and log determinant -inf. Diagonal matrices may be
    given by their diagonals, shape (m, d, 1), as are then their inverses.
    """
    m, d, width = matrices.shape
    inverse, log_det = np.empty((m, d, width)), np.zeros(m)
    factor, column = np.zeros((width, width)), np.zeros(d)
    for r in range(m):
        if not (_all_positive(matrices[r]) if width < d else cholesky(matrices[r], factor)):
            log_det[r] = -np.inf
            for i in range(d):
                for j in range(width):
                    inverse[r, i, j] = np.inf
            continue
        if width < d:
            for i in range(d):
                log_det[r] += np.log(matrices[r, i, 0])
                inverse[r, i, 0] = 1.0 / matrices[r, i, 0]
            continue
        for j in range(d):
            log_det[r] += 2.0 * np.log(factor[j, j])
            for i in range(d):  # solve L L^T x = e_j
                rest = 1.0 if i == j else 0.0
                for k in range(i):
                    rest -= factor[i, k] * column[k]
                column[i] = rest / factor[i, i]
            for i in range(d - 1, -1, -1):
                rest = column[i]
                for k in range(i + 1, d):
                    rest -= factor[k, i] * column[k]
                column[i] = rest / factor[i, i]
                inverse[r, i, j] = column[i]
    return inverse, log_det


@compiled
def _rotate(matrix, p, q, cosine, sine):
    """Turn the axes p and q of a symmetric matrix."""
    for k in range(len(matrix)):
        a, b = matrix[k, p], matrix[k, q]
        matrix[k, p], matrix[k, q] = cosine * a + sine * b, cosine * b - sine * a
    for k in range(len(matrix)):
        a, b = matrix[p, k], matrix[q, k]
        matrix[p, k], matrix[q, k] = cosine * a + sine * b, cosine * b - sine * a


@compiled
def _turn(axes, p, q, cosine, sine):
    for k in range(len(axes)):
        a, b = axes[k, p], axes[k, q]
        axes[k, p], axes[k, q] = cosine * a + sine * b, cosine * b - sine * a


@compiled
def eigenvectors(matrices):
    """Eigenvalues, largest first, and eigenvectors (columns) by cyclic Jacobi rotations: (m, d) and (m, d, d)."""
    m, d, _ = matrices.shape
    values, vectors = np.empty((m, d)), np.zeros((m, d, d))
    work = matrices.copy()
    for r in range(m):
        matrix, axes = work[r], vectors[r]
        for j in range(d):
            axes[j, j] = 1.0
        for _ in range(SWEEPS):
            moved = False
            for p in range(d - 1):
                for q in range(p + 1, d):
                    off = matrix[p, q]
                    if abs(off) <= ROUNDING * np.sqrt(abs(matrix[p, p] * matrix[q, q])):
                        continue
                    moved = True
                    slope = (matrix[p, p] - matrix[q, q]) / (2.0 * off)
                    tangent = (1.0 if slope >= 0 else -1.0) / (abs(slope) + np.sqrt(slope * slope + 1.0))
                    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                    _rotate(matrix, p, q, cosine, tangent * cosine)
                    _turn(axes, p, q, cosine, tangent * cosine)
            if not moved:
                break
        for j in range(d):  # sort
            largest = j
            for i in range(j + 1, d):
                if matrix[i, i] > matrix[largest, largest]:
                    largest = i
            values[r, j], matrix[largest, largest] = matrix[largest, largest], matrix[j, j]
            for i in range(d):
                axes[i, j], axes[i, largest] = axes[i, largest], axes[i, j]
    return values, vectors


@compiled
def congruent(matrix, factor, result):
    """Write F^T M F."""
    d = len(matrix)
    half = np.zeros((d, d))
    for i in range(d):
        for k in range(d):
            for q in range(d):
                half[i, q] += matrix[i, k] * factor[k, q]
    for p in range(d):
        for q in range(d):
            result[p, q] = 0.0
    for i in range(d):
        for p in range(d):
            for q in range(d):
                result[p, q] += factor[i, p] * half[i, q]


@compiled
def common_axes(matrices, size, equal_volume, start, tol):
    r"""Axes that make c matrices as diagonal as possible together (Flury & Gautschi 1986), m times.

    With :math:`t_{kj}` the diagonal of :math:`D^T W_k D`, the orthogonal D minimizes
    :math:`\sum_k n_k \sum_j \log t_{kj}`, or :math:`\sum_k (\prod_j t_{kj})^{1/d}` when volumes are equal. Both are
    concave in t, so their tangent :math:`\sum_{kj} (s_k/t_{kj})\, t_{kj}'` lies above them, and for two axes at a time
    it is lowest at the eigenvectors of a 2 × 2 matrix. Every turn lowers the criterion.

    Parameters
    ----------
    matrices : ndarray of shape (m, c, d, d)
    size : ndarray of shape (m, c)
    equal_volume : bool
    start : ndarray of shape (m, d, d)
    tol : float
        Largest sine of a turn in the last sweep.
    """
    m, c, d, _ = matrices.shape
    axes, turned = start.copy(), np.empty((c, d, d))
    for r in range(m):
        for k in range(c):
            congruent(matrices[r, k], axes[r], turned[k])
        for _ in range(COMMON_SWEEPS):
            largest = 0.0
            for p in range(d - 1):
                for q in range(p + 1, d):
                    gap = off = 0.0
                    for k in range(c):
                        slope = size[r, k]
                        if equal_volume:
                            slope = 1.0
                            for j in range(d):
                                slope *= turned[k, j, j] ** (1.0 / d)
                        slope *= 1.0 / turned[k, p, p] - 1.0 / turned[k, q, q]
                        gap += slope * (turned[k, p, p] - turned[k, q, q])
                        off += slope * turned[k, p, q]
                    if gap == 0.0 and off == 0.0:
                        continue
                    angle = 0.5 * np.arctan2(-2.0 * off, -gap)  # axis p takes the smallest value of the tangent
                    cosine, sine = np.cos(angle), np.sin(angle)
                    for k in range(c):
                        _rotate(turned[k], p, q, cosine, sine)
                    _turn(axes[r], p, q, cosine, sine)
                    largest = max(largest, abs(sine))
            if largest <= tol:
                break
    return axes


@compiled
def turned_axes(matrices, values, start):
    """Orthogonal D that lowers Σ_m Σ_j values[m, j] (D^T M_m D)_jj: one sweep over all pairs of axes from ``start``.

    Each turn is the best one of its plane.
    """
    m, d, _ = matrices.shape
    axes, turned = start.copy(), np.empty((m, d, d))
    for i in range(m):
        congruent(matrices[i], axes, turned[i])
    for p in range(d - 1):
        for q in range(p + 1, d):
            gap = off = 0.0
            for i in range(m):
                slope = values[i, p] - values[i, q]
                gap += slope * (turned[i, p, p] - turned[i, q, q])
                off += slope * turned[i, p, q]
            if gap == 0.0 and off == 0.0:
                continue
            angle = 0.5 * np.arctan2(-2.0 * off, -gap)
            cosine, sine = np.cos(angle), np.sin(angle)
            for i in range(m):
                _rotate(turned[i], p, q, cosine, sine)
            _turn(axes, p, q, cosine, sine)
    return axes
