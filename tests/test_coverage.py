"""Sets of an estimator with a stated coverage: the parts by hand, what they promise, warnings and refusals."""

import warnings
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from evidentia import (
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    WMVEC,
    BootGMM,
    CredalPartition,
    FocalSets,
    PairwiseConstraints,
    load_model,
)
from evidentia.coverage import (
    REFITS,
    Calibration,
    CoverageWarning,
    calibrate_coverage,
    draw_labels,
    match_clusters,
    plain_method,
    score_labels,
    sets_of_calibration,
)

pytestmark = pytest.mark.filterwarnings("ignore:Coverage is about clusters that may be no groups")


def overlapping(n=300, apart=3.0, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(2, size=n)
    return np.column_stack([apart * groups, np.zeros(n)]) + rng.standard_normal((n, 2)), groups


@pytest.fixture(scope="module")
def fitted():
    X, groups = overlapping()
    return EGMM(2, random_state=0).fit(X), X, groups


@pytest.mark.parametrize("seed", range(5))
def test_the_match_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4), size=30), rng.dirichlet(np.ones(4), size=30)
    shared = p.T @ q
    best = max(permutations(range(4)), key=lambda order: sum(shared[k, order[k]] for k in range(4)))
    assert tuple(match_clusters(p, q)) == best


def test_labels_are_drawn_by_the_probabilities():
    rng = np.random.RandomState(0)
    p = np.tile([0.2, 0.5, 0.3], (20_000, 1))
    np.testing.assert_allclose(np.bincount(draw_labels(p, rng)) / 20_000, [0.2, 0.5, 0.3], atol=0.015)


def test_scores_are_those_of_the_matched_cluster():
    labels = np.array([0, 0, 1, 1, 2])
    p = np.array([[0.2, 0.8], [0.3, 0.7], [0.9, 0.1], [0.6, 0.4], [0.5, 0.5]])  # 1 is label 0, 0 is 1, none is 2
    scores, largest = score_labels(labels, p, 3)
    np.testing.assert_allclose(scores, [0.8, 0.7, 0.9, 0.6, 0.0])
    assert largest.tolist() == [True, True, True, True, False]


@pytest.mark.parametrize(("apart", "seed"), [(2.5, 1), (3.0, 2), (3.5, 3)])
def test_sets_of_a_known_mixture_cover_and_grow_with_the_level(apart, seed):
    X, groups = overlapping(600, apart, seed)
    model = EGMM(2, model="EII", random_state=0).fit(X)
    own = groups if (model.labels_ == groups).mean() > 0.5 else 1 - groups  # the cluster of each object
    sets = [model.sets(X, coverage=level) for level in (0.8, 0.9, 0.97)]
    for small, large in pairwise(sets):
        assert (small <= large).all()
    for level, one in zip((0.8, 0.9, 0.97), sets):
        assert one.any(axis=1).all()
        assert one[np.arange(len(X)), own].mean() >= level - 0.02
    assert sets[1].sum(axis=1).mean() < 1.35


def test_the_calibration_is_kept_until_the_next_fit_and_saved(fitted, tmp_path, monkeypatch):
    model, X, _ = fitted
    sets = model.sets(X, coverage=0.9)
    monkeypatch.setattr("evidentia._base.calibrate_coverage", lambda *args: pytest.fail("refitted"))
    np.testing.assert_array_equal(model.sets(X, coverage=0.9), sets)
    again = load_model(model.save(tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.sets(X, coverage=0.9), sets)
    assert EGMM(2, random_state=0).fit(X)._coverage is None


def test_a_mixture_is_scored_by_its_posterior_and_ecm_without_sets(fitted):
    model, X, _ = fitted
    plain = plain_method(model)
    assert (plain.n_clusters, plain.model, plain.focal_sets) == (2, model.model_, "singletons")
    posterior = plain.fit(X).partition_.pignistic
    found = calibrate_coverage(model, X)
    column = match_clusters(model.partition_.pignistic, posterior)
    np.testing.assert_allclose(found.probabilities, posterior[:, column], atol=1e-6)
    assert len(found.scores) == REFITS * len(X)


def test_every_kind_of_table_is_resampled():
    X, _ = overlapping(90, 5.0)
    D = squareform(pdist(X))
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"n{i}" for i in range(len(X))])
    for model, table in [
        (EGMM(2, random_state=0), frame),
        (ECM(2, random_state=0), X),
        (EVCLUS(2, metric="precomputed", n_init=1, random_state=0), D),
        (BootGMM(2, n_boot=20, random_state=0), X),
    ]:
        sets = model.fit(table).sets(table)
        assert sets.shape == (90, 2)
        assert sets.sum(axis=1).mean() < 1.7, type(model).__name__


def test_few_objects_and_unstable_clusters_are_warned_about():
    p = np.full((100, 2), 0.5)
    with pytest.warns(CoverageWarning, match="give 55% of the objects the cluster"):
        sets_of_calibration(Calibration(p, np.linspace(0, 1, 600), 0.55), 0.9)
    with pytest.warns(CoverageWarning, match="59 objects in 2 clusters, fewer than 30 for each"):
        sets_of_calibration(Calibration(p[:59], np.linspace(0, 1, 600), 0.9), 0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sets_of_calibration(Calibration(p[:60], np.linspace(0, 1, 600), 0.6), 0.9)


def test_clusters_that_may_be_no_groups_are_warned_about():
    cloud = np.random.default_rng(3).standard_normal((200, 2))
    with pytest.warns(CoverageWarning, match="may be no groups: the verdict is 'no evidence'"):
        EGMM(2, random_state=0).fit(cloud).sets(cloud)


def test_what_cannot_be_resampled_is_refused(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match=r"must be the 300 objects that were fitted. Got 299"):
        EGMM(2, random_state=0).fit(X).sets(X[1:])
    with pytest.raises(ValueError, match="'coverage' must lie between"):
        model.sets(X, coverage=1.0)
    linked = CECM(2, random_state=0).fit(X[:60], constraints=PairwiseConstraints.from_links([(0, 1)], []))
    with pytest.raises(TypeError, match=r"CECM\.sets cannot refit with links"):
        linked.sets(X[:60])
    views = WMVEC(2, random_state=0).fit([X, X[:, ::-1]])
    with pytest.raises(TypeError, match="cannot resample the objects of several views"):
        views.sets([X, X])


def test_a_bare_partition_says_that_it_rests_on_its_own_masses():
    partition = CredalPartition([[0.6, 0.2, 0.2], [0.9, 0.0, 0.1]], FocalSets(2, [{0}, {1}, {0, 1}]))
    with pytest.warns(UserWarning, match="rest on the partition's own masses"):
        assert partition.sets(coverage=0.8).tolist() == [[True, False], [True, False]]  # 0.7 and 0.95: 0.825
    with pytest.warns(UserWarning, match="own masses"):
        assert partition.sets(coverage=0.9).tolist() == [[True, True], [True, False]]


def test_another_seed_draws_anew(fitted):
    model, X, _ = fitted
    model.sets(X, random_state=0)
    first = model._coverage
    assert first.seed == 0
    model.sets(X, coverage=0.8, random_state=0)
    assert model._coverage is first
    model.sets(X, random_state=1)
    assert model._coverage.seed == 1
    assert not np.array_equal(model._coverage.scores, first.scores)
    model.sets(X, random_state=np.random.RandomState(0))
    assert model._coverage.seed is None
    model.sets(X, random_state=0)
    np.testing.assert_array_equal(model._coverage.scores, first.scores)
