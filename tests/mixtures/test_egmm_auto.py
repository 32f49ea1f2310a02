"""What EGMM chooses by itself: sets, model, number of clusters, columns; and what it says when it cannot."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from evidentia import EGMM, FocalSets
from evidentia.datasets import load
from evidentia.mixtures._covariances import MODELS
from evidentia.mixtures.egmm import few_values
from evidentia.rows import scan
from made_groups import overlapping

LIMIT = 1e-3  # of the members of a cluster, as far out as an object that may be in it


def row_of_groups(gap, between=0, seed=5):
    """Three groups of unequal size on a line in the plane, their numbers, and objects halfway between neighbors."""
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(3), (70, 62, 54))
    rows = np.column_stack([gap * which, 0 * which]) + rng.normal(size=(len(which), 2))
    halfway = np.repeat([[0.5 * gap, 0.0], [1.5 * gap, 0.0]], between, axis=0) + rng.normal(size=(2 * between, 2)) * 0.3
    return np.vstack([rows, halfway]), which


def on_the_line(model):
    """Sets of the fitted family, each as the places of its clusters on the line."""
    place = np.argsort(model.cluster_centers_[:, 0]).argsort()
    return {tuple(sorted(place[list(subset)].tolist())) for subset in model.focal_sets_}


def test_groups_in_a_row_share_objects_with_their_neighbors_only():
    X, which = row_of_groups(5.0, between=8)
    model = EGMM(3, random_state=0).fit(X)
    assert on_the_line(model) == {(0,), (1,), (2,), (0, 1), (1, 2)}
    assert adjusted_rand_score(which, model.labels_[: len(which)]) > 0.9
    n_possible = model.partition_.sets().sum(axis=1)
    assert n_possible.max() == 2
    assert n_possible[len(which) :].mean() > 1.5  # those halfway
    assert (n_possible[X[:, 0] < 0] == 1).all()


@pytest.mark.parametrize("gap", [3.5, 4.0, 5.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_ends_of_a_row_share_nothing(gap, seed):
    model = EGMM(3, model="EII", random_state=0).fit(row_of_groups(gap, seed=seed)[0])
    assert on_the_line(model) <= {(0,), (1,), (2,), (0, 1), (1, 2)}


def test_groups_far_apart_share_nothing():
    X, which = row_of_groups(12.0)
    model = EGMM(3, random_state=0).fit(X)
    assert on_the_line(model) == {(0,), (1,), (2,)}
    assert adjusted_rand_score(which, model.labels_) == 1
    assert (model.partition_.sets().sum(axis=1) == 1).all()


def test_many_clusters_are_found_where_all_pairs_mislead():
    """A cluster in the midst of two others is taken for their common objects when every pair is a set."""
    which = np.repeat(np.arange(16), 40)
    X = 5 * np.stack([which // 4, which % 4], axis=1) + np.random.default_rng(2).normal(size=(len(which), 2))
    model = EGMM(16, model="EEE", random_state=0).fit(X)
    assert adjusted_rand_score(which, model.labels_) > 0.9
    gaps = np.linalg.norm(model.cluster_centers_[:, None] - model.cluster_centers_, axis=2)
    several = [list(subset) for subset in model.focal_sets_ if len(subset) > 1]
    assert 3 <= len(several) <= 80  # of 65,519
    assert all(gaps[np.ix_(subset, subset)].max() < 8 for subset in several)  # at most a diagonal of the grid
    every = EGMM(16, model="EEE", focal_sets="pairs", init="k-means", n_init=2, random_state=0).fit(X)
    assert adjusted_rand_score(which, every.labels_) < 0.8


def impossible_sets(model, X, masses):
    """Pairs of an object and a set with mass that contains a cluster too far away, next to one that is not."""
    gap = X[:, None] - model.cluster_centers_
    found = []
    for i, row in enumerate(gap):
        o = ~np.isnan(X[i])
        within = model.covariances_[:, o][:, :, o]
        square = np.einsum("kp,kpq,kq->k", row[:, o], np.linalg.inv(within), row[:, o])
        limit = chi2.isf(LIMIT, o.sum())
        for subset, mass in zip(model.focal_sets_, masses[i]):
            inside = square[list(subset)]
            if mass > 1e-12 and inside.min() < 0.999 * limit and inside.max() > 1.001 * limit:
                found.append((i, subset))
    return found


@pytest.mark.parametrize("name", ["EEE", "VVV", "VVI"])
@pytest.mark.parametrize("family", ["auto", [{0}, {1}, {2}, {0, 1, 2}]])
def test_no_object_is_possibly_in_a_cluster_that_is_impossible_for_it(name, family, monkeypatch):
    X, _ = row_of_groups(5.0, between=8)
    X = np.vstack([X, np.random.default_rng(1).normal(size=(50, 2)) * 0.3 + [0.0, 3.0]])
    model = EGMM(3, model=name, random_state=0).fit(X)
    if family != "auto":  # the possible clusters need not be a set of the family
        model.focal_sets_ = FocalSets(3, family)
        model.weights_ = np.array([0.3, 0.2, 0.2, 0.3])
        model._parameters = model._parameters._replace(weights=model.weights_)
    masses = model.predict_partition(X).masses
    assert impossible_sets(model, X, masses) == []
    np.testing.assert_allclose(masses.sum(axis=1), 1)
    torn = np.where(np.random.default_rng(2).uniform(size=X.shape) < 0.2, np.nan, X)
    torn = torn[~np.isnan(torn).all(axis=1)]
    assert impossible_sets(model, torn, model.predict_partition(torn).masses) == []
    monkeypatch.setattr(EGMM, "_drop_impossible", lambda *_: None)
    before = model.predict_partition(X).masses
    assert impossible_sets(model, X, before)  # it is no empty promise
    single = model.focal_sets_.card == 1
    assert (masses[:, single] >= before[:, single] - 1e-12).all()


def test_no_versicolor_is_possibly_setosa():
    iris = load("iris")
    model = EGMM(3, random_state=0).fit(iris.data)
    setosa = np.bincount(model.labels_[iris.target == 0]).argmax()
    assert adjusted_rand_score(iris.target, model.labels_) > 0.88
    possible = model.partition_.sets()[:, setosa]
    assert not possible[iris.target != 0].any()
    assert (model.labels_[iris.target == 0] == setosa).all()


# -- the whole choice does not depend on what does not matter ---------------------------------------------------------


def same_choice(a, b, rows=slice(None), atol=1e-4):
    assert (a.model_, a.n_clusters_) == (b.model_, b.n_clusters_)
    assert a.focal_sets_.names() == b.focal_sets_.names()
    np.testing.assert_allclose(a.partition_.masses, b.partition_.masses[rows], atol=atol)


CHOICE = {"cluster_range": (1, 4), "random_state": 0}


def test_rows_may_come_in_any_order():
    X = overlapping()
    base = EGMM(**CHOICE).fit(X)
    assert base.n_clusters_ > 1
    shuffle = np.random.default_rng(3).permutation(len(X))
    same_choice(EGMM(**CHOICE).fit(X[shuffle]), base, shuffle)


@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("name", ["EEE", "VVV"])
def test_ties_do_not_depend_on_the_order_of_the_rows(name, n_init):
    """Whole numbers without clusters: merges of equal cost abound, and each way leads to another maximum."""
    X = np.random.default_rng(0).integers(0, 8, size=(80, 2)).astype(float)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=80)
    base = EGMM(4, model=name, n_init=n_init, random_state=0).fit(X, sample_weight=weight)
    for seed in range(5):
        shuffle = np.random.default_rng(seed).permutation(len(X))
        other = EGMM(4, model=name, n_init=n_init, random_state=0).fit(X[shuffle], sample_weight=weight[shuffle])
        same_choice(other, base, shuffle, atol=1e-6)


def test_weights_count_as_copies_in_the_whole_choice():
    X = overlapping(60)
    weight = np.random.default_rng(1).integers(0, 4, size=len(X))
    weighted = EGMM(**CHOICE).fit(X, sample_weight=weight)
    copied = EGMM(**CHOICE).fit(np.repeat(X, weight, axis=0))
    assert (weighted.model_, weighted.n_clusters_) == (copied.model_, copied.n_clusters_)
    assert weighted.ebic_ == pytest.approx(copied.ebic_, rel=1e-6)
    np.testing.assert_allclose(weighted.predict_partition(X).masses, copied.predict_partition(X).masses, atol=1e-3)


UNITS = np.array([0.02, 30.0, 4.0])


def three_groups_in_space(n=150, seed=2):
    """Longish groups in three columns of about one spread."""
    rng = np.random.default_rng(seed)
    which = np.arange(n) % 3
    factors = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] * [1.0, 0.5, 0.2] for _ in range(3)])
    return np.array([[0, 0, 0], [4, 0, 1], [1, 3, 4.0]])[which] + np.einsum(
        "nij,nj->ni", factors[which], rng.normal(size=(n, 3))
    )


def spread_ratio(X):
    return X.std(axis=0).max() / X.std(axis=0).min()


def standard(X):
    return (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("name", ["EII", "VII", "EVE", "VVE", "EEV", "VEV"])
def test_a_model_of_standardized_columns_is_that_of_the_table_standardized_before(name, holes):
    X = three_groups_in_space() * UNITS + [5.0, -1e3, 0.0]
    new = X[:7] + 0.3 * X.std(axis=0)
    if holes:
        X[::7, 1] = np.nan
    new[:3, 2] = np.nan
    inside, scale = standard(X), np.nanstd(X, axis=0)
    here = EGMM(3, model=name, standardize=True, random_state=0).fit(X)
    there = EGMM(3, model=name, random_state=0).fit(inside)
    np.testing.assert_allclose(here.partition_.masses, there.partition_.masses, atol=1e-8)
    np.testing.assert_allclose(here.cluster_centers_, there.cluster_centers_ * scale + np.nanmean(X, axis=0), rtol=1e-8)
    np.testing.assert_allclose(here.covariances_, there.covariances_ * np.outer(scale, scale), rtol=1e-6)
    gain = (~np.isnan(X)).sum(axis=0) @ np.log(scale)
    assert here.log_likelihood_ == pytest.approx(there.log_likelihood_ - gain, abs=1e-6)
    assert here.score_samples(X).sum() == pytest.approx(here.log_likelihood_, abs=1e-6)
    expected = there.predict_partition((new - np.nanmean(X, axis=0)) / scale).masses
    np.testing.assert_allclose(here.predict_partition(new).masses, expected, atol=1e-8)
    drawn, origin = here.sample(20_000, random_state=1)
    largest = drawn[origin == here.focal_sets_.singleton_index[0]] / scale
    np.testing.assert_allclose(np.cov(largest.T), there.covariances_[0], atol=0.02)


def test_the_choice_of_a_model_does_not_depend_on_units_that_differ():
    X = three_groups_in_space()
    base, other = EGMM(random_state=0).fit(X * UNITS), EGMM(random_state=0).fit(X * UNITS[::-1] * 7 + 3)
    assert (base.model_, base.n_clusters_) == (other.model_, other.n_clusters_)
    np.testing.assert_allclose(base.partition_.masses, other.partition_.masses, atol=1e-8)
    gain = len(X) * np.log(7.0**3)
    np.testing.assert_allclose(base.selection_["bic"] / 2, other.selection_["bic"] / 2 + gain, atol=1e-6)
    copies = EGMM(random_state=0).fit(np.repeat(X * UNITS, 2, axis=0))
    weighted = EGMM(random_state=0).fit(np.vstack([X * UNITS, [[1e6, 0, 0]]]), sample_weight=[2] * len(X) + [0])
    assert copies.log_likelihood_ == pytest.approx(weighted.log_likelihood_, abs=1e-6)


def test_columns_stay_in_their_units_where_these_are_alike_or_the_model_is_named():
    X = three_groups_in_space()
    moderate = X * [1.0, 2.0, 1.0]
    assert 1.5 < spread_ratio(moderate) < 3 < spread_ratio(X * UNITS)
    settings = {"n_clusters": 3, "random_state": 0}

    def ends(table, **more):
        return EGMM(**settings, **more).fit(table).log_likelihood_

    few = ["EII", "VII"]
    assert ends(moderate, model=few) == ends(moderate, model=few, standardize=False)
    assert ends(moderate, model=few) != pytest.approx(ends(moderate, model=few, standardize=True), abs=0.1)
    assert ends(X * UNITS, model=few) == ends(X * UNITS, model=few, standardize=True)
    assert ends(X * UNITS, model="VII") == ends(X * UNITS, model="VII", standardize=False)
    assert ends(X * UNITS, model="VII") != pytest.approx(ends(X * UNITS, model="VII", standardize=True), abs=0.1)


def test_columns_on_one_scale_stay_in_it_whatever_their_spreads():
    rng = np.random.default_rng(0)
    marks = rng.integers(0, 11, (120, 6)).astype(float)
    marks[:, :2] = rng.integers(0, 11, (120, 2)) * (rng.random((120, 2)) < 0.05)
    assert spread_ratio(marks) > 3
    few = {"model": ["EII", "VII"], "n_clusters": 2, "random_state": 0}
    auto = EGMM(**few).fit(marks)
    assert auto.log_likelihood_ == EGMM(**few, standardize=False).fit(marks).log_likelihood_
    assert auto.log_likelihood_ != pytest.approx(EGMM(**few, standardize=True).fit(marks).log_likelihood_, abs=0.1)


@pytest.mark.parametrize("model", ["VII", ["EII", "VII"]])
def test_principal_components_are_those_of_standardized_columns_where_units_differ(model):
    X = three_groups_in_space()
    few = {"model": model, "n_clusters": 3, "reduce": 2, "random_state": 0}
    same, scaled = EGMM(**few, standardize=True).fit(X * UNITS), EGMM(**few).fit(X / X.std(axis=0))
    assert EGMM(**few).fit(X * UNITS).log_likelihood_ == same.log_likelihood_
    assert same.log_likelihood_ == pytest.approx(scaled.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(same.cluster_centers_, scaled.cluster_centers_ * X.std(axis=0) * UNITS, rtol=1e-6)
    np.testing.assert_allclose(same.predict_partition(X * UNITS).masses, scaled.partition_.masses, atol=1e-9)
    plain = EGMM(**few, standardize=False).fit(X * UNITS)
    assert plain.log_likelihood_ != pytest.approx(same.log_likelihood_, abs=0.1)


def test_batches_follow_standardized_columns():
    X = three_groups_in_space(300)
    here, there = (EGMM(3, model="VVE", standardize=wish, random_state=0) for wish in (True, False))
    scale = (X[:150] * UNITS).std(axis=0)
    for batch in (X[:150], X[150:220], X[220:]):
        here.partial_fit(batch * UNITS)
        there.partial_fit(batch * UNITS / scale)
    np.testing.assert_allclose(
        here.predict_partition(X * UNITS).masses, there.predict_partition(X * UNITS / scale).masses, atol=1e-7
    )


def test_units_do_not_matter_to_models_that_are_free_of_them():
    X, models = overlapping(), ["EEI", "VVI", "EEE", "VEE", "EVV", "VVV"]
    base = EGMM(**CHOICE, model=models).fit(X)
    scaled = EGMM(**CHOICE, model=models).fit(X * [1e-4, 300.0] + [7.0, -1e4])
    same_choice(scaled, base)
    assert scaled.log_likelihood_ == pytest.approx(base.log_likelihood_ - len(X) * np.log(0.03), rel=1e-6)


def test_clusters_are_numbered_from_the_largest_unless_the_caller_has_an_order():
    X = overlapping(120)
    model = EGMM(3, model="VVV", random_state=0).fit(X)
    assert (np.diff(model.partition_.pignistic.sum(axis=0)) < 0).all()
    turned = EGMM(3, model="VVV", init=model.cluster_centers_[[2, 0, 1]]).fit(X)
    np.testing.assert_allclose(turned.cluster_centers_, model.cluster_centers_[[2, 0, 1]], atol=0.05)
    np.testing.assert_allclose(turned.covariances_, model.covariances_[[2, 0, 1]], atol=0.1)


# -- model and number -------------------------------------------------------------------------------------------------


def test_the_choice_is_the_highest_criterion_of_what_was_fitted():
    X = overlapping(120)
    model = EGMM(cluster_range=(1, 5), model=["EII", "EEE", "VVV", "VVI"], random_state=0).fit(X)
    table = model.selection_
    assert {"EII", "EEE", "VVV", "VVI"} == set(table["model"])
    fitted = table[~table["note"].str.contains("first look")]
    top = fitted.loc[fitted["bic"].idxmax()]
    assert (top["model"], top["n_clusters"]) == (model.model_, model.n_clusters_)
    assert (table[["model", "n_clusters"]].value_counts() == 1).all()
    np.testing.assert_allclose(table["bic"], 2 * table["log_likelihood"] - table["n_parameters"] * np.log(len(X)))
    assert model.bic_ == top["bic"]


def test_bic_is_of_single_clusters_and_ebic_of_the_mixture_with_its_sets():
    X = overlapping(120)
    for sets, single in [("auto", False), ("singletons", True), ("pairs", False)]:
        model = EGMM(3, model="VVV", focal_sets=sets, random_state=0).fit(X)
        n_sets = len(model.focal_sets_)
        assert model.ebic_ == pytest.approx(model.log_likelihood_ - model.n_parameters_ * np.log(len(X)) / 2)
        if sets == "auto":
            assert n_sets > 3
            plain = EGMM(3, model="VVV", focal_sets="singletons", random_state=0).fit(X)
            assert model.bic_ == pytest.approx(2 * plain.ebic_)
            assert model.selection_["bic"].tolist() == [model.bic_]
            assert "ebic" not in model.selection_
            assert model.ebic_ < model.bic_ / 2
        else:
            assert (n_sets == 3) == single
            assert np.isnan(model.bic_)  # sets were fitted with the clusters
            assert model.selection_["ebic"].tolist() == [model.ebic_]


def test_what_is_called_barely_better_is_better():
    """The rule prefers more clusters where BIC is level; a number with fewer and a lower BIC is plainly worse."""
    seen = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.normal(at, 1, size=(25, 2)) for at in ([0, 0], [3, 0], [1.5, 2.4])])
        model = EGMM(cluster_range=(1, 5), model=["EII", "EEE"], random_state=0).fit(X)
        passed = model.selection_[model.selection_["note"].str.contains("barely better")]
        assert (passed["bic"] > model.bic_).all()
        assert (passed["bic"] <= model.bic_ + 2).all()
        assert (passed["n_clusters"] < model.n_clusters_).all()
        level = model.selection_[model.selection_["note"].eq("") & (model.selection_["bic"] < model.bic_)]
        seen += ((level["n_clusters"] < model.n_clusters_) & (level["bic"] >= model.bic_ - 2)).any()
    assert seen  # tables on which a note by the distance alone would be wrong


def test_equal_spheres_and_own_ellipses_are_told_apart():
    X, _ = row_of_groups(9.0)
    assert EGMM(3, standardize=False, random_state=0).fit(X).model_ == "EII"
    assert (
        EGMM(3, random_state=0).fit(X).model_ == "EEI"
    )  # spheres no longer when columns of different spread are standardized
    rng = np.random.default_rng(0)
    roots = np.array([[[3.0, 0.0], [2.7, 0.3]], [[0.3, 0.0], [-0.2, 0.1]]])
    X = np.vstack([rng.normal(size=(80, 2)) @ R.T + shift for R, shift in zip(roots, ([0, 0], [14, -6]))])
    assert EGMM(2, random_state=0).fit(X).model_ in ("VVV", "VEV")


def test_in_one_column_there_is_only_volume():
    X = row_of_groups(9.0)[0][:, :1]
    model = EGMM(cluster_range=(1, 5), random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert set(model.selection_["model"]) == {"EII", "VII"}


@pytest.mark.parametrize(("low", "high", "end"), [(1, 2, "largest"), (4, 6, "smallest")])
def test_a_best_number_at_an_end_of_the_range_is_said(low, high, end):
    X, _ = row_of_groups(12.0)
    best = high if end == "largest" else low
    with pytest.warns(
        UserWarning, match=rf"number of clusters, {best}, is the {end} of cluster_range=\({low}, {high}\)"
    ):
        model = EGMM(cluster_range=(low, high), model="EII", random_state=0).fit(X)
    assert model.n_clusters_ == best


def test_a_best_number_inside_the_range_or_given_needs_no_words():
    X, which = row_of_groups(12.0)
    model = EGMM(cluster_range=(1, 6), random_state=0).fit(X)  # warnings are errors
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(which, model.labels_) == 1
    EGMM(2, cluster_range=(1, 2), model="EII", random_state=0).fit(X)
    EGMM(cluster_range=(3, 3), model="EII", random_state=0).fit(X)


# -- columns ----------------------------------------------------------------------------------------------------------


def planted(n=150, d=8, seed=0):
    """Three groups in a plane of a wider table, and a little noise."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    which = np.arange(n) % 3
    inside = np.array([[0.0, 0.0], [9.0, 1.0], [2.0, 8.0]])[which] + rng.normal(size=(n, 2))
    return inside @ axes.T + 0.1 * rng.normal(size=(n, d)) + np.arange(d), which


