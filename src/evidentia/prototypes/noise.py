"""Noise clustering (Davé, 1991): fuzzy c-means with one more cluster, as far from every object."""

from __future__ import annotations

from typing import Any

from evidentia import _streaming
from evidentia._base import RHO
from evidentia._data import Data
from evidentia._parameters import param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._base import PrototypeClusterer, Solution
from evidentia.prototypes._kernel import Criterion, descent_step
from evidentia.rows.source import RowSource


class NoiseClustering(PrototypeClusterer):
    r"""Fuzzy c-means that may call an object an outlier [1]_.

    .. math::
        J = \sum_i \Big[ \sum_k u_{ik}^{\beta} \|x_i - v_k\|^2 + \rho^2 u_{i*}^{\beta} \Big], \qquad
        \sum_k u_{ik} + u_{i*} = 1

    The degree :math:`u_{i*}` of "noise" is the mass of the empty set, ``partition_.empty``.

    Attributes
    ----------
    rho_ : float
        Distance to the noise that was used.

    References
    ----------
    .. [1] R. N. Davé. Characterization and detection of noise in clustering.
       Pattern Recognition Letters 12(11):657-664, 1991.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [90.0]]
    >>> model = NoiseClustering(n_clusters=2, rho=5, random_state=0).fit(X)
    >>> model.partition_.outliers(), model.partition_.empty.round(2)
    (array([5]), array([0.04, 0.  , 0.04, 0.01, 0.01, 0.99]))
    """

    method = Method(
        name="noise", title="fuzzy c-means with a noise cluster",
        papers=("Davé, *Pattern Recognition Letters* 12, 1991",), guide="ecm",
        takes=("weights", "rows beyond memory"), empty_set=True,
        grows="as ECM, *f = c + 1*", memory="*n c*", doubt="memberships, outliers", limit='cannot say "between two"',
    )  # fmt: skip

    rho: Any = param(
        RHO,
        """Distance of every object to the noise, in the units of X (often called delta): the smaller, the more
        outliers. ``"auto"`` is three times the root mean squared distance to the nearest center of a k-means
        solution.""",
        default="auto",
    )

    partial_fit = _streaming.partial_fit
    _keeps_single = True

    def _fit(self, data: Data[RowSource]) -> None:
        objects = self._read_objects(data.rows)
        starts = self._draw_starts(objects, data.rng)
        rho = self._given_rho(objects) or self._kmeans_rho(objects, starts, data.rng)
        criterion = Criterion(FocalSets(self.n_clusters, "singletons"), 1.0, self.beta, rho)  # the empty set is noise
        best, runs = self._minimize(descent_step, objects, criterion, starts)
        self._store_solution(objects, Solution(best.state, criterion), best, runs)
