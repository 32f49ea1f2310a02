"""The reliability curve: bins and error by plain loops, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.plots import plot_reliability
from evidentia.scores import reliability


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 40))
def test_bins_and_error_are_those_of_the_definition(n, n_bins, seed):
    rng = np.random.default_rng(seed)
    stated, correct = rng.random(n), rng.random(n) < 0.7
    curve = reliability(stated, correct, n_bins=n_bins)
    bins = {}
    for p, right in zip(stated, correct):
        bins.setdefault(min(int(p * n_bins), n_bins - 1), []).append((p, right))
    expected = [np.mean(bins[at], axis=0) for at in sorted(bins)]
    np.testing.assert_allclose(np.column_stack([curve.stated, curve.observed]), expected)
    assert curve.counts.tolist() == [len(bins[at]) for at in sorted(bins)]
    assert curve.error == pytest.approx(
        sum(len(bins[at]) * abs(np.subtract(*np.mean(bins[at], axis=0))) for at in bins) / n
    )


def test_probabilities_that_are_right_have_no_error():
    rng = np.random.default_rng(0)
    stated = rng.random(200_000)
    assert reliability(stated, rng.random(200_000) < stated).error < 0.01
    assert reliability(stated, rng.random(200_000) < stated**2).error == pytest.approx(1 / 2 - 1 / 3, abs=0.01)


def test_one_is_in_the_last_bin():
    assert reliability([1.0, 0.95], [True, True]).counts.tolist() == [2]


@pytest.mark.parametrize(
    ("stated", "correct", "words"),
    [
        ([0.5], [True, False], r"Got shapes \(1,\) and \(2,\)"),
        ([1.5], [True], "must lie between 0 and 1"),
        ([0.5], [0.3], "must be true or false"),
        ([], [], "a number for each object"),
    ],
)
def test_what_is_no_probability_is_refused(stated, correct, words):
    with pytest.raises(ValueError, match=words):
        reliability(stated, correct)


def test_the_picture_has_the_curve_and_the_diagonal():
    ax = plot_reliability([0.75, 0.71, 0.98, 0.96], [True, False, True, True], color="red")
    diagonal, curve = ax.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    np.testing.assert_allclose(curve.get_xydata(), [[0.73, 0.5], [0.97, 1.0]])
    assert curve.get_color() == "red"
    assert ax.get_title() == "mean error 0.13"