@pytest.mark.parametrize(("reduce", "width"), [("pca", 2), (0.9, 2), (0.6, 1), (2, 2), (5, 5)])
def test_principal_components_are_clustered_and_columns_are_shown(reduce, width):
    X, which = planted()
    model = EGMM(3, reduce=reduce, standardize=False, random_state=0).fit(X)
    assert model.reduction_.axes.shape == (8, width)
    if width > 1:
        assert adjusted_rand_score(which, model.labels_) == 1
        truth = np.array([X[model.labels_ == k].mean(axis=0) for k in range(3)])
        np.testing.assert_allclose(model.cluster_centers_, truth, atol=0.15)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.predict_partition(X).masses, model.partition_.masses, atol=1e-12)
    assert model.cluster_centers_.shape == (3, 8)
    assert model.covariances_.shape == (3, 8, 8)
    assert np.linalg.matrix_rank(model.covariances_[0], tol=1e-8) == width
    drawn, component = model.sample(2000, random_state=1)
    assert drawn.shape == (2000, 8)
    kept = model.focal_sets_.singleton_index[0]
    np.testing.assert_allclose(drawn[component == kept].mean(axis=0), model.cluster_centers_[0], atol=0.3)


def test_reducing_is_clustering_the_principal_components():
    X, _ = planted()
    inside = EGMM(3, reduce=2, model="VVV", standardize=False, random_state=0).fit(X)
    outside = EGMM(3, model="VVV", random_state=0).fit(PCA(2).fit_transform(X))
    assert inside.log_likelihood_ == pytest.approx(outside.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(inside.partition_.masses, outside.partition_.masses, atol=1e-6)
    np.testing.assert_allclose(inside.score_samples(X), outside.score_samples(PCA(2).fit_transform(X)), rtol=1e-8)


def test_a_start_and_a_prior_for_reduced_columns_are_those_of_the_table():
    X, which = planted()
    start = np.array([X[which == k].mean(axis=0) for k in (2, 0, 1)])
    model = EGMM(3, reduce=2, model="VVV", init=start, prior=X.var(axis=0)).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, start, atol=0.3)


