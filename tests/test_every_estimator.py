"""What holds for every clusterer that the package exports: valid masses on any table, one result type.

They are found by their records, so one that is added tomorrow is tested tomorrow.
"""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from tests.made_groups import overlapping
from tests.views.made_views import suited
from threadpoolctl import threadpool_info, threadpool_limits

from evidentia import CredalPartition, FocalSets, PairwiseConstraints, methods
from evidentia.app.report.words import start_outcomes

# Those that read several tables are tested in tests/views.
EXPORTED = {cls.__name__: cls for cls in methods.all_methods().values() if not cls.method.reads_views}
ESTIMATORS = list(EXPORTED)
LEARNERS = [name for name, cls in EXPORTED.items() if cls.method.learner]  # metrics: they have no partition
CLUSTERERS = [name for name in ESTIMATORS if name not in LEARNERS]
LINKED = [name for name in CLUSTERERS if "links" in EXPORTED[name].method.takes]
RELATIONAL = [name for name in CLUSTERERS if "dissimilarities" in EXPORTED[name].method.reads and name != "NNEVCLUS"]
STARTED = {cls.__name__: cls for cls in methods.clusterers().values() if "start_criteria_" in cls.attributes}
GROUPS, ROWS = 2, 16


def build(name, **more):
    cls = EXPORTED[name]
    wanted = {"n_clusters": GROUPS, "n_init": 2, "random_state": 0, **cls.method.quick}
    return cls(**{key: value for key, value in wanted.items() if key in cls.parameters}, **more)


@st.composite
def tables(draw):
    """Two groups, near or far, on any scale, with duplicates and an outlier now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    width = draw(st.integers(1, 3))
    X = rng.normal(size=(ROWS, width))
    X[ROWS // 2 :] += draw(st.sampled_from([0.5, 3, 40]))
    if draw(st.booleans()):
        X[1] = X[0]
    if draw(st.booleans()):
        X[-1] = 300
    return X * draw(st.sampled_from([1e-3, 1, 1e4]))


def fit(model, X, **more):
    """Tables this small may collapse, or need more iterations; that is said by a warning and is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **more)


def check(partition, n):
    assert isinstance(partition, CredalPartition)
    masses = partition.masses
    assert masses.shape == (n, len(partition.focal_sets))
    assert (masses >= 0).all()
    assert np.abs(masses.sum(axis=1) - 1).max() <= 1e-12


def test_every_estimator_is_a_clusterer_or_a_learner():
    assert {"EGMM", "ECM", "EVCLUS", "BPEC", "LatentClassMixture"} <= set(CLUSTERERS)
    for name in CLUSTERERS:
        assert {"predict_partition", "fit_predict"} & set(dir(EXPORTED[name])), name


