"""A case: what a method is given, how that changes when rows, units or the origin change, and the fit."""

from __future__ import annotations

import signal
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from evidentia import CredalPartition, PairwiseConstraints, methods

from .settings import draw_settings, kinds
from .tables import draw_categories, draw_dissimilarities, draw_table, with_gaps

MANY = 4096  # focal sets, of which no table of every two is made
LIMIT = 120.0  # seconds of the processor that a fit to a few rows may take: milliseconds, but the first ones compile
ESTIMATORS = {name: cls for name, cls in methods.all_methods().items() if not cls.method.reads_views}

# Settings that hold rows or numbers of rows, by the words of their kind, and settings with a unit.
PER_ROW = ("array of labels or of probabilities", "CredalPartition or array of shape (n_samples, n_focal)")
ROW_NUMBERS = ("array of int", "array of n_clusters object numbers")
PLACES = ("array of shape (n_clusters, n_features)",)
VARIANCES = ("array of n_features positive variances",)
# Power of the unit of X that a number has: by its method, or in all others.
UNITS = {
    "rho": 1, "min_delta": 1,
    "egmm.ridge": 2, "bhc.gamma": -2, "shift": 2, "cfcm.xi": 2, "kfda.gamma": -2, "kpcca.gamma": -2,
}  # fmt: skip
# Power of the unit that the dissimilarities of a metric have; None where they change otherwise.
METRICS = {
    "euclidean": 1, "cityblock": 1, "chebyshev": 1, "sqeuclidean": 2, "cosine": 0, "correlation": 0, "seuclidean": 0,
    "mahalanobis": 0, "gower": 0, "precomputed": 1, "dtw": 1, "soft-dtw": None,
}  # fmt: skip
MOVABLE = ("euclidean", "cityblock", "chebyshev", "sqeuclidean", "seuclidean", "mahalanobis", "gower")


class Case(NamedTuple):
    """A method and the number that all else is drawn from."""

    method: str
    number: int

    @classmethod
    def read(cls, word: str) -> Case:
        method, number = word.rsplit(":", 1)
        return cls(method, int(number))

    def __str__(self) -> str:
        return f"{self.method}:{self.number}"

    def rng(self) -> Generator:
        return np.random.default_rng([zlib.crc32(self.method.encode()), self.number])


@dataclass(frozen=True)
class Problem:
    """What a method is given: the table, settings, and what else ``fit`` takes."""

    cls: Any
    X: np.ndarray
    settings: dict[str, Any]
    more: dict[str, Any]

    @classmethod
    def draw(cls, method: str, rng: Generator) -> Problem:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column may be without a number
            return cls._drawn(method, rng)

    @classmethod
    def _drawn(cls, method: str, rng: Generator) -> Problem:
        kind = ESTIMATORS[method]
        record = kind.method
        if "categories" in record.reads:
            X: np.ndarray = draw_categories(rng)
        else:
            X = draw_table(rng)
            if rng.random() < (0.3 if "missing values" in record.takes else 0.02):
                X = with_gaps(X, rng)
        settings = draw_settings(kind.parameters, record.quick, X, rng)
        if settings.get("metric") == "precomputed":
            X = draw_dissimilarities(X, rng)
        more = _beside(record, len(X), rng)
        return cls(kind, X, cls(kind, X, settings, more).in_units(_spread(X)), more)

    @property
    def metric(self) -> Any:
        return self.settings.get("metric", "euclidean")

    def words(self, name: str) -> str:
        """What an array is, in the words of its declaration; none for other settings."""
        if isinstance(self.settings[name], str | int | float | None):
            return ""
        known = (*PER_ROW, *ROW_NUMBERS, *PLACES, *VARIANCES)
        return next((one.words for one in kinds(self.cls.parameters[name].check) if one.words in known), "")

    def rows(self, order: np.ndarray) -> Problem:
        """The rows ``X[order]``, each of the old ones once at least; a link is that of the first copies."""
        place = {int(row): at for at, row in reversed(list(enumerate(order)))}
        settings = dict(self.settings)
        for name, value in settings.items():
            if self.words(name) in PER_ROW:
                settings[name] = value[order]
            elif self.words(name) in ROW_NUMBERS:
                settings[name] = np.array([place[int(row)] for row in value])
        more = {name: value[order] for name, value in self.more.items() if name != "constraints"}
        if "constraints" in self.more:
            links = self.more["constraints"]
            moved = np.array([[place[int(row)] for row in pair] for pair in links.pairs]).reshape(-1, 2)
            more["constraints"] = PairwiseConstraints(moved, links.must, links.certainty)
        X = self.X[np.ix_(order, order)] if self.metric == "precomputed" else self.X[order]
        return replace(self, X=X, settings=settings, more=more)

    def in_units(self, factor: float) -> dict[str, Any]:
        """The settings, with numbers in the units of X multiplied so that they mean the same after ``factor * X``."""
        settings = dict(self.settings)
        known = METRICS[self.metric if isinstance(self.metric, str) else "cityblock"]
        power = 0.0 if known is None else known * (0.5 if self.settings.get("squared") else 1.0)  # of squares already
        for name, value in settings.items():
            unit = UNITS.get(f"{self.cls.method.name}.{name}", UNITS.get(name, 0))
            if name == "rho" and self.cls.method.name == "soft-ecm" and self.metric in ("euclidean", "dtw"):
                unit = 2  # its dissimilarities are squares
            if unit and isinstance(value, float):
                with np.errstate(over="ignore"):
                    settings[name] = float(value * np.float64(factor) ** (unit * power))
        return settings

    def scaled(self, factor: float) -> Problem:
        """The same in another unit."""
        settings = self.in_units(factor)
        for name, value in settings.items():
            if self.words(name) in PLACES:
                settings[name] = value * factor
            elif self.words(name) in VARIANCES:
                settings[name] = value * factor**2
        if self.cls.method.name == "cecm":  # the links stand against squared distances
            odds = self.settings.get("xi", 0.5) / (1 - self.settings.get("xi", 0.5)) * factor**2
            settings["xi"] = odds / (1 + odds)
        return replace(self, X=self.X * factor, settings=settings)

    def moved(self, offset: np.ndarray) -> Problem:
        """The same from another origin."""
        settings = {
            name: value + offset if self.words(name) in PLACES else value for name, value in self.settings.items()
        }
        return replace(self, X=self.X + offset, settings=settings)

    def fit(self) -> Any:
        """The fitted model. What it warns of is for its user, unless it is a warning about arithmetic."""
        with warnings.catch_warnings(), in_time():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            return self.cls(**self.settings).fit(self.X, **self.more)


