"""The conflict of two mass functions that a dissimilarity asks for: what EVCLUS and NN-EVCLUS render."""

from __future__ import annotations

from typing import Any

import numpy as np

CERTAIN = 0.05  # plausibility of "same cluster" left to two objects at distance delta0


def default_quantile(n_clusters: int) -> float:
    """Quantile of the dissimilarities that ``delta0`` shall be: 0.9 for few clusters, less for many.

    Of c clusters alike, one pair in c lies within a cluster; a far larger quantile would ask objects of neighboring
    clusters to be together.
    """
    return min(0.9, 3.6 / n_clusters)


def delta_star(dissimilarity: Any, delta0: float) -> np.ndarray:
    r"""Degree of conflict that a dissimilarity asks for, (6) of [1]_.

    .. math:: \varphi(\delta) = 1 - \exp(-\gamma \delta^2), \qquad \gamma = -\log 0.05 / \delta_0^2

    Two objects :math:`\delta_0` or more apart have plausibility 0.05 at most of sharing a cluster.

    Parameters
    ----------
    dissimilarity : array-like
    delta0 : float

    References
    ----------
    .. [1] T. Denœux. NN-EVCLUS: neural network-based evidential clustering. Information Sciences 572:297-330, 2021.

    Examples
    --------
    >>> delta_star([0.0, 1.0, 2.0, 4.0], delta0=2.0).round(3)
    array([0.   , 0.527, 0.95 , 1.   ])
    """
    with np.errstate(over="ignore"):  # farther than doubles can say is certain too
        return -np.expm1(np.log(CERTAIN) * np.square(np.asarray(dissimilarity, dtype=float) / delta0))
