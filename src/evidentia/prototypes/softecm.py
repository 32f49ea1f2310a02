"""Soft-ECM (Soubeiga, Guyet & Antoine, 2025): a free prototype for each set of clusters, and any dissimilarity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from scipy.spatial.distance import cdist, squareform

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Number, Predicate, fitted, param
from evidentia.belief import resolve_focal_sets
from evidentia.belief.transforms import pignistic
from evidentia.dissimilarities import RelationalClusterer, Source, Table, full_matrix
from evidentia.dissimilarities.series import Series
from evidentia.methods import Method
from evidentia.prototypes._base import LATE, RHO_FACTOR, RHO_LEAST
from evidentia.prototypes._free_prototypes import Members, Points, Space, WarpedSeries
from evidentia.prototypes._kernel import LEAST_COST, Criterion, renumber_sets, update_masses
from evidentia.prototypes._medoid_base import COPIES, CURE, FAMILIES, RHO_QUANTILE, check_given_objects
from evidentia.solvers.coordinates import ALL_EQUAL
from evidentia.solvers.descent import Run, Vectors
from evidentia.solvers.starts import kmeans_starts, mixed_starts, spread_starts


@dataclass(frozen=True)
class CoupledCriterion:
    """The criterion of evidential c-means over free prototypes, and couplings of weight ``pull`` between them."""

    criterion: Criterion
    pull: float

    @cached_property
    def solid(self) -> np.ndarray:
        """Which focal sets have a prototype: all but the empty one."""
        return self.criterion.focal_sets.card > 0

    @cached_property
    def single(self) -> np.ndarray:
        """Which of these are single clusters."""
        return self.criterion.focal_sets.card[self.solid] == 1

    @cached_property
    def couplings(self) -> np.ndarray:
        """Weights that draw larger sets and their clusters together, symmetric (n_sets, n_sets)."""
        member = self.criterion.focal_sets.member[self.solid].astype(float)
        larger = member * ~self.single[:, None]
        found = self.pull * larger @ (member * self.single[:, None]).T
        return found + found.T

    def costs(self, distances: np.ndarray) -> np.ndarray:
        r"""Return what multiplies :math:`m_{iA}^\beta` in J, (n_focal, n): :math:`|A|^\alpha d(x_i, v_A)`, or rho."""
        cost = np.empty((len(self.solid), distances.shape[1]))
        cost[self.solid] = self.criterion.penalty[self.solid, None] * distances
        if self.criterion.rho is not None:
            cost[self.criterion.focal_sets.empty_index] = self.criterion.rho
        return np.maximum(cost, LEAST_COST, out=cost)

    def masses(self, distances: np.ndarray) -> np.ndarray:
        """Return masses (n, n_focal) of objects, by their dissimilarities to the prototypes."""
        return update_masses(self.costs(distances), self.criterion.beta)[0].T


def soft_step(space: Space, coupled: CoupledCriterion, prototypes: Any) -> tuple[float, Any]:
    r"""Return J of the prototypes, and better ones: masses at their optimum, then prototypes.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^\alpha m_{iA}^\beta d(x_i, v_A) + \rho\, m_{i\varnothing}^\beta
            \Big] + \lambda \sum_{|A| > 1} \sum_{k \in A} d(v_k, v_A)
    """
    cost = coupled.costs(space.distances(prototypes))
    masses, least = update_masses(cost, coupled.criterion.beta)
    objective = float(least.sum() + (coupled.couplings * space.between(prototypes)).sum() / 2)
    weight = (coupled.criterion.penalty[:, None] * masses * (least / cost))[coupled.solid]
    return objective, space.improve(prototypes, weight, coupled.couplings, coupled.single)


class PrototypeSearch(NamedTuple):
    """Where prototypes are looked for, from which clusters on, the unit of the dissimilarities, the default of rho.

    ``place`` is the mean of the rows when prototypes are points, ``finer`` the space in which the best end goes on.
    """

    space: Points | Members
    starts: list[np.ndarray]
    unit: float
    far: float
    place: np.ndarray | None = None
    finer: WarpedSeries | None = None

    @property
    def last(self) -> Space:
        """The space of the result."""
        return self.space if self.finer is None else self.finer


def is_points(source: Source) -> TypeGuard[Table]:
    """Return whether prototypes are points: for Euclidean distances of rows of numbers, squared in J."""
    return isinstance(source, Table) and source.metric in ("euclidean", "l2", "sqeuclidean")


class SoftECM(RelationalClusterer):
    r"""Evidential c-means with a free prototype for each set of clusters, for any dissimilarity [1]_.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d(x_i, v_A)
            + \rho\, m_i(\varnothing)^{\beta} \Big] + \lambda \sum_{|A| > 1} \sum_{k \in A} d(v_k, v_A)

    ECM puts the prototype of a set at the barycenter of its clusters, which asks for a space that has one. Here every
    set has its own, and :math:`\lambda` ties it to its clusters. What a prototype is depends on the metric:

    - ``"euclidean"``: a point. d is the squared distance, and all prototypes are found together, by a linear system.
    - ``"dtw"``: a series, for series of any lengths. d is the squared DTW distance, and prototypes are barycenters
      along warping paths.
    - ``"soft-dtw"``: the same, over all alignments: d is the soft-DTW divergence, which is smooth.
    - any other metric, a function of two objects, or dissimilarities: one of the objects. d is what is given.

    Attributes
    ----------
    prototypes_ : ndarray or list
        For each non-empty focal set, in their order: a point, a series, or the number of an object.
    rho_ : float or None
        Dissimilarity to the empty set that was used; None without the empty set.

    Notes
    -----
    J never rises. With points all steps are minima. Objects are exchanged for the best one, sets before clusters, and
    no object stands for two clusters. A series moves by a step of barycenter averaging, which lowers J along the
    present warping paths, and once more when these are found anew. Before, all starts are made with objects for
    prototypes, and the best of them goes on; ``start_criteria_`` are those of the first part.

    :math:`\lambda` works against sums over objects, so it is given as a share of their number: :math:`\lambda =`
    ``coupling`` × n. A large one does not lead to ECM: it draws the clusters together as well. On Iris two of three
    come to one point from a coupling of about 0.1 on, with ``beta=2`` from 0.05 on; on the standardized Wine data, of
    more columns, with ``beta=2`` from 0.01 on.

    *Published and ours.* J, with a free prototype for each set, and the masses are those of the authors' program; the
    article was not compared beyond its abstract. The authors find prototypes by gradient steps on soft-DTW
    (``gamma=0.1``), which may be negative, and stop by another sum than J. Its divergence is not, and steps here never
    raise J. The exact steps for points, exchanged objects for other dissimilarities, barycenter averaging for series,
    and ``coupling`` as a share of n are ours; the program has no dissimilarity for mixed columns.

    References
    ----------
    .. [1] A. Soubeiga, T. Guyet, V. Antoine. Soft-ECM: an extension of evidential c-means for complex data.
       IEEE International Conference on Fuzzy Systems, 2025. arXiv:2507.13417.

    Examples
    --------
    Directions, one of them between two groups: angles have no mean, but a dissimilarity.

    >>> def turn(a, b):
    ...     return min(abs(a - b), 360 - abs(a - b))
    >>> angles = [352, 358, 0, 3, 9, 170, 176, 180, 184, 188, 91]
    >>> model = SoftECM(2, metric=turn, random_state=0).fit(angles)
    >>> [angles[i] for i in model.prototypes_]            # of {0}, {1} and {0, 1}
    [0, 180, 91]
    """

    method = Method(
        name="soft-ecm", title="evidential c-means with a free prototype for each set, for any dissimilarity",
        papers=("Soubeiga et al., *FUZZ-IEEE*, 2025",), guide="series", reads=("table", "dissimilarities"),
        families=FAMILIES, empty_set=True, quick={"n_init": 3}, grows="*n p f*, or *n² f* with objects as prototypes",
        memory="*n f*, or *n²*", doubt="sets, outliers", limit="`coupling` decides how free the sets are",
    )  # fmt: skip

    focal_sets: Any = param(
        _base.focal_families(*FAMILIES),
        """Sets of clusters that may hold mass, all single clusters among them. The named families hold the empty
        set.""",
        default="pairs",
    )
    alpha: float = param(_base.ALPHA, "Penalty of larger sets: the larger, the fewer are ambiguous.", default=2.0)
    beta: float = param(
        _base.BETA, "Fuzzifier: near 1 each object has its mass on one set, large values spread it.", default=1.5
    )
    rho: Any = param(
        _base.RHO,
        r"""Dissimilarity of every object to the empty set, squared where d is: the smaller, the more outliers. The
        article writes :math:`\delta^2` for it. ``"auto"`` is the 0.95-quantile of all dissimilarities; for points it is
        nine times what an object costs in a k-means solution: its squared distance to the nearest center and its share
        of the ties, so that no cluster is given up to save these.""",
        default="auto",
    )
    coupling: float = param(
        Number(low=0, high=1e6),
        """How strongly sets are tied to their clusters: :math:`\\lambda` over the number of objects.""",
        default=0.01,
    )
    init: Any = param(
        Choice("auto") | Predicate("array of n_clusters object numbers"),
        """Objects that stand for the clusters first. ``"auto"`` draws objects far from each other; for points, half of
        the starts are k-means solutions and half random rows. Numbers of objects make one start and keep its order of
        clusters.""",
        default="auto",
    )
    tol: float = param(
        Number(low=0),
        "A start ends when an iteration improves the criterion by no more than this share of it.",
        default=1e-8,
    )

    _tied: CoupledCriterion = fitted()
    _prototypes: Any = fitted()
    _unit: float = fitted()
    _place: np.ndarray | None = fitted()

    def _fit(self, data: Data[Source]) -> np.ndarray:
        source, rng = data.rows, data.rng
        check_given_objects(self, len(source), "auto")
        focal_sets = resolve_focal_sets(self.focal_sets, self.n_clusters, empty=self.method.empty_set)
        _checks.check_single_clusters(self, focal_sets, "ties each set to its clusters")
        _checks.refuse_masses(self, len(source), focal_sets)
        coupled = CoupledCriterion(Criterion(focal_sets, self.alpha, self.beta, None), self.coupling * len(source))
        search = self._among_points(source, coupled, rng) if is_points(source) else self._among_objects(source, rng)
        rho = None
        if focal_sets.empty_index is not None:
            given = None if self.rho == "auto" else _checks.check_rho(self, search.unit)
            rho = search.far if given is None else given / search.unit
        coupled = replace(coupled, criterion=replace(coupled.criterion, rho=rho))
        best, runs = self._search(search, coupled)
        self.rho_ = None if rho is None else rho * search.unit
        self._publish_run(best, runs, search.unit)
        self._store_solution(search, coupled, best.state)
        self._source = without_objects(source)
        return self._tied.masses(search.last.distances(self._prototypes))

    def _among_points(self, source: Table, coupled: CoupledCriterion, rng: np.random.RandomState) -> PrototypeSearch:
        """Return starts and units for points: rows around their mean, whose mean squared distance from it is one."""
        if (source.rows == source.rows[0]).all():
            raise ValueError(ALL_EQUAL)
        place = source.rows.mean(axis=0)
        moved = source.rows - place
        unit = float(np.einsum("ij,ij->i", moved, moved).mean())
        rows = moved / np.sqrt(unit)
        if self._start_given:
            starts = [rows[np.asarray(self.init)]]
            by_means = list(kmeans_starts(rows, self.n_clusters, 1, rng))
        else:
            starts = list(mixed_starts(rows, self.n_clusters, self.n_init, rng))
            by_means = starts[: (self.n_init + 1) // 2]
        space, focal_sets = Points(rows), coupled.criterion.focal_sets
        nearest = [
            cdist(rows, centers, "sqeuclidean").min(axis=1).mean()
            + (coupled.couplings * space.between(space.start(centers, focal_sets))).sum() / (2 * len(rows))
            for centers in by_means
        ]
        far = RHO_FACTOR**2 * max(float(min(nearest)), RHO_LEAST**2)
        return PrototypeSearch(space, starts, unit, far, place)

    def _among_objects(self, source: Source, rng: np.random.RandomState) -> PrototypeSearch:
        """Return starts and units for objects: all dissimilarities, squared for series, over the largest of them."""
        dissimilarity = full_matrix(source, who=type(self).__name__, cure=CURE, copies=COPIES)
        dissimilarity = dissimilarity**2 if isinstance(source, Series) else dissimilarity
        unit = float(dissimilarity.max())
        dissimilarity = dissimilarity / unit
        pairs = squareform(dissimilarity, checks=False)
        if self._start_given:
            starts = [np.asarray(self.init)]
        else:
            starts = list(spread_starts(dissimilarity, self.n_clusters, self.n_init, rng))
        far = float(np.quantile(pairs, RHO_QUANTILE)) or 1.0
        last = WarpedSeries(source.series, source.params, unit) if isinstance(source, Series) else None
        return PrototypeSearch(Members(dissimilarity), starts, unit, far, finer=last)

    def _search(self, search: PrototypeSearch, coupled: CoupledCriterion) -> tuple[Run, list[Run]]:
        """Return the best run, and the runs from all starts; series continue from the best objects."""
        smooth = Vectors(np.ravel, lambda vector, like: vector.reshape(like.shape), LATE)
        starts = [search.space.start(clusters, coupled.criterion.focal_sets) for clusters in search.starts]
        vectors = smooth if isinstance(search.space, Points) else None
        best, runs = self._best_descent(partial(soft_step, search.space, coupled), starts, len(starts), vectors)
        if search.finer is None or runs[-1].interrupted:
            return best, runs
        start = [search.finer.series[at] for at in best.state]
        finer, _ = self._best_descent(partial(soft_step, search.finer, coupled), [start], 1)
        return replace(finer, trace=np.append(best.trace[:-1], finer.trace)), runs

    # -- the result ---------------------------------------------------------------------------------------------------

    def _store_solution(self, search: PrototypeSearch, coupled: CoupledCriterion, prototypes: Any) -> None:
        """Number the clusters from the largest to the smallest, unless their order was given, and publish them."""
        focal_sets = coupled.criterion.focal_sets
        if isinstance(self.focal_sets, str) and not self._start_given:
            share = pignistic(coupled.masses(search.last.distances(prototypes)), focal_sets)
            order = _base.largest_first(share.sum(axis=0), tie=share.argmax(axis=0))
            solid = np.cumsum(coupled.solid) - 1  # places among the sets that have a prototype
            focal_sets, before = renumber_sets(focal_sets, order)
            places = [int(solid[at]) for at, card in zip(before, focal_sets.card) if card]
            prototypes = [prototypes[at] for at in places] if isinstance(prototypes, list) else prototypes[places]
        self._tied = replace(coupled, criterion=replace(coupled.criterion, focal_sets=focal_sets))
        self._prototypes, self._unit, self._place, self.focal_sets_ = prototypes, search.unit, search.place, focal_sets
        if isinstance(prototypes, list):
            self.prototypes_: Any = [one[:, 0] if one.shape[1] == 1 else one for one in prototypes]
        elif search.place is not None:
            self.prototypes_ = prototypes * np.sqrt(search.unit) + search.place
            _checks.warn_if_centers_coincide(self, prototypes[self._tied.single], 1.0)
        else:
            self.prototypes_ = prototypes

    def _masses(self, X: Any) -> np.ndarray:
        if self._place is not None:
            distances = Points((X - self._place) / np.sqrt(self._unit)).distances(self._prototypes)
        elif isinstance(self._source, Series) and isinstance(self._prototypes, list):
            distances = WarpedSeries(X, self._source.params, self._unit).distances(self._prototypes)
        else:
            distances = self._source.from_new(X, self._prototypes).T / self._unit
        return self._tied.masses(distances)

    @property
    def _start_given(self) -> bool:
        return not isinstance(self.init, str)


def without_objects(source: Source) -> Source:
    """Return what new objects need of a source whose objects are not prototypes."""
    if is_points(source):
        return replace(source, rows=source.rows[:0])
    return replace(source, series=source.series[:1]) if isinstance(source, Series) else source.needed_for_new()
