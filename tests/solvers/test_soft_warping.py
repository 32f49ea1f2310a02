"""Soft-DTW against all alignments of short series, its slope against differences, and steps that lead down."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import logsumexp

from evidentia.dissimilarities.series import dtw_distances
from evidentia.solvers.soft_warping import (
    align,
    divergence,
    soft_dtw,
    step_down,
    warp_all,
    weighted_divergence,
)


def alignments(t, s):
    """Every way from the first two times to the last two, by steps of either series or of both."""
    if (t, s) == (1, 1):
        return [[(0, 0)]]
    before = [(t - 1, s), (t, s - 1), (t - 1, s - 1)]
    return [[*way, (t - 1, s - 1)] for a, b in before if a and b for way in alignments(a, b)]


def random_series(seed, *lengths, width=2):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, width)) for length in lengths]


@pytest.mark.parametrize("gamma", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("lengths", [(1, 1), (1, 4), (3, 2), (4, 4)])
def test_soft_dtw_and_shares_are_sums_over_all_alignments(gamma, lengths):
    x, y = random_series(3, *lengths)
    square = np.square(x[:, None] - y).sum(axis=2)
    ways = alignments(*lengths)
    costs = np.array([sum(square[at] for at in way) for way in ways])
    assert soft_dtw(x, y, gamma) == pytest.approx(-gamma * logsumexp(-costs / gamma), rel=1e-12)
    expected = np.zeros(lengths)
    for way, share in zip(ways, np.exp(-costs / gamma - logsumexp(-costs / gamma)), strict=True):
        for at in way:
            expected[at] += share
    np.testing.assert_allclose(align(x, y, gamma)[1], expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("gamma", "unit"), [(0.1, 1.0), (3.0, 0.2), (1e-3, 1e4), (50.0, 1e-3)])
def test_many_at_a_time_are_those_one_by_one_whatever_lengths_and_units(gamma, unit):
    lengths = [7, 1, 12, 3, 5] * 4  # more than go side by side
    one, other = random_series(4, 6, 1, 9), [unit * y for y in random_series(6, *lengths)]
    one = [unit * x for x in one]
    expected = [[soft_dtw(x, y, gamma) for y in other] for x in one]
    np.testing.assert_allclose(warp_all(one, other, gamma), expected, rtol=1e-12, atol=1e-12 * gamma)


def test_divergences_of_one_list_are_those_of_two_in_any_order():
    series = random_series(8, *([9, 2, 14, 6, 6] * 5), width=1)
    found = divergence(series, None, 0.3)
    np.testing.assert_allclose(found, divergence(series, series, 0.3), rtol=1e-11, atol=1e-11)
    turned = np.random.default_rng(0).permutation(len(series))
    again = divergence([series[at] for at in turned], None, 0.3)
    np.testing.assert_allclose(again, found[np.ix_(turned, turned)], rtol=1e-12, atol=1e-12)


def test_with_a_small_gamma_it_is_the_square_of_dtw():
    x, y = random_series(5, 9, 12, width=1)
    assert soft_dtw(x, y, 1e-6) == pytest.approx(float(dtw_distances([x], [y])[0, 0]) ** 2, rel=1e-4)


def test_divergences_are_zero_of_equal_series_symmetric_and_never_negative():
    series = [*random_series(0, 5, 7, 4), random_series(0, 5)[0]]
    found = divergence(series, None, 0.7)
    np.testing.assert_allclose(found, divergence(series, series, 0.7), atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert found[0, 3] == pytest.approx(0, abs=1e-12)
    assert np.all(found[[0, 0, 1], [1, 2, 2]] > 0)
    x, y = series[:2]
    by_hand = soft_dtw(x, y, 0.7) - (soft_dtw(x, x, 0.7) + soft_dtw(y, y, 0.7)) / 2
    assert found[0, 1] == pytest.approx(by_hand)


@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_gradient_is_that_of_the_sum(gamma):
    center, *series = random_series(1, 4, 5, 3, 4)
    weight = np.array([0.2, 1.0, 2.5])

    def value(flat):
        return weighted_divergence(flat.reshape(center.shape), series, weight, gamma)[0]

    def gradient(flat):
        return weighted_divergence(flat.reshape(center.shape), series, weight, gamma)[1].ravel()

    assert check_grad(value, gradient, center.ravel()) < 1e-5
    rest = weight @ [-0.5 * soft_dtw(one, one, gamma) for one in series]
    assert value(center.ravel()) + rest == pytest.approx(weight @ divergence(series, [center], gamma)[:, 0])


def test_a_center_of_one_time_steps_to_the_mean_of_all_times():
    series = [np.array([[0.0], [1.0], [2.0]]), np.array([[8.0]])]
    found = step_down(np.array([[5.0]]), series, np.array([1.0, 2.0]), 0.1)
    np.testing.assert_allclose(found, [[19 / 5]], rtol=1e-6)  # (0 + 1 + 2 + 2 * 8) / (3 + 2)


def test_steps_never_lead_up_and_end_where_the_slope_is_zero():
    center, *series = random_series(2, 5, 6, 4, 5, width=1)
    weight = np.array([1.0, 0.5, 2.0])
    values = [weighted_divergence(center, series, weight, 1.0)[0]]
    for _ in range(15):
        center = step_down(center, series, weight, 1.0)
        values.append(weighted_divergence(center, series, weight, 1.0)[0])
    assert np.all(np.diff(values) <= 0)
    assert np.abs(weighted_divergence(center, series, weight, 1.0)[1]).max() < 1e-4
    np.testing.assert_array_equal(step_down(center, series, weight, 1.0).shape, center.shape)


def test_new_series_that_are_old_ones_have_no_divergence_from_these():
    rng = np.random.default_rng(4)
    series = [np.cumsum(rng.normal(size=(t, 2)), axis=0) * 1e-3 for t in rng.integers(2, 9, size=23)]
    again = divergence(series, series[::-1], 0.3)[:, ::-1]
    assert (np.diagonal(again) == 0).all()
    np.testing.assert_allclose(again, divergence(series, None, 0.3), rtol=1e-12, atol=1e-15)
