"""Regions drawn on an image as links between feature vectors.

Two pixels of a region that is *the same* belong together; a pixel of one region and a pixel of another that is
*different* do not. A sample of such pairs says as much as all of them. Links tie feature vectors, not pixels, so noise
can give a region a few vectors that are at home in the other one: see :func:`clear_of`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.random import sample_without_replacement

from evidentia.app.images.reading import Image, read_mask, size_text
from evidentia.arguments import random_numbers, warn_user
from evidentia.constraints import PairwiseConstraints
from evidentia.constraints.building import random_pairs

CLEAR = 0.1  # how frequent a vector may be in the other region, against its frequency in its own


class NamedMask(NamedTuple):
    """A mask: how to call it, and the positions of its pixels."""

    name: str
    pixels: np.ndarray


class MaskReader:
    """Masks by name, each of them read and checked once."""

    def __init__(self, image: Image, index: np.ndarray):
        self._image, self._inside = image, index.ravel() >= 0
        self._known: dict[Any, NamedMask] = {}

    def take(self, mask: Any, name: str) -> NamedMask:
        """The region of a mask, a path or an array of the shape of the image; equal masks are the same region."""
        on_disk = isinstance(mask, str | os.PathLike)
        key = os.fspath(mask) if on_disk else id(mask)
        if key not in self._known:
            name = str(mask) if on_disk else name
            drawn = read_mask(mask, self._image) if on_disk else np.asarray(mask).astype(bool)
            if drawn.shape != self._image.shape:
                raise ValueError(
                    f"The mask {name} has {size_text(drawn.shape)} {self._image.points}, but the image has "
                    f"{size_text(self._image.shape)}. Draw it on the same grid."
                )
            pixels = np.flatnonzero(drawn)
            if not pixels.size:
                raise ValueError(f"The mask {name} is empty: every pixel is zero (black).")
            pixels = pixels[self._inside[pixels]]
            if not pixels.size:
                raise ValueError(f"The mask {name} lies wholly outside of what is segmented.")
            equal = [known for known in self._known.values() if np.array_equal(known.pixels, pixels)]
            self._known[key] = equal[0] if equal else NamedMask(name, pixels)
        return self._known[key]


def mask_links(
    image: Image,
    index: np.ndarray,
    same: Iterable[Any],
    different: Iterable[tuple[Any, Any]],
    *,
    n_links: int,
    random_state: Any = None,
) -> PairwiseConstraints:
    """Links between feature vectors from masks of pixels.

    Parameters
    ----------
    image : Image
    index : ndarray of the shape of the image
        Feature vector of each pixel, -1 outside.
    same : iterable of masks
        Each an array of bool, or a path; its pixels belong together.
    different : iterable of pairs of masks
        The pixels of one do not belong with those of the other.
    n_links : int
        Pairs of pixels drawn for each region, and for each pair of regions. Pairs that come down to the same two
        vectors are one link, and a vector needs no link with itself.
    """
    rng = random_numbers(random_state, "mask_links")
    if n_links < 1:
        raise ValueError(f"'n_links' must be 1 or more. Got {n_links!r}.")
    regions = MaskReader(image, index)
    together = [regions.take(mask, f"same[{k}]") for k, mask in enumerate(same)]
    apart = []
    for k, pair in enumerate(different):
        a, b = pair
        apart.append((regions.take(a, f"different[{k}][0]"), regions.take(b, f"different[{k}][1]")))
    refuse_contradictions(together, apart)
    vector = index.ravel()
    clear = _clear_pixels(together, apart, vector)
    must = [_pairs_within(vector[clear[region.name]], n_links, rng) for region in together]
    cannot = [_pairs_across(vector[clear[a.name]], vector[clear[b.name]], n_links, rng) for a, b in apart]
    return consistent(_distinct_pairs(must), _distinct_pairs(cannot))


def refuse_contradictions(together: Sequence[NamedMask], apart: Sequence[tuple[NamedMask, NamedMask]]) -> None:
    """Masks that cannot all be right, whatever the image: different regions that share pixels, or that are joined."""
    group = list(range(len(together)))
    for i, one in enumerate(together):
        for j in range(i):
            if _count_shared(one, together[j]):
                group = [group[j] if g == group[i] else g for g in group]
    for a, b in apart:
        both = _count_shared(a, b)
        if both:
            raise ValueError(
                f"The masks contradict each other: {a.name} and {b.name} are said to be different, but share {both} "
                f"pixel{'s' * (both != 1)}. Mend one of them."
            )
        touched = [{group[k] for k, region in enumerate(together) if _count_shared(region, end)} for end in (a, b)]
        if touched[0] & touched[1]:
            bridge = [region.name for region, g in zip(together, group) if g in touched[0] & touched[1]]
            raise ValueError(
                f"The masks contradict each other: {a.name} and {b.name} are said to be different, but "
                f"{', '.join(bridge)}, said to be the same, joins them. Mend one of them."
            )


def _count_shared(a: NamedMask, b: NamedMask) -> int:
    return len(np.intersect1d(a.pixels, b.pixels, assume_unique=True))


def _clear_pixels(
    together: Sequence[NamedMask], apart: Sequence[tuple[NamedMask, NamedMask]], vector: np.ndarray
) -> dict[str, np.ndarray]:
    """Pixels of each region by which it can be told from those it differs from."""
    clear = {region.name: region.pixels for region in together}
    for a, b in apart:
        for one, other in ((a, b), (b, a)):
            mine = vector[one.pixels]
            known = clear_of(mine, vector[other.pixels])
            if not known.any():
                raise ValueError(
                    f"{one.name} and {other.name} are said to be different, but every value of {one.name} also occurs "
                    f"in {other.name}: the image does not tell them apart. Draw them elsewhere, or add an image that "
                    "does."
                )
            if not known.all():
                warn_user(
                    f"{(~known).mean():.0%} of the pixels of {one.name} have values that also occur in "
                    f"{other.name}, from which it is said to differ. They give no links.".replace("%", " %"),
                    UserWarning,
                )
            clear[one.name] = np.intersect1d(clear.get(one.name, one.pixels), one.pixels[known], assume_unique=True)
    return clear


def clear_of(mine: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which entries of ``mine`` are values that are at most a tenth as frequent in ``others``.

    No value passes both ways, so links between what remains never say that a vector differs from itself.

    Examples
    --------
    >>> clear_of(np.array([3, 3, 3, 5]), np.array([5, 8]))
    array([ True,  True,  True, False])
    """
    size = int(max(mine.max(), others.max())) + 1
    share = np.bincount(others, minlength=size) / len(others)
    own = np.bincount(mine, minlength=size) / len(mine)
    return (share <= CLEAR * own)[mine]


