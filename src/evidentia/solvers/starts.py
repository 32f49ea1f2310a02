"""Starting centers that depend on the data and a seed, not on the order or the repetition of rows.

Sampling rows by their number would let a shuffled table, or a table with weights in place of copies, start
elsewhere. Here rows are first put in the order of a random projection, and a uniform number picks a row
through the cumulative weights: the same table, however written, gives the same draw.

The rules have names, which are those of the parameter ``init``: ``START_RULES`` give centers in a table,
``OBJECT_START_RULES`` objects, where there are only dissimilarities.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from evidentia.solvers.memory import row_blocks

REPRESENTATIVES = 20_000  # enough rows to place centers, whatever the size of the table


class Rows(NamedTuple):
    """Rows that stand for a table, in the order of a random projection, with their weights."""

    X: np.ndarray
    weight: np.ndarray


def representative_rows(
    X: np.ndarray, weight: np.ndarray | None, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and weights of all rows, or of 20,000 at even steps, ordered along a random projection."""
    weight = np.ones(len(X)) if weight is None else weight
    order = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
    if len(X) > REPRESENTATIVES:
        steps = (np.arange(REPRESENTATIVES) + 0.5) / REPRESENTATIVES
        return order[_pick(weight[order], steps)], np.ones(REPRESENTATIVES)
    return order, weight[order]


def representatives(X: np.ndarray, weight: np.ndarray | None, rng: np.random.RandomState) -> Rows:
    """Return the rows that :func:`representative_rows` names."""
    chosen, share = representative_rows(X, weight, rng)
    return Rows(X[chosen], share)


def sorted_rows(X: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows in the order of the last column, then of the one before it; NaN comes last.

    Examples
    --------
    >>> sorted_rows(np.array([[0.0, 3.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0], [5.0, 9.0, 0.0, 0.0]])).tolist()
    [2, 1, 0]
    """
    last = X[:, -3:]
    order = np.lexsort(last.T)
    following, before = last[order[1:]], last[order[:-1]]
    tied = ((following == before) | (np.isnan(following) & np.isnan(before))).all(axis=1).any()
    return np.lexsort(X.T) if tied else order


def kmeans_starts(
    X: np.ndarray, n_clusters: int, n_starts: int, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Return centers of ``n_starts`` k-means solutions from k-means++ seeds, each of shape (n_clusters, n_features)."""
    rows = representatives(X, weight, rng)
    for _ in range(n_starts):
        seeds = kmeans_plus_plus(rows, rng.uniform(size=n_clusters))
        with warnings.catch_warnings():  # not around the yield: the caller's warnings are not ours to hide
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than centers: the caller tells
            found = KMeans(n_clusters, init=seeds, n_init=1).fit(rows.X, sample_weight=rows.weight)
        yield found.cluster_centers_


def random_starts(
    X: np.ndarray, n_clusters: int, n_starts: int, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Return rows drawn at random as centers, in proportion to their weights; equal rows only when there are no others.

    Two centers that start at the same place would never part.
    """
    rows = representatives(X, weight, rng)
    for _ in range(n_starts):
        chosen, left = [], rows.weight.copy()
        for draw in rng.uniform(size=n_clusters):
            chosen.append(rows.X[_pick(left if left.any() else rows.weight, draw)])
            left[(chosen[-1] == rows.X).all(axis=1)] = 0
        yield np.array(chosen)


def mixed_starts(
    X: np.ndarray, n_clusters: int, n_starts: int, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Draw half of the starts at k-means solutions, these first, and half at random rows.

    K-means gives far outliers a cluster of their own; random rows seldom do.
    """
    by_means = (n_starts + 1) // 2
    yield from kmeans_starts(X, n_clusters, by_means, rng, weight)
    yield from random_starts(X, n_clusters, n_starts - by_means, rng, weight)


def kmeans_plus_plus(rows: Rows, draws: np.ndarray) -> np.ndarray:
    """Return rows far from each other: each next one is drawn with probability proportional to its squared distance."""
    chosen = [rows.X[_pick(rows.weight, draws[0])]]
    nearest = np.full(len(rows.X), np.inf)
    for draw in draws[1:]:
        for block in row_blocks(*rows.X.shape):
            gap = np.square(rows.X[block] - chosen[-1]).sum(axis=1)
            nearest[block] = np.minimum(nearest[block], gap)
        chances = nearest * rows.weight
        chosen.append(rows.X[_pick(chances if chances.any() else rows.weight, draw)])
    return np.array(chosen)


def spread_starts(
    dissimilarity: np.ndarray, n_clusters: int, n_starts: int, rng: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Draw different objects far from each other, by number: the next in proportion to its least dissimilarity.

    Only copies of those before have none; when nothing else is left, one of these is drawn.

    Examples
    --------
    >>> line = np.array([0.0, 0.0, 5.0])
    >>> starts = spread_starts(np.abs(line[:, None] - line), 2, 9, np.random.RandomState(0))
    >>> {int(abs(line[a] - line[b])) for a, b in starts}
    {5}
    """
    for _ in range(n_starts):
        chosen = [int(rng.randint(len(dissimilarity)))]
        while len(chosen) < n_clusters:
            chances = dissimilarity[chosen].min(axis=0)
            chances[chosen] = 0
            if not chances.any():
                chances = np.ones(len(chances))
                chances[chosen] = 0
            chosen.append(int(_pick(chances, rng.uniform())))
        yield np.array(chosen)


def _pick(chances: np.ndarray, draws: Any) -> Any:
    """Return positions where the cumulative chances pass each uniform number."""
    cumulative = np.cumsum(chances)
    return np.minimum(np.searchsorted(cumulative, draws * cumulative[-1], side="right"), len(chances) - 1)


START_RULES = {"k-means": kmeans_starts, "random": random_starts, "mixed": mixed_starts}
OBJECT_START_RULES = {"spread": spread_starts}


def draw_evenly(sample: Rows, size: int | None = None) -> np.ndarray:
    """Return rows at even steps of the weight, ``size`` or as many as there are; a row of weight two comes twice.

    Examples
    --------
    >>> draw_evenly(Rows(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([5.0, 10.0, 0.5, 4.5]))).ravel()
    array([1., 2., 2., 4.])
    """
    n, cumulative = len(sample.X) if size is None else size, np.cumsum(sample.weight)
    return sample.X[np.searchsorted(cumulative, (np.arange(n) + 0.5) / n * cumulative[-1])]
