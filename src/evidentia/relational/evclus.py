"""EVCLUS: evidential clustering of proximity data (Denœux & Masson, 2004), all pairs or k partners per object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import NOTHING, Choice, Integer, Number, Predicate, fitted, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.dissimilarities import (
    RelationalClusterer,
    Source,
    delta_star,
    make_source,
    new_blocks,
    read_source,
    read_table,
    refuse_rows_of_metric,
)
from evidentia.methods import Method
from evidentia.partition import CredalPartition
from evidentia.relational._base import given_masses
from evidentia.relational.pairs import (
    Pairs,
    PartnerTable,
    all_pairs,
    check_partners,
    chosen_pairs,
    listed_pairs,
    random_pairs,
    wanted_conflict,
)
from evidentia.rows import RowSource, as_rows
from evidentia.rows.scan import rows_for_all, scan
from evidentia.rows.source import is_sparse
from evidentia.solvers.descent import Run, Watch, all_runs, best_of
from evidentia.solvers.irqp import Links, irqp, place_among
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.overlap import is_near_pairs, near_pair_sets

PARTNERS = 1000  # fitted objects that a new one is compared with
SAMPLE = 10_000  # rows that are fitted with n_pairs, of those that are not in memory
SAMPLE_OF_ALL_PAIRS = 3_000  # without: their pairs need 200 MB
PROGRAM_SECONDS = 7e-9  # of a quadratic program, over the cube of the number of sets
LONG_SWEEP = 10.0  # seconds that deserve a word before the work
MOST_SETS = 350  # that a descent can end with: the first sweep grows with their fourth power
POINTS = 100_000  # pairs kept for the Shepard diagram


class Shepard(NamedTuple):
    """Pairs of objects (n_pairs, 2), the conflict their dissimilarity asks for, and the conflict of their masses."""

    pairs: np.ndarray
    wanted: np.ndarray
    conflict: np.ndarray


def conflict_form(focal_sets: FocalSets) -> np.ndarray:
    r"""Matrix C of (8), as one form (1, f, f): :math:`\kappa_{ij} = m_i^T C m_j`."""
    return focal_sets.disjoint.astype(float)[None]


def shared_plausibility(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Similarity of the clusters, ``Pl.T @ Pl`` (c, c): how far the same objects are plausible in both."""
    plausible = masses @ focal_sets.member
    return plausible.T @ plausible


def shepard_of(partition: CredalPartition, i: np.ndarray, j: np.ndarray, wanted: np.ndarray) -> Shepard:
    """The conflict of the masses of objects ``i`` and ``j`` beside the one that is wanted."""
    masses = partition.masses
    conflict = np.einsum("pf,pf->p", (masses @ conflict_form(partition.focal_sets)[0])[i], masses[j])
    return Shepard(np.column_stack([i, j]), wanted, conflict)


