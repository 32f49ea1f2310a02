"""EGMM on more rows than memory holds: Parquet files are written, and fitted in one process and on two Dask workers.

    python -m benchmarks.beyond_memory --rows 1e8 --columns 25 --where DIR

Files that are there already are used and kept; those that were written are deleted at the end, unless ``--keep`` is
given. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import Line, duration, memory, print_table, stopwatch, within
from benchmarks.processes import usage, watch
from evidentia import EGMM, FocalSets, open_rows, select
from evidentia.mixtures._em import Parameters, engine
from evidentia.mixtures.search import ALL, SearchTable
from evidentia.rows.scan import Table
from evidentia.rows.source import ArrayRows, RowSource, in_memory
from evidentia.selection import search
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.coordinates import moments_of
from evidentia.solvers.starts import Rows
from evidentia.solvers.threads import one_blas_thread, threads

FILES = 20
GROUP_ROWS = 250_000
N_CLUSTERS = 3
MOST_MEMORY = 2_000  # MB
FITTING_ROWS = 1_000_000  # a table that fits in memory, for comparison
BITS = ("cluster_centers_", "weights_", "criterion_trace_")


def paper(max_iter: int = 5, **settings: Any) -> EGMM:
    """The mixture of the paper, with few exact passes over all rows: one more than iterations."""
    fixed = {"model": "EEE", "focal_sets": "full", "prior": None, "init": "k-means", "n_init": 2, "random_state": 0}
    return EGMM(N_CLUSTERS, max_iter=max_iter, **{**fixed, **settings})


# -- files -------------------------------------------------------------------------------------------------------------


def rows_of_group(seed: tuple[int, ...], n: int, d: int) -> np.ndarray:
    """Overlapping clusters, and as many rows between two of them as in each."""
    centers = 0.7 * np.random.default_rng(0).standard_normal((N_CLUSTERS, d))
    means = np.concatenate([centers, (centers + np.roll(centers, 1, axis=0)) / 2])
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, d))
    table += means[rng.integers(len(means), size=n)]
    return table


def write_files(where: Path, n: int, d: int) -> list[str]:
    """Paths of the files, those that were not there written; each is there only once it is whole."""
    ends = [n * at // FILES for at in range(FILES + 1)]
    paths = [where / f"rows-{n}x{d}-{at:02d}.parquet" for at in range(FILES)]
    missing = [at for at, path in enumerate(paths) if not path.exists()]
    where.mkdir(parents=True, exist_ok=True)
    for left_over in where.glob("*.part"):
        left_over.unlink()
    need, free = sum(8 * d * (ends[at + 1] - ends[at]) for at in missing), shutil.disk_usage(where).free
    if 1.05 * need > free:
        raise SystemExit(
            f"{need / 1e9:.1f} GB are to be written to {where}, and {free / 1e9:.1f} GB are free there. Ask for fewer "
            "--rows, or another folder by --where."
        )
    for at in missing:
        _write_file(paths[at], at, ends[at + 1] - ends[at], d)
    return [str(path) for path in paths]


def _write_file(path: Path, seed: int, n: int, d: int) -> None:
    part = path.with_suffix(".part")
    schema = pa.schema([(f"x{column}", pa.float64()) for column in range(d)])
    with pq.ParquetWriter(part, schema, use_dictionary=False) as file:  # no number comes twice
        for start in range(0, n, GROUP_ROWS):
            table = rows_of_group((1, seed, start), min(GROUP_ROWS, n - start), d)
            file.write_table(pa.table(list(np.ascontiguousarray(table.T)), schema=schema), row_group_size=GROUP_ROWS)
    os.replace(part, path)


# -- what is measured, each in a process of its own --------------------------------------------------------------------


def cpu_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this process and of all that it started, and what the work gave."""
    before = usage(os.getpid()).cpu
    found = work()
    return usage(os.getpid()).cpu - before, found


def fit_files(paths: list[str], workers: int) -> dict[str, Any]:
    """A fit, in this process or on a cluster of Dask workers with 1 GB each."""
    if not workers:
        return _fit(paths)
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "memory_limit": "1GB", "dashboard_address": None}
    with LocalCluster(n_workers=workers, **settings) as cluster, Client(cluster):
        return _fit(paths)


def _fit(paths: list[str]) -> dict[str, Any]:
    rows, start = open_rows(paths), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the passes are few on purpose
        cpu, model = cpu_of(lambda: paper().fit(rows))
    bits = {name: hashlib.sha256(getattr(model, name).tobytes()).hexdigest() for name in BITS}
    wall = time.perf_counter() - start
    return {"cpu": cpu, "wall": wall, "passes": len(model.criterion_trace_) + 1, "bits": bits}


