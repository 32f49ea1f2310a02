"""``evidentia fit`` for rows that stay in their files."""

import numpy as np
import pandas as pd
import pytest

from evidentia import load_model
from evidentia.app.cli import files


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three Parquet files of two groups, in columns of very different spread, with a column of names."""
    folder, rng = tmp_path_factory.mktemp("parts"), np.random.default_rng(0)
    for at in range(3):
        which = rng.integers(2, size=30_000)
        table = rng.normal(size=(30_000, 3)) + 6 * which[:, None]
        frame = pd.DataFrame(table * [1.0, 500.0, 0.01], columns=["a", "b", "c"])
        frame.assign(name="x", extra=rng.normal(size=30_000)).to_parquet(folder / f"part{at}.parquet")
    return folder


def test_many_files_are_fitted_where_they_are(parts, tmp_path, run):
    out = tmp_path / "out"
    code, output = run(
        "fit", f"{parts}/*.parquet", "--drop", "extra", "--out", out, "--checkpoint", tmp_path / "run.npz", "--jobs", 2
    )
    assert code == 0, output
    assert "90,000 rows of 3 columns in 3 files" in output
    assert "90000 objects in 2 clusters" in output
    assert "not numbers are left out: name (string)" in output
    found = pd.read_parquet(out / "masses")
    assert len(found) == 90_000
    assert list(found) == ["cluster", "set", "plausibility", "nonspecificity"]
    truth = np.concatenate([pd.read_parquet(parts / f"part{at}.parquet")["a"] > 3 for at in range(3)])
    agreement = (found["cluster"] == truth).mean()
    assert max(agreement, 1 - agreement) > 0.99
    assert "20,0" in (out / "sample" / "report.html").read_text()
    assert (tmp_path / "run.npz").stat().st_size < 100_000
    code, output = run("show", out)
    assert "90000 objects in 2 clusters" in output
    assert "most doubtful" in run("show", out, "--objects", 2)[1].lower()


def test_columns_are_scaled_where_the_method_asks_for_it(parts, run):
    code, output = run("fit", f"{parts}/*.parquet", "--method", "ecm", "--clusters", 2, "--columns", "a,b", "--quiet")
    assert code == 0, output
    assert "90000 objects in 2 clusters" in output
    code, output = run("fit", f"{parts}/*.parquet", "--method", "ecm", "--clusters", 2, "--scale", "robust")
    assert code == 2
    assert "--scale robust needs all rows in memory; none and standard do not" in output


@pytest.mark.parametrize(("scale", "wish"), [("auto", "auto"), ("none", False)])
def test_the_scale_that_is_asked_for_is_the_one_egmm_sees(parts, tmp_path, run, scale, wish):
    words = ["--method", "egmm", "--clusters", 2, "--columns", "a,b", "--scale", scale, "--out", tmp_path, "--quiet"]
    code, output = run("fit", f"{parts}/part?.parquet", "--model", "EII", *words)
    assert code == 0, output
    assert load_model(tmp_path / "model.npz").model.standardize == wish


def test_what_needs_all_rows_is_refused(parts, tmp_path, run):
    where = f"{parts}/*.parquet"
    for words, said in (
        (["--method", "bhc", "--clusters", 2], "bhc needs all rows in memory. Methods that do not: "),
        (["--id", "name"], "--id needs all rows in memory"),
        (["--drop", "nothing"], "there is no column of numbers 'nothing'"),
        (["--columns", "a,name"], "--columns: there is no column of numbers 'name'"),
        (["--scheduler", "tcp://127.0.0.1:1"], "nobody answers there"),
    ):
        code, output = run("fit", where, *words)
        assert code == 2, output
        assert said in output
    code, output = run("fit", f"{tmp_path}/*.parquet")
    assert code == 2
    assert "Traceback" not in output


def test_a_checkpoint_is_for_rows_on_disk(tmp_path, run):
    small = tmp_path / "small.csv"
    small.write_text("a,b\n1,2\n2,3\n8,9\n9,9\n")
    code, output = run("fit", small, "--checkpoint", tmp_path / "run.npz")
    assert code == 2
    assert "for rows that stay in their files" in output


def test_a_large_file_is_not_read_whole(tmp_path, run, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "one.parquet"
    pd.DataFrame(rng.normal(size=(500, 2)) + 9 * rng.integers(2, size=(500, 1)), columns=["a", "b"]).to_parquet(path)
    monkeypatch.setattr(files, "LARGE", 1_000)
    assert "500 rows of 2 columns in 1 file" in run("fit", path)[1]
