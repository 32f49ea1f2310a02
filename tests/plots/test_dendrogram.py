import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from scipy.cluster.hierarchy import dendrogram, linkage

from evidentia.hierarchy import BeliefHierarchical
from evidentia.plots import dendrogram_plot_data, plot_cut_scores, plot_dendrogram
from evidentia.plots.palette import HUES

X = np.array([[0.0], [0.3], [0.5], [6.0], [6.2], [50.0]])


@pytest.fixture(scope="module")
def model():
    return BeliefHierarchical(3).fit(X)


def test_brackets_are_those_of_scipy():
    rng = np.random.default_rng(0)
    tree = linkage(rng.normal(size=(30, 2)), "average")
    data = dendrogram_plot_data(tree, np.zeros(30))
    theirs = dendrogram(tree, no_plot=True)
    assert sorted(data.leaves) == list(range(30))
    assert data.leaves.tolist() == theirs["leaves"]
    ours = sorted(map(tuple, np.hstack([data.x, data.y]).round(9).tolist()))
    x = (np.array(theirs["icoord"]) - 5) / 10  # SciPy puts leaves at 5, 15, 25, …
    assert ours == sorted(map(tuple, np.hstack([x, theirs["dcoord"]]).round(9).tolist()))


def test_a_chain_of_thousands_of_merges_is_no_recursion():
    n = 5000
    tree = np.column_stack([np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n), np.arange(1, n), np.arange(2, n + 1)])
    data = dendrogram_plot_data(tree.astype(float), np.zeros(n))
    assert data.leaves.tolist() == list(range(n))


def test_brackets_have_the_color_of_their_cluster(model):
    ax = plot_dendrogram(model)
    (lines,) = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    colors = [to_hex(color) for color in lines.get_colors()]
    assert colors.count(HUES[0]) == 2
    assert colors.count(HUES[1]) == 1
    assert colors.count("#5f5f5f") == 2
    assert "BetP" in ax.get_ylabel()
    heights = [segment[1, 1] for segment in lines.get_segments()]
    np.testing.assert_allclose(heights, model.linkage_[:, 2])


def test_outliers_are_marked_and_leaves_are_named(model):
    ax = plot_dendrogram(model, names=list("abcdef"))
    assert sorted(tick.get_text() for tick in ax.get_xticklabels()) == list("abcdef")
    marks = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    black = [mark for mark in marks if to_hex(mark.get_facecolor()[0]) == "#111111"]
    assert len(marks) == 6
    assert len(black) == 1
    assert ax.get_xticklabels()[int(black[0].get_offsets()[0, 0])].get_text() == "f"
    assert "∅ (outlier)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_classical_tree_beside_it(model):
    from matplotlib import pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    assert plot_dendrogram(model, ax=left) is left
    assert plot_dendrogram(model, tree="classical", ax=right) is right
    assert right.get_ylabel() == "distance"
    given = plot_dendrogram(model, tree=linkage(X, "ward"))
    ours, theirs = (ax.collections[0].get_segments() for ax in (right, given))
    np.testing.assert_allclose(ours, theirs)
    with pytest.raises(ValueError, match="'tree' must be 'belief', 'classical'"):
        plot_dendrogram(model, tree="ward")


def test_another_cut_and_groups():
    rng = np.random.default_rng(1)
    table = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8])
    grouped = BeliefHierarchical(2, n_groups=12, random_state=0).fit(table)
    ax = plot_dendrogram(grouped, n_clusters=4, linewidths=3)
    assert ax.get_xlabel() == "group"
    assert sum("{" in text.get_text() for text in ax.get_legend().get_texts()) == 4
    assert ax.collections[0].get_linewidths()[0] == 3
    everyone = BeliefHierarchical(2).fit(table)
    assert len(plot_dendrogram(everyone).get_xticks()) == 0  # no room for 120 names


def test_curve_of_the_cuts_marks_the_best(model):
    ax = plot_cut_scores(model)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), model.cut_scores_)
    best = model.cut_scores_[model.cut_scores_[:, 1].argmax()]
    np.testing.assert_allclose(ax.lines[1].get_xydata()[0], best)
    flat = plot_cut_scores(BeliefHierarchical().fit([[1.0], [1.0], [1.0]]))
    assert len(flat.lines) == 1
