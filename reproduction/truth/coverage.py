"""What "assigned" and a stated coverage promise, on generated tables whose groups are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.mixture import GaussianMixture

from evidentia import ECM, EGMM, EVCLUS, NNEVCLUS, BootGMM
from evidentia.scores import reliability
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit
from reproduction.truth.overlapping import KNOWN, MISSPECIFIED, make_table

LEVELS = (0.8, 0.9, 0.95)
METHODS: dict[str, Callable[[int, int], Any]] = {
    "EGMM": lambda n_clusters, seed: EGMM(n_clusters, random_state=seed),
    "ECM": lambda n_clusters, seed: ECM(n_clusters, random_state=seed),
    "EVCLUS": lambda n_clusters, seed: EVCLUS(n_clusters, random_state=seed),
    "BootGMM": lambda n_clusters, seed: BootGMM(n_clusters, n_boot=200, random_state=seed),
    "NNEVCLUS": lambda n_clusters, seed: NNEVCLUS(n_clusters, random_state=seed),
}
RIVAL = "scikit-learn, cumulated"
QUICK = ("2 apart by 3", "3 apart by 3", "4 apart by 4", "heavy tails", "bent")


def groups_of_clusters(probabilities: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the group of each cluster: one to one, or the commonest where there are more clusters than groups.

    Examples
    --------
    >>> groups_of_clusters(np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]), np.array([1, 1, 0]))
    array([1, 0])
    """
    counts = np.eye(probabilities.shape[1])[probabilities.argmax(axis=1)].T @ np.eye(groups.max() + 1)[groups]
    if counts.shape[0] > counts.shape[1]:
        return counts.argmax(axis=1)
    clusters, own = linear_sum_assignment(counts, maximize=True)
    found = np.full(len(counts), -1)
    found[clusters] = own
    return found


def measure(method: str, table: str, seed: int) -> Result:
    """Fit one method to one table, and compare what it states with the groups."""
    X, groups, n_clusters = make_table(table, seed)
    if method == RIVAL:
        return _measure_rival(X, groups, n_clusters, seed)
    start = time.process_time()
    model = METHODS[method](n_clusters, seed).fit(X)
    fitted = time.process_time()
    partition = model.partition_
    own = groups_of_clusters(partition.pignistic, groups)
    assigned = partition.sets().sum(axis=1) == 1
    label = partition.singleton_belief.argmax(axis=1)
    likeliest = partition.pignistic.argmax(axis=1)
    found: Result = {
        "accuracy": float((own[likeliest] == groups).mean()),
        "assigned": float(assigned.mean()),
        "right": float((own[label] == groups)[assigned].sum()),
        "n": len(X),
        "stated": partition.pignistic.max(axis=1).round(4).tolist(),
        "correct": (own[likeliest] == groups).astype(int).tolist(),
        "fit": fitted - start,
    }
    for level in LEVELS:
        sets = model.sets(X, coverage=level)
        found |= _covered(sets, own, groups, level)
    return {**found, "refits": time.process_time() - fitted}


def _measure_rival(X: np.ndarray, groups: np.ndarray, n_clusters: int, seed: int) -> Result:
    """Sort posteriors and add them up to the level: what a user of a plain mixture would do."""
    posterior = GaussianMixture(n_clusters, n_init=5, random_state=seed).fit(X).predict_proba(X)
    own, order = groups_of_clusters(posterior, groups), np.argsort(-posterior, axis=1)
    found: Result = {}
    before = np.cumsum(np.take_along_axis(posterior, order, axis=1), axis=1)[:, :-1]
    for level in LEVELS:
        kept = np.hstack([np.ones((len(X), 1), dtype=bool), before < level])
        sets = np.zeros(posterior.shape, dtype=bool)
        np.put_along_axis(sets, order, kept, axis=1)
        found |= _covered(sets, own, groups, level)
    return found


def _covered(sets: np.ndarray, own: np.ndarray, groups: np.ndarray, level: float) -> Result:
    covered = (sets & (own == groups[:, None])).any(axis=1)
    return {f"covered {level:g}": float(covered.mean()), f"size {level:g}": float(sets.sum(axis=1).mean())}


def units(quick: bool, seed: int) -> list[Unit]:
    """Return a fit of each method to each table; a full run has three tables of each kind."""
    return [
        Unit(f"{table}#{draw}/{method}", measure, {"method": method, "table": table, "seed": 1000 * seed + draw})
        for table in [*KNOWN, *MISSPECIFIED]
        for method in [*METHODS, RIVAL]
        for draw in range(1 if quick else 3)
        if not quick or table in QUICK
    ]


def tables_of(results: Results, method: str, tables: Iterable[str]) -> dict[str, list[Result]]:
    """Return what was measured of a method, by table."""
    found: dict[str, list[Result]] = {}
    for key, result in results.items():
        table, _, who = key.partition("/")
        if who == method and (name := table.partition("#")[0]) in tables:
            found.setdefault(name, []).append(result)
    return found


def assigned_cells(results: Results) -> list[Cell]:
    """Return how many objects are assigned, how many of these are right, and the error of stated probabilities."""
    cells = []
    for kind, tables in (("known", KNOWN), ("misspecified", MISSPECIFIED)):
        for method in METHODS:
            found = [one for many in tables_of(results, method, tables).values() for one in many]
            if not found:
                continue
            assigned = sum(one["assigned"] * one["n"] for one in found)
            curve = reliability(
                np.concatenate([one["stated"] for one in found]), np.concatenate([one["correct"] for one in found])
            )
            row = f"{method}, {kind}"
            cells += [
                Cell(row, "accuracy", float(np.mean([one["accuracy"] for one in found])), runs=len(found)),
                Cell(row, "assigned", float(np.mean([one["assigned"] for one in found])), runs=len(found)),
                Cell(row, "right of these", sum(one["right"] for one in found) / max(assigned, 1), runs=len(found)),
                Cell(row, "ECE", curve.error, runs=len(found)),
            ]
    return cells


def coverage_cells(results: Results) -> list[Cell]:
    """Return how often the sets hold the right group, their size, and the table that falls below most."""
    cells = []
    for kind, tables in (("known", KNOWN), ("misspecified", MISSPECIFIED)):
        for method in [*METHODS, RIVAL]:
            found = tables_of(results, method, tables)
            for level in LEVELS if found else ():
                row = f"{method}, {kind}, {level:g}"
                covered = [float(np.mean([one[f"covered {level:g}"] for one in many])) for many in found.values()]
                size = [float(np.mean([one[f"size {level:g}"] for one in many])) for many in found.values()]
                cells += [
                    Cell(row, "covered", float(np.mean(covered)), runs=len(covered)),
                    Cell(row, "size", float(np.mean(size)), runs=len(covered)),
                    Cell(row, "worst less level", min(covered) - level, runs=len(covered)),
                ]
    return cells


HOW = (
    "300 objects, the number of clusters given; twelve Gaussian mixtures (two to four clusters, 2 to 6 standard "
    "deviations apart, 2 or 5 columns, equal or not) and four tables that no such mixture describes: heavy tails, "
    "skewed, bent, and one cluster too many. Clusters are matched with the groups one to one.",
)
EXHIBITS = [
    Exhibit(
        "truth.assigned", "What 'assigned' promises", units=units, cells=assigned_cells, words=HOW, minutes=(8, 90)
    ),
    Exhibit(
        "truth.coverage", "Sets with a stated coverage", units=units, cells=coverage_cells, words=HOW, minutes=(8, 90)
    ),
]
