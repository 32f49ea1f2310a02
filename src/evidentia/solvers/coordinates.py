"""Coordinates in which the data have no units: centered, and scaled by their own spread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.blocks import row_blocks

RANK_TOLERANCE = 1e-10  # of the correlation matrix: below it, columns are combinations of each other


class Coordinates(NamedTuple):
    """An affine map ``y = (x - origin) @ forward`` and its inverse on the subspace the data live in.

    ``log_jacobian`` is what a log density in y gains when it is expressed in x. Directions without any spread
    (constant columns, exact combinations of columns) are left out, so y may have fewer columns than x.
    """

    origin: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    log_jacobian: float

    def to(self, X: np.ndarray) -> np.ndarray:
        """Rows in y; an entry that depends on a missing one is missing."""
        Y = X - self.origin
        if not np.isnan(Y.sum()):
            return Y @ self.forward
        missing = np.isnan(Y)
        Y = np.nan_to_num(Y, copy=False) @ self.forward
        Y[missing @ (self.forward != 0)] = np.nan
        return Y

    def back(self, Y: np.ndarray) -> np.ndarray:
        return Y @ self.backward + self.origin

    def log_jacobian_of(self, observed: np.ndarray) -> float:
        """``log_jacobian`` of some of the columns; a part needs a map that scales columns one by one."""
        if len(observed) == self.forward.shape[1]:
            return self.log_jacobian
        return float(np.log(self.forward[:, observed].sum(axis=0)).sum())


def columnwise(origin: np.ndarray, deviation: np.ndarray) -> Coordinates:
    """Each column scaled by its own deviation; columns without any are left out."""
    kept = np.flatnonzero(deviation)
    scale = np.diag(deviation)
    forward = np.diag(1 / np.where(deviation == 0, 1, deviation))
    return Coordinates(origin, forward[:, kept], scale[kept], -float(np.log(deviation[kept]).sum()))


def _moments(X: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance in two passes over blocks of rows."""
    mean = np.average(X, axis=0, weights=weight)
    covariance = np.zeros((X.shape[1], X.shape[1]))
    for block in row_blocks(len(X), X.shape[1]):
        centered = X[block] - mean
        covariance += centered.T @ (centered if weight is None else weight[block, None] * centered)
    return mean, covariance / (len(X) if weight is None else weight.sum())


def _observed_moments(X: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and diagonal covariance over the observed entries of each column."""
    share = ~np.isnan(X) * (1.0 if weight is None else weight[:, None])
    total = share.sum(axis=0)
    filled = np.nan_to_num(X)
    mean = (share * filled).sum(axis=0) / total
    return mean, np.diag((share * np.square(filled - mean)).sum(axis=0) / total)


def unit_free(X: np.ndarray, weight: np.ndarray | None = None, *, kind: str = "full") -> Coordinates:
    """Coordinates fit to a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN is a missing entry; with any of them ``"full"`` scales columns one by one, as ``"diag"`` does.
    weight : ndarray of shape (n_samples,), optional
    kind : {"full", "diag", "spherical"}
        Whiten; scale each column; or scale all columns alike. A model whose covariance is diagonal (spherical) in x is
        diagonal (spherical) in these coordinates too.
    """
    missing = bool(np.isnan(X.sum()))
    mean, covariance = (_observed_moments if missing else _moments)(X, weight)
    deviation = np.sqrt(np.diag(covariance))
    spread = deviation > 10 * np.finfo(float).eps * np.abs(mean)
    if not spread.any():
        raise ValueError("All rows of X are equal, so there are no clusters to find in it.")
    deviation[~spread] = 0
    if kind == "spherical":
        return columnwise(mean, np.full(len(mean), np.sqrt(np.square(deviation).mean())))
    scaled = columnwise(mean, deviation)
    if kind == "diag" or missing:
        return scaled
    values, vectors = np.linalg.eigh(scaled.forward.T @ covariance @ scaled.forward)
    vectors, root = vectors[:, values > RANK_TOLERANCE], np.sqrt(values[values > RANK_TOLERANCE])
    return Coordinates(
        mean,
        scaled.forward @ (vectors / root),
        (vectors * root).T @ scaled.backward,
        scaled.log_jacobian - float(np.log(root).sum()),
    )
