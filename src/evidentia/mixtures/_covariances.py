r"""The M-step of the fourteen covariance models (Celeux & Govaert, 1995), for clusters and for sets of clusters.

The covariance of cluster k is :math:`\Sigma_k = \lambda_k D_k A_k D_k^T`: volume :math:`\lambda_k`, shape :math:`A_k`
(diagonal, determinant one) and orientation :math:`D_k`. The three letters of a model say, in this order, whether each
is equal (E) for all clusters, varies (V), or is trivial (I): in ``"VEV"`` clusters have their own volume and
orientation and one shape. Every model minimizes

.. math:: \sum_k n_k \log|\Sigma_k| + \mathrm{tr}(P_k \Sigma_k) + \mathrm{tr}(W_k \Sigma_k^{-1})

over the covariances it allows. In an ordinary mixture :math:`n_k` is the size of cluster k, :math:`W_k` its scatter,
and the slope :math:`P_k` is zero: this is the likelihood. Where sets of clusters are components too, :func:`bound`
makes sizes, slopes and scatters of the clusters from those of the sets.

Models without orientation see only the diagonals of the scatters: a matrix is kept as its diagonal, an array of shape
(d, 1), and no d × d matrix is made. Leading axes are independent problems, solved together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.compiling import compiled, parts
from evidentia.solvers.small_matrices import (
    cholesky,
    common_axes,
    congruent,
    diagonal_of,
    eigenvectors,
    inverses,
    invert,
    turned_axes,
    uneven_shares,
)

MODELS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
TRIVIAL, EQUAL, VARIES = 0, 1, 2
LETTERS = {"I": TRIVIAL, "E": EQUAL, "V": VARIES}
INNER_TOLERANCE = 1e-9  # relative change of volumes at which inner iterations end
INNER_ITERATIONS = 500
BOUND_ITERATIONS = 10  # where there are slopes: any number of them is a valid step, and the next step continues
TURN_TOLERANCE = 1e-6  # sine of the last turn of common axes; the likelihood depends on its square
NEWTON_STEPS = 50
FLAT = 4 * float(np.finfo(float).eps)  # of a trace, for each column: what rounding may make of a variance of zero


def feasible_models(n: int | None, d: int) -> list[str]:
    """Return the models that n rows (None: many) of d columns can determine.

    Models that are not diagonal need more rows than columns.

    Examples
    --------
    >>> feasible_models(300, 2_000)
    ['EII', 'VII', 'EEI', 'VEI', 'EVI', 'VVI']
    >>> feasible_models(None, 1)  # in one dimension there is only volume
    ['EII', 'VII']
    """
    if d == 1:
        return list(MODELS[:2])
    return [model for model in MODELS if model.endswith("I") or n is None or n > d + 1]


def n_covariance_parameters(model: str, n_clusters: int, n_features: int) -> int:
    """Return the number of free parameters of the covariances: volumes, shapes and orientations.

    Examples
    --------
    >>> n_covariance_parameters("VEV", 3, 4)
    24
    """
    copies = {"E": 1, "V": n_clusters, "I": 0}
    volume, shape, orientation = (copies[letter] for letter in model)
    return volume + shape * (n_features - 1) + orientation * (n_features * (n_features - 1) // 2)


def letters_of(model: str) -> tuple[int, int, int]:
    """Return volume, shape and orientation of a model as numbers."""
    volume, shape, orientation = (LETTERS[letter] for letter in model)
    return volume, shape, orientation


def inner_limits() -> tuple[float, int, int, float]:
    """Return when inner iterations end: tolerance, largest numbers without and with slopes, and turn of common axes."""
    return INNER_TOLERANCE, INNER_ITERATIONS, BOUND_ITERATIONS, TURN_TOLERANCE


def covariances(
    model: str,
    scatter: np.ndarray,
    size: np.ndarray,
    previous: np.ndarray | None = None,
    slope: np.ndarray | None = None,
) -> np.ndarray:
    """Return the covariances that minimize the criterion under a model.

    Parameters
    ----------
    model : str
        One of ``MODELS``.
    scatter : ndarray of shape (m, c, d, d)
        Positive definite. Models without orientation may be given diagonals, shape (m, c, d, 1).
    size : ndarray of shape (m, c)
    previous : ndarray of the shape of ``scatter``, optional
        Covariances of the same model to start inner iterations from.
    slope : ndarray of the shape of ``scatter``, optional
        Zero by default. With slopes ``previous`` is required, and models whose rules alternate (VEI, VEE, EVE, VVE,
        EEV, VEV) take some iterations from there.

    Returns
    -------
    ndarray of the shape of ``scatter``

    Examples
    --------
    >>> scatter = np.array([[np.diag([4.0, 1.0]), np.diag([2.0, 8.0])]])
    >>> covariances("EEI", scatter, np.array([[2.0, 1.0]]))[0, 0]
    array([[2., 0.],
           [0., 3.]])

    One cluster of size 3 on a line: 3 log s + 2 s + 8 / s is least at s = 1.386.

    >>> size, slope, scatter = np.full((1, 1), 3.0), np.full((1, 1, 1, 1), 2.0), np.full((1, 1, 1, 1), 8.0)
    >>> covariances("VVI", scatter, size, np.ones((1, 1, 1, 1)), slope).round(3).ravel()
    array([1.386])
    """
    if model[2] == "I" and scatter.shape[-1] > 1:
        narrow = [None if part is None else diagonal_of(part)[..., None] for part in (previous, slope)]
        return matrices_of(covariances(model, diagonal_of(scatter)[..., None], size, *narrow)[..., 0])
    scatter, size = np.ascontiguousarray(scatter), np.ascontiguousarray(size, dtype=float)
    last, slopes = (scatter[:0] if part is None else np.ascontiguousarray(part) for part in (previous, slope))
    result = np.empty(scatter.shape)
    _, c, d, width = scatter.shape
    for part in parts(len(scatter), 100 * c * d * width**2):
        solve(letters_of(model), size[part], slopes[part], scatter[part], last[part], inner_limits(), result[part])
    return result


def matrices_of(diagonal: np.ndarray) -> np.ndarray:
    """Return diagonal matrices (..., d, d) with the given diagonals (..., d)."""
    return diagonal[..., None] * np.eye(diagonal.shape[-1])


# -- sets of clusters, prior and floor ---------------------------------------------------------------------------------


class Bound(NamedTuple):
    """Sizes (c,), slopes P and scatters Q of the clusters, each (c, d, d), or (c, d) for diagonal models."""

    size: np.ndarray
    slope: np.ndarray | None
    scatter: np.ndarray

    def minimize(self, model: str, previous: np.ndarray) -> np.ndarray:
        """Return covariances that lower the bound, or variances for a diagonal model, beginning at ``previous``."""
        narrow = self.scatter.ndim == 2

        def batch(part: np.ndarray | None) -> np.ndarray | None:
            return None if part is None else part[None, ..., None] if narrow else part[None]

        scatter = self.scatter[None, ..., None] if narrow else self.scatter[None]
        result = covariances(model, scatter, self.size[None], batch(previous), batch(self.slope))[0]
        return result[..., 0] if narrow else result

    def keep(self, clusters: np.ndarray, weight: float, covariances: np.ndarray) -> Bound:
        """Return the bound with which some clusters keep their covariances: those that lost all objects have none."""
        if not len(clusters):
            return self
        size, slope, scatter = (None if part is None else part.copy() for part in self)
        assert size is not None
        assert scatter is not None
        size[clusters], scatter[clusters] = weight, weight * covariances[clusters]
        if slope is not None:
            slope[clusters] = 0.0
        return Bound(size, slope, scatter)


def bound(
    average: np.ndarray, size: np.ndarray, scatter: np.ndarray, covariances: np.ndarray, precisions: np.ndarray | None
) -> Bound:
    r"""Return the criterion of sets as a bound of clusters, equal to it at the present covariances.

    The covariance of a set is the mean of those of its clusters, :math:`\Sigma_A = \frac{1}{|A|}\sum_{k\in
    A}\Sigma_k`. With sizes :math:`N_A` and scatters :math:`S_A` about the center of each set, the M-step has to lower
    :math:`\sum_A N_A \log|\Sigma_A| + \mathrm{tr}(\Sigma_A^{-1} S_A)`. For a set of several clusters both terms are
    bounded by sums over its clusters: the logarithm is concave, and :math:`x^T\Sigma_A^{-1}x` is the least cost of
    sharing x out among them. So a step never lowers the likelihood.

    Parameters
    ----------
    average : ndarray of shape (f, c)
        Rows 1/|A| on the members of each set.
    size : ndarray of shape (f,)
    scatter : ndarray of shape (f, d, d) or (f, d)
        About the centers of the sets.
    covariances : ndarray of shape (c, d, d) or (c, d)
        Of the clusters.
    precisions : ndarray of shape (f, d, d) or (f, d), or None
        Inverses of the covariances of the sets; needed where a set has several clusters.
    """
    single = average.max(axis=1) == 1
    members, shares = average[single], average[~single]
    own_size, own = members.T @ size[single], np.tensordot(members.T, scatter[single], axes=1)
    if precisions is None:
        return Bound(own_size, None, own)
    slope = np.tensordot(shares.T * size[~single], precisions[~single], axes=1)
    P, S = precisions[~single], scatter[~single]
    if S.ndim == 2:
        return Bound(own_size, slope, own + np.square(covariances) * (shares.T @ (P * S * P)))
    shared = np.tensordot(shares.T, P @ S @ P, axes=1)
    return Bound(own_size, slope, own + covariances @ shared @ covariances)


class Prior(NamedTuple):
    r"""Inverse Wishart prior of a covariance, as what it adds to sizes and to scatters.

    Minus its log density is :math:`\tfrac12(\text{objects} \log|\Sigma| + \mathrm{tr}(\text{scale}\,\Sigma^{-1}))`; the
    variances of diagonal models have one of dimension one each.
    """

    objects: float
    scale: np.ndarray  # (d, d), or (d,) for diagonal models

    def cost(self, covariances: np.ndarray) -> float:
        """Return minus the log density of all covariances given, up to a constant."""
        if covariances.ndim == 2:
            return 0.5 * float((self.objects * np.log(covariances) + self.scale / covariances).sum())
        precisions, log_det = invert(np.ascontiguousarray(covariances))
        return 0.5 * float(self.objects * log_det.sum() + (self.scale * precisions).sum())


class Floor(NamedTuple):
    """The smallest covariance allowed: ``level`` times that of the whole table, ``reference``."""

    level: float
    reference: np.ndarray  # (d, d), or (d,) for diagonal models

    def reached(self, covariances: np.ndarray) -> bool:
        """Return whether some covariance is as narrow as the floor in some direction."""
        if covariances.ndim == 2:
            return bool((covariances < 1.01 * self.level * self.reference).any())
        return any(self._spread(covariance)[0][0] < 1.01 * self.level for covariance in covariances)

    def _spread(self, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues relative to the reference, smallest first, and the matrix that takes them back."""
        root = np.linalg.cholesky(self.reference)
        inverse = np.linalg.inv(root)
        values, vectors = np.linalg.eigh(inverse @ covariance @ inverse.T)
        return values, root @ vectors

    def raise_to(self, covariance: np.ndarray) -> np.ndarray:
        """Return the admissible covariance of highest likelihood: values below the floor are lifted up to it.

        EM with it never lowers the likelihood, and it changes no fit that stays clear of the floor.
        """
        if covariance.ndim == 1:
            return np.maximum(covariance, self.level * self.reference)
        values, spanned = self._spread(covariance)
        if values[0] >= self.level:
            return covariance
        return (spanned * np.maximum(values, self.level)) @ spanned.T


