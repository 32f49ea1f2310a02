"""Sentences about a partition, checked against partitions small enough to read."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evidentia import FCM, CredalPartition, FocalSets
from evidentia.app.report.page import version_of
from evidentia.app.report.words import doubt, rejected_starts, shares, start_outcomes, starts
from evidentia.methods import clusterers, find


def crisp(masks, n_clusters, **names):
    """A partition in which each object has all its mass on one set."""
    focal_sets = FocalSets(n_clusters)
    return CredalPartition(
        np.eye(len(focal_sets))[[focal_sets.masks.tolist().index(m) for m in masks]], focal_sets, **names
    )


def test_sure_torn_and_outlying_objects_are_counted_and_named():
    partition = crisp([1, 1, 1, 2, 3, 3, 5, 7, 0, 0], 3, cluster_names=["low", "mid", "high"])
    sure, torn, out = shares(partition)
    assert sure.sentence == "4 of 10 objects (40 %) are surely in one cluster: 3 in cluster low, 1 in cluster mid."
    assert torn.sentence == (
        "4 (40 %) lie between clusters: 2 between low and mid, 1 between low and high, 1 could be in any."
    )
    assert out.sentence == "2 (20 %) are outliers, far from every cluster."
    assert [share.size for share in (sure, torn, out)] == [4, 4, 2]


def test_nobody_torn_nobody_out():
    _, torn, out = shares(crisp([1, 2], 2))
    assert torn.sentence == "No object lies between clusters."
    assert out.sentence == "No object is an outlier."


def test_nobody_sure():
    sure, torn, _ = shares(crisp([3, 3], 2))
    assert sure.sentence == "0 of 2 objects (0 %) are surely in one cluster."
    assert torn.sentence == "2 (100 %) lie between clusters: 2 between 0 and 1."


def test_percents_never_hide_a_single_object():
    sure, torn, _ = shares(crisp([1] * 299 + [3], 2))
    assert "(over 99 %)" in sure.sentence
    assert torn.sentence.startswith("1 (under 1 %) lies")


def test_a_method_is_not_praised_for_what_it_cannot_say():
    fuzzy = CredalPartition([[0.6, 0.4]], FocalSets(2, "singletons", empty=False, omega=False))
    _, torn, out = shares(fuzzy, FCM())
    assert torn.sentence == "This partition has no sets of several clusters."
    assert out.sentence == "This method does not look for outliers."


@pytest.mark.parametrize("name", [n for n, cls in clusterers().items() if "auto" in cls.method.families])
def test_a_method_that_may_find_sets_is_not_said_to_name_one_cluster_always(name):
    """Its sets are of clusters that overlap, and here none do."""
    crisply = CredalPartition(np.eye(2), FocalSets(2, "singletons", empty=False, omega=False))
    assert shares(crisply, find(name)(focal_sets="auto"))[1].sentence == "No object lies between clusters."
    if "singletons" in find(name).method.families:
        assert "no sets of several" in shares(crisply, find(name)(focal_sets="singletons"))[1].sentence


def test_many_sets_are_cut_short():
    partition = crisp([1 << k for k in range(9)], 9)
    assert shares(partition)[0].sentence.endswith("1 in cluster 5 and 3 other groups.")


@pytest.mark.parametrize(
    ("masks", "words"), [([1, 2], "hardly anything"), ([1, 3], "most"), ([1, 1, 1, 1, 3], "a good part")]
)
def test_doubt_grows_with_nonspecificity(masks, words):
    assert words in doubt(crisp(masks, 2))


def test_how_far_the_starts_agree():
    def said(criteria):
        return starts(SimpleNamespace(criterion_trace_=[-300.0, -210.0], start_criteria_=criteria, best_start_=0))

    assert said([-210.0]) is None
    assert starts(SimpleNamespace()) is None
    assert said([-210.0, -210.05]) == "All 2 starts ended in the same solution."
    assert said([-210.0, -210.01, -212.5, -241.8]) == (
        "2 of 4 starts ended in the solution that was kept (criterion -210); 2 in worse ones (the worst: -241.8)."
    )


def test_a_start_that_beats_the_kept_one_was_rejected_for_its_collapse():
    mixture = SimpleNamespace(
        criterion_trace_=[-300.0, -210.0],
        start_criteria_=[-210.0, 455.0, -230.0, np.nan],
        best_start_=0,
        attributes=["collapsed_"],
    )
    assert [start.outcome for start in start_outcomes(mixture)] == ["kept", "rejected", "worse", "failed"]
    assert starts(mixture) == (
        "1 of 4 starts ended in the solution that was kept (criterion -210); 1 in worse ones (the worst: -230); 1 was "
        "rejected in spite of a better criterion: a cluster collapsed onto a few objects, where the likelihood grows "
        "without bound; 1 ended in no number."
    )
    other = SimpleNamespace(criterion_trace_=[9.0, 2.0], start_criteria_=[2.0, 3.0, 5.0], best_start_=0)  # minimized
    assert [start.outcome for start in start_outcomes(other)] == ["kept", "worse", "worse"]


def test_starts_are_compared_by_what_they_ended_with_and_not_by_where_the_fit_went_on_to():
    ecm = SimpleNamespace(criterion_trace_=[80.0, 52.4, 44.5], start_criteria_=[52.35, 52.35, 60.0], best_start_=0)
    assert [start.outcome for start in start_outcomes(ecm)] == ["kept", "same", "worse"]
    assert starts(ecm).startswith("2 of 3 starts ended in the solution that was kept (criterion 52.35); 1 in worse")


def test_reasons_are_grouped():
    table = pd.DataFrame(
        {
            "model": ["VVV", "VVV", "EEE", "EII"],
            "n_clusters": [5, 6, 6, 2],
            "note": ["it fell", "it fell", "it fell", ""],
        }
    )
    assert rejected_starts(SimpleNamespace(selection_=table)) == [
        "It fell: VVV with 5 and 6 clusters, EEE with 6 clusters."
    ]
    assert rejected_starts(SimpleNamespace()) == []
    assert rejected_starts(None, table) == rejected_starts(SimpleNamespace(selection_=table))


def test_a_first_look_is_no_reason_but_what_it_found_is():
    table = pd.DataFrame({"model": "VVV", "n_clusters": [4, 5], "note": ["first look", "first look; it fell"]})
    assert rejected_starts(SimpleNamespace(selection_=table)) == ["It fell: VVV with 5 clusters."]


def test_a_package_that_is_not_there_is_said_to_be_so():
    assert version_of("numpy") == np.__version__
    assert version_of("no-such-package") == "not installed"
