"""CECM against the plain quadratic program in all masses, against ECM, and its growth with links and objects.

The paper solves one program in n f unknowns an iteration. The ``cecm`` of the R package evclust does so too and takes
28 s and 2 GB for 1,000 objects, 0.8 s (Euclidean) and 1.35 s (adaptive) for Iris, each with 100 links; the paper's own
program takes 141 s and 70 s for 400 objects in 4 clusters. Those numbers are quoted, not measured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch
from evidentia import ECM, FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.prototypes import CECM, _links
from evidentia.prototypes._links import breaking_tables


def table(n: int, d: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_clusters, size=n)
    return 2 * rng.standard_normal((n_clusters, d))[truth] + rng.standard_normal((n, d)), truth


def fit(X: np.ndarray, truth: np.ndarray, n_links: int, **params: Any) -> CECM:
    links = PairwiseConstraints.sample(truth, n_links, random_state=0)
    return CECM(int(truth.max()) + 1, random_state=0, **params).fit(X, constraints=links)


def fit_memory(n: int, d: int, n_clusters: int, n_links: int) -> float:
    """Megabytes a fit needs beyond its table."""
    fit(*table(50, d, n_clusters), n_links=10)  # loads what is loaded on first use
    X, truth = table(n, d, n_clusters)
    return peak_beyond(lambda: fit(X, truth, n_links))


def mass_problem(n: int) -> tuple[np.ndarray, np.ndarray, PairwiseConstraints, np.ndarray]:
    """Costs and first masses of n objects in three clusters, n // 2 links, and the tables of broken links."""
    focal_sets = FocalSets(3)
    cost = np.random.default_rng(0).uniform(0.5, 6, (n, len(focal_sets)))
    links = PairwiseConstraints.sample(np.arange(n) % 3, n // 2, random_state=0)
    return cost, (1 / cost) / (1 / cost).sum(axis=1, keepdims=True), links, breaking_tables(focal_sets)


def descend_on_masses(n: int) -> float:
    from evidentia.solvers.linked_masses import LinkGraph, linked_masses

    cost, start, links, tables = mass_problem(n)
    return linked_masses(
        cost, start, tables, LinkGraph.from_pairs(links.pairs, links.must, np.full(len(links), 0.3), n)
    )[1]


def solve_all_masses_at_once(n: int) -> float:
    """The same problem as one quadratic program in 8 n unknowns with a dense matrix."""
    cost, start, links, tables = mass_problem(n)
    f = cost.shape[1]
    Q = np.diag(2 * cost.ravel())
    for i, j, must, _ in links:
        Q[i * f : (i + 1) * f, j * f : (j + 1) * f] = 0.3 * tables[int(must)]
        Q[j * f : (j + 1) * f, i * f : (i + 1) * f] = 0.3 * tables[int(must)]
    rows = np.kron(np.eye(n), np.ones(f))
    found = minimize(
        lambda m: 0.5 * m @ Q @ m,
        start.ravel(),
        jac=lambda m: Q @ m,
        bounds=[(0, 1)] * start.size,
        constraints={"type": "eq", "fun": lambda m: rows @ m - 1, "jac": lambda m: rows},
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 500},
    )
    return float(found.fun)


def within(what: str, size: str, ours: float, quoted: str, limit: float) -> Line:
    return Line(what, size, duration(ours), quoted, "", f"<= {duration(limit)}", ours <= limit)


def growth(what: str, size: str, counts: list[int], times: list[float], limit: float) -> Line:
    slope = np.polyfit(np.log(counts), np.log(times), 1)[0]
    return Line(f"{what} (log-log slope)", size, "", "", f"{slope:.2f}", f"<= {limit:.2f}", slope <= limit)