def test_reducing_needs_complete_rows():
    X, _ = planted()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"EGMM\(reduce='pca'\) needs a table without missing values; fill them first"):
        EGMM(3, reduce="pca").fit(X)
    model = EGMM(3, reduce=2, random_state=0).fit(planted()[0])
    with pytest.raises(
        ValueError, match=r"principal components, which need every column, but some row lacks column 2\. Fill it"
    ):
        model.predict_partition(X)


def test_a_ridge_is_in_the_units_of_the_table_where_components_are_of_standardized_columns():
    X, _ = planted()
    units = np.geomspace(1.0, 500.0, 8)
    one, two = (
        EGMM(3, model="EEE", reduce=2, ridge=4.0 * factor**2, random_state=0).fit(X * units * factor)
        for factor in (1.0, 1 / 64)
    )
    np.testing.assert_allclose(two.partition_.masses, one.partition_.masses, atol=1e-9)
    plain = EGMM(3, model="EEE", reduce=2, random_state=0).fit(X * units)
    assert one.log_likelihood_ < plain.log_likelihood_ - 1


def test_wide_tables_are_reduced_where_the_model_is_chosen():
    X, which = planted(n=120, d=30)
    model = EGMM(random_state=0).fit(X)
    assert model.reduction_.axes.shape == (30, 2)
    assert adjusted_rand_score(which, model.labels_) == 1
    asked = EGMM(reduce="pca", random_state=0).fit(X)
    np.testing.assert_allclose(model.partition_.masses, asked.partition_.masses, atol=1e-12)
    assert EGMM(3, model="VVI", random_state=0).fit(X).reduction_ is None
    assert EGMM(3, reduce=None, random_state=0).fit(X).reduction_ is None
    assert EGMM(3, random_state=0).fit(planted(n=150, d=30)[0]).reduction_ is None
    holes = X.copy()
    holes[5, 7] = np.nan
    assert EGMM(3, random_state=0).fit(holes).reduction_ is None


