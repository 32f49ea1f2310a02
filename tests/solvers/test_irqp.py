from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from evidentia import FocalSets
from evidentia.solvers import irqp as module
from evidentia.solvers.irqp import criterion, irqp, symmetric_pairs


def case(n=12, c=3, seed=0):
    """The bootGMM forms (same, different) on all non-empty subsets, Ω included, and random targets."""
    rng = np.random.default_rng(seed)
    focal = FocalSets(c, empty=False)
    forms = np.stack([np.diag((focal.card == 1).astype(float)), focal.disjoint.astype(float)])
    low, gap = rng.uniform(0, 0.6, size=(n, n)), rng.uniform(0, 0.4, size=(n, n))
    low, gap = np.triu(low, 1) + np.triu(low, 1).T, np.triu(gap, 1) + np.triu(gap, 1).T
    return focal, forms, np.stack([low, 1 - low - gap]), rng.dirichlet(np.ones(len(focal)), size=n)


def slow_criterion(masses, forms, targets):
    n = len(masses)
    return sum(
        (masses[i] @ forms[t] @ masses[j] - targets[t, i, j]) ** 2
        for t in range(len(forms))
        for i in range(n)
        for j in range(i)
    )


def all_pairs(targets):
    n = targets.shape[1]
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    return symmetric_pairs(pairs, targets[:, pairs[:, 0], pairs[:, 1]], n)


def test_criterion_is_its_definition():
    _, forms, targets, start = case()
    expected = slow_criterion(start, forms, targets)
    assert criterion(start, forms, targets) == pytest.approx(expected)
    assert criterion(start, forms, all_pairs(targets)) == pytest.approx(expected)


def test_sweeps_never_raise_the_criterion_and_keep_its_account():
    _, forms, targets, start = case(seed=1)
    result = irqp(start, forms, targets, tol=1e-9)
    assert result.converged
    assert (np.diff(result.trace) <= 0).all()
    assert result.trace[-1] == pytest.approx(slow_criterion(result.state, forms, targets))
    assert result.state.min() >= 0
    np.testing.assert_allclose(result.state.sum(axis=1), 1)
    assert start.sum() == pytest.approx(12)  # the caller's array is not touched


def test_all_pairs_give_the_same_rows_whether_dense_or_listed():
    _, forms, targets, start = case(seed=2)
    dense = irqp(start, forms, targets, tol=1e-6)
    listed = irqp(start, forms, all_pairs(targets), tol=1e-6)
    np.testing.assert_allclose(dense.state, listed.state, atol=1e-8)
    np.testing.assert_allclose(dense.trace, listed.trace, rtol=1e-9)


def test_each_row_of_the_result_is_optimal_given_the_others():
    focal, forms, targets, start = case(n=8, seed=3)
    masses = irqp(start, forms, targets, tol=1e-12).state
    for i in range(8):

        def with_row(row, i=i):
            moved = masses.copy()
            moved[i] = row
            return slow_criterion(moved, forms, targets)

        other = minimize(
            with_row,
            np.full(len(focal), 1 / len(focal)),
            bounds=[(0, 1)] * len(focal),
            constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert with_row(masses[i]) <= other.fun + 1e-6


def test_a_partition_that_explains_the_targets_is_found():
    """Targets made by a credal partition have criterion zero, and relabeling clusters leaves them alone."""
    focal, forms, _, truth = case(n=25, seed=4)
    truth = np.random.default_rng(0).dirichlet(np.full(len(focal), 0.2), size=25)
    targets = np.stack([truth @ form @ truth.T for form in forms])
    near = 0.8 * truth + 0.2 / len(focal)
    result = irqp(near, forms, targets, tol=1e-8, max_iter=5000)
    assert result.trace[-1] < 1e-3 * result.trace[0]


def test_partners_may_be_few():
    _, forms, targets, start = case(n=30, seed=5)
    rng = np.random.default_rng(1)
    pairs = np.array(sorted({tuple(sorted(p)) for p in rng.integers(0, 30, size=(90, 2)).tolist() if p[0] != p[1]}))
    some = symmetric_pairs(pairs, targets[:, pairs[:, 0], pairs[:, 1]], 30)
    result = irqp(start, forms, some, tol=1e-6)
    assert (np.diff(result.trace) <= 0).all()
    assert result.trace[-1] == pytest.approx(criterion(result.state, forms, some))
    assert result.trace[-1] < 0.5 * result.trace[0]


def test_stopping_rule_is_the_running_mean():
    _, forms, targets, start = case(seed=6)
    trace = irqp(start, forms, targets, tol=1e-3).trace
    error = [1.0]
    for before, after in pairwise(trace):
        error.append(0.5 * error[-1] + 0.5 * abs(after - before) / before)
    assert error[-1] < 1e-3 <= error[-2]


@pytest.mark.parametrize("sweeps", [1, 2, 4])
def test_a_criterion_of_zero_ends_the_search_in_whatever_sweep(sweeps, monkeypatch):
    _, forms, targets, start = case(seed=7)
    whole = criterion(start, forms, targets)
    monkeypatch.setattr(module, "_sweeper", lambda *given: nullcontext(lambda rows: -whole / sweeps))
    result = irqp(start, forms, targets, tol=0, max_iter=20)
    assert result.converged
    assert len(result.trace) == 1 + sweeps
    assert result.trace[-1] == 0
