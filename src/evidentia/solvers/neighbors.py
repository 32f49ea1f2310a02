"""Nearest neighbors of the rows of a table or of a matrix of dissimilarities; never an n × n array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

DEFAULT_FACTOR, DEFAULT_MOST = 3, 100


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
    found = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(X).kneighbors(queries)
    return found[0], found[1]


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