# -- the rules, compiled -----------------------------------------------------------------------------------------------


@compiled
def solve(letters, size, slope, scatter, previous, limits, result):
    """Write the covariances that minimize the criterion, for each of m problems.

    Parameters
    ----------
    letters : tuple of three int
        Volume, shape, orientation.
    size : ndarray of shape (m, c)
    slope : ndarray of the shape of ``scatter``, or of length zero: all are zero
    scatter : ndarray of shape (m, c, d, d), or (m, c, d, 1) for models without orientation
    previous : ndarray of the shape of ``scatter``, or of length zero
        Covariances of the same model to start inner iterations from.
    limits : tuple
        From :func:`inner_limits`.
    result : ndarray of the shape of ``scatter``
        Receives the covariances; it may be ``previous``.
    """
    volume, shape, orientation = letters
    lifted = _lift(scatter)
    for r in range(len(scatter)):
        n, P, W, before = size[r], slope[r : r + 1], lifted[r], previous[r : r + 1]
        rounds = limits[2] if len(P) else limits[1]
        volumes = _starting_volumes(volume, shape, W, n, before)
        if orientation == TRIVIAL:
            values, slopes = W[:, :, 0].copy(), np.zeros(W.shape[:2])
            if len(P):
                slopes[:] = P[0, :, :, 0]
            _fit_values(volume, shape, n, slopes, values, volumes, limits[0], rounds)
            result[r, :, :, 0] = values
        elif shape == EQUAL and orientation == EQUAL:
            _one_matrix(volume, n, P, W, volumes, limits[0], rounds, result[r])
        elif shape == VARIES and orientation == VARIES:
            _own_matrices(volume, n, P, W, result[r])
        elif len(P):
            _turn_axes(letters, n, P[0], W, before[0], volumes, limits[0], rounds, result[r])
        else:
            axes, values = _best_axes(volume, orientation, lifted[r : r + 1], size[r : r + 1], before, limits[3])
            _fit_values(volume, shape, n, np.zeros(values.shape), values, volumes, limits[0], rounds)
            _compose(axes, values, result[r])


