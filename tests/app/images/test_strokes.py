"""Strokes of a pen as masks of pixels."""

import numpy as np
import pytest

from evidentia.app.images.strokes import Stroke, pen_masks, stroke_mask


@pytest.mark.parametrize("radius", [0.4, 1.5, 4.0])
def test_a_mask_holds_the_pixels_near_the_line(radius):
    points = [(3.2, 4.1), (17.7, 9.3), (12.0, 15.5), (12.0, 15.5)]
    slow = np.zeros((18, 21), dtype=bool)
    fine = np.concatenate([np.linspace(a, b, 3001) for a, b in zip(np.array(points), np.array(points[1:]))])
    for i in range(18):
        for j in range(21):
            slow[i, j] = (((fine - [j + 0.5, i + 0.5]) ** 2).sum(axis=1) <= radius**2).any()
    for x, y in points:
        slow[int(y), int(x)] = True
    np.testing.assert_array_equal(stroke_mask(points, (18, 21), radius), slow)


def test_a_dot_is_a_stroke_and_what_is_beside_the_image_is_not():
    assert np.argwhere(stroke_mask([(2.9, 1.1)], (4, 6), 0.1)).tolist() == [[1, 2]]
    assert not stroke_mask([(-9.0, 2.0), (-5.0, 2.0)], (4, 6), 1.0).any()
    assert not stroke_mask([], (4, 6), 1.0).any()
    across = stroke_mask([(-10.0, 1.5), (np.nan, 1.0), (20.0, 1.5)], (4, 6), 0.5)
    assert np.argwhere(across)[:, 0].tolist() == [1] * 6


def test_pens_have_masks_of_their_own_in_their_slices():
    strokes = [Stroke(1, ((1.5, 0.5),), 2, 0.4), Stroke(0, ((0.5, 0.5),), 0, 0.4), Stroke(1, ((0.5, 1.5),), 1, 0.4)]
    found = pen_masks(strokes, (3, 4, 5), axis=2)
    assert list(found) == [0, 1]
    assert np.argwhere(found[0]).tolist() == [[0, 0, 0]]
    assert np.argwhere(found[1]).tolist() == [[0, 1, 2], [1, 0, 1]]
    with pytest.raises(IndexError):
        pen_masks([Stroke(0, ((0.5, 0.5),), 7)], (3, 4, 5))
