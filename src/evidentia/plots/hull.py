"""Convex hulls of points in the plane, also of one, two or collinear points."""

from __future__ import annotations

import numpy as np

FLAT = 1e-9  # a cloud thinner than this share of its length is a line: rounding, not width
MANY = 1000  # points from which those well inside are left out first


def convex_hull(xy: np.ndarray) -> np.ndarray:
    """Corners of the convex hull in counter-clockwise order, shape (n_corners, 2).

    No corner without points, one for a single place, the two ends when all points lie on a line. Rows with NaN are left
    out.

    Examples
    --------
    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 0.5], [2, 2], [0, 2]])).shape
    (4, 2)
    >>> convex_hull(np.array([[0.0, 0.0], [3.0, 3.0], [1.0, 1.0]]))
    array([[0., 0.],
           [3., 3.]])
    """
    from scipy.spatial import ConvexHull

    xy = np.unique(_outer(xy[~np.isnan(xy).any(axis=1)]), axis=0)
    if len(xy) <= 2:
        return xy
    # A hull does not depend on units, but the test for a line does: both columns to the same length first.
    span = np.ptp(xy, axis=0)
    unit = (xy - xy.mean(axis=0)) / np.where(span > 0, span, 1)
    _, length, direction = np.linalg.svd(unit, full_matrices=False)
    if length[1] <= FLAT * length[0]:
        along = unit @ direction[0]
        ends = np.sort([along.argmin(), along.argmax()])
        return xy[ends]
    return xy[ConvexHull(unit).vertices]


def _outer(xy: np.ndarray) -> np.ndarray:
    """The points that may be corners: those not inside the octagon of the points farthest in eight directions."""
    if len(xy) <= MANY:
        return xy
    span = np.ptp(xy, axis=0)
    unit = (xy / np.where(span > 0, span, 1)).T
    angle = np.arange(8) * np.pi / 4
    corners = np.unique((np.column_stack([np.cos(angle), np.sin(angle)]) @ unit).argmax(axis=1))
    around = unit[:, corners] - unit[:, corners].mean(axis=1, keepdims=True)
    start = unit[:, corners[np.argsort(np.arctan2(around[1], around[0]))]]
    edges = np.roll(start, -1, axis=1) - start
    inside = np.ones(len(xy), dtype=bool)
    for (x, y), (dx, dy) in zip(start.T, edges.T):
        inside &= dx * (unit[1] - y) - dy * (unit[0] - x) > 0
    return xy[~inside]
