r"""The space of a kernel, as far as some objects span it.

With the kernel matrix :math:`C K C = V \Lambda V^T` of m objects, less the means of rows and columns, the rows of
:math:`V \Lambda^{1/2}` are the objects in an orthonormal basis of what their differences span. A linear method that
looks at differences is then the kernel method, its ridge is that of the kernel's space, and a map L of these
coordinates is :math:`x \mapsto k(x) V \Lambda^{-1/2} L` for any row. The coefficients of each column sum to zero, so a
constant may be taken from the kernel: where it is nearly the same for all objects, :math:`k - 1`, or what is above the
least of a row, has the digits that tell them apart.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, additive_chi2_kernel, pairwise_kernels
from sklearn.preprocessing import normalize

from evidentia._parameters import NOTHING, Choice, Number, Predicate, param
from evidentia.metric_learning._base import MetricLearner
from evidentia.solvers.memory import refuse_beyond_memory, row_blocks

NOT_NEGATIVE = ("additive_chi2", "chi2")
FALLING = {"rbf": "sqeuclidean", "laplacian": "cityblock"}  # kernels exp(-gamma d), and d
POWERS = ("poly", "polynomial")
RANK_TOLERANCE = 1e-10  # of the largest eigenvalue: below it, directions are rounding errors
EPS = np.finfo(float).eps  # of the largest entry of the kernel, for each object: as large are rounding errors


def tanh_above_least(inner: np.ndarray, shift: float) -> np.ndarray:
    """``tanh(inner + shift)`` less the least of each row, with all digits where it is nearly one or nearly the same.

    Examples
    --------
    >>> np.tanh([20.0, 21.0]) - 1, tanh_above_least(np.array([[20.0, 21.0]]), 0.0)[0, 1]
    (array([0., 0.]), np.float64(7.34680...e-18))
    """
    least = inner.min(axis=1, keepdims=True)
    return -2 * expit(2 * (inner + shift)) * expit(-2 * (least + shift)) * np.expm1(2 * (least - inner))


def power_above_shift(inner: np.ndarray, shift: float, degree: int) -> np.ndarray:
    r"""``(inner + shift)**degree - shift**degree``, with all digits where `inner` is small.

    .. math:: \sum_{i=1}^{p} \binom{p}{i} s^{p-i} u^i

    Examples
    --------
    >>> (2.0**-60 + 1) ** 3 - 1, power_above_shift(np.array([2.0**-60]), 1.0, 3) * 2.0**60
    (0.0, array([3.]))
    """
    found = np.zeros_like(inner)
    for i in range(degree, 0, -1):
        found = (found + comb(degree, i) * shift ** (degree - i)) * inner
    return found


class KernelLearner(MetricLearner):
    """Base of the learners whose space is that of a kernel, spanned by the objects they know something about."""

    kernel: Any = param(
        Choice(*sorted(PAIRWISE_KERNEL_FUNCTIONS)) | Predicate("a function of two rows", callable),
        "Name of a kernel of scikit-learn, or a function of two rows.",
        default="rbf",
    )
    gamma: Any = param(
        Choice("scale") | Number(above=0),
        r"""Parameter of the kernel: the Gaussian one is :math:`\exp(-\gamma \|x - x'\|^2)`. ``"scale"`` takes the
        inverse of the mean squared distance of two rows, and its root for ``"laplacian"``, which falls with the
        distance itself.""",
        default="scale",
    )
    kernel_params: Any = param(
        Predicate("dict", lambda value: isinstance(value, dict)) | NOTHING,
        'Further parameters of the kernel, such as ``{"degree": 2}``.',
        default=None,
    )

    attributes = {
        "objects_": "ndarray of shape (n_objects, n_features)\nThe rows that it was told something about.",
        "dual_coef_": "ndarray of shape (n_objects, n_components)\n``transform(X)`` is "
        "``kernel(X, objects_) @ dual_coef_``.",
        "gamma_": "float\nThe parameter of the kernel that was used.",
    }

    def _enter(self, table: np.ndarray, objects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of the objects, and the matrix from kernel values to coordinates."""
        if (table == table[0]).all():
            raise ValueError(
                "All rows of X are equal, so there is no metric to learn. Look for columns that were lost."
            )
        refuse_beyond_memory(
            24 * len(objects) ** 2, f"{type(self).__name__} on {len(objects):,} objects", "Give fewer."
        )
        if isinstance(self.gamma, str):
            scale = 2 * float(table.var(axis=0).sum())
            self.gamma_ = 1 / (float(np.sqrt(scale)) if self.kernel == "laplacian" else scale)
        else:
            self.gamma_ = float(self.gamma)
        self.objects_ = table[objects]
        kernel, size = self._kernel(self.objects_)
        rounding = len(kernel) * EPS * size
        kernel -= kernel.mean(axis=0)
        kernel -= kernel.mean(axis=1, keepdims=True)
        values, vectors = np.linalg.eigh(kernel)
        if values[-1] <= rounding:
            raise ValueError(
                f"The kernel {self.kernel!r} of {type(self).__name__} is the same for all {len(objects)} objects that "
                "it was told something about, so there is no metric to learn. Scale X, or take another 'gamma' or "
                "'kernel'."
            )
        kept = values > max(RANK_TOLERANCE * values[-1], rounding)
        vectors, root = vectors[:, kept] - vectors[:, kept].mean(axis=0), np.sqrt(values[kept])
        spread = np.sqrt(values[kept].sum() / len(kernel))
        nowhere = np.zeros((len(kernel), 1))  # the direction that they have in common
        return np.hstack([vectors * (root / spread), nowhere]), np.hstack([vectors / (root * spread), nowhere])

    def _kernel(self, rows: np.ndarray) -> tuple[np.ndarray, float]:
        """Kernel values of rows and the objects, (n, n_objects), up to a constant in each row; what was rounded."""
        params = dict(self.kernel_params or {})
        if not callable(self.kernel):
            params = {"gamma": self.gamma_, **params}
        if self.kernel == "cosine":  # the cosine less one is half the squared distance of rows of length one
            found = -0.5 * cdist(normalize(rows), normalize(self.objects_), "sqeuclidean")
            return found, np.abs(found).max()
        if self.kernel in FALLING:
            found = np.expm1(-params["gamma"] * cdist(rows, self.objects_, FALLING[self.kernel]))
            return found, np.abs(found).max()
        if self.kernel in NOT_NEGATIVE and min(rows.min(), self.objects_.min()) < 0:
            raise ValueError(
                f"The kernel {self.kernel!r} of {type(self).__name__} needs numbers that are not negative, such as "
                "counts, but X holds some. Shift the columns, or take another 'kernel'."
            )
        if self.kernel == "chi2":
            found = np.expm1(params["gamma"] * additive_chi2_kernel(rows, self.objects_))
            return found, np.abs(found).max()
        metric, shift, degree = self.kernel, params.get("coef0", 1), params.get("degree", 3)
        powers = metric in POWERS and isinstance(degree, int) and degree > 0
        if self.kernel == "sigmoid" or powers:
            metric, params = "poly", {**params, "coef0": 0, "degree": 1}  # what tanh, or a power, is taken of
        found = pairwise_kernels(rows, self.objects_, metric=metric, filter_params=True, **params)
        if not np.isfinite(found.sum()):
            raise ValueError(f"The kernel {self.kernel!r} of {type(self).__name__} gave NaN or inf.")
        if self.kernel == "sigmoid":
            above = tanh_above_least(found, shift)
            slope = 4 * expit(2 * (found + shift)) * expit(-2 * (found + shift))
            return above, np.abs(above).max() + np.abs(found * slope).max()
        if powers:
            found = power_above_shift(found, shift, degree)
            if not np.isfinite(found.sum()):
                raise ValueError(f"The kernel {self.kernel!r} of {type(self).__name__} gave NaN or inf.")
        return found, np.abs(found).max()

    def _publish_map(self, matrix: np.ndarray) -> None:
        self.dual_coef_ = matrix
        self._n_features_out = matrix.shape[1]

    def _map(self, table: np.ndarray) -> np.ndarray:
        found = np.empty((len(table), self._n_features_out))
        for block in row_blocks(len(table), len(self.objects_)):
            found[block] = self._kernel(table[block])[0] @ self.dual_coef_
        return found
