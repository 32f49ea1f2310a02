"""EVCLUS as its users meet it, and against numbers of an independent program."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from evidentia import CredalPartition, FocalSets, select
from evidentia.datasets import load, make_student_four_class
from evidentia.dissimilarities import delta_star
from evidentia.methods import CHECKS_THAT_WEIGH
from evidentia.relational import CEVCLUS, EVCLUS, RECM
from evidentia.solvers import irqp as solver
from evidentia.solvers.descent import InterruptedFit

# -- outside numbers --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def protein():
    data = load("protein")
    return data.dissimilarity, data.target


@pytest.fixture(scope="module")
def kevclus(reference):
    """Reference run: its masses in the order of our focal sets."""
    run = reference("kevclus_protein")
    focal_sets = FocalSets(4, "simple")
    columns = [focal_sets.index(np.flatnonzero(row).tolist()) for row in run["result"]["F"]]

    def ours(masses):
        found = np.empty((213, 6))
        found[:, columns] = masses
        return found / found.sum(axis=1, keepdims=True)

    return run, focal_sets, ours


@pytest.mark.needs_data("protein")
def test_every_sweep_is_that_of_the_reference(protein, kevclus):
    """Their stress is summed up while a sweep goes on: row i as it is after its update, rows above it still old."""
    run, focal_sets, ours = kevclus
    wanted, form = delta_star(protein[0], protein[0].max()), focal_sets.disjoint.astype(float)
    before = ours(run["m0"])
    for expected in run["trace"][1:]:
        after = solver.irqp(before, form[None], wanted[None], tol=0, max_iter=1).state
        below = np.tril(np.square(after @ form @ after.T - wanted), -1).sum()
        above = np.triu(np.square(after @ form @ before.T - wanted), 1).sum()
        assert (below + above) / np.square(wanted).sum() == pytest.approx(expected, abs=5e-8)
        before = after
    np.testing.assert_allclose(before, ours(run["result"]["mass"]), atol=2e-6)


@pytest.mark.needs_data("protein")
def test_the_fit_ends_where_the_reference_ends(protein, kevclus):
    run, _, ours = kevclus
    with pytest.warns(ConvergenceWarning, match="EVCLUS reached max_iter=81"):
        model = EVCLUS(
            4, focal_sets="simple", delta0=1.0, metric="precomputed", init=ours(run["m0"]), tol=0, max_iter=81
        ).fit(protein[0])
    np.testing.assert_allclose(model.partition_.masses, ours(run["result"]["mass"]), atol=2e-6)
    assert model.stress_ <= run["result"]["crit"]  # theirs counts rows that were still to be improved
    assert model.stress_ == pytest.approx(run["result"]["crit"], abs=1e-6)
    assert model.delta0_ == protein[0].max()


@pytest.mark.needs_data("protein")
def test_protein_classes_are_found_from_any_seed(protein):
    D, y = protein
    for seed in range(3):
        model = EVCLUS(4, focal_sets="simple", delta0=1.0, metric="precomputed", random_state=seed).fit(D)
        assert adjusted_rand_score(y, model.labels_) >= 0.98


def test_butterfly_as_in_table_1_of_the_paper():
    """All its two digits, at a delta0 that the paper does not give and that is found by matching one of them."""
    table = np.zeros((12, 4))  # {}, the right cluster, the left one, both
    table[:, 0] = [0.11, 0.082, 0, 0.082, 0, 0, 0, 0.082, 0, 0.082, 0.11, 0.97]
    table[:, 1] = [0, 0, 0, 0, 0.077, 0.29, 0.55, 0.73, 0.81, 0.73, 0.87, 0.030]
    table[:, 2] = [0.89, 0.75, 0.83, 0.75, 0.56, 0.30, 0.079, 0, 0, 0, 0, 0]
    table[:, 3] = [0, 0.17, 0.17, 0.17, 0.36, 0.42, 0.37, 0.18, 0.19, 0.18, 0.02, 0]
    X = load("butterfly12").data
    wanted = delta_star(cdist(X, X), 11.1)
    model = EVCLUS(2, delta0=None, metric="precomputed", random_state=0, tol=1e-8).fit(wanted)
    partition = model.partition_
    right = partition.relabel([model.labels_[10], 1 - model.labels_[10]])
    np.testing.assert_allclose(right.masses, table, atol=0.011)
    assert right.outliers().tolist() == [11]
    assert right.lower(0, rule="mass").tolist() == [6, 7, 8, 9, 10]
    assert right.upper(1, rule="mass").tolist() == [0, 1, 2, 3, 4, 5]


def test_four_classes_by_100_partners_as_in_example_3():
    """The classes overlap, as those of the paper's data do."""
    data = make_student_four_class(400, random_state=2)
    few = EVCLUS(4, n_pairs=100, random_state=0).fit(data.data)
    every = EVCLUS(4, random_state=0).fit(data.data)
    for model in (few, every):
        assert adjusted_rand_score(data.target, model.labels_) > 0.7
    assert adjusted_rand_score(every.labels_, few.labels_) > 0.9