def test_a_row_of_weight_two_counts_as_two_in_a_wide_table():
    X, _ = planted(n=60, d=20)
    twice = EGMM(3, random_state=0).fit(np.repeat(X, 2, axis=0))
    weighted = EGMM(3, random_state=0).fit(X, sample_weight=np.full(60, 2.0))
    assert twice.reduction_ is None  # 120 rows are enough for 20 columns
    assert weighted.reduction_ is None
    X = X[:40]
    twice = EGMM(3, random_state=0).fit(np.repeat(X, 2, axis=0))
    weighted = EGMM(3, random_state=0).fit(X, sample_weight=np.full(40, 2.0))
    assert twice.reduction_.axes.shape == weighted.reduction_.axes.shape == (20, 2)
    np.testing.assert_allclose(weighted.partition_.masses, twice.partition_.masses[::2], atol=1e-6)


def test_no_matrix_of_all_columns_is_made_for_components(monkeypatch):
    X, which = planted(n=60, d=700)
    made, moments_of = [], scan.moments_of
    monkeypatch.setattr(scan, "moments_of", lambda *args: made.append(moments_of(*args)) or made[-1])
    model = EGMM(3, model="VVV", reduce=2, random_state=0).fit(X)
    assert adjusted_rand_score(which, model.labels_) == 1
    assert {moments.squares.shape for moments in made} == {(700,), (2, 2)}


