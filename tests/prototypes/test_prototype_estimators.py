"""The estimators with centers as their users meet them."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from evidentia import (
    BPEC,
    CCM,
    CECM,
    CFCM,
    ECM,
    FCM,
    COPKMeans,
    FocalSets,
    GustafsonKessel,
    NoiseClustering,
    PairwiseConstraints,
)
from evidentia.experimental import BCM
from evidentia.prototypes import _base, ecm
from evidentia.solvers.starts import START_RULES

SETTLED = {"random_state": 0, "n_init": 4, "tol": 1e-13, "max_iter": 2000}
ALL = [
    FCM(3, **SETTLED),
    NoiseClustering(3, **SETTLED),
    GustafsonKessel(3, **SETTLED),
    ECM(3, focal_sets="full", **SETTLED),
    ECM(3, focal_sets="full", adaptive=True, **SETTLED),
]
EVERY = pytest.mark.parametrize("model", ALL, ids=["FCM", "NC", "GK", "ECM", "ECM-adaptive"])


def variant(model, **changed):
    return type(model)(**{**model.get_params(), **changed})


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs([60, 40, 20], centers=[[0, 0, 0], [4, 0, 1], [0, 5, -2]], shuffle=False, random_state=1)
    return X * [1, 2, 0.5]


# -- the methods ------------------------------------------------------------------------------------------------------


def plain_fuzzy(X, V, S, beta, rho, n_updates, adaptive):
    """Fuzzy c-means, with noise (rho) or with Gustafson-Kessel metrics, as their authors write them."""
    p = X.shape[1]

    def degrees():
        sq = np.array([[(x - v) @ s @ (x - v) for v, s in zip(V, S)] for x in X])
        if rho is not None:
            sq = np.hstack([np.full((len(X), 1), rho**2), sq])
        u = np.array(
            [[1 / sum((row[k] / other) ** (1 / (beta - 1)) for other in row) for k in range(len(row))] for row in sq]
        )
        return u, (u**beta * sq).sum()

    F = None
    for _ in range(n_updates):
        share = degrees()[0][:, -len(V) :] ** beta
        V = (share.T @ X) / share.sum(axis=0)[:, None]
        if adaptive:
            F = np.array(
                [sum(g * np.outer(x - v, x - v) for g, x in zip(row, X)) / row.sum() for row, v in zip(share.T, V)]
            )
            S = np.array([np.linalg.det(f) ** (1 / p) * np.linalg.inv(f) for f in F])
    return *degrees(), V, F, S


@pytest.mark.parametrize(("kind", "rho"), [(FCM, None), (NoiseClustering, 2.5), (GustafsonKessel, None)])
def test_each_iteration_is_that_of_the_plain_formulas(blobs, kind, rho):
    start, adaptive, n_updates, beta = blobs[[5, 70, 100]] + 0.1, kind is GustafsonKessel, 7, 1.8
    round_metric = np.diag(1 / blobs.var(axis=0)) * np.prod(blobs.var(axis=0)) ** (1 / 3) if adaptive else np.eye(3)
    U, J, V, F, S = plain_fuzzy(blobs, start, [round_metric] * 3, beta, rho, n_updates, adaptive)
    model = kind(3, beta=beta, init=start, max_iter=n_updates, tol=0, **({"rho": rho} if rho else {}))
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} reached max_iter=7"):
        model.fit(blobs)
    np.testing.assert_allclose(model.partition_.masses, U, atol=1e-6)
    assert model.criterion_ == pytest.approx(J, rel=1e-6)
    np.testing.assert_allclose(model.cluster_centers_, V, atol=1e-6)
    if adaptive:
        np.testing.assert_allclose(model.covariances_, F, rtol=1e-5)
        np.testing.assert_allclose(model.cluster_metrics_, S, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("classical", "focal_sets", "params"),
    [
        (FCM, [{0}, {1}, {2}], {}),
        (NoiseClustering, [set(), {0}, {1}, {2}], {"rho": 3.0}),
        (GustafsonKessel, [{0}, {1}, {2}], {"adaptive": True}),
    ],
)
def test_ecm_contains_the_classical_methods(blobs, classical, focal_sets, params):
    start = blobs[[5, 70, 100]]
    ours = ECM(3, focal_sets=focal_sets, init=start, **params).fit(blobs)
    theirs = classical(3, init=start, **{"rho": 3.0} if "rho" in params else {}).fit(blobs)
    np.testing.assert_array_equal(ours.partition_.masses, theirs.partition_.masses)
    assert ours.focal_sets_ == theirs.focal_sets_


def test_gustafson_kessel_follows_elongated_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 2)) * [4, 0.2] + [0, 1], rng.normal(size=(60, 2)) * [4, 0.2] - [0, 1]])
    truth = np.repeat([0, 1], [80, 60])
    model = GustafsonKessel(2, random_state=0).fit(X)
    assert (model.labels_ == truth).all()
    assert (FCM(2, random_state=0).fit(X).labels_ != truth).mean() > 0.3
    np.testing.assert_allclose(np.linalg.det(model.cluster_metrics_), 1, rtol=1e-6)
    p = X.shape[1]
    for metric, covariance in zip(model.cluster_metrics_, model.covariances_):
        assert covariance[0, 0] > 100 * covariance[1, 1]
        expected = np.linalg.det(covariance) ** (1 / p) * np.linalg.inv(covariance)
        np.testing.assert_allclose(metric, expected, rtol=1e-6, atol=1e-9)


def test_ecm_tells_sure_torn_and_outlying_objects_apart():
    X = np.array([[-1.0, 0], [-1, 0.2], [-0.8, 0], [-1, -0.2], [-1.2, 0], [1.0, 0], [1, 0.2], [0.8, 0], [1, -0.2]])
    X = np.vstack([X, [[0, 0]], [[0, 30]]])
    model = ECM(2, rho=2, random_state=0).fit(X)
    assert model.partition_.lower(0).tolist() == [0, 1, 2, 3, 4]  # the larger group comes first
    assert model.partition_.sets()[9].tolist() == [True, True]
    assert model.partition_.outliers().tolist() == [10]


def test_a_far_outlier_does_not_take_a_cluster():
    X = np.array([[0.0], [1], [2], [10], [11], [90]])  # every k-means solution with two centers puts one on 90
    assert NoiseClustering(2, rho=5, random_state=0).fit(X).cluster_centers_.max() < 12


def test_larger_alpha_leaves_fewer_objects_torn():
    X = load_iris().data
    torn = [
        (ECM(3, alpha=alpha, random_state=0).fit(X).partition_.sets().sum(axis=1) > 1).sum() for alpha in (0.5, 1, 2)
    ]
    assert torn[0] > torn[1] > torn[2]


# -- the distance to the empty set ------------------------------------------------------------------------------------


def test_automatic_rho_is_three_times_the_distance_to_the_nearest_center():
    X = np.array([[0.0], [2.0], [10.0], [12.0], [14.0]])  # k-means: centers 1 and 12, squares 1 1 4 0 4, mean 2
    for init in ("mixed", "k-means", "random", [[1.5], [9.0]]):
        assert ECM(2, init=init, random_state=0).fit(X).rho_ == pytest.approx(3 * np.sqrt(2), rel=1e-6)


def test_automatic_rho_of_the_adaptive_metric_measures_with_that_metric():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)) * [5, 0.1] + [0, 1], rng.normal(size=(100, 2)) * [5, 0.1]])
    model = ECM(2, adaptive=True, random_state=0).fit(X)
    # In the metric of unit volume a cluster with deviations 5 and 0.1 has mean squared distance 2 * 5 * 0.1 = 1.
    assert model.rho_ == pytest.approx(3, rel=0.1)
    assert len(model.partition_.outliers()) < 10


def test_smaller_rho_makes_more_outliers(blobs):
    counts = [len(NoiseClustering(3, rho=rho, random_state=0).fit(blobs).partition_.outliers()) for rho in (0.5, 1, 4)]
    assert counts[0] > counts[1] > counts[2]


# -- what fit publishes -----------------------------------------------------------------------------------------------


@EVERY
def test_prediction_of_the_training_rows_repeats_the_fit(model, blobs):
    for max_iter in (1, 300):
        fitted = variant(model, max_iter=max_iter, n_init=1, tol=1e-6)
        if max_iter == 1:
            with pytest.warns(ConvergenceWarning):
                fitted.fit(blobs)
        else:
            fitted.fit(blobs)
        np.testing.assert_array_equal(fitted.predict_partition(blobs).masses, fitted.partition_.masses)
        np.testing.assert_array_equal(fitted.predict(blobs), fitted.labels_)


@EVERY
def test_what_is_published_hangs_together(model, blobs):
    fitted = variant(model, n_init=4).fit(blobs)
    assert len(fitted.start_criteria_) == 4
    assert fitted.criterion_ == fitted.start_criteria_.min() == fitted.criterion_trace_[-1]
    assert len(fitted.criterion_trace_) == fitted.n_iter_ + 1
    assert (np.diff(fitted.criterion_trace_) <= 1e-12 * fitted.criterion_).all()
    assert fitted.partition_.focal_sets == fitted.focal_sets_
    assert (fitted.rho_ is None) == (fitted.focal_sets_.empty_index is None)


FAMILY = [FCM, NoiseClustering, GustafsonKessel, ECM, CECM, CFCM, CCM, BCM, BPEC, COPKMeans]


@pytest.mark.parametrize("kind", FAMILY)
def test_every_method_tells_how_its_search_went(blobs, kind):
    model = kind(3).fit(blobs)
    assert model.n_clusters_ == 3
    assert model.n_iter_ == len(model.criterion_trace_) - 1 >= 1
    assert model.converged_ is True
    assert len(model.start_criteria_) == model.n_init
    assert model.criterion_ == model.criterion_trace_[-1]
    if kind not in (ECM, BPEC):  # their default family is laid over a first fit
        assert model.criterion_ == model.start_criteria_.min()
    assert kind.method.criterion == "minimized"


@pytest.mark.parametrize("kind", FAMILY[:-2])
def test_what_the_methods_keep_for_themselves_is_what_prediction_needs(blobs, kind):
    links = {"constraints": PairwiseConstraints.from_links([(0, 1)], [(0, 70)])} if kind in (CECM, CFCM) else {}
    model = kind(3, n_init=1, random_state=0).fit(blobs, **links)
    assert {name for name in vars(model) if name.startswith("_")} <= {
        "_solution",
        "_coordinates",
        "_largest",
        "_ranges",
        "_use_rep",
    }


@pytest.mark.parametrize("kind", [kind for kind in FAMILY if kind is not BPEC])
def test_all_know_the_same_start_rules(blobs, kind):
    for rule in START_RULES:
        assert len(kind(2, init=rule, n_init=3, random_state=0).fit(blobs).start_criteria_) == 3
    words = "must be one of 'k-means', 'random', 'mixed' or array of shape"
    with pytest.raises(ValueError, match=f"The 'init' parameter of {kind.__name__} {words}"):
        kind(2, init="best").fit(blobs)


def test_starts_named_k_means_are_all_k_means():
    """A far object takes a center of every k-means solution; only random rows leave it alone."""
    X = np.array([[0.0], [1], [2], [10], [11], [90]])
    found = [NoiseClustering(2, rho=5, init=init, n_init=6, random_state=0).fit(X) for init in ("k-means", "mixed")]
    assert [model.cluster_centers_.max() < 12 for model in found] == [False, True]


def direct_masses(model, X, alpha, beta):
    """Masses from the published attributes alone."""
    metrics = model.cluster_metrics_ if model.cluster_metrics_ is not None else [np.eye(X.shape[1])] * model.n_clusters
    cost = np.empty((len(X), len(model.focal_sets_)))
    for j, subset in enumerate(model.focal_sets_):
        if not subset:
            cost[:, j] = model.rho_**2
            continue
        off = X - model.cluster_centers_[list(subset)].mean(axis=0)
        metric = np.mean([metrics[k] for k in subset], axis=0)
        cost[:, j] = len(subset) ** alpha * np.einsum("ia,ab,ib->i", off, metric, off)
    masses = cost ** (-1 / (beta - 1))
    masses /= masses.sum(axis=1, keepdims=True)
    return masses, (cost * masses**beta).sum()


@EVERY
def test_published_attributes_explain_masses_and_criterion(model, blobs):
    alpha = {"alpha": 1.6} if isinstance(model, ECM) else {}
    fitted = variant(model, beta=2.4, **alpha).fit(blobs)
    masses, criterion = direct_masses(fitted, blobs, alpha.get("alpha", 1), 2.4)
    np.testing.assert_allclose(fitted.partition_.masses, masses, atol=1e-9)
    assert fitted.criterion_ == pytest.approx(criterion, rel=1e-6)


@EVERY
def test_clusters_are_numbered_from_the_largest(model, blobs):
    fitted = variant(model).fit(blobs)
    assert (np.diff(fitted.partition_.pignistic.sum(axis=0)) < 0).all()
    assert np.bincount(fitted.labels_).tolist() == sorted(np.bincount(fitted.labels_).tolist(), reverse=True)
    np.testing.assert_array_equal(fitted.partition_.sort_clusters().masses, fitted.partition_.masses)


def test_weights_count_in_the_size_of_a_cluster(blobs):
    model = FCM(3, random_state=0).fit(blobs, sample_weight=np.repeat([1, 1, 4], [60, 40, 20]))
    assert np.bincount(model.labels_).argmin() == 0


def test_clusters_of_equal_size_are_ordered_by_their_objects():
    X = np.array([[-1.25], [-1], [-0.75], [0.75], [1], [1.25]])
    for seed in range(8):
        assert FCM(2, init="random", **{**SETTLED, "random_state": seed}).fit(X).labels_.tolist() == [0, 0, 0, 1, 1, 1]


@EVERY
def test_another_seed_finds_the_same_clusters_in_the_same_order(model, blobs):
    one, other = (variant(model, random_state=seed).fit(blobs) for seed in (0, 5))
    np.testing.assert_allclose(one.partition_.masses, other.partition_.masses, atol=1e-5)


@EVERY
def test_order_of_the_given_centers_is_kept(model, blobs):
    start, order = blobs[[100, 5, 70]], np.array([2, 0, 1])  # the smallest group first
    one = variant(model, init=start).fit(blobs)
    other = variant(model, init=start[order]).fit(blobs)
    # A criterion that is flat to `tol`, 1e-13, fixes the centers to about its root, in units of the table.
    np.testing.assert_allclose(other.cluster_centers_, one.cluster_centers_[order], rtol=0, atol=1e-6 * blobs.std())
    np.testing.assert_allclose(other.partition_.contour, one.partition_.contour[:, order], atol=1e-6)
    assert np.bincount(one.labels_).argmin() == 0


def test_a_list_of_focal_sets_keeps_its_order_and_its_names(blobs):
    focal_sets = [{1}, {0, 2}, set(), {2}, {0}]
    model = ECM(3, focal_sets=focal_sets, random_state=0).fit(blobs)
    assert model.focal_sets_ == FocalSets(3, focal_sets)
    assert model.pairs_ == [(0, 2)]
    np.testing.assert_array_equal(
        ECM(3, focal_sets=lambda c: FocalSets(c, focal_sets), random_state=0).fit(blobs).partition_.masses,
        model.partition_.masses,
    )


@EVERY
def test_order_of_the_rows_does_not_matter(model, blobs):
    order = np.random.default_rng(0).permutation(len(blobs))
    straight, shuffled = variant(model).fit(blobs), variant(model).fit(blobs[order])
    np.testing.assert_allclose(shuffled.partition_.masses, straight.partition_.masses[order], atol=1e-6)


def test_refitting_forgets_the_other_metric(blobs):
    model = ECM(2, adaptive=True, random_state=0).fit(blobs)
    assert model.cluster_metrics_.shape == (2, 3, 3)
    model.set_params(adaptive=False).fit(blobs)
    assert model.cluster_metrics_ is None
    fresh = ECM(2, random_state=0).fit(blobs)
    np.testing.assert_array_equal(model.partition_.masses, fresh.partition_.masses)


# -- weights ----------------------------------------------------------------------------------------------------------


@EVERY
def test_weight_two_equals_two_copies(model, blobs):
    weight = np.random.default_rng(0).integers(0, 4, len(blobs))
    weighted = variant(model).fit(blobs, sample_weight=weight)
    copies = variant(model).fit(np.repeat(blobs, weight, axis=0))
    np.testing.assert_allclose(weighted.partition_.masses, copies.predict_partition(blobs).masses, atol=1e-6)
    assert weighted.criterion_ == pytest.approx(copies.criterion_, rel=1e-9)
    if weighted.rho_ is not None:
        assert weighted.rho_ == pytest.approx(copies.rho_, rel=1e-6)


# -- tables of every kind ---------------------------------------------------------------------------------------------


@EVERY
def test_units_of_the_table_do_not_matter(model, blobs):
    plain = variant(model).fit(blobs)
    for unit in (1e-8, 1e8):
        scaled = variant(model).fit(blobs * unit + unit * 100)
        np.testing.assert_allclose(scaled.partition_.masses, plain.partition_.masses, atol=1e-6)
        np.testing.assert_allclose(scaled.cluster_centers_, plain.cluster_centers_ * unit + unit * 100, rtol=1e-6)
        assert scaled.criterion_ == pytest.approx(plain.criterion_ * unit**2, rel=1e-6)
        if plain.rho_ is not None:
            assert scaled.rho_ == pytest.approx(plain.rho_ * unit, rel=1e-6)


@pytest.mark.parametrize("model", ALL[2::2], ids=["GK", "ECM"])
def test_units_of_single_columns_do_not_matter_to_an_adaptive_metric(model, blobs):
    units = np.array([1e-6, 1, 1e6])
    exact = variant(model, tol=1e-15)  # guesses amplify rounding errors: both must come to the very end
    plain, scaled = variant(exact).fit(blobs), variant(exact).fit(blobs * units)
    np.testing.assert_allclose(scaled.partition_.masses, plain.partition_.masses, atol=1e-6)
    for found, expected in (
        (scaled.covariances_ / np.outer(units, units), plain.covariances_),
        (scaled.cluster_metrics_ * np.outer(units, units), plain.cluster_metrics_),
    ):
        size = np.sqrt(np.diagonal(expected, axis1=1, axis2=2))  # an entry off the diagonal may be near zero
        apart = (found - expected) / (size[:, :, None] * size[:, None, :])
        np.testing.assert_allclose(apart, 0, atol=1e-6)


def far_out():
    """One column of two groups, and an object so far out that squares have no digits left for the groups."""
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(size=20), 8 + rng.normal(size=20), 3e6][:, None]


@pytest.mark.filterwarnings("ignore:.*(reached max_iter|coincide):UserWarning")
@pytest.mark.parametrize("links", [None, PairwiseConstraints.from_links([(0, 1)], [(2, 25)])], ids=["ECM", "CECM"])
def test_the_metric_of_one_column_is_that_of_all_beside_an_outlier_too(links):
    settings = {"init": [[0.0], [8.0], [3e6]], "rho": 3.0, "max_iter": 3, "tol": 0, "random_state": 0}
    kind, given = (ECM, {}) if links is None else (CECM, {"constraints": links})
    one, other = (kind(3, adaptive=adaptive, **settings).fit(far_out(), **given) for adaptive in (False, True))
    np.testing.assert_allclose(other.partition_.masses, one.partition_.masses, atol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1.0, 100.0])
def test_an_object_that_is_a_center_is_nowhere_else(offset):
    masses = BPEC(2).fit(np.array([[-9.0], [9.97e36]]) + offset * 9.97e36).partition_.masses
    np.testing.assert_allclose(masses.max(axis=1), 1, atol=1e-12)


@EVERY
def test_a_constant_column_changes_nothing(model, blobs):
    plain = variant(model).fit(blobs)
    wider = variant(model).fit(np.c_[blobs, np.full(len(blobs), 7.1)])
    np.testing.assert_allclose(wider.partition_.masses, plain.partition_.masses, atol=1e-6)
    np.testing.assert_allclose(wider.cluster_centers_[:, 3], 7.1, rtol=1e-12)


@EVERY
def test_integers_float32_and_frames_work(model, blobs):
    X = np.round(blobs * 16)
    expected = variant(model).fit(X).partition_.masses
    frame = pd.DataFrame(X, columns=["height", "width", "depth"], index=[f"row{i}" for i in range(len(X))])
    for table in (X.astype(np.int64), X.astype(np.float32), frame, X.tolist()):
        np.testing.assert_allclose(variant(model).fit(table).partition_.masses, expected, rtol=1e-6)
    fitted = variant(model).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["height", "width", "depth"]
    assert fitted.partition_.object_names[:2] == ("row0", "row1")


@EVERY
def test_collinear_columns_and_duplicated_rows_work(model, blobs):
    X = np.repeat(np.c_[blobs, blobs[:, 0] + blobs[:, 1]], 3, axis=0)
    fitted = variant(model, n_init=2).fit(X)
    assert np.isfinite(fitted.cluster_centers_).all()
    np.testing.assert_array_equal(fitted.partition_.masses[0], fitted.partition_.masses[2])


@EVERY
def test_one_cluster(model, blobs):
    fitted = variant(model, n_clusters=1).fit(blobs)
    assert set(fitted.labels_) == {0}
    if fitted.focal_sets_.empty_index is None:
        np.testing.assert_allclose(fitted.cluster_centers_[0], blobs.mean(axis=0), rtol=1e-6)


@EVERY
def test_as_many_clusters_as_objects(model):
    X = np.array([[0.0, 0], [1, 0], [0, 3]])
    fitted = variant(model).fit(X)
    assert sorted(fitted.labels_) == [0, 1, 2]
    assert fitted.partition_.singleton_belief.max(axis=1).min() > 0.99


@pytest.mark.parametrize("init", ["mixed", "k-means", "random"])
def test_fewer_places_than_clusters_are_said_to_coincide(init):
    X = np.repeat([[0.0, 1.0], [3.0, 3.0]], 5, axis=0)
    with pytest.warns(UserWarning, match=r"FCM: the centers of clusters \d and \d coincide"):
        model = FCM(3, init=init, random_state=0).fit(X)
    np.testing.assert_allclose(model.partition_.masses.sum(axis=1), 1)


@pytest.mark.parametrize("model", [ECM, FCM])
def test_many_clusters_in_many_columns_need_a_smaller_fuzzifier_and_the_warning_says_so(model):
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 50, 1500)
    X = rng.normal(size=(1500, 10)) + 3 * rng.normal(size=(50, 10))[classes]
    with pytest.warns(UserWarning, match=r"coincide: the data .* apart, or 'beta' is too large for .*Lower 'beta'"):
        collapsed = model(50, n_init=1, random_state=0).fit(X)
    apart = model(50, beta=1.2, n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(classes, collapsed.labels_) < 0.25 < 0.75 < adjusted_rand_score(classes, apart.labels_)


def test_random_starts_never_begin_two_centers_at_one_place():
    X = np.repeat([[0.0, 1.0], [3.0, 3.0]], [18, 2], axis=0)
    for seed in range(20):
        model = FCM(2, init="random", n_init=1, random_state=seed).fit(X)
        np.testing.assert_allclose(model.cluster_centers_, [[0, 1], [3, 3]], atol=1e-6)


def test_clusters_of_one_center_but_different_shape_do_not_coincide():
    t = np.linspace(-1, 1, 41)[:, None]
    X = np.vstack([t * [1, 0.01], t * [0.01, 1]])
    model = GustafsonKessel(2, init="random", n_init=20, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, 0, atol=1e-4)
    assert model.labels_[0] == model.labels_[40] != model.labels_[41] == model.labels_[81]


# -- mistakes ---------------------------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((10, 2), 4.0), "All rows of X are equal"),
        (np.eye(2), "was asked for n_clusters=3 but X has only n_samples=2 rows"),
        (np.eye(1), "minimum of 2 is required"),
        (np.array([[0, 1], [2, np.nan], [3, 4], [5, 6]]), "contains NaN in 1 of 4 rows"),
        (np.array([[0, 1], [2, np.inf], [3, 4], [5, 6]]), "contains inf in 1 of 4 rows"),
        (pd.DataFrame({"a": [1, 2, 3, 4], "kind": list("xyxy")}), "numeric columns, but these are not: kind"),
    ],
    ids=["equal", "few", "one", "nan", "inf", "text"],
)
def test_unusable_tables_are_explained(model, X, message):
    with pytest.raises(ValueError, match=message):
        variant(model).fit(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "The 'n_clusters' parameter of ECM must be an integer >= 1 and <= 62. Got 0 instead."),
        ({"beta": 1.0}, "The 'beta' parameter of ECM must be a number > 1 and <= 100. Got 1.0 instead."),
        ({"alpha": -1}, "The 'alpha' parameter of ECM must be a number >= 0 and <= 100. Got -1 instead."),
        ({"rho": 0}, "The 'rho' parameter of ECM must be 'auto' or a number > 0. Got 0 instead."),
        ({"rho": "large"}, "The 'rho' parameter of ECM must be 'auto' or a number > 0. Got 'large' instead."),
        ({"adaptive": "mahalanobis"}, "The 'adaptive' parameter of ECM must be a bool. Got 'mahalanobis' instead."),
        (
            {"focal_sets": "triples"},
            "must be one of 'auto', 'full', 'pairs', 'simple', 'singletons', 'near-pairs' or list of subsets, "
            "FocalSets or callable",
        ),
        ({"focal_sets": [{0}]}, "must mention every cluster, but cluster 1 is in none of: {0}."),
        (
            {"init": "best"},
            "The 'init' parameter of ECM must be one of 'k-means', 'random', 'mixed' or array of shape (n_clusters, "
            "n_features). Got 'best' instead.",
        ),
        ({"init": np.zeros((3, 3))}, "of shape (2, 3), one row per cluster. Got an array of shape (3, 3)."),
        ({"n_init": 0}, "The 'n_init' parameter of ECM must be an integer >= 1."),
        ({"max_iter": 2.5}, "The 'max_iter' parameter of ECM must be an integer >= 1."),
        ({"tol": -1}, "The 'tol' parameter of ECM must be a number >= 0."),
    ],
    ids=lambda case: next(iter(case)) if isinstance(case, dict) else "",
)
def test_unusable_parameters_are_explained(blobs, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ECM(**params).fit(blobs)


def test_unusable_weights_are_explained(blobs):
    for weight in (np.ones(3), -np.ones(len(blobs)), np.zeros(len(blobs))):
        with pytest.raises(ValueError, match="'sample_weight' of FCM must"):
            FCM().fit(blobs, sample_weight=weight)
    with pytest.raises(ValueError, match="n_clusters=2 but X has only n_samples=1 rows"):
        FCM().fit(blobs, sample_weight=np.eye(len(blobs))[0])


# -- automatic sets ---------------------------------------------------------------------------------------------------


def chain(spread, n_clusters=7):
    """Clusters on a line, four apart, the larger first."""
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(200 - 20 * k, 2)) * spread + [4 * k, 0] for k in range(n_clusters)]
    return np.concatenate(rows)


def test_automatic_sets_are_pairs_of_neighbors_along_a_chain():
    model = ECM(7, random_state=0).fit(chain(1.0))
    assert model.cluster_centers_[:, 0] == pytest.approx(4 * np.arange(7), abs=0.5)  # sizes fall along the chain
    assert model.pairs_ == [(k, k + 1) for k in range(6)]
    assert len(model.focal_sets_) == 1 + 7 + 6
    between = model.predict_partition([[6.0, 0.0]])
    assert between.sets()[0].tolist() == [False, True, True, False, False, False, False]


@pytest.mark.parametrize("adaptive", [False, True])
def test_clusters_far_apart_share_no_set(adaptive):
    model = ECM(7, adaptive=adaptive, random_state=0).fit(chain(0.3))
    assert model.focal_sets_ == FocalSets(7, "singletons")
    assert model.criterion_ == model.start_criteria_.min()


@pytest.mark.parametrize("adaptive", [False, True])
def test_no_iris_may_be_setosa_or_another_kind(adaptive):
    X, y = load_iris(return_X_y=True)
    model = ECM(3, adaptive=adaptive, random_state=0).fit(X)
    setosa = np.bincount(model.labels_[y == 0]).argmax()
    assert len(model.pairs_) == 1
    assert not model.partition_.sets("mass")[y != 0, setosa].any()
    assert adjusted_rand_score(y, model.labels_) > 0.75  # 0.52 with all sets, of which one takes the place of a kind


@pytest.mark.parametrize("adaptive", [False, True])
def test_automatic_sets_are_laid_over_clusters_that_stay(adaptive):
    X, settings = chain(1.0, 4), {"adaptive": adaptive, "alpha": 1.3, "beta": 1.7, "rho": 5, "random_state": 0}
    model = ECM(4, **settings).fit(X)
    single = ECM(4, focal_sets="singletons", **settings).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, single.cluster_centers_)
    np.testing.assert_array_equal(model.start_criteria_, single.start_criteria_)
    assert model.criterion_ < single.criterion_
    assert (np.diff(model.criterion_trace_) <= 0).all()
    again = ECM(4, focal_sets=model.focal_sets_, init=(single.cluster_centers_, single.covariances_)
                if adaptive else single.cluster_centers_, max_iter=1, tol=1, **settings).fit(X)  # fmt: skip
    assert model.criterion_ == pytest.approx(again.criterion_trace_[0], rel=1e-9)
    np.testing.assert_array_equal(model.predict_partition(X).masses, model.partition_.masses)


def test_automatic_sets_count_weights_as_copies_and_do_not_look_at_outliers():
    X = chain(0.7, 3)
    assert ECM(3, random_state=0).fit(X).pairs_ == []
    between = np.tile([[1.9, 0.0]], (12, 1))
    copies = ECM(3, random_state=0).fit(np.vstack([X, between]))
    weighted = ECM(3, random_state=0).fit(np.vstack([X, between[:1]]), sample_weight=np.append(np.ones(len(X)), 12))
    assert copies.pairs_ == weighted.pairs_ == [(0, 1)]
    far = np.tile([[2.0, 60.0]], (12, 1)) + np.arange(12)[:, None]
    assert ECM(3, rho=3, random_state=0).fit(np.vstack([X, far])).pairs_ == []
    assert ECM(3, rho=1e-9, random_state=0).fit(X).pairs_ == []  # all are outliers


def test_automatic_sets_keep_the_order_of_given_centers(blobs):
    model = ECM(3, init=blobs[[100, 5, 70]]).fit(blobs)
    assert np.bincount(model.labels_).argmin() == 0
    assert len(model.start_criteria_) == 1


# -- patience ---------------------------------------------------------------------------------------------------------


def interrupt_after(monkeypatch, calls):
    """One impatient moment, after some steps; whoever goes on is not interrupted again."""
    step, count = ecm.descent_step, itertools.count()

    def interrupted(*args):
        if next(count) == calls:
            raise KeyboardInterrupt
        return step(*args)

    for module in (_base, ecm):
        monkeypatch.setattr(module, "descent_step", interrupted)


@pytest.mark.parametrize("focal_sets", ["full", "auto"])
def test_an_interrupt_keeps_the_best_solution_so_far(blobs, monkeypatch, focal_sets):
    interrupt_after(monkeypatch, 6)
    with pytest.warns(ConvergenceWarning, match="ECM was interrupted in start 1; the best solution so far is kept"):
        model = ECM(3, focal_sets=focal_sets, rho=2, tol=0, random_state=0).fit(blobs)
    assert model.n_iter_ == 5
    assert len(model.pairs_) == (3 if focal_sets == "full" else 0)  # the search of sets was not begun
    np.testing.assert_array_equal(model.predict_partition(blobs).masses, model.partition_.masses)


@pytest.mark.parametrize(("params", "calls"), [({"rho": 2}, 0), ({"adaptive": True}, 2)])
def test_an_interrupt_before_there_is_anything_to_keep_is_passed_on(blobs, monkeypatch, params, calls):
    interrupt_after(monkeypatch, calls)
    with pytest.raises(KeyboardInterrupt):
        ECM(3, random_state=0, **params).fit(blobs)


def test_progress_is_shown_on_request_only(blobs, capsys):
    FCM(2, random_state=0).fit(blobs)
    assert capsys.readouterr().err == ""
    FCM(2, random_state=0, verbose=1).fit(blobs)
    assert "FCM" in capsys.readouterr().err


@pytest.mark.parametrize("method", [CCM, BCM])
def test_objects_on_centers_cost_nothing_wherever_the_origin_is(method):
    X = np.array([[-1.86e-5, -8.01e7, -1418.2], [-1.85e-5, -8.80e7, -1382.8], [-1.90e-5, -7.71e7, -1452.1]])
    here, there = (method(3, n_init=1, random_state=0).fit(X + offset) for offset in ([0, 0, 0], [0, 3.07951e8, 0]))
    assert there.criterion_ == pytest.approx(here.criterion_, abs=1e-9)
    np.testing.assert_allclose(there.partition_.masses, here.partition_.masses, atol=1e-9)