# -- the loss ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 20, 15], centers=[[0, 0], [5, 1], [1, 6]], shuffle=False, random_state=1)


def partners_of(n, k=8, seed=2):
    return (np.arange(n)[:, None] + np.random.default_rng(seed).choice(np.arange(1, n), k, replace=False)) % n


def slow_conflict(partition, i, j):
    sets = list(partition.focal_sets)
    return sum(
        partition.masses[i, a] * partition.masses[j, b]
        for a in range(len(sets))
        for b in range(len(sets))
        if not sets[a] & sets[b]
    )


def test_the_loss_over_all_pairs_is_equation_5(blobs):
    X = blobs[0][::4]
    model = EVCLUS(3, delta0=0.7, n_init=1, random_state=0).fit(X)
    n, distance = len(X), cdist(X, X)
    delta0 = np.quantile(distance[np.triu_indices(n, 1)], 0.7)
    assert model.delta0_ == pytest.approx(delta0)
    terms = [
        (slow_conflict(model.partition_, i, j) - (1 - np.exp(np.log(0.05) * distance[i, j] ** 2 / delta0**2))) ** 2
        for i in range(n)
        for j in range(i)
    ]
    assert model.criterion_ == pytest.approx(2 / (n * (n - 1)) * sum(terms))


def test_the_loss_over_partners_is_equation_7(blobs):
    X = blobs[0]
    partners = partners_of(len(X))
    model = EVCLUS(3, n_pairs=partners, n_init=1, random_state=0).fit(X)
    terms = [
        (slow_conflict(model.partition_, i, j) - delta_star(np.linalg.norm(X[i] - X[j]), model.delta0_)) ** 2
        for i, row in enumerate(partners)
        for j in row
    ]
    assert model.criterion_ == pytest.approx(np.mean(terms))


@pytest.mark.parametrize("how", [{}, {"n_pairs": 12}, {"n_pairs": 41}, {"partners": True}])
def test_the_loss_never_rises_and_the_account_is_right(blobs, how):
    X = blobs[0]
    n_pairs = partners_of(len(X)) if "partners" in how else how.get("n_pairs")
    model = EVCLUS(3, n_pairs=n_pairs, random_state=3).fit(X)
    assert (np.diff(model.criterion_trace_) <= 0).all()
    assert model.n_iter_ == len(model.criterion_trace_) - 1 > 3
    masses = model.partition_.masses
    assert masses.min() >= 0
    assert np.abs(masses.sum(axis=1) - 1).max() < 1e-12
    if "partners" not in how:  # there a pair may count twice
        shepard = model.shepard_
        assert np.square(shepard.conflict - shepard.wanted).mean() == pytest.approx(model.criterion_)
        i, j = shepard.pairs[17]
        assert shepard.conflict[17] == pytest.approx(slow_conflict(model.partition_, i, j))
        assert shepard.wanted[17] == pytest.approx(delta_star(np.linalg.norm(X[i] - X[j]), model.delta0_))
        assert model.stress_ == pytest.approx(model.criterion_ / np.square(shepard.wanted).mean())


