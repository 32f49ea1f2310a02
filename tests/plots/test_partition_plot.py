"""The picture of a credal partition."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Polygon

from evidentia import CredalPartition, FocalSets
from evidentia.plots import density_plot_data, partition_plot_data, plot_masses, plot_partition, set_style
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
    assert words == ["{0}  4", "{1}  1", "{0,1}  1", "∅ (outlier)  1", "assigned to", "possibly in"]


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
    assert words[15] == "∅ (outlier)  1"
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


def crowd(n_sets, cluster_names=None, each=4):
    """``n_sets`` sets of 15 clusters, the single ones first, with a few objects each."""
    focal_sets = FocalSets(15, "pairs", empty=False, omega=False)
    masses = np.eye(len(focal_sets))[np.repeat(np.arange(n_sets), each)]
    return CredalPartition(masses, focal_sets, cluster_names=cluster_names)


def legend_words(partition):
    ax = plot_partition(partition, np.random.default_rng(0).normal(size=(len(partition), 2)))
    return ax, [text.get_text() for text in ax.get_legend().get_texts()]


def test_25_sets_are_two_columns_with_the_single_clusters_in_the_first():
    ax, words = legend_words(crowd(25))
    assert ax.get_legend()._ncols == 2
    half = len(words) // 2
    assert words[:15] == [f"{{{k}}}  4" for k in range(15)]
    assert all("," in text for text in words[half : half + 10])
    assert words[half + 10 : half + 12] == ["assigned to", "possibly in"]
    assert set(words[half + 12 :]) <= {""}


def test_a_legend_of_25_sets_leaves_most_of_the_picture_to_the_objects():
    names = [f"the quarter number {k} of the town" for k in range(15)]
    for partition in (crowd(25), crowd(25, names)):
        ax, words = legend_words(partition)
        ax.figure.set_size_inches(8, 5)
        ax.figure.canvas.draw()
        assert ax.get_position().width > 0.45
        box = ax.get_legend().get_window_extent()
        assert box.y0 >= 0
        assert box.x1 <= ax.figure.bbox.width + 1
    assert words[0] == "0 the quarter number 0 of…  4"
    assert "{0,1}  4" in words


def test_density_counts_every_object_and_names_the_commonest_set():
    rng = np.random.default_rng(3)
    xy, masks = rng.normal(size=(4000, 2)) * [1, 50] + [3, -7], rng.choice([1, 2, 4], 4000, p=[0.5, 0.2, 0.3])
    xy[:5] = np.nan
    data = density_plot_data(xy, masks, cells=(4, 3))
    assert data.counts.shape == (3, 4)
    assert data.counts.sum() == 3995
    slow, _, _ = np.histogram2d(xy[5:, 1], xy[5:, 0], bins=(3, 4))
    np.testing.assert_array_equal(data.counts, slow)
    left, right, bottom, top = data.extent
    cell = np.minimum((xy[5:] - [left, bottom]) / [(right - left) / 4, (top - bottom) / 3], [3, 2]).astype(int)
    for row, column in zip(*np.nonzero(data.counts)):
        here = masks[5:][(cell == [column, row]).all(axis=1)]
        found, counts = np.unique(here, return_counts=True)
        assert data.masks[row, column] == found[counts.argmax()]
    assert (data.masks[data.counts == 0] == -1).all()


def test_above_20000_objects_shades_replace_points():
    rng = np.random.default_rng(0)
    masses = np.eye(3)[np.append(np.zeros(6, dtype=int), rng.integers(1, 3, 20_000))]
    partition = CredalPartition(masses, FocalSets(2, [set(), {0}, {1}]))
    X = rng.normal(size=(len(partition), 2))
    ax = plot_partition(partition, X)
    assert len(ax.images) == 1
    assert [len(points.get_offsets()) for points in ax.collections] == [6]  # the outliers
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-2] == "1 object in a cell"
    assert not plot_partition(partition, X, density=False).images
    assert not plot_partition(partition, X, s=3).images
    assert plot_partition(partition[:50], X[:50], density=True).images
    assert not plot_partition(partition[6:], X[6:]).images  # 20,000 are still points
    with pytest.raises(ValueError, match="density=True draws no points, which 's' is about"):
        plot_partition(partition, X, density=True, s=3)


def test_a_dark_cell_has_the_color_of_its_set():
    from matplotlib.colors import to_rgb

    partition = CredalPartition(np.eye(2)[[0] * 50 + [1] * 2], FocalSets(2, [{0}, {1}]))
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], [50, 2], axis=0)
    image = plot_partition(partition, X, density=True).images[0].get_array()
    np.testing.assert_allclose(image[0, 0, :3], to_rgb(set_style(1, 2).color), atol=1e-9)
    assert (image[-1, -1, :3] > np.array(to_rgb(set_style(2, 2).color)) - 1e-9).all()
    assert image[50, 50, 3] == 0
