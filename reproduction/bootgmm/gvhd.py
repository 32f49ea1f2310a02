"""Figures 19 to 21: a thousand cells of a patient with graft-versus-host disease, seven clusters."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from evidentia import BootGMM, ParsimoniousGaussianMixture
from evidentia.datasets import load
from reproduction.bootgmm.fits import PAPER_TOL, bootstrapped, draw_planes, remarks, unpacked
from reproduction.bootgmm.synthetic import UNPUBLISHED
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_CELLS = 1000
PLANES = [(0, 1), (2, 3)]


def drawn(seed: int) -> np.ndarray:
    cells = np.asarray(load("gvhd_positive").data, dtype=float)
    return cells[np.random.RandomState(seed).choice(len(cells), N_CELLS, replace=False)]


def measure_bic(seed: int) -> Result:
    """BIC of the fourteen models with one to nine components, on one draw of cells."""
    begin = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = ParsimoniousGaussianMixture(cluster_range=(1, 9), random_state=seed).fit(drawn(seed))
    tried = found.selection_.rename(columns={"n_clusters": "n_components"})
    table = tried[["model", "n_components", "bic"]].astype(object)
    rows = table.where(table.notna(), None).to_dict("records")
    best = {"model": found.model_, "n_components": int(found.n_clusters_)}
    return {"rows": rows, **best, "seconds": perf_counter() - begin}


def measure_cells(n_boot: int, seed: int) -> Result:
    begin = perf_counter()
    pairs: Any = {"focal_sets": "near-pairs", "n_near": 2}
    model = BootGMM(7, model="VVV", **pairs, n_boot=n_boot, boot_tol=PAPER_TOL, random_state=seed).fit(drawn(seed))
    return {**bootstrapped(model), "seed": seed, "seconds": perf_counter() - begin}


def bic_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit(f"GvHD/BIC/{run}", measure_bic, {"seed": seed + run}) for run in range(1 if quick else 5)]


def cell_units(quick: bool, seed: int) -> list[Unit]:
    return [Unit("GvHD/BootGMM", measure_cells, {"n_boot": 200 if quick else 1000, "seed": seed})]


def bic_table(found: Result) -> pd.DataFrame:
    return pd.DataFrame(found["rows"]).astype({"bic": float}).pivot(index="n_components", columns="model", values="bic")


def bic_cells(results: Results) -> list[Cell]:
    found = results.get("GvHD/BIC/0")
    best = found["n_components"] if found else None
    full = None
    if found:
        table = bic_table(found)
        full = int(table.index[int(np.nanargmax(table["VVV"].to_numpy()))])
    row = "number of components"
    return [
        Cell(row, "best of all models", best, paper=7, better="equal", tolerance=0, incomparable=UNPUBLISHED),
        Cell(row, "best of VVV", full, paper=7, better="equal", tolerance=0, incomparable=UNPUBLISHED),
    ]


def bic_notes(results: Results) -> list[str]:
    best = [f"{found['model']} {found['n_components']}" for found in results.values()]
    return [f"Best of ours, by draw: {', '.join(best)}."] if best else []


def draw_bic(results: Results) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    ax = figure.subplots()
    for at, (model, values) in enumerate(bic_table(results["GvHD/BIC/0"]).items()):
        dashes = ("-", "--", ":", "-.")[at // 4]
        ax.plot(values.index, values, "os^v"[at // 4], ls=dashes, color=f"C{at % 4}", label=str(model), ms=4, lw=1.2)
    ax.set(xlabel="number of components", ylabel="BIC (larger is better)", xticks=range(1, 10))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small")
    return figure


def member_cells(results: Results) -> list[Cell]:
    found = results.get("GvHD/BootGMM")
    masks = found["partition"]["masks"] if found else []
    pairs = sum(mask.bit_count() == 2 for mask in masks) if found else None
    cells = [
        Cell("all", "pairs that are focal sets", pairs, paper=5, better="equal", tolerance=0, incomparable=UNPUBLISHED)
    ]
    if found:
        partition = unpacked(found["partition"])
        for k, weight in enumerate(found["weights"]):
            row = f"cluster {k}"
            cells += [
                Cell(row, "weight", weight),
                Cell(row, "surely in", len(partition.lower(k, rule="mass"))),
                Cell(row, "possibly in", len(partition.upper(k, rule="mass"))),
            ]
    return cells


def member_notes(results: Results) -> list[str]:
    found = results.get("GvHD/BootGMM")
    if found is None:
        return []
    names = unpacked(found["partition"]).focal_sets.names()
    pairs = ", ".join(name for name in names if "," in name)
    return [
        f"{len(names)} focal sets: 7 clusters and the pairs of mutual 2-nearest clusters {pairs} (paper: 12, with "
        "(1,3), (2,4), (1,6), (3,7), (5,7) of its own numbering).",
        *remarks(found),
    ]


def draw_cells(results: Results, *, ellipses: bool) -> Figure:
    found = results["GvHD/BootGMM"]
    names = list(load("gvhd_positive").feature_names)
    return draw_planes(found, drawn(found["seed"]), names, PLANES, ellipses=ellipses)


DATA = ("gvhd_positive",)
EXHIBITS = [
    Exhibit(
        "bootgmm.figure19",
        "GvHD: BIC by model and number of components",
        bic_units,
        bic_cells,
        draw_bic,
        bic_notes,
        DATA,
        (0.1, 0.5),
        words=(
            f"The paper has VVV with 7, on a draw of {N_CELLS:,} cells that is not published, and the draw matters.",
            "Gaps: a component collapsed in every start.",
        ),
    ),
    Exhibit(
        "bootgmm.figure20",
        "GvHD: the mixture of seven components",
        cell_units,
        draw=lambda results: draw_cells(results, ellipses=True),
        data=DATA,
        minutes=(0.1, 0.3),
    ),
    Exhibit(
        "bootgmm.figure21",
        "GvHD: sure and possible members",
        cell_units,
        member_cells,
        lambda results: draw_cells(results, ellipses=False),
        member_notes,
        DATA,
        (0.1, 0.3),
    ),
]
