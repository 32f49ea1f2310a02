"""From what the user gives, X and ``metric``, to a source of dissimilarities; and the new objects of ``predict``.

:class:`RelationalClusterer` is the base of the methods that see objects through these alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from evidentia import _base, _checks
from evidentia._parameters import NOTHING, Choice, Predicate, fitted, param
from evidentia.dissimilarities.gower import MixedTable
from evidentia.dissimilarities.series import METRICS, Series, as_series
from evidentia.dissimilarities.sources import Matrix, Objects, Source, Table, check_dissimilarities
from evidentia.partition import CredalPartition
from evidentia.rows.scan import SMALLEST, check_magnitude, ranges_of
from evidentia.solvers.coordinates import deviations

METRIC = param(
    Choice("precomputed", "gower", *METRICS)
    | Predicate("a metric of SciPy or scikit-learn", lambda value: isinstance(value, str))
    | Predicate("a function of two objects", callable),
    """How unlike two objects are. ``"precomputed"``: X holds dissimilarities. ``"gower"``: X is a table of numbers and
    categories, with gaps. ``"dtw"`` (extra ``series``) and ``"soft-dtw"``: X holds series, of any lengths. With a
    function X may be a list of anything.""",
    default="euclidean",
)
METRIC_PARAMS = param(
    Predicate("dict", lambda value: isinstance(value, Mapping)) | NOTHING,
    "Further arguments of the metric.",
    default=None,
)


def make_source(
    X: Any, metric: Any, params: Mapping[str, Any] | None = None, *, who: str, contrast: bool = True
) -> Source:
    """The objects of X and how unlike they are, checked.

    Parameters
    ----------
    X : array-like, DataFrame or list of objects
    metric : str or callable
    params : dict, optional
        Further arguments of the metric.
    who : str
        For messages.
    contrast : bool
        Whether a matrix whose entries are all equal is refused.

    Examples
    --------
    >>> make_source([[0.0, 0.0], [3.0, 4.0]], "euclidean", who="me").block([0], [1])
    array([[5.]])
    """
    source = _source(X, metric, dict(params or {}), who, contrast)
    if len(source) < 2:
        raise ValueError(f"{who} needs at least 2 objects. Got {len(source)}.")
    if isinstance(source, Objects):
        source.check_symmetric(who)
    return source


def _source(X: Any, metric: Any, params: dict[str, Any], who: str, contrast: bool) -> Source:
    if callable(metric):
        return Objects(_items(X), metric, params)
    if metric == "gower":
        return MixedTable.of(X)
    if metric in METRICS:
        return Series.of(X, metric, params, who)
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or not np.isfinite(rows.sum()):
        raise ValueError(f"{who} needs a table of finite numbers. Got shape {rows.shape}.")
    if metric == "precomputed":
        return Matrix(check_dissimilarities(rows, who, contrast=contrast))
    return _table(rows, metric, params, who)


def _table(rows: np.ndarray, metric: str, params: dict[str, Any], who: str) -> Table:
    """Rows and a named metric, whose arguments are those of all rows."""
    if metric == "seuclidean":
        params.setdefault("V", np.square(deviations(rows, ddof=1)))
    if metric == "mahalanobis" and "VI" not in params:
        with np.errstate(over="ignore", invalid="ignore"):
            covariance = np.atleast_2d(np.cov(rows.T))
        if not np.isfinite(covariance).all():
            raise ValueError(f"{who} finds no covariance of X: squares of its values are beyond doubles. Scale X.")
        params["VI"] = np.linalg.pinv(covariance)
    table = Table(rows, metric, params)
    try:
        table.block(slice(2), slice(2))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"The 'metric' parameter of {who} must be 'precomputed', 'gower', 'dtw', 'soft-dtw', a function of two "
            f"objects, or a metric of SciPy or scikit-learn that suits X. Got {metric!r}: {error}"
        ) from error
    return table


def read_source(estimator: Any, X: Any, *, contrast: bool = True) -> Source:
    """The objects that ``fit`` was given, by ``metric`` and ``metric_params``; the estimator notes their columns."""
    metric = estimator.metric
    if _checks.is_precomputed(estimator):
        X = _numbers(estimator, X)
    elif _is_table(X) if callable(metric) or metric in METRICS else metric != "gower":
        X = _checks.check_table(estimator, X)
    source = make_source(X, metric, estimator.metric_params, who=type(estimator).__name__, contrast=contrast)
    if isinstance(source, MixedTable):
        estimator.n_features_in_ = len(source.columns)
    return source


def read_matrix(estimator: Any, X: Any) -> np.ndarray:
    """A matrix of dissimilarities, checked."""
    return check_dissimilarities(_numbers(estimator, X), type(estimator).__name__)


def refuse_rows_of_metric(estimator: Any) -> None:
    """A sentence for rows that are not in memory and a metric that is not one of their numbers."""
    if isinstance(estimator.metric, str) and estimator.metric in ("precomputed", "gower", *METRICS):
        raise TypeError(
            f"{type(estimator).__name__} with metric={estimator.metric!r} needs its table in memory, and dense. Rows "
            "in files and sparse rows are compared by a metric of their numbers, such as 'euclidean'."
        )


def read_new(estimator: Any, source: Source | None, X: Any) -> Any:
    """New objects as ``source.from_new`` takes them; without a source, dissimilarities to the fitted objects."""
    if isinstance(source, MixedTable):
        return source.encode(X)
    if isinstance(source, Series):
        return as_series(X, type(estimator).__name__, source.series[0].shape[1], metric=source.metric)
    if isinstance(source, Objects):
        return _checks.check_table(estimator, X, reset=False) if _is_table(X) else _items(X)
    if isinstance(source, Table):
        return _checks.check_table(estimator, X, reset=False)
    return _not_negative(estimator, _numbers(estimator, X, reset=False))


def read_table(estimator: Any, X: Any) -> np.ndarray:
    """A table n × k of dissimilarities to some partners, checked; new objects will come with a number for each of n."""
    values = _not_negative(estimator, _numbers(estimator, X))
    estimator.n_features_in_ = len(values)
    return values


def _numbers(estimator: Any, X: Any, *, reset: bool = True) -> np.ndarray:
    """Dissimilarities as doubles, none of them missing."""
    who = type(estimator).__name__
    _checks.refuse_kinds(who, X)
    values = validate_data(
        estimator,
        _checks.fill_masked(X, who, "X"),
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
        reset=reset,
    )
    ranges = ranges_of(values)
    if not ranges.finite:
        i, j = np.argwhere(~np.isfinite(values))[0]
        what = "NaN" if np.isnan(values[i, j]) else "inf"
        raise ValueError(
            f"Input X contains {what} (first: entry [{i}, {j}]); {who} needs finite "
            "dissimilarities. If only some pairs are known, EVCLUS takes those as a table, with the partners of "
            "each object as 'n_pairs'."
        )
    check_magnitude(values, who, "entry [{}, {}]".format, ranges)
    if 0 < (largest := ranges.high.max(initial=0)) < SMALLEST and reset:
        raise ValueError(
            f"{who} works with squares, which doubles carry for dissimilarities of {SMALLEST:g} and more, but the "
            f"largest in X is {largest:g}. Divide X by it."
        )
    return values


def _not_negative(estimator: Any, values: np.ndarray) -> np.ndarray:
    if values.min(initial=0) < 0:
        raise ValueError(
            f"{type(estimator).__name__} needs dissimilarities that are not negative. Got {values.min():g}."
        )
    return values


def _is_table(X: Any) -> bool:
    """Whether X is an array or a frame of numbers, and no list of objects."""
    return isinstance(_items(X), np.ndarray)


def _items(X: Any) -> Any:
    """Rows of a table of numbers as an array, or else whatever objects there are as a list."""
    if not (hasattr(X, "dtype") or hasattr(X, "columns")):
        return list(X)
    shaped = np.asarray(X)
    return shaped if shaped.ndim == 2 and shaped.dtype.kind in "biuf" else list(shaped)


class RelationalClusterer(_base.IterativeClusterer):
    """Base of the methods that see objects only through their dissimilarities.

    A subclass gives ``_fit(data)``, where ``data.rows`` is a :class:`~evidentia.dissimilarities.Source`, and which
    leaves in ``_source`` what new objects need of it; and ``_masses(new)`` for new objects as ``from_new`` of the
    source takes them.
    """

    metric: Any = METRIC
    metric_params: Any = METRIC_PARAMS
    _source: Source = fitted()

    def _read_rows(self, X: Any) -> Any:
        return read_source(self, X)

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).
        """
        return super().predict_partition(X)

    def _read_new(self, X: Any) -> Any:
        return read_new(self, self._source, X)
