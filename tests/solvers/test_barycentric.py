"""Centers of sets, and the centers of clusters behind them."""

import numpy as np
import pytest

from evidentia.belief import FocalSets
from evidentia.solvers.barycentric import averaging, solve_centers, solve_semidefinite


def test_the_center_of_a_set_is_the_mean_of_its_members():
    average = averaging(FocalSets(3, [{0, 2}, set(), {1}, {0, 1, 2}]))
    centers = np.array([[0.0, 3.0], [6.0, 0.0], [3.0, 9.0]])
    np.testing.assert_allclose(average @ centers, [[1.5, 6], [0, 0], [6, 0], [3, 4]])


@pytest.mark.parametrize("family", ["full", "pairs", [{0, 1}, {1, 2}, {0, 2}, set()]])
def test_solved_centers_are_the_least_squares_fit(family):
    """Against every object and set as its own equation, weighted by its root."""
    rng = np.random.default_rng(0)
    average = averaging(FocalSets(3, family))
    X, w = rng.normal(size=(20, 2)), rng.uniform(0, 2, (20, len(average)))
    found = solve_centers(w.sum(axis=0), w.T @ X, average, rng.normal(size=(3, 2)))
    root = np.sqrt(w).reshape(-1, 1)
    equations = root * np.tile(average, (20, 1))
    expected = np.linalg.lstsq(equations, root * np.repeat(X, len(average), axis=0), rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_center_without_objects_stays_where_it_was():
    average, previous = averaging(FocalSets(2, [{0}, {1}])), np.array([[9.0], [7.0]])
    found = solve_centers(np.array([2.0, 0.0]), np.array([[6.0], [0.0]]), average, previous)
    np.testing.assert_allclose(found, [[3], [7]])


def test_centers_known_only_by_their_mean_move_together():
    average, previous = averaging(FocalSets(2, [{0, 1}])), np.array([[0.0], [4.0]])
    found = solve_centers(np.array([5.0]), np.array([[25.0]]), average, previous)  # the mean must become 5
    np.testing.assert_allclose(found, [[3], [7]])


def test_no_objects_at_all_move_nothing():
    average, previous = averaging(FocalSets(2)), np.array([[1.0], [4.0]])
    np.testing.assert_array_equal(solve_centers(np.zeros(4), np.zeros((4, 1)), average, previous), previous)


def test_semidefinite_solution_is_that_of_the_pseudoinverse():
    root = np.random.default_rng(0).normal(size=(5, 3))
    matrix, right = root @ root.T, root @ np.array([[1.0, 2.0], [0.5, 0.0], [3.0, 1.0]])
    np.testing.assert_allclose(solve_semidefinite(matrix, right), np.linalg.pinv(matrix) @ right, rtol=1e-8)


def test_weights_whose_inverse_doubles_do_not_hold_leave_a_center_where_it_was():
    found = solve_semidefinite(np.diag([1e-310, 0.0]), np.array([[5e-311], [0.0]]))
    assert found.ravel().tolist() == [0.0, 0.0]
