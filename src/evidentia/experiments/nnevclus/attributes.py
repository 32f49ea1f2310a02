"""NN-EVCLUS paper (Denœux, 2021): the EVCLUS column of Table 3, EVCLUS and RECM of Table 6, CEVCLUS of section 4.3.

Run as ``python -m experiments.nnevclus_relational [table3] [table6] [constraints] --quick --out DIR``.
"""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from evidentia.constraints import PairwiseConstraints
from evidentia.datasets import load
from evidentia.relational import CEVCLUS, EVCLUS, RECM
from evidentia.experiments.reporting import arguments, beside, show

PAPER_3 = {
    "Wine": 0.91,
    "Iris": 0.77,
    "Ecoli": 0.80,
    "Heart": 0.41,
    "Seeds": 0.81,
    "Glass": 0.35,
    "Glass with Id": 0.35,
    "Segment": 0.51,
    "S2": 0.88,
    "S4": 0.63,
    "D31": 0.91,
    "Mice": 0.47,
    "DryBean": 0.62,
}
PAPER_6 = {"EVCLUS": 0.989, "RECM": 0.863}
QUANTILES = (0.9, 0.5, 0.2, 0.1)
SCALING_OPEN = ("Iris", "Ecoli", "Seeds", "Glass", "Glass with Id")
NOT_HAD_3 = [
    "Glass: the paper counts ten attributes, the file has nine and a row number; whether the number was used is not "
    "known. Rows are ordered by class, so it gives the class away. Neither reading gives the paper's value.",
    "Letters4p1 and Leaves5p1: neither the letters nor the species are named in the paper, so they are left out.",
    "Mice: the list of 22 proteins could not be had; all 71 without gaps are used.",
    "DryBean: the paper's draw of 200 objects a class is not published; this one is ours.",
    "Segment: 16 attributes without the pixel count and both line densities, the likeliest reading of d = 16.",
]
NOT_HAD_6 = ["ChickenPieces, Zongker and Gestures could not be had (PRTools dissimilarity data sets; no copy found)."]


