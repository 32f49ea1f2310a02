"""Faults of a cluster, each many times at random moments, with counts: ``python ci/faults.py [--times 20]``.

Exit code 1 if one of them lost something, gave other numbers, or did not end.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import faults


def killed_workers(times: int, rng: random.Random) -> list[str]:
    with faults.command_line_cluster() as (client, _):
        moments = [rng.uniform(0, 1.5) for _ in range(times)]
        return [outcome(lambda at=at: f"same bits, {faults.kill_a_worker(client, at, rng)} again") for at in moments]


def outcome(action: Callable[[], object]) -> str:
    """In words; what begins with FAILED is not as it should be."""
    try:
        return str(action())
    except (Exception, KeyboardInterrupt) as error:
        traceback.print_exc()
        return f"FAILED: {type(error).__name__}: {error}"


def expected(kind: type[Exception], error: object) -> str:
    assert isinstance(error, kind), error
    return kind.__name__


def interrupted(rng: random.Random, *, everybody: bool) -> str:
    first, *centers = faults.interrupt(rng.uniform(0, 2), everybody=everybody).split()
    assert first == "True", "it was not interrupted"
    assert len(centers) == 2
    return "best so far kept"


def client_gone(rng: random.Random) -> str:
    assert faults.kill_the_client(rng.uniform(0, 2)) < faults.LONG
    return "its workers ended"


def lost_file() -> str:
    with faults.command_line_cluster() as (client, _):
        return expected(FileNotFoundError, faults.lost_file(client))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="*", help="some of those that are printed (default: all)")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    rng = random.Random(given.seed)
    single: dict[str, Callable[[], object]] = {
        "scheduler": lambda: expected(ConnectionError, faults.kill_the_scheduler(rng.uniform(0.2, 3))),
        "client": lambda: client_gone(rng),
        "memory": lambda: expected(MemoryError, faults.too_small_a_worker()[0]),
        "greed": lambda: expected(MemoryError, faults.greedy_rows()),
        "file": lost_file,
        "interrupt": lambda: interrupted(rng, everybody=False),
        "interrupt-all": lambda: interrupted(rng, everybody=True),
    }
    n_bad = 0
    for name in given.faults or ["worker", *single]:
        found = (
            killed_workers(given.times, rng)
            if name == "worker"
            else [outcome(single[name]) for _ in range(given.times)]
        )
        bad = [one for one in found if one.startswith("FAILED")]
        n_bad += len(bad)
        print(f"{name}: {len(found) - len(bad)} of {len(found)} as they should be")
        for one in sorted(set(found)):
            print(f"  {found.count(one):3d} × {one}", flush=True)
    return int(n_bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
