"""FDA, LFDA and KFDA: scatters by hand and pair by pair, twins in scikit-learn and SciPy, few labels on circles."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from evidentia.datasets import make_circles
from evidentia.metric_learning import FDA, KFDA, LFDA
from evidentia.metric_learning.fda import discriminants, local_affinity, local_scatters, scatters
from evidentia.relational import EVCLUS

IRIS, SPECIES = load_iris(return_X_y=True)


def classes(seed, n=25, q=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)), rng.permutation(np.arange(n) % 3)


def test_scatters_of_a_known_case():
    """Means (1, 0) and (4, 3) with weights 2/3 and 1/3; the whole mean is (2, 1)."""
    rows, label = np.array([[0.0, 0], [2, 0], [1, -1], [1, 1], [4, 2], [4, 4]]), np.array([0, 0, 0, 0, 1, 1])
    between, within = scatters(rows, label)
    np.testing.assert_allclose(between, [[2, 2], [2, 2]])
    np.testing.assert_allclose(within, [[2 / 6, 0], [0, (2 + 2) / 6]], atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_local_scatters_are_sums_over_pairs(seed):
    rows, label = classes(seed)
    rng = np.random.default_rng(seed)
    affinity = [(lambda a: a + a.T)(rng.uniform(size=[(label == k).sum()] * 2)) for k in range(3)]
    n, size = len(rows), np.bincount(label)
    place = [np.flatnonzero(label == k).tolist() for k in range(3)]
    between, within = np.zeros((2, 3, 3))
    for i in range(n):
        for j in range(n):
            square = np.outer(rows[i] - rows[j], rows[i] - rows[j]) / (2 * n)
            if label[i] == label[j]:
                k = label[i]
                a = affinity[k][place[k].index(i), place[k].index(j)]
                within += a / size[k] * square
                between += a * (1 / n - 1 / size[k]) * square
            else:
                between += square / n
    found = local_scatters(rows, label, affinity)
    np.testing.assert_allclose(found[0], between, atol=1e-12)
    np.testing.assert_allclose(found[1], within, atol=1e-12)


def test_when_all_of_a_class_is_near_local_scatters_are_the_scatters():
    rows, label = classes(4)
    ones = [np.ones([(label == k).sum()] * 2) for k in range(3)]
    for local, plain in zip(local_scatters(rows, label, ones), scatters(rows, label)):
        np.testing.assert_allclose(local, plain, atol=1e-13)


def test_affinity_of_rows_that_are_equal_and_of_a_lone_row():
    np.testing.assert_array_equal(local_affinity(np.zeros((3, 2)), 2), np.ones((3, 3)))
    np.testing.assert_array_equal(local_affinity(np.ones((1, 2)), 7), [[1.0]])
    doubled = local_affinity(np.array([[0.0], [0], [5]]), 1)
    np.testing.assert_array_equal(doubled, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("seed", range(3))
def test_discriminants_solve_the_generalized_eigenproblem(seed):
    between, within = scatters(*classes(seed, q=4))
    T, ratio = discriminants(between, within, 2)
    np.testing.assert_allclose(between @ T, within @ T * ratio, atol=1e-10)
    np.testing.assert_allclose(T.T @ within @ T, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(ratio, eigh(between, within, eigvals_only=True)[::-1][:2])
    rng = np.random.default_rng(0)
    for t in rng.normal(size=(200, 4)):
        assert t @ between @ t / (t @ within @ t) <= ratio[0] * (1 + 1e-9)


@pytest.mark.parametrize("learner", [FDA(3), KFDA(4)], ids=["FDA", "KFDA"])
def test_directions_in_which_classes_do_not_differ_are_those_of_the_largest_scatter(learner):
    """Of three classes there are two ratios; what is asked for beyond them does not depend on the order of rows."""
    order = np.random.default_rng(0).permutation(150)
    one, other = (clone(learner).fit(IRIS[rows], SPECIES[rows]) for rows in (np.arange(150), order))
    assert one.ratios_[2] < 1e-10 * one.ratios_[0]
    np.testing.assert_allclose(pdist(one.transform(IRIS)), pdist(other.transform(IRIS)), atol=1e-9)
    between, within = np.diag([1.0, 0, 0, 0]), np.diag([2.0, 3, 5, 4])
    np.testing.assert_allclose(
        discriminants(between, within, 3)[0] ** 2, np.eye(4)[:, [0, 2, 3]] / [2, 5, 4], atol=1e-15
    )


def test_on_iris_it_is_the_discriminant_analysis_of_scikit_learn():
    other = LinearDiscriminantAnalysis(solver="eigen").fit(IRIS, SPECIES)
    model = FDA(ridge=0).fit(IRIS, SPECIES)
    theirs, ours = other.transform(IRIS), model.transform(IRIS)
    sign = np.sign((theirs - theirs.mean(axis=0)).T @ ours).diagonal()
    np.testing.assert_allclose(ours - ours.mean(axis=0), sign * (theirs - theirs.mean(axis=0)), atol=1e-8)
    np.testing.assert_allclose(model.ratios_ / model.ratios_.sum(), other.explained_variance_ratio_, rtol=1e-9)


def test_rows_without_a_label_take_no_part_in_the_directions():
    y = np.where(np.arange(150) % 3, SPECIES, -1)
    model = FDA(ridge=0).fit(IRIS, y)
    twin = FDA(ridge=0).fit(IRIS[y >= 0], y[y >= 0])
    np.testing.assert_allclose(abs(model.components_), abs(twin.components_), rtol=1e-9)


@pytest.mark.parametrize(
    "named",
    [np.array(["b", "a", "c"])[SPECIES], np.array(["b", "a", "c"], dtype=object)[SPECIES]],
    ids=["str", "object"],
)
def test_labels_of_any_kind(named):
    model = FDA().fit(pd.DataFrame(IRIS), named)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(abs(model.components_), abs(FDA().fit(IRIS, SPECIES).components_), rtol=1e-9)


@pytest.mark.parametrize("missing", [None, np.nan, -1])
def test_a_label_may_be_missing(missing):
    y = SPECIES.astype(object)
    y[::3] = missing
    model = FDA(ridge=0).fit(IRIS, y)
    expected = FDA(ridge=0).fit(IRIS, np.where(np.arange(150) % 3, SPECIES, -1))
    np.testing.assert_allclose(model.components_, expected.components_)


@pytest.mark.parametrize("learner", [FDA, LFDA])
def test_units_of_the_columns_change_nothing(learner):
    units = [1e-3, 1, 1e4, 7]
    one, other = learner().fit(IRIS, SPECIES), learner().fit(IRIS * units, SPECIES)
    np.testing.assert_allclose(one.transform(IRIS), other.transform(IRIS * units), rtol=1e-6)


def test_the_local_form_keeps_the_parts_of_a_class_apart():
    """Class 0 lies on both sides of class 1: the means agree, so plain FDA sees nothing along the first column."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 0, 1], 40)
    X = np.c_[np.repeat([-5.0, 5, 0], 40) + rng.normal(size=120), 4 * rng.normal(size=120)]
    plain, local = FDA().fit(X, y), LFDA().fit(X, y)
    assert plain.ratios_[0] < 0.05
    assert local.ratios_[0] > 5
    weight = abs(local.components_[:, 0]) * X.std(axis=0)
    assert weight[0] > 10 * weight[1]
    parts = np.repeat([0, 1, 2], 40)
    assert adjusted_rand_score(parts, KMeans(3, n_init=5, random_state=0).fit_predict(local.transform(X))) == 1


