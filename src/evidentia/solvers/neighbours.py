"""Nearest neighbours of the rows of a table or of a matrix of dissimilarities; never an n × n array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
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

    Without ``queries`` the neighbours of the rows themselves, a row not counting as its own neighbour. With
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


def distances_from(X: np.ndarray, some: np.ndarray, *, metric: Any = "euclidean") -> np.ndarray:
    """Distances of some rows to all rows, shape (n_some, n)."""
    return X[some] if metric == "precomputed" else pairwise_distances(X[some], X, metric=metric)
