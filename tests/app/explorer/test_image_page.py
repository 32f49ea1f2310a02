"""The page of an image, in a real browser: strokes, questions, undo, slices, a script, and a second start."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from PIL import Image
from tests.app.explorer.gestures import model

from app.explorer.driving import Driver, unnamed
from app.explorer.served import Served
from evidentia.app.explorer.segments import ImageExploration
from evidentia.app.images import read_image

EMPTY = "() => !Bokeh.documents.map((one) => one.get_model_by_name('strokes')).find(Boolean).data.pen.length"


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """A bright disk on a dark ground, and gray around the disk; the name of the file is HTML."""
    y, x = np.mgrid[:40, :50]
    far = np.hypot(x - 25, y - 20)
    level = np.select([far < 8, far < 13], [200, 120], 40) + np.random.default_rng(0).normal(0, 6, far.shape)
    path = tmp_path_factory.mktemp("image") / "<img src=x onerror=alert(1)>.png"
    Image.fromarray(np.clip(level, 0, 255).astype(np.uint8)).save(path)
    return path


def fetch(page, label):
    with page.expect_download() as started:
        page.get_by_role("button", name=label, exact=True).click()
    return started.value.path().read_bytes()


def test_strokes_a_question_undo_a_script_and_a_second_start(picture, new_page, tmp_path):
    words = ("--clusters", 2, "--out", tmp_path / "out")
    with Served(picture, *words, "--port", 5906) as served:
        page = new_page(accept_downloads=True)
        driver = Driver(page, served)
        assert driver.status.startswith("egmm, 2 clusters. ")
        assert unnamed(page) == []
        driver.drag("segments", [(3, 3), (3, 36), (20, 38)])
        page.get_by_role("radio", name="pink: another segment").click()
        driver.wait()
        driver.drag("segments", [(15, 20), (20, 11), (27, 9)])
        assert model(page, "strokes", "[...it.data.pen]") == ["#ffe119", "#f032e6"]
        driver.click("Segment again")
        assert driver.status.startswith("2 strokes: one segment, another segment. ")
        page.wait_for_function(f"({EMPTY})()")
        driver.click("↶ Undo")
        driver.click("Ask")
        driver.sees("Are the two regions")
        driver.click("Don't know")
        assert "nobody knows" in driver.status
        driver.click("↶ Undo")
        driver.click("↶ Undo")
        assert driver.status == "There is nothing to undo."
        driver.click("↷ Redo")
        driver.drag("segments", [(15, 20), (20, 11), (27, 9)])
        driver.click("Segment again")
        page.get_by_label("over the image").select_option("nonspecificity")
        driver.wait()
        code, maps = fetch(page, "script"), fetch(page, "maps and masses")
        told = driver.status
    kept = json.loads((tmp_path / "out" / "steps.json").read_text())
    assert [len(kept["steps"][2][name]) for name in ("strokes", "answers")] == [1, 1]
    (tmp_path / "again.py").write_bytes(code)
    subprocess.run([sys.executable, "-W", "error", "again.py"], cwd=tmp_path, check=True, env={**os.environ, **ONE})
    with zipfile.ZipFile(io.BytesIO(maps)) as archive:
        assert {"labels.png", "overview.png", "partition.npz"} <= set(archive.namelist())
        for name in ("labels.png", "sets.png"):
            assert archive.read(name) == (tmp_path / "segmentation" / name).read_bytes()
    with Served(picture, *words, "--port", 5906) as served:
        assert Driver(new_page(), served).status == told


ONE = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}


def test_slices_and_channels_of_a_stack(new_page, tmp_path):
    """Strokes lie in the slice they were drawn on, and what was not said yet is wiped with its slice."""
    rng = np.random.default_rng(0)
    level = np.repeat([40, 120, 200], [10, 4, 10]) + rng.normal(0, 8, (3, 24, 24))
    pages = [Image.fromarray(np.clip(one, 0, 255).astype(np.uint8)) for one in level]
    pages[0].save(tmp_path / "stack.tif", save_all=True, append_images=pages[1:])
    with Served(tmp_path / "stack.tif", "--clusters", 2, "--port", 5956) as served:
        driver = Driver(page := new_page(), served)
        slices = page.get_by_role("slider", name="slice")
        assert slices.input_value() == "1"
        driver.drag("segments", [(3, 3), (3, 20)])
        slices.focus()
        page.keyboard.press("ArrowRight")
        driver.wait()
        page.wait_for_function(f"({EMPTY})()")
        driver.drag("segments", [(3, 3), (3, 20)])
        page.get_by_role("radio", name="pink: another segment").click()
        driver.wait()
        driver.drag("segments", [(12, 3), (12, 20)])
        driver.click("Segment again")
        assert re.match("2 strokes: .* voxels are assigned", driver.status)
    again = ImageExploration(read_image(tmp_path / "stack.tif"), folder=tmp_path / "stack-explorer")
    assert [(one.pen, one.plane) for one in again.step.strokes] == [(0, 2), (1, 2)]
