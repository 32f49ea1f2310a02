"""The first pass over a table: how many rows, whether all numbers are finite, moments, and a sample of the rows."""

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
from evidentia.rows.values import LEAST_SHARE, Ranges, check_magnitude, check_precision, ranges_of
from evidentia.solvers.coordinates import ColumnScales, Moments, moments_of, scales_of
from evidentia.solvers.starts import Rows, draw_evenly, sorted_rows

__all__ = ["column_scales"]

_scans: ContextVar[dict[Any, tuple[RowSource, Any]] | None] = ContextVar("scans", default=None)
SKETCH_ROWS = 50_000
EVERYTHING = np.uint64(2**64 - 1)
MARGIN = 1.5  # times as many rows as wanted are expected below the hash that the first pass looks for


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
