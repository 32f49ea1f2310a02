"""``python -m fuzz --minutes 10 --seed 0``, or cases to repeat: ``python -m fuzz ecm:123``.

With ``--kept FILE`` the counts of a run stand beside those of earlier ones, by seed, and the sum is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from .problem import Case
from .running import Counts, check, run_for


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("cases", nargs="*", type=Case.read, help="cases to repeat, METHOD:NUMBER")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="of the numbers of the cases; the clock if not given")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--methods", default="", help="some methods only, separated by commas")
    parser.add_argument("--kept", type=Path, help="file of the counts of all runs")
    chosen = parser.parse_args()
    if chosen.cases:
        for case in chosen.cases:
            print(f"{case}: {check(case)}")
        return 0
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    print(f"fuzz --minutes {chosen.minutes:g} --seed {seed}", flush=True)

    def note(counts: Counts) -> None:
        print(counts, flush=True)
        if chosen.kept:
            keep(chosen.kept, seed, counts)

    names = chosen.methods.split(",") if chosen.methods else None
    found = run_for(60 * chosen.minutes, seed, chosen.jobs, names, note)
    print(json.dumps(found.in_numbers()), flush=True)
    if chosen.kept:
        print(json.dumps(keep(chosen.kept, seed, found)), flush=True)
    return 1 if found.failures else 0


def keep(file: Path, seed: int, counts: Counts) -> dict[str, dict[str, int]]:
    """Write the counts of a run into the file of all runs; gives the sums."""
    runs = json.loads(file.read_text()) if file.exists() else {}
    runs[str(seed)] = {"fits": counts.fits, "outcomes": counts.outcomes, "failures": counts.failures}
    file.write_text(json.dumps(runs, indent=1))
    return {
        what: dict(sum((Counter(run[what]) for run in runs.values()), Counter()))
        for what in ("fits", "outcomes", "failures")
    }


if __name__ == "__main__":
    sys.exit(main())
