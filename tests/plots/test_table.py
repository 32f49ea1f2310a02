"""Which plane a picture shows."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import ConvexHull

from evidentia.plots.partition import convex_hull
from evidentia.plots.table import choose_plane, column_names, column_numbers, fill_missing, to_table

TABLE = np.array([[1.0, 10.0, 100.0], [2.0, 30.0, 500.0], [4.0, 20.0, 300.0]])
NAMES = ["a", "b", "c"]


def test_first_two_columns_without_a_wish():
    plane = choose_plane(TABLE, NAMES, None)
    np.testing.assert_array_equal(plane.project(TABLE), TABLE[:, :2])
    assert plane.names == ("a", "b")


@pytest.mark.parametrize("columns", [(2, 0), ("c", "a"), ("c", 0), (-1, 0)])
def test_columns_by_number_or_name_in_the_order_asked(columns):
    plane = choose_plane(TABLE, NAMES, columns)
    np.testing.assert_array_equal(plane.project(TABLE), TABLE[:, [2, 0]])
    assert plane.names == ("c", "a")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("a", "height"), "There is no column 'height'. The columns are: a, b, c."),
        ((0, 3), "There is no column 3: the table has 3, counted from 0."),
        ((0, 1, 2), "'columns' must be two columns, or 'pca'."),
        ("umap", "'columns' must be two columns, or 'pca'. Got 'umap'."),
    ],
)
def test_unknown_columns_are_named(columns, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        choose_plane(TABLE, NAMES, columns)


def test_a_name_is_not_read_as_two_letters():
    with pytest.raises(ValueError, match="must be two columns"):
        column_numbers("ab", NAMES)


def test_names_come_from_the_argument_the_frame_or_the_number():
    frame = pd.DataFrame(TABLE, columns=["u", "v", 7])
    assert column_names(frame, None, 3) == ["u", "v", "7"]
    assert column_names(frame, NAMES, 3) == NAMES
    assert column_names(TABLE, None, 3) == ["column 0", "column 1", "column 2"]
    with pytest.raises(ValueError, match=r"must name 3 columns. Got 2"):
        column_names(TABLE, ["a", "b"], 3)


def test_principal_components_carry_the_variance_of_the_eigenvalues():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + 7
    plane = choose_plane(table, list("abcd"), "pca")
    xy = plane.project(table)
    values = np.sort(np.linalg.eigvalsh(np.cov(table.T)))[::-1]
    np.testing.assert_allclose(np.cov(xy.T), np.diag(values[:2]), atol=1e-9)
    np.testing.assert_allclose(xy.mean(axis=0), 0, atol=1e-9)
    assert plane.names == tuple(f"PC {i + 1} ({100 * values[i] / values.sum():.0f} %)" for i in range(2))


def test_principal_axes_do_not_depend_on_the_sign_of_the_data():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(30, 3)) * [3, 2, 1]
    np.testing.assert_allclose(choose_plane(table, NAMES, "pca").axes, choose_plane(-table, NAMES, "pca").axes)
    assert (np.abs(choose_plane(table, NAMES, "pca").axes).max(axis=0) > 0).all()
    axes = choose_plane(table, NAMES, "pca").axes
    assert (axes[np.abs(axes).argmax(axis=0), [0, 1]] > 0).all()


@pytest.mark.parametrize("table", [np.array([[1.0], [4.0]]), np.array([[1.0, 2.0, 5.0]]), np.ones((4, 3))])
def test_principal_plane_of_too_little_data_is_still_a_plane(table):
    xy = choose_plane(table, NAMES[: table.shape[1]], "pca").project(table)
    assert xy.shape == (len(table), 2)
    assert np.isfinite(xy).all()


def test_missing_entries_become_column_means():
    np.testing.assert_array_equal(fill_missing(np.array([[1.0, np.nan], [3.0, 5.0]])), [[1, 5], [3, 5]])


def test_a_missing_entry_in_another_column_does_not_hide_an_object():
    table = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, 5.0]])
    xy = choose_plane(table, NAMES, (0, 1)).project(table)
    np.testing.assert_array_equal(xy, [[1, 2], [3, np.nan]])


def test_text_and_flat_arrays_are_refused():
    with pytest.raises(ValueError, match="'X' must hold numbers only"):
        to_table([["a", 1]])
    with pytest.raises(ValueError, match=r"Got an array of shape \(3,\)"):
        to_table([1, 2, 3])


def inside(corners, points):
    """Whether each point lies to the left of every edge of a counter-clockwise polygon."""
    edge = np.roll(corners, -1, axis=0) - corners
    to_point = points[:, None] - corners
    return (edge[:, 0] * to_point[:, :, 1] - edge[:, 1] * to_point[:, :, 0] >= -1e-9).all(axis=1)


def test_hull_holds_all_points_and_uses_only_points():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(80, 2)) * [1, 3] + [5, -2]
    corners = convex_hull(points)
    assert inside(corners, points).all()
    assert all((corner == points).all(axis=1).any() for corner in corners)


def test_hull_of_a_square_leaves_out_its_middle():
    corners = convex_hull(np.array([[0, 0], [1, 0], [0.5, 0.5], [1, 1], [0, 1.0]]))
    assert {tuple(corner) for corner in corners.tolist()} == {(0, 0), (1, 0), (1, 1), (0, 1)}


def test_hull_does_not_depend_on_units():
    points = np.random.default_rng(1).normal(size=(40, 2))
    scale = np.array([1e9, 1e-9])
    np.testing.assert_allclose(convex_hull(points * scale), convex_hull(points) * scale)


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        (np.empty((0, 2)), np.empty((0, 2))),
        ([[2.0, 3.0]], [[2, 3]]),
        ([[2.0, 3.0], [2.0, 3.0], [2.0, 3.0]], [[2, 3]]),
        ([[2.0, 3.0], [1.0, 5.0]], [[1, 5], [2, 3]]),
        ([[0.1, 0.3], [0.2, 0.6], [0.7, 2.1], [0.3, 0.9]], [[0.1, 0.3], [0.7, 2.1]]),
        ([[1.0, 4.0], [1.0, 2.0], [1.0, 9.0]], [[1, 2], [1, 9]]),
        ([[4.0, 1.0], [2.0, 1.0], [np.nan, 7.0]], [[2, 1], [4, 1]]),
    ],
    ids=["none", "one", "the same thrice", "two", "on a line", "upright line", "missing"],
)
def test_hulls_of_too_few_or_collinear_points(points, corners):
    np.testing.assert_allclose(convex_hull(np.array(points)), corners)


@pytest.mark.parametrize("shape", ["disc", "square", "line", "triangle", "far away"])
def test_the_hull_of_many_points_is_that_of_all_of_them(shape):
    rng = np.random.default_rng(4)
    points = rng.standard_normal((5000, 2)) * [1e-3, 1e4]
    if shape == "square":
        points = rng.integers(0, 9, (5000, 2)).astype(float)
    elif shape == "line":
        points = np.linspace(-3, 8, 5000)[:, None] * [2.0, 0.0]
    elif shape == "triangle":
        points = rng.dirichlet([1, 1, 1], 5000) @ np.array([[0.0, 0], [9, 1], [3, 7]])
    elif shape == "far away":
        points += [1e5, -1e9]
    found = convex_hull(np.vstack([points, [[np.nan, 0]]]))
    expected = points[[0, -1]] if shape == "line" else points[ConvexHull(points).vertices]
    assert {tuple(corner) for corner in found} == {tuple(corner) for corner in expected}


def test_two_of_many_columns_take_no_square_of_memory():
    table = np.arange(6_000.0).reshape(2, 3_000)
    tracemalloc.start()
    try:
        plane = choose_plane(table, [str(j) for j in range(3_000)], (2_999, 5))
        assert tracemalloc.get_traced_memory()[1] < 3_000 * 100  # a matrix of all columns has 72 MB
    finally:
        tracemalloc.stop()
    assert plane.project(table).tolist() == [[2_999, 5], [5_999, 3_005]]