def table(name: str, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Attributes and classes of a data set of Table 2, as distributed."""
    files = {"Ecoli": "ecoli_nnevclus", "Mice": "mice_trisomic", "Glass with Id": "glass"}
    data = load(files.get(name, name.lower()))
    X, y = np.asarray(data.data), np.asarray(data.target)
    if name == "Segment":
        dropped = ("region_pixel_count", "short_line_density_5", "short_line_density_2")
        kept = [k for k, column in enumerate(data.feature_names) if column.replace("-", "_") not in dropped]
        X = X[:, kept]
    if name == "Glass with Id":
        X = np.column_stack([np.arange(len(X)), X])
    if name == "DryBean":
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), 200, replace=False) for k in np.unique(y)])
        X, y = X[rows], y[rows]
    return X, y


def evclus(n_clusters: int, n_samples: int, delta0: float, seed: int, **changed: Any) -> EVCLUS:
    """The paper's settings: pairs of clusters below five clusters, 500 partners for large sets, five starts."""
    settings: dict[str, Any] = {
        "focal_sets": "pairs" if n_clusters < 5 else "singletons",
        "n_pairs": 500 if n_samples > 1000 else None,
        "delta0": delta0,
        "random_state": seed,
    }
    return EVCLUS(n_clusters, **{**settings, **changed})


def table3(quick: bool, seed: int) -> tuple[pd.DataFrame, list[str]]:
    rows = {}
    for name in PAPER_3:
        X, y = table(name, np.random.RandomState(seed))
        c = len(np.unique(y))
        scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
        row: dict[str, float] = {}
        start = perf_counter()
        for q in (0.9,) if c < 5 else QUANTILES[1:]:
            for kind, Z in (("z-scored", scaled), ("raw", X)):
                if kind == "raw" and name not in SCALING_OPEN:
                    continue
                model = evclus(c, len(X), q, seed, n_init=2 if quick else 5).fit(Z)
                key = f"delta0 {q:g}" if kind == "z-scored" else f"raw {q:g}"
                row[key] = adjusted_rand_score(y, model.labels_)
        rows[name] = {
            "n": len(X),
            "c": c,
            **row,
            "EVCLUS": max(row.values()),
            "seconds a fit": (perf_counter() - start) / len(row),
        }
    columns = ["n", "c", *(f"delta0 {q:g}" for q in QUANTILES), *(f"raw {q:g}" for q in QUANTILES)]
    ours = pd.DataFrame(rows).T.reindex(columns=[*columns, "EVCLUS", "seconds a fit"])
    paper = pd.DataFrame({"EVCLUS": PAPER_3})
    notes = [
        "Columns z-scored, as the paper's other results suggest; also 'raw' where that is open.",
        "EVCLUS: the best ARI of the settings shown, so chosen with the classes in view. With five "
        "clusters and more the paper, too, chose among delta0 = 0.5, "
        "0.2 and 0.1, and does not say which it took for which set.",
        *NOT_HAD_3,
    ]
    return beside(ours, paper).astype({"n": int, "c": int}), notes


def table6(quick: bool, seed: int) -> tuple[pd.DataFrame, list[str]]:
    data = load("protein")
    D, y = data.dissimilarity, data.target
    notes, rows = list(NOT_HAD_6), {}
    start = perf_counter()
    model: Any = EVCLUS(4, focal_sets="singletons", delta0=1.0, metric="precomputed", random_state=seed).fit(D)
    rows["EVCLUS"] = (adjusted_rand_score(y, model.labels_), perf_counter() - start)
    rho = float(np.sqrt(D.max()))
    for name, settings in {
        "RECM": {"focal_sets": "singletons", "beta": 1.5},
        "RECM, all subsets, alpha 0.2, beta 1.1": {"alpha": 0.2, "beta": 1.1},
    }.items():
        start = perf_counter()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = RECM(4, rho=rho, squared=True, metric="precomputed", random_state=seed, **settings).fit(D)
        rows[name] = (adjusted_rand_score(y, model.labels_), perf_counter() - start)
        notes += [f"{name}: {warning.message}" for warning in said]
    notes.append("The R program for RECM stops early here by a loose rule; ours runs until the criterion rests.")
    ours = pd.DataFrame(rows, index=["Protein, ARI", "seconds"]).T
    return beside(ours, pd.DataFrame({"Protein, ARI": PAPER_6})), notes


def constraints(quick: bool, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Mean ARI against the number of links, random draws; the paper shows it as Figures 27 and 28."""
    draws = 3 if quick else 10
    rows: dict[tuple[str, int], list[float]] = {}
    for name, q in (("Iris", 0.9), ("Glass", 0.5)):
        X, y = table(name, np.random.RandomState(seed))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        c = len(np.unique(y))
        for draw in range(draws):
            every = PairwiseConstraints.sample(y, 200, random_state=seed + draw)
            for count in (0, 50, 100, 150, 200):
                links = PairwiseConstraints(every.pairs[:count], every.must[:count])
                model = CEVCLUS(
                    c, focal_sets="pairs" if c < 5 else "singletons", delta0=q, random_state=seed + draw
                ).fit(X, constraints=links)
                rows.setdefault((name, count), []).append(adjusted_rand_score(y, model.labels_))
    found = {key: {"mean ARI": np.mean(values), "deviation": np.std(values)} for key, values in rows.items()}
    ours = pd.DataFrame(found).T
    ours.index.names = ["data", "links"]
    return ours, [
        f"{draws} draws of random correct links; xi = 0.5. The paper prints no numbers for these figures.",
        "ChickenPieces could not be had.",
    ]


PARTS = {
    "table3": ("Table 3: ARI of EVCLUS on attribute data", table3),
    "table6": ("Table 6: ARI on dissimilarity data", table6),
    "constraints": ("Section 4.3: CEVCLUS, mean ARI against the number of links", constraints),
}


def main() -> None:
    options = arguments(__doc__.splitlines()[0], list(PARTS))
    for part in options.parts:
        title, make = PARTS[part]
        found, notes = make(options.quick, options.seed)
        show(f"nnevclus_{part}", title, found, out=options.out, notes=notes)


if __name__ == "__main__":
    main()
