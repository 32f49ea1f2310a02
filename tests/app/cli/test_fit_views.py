"""``evidentia fit a.csv b.csv --views``."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from tests.views.made_views import three_views

from evidentia import WMVEC, CredalPartition, load_model


@pytest.fixture
def files(tmp_path):
    """Three views of sixty patients in three files, whose rows are in different orders; one lacks three of them."""
    _, views = three_views(60)
    names = [f"{i:03d}" for i in range(60)]
    for name, table in views.items():
        frame = pd.DataFrame(table, columns=["x", "y", "z"]).assign(patient=names, word="u")
        frame = frame.sample(frac=1, random_state=0) if name == "b" else frame[3:] if name == "c" else frame
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return [tmp_path / f"{name}.csv" for name in "abc"]


def test_several_files_are_views(run, files, tmp_path):
    out = tmp_path / "out"
    code, said = run("fit", *files, "--views", "--id", "patient", "--clusters", 4, "--out", out)
    assert code == 0, said
    assert "60 objects in 4 clusters" in said
    assert "3 views of 60 objects" in said
    assert "57 of 60 objects" in said
    assert "left out    word (no numbers)" in said
    frames = {
        path.stem: pd.read_csv(path, dtype={"patient": str}).set_index("patient")[["x", "y", "z"]] for path in files
    }
    wanted = WMVEC(4, random_state=0).fit(frames)
    partition = CredalPartition.load(out / "partition.npz")
    np.testing.assert_allclose(partition.masses, wanted.partition_.masses, atol=1e-9)
    assert partition.object_names[:2] == ("000", "001")
    np.testing.assert_allclose(
        load_model(out / "model.npz").predict_partition(frames).masses, partition.masses, atol=1e-9
    )
    for name in ("view-weights.png", "view-conflict.png", "partition.png", "report.html"):
        assert (out / name).exists()
    assert "c: z" in (out / "table.csv").read_text()
    page = (out / "report.html").read_text()
    names = {}
    exec(html.unescape(re.search(r"In Python</h3><pre><code>(.*?)</code>", page, re.DOTALL)[1]), names)
    np.testing.assert_allclose(names["model"].partition_.masses, partition.masses, atol=1e-9)


def test_a_range_of_numbers_is_tried(run, files, tmp_path):
    out = tmp_path / "out"
    options = ["--views", "--id", "patient", "--clusters", "2-5", "--lam", "1", "--out", out]
    code, said = run("fit", *files, *options)
    assert code == 0, said
    assert re.search(r"^\* +WMVEC +4 ", said, re.MULTILINE), said
    assert "Best: WMVEC with 4 clusters, by smallest nonspecificity N*" in said
    assert "60 objects in 4 clusters" in said
    page = (out / "report.html").read_text()
    names = {}
    exec(html.unescape(re.search(r"In Python</h3><pre><code>(.*?)</code>", page, re.DOTALL)[1]), names)
    partition = CredalPartition.load(out / "partition.npz")
    np.testing.assert_allclose(names["model"].partition_.masses, partition.masses, atol=1e-9)


def test_matrices_and_settings(run, files, tmp_path):
    paths = []
    for path in files[:2]:
        table = pd.read_csv(path, dtype={"patient": str}).set_index("patient")[["x", "y", "z"]]
        paths.append(tmp_path / f"d{path.name}")
        pd.DataFrame(cdist(table, table), index=table.index, columns=table.index.tolist()).to_csv(paths[-1])
    code, said = run(
        "fit", *paths, "--views", "--distances", "--id", "patient", "--clusters", 4, "--weights", "local", "-q"
    )
    assert code == 0, said
    assert "2 views of 60 objects" in said
    code, said = run(
        "fit", *files, "--views", "--method", "wmvecfp", "--id", "patient", "--clusters", 4, "--lam", "9", "-q"
    )
    assert code == 0, said
    assert "weight 0.33" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clusters", "4"], "--views takes them for several tables of the same objects; without it name one"),
        (["--views"], "--views needs a number of clusters, or a range to choose from: --clusters 3, --clusters 2-6."),
        (["--views", "--clusters", "2", "--method", "ecm"], "--views: ecm does not read views. Take wmvec, wmvecfp."),
        (["--views", "--clusters", "2", "--missing", "drop"], "--missing is for one table, not for --views."),
        (["--views", "--clusters", "2", "--scale", "robust"], "--scale robust: with --views it is standard"),
        (["--views", "--clusters", "2"], "a row for every object in every view: 'a' has 60, 'b' has 60, 'c' has 57"),
        (["--views", "--clusters", "2", "--id", "name"], "--id: there is no column 'name'."),
        (["--views", "--clusters", "2", "--id", "patient", "--drop", "x,xx"], "--drop: there is no column 'xx' in any"),
    ],
)
def test_what_is_refused(run, files, words, message):
    code, said = run("fit", *files, *words)
    assert (code, message in " ".join(said.split())) == (2, True), said


def test_one_file_is_not_several_views(run, files):
    code, said = run("fit", files[0], "--views", "--clusters", 2)
    assert (code, "needs at least two views" in said) == (2, True), said
    code, said = run("fit", files[0], "--method", "wmvec", "--clusters", 2)
    assert (code, "wmvec reads views, not one table: give several files with --views." in said) == (2, True), said
