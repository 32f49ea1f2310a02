"""The δ–Bel graph against its definition and outside numbers, and BPEC around the peaks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from tests.conftest import REFERENCE

from evidentia.datasets import load
from evidentia.prototypes import BPEC, CCM, ECM, belief_peaks, bpec


def plain_graph(D, n_neighbors, q):
    """Belief and δ as the paper writes them, object by object."""
    n = len(D)
    others = [[j for j in np.argsort(D[i], kind="stable") if j != i][:n_neighbors] for i in range(n)]
    scale = [np.quantile(D[i, others[i]], q) for i in range(n)]
    belief = np.array(
        [1 - np.prod([1 - np.exp(-((D[i, j] / scale[j]) ** 2)) / n_neighbors for j in others[i]]) for i in range(n)]
    )
    delta = np.array([min((D[i, j] for j in range(n) if belief[j] > belief[i]), default=-1) for i in range(n)])
    delta[belief.argmax()] = delta.max()
    return belief, delta


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([60, 50, 40], centers=[[0, 0], [7, 0], [0, 8]], random_state=3)


@pytest.mark.parametrize(("n_neighbors", "q"), [(3, 0.9), (7, 0.3), (20, 1.0)])
def test_the_graph_is_its_definition(blobs, n_neighbors, q):
    X = blobs[0]
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    belief, delta = plain_graph(D, n_neighbors, q)
    for graph in (
        belief_peaks(X, n_neighbors=n_neighbors, q=q),
        belief_peaks(D, n_neighbors=n_neighbors, q=q, metric="precomputed"),
    ):
        np.testing.assert_allclose(graph.belief, belief, rtol=1e-9)
        np.testing.assert_allclose(graph.delta, delta, rtol=1e-9)
        at = np.flatnonzero(graph.parent >= 0)
        np.testing.assert_allclose(graph.delta[at], D[at, graph.parent[at]])
        assert (graph.belief[graph.parent[at]] > graph.belief[at]).all()


@pytest.mark.needs_data("fourclass")
def test_fourclass_matches_the_reference_graph():
    theirs = pd.read_csv(REFERENCE / "belief_peaks_fourclass.csv")
    graph = belief_peaks(load("fourclass").data, n_neighbors=50, q=0.9)
    np.testing.assert_allclose(graph.belief, theirs["BelC"], atol=1e-12)
    np.testing.assert_allclose(graph.delta, theirs["delta"], atol=1e-12)


def test_peaks_are_chosen_by_gap_by_number_or_by_thresholds(blobs):
    X, truth = blobs
    graph = belief_peaks(X, n_neighbors=15)
    peaks = graph.choose()
    assert sorted(truth[peaks]) == [0, 1, 2]
    assert (np.diff(graph.score[peaks]) <= 0).all()
    np.testing.assert_array_equal(graph.choose(3), peaks)
    np.testing.assert_array_equal(graph.choose(5)[:3], peaks)
    drawn = graph.choose(min_belief=0.3, min_delta=3.0)
    assert set(drawn) == set(np.flatnonzero((graph.belief >= 0.3) & (graph.delta >= 3)))
    assert set(peaks) <= set(drawn)


def test_copies_of_a_center_are_not_centers_too(blobs):
    X = np.vstack([blobs[0], np.repeat(blobs[0][:1], 30, axis=0)])
    peaks = belief_peaks(X, n_neighbors=10).choose(3)
    assert len(np.unique(X[peaks], axis=0)) == 3


def test_a_table_of_copies_still_has_finite_numbers():
    graph = belief_peaks(np.repeat([[0.0], [1.0]], 6, axis=0), n_neighbors=3)
    assert np.isfinite(graph.belief).all()
    assert np.isfinite(graph.delta).all()


def test_units_do_not_matter(blobs):
    plain, scaled = (belief_peaks(X, n_neighbors=12) for X in (blobs[0], 1e-6 * blobs[0] + 3))
    np.testing.assert_allclose(scaled.belief, plain.belief, rtol=1e-6)
    np.testing.assert_allclose(scaled.delta, 1e-6 * plain.delta, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_neighbors": 150}, "'n_neighbors' must be 'auto' or a number from 1 to 149. Got 150"),
        ({"n_neighbors": "many"}, "'n_neighbors' must be 'auto' or a number from 1 to 149. Got 'many'"),
        ({"q": 0.0}, "'q' must be a quantile above 0 and at most 1. Got 0.0"),
        ({"metric": "precomputed"}, r"belief_peaks with metric='precomputed' needs a square matrix.*\(150, 2\)"),
    ],
)
def test_bad_arguments_are_named(blobs, arguments, words):
    with pytest.raises(ValueError, match=words):
        belief_peaks(blobs[0], **arguments)


def test_bad_choices_are_named(blobs):
    graph = belief_peaks(blobs[0])
    with pytest.raises(ValueError, match=r"at least min_belief=0.99 and a delta of at least min_delta=-inf; .* Lower"):
        graph.choose(min_belief=0.99)
    with pytest.raises(ValueError, match=r"'n_clusters' must be 'auto' or a number from 1 to 150. Got 'some'"):
        graph.choose("some")
    with pytest.raises(ValueError, match="must be a table of finite numbers"):
        belief_peaks([[0.0], [np.nan]])


# -- BPEC -------------------------------------------------------------------------------------------------------------


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize(
    ("name", "n_clusters", "ari"), [("fourclass", 4, 0.73), ("s2", 15, 0.93), ("s4", 15, 0.64), ("d31", 31, 0.94)]
)
def test_the_clusters_of_the_papers_data_and_their_number_are_found(name, n_clusters, ari):
    data = load(name)
    assert len(belief_peaks(data.data).choose()) == n_clusters
    model = BPEC().fit(data.data)
    assert adjusted_rand_score(data.target, model.labels_) > ari
    assert (np.diff(model.criterion_trace_) <= 1e-12 * model.criterion_).all()


def test_centers_stay_at_the_peaks(blobs):
    model = BPEC().fit(blobs[0])
    np.testing.assert_allclose(model.cluster_centers_, blobs[0][model.peaks_], atol=1e-12)
    assert set(model.peaks_) == set(model.graph_.choose())
    size = model.partition_.pignistic.sum(axis=0)
    assert (np.diff(size) <= 0).all()


def test_the_masses_are_those_of_evidential_c_means_at_the_peaks(blobs):
    X, model = blobs[0], BPEC(adaptive=False, focal_sets="full", alpha=1.5, beta=1.7, rho=4.0).fit(blobs[0])
    cost = np.empty((len(X), 8))
    for j, subset in enumerate(model.focal_sets_):
        middle = model.cluster_centers_[list(subset)].mean(axis=0) if subset else None
        cost[:, j] = 16.0 if middle is None else len(subset) ** 1.5 * np.square(X - middle).sum(axis=1)
    masses = np.maximum(cost, 1e-300) ** (-1 / 0.7)
    masses /= masses.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-9)
    assert model.criterion_ == pytest.approx((cost * masses**1.7).sum(), rel=1e-9)


def test_the_adaptive_metric_is_at_its_optimum_around_fixed_centers(blobs):
    X, model = blobs[0] * [3, 1], BPEC(focal_sets="simple", tol=1e-14, max_iter=2000).fit(blobs[0] * [3, 1])
    share = model.partition_.masses[:, model.focal_sets_.singleton_index] ** 2
    frame = model.partition_.masses[:, model.focal_sets_.omega_index] ** 2
    for k, center in enumerate(model.cluster_centers_):
        off, far = X - center, X - model.cluster_centers_.mean(axis=0)
        scatter = (share[:, k, None] * off).T @ off + 3 / 3 * (frame[:, None] * far).T @ far
        expected = np.sqrt(np.linalg.det(scatter)) * np.linalg.inv(scatter)
        np.testing.assert_allclose(model.cluster_metrics_[k], expected, rtol=1e-4)


def test_peaks_may_be_given_or_cut_by_thresholds(blobs):
    X = blobs[0]
    graph = belief_peaks(X)
    given = BPEC(peaks=graph.choose(2)).fit(X)
    assert given.n_clusters_ == 2
    np.testing.assert_array_equal(BPEC(2).fit(X).partition_.masses, given.partition_.masses)
    low = graph.score[graph.choose(3)].min()
    cut = BPEC(min_delta=float(np.sort(graph.delta)[-3]), min_belief=0.2).fit(X)
    assert cut.n_clusters_ == 3
    assert low > 0


def test_prediction_of_the_training_rows_repeats_the_fit(blobs):
    model = BPEC().fit(blobs[0])
    np.testing.assert_array_equal(model.predict_partition(blobs[0]).masses, model.partition_.masses)


def test_evidential_and_credal_c_means_start_at_the_peaks():
    grid = 6 * np.stack(np.meshgrid(range(6), range(5)), axis=-1).reshape(-1, 2)
    X, y = make_blobs(3000, centers=grid + np.random.default_rng(0).uniform(-1, 1, (30, 2)), random_state=0)
    start = X[belief_peaks(X).choose()]
    assert len(start) == 30
    for model in (ECM(30, focal_sets="simple", init=start), CCM(30, focal_sets="simple", init=start)):
        assert adjusted_rand_score(y, model.fit(X).labels_) > 0.94


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_clusters": 0}, "'n_clusters' parameter of BPEC must be an integer >= 1 and <= 62 or 'auto'. Got 0"),
        (
            {"n_neighbors": 150},
            "'n_neighbors' parameter of BPEC must be 'auto' or at most 149, the number of other objects. Got 150",
        ),
        ({"q": 1.5}, "'q' parameter of BPEC must be a number > 0 and <= 1. Got 1.5"),
        ({"peaks": [0, 400]}, "'peaks' parameter of BPEC must list objects by number, 0 to 149"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter of BPEC must be an integer >= 1 or 'auto'. Got 0"),
        ({"min_delta": "far"}, "'min_delta' parameter of BPEC must be a number or None. Got 'far'"),
        ({"adaptive": "mahalanobis"}, "'adaptive' parameter of BPEC must be a bool. Got 'mahalanobis'"),
        ({"beta": 1.0}, "'beta' parameter of BPEC must be a number > 1 and <= 100. Got 1.0"),
    ],
)
def test_bad_parameters_of_bpec_are_named(blobs, params, words):
    with pytest.raises(ValueError, match=words):
        BPEC(**params).fit(blobs[0])


def test_bpec_is_a_class_of_its_own_under_its_own_name():
    for name, thing in vars(bpec).items():
        assert not isinstance(thing, type) or thing.__name__ == name
    assert not isinstance(BPEC(), ECM)
    assert {"init", "n_init", "random_state"}.isdisjoint(BPEC.parameters)


@pytest.mark.parametrize("n_clusters", [2, "auto"])
def test_a_fit_leaves_the_parameters_as_they_were(blobs, n_clusters):
    model = BPEC(n_clusters)
    model.fit(blobs[0])
    assert model.get_params() == BPEC(n_clusters).get_params()


def test_bpec_says_when_it_did_not_converge(blobs):
    with pytest.warns(ConvergenceWarning, match="BPEC reached max_iter=1"):
        BPEC(max_iter=1, rho=5.0).fit(blobs[0] * [4, 1])


# -- many columns -----------------------------------------------------------------------------------------------------


def groups_in_many_columns(n, p, seed=5):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, p)) * rng.uniform(0.3, 40, p) + rng.uniform(-5, 5, p)
    table[: n // 3] += 8 * table.std(axis=0) * rng.standard_normal(p)
    table[-n // 4 :] -= 6 * table.std(axis=0) * rng.standard_normal(p)
    return table


@pytest.mark.filterwarnings("ignore:BPEC reached max_iter", "ignore:.*rows lie far outside the range")
@pytest.mark.parametrize(("n", "p"), [(90, 17), (41, 40), (40, 40), (26, 40)])
@pytest.mark.parametrize("focal_sets", ["full", "near-pairs"])
def test_many_columns_by_clusters_are_what_products_of_columns_give(monkeypatch, n, p, focal_sets):
    X = groups_in_many_columns(n, p)
    X[:, 3] = 7.5  # a column without spread has no part in it
    beside = X[:12] + 1e-4 * X.std(axis=0) * np.random.default_rng(7).standard_normal((12, p))  # out of the span too
    new = np.vstack([groups_in_many_columns(15, p, seed=6), beside])
    settings = {"n_clusters": 3, "focal_sets": focal_sets, "alpha": 1.4, "beta": 1.8, "max_iter": 3, "tol": 0}
    found = []
    for wide in (2, 1000):
        monkeypatch.setattr(bpec, "WIDE", wide)
        found.append(BPEC(**settings).fit(X))
    fast, slow = found
    assert fast.criterion_ == pytest.approx(slow.criterion_, rel=1e-6)
    assert fast.rho_ == pytest.approx(slow.rho_, rel=1e-6)
    np.testing.assert_allclose(fast.partition_.masses, slow.partition_.masses, atol=1e-6)
    np.testing.assert_allclose(fast.predict_partition(new).masses, slow.predict_partition(new).masses, atol=1e-6)
    np.testing.assert_array_equal(fast.peaks_, slow.peaks_)
    np.testing.assert_allclose(fast.cluster_centers_, slow.cluster_centers_, rtol=1e-9)
    for name in ("covariances_", "cluster_metrics_"):
        ours, theirs = getattr(fast, name), getattr(slow, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


def test_in_many_columns_the_metric_has_determinant_one_and_the_fitted_rows_keep_their_masses():
    X = groups_in_many_columns(30, 60)
    model = BPEC(3).fit(X)
    np.testing.assert_allclose(np.linalg.slogdet(model.cluster_metrics_)[1], 0, atol=1e-4)
    np.testing.assert_allclose(model.predict_partition(X).masses, model.partition_.masses, atol=1e-12)
    assert (np.diff(model.criterion_trace_) <= 1e-9 * model.criterion_).all()