def _spread(X: np.ndarray) -> float:
    """A typical deviation of the numbers, one where there is none."""
    if X.dtype == object:
        return 1.0
    with np.errstate(all="ignore"):
        found = float(np.nanmedian(np.abs(X - np.nanmedian(X, axis=0))))
    return found if 1e-200 < found < 1e200 else 1.0


def _beside(record: Any, n: int, rng: Generator) -> dict[str, Any]:
    """What ``fit`` takes beside X: labels, links, weights."""
    more: dict[str, Any] = {}
    if "labels" in record.takes and record.learner:
        more["y"] = rng.integers(-1, 3, size=n)
    if "links" in record.takes and rng.random() < 0.9:
        pairs = np.array([(i, j) for i in range(n) for j in range(i)])
        pairs = pairs[rng.permutation(len(pairs))[: int(rng.integers(1, 6))]]
        certainty = rng.choice([1.0, 0.3, 1e-3], size=len(pairs)) if rng.random() < 0.3 else np.ones(len(pairs))
        more["constraints"] = PairwiseConstraints(pairs, rng.random(len(pairs)) < 0.5, certainty)
    if "weights" in record.takes and rng.random() < 0.2:
        more["sample_weight"] = rng.choice([rng.uniform(0.01, 3, size=n), rng.integers(0, 3, size=n) + 0.0])
    return more


class TooSlow(BaseException):
    """A fit to a few rows took longer than any of them may. No error that a method could keep to itself."""


@contextmanager
def in_time() -> Iterator[None]:
    """An alarm after :data:`LIMIT` seconds of the processor, heard once compiled code has ended."""

    def ring(*_: Any) -> None:
        raise TooSlow(f"it took more than {LIMIT:g} s of the processor")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def answer(model: Any, problem: Problem) -> np.ndarray:
    """What a fit says of its rows, whatever the clusters' numbers: of every two, whether they are together.

    Of a metric that was learned: the squared distances of every two rows, over their mean.
    """
    if not problem.cls.method.learner:
        return relation(model.partition_)
    places = model.transform(problem.X)
    squared = np.square(places[:, None] - places).sum(axis=2)
    return squared / (squared.mean() or 1.0)


def relation(partition: CredalPartition) -> np.ndarray:
    """Masses of every two objects being in the same cluster and in different ones, and of each being an outlier.

    Of very many sets: how plausible it is that two are together, in place of the masses of different clusters.
    """
    sets = partition.focal_sets
    masses, single = partition.masses, partition.masses[:, sets.card == 1]
    if len(sets) > MANY:
        apart = partition.contour @ partition.contour.T
    else:
        apart = masses @ sets.disjoint.astype(float) @ masses.T
    empty = masses[:, sets.card == 0].sum(axis=1)
    return np.stack([single @ single.T, apart, np.add.outer(empty, empty)])
