"""Links between objects: where they come from, what they say, and which ones are refused."""

import re

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.constraints.building import random_pairs
from strategies import all_subsets, as_dicts, random_masses

LINKS = PairwiseConstraints.from_links([(0, 1), (4, 1, 0.8)], [(4, 2), (3, 0, 0.25)])
NAMED = PairwiseConstraints.from_links([("Ann", "Bob")], [("Eve", "Bob", 0.5)])


# -- making them ------------------------------------------------------------------------------------------------------


def test_links_are_what_was_listed():
    assert LINKS.must_link.tolist() == [[0, 1], [4, 1]]
    assert LINKS.cannot_link.tolist() == [[4, 2], [3, 0]]
    assert LINKS.certainty.tolist() == [1, 0.8, 1, 0.25]
    assert [tuple(link) for link in NAMED] == [("Ann", "Bob", True, 1.0), ("Eve", "Bob", False, 0.5)]
    assert LINKS.objects.tolist() == [0, 1, 2, 3, 4]
    assert len(LINKS) == 4
    assert len(PairwiseConstraints.from_links()) == 0


def test_links_cannot_be_changed():
    with pytest.raises(AttributeError):
        LINKS.pairs = None
    for array in (LINKS.pairs, LINKS.must, LINKS.certainty, LINKS.objects):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_arrays_given_are_not_touched():
    pairs, must = np.array([[0, 1]]), np.array([True])
    PairwiseConstraints(pairs, must)
    pairs[0, 0] = 5
    assert must.flags.writeable


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PairwiseConstraints.from_links([(3, 3)]), ValueError, "linked to itself: must-link (3, 3)."),
        (lambda: PairwiseConstraints.from_links([], [("a", "a")]), ValueError, "cannot-link ('a', 'a')"),
        (lambda: PairwiseConstraints.from_links([(0, -2)]), ValueError, "numbered from 0: must-link (0, -2)"),
        (
            lambda: PairwiseConstraints.from_links([(0, 1), (2, 5)], [(5, 2)]),
            ValueError,
            "cannot be must-link and cannot-link at once: cannot-link (5, 2)",
        ),
        (lambda: PairwiseConstraints.from_links([(0, 1), (1, 0)]), ValueError, "linked once: must-link (1, 0)"),
        (lambda: PairwiseConstraints.from_links([(0, 1, 0.0)]), ValueError, "in (0, 1]: must-link (0, 1) has 0"),
        (lambda: PairwiseConstraints.from_links([(0, 1, 1.5)]), ValueError, "must-link (0, 1) has 1.5"),
        (lambda: PairwiseConstraints.from_links([(0, 1, np.nan)]), ValueError, "must-link (0, 1) has nan"),
        (lambda: PairwiseConstraints.from_links([(0, 1, 1, 1)]), ValueError, "(first, second, certainty)"),
        (lambda: PairwiseConstraints.from_links(["ab"]), ValueError, "Got 'ab'"),
        (lambda: PairwiseConstraints.from_links([(0.5, 1)]), TypeError, "Got 0.5 in (0.5, 1)"),
        (lambda: PairwiseConstraints.from_links([(True, 2)]), TypeError, "Got True"),
        (lambda: PairwiseConstraints.from_links([(0, "b")]), TypeError, "all of them by name"),
        (lambda: PairwiseConstraints([[0, 1, 2]], [True]), ValueError, "shape (n_links, 2)"),
        (lambda: PairwiseConstraints([[0.0, 1.0]], [True]), TypeError, "whole numbers"),
        (lambda: PairwiseConstraints([[0, 1]], [True, False]), ValueError, "1 links need as many"),
        (lambda: PairwiseConstraints([[0, 2]], [True], object_names=["a", "b"]), ValueError, "There are 2 names"),
        (lambda: PairwiseConstraints([[0, 1]], [True], object_names=["a", "a"]), ValueError, "twice or more: 'a'"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_many_mistakes_are_counted():
    with pytest.raises(ValueError, match=r"must-link \(4, 4\) and 3 more"):
        PairwiseConstraints.from_links([(k, k) for k in range(8)])


# -- from labels, groups, a truth -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [7, -1, 3, 7, 3, -1],
        ["x", None, "y", "x", "y", None],
        [1.0, np.nan, 2.0, 1.0, 2.0, np.nan],
        pd.Series(["x", None, "y", "x", "y", None]),
    ],
    ids=["int", "str", "nan", "series"],
)
def test_labels_link_all_known_pairs(labels):
    links = PairwiseConstraints.from_labels(labels, certainty=0.9)
    assert sorted(map(tuple, links.must_link)) == [(0, 3), (2, 4)]
    assert sorted(map(tuple, np.sort(links.cannot_link))) == [(0, 2), (0, 4), (2, 3), (3, 4)]
    assert (links.certainty == 0.9).all()


