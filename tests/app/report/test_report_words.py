"""Sentences about a partition, checked against partitions small enough to read."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.app.report.page import render, version_of
from evidentia.app.report.pictures import draw
from evidentia.app.report.words import doubt, few_starts, rejected_starts, shares, start_outcomes, starts
from evidentia.verdict import DrawnLine, Split, Verdict


def crisp(masks, n_clusters, **names):
    """A partition in which each object has all its mass on one set."""
    focal_sets = FocalSets(n_clusters)
    return CredalPartition(
        np.eye(len(focal_sets))[[focal_sets.masks.tolist().index(m) for m in masks]], focal_sets, **names
    )


def test_assigned_ambiguous_and_outlying_objects_are_counted_and_named():
    partition = crisp([1, 1, 1, 2, 3, 3, 5, 7, 0, 0], 3, cluster_names=["low", "mid", "high"])
    assigned, ambiguous, out = shares(partition)
    assert assigned.sentence == (
        "4 of 10 objects (40 %) are assigned to one cluster: 3 to cluster low, 1 to cluster mid."
    )
    assert ambiguous.sentence == (
        "4 (40 %) are ambiguous: 2 between low and mid, 1 between low and high, 1 could be in any."
    )
    assert out.sentence == "2 (20 %) are outliers, far from every cluster."
    assert [share.size for share in (assigned, ambiguous, out)] == [4, 4, 2]


def judged(answer, n_clusters, *splits, groups=None):
    """A verdict with a line between clusters 0 and 1."""
    groups = tuple((k,) for k in range(n_clusters)) if groups is None else groups
    grid = np.linspace(-3, 3, 200)
    density = np.exp(-np.square(grid) / 2) / np.sqrt(2 * np.pi)
    line = DrawnLine((0,), (1,), grid, np.ones(200), grid, density, density, "normal", np.zeros(5))
    paths = np.eye(n_clusters)
    return Verdict(answer, -3.0, "shape", splits, groups, 300.0, paths=paths, line=line)


SPLITS = (
    Split((0,), (1,), 900.0, gap=12.0),
    Split((0,), (2,), 4.25, basis="valley", p=0.004),
    Split((1,), (2,), -2.5, basis="shape", shape="lognormal", p=0.375),
)


def sections(partition, **given):
    """What a page says, without tags, by its headings; the summary is under an empty one."""
    page = render(partition, draw(partition, **given), **given)
    parts = re.split(r"<h2>(.*?)</h2>", page[page.index("<main>") :])
    texts = [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"<img [^>]*>", "", part))) for part in parts]
    return dict(zip(["", *texts[1::2]], texts[::2]))


def test_parts_of_one_cloud_are_not_assigned_anywhere():
    split = Split((0,), (1,), -3.0, shape="lognormal", p=0.5)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10, 3)), columns=["a", "b", "c"])
    masks = [1, 1, 1, 1, 2, 2, 2, 3, 3, 0]
    cloud = crisp(masks, 2, verdict=judged("no evidence", 2, split, groups=((0, 1),)))
    inside, between, out = shares(cloud)
    assert inside.sentence == "7 of 10 objects lie inside one part of the cloud: 4 in part 0, 3 in part 1."
    assert between.sentence == "2 lie between the parts."
    assert out.sentence == "1 (10 %) is an outlier, far from every part."
    told = sections(cloud, X=X)
    assert told[""].startswith(f" {cloud.verdict.sentence} 7 of 10 objects lie inside")
    assert "The parts" in told
    assert "The most doubtful objects" not in told
    every = " ".join(told.values())
    for words in ("assigned", "apart best", "tells apart", "certainty", "left open"):
        assert words not in every
    groups = sections(crisp(masks, 2, verdict=judged("groups", 2, SPLITS[1])), X=X)
    assert "The clusters" in groups
    assert "The most doubtful objects" in groups
    every = " ".join(groups.values())
    for words in ("assigned to one cluster", "apart best", "tells apart", "certainty", "left open"):
        assert words in every
    for words in ("inside one part", "between the parts", "part 0"):
        assert words not in every


def test_one_cluster_is_not_described():
    X = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    none = Verdict("no evidence", None, groups=((0,),), n_objects=3.0)
    told = sections(crisp([1, 1, 0], 1, verdict=none), X=X)
    assert told[""].startswith(
        " No groups were found: one cluster describes all objects. 1 (33 %) is an outlier, far from every cluster. "
    )
    assert not {"Are these groups?", "The clusters", "The parts", "The most doubtful objects"} & set(told)
    assert "outlier" not in sections(crisp([1, 1, 1], 1, verdict=none), X=X)[""]


def test_the_table_of_splits_says_what_the_verdict_holds():
    said = sections(crisp([1, 2, 4], 3, verdict=judged("groups", 3, *SPLITS, groups=((0,), (1, 2)))))
    table = said["Are these groups?"]
    assert "clusters 0 and 1 far apart yes" in table
    assert "clusters 0 and 2 4.2 valley &lt; 0.01 yes" in table
    assert "clusters 1 and 2 -2.5 shape 0.38 no" in table
    assert "The split between clusters 1 and 2 is not supported: one lognormal cloud describes them as well" in table
    assert "The split between clusters 0 and 2 is not supported" not in table
    assert "The weakest split" in table
    assert "model.merged() joins {1,2} and leaves 2 groups" in said[""]
    assert "Are these groups?" not in sections(crisp([1, 2, 4], 3))


def test_the_report_says_so_when_few_starts_agree():
    def model(criteria):
        return SimpleNamespace(criterion_trace_=[9.0, 1.0], start_criteria_=criteria, best_start_=0)

    assert few_starts(model([1.0, 3.0, 4.0])) == (
        "Confidence is low: 1 of 3 starts ended in this solution, so more starts may find a better one."
    )
    assert few_starts(model([1.0, 1.0, 3.0, 4.0, 5.0])) is None  # two of five are more than a third
    assert few_starts(model([1.0, 3.0])) is None
    assert few_starts(model([1.0])) is None
    assert few_starts(SimpleNamespace()) is None
    collapsed = model([1.0, 3.0, 4.0])
    collapsed.collapsed_ = True
    assert few_starts(collapsed) is None


def test_no_object_is_ambiguous_or_out():
    _, ambiguous, out = shares(crisp([1, 2], 2))
    assert ambiguous.sentence == "No object is ambiguous."
    assert out.sentence == "No object is an outlier."


def test_no_object_is_assigned():
    assigned, ambiguous, _ = shares(crisp([3, 3], 2))
    assert assigned.sentence == "0 of 2 objects (0 %) are assigned to one cluster."
    assert ambiguous.sentence == "2 (100 %) are ambiguous: 2 between 0 and 1."


def test_percents_never_hide_a_single_object():
    assigned, ambiguous, _ = shares(crisp([1] * 299 + [3], 2))
    assert "(>99 %)" in assigned.sentence
    assert ambiguous.sentence.startswith("1 (<1 %) is ambiguous")


def test_a_fuzzy_partition_has_ambiguous_objects_without_any_set():
    fuzzy = CredalPartition([[0.5, 0.5], [0.9, 0.1]], FocalSets(2, "singletons", empty=False, omega=False))
    assigned, ambiguous, outliers = shares(fuzzy)
    assert assigned.sentence == "1 of 2 objects (50 %) is assigned to one cluster: 1 to cluster 0."
    assert assigned.meaning == "Their belief in that cluster is 0.6 or more."
    assert ambiguous.sentence == "1 (50 %) is ambiguous: 1 between 0 and 1."
    assert outliers.sentence == "This method does not look for outliers."


def test_many_sets_are_cut_short():
    partition = crisp([1 << k for k in range(9)], 9)
    assert shares(partition)[0].sentence.endswith("1 to cluster 5 and 3 other groups.")


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
