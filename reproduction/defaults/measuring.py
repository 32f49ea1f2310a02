"""One method on one table as a user would call it, and how good and how true its answer is."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from evidentia.methods import clusterers
from evidentia.partition import CredalPartition
from reproduction.defaults.tables import table
from reproduction.exhibit import Result

UNKNOWN, KNOWN = "unknown", "known"
MOST_COMPONENTS = 9  # of scikit-learn's mixture, by BIC


@dataclass(frozen=True)
class Answer:
    """What a method says: a label for each object, -1 for noise, and a credal partition where it has one."""

    labels: np.ndarray
    partition: CredalPartition | None = None

    @property
    def n_clusters(self) -> int:
        return len(set(self.labels.tolist()) - {-1}) if self.partition is None else self.partition.n_clusters

    def holds(self, clusters: np.ndarray) -> np.ndarray:
        """Whether the set of largest mass of each object contains the cluster named for it; none is named by -1."""
        if self.partition is None:
            return (self.labels == clusters) & (clusters >= 0)
        return (clusters >= 0) & (self.partition.hard_masks >> np.maximum(clusters, 0) & 1 > 0)

    @property
    def sure(self) -> np.ndarray:
        """Whether the set of largest mass is one cluster."""
        if self.partition is None:
            return self.labels >= 0
        return np.array([int(mask).bit_count() == 1 for mask in self.partition.hard_masks])


# -- methods ----------------------------------------------------------------------------------------------------------

LINKED = ("cecm", "cfcm", "cevclus", "cop-kmeans")  # without links they are ECM, FCM, EVCLUS and k-means
OWN = {name: cls for name, cls in clusterers().items() if "table" in cls.method.reads and name not in LINKED}


NOTHING: Mapping[str, Any] = MappingProxyType({})


def fit_own(name: str, X: np.ndarray, n_clusters: int | None, seed: int, more: Mapping[str, Any] = NOTHING) -> Answer:
    """``Estimator().fit(X)``, or ``Estimator(n_clusters=c).fit(X)``."""
    cls = OWN[name]
    settings: dict[str, Any] = dict(more)
    if "random_state" in cls.parameters:
        settings["random_state"] = seed
    if n_clusters is not None:
        settings["n_clusters"] = n_clusters
    elif "searched" in cls.method.number:
        settings["n_clusters"] = "auto"
    model = cls(**settings).fit(X if "missing values" in cls.method.takes else filled(X))
    return Answer(np.asarray(model.labels_), model.partition_)


def fit_by_command(X: np.ndarray, n_clusters: int | None, seed: int) -> Answer:
    """``evidentia fit table.csv --out DIR``, with nothing set but a number of clusters that is known."""
    import pandas as pd
    from typer.testing import CliRunner

    from evidentia.app.cli import app

    with tempfile.TemporaryDirectory() as place:
        file, out = Path(place, "table.csv"), Path(place, "out")
        pd.DataFrame(X).add_prefix("x").to_csv(file, index=False)
        words = ["fit", str(file), "--out", str(out), "--seed", str(seed)]
        said = CliRunner().invoke(app, [*words, *([] if n_clusters is None else ["--clusters", str(n_clusters)])])
        if said.exit_code:
            raise RuntimeError(
                f"evidentia fit ended with code {said.exit_code}: {said.output.rpartition('error: ')[2]}"
            )
        told = [line for line in said.output.splitlines() if line.startswith(("note:", "warning:"))]
        for text in told:
            warnings.warn(text, UserWarning, stacklevel=1)
        masses = pd.read_csv(out / "masses.csv")
        return Answer(masses["cluster"].to_numpy(), CredalPartition.load(out / "partition.npz"))


def fit_kmeans(X: np.ndarray, n_clusters: int | None, seed: int) -> Answer:
    """The best of ten starts, as in the guide; by default there would be one, a rival that is easily beaten."""
    from sklearn.cluster import KMeans

    return Answer(KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(scaled(X)))


def fit_mixture(X: np.ndarray, n_clusters: int | None, seed: int) -> Answer:
    """scikit-learn's mixture by its defaults; the number of components by BIC where it is not known."""
    from sklearn.mixture import GaussianMixture

    X = filled(X)
    numbers = range(1, MOST_COMPONENTS + 1) if n_clusters is None else [n_clusters]
    fits = [GaussianMixture(number, random_state=seed).fit(X) for number in numbers]
    return Answer(min(fits, key=lambda model: model.bic(X)).predict(X))


