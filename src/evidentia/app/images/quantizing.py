"""Distinct feature vectors and how often each occurs: an image as a short weighted table.

Pixels with the same values have the same masses, so a method that takes weights needs each value once. An 8-bit gray
image of any size is a table of at most 256 rows. When there are more distinct vectors than wanted, channels are rounded
to steps, as fine as the wanted number allows, and a row is the mean of its pixels.

Everything runs over blocks of pixels; what stays is one small integer for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evidentia.app.images.reading import Image
from evidentia.arguments import random_numbers

BLOCK = 1 << 18  # pixels at a time
MOST = 1 << 16  # distinct vectors, when nothing else is said
FINEST, COARSEST = 24, 4  # powers of two of the steps of a channel; coarser ones are left to k-means
CODEBOOK = 1024  # vectors of k-means

Coder = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class QuantizedImage:
    """An image as a table of feature vectors.

    ``vectors`` (k, n_channels) in the units of the image, ``counts`` (k,) pixels of each, ``index`` of the shape of the
    image: the vector of each pixel, -1 outside. ``rounding`` says what was lost: nothing when it is empty.
    """

    vectors: np.ndarray
    counts: np.ndarray
    index: np.ndarray
    rounding: str


def quantize(
    image: Any, *, within: np.ndarray | None = None, n_prototypes: int = MOST, random_state: Any = None
) -> QuantizedImage:
    """Distinct feature vectors of an image with their counts; rounded when there are more than ``n_prototypes``.

    Parameters
    ----------
    image : Image, path, array or list of these
    within : ndarray of bool, optional
        Which pixels count.
    n_prototypes : int
        The most vectors. An image with no more distinct ones is kept exactly.
    random_state : int, RandomState or None
        Used only when there are so many channels that steps would be coarse, and k-means takes their place.

    Examples
    --------
    >>> found = quantize(np.array([[7, 7, 9], [9, 9, 9]], dtype=np.uint8))
    >>> found.vectors.ravel(), found.counts
    (array([7., 9.]), array([2, 4]))
    >>> found.index
    array([[0, 0, 1],
           [1, 1, 1]], dtype=int32)
    """
    image = Image.from_data(image)
    rng = random_numbers(random_state, "quantize")
    if n_prototypes < 2:
        raise ValueError(f"'n_prototypes' must be 2 or more. Got {n_prototypes!r}.")
    columns = [np.ascontiguousarray(channel).reshape(-1) for channel in image.channels]
    inside = None if within is None else np.ascontiguousarray(within, dtype=bool).reshape(-1)
    if inside is not None and not inside.any():
        raise ValueError("No pixel is left to segment: the region is empty.")
    _refuse_gaps(image, columns, inside)
    levels = [distinct(counted_values(column, inside), n_prototypes) for column in columns]
    known = [found for found in levels if found is not None]
    if len(known) == len(columns):
        coders: list[Coder] = [partial(_place, levels=found) for found in known]
        coded = encode(columns, inside, coders, [len(found) for found in known], n_prototypes)
        if coded is not None:
            digits, index = coded
            vectors = np.column_stack([found[digits[:, k]].astype(float) for k, found in enumerate(known)])
            return QuantizedImage(vectors, count(index, len(vectors)), index.reshape(image.shape), "")
    return _quantize_by_rounding(image, columns, inside, n_prototypes, rng)


def _refuse_gaps(image: Image, columns: Sequence[np.ndarray], inside: np.ndarray | None) -> None:
    for name, column in zip(image.names, columns):
        bad = (
            sum(int((~np.isfinite(part)).sum()) for part in counted_values(column, inside))
            if column.dtype.kind == "f"
            else 0
        )
        if bad:
            raise ValueError(
                f"{name} has no value (NaN or infinite) at {bad} of {column.size} {image.points}. Leave these out "
                "with a mask of what is to be segmented (within) or, when they are the background, with background nan."
            )


def counted_values(column: np.ndarray, inside: np.ndarray | None) -> Iterator[np.ndarray]:
    """Values of the pixels that count, block by block."""
    for block in _blocks(len(column)):
        yield column[block] if inside is None else column[block][inside[block]]


def distinct(parts: Iterable[np.ndarray], most: int) -> np.ndarray | None:
    """Sorted distinct values of all parts, None as soon as there are more than ``most``."""
    found: np.ndarray | None = None
    for part in parts:
        fresh = np.unique(part)
        found = fresh if found is None else np.union1d(found, fresh)
        if len(found) > most:
            return None
    return found


def identity_coder(values: np.ndarray) -> np.ndarray:
    """The coder of values that are codes already."""
    return values.astype(np.int64)


def _place(values: np.ndarray, *, levels: np.ndarray) -> np.ndarray:
    return np.searchsorted(levels, values)


def encode(
    columns: Sequence[np.ndarray], inside: np.ndarray | None, coders: Sequence[Coder], sizes: Sequence[int], most: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Distinct rows of codes (k, n_channels), sorted, and which one each pixel has; None when more than ``most``.

    A coder gives whole numbers below its size. Channels join one after the other, so keys stay small.

    Examples
    --------
    >>> column = np.array([2, 0, 2])
    >>> encode([column, column > 1], None, [identity_coder] * 2, [3, 2], 9)
    (array([[0, 0],
           [2, 1]]), array([1, 0, 1], dtype=int32))
    """
    index = np.zeros(len(columns[0]), dtype=np.int32)
    if inside is not None:
        index[~inside] = -1
    digits = np.zeros((1, 0), dtype=np.int64)
    for column, coder, size in zip(columns, coders, sizes):

        def keys(block: slice, column: np.ndarray = column, coder: Coder = coder, size: int = size) -> np.ndarray:
            held = index[block] >= 0
            return index[block][held].astype(np.int64) * size + coder(column[block][held])

        found = distinct(map(keys, _blocks(len(index))), most)
        if found is None:
            return None
        for block in _blocks(len(index)):
            index[block][index[block] >= 0] = np.searchsorted(found, keys(block))
        digits = np.column_stack([digits[found // size], found % size])
    return digits, index


def _quantize_by_rounding(
    image: Image, columns: list[np.ndarray], inside: np.ndarray | None, most: int, rng: np.random.RandomState
) -> QuantizedImage:
    ranges = [_range(column, inside) for column in columns]
    power = _fitting_power(columns, inside, ranges, most)
    while power >= COARSEST:
        coders = [partial(_step, low=low, high=high, steps=1 << power) for low, high in ranges]
        coded = encode(columns, inside, coders, [1 << power] * len(columns), most)
        if coded is not None:
            index = coded[1]
            rounding = f"each channel rounded to {1 << power:,} steps"
            break
        power -= 1
    else:
        index = _nearest_of_codebook(columns, inside, ranges, min(most, CODEBOOK), rng)
        rounding = f"rounded to {index.max() + 1:,} vectors by k-means"
    counts = count(index, int(index.max()) + 1)
    sums = np.zeros((len(counts), len(columns)))
    for block in _blocks(len(index)):
        held = index[block] >= 0
        for k, column in enumerate(columns):
            sums[:, k] += np.bincount(index[block][held], column[block][held], minlength=len(counts))
    return QuantizedImage(sums / counts[:, None], counts, index.reshape(image.shape), rounding)


def _fitting_power(
    columns: Sequence[np.ndarray], inside: np.ndarray | None, ranges: Sequence[tuple[float, float]], most: int
) -> int:
    """The finest steps whose number of occupied cells is small enough in a sample; in the whole it may be larger."""
    stride = max(1, len(columns[0]) // BLOCK)
    sample = [column[::stride] for column in columns]
    chosen = None if inside is None else inside[::stride]
    for power in range(FINEST, COARSEST - 1, -1):
        coders = [partial(_step, low=low, high=high, steps=1 << power) for low, high in ranges]
        if encode(sample, chosen, coders, [1 << power] * len(sample), most) is not None:
            return power
    return COARSEST - 1


def _step(values: np.ndarray, *, low: float, high: float, steps: int) -> np.ndarray:
    share = (values.astype(float) - low) * (steps / (high - low if high > low else 1.0))
    return np.minimum(share.astype(np.int64), steps - 1)


def _nearest_of_codebook(
    columns: Sequence[np.ndarray],
    inside: np.ndarray | None,
    ranges: Sequence[tuple[float, float]],
    size: int,
    rng: np.random.RandomState,
) -> np.ndarray:
    """For many channels, where cells of a grid would be too large: vectors found by k-means on a sample."""
    from sklearn.cluster import MiniBatchKMeans

    low = np.array([least for least, _ in ranges])
    width = np.array([most - least if most > least else 1.0 for least, most in ranges])

    def table(rows: Any) -> np.ndarray:
        return (np.column_stack([column[rows].astype(float) for column in columns]) - low) / width

    places = np.arange(len(columns[0])) if inside is None else np.flatnonzero(inside)
    sample = table(np.sort(rng.choice(places, min(len(places), BLOCK // 4), replace=False)))
    found = MiniBatchKMeans(min(size, len(sample)), batch_size=4096, n_init=1, random_state=rng).fit(sample)
    index = np.full(len(columns[0]), -1, dtype=np.int32)
    for block in _blocks(len(places)):
        index[places[block]] = found.predict(table(places[block]))
    index[index >= 0] = np.unique(index[index >= 0], return_inverse=True)[1]  # a vector may have got no pixel
    return index


def _range(column: np.ndarray, inside: np.ndarray | None) -> tuple[float, float]:
    bounds = [(float(part.min()), float(part.max())) for part in counted_values(column, inside) if part.size]
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def count(index: np.ndarray, size: int) -> np.ndarray:
    counts = np.zeros(size, dtype=np.int64)
    for block in _blocks(len(index)):
        counts += np.bincount(index[block][index[block] >= 0], minlength=size)
    return counts


def _blocks(length: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, length)) for start in range(0, length, BLOCK))