def test_redundant_columns_change_nothing():
    X = overlapping(120)
    base = EGMM(3, random_state=0).fit(X)
    wide = np.column_stack([X[:, 0], np.full(len(X), 0.1), X[:, 1], X @ [1.0, -2.0] + 3.0])
    model = EGMM(3, random_state=0).fit(wide)
    same_choice(model, base)
    assert model.ebic_ == pytest.approx(base.ebic_, rel=1e-6)
    np.testing.assert_allclose(model.cluster_centers_[:, 1], 0.1)
    np.testing.assert_allclose(
        model.cluster_centers_[:, 3], model.cluster_centers_[:, [0, 2]] @ [1.0, -2.0] + 3, rtol=1e-6
    )
    assert model.covariances_.shape == (3, 4, 4)
    np.testing.assert_allclose(model.covariances_[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(model.covariances_[:, 0, 3], model.covariances_[:, 0, [0, 2]] @ [1.0, -2.0], atol=1e-6)
    np.testing.assert_array_equal(model.predict(wide), model.labels_)


# -- what cannot be fitted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"prior": [1.0, 2.0, 3.0]},
            r"'prior' of EGMM must be 2 positive variances, one for each column of X\. Got an array of shape \(3,\)\.",
        ),
        ({"prior": np.eye(2)}, r"2 positive variances, .* Got an array of shape \(2, 2\)"),
        ({"prior": 1.5}, r"2 positive variances, .* Got an array of shape \(\)"),
        ({"prior": [1.0, -2.5]}, r"must be 2 positive variances, .* That of column 1 is -2\.5\."),
        ({"prior": [0.0, 1.0]}, "That of column 0 is 0"),
        ({"prior": [np.nan, 1.0]}, "That of column 0 is nan"),
        ({"cluster_range": (5, 2), "n_clusters": "auto"}, r"\(low, high\) with 1 <= low <= high\. Got \(5, 2\)"),
        ({"model": "VVW"}, "'model' parameter of EGMM must be one of 'auto', 'EII', .* Got 'VVW'"),
        ({"model": []}, r"or a list of some of them\. Got \[\]"),
        (
            {"reduce": 0},
            "'reduce' parameter of EGMM must be one of 'auto', 'pca' or a number > 0 and < 1 or an integer >= 1 or "
            "None. Got 0",
        ),
    ],
)
def test_settings_that_cannot_be_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        EGMM(**{"n_clusters": 2, **changed}).fit(overlapping(40))


