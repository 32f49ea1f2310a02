"""Tables of categories, and of categories and numbers: codes, numbers without units, and starts among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from evidentia.rows.scan import LARGEST, LEAST_SHARE, ROUNDING, Ranges, check_magnitude, check_precision, ranges_of
from evidentia.rows.strange import warn_of_outside, warn_of_unknown
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.starts import START_RULES, representative_rows

UNKNOWN = -2  # code of a category that was not there when the categories were found
MISSING = -1
TIMES = (date, timedelta, np.datetime64, np.timedelta64)
WHOLE = 2.0**53  # doubles beyond it are all whole, and no categories


class Columns(NamedTuple):
    """Where the categories of each column lie when all columns stand side by side."""

    sizes: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, categories: list[np.ndarray]) -> Columns:
        sizes = np.array([len(found) for found in categories], dtype=int)
        return cls(sizes, np.cumsum(sizes) - sizes)

    @property
    def width(self) -> int:
        return int(self.sizes.sum())

    def one_hot(self, codes: np.ndarray) -> np.ndarray:
        """Return rows of zeros and ones, shape (n, width); an entry that is missing or unknown gives zeros."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        category = np.arange(self.width) - self.offsets[owner]
        return (codes[:, owner] == category.astype(codes.dtype)).astype(float)

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split an array whose last axis runs over all categories into one array per column."""
        return np.split(flat, self.offsets[1:], axis=-1)

    def n_parameters(self, n_clusters: int) -> int:
        """Return the number of free parameters: mixing probabilities, and those of the categories in each class."""
        return n_clusters - 1 + n_clusters * (self.width - len(self.sizes))


def as_plain(entries: np.ndarray) -> np.ndarray:
    """Return objects of one type as an array of that type, and half and long doubles as doubles.

    pandas has no index of half or long doubles.

    Examples
    --------
    >>> as_plain(np.array([np.float16(1), np.float16(2)], dtype=object)).dtype
    dtype('float64')
    """
    import pandas as pd

    if entries.dtype == object:
        entries = pd.Series(entries).infer_objects().to_numpy()
    is_odd = entries.dtype.kind == "f" and entries.dtype.itemsize not in (4, 8)
    return entries.astype(float) if is_odd else entries


def encode(table: np.ndarray, categories: list[np.ndarray]) -> np.ndarray:
    """Return the number of the category of each entry, ``MISSING`` or ``UNKNOWN``.

    Examples
    --------
    >>> encode(np.array([["b", None], ["c", "x"]], dtype=object), [np.array(["a", "b"]), np.array(["x"])])
    array([[ 1, -1],
           [-2,  0]], dtype=int32)
    """
    import pandas as pd

    codes = np.empty(table.shape, dtype=np.int32)
    for column, known in enumerate(categories):
        entries = table[:, column]
        place = pd.Index(known).get_indexer(pd.Index(as_plain(entries)))
        codes[:, column] = np.where(place >= 0, place, np.where(pd.isna(entries), MISSING, UNKNOWN))
    return codes


def is_measurement(value: Any) -> bool:
    """Return whether a value is a number that is not whole, or too large to tell: no category is written so.

    Examples
    --------
    >>> [is_measurement(value) for value in (1.5, 2.0, 1e20, 3, "1.5", float("nan"))]
    [True, False, True, False, False, False]
    """
    real = isinstance(value, (float, np.floating)) and not np.isnan(value)
    return bool(real and (abs(float(value)) > WHOLE or value != value // 1))


def categories_of(entries: np.ndarray, name: str, who: str) -> np.ndarray:
    """Return the categories of a column, sorted; raise an error that names the column if it has none."""
    import pandas as pd

    try:
        values = pd.unique(as_plain(entries[~pd.isna(entries)]))
    except TypeError as err:
        raise TypeError(
            f"Column {name} of X holds entries that cannot be categories ({err}). Each must be a text or a whole "
            "number."
        ) from err
    if not len(values):
        raise ValueError(f"Column {name} of X holds nothing but missing values. Drop it before {who}.")
    if (moment := next((value for value in values if isinstance(value, TIMES)), None)) is not None:
        raise ValueError(
            f"Column {name} of X holds dates or durations such as {moment}, which are not categories. Convert it to "
            f"a number before {who}, once it is clear in which unit, or turn it into text if they are names."
        )
    if (example := next(filter(is_measurement, values), None)) is not None:
        raise ValueError(
            f"Column {name} of X holds numbers such as {example:g}, which are not categories. "
            f"Cut it into classes first (pandas.cut), or turn it into text if its {len(values)} values are names."
        )
    try:
        return np.sort(values)
    except TypeError:  # text beside numbers has no order of its own
        return np.array(sorted(values, key=lambda value: (type(value).__name__, str(value))), dtype=object)


# -- categories and numbers -------------------------------------------------------------------------------------------


CELLS = 1 << 24  # of the one-hot coding that starts are found in


class MixedRows(NamedTuple):
    r"""Some rows as the criterion of CatECM reads them: their dissimilarity to a prototype is linear in what is here.

    With :math:`w(a)` the weight of category a in the prototype of a column, and z numbers without units,

    .. math:: d(x, v) = r \Big[ \sum_{l\ \text{observed}} (1 - w_l(x_l)) + \sum_{q\ \text{observed}} (z_q - v_q)^2 \Big]

    where r makes up for columns that are missing: the total weight of all columns over that of the observed ones.

    ``hot`` (n, width) has r at the category of each observed entry, ``base`` (n,) is r times the number of observed
    categories, of which one that is unknown has no entry in ``hot``. For the numbers, ``pull`` = r z and ``there`` = r
    where observed, 0 elsewhere, both (n, q), and ``square`` (n,) is the sum of r z².
    """

    hot: csr_array
    base: np.ndarray
    pull: np.ndarray
    there: np.ndarray
    square: np.ndarray


class Coding(NamedTuple):
    """How rows of a table are read: which columns are numbers, the categories of the others, units of the numbers."""

    numeric: np.ndarray
    categories: list[np.ndarray]
    mean: np.ndarray
    scale: np.ndarray
    number_weight: float

    @property
    def columns(self) -> Columns:
        return Columns.of(self.categories)

    def codes(self, table: np.ndarray) -> np.ndarray:
        """Return the number of the category of each entry, (n, columns of categories)."""
        return encode(table[:, ~self.numeric], self.categories)

    def numbers(self, table: np.ndarray, who: str) -> np.ndarray:
        """Return numbers z without units, (n, columns of numbers), whose squares count as a mismatch does."""
        found = as_numbers(table, self.numeric, who, largest=LARGEST * min(1.0, float(self.scale.min(initial=1.0))))
        return (found - self.mean) / self.scale * np.sqrt(self.number_weight)

    def ranges(self, table: np.ndarray, who: str) -> Ranges:
        """Return the ranges of the columns of numbers, in the units of the table."""
        return ranges_of(as_numbers(table, self.numeric, who, LARGEST))

    def warn_of_strange(self, table: np.ndarray, ranges: Ranges | None, names: Any, who: str) -> None:
        """Warn of new rows with unknown categories, or with numbers far outside the ranges of the fit."""
        names = np.arange(len(self.numeric)) if names is None else np.asarray(names)
        unknown = np.zeros(table.shape, dtype=bool)
        unknown[:, ~self.numeric] = self.codes(table) == UNKNOWN
        warn_of_unknown(unknown, table, names, who)
        warn_of_outside(as_numbers(table, self.numeric, who, LARGEST), ranges, names[self.numeric], who)

    def in_units(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers without units in the units of the table."""
        return numbers / np.sqrt(self.number_weight) * self.scale + self.mean

    def rows(self, codes: np.ndarray, numbers: np.ndarray) -> MixedRows:
        """Return the rows of these codes and numbers."""
        observed, known = codes != MISSING, codes >= 0
        seen = ~np.isnan(numbers)
        total = codes.shape[1] + self.number_weight * numbers.shape[1]
        held = observed.sum(axis=1) + self.number_weight * seen.sum(axis=1)
        share = np.divide(total, held, out=np.zeros(len(codes)), where=held > 0)  # a row of gaps has no part in J
        ends = np.append(0, np.cumsum(known.sum(axis=1)))
        places = (codes + self.columns.offsets)[known]
        hot = csr_array((np.repeat(share, np.diff(ends)), places, ends), shape=(len(codes), self.columns.width))
        z = np.where(seen, numbers, 0.0)
        pull = share[:, None] * z
        there = share[:, None] * seen
        return MixedRows(hot, share * observed.sum(axis=1), pull, there, np.einsum("iq,iq->i", pull, z))

    def blocks(self, codes: np.ndarray, numbers: np.ndarray, n_focal: int) -> Iterator[tuple[slice, MixedRows]]:
        """Yield some rows at a time, as many as leave room for their masses."""
        for block in row_blocks(len(codes), 3 * n_focal + codes.shape[1] + 3 * numbers.shape[1]):
            yield block, self.rows(codes[block], numbers[block])


