"""Nearest neighbors of the rows of a table or of a matrix of dissimilarities; never an n × n array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from evidentia.solvers.threads import n_threads, one_openmp_thread, thread_pool

DEFAULT_FACTOR, DEFAULT_MOST = 3, 100
ROWS = 1024  # looked up at a time
ALONE = 4 * ROWS  # below so many rows to look up, further threads gain nothing
FAR = 100  # ranges of most values from zero: beyond it squares of the values leave few digits to those of differences
FEW = 64  # rows, that a tree is as quick for
LOOKED_AT = 1_000  # rows that these are taken from
SHIFTED = ("euclidean", "l2", "sqeuclidean", "minkowski")  # metrics that scikit-learn computes from such squares


def default_n_neighbors(n: int) -> int:
    """Three times the square root of n, at most 100 and fewer than n.

    Examples
    --------
    >>> default_n_neighbors(400), default_n_neighbors(5), default_n_neighbors(10**6)
    (60, 4, 100)
    """
    return max(1, min(round(DEFAULT_FACTOR * np.sqrt(n)), DEFAULT_MOST, n - 1))


def nearest(
    X: np.ndarray, n_neighbors: int, *, metric: Any = "euclidean", queries: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Distances to the nearest rows and their numbers, nearest first, both of shape (n_queries, n_neighbors).

    Without ``queries`` the neighbors of the rows themselves, a row not counting as its own neighbor. With
    ``metric="precomputed"`` X is the matrix (n, n) and ``queries`` the dissimilarities (n_queries, n) to its objects.

    Examples
    --------
    >>> nearest(np.array([[0.0], [1.0], [5.0]]), 1)
    (array([[1.],
           [1.],
           [4.]]), array([[1],
           [0],
           [1]]))
    """
    if isinstance(metric, str) and metric in SHIFTED:
        X, queries = near_zero(X, queries)
    # A tree measures differences: two rows are as far from each other as the other way round, to the last bit.
    by_tree = metric == "euclidean" and len(X) <= FEW
    tool = NearestNeighbors(n_neighbors=n_neighbors, metric=metric, algorithm="kd_tree" if by_tree else "auto").fit(X)
    rows = X if queries is None else queries

    def look_up(start: int) -> tuple[np.ndarray, np.ndarray]:
        block = rows[start : start + ROWS]
        with one_openmp_thread():
            distance, number = tool.kneighbors(block, n_neighbors + (queries is None))
        return (distance, number) if queries is not None else _without_self(distance, number, start)

    with thread_pool(n_threads() if len(rows) >= ALONE else 1) as each:
        distance, number = zip(*each(look_up, range(0, max(len(rows), 1), ROWS)))
    return np.concatenate(distance), np.concatenate(number)


def near_zero(X: np.ndarray, queries: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows, and others, less an offset that they have in common; exact, and ordinary tables are left as they are.

    Examples
    --------
    >>> near_zero(np.array([[1e9, 0.0], [1e9 + 2, 8.0]]))[0]
    array([[0., 0.],
           [2., 8.]])
    """
    offset = common_offset(X)
    if not offset.any():
        return X, queries
    return X - offset, None if queries is None else queries - offset


def common_offset(X: np.ndarray) -> np.ndarray:
    """What most rows have in common, for each column: one of their values where they are far from zero, else nothing.

    Examples
    --------
    >>> common_offset(np.array([[1e9, 0.0, 0.1], [1e9 + 2, 8.0, 0.1]]))
    array([1.e+09, 0.e+00, 1.e-01])
    """
    few = X[:: -(-len(X) // LOOKED_AT)]
    low, high = np.quantile(few, 0.25, axis=0, method="lower"), np.quantile(few, 0.75, axis=0, method="higher")
    return np.where(np.maximum(np.abs(low), np.abs(high)) > FAR * (high - low), low, 0.0)


def _without_self(distance: np.ndarray, number: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbors of the rows from ``first`` on but the row itself; where equal rows crowd it out, but the first."""
    own = number == np.arange(first, first + len(number))[:, None]
    own[:, 0] |= ~own.any(axis=1)
    shape = len(number), number.shape[1] - 1
    return distance[~own].reshape(shape), number[~own].reshape(shape)


def distances(one: np.ndarray, other: np.ndarray, *, metric: Any = "euclidean") -> np.ndarray:
    """Distances of some rows to others, shape (n_one, n_other).

    Examples
    --------
    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0]]))
    array([[5., 1.]])
    """
    if isinstance(metric, str) and metric == "euclidean":  # scikit-learn's loses digits when rows are near each other
        return cdist(one, other)
    return pairwise_distances(one, other, metric=metric)