def test_models_that_few_rows_cannot_carry_are_named_with_those_that_can():
    X = np.random.default_rng(0).normal(size=(10, 20))
    with pytest.raises(
        ValueError,
        match=r"EGMM cannot fit VEE, VVV to 10 rows of 20 columns: .* needs more rows than columns\. "
        r"EII, VII, EEI, VEI, EVI, VVI can be carried; .*reduce='pca'",
    ):
        EGMM(2, model=["VVV", "VVI", "VEE"]).fit(X)
    assert EGMM(2, model="VVV", reduce=3, random_state=0).fit(X).model_ == "VVV"
    carried = set(EGMM(2, reduce=None, random_state=0).fit(X).selection_["model"])
    assert carried == {name for name in MODELS if name.endswith("I")}


@pytest.mark.parametrize("reduce", [None, "pca"])
def test_a_table_of_constant_columns_has_no_clusters(reduce):
    with pytest.raises(ValueError, match="All rows of X are equal, so there are no clusters to find in it"):
        EGMM(2, reduce=reduce).fit(np.tile([3.0, 0.1], (12, 1)))


def test_categories_are_refused_with_the_columns_by_name():
    frame = pd.DataFrame({"size": np.arange(9.0), "color": list("rgbrgbrgb"), "shape": list("ooxxooxxo")})
    with pytest.raises(ValueError, match="EGMM needs numeric columns, but these are not: color, shape"):
        EGMM().fit(frame)


