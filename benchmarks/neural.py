"""NN-EVCLUS: seconds to the losses of R's ``nnevclus``, batches on S2, S4 and D31, and growth with the objects.

The seconds of R with evclust (``nnevclus`` and ``nnevclus_mb``) and those of the paper for S4 and D31 are constants
from earlier measurements, not of this run or machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch

R_FOURCLASS, R_FOURCLASS_SVM, R_IRIS, R_LOSS = 144.0, 115.0, 29.0, 5.5e-3
R_S2, S2_EPOCHS, S2_LOSS, S2_ARI = 92.0, 20, 1.7e-2, 0.58
PAPER = {"s4": (15, 0.2, "430 s"), "d31": (31, 0.1, "400 s")}


def fit(X: np.ndarray, n_clusters: int, links: Any = None, **settings: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from evidentia.neural import NNEVCLUS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # numbers of iterations are fixed on purpose
        return NNEVCLUS(n_clusters, **{"n_init": 1, "random_state": 0, **settings}).fit(X, constraints=links)


def whole_loss(model: Any, X: np.ndarray) -> float:
    """Loss over all pairs, in blocks."""
    from evidentia.dissimilarities import Table, delta_star

    source, masses = Table(X, "euclidean", {}), model.partition_.masses
    opposed, total, n = masses @ model.focal_sets_.disjoint.astype(float), 0.0, len(X)
    for start in range(0, n, 500):
        rows = slice(start, start + 500)
        wanted = delta_star(source.block(rows, slice(None)), model.delta0_)
        gap = np.square(opposed[rows] @ masses.T - wanted)
        total += gap.sum() - gap[np.arange(len(gap)), start + np.arange(len(gap))].sum()
    return total / (n * (n - 1))


def at_most(what: str, size: str, value: float, limit: float) -> Line:
    return Line(what, size, "", "", f"{value:.2e}", f"<= {limit:.1e}", value <= limit)


def blobs(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return 6 * rng.standard_normal((10, 20))[rng.integers(10, size=n)] + rng.standard_normal((n, 20))


def epoch(n: int) -> float:
    """Seconds of an epoch on n objects in 20 dimensions: two epochs less one."""
    X = blobs(n)

    def run(max_iter: int) -> None:
        fit(X, 10, focal_sets="simple", optimizer="adam", max_iter=max_iter)

    run(1)
    return (stopwatch(lambda: run(3)) - stopwatch(lambda: run(1))) / 2


def epoch_memory(n: int) -> float:
    """Megabytes of a fit beyond its table and its masses."""
    fit(blobs(500), 10, focal_sets="simple", optimizer="adam", max_iter=1)
    X = blobs(n)
    return peak_beyond(lambda: fit(X, 10, focal_sets="simple", optimizer="adam", max_iter=1))


def lines(quick: bool) -> Iterator[Line]:
    from sklearn.datasets import load_iris
    from sklearn.metrics import adjusted_rand_score

    from evidentia.constraints import PairwiseConstraints
    from evidentia.datasets import load

    X = np.asarray(load("fourclass").data)
    settings: dict[str, Any] = {"hidden": 20, "n_pairs": 100}
    for what, peer, more in (
        ("NNEVCLUS to loss 5.5e-3 (peer: R)", R_FOURCLASS, {}),
        ("NNEVCLUS with SVM, likewise (peer: R)", R_FOURCLASS_SVM, {"outliers": True, "svm_gamma": 0.2}),
    ):
        model = fit(X, 4, **settings, **more)
        enough = {**settings, **more, "max_iter": int((model.criterion_trace_ <= R_LOSS).argmax()) or 1}
        ours = stopwatch(lambda enough=enough: fit(X, 4, **enough), 2)  # type: ignore[misc]
        yield speed(what, "Fourclass, c=4, k=100", ours, peer, 50)
        yield at_most(
            f"NNEVCLUS, loss after {enough['max_iter']} iterations", "Fourclass", fit(X, 4, **enough).loss_, R_LOSS
        )
        yield Line(
            "NNEVCLUS until it rests",
            "Fourclass",
            duration(stopwatch(lambda m=more: fit(X, 4, **settings, **m), 1)),  # type: ignore[misc]
            "",
            "",
            "",
            None,
        )

    X, y = load_iris(return_X_y=True)
    links = PairwiseConstraints.sample(y, 100, random_state=0)
    ours = stopwatch(lambda: fit(X, 3, links, hidden=20, n_init=1, init="random"))  # as R starts
    yield speed("NNEVCLUS with links, random start (peer: R)", "Iris, 100 links", ours, R_IRIS, 30)

    data = load("s2")
    X = np.asarray(data.data)
    settings = {"focal_sets": "simple", "hidden": 30, "delta0": 0.2, "optimizer": "adam"}
    n_epochs = 2 if quick else S2_EPOCHS
    begin = time.process_time()
    model = fit(X, 15, max_iter=n_epochs, **settings)
    ours = (time.process_time() - begin) / n_epochs
    yield speed("NNEVCLUS, an epoch (peer: R)", "S2, c=15", ours, R_S2 / S2_EPOCHS, 50)
    yield at_most(f"NNEVCLUS, loss after {n_epochs} epochs", "S2", whole_loss(model, X), S2_LOSS)
    ari = adjusted_rand_score(data.target, model.labels_)
    yield Line(
        f"NNEVCLUS, ARI after {n_epochs} epochs", "S2", f"{ari:.2f}", f"{S2_ARI}", "", f">= {S2_ARI}", ari >= S2_ARI
    )

    for name, (n_clusters, delta0, quoted) in PAPER.items():
        data = load(name)
        X = np.asarray(data.data)
        budget = {"max_iter": 2} if quick else {}
        begin = time.process_time()
        model = fit(X, n_clusters, **{**settings, "delta0": delta0, **budget})
        ours = time.process_time() - begin
        ari = adjusted_rand_score(data.target, model.labels_)
        what = f"NNEVCLUS until it rests (ARI {ari:.2f}; paper)"
        yield Line(what, f"{name.upper()}, c={n_clusters}", duration(ours), quoted, "", "< 20 s", ours < 20)

    counts = [2_500, 10_000] if quick else [25_000, 50_000, 100_000]
    times = [in_own_process("benchmarks.neural", "epoch", n) for n in counts]
    for n, seconds in zip(counts, times):
        yield Line("NNEVCLUS, an epoch", f"{n:,} x 20, c=10", duration(seconds), "", "", "", None)
    slope = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    size = f"{counts[0]:,} to {counts[-1]:,}"
    yield Line("NNEVCLUS, growth (log-log slope)", size, "", "", f"{slope:.2f}", "<= 1.10", slope <= 1.1)
    used = in_own_process("benchmarks.neural", "epoch_memory", counts[-1])
    yield memory("NNEVCLUS, memory beyond the table", f"{counts[-1]:,} x 20, c=10", used, 150)
