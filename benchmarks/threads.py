"""What a second thread gains, beside a control: two plain loops side by side, which tell whether two cores were free.

Seconds on the clock, of two threads ("ours") and of one ("peer"); each line has its own control, measured between its
repeats. Only passes over rows have a target. A whole fit has starts on a sample beside them, where one step waits for
another; IRQP's sweeps over all pairs are a chain of small problems between products of matrices, and k-EVCLUS measures
its dissimilarities on one thread before it sweeps.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Line, duration
from evidentia.rows.source import ArrayRows
from evidentia.solvers.compiling import compiled
from evidentia.solvers.threads import thread_pool, threads

FREE = 1.8  # a control below this says that something else had a part of the second core
GAIN = 1.7


@compiled(nogil=True)
def _spin(steps: int) -> float:
    """A loop that stays in registers: nothing but a core is shared."""
    total = 0.5
    for _ in range(steps):
        total = 3.7 * total * (1 - total)
    return total


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def control(steps: int = 50_000_000) -> float:
    """How many times as much two threads did as one in the same time."""
    _spin(10)
    alone = seconds(lambda: _spin(steps))
    with thread_pool(2) as each:
        both = seconds(lambda: each(_spin, [steps, steps]))
    return 2 * alone / both


def line(what: str, size: str, work: Callable[[], Any], target: float | None = None, repeats: int = 2) -> Line:
    """The gain of a second thread; a target counts only when the controls say that two cores were there to be used."""
    work()  # compiled by now
    free = [control()]
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeats):
        for n_jobs, kept in times.items():
            with threads(n_jobs):
                kept.append(seconds(work))
        free.append(control())
    one, two = min(times[1]), min(times[2])
    gain, least = one / two, min(free)
    return Line(
        f"{what}, 2 threads (control {least:.2f} x)", size, duration(two), duration(one), f"{gain:.2f} x",
        f">= {target:g} x" if target else "", gain >= target if target and least >= FREE else None,
    )  # fmt: skip


def blobs(n: int, d: int, n_clusters: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((n_clusters, d))
    return centers[rng.integers(n_clusters, size=n)] + rng.standard_normal((n, d))


def quietly(model: Any, X: np.ndarray) -> Callable[[], Any]:
    """A fit that may end before it rests."""

    def work() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)

    return work


def sweeps(n: int) -> Callable[[], Any]:
    """Sweeps over pairs that are all given, and nothing else."""
    from scipy.spatial.distance import cdist

    from evidentia.belief import FocalSets
    from evidentia.solvers.irqp import irqp

    X, sets = blobs(n, 5, 6), FocalSets(6, "pairs")
    wanted = np.minimum(cdist(X, X) / 15, 1)[None]
    start = np.random.default_rng(1).dirichlet(np.ones(len(sets)), n)
    return lambda: irqp(start, sets.disjoint.astype(float)[None], wanted, tol=0, max_iter=5)


def egmm_passes(X: np.ndarray, start: np.ndarray, model: str, repeats: int = 10) -> Callable[[], Any]:
    """Passes of EGMM over rows in memory."""
    from benchmarks.egmm import engine
    from evidentia.belief import FocalSets
    from evidentia.mixtures.set_mixture import Parameters, Patterns
    from evidentia.solvers.barycentric import averaging

    (n_clusters, d), tool = start.shape, engine(model)
    sets = FocalSets(n_clusters, "pairs", empty=False)
    within = np.stack([np.eye(d)] * (1 if model == "EEE" else n_clusters))
    parameters = Parameters(np.full(len(sets), 1 / len(sets)), start, within)
    rows = Patterns(ArrayRows(X).map_chunks(lambda chunk: tool.observe(chunk.table)), complete=True)
    average = averaging(sets)
    return lambda: [tool.gather(rows, parameters, average) for _ in range(repeats)]


def ecm_passes(X: np.ndarray, start: np.ndarray, repeats: int = 10) -> Callable[[], Any]:
    """Passes of ECM over rows in memory."""
    from evidentia.belief import FocalSets
    from evidentia.prototypes._kernel import ColumnChunk, Criterion, Prototypes, descent_step

    criterion = Criterion(FocalSets(len(start), "pairs"), 1.0, 2.0, 10.0)
    rows = ArrayRows(X).map_chunks(lambda chunk: ColumnChunk(np.ascontiguousarray(chunk.table.T), None))
    return lambda: [descent_step(rows, float(len(X)), criterion, Prototypes(start)) for _ in range(repeats)]


def lines(quick: bool) -> Iterator[Line]:
    from evidentia import ECM, EGMM
    from evidentia.relational import EVCLUS

    n = 100_000 if quick else 1_000_000
    X = blobs(n, 10, 5)
    size = f"{n:,} x 10, c=5"
    settings: dict[str, Any] = {"n_init": 1, "random_state": 0}
    for model in ("EEE", "VVV"):
        yield line(f"EGMM {model}, 10 passes", size, egmm_passes(X, X[:5], model), GAIN)
    yield line("ECM, 10 passes", size, ecm_passes(X, X[:5]), GAIN)
    yield line("EGMM VVV, a fit", size, quietly(EGMM(5, model="VVV", **settings), X))
    yield line("ECM, a fit", size, quietly(ECM(5, **settings), X))
    n = 5_000 if quick else 40_000
    model = EVCLUS(10, focal_sets="simple", n_pairs=100, delta0=0.2, max_iter=20, tol=0, **settings)
    yield line("k-EVCLUS", f"{n:,} x 5, c=10, k=100", quietly(model, blobs(n, 5, 10)))
    n = 1_000 if quick else 6_000
    yield line("IRQP", f"{n:,}, c=6, pairs", sweeps(n))
