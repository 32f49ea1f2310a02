r"""The criterion of evidential c-means over several weighted views, and the updates that lower it.

.. math::
    J = \sum_h r_h F_h + \lambda \sum_h r_h \ln (V r_h) + \gamma \sum_h \sum_{q \in h} w_q \ln (p_h w_q), \qquad
    F_h = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^\alpha m_{iA}^\beta \sum_{q \in h} w_q (x_{iq} - \bar v_{Aq})^2
          + \rho_h^2 m_{i\varnothing}^\beta \Big]

over masses, centers, weights :math:`r` of the V views, which sum to one, and weights :math:`w` of the columns, which
sum to one in each view (or are fixed, and the last term is absent). Each is minimized in closed form for the others.

As in :mod:`evidentia.prototypes._kernel` the costs are linear in features of a row: here whether it is present in each
view, its numbers, and their squares summed over *groups* of columns that share a weight (a view, or a single column).
One pass over the rows gives the sums of :math:`m^\beta` times the features, and centers and weights follow from these.

An object that is absent from a view has zeros there, so that the view's term is left out of its costs, that of the
empty set included. Masses depend on ratios of costs alone: they are those of weights renormalized over the views that
the object is in. In :math:`F_h` it costs a constant instead, what the others cost on average at the start, so that a
view gains nothing by the objects that it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from evidentia.prototypes._kernel import Criterion, LinearCosts, block_masses, chunk_sums
from evidentia.rows.passes import reduce_rows
from evidentia.solvers.barycentric import solve_centers

LEAST_LOG = np.log(1e-20)  # of a weight: less changes no sum, and an object that is in that view alone keeps its costs


class ViewLayout(NamedTuple):
    """Where views and groups begin among the columns, which lie view by view: (n_views,) and (n_groups,)."""

    view_starts: np.ndarray
    group_starts: np.ndarray
    n_columns: int

    @classmethod
    def from_widths(cls, widths: list[int], *, by_column: bool) -> ViewLayout:
        """Views of so many columns each; ``by_column``: every column is a group, else every view."""
        starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(int)
        total = int(sum(widths))
        return cls(starts, np.arange(total) if by_column else starts, total)

    @property
    def n_views(self) -> int:
        return len(self.view_starts)

    @property
    def view_of_column(self) -> np.ndarray:
        return np.searchsorted(self.view_starts, np.arange(self.n_columns), side="right") - 1

    @property
    def group_of_column(self) -> np.ndarray:
        return np.searchsorted(self.group_starts, np.arange(self.n_columns), side="right") - 1

    @property
    def view_of_group(self) -> np.ndarray:
        return self.view_of_column[self.group_starts]

    def columns(self, view: int) -> slice:
        stops = [*self.view_starts[1:].tolist(), self.n_columns]
        return slice(int(self.view_starts[view]), stops[view])

    def cut(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The parts of features, or of their sums, (..., n_terms): presence, numbers, squares."""
        first, second = self.n_views, self.n_views + self.n_columns
        return terms[..., :first], terms[..., first:second], terms[..., second:]


@dataclass(frozen=True)
class WeightedCenters:
    """What the descent moves: centers (c, p), logarithms of the weights of views (V,) and of groups (g,)."""

    centers: np.ndarray
    log_views: np.ndarray
    log_groups: np.ndarray

    @classmethod
    def evenly(cls, centers: np.ndarray, layout: ViewLayout) -> WeightedCenters:
        """All views of one weight, and all groups of a view."""
        groups = np.bincount(layout.view_of_group)
        logs = np.full(layout.n_views, -np.log(layout.n_views))
        return cls(centers, logs, -np.log(groups)[layout.view_of_group])

    @property
    def views(self) -> np.ndarray:
        return np.exp(self.log_views)

    @property
    def groups(self) -> np.ndarray:
        return np.exp(self.log_groups)

    def joint(self, layout: ViewLayout) -> np.ndarray:
        """Weight of each group in the whole, (g,)."""
        return np.exp(self.log_views[layout.view_of_group] + self.log_groups)

    def alone(self, view: int) -> WeightedCenters:
        """The same seen by one view."""
        return replace(self, log_views=np.where(np.arange(len(self.log_views)) == view, 0.0, -np.inf))


