"""Regions of a segmentation, and which two of them are most worth a question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from evidentia.app.images.segmentation import Segmentation
from evidentia.partition import CredalPartition

LEAST = 12  # pixels of a region that is asked about
MOST = 40  # doubtful regions that are compared


class Region(NamedTuple):
    """A connected area whose pixels have the set ``mask`` of clusters; ``pixels`` are positions in the flat image."""

    mask: int
    pixels: np.ndarray


def find_regions(sets: np.ndarray, least: int = LEAST) -> list[Region]:
    """Connected areas of one set of at least so many pixels, the largest first; -1 and the empty set are none.

    Examples
    --------
    >>> [(one.mask, one.pixels.tolist()) for one in find_regions(np.array([[1, 1, 2], [3, 1, 2], [3, 3, 1]]), 2)]
    [(1, [0, 1, 4]), (3, [3, 6, 7]), (2, [2, 5])]
    """
    from scipy.ndimage import label

    found = []
    for mask in np.unique(sets[sets > 0]).tolist():
        areas = label(sets == mask)[0].ravel()
        inside = np.flatnonzero(areas)
        order = inside[np.argsort(areas[inside], kind="stable")]
        parts = np.split(order, np.cumsum(np.bincount(areas[inside])[1:])[:-1])
        found += [Region(mask, part) for part in parts if len(part) >= least]
    return sorted(found, key=lambda one: -len(one.pixels))


def find_open_pair(
    found: Segmentation, known: Iterable[tuple[np.ndarray, np.ndarray]] = ()
) -> tuple[Region, Region] | None:
    """The pair of regions whose answer would settle most pixels; None when none is left.

    A doubtful region is compared with the largest assigned one of each cluster that it may belong to: what counts is
    how many of its pixels are in doubt, and how open it is, by the mean masses of both, whether they are parts of one
    segment. Pairs of pixels that are ``known`` are not asked about again.
    """
    regions, known = find_regions(found.sets()), list(known)
    doubt, index = found.map(found.partition.doubt, 0.0).ravel(), found.index.ravel()
    ambiguous = sorted((one for one in regions if one.mask.bit_count() > 1), key=lambda one: -doubt[one.pixels].sum())
    assigned: dict[int, Region] = {}
    for one in regions:  # the largest come first
        if one.mask.bit_count() == 1:
            assigned.setdefault(one.mask, one)
    pairs = [(a, b) for a in ambiguous[:MOST] for b in assigned.values() if a.mask & b.mask]
    pairs = [pair for pair in pairs if not any(_is_same(pair, one) for one in known)]
    if not pairs:
        return None
    masses = np.array([found.partition.masses[index[one.pixels]].mean(axis=0) for pair in pairs for one in pair])
    both = CredalPartition(masses, found.partition.focal_sets).relational(np.arange(len(masses)).reshape(-1, 2))
    open_ = np.minimum(both.plausibility_same, both.plausibility_different)
    worth = open_ * np.array([doubt[a.pixels].sum() for a, _ in pairs])
    return pairs[int(np.round(worth, 9).argmax())]


def _is_same(pair: tuple[Region, Region], known: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether each region shares most of its pixels with the one of a pair that is known."""
    return all(
        2 * len(np.intersect1d(one.pixels, other)) > max(len(one.pixels), len(other)) for one, other in zip(pair, known)
    )
