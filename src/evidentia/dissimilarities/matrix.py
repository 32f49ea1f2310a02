"""Is this a matrix of dissimilarities? If not, say what is wrong with it and how to mend it."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-8  # of the largest entry: what two ways of computing a distance may differ by


def check_dissimilarities(matrix: np.ndarray, who: str, *, contrast: bool = True) -> np.ndarray:
    """The matrix, or a ``ValueError``: square, symmetric, not negative, zeros on the diagonal, not all equal.

    Without ``contrast`` all may be equal.

    Differences of the size of rounding errors are averaged out in a copy.

    Examples
    --------
    >>> check_dissimilarities(np.array([[0.0, 2.0], [1.0, 0.0]]), "SECMdd")
    Traceback (most recent call last):
    ...
    ValueError: SECMdd needs symmetric dissimilarities, but entries [0, 1] = 2 and [1, 0] = 1 differ by 1. If the
    difference has no meaning, average them: D = (D + D.T) / 2.
    """
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(
            f"{who} with metric='precomputed' needs a square matrix of dissimilarities. Got shape {matrix.shape}; "
            "for a table of attributes choose metric='euclidean'."
        )
    largest = np.abs(matrix).max()
    if matrix.min() < 0:
        i, j = np.unravel_index(matrix.argmin(), matrix.shape)
        raise ValueError(
            f"{who} needs dissimilarities that are not negative, but entry [{i}, {j}] = {matrix[i, j]:g}. "
            "If these are similarities, turn them round first, for instance D = S.max() - S."
        )
    diagonal = np.diagonal(matrix)
    if diagonal.max() > ROUNDING * largest:
        at = int(diagonal.argmax())
        raise ValueError(
            f"{who} needs zeros on the diagonal (an object is like itself), but entry [{at}, {at}] = {diagonal[at]:g}."
        )
    skew = np.abs(matrix - matrix.T)
    i, j = np.unravel_index(skew.argmax(), skew.shape)
    if skew[i, j] > ROUNDING * largest:
        raise ValueError(
            f"{who} needs symmetric dissimilarities, but entries [{i}, {j}] = {matrix[i, j]:g} and "
            f"[{j}, {i}] = {matrix[j, i]:g} differ by {skew[i, j]:g}. "
            "If the difference has no meaning, average them: D = (D + D.T) / 2."
        )
    if contrast and n > 1:
        off = matrix[~np.eye(n, dtype=bool)]
        if np.ptp(off) <= ROUNDING * largest:
            raise ValueError(f"All dissimilarities equal {off[0]:g}, so {who} finds no clusters in them. Look at X.")
    return (matrix + matrix.T) / 2 if skew[i, j] > 0 else matrix
