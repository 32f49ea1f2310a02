"""A brain slice whose tissue is known, as arrays and as files."""

import numpy as np
import pytest
from PIL import Image as Pillow

from evidentia.datasets import make_mri_phantom


class Brain:
    """Both contrasts with 8 bits, where the brain is, and the truth (-1 outside)."""

    def __init__(self, size):
        phantom = make_mri_phantom(size, random_state=0)
        self.inside = phantom.inside
        self.t1, self.t2 = (
            np.round(200 * phantom.to_image(np.clip(x, 0, 1.2), 0)).astype(np.uint8) for x in phantom.data.T
        )
        self.truth = phantom.to_image(phantom.target, -1)
        self.floats = np.moveaxis(phantom.to_image(phantom.data), -1, 0)

    def region(self, kind, rows=slice(None)):
        """Pixels of a kind of tissue whose four neighbors are of the same kind."""
        same = self.truth == kind
        inner = same.copy()
        for axis in (0, 1):
            for step in (-1, 1):
                inner &= np.roll(same, step, axis)
        kept = np.zeros_like(inner)
        kept[rows] = inner[rows]
        return kept


@pytest.fixture(scope="session")
def brain():
    return Brain(96)


@pytest.fixture
def files(brain, tmp_path):
    """``t1.png``, ``t2.png`` and masks in a directory."""
    pictures = {
        "t1": brain.t1,
        "t2": brain.t2,
        "brain": brain.inside,
        "csf": brain.region(0),
        "tissue": brain.region(1, slice(30, 60)),
        "lesion": brain.region(2),
    }
    for name, values in pictures.items():
        gray = values.astype(np.uint8) * (255 if values.dtype == bool else 1)
        Pillow.fromarray(gray).save(tmp_path / f"{name}.png")
    return tmp_path
