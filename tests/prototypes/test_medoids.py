"""SECMdd, WECMdd and MECM against brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from evidentia import FocalSets
from evidentia.dissimilarities import gower_distances
from evidentia.experimental import WECMdd
from evidentia.methods import CHECKS_THAT_WEIGH
from evidentia.prototypes import MECM, SECMdd
from evidentia.prototypes import _medoid_base as base
from evidentia.prototypes.mecm import candidate_costs, to_set, to_sets
from evidentia.prototypes.secmdd import MedoidsOfSets, set_medoids

KINDS = [SECMdd, WECMdd, MECM]
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 25, 20], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)


def plain_to_set(kind, model, D, subset):
    """Dissimilarity of every object to one set, as the docstrings write it, from what the model publishes."""
    v = model.medoid_indices_[list(subset)]
    if kind is WECMdd:
        weights = model.medoid_weights_[list(subset)]
        single = np.array(
            [[sum(w[j] ** model.psi * D[i, j] for j in range(len(D))) for i in range(len(D))] for w in weights]
        )
        if len(subset) == 1:
            return single[0]
        shared = weights.min(axis=0) / weights.min(axis=0).sum()
        own = np.array([sum(shared[j] ** model.psi * D[i, j] for j in range(len(D))) for i in range(len(D))])
        return (own + model.mixing * single.mean(axis=0)) / (1 + model.mixing)
    tau = D[:, v]
    if len(subset) == 1:
        return tau[:, 0]
    if kind is MECM:
        return np.array([plain_mecm(D, i, v, model.gamma, model.eta) for i in range(len(D))])
    uneven = tau.std(axis=1) if model.evenness == "deviation" else tau.var(axis=1)
    own = (uneven + model.eta * tau.mean(axis=1)).argmin()
    return (D[:, own] + model.gamma * tau.mean(axis=1)) / (1 + model.gamma)


def plain_mecm(D, i, medoids, gamma, eta):
    """Dissimilarity of one object to a set of clusters in median evidential c-means: every sum a loop."""
    total = uneven = apart = 0.0
    least = np.inf
    for v in medoids:
        total += D[i, v]
        least = min(least, D[i, v])
        for w in medoids:  # every pair twice, above and below the line
            uneven += abs(D[i, v] - D[i, w])
            apart += D[v, w]
    return (gamma * total / len(medoids) + uneven / (eta * apart) * least) / (gamma + 1)


UNNEUTRAL = {
    SECMdd: {"eta": 0.7, "gamma": 0.6},
    WECMdd: {"psi": 1.2, "mixing": 2.0},
    MECM: {"eta": 1.6, "gamma": 0.6},
}


SWITCHED = {**UNNEUTRAL[SECMdd], "evenness": "variance", "medoid_masses": "single"}


@pytest.mark.parametrize(("kind", "given"), [*UNNEUTRAL.items(), (SECMdd, SWITCHED)])
def test_masses_and_criterion_are_those_of_the_plain_formulas(blobs, kind, given):
    D = cdist(blobs[0], blobs[0])
    model = kind(3, focal_sets="full", alpha=0.8, beta=1.7, rho=0.9, random_state=0, **given).fit(blobs[0])
    cost = np.full((len(D), 8), 0.9)
    for j, subset in enumerate(model.focal_sets_):
        if subset:
            cost[:, j] = len(subset) ** 0.8 * plain_to_set(kind, model, D, sorted(subset))
    masses = np.maximum(cost, 1e-150) ** (-1 / 0.7)
    masses /= masses.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-8)
    J = 0.0
    for i in range(len(D)):
        for j in range(8):
            J += cost[i, j] * masses[i, j] ** 1.7
    assert model.criterion_ == pytest.approx(J, rel=1e-10)


@pytest.mark.parametrize(
    ("place", "wanted"),  # of an object, in the plane; the clusters are at (0, 0) and (10, 0)
    [((5, 0), 0.50), ((2, 0), 1.55), ((-10, 0), 1.25), ((-100, 0), 1.025), ((20, 40), 0.6957)],
)
def test_the_pair_of_mecm_is_dear_to_objects_that_are_nearer_to_one(place, wanted):
    """Cost of the pair over that of the nearest cluster, gamma and eta 1."""
    near, far = sorted([np.hypot(*place), np.hypot(place[0] - 10, place[1])])
    pair = to_set(np.array([near]), np.array([[far]]), 10.0, gamma=1.0, eta=1.0)
    assert pair[0] / near == pytest.approx(wanted, abs=5e-5)


def test_clusters_of_mecm_with_one_place_do_not_divide_by_nothing():
    pair = to_set(np.array([3.0, 0.0]), np.array([[3.0, 0.0]]), 0.0, gamma=0.5, eta=2.0)
    np.testing.assert_allclose(pair, [1.0, 0.0])  # 0.5 * 3 / 1.5
    X = np.repeat([[0.0], [1.0]], [6, 5], axis=0)
    model = MECM(3, random_state=0).fit(X)  # two of three medoids coincide
    assert np.isfinite(model.criterion_)
    np.testing.assert_allclose(model.partition_.masses.sum(axis=1), 1)


def test_mecm_is_torn_between_clusters_and_sure_far_out_on_one_side():
    X = np.array([[0.0], [1], [2], [6], [10], [11], [12], [-30]])
    sets = MECM(2, alpha=0.0, rho=1e3, random_state=0).fit(X).partition_.sets("mass")
    assert sets[3].all()
    assert sets[7].sum() == 1


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


@pytest.fixture
def torn(blobs):
    """Dissimilarities, focal sets, and masses to a power: single clusters pull to one end and sets to the other."""
    X = blobs[0][::4]
    D, focal_sets = cdist(X, X), FocalSets(3)
    pulled = np.exp(-D[np.where(focal_sets.card > 1, 18, 2)])
    return D, focal_sets, np.random.default_rng(5).uniform(size=(8, len(D))) * pulled


def best_in_turn(cost, medoids, *, at_once):
    """Each medoid at its cheapest object, none taken twice; ``at_once``: the others count as they were."""
    found = list(medoids)
    for k in range(3):
        taken = found[:k] if at_once else found[:k] + found[k + 1 :]
        others = list(medoids) if at_once else found
        costs = [np.inf if i in taken else cost([*others[:k], i, *others[k + 1 :]]) for i in range(19)]
        found[k] = int(np.argmin(costs))
    return found


def test_medoids_of_secmdd_minimize_the_part_of_the_criterion_that_holds_them(torn):
    D, focal_sets, powered = torn
    model = SECMdd(3, alpha=2.5, eta=0.7, gamma=0.05)
    here = model._represent(np.array([0, 8, 16]), D, focal_sets)

    def part(medoids):  # representatives of sets stay while a medoid moves
        cost = (
            model._compare(D, MedoidsOfSets(np.array(medoids), here.sets), focal_sets) * focal_sets.card[:, None] ** 2.5
        )
        return (cost * powered)[1:].sum()

    found = model._improve(D, base.Position(here, powered, 0.0), focal_sets).clusters.tolist()
    assert found == best_in_turn(part, [0, 8, 16], at_once=True) != [0, 8, 16]
    alone = model.set_params(medoid_masses="single")._improve(D, base.Position(here, powered, 0.0), focal_sets)
    singles = [powered[j] for j in focal_sets.singleton_index]

    def single_part(medoids):
        return sum(powers @ D[:, v] for powers, v in zip(singles, medoids))

    assert alone.clusters.tolist() == best_in_turn(single_part, [0, 8, 16], at_once=True) != found


def test_medoids_of_mecm_minimize_the_part_of_the_criterion_that_holds_them(torn):
    """What lies between the medoids changes with each object that is tried."""
    D, focal_sets, powered = torn
    model = MECM(3, alpha=2.5, gamma=0.05, eta=1.6)

    def part(medoids):
        cost = 0.0
        for j, subset in enumerate(focal_sets):
            v = np.array(medoids)[sorted(subset)]
            for i in range(len(D)):
                if len(v):
                    unlike = D[i, v[0]] if len(v) == 1 else plain_mecm(D, i, v, 0.05, 1.6)
                    cost += len(v) ** 2.5 * powered[j, i] * unlike
        return cost

    here = model._represent(np.array([0, 8, 16]), D, focal_sets)
    found = model._improve(D, base.Position(here, powered, 0.0), focal_sets)
    assert found.clusters.tolist() == best_in_turn(part, [0, 8, 16], at_once=False) != [0, 8, 16]
    costs = candidate_costs(D, np.array([0, 8, 16]), 1, 2.5 * powered, focal_sets, gamma=0.05, eta=1.6)
    for i in set(range(len(D))) - {0, 16}:
        wanted = 0.0
        for j in np.flatnonzero(focal_sets.member[:, 1]):
            v = np.array([0, i, 16])[focal_sets.member[j].astype(bool)]
            unlike = D[:, i] if len(v) == 1 else np.array([plain_mecm(D, h, v, 0.05, 1.6) for h in range(len(D))])
            wanted += 2.5 * powered[j] @ unlike
        assert costs[i] == pytest.approx(wanted, rel=1e-12)
    unlike = to_sets(D[:, found.clusters].T, found.apart, focal_sets, gamma=0.05, eta=1.6)
    cost = (unlike * focal_sets.card[:, None] ** 2.5 * powered)[1:].sum()
    assert cost == pytest.approx(part(found.clusters), rel=1e-12)


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
    # variance + eta * mean: 9 + 3 eta, 9 + 3 eta, 0 + 3 eta, 0.25 + 2.5 eta, 0 + 9 eta
    for eta, even in ((0.7, 3), (0.4, 2)):
        assert set_medoids(to_medoids, FocalSets(2, [{0, 1}]), eta=eta, evenness="variance").tolist() == [even]
    assert set_medoids(to_medoids, FocalSets(2, [{0, 1}]), eta=0.7).tolist() == [2]


def test_with_the_variance_the_units_matter_and_with_the_deviation_they_do_not():
    to_medoids = np.array([[2.0, 3.0], [3.0, 3.0]])
    # variance + 0.9 * mean: 0.25 + 2.25 and 0 + 2.7; in units ten times smaller 25 + 22.5 and 0 + 27
    for evenness, wanted in (("variance", [0, 1]), ("deviation", [1, 1])):
        for unit, medoid in zip((1.0, 10.0), wanted):
            found = set_medoids(unit * to_medoids, FocalSets(2, [{0, 1}]), eta=0.9, evenness=evenness)
            assert found.tolist() == [medoid]


def test_medoids_from_single_clusters_need_them_as_focal_sets(blobs):
    sets = [{0}, {1, 2}, {2}, set()]
    with pytest.raises(ValueError, match=r"SECMdd chooses medoids by .* \{1\} is not among: "):
        SECMdd(3, focal_sets=sets, medoid_masses="single").fit(blobs[0])
    SECMdd(3, focal_sets=sets, random_state=0).fit(blobs[0])
    for name, choices in (("evenness", "'deviation', 'variance'"), ("medoid_masses", "'all', 'single'")):
        with pytest.raises(ValueError, match=f"'{name}' parameter of SECMdd must be one of {choices}. Got 'some'"):
            SECMdd(3, **{name: "some"}).fit(blobs[0])


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
        ({"init": "best"}, f"'init' parameter of {who} must be 'spread' or array of .* numbers. Got 'best' instead"),
        ({"rho": 0}, f"'rho' parameter of {who} must be 'auto' or a number > 0. Got 0 instead"),
        (
            {"focal_sets": "triples"},
            f"'focal_sets' parameter of {who} must be one of 'full', 'pairs', 'simple', 'singletons' or l",
        ),
        ({"n_clusters": 80}, "'n_clusters' parameter of .* must be an integer >= 1 and <= 62. Got 80"),
    ]:
        with pytest.raises(ValueError, match=words):
            kind(**{"n_clusters": 3, **params}).fit(blobs[0])


@EVERY
def test_all_pairs_beyond_memory_are_refused_with_advice(blobs, kind, monkeypatch):
    monkeypatch.setattr("evidentia.solvers.memory.machine_memory", lambda: 75 * 75 * 8.0)
    for metric in ("euclidean", "gower", lambda a, b: abs(a - b).sum()):
        with pytest.raises(MemoryError, match=f"^{kind.__name__} on all pairs of 75 objects needs .*Take a sample"):
            kind(3, metric=metric).fit(blobs[0])


@EVERY
def test_words_are_compared_by_any_function_of_two(kind):
    words = ["a", "aa", "aaa", "bbbbbbbbb", "bbbbbbbb", "bbbbbbbbbb"]

    def unlike(one, other, scale):
        return scale * abs(len(one) - len(other))

    model = kind(2, metric=unlike, metric_params={"scale": 3.0}, random_state=0).fit(words)
    assert adjusted_rand_score([0, 0, 0, 1, 1, 1], model.labels_) == 1
    lengths = np.array([[len(word)] for word in words])
    D = 3.0 * np.abs(lengths - lengths.T)
    matrix = kind(2, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(model.partition_.masses, matrix.partition_.masses)
    assert model.rho_ == matrix.rho_
    new = model.predict_partition(["aaaa", "bbbbbbb"])
    far = 3.0 * np.abs(np.array([[4], [7]]) - lengths.T)
    np.testing.assert_allclose(new.masses, matrix.predict_partition(far).masses)
    assert new.labels().tolist() == [model.labels_[2], model.labels_[4]]


@EVERY
def test_a_mixed_table_with_gaps_is_compared_by_gower(kind):
    table = pd.DataFrame(
        {
            "age": [20, 21, None, 60, 64, 70],
            "smokes": ["no", "no", "no", "yes", None, "yes"],
            "size": [1.5, 1.7, 1.6, 1.9, 1.8, 1.85],
        },
        index=list("abcdef"),
    )
    model = kind(2, metric="gower", random_state=0).fit(table)
    D = gower_distances(table)
    matrix = kind(2, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_array_equal(model.partition_.masses, matrix.partition_.masses)
    assert adjusted_rand_score([0, 0, 0, 1, 1, 1], model.labels_) == 1
    assert model.partition_.object_names == tuple("abcdef")
    new = pd.DataFrame({"age": [None, 66], "smokes": ["no", "sometimes"], "size": [1.75, None]})
    far = gower_distances(table, new).T
    np.testing.assert_allclose(model.predict_partition(new).masses, matrix.predict_partition(far).masses)


@EVERY
def test_any_metric_of_scipy_serves(blobs, kind):
    for metric in ("cityblock", "seuclidean"):
        model = kind(3, metric=metric, random_state=0).fit(blobs[0])
        matrix = kind(3, metric="precomputed", random_state=0).fit(cdist(blobs[0], blobs[0], metric))
        np.testing.assert_allclose(model.partition_.masses, matrix.partition_.masses, atol=1e-9)
        again = model.predict_partition(blobs[0][:7]).masses  # two rows have no variance of their own to speak of
        np.testing.assert_allclose(again, model.partition_.masses[:7], atol=1e-9)
    with pytest.raises(ValueError, match=f"'metric' parameter of {kind.__name__} must be 'precomputed', 'gower'"):
        kind(3, metric="chebychov").fit(blobs[0])


@EVERY
def test_the_empty_set_is_as_far_as_most_pairs_are_unlike(blobs, kind):
    D = cdist(blobs[0], blobs[0])
    typical = np.quantile([D[i, j] for i in range(75) for j in range(i)], 0.95)
    spread = (3 / 75) ** 0.2 if kind is WECMdd else 1.0  # psi - 1 is 0.2: the weight of a cluster lies on 25 objects
    assert kind(3, random_state=0, **UNNEUTRAL[kind]).fit(blobs[0]).rho_ == pytest.approx(spread * typical, rel=1e-12)
    assert kind(3, rho=0.37, random_state=0).fit(blobs[0]).rho_ == 0.37


@EVERY
def test_families_of_sets_are_what_they_say(blobs, kind):
    for name, cards in (("simple", [0, 1, 1, 1, 3]), ("singletons", [0, 1, 1, 1]), ("pairs", [0, 1, 1, 1, 2, 2, 2, 3])):
        assert sorted(kind(3, focal_sets=name, random_state=0).fit(blobs[0]).focal_sets_.card.tolist()) == cards
    model = kind(3, focal_sets=[{0}, {1}, {2}], random_state=0).fit(blobs[0])
    assert model.rho_ is None
    assert model.n_clusters_ == 3


@EVERY
def test_the_run_that_was_kept_is_published(blobs, kind):
    model = kind(3, n_init=4, random_state=0).fit(blobs[0])
    assert model.converged_
    assert len(model.criterion_trace_) == model.n_iter_ + 1
    assert len(model.start_criteria_) == 4
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} reached max_iter=1"):
        short = kind(3, n_init=1, max_iter=1, tol=0.0, random_state=3).fit(blobs[0])
    assert (short.converged_, short.n_iter_) == (False, 1)
    assert len(kind(3, init=[70, 40, 5], n_init=4).fit(blobs[0]).start_criteria_) == 1


# These give a table of attributes to an estimator that says it wants a matrix.
OF_ATTRIBUTES = {
    "check_clustering",
    "check_positive_only_tag_during_fit",
    "check_estimators_nan_inf",
    *CHECKS_THAT_WEIGH,
}


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


def test_dissimilarities_of_any_unit_leave_a_medoid_at_a_cost_above_zero():
    """1e-150 times the largest, 1e-224, would be zero."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    one, other = (SECMdd(2, metric="sqeuclidean", random_state=0).fit(unit * X) for unit in (1.0, 2.0**-372))
    np.testing.assert_allclose(one.partition_.masses, other.partition_.masses, atol=1e-12)
