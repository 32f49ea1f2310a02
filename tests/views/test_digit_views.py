"""Views of scanned digits, each by a case that can be counted by hand, and what methods make of all of them."""

import numpy as np
import pytest
from benchmarks import digit_views as made
from sklearn.metrics import adjusted_rand_score

from evidentia import ECM, WMVEC

RING = np.zeros((1, 8, 8))
RING[0, 2:5, 3:6] = 16
RING[0, 3, 4] = 0
BAR = np.zeros((1, 8, 8))
BAR[0, 1:7, 2] = 16
BLOT = np.pad(np.random.default_rng(0).uniform(0, 16, size=(1, 5, 4)), [(0, 0), (1, 2), (2, 2)])


def test_six_views_of_1797_digits():
    views, digits = made.digit_views()
    widths = {name: view.shape[1] for name, view in views.items()}
    assert widths == {"pixels": 64, "Fourier": 76, "profiles": 216, "principal": 20, "Zernike": 47, "shape": 6}
    assert {len(view) for view in views.values()} == {len(digits)} == {1797}
    assert all(np.isfinite(view).all() for view in views.values())


def test_shapes_by_hand():
    # A ring of eight squares: an outline of 12 outside and 4 inside, as wide as it is high.
    assert made.shapes(RING)[0].tolist() == [8, 1, 3, 3, 16, 1]
    # A bar of six: 14 sides. Its places have variance 35/12, a square itself 1/12.
    assert made.shapes(BAR)[0].tolist() == [6, 0, 1, 6, 14, pytest.approx(6)]


def test_fourier_coefficients_do_not_see_a_shift_and_begin_with_the_ink():
    here, there = made.fourier_coefficients(BLOT), made.fourier_coefficients(np.roll(BLOT, (1, -1), axis=(1, 2)))
    np.testing.assert_allclose(here, there, rtol=1e-10)
    assert here[0, 0] == pytest.approx(BLOT.sum())
    assert not np.allclose(here, made.fourier_coefficients(BLOT.transpose(0, 2, 1)))


def test_zernike_moments_do_not_see_a_turn_or_a_shift():
    here = made.zernike_moments(BLOT)
    np.testing.assert_allclose(here, made.zernike_moments(np.rot90(BLOT, axes=(1, 2))), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(here, made.zernike_moments(np.roll(BLOT, 1, axis=1)), rtol=1e-9, atol=1e-13)
    assert not np.allclose(here, made.zernike_moments(RING))
    r = np.linspace(0, 1, 7)
    np.testing.assert_allclose(made._radial(r, 4, 0), 6 * r**4 - 6 * r**2 + 1)
    np.testing.assert_allclose(made._radial(r, 3, 1), 3 * r**3 - 2 * r)


def test_profiles_share_out_all_ink_in_every_direction():
    found = made.profiles(BLOT).reshape(12, 18)
    np.testing.assert_allclose(found.sum(axis=1), BLOT.sum())
    # Columns of squares are 17 / (8 sqrt(2)) bins apart around the middle of the bins, 8.5.
    place = 8.5 + (np.arange(8) - 3.5) * 17 / (8 * np.sqrt(2))
    center = (BLOT[0].sum(axis=0) @ place) / BLOT.sum()
    assert found[0] @ np.arange(18) / BLOT.sum() == pytest.approx(center)


def test_principal_coefficients_are_uncorrelated_and_fall_in_variance():
    covariance = np.cov(made.principal_coefficients(made.load_digits().images).T)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-8)
    assert np.all(np.diff(np.diag(covariance)) < 0)


def test_all_views_together_tell_digits_apart_better_than_a_view_does_on_average():
    views, digits = made.digit_views()
    views = {name: made.standardized(X) for name, X in views.items()}
    settings = {"beta": made.BETA, "random_state": 0}
    alone = {name: adjusted_rand_score(digits, ECM(10, **settings).fit(X).labels_) for name, X in views.items()}
    together = WMVEC(10, lam=1.0, **settings).fit(views)
    assert adjusted_rand_score(digits, together.labels_) > max(0.6, np.mean(list(alone.values())) + 0.15)
    assert min(alone, key=alone.get) == "shape"
    # A narrow view fits any clusters more closely than a wide one, so that a small lam gives it the weight.
    narrow = WMVEC(10, lam=0.1, **settings).fit(views)
    assert narrow.view_weights_[list(views).index("shape")] > 0.9
    assert adjusted_rand_score(digits, narrow.labels_) < 0.3
