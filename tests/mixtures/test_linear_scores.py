import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from evidentia.mixtures._em import linear_scores
from evidentia.solvers.posterior_sums import BLOCK, WIDTH, in_blocks, posteriors, statistics


def case(n=50, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    return (
        rng.normal(size=(n, 3)) * 2,
        np.array([0.2, 0.5, 0.0, 0.3]),
        rng.normal(size=(4, 3)),
        root @ root.T + np.eye(3),
    )


def test_posteriors_and_statistics_match_the_densities():
    X, weights, centers, covariance = case(700)
    coefficients, precision, normalizer = linear_scores(weights, centers, covariance)
    np.testing.assert_allclose(precision @ covariance, np.eye(3), atol=1e-12)
    quadratic = np.einsum("ip,pq,iq->i", X, precision, X)
    with np.errstate(divide="ignore"):
        joint = np.log(weights) + np.column_stack([multivariate_normal(mu, covariance).logpdf(X) for mu in centers])
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    masses, log_density = posteriors(X, coefficients)
    np.testing.assert_allclose(masses, expected, atol=1e-12)
    np.testing.assert_allclose(log_density + normalizer - quadratic / 2, logsumexp(joint, axis=1), rtol=1e-10)

    w = np.random.default_rng(1).uniform(0, 3, size=700)
    size, total, log_likelihood = statistics(in_blocks(X), len(X), coefficients, w)
    np.testing.assert_allclose(size, w @ expected, atol=1e-10)
    np.testing.assert_allclose(total, (w[:, None] * expected).T @ X, atol=1e-10)
    np.testing.assert_allclose(
        log_likelihood + w.sum() * normalizer - w @ quadratic / 2, w @ logsumexp(joint, axis=1), rtol=1e-10
    )


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_rows_in_blocks(n):
    X, origin, factor = case(n)[0], np.array([1.0, -2.0, 5.0]), np.array([2.0, 0.5, 3.0])
    blocks = in_blocks(X, origin, factor)
    lines = blocks[:, :, :BLOCK].swapaxes(1, 2).reshape(-1, 3)
    np.testing.assert_allclose(lines[:n], (X - origin) * factor)
    assert not lines[n:].any()
    assert not blocks[:, :, BLOCK:].any()
    assert blocks.nbytes <= 8 * 3 * max(n, len(blocks) * WIDTH if n >= BLOCK else n)  # few rows need no whole block


def test_rows_far_from_every_component_do_not_underflow():
    X, weights, centers, covariance = case()
    coefficients, *_ = linear_scores(weights, centers, covariance)
    masses, _ = posteriors(X * 1e4, coefficients)
    np.testing.assert_allclose(masses.sum(axis=1), 1)
    assert (masses[:, 2] == 0).all()  # weight zero


def test_a_component_of_weight_zero_gets_nothing_and_puts_no_infinity_into_a_product():
    X, weights, centers, covariance = case()
    scores = linear_scores(weights, centers, covariance)
    assert all(np.isfinite(part).all() for part in scores)
    living = linear_scores(weights[weights > 0], centers[weights > 0], covariance)
    for far in (1, 1e4):  # however low the living score
        rows = X * far
        masses, log_density = posteriors(rows, scores.coefficients)
        expected, expected_log = posteriors(rows, living.coefficients)
        assert not masses[:, 2].any()
        np.testing.assert_allclose(masses[:, [0, 1, 3]], expected, rtol=1e-12)
        np.testing.assert_allclose(log_density, expected_log, rtol=1e-12)
        size, total, _ = statistics(in_blocks(rows), len(rows), scores.coefficients)
        assert size[2] == 0
        assert not total[2].any()
        np.testing.assert_allclose(total, masses.T @ rows, rtol=1e-10)
