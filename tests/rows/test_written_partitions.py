"""Folders of a partition's files: those of the last call that ended, whatever happened to later ones."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zarr

from evidentia import ECM
from evidentia.files import whole_folder
from odd_rows import OddRows

WRITERS = {"parquet": lambda lazy, folder: lazy.to_parquet(folder), "zarr": lambda lazy, folder: lazy.to_zarr(folder)}


def clusters_in(folder, kind):
    if kind == "zarr":
        return zarr.open_group(folder, mode="r")["cluster"][:]
    return pd.read_parquet(folder)["cluster"].to_numpy()


@pytest.fixture(scope="module")
def partition():
    X = np.random.default_rng(0).normal(size=(60_000, 2)) + 9 * (np.arange(60_000) % 2)[:, None]
    return ECM(2, random_state=0, n_init=1).fit(X[:200]).predict_partition(OddRows(X))


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_in_the_middle_leaves_the_files_of_the_last_call(partition, kind, error, tmp_path, monkeypatch):
    folder = Path(WRITERS[kind](partition, tmp_path / "found"))
    before = clusters_in(folder, kind)
    read, chunks = partition.rows.read, iter(range(4))

    def failing(handle):
        if next(chunks, None) is None:
            raise error
        return read(handle)

    monkeypatch.setattr(type(partition.rows), "read", lambda rows, handle: failing(handle))
    with pytest.raises(type(error)):
        WRITERS[kind](partition, folder)
    monkeypatch.undo()
    np.testing.assert_array_equal(clusters_in(folder, kind), before)
    assert os.listdir(tmp_path) == ["found"]


@pytest.mark.parametrize("kind", WRITERS)
def test_files_of_an_earlier_call_are_replaced_and_others_refused(partition, kind, tmp_path):
    folder = Path(WRITERS[kind](partition, tmp_path / "found"))
    (folder / ("part-99999.parquet" if kind == "parquet" else "masses")).touch()  # of a call with more parts
    WRITERS[kind](partition, folder)
    np.testing.assert_array_equal(clusters_in(folder, kind), partition.labels())
    (folder / "diary.txt").write_text("dear")
    with pytest.raises(FileExistsError, match=r"The folder holds 'diary.txt'; give one that is empty or new"):
        WRITERS[kind](partition, folder)
    assert (folder / "diary.txt").read_text() == "dear"
    assert os.listdir(tmp_path) == ["found"]


def test_writing_counts_the_objects_without_another_pass(partition, tmp_path, monkeypatch):
    partition._counts = None
    partition.to_parquet(tmp_path / "found")
    monkeypatch.setattr(type(partition.rows), "read", lambda rows, handle: 1 / 0)
    assert partition.counts.n == 60_000


def test_what_steps_aside_comes_back_when_its_place_cannot_be_taken(tmp_path, monkeypatch):
    with whole_folder(tmp_path / "notes", "*.txt") as folder:
        (folder / "old.txt").touch()
    rename = os.rename

    def failing(source, target):
        if ".new." in str(source):
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="Input/output"), whole_folder(tmp_path / "notes", "*.txt") as folder:
        (folder / "new.txt").touch()
    assert os.listdir(tmp_path) == ["notes"]
    assert os.listdir(tmp_path / "notes") == ["old.txt"]


KILLED = """
import sys
from pathlib import Path
from evidentia.files import whole_folder
turn = 0
while True:
    turn += 1
    with whole_folder(sys.argv[1], "*.txt") as folder:
        for name in "abcdefgh":
            (Path(folder) / f"{name}.txt").write_text(str(turn))
"""


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.03])
def test_a_writer_that_is_killed_leaves_one_whole_folder(tmp_path, delay):
    writer = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "notes")])
    try:
        while not (tmp_path / "notes").exists():
            assert writer.poll() is None
        signal.sigtimedwait([], delay)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    whole = [path for path in (tmp_path / "notes", *tmp_path.glob(".notes.old.*")) if path.exists()]
    found = [{file.read_text() for file in path.iterdir()} for path in whole if len(os.listdir(path)) == 8]
    assert any(len(turns) == 1 for turns in found)
