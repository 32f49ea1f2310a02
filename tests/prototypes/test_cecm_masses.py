"""Masses of linked objects: against all supports, exhaustive grids and a general nonlinear solver."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from evidentia.belief import FocalSets
from evidentia.partition.relational import pairwise
from evidentia.prototypes._links import breaking_tables
from evidentia.solvers.linked_masses import LinkGraph, diagonal_qp, linked_masses
from strategies import focal_families, random_masses

FULL = FocalSets(2)


def solve(cost, slope):
    out = np.empty(len(cost))
    diagonal_qp(np.asarray(cost, float), np.asarray(slope, float), out)
    return out


def best_over_supports(cost, slope):
    """Stationary point of each support; the lowest feasible value."""
    best = np.inf
    for support in chain.from_iterable(combinations(range(len(cost)), r) for r in range(1, len(cost) + 1)):
        a, g = cost[list(support)], slope[list(support)]
        x = (2 + (g / a).sum()) / (1 / a).sum() / (2 * a) - g / (2 * a)
        if (x >= -1e-12).all():
            best = min(best, (a * x**2 + g * x).sum())
    return best


@given(st.integers(0, 10_000), st.integers(1, 7), st.sampled_from([0.1, 1.0, 30.0]))
def test_one_object_is_solved_exactly(seed, f, pull):
    rng = np.random.default_rng(seed)
    cost, slope = 10 ** rng.uniform(-3, 3, f), pull * rng.normal(size=f)
    x = solve(cost, slope)
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1, abs=1e-9)
    assert (cost * x**2 + slope * x).sum() == pytest.approx(best_over_supports(cost, slope), rel=1e-9, abs=1e-9)


def test_no_pull_is_the_closed_form_of_ecm():
    cost = np.array([1.0, 3.0, 6.0])
    np.testing.assert_allclose(solve(cost, np.zeros(3)), (1 / cost) / (1 / cost).sum(), rtol=1e-14)


def test_an_object_on_a_prototype_keeps_its_precision():
    x = solve([1e-150, 2.0, 5.0], [0.3, 0.1, 0.9])
    np.testing.assert_allclose(x, [1 - 0.05, 0.05, 0], rtol=1e-12)  # slope of {1}: 0.1 + 4 x = 0.3
    np.testing.assert_array_equal(solve([1e-150, 1e-150], [0.2, 0.7]), [1, 0])


@given(focal_families(), st.integers(0, 1000))
def test_tables_give_the_plausibilities_of_the_paper(family, seed):
    masses = random_masses(2, family, seed=seed)
    cannot, must = breaking_tables(family)
    found = pairwise(masses, family, np.array([[0, 1]]))
    assert masses[0] @ cannot @ masses[1] == pytest.approx(found.plausibility_same[0], abs=1e-12)
    assert masses[0] @ must @ masses[1] == pytest.approx(found.plausibility_different[0], abs=1e-12)


def problem(seed, n=5, focal_sets=FULL, strength=4.0):
    """Costs, a start and links of both kinds, soft ones too; objects with several links and chains of them."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    pairs = pairs[rng.random(len(pairs)) < 0.6] if n > 2 else pairs
    kind = rng.integers(0, 2, len(pairs))
    weight = strength * rng.uniform(0.1, 1, len(pairs))
    cost = rng.uniform(0.2, 5, (n, len(focal_sets)))
    start = (1 / cost) / (1 / cost).sum(axis=1, keepdims=True)
    return cost, start, pairs, kind, weight, breaking_tables(focal_sets)


def slow_objective(masses, cost, pairs, kind, weight, tables):
    tied = sum(w * masses[i] @ tables[t] @ masses[j] for (i, j), t, w in zip(pairs, kind, weight))
    return (cost * masses**2).sum() + tied


@pytest.mark.parametrize("seed", range(20))
def test_every_sweep_lowers_the_objective(seed):
    cost, masses, pairs, kind, weight, tables = problem(seed, n=12, focal_sets=FocalSets(3), strength=10.0)
    graph = LinkGraph.from_pairs(pairs, kind, weight, len(cost))
    trace = [slow_objective(masses, cost, pairs, kind, weight, tables)]
    for _ in range(30):
        masses, objective = linked_masses(cost, masses, tables, graph, tol=0, max_sweeps=1)
        assert objective == pytest.approx(slow_objective(masses, cost, pairs, kind, weight, tables), rel=1e-12)
        trace.append(objective)
    assert (np.diff(trace) <= 1e-13 * trace[0]).all()
    assert trace[1] < trace[0]
    assert (masses >= 0).all()
    np.testing.assert_allclose(masses.sum(axis=1), 1, atol=1e-12)


def test_the_start_is_not_changed():
    cost, start, pairs, kind, weight, tables = problem(0)
    before = start.copy()
    linked_masses(cost, start, tables, LinkGraph.from_pairs(pairs, kind, weight, len(cost)))
    np.testing.assert_array_equal(start, before)


def general_solver(start, cost, pairs, kind, weight, tables):
    """SLSQP on all masses at once."""
    shape = cost.shape

    def gradient(flat):
        m = flat.reshape(shape)
        g = 2 * cost * m
        for (i, j), t, w in zip(pairs, kind, weight):
            g[i] += w * tables[t] @ m[j]
            g[j] += w * tables[t] @ m[i]
        return g.ravel()

    rows = np.kron(np.eye(shape[0]), np.ones(shape[1]))
    return minimize(
        lambda flat: slow_objective(flat.reshape(shape), cost, pairs, kind, weight, tables),
        start.ravel(),
        jac=gradient,
        bounds=[(0, 1)] * start.size,
        constraints={"type": "eq", "fun": lambda flat: rows @ flat - 1, "jac": lambda flat: rows},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_general_solver_cannot_improve_the_solution(seed):
    cost, start, *rest = problem(seed)
    tables = rest[-1]
    masses, objective = linked_masses(
        cost, start, tables, LinkGraph.from_pairs(*rest[:3], len(cost)), tol=0, max_sweeps=2000
    )
    found = general_solver(masses, cost, *rest)
    assert objective <= found.fun + 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_weak_links_have_one_solution_and_both_solvers_find_it(seed):
    cost, start, *rest = problem(seed, strength=0.15)  # the whole problem is convex
    masses, objective = linked_masses(
        cost, start, rest[-1], LinkGraph.from_pairs(*rest[:3], len(cost)), tol=0, max_sweeps=2000
    )
    found = general_solver(np.full_like(start, 1 / start.shape[1]), cost, *rest)
    assert objective == pytest.approx(found.fun, abs=1e-8)
    np.testing.assert_allclose(masses, found.x.reshape(masses.shape), atol=2e-4)


GRID = np.array([p for p in product(np.arange(11) / 10, repeat=4) if abs(sum(p) - 1) < 1e-9])


@pytest.mark.parametrize("kind", [0, 1], ids=["cannot-link", "must-link"])
@pytest.mark.parametrize("seed", range(6))
def test_two_objects_against_an_exhaustive_grid(kind, seed):
    rng = np.random.default_rng(seed)
    cost, weight, tables = rng.uniform(0.3, 4, (2, 4)), np.array([rng.uniform(0.5, 6)]), breaking_tables(FULL)
    pairs = np.array([[0, 1]])
    graph = LinkGraph.from_pairs(pairs, np.array([kind]), weight, 2)
    grid = (
        (GRID**2 @ cost[0])[:, None] + (GRID**2 @ cost[1])[None] + weight[0] * GRID @ tables[kind] @ GRID.T
    )  # 286 x 286 pairs of mass functions
    starts = [rng.dirichlet(np.ones(4), 2) for _ in range(20)]
    best = min(linked_masses(cost, start, tables, graph, tol=0, max_sweeps=500)[1] for start in starts)
    assert best <= grid.min() + 1e-12
    assert best >= grid.min() - 0.05 * grid.min()  # the grid has steps of 0.1


@pytest.mark.parametrize("n", [2, 9, 40])  # fewer graph than are read ahead, about as many, more
def test_ties_list_every_pair_at_both_of_its_objects(n):
    *_, pairs, kind, weight, _ = problem(0, n=n)
    start, *columns = LinkGraph.from_pairs(pairs[::-1], kind[::-1], weight[::-1], n + 1)  # the last object has none
    found = [list(zip(*(column[start[i] : start[i + 1]].tolist() for column in columns))) for i in range(n + 1)]
    listed = list(zip(pairs.tolist(), kind.tolist(), weight.tolist()))
    assert found == [sorted((i + j - at, t, w) for (i, j), t, w in listed if at in (i, j)) for at in range(n + 1)]


def slow_sweep(masses, cost, pairs, kind, weight, tables):
    """One object after the other, each at its minimum given all others."""
    for i in range(len(cost)):
        slope = np.zeros(cost.shape[1])
        for pair, t, w in zip(pairs.tolist(), kind, weight):
            if i in pair:
                slope += w * tables[t] @ masses[sum(pair) - i]
        masses[i] = solve(cost[i], slope)
    return masses


@pytest.mark.parametrize("n", [4, 30])
def test_sweeps_are_those_of_plain_loops_and_end_when_the_objective_rests(n):
    cost, start, *rest = problem(3, n=n, focal_sets=FocalSets(3))
    graph, tables, slow = LinkGraph.from_pairs(*rest[:3], n), rest[-1], start.copy()
    trace = [slow_objective(slow, cost, *rest)]
    while len(trace) < 3 or trace[-2] - trace[-1] > 1e-4 * trace[0]:
        trace.append(slow_objective(slow_sweep(slow, cost, *rest), cost, *rest))
    masses, objective = linked_masses(cost, start, tables, graph, tol=1e-4)
    assert len(trace) > 3
    few = [linked_masses(cost, start, tables, graph, tol=0, max_sweeps=k)[1] for k in range(1, len(trace))]
    np.testing.assert_allclose(few, trace[1:], rtol=1e-12)
    np.testing.assert_allclose(masses, slow, atol=1e-12)
    assert objective == pytest.approx(trace[-1], rel=1e-12)
