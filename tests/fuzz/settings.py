"""Values of parameters, drawn from what their declarations accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.preprocessing import StandardScaler

from evidentia import metric_learning
from evidentia._parameters import NOTHING, SEED, Boolean, Check, Choice, Either, Integer, Number, Predicate
from evidentia.mixtures._covariances import MODELS

INSIDE = 1e-6  # of a limit that may not be reached: how near to it numbers are drawn
CHANGED = 0.25  # share of the parameters that are not at their defaults
# Fits of milliseconds: a number of these is drawn from a range of the run's own.
SMALL = {
    "n_clusters": (1, 5), "n_init": (1, 3), "max_iter": (1, 60), "n_boot": (20, 40), "cluster_range": (1, 4),
    "n_jobs": (-1, 2),
}  # fmt: skip
ALWAYS = {"n_clusters", "n_init", "max_iter", "n_boot", "cluster_range"}
# Never drawn, and why.
FIXED = {
    "verbose": "it writes to the terminal", "device": "there may be no other", "random_state": "a fit is to be repeated"
}  # fmt: skip

# What stands for a kind that only its words describe: a function of the random numbers and the table.
Drawn = Callable[[Generator, np.ndarray, int], Any]


def _centers(rng: Generator, X: np.ndarray, c: int) -> Any:
    """Near rows, not at them: how far a center is from its own object would be rounding alone. Of categories, rows."""
    if X.dtype == object:
        return X[rng.integers(len(X), size=c)]
    with np.errstate(all="ignore"):
        spread = np.nan_to_num(np.nanstd(X, axis=0), posinf=0.0)
        return X[rng.integers(len(X), size=c)] + 0.01 * rng.normal(size=(c, X.shape[1])) * spread


def _numbers(rng: Generator, X: np.ndarray, c: int) -> Any:
    return rng.choice(len(X), size=min(c, len(X)), replace=False)


def _labels(rng: Generator, X: np.ndarray, c: int) -> Any:
    return np.r_[np.arange(c), rng.integers(c, size=max(0, len(X) - c))][: len(X)]


def _masses(rng: Generator, X: np.ndarray, c: int) -> Any:
    from evidentia import CredalPartition, FocalSets

    family = FocalSets(c, "singletons", empty=False)
    return CredalPartition(rng.dirichlet(np.ones(c), size=len(X)), family)


def _sets(rng: Generator, X: np.ndarray, c: int) -> Any:
    drawn = [{int(k) for k in np.flatnonzero(rng.random(c) < 0.5)} for _ in range(3)]
    unique = {frozenset(one) for one in drawn} | {frozenset([k]) for k in range(c)}
    return [set(one) for one in unique]


def _learner(rng: Generator, X: np.ndarray, c: int) -> Any:
    return (metric_learning.PCCA, metric_learning.LSI, StandardScaler)[rng.integers(3)]()


def _range(rng: Generator, X: np.ndarray, c: int) -> Any:
    low = int(rng.integers(*SMALL["cluster_range"]))
    return low, int(rng.integers(low, SMALL["cluster_range"][1], endpoint=True))


DRAWN: dict[str, Drawn] = {
    "a metric of SciPy or scikit-learn": lambda rng, X, c: str(
        rng.choice(["cityblock", "chebyshev", "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis"])
    ),
    "a function of two objects": lambda rng, X, c: _city_block,
    "a function of two rows": lambda rng, X, c: np.dot,
    "dict": lambda rng, X, c: {},
    "transformer or None": _learner,
    "object": lambda rng, X, c: None,
    "array of shape (n_clusters, n_features)": _centers,
    "array of int": _numbers,
    "array of n_clusters object numbers": _numbers,
    "array of labels or of probabilities": _labels,
    "CredalPartition or array of shape (n_samples, n_focal)": _masses,
    "list of subsets, FocalSets or callable": _sets,
    "a number > 0 and < 1": lambda rng, X, c: float(rng.uniform(0.01, 0.99)),
    "a share in (0, 1)": lambda rng, X, c: float(rng.uniform(0.01, 0.99)),
    "a list of some of them": lambda rng, X, c: rng.choice(list(MODELS), size=2, replace=False).tolist(),
    "(low, high) with 1 <= low <= high": _range,
    "array of n_features positive variances": lambda rng, X, c: 10 ** rng.uniform(-2, 2, size=X.shape[1]),
    "a number of units, or one for each layer": lambda rng, X, c: int(rng.integers(1, 6)),
}
# Kinds that stay at their defaults, and why.
LEFT = {
    "a mixture with fit(X, sample_weight=...) and predict_proba(X)": "the mixture is the user's, and so are its laws",
    "torch.nn.Module or None": "the network is the user's, and so are its laws",
    "list of columns": "which columns hold numbers is seen in the table",
    "array of int, shape (n_samples, k)": "which objects are compared belongs to one table, and laws change the table",
    "array of shape (n_samples, n_samples)": "dissimilarities beside a table belong to that table",
    "array of shape (n_samples, n_features)": "uncertainties belong to one table",
    "str": "a device that is not there is refused, and only PyTorch knows which are",
}


def kinds(check: Check) -> list[Check]:
    """The checks that a check is made of."""
    return [one for part in check.checks for one in kinds(part)] if isinstance(check, Either) else [check]


def draw_settings(
    parameters: Mapping[str, Any], quick: Mapping[str, Any], X: np.ndarray, rng: Generator
) -> dict[str, Any]:
    """Settings for a small fit to X: some at random, the rest as the record or the declaration has them."""
    settings = {name: value for name, value in quick.items() if name != "n_clusters"}
    if "random_state" in parameters:
        settings["random_state"] = int(rng.integers(2**31))
    c = int(rng.integers(*SMALL["n_clusters"], endpoint=True))
    for name, parameter in parameters.items():
        if name in FIXED or (name not in ALWAYS and rng.random() > CHANGED):
            continue
        if name == "n_clusters" and rng.random() < 0.9:
            settings[name] = c
            continue
        found = draw(name, parameter.check, parameter.default, X, c, rng)
        if found is not None or parameter.check.accepts(None):
            settings[name] = found
    return settings


def draw(name: str, check: Check, default: Any, X: np.ndarray, c: int, rng: Generator) -> Any:
    """A value that the check accepts; the default where it stays at it."""
    options = kinds(check)
    one = options[rng.integers(len(options))]
    if one is SEED or one.words in LEFT:
        return default
    if one is NOTHING:
        return None
    if isinstance(one, Choice):
        return str(rng.choice(one.options))
    if isinstance(one, Boolean):
        return bool(rng.random() < 0.5)
    if isinstance(one, Number):
        return _number(name, one, default, rng)
    assert isinstance(one, Predicate), f"no rule for the values of {name!r}: {one.words}"
    return DRAWN[one.words](rng, X, c)


def _number(name: str, check: Number, default: Any, rng: Generator) -> Any:
    if isinstance(check, Integer):
        low, high = SMALL.get(name, (int(max(check.low, -1)), int(max(check.low, -1)) + 6))
        value = int(rng.integers(low, high, endpoint=True))
        return value if check.accepts(value) else default
    typical = float(default) if isinstance(default, float | int) and not isinstance(default, bool) and default else 1.0
    value = typical * 10 ** rng.choice([rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-12, 12)])
    low, high = check.low, check.high
    low += INSIDE * max(abs(low), 1e-300) if check.above else 0.0
    high -= INSIDE * abs(high) if check.below else 0.0
    return float(np.clip(value, low, high))


def _city_block(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(np.subtract(one, other)).sum())
