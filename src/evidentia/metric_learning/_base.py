"""What the metric learners share: a linear map of unit-free columns, and what labels say."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from evidentia._base import MethodBase, running
from evidentia._checks import check_table
from evidentia._data import Data, read_data
from evidentia._parameters import NOTHING, Integer, fitted
from evidentia.rows.source import ArrayRows
from evidentia.solvers.coordinates import unit_free

WIDTH = Integer(low=1) | NOTHING


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MethodBase):
    """Base of the transformers ``X @ components_``.

    A learner enters a space with :meth:`_enter`, finds a map of that space, and leaves with :meth:`_publish_map`. Here
    the space holds the columns, scaled by their deviation and so that the total variance is one.
    """

    _n_features_out: int = fitted()

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, use_rep: str | None = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Links by name need a DataFrame whose index holds the names.
        y : array-like of shape (n_samples,), optional
            For the learners from labels: labels of any kind; -1, None and NaN mark rows whose label is not known.
        constraints : PairwiseConstraints, optional
            For the learners from links: at least one cannot-link. ``PairwiseConstraints.from_labels`` makes links of
            labels.
        use_rep : str, optional
            The part of an AnnData or MuData object to learn from.
        """
        self.check_parameters()
        given = {"sample_weight": None, "constraints": constraints, "partial_labels": None, "checkpoint": None}
        with running(self, X, y, given):
            data = read_data(self, X, use_rep, **given)
            if constraints is None and "links" in self.method.takes:
                raise TypeError(
                    f"{type(self).__name__} learns from links: fit(X, constraints=PairwiseConstraints...). Got None."
                )
            self._fit(data, y)
        return self

    def _read_rows(self, X: Any) -> ArrayRows:
        return ArrayRows(self._read_table(X, reset=True))

    def _fit(self, data: Data[ArrayRows], y: Any) -> None:
        """Learn the map, and leave it by :meth:`_publish_map`."""
        raise NotImplementedError

    def _enter(self, table: np.ndarray, objects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of some rows, (n_objects, q), learned from all of them, and the matrix that leads there."""
        coordinates = unit_free(table, kind="diag")
        forward = coordinates.forward / np.sqrt(coordinates.forward.shape[1])
        return (table[objects] - coordinates.origin) @ forward, forward

    def _publish_map(self, matrix: np.ndarray) -> None:
        """The way from the table to the result, of shape (n_features, n_components)."""
        self.components_ = matrix
        self._n_features_out = matrix.shape[1]

    def transform(self, X: Any) -> np.ndarray:
        """Rows whose Euclidean distances are the learned ones, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return self._map(self._read_table(self._new_table(X), reset=False))

    def _read_table(self, X: Any, *, reset: bool) -> np.ndarray:
        """Checked rows in one order of memory, as the order decides how sums are rounded."""
        return np.ascontiguousarray(check_table(self, X, reset=reset))

    def _map(self, table: np.ndarray) -> np.ndarray:
        return table @ self.components_

    def _width(self, n_components: int | None, q: int, default: int) -> int:
        """Number of columns of the result, from a space of q dimensions."""
        if n_components is None:
            return min(default, q)
        if n_components > q:
            raise ValueError(
                f"The 'n_components' parameter of {type(self).__name__} must be at most {q}, the number of directions "
                f"that there are. Got {n_components!r} instead."
            )
        return int(n_components)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = "labels" in self.method.takes
        return tags


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
            f"{len(known)} labeled rows."
        )
    return known, label, classes
