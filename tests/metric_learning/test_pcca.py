"""PCCA and KPCCA: the loss by hand, its gradient, the optimum against other solvers, outside numbers, circles."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from evidentia.constraints import PairwiseConstraints
from evidentia.datasets import make_circles
from evidentia.metric_learning import KPCCA, PCCA
from evidentia.metric_learning.pcca import first_root, link_loss
from evidentia.relational import EVCLUS


def problem(seed, q=3, d=2, n_links=9):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n_links) % 3, 1.0, -1.0)
    return rng.normal(size=(q, d)), rng.normal(size=(n_links, q)), sign, rng.uniform(0.2, 1, n_links)


@pytest.fixture(scope="module")
def stretched():
    """Two groups that only the thin direction tells apart, and soft links."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    X = (rng.normal(size=(80, 2)) * [6, 0.4] + np.c_[np.zeros(80), 3 * truth]) @ [[0.8, -0.6], [0.6, 0.8]]
    sampled = PairwiseConstraints.sample(truth, 40, random_state=0)
    return X, truth, PairwiseConstraints(sampled.pairs, sampled.must, rng.uniform(0.3, 1, 40))


@pytest.mark.parametrize("seed", range(4))
def test_gradient_is_that_of_finite_differences(seed):
    root, *rest = problem(seed)

    def part(k):
        return lambda flat: np.ravel(link_loss(flat.reshape(3, 2), *rest, beta=2.5, ridge=0.3)[k])

    assert check_grad(lambda flat: part(0)(flat)[0], part(1), root.ravel()) < 1e-5


def test_the_loss_is_that_of_the_formula():
    """Two links under L = (2, 1): squared lengths 4 and 9; signs 1 and -1; beta 3."""
    gaps, sign, certainty = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, -1.0]), np.array([0.5, 1.0])
    value, _ = link_loss(np.array([[2.0], [1.0]]), gaps, sign, certainty, beta=3.0, ridge=0.1)
    expected = 0.5 * np.log(1 + np.exp(3 * (4 - 1))) / 3 + np.log(1 + np.exp(-3 * (9 - 1))) / 3 + 0.1 * 5
    assert value == pytest.approx(expected, rel=1e-12)


def test_long_links_do_not_overflow():
    value, gradient = link_loss(np.eye(1) * 1e3, np.array([[7.0]]), np.ones(1), np.ones(1), beta=5.0, ridge=0)
    assert value == pytest.approx(49e6 - 1)
    assert np.isfinite(gradient).all()


def test_the_start_is_where_the_loss_falls_fastest_from_zero():
    _, gaps, sign, certainty = problem(0)
    root = first_root(gaps, sign, certainty, beta=2.0, n_components=1)
    assert np.square(gaps @ root).sum(axis=1).mean() == pytest.approx(1)
    small = 1e-4

    def fall(direction):
        direction = small * direction / np.linalg.norm(direction)
        zero = link_loss(0 * root, gaps, sign, certainty, beta=2.0, ridge=0)[0]
        return zero - link_loss(direction, gaps, sign, certainty, beta=2.0, ridge=0)[0]

    others = np.random.default_rng(1).normal(size=(50, 3, 1))
    assert fall(root) >= max(map(fall, others)) > 0


def test_a_direction_without_links_has_no_part_in_a_map_to_fewer_columns():
    """Which of the last two were taken would be chance."""
    gaps = np.array([[3.0, 0, 0, 0], [0, 2.0, 0, 0]])
    root = first_root(gaps, np.array([-1.0, 1.0]), np.ones(2), beta=1, n_components=3)
    np.testing.assert_allclose(np.abs(root), np.sqrt(2 / 13) * np.eye(4)[:, :3] * [1, 1, 0], atol=1e-15)
    only = first_root(gaps[1:], np.ones(1), np.ones(1), beta=1, n_components=1)  # no direction in which it falls
    np.testing.assert_allclose(np.abs(only).ravel(), [0, 0.5, 0, 0], atol=1e-15)


def total_loss(moved, links, beta):
    length = np.square(moved[links.pairs[:, 0]] - moved[links.pairs[:, 1]]).sum(axis=1)
    return links.certainty @ np.logaddexp(0, beta * np.where(links.must, 1, -1) * (length - 1)) / beta