def as_vector(state: WeightedCenters) -> np.ndarray:
    return np.concatenate([state.centers.ravel(), state.log_views, state.log_groups])


def from_vector(vector: np.ndarray, like: WeightedCenters, layout: ViewLayout) -> WeightedCenters:
    """The state of a vector; weights are brought to sums of one."""
    centers, views, groups = np.split(vector, np.cumsum([like.centers.size, like.log_views.size]))
    return WeightedCenters(
        centers.reshape(like.centers.shape), views - logsumexp(views), _per_view(groups, layout.view_of_group)
    )


@dataclass(frozen=True)
class ViewCriterion:
    """The fixed part of J.

    ``rho`` (n_views,) are distances to the empty set, None without it; ``absent`` (n_views,) the weight of the objects
    that each view lacks, and ``blank`` (n_views,) what each of them costs; ``lam`` and ``gamma`` are those of J, and
    gamma is None where columns have no weights.
    """

    criterion: Criterion
    layout: ViewLayout
    rho: np.ndarray | None
    absent: np.ndarray
    blank: np.ndarray
    lam: float
    gamma: float | None = None

    @property
    def penalty(self) -> np.ndarray:
        """What distances to each set count, zero for the empty set, (n_focal,)."""
        return np.where(self.criterion.focal_sets.card > 0, self.criterion.penalty, 0.0)


def features_of(rows: np.ndarray, present: np.ndarray, layout: ViewLayout) -> np.ndarray:
    """What the costs of objects are linear in, (n_terms, n).

    Examples
    --------
    A view of two columns and one of a single column, from which the second object is absent.

    >>> layout = ViewLayout.from_widths([2, 1], by_column=False)
    >>> features_of(np.array([[1.0, 2], [3, 4], [5, 0]]), np.array([[1.0, 1], [1, 0]]), layout).T
    array([[ 1.,  1.,  1.,  3.,  5., 10., 25.],
           [ 1.,  0.,  2.,  4.,  0., 20.,  0.]])
    """
    return np.concatenate([present, rows, np.add.reduceat(np.square(rows), layout.group_starts, axis=0)])


def cost_terms(state: WeightedCenters, problem: ViewCriterion, blur: float = 0.0) -> np.ndarray:
    """Coefficients of the costs in the features, (n_focal, n_terms); ``blur`` is added to all squared distances."""
    layout, criterion = problem.layout, problem.criterion
    weight = state.joint(layout)
    middle = criterion.average @ state.centers
    pulled = middle * weight[layout.group_of_column]
    constant = np.add.reduceat(middle * pulled, layout.view_starts, axis=1) + state.views * blur
    terms = np.hstack([constant, -2 * pulled, np.tile(weight, (len(middle), 1))]) * problem.penalty[:, None]
    if problem.rho is not None:
        terms[criterion.focal_sets.empty_index, : layout.n_views] = state.views * problem.rho**2
    return terms


def view_costs(state: WeightedCenters, problem: ViewCriterion, blur: float = 0.0) -> LinearCosts:
    """Return the costs of the focal sets, which are linear in the features of an object."""
    return LinearCosts(cost_terms(state, problem, blur), problem.criterion.beta)


def all_masses(features: np.ndarray, state: WeightedCenters, problem: ViewCriterion, blur: float = 0.0) -> np.ndarray:
    """Masses of all objects, (n, n_focal)."""
    masses = np.empty((features.shape[1], len(problem.criterion.focal_sets)))
    for block in block_masses(features, view_costs(state, problem, blur)):
        masses[block.rows] = block.masses.T
    return masses


def update_centers(sums: np.ndarray, previous: np.ndarray, problem: ViewCriterion) -> np.ndarray:
    """Centers for given masses: in each view those of evidential c-means, whatever the weights."""
    layout, penalty = problem.layout, problem.penalty
    count, total, _ = layout.cut(sums)
    parts = []
    for view in range(layout.n_views):
        columns = layout.columns(view)
        weight, sum_of = penalty * count[:, view], penalty[:, None] * total[:, columns]
        parts.append(solve_centers(weight, sum_of, problem.criterion.average, previous[:, columns]))
    return np.hstack(parts)


