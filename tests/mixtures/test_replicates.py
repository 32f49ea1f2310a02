"""EM for many replicates at once against a plain transcription, one replicate and one row at a time."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._covariances import MODELS, covariances
from evidentia.mixtures._replicates import (
    MixtureParameters,
    evaluate,
    fit_replicates,
    from_posteriors,
    whitening,
)

VVV = CovarianceModel("VVV")


def table(n=90, d=3, seed=0):
    """Three overlapping groups, far from the origin, in columns of different units."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    X = 2.5 * rng.normal(size=(3, d))[labels] + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, size=(3, d))[labels]
    return X * np.logspace(-1, 2, d) + 30 * np.logspace(-1, 2, d), labels


def start_of(X, labels, rule=VVV):
    return from_posteriors(X, None, np.eye(labels.max() + 1)[labels][None], rule)


def draws(n, m, seed=1):
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=m).astype(float)


def plain_em(X, weight, weights, means, sigma, n_iter):
    """Textbook EM with free covariances; gives the parameters after n_iter steps and their log-likelihood."""
    c = len(weights)
    for iteration in range(n_iter + 1):
        joint = np.column_stack([weights[k] * multivariate_normal(means[k], sigma[k]).pdf(X) for k in range(c)])
        log_likelihood = weight @ np.log(joint.sum(axis=1))
        if iteration == n_iter:
            return weights, means, sigma, log_likelihood
        share = weight[:, None] * joint / joint.sum(axis=1, keepdims=True)
        weights = share.sum(axis=0) / weight.sum()
        means = share.T @ X / share.sum(axis=0)[:, None]
        sigma = [(X - means[k]).T @ (share[:, k, None] * (X - means[k])) / share[:, k].sum() for k in range(c)]


def test_replicates_follow_textbook_em():
    X, labels = table()
    start, weight = start_of(X, labels), draws(len(X), 4)
    found = fit_replicates(X, weight, start, VVV, tol=0, max_iter=6)
    for r in range(4):
        *parts, log_likelihood = plain_em(X, weight[r], *(part[0] for part in start), 6)
        assert found.log_likelihood[r] == found.trace[6, r] == pytest.approx(log_likelihood, rel=1e-9)
        half_way = plain_em(X, weight[r], *(part[0] for part in start), 3)[-1]
        assert found.trace[3, r] == pytest.approx(half_way, rel=1e-9)
        for ours, theirs in zip(found.parameters, parts):
            np.testing.assert_allclose(ours[r], theirs, rtol=1e-5, atol=1e-6 * np.abs(theirs).max())
    assert found.n_iter.tolist() == [6] * 4
    assert not found.converged.any()
    assert not found.degenerate.any()


