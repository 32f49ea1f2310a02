"""Latent profiles: one density for numbers and categories, climbed by EM, and sets that keep its probabilities."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import adjusted_rand_score

from evidentia import LatentProfileMixture, ParsimoniousGaussianMixture, load_model
from evidentia.belief import FocalSets
from evidentia.mixtures.latent_profile import resolution
from evidentia.mixtures.profile_model import ProfilePrior, Profiles, Rows, log_joint, profiles_of
from evidentia.rows.categories import Coding
from evidentia.rows.strange import StrangeRows
from evidentia.solvers.overlap import spread_over_sets


def drawn(n=240, seed=0, noise=0):
    """Three groups that numbers and categories tell apart together, and columns that tell nothing."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    words = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.15, 0.1, 0.75]])
    frame = pd.DataFrame({
        "size": rng.normal([0.0, 3.0, 3.0], [1.0, 0.7, 1.2], size=(n, 3))[np.arange(n), group],
        "mass": 40 + 9 * rng.normal([0.0, 0.0, 2.5], size=(n, 3))[np.arange(n), group],
        "word": [rng.choice(["a", "b", "c"], p=words[k]) for k in group],
        "sign": np.where(rng.random(n) < np.array([0.9, 0.2, 0.3])[group], "+", "-"),
    })  # fmt: skip
    for j in range(noise):
        frame[f"noise{j}"] = rng.choice(list("uvwxy"), n)
    return frame, group


def fit(X, n_clusters=3, **settings):
    settings = {"covariance": "diagonal", **settings}
    return LatentProfileMixture(n_clusters, random_state=0, n_init=4, **settings).fit(X)


def small():
    """Five rows of one column of three categories and two of numbers, with gaps and weights; two clusters."""
    codes = np.array([[0], [2], [1], [-1], [2]])
    numbers = np.array([[0.5, 1.0], [-1.0, np.nan], [2.0, 0.25], [0.0, -1.5], [1.5, 0.75]])
    categories = [np.array(["a", "b", "c"])]
    coding = Coding(np.array([False, True, True]), categories, np.zeros(2), np.ones(2), 1.0)
    rows = Rows.of(coding, codes, numbers, np.array([0.1, 0.2]), np.array([1.0, 2.0, 0.5, 1.0, 3.0]))
    state = Profiles(
        np.array([0.3, 0.7]),
        np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]),
        np.array([[0.4, -0.2], [1.1, 0.9]]),
        np.array([[0.5, 2.0], [1.5, 0.8]]),
    )
    return codes, numbers, rows, coding.columns, state


def test_densities_are_products_over_what_is_observed():
    codes, numbers, rows, _, state = small()
    blur = np.array([0.03, 0.0])
    found = log_joint(rows, state, blur)
    for i in range(5):
        for k in range(2):
            wanted = np.log(state.weights[k])
            if codes[i, 0] >= 0:
                wanted += np.log(state.probabilities[k, codes[i, 0]])
            for q, number in enumerate(numbers[i]):
                if not np.isnan(number):
                    wanted += norm.logpdf(number, state.means[k, q], np.sqrt(state.variances[k, q]))
                    wanted -= blur[q] / (2 * state.variances[k, q])
            assert found[i, k] == pytest.approx(wanted, rel=1e-13)


def test_the_m_step_is_the_highest_point_of_the_expected_density():
    _, _, rows, columns, state = small()
    prior = ProfilePrior(alpha=0.4, variance=0.25, blur=np.array([0.03, 0.1]))
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([1.0, 2.0], size=5)

    def expected(at):
        joint = log_joint(rows, at, prior.blur)
        return float((rows.weight[:, None] * posterior * joint).sum()) + prior.log_density(at)

    best = profiles_of(posterior, rows, columns, prior)
    np.testing.assert_allclose(best.probabilities.sum(axis=1), 1)
    assert expected(best) > expected(state)
    for _ in range(50):
        step = 1e-3 * rng.normal(size=(2, 3))
        tilted = best.probabilities * np.exp(step)
        for other in (
            best._replace(probabilities=tilted / tilted.sum(axis=1, keepdims=True)),
            best._replace(means=best.means + step[:, :2]),
            best._replace(variances=best.variances * np.exp(step[:, :2])),
        ):
            assert expected(other) < expected(best)


def test_the_criterion_never_falls_and_is_what_is_reported():
    X, _ = drawn()
    model = fit(X, tol=1e-13)
    assert (np.diff(model.criterion_trace_) >= -1e-9 * np.abs(model.criterion_trace_[1:])).all()
    assert model.score_samples(X).sum() == pytest.approx(model.log_likelihood_, rel=1e-12)
    free = 2 + 3 * (2 * 2 + 2 + 1)
    assert model.n_parameters_ == free
    assert model.ebic_ == pytest.approx(model.log_likelihood_ - 0.5 * free * np.log(len(X)), rel=1e-12)


