"""How a focal set looks, in every plot: its color, its marker and its words.

A single cluster has a hue of its own that depends on its number alone, so cluster 2 keeps its color when there are
more clusters. A set of clusters has a light blend of its members' hues and another marker, the whole frame is gray, the
empty set a black cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from evidentia.belief.focal import format_mask

__all__ = ["HUES", "SetStyle", "set_label", "set_style"]

# Six hues of Okabe and Ito, then the colors farthest from all before them, from gray and from black, as seen with
# normal and with red-green deficient sight. Clusters beyond the thirtieth begin again.
HUES = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#683900", "#5e007b", "#973968", "#847bff",
    "#0942bd", "#a14c26", "#681c42", "#13c67b", "#555ee3", "#71398e", "#5584d0", "#bd398e", "#71d968", "#3913a1",
    "#7b3942", "#ec84d0", "#d98439", "#e35e68", "#4c3968", "#09d0ff", "#7197f6", "#bd554c", "#a15568", "#e38eaa",
)  # fmt: skip
EMPTY = "#111111"
FRAME = "#bdbdbd"
MARKERS = {1: "o", 2: "D", 3: "^"}  # by the number of clusters in the set
LONGEST = 26  # letters of a set's name in a legend


class SetStyle(NamedTuple):
    """Fill and outline color as ``#rrggbb``, and matplotlib's letter for the marker."""

    color: str
    edge: str
    marker: str


@cache
def set_style(mask: int, n_clusters: int) -> SetStyle:
    """How the focal set ``mask`` looks.

    Examples
    --------
    >>> set_style(0b10, 4)
    SetStyle(color='#d55e00', edge='#d55e00', marker='o')
    >>> set_style(0b10, 30).color == set_style(0b10, 2).color
    True
    >>> set_style(0, 4).marker, set_style(0b1111, 4).color
    ('x', '#bdbdbd')
    """
    members = [k for k in range(n_clusters) if mask >> k & 1]
    if not members:
        return SetStyle(EMPTY, EMPTY, "x")
    if len(members) == 1:
        hue = HUES[members[0] % len(HUES)]
        return SetStyle(hue, hue, "o")
    if len(members) == n_clusters:
        return SetStyle(FRAME, "#5f5f5f", "s")
    light, dark = _blend([HUES[k % len(HUES)] for k in members])
    return SetStyle(light, dark, MARKERS.get(len(members), "P"))


def set_label(mask: int, n_clusters: int, cluster_names: Sequence[str] | None = None) -> str:
    """Short words for a focal set, for a legend.

    Examples
    --------
    >>> [set_label(mask, 3) for mask in (0, 0b1, 0b101, 0b111)]
    ['∅ (outlier)', '{0}', '{0,2}', 'Ω (any)']
    """
    if mask == 0:
        return "∅ (outlier)"
    if n_clusters > 2 and mask == (1 << n_clusters) - 1:
        return "Ω (any)"
    name = format_mask(mask, cluster_names)
    return name if len(name) <= LONGEST else name[: LONGEST - 2] + "…}"


def _blend(hues: Sequence[str]) -> tuple[str, str]:
    """A light and a dark color between the given ones, mixed in Oklab where halfway looks halfway.

    Colors from opposite sides mix to gray, which stands for the frame, so a mixture of two gets most of its members'
    strength of color back; a mixture of more is paler.
    """
    lab = np.array([_to_oklab(hue) for hue in hues])
    lightness, *ab = lab.mean(axis=0)
    strength = 1.5 / len(hues) * np.hypot(lab[:, 1], lab[:, 2]).mean()
    tint = strength * np.array(ab) / max(np.hypot(*ab), 1e-12)
    return _to_hex(np.array([0.55 * lightness + 0.43, *tint])), _to_hex(np.array([0.75 * lightness, *tint]))


# B. Ottosson, A perceptual color space for image processing, 2020: linear RGB to cone responses to Oklab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _to_oklab(color: str) -> np.ndarray:
    rgb = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return _OKLAB @ np.cbrt(_CONES @ linear)


def _to_hex(lab: np.ndarray) -> str:
    linear = np.clip(np.linalg.solve(_CONES, np.linalg.solve(_OKLAB, lab) ** 3), 0, 1)
    rgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in rgb)