def test_a_weight_counts_as_copies_of_a_row():
    X, labels = table()
    weight = draws(len(X), 3)
    together = fit_replicates(X, weight, start_of(X, labels), VVV, tol=1e-9)
    for r in range(3):
        copies = np.repeat(X, weight[r].astype(int), axis=0)
        alone = fit_replicates(copies, None, start_of(X, labels), VVV, tol=1e-9)
        assert together.log_likelihood[r] == pytest.approx(alone.log_likelihood[0], abs=1e-5)
        np.testing.assert_allclose(together.parameters.means[r], alone.parameters.means[0], rtol=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_the_likelihood_never_falls_and_the_end_is_a_fixed_point(model):
    X, labels = table(seed=4)
    rule = CovarianceModel(model)
    start = start_of(X, labels, rule)
    values = [fit_replicates(X, None, start, rule, tol=-1, max_iter=k).log_likelihood[0] for k in range(1, 12)]
    assert np.all(np.diff(values) >= -1e-7)
    end = fit_replicates(X, None, start, rule, tol=1e-10)
    assert end.converged.all()
    assert end.log_likelihood[0] >= values[-1] - 1e-7
    after = fit_replicates(X, None, end.parameters, rule, tol=-1, max_iter=1)
    np.testing.assert_allclose(after.parameters.means, end.parameters.means, rtol=1e-3)


def test_free_covariances_end_where_scikit_learn_ends():
    X, labels = table(n=200)
    start = start_of(X, labels)
    peer = GaussianMixture(
        3,
        weights_init=start.weights[0],
        means_init=start.means[0],
        precisions_init=np.linalg.inv(start.covariances[0]),
        tol=1e-11,
        max_iter=5000,
        reg_covar=0,
    ).fit(X)
    found = fit_replicates(X, None, start, VVV, tol=1e-11, max_iter=5000)
    assert found.log_likelihood[0] == pytest.approx(len(X) * peer.score(X), abs=1e-4)
    np.testing.assert_allclose(found.parameters.weights[0], peer.weights_, atol=1e-4)


def test_results_do_not_depend_on_companions():
    X, labels = table(n=130)
    start, weight = start_of(X, labels), draws(130, 9)
    whole = fit_replicates(X, weight, start, VVV)
    alone = [fit_replicates(X, weight[r : r + 2], start, VVV).log_likelihood[0] for r in range(8)]
    assert len(set(whole.n_iter.tolist())) > 2  # they leave the batch at different times
    np.testing.assert_allclose(whole.log_likelihood[:8], alone, rtol=1e-10)


def test_several_starts_share_the_rows_and_each_goes_its_own_way():
    X, labels = table()
    turned = np.stack([np.eye(3)[labels], np.eye(3)[(labels + (np.arange(len(X)) % 3 == 0)) % 3]])
    start = from_posteriors(X, None, turned, VVV)
    both = fit_replicates(X, None, start, VVV, tol=1e-9)
    for r in range(2):
        one = fit_replicates(X, None, start.take(slice(r, r + 1)), VVV, tol=1e-9)
        assert both.log_likelihood[r] == pytest.approx(one.log_likelihood[0], rel=1e-10)
        assert both.n_iter[r] == one.n_iter[0]


def test_a_component_on_a_single_row_is_flagged_and_its_neighbors_are_not():
    X, labels = table()
    labels = labels.copy()
    labels[labels == 2], labels[7] = 0, 2
    lonely = np.stack([np.eye(3)[labels], np.eye(3)[table()[1]]])
    found = fit_replicates(X, None, from_posteriors(X, None, lonely, VVV), VVV)
    assert found.degenerate.tolist() == [True, False]
    assert found.converged.tolist() == [False, True]
    assert all(np.isfinite(part).all() for part in found.parameters)


def test_a_component_that_vanishes_is_flagged():
    X, labels = table()
    start = start_of(X, labels, CovarianceModel("EEE"))
    start.means[0, 2] += 1e3 * np.ptp(X, axis=0)  # nothing is near
    found = fit_replicates(X, None, start, CovarianceModel("EEE"))
    assert found.degenerate.tolist() == [True]


def test_collapse_is_judged_in_no_units():
    X, labels = table()
    tiny = np.logspace(-8, 7, 3)
    ours, scaled = (fit_replicates(Y, draws(len(X), 5), start_of(Y, labels), VVV) for Y in (X, X * tiny))
    np.testing.assert_array_equal(ours.degenerate, scaled.degenerate)
    np.testing.assert_array_equal(ours.n_iter, scaled.n_iter)
    gain = len(X) * np.log(tiny).sum()
    np.testing.assert_allclose(ours.log_likelihood - gain, scaled.log_likelihood, rtol=1e-9)


def test_columns_that_are_combinations_of_others_make_free_covariances_singular_but_not_spheres():
    X, labels = table()
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5]])
    assert fit_replicates(X, None, start_of(X, labels), VVV).degenerate.all()
    spheres = CovarianceModel("VII")
    assert fit_replicates(X, None, start_of(X, labels, spheres), spheres).converged.all()


def test_posteriors_and_log_densities_are_those_of_the_definition():
    X, _ = table(d=2)
    parameters = MixtureParameters(
        np.array([[0.2, 0.8], [0.5, 0.5]]),
        np.array([[[2.0, 3000.0], [4.0, 2800.0]], [[3.0, 3100.0], [1.0, 2900.0]]]),
        np.array([[[[1.0, 20.0], [20.0, 9e3]], np.diag([2.0, 1e4])], [np.diag([0.5, 4e3]), np.diag([3.0, 2e4])]]),
    )
    found, log_density = evaluate(X[:7], parameters)
    assert found.shape == (2, 7, 2)
    for r in range(2):
        weights, means, sigma = (part[r] for part in parameters)
        joint = np.column_stack([weights[k] * multivariate_normal(means[k], sigma[k]).pdf(X[:7]) for k in range(2)])
        np.testing.assert_allclose(found[r], joint / joint.sum(axis=1, keepdims=True), atol=1e-10)
        np.testing.assert_allclose(log_density[r], np.log(joint.sum(axis=1)), rtol=1e-9)