@compiled
def _lift(scatter):
    """Return the scatters; those that rounding made singular have more on their diagonals."""
    m, c, d, width = scatter.shape
    lifted = scatter.copy()
    factor = np.zeros((width, width))
    if width == d:
        for r in range(m):
            for k in range(c):
                if not cholesky(scatter[r, k], factor):
                    for p in range(d):
                        lifted[r, k, p, p] += FLAT * d * np.trace(scatter[r, k])
    return lifted


@compiled
def _least(n, p, q):
    """Return where n log s + p s + q / s is least."""
    return 2.0 * q / (n + np.sqrt(n * n + 4.0 * p * q))


@compiled
def _starting_volumes(volume, shape, scatter, size, previous):
    """Return the volumes from which models VE* search."""
    c, d, width = scatter.shape
    start = np.ones(c)
    if volume == VARIES and shape == EQUAL:
        log_det = inverses(previous[0])[1] if len(previous) else np.full(c, -np.inf)
        for k in range(c):
            start[k] = np.exp(log_det[k] / d)
            if start[k] == 0.0:  # nothing to start from, or a matrix that rounding made flat
                for p in range(d):
                    start[k] += scatter[k, p, min(p, width - 1)] / (d * size[k])
    return start


@compiled
def _fit_values(volume, shape, size, slope, values, volumes, tolerance, rounds):
    """Turn scatters along the axes (c, d) into variances, with volumes and shapes as the model says."""
    c, d = values.shape
    if shape == TRIVIAL:  # EII, VII
        n, s, q = d * size.copy(), np.zeros(c), np.zeros(c)
        for k in range(c):
            for p in range(d):
                s[k] += slope[k, p]
                q[k] += values[k, p]
        for k in range(c):
            own = _least(n.sum(), s.sum(), q.sum()) if volume == EQUAL else _least(n[k], s[k], q[k])
            for p in range(d):
                values[k, p] = own
    elif volume == EQUAL and shape == EQUAL:  # EEI, EEV
        for p in range(d):
            pooled = _least(size.sum(), slope[:, p].sum(), values[:, p].sum())
            for k in range(c):
                values[k, p] = pooled
    elif shape == EQUAL:  # VEI, VEV
        _equal_shape(size, slope, values, volumes, tolerance, rounds)
    else:  # VVI, VVE, and with other sizes EVI, EVE
        n = size.copy()
        if volume == EQUAL:
            log_det, product = np.zeros(c), np.zeros((c, d))
            for k in range(c):
                for p in range(d):
                    log_det[k] += np.log(values[k, p])
                    product[k, p] = slope[k, p] * values[k, p]
            n = _equal_volume_sizes(size, log_det, product)
        for k in range(c):
            for p in range(d):
                values[k, p] = _least(n[k], slope[k, p], values[k, p])


