r"""Metrics :math:`\|x\|_A^2 = x^T A x` that keep must-links short while cannot-links stay long."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from evidentia.metric_learning._base import MetricLearner, read_links, refuse_without_gaps
from evidentia.solvers.threads import one_blas_thread


class MahalanobisLearner(MetricLearner):
    """Base of the learners of a full matrix A; a subclass gives ``_solve``, in scaled columns."""

    prior: float

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, constraints: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Links by name need a DataFrame whose index holds the names.
        y : None
            Ignored; ``PairwiseConstraints.from_labels`` makes links of labels.
        constraints : PairwiseConstraints
            At least one cannot-link and, without a prior, must-links in every direction.
        """
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_params()
        links = read_links(self, X, table, constraints)
        deviation = table.std(axis=0)
        deviation[deviation == 0] = 1
        rows = (table - table.mean(axis=0)) / deviation
        together, apart = (rows[pairs[:, 0]] - rows[pairs[:, 1]] for pairs in (links.must_link, links.cannot_link))
        refuse_without_gaps(self, apart)
        scatter = (links.certainty[links.must][:, None] * together).T @ together
        covariance = rows.T @ rows / len(rows)
        scatter = scatter + self.prior * 2 * covariance
        if np.linalg.matrix_rank(scatter, hermitian=True) < np.linalg.matrix_rank(covariance, hermitian=True):
            raise ValueError(
                f"The {len(together)} must-links leave out some direction, so no metric is best. "
                "Give more of them, or a prior above 0."
            )
        root = self._solve(scatter, apart, links.certainty[~links.must]) / deviation[:, None]
        metric = root @ root.T
        centred = table - table.mean(axis=0)
        metric *= np.square(centred).sum() / np.square(centred @ root).sum()
        values, vectors = np.linalg.eigh(metric)
        self.metric_ = metric
        self.components_ = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        self._n_features_out = table.shape[1]
        return self

    def _check_params(self) -> None:
        self._check_number("prior", low=0)
        self._check_number("max_iter", low=1, integer=True)
        self._check_number("tol", low=0)

    def _solve(self, scatter: np.ndarray, apart: np.ndarray, certainty: np.ndarray) -> np.ndarray:
        """A root of the best A, up to its scale, from the must-links' scatter and the cannot-links."""
        raise NotImplementedError
