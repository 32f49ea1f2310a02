"""Several views: WMVEC against ECM on the joined table, an iteration each, and against evclust 0.2.1; MECMdd.

The peer starts one center too few and counts the sets beyond the clusters wrongly in places; it is timed for the same
number of iterations on a small table all the same.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch, within

ITERATIONS = 20
PEER_ITERATIONS = 5
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000.0


def tables(n: int, n_views: int = 3, width: int = 20, n_clusters: int = 5) -> list[np.ndarray]:
    """Groups in every view."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % n_clusters
    return [rng.normal(size=(n, width)) + 1.5 * rng.normal(size=(n_clusters, width))[group] for _ in range(n_views)]


def seconds_of_an_iteration(model: Any, X: Any) -> float:
    """The difference of a fit of many iterations and of one with a single one."""

    def fit(count: int) -> float:
        return stopwatch(lambda: model.set_params(max_iter=count, tol=0).fit(X), repeats=5)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
        fit(1)
        return (fit(ITERATIONS + 1) - fit(1)) / ITERATIONS


def peer_seconds(n: int) -> float:
    """Seconds of evclust's ``wmvec`` for some iterations on two views."""
    from evclust.wmvec import wmvec

    views = [(X - X.min(axis=0)) / np.ptp(X, axis=0) for X in tables(n, n_views=2, width=5, n_clusters=3)]
    settings = {"alpha": 2, "delta": 5, "maxit": PEER_ITERATIONS, "epsi": 0, "beta": 1.5, "lmbda": np.exp(3)}
    begin = time.process_time()
    wmvec(views, 3, type="full", disp=False, **settings)
    return time.process_time() - begin


def matrices(n: int) -> tuple[float, float]:
    """Seconds and megabytes of MECMdd on three matrices, which are there before."""
    from scipy.spatial.distance import cdist

    from evidentia import MECMdd

    given, seconds = [cdist(X, X) for X in tables(n, width=2, n_clusters=4)], 0.0

    def work() -> None:
        nonlocal seconds
        start = time.process_time()
        MECMdd(4, random_state=0).fit(given)
        seconds = time.process_time() - start

    return peak_beyond(work) + sum(D.nbytes for D in given) / 1e6, seconds


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    from evidentia import ECM, WMVEC, WMVECFP

    n = 1_000 if quick else 10_000
    views, size = tables(n), f"{n:,} x 3 x 20, c=5"
    settings: dict[str, Any] = {"focal_sets": "full", "n_init": 1, "random_state": 0}
    ecm = seconds_of_an_iteration(ECM(5, **settings), np.hstack(views))
    for cls in (WMVEC, WMVECFP):
        ours = seconds_of_an_iteration(cls(5, **settings), views)
        yield within(f"{cls.__name__}, an iteration (beside: our ECM)", size, ours, ecm, 3)
    few = 100 if quick else 300
    small, what = tables(few, n_views=2, width=5, n_clusters=3), f"WMVEC, {PEER_ITERATIONS} iterations (peer: evclust)"
    model = WMVEC(3, max_iter=PEER_ITERATIONS, tol=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = stopwatch(lambda: model.fit(small), repeats=10)
    size = f"{few:,} x 2 x 5, c=3"
    try:
        theirs = in_own_process("benchmarks.views", "peer_seconds", few, python=peer_python)
        yield speed(what, size, ours, theirs, 10)
    except RuntimeError as error:
        print(f"{peer_python} could not run evclust 0.2.1: {error}", file=sys.stderr)
        yield Line(what, size, duration(ours), "", "no peer", ">= 10 x", None)
    n = 300 if quick else 3_000
    megabytes, seconds = in_own_process("benchmarks.views", "matrices", n)
    size = f"3 of {n:,} x {n:,}, c=4"
    yield Line("MECMdd, ten starts", size, duration(seconds), "", "", f"< {MOST_SECONDS:g} s", seconds < MOST_SECONDS)
    yield memory("MECMdd, its matrices included", size, megabytes, MOST_MEGABYTES)
