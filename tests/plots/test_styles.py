"""Arrays for drawing in a browser: codes, colors, sizes, and which objects are drawn."""

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition.counts import KINDS
from evidentia.plots.palette import set_style
from evidentia.plots.styles import (
    DRAWN,
    MISSING,
    choose_drawn,
    column_shades,
    diameter,
    object_styles,
    pack_colors,
)


@pytest.fixture
def partition():
    """Six objects: {1}, {0,1}, none, {0}, all three, {1}."""
    sets = FocalSets(3, [set(), {0}, {1}, {2}, {0, 1}, {0, 1, 2}])
    masses = np.full((6, 6), 0.05)
    masses[np.arange(6), [2, 4, 0, 1, 5, 2]] = 0.75
    return CredalPartition(masses, sets, cluster_names=["a", "b", "<b>"])


def test_a_code_is_the_place_of_the_set_in_the_legend(partition):
    found = object_styles(partition)
    assert found.masks.tolist() == [0b1, 0b10, 0b11, 0b111, 0]
    assert found.labels == ("{a}", "{b}", "{a,b}", "Ω (any)", "∅ (outlier)")
    assert found.codes.dtype == np.uint8
    assert found.codes.tolist() == [1, 2, 4, 0, 3, 1]
    assert found.counts.tolist() == [1, 2, 1, 1, 1]
    assert [KINDS[kind] for kind in found.kinds] == [
        "assigned",
        "ambiguous",
        "outlier",
        "assigned",
        "ambiguous",
        "assigned",
    ]
    assert found.marks == ("circle", "circle", "diamond", "square", "x")


def test_colors_are_those_of_every_other_picture(partition):
    found = object_styles(partition)
    assert found.fills.dtype == found.colors.dtype == np.uint32
    for mask, fill, edge in zip(found.masks.tolist(), found.fills.tolist(), found.edges.tolist()):
        assert f"#{fill:08x}" == set_style(mask, 3).color + "ff"
        assert f"#{edge:08x}" == set_style(mask, 3).edge + "ff"
    assert [f"{color:08x}" for color in found.colors[:3].tolist()] == ["d55e00ff", f"{found.fills[2]:08x}", "111111ff"]


def test_sets_that_were_decided_otherwise(partition):
    sets = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    found = object_styles(partition, sets=sets)
    assert found.masks.tolist() == [0b100, 0b11, 0b111, 0]
    assert found.codes.tolist() == [1, 3, 0, 0, 2, 1]


def test_size_grows_with_doubt():
    sure, torn, split = [1, 0, 0], [0, 0, 1], [0.6, 0.4, 0]
    found = object_styles(CredalPartition([sure, torn, split], FocalSets(2, [{0}, {1}, {0, 1}]))).sizes
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 8 * np.array([1, 1.9, 1 + 0.9 * 0.4]), rtol=1e-6)
    assert diameter(20_000) == diameter(10**6) == pytest.approx(7**0.5 * 4 / 3)


def test_many_sets_have_codes_of_two_bytes():
    pairs = [{i, j} for i in range(24) for j in range(i)]
    partition = CredalPartition(np.eye(len(pairs)), FocalSets(24, pairs))
    found = object_styles(partition)
    assert found.codes.dtype == np.uint16
    assert found.masks[found.codes].tolist() == partition.hard_masks.tolist()


def test_all_are_drawn_when_there_is_room():
    drawn = choose_drawn(np.zeros(DRAWN, dtype=np.uint8))
    assert drawn.objects.tolist() == list(range(DRAWN))
    assert drawn.words == ""


def test_torn_and_named_objects_are_drawn_before_a_sample():
    kinds = np.zeros(50_000, dtype=np.uint8)
    kinds[::100] = 1
    kinds[7::1000] = 2
    drawn = choose_drawn(kinds, always=[3, 5, 5, 49_999])
    assert len(drawn.objects) == len(set(drawn.objects.tolist())) == DRAWN
    assert set(np.flatnonzero(kinds)) | {3, 5, 49_999} <= set(drawn.objects.tolist())
    assert (np.diff(drawn.objects) > 0).all()
    assert drawn.words == (
        "Drawn are 20,000 of 50,000 objects: all 550 ambiguous or outlying, 3 linked, moved or selected, and a sample "
        "of the others."
    )
    assert choose_drawn(kinds * 0).words == "Drawn are 20,000 of 50,000 objects: a sample."


def test_a_drawn_object_stays_when_the_partition_changes():
    kinds = np.zeros(50_000, dtype=np.uint8)
    before = choose_drawn(kinds).objects
    kinds[:10] = 1
    after = choose_drawn(kinds, always=[11]).objects
    assert len(np.setdiff1d(before, after)) <= 11


def test_too_many_doubtful_objects_are_sampled_after_the_named_ones():
    kinds = np.ones(30_000, dtype=np.uint8)
    drawn = choose_drawn(kinds, always=[29_999], most=1000)
    assert len(drawn.objects) == 1000
    assert drawn.objects[-1] == 29_999
    assert drawn.words.startswith("Drawn are 1,000 of 30,000 objects: 1,000 of 30,000 ambiguous or outlying, 1 linked")


def test_a_column_of_numbers_goes_from_dark_to_light():
    shades = column_shades(np.array([-1.0, 3.0, np.nan, 1.0]))
    assert shades.codes.tolist() == [0, 254, 255, 127]
    assert len(shades.palette) == 256
    assert shades.palette[-1] == MISSING
    light = [sum(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in shades.palette[:255]]
    assert light[0] < light[127] < light[254]
    assert column_shades(np.array([2.0, 2.0])).codes.tolist() == [0, 0]
    assert column_shades(np.array([np.nan])).codes.tolist() == [255]


def test_a_column_of_categories_has_hues():
    levels = [f"level {k}" for k in range(300)]
    shades = column_shades(np.array([299.0, 0.0, np.nan]), levels)
    assert shades.codes.dtype == np.uint16
    assert shades.codes.tolist() == [299, 0, 300]
    assert shades.labels[299] == "level 299"
    assert shades.palette[0] == set_style(1, 2).color


def test_bytes_of_a_color():
    assert pack_colors(["#0072b2", "#ffffff"]).tolist() == [0x0072B2FF, 0xFFFFFFFF]
