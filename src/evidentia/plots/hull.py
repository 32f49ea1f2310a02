"""Convex hulls of points in the plane, also of one, two or collinear points."""

from __future__ import annotations

import numpy as np

FLAT = 1e-9  # a cloud thinner than this share of its length is a line: rounding, not width


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

    xy = np.unique(xy[~np.isnan(xy).any(axis=1)], axis=0)
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
