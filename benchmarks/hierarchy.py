"""Belief hierarchical clustering against SciPy's classical one on the same distances, and how time grows with n."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, peak_beyond, stopwatch

RATIO = 10.0  # times SciPy's linkage
MINUTES = 10.0
GIGABYTES = 2.0


def table(n: int) -> np.ndarray:
    """Sixteen clusters in four dimensions."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4)) + 6 * rng.integers(0, 2, (n, 4))


def merge_seconds(n: int, repeats: int = 3) -> tuple[float, float]:
    """CPU seconds of our merges and of SciPy's, both from squared or plain distances that are there already."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    from evidentia.hierarchy._merge import LINKS, merge_by_distance
    from evidentia.hierarchy._places import reference_distance

    packed = pdist(table(n)[::-1], "sqeuclidean")[::-1].copy()
    gamma, plain = 1 / reference_distance(packed), pdist(table(n))
    merge_by_distance(packed[:6].copy(), np.ones(4), LINKS["average"], gamma, 0.95, True)  # compiled by now
    ours = []
    for _ in range(repeats):
        squared, size = packed.copy(), np.ones(n)  # both are destroyed
        ours.append(
            stopwatch(lambda s=squared, w=size: merge_by_distance(s, w, LINKS["average"], gamma, 0.95, True), 1)
        )
    return min(ours), stopwatch(lambda: linkage(plain, "average"), repeats)


def fit_seconds(n: int, linkage: str) -> tuple[float, float]:
    """Seconds on the clock and megabytes of a whole fit, in a fresh process."""
    from evidentia.hierarchy import BeliefHierarchical

    BeliefHierarchical(2, linkage=linkage).fit(table(20))  # compiled by now
    X, start = table(n), time.perf_counter()
    megabytes = peak_beyond(lambda: BeliefHierarchical(linkage=linkage).fit(X))
    return time.perf_counter() - start, megabytes


def lines(quick: bool) -> Iterator[Line]:
    n = 500 if quick else 2000
    ours, peer = merge_seconds(n)
    ratio = ours / peer
    yield Line(
        "BHC merges, average link (peer: SciPy)",
        f"{n:,}",
        duration(ours),
        duration(peer),
        f"{ratio:.1f} x as long",
        f"<= {RATIO:g} x",
        ratio <= RATIO,
    )
    sizes = (250, 500, 1000) if quick else (1000, 2000, 4000, 8000)
    times = np.array([merge_seconds(size, repeats=1) for size in sizes])
    for at, size in enumerate(sizes):
        mine, theirs = times[at]
        yield Line(
            "BHC merges", f"{size:,}", duration(mine), duration(theirs), f"{mine / theirs:.1f} x as long", "", None
        )
    # SciPy's loop is known to take n² steps: what it has above 2 is memory that leaves the cache.
    mine, theirs = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    yield Line("BHC merges, time grows as", span, f"n^{mine:.2f}", f"n^{theirs:.2f}", "", "", None)
    n = 1000 if quick else 10_000
    seconds, megabytes = in_own_process("benchmarks.hierarchy", "fit_seconds", n, "ward")
    ok = seconds < 60 * MINUTES and megabytes < 1000 * GIGABYTES
    yield Line(
        "BHC fit, Ward's link, two trees",
        f"{n:,} x 4",
        duration(seconds),
        "",
        f"{megabytes:.0f} MB",
        f"< {MINUTES:g} min, {GIGABYTES:g} GB",
        ok,
    )
    n = 200 if quick else 1000
    seconds, megabytes = in_own_process("benchmarks.hierarchy", "fit_seconds", n, "product")
    yield Line("BHC fit, products", f"{n:,} x 4", duration(seconds), "", f"{megabytes:.0f} MB", "< 60 s", seconds < 60)
