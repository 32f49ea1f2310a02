"""The equations of evidential c-means against plain loops of the papers' formulas, and against optimality."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.belief import FocalSets
from evidentia.prototypes._base import Slices
from evidentia.prototypes._kernel import (
    GUARD,
    ColumnChunk,
    Criterion,
    DistanceCosts,
    Prototypes,
    adapted_metric,
    block_masses,
    chunk_sums,
    cost_terms,
    descent_step,
    guard_cost,
    lift,
    sums_over,
    update_centers,
    update_covariances,
    update_masses,
)

ALPHA, BETA, RHO = 1.7, 2.3, 1.9
ADAPTIVE = pytest.mark.parametrize("adaptive", [False, True], ids=["euclidean", "mahalanobis"])


def weighted_sums(rows, weight, prototypes, criterion):
    return chunk_sums(ColumnChunk(rows, weight), DistanceCosts(prototypes, criterion))


def random_problem(adaptive, n=31, c=3, p=2, seed=0, family="full"):
    """Rows of about unit variance in loops of lists, random prototypes and weights; nothing neutral."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.integers(0, 2, (n, 1))
    covariances = None
    if adaptive:
        root = rng.normal(size=(c, p, p))
        covariances = root @ root.transpose(0, 2, 1) + 0.3 * np.eye(p)
    weight = rng.uniform(0.2, 3, n)
    criterion = Criterion(FocalSets(c, family), ALPHA, BETA, RHO)
    return X, weight, Prototypes(rng.normal(size=(c, p)), covariances), criterion


def loop_sq_dist(x, subset, prototypes):
    """(11), (13), (22), (23): distance to the mean center in the mean metric."""
    center = sum(prototypes.centers[k] for k in subset) / len(subset)
    metric = np.eye(len(x))
    if prototypes.covariances is not None:
        metric = sum(adapted_metric(prototypes.covariances)[k] for k in subset) / len(subset)
    return (x - center) @ metric @ (x - center)


def loop_masses(X, prototypes, criterion):
    """(A.1), (A.2) as written."""
    masses = np.empty((len(X), len(criterion.focal_sets)))
    for i, x in enumerate(X):
        for j, subset in enumerate(criterion.focal_sets):
            cost = criterion.rho**2
            if subset:
                cost = len(subset) ** criterion.alpha * loop_sq_dist(x, subset, prototypes)
            masses[i, j] = cost ** (-1 / (criterion.beta - 1))
        masses[i] /= masses[i].sum()
    return masses


def loop_objective(X, weight, masses, prototypes, criterion):
    """(14) without its constant factor."""
    total = 0.0
    for x, w, m in zip(X, weight, masses):
        for j, subset in enumerate(criterion.focal_sets):
            cost = criterion.rho**2
            if subset:
                cost = len(subset) ** criterion.alpha * loop_sq_dist(x, subset, prototypes)
            total += w * cost * m[j] ** criterion.beta
    return total


@ADAPTIVE
def test_costs_are_linear_in_the_features(adaptive):
    X, _, prototypes, criterion = random_problem(adaptive)
    cost = cost_terms(prototypes, criterion) @ lift(X.T, adaptive)
    for j, subset in enumerate(criterion.focal_sets):
        for i, x in enumerate(X):
            expected = len(subset) ** ALPHA * loop_sq_dist(x, subset, prototypes) if subset else RHO**2
            assert cost[j, i] == pytest.approx(expected, rel=1e-10)


@given(st.integers(0, 10_000), st.sampled_from([1.05, 1.5, 2.0, 3.7]))
def test_masses_satisfy_the_optimality_conditions(seed, beta):
    cost = np.random.default_rng(seed).uniform(0.5, 2, (4, 6))
    masses, least = update_masses(cost, beta)
    np.testing.assert_allclose(masses.sum(axis=0), 1, rtol=1e-12)
    slope = cost * masses ** (beta - 1)  # dJ/dm / beta: flat over the focal sets of an object
    np.testing.assert_allclose(slope, slope[:1] * np.ones((4, 1)), rtol=1e-8)
    np.testing.assert_allclose(least, (cost * masses**beta).sum(axis=0), rtol=1e-8)


