"""Table 15 and Figures 8 to 11: a brain slice in two contrasts, each cut in two, fused to three kinds of tissue.

The paper's images are BrainWeb's; here a drawn phantom with the same powers of discernment takes their place.
"""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.datasets import make_mri_phantom
from evidentia.partition import CredalPartition
from evidentia.prototypes import BPEC, ECM
from evidentia.scores import hard_scores
from reproduction.egmm import paper
from reproduction.egmm.methods import highest_ebic, paper_egmm
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATHOLOGY, FLUID, TISSUE = range(3)
NAMES = ("pathology", "ventricles and fluid", "tissue")
# What the dark and the bright cluster of each contrast stand for.
MEANING = {"T1": [{FLUID}, {PATHOLOGY, TISSUE}], "T2": [{FLUID, TISSUE}, {PATHOLOGY}]}
METHODS: dict[str, Any] = {
    "ECM": lambda X, c, seed: ECM(c, rho=10.0, focal_sets="full", random_state=seed).fit(X),
    "BPEC": lambda X, c, seed: BPEC(c, adaptive=False, focal_sets="full").fit(X),
    "EGMM": paper_egmm,
}
OTHER_IMAGE = "Another image: BrainWeb's is not to be had, and a drawn phantom takes its place."


def dark_first(model: Any) -> CredalPartition:
    return model.partition_.relabel(np.argsort(model.cluster_centers_[:, 0]))


def measure_brain(method: str, size: int, seed: int) -> Result:
    """Scores of the fused partition, and the set of each pixel in both contrasts and after the fusion."""
    brain = make_mri_phantom(size, random_state=seed)
    begin = process_time()
    partitions, counts = {}, {}
    for contrast, values in zip(MEANING, brain.data.T):
        column = values[:, None]
        partitions[contrast] = dark_first(METHODS[method](column, 2, seed))
        if method == "EGMM":
            search = highest_ebic(column, (2, 3, 4), seed, n_init=2, tol=1e-5)
            counts[contrast] = int(search.n_clusters_)
    refined = [partitions[contrast].refine(MEANING[contrast], cluster_names=NAMES) for contrast in MEANING]
    partitions["fused"] = refined[0].combine(refined[1], rule="dempster")
    scores = hard_scores(partitions["fused"].labels("pignistic"), brain.target)
    return {
        "Purity": scores["purity"],
        "NMI": scores["nmi"],
        "ARI": scores["adjusted_rand"],
        "sets": {name: partition.hard_masks.tolist() for name, partition in partitions.items()},
        "clusters": counts,
        "size": size,
        "seed": seed,
        "seconds": process_time() - begin,
    }


def units(names: tuple[str, ...], quick: bool, seed: int) -> list[Unit]:
    settings = {"size": 96 if quick else 181, "seed": seed}
    return [Unit(f"brain/{name}", measure_brain, {"method": name, **settings}) for name in names]


def all_units(quick: bool, seed: int) -> list[Unit]:
    return units(tuple(METHODS), quick, seed)


def egmm_units(quick: bool, seed: int) -> list[Unit]:
    return units(("EGMM",), quick, seed)


def torn(masks: list[int]) -> float:
    """Share of pixels whose set has several clusters."""
    return float(np.mean([mask.bit_count() > 1 for mask in masks]))


def score_cells(results: Results) -> list[Cell]:
    return [
        Cell(
            method,
            score,
            results.get(f"brain/{method}", {}).get(score),
            paper=entry.mean,
            incomparable=OTHER_IMAGE,
            rival=method != "EGMM",
        )
        for method, row in paper.TABLE_15.items()
        for score, entry in row.items()
    ]


def contrast_cells(contrast: str, results: Results) -> list[Cell]:
    found = results.get("brain/EGMM", {})
    cells = [Cell(contrast, "on several clusters", torn(found["sets"][contrast]) if found else None)]
    if contrast in MEANING:
        count = found["clusters"][contrast] if found else None
        cells.append(Cell(contrast, "clusters by EBIC", count, paper=2, better="equal", incomparable=OTHER_IMAGE))
    return cells


def phantom(results: Results) -> tuple[Any, Result]:
    found = results["brain/EGMM"]
    return make_mri_phantom(found["size"], random_state=found["seed"]), found


def draw_contrasts(results: Results) -> Figure:
    from matplotlib import pyplot as plt

    brain, _ = phantom(results)
    figure, axes = plt.subplots(1, 3, figsize=(12, 5), layout="constrained")
    shown = [*brain.data.T, brain.target.astype(float)]
    for ax, values, title in zip(axes, shown, ("T1", "T2", "truth")):
        ax.imshow(brain.to_image(values), cmap="gray" if title != "truth" else "viridis", interpolation="nearest")
        ax.set_title(title)
        ax.set_axis_off()
    return figure


def draw_approximations(which: str, names: tuple[str, ...], results: Results) -> Figure:
    """Lower approximations red, what the upper ones have beside them blue."""
    from matplotlib import pyplot as plt

    brain, found = phantom(results)
    masks = np.array(found["sets"][which])
    figure, axes = plt.subplots(1, len(names), figsize=(4.2 * len(names), 5), layout="constrained")
    for k, (ax, name) in enumerate(zip(axes, names)):
        colors = np.full((len(masks), 3), 0.88)
        colors[(masks >> k & 1) == 1] = (0.25, 0.45, 0.85)
        colors[masks == 1 << k] = (0.85, 0.2, 0.2)
        ax.imshow(brain.to_image(colors, fill=1.0), interpolation="nearest")
        ax.set_title(f"{name}: surely (red), possibly (+ blue)", fontsize=10)
        ax.set_axis_off()
    return figure


def approximated(number: int, which: str, names: tuple[str, ...], title: str) -> Exhibit:
    return Exhibit(
        f"egmm.figure{number}",
        title,
        egmm_units,
        cells=lambda results: contrast_cells(which, results),
        draw=lambda results: draw_approximations(which, names, results),
        minutes=(0.1, 0.3),
    )


EXHIBITS = [
    Exhibit(
        "egmm.table15",
        "Brain images: three methods",
        all_units,
        cells=score_cells,
        words=(
            "Dempster's rule on the frame of three tissues: the dark cluster of T1 is fluid, the bright one of T2 is "
            "pathology, and the others are what that contrast does not tell apart. bootGMM is left out, as in the "
            "paper.",
            "EBIC, asked about two to four clusters, wants more than two here: gray and white matter of the phantom "
            "differ in brightness (0.70 and 0.80 in T1, 0.36 and 0.28 in T2).",
        ),
        minutes=(0.4, 1.0),
    ),
    Exhibit("egmm.figure8", "The two contrasts", egmm_units, draw=draw_contrasts, minutes=(0.1, 0.3)),
    approximated(9, "T1", ("dark: ventricles and fluid", "bright: tissue"), "The T1 image in two clusters"),
    approximated(10, "T2", ("dark: the rest", "bright: pathology"), "The T2 image in two clusters"),
    approximated(11, "fused", NAMES, "Both images combined"),
]
