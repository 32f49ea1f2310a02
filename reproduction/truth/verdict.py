"""How often the verdict on ``EGMM()`` is "groups", "cannot tell" or "no evidence", on tables of known groups.

``python -m reproduction truth.verdict`` looks at a few tables for each cell, ``--full`` at a hundred.
``python -m reproduction.truth.verdict 30 --seed 5`` looks at 30, and prints a line for each cell.
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time

import numpy as np

from evidentia import EGMM
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit
from reproduction.truth.tables import BENT, DEVELOPMENT, FLAT_TOP, JUDGING, one_group, two_groups

ANSWERS = ("groups", "cannot tell", "no evidence")
SIZES = ((300, 2), (300, 1), (1000, 5), (200, 10))
ONE = [
    *((f"{shape} {n} x {d}", shape, n, d) for shape in (*DEVELOPMENT, *JUDGING) for n, d in SIZES),
    *((f"{shape} {n} x 2", shape, n, 2) for shape in BENT for n in (300, 1000)),
    *((f"{shape} {n} x 1", shape, n, 1) for shape in FLAT_TOP for n in (300, 1000, 3000)),
]
TWO = [
    *((f"two normals {distance} apart {share:.0%} {n} x {d}", distance, share, n, d, None)
      for distance, share, n, d in (
        (3.0, 0.5, 300, 1), (3.0, 0.5, 300, 2), (3.0, 0.5, 300, 10), (3.0, 0.5, 1000, 5), (3.0, 0.8, 300, 2),
        (3.0, 0.8, 1000, 5), (4.0, 0.5, 300, 2), (4.0, 0.8, 300, 2),
    )),
    ("two t with 3 d.f. 6 apart 50% 300 x 2", 6.0, 0.5, 300, 2, 3.0),
]  # fmt: skip
FEW, MANY = 3, 100


def measure(
    shape: str | None, groups: list[float | None] | None, n: int, d: int, tables: int, seed: int, cell: int
) -> Result:
    """Shares of the answers on that many tables, and the time of the verdict over that of the fit."""
    answers, seconds = dict.fromkeys(ANSWERS, 0), [0.0, 0.0]
    for table in range(tables):
        rng = np.random.default_rng([seed, cell, table])
        if shape is not None:
            X = one_group(shape, n, d, rng)
        else:
            distance, share, degrees = groups or []
            assert distance is not None
            assert share is not None
            X = two_groups(distance, share, n, d, rng, np.inf if degrees is None else degrees)
        begin = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = EGMM(random_state=0).fit(X)
        middle = process_time()
        answers[model.verdict_.answer] += 1
        seconds[0] += process_time() - middle
        seconds[1] += middle - begin
    shares = {answer: count / tables for answer, count in answers.items()}
    return {**shares, "tables": tables, "time": seconds[0] / max(seconds[1], 1e-9)}


def units(quick: bool, seed: int, tables: int | None = None) -> list[Unit]:
    """One for each cell."""
    count = tables or (FEW if quick else MANY)
    cells: list[tuple[str, str | None, list[float | None] | None, int, int]]
    cells = [(name, shape, None, n, d) for name, shape, n, d in ONE]
    cells += [(name, None, [distance, share, degrees], n, d) for name, distance, share, n, d, degrees in TWO]
    return [
        Unit(
            name,
            measure,
            {"shape": shape, "groups": groups, "n": n, "d": d, "tables": count, "seed": seed, "cell": at},
        )
        for at, (name, shape, groups, n, d) in enumerate(cells)
    ]


def cells(results: Results) -> list[Cell]:
    return [
        Cell(name, column, found[column], runs=found["tables"])
        for name, found in results.items()
        for column in (*ANSWERS, "time")
    ]


EXHIBITS = [
    Exhibit(
        "truth.verdict",
        "Verdicts on tables of one group and of two",
        units=units,
        cells=cells,
        minutes=(2.0, 60.0),
        words=(
            'Shares of the tables. "time" is the CPU time of the verdict over that of the fit.',
            "The flat top is the density with one peak that is nearest to two normals 3 apart.",
        ),
    )
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Verdicts on tables of known groups.")
    parser.add_argument("tables", type=int, help="Tables for each cell.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="Only cells whose names hold this text.")
    given = parser.parse_args()
    print(f"{'':45} {'groups':>7} {'cannot':>7} {'none':>7} {'time':>7}")
    for unit in units(False, given.seed, given.tables):
        if given.only in unit.key:
            found = unit.measure(**unit.settings)
            print(f"{unit.key:45}", *(f"{found[name]:7.2f}" for name in (*ANSWERS, "time")), flush=True)


if __name__ == "__main__":
    main()
