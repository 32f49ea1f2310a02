"""Constrained evidential c-means (Antoine, Quost, Masson & Denœux, 2012)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from evidentia._base import ALPHA, RHO, focal_families
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, Integer, Number, Predicate, param
from evidentia.belief import resolve_focal_sets
from evidentia.methods import Method
from evidentia.metric_learning import learn_metric
from evidentia.partition import LazyPartition
from evidentia.prototypes._base import INIT, INIT_DOC, SHAPES, PrototypeClusterer, Solution, given_start
from evidentia.prototypes._kernel import ColumnChunk, Criterion, descent_step
from evidentia.prototypes._links import check_number, minimize_with_links, schedule_links
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import ArrayRows, RowSource

RHO_FACTOR = 10.0  # of the largest distance from the mean: at least five times the largest distance of two objects


class Farthest(NamedTuple):
    """The largest distance of an object from the mean."""

    distance: float

    def __add__(self, other: Farthest) -> Farthest:  # type: ignore[override]
        return max(self, other)


def farthest(chunk: ColumnChunk) -> Farthest:
    return Farthest(float(np.sqrt(np.einsum("qi,qi->i", chunk.rows, chunk.rows).max())))


class CECM(PrototypeClusterer):
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

    beta = 2.0  # what makes the criterion quadratic in the masses
    n_init: int = param(
        Integer(low=1),
        "Number of starts; the one with the best criterion is kept.",
        default=10,
    )
    gradual: bool = param(
        BOOLEAN,
        """Whether links grow to full strength in the first 24 steps of a start: in the first start from a
        ten-thousandth of it, in the next from a hundredth, then from a tenth, and so on in turn. With False they have
        it from the first step on, and an array for ``init`` makes one start.""",
        default=True,
    )
    init: Any = param(
        INIT,
        f"""{INIT_DOC}
        An array keeps its order of clusters. With ``gradual=False`` it makes one start. With ``gradual=True`` it makes
        four: one in which links have full strength at once, and three in which they grow, each in its own way; with
        ``adaptive`` three more, in which the centers are held while their metrics are learned. ``n_init`` starts of
        ``"mixed"`` are added, unless ``focal_sets`` is a list, so that the result is no worse than that of a search.
        To go on from a fitted model when links were added, give its ``cluster_centers_``, with ``adaptive``
        ``(cluster_centers_, covariances_)``; the pair makes one start, in which links have full strength at once.""",
        default="mixed",
    )
    focal_sets: Any = param(
        focal_families(*method.families),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"full"`` is CECM-1 and
        ``"pairs"`` CECM-2 of [1]_.""",
        default="full",
    )
    xi: float = param(Number(low=0, below=1), "Weight of the links against the geometry of the data.", default=0.5)
    alpha: float = param(ALPHA, "Penalty of larger sets: the larger, the fewer are ambiguous.", default=1.0)
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
        Predicate("transformer or None", lambda value: True),  # the learning itself says what it does not like
        """Learns a metric from the links before anything else, such as :class:`~evidentia.metric_learning.PCCA` or
        :class:`~evidentia.metric_learning.KPCCA`; all that follows sees the transformed rows.""",
        default=None,
    )

    attributes = {
        "constraints_": "PairwiseConstraints\nThe links by row number; ``constraints_.violations(partition_)`` tells "
        "how far each is broken.",
        **SHAPES,
    }

    def _fit(self, data: Data[RowSource]) -> np.ndarray | LazyPartition:
        links, given, rng = data.constraints, given_start(self.init), data.rng
        check_number(links, "CECM")
        rows = self._learn_metric(data)
        objects = self._read_objects(rows)
        starts = self._draw_starts(objects, rng)
        family = resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True)
        rho = None
        if family.empty_index is not None:
            rho = self._given_rho(objects) or RHO_FACTOR * reduce_rows(farthest, objects.chunks).distance
        criterion = Criterion(family, self.alpha, self.beta, rho)
        share = (1 - self.xi) / (len(family) * objects.total)  # of the sum over objects, in J
        if len(links):
            self._refuse_masses(rows, family)
            strength = self.xi / (objects.unit * share * len(links))
            draw = check_random_state(0) if self.random_state is None else rng  # what is given is no matter of chance
            search = partial(self._draw_by_rule, "mixed", objects, draw) if isinstance(self.focal_sets, str) else None
            begin = schedule_links(starts, given, self.gradual, search)
            solution, best, runs = minimize_with_links(self._best_descent, objects, criterion, links, strength, begin)
        else:
            best, runs = self._minimize(descent_step, objects, criterion, starts)
            solution = Solution(best.state, criterion)
        self.xi_ = float(self.xi)
        solution, _ = self._store_solution(objects, solution, best, runs, share)
        return self._masses_with_links(rows, solution.linked)

    def _learn_metric(self, data: Data[RowSource]) -> RowSource:
        """Return the rows as the metric learner transforms them."""
        self.metric_learner_ = None
        if self.metric_learner is None:
            return data.rows
        if not isinstance(data.rows, ArrayRows):
            raise TypeError("CECM learns a metric of a table in memory only; take metric_learner=None for other rows.")
        self.metric_learner_, table = learn_metric(self.metric_learner, data.given, data.constraints)
        return ArrayRows(table, data.weight)

    def _read_new(self, X: Any) -> np.ndarray:
        table = super()._read_new(X)
        if self.metric_learner_ is None:
            return table
        return np.asarray(self.metric_learner_.transform(X), dtype=float)
