"""What the fusion of partitions costs, and whether many fits of one table are more to be trusted than one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, peak_beyond, stopwatch

SECONDS, MEGABYTES = 10.0, 1000.0


def opinions(n: int, count: int, n_clusters: int) -> list:
    """Partitions that mostly agree, numbered each in its own way, with mass on pairs of clusters."""
    from evidentia import CredalPartition, FocalSets

    rng = np.random.default_rng(0)
    truth, family = rng.integers(0, n_clusters, n), FocalSets(n_clusters, "pairs", empty=False)
    found = []
    for _ in range(count):
        masses = 0.5 * rng.dirichlet(np.full(len(family), 0.2), size=n)
        said = np.where(rng.random(n) < 0.9, truth, rng.integers(0, n_clusters, n))
        masses[np.arange(n), family.singleton_index[said]] += 0.5
        found.append(CredalPartition(masses, family, copy=False).relabel(rng.permutation(n_clusters)))
    return found


def cost(n: int, count: int, n_clusters: int, rule: str) -> tuple[float, float]:
    """CPU seconds and megabytes beyond the partitions themselves, in a fresh process."""
    from evidentia import fuse

    given = opinions(n, count, n_clusters)
    fuse([one[:50] for one in given], rule=rule)
    megabytes = peak_beyond(lambda: fuse(given, rule=rule))
    return stopwatch(lambda: fuse(given, rule=rule), 1), megabytes


def doubt(n_tables: int) -> tuple[float, float]:
    """Share of wrong labels among objects called sure: by one fit, and by an ensemble of fits."""
    from evidentia import GustafsonKessel, ensemble
    from evidentia.partition import fuse

    wrong = np.zeros((n_tables, 2))
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        truth = np.repeat(np.arange(4), 25)
        X = rng.normal(size=(100, 2)) + 2.6 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth]
        model = GustafsonKessel(4, n_init=1, random_state=seed)
        one = model.fit(X).partition_
        many = ensemble(X, model, n_fits=30, random_state=seed).partition
        for at, partition in enumerate((one, many)):
            table = fuse([truth, partition.labels()], frame="match").table
            right = table[np.argsort(table[:, 1]), 0][partition.labels()] == truth
            sure = (partition.sets().sum(axis=1) == 1) & (partition.doubt < 0.5)
            wrong[seed, at] = (~right & sure).sum() / max(1, sure.sum())
    one, many = wrong.mean(axis=0)
    return float(one), float(many)


def lines(quick: bool) -> Iterator[Line]:
    n = 2_000 if quick else 20_000
    for count, n_clusters, rule in ((3, 6, "dempster"), (5, 20, "dempster"), (50, 6, "hedge")):
        seconds, megabytes = in_own_process("benchmarks.fusion", "cost", n, count, n_clusters, rule)
        yield Line(
            f"fuse {count} partitions of {n_clusters} clusters, {rule}",
            f"{n:,}",
            duration(seconds),
            "",
            f"{megabytes:.0f} MB",
            f"< {SECONDS:g} s, 1 GB",
            seconds < SECONDS and megabytes < MEGABYTES,
        )
    one, many = doubt(3 if quick else 20)
    yield Line("wrong among the sure, 30 fits (peer: one fit)", "100 x 2, 4 groups", f"{many:.3f}", f"{one:.3f}", "",
               "<= peer", many <= one)  # fmt: skip
