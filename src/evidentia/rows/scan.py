"""The first pass over a table: how many rows, whether all numbers are finite, moments, and a sample of the rows.

Methods square differences. Doubles carry squares from 1e-308 to 1e308 with sixteen digits, so that a difference beyond
``LARGEST``, one below ``SMALLEST``, or one below ``CARRIED`` times the values that it is between has no square that
means anything: such a table is refused, with the cell or the column and a cure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia.rows.passes import NO_ROWS, reduce_rows
from evidentia.rows.shared_pass import wait_for_others
from evidentia.rows.source import ArrayRows, Chunk, RowSource, gather_rows, in_memory
from evidentia.solvers.coordinates import ColumnScales, Moments, moments_of, scales_of
from evidentia.solvers.starts import Rows, draw_evenly, sorted_rows

__all__ = ["column_scales"]

_scans: ContextVar[dict[Any, tuple[RowSource, Any]] | None] = ContextVar("scans", default=None)
SKETCH_ROWS = 50_000
EVERYTHING = np.uint64(2**64 - 1)
MARGIN = 1.5  # times as many rows as wanted are expected below the hash that the first pass looks for

LARGEST = 1e140  # of an absolute value: its square times the number of cells is finite
SMALLEST = 1e-140  # of the range of a column, if it has one
CARRIED = 1e-13  # range of a column over its largest absolute value: below it fewer than a thousand levels are left
ROUNDING = 20 * np.finfo(float).eps  # of the same: what a constant column may have
NEGLIGIBLE = 1e-3  # of the largest range: what rounding in a column that means to be constant may be
TYPICAL = 0.1, 0.9  # quantiles between which most values of a column lie
LEAST_SHARE = 1e-12  # of the range of a column: what most values may be apart
LOOKED_AT = 1_000  # rows that these are taken from
SIDE_BY_SIDE = 64  # rows that are compared as one: a table of few columns has long rows then


class Scan(NamedTuple):
    """Sums of the first pass over a table."""

    n_rows: int
    ranges: Ranges
    moments: Moments
    sketch: Sketch

    def __add__(self, other: Scan) -> Scan:  # type: ignore[override]
        return Scan(
            self.n_rows + other.n_rows,
            self.ranges + other.ranges,
            self.moments + other.moments,
            self.sketch + other.sketch,
        )


class Table(NamedTuple):
    """A source, the results of its first pass, and rows that represent all: every row of a small table."""

    rows: RowSource
    n_rows: int
    moments: Moments
    sample: Rows
    complete: bool  # whether the sample holds every row

    @property
    def total(self) -> float:
        """Return the sum of the weights."""
        return self.moments.total


def is_small(rows: RowSource) -> bool:
    """Return whether the source is known to be small enough to be its own sample."""
    return rows.n_rows is not None and rows.n_rows <= SKETCH_ROWS


@contextmanager
def scan_once() -> Iterator[None]:
    """Let fits inside share the first pass over a source that is not in memory."""
    token = _scans.set({})
    try:
        yield
    finally:
        _scans.reset(token)


def scan(
    rows: RowSource, *, mixing: bool, missing: bool, who: str, sort: bool = True, least_share: float = LEAST_SHARE
) -> Table:
    """Return a source with its moments and a sample, and check its numbers.

    Parameters
    ----------
    rows : RowSource
    mixing : bool
        Whether covariances of the columns are wanted, or variances alone.
    missing : bool
        Whether NaN may stand for a missing value.
    who : str
        Who asks, for messages.
    sort : bool
        Whether the rows of a small table are sorted, for a method in which their order would play a part.
    least_share : float
        Of the range of a column: what most of its values are apart, if they are not to be lost beside the others. Zero
        for a part of a table that was looked through.
    """
    if rows.in_memory and is_small(rows):  # its numbers were checked when it was taken
        return _small(rows, mixing, sort)
    kept, key = None if rows.in_memory else _scans.get(), (id(rows), mixing, missing, sort, least_share)
    if kept is None:
        return _scan(rows, mixing, missing, who, sort, least_share)
    while key in kept:
        if (found := kept[key][1]) is not None:
            return found
        wait_for_others()  # another fit is just scanning
    kept[key] = rows, None  # with the source itself, so that no other gets its id
    try:
        kept[key] = rows, _scan(rows, mixing, missing, who, sort, least_share)
    except BaseException:
        del kept[key]
        raise
    return kept[key][1]


def chunk_moments(chunk: Chunk, mixing: bool) -> Moments | None:
    """Return the moments of a chunk; those of all chunks add up to those of the source."""
    return next((moments_of(used.table, used.weight, mixing) for used in chunk.without_zero_weights()), None)


def column_scales(rows: RowSource) -> ColumnScales:
    """Return the mean and the standard deviation of each column by one pass; constant columns are divided by 1."""
    scales = scales_of(reduce_rows(chunk_moments, rows, False))
    return ColumnScales(scales.origin, np.where(scales.deviation == 0, 1.0, scales.deviation))


def rows_for_all(table: Table, source: RowSource, most: int) -> np.ndarray:
    """Return at most so many rows that represent all: every row in its own order, if these are not more.

    A row that counts more than others is drawn more often.
    """
    size = min(table.n_rows, most)
    if table.complete and size == table.n_rows:
        whole = in_memory(source)
        if whole.weight is None or (whole.weight == 1).all():
            return whole.table
    return draw_evenly(table.sample, size)


def _scan(rows: RowSource, mixing: bool, missing: bool, who: str, sort: bool, least_share: float) -> Table:
    check = partial(_check, missing=missing, who=who, names=rows.names)
    lost = partial(check_precision, who=who, column=partial(_column, rows.names), share=least_share)
    if is_small(rows):
        return _small(gather_rows(rows, check), mixing, sort, lost)
    expected = _expected_rows(rows) if rows.n_rows is None else rows.n_rows
    below = _share_of_hashes(MARGIN * SKETCH_ROWS / max(expected, 1))
    found = reduce_rows(_scan_chunk, rows, mixing, check, below)
    if found.n_rows <= SKETCH_ROWS:
        return _small(gather_rows(rows, check), mixing, sort, lost)
    sketch = found.sketch.keep_smallest()
    lost(found.ranges, sketch.rows)
    while len(sketch.rows) < SKETCH_ROWS and below < EVERYTHING:  # rows repeat: far fewer are distinct
        below = _share_of_hashes(float(below) / 2**64 * MARGIN * SKETCH_ROWS / max(len(sketch.rows), 1))
        sketch = reduce_rows(_sketch, rows, below).keep_smallest()
    share = sketch.weight * (found.moments.total / sketch.weight.sum())
    return Table(rows, found.n_rows, found.moments, Rows(sketch.rows, share), False)


def _expected_rows(rows: RowSource) -> int:
    """Estimate the number of rows: as many in every part as in the first that has any; 0 for a single part."""
    for handle in rows.handles[:-1]:
        if length := sum(len(chunk.table) for chunk in rows.read(handle)):
            return length * len(rows.handles)
    return 0


def _small(rows: Any, mixing: bool, sort: bool, lost: Callable[..., None] | None = None) -> Table:
    """Return a table whose sample is all rows; ``lost`` refuses columns whose differences doubles do not carry."""
    table, weight = rows.table, rows.weight
    if weight is not None and not weight.all():
        table, weight = table[weight > 0], weight[weight > 0]
    if not len(table):
        raise ValueError(NO_ROWS)
    if lost is not None:
        lost(ranges_of(table), table)
    if sort:
        order = sorted_rows(table)
        table, weight = table[order], None if weight is None else weight[order]
    share = np.ones(len(table)) if weight is None else weight
    moments = moments_of(table, weight, mixing)
    return Table(ArrayRows(table, weight, rows.names), len(table), moments, Rows(table, share), True)


def _scan_chunk(chunk: Chunk, mixing: bool, check: Callable[[Chunk], Ranges], below: np.uint64) -> Scan | None:
    ranges = check(chunk)
    for used in chunk.without_zero_weights():
        moments = moments_of(used.table, used.weight, mixing)
        return Scan(len(used.table), ranges, moments, Sketch.of(used.table, used.weight, below))
    return None


def _sketch(chunk: Chunk, below: np.uint64) -> Sketch | None:
    for used in chunk.without_zero_weights():
        return Sketch.of(used.table, used.weight, below)
    return None


def _share_of_hashes(share: float) -> np.uint64:
    return EVERYTHING if share >= 1 else np.uint64(share * 2.0**64)


def _column(names: tuple[str, ...] | None, at: int) -> str:
    return str(at) if names is None else repr(names[at])


def _check(chunk: Chunk, missing: bool, who: str, names: tuple[str, ...] | None) -> Ranges:
    """Return the ranges of a chunk; raise an error that names a number that cannot be used."""
    ranges = ranges_of(chunk.table)

    def place(row: int, column: int) -> str:
        return f"{chunk.where(row)}, column {_column(names, column)}"

    if not ranges.finite:
        bad = np.isinf(chunk.table) if missing else ~np.isfinite(chunk.table)
        for row, column in np.argwhere(bad)[:1]:
            value = chunk.table[row, column]
            cure = "Drop those rows, or take EGMM, which accepts missing values." if np.isnan(value) else "Replace it."
            raise ValueError(f"{who} needs finite numbers, but {place(row, column)} holds {value}. {cure}")
        if missing and (empty := np.isnan(chunk.table).all(axis=1)).any():
            where = chunk.where(int(empty.argmax()))
            raise ValueError(f"{who} accepts missing values, but {where} holds nothing but NaN.")
    check_magnitude(chunk.table, who, place, ranges)
    return ranges


# -- numbers that a table may hold -------------------------------------------------------------------------------------


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
    if not whole or not d or not table.flags.c_contiguous:
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


# -- a sample of distinct rows ----------------------------------------------------------------------------------------


class Sketch(NamedTuple):
    """The rows of smallest hash, each once, with the weight of all its copies; unsorted until :meth:`keep_smallest`."""

    hashes: np.ndarray
    rows: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray, weight: np.ndarray | None, below: np.uint64 = EVERYTHING) -> Sketch:
        """Return the rows of a chunk whose hash is at most ``below``."""
        hashes = row_hashes(table)
        chosen = slice(None) if below == EVERYTHING else np.flatnonzero(hashes <= below)
        share = np.ones(len(table)) if weight is None else weight
        return cls(hashes[chosen], table[chosen], share[chosen])

    def __add__(self, other: Sketch) -> Sketch:  # type: ignore[override]
        both = Sketch(*(np.concatenate(pair) for pair in zip(self, other)))
        return both if len(both.hashes) < 4 * SKETCH_ROWS else both.keep_smallest()

    def keep_smallest(self, size: int = SKETCH_ROWS) -> Sketch:
        """Return the ``size`` rows of smallest hash, in the order of their hashes."""
        order = np.argsort(self.hashes, kind="stable")
        hashes = self.hashes[order]
        first = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
        weight = np.add.reduceat(self.weight[order], first)[:size] if len(order) else self.weight
        first = first[:size] if len(order) else order
        return Sketch(hashes[first], self.rows[order[first]], weight)


def row_hashes(table: np.ndarray) -> np.ndarray:
    """Return 64 bits for each row, from all its numbers; 0 and -0 are the same, and so is every NaN.

    Examples
    --------
    >>> a, b, c = row_hashes(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    hashes = np.full(len(table), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in np.asarray(table, dtype=np.float64).T:
        plain = column + 0.0
        plain[np.isnan(plain)] = np.nan
        hashes ^= plain.view(np.uint64)
        # The finalizer of SplitMix64 (Steele, Lea & Flood, 2014): each bit in changes half of the bits out.
        hashes ^= hashes >> np.uint64(30)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(27)
        hashes *= np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes
