"""Images from files: which axes are channels, what is visible, where a volume lies, and what is refused."""

import sys

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow

from evidentia.app.images import Image, read_image
from evidentia.app.images.reading import read_mask

GRAY = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_gray_colored_and_deep_pictures(tmp_path):
    colors = np.dstack([GRAY, GRAY + 1, 2 * GRAY])
    Pillow.fromarray(GRAY).save(tmp_path / "gray.png")
    Pillow.fromarray(colors).save(tmp_path / "rgb.png")
    Pillow.fromarray(GRAY.astype(np.uint16) * 1000).save(tmp_path / "deep.png")
    assert repr(read_image(tmp_path / "gray.png")) == "Image(3 × 4 pixels, 1 channel)"
    assert read_image(tmp_path / "deep.png").channels[0].max() == 11_000
    found = read_image(tmp_path / "rgb.png", tmp_path / "gray.png")
    assert found.names == ("rgb.png red", "rgb.png green", "rgb.png blue", "gray.png")
    np.testing.assert_array_equal(np.dstack(found.channels), np.dstack([colors, GRAY]))


def test_a_gray_picture_saved_in_color_is_one_channel(tmp_path):
    Pillow.fromarray(np.dstack([GRAY] * 3)).save(tmp_path / "gray.png")
    assert read_image(tmp_path / "gray.png").names == ("gray.png",)


def test_palettes_are_colors(tmp_path):
    picture = Pillow.fromarray(GRAY % 2)
    picture.putpalette([0, 0, 0, 200, 10, 0])
    picture.save(tmp_path / "p.png")
    np.testing.assert_array_equal(read_image(tmp_path / "p.png").channels[0], 200 * (GRAY % 2))


def test_transparent_pixels_are_not_visible(tmp_path):
    alpha = np.where(GRAY % 5 == 0, 0, 7).astype(np.uint8)
    Pillow.fromarray(np.dstack([GRAY, GRAY + 1, GRAY, alpha])).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert len(found.channels) == 3
    np.testing.assert_array_equal(found.visible, GRAY % 5 != 0)
    Pillow.fromarray(np.dstack([GRAY, GRAY + 1, GRAY, np.full_like(GRAY, 9)])).save(tmp_path / "solid.png")
    assert read_image(tmp_path / "solid.png").visible is None


@pytest.mark.parametrize("pages", [3, 4, 5])
def test_pages_of_a_tiff_are_a_volume(tmp_path, pages):
    stack = np.random.default_rng(0).random((pages, 6, 7)).astype(np.float32)
    tifffile.imwrite(tmp_path / "stack.tif", stack, photometric="minisblack")
    found = read_image(tmp_path / "stack.tif")
    assert found.shape == (pages, 6, 7)
    np.testing.assert_array_equal(found.channels[0], stack)


def test_volumes_keep_their_place_and_a_fourth_axis_is_channels(tmp_path):
    affine = np.array([[0, -2, 0, 5], [1.5, 0, 0, -3], [0, 0, 3, 1], [0, 0, 0, 1.0]])
    values = np.arange(48, dtype=np.int16).reshape(2, 3, 4, 2)
    nibabel.save(nibabel.Nifti1Image(values, affine), tmp_path / "v.nii.gz")
    found = read_image(tmp_path / "v.nii.gz")
    assert repr(found) == "Image(2 × 3 × 4 voxels, 2 channels)"
    np.testing.assert_array_equal(found.affine, affine)
    np.testing.assert_array_equal(found.channels[1], values[..., 1])
    moved = affine.copy()
    moved[0, 3] += 2
    nibabel.save(nibabel.Nifti1Image(values, moved), tmp_path / "moved.nii.gz")
    with pytest.raises(ValueError, match=r"v\.nii\.gz 0 and moved\.nii\.gz 0 have the same size but lie in different"):
        read_image(tmp_path / "v.nii.gz", tmp_path / "moved.nii.gz")
    with pytest.raises(ValueError, match="lies in another place"):
        read_mask(tmp_path / "moved.nii.gz", found)


def test_arrays_have_their_channels_last_and_lists_hold_channels():
    assert Image.from_data(np.zeros((3, 4, 2))).shape == (3, 4)
    assert Image.from_data([np.zeros((3, 4, 2))]).shape == (3, 4, 2)
    with pytest.raises(ValueError, match="An image has two axes or more"):
        Image.from_data(np.zeros(5))
    with pytest.raises(TypeError, match="complex128, not real numbers"):
        Image.from_data(np.zeros((2, 2), dtype=complex))
    with pytest.raises(ValueError, match=r"channel 0 has 3 × 4 and channel 1 has 4 × 3"):
        Image.from_data([np.zeros((3, 4)), np.zeros((4, 3))])


def test_a_mask_is_where_something_is_drawn(tmp_path):
    drawn = np.zeros((3, 4, 3), dtype=np.uint8)
    drawn[1, 2] = [0, 0, 9]
    Pillow.fromarray(drawn).save(tmp_path / "m.png")
    found = read_mask(tmp_path / "m.png", Image.from_data(GRAY))
    assert np.argwhere(found).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cut.png", b"\x89PNG\r\n\x1a\n123", "cannot be read as an image: it is damaged"),
        ("not.tif", b"a text", "cannot be read as an image"),
        ("cut.nii.gz", b"\x1f\x8b\x08\x00", "cannot be read as an image"),
        ("a.gif", b"GIF89a", r"images of type \.gif are not read, but \.png"),
    ],
)
def test_files_that_are_no_images(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_image(tmp_path / name)


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*gone\.png"):
        read_image(tmp_path / "gone.png")
    with pytest.raises(ValueError, match="is a directory"):
        read_image(tmp_path)


@pytest.mark.parametrize(("package", "file"), [("tifffile", "a.tif"), ("nibabel", "a.nii")])
def test_a_missing_package_names_its_extra(tmp_path, monkeypatch, package, file):
    (tmp_path / file).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r'pip install "evidentia\[images\]"'):
        read_image(tmp_path / file)