def test_neighbors_of_the_local_form_are_counted():
    near, far = LFDA(n_neighbors=2).fit(IRIS, SPECIES), LFDA(n_neighbors=40).fit(IRIS, SPECIES)
    assert abs(near.ratios_ - far.ratios_).max() > 0.01 * far.ratios_.max()
    np.testing.assert_array_equal(
        LFDA(n_neighbors=49).fit(IRIS, SPECIES).ratios_, LFDA(n_neighbors=99).fit(IRIS, SPECIES).ratios_
    )


def test_kernel_form_with_a_linear_kernel_is_fda():
    """The two ridges differ by the units they are in; all rows are labeled."""
    X = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    one, other = FDA(ridge=0.02).fit(X, SPECIES), KFDA(kernel="linear", ridge=0.02).fit(X, SPECIES)
    np.testing.assert_allclose(one.ratios_, other.ratios_, rtol=1e-8)
    for a, b in zip(one.transform(X).T, other.transform(X).T):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_kernel_that_is_nearly_the_same_for_all_keeps_its_digits(kernel):
    """The smaller gamma, the less does it matter: at 1e-9 and 1e-13 the metrics are the same but for 1e-6."""
    one, other = (KFDA(kernel=kernel, gamma=gamma).fit(IRIS[::5], SPECIES[::5]) for gamma in (1e-9, 1e-13))
    np.testing.assert_allclose(one.ratios_, other.ratios_, rtol=1e-6)
    distances = pdist(one.transform(IRIS))
    np.testing.assert_allclose(distances, pdist(other.transform(IRIS)), atol=1e-6 * distances.max())


