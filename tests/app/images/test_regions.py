"""Regions of a segmentation."""

import numpy as np

from evidentia.app.images.regions import find_regions


def test_regions_are_connected_and_large_enough():
    sets = np.full((6, 8), -1)
    sets[0:3, 0:3], sets[4:6, 0:6], sets[0:2, 5:8] = 1, 1, 2
    sets[3, 7] = 3
    assert [(one.mask, len(one.pixels)) for one in find_regions(sets, 6)] == [(1, 12), (1, 9), (2, 6)]
