r"""EM for Gaussian mixtures, for many weightings of the same rows at once.

With the features :math:`\phi(x) = (1, x, \mathrm{vech}(xx^T))` a log density is linear,
:math:`\log \pi_k N(x; \mu_k, \Sigma_k) = \theta_k^T \phi(x)`: the densities of all components of all replicates are one
product :math:`\Theta\Phi^T`, and the statistics that the M-step needs are another, :math:`(w \circ r)\,\Phi`. Rows
are whitened first, so that the squares lose no digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from evidentia.solvers.coordinates import RANK_TOLERANCE, Coordinates
from evidentia.solvers.small_matrices import inverses

TILE = 1 << 17  # numbers in a tile of replicates × components × rows: one megabyte, which stays in the cache
ROWS = 1024  # rows in a tile, at most
KEPT_FEATURES = 1 << 23  # numbers: features of a larger table are made anew for each pass
SMALLEST_SHARE = 0.5  # of one row: a component that holds less has vanished

CovarianceRule = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], np.ndarray]


class MixtureParameters(NamedTuple):
    """Gaussian mixtures along the leading axis: (m, c), (m, c, d) and (m, c, d, d)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def __getitem__(self, which):  # type: ignore[override]
        return MixtureParameters(*(part[which] for part in tuple(self)))
