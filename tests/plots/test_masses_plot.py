"""The mass profile of objects."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from evidentia import CredalPartition, FocalSets
from evidentia.plots import mass_plot_data, plot_masses, set_style
from evidentia.plots.masses import BINS, average_neighbors, fitting_labels
from evidentia.plots.mpl import percent

#                 {}   {0}  {1}  {0,1}
MASSES = np.array(
    [
        [0.0, 0.1, 0.8, 0.1],  # 0: sure of cluster 1
        [0.7, 0.2, 0.0, 0.1],  # 1: an outlier
        [0.0, 0.6, 0.1, 0.3],  # 2: cluster 0
        [0.0, 0.3, 0.1, 0.6],  # 3: torn, more plausibly 0
        [0.1, 0.9, 0.0, 0.0],  # 4: surer of cluster 0
        [0.0, 0.1, 0.2, 0.7],  # 5: torn, more plausibly 1
    ]
)


@pytest.fixture
def partition():
    return CredalPartition(MASSES, FocalSets(2), object_names=list("abcdef"))


def test_objects_go_by_cluster_sure_ones_first_outliers_last(partition):
    data = mass_plot_data(partition)
    np.testing.assert_array_equal(data.objects, [4, 2, 3, 0, 5, 1])
    np.testing.assert_array_equal(data.groups, [0, 0, 0, 1, 1, -1])


def test_inside_a_cluster_objects_go_by_set_and_then_by_doubt():
    focal_sets = FocalSets(3, [{0}, {1}, {2}, {0, 1}, {0, 2}])
    masses = [
        [0.40, 0.0, 0.0, 0.00, 0.60],
        [0.30, 0.0, 0.0, 0.70, 0.00],
        [0.35, 0.2, 0.2, 0.25, 0.00],  # ambiguous: {0} and {0,1} together hold 0.6
        [0.48, 0.0, 0.0, 0.00, 0.52],
        [0.45, 0.0, 0.0, 0.55, 0.00],
    ]
    np.testing.assert_array_equal(mass_plot_data(CredalPartition(masses, focal_sets)).objects, [4, 2, 1, 3, 0])


def test_objects_by_doubt_alone(partition):
    # largest belief in a single cluster: 0.8, 0.2, 0.6, 0.3, 0.9, 0.2
    np.testing.assert_array_equal(mass_plot_data(partition, order="doubt").objects, [4, 0, 2, 3, 1, 5])


def test_chosen_objects_keep_their_order(partition):
    for objects in ([5, 0], ["f", "a"], np.array([5, 0])):
        np.testing.assert_array_equal(mass_plot_data(partition, objects=objects).objects, [5, 0])
    mask = np.array([True, False, False, False, False, True])
    np.testing.assert_array_equal(mass_plot_data(partition, objects=mask).objects, [0, 5])
    np.testing.assert_array_equal(mass_plot_data(partition, objects=["f", "a"], order="doubt").objects, [0, 5])


def test_sets_are_stacked_singletons_first_and_the_empty_set_on_top():
    focal_sets = FocalSets(2, [{0, 1}, set(), {1}, {0}])
    data = mass_plot_data(CredalPartition([[0.1, 0.2, 0.3, 0.4], [0.0, 0.3, 0.6, 0.1]], focal_sets), order="given")
    np.testing.assert_array_equal(data.masks, [1, 2, 3, 0])
    np.testing.assert_allclose(data.masses, [[0.4, 0.3, 0.1, 0.2], [0.1, 0.6, 0.0, 0.3]])


def test_sets_without_visible_mass_are_left_out(partition):
    np.testing.assert_array_equal(mass_plot_data(partition, objects=["a", "c"]).masks, [1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"objects": [6]}, "'objects' must be indices below 6, names or a mask"),
        ({"objects": ["a", "zoe"]}, "The partition has no object named 'zoe'."),
        ({"order": "size"}, "'order' must be one of 'cluster', 'doubt', 'given'. Got 'size'."),
    ],
)
def test_mistakes_are_named(partition, arguments, words):
    with pytest.raises(ValueError, match=words):
        mass_plot_data(partition, **arguments)


def test_bars_are_stacked_to_one_in_the_colors_of_their_sets(partition):
    ax = plot_masses(partition, objects=["b", "e"])
    bars = [(to_hex(bar.get_facecolor()), bar.get_x() + 0.4, bar.get_y(), bar.get_height()) for bar in ax.patches]
    of_b = [(color, low, height) for color, x, low, height in bars if x == 0]
    assert [color for color, _, _ in of_b] == [set_style(mask, 2).color for mask in (1, 3, 0)]
    np.testing.assert_allclose([low for _, low, _ in of_b], [0, 0.2, 0.3])
    np.testing.assert_allclose([height for _, _, height in of_b], [0.2, 0.1, 0.7])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["b", "e"]


def test_legend_says_the_share_of_each_set(partition):
    words = [text.get_text() for text in plot_masses(partition, objects=["b", "e"]).get_legend().get_texts()]
    assert words == ["{0}  55 %", "{0,1}  5 %", "∅ (outlier)  40 %"]


def test_many_objects_become_an_area_that_keeps_every_mass():
    rng = np.random.default_rng(2)
    partition = CredalPartition(rng.dirichlet(np.ones(4), 90), FocalSets(2))
    ax = plot_masses(partition)
    assert len(ax.patches) == 0
    data = mass_plot_data(partition)
    areas = [path.get_paths()[0].vertices for path in ax.collections[:4]]
    for area, mass in zip(areas, data.masses.sum(axis=0)):
        x, y = area.T
        assert abs((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2) == pytest.approx(mass)  # shoelace formula
    assert ax.get_xlim() == (0, 90)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "∅"]


def test_an_area_in_another_order_has_no_cluster_marks():
    rng = np.random.default_rng(2)
    ax = plot_masses(CredalPartition(rng.dirichlet(np.ones(4), 90), FocalSets(2)), order="doubt")
    assert ax.get_xlabel() == "objects"


def test_averages_of_neighbors_keep_the_total():
    rows = np.random.default_rng(1).dirichlet(np.ones(3), 1000)
    small = average_neighbors(rows, 7)  # 1000 = 6 * 143 + 142
    assert small.shape == (7, 3)
    np.testing.assert_allclose(small[0], rows[:142].mean(axis=0))
    np.testing.assert_allclose(small[-1], rows[857:].mean(axis=0))
    np.testing.assert_allclose(small.sum(axis=1), 1)
    assert average_neighbors(rows, 1000) is rows


def test_many_thousand_objects_need_no_more_ink_than_a_page_has_dots():
    masses = np.tile(MASSES, (4000, 1))
    ax = plot_masses(CredalPartition(masses, FocalSets(2)))
    assert max(len(path.get_paths()[0].vertices) for path in ax.collections) < 5 * BINS


def test_labels_never_overlap():
    rng = np.random.default_rng(0)
    for _ in range(50):
        centers, lengths = np.sort(rng.uniform(0, 90, 20)), rng.integers(1, 9, 20)
        shown = fitting_labels(centers, lengths)
        assert shown[0] == 0
        left, right = (centers - lengths / 2)[shown], (centers + lengths / 2)[shown]
        assert (left[1:] >= right[:-1]).all()


def test_axes_are_reused_and_keywords_reach_the_bars(partition):
    _, ax = plt.subplots()
    assert plot_masses(partition, ax=ax, width=0.5) is ax
    assert {bar.get_width() for bar in ax.patches} == {0.5}


def test_small_shares_are_not_called_zero():
    assert [percent(share) for share in (0, 0.0049, 0.006, 1)] == ["<1 %", "<1 %", "1 %", "100 %"]


def test_nobody_can_be_drawn(partition):
    ax = plot_masses(partition, objects=[])
    ax.figure.canvas.draw()
    assert len(ax.patches) == 0