def test_labels_none_of_which_is_known_give_no_links():
    assert len(PairwiseConstraints.from_labels([-1, -1])) == 0
    none = PairwiseConstraints.from_labels(pd.Series([-1, -1], index=["a", "b"]))
    assert len(none.for_table(np.zeros((2, 1)))) == 0


def test_labels_of_named_objects_give_links_by_name():
    truth = pd.Series(["x", "y", None, "x"], index=list("abcd"))
    other = pd.DataFrame({"u": range(3)}, index=list("dab"))  # of the objects that are linked, in another order
    for links in (
        PairwiseConstraints.from_labels(truth),
        PairwiseConstraints.sample(truth, 3, random_state=0),
        PairwiseConstraints.from_knowledge(pd.Series([0, 1, -1, 0], index=list("abcd"))),
    ):
        found = {(frozenset(link[:2]), link[2]) for link in links}
        assert found == {(frozenset("ad"), True), (frozenset("ab"), False), (frozenset("bd"), False)}
        rows = {(frozenset(link[:2]), link[2]) for link in links.for_table(other)}
        assert rows == {(frozenset([0, 1]), True), (frozenset([1, 2]), False), (frozenset([0, 2]), False)}


def test_spanning_links_say_the_same_with_fewer():
    labels = np.repeat([0, 1, 2, -1], [6, 5, 1, 3])
    few, all_of_them = (PairwiseConstraints.from_labels(labels, links=links) for links in ("spanning", "all"))
    assert (len(few), len(all_of_them)) == (5 + 4 + 3, 66)
    assert {(*sorted(link[:2]), link[2]) for link in few.closure()} == {tuple(link[:3]) for link in all_of_them}


def test_masks_are_groups_of_their_pixels():
    left, right = np.zeros((2, 3), bool), np.zeros((2, 3), bool)
    left[:, 0], right[1, 1:] = True, True
    links = PairwiseConstraints.from_groups([left, right, [1]], apart=[(0, 1)])
    assert links.must_link.tolist() == [[0, 3], [4, 5]]
    assert links.cannot_link.tolist() == [[0, 4], [0, 5], [3, 4], [3, 5]]
    assert len(PairwiseConstraints.from_groups([left, right], apart=False)) == 2


def test_groups_of_names():
    links = PairwiseConstraints.from_groups([["Ann", "Bob"], ["Eve"]])
    assert [tuple(link[:3]) for link in links] == [("Ann", "Bob", True), ("Ann", "Eve", False), ("Bob", "Eve", False)]


@pytest.mark.parametrize(
    ("groups", "params", "message"),
    [
        ([np.zeros((2, 2), bool)], {}, "Group 0 is empty"),
        ([[0], []], {}, "Group 1 is empty"),
        ([np.eye(2, dtype=bool), np.eye(3, dtype=bool)], {}, r"Got \(2, 2\) and, for group 1, \(3, 3\)"),
        ([[0, 1], [1, 2]], {}, "both hold object .*1"),
        ([[0], [1]], {"apart": [(0, 2)]}, r"groups 0\.\.1. Got \(0, 2\)"),
        ([[0], [1]], {"apart": [(1, 1)]}, r"Got \(1, 1\)"),
        ([[0], [1]], {"links": "some"}, "must be one of 'all', 'spanning'"),
    ],
)
def test_wrong_groups_are_explained(groups, params, message):
    with pytest.raises(ValueError, match=message):
        PairwiseConstraints.from_groups(groups, **params)


def test_groups_of_numbers_that_are_no_indices_are_refused():
    with pytest.raises(TypeError, match="indices, names or a mask"):
        PairwiseConstraints.from_groups([[0.5]])


@pytest.mark.parametrize("n_objects", [2, 3, 11, 40])
def test_random_pairs_reach_every_pair_once(n_objects):
    total = n_objects * (n_objects - 1) // 2
    pairs = random_pairs(n_objects, total, np.random.RandomState(0))
    assert sorted(map(tuple, pairs)) == [(i, j) for i in range(n_objects) for j in range(i + 1, n_objects)]


def test_random_pairs_of_many_objects_are_pairs():
    n_objects = 3_000_000
    i, j = random_pairs(n_objects, 2000, np.random.RandomState(1)).T
    assert (i >= 0).all()
    assert (i < j).all()
    assert (j < n_objects).all()
    assert len(set(zip(i, j))) == 2000
    assert 0.6 < j.mean() / n_objects < 0.73  # the larger of two numbers: two thirds on average


