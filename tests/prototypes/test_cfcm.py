"""Constrained fuzzy c-means: its criterion, its likeness to CECM, and its strength of links."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from evidentia import FCM, GustafsonKessel
from evidentia.constraints import PairwiseConstraints
from evidentia.prototypes import CECM, CFCM

ADAPTIVE = pytest.mark.parametrize("adaptive", [False, True])


@pytest.fixture(scope="module")
def blobs():
    X, truth = make_blobs([30, 20, 10], centers=[[0, 0], [4, 0], [0, 5]], shuffle=False, random_state=1)
    return X * [1, 2], truth


@pytest.fixture(scope="module")
def links(blobs):
    sampled = PairwiseConstraints.sample(blobs[1], 25, random_state=0)
    return PairwiseConstraints(sampled.pairs, sampled.must, np.random.default_rng(0).uniform(0.2, 1, 25))


@ADAPTIVE
def test_the_criterion_is_its_formula(blobs, links, adaptive):
    X, _ = blobs
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    model = CFCM(3, xi=2.5, adaptive=adaptive, random_state=0).fit(X, sample_weight=weight, constraints=links)
    U = model.partition_.pignistic
    metrics = [np.eye(2)] * 3 if model.cluster_metrics_ is None else model.cluster_metrics_
    expected = 0.0
    for x, u, w in zip(X, U, weight):
        expected += w * sum(
            u[k] ** 2 * (x - v) @ S @ (x - v) for k, (v, S) in enumerate(zip(model.cluster_centers_, metrics))
        )
    for i, j, must, s in links:
        for k in range(3):
            for other in range(3):
                if must is (k != other):
                    expected += 2.5 * s * U[i, k] * U[j, other]
    assert model.criterion_ == pytest.approx(expected, rel=1e-6)
    assert (np.diff(model.criterion_trace_) <= 1e-12 * model.criterion_trace_[0]).all()
    assert model.xi_ == 2.5


@pytest.mark.parametrize(("adaptive", "twin"), [(False, FCM), (True, GustafsonKessel)])
def test_without_links_it_is_the_classical_method(blobs, adaptive, twin):
    model = CFCM(3, adaptive=adaptive, random_state=0).fit(blobs[0])
    np.testing.assert_allclose(model.partition_.masses, twin(3, random_state=0).fit(blobs[0]).partition_.masses)
    assert model.xi_ == 0


@ADAPTIVE
def test_it_is_cecm_on_single_clusters_with_another_balance(blobs, links, adaptive):
    X, _ = blobs
    xi, start = 0.3, X[[0, 35, 55]]
    same = {"adaptive": adaptive, "init": start, "tol": 1e-14, "max_iter": 2000}
    cecm = CECM(3, focal_sets=[{0}, {1}, {2}], xi=xi, **same).fit(X, constraints=links)
    balance = xi / (1 - xi) * 3 * len(X) / len(links)
    cfcm = CFCM(3, xi=balance, **same).fit(X, constraints=links)
    np.testing.assert_allclose(cfcm.partition_.masses, cecm.partition_.masses, atol=1e-8)
    assert cfcm.criterion_ * (1 - xi) / (3 * len(X)) == pytest.approx(cecm.criterion_, rel=1e-9)


def test_automatic_strength_makes_both_parts_comparable(blobs, links):
    X, _ = blobs
    plain = FCM(3, init=X[[0, 35, 55]]).fit(X)
    U = plain.partition_.pignistic
    sq_dist = np.square(X[:, None] - plain.cluster_centers_).sum(axis=2)
    expected = len(X) / len(links) * (U**2 * sq_dist).sum() / (U**2).sum()
    model = CFCM(3, init=X[[0, 35, 55]]).fit(X, constraints=links)
    assert model.xi_ == pytest.approx(expected, rel=1e-6)


@ADAPTIVE
def test_links_help(adaptive):
    X, truth = load_iris(return_X_y=True)
    scores = []
    for seed in range(4):
        links = PairwiseConstraints.sample(truth, 200, random_state=seed)
        scores.append(rand_score(truth, CFCM(3, adaptive=adaptive, random_state=0).fit(X, constraints=links).labels_))
    plain = rand_score(truth, CFCM(3, adaptive=adaptive, random_state=0).fit(X).labels_)
    assert np.mean(scores) > plain + 0.04


def test_a_pipeline_routes_the_links(blobs, links):
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), CFCM(3, n_init=2, random_state=0).set_fit_request(constraints=True))
        assert len(pipe.fit(blobs[0], constraints=links)[-1].constraints_) == 25


@pytest.mark.parametrize("xi", [-1, "much", np.inf])
def test_a_wrong_strength_of_links_is_explained(blobs, xi):
    with pytest.raises(ValueError, match=r"'xi' parameter of CFCM must be 'auto' or a number >= 0\. Got"):
        CFCM(3, xi=xi).fit(blobs[0])


@pytest.mark.parametrize(
    "model", [CFCM(3, xi=1.5), CECM(3, xi=0.3, alpha=1.3, rho=20.0)], ids=lambda model: type(model).__name__
)
@ADAPTIVE
def test_weights_count_as_copies(blobs, links, model, adaptive):
    """In few columns: the check of scikit-learn has 15 rows in 30, where learned metrics put each row on a center."""
    X, _ = blobs
    weight = np.random.default_rng(3).integers(1, 4, len(X))
    weight[np.unique(links.pairs)] = 1  # a link is to one object
    copied = np.repeat(np.arange(len(X)), weight)
    first = np.searchsorted(copied, np.arange(len(X)))
    moved = PairwiseConstraints(first[links.pairs], links.must, links.certainty)
    model = clone(model).set_params(adaptive=adaptive, init=X[[3, 33, 55]])
    one = clone(model).fit(X, sample_weight=weight, constraints=links)
    other = clone(model).fit(X[copied], constraints=moved)
    np.testing.assert_allclose(one.partition_.masses[copied], other.partition_.masses, rtol=0, atol=1e-6)
    assert one.criterion_ == pytest.approx(other.criterion_, rel=1e-9)


@parametrize_with_checks([CFCM()], expected_failed_checks=lambda model: model.method.failing_checks)
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None
