"""Fusion: clusters of several partitions brought to a common frame, and what is left to combine there."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import evidentia
from evidentia import CredalPartition, FocalSets, fuse
from evidentia.partition import alignment

RULES = ["dempster", "conjunctive", "yager", "disjunctive", "cautious", "average", "hedge"]
PAIRS = FocalSets(3, "pairs", empty=False)


def blurred(labels, n_clusters=3, seed=0, sure=0.7, **names):
    """Most of the mass on the label, the rest anywhere."""
    rng = np.random.default_rng(seed)
    family = FocalSets(n_clusters, "pairs", empty=False)
    masses = (1 - sure) * rng.dirichlet(np.ones(len(family)), size=len(labels))
    masses[np.arange(len(labels)), family.singleton_index[np.asarray(labels)]] += sure
    return CredalPartition(masses, family, **names)


TRUTH = np.repeat([0, 1, 2], [9, 6, 4])
THREE = [blurred(TRUTH, seed=seed).relabel(order) for seed, order in enumerate([(0, 1, 2), (2, 0, 1), (1, 0, 2)])]


def test_by_hand():
    """Two clusters, numbered the other way round in the second; the sums are written out."""
    family = FocalSets(2, [{0}, {1}, {0, 1}])
    a = CredalPartition([[0.6, 0.1, 0.3], [0.0, 0.8, 0.2], [0.9, 0.0, 0.1]], family)
    b = CredalPartition([[0.2, 0.5, 0.3], [0.7, 0.0, 0.3], [0.0, 1.0, 0.0]], family)
    found = fuse([a, b], rule="conjunctive")
    assert found.frame == "match"
    assert found.table.tolist() == [[0, 1], [1, 0]]
    # Object 0: {0} .6*.5 + .6*.3 + .3*.5, {1} .1*.2 + .1*.3 + .3*.2, both .3*.3, conflict .6*.2 + .1*.5
    expected = {"{}": 0.17, "{0}": 0.63, "{1}": 0.11, "{0,1}": 0.09}
    assert dict(zip(found.partition.focal_sets.names(), found.partition.masses[0])) == pytest.approx(expected)
    np.testing.assert_allclose(found.conflict, [0.17, 0, 0], atol=1e-15)
    np.testing.assert_allclose(found.between, [[0, 0.17 / 3], [0.17 / 3, 0]])


@pytest.mark.parametrize("rule", RULES)
def test_neither_numbering_nor_order_of_the_partitions_matters(rule):
    first = fuse(THREE, rule=rule)
    assert first.frame == "match"
    for order in permutations(range(3)):
        moved = [THREE[j].relabel(np.random.default_rng(j).permutation(3)) for j in order]
        other = fuse(moved, rule=rule)
        assert other.partition.focal_sets == first.partition.focal_sets
        np.testing.assert_allclose(other.partition.masses, first.partition.masses, atol=1e-12)
        np.testing.assert_allclose(other.conflict, first.conflict, atol=1e-12)
        np.testing.assert_allclose(other.between, first.between[np.ix_(order, order)], atol=1e-12)


@pytest.mark.parametrize("rule", ["dempster", "conjunctive", "yager", "disjunctive", "average", "hedge"])
def test_equal_sure_partitions_give_themselves(rule):
    sure = CredalPartition(np.eye(3)[TRUTH], FocalSets(3, "singletons", empty=False))
    found = fuse([sure, sure.relabel([2, 1, 0]), TRUTH], rule=rule)
    np.testing.assert_array_equal(found.partition.labels(), TRUTH)
    np.testing.assert_allclose(found.partition.singleton_belief, np.eye(3)[TRUTH])
    assert not found.conflict.any()


@pytest.mark.parametrize("empty", [False, True])
def test_ignorance_is_neutral_for_dempsters_rule(empty):
    """Also where some mass says that an object is in none of the clusters."""
    rng = np.random.default_rng(3)
    family = FocalSets(3, "pairs", empty=empty)
    some = CredalPartition(rng.dirichlet(np.full(len(family), 0.3), size=12), family).sort_clusters()
    nothing = CredalPartition(np.ones((12, 1)), FocalSets(3, [{0, 1, 2}]))
    found = fuse([some, nothing, nothing], rule="dempster", frame=np.repeat(np.arange(3)[:, None], 3, axis=1))
    np.testing.assert_allclose(found.partition.recast(family).masses, some.masses, atol=1e-12)
    assert found.conflict.max() < 1e-12
    assert empty == (found.partition.empty.max() > 0.1)


def test_the_cautious_rule_counts_the_same_opinion_once():
    one = blurred(TRUTH)
    np.testing.assert_allclose(
        fuse([one, one, one], rule="cautious").partition.recast(PAIRS).masses, one.masses, atol=1e-9
    )
    with pytest.raises(ValueError, match="needs mass on the whole frame"):
        fuse([TRUTH, TRUTH], rule="cautious")
    assert fuse([TRUTH, TRUTH], rule="cautious", discount=0.1).partition.masses.max() == pytest.approx(0.9)


def test_a_coarse_partition_is_refined_and_never_contradicts_what_it_holds():
    fine = np.repeat([0, 1, 2, 3], [8, 7, 6, 5])
    coarse = np.array([1, 0, 1, 0])[fine]
    found = fuse([fine, coarse])
    assert found.frame == "refine"
    assert found.table.tolist() == [[0, 1], [1, 0], [2, 1], [3, 0]]
    np.testing.assert_array_equal(found.partition.labels(), fine)
    assert not found.conflict.any()
    assert fuse([coarse, fine], frame="match").table.tolist() == [[1, 0], [0, 1], [1, 2], [0, 3]]


def test_three_views_that_each_tell_two_of_four_groups_apart():
    groups = np.repeat(np.arange(4), 10)
    views = [np.isin(groups, pair).astype(int) for pair in ((0, 1), (0, 2), (0, 3))]
    found = fuse([blurred(view, 2, seed=j, sure=0.9) for j, view in enumerate(views)])
    assert (found.frame, len(found.table)) == ("refine", 4)
    np.testing.assert_array_equal(
        alignment.assign(pd.crosstab(found.partition.labels(), groups).to_numpy())[found.partition.labels()], groups
    )


def test_small_combinations_are_conflict_and_no_clusters():
    a, b = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 1], 20)
    b[:3] = 1  # 3 of 20 are 0.15 of the smallest cluster
    found = fuse([a, b])
    assert found.table.tolist() == [[1, 1], [2, 1], [0, 0]]  # the largest first, and objects 0 to 2 belong to nobody
    assert found.conflict.tolist() == [1.0] * 3 + [0.0] * 57
    assert found.most_contested(3).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found.partition.masses[:3, found.partition.focal_sets.omega_index], 1)
    assert len(fuse([a, b], min_share=0.15).table) == 4


def test_partitions_with_as_many_clusters_that_are_unrelated_are_refined():
    a, b = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    assert (fuse([a, b]).frame, len(fuse([a, b]).table)) == ("refine", 4)
    assert fuse([a, b], frame="match").conflict.mean() == 0.5


def test_a_cluster_that_is_nobodys_first_choice_has_its_place():
    family = FocalSets(3, [{0}, {1}, {1, 2}])
    torn = CredalPartition([[1, 0, 0]] * 5 + [[0, 0.6, 0.4]] * 4 + [[0, 0.3, 0.7]], family)  # cluster 2 only in {1, 2}
    found = fuse([torn, np.repeat([0, 1], 5)])
    assert sorted(found.table[:, 0].tolist()) == [0, 1, 2]
    assert found.table[found.table[:, 0] == 2, 1].tolist() == [1]


def test_partitions_with_the_same_clusters_are_averaged_so_that_no_doubt_vanishes():
    one = CredalPartition([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.5, 0.0]], FocalSets(2, [{0}, {1}, {0, 1}]))
    again = fuse([one, one, one], frame="match")
    assert again.rule == "average"
    np.testing.assert_allclose(again.partition.recast(one.focal_sets).masses, one.relabel([1, 0]).masses[:, [0, 1, 2]])
    surer = fuse([one, one, one], frame="match", rule="dempster").partition
    assert surer.masses.max(axis=1)[0] > 0.8


def test_partitions_that_tell_other_clusters_apart_are_combined_by_dempsters_rule():
    sides, ends = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    found = fuse([sides, ends], frame="refine")
    assert (found.rule, found.partition.n_clusters) == ("dempster", 4)
    assert found.partition.kind_counts["assigned"] == 40
    coarse = fuse([np.repeat([0, 1, 1], 10), np.repeat([0, 1, 2], 10)], frame=[[0, 0], [1, 1], [1, 2]])
    assert coarse.rule == "average"  # one of the two tells all clusters apart
    assert fuse([sides, ends], frame=[[0, 0], [0, 1], [1, 0], [1, 1]]).rule == "dempster"


def test_outliers_of_all_stay_outliers_and_of_one_are_conflict():
    labels = np.array([0, 0, 0, 1, 1, -1, -1])
    other = np.array([1, 1, 1, 0, 0, -1, 0])
    found = fuse([labels, other], rule="dempster")
    assert found.partition.outliers().tolist() == [5]
    assert fuse([labels, other]).partition.empty.tolist() == [0, 0, 0, 0, 0, 1, 0.5]
    assert found.conflict.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert fuse([labels, other], rule="hedge").partition.empty.tolist() == [0, 0, 0, 0, 0, 1, 0.5]
    assert fuse([labels, other], rule="conjunctive").partition.empty.tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_labels_without_an_answer_are_ignorance():
    a = pd.Series(["x", "y", None, "y"], index=["p", "q", "r", "s"])
    b = pd.Series(["y", "y", "x", None], index=["s", "q", "p", "r"])  # another order of the objects
    found = fuse({"ann": a, "bob": b})
    assert found.frame == "names"
    assert found.partition.object_names == ("p", "q", "r", "s")
    assert found.partition.cluster_names == ("x", "y")
    assert found.partition.to_pandas()["set"].tolist() == ["{x}", "{y}", "{x,y}", "{y}"]
    assert found.alignment().to_dict("list") == {"ann": ["x", "y"], "bob": ["x", "y"]}


def test_a_discount_weakens_the_partition_it_is_for():
    a, b = np.array([0, 0, 1]), np.array([0, 1, 1])
    found = fuse([a, b], rule="dempster", discount=[0.0, 0.4], frame=[[0, 0], [1, 1]]).partition
    # Object 1: conflict .6, {0} 1 * .4, over .4
    assert found.singleton_belief[1].tolist() == [1, 0]
    np.testing.assert_allclose(fuse([a, b], discount=[0.0, 0.4], frame=[[0, 0], [1, 1]]).conflict, [0, 0.6, 0])


def test_what_is_printed():
    found = fuse({"one": TRUTH, "two": (TRUTH + 1) % 3, "three": np.roll(TRUTH, 1)})
    assert repr(found) == "Fusion(3 partitions of 19 objects, 3 clusters, mean conflict 0.105)"
    first, *rest = str(found).splitlines()
    assert first == "3 partitions of 19 objects fused by averaging; clusters that share most objects are one."
    assert [line.split() for line in rest[:3]] == [["cluster", "one", "two", "three"], list("0010"), list("1121")]
    assert (
        "Conflict 0.11 on average, above 0.5 for 3. Most contested: 0, 9, 15. Furthest from the others: three"
        in str(found)
    )
    assert "19 objects in 3 clusters" in str(found)
    assert found.to_pandas()["conflict"].iloc[0] == pytest.approx(2 / 3)
    many = fuse([TRUTH] * 6)
    assert "3 clusters; alignment() says which" in str(many)


def test_new_objects_are_placed_by_what_the_same_models_say():
    found = fuse(THREE, rule="hedge", discount=0.05)
    part = [4, 11, 17]
    np.testing.assert_allclose(
        found.place([one[part] for one in THREE]).recast(found.partition.focal_sets).masses,
        found.partition.masses[part],
        atol=1e-14,
    )
    with pytest.raises(ValueError, match=r"3 partitions were fused. Got 2"):
        found.place(THREE[:2])
    with pytest.raises(ValueError, match=r"Partition 0 was fused with 3 clusters. Got 2."):
        found.place([blurred([0, 1], 2)] * 3)


def test_models_and_parts_of_partitions_are_taken_as_partitions():
    X = np.random.default_rng(0).normal(size=(20, 1)) + np.repeat([[0], [9]], 10, axis=0)
    model = evidentia.ECM(2, random_state=0, n_init=1).fit(X)
    found = fuse([model, model.partition_.top(2), model.partition_])
    np.testing.assert_array_equal(found.partition.labels(), model.labels_)


@pytest.mark.parametrize(
    ("partitions", "options", "message"),
    [
        ([TRUTH], {}, r"Fusion needs two partitions or more. Got 1."),
        ([TRUTH, TRUTH[1:]], {}, r"Partition 0 has 19 objects, partition 1 has 18."),
        ([TRUTH, TRUTH], {"rule": "vote"}, r"'rule' must be one of 'dempster'.* Got 'vote'"),
        ([TRUTH, TRUTH], {"frame": "guess"}, r"'frame' must be one of 'auto', .* or a table. Got 'guess'"),
        (
            [TRUTH, TRUTH],
            {"frame": "names"},
            r"frame='names' needs partitions that all call their clusters by the same",
        ),
        ([TRUTH, TRUTH], {"frame": [[0, 0], [1, 1]]}, r"Column 0 of 'frame' must name each of the clusters 0 to 2"),
        ([TRUTH, TRUTH], {"frame": [0, 1, 2]}, r"a column for each of the 2 partitions. Got shape \(3,\)"),
        ([TRUTH, TRUTH], {"discount": 2}, r"'discount' of fuse must be a number between 0 and 1, or one for each of 2"),
        (
            [TRUTH, TRUTH],
            {"discount": [0.1]},
            r"'discount' of fuse must be a number between 0 and 1, or one for each of 2",
        ),
        ([TRUTH, np.arange(62) % 62], {}, r"must name 1 to 61 clusters. Got 62"),
        ([TRUTH, np.full(19, -1)], {}, r"must name 1 to 61 clusters. Got 0"),
        (
            [np.array([0, 1, -1, -1]), np.array([-1, -1, 1, 0])],
            {"frame": "refine"},
            r"No object is in a cluster of every",
        ),
    ],
)
def test_bad_input_is_refused_with_the_reason(partitions, options, message):
    with pytest.raises(ValueError, match=message):
        fuse(partitions, **options)


@pytest.mark.parametrize("options", [{"min_share": one} for one in (np.nan, -1, 1.5, "0.1", None, True)])
@pytest.mark.parametrize("frame", ["refine", "match"])
def test_a_share_that_is_none_is_refused_by_its_name(options, frame):
    with pytest.raises(ValueError, match=r"^'min_share' of fuse must be a number between 0 and 1\. Got "):
        fuse([TRUTH, TRUTH], frame=frame, **options)


@pytest.mark.parametrize("discount", ["0.1", np.nan, -0.1, True, None, [0.1, "0.2"]])
def test_a_discount_that_is_no_share_is_refused_by_its_name(discount):
    with pytest.raises(ValueError, match=r"^'discount' of fuse must be a number between 0 and 1"):
        fuse([TRUTH, TRUTH], discount=discount)


@pytest.mark.parametrize("partitions", [None, 3, "ab", CredalPartition([[1.0]], FocalSets(1, [{0}]))])
def test_what_is_no_list_of_partitions_is_refused_by_the_name_of_the_argument(partitions):
    with pytest.raises(TypeError, match=r"^'partitions' of fuse must be a list or dict of partitions, or a DataFrame"):
        fuse(partitions)


def test_partitions_may_come_from_a_generator():
    found = fuse(one for one in (TRUTH, TRUTH))
    np.testing.assert_array_equal(found.partition.masses, fuse([TRUTH, TRUTH]).partition.masses)


def test_the_columns_of_a_table_are_raters():
    raters = {"Ann": TRUTH, "Bo": np.roll(TRUTH, 1)}
    found = fuse(pd.DataFrame(raters))
    assert found.names == ("Ann", "Bo")
    np.testing.assert_array_equal(found.partition.masses, fuse(raters).partition.masses)


def test_the_index_of_a_table_of_raters_names_the_objects():
    table = pd.DataFrame({"Ann": TRUTH, "Bo": TRUTH}).set_axis([f"r{i}" for i in range(len(TRUTH))])
    found = fuse(table)
    assert found.partition.object_names == tuple(table.index)
    with pytest.raises(ValueError, match=r"fuse is given must have different names\. Got Ann, Ann\."):
        fuse(table.set_axis(["Ann", "Ann"], axis=1))


def test_a_table_is_no_partition():
    with pytest.raises(
        TypeError, match=r"arrays of labels. Got ndarray of shape \(4, 2\); to a table, fit a model first"
    ):
        fuse([np.ones((4, 2)), [0, 1, 0, 1]])


def test_objects_that_differ_are_named():
    a = blurred(TRUTH[:4], object_names=list("abcd"))
    b = blurred(TRUTH[:4], object_names=list("abce"))
    with pytest.raises(
        ValueError,
        match=r"Partition 0 and partition 1 must have the same objects, but only partition 0 has 'd' and only ",
    ):
        fuse([a, b])
    with pytest.raises(ValueError, match=r"same objects, but only partition x has 'd'\. Give both"):
        fuse({"x": a, "y": a[:3]})
    twice = blurred(TRUTH[:4], object_names=list("aacd"))
    with pytest.raises(ValueError, match="2 objects of partition 0 have the name 'a'"):
        fuse([twice, twice[[1, 0, 3, 2]]])


def test_a_collapsed_fit_is_refused():
    collapsed = CredalPartition(np.eye(3)[TRUTH], FocalSets(3, "singletons", empty=False), no_answer="It shrank.")
    with pytest.raises(ValueError, match=r"Partition bad is no answer, leave it out: It shrank."):
        fuse({"good": TRUTH, "bad": collapsed})


def test_too_many_combinations_are_refused_with_a_cure():
    rng = np.random.default_rng(0)
    unrelated = [rng.integers(0, 4, size=2000) for _ in range(3)]
    with pytest.raises(
        ValueError, match=r"64 combinations .* a frame holds 61. Raise 'min_share', or take frame='match'"
    ):
        fuse(unrelated, min_share=0.0)


def test_agreement_is_beyond_chance():
    labels = np.array([[0, 1], [0, 1], [1, 0], [1, 0], [2, 2], [2, -1]])
    renumbered = np.array([[0, 1], [1, 0], [2, 2]])
    assert alignment.agreement(labels, renumbered) == pytest.approx(1)
    # One of six differs: (5/6 - 1/3) / (2/3)
    labels[5] = [2, 1]
    assert alignment.agreement(labels, renumbered) == pytest.approx(0.75)