def seconds_per_step(X: np.ndarray, truth: np.ndarray, n_links: int) -> float:
    """CPU seconds of a fit from one start by the steps that it took, those of the ramps included."""
    steps: list[int] = []

    def work() -> None:
        plain, taken = _links.linked_step, 0

        def counted(*arguments: Any, **settings: Any) -> Any:
            nonlocal taken
            taken += 1
            return plain(*arguments, **settings)

        with patch.object(_links, "linked_step", counted):
            fit(X, truth, n_links, n_init=1)
        steps.append(taken)

    return stopwatch(work) / steps[0]


class ByRamp(NamedTuple):
    """The best of ten starts of each draw of links: J and ARI; and the seconds of all."""

    criterion: np.ndarray
    score: np.ndarray
    seconds: float


def fits_by_ramp(X: np.ndarray, truth: np.ndarray, n_links: int, draws: Sequence[int]) -> tuple[ByRamp, ByRamp]:
    """Fits whose starts begin with weak and less weak links in turn, and those that all begin with the weakest."""

    def best(schedules: tuple[_links.LinkSchedule, ...]) -> ByRamp:
        kept, begin = _links.GRADUAL, perf_counter()
        try:
            _links.GRADUAL = schedules
            links = [PairwiseConstraints.sample(truth, n_links, random_state=draw) for draw in draws]
            fits = [CECM(3, adaptive=True, random_state=0).fit(X, constraints=some) for some in links]
        finally:
            _links.GRADUAL = kept
        scores = [adjusted_rand_score(truth, model.labels_) for model in fits]
        return ByRamp(np.array([model.criterion_ for model in fits]), np.array(scores), perf_counter() - begin)

    return best(_links.GRADUAL), best(_links.GRADUAL[:1])


def sweeps(n_links: int) -> float:
    """Seconds of 20 sweeps over as many objects as links."""
    from evidentia.solvers.linked_masses import LinkGraph, linked_masses

    cost, start, _, tables = mass_problem(n_links)
    links = PairwiseConstraints.sample(np.arange(n_links) % 3, n_links, random_state=0)
    ties = LinkGraph.from_pairs(links.pairs, links.must, np.full(n_links, 0.3), n_links)
    return stopwatch(lambda: linked_masses(cost, start, tables, ties, tol=-1, max_sweeps=20))


