"""Fuzzy c-means (Bezdek, 1981): evidential c-means on single clusters."""

from __future__ import annotations

from evidentia import _streaming
from evidentia._data import Data
from evidentia.methods import Method
from evidentia.prototypes._base import PrototypeClusterer, Solution, single_clusters
from evidentia.prototypes._kernel import descent_step
from evidentia.rows.source import RowSource


class FCM(PrototypeClusterer):
    r"""Fuzzy c-means [1]_: every object belongs to each cluster by a degree.

    .. math::
        J = \sum_i \sum_k u_{ik}^{\beta} \|x_i - v_k\|^2, \qquad \sum_k u_{ik} = 1

    The degrees are masses on single clusters, so ``partition_.pignistic`` is the fuzzy partition :math:`U`.
    No object is an outlier (see :class:`NoiseClustering`) and no object is ambiguous between clusters (see
    :class:`ECM`).

    Notes
    -----
    An iteration costs two products of n × p by p × c matrices and n c powers, in blocks of rows.

    References
    ----------
    .. [1] J. C. Bezdek. Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum Press, 1981.

    Examples
    --------
    >>> model = FCM(n_clusters=2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.partition_.pignistic.round(2)
    array([[0.99, 0.01],
           [1.  , 0.  ],
           [0.99, 0.01],
           [0.  , 1.  ],
           [0.  , 1.  ]])
    """

    method = Method(
        name="fcm", title="fuzzy c-means", papers=("Bezdek, 1981",), guide="ecm",
        takes=("weights", "rows beyond memory"),
        grows="as ECM, *f = c*", memory="*n c*", doubt="memberships",
        limit="far objects look ambiguous, none is an outlier",
    )  # fmt: skip

    partial_fit = _streaming.partial_fit
    _keeps_single = True

    def _fit(self, data: Data[RowSource]) -> None:
        objects = self._read_objects(data.rows)
        starts = self._draw_starts(objects, data.rng)
        criterion = single_clusters(self.n_clusters, self.beta)
        best, runs = self._minimize(descent_step, objects, criterion, starts)  # degrees, then centers, until J rests
        self._store_solution(objects, Solution(best.state, criterion), best, runs)
