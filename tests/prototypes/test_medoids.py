"""SECMdd, WECMdd and MECM against brute force."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from evidentia import FocalSets
from evidentia.prototypes import MECM, SECMdd, WECMdd
from evidentia.prototypes import _medoid_base as base
from evidentia.prototypes.medoids import set_medoids

KINDS = [SECMdd, WECMdd, MECM]
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 25, 20], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)


def plain_to_set(kind, model, D, subset):
    """Dissimilarity of every object to one set, as the docstrings write it, from what the model publishes."""
    v = model.medoid_indices_[list(subset)]
    if kind is WECMdd:
        weights = model.weights_[list(subset)]
        single = np.array(
            [[sum(w[j] ** model.psi * D[i, j] for j in range(len(D))) for i in range(len(D))] for w in weights]
        )
        if len(subset) == 1:
            return single[0]
        shared = weights.min(axis=0) / weights.min(axis=0).sum()
        own = np.array([sum(shared[j] ** model.psi * D[i, j] for j in range(len(D))) for i in range(len(D))])
        return (own + model.xi * single.mean(axis=0)) / (1 + model.xi)
    tau = D[:, v]
    if len(subset) == 1:
        return tau[:, 0]
    if kind is SECMdd:
        own = (tau.std(axis=1) + model.eta * tau.mean(axis=1)).argmin()
        return (D[:, own] + model.gamma * tau.mean(axis=1)) / (1 + model.gamma)
    gaps = sum(np.abs(tau[:, a] - tau[:, b]) for a, b in itertools.combinations(range(len(v)), 2))
    uneven = gaps / (model.eta * tau.sum(axis=1))
    return (model.gamma * tau.mean(axis=1) + uneven * tau.min(axis=1)) / (model.gamma + 1)


UNNEUTRAL = {
    SECMdd: {"eta": 0.7, "gamma": 0.6},
    WECMdd: {"psi": 1.2, "xi": 2.0},
    MECM: {"eta": 1.6, "gamma": 0.6},
}


@EVERY
def test_masses_and_criterion_are_those_of_the_plain_formulas(blobs, kind):
    D = cdist(blobs[0], blobs[0])
    model = kind(3, focal_sets="full", alpha=0.8, beta=1.7, rho=0.9, random_state=0, **UNNEUTRAL[kind]).fit(blobs[0])
    cost = np.full((len(D), 8), 0.9)
    for j, subset in enumerate(model.focal_sets_):
        if subset:
            cost[:, j] = len(subset) ** 0.8 * plain_to_set(kind, model, D, sorted(subset))
    masses = np.maximum(cost, 1e-150) ** (-1 / 0.7)
    masses /= masses.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-8)
    assert model.criterion_ == pytest.approx((cost * masses**1.7).sum(), rel=1e-8)


def test_a_medoid_of_mecm_is_the_best_of_all_objects(blobs):
    D = cdist(blobs[0], blobs[0])
    model = MECM(3, focal_sets="full", alpha=0.8, beta=1.7, rho=20.0, random_state=0, **UNNEUTRAL[MECM]).fit(blobs[0])
    powered = model.partition_.masses**1.7

    def J(medoids):
        model.medoid_indices_ = np.array(medoids)
        return sum(
            len(subset) ** 0.8 * plain_to_set(MECM, model, D, sorted(subset)) @ powered[:, j]
            for j, subset in enumerate(model.focal_sets_)
            if subset
        )

    found = model.medoid_indices_.tolist()
    for k in range(3):
        others = [[*found[:k], i, *found[k + 1 :]] for i in range(len(D)) if i not in found]
        assert J(found) <= min(J(other) for other in others) + 1e-9


@pytest.mark.parametrize("kind", [SECMdd, MECM])
def test_moved_medoids_minimise_the_part_of_the_criterion_that_holds_them(blobs, kind):
    X = blobs[0][::4]
    D, focal_sets, rng = cdist(X, X), FocalSets(3), np.random.default_rng(5)
    model = kind(3, alpha=2.5, **{**UNNEUTRAL[kind], "gamma": 0.05})
    # single clusters pull to one end and sets to the other, so that the weights of both matter
    powered = rng.uniform(size=(8, len(D))) * np.exp(-D[np.where(focal_sets.card > 1, 18, 2)])
    here = model._placed(np.array([0, 8, 16]), D, focal_sets)

    def part(medoids):
        representatives = np.append(medoids, here[3:]).astype(int)  # those of sets stay while a medoid moves
        cost = model._to_sets(D, representatives, focal_sets) * focal_sets.card[:, None] ** 2.5
        return (cost * powered)[1:].sum()

    expected = [0, 8, 16]
    for k in range(3):
        taken = expected[:k] if kind is SECMdd else expected[:k] + expected[k + 1 :]
        base_of = [0, 8, 16] if kind is SECMdd else expected
        costs = [part([*base_of[:k], i, *base_of[k + 1 :]]) if i not in taken else np.inf for i in range(len(D))]
        expected[k] = int(np.argmin(costs))
    found = model._medoids(model._moved(D, base.Position(here, powered, 0.0), focal_sets))
    assert found.tolist() == expected != [0, 8, 16]


def test_weights_of_wecmdd_are_at_their_optimum_for_single_clusters(blobs):
    D = cdist(blobs[0], blobs[0])
    model = WECMdd(3, focal_sets="simple", psi=1.3, beta=1.7, tol=1e-15, max_iter=3000, random_state=0)
    model.set_params(focal_sets=[{0}, {1}, {2}]).fit(blobs[0])
    pulled = (model.partition_.masses**1.7).T @ D
    slope = 1.3 * model.weights_**0.3 * pulled  # of J in the weights: the same for all objects of a cluster
    np.testing.assert_allclose(slope, slope[:, :1] * np.ones(len(D)), rtol=1e-4)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1)


@EVERY
def test_clear_clusters_are_found_and_nothing_rises(blobs, kind):
    model = kind(3, random_state=0).fit(blobs[0])
    assert adjusted_rand_score(blobs[1], model.labels_) == 1
    assert (np.diff(model.criterion_trace_) <= 0).all()
    assert model.criterion_ == model.start_criteria_.min() == model.criterion_trace_[-1]
    assert (np.diff(model.partition_.pignistic.sum(axis=0)) <= 0).all()
    assert sorted(blobs[1][model.medoid_indices_]) == [0, 1, 2]


@EVERY
def test_a_matrix_gives_what_the_table_gives(blobs, kind):
    D = cdist(blobs[0], blobs[0])
    table, matrix = kind(3, random_state=0).fit(blobs[0]), kind(3, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(matrix.partition_.masses, table.partition_.masses)
    np.testing.assert_allclose(matrix.predict_partition(D[:5]).masses, table.partition_.masses[:5], atol=1e-12)
    np.testing.assert_allclose(table.predict_partition(blobs[0]).masses, table.partition_.masses, atol=1e-12)


@EVERY
def test_the_same_seed_gives_the_same_and_units_do_not_matter(blobs, kind):
    first, again, scaled = (kind(3, random_state=4).fit(X) for X in (blobs[0], blobs[0], 1000 * blobs[0]))
    np.testing.assert_array_equal(first.partition_.masses, again.partition_.masses)
    np.testing.assert_allclose(scaled.partition_.masses, first.partition_.masses, atol=1e-6)


@EVERY
def test_given_medoids_keep_their_order(blobs, kind):
    model = kind(3, init=[70, 40, 5]).fit(blobs[0])
    assert blobs[1][model.medoid_indices_].tolist() == [2, 1, 0]


@EVERY
def test_copies_of_few_objects_still_make_valid_masses(kind):
    X = np.repeat([[0.0], [1.0], [5.0]], [5, 4, 3], axis=0)
    model = kind(3, random_state=0).fit(X)
    np.testing.assert_allclose(model.partition_.masses.sum(axis=1), 1, atol=1e-12)
    assert len(set(model.labels_)) == 3


def test_an_object_between_two_medoids_is_torn():
    X = np.array([[-4.0], [-3], [-2], [0], [2], [3], [4]])
    assert SECMdd(2, random_state=0).fit(X).partition_.sets()[3].all()


def test_far_objects_are_outliers(blobs):
    X = np.vstack([blobs[0], [[60.0, 60.0]]])
    assert SECMdd(3, rho=8.0, random_state=0).fit(X).partition_.outliers().tolist() == [75]


def test_set_medoids_are_near_and_even():
    to_medoids = np.array([[0.0, 6.0], [6.0, 0.0], [3.0, 3.0], [2.0, 3.0], [9.0, 9.0]])
    # deviation + eta * mean of the rows: 3 + 3 eta, 3 + 3 eta, 0 + 3 eta, 0.5 + 2.5 eta, 0 + 9 eta
    assert set_medoids(to_medoids, FocalSets(2, [{0, 1}]), eta=2.0).tolist() == [3]
    assert set_medoids(to_medoids, FocalSets(2, [{0, 1}]), eta=0.1).tolist() == [2]


def test_weighted_medoids_say_when_clusters_coincide(blobs):
    with pytest.warns(UserWarning, match="clusters 0 and 1 are represented by the same weights"):
        WECMdd(3, psi=3.0, random_state=0).fit(blobs[0])


@EVERY
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda D: D[:, :-1], r"needs a square matrix of dissimilarities. Got shape \(75, 74\)"),
        (lambda D: D + np.triu(np.full_like(D, 0.5), 1), r"entries \[0, \d+\] = .* differ by 0.5. .* average them"),
        (lambda D: D - 0.1, r"not negative, but entry \[0, 0\] = -0.1"),
        (lambda D: D + 0.25, r"zeros on the diagonal .* entry \[0, 0\] = 0.25"),
        (lambda D: np.ones_like(D) - np.eye(len(D)), "All dissimilarities equal 1"),
        (lambda D: np.where(D.max() == D, np.nan, D), "Input X contains NaN"),
    ],
)
def test_bad_matrices_are_refused_in_words(blobs, kind, spoil, words):
    with pytest.raises(ValueError, match=words):
        kind(3, metric="precomputed").fit(spoil(cdist(blobs[0], blobs[0])))


@EVERY
def test_bad_parameters_are_named(blobs, kind):
    who = kind.__name__
    for params, words in [
        ({"init": [0, 0, 1]}, f"'init' parameter of {who} must be 'spread' or 3 different objects by number, 0 to 74"),
        ({"init": "best"}, f"'init' parameter of {who} must be one of 'spread'. Got 'best'"),
        ({"rho": 0}, f"'rho' parameter of {who} must be a number > 0. Got 0"),
        ({"focal_sets": "triples"}, f"'focal_sets' parameter of {who} must be one of"),
        ({"n_clusters": 80}, "'n_clusters' parameter of .* must be an integer >= 1 and <= 62. Got 80"),
    ]:
        with pytest.raises(ValueError, match=words):
            kind(**{"n_clusters": 3, **params}).fit(blobs[0])


@EVERY
def test_a_table_too_large_for_all_pairs_is_refused_with_advice(blobs, kind, monkeypatch):
    monkeypatch.setattr(base, "LARGEST", 1000)
    with pytest.raises(MemoryError, match=f"{kind.__name__} compares all pairs of objects, which for 75 of them"):
        kind(3).fit(blobs[0])


@parametrize_with_checks([SECMdd(), WECMdd(), MECM()])
@pytest.mark.filterwarnings("ignore:WECMdd. clusters")  # the checks fit noise
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


# These give a table of attributes to an estimator that says it wants a matrix.
OF_ATTRIBUTES = {"check_clustering", "check_positive_only_tag_during_fit", "check_estimators_nan_inf"}


@EVERY
@pytest.mark.filterwarnings("ignore:WECMdd. clusters", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_of_a_matrix(kind):
    names = []
    for estimator, check in estimator_checks_generator(kind(metric="precomputed")):
        if check.func.__name__ not in OF_ATTRIBUTES:
            check(estimator)
            names.append(check.func.__name__)
    assert "check_nonsquare_error" in names
    assert len(names) > 35
