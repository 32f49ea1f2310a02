"""Replicates that differ in model and number of clusters: their shares, their starts, and what the masses say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from evidentia import BootGMM, ParsimoniousGaussianMixture
from evidentia.datasets import load, make_bootgmm_mixture
from evidentia.mixtures import averaging
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._replicates import evaluate, fit_replicates, from_posteriors
from evidentia.mixtures.averaging import (
    GaussianAverage,
    measure_optimism,
    merge_share,
    number_support,
    shares,
    split_share,
)
from evidentia.mixtures.bootstrap import Refits, draw_weights, side_by_side
from evidentia.mixtures.parsimonious import n_parameters
from evidentia.solvers.starts import Rows

IRIS = np.asarray(load("iris").data, dtype=float)


def averaged(mixture, X, support=None, **more):
    support = pd.Series({mixture.n_clusters_: 1.0}) if support is None else support
    return GaussianAverage(mixture, Rows(X, np.ones(len(X))), support, **more)


def test_each_model_starts_from_the_clusters_of_the_chosen_one_and_gets_its_share():
    X = make_bootgmm_mixture(3, 120, random_state=5).data
    mixture = ParsimoniousGaussianMixture(3, random_state=0).fit(X)
    average = averaged(mixture, X)
    posterior, aic = mixture.predict_proba(X)[None], {}
    for model in mixture.selection_.model:
        rule = CovarianceModel(model)
        found = fit_replicates(X, None, from_posteriors(X, None, posterior, rule), rule, tol=1e-6)
        aic[model] = 2 * (found.log_likelihood[0] - n_parameters(model, 3, 2))
    share = np.exp((np.array(list(aic.values())) - max(aic.values())) / 2)
    expected = dict(zip(aic, share / share.sum()))
    assert sum(share > 0.01 for share in expected.values()) > 3
    weights = draw_weights(120, range(200), 3)
    found = average.fit_replicates(X, weights)
    for model, share in expected.items():
        assert (found.models == model).mean() == pytest.approx(share, abs=0.02)
    for b in (0, 70, 199):  # each replicate is the plain fit of its model to its draw
        number = int(found.valid[:b].sum())
        rival = next(rival for rival in average.rivals if rival.model == found.models[number])
        rule = CovarianceModel(rival.model)
        alone = fit_replicates(X, weights[b : b + 1], rival.parameters, rule, tol=mixture.tol)
        np.testing.assert_allclose(found.posteriors(X)[:, :, number].T, evaluate(X, alone.parameters)[0][0], atol=1e-6)


def test_without_an_average_over_models_the_best_one_is_repeated():
    mixture = ParsimoniousGaussianMixture(3, random_state=0).fit(IRIS)
    (only,) = averaged(mixture, IRIS, models=False).rivals
    assert (only.model, only.share) == (mixture.model_, 1)
    np.testing.assert_array_equal(np.sort(only.parameters.weights[0]), np.sort(mixture.weights_))


def test_replicates_are_shared_out_among_the_numbers_of_clusters():
    mixture = ParsimoniousGaussianMixture(model=["EEE", "VEV"], cluster_range=(1, 4), random_state=0).fit(IRIS)
    support = number_support(mixture.selection_)
    bic = mixture.selection_.groupby("n_clusters").bic.max()
    assert support[3] / support[2] == pytest.approx(np.exp((bic[3] - bic[2]) / 4))
    assert support.sum() == pytest.approx(1)
    assert support[1] == 0
    found = averaged(mixture, IRIS, support).fit_replicates(IRIS, draw_weights(150, range(100), 1))
    for number, share in support.items():
        assert (found.n_clusters == number).mean() == pytest.approx(share, abs=0.02)
    posterior = found.posteriors(IRIS)
    assert posterior.shape == (3, 150, found.valid.sum())
    np.testing.assert_allclose(posterior.sum(axis=0), 1)
    assert (posterior[2][:, found.n_clusters == 2] == 0).all()


def test_classes_that_are_not_there_have_probability_zero():
    two, three = np.full((2, 4, 1), 0.5), np.full((3, 4, 2), 1 / 3)
    both = side_by_side([two, three])
    assert both.shape == (3, 4, 3)
    np.testing.assert_array_equal(both[:, 0, 0], [0.5, 0.5, 0])

    class Constant:
        def __init__(self, n_classes):
            self.n_classes = n_classes

        def predict_proba(self, X):
            return np.full((len(X), self.n_classes), 1 / self.n_classes)

    posterior = Refits([Constant(2), None, Constant(3)]).posteriors(np.zeros((4, 1)))
    np.testing.assert_allclose(np.square(posterior).sum(axis=0), [[1 / 2, 1 / 3]] * 4)


def test_doubt_about_the_number_of_clusters_is_in_the_intervals():
    found = BootGMM(model="VEV", cluster_range=(2, 4), n_boot=100, random_state=0).fit(IRIS)
    assert found.number_support_.index.tolist() == [2, 3, 4]
    assert 0.5 < found.number_support_[2] < 0.7  # BIC is 0.8 lower for three
    assert found.intervals_.of(60, 120)[0] < 0.05  # versicolor and virginica: one cluster of two, or two of three
    assert found.intervals_.of(60, 120)[1] > 0.95
    assert found.intervals_.of(0, 10)[0] > 0.95  # setosa is one by itself either way
    assert found.intervals_.of(0, 120)[1] < 0.05
    once = BootGMM("bic", model="VEV", cluster_range=(2, 4), n_boot=100, random_state=0).fit(IRIS)
    assert (once.n_clusters_, once.number_support_) == (2, None)
    assert once.intervals_.of(60, 120)[0] > 0.95
    assert found.n_clusters_ == 2  # and the partition is as sure as with this number given
    np.testing.assert_array_equal(found.labels_, once.labels_)
    assert found.partition_.nonspecificity.mean() < 0.01
    said = found.summary()
    assert said.startswith("There are groups:")
    assert "\n150 objects in 2 clusters" in said
    support = found.number_support_[[2, 3]].round(2)
    assert f"support by exp(BIC / 4) of the best model: 2 ({support[2]}), 3 ({support[3]})." in said
    assert "The partition is over 2, the number with the most support, and follows the replicates that have it" in said
    flowers, percent = found.labels_[60], round(100 * found.split_share_[found.labels_[60]])
    assert percent == pytest.approx(100 * support[3], abs=2)
    assert (
        f"Clusters that may be several, with the share of replicates in which they are: {flowers} ({percent} %)."
        in said
    )
    assert "may be one" not in said
    assert "support" not in once.summary()
    assert (once.merge_share_, once.split_share_) == (None, None)


def three_clouds(seed, gap):
    rng = np.random.default_rng(seed)
    return np.repeat([[0.0, 0], [gap, 0], [1, 9]], 50, axis=0) + rng.normal(size=(150, 2))


@pytest.mark.parametrize("seed", [12, 25, 95])
def test_clusters_that_may_be_one_keep_their_labels_when_they_are_likely_two(seed):
    X = three_clouds(seed, 2.6)
    found = BootGMM(model="EII", cluster_range=(2, 4), n_boot=100, random_state=0).fit(X)
    assert found.number_support_[3] > 0.8
    first, second = (k for k in range(3) if k != found.mixture_.labels_[-1])
    share = found.merge_share_[first, second]
    assert 0.05 < share < 0.2
    i, j = found.mixture_.predict_proba(X)[:, [first, second]].argmax(axis=0)
    assert found.intervals_.of(i, j)[0] < 0.05
    assert found.intervals_.of(i, j)[1] > 0.95
    assert adjusted_rand_score(found.labels_, found.mixture_.labels_) > 0.8
    np.testing.assert_array_equal(np.unique(found.labels_), range(3))
    again = found.predict_partition(X).masses  # new rows follow the same replicates
    np.testing.assert_allclose(again, found.partition_.masses, atol=0.01)
    said = "Clusters that may be one, with the share of replicates in which they are"
    assert f"{said}: {first} and {second} ({100 * share:.0f} %)." in found.summary()


def test_where_no_replicate_has_the_number_of_the_partition_all_count():
    found = BootGMM(model="EEE", cluster_range=(1, 4), n_boot=40, random_state=0)
    found.fit(np.vstack([IRIS[:50], IRIS[:50] + 30, IRIS[:50] - 30]))
    assert "may be" not in found.summary()
    assert found._own_replicates().all()
    found.mixture_.n_clusters_ = 2
    assert found._own_replicates().all()


def test_a_cluster_is_several_where_classes_have_most_of_it():
    rng = np.random.default_rng(1)
    replicated, posterior = rng.dirichlet([0.5, 0.3, 0.2], (7, 9)).transpose(2, 0, 1), rng.dirichlet([0.2] * 2, 7)
    replicated[2, :, :4] = 0  # of two classes
    expected = np.zeros(2)
    for b in range(9):
        homes = [np.argmax(replicated[c, :, b] @ posterior) for c in range(3) if replicated[c, :, b].any()]
        expected += [homes.count(k) > 1 for k in range(2)]
    assert 0 < expected[0] < 9
    np.testing.assert_allclose(split_share(replicated, posterior), expected / 9)


def test_two_clusters_are_one_where_their_objects_share_a_class_more_likely_than_not():
    rng = np.random.default_rng(0)
    replicated, posterior = rng.dirichlet([0.9, 0.3], (7, 9)).transpose(2, 0, 1), rng.dirichlet([0.2] * 3, 7)
    expected = np.zeros((3, 3))
    for k in range(3):
        for other in range(3):
            for b in range(9):
                weight = same = 0.0
                for i in range(7):
                    for j in range(7):
                        pair = posterior[i, k] * posterior[j, other]
                        weight, same = weight + pair, same + pair * (replicated[:, i, b] @ replicated[:, j, b])
                expected[k, other] += (same > weight / 2) / 9
    assert 0 < expected[0, 1] < 1
    np.testing.assert_allclose(merge_share(replicated, posterior), expected)


def test_a_number_beyond_doubt_is_the_only_one():
    X = np.vstack([IRIS[:50], IRIS[:50] + 30, IRIS[:50] - 30])
    found = BootGMM(model="EEE", cluster_range=(1, 4), n_boot=40, random_state=0).fit(X)
    assert found.n_clusters_ == 3
    assert found.number_support_[3] > 0.99
    assert (found.partition_.sets().sum(axis=1) == 1).all()


def test_the_parametric_bootstrap_chooses_the_number_anew_in_each_table():
    settings = {"model": "EEE", "cluster_range": (1, 3), "parametric": True, "n_boot": 20, "random_state": 0}
    X = make_bootgmm_mixture(1, 60, random_state=4).data
    found = BootGMM(**settings).fit(X)
    assert {len(model.weights_) for chunk in found.bootstrap_.chunks for model in chunk.models} > {found.n_clusters_}
    given = BootGMM("bic", **settings).fit(X)
    assert {len(model.weights_) for chunk in given.bootstrap_.chunks for model in chunk.models} == {given.n_clusters_}


@pytest.mark.needs_data("knowledge")
@pytest.mark.parametrize("model", ["bic", "auto"])
def test_the_chosen_fit_is_kept(model):
    """Knowledge, whose best VVI of four clusters is found from a simpler model: three starts of VVI alone miss it."""
    data = load("knowledge")
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    chosen = ParsimoniousGaussianMixture(4, random_state=0).fit(X)
    alone = ParsimoniousGaussianMixture(4, model=chosen.model_, random_state=0).fit(X)
    assert alone.criterion_ < chosen.criterion_ - 1
    found = BootGMM(4, model=model, n_boot=60, random_state=0).fit(X)
    assert found.mixture_.criterion_ == chosen.criterion_
    pd.testing.assert_frame_equal(found.selection_, chosen.selection_)
    # and the masses say what this mixture says, not what a richer model of another grouping does
    assert adjusted_rand_score(found.labels_, chosen.labels_) > 0.8


def test_a_model_with_more_parameters_than_objects_gets_no_share():
    assert shares(np.array([-500.0, -501.0, -np.inf]))[2] == 0
    assert shares(np.array([-np.inf, -501.0, -np.inf])).tolist() == [1, 0, 0]  # of the chosen one nothing can be said


def test_optimism_is_what_a_row_gains_where_it_was_seen():
    X = make_bootgmm_mixture(2, 90, random_state=1).data
    mixture, rule = ParsimoniousGaussianMixture(3, model="VVI", random_state=0).fit(X), CovarianceModel("VVI")
    fold, gain = np.random.RandomState(0).permutation(90) % 10, np.zeros(90)
    for k in range(10):
        part = fit_replicates(X[fold != k], None, mixture._parameters, rule, tol=1e-12, max_iter=5000)
        log_density = evaluate(X, part.parameters)[1][0]
        gain += log_density / 10
        gain[fold == k] -= log_density[fold == k]
    optimism, error = measure_optimism(X, mixture._parameters, rule, tol=1e-12, max_iter=5000)
    assert optimism == pytest.approx(gain.sum(), rel=1e-3)
    assert error == pytest.approx(np.sqrt(90) * gain.std(), rel=1e-3)


def test_the_optimism_of_a_regular_model_is_its_number_of_parameters():
    found = []
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(400, 3)) @ np.diag([1, 2, 5])
        mixture = ParsimoniousGaussianMixture(1, model="EEE", random_state=0).fit(X)
        found.append(measure_optimism(X, mixture._parameters, CovarianceModel("EEE"))[0])
    assert np.mean(found) == pytest.approx(9, abs=1)  # three means, six covariances


def alike_in_ten_columns(seed):
    """Three clusters of one covariance that overlap."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    within = (axes * np.exp(np.linspace(-1, 1, 10))) @ axes.T
    means = np.zeros((3, 10))
    means[1, 0] = means[2, 1] = 2.5
    return np.repeat(means, 100, axis=0) + rng.normal(size=(300, 10)) @ np.linalg.cholesky(within).T


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_common_axes_that_fit_chance_get_no_share(seed, monkeypatch):
    X = alike_in_ten_columns(seed)
    mixture = ParsimoniousGaussianMixture(3, model=["EEE", "VEE", "EVE", "VVE"], random_state=0).fit(X)
    assert {rival.model for rival in averaged(mixture, X).rivals} == {"EEE", "VEE"}
    monkeypatch.setattr(averaging, "measure_optimism", lambda *_, **__: (np.nan, np.nan))  # as where a fold collapses
    by_aic = {rival.model: rival.share for rival in averaged(mixture, X).rivals}
    assert by_aic.get("EVE", 0) + by_aic.get("VVE", 0) > 0.25


