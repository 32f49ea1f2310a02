r"""The space of a kernel, as far as some objects span it.

With the kernel matrix :math:`K = V \Lambda V^T` of m objects, the rows of :math:`V \Lambda^{1/2}` are the objects in an
orthonormal basis of their span. A linear method run on them is the kernel method, its ridge is that of the kernel's
space, and a map L of these coordinates is :math:`x \mapsto k(x) V \Lambda^{-1/2} L` for any row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from evidentia.metric_learning._base import MetricLearner
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.memory import refuse_beyond_memory

RANK_TOLERANCE = 1e-10  # of the largest eigenvalue: below it, directions are rounding errors


class KernelLearner(MetricLearner):
    """Base of the learners whose space is that of a kernel, spanned by the objects they know something about."""

    kernel: Any
    gamma: Any
    kernel_params: dict[str, Any] | None

    def _check_kernel(self) -> None:
        who = type(self).__name__
        if not callable(self.kernel) and self.kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            raise ValueError(
                f"The 'kernel' parameter of {who} must be a function of two rows or one of "
                f"{', '.join(map(repr, sorted(PAIRWISE_KERNEL_FUNCTIONS)))}. Got {self.kernel!r} instead."
            )
        if isinstance(self.gamma, str):
            if self.gamma != "scale":
                raise ValueError(f"The 'gamma' parameter of {who} must be 'scale' or a number. Got {self.gamma!r}.")
        else:
            self._check_number("gamma", low=0, strict=True)

    def _enter(self, table: np.ndarray, objects: np.ndarray) -> np.ndarray:
        self._check_kernel()
        variance = float(table.var(axis=0).sum())
        if variance == 0:
            raise ValueError("All rows of X are equal, so there is no metric to learn from them.")
        self.gamma_ = 1 / (2 * variance) if isinstance(self.gamma, str) else float(self.gamma)
        self.objects_ = table[objects]
        refuse_beyond_memory(
            24 * len(objects) ** 2, f"{type(self).__name__} on {len(objects):,} objects", "Give fewer."
        )
        values, vectors = np.linalg.eigh(self._kernel(self.objects_))
        kept = values > RANK_TOLERANCE * values[-1]
        root = np.sqrt(values[kept])
        rows = vectors[:, kept] * root
        spread = np.sqrt(rows.var(axis=0).sum())
        spread = spread if spread > 0 else 1.0
        self._forward = vectors[:, kept] / (root * spread)
        return rows / spread

    def _kernel(self, rows: np.ndarray) -> np.ndarray:
        params = dict(self.kernel_params or {})
        if not callable(self.kernel):
            params = {"gamma": self.gamma_, **params}
        found = pairwise_kernels(rows, self.objects_, metric=self.kernel, filter_params=True, **params)
        if not np.isfinite(found.sum()):
            raise ValueError(f"The kernel {self.kernel!r} of {type(self).__name__} gave NaN or inf.")
        return found

    def _leave(self, root: np.ndarray) -> None:
        self.dual_coef_ = self._forward @ root
        self._n_features_out = root.shape[1]
        del self._forward

    def transform(self, X: Any) -> np.ndarray:
        """Rows whose Euclidean distances are the learned ones, shape (n_samples, n_components)."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        found = np.empty((len(table), self._n_features_out))
        for block in row_blocks(len(table), len(self.objects_)):
            found[block] = self._kernel(table[block]) @ self.dual_coef_
        return found
