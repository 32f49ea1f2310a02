"""EGMM against mixtures of scikit-learn, its search against ours without sets, its memory, growth and likelihood."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch, within
from evidentia import EGMM, FocalSets
from evidentia.app.cli import app
from evidentia.mixtures import ParsimoniousGaussianMixture
from evidentia.mixtures._em import Engine, Parameters, Pattern, Patterns, engine
from evidentia.rows.source import ArrayRows, Chunk
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.threads import one_blas_thread, threads

PAPER = {"model": "EEE", "focal_sets": "full", "prior": None}


def table(n: int, d: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters, and start centers away from the solution."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((n_clusters, d))
    X = rng.standard_normal((n, d))
    for start in range(0, n, 10_000):  # in chunks, so that the table is all that making it needs
        chunk = X[start : start + 10_000]
        chunk += centers[rng.integers(n_clusters, size=len(chunk))]
    return X, centers + 0.5 * rng.standard_normal(centers.shape)


def fit(X: np.ndarray, start: np.ndarray, max_iter: int, **settings: Any) -> EGMM:
    """The paper's mixture, or another one."""
    model = EGMM(len(start), init=start, n_init=1, tol=0, max_iter=max_iter, random_state=0, **{**PAPER, **settings})
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


def fit_components(X: np.ndarray, start: np.ndarray, max_iter: int) -> GaussianMixture:
    """scikit-learn's mixture with a component for each cluster, each with a covariance of its own."""
    peer = GaussianMixture(
        len(start),
        means_init=start,
        weights_init=np.full(len(start), 1 / len(start)),
        precisions_init=np.stack([np.eye(X.shape[1])] * len(start)),
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
        + multivariate_normal(model.cluster_centers_[list(subset)].mean(axis=0), model.covariances_[0]).logpdf(X)
        for weight, subset in zip(model.weights_, model.focal_sets_)
    ]
    return float(logsumexp(components, axis=0).sum())


def wide_table() -> tuple[np.ndarray, np.ndarray]:
    """Three groups in 300 rows of 2,000 columns, and start centers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2_000))
    X[:, :20] += np.repeat(3 * rng.standard_normal((3, 20)), 100, axis=0)
    return X, X[[0, 100, 200]]


def quietly(work: Any) -> None:
    """Without what is said about numbers at an end of their range, and without printing."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        work()


def digits_seconds() -> float:
    """CPU seconds of the command on the digits of scikit-learn, its report included; for a fresh process."""
    digits = load_digits(as_frame=True)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "digits.csv"
        digits.data.to_csv(file, index=False)
        command = ["fit", str(file), "--out", str(Path(directory) / "found")]
        return stopwatch(lambda: quietly(lambda: app(command, standalone_mode=False)), repeats=1)


def limits_of_the_machine() -> tuple[float, float, float]:
    """Seconds of one core for a flop (a large product), an exponential (in the cache) and a byte read from memory."""
    rng = np.random.default_rng(0)
    a, b, near, far = rng.random((1000, 1000)), rng.random((1000, 1000)), -rng.random(1 << 12), rng.random(1 << 23)
    into, nearby = np.empty_like(a), np.empty_like(near)
    product = stopwatch(lambda: np.matmul(a, b, out=into), repeats=7) / 2e9
    exponential = stopwatch(lambda: [np.exp(near, out=nearby) for _ in range(500)], repeats=7) / (500 * near.size)
    return product, exponential, stopwatch(far.sum, repeats=7) / far.nbytes


def observed(tool: Engine, chunk: Chunk) -> list[Pattern]:
    return tool.observe(chunk.table, chunk.weight)


