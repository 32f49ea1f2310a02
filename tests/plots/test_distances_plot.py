"""Images of distances: the numbers closely, the ink lightly."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from scipy.spatial.distance import pdist, squareform

from evidentia.plots import distance_plot_data, plot_distances

ROWS = np.array([[0.0, 0], [3, 4], [0, 1], [3, 0]])
LABELS = np.array([1, 0, 1, 0])


def test_objects_stand_in_the_order_of_their_labels():
    data = distance_plot_data(ROWS, 2 * ROWS[:, :1], labels=LABELS)
    np.testing.assert_array_equal(data.order, [1, 3, 0, 2])
    root = np.sqrt(18)
    expected = np.array([[0, 4, 5, root], [4, 0, 3, np.sqrt(10)], [5, 3, 0, 1], [root, np.sqrt(10), 1, 0]]) / 5
    np.testing.assert_allclose(data.images[0], expected)
    np.testing.assert_allclose(data.images[1], [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    assert data.edges.tolist() == [0, 2, 4]
    assert data.names == ["0", "1"]


def test_without_labels_objects_keep_their_order():
    data = distance_plot_data(pd.DataFrame(ROWS))
    np.testing.assert_array_equal(data.order, range(4))
    assert data.edges.tolist() == [0, 4]
    assert data.names == []


def test_a_matrix_of_dissimilarities_is_taken_as_it_is():
    matrix = squareform(pdist(ROWS, "cityblock"))
    np.testing.assert_allclose(distance_plot_data(matrix).images[0], matrix / 7)
    rows = matrix + 1  # square, but no dissimilarities
    np.testing.assert_allclose(distance_plot_data(rows).images[0] * pdist(rows).max(), squareform(pdist(rows)))


def test_of_many_objects_every_group_is_shown_by_some():
    rng = np.random.default_rng(0)
    data = distance_plot_data(rng.normal(size=(4000, 1)), labels=np.arange(4000) % 4 == 0)
    assert data.images[0].shape == (1000, 1000)
    assert data.edges.tolist() == [0, 750, 1000]
    assert len(set(data.order.tolist())) == 1000


def test_equal_rows_have_no_distances_to_divide_by():
    np.testing.assert_array_equal(distance_plot_data(np.ones((3, 2))).images[0], np.zeros((3, 3)))


def test_before_and_after_stand_side_by_side():
    axes = plot_distances(ROWS, ROWS[:, :1], labels=["ring", "$core", "ring", "$core"], cmap="magma")
    assert [ax.get_title() for ax in axes] == ["before", "after"]
    for ax in axes:
        assert [text.get_text() for text in ax.get_xticklabels()] == ["$core", "ring"]
        assert ax.images[0].get_cmap().name == "magma"
        assert len(ax.lines) == 2
    np.testing.assert_array_equal(
        axes[1].images[0].get_array(), distance_plot_data(ROWS[:, :1], labels=LABELS).images[0]
    )
    assert [ax.get_ylabel() for ax in axes[0].figure.axes][-1] == "distance, share of the largest"


def test_axes_are_reused():
    _, one = plt.subplots()
    assert plot_distances(ROWS, ax=one) is one
    assert (one.get_xlabel(), one.get_title()) == ("object", "")
    _, two = plt.subplots(1, 2)
    drawn = plot_distances(ROWS, ROWS, ax=two)
    assert list(drawn) == list(two)
    assert len(plt.get_fignums()) == 2


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match=r"Before there are 4 objects, and after 3\. Give the same objects"):
        plot_distances(ROWS, ROWS[:3])
    with pytest.raises(ValueError, match=r"'labels' must hold one label for each of 4 objects\. Got shape \(3,\)"):
        plot_distances(ROWS, labels=[0, 1, 1])
