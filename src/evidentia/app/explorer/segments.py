"""An exploration of an image: what was drawn and answered, step by step, and the segmentation that came of it.

Like :mod:`evidentia.app.explorer.state`, for images: nothing here knows of a page, an action makes a step or raises an
error that can be shown, and what a person said is on disk before the step is there.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from evidentia.app.explorer.folder import STEPS, Folder
from evidentia.app.explorer.history import History
from evidentia.app.explorer.parsing import make
from evidentia.app.images import Image, Segmentation, segment
from evidentia.app.images.reading import size_text
from evidentia.app.images.regions import find_open_pair
from evidentia.app.images.strokes import Stroke, pen_masks
from evidentia.constraints.files import parse_answer
from evidentia.methods import best_for
from evidentia.partition import CredalPartition

ANSWERED = {"same": "yes", "different": "no", "unknown": "nobody knows"}
PENS = ("one segment", "another segment", "a third segment", "a fourth segment", "a fifth segment")
VECTORS = 1024  # distinct values that are told apart: an answer should take a second, not ten
KEPT = 20  # segmentations at hand; others are made again when undo comes to them


class RegionAnswer(NamedTuple):
    """Whether two regions, positions of pixels in the flattened image, are parts of one segment."""

    first: np.ndarray
    second: np.ndarray
    word: str


class RegionQuestion(NamedTuple):
    """Two regions of a step to ask about, as masks of the image, the most telling plane, and the question in words."""

    first: np.ndarray
    second: np.ndarray
    plane: int
    words: str
    of: ImageStep


@dataclass(frozen=True)
class ImageSettings:
    """How the image is segmented; ``background`` is left out, ``clusters`` None lets the method choose."""

    method: str = field(default_factory=lambda: best_for("images").method.name)
    clusters: int | None = None
    background: float | None = None
    scale: str = "standard"
    seed: int = 0


class PackedAnswer(NamedTuple):
    """A :class:`RegionAnswer` as the list of steps on disk holds it."""

    first: str
    second: str
    word: Literal["same", "different", "unknown"]


# What the list of steps on disk holds of a step.
LISTED: Mapping[str, Any] = MappingProxyType({
    "words": str, "settings": ImageSettings, "notes": tuple[str, ...], "strokes": tuple[Stroke, ...],
    "answers": tuple[PackedAnswer, ...],
})  # fmt: skip


@dataclass(eq=False)
class ImageStep:
    """What was done in words, with which settings, all that had been drawn and answered by then, and what came of it.

    The segmentation of a step that was taken up again, or is far back, is None until somebody asks for it.
    """

    words: str
    settings: ImageSettings
    strokes: tuple[Stroke, ...] = ()
    answers: tuple[RegionAnswer, ...] = ()
    notes: tuple[str, ...] = ()
    segmentation: Segmentation | None = None

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str, n_pixels: int) -> ImageStep:
        """A step as the list on disk holds it, of an image of so many pixels; an error says where it is not one."""
        step = make(cls, LISTED, given, where)
        try:
            if any(not 0 <= one.pen < len(PENS) for one in step.strokes):
                raise ValueError(f"there are the pens 0 to {len(PENS) - 1}.")
            answers = [RegionAnswer(_unpack(a, n_pixels), _unpack(b, n_pixels), word) for a, b, word in step.answers]
        except (ValueError, zlib.error) as error:
            raise ValueError(f"{where}: {error}") from None
        return replace(step, answers=tuple(answers))

    def to_dict(self) -> dict[str, Any]:
        """What the list of steps on disk holds."""
        answers = [(_pack(one.first), _pack(one.second), one.word) for one in self.answers]
        rest = {"words": self.words, "settings": asdict(self.settings), "notes": self.notes}
        return {**rest, "strokes": self.strokes, "answers": answers}


class ImageExploration(History[ImageStep]):
    """An image, how it is segmented, and what a person draws on it.

    Parameters
    ----------
    image : Image, path, array, or a list of these
        As for :func:`evidentia.app.images.segment`.
    settings : ImageSettings, optional
    folder : path, optional
        Where every step is kept; an exploration of this image that is there is taken up.
    code : str
        Python code that reads the image, for the script.

    Examples
    --------
    >>> image = np.kron(np.array([[0.0, 1.0], [2.0, 3.0]]), np.ones((6, 6))) + np.arange(12) / 100
    >>> exploration = ImageExploration(image, ImageSettings(clusters=2))
    >>> exploration.begin().words
    'egmm, 2 clusters'
    >>> step = exploration.draw([Stroke(0, ((1.0, 1.0), (1.0, 5.0))), Stroke(1, ((9.0, 9.0),))])
    >>> step.words, step.settings.method
    ('2 strokes: one segment, another segment', 'cecm')
    >>> exploration.undo().strokes
    ()
    """

    def __init__(
        self,
        image: Any,
        settings: ImageSettings | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        code: str = "...",
    ):
        super().__init__()
        self.image, self.code = Image.from_data(image), code
        self.first = settings or ImageSettings()
        words = size_text(self.image.shape)
        self.folder = None if folder is None else Folder(folder, "image", self.fingerprint, words)
        if self.folder is not None and (found := self.folder.read()) is not None:
            with self.folder.checking(STEPS):
                size = self.image.channels[0].size
                steps = [ImageStep.from_dict(one, f"steps[{at}]", size) for at, one in enumerate(found.steps)]
            self.steps, self.at = steps, found.at
            self.folder.write(self.at, found.steps)

    # -- how it stands ------------------------------------------------------------------------------------------------

    @property
    def segmentation_(self) -> Segmentation:
        """Of the present step."""
        return self._segmentation_of(self.step)

    @property
    def partition_(self) -> CredalPartition:
        """Of the distinct values that pixels have; the segmentation maps it to the image."""
        return self.segmentation_.partition

    @property
    def axis(self) -> int:
        """Along which a volume is cut into planes: the last axis of a NIfTI volume, the pages of a stack."""
        return 2 if self.image.volume is not None else 0

    @property
    def n_planes(self) -> int:
        return 1 if len(self.image.shape) == 2 else self.image.shape[self.axis]

    def plane(self, values: np.ndarray, at: int) -> np.ndarray:
        """One plane of an array of the shape of the image."""
        return values if values.ndim == 2 else np.moveaxis(values, self.axis, 0)[at]

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for channel in self.image.channels:
            digest.update(f"{channel.dtype}{channel.shape}".encode())
            digest.update(np.ascontiguousarray(channel).tobytes())
        return digest.hexdigest()[:16]

    # -- actions ------------------------------------------------------------------------------------------------------

    def begin(self) -> ImageStep:
        """Segment for the first time."""
        return self.step if self.at >= 0 else self._add(ImageStep(_describe(self.first), self.first))

    def set(self, **changes: Any) -> ImageStep:
        """Change ``clusters``, ``background``, ``scale``, ``method`` or ``seed``."""
        settings = replace(self.step.settings, **changes)
        if settings == self.step.settings:
            raise ValueError("Nothing was changed: these are the settings at hand.")
        return self._add(replace(self.step, words=_describe(settings), settings=settings, segmentation=None))

    def draw(self, strokes: Sequence[Stroke]) -> ImageStep:
        """Say that strokes of one pen lie in one segment, and those of different pens in different ones."""
        inside = [stroke for stroke in strokes if pen_masks([stroke], self.image.shape, self.axis)[stroke.pen].any()]
        if not inside:
            raise ValueError("Draw a line over the image first.")
        names = dict.fromkeys(PENS[stroke.pen] for stroke in sorted(inside, key=lambda stroke: stroke.pen))
        words = f"{len(inside)} stroke{'s' * (len(inside) != 1)}: {', '.join(names)}"
        return self._add(self._linked_step(words, strokes=(*self.step.strokes, *inside)))

    def answer(self, word: str, question: RegionQuestion) -> ImageStep:
        """Whether the two regions of a question are parts of one segment: "same", "different" or "don't know"."""
        if question.of is not self.step:
            raise ValueError("The image was segmented anew since this was asked: ask again.")
        given = RegionAnswer(np.flatnonzero(question.first), np.flatnonzero(question.second), parse_answer(word))
        words, answers = f"{question.words} {ANSWERED[given.word]}", (*self.step.answers, given)
        if given.word == "unknown":
            return self._add(replace(self.step, words=words, answers=answers, segmentation=self.segmentation_))
        return self._add(self._linked_step(words, answers=answers))

    def _linked_step(self, words: str, **said: Any) -> ImageStep:
        """A step whose method takes links, with the number of clusters at hand."""
        clusters = self.step.settings.clusters or self.segmentation_.n_clusters
        settings = replace(self.step.settings, method=best_for("images with links").method.name, clusters=clusters)
        return replace(self.step, words=words, settings=settings, segmentation=None, **said)

    # -- making steps -------------------------------------------------------------------------------------------------

    def _segmentation_of(self, step: ImageStep) -> Segmentation:
        if step.segmentation is None:
            with self._work() as notes:
                step.segmentation = self._segment(step)
            step.notes = tuple(notes)
        return step.segmentation

    def _segment(self, step: ImageStep) -> Segmentation:
        shape, settings = self.image.shape, step.settings
        pens = list(pen_masks(step.strokes, shape, self.axis).values())
        same, different = list(pens), [(a, b) for at, a in enumerate(pens) for b in pens[:at]]
        for one in step.answers:
            first, second = (_mask(pixels, shape) for pixels in one[:2])
            if one.word == "same":
                same.append(first | second)
            elif one.word == "different":
                different.append((first, second))
        return segment(
            self.image,
            settings.method,
            settings.clusters,
            same=same,
            different=different,
            background=settings.background,
            scale=settings.scale,
            n_prototypes=VECTORS,
            random_state=settings.seed,
        )

    def _add(self, step: ImageStep) -> ImageStep:
        """Segment, and make the step; whatever fails before its end changes nothing."""
        with self._change_lock():
            self._keep([*self.path, step], self.at + 1)
        return step

    def _keep(self, steps: list[ImageStep], at: int) -> None:
        self._segmentation_of(steps[at])
        if self.folder is not None:
            self.folder.write(at, [one.to_dict() for one in steps])
        for old in steps[: max(at - KEPT, 0)]:
            old.segmentation = None
        self.steps, self.at = steps, at

    # -- questions ----------------------------------------------------------------------------------------------------

    def ask(self) -> RegionQuestion | None:
        """The pair of regions whose answer would settle most pixels; None when none is left."""
        pair = find_open_pair(self.segmentation_, (one[:2] for one in self.step.answers))
        if pair is None:
            return None
        first, second = (one.pixels for one in pair)
        masks = [_mask(pixels, self.image.shape) for pixels in (first, second)]
        where = np.unravel_index(first, self.image.shape)
        plane = 0 if self.n_planes == 1 else int(np.bincount(where[self.axis]).argmax())
        size = f"{len(first):,} and {len(second):,} {self.image.points}"
        words = f"Are the two regions, of {size}, parts of one segment?"
        return RegionQuestion(masks[0], masks[1], plane, words, self.step)


def _mask(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.zeros(shape, dtype=bool)
    mask.flat[pixels] = True
    return mask


def _describe(settings: ImageSettings) -> str:
    number = "as many clusters as it finds best" if settings.clusters is None else f"{settings.clusters} clusters"
    return f"{settings.method}, {number}"


def _pack(pixels: np.ndarray) -> str:
    """Positions in increasing order as text: their differences are small, and compress well."""
    steps = np.diff(pixels, prepend=0).astype("<u4")
    return base64.b64encode(zlib.compress(steps.tobytes())).decode("ascii")


def _unpack(text: str, n_pixels: int) -> np.ndarray:
    """Positions that were packed; no more is unpacked than an image has pixels."""
    packed = base64.b64decode(text, validate=True)
    steps = np.frombuffer(zlib.decompressobj().decompress(packed, 4 * n_pixels), dtype="<u4").astype(np.int64)
    found = np.cumsum(steps)
    if not len(found) or found[-1] >= n_pixels:
        raise ValueError("a region is not in the image.")
    return found
