"""Nearest neighbors from a table and from a matrix."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from evidentia.solvers.neighbors import distances, nearest

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_table_and_matrix_agree_with_sorting(metric):
    D = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    order = np.argsort(D, axis=1)[:, 1:8]
    for found, neighbor in (nearest(X, 7, metric=metric), nearest(D, 7, metric="precomputed")):
        np.testing.assert_array_equal(neighbor, order)
        np.testing.assert_allclose(found, np.take_along_axis(D, order, axis=1))


def test_new_objects_have_neighbors_among_the_known():
    found, neighbor = nearest(X, 2, queries=X[:4] + 1e-6)
    np.testing.assert_array_equal(neighbor[:, 0], np.arange(4))
    assert (found[:, 0] < 1e-5).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", lambda a, b: abs(a - b).max()])
def test_distances_are_those_of_the_metric(metric):
    name = {"euclidean": "euclidean", "manhattan": "cityblock"}.get(metric, "chebyshev")
    np.testing.assert_allclose(distances(X[:5], X, metric=metric), cdist(X[:5], X, name))


def test_near_rows_far_from_zero_keep_their_digits():
    far = 1e7 + np.array([[0.0], [1e-3]])
    assert distances(far, far)[0, 1] == pytest.approx(1e-3, rel=1e-5)


def test_an_outlier_does_not_take_the_digits_of_rows_far_from_zero():
    rows = np.vstack([np.random.default_rng(0).normal(size=(40, 3)), [[-6e5, 4e5, 8e5]]])
    moved = rows + np.array([-4e5, 2e5, 5e5])
    wanted = np.sort(cdist(moved, moved), axis=1)[:, 1:31]  # of so many scikit-learn compares all rows
    np.testing.assert_allclose(nearest(moved, 30)[0], wanted, rtol=1e-9)


def test_two_rows_are_as_far_apart_as_the_other_way_round():
    for seed in range(50):
        (one, other), _ = nearest(np.random.default_rng(seed).normal(size=(2, 4)) + 3, 1)
        assert one == other
