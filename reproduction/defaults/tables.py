"""The tables of the yardstick, and the half each belongs to: one for choosing rules and constants, one for judging.

`HALVES` keeps the split, with its reason; `half` is the rule behind it, which looks at names and never at results.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import evidentia.datasets as datasets

HALVES = Path(__file__).with_name("halves.json")
DEVELOPMENT, JUDGING = "development", "judging"
MOST = 2_000  # objects of a file; of larger ones a sample
DRAWS = {"egmm_four_class": 10}  # of tables that are drawn more than once, in full runs
FROM_SKLEARN = {"breast_cancer": "load_breast_cancer", "digits": "load_digits"}  # iris and wine are files as well

# The ten tables of the guide "which method".
TEN = (
    "diabetes", "iris", "wine", "seeds", "glass", "newthyroid", "heart", "ecoli_egmm", "fourclass", "knowledge",
)  # fmt: skip
LABELED = datasets.list_datasets().dropna(subset=["attributes", "classes"])
FILES = tuple(LABELED.index)
LARGE = {"breast_cancer", "digits"} | set(LABELED.query("objects > 600 or classes > 10").index)  # not in quick runs
SHAPES = {
    "bananas": lambda rng: datasets.make_bananas(500, random_state=rng),
    "bootgmm_mixture_1": lambda rng: datasets.make_bootgmm_mixture(1, random_state=rng),
    "bootgmm_mixture_2": lambda rng: datasets.make_bootgmm_mixture(2, random_state=rng),
    "bootgmm_mixture_3": lambda rng: datasets.make_bootgmm_mixture(3, random_state=rng),
    "cecm_two_class": lambda rng: datasets.make_cecm_two_class(random_state=rng),
    "circles": lambda rng: datasets.make_circles(random_state=rng),
    "egmm_four_class": lambda rng: datasets.make_egmm_four_class(random_state=rng),
    "egmm_two_class": lambda rng: datasets.make_egmm_two_class(random_state=rng),
    "student_four_class": lambda rng: datasets.make_student_four_class(random_state=rng),
}


@dataclass(frozen=True)
class Mixture:
    """A mixture of Gaussian classes with random means and covariances.

    Parameters
    ----------
    n, d, classes : int
    distance : float
        Mahalanobis distance of the two nearest means, by the mean of their covariances.
    sizes : tuple of float, optional
        Shares of the classes; equal ones when there are none.
    elongation : float
        The largest standard deviation of a class along an axis of its own, the smallest being one.
    outliers : float
        Share of objects that lie eight times as far from their mean as they would.
    noise : int
        Columns that tell nothing, among the `d`.
    units : bool
        Whether columns are in units that differ by up to five powers of ten.
    """

    n: int
    d: int
    classes: int
    distance: float
    sizes: tuple[float, ...] = ()
    elongation: float = 3.0
    outliers: float = 0.0
    noise: int = 0
    units: bool = False

    def draw(self, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        told = self.d - self.noise
        factors = [random_factor(rng, told, self.elongation) for _ in range(self.classes)]
        means = apart(rng.standard_normal((self.classes, told)), factors, self.distance)
        shares = np.asarray(self.sizes or np.full(self.classes, 1 / self.classes))
        y = np.repeat(np.arange(self.classes), np.diff(np.rint(np.cumsum([0, *shares]) * self.n).astype(int)))
        noise = rng.standard_normal((len(y), told))
        noise[rng.uniform(size=len(y)) < self.outliers] *= 8
        X = means[y] + np.einsum("nij,nj->ni", np.array(factors)[y], noise)
        X = np.hstack([X, X.std() * rng.standard_normal((len(y), self.noise))])
        return X * (10.0 ** rng.uniform(-2, 3, self.d) if self.units else 1.0), y


def random_factor(rng: np.random.RandomState, d: int, elongation: float) -> np.ndarray:
    """A matrix F of which F Fᵀ is a covariance with axes in random directions."""
    axes, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return axes * elongation ** rng.uniform(0, 1, d)


def apart(means: np.ndarray, factors: list[np.ndarray], distance: float) -> np.ndarray:
    """Means moved away from, or toward, zero until the nearest two have the distance."""
    covariances = [factor @ factor.T for factor in factors]
    nearest = np.inf
    for k in range(len(means)):
        for j in range(k):
            between = means[k] - means[j]
            nearest = min(nearest, between @ np.linalg.solve((covariances[k] + covariances[j]) / 2, between))
    return means if np.isinf(nearest) else means * distance / np.sqrt(nearest)


MIXTURES = {
    "elongated_4d": Mixture(400, 4, 3, 5, elongation=10),
    "far_2d": Mixture(300, 2, 4, 6),
    "far_5d": Mixture(300, 5, 3, 6),
    "far_10d": Mixture(500, 10, 5, 6),
    "many_3d": Mixture(900, 3, 12, 5),
    "near_2d": Mixture(300, 2, 3, 3),
    "near_5d": Mixture(400, 5, 4, 3.5),
    "near_10d": Mixture(500, 10, 3, 4),
    "noise_10d": Mixture(400, 10, 3, 6, noise=7),
    "one_3d": Mixture(300, 3, 1, 0),
    "outliers_3d": Mixture(400, 3, 3, 6, outliers=0.05),
    "small_6d": Mixture(60, 6, 3, 6),
    "unequal_3d": Mixture(400, 3, 3, 4.5, sizes=(0.7, 0.2, 0.1)),
    "units_4d": Mixture(400, 4, 3, 6, units=True),
    "wide_200d": Mixture(80, 200, 3, 20),
}


def draw_diamond(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Two rhombs of 100 objects that touch, and ten objects around the point where they do."""
    y = np.repeat([0, 1], 100)
    turned = rng.uniform(-1, 1, (200, 2)) @ np.array([[1, 1], [1, -1]])  # a square on its corner
    middle = 0.3 * rng.standard_normal((10, 2))
    return np.vstack([turned + np.where(y, 2, -2)[:, None] * [1, 0], middle]), np.append(y, middle[:, 0] > 0)