def test_groups_and_their_number_are_found_and_columns_of_noise_have_no_say():
    for noise in (0, 2):
        X, group = drawn(600, seed=1, noise=noise)
        model = LatentProfileMixture(random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(group, model.labels_) > 0.7


def test_numbers_alone_are_a_diagonal_mixture():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal([0, 0], [1, 0.5], (150, 2)), rng.normal([5, 3], [0.6, 1.1], (100, 2))])
    mine = fit(X, 2, tol=1e-10)
    other = ParsimoniousGaussianMixture(2, model="VVI", random_state=0, tol=1e-10).fit(X)
    order = np.argsort(-other.weights_)
    np.testing.assert_allclose(mine.means_, other.means_[order], rtol=0.02, atol=0.01)
    # The prior has five of 100 and 150 degrees of freedom.
    wanted = np.array([np.diag(covariance) for covariance in other.covariances_[order]])
    np.testing.assert_allclose(mine.variances_, wanted, rtol=0.08)
    assert mine.log_likelihood_ == pytest.approx(other.criterion_, abs=1.0)


def test_masses_have_the_posterior_probabilities_for_pignistic_ones():
    X, _ = drawn(seed=2)
    model, plain = fit(X), fit(X, focal_sets="singletons")
    assert len(model.focal_sets_) > 3
    np.testing.assert_allclose(model.predict_proba(X), plain.partition_.masses, atol=1e-12)
    np.testing.assert_allclose(model.partition_.masses.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_what_belongs_to_a_set_that_is_not_there_goes_to_its_clusters_alike():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([1, 1, 1, 1], size=30)
    family = FocalSets(4, [[0], [1], [2], [3], [0, 1], [1, 3], [0, 1, 3]])
    masses = spread_over_sets(posterior, family)
    assert masses.min() >= 0
    member = (family.masks[:, None] >> np.arange(4)) & 1
    np.testing.assert_allclose(masses @ (member / member.sum(axis=1, keepdims=True)), posterior, atol=1e-14)
    assert masses[:, 4:].sum() > 1


def test_units_origin_order_and_copies_do_not_matter():
    X, _ = drawn(seed=4)
    model = fit(X, tol=1e-13)
    moved = X.assign(size=X["size"] * 1e-3 + 7, mass=1e5 - 30 * X["mass"])
    other = fit(moved, tol=1e-13)
    np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-5)
    assert other.log_likelihood_ == pytest.approx(model.log_likelihood_ - len(X) * np.log(30e-3), rel=1e-7)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = fit(X.iloc[order], tol=1e-13)
    np.testing.assert_allclose(shuffled.predict_proba(X), model.predict_proba(X), atol=1e-5)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = LatentProfileMixture(3, covariance="diagonal", random_state=0, n_init=4, tol=1e-13)
    weighted.fit(X, sample_weight=weight)
    copied = fit(X.loc[np.repeat(X.index, weight)], tol=1e-13)
    assert copied.log_likelihood_ == pytest.approx(weighted.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(copied.predict_proba(X), weighted.predict_proba(X), atol=1e-5)


def test_rounded_numbers_keep_a_width():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"children": np.repeat([0.0, 1, 2, 3], [120, 40, 30, 10]), "age": rng.normal(40, 9, 200)})
    model = fit(X, 2, numbers=["children", "age"])
    assert model.variances_[:, 0].min() > 1 / 12 * 0.9
    assert resolution(np.array([[1.0, 5.0], [1.5, 5.0], [9.0, 5.0]]), np.array([1.0, 1.0, 0.0])).tolist() == [0.5, 0.0]
    alone = LatentProfileMixture(numbers=["children", "age"], random_state=0).fit(X)
    assert alone.n_clusters_ <= 2


def test_constant_columns_tell_nothing():
    X, _ = drawn(seed=5)
    model, other = fit(X, tol=1e-13), fit(X.assign(one=5.5, word2="same"), tol=1e-13)
    new = X.assign(one=9.5, word2="same")
    np.testing.assert_allclose(other.predict_proba(new), model.predict_proba(X), atol=1e-5)


def test_what_is_missing_or_new_is_left_out():
    X, _ = drawn(seed=6)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    model = fit(holes)
    assert np.isfinite(model.partition_.masses).all()
    row = X.iloc[[0]]
    without = row.assign(word=None)
    with pytest.warns(StrangeRows, match="column 'word': 'new'"):
        np.testing.assert_allclose(model.predict_proba(row.assign(word="new")), model.predict_proba(without))
    nothing = pd.DataFrame([[np.nan, np.nan, None, None]], columns=X.columns)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.weights_, atol=1e-12)


def test_a_tiny_cluster_is_no_group_and_the_end_of_the_range_is_said():
    X, _ = drawn(seed=7)
    far = pd.concat([X, X.iloc[:2].assign(size=[500.0, 510.0])], ignore_index=True)
    model = LatentProfileMixture(random_state=0, n_init=4).fit(far)
    assert "fewer than 5 objects" in " ".join(model.selection_["note"])
    assert model.weights_.min() * len(far) >= 5
    with pytest.warns(UserWarning, match=r"clusters, 2, is the largest of cluster_range=\(1, 2\), and BIC may rise"):
        LatentProfileMixture(cluster_range=(1, 2), random_state=0, n_init=4).fit(X)


def test_many_rows_are_told_apart_by_some(monkeypatch):
    X, _ = drawn(600, seed=8)
    whole = fit(X, tol=1e-13)
    monkeypatch.setattr("evidentia.mixtures.latent_profile.LOOK_ROWS", 150)
    found = fit(X, tol=1e-13)
    np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(X), atol=1e-3)


def test_a_file_keeps_it(tmp_path):
    X, _ = drawn()
    model = fit(X)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").predict_proba(X[:9]), model.predict_proba(X[:9]))