@pytest.mark.parametrize("n_components", [1, 2, None])
def test_no_other_map_is_better(stretched, n_components):
    X, _, links = stretched
    model = PCCA(n_components, beta=2.0, ridge=0, tol=1e-12).fit(X, constraints=links)
    best = total_loss(model.transform(X), links, 2.0)
    assert model.criterion_ == pytest.approx(best, rel=1e-9)
    d = n_components or 2
    rng = np.random.default_rng(0)
    for _ in range(4):
        other = minimize(
            lambda flat: total_loss(X @ flat.reshape(2, d), links, 2.0),
            0.3 * rng.normal(size=2 * d),
            method="Nelder-Mead",
            options={"maxfev": 4000, "fatol": 1e-9, "xatol": 1e-9},
        )
        assert best <= other.fun * (1 + 1e-6)
    assert best < 0.7 * total_loss(X, links, 2.0)


def test_the_ridge_is_in_columns_of_total_variance_one(stretched):
    X, _, links = stretched
    X = X * [1, 30] + [5, 100]
    model = PCCA(ridge=0.4).fit(X, constraints=links)
    norm = np.square(model.components_ * X.std(axis=0)[:, None] * np.sqrt(2)).sum()
    assert model.criterion_ == pytest.approx(total_loss(model.transform(X), links, 1.0) + 0.4 * norm, rel=1e-9)


def test_units_and_origin_of_the_columns_change_nothing(stretched):
    X, _, links = stretched
    plain = PCCA(tol=1e-13).fit(X, constraints=links).transform(X)
    scaled = PCCA(tol=1e-13).fit(1e3 * X * [1, 1e-4] - 7, constraints=links).transform(1e3 * X * [1, 1e-4] - 7)
    gaps = [moved[:40, None] - moved[40:] for moved in (plain, scaled)]
    np.testing.assert_allclose(*(np.linalg.norm(gap, axis=2) for gap in gaps), rtol=1e-4)


def test_a_link_without_certainty_counts_for_nothing(stretched):
    X, _, links = stretched
    wrong = PairwiseConstraints([*links.pairs, (0, 79)], [*links.must, True], [*links.certainty, 1e-9])
    plain, doubtful = (PCCA(1, tol=1e-13).fit(X, constraints=some).components_ for some in (links, wrong))
    np.testing.assert_allclose(plain, doubtful, rtol=1e-4)
    sure = PairwiseConstraints(wrong.pairs, wrong.must, [*links.certainty, 1.0])
    assert abs(PCCA(1).fit(X, constraints=sure).components_ - plain).max() > 1e-3


