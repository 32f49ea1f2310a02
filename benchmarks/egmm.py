"""EGMM against scikit-learn's tied Gaussian mixture with as many components, its memory, its growth, its likelihood."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch
from evidentia import EGMM, FocalSets


def table(n: int, d: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters, and start centers away from the solution."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((n_clusters, d))
    X = rng.standard_normal((n, d))
    for start in range(0, n, 10_000):  # in pieces, so that the table is all that making it needs
        piece = X[start : start + 10_000]
        piece += centers[rng.integers(n_clusters, size=len(piece))]
    return X, centers + 0.5 * rng.standard_normal(centers.shape)


def fit(X: np.ndarray, start: np.ndarray, max_iter: int) -> EGMM:
    model = EGMM(len(start), init=start, n_init=1, tol=0, max_iter=max_iter)
    return _run(model, X, max_iter)


def fit_peer(X: np.ndarray, start: np.ndarray, max_iter: int) -> GaussianMixture:
    member = FocalSets(len(start), empty=False).member
    peer = GaussianMixture(
        len(member),
        covariance_type="tied",
        means_init=member @ start / member.sum(axis=1, keepdims=True),
        weights_init=np.full(len(member), 1 / len(member)),
        precisions_init=np.eye(X.shape[1]),
        tol=0,
        max_iter=max_iter,
    )
    return _run(peer, X, max_iter)


def _run(model: Any, X: np.ndarray, max_iter: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of iterations is fixed on purpose
        model.fit(X)
    assert model.n_iter_ == max_iter, f"{type(model).__name__} stopped after {model.n_iter_} of {max_iter} iterations"
    return model


def seconds_per_iteration(work: Any, X: np.ndarray, start: np.ndarray, few: int, many: int) -> float:
    """Difference of two numbers of iterations: checks, start and the final masses cancel."""
    return (stopwatch(lambda: work(X, start, many)) - stopwatch(lambda: work(X, start, few))) / (many - few)


def fit_memory(n: int, d: int, n_clusters: int) -> float:
    """Megabytes a fit needs beyond its table."""
    fit(*table(1000, d, n_clusters), max_iter=2)  # loads what is loaded on first use
    X, start = table(n, d, n_clusters)
    return peak_beyond(lambda: fit(X, start, max_iter=3))


def slow_log_likelihood(model: EGMM, X: np.ndarray) -> float:
    """Equation (18) of the paper, one component at a time."""
    components = [
        np.log(weight)
        + multivariate_normal(model.cluster_centers_[list(subset)].mean(axis=0), model.covariance_).logpdf(X)
        for weight, subset in zip(model.weights_, model.focal_sets_)
    ]
    return float(logsumexp(components, axis=0).sum())


def lines(quick: bool) -> Iterator[Line]:
    sizes = [(19_020, 10, 2, 3.0), (100_000, 10, 3, 5.0), (300_000, 20, 4, 8.0)]
    for n, d, n_clusters, target in [(5_000, 10, 2, 3.0)] if quick else sizes:
        X, start = table(n, d, n_clusters)
        few, many = (1, 21) if n < 50_000 else (1, 6)
        ours, peer = (seconds_per_iteration(work, X, start, few, many) for work in (fit, fit_peer))
        yield speed("EGMM, one iteration (peer: sklearn tied)", f"{n:,} x {d}, C={n_clusters}", ours, peer, target)

    n, d, n_clusters = (50_000 if quick else 1_000_000), 10, 4
    size = f"{n:,} x {d}, C={n_clusters}"
    yield memory(
        "EGMM, peak memory beyond the data",
        size,
        in_own_process("benchmarks.egmm", "fit_memory", n, d, n_clusters),
        300,
    )

    X, start = table(n, d, n_clusters)
    counts = [n // 8, n // 4, n // 2, n]
    times = [stopwatch(lambda rows=X[:count]: fit(rows, start, max_iter=5)) for count in counts]
    for count, seconds in zip(counts, times):
        yield Line("EGMM, fit of 5 iterations", f"{count:,} x {d}, C={n_clusters}", duration(seconds), "", "", "", None)
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    yield Line(
        "EGMM, growth with n (log-log slope)",
        f"{counts[0]:,} to {n:,}",
        "",
        "",
        f"{slope:.2f}",
        "<= 1.10",
        slope <= 1.1,
    )

    X, start = table(20_000, 10, 3)
    model = fit(X, start, max_iter=10)
    gap = abs(model.criterion_ / slow_log_likelihood(model, X) - 1)
    yield Line(
        "EGMM, log-likelihood against slow sum", "20,000 x 10, C=3", "", "", f"{gap:.1e}", "<= 1e-9", gap <= 1e-9
    )
