"""A pass of EGMM over the rows against one of Spark's Gaussian mixture and one of dask-ml's k-means, in CPU seconds.

    make bench-engines

or, with an interpreter that has pyspark, dask-ml and Java, ``python -m benchmarks.engines --rows 1e6``. All read the
same Parquet files, hold the rows in memory, and have seven components: EGMM all sets of three clusters. Two fits differ
in their number of iterations alone; what they differ by in CPU time, of all processes, is that of the passes. Spark
has no mixture with one covariance for all: its components have one each.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.beyond_memory import cpu_of, paper, write_files
from benchmarks.harness import Line, print_table, speed
from benchmarks.processes import WatchedRun, watch
from evidentia import open_rows
from evidentia.rows.source import in_memory

HERE = "benchmarks.engines"
N_COMPONENTS = 7
FEW, MANY = 2, 7  # iterations
OURS_MANY, OURS_REPEATS = 42, 2  # a pass of ours is short beside reading the table once and giving masses to all rows


def cpu_of_a_pass(fit: Callable[[int], int], many: int = MANY, repeats: int = 1) -> float:
    """CPU seconds of this process and its children for one iteration more; ``fit`` gives the number that it made."""
    found = {}
    fit(FEW)  # loads, or compiles, what is needed
    for iterations in (FEW, many):
        runs = [cpu_of(partial(fit, iterations)) for _ in range(repeats)]
        assert all(made == iterations for _, made in runs), f"{runs[0][1]} iterations instead of {iterations}"
        found[iterations] = min(seconds for seconds, _ in runs)
    return (found[many] - found[FEW]) / (many - FEW)


def start_of(paths: list[str], k: int) -> np.ndarray:
    """Some rows."""
    return next(iter(open_rows(paths).read((0, 1)))).table[:k]


def egmm(paths: list[str]) -> float:
    table, start = in_memory(open_rows(paths)).table, start_of(paths, 3)

    def fit(iterations: int) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return int(paper(iterations, init=start, tol=0).fit(table).n_iter_)

    return cpu_of_a_pass(fit, OURS_MANY, OURS_REPEATS)


def dask_kmeans(paths: list[str]) -> float:
    import dask.array as da
    from dask import delayed
    from dask_ml.cluster import KMeans
    from distributed import Client, LocalCluster, wait

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        shapes = [(open_rows(path).n_rows, open_rows(path).n_features) for path in paths]
        blocks = [da.from_delayed(delayed(read)(path), shape, float) for path, shape in zip(paths, shapes)]
        table = da.concatenate(blocks).persist()
        wait(table)
        start = start_of(paths, N_COMPONENTS)
        return cpu_of_a_pass(lambda iterations: _kmeans(KMeans, start, iterations).fit(table).n_iter_)


def read(path: str) -> np.ndarray:
    return in_memory(open_rows(path)).table


def _kmeans(kind: Any, start: np.ndarray, iterations: int) -> Any:
    return kind(N_COMPONENTS, init=start, max_iter=iterations, tol=0)


def spark_mixture(paths: list[str], heap: str) -> float:
    from pyspark.ml.clustering import GaussianMixture
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": heap,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        frame = spark.read.parquet(*(f"file://{path}" for path in paths))
        table = VectorAssembler(inputCols=frame.columns, outputCol="features").transform(frame)
        table = table.select("features").persist()
        table.count()

        def fit(iterations: int) -> int:
            model = GaussianMixture(k=N_COMPONENTS, maxIter=iterations, tol=0.0, seed=0).fit(table)
            return int(model.summary.numIter)

        return cpu_of_a_pass(fit)
    finally:
        spark.stop()


def lines(paths: list[str], n: int, d: int, heap: str) -> Iterator[Line]:
    size = f"{n:.0e} x {d}, f=7".replace("e+0", "e")
    ours = watch(HERE, "egmm", paths)
    yield from compare(size, "dask-ml KMeans, 2 workers", ours, watch(HERE, "dask_kmeans", paths), 3)
    yield from compare(size, "Spark mixture, local[2]", ours, watch(HERE, "spark_mixture", paths, heap), 20)


def compare(size: str, peer: str, ours: WatchedRun, theirs: WatchedRun, target: float) -> Iterator[Line]:
    yield speed(f"EGMM, a pass (peer: {peer})", size, ours.result, theirs.result, target)
    both = f"{ours.megabytes:.0f} MB", f"{theirs.megabytes:.0f} MB"
    yield Line("  memory of all processes at the most", size, *both, "", "", None)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--heap", default="8g", help="memory that Spark may use")
    parser.add_argument("--where", type=Path, help="folder for the files (default: one that is removed afterwards)")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PYSPARK_PYTHON=sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(options.where or Path(folder), int(options.rows), options.columns)
        return print_table(lines(paths, int(options.rows), options.columns, options.heap))


if __name__ == "__main__":
    sys.exit(main())
