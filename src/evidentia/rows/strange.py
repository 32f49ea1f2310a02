"""New rows that are unlike the fitted ones: far outside the range of a column, or of categories that were not there.

A method places such rows all the same, and may be very certain of them: far out, the nearest cluster is a thousand
times as likely as the next. So their number is told. Rows beyond memory are not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evidentia._warnings import warn_user
from evidentia.rows.scan import Ranges, ranges_of

__all__ = ["StrangeRows"]

BEYOND = 0.5  # widths of its range that a value may lie outside it: new rows of the same table pass the ends a little
WHAT_TO_DO = "Their clusters are extrapolated: look at them, and at the units of the columns."


class StrangeRows(UserWarning):
    """Rows to be placed are unlike those that a method was fitted to."""


def outside_by(table: np.ndarray, ranges: Ranges) -> np.ndarray:
    """Return by how many widths of its column's range each value lies outside it, shape (n, d).

    0 inside, for NaN, and in a column that was constant, which tells nothing of clusters.

    Examples
    --------
    >>> ranges = Ranges(low=np.array([1, 10]), high=np.array([5, 14]), finite=True)
    >>> outside_by(np.array([[5.0, 12.0], [7.0, np.nan], [-1.0, 20.0]]), ranges)
    array([[0. , 0. ],
           [0.5, 0. ],
           [0.5, 1.5]])
    """
    width = ranges.high - ranges.low
    beyond = np.fmax(np.fmax(table - ranges.high, ranges.low - table), 0.0)
    return np.divide(beyond, width, out=np.zeros(beyond.shape), where=width > 0)


def warn_of_outside(
    table: np.ndarray, ranges: Ranges | None, column_names: Sequence[Any] | None, who: str, found: Ranges | None = None
) -> None:
    """Warn if rows lie far outside the ranges that were fitted; ``found`` are those of the table, if they are known."""
    if ranges is None or not len(table):
        return
    found = found or ranges_of(table)
    ends = np.array([found.low, found.high])
    finite = np.isfinite(ends) & np.isfinite(ranges.low) & np.isfinite(ranges.high)
    if not (outside_by(np.where(finite, ends, np.nan), ranges) > BEYOND).any():
        return
    by = outside_by(table, ranges)
    rows, column = (by > BEYOND).any(axis=1), int((by > BEYOND).sum(axis=0).argmax())
    name = column if column_names is None else repr(str(column_names[column]))
    there = table[rows, column]
    warn_user(
        f"{who}: {rows.sum()} of {len(table)} rows lie far outside the range of the fitted table (column {name}: "
        f"{np.nanmin(there):g} to {np.nanmax(there):g}, fitted {ranges.low[column]:g} to {ranges.high[column]:g}). "
        f"{WHAT_TO_DO}",
        StrangeRows,
    )


def warn_of_unknown(unknown: np.ndarray, table: np.ndarray, column_names: Sequence[Any] | None, who: str) -> None:
    """Warn if rows have categories that were not in the fitted table; ``unknown`` (n, d) says which entries."""
    if not unknown.any():
        return
    rows = unknown.any(axis=1)
    row, column = np.argwhere(unknown)[0]
    name = column if column_names is None else repr(str(column_names[column]))
    warn_user(
        f"{who}: {rows.sum()} of {len(table)} rows have categories that were not in the fitted table (first: row "
        f"{row}, column {name}: {str(table[row, column])!r}). They count as unknown.",
        StrangeRows,
    )