def test_a_sample_repeats_the_truth():
    truth = np.array(["a", "b", "a", None, "b", "c", "a", None])
    links = PairwiseConstraints.sample(truth, 9, random_state=3)
    assert len(links) == 9
    for first, second, must, _ in links:
        assert truth[first] is not None
        assert must == (truth[first] == truth[second])
    again = PairwiseConstraints.sample(truth, 9, random_state=3)
    np.testing.assert_array_equal(links.pairs, again.pairs)
    with pytest.raises(ValueError, match="at most 15, the number of pairs of 6 objects"):
        PairwiseConstraints.sample(truth, 16)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [LINKS, NAMED], ids=["index", "name"])
def test_files_are_read_as_written(tmp_path, links):
    links.to_csv(tmp_path / "links.csv")
    assert list(PairwiseConstraints.from_csv(tmp_path / "links.csv")) == list(links)


def test_a_file_by_hand(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("first,second,link\n7,12,must-link\n12,3,cannot-link")  # no newline at the end, yet whole
    assert [tuple(link) for link in PairwiseConstraints.from_csv(path)] == [(7, 12, True, 1), (12, 3, False, 1)]
    assert PairwiseConstraints.from_csv(path, by="name").object_names == ("7", "12", "3")


def test_every_cut_of_a_file_is_noticed(tmp_path):
    path = tmp_path / "links.csv"
    LINKS.to_csv(path)
    whole = path.read_text()
    start_of_last = whole[:-1].rindex("\n") + 1
    path.write_text(whole[:start_of_last])
    with pytest.warns(UserWarning, match="ends after 3 links of 4"):
        assert len(PairwiseConstraints.from_csv(path)) == 3
    for cut in range(start_of_last + 1, len(whole) - 1):
        path.write_text(whole[:cut])
        with pytest.warns(UserWarning, match="ends in the middle of line 5; the 3 links before it were read"):
            links = PairwiseConstraints.from_csv(path)
        assert list(links) == list(LINKS)[:3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first,second\n1,2\n", "Missing: link"),
        ("", "Missing: first, second, link"),
        ("first,second,link\n1,2,must\n3,4,must-link\n", "line 2: expected first, second and 'must-link'"),
        ("first,second,link,certainty\n1,2,must-link,much\n", "line 2: could not convert"),
        ("first,second,link,certanty\n1,2,must-link,0.5\n", "there is no column 'certanty' among first, second, link"),
        ("first,second,link\n1,2,must-link,0.5\n", "line 2: expected first, second, link"),
        ("first,second,link", "cut off there"),
        ("first,second,link\n1,1,must-link\n", "linked to itself"),
    ],
)
def test_damaged_files_are_explained(tmp_path, text, message):
    (tmp_path / "links.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        PairwiseConstraints.from_csv(tmp_path / "links.csv")


def test_a_damaged_line_never_becomes_another_link(tmp_path):
    path = tmp_path / "links.csv"
    PairwiseConstraints.from_links([(1, 2, 0.25), (3, 4)], [(5, 6)]).to_csv(path)
    whole = path.read_text()
    for old, new, line in (("1,2,0.25", "1,3,0.25", 2), ("0.25", "0.35", 2), ("3,4", "30,4", 3), ("5,6", "7,6", 4)):
        path.write_text(whole.replace(old, new))
        with pytest.raises(ValueError, match=f"links.csv, line {line}: the line, or one before it, was damaged"):
            PairwiseConstraints.from_csv(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_with_a_mark_before_its_letters_is_read(tmp_path, encoding):
    (tmp_path / "links.csv").write_bytes("first,second,link\nJosé,Zoë,must-link\n".encode(encoding))
    assert PairwiseConstraints.from_csv(tmp_path / "links.csv").object_names == ("José", "Zoë")


def test_latin_1_is_read_and_told(tmp_path):
    (tmp_path / "links.csv").write_bytes("first,second,link\nJosé,Zoë,must-link\n".encode("latin-1"))
    with pytest.warns(UserWarning, match=r"links\.csv is not UTF-8 and was read as Latin-1"):
        assert PairwiseConstraints.from_csv(tmp_path / "links.csv").object_names == ("José", "Zoë")


def test_how_to_read_a_file_is_checked(tmp_path):
    NAMED.to_csv(tmp_path / "links.csv")
    with pytest.raises(ValueError, match="'by' must be one of"):
        PairwiseConstraints.from_csv(tmp_path / "links.csv", by="row")
    with pytest.raises(ValueError, match="said to hold row numbers, but it holds 'Ann'"):
        PairwiseConstraints.from_csv(tmp_path / "links.csv", by="index")


# -- a partition ------------------------------------------------------------------------------------------------------


def test_violations_follow_the_definitions():
    focal_sets = FocalSets(3)
    partition = CredalPartition(random_masses(5, focal_sets, seed=4), focal_sets)
    masses = as_dicts(partition)
    table = LINKS.violations(partition)
    for (first, second, must, _), belief, plausibility in zip(LINKS, table["belief"], table["plausibility"]):
        same = different = torn = 0.0
        for a in all_subsets(3):
            for b in all_subsets(3):
                product = masses[first].get(a, 0) * masses[second].get(b, 0)
                if a and b:
                    surely_same, surely_different = a == b and len(a) == 1, not a & b
                    same += product * surely_same
                    different += product * surely_different
                    torn += product * (not surely_same and not surely_different)
        assert belief == pytest.approx(different if must else same, abs=1e-12)
        assert plausibility == pytest.approx((different if must else same) + torn, abs=1e-12)
    assert table["link"].tolist() == ["must-link"] * 2 + ["cannot-link"] * 2
    assert table["certainty"].tolist() == [1, 0.8, 1, 0.25]


def test_violations_of_links_by_name_need_names():
    masses, focal_sets = np.eye(3)[[0, 1, 0]], FocalSets(3, "singletons", empty=False, omega=False)
    table = NAMED.violations(CredalPartition(masses, focal_sets, object_names=["Eve", "Ann", "Bob"]))
    assert table[["first", "belief"]].to_numpy().tolist() == [["Ann", 1.0], ["Eve", 1.0]]
    with pytest.raises(ValueError, match="'Ann', but the partition has no names"):
        NAMED.violations(CredalPartition(masses, focal_sets))
    with pytest.raises(ValueError, match=re.escape("rows 0..2 of the partition: must-link (4, 1)")):
        LINKS.violations(CredalPartition(masses, focal_sets))


# -- tables -----------------------------------------------------------------------------------------------------------


def test_names_are_looked_up_in_the_table():
    X = pd.DataFrame({"x": range(4)}, index=["Eve", "Zoe", "Bob", "Ann"])
    links = NAMED.for_table(X)
    assert links.object_names is None
    assert links.pairs.tolist() == [[3, 2], [0, 2]]
    assert LINKS.for_table(np.zeros((5, 2))) is LINKS
    assert LINKS.for_table([[0]] * 5) is LINKS


@pytest.mark.parametrize(
    ("links", "X", "message"),
    [
        (LINKS, np.zeros((4, 2)), "Links must be between the rows 0..3 of X: must-link (4, 1), cannot-link (4, 2)."),
        (NAMED, np.zeros((4, 2)), "'Ann', but X has no names"),
        (NAMED, [[0]] * 4, "'Ann', but X has no names"),
        (NAMED, pd.DataFrame({"x": [1, 2]}, index=["Ann", "Zoe"]), "X does not have: 'Bob', 'Eve'."),
        (NAMED, pd.DataFrame({"x": range(4)}, index=["Ann", "Eve", "Bob", "Eve"]), "more than once: 'Eve'"),
    ],
)
def test_objects_that_the_table_does_not_have_are_named(links, X, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        links.for_table(X)


def test_taking_rows_renumbers_the_links():
    links = LINKS.take([4, 0, 1])
    assert [tuple(link) for link in links] == [(1, 2, True, 1.0), (0, 2, True, 0.8)]
    by_mask = LINKS.take(np.array([True, False, True, True, True]))
    assert [tuple(link) for link in by_mask] == [(3, 1, False, 1.0), (2, 0, False, 0.25)]
    assert len(LINKS.take([])) == 0
    assert [link.first for link in NAMED.take(["Bob", "Eve"])] == ["Eve"]
    with pytest.raises(ValueError, match=r"each row once, but these come twice or more: .*2"):
        LINKS.take([2, 1, 2])


def test_taken_links_speak_of_the_taken_rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 30)
    rows = rng.permutation(30)[:17]
    taken = PairwiseConstraints.sample(truth, 200, random_state=0).take(rows)
    assert len(taken) > 30
    for first, second, must, _ in taken:
        assert must == (truth[rows][first] == truth[rows][second])


def test_union_holds_the_links_of_both():
    both = LINKS.union(PairwiseConstraints.from_links([(2, 3, 0.5)]))
    assert {tuple(link) for link in both} == {*map(tuple, LINKS), (2, 3, True, 0.5)}
    with pytest.raises(ValueError, match="linked once"):
        LINKS.union(LINKS.take([0, 1]))


# -- reading ----------------------------------------------------------------------------------------------------------


def test_links_print_readably():
    assert repr(LINKS) == "PairwiseConstraints(2 must-link, 2 cannot-link, 2 of them soft)"
    assert repr(NAMED) == "PairwiseConstraints(1 must-link, 1 cannot-link, 1 of them soft; by name)"
    assert str(NAMED).splitlines() == [
        "1 must-link, 1 cannot-link, 1 of them soft",
        "  Ann and Bob belong together",
        "  Eve and Bob do not belong together (certainty 0.5)",
    ]
    assert str(PairwiseConstraints.from_labels(range(9))).endswith("... and 26 more")
