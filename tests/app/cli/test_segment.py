"""``evidentia segment`` as a person uses it: files in, maps out, and a line that helps when something is wrong."""

import functools
import os
import signal

import nibabel
import numpy as np
import pytest
from PIL import Image as Pillow
from sklearn.metrics import adjusted_rand_score

from evidentia import ECM
from evidentia.datasets import make_mri_phantom


@pytest.fixture(scope="module")
def phantom():
    return make_mri_phantom(64, random_state=0)


@pytest.fixture
def files(phantom, tmp_path, monkeypatch):
    """Two contrasts, the brain and two regions; gives the truth, -1 outside."""
    monkeypatch.chdir(tmp_path)
    truth = phantom.to_image(phantom.target, -1)
    band = np.zeros_like(phantom.inside)
    band[20:40] = truth[20:40] == 1
    masks = {"brain": phantom.inside, "tissue": band, "lesion": truth == 2, "blank": band & ~band, "cut": band[1:]}
    for name, mask in masks.items():
        Pillow.fromarray(255 * mask.astype(np.uint8)).save(f"{name}.png")
    for name, values in zip(("t1", "t2"), phantom.data.T):
        gray = np.round(200 * phantom.to_image(np.clip(values, 0, 1.2), 0)).astype(np.uint8)
        Pillow.fromarray(gray).save(f"{name}.png")
    return truth


def agreement(truth, path):
    labels = np.asarray(Pillow.open(path))
    assert ((labels > 0) == (truth >= 0)).all()
    return adjusted_rand_score(truth[truth >= 0], labels[truth >= 0])


def test_two_contrasts(run, files, tmp_path):
    code, text = run(
        "segment", "t1.png", "t2.png", "--clusters", 3, "--within", "brain.png", "--out", "maps", "--starts", 2
    )
    assert code == 0, text
    assert "t1.png, t2.png: 64 × 53 pixels, 2 channels" in text
    assert "method      EGMM, 3 clusters, seed 0" in text
    assert f"segmented   {(files >= 0).sum()} of 3392 pixels" in text
    assert "(every distinct value kept)" in text
    assert f"{(files >= 0).sum()} pixels in 3 clusters" in text
    assert agreement(files, "maps/labels.png") > 0.8
    assert (tmp_path / "maps" / "overview.png").stat().st_size > 10_000
    assert "objects in 3 clusters" in run("show", "maps")[1]


def test_masks_make_it_cecm(run, files):
    code, text = run(
        "segment", "t2.png", "--clusters", 2, "--within", "brain.png", "--same", "lesion.png", "--same", "tissue.png",
        "--different", "lesion.png", "tissue.png", "--different", "tissue.png", "lesion.png", "--out", "maps",
        "--starts", 2,
    )  # fmt: skip
    assert code == 0, text
    assert "CECM, 2 clusters" in text
    assert "of values that belong together" in text
    lesion = np.where(files < 0, -1, files == 2)
    assert agreement(lesion, "maps/labels.png") > 0.8


def test_fusion(run, files):
    meanings = ("--fuse", "csf < tissue, lesion", "--fuse", "csf,tissue < lesion")
    code, text = run("segment", "t1.png", "t2.png", *meanings, "--within", "brain.png", "--out", "maps", "--starts", 2)
    assert code == 0, text
    assert "EGMM, 2 and 2 clusters, seed 0, each image for itself, then Dempster's rule" in text
    assert agreement(files, "maps/labels.png") > 0.8
    lower = np.asarray(Pillow.open("maps/lower_lesion.png")) > 0
    assert (files[lower] == 2).mean() > 0.9


def test_a_volume_with_gaps(run, phantom, tmp_path):
    values = phantom.to_image(phantom.data[:, 0])[:, :, None].repeat(2, axis=2).astype(np.float32)
    nibabel.save(nibabel.Nifti1Image(values, np.diag([2, 2, 5, 1.0])), tmp_path / "t1.nii.gz")
    code, text = run("segment", tmp_path / "t1.nii.gz", "--clusters", 2)
    assert code == 2
    assert "t1.nii.gz has no value (NaN or infinite) at" in text
    assert "background nan" in text
    code, text = run(
        "segment", tmp_path / "t1.nii.gz", "--clusters", 2, "--background", "nan", "--method", "ecm", "--out",
        tmp_path / "maps", "--quiet",
    )  # fmt: skip
    assert code == 0, text
    assert text.splitlines()[0] == f"{2 * len(phantom.data)} voxels in 2 clusters"
    made = nibabel.load(tmp_path / "maps" / "labels.nii.gz")
    assert made.shape == values.shape
    np.testing.assert_array_equal(made.affine, np.diag([2, 2, 5, 1.0]))
    assert (tmp_path / "maps" / "empty.nii.gz").exists()


