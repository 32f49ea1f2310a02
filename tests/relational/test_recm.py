"""RECM against an independent program, against ECM on coordinates, and on dissimilarities that are not Euclidean."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evidentia import ECM, FocalSets
from evidentia.datasets import load
from evidentia.dissimilarities import gower_distances
from evidentia.relational import RECM
from evidentia.relational.recm import VECTORS, euclidean_shift, recm_step
from evidentia.solvers.descent import descend


@pytest.fixture(scope="module")
def protein():
    data = load("protein")
    return data.dissimilarity, data.target


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 20, 15], centers=[[0, 0, 1], [5, 1, 0], [1, 6, 2]], shuffle=False, random_state=1)[0]


def run_of(reference, kind, **changed):
    run = reference("recm_protein")[kind]
    family = {"full": "full", "simple": "simple"}[kind]
    focal_sets = FocalSets(4, family)
    columns = [focal_sets.index(np.flatnonzero(row).tolist()) for row in run["tight"]["F"]]
    start, expected = np.empty((2, 213, len(focal_sets)))
    start[:, columns], expected[:, columns] = run["m0"], run["tight"]["mass"]
    model = RECM(
        4,
        focal_sets=family,
        alpha=run["params"]["alpha"],
        beta=run["params"]["beta"],
        rho=np.sqrt(run["params"]["delta2"]),
        squared=True,
        metric="precomputed",
        init=start / start.sum(axis=1, keepdims=True),
        **changed,
    )
    return run, model, expected


def plain_descents(model, D, *, tol):
    """The descents of a model step by step, without guesses."""
    square = D if model.squared else D**2
    problem = model._problem(square, euclidean_shift(square) if model.shift == "auto" else model.shift)
    starts = model._starts(problem, model.init, np.random.RandomState(3))
    return [descend(partial(recm_step, problem), start, max_iter=5000, tol=tol, relative=True) for start in starts]


@pytest.mark.needs_data("protein")
def test_the_criterion_follows_the_reference(protein, reference):
    run, model, expected = run_of(reference, "full", tol=1e-15)
    trace = np.array(run["tight"]["trace_J_DeltaM"])[:, 0]
    plain = plain_descents(model, protein[0], tol=1e-15)[0].trace
    shared = min(len(trace), len(plain))
    assert shared > 20
    np.testing.assert_allclose(plain[:shared], trace[:shared], rtol=1e-6)
    model.fit(protein[0])
    assert model.criterion_ == pytest.approx(run["tight"]["crit"], rel=1e-9)
    np.testing.assert_allclose(model.partition_.masses, expected, atol=2e-6)
    assert adjusted_rand_score(protein[1], model.labels_) == pytest.approx(run["ARI"])
    assert model.shift_ == 0


@pytest.mark.needs_data("protein")
def test_coinciding_prototypes_are_found_where_the_reference_has_them(protein, reference):
    run, model, expected = run_of(reference, "simple", tol=1e-13)
    with pytest.warns(UserWarning, match="RECM: all prototypes coincide"):
        model.fit(protein[0])
    assert model.criterion_ == pytest.approx(run["tight"]["crit"], rel=1e-9)
    np.testing.assert_allclose(model.partition_.masses, expected, atol=1e-3)
    np.testing.assert_allclose(model.partition_.masses[:, 1:5].std(axis=1), 0, atol=1e-3)


def test_two_coinciding_prototypes_are_named(blobs):
    with pytest.warns(UserWarning, match=r"RECM: the prototypes of clusters \d and \d coincide.*Lower beta"):
        RECM(4, focal_sets="simple", squared=True, metric="precomputed", random_state=0).fit(cdist(blobs, blobs))


@pytest.mark.needs_data("protein")
def test_protein_classes_are_found_when_prototypes_stay_apart(protein):
    D, y = protein
    model = RECM(4, alpha=0.2, beta=1.1, rho=np.sqrt(20), squared=True, metric="precomputed", random_state=1).fit(D)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("family", "alpha", "beta"), [("full", 1.0, 2.0), ("pairs", 1.7, 1.6), ([{0}, {1}, {2}, {1, 2}], 0.4, 2.3)]
)
def test_on_euclidean_distances_it_is_ecm(blobs, family, alpha, beta):
    """ECM from three objects as centers: the same centers, masses and criterion after each iteration."""
    settings = {"focal_sets": family, "alpha": alpha, "beta": beta, "rho": 4.0}
    chosen = [3, 40, 60]
    ecm = ECM(3, init=blobs[chosen], tol=1e-14, max_iter=500, **settings).fit(blobs)
    first = ECM(3, init=blobs[chosen], tol=1, **settings).fit(blobs)  # masses of the second iteration's start
    model = RECM(3, init=first.partition_, tol=1e-14, **settings).fit(blobs)
    np.testing.assert_allclose(model.prototype_weights_ @ blobs, ecm.cluster_centers_, atol=1e-5)
    np.testing.assert_allclose(model.partition_.masses, ecm.partition_.masses, atol=1e-5)
    assert model.criterion_ == pytest.approx(ecm.criterion_, rel=1e-9)
    np.testing.assert_allclose(model.prototype_weights_.sum(axis=1), 1)
    again = model.predict_partition(blobs)
    np.testing.assert_allclose(again.masses, model.partition_.masses, atol=1e-9)
    new = blobs[[0, 31, 55]] + 0.7
    np.testing.assert_allclose(model.predict_partition(new).masses, ecm.predict_partition(new).masses, atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"beta": 1.1, "alpha": 0.2}, {"beta": 1.5, "focal_sets": "singletons"}], ids=str
)
def test_descents_with_guesses_end_where_plain_ones_do(seed, settings):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 3)) + 2 * rng.standard_normal((3, 3))[rng.integers(3, size=90)]
    D = cdist(X, X, metric="cityblock" if seed == 2 else "euclidean")
    model = RECM(3, metric="precomputed", n_init=4, **settings)
    model.set_params(shift=euclidean_shift(D**2))
    problem = model._problem(D**2, model.shift)
    plain = plain_descents(model, D, tol=model.tol)
    faster = model._descend(problem, model.init, np.random.RandomState(3))
    for ours, slow in zip(faster, plain, strict=True):
        assert ours.converged
        assert ours.objective <= slow.objective * (1 + 1e-12)
        assert ours.objective == pytest.approx(slow.objective, rel=1e-7)  # not another minimum
        assert (np.diff(ours.trace) <= 1e-14 * ours.trace[1:]).all()  # but for rounding of its sums
        np.testing.assert_allclose(ours.state.sum(axis=1), 1)
    assert sum(run.n_iter for run in faster) <= sum(run.n_iter for run in plain)


def test_slow_descents_need_less_than_half_of_the_steps():
    X, calls = np.random.default_rng(3).uniform(size=(150, 2)), []
    model = RECM(3, n_init=4, metric="precomputed")
    problem = model._problem(cdist(X, X) ** 2, 0.0)
    for start in model._starts(problem, model.init, np.random.RandomState(0)):
        ends = []
        for vectors in (None, VECTORS):
            calls.append(0)

            def step(weights):
                calls[-1] += 1
                return recm_step(problem, weights)

            ends.append(descend(step, start, max_iter=5000, tol=model.tol, relative=True, vectors=vectors).objective)
        assert ends[1] <= ends[0] * (1 + 1e-9)
    assert sum(calls[1::2]) < sum(calls[::2]) / 2


def bent(X):
    """Dissimilarities that break the triangle inequality."""
    return cdist(X, X) ** 1.4


def test_the_shift_makes_other_dissimilarities_safe(blobs):
    D = bent(blobs)
    lowest = np.linalg.eigvalsh(centered(D**2))[0]
    assert lowest < -1
    assert (bent(blobs)[:, :, None] > bent(blobs)[:, None, :] + bent(blobs)[None]).any()
    safe = euclidean_shift(D**2)
    assert safe == pytest.approx(-2 * lowest)
    assert np.linalg.eigvalsh(centered(D**2 + safe * (1 - np.eye(65))))[0] > -1e-6 * D.max() ** 2
    model = RECM(3, metric="precomputed", random_state=0).fit(D)
    assert model.shift_ == pytest.approx(safe / 4)  # half of it would give negative squared distances
    with pytest.raises(ValueError, match="A squared distance to a prototype is -"):
        RECM(3, metric="precomputed", shift=safe / 8, random_state=0).fit(D)
    assert (np.diff(model.criterion_trace_) <= 0).all()
    assert np.abs(model.partition_.masses.sum(axis=1) - 1).max() < 1e-12
    assert adjusted_rand_score(np.repeat([0, 1, 2], [30, 20, 15]), model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(D), model.labels_)


def test_a_shift_that_drowns_the_dissimilarities_is_heard_of(blobs):
    with pytest.warns(UserWarning, match=r"RECM: .*coincide"):
        model = RECM(3, metric="precomputed", shift=3000, random_state=0).fit(bent(blobs))
    assert model.shift_ == 3000
    assert (np.diff(model.criterion_trace_) <= 0).all()


def centered(square):
    H = np.eye(len(square)) - 1 / len(square)
    return -0.5 * H @ square @ H


def test_a_shift_too_small_is_refused():
    """Three objects 10, 1 and 1 apart: the middle one lies at a negative squared distance from the others' mean."""
    D = np.array([[0.0, 1, 10, 9], [1, 0, 1, 9], [10, 1, 0, 9], [9, 9, 9, 0]])
    with pytest.raises(ValueError, match=r"A squared distance to a prototype is -.*shift='auto', or EVCLUS"):
        RECM(2, shift=0, metric="precomputed", random_state=0, focal_sets="simple").fit(D)
    model = RECM(2, metric="precomputed", random_state=0, focal_sets="simple").fit(D)
    assert 0 < model.shift_ <= euclidean_shift(D**2)


