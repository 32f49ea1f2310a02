"""What is usual in each cluster, by hand; more of it is in the tests of explanations."""

from math import log, sqrt

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition.profiles import (
    Columns,
    Profiles,
    assigned_weights,
    column_separations,
    possible_weights,
    profile,
    read_columns,
)

PAIR = FocalSets(2, [set(), {0}, {1}, {0, 1}])
NAN = float("nan")
MIXED = Columns(np.array([[1.5, 0, 7], [NAN, 1, 8], [4, NAN, 9], [2, 1, 8]]), ("x", "color", "y"), {1: ("blue", "red")})


@pytest.fixture
def profiles():
    """Two clusters; x is twice as wide in the second, half of the first is red and four fifths of the second."""
    shares = np.log([[0.5, 0.5], [0.2, 0.8]])
    means, spreads = np.array([[1.0, NAN, 8], [4, NAN, 8]]), np.array([[1.0, NAN, 3], [2, NAN, 3]])
    return Profiles(MIXED, means, spreads, {1: shares}, np.array([2.0, 1.0, 3.0]))


def test_contrast_is_the_expected_evidence(profiles):
    # Normal: KL(a|b) = log 2 + (1 + 9) / 8 - 1/2, KL(b|a) = -log 2 + (4 + 9) / 2 - 1/2; half of their sum is 3.375.
    color = ((0.5 - 0.2) * log(0.5 / 0.2) + (0.5 - 0.8) * log(0.5 / 0.8)) / 2
    np.testing.assert_allclose(profiles.contrast(0, 1), [3.375, color, 0])
    np.testing.assert_allclose(profiles.contrast(1, 0), [3.375, color, 0])


def test_distances_are_in_spreads_and_rare_categories_are_far(profiles):
    rows, clusters = np.array([0, 1, 2, 0]), np.array([1, 1, 0, 0])
    blue = sqrt(2 * log(0.8 / 0.2))
    expected = [[-1.25, blue, -1 / 3], [0, 0, 0], [3, 0, 1 / 3], [0.5, 0, -1 / 3]]
    np.testing.assert_allclose(profiles.distances(rows, clusters), expected)


def test_log_densities_are_students_in_units_of_the_column(profiles):
    rows, clusters = np.array([0, 1]), np.array([1, 1])
    x = -2.5 * log(1 + 1.25**2 / 4) - log(2 / 2)
    y = -2.5 * log(1 + (1 / 3) ** 2 / 4) - log(3 / 3)
    expected = [[x, log(0.2), y], [0, log(0.8), 0]]
    np.testing.assert_allclose(profiles.log_densities(rows, clusters), expected)


def test_neighbors_are_near_by_the_columns_known_of_both(profiles):
    # From row 0: row 1 has another color and 1/3 in y; row 2 has 1.25 in x and 2/3 in y; row 3 0.25, another, 1/3.
    squares = [(2 + 1 / 9) / 2, (1.25**2 + 4 / 9) / 2, (0.25**2 + 2 + 1 / 9) / 3]
    np.testing.assert_allclose(profiles.neighbor_distances(0, np.array([1, 2, 3])), np.sqrt(3 * np.array(squares)))
    apart = Columns(np.array([[1.0, NAN], [NAN, 2.0]]), ("x", "y"))
    nothing = np.ones((1, 2))
    assert Profiles(apart, nothing, nothing, {}, np.ones(2)).neighbor_distances(0, np.array([1])) == [np.inf]


def test_a_cluster_of_equal_values_is_as_narrow_as_a_thousandth_of_the_column():
    partition = CredalPartition(np.eye(2)[[0, 0, 0, 0, 1, 1]], FocalSets(2, [{0}, {1}]))
    found = profile(partition, read_columns([[3.0], [3], [3], [3], [9], [9]]))
    whole = sqrt((4 * 2**2 + 2 * 4**2) / 6)
    np.testing.assert_allclose(found.scale, [1e-3 * whole])
    np.testing.assert_allclose(found.spreads[:, 0], [1e-3 * whole * sqrt(2 / 6), 1e-3 * whole * sqrt(2 / 4)])
    np.testing.assert_allclose(found.means[:, 0], [3, 9])


