"""The command line: CPU seconds of whole commands, interpreter and imports included; and imports beside their needs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import ROOT, Line, duration

IMPORTS = {f"from evidentia import {name}": "import sklearn.mixture" for name in ("EGMM", "ECM")}
MOST_TIMES = 1.3
RUN = "import sys; from evidentia.app.cli import main; sys.argv[0] = 'evidentia'; main()"


def seconds_of(code: str, *words: object) -> float:
    """CPU seconds of a process, those of the kernel too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], cwd=ROOT, env=os.environ, capture_output=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_table(path: Path, n: int) -> None:
    """Four groups in 15 columns, as Parquet."""
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((4, 15))
    table = centers[rng.integers(4, size=n)] + rng.standard_normal((n, 15))
    pd.DataFrame(table, columns=[f"x{j}" for j in range(15)]).to_parquet(path)


def import_lines() -> Iterator[Line]:
    for ours, needed in IMPORTS.items():
        found = [(seconds_of(ours), seconds_of(needed)) for _ in range(5)]
        mine, theirs = (min(times) for times in zip(*found))
        target = f"<= {MOST_TIMES} x"
        result = f"{mine / theirs:.2f} x"
        yield Line(f"{ours} (peer: {needed})", "", duration(mine), duration(theirs), result, target,
                   mine <= MOST_TIMES * theirs)  # fmt: skip


def lines(quick: bool) -> Iterator[Line]:
    yield from import_lines()
    n = 20_000 if quick else 200_000
    with tempfile.TemporaryDirectory() as name:
        table, out = Path(name) / "table.parquet", Path(name) / "out"
        write_table(table, n)
        fit = ["fit", table, "--method", "ecm", "--clusters", "4", "--starts", "1", "--out", out]
        for what, size, words, most in (
            ("evidentia fit --out", f"{n:,} x 15", fit, 6.0),
            ("evidentia show", f"{n:,} objects", ["show", out], 1.0),
            ("evidentia fit, no such file", "", ["fit", Path(name) / "missing.csv"], 0.5),
        ):
            seconds = min(seconds_of(RUN, *words) for _ in range(2))
            yield Line(what, size, duration(seconds), "", "", f"< {most:g} s", seconds < most)
