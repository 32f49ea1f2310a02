r"""Where the training objects are: a one-class SVM (Schölkopf & Smola, 2002), and its part in the masses.

A network says something about any input. The SVM's output :math:`f(x)` tells how near an input is to the objects it was
trained on: positive inside the region that holds most of them, and -1 (in units of its offset) far from all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import OneClassSVM

from evidentia.solvers.memory import row_blocks

if TYPE_CHECKING:
    from torch import Tensor

LARGEST = 5_000  # rows the SVM is trained on; its time grows with their square
START = (
    np.log(30.0),
    np.log(40.0),
)  # coefficients (10, 40): objects inside the region keep nine tenths of their masses


class Region(NamedTuple):
    """A fitted one-class SVM: support vectors, their weights, and the width of the Gaussian kernel."""

    support: np.ndarray
    weights: np.ndarray
    gamma: float

    def depth(self, rows: np.ndarray) -> np.ndarray:
        """:math:`f(x)` over its offset, shape (n,): above 0 inside, -1 far away."""
        found = np.empty(len(rows))
        for some in row_blocks(len(rows), len(self.support)):
            kernel = np.exp(-self.gamma * cdist(rows[some], self.support, "sqeuclidean"))
            found[some] = kernel @ self.weights - 1
        return found


def default_gamma(rows: np.ndarray) -> float:
    """One over the total variance of the rows, which is half the mean squared distance of two of them."""
    return 1 / (float(rows.var(axis=0).sum()) or 1.0)


def find_region(rows: np.ndarray, nu: float, gamma: float, rng: np.random.RandomState) -> Region:
    """The region that holds about ``1 - nu`` of the rows."""
    if len(rows) > LARGEST:
        rows = rows[rng.choice(len(rows), LARGEST, replace=False)]
    try:
        machine = OneClassSVM(nu=nu, gamma=gamma).fit(rows)
    except ValueError as error:  # its sums are not finite
        raise ValueError(_no_region(nu, gamma)) from error
    offset = -float(machine.intercept_[0])
    if not offset > 0:
        raise ValueError(_no_region(nu, gamma))
    return Region(machine.support_vectors_, machine.dual_coef_[0] / offset, float(gamma))


def _no_region(nu: float, gamma: float) -> str:
    return (
        f"NNEVCLUS found no region that holds most rows of X, with svm_gamma={gamma:g} and nu={nu:g}. Take "
        "svm_gamma=None for a width of the rows' own, or outliers=False."
    )


def coefficients(raw: Tensor) -> tuple[Tensor, Tensor]:
    r""":math:`\beta_0` and :math:`\beta_1` of (13b) from two free numbers.

    As :math:`\beta_1 > 0`, what is farther out has more mass on the empty set; as :math:`\beta_0 < \beta_1`, an object
    far from all others, where f is -1, has at least :math:`1 / (1 + \log 2)`, or 0.59, of its mass there.
    """
    gap, beta_1 = raw.exp()
    return beta_1 - gap, beta_1


def discount(masses: Tensor, depth: Tensor, raw: Tensor, empty: int) -> Tensor:
    r"""(12), (13): :math:`m^* = \gamma m + (1 - \gamma) m_\varnothing` with :math:`\gamma = \eta / (1 + \eta)`."""
    beta_0, beta_1 = coefficients(raw)
    value = beta_0 + beta_1 * depth
    eta = value.clamp(min=0) + (-value.abs()).exp().log1p()  # log(1 + exp(value)) without overflow
    kept = (eta / (1 + eta))[:, None]
    nothing = masses.new_zeros(masses.shape[1])
    nothing[empty] = 1
    return kept * masses + (1 - kept) * nothing
