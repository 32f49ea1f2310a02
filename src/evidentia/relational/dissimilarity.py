r"""Where dissimilarities come from: a matrix, a table and a metric, objects and a function, a table of mixed columns.

Every source answers one question, a block of dissimilarities between some objects and some others, so that a method
that wants k partners for each of n objects never holds n × n numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.utils.validation import _num_samples, validate_data

from evidentia import _base
from evidentia.solvers.dissimilarities import check_dissimilarities

CERTAIN = 0.05  # plausibility of "same cluster" left to two objects at distance delta0


def default_quantile(n_clusters: int) -> float:
    """Quantile of the dissimilarities that ``delta0`` shall be: 0.9 for few clusters, less for many.

    Of c clusters alike, one pair in c lies within a cluster; a far larger quantile would ask objects of neighbouring
    clusters to be together.
    """
    return min(0.9, 3.6 / n_clusters)


def delta_star(dissimilarity: Any, delta0: float) -> np.ndarray:
    r"""Degree of conflict that a dissimilarity asks for, (6) of [1]_.

    .. math:: \varphi(\delta) = 1 - \exp(-\gamma \delta^2), \qquad \gamma = -\log 0.05 / \delta_0^2

    Two objects :math:`\delta_0` or more apart have plausibility 0.05 at most of sharing a cluster.

    Parameters
    ----------
    dissimilarity : array-like
    delta0 : float

    References
    ----------
    .. [1] T. Denœux. NN-EVCLUS: neural network-based evidential clustering. Information Sciences 572:297-330, 2021.

    Examples
    --------
    >>> delta_star([0.0, 1.0, 2.0, 4.0], delta0=2.0).round(3)
    array([0.   , 0.527, 0.95 , 1.   ])
    """
    return -np.expm1(np.log(CERTAIN) * np.square(np.asarray(dissimilarity, dtype=float) / delta0))


class Source(Protocol):
    """Objects that know how unlike they are; rows and columns are slices or arrays of object numbers."""

    def __len__(self) -> int: ...

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        """Dissimilarities of some objects to some others, shape (n_rows, n_columns)."""

    def from_new(self, X: Any, columns: Any) -> np.ndarray:
        """Dissimilarities of new objects, as :func:`read_new` gives them, to some of the known ones."""


@dataclass(frozen=True)
class Matrix:
    """A square matrix."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self.values[rows][:, columns]

    def from_new(self, X: np.ndarray, columns: Any) -> np.ndarray:
        return X[:, columns]


@dataclass(frozen=True)
class Table:
    """Rows of numbers and the name of a metric."""

    rows: np.ndarray
    metric: str
    params: dict[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self._measure(self.rows[rows], self.rows[columns])

    def from_new(self, X: np.ndarray, columns: Any) -> np.ndarray:
        return self._measure(X, self.rows[columns])

    def _measure(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        if self.metric == "euclidean":  # scikit-learn's loses digits when rows are near each other and far from zero
            return cdist(one, other)
        if self.metric in PAIRWISE_BOOLEAN_FUNCTIONS:
            one, other = one.astype(bool), other.astype(bool)
        return pairwise_distances(one, other, metric=self.metric, **self.params)


@dataclass(frozen=True)
class Called:
    """Objects of any kind and a function of two of them."""

    objects: Sequence[Any]
    function: Callable[..., float]
    params: dict[str, Any]

    def __len__(self) -> int:
        return len(self.objects)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        numbers = np.arange(len(self))
        return self._measure(self.objects, numbers[rows], numbers[columns])

    def from_new(self, X: Sequence[Any], columns: Any) -> np.ndarray:
        return self._measure(X, np.arange(len(X)), np.arange(len(self))[columns])

    def _measure(self, ours: Sequence[Any], rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), len(columns)))
        for a, i in enumerate(rows):
            for b, j in enumerate(columns):
                found[a, b] = self._call(ours[i], self.objects[j], i, j)
        return found

    def _call(self, one: Any, other: Any, i: int, j: int) -> float:
        name = getattr(self.function, "__name__", repr(self.function))
        try:
            value = float(self.function(one, other, **self.params))
        except Exception as error:
            raise ValueError(f"The metric {name} failed on objects {i} and {j}: {error!r}.") from error
        if not 0 <= value < np.inf:
            raise ValueError(
                f"The metric {name} gave {value!r} for objects {i} and {j}; a dissimilarity is a finite number >= 0."
            )
        return value


