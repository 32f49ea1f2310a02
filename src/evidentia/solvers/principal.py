"""Principal components of a table: a way there, a way back, and how many of them are more than noise."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np


class Principal(NamedTuple):
    """Principal components: scores are ``(X - mean) @ axes``, with orthonormal axes (n_features, n_components).

    ``share`` is the part of the total variance that they hold.
    """

    mean: np.ndarray
    axes: np.ndarray
    share: float

    def to(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean) @ self.axes

    def back(self, scores: np.ndarray) -> np.ndarray:
        return scores @ self.axes.T + self.mean

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        return self.axes @ covariance @ self.axes.T

    def covariance_to(self, covariance: np.ndarray) -> np.ndarray:
        return self.axes.T @ covariance @ self.axes

    def variances_to(self, variances: np.ndarray) -> np.ndarray:
        """Variances of the scores when the columns have these and are not correlated."""
        return variances @ np.square(self.axes)


def principal_components(
    X: np.ndarray, weight: np.ndarray | None, n_components: int | float | None, rng: np.random.RandomState
) -> Principal:
    """The first principal components of a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,), optional
    n_components : int, float or None
        How many, or the share of variance they have to hold. None keeps those whose variance is above that of
        the same rank in a table whose columns were shuffled, each on its own (Horn's parallel analysis): they hold what
        columns have in common.
    rng : RandomState
        Shuffles columns.
    """
    share = np.full(len(X), 1 / len(X)) if weight is None else weight / weight.sum()
    mean = share @ X
    scaled = np.sqrt(share)[:, None] * (X - mean)
    _, singular, axes = np.linalg.svd(scaled, full_matrices=False)
    variance = np.square(singular)
    total = float(variance.sum())
    rank = max(1, int((variance > 1e-12 * variance[0]).sum()))
    if n_components is None:
        order = rng.uniform(size=X.shape).argsort(axis=0)
        shuffled = np.sqrt(share)[:, None] * (np.take_along_axis(X, order, axis=0) - mean)
        alone = np.square(np.linalg.svd(shuffled, compute_uv=False))
        kept = int(np.argmax(np.append(variance <= alone, True)))
    elif isinstance(n_components, Integral):
        kept = int(n_components)
    else:
        kept = int(np.searchsorted(np.cumsum(variance), n_components * total * (1 - 1e-12))) + 1
    kept = min(max(kept, 1), rank)
    signs = np.sign(axes[np.arange(kept), np.abs(axes[:kept]).argmax(axis=1)])  # SVD leaves them to chance
    return Principal(mean, axes[:kept].T * signs, float(variance[:kept].sum() / total))


class Independent(NamedTuple):
    """The columns of a table that are no combinations of those before them, and the way back to all."""

    mean: np.ndarray
    kept: np.ndarray
    coefficients: np.ndarray  # (n_kept, n_features)

    def to(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.kept]

    def back(self, part: np.ndarray) -> np.ndarray:
        return (part - self.mean[self.kept]) @ self.coefficients + self.mean

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        return self.coefficients.T @ covariance @ self.coefficients

    def covariance_to(self, covariance: np.ndarray) -> np.ndarray:
        return covariance[np.ix_(self.kept, self.kept)] if covariance.ndim == 2 else covariance[self.kept]

    def variances_to(self, variances: np.ndarray) -> np.ndarray:
        return variances[self.kept]


def independent_columns(X: np.ndarray, tol: float = 1e-5) -> Independent:
    """Leave out constant columns and combinations of earlier ones, to within ``tol`` of their own spread.

    Examples
    --------
    >>> X = np.array([[1.0, 7.0, 0.0], [2.0, 7.0, 1.0], [4.0, 7.0, 3.0], [0.0, 7.0, -1.0]])
    >>> found = independent_columns(X)
    >>> found.kept, bool(np.allclose(found.back(found.to(X)), X))
    (array([0]), True)
    """
    mean = X.mean(axis=0)
    centered = X - mean
    deviation = np.sqrt(np.square(centered).mean(axis=0))
    deviation[deviation <= 10 * np.finfo(float).eps * np.abs(mean)] = 0
    standard = centered / np.where(deviation == 0, 1, deviation) * (deviation > 0)
    steps = np.abs(np.diag(np.linalg.qr(standard, mode="r"))) / np.sqrt(len(X))
    kept = np.flatnonzero(steps > tol)
    return Independent(mean, kept, np.linalg.lstsq(centered[:, kept], centered, rcond=None)[0])