def test_no_shift_at_all_helps_and_that_is_said(monkeypatch):
    """When even the largest shift tried is too small, the fit says so; nothing of an earlier trial is published."""
    D = np.array([[0.0, 1, 10, 9], [1, 0, 1, 9], [10, 1, 0, 9], [9, 9, 9, 0]])
    monkeypatch.setattr("evidentia.relational.recm.euclidean_shift", lambda square: 1e-9)
    with pytest.raises(ValueError, match=r"A squared distance to a prototype is -.*is too small for them"):
        RECM(2, metric="precomputed", random_state=0, focal_sets="simple").fit(D)


def test_a_table_of_mixed_columns(blobs):
    table = pd.DataFrame({"x": blobs[:, 0], "far": np.where(blobs[:, 1] > 3, "yes", "no"), "z": blobs[:, 2]})
    D = gower_distances(table)
    model = RECM(2, beta=1.3, metric="gower", random_state=0).fit(table)
    given = RECM(2, beta=1.3, metric="precomputed", random_state=0).fit(D)
    np.testing.assert_allclose(model.partition_.masses, given.partition_.masses)
    np.testing.assert_allclose(
        model.predict_partition(table[:7]).masses, given.predict_partition(D[:7]).masses, atol=1e-12
    )


def test_single_clusters_and_the_empty_set_may_be_all(blobs):
    model = RECM(3, focal_sets="singletons", random_state=0).fit(blobs)
    assert model.focal_sets_.names() == ["{}", "{0}", "{1}", "{2}"]
    assert model.n_clusters_ == 3