def group_scatter(sums: np.ndarray, centers: np.ndarray, problem: ViewCriterion) -> np.ndarray:
    r""":math:`\sum_i \sum_A |A|^\alpha m_{iA}^\beta \sum_{q} (x_{iq} - \bar v_{Aq})^2` over each group, (g,)."""
    layout = problem.layout
    count, total, squares = layout.cut(sums)
    middle = problem.criterion.average @ centers
    cross = middle * (count[:, layout.view_of_column] * middle - 2 * total)
    return np.maximum(problem.penalty @ (np.add.reduceat(cross, layout.group_starts, axis=1) + squares), 0)


def fixed_part(sums: np.ndarray, problem: ViewCriterion) -> np.ndarray:
    """What outliers and absent objects add to each F, whatever the centers, (n_views,)."""
    part = problem.blank * problem.absent
    if problem.rho is not None:
        part = part + problem.rho**2 * problem.layout.cut(sums)[0][problem.criterion.focal_sets.empty_index]
    return part


def update_groups(scatter: np.ndarray, log_views: np.ndarray, problem: ViewCriterion) -> np.ndarray:
    r"""Logarithms of :math:`w_q \propto \exp(-r_h E_q / \gamma)`, (g,)."""
    if problem.gamma is None:
        return np.zeros(len(scatter))
    view = problem.layout.view_of_group
    return _per_view(-np.exp(log_views)[view] * scatter / problem.gamma, view)


def update_views(scatter: np.ndarray, log_groups: np.ndarray, fixed: np.ndarray, problem: ViewCriterion) -> np.ndarray:
    r"""Logarithms of :math:`r_h \propto \exp(-F_h / \lambda)`, (n_views,)."""
    cost = fixed + np.bincount(problem.layout.view_of_group, np.exp(log_groups) * scatter)
    logs = -cost / problem.lam
    return np.maximum(logs - logsumexp(logs), LEAST_LOG)


def weight_cost(state: WeightedCenters, problem: ViewCriterion) -> float:
    """What J has beside the least costs of the objects: the entropies, and the objects that views lack."""
    views, groups = state.views, state.groups
    cost = problem.lam * views @ (state.log_views + np.log(len(views))) + views @ (problem.blank * problem.absent)
    if problem.gamma is not None:
        of = problem.layout.view_of_group
        cost += problem.gamma * groups @ (state.log_groups + np.log(np.bincount(of))[of])
    return float(cost)


def view_objectives(chunks: Any, problem: ViewCriterion, state: WeightedCenters) -> np.ndarray:
    """F of each view at the best masses of a state, (n_views,)."""
    _, sums = reduce_rows(chunk_sums, chunks, view_costs(state, problem))
    scatter = group_scatter(sums, state.centers, problem)
    return fixed_part(sums, problem) + np.bincount(problem.layout.view_of_group, state.groups * scatter)


def view_step(chunks: Any, problem: ViewCriterion, state: WeightedCenters) -> tuple[float, WeightedCenters]:
    """J of the state, and a better one: masses, centers, weights of columns, weights of views, each at its optimum."""
    objective, sums = reduce_rows(chunk_sums, chunks, view_costs(state, problem))
    centers = update_centers(sums, state.centers, problem)
    scatter = group_scatter(sums, centers, problem)
    log_groups = update_groups(scatter, state.log_views, problem)
    log_views = update_views(scatter, log_groups, fixed_part(sums, problem), problem)
    return objective + weight_cost(state, problem), WeightedCenters(centers, log_views, log_groups)


def _per_view(logs: np.ndarray, view_of_group: np.ndarray) -> np.ndarray:
    """Logarithms of weights that sum to one in each view."""
    found = np.empty_like(logs)
    for view in range(int(view_of_group[-1]) + 1):
        mine = view_of_group == view
        found[mine] = np.maximum(logs[mine] - logsumexp(logs[mine]), LEAST_LOG)
    return found
