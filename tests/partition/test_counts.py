"""What a summary says, number by number."""

from dataclasses import replace

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition.counts import Counts
from evidentia.verdict import Split, Verdict
from evidentia.verdict.result import not_judged
from evidentia.verdict.words import describe_verdict


def found(answer, n_clusters, groups=None, paths=0.0, **more):
    """A verdict on so many clusters; the density between all of them falls to ``paths`` of the lower peak."""
    groups = tuple((k,) for k in range(n_clusters)) if groups is None else groups
    between = np.full((n_clusters, n_clusters), paths)
    np.fill_diagonal(between, 1.0)
    split = Split((0,), (1,), 3.0 if answer == "groups" else -3.0, basis="valley", p=0.004)
    return Verdict(answer, split.evidence, "valley", (split,), groups, 300.0, paths=between, **more)


def test_one_cluster_is_no_discovery_and_nothing_is_assigned_to_it():
    text = CredalPartition([[1.0]], FocalSets(1, [{0}])).summary().splitlines()
    assert text == ["No groups were found: one cluster describes all objects.", "1 object in 1 cluster"]
    judged = Verdict("no evidence", None, groups=((0,),), n_objects=2.0)
    said = CredalPartition([[1.0, 0.0], [0.1, 0.9]], FocalSets(1, [{0}, set()]), verdict=judged).summary()
    assert said.splitlines() == [judged.sentence, "2 objects in 1 cluster, 1 of them outliers"]


def test_the_verdict_is_the_first_sentence():
    masses = np.repeat(np.eye(2), 3, axis=0)
    partition = CredalPartition(masses, FocalSets(2, [{0}, {1}]), verdict=found("groups", 2))
    told, head, *rest = partition.summary().splitlines()
    assert told == partition.verdict.sentence
    assert "two peaks (p < 0.01)" in told
    assert head == "6 objects in 2 clusters"
    assert "6 (100 %) assigned to one cluster" in rest[0]


def test_parts_of_one_cloud_are_counted_without_calling_any_object_assigned():
    masses = [[1.0, 0, 0, 0]] * 4 + [[0, 1.0, 0, 0]] * 3 + [[0.5, 0.5, 0, 0], [0, 0.2, 0.8, 0], [0, 0, 0, 1.0]]
    family = FocalSets(3, [{0}, {1}, {0, 1}, set()])
    partition = CredalPartition(masses, family, verdict=found("no evidence", 3, ((0, 1, 2),)))
    assert partition.summary().splitlines() == [
        "There is no evidence of groups: the 3 clusters are parts of one cloud. Their labels cut this cloud into "
        "pieces; they are no discovery.",
        "10 objects in 2 parts (and 1 empty one) of one cloud; one group describes them as well",
        "   7 inside one part     {0}: 4, {1}: 3",
        "   2 between the parts   {0,1}: 2",
        "   1 outliers, in none of them",
        "Inside: belief of 0.6 or more.",
    ]
    assert "<table" not in partition._repr_html_()


def test_a_verdict_of_doubt_is_followed_by_the_counts():
    partition = CredalPartition(np.eye(2), FocalSets(2, [{0}, {1}]), verdict=found("cannot tell", 2))
    told, _, assigned = partition.summary().splitlines()[:3]
    assert told.startswith("It cannot be told whether there are groups")
    assert assigned == "  2 (100 %) assigned to one cluster      {0}: 1, {1}: 1"


def test_clusters_that_were_not_judged_say_why():
    partition = CredalPartition(np.eye(2), FocalSets(2, [{0}, {1}]), verdict=not_judged("they are texts", 2))
    assert partition.summary().startswith("The clusters were not judged: they are texts.\n2 objects in 2 clusters\n")


def test_merging_is_offered_where_it_changes_the_answer():
    three = found("groups", 3, ((0, 2), (1,)))
    assert describe_verdict(three, 3)[1:] == [
        "Not every split is supported: model.merged() joins {0,2} and leaves 2 groups."
    ]
    bent = replace(found("groups", 4), paths=np.array([[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0.4], [0, 0, 0.4, 1]]))
    assert describe_verdict(bent, 4)[1:] == [
        "If groups may be bent: model.merged(valley=0.3) joins {0,1} and {2,3}, between which the density does not fall "
        "below 0.3 of the lower peak, and leaves 2 groups."
    ]
    for nothing in (found("groups", 3), found("groups", 3, paths=0.5), replace(bent, answer="no evidence")):
        assert describe_verdict(nothing, nothing.n_clusters) == [nothing.sentence]
    assert describe_verdict(None, 3) == []