def as_numbers(table: np.ndarray, numeric: np.ndarray, who: str, largest: float | None = None) -> np.ndarray:
    """Return columns of numbers as doubles, missing values as NaN; raise an error that names the column.

    Without ``largest``, columns whose differences doubles do not carry are refused too.
    """
    import pandas as pd

    found = np.empty((len(table), int(numeric.sum())))
    for place, column in enumerate(np.flatnonzero(numeric)):
        entries = table[:, column]
        gap = pd.isna(entries)
        try:
            found[:, place] = np.where(gap, np.nan, entries).astype(float)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"Column {column} of X is one of numbers for {who}, and holds something else: {error}. Leave it out "
                "of 'numbers', and it is read as categories."
            ) from error
    if np.isinf(found).any():
        row, place = np.argwhere(np.isinf(found))[0]
        raise ValueError(
            f"Input X contains inf (first: row {row}, column {np.flatnonzero(numeric)[place]}); {who} needs finite "
            "numbers. Look for a division by zero or a code for 'missing', and replace it."
        )
    columns = np.flatnonzero(numeric)
    if found.size:
        ranges = ranges_of(found)
        check_magnitude(found, who, lambda row, at: f"row {row}, column {columns[at]}", ranges, largest or LARGEST)
        if largest is None:
            check_precision(ranges, found, who, lambda at: str(columns[at]), LEAST_SHARE)
    return found


