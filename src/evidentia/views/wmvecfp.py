"""Multi-view evidential c-means with weights of the columns too (Liu, Huang, Letchmunan & Deveci, 2024)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia._parameters import Number, param
from evidentia.methods import Method
from evidentia.views._kernel import ViewCriterion, WeightedCenters
from evidentia.views.reading import Views
from evidentia.views.wmvec import FAMILIES, WMVEC, ViewTables


class WMVECFP(WMVEC):
    r"""WMVEC with a weight for every column of every view [1]_.

    .. math::
        J = \sum_h r_h F_h + \lambda \sum_h r_h \ln (V r_h) + \gamma \sum_h \sum_p w_{hp} \ln (p_h w_{hp}), \qquad
        F_h = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta}
              \sum_p w_{hp} (x_{ip}^h - \bar v_{Ap}^h)^2 + \rho_h^2 m_i(\varnothing)^{\beta} \Big]

    The weights of a view sum to one, as do those of the columns of each view: columns that say nothing about the
    clusters fade.

    Notes
    -----
    Columns are standardized, and those that are constant have weight zero: a column without spread would fit any
    clusters, and take all weight. :math:`w_{hp} \propto \exp(-r_h E_{hp} / \gamma)` with :math:`E_{hp}` the scatter of
    the column; :math:`\gamma` is ``gamma`` times :math:`n / V`, so that it grows with the number of objects as
    :math:`\lambda` does, see :class:`WMVEC`, which has all else too.

    *Published and ours.* The distances, the masses, the centers and the form of both kinds of weights are those of the
    authors' program; the article was not compared. That program has other powers of :math:`r_h` in the sum by which it
    stops; here every step minimizes the J above. Standardized columns, weight zero for constant ones, ``gamma`` in
    units of n / V, and entropies counted from equal weights are ours, as is all that :class:`WMVEC` says is.

    References
    ----------
    .. [1] Z. Liu, H. Huang, S. Letchmunan, M. Deveci. Adaptive weighted multi-view evidential clustering with feature
       preference. Knowledge-Based Systems 294:111770, 2024.

    Examples
    --------
    The second column of the first view is noise.

    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(60) % 2
    >>> first, second = rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 6 * group[:, None]
    >>> first[:, 0] += 6 * group
    >>> model = WMVECFP(2, random_state=0).fit([first, second])
    >>> model.feature_weights_["0"].round(1), model.feature_weights_["1"].round(1)
    (array([0.9, 0.1]), array([0.5, 0.5]))
    """

    method = Method(
        name="wmvecfp", title="evidential c-means on several tables, with weights of views and of their columns",
        papers=("Liu et al., *Knowledge-Based Systems* 294, 2024",), guide="views", reads=("views",),
        takes=("weights",), families=FAMILIES, empty_set=True, grows="*n p f*", memory="*n (p + f)*",
        doubt="sets, outliers, views at odds", limit="columns are standardized",
    )  # fmt: skip

    _by_column = True
    standardize = True  # always

    gamma: float = param(
        Number(above=0),
        r"""How even the weights of the columns of a view are, :math:`\gamma V / n`: a small number gives all
        weight to a single column, a large one the same to all.""",
        default=0.25,
    )

    attributes = {
        "feature_weights_": "dict of ndarray\nHow much each column counts in its view, (n_columns of the view,); they "
        "sum to one.",
    }

    def _evenness_of_columns(self, unit: float) -> float | None:
        return self.gamma * unit

    def _store_solution(
        self, state: WeightedCenters, problem: ViewCriterion, tables: ViewTables, views: Views
    ) -> np.ndarray:
        masses = super()._store_solution(state, problem, tables, views)
        self.feature_weights_: dict[str, Any] = {}
        for h, (name, scale) in enumerate(zip(views.names, self._scales)):
            weights = np.zeros(len(scale.origin))
            weights[scale.kept] = state.groups[tables.layout.columns(h)]
            self.feature_weights_[name] = weights / weights.sum()
        return masses
