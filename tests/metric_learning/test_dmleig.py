"""DML-eig: the smooth minimum and its gradient, the optimum against general solvers, its use."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning import DMLeig
from evidentia.metric_learning.dmleig import soft_minimum, spread_metric


@pytest.fixture(scope="module")
def stretched():
    """Two groups that only the thin direction tells apart."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    X = (rng.normal(size=(80, 2)) * [6, 0.4] + np.c_[np.zeros(80), 3 * truth]) @ [[0.8, -0.6], [0.6, 0.8]]
    return X, truth, PairwiseConstraints.sample(truth, 60, random_state=0)


def gaps(seed, n_links=12, q=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_links, q)), rng.uniform(0.2, 1, n_links)


def test_soft_minimum_by_hand():
    """-0.5 log((0.25 e^(-2/0.5) + 1 e^(-3/0.5)) / 1.25)"""
    value, weight = soft_minimum(np.array([2.0, 3.0]), np.array([0.25, 1.0]), 0.5)
    parts = np.array([0.25 * np.exp(-4), np.exp(-6)])
    assert value == pytest.approx(-0.5 * np.log(parts.sum() / 1.25))
    np.testing.assert_allclose(weight, parts / parts.sum())


def test_soft_minimum_of_far_values_does_not_overflow():
    value, weight = soft_minimum(np.array([5000.0, 9000.0]), np.ones(2), 1e-3)
    assert value == pytest.approx(5000 + 1e-3 * np.log(2))
    np.testing.assert_array_equal(weight, [1, 0])


@pytest.mark.parametrize("seed", range(3))
def test_gradient_in_the_matrix_is_that_of_finite_differences(seed):
    apart, certainty = gaps(seed)
    root = np.random.default_rng(seed + 9).normal(size=(3, 3))

    def lengths(flat):
        return np.einsum("la,ab,lb->l", apart, flat.reshape(3, 3), apart)

    def gradient(flat):
        _, weight = soft_minimum(lengths(flat), certainty, 0.7)
        return ((weight[:, None] * apart).T @ apart).ravel()

    P = (root @ root.T).ravel()
    assert check_grad(lambda flat: soft_minimum(lengths(flat), certainty, 0.7)[0], gradient, P) < 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_the_gap_bounds_the_error_and_no_other_matrix_is_better(seed):
    apart, certainty = gaps(seed)

    def value(P):
        return soft_minimum(np.einsum("la,ab,lb->l", apart, P, apart), certainty, 0.2)[0]

    def other(flat):
        root = flat.reshape(3, 3)
        return -value(root @ root.T / np.square(root).sum())

    rng = np.random.default_rng(seed)
    best = max(-minimize(other, rng.normal(size=9)).fun for _ in range(4))
    run, gap = spread_metric(apart, certainty, smoothing=0.2, max_iter=5, gap_tol=0)
    early = run.state
    assert run.n_iter == 5
    assert not run.converged
    assert run.objective == pytest.approx(-value(early), rel=1e-12)
    assert value(early) < best <= value(early) + gap
    run, gap = spread_metric(apart, certainty, smoothing=0.2, max_iter=20_000, gap_tol=2e-3)
    late = run.state
    assert run.n_iter < 20_000
    assert run.converged
    assert gap <= 2e-3
    assert value(late) <= best * (1 + 1e-6)
    assert value(late) >= best - gap
    assert np.trace(late) == pytest.approx(1)
    assert np.linalg.eigvalsh(late).min() > -1e-12


def worst_ratio(metric, X, links):
    """The paper's criterion without units: shortest cannot-link over the total of the must-links, squared lengths."""

    def squares(pairs):
        d = X[pairs[:, 0]] - X[pairs[:, 1]]
        return np.einsum("la,ab,lb->l", d, metric, d)

    return squares(links.cannot_link).min() / (links.certainty[links.must] @ squares(links.must_link))


def test_with_little_smoothing_no_other_metric_has_a_longer_shortest_cannot_link(stretched):
    X, _, links = stretched
    soft = PairwiseConstraints(links.pairs, links.must, np.where(links.must, np.arange(60) % 3 / 3 + 0.3, 1))
    model = DMLeig(prior=0, smoothing=1e-3, gap_tol=2e-3, max_iter=20_000).fit(X, constraints=soft)
    best = worst_ratio(model.metric_, X, soft)
    rng = np.random.default_rng(0)

    def other(flat):
        root = flat.reshape(2, 2)
        return -worst_ratio(root @ root.T, X, soft)

    for _ in range(4):
        found = minimize(other, rng.normal(size=4), method="Nelder-Mead", options={"maxfev": 4000})
        assert best >= -found.fun * 0.97
    assert best > 5 * worst_ratio(np.eye(2), X, soft)


def test_the_learned_rows_are_right_where_the_table_is_not(stretched):
    X, truth, links = stretched
    model = DMLeig().fit(X, constraints=links)
    assert adjusted_rand_score(truth, KMeans(2, n_init=5, random_state=0).fit_predict(model.transform(X))) == 1
    np.testing.assert_allclose(model.components_ @ model.components_, model.metric_, atol=1e-10)
    assert model.transform(X).var(axis=0).sum() == pytest.approx(X.var(axis=0).sum())
    assert model.get_feature_names_out().tolist() == ["dmleig0", "dmleig1"]


def test_units_of_the_columns_change_nothing(stretched):
    X, _, links = stretched
    units = np.array([1e-3, 1e4])
    plain, scaled = DMLeig().fit(X, constraints=links), DMLeig().fit(X * units, constraints=links)
    expected = plain.metric_ / np.outer(units, units)
    np.testing.assert_allclose(scaled.metric_ / scaled.metric_[0, 0], expected / expected[0, 0], rtol=1e-4)


def test_a_constant_column_has_no_part(stretched):
    X, _, links = stretched
    model = DMLeig().fit(np.c_[X, np.full(80, 3.0)], constraints=links)
    np.testing.assert_allclose(model.metric_[2], 0, atol=1e-12)


def test_mistakes_are_explained(stretched):
    X, _, links = stretched
    with pytest.raises(TypeError, match="DMLeig learns from links"):
        DMLeig().fit(X)
    with pytest.raises(ValueError, match="DMLeig needs a cannot-link"):
        DMLeig().fit(X, constraints=PairwiseConstraints.from_links([(0, 1)]))
    with pytest.raises(ValueError, match="The 1 must-links leave out some direction"):
        DMLeig(prior=0).fit(X, constraints=PairwiseConstraints.from_links([(0, 1)], [(0, 50)]))
    with pytest.raises(ValueError, match=r"'smoothing' parameter of DMLeig must be a number > 0. Got 0"):
        DMLeig(smoothing=0).fit(X, constraints=links)
    with pytest.raises(ValueError, match=r"'prior' parameter of DMLeig must be a number >= 0. Got -1"):
        DMLeig(prior=-1).fit(X, constraints=links)
    with pytest.warns(ConvergenceWarning, match="DMLeig reached max_iter=1"):
        DMLeig(max_iter=1).fit(X, constraints=links)
