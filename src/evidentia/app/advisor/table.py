"""A look at a whole table: kinds of columns, scales, gaps, repetitions, and what should not be clustered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evidentia.app.advisor.columns import (
    CATEGORIES,
    COUNTS,
    NUMBERS,
    TEXT,
    TWO,
    Column,
    as_frame,
    describe,
    is_numeric,
    looks_like_classes,
)
from evidentia.solvers.coordinates import on_one_scale, spread_ratio
from evidentia.solvers.principal import is_wide

SAMPLE = 5_000  # rows that are enough to see which columns depend on others
MOST_COLUMNS = 500  # beyond, dependence of columns is not looked for
ROUNDING = 1e-8  # what remains of a column that others determine, relative to its spread
TAILS = 0.01  # share of values far out that makes a long tail
NAMED = 3  # columns that a sentence names


@dataclass(frozen=True)
class TableProfile:
    """What a table looks like.

    Attributes
    ----------
    n_rows : int
    columns : tuple of Column
        All of them; those that should not be clustered say so by ``aside``.
    holes : int
        Rows in which something is missing, among the columns that are clustered.
    repeated : int
        Rows that repeat an earlier one, likewise.
    dependent : tuple of str
        Columns that are combinations of those before them.
    one_scale : bool
        Whether most columns of numbers reach both ends of one range, like pixels, votes or marks do.
    dissimilarities : bool
        Whether it is a square of numbers, symmetric, with zeros on the diagonal.
    """

    n_rows: int
    columns: tuple[Column, ...]
    holes: int = 0
    repeated: int = 0
    dependent: tuple[str, ...] = ()
    one_scale: bool = False
    dissimilarities: bool = False

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        """The columns of some kinds that are clustered; all of these when no kind is named."""
        return tuple(column for column in self.columns if not column.aside and (not kinds or column.kind in kinds))

    @property
    def aside(self) -> dict[str, str]:
        """Columns that are not clustered, and why."""
        return {column.name: column.aside for column in self.columns if column.aside}

    @property
    def wide(self) -> bool:
        """Whether there are more columns than a covariance for each cluster can take."""
        return is_wide(self.n_rows, len(self.of_kind()))

    @property
    def spread_ratio(self) -> float:
        """Largest spread of a column of numbers over the smallest; 1 where there are none."""
        return spread_ratio(np.array([column.spread for column in self.of_kind(NUMBERS, COUNTS)]))

    def sentences(self) -> list[str]:
        """What is worth knowing before the work, in a few words each."""
        if self.dissimilarities:
            return [f"a square, symmetric, zeros on the diagonal: dissimilarities of {self.n_rows:,} objects"]
        said = [self._kinds(), self._scales(), self._gaps()]
        if self.repeated:
            said.append(f"{self.repeated:,} row{' repeats' if self.repeated == 1 else 's repeat'} an earlier one")
        if self.dependent:
            said.append(f"{_list_names(self.dependent)} can be computed from the columns before")
        tails = [column.name for column in self.of_kind(NUMBERS) if column.far > TAILS * self.n_rows]
        if tails:
            said.append(f"long tails in {_list_names(tails)}")
        if self.n_rows <= len(self.of_kind()):
            said.append("no more rows than columns")
        return [sentence for sentence in said if sentence]

    def __str__(self) -> str:
        aside = [f"{name} is set aside ({why})" for name, why in self.aside.items()]
        return "\n".join([f"{self.n_rows:,} rows, {len(self.columns):,} columns", *self.sentences(), *aside])

    def _kinds(self) -> str:
        counts = [(len(self.of_kind(kind)), kind) for kind in (NUMBERS, COUNTS, TWO, CATEGORIES)]
        return ", ".join(f"{n:,} column{'s' * (n != 1)} of {kind}" for n, kind in counts if n)

    def _scales(self) -> str:
        columns = self.of_kind(NUMBERS, COUNTS)
        if len(columns) < 2:
            return ""
        spreads = [column.spread for column in columns]
        same = ", all on one scale" if self.one_scale else ""
        return f"spreads from {_short(min(spreads))} to {_short(max(spreads))}{same}"

    def _gaps(self) -> str:
        if not self.holes:
            return "nothing missing"
        worst = max(self.of_kind(), key=lambda column: column.missing)
        cells = sum(column.missing for column in self.of_kind()) / (self.n_rows * len(self.of_kind()))
        return (
            f"{self.holes:,} rows with missing values, {cells:.1%} of all cells, most of them in {worst.name} "
            f"({worst.missing:,})"
        )


def profile_table(table: Any, *, keep: Sequence[str] = ()) -> TableProfile:
    """Look at a table before it is clustered.

    Parameters
    ----------
    table : DataFrame or array-like of shape (n_rows, n_columns)
    keep : sequence of str
        Columns that are clustered even if they look like names or classes.

    Returns
    -------
    TableProfile

    Examples
    --------
    >>> import pandas as pd
    >>> fruits = pd.DataFrame({
    ...     "number": range(12), "weight": [90.5, 84, 97, 88, 91, 300, 280, 310, 295, 305, 290, 299],
    ...     "length": [7.1, 6.8, 7.4, 7.0, 7.2, 12.5, 12.0, 13.1, 12.4, 12.8, 12.2, 12.6],
    ...     "taste": ["sour", "sweet", "sour"] * 4, "species": ["plum"] * 5 + ["pear"] * 7})
    >>> print(profile_table(fruits))
    12 rows, 5 columns
    2 columns of numbers, 1 column of categories
    spreads from 2.68 to 102
    nothing missing
    number is set aside (only counts the rows)
    species is set aside (by its name the classes, 2 of them)
    """
    frame = as_frame(table)
    unknown = [name for name in keep if name not in frame]
    if unknown:
        raise ValueError(f"'keep' names columns of the table. {unknown[0]!r} is none of {', '.join(map(str, frame))}.")
    columns = _set_classes_aside([describe(frame[name]) for name in frame], len(frame), keep)
    used = [column for column in columns if not column.aside]
    data = frame[[name for name, column in zip(frame, columns) if not column.aside]]
    numbers = data[[name for name in data if is_numeric(data[name])]].to_numpy(dtype=float, na_value=np.nan)
    holes = int(data.isna().any(axis=1).sum()) if len(used) else 0
    telling = any(column.n_values == len(frame) for column in used)  # a column without repeats: no row is repeated
    return TableProfile(
        len(frame),
        tuple(columns),
        holes=holes,
        repeated=int(data.duplicated().sum()) if len(used) and not telling else 0,
        dependent=_dependent([column.name for column in used if column.numeric], numbers),
        one_scale=on_one_scale(*_ranges([column for column in used if column.kind in (NUMBERS, COUNTS)])),
        dissimilarities=are_dissimilarities(frame),
    )


def are_dissimilarities(frame: pd.DataFrame) -> bool:
    """Whether a table, without a first column of names, is a matrix of dissimilarities.

    Examples
    --------
    >>> are_dissimilarities(pd.DataFrame([[0, 2, 5], [2, 0, 4], [5, 4, 0]]))
    True
    """
    if frame.shape[1] == len(frame) + 1 and not is_numeric(frame.iloc[:, 0]):
        frame = frame.iloc[:, 1:]
    n = len(frame)
    if frame.shape[1] != n or n < 3 or not all(is_numeric(frame.iloc[:, j]) for j in range(n)):
        return False
    matrix = frame.to_numpy(dtype=float, na_value=np.nan)
    if not np.isfinite(matrix.sum()) or matrix.min() < 0 or not matrix.max() > 0:
        return False
    rounding = ROUNDING * matrix.max()
    return bool(np.diagonal(matrix).max() <= rounding and np.abs(matrix - matrix.T).max() <= rounding)


def _set_classes_aside(columns: list[Column], n_rows: int, keep: Sequence[str]) -> list[Column]:
    """Columns that look like classes set aside, those to be kept not; never all of them."""
    data = [column for column in columns if not column.aside]
    text = [column for column in data if not column.numeric]
    last = columns[-1].name if text == [columns[-1]] and len(data) > 1 else None
    found = []
    for column in columns:
        why = looks_like_classes(column, n_rows, last_of_text=column.name == last) if len(data) > 1 else ""
        if column.name in keep and column.role != "unreadable":
            found.append(
                replace(column, aside="", role="data", kind=CATEGORIES if column.kind == TEXT else column.kind)
            )
        else:
            found.append(replace(column, aside=column.aside or why, role="classes" if why else column.role))
    return found


def _ranges(columns: Sequence[Column]) -> np.ndarray:
    """Smallest and largest values, shape (2, n_columns)."""
    return np.array([[column.low for column in columns], [column.high for column in columns]])


def _dependent(names: Sequence[str], numbers: np.ndarray) -> tuple[str, ...]:
    """Columns that those before them determine: nothing of them is left by Gram and Schmidt."""
    rows = numbers[np.isfinite(numbers).all(axis=1)][:SAMPLE]
    if not 1 < len(names) <= MOST_COLUMNS or len(rows) < 2 * len(names):
        return ()
    left = np.abs(np.diagonal(np.linalg.qr(_unit(rows), mode="r"))) / np.sqrt(len(rows))
    return tuple(name for name, rest in zip(names, left) if rest < ROUNDING)


def _unit(numbers: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and spread 1; constant ones are 0."""
    centered = numbers - numbers.mean(axis=0)
    spread = centered.std(axis=0)
    return np.divide(centered, spread, out=np.zeros_like(centered), where=spread > 0)


def _short(number: float) -> str:
    """Three figures, and no powers of ten where they can be read without."""
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}" if number < 1e9 else f"{number:.1e}"


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