def lines(quick: bool) -> Iterator[Line]:
    fit(*table(50, 2, 3), n_links=10)  # compiles
    n = 15 if quick else 40
    ours, plain = (stopwatch(lambda solve=solve: solve(n)) for solve in (descend_on_masses, solve_all_masses_at_once))
    gap = descend_on_masses(n) / solve_all_masses_at_once(n) - 1
    yield speed("CECM, masses (peer: one dense QP, SLSQP)", f"{n} objects, {n // 2} links", ours, plain, 100)
    yield Line(
        "CECM, objective of the masses against it", f"{n} objects", "", "", f"{gap:+.0e}", "<= 1e-6", gap <= 1e-6
    )

    X, truth = table(300 if quick else 1000, 10, 3)
    size = f"{len(X):,} x 10, c=3, 100 links"
    yield within("CECM, 1 start (R: quoted)", size, stopwatch(lambda: fit(X, truth, 100, n_init=1)), "28 s", 0.14)
    yield Line("CECM, 10 starts", size, duration(stopwatch(lambda: fit(X, truth, 100))), "", "", "", None)
    many = stopwatch(lambda: fit(X, truth, 1_000, n_init=1))
    yield Line("CECM, 1 start", f"{len(X):,} x 10, c=3, 1,000 links", duration(many), "", "", "", None)
    used = in_own_process("benchmarks.constrained", "fit_memory", len(X), 10, 3, 100)
    yield memory("CECM, peak memory beyond the data (R: 2 GB)", size, used, 100)

    X, truth = load_iris(return_X_y=True)
    for metric, quoted, limit in (("euclidean", "0.8 s", 0.04), ("mahalanobis", "1.35 s", 0.0675)):
        ours = stopwatch(
            lambda metric=metric: fit(X, truth, 100, adaptive=metric == "mahalanobis", n_init=1), repeats=10
        )
        yield within(f"CECM {metric}, 1 start (R: quoted)", "Iris, 100 links", ours, quoted, limit)

    iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
    for name, rows, classes, n_links, draws, least in (
        ("Iris", *iris, 100, (12, 19), 0.005),  # draws where the weakest links lead all starts to a poor minimum
        ("Wine, scaled", scale(wine[0]), wine[1], 40, range(2 if quick else 8), 0.005),
    ):
        mixed, long = fits_by_ramp(rows, classes, n_links, draws)
        fall, lower = np.mean(1 - mixed.criterion / long.criterion), int((mixed.criterion < long.criterion).sum())
        what, size = "CECM, fall of J by mixed ramps (peer: long ramp)", f"{name}, {n_links} links, {len(draws)} draws"
        times = duration(mixed.seconds), duration(long.seconds)
        yield Line(what, size, *times, f"{fall:.1%}", f">= {least:.1%}", fall >= least)
        yield Line("CECM, draws where J is lower by mixed ramps", size, f"{lower}", "", "", "", None)
        ours, plain = mixed.score.mean(), long.score.mean()
        what = "CECM, mean ARI by mixed ramps (peer: long ramp)"
        yield Line(what, size, f"{ours:.2f}", f"{plain:.2f}", f"{ours - plain:+.2f}", "> 0", bool(ours > plain))

    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 100)
    X = 7.0 * np.c_[truth // 2, truth % 2] + np.sqrt(2) * rng.standard_normal((400, 2))
    for metric, quotes in (("euclidean", ("141 s", "70 s")), ("mahalanobis", ("145 s", "76 s"))):
        for family, name, quoted in zip(("full", "pairs"), ("CECM-1", "CECM-2"), quotes):
            settings = {"adaptive": metric == "mahalanobis", "focal_sets": family, "n_init": 1}
            ours = stopwatch(lambda settings=settings: fit(X, truth, 100, **settings))
            yield within(f"{name} {metric} (paper: quoted)", "400 x 2, c=4, 100 links", ours, quoted, 1.0)

    n, n_links = (10_000, 100) if quick else (100_000, 1_000)
    X, truth = table(n, 10, 3)
    rho = fit(X, truth, n_links, n_init=1).rho_
    ours = stopwatch(lambda: fit(X, truth, n_links, n_init=2))
    free = stopwatch(lambda: ECM(3, focal_sets="full", rho=rho, n_init=2, random_state=0).fit(X))
    size = f"{n:,} x 10, c=3, {n_links:,} links"
    ratio = ours / free
    yield Line(
        "CECM over ECM, same data and starts",
        size,
        duration(ours),
        duration(free),
        f"{ratio:.2f} x",
        "<= 3 x",
        ratio <= 3,
    )

    counts = [1_000, 4_000] if quick else [1_000, 10_000, 100_000]
    times = [sweeps(count) for count in counts]
    for count, seconds in zip(counts, times):
        yield Line("CECM, 20 sweeps over the linked objects", f"{count:,} links", duration(seconds), "", "", "", None)
    # Partners are anywhere in memory, so the largest size leaves the cache: that is what goes beyond 1.
    yield growth("CECM, growth with the links", f"{counts[0]:,} to {counts[-1]:,}", counts, times, 1.25)
    counts = [5_000, 20_000] if quick else [50_000, 100_000, 200_000]
    X, truth = table(counts[-1], 10, 3)
    times = [seconds_per_step(X[:count], truth[:count], 100) for count in counts]
    for count, seconds in zip(counts, times):
        yield Line("CECM, one step", f"{count:,} x 10, 100 links", duration(seconds), "", "", "", None)
    yield growth("CECM, growth with the objects", f"{counts[0]:,} to {counts[-1]:,}", counts, times, 1.1)
