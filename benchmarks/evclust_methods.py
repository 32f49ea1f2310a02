"""Every method of the PyPI package evclust 0.2.1 that we have too, on real tables: one start, ten iterations.

The peer's ECM and BPEC take no number of iterations; these run until they rest, by each package's own rule (ours is the
stricter one). Its methods on several views are in ``benchmarks.views``, its ``catecm`` is in ``benchmarks.categories``.
It has no constrained methods, and none on series.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Line, beside_evclust, seconds_by_evclust, stopwatch

ITERATIONS = 10
DATA = ("iris", "wine", "seeds", "fourclass", "protein")
METHODS = ("ECM", "EGMM", "CCM", "BPEC", "EVCLUS", "RECM", "SECMdd", "MECM")
ON_TABLES = ("ECM", "EGMM", "CCM", "BPEC")


def case(name: str) -> tuple[np.ndarray | None, np.ndarray, int]:
    """Standardized columns (None when there are none), dissimilarities, and the number of classes."""
    from scipy.spatial.distance import cdist

    from evidentia.datasets import load

    data = load(name)
    n_clusters = len(np.unique(data.target))
    if data.data is None:
        return None, np.asarray(data.dissimilarity), n_clusters
    X = np.asarray(data.data, dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, cdist(X, X), n_clusters


def far_apart(D: np.ndarray, count: int) -> list[int]:
    """Objects to begin with: the most central one, then each time the one farthest from those chosen."""
    chosen = [int(D.sum(axis=1).argmin())]
    while len(chosen) < count:
        chosen.append(int(D[chosen].min(axis=0).argmax()))
    return chosen


def peer_seconds(file: str) -> dict[str, float | str]:
    """Seconds of each method of the peer, or why it failed; runs in the peer's interpreter."""
    import importlib

    with np.load(file) as stored:
        X, D, peaks = stored["X"], stored["D"], stored["peaks"]
    c = len(peaks)
    plan: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
        "ECM": ("ecm", (X, c), {"type": "full"}),
        "EGMM": ("egmm", (X, c), {"type": "full", "max_iter": ITERATIONS, "epsi": 0.0}),
        "CCM": ("ccm", (X, c), {"type": "full", "maxit": ITERATIONS, "epsi": 0.0}),
        "BPEC": ("bpec", (X, X[peaks] if len(X) else X), {"type": "full"}),
        "EVCLUS": ("kevclus", (), {"D": D, "c": c, "type": "full", "maxit": ITERATIONS, "epsi": 0.0}),
        "RECM": ("recm", (D**2, c), {"type": "full", "maxit": ITERATIONS, "epsi": 0.0}),
        "SECMdd": ("ecmdd", (D, c), {"type": "full", "maxit": ITERATIONS, "epsi": 0.0}),
        "MECM": ("mecm", (D, c), {"type": "full", "maxit": ITERATIONS, "epsi": 0.0}),
    }
    found: dict[str, float | str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, (name, arguments, settings) in plan.items():
            if not len(X) and method in ON_TABLES:
                continue
            work = getattr(importlib.import_module(f"evclust.{name}"), name)
            begin = time.process_time()
            try:
                work(*arguments, disp=False, **settings)
                found[method] = time.process_time() - begin
            except Exception as error:
                found[method] = f"{type(error).__name__}: {error}"
    return found


def ours(method: str, X: np.ndarray | None, D: np.ndarray, peaks: list[int]) -> Callable[[], Any]:
    """The same work by our method."""
    import evidentia

    settings: dict[str, Any] = {"focal_sets": "full", "random_state": 0, "n_init": 1}
    if method == "BPEC":
        model = evidentia.BPEC(peaks=peaks, focal_sets="full")
    elif method == "ECM":
        model = evidentia.ECM(len(peaks), **settings)
    else:
        if method == "EGMM":
            settings.update(model="EEE", prior=None, init="k-means")
        if method not in ON_TABLES:
            settings["metric"] = "precomputed"
        model = getattr(evidentia, method)(len(peaks), max_iter=ITERATIONS, tol=0, **settings)
    return lambda: model.fit(X if method in ON_TABLES else D)


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    for name in DATA[:1] if quick else DATA:
        X, D, n_clusters = case(name)
        peaks, size = far_apart(D, n_clusters), f"{name}, n={len(D)}, c={n_clusters}"
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "case.npz"
            np.savez(file, D=D, peaks=peaks, X=np.empty(0) if X is None else X)
            peer = seconds_by_evclust("benchmarks.evclust_methods", "peer_seconds", str(file), python=peer_python)
        for method in METHODS:
            if X is None and method in ON_TABLES:
                continue
            work = ours(method, X, D, peaks)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the number of iterations is fixed on purpose
                work()
                seconds = stopwatch(work)
            yield beside_evclust(f"{method} (peer: evclust)", size, seconds, peer.get(method), 1)
