"""Figures 15 to 19 on a drawn brain slice: the paper's image is private."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.metrics import adjusted_rand_score

from evidentia.app.images import segment
from evidentia.datasets import make_mri_phantom
from evidentia.prototypes import CECM, ECM
from reproduction.exhibit import Result

HEIGHT = 156  # the paper's image is 156 x 141
TISSUE, LESION = 1, 2
N_PROTOTYPES = 400
RHO = np.sqrt(10)
RADII = (3, 6)  # of the disc an expert draws in normal tissue, in pixels


def regions(truth: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """What an expert draws: the inside of the largest lesion, and a disc of normal tissue."""
    pieces, _ = ndimage.label(truth == LESION)
    largest = pieces == np.bincount(pieces.ravel())[1:].argmax() + 1
    depth = ndimage.distance_transform_edt(truth == TISSUE)
    center = np.unravel_index(depth.argmax(), truth.shape)
    rows, columns = np.indices(truth.shape)
    disc = np.hypot(rows - center[0], columns - center[1]) <= min(radius, depth.max() - 1)
    return ndimage.binary_erosion(largest), disc


def name_of(radius: float) -> str:
    return f"CECM, disc of radius {radius:g}"


def segmented(size: int, radii: Sequence[float], seed: int) -> Result:
    """The lesions found by ECM without and by CECM with two regions: accuracy, doubt, seconds, and the maps."""
    brain = make_mri_phantom(size, random_state=seed)
    gray = brain.to_image(brain.data[:, 1])
    gray = (gray - np.nanmin(gray)) / (np.nanmax(gray) - np.nanmin(gray))
    truth = brain.to_image(brain.target, fill=-1).astype(int)
    methods: dict[str, tuple[Any, dict[str, Any]]] = {"ECM": (ECM(2, focal_sets="full", alpha=2, rho=RHO), {})}
    for radius in radii:
        lesion, normal = regions(truth, radius)
        masks: dict[str, Any] = {"same": [lesion, normal], "different": [(lesion, normal)]}
        methods[name_of(radius)] = CECM(2, alpha=2, rho=RHO, adaptive=True), masks
    found: Result = {"gray": np.nan_to_num(gray, nan=0.0).round(2).tolist(), "sets": {}, "labels": {}, "seconds": 0.0}
    found["regions"] = (lesion.astype(int) + 2 * normal).tolist()
    inside = truth >= 0
    for name, (method, masks) in methods.items():
        begun = process_time()
        result = segment(
            gray, method, background=np.nan, scale="none", n_prototypes=N_PROTOTYPES, random_state=seed, **masks
        )
        taken = process_time() - begun
        labels, sets = result.labels("pignistic"), result.sets()
        ill = labels == 1  # clusters are numbered from dark to bright
        both = np.count_nonzero(ill & (truth == LESION))
        found[name] = {
            "adjusted Rand index": float(adjusted_rand_score((truth == LESION)[inside], ill[inside])),
            "Dice": float(2 * both / (np.count_nonzero(ill) + np.count_nonzero(truth == LESION))),
            "share of pixels on Ω": float((sets[inside] == 3).mean()),
            "seconds": taken,
            "prototypes": len(result.counts),
        }
        found["sets"][name], found["labels"][name] = sets.tolist(), labels.tolist()
        found["seconds"] += taken
    return found