def test_nothing_is_written_unless_asked(run, files, tmp_path):
    before = sorted(path.name for path in tmp_path.iterdir())
    code, text = run("segment", "t1.png", "--background", 0, "--clusters", "2-3", "--prototypes", 20, "--starts", 2)
    assert code == 0, text
    assert "2 to 3 clusters" in text
    assert "each channel rounded to 16 steps" in text
    assert "Nothing was written; --out DIR keeps the maps." in text
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["t1.png", "cut.png"], "t1.png has 64 × 53 and cut.png has 63 × 53"),
        (["t1.png", "--same", "cut.png", "--clusters", 2], "The mask cut.png has 63 × 53 pixels, but the image has 64"),
        (["t1.png", "--same", "blank.png", "--clusters", 2], "The mask blank.png is empty"),
        (["t1.png", "--same", "lesoin.png", "--clusters", 2], "no file lesoin.png. Did you mean 'lesion.png'?"),
        (["t1.png", "--clusters", 2, "--different", "brain.png", "lesion.png"], "but share"),
        (["t1.png", "--different", "brain.png"], "--different takes two masks"),
        (["t1.png", "--different", "brain.png", "--quiet"], "--different takes two masks"),
        (["blank.png", "--clusters", 2], "All 3392 pixels have the same value"),
        (["t1.png", "--method", "ecm"], "ecm needs a number, as in --clusters 3"),
        (["t1.png", "--method", "ecm", "--clusters", 2, "--same", "brain.png"], "they are options of cecm"),
        (["t1.png", "--clusters", 2, "--xi", 0.3], "--xi means nothing to egmm: it is an option of cecm, cfcm, "),
        (["t1.png", "--clusters", "many"], "--clusters: The number of clusters is a number (3)"),
        (["t1.png", "t2.png", "--fuse", "a < b"], "Got 2 images and --fuse 1 times"),
        (["t1.png", "t2.png", "--fuse", "a", "--fuse", "b"], "--fuse 'csf < tissue,lesion'. Got 'a'."),
        (["t1.png", "t2.png", "--fuse", "a<b", "--fuse", "a<b", "--clusters", 2], "leave --clusters out"),
        (["t1.png", "t2.png", "--fuse", "a<b", "--fuse", "a<b", "--same", "brain.png"], "does not go with --same"),
        (["t1.png", "t2.png", "--fuse", "a<b", "--fuse", "a<c"], "Every image must share out the same names"),
        (["t1.png", "--out", "t2.png"], "--out t2.png is a file"),
    ],
)
def test_mistakes_end_with_a_line_that_helps(run, files, arguments, words):
    code, text = run("segment", *arguments)
    assert code == 2
    assert words in text
    assert "Traceback" not in text


def test_an_interrupt_writes_the_best_so_far(run, files, monkeypatch):
    fit = ECM.fit

    @functools.wraps(fit)
    def interrupted(self, *arguments, **options):
        done = fit(self, *arguments, **options)
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:  # as a descent does that keeps its best start
            return done
        return done

    monkeypatch.setattr(ECM, "fit", interrupted)
    code, text = run("segment", "t1.png", "--method", "ecm", "--clusters", 2, "--starts", 1, "--out", "maps")
    assert code == 130
    assert "pixels in 2 clusters" in text
    assert np.asarray(Pillow.open("maps/labels.png")).max() == 2


def test_ask_suggests_only_what_it_has(run, tmp_path):
    (tmp_path / "holes.csv").write_text("u,v\n1,2\n3,\n5,6\n")
    code, text = run("ask", tmp_path / "holes.csv", "--clusters", 2)
    assert code == 2
    assert "--missing drop leaves these rows out." in text
    assert "egmm" not in text
    assert (
        "--method egmm --missing em uses what is there." in run("fit", tmp_path / "holes.csv", "--missing", "error")[1]
    )
