"""Tables of categories as codes: which categories a column has, and the number of each entry."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np

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
        """Rows of zeros and ones, shape (n, width); an entry that is missing or unknown gives zeros."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        category = np.arange(self.width) - self.offsets[owner]
        return (codes[:, owner] == category.astype(codes.dtype)).astype(float)

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """One array a column, from an array whose last axis runs over all categories."""
        return np.split(flat, self.offsets[1:], axis=-1)

    def n_parameters(self, n_clusters: int) -> int:
        """Free parameters: mixing probabilities, and the probabilities of the categories in each class."""
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
    """Number of the category of each entry, ``MISSING`` or ``UNKNOWN``.

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
    """Whether a value is a number that is not whole, or too large to tell: no category is written so.

    Examples
    --------
    >>> [is_measurement(value) for value in (1.5, 2.0, 1e20, 3, "1.5", float("nan"))]
    [True, False, True, False, False, False]
    """
    real = isinstance(value, (float, np.floating)) and not np.isnan(value)
    return bool(real and (abs(float(value)) > WHOLE or value != value // 1))


def categories_of(entries: np.ndarray, name: str, who: str) -> np.ndarray:
    """The categories of a column, sorted; an error names the column and says why it has none."""
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
