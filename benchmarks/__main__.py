"""Print the table. Exit code 1 when a target is missed or not measured; with ``--quick`` the targets do not count."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import (
    bootgmm,
    constrained,
    credal_rand,
    density,
    ecm,
    egmm,
    evclust_methods,
    gaussian_models,
    hierarchy,
    images,
    metric_learning,
    neural,
    relational,
)
from benchmarks.harness import HEAD, ROOT, Line


def every_line(quick: bool, peer_python: str) -> Iterator[Line]:
    yield from egmm.lines(quick)
    yield from ecm.lines(quick, peer_python)
    yield from credal_rand.lines(quick)
    yield from gaussian_models.lines(quick)
    yield from bootgmm.lines(quick)
    yield from constrained.lines(quick)
    yield from metric_learning.lines(quick)
    yield from neural.lines(quick)
    yield from images.lines(quick)
    yield from hierarchy.lines(quick)
    yield from evclust_methods.lines(quick, peer_python)
    yield from relational.lines(quick, peer_python)
    yield from density.lines(quick, peer_python)


def main() -> int:
    peer = ROOT / ".venv-peer" / "bin" / "python"
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a few seconds in all")
    parser.add_argument(
        "--peer-python",
        default=str(peer) if peer.exists() else sys.executable,
        help="interpreter that has evclust 0.2.1 (default: that of .venv-peer, else this one)",
    )
    options = parser.parse_args()
    peer_python = str(Path(options.peer_python).absolute())
    print(HEAD, "-" * len(HEAD), sep="\n", flush=True)
    missed = unknown = 0
    for line in every_line(options.quick, peer_python):
        print(line, flush=True)
        missed += line.ok is False
        unknown += line.ok is None and line.target != ""
    if options.quick:
        print("Small sizes: the targets are for the full ones.")
        return 0
    print(f"{missed} target(s) missed, {unknown} not measured." if missed or unknown else "All targets met.")
    return int(missed + unknown > 0)


if __name__ == "__main__":
    sys.exit(main())
