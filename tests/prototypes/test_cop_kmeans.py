"""COP-KMEANS: it breaks no link, and says so when it cannot do without."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from evidentia.app.images import segment
from evidentia.constraints import ContradictoryLinks, PairwiseConstraints
from evidentia.prototypes import COPKMeans, UnsatisfiedLinks
from evidentia.prototypes.cop_kmeans import assign, make_groups


@pytest.fixture(scope="module")
def blobs():
    X, truth = make_blobs([30, 20, 10], centers=[[0, 0], [4, 0], [0, 5]], shuffle=False, random_state=1)
    return X * [1, 2], truth


def test_without_links_it_is_k_means(blobs):
    X, _ = blobs
    start = X[[0, 35, 55]]
    model = COPKMeans(3, init=start).fit(X)
    twin = KMeans(3, init=start, n_init=1, tol=0).fit(X)
    np.testing.assert_array_equal(model.labels_, twin.labels_)
    np.testing.assert_allclose(model.cluster_centers_, twin.cluster_centers_)
    assert model.criterion_ == pytest.approx(twin.inertia_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("seed", range(5))
def test_no_link_is_broken(seed):
    X, truth = load_iris(return_X_y=True)
    links = PairwiseConstraints.sample(truth, 30, random_state=seed)
    model = COPKMeans(3, random_state=seed).fit(X, constraints=links)
    assert links.violations(model.partition_)["plausibility"].max() == 0
    assert model.n_failed_ == np.isinf(model.start_criteria_).sum()
    inertia = sum(((X[model.labels_ == k] - X[model.labels_ == k].mean(axis=0)) ** 2).sum() for k in range(3))
    assert model.criterion_ == pytest.approx(inertia, rel=1e-9)
    assert model.criterion_ == model.start_criteria_.min()


def test_links_help(blobs):
    X, truth = blobs
    links = PairwiseConstraints.from_labels(np.where(np.arange(60) % 3, -1, truth), links="spanning")
    assert rand_score(truth, COPKMeans(3, random_state=0).fit(X, constraints=links).labels_) > 0.97


def test_groups_are_apart_when_some_of_their_objects_are():
    rng = np.random.default_rng(0)
    drawn = PairwiseConstraints.sample(rng.integers(4, size=60), 60, random_state=0)
    groups = make_groups(rng.normal(size=(60, 2)), np.ones(60), drawn)
    apart = {}
    for i, j in drawn.cannot_link.tolist():
        for a, b in ((groups.of[i], groups.of[j]), (groups.of[j], groups.of[i])):
            apart.setdefault(a, set()).add(b)
    assert {a: sorted(others.tolist()) for a, others in groups.apart.items()} == {
        a: sorted(others) for a, others in apart.items()
    }
    assert make_groups(np.zeros((3, 1)), np.ones(3), drawn.take([])).apart == {}


def test_objects_choose_in_order_and_take_what_is_left():
    X = np.array([[0.0], [0.1], [0.2], [9.0]])
    links = PairwiseConstraints.from_links([(3, 2)], [(0, 1), (1, 3)])
    groups = make_groups(X, np.ones(4), links)
    at = {name: groups.of[name] for name in range(4)}
    assert groups.mean[at[3]] == pytest.approx([4.6])
    assert groups.weight[at[3]] == 2
    chosen, stuck = assign(groups, np.array([[0.0], [5.0], [20.0]]), np.array([at[0], at[1], at[3]]))
    assert stuck is None
    assert [chosen[at[k]] for k in range(4)] == [0, 1, 0, 0]  # 1 may not be with 0, and 3 not with 1
    chosen, stuck = assign(groups, np.array([[0.0], [5.0]]), np.array([at[0], at[3], at[1]]))
    assert stuck == at[1]  # 0 has taken the first cluster and 3 the second


def test_failure_is_raised_and_names_the_links():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    links = PairwiseConstraints.from_links([(0, 3)], [(3, 1), (1, 2), (2, 0)])  # three groups apart, two clusters
    with pytest.raises(UnsatisfiedLinks, match="COPKMeans failed from all 10 starts: no cluster was left") as caught:
        COPKMeans(2, random_state=0).fit(X, constraints=links)
    assert set(caught.value.links) <= {(3, 1), (1, 2), (2, 0)}
    assert len(caught.value.links) == 2
    assert str(caught.value.links[0]) in str(caught.value)
    assert isinstance(caught.value, ValueError)
    model = COPKMeans(3, random_state=0).fit(X, constraints=links)
    assert model.n_failed_ < 10
    assert model.labels_[0] == model.labels_[3]


def test_starts_that_fail_are_counted():
    X = np.array([[0.0], [6.0], [1.0], [7.0]])  # from centers at 0 and 1, objects 0 and 2 leave no cluster for 1
    links = PairwiseConstraints.from_links([], [(0, 1), (1, 2), (2, 3)])
    model = COPKMeans(2, n_init=30, init="random", random_state=0).fit(X, constraints=links)
    assert 0 < model.n_failed_ < 30
    assert links.violations(model.partition_)["belief"].max() == 0


def test_contradictory_links_are_refused_even_when_soft(blobs):
    links = PairwiseConstraints.from_links([(0, 1, 0.5), (1, 2)], [(0, 2)])
    with pytest.raises(ContradictoryLinks, match="0 = 1 = 2"):
        COPKMeans(3).fit(blobs[0], constraints=links)


def test_an_early_end_is_said_aloud(blobs):
    X, _ = blobs
    with pytest.warns(ConvergenceWarning, match="COPKMeans reached max_iter=1"):
        model = COPKMeans(3, max_iter=1, n_init=1, random_state=0, init="random").fit(X)
    assert not model.converged_
    assert COPKMeans(3, random_state=0).fit(X).converged_


@pytest.mark.filterwarnings("ignore:.*reached max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_after_an_early_end_labels_are_those_of_the_centers(blobs, max_iter):
    X, _ = blobs
    start = X[[0, 1, 2]]
    model = COPKMeans(3, init=start, n_init=1, max_iter=max_iter).fit(X)
    twin = KMeans(3, init=start, n_init=1, tol=0, max_iter=max_iter).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, twin.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, twin.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.criterion_ == pytest.approx(twin.inertia_)


def test_going_round_in_circles_is_said_aloud():
    X = np.array([[0.0], [0.1], [10.0], [10.1]])
    links = PairwiseConstraints.from_links([], [(0, 1), (1, 2), (2, 3)])
    with pytest.warns(ConvergenceWarning, match="they may go round in circles"):
        model = COPKMeans(2, n_init=1, random_state=1).fit(X, constraints=links)
    assert not model.converged_
    assert links.violations(model.partition_)["belief"].max() == 0
    assert COPKMeans(2, n_init=30, random_state=1).fit(X, constraints=links).converged_  # by another start


def test_a_start_ends_when_no_object_moves_and_its_trace_is_kept(blobs):
    X, _ = blobs
    model = COPKMeans(3, init=X[[0, 1, 2]], n_init=1).fit(X)
    assert model.n_iter_ == len(model.criterion_trace_) - 1 > 2
    assert model.criterion_trace_[-1] == model.criterion_ == model.start_criteria_[0]
    assert (np.diff(model.criterion_trace_) < 0).all()
    assert "tol" not in COPKMeans.parameters


def test_centers_that_equal_their_objects_stay():
    X = np.repeat([[0.1, 0.7], [0.3, 0.9]], [3, 7], axis=0)  # three times 0.1 over three is not 0.1
    model = COPKMeans(2, init=X[[0, 3]], n_init=1).fit(X)
    np.testing.assert_array_equal(model.criterion_trace_, 0)
    np.testing.assert_array_equal(model.cluster_centers_, X[[0, 3]])


def test_progress_is_shown_on_request_only(blobs, capsys):
    COPKMeans(3, random_state=0).fit(blobs[0])
    assert capsys.readouterr().err == ""
    COPKMeans(3, random_state=0, verbose=1).fit(blobs[0])
    assert "COPKMeans" in capsys.readouterr().err


def test_it_segments_images():
    image = np.random.default_rng(0).normal(size=(12, 10)) + np.where(np.arange(10) < 4, 0, 20)
    labels = segment(image, COPKMeans(2, random_state=0), random_state=0).labels()
    assert (labels[:, :4] == labels[0, 0]).all()
    assert (labels[:, 4:] == 1 - labels[0, 0]).all()


def test_weight_two_equals_two_copies(blobs):
    X, _ = blobs
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    start = X[[0, 35, 55]]
    weighted = COPKMeans(3, init=start).fit(X, sample_weight=weight)
    copies = COPKMeans(3, init=start).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, copies.cluster_centers_)
    assert weighted.criterion_ == pytest.approx(copies.criterion_)


def test_rounding_in_a_constant_column_does_not_outweigh_small_values(blobs):
    X, _ = blobs
    tiny = np.c_[1e-20 * X, np.full(len(X), 0.1)]
    one, other = (COPKMeans(3, init=table[[0, 35, 55]], n_init=1).fit(table) for table in (X, tiny))
    np.testing.assert_array_equal(other.labels_, one.labels_)
    np.testing.assert_allclose(other.cluster_centers_[:, :-1], 1e-20 * one.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(other.cluster_centers_[:, -1], 0.1)


def test_clusters_are_numbered_from_the_largest(blobs):
    sizes = np.bincount(COPKMeans(3, random_state=3).fit(blobs[0]).labels_)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)


def test_a_pipeline_routes_the_links(blobs):
    X, truth = blobs
    links = PairwiseConstraints.sample(truth, 10, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), COPKMeans(3, random_state=0).set_fit_request(constraints=True))
        assert len(pipe.fit(X, constraints=links)[-1].constraints_) == 10


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of COPKMeans"),
        ({"init": "best"}, "must be one of 'k-means', 'random', 'mixed' or array of shape (n_clusters, n_features)"),
        (
            {"init": np.zeros((2, 2))},
            "must be 'k-means', 'random', 'mixed' or an array of finite centers of shape (3, 2)",
        ),
    ],
)
def test_wrong_parameters_are_explained(blobs, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        COPKMeans(**{"n_clusters": 3, **params}).fit(blobs[0])


@parametrize_with_checks([COPKMeans()])
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None
