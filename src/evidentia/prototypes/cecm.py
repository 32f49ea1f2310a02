"""Constrained evidential c-means (Antoine, Quost, Masson & Denœux, 2012)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidentia._base import ALPHA, RHO, focal_families
from evidentia._parameters import BOOLEAN, Kind, Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.metric_learning import learn_metric
from evidentia.prototypes._base import Objects
from evidentia.prototypes._constrained import ConstrainedClusterer
from evidentia.prototypes._kernel import Columns, Criterion, Prototypes
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import ArrayRows, RowSource

RHO_FACTOR = 10.0  # of the largest distance from the mean: at least five times the largest distance of two objects


class Farthest(NamedTuple):
    """The largest distance of an object from the mean."""

    distance: float

    def __add__(self, other: Farthest) -> Farthest:  # type: ignore[override]
        return max(self, other)


def farthest(chunk: Columns) -> Farthest:
    return Farthest(float(np.sqrt(np.einsum("qi,qi->i", chunk.rows, chunk.rows).max())))


class CECM(ConstrainedClusterer):
    r"""Evidential c-means that listens to what is known about pairs of objects [1]_.

    .. math::
        J = (1 - \xi) \frac{1}{n f} \sum_i \Big[ \sum_{A \ne \varnothing} |A|^{\alpha} m_i(A)^2 d_{iA}^2
            + \rho^2 m_i(\varnothing)^2 \Big]
            + \frac{\xi}{|\mathcal M| + |\mathcal C|} \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\bar\theta)
            + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\theta) \Big]

    with :math:`pl_{ij}(\theta)` the plausibility that objects i and j share a cluster, :math:`pl_{ij}(\bar\theta)` that
    they do not, :math:`s_{ij}` the certainty of the link, and f the number of focal sets (:math:`2^c` for all subsets).

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of largest pignistic probability, as in [1]_; ``partition_.labels(rule)`` gives those of another rule.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
        With a ``metric_learner`` they, ``init``, ``rho_`` and the covariances are in the space of the transformed rows.
    metric_learner_ : transformer or None
        The learner, fitted; ``predict_partition`` sends new rows through it.
    xi_ : float
        The xi that was used.
    rho_ : float or None
        Distance to the empty set that was used; None without the empty set.

    Notes
    -----
    The first part of J has the units of X squared and the second has none, so ``xi`` means the same only on the same
    scale: standardize the columns, or choose ``xi`` for the units at hand. Sample weights take the place of the ones in
    the first sum, and their total that of n.

    Only linked objects depend on each other. The others have the closed form of ECM; linked ones are moved one at a
    time, each to its own optimum, until all rest. An iteration costs what one of ECM costs, plus f per link and f² per
    linked object. The masses of linked objects are a local minimum, so several starts pay.

    A new object has no links: ``predict_partition`` gives it the closed form of ECM. So does a linked object of the
    training table when it is given again, and its answer may then differ from ``partition_``.

    References
    ----------
    .. [1] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CECM: Constrained evidential c-means algorithm.
       Computational Statistics & Data Analysis 56(4):894-914, 2012.

    Examples
    --------
    Four groups on the corners of a square: a few links tell which of them belong together.

    >>> import numpy as np
    >>> from evidentia.constraints import PairwiseConstraints
    >>> corners = np.array([[0, 0], [0, 8], [8, 0], [8, 8]])
    >>> X = np.repeat(corners, 25, axis=0) + np.random.default_rng(0).normal(size=(100, 2))
    >>> model = CECM(2, adaptive=True, random_state=0)
    >>> links = PairwiseConstraints.from_links(must_link=[(0, 25), (50, 75)], cannot_link=[(0, 50)])
    >>> model.fit(X, constraints=links).labels_[[10, 35, 60, 85]]
    array([0, 0, 1, 1])
    >>> links = PairwiseConstraints.from_links(must_link=[(0, 50), (25, 75)], cannot_link=[(0, 25)])
    >>> model.fit(X, constraints=links).labels_[[10, 35, 60, 85]]
    array([0, 1, 0, 1])

    Algorithm 1 of the paper: one start, in which links have their full strength at once.

    >>> c = 2
    >>> paper = CECM(c, gradual=False, init="random", n_init=1, random_state=0).fit(X, constraints=links)
    >>> len(paper.start_criteria_), bool((np.diff(paper.criterion_trace_) <= 0).all())
    (1, True)
    """

    method = Method(
        name="cecm", title="evidential c-means with must-links and cannot-links",
        papers=("Antoine, Quost, Masson & Denœux, *CSDA* 56, 2012",), guide="constraints",
        takes=("links", "weights", "rows beyond memory"), chosen_for=("links", "images with links"),
        families=("full", "pairs", "simple", "singletons"), empty_set=True, labels="pignistic",
        grows="as ECM, plus *f* a link, *f²* a linked object", memory="*n f*",
        doubt="sets; outliers with a `rho` of yours", limit="`xi` depends on units; links make local minima",
        as_in_paper='CECM(c, gradual=False, init="random", n_init=1)',
        differs="That is its Algorithm 1; `adaptive=True` makes it Algorithm 2. The masses of linked objects come from "
        "quadratic programs for one object at a time, the paper's from one for all: both are local minima, perhaps "
        "different ones. A start ends when J falls by no more than `tol` of itself, the paper's when the centers rest.",
    )  # fmt: skip

    given_again = ("metric_learner",)

    focal_sets: Any = param(
        focal_families(*method.families),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"full"`` is CECM-1 and
        ``"pairs"`` CECM-2 of [1]_.""",
        default="full",
    )
    xi: float = param(Number(low=0, below=1), "Weight of the links against the geometry of the data.", default=0.5)
    alpha: float = param(ALPHA, "Penalty of larger sets: the larger, the fewer objects are torn.", default=1.0)
    rho: Any = param(
        RHO,
        """Distance of every object to the empty set, in the units of X. ``"auto"`` is ten times the largest distance of
        an object from the mean, larger than any distance between two objects: no outliers. With ``adaptive``,
        ``"auto"`` measures that distance in scaled columns; a number is in the units of X there too.""",
        default="auto",
    )
    adaptive: bool = param(
        BOOLEAN,
        """Learn a Mahalanobis metric of determinant one for each cluster, which lets few links turn a partition.""",
        default=False,
    )
    metric_learner: Any = param(
        Kind("transformer or None", lambda value: True),  # the learning itself says what it does not like
        """Learns a metric from the links before anything else, such as :class:`~evidentia.metric_learning.PCCA` or
        :class:`~evidentia.metric_learning.KPCCA`; all that follows sees the transformed rows.""",
        default=None,
    )

    def _read_new(self, X: Any) -> np.ndarray:
        table = super()._read_new(X)
        if self.metric_learner_ is None:
            return table
        return np.asarray(self.metric_learner_.transform(X), dtype=float)

    def _learn_rows(self, X: Any, rows: RowSource) -> RowSource:
        """Learn a metric from the links, and give the rows as it sees them."""
        if self.metric_learner is None:
            self.metric_learner_ = None
            return rows
        if not isinstance(rows, ArrayRows):
            raise TypeError("CECM learns a metric of a table in memory only; take metric_learner=None for other rows.")
        self.metric_learner_, table = learn_metric(self.metric_learner, X, self.constraints_)
        return ArrayRows(table, rows.weight)

    def _share(self, focal_sets: FocalSets, weight: np.ndarray) -> float:
        return float((1 - self.xi) / (len(focal_sets) * weight.sum()))

    def _link_strength(self, objects: Objects, criterion: Criterion, start: Prototypes) -> float:
        return float(self.xi)

    def _penalty(self, xi: float, objects: Objects, focal_sets: FocalSets) -> float:
        return xi / (objects.unit * self._share(focal_sets, objects.weight) * len(self.constraints_))

    def _automatic_rho(self, objects: Objects, starts: list[Prototypes], rng: Any) -> float:
        return RHO_FACTOR * reduce_rows(farthest, objects.chunks).distance
