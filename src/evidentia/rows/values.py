"""Numbers that a table may hold: finite, not so large or small that squares are lost, nor lost beside an offset.

Methods square differences. Doubles carry squares from 1e-308 to 1e308 with sixteen digits, so that a difference beyond
``LARGEST``, one below ``SMALLEST``, or one below ``CARRIED`` times the values that it is between has no square that
means anything: such a table is refused, with the cell or the column and a cure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LARGEST = 1e140  # of an absolute value: its square times the number of cells is finite
SMALLEST = 1e-140  # of the range of a column, if it has one
CARRIED = 1e-13  # range of a column over its largest absolute value: below it fewer than a thousand levels are left
ROUNDING = 20 * np.finfo(float).eps  # of the same: what a constant column may have
NEGLIGIBLE = 1e-3  # of the largest range: what rounding in a column that means to be constant may be
TYPICAL = 0.1, 0.9  # quantiles between which most values of a column lie
LEAST_SHARE = 1e-12  # of the range of a column: what most values may be apart
LOOKED_AT = 1_000  # rows that these are taken from
SIDE_BY_SIDE = 64  # rows that are compared as one: a table of few columns has long rows then


class Ranges(NamedTuple):
    """Least and largest number of each column, (d,) each, and whether all entries are finite numbers.

    NaN is passed over; a column of nothing else has inf and -inf.
    """

    low: np.ndarray
    high: np.ndarray
    finite: bool

    def __add__(self, other: Ranges) -> Ranges:  # type: ignore[override]
        return Ranges(np.minimum(self.low, other.low), np.maximum(self.high, other.high), self.finite and other.finite)

    @property
    def largest(self) -> np.ndarray:
        """Return the largest absolute value of each column."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def ranges_of(table: np.ndarray) -> Ranges:
    """Return the ranges of the columns of a table.

    Examples
    --------
    >>> ranges_of(np.array([[3.0, 1.0], [np.nan, 2.0], [-4.0, 2.0]]))
    Ranges(low=array([-4.,  1.]), high=array([3., 2.]), finite=False)
    """
    low, high = _reduced(np.minimum, table, np.inf), _reduced(np.maximum, table, -np.inf)
    finite = bool(np.isfinite(low).all() and np.isfinite(high).all())
    if np.isnan(low).any():
        low, high = _reduced(np.fmin, table, np.inf), _reduced(np.fmax, table, -np.inf)
    return Ranges(np.asarray(low, dtype=float), np.asarray(high, dtype=float), finite)


def _reduced(function: np.ufunc, table: np.ndarray, start: float) -> np.ndarray:
    """Return ``function.reduce(table)``, over many columns at once where the table has few."""
    n, d = table.shape
    whole = n - n % SIDE_BY_SIDE
    if not whole or not table.flags.c_contiguous:
        return function.reduce(table, axis=0, initial=start)
    wide = function.reduce(table[:whole].reshape(-1, SIDE_BY_SIDE * d), axis=0, initial=start)
    return function.reduce(np.concatenate([wide.reshape(-1, d), table[whole:]]), axis=0, initial=start)


def check_magnitude(
    table: np.ndarray, who: str, place: Callable[[int, int], str], ranges: Ranges, limit: float = LARGEST
) -> None:
    """Raise an error that names the first cell whose square would be lost; ``place(row, column)`` describes a cell."""
    if (ranges.largest <= limit).all():
        return
    for row, column in np.argwhere(np.abs(table) > limit)[:1]:
        raise ValueError(
            f"{who} works with squares, which doubles carry for values up to {limit:g} here, but X holds "
            f"{table[row, column]:g} in {place(row, column)}. If that is a code for 'missing', or a mistake, replace "
            "it or drop the row; else measure the column in a larger unit, for instance X / 1e150."
        )


def check_precision(ranges: Ranges, sample: np.ndarray, who: str, column: Callable[[int], str], share: float) -> None:
    """Raise an error that names the first column whose differences are lost; ``column(number)`` is its name.

    Most of its values are ``share`` of its range apart, at least, or equal; a ``sample`` of the rows tells. Nothing is
    refused if that is zero.
    """
    if not share:
        return
    _check_narrow(ranges, who, column)
    _check_far(ranges, sample, who, column, share)


def _check_narrow(ranges: Ranges, who: str, column: Callable[[int], str]) -> None:
    largest, wide = ranges.largest, ranges.high - ranges.low
    varies = wide > 0
    for at in np.flatnonzero(varies & (wide < SMALLEST))[:1]:
        raise ValueError(
            f"{who} works with squares, which doubles carry for differences of {SMALLEST:g} and more, but the values "
            f"of X in column {column(at)} differ by {wide[at]:g} at most. Measure it in a smaller unit, for instance "
            f"X * {10.0 ** -np.floor(np.log10(wide[at])) if wide[at] > 1e-300 else 1e300:.0e}, or drop it."
        )
    rounding = (wide <= ROUNDING * largest) & (wide <= NEGLIGIBLE * wide.max(initial=0))
    for at in np.flatnonzero(varies & ~rounding & (wide < CARRIED * largest))[:1]:
        raise ValueError(
            f"The values of X in column {column(at)} are near {largest[at]:g} and differ by {wide[at]:.2g} at most, "
            f"which doubles carry with too few digits for {who}. Subtract an offset before the values are "
            "stored as doubles, or drop the column if it is constant."
        )


def _check_far(ranges: Ranges, sample: np.ndarray, who: str, column: Callable[[int], str], share: float) -> None:
    """Raise an error for a value so far out that most others in its column are the same for doubles."""
    few = sample[:: -(-len(sample) // LOOKED_AT)]
    if not ranges.finite:
        few = few[~np.isnan(few).any(axis=1)]
    wide = ranges.high - ranges.low
    maybe = np.flatnonzero(_may_be_near(few, share * wide))
    if not len(few) or not len(maybe):
        return
    low, high = np.quantile(few[:, maybe], TYPICAL, axis=0)
    typical = high - low
    for which in np.flatnonzero((typical > 0) & (typical < share * wide[maybe]))[:1]:
        at, above = maybe[which], ranges.high[maybe[which]] - high[which]
        far = ranges.high[at] if above > low[which] - ranges.low[at] else ranges.low[at]
        raise ValueError(
            f"X holds {far:g} in column {column(at)}, where most values differ by {typical[which]:.2g} at most: "
            f"doubles do not carry both through the squares of {who}. If it is a code for 'missing', or a mistake, "
            "replace it or drop the row; else take logarithms of the column."
        )


def _may_be_near(rows: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Return the columns of which most values may be no further apart than that; quantiles, which take longer, decide.

    If they are, few rows have another value, and so have few pairs of rows: all others are as near.

    Examples
    --------
    >>> _may_be_near(np.array([[7.0, 7.0, k] for k in range(19)] + [[7.0, 8.0, 19]]), np.full(3, 0.5))
    array([ True,  True, False])
    """
    half = len(rows) // 2
    near = np.abs(rows[:half] - rows[half : 2 * half]) <= apart
    others = (1 - (TYPICAL[1] - TYPICAL[0])) * len(rows) + 2  # and a row at each end, as quantiles lie between rows
    return np.count_nonzero(near, axis=0) >= half - others