def is_measured(entries: np.ndarray) -> bool:
    """Return whether a column holds numbers that are not whole, or too large to tell."""
    import pandas as pd

    if entries.dtype.kind == "f":
        entries = entries.astype(float)
        return bool((~np.isnan(entries) & ((entries != np.floor(entries)) | (np.abs(entries) > WHOLE))).any())
    if entries.dtype.kind != "O":
        return False
    try:
        return any(map(is_measurement, pd.unique(entries)))
    except TypeError:  # numbers have a hash
        return False


def find_numeric(table: np.ndarray, numbers: Any, names: Sequence[str] | None, who: str) -> np.ndarray:
    """Return which columns are numbers: those that hold decimals, or those named or numbered."""
    if isinstance(numbers, str):
        return np.array([is_measured(entries) for entries in table.T])
    numeric = np.zeros(table.shape[1], dtype=bool)
    for name in numbers:
        if isinstance(name, str) and names is not None and name in list(names):
            numeric[list(names).index(name)] = True
        elif isinstance(name, int | np.integer) and 0 <= name < len(numeric):
            numeric[name] = True
        else:
            there = f"0 to {len(numeric) - 1}" if names is None else ", ".join(map(str, names))
            raise ValueError(f"'numbers' of {who} names the column {name!r}, which X does not have. It has {there}.")
    return numeric


def category_shares(codes: np.ndarray, columns: Columns, weight: np.ndarray) -> np.ndarray:
    """Return the share of each category among the observed entries of its column, (width,)."""
    counts = np.zeros(columns.width)
    for column, offset in enumerate(columns.offsets):
        there = codes[:, column] >= 0
        np.add.at(counts, offset + codes[there, column], weight[there])
    if not columns.width:
        return counts
    total = np.add.reduceat(counts, columns.offsets)
    return counts / np.repeat(np.where(total > 0, total, 1), columns.sizes)


def moments(numbers: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns with missing values; 1 for a constant column."""
    there = ~np.isnan(numbers)
    total = weight @ there
    total = np.where(total > 0, total, 1)
    mean = weight @ np.where(there, numbers, 0) / total
    spread = np.sqrt(weight @ np.where(there, numbers - mean, 0) ** 2 / total)
    return mean, np.where(spread > ROUNDING * np.abs(mean), spread, 1.0)


def read_coding(
    table: np.ndarray, numbers: Any, weight: np.ndarray, names: Sequence[str] | None, who: str
) -> tuple[Coding, np.ndarray]:
    """Return the coding of a table, numbers in standard deviations, and the codes of its categories."""
    numeric = find_numeric(table, numbers, names, who)
    called = [str(k) if names is None else repr(str(names[k])) for k in range(len(numeric))]
    categories = [categories_of(table[:, k], called[k], who) for k in np.flatnonzero(~numeric).tolist()]
    mean, scale = moments(as_numbers(table, numeric, who), weight)
    coding = Coding(numeric, categories, mean, scale, 1.0)
    return coding, coding.codes(table)


def centers_among(
    coding: Coding,
    codes: np.ndarray,
    numbers: np.ndarray,
    weight: np.ndarray,
    n_clusters: int,
    *,
    rule: str,
    n_starts: int,
    rng: np.random.RandomState,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield starts by a rule, (weights of categories, numbers), among rows whose squared distances are known."""
    columns, shares = coding.columns, category_shares(codes, coding.columns, weight)
    both = np.hstack([codes, np.nan_to_num(numbers)])  # the mean of the column
    chosen, share = representative_rows(both, weight, rng)
    step = -(-len(chosen) * columns.width // CELLS) or 1
    # Equal rows are merged: where centers are equally near, as among categories, rounding would tell copies from
    # weights. There are as many rows as clusters at least.
    rows, which = np.unique(both[chosen[::step]], axis=0, return_inverse=True)
    share, again = np.bincount(which.ravel(), weights=share[::step]), np.arange(max(len(rows), n_clusters)) % len(rows)
    rows, share = rows[again], (share / np.bincount(again))[again]
    known = rows[:, : codes.shape[1]].astype(int)
    coded = np.where(np.repeat(known < 0, columns.sizes, axis=1), shares, columns.one_hot(known))
    rows = np.hstack([np.sqrt(0.5) * coded, rows[:, codes.shape[1] :]])
    for center in START_RULES[rule](rows, n_clusters, n_starts, rng, share):
        yield np.maximum(center[:, : columns.width], 0) / np.sqrt(0.5), center[:, columns.width :]
