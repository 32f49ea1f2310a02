"""The descent on shared partners and with links, against the plain one."""

import numpy as np
import pytest
from scipy.optimize import minimize

from evidentia import FocalSets
from evidentia.dissimilarities import Matrix
from evidentia.relational.pairs import random_pairs
from evidentia.solvers.irqp import Links, criterion, irqp, place_among, symmetric_pairs


def case(n=30, k=8, n_forms=1, seed=0):
    """Random targets of random pairs: in groups, and the same as a list in the same order of rows."""
    rng = np.random.default_rng(seed)
    focal = FocalSets(3, "pairs")
    forms = np.stack([focal.disjoint.astype(float), np.diag((focal.card == 1).astype(float))])[:n_forms]
    D = rng.uniform(0.05, 1, size=(n, n))
    D = np.triu(D, 1) + np.triu(D, 1).T
    grouped = random_pairs(Matrix(D), k, np.random.RandomState(seed)).layout
    values = np.concatenate([grouped.values * (t + 1) / n_forms for t in range(n_forms)])
    start = rng.dirichlet(np.ones(len(focal)), size=n)
    return focal, forms, grouped._replace(values=values), start


def as_list(grouped, n):
    """Group targets as pairs of positions, and the objects at these positions."""
    n_forms, _, size, _ = grouped.values.shape
    pairs, values = [], []
    for g, places in enumerate(grouped.places):
        for row in range(size):
            for at, other in enumerate(places):
                i = g * size + row
                if i < other < n:
                    pairs.append((i, other))
                    values.append(grouped.values[:, g, row, at])
    return symmetric_pairs(np.array(pairs), np.array(values).T.reshape(n_forms, -1), n)


def make_links(focal, n, pairs, weights, constant=0.0, seed=0):
    form = np.random.default_rng(seed).uniform(size=(len(focal), len(focal)))
    rows = symmetric_pairs(np.array(pairs), np.array(weights, dtype=float)[None], n)
    return Links((form + form.T) / 2, rows.indptr, rows.indices, rows.values[0], constant)


@pytest.mark.parametrize(("n", "k", "n_forms"), [(30, 8, 1), (31, 7, 2), (97, 60, 1), (64, 45, 2)])
def test_groups_give_the_same_rows_as_a_list_of_the_same_pairs(n, k, n_forms):
    _, forms, grouped, start = case(n, k, n_forms, seed=n)
    listed = as_list(grouped, n)
    assert criterion(start, forms, grouped) == pytest.approx(criterion(start[grouped.order], forms, listed))
    one = irqp(start, forms, grouped, tol=1e-6)
    other = irqp(start[grouped.order], forms, listed, tol=1e-6)
    np.testing.assert_allclose(one.state[grouped.order], other.state, atol=1e-8)
    np.testing.assert_allclose(one.trace, other.trace, rtol=1e-9)
    assert one.trace[-1] == pytest.approx(criterion(one.state, forms, grouped))


def dense_case(n=14, seed=1):
    focal, forms, _, start = case(n, 4, 1, seed)
    rng = np.random.default_rng(seed)
    targets = rng.uniform(size=(1, n, n))
    return focal, forms, (targets + targets.transpose(0, 2, 1)) / 2, start


def slow_criterion(masses, forms, targets, links, pairs, weights):
    n = len(masses)
    squares = sum((masses[i] @ forms[0] @ masses[j] - targets[0, i, j]) ** 2 for i in range(n) for j in range(i))
    return squares + sum(w * masses[i] @ links.form @ masses[j] for (i, j), w in zip(pairs, weights)) + links.constant


PAIRS, WEIGHTS = [(0, 3), (3, 7), (2, 5), (7, 1)], [1.5, -0.7, 2.0, 0.4]


def test_links_add_their_sum_to_the_criterion():
    focal, forms, targets, start = dense_case()
    links = make_links(focal, 14, PAIRS, WEIGHTS, constant=3.0)
    expected = slow_criterion(start, forms, targets, links, PAIRS, WEIGHTS)
    assert criterion(start, forms, targets, links) == pytest.approx(expected)


def test_each_row_is_optimal_with_links_too():
    focal, forms, targets, start = dense_case(seed=2)
    links = make_links(focal, 14, PAIRS, WEIGHTS, constant=3.0)
    found = irqp(start, forms, targets, links=links, tol=1e-12)
    assert (np.diff(found.trace) <= 0).all()
    assert found.trace[-1] == pytest.approx(slow_criterion(found.state, forms, targets, links, PAIRS, WEIGHTS))
    for i in (0, 3, 7, 10):

        def with_row(row, i=i):
            moved = found.state.copy()
            moved[i] = row
            return slow_criterion(moved, forms, targets, links, PAIRS, WEIGHTS)

        other = minimize(
            with_row,
            np.full(len(focal), 1 / len(focal)),
            bounds=[(0, 1)] * len(focal),
            constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        assert with_row(found.state[i]) <= other.fun + 1e-6


@pytest.mark.parametrize("layout", ["groups", "list"])
def test_links_mean_the_same_whatever_the_layout(layout):
    """In groups objects are renumbered: the links must follow."""
    n = 30
    focal, forms, grouped, start = case(n, 9, seed=4)
    links = make_links(focal, n, PAIRS, WEIGHTS, constant=3.0)
    free = irqp(start, forms, grouped, tol=1e-7)
    assert np.abs(free.state - irqp(start, forms, grouped, links=links, tol=1e-7).state).max() > 0.01
    at = {int(object_): position for position, object_ in enumerate(grouped.order)}
    moved = make_links(focal, n, [(at[i], at[j]) for i, j in PAIRS], WEIGHTS, constant=3.0)
    listed = as_list(grouped, n)
    expected = irqp(start[grouped.order], forms, listed, links=moved, tol=1e-7)
    if layout == "groups":
        found = irqp(start, forms, grouped, links=links, tol=1e-7)
        np.testing.assert_allclose(found.state[grouped.order], expected.state, atol=1e-8)
        np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-9)
    else:
        np.testing.assert_allclose(expected.trace[-1], criterion(expected.state, forms, listed, moved), rtol=1e-9)
    assert (np.diff(expected.trace) <= 0).all()


def test_a_placed_row_is_the_best_answer_to_its_targets():
    """No step toward another mass function lowers the squared errors of a row placed among fitted ones."""
    focal, forms, _, masses = case(25, 5, 2, seed=5)
    targets = np.random.default_rng(0).uniform(size=(2, 6, 25))
    placed = np.full((6, len(focal)), 1 / len(focal))
    place_among(placed, forms, masses, targets)
    assert (placed.std(axis=0) > 0).any()

    def errors(rows):
        return sum(np.square(rows @ form @ masses.T - wanted).sum(axis=1) for form, wanted in zip(forms, targets))

    for other in np.random.default_rng(1).dirichlet(np.full(len(focal), 0.3), size=(40, 6)):
        for step in (1e-3, 0.1, 1.0):
            assert (errors(placed) <= errors((1 - step) * placed + step * other) + 1e-9).all()