def test_a_kernel_that_is_nearly_one_keeps_its_digits():
    """tanh(z) is 1 - 2 exp(-2 z) + 2 exp(-4 z) - ...: of large z the exponential alone says how objects differ."""
    X, y = 0.3 * IRIS[::5] + 1.0, SPECIES[::5]

    def exponential(one, other):
        return -np.exp(-2 * (one @ other + 8))

    one, other = KFDA(kernel="sigmoid", gamma=1.0, kernel_params={"coef0": 8}), KFDA(kernel=exponential)
    one, other = one.fit(X, y).transform(X), other.fit(X, y).transform(X)
    distances = pdist(one)
    np.testing.assert_allclose(distances, pdist(other), atol=1e-6 * distances.max())


def test_a_sigmoid_that_is_nearly_flat_is_told_from_rounding_errors():
    """Of objects far out, products differ in their last digits only, and so does their tanh."""
    X = np.linspace(1, 1 + 1e-12, 12)[:, None]
    kernel, size = KFDA(kernel="sigmoid", gamma=1.0).fit(IRIS, SPECIES)._kernel(IRIS[:5])
    assert size > np.abs(kernel).max()
    with pytest.raises(ValueError, match="no metric to learn"):
        KFDA(kernel="sigmoid", gamma=1e-3).fit(X, np.arange(12) % 2)


def test_kernel_form_maximizes_its_ratio_among_all_coefficients():
    """Two classes: the ratio in the kernel's space, written with the kernel matrix as in the literature."""
    X, y = IRIS[50:], SPECIES[50:] - 1
    model = KFDA(gamma=0.3, ridge=0.05).fit(X, y)
    K = rbf_kernel(X, gamma=0.3)
    center = np.eye(100) - 0.01
    halves = [np.flatnonzero(y == k) for k in (0, 1)]
    gap = K[:, halves[0]].mean(axis=1) - K[:, halves[1]].mean(axis=1)
    within = sum(K[:, some] @ (np.eye(50) - 1 / 50) @ K[some] for some in halves) / 100
    unit = np.trace(center @ K) / 100

    def ratio(a):
        return 0.25 * (gap @ a) ** 2 / (a @ within @ a + 0.05 * unit * a @ K @ a)

    best = ratio(model.dual_coef_[:, 0])
    assert best == pytest.approx(model.ratios_[0], rel=1e-6)
    closed = np.linalg.solve(within + 0.05 * unit * K + 1e-12 * np.eye(100), gap)
    assert best == pytest.approx(ratio(closed), rel=1e-5)


def test_kernel_form_keeps_labeled_rows_only():
    y = np.where(np.arange(150) % 5, -1, SPECIES)
    model = KFDA().fit(IRIS, y)
    np.testing.assert_array_equal(model.objects_, IRIS[::5])
    assert model.transform(IRIS).shape == (150, 2)
    np.testing.assert_allclose(
        model.transform(IRIS[:9]), rbf_kernel(IRIS[:9], model.objects_, model.gamma_) @ model.dual_coef_
    )


def test_a_kernel_that_cannot_tell_objects_apart_is_refused():
    X = np.linspace(1, 2, 12)[:, None] + 1e6  # tanh is one for all of them
    with pytest.raises(ValueError, match=r"'sigmoid' of KFDA is the same for all 12 objects .* no metric to learn"):
        KFDA(kernel="sigmoid").fit(X, np.arange(12) % 2)


