r"""Stepwise averaging of sufficient statistics, for rows that come in batches and are not kept.

.. math::
    \hat s_k = (1 - \gamma_k)\, \hat s_{k-1} + \gamma_k\, \bar s(\text{batch}_k; \theta_{k-1}), \qquad
    \theta_k = M(\hat s_k), \qquad \gamma_k = (n_k / N_k)^{\kappa}

with :math:`\bar s` the mean of the statistics over a batch of weight :math:`n_k`, and :math:`N_k` the weight of all
rows so far: :math:`k^{-\kappa}` for batches of one size [1]_. With :math:`\kappa` in (0.5, 1] it comes to the points
where EM, or the descent of a c-means [2]_, would rest.

References
----------
.. [1] O. Cappé, E. Moulines. On-line expectation-maximization algorithm for latent data models. Journal of the Royal
   Statistical Society B 71(3):593-613, 2009.
.. [2] J. Mairal. Incremental majorization-minimization optimization with application to large-scale machine learning.
   SIAM Journal on Optimization 25(2):829-855, 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

KAPPA = 0.75


class RunningMean(NamedTuple):
    """Averages of some statistics, and the number of batches and the weight of the rows that they are of."""

    parts: tuple[np.ndarray, ...]
    total: float
    n_steps: int = 1

    @classmethod
    def of(cls, sums: tuple[np.ndarray, ...], weight: float) -> RunningMean:
        """Of the first rows, by the sums over them."""
        return cls(tuple(part / weight for part in sums), weight)

    def add(self, sums: tuple[np.ndarray, ...], weight: float, kappa: float = KAPPA) -> RunningMean:
        """With the sums over a batch of that weight.

        Examples
        --------
        The second of two batches of one size, with κ = 1: the plain mean.

        >>> RunningMean.of((np.array([6.0]),), 2).add((np.array([10.0]),), 2, kappa=1).parts
        (array([4.]),)
        """
        total = self.total + weight
        step = (weight / total) ** kappa
        parts = tuple((1 - step) * kept + step * (part / weight) for kept, part in zip(self.parts, sums, strict=True))
        return RunningMean(parts, total, self.n_steps + 1)

    @property
    def sums(self) -> tuple[np.ndarray, ...]:
        """What the statistics of all rows would add up to."""
        return tuple(self.total * part for part in self.parts)
