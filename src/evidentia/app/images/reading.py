"""Images from files and arrays: one array for each channel, all of the same shape."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
VOLUMES = (".nii", ".nii.gz")
COLORS = {1: ("",), 2: ("", "alpha"), 3: ("red", "green", "blue"), 4: ("red", "green", "blue", "alpha")}


@dataclass(frozen=True, eq=False)
class Image:
    """Channels of the same shape, two or three axes each, and what is known about their place.

    Parameters
    ----------
    channels : tuple of ndarray
        Kept as they are, whatever their type: nothing is copied.
    names : tuple of str
        One for each channel.
    visible : ndarray of bool, optional
        False where a picture is wholly transparent.
    volume : nibabel image, optional
        Where a NIfTI file came from: its affine and header, not its values.

    Examples
    --------
    >>> Image.from_data(np.zeros((4, 3)))
    Image(4 × 3 pixels, 1 channel)
    >>> Image.from_data([np.zeros((2, 4, 3)), np.ones((2, 4, 3))])
    Image(2 × 4 × 3 voxels, 2 channels)
    """

    channels: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    visible: np.ndarray | None = None
    volume: Any = None

    @classmethod
    def from_data(cls, given: Any) -> Image:
        """An image from a path, an array, or a list of either: several channels of the same pixels.

        An array of two axes is one channel; with three or more, the last axis holds the channels. An array of a list is
        one channel whatever its axes.
        """
        if isinstance(given, Image):
            return given
        if isinstance(given, str | os.PathLike):
            return read_image(given)
        if isinstance(given, Sequence):
            arrays = [one for one in given if isinstance(one, np.ndarray)]
            if len(arrays) < len(given):
                return stack([cls.from_data(one) for one in given])
            return cls(*_number_channels(arrays))
        array = np.asarray(given)
        if array.ndim < 2:
            raise ValueError(f"An image has two axes or more. Got an array of shape {array.shape}.")
        return cls(*_number_channels([array] if array.ndim == 2 else [array[..., k] for k in range(array.shape[-1])]))

    def __post_init__(self) -> None:
        if not self.channels:
            raise ValueError("An image needs at least one channel. Got none.")
        for name, channel in zip(self.names, self.channels):
            if channel.dtype.kind not in "biuf":
                raise TypeError(f"Channel {name!r} holds {channel.dtype}, not real numbers.")
            if channel.ndim not in (2, 3) or not channel.size:
                raise ValueError(
                    f"A channel is a picture (two axes) or a volume (three). Got {name!r} of shape {channel.shape}."
                )
        _refuse_other_shapes([(name, channel.shape) for name, channel in zip(self.names, self.channels)])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.channels[0].shape

    @property
    def size(self) -> int:
        return self.channels[0].size

    @property
    def points(self) -> str:
        """What its elements are called."""
        return "pixels" if len(self.shape) == 2 else "voxels"

    @property
    def affine(self) -> np.ndarray | None:
        """From voxels to millimetres, shape (4, 4); None for pictures."""
        return None if self.volume is None else self.volume.affine

    def __repr__(self) -> str:
        count = len(self.channels)
        return f"Image({size_text(self.shape)} {self.points}, {count} channel{'s' * (count != 1)})"


def _number_channels(arrays: Sequence[np.ndarray]) -> tuple[tuple[np.ndarray, ...], tuple[str, ...]]:
    return tuple(arrays), tuple(f"channel {k}" for k in range(len(arrays)))


def size_text(shape: Sequence[int]) -> str:
    """``256 × 181``."""
    return " × ".join(map(str, shape))


def _refuse_other_shapes(found: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    first, shape = found[0]
    for name, other in found[1:]:
        if other != shape:
            raise ValueError(
                f"All images need the same size, but {first} has {size_text(shape)} and {name} has {size_text(other)}. "
                "Bring them to a common grid first."
            )


def read_image(*paths: str | os.PathLike[str]) -> Image:
    """Read a picture or a volume, or several of the same place as one image with more channels.

    Gray and colored pictures (PNG, JPEG, TIFF, BMP), stacks of pages (TIFF) and NIfTI volumes, whose fourth axis, if
    there is one, holds channels. Where a picture is wholly transparent, nothing is segmented.

    Parameters
    ----------
    *paths : path
        Files of the same size; NIfTI files also need the same affine.
    """
    return stack([_read_one(Path(path)) for path in paths])


def stack(images: Sequence[Image]) -> Image:
    """Images of the same place as one, with the channels of all."""
    if len(images) == 1:
        return images[0]
    _refuse_other_shapes([(image.names[0], image.shape) for image in images])
    volumes = [(image.names[0], image.volume) for image in images if image.volume is not None]
    for name, volume in volumes[1:]:
        if not same_place(volume, volumes[0][1]):
            raise ValueError(
                f"{volumes[0][0]} and {name} have the same size but lie in different places (their affines differ). "
                "Resample one of them to the grid of the other first."
            )
    seen = [image.visible for image in images if image.visible is not None]
    channels = tuple(channel for image in images for channel in image.channels)
    names = tuple(name for image in images for name in image.names)
    return Image(
        channels,
        names if len(set(names)) == len(names) else _number_channels(channels)[1],
        np.logical_and.reduce(seen) if seen else None,
        volumes[0][1] if volumes else None,
    )


def same_place(one: Any, other: Any) -> bool:
    """Whether two volumes lie in the same place, to a thousandth of a voxel."""
    return bool(np.allclose(one.affine, other.affine, rtol=0, atol=1e-3 * np.abs(one.affine[:3, :3]).max()))


def read_mask(path: str | os.PathLike[str], image: Image) -> np.ndarray:
    """Where a mask is drawn: pixels that are not zero (black), in any channel; of the shape of ``image``."""
    mask = _read_one(Path(path))
    found = np.logical_or.reduce([np.nan_to_num(channel) != 0 for channel in mask.channels])
    if mask.visible is not None:
        found &= mask.visible
    placed = mask.volume is not None and image.volume is not None
    if placed and found.shape == image.shape and not same_place(mask.volume, image.volume):
        raise ValueError(f"The mask {path} has the size of the image but lies in another place (their affines differ).")
    return found


def _read_one(path: Path) -> Image:
    if path.is_dir():
        raise ValueError(f"{path} is a directory. Name an image: {', '.join((*PICTURES, *VOLUMES))}.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    name = path.name.lower()
    if name.endswith(VOLUMES):
        return _read_volume(path)
    if not name.endswith(PICTURES):
        raise ValueError(
            f"{path}: images of type {path.suffix or '(none)'} are not read, but "
            f"{', '.join((*PICTURES, *VOLUMES))} are."
        )
    return _read_picture(path)


def _read_picture(path: Path) -> Image:
    stacked = path.suffix.lower() in (".tif", ".tiff")
    decode = _decode_tiff if stacked else _decode_picture
    try:
        values = decode(path)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # decoders raise whatever they like, SyntaxError too
        raise ValueError(_unreadable(path, error)) from error
    pages = stacked and values.ndim == 3 and values.shape[-1] not in COLORS
    if values.ndim == 2 or pages:
        return Image((values,), (path.name,))
    if values.ndim not in (3, 4) or values.shape[-1] not in COLORS:
        raise ValueError(
            f"{path} holds an array of shape {values.shape}. A picture has two axes, a stack of pages three, and "
            "colors one more for 1 to 4 channels."
        )
    colors = COLORS[values.shape[-1]]
    channels = {color: values[..., k] for k, color in enumerate(colors)}
    alpha = channels.pop("alpha", None)
    visible = None if alpha is None or alpha.all() else alpha != 0
    if all(np.array_equal(channel, values[..., 0]) for channel in channels.values()):
        channels = {"": values[..., 0]}  # a gray picture, maybe saved in color
    return Image(tuple(channels.values()), tuple(f"{path.name} {color}".strip() for color in channels), visible)


def _decode_tiff(path: Path) -> np.ndarray:
    try:
        import tifffile
    except ImportError as error:
        raise ImportError('TIFF files need tifffile: pip install "evidentia[images]".') from error
    return tifffile.imread(path)


def _decode_picture(path: Path) -> np.ndarray:
    from PIL import Image as Pillow

    with Pillow.open(path) as picture:
        if picture.mode == "P":
            return np.asarray(picture.convert("RGBA" if "transparency" in picture.info else "RGB"))
        return np.asarray(picture.convert("RGB") if picture.mode in ("CMYK", "YCbCr", "LAB", "HSV") else picture)


def _read_volume(path: Path) -> Image:
    try:
        import nibabel
    except ImportError as error:
        raise ImportError('NIfTI volumes need nibabel: pip install "evidentia[images]".') from error
    try:
        volume: Any = nibabel.load(path)
        values = np.asanyarray(volume.dataobj)
    except MemoryError:
        raise
    except Exception as error:  # nibabel, gzip and zlib have nothing in common but this
        raise ValueError(_unreadable(path, error)) from error
    if values.ndim == 3 or values.ndim == 2:
        return Image((values,), (path.name,), None, volume)
    if values.ndim != 4:
        raise ValueError(f"{path} has {values.ndim} axes. A volume has three, or four with channels along the last.")
    count = values.shape[3]
    names = (path.name,) if count == 1 else tuple(f"{path.name} {k}" for k in range(count))
    return Image(tuple(values[..., k] for k in range(count)), names, None, volume)


def _unreadable(path: Path, error: Exception) -> str:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    return f"{path} cannot be read as an image: it is damaged, or not what its name says ({why})."
