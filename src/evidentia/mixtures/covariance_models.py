r"""The fourteen covariance models of Gaussian clusters (Celeux & Govaert, 1995).

The covariance of cluster k is :math:`\Sigma_k = \lambda_k D_k A_k D_k^T`: volume :math:`\lambda_k`, shape
:math:`A_k` (diagonal, determinant one) and orientation :math:`D_k`. The three letters of a model say, in this order,
whether each is equal (E) for all clusters, varies (V), or is trivial (I): in ``"VEV"`` clusters have their own volume
and orientation and one shape.

Every rule below maximizes the likelihood, that is, it minimizes

.. math:: \sum_k n_k \log|\Sigma_k| + \mathrm{tr}(\Sigma_k^{-1} W_k)

over the covariances the model allows, for :math:`W_k = \sum_i w_i r_{ik} (x_i-\mu_k)(x_i-\mu_k)^T` and
:math:`n_k = \sum_i w_i r_{ik}`. Leading axes are independent problems, solved together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evidentia.solvers.small_matrices import common_axes, eigenvectors, inverses

MODELS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV")
INNER_TOLERANCE = 1e-9  # relative change of volumes at which inner iterations end
INNER_ITERATIONS = 500
TURN_TOLERANCE = 1e-6  # sine of the last turn of common axes; the likelihood feels its square
GOLDEN = (5**0.5 - 1) / 2


def covariances(model: str, scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None = None) -> np.ndarray:
    """Covariances of highest likelihood under a model.

    Parameters
    ----------
    model : str
        One of ``MODELS``.
    scatter : ndarray of shape (m, c, d, d)
        Positive definite.
    size : ndarray of shape (m, c)
    previous : ndarray of shape (m, c, d, d), optional
        Covariances of the same model to start inner iterations from.

    Returns
    -------
    ndarray of shape (m, c, d, d)

    Examples
    --------
    >>> scatter = np.array([[np.diag([4.0, 1.0]), np.diag([2.0, 8.0])]])
    >>> covariances("EEI", scatter, np.array([[2.0, 1.0]]))[0, 0]
    array([[2., 0.],
           [0., 3.]])
    """
    return _RULES[model](scatter, size, previous)


def n_covariance_parameters(model: str, n_clusters: int, n_features: int) -> int:
    """Free parameters of the covariances: volumes, shapes and orientations.

    Examples
    --------
    >>> n_covariance_parameters("VEV", 3, 4)
    24
    """
    copies = {"E": 1, "V": n_clusters, "I": 0}
    volume, shape, orientation = (copies[letter] for letter in model)
    return volume + shape * (n_features - 1) + orientation * (n_features * (n_features - 1) // 2)


def _diagonal(matrices: np.ndarray) -> np.ndarray:
    return np.einsum("...jj->...j", matrices)


def _matrices(diagonal: np.ndarray) -> np.ndarray:
    return diagonal[..., None] * np.eye(diagonal.shape[-1])


def _along(axes: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """D diag(a) D^T."""
    return (axes * diagonal[..., None, :]) @ axes.swapaxes(-1, -2)


def _geometric_mean(diagonal: np.ndarray) -> np.ndarray:
    """Of the last axis, kept."""
    return np.exp(np.log(diagonal).mean(axis=-1, keepdims=True))


def _inverses(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses, and the d-th roots of the determinants: the volumes."""
    d = matrices.shape[-1]
    inverse, log_det = inverses(np.ascontiguousarray(matrices).reshape(-1, d, d))
    return inverse.reshape(matrices.shape), np.exp(log_det / d).reshape(matrices.shape[:-2])