@compiled
def _equal_shape(size, slope, values, volume, tolerance, rounds):
    """Find λ_k a_j: the shape a and the volumes λ in turn, each by a sum of scalar problems."""
    c, d = values.shape
    shape = np.empty(d)
    for _ in range(rounds):
        for p in range(d):
            s = q = 0.0
            for k in range(c):
                s += volume[k] * slope[k, p]
                q += values[k, p] / volume[k]
            shape[p] = _least(size.sum(), s, q)
        moved = 0.0
        for k in range(c):
            s = q = 0.0
            for p in range(d):
                s += shape[p] * slope[k, p]
                q += values[k, p] / shape[p]
            last, volume[k] = volume[k], _least(d * size[k], s, q)
            moved = max(moved, abs(volume[k] / last - 1.0))
        if moved <= tolerance:
            break
    for k in range(c):
        for p in range(d):
            values[k, p] = volume[k] * shape[p]


@compiled
def _equal_volume_sizes(size, offset, product):
    r"""Return sizes :math:`\mu_k` of the same sum for which all log determinants are equal.

    With them in place of :math:`n_k` the free rules solve the problem of equal volumes: they are its multipliers. The
    log determinant of cluster k is ``offset[k]`` plus :math:`\sum_j \log 2/(\mu_k + \sqrt{\mu_k^2 + 4 m_{kj}})` with
    the products :math:`m_{kj}` of slopes and scatters, the gradient of a concave function of the multipliers, which
    Newton's steps climb. Without slopes the solution is known: each size is proportional to the cluster's volume.
    """
    c, d = product.shape
    mu, total = np.empty(c), size.sum()
    if not product.any():
        for k in range(c):
            mu[k] = np.exp((offset[k] - offset.max()) / d)
        return mu * (total / mu.sum())
    for k in range(c):  # a cluster whose products vanish needs a positive multiplier; otherwise any sign will do
        mu[k] = max(size[k], 1e-3 * total / c)
    mu *= total / mu.sum()
    log_det, curvature, tried = np.empty(c), np.empty(c), np.empty(c)
    height = _dual(mu, offset, product, log_det, curvature)
    for _ in range(NEWTON_STEPS):
        level = (log_det / curvature).sum() / (1.0 / curvature).sum()
        if np.abs(log_det - level).max() <= 1e-11 * max(1.0, abs(level)):
            break
        step, fraction, better = (log_det - level) / curvature, 1.0, False
        for _ in range(60):
            tried[:] = mu + fraction * step
            following = _dual(tried, offset, product, log_det, curvature)
            better = following >= height - 1e-15 * abs(height)
            if better:
                break
            fraction /= 2.0
        if not better:
            break
        mu[:], height = tried, following
    return mu


