"""k-EVCLUS on S2 and on 100,000 objects; EVCLUS and RECM against the PyPI package evclust.

The seconds of R with evclust on S2 (``kevclus``: 15 clusters, singletons and the frame, 20 sweeps) are constants from
an earlier measurement, not of this run or machine; evclust 0.2.1 from PyPI runs beside ours.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch

SWEEPS = 20
R_SECONDS = {100: 18.4, 500: 23.6}
LARGE_SECONDS, LARGE_MEGABYTES = 240.0, 2000.0


def fit(X: np.ndarray, **settings: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from evidentia.relational import EVCLUS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of sweeps is fixed on purpose
        return EVCLUS(**{"focal_sets": "simple", "n_init": 1, "random_state": 0, **settings}).fit(X)


def blobs(n: int, n_clusters: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = 10 * rng.standard_normal((n_clusters, 5))
    return centers[rng.integers(n_clusters, size=n)] + rng.standard_normal((n, 5))


def large(n: int, n_pairs: int, n_clusters: int) -> tuple[float, float, int]:
    """Seconds and megabytes of one start run until it rests, and its number of sweeps."""
    fit(blobs(500, 3), n_clusters=3, n_pairs=n_pairs)  # compiled before the clock starts
    X, seconds, sweeps = blobs(n, n_clusters), 0.0, 0

    def work() -> None:
        nonlocal seconds, sweeps
        start = time.process_time()
        sweeps = fit(X, n_clusters=n_clusters, n_pairs=n_pairs, delta0=0.2).n_iter_
        seconds = time.process_time() - start

    megabytes = peak_beyond(work)
    return seconds, megabytes, sweeps


def matrix() -> np.ndarray:
    """Dissimilarities of 200 objects in four groups."""
    from scipy.spatial.distance import cdist

    X = blobs(200, 4)
    return cdist(X, X)


def peer_seconds(method: str) -> float:
    """Seconds of evclust 0.2.1; its RECM takes squared dissimilarities."""
    from evclust.kevclus import kevclus
    from evclust.recm import recm

    D = matrix()
    begin = time.process_time()
    if method == "EVCLUS":
        kevclus(D=D, c=4, type="simple", d0=np.quantile(D, 0.9), maxit=SWEEPS, epsi=0.0, disp=False)
    else:
        recm(D**2, c=4, type="full", maxit=SWEEPS, epsi=0.0, disp=False)
    return time.process_time() - begin


def ours_seconds(method: str) -> float:
    """Seconds of ours for as many sweeps or iterations of one start."""
    from sklearn.exceptions import ConvergenceWarning

    from evidentia.relational import EVCLUS, RECM

    settings: dict[str, Any] = {"n_init": 1, "max_iter": SWEEPS, "tol": 0, "metric": "precomputed", "random_state": 0}
    model: Any = EVCLUS(4, focal_sets="simple", **settings) if method == "EVCLUS" else RECM(4, beta=1.5, **settings)
    D = matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(D)
        return stopwatch(lambda: model.fit(D))


def recm_steps() -> tuple[int, int]:
    """Steps of all starts until RECM rests at its defaults, with guesses and plain, on a square without clusters."""
    from scipy.spatial.distance import pdist, squareform

    from evidentia.relational import RECM
    from evidentia.relational.recm import VECTORS, recm_step
    from evidentia.solvers.descent import descend

    model, calls = RECM(3), [0, 0]
    problem = model._problem(squareform(pdist(np.random.default_rng(3).uniform(size=(150, 2)), "sqeuclidean")), 0.0)
    for start in model._starts(problem, np.random.RandomState(0)):
        for kind, vectors in enumerate((VECTORS, None)):

            def step(weights: np.ndarray, kind: int = kind) -> tuple[float, np.ndarray]:
                calls[kind] += 1
                return recm_step(problem, weights)

            descend(step, start, max_iter=5000, tol=model.tol, relative=True, vectors=vectors)
    return calls[0], calls[1]


def plain_soft_dtw(series: np.ndarray, gamma: float) -> np.ndarray:
    """Soft-DTW divergences of series (n, t) in NumPy, all pairs at a time, row by row."""
    one, other = np.tril_indices(len(series))
    x, y, t = series[one].T, series[other].T, series.shape[1]
    above = np.full((t + 1, len(one)), np.inf)
    above[0] = 0
    for i in range(t):
        here = np.full_like(above, np.inf)
        for j in range(t):
            ways = np.stack([above[j + 1], here[j], above[j]])
            least = ways.min(axis=0)
            here[j + 1] = (x[i] - y[j]) ** 2 + least - gamma * np.log(np.exp((least - ways) / gamma).sum(axis=0))
        above = here
    found = np.empty((len(series), len(series)))
    found[one, other] = found[other, one] = above[t]
    own = np.diagonal(found)
    return np.maximum(found - (own[:, None] + own) / 2, 0)


def series_line(quick: bool) -> Line:
    """Divergences of all pairs of series."""
    from evidentia.solvers.soft_warping import divergence

    n, t = (20, 20) if quick else (200, 60)
    series = np.cumsum(np.random.default_rng(0).standard_normal((n, t)), axis=1)
    several = list(series[:, :, None].copy())
    found, expected = divergence(several, None, 0.1), plain_soft_dtw(series, 0.1)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    ours = stopwatch(lambda: divergence(several, None, 0.1))
    peer = stopwatch(lambda: plain_soft_dtw(series, 0.1), repeats=1)
    return speed("soft-DTW of all pairs (peer: NumPy)", f"{n} series of {t}", ours, peer, 5)


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    from evidentia.datasets import load

    X = load("s2").data
    for n_pairs, peer in R_SECONDS.items():
        settings = {"n_clusters": 15, "n_pairs": n_pairs, "delta0": 0.2, "max_iter": SWEEPS, "tol": 0}
        fit(X, **settings)
        ours = stopwatch(lambda settings=settings: fit(X, **settings))  # type: ignore[misc]
        yield speed(f"k-EVCLUS, {SWEEPS} sweeps (peer: R)", f"S2, c=15, k={n_pairs}", ours, peer, 20)
    n = 5_000 if quick else 100_000
    seconds, megabytes, sweeps = in_own_process("benchmarks.relational", "large", n, 100, 10)
    size = f"{n:,} x 5, c=10, k=100"
    good = seconds < LARGE_SECONDS
    yield Line(f"k-EVCLUS until it rests ({sweeps} sweeps)", size, duration(seconds), "", "", "< 240 s", good)
    yield memory("k-EVCLUS, memory", size, megabytes, LARGE_MEGABYTES)
    for method in ("EVCLUS", "RECM"):
        what, size = f"{method}, {SWEEPS} iterations (peer: evclust)", "200 objects, c=4"
        ours = ours_seconds(method)
        try:
            peer = in_own_process("benchmarks.relational", "peer_seconds", method, python=peer_python)
            yield speed(what, size, ours, peer, 1)
        except RuntimeError as error:
            print(f"{peer_python} could not run {method} of evclust 0.2.1: {error}", file=sys.stderr)
            yield Line(what, size, duration(ours), "", "no peer", ">= 1 x", None)
    fewer, plain = recm_steps()
    ratio = plain / fewer
    yield Line(
        "RECM, steps until it rests (peer: plain)", "150 objects, c=3", f"{fewer}", f"{plain}", f"{ratio:.1f} x",
        ">= 2 x", ratio >= 2,
    )  # fmt: skip
    yield series_line(quick)