def test_the_best_start_is_kept(blobs):
    model = EVCLUS(3, n_init=6, random_state=0).fit(blobs[0])
    assert len(model.start_criteria_) == 6
    assert model.criterion_ == model.start_criteria_.min() < model.start_criteria_.max()


def test_units_of_the_dissimilarities_do_not_matter(blobs):
    one = EVCLUS(3, random_state=0).fit(blobs[0])
    other = EVCLUS(3, random_state=0).fit(1e-5 * blobs[0])
    np.testing.assert_allclose(one.partition_.masses, other.partition_.masses, atol=1e-6)


# -- input ------------------------------------------------------------------------------------------------------------


def test_all_ways_to_give_the_same_dissimilarities_give_the_same_partition(blobs):
    X = blobs[0]
    D = cdist(X, X)
    settings = {"n_clusters": 3, "random_state": 5, "n_init": 2}
    expected = EVCLUS(**settings).fit(X).partition_.masses
    for model, given in [
        (EVCLUS(metric="precomputed", **settings), D),
        (EVCLUS(metric=lambda a, b: np.linalg.norm(a - b), **settings), X),
        (EVCLUS(metric="minkowski", metric_params={"p": 2}, **settings), X),
    ]:
        np.testing.assert_allclose(model.fit(given).partition_.masses, expected, atol=1e-6)
    partners = partners_of(len(X))
    expected = EVCLUS(n_pairs=partners, **settings).fit(X).partition_.masses
    table = np.take_along_axis(D, partners, axis=1)
    for given in (D, table):
        found = EVCLUS(metric="precomputed", n_pairs=partners, **settings).fit(given).partition_.masses
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_table_of_mixed_columns_with_gaps():
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 25)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(50) < 0.1, np.nan, kind * 5 + rng.normal(size=50)),
            "color": np.where(rng.random(50) < 0.9, np.where(kind, "red", "blue"), None),
            "round": kind == 1,
        },
        index=[f"thing {i}" for i in range(50)],
    )
    model = EVCLUS(2, metric="gower", random_state=0).fit(table)
    assert adjusted_rand_score(kind, model.labels_) > 0.9
    assert model.partition_.object_names[3] == "thing 3"
    np.testing.assert_array_equal(model.predict(table.iloc[[0, 30]]), model.labels_[[0, 30]])


def test_dissimilarities_may_be_given_as_conflicts(blobs):
    D = delta_star(cdist(blobs[0], blobs[0]), 6.0)
    model = EVCLUS(3, delta0=None, metric="precomputed", random_state=0).fit(D)
    assert model.delta0_ is None
    i, j = model.shepard_.pairs.T
    np.testing.assert_allclose(model.shepard_.wanted, D[i, j])
    np.testing.assert_array_equal(model.predict(D[:7]), model.labels_[:7])
    with pytest.raises(ValueError, match=r"With delta0=None dissimilarities must lie in \[0, 1\]. Got 2"):
        EVCLUS(delta0=None, metric="precomputed").fit(2 * (1 - np.eye(3)) - np.diag([1, 0], 1) - np.diag([1, 0], -1))


