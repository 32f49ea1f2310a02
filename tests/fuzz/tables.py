"""Tables as nobody would make them by hand: ties, copies, constants, outliers, offsets, scales from 1e-300 to 1e300."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

ROWS, COLUMNS = (2, 24), (1, 4)
Change = Callable[[np.ndarray, Generator], np.ndarray]


def _ties(X: np.ndarray, rng: Generator) -> np.ndarray:
    return np.round(X / rng.choice([0.5, 1, 3])) * 1.0


def _copies(X: np.ndarray, rng: Generator) -> np.ndarray:
    return X[rng.integers(len(X), size=len(X))]


def _constant(X: np.ndarray, rng: Generator) -> np.ndarray:
    X[:, rng.integers(X.shape[1])] = rng.choice([0, 0.1, -7, 1e10])
    return X


def _outlier(X: np.ndarray, rng: Generator) -> np.ndarray:
    X[rng.integers(len(X))] += rng.normal(size=X.shape[1]) * 10 ** rng.uniform(1, 9)
    return X


def _cell(X: np.ndarray, rng: Generator) -> np.ndarray:
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice([0, 5e-324, -1e300, 1e20, 9.97e36, 1e6])
    return X


def _offset(X: np.ndarray, rng: Generator) -> np.ndarray:
    return X + rng.choice([-1, 1], size=X.shape[1]) * 10 ** rng.uniform(0, 15)


def _scale(X: np.ndarray, rng: Generator) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        return X * 10.0 ** rng.choice([rng.uniform(-300, 300), rng.uniform(-30, 30)])


def _scales(X: np.ndarray, rng: Generator) -> np.ndarray:
    return X * 10 ** rng.uniform(-8, 8, size=X.shape[1])


def _dependent(X: np.ndarray, rng: Generator) -> np.ndarray:
    X[:, -1] = X @ rng.integers(-1, 2, size=X.shape[1])
    return X


def _line(X: np.ndarray, rng: Generator) -> np.ndarray:
    return np.arange(len(X))[:, None] * np.ones(X.shape[1])


def _whole(X: np.ndarray, rng: Generator) -> np.ndarray:
    return rng.permutation(X)


CHANGES: tuple[Change, ...] = (
    _ties, _copies, _constant, _outlier, _cell, _offset, _scale, _scales, _dependent, _line, _whole
)  # fmt: skip


def draw_table(rng: Generator) -> np.ndarray:
    """Groups of rows, near or far, after none, one or two of the changes."""
    n, d = int(rng.integers(*ROWS, endpoint=True)), int(rng.integers(*COLUMNS, endpoint=True))
    centers = rng.normal(size=(int(rng.integers(1, 4)), d)) * rng.choice([1, 4, 40])
    X = centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, d))
    for at in rng.choice(len(CHANGES), size=int(rng.choice([0, 1, 1, 2])), replace=False):
        X = CHANGES[at](X, rng)
    return X


def with_gaps(X: np.ndarray, rng: Generator) -> np.ndarray:
    """Some cells NaN."""
    return np.where(rng.random(X.shape) < rng.choice([0.02, 0.2]), np.nan, X)


def draw_categories(rng: Generator) -> np.ndarray:
    """Answers, as words, with gaps now and then."""
    n, d = int(rng.integers(*ROWS, endpoint=True)), int(rng.integers(1, 6))
    answers = rng.integers(int(rng.integers(1, 5)), size=(n, d)).astype(str).astype(object)
    if rng.random() < 0.3:
        answers[rng.random((n, d)) < 0.1] = None
    return answers


def draw_dissimilarities(X: np.ndarray, rng: Generator) -> np.ndarray:
    """Distances of rows, now and then of no space."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    if rng.random() < 0.3:
        found = np.abs(rng.normal(size=found.shape))
        found = found + found.T
        np.fill_diagonal(found, 0)
    return found
