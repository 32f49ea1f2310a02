import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from evidentia import BootGMM, FocalSets, LatentClassMixture
from evidentia.datasets import load, make_bootgmm_mixture
from evidentia.mixtures.bootgmm import choose_pairs, pair_forms
from evidentia.solvers import memory
from evidentia.solvers.descent import InterruptedFit

X = make_bootgmm_mixture(1, 60, random_state=1).data


class Weighted(GaussianMixture):
    """Takes weights, as copies."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X if sample_weight is None else np.repeat(X, sample_weight.astype(int), axis=0))


@pytest.fixture(scope="module")
def model():
    return BootGMM(3, model="EII", n_boot=200, random_state=0).fit(X)


def test_intervals_are_quantiles_of_the_draws(model):
    pairs, lower, upper = model.intervals_
    assert len(pairs) == 60 * 59 // 2
    for at in (0, 17, 1500):
        i, j = pairs[at]
        assert i < j
        low, high = np.quantile(model.pair_draws(i, j), [0.05, 0.95])
        assert (lower[at], upper[at]) == pytest.approx((low, high), abs=1e-6)
        assert model.intervals_.of(j, i) == pytest.approx((low, high), abs=1e-6)


def test_belief_and_plausibility_follow_the_bounds(model):
    """The criterion is that of the paper, (6), and the descent lowered it."""
    pairs, lower, upper = model.intervals_
    relation = model.partition_.relational(pairs)
    J = np.square(relation.same - lower).sum() + np.square(relation.plausibility_same - upper).sum()
    assert model.criterion_ == model.criterion_trace_[-1] == pytest.approx(J, rel=1e-5)
    assert model.start_criteria_.tolist() == [model.criterion_]
    assert model.n_iter_ == len(model.criterion_trace_) - 1
    assert model.converged_
    assert (np.diff(model.criterion_trace_) <= 0).all()
    assert 0.2 * model.criterion_trace_[0] > J
    assert model.approximation_["rmse_lower"] == pytest.approx(np.sqrt(np.square(relation.same - lower).mean()))
    assert model.approximation_["correlation_upper"] > 0.95


def test_forms_are_the_matrices_s_and_c():
    same, different = pair_forms(FocalSets(2, empty=False))  # {0}, {1}, {0,1}
    np.testing.assert_array_equal(same, np.diag([1, 1, 0]))
    np.testing.assert_array_equal(different, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_clusters_keep_the_numbers_of_the_components(model):
    agreement = (model.labels_ == model.mixture_.predict(X)).mean()
    assert agreement > 0.9


def test_a_higher_confidence_leaves_more_open(model):
    wide = BootGMM(3, model="EII", n_boot=200, random_state=0, confidence=0.99).fit(X)
    assert (wide.intervals_.upper >= model.intervals_.upper - 1e-6).all()
    assert (wide.intervals_.lower <= model.intervals_.lower + 1e-6).all()
    assert wide.partition_.normalized_nonspecificity > model.partition_.normalized_nonspecificity


@pytest.mark.parametrize(
    "focal_sets", ["full", "simple", "singletons", "near-pairs", [{0}, {1}, {2}, {0, 1, 2}], [{0, 1}, {2}]]
)
def test_any_focal_sets_will_do(focal_sets):
    found = BootGMM(3, model="EII", n_boot=100, focal_sets=focal_sets, random_state=0).fit(X)
    np.testing.assert_allclose(found.partition_.masses.sum(axis=1), 1)
    assert (np.diff(found.criterion_trace_) <= 0).all()
    if focal_sets == "full":  # more room, better fit
        pairs = BootGMM(3, model="EII", n_boot=100, random_state=0).fit(X)
        assert found.criterion_trace_[-1] <= pairs.criterion_trace_[-1] * 1.05


def test_two_clusters_use_the_frame():
    found = BootGMM(2, model="EII", n_boot=100, random_state=0).fit(X)
    assert found.focal_sets_.names() == ["{0}", "{1}", "{0,1}"]
    assert found.partition_.masses[:, 2].max() > 0.2


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("pairs", ["{0}", "{1}", "{2}", "{0,1}", "{0,2}", "{1,2}"]),
        ("simple", ["{0}", "{1}", "{2}", "{0,1,2}"]),
        ("singletons", ["{0}", "{1}", "{2}"]),
    ],
)
def test_a_family_is_what_it_says(family, names):
    found = BootGMM(3, model="EII", n_boot=30, focal_sets=family, random_state=0).fit(X)
    assert found.focal_sets_.names() == names


def test_a_descent_that_is_cut_short_is_said(monkeypatch):
    from evidentia.mixtures import bootgmm

    with pytest.warns(ConvergenceWarning, match="BootGMM reached max_iter=1 before tol=0.0001"):
        found = BootGMM(3, model="EII", n_boot=30, max_iter=1, random_state=0).fit(X)
    assert not found.converged_
    assert found.n_iter_ == 1
    descent = bootgmm.irqp
    monkeypatch.setattr(bootgmm, "irqp", lambda *a, **k: replace(descent(*a, **k), interrupted=True))
    with pytest.warns(InterruptedFit, match="BootGMM was interrupted in start 1; the best solution so far is kept"):
        BootGMM(3, model="EII", n_boot=30, random_state=0).fit(X)


def test_new_rows_are_placed_like_their_neighbors(model):
    again = model.predict_partition(X)
    assert np.abs(again.masses - model.partition_.masses).mean() < 0.05
    assert (model.predict(X) == model.labels_).mean() > 0.95
    middle = model.predict_partition([X[model.labels_ == k].mean(axis=0) for k in range(3)])
    assert middle.labels().tolist() == [0, 1, 2]


def test_few_partners_tell_nearly_what_all_pairs_tell():
    data = make_bootgmm_mixture(1, 200, random_state=2)
    every = BootGMM(3, model="EII", n_boot=150, random_state=0).fit(data.data)
    some = BootGMM(3, model="EII", n_boot=150, n_pairs=30, random_state=0).fit(data.data)
    assert len(some.intervals_.lower) < 0.3 * len(every.intervals_.lower)
    assert np.abs(some.partition_.contour - every.partition_.contour).mean() < 0.06
    missing = set(map(tuple, every.intervals_.pairs)) - set(map(tuple, some.intervals_.pairs))
    with pytest.raises(ValueError, match="no interval for objects"):
        some.intervals_.of(*next(iter(missing)))


def test_partners_are_near_and_far_and_never_oneself():
    Y = np.random.default_rng(0).normal(size=(100, 2))
    pairs = choose_pairs(Y, 10, np.random.RandomState(0))
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert np.bincount(pairs.ravel(), minlength=100).min() >= 8  # 10, less what was drawn twice
    nearest = np.linalg.norm(Y[:, None] - Y, axis=2).argsort(axis=1)[:, 1:6]
    known = set(map(tuple, pairs))
    assert all((min(i, j), max(i, j)) in known for i in range(100) for j in nearest[i])


def test_same_seed_same_result(model):
    again = BootGMM(3, model="EII", n_boot=200, random_state=0).fit(X)
    np.testing.assert_array_equal(again.partition_.masses, model.partition_.masses)


def test_iris_is_like_the_papers_table():
    data = load("iris")
    found = BootGMM(3, model="VEV", n_boot=500, random_state=0).fit(data.data)
    assert adjusted_rand_score(data.target, found.labels_) >= 0.9
    table = pd.crosstab(data.target, found.partition_.sets().sum(axis=1))
    assert table.loc[0].to_dict() == {
        1: 50,
        2: 0,
    }  # setosa is sure; the paper's Table 6: 11 versicolor, 3 virginica torn
    assert 5 <= table.loc[1, 2] <= 16
    assert 0 <= table.loc[2, 2] <= 6


def test_an_interrupt_keeps_the_replicates_and_a_warm_start_goes_on(monkeypatch):
    from evidentia.mixtures import bootstrap

    monkeypatch.setattr(bootstrap, "CHUNK", 50)
    fits = bootstrap._fit_chunk

    def stop(mixture, X, replicates, *rest):
        if replicates.start >= 100:
            raise KeyboardInterrupt
        return fits(mixture, X, replicates, *rest)

    monkeypatch.setattr(bootstrap, "_fit_chunk", stop)
    found = BootGMM(3, model="EII", n_boot=200, random_state=0, warm_start=True)
    with pytest.warns(InterruptedFit, match="after 100 of 200 replicates"):
        found.fit(X)
    assert found.bootstrap_.n_drawn == 100
    monkeypatch.setattr(bootstrap, "_fit_chunk", fits)
    found.fit(X)
    whole = BootGMM(3, model="EII", n_boot=200, random_state=0).fit(X)
    np.testing.assert_allclose(found.partition_.masses, whole.partition_.masses)


OTHER = make_bootgmm_mixture(1, 60, random_state=2).data


def warm(**changed):
    return BootGMM(**{"n_clusters": 3, "model": "EII", "n_boot": 40, "random_state": 0, "warm_start": True, **changed})


@pytest.mark.parametrize(
    ("changed", "rows", "what"),
    [
        ({}, OTHER, "rows"),
        ({"n_clusters": 2}, X, "n_clusters"),
        ({"model": "VVV"}, X, "model"),
        ({"model": ["EII", "VII"]}, X, "model"),
        ({"mixture": Weighted(2, random_state=0)}, X, "mixture"),
        ({"parametric": True}, X, "parametric"),
        ({"random_state": 1}, X, "random_state"),
        ({"n_boot": 30}, X, r"n_boot \(it fell\)"),
        ({"n_clusters": 2, "random_state": 5}, OTHER, "rows, n_clusters, random_state"),
    ],
)
def test_a_warm_start_on_something_else_is_said_and_begins_anew(changed, rows, what):
    model = warm().fit(X)
    with pytest.warns(UserWarning, match=f"earlier fit, which had other {what}: the mixture and all replicates"):
        model.set_params(**changed).fit(rows)
    fresh = warm(**changed).fit(rows)
    np.testing.assert_array_equal(model.partition_.masses, fresh.partition_.masses)
    assert model.bootstrap_.n_drawn == fresh.bootstrap_.n_drawn


def test_a_warm_start_sees_a_mixture_that_was_changed_in_place():
    model = warm(mixture=Weighted(2, random_state=0)).fit(X)
    model.mixture.set_params(n_components=3)
    with pytest.warns(UserWarning, match="other mixture: "):
        model.fit(X)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("seed", [0, None, np.random.RandomState(3)])
def test_a_warm_start_keeps_what_does_not_change_the_replicates(seed):
    model = warm(random_state=seed).fit(X)
    mixture, chunks = model.mixture_, model.bootstrap_.chunks
    model.set_params(confidence=0.8, focal_sets="full", n_pairs=20, tol=1e-3, n_boot=60).fit(X.copy())
    assert model.mixture_ is mixture
    assert model.bootstrap_.chunks[: len(chunks)] == chunks
    assert model.bootstrap_.n_drawn == 60


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"confidence": 1.0}, "'confidence' parameter of BootGMM must be a number > 0 and < 1. Got 1.0 instead"),
        ({"confidence": 0.0}, "'confidence' parameter of BootGMM must be a number > 0"),
        ({"n_boot": 15}, r"n_boot=15 replicates cannot show a tail of 0.05: .* at least n_boot=20"),
        ({"n_pairs": 60}, "'n_pairs' of BootGMM must be below the number of rows, 60. Got 60"),
        ({"focal_sets": "triples"}, "must be one of 'pairs', 'near-pairs', 'simple', 'singletons', 'full' or list"),
        ({"focal_sets": [[], [0], [1], [2]]}, "has no empty set"),
        ({"n_clusters": 61}, "n_clusters=61 but X has only n_samples=60 rows"),
        ({"n_clusters": "three"}, "must be an integer >= 1 and <= 62 or one of 'auto', 'bic'. Got 'three'"),
        ({"model": "XXX"}, "'model' parameter of BootGMM must be one of 'auto', 'bic', 'EII'"),
        (
            {"mixture": 3},
            r"must be a mixture with fit\(X, sample_weight=...\) and predict_proba\(X\) or None. Got 3",
        ),
        ({"mixture": DBSCAN()}, r"must be a mixture with fit.* Got DBSCAN\(\) instead"),
        ({"mixture": GaussianMixture}, "must be a mixture with fit"),  # a class is no estimator
    ],
)
def test_wrong_parameters_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        BootGMM(**{"n_clusters": 3, "model": "EII", "n_boot": 50, **changed}).fit(X)


def test_what_does_not_fit_in_memory_is_refused_before_the_work(monkeypatch):
    monkeypatch.setattr(memory, "machine_memory", lambda: 1e5)
    with pytest.raises(MemoryError, match=r"3,600 pairs and 50 replicates needs about 0.0 GiB; .* Set n_pairs"):
        BootGMM(3, model="EII", n_boot=50).fit(X)


@pytest.mark.parametrize("more", [{}, {"n_pairs": 40}, {"parametric": True}])
def test_a_table_of_words_with_gaps_can_be_bootstrapped(more):
    rng, party = np.random.default_rng(4), np.arange(110) % 2
    yes = rng.random((110, 16)) < np.where(party[:, None] == np.arange(16) % 2, 0.8, 0.25)
    table = pd.DataFrame(np.where(yes, "yes", "no").astype(object)).mask(rng.random((110, 16)) < 0.05)
    mixture = LatentClassMixture(2, handle_unknown="missing", random_state=0)
    found = BootGMM(mixture=mixture, n_boot=60, random_state=0, **more).fit(table)
    assert adjusted_rand_score(party, found.labels_) > 0.4
    assert (found.predict(table.iloc[:10]) == found.labels_[:10]).mean() > 0.8


class OnlyWhole(GaussianMixture):
    """Fits the table itself, and no resampled one."""

    def fit(self, X, y=None, sample_weight=None):
        if sample_weight is not None:
            raise ValueError("a component collapsed")
        return super().fit(X)


def test_a_bootstrap_without_one_valid_replicate_is_said():
    with pytest.raises(ValueError, match=r"In all 40 resampled tables a component of the 2 collapsed.*fewer clusters"):
        BootGMM(mixture=OnlyWhole(2, random_state=0), n_boot=40).fit(X)


def test_when_every_number_collapsed_the_one_that_was_kept_has_all_support():
    """19 objects and one that is far out on a line of its own: the message is about the replicates."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(19, 2)), [[1e6, 2.0]]]
    model = BootGMM("auto", model="VEV", cluster_range=(2, 3), n_boot=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="a component of the 2 collapsed"):
            model.fit(X)


def test_a_number_is_no_mixture():
    with pytest.raises(ValueError, match=r"The 'mixture' parameter of BootGMM must be a mixture .* Got 3 instead"):
        BootGMM(2, mixture=3).fit(np.eye(5))
