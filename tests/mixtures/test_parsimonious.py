"""Fourteen Gaussian models: against the reference tables, as a scikit-learn estimator, and on awkward input."""

import json
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from evidentia.datasets import load
from evidentia.mixtures import parsimonious
from evidentia.mixtures._covariances import MODELS
from evidentia.mixtures._replicates import MixtureParameters, fit_replicates
from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture, covers, simpler_models
from evidentia.solvers.descent import InterruptedFit


def two_clouds(n=80, seed=0, gap=7.0):
    """A long cloud and a small round one."""
    rng = np.random.default_rng(seed)
    long = rng.normal(size=(n // 2, 2)) @ np.array([[3.0, 1.0], [0.0, 0.5]])
    return np.vstack([long, rng.normal(size=(n - n // 2, 2)) * 0.6 + [1.0, gap]])


def numbers(name):
    return np.asarray(load(name).data, dtype=float)


@pytest.mark.filterwarnings("ignore:ParsimoniousGaussianMixture")  # tiny tables, on which components collapse
@parametrize_with_checks(
    [ParsimoniousGaussianMixture(2, model="EEE"), ParsimoniousGaussianMixture(cluster_range=(1, 2), init="k-means")],
    expected_failed_checks=lambda model: model.method.failing_checks,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@cache
def searched(name):
    """All models with one to nine components."""
    return ParsimoniousGaussianMixture().fit(numbers(name))


def difference(model, stored):
    """Our BIC less that of the reference, by number of components and model."""
    ours = model.selection_.pivot(index="n_clusters", columns="model", values="bic")
    theirs = pd.DataFrame(stored["bic_rows_by_G"], index=stored["G"], columns=stored["models"], dtype=float)
    return (ours - theirs)[list(MODELS)].stack()  # without what the reference could not estimate


def test_no_bic_of_iris_is_below_the_reference(reference):
    """The reference starts from one merge tree; ours from three and from the solutions of simpler models, so that it
    finds higher maxima in most cells. Where both find the same one, numbers agree; the reference stops sooner."""
    gain = difference(searched("iris"), reference("mclust_bic_tables")["iris_G1_9"])
    assert len(gain) == 9 * 14 - 5
    assert gain.loc[1].abs().max() < 1e-3
    assert gain.min() > -1e-3
    assert (gain.abs() < 1e-2).sum() >= 40
    assert searched("iris").selection_.note.eq("").all()


def test_no_bic_of_iris_is_below_its_floor():
    """What was found before small tables had compiled loops; one last step of EM, at ``tol``, is left open."""
    floor = json.loads(Path(__file__).with_name("iris_bic_floor.json").read_text(encoding="utf-8"))
    found = searched("iris").selection_.pivot(index="n_clusters", columns="model", values="bic")
    gain = found[floor["models"]] - np.array(floor["bic_rows_by_n_clusters"])
    assert gain.shape == (9, 14)
    assert gain.min().min() > -1e-6 * 150 * 2


@pytest.mark.needs_data("diabetes")
@pytest.mark.filterwarnings("ignore:.*a component collapsed")
@pytest.mark.filterwarnings("ignore:.* lies over :UserWarning")  # so it is of some of the local maxima
def test_no_bic_of_diabetes_is_below_the_reference_but_for_local_maxima(reference):
    stored = reference("mclust_bic_tables")["diabetes_G1_9"]
    gain = difference(searched("diabetes"), stored)
    assert gain.loc[1].abs().max() < 1e-3
    assert (gain.abs() < 0.1).sum() >= 40
    below = set(gain[gain < -0.5].index)
    # Local maxima: twenty starts find that of the reference or a better one. For eight spheres they do not, but nine
    # spheres with two of them taken together are a start that does.
    assert below <= {(6, "VVI"), (6, "EEV"), (6, "VEV"), (8, "VII"), (9, "VII")}
    X = numbers("diabetes")
    for count, model in below:
        theirs = stored["bic_rows_by_G"][count - 1][stored["models"].index(model)]
        fit = partial(ParsimoniousGaussianMixture, model=model, random_state=0)
        if (count, model) == (8, "VII"):
            nine = fit(9, n_init=20).fit(X).predict_proba(X)
            starts = [joined(nine, a, b) for a in range(9) for b in range(a)]
            again = np.nanmax([fit(8, init=start).fit(X).selection_.bic[0] for start in starts])  # NaN: it collapsed
        else:
            again = fit(count, n_init=20).fit(X).bic(X)
        assert again > theirs


def joined(posterior, a, b):
    """Probabilities when components a and b are one."""
    share = np.delete(posterior, a, axis=1)
    share[:, b] += posterior[:, a]
    return share / share.sum(axis=1, keepdims=True)


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_bic_chooses_as_the_reference_does(name, reference):
    best, model = reference("mclust_bic_tables")[f"best_{name}"], searched(name)
    assert (model.model_, model.n_clusters_, model.n_parameters_) == (best["model"], best["G"], best["df"])
    assert model.criterion_ == pytest.approx(best["loglik"], abs=0.01)
    assert model.selection_.bic.max() == pytest.approx(best["bic"], abs=0.02)
    order = np.argsort(-np.array(best["pro"]))
    np.testing.assert_allclose(model.weights_, np.array(best["pro"])[order], atol=1e-3)
    np.testing.assert_allclose(model.means_, np.array(best["mean_rows"])[order], rtol=2e-3)
    sigma = np.array(best["sigma"])[order]  # less exact than the likelihood, since the reference stops early
    np.testing.assert_allclose(model.covariances_, sigma, rtol=0.03, atol=1e-3 * np.abs(sigma).max())


@pytest.mark.parametrize("model", ["EEE", "VEV", "VVV"])
def test_three_components_of_iris_are_those_of_the_reference(reference, model):
    stored = reference("mclust_iris_G3_14models")["models"][model]
    X = numbers("iris")
    found = ParsimoniousGaussianMixture(3, model=model).fit(X)
    order = np.argsort(-np.array(stored["pro"]))
    assert found.bic(X) == pytest.approx(stored["bic"], abs=3e-3)
    np.testing.assert_allclose(found.means_, np.array(stored["mean_rows"])[order], atol=1e-3)
    np.testing.assert_allclose(found.covariances_, np.array(stored["sigma"])[order], atol=1e-3)
    truth = np.argsort(order)[np.array(stored["classification"]) - 1]
    assert adjusted_rand_score(found.labels_, truth) == 1.0


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_a_model_is_never_less_likely_than_one_it_contains(name):
    """Unless the way up from there leads to a collapse, as it does with many components on few rows."""
    table = searched(name).selection_.pivot(index="n_clusters", columns="model", values="log_likelihood").loc[:5]
    for model in MODELS:
        for inner in simpler_models(model):
            assert (table[model] - table[inner]).min() > -1e-3, (model, inner)


def test_criteria_by_definition():
    X = two_clouds(gap=2.0)
    model = ParsimoniousGaussianMixture(2, model="VVE").fit(X)
    joint = np.column_stack(
        [w * multivariate_normal(m, s).pdf(X) for w, m, s in zip(model.weights_, model.means_, model.covariances_)]
    )
    log_likelihood = np.log(joint.sum(axis=1)).sum()
    posterior = joint / joint.sum(axis=1, keepdims=True)
    bic = 2 * log_likelihood - 10 * np.log(80)  # 1 probability, 4 means, 2 volumes, 2 shapes, 1 angle
    assert model.n_parameters_ == 10
    assert model.criterion_ == pytest.approx(log_likelihood)
    assert model.bic(X) == pytest.approx(bic)
    assert model.aic(X) == pytest.approx(2 * log_likelihood - 20)
    assert model.icl(X) < bic - 1
    assert model.icl(X) == pytest.approx(bic + 2 * np.log(posterior.max(axis=1)).sum())
    assert model.selection_.loc[0, ["bic", "icl", "aic"]].tolist() == pytest.approx([bic, model.icl(X), model.aic(X)])
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-9)
    np.testing.assert_allclose(model.score_samples(X), np.log(joint.sum(axis=1)), rtol=1e-8)
    assert model.score(X) == pytest.approx(log_likelihood / 80)
    np.testing.assert_array_equal(model.labels_, posterior.argmax(axis=1))
    np.testing.assert_allclose(model.partition_.masses, posterior, atol=1e-9)


@pytest.mark.parametrize("model", ["VVE", "VVV"])
def test_the_climb_is_published(model):
    X = two_clouds(gap=2.0)
    found = ParsimoniousGaussianMixture(2, model=model, n_init=5, random_state=0).fit(X)
    assert len(found.start_criteria_) == 5
    assert found.criterion_ == found.criterion_trace_[-1] == found.start_criteria_.max()
    assert found.criterion_ == pytest.approx(found.score_samples(X).sum())
    assert len(found.criterion_trace_) == found.n_iter_ + 1 > 3
    assert np.diff(found.criterion_trace_).min() > -1e-7
    assert found.ebic_ == pytest.approx(found.bic(X) / 2)
    nested = ParsimoniousGaussianMixture(2, model=["EII", "VII"]).fit(X)
    assert len(nested.start_criteria_) == 3 + (nested.model_ == "VII")  # VII starts at the solution of EII, too


def test_criterion_decides():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    X[60:, 0] += 2.2
    by = {
        name: ParsimoniousGaussianMixture(model="EII", cluster_range=(1, 4), select_by=name).fit(X).n_clusters_
        for name in ("aic", "bic", "icl")
    }
    assert by["icl"] == 1  # the clouds overlap too much to tell objects apart
    assert by["icl"] < by["bic"] <= by["aic"]


def test_weights_count_as_copies_and_rows_of_weight_zero_do_not_count():
    X, copies = two_clouds(), np.arange(80) % 3
    weighted = ParsimoniousGaussianMixture(2, model=["VEV", "VVV"]).fit(X, sample_weight=copies)
    repeated = ParsimoniousGaussianMixture(2, model=["VEV", "VVV"]).fit(np.repeat(X, copies, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-5)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-4, atol=1e-6)
    assert weighted.selection_.bic.tolist() == pytest.approx(repeated.selection_.bic.tolist(), abs=1e-4)


def test_the_order_of_the_rows_does_not_matter():
    X = two_clouds()
    order = np.random.default_rng(1).permutation(len(X))
    ours, shuffled = (ParsimoniousGaussianMixture(2, random_state=0).fit(Y) for Y in (X, X[order]))
    assert ours.model_ == shuffled.model_
    np.testing.assert_allclose(ours.means_, shuffled.means_, rtol=1e-6)
    np.testing.assert_array_equal(ours.labels_[order], shuffled.labels_)


def test_free_covariances_do_not_know_of_units():
    X, units = two_clouds(), np.array([1e-7, 1e5])
    ours, scaled = (ParsimoniousGaussianMixture(2, model="VVV").fit(Y) for Y in (X, X * units))
    np.testing.assert_allclose(ours.means_ * units, scaled.means_, rtol=1e-6)
    assert scaled.criterion_ == pytest.approx(ours.criterion_ - 80 * np.log(units).sum(), rel=1e-8)


def test_starts_of_the_caller_fix_the_order_of_the_components():
    X = two_clouds()
    labels = np.repeat(["b", "a"], [40, 40])  # unique labels are sorted: the second half is component 0
    named = ParsimoniousGaussianMixture(model="VVV", init=labels).fit(X)
    assert named.n_clusters_ == 2
    assert named.means_[0, 1] > named.means_[1, 1]
    soft = np.column_stack([np.repeat([0.9, 0.2], 40), np.repeat([0.1, 0.8], 40)])
    assert ParsimoniousGaussianMixture(2, model="VVV", init=soft).fit(X).means_[1, 1] > 6
    by_size = ParsimoniousGaussianMixture(2, model="VVV", init="k-means", n_init=2, random_state=0).fit(X[:70])
    assert by_size.weights_[0] > by_size.weights_[1]


def test_samples_come_from_the_mixture():
    model = ParsimoniousGaussianMixture(2, model="VVV").fit(two_clouds())
    X, component = model.sample(20_000, random_state=0)
    for k in range(2):
        np.testing.assert_allclose(np.cov(X[component == k].T), model.covariances_[k], rtol=0.1, atol=0.05)
        np.testing.assert_allclose(X[component == k].mean(axis=0), model.means_[k], atol=0.1)
    np.testing.assert_allclose(np.bincount(component) / 20_000, model.weights_, atol=0.02)
    np.testing.assert_array_equal(X, model.sample(20_000, random_state=0)[0])


def test_a_large_table_starts_from_some_of_its_rows():
    X = two_clouds(n=5_000)
    model = ParsimoniousGaussianMixture(2, model="VVV", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 2_500)) > 0.99


def test_replicates_of_equal_weights_stay_at_the_estimate():
    X = two_clouds()
    model = ParsimoniousGaussianMixture(2, model="VEV", tol=1e-9).fit(X)
    weights = np.ones((3, len(X)))
    weights[2] = np.random.default_rng(0).multinomial(len(X), np.full(len(X), 1 / len(X)))
    found = model.fit_replicates(X, weights)
    assert found.valid.tolist() == [True] * 3
    posterior = found.posteriors(X)
    assert posterior.shape == (2, 80, 3)
    np.testing.assert_allclose(posterior[:, :, 1].T, model.predict_proba(X), atol=1e-4)
    assert np.abs(found.parameters[0].means[2] - model.means_).max() > 0.01


def test_replicates_that_lose_a_component_are_left_out():
    X = two_clouds()
    model = ParsimoniousGaussianMixture(2, model="VVV").fit(X)
    weights = np.ones((2, len(X)))
    weights[0, model.labels_ == 0] = 0  # nothing is left of this cluster
    weights[0, np.flatnonzero(model.labels_ == 0)[0]] = 0.2
    found = model.fit_replicates(X, weights)
    assert found.valid.tolist() == [False, True]
    assert found.posteriors(X).shape == (2, 80, 1)


def test_a_constant_column_is_left_out_and_said():
    X = np.insert(two_clouds(), 1, 5.0, axis=1)
    with pytest.warns(UserWarning, match=r"leaves out constant columns \[1\]"):
        model = ParsimoniousGaussianMixture(2, model="VVV").fit(X)
    without = ParsimoniousGaussianMixture(2, model="VVV").fit(two_clouds())
    assert model.criterion_ == pytest.approx(without.criterion_)
    assert model.means_[:, 1].tolist() == [5.0, 5.0]
    np.testing.assert_array_equal(model.covariances_[:, 1], 0)
    np.testing.assert_array_equal(model.predict(X), without.labels_)
    assert model.sample(3, random_state=0)[0][:, 1].tolist() == [5.0] * 3


def test_a_collapse_is_noted_and_never_chosen():
    X = np.vstack([two_clouds(), np.full((12, 2), 30.0)])  # twelve copies of one object
    model = ParsimoniousGaussianMixture(model=["EEE", "VVV"], cluster_range=(2, 3)).fit(X)
    notes = model.selection_.set_index(["model", "n_clusters"])
    assert notes.loc[("VVV", 3), "note"] == "a component collapsed in every start"
    assert np.isnan(notes.loc[("VVV", 3), "bic"])
    assert model.model_ == "EEE"


def test_nothing_but_collapse_is_said_with_numbers_and_a_way_out():
    X = np.random.default_rng(0).normal(size=(7, 3))
    with pytest.warns(UserWarning, match=r"with 3 clusters: a component .* \(29 parameters for 7 objects\).*'EEI'"):
        model = ParsimoniousGaussianMixture(3, model="VVV").fit(X)
    assert np.isfinite(model.predict_proba(X)).all()


def test_more_columns_than_rows_leave_simple_models():
    X = np.random.default_rng(0).normal(size=(12, 20)) + np.repeat([[0.0], [6.0]], 6, axis=0)
    model = ParsimoniousGaussianMixture(cluster_range=(1, 2)).fit(X)
    assert model.n_clusters_ == 2
    assert model.model_[2] == "I"
    assert sorted(set(model.selection_.model)) == sorted(MODELS[:6])  # what twelve rows can carry


def test_one_column_has_two_models():
    X = np.concatenate([np.random.default_rng(0).normal(size=50), np.random.default_rng(1).normal(9, 4, size=50)])
    model = ParsimoniousGaussianMixture(cluster_range=(1, 3)).fit(X[:, None])
    assert sorted(set(model.selection_.model)) == ["EII", "VII"]
    assert (model.model_, model.n_clusters_) == ("VII", 2)


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="reached max_iter=2 before tol"):
        model = ParsimoniousGaussianMixture(3, model="VVV", max_iter=2).fit(numbers("iris"))
    assert not model.converged_
    assert model.n_iter_ == 2


def test_an_interrupt_keeps_what_is_finished(monkeypatch):
    finished = []

    def interrupted(*args, **keywords):
        if len(finished) == 2:
            raise KeyboardInterrupt
        finished.append(1)
        return original(*args, **keywords)

    original = parsimonious.fit_replicates
    monkeypatch.setattr(parsimonious, "fit_replicates", interrupted)
    with pytest.warns(InterruptedFit, match="the best of 2 fits with up to 2 clusters is kept"):
        model = ParsimoniousGaussianMixture(cluster_range=(2, 3)).fit(two_clouds())
    assert model.selection_.model.tolist() == ["EII", "VII"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "XXX"}, "The 'model' parameter of ParsimoniousGaussianMixture must be one of 'auto', 'EII'"),
        ({"model": ["VVV", "XXX"]}, r"'VVV' or a list of some of them. Got \['VVV', 'XXX'\] instead"),
        ({"model": []}, r"a list of some of them. Got \[\] instead"),
        ({"n_clusters": 0}, "'n_clusters'"),
        ({"n_clusters": 81}, "<= 62 or 'auto'. Got 81 instead. A set .* room for 62.* fit the rows of each"),
        ({"cluster_range": (61, 62)}, "asked for n_clusters=61 but X has only n_samples=60 rows"),
        ({"cluster_range": (3, 2)}, r"1 <= low <= high. Got \(3, 2\)"),
        ({"select_by": "dic"}, "must be one of 'bic', 'icl', 'aic'"),
        ({"init": "random"}, "must be one of 'hierarchical', 'k-means'"),
        ({"init": np.zeros(5)}, "a label for each of 80 rows"),
        ({"init": np.full((80, 2), 0.4)}, "probabilities that sum to 1"),
        ({"init": np.arange(80) % 3, "n_clusters": 2}, "has 3 groups but n_clusters=2"),
        ({"reg_covar": 0.0}, "'reg_covar'"),
        ({"max_eigenvalue_ratio": 1.0}, "'max_eigenvalue_ratio' .* must be a number >= 1.001 or None. Got 1.0 instead"),
        ({"tol": -1.0}, "'tol'"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        ParsimoniousGaussianMixture(**change).fit(two_clouds(60 if "cluster_range" in change else 80))


def test_a_table_of_equal_rows_is_refused():
    with pytest.raises(ValueError, match="All rows of X are equal"):
        ParsimoniousGaussianMixture(2).fit(np.ones((10, 2)))


def background(n_narrow=5):
    """Narrow clusters in a row, and as many objects as in all of them strewn over the whole field."""
    rng = np.random.default_rng(3)
    clusters = [rng.normal([4.0 * k, 0], 0.15, size=(30, 2)) for k in range(n_narrow)]
    return np.vstack([*clusters, rng.normal([2.0 * (n_narrow - 1), 0], [8, 4], size=(30 * n_narrow, 2))])


def test_a_component_that_lies_over_most_others_is_said_and_a_bound_takes_it_away():
    X, labels = background(), np.repeat([0, 1, 2, 3, 4, 5], [30] * 5 + [150])
    settings = {"model": "VII", "init": labels}
    with pytest.warns(UserWarning, match=r"component 5, with \d+% of the objects, lies over 5 of the 5 others like"):
        model = ParsimoniousGaussianMixture(6, **settings).fit(X)
    values = np.linalg.eigvalsh(model.covariances_)
    assert values.max() / values.min() > 100
    bounded = ParsimoniousGaussianMixture(6, **settings, max_eigenvalue_ratio=12.0).fit(X)
    values = np.linalg.eigvalsh(bounded.covariances_)
    assert values.max() / values.min() == pytest.approx(12)
    assert (np.diff(bounded.criterion_trace_) >= -1e-8).all()
    assert bounded.criterion_ < model.criterion_
    weights = np.random.default_rng(0).multinomial(len(X), np.full(len(X), 1 / len(X)), size=5).astype(float)
    values = np.linalg.eigvalsh(bounded.fit_replicates(X, weights).parameters[0].matrices).reshape(-1, 12)
    assert (values.max(axis=1) / values.min(axis=1) <= 12 * (1 + 1e-9)).all()


def test_equal_components_do_not_cover_each_other_however_near():
    means, within = np.array([[[0.0, 0], [0.3, 0], [0, 0.3]]]), np.broadcast_to(np.eye(2), (1, 3, 2, 2))
    assert not covers(MixtureParameters(np.full((1, 3), 1 / 3), means, within)).any()


def test_starts_from_one_partition_are_followed_once(monkeypatch):
    X, followed = two_clouds(gap=30.0), []

    def watched(rows, weight, start, *rest, **settings):
        followed.append(len(start.weights))
        return fit_replicates(rows, weight, start, *rest, **settings)

    monkeypatch.setattr(parsimonious, "fit_replicates", watched)
    model = ParsimoniousGaussianMixture(2, model="VVV", n_init=5, random_state=0).fit(X)
    assert followed == [1]  # there is but one way to part them
    assert len(model.start_criteria_) == 5


@pytest.mark.parametrize("model", ["EII", "VVI"])
def test_diagonal_models_need_no_matrix_of_the_columns(model):
    """One would be 3.2 GB, beyond what this process may have."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); import numpy as np;"
        "from evidentia import ParsimoniousGaussianMixture;"
        "X = np.random.default_rng(0).normal(size=(30, 20_000)) + 2 * (np.arange(30)[:, None] % 3);"
        f"model = ParsimoniousGaussianMixture(3, model='{model}', random_state=0).fit(X);"
        "model.fit_replicates(X, np.ones((2, 30))).posteriors(X); model.predict_proba(X); model.sample(2);"
        "print(*model.labels_)"
    )
    labels = np.array(subprocess.check_output([sys.executable, "-c", code], text=True).split(), int)
    assert adjusted_rand_score(labels, np.arange(30) % 3) == 1.0


def test_covariances_are_those_of_the_last_fit():
    X = numbers("iris")
    model = ParsimoniousGaussianMixture(cluster_range=(2, 3), model="VVI", random_state=0).fit(X)
    assert model.covariances_.shape == (model.n_clusters_, 4, 4)
    before = model.covariances_
    np.testing.assert_allclose(model.fit(10 * X).covariances_, 100 * before, rtol=1e-6)


@pytest.mark.parametrize("model", ["VEV", "EVV", "VEE", "EVE", "VVE"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_on_a_line_with_hardly_any_floor_end_in_a_fit_or_a_sentence(model):
    """A covariance that rounding makes singular has a volume of zero, by which nothing may be divided."""
    X = np.arange(13.0)[:, None] * np.ones(3)
    fit = ParsimoniousGaussianMixture(
        1, model=model, reg_covar=7e-14, tol=0.0, n_init=2, max_iter=40, random_state=0
    ).fit(X)
    assert np.isfinite(fit.predict_proba(X)).all()


def test_two_rows_in_a_plane_with_hardly_any_floor_collapse_without_a_raw_error():
    X = np.array([[4.852880480406741, 6.561423549654441], [-1.9692870054187743, 2.9208247586841667]])
    for n_clusters in (1, 2):
        model = ParsimoniousGaussianMixture(
            n_clusters, model="EVV", reg_covar=1e-14, init=np.arange(2) % n_clusters, random_state=0
        )
        with pytest.warns(UserWarning, match="collapsed in every start"):
            model.fit(X)
        assert model.collapsed_


@pytest.mark.parametrize("model", ["EII", "VII"])
def test_columns_whose_variances_no_double_carries_in_one_sphere_are_refused(model):
    X = np.random.default_rng(3).normal(size=(40, 2)) * [1e-130, 1e130]
    X[::2, 1] += 8e130
    with pytest.raises(
        ValueError, match=r"ParsimoniousGaussianMixture with 2 clusters has no finite likelihood.*units"
    ):
        ParsimoniousGaussianMixture(2, model=model, random_state=0).fit(X)
    assert np.isfinite(ParsimoniousGaussianMixture(2, random_state=0).fit(X).criterion_)
