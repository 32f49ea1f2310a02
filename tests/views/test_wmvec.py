"""Several tables: what the estimators find, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from tests.views.made_views import three_views

from evidentia import ECM, WMVEC, WMVECFP, load_model

both = pytest.mark.parametrize("cls", [WMVEC, WMVECFP])
GROUP, VIEWS = three_views()


@pytest.fixture(scope="module")
def fitted():
    return {cls: cls(4, random_state=0).fit(VIEWS) for cls in (WMVEC, WMVECFP)}


@both
def test_views_that_tell_two_and_two_groups_apart_tell_all_four_together(fitted, cls):
    assert adjusted_rand_score(GROUP, fitted[cls].labels_) >= 0.95
    for table in VIEWS.values():
        assert adjusted_rand_score(GROUP, ECM(4, n_init=3, random_state=0).fit(table).labels_) < 0.6
    for partition in fitted[cls].view_partitions_.values():
        assert adjusted_rand_score(GROUP, partition.labels()) < 0.6


@both
def test_the_criterion_never_rises_and_the_best_start_is_kept(fitted, cls):
    model = fitted[cls]
    assert np.diff(model.criterion_trace_).max() <= 1e-12 * model.criterion_trace_[0]
    assert model.start_criteria_.min() == pytest.approx(model.criterion_trace_[-2], rel=1e-6)


@settings(max_examples=8, derandomize=True, deadline=None)
@given(seed=st.integers(0, 1000), beta=st.sampled_from([1.2, 2.0, 2.8]), lam=st.sampled_from([0.02, 0.3, 3.0]))
@pytest.mark.filterwarnings("ignore")
def test_the_criterion_never_rises_on_any_views(seed, beta, lam):
    rng = np.random.default_rng(seed)
    views = [rng.standard_t(3, size=(30, 2)), rng.normal(size=(30, 1)) ** 3]
    views[1][rng.permutation(30)[:4]] = np.nan
    for cls, family in ((WMVEC, "full"), (WMVECFP, "pairs")):
        model = cls(3, beta=beta, lam=lam, focal_sets=family, n_init=2, max_iter=25, tol=0, random_state=0)
        trace = model.fit(views).criterion_trace_
        assert np.diff(trace).max(initial=-1) <= 1e-12 * abs(trace).max()


@pytest.mark.parametrize("family", ["auto", "full", "singletons"])
def test_two_equal_views_give_the_result_of_one(family):
    X = VIEWS["a"] + np.outer(GROUP, [4, 0, 0])
    one = ECM(4, focal_sets=family, random_state=0, n_init=4).fit(X)
    spread = np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    two = WMVEC(4, focal_sets=family, random_state=0, n_init=4).fit([X, 5 - 7 * X])
    np.testing.assert_allclose(two.view_weights_, 0.5, atol=1e-9)
    np.testing.assert_allclose(two.rho_, one.rho_ / spread, rtol=1e-3)
    given = WMVEC(4, focal_sets=family, random_state=0, rho=one.rho_ / spread, n_init=4).fit([X, 5 - 7 * X])
    order = [int(np.argmin(np.abs(one.cluster_centers_ - v).sum(axis=1))) for v in given.cluster_centers_["0"]]
    same = one.partition_.relabel(order).sort_clusters()
    np.testing.assert_array_equal(same.focal_sets.masks, given.partition_.sort_clusters().focal_sets.masks)
    np.testing.assert_allclose(given.partition_.sort_clusters().masses, same.masses, atol=1e-5)
    assert given.criterion_ == pytest.approx(one.criterion_ / spread**2, rel=1e-6)
    np.testing.assert_allclose(given.cluster_centers_["1"], 5 - 7 * given.cluster_centers_["0"], rtol=1e-9)


@both
@pytest.mark.parametrize("width", [1, 12])
def test_a_view_of_noise_gets_the_least_weight_however_wide_and_on_any_scale(cls, width):
    noise = 1000 * np.random.default_rng(1).normal(size=(len(GROUP), width))
    model = cls(4, random_state=0, n_init=4).fit({**VIEWS, "noise": noise})
    assert model.view_weights_.argmin() == 3
    assert model.view_weights_[3] < 0.25
    assert model.view_weights_.sum() == pytest.approx(1)
    assert adjusted_rand_score(GROUP, model.labels_) >= 0.95


def test_constant_columns_and_units_change_nothing():
    wide = {**VIEWS, "a": np.c_[VIEWS["a"] * 1e4, np.full(len(GROUP), 3.0)]}
    plain, other = (WMVEC(4, random_state=0, n_init=2).fit(views) for views in (VIEWS, wide))
    np.testing.assert_allclose(other.view_weights_, plain.view_weights_, rtol=1e-6)
    np.testing.assert_allclose(other.partition_.masses, plain.partition_.masses, atol=1e-7)
    assert other.cluster_centers_["a"][0, 3] == 3
    fp = WMVECFP(4, random_state=0, n_init=2).fit(wide)
    assert fp.feature_weights_["a"][3] == 0
    assert fp.feature_weights_["a"].sum() == pytest.approx(1)


def test_columns_of_noise_fade():
    views = {**VIEWS, "a": np.c_[VIEWS["a"], 9 * np.random.default_rng(2).normal(size=(len(GROUP), 2))]}
    model = WMVECFP(4, random_state=0, n_init=4).fit(views)
    assert model.feature_weights_["a"][:3].min() > 2 * model.feature_weights_["a"][3:].max()
    even = WMVECFP(4, random_state=0, n_init=4, gamma=1e6).fit(views)
    np.testing.assert_allclose(even.feature_weights_["a"], 0.2, atol=1e-3)


def test_even_columns_are_wmvec_on_standardized_columns():
    even = WMVECFP(4, random_state=0, n_init=3, gamma=1e9).fit(VIEWS)
    plain = WMVEC(4, random_state=0, n_init=3, standardize=True).fit(VIEWS)
    np.testing.assert_allclose(even.partition_.masses, plain.partition_.masses, atol=1e-5)
    np.testing.assert_allclose(even.view_weights_, plain.view_weights_, atol=1e-6)


def test_weights_follow_lam_and_not_the_number_of_objects():
    noise = np.random.default_rng(1).normal(size=(len(GROUP), 2))
    views = [VIEWS["a"], VIEWS["b"], noise]
    found = {lam: WMVEC(4, lam=lam, random_state=0, n_init=4).fit(views) for lam in (0.1, 0.25, 50.0)}
    least = [model.view_weights_[2] for model in found.values()]
    assert least == sorted(least)
    np.testing.assert_allclose(found[50.0].view_weights_, 1 / 3, atol=0.01)
    twice = WMVEC(4, random_state=0, n_init=4).fit([np.vstack([view, view]) for view in views])
    np.testing.assert_allclose(twice.view_weights_, found[0.25].view_weights_, atol=1e-4)
    assert twice.lambda_ == pytest.approx(2 * found[0.25].lambda_) == 0.25 * 2 * len(GROUP)


@both
def test_an_object_of_weight_two_is_two_objects(cls):
    weight = 1 + np.arange(len(GROUP)) % 2
    heavy = cls(4, random_state=0, n_init=2).fit(VIEWS, sample_weight=weight)
    copies = cls(4, random_state=0, n_init=2).fit(
        {name: np.repeat(view, weight, axis=0) for name, view in VIEWS.items()}
    )
    np.testing.assert_allclose(heavy.view_weights_, copies.view_weights_, atol=1e-7)
    np.testing.assert_allclose(np.repeat(heavy.partition_.masses, weight, axis=0), copies.partition_.masses, atol=1e-6)


def test_starts_by_objects_are_shared_by_all_views():
    model = WMVEC(4, init=[3, 2, 1, 0]).fit(VIEWS)
    np.testing.assert_array_equal(model.labels_[:4], [3, 2, 1, 0])
    assert len(model.start_criteria_) == 1


# -- new objects, storage ----------------------------------------------------------------------------------------------


@both
def test_the_fitted_objects_are_placed_where_they_were(fitted, cls, tmp_path):
    model = fitted[cls]
    again = load_model(model.save(tmp_path / "model.npz"))
    for one in (model, again):
        np.testing.assert_allclose(one.predict_partition(VIEWS).masses, model.partition_.masses, atol=1e-12)
        np.testing.assert_array_equal(one.predict(VIEWS), model.labels_)
        assert one.transform(VIEWS).shape == model.partition_.masses.shape
        np.testing.assert_array_equal(one.view_conflict_, model.view_conflict_)
    assert list(again.view_partitions_) == list("abc")


def test_new_objects_may_lack_views(fitted):
    model = fitted[WMVEC]
    two = model.predict_partition({"a": VIEWS["a"][:6], "b": VIEWS["b"][:6]})
    holes = np.full((6, 3), np.nan)
    three = model.predict_partition({"c": holes, "a": VIEWS["a"][:6], "b": VIEWS["b"][:6]})
    np.testing.assert_allclose(two.masses, three.masses, atol=1e-14)
    np.testing.assert_array_equal(two.labels(), model.labels_[:6])  # two of the views tell all groups
    alone = model.predict_partition({"c": VIEWS["c"][:6]}).masses
    assert np.abs(alone - model.partition_.masses[:6]).max() > 0.2
    with pytest.raises(ValueError, match=r"in at least one view, but 6 of 6 are in none \(first: row 0\)\. Drop them"):
        model.predict_partition({"a": holes})
    with pytest.raises(ValueError, match=r"fitted to views 'a', 'b', 'c'\. Got a view 'd': drop it"):
        model.predict_partition({"d": VIEWS["a"]})
    with pytest.raises(ValueError, match=r"fitted to 3 columns in view 'a'\. Got 2; give the same"):
        model.predict_partition({"a": VIEWS["a"][:, :2]})
    with pytest.raises(ValueError, match=r"fitted to views 'a', 'b', 'c'\. Got '0', '1'\. Give the same"):
        model.predict_partition(list(VIEWS.values())[:2])


def test_columns_of_new_objects_are_found_by_their_names():
    frames = {name: pd.DataFrame(view, columns=list("xyz")) for name, view in VIEWS.items()}
    model = WMVEC(4, random_state=0, n_init=2).fit(frames)
    turned = {**frames, "b": frames["b"][["z", "x", "y"]].assign(more=1.0)}
    np.testing.assert_allclose(model.predict_partition(turned).masses, model.partition_.masses, atol=1e-12)
    with pytest.raises(ValueError, match="fitted to column 'y' of view 'b', which is missing"):
        model.predict_partition({"b": frames["b"][["x", "z"]]})


# -- absent objects ----------------------------------------------------------------------------------------------------


def test_objects_absent_from_a_view_are_placed_by_the_others():
    views = {name: view.copy() for name, view in VIEWS.items()}
    gone = np.random.default_rng(3).permutation(len(GROUP))[:30]
    views["c"][gone] = np.nan
    model = WMVEC(4, random_state=0).fit(views)
    assert adjusted_rand_score(GROUP, model.labels_) >= 0.95
    assert np.diff(model.criterion_trace_).max() <= 1e-12 * model.criterion_trace_[0]
    np.testing.assert_allclose(model.view_weights_, 1 / 3, atol=0.05)  # no gain, no loss by what is absent
    masses, sets = model.view_partitions_["c"].masses, model.view_partitions_["c"].focal_sets
    np.testing.assert_array_equal(masses[gone][:, sets.index(0b1111)], 1)
    assert "  c  weight 0.3" in model.view_summary()
    assert f"{len(GROUP) - 30} of {len(GROUP)} objects" in model.view_summary()


def test_an_absent_object_costs_its_view_what_the_others_do():
    """A view of noise gains nothing when most objects are absent from it."""
    noise = np.random.default_rng(1).normal(size=(len(GROUP), 3))
    noise[np.arange(len(GROUP)) % 5 > 0] = np.nan
    model = WMVEC(4, random_state=0, n_init=4).fit({**VIEWS, "noise": noise})
    assert model.view_weights_.argmin() == 3
    assert model.view_weights_[3] < 0.2


def test_tables_are_joined_by_the_names_of_their_rows():
    names = [f"p{i}" for i in range(len(GROUP))]
    frames = {name: pd.DataFrame(view, index=names) for name, view in VIEWS.items()}
    mixed = {**frames, "b": frames["b"].sample(frac=1, random_state=0)}
    plain, joined = (WMVEC(4, random_state=0, n_init=2).fit(views) for views in (frames, mixed))
    np.testing.assert_allclose(joined.partition_.masses, plain.partition_.masses, atol=1e-12)
    assert joined.partition_.object_names == tuple(names)
    fewer = WMVEC(4, random_state=0, n_init=2).fit({**frames, "b": frames["b"][5:]})
    assert fewer.partition_.object_names == tuple(names)
    holes = {**VIEWS, "b": np.where(np.arange(len(GROUP))[:, None] < 5, np.nan, VIEWS["b"])}
    np.testing.assert_allclose(
        fewer.partition_.masses, WMVEC(4, random_state=0, n_init=2).fit(holes).partition_.masses, atol=1e-12
    )


# -- views at odds -----------------------------------------------------------------------------------------------------


@both
def test_objects_that_one_view_puts_elsewhere_are_those_in_conflict(cls):
    views = {name: view.copy() for name, view in VIEWS.items()}
    views["a"][[0, 1, 4, 5]] = views["a"][[2, 3, 6, 7]]
    model = cls(4, random_state=0, n_init=4).fit(views)
    assert set(np.flatnonzero(model.view_conflict_ > 0.5)) == {0, 1, 4, 5}
    last = model.view_summary().splitlines()[-1]
    assert last.startswith("They disagree about 4 objects (conflict above 0.5): ")
    assert set(last.removesuffix(".").partition("): ")[2].split(", ")) == {"0", "1", "4", "5"}


# -- what is refused ---------------------------------------------------------------------------------------------------

A, B = VIEWS["a"], VIEWS["b"]


def named(table, names):
    return pd.DataFrame(table, index=[str(name) for name in names])


HOLE = np.where(np.eye(len(GROUP), 3) == 1, np.nan, A)
REFUSED = {
    "one table": (A, r"WMVEC needs several views of the same objects, and X is one table\. .* ECM takes one table"),
    "one view": ([A], r"needs at least two views of the same objects\. Got one, '0'\. ECM takes one table\."),
    "other numbers of rows": (
        {"a": A, "b": B[:50]}, r"a row for every object in every view: 'a' has 120, 'b' has 50\. Give tables with",
    ),
    "other names": (
        {"a": named(A, [f"p{i}" for i in range(120)]), "b": named(B, range(5, 125))},
        r"View 'a' of WMVEC has none of the objects of the others: its first is 'p0', theirs '5'\.",
    ),
    "names twice": (
        [named(A, [0, *range(119)]), named(B, range(2, 122))], r"'0' comes twice in view '0'",
    ),
    "some names": (
        [A, named(A, range(1, 121)), named(B, range(2, 122))],
        r"some have none, and those that are there differ: row 0 is '1' in '1' and '2' in '2'\. Give every view names",
    ),
    "a view without variation": (
        {"a": A, "flat": np.ones((120, 2))}, r"View 'flat' of WMVEC has no variation: every column is constant",
    ),
    "a view without objects": ([A, np.full((120, 2), np.nan)], r"View '1' of WMVEC has no variation: no object is in"),
    "an object in no view": ([np.where(np.arange(120)[:, None] == 7, np.nan, view) for view in (A, B)],
                             r"1 of 120 are in none \(first: row 7\)\. Drop them"),
    "some numbers missing": (
        {"a": HOLE, "b": B}, r"View 'a': 3 of 120 rows hold NaN beside numbers \(first: row 0\); WMVEC needs all",
    ),
    "inf": ([A, np.where(np.eye(120, 3) == 1, np.inf, B)], r"View '1': Input X contains inf in 3 of 120 .*Look for"),
    "text": ([A, pd.DataFrame({"x": ["u"] * 120})], r"View '1': WMVEC needs numeric columns, but these are not: x\."),
    "a vector": ({"a": A, "b": B[:, 0]}, r"needs a table with rows and columns in view 'b' of X\. Got shape \(120,\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_views_is_refused(what):
    X, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        WMVEC(3, random_state=0).fit(X)


def test_more_clusters_than_objects_and_a_bad_start_are_refused():
    with pytest.raises(ValueError, match="n_clusters=4 but X has only n_samples=3"):
        WMVEC(4).fit([A[:3], B[:3]])
    with pytest.raises(
        ValueError, match=r"'init' parameter of WMVEC must be 'k-means', 'random', 'mixed' or 4 different"
    ):
        WMVEC(4, init=[0, 0, 1, 2]).fit([A, B])
    with pytest.raises(ValueError, match="'sample_weight' of WMVEC must hold one number for each of 120 rows"):
        WMVEC(4).fit([A, B], sample_weight=[1, 2])
