import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from evidentia.solvers import starts
from evidentia.solvers.starts import (
    START_RULES,
    Rows,
    kmeans_plus_plus,
    kmeans_starts,
    random_starts,
    representatives,
    sorted_rows,
    spread_starts,
)


def groups(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * 0.3 + 5 * rng.integers(0, 3, size=(n, 1)) * [1.0, 2.0]


@pytest.mark.parametrize("rule", START_RULES.values())
def test_starts_do_not_depend_on_the_order_or_the_writing_of_rows(rule):
    X = groups(60)
    weight = np.random.default_rng(1).integers(1, 4, size=60).astype(float)
    shuffle = np.random.default_rng(2).permutation(60)
    a = list(rule(X, 3, 4, np.random.RandomState(7), weight))
    b = list(rule(X[shuffle], 3, 4, np.random.RandomState(7), weight[shuffle]))
    c = list(rule(np.repeat(X, weight.astype(int), axis=0), 3, 4, np.random.RandomState(7)))
    assert len(a) == 4
    np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(a, c, atol=1e-9)


def test_kmeans_starts_find_groups_that_are_there():
    for centers in kmeans_starts(groups(), 3, 3, np.random.RandomState(0)):
        np.testing.assert_allclose(np.sort(centers[:, 0]), [0, 5, 10], atol=0.2)


@pytest.mark.parametrize("n_starts", [1, 4, 5])
def test_mixed_starts_are_half_k_means_and_half_rows(n_starts):
    X = groups(60)
    found = list(START_RULES["mixed"](X, 3, n_starts, np.random.RandomState(0)))
    are_rows = [all((center == X).all(axis=1).any() for center in centers) for centers in found]
    assert are_rows == [False] * (n_starts - n_starts // 2) + [True] * (n_starts // 2)


@pytest.mark.parametrize("tie", [1.0, np.nan])
def test_rows_are_sorted_by_all_columns_where_the_last_three_are_tied(tie):
    X = np.array([[2.0, 1, tie, 1], [1.0, 1, tie, 1], [0.0, 5, tie, 1], [3.0, 1, tie, 0]])
    assert sorted_rows(X).tolist() == [3, 1, 0, 2]


def test_random_starts_are_equal_rows_only_when_there_are_no_others():
    X = np.repeat([[0.0, 1], [0, 2], [5, 1], [5, 2]], [40, 3, 2, 1], axis=0)
    for centers in random_starts(X, 4, 5, np.random.RandomState(0)):
        assert len(np.unique(centers, axis=0)) == 4
    for centers in random_starts(X, 6, 5, np.random.RandomState(0)):
        assert len(np.unique(centers, axis=0)) == 4


def test_the_next_seed_is_never_a_row_already_chosen():
    rows = Rows(np.array([[0.0], [0.0], [1.0], [9.0]]), np.ones(4))
    for draw in np.linspace(0.01, 0.99, 9):
        seeds = kmeans_plus_plus(rows, np.array([0.1, draw, 0.5]))
        assert len(np.unique(seeds)) == 3
    # distances from 0: 0, 0, 1, 81: only draws below 1/82 give the row at 1
    assert kmeans_plus_plus(rows, np.array([0.1, 0.0121]))[1, 0] == 1
    assert kmeans_plus_plus(rows, np.array([0.1, 0.0123]))[1, 0] == 9


def test_a_large_table_is_represented_in_proportion(monkeypatch):
    monkeypatch.setattr(starts, "REPRESENTATIVES", 100)
    X = np.repeat([[0.0], [1.0], [2.0]], [700, 200, 100], axis=0)
    rows = representatives(X, None, np.random.RandomState(0))
    np.testing.assert_array_equal(np.unique(rows.X, return_counts=True)[1], [70, 20, 10])
    rows = representatives(X, np.repeat([1.0, 3.5, 0.0], [700, 200, 100]), np.random.RandomState(0))
    np.testing.assert_array_equal(np.unique(rows.X, return_counts=True)[1], [50, 50])


def test_objects_to_start_from_are_different_and_far_from_each_other():
    line = np.array([0.0, 0.0, 0.0, 5.0, 5.0, 9.0])
    apart = np.abs(line[:, None] - line)
    for start in spread_starts(apart, 3, 40, np.random.RandomState(3)):
        assert sorted(line[start]) == [0, 5, 9]
    for start in spread_starts(apart, 6, 5, np.random.RandomState(3)):  # nothing but copies is left in the end
        assert sorted(start.tolist()) == [0, 1, 2, 3, 4, 5]
    second = [start[1] for start in spread_starts(apart, 2, 6000, np.random.RandomState(3)) if start[0] == 5]
    share = np.bincount(second, minlength=6) / len(second)
    # from 9 the others are at 9, 9, 9, 4, 4: 27 of 35 begin at 0
    np.testing.assert_allclose(share, np.array([9, 9, 9, 4, 4, 0]) / 35, atol=0.05)


def test_objects_to_start_from_are_drawn_by_the_nearest_of_those_before():
    line = np.array([0.0, 10.0, 1.0, 6.0])
    starts = list(spread_starts(np.abs(line[:, None] - line), 3, 9000, np.random.RandomState(1)))
    third = [start[2] for start in starts if start[:2].tolist() == [0, 1]]
    assert np.mean(np.array(third) == 2) == pytest.approx(1 / 5, abs=0.05)  # at 1 from 0, and at 4 from 10
    assert len(starts) == 9000


def test_a_start_does_not_hide_the_warnings_of_its_caller():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in kmeans_starts(X, 2, 2, np.random.RandomState(0)):
            warnings.warn("not yet at rest", ConvergenceWarning, stacklevel=1)
    assert [str(one.message) for one in heard] == ["not yet at rest"] * 2


def test_a_draw_at_the_end_of_the_chances_is_the_last_object():
    np.testing.assert_array_equal(starts._pick(np.array([1.0, 2.0]), np.array([0.0, 0.3, 0.4, 1.0])), [0, 0, 1, 1])


def test_as_many_rows_as_may_represent_the_others_stand_for_themselves(monkeypatch):
    monkeypatch.setattr(starts, "REPRESENTATIVES", 4)
    weight = np.array([1.0, 2.0, 0.5, 9.0])
    order, share = starts.representative_rows(np.arange(4.0)[:, None], weight, np.random.RandomState(0))
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_array_equal(share, weight[order])
