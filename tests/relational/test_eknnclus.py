"""EkNNclus against outside numbers, its definition, and bad input."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from evidentia import FocalSets, MassFunctions
from evidentia.belief import dempster
from evidentia.datasets import load
from evidentia.methods import CHECKS_THAT_WEIGH
from evidentia.relational import EkNNclus, eknnclus
from evidentia.rows.strange import StrangeRows
from evidentia.solvers.label_sweeps import weight_by_label
from evidentia.solvers.neighbors import nearest


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([60, 50, 40], centers=[[0, 0], [7, 0], [0, 8]], shuffle=False, random_state=3)


@pytest.fixture(scope="module")
def theirs(reference):
    return reference("eknnclus_fourclass")


# -- outside numbers --------------------------------------------------------------------------------------------------


@pytest.mark.needs_data("fourclass")
def test_weights_are_those_of_the_reference(theirs):
    X = np.asarray(load("fourclass").data)
    distance, _ = nearest(X, 60)
    gamma = 1 / np.quantile(distance**2, 0.9)
    assert gamma == pytest.approx(theirs["gamma"], rel=1e-12)
    weight = eknnclus.neighbor_weights(distance, gamma)
    np.testing.assert_allclose(weight[0], theirs["W_first_row"], rtol=1e-10)
    assert weight.sum() == pytest.approx(theirs["W_sum"], rel=1e-8)


@pytest.mark.needs_data("fourclass")
def test_labels_of_the_reference_do_not_move_and_have_its_masses(theirs):
    X = np.asarray(load("fourclass").data)
    distance, neighbor = nearest(X, 60)
    graph = eknnclus._graph(distance, neighbor, theirs["gamma"])
    labels = np.array(theirs["labels"]) - 1
    run = eknnclus.settle(*graph, labels, np.random.RandomState(0), max_iter=5)
    assert (run.state == labels).all()
    assert run.n_iter == 1
    assert run.objective == pytest.approx(theirs["W_sum"] - theirs["same_cluster_sum_W"], rel=1e-6)
    masses = eknnclus.combined_masses(weight_by_label(*graph, labels, 4))
    # columns of the reference: {}, the four clusters, the frame
    np.testing.assert_allclose(masses[:20], np.array(theirs["mass_head"])[:, 1:], atol=1e-12)


@pytest.mark.needs_data("fourclass")
def test_fourclass_ends_like_the_reference(theirs):
    data = load("fourclass")
    model = EkNNclus(n_neighbors=60, random_state=0).fit(data.data)
    assert model.n_clusters_ == theirs["c"]
    assert model.criterion_ <= 1.001 * (theirs["W_sum"] - theirs["same_cluster_sum_W"])
    assert adjusted_rand_score(data.target, model.labels_) >= theirs["ARI"] - 1e-9


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize(("name", "n_clusters", "ari"), [("s2", 15, 0.93), ("d31", 31, 0.94)])
def test_the_number_of_clusters_comes_out(name, n_clusters, ari):
    data = load(name)
    model = EkNNclus(random_state=0).fit(data.data)
    assert model.n_clusters_ == n_clusters
    assert adjusted_rand_score(data.target, model.labels_) > ari


# -- the method -------------------------------------------------------------------------------------------------------


def test_masses_are_dempsters_combination_of_the_neighbors():
    alpha, label = np.array([0.6, 0.3, 0.45, 0.2]), np.array([0, 1, 0, 2])
    frame = FocalSets(3, "simple", empty=False)
    combined = None
    for a, k in zip(alpha, label):
        simple = np.zeros((1, 4))
        simple[0, k], simple[0, 3] = a, 1 - a
        evidence = MassFunctions(simple, frame)
        combined = evidence if combined is None else dempster(combined, evidence)
    support = np.bincount(label, -np.log(1 - alpha), minlength=3)[None]
    ours = eknnclus.combined_masses(support)[0]
    for subset, mass in zip(frame, ours):
        assert mass == pytest.approx(combined.masses[0, combined.focal_sets.index(subset)], rel=1e-12)


def test_the_conflict_never_rises_when_all_others_are_neighbors(blobs):
    model = EkNNclus(12, n_neighbors=149, q=0.05, random_state=0).fit(blobs[0])
    assert (np.diff(model.criterion_trace_) <= 1e-9).all()
    assert model.criterion_trace_[0] > model.criterion_trace_[-1]


def test_no_object_wants_to_move_at_the_end(blobs):
    model = EkNNclus(n_neighbors=39, random_state=0).fit(blobs[0])
    assert adjusted_rand_score(blobs[1], model.labels_) == 1
    assert np.bincount(model.labels_).tolist() == [60, 50, 40]
    np.testing.assert_array_equal(model.partition_.labels(), model.labels_)
    D = cdist(blobs[0], blobs[0])
    crossing = 0.0
    for i in range(150):
        near = np.argsort(D[i])[1:40]
        weight = -np.log(1 - np.exp(-model.gamma_ * D[i, near] ** 2))
        support = np.bincount(model.labels_[near], weight, minlength=3)
        assert support.argmax() == model.labels_[i]
        crossing += support.sum() - support[model.labels_[i]]
    assert model.criterion_ == pytest.approx(crossing, abs=1e-9)


def test_prediction_keeps_the_labels_of_training_rows(blobs):
    model = EkNNclus(n_neighbors=20, random_state=0).fit(blobs[0])
    np.testing.assert_array_equal(model.predict(blobs[0]), model.labels_)
    assert model.predict([[7.2, 0.1], [0.1, 7.9]]).tolist() == [1, 2]
    with pytest.warns(StrangeRows, match="1 of 1 rows"):
        far = model.predict_partition([[1000.0, 1000.0]])
    assert far.masses[0, far.focal_sets.omega_index] > 0.99  # no neighbor near enough to say anything


def test_a_matrix_gives_what_the_table_gives(blobs):
    D = cdist(blobs[0], blobs[0])
    table = EkNNclus(n_neighbors=20, random_state=0).fit(blobs[0])
    matrix = EkNNclus(n_neighbors=20, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(matrix.partition_.masses, table.partition_.masses, atol=1e-12)
    new = np.array([[6.0, 1.0], [1.0, 6.0]])
    np.testing.assert_allclose(
        matrix.predict_partition(cdist(new, blobs[0])).masses, table.predict_partition(new).masses, atol=1e-12
    )


def minkowski(a, b, p):
    return (np.abs(a - b) ** p).sum() ** (1 / p)


@pytest.mark.parametrize(
    ("metric", "params", "power"), [("minkowski", {"p": 3}, 3), (minkowski, {"p": 3}, 3), ("gower", None, 1)]
)
def test_any_dissimilarity_will_do(blobs, metric, params, power):
    X = blobs[0][::3]
    new = np.array([[6.0, 1.0], [1.0, 6.0]])
    scale = np.ptp(X, axis=0) * 2 if metric == "gower" else 1.0
    D, to_old = (cdist(rows / scale, X / scale, "minkowski", p=power) for rows in (X, new))
    model = EkNNclus(n_neighbors=9, metric=metric, metric_params=params, random_state=0).fit(X)
    given = EkNNclus(n_neighbors=9, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(model.partition_.masses, given.partition_.masses, atol=1e-9)
    np.testing.assert_allclose(model.predict_partition(new).masses, given.predict_partition(to_old).masses, atol=1e-9)
    assert model.n_clusters_ == given.n_clusters_ > 1


def test_the_number_that_came_out_is_published_and_the_record_says_so(blobs):
    model = EkNNclus(5, n_neighbors=39, n_init=2, random_state=0).fit(blobs[0])
    assert (model.n_clusters, model.n_clusters_, model.partition_.n_clusters) == (5, 3, 3)
    assert EkNNclus.method.number == ("found",)
    assert model.converged_
    assert model.n_iter_ == len(model.criterion_trace_) - 1


def test_the_same_seed_gives_the_same(blobs):
    one, two = (EkNNclus(n_neighbors=10, n_init=3, random_state=5).fit(blobs[0]) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.criterion_ == one.start_criteria_.min()
    assert len(one.start_criteria_) == 3


def test_a_number_of_clusters_is_an_upper_bound(blobs):
    assert EkNNclus(2, n_neighbors=20, random_state=0).fit(blobs[0]).n_clusters_ <= 2
    single = EkNNclus(1, n_neighbors=20).fit(blobs[0])
    assert single.partition_.masses.tolist() == [[1.0]] * 150
    assert single.criterion_ == 0


def test_copies_are_surest_evidence(blobs):
    X = np.vstack([blobs[0], blobs[0][:5]])
    model = EkNNclus(n_neighbors=20, random_state=0).fit(X)
    assert np.isfinite(model.partition_.masses).all()
    np.testing.assert_array_equal(model.labels_[150:], model.labels_[:5])


# -- bad input --------------------------------------------------------------------------------------------------------


def test_too_many_clusters_are_told_and_not_lost():
    X = np.random.default_rng(0).uniform(size=(1000, 2))
    model = EkNNclus(n_neighbors=4, random_state=0)
    with pytest.raises(ValueError, match=r"EkNNclus found \d+ clusters, and a credal partition has at most 62"):
        model.fit(X)
    assert len(model.labels_) == 1000


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 150}, "'n_neighbors' parameter of EkNNclus must be below the number of objects, 150. Got 150"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter of EkNNclus must be 'auto' or an integer >= 1. Got 0"),
        ({"q": 0}, "'q' parameter of EkNNclus must be a number > 0 and <= 1. Got 0"),
        ({"n_clusters": 63}, "'n_clusters' parameter of EkNNclus must be 'auto' or an integer >= 1 and <= 62. Got 63"),
        ({"metric": "precomputed"}, r"EkNNclus with metric='precomputed' needs a square matrix.*\(150, 2\)"),
    ],
)
def test_bad_parameters_are_named(blobs, params, words):
    with pytest.raises(ValueError, match=words):
        EkNNclus(**params).fit(blobs[0])


def test_a_table_of_copies_is_refused():
    with pytest.raises(ValueError, match="90% of the distances to the 3 nearest neighbors are zero"):
        EkNNclus(n_neighbors=3).fit(np.repeat([[0.0], [1.0]], 10, axis=0))


def test_it_says_when_objects_still_move(blobs):
    with pytest.warns(ConvergenceWarning, match="EkNNclus reached max_iter=1 before it came to rest; raise max_iter"):
        EkNNclus(n_neighbors=20, max_iter=1, random_state=0).fit(blobs[0])


@parametrize_with_checks([EkNNclus()], expected_failed_checks=lambda model: model.method.failing_checks)
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


# These give a table of attributes to an estimator that says it wants a matrix.
OF_ATTRIBUTES = {
    "check_clustering",
    "check_positive_only_tag_during_fit",
    "check_estimators_nan_inf",
    *CHECKS_THAT_WEIGH,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_of_a_matrix():
    names = []
    for estimator, check in estimator_checks_generator(EkNNclus(metric="precomputed")):
        if check.func.__name__ not in OF_ATTRIBUTES:
            check(estimator)
            names.append(check.func.__name__)
    assert "check_nonsquare_error" in names
    assert len(names) > 35


def test_of_several_starts_one_that_kept_its_clusters_is_taken():
    """One cluster for all has no conflict, so the least conflict alone would choose it."""
    three = np.random.default_rng(3).normal(size=(90, 2)) + np.repeat([[0, 0], [5, 0], [0, 5]], 30, axis=0)
    model = EkNNclus(3, n_init=8, random_state=0).fit(three)
    assert model.start_criteria_.min() == 0
    assert model.n_clusters_ == 3
