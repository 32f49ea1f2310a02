"""Multiple features of digits: six views of scikit-learn's 1,797 scanned digits, made as those of UCI's set were.

UCI's "Multiple Features" describes 2,000 digits by 240 averages of pixels, 76 Fourier coefficients, 216 numbers of
profiles, 64 Karhunen-Loeve coefficients, 47 Zernike moments and 6 morphological numbers. The file is not distributed
with this package; the digits here are others, coarser (8 x 8 squares), and come with scikit-learn, so that anybody can
repeat it. As there, moments do not see how a digit is turned, so that six and nine look alike, and the morphological
numbers tell only some digits apart.

``python -m benchmarks.digit_views`` prints how near each method comes to the digits, the number of clusters given. The
fuzzifier is 1.1, the first that the authors of WMVEC try: with 2 centers coincide in so many columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from math import factorial
from typing import Any

import numpy as np
from scipy import ndimage
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

SIDE, INK = 8, 16.0  # squares of an image in a row, and how dark one can be
DARK = 0.5  # from which a square is part of the digit
SEEDS = 5
BETA = 1.1


def pixel_averages(images: np.ndarray) -> np.ndarray:
    """How dark each of 64 squares is, (n, 64): averages of 4 x 4 pixels of the scan."""
    return images.reshape(len(images), -1)


def fourier_coefficients(images: np.ndarray, count: int = 76) -> np.ndarray:
    """Sizes of the Fourier coefficients of lowest frequency, which a shift of the digit does not change, (n, count)."""
    size = 2 * SIDE
    sizes = np.abs(np.fft.rfft2(images, s=(size, size)))
    rows, columns = np.abs(np.fft.fftfreq(size)), np.fft.rfftfreq(size)
    order = np.argsort(np.hypot(*np.meshgrid(rows, columns, indexing="ij")), axis=None, kind="stable")
    return sizes.reshape(len(images), -1)[:, order[:count]]


def profiles(images: np.ndarray, directions: int = 12, bins: int = 18) -> np.ndarray:
    """Ink along parallel lines in each of some directions, (n, directions * bins)."""
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    found = []
    for angle in np.arange(directions) * np.pi / directions:
        # Between two bins a square is shared by both.
        place = (x * np.cos(angle) + y * np.sin(angle)).ravel() * (bins - 1) / (SIDE * np.sqrt(2)) + (bins - 1) / 2
        shares = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(bins)))
        found.append(pixel_averages(images) @ shares)
    return np.hstack(found)


def principal_coefficients(images: np.ndarray, count: int = 20) -> np.ndarray:
    """Karhunen-Loeve coefficients of largest variance, (n, count)."""
    return PCA(count, svd_solver="full").fit_transform(pixel_averages(images))


def zernike_moments(images: np.ndarray, most: int = 12) -> np.ndarray:
    r"""Sizes of Zernike moments of order two to ``most``, which a turn of the digit does not change, (n, 47).

    .. math:: A_{nm} = \frac{n + 1}{\pi} \sum_{x, y} f(x, y) R_{nm}(r) e^{-i m \theta}
    """
    y, x = np.mgrid[:SIDE, :SIDE]
    ink = images.sum(axis=(1, 2))
    center = np.stack([(images * at).sum(axis=(1, 2)) / ink for at in (x, y)])
    dx, dy = x - center[0, :, None, None], y - center[1, :, None, None]
    radius, angle = np.hypot(dx, dy) / SIDE, np.arctan2(dy, dx)  # every square lies within the unit disk
    weight = images / ink[:, None, None]
    found = []
    for order in range(2, most + 1):
        for turns in range(order % 2, order + 1, 2):
            value = weight * _radial(radius, order, turns) * np.exp(-1j * turns * angle)
            found.append(np.abs(value.sum(axis=(1, 2))) * (order + 1) / np.pi)
    return np.stack(found, axis=1)


def _radial(radius: np.ndarray, order: int, turns: int) -> np.ndarray:
    total = np.zeros_like(radius)
    for s in range((order - turns) // 2 + 1):
        halves = ((order + turns) // 2 - s, (order - turns) // 2 - s)
        factor = (-1) ** s * factorial(order - s) / (factorial(s) * factorial(halves[0]) * factorial(halves[1]))
        total += factor * radius ** (order - 2 * s)
    return total


def shapes(images: np.ndarray) -> np.ndarray:
    """Six numbers of the dark squares: how many, holes, width, height, outline, slenderness, (n, 6)."""
    return np.array([_shape(one / INK >= DARK) for one in images], dtype=float)


def _shape(dark: np.ndarray) -> tuple[float, ...]:
    framed = np.pad(dark, 1)
    holes = ndimage.label(~framed)[1] - 1
    y, x = np.nonzero(dark)
    outline = np.sum(framed[1:] != framed[:-1]) + np.sum(framed[:, 1:] != framed[:, :-1])
    spread = np.linalg.eigvalsh(np.cov(x, y, bias=True))
    return len(x), holes, np.ptp(x) + 1, np.ptp(y) + 1, outline, np.sqrt((spread[1] + 1 / 12) / (spread[0] + 1 / 12))


def digit_views() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The views by name, (1797, ...) each, and the digits."""
    digits = load_digits()
    views = {
        "pixels": pixel_averages(digits.images),
        "Fourier": fourier_coefficients(digits.images),
        "profiles": profiles(digits.images),
        "principal": principal_coefficients(digits.images),
        "Zernike": zernike_moments(digits.images),
        "shape": shapes(digits.images),
    }
    return views, digits.target


def standardized(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]


def fits(views: dict[str, np.ndarray]) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Each method with its name, waiting for a seed."""
    from evidentia import ECM, WMVEC, WMVECFP, MECMdd

    even = {name: standardized(X) for name, X in views.items()}
    for name, X in even.items():
        yield f"ECM, {name}", lambda seed, X=X: ECM(10, beta=BETA, random_state=seed).fit(X)
    joined = np.hstack(list(even.values()))
    yield "ECM, joined", lambda seed: ECM(10, beta=BETA, random_state=seed).fit(joined)
    for lam in (0.25, 1.0):
        for cls in (WMVEC, WMVECFP):
            yield (
                f"{cls.__name__}, lam={lam:g}",
                lambda seed, cls=cls, lam=lam: cls(10, beta=BETA, lam=lam, random_state=seed).fit(even),
            )
    matrices = {name: cdist(X, X) for name, X in even.items()}
    for weights in ("global", "local"):
        model = MECMdd(10, beta=BETA, weights=weights, focal_sets="simple")
        yield f"MECMdd, {weights}", lambda seed, model=model: model.set_params(random_state=seed).fit(matrices)


def compare() -> None:
    """Print indices with the digits, the mean of some seeds, and the weights of the views."""
    views, digits = digit_views()
    print("| method | ARI | NMI |", " | ".join(views), "|", flush=True)
    for name, fit in fits(views):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [fit(seed) for seed in range(SEEDS)]
            indices = [
                (adjusted_rand_score(digits, one.labels_), normalized_mutual_info_score(digits, one.labels_))
                for one in models
            ]
        weights = np.mean([getattr(one, "view_weights_", np.full(len(views), np.nan)) for one in models], axis=0)
        cells = [*np.mean(indices, axis=0), *weights]
        print("|", name, "|", " | ".join("" if np.isnan(x) else f"{x:.2f}" for x in cells), "|", flush=True)


if __name__ == "__main__":
    compare()