def test_a_sample_of_a_large_table_does_not_depend_on_the_order_of_its_rows():
    rng = np.random.default_rng(2)
    which = np.sort(rng.integers(3, size=2_500))
    X = rng.normal(size=(2_500, 2)) + 2.5 * np.column_stack([which, which % 2])
    shuffle = rng.permutation(len(X))
    settings = {"model": "VVI", "max_iter": 3, "random_state": 0}  # so few that the start is still to be seen
    with pytest.warns(ConvergenceWarning):
        base, other = EGMM(3, **settings).fit(X), EGMM(3, **settings).fit(X[shuffle])
    np.testing.assert_allclose(other.partition_.masses, base.partition_.masses[shuffle], atol=1e-9)


def test_columns_with_few_values_are_warned_of():
    rng = np.random.default_rng(2)
    flags = rng.integers(0, 2, size=(80, 1))
    grades, sizes = rng.integers(1, 6, size=(80, 1)), rng.normal(size=(80, 2)) + 4 * flags
    said = r"EGMM: 2 of 4 columns have at most 5 different values.*LatentProfileMixture, or LatentClassMixture"
    with pytest.warns(UserWarning, match=said):
        EGMM(2, model="EII", random_state=0).fit(np.hstack([sizes, grades, flags + 0.0, np.ones((80, 1))]))
    EGMM(2, model="EII", random_state=0).fit(np.hstack([sizes, rng.normal(size=(80, 1)), grades]))
    EGMM(2, model="EII", random_state=0).fit(np.hstack([sizes, grades, flags + 0.0])[:49])


def test_columns_of_few_values_are_those_of_a_look_at_every_row():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [2, 5, 6, 9] * 5, size=(300, 20)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 7], X[:, 8] = np.nan, 3.0
    X[:, 9] = np.where(np.arange(300) < 100, 1.0, rng.normal(size=300))  # shows its values late
    slow = [np.unique(column[~np.isnan(column)]) for column in X.T]
    for wanted, found in zip(slow, few_values(X), strict=True):
        assert (found is None) == (len(wanted) > 5)
        if found is not None:
            np.testing.assert_array_equal(found, wanted)
