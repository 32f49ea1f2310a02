"""The picture of a credal partition."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Polygon

from evidentia import CredalPartition, FocalSets
from evidentia.plots import partition_plot_data, plot_masses, plot_partition
from evidentia.plots.palette import EMPTY, HUES

# {0}: a square; {1}: one object; {0,1}: one object right of the square; an outlier.
X = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [8, 1], [5, 1], [4, 9]], dtype=float)
SETS = [{0}, {0}, {0}, {0}, {1}, {0, 1}, set()]


def partition_of(sets, n_clusters=2, strength=0.8, **names):
    focal_sets = FocalSets(n_clusters)
    masses = np.full((len(sets), len(focal_sets)), (1 - strength) / (len(focal_sets) - 1))
    masses[np.arange(len(sets)), [focal_sets.index(subset) for subset in sets]] = strength
    return CredalPartition(masses, focal_sets, **names)


@pytest.fixture
def partition():
    return partition_of(SETS)


def corners(hull):
    return {tuple(corner) for corner in hull.tolist()}


def test_hulls_are_those_of_lower_and_upper_approximations(partition):
    data = partition_plot_data(partition, X)
    square = {(0, 0), (2, 0), (2, 2), (0, 2)}
    assert corners(data.lower[0]) == square
    assert corners(data.upper[0]) == square | {(5, 1)}
    assert corners(data.lower[1]) == {(8, 1)}
    assert corners(data.upper[1]) == {(5, 1), (8, 1)}
    np.testing.assert_array_equal(data.masks, [1, 1, 1, 1, 2, 3, 0])
    np.testing.assert_array_equal(data.xy, X)
    assert data.axis_names == ("column 0", "column 1")
    assert data.centers is None


def test_hulls_agree_with_the_partition_on_who_is_in_them():
    rng = np.random.default_rng(5)
    masses = rng.dirichlet(np.full(8, 0.3), 200)
    partition, table = CredalPartition(masses, FocalSets(3)), rng.normal(size=(200, 2))
    data = partition_plot_data(partition, table)
    for k in range(3):
        for hull, objects in ((data.lower[k], partition.lower(k)), (data.upper[k], partition.upper(k))):
            assert corners(hull) <= corners(table[objects])
            np.testing.assert_array_equal(hull.max(axis=0), table[objects].max(axis=0))
            np.testing.assert_array_equal(hull.min(axis=0), table[objects].min(axis=0))


def test_centers_are_projected_like_the_objects(partition):
    table = np.column_stack([X, X[:, 0] - 3 * X[:, 1]])
    data = partition_plot_data(partition, table, columns="pca", centers=table[[4, 2]])
    np.testing.assert_allclose(data.centers, data.xy[[4, 2]], atol=1e-12)


def test_principal_components_of_a_table_with_gaps(partition):
    gaps = X.copy()
    gaps[3, 1] = np.nan
    filled = X.copy()
    filled[3, 1] = np.nanmean(gaps[:, 1])
    np.testing.assert_allclose(
        partition_plot_data(partition, gaps, columns="pca").xy, partition_plot_data(partition, filled, columns="pca").xy
    )


def test_one_column_is_drawn_against_the_largest_mass(partition):
    data = partition_plot_data(partition, X[:, :1], centers=[[1.0], [8.0]])
    np.testing.assert_allclose(data.xy, np.column_stack([X[:, 0], np.full(7, 0.8)]))
    np.testing.assert_array_equal(data.centers, [[1, 1], [8, 1]])
    assert data.axis_names == ("column 0", "largest mass")


def test_rows_and_objects_must_agree(partition):
    with pytest.raises(ValueError, match=r"'X' must have a row for each of the 7 objects. Got 6 rows."):
        partition_plot_data(partition, X[:6])


def test_legend_counts_every_set_and_explains_the_lines(partition):
    ax = plot_partition(partition, X)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["{0}  4", "{1}  1", "{0,1}  1", "∅ (outlier)  1", "surely in", "possibly in"]


def test_cluster_names_reach_the_legend():
    ax = plot_partition(partition_of(SETS, cluster_names=["well", "ill"]), X, hulls=None)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["{well}  4", "{ill}  1", "{well,ill}  1", "∅ (outlier)  1"]


def test_each_set_is_one_scatter_in_its_color(partition):
    from matplotlib.colors import to_hex

    ax = plot_partition(partition, X)
    assert [len(points.get_offsets()) for points in ax.collections] == [4, 1, 1, 1]
    assert [to_hex(points.get_facecolor()[0]) for points in ax.collections[:2]] == [*HUES[:2]]
    assert to_hex(ax.collections[3].get_edgecolor()[0]) == EMPTY  # a cross is all edge


@pytest.mark.parametrize(
    ("hulls", "polygons", "lines"),
    # cluster 0: lower = outline and fill, upper = outline; cluster 1: lower is a point, upper a segment
    [("both", 3, 2), ("lower", 2, 1), ("upper", 1, 1), (None, 0, 0)],
)
def test_hulls_that_were_asked_for_are_drawn(partition, hulls, polygons, lines):
    ax = plot_partition(partition, X, hulls=hulls)
    assert sum(isinstance(patch, Polygon) for patch in ax.patches) == polygons
    assert len(ax.lines) == lines


def test_unknown_hulls_are_refused(partition):
    with pytest.raises(ValueError, match=r"'hulls' must be one of 'both', 'lower', 'upper', None. Got 'all'."):
        plot_partition(partition, X, hulls="all")


def test_axes_are_reused_and_keywords_reach_the_points(partition):
    _, ax = plt.subplots()
    assert plot_partition(partition, X, ax=ax, s=77, alpha=0.4) is ax
    assert {points.get_sizes()[0] for points in ax.collections} == {77}
    assert {points.get_alpha() for points in ax.collections} == {0.4}
    assert len(plt.get_fignums()) == 1


def test_frame_names_become_axis_labels(partition):
    frame = pd.DataFrame(np.column_stack([X, X]), columns=["a", "b", "height", "weight"])
    ax = plot_partition(partition, frame, columns=("weight", "a"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight", "a")


def test_centers_are_numbered(partition):
    ax = plot_partition(partition, X, centers=[[1, 1], [8, 1]])
    assert [(text.get_text(), tuple(text.xy)) for text in ax.texts] == [("0", (1, 1)), ("1", (8, 1))]


def test_thousands_of_points_are_drawn_as_pixels():
    rng = np.random.default_rng(0)
    partition = CredalPartition(rng.dirichlet(np.ones(4), 3000), FocalSets(2))
    ax = plot_partition(partition, rng.normal(size=(3000, 2)))
    assert all(points.get_rasterized() for points in ax.collections if len(points.get_offsets()))


def test_a_legend_of_many_sets_sums_up_the_rare_ones():
    focal_sets = FocalSets(15, "pairs", omega=False)
    often = np.append(np.repeat(np.arange(1, 16), 3), np.arange(len(focal_sets)))
    partition = CredalPartition(np.eye(len(focal_sets))[often], focal_sets)
    words = [
        text.get_text()
        for text in plot_partition(partition, np.ones((len(often), 2)), hulls=None).get_legend().get_texts()
    ]
    assert len(words) == 32
    assert words[:15] == [f"{{{k}}}  4" for k in range(15)]
    assert words[-2] == "∅ (outlier)  1"
    assert words[-1] == "90 more  90"  # 105 pairs, of which 15 found room


def test_importing_plots_does_not_load_matplotlib():
    code = "import sys, evidentia.plots; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_no_style_leaks(partition):
    before = dict(plt.rcParams)
    plot_partition(partition, X)
    assert dict(plt.rcParams) == before


@pytest.mark.parametrize("n_samples", [0, 1])
def test_nobody_and_a_single_object_can_be_drawn(n_samples):
    ax = plot_partition(partition_of([{0}] * n_samples), np.ones((n_samples, 2)))
    ax.figure.canvas.draw()
    assert sum(len(points.get_offsets()) for points in ax.collections) == n_samples


def test_a_dollar_in_a_name_is_a_dollar():
    """Column, cluster and object names go to the picture to the letter, whatever matplotlib could make of them."""
    odd = "$ per $_{"
    partition = CredalPartition(
        [[0.9, 0.1], [0.2, 0.8]],
        FocalSets(2, [{0}, {1}]),
        object_names=[odd, "b"],
        cluster_names=[odd, "y"],
    )
    ax = plot_partition(partition, np.eye(2), feature_names=[odd, "x"])
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == odd
    other = plot_masses(partition, objects=[0, 1])
    other.figure.canvas.draw()
