"""BootGMM against a plain loop: scikit-learn's mixture for each replicate, then ``np.quantile`` for the pairs.

The peer finds the intervals only, no credal partition, and is measured on some of the replicates and some of the pairs
and scaled up. The seconds of R are those of the published program on the machine where the targets were set.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.harness import Line, duration, in_own_process, peak_beyond, stopwatch
from evidentia.datasets import load, make_bootgmm_mixture

REPLICATES = 20  # of the peer
OBJECTS = 10  # whose pairs with all others the peer finds bounds for

# Data, model, clusters, replicates; seconds of R; our targets in seconds and megabytes.
CASES = {
    "iris": ("VEV", 3, 1000, "14.5", 0.36, None),  # a fortieth
    "diabetes": ("VVV", 3, 1000, "10.5", 0.5, None),
    "mixture 1": ("EII", 3, 1000, "35-54", 1.2, 300),
    "mixture 2": ("EEE", 3, 1000, "35-54", 1.2, 300),
    "mixture 3": ("VVV", 3, 1000, "35-54", 1.2, 300),
    "GvHD": ("VVV", 7, 100, "251", 2.5, 500),
}
LINEAR = 1.15  # largest exponent that is still called linear: the neighbors cost n log n


def table(name: str) -> np.ndarray:
    if name.startswith("mixture"):
        return np.asarray(make_bootgmm_mixture(int(name[-1]), random_state=0).data, dtype=float)
    X = np.asarray(load({"GvHD": "gvhd_positive"}.get(name, name)).data, dtype=float)
    return X[np.random.default_rng(0).choice(len(X), 1000, replace=False)] if name == "GvHD" else X


def estimator(model: str, n_clusters: int, n_boot: int, **changed):
    from evidentia import BootGMM

    focal_sets = "pairs" if n_clusters < 5 else "near-pairs"
    return BootGMM(n_clusters, model=model, n_boot=n_boot, focal_sets=focal_sets, random_state=0, **changed)


def compile_first(**changed) -> None:
    """What numba compiles, or reads from its cache, is not counted."""
    estimator("VVV", 2, 40, **changed).fit(table("mixture 1")[:60])
    estimator("VEV", 2, 40, **changed).fit(table("mixture 1")[:60])


def peer_seconds(X: np.ndarray, n_clusters: int, n_boot: int) -> float:
    """A loop over replicates and a quantile of each pair, on a part and scaled up."""
    rng = np.random.default_rng(0)
    n, posteriors = len(X), []

    def refit() -> None:
        for _ in range(REPLICATES):
            mixture = GaussianMixture(n_clusters, random_state=0, tol=1e-5, max_iter=1000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                posteriors.append(mixture.fit(X[rng.integers(0, n, n)]).predict_proba(X))

    fitting = stopwatch(refit, repeats=1) * n_boot / REPLICATES
    drawn = np.stack([posteriors[b % REPLICATES] for b in range(n_boot)])

    def bounds() -> None:
        for i in range(OBJECTS):
            np.quantile(np.einsum("bk,bjk->bj", drawn[:, i], drawn), [0.05, 0.95], axis=0)

    return fitting + stopwatch(bounds, repeats=1) * (n - 1) / 2 / OBJECTS


def fit_cost(name: str, model: str, n_clusters: int, n_boot: int, n_pairs: int | None = None) -> tuple[float, float]:
    """Seconds on the clock and megabytes of a fit, in a fresh process."""
    changed = {} if n_pairs is None else {"n_pairs": n_pairs}
    compile_first(**({} if n_pairs is None else {"n_pairs": 5}))
    X, start = table(name), time.perf_counter()
    megabytes = peak_beyond(lambda: estimator(model, n_clusters, n_boot, **changed).fit(X))
    return time.perf_counter() - start, megabytes


def seconds_by_size(sizes: list[int], n_boot: int, n_pairs: int) -> list[float]:
    compile_first(n_pairs=5)
    fit = estimator("VVV", 3, n_boot, n_pairs=n_pairs).fit
    tables = [np.asarray(make_bootgmm_mixture(1, size, random_state=0).data) for size in sizes]
    return [stopwatch(partial(fit, X), repeats=1) for X in tables]


def lines(quick: bool) -> Iterator[Line]:
    compile_first()
    for name, (model, n_clusters, n_boot, published, target, megabytes) in CASES.items():
        if quick and name not in ("iris", "mixture 3"):
            continue
        count = n_boot // 10 if quick else n_boot
        X = table(name)
        ours = stopwatch(partial(estimator(model, n_clusters, count).fit, X))
        peer = peer_seconds(X, n_clusters, count)
        size = f"{name}, c={n_clusters}, B={count}"
        yield Line(
            f"BootGMM {model} (R: {published} s; peer: sklearn)",
            size,
            duration(ours),
            duration(peer),
            f"{peer / ours:.0f} x",
            f"<= {target:g} s",
            ours <= target,
        )
        if megabytes is not None and not quick:
            _, peak = in_own_process("benchmarks.bootgmm", "fit_cost", name, model, n_clusters, n_boot)
            yield Line("BootGMM memory", size, f"{peak:.0f} MB", "", "", f"< {megabytes} MB", peak < megabytes)

    if not quick:
        seconds, peak = in_own_process("benchmarks.bootgmm", "fit_cost", "magic", "VVV", 2, 200, 100)
        ok = seconds < 180 and peak < 2000
        size = "19,020 x 10, c=2, B=200"
        yield Line("BootGMM Magic, n_pairs=100", size, duration(seconds), "", f"{peak:.0f} MB", "< 3 min, 2 GB", ok)
    sizes = [500, 2000] if quick else [5000, 20_000, 100_000]
    found = in_own_process("benchmarks.bootgmm", "seconds_by_size", sizes, 50, 20)
    for rows, seconds in zip(sizes, found):
        yield Line("BootGMM n_pairs=20", f"{rows:,} x 2, c=3, B=50", duration(seconds), "", "", "", None)
    slope = float(np.polyfit(np.log(sizes), np.log(found), 1)[0])
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    yield Line("BootGMM n_pairs=20, time grows as", span, f"n^{slope:.2f}", "", "", f"<= n^{LINEAR}", slope <= LINEAR)
