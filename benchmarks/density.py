"""Clusters from density and from medoids: the δ–Bel graph, BPEC, EkNNclus, CCM, SECMdd and MECM.

The seconds of R 4.2 with evclust 2.0.3 on S2 (``delta_Bel``, ``bpec`` with the adaptive metric) were measured once,
single-threaded, and are constants here; evclust 0.2.1 from PyPI runs beside ours.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch

R_GRAPH, R_BPEC = 14.8, 70.0
LARGE = {  # seconds and megabytes; a matrix of all pairs would need 20 GB and 80 GB
    "BPEC": (50_000, 30.0, 1000.0),
    "EkNNclus": (100_000, 60.0, 1000.0),
}
MANY_COLUMNS = (500, 1000)
ITERATIONS = 20


def blobs(n: int, n_features: int, n_clusters: int = 10) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = 10 * rng.standard_normal((n_clusters, n_features))
    return centers[rng.integers(n_clusters, size=n)] + rng.standard_normal((n, n_features))


def large(method: str, n: int) -> tuple[float, float, int]:
    """Seconds, megabytes and the number of clusters found."""
    from evidentia.prototypes import BPEC
    from evidentia.relational import EkNNclus

    def model() -> Any:
        return BPEC() if method == "BPEC" else EkNNclus(n_neighbors=50, random_state=0)

    model().fit(blobs(500, 5, 3))  # compiled before the clock starts
    X, seconds, found = blobs(n, 5), 0.0, 0

    def work() -> None:
        nonlocal seconds, found
        start = time.process_time()
        found = model().fit(X).n_clusters_
        seconds = time.process_time() - start

    megabytes = peak_beyond(work)
    return seconds, megabytes, found


def peer_case() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table of 200 objects in four groups, their distances, and an object of each group."""
    X = blobs(200, 4, 4)  # in as many columns as groups: elsewhere the BPEC of the peer fails
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    return X, D, X[[0, int(D[0].argmax()), 7, 11]]


def peer_seconds(method: str) -> float:
    """Seconds of evclust 0.2.1 for one start."""
    import importlib

    name = {"SECMdd": "ecmdd"}.get(method, method.lower())
    work = getattr(importlib.import_module(f"evclust.{name}"), name)
    X, D, start = peer_case()
    settings: dict[str, Any] = {"disp": False, "type": "full", "epsi": 0.0}
    given: tuple[Any, ...] = (X, 4) if method == "CCM" else (X, start) if method == "BPEC" else (D, 4)
    if method == "BPEC":
        settings["epsi"] = 1e-3
    else:
        settings["maxit"] = ITERATIONS
    begin = time.process_time()
    work(*given, **settings)
    return time.process_time() - begin


def ours_seconds(method: str) -> float:
    """Seconds of ours for one start, run until it rests or as long as the peer."""
    from evidentia import prototypes

    X, D, start = peer_case()
    many: dict[str, Any] = {"focal_sets": "full", "max_iter": ITERATIONS, "tol": 0}
    if method == "BPEC":
        peaks = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in start]
        model, data = prototypes.BPEC(peaks=peaks, focal_sets="full"), X
    elif method == "CCM":
        model, data = prototypes.CCM(4, n_init=1, random_state=0, **many), X
    else:
        model = getattr(prototypes, method)(4, n_init=1, metric="precomputed", random_state=0, **many)
        data = D
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
        model.fit(data)
        return stopwatch(lambda: model.fit(data), repeats=5)


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    from evidentia.datasets import load
    from evidentia.prototypes import BPEC, belief_peaks

    X = np.asarray(load("s2").data)
    yield speed("delta-Bel graph (peer: R)", "S2", stopwatch(lambda: belief_peaks(X)), R_GRAPH, 50)
    yield speed("BPEC, adaptive metric (peer: R)", "S2, c=15", stopwatch(lambda: BPEC(15).fit(X)), R_BPEC, 50)
    n, p = (100, 200) if quick else MANY_COLUMNS
    table = blobs(n, p, 3)
    seconds = stopwatch(lambda: BPEC().fit(table), repeats=2)
    yield Line("BPEC, more columns than rows", f"{n} x {p:,}", duration(seconds), "", "", "< 2 s", seconds < 2)
    for method, (n, most_seconds, most_megabytes) in LARGE.items():
        n = n // 20 if quick else n
        size = f"{n:,} x 5" + (", K=50" if method == "EkNNclus" else "")
        seconds, megabytes, found = in_own_process("benchmarks.density", "large", method, n)
        what, target = f"{method} ({found} clusters found)", f"< {most_seconds:g} s"
        yield Line(what, size, duration(seconds), "", "", target, seconds < most_seconds)
        yield memory(f"{method}, memory", size, megabytes, most_megabytes)
    for method in ("BPEC", "CCM", "SECMdd", "MECM"):
        what, size = f"{method}, one start (peer: evclust)", "200 x 4, c=4, 16 sets"
        ours = ours_seconds(method)
        try:
            peer = in_own_process("benchmarks.density", "peer_seconds", method, python=peer_python)
            yield speed(what, size, ours, peer, 1)
        except RuntimeError as error:
            print(f"{peer_python} could not run {method} of evclust 0.2.1: {error}", file=sys.stderr)
            yield Line(what, size, duration(ours), "", "no peer", ">= 1 x", None)