def test_a_row_far_from_everything_has_finite_posteriors():
    X, labels = table()
    found, log_density = evaluate(1e6 * X[:2], start_of(X, labels))
    np.testing.assert_allclose(found.sum(axis=2), 1)
    assert np.isfinite(log_density).all()


def test_whitening_gives_unit_covariance_and_its_jacobian():
    X, _ = table()
    frame = whitening(X.mean(axis=0), np.cov(X.T, bias=True))
    np.testing.assert_allclose(np.cov(frame.transform(X).T, bias=True), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(frame.inverse_transform(frame.transform(X)), X, rtol=1e-10)
    assert frame.log_jacobian == pytest.approx(np.log(np.abs(np.linalg.det(frame.forward))))


@pytest.mark.parametrize("model", MODELS)
def test_compiled_loops_go_the_way_of_the_batches(model):
    X, labels = table(n=120, d=2, seed=2)  # fewer columns than components, which must not be taken for each other
    rule, weight = CovarianceModel(model), draws(len(X), 5)
    start = start_of(X, labels, rule)
    assert start.diagonal == (model[2] == "I")
    found = fit_replicates(X, weight, start, rule)
    batched = fit_replicates(X, weight, start, CovarianceModel(model, 1e300))
    assert len(set(found.n_iter.tolist())) > 1
    np.testing.assert_array_equal(found.n_iter, batched.n_iter)
    np.testing.assert_array_equal(found.converged, batched.converged)
    np.testing.assert_allclose(found.trace, batched.trace, rtol=1e-9)
    np.testing.assert_allclose(found.log_likelihood, batched.log_likelihood, rtol=1e-10)
    np.testing.assert_allclose(found.parameters.matrices, batched.parameters.matrices, rtol=1e-5, atol=1e-7)
    ours, theirs = (evaluate(X, one.parameters) for one in (found, batched))
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)


def test_a_component_that_collapses_is_flagged_in_compiled_loops_too():
    X, labels = table()
    labels = labels.copy()
    labels[labels == 2], labels[7] = 0, 2
    lonely = np.stack([np.eye(3)[labels], np.eye(3)[table()[1]]])
    for model in ("VVV", "VVI"):
        rule = CovarianceModel(model)
        found = fit_replicates(X, None, from_posteriors(X, None, lonely, rule), rule)
        assert found.degenerate.tolist() == [True, False]
        assert found.converged.tolist() == [False, True]
        assert all(np.isfinite(part).all() for part in found.parameters)


def test_too_few_iterations_are_counted_in_compiled_loops():
    X, labels = table()
    found = fit_replicates(
        X, None, start_of(X, labels, CovarianceModel("VEV")), CovarianceModel("VEV"), tol=0, max_iter=3
    )
    assert found.n_iter.tolist() == [3]
    assert found.trace.shape == (4, 1)
    assert not found.converged.any()


def test_a_step_by_which_the_likelihood_falls_is_taken_back_and_is_the_last():
    X, labels = table()
    start, calls = start_of(X, labels), []

    class FailsAtTheFourth(CovarianceModel):
        def __call__(self, scatter, size, previous=None):
            calls.append(1)
            return covariances("VVV", scatter, size, previous) * (1 if len(calls) < 4 else 50)

    found = fit_replicates(X, None, start, FailsAtTheFourth("VVV", 1e300), tol=0, max_iter=10)
    wanted = fit_replicates(X, None, start, CovarianceModel("VVV", 1e300), tol=0, max_iter=3)
    assert (found.n_iter[0], found.converged[0], len(calls)) == (3, True, 4)
    assert found.log_likelihood[0] == wanted.log_likelihood[0]
    np.testing.assert_array_equal(found.parameters.means, wanted.parameters.means)
    assert np.isnan(found.trace[4, 0])