@compiled
def _dual(mu, offset, product, log_det, curvature):
    """Return the concave function of :func:`_equal_volume_sizes`, -inf outside its domain; write its derivatives."""
    c, d = product.shape
    height, inside = 0.0, True
    for k in range(c):
        log_det[k], curvature[k] = offset[k], 0.0
        for j in range(d):
            inside = inside and (mu[k] > 0.0 or product[k, j] > 0.0)
            root = np.sqrt(mu[k] * mu[k] + 4.0 * product[k, j])
            log_det[k] += np.log(2.0 / (mu[k] + root))
            curvature[k] += 1.0 / root
            height += root
        height += mu[k] * log_det[k]
    return height if inside else -np.inf


@compiled
def _spectrum(slope, scatter, base):
    """Write B, with B B^T = Q and B^T P B = diag(m), and return m: in these coordinates the matrices are numbers."""
    d = len(scatter)
    factor, turned = np.zeros((d, d)), np.empty((1, d, d))
    if not cholesky(scatter, factor):
        base[:] = 0.0
        return np.zeros(d)
    congruent(slope, factor, turned[0])
    m, vectors = eigenvectors(turned)
    for p in range(d):
        for j in range(d):
            base[p, j] = 0.0
            for q in range(p + 1):
                base[p, j] += factor[p, q] * vectors[0, q, j]
        m[0, p] = max(m[0, p], 0.0)
    return m[0]


@compiled
def _least_matrix(size, slope, scatter, result):
    """Write the matrix at which n log|S| + tr(P S) + tr(Q S^-1) is least; ``slope`` is empty where P is zero."""
    d = len(scatter)
    if len(slope) == 0:
        for p in range(d):
            for q in range(d):
                result[p, q] = scatter[p, q] / size
        return
    base = np.empty((d, d))
    values = _spectrum(slope[0], scatter, base)
    for j in range(d):
        values[j] = _least(size, values[j], 1.0)
    _along(base, values, result)


@compiled
def _weighted_sum(weights, matrices, result):
    """Write Σ_k weights_k M_k."""
    c, d, _ = matrices.shape
    for p in range(d):
        for q in range(d):
            result[p, q] = 0.0
            for k in range(c):
                result[p, q] += weights[k] * matrices[k, p, q]


@compiled
def _one_matrix(volume, size, slope, scatter, volumes, tolerance, rounds, result):
    """Write λ_k C: the common matrix C (EEE), and in turn with it the volumes λ (VEE)."""
    c, d, _ = scatter.shape
    common, pooled = np.empty((1, d, d)), np.empty((d, d))
    pooled_slope = np.empty((len(slope), d, d))
    for _ in range(rounds):
        _weighted_sum(1.0 / volumes, scatter, pooled)
        if len(slope):
            _weighted_sum(volumes, slope[0], pooled_slope[0])
        _least_matrix(size.sum(), pooled_slope, pooled, common[0])
        if volume == EQUAL:
            break
        inverse, moved = inverses(common)[0], 0.0
        for k in range(c):
            s = q = 0.0
            for i in range(d):
                for j in range(d):
                    q += scatter[k, i, j] * inverse[0, i, j]
                    if len(slope):
                        s += slope[0, k, i, j] * common[0, i, j]
            last, volumes[k] = volumes[k], _least(d * size[k], s, q)
            moved = max(moved, abs(volumes[k] / last - 1.0))
        if moved <= tolerance:
            break
    for k in range(c):
        for p in range(d):
            for q in range(d):
                result[k, p, q] = volumes[k] * common[0, p, q]


