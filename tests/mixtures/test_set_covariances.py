"""Covariances of clusters whose sets are components too: the bound, and its least value under each model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from covariance_forms import is_member, moved, n_free, neighbor, random_member
from evidentia.belief import FocalSets
from evidentia.mixtures._covariances import MODELS, Bound, bound, covariances
from evidentia.mixtures._em import SHARED
from evidentia.solvers.barycentric import averaging

OWN = [model for model in MODELS if model not in SHARED]
CLOSED = ["VII", "EVI", "VVI", "EVV", "VVV"]  # one call gives the least value; the others go down step by step
ALTERNATING = [model for model in OWN if model not in CLOSED]


def scatters(f, d, rng):
    roots = rng.normal(size=(f, d, d + 3)) * rng.uniform(0.3, 2, size=(f, d, 1))
    return roots @ roots.swapaxes(1, 2)


def problem(c=3, d=3, seed=0, diagonal=False):
    """Sizes, slopes and scatters as full matrices; those of a diagonal model too."""
    rng = np.random.default_rng(seed)
    found = Bound(rng.uniform(3, 20, size=c), scatters(c, d, rng), 5 * scatters(c, d, rng))
    return Bound(found.size, *(part * np.eye(d) for part in found[1:])) if diagonal else found


def solve(model, found, previous, n_calls=1):
    """Matrices, whether or not the model knows variances only."""
    if not model.endswith("I"):
        for _ in range(n_calls):
            previous = found.minimize(model, previous)
        return previous
    slim = Bound(found.size, *(np.einsum("kjj->kj", part) for part in found[1:]))
    variances = np.einsum("kjj->kj", previous)
    for _ in range(n_calls):
        variances = slim.minimize(model, variances)
    return variances[:, :, None] * np.eye(variances.shape[1])


def height(sigma, found):
    """The definition: what is minimized."""
    return sum(
        n * np.linalg.slogdet(S)[1] + np.trace(P @ S) + np.trace(np.linalg.solve(S, Q))
        for n, P, Q, S in zip(*found, sigma)
    )


def criterion(sigma, average, size, scatter):
    """Minus twice the expected log-likelihood of all sets, but for a constant."""
    of_sets = np.tensordot(average, sigma, axes=1)
    return size @ np.linalg.slogdet(of_sets)[1] + np.trace(np.linalg.solve(of_sets, scatter), axis1=1, axis2=2).sum()


@pytest.mark.parametrize("model", OWN)
def test_covariances_are_of_the_model_and_never_worse_than_those_before(model):
    rng = np.random.default_rng(3)
    for seed in range(12):
        found, previous = problem(seed=seed), random_member(model, 3, 3, rng)
        assert is_member(previous, model)
        after = solve(model, found, previous)
        assert is_member(after, model, 1e-7)
        assert height(after, found) < height(previous, found)


@pytest.mark.parametrize("model", OWN)
def test_a_general_optimizer_finds_nothing_lower(model):
    rng = np.random.default_rng(5)
    found = problem(seed=6)
    best = solve(model, found, random_member(model, 3, 3, rng), n_calls=60)
    lowest = height(best, found)
    for step in (0.1, 0.01, 0.001):
        assert all(height(neighbor(best, model, step, rng), found) > lowest - 1e-9 for _ in range(20))
    # from nearby, and from anywhere for rules that give the least of all values
    starts = [neighbor(best, model, 0.2, rng)] + [random_member(model, 3, 3, rng)] * (model in CLOSED)
    for start in starts:
        reached = minimize(
            lambda free, begin: height(moved(begin, model, free), found), np.zeros(n_free(model, 3, 3)), args=(start,)
        )
        assert reached.fun == pytest.approx(lowest, rel=1e-7)


@pytest.mark.parametrize("model", CLOSED)
def test_closed_forms_do_not_depend_on_where_the_search_begins(model):
    rng = np.random.default_rng(1)
    one, other = (solve(model, problem(seed=2), random_member(model, 3, 3, rng)) for _ in range(2))
    np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("model", ALTERNATING)
def test_any_number_of_inner_iterations_is_a_step_down(model, monkeypatch):
    previous = random_member(model, 3, 3, np.random.default_rng(4))
    heights = [height(previous, problem())]
    for n_inner in range(1, 7):
        monkeypatch.setattr("evidentia.mixtures._covariances.BOUND_ITERATIONS", n_inner)
        heights.append(height(solve(model, problem(), previous), problem()))
    assert (np.diff(heights) <= 1e-10).all()
    assert heights[1] < heights[0]


@pytest.mark.parametrize("model", OWN)
def test_single_clusters_alone_have_the_covariances_of_the_parsimonious_mixture(model, monkeypatch):
    monkeypatch.setattr("evidentia.mixtures._covariances.TURN_TOLERANCE", 1e-12)
    found = problem(seed=9)._replace(slope=np.zeros((3, 3, 3)))
    start = covariances(model, found.scatter[None], found.size[None])[0]
    np.testing.assert_allclose(solve(model, found, start), start, rtol=1e-7, atol=1e-7)
    elsewhere = solve(model, found, neighbor(start, model, 0.1, np.random.default_rng(0)), n_calls=60)
    np.testing.assert_allclose(elsewhere, start, rtol=1e-6, atol=1e-6)
    assert height(elsewhere, found) == pytest.approx(height(start, found), rel=1e-9)


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 4), st.booleans())
def test_the_bound_lies_above_the_criterion_and_touches_it(seed, c, d, diagonal):
    rng = np.random.default_rng(seed)
    average = averaging(FocalSets(c, "full", empty=False))
    size, scatter = rng.uniform(0, 9, size=len(average)), scatters(len(average), d, rng)
    here = random_member("VVI" if diagonal else "VVV", c, d, rng)
    of_sets = np.tensordot(average, here, axes=1)
    if diagonal:
        scatter = scatter * np.eye(d)
        variances = [np.einsum("kjj->kj", part) for part in (scatter, here, np.linalg.inv(of_sets))]
        found = bound(average, size, *variances)
        found = Bound(found.size, *(part[:, :, None] * np.eye(d) for part in found[1:]))
    else:
        found = bound(average, size, scatter, here, np.linalg.inv(of_sets))
    several = average.max(axis=1) < 1
    constant = size[several] @ (np.linalg.slogdet(of_sets[several])[1] - d)
    assert criterion(here, average, size, scatter) == pytest.approx(height(here, found) + constant, rel=1e-9)
    for step in (0.03, 0.3, 2.0):
        other = neighbor(here, "VVI" if diagonal else "VVV", step, rng)
        above = height(other, found) + constant
        assert criterion(other, average, size, scatter) <= above + 1e-9 * abs(above)


@pytest.mark.parametrize("model", OWN)
def test_steps_lead_to_a_minimum_of_the_criterion(model):
    """Not of the bound alone: where repeated steps rest, no neighbor within the model is better."""
    rng = np.random.default_rng(8)
    average = averaging(FocalSets(3, "pairs", empty=False))
    size, scatter = rng.uniform(2, 9, size=len(average)), scatters(len(average), 3, rng)
    if model.endswith("I"):
        scatter = scatter * np.eye(3)
    sigma, trace = random_member(model, 3, 3, rng), []
    for _ in range(400):
        trace.append(criterion(sigma, average, size, scatter))
        precisions = np.linalg.inv(np.tensordot(average, sigma, axes=1))
        sigma = solve(model, bound(average, size, scatter, sigma, precisions), sigma)
    assert (np.diff(trace) <= 1e-9).all()
    for step in (0.1, 0.01):
        for _ in range(30):
            assert criterion(neighbor(sigma, model, step, rng), average, size, scatter) > trace[-1] - 1e-6


def test_two_clusters_and_their_set_on_a_line_by_hand():
    average = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    size, scatter = np.array([3.0, 2.0, 4.0]), np.array([[5.0], [8.0], [10.0]])
    variances = np.array([[1.0], [3.0]])  # that of the set is 2
    found = bound(average, size, scatter, variances, np.array([[1.0], [1 / 3], [0.5]]))
    np.testing.assert_allclose(found.size, [3, 2])
    np.testing.assert_allclose(found.slope, [[1.0], [1.0]])  # 4 / 2 * 0.5
    np.testing.assert_allclose(found.scatter, [[5 + 1 * 2.5 / 2], [8 + 9 * 2.5 / 2]])  # 0.5 * 10 * 0.5 = 2.5
    # 3 / s + 1 - 6.25 / s² = 0 and 2 / s + 1 - 19.25 / s² = 0
    expected = [[(np.sqrt(34) - 3) / 2], [3.5]]
    np.testing.assert_allclose(found.minimize("VVI", variances), expected)
    np.testing.assert_allclose(found.minimize("VII", variances), expected)
    matrices = Bound(found.size, found.slope[:, :, None], found.scatter[:, :, None])
    np.testing.assert_allclose(matrices.minimize("VVV", variances[:, :, None])[:, :, 0], expected)
    # one volume for both: 5 / s + 2 - 25.5 / s² = 0
    equal = (np.sqrt(25 + 4 * 2 * 25.5) - 5) / 4
    np.testing.assert_allclose(found.minimize("EVI", variances), [[equal], [equal]])
    np.testing.assert_allclose(matrices.minimize("EVV", variances[:, :, None])[:, :, 0], [[equal], [equal]])


def test_a_cluster_that_only_sets_hold_has_a_covariance_all_the_same():
    """Size zero: the geometric mean of scatter and inverse slope."""
    found = problem(c=2)._replace(size=np.array([0.0, 7.0]))
    sigma = found.minimize("VVV", np.tile(np.eye(3), (2, 1, 1)))[0]
    np.testing.assert_allclose(sigma @ found.slope[0] @ sigma, found.scatter[0], rtol=1e-9)
    for model in OWN:
        after = solve(model, found, np.tile(np.eye(3), (2, 1, 1)))
        assert np.isfinite(after).all()
        assert np.linalg.eigvalsh(after).min() > 0


@pytest.mark.parametrize("model", ["VII", "VEI", "VVI", "VEE", "VVE", "VEV", "VVV"])
def test_a_cluster_without_objects_rests_and_leaves_the_others_alone(model):
    rng = np.random.default_rng(2)
    half = rng.normal(size=(3, 2, 6))
    scatter, previous = half @ half.swapaxes(1, 2), np.stack([np.eye(2), np.diag([2.0, 3.0]), np.diag([5.0, 0.5])])
    if model[2] == "I":
        scatter, previous = np.einsum("kpp->kp", scatter), np.einsum("kpp->kp", previous)
    found = Bound(np.array([6.0, 0.0, 7.0]), np.zeros_like(scatter), scatter)
    rested = found.keep(np.array([1]), 1e-13, previous).minimize(model, previous)
    others = Bound(*(part[[0, 2]] for part in found)).minimize(model, previous[[0, 2]])
    np.testing.assert_allclose(rested[[0, 2]], others, rtol=1e-6)
    assert np.isfinite(rested[1]).all()
    if model in ("VVI", "VVV"):
        np.testing.assert_allclose(rested[1], previous[1], rtol=1e-12)