def test_beta_near_one_gives_crisp_masses_without_overflow():
    masses, least = update_masses(np.array([[1e-9], [2e9], [1e-9]]), beta=1.0001)
    np.testing.assert_allclose(masses.ravel(), [0.5, 0, 0.5], atol=1e-12)
    assert least[0] == pytest.approx(1e-9, rel=1e-3)


@ADAPTIVE
def test_an_object_on_a_prototype_belongs_to_it(adaptive):
    X, _, prototypes, criterion = random_problem(adaptive)
    X[4] = prototypes.centers[1]
    (_, _, _, masses, _) = next(block_masses(X.T, DistanceCosts(prototypes, criterion)))
    assert np.isfinite(masses).all()
    assert masses[criterion.focal_sets.index({1}), 4] == pytest.approx(1, abs=1e-6)


@ADAPTIVE
@pytest.mark.parametrize("beta", [BETA, 2.0])
def test_weighted_sums_are_those_of_the_formulas(adaptive, beta):
    X, weight, prototypes, criterion = random_problem(adaptive)
    criterion = replace(criterion, beta=beta)
    masses = loop_masses(X, prototypes, criterion)
    objective, sums = weighted_sums(X.T, weight, prototypes, criterion)
    assert objective == pytest.approx(loop_objective(X, weight, masses, prototypes, criterion), rel=1e-10)
    expected = sum(w * np.outer(m**beta, lift(x[:, None], adaptive)) for x, w, m in zip(X, weight, masses))
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-12)


