"""Masks as links: what is drawn, what is left out, and what cannot be right."""

import warnings

import numpy as np
import pytest

from evidentia.app.images import Image, quantize
from evidentia.app.images.masks import clear_of, mask_links

# Rows 0 and 1 hold 10..15 and 50..55, row 2 holds 30.
PICTURE = Image.from_data(np.vstack([np.arange(10, 16), np.arange(50, 56), np.full(6, 30)]))
INDEX = quantize(PICTURE).index


def rows(*which):
    mask = np.zeros(PICTURE.shape, dtype=bool)
    mask[list(which)] = True
    return mask


def links(same=(), different=(), n_links=400, index=INDEX, image=PICTURE):
    return mask_links(image, index, same, different, n_links=n_links, random_state=0)


def values(pairs):
    """Links between vectors as links between gray values."""
    gray = quantize(PICTURE).vectors.ravel().astype(int)
    return {tuple(pair) for pair in gray[pairs].tolist()}


def test_small_regions_give_all_their_pairs():
    found = links([rows(0)], [(rows(0), rows(1))])
    assert values(found.must_link) == {(a, b) for a in range(10, 16) for b in range(a + 1, 16)}
    assert values(found.cannot_link) == {(a, b) for a in range(10, 16) for b in range(50, 56)}


def test_a_region_of_one_value_needs_no_links():
    found = links([rows(2)], [(rows(2), rows(0))])
    assert len(found.must_link) == 0
    assert values(found.cannot_link) == {(a, 30) for a in range(10, 16)}


def test_a_sample_is_repeated_by_its_seed_and_no_larger_than_asked():
    one, two = links([rows(0), rows(1)], [(rows(0), rows(1))], 7), links([rows(0), rows(1)], [(rows(0), rows(1))], 7)
    assert len(one.must_link) == 14
    assert len(one.cannot_link) == 7
    np.testing.assert_array_equal(one.pairs, two.pairs)


def test_values_at_home_in_the_other_region_give_no_links():
    noisy = np.array([[10] * 19 + [50], [50] * 16 + [70] * 4])
    image, index = Image.from_data(noisy), quantize(noisy).index
    a, b = np.zeros((2, 20), dtype=bool), np.zeros((2, 20), dtype=bool)
    a[0] = b[1] = True
    with pytest.warns(UserWarning, match=r"^5 % of the pixels of same\[0\] have values that also occur in"):
        found = links([a], [(a, b)], index=index, image=image)
    assert found.must_link.tolist() == []  # 10 alone is left of a
    assert found.cannot_link.tolist() == [[0, 1], [0, 2]]


def test_regions_that_the_image_does_not_tell_apart():
    left, right = rows(2), rows(2)
    left[:, 3:] = right[:, :3] = False
    with pytest.raises(ValueError, match=r"every value of different\[0\]\[0\] also occurs in different\[0\]\[1\]"):
        links([], [(left, right)])


def test_no_value_is_clear_both_ways():
    rng = np.random.default_rng(0)
    a, b = rng.poisson(5, 300), rng.poisson(9, 200)
    kept = set(a[clear_of(a, b)]), set(b[clear_of(b, a)])
    assert kept[0]
    assert kept[1]
    assert not kept[0] & kept[1]


def test_a_third_region_with_values_of_both_costs_links_and_says_so():
    image = Image.from_data(np.vstack([PICTURE.channels[0], [10, 50, 30, 30, 30, 30]]))
    index = quantize(image).index
    a, b, bridge = np.zeros((3, 4, 6), dtype=bool)
    a[0], b[1], bridge[3, :2] = True, True, True
    with pytest.warns(UserWarning, match=r"\d+ of 36 links between different regions were left out"):
        found = links([a, bridge], [(a, b)], index=index, image=image)
    assert found.check() is found
    assert (0, 7) in {tuple(pair) for pair in found.must_link.tolist()}


def test_masks_that_contradict_each_other_whatever_the_image():
    half = rows(0).copy()
    half[1, :2] = True
    with pytest.raises(ValueError, match=r"different\[0\]\[0\] and different\[0\]\[1\] are said .* share 2 pixels"):
        links([], [(half, rows(1))])
    with pytest.raises(ValueError, match=r"same\[0\], same\[1\], said to be the same, joins them"):
        links([half, rows(1, 2)], [(rows(0), rows(2))])


def test_masks_that_do_not_fit():
    with pytest.raises(ValueError, match=r"The mask same\[0\] has 2 × 2 pixels, but the image has 3 × 6"):
        links([np.ones((2, 2), dtype=bool)])
    with pytest.raises(ValueError, match=r"The mask same\[1\] is empty"):
        links([rows(0), rows()])
    with pytest.raises(ValueError, match=r"same\[0\] lies wholly outside"):
        links([rows(0)], index=np.where(rows(0), -1, INDEX))
    with pytest.raises(ValueError, match="'n_links' must be 1 or more"):
        links([rows(0)], n_links=0)


def test_equal_masks_are_one_region():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = links([rows(0), rows(0).copy()], [(rows(0).copy(), rows(1))])
    assert len(found.must_link) == 15
