"""Beyond the paper: coverage on fresh mixtures, two to ten columns, with the number of clusters known and not known.

The paper measures on three fixed mixtures in the plane. Here every table comes from a mixture of its own, so that no
rule can be suited to it.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np

from evidentia import BootGMM
from evidentia.scores import KnownMixture, calibrate
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

LEVEL = 0.9
N_SAMPLES = 300
MODELS = ("EII", "VVI", "EEE", "VVV")
COLUMNS = (2, 5, 10)
KNOWN = {"number known": {"n_clusters": 3}}
UNKNOWN = {
    "number averaged": {"n_clusters": "auto", "cluster_range": [1, 5]},
    "number by BIC": {"n_clusters": "bic", "cluster_range": [1, 5]},
}
KNOWN_BLOCKS, UNKNOWN_BLOCKS = (10, 10), (5, 2)  # tables of one unit, and units of a mixture, in a full run
MEASURES = ("ci_coverage", "coverage", "ci_length", "length")


def fresh_mixture(model: str, n_features: int, rng: np.random.RandomState) -> KnownMixture:
    """Three components of a covariance model, their centers 2.5 to 4 apart in a plane of any direction.

    Free volumes differ by a factor of up to 4, free eigenvalues of a shape by up to 7.
    """

    def shape() -> np.ndarray:
        logs = rng.uniform(-1, 1, n_features)
        return np.exp(logs - logs.mean())

    def axes() -> np.ndarray:
        return np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]

    angle = 2 * np.pi * np.arange(3) / 3
    corners = np.column_stack([np.cos(angle), np.sin(angle)]) / np.sqrt(3)
    means = rng.uniform(2.5, 4) * corners @ axes()[:2]
    common = {"I": (np.ones(n_features), np.eye(n_features)), "E": (shape(), axes())}
    within = []
    for _ in range(3):
        volume = np.exp(rng.uniform(-0.7, 0.7)) if model[0] == "V" else 1.0
        values = shape() if model[1] == "V" else common[model[1]][0]
        vectors = axes() if model[2] == "V" else common[model[2]][1]
        within.append(volume * (vectors * values) @ vectors.T)
    return KnownMixture(rng.dirichlet(np.full(3, 10.0)), means, np.array(within))


def measure_fresh(
    model: str, n_features: int, settings: dict[str, Any], n_datasets: int, n_boot: int, seed: int
) -> Result:
    """Coverage and length on tables of as many mixtures."""
    begin, rows = perf_counter(), []
    for number in range(n_datasets):
        rng = np.random.RandomState([seed, number, n_features])
        truth = fresh_mixture(model, n_features, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of collapsed replicates, which are counted
            rows += calibrate(
                truth,
                BootGMM(**settings, n_boot=n_boot, confidence=LEVEL),
                n_samples=N_SAMPLES,
                n_datasets=1,
                random_state=rng.randint(2**31 - 1),
            ).to_dict("records")
    return {"rows": rows, "seconds": perf_counter() - begin}


def _units(
    plan: dict[str, dict[str, Any]], columns: tuple[int, ...], blocks: tuple[int, int], quick: bool, seed: int
) -> list[Unit]:
    n_datasets, n_blocks = (2, 1) if quick else blocks
    return [
        Unit(
            f"fresh/{n_features} columns/{model}/{name}/{block}",
            measure_fresh,
            {
                "model": model,
                "n_features": n_features,
                "settings": settings,
                "n_datasets": n_datasets,
                "n_boot": 100 if quick else 200,
                "seed": 1000 * seed + block,
            },
        )
        for block in range(n_blocks)  # of every mixture one before the second of any
        for n_features in columns
        for model in MODELS
        for name, settings in plan.items()
    ]


def known_units(quick: bool, seed: int) -> list[Unit]:
    return _units(KNOWN, COLUMNS, KNOWN_BLOCKS, quick, seed)


def unknown_units(quick: bool, seed: int) -> list[Unit]:
    return _units(UNKNOWN, COLUMNS[:2], UNKNOWN_BLOCKS, quick, seed)


def _cells(plan: dict[str, dict[str, Any]], columns: tuple[int, ...], results: Results) -> list[Cell]:
    cells = []
    for n_features in columns:
        for model in MODELS:
            for name in plan:
                start = f"fresh/{n_features} columns/{model}/{name}/"
                rows = [row for key, found in results.items() if key.startswith(start) for row in found["rows"]]
                for measure in MEASURES:
                    values = np.array([row[measure] for row in rows])
                    cells.append(
                        Cell(
                            f"{n_features} columns, {model}, {name}",
                            measure,
                            float(values.mean()) if len(values) else None,
                            float(values.std(ddof=1)) if len(values) > 1 else None,
                            better="equal",
                            runs=max(1, len(values)),
                        )
                    )
    return cells


def known_cells(results: Results) -> list[Cell]:
    return _cells(KNOWN, COLUMNS, results)


def unknown_cells(results: Results) -> list[Cell]:
    return _cells(UNKNOWN, COLUMNS[:2], results)


def notes(results: Results) -> list[str]:
    """How far the means of coverage can be known."""
    counts = [len(found["rows"]) for found in results.values()]
    if not counts:
        return []
    errors = [
        cell.error
        for cell in [*known_cells(results), *unknown_cells(results)]
        if cell.column == "coverage" and cell.ours
    ]
    return [f"{sum(counts)} fits in all; the largest standard error of a mean coverage is {max(errors):.3f}."]


WORDS = (
    f"Nominal level {LEVEL}; {N_SAMPLES} objects in three clusters; model 'auto'. The paper has no such table.",
    "'ci' are the confidence intervals, the others those from belief to plausibility.",
)

EXHIBITS = [
    Exhibit(
        "bootgmm.fresh",
        "Coverage on fresh mixtures, the number of clusters known",
        known_units,
        known_cells,
        notes=notes,
        minutes=(0.6, 60),
        words=WORDS,
    ),
    Exhibit(
        "bootgmm.number",
        "Coverage on fresh mixtures, the number of clusters not known",
        unknown_units,
        unknown_cells,
        notes=notes,
        minutes=(1, 12),
        words=(
            *WORDS,
            "Numbers of clusters from 1 to 5 are tried, and averaged over or chosen once by BIC.",
        ),
    ),
]
