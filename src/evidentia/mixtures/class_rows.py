"""Latent classes by passes over all rows of a table, wherever these are; categories are whole numbers there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evidentia.mixtures._base import Candidate
from evidentia.mixtures.class_em import (
    NOTHING,
    SMALLEST_SIZE,
    ClassParameters,
    distinct_rows,
    m_step,
    tiles,
)
from evidentia.mixtures.finalists import Collapse, Sums, climb
from evidentia.rows.categories import Columns, encode
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import SKETCH_ROWS, Sketch, is_small
from evidentia.rows.source import ArrayRows, Chunk, RowSource

MOST_CATEGORIES = 10_000  # of a column: more are rather the numbers of objects


class Values(NamedTuple):
    """Different numbers in the columns, those of a column together: its number, and the numbers in it."""

    column: np.ndarray
    value: np.ndarray

    def __add__(self, other: Values) -> Values:  # type: ignore[override]
        column, value = (np.concatenate(pair) for pair in zip(self, other))
        order = np.lexsort((value, column))
        column, value = column[order], value[order]
        new = np.append(True, (column[1:] != column[:-1]) | (value[1:] != value[:-1]))
        column, value = column[new], value[new]
        among = np.arange(len(column)) - np.searchsorted(column, column)  # place of a number in its column
        few = among <= MOST_CATEGORIES  # one too many tells that there are
        return Values(column[few], value[few])


class Encoder:
    """Numbers of the categories of rows."""

    def __init__(self, categories: list[np.ndarray]):
        self.categories = categories

    def transform(self, table: np.ndarray) -> np.ndarray:
        return encode(table, self.categories)


def find_categories(rows: RowSource, who: str) -> list[np.ndarray]:
    """Categories of each column, sorted, by a pass over the rows."""
    found = reduce_rows(_values, rows, rows.names, who)
    categories = [found.value[found.column == column].astype(np.int64) for column in range(rows.n_features)]
    for column, known in enumerate(categories):
        if not len(known):
            name = _column(column, rows.names)
            raise ValueError(f"Column {name} of X holds nothing but missing values. Drop it before {who}.")
        _check_number(len(known), column, rows.names, who)
    return categories


def _values(chunk: Chunk, names: tuple[str, ...] | None, who: str) -> Values:
    columns, values = [], []
    for column, entries in enumerate(chunk.table.T):
        known = pd.unique(entries[~np.isnan(entries)])
        measured = known[known != np.floor(known)] if np.isfinite(known.sum()) else known[~np.isfinite(known)]
        if len(measured):
            place = chunk.where(int(np.flatnonzero(entries == measured[0])[0]))
            raise ValueError(
                f"Column {_column(column, names)} of X holds numbers such as {measured[0]:g} ({place}), which are not "
                f"categories. {who} reads rows that are not in memory as whole numbers, one for each category."
            )
        _check_number(len(known), column, names, who)
        columns.append(np.full(len(known), float(column)))
        values.append(np.sort(known))
    return Values(np.concatenate(columns), np.concatenate(values))


def _check_number(count: int, column: int, names: tuple[str, ...] | None, who: str) -> None:
    if count > MOST_CATEGORIES:
        raise ValueError(
            f"Column {_column(column, names)} of X holds more than {MOST_CATEGORIES:,} different numbers, too many for "
            f"categories. {who} reads fewer from rows that are not in memory: leave the column out "
            "(open_rows(..., columns=[...])), or put its categories together."
        )


def _column(column: int, names: tuple[str, ...] | None) -> str:
    return str(column) if names is None else repr(names[column])


class RowCounts(NamedTuple):
    """Rows of a chunk, each different one once."""

    n_rows: int
    total: float
    sketch: Sketch

    def __add__(self, other: RowCounts) -> RowCounts:  # type: ignore[override]
        return RowCounts(self.n_rows + other.n_rows, self.total + other.total, self.sketch + other.sketch)


class Different(NamedTuple):
    """The different rows that count, or a sample of them, and the weight that each stands for."""

    rows: np.ndarray
    weight: np.ndarray
    total: float
    complete: bool


def survey_rows(coded: RowSource) -> Different:
    """Different rows, in lexical order; a sample where they are too many."""
    if isinstance(coded, ArrayRows) and is_small(coded):
        weight = np.ones(len(coded.table)) if coded.weight is None else coded.weight
        rows, which = distinct_rows(coded.table[weight > 0])
        count = np.bincount(which, weights=weight[weight > 0])
        return Different(rows, count, float(count.sum()), True)
    n_rows, total, sketch = reduce_rows(_count_rows, coded)
    sketch = sketch.keep_smallest()
    order = np.lexsort(sketch.rows.T)
    complete = n_rows <= SKETCH_ROWS or len(order) < SKETCH_ROWS
    share = 1.0 if complete else total / sketch.weight.sum()
    return Different(sketch.rows[order], sketch.weight[order] * share, total, complete)


def _count_rows(chunk: Chunk) -> RowCounts | None:
    for used in chunk.without_zero_weights():
        return RowCounts(len(used.table), used.total, Sketch.of(used.table, used.weight).keep_smallest())
    return None


class CodedChunk(NamedTuple):
    """Codes of some rows, and their weights."""

    codes: np.ndarray
    weight: np.ndarray


def code_chunk(chunk: Chunk) -> CodedChunk:
    return CodedChunk(chunk.table, np.ones(len(chunk.table)) if chunk.weight is None else chunk.weight)


def sums_of(part: CodedChunk, columns: Columns, parameters: ClassParameters) -> Sums:
    """Sums of one mixture: sizes of the classes and, behind these, counts of the categories, (1, c, 1 + width)."""
    _, c, width = parameters.probabilities.shape
    statistics, log_likelihood, certainty = np.zeros((1, c, 1 + width)), 0.0, 0.0
    for block, coded, posterior, log_probability in tiles(columns, part.codes, parameters):
        share = part.weight[block]
        log_likelihood += float(share @ log_probability[0])
        certainty += float(share @ np.log(posterior[0].max(axis=0)))
        posterior *= share
        statistics[0, :, 0] += posterior[0].sum(axis=1)
        statistics[0, :, 1:] += posterior[0] @ coded
    return Sums(statistics, log_likelihood, certainty)


class AllCodes:
    """All rows of a table, as codes of their categories."""

    def __init__(self, coded: RowSource, columns: Columns, total: float, *, alpha: float, tol: float, max_iter: int):
        self.rows, self.columns, self.total = coded.map_chunks(code_chunk), columns, total
        self.alpha, self.tol, self.max_iter = alpha, tol, max_iter

    def finish(self, look: Candidate) -> Candidate:
        """A mixture that was fitted to the sample, fitted to all rows."""
        columns, alpha = self.columns, max(float(self.alpha), NOTHING)

        def gather(state: ClassParameters) -> Sums:
            return reduce_rows(sums_of, self.rows, columns, state)

        def follow(state: ClassParameters, found: Sums) -> tuple[float, ClassParameters]:
            size, counts = found.statistics[:, :, 0], found.statistics[:, :, 1:]
            if size.min() < SMALLEST_SIZE:
                raise Collapse
            objective = found.log_likelihood + alpha * float(np.log(state.probabilities).sum())
            return objective, m_step(columns, size, counts, alpha)

        return climb(look, gather, follow, total=self.total, tol=self.tol, max_iter=self.max_iter)
