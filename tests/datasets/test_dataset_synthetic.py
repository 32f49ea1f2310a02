"""Generators against the parameters printed in the papers."""

import numpy as np
import pytest
from scipy import stats

from evidentia import datasets

RANDOM = {
    "make_bananas": 1000,
    "make_bootgmm_mixture": 300,
    "make_cecm_two_class": 400,
    "make_circles": 500,
    "make_egmm_four_class": 800,
    "make_egmm_two_class": 800,
    "make_student_four_class": 400,
}
N = 40_000


@pytest.mark.parametrize(("name", "n_default"), RANDOM.items())
def test_size_and_reproducibility(name, n_default):
    make = getattr(datasets, name)
    first, again, other = make(random_state=3), make(random_state=3), make(random_state=4)
    assert first.data.shape == (n_default, 2)
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.data, other.data)
    assert make(n_samples=7, random_state=np.random.RandomState(0)).data.shape == (7, 2)
    assert set(first.target) == set(range(len(first.target_names)))
    with pytest.raises(ValueError, match=r"'n_samples' parameter must be an int >= 1. Got 0"):
        make(n_samples=0)


def check_gaussian(points, mean, covariance):
    """Mean and covariance within five standard errors."""
    covariance, n = np.asarray(covariance, dtype=float), len(points)
    np.testing.assert_array_less(np.abs(points.mean(axis=0) - mean), 5 * np.sqrt(covariance.diagonal() / n))
    variances = np.outer(covariance.diagonal(), covariance.diagonal())
    error = np.abs(np.cov(points.T) - covariance)
    np.testing.assert_array_less(error, 5 * np.sqrt((variances + covariance**2) / n))


def test_egmm_two_class():
    dataset = datasets.make_egmm_two_class(N, random_state=0)
    assert np.bincount(dataset.target).tolist() == [N // 2, N // 2]
    for k, mean in enumerate([(2, 4), (2, 0)]):
        check_gaussian(dataset.data[dataset.target == k], mean, [[3, 2], [2, 3]])


def test_egmm_four_class():
    dataset = datasets.make_egmm_four_class(N, random_state=0)
    assert np.bincount(dataset.target).tolist() == [N // 4] * 4
    for k, mean in enumerate([(0, 0), (0, 4), (4, 4), (4, 0)]):
        check_gaussian(dataset.data[dataset.target == k], mean, [[2, 0], [0, 2]])


def test_cecm_two_class():
    dataset = datasets.make_cecm_two_class(N, random_state=0)
    assert np.bincount(dataset.target).tolist() == [N // 2, N // 2]
    # a class is an even mixture of two Gaussians 7 apart: variance 2 across, 2 + 3.5^2 = 14.25 along
    for k, x in enumerate([0, 7]):
        points = dataset.data[dataset.target == k]
        np.testing.assert_allclose(points.mean(axis=0), [x, 3.5], atol=0.06)
        np.testing.assert_allclose(points.var(axis=0), [2, 14.25], rtol=0.05)


@pytest.mark.parametrize(
    ("mixture", "means", "covariances"),
    [
        (1, [(0, 0), (0, 3), (3, 0)], [[[1, 0], [0, 1]]] * 3),
        (2, [(0, 0), (0, 2.5), (2.5, 0)], [[[1, 0.5], [0.5, 1]]] * 3),
        (
            3,
            [(0, 0), (0, 3), (3, 0)],
            [[[1, 0.5], [0.5, 1]], [[1.5, -0.75], [-0.75, 1.5]], [[1, 0], [0, 1]]],
        ),
    ],
)
def test_bootgmm_mixtures(mixture, means, covariances):
    dataset = datasets.make_bootgmm_mixture(mixture, N, random_state=0)
    sizes = np.bincount(dataset.target)
    np.testing.assert_allclose(sizes / N, 1 / 3, atol=5 * np.sqrt(2 / 9 / N))
    assert len(set(sizes)) > 1  # components are drawn, not dealt out
    for k in range(3):
        check_gaussian(dataset.data[dataset.target == k], means[k], covariances[k])


def test_unknown_mixture_is_refused():
    with pytest.raises(ValueError, match=r"'mixture' parameter must be 1, 2 or 3. Got 4"):
        datasets.make_bootgmm_mixture(4)


def test_circles():
    dataset = datasets.make_circles(N, radius=4.0, inner_std=0.3, ring_std=0.2, random_state=0)
    assert np.bincount(dataset.target).tolist() == [2 * N // 5, 3 * N // 5]
    inner, ring = (dataset.data[dataset.target == k] for k in (0, 1))
    check_gaussian(inner, (0, 0), 0.3**2 * np.eye(2))
    distance = np.hypot(*ring.T)
    assert distance.mean() == pytest.approx(4.0, abs=0.01)
    assert distance.std() == pytest.approx(0.2, rel=0.03)
    angle = np.arctan2(ring[:, 1], ring[:, 0])
    assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 0.001


@pytest.mark.parametrize("n_samples", [1, 2, 3, 7, 501])
def test_shares_of_circles_always_add_up(n_samples):
    assert len(datasets.make_circles(n_samples, random_state=0)) == n_samples


def test_bananas_without_noise_lie_on_two_arcs():
    dataset = datasets.make_bananas(2000, radius=4.0, std=0.0, random_state=0)
    for k, (center, middle) in enumerate([((0, 0), -45), ((-3, -3), 135)]):
        offset = dataset.data[dataset.target == k] - center
        np.testing.assert_allclose(np.hypot(*offset.T), 4.0)
        angle = np.rad2deg(np.arctan2(offset[:, 1], offset[:, 0]))
        from_middle = (angle - middle + 180) % 360 - 180
        assert -112.5 <= from_middle.min() < -112
        assert 112 < from_middle.max() <= 112.5
        assert from_middle.mean() == pytest.approx(0, abs=6)
    noisy = datasets.make_bananas(2000, radius=4.0, std=0.7, random_state=0)
    assert (noisy.data - dataset.data).std() == pytest.approx(0.7, rel=0.05)


def test_student_four_class():
    dataset = datasets.make_student_four_class(N, random_state=0)
    law = stats.multivariate_t(df=5)
    for k, center in enumerate([(0, 0), (0, 4), (4, 0), (4, 4)]):
        points = dataset.data[dataset.target == k] - center
        np.testing.assert_allclose(np.median(points, axis=0), 0, atol=0.06)
        # squared radius / 2 follows F(2, df) for a bivariate Student distribution with identity scale
        assert stats.kstest((points**2).sum(axis=1) / 2, stats.f(2, law.df).cdf).pvalue > 0.001
    heavy = datasets.make_student_four_class(N, df=2, random_state=0)
    assert np.abs(heavy.data).max() > np.abs(dataset.data).max()


def test_butterfly_and_diamond_are_symmetric_around_a_point_between_the_wings():
    for dataset in (datasets.make_butterfly(outlier=False), datasets.make_diamond()):
        points = dataset.data
        assert points.shape == (11, 2)
        assert points[5].tolist() == [0, 0]
        mirrored = sorted(map(tuple, points * [-1, 1] + 0.0))
        assert mirrored == sorted(map(tuple, points + 0.0))
        assert dataset.target is None
    assert datasets.make_butterfly().data[-1].tolist() == [10, 10]
    assert np.ptp(datasets.make_diamond().data, axis=0).tolist() == [12, 4]
    assert np.ptp(datasets.make_butterfly(outlier=False).data, axis=0).tolist() == [10, 3.34]
