"""``evidentia explain``: from a directory of results to reasons."""

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.report import write_results

MASSES = [*np.eye(3)[[0, 0, 0, 1, 1, 1]], [0.2, 0.1, 0.7]]
NAMES = ["007", "NA", "c", "d", "e", "f", "Una"]


@pytest.fixture(params=["csv", "parquet"])
def results(tmp_path, request):
    partition = CredalPartition(MASSES, FocalSets(2, [{0}, {1}, {0, 1}]), object_names=NAMES)
    frame = pd.DataFrame(
        {"age": [20, 22, 24, 60, 62, 64, 44.0], "color": ["red", "red", "red", "blue", "blue", None, "red"]},
        index=NAMES,
    )
    write_results(tmp_path / "out", partition=partition, X=frame, object_column="who", tables=request.param)
    return tmp_path / "out", partition, frame


def test_an_object_is_explained_as_in_python(run, results):
    out, partition, frame = results
    for path in (out, out / "partition.npz"):
        assert run("explain", path, "Una") == (0, f"{partition.explain('Una', frame)}\n")
    both = "\n\n".join(str(partition.explain(name, frame)) for name in ("007", "NA"))
    assert run("explain", out, "007", "NA") == (0, f"{both}\n")


def test_without_an_object_the_most_doubtful_have_a_sentence_each(run, results):
    out, partition, frame = results
    code, said = run("explain", out)
    assert code == 0
    assert said.splitlines()[0] == f"Una  {partition.reasons(frame, ['Una'])[0]}"
    assert len(said.splitlines()) == 7


def test_objects_without_names_go_by_number(run, results, tmp_path):
    partition = CredalPartition(MASSES, FocalSets(2, [{0}, {1}, {0, 1}]))
    write_results(tmp_path / "plain", partition=partition, X=results[2].to_numpy()[:, :1].astype(float))
    code, said = run("explain", tmp_path / "plain", 6)
    assert code == 0
    assert said.startswith("6: torn between clusters 0 and 1")
    assert "column 0" in said


def test_distances_stand_in_for_a_table(run, tmp_path):
    partition = CredalPartition(MASSES, FocalSets(2, [{0}, {1}, {0, 1}]), object_names=NAMES)
    write_results(tmp_path / "out", partition=partition)
    code, said = run("explain", tmp_path / "out", "Una")
    assert code == 0
    assert "note: There is no" in said
    assert "--distances FILE" in said
    place = np.array([0.0, 1, 2, 9, 10, 11, 5])
    names = [name.replace("NA", "b") for name in NAMES]
    square = pd.DataFrame(np.abs(place[:, None] - place), columns=names)
    square.insert(0, "who", names)
    square.to_csv(tmp_path / "d.csv", index=False)
    code, said = run("explain", tmp_path / "out", "Una", "--distances", tmp_path / "d.csv")
    assert code == 0
    assert "c (3)" in said
    assert "d (4)" in said


def test_mistakes_are_sentences(run, results, tmp_path):
    out, _, frame = results
    assert run("explain", out, "Unna") == (2, "error: There is no object named 'Unna'. Did you mean 'Una'?\n")
    code, said = run("explain", tmp_path / "nothing", "Una")
    assert code == 2
    assert "There is no file" in said
    frame.iloc[:3].to_csv(out / "table.csv")
    assert run("explain", out, "Una")[1].startswith(
        "error: The partition and 'X' must have the same objects, but only the partition has '"
    )
    (out / "table.csv").write_bytes(b"\xff\xfe\x00")
    code, said = run("explain", out, "Una")
    assert code == 2
    assert "table.csv cannot be read" in said
    (out / "table.csv").unlink()
    (out / "table.parquet").write_bytes(b"PAR1")
    code, said = run("explain", out, "Una")
    assert code == 2
    assert "table.parquet cannot be read" in said
