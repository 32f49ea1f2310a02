"""Strokes of a pen over an image, as masks of its pixels.

The pixel in row ``i`` and column ``j`` is the square from ``(j, i)`` to ``(j + 1, i + 1)``, so its middle is at
``(j + 0.5, i + 0.5)``: x goes to the right and y down, as rows and columns do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Stroke(NamedTuple):
    """A line of a pen over one plane of an image.

    Attributes
    ----------
    pen : int
        Strokes of one pen lie in one segment, strokes of two pens in two.
    points : tuple of (x, y)
    plane : int
        Which slice of a volume; 0 in a picture.
    radius : float
        In pixels.
    """

    pen: int
    points: tuple[tuple[float, float], ...]
    plane: int = 0
    radius: float = 1.5


def stroke_mask(points: Sequence[tuple[float, float]], shape: tuple[int, int], radius: float) -> np.ndarray:
    """Pixels whose middle is within ``radius`` of a line through points, shape ``shape`` of bool.

    The pixel under each point is always one of them, however thin the pen; what is beside the image is not.

    Examples
    --------
    >>> stroke_mask([(0.5, 1.5), (3.5, 1.5)], (3, 5), 0.6).astype(int)
    array([[0, 0, 0, 0, 0],
           [1, 1, 1, 1, 0],
           [0, 0, 0, 0, 0]])
    """
    mask = np.zeros(shape, dtype=bool)
    line = np.asarray(points, dtype=float).reshape(-1, 2)
    line = line[np.isfinite(line).all(axis=1)]
    under = np.floor(line).astype(int)
    inside = ((under >= 0) & (under < shape[::-1])).all(axis=1)
    mask[under[inside, 1], under[inside, 0]] = True
    for start, end in zip(line, line[1:] if len(line) > 1 else line):
        low = np.maximum(np.floor(np.minimum(start, end) - radius), 0).astype(int)
        high = np.minimum(np.ceil(np.maximum(start, end) + radius), shape[::-1]).astype(int)
        if (low >= high).any():
            continue
        x, y = np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1])[:, None] + 0.5
        way = end - start
        along = ((x - start[0]) * way[0] + (y - start[1]) * way[1]) / max(way @ way, 1e-12)
        along = np.clip(along, 0, 1)
        off = (x - start[0] - along * way[0]) ** 2 + (y - start[1] - along * way[1]) ** 2
        mask[low[1] : high[1], low[0] : high[0]] |= off <= radius**2
    return mask


def pen_masks(strokes: Iterable[Stroke], shape: tuple[int, ...], axis: int = 0) -> dict[int, np.ndarray]:
    """The pixels of each pen, as arrays of the shape of the image; planes of a volume lie along ``axis``.

    Examples
    --------
    >>> found = pen_masks([Stroke(0, ((0.5, 0.5),), plane=1), Stroke(2, ((1.5, 0.5),))], (2, 2, 2))
    >>> {pen: np.argwhere(mask).tolist() for pen, mask in found.items()}
    {0: [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]], 2: [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]}
    """
    masks: dict[int, np.ndarray] = {}
    for stroke in strokes:
        whole = masks.setdefault(stroke.pen, np.zeros(shape, dtype=bool))
        plane = whole if len(shape) == 2 else np.moveaxis(whole, axis, 0)[stroke.plane]
        plane |= stroke_mask(stroke.points, plane.shape, stroke.radius)
    return dict(sorted(masks.items()))
