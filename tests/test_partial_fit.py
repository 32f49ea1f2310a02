"""``partial_fit``: batches of rows that are not kept, by averaged statistics."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone

from evidentia import ECM, EGMM, FCM, GustafsonKessel, NoiseClustering, load_model
from evidentia._streaming import RunningMean

CENTERS = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 1.0], [0.0, 7.0, -2.0]])
MODELS = {
    "egmm": EGMM(3, model="VVV", random_state=0),
    "egmm-full-sets": EGMM(3, model="EEE", focal_sets="full", random_state=0),
    "egmm-reduced": EGMM(3, model="VVI", reduce=2, random_state=0),
    "ecm": ECM(3, random_state=0),
    "ecm-near-pairs": ECM(3, focal_sets="near-pairs", adaptive=True, random_state=0),
    "fcm": FCM(3, random_state=0),
    "noise": NoiseClustering(3, random_state=0),
    "gustafson-kessel": GustafsonKessel(3, random_state=0),
}
every = pytest.mark.parametrize("name", MODELS)


def draw(rng, n, centers=CENTERS):
    group = rng.choice(len(centers), n, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(n, centers.shape[1])) * [1.0, 0.5, 2.0] + centers[group]


def batches(n_batches=12, size=200, seed=0, centers=CENTERS):
    rng = np.random.default_rng(seed)
    return [draw(rng, size, centers) for _ in range(n_batches)]


def stream(model, parts, **more):
    model = clone(model)
    for part in parts:
        model.partial_fit(part, **more)
    return model


def test_averages_by_hand():
    # 2 rows of mean 3, then 1 of mean 9: the third has the step (1/3)**0.6.
    found = RunningMean.of((np.array([6.0]), np.array([[2.0]])), 2.0).add(
        (np.array([9.0]), np.array([[0.0]])), 1.0, 0.6
    )
    step = 3**-0.6
    assert found.parts[0] == pytest.approx((1 - step) * 3 + step * 9)
    assert found.parts[1] == pytest.approx((1 - step) * 1)
    assert (found.total, found.n_steps) == (3.0, 2)
    np.testing.assert_allclose(found.sums[0], 3 * found.parts[0])


def test_batches_of_one_size_have_the_steps_of_the_paper():
    mean, expected = RunningMean.of((np.array([1.0]),), 5), 1 / 5
    for k in range(2, 8):
        mean = mean.add((np.array([float(k)]),), 5, 0.7)
        expected += k**-0.7 * (k / 5 - expected)
    assert mean.parts[0] == pytest.approx(expected)


@every
def test_centers_are_near_those_of_all_rows(name):
    parts = batches()
    online, at_once = stream(MODELS[name], parts), clone(MODELS[name]).fit(np.concatenate(parts))
    first = clone(MODELS[name]).fit(parts[0])
    gap = np.abs(online.cluster_centers_ - at_once.cluster_centers_).max()
    assert gap < 0.15
    assert gap < 0.7 * np.abs(first.cluster_centers_ - at_once.cluster_centers_).max()
    new = draw(np.random.default_rng(9), 500)
    assert (online.predict(new) == at_once.predict(new)).mean() > 0.98
    assert len(online.partition_) == len(online.labels_) == 200  # of the last batch
    np.testing.assert_allclose(online.predict_partition(parts[-1]).masses, online.partition_.masses)


@pytest.mark.parametrize("model", ["EEE", "VVV"])
def test_the_same_rows_again_are_one_step_of_em(model):
    X = batches(1, 300, centers=CENTERS / 3)[0]  # they overlap: a step moves something
    online = EGMM(3, model=model, focal_sets="singletons", prior=None, max_iter=3, n_init=1, random_state=0)
    with pytest.warns(UserWarning, match="reached max_iter=3"):
        online.partial_fit(X)
    weights, centers, within = online.weights_, online.cluster_centers_, online.covariances_
    joint = np.array([w * multivariate_normal(c, s).pdf(X) for w, c, s in zip(weights, centers, within)]).T
    share = joint / joint.sum(axis=1, keepdims=True)
    size = share.sum(axis=0)
    moved = share.T @ X / size[:, None]
    scatter = [(share[:, k, None] * (X - moved[k])).T @ (X - moved[k]) for k in range(3)]
    covariances = np.array(scatter) / size[:, None, None]
    if model == "EEE":
        covariances = np.repeat(np.sum(scatter, axis=0)[None] / 300, 3, axis=0)
    online.partial_fit(X)
    assert np.abs(moved - centers).max() > 1e-3
    np.testing.assert_allclose(online.cluster_centers_, moved, atol=1e-9)
    np.testing.assert_allclose(online.weights_, size / 300, atol=1e-9)
    np.testing.assert_allclose(online.covariances_, covariances, atol=1e-7)


def test_the_same_rows_again_are_one_step_of_fuzzy_means():
    X = batches(1, 300, centers=CENTERS / 3)[0]
    with pytest.warns(UserWarning, match="reached max_iter=2"):
        online = FCM(3, beta=2.5, max_iter=2, n_init=1, random_state=0).partial_fit(X)
    share = online.partition_.pignistic**2.5
    moved = share.T @ X / share.sum(axis=0)[:, None]
    assert np.abs(moved - online.cluster_centers_).max() > 1e-3
    np.testing.assert_allclose(online.partial_fit(X).cluster_centers_, moved, atol=1e-9)


def test_the_gap_to_the_best_likelihood_falls_with_the_rows():
    parts = batches(80, 150, centers=CENTERS / 2)
    rows = np.concatenate(parts)
    best = EGMM(3, model="EEE", focal_sets="singletons", random_state=0).fit(rows).score(rows)
    online, gaps = EGMM(3, model="EEE", focal_sets="singletons", random_state=0), {}
    for k, part in enumerate(parts, 1):
        online.partial_fit(part)
        if k in (1, 10, 80):
            gaps[k] = best - online.score(rows)
    assert gaps[1] > 1.5 * gaps[10] > 3 * gaps[80] > 0
    assert gaps[80] < 2e-3


@every
def test_the_order_of_columns_does_not_matter(name):
    parts, order = batches(4), [2, 0, 1]
    plain, moved = stream(MODELS[name], parts), stream(MODELS[name], [part[:, order] for part in parts])
    np.testing.assert_allclose(moved.cluster_centers_, plain.cluster_centers_[:, order], atol=1e-5)


@every
def test_weights_count_as_copies(name):
    parts = batches(3)
    rng = np.random.default_rng(1)
    weighted, copied = clone(MODELS[name]), clone(MODELS[name])
    for part in parts:
        weight = rng.integers(0, 3, len(part))
        weighted.partial_fit(part, sample_weight=weight)
        copied.partial_fit(np.repeat(part, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, atol=1e-4)


@every
def test_a_saved_model_goes_on(name, tmp_path):
    parts = batches(4)
    model = stream(MODELS[name], parts[:3])
    again = load_model(model.save(tmp_path / "model.npz"))
    np.testing.assert_array_equal(
        again.partial_fit(parts[3]).cluster_centers_, model.partial_fit(parts[3]).cluster_centers_
    )
    assert again.partition_ == model.partition_


@every
def test_fit_begins_anew(name):
    parts = batches(3)
    model = stream(MODELS[name], parts[:2])
    assert model.fit(parts[2]).partition_ == clone(MODELS[name]).fit(parts[2]).partition_
    assert model.partial_fit(parts[1]).partition_ == clone(MODELS[name]).partial_fit(parts[1]).partition_
    assert clone(MODELS[name]).partial_fit(parts[1]).partition_ == clone(MODELS[name]).fit(parts[1]).partition_


def test_low_kappa_forgets_sooner():
    early, late = batches(6), batches(30, seed=1, centers=CENTERS + 1)
    gaps = [
        np.abs(stream(MODELS["fcm"], [*early, *late], kappa=kappa).cluster_centers_ - (CENTERS + 1)).mean()
        for kappa in (0.55, 1.0)
    ]
    assert gaps[0] < gaps[1]


def test_missing_values():
    parts = [part.copy() for part in batches(4)]
    for part in parts:
        part[::7, 1] = np.nan
    online = stream(EGMM(3, model="VVI", random_state=0), parts)
    at_once = EGMM(3, model="VVI", random_state=0).fit(np.concatenate(parts))
    np.testing.assert_allclose(online.cluster_centers_, at_once.cluster_centers_, atol=0.3)
    whole = stream(EGMM(3, model="EEE", random_state=0), batches(1))
    with pytest.raises(ValueError, match="its first rows had no missing values, but these have some"):
        whole.partial_fit(parts[1])
    with pytest.raises(ValueError, match="contains NaN in 29 of 200 rows"):
        stream(MODELS["ecm"], batches(1)).partial_fit(parts[1])


@every
def test_what_cannot_be_done_is_said_and_changes_nothing(name):
    X = batches(1)[0]
    model, who = clone(MODELS[name]), type(MODELS[name]).__name__
    with pytest.raises(ValueError, match=f"first call of partial_fit of {who} finds the clusters, and 14 rows are too"):
        model.partial_fit(X[:14])
    model.partial_fit(X)
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match=f"X has 2 features, but {who} is expecting 3 features"):
        model.partial_fit(X[:, :2])
    with pytest.raises(ValueError, match=r"'kappa' of partial_fit of \w+ must lie above 0.5 and not above 1. Got 0.5"):
        model.partial_fit(X, kappa=0.5)
    with pytest.raises(ValueError, match=r"'sample_weight' of .* must hold one number for each of 200 rows"):
        model.partial_fit(X, sample_weight=[1.0])
    with pytest.raises(ValueError, match="contains inf"):
        model.partial_fit(np.where(X[0, 0] == X, np.inf, X))
    np.testing.assert_array_equal(model.cluster_centers_, before)
    assert len(model.partial_fit(X[:1]).labels_) == 1  # later batches may have any size


def test_the_number_of_clusters_has_to_be_given():
    with pytest.raises(ValueError, match=r"needs the number of clusters, and n_clusters is 'auto'. Find it by fit"):
        EGMM().partial_fit(batches(1)[0])


def test_names_of_rows_and_columns():
    frame = pd.DataFrame(batches(1)[0], columns=list("abc"), index=[f"r{i}" for i in range(200)])
    model = FCM(3, random_state=0).partial_fit(frame).partial_fit(frame.iloc[:5])
    assert model.partition_.object_names == ("r0", "r1", "r2", "r3", "r4")
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["b", "a", "c"]])