@one_blas_thread()
def pass_lines(quick: bool) -> Iterator[Line]:
    """One pass over the rows, and its share of the time below which no program could do it on this core.

    Every score and every sum is a product and an addition for each feature, every posterior an exponential, and every
    row has to be read; reading may go on beside computing. With 3 sets there is little of this, and the rest shows: of
    13 ns a row 9 are work in the cache, where dividing, scaling and the sums over lanes at the end of a block take 3,
    and 2 to 4 are spent waiting for memory.
    """
    shapes = [(1_000_000, 10, 3, "full", "EEE"), (1_000_000, 10, 3, "singletons", "EEE")]
    shapes += [(200_000, 50, 6, "full", "EEE"), (100_000, 10, 3, "full", "VVV")]
    for n, d, n_clusters, family, model in shapes:
        n = n // 20 if quick else n
        X, start = table(n, d, n_clusters)
        sets = FocalSets(n_clusters, family, empty=False)
        tool, average = engine(model), averaging(sets)
        within = np.stack([np.eye(d)] * (1 if model == "EEE" else n_clusters))
        parameters = Parameters(np.full(len(sets), 1 / len(sets)), start, within)
        rows = Patterns(ArrayRows(X).map_chunks(partial(observed, tool)), complete=True)
        with threads(1):
            tool.gather(rows, parameters, average)  # the first pass makes what all have in common
            flop, exponential, byte = limits_of_the_machine()  # beside each pass, as other programs come and go
            seconds = stopwatch(partial(tool.gather, rows, parameters, average), repeats=7)
        n_terms = d + 1 if model == "EEE" else (d + 1) * (d + 2) // 2
        work = n * len(sets) * (4 * n_terms * flop + exponential)
        limit = max(work, X.nbytes * byte)
        what, size = f"EGMM {model}, a pass (peer: limit of the core)", f"{n:,} x {d}, f={len(sets)}"
        share = limit / seconds
        yield Line(what, size, duration(seconds), duration(limit), f"{100 * share:.0f} %", ">= 60 %", share >= 0.6)


def model_lines(quick: bool) -> Iterator[Line]:
    """Covariances that differ, and the search over models and numbers."""
    n, d, n_clusters = (5_000 if quick else 100_000), 10, 3
    X, start = table(n, d, n_clusters)
    peer = seconds_per_iteration(fit_components, X, start, 1, 4)
    # Automatic sets are laid over what was fitted, so that only given ones take part in iterations.
    ours = seconds_per_iteration(partial(fit, model="VVV", focal_sets="full", prior="data"), X, start, 1, 4)
    yield within("EGMM VVV, full, iteration (peer: sklearn)", f"{n:,} x {d}, C={n_clusters}", ours, peer, 3)

    wide, start = wide_table()
    size = "300 x 2,000, C=3"
    often = partial(stopwatch, repeats=9)  # of some hundredths of a second each
    ours = often(lambda: EGMM(3, model="VVI", init=start).fit(wide))
    peer = often(lambda: GaussianMixture(3, covariance_type="diag", means_init=start, random_state=0).fit(wide))
    yield within("EGMM VVI, start given (peer: sklearn diag)", size, ours, peer, 3)
    ours = often(lambda: EGMM(3, model="VVI", random_state=0).fit(wide))
    peer = often(lambda: GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(wide))
    yield within("EGMM VVI, 3 own starts (peer: sklearn diag)", size, ours, peer, 3)

    iris, counts = load_iris().data, (2, 3 if quick else 8)
    models = [cls(cluster_range=counts, random_state=0) for cls in (EGMM, ParsimoniousGaussianMixture)]
    for model in models:
        quietly(partial(model.fit, iris))  # compiles what is not compiled yet
    ours, peer = (stopwatch(partial(quietly, partial(model.fit, iris))) for model in models)
    yield within("EGMM, 14 models (peer: without sets)", f"Iris, c={counts[0]}…{counts[1]}", ours, peer, 5)

    if not quick:
        seconds = in_own_process("benchmarks.egmm", "digits_seconds")
        yield Line("evidentia fit, digits, CPU", "1,797 x 64", duration(seconds), "", "", "< 20.00 s", seconds < 20)


def lines(quick: bool) -> Iterator[Line]:
    yield from pass_lines(quick)
    yield from model_lines(quick)
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
