"""Tables whose number of groups is known: one group of many shapes, and two groups at known distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Generator = np.random.Generator
FILLED = 2.035


def _turn(X: np.ndarray, rng: Generator) -> np.ndarray:
    """Mix the columns by a random linear map, so that no shape is told by its axes."""
    d = X.shape[1]
    return X @ (np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.5, 2.0, d))


def ball(rng: Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)


def heavy(degrees: float) -> Callable[[Generator, int, int], np.ndarray]:
    return lambda rng, n, d: rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)


def skew_normal(rng: Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    X[:, 0] = 0.97 * np.abs(X[:, 0]) + 0.24 * rng.normal(size=n)
    return X


def banana(rng: Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, max(d, 2)))
    X[:, 1] += 0.5 * X[:, 0] ** 2
    return X[:, -d:]


def half_circle(rng: Generator, n: int, d: int) -> np.ndarray:
    angle = np.pi * rng.random(n)
    X = 0.15 * rng.normal(size=(n, max(d, 2)))
    X[:, 0] += np.cos(angle)
    X[:, 1] += np.sin(angle)
    return X


def flat_top(rng: Generator, n: int, d: int) -> np.ndarray:
    """The density with one peak that is nearest to two normals 3 apart: their valley filled up; on a line.

    Between the places where the density equals its mean between them, about 2.035 from the middle, it is uniform.
    Further columns are normal.
    """
    X = rng.normal(size=(n, d))
    X[:, 0] += np.where(rng.random(n) < 0.5, 1.5, -1.5)
    filled = np.abs(X[:, 0]) < FILLED
    X[filled, 0] = rng.uniform(-FILLED, FILLED, filled.sum())
    return X


DEVELOPMENT: dict[str, Callable[[Generator, int, int], np.ndarray]] = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "cube": lambda rng, n, d: rng.random((n, d)),
    "ball": ball,
    "lognormal": lambda rng, n, d: np.exp(0.7 * rng.normal(size=(n, d))),
    "t 3 d.f.": heavy(3),
    "skew-normal": skew_normal,
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "banana": banana,
}
JUDGING: dict[str, Callable[[Generator, int, int], np.ndarray]] = {
    "gamma": lambda rng, n, d: rng.gamma(2.0, size=(n, d)),
    "simplex": lambda rng, n, d: rng.dirichlet(np.ones(d + 1), n)[:, :d],
    "Laplace": lambda rng, n, d: rng.laplace(size=(n, d)),
    "t 5 d.f.": heavy(5),
    "beta 2-5": lambda rng, n, d: rng.beta(2, 5, (n, d)),
    "scale mixture": lambda rng, n, d: rng.normal(size=(n, d)) * np.where(rng.random((n, 1)) < 0.8, 1.0, 3.0),
}
BENT = {"half circle": half_circle}
FLAT_TOP = {"flat top": flat_top}
ONE_GROUP = {**DEVELOPMENT, **JUDGING, **BENT, **FLAT_TOP}


def one_group(shape: str, n: int, d: int, rng: Generator) -> np.ndarray:
    """A table with one group of a shape, its columns mixed."""
    return _turn(ONE_GROUP[shape](rng, n, d), rng)


def two_groups(distance: float, share: float, n: int, d: int, rng: Generator, degrees: float = np.inf) -> np.ndarray:
    """Two normal groups, or groups of t with so many degrees of freedom, their centers so far apart."""
    X = rng.normal(size=(n, d)) if np.isinf(degrees) else heavy(degrees)(rng, n, d)
    X[: round(share * n), 0] += distance
    return _turn(X, rng)