def test_memory_grows_with_the_partners_only():
    """All pairs of 8,000 objects would hold 512 MB."""
    X, _ = make_blobs(8000, centers=3, random_state=0)
    model = EVCLUS(3, n_pairs=20, n_init=1, max_iter=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)  # whatever is compiled is compiled now
        tracemalloc.start()
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_clusters": 0}, "The 'n_clusters' parameter of EVCLUS must be an integer >= 1"),
        ({"n_clusters": 70}, "<= 62"),
        ({"n_clusters": 66}, "<= 62"),
        ({"n_clusters": 20, "rows": 12}, "n_clusters=20 but X has only n_samples=12"),
        ({"delta0": 0.0}, "The 'delta0' parameter of EVCLUS must be 'auto' or a number > 0 and <= 1 or None. Got 0.0"),
        ({"delta0": 1.2}, "<= 1 or None. Got 1.2"),
        ({"delta0": "some"}, "The 'delta0' parameter of EVCLUS must be"),
        ({"n_pairs": 1}, "The 'n_pairs' parameter of EVCLUS must be an integer >= 2"),
        ({"n_pairs": 65}, "'n_pairs' of EVCLUS must be below the number of objects, 65. Got 65"),
        ({"n_init": 0}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1}, "tol"),
        ({"init": "k-means"}, "The 'init' parameter of EVCLUS must be 'random' or CredalPartition or array"),
        ({"init": np.ones((65, 4))}, r"masses of shape \(65, 8\) that sum to one.*Got shape \(65, 4\)"),
        ({"init": np.ones((65, 8))}, "sum to one in each row"),
        ({"focal_sets": "triples"}, "must be one of 'full', 'pairs', 'simple', 'singletons', 'near-pairs' or list"),
        ({"n_near": 0}, "n_near"),
    ],
)
def test_bad_parameters_are_refused(blobs, changed, words):
    settings = {"n_clusters": 3, **changed}
    X = blobs[0][: settings.pop("rows", 65)]
    with pytest.raises(ValueError, match=words):
        EVCLUS(**settings).fit(X)


def test_equal_objects_are_refused():
    with pytest.raises(ValueError, match="All dissimilarities equal 0, so EVCLUS finds no clusters"):
        EVCLUS().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"The quantile delta0=0\.5 of the dissimilarities is zero"):
        EVCLUS(delta0=0.5).fit([[0.0], [0.0], [0.0], [0.0], [1.0]])


def test_a_problem_beyond_memory_is_refused_before_the_work(monkeypatch, blobs):
    monkeypatch.setattr("evidentia.solvers.memory.machine_memory", lambda: 50_000.0)
    with pytest.raises(MemoryError, match=r"all pairs of 65 objects needs about .*Set n_pairs"):
        EVCLUS(3).fit(blobs[0])
    with pytest.raises(MemoryError, match="Lower n_pairs"):
        EVCLUS(3, n_pairs=20).fit(blobs[0])


def test_an_object_unlike_all_others_is_an_outlier(blobs):
    X = np.vstack([blobs[0], [60.0, -40.0]])
    model = EVCLUS(3, delta0=0.8, random_state=0).fit(X)
    assert 65 in model.partition_.outliers()
    assert model.partition_.empty[65] > 0.9


# -- starts, focal sets, output ---------------------------------------------------------------------------------------


def test_given_masses_keep_the_numbers_of_the_clusters(blobs):
    X, y = blobs
    focal_sets = FocalSets(3, "pairs")
    for names in ([2, 0, 1], [1, 2, 0]):
        start = np.full((65, len(focal_sets)), 0.01)
        start[np.arange(65), focal_sets.singleton_index[np.take(names, y)]] = 1 - 0.01 * (len(focal_sets) - 1)
        for init in (start, CredalPartition(start, focal_sets)):
            model = EVCLUS(3, init=init).fit(X)
            assert adjusted_rand_score(y, model.labels_) == 1
            assert model.labels_[0] == names[0]
            assert len(model.start_criteria_) == 1


def test_a_partition_over_fewer_sets_may_be_the_start(blobs):
    first = EVCLUS(3, focal_sets="simple", random_state=0).fit(blobs[0])
    model = EVCLUS(3, focal_sets="full", init=first.partition_).fit(blobs[0])
    assert model.criterion_trace_[0] == pytest.approx(first.criterion_)
    assert model.criterion_ < first.criterion_
    with pytest.raises(
        ValueError, match=r"The 'init' partition of EVCLUS has 65 objects in 3 clusters and the focal set"
    ):
        EVCLUS(3, focal_sets="simple", init=model.partition_).fit(blobs[0])


def test_clusters_are_numbered_by_size(blobs):
    model = EVCLUS(3, random_state=4).fit(blobs[0])
    size = model.partition_.pignistic.sum(axis=0)
    assert (np.diff(size) <= 0).all()


