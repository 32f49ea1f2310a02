"""A brain slice with two MR contrasts, lesions and known truth, for image segmentation."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial import cKDTree

from evidentia._parameters import random_numbers
from evidentia.datasets.dataset import ImageDataset
from evidentia.datasets.synthetic import Seed

if TYPE_CHECKING:
    from numpy.random import RandomState

CSF, GRAY, WHITE, LESION = range(4)
INTENSITY = np.array(
    [  # T1, T2
        [0.25, 0.28],  # cerebrospinal fluid
        [0.70, 0.36],  # gray matter
        [0.80, 0.28],  # white matter
        [0.74, 0.85],  # lesion
    ]
)
ASPECT = 5 / 6
SUBPIXELS = 4


def make_mri_phantom(
    size: int = 181,
    *,
    noise: str = "rician",
    noise_std: float = 0.04,
    inhomogeneity: float = 0.0,
    n_lesions: int = 8,
    gray_white: bool = False,
    random_state: Seed = None,
) -> ImageDataset:
    """An axial brain slice in T1 and T2 contrast with multiple-sclerosis lesions.

    A drawn stand-in for the BrainWeb images of EGMM, Sec. 4.3, with the same powers of discernment: T1
    tells the fluid from everything else and does not show the lesions, T2 (fluid suppressed) shows only the
    lesions. Skull and background are left out. A pixel is the mean of 4 x 4 points of the drawing, so
    pixels on a border mix the intensities of both sides (partial volume).

    Parameters
    ----------
    size : int
        Height of the image in pixels, at least 32; the width is 5/6 of it.
    noise : {"rician", "gaussian"}
        Rician noise is the magnitude of a complex signal with Gaussian noise in both parts, as in MR images.
    noise_std : float
        Standard deviation of the (underlying) Gaussian noise; the brightest tissue has intensity 0.85.
    inhomogeneity : float
        Width of the smooth multiplicative field of the coil: 0.2 lets the gain go from 0.9 to 1.1. One
        field for each contrast.
    n_lesions : int
        Lesions lie in the white matter near the ventricles.
    gray_white : bool
        Tell gray from white matter in the truth: classes csf, gray, white, lesion instead of csf, tissue,
        lesion.
    random_state : int, RandomState or None
        Fixes folds, lesions and noise. The anatomy does not depend on the noise parameters.

    Returns
    -------
    dataset : ImageDataset
        Objects are the pixels inside the skull, attributes ``t1`` and ``t2``; the class of a pixel is the
        one that covers most of it. :meth:`ImageDataset.to_image` turns values back into an image.

    Examples
    --------
    >>> brain = make_mri_phantom(96, random_state=0)
    >>> brain
    ImageDataset('mri_phantom', 5178 objects, 2 attributes, 3 classes)
    >>> t1 = brain.to_image(brain.data[:, 0], fill=0)
    >>> t1.shape
    (96, 80)
    """
    if size < 32:
        raise ValueError(f"The 'size' parameter must be an int >= 32. Got {size!r} instead.")
    if noise not in ("rician", "gaussian"):
        raise ValueError(f"The 'noise' parameter must be 'rician' or 'gaussian'. Got {noise!r} instead.")
    if noise_std < 0 or not 0 <= inhomogeneity < 2 or n_lesions < 0:
        raise ValueError(
            "noise_std and n_lesions must be >= 0 and inhomogeneity in [0, 2). Got "
            f"{noise_std!r}, {n_lesions!r} and {inhomogeneity!r} instead."
        )
    rng = random_numbers(random_state, "make_mri_phantom")
    inside, cover = cover_of_pixels(draw_anatomy(size, n_lesions, rng))
    signal = cover @ INTENSITY
    signal *= np.column_stack([coil_gain(inside, inhomogeneity, rng) for _ in signal.T])
    signal = add_noise(signal, noise, noise_std, rng)

    names: tuple[str, ...] = ("csf", "gray", "white", "lesion")
    if not gray_white:
        names = ("csf", "tissue", "lesion")
        cover = np.column_stack([cover[:, CSF], cover[:, GRAY] + cover[:, WHITE], cover[:, LESION]])
    return ImageDataset(
        name="mri_phantom",
        data=signal,
        target=cover.argmax(axis=1),
        feature_names=("t1", "t2"),
        target_names=names,
        description="Axial brain slice in T1 and T2 contrast with multiple-sclerosis lesions. Simulated.",
        inside=inside,
    )


def draw_anatomy(size: int, n_lesions: int, rng: "RandomState") -> np.ndarray:
    """Tissue of each point of a fine grid; -1 outside the skull.

    Coordinates: y from 1.05 (front) down to -1.05 (back), x from left to right; the brain reaches about to
    y = +-1.
    """
    height, width = SUBPIXELS * size, SUBPIXELS * round(size * ASPECT)
    pixel = 2.1 / height
    y = pixel * (height / 2 - 0.5 - np.arange(height)[:, None])
    x = pixel * (np.arange(width)[None, :] + 0.5 - width / 2)
    x, y = np.broadcast_arrays(x, y)
    grid = np.stack([x, y], axis=-1)

    skull = (x / (0.79 - 0.06 * y)) ** 2 + y**2 < 1
    rim = distance_transform_edt(skull) * pixel < 0.035
    outer_fluid = skull & (rim | strokes(grid, *folds(rng)))
    ventricles = strokes(grid, *ventricle_curves())
    cortex = distance_transform_edt(~outer_fluid) * pixel < 0.065
    nuclei = np.zeros_like(skull)
    for center, radii, tilt in (
        ((0.235, 0.27), (0.050, 0.12), 20),  # caudate
        ((0.375, 0.08), (0.070, 0.17), 12),  # lentiform
        ((0.125, -0.10), (0.085, 0.13), -25),  # thalamus
    ):
        for side in (-1, 1):
            nuclei |= ellipse(x * side, y, center, radii, tilt)

    tissue = np.where(cortex | nuclei, GRAY, WHITE)
    tissue[outer_fluid | ventricles] = CSF
    tissue[~skull] = -1
    from_ventricles = distance_transform_edt(~ventricles) * pixel
    white = tissue == WHITE
    places = np.argwhere(white & (from_ventricles > 0.04) & (from_ventricles < 0.2))
    for row, column in places[rng.randint(len(places), size=n_lesions)]:
        long = rng.uniform(0.04, 0.075)
        radii = (long, long * rng.uniform(0.5, 0.9))  # long side away from the midline
        center = (x[row, column], y[row, column])
        tissue[white & ellipse(x, y, center, radii, rng.uniform(-40, 40))] = LESION
    return tissue


def folds(rng: "RandomState") -> tuple[np.ndarray, np.ndarray]:
    """Points and half-widths of the fissure between the hemispheres, the side fissures and the sulci."""
    t = np.linspace(0, 1, 60)
    front = np.column_stack([0.012 * np.sin(9 * t), 1 - 0.52 * t])
    back = np.column_stack([0.012 * np.sin(7 * t), -1 + 0.50 * t])
    curves = [(front, 0.016), (back, 0.016)]
    for side in (-1, 1):
        curves.append((np.column_stack([side * (0.80 - 0.30 * t), 0.16 - 0.05 * t - 0.16 * t**3]), 0.022))
    angles = np.linspace(0, 2 * np.pi, 30, endpoint=False) + 2 * np.pi / 60
    for angle in angles + rng.uniform(-0.05, 0.05, len(angles)):
        start = np.array([(0.79 - 0.06 * np.sin(angle)) * np.cos(angle), np.sin(angle)])
        if abs(start[0]) < 0.12 or abs(start[1] - 0.14) < 0.12:
            continue  # room for the fissures
        depth, bend = rng.uniform(0.13, 0.34), rng.uniform(-0.7, 0.7)
        heading = angle + np.pi + rng.uniform(-0.2, 0.2) + bend * t
        steps = np.column_stack([np.cos(heading), np.sin(heading)]) * depth / len(t)
        curves.append((start + np.cumsum(steps, axis=0), rng.uniform(0.010, 0.018)))
    points = np.vstack([curve for curve, _ in curves])
    return points, np.repeat([half for _, half in curves], len(t))


def ventricle_curves() -> tuple[np.ndarray, np.ndarray]:
    """Points and half-widths of the lateral ventricles and the third one."""
    t = np.linspace(0, 1, 80)
    points = [np.column_stack([0 * t, 0.06 - 0.26 * t])]
    halves = [np.full(len(t), 0.018)]
    for side in (-1, 1):
        points.append(np.column_stack([side * (0.075 + 0.11 * t**2), 0.10 + 0.29 * t]))  # front horn
        halves.append(0.030 + 0.030 * np.sin(np.pi * t) ** 2)
        points.append(np.column_stack([side * (0.21 + 0.11 * np.sin(np.pi * t)), -0.22 - 0.34 * t]))  # back horn
        halves.append(0.052 - 0.030 * t)
    return np.vstack(points), np.concatenate(halves)


def strokes(grid: np.ndarray, points: np.ndarray, half_widths: np.ndarray) -> np.ndarray:
    """Where a pen with the given half-widths goes along the points."""
    distance, nearest = cKDTree(points).query(grid, distance_upper_bound=half_widths.max())
    return distance < np.append(half_widths, 0.0)[nearest]  # a miss gets the index one past the last


def ellipse(
    x: np.ndarray, y: np.ndarray, center: tuple[float, float], radii: tuple[float, float], tilt: float
) -> np.ndarray:
    """Inside of an ellipse turned by `tilt` degrees."""
    cos, sin = np.cos(np.deg2rad(tilt)), np.sin(np.deg2rad(tilt))
    dx, dy = x - center[0], y - center[1]
    return ((cos * dx + sin * dy) / radii[0]) ** 2 + ((cos * dy - sin * dx) / radii[1]) ** 2 < 1


def cover_of_pixels(tissue: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels mostly inside the skull, and the share of each tissue in them, shape (n_pixels, 4)."""
    height, width = (side // SUBPIXELS for side in tissue.shape)
    points = tissue.reshape(height, SUBPIXELS, width, SUBPIXELS)
    share = np.stack([(points == kind).mean(axis=(1, 3)) for kind in range(len(INTENSITY))], axis=-1)
    within = share.sum(axis=-1)
    inside = within > 0.5
    return inside, share[inside] / within[inside, None]


def coil_gain(inside: np.ndarray, width: float, rng: "RandomState") -> np.ndarray:
    """A random quadratic field over the pixels inside, from 1 - width/2 to 1 + width/2."""
    rows, columns = (2 * np.argwhere(inside) / inside.shape - 1).T
    terms = np.stack([rows, columns, rows * columns, rows**2, columns**2])
    field = rng.uniform(-1, 1, len(terms)) @ terms
    return 1 + width * ((field - field.min()) / np.ptp(field) - 0.5)


def add_noise(signal: np.ndarray, kind: str, std: float, rng: "RandomState") -> np.ndarray:
    real = signal + std * rng.standard_normal(signal.shape)
    return real if kind == "gaussian" else np.hypot(real, std * rng.standard_normal(signal.shape))