@pytest.mark.parametrize("name", [name for name in CLUSTERERS if name != "LatentClassMixture"])
@settings(max_examples=6, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(X=tables())
def test_masses_of_any_table_are_valid(name, X):
    model = fit(build(name), X)
    check(model.partition_, ROWS)
    assert isinstance(model.focal_sets_, FocalSets)
    if name != "BeliefHierarchical":  # its labels are those of the tree
        np.testing.assert_array_equal(model.partition_.labels(), model.labels_)
    assert model.labels_.shape == (ROWS,)
    assert set(model.labels_) <= set(range(-1, model.partition_.n_clusters))


@settings(max_examples=6, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_masses_of_any_answers_are_valid(seed):
    answers = np.random.default_rng(seed).integers(3, size=(ROWS, 4)).astype(str)
    check(fit(build("LatentClassMixture"), answers).partition_, ROWS)


@pytest.mark.parametrize("name", LINKED)
def test_masses_with_links_are_valid(name):
    X = np.random.default_rng(3).normal(size=(ROWS, 2)) + np.repeat([[0], [2]], ROWS // 2, axis=0)
    links = PairwiseConstraints.sample(np.arange(ROWS) % 2, 12, random_state=0)  # against the groups, on purpose
    check(fit(build(name), X, constraints=links).partition_, ROWS)


@pytest.mark.parametrize("name", RELATIONAL)
def test_masses_from_dissimilarities_are_valid_and_those_of_the_table(name):
    X = np.random.default_rng(4).normal(size=(ROWS, 2)) + np.repeat([[0], [5]], ROWS // 2, axis=0)
    model = fit(build(name, metric="precomputed"), cdist(X, X, "cityblock"))
    check(model.partition_, ROWS)
    same = fit(build(name, metric="cityblock"), X)  # with Euclidean distances some methods know more than a matrix
    np.testing.assert_allclose(model.partition_.masses, same.partition_.masses, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*rows lie far outside the range")
@pytest.mark.parametrize("name", [name for name in CLUSTERERS if hasattr(EXPORTED[name], "predict_partition")])
def test_masses_of_new_objects_are_valid(name):
    rng = np.random.default_rng(5)
    table = rng.integers(2, size=(ROWS, 3)) if name == "LatentClassMixture" else rng.normal(size=(ROWS, 2))
    model = fit(build(name), table)
    new = table[:3] if name == "LatentClassMixture" else np.vstack([table[:3] + 0.1, [[99.0, -99.0]]])
    check(model.predict_partition(new), len(new))


@pytest.mark.parametrize("name", [name for name in CLUSTERERS if "random_state" not in build(name).get_params()])
def test_the_order_of_rows_does_not_matter_without_random_starts(name):
    X = np.random.default_rng(6).normal(size=(ROWS, 2)) + np.repeat([[0], [6]], ROWS // 2, axis=0)
    order = np.random.default_rng(7).permutation(ROWS)
    plain, mixed = fit(build(name), X).partition_, fit(build(name), X[order]).partition_
    wanted = CredalPartition(plain.masses[order], plain.focal_sets)
    np.testing.assert_allclose(mixed.sort_clusters().masses, wanted.sort_clusters().masses, atol=1e-9)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_linear_algebra_runs_on_one_core_while_fitting(name, monkeypatch):
    seen, build_partition = [], CredalPartition.__init__

    def look(*args, **kwargs):
        seen.extend(threadpool_info())
        build_partition(*args, **kwargs)

    monkeypatch.setattr(CredalPartition, "__init__", look)
    X = np.random.default_rng(3).normal(size=(ROWS, 2)) + 4 * (np.arange(ROWS) % 2)[:, None]
    with threadpool_limits(2, user_api="blas"):
        fit(build(name), (X > 2).astype(int) if name == "LatentClassMixture" else X)
    assert {library["num_threads"] for library in seen if library["user_api"] == "blas"} == {1}


@pytest.mark.parametrize("name", CLUSTERERS)
def test_probabilities_and_masses_of_new_rows_as_scikit_learn_asks_for_them(name):
    X = np.random.default_rng(8).normal(size=(ROWS, 2)) + np.repeat([[0], [3]], ROWS // 2, axis=0)
    X = (X > 1).astype(int) if name == "LatentClassMixture" else X
    model = fit(build(name), X)
    placed = model.predict_partition(X[:5])
    np.testing.assert_allclose(model.predict_proba(X[:5]), placed.pignistic, atol=1e-12)
    np.testing.assert_array_equal(model.transform(X[:5]), placed.masses)
    names = [f"m{name}" for name in model.focal_sets_.names()]
    assert model.get_feature_names_out().tolist() == names
    frame = model.set_output(transform="pandas").transform(X[:5])
    assert frame.columns.tolist() == names
    np.testing.assert_array_equal(frame, placed.masses)


# Objects that are placed as if they were new know less than those that were fitted, as the docstring of transform says.
PLACED_ANEW = {"EVCLUS", "CEVCLUS", "BeliefHierarchical"}


@pytest.mark.parametrize("name", [name for name in CLUSTERERS if EXPORTED[name].method.reads != ("categories",)])
def test_fit_transform_gives_the_masses_of_the_fit_where_no_exception_is_documented(name):
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [5]], 15, axis=0)
    model = build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        masses = model.fit_transform(X)
    same = np.allclose(masses, model.partition_.masses, atol=1e-6)
    assert same != (name in PLACED_ANEW)
    assert (name in model.transform.__doc__) == (name in PLACED_ANEW)


@pytest.mark.parametrize("name", STARTED)
def test_the_kept_start_is_among_those_that_ended_in_the_solution_that_was_kept(name):
    cls, wanted = STARTED[name], {"n_clusters": 3, "n_init": 4, "random_state": 0, "max_iter": 60}
    X = overlapping(60)
    table = (X > 2).astype(int) if name == "LatentClassMixture" else suited(cls, X) if cls.method.reads_views else X
    model = fit(cls(**{key: value for key, value in wanted.items() if key in cls.parameters}), table)
    outcomes, ends = [start.outcome for start in start_outcomes(model)], model.start_criteria_
    assert outcomes[model.best_start_] == "kept"
    assert outcomes.count("kept") == 1
    if "rejected" not in outcomes:
        assert ends[model.best_start_] == (np.nanmin if cls.method.criterion == "minimized" else np.nanmax)(ends)
    if np.ptp(ends) <= 1e-9 * abs(ends[0]):
        assert set(outcomes) <= {"kept", "same"}