def test_near_pairs_are_those_of_overlapping_clusters():
    X, _ = make_blobs([40] * 4, centers=[[0, 0], [4, 0], [12, 0], [16, 0]], random_state=0)
    model = EVCLUS(4, focal_sets="near-pairs", n_near=1, delta0=0.3, random_state=0).fit(X)
    pairs = [subset for subset in model.focal_sets_ if len(subset) == 2]
    means = np.array([X[model.labels_ == k, 0].mean() for k in range(4)])
    assert sorted(sorted(np.round(means[list(pair)] / 4).astype(int).tolist()) for pair in pairs) == [[0, 1], [3, 4]]
    single = EVCLUS(4, focal_sets="simple", delta0=0.3, random_state=0).fit(X)
    assert model.criterion_ < single.criterion_
    assert model.criterion_trace_[0] == pytest.approx(single.criterion_)
    assert model.focal_sets_.empty_index is not None
    assert model.focal_sets_.omega_index is not None


@pytest.mark.parametrize(
    "family",
    [
        "full",
        "simple",
        "singletons",
        [{0}, {1}, {2}, {0, 1}],
        FocalSets(3, "pairs", empty=False),
        lambda c: FocalSets(c),
    ],
)
def test_any_focal_sets(blobs, family):
    model = EVCLUS(3, focal_sets=family, random_state=0).fit(blobs[0])
    assert adjusted_rand_score(blobs[1], model.labels_) == 1
    if family == "singletons":
        assert model.focal_sets_.names() == ["{}", "{0}", "{1}", "{2}"]
    if isinstance(family, list):
        assert list(model.focal_sets_) == [frozenset(s) for s in family]


def test_one_cluster_is_possible(blobs):
    assert EVCLUS(1, random_state=0).fit(blobs[0]).labels_.tolist() == [0] * 65


def test_not_reaching_the_tolerance_is_said(blobs):
    with pytest.warns(ConvergenceWarning, match="EVCLUS reached max_iter=2 before tol=1e-05"):
        EVCLUS(3, max_iter=2).fit(blobs[0])


def test_an_interrupt_keeps_the_best_masses(blobs, monkeypatch):
    sweeps = []
    once = solver._sweep_dense

    def interrupted(*arguments):
        sweeps.append(1)
        if len(sweeps) == 5:
            raise KeyboardInterrupt
        return once(*arguments)

    monkeypatch.setattr(solver, "_sweep_dense", interrupted)
    with pytest.warns(InterruptedFit, match="EVCLUS was interrupted in start 1; the best solution so far is kept"):
        model = EVCLUS(3, random_state=0).fit(blobs[0])
    assert model.n_iter_ == 4
    assert len(model.start_criteria_) == 1


# -- new objects ------------------------------------------------------------------------------------------------------


def test_new_objects_are_placed_where_their_neighbors_are(blobs):
    X, y = blobs
    model = EVCLUS(3, random_state=0).fit(X)
    new, truth = make_blobs([9, 9, 9], centers=[[0, 0], [5, 1], [1, 6]], shuffle=False, random_state=8)
    found = model.predict_partition(new)
    assert found.focal_sets == model.focal_sets_
    names = [np.bincount(model.labels_[y == k]).argmax() for k in range(3)]
    np.testing.assert_array_equal(found.labels(), np.take(names, truth))
    D = cdist(X, X)
    square = EVCLUS(3, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(square.predict_partition(cdist(new, X)).masses, found.masses, atol=1e-6)
    with pytest.raises(ValueError, match="X has 3 features, but EVCLUS is expecting 65"):
        square.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"not negative\. Got -1"):
        square.predict(-np.ones((2, 65)))


def test_a_new_object_gets_the_masses_of_least_loss(blobs):
    """Against many random mass functions none fits the fitted objects better."""
    X, _ = blobs
    model = EVCLUS(3, random_state=0).fit(X)
    new = np.array([[2.5, 0.5]])
    wanted = delta_star(cdist(new, X), model.delta0_)[0]
    reach = model.partition_.masses @ model.focal_sets_.disjoint

    def loss(masses):
        return np.square(masses @ reach.T - wanted).sum(axis=-1)

    best = loss(model.predict_partition(new).masses[0])
    others = np.random.default_rng(0).dirichlet(np.full(len(model.focal_sets_), 0.3), size=20_000)
    assert best <= loss(others).min()


