"""The verdict of fits: every kind of method and table, files, and merged clusters."""

import copy
import pickle

import numpy as np
import pytest

from evidentia import (
    ECM,
    EGMM,
    EVCLUS,
    BootGMM,
    COPKMeans,
    CredalPartition,
    FocalSets,
    LatentClassMixture,
    ParsimoniousGaussianMixture,
    load_model,
    open_rows,
)
from evidentia.verdict.fitted import Gaussians, cluster_moments, expected_rows, principal_columns, rounding_steps

METHODS = {
    "EGMM": lambda c: EGMM(c, random_state=0),
    "ParsimoniousGaussianMixture": lambda c: ParsimoniousGaussianMixture(c, random_state=0),
    "BootGMM": lambda c: BootGMM(c, n_boot=20, random_state=0),
    "ECM": lambda c: ECM(c, random_state=0),
    "EVCLUS": lambda c: EVCLUS(c, random_state=0),
    "COPKMeans": lambda c: COPKMeans(c, random_state=0),
}


@pytest.fixture(scope="module")
def three():
    X = np.random.default_rng(0).normal(size=(240, 2))
    X[80:160, 0] += 6
    X[160:, 1] += 6
    return X


@pytest.fixture(scope="module")
def one():
    return np.random.default_rng(1).normal(size=(240, 2)) @ [[2.0, 1.0], [0.0, 0.5]]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_judged(name, three, one):
    model = METHODS[name](3).fit(three)
    assert model.verdict_.answer == "groups"
    assert model.verdict_.groups == ((0,), (1,), (2,))
    assert model.verdict_ is model.partition_.verdict
    assert METHODS[name](2).fit(one).verdict_.answer != "groups"


def test_hard_halves_of_one_cloud_in_ten_columns_are_no_groups():
    X = np.random.default_rng(2).normal(size=(300, 10))
    assert COPKMeans(2, random_state=0).fit(X).verdict_.answer != "groups"


@pytest.mark.filterwarnings("ignore:ECM")  # prototypes of noise coincide
def test_wide_tables_are_judged_in_principal_components():
    X = np.random.default_rng(3).normal(size=(60, 80))
    assert ECM(2, random_state=0).fit(X).verdict_.answer != "groups"
    X[:30, :40] += 2
    assert ECM(2, random_state=0).fit(X).verdict_.answer == "groups"


def test_what_has_no_numbers_is_not_judged():
    distances = np.abs(np.arange(60.0)[:, None] - np.arange(60.0))
    verdict = EVCLUS(2, metric="precomputed", random_state=0).fit(distances).verdict_
    assert verdict.answer == "not judged"
    assert verdict.sentence == "The clusters were not judged: objects are known by their dissimilarities only."
    model = LatentClassMixture(2, random_state=0).fit(np.array([["a", "b", "x"], ["c", "d", "y"]] * 30, dtype=object))
    assert "the columns are categories" in str(model.verdict_)
    with pytest.raises(ValueError, match="needs a verdict, and there is none: the columns are categories"):
        model.merged()


def test_the_verdict_is_that_of_its_own_fit(three, one):
    model = EGMM(random_state=0).fit(three)
    first = model.partition_
    model.fit(one)
    assert first.verdict.answer == "groups"
    assert model.verdict_.answer == "no evidence"


def test_copies_files_and_pickles_keep_the_verdict_and_no_table(three, tmp_path):
    model = EGMM(random_state=0).fit(three)
    small = len(pickle.dumps(model))
    assert small < len(pickle.dumps(EGMM(random_state=0).fit(np.r_[three, three, three]))) < 3 * small + 40_000
    again = load_model(model.save(tmp_path / "model.npz"))
    for found in (again.verdict_, pickle.loads(pickle.dumps(model)).verdict_, copy.deepcopy(model).verdict_):
        assert found.to_dict() == model.verdict_.to_dict()
    read = CredalPartition.load(model.partition_.save(tmp_path / "partition.npz"))
    assert read.verdict.to_dict() == model.verdict_.to_dict()
    assert str(read.verdict) == str(model.verdict_)
    assert again.merged() == model.merged()


def test_other_partitions_have_no_verdict_and_renumbered_ones_a_renumbered_one(three):
    partition = EGMM(random_state=0).fit(three).partition_
    verdict = partition.verdict
    assert partition.name_objects(range(240)).verdict is verdict
    for other in (
        partition[:50],
        partition.combine(partition),
        partition.coarsen([{0, 1}, {2}]),
    ):
        assert other.verdict is None
    order = [1, 2, 0]  # the split of clusters 1 and 2 is now that of clusters 0 and 1
    gaps = {frozenset(s.a + s.b): s.gap for s in verdict.splits}
    for split in partition.relabel(order).verdict.splits:
        assert split.gap == gaps[frozenset(order[k] for k in split.a + split.b)]
    assert CredalPartition([[1.0, 0.0]], FocalSets(2, [{0}, {1}])).verdict is None