def _eigenvectors(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = eigenvectors(np.ascontiguousarray(matrices).reshape(-1, *matrices.shape[-2:]))
    return values.reshape(matrices.shape[:-1]), vectors.reshape(matrices.shape)


def _pooled(matrices: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Sum over the components, divided by their total size, for every component."""
    total = size.sum(axis=1).reshape(-1, *[1] * (matrices.ndim - 1))
    return np.broadcast_to(matrices.sum(axis=1, keepdims=True) / total, matrices.shape)


def _own(matrices: np.ndarray, size: np.ndarray) -> np.ndarray:
    return matrices / size.reshape(*size.shape, *[1] * (matrices.ndim - 2))


def _equal_volume(shape: np.ndarray, volume: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Scatters (or their eigenvalues) rescaled to one volume: W_k / |W_k|^(1/d) times the mean of |W_k|^(1/d)."""
    return shape * (_pooled(volume, size) / volume).reshape(*size.shape, *[1] * (shape.ndim - 2))


def _volumes(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    """Where the search for volumes starts."""
    d = scatter.shape[-1]
    return _diagonal(scatter).sum(axis=-1) / (d * size) if previous is None else _inverses(previous)[1]


def _equal_shape(values: np.ndarray, size: np.ndarray, volume: np.ndarray) -> np.ndarray:
    """λ_k a_j from the eigenvalues of W_k: λ_k = Σ_j values_kj / a_j / (d n_k) and a ∝ Σ_k values_k / λ_k in turn."""
    for _ in range(INNER_ITERATIONS):
        shape = (values / volume[..., None]).sum(axis=1, keepdims=True)
        shape /= _geometric_mean(shape)
        last, volume = volume, (values / shape).mean(axis=-1) / size
        if np.abs(volume / last - 1).max() <= INNER_TOLERANCE:
            break
    return volume[..., None] * shape


def _vee(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    """λ_k C: λ_k = tr(W_k C^-1) / (d n_k) and C ∝ Σ_k W_k / λ_k in turn."""
    d, volume = scatter.shape[-1], _volumes(scatter, size, previous)
    for _ in range(INNER_ITERATIONS):
        common = (scatter / volume[..., None, None]).sum(axis=1, keepdims=True)
        inverse, root = _inverses(common)
        last, volume = volume, (scatter * (inverse * root[..., None, None])).sum(axis=(2, 3)) / (d * size)
        if np.abs(volume / last - 1).max() <= INNER_TOLERANCE:
            break
    return common * (volume / root)[..., None, None]


def _common_axes(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None, equal_volume: bool) -> np.ndarray:
    if previous is None:
        mixed = scatter.sum(axis=1)
    else:  # any sum has the common axes; unequal shares keep eigenvalues from tying by symmetry
        mixed = np.tensordot(previous, 0.5 + GOLDEN * np.arange(1, size.shape[1] + 1) % 1, axes=(1, 0))
    start = _eigenvectors(mixed)[1]
    return common_axes(np.ascontiguousarray(scatter), size, equal_volume, start, TURN_TOLERANCE)[:, None]


def _eve(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    axes = _common_axes(scatter, size, previous, True)
    values = _diagonal(axes.swapaxes(-1, -2) @ scatter @ axes)
    return _along(axes, _equal_volume(values, _geometric_mean(values)[..., 0], size))


def _vve(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    axes = _common_axes(scatter, size, previous, False)
    return _along(axes, _own(_diagonal(axes.swapaxes(-1, -2) @ scatter @ axes), size))


def _eei(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _matrices(_pooled(_diagonal(scatter), size))


def _eii(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _pooled(_diagonal(scatter).mean(axis=-1), size)[..., None, None] * np.eye(scatter.shape[-1])


def _vii(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return (_diagonal(scatter).mean(axis=-1) / size)[..., None, None] * np.eye(scatter.shape[-1])


def _vei(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    return _matrices(_equal_shape(_diagonal(scatter), size, _volumes(scatter, size, previous)))


def _evi(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    values = _diagonal(scatter)
    return _matrices(_equal_volume(values, _geometric_mean(values)[..., 0], size))


def _vvi(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _matrices(_own(_diagonal(scatter), size))


def _eee(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _pooled(scatter, size)


def _eev(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    values, axes = _eigenvectors(scatter)
    return _along(axes, _pooled(values, size))


def _vev(scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None) -> np.ndarray:
    values, axes = _eigenvectors(scatter)
    return _along(axes, _equal_shape(values, size, _volumes(scatter, size, previous)))


def _evv(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _equal_volume(scatter, _inverses(scatter)[1], size)


def _vvv(scatter: np.ndarray, size: np.ndarray, _: np.ndarray | None) -> np.ndarray:
    return _own(scatter, size)


Rule = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], np.ndarray]
_RULES: dict[str, Rule] = dict(
    zip(MODELS, (_eii, _vii, _eei, _vei, _evi, _vvi, _eee, _vee, _eve, _vve, _eev, _vev, _evv, _vvv))
)
