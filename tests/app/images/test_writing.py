"""Maps as files: the right values, colors, place, and nothing else."""

import matplotlib.pyplot as plt
import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image as Pillow

from evidentia import ECM, EGMM, CredalPartition
from evidentia.app.images import plot_segmentation, read_image, segment, write_segmentation
from evidentia.app.images.pictures import color_sets
from evidentia.plots.palette import HUES


def test_pictures(brain, tmp_path):
    found = segment([brain.t1, brain.t2], ECM(2, n_init=1, random_state=0), within=brain.inside)
    written = write_segmentation(found, tmp_path / "new" / "maps")
    names = ["overview", "labels", "sets", "lower_0", "upper_0", "lower_1", "upper_1", "nonspecificity", "empty"]
    assert [path.name for path in written] == [f"{name}.png" for name in names] + ["partition.npz", "pixels.npz"]
    directory = written[0].parent
    assert {path.name for path in directory.iterdir()} == {"evidentia-run.json", *(path.name for path in written)}
    with Pillow.open(directory / "labels.png") as picture:
        assert picture.mode == "P"  # the values are labels, the palette gives the colors
        np.testing.assert_array_equal(np.asarray(picture), found.labels() + 1)
        shown = np.asarray(picture.convert("RGB"))
    i, j = np.argwhere(found.labels() == 1)[0]
    assert "#" + bytes(shown[i, j].tolist()).hex() == HUES[1]
    assert shown[0, 0].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(np.asarray(Pillow.open(directory / "upper_1.png")), 255 * found.upper(1))
    np.testing.assert_array_equal(
        np.asarray(Pillow.open(directory / "empty.png")), np.round(255 * np.nan_to_num(found.empty()))
    )
    np.testing.assert_array_equal(np.asarray(Pillow.open(directory / "sets.png")), color_sets(found.sets(), 2))
    again = CredalPartition.load(directory / "partition.npz")
    np.testing.assert_allclose(again.masses, found.partition.masses)
    with np.load(directory / "pixels.npz") as pixels:
        np.testing.assert_array_equal(pixels["vectors"][pixels["index"][i, j]], [brain.t1[i, j], brain.t2[i, j]])


def test_volumes_keep_their_affine(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(4, 5, 6))
    values = (truth * 100 + rng.integers(0, 20, truth.shape)).astype(np.float32)
    values[0, 0] = np.nan
    affine = np.array([[0, -2, 0.1, 5], [1.5, 0, 0, -3], [0, 0, 3, 1], [0, 0, 0, 1]])
    source = nibabel.Nifti1Image(values, affine)
    source.header.set_xyzt_units("mm", "sec")
    nibabel.save(source, tmp_path / "v.nii.gz")
    with pytest.raises(ValueError, match=r"v\.nii\.gz has no value \(NaN or infinite\) at 6 of 120 voxels"):
        segment(tmp_path / "v.nii.gz", "egmm", 2)
    found = segment(tmp_path / "v.nii.gz", EGMM(2, random_state=0), background=np.nan)
    written = write_segmentation(found, tmp_path / "maps")
    assert [path.name for path in written[1:3]] == ["labels.nii.gz", "lower_0.nii.gz"]
    labels = nibabel.load(tmp_path / "maps" / "labels.nii.gz")
    np.testing.assert_allclose(labels.affine, affine, atol=1e-6)
    np.testing.assert_array_equal(np.asanyarray(labels.dataobj), np.where(np.isnan(values), 0, truth + 1))
    assert labels.header.get_xyzt_units() == ("mm", "sec")
    doubt = np.asanyarray(nibabel.load(tmp_path / "maps" / "nonspecificity.nii.gz").dataobj)
    np.testing.assert_array_equal(doubt, found.nonspecificity())
    np.testing.assert_allclose(read_image(tmp_path / "maps" / "upper_1.nii.gz").affine, affine, atol=1e-6)


def test_stacks_are_written_as_stacks(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(5, 6, 7))
    found = segment([truth * 100 + rng.integers(0, 20, truth.shape)], EGMM(2, random_state=0))
    write_segmentation(found, tmp_path)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "labels.tif"), truth + 1)
    assert tifffile.imread(tmp_path / "sets.tif").shape == (5, 6, 7, 3)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "lower_1.tif"), 255 * found.lower(1))


def test_the_overview_shows_image_segments_sets_and_doubt(brain):
    found = segment([brain.t1, brain.t2], ECM(3, n_init=1, random_state=0), within=brain.inside)
    figure = plot_segmentation(found)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == [
        "channel 0", "channel 1", "most plausible cluster", "set", "nonspecificity (bits)", "mass on ∅",
    ]  # fmt: skip
    words = [text.get_text() for text in figure.axes[3].get_legend().get_texts()]
    assert words[:4] == ["{0}", "{1}", "{2}", "{0,1}"] or words[0] == "∅ (outlier)"
    np.testing.assert_array_equal(figure.axes[3].images[0].get_array(), color_sets(found.sets(), 3))
    plt.close(figure)
