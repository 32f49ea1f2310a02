"""Checks of what a method is given: tables, categories, weights, and parameters that depend on the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from evidentia import methods
from evidentia._objects import align_objects
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.rows.scan import LARGEST, check_magnitude, check_precision, ranges_of
from evidentia.rows.source import RowSource, is_collection
from evidentia.rows.strange import warn_of_outside
from evidentia.solvers.memory import refuse_beyond_memory

RHO_RANGE = 1e-70, 1e70  # of the distances in a table: squares, and products of these, are carried


def refuse_masses(estimator: Any, n: int, focal_sets: FocalSets) -> None:
    """A mass for each of n rows and every focal set must fit in memory: said before a fit."""
    beyond = ", or give the rows by evidentia.open_rows: masses are then made when they are asked for"
    refuse_beyond_memory(
        16 * n * len(focal_sets),  # the masses, and what a decision makes of them
        f"{type(estimator).__name__} with {len(focal_sets):,} focal sets for each of {n:,} rows",
        "Take fewer focal sets ('auto', 'singletons', 'pairs')"
        f"{beyond if 'rows beyond memory' in estimator.method.takes else ''}.",
    )


def is_precomputed(estimator: Any) -> bool:
    """Whether X is a matrix of dissimilarities."""
    return "metric" in estimator.parameters and isinstance(estimator.metric, str) and estimator.metric == "precomputed"


def is_single(X: Any) -> bool:
    """Whether all numbers of a table are of single precision."""
    kinds = [getattr(X, "dtype", None)] if not hasattr(X, "dtypes") else list(X.dtypes) if hasattr(X, "columns") else []
    return bool(kinds) and all(kind == np.float32 for kind in kinds)


def check_table(estimator: Any, X: Any, *, reset: bool = True, dtype: Any = np.float64) -> np.ndarray:
    """Rows as doubles, or as ``dtype``; or an error that names the column, the count and the cure."""
    estimator_name = type(estimator).__name__
    refuse_rows(estimator, X)
    refuse_kinds(estimator_name, X)
    X = fill_masked(X, estimator_name, "X", missing="missing values" in estimator.method.takes)
    table = _validated(estimator, X, "a table X of numbers", dtype=dtype, reset=reset)
    check_values(estimator, table, getattr(X, "columns", None), reset=reset)
    return table


def _validated(estimator: BaseEstimator, X: Any, what: str, *, dtype: Any, reset: bool) -> np.ndarray:
    """Return X as an array of two dimensions, with as many columns of the same names as were fitted."""
    estimator_name, least = type(estimator).__name__, 2 if reset else 1
    try:
        table = check_array(
            X, dtype=dtype, ensure_all_finite=False, ensure_min_samples=least, estimator=estimator, input_name="X"
        )
    except (ValueError, TypeError) as error:
        cure = f"Give {estimator_name} {what}, a row for each object."
        raise type(error)(f"{str(error).rstrip('.')}. {cure}") from error
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        names = list(getattr(estimator, "feature_names_in_", []))
        if not names or not set(names) <= set(getattr(X, "columns", [])):
            raise
        cure = f"Give {estimator_name} the columns that it was fitted to, in their order: X[model.feature_names_in_]."
        raise ValueError(f"{str(error).rstrip()}\n{cure}") from error
    return table


def refuse_kinds(estimator_name: str, X: Any) -> None:
    """What is no table of numbers, though NumPy would make one of it."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        text = [str(name) for name, kind in zip(X.columns, X.dtypes) if getattr(kind, "kind", "O") not in "biuf"]
        if text:
            raise ValueError(
                f"{estimator_name} needs numeric columns, but these are not: {', '.join(text[:5])}"
                f"{f' and {len(text) - 5} more' if len(text) > 5 else ''}. Drop them, or encode them as numbers."
            )
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: {estimator_name} needs real numbers. Take X.real if there is nothing "
            "else, or give real "
            "and imaginary parts as columns."
        )
    if kind in "mMSUV":
        what = {"m": "durations", "M": "dates", "V": "records"}.get(kind, "text")
        raise ValueError(
            f"{estimator_name} needs numbers, but X holds {what} ({X.dtype}). Convert it, for instance "
            "X.astype(float), once it "
            "is clear in which unit."
        )


