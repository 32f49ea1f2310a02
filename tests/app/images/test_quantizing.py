"""Distinct vectors with counts: exact when few, rounded to the finest steps that fit, the same for any order."""

import numpy as np
import pytest

from evidentia.app.images import quantize, quantizing


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(quantizing, "BLOCK", 64)


def test_few_distinct_vectors_are_kept_exactly(small_blocks):
    rng = np.random.default_rng(0)
    image = [rng.integers(0, 5, (30, 20)).astype(np.uint8), rng.choice([0.1, 0.2, np.pi], (30, 20))]
    within = rng.random((30, 20)) < 0.8
    found = quantize(image, within=within)
    rows, counts = np.unique(np.column_stack([x[within] for x in image]), axis=0, return_counts=True)
    np.testing.assert_array_equal(found.vectors, rows)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(found.index >= 0, within)
    for k in range(2):
        np.testing.assert_array_equal(found.vectors[found.index[within], k], image[k][within])
    assert found.rounding == ""


def test_too_many_are_rounded_to_the_finest_steps_that_fit(small_blocks):
    rng = np.random.default_rng(1)
    image = rng.random((40, 50, 2))
    found = quantize(image, n_prototypes=300)
    assert 75 < len(found.vectors) <= 300
    assert found.rounding == "each channel rounded to 16 steps"  # 32 x 32 cells would be too many
    assert np.abs(found.vectors[found.index] - image).max() < 1 / 16
    for k, vector in enumerate(found.vectors):
        np.testing.assert_allclose(vector, image[found.index == k].mean(axis=0), rtol=1e-12)
    assert found.counts.sum() == 2000


def test_an_outlier_does_not_make_the_steps_coarse():
    rng = np.random.default_rng(2)
    image = rng.random((100, 100))
    image[3, 4] = 1000
    found = quantize(image, n_prototypes=500)
    assert np.abs(found.vectors[found.index, 0] - image).max() < 0.005


def test_many_channels_are_rounded_by_k_means():
    rng = np.random.default_rng(3)
    centers = rng.normal(size=(6, 12)) * 10
    which = rng.integers(6, size=(60, 50))
    image = centers[which] + rng.normal(size=(60, 50, 12))
    found = quantize(image, n_prototypes=40, random_state=0)
    assert 6 <= len(found.vectors) <= 40
    assert "by k-means" in found.rounding
    assert np.abs(found.vectors[found.index] - image).mean() < 1.2  # the noise itself has 0.8
    assert found.counts.min() >= 1
    assert found.counts.sum() == 3000


def test_shuffled_pixels_have_the_same_vectors():
    rng = np.random.default_rng(4)
    image = rng.integers(0, 99, (20, 30))
    order = rng.permutation(600)
    one, other = quantize(image), quantize(image.ravel()[order].reshape(20, 30))
    np.testing.assert_array_equal(one.vectors, other.vectors)
    np.testing.assert_array_equal(one.index.ravel()[order], other.index.ravel())


def test_values_that_are_missing_and_regions_that_are_empty():
    image = np.ones((3, 4))
    image[0, :2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"channel 0 has no value \(NaN or infinite\) at 2 of 12 pixels"):
        quantize(image)
    assert len(quantize(image, within=np.isfinite(image)).vectors) == 1
    with pytest.raises(ValueError, match="No pixel is left to segment"):
        quantize(image, within=np.zeros((3, 4), dtype=bool))
    with pytest.raises(ValueError, match="'n_prototypes' must be 2 or more"):
        quantize(image, n_prototypes=1)
