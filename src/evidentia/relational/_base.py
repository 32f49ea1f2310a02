"""Masses that a method on dissimilarities is told to start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.partition import CredalPartition


def given_masses(who: str, init: Any, focal_sets: FocalSets, n_samples: int) -> np.ndarray:
    """Masses to start from: an array in the order of the focal sets, or a partition whose focal sets are among them."""
    if isinstance(init, CredalPartition):
        known = set(focal_sets.masks.tolist())
        named = zip(init.focal_sets.names(), init.focal_sets.masks.tolist())
        foreign = [name for name, mask in named if mask not in known]
        if foreign or init.n_clusters != focal_sets.n_clusters or len(init) != n_samples:
            raise ValueError(
                f"The 'init' partition of {who} has {len(init)} objects in {init.n_clusters} clusters"
                f"{f' and the focal set {foreign[0]}' if foreign else ''}; needed are {n_samples} objects over "
                f"{focal_sets}."
            )
        masses = np.zeros((n_samples, len(focal_sets)))
        masses[:, [focal_sets.index(subset) for subset in init.focal_sets]] = init.masses
        return masses
    masses = np.array(init, dtype=float)
    expected = (n_samples, len(focal_sets))
    if masses.shape != expected or not (masses >= 0).all() or not np.allclose(masses.sum(axis=1), 1, atol=1e-4):
        raise ValueError(
            f"The 'init' parameter of {who} must be a rule, a CredalPartition, or masses of shape {expected} that sum "
            f"to one in each row, in the order {', '.join(focal_sets.names()[:8])}. Got shape {masses.shape}."
        )
    return masses / masses.sum(axis=1, keepdims=True)
