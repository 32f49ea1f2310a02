"""What the metric learners share: checks, what links and labels say, and a linear map of unit-free columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from evidentia._warnings import warn_user
from evidentia.solvers.coordinates import unit_free


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the transformers ``X @ components_``.

    A learner enters a space with :meth:`_enter`, finds a map of that space, and leaves with :meth:`_leave`. Here the
    space holds the columns, scaled by their deviation and so that the total variance is one.
    """

    components_: np.ndarray
    _n_features_out: int

    def _enter(self, table: np.ndarray, objects: np.ndarray) -> np.ndarray:
        """Coordinates of some rows, shape (n_objects, q), learned from all of them."""
        coordinates = unit_free(table, kind="diag")
        self._forward = coordinates.forward / np.sqrt(coordinates.forward.shape[1])
        return (table[objects] - coordinates.origin) @ self._forward

    def _leave(self, root: np.ndarray) -> None:
        """Publish a map of shape (q, n_components)."""
        self.components_ = self._forward @ root
        self._n_features_out = root.shape[1]
        del self._forward

    def transform(self, X: Any) -> np.ndarray:
        """Rows whose Euclidean distances are the learned ones, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.components_

    def _check_number(
        self, name: str, *, low: float, strict: bool = False, integer: bool = False, high: float = np.inf
    ) -> None:
        value = getattr(self, name)
        kind: Any = Integral if integer else Real
        good = isinstance(value, kind) and not isinstance(value, bool)
        if not (good and (low < value if strict else low <= value) and value <= high):
            expected = f"{'an integer' if integer else 'a number'} {'>' if strict else '>='} {low:g}"
            if high < np.inf:
                expected += f" and <= {high:g}"
            raise ValueError(
                f"The '{name}' parameter of {type(self).__name__} must be {expected}. Got {value!r} instead."
            )

    def _width(self, q: int, default: int) -> int:
        """Number of columns of the result, from a space of q dimensions."""
        who: Any = self
        if who.n_components is None:
            return min(default, q)
        self._check_number("n_components", low=1, high=q, integer=True)
        return int(who.n_components)

    def _warn_of_early_end(self) -> None:
        who: Any = self
        warn_user(
            f"{type(self).__name__} reached max_iter={who.max_iter} before tol={who.tol:g}; raise one of them.",
            ConvergenceWarning,
        )


def read_links(learner: MetricLearner, X: Any, table: np.ndarray, constraints: Any) -> Any:
    """Links by row number of the table; a DataFrame X may hold the names of its objects."""
    who = type(learner).__name__
    if constraints is None or not hasattr(constraints, "for_table"):
        raise TypeError(f"{who} learns from links: fit(X, constraints=PairwiseConstraints...). Got {constraints!r}.")
    return constraints.for_table(X if hasattr(X, "columns") else table)


def refuse_without_gaps(learner: MetricLearner, apart: np.ndarray) -> None:
    """Cannot-links (n_cannot_links, q) must be there and have a length."""
    if not apart.any():
        raise ValueError(
            f"{type(learner).__name__} needs a cannot-link between objects that differ: without one the best metric "
            "is zero."
        )


def read_labels(learner: MetricLearner, y: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows whose label is known, those labels as numbers, and the classes in order; -1, None and NaN are not known."""
    import pandas as pd

    who = type(learner).__name__
    if y is None:
        raise ValueError(
            f"{who} learns from labels: fit(X, y), with -1 for rows whose label is not known; it "
            "requires y to be passed, but the target y is None. PCCA, KPCCA, LSI and DMLeig learn from links."
        )
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(f"{who} needs one label for each of {n_samples} rows. Got an array of shape {labels.shape}.")
    known = np.flatnonzero(~pd.isna(labels) & (labels != -1))
    classes, label = np.unique(labels[known], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{who} needs labels of two classes or more. Got {len(classes)} class{'es' * (len(classes) == 0)} in "
            f"{len(known)} labelled rows."
        )
    return known, label, classes
