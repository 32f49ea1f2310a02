"""Gustafson-Kessel clustering (1979): fuzzy c-means with a metric for each cluster."""

from __future__ import annotations

from evidentia import _streaming
from evidentia._data import Data
from evidentia.methods import WEIGHT_CHECKS, Method
from evidentia.prototypes._base import PrototypeClusterer, Solution, single_clusters
from evidentia.prototypes._kernel import descent_step
from evidentia.rows.source import RowSource


class GustafsonKessel(PrototypeClusterer):
    r"""Fuzzy c-means whose clusters have their own orientation and elongation [1]_.

    .. math::
        J = \sum_i \sum_k u_{ik}^{\beta} (x_i - v_k)^T S_k (x_i - v_k), \qquad \det S_k = 1, \qquad
        S_k = \det(F_k)^{1/p} F_k^{-1}

    with :math:`F_k` the fuzzy covariance of cluster k. The result does not depend on the units of the columns.

    Attributes
    ----------
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
        Fuzzy covariances :math:`F_k`.
    cluster_metrics_ : ndarray of shape (n_clusters, n_features, n_features)
        The matrices :math:`S_k`; a column that is constant in the data has no part in them.

    Notes
    -----
    A share of 1e-8 of the variance of the table is mixed into the covariances, so a cluster may be flat or hold fewer
    objects than columns; its part in the criterion is as small. An iteration costs n c p² operations in blocks of rows.

    References
    ----------
    .. [1] D. E. Gustafson, W. C. Kessel. Fuzzy clustering with a fuzzy covariance matrix.
       IEEE Conference on Decision and Control, 761-766, 1979.

    Examples
    --------
    Two crossing lines, which share their center; only their directions tell them apart.

    >>> import numpy as np
    >>> t = np.linspace(-1, 1, 21) * [[1.0], [1.0]]
    >>> X = np.vstack([t.T * [1, 0.01], t.T * [0.01, 1]]) + 0.001 * np.random.default_rng(0).normal(size=(42, 2))
    >>> model = GustafsonKessel(n_clusters=2, init="random", random_state=0).fit(X)
    >>> len(set(model.labels_[[0, 1, 19, 20]])), len(set(model.labels_[[0, 21]]))
    (1, 2)
    """

    method = Method(
        name="gustafson-kessel", title="fuzzy c-means with a metric per cluster",
        papers=("Gustafson & Kessel, *CDC* 1979",), guide="ecm",
        takes=("weights", "rows beyond memory"), grows="as ECM, *f = c*",
        memory="*n c*", doubt="memberships", limit="far objects look ambiguous, none is an outlier",
        exceptions=dict.fromkeys(WEIGHT_CHECKS, "on fifteen rows of ten columns rounding shows in the eighth digit"),
    )  # fmt: skip

    adaptive = True

    partial_fit = _streaming.partial_fit
    _keeps_single = True

    def _fit(self, data: Data[RowSource]) -> None:
        objects = self._read_objects(data.rows)
        starts = self._draw_starts(objects, data.rng)
        criterion = single_clusters(self.n_clusters, self.beta)
        best, runs = self._minimize(descent_step, objects, criterion, starts)  # degrees, centers, then covariances
        self._store_solution(objects, Solution(best.state, criterion), best, runs)
