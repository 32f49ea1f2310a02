"""Print the table. Exit code 1 when a target is missed or not measured; with ``--quick`` the targets do not count."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks import (
    bootgmm,
    command_line,
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
    threads,
)
from benchmarks.harness import HEAD, ROOT, Line

FAMILIES: dict[str, ModuleType] = {
    module.__name__.removeprefix("benchmarks."): module
    for module in (
        egmm,
        ecm,
        credal_rand,
        gaussian_models,
        bootgmm,
        constrained,
        metric_learning,
        neural,
        images,
        hierarchy,
        evclust_methods,
        relational,
        density,
        command_line,
        threads,
    )
}
BESIDE_EVCLUST = (ecm, evclust_methods, relational, density)


def lines_of(name: str, quick: bool, peer_python: str) -> Iterator[Line]:
    module = FAMILIES[name]
    yield from module.lines(quick, peer_python) if module in BESIDE_EVCLUST else module.lines(quick)


def main() -> int:
    peer = ROOT / ".venv-peer" / "bin" / "python"
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"some of {', '.join(FAMILIES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes, a few seconds in all")
    parser.add_argument(
        "--peer-python",
        default=str(peer) if peer.exists() else sys.executable,
        help="interpreter that has evclust 0.2.1 (default: that of .venv-peer, else this one)",
    )
    options = parser.parse_args()
    unheard = sorted(set(options.families) - set(FAMILIES))
    if unheard:
        parser.error(f"no family {', '.join(unheard)}; there are {', '.join(FAMILIES)}")
    peer_python = str(Path(options.peer_python).absolute())
    print(HEAD, "-" * len(HEAD), sep="\n", flush=True)
    missed = unknown = 0
    for name in options.families or FAMILIES:
        for line in lines_of(name, options.quick, peer_python):
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
