"""Weighted multi-view evidential c-means (Liu, Huang & Letchmunan, 2023)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, Choice, Number, Predicate, fitted, param
from evidentia.belief import FocalSets
from evidentia.belief.transforms import pignistic
from evidentia.methods import Method
from evidentia.prototypes._base import LATE, RHO_FACTOR, RHO_LEAST, Slices, value_at_end
from evidentia.prototypes._kernel import Criterion, block_masses, renumber_sets
from evidentia.prototypes._medoid_base import check_given_objects
from evidentia.prototypes.ecm import ECM, first_sets, overlapping_sets
from evidentia.solvers.coordinates import ColumnScales
from evidentia.solvers.descent import Run, Vectors
from evidentia.solvers.overlap import is_automatic
from evidentia.solvers.starts import START_RULES
from evidentia.views import _kernel
from evidentia.views._base import MultiViewClusterer
from evidentia.views._kernel import ViewCriterion, ViewLayout, WeightedCenters
from evidentia.views.reading import Views

FAMILIES = ("auto", "full", "pairs", "simple", "singletons")


class ViewTables(NamedTuple):
    """The objects as the descent sees them: features (n_terms, n), weights (n,), which views they are in (V, n)."""

    features: np.ndarray
    weight: np.ndarray
    present: np.ndarray
    layout: ViewLayout

    @property
    def rows(self) -> np.ndarray:
        """Numbers of the objects, (p, n); zeros where a view lacks them."""
        return self.layout.cut(self.features.T)[1].T


class ViewCenters(NamedTuple):
    """What ``fit`` keeps for new objects."""

    state: WeightedCenters
    problem: ViewCriterion


def nearest_distances(tables: ViewTables, state: WeightedCenters) -> np.ndarray:
    """Return the mean squared distance of the objects to their nearest center of all views, in each view, (V,)."""
    layout, c = tables.layout, len(state.centers)
    singles = Criterion(FocalSets(c, "singletons", empty=False), 1.0, 2.0)
    none = np.zeros(layout.n_views)
    plain = ViewCriterion(singles, layout, None, none, none, 1.0)
    at = (_kernel.cost_terms(state, plain) @ tables.features).argmin(axis=0)
    inside = tables.weight * tables.present
    found = np.empty(layout.n_views)
    for view in range(layout.n_views):
        distance = np.take_along_axis(_kernel.cost_terms(state.alone(view), plain) @ tables.features, at[None], axis=0)
        found[view] = max(float(inside[view] @ distance[0]) / inside[view].sum(), 0.0)
    return found


def overlap(tables: ViewTables, problem: ViewCriterion, best: Run) -> FocalSets:
    """Return the empty set, single clusters, and the sets of clusters that overlap in all views together."""
    blocks = block_masses(tables.features, _kernel.view_costs(best.state, problem))
    width = float(best.state.views @ np.bincount(tables.layout.view_of_column))
    return overlapping_sets(blocks, problem.criterion.focal_sets, tables.weight, width)


class WMVEC(MultiViewClusterer, _base.IterativeClusterer):
    r"""Evidential c-means on several tables of the same objects, each with a weight [1]_.

    .. math::
        J = \sum_h r_h F_h + \lambda \sum_h r_h \ln (V r_h), \qquad
        F_h = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} \|x_i^h - \bar v_A^h\|^2
              + \rho_h^2 m_i(\varnothing)^{\beta} \Big]

    One credal partition for all views, centers :math:`v_k^h` in each, and weights :math:`r_h` of the V views, which sum
    to one: the better a view agrees with the partition, the more it counts.

    Notes
    -----
    *Scale.* Each view is divided by its total scatter, so that the mean squared distance of its objects from their mean
    is one: neither units, nor the number of columns, nor columns that are constant give a view weight.

    *The weights.* :math:`r_h \propto \exp(-F_h / \lambda)`. F grows with the number of objects, so :math:`\lambda` must
    grow with it, or a single view takes all: it is ``lam`` times n. As every view has a total scatter of n,
    :math:`F_h / n` is at most about one, as in a view of noise whose objects have sure clusters by the others, and the
    smaller the clearer the view, whatever n: with 0.25 a view of noise has about :math:`e^{-3}` times the weight of a
    clear one.

    *Absent objects.* An object may be absent from a view: a row of NaN, or no row in a table whose rows are named. Its
    masses are those of the other views, as if the weights were renormalized over them; in :math:`F_h` it costs
    what the others cost there on average at the start, so that a view gains no weight by what it lacks.

    *Published and ours.* J, the masses, weights and centers are those of the authors' program; the article was not
    compared. All views start from the
    same objects (the program starts each by itself, so that cluster 0 of one may be cluster 1 of another). Scaling,
    ``lam`` and ``rho`` in units of the views, absent objects and the entropy counted from equal weights are ours. Every
    step is exact, so J never rises.

    References
    ----------
    .. [1] Z. Liu, H. Huang, S. Letchmunan. Adaptive weighted multi-view evidential clustering. ICANN 2023, LNCS 14256.

    Examples
    --------
    The first view tells the left from the right, the second the upper from the lower groups.

    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(80) % 4
    >>> first = rng.normal(size=(80, 2)) + 8 * (group % 2)[:, None]
    >>> second = rng.normal(size=(80, 3)) + 8 * (group // 2)[:, None]
    >>> model = WMVEC(4, random_state=0).fit({"first": first, "second": second})
    >>> len(set(zip(group, model.labels_)))
    4
    >>> print(model.view_summary())
    2 views of 80 objects
      first   weight 0.50  all objects
      second  weight 0.50  all objects
    They disagree about 0 objects (conflict above 0.5).
    """

    method = Method(
        name="wmvec", title="evidential c-means on several tables of the same objects, each with a weight",
        papers=("Liu, Huang & Letchmunan, *ICANN* 2023",), guide="views", reads=("views",), takes=("weights",),
        families=FAMILIES, empty_set=True, grows="*n p f*", memory="*n (p + f)*", doubt="sets, outliers, views at odds",
        limit="one set of clusters for all views",
    )  # fmt: skip

    _by_column = False  # whether columns have weights
    _least_share = 1e-8  # squared distances are computed from products of coordinates

    focal_sets: Any = param(
        _base.focal_families(*FAMILIES),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"auto"`` fits single clusters
        and the empty set, then lays over them the sets of clusters that overlap, as :class:`~evidentia.ECM` does.""",
        default="auto",
    )
    alpha: Any = ECM.parameters["alpha"]
    beta: Any = ECM.parameters["beta"]
    rho: Any = param(
        _base.RHO,
        """Distance of every object to the empty set in each view, in units of its spread (the root mean squared
        distance from the mean): the smaller, the more outliers. ``"auto"`` is three times the root mean squared
        distance, in that view, to the nearest center of a k-means solution of all views.""",
        default="auto",
    )
    lam: float = param(
        Number(above=0),
        r"""How even the weights of the views are, :math:`\lambda / n` (see below): a small number gives all weight to
        the clearest view, a large one the same to all.""",
        default=0.25,
    )
    standardize: bool = param(
        BOOLEAN, "Bring every column to unit variance, before views are brought to one scale.", default=False
    )
    init: Any = param(
        Choice(*START_RULES) | Predicate("array of n_clusters object numbers"),
        """Start of the centers, one for all views: ``"mixed"`` begins half of the starts at k-means solutions of all
        views together (``"k-means"``) and half at random objects (``"random"``). Numbers of objects make one start and
        keep its order of clusters.""",
        default="mixed",
    )

    attributes = {
        "cluster_centers_": "dict of ndarray\nCenters in each view, of shape (n_clusters, n_columns of the view). "
        "Clusters are numbered from\nthe largest to the smallest, unless ``init`` or a list of focal sets fixes them.",
        "rho_": "ndarray of shape (n_views,) or None\nDistances to the empty set that were used, in units of the "
        "spread of each view.",
        "lambda_": r"float" "\n" r":math:`\lambda`.",
    }

    _scales: list[ColumnScales] = fitted()
    _found: ViewCenters = fitted()

    def _fit(self, data: Data[Views]) -> np.ndarray:
        views, n = data.rows, len(data.rows)
        given = [self._numbers(*view, reset=True) for view in zip(views.names, views.tables)]
        self.n_features_in_ = sum(table.shape[1] for table in given)
        check_given_objects(self, n, *START_RULES)
        weight = np.ones(n) if data.weight is None else data.weight
        self._refuse_unseen(given)
        self._scales = [self._scale(name, table, weight) for name, table in zip(views.names, given)]
        tables = self._lay_out(given, weight)
        starts = self._starts(tables, data.rng)
        family = first_sets(self.focal_sets, self.n_clusters, empty=True)
        _checks.refuse_masses(self, n, family)
        problem = self._state_problem(tables, family, starts)
        step = partial(_kernel.view_step, Slices(tables.features, tables.weight))  # masses, centers, weights
        vectors = Vectors(_kernel.as_vector, partial(_kernel.from_vector, layout=tables.layout), LATE)
        best, runs = self._best_descent(partial(step, problem), starts, len(starts), vectors)
        if is_automatic(self.focal_sets) and not runs[-1].interrupted:  # clusters stay; masses follow from more sets
            problem = replace(problem, criterion=replace(problem.criterion, focal_sets=overlap(tables, problem, best)))
            best = value_at_end(best, step(problem, best.state)[0])
        self._publish_run(best, runs)
        return self._store_solution(best.state, problem, tables, views)

    # -- tables -------------------------------------------------------------------------------------------------------

    def _numbers(self, name: str, table: Any, *, reset: bool) -> np.ndarray:
        """Return a view as checked doubles; objects that are absent have rows of NaN."""
        who = type(self).__name__
        try:
            _checks.refuse_rows(self, table)
            _checks.refuse_kinds(who, table)
            try:
                values = np.array(_checks.fill_masked(table, who, "X", missing=True), dtype=float)
            except (ValueError, TypeError) as error:
                raise type(error)(f"{error}. {who} needs numbers in X: encode words, or drop them.") from error
            gaps = np.isnan(values)
            absent = gaps.all(axis=1)
            if (gaps.any(axis=1) & ~absent).any():
                row = int((gaps.any(axis=1) & ~absent).argmax())
                raise ValueError(
                    f"{int((gaps.any(axis=1) & ~absent).sum())} of {len(values)} rows hold NaN beside numbers (first: "
                    f"row {row}); {who} needs all columns of a view or none. Fill them, or make the whole row NaN, "
                    "which means that the object is absent from the view."
                )
            if len(here := values[~absent]):
                _checks.check_values(self, here, getattr(table, "columns", None), reset=reset, view=name)
        except (ValueError, TypeError) as error:
            raise type(error)(f"View {name!r}: {error}") from error
        return values

    def _refuse_unseen(self, tables: list[np.ndarray]) -> None:
        unseen = np.logical_and.reduce([np.isnan(table).all(axis=1) for table in tables])
        if unseen.any():
            raise ValueError(
                f"{type(self).__name__} needs every object in at least one view, but {int(unseen.sum())} of "
                f"{len(unseen)} are in none (first: row {int(unseen.argmax())}). Drop them."
            )

    def _scale(self, name: str, table: np.ndarray, weight: np.ndarray) -> ColumnScales:
        """Return the mean of a view, and what its columns are divided by; zero for those that are constant."""
        here = ~np.isnan(table).all(axis=1) & (weight > 0)
        rows, share = table[here], weight[here]
        flat = np.ptp(rows, axis=0) == 0 if len(rows) else np.ones(table.shape[1], dtype=bool)
        if flat.all():
            raise ValueError(
                f"View {name!r} of {type(self).__name__} has no variation: "
                f"{'every column is constant' if len(rows) else 'no object is in it'}, so that it tells no objects "
                "apart. Drop it."
            )
        origin = np.average(rows, axis=0, weights=share)
        variance = np.where(flat, 0.0, np.average(np.square(rows - origin), axis=0, weights=share))
        if self._by_column:
            return ColumnScales(origin, np.sqrt(variance))
        if self.standardize:
            return ColumnScales(origin, np.sqrt(variance * np.count_nonzero(variance)))
        return ColumnScales(origin, np.where(variance > 0, np.sqrt(variance.sum()), 0.0))

    def _lay_out(self, tables: list[np.ndarray], weight: np.ndarray) -> ViewTables:
        present = np.array([~np.isnan(table).all(axis=1) for table in tables], dtype=float)
        layout = ViewLayout.from_widths([scale.width for scale in self._scales], by_column=self._by_column)
        rows = np.vstack([scale.transform(table).T for scale, table in zip(self._scales, tables)])
        np.nan_to_num(rows, copy=False)
        return ViewTables(_kernel.features_of(rows, present, layout), weight, present, layout)

    # -- the problem ---------------------------------------------------------------------------------------------------

    def _starts(self, tables: ViewTables, rng: np.random.RandomState) -> list[WeightedCenters]:
        """Return centers in all views at once."""
        layout, rows = tables.layout, tables.rows
        if not isinstance(self.init, str):
            return [WeightedCenters.evenly(rows[:, np.asarray(self.init)].T.copy(), layout)]
        even = WeightedCenters.evenly(np.empty(0), layout)
        root = np.sqrt(even.joint(layout)[layout.group_of_column])
        drawn = START_RULES[self.init](rows.T * root, self.n_clusters, self.n_init, rng, tables.weight)
        return [WeightedCenters.evenly(centers / root, layout) for centers in drawn]

    def _state_problem(self, tables: ViewTables, family: FocalSets, starts: list[WeightedCenters]) -> ViewCriterion:
        n_views, total = tables.layout.n_views, float(tables.weight.sum())
        rho = None
        if family.empty_index is not None:
            rho = (
                np.full(n_views, _checks.check_rho(self, 1.0))
                if self.rho != "auto"
                else self._automatic_rho(tables, starts)
            )
        problem = ViewCriterion(
            Criterion(family, self.alpha, self.beta),
            tables.layout,
            rho,
            (tables.weight * (1 - tables.present)).sum(axis=1),
            np.zeros(n_views),
            self.lam * total,
            self._evenness_of_columns(total / n_views),
        )
        if not problem.absent.any():
            return problem
        cost = _kernel.view_objectives(Slices(tables.features, tables.weight), problem, self._nearest(tables, starts))
        return replace(problem, blank=cost / (total - problem.absent))

    def _evenness_of_columns(self, unit: float) -> float | None:
        return None

    def _automatic_rho(self, tables: ViewTables, starts: list[WeightedCenters]) -> np.ndarray:
        found = nearest_distances(tables, self._nearest(tables, starts))
        return RHO_FACTOR * np.maximum(np.sqrt(found), RHO_LEAST)

    def _nearest(self, tables: ViewTables, starts: list[WeightedCenters]) -> WeightedCenters:
        """Return the start whose centers are nearest to the objects."""
        return min(starts, key=lambda start: start.views @ nearest_distances(tables, start))

    # -- the result ---------------------------------------------------------------------------------------------------

    def _store_solution(
        self, state: WeightedCenters, problem: ViewCriterion, tables: ViewTables, views: Views
    ) -> np.ndarray:
        """Number the clusters and store what was found; return the masses."""
        masses = _kernel.all_masses(tables.features, state, problem)
        if isinstance(self.focal_sets, str) and isinstance(self.init, str):
            likely = pignistic(masses, problem.criterion.focal_sets)
            order = _base.largest_first(tables.weight @ likely, tie=likely.argmax(axis=0))
            family, before = renumber_sets(problem.criterion.focal_sets, order)
            masses = masses[:, before]
            state = replace(state, centers=state.centers[order])
            problem = replace(problem, criterion=replace(problem.criterion, focal_sets=family))
        self.focal_sets_, self._found = problem.criterion.focal_sets, ViewCenters(state, problem)
        self.rho_, self.lambda_ = problem.rho, problem.lam
        self.view_weights_ = state.views / state.views.sum()
        parts = [
            scale.inverse_transform(state.centers[:, tables.layout.columns(h)]) for h, scale in enumerate(self._scales)
        ]
        self.cluster_centers_ = dict(zip(views.names, parts))
        blur = nearest_distances(tables, state)
        alone = [_kernel.all_masses(tables.features, state.alone(h), problem, blur[h]) for h in range(len(parts))]
        self._store_views(views, alone, list(tables.present == 0))
        spread = np.sqrt(state.joint(tables.layout)[tables.layout.group_of_column])
        _checks.warn_if_centers_coincide(self, state.centers * spread, 1.0)
        return masses

    def _masses(self, views: Views) -> np.ndarray:
        given = dict(zip(views.names, zip(views.tables, views.columns)))
        tables = []
        for name, columns, scale in zip(self.view_names_, self.view_columns_, self._scales):
            table, names = given.get(name, (None, None))
            if table is None:
                tables.append(np.full((len(views), len(scale.origin)), np.nan))
                continue
            tables.append(
                self._numbers(name, _as_fitted(table, names, columns, len(scale.origin), name, self), reset=False)
            )
        self._refuse_unseen(tables)
        laid = self._lay_out(tables, np.ones(len(views)))
        return _kernel.all_masses(laid.features, *self._found)


def _as_fitted(table: Any, names: Any, columns: list[str] | None, width: int, view: str, model: Any) -> Any:
    """Return the columns that were fitted, by their names where both have them."""
    who = type(model).__name__
    if np.shape(table)[1] != width and (names is None or columns is None):
        raise ValueError(
            f"{who} was fitted to {width} columns in view {view!r}. Got {np.shape(table)[1]}; give the same."
        )
    if names is None or columns is None or list(names) == columns:
        return table
    if missing := [name for name in columns if name not in names]:
        raise ValueError(f"{who} was fitted to column {missing[0]!r} of view {view!r}, which is missing. Give it.")
    return table.set_axis(list(names), axis=1)[columns]
