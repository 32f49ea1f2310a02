"""Gower's dissimilarity: tables with columns of numbers and of categories, and with gaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidentia._checks import refuse_kinds


@dataclass(frozen=True)
class MixedTable:
    """Columns of numbers and of categories, with gaps: Gower's dissimilarity."""

    numeric: np.ndarray
    columns: tuple[str, ...]
    scale: np.ndarray  # range of a numeric column
    categories: tuple[Any, ...]
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, X: Any) -> MixedTable:
        import pandas as pd

        frame = _as_frame(X)
        numeric = np.array([kind.kind in "iuf" for kind in map(_kind, frame.dtypes)])
        numbers = frame.loc[:, numeric].to_numpy(dtype=float, na_value=np.nan)
        if np.isinf(numbers).any():
            raise ValueError("Input X contains inf in a numeric column; Gower's dissimilarity needs its range.")
        scale = np.ones(frame.shape[1])
        held = ~np.isnan(numbers).all(axis=0)
        spread = np.zeros(numbers.shape[1])
        spread[held] = np.nanmax(numbers[:, held], axis=0) - np.nanmin(numbers[:, held], axis=0)
        scale[numeric] = np.where(spread > 0, spread, 1)
        categories = tuple(
            None if number else pd.Index(column.dropna().unique())
            for number, (_, column) in zip(numeric, frame.items())
        )
        empty = cls(numeric, tuple(map(str, frame.columns)), scale, categories)
        return cls(numeric, empty.columns, scale, categories, empty.encode(frame))

    def __len__(self) -> int:
        return len(self.rows)

    def encode(self, X: Any) -> np.ndarray:
        """Numbers over their range, categories as codes (-1: one that was not there before), gaps as NaN."""
        frame = _as_frame(X)
        if frame.shape[1] != len(self.columns):
            raise ValueError(f"X has {frame.shape[1]} columns, but was fitted with {len(self.columns)}.")
        found = np.empty(frame.shape)
        for k, (_, column) in enumerate(frame.items()):
            if self.numeric[k]:
                found[:, k] = column.to_numpy(dtype=float, na_value=np.nan) / self.scale[k]
            else:
                found[:, k] = np.where(column.isna(), np.nan, self.categories[k].get_indexer(column).astype(float))
        return found

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        numbers = np.arange(len(self))
        return self._encode_known(self._measure(self.rows[rows], self.rows[columns]), numbers[rows], numbers[columns])

    def from_new(self, new: np.ndarray, columns: Any) -> np.ndarray:
        found = self._measure(new, self.rows[columns])
        return self._encode_known(found, np.arange(len(new)), np.arange(len(self))[columns], "New row")

    def needed_for_new(self) -> MixedTable:
        return self

    def _encode_known(self, found: np.ndarray, rows: np.ndarray, columns: np.ndarray, who: str = "Row") -> np.ndarray:
        if np.isnan(found.sum()):
            i, j = np.argwhere(np.isnan(found))[0]
            raise ValueError(
                f"{who} {rows[i]} and row {columns[j]} of X have no column in which both are observed, so they have no "
                "dissimilarity. Drop rows with few observed columns."
            )
        return found

    def _measure(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        total, seen = np.zeros((2, len(one), len(other)))
        for k, numeric in enumerate(self.numeric):
            a, b = one[:, k, None], other[:, k]
            gap = np.minimum(np.abs(a - b), 1) if numeric else np.where(np.isnan(a) | np.isnan(b), np.nan, a != b)
            there = ~np.isnan(gap)
            total += np.where(there, gap, 0)
            seen += there
        return np.divide(total, seen, out=np.full_like(total, np.nan), where=seen > 0)


def gower_distances(X: Any, Y: Any = None) -> np.ndarray:
    r"""Gower's dissimilarity between the rows of a table with columns of numbers and of categories [1]_.

    .. math:: d_{ij} = \frac{\sum_k s_{ijk}\, d_{ijk}}{\sum_k s_{ijk}}

    with :math:`d_{ijk} = |x_{ik} - x_{jk}| / \text{range}_k` for a number, 0 or 1 for an equal or different category,
    and :math:`s_{ijk} = 0` where one of the two is missing.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_columns)
        Columns that hold numbers are numbers; all others (text, bool, category) are categories. NaN and None are gaps.
    Y : the same, optional
        Rows to compare with. Ranges are those of X; a number outside counts as one range apart at most.

    Returns
    -------
    ndarray of shape (n_samples, n_samples) or (n_samples, n_rows_of_Y)

    References
    ----------
    .. [1] J. C. Gower. A general coefficient of similarity and some of its properties. Biometrics 27(4):857-871, 1971.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20, 30, 60], "smokes": ["no", "yes", None]})
    >>> gower_distances(table)
    array([[0.   , 0.625, 1.   ],
           [0.625, 0.   , 0.75 ],
           [1.   , 0.75 , 0.   ]])
    """
    known = MixedTable.of(X)
    if Y is None:
        return known.block(slice(None), slice(None))
    return known.from_new(known.encode(Y), slice(None)).T


def _as_frame(X: Any) -> Any:
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    array = np.asarray(X)
    if array.dtype.kind == "V":
        refuse_kinds("Gower's dissimilarity", array)
    # pandas keeps neither bytes nor numbers in the byte order of other computers
    native = array.astype(object if array.dtype.kind == "S" else array.dtype.newbyteorder("="), copy=False)
    return pd.DataFrame(native).infer_objects()


def _kind(dtype: Any) -> Any:
    """The NumPy kind of a column; categories and text have kind O."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(getattr(dtype, "numpy_dtype", object))
