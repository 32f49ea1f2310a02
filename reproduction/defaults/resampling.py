"""Measure which share of the rows each fit of an ensemble should see.

``python -m reproduction.defaults.resampling`` writes the record. Tables are drawn from known groups. For each pair of
objects the measurement counts the fits in which the two are together. Where the fits disagree, the more frequent answer
is right if the same method, fitted to 20,000 rows of the same groups, gives it too. A share of the rows is calibrated
if an answer that 76 % of the fits give is right in 76 % of the cases.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidentia import FCM, ensemble
from evidentia.rows.strange import StrangeRows

RECORD = Path(__file__).with_name("resampling.json")
SHARES = (0.5, 0.8)
SIZES = (100, 300, 1_000)
SEEDS = 8
FITS = 40
POPULATION = 20_000
PAIRS = 10_000  # drawn of each table
UNDECIDED = 0.05  # pairs of which a smaller share of the fits differs from the others are left out
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
SHAPES = {  # distance between the three groups, and the standard deviations of each of them in the two columns
    "round, far": (3.0, [[1.0, 1.0]] * 3),
    "round, near": (2.5, [[1.0, 1.0]] * 3),
    "unequal spread": (4.0, [[0.6, 0.6], [1.0, 1.0], [1.6, 1.6]]),
    "elongated": (3.0, [[1.0, 1.0], [1.0, 0.4], [0.4, 1.0]]),
}


class Answers(NamedTuple):
    """Undecided pairs: their number, and the sums of the shares of the more frequent answer and of right answers."""

    pairs: int
    said: float
    right: float

    @property
    def error(self) -> float:
        """Return the mean share of fits that give the answer, less the share of right answers."""
        return (self.said - self.right) / self.pairs


def draw_table(shape: str, n: int, seed: int) -> np.ndarray:
    """Return n rows of three groups of equal weight."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    distance, deviations = SHAPES[shape]
    table: np.ndarray = distance * CORNERS[group] + rng.normal(size=(n, 2)) * np.array(deviations)[group]
    return table


def measure(shape: str, n: int, rows: float, seed: int, n_fits: int = FITS) -> Answers:
    """Return the sums over the undecided pairs of one table."""
    model: Any = FCM(3, n_init=1, random_state=0)
    X = draw_table(shape, n, seed)
    truth = model.fit(draw_table(shape, POPULATION, seed + 1_000_000)).predict(X)
    models = ensemble(X, model, n_fits=n_fits, rows=rows, random_state=seed).models
    with warnings.catch_warnings():  # each was fitted to a part of the rows: the range of all is wider
        warnings.simplefilter("ignore", StrangeRows)
        labels = np.array([one.predict(X) for one in models])
    first, second = np.triu_indices(n, 1)
    drawn = np.random.default_rng(seed).permutation(len(first))[:PAIRS]
    first, second = first[drawn], second[drawn]
    share = (labels[:, first] == labels[:, second]).mean(axis=0)
    undecided = np.abs(share - 0.5) < 0.5 - UNDECIDED
    right = (share > 0.5) == (truth[first] == truth[second])
    said = np.maximum(share, 1 - share)
    return Answers(int(undecided.sum()), float(said[undecided].sum()), float(right[undecided].sum()))


def reduce_rows(answers: list[Answers]) -> Answers:
    """Return the answers of several tables as those of one."""
    return Answers(*np.sum(answers, axis=0).tolist())


def main() -> None:
    """Measure all shapes, sizes and shares, and write the record."""
    found = [
        {"groups": shape, "objects": n, "rows": rows, **reduce_rows(tables)._asdict()}
        for shape in SHAPES
        for n in SIZES
        for rows in SHARES
        for tables in [[measure(shape, n, rows, seed) for seed in range(SEEDS)]]
    ]
    about = {"tables": SEEDS, "fits": FITS, "measured": found}
    RECORD.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