def test_a_metric_is_squared_unless_it_is_a_square(blobs):
    one = RECM(3, random_state=0).fit(blobs)
    other = RECM(3, metric="sqeuclidean", squared=True, random_state=0).fit(blobs)
    np.testing.assert_allclose(one.partition_.masses, other.partition_.masses, atol=1e-7)
    assert one.rho_ == pytest.approx(np.quantile(cdist(blobs, blobs)[np.triu_indices(65, 1)], 0.95), rel=1e-2)


@pytest.mark.parametrize("init", ["spread", "random"])
def test_starts_are_repeatable_and_the_best_is_kept(blobs, init):
    one, other = (RECM(3, init=init, n_init=4, random_state=7).fit(blobs) for _ in range(2))
    np.testing.assert_array_equal(one.partition_.masses, other.partition_.masses)
    assert one.criterion_ == one.start_criteria_.min()
    assert (np.diff(one.partition_.pignistic.sum(axis=0)) <= 0).all()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"alpha": -1}, "alpha"),
        ({"beta": 1.0}, "The 'beta' parameter of RECM must be a number > 1"),
        ({"rho": 0}, "rho"),
        ({"rho": "large"}, "The 'rho' parameter of RECM must be 'auto' or a number > 0"),
        ({"shift": -2}, "shift"),
        ({"shift": "some"}, "must be 'auto' or a number >= 0"),
        ({"init": "k-means"}, "must be one of 'spread', 'random'"),
        ({"focal_sets": "near-pairs"}, "must be one of 'full', 'pairs', 'simple', 'singletons' or"),
        ({"init": np.ones((3, 3))}, "Got shape"),
    ],
)
def test_bad_parameters_are_refused(blobs, changed, words):
    with pytest.raises(ValueError, match=words):
        RECM(3, **changed).fit(blobs)


def test_equal_objects_are_refused():
    with pytest.raises(ValueError, match="All dissimilarities equal 0, so RECM finds no clusters"):
        RECM(2).fit(np.ones((4, 2)))


def test_what_doubles_cannot_carry_is_refused_with_the_cure():
    matrix = cdist(*[make_blobs(30, 3, centers=2, random_state=0)[0]] * 2)
    with pytest.raises(ValueError, match=r"largest in X is .*e-1.*Divide X by it"):
        RECM(2, metric="precomputed").fit(matrix * 1e-160)
    with pytest.raises(ValueError, match=r"X holds .*e\+30\d in entry \[0, 1\]"):
        RECM(2, metric="precomputed").fit(matrix / matrix[0, 1] * 1e308)
    for rho in (1e300, 1e-300):
        with pytest.raises(ValueError, match="The 'rho' parameter of RECM is a distance"):
            RECM(2, metric="precomputed", rho=rho, random_state=0).fit(matrix)


def test_small_distances_whose_squares_are_lost_are_refused():
    noise = np.random.default_rng(0).normal(size=(30, 3))
    blobs = noise + 8 * np.repeat([0, 1], 15)[:, None]
    with pytest.raises(ValueError, match=r"The metric 'sqeuclidean' is .*e-2\d\d at most .* smaller unit"):
        RECM(2, metric="sqeuclidean").fit(blobs * 1e-130)
    found = RECM(2, metric="sqeuclidean", random_state=0).fit(blobs * 1e-60)
    assert adjusted_rand_score(np.repeat([0, 1], 15), found.labels_) == 1