def fill_masked(values: Any, estimator_name: str, name: str, *, missing: bool = False) -> Any:
    """Values of a masked array: entries under the mask are NaN where they may be missing, else refused."""
    if not np.ma.isMaskedArray(values):
        return values
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return values.data
    if missing:
        return np.where(hidden, np.nan, values.data)
    first = ", ".join(map(str, np.argwhere(hidden)[0]))
    raise ValueError(
        f"'{name}' of {estimator_name} is a masked array with {hidden.sum()} masked entries (first: [{first}]), "
        f"but {estimator_name} takes "
        f"no missing values{' there' if name != 'X' else ''}. Fill them (.filled(...)) or drop those rows"
        f"{', or take EGMM, which accepts missing values' if name == 'X' else ''}."
    )


def check_values(
    estimator: Any, table: np.ndarray, columns: Any = None, *, reset: bool = True, view: str | None = None
) -> None:
    """Refuse numbers that are not finite, or that doubles cannot carry through squares.

    New rows (not ``reset``) may lie as far out, measured in the largest value that was fitted. ``view`` names the
    table, for a method that reads several.
    """
    estimator_name, ranges = type(estimator).__name__, ranges_of(table)
    if not ranges.finite:
        _check_finite(estimator, table, columns)

    def place(row: int, column: int) -> str:
        return f"row {row}, column {_column(columns, column)}"

    fitted = 1.0 if reset or estimator._largest is None else estimator._largest
    check_magnitude(table, estimator_name, place, ranges, LARGEST * min(1.0, fitted))
    if reset:
        check_precision(ranges, table, estimator_name, partial(_column, columns), estimator._least_share)
        estimator._largest = float(ranges.largest.max(initial=0)) or 1.0
        estimator._ranges = ranges if view is None else {**(estimator._ranges or {}), view: ranges}
    elif not is_precomputed(estimator):
        before = estimator._ranges if view is None else (estimator._ranges or {}).get(view)
        warn_of_outside(table, before, columns, estimator_name, ranges)


def refuse_rows(estimator: Any, X: Any) -> None:
    """A sentence for a method that needs its table in memory and dense, and is given rows that are not."""
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} needs a dense table, and X is a sparse matrix (Sparse data was passed): "
            "X.toarray() makes one where it fits in memory, sklearn.decomposition.TruncatedSVD one of few columns. "
            f"Methods that read sparse rows: {_method_names(lambda method: method.reads_sparse)}."
        )
    if isinstance(X, RowSource) or is_collection(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory, as an array or a DataFrame. Give a sample of them, "
            "or take a method that reads rows chunk by chunk: "
            f"{_method_names(lambda method: 'rows beyond memory' in method.takes)}."
        )


def _method_names(does: Callable[[methods.Method], bool]) -> str:
    """Names of the methods that do something."""
    return ", ".join(cls.__name__ for cls in methods.clusterers().values() if does(cls.method))


def check_categories(estimator: Any, X: Any, *, reset: bool = True) -> np.ndarray:
    """Rows of categories: text or whole numbers, missing entries kept."""
    refuse_rows(estimator, X)
    if getattr(getattr(X, "dtype", None), "kind", "O") in "cV":
        refuse_kinds(type(estimator).__name__, X)
    if np.ma.isMaskedArray(X):
        hidden, X = np.ma.getmaskarray(X), X.data.astype(object)
        X[hidden] = None
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        X = X.astype(object)  # columns of several kinds have no other type in common
    elif isinstance(X, list | tuple):
        X = np.array(X, dtype=object)  # NumPy would write numbers, and NaN, beside text as text
    table = _validated(estimator, X, "a table X of categories", dtype=None, reset=reset)
    return table.astype(table.dtype.newbyteorder("="), copy=False)


def _check_finite(estimator: Any, table: np.ndarray, columns: Any) -> None:
    estimator_name = type(estimator).__name__
    for kind, found in (("inf", np.isinf(table)), ("NaN", np.isnan(table))):
        if kind == "NaN" and "missing values" in estimator.method.takes:
            _check_observed(estimator_name, found, columns)
        elif found.any():
            row, column = np.argwhere(found)[0]
            cure = (
                "Drop those rows, impute them (sklearn.impute), or take EGMM, which accepts missing values."
                if kind == "NaN"
                else "Look for a division by zero or a code for 'missing', and replace it."
            )
            raise ValueError(
                f"Input X contains {kind} in {found.any(axis=1).sum()} of {len(table)} rows "
                f"(first: row {row}, column {_column(columns, column)}); {estimator_name} needs finite numbers. {cure}"
            )