def one_pass(rows: RowSource, some: np.ndarray) -> Callable[[], Any]:
    """One exact iteration's pass over rows, as a fit makes it; coordinates are those of some rows."""
    table = Table(rows, rows.n_rows or 0, moments_of(some, None, True), Rows(some, np.ones(len(some))), False)
    searched = SearchTable(table, np.random.RandomState(0), standardized=False)
    sets, tool, d = FocalSets(N_CLUSTERS, empty=False), engine("EEE"), some.shape[1]
    centers = np.random.default_rng(1).standard_normal((N_CLUSTERS, d))
    state = Parameters(np.full(len(sets), 1 / len(sets)), centers, np.eye(d)[None])
    return partial(tool.gather, searched.patterns("EEE", ALL), state, averaging(sets))


def passes_that_fit(paths: list[str]) -> list[float]:
    """CPU seconds of a pass from files, of one in memory, and of reading alone, over as many rows as fit in memory."""
    rows = open_rows(paths)
    share = max(1, len(rows.handles) * FITTING_ROWS // rows.n_rows)
    rows.handles = rows.handles[:share]
    held = in_memory(rows)
    some = held.table[:50_000]

    def read() -> None:
        for handle in rows.handles:
            for _ in rows.read(handle):
                pass

    with one_blas_thread(), threads(1):
        from_files, resident = one_pass(rows, some), one_pass(held, some)
        resident()  # prepares the rows, which stay
        found = [[stopwatch(work, repeats=1) for work in (from_files, resident, read)] for _ in range(5)]
    return [len(held.table), *np.min(found, axis=0).tolist()]


def pass_over(paths: list[str]) -> list[float]:
    """Rows, and CPU seconds of one pass over them."""
    rows = open_rows(paths)
    some = next(iter(rows.read(rows.handles[0]))).table
    with one_blas_thread():
        one_pass(ArrayRows(some), some)()  # loads what is loaded on first use
        cpu, _ = cpu_of(one_pass(rows, some))
    return [rows.n_rows, cpu]


def select_from_files(paths: list[str], together: int) -> float:
    """CPU seconds of three numbers of clusters, so many fits at a time with passes that are made together."""
    search.TOGETHER = together
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work = partial(select, open_rows(paths), paper(), n_clusters=[2, 3, 4], criteria="ebic", n_jobs=1)
        return cpu_of(work)[0]


# -- lines -------------------------------------------------------------------------------------------------------------

HERE = "benchmarks.beyond_memory"


def size_of(n: int, d: int) -> str:
    return f"{n:.0e} x {d}".replace("e+0", "e")


def lines(paths: list[str], n: int, d: int) -> Iterator[Line]:
    size = size_of(n, d)
    alone = watch(HERE, "fit_files", paths, 0)
    yield memory("EGMM from Parquet, one process, memory", size, alone.megabytes, MOST_MEMORY)
    both = watch(HERE, "fit_files", paths, 2)
    yield memory("EGMM, 2 Dask workers of 1 GB, all processes", size, both.megabytes, MOST_MEMORY)
    same = alone.result["bits"] == both.result["bits"]
    yield Line("EGMM, one process and 2 workers", size, "", "", "same bits" if same else "differ", "same bits", same)
    passes = alone.result["passes"]
    for what, found in (("one process", alone.result), ("2 workers", both.result)):
        per_row = f"{1e6 * found['cpu'] / passes / n:.2f} µs/row"
        yield Line(
            f"EGMM, {passes} passes, {what} (CPU; clock)",
            size,
            duration(found["cpu"]),
            duration(found["wall"]),
            per_row,
            "",
            None,
        )

    count, from_files, resident, read = watch(HERE, "passes_that_fit", paths).result
    what = "pass from files (peer: in memory + reading)"
    yield within(what, size_of(count, d), from_files, resident + read, 1.3)
    for what, seconds in (("in memory", resident), ("reading alone", read)):
        yield Line(f"  of which {what}", "", duration(seconds), "", f"{1e6 * seconds / count:.2f} µs/row", "", None)

    some = paths[: FILES // 2]
    together, apart = (watch(HERE, "select_from_files", some, count).result for count in (3, 1))
    yield within("select, 3 fits together (peer: one by one)", size_of(n // 2, d), together, apart, 0.8)

    few, cpu_few = watch(HERE, "pass_over", paths[: FILES // 10]).result
    many, cpu_many = watch(HERE, "pass_over", paths).result
    growth = (cpu_many / many) / (cpu_few / few)
    what, both = "a pass over all rows (peer: over a tenth)", (duration(cpu_many), duration(cpu_few))
    yield Line(what, size, *both, f"{growth:.2f} x", "<= 1.2 x", growth <= 1.2)  # for each row


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond_memory", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--columns", type=int, default=25)
    parser.add_argument("--where", type=Path, required=True, help="folder for the files")
    parser.add_argument("--keep", action="store_true", help="leave the files there for another run")
    options = parser.parse_args()
    n, there = int(options.rows), set(options.where.glob("*"))
    try:
        cpu, paths = cpu_of(lambda: write_files(options.where, n, options.columns))
        print(f"{len(paths)} files written or found in {duration(cpu)} of CPU.", flush=True)
        return print_table(lines(paths, n, options.columns))
    finally:
        for path in () if options.keep else set(options.where.glob("rows-*")) - there:
            path.unlink()


if __name__ == "__main__":
    sys.exit(main())
