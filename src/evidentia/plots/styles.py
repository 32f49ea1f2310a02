"""Styles of many objects at once, as arrays for a browser: sets as codes, colors as bytes, sizes by doubt.

Strings are what makes a drawing heavy, so an object has a small number that says which of the few sets in the legend is
its own; color, mark and words are the set's. They are those of :mod:`evidentia.plots.palette`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evidentia.partition import CredalPartition
from evidentia.plots.mpl import legend_labels
from evidentia.plots.palette import HUES, set_style

__all__ = [
    "MISSING",
    "DrawnObjects",
    "ObjectStyles",
    "Shades",
    "choose_drawn",
    "column_shades",
    "number_palette",
    "object_styles",
    "pack_colors",
]

DRAWN = 20_000  # objects beyond which some are left out
ASSIGNED, AMBIGUOUS, OUTLIER = range(3)  # positions in the words for them, ``KINDS``
BOKEH_MARKS = {"o": "circle", "D": "diamond", "^": "triangle", "P": "cross", "s": "square", "x": "x"}
MISSING = "#d9d9d9"
SHADES = 255  # of a column of numbers
GROWTH = 0.9  # how much larger the most doubtful object is than a certain one


class ObjectStyles(NamedTuple):
    """The styles in which the objects of a partition are drawn.

    Attributes
    ----------
    masks : ndarray of shape (n_sets,)
        The sets that objects have: single clusters, sets of several, the empty set last.
    labels, marks : tuple of n_sets str
        Words of each set for a legend, which are text and no HTML, and Bokeh's name of its mark.
    counts : ndarray of shape (n_sets,)
    fills, edges : ndarray of shape (n_sets,), uint32
        Colors as ``0xRRGGBBAA``.
    codes : ndarray of shape (n_samples,), uint8 or uint16
        The set of each object, as a position in ``masks``.
    kinds : ndarray of shape (n_samples,), uint8
        Position in ``KINDS``: of :mod:`evidentia.partition.counts`: assigned, ambiguous, outlier.
    sizes : ndarray of shape (n_samples,), float32
        Diameter in pixels, larger the more doubtful the object.
    """

    masks: np.ndarray
    labels: tuple[str, ...]
    marks: tuple[str, ...]
    counts: np.ndarray
    fills: np.ndarray
    edges: np.ndarray
    codes: np.ndarray
    kinds: np.ndarray
    sizes: np.ndarray

    @property
    def colors(self) -> np.ndarray:
        """Fill of each object, shape (n_samples,), uint32."""
        return self.fills[self.codes]


def object_styles(
    partition: CredalPartition, *, sets: np.ndarray | None = None, cluster_names: Sequence[str] | None = None
) -> ObjectStyles:
    """Return the styles of objects by their sets, or by other sets that were decided for them.

    Parameters
    ----------
    partition : CredalPartition
    sets : ndarray of shape (n_samples, n_clusters) of bool, optional
        For instance ``partition.sets("cautious", cautiousness=0.8)``.
    cluster_names : sequence of str, optional
        Those of the partition without it.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> masses = [[0, 0.9, 0, 0.1], [0, 0.2, 0.1, 0.7], [0, 0, 1, 0], [0.8, 0.1, 0.1, 0]]
    >>> found = object_styles(CredalPartition(masses, FocalSets(2)))
    >>> found.labels, found.marks, found.codes
    (('{0}', '{1}', '{0,1}', '∅ (outlier)'), ('circle', 'circle', 'square', 'x'), array([0, 2, 1, 3], dtype=uint8))
    >>> [f"{color:08x}" for color in found.fills.tolist()]
    ['0072b2ff', 'd55e00ff', 'bdbdbdff', '111111ff']
    """
    n, c = len(partition), partition.n_clusters
    own = partition.set_masks if sets is None else sets @ (1 << np.arange(c, dtype=np.int64))
    masks, codes, counts = np.unique(own, return_inverse=True, return_counts=True)
    cards = np.array([mask.bit_count() for mask in masks.tolist()], dtype=np.int64)
    order = np.lexsort([masks, np.where(cards == 0, c + 1, cards)])
    place = np.argsort(order)
    masks, counts, cards = masks[order], counts[order], cards[order]
    styles = [set_style(mask, c) for mask in masks.tolist()]
    codes = place[codes].astype(np.uint8 if len(masks) <= 256 else np.uint16)
    kind = np.select([cards == 0, cards == 1], [OUTLIER, ASSIGNED], AMBIGUOUS).astype(np.uint8)
    return ObjectStyles(
        masks=masks,
        labels=tuple(legend_labels(masks.tolist(), c, cluster_names or partition.cluster_names)),
        marks=tuple(BOKEH_MARKS[style.marker] for style in styles),
        counts=counts,
        fills=pack_colors([style.color for style in styles]),
        edges=pack_colors([style.edge for style in styles]),
        codes=codes,
        kinds=kind[codes],
        sizes=(diameter(n) * (1 + GROWTH * np.clip(partition.doubt, 0, 1))).astype(np.float32),
    )


def point_area(n: int) -> float:
    """Area of a point in a drawing of ``n`` of them, in square points (1/72 inch)."""
    return float(np.clip(20_000 / max(n, 1), 7, 36))


def diameter(n: int) -> float:
    """Diameter in pixels of a certain object among ``n`` that are drawn."""
    return point_area(min(n, DRAWN)) ** 0.5 * 96 / 72


def pack_colors(colors: Sequence[str]) -> np.ndarray:
    """Colors ``#rrggbb`` as uint32 ``0xRRGGBBAA``, which travel as bytes.

    Examples
    --------
    >>> [hex(color) for color in pack_colors(["#0072b2"]).tolist()]
    ['0x72b2ff']
    """
    return np.array([int(color[1:], 16) << 8 | 0xFF for color in colors], dtype=np.uint32)


class DrawnObjects(NamedTuple):
    """Which objects are drawn, in their order, and a sentence about it; no sentence when it is all of them."""

    objects: np.ndarray
    words: str


def choose_drawn(kinds: np.ndarray, *, always: Any = (), most: int = DRAWN) -> DrawnObjects:
    """At most ``most`` objects to draw: those named, those that are not assigned, and a sample of the others.

    Whatever there are too many of is sampled. The sample depends on the number of objects alone, so that a point that
    is drawn stays when the partition changes.

    Parameters
    ----------
    kinds : ndarray of shape (n_samples,)
        Of :class:`ObjectStyles`.
    always : array-like of int
        Objects that come first: linked, moved and selected ones.
    most : int

    Examples
    --------
    >>> choose_drawn(np.array([0, 0, 1, 0, 0, 2]), always=[4], most=4).objects
    array([1, 2, 4, 5])
    >>> choose_drawn(np.array([0, 0, 1, 0, 0, 2]), always=[4], most=4).words
    'Drawn are 4 of 6 objects: all 2 ambiguous or outlying, 1 linked, moved or selected, and a sample of the others.'
    """
    n, named = len(kinds), np.unique(np.asarray(always, dtype=np.int64))
    if n <= most:
        return DrawnObjects(np.arange(n), "")
    tier = np.where(kinds == ASSIGNED, 2, 1)
    tier[named] = 0
    order = np.lexsort([np.random.default_rng(0).permutation(n), tier])
    objects = np.sort(order[:most])
    doubtful, drawn = int((kinds != ASSIGNED).sum()), int((kinds[objects] != ASSIGNED).sum())
    which = f"all {doubtful:,}" if drawn == doubtful else f"{drawn:,} of {doubtful:,}"
    parts = [f"{which} ambiguous or outlying"] if doubtful else []
    parts += [f"{min(len(named), most):,} linked, moved or selected"] if len(named) else []
    rest = "and a sample of the others" if parts else "a sample"
    return DrawnObjects(objects, f"Drawn are {most:,} of {n:,} objects: {', '.join([*parts, rest])}.")


class Shades(NamedTuple):
    """How a column colors the objects: ``codes`` (n_samples,) uint8 or uint16 are positions in ``palette``.

    The last color is that of missing entries. ``low`` and ``high`` are the ends of a column of numbers, ``labels`` the
    categories of another.
    """

    codes: np.ndarray
    palette: tuple[str, ...]
    low: float
    high: float
    labels: tuple[str, ...]


def column_shades(values: np.ndarray, levels: Sequence[str] | None = None) -> Shades:
    """Colors of a column of numbers from dark to light, or of the hues of clusters for its categories.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        NaN where an entry is missing; a category is its position in ``levels``.
    levels : sequence of str, optional

    Examples
    --------
    >>> shades = column_shades(np.array([2.0, 4.0, np.nan, 3.0]))
    >>> shades.codes, shades.low, shades.high
    (array([  0, 254, 255, 127], dtype=uint8), 2.0, 4.0)
    >>> column_shades(np.array([1.0, 0.0, np.nan]), ["f", "m"]).codes
    array([1, 0, 2], dtype=uint8)
    """
    known = np.isfinite(values)
    if levels is not None:
        palette = [HUES[k % len(HUES)] for k in range(len(levels))]
        codes = np.where(known, values, len(levels)).astype(np.uint8 if len(levels) < 256 else np.uint16)
        return Shades(codes, (*palette, MISSING), 0.0, float(len(levels)), tuple(levels))
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
    scaled = (np.where(known, values, low) - low) / ((high - low) or 1.0)
    codes = np.where(known, np.round(scaled * (SHADES - 1)), SHADES).astype(np.uint8)
    return Shades(codes, (*number_palette(), MISSING), low, high, ())


def number_palette() -> tuple[str, ...]:
    """Colors for numbers from low to high, told apart with any sight: matplotlib's cividis."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return tuple(to_hex(color) for color in colormaps["cividis"](np.linspace(0, 1, SHADES)))
