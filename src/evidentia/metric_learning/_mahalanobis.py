r"""Metrics :math:`\|x\|_A^2 = x^T A x` that keep must-links short while cannot-links stay long."""

from __future__ import annotations

import numpy as np

from evidentia._parameters import Number, param
from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning._links import LinkLearner
from evidentia.solvers.coordinates import deviations


class MahalanobisLearner(LinkLearner):
    """Base of the learners of a full matrix A; a subclass gives ``_solve``, in scaled columns."""

    prior: float = param(
        Number(low=0),
        """The table as a whole counts as this many must-links whose scatter is that of two random rows. Zero is the
        problem of [1]_, which has a solution only when must-links go in every direction.""",
        default=1.0,
    )

    attributes = {
        "metric_": "ndarray of shape (n_features, n_features)\nA, scaled so that the total variance of the table stays "
        "what it is.",
        "components_": "ndarray of shape (n_features, n_features)\nSymmetric root of A: ``transform(X)`` is "
        "``X @ components_``.",
    }

    def _learn(self, table: np.ndarray, links: PairwiseConstraints) -> None:
        moved = table - table[0]  # a constant column is zero then, not the rounding of its mean
        deviation = deviations(moved)
        centered = moved - moved.mean(axis=0)
        rows = centered / deviation
        together, apart = (rows[pairs[:, 0]] - rows[pairs[:, 1]] for pairs in (links.must_link, links.cannot_link))
        self._refuse_without_gaps(apart)
        scatter = (links.certainty[links.must][:, None] * together).T @ together
        covariance = rows.T @ rows / len(rows)
        scatter = scatter + self.prior * 2 * covariance
        if np.linalg.matrix_rank(scatter, hermitian=True) < np.linalg.matrix_rank(covariance, hermitian=True):
            raise ValueError(
                f"The {len(together)} must-links leave out some direction, so no metric is best. "
                "Give more of them, or a prior above 0."
            )
        root = self._solve(scatter, apart, links.certainty[~links.must]) / deviation[:, None]
        root[~moved.any(axis=0)] = 0.0  # a constant column has no unit
        with np.errstate(over="ignore"):
            metric = root @ root.T
            metric *= np.square(centered).sum() / np.square(centered @ root).sum()
        if not np.isfinite(metric).all():
            raise ValueError(
                f"Columns of X whose deviations go from {deviation.min():g} to {deviation.max():g} need a metric that "
                f"doubles do not carry. Scale the columns before {type(self).__name__}, or drop those that hardly vary."
            )
        values, vectors = np.linalg.eigh(metric)
        self.metric_ = metric
        self._publish_map((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)

    def _solve(self, scatter: np.ndarray, apart: np.ndarray, certainty: np.ndarray) -> np.ndarray:
        """A root of the best A, up to its scale, from the must-links' scatter and the cannot-links."""
        raise NotImplementedError