def test_no_optimism_is_measured_where_a_component_collapses():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 5)), rng.normal(8, 0.3, size=(7, 5))])
    mixture = ParsimoniousGaussianMixture(2, model="VVV", random_state=0).fit(X)
    assert np.isnan(measure_optimism(X, mixture._parameters, CovarianceModel("VVV"))).all()


def test_replicates_that_collapse_are_held():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 5)), rng.normal(8, 0.3, size=(7, 5))])  # seven for a covariance of 5 × 5
    mixture = ParsimoniousGaussianMixture(2, model="VVV", random_state=0).fit(X)
    start = np.linalg.eigvalsh(mixture.covariances_)
    weights = draw_weights(47, range(60), 0)
    free = fit_replicates(X, weights, mixture._parameters, CovarianceModel("VVV"))
    assert free.degenerate.sum() > 30
    found = mixture.fit_replicates(X, weights)
    assert found.valid.sum() > 55  # in some tables nothing is left of the small cluster
    values = np.linalg.eigvalsh(found.parameters[0].covariances).reshape(len(found.models), -1)
    beyond = values.max(axis=1) / values.min(axis=1) > 10 * (1 + 1e-9) * start.max() / start.min()
    assert not (beyond & free.degenerate[found.valid]).any()
    whole = ~free.degenerate
    np.testing.assert_allclose(found.parameters[0].means[whole[found.valid]], free.parameters.means[whole], rtol=1e-9)


