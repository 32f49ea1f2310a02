"""Latent profiles whose numbers are correlated within clusters: densities, EM with gaps, which covariance is taken."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from evidentia import LatentProfileMixture, load_model
from evidentia.mixtures import latent_profile, profile_numbers
from evidentia.mixtures.profile_model import (
    ProfilePrior,
    Profiles,
    Rows,
    log_joint,
    posteriors,
    profiles_of,
    vectors_of,
)
from evidentia.mixtures.profile_numbers import PatternedNumbers, precisions_of, whiten
from evidentia.rows.categories import Coding
from evidentia.selection.search import Selection

KINDS = ["diagonal", "shared", "own"]
LONG = np.array([[1.0, 0.9, -0.4], [0.9, 1.0, -0.3], [-0.4, -0.3, 0.5]])
ROUND = np.diag([0.4, 0.8, 0.3])
TILTED = np.array([[1.0, -0.85, 0.1], [-0.85, 1.0, 0.2], [0.1, 0.2, 0.7]])


def drawn(covariances, n=400, seed=0, gaps=0.0):
    """Groups with these covariances of three numbers, and two columns of categories that tell a little."""
    rng = np.random.default_rng(seed)
    group = rng.choice(len(covariances), n)
    centers = np.array([[0.0, 0.0, 0.0], [0.9, -1.5, 0.6], [-2.0, 1.5, 2.5]])
    numbers = np.stack([rng.multivariate_normal(centers[k], covariances[k]) for k in group])
    numbers[rng.random(numbers.shape) < gaps] = np.nan
    X = pd.DataFrame(numbers * [1.0, 20.0, 0.1] + [0.0, 300.0, 5.0], columns=["x", "y", "z"])
    X["word"] = [rng.choice(["a", "b", "c"], p=np.roll([0.6, 0.3, 0.1], k)) for k in group]
    X["sign"] = rng.choice(["+", "-"], n)
    X.loc[rng.random(n) < gaps, "word"] = None
    return X, group


def fit(X, n_clusters=2, covariance="own", weight=None, **settings):
    model = LatentProfileMixture(n_clusters, covariance=covariance, random_state=0, n_init=4, **settings)
    return model.fit(X, sample_weight=weight)


def small(kind):
    """Rows with all kinds of gaps, and two clusters with full covariances."""
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=(40, 3))
    numbers[rng.random(numbers.shape) < 0.3] = np.nan
    numbers[0] = np.nan
    codes = rng.integers(-1, 3, size=(40, 1))
    coding = Coding(np.array([False] + [True] * 3), [np.array(["a", "b", "c"])], np.zeros(3), np.ones(3), 1.0)
    rows = Rows.of(coding, codes, numbers, np.array([0.5, 0.2, 0.3]), rng.uniform(0.2, 3.0, 40))
    full = np.stack([LONG, TILTED])[: 1 if kind == "shared" else 2]
    state = Profiles(
        np.array([0.3, 0.7]),
        np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]),
        np.array([[0.4, -0.2, 0.1], [-0.6, 0.9, 0.3]]),
        np.stack([np.diag(full[0]), np.diag(full[-1])]),
        full,
    )
    return codes, numbers, rows, coding.columns, state


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_densities_are_those_of_scipy_over_what_is_observed(kind):
    codes, numbers, rows, _, state = small(kind)
    blur = np.array([0.03, 0.0, 0.2])
    found = log_joint(rows, state, blur)
    for i, (code, row) in enumerate(zip(codes[:, 0], numbers)):
        for k in range(2):
            o = np.flatnonzero(~np.isnan(row))
            within = state.covariances[k % len(state.covariances)][np.ix_(o, o)]
            wanted = np.log(state.weights[k]) + (np.log(state.probabilities[k, code]) if code >= 0 else 0)
            if len(o):
                wanted += multivariate_normal.logpdf(row[o], state.means[k, o], within)
                wanted -= 0.5 * np.trace(np.linalg.inv(within) @ np.diag(blur[o]))
            assert found[i, k] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_a_step_never_lowers_the_penalized_likelihood_and_rests_at_its_top(kind):
    _, _, rows, columns, state = small(kind)
    prior = ProfilePrior(alpha=0.4, variance=0.25, blur=np.array([0.03, 0.1, 0.02]))

    def height(at):
        return float(rows.weight @ posteriors(log_joint(rows, at, prior.blur))[1]) + prior.log_density(at)

    heights = [height(state)]
    for _ in range(3000):
        state = profiles_of(posteriors(log_joint(rows, state, prior.blur))[0], rows, columns, prior, state)
        heights.append(height(state))
    assert np.diff(heights).min() > -1e-11
    assert heights[-1] > heights[0] + 1
    rng = np.random.default_rng(0)
    for _ in range(30):  # the gradient is zero there: what is lost is of second order
        tilt = rng.normal(size=(2, 3, 3))[: len(state.covariances)]
        ups = [state._replace(means=state.means + e * tilt[0, :2]) for e in (1e-4, -1e-4)]
        roots = np.linalg.cholesky(state.covariances)
        shapes = [(np.eye(3) + e * tilt) @ roots for e in (1e-4, -1e-4)]
        ups += [state._replace(covariances=root @ root.swapaxes(1, 2)) for root in shapes]
        assert max(map(height, ups)) < heights[-1] + 1e-9
        assert abs(height(ups[2]) - height(ups[3])) < 1e-6


def test_complete_numbers_alone_have_a_closed_form():
    rng = np.random.default_rng(2)
    numbers = rng.multivariate_normal([0, 0, 0], LONG, 60)
    coding = Coding(np.array([True] * 3), [], np.zeros(3), np.ones(3), 1.0)
    weight, blur = rng.uniform(0.5, 2.0, 60), np.array([0.01, 0.02, 0.03])
    rows = Rows.of(coding, np.empty((60, 0), dtype=int), numbers, np.ones(3), weight)
    prior = ProfilePrior(alpha=0.1, variance=1 / 4, blur=blur)  # of two clusters
    assert (prior.objects, prior.level) == (9, pytest.approx(2 ** (-2 / 3)))
    posterior = rng.dirichlet([1.0, 2.0], size=60)
    plain = profiles_of(posterior, rows, coding.columns, prior)
    plain = plain._replace(means=plain.means + np.array([0.3, -0.8, 0.5]))  # where it comes from does not matter
    means, scatters = [], []
    for share in (posterior * weight[:, None]).T:
        means.append(share @ numbers / share.sum())
        scatters.append((share * (numbers - means[-1]).T) @ (numbers - means[-1]) + share.sum() * np.diag(blur))
    size = weight @ posterior
    own = profiles_of(posterior, rows, coding.columns, prior, plain.widen("own", prior))
    shared = profiles_of(posterior, rows, coding.columns, prior, plain.widen("shared", prior))
    np.testing.assert_allclose(own.means, means, rtol=1e-12)
    np.testing.assert_allclose(shared.means, means, rtol=1e-12)
    for k in range(2):
        wanted = (prior.level * np.eye(3) + scatters[k]) / (size[k] + 9)
        np.testing.assert_allclose(own.covariances[k], wanted, rtol=1e-11)
    wanted = (prior.level * np.eye(3) + sum(scatters)) / (size.sum() + 9)
    np.testing.assert_allclose(shared.covariances, wanted[None], rtol=1e-11)
    np.testing.assert_allclose(shared.variances, [np.diag(wanted)] * 2, rtol=1e-11)


def test_one_cluster_has_the_covariance_of_the_table():
    X, _ = drawn([LONG], n=80)
    numbers = X[["x", "y", "z"]].to_numpy()
    steps = np.array([np.diff(np.unique(column)).min() for column in numbers.T])
    spread = numbers.std(axis=0)
    within = np.cov((numbers / spread).T, bias=True) + np.diag((steps / spread) ** 2 / 12)
    values, directions = np.linalg.eigh(within)
    assert 9 * values.min() < 1  # one direction is narrower than the prior would be
    prior = (directions * np.minimum(1, 9 * values)) @ directions.T
    wanted = np.outer(spread, spread) * (prior + 80 * within) / (80 + 9)
    for kind in ("shared", "own"):
        model = fit(X, 1, kind)
        np.testing.assert_allclose(model.covariances_[0], wanted, rtol=1e-9)
        np.testing.assert_allclose(model.means_[0], numbers.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_criterion_never_falls_with_gaps_and_weights(kind):
    X, _ = drawn([LONG, TILTED], gaps=0.15, seed=3)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    model = fit(X, 3, kind, weight, tol=1e-9)
    trace = model.criterion_trace_
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()
    assert weight @ model.score_samples(X) == pytest.approx(model.log_likelihood_, rel=1e-12)
    free = 2 + 3 * (3 + 2 + 1) + {"diagonal": 9, "shared": 6, "own": 18}[kind]
    assert (model.covariance_, model.n_parameters_) == (kind, free)
    assert list(model.selection_["covariance"]) == [kind]
    assert model.covariances_.shape == (3, 3, 3)
    np.testing.assert_allclose(model.variances_, [np.diag(one) for one in model.covariances_])
    off = np.abs(model.covariances_ * (1 - np.eye(3))).max()
    assert (off == 0) == (kind == "diagonal")
    assert (np.ptp(model.covariances_, axis=0).max() == 0) == (kind == "shared")


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_weights_are_copies_and_units_and_order_do_not_matter(kind):
    X, _ = drawn([LONG, LONG if kind == "shared" else TILTED], n=250, gaps=0.05, seed=4)
    model = fit(X, 2, kind, tol=1e-12)
    moved = X.assign(x=X["x"] * 1e-3 + 7, y=1e5 - 30 * X["y"])
    other = fit(moved, 2, kind, tol=1e-12)
    np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-4)
    assert other.log_likelihood_ == pytest.approx(
        model.log_likelihood_ - X["x"].count() * np.log(1e-3) - X["y"].count() * np.log(30), rel=1e-7
    )
    factor = np.array([1e-3, -30, 1])
    np.testing.assert_allclose(other.covariances_ / np.outer(factor, factor), model.covariances_, rtol=1e-3)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = fit(X.iloc[order], 2, kind, tol=1e-12)
    np.testing.assert_allclose(shuffled.predict_proba(X), model.predict_proba(X), atol=1e-4)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = fit(X, 2, kind, weight, tol=1e-12)
    copied = fit(X.loc[np.repeat(X.index, weight)], 2, kind, tol=1e-12)
    assert copied.log_likelihood_ == pytest.approx(weighted.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(copied.predict_proba(X), weighted.predict_proba(X), atol=1e-4)


def test_correlated_groups_are_found_that_independent_numbers_split():
    X, group = drawn([LONG, LONG], n=500, seed=6)
    split, whole = (
        LatentProfileMixture(covariance=kind, random_state=0, n_init=4).fit(X) for kind in ("diagonal", "auto")
    )
    assert split.n_clusters_ > 2
    assert whole.n_clusters_ == 2
    assert adjusted_rand_score(group, whole.labels_) > 0.9 > 0.7 > adjusted_rand_score(group, split.labels_)


@pytest.mark.parametrize(
    ("kind", "covariances"),
    [("diagonal", [ROUND, 0.1 * ROUND[::-1, ::-1]]), ("shared", [LONG, LONG]), ("own", [LONG, TILTED])],
)
def test_the_covariance_is_chosen(kind, covariances):
    X, group = drawn(covariances, n=400, gaps=0.02, seed=7)
    model = LatentProfileMixture(random_state=0, n_init=4).fit(X)
    assert (model.covariance_, model.n_clusters_) == (kind, 2)
    assert adjusted_rand_score(group, model.labels_) > 0.65  # two of them cross
    tried = model.selection_.set_index(["covariance", "n_clusters"])["bic"]
    assert tried.idxmax() == (kind, 2)
    assert ("own", 1) not in tried.index  # which is the shared one
    selection = Selection.of_model(model)
    assert selection.table.set_index("n_clusters")["bic"][2] == model.bic_ == pytest.approx(2 * model.ebic_)
    assert selection.choice.startswith(
        f"Best: LatentProfileMixture with 2 clusters, {kind} covariance, by largest BIC ("
    )
    alone = LatentProfileMixture(covariance="diagonal", random_state=0, n_init=4).fit(X)
    np.testing.assert_array_equal(tried["diagonal"], alone.selection_["bic"])


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_the_prior_is_no_wider_than_the_clusters_in_any_direction(kind):
    """Scatters by hand: narrow in one direction, wide in another, and none at all in the third."""
    turn, total, prior = (
        np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0],
        50.0,
        ProfilePrior(0.1, 0.25, np.ones(3)),
    )
    within = (turn * [2e-3, 4.0, 1e-9]) @ turn.T
    size = total * np.array([0.3, 0.7]) if kind == "own" else np.array([total])
    full = np.stack([(n * within + prior.scale) / (n + prior.objects) for n in size])
    state = Profiles(np.array([0.3, 0.7]), np.ones((2, 0)), np.zeros((2, 3)), np.ones((2, 3)), full)
    found = prior.narrowed(state, total)
    wanted = [prior.objects * 2e-3, prior.level, prior.level]  # of equal numbers nothing is known
    np.testing.assert_allclose(found.scale, (turn * wanted) @ turn.T, atol=1e-12)


def test_columns_that_nearly_determine_each_other_do_not_make_more_clusters():
    rng = np.random.default_rng(2)
    group = rng.integers(3, size=600)
    X = pd.DataFrame(rng.normal(size=(600, 3)) + 3.0 * rng.normal(size=(3, 3))[group], columns=list("xyz"))
    X["sum"] = X.sum(axis=1) + 0.02 * rng.normal(size=600) + 0.1 * group
    X["word"] = np.where(rng.random(600) < 0.2 + 0.3 * group, "yes", "no")
    model = LatentProfileMixture(random_state=0, n_init=4).fit(X)
    assert (model.covariance_, model.n_clusters_) == ("shared", 3)
    assert adjusted_rand_score(group, model.labels_) > 0.9


def test_what_a_table_cannot_carry_is_not_tried():
    X, _ = drawn([LONG, TILTED], n=24)
    tried = LatentProfileMixture(3, random_state=0, n_init=2).fit(X).selection_
    assert list(tried["covariance"]) == ["diagonal"]  # 26 parameters of the shared one are more than 24 objects
    tried = LatentProfileMixture(2, random_state=0, n_init=2).fit(X).selection_
    assert list(tried["covariance"]) == ["diagonal", "shared"]
    assert fit(X, 3, "own").covariance_ == "own"  # who asks gets it
    one = LatentProfileMixture(2, random_state=0, n_init=2).fit(X[["x", "word", "sign"]].assign(z=2.5))
    assert list(one.selection_["covariance"]) == ["diagonal"]


def test_gaps_in_many_combinations_of_columns_leave_independent_numbers(monkeypatch):
    X, _ = drawn([LONG, TILTED], n=120, gaps=0.1)
    there = X.select_dtypes("number").notna()
    n_patterns = len(there.drop_duplicates())
    assert n_patterns > 2
    for most, kinds in ((n_patterns, {"diagonal", "shared", "own"}), (n_patterns - 1, {"diagonal"})):
        monkeypatch.setattr(latent_profile, "MOST_PATTERNS", most)
        assert set(LatentProfileMixture(2, random_state=0, n_init=2).fit(X).selection_["covariance"]) == kinds


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_patterns_may_be_taken_in_groups(kind, monkeypatch):
    X, _ = drawn([LONG, TILTED], n=120, gaps=0.1)
    whole = fit(X, 2, kind)
    monkeypatch.setattr(profile_numbers, "GROUP", 1)
    np.testing.assert_allclose(fit(X, 2, kind).covariances_, whole.covariances_, rtol=1e-6)


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_columns_that_tell_nothing_and_tables_without_numbers(kind):
    X, _ = drawn([LONG, TILTED], seed=8)
    model, other = fit(X, 2, kind, tol=1e-12), fit(X.assign(one=5.5), 2, kind, tol=1e-12)
    np.testing.assert_allclose(other.predict_proba(X.assign(one=9.5)), model.predict_proba(X), atol=1e-5)
    assert other.n_parameters_ == model.n_parameters_
    words = X[["word", "sign"]]
    found, plain = fit(words, 2, kind), fit(words, 2, "diagonal")
    assert found.covariances_.shape == (2, 0, 0)
    assert found.log_likelihood_ == plain.log_likelihood_
    x = X[["x", "word"]]
    assert fit(x, 2, "own").log_likelihood_ == pytest.approx(fit(x, 2, "diagonal").log_likelihood_, abs=0.5)


def test_many_rows_are_told_apart_by_some(monkeypatch):
    X, _ = drawn([LONG, TILTED], n=600, gaps=0.02, seed=8)
    whole = fit(X, tol=1e-12)
    monkeypatch.setattr("evidentia.mixtures.latent_profile.LOOK_ROWS", 150)
    np.testing.assert_allclose(fit(X, tol=1e-12).predict_proba(X), whole.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_keeps_it(tmp_path, kind):
    X, _ = drawn([LONG, TILTED], n=100, gaps=0.1)
    model = fit(X, 2, kind)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.covariances_, model.covariances_)


def test_rows_without_gaps_come_in_blocks_and_whitened_ones_are_uncorrelated():
    rng = np.random.default_rng(0)
    numbers = rng.multivariate_normal([1.0, 0, -1], LONG, 100)
    rows = PatternedNumbers(numbers, np.ones_like(numbers))
    assert rows.seen.tolist() == [[True] * 3]
    mean, covariance = numbers.mean(axis=0), np.cov(numbers.T, bias=True)
    found = whiten(rows, mean, covariance)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(3), atol=1e-8)
    precisions, log_det = precisions_of(np.array([[True, False, True]]), LONG[None])
    np.testing.assert_allclose(precisions[0, 0][np.ix_([0, 2], [0, 2])], np.linalg.inv(LONG[np.ix_([0, 2], [0, 2])]))
    assert precisions[0, 0][1].tolist() == [0, 0, 0]
    assert log_det[0, 0] == pytest.approx(np.log(np.linalg.det(LONG[np.ix_([0, 2], [0, 2])])))


def test_profiles_become_vectors_and_back():
    _, _, _, columns, state = small("own")
    vectors = vectors_of(columns)
    back = vectors.restore(vectors.flatten(state), state)
    for one, other in zip(back, state):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert vectors.restore(np.full(len(vectors.flatten(state)), 200.0), state) is None