@dataclass(frozen=True)
class Mixed:
    """Columns of numbers and of categories, with gaps: Gower's dissimilarity."""

    numeric: np.ndarray
    columns: tuple[str, ...]
    scale: np.ndarray  # range of a numeric column
    categories: tuple[Any, ...]
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, X: Any) -> Mixed:
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
        return self._known(self._measure(self.rows[rows], self.rows[columns]), numbers[rows], numbers[columns])

    def from_new(self, X: np.ndarray, columns: Any) -> np.ndarray:
        return self._known(
            self._measure(X, self.rows[columns]), np.arange(len(X)), np.arange(len(self))[columns], "New row"
        )

    def _known(self, found: np.ndarray, rows: np.ndarray, columns: np.ndarray, who: str = "Row") -> np.ndarray:
        if np.isnan(found.sum()):
            i, j = np.argwhere(np.isnan(found))[0]
            raise ValueError(
                f"{who} {rows[i]} and row {columns[j]} have no column in which both are observed, so they have no "
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
    known = Mixed.of(X)
    if Y is None:
        return known.block(slice(None), slice(None))
    return known.from_new(known.encode(Y), slice(None)).T


def read_source(estimator: _base.EvidentialClusterer, X: Any, metric: Any, params: dict[str, Any] | None) -> Source:
    """The objects that ``fit`` was given, checked."""
    params = dict(params or {})
    if isinstance(metric, str) and metric == "precomputed":
        return Matrix(check_dissimilarities(_numbers(estimator, X), type(estimator).__name__))
    if isinstance(metric, str) and metric == "gower":
        source = Mixed.of(X)
        estimator.n_features_in_ = len(source.columns)
        return source
    if callable(metric):
        return Called(_items(estimator, X, reset=True), metric, params)
    if not isinstance(metric, str):
        raise ValueError(
            f"The 'metric' parameter of {type(estimator).__name__} must be a name or a function of two objects. "
            f"Got {metric!r} instead."
        )
    rows = _base.check_table(estimator, X)
    if metric == "seuclidean":
        params.setdefault("V", np.var(rows, axis=0, ddof=1))
    if metric == "mahalanobis":
        params.setdefault("VI", np.linalg.pinv(np.atleast_2d(np.cov(rows.T))))
    table = Table(rows, metric, params)
    try:
        table.block(slice(2), slice(2))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"The 'metric' parameter of {type(estimator).__name__} must be 'precomputed', 'gower', a function of two "
            f"objects, or a metric of SciPy or scikit-learn that suits X. Got {metric!r}: {error}"
        ) from error
    return table


def read_new(estimator: _base.EvidentialClusterer, source: Source | None, X: Any) -> Any:
    """New objects as ``source.from_new`` takes them; without a source X is a block of dissimilarities."""
    if isinstance(source, Mixed):
        return source.encode(X)
    if isinstance(source, Called):
        return _items(estimator, X, reset=False)
    if isinstance(source, Table):
        return _base.check_table(estimator, X, reset=False)
    block = _numbers(estimator, X, reset=False)
    if block.min(initial=0) < 0:
        raise ValueError(
            f"{type(estimator).__name__} needs dissimilarities that are not negative. Got {block.min():g}."
        )
    return block


def _numbers(estimator: _base.EvidentialClusterer, X: Any, *, reset: bool = True) -> np.ndarray:
    """Dissimilarities as doubles, none of them missing."""
    values = validate_data(
        estimator, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2 if reset else 1, reset=reset
    )
    if not np.isfinite(values.sum()):
        i, j = np.argwhere(~np.isfinite(values))[0]
        what = "NaN" if np.isnan(values[i, j]) else "inf"
        raise ValueError(
            f"Input X contains {what} (first: entry [{i}, {j}]); {type(estimator).__name__} needs finite "
            "dissimilarities. If only some pairs are known, give those as a table with 'partners'."
        )
    return values


def read_table(estimator: _base.EvidentialClusterer, X: Any) -> np.ndarray:
    """A table n × k of dissimilarities to some partners, checked."""
    values = _numbers(estimator, X)
    if values.min() < 0:
        raise ValueError(
            f"{type(estimator).__name__} needs dissimilarities that are not negative. Got {values.min():g}."
        )
    return values


def _items(estimator: _base.EvidentialClusterer, X: Any, *, reset: bool) -> Any:
    """Rows of a table of numbers, or whatever objects a list holds."""
    shaped = np.asarray(X) if hasattr(X, "dtype") or hasattr(X, "columns") else None
    if shaped is not None and shaped.ndim == 2 and shaped.dtype.kind in "biuf":
        return _base.check_table(estimator, X, reset=reset)
    if _num_samples(X) < 2 and reset:
        raise ValueError(f"{type(estimator).__name__} needs at least 2 objects. Got {_num_samples(X)}.")
    return list(X) if shaped is None else list(shaped)


def _as_frame(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).infer_objects()


def _kind(dtype: Any) -> Any:
    """The NumPy kind of a column; categories and text have kind O."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(getattr(dtype, "numpy_dtype", object))
