"""The brain phantom: contrast, noise, field, truth."""

import numpy as np
import pytest
from scipy import ndimage, stats

from evidentia.datasets import make_mri_phantom
from evidentia.datasets.phantom import INTENSITY, add_noise, coil_gain


@pytest.fixture(scope="module")
def clean():
    return make_mri_phantom(128, noise_std=0, gray_white=True, random_state=5)


def test_pixels_deep_inside_a_tissue_have_its_intensity(clean):
    truth = clean.to_image(clean.target, fill=-1)
    for kind in range(4):
        deep = ndimage.binary_erosion(truth == kind, np.ones((3, 3)))
        image = clean.to_image(clean.data)
        values = image[ndimage.binary_erosion(deep)] if kind else image[deep]
        assert len(values) > 5
        np.testing.assert_allclose(np.median(values, axis=0), INTENSITY[kind], atol=1e-12)


def test_each_contrast_discerns_what_the_paper_says():
    brain = make_mri_phantom(random_state=1)
    assert brain.target_names == ("csf", "tissue", "lesion")
    csf, tissue, lesion = (np.median(brain.data[brain.target == k], axis=0) for k in range(3))
    assert abs(tissue[0] - lesion[0]) < 0.1 < 0.3 < tissue[0] - csf[0]  # T1: fluid against the rest
    assert abs(tissue[1] - csf[1]) < 0.1 < 0.3 < lesion[1] - tissue[1]  # T2: lesion against the rest
    fluid = brain.data[:, 0] < 0.5
    assert np.mean(fluid == (brain.target == 0)) > 0.95
    assert np.mean((brain.data[:, 1] > 0.6) == (brain.target == 2)) > 0.98


def test_every_tissue_is_there_in_plausible_amounts(clean):
    share = np.bincount(clean.target, minlength=4) / len(clean)
    assert 0.1 < share[0] < 0.35  # csf
    assert 0.3 < share[1] < 0.6  # gray
    assert 0.2 < share[2] < 0.5  # white
    assert 0.002 < share[3] < 0.08  # lesions
    assert ndimage.label(clean.inside)[1] == 1


def test_lesions_can_be_left_out():
    assert not (make_mri_phantom(64, n_lesions=0, random_state=0).target == 2).any()


def test_merged_truth_is_the_detailed_one_without_gray_and_white(clean):
    merged = make_mri_phantom(128, noise_std=0, random_state=5)
    np.testing.assert_array_equal(merged.data, clean.data)
    agree = np.array([0, 1, 1, 2])[clean.target] == merged.target
    assert agree.mean() > 0.98  # a pixel of three tissues can be mostly gray-or-white and yet mostly csf


def test_gaussian_noise_has_the_given_spread(clean):
    noisy = make_mri_phantom(128, noise="gaussian", noise_std=0.07, gray_white=True, random_state=5)
    np.testing.assert_array_equal(noisy.target, clean.target)  # same anatomy
    residual = noisy.data - clean.data
    assert residual.mean() == pytest.approx(0, abs=0.002)
    assert residual.std() == pytest.approx(0.07, rel=0.03)


def test_rician_noise_follows_the_rice_distribution():
    values = add_noise(np.full((20_000, 1), 0.3), "rician", 0.2, np.random.RandomState(0)).ravel()
    assert stats.kstest(values, stats.rice(0.3 / 0.2, scale=0.2).cdf).pvalue > 0.001
    assert values.min() >= 0


def test_inhomogeneity_is_smooth_and_has_the_given_width(clean):
    gain = coil_gain(clean.inside, 0.4, np.random.RandomState(2))
    assert (gain.min(), gain.max()) == pytest.approx((0.8, 1.2))
    image = clean.to_image(gain)
    assert np.nanmax(np.abs(np.diff(image, axis=0))) < 0.03
    shaded = make_mri_phantom(128, noise_std=0, inhomogeneity=0.4, gray_white=True, random_state=5)
    ratio = shaded.data / clean.data
    np.testing.assert_allclose([ratio.min(axis=0), ratio.max(axis=0)], [[0.8] * 2, [1.2] * 2])
    assert not np.allclose(ratio[:, 0], ratio[:, 1])


def test_reproducible_from_the_seed():
    first, again, other = (make_mri_phantom(64, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.data, again.data)
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.target, other.target)


def test_to_image_puts_values_back(clean):
    image = clean.to_image(clean.data)
    assert clean.shape == (128, 107)
    assert image.shape == (128, 107, 2)
    np.testing.assert_array_equal(image[clean.inside], clean.data)
    assert np.isnan(image[~clean.inside]).all()
    labels = clean.to_image(clean.target, fill=-1)
    assert labels.dtype == np.int64
    assert set(np.unique(labels)) == {-1, 0, 1, 2, 3}
    with pytest.raises(ValueError, match="one entry for each of the"):
        clean.to_image(np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        clean.inside[0, 0] = True


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 8}, "'size' parameter must be an int >= 32. Got 8"),
        ({"noise": "pink"}, "'noise' parameter must be 'rician' or 'gaussian'. Got 'pink'"),
        ({"noise_std": -1}, "must be >= 0"),
        ({"inhomogeneity": 3}, r"inhomogeneity in \[0, 2\)"),
        ({"n_lesions": -1}, "must be >= 0"),
    ],
)
def test_bad_parameters_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_mri_phantom(**wrong)
