"""Xing's metric: its gradient, its optimum against a general solver, and its use in a pipeline."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.optimize import check_grad, minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import rand_score
from sklearn.pipeline import make_pipeline

from evidentia import FCM
from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning import LSI
from evidentia.metric_learning.lsi import objective


@pytest.fixture(scope="module")
def stretched():
    """Two groups that only the thin direction tells apart."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) * [6, 0.4] + np.c_[np.zeros(80), 3 * truth]
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    return X @ turn, truth


def problem(seed, p=3):
    rng = np.random.default_rng(seed)
    together = rng.normal(size=(9, p))
    return rng.normal(size=(p, p)), together.T @ together, rng.normal(size=(7, p)), rng.uniform(0.2, 1, 7)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_is_that_of_finite_differences(seed):
    root, *rest = problem(seed)

    def value(flat):
        return objective(flat.reshape(3, 3), *rest)[0]

    def gradient(flat):
        return objective(flat.reshape(3, 3), *rest)[1].ravel()

    assert check_grad(value, gradient, root.ravel()) < 1e-5


def test_objective_is_that_of_the_formula():
    root, scatter, apart, certainty = problem(1)
    A = root @ root.T
    expected = np.trace(A @ scatter) - np.log(sum(s * np.sqrt(d @ A @ d) for s, d in zip(certainty, apart)))
    assert objective(root, scatter, apart, certainty)[0] == pytest.approx(expected, rel=1e-12)


def xing_ratio(metric, X, links):
    """Scale-free form of the paper's problem: must-links' squared length over the squared length of cannot-links."""

    def lengths(pairs):
        d = X[pairs[:, 0]] - X[pairs[:, 1]]
        return np.sqrt(np.maximum(np.einsum("la,ab,lb->l", d, metric, d), 0))

    weight = links.certainty
    return (weight[links.must] @ lengths(links.must_link) ** 2) / (
        weight[~links.must] @ lengths(links.cannot_link)
    ) ** 2


@pytest.mark.parametrize("diagonal", [False, True])
def test_no_other_metric_is_better(stretched, diagonal):
    X, truth = stretched
    sampled = PairwiseConstraints.sample(truth, 60, random_state=0)
    links = PairwiseConstraints(sampled.pairs, sampled.must, np.random.default_rng(1).uniform(0.3, 1, 60))
    model = LSI(prior=0, diagonal=diagonal).fit(X, constraints=links)
    best = xing_ratio(model.metric_, X, links)

    def ratio(flat):
        root = np.diag(flat) if diagonal else flat.reshape(2, 2)
        return xing_ratio(root @ root.T, X, links)

    rng = np.random.default_rng(0)
    for _ in range(4):
        other = minimize(ratio, rng.normal(size=2 if diagonal else 4), method="Nelder-Mead", options={"maxfev": 4000})
        assert best <= other.fun * (1 + 1e-6)
    assert best < 0.9 * xing_ratio(np.eye(2), X, links)
    if diagonal:
        assert model.metric_[0, 1] == 0


def test_the_learned_metric_makes_fuzzy_c_means_right(stretched):
    X, truth = stretched
    links = PairwiseConstraints.sample(truth, 30, random_state=1)
    assert rand_score(truth, FCM(2, random_state=0).fit_predict(X)) < 0.6
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(LSI().set_fit_request(constraints=True), FCM(2, random_state=0))
        pipe.fit(X, constraints=links)
    assert rand_score(truth, pipe[-1].labels_) == 1
    np.testing.assert_array_equal(pipe.predict(X), pipe[-1].labels_)


def test_what_is_published_hangs_together(stretched):
    X, truth = stretched
    model = LSI().fit(X, constraints=PairwiseConstraints.sample(truth, 30, random_state=1))
    np.testing.assert_allclose(model.components_ @ model.components_, model.metric_, atol=1e-10)
    moved = model.transform(X)
    np.testing.assert_allclose(moved, X @ model.components_)
    assert moved.var(axis=0).sum() == pytest.approx(X.var(axis=0).sum(), rel=1e-9)
    assert model.get_feature_names_out().tolist() == ["lsi0", "lsi1"]


def test_units_of_the_columns_change_nothing(stretched):
    X, truth = stretched
    links = PairwiseConstraints.sample(truth, 30, random_state=1)
    units = np.array([1e-3, 1e4])
    plain, scaled = LSI().fit(X, constraints=links), LSI().fit(X * units, constraints=links)
    expected = plain.metric_ / np.outer(units, units)
    np.testing.assert_allclose(scaled.metric_ / scaled.metric_[0, 0], expected / expected[0, 0], rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("constant", [3.0, 0.1])  # 0.1 has a deviation of rounding errors
def test_a_constant_column_has_no_part(stretched, constant):
    X, truth = stretched
    table = np.c_[X, np.full(80, constant)]
    model = LSI().fit(table, constraints=PairwiseConstraints.sample(truth, 30, random_state=1))
    assert np.abs(model.components_).max() < 1e3
    assert np.ptp(model.transform(table)[:, 2]) == pytest.approx(0, abs=1e-6)


def test_columns_whose_metric_doubles_do_not_carry_are_refused(stretched):
    X, truth = stretched
    links = PairwiseConstraints.sample(truth, 30, random_state=1)
    with pytest.raises(ValueError, match=r"deviations go from .*e-139 to .*e\+20 .*Scale the columns before LSI"):
        LSI().fit(X * [1e-139, 1e20], constraints=links)


def test_links_by_name(stretched):
    X, truth = stretched
    by_row = PairwiseConstraints.sample(truth, 30, random_state=1)
    by_name = PairwiseConstraints(by_row.pairs, by_row.must, object_names=[f"r{i}" for i in range(80)])
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(80)], columns=["a", "b"])
    np.testing.assert_array_equal(
        LSI().fit(frame, constraints=by_name).metric_, LSI().fit(X, constraints=by_row).metric_
    )


def test_must_links_that_leave_out_a_direction_need_the_prior(stretched):
    X, _ = stretched
    links = PairwiseConstraints.from_links([(0, 1)], [(0, 50)])
    with pytest.raises(ValueError, match="The 1 must-links leave out some direction"):
        LSI(prior=0).fit(X, constraints=links)
    assert np.isfinite(LSI().fit(X, constraints=links).metric_).all()


def test_mistakes_are_explained(stretched):
    X, _ = stretched
    links = PairwiseConstraints.from_links([(0, 1)], [(0, 50)])
    with pytest.raises(TypeError, match="LSI learns from links"):
        LSI().fit(X)
    with pytest.raises(ValueError, match="needs a cannot-link"):
        LSI().fit(X, constraints=PairwiseConstraints.from_links([(0, 1)]))
    for params, message in [
        ({"prior": -1}, "'prior' parameter of LSI must be a number >= 0. Got -1"),
        ({"max_iter": 0}, "'max_iter' parameter of LSI must be an integer >= 1. Got 0"),
        ({"gradient_tol": "small"}, "'gradient_tol' parameter of LSI must be a number >= 0. Got 'small'"),
    ]:
        with pytest.raises(ValueError, match=message):
            LSI(**params).fit(X, constraints=links)
    with pytest.raises(NotFittedError):
        LSI().transform(X)


def test_an_early_end_is_said_aloud(stretched):
    X, truth = stretched
    with pytest.warns(ConvergenceWarning, match="LSI reached max_iter=1"):
        LSI(max_iter=1).fit(X, constraints=PairwiseConstraints.sample(truth, 30, random_state=1))
