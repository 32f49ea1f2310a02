"""Two coordinates of every object for a picture: two columns of the table, or its principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Plane", "choose_plane", "fill_missing", "principal_plane"]

Columns = str | tuple[int | str, int | str] | None


class Plane(NamedTuple):
    """The plane a picture shows: coordinates are ``(X - origin) @ axes``, and ``names`` what they are called.

    ``axes`` has shape (n_features, 2); for two columns it just picks them, and ``origin`` is zero. ``share`` is the
    part of the variance that principal components hold, None for columns.
    """

    origin: np.ndarray
    axes: np.ndarray
    names: tuple[str, str]
    share: float | None = None

    def project(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of rows, shape (n_samples, 2); a missing entry matters only where its column counts."""
        there = np.isfinite(X)
        found = np.where(there, X - self.origin, 0) @ self.axes
        found[~there @ (self.axes != 0)] = np.nan
        return found


def read_fitted(model: Any, name: str, otherwise: str) -> Any:
    """Return what a fit left under a name, or refuse a model without it: ``otherwise`` says what kind it may be."""
    value = getattr(model, name, None)
    if value is None:
        raise ValueError(f"{type(model).__name__} has no {name}: fit it first, or {otherwise}.")
    return value


def to_table(X: Any) -> np.ndarray:
    """Rows as doubles, shape (n_samples, n_features)."""
    try:
        table = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"'X' must hold numbers only: {error}. Drop or encode the other columns.") from error
    if table.ndim != 2:
        raise ValueError(f"'X' must be a table with rows and columns. Got an array of shape {table.shape}.")
    return table


def column_names(X: Any, feature_names: Sequence[str] | None, n_features: int) -> list[str]:
    """What the columns are called: as given, as in the DataFrame, or by number."""
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    if feature_names is None:
        return [f"column {j}" for j in range(n_features)]
    if len(feature_names) != n_features:
        raise ValueError(f"'feature_names' must name {n_features} columns. Got {len(feature_names)} names.")
    return [str(name) for name in feature_names]


def column_numbers(columns: Sequence[int | str], names: Sequence[str]) -> tuple[int, int]:
    """Positions of two different columns that were given by number or by name."""
    if len(columns) != 2 or isinstance(columns, str):
        raise ValueError(f"'columns' must be two columns, or 'pca'. Got {columns!r}.")
    found = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"There is no column {column!r}. The columns are: {', '.join(names[:20])}.")
            found.append(names.index(column))
        elif -len(names) <= column < len(names):
            found.append(int(column) % len(names))
        else:
            raise ValueError(f"There is no column {column}: the table has {len(names)}, counted from 0.")
    return found[0], found[1]


def choose_plane(table: np.ndarray, names: Sequence[str], columns: Columns) -> Plane:
    """The plane of two columns (the first two when ``columns`` is None) or of two principal components."""
    n_features = table.shape[1]
    if isinstance(columns, str):
        if columns != "pca":
            raise ValueError(f"'columns' must be two columns, or 'pca'. Got {columns!r}.")
        return principal_plane(table)
    i, j = column_numbers((0, 1) if columns is None else columns, names)
    axes = np.zeros((n_features, 2))
    axes[[i, j], [0, 1]] = 1
    return Plane(np.zeros(n_features), axes, (names[i], names[j]))


def fill_missing(table: np.ndarray) -> np.ndarray:
    """NaN replaced by the mean of its column, for projections that need every entry."""
    missing = np.isnan(table)
    mean = np.where(missing, 0.0, table).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, mean, table)


def principal_plane(table: np.ndarray, *, standardize: bool = False) -> Plane:
    """The plane of the first two principal components of a table without gaps, of its standardized columns if asked.

    Examples
    --------
    >>> table = np.array([[0, 0, 3], [1, 200, 3], [2, 400, 3], [3, 0, 3]])
    >>> principal_plane(table).names
    ('PC 1 (100 %)', 'PC 2 (0 %)')
    >>> principal_plane(table, standardize=True).names
    ('PC 1 (57 %)', 'PC 2 (43 %)')
    """
    origin = table.mean(axis=0)
    width = table.std(axis=0) if standardize else np.ones(table.shape[1])
    flat = width <= 1e-12 * np.abs(origin)
    weight = np.where(flat, 0.0, 1 / np.where(flat, 1.0, width))
    centered = (table - origin) * weight
    if len(table) > 10 * table.shape[1]:  # a long table: its few columns' scatter is quicker
        squares, vectors = np.linalg.eigh(centered.T @ centered)
        spread, loadings = np.sqrt(np.maximum(squares[::-1], 0.0)), vectors.T[::-1]
    else:
        _, spread, loadings = np.linalg.svd(centered, full_matrices=False)
    axes = np.zeros((table.shape[1], 2))
    axes[:, : min(2, len(loadings))] = loadings[:2].T
    # An axis and its mirror image explain as much: let the largest loading be positive, so that pictures agree.
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    share = np.append(spread**2 / max((spread**2).sum(), np.finfo(float).tiny), 0)
    names = (f"PC 1 ({100 * share[0]:.0f} %)", f"PC 2 ({100 * share[1]:.0f} %)")
    return Plane(origin, axes * weight[:, None], names, float(share[0] + share[1]))
