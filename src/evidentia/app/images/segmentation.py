"""From an image to segments: cluster its feature vectors by their counts, and give each pixel what its vector got."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from evidentia.app.images.masks import MaskReader, mask_links
from evidentia.app.images.quantizing import MOST, quantize
from evidentia.app.images.reading import Image, size_text
from evidentia.arguments import random_numbers
from evidentia.belief import format_mask
from evidentia.constraints import PairwiseConstraints
from evidentia.methods import best_for, find, record
from evidentia.partition import CredalPartition
from evidentia.partition.counts import count_kinds, kind_of, percent

SCALES = ("standard", "none")
N_LINKS = 500


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """Segments of an image, and the doubt about each pixel.

    Masses belong to feature vectors, of which there are far fewer than pixels; maps are made from them when asked for.

    Parameters
    ----------
    image : Image
    index : ndarray of int32 of the shape of the image
        The vector of each pixel, -1 where nothing was segmented.
    vectors : ndarray of shape (n_vectors, n_channels)
        In the units of the image.
    counts : ndarray of shape (n_vectors,)
        Pixels that have each vector.
    partition : CredalPartition
        Of the vectors. Clusters are numbered from the darkest to the brightest in the first channel.
    rounding : str
        How vectors were rounded; empty when every distinct one was kept.
    constraints : PairwiseConstraints
        Links between vectors that came from masks.
    model : estimator or None
        As it was fitted, on scaled vectors and with its own numbers of the clusters.
    """

    image: Image
    index: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray
    partition: CredalPartition
    rounding: str = ""
    constraints: PairwiseConstraints = field(default_factory=PairwiseConstraints.from_links)
    model: Any = None

    @property
    def n_clusters(self) -> int:
        return self.partition.n_clusters

    @property
    def n_pixels(self) -> int:
        """Pixels that were segmented."""
        return int(self.counts.sum())

    @property
    def kind_counts(self) -> dict[str, int]:
        """How many pixels are of each kind: ``{"assigned": ..., "ambiguous": ..., "outlier": ...}``."""
        return count_kinds(self._set_sizes())

    def _set_sizes(self) -> dict[int, int]:
        """Return how many pixels have each set."""
        masks, at = np.unique(self.partition.set_masks, return_inverse=True)
        return dict(zip(masks.tolist(), np.bincount(at, weights=self.counts).astype(int).tolist()))

    @cached_property
    def cluster_names(self) -> tuple[str, ...]:
        """Names of the clusters, their numbers when they have none."""
        return self.partition.cluster_names or tuple(map(str, range(self.n_clusters)))

    @cached_property
    def means(self) -> np.ndarray:
        """Mean of each cluster in each channel by pignistic probability, shape (n_clusters, n_channels)."""
        weight = self.partition.pignistic.T * self.counts
        return weight @ self.vectors / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    # -- maps ---------------------------------------------------------------------------------------------------------

    def map(self, values: Any, outside: Any) -> np.ndarray:
        """One value per vector as an image, ``outside`` where nothing was segmented."""
        return np.append(values, np.asarray(outside, dtype=np.asarray(values).dtype))[self.index]

    def labels(self, rule: str | None = None) -> np.ndarray:
        """Cluster of each pixel, -1 outside; see :meth:`evidentia.partition.CredalPartition.labels`."""
        return self.map(self.partition.labels(rule).astype(np.int16), -1)

    def lower(self, k: int) -> np.ndarray:
        """Pixels assigned to cluster ``k``, as an image of bool."""
        return self.map(np.isin(np.arange(len(self.counts)), self.partition.lower(k)), False)

    def upper(self, k: int) -> np.ndarray:
        """Pixels possibly in cluster ``k``, as an image of bool."""
        return self.map(np.isin(np.arange(len(self.counts)), self.partition.upper(k)), False)

    def sets(self) -> np.ndarray:
        """Mask (bit k for cluster k) of the set of each pixel, -1 outside."""
        return self.map(self.partition.set_masks, -1)

    def nonspecificity(self) -> np.ndarray:
        """Nonspecificity of each pixel in bits, NaN outside."""
        return self.map(self.partition.nonspecificity.astype(np.float32), np.nan)

    def empty(self) -> np.ndarray:
        """Mass on the empty set: how far a pixel fits none of the clusters; NaN outside."""
        return self.map(self.partition.empty.astype(np.float32), np.nan)

    # -- reading ------------------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """What was found, in a few lines for a person."""
        sizes, names, kinds = self._set_sizes(), self.partition.cluster_names, self.kind_counts

        def line(kind: str, words: str) -> str:
            largest = sorted(((mask, n) for mask, n in sizes.items() if kind_of(mask) == kind), key=lambda it: -it[1])
            tail = f"  {', '.join(f'{format_mask(mask, names)}: {n}' for mask, n in largest[:8])}"
            listed = tail if largest and kind != "outlier" else ""
            share = percent(kinds[kind], self.n_pixels)
            return f"  {kinds[kind]:>{len(str(self.n_pixels))}} ({share:>5}) {words}{listed}"

        lines = [
            f"{self.n_pixels} {self.image.points} in {self.n_clusters} clusters",
            line("assigned", "assigned to one cluster    "),
            line("ambiguous", "ambiguous between clusters "),
        ]
        if self.partition.focal_sets.empty_index is not None:
            lines.append(line("outlier", "outliers, in none of them"))
        width = max(len(name) for name in ("cluster", *self.cluster_names))
        columns = [max(len(name), 10) for name in self.image.names]
        lines.append("  ".join([f"{'cluster':<{width}}", *(f"{n:>{w}}" for n, w in zip(self.image.names, columns))]))
        for name, row in zip(self.cluster_names, self.means):
            lines.append("  ".join([f"{name:<{width}}", *(f"{value:>{w}.4g}" for value, w in zip(row, columns))]))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Segmentation({size_text(self.image.shape)} {self.image.points}, {self.n_clusters} clusters, "
            f"{len(self.counts)} feature vectors)"
        )


def segment(
    image: Any,
    method: Any = None,
    n_clusters: int | str | None = None,
    *,
    same: Iterable[Any] = (),
    different: Iterable[tuple[Any, Any]] = (),
    within: Any = None,
    background: float | None = None,
    scale: str = "standard",
    n_links: int = N_LINKS,
    n_prototypes: int = MOST,
    random_state: Any = None,
    verbose: int = 0,
) -> Segmentation:
    """Cluster the pixels of an image by their values.

    Parameters
    ----------
    image : Image, path, array, or a list of these
        An array of two axes is one channel; with more, the last axis holds channels. The elements of a list are
        channels of the same pixels, for instance modalities.
    method : str or estimator
        Short name of a method that takes weights, and links when there are masks. ``"cecm"`` is the default when there
        are masks, else ``"egmm"``.
    n_clusters : int or "auto"
        For a method by name; ``"auto"``, the default, is for methods that choose it.
    same : iterable of masks
        Regions whose pixels belong together; arrays of bool, or paths of images that are not black there.
    different : iterable of pairs of masks
        Regions whose pixels do not belong together.
    within : mask, optional
        What to segment.
    background : float, optional
        Pixels that have this value in all channels are left out; NaN leaves out those that have no value in some.
    scale : {"standard", "none"}
        ``"standard"`` brings each channel to mean 0 and standard deviation 1 first.
    n_links : int
        Pairs of pixels drawn for each region of ``same`` and each pair of ``different``.
    n_prototypes : int
        An image with no more distinct feature vectors than this is clustered exactly; else see :func:`quantize`.
    random_state, verbose
        Given to the estimator.

    Returns
    -------
    Segmentation

    Notes
    -----
    Time and memory of the fit grow with the number of distinct feature vectors; a pixel costs one 32-bit number.

    Examples
    --------
    A brain slice in two contrasts; T1 shows the fluid, T2 the lesions.

    >>> from evidentia.datasets import make_mri_phantom
    >>> brain = make_mri_phantom(64, random_state=0)
    >>> t1, t2 = np.moveaxis(brain.to_image(brain.data), -1, 0)
    >>> found = segment([t1, t2], "egmm", 3, background=np.nan, random_state=0)
    >>> found
    Segmentation(64 × 53 pixels, 3 clusters, 2292 feature vectors)
    >>> found.means.round(2).tolist()
    [[0.35, 0.29], [0.71, 0.33], [0.74, 0.76]]
    """
    random_numbers(random_state, "segment")  # a mistake is found before the work
    image = Image.from_data(image)
    same, different = list(same), list(different)
    estimator = _estimator(method, n_clusters, linked=bool(same or different))
    found = _vectors(image, _region(image, within, background), n_prototypes, random_state)
    links = mask_links(image, found.index, same, different, n_links=n_links, random_state=random_state)
    table = _scale(found.vectors, found.counts, scale)
    wanted = {"random_state": random_state, "verbose": verbose}
    estimator.set_params(**{k: v for k, v in wanted.items() if k in estimator.parameters and v is not None})
    estimator.fit(
        table, sample_weight=found.counts.astype(float), **({"constraints": links} if same or different else {})
    )
    parts = (found.counts, estimator.partition_)
    unsorted = Segmentation(image, found.index, found.vectors, *parts, found.rounding, links, estimator)
    return replace(unsorted, partition=estimator.partition_.relabel(np.argsort(unsorted.means[:, 0], kind="stable")))


def _vectors(image: Image, within: np.ndarray | None, n_prototypes: int, random_state: Any) -> Any:
    found = quantize(image, within=within, n_prototypes=n_prototypes, random_state=random_state)
    if len(found.vectors) < 2:
        raise ValueError(
            f"All {int(found.counts.sum())} {image.points} have the same value: there is nothing to segment."
        )
    return found


def set_for_images(estimator: Any) -> None:
    """Give an estimator the settings for images that its record has, where it has its defaults."""
    defaults = {name: one.default for name, one in estimator.parameters.items()}
    wanted = estimator.method.for_images.items()
    estimator.set_params(**{name: value for name, value in wanted if getattr(estimator, name) == defaults[name]})


def _estimator(method: Any, n_clusters: int | str | None, *, linked: bool) -> Any:
    """The estimator, unfitted, after a look at whether it can do what is wanted."""
    if method is None or isinstance(method, str):
        cls = best_for("images with links" if linked else "images") if method is None else find(method)
        method = cls.method.name
        if not isinstance(n_clusters, int) and "searched" not in cls.method.number:
            raise ValueError(f"{method} needs the number of clusters, it does not choose it. Got {n_clusters!r}.")
        estimator = cls(n_clusters="auto" if n_clusters is None else n_clusters)
        set_for_images(estimator)
    else:
        if n_clusters is not None:
            raise ValueError("'n_clusters' is for a method by name; an estimator has its own.")
        record(method)
        estimator = clone(method)
    takes, name = estimator.method.takes, type(estimator).__name__
    if "weights" not in takes or "table" not in estimator.method.reads:
        raise ValueError(f"{name} takes no weights, and the values of an image have counts.")
    if linked and "links" not in takes:
        able = best_for("images with links").method.name
        raise ValueError(f"{name} does not listen to masks (same, different): method {able!r} does.")
    return estimator


def _region(image: Image, within: Any, background: float | None) -> np.ndarray | None:
    """Which pixels to segment, None for all."""
    parts = [] if image.visible is None else [image.visible]
    if within is not None:
        inside = np.zeros(image.size, dtype=bool)
        inside[MaskReader(image, np.zeros(image.shape, dtype=np.int8)).take(within, "within").pixels] = True
        parts.append(inside.reshape(image.shape))
    if background is not None:
        if np.isnan(background):
            parts.append(~np.logical_or.reduce([np.isnan(channel) for channel in image.channels]))
        else:
            parts.append(~np.logical_and.reduce([channel == background for channel in image.channels]))
    return np.logical_and.reduce(parts) if parts else None


def _scale(vectors: np.ndarray, counts: np.ndarray, scale: str) -> np.ndarray:
    if scale not in SCALES:
        raise ValueError(f"'scale' must be one of {', '.join(map(repr, SCALES))}. Got {scale!r}.")
    if scale == "none":
        return vectors
    mean = np.average(vectors, axis=0, weights=counts)
    spread = np.sqrt(np.average((vectors - mean) ** 2, axis=0, weights=counts))
    return (vectors - mean) / np.where(spread > 0, spread, 1.0)
