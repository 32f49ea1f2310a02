"""What is known of single objects, in every form it may come in, and the links that follow from it."""

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets, PairwiseConstraints
from evidentia.constraints.knowledge import read_knowledge
from evidentia.neural.knowledge import read_labels, sure_labels

ROWS = np.zeros((4, 2))
FORMS = {
    "numbers": np.array([2, -1, 0, 1]),
    "decimals": [2.0, np.nan, 0.0, None],
    "sets": [{2}, -1, {0, 1}, (1,)],
    "series": pd.Series([2, -1, 0, 1], index=list("abcd")),
    "table": np.array([[0, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool),
}
CONTOURS = {
    "numbers": [[0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]],
    "decimals": [[0, 0, 1], [1, 1, 1], [1, 0, 0], [1, 1, 1]],
    "sets": [[0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]],
    "series": [[0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0]],
    "table": [[0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 0]],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_one_mass_function_an_object(form):
    known = read_knowledge(FORMS[form], ROWS, 3, "EGMM")
    assert set(known.masses.ravel()) == {0.0, 1.0}
    np.testing.assert_array_equal(known.contour, CONTOURS[form])


def test_masses_lose_the_empty_set_and_nothing_else():
    given = CredalPartition([[0.5, 0.3, 0.0, 0.2], [0.0, 0.0, 0.0, 1.0]], FocalSets(2))
    known = read_knowledge(given, ROWS[:2], 2, "EGMM")
    assert known.focal_sets.names() == ["{0}", "{1}", "{0,1}"]
    np.testing.assert_allclose(known.masses, [[0.6, 0.0, 0.4], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ([0, 1], ValueError, "'knowledge' of EGMM must tell of each of 4 objects, -1 for unknown. It has 2."),
        ([0, 3, 1, 1], ValueError, "Object 1 has 3; raise n_clusters or renumber them"),
        ([0, -2, 1, 1], ValueError, "Object 1 has -2"),
        ([0, {1, -1}, 1, 1], ValueError, "Object 1 has -1"),
        ([0, set(), 1, 1], ValueError, "leaves no cluster for object 1: its set is empty"),
        (["a", "b", "a", "b"], TypeError, "by numbers from 0 to 2. Object 0 has 'a'; pandas.factorize numbers names"),
        ([0, 0.5, 1, 1], TypeError, "Object 1 has 0.5"),
        ([True, False, True, True], TypeError, "Object 0 has True"),
        ("0120", TypeError, "must be a CredalPartition, a list"),
        (7, TypeError, "Got int"),
        (np.full((4, 3), 0.5), ValueError, "masses come as a CredalPartition"),
        (np.ones((4, 2), dtype=bool), ValueError, "4 × 3 bool"),
        (CredalPartition(np.ones((4, 1)), FocalSets(2, [{0}])), ValueError, "Got 4 over 2 clusters"),
        (CredalPartition(np.ones((3, 1)), FocalSets(3, [{0}])), ValueError, "Got 3 over 3 clusters"),
        (CredalPartition([[1, 0], [0, 1], [0, 1], [0, 1]], FocalSets(3, [[], {0}])), ValueError, "object 0: all its"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, kind, words):
    with pytest.raises(kind) as error:
        read_knowledge(given, ROWS, 3, "EGMM")
    assert words in str(error.value)


def test_knowledge_whose_objects_have_names_is_joined_by_them():
    X = pd.DataFrame(ROWS[:2], index=["a", "b"])
    given = CredalPartition([[0.9, 0.1], [0.2, 0.8]], FocalSets(2, [{0}, {1}]), object_names=["b", "a"])
    assert read_knowledge(given, X, 2, "EGMM").masses.tolist() == [[0.2, 0.8], [0.9, 0.1]]
    numbers = pd.Series([1, -1], index=["b", "a"])
    assert read_knowledge(numbers, X, 2, "EGMM").contour.tolist() == [[1, 1], [0, 1]]
    with pytest.raises(ValueError, match="only X has 'b' and only 'knowledge' of EGMM has 'c'"):
        read_knowledge(numbers.rename({"b": "c"}), X, 2, "EGMM")


def test_links_of_mass_functions_by_hand():
    # m0 = .8 {0} + .2 {0,1};  m1 = .9 {1} + .1 {0,1};  m2 = {0};  m3 says nothing.
    # conflict of 0 and 1: .8 * .9 = .72; of 1 and 2: .9. Same: of 0 and 2, .8 * 1 = .8.
    given = CredalPartition(
        [[0.8, 0, 0.2], [0, 0.9, 0.1], [1, 0, 0], [0, 0, 1]], FocalSets(2, empty=False), object_names=list("abcd")
    )
    found = PairwiseConstraints.from_knowledge(given)
    assert [tuple(link)[:3] for link in found] == [("a", "b", False), ("a", "c", True), ("b", "c", False)]
    np.testing.assert_allclose(found.certainty, [0.72, 0.8, 0.9])
    assert [tuple(link)[:2] for link in PairwiseConstraints.from_knowledge(given, least=0.75)] == [
        ("a", "c"),
        ("b", "c"),
    ]
    with pytest.raises(ValueError, match=r"'least' must lie in \(0, 1\]"):
        PairwiseConstraints.from_knowledge(given, least=0)


def test_links_of_labels_are_those_of_from_labels():
    labels = np.array([0, 2, -1, 0, 1, 2])
    one, other = PairwiseConstraints.from_knowledge(labels), PairwiseConstraints.from_labels(labels)
    told = {(min(a, b), max(a, b), must, s) for a, b, must, s in other}
    assert {tuple(link) for link in one} == told
    assert (one.certainty == 1).all()


def test_sets_link_only_where_they_are_disjoint_or_single():
    found = PairwiseConstraints.from_knowledge([{0, 1}, {1, 2}, {2}, {3}, {3}], n_clusters=4)
    assert {tuple(pair) for pair in found.must_link.tolist()} == {(3, 4)}
    assert {tuple(p) for p in found.cannot_link.tolist()} == {(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)}


def test_the_network_takes_plausibilities_for_labels():
    given = CredalPartition([[0.8, 0, 0.2], [0, 0, 1], [0, 1, 0]], FocalSets(2, empty=False))
    possible = read_labels(given, 3, 2)
    np.testing.assert_allclose(possible, [[1, 0.2], [1, 1], [0, 1]])
    np.testing.assert_array_equal(sure_labels(possible), [-1, -1, 1])
    np.testing.assert_array_equal(read_labels([{0, 1}, {1}, -1], 3, 2), [[1, 1], [0, 1], [1, 1]])