def test_a_column_that_is_constant_or_empty_has_a_place_and_a_spread():
    partition = CredalPartition(np.eye(2)[[0, 0, 1, 1]], FocalSets(2, [{0}, {1}]))
    found = profile(partition, read_columns(np.column_stack([np.full(4, 1e9 / 3), np.full(4, NAN)])))
    np.testing.assert_allclose(found.means, [[1e9 / 3, 0], [1e9 / 3, 0]])
    assert (found.spreads > 0).all()
    at_home, away = found.log_densities(np.array([0, 0]), np.array([0, 1]))
    np.testing.assert_array_equal(at_home, away)


def test_who_counts_for_means_and_spreads():
    """Cluster 0 has two sure objects, cluster 1 a single one; the last is an outlier."""
    masses = [[0, 0.9, 0.1, 0], [0, 0.6, 0, 0.4], [0, 0.2, 0.8, 0], [0.1, 0.2, 0.1, 0.6], [0.8, 0.1, 0.1, 0]]
    partition = CredalPartition(masses, PAIR)
    betp = partition.pignistic
    np.testing.assert_allclose(possible_weights(partition)[:, 0], [0.9, 0.8, 0, betp[3, 0], 0])
    np.testing.assert_allclose(possible_weights(partition)[:, 1], [0, 0, 0.8, betp[3, 1], 0])
    np.testing.assert_allclose(assigned_weights(partition)[:, 0], [0.9, 0.6, 0, 0, 0])
    np.testing.assert_allclose(assigned_weights(partition)[:, 1], [0, 0, 0.8, betp[3, 1], 0])  # as for the spread
    alone = CredalPartition(masses[:3] + masses[4:], PAIR)  # of cluster 1 there is one: everybody but the outlier
    np.testing.assert_allclose(possible_weights(alone)[:, 1], [0.1, 0.2, 0.8, 0])


def test_a_cluster_smaller_than_an_object_is_weighed_as_it_is():
    fuzzy = np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]])
    x = np.array([1.0, 5.0, 3.5])
    middle = [fuzzy[:, k] @ x / fuzzy[:, k].sum() for k in range(2)]
    between = sum(fuzzy[:, k].sum() * (middle[k] - x.mean()) ** 2 for k in range(2))
    partition = CredalPartition(fuzzy, FocalSets(2, [{0}, {1}]))
    found = column_separations(partition, read_columns(np.column_stack([x, [NAN, 2, 2]])))
    np.testing.assert_allclose(found, [between / ((x - x.mean()) ** 2).sum(), 0])


def test_a_table_of_columns_and_back():
    frame = MIXED.to_frame(list("abcd"), "who")
    assert frame.index.name == "who"
    assert frame.index.tolist() == list("abcd")
    assert frame.columns.tolist() == ["x", "color", "y"]
    assert frame["color"].tolist()[:2] == ["blue", "red"]
    again = read_columns(frame)
    np.testing.assert_array_equal(again.values, MIXED.values)
    assert (again.names, again.levels) == (MIXED.names, MIXED.levels)
    assert Columns(np.empty((2, 0)), ()).to_frame(["a", "b"], "who").shape == (2, 0)


def test_some_columns_and_zeros_and_ones():
    some = MIXED.only(np.array([False, True, True]))
    assert (some.names, some.levels, some.numeric.tolist()) == (("color", "y"), {0: ("blue", "red")}, [False, True])
    np.testing.assert_array_equal(some.values, MIXED.values[:, 1:])
    wide, origin = MIXED.one_hot()
    assert origin.tolist() == [0, 1, 1, 2]
    np.testing.assert_array_equal(wide, [[1.5, 1, 0, 7], [NAN, 0, 1, 8], [4, NAN, NAN, 9], [2, 0, 1, 8]])
    assert Columns(np.empty((2, 0)), ()).one_hot()[0].shape == (2, 0)


def test_what_is_no_number_is_a_category_and_infinity_is_missing():
    frame = pd.DataFrame(
        {"n": [1, 2.5, np.inf], "text": ["3", None, "-inf"], "b": [True, False, True], "c": ["x", "y", 1]}
    )
    found = read_columns(frame)
    np.testing.assert_array_equal(found.values[:, :3], [[1, 3, 1], [2.5, NAN, 0], [NAN, NAN, 1]])
    assert found.levels == {3: ("1", "x", "y")}
    assert found.values[:, 3].tolist() == [1, 2, 0]
    array = read_columns(np.array([["1", "u"], ["2", "v"]]))
    assert (array.names, array.levels, array.values.tolist()) == (
        ("column 0", "column 1"),
        {1: ("u", "v")},
        [[1, 0], [2, 1]],
    )
    assert read_columns(frame, ["p", "q", "r", "s"]).names == ("p", "q", "r", "s")
