r"""Methods with centers that add a penalty for broken links to their criterion.

.. math::
    J(M, V, S) + \lambda \Big[ \sum_{(i, j) \in \mathcal M} s_{ij}\, pl_{ij}(\text{different})
    + \sum_{(i, j) \in \mathcal C} s_{ij}\, pl_{ij}(\text{same}) \Big]

Both plausibilities are bilinear in the masses of the two objects, so with :math:`\beta = 2` everything is quadratic in
the masses of one object. Objects without links keep the closed form of evidential c-means; the others are moved one at
a time (:mod:`evidentia.solvers.linked_masses`). Centers and metrics are updated as before, from the masses of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, repeat, starmap
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from evidentia._parameters import BOOLEAN, Integer, param
from evidentia.belief import FocalSets
from evidentia.belief.transforms import pignistic
from evidentia.constraints import PairwiseConstraints, resolve_constraints
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.prototypes._base import (
    INIT,
    INIT_DOC,
    SHAPES,
    ClusterSizes,
    Objects,
    PrototypeClusterer,
    Solution,
    chunk_sizes,
    to_columns,
    to_rows,
)
from evidentia.prototypes._kernel import (
    LEAST_COST,
    Columns,
    Costs,
    Criterion,
    Prototypes,
    Sums,
    chunk_sums,
    guard_cost,
    lift,
    update_masses,
    update_prototypes,
)
from evidentia.rows import as_rows
from evidentia.rows.numbered import NumberedRows, rows_apart
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import scan
from evidentia.rows.source import ArrayRows, Chunk, RowSource
from evidentia.rows.tables import any_table
from evidentia.solvers.callbacks import run_callbacks
from evidentia.solvers.descent import Run
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.starts import START_RULES
from evidentia.solvers.threads import one_blas_thread

if TYPE_CHECKING:
    from evidentia.solvers.linked_masses import Ties

# Shares of their strength at which links begin to pull. On a long ramp all starts end in one minimum, and not always a
# good one; on a short one each remembers more of where it began.
RAMPS = tuple(np.geomspace(weakest, 1, 25)[:-1] for weakest in (1e-4, 1e-2, 1e-1))
LINK_BYTES = 160  # of memory that a link takes in a fit, as was measured


class Way(NamedTuple):
    """Shares of their strength through which links grow, and whether the centers are held meanwhile."""

    ramp: np.ndarray
    held: bool = False


AT_ONCE = Way(np.empty(0))


def breaking_tables(focal_sets: FocalSets) -> np.ndarray:
    r"""Tables P with :math:`m_i^T P\, m_j` the plausibility that a link is broken: cannot-link, must-link; (2, f, f).

    A cannot-link may be broken by two sets that meet. A must-link may be broken by any two non-empty sets but twice the
    same single cluster.

    Examples
    --------
    >>> breaking_tables(FocalSets(2)).astype(int)      # {}, {0}, {1}, {0,1}
    array([[[0, 0, 0, 0],
            [0, 1, 0, 1],
            [0, 0, 1, 1],
            [0, 1, 1, 1]],
           [[0, 0, 0, 0],
            [0, 0, 1, 1],
            [0, 1, 0, 1],
            [0, 1, 1, 1]]])
    """
    solid = focal_sets.card > 0
    differ = np.outer(solid, solid) & ~np.diag(focal_sets.card == 1)
    return np.stack([~focal_sets.disjoint, differ]).astype(float)


def pair_centers(given: np.ndarray, found: np.ndarray) -> np.ndarray:
    """For each given center the number of the one that was found for it, all together as near as can be."""
    return linear_sum_assignment(cdist(given, found, "sqeuclidean"))[1]


class LinkedState(NamedTuple):
    """What the descent moves: prototypes, and masses (k, f) from which those of the linked objects are sought."""

    prototypes: Prototypes
    masses: np.ndarray | None = None


class SplitRows(NamedTuple):
    """The linked objects, few and in memory, and the others; both in coordinates of the whole table."""

    linked: Columns
    free: Objects | None  # None when all are linked

    @classmethod
    def of(cls, objects: Objects, numbers: np.ndarray, who: str) -> SplitRows:
        """Hold some objects apart, by the numbers of their rows."""
        coordinates = objects.coordinates
        chosen, rest = rows_apart(objects.source, numbers)
        assert chosen.weight is not None
        linked = Columns(to_rows(chosen.table, coordinates), chosen.weight)
        weight = rest.weight if isinstance(rest, ArrayRows) else None
        if not (rest.n_rows if weight is None else np.count_nonzero(weight)):
            return cls(linked, None)
        table = scan(rest, mixing=False, missing=False, who=who, sort=False, least_share=0)
        whole = None if table.complete else rest.map_chunks(partial(to_columns, coordinates))
        return cls(linked, Objects(to_rows(table.sample.X, coordinates), table.sample.weight, coordinates, rest, whole))


@dataclass(frozen=True)
class Bonds:
    """The linked objects: their rows (p, k) and weights (k,), and what ties them, over the tables of broken links."""

    rows: np.ndarray
    weight: np.ndarray
    tables: np.ndarray
    ties: Ties

    @classmethod
    def of(cls, constraints: PairwiseConstraints, penalty: float, linked: Columns, focal_sets: FocalSets) -> Bonds:
        """Links that cost ``penalty`` times their certainty when they are surely broken."""
        from evidentia.solvers.linked_masses import make_ties  # numba: loaded only when there are links

        pairs = np.searchsorted(constraints.objects, constraints.pairs)
        ties = make_ties(pairs, constraints.must, penalty * constraints.certainty, len(constraints.objects))
        assert linked.weight is not None
        return cls(linked.rows, linked.weight, breaking_tables(focal_sets), ties)

    def weaken(self, share: float) -> Bonds:
        return replace(self, ties=self.ties._replace(strength=share * self.ties.strength))

    def masses(self, state: LinkedState, criterion: Criterion) -> tuple[np.ndarray, np.ndarray, float]:
        """Features (n_terms, k) and masses (k, f) of the linked objects, and their part of the objective."""
        from evidentia.solvers.linked_masses import linked_masses

        features = lift(self.rows, state.prototypes.covariances is not None)
        costs = Costs.of(state.prototypes, criterion)
        cost = costs.terms @ features
        state.prototypes.measure_near(cost, self.rows, costs)
        cost = np.maximum(self.weight * cost, LEAST_COST)
        start = update_masses(cost, criterion.beta)[0].T if state.masses is None else state.masses
        return features, *linked_masses(cost.T, start, self.tables, self.ties)


def linked_step(
    free: Any, total_weight: float, criterion: Criterion, bonds: Bonds, state: LinkedState
) -> tuple[float, LinkedState]:
    """Criterion with its penalty, and a better state; ``free`` are chunks of the objects without links, or None."""
    objective, sums = (
        Sums(0.0, np.zeros((1, 1))) if free is None else reduce_rows(chunk_sums, free, state.prototypes, criterion)
    )
    features, masses, part = bonds.masses(state, criterion)
    sums = sums + (bonds.weight[:, None] * np.square(masses)).T @ features.T
    objective += part + guard_cost(state.prototypes, total_weight)
    return objective, LinkedState(update_prototypes(sums, state.prototypes, criterion, total_weight), masses)


class TiedPartition(LazyPartition):
    """A partition of numbered rows that are not in memory, some of which, the linked objects, have given masses."""

    def __init__(self, other: LazyPartition, numbers: np.ndarray, masses: np.ndarray):
        super().__init__(
            other.rows, other._place, other.focal_sets, label_rule=other.label_rule, no_answer=other.no_answer
        )
        self._numbers, self._linked_masses = numbers, masses

    def _partition(self, chunk: Chunk) -> CredalPartition:
        masses = self._place(chunk.table)
        low, high = np.searchsorted(self._numbers, [chunk.first, chunk.first + len(masses)])
        masses[self._numbers[low:high] - chunk.first] = self._linked_masses[low:high]
        return CredalPartition(masses, self.focal_sets, label_rule=self.label_rule, copy=False)


class ConstrainedClusterer(PrototypeClusterer):
    """Base of the methods with centers that take links; a subclass says how much a broken link costs.

    Links at full strength freeze the linked objects where the first centers put them. So a start first takes a few
    steps while its links grow from weak to full strength, and the centers have found their places before. How weak they
    begin changes from start to start. Centers that the user gives are tried in each of these ways and at full strength,
    beside the starts of a search; a pair of centers and covariances, the end of another fit, at full strength alone.
    With ``gradual=False`` every start is at full strength, and centers that are given are the only one.
    """

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

    attributes = {
        "constraints_": "PairwiseConstraints\nThe links by row number; ``constraints_.violations(partition_)`` tells "
        "how far each is broken.",
        **SHAPES,
    }

    @any_table
    @run_callbacks
    @one_blas_thread
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, constraints: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Find clusters in the rows of X that agree with what is known about pairs of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows of :func:`~evidentia.rows.open_rows`
            Numbers, none of them missing. Links by name need a DataFrame whose index holds the names.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects in the geometrical part; its links count once.
        constraints : PairwiseConstraints, optional
            Hard links that contradict each other are refused; soft ones may. Rows that are not in memory are numbered
            in the order of their source.
        checkpoint : path, optional
            For rows that are not in memory: a file from which the same fit goes on, should its process end.
        """
        self.check_parameters()
        if as_rows(X) is not None:
            rows: RowSource = self._check_rows(X, sample_weight)
            rows = rows if constraints is None else NumberedRows(rows)
            self.constraints_ = resolve_constraints(self, constraints, range(rows.n_rows or 0)).check()
        else:
            self.constraints_ = resolve_constraints(self, constraints, X).check()
            rows = self._check_rows(X, sample_weight)
        n_links = len(self.constraints_)
        refuse_beyond_memory(LINK_BYTES * n_links, f"{type(self).__name__} with {n_links:,} links", "Give fewer links.")
        rows = self._learn_rows(X, rows)
        return self._fit_kept(X, rows, checkpoint)

    def _learn_rows(self, X: Any, rows: RowSource) -> RowSource:
        """The rows that are clustered: those given, unless a method learns others from the links."""
        return rows

    def _link_strength(self, objects: Objects, criterion: Criterion, start: Prototypes) -> float:
        """The xi that is used, in the units of X."""
        raise NotImplementedError

    def _penalty(self, xi: float, objects: Objects, focal_sets: FocalSets) -> float:
        """What a link surely broken adds to the plain sum of the kernel."""
        raise NotImplementedError

    def _search(
        self, objects: Objects, criterion: Criterion, starts: list[Prototypes]
    ) -> tuple[Solution, Run, list[Run]]:
        self.xi_ = self._link_strength(objects, criterion, starts[0])
        if not len(self.constraints_):
            return super()._search(objects, criterion, starts)
        penalty = self._penalty(self.xi_, objects, criterion.focal_sets)
        apart = SplitRows.of(objects, self.constraints_.objects, type(self).__name__)
        bonds, total = Bonds.of(self.constraints_, penalty, apart.linked, criterion.focal_sets), objects.weight.sum()
        few = None if apart.free is None else apart.free.sample().chunks

        def step(bonds: Bonds, state: LinkedState) -> tuple[float, LinkedState]:
            return linked_step(few, total, criterion, bonds, state)

        def prepare(start: Prototypes, way: Way) -> LinkedState:
            state = LinkedState(start)
            for share in way.ramp:
                _, state = step(bonds.weaken(share), state)
                if way.held:
                    state = state._replace(prototypes=replace(state.prototypes, centers=start.centers))
            return state

        # The map prepares a start when its turn comes, so that an interrupt finds the ends of those before.
        ramped = self._ramp_starts(starts)
        best, runs = self._best_descent(partial(step, bonds), starmap(prepare, ramped), len(ramped))
        began = next(start for run, (start, _) in zip(runs, ramped) if run is best)
        if apart.free is not None and apart.free.whole is not None and not runs[-1].interrupted:
            every = partial(linked_step, apart.free.chunks, total, criterion, bonds)
            best, _ = self._best_descent(every, [best.state], 1)
        _, tied, _ = bonds.masses(best.state, criterion)
        solution = Solution(best.state.prototypes, criterion, tied)
        if self._start_given and began is not starts[0]:  # the order of the given centers is kept
            solution = solution.renumber(pair_centers(starts[0].centers, solution.prototypes.centers))
        return solution, best, runs

    def _ramp_starts(self, starts: list[Prototypes]) -> list[tuple[Prototypes, Way]]:
        """Each start with the way in which its links grow; given centers, the first start, with all ways there are.

        Given covariances say that the start is the end of another fit: it is taken as it is. Centers alone may be the
        end of one, too, of which they do not tell the metrics: they are held while these are learned.
        """
        if not self.gradual:
            return [(start, AT_ONCE) for start in starts]
        if not self._start_given:
            return list(zip(starts, cycle(map(Way, RAMPS))))
        if self._given_start()[1] is not None:
            return [(starts[0], AT_ONCE)]
        held = [Way(ramp, held=True) for ramp in RAMPS] if self.adaptive else []
        ways = [AT_ONCE, *map(Way, RAMPS), *held]
        return [*zip(repeat(starts[0]), ways), *zip(starts[1:], cycle(map(Way, RAMPS)))]

    def _starts(self, objects: Objects, rng: np.random.RandomState) -> list[Prototypes]:
        """Those of the search, or given centers and those of the search.

        Linked objects have many minima, and centers do not tell to which they belong: without the search the end of a
        fit, given back, may come to a higher one. A list of sets gives each number a part that the search cannot know.
        """
        starts = super()._starts(objects, rng)
        among_others = self.gradual and self._start_given and self._given_start()[1] is None
        if not among_others or not len(self.constraints_) or not isinstance(self.focal_sets, str):
            return starts
        rng = check_random_state(0) if self.random_state is None else rng  # what is given is no matter of chance
        drawn = START_RULES["mixed"](objects.rows.T, self.n_clusters, self.n_init, rng, objects.weight)
        return [*starts, *map(self._prototypes_at, drawn)]

    def _sizes(self, objects: Objects, solution: Solution) -> ClusterSizes:
        if solution.tied is None:
            return super()._sizes(objects, solution)
        numbers, family = self.constraints_.objects, solution.criterion.focal_sets
        source = objects.source if isinstance(objects.source, NumberedRows) else NumberedRows(objects.source)
        tied = ClusterSizes.of(pignistic(solution.tied, family).T, source.at(numbers).weight)
        tied = tied._replace(at=numbers[tied.at])
        rest = source.without(numbers)
        if not rest.n_rows:
            return tied
        free = reduce_rows(chunk_sizes, rest, objects.coordinates, self._blocks(solution), family)
        passed = np.searchsorted(numbers - np.arange(len(numbers)), free.at, side="right")
        return free._replace(at=free.at + passed).add_rows(tied)

    def _publish_rows(self, X: Any, rows: RowSource) -> None:
        tied, numbers = self._solution.tied, self.constraints_.objects
        if tied is not None and isinstance(rows, ArrayRows):
            masses = self._masses(rows.table)
            masses[numbers] = tied
            self._publish(X, masses)
            return
        if tied is None:
            super()._publish_rows(X, rows)
        else:
            self._publish_lazy(TiedPartition(self._make_lazy(rows), numbers, tied), rows)