@compiled
def _own_matrices(volume, size, slope, scatter, result):
    """Write the least matrix of each cluster (VVV), by sizes that make the volumes equal (EVV)."""
    c, d, _ = scatter.shape
    n = size.copy()
    if volume == EQUAL:
        product, base = np.zeros((c, d)), np.empty((d, d))
        if len(slope):
            for k in range(c):
                product[k] = _spectrum(slope[0, k], scatter[k], base)
        n = _equal_volume_sizes(size, inverses(scatter)[1], product)
    own = np.empty((len(slope), d, d))
    for k in range(c):
        if len(slope):
            own[0] = slope[0, k]
        _least_matrix(n[k], own, scatter[k], result[k])


@compiled
def _best_axes(volume, orientation, scatter, size, previous, tolerance):
    """Return axes and the scatters along them, (c, d): the clusters' own axes, or common ones."""
    _, c, d, _ = scatter.shape
    if orientation == VARIES:
        values, axes = eigenvectors(scatter[0])
        return axes, values
    mixed = np.empty((1, d, d))
    if len(previous):
        _weighted_sum(uneven_shares(c), previous[0], mixed[0])
    else:
        _weighted_sum(np.ones(c), scatter[0], mixed[0])
    axes = common_axes(scatter, size, volume == EQUAL, eigenvectors(mixed)[1], tolerance)
    values = np.empty((c, d))
    for k in range(c):
        _values_along(axes[0], scatter[0, k], values[k])
    return axes, values


@compiled
def _values_along(axes, matrix, values):
    """Write the diagonal of D^T M D."""
    d = len(matrix)
    for j in range(d):
        values[j] = 0.0
        for p in range(d):
            for q in range(d):
                values[j] += axes[p, j] * matrix[p, q] * axes[q, j]


@compiled
def _turn_axes(letters, size, slope, scatter, previous, volumes, tolerance, rounds, result):
    """Write axes, common or the clusters' own, and variances along them, found in turn from those before."""
    volume, shape, orientation = letters
    c, d, _ = scatter.shape
    mixed, shared = np.empty((1, d, d)), orientation == EQUAL
    if shared:
        _weighted_sum(uneven_shares(c), previous, mixed[0])
    axes = eigenvectors(mixed if shared else previous)[1]
    variances, slopes, last = np.empty((c, d)), np.empty((c, d)), np.empty((c, d))
    for k in range(c):
        _values_along(axes[0 if shared else k], previous[k], variances[k])
    group = c if shared else 1  # clusters whose axes are turned together
    matrices, weights = np.empty((2 * group, d, d)), np.empty((2 * group, d))
    for _ in range(rounds):
        for first in range(0, c, group):
            for k in range(group):
                matrices[k], matrices[group + k] = slope[first + k], scatter[first + k]
                weights[k], weights[group + k] = variances[first + k], 1.0 / variances[first + k]
            at = 0 if shared else first
            axes[at] = turned_axes(matrices, weights, axes[at])
        last[:] = variances
        for k in range(c):
            own = axes[0 if shared else k]
            _values_along(own, slope[k], slopes[k])
            _values_along(own, scatter[k], variances[k])
        _fit_values(volume, shape, size, slopes, variances, volumes, tolerance, rounds)
        if np.abs(variances / last - 1.0).max() <= tolerance:
            break
    _compose(axes, variances, result)


@compiled
def _compose(axes, values, result):
    """Write D_k diag(a_k) D_k^T, with own or common axes."""
    for k in range(len(values)):
        _along(axes[min(k, len(axes) - 1)], values[k], result[k])


@compiled
def _along(axes, values, result):
    """Write D diag(a) D^T."""
    d = len(values)
    for p in range(d):
        for q in range(p, d):
            total = 0.0
            for j in range(d):
                total += axes[p, j] * values[j] * axes[q, j]
            result[p, q] = result[q, p] = total