def test_circles_are_told_apart_by_fifty_labels():
    circles = make_circles(random_state=0)
    good = 0
    for seed in range(10):
        y = np.full(500, -1)
        known = np.random.RandomState(seed).choice(500, 50, replace=False)
        y[known] = circles.target[known]
        rows = KFDA().fit(circles.data, y).transform(circles.data)
        found = KMeans(2, n_init=3, random_state=0).fit_predict(rows)
        good += adjusted_rand_score(circles.target, found) >= 0.99
    assert good >= 8
    found = EVCLUS(2, n_init=1, random_state=0).fit(rows).labels_
    assert adjusted_rand_score(circles.target, found) >= 0.99


@pytest.mark.parametrize("learner", [FDA, LFDA, KFDA])
def test_mistakes_are_explained(learner):
    who = learner.__name__
    with pytest.raises(ValueError, match=f"{who} learns from labels.*PCCA, KPCCA, LSI and DMLeig learn from links"):
        learner().fit(IRIS)
    with pytest.raises(ValueError, match=f"{who} needs one label for each of 150 rows. Got an array of shape .149,"):
        learner().fit(IRIS, SPECIES[:-1])
    with pytest.raises(ValueError, match=r"labels of two classes or more. Got 1 class in 50 labeled rows"):
        learner().fit(IRIS, np.where(SPECIES == 0, 0, -1))
    with pytest.raises(ValueError, match=r"labels of two classes or more. Got 0 classes in 0 labeled rows"):
        learner().fit(IRIS, np.full(150, -1))
    few = np.full(150, -1)
    few[[0, 1, 60, 61]] = SPECIES[[0, 1, 60, 61]]
    with pytest.raises(ValueError, match=f"The 4 labeled rows of {who} do not vary inside .* or a ridge above 0"):
        learner(ridge=0).fit(IRIS, few)
    assert np.isfinite(learner().fit(IRIS, few).transform(IRIS)).all()
    for params, message in [
        ({"n_components": 0}, f"'n_components' parameter of {who} must be an integer >= 1 or None. Got 0"),
        (
            {"n_components": 151},
            f"'n_components' parameter of {who} must be at most .*, the number of directions .*Got 151",
        ),
        ({"ridge": -0.1}, f"'ridge' parameter of {who} must be a number >= 0. Got -0.1"),
    ]:
        with pytest.raises(ValueError, match=message):
            learner(**params).fit(IRIS, SPECIES)
    with pytest.raises(NotFittedError):
        learner().transform(IRIS)


def test_the_number_of_neighbors_is_checked():
    with pytest.raises(ValueError, match=r"'n_neighbors' parameter of LFDA must be an integer >= 1. Got 0"):
        LFDA(n_neighbors=0).fit(IRIS, SPECIES)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_scale_of_a_kernel_that_falls_with_distance_has_its_units(kernel):
    one, other = (KFDA(kernel=kernel).fit(unit * IRIS[::5], SPECIES[::5]) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(one.ratios_, other.ratios_, rtol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "params"), [("poly", {}), ("polynomial", {"degree": 2, "coef0": 0.5}), ("chi2", {})]
)
def test_kernels_that_are_nearly_flat_keep_their_digits(kernel, params):
    """Up to a constant they are scikit-learn's; with a small gamma they are linear in it, which those are not."""
    learner = KFDA(kernel=kernel, gamma=0.1, kernel_params=params).fit(IRIS, SPECIES)
    ours = learner._kernel(IRIS[:7])[0]
    theirs = pairwise_kernels(IRIS[:7], learner.objects_, metric=kernel, gamma=0.1, filter_params=True, **params)
    assert np.ptp(theirs - ours) == pytest.approx(0, abs=1e-9)
    learner.gamma_ = 1e-13
    small = learner._kernel(IRIS[:7])[0]
    learner.gamma_ = 1e-14
    np.testing.assert_allclose(small, 10 * learner._kernel(IRIS[:7])[0], rtol=1e-9)


def test_the_cosine_of_rows_that_are_nearly_parallel_keeps_its_digits():
    learner = KFDA(kernel="cosine").fit(IRIS, SPECIES)
    ours = learner._kernel(IRIS[:7])[0]
    np.testing.assert_allclose(ours, pairwise_kernels(IRIS[:7], learner.objects_, metric="cosine") - 1, atol=1e-12)
    for angle in (1e-6, 1e-9):
        learner.objects_ = np.array([[np.cos(angle), np.sin(angle)]])
        assert learner._kernel(np.array([[3.0, 0.0]]))[0][0, 0] == pytest.approx(-(angle**2) / 2, rel=1e-6)
