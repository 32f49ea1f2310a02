"""Print the table. Exit code 1 when a target is missed or not measured; with ``--quick`` the targets do not count."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks import (
    bootgmm,
    categories,
    command_line,
    constrained,
    credal_rand,
    density,
    ecm,
    egmm,
    evclust_methods,
    explorer,
    fusion,
    gaussian_models,
    graphs,
    hierarchy,
    images,
    metric_learning,
    neural,
    relational,
    threads,
    views,
)
from benchmarks.harness import ROOT, Line, print_table

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
        views,
        categories,
        command_line,
        threads,
        explorer,
        fusion,
        graphs,
    )
}
BESIDE_EVCLUST = (ecm, evclust_methods, relational, density, views, categories)


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
    families = options.families or FAMILIES
    lines = (line for name in families for line in lines_of(name, options.quick, peer_python))
    return print_table(lines, judged=not options.quick)


if __name__ == "__main__":
    sys.exit(main())
