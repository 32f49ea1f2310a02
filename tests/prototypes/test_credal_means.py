"""CCM and BCM against their formulas."""

import itertools

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from evidentia import FocalSets
from evidentia.experimental import BCM
from evidentia.prototypes import CCM

BOTH = pytest.mark.parametrize("kind", [CCM, BCM])


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs([50, 40, 30], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)
    return X


def plain_cost(kind, X, V, subset, gamma, rho):
    """D² of every object and one set, as the authors write it."""
    if not subset:
        return np.full(len(X), rho**2)
    near = [np.square(X - V[k]).sum(axis=1) for k in subset]
    if len(subset) == 1:
        return near[0]
    pairs = list(itertools.combinations(subset, 2))
    if kind is CCM:
        middle = np.square(X - V[list(subset)].mean(axis=0)).sum(axis=1)
        return (sum(near) + gamma * middle) / (len(subset) + gamma)
    apart = sum(np.square(V[a] - V[b]).sum() for a, b in pairs)
    return (sum(near) + gamma * apart) / (len(subset) + gamma * len(pairs))


def plain_criterion(kind, X, V, focal_sets, gamma, rho, beta, masses=None):
    cost = np.array([plain_cost(kind, X, V, subset, gamma, rho) for subset in focal_sets]).T
    if masses is None:
        masses = cost ** (-1 / (beta - 1))
        masses /= masses.sum(axis=1, keepdims=True)
    return (cost * masses**beta).sum(), masses


@BOTH
def test_masses_and_criterion_are_those_of_the_plain_formulas(blobs, kind):
    model = kind(3, focal_sets="full", gamma=0.4, beta=1.8, rho=3.0, random_state=0).fit(blobs)
    J, masses = plain_criterion(kind, blobs, model.cluster_centers_, model.focal_sets_, 0.4, 3.0, 1.8)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-9)
    assert model.criterion_ == pytest.approx(J, rel=1e-9)


@BOTH
def test_an_iteration_puts_the_centers_at_their_optimum(blobs, kind):
    start, gamma, rho, beta = blobs[[3, 60, 100]] + 0.1, 0.4, 3.0, 1.8
    focal_sets = FocalSets(3)
    with pytest.warns(ConvergenceWarning):
        model = kind(3, focal_sets="full", gamma=gamma, beta=beta, rho=rho, init=start, max_iter=1).fit(blobs)
    _, masses = plain_criterion(kind, blobs, start, focal_sets, gamma, rho, beta)

    def J(flat):
        return plain_criterion(kind, blobs, flat.reshape(3, 2), focal_sets, gamma, rho, beta, masses)[0]

    best = minimize(J, start.ravel(), tol=1e-12)
    assert check_grad(J, lambda v: np.zeros(6), best.x) < 1e-2  # the minimum is flat
    np.testing.assert_allclose(model.cluster_centers_.ravel(), best.x, atol=1e-4)


@BOTH
def test_the_criterion_never_rises_and_prediction_repeats_the_fit(blobs, kind):
    model = kind(3, random_state=0).fit(blobs)
    assert (np.diff(model.criterion_trace_) <= 1e-12 * model.criterion_).all()
    np.testing.assert_array_equal(model.predict_partition(blobs).masses, model.partition_.masses)
    assert (np.diff(model.partition_.pignistic.sum(axis=0)) <= 0).all()


@BOTH
def test_weight_two_is_two_copies(blobs, kind):
    start = blobs[[3, 60, 100]]
    weight = np.repeat([1, 2], [100, 20])
    weighted = kind(3, rho=4.0, init=start).fit(blobs, sample_weight=weight)
    copied = kind(3, rho=4.0, init=start).fit(np.repeat(blobs, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, atol=1e-6)


def test_credal_c_means_does_not_take_a_middle_cluster_for_an_overlap():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 1)) * 0.4 + at for at in (-8, 0, 8)])
    model = CCM(3, random_state=0).fit(X)
    assert (model.partition_.sets("mass").sum(axis=1) == 1).all()
    assert sorted(model.cluster_centers_.ravel().round()) == [-8, 0, 8]


def plain_ccm(X, V, focal_sets, gamma, rho, beta, iterations):
    """Credal c-means by its normal equations H V = B, every sum a loop; centers, masses and J of these."""
    c, (n, p) = len(V), X.shape
    for step in range(iterations + 1):
        cost = np.array([plain_cost(CCM, X, V, sorted(subset), gamma, rho) for subset in focal_sets]).T
        masses = np.zeros_like(cost)
        for i in range(n):
            weights = [value ** (-1 / (beta - 1)) for value in cost[i]]
            masses[i] = [weight / sum(weights) for weight in weights]
        if step == iterations:
            return V, masses, sum(cost[i, j] * masses[i, j] ** beta for i in range(n) for j in range(len(focal_sets)))
        H, B = np.zeros((c, c)), np.zeros((c, p))
        for j, subset in enumerate(focal_sets):
            a = len(subset)
            total = sum(masses[i, j] ** beta for i in range(n))
            pulled = sum(masses[i, j] ** beta * X[i] for i in range(n))
            for k in subset:
                B[k] += pulled * (1 if a == 1 else (1 + gamma / a) / (a + gamma))
                H[k, k] += total * (1 if a == 1 else (1 + gamma / a**2) / (a + gamma))
                for q in subset - {k}:
                    H[k, q] += total * gamma / (a**2 * (a + gamma))
        V = np.linalg.solve(H, B)


@pytest.mark.parametrize("gamma", [0.6, 3.0])
def test_credal_c_means_solves_its_normal_equations(blobs, gamma):
    X, start, focal_sets = blobs[::2], blobs[[3, 60, 100]] + 0.1, FocalSets(3)
    centers, masses, J = plain_ccm(X, start, focal_sets, gamma, 3.0, 1.8, iterations=3)
    with pytest.warns(ConvergenceWarning):
        model = CCM(3, focal_sets="full", gamma=gamma, beta=1.8, rho=3.0, init=start, max_iter=3, tol=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-10)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-12)
    assert model.criterion_ == pytest.approx(J, rel=1e-12)


def test_larger_gamma_of_ccm_leaves_more_objects_torn(blobs):
    torn = [(CCM(3, gamma=g, random_state=0).fit(blobs).partition_.sets().sum(axis=1) > 1).sum() for g in (0.1, 1, 9)]
    assert torn[0] <= torn[1] < torn[2]


@BOTH
def test_every_single_cluster_must_be_a_focal_set(blobs, kind):
    with pytest.raises(ValueError, match=r"each must be a focal set. \{1\} is not among: \{0\}, \{1,2\}, \{2\}"):
        kind(3, focal_sets=[{0}, {1, 2}, {2}]).fit(blobs)
    with pytest.raises(ValueError, match=f"'gamma' parameter of {kind.__name__} must be a number > 0. Got 0"):
        kind(3, gamma=0).fit(blobs)
    with pytest.raises(ValueError, match="must be one of 'full', 'pairs', 'simple', 'singletons' or list of subsets"):
        kind(3, focal_sets="near-pairs").fit(blobs)
