"""The credal Rand index by Jousselme distance against a plain loop over pairs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, speed, stopwatch
from evidentia import CredalPartition, FocalSets
from evidentia.scores import credal_rand_index

R_SECONDS = 348.0  # of the R package evclust 2.0.3 for 5,000 objects, which needs 3.9 GB; measured elsewhere


def partitions(n: int) -> tuple[CredalPartition, CredalPartition]:
    """Two random credal partitions into four clusters, all subsets."""
    rng, focal_sets = np.random.default_rng(0), FocalSets(4)
    p, q = (CredalPartition(rng.dirichlet(np.full(len(focal_sets), 0.2), n), focal_sets) for _ in range(2))
    return p, q


def index(p: CredalPartition, q: CredalPartition) -> float:
    return credal_rand_index(p, q, measure="jousselme")


def index_by_loop(p: CredalPartition, q: CredalPartition) -> float:
    """The definition, a pair at a time."""
    disjoint, singles = p.focal_sets.disjoint, p.focal_sets.singleton_index
    similarity = np.array([[1, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 1, 0.5], [0, 0.5, 0.5, 1]])

    def relational(masses, i, j):
        empty = masses[i, 0] + masses[j, 0] - masses[i, 0] * masses[j, 0]
        same = masses[i, singles] @ masses[j, singles]
        different = masses[i, 1:] @ disjoint[1:, 1:] @ masses[j, 1:]
        return np.array([empty, same, different, 1 - empty - same - different])

    total = 0.0
    for i in range(len(p)):
        for j in range(i):
            gap = relational(p.masses, i, j) - relational(q.masses, i, j)
            total += np.sqrt(max(gap @ similarity @ gap / 2, 0))
    return 1 - 2 * total / (len(p) * (len(p) - 1))


def index_memory(n: int) -> float:
    """Megabytes the index needs beyond the two partitions."""
    index(*partitions(300))  # loads what is loaded on first use
    p, q = partitions(n)
    return peak_beyond(lambda: index(p, q))


def lines(quick: bool) -> Iterator[Line]:
    n, few = (1000 if quick else 5000), 150
    size = f"{n:,} objects, c=4"
    p, q = partitions(n)
    assert abs(index(p[:few], q[:few]) - index_by_loop(p[:few], q[:few])) < 1e-12
    ours = stopwatch(lambda: index(p, q))
    loop = stopwatch(lambda: index_by_loop(p[:few], q[:few]), repeats=2) * (n * (n - 1)) / (few * (few - 1))
    yield speed(f"credal Rand (peer: loop, {few} objects scaled)", size, ours, loop, 50)
    if not quick:
        ratio = f"{R_SECONDS / ours:.0f} x"
        yield Line(
            "credal Rand (peer: R, as published)",
            size,
            duration(ours),
            duration(R_SECONDS),
            ratio,
            ">= 50 x",
            ours * 50 <= R_SECONDS,
        )
    yield memory("credal Rand, peak memory", size, in_own_process("benchmarks.credal_rand", "index_memory", n), 500)