def draw_wide(rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """300 objects in four clear groups, 2,000 columns."""
    y = np.arange(300) % 4
    return rng.standard_normal((4, 2_000))[y] + rng.standard_normal((300, 2_000)), y


# -- halves -----------------------------------------------------------------------------------------------------------

ALWAYS_JUDGING = ("breast_cancer", "digits", "egmm_four_class", "wide_2000d")


def names() -> list[str]:
    """Every table, files first."""
    mixtures = [f"{name}_{number}" for name in MIXTURES for number in (1, 2)]
    return [*FILES, *FROM_SKLEARN, *sorted([*SHAPES, "diamond"]), *mixtures, "wide_2000d"]


def half(name: str) -> str:
    """The rule of the split: by the name alone."""
    if name in ALWAYS_JUDGING:
        return JUDGING
    if name in FILES:
        return DEVELOPMENT if name[0] <= "m" or name == "wine" else JUDGING
    shapes = sorted([*(set(SHAPES) - set(ALWAYS_JUDGING)), "diamond"])
    second = shapes.index(name) % 2 if name in shapes else name.endswith("_2")
    return JUDGING if second else DEVELOPMENT


@cache
def halves() -> Mapping[str, list[str]]:
    """Names of the tables of each half, as they were fixed."""
    return {name: tables for name, tables in json.loads(HALVES.read_text()).items() if name != "reason"}


def half_of(name: str) -> str:
    return next(part for part, tables in halves().items() if name in tables)


# -- tables -----------------------------------------------------------------------------------------------------------


def table(name: str, draw: int = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns as they are, missing values as NaN, and class numbers from 0; of large files always the same sample."""
    if name in FILES or name in FROM_SKLEARN:
        return from_file(name)
    rng = np.random.RandomState([zlib.crc32(name.encode()), seed, draw])
    if name in SHAPES:
        shape: Any = SHAPES[name](rng)
        return np.asarray(shape.data), np.asarray(shape.target)
    drawn = {"diamond": draw_diamond, "wide_2000d": draw_wide}
    X, y = drawn[name](rng) if name in drawn else MIXTURES[name[:-2]].draw(rng)
    order = rng.permutation(len(y))
    return X[order], y[order]


def from_file(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in FROM_SKLEARN:
        from sklearn import datasets as bundled

        found = getattr(bundled, FROM_SKLEARN[name])()
        return found.data, found.target
    data = datasets.load(name)
    X, y = np.asarray(data.data, dtype=float), np.asarray(data.target)
    rows = np.flatnonzero(~np.isnan(X).all(axis=1))  # a row that says nothing is no object
    if len(rows) > MOST:
        rows = np.random.RandomState(0).choice(rows, MOST, replace=False)
    return X[rows], np.unique(y[rows], return_inverse=True)[1]
