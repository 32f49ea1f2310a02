"""The Shepard diagram: the numbers closely, the ink lightly."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs

from evidentia.plots import plot_shepard, shepard_plot_data
from evidentia.relational import EVCLUS, Shepard


def model_of(wanted, conflict):
    return SimpleNamespace(shepard_=Shepard(np.zeros((len(wanted), 2), int), np.array(wanted), np.array(conflict)))


def test_quartiles_are_taken_in_bins_of_the_wanted_conflict():
    """Twelve pairs at 0.52, nine at 0.77 (too few), eleven at 1, which belongs to the last bin."""
    wanted = [0.52] * 12 + [0.77] * 9 + [1.0] * 11
    conflict = [*np.arange(12) / 100, *np.zeros(9), *(0.5 + np.arange(11) / 100)]
    data = shepard_plot_data(model_of(wanted, conflict))
    np.testing.assert_allclose(data["center"], [0.525, 0.975])
    np.testing.assert_allclose(data["median"], [0.055, 0.55])
    np.testing.assert_allclose(data["low"], [0.0275, 0.525])
    np.testing.assert_allclose(data["high"], [0.0825, 0.575])
    assert len(data["wanted"]) == len(data["conflict"]) == 32


def test_the_drawing_shows_pairs_median_and_diagonal():
    X, _ = make_blobs(40, centers=2, random_state=0)
    model = EVCLUS(2, random_state=0, n_init=1).fit(X)
    _, given = plt.subplots()
    ax = plot_shepard(model, ax=given, color="red")
    assert ax is given
    assert len(ax.collections[0].get_offsets()) == 40 * 39 // 2
    assert [line.get_label() for line in ax.lines] == ["median", "exact"]
    assert ax.get_xlabel() == "transformed dissimilarity"
    assert ax.get_ylabel() == "degree of conflict"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), shepard_plot_data(model)["median"])


def test_of_many_pairs_only_some_are_dots():
    ax = plot_shepard(model_of(np.linspace(0, 1, 10_000), np.linspace(0, 1, 10_000)))
    assert len(ax.collections[0].get_offsets()) == 3000


def test_a_model_without_pairs_is_refused():
    with pytest.raises(ValueError, match="EVCLUS has no shepard_: fit it first"):
        shepard_plot_data(EVCLUS())
