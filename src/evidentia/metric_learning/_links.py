"""Learning from links, step by step: a map, or the whole matrix of a metric."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from evidentia._base import WAY, publish_run
from evidentia._data import Data
from evidentia._parameters import Integer, Number, param
from evidentia._warnings import warn_user
from evidentia.constraints import PairwiseConstraints
from evidentia.methods import Method
from evidentia.metric_learning._base import MetricLearner
from evidentia.rows.source import ArrayRows
from evidentia.solvers.callbacks import report_iteration
from evidentia.solvers.coordinates import deviations
from evidentia.solvers.descent import InterruptedFit, Run

CHECKS_THAT_FIT = """
check_array_api_input check_dict_unchanged check_dont_overwrite_parameters check_dtype_object check_estimators_dtypes
check_estimators_fit_returns_self check_estimators_nan_inf check_estimators_overwrite_params
check_estimators_pickle check_f_contiguous_array_estimator check_fit2d_1feature check_fit2d_predict1d
check_fit_check_is_fitted check_fit_idempotent check_fit_score_takes_y check_methods_sample_order_invariance
check_methods_subset_invariance check_n_features_in check_n_features_in_after_fitting
check_pipeline_consistency check_positive_only_tag_during_fit check_readonly_memmap_input
check_transformer_data_not_an_array check_transformer_general check_transformer_n_iter
check_transformer_preserve_dtypes
"""
# Given links all of them pass, as a test shows by a subclass that makes links of labels.
WITHOUT_LINKS = dict.fromkeys(CHECKS_THAT_FIT.split(), "It learns from links, and the check gives it none.")
learner_from_links = partial(
    Method, guide="metric-learning", takes=("links",), number=(), learner=True, exceptions=WITHOUT_LINKS
)


class LinkLearner(MetricLearner):
    """Base of the learners from links; a subclass gives ``_learn``, which ends with :meth:`_publish_run`."""

    max_iter: int = param(Integer(low=1), "Most iterations.", default=1000)

    attributes = {
        "constraints_": "PairwiseConstraints\nThe links by row number.",
        "criterion_": f"float\nWhat was {WAY} (see above).",
        "criterion_trace_": "ndarray\nThe criterion at the start and after each iteration.",
        "n_iter_": "int",
        "converged_": "bool\nWhether the search came to rest before ``max_iter``.",
    }

    def _fit(self, data: Data[ArrayRows], y: Any) -> None:
        self.constraints_ = data.constraints
        self._learn(data.table, data.constraints)

    def _learn(self, table: np.ndarray, links: PairwiseConstraints) -> None:
        raise NotImplementedError

    def _refuse_without_gaps(self, apart: np.ndarray) -> None:
        """Cannot-links (n_cannot_links, q) must be there and have a length."""
        if not apart.any():
            raise ValueError(
                f"{type(self).__name__} needs a cannot-link between objects that differ: without one the best metric "
                "is zero."
            )

    def _publish_run(self, run: Run, scale: float = 1.0) -> None:
        publish_run(self, run, scale)
        if run.interrupted:
            warn_user(f"{type(self).__name__} was interrupted; the metric so far is kept.", InterruptedFit)
        elif not run.converged:
            warn_user(
                f"{type(self).__name__} reached max_iter={self.max_iter} before it came to rest; raise max_iter or "
                "the tolerance.",
                ConvergenceWarning,
            )


def quasi_newton(
    value_and_gradient: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    max_iter: int,
    loss_tol: float = 0.0,
    gradient_tol: float = 0.0,
) -> Run:
    """L-BFGS on an array of any shape, until the loss falls by less than a share or no slope is steeper than a limit.

    A loss below one counts as one where its fall is compared with it.
    """
    trace, stopped = [value_and_gradient(start)[0]], False

    def evaluate(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = value_and_gradient(flat.reshape(start.shape))
        return value, gradient.ravel()

    def note(intermediate_result: OptimizeResult) -> None:
        nonlocal stopped
        trace.append(float(intermediate_result.fun))
        stopped = report_iteration()
        if stopped:
            raise StopIteration

    found = minimize(
        evaluate,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=note,
        options={"maxiter": max_iter, "maxfun": 30 * max_iter, "ftol": loss_tol, "gtol": gradient_tol},
    )
    converged = not stopped and found.status != 1  # no way down at all is an end too
    return Run(found.x.reshape(start.shape), np.array(trace), converged, stopped)


# -- a full matrix -----------------------------------------------------------------------------------------------------


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
