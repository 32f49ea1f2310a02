"""Several views: WMVEC against ECM on the joined table, an iteration each, and against evclust 0.2.1; MECMdd.

The peer starts one center too few, counts the sets beyond the clusters wrongly in places, and chooses medoids by the
mass of the candidate; it is timed for the same number of iterations on small tables all the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import (
    Line,
    beside_evclust,
    duration,
    in_own_process,
    memory,
    peak_beyond,
    seconds_by_evclust,
    stopwatch,
    within,
)

ITERATIONS = 20
PEER_ITERATIONS = 5
PEER_ON_MATRICES = 2  # the peer takes no number; where any change of J is small enough it ends after two
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000.0


def tables(n: int, n_views: int = 3, width: int = 20, n_clusters: int = 5) -> list[np.ndarray]:
    """Groups in every view."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % n_clusters
    return [rng.normal(size=(n, width)) + 1.5 * rng.normal(size=(n_clusters, width))[group] for _ in range(n_views)]


def small_tables(n: int) -> list[np.ndarray]:
    return tables(n, n_views=2, width=5, n_clusters=3)


def seconds_of_an_iteration(model: Any, X: Any) -> float:
    """The difference of a fit of many iterations and of one with a single one."""

    def fit(count: int) -> float:
        return stopwatch(lambda: model.set_params(max_iter=count, tol=0).fit(X), repeats=5)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
        fit(1)
        return (fit(ITERATIONS + 1) - fit(1)) / ITERATIONS


def peer_seconds(n: int) -> dict[str, float | str]:
    """Seconds of evclust's methods for some iterations on two views, or why they failed."""
    from evclust.mecmdd_rwg import mecmdd_rwg
    from evclust.mecmdd_rwl import mecmdd_rwl
    from evclust.wmvec import wmvec
    from evclust.wmvec_fp import wmvec_fp
    from scipy.spatial.distance import cdist

    views = [(X - X.min(axis=0)) / np.ptp(X, axis=0) for X in small_tables(n)]
    given, count = [cdist(X, X) for X in views], PEER_ITERATIONS
    settings = {"type": "full", "disp": False}
    on_tables = settings | {"alpha": 2, "delta": 5, "maxit": count, "epsi": 0, "beta": 1.5, "lmbda": np.exp(3)}
    plan: dict[str, Callable[[], Any]] = {
        "WMVEC": lambda: wmvec(views, 3, **on_tables),
        "WMVECFP": lambda: wmvec_fp(views, 3, **on_tables),
        "MECMdd, global": lambda: mecmdd_rwg(given, 3, epsi=1e300, weight="prod", **settings),
        "MECMdd, local": lambda: mecmdd_rwl(given, 3, epsi=1e300, weight="prod", **settings),
    }
    found: dict[str, float | str] = {}
    for name, work in plan.items():
        begin = time.process_time()
        try:
            work()
            found[name] = time.process_time() - begin
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def beside_the_peer(n: int, peer_python: str) -> Iterator[Line]:
    """Our methods for as many iterations on the same tables and matrices."""
    from scipy.spatial.distance import cdist

    from evidentia import WMVEC, WMVECFP, MECMdd

    views, size = small_tables(n), f"{n:,} x 2 x 5, c=3"
    given = [cdist(X, X) for X in views]
    settings: dict[str, Any] = {"focal_sets": "full", "n_init": 1, "random_state": 0, "tol": 0}
    on_matrices = settings | {"max_iter": PEER_ON_MATRICES}
    plan: dict[str, tuple[Any, list[np.ndarray]]] = {
        "WMVEC": (WMVEC(3, max_iter=PEER_ITERATIONS, **settings), views),
        "WMVECFP": (WMVECFP(3, max_iter=PEER_ITERATIONS, **settings), views),
        "MECMdd, global": (MECMdd(3, **on_matrices), given),
        "MECMdd, local": (MECMdd(3, weights="local", **on_matrices), given),
    }
    peer = seconds_by_evclust("benchmarks.views", "peer_seconds", n, python=peer_python)
    for name, (model, X) in plan.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
            seconds = stopwatch(partial(model.fit, X), repeats=10)
        what = f"{name}, {model.max_iter} iterations (peer: evclust)"
        yield beside_evclust(what, size, seconds, peer.get(name), 10)


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
    yield from beside_the_peer(100 if quick else 300, peer_python)
    n = 300 if quick else 3_000
    megabytes, seconds = in_own_process("benchmarks.views", "matrices", n)
    size = f"3 of {n:,} x {n:,}, c=4"
    yield Line("MECMdd, ten starts", size, duration(seconds), "", "", f"< {MOST_SECONDS:g} s", seconds < MOST_SECONDS)
    yield memory("MECMdd, its matrices included", size, megabytes, MOST_MEGABYTES)