def test_renumbered_clusters_keep_their_evidence(three):
    partition = EGMM(random_state=0).fit(three).partition_
    before, after, new = partition.verdict, partition.relabel([1, 2, 0]).verdict, {1: 0, 2: 1, 0: 2}
    assert after.answer == before.answer
    evidence = {frozenset(map(new.get, (*s.a, *s.b))): s.evidence for s in before.splits}
    assert {frozenset((*s.a, *s.b)): s.evidence for s in after.splits} == evidence
    assert after.paths[0, 2] == before.paths[1, 0]


def test_rows_in_files_are_judged_as_those_in_memory(three, tmp_path):
    import pandas as pd

    pd.DataFrame(three, columns=["a", "b"]).to_parquet(tmp_path / "table.parquet")
    model = EGMM(3, random_state=0).fit(open_rows(tmp_path / "table.parquet"))
    whole = EGMM(3, random_state=0).fit(three)
    assert model.verdict_.answer == "groups"
    assert model.partition_.compute().verdict is model.verdict_
    assert [s.gap for s in model.verdict_.splits] == pytest.approx([s.gap for s in whole.verdict_.splits], rel=1e-3)
    assert model.merged().n_clusters == 3


def test_merged_sums_masses():
    X = np.random.default_rng(4).random((300, 2))
    model = EGMM(random_state=0).fit(X)
    assert model.n_clusters_ > 1
    assert model.merged().n_clusters == 1
    np.testing.assert_allclose(model.merged().masses, 1)
    groups = model.verdict_.connected(0.3)
    assert model.merged(valley=0.3).n_clusters == len(groups)
    partition = CredalPartition([[0.1, 0.2, 0.3, 0.4]], FocalSets(3, [{0}, {2}, {0, 2}, {1, 2}]))
    joined = partition.coarsen([{0, 2}, {1}])
    assert dict(zip(joined.focal_sets.names(), joined.masses[0].round(9))) == {"{0}": 0.6, "{0,1}": 0.4}
    with pytest.raises(ValueError, match="'valley' must lie above 0"):
        model.merged(valley=0)


def test_bent_groups_are_joined_by_valleys():
    rng = np.random.default_rng(5)
    angle, side = np.pi * rng.random(500), np.repeat([0, 1], 250)
    X = np.c_[np.cos(angle) + side, np.sin(angle) * (1 - 2 * side) + 0.4 * side] + 0.08 * rng.normal(size=(500, 2))
    model = EGMM(random_state=0).fit(X)
    merged = model.merged(valley=0.3)
    assert model.n_clusters_ > 2
    assert merged.n_clusters == 2
    assert max(np.mean(merged.labels() == side), np.mean(merged.labels() != side)) > 0.95


def test_missing_entries_are_expected_or_undecided(three):
    holes = three.copy()
    holes[::25, 0] = np.nan
    assert EGMM(3, random_state=0).fit(holes).verdict_.answer == "groups"
    holes[np.arange(240) % 5 > 2, 1] = np.nan
    assert EGMM(3, random_state=0).fit(holes).verdict_.answer == "cannot tell"


def test_expected_rows_by_hand():
    covariances = np.array([[[1.0, 0.5], [0.5, 2.0]]])
    rows = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, 4.0]])
    filled = expected_rows(Gaussians(rows, np.array([[0.0, 10.0]]), covariances))
    np.testing.assert_allclose(filled, [[1.0, 10.5], [0.0, 10.0], [3.0, 4.0]])


def test_moments_are_weighted_and_few_objects_are_drawn_to_the_mean():
    rows = np.array([[0.0], [2.0], [10.0], [14.0]])
    shares = np.array([[1.0, 0, 0], [3.0, 0, 0], [0, 1.0, 0], [0, 1.0, 0]])
    means, covariances = cluster_moments(rows, shares)
    np.testing.assert_allclose(means[:, 0], [1.5, 12.0, 30 / 6])  # a cluster of nobody is in the middle
    pooled = (3.0 + 8.0) / 6  # sums of squares: 1 * 1.5² + 3 * 0.5², and 2²+2²
    np.testing.assert_allclose(covariances[:2, 0, 0], [(3 + 3 * pooled) / 7, (8 + 3 * pooled) / 5])
    assert covariances[2, 0, 0] < 1e-5


def test_steps_of_rounded_columns():
    rng = np.random.default_rng(0)
    X = np.c_[np.round(rng.normal(size=200), 1), rng.normal(size=200), np.full(200, 2.0)]
    np.testing.assert_allclose(rounding_steps(X), [0.1, 0, 0], atol=1e-9)


def test_principal_columns_hold_most_of_the_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1)) @ [[1.0, 50.0, -3.0]] + 0.01 * rng.normal(size=(100, 3))
    found = principal_columns(X, np.ones(100), 2)
    assert found[:, 0].var() == pytest.approx(3, rel=0.01)
    assert found.shape == (100, 2)
