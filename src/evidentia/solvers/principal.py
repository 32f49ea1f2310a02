"""Principal components of a table: a way there, a way back, and how many of them are more than noise."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np

__all__ = ["is_wide"]

WIDE = 60  # columns: a covariance of more has too many numbers
ROWS_PER_COLUMN = 5  # rows: a table with fewer a column is wide too
MOST_SHUFFLED = 50_000  # rows of a table with shuffled columns


def is_wide(n_rows: float, n_columns: int) -> bool:
    """Whether there are more columns than a covariance for each cluster can take."""
    return n_columns > WIDE or (n_columns > 2 and n_rows < ROWS_PER_COLUMN * n_columns)


class Principal(NamedTuple):
    """Principal components: scores are ``(X - mean) / scale @ axes``, orthonormal axes (n_features, n_components).

    ``share`` is the part of the total variance that they hold.
    """

    mean: np.ndarray
    scale: np.ndarray
    axes: np.ndarray
    share: float

    def transform(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean) / self.scale @ self.axes

    def inverse_transform(self, scores: np.ndarray) -> np.ndarray:
        return scores @ self.axes.T * self.scale + self.mean

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        back = self.axes * self.scale[:, None]
        return back @ covariance @ back.T

    def variances_to(self, variances: np.ndarray) -> np.ndarray:
        """Variances of the scores when the columns have these and are not correlated."""
        return (variances / np.square(self.scale)) @ np.square(self.axes)


def principal_components(
    X: np.ndarray,
    weight: np.ndarray,
    n_components: int | float | None,
    rng: np.random.RandomState,
    scale: np.ndarray | None = None,
) -> Principal:
    """The first principal components of a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
        A row of weight two is two rows.
    n_components : int, float or None
        How many, or the share of variance they have to hold. None keeps those whose variance is above that of
        the same rank in a table whose columns were shuffled, each on its own (Horn's parallel analysis): they hold what
        columns have in common.
    rng : RandomState
        Shuffles columns.
    scale : ndarray of shape (n_features,), optional
        Columns are divided by this first.
    """
    share, scale = weight / weight.sum(), np.ones(X.shape[1]) if scale is None else scale
    mean = share @ X
    scaled = np.sqrt(share)[:, None] * ((X - mean) / scale)
    _, singular, axes = np.linalg.svd(scaled, full_matrices=False)
    variance = np.square(singular)
    total = float(variance.sum())
    rank = max(1, int((variance > 1e-12 * variance[0]).sum()))
    if n_components is None:
        shuffled = (shuffle_columns(X, weight, rng) - mean) / scale
        alone = np.square(np.linalg.svd(shuffled, compute_uv=False)) / len(shuffled)
        compared = min(len(variance), len(alone))
        kept = int(np.argmax(np.append(variance[:compared] <= alone[:compared], True)))
    elif isinstance(n_components, Integral):
        kept = int(n_components)
    else:
        kept = int(np.searchsorted(np.cumsum(variance), n_components * total * (1 - 1e-12))) + 1
    kept = min(max(kept, 1), rank)
    signs = np.sign(axes[np.arange(kept), np.abs(axes[:kept]).argmax(axis=1)])  # SVD leaves them to chance
    return Principal(mean, scale, axes[:kept].T * signs, float(variance[:kept].sum() / total))


def shuffle_columns(X: np.ndarray, weight: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """The values of each column in an order of its own, each as often as its weight says.

    A row of weight two and its two copies, and rows in any order, give the same table.

    Examples
    --------
    >>> X, rng = np.array([[1.0, 5.0], [2.0, 6.0]]), np.random.RandomState(0)
    >>> np.sort(shuffle_columns(X, np.array([2.0, 1.0]), rng), axis=0)
    array([[1., 5.],
           [1., 5.],
           [2., 6.]])
    """
    size = min(max(round(weight.sum()), len(X)), MOST_SHUFFLED)
    shuffled = np.empty((size, X.shape[1]))
    steps = (np.arange(size) + 0.5) / size
    for at, column in enumerate(X.T):
        order = np.argsort(column)
        cumulative = np.cumsum(weight[order])
        drawn = np.searchsorted(cumulative, steps * cumulative[-1])
        shuffled[:, at] = rng.permutation(column[order[drawn]])
    return shuffled


class Independent(NamedTuple):
    """The columns of a table that are no combinations of those before them, and the way back to all."""

    mean: np.ndarray
    kept: np.ndarray
    coefficients: np.ndarray  # (n_kept, n_features)

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.kept]

    def inverse_transform(self, part: np.ndarray) -> np.ndarray:
        return (part - self.mean[self.kept]) @ self.coefficients + self.mean

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        return self.coefficients.T @ covariance @ self.coefficients

    def variances_to(self, variances: np.ndarray) -> np.ndarray:
        return variances[self.kept]


def independent_columns(X: np.ndarray, tol: float = 1e-5) -> Independent:
    """Leave out constant columns and combinations of earlier ones, to within ``tol`` of their own spread.

    Examples
    --------
    >>> X = np.array([[1.0, 7.0, 0.0], [2.0, 7.0, 1.0], [4.0, 7.0, 3.0], [0.0, 7.0, -1.0]])
    >>> found = independent_columns(X)
    >>> found.kept, bool(np.allclose(found.inverse_transform(found.transform(X)), X))
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