class EVCLUS(RelationalClusterer):
    r"""Evidential clustering of dissimilarities [1]_, [2]_.

    The more alike two objects are, the more plausible it is that they share a cluster: the masses make the conflict
    :math:`\kappa_{ij}` of every two objects match their dissimilarity :math:`\delta_{ij}`,

    .. math::
        L = \frac{2}{n(n-1)} \sum_{i<j} \left( \kappa_{ij} - \varphi(\delta_{ij}) \right)^2, \qquad
        \varphi(\delta) = 1 - e^{-\gamma \delta^2}, \quad \gamma = -\log 0.05 / \delta_0^2 .

    Any dissimilarity will do: no triangle inequality, no coordinates. An object unlike all others gets its mass on the
    empty set.

    Attributes
    ----------
    delta0_ : float or None
        The dissimilarity that belongs to the quantile ``delta0``.
    criterion_ : float
        The loss: mean squared difference of conflict and transformed dissimilarity.
    start_criteria_ : ndarray
        Final loss of every start; of the last fit alone for ``"near-pairs"``.
    n_sampled_ : int or None
        Rows that were fitted, of those that are not in memory; None where all were and have the masses of the fit.
    stress_ : float
        The loss over the mean square of the transformed dissimilarities.
    shepard_ : Shepard
        Pairs (at most 100,000 of them), the conflict wanted and the conflict found.

    Notes
    -----
    A sweep costs O(n² f) for f focal sets, or O(n k f) with ``n_pairs=k``. A new object is placed by its
    dissimilarities to (at most 1,000 of) the fitted objects, whose masses stay. A fitted object given again is compared
    with itself too, so its masses may differ a little from the fit's.

    What is found in pairs does not add up over rows. Of rows that are not in memory
    (:func:`~evidentia.rows.open_rows`) a sample is fitted: 10,000 of them with ``n_pairs``, 3,000 without. All rows are
    then placed as new objects are, and ``criterion_``, ``stress_``, ``shepard_`` and ``delta0_`` describe the sample.
    The same holds for a sparse matrix of more rows; one of no more rows is fitted as the dense table is.

    References
    ----------
    .. [1] T. Denœux, M.-H. Masson. EVCLUS: evidential clustering of proximity data. IEEE Transactions on Systems, Man
       and Cybernetics B 34(1):95-109, 2004.
    .. [2] T. Denœux, S. Sriboonchitta, O. Kanjanatarakul. Evidential clustering of large dissimilarity data.
       Knowledge-Based Systems 106:179-195, 2016.

    Examples
    --------
    Two groups, an object halfway between them, and one far away.

    >>> X = [[-5, 0], [-3, 2], [-3, 0], [-3, -2], [-1, 0], [0, 0], [1, 0], [3, 2], [3, 0], [3, -2], [5, 0], [0, 12]]
    >>> model = EVCLUS(n_clusters=2, random_state=0).fit(X)
    >>> model.partition_.outliers(), model.labels_[[0, 1, 2, 3]] == model.labels_[0]
    (array([11]), array([ True,  True,  True,  True]))

    Words, by the letters they do not share:

    >>> words = ["cat", "cats", "cast", "dog", "dogs", "good"]
    >>> unlike = lambda a, b: len(set(a) ^ set(b))
    >>> EVCLUS(2, metric=unlike, random_state=0).fit(words).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    method = Method(
        name="evclus", title="from dissimilarities of any kind, all pairs or a sample of them",
        papers=("Denœux & Masson, *IEEE Trans. SMC B* 34, 2004", "Denœux et al., *Knowledge-Based Systems* 106, 2016"),
        guide="dissimilarities", reads=("table", "dissimilarities"), takes=("rows beyond memory",),
        chosen_for=("dissimilarities",),
        families=("full", "pairs", "simple", "singletons", "near-pairs"), empty_set=True, quick={"n_init": 2},
        power=2, grows="*{n} f* or *n k f*", memory="*{n}* or *n k*", doubt="sets, outliers",
        limit="masses not unique; `delta0` matters",
    )  # fmt: skip

    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass. The named families hold the empty set. ``"simple"`` serves five clusters
        and more; ``"near-pairs"`` fits those first and then adds the pairs of clusters that are among each other's
        ``n_near`` most similar ones [2]_.""",
        default="pairs",
    )
    n_pairs: Any = param(
        Integer(low=2) | NOTHING | Predicate("array of int, shape (n_samples, k)", lambda value: np.ndim(value) == 2),
        """Partners drawn at random for each object (k-EVCLUS); 100 to 500 serve some thousand objects. Time and memory
        then grow with ``n * n_pairs``. Without it all pairs count. In [2]_ every object draws its own partners, and a
        pair that is drawn from both sides counts twice. Here partnership is mutual, a few objects that are grouped at
        random have the same partners, and each pair counts once. A table of object numbers names the partners of each
        object, for instance independent draws; with ``metric="precomputed"`` X then may hold the dissimilarities to
        these alone, shape (n_samples, k).""",
        default=None,
    )
    delta0: Any = param(
        Choice("auto") | Number(above=0, high=1) | NOTHING,
        """Quantile of the dissimilarities at which two objects are taken to lie in different clusters. ``"auto"`` is
        0.9 up to four clusters and 3.6 over their number beyond: the more clusters, the fewer pairs lie in one. None
        takes the dissimilarities themselves, which then lie in [0, 1].""",
        default="auto",
    )
    n_near: int = param(Integer(low=1), 'Neighbors of a cluster that ``"near-pairs"`` looks at.', default=2)
    n_init: int = param(Integer(low=1), "Number of starts; the one with the lowest loss is kept.", default=5)
    init: Any = param(
        Choice("random") | Predicate("CredalPartition or array of shape (n_samples, n_focal)"),
        "Masses to start from. Given ones make one start and keep its order of clusters.",
        default="random",
    )
    max_iter: int = param(Integer(low=1), "Most sweeps over the objects in one start.", default=1000)
    tol: float = param(
        Number(low=0),
        """A start ends when an iteration improves the criterion by no more than this share of it, in the running mean
        of [2]_: it begins at 1, and each iteration averages it with its own share.""",
        default=1e-5,
    )

    _not_for_placing = ("partition_", "labels_", "shepard_")

    _known: np.ndarray = fitted()
    _known_masses: np.ndarray = fitted()

    @property
    def _partners_given(self) -> bool:
        return self.n_pairs is not None and not isinstance(self.n_pairs, Integral)

    def _read_rows(self, X: Any) -> Any:
        if "rows beyond memory" in self.method.takes and (rows := as_rows(X)) is not None:
            return self._check_source(rows, reset=True)
        if self._partners_given and _checks.is_precomputed(self) and np.shape(X) == np.shape(self.n_pairs):
            table = read_table(self, X)
            return PartnerTable(len(table), table)
        return read_source(self, X)

    def _check_source(self, rows: RowSource, *, reset: bool) -> RowSource:
        refuse_rows_of_metric(self)
        return super()._check_source(rows, reset=reset)

    def _fit(self, data: Data[Any]) -> np.ndarray | None:
        self.n_sampled_: int | None = None
        if isinstance(data.rows, RowSource):
            return self._fit_sample(data)
        return self._fit_source(data, data.rows)

    def _fit_sample(self, data: Data[RowSource]) -> np.ndarray | None:
        """Fit to a sample of rows that are not in memory; the masses of the rows, if all of them were fitted."""
        name, rows = type(self).__name__, data.rows
        if self._partners_given:
            raise TypeError(f"{name} draws the partners itself among a sample of rows that are not in memory.")
        table = scan(rows, mixing=False, missing=False, who=name)
        sample = rows_for_all(table, rows, SAMPLE if self.n_pairs is not None else SAMPLE_OF_ALL_PAIRS)
        source = make_source(sample, self.metric, self.metric_params, who=name)
        masses = self._fit_source(data, source)
        if is_sparse(rows) and len(sample) == table.n_rows:
            return masses
        self.n_sampled_ = len(sample)
        if len(sample) < table.n_rows:
            warn_user(
                f"{name} was fitted to a sample of {len(sample):,} of {table.n_rows:,} rows; all of them are placed "
                "among these.",
                UserWarning,
            )
        return None

    def _fit_source(self, data: Data[Any], source: Source) -> np.ndarray:
        """Find masses of the objects of a source whose conflicts match their dissimilarities."""
        pairs = self._measure(data, source)
        pairs, self.delta0_ = wanted_conflict(pairs, self.delta0, self.n_clusters, who=type(self).__name__)
        focal_sets, runs = self._search(data, pairs)
        best = best_of(runs, name=type(self).__name__, max_iter=self.max_iter, tol=self.tol)
        self._source = source.needed_for_new()
        self._publish_run(best, runs, 1 / pairs.n_terms)
        partition = self._store_solution(best.state, focal_sets)
        self._describe(pairs, partition, data.rng)
        return partition.masses

    def _measure(self, data: Data[Any], source: Source) -> Pairs:
        """Return the dissimilarities of the pairs that count."""
        name, n = type(self).__name__, self._check_count(len(source))
        if self._partners_given:
            partners = data.align(self.n_pairs, "n_pairs")
            partners = check_partners(name, partners, n)
            if isinstance(source, PartnerTable):
                return listed_pairs(source.values, partners)
            return chosen_pairs(source, partners)
        if self.n_pairs is not None:
            refuse_beyond_memory(40 * n * self.n_pairs, f"{name} with n_pairs={self.n_pairs}", "Lower n_pairs.")
            return random_pairs(source, self.n_pairs, data.rng)
        refuse_beyond_memory(24 * n**2, f"{name} on all pairs of {n:,} objects", "Set n_pairs (for example 100).")
        return all_pairs(source)

    def _check_count(self, n_samples: int) -> int:
        """The number of objects, which must be large enough."""
        _checks.check_enough_rows(self, n_samples, self.n_clusters)
        if isinstance(self.n_pairs, Integral) and int(self.n_pairs) >= n_samples:
            raise ValueError(
                f"'n_pairs' of {type(self).__name__} must be below the number of objects, {n_samples}. Got "
                f"{self.n_pairs}; leave it out to take all pairs."
            )
        return n_samples

    def _search(self, data: Data[Any], pairs: Pairs) -> tuple[FocalSets, list[Run]]:
        """The focal sets, and the runs over them."""
        family = "simple" if is_near_pairs(self.focal_sets) else self.focal_sets
        focal_sets = resolve_focal_sets(family, self.n_clusters, empty=True)
        self._check_cost(len(focal_sets), pairs.n_objects)
        runs = self._descend(pairs, focal_sets, self._starts(data, focal_sets, pairs.n_objects))
        if is_near_pairs(self.focal_sets) and not runs[-1].interrupted:
            masses = min(runs, key=lambda run: run.objective).state
            finer = near_pair_sets(shared_plausibility(masses, focal_sets), self.n_near, empty=True)
            start = given_masses(type(self).__name__, CredalPartition(masses, focal_sets), finer, pairs.n_objects)
            focal_sets, runs = finer, self._descend(pairs, finer, [start])
        return focal_sets, runs

    def _check_cost(self, n_sets: int, n_objects: int) -> None:
        """A sweep solves a quadratic program over the sets for every object, whose time grows with their cube."""
        seconds = PROGRAM_SECONDS * n_objects * n_sets**3
        what = f"{n_sets:,} focal sets of {self.n_clusters} clusters"
        cost = (
            f"needs about {seconds:,.0f} seconds for each of up to max_iter={self.max_iter} sweeps of each of "
            f"n_init={self.n_init} starts"
        )
        cure = (
            "Take focal_sets='simple' or 'near-pairs', which grow with the number of clusters only, or fewer clusters."
        )
        if n_sets > MOST_SETS:
            raise ValueError(
                f"{type(self).__name__} takes at most {MOST_SETS} focal sets. Got {what}: a quadratic program over "
                f"them for each object {cost}. {cure}"
            )
        if seconds > LONG_SWEEP:
            warn_user(f"{type(self).__name__} with {what} {cost}. {cure}", UserWarning)

    def _starts(self, data: Data[Any], focal_sets: FocalSets, n_samples: int) -> Iterator[np.ndarray]:
        if not isinstance(self.init, str):
            yield given_masses(type(self).__name__, data.align(self.init, "init"), focal_sets, n_samples)
            return
        for _ in range(self.n_init):
            masses = data.rng.uniform(size=(n_samples, len(focal_sets)))
            yield masses / masses.sum(axis=1, keepdims=True)

    def _descend(
        self,
        pairs: Pairs,
        focal_sets: FocalSets,
        starts: Iterable[np.ndarray],
        links: Links | None = None,
        tol: float | None = None,
    ) -> list[Run]:
        form, tol = conflict_form(focal_sets), self.tol if tol is None else tol

        def run(start: np.ndarray, watch: Watch) -> Run:
            return irqp(start, form, pairs.layout, links=links, tol=tol, max_iter=self.max_iter, watch=watch)

        n_starts = self.n_init if isinstance(self.init, str) else 1
        return all_runs(run, starts, name=type(self).__name__, n_starts=n_starts, verbose=self.verbose)

    def _store_solution(self, masses: np.ndarray, focal_sets: FocalSets) -> CredalPartition:
        """Number the clusters from the largest to the smallest, unless the caller fixed them; return the partition."""
        partition = CredalPartition(masses, focal_sets, copy=False)
        if isinstance(self.focal_sets, str) and isinstance(self.init, str):
            partition = partition.sort_clusters()
        self.focal_sets_ = partition.focal_sets
        n = len(masses)
        self._known = np.random.RandomState(0).permutation(n)[:PARTNERS] if n > PARTNERS else np.arange(n)
        self._known_masses = partition.masses[self._known].copy()
        return partition

    def _describe(self, pairs: Pairs, partition: CredalPartition, rng: np.random.RandomState) -> None:
        """How well the masses render the dissimilarities."""
        i, j, wanted = pairs.sample(POINTS, rng)
        self.shepard_ = shepard_of(partition, i, j, wanted)
        self.stress_ = float(self.criterion_ / np.square(pairs.values).mean())

    def _masses(self, X: Any) -> np.ndarray:
        form = conflict_form(self.focal_sets_)
        masses = np.full((len(X), len(self.focal_sets_)), 1 / len(self.focal_sets_))
        for rows, distance in new_blocks(self._source, X, self._known):
            wanted = distance if self.delta0_ is None else delta_star(distance, self.delta0_)
            place_among(masses[rows], form, self._known_masses, np.ascontiguousarray(wanted)[None])
        return masses