def test_fitted_objects_given_again_keep_their_cluster(blobs):
    for model in (EVCLUS(3, random_state=0), EVCLUS(3, n_pairs=20, random_state=0)):
        model.fit(blobs[0])
        again = model.predict_partition(blobs[0])
        np.testing.assert_array_equal(again.labels(), model.labels_)
        assert np.abs(again.masses - model.partition_.masses).mean() < 0.05


def test_new_objects_after_a_fit_to_a_table_of_partners(blobs):
    X, _ = blobs
    partners = partners_of(65, k=20)
    D = cdist(X, X)
    model = EVCLUS(3, metric="precomputed", n_pairs=partners, random_state=0)
    model.fit(np.take_along_axis(D, partners, axis=1))
    np.testing.assert_array_equal(model.predict(D), model.labels_)


def test_large_fits_compare_new_objects_with_a_part(monkeypatch):
    X, _ = make_blobs(300, centers=[[0, 0], [9, 9]], random_state=0)
    model = EVCLUS(2, random_state=0).fit(X)
    every = model.predict(X)
    monkeypatch.setattr("evidentia.relational.evclus.PARTNERS", 60)
    np.testing.assert_array_equal(model.predict(X), every)


# -- the rest of the house --------------------------------------------------------------------------------------------


def test_select_works_on_a_matrix(blobs):
    D = cdist(blobs[0], blobs[0])
    found = select(
        D,
        {"evclus": EVCLUS(metric="precomputed", focal_sets="simple", n_init=2)},
        n_clusters=[2, 3],
        random_state=0,
    )
    assert found.table["note"].tolist() == ["", ""]
    assert found.estimator_.metric == "precomputed"


def test_a_fitted_model_survives_pickling(blobs):
    model = EVCLUS(3, n_pairs=10, random_state=0).fit(blobs[0])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(blobs[0]), model.predict(blobs[0]))


@parametrize_with_checks(
    [EVCLUS(n_init=2), EVCLUS(n_pairs=9, n_init=10), CEVCLUS(n_init=2), RECM(n_init=3)],
    expected_failed_checks=lambda model: model.method.failing_checks,
)
@pytest.mark.filterwarnings("ignore:RECM.*coincide")  # the checks fit noise
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


# These give a table of attributes to an estimator that says it wants a matrix.
OF_ATTRIBUTES = {
    "check_clustering",
    "check_positive_only_tag_during_fit",
    "check_estimators_nan_inf",
    *CHECKS_THAT_WEIGH,
}


@pytest.mark.parametrize("kind", [EVCLUS, CEVCLUS, RECM])
@pytest.mark.filterwarnings("ignore:RECM.*coincide", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_of_a_matrix(kind):
    model = kind(metric="precomputed", n_init=2)
    names = []
    for estimator, check in estimator_checks_generator(model):
        if check.func.__name__ not in OF_ATTRIBUTES:
            check(estimator)
            names.append(check.func.__name__)
    assert "check_nonsquare_error" in names
    assert len(names) > 35


@pytest.mark.parametrize(("n_clusters", "quantile"), [(2, 0.9), (4, 0.9), (5, 0.72), (15, 0.24)])
def test_objects_count_as_apart_sooner_where_clusters_are_many(n_clusters, quantile):
    X = np.random.default_rng(4).normal(size=(40, 2))
    model = EVCLUS(n_clusters, focal_sets="simple", n_init=1, max_iter=2, tol=1, random_state=0).fit(X)
    assert model.delta0_ == pytest.approx(np.quantile(pdist(X), quantile))


def test_many_clusters_are_found_by_default():
    X, y = make_blobs(450, centers=np.indices((3, 5)).reshape(2, -1).T * 10, cluster_std=1, random_state=0)
    model = EVCLUS(15, focal_sets="simple", n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    with_a_large_one = EVCLUS(15, focal_sets="simple", delta0=0.9, n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, with_a_large_one.labels_) < 0.6