def test_replicates_without_some_component_are_said_when_they_are_many():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), [[30.0, 30.0], [30.1, 30.2]]])
    mixture = Absent(2, random_state=0)
    with pytest.warns(UserWarning, match=r"In \d+ of 60 resampled tables a component collapsed.* max_eigenvalue_ratio"):
        BootGMM(mixture=mixture, n_boot=60, random_state=0).fit(X)


class Absent(ParsimoniousGaussianMixture):
    """Fails wherever the last object was not drawn twice or more."""

    def fit_replicates(self, X, weights, **more):
        found = super().fit_replicates(X, weights, **more)
        kept = weights[:, -1] > 1
        part = found.parameters[0].take(kept[found.valid])
        return found._replace(parameters=(part,), models=found.models[kept[found.valid]], valid=found.valid & kept)


def test_replicates_run_on_until_they_rest():
    """EM of a replicate begins at the estimate of the whole table: one that ends early makes intervals too short."""
    X = make_bootgmm_mixture(3, 150, random_state=2).data
    model = BootGMM(3, model="VVV", n_boot=60, random_state=0, warm_start=True).fit(X)
    length = (model.intervals_.upper - model.intervals_.lower).mean()
    mixture, weights = model.mixture_, draw_weights(150, range(60), 0)
    own = mixture.fit_replicates(X, weights).parameters[0]
    np.testing.assert_array_equal(own.means, mixture.fit_replicates(X, weights, tol=mixture.tol).parameters[0].means)
    for tol, most in ((1e-4, 0.9), (1e-5, 0.97)):
        with pytest.warns(UserWarning, match="had other boot_tol"):
            model.set_params(boot_tol=tol).fit(X)
        assert (model.intervals_.upper - model.intervals_.lower).mean() < most * length
