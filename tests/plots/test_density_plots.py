"""The δ–Bel graph and the medoids as pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from evidentia.experimental import WECMdd
from evidentia.plots import belief_peaks_plot_data, click_peaks, medoid_plot_data, plot_belief_peaks, plot_medoids
from evidentia.prototypes import BPEC, ECM, SECMdd, belief_peaks


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs([60, 50, 40], centers=[[0, 0], [7, 0], [0, 8]], random_state=3)
    return X


def test_the_graph_shows_delta_and_belief_and_numbers_the_centers(blobs):
    graph = belief_peaks(blobs)
    data = belief_peaks_plot_data(graph)
    np.testing.assert_array_equal(data.xy, np.column_stack([graph.delta, graph.belief]))
    np.testing.assert_array_equal(data.peaks, graph.choose())
    _, ax = plt.subplots()
    assert plot_belief_peaks(graph, ax=ax) is ax
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1", "2"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["3 centers", "147 other objects"]
    assert len(ax.collections[0].get_offsets()) == 147


def test_the_graph_of_a_fit_shows_its_centers_in_the_order_of_its_clusters(blobs):
    model = BPEC(2).fit(blobs)
    np.testing.assert_array_equal(belief_peaks_plot_data(model).peaks, model.peaks_)
    assert belief_peaks_plot_data(model, peaks=[4]).peaks.tolist() == [4]


def test_two_clicks_choose_what_lies_between_them(blobs, monkeypatch):
    graph = belief_peaks(blobs)
    wanted = graph.choose()
    corner = [(graph.delta.max() + 1, 1.0), (graph.delta[wanted].min() - 1e-9, graph.belief[wanted].min() - 1e-9)]
    monkeypatch.setattr(Figure, "ginput", lambda self, n, timeout: corner[:n])
    inside = (graph.delta >= corner[1][0]) & (graph.belief >= corner[1][1])
    chosen = click_peaks(graph)
    assert set(chosen) == set(np.flatnonzero(inside))
    np.testing.assert_array_equal(chosen[:3], wanted)
    assert BPEC(peaks=chosen).fit(blobs).n_clusters_ == len(chosen)
    np.testing.assert_array_equal(click_peaks(BPEC().fit(blobs)), chosen)
    monkeypatch.setattr(Figure, "ginput", lambda self, n, timeout: corner[:1])
    with pytest.raises(ValueError, match="A rectangle has two corners, but 1 clicks came"):
        click_peaks(graph)


def test_medoids_are_ringed_where_they_are(blobs):
    model = SECMdd(3, random_state=0).fit(blobs)
    data = medoid_plot_data(model, blobs)
    np.testing.assert_array_equal(data.xy, blobs)
    ax = plot_medoids(model, blobs)
    rings = {text.get_text(): text.xy for text in ax.texts}
    for k, medoid in enumerate(model.medoid_indices_):
        np.testing.assert_array_equal(rings[str(k)], blobs[medoid])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 0", "column 1")


def test_weights_are_circles_whose_largest_is_the_medoid(blobs):
    model = WECMdd(3, random_state=0).fit(blobs)
    data = medoid_plot_data(model, blobs)
    np.testing.assert_array_equal(data.weights.argmax(axis=1), model.medoid_indices_)
    np.testing.assert_allclose(data.weights.max(axis=1), 1)
    plain = len(plot_medoids(SECMdd(3, random_state=0).fit(blobs), blobs).collections)
    ax = plot_medoids(model, blobs)
    sizes = [c.get_sizes() for c in ax.collections if len(c.get_sizes()) == len(blobs)]
    assert len(sizes) == 3
    np.testing.assert_allclose(sizes[0], sizes[0].max() * data.weights[0] ** 2)
    assert plain > 0


def test_a_matrix_is_drawn_in_principal_coordinates(blobs):
    D = cdist(blobs, blobs)
    model = SECMdd(3, metric="precomputed", random_state=0).fit(D)
    data = medoid_plot_data(model, D)
    np.testing.assert_allclose(cdist(data.xy, data.xy), D, atol=1e-8)  # the objects do lie in a plane
    assert data.axis_names == ("first principal coordinate", "second principal coordinate")
    ax = plot_medoids(model, D)
    assert ax.get_xlabel() == "first principal coordinate"


def test_what_cannot_be_drawn_is_told(blobs):
    with pytest.raises(ValueError, match="ECM has no medoid_indices_"):
        plot_medoids(ECM(3, random_state=0).fit(blobs), blobs)
    with pytest.raises(ValueError, match=r"'X' must have a row for each of the 150 objects\. Got 3 rows"):
        plot_medoids(SECMdd(3, random_state=0).fit(blobs), blobs[:3])