def test_a_coin_toss_is_not_assigned_and_its_uncertainty_is_half_of_the_largest():
    """Nonspecificity does not see it: all of its mass is on single clusters."""
    toss = CredalPartition([[0.5, 0.5]], FocalSets(2, [{0}, {1}]))
    text = toss.summary().splitlines()
    assert text[1:3] == [
        "  0 (  0 %) assigned to one cluster    ",
        "  1 (100 %) ambiguous between clusters   {0,1}: 1",
    ]
    assert "Mean nonspecificity 0.00, mean uncertainty 0.50" in text[3]
    unknown = CredalPartition([[0.0, 0.0, 1.0]], FocalSets(2, [{0}, {1}, {0, 1}]))
    assert "Mean nonspecificity 1.00, mean uncertainty 1.00" in unknown.summary()


@pytest.mark.parametrize(("belief", "count"), [(0.59, 0), (0.6, 1)])
def test_an_object_is_assigned_from_the_level_on(belief, count):
    partition = CredalPartition([[belief, 0.3, 0.7 - belief]], FocalSets(2, [{0}, {1}, {0, 1}]))
    assert partition.kind_counts == {"assigned": count, "ambiguous": 1 - count, "outlier": 0}


def test_all_of_the_objects_are_called_all_only_if_they_are():
    nearly = CredalPartition([[1.0, 0.0]] * 999 + [[0.5, 0.5]], FocalSets(2, [{0}, {1}])).summary().splitlines()
    assert nearly[1:3] == [
        "   999 (>99 %) assigned to one cluster      {0}: 999",
        "     1 ( <1 %) ambiguous between clusters   {0,1}: 1",
    ]


def test_only_objects_with_some_doubt_are_named_doubtful():
    masses = [[1.0, 0.0, 0.0], [0.6, 0.3, 0.1], [0.0, 1.0, 0.0]]
    text = CredalPartition(masses, FocalSets(2, [{0}, {1}, {0, 1}])).summary()
    assert text.endswith("\nMost doubtful: 1.")


def test_nobody_at_all():
    nobody = CredalPartition(np.empty((0, 2)), FocalSets(2, [{0}, {1}]))
    assert nobody.counts == Counts(0, {}, 0.0, 0.0, ())
    assert "  0 (  0 %) assigned to one cluster" in nobody.summary()


def test_clusters_that_no_object_may_be_in_are_counted():
    masses = [[0.9, 0.1, 0, 0, 0], [0, 0.2, 0, 0.8, 0], [0, 0, 0.1, 0, 0.9]]
    partition = CredalPartition(masses, FocalSets(5, [{0}, {1}, {4}, {1, 2}, set()]))
    assert partition.summary().startswith("3 objects in 3 clusters (and 2 empty ones)\n")
    assert CredalPartition(np.eye(2), FocalSets(2, [{0}, {1}])).summary().startswith("2 objects in 2 clusters\n")


@pytest.mark.parametrize("n", [8, 9])
def test_eight_sets_are_listed(n):
    family = FocalSets(10, [{k, k + 1} for k in range(n)])
    torn = CredalPartition(np.eye(n), family, cluster_names="abcdefghij").summary().splitlines()[2]
    assert torn.startswith(f"  {n} (100 %) ambiguous between clusters   {{a,b}}: 1, ")
    assert torn.endswith("{h,i}: 1" + (", ..." if n == 9 else ""))


def test_parts_add_up():
    one = Counts(7, {1: 3, 6: 4}, 1.25, 2.5, ((0.9, "a"), (0.4, "b"), (0.3, "c")))
    two = Counts(5, {0: 1, 2: 2, 6: 2}, 0.5, 1.0, ((0.8, "d"), (0.4, "e")))
    both = one + two
    assert both == Counts(12, {0: 1, 1: 3, 2: 2, 6: 6}, 1.75, 3.5, ((0.9, "a"), (0.8, "d"), (0.4, "b")))
    assert list(both.sets) == [0, 1, 2, 6]
    assert both.to_text(3, ["x, y", "z", "w"], empty=True).splitlines() == [
        "12 objects in 3 clusters",
        "   5 ( 42 %) assigned to one cluster      {x, y}: 3, {z}: 2",
        "   6 ( 50 %) ambiguous between clusters   {z,w}: 6",
        "   1 (  8 %) outliers, in none of them",
        "Assigned: belief of 0.6 or more. Mean nonspecificity 0.15, mean uncertainty 0.29 "
        "(0: certain, 1: nothing known).",
        "Most doubtful: a, d, b.",
    ]
    assert "outliers" not in both.to_text(3, None, empty=False)
    commas = both._replace(worst=((0.9, "a, b"), (0.1, "c")))
    assert commas.to_text(3, None, empty=True).endswith("Most doubtful: a, b; c.")
