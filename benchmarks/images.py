"""Segmentation of images: a slice in two contrasts, and ten million pixels of which only one number each is kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.egmm import PAPER
from benchmarks.harness import Line, duration, in_own_process, memory, peak_beyond, stopwatch
from evidentia import CECM, ECM, EGMM
from evidentia.app.images import segment
from evidentia.datasets import make_mri_phantom


def slice_in_two_contrasts(size: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Both contrasts as 64-bit numbers, all values distinct; where the brain is; and the truth."""
    brain = make_mri_phantom(size, random_state=0)
    return list(np.moveaxis(brain.to_image(brain.data), -1, 0)), brain.inside, brain.to_image(brain.target, -1)


def large_image(n_pixels: int, kind: str) -> np.ndarray:
    """Three groups of values, as 8-bit or 32-bit numbers."""
    rng = np.random.default_rng(0)
    side = int(np.sqrt(n_pixels))
    values = rng.standard_normal((side, side), dtype=np.float32)
    values *= 9
    values += np.array([40, 110, 200], dtype=np.float32)[rng.integers(3, size=(side, side), dtype=np.int8)]
    return values if kind == "float32" else np.clip(values, 0, 255).astype(np.uint8)


def segment_large(n_pixels: int, kind: str) -> list[float]:
    """Megabytes beyond the image, and seconds, of a segmentation and its map of labels."""
    segment(large_image(100, kind), ECM(2, n_init=1, random_state=0))  # loads what is loaded on first use
    image = large_image(n_pixels, kind)
    seconds: list[float] = []

    def work() -> None:
        model = EGMM(3, init="k-means", n_init=1, random_state=0, **PAPER)
        seconds.append(stopwatch(lambda: segment(image, model).labels(), repeats=1))

    return [peak_beyond(work), seconds[0]]


def lines(quick: bool) -> Iterator[Line]:
    image, inside, truth = slice_in_two_contrasts(64 if quick else 256)
    regions = [truth == kind for kind in range(3)]
    known: dict[str, Any] = {"same": regions, "different": [(regions[0], regions[1]), (regions[1], regions[2])]}
    size = f"{image[0].shape[0]} x {image[0].shape[1]} x 2"
    for name, model, masks in (
        ("EGMM", EGMM(3, init="k-means", n_init=10, random_state=0, **PAPER), {}),
        ("ECM", ECM(3, random_state=0), {}),
        ("CECM with masks", CECM(3, random_state=0), known),
    ):
        seconds = stopwatch(partial(segment, image, model, within=inside, **masks), repeats=1)
        yield Line(f"segment, {name}, 10 starts", size, duration(seconds), "", "", "<= 10.00 s", seconds <= 10)
    n_pixels = 10**6 if quick else 10**7
    for kind in ("uint8", "float32"):
        megabytes, seconds = in_own_process("benchmarks.images", "segment_large", n_pixels, kind)
        # A 32-bit index and a 16-bit label a pixel, and blocks.
        yield memory(f"segment, EGMM, {kind}, beyond the image", f"{n_pixels:.0e} pixels", megabytes, 150)
        yield Line(f"segment, EGMM, {kind}, 1 start", f"{n_pixels:.0e} pixels", duration(seconds), "", "", "", None)
