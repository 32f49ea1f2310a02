"""EVCLUS: evidential clustering of proximity data (Denœux & Masson, 2004), all pairs or k partners per object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from tqdm.auto import tqdm

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import Subset, canonical_order, to_mask
from evidentia.dissimilarities import Columns, default_quantile, delta_star, read_table
from evidentia.partition import CredalPartition
from evidentia.relational._base import RelationalClusterer, given_masses
from evidentia.relational.pairs import Pairs, all_pairs, check_partners, chosen_pairs, listed_pairs, random_pairs
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.irqp import Descent, Links, irqp, place_among
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.overlap import mutual_near_pairs

FAMILIES = ("full", "pairs", "simple", "near-pairs")
PARTNERS = 1000  # fitted objects that a new one is compared with
POINTS = 100_000  # pairs kept for the Shepard diagram


class Shepard(NamedTuple):
    """Pairs of objects (n_pairs, 2), the conflict their dissimilarity asks for, and the conflict of their masses."""

    pairs: np.ndarray
    wanted: np.ndarray
    conflict: np.ndarray


def conflict_form(focal_sets: FocalSets) -> np.ndarray:
    r"""Matrix C of (8), as one form (1, f, f): :math:`\kappa_{ij} = m_i^T C m_j`."""
    return focal_sets.disjoint.astype(float)[None]


def with_near_pairs(masses: np.ndarray, focal_sets: FocalSets, n_near: int) -> FocalSets:
    """The focal sets and the pairs of clusters in which the same objects are plausible."""
    plausible = masses @ focal_sets.member
    near = mutual_near_pairs(plausible.T @ plausible, n_near)
    pairs = {to_mask(pair, focal_sets.n_clusters) for pair in near}
    return FocalSets(focal_sets.n_clusters, canonical_order({*focal_sets.masks.tolist(), *pairs}))


def _lowest(runs: list[Descent]) -> Descent:
    return min(runs, key=lambda run: run.trace[-1])


class EVCLUS(RelationalClusterer):
    r"""Evidential clustering of dissimilarities [1]_, [2]_.

    The more alike two objects are, the more plausible it is that they share a cluster: the masses make the conflict
    :math:`\kappa_{ij}` of every two objects match their dissimilarity :math:`\delta_{ij}`,

    .. math::
        L = \frac{2}{n(n-1)} \sum_{i<j} \left( \kappa_{ij} - \varphi(\delta_{ij}) \right)^2, \qquad
        \varphi(\delta) = 1 - e^{-\gamma \delta^2}, \quad \gamma = -\log 0.05 / \delta_0^2 .

    Any dissimilarity will do: no triangle inequality, no coordinates. An object unlike all others gets its mass on the
    empty set.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple", "near-pairs"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass. The named families hold the empty set and the set of all clusters.
        ``"simple"`` serves five clusters and more; ``"near-pairs"`` fits those first and then adds the pairs of
        clusters that are among each other's ``n_near`` most similar ones [2]_.
    n_pairs : int, optional
        Partners drawn at random for each object (k-EVCLUS); 100 to 500 serve some thousand objects. Time and memory
        then grow with ``n * n_pairs``. Without it all pairs count.
    delta0 : "auto", float in (0, 1] or None
        Quantile of the dissimilarities at which two objects are taken to lie in different clusters. ``"auto"`` is 0.9
        up to four clusters and 3.6 over their number beyond: the more clusters, the fewer pairs lie in one. None takes
        the dissimilarities themselves, which then lie in [0, 1].
    metric : str or callable
        ``"precomputed"``, ``"gower"`` (a table of numbers and categories, with gaps), a metric of SciPy or
        scikit-learn, or a function of two objects, which may then be anything.
    metric_params : dict, optional
        Further arguments of the metric.
    n_near : int
        Neighbours of a cluster that ``"near-pairs"`` looks at.
    n_init : int
        Number of starts; the one that ends with the lowest loss is kept.
    init : {"random"}, CredalPartition or array-like of shape (n_samples, n_focal)
        Masses to start from. Given ones make one start and keep its order of clusters.
    max_iter : int
        Largest number of sweeps over the objects.
    tol : float
        A descent ends when the running mean of the relative change of the loss, which starts at 1 and is averaged
        with each new change, falls below this.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
        Most plausible cluster of each object.
    focal_sets_ : FocalSets
    delta0_ : float or None
        The dissimilarity that belongs to the quantile ``delta0``.
    criterion_ : float
        The loss: mean squared difference of conflict and transformed dissimilarity.
    criterion_trace_ : ndarray
        Loss at the start and after each sweep; it never rises.
    start_criteria_ : ndarray
        Final loss of every start; of the last fit alone for ``"near-pairs"``.
    stress_ : float
        The loss over the mean square of the transformed dissimilarities.
    shepard_ : Shepard
        Pairs (at most 100,000 of them), the conflict wanted and the conflict found.
    n_iter_ : int

    Notes
    -----
    A sweep costs O(n² f) for f focal sets, or O(n k f) with ``n_pairs=k``. A new object is placed by its
    dissimilarities to (at most 1,000 of) the fitted objects, whose masses stay. A fitted object given again is compared
    with itself too, so its masses may differ a little from the fit's.

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

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        n_pairs: int | None = None,
        delta0: str | float | None = "auto",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_near: int = 2,
        n_init: int = 5,
        init: Any = "random",
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.n_pairs = n_pairs
        self.delta0 = delta0
        self.metric = metric
        self.metric_params = metric_params
        self.n_near = n_near
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, partners: Any = None) -> Self:
        """Find clusters among objects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities, (n_samples, n_samples), or (n_samples, k) with ``partners``.
        y : None
            Ignored.
        partners : array-like of int, shape (n_samples, k), optional
            Partners of each object, in place of random ones.
        """
        rng = check_random_state(self.random_state)
        pairs = self._wanted(self._measure(X, partners, rng))
        focal_sets = self._family()
        best, focal_sets = self._search(pairs, focal_sets, rng)
        self.criterion_trace_ = best.trace / pairs.n_terms
        self.criterion_ = float(self.criterion_trace_[-1])
        self.n_iter_ = len(best.trace) - 1
        self._settle(X, best.masses, focal_sets)
        self._describe(pairs, rng)
        return self

    def _measure(self, X: Any, partners: Any, rng: np.random.RandomState) -> Pairs:
        """Dissimilarities of the pairs that count."""
        who = type(self).__name__
        if partners is not None and isinstance(self.metric, str) and self.metric == "precomputed":
            table = np.asarray(partners)
            if np.shape(X) == table.shape:
                found = read_table(self, X)
                self._source = Columns(len(found))
                self._check_params(len(found))
                return listed_pairs(found, check_partners(who, table, len(found)))
        source = self._read(X)
        n = len(source)
        self._check_params(n)
        if partners is not None:
            return chosen_pairs(source, check_partners(who, partners, n))
        if self.n_pairs is not None:
            refuse_beyond_memory(40 * n * self.n_pairs, f"{who} with n_pairs={self.n_pairs}", "Lower n_pairs.")
            return random_pairs(source, self.n_pairs, rng)
        refuse_beyond_memory(24 * n**2, f"{who} on all pairs of {n:,} objects", "Set n_pairs (for example 100).")
        return all_pairs(source)

    def _check_params(self, n_samples: int) -> None:
        super()._check_params(n_samples)
        _base.check_number(self, "n_near", low=1, integer=True)
        if self.delta0 is not None and self.delta0 != "auto":
            _base.check_number(self, "delta0", low=0, high=1, strict=True)
        if isinstance(self.init, str):
            _base.check_choice(self, "init", ("random",))
        if self.n_pairs is not None:
            _base.check_number(self, "n_pairs", low=2, integer=True)
            if self.n_pairs >= n_samples:
                raise ValueError(
                    f"'n_pairs' of {type(self).__name__} must be below the number of objects, {n_samples}. Got "
                    f"{self.n_pairs}; leave it out to take all pairs."
                )

    def _wanted(self, pairs: Pairs) -> Pairs:
        """The conflict that each dissimilarity asks for (6)."""
        values = pairs.values
        low, high = values.min(), values.max()
        if low == high:
            raise ValueError(f"All dissimilarities equal {low:g}, so {type(self).__name__} finds no clusters in them.")
        self.delta0_ = None
        if self.delta0 is None:
            if high > 1:
                raise ValueError(f"With delta0=None dissimilarities must lie in [0, 1]. Got {high:g}.")
            return pairs
        quantile = default_quantile(self.n_clusters) if self.delta0 == "auto" else float(self.delta0)
        delta0 = self.delta0_ = float(np.quantile(values, quantile))
        if delta0 == 0:
            raise ValueError(
                f"The quantile delta0={quantile:g} of the dissimilarities is zero: many objects are equal. Raise it."
            )
        return pairs.map(lambda dissimilarity: delta_star(dissimilarity, delta0))

    def _family(self) -> FocalSets:
        if isinstance(self.focal_sets, str):
            _base.check_choice(self, "focal_sets", FAMILIES)
            if self.focal_sets == "near-pairs":
                return FocalSets(self.n_clusters, "simple")
        return resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True)

    def _search(self, pairs: Pairs, focal_sets: FocalSets, rng: np.random.RandomState) -> tuple[Descent, FocalSets]:
        """The best descent, and the focal sets it is over."""
        runs = self._descend(pairs, focal_sets, self._starts(focal_sets, pairs.n_objects, rng))
        if isinstance(self.focal_sets, str) and self.focal_sets == "near-pairs" and not runs[-1].interrupted:
            best = _lowest(runs)
            finer = with_near_pairs(best.masses, focal_sets, self.n_near)
            start = given_masses(type(self).__name__, CredalPartition(best.masses, focal_sets), finer, pairs.n_objects)
            focal_sets, runs = finer, self._descend(pairs, finer, [start])
        runs = self._finish(pairs, focal_sets, runs)
        self.start_criteria_ = np.array([run.trace[-1] for run in runs]) / pairs.n_terms
        best = _lowest(runs)
        self._warn_unless_settled(best, runs)
        return best, focal_sets

    def _finish(self, pairs: Pairs, focal_sets: FocalSets, runs: list[Descent]) -> list[Descent]:
        """What a subclass does with the solutions."""
        return runs

    def _starts(self, focal_sets: FocalSets, n_samples: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
        if not isinstance(self.init, str):
            yield given_masses(type(self).__name__, self.init, focal_sets, n_samples)
            return
        for _ in range(self.n_init):
            masses = rng.uniform(size=(n_samples, len(focal_sets)))
            yield masses / masses.sum(axis=1, keepdims=True)

    def _descend(
        self,
        pairs: Pairs,
        focal_sets: FocalSets,
        starts: Iterable[np.ndarray],
        links: Links | None = None,
        tol: float | None = None,
    ) -> list[Descent]:
        runs: list[Descent] = []
        with tqdm(starts, desc=type(self).__name__, unit="start", leave=False, disable=not self.verbose) as bar:

            def watch(sweep: int, objective: float) -> None:
                bar.set_postfix(sweep=sweep, loss=f"{objective / pairs.n_terms:.6g}", refresh=False)

            for start in bar:
                runs.append(
                    irqp(
                        start,
                        conflict_form(focal_sets),
                        pairs.layout,
                        links=links,
                        tol=self.tol if tol is None else tol,
                        max_iter=self.max_iter,
                        watch=watch,
                    )
                )
                if runs[-1].interrupted:
                    break
        return runs

    def _warn_unless_settled(self, best: Descent, runs: list[Descent]) -> None:
        who = type(self).__name__
        if runs[-1].interrupted or best.interrupted:
            warn_user(f"{who} was interrupted; the best masses so far are kept.", InterruptedFit)
        elif not best.converged:
            warn_user(
                f"{who} reached max_iter={self.max_iter} before tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _settle(self, X: Any, masses: np.ndarray, focal_sets: FocalSets) -> None:
        """Number the clusters from the largest to the smallest, unless the caller fixed them, and publish."""
        partition = CredalPartition(masses, focal_sets, object_names=_base.row_names(X), copy=False)
        if isinstance(self.focal_sets, str) and isinstance(self.init, str):
            partition = partition.canonical()
        self.partition_, self.focal_sets_ = partition, partition.focal_sets
        self.labels_ = partition.labels()

    def _describe(self, pairs: Pairs, rng: np.random.RandomState) -> None:
        i, j, wanted = pairs.sample(POINTS, rng)
        masses = self.partition_.masses
        conflict = np.einsum("pf,pf->p", (masses @ conflict_form(self.focal_sets_)[0])[i], masses[j])
        self.shepard_ = Shepard(np.column_stack([i, j]), wanted, conflict)
        self.stress_ = float(self.criterion_ / np.square(pairs.values).mean())

    def _masses(self, X: Any) -> np.ndarray:
        n = len(self.partition_)
        known = np.random.RandomState(0).permutation(n)[:PARTNERS] if n > PARTNERS else np.arange(n)
        fitted, form = self.partition_.masses[known].copy(), conflict_form(self.focal_sets_)
        found = []
        for distance in self._distance_blocks(X, known):
            wanted = distance if self.delta0_ is None else delta_star(distance, self.delta0_)
            found.append(np.full((len(wanted), len(self.focal_sets_)), 1 / len(self.focal_sets_)))
            place_among(found[-1], form, fitted, np.ascontiguousarray(wanted)[None])
        return np.concatenate(found)