@ADAPTIVE
@pytest.mark.parametrize("n", [1, 64, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_pass_is_that_by_products_of_matrices(adaptive, n, weighted):
    X, weight, prototypes, criterion = random_problem(adaptive, n=n, p=5)
    X[0] = prototypes.centers[1]  # a cost of zero
    criterion, given = replace(criterion, beta=2.0), weight if weighted else None
    compiled = weighted_sums(np.ascontiguousarray(X.T), given, prototypes, criterion)
    products = sums_over(block_masses(X.T, DistanceCosts(prototypes, criterion)), given)
    assert compiled.objective == pytest.approx(products.objective, rel=1e-13)
    np.testing.assert_allclose(compiled.sums, products.sums, rtol=1e-12, atol=1e-13)


def test_a_cost_that_is_no_number_is_not_taken_for_the_least():
    X, _, prototypes, criterion = random_problem(False)
    X[2, 1] = np.nan
    assert np.isnan(weighted_sums(X.T, None, prototypes, replace(criterion, beta=2.0)).objective)


def test_blocks_of_rows_do_not_change_the_sums(monkeypatch):
    X, weight, prototypes, criterion = random_problem(False, n=1000)
    whole = weighted_sums(X.T, weight, prototypes, criterion)
    monkeypatch.setattr("evidentia.solvers.memory.BLOCK_BYTES", 1)
    assert len(list(block_masses(X.T, DistanceCosts(prototypes, criterion)))) > 3
    chunks = weighted_sums(X.T, weight, prototypes, criterion)
    assert chunks[0] == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(chunks[1], whole[1], rtol=1e-12)


def test_euclidean_centers_solve_the_system_of_the_paper():
    X, weight, prototypes, criterion = random_problem(False)
    masses = loop_masses(X, prototypes, criterion)
    c, p = prototypes.centers.shape
    H, B = np.zeros((c, c)), np.zeros((c, p))  # (A.3), (A.4)
    for i, x in enumerate(X):
        for j, subset in enumerate(criterion.focal_sets):
            for k in subset:
                B[k] += weight[i] * len(subset) ** (ALPHA - 1) * masses[i, j] ** BETA * x
                for other in subset:
                    H[k, other] += weight[i] * len(subset) ** (ALPHA - 2) * masses[i, j] ** BETA
    _, sums = weighted_sums(X.T, weight, prototypes, criterion)
    np.testing.assert_allclose(update_centers(sums, prototypes, criterion), np.linalg.solve(H, B), rtol=1e-9)


def test_mahalanobis_centers_solve_the_large_system_of_the_paper():
    X, weight, prototypes, criterion = random_problem(True, n=17)
    masses = loop_masses(X, prototypes, criterion)
    (n, p), c = X.shape, len(prototypes.centers)
    metric = adapted_metric(prototypes.covariances)
    F, G = np.zeros((c, p, n, p)), np.zeros((c, p, c, p))  # (30), (31) in the blocks of (32)
    for i in range(n):
        for j, subset in enumerate(criterion.focal_sets):
            if not subset:
                continue
            mean = sum(metric[k] for k in subset) / len(subset)
            for k in subset:
                F[k, :, i] += weight[i] * len(subset) ** (ALPHA - 1) * masses[i, j] ** BETA * mean
                for other in subset:
                    G[k, :, other] += weight[i] * len(subset) ** (ALPHA - 2) * masses[i, j] ** BETA * mean
    V = np.linalg.solve(G.reshape(c * p, c * p), F.reshape(c * p, n * p) @ X.ravel())  # (33)
    _, sums = weighted_sums(X.T, weight, prototypes, criterion)
    np.testing.assert_allclose(update_centers(sums, prototypes, criterion).ravel(), V, rtol=1e-8)


def test_covariances_are_those_of_the_paper_up_to_the_guard():
    X, weight, prototypes, criterion = random_problem(True)
    masses = loop_masses(X, prototypes, criterion)
    c, p = prototypes.centers.shape
    scatter, share = np.zeros((c, p, p)), np.zeros(c)  # (37), and the weight that makes it a mean
    for i, x in enumerate(X):
        for j, subset in enumerate(criterion.focal_sets):
            for k in subset:
                off = x - sum(prototypes.centers[k] for k in subset) / len(subset)
                factor = weight[i] * masses[i, j] ** BETA * len(subset) ** (ALPHA - 1)
                scatter[k] += factor * np.outer(off, off)
                share[k] += factor
    _, sums = weighted_sums(X.T, weight, prototypes, criterion)
    found = update_covariances(sums, prototypes.centers, criterion, weight.sum())
    np.testing.assert_allclose(found, scatter / share[:, None, None], rtol=1e-5)
    expected = np.linalg.det(scatter[0]) ** (1 / p) * np.linalg.inv(scatter[0])  # (42)
    np.testing.assert_allclose(adapted_metric(found)[0], expected, rtol=1e-5)


def test_metrics_have_unit_volume():
    _, _, prototypes, _ = random_problem(True, p=4)
    np.testing.assert_allclose(np.linalg.det(prototypes.metric), 1, rtol=1e-9)


@ADAPTIVE
@pytest.mark.parametrize("seed", [0, 1])
def test_no_small_change_of_what_was_just_updated_lowers_the_criterion(adaptive, seed):
    X, weight, prototypes, criterion = random_problem(adaptive, seed=seed)
    masses = loop_masses(X, prototypes, criterion)
    _, sums = weighted_sums(X.T, weight, prototypes, criterion)
    centers = update_centers(sums, prototypes, criterion)
    moved = replace(prototypes, centers=centers)
    best = loop_objective(X, weight, masses, moved, criterion)
    assert best <= loop_objective(X, weight, masses, prototypes, criterion)
    rng = np.random.default_rng(seed)
    for step in 1e-3 * rng.normal(size=(10, *centers.shape)):
        assert loop_objective(X, weight, masses, replace(moved, centers=centers + step), criterion) > best
    if adaptive:
        shaped = replace(moved, covariances=update_covariances(sums, centers, criterion, weight.sum()))
        best = loop_objective(X, weight, masses, shaped, criterion)
        assert best < loop_objective(X, weight, masses, moved, criterion)
        for step in 1e-2 * rng.normal(size=(10, *shaped.covariances.shape)):
            other = replace(shaped, covariances=shaped.covariances + step + step.transpose(0, 2, 1))
            assert loop_objective(X, weight, masses, other, criterion) > best * (1 - 10 * GUARD)


@ADAPTIVE
@pytest.mark.parametrize(("alpha", "beta", "family"), [(0.0, 1.2, "full"), (1.7, 2.0, "pairs"), (3.0, 4.0, "simple")])
def test_the_criterion_never_rises(adaptive, alpha, beta, family):
    X, weight, prototypes, criterion = random_problem(adaptive, n=60, c=4, p=3, family=family)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    criterion = replace(criterion, alpha=alpha, beta=beta)
    trace = []
    for _ in range(60):
        objective, prototypes = descent_step(Slices(X.T, weight), weight.sum(), criterion, prototypes)
        trace.append(objective)
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()
    assert trace[-1] < 0.95 * trace[0]


def test_the_criterion_never_rises_where_clusters_are_flat():
    t = np.linspace(-1.5, 1.5, 40)
    X = np.vstack([np.c_[t, 0 * t, t], np.c_[0 * t, t, t]])  # two lines in space: every covariance is singular
    prototypes = Prototypes(X[[3, 70]], np.tile(np.eye(3), (2, 1, 1)))
    criterion, trace = Criterion(FocalSets(2), 1.0, 2.0, 1.0), []
    for _ in range(80):
        objective, prototypes = descent_step(Slices(X.T, np.ones(80)), 80.0, criterion, prototypes)
        trace.append(objective)
    assert np.isfinite(prototypes.metric).all()
    assert (np.diff(trace) <= 1e-9 * trace[0]).all()


def test_covariances_of_flat_clusters_minimize_the_guarded_criterion():
    t, rng = np.linspace(-1.5, 1.5, 30), np.random.default_rng(0)
    X = np.c_[t, 0 * t]  # nothing but the guard keeps the second direction
    criterion = Criterion(FocalSets(1, [{0}]), 1.0, 2.0)
    prototypes = Prototypes(np.zeros((1, 2)), np.array([np.diag([1.0, 1e-8])]))
    objective, following = descent_step(Slices(X.T, np.ones(30)), 30.0, criterion, prototypes)
    pure, _ = weighted_sums(X.T, np.ones(30), prototypes, criterion)
    assert objective - pure == pytest.approx(GUARD * 30 * (1e4 + 1e-4), rel=1e-6)  # the metric is diag(1e-4, 1e4)

    def guarded(covariances):
        shaped = replace(following, covariances=covariances)
        return weighted_sums(X.T, np.ones(30), shaped, criterion)[0] + guard_cost(shaped, 30.0)

    best = guarded(following.covariances)
    for factor in rng.uniform(0.8, 1.25, (10, 2)):
        assert guarded(following.covariances * np.diag(factor)) >= best


def test_a_cluster_without_objects_keeps_its_place_and_a_round_metric():
    criterion = Criterion(FocalSets(2, [{0}, {1}]), 1.0, 2.0)
    prototypes = Prototypes(np.array([[0.0, 0.0], [5.0, 5.0]]), np.tile(np.eye(2), (2, 1, 1)))
    sums = np.array([[3.0, 1.0, 2.0, 4.0, 1.0, 5.0], np.zeros(6)])
    centers = update_centers(sums, prototypes, criterion)
    np.testing.assert_allclose(centers, [[1 / 3, 2 / 3], [5, 5]], rtol=1e-12)
    np.testing.assert_allclose(update_covariances(sums, centers, criterion, 10.0)[1], np.eye(2), rtol=1e-12)


@ADAPTIVE
@pytest.mark.parametrize("beta", [2.0, 1.5], ids=["compiled", "products"])
def test_a_row_next_to_a_far_prototype_keeps_its_distance(beta, adaptive):
    """The products of 1,000 leave rounding errors of 1e-10; a squared distance of 2e-12 is what counts."""
    X, _, prototypes, criterion = random_problem(adaptive, n=9)
    prototypes.centers[0] = 1000.0, 300.0
    X[0] = prototypes.centers[0] + [1e-6, -1e-6]
    criterion = replace(criterion, beta=beta, rho=1e-6)
    masses = loop_masses(X, prototypes, criterion)
    found = weighted_sums(X.T, None, prototypes, criterion)
    assert found.objective == pytest.approx(loop_objective(X, np.ones(9), masses, prototypes, criterion), rel=1e-6)
    np.testing.assert_allclose(found.sums[:, 0], (masses**beta).sum(axis=0), rtol=1e-6)