def _check_observed(estimator_name: str, missing: np.ndarray, columns: Any) -> None:
    """EM over the observed entries still needs something observed in each row and column."""
    if missing.all(axis=1).any():
        raise ValueError(
            f"{estimator_name} accepts missing values, but {missing.all(axis=1).sum()} of {len(missing)} rows "
            f"hold nothing but NaN (first: row {missing.all(axis=1).argmax()}). Drop them."
        )
    if len(missing) > 1 and missing.all(axis=0).any():
        raise ValueError(
            f"Column {_column(columns, int(missing.all(axis=0).argmax()))} holds nothing but NaN. Drop it "
            f"before {estimator_name}."
        )


def _column(columns: Any, at: int) -> str:
    return str(at) if columns is None else repr(columns[at])


def check_enough_rows(estimator: BaseEstimator, n_samples: int, n_clusters: int) -> None:
    """Refuse to look for more clusters than there are objects."""
    if n_samples < n_clusters:
        raise ValueError(
            f"{type(estimator).__name__} was asked for n_clusters={n_clusters} but X has only "
            f"n_samples={n_samples} rows. Ask for fewer clusters."
        )


def check_single_clusters(estimator: BaseEstimator, focal_sets: FocalSets, reason: str) -> None:
    """Refuse a family without all single clusters; the reason goes on "MyMethod ..."."""
    missing = np.flatnonzero(focal_sets.singleton_index < 0)
    if len(missing):
        raise ValueError(
            f"{type(estimator).__name__} {reason}, so each must be a focal set. "
            f"{{{missing[0]}}} is not among: {', '.join(focal_sets.names())}."
        )


def check_weight(estimator: BaseEstimator, sample_weight: Any, n_samples: int, X: Any) -> np.ndarray | None:
    """Return the weights of the rows as doubles, in the order of X; None when all are one.

    A Series is joined with a table by the names in their indexes.
    """
    if sample_weight is None:
        return None
    estimator_name = type(estimator).__name__
    given = fill_masked(
        align_objects(X, sample_weight, ("X", f"'sample_weight' of {estimator_name}")), estimator_name, "sample_weight"
    )
    try:
        weight = np.asarray(given, dtype=float)
    except (ValueError, TypeError) as error:
        raise type(error)(f"'sample_weight' of {estimator_name} must hold numbers: {error}") from error
    if weight.shape != (n_samples,):
        raise ValueError(
            f"'sample_weight' of {estimator_name} must hold one number for each of {n_samples} rows. Got "
            f"{weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(f"'sample_weight' of {estimator_name} must be finite, not negative, and not zero everywhere.")
    return weight


def check_rho(estimator: Any, unit: float) -> float:
    """A distance to the empty set that was given; refused where it is so many units of the table that it is lost."""
    rho = float(estimator.rho)
    if not RHO_RANGE[0] * unit <= rho <= RHO_RANGE[1] * unit:
        raise ValueError(
            f"The 'rho' parameter of {type(estimator).__name__} is a distance, and {rho:g} is out of all proportion to "
            f"the distances in X, of about {unit:.2g}. Give a distance beyond which objects are outliers, or 'auto'."
        )
    return rho


def warn_if_centers_coincide(estimator: Any, centers: np.ndarray, spread: float) -> None:
    """Say so when two clusters became one, as happens in high dimension or with too many clusters.

    ``spread`` is a typical distance of an object from the mean.
    """
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + np.where(np.eye(len(centers)), np.inf, 0)
    if len(centers) > 1 and gaps.min() <= 1e-3 * spread:
        a, b = np.unravel_index(gaps.argmin(), gaps.shape)
        causes, cures = ["the data do not tell these clusters apart"], "Ask"
        if "beta" in estimator.parameters:  # all far clusters enter every mean with a power of their share
            causes.append("'beta' is too large for so many clusters and columns")
            cures = "Lower 'beta' (to 1.2), ask"
        warn_user(
            f"{type(estimator).__name__}: the centers of clusters {a} and {b} coincide: {', or '.join(causes)}. "
            f"{cures} for fewer clusters, scale the columns, or reduce the dimension first (e.g. PCA).",
            UserWarning,
        )
