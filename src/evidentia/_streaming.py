r"""``partial_fit``: rows that come in batches and are not kept.

It is a method of those whose fit needs sums over the rows alone, with a given number of clusters: a class takes
``partial_fit`` into its body, with ``_keeps_single = True``, as what is added up is added up in doubles, chunk by
chunk. It gives ``_begin_stream(rows, rng)``, a whole fit to the first rows and the state that goes on from it, and
``_follow_stream(rows, kappa)``, the state after a batch; both publish the clusters.

Statistics are averaged step by step,

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

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from evidentia import _checks
from evidentia._objects import row_names
from evidentia._parameters import Number
from evidentia.rows.source import ArrayRows
from evidentia.rows.tables import as_table
from evidentia.solvers.threads import limit_threads

FIRST_ROWS = 5  # for each cluster, at least, in the first batch
KAPPA = 0.75
STEP = Number(above=0.5, high=1)


def partial_fit(
    self: Any, X: Any, y: Any = None, *, sample_weight: Any = None, use_rep: str | None = None, kappa: float = KAPPA
) -> Any:
    r"""Go on with a batch of new rows, which need not be kept.

    The first call is a whole fit to its rows: coordinates, focal sets, the model and the distance to the empty set
    stay what they are then, so that it should hold some hundred rows at least, of every group. Each later one is a
    step: the statistics of its rows are averaged with those so far [1]_, and centers and shapes follow.
    ``partition_`` and ``labels_`` are of the last batch; criteria and what was tried stay those of the first.
    ``fit`` begins anew, and so does the first call after it. A saved model goes on where it was.

    Batches must be mixed: of rows sorted by their groups, the first batch has one group, and the clusters found in
    it cannot follow the groups to come. No warning is given then; shuffle the rows first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : None
        Ignored.
    sample_weight : array-like of shape (n_samples,), optional
        An object of weight two counts as two objects.
    use_rep : str, optional
        The part of an AnnData or MuData object, as for ``fit``.
    kappa : float in (0.5, 1]
        A batch counts by its share of all rows so far to this power: the lower, the sooner old rows are forgotten.

    References
    ----------
    .. [1] O. Cappé, E. Moulines. On-line expectation-maximization algorithm for latent data models. Journal of the
       Royal Statistical Society B 71(3):593-613, 2009.
    """
    estimator_name, begun = type(self).__name__, self._stream is not None
    self.check_parameters()
    if isinstance(self.n_clusters, str):
        raise ValueError(
            f"partial_fit of {estimator_name} needs the number of clusters, and n_clusters is "
            f"{self.n_clusters!r}. Find it by "
            f"fit on a sample of the rows, then {estimator_name}(n_clusters=...).partial_fit(...)."
        )
    if not STEP.accepts(kappa):
        raise ValueError(
            f"'kappa' of partial_fit of {estimator_name} must lie above 0.5 and not above 1. Got {kappa!r}."
        )
    with limit_threads(self.n_jobs):
        X, self._use_rep = as_table(X, use_rep), use_rep
        table = self._check_table(X, reset=not begun)
        rows = ArrayRows(table, _checks.check_weight(self, sample_weight, len(table), X))
        if begun:
            self._stream = self._follow_stream(rows, kappa)
        else:
            if len(table) < FIRST_ROWS * self.n_clusters:
                raise ValueError(
                    f"The first call of partial_fit of {estimator_name} finds the clusters, and {len(table)} rows are "
                    f"too few for {self.n_clusters} of them. Collect {FIRST_ROWS * self.n_clusters} or more, better "
                    "some hundred."
                )
            self._stream = self._begin_stream(rows, check_random_state(self.random_state))
        self._publish(self._masses(table), row_names(X))
    return self


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
