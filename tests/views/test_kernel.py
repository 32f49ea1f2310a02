"""Every update of the criterion over weighted views against a slow twin in plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import check_random_state

from evidentia.belief import FocalSets
from evidentia.prototypes._base import Slices
from evidentia.prototypes._kernel import Criterion
from evidentia.views import _kernel
from evidentia.views._kernel import ViewCriterion, ViewLayout, WeightedCenters

WIDTHS = [2, 3, 1]
VIEW = np.repeat(np.arange(3), WIDTHS)
FAMILY = FocalSets(3, [(), {0}, {1}, {2}, {0, 2}, {0, 1, 2}])


def made(by_column, *, beta=1.7, gaps=True, seed=0):
    """Objects in three views, some absent from one, a state and a problem with no neutral number in it."""
    rng = np.random.default_rng(seed)
    n = 14
    rows, present = rng.normal(size=(6, n)), np.ones((3, n))
    if gaps:
        present[1, [2, 5]] = present[2, [5, 9, 11]] = 0
    rows *= present[VIEW]
    layout = ViewLayout.from_widths(WIDTHS, by_column=by_column)
    logs = np.log([0.2, 0.5, 0.3])
    groups = np.zeros(3)
    if by_column:
        groups = np.log(np.concatenate([rng.dirichlet(np.ones(width)) for width in WIDTHS]))
    state = WeightedCenters(rng.normal(size=(3, 6)), logs, groups)
    weight = rng.uniform(0.5, 3, n)
    problem = ViewCriterion(
        Criterion(FAMILY, 1.3, beta), layout, np.array([1.5, 0.7, 2.2]), (weight * (1 - present)).sum(axis=1),
        np.array([0.3, 0.8, 0.5]), lam=4.0, gamma=2.5 if by_column else None,
    )  # fmt: skip
    return rows, present, weight, state, problem


def view_cost(h, masses, rows, present, weight, state, problem):
    """F of a view by its definition."""
    beta, alpha = problem.criterion.beta, problem.criterion.alpha
    columns, total = np.flatnonzero(h == VIEW), problem.blank[h] * problem.absent[h]
    for i in range(rows.shape[1]):
        for j, subset in enumerate(FAMILY):
            if not present[h, i]:
                continue
            if not subset:
                total += weight[i] * problem.rho[h] ** 2 * masses[i, j] ** beta
                continue
            middle = state.centers[sorted(subset)].mean(axis=0)
            distance = sum(column_weight(q, state, problem) * (rows[q, i] - middle[q]) ** 2 for q in columns)
            total += weight[i] * len(subset) ** alpha * masses[i, j] ** beta * distance
    return total


def column_weight(q, state, problem):
    return 1.0 if problem.gamma is None else np.exp(state.log_groups[q])


def criterion(masses, rows, present, weight, state, problem):
    """J by its definition."""
    r = np.exp(state.log_views)
    cost = sum(r[h] * view_cost(h, masses, rows, present, weight, state, problem) for h in range(3))
    cost += problem.lam * sum(r * np.log(3 * r))
    if problem.gamma is not None:
        w = np.exp(state.log_groups)
        cost += problem.gamma * sum(w[q] * np.log(WIDTHS[VIEW[q]] * w[q]) for q in range(6))
    return cost


def step(rows, present, weight, state, problem):
    features = _kernel.features_of(rows, present, problem.layout)
    return _kernel.view_step(Slices(features, weight), problem, state), _kernel.all_masses(features, state, problem)


def slope(function, at, width=1e-5):
    """Gradient by differences; the functions here are smooth, and have one minimum."""
    steps = width * np.eye(len(at))
    return np.array([function(at + one) - function(at - one) for one in steps]) / (2 * width)


both = pytest.mark.parametrize("by_column", [False, True])


@both
@pytest.mark.parametrize("beta", [1.7, 2.0])
def test_the_objective_is_the_criterion_at_the_masses(by_column, beta):
    given = made(by_column, beta=beta)
    (objective, _), masses = step(*given)
    assert objective == pytest.approx(criterion(masses, *given), rel=1e-10)


@both
def test_masses_are_at_the_optimum(by_column):
    given = made(by_column)
    _, masses = step(*given)
    np.testing.assert_allclose(masses.sum(axis=1), 1, atol=1e-12)
    best, rng = criterion(masses, *given), np.random.default_rng(1)
    for _ in range(15):
        others = 0.98 * masses + 0.02 * rng.dirichlet(np.ones(len(FAMILY)), len(masses))
        assert criterion(others, *given) > best


def test_masses_of_an_object_are_those_of_weights_renormalized_over_its_views():
    rows, present, _, state, problem = made(False)
    features = _kernel.features_of(rows, present, problem.layout)
    masses = _kernel.all_masses(features, state, problem)
    here = np.exp(state.log_views) * present[:, 2]  # the third object is absent from the second view
    again = replace(state, log_views=np.log(np.maximum(here / here.sum(), 1e-300)))
    np.testing.assert_allclose(masses[2], _kernel.all_masses(features, again, problem)[2], rtol=1e-10)
    np.testing.assert_allclose(masses[5], _kernel.all_masses(features, state.alone(0), problem)[5], rtol=1e-10)


@both
def test_centers_are_at_the_optimum(by_column):
    rows, present, weight, state, problem = given = made(by_column)
    (_, better), masses = step(*given)

    def cost(centers):
        moved = replace(state, centers=centers.reshape(3, 6))
        return criterion(masses, rows, present, weight, moved, problem)

    assert np.abs(slope(cost, state.centers.ravel())).max() > 0.1
    np.testing.assert_allclose(slope(cost, better.centers.ravel()), 0, atol=1e-6)


@both
def test_weights_are_at_the_optimum(by_column):
    """Weights of columns for the old weights of views, then those of views for these."""
    rows, present, weight, state, problem = given = made(by_column)
    (_, better), masses = step(*given)
    moved = replace(state, centers=better.centers)

    def of_views(logs):
        logs = logs - np.log(np.exp(logs).sum())
        return criterion(masses, rows, present, weight, replace(moved, log_views=logs), problem)

    def of_columns(logs):
        parts = [logs[h == VIEW] - np.log(np.exp(logs[h == VIEW]).sum()) for h in range(3)]
        return criterion(masses, rows, present, weight, replace(moved, log_groups=np.concatenate(parts)), problem)

    if by_column:
        assert np.abs(slope(of_columns, state.log_groups)).max() > 0.1
        np.testing.assert_allclose(slope(of_columns, better.log_groups), 0, atol=1e-6)
        moved = replace(moved, log_groups=better.log_groups)
    assert np.abs(slope(of_views, state.log_views)).max() > 0.01
    np.testing.assert_allclose(slope(of_views, better.log_views), 0, atol=1e-6)
    np.testing.assert_allclose(np.exp(better.log_views).sum(), 1, atol=1e-12)


@both
@pytest.mark.parametrize("seed", range(8))
def test_the_criterion_never_rises(by_column, seed):
    rows, present, weight, state, problem = made(by_column, beta=1.3 + 0.2 * (seed % 4), seed=seed)
    trace = []
    for _ in range(30):
        (objective, state), _ = step(rows, present, weight, state, problem)
        trace.append(objective)
    assert np.diff(trace).max() <= 1e-12 * abs(trace[0])
    assert trace[-1] < trace[0]


def test_costs_of_views_at_a_state():
    given = made(True)
    rows, present, weight, state, problem = given
    features = _kernel.features_of(rows, present, problem.layout)
    found = _kernel.view_objectives(Slices(features, weight), problem, state)
    masses = _kernel.all_masses(features, state, problem)
    np.testing.assert_allclose(found, [view_cost(h, masses, *given) for h in range(3)], rtol=1e-10)


@both
def test_a_vector_is_a_state_again(by_column):
    *_, state, problem = made(by_column)
    again = _kernel.from_vector(_kernel.as_vector(state), state, problem.layout)
    np.testing.assert_allclose(_kernel.as_vector(again), _kernel.as_vector(state), atol=1e-12)
    drawn = check_random_state(0).normal(size=_kernel.as_vector(state).size)
    other = _kernel.from_vector(drawn, state, problem.layout)
    assert np.exp(other.log_views).sum() == pytest.approx(1)
    np.testing.assert_allclose(np.bincount(problem.layout.view_of_group, np.exp(other.log_groups)), 1)
