"""The evidence of a valley: humps against brute force, bins, limits and p-values."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from evidentia.verdict.valley import (
    LEVELS,
    QUANTILES,
    SIZES,
    bin_line,
    hump,
    hump_limit,
    hump_of_bins,
    increasing_fits,
    one_peak_fit,
    p_value,
)


def step_fit(counts, widths, ends):
    """Log-likelihood and heights of the density that is constant between ends."""
    value, heights = 0.0, []
    for a, b in pairwise(ends):
        mass, width = sum(counts[a:b]), sum(widths[a:b])
        heights.append(mass / width)
        value += mass * np.log(mass / width) if mass > 0 else 0.0
    return value, heights


def best_one_peak(counts, widths):
    """By brute force: all cuts into blocks whose heights rise and then fall."""
    n, best = len(counts), -np.inf
    for size in range(n):
        for cuts in combinations(range(1, n), size):
            value, heights = step_fit(counts, widths, [0, *cuts, n])
            change = np.sign(np.diff(heights))
            if not any(a < 0 < b for at, a in enumerate(change) for b in change[at:]):
                best = max(best, value)
    return best


def test_hump_by_hand():
    # One peak on (4, 0, 4): the best is flat over two bins, 4 log 2 + 4 log 4. Two peaks: 8 log 4 after bin 0.
    counts, widths = np.array([4.0, 0.0, 4.0]), np.ones(3)
    assert one_peak_fit(counts, widths) == pytest.approx(4 * np.log(2) + 4 * np.log(4))
    # Left of edge 1: 4 log 4; right of it the bins (0, 4): 4 log 4.
    assert hump_of_bins(counts, widths, np.ones(4, dtype=bool)) == pytest.approx(4 * np.log(2))
    assert hump_of_bins(counts, widths, np.zeros(4, dtype=bool)) == 0


@pytest.mark.parametrize("seed", range(8))
def test_fits_with_one_peak_are_the_best_of_all_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    counts, widths = rng.integers(0, 6, 8).astype(float), rng.uniform(0.5, 2.0, 8)
    assert one_peak_fit(counts, widths) == pytest.approx(best_one_peak(counts, widths))
    slow = max(
        best_one_peak(counts[:v], widths[:v]) + best_one_peak(counts[v:], widths[v:]) for v in range(1, len(counts))
    ) - best_one_peak(counts, widths)
    assert hump_of_bins(counts, widths, np.ones(9, dtype=bool)) == pytest.approx(max(slow, 0.0), abs=1e-9)


def test_increasing_fits_keep_what_increases():
    counts, widths = np.array([1.0, 3.0, 2.0]), np.array([1.0, 1.0, 2.0])
    # Heights 1, 3, 1: the last two pool to 5/3.
    expected = [0.0, 0.0, 3 * np.log(3), 5 * np.log(5 / 3)]
    np.testing.assert_allclose(increasing_fits(counts, widths), expected)


def test_bins_hold_all_points_and_end_bins_have_their_true_width():
    y = np.sort(np.r_[np.linspace(0, 1, 400), 9.0])
    counts, widths, edges = bin_line(y, np.ones(401))
    assert counts.sum() == pytest.approx(401)
    assert edges[0] == 0
    assert edges[-1] == 9
    assert widths[-1] > 8
    assert widths[1:-1].max() == pytest.approx(widths[1:-1].min())


def test_blur_spreads_each_point_evenly():
    y, w = np.linspace(0, 10, 300), np.ones(300)
    y[100:200] = 5.0
    y.sort()
    counts, _, edges = bin_line(y, w, blur=2.0)
    slow = [sum(np.clip((edge - point) / 2.0 + 0.5, 0, 1) for point in y) for edge in edges[1:-1]]
    np.testing.assert_allclose(np.cumsum(counts)[:-1], slow, rtol=1e-9)
    assert counts.sum() == pytest.approx(300)


def test_rounded_values_make_no_peaks():
    y = np.sort(np.round(np.random.default_rng(0).normal(size=500) * 2))
    between = (-1.5, 1.5)
    assert hump(y, np.ones(500), between) > hump_limit(500)
    assert hump(y, np.ones(500), between, blur=1.0) < hump_limit(500)


def test_table_of_quantiles_is_that_of_uniform_samples():
    rng = np.random.default_rng(0)
    humps = [hump(np.sort(rng.random(300)), np.ones(300), (0.25, 0.75)) for _ in range(1500)]
    row = QUANTILES[SIZES.index(300)]
    for level, value in zip(LEVELS[:4], row):
        share = np.mean(np.array(humps) <= value)
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / 1500)


def test_p_values_agree_with_the_table_and_fall():
    for n, row in zip(SIZES, QUANTILES):
        np.testing.assert_allclose([p_value(value, n) for value in row], 1 - np.array(LEVELS), rtol=1e-9)
        assert hump_limit(n) == row[LEVELS.index(0.98)]
    values = [p_value(value, 700) for value in np.linspace(0, 20, 50)]
    assert values[0] == 1
    assert values[-1] == pytest.approx(0.001)
    assert (np.diff(values) <= 0).all()
