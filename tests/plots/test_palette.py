"""A focal set looks the same in every plot, and different from the others."""

from itertools import combinations

import numpy as np
import pytest

from evidentia.plots.palette import EMPTY, FRAME, HUES, _to_hex, _to_oklab, set_label, set_style

# Machado, Oliveira, Fernandes 2009: what red-blind and green-blind eyes see, on linear RGB.
RED_BLIND = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
GREEN_BLIND = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]])


def seen(color, eye):
    rgb = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.clip(eye @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4), 0, 1)
    back = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in back)


def distance(a, b, eye):
    return np.linalg.norm(_to_oklab(seen(a, eye)) - _to_oklab(seen(b, eye)))


def test_oklab_of_white_and_of_pure_red():
    np.testing.assert_allclose(_to_oklab("#ffffff"), [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(_to_oklab("#ff0000"), [0.628, 0.2249, 0.1258], atol=1e-3)  # published by its author


@pytest.mark.parametrize("color", [*HUES, EMPTY, FRAME])
def test_oklab_and_back_is_the_same_color(color):
    assert _to_hex(_to_oklab(color)) == color


@pytest.mark.parametrize("eye", [np.eye(3), RED_BLIND, GREEN_BLIND], ids=["all", "red-blind", "green-blind"])
def test_clusters_are_told_apart_whatever_the_eye(eye):
    # 0.02 is about the smallest difference of two patches side by side; the nearest of Okabe and Ito's six are 0.075.
    assert min(distance(a, b, eye) for a, b in combinations([*HUES[:8], EMPTY, FRAME], 2)) > 0.07
    assert min(distance(a, b, eye) for a, b in combinations([*HUES, EMPTY, FRAME], 2)) > 0.045


def test_every_hue_stands_out_from_white_paper():
    assert max(_to_oklab(hue)[0] for hue in HUES) < 0.82


def test_a_cluster_keeps_its_color_when_there_are_more():
    for k in range(12):
        assert {set_style(1 << k, n).color for n in (12, 13, 30, 62)} == {HUES[k]}


def test_a_set_keeps_its_look_when_there_are_more_clusters():
    assert set_style(0b101, 4) == set_style(0b101, 30)


def test_empty_set_and_frame_have_looks_of_their_own():
    assert set_style(0, 3) == (EMPTY, EMPTY, "x")
    assert set_style(0b111, 3).color == FRAME
    assert set_style(0b11, 2).color == FRAME
    assert set_style(0b1, 1).color == HUES[0]  # with one cluster the frame is that cluster


def test_markers_tell_the_size_of_a_set():
    assert [set_style((1 << size) - 1, 6).marker for size in range(1, 7)] == ["o", "D", "^", "P", "P", "s"]


def test_a_blend_lies_between_its_members_and_is_lighter():
    for a, b in combinations(range(6), 2):
        style = set_style(1 << a | 1 << b, 7)
        blend, dark, *members = map(_to_oklab, (style.color, style.edge, HUES[a], HUES[b]))
        mean = np.mean(members, axis=0)
        assert blend[0] > mean[0] > dark[0]
        cosine = blend[1:] @ mean[1:] / np.linalg.norm(blend[1:]) / np.linalg.norm(mean[1:])
        assert cosine > 0.9


def test_pairs_of_four_clusters_differ_from_each_other_and_from_the_frame():
    colors = [set_style(1 << a | 1 << b, 4).color for a, b in combinations(range(4), 2)]
    assert min(distance(a, b, np.eye(3)) for a, b in combinations([*colors, FRAME], 2)) > 0.03


def test_clusters_beyond_thirty_still_have_a_color():
    assert set_style(1 << 61, 62).color == HUES[1]


def test_labels_use_cluster_names_and_stay_short():
    assert set_label(0b110, 3, ["a", "healthy", "ill"]) == "{healthy,ill}"
    assert set_label(0b11, 2) == "{0,1}"
    assert set_label(0b111, 3) == "Ω (any)"
    assert set_label(0b11, 3, ["x" * 20, "y" * 20, "z"]) == "{" + "x" * 20 + ",yy…}"
