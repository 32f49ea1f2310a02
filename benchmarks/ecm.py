"""ECM against the ``ecm`` of the PyPI package evclust: same data, same start, same number of iterations.

The peer changes NumPy's global error state on import and pins old versions of documentation tools, so it runs in an
interpreter of its own, best from an environment of its own.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, speed, stopwatch

ITERATIONS = 20
RHO = 10.0


def table(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters in the plane, and a start."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 4.0], [4.0, 0.0]])
    X = centers[rng.integers(4, size=n)] + 1.4 * rng.standard_normal((n, 2))
    return X, centers + rng.standard_normal(centers.shape)


def fit(X: np.ndarray, start: np.ndarray) -> None:
    from sklearn.exceptions import ConvergenceWarning

    from evidentia import ECM

    model = ECM(len(start), focal_sets="full", init=start, rho=RHO, max_iter=ITERATIONS, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of iterations is fixed on purpose
        model.fit(X)
    assert model.n_iter_ == ITERATIONS, f"ECM stopped after {model.n_iter_} iterations"


def peer_seconds(n: int) -> float:
    """Seconds of the peer for the same iterations; it has no limit of its own, so its progress report stops it."""
    from evclust.ecm import ecm

    class Enough(Exception):
        pass

    def report(progress: list[float]) -> None:
        if progress[0] >= ITERATIONS:
            raise Enough

    sys.modules["evclust.ecm"].print = report
    X, start = table(n)
    begin = time.process_time()
    try:
        ecm(X, len(start), g0=start, type="full", delta=RHO, epsi=0.0, disp=True)
    except Enough:
        return time.process_time() - begin
    raise RuntimeError(f"the peer stopped before {ITERATIONS} iterations")


def lines(quick: bool, peer_python: str) -> Iterator[Line]:
    n = 200 if quick else 1000
    what, size = f"ECM, {ITERATIONS} iterations (peer: evclust)", f"{n:,} x 2, c=4, 16 sets"
    X, start = table(n)
    ours = stopwatch(lambda: fit(X, start), repeats=20)
    try:
        yield speed(what, size, ours, in_own_process("benchmarks.ecm", "peer_seconds", n, python=peer_python), 100)
    except RuntimeError as error:
        print(f"{peer_python} could not run evclust 0.2.1: {error}", file=sys.stderr)
        yield Line(what, size, duration(ours), "", "no peer", ">= 100 x", None)
