"""Where the objects are: distances of certain and uncertain objects, and groups of them to begin with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.neighbors import kneighbors_graph

from evidentia.belief import FocalSets
from evidentia.dissimilarities import Source, Table
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.neighbors import near_zero

SAMPLE = 1_000_000  # distances that a quantile is taken from
QUANTILE = 0.25
NEIGHBORS = 10
SEEN = 500  # leaves whose pairs say how good a cut is


@dataclass(frozen=True, eq=False)
class Places:
    """The leaves of the tree.

    Attributes
    ----------
    source : Source
        How unlike they are.
    spread : ndarray of shape (n_leaves,)
        Sum of the variances of the values of each; zero when they are certain.
    weight : ndarray of shape (n_leaves,)
        Objects in each.
    """

    source: Source
    spread: np.ndarray
    weight: np.ndarray

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def rows(self) -> np.ndarray | None:
        """Rows of numbers with Euclidean distances, which have means and variances; None for all else."""
        if isinstance(self.source, Table) and self.source.metric == "euclidean":
            return self.source.rows
        return None

    def squared_from(self, new: Any, spread: np.ndarray | None = None) -> np.ndarray:
        r"""Expected squared distances :math:`\|x - y\|^2 + \sum_p (\sigma_{xp}^2 + \sigma_{yp}^2)` of others to all."""
        if self.rows is None:
            return np.square(self.source.from_new(new, slice(None)))
        squared = cdist(new, self.rows, "sqeuclidean") + self.spread
        return squared if spread is None else squared + spread[:, None]

    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        """At most 500 of the leaves, at even steps, and the squared distances between them, full."""
        m = min(SEEN, len(self))
        leaves = np.arange(m) * len(self) // m
        if self.rows is None:
            return leaves, np.square(self.source.block(leaves, leaves))
        squared = cdist(self.rows[leaves], self.rows[leaves], "sqeuclidean")
        return leaves, squared + np.add.outer(self.spread[leaves], self.spread[leaves])

    def pack(self) -> np.ndarray:
        """Squared distances of all pairs as a packed lower triangle, see :mod:`evidentia.hierarchy._merge`."""
        n = len(self)
        if self.rows is not None:
            # The triangle of the pairs in reverse order, read backwards, is the one of the other side.
            out = pdist(self.rows[::-1], "sqeuclidean")[::-1].copy()
            if self.spread.any():
                for i in range(1, n):
                    out[i * (i - 1) // 2 : i * (i + 1) // 2] += self.spread[:i] + self.spread[i]
            return out
        out = np.empty(n * (n - 1) // 2)
        for rows in row_blocks(n, n):
            block = self.source.block(rows, slice(rows.stop))
            for i, row in enumerate(block, rows.start):
                np.square(row[:i], out=out[i * (i - 1) // 2 : i * (i + 1) // 2])
        return out


def reference_distance(squared: np.ndarray) -> float:
    """Lower quartile of the squared distances above zero, one if there is none."""
    seen = squared[:: max(1, len(squared) // SAMPLE)]
    seen = seen[seen > 0]
    return float(np.quantile(seen, QUANTILE)) if seen.size else 1.0


def jousselme_coordinates(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Coordinates whose Euclidean distances are Jousselme's between mass functions, shape (n_samples, n_focal).

    The matrix D of Jaccard indices has a root, so :math:`\tfrac12 (m - m')^T D (m - m')` is a squared distance between
    the rows :math:`m D^{1/2} / \sqrt 2`.

    Examples
    --------
    >>> rows = jousselme_coordinates(np.eye(4)[1:], FocalSets(2))  # {0}, {1} and ignorance
    >>> cdist(rows, rows).round(3)
    array([[0.   , 1.   , 0.707],
           [1.   , 0.   , 0.707],
           [0.707, 0.707, 0.   ]])
    """
    shared = focal_sets.member @ focal_sets.member.T
    joined = focal_sets.card[:, None] + focal_sets.card - shared
    jaccard = np.divide(shared, joined, out=np.ones_like(shared), where=joined > 0)
    values, vectors = np.linalg.eigh(jaccard)
    return masses @ (vectors * np.sqrt(np.maximum(values, 0) / 2)) @ vectors.T


def group_rows(table: np.ndarray, n_groups: int, grouping: str, rng: Any) -> np.ndarray:
    """Group of each row, numbered from 0: by k-means, or by Ward merges along a graph of nearest neighbors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", UserWarning)  # equal rows are one group
        warnings.filterwarnings("ignore", "the number of connected components", UserWarning)  # bridged, as wanted
        if grouping == "k-means":
            found = KMeans(n_groups, n_init=1, random_state=rng).fit_predict(table)
        else:
            table = near_zero(table)[0]
            graph = kneighbors_graph(table, min(NEIGHBORS, len(table) - 1))
            found = AgglomerativeClustering(n_groups, connectivity=graph, linkage="ward").fit_predict(table)
    return np.unique(found, return_inverse=True)[1]


def group_means(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Mean of the rows of each group."""
    total = np.zeros((groups.max() + 1, *values.shape[1:]))
    np.add.at(total, groups, values)
    return (total.T / np.bincount(groups)).T