def _pairs_within(vector: np.ndarray, n_links: int, rng: np.random.RandomState) -> np.ndarray:
    n_pairs = len(vector) * (len(vector) - 1) // 2
    return vector[random_pairs(len(vector), min(n_links, n_pairs), rng)]


def _pairs_across(one: np.ndarray, other: np.ndarray, n_links: int, rng: np.random.RandomState) -> np.ndarray:
    number = sample_without_replacement(
        len(one) * len(other), min(n_links, len(one) * len(other)), random_state=rng
    ).astype(np.int64)
    return np.c_[one[number // len(other)], other[number % len(other)]]


def _distinct_pairs(found: Sequence[np.ndarray]) -> np.ndarray:
    pairs = np.sort(np.concatenate([np.empty((0, 2), dtype=np.int64), *found]), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def consistent(must: np.ndarray, cannot: np.ndarray) -> PairwiseConstraints:
    """Links without contradictions; cannot-links that must-links of other regions join are dropped, with a warning."""
    repeated = {tuple(pair) for pair in must.tolist()}
    clean = [pair for pair in cannot.tolist() if tuple(pair) not in repeated]
    links = PairwiseConstraints.from_links(must.tolist(), clean)
    broken = {tuple(sorted((one.chain[0], one.chain[-1]))) for one in links.contradictions()}
    clean = [pair for pair in clean if tuple(pair) not in broken]
    if len(clean) < len(cannot):
        warn_user(
            f"{len(cannot) - len(clean)} of {len(cannot)} links between different regions were left out: another "
            "region, said to be the same, holds values of both.",
            UserWarning,
        )
        links = PairwiseConstraints.from_links(must.tolist(), clean)
    return links