def fit_hdbscan(X: np.ndarray, n_clusters: int | None, seed: int) -> Answer:
    from sklearn.cluster import HDBSCAN

    return Answer(np.maximum(HDBSCAN(copy=True).fit_predict(scaled(X)), -1))


def filled(X: np.ndarray) -> np.ndarray:
    """With the mean of its column where a value is missing."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def scaled(X: np.ndarray) -> np.ndarray:
    """Z-scored columns; missing values filled in, constant columns zero."""
    X = filled(X)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def z_scored(X: np.ndarray) -> np.ndarray:
    """Z-scored columns with their missing values."""
    spread = np.nanstd(X, axis=0)
    return (X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1)


@dataclass(frozen=True)
class Way:
    """A method as the yardstick calls it: its title, its numbers of clusters, and the fit."""

    title: str
    numbers: tuple[str, ...]
    fit: Callable[[np.ndarray, int | None, int], Answer]
    rival: bool = False


def own_way(name: str) -> Way:
    ways = OWN[name].method.number
    numbers = (*((UNKNOWN,) if {"searched", "found"} & set(ways) else ()), *((KNOWN,) if "given" in ways else ()))
    return Way(OWN[name].__name__, numbers, lambda X, n_clusters, seed: fit_own(name, X, n_clusters, seed))


COMMAND, REFERENCE = "fit", "k-means"
METHODS = {
    COMMAND: Way("evidentia fit", (UNKNOWN, KNOWN), fit_by_command),
    "egmm-scaled": Way(
        "EGMM, z-scored", (UNKNOWN, KNOWN), lambda X, n_clusters, seed: fit_own("egmm", z_scored(X), n_clusters, seed)
    ),
    **{name: own_way(name) for name in OWN},
    REFERENCE: Way("k-means, scaled", (KNOWN,), fit_kmeans, rival=True),
    "gmm-bic": Way("scikit-learn's mixture", (UNKNOWN, KNOWN), fit_mixture, rival=True),
    "hdbscan": Way("HDBSCAN, scaled", (UNKNOWN,), fit_hdbscan, rival=True),
}


# -- what is measured -------------------------------------------------------------------------------------------------


def matched(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each object the cluster that stands for its class, by the assignment that most objects agree with.

    A class that no cluster is left for has -1; noise stands for no class.

    >>> matched(np.array([5, 5, 5, 0, 0, -1]), np.array([0, 0, 1, 1, 2, 2]))
    array([ 5,  5,  0,  0, -1, -1])
    """
    kept = labels >= 0
    clusters, at = np.unique(labels[kept], return_inverse=True)
    counts = np.zeros((len(clusters), y.max() + 1), dtype=int)
    np.add.at(counts, (at, y[kept]), 1)
    stands = np.full(y.max() + 1, -1)
    for row, column in zip(*linear_sum_assignment(counts, maximize=True)):
        if counts[row, column]:
            stands[column] = clusters[row]
    return stands[y]


def scores(answer: Answer, y: np.ndarray) -> dict[str, float | None]:
    """Agreement with the classes, how much is sure, and whether the sets are true."""
    sure = answer.sure
    return {
        "ari": adjusted_rand_score(y, answer.labels),
        "sure": float(sure.mean()),
        "ari of the sure": adjusted_rand_score(y[sure], answer.labels[sure]) if sure.sum() > 1 else None,
        "contains": float(answer.holds(matched(answer.labels, y)).mean()),
        "clusters": answer.n_clusters,
        "classes": len(np.unique(y)),
    }


@cache
def warm_up(method: str) -> None:
    """Load and compile what the method uses, so that its time does not hold it."""
    X = np.random.RandomState(0).normal(size=(60, 2)) + 6 * (np.arange(60) % 2)[:, None]
    n_clusters = 2 if KNOWN in METHODS[method].numbers else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in OWN:
            fit_own(method, X, n_clusters, 0, OWN[method].method.quick)
        else:
            METHODS[method].fit(X, n_clusters, 0)


def measure(name: str, draw: int, method: str, number: str, seed: int, **_: Any) -> Result:
    """Scores, CPU seconds and what was said; the rest of the settings is about the code."""
    X, y = table(name, draw, seed)
    warm_up(method)
    start = process_time()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        answer = METHODS[method].fit(X, len(np.unique(y)) if number == KNOWN else None, seed)
    seconds = process_time() - start
    texts = list(dict.fromkeys(str(warning.message) for warning in said))
    return {**scores(answer, y), "seconds": seconds, "warnings": texts}