def test_the_learned_rows_are_right_where_the_table_is_not(stretched):
    X, truth, links = stretched
    assert adjusted_rand_score(truth, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.1
    rows = PCCA().fit(X, constraints=links).transform(X)
    assert adjusted_rand_score(truth, KMeans(2, n_init=5, random_state=0).fit_predict(rows)) == 1


def test_links_by_name_and_names_of_columns(stretched):
    X, _, links = stretched
    names = [f"r{i}" for i in range(80)]
    frame = pd.DataFrame(X, index=names, columns=["a", "b"])
    by_name = PairwiseConstraints(links.pairs, links.must, links.certainty, object_names=names)
    for learner in (PCCA(), KPCCA()):
        one = learner.fit(frame, constraints=by_name).transform(frame)
        np.testing.assert_array_equal(one, learner.fit(X, constraints=links).transform(X))
        assert learner.get_feature_names_out().tolist() == [f"{type(learner).__name__.lower()}{k}" for k in range(2)]


def test_a_constant_column_has_no_part(stretched):
    X, _, links = stretched
    model = PCCA().fit(np.c_[X, np.full(80, 3.0)], constraints=links)
    np.testing.assert_allclose(model.components_[2], 0)
    assert model.components_.shape == (3, 2)


# -- kernels ----------------------------------------------------------------------------------------------------------


def stored(reference):
    found = reference("kpcca_circles100")
    pairs = np.array(found["ML_1based"] + found["CL_1based"]) - 1
    links = PairwiseConstraints(pairs, np.arange(len(pairs)) < len(found["ML_1based"]))
    return np.array(found["x"]), links, found


def test_the_loss_of_the_stored_solutions_is_the_stored_one(reference):
    X, links, found = stored(reference)
    first, last = (np.array(found[name])[0] for name in ("A0", "A"))
    kernel = rbf_kernel(X, gamma=0.2)
    gaps = kernel[links.pairs[:, 0]] - kernel[links.pairs[:, 1]]
    sign = np.where(links.must, 1.0, -1.0)
    for coefficients, at in ((first, 0), (last, -1)):
        value, _ = link_loss(coefficients[:, None], gaps, sign, links.certainty, beta=1.0, ridge=0)
        assert value == pytest.approx(found["trace_iter_loss_relchange"][at][1], rel=1e-5)
    np.testing.assert_allclose(kernel @ last, np.ravel(found["z"]), rtol=1e-6)


def test_the_loss_ends_below_the_stored_one_and_the_rows_agree(reference):
    X, links, found = stored(reference)
    reached = found["trace_iter_loss_relchange"][-1][1]
    model = KPCCA(1, gamma=0.2, ridge=0).fit(X, constraints=links)
    assert model.criterion_ < 0.97 * reached
    gentle = KPCCA(1, gamma=0.2, ridge=0.003).fit(X, constraints=links).transform(X)[:, 0]
    assert abs(np.corrcoef(gentle, np.ravel(found["z"]))[0, 1]) > 0.98


def test_with_a_linear_kernel_it_is_pcca(stretched):
    """The two ridges differ by the units they are in."""
    X, _, links = stretched
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # PCCA then divides by the root of two
    linked = X[links.objects]
    spread = linked.var(axis=0).sum()
    one = PCCA(beta=2.0, ridge=0.3, tol=1e-13).fit(X, constraints=links)
    other = KPCCA(kernel="linear", beta=2.0, ridge=0.3 * 2 / spread, tol=1e-13).fit(X, constraints=links)
    assert other.criterion_ == pytest.approx(one.criterion_, rel=1e-6)
    gaps = [moved[:40, None] - moved[40:] for moved in (one.transform(X), other.transform(X))]
    np.testing.assert_allclose(*(np.linalg.norm(gap, axis=2) for gap in gaps), rtol=1e-3)


def test_the_kernel_solution_is_stationary_among_all_objects(stretched):
    """Coefficients on objects without links would not help: the gradient over all of them is zero too."""
    X, _, links = stretched
    model = KPCCA(1, gamma=0.02, beta=2.0, ridge=0.2, tol=1e-14).fit(X, constraints=links)
    kernel = rbf_kernel(X, gamma=0.02)
    spread = np.trace(kernel[np.ix_(links.objects, links.objects)]) / len(links.objects)
    spread -= kernel[np.ix_(links.objects, links.objects)].mean()
    coefficients = np.zeros(80)
    coefficients[links.objects] = model.dual_coef_[:, 0]

    def value(a):
        return total_loss((kernel @ a)[:, None], links, 2.0) + 0.2 * spread * a @ kernel @ a

    assert model.criterion_ == pytest.approx(value(coefficients), rel=1e-6)
    gaps = kernel[links.pairs[:, 0]] - kernel[links.pairs[:, 1]]
    sign = np.where(links.must, 1.0, -1.0)
    slope = links.certainty * sign * expit(2 * sign * (np.square(gaps @ coefficients) - 1))
    gradient = 2 * gaps.T @ (slope * (gaps @ coefficients)) + 0.4 * spread * kernel @ coefficients
    assert abs(gradient).max() < 1e-3 * abs(0.4 * spread * kernel @ coefficients).max()


def test_only_linked_rows_are_kept_and_new_rows_go_through_the_kernel(stretched):
    X, _, links = stretched
    model = KPCCA(2).fit(X, constraints=links)
    np.testing.assert_array_equal(model.objects_, X[links.objects])
    assert model.gamma_ == pytest.approx(1 / (2 * X.var(axis=0).sum()))
    new = X[:7] + 0.3
    np.testing.assert_allclose(model.transform(new), rbf_kernel(new, model.objects_, model.gamma_) @ model.dual_coef_)


def test_any_kernel_will_do(stretched):
    X, _, links = stretched
    named = KPCCA(kernel="polynomial", gamma=0.02, kernel_params={"degree": 2}).fit(X, constraints=links)
    by_hand = KPCCA(kernel=lambda a, b: (0.02 * a @ b + 1) ** 2).fit(X, constraints=links)
    np.testing.assert_allclose(named.transform(X), by_hand.transform(X), rtol=1e-4, atol=1e-6)


def test_circles_are_told_apart_by_fifty_links():
    circles = make_circles(random_state=1)
    links = PairwiseConstraints.sample(circles.target, 50, random_state=1)
    assert adjusted_rand_score(circles.target, EVCLUS(2, n_init=1, random_state=0).fit(circles.data).labels_) < 0.3
    rows = KPCCA(1).fit(circles.data, constraints=links).transform(circles.data)
    found = EVCLUS(2, n_init=1, random_state=0).fit(rows).labels_
    assert adjusted_rand_score(circles.target, found) >= 0.99


def test_circles_are_told_apart_in_most_draws_of_links():
    circles = make_circles(random_state=0)
    good = 0
    for seed in range(10):
        links = PairwiseConstraints.sample(circles.target, 50, random_state=seed)
        rows = KPCCA().fit(circles.data, constraints=links).transform(circles.data)
        found = KMeans(2, n_init=3, random_state=0).fit_predict(rows)
        good += adjusted_rand_score(circles.target, found) >= 0.99
    assert good >= 8


# -- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [PCCA, KPCCA])
def test_mistakes_are_explained(stretched, learner):
    X, _, links = stretched
    who = learner.__name__
    with pytest.raises(TypeError, match=f"{who} learns from links"):
        learner().fit(X)
    for useless in (PairwiseConstraints.from_links(), PairwiseConstraints.from_links([(0, 1)])):
        with pytest.raises(ValueError, match=f"{who} needs a cannot-link"):
            learner().fit(X, constraints=useless)
    with pytest.raises(NotFittedError):
        learner().transform(X)
    for params, message in [
        ({"n_components": 0}, f"'n_components' parameter of {who} must be an integer >= 1 or None. Got 0"),
        (
            {"n_components": 81},
            f"'n_components' parameter of {who} must be at most .*, the number of directions .*Got 81",
        ),
        ({"beta": 0}, f"'beta' parameter of {who} must be a number > 0. Got 0"),
        ({"ridge": -1}, f"'ridge' parameter of {who} must be a number >= 0. Got -1"),
        ({"max_iter": 0.5}, f"'max_iter' parameter of {who} must be an integer >= 1. Got 0.5"),
        ({"tol": "low"}, f"'tol' parameter of {who} must be a number >= 0. Got 'low'"),
    ]:
        with pytest.raises(ValueError, match=message):
            learner(**params).fit(X, constraints=links)
    with pytest.warns(ConvergenceWarning, match=f"{who} reached max_iter=1"):
        learner(max_iter=1).fit(X, constraints=links)


def test_mistakes_with_kernels_are_explained(stretched):
    X, _, links = stretched
    with pytest.raises(
        ValueError,
        match=r"'kernel' parameter of KPCCA must be one of 'additive_chi2', .*'sigmoid' or a function of two rows",
    ):
        KPCCA(kernel="gauss").fit(X, constraints=links)
    with pytest.raises(ValueError, match=r"'gamma' parameter of KPCCA must be 'scale' or a number > 0. Got 'auto'"):
        KPCCA(gamma="auto").fit(X, constraints=links)
    with pytest.raises(ValueError, match=r"'gamma' parameter of KPCCA must be 'scale' or a number > 0. Got -2"):
        KPCCA(gamma=-2).fit(X, constraints=links)
    with pytest.raises(ValueError, match=r"kernel .* of KPCCA gave NaN or inf"):
        KPCCA(kernel=lambda a, b: np.nan).fit(X, constraints=links)
    with pytest.raises(ValueError, match="All rows of X are equal"):
        KPCCA().fit(np.full((80, 2), 0.1), constraints=links)
