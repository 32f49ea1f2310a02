"""``python -m fuzz --minutes 10 --seed 0``, or cases to repeat: ``python -m fuzz ecm:123``."""

from __future__ import annotations

import argparse
import json
import sys
import time

from .problem import Case
from .running import check, run_for


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("cases", nargs="*", type=Case.read, help="cases to repeat, METHOD:NUMBER")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="of the numbers of the cases; the clock if not given")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--methods", default="", help="some methods only, separated by commas")
    chosen = parser.parse_args()
    if chosen.cases:
        for case in chosen.cases:
            print(f"{case}: {check(case)}")
        return 0
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    print(f"fuzz --minutes {chosen.minutes:g} --seed {seed}", flush=True)
    found = run_for(60 * chosen.minutes, seed, chosen.jobs, chosen.methods.split(",") if chosen.methods else None)
    print(json.dumps(found.in_numbers()), flush=True)
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
