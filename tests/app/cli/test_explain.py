"""``evidentia explain``: from a directory of results to reasons."""

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.app.report import write_results

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
    assert said.startswith("6: ambiguous between clusters 0 and 1")
    assert "column 0" in said


def test_distances_stand_in_for_a_table(run, tmp_path):
    partition = CredalPartition(MASSES, FocalSets(2, [{0}, {1}, {0, 1}]), object_names=NAMES)
    write_results(tmp_path / "out", partition=partition)
    code, said = run("explain", tmp_path / "out", "Una")
    assert code == 0
    assert said.startswith(f"note: No table is kept with {tmp_path / 'out' / 'partition.npz'}, so which columns")
    assert "--distances FILE" in said
    assert said.splitlines()[-1].startswith("What would settle it: does Una belong with ")
    assert "Or an answer" not in said
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
    (out / "evidentia-run.json").unlink()  # what it lists is checked before it is read
    frame.iloc[:3].to_csv(out / "table.csv")
    assert (
        run("explain", out, "Una")[1]
        .splitlines()[-1]
        .startswith("error: The partition and 'X' must have the same objects, but only the partition has '")
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


def test_files_of_another_run_and_changed_ones_are_refused_by_name(run, results):
    out, partition, frame = results
    table = next(out.glob("table.*"))
    write_results(out.with_name("other"), partition=partition, X=frame[::-1], tables=table.suffix[1:])
    kept = table.read_bytes()
    for change in (kept[:-1], kept + b"\n", (out.with_name("other") / table.name).read_bytes()):
        table.write_bytes(change)
        for command in (["explain", out, "Una"], ["explain", out / "partition.npz"], ["report", out, "--interactive"]):
            code, said = run(*command)
            assert code == 2
            assert said.startswith(f"error: {table} is not of the run in {out}: it was changed, or belongs to another")
        assert run("show", out)[0] == run("show", out / "partition.npz")[0] == 0  # they do not read it
    table.write_bytes(kept)
    assert run("explain", out, "Una")[0] == 0
    partition[:6].save(out / "partition.npz")
    for command in (["explain", out], ["show", out], ["show", out / "partition.npz"], ["fuse", out, out]):
        code, said = run(*command)
        assert code == 2
        assert said.startswith(f"error: {out / 'partition.npz'} is not of the run in {out}")
    (out / "evidentia-run.json").write_text("{}")
    assert "evidentia-run.json is damaged" in run("show", out)[1]
    (out / "evidentia-run.json").unlink()
    assert run("show", out)[0] == 0


def test_a_table_that_the_run_did_not_write_is_not_taken_for_its_own(run, tmp_path):
    partition = CredalPartition(MASSES, FocalSets(2, [{0}, {1}, {0, 1}]), object_names=NAMES)
    write_results(tmp_path, partition=partition)
    (tmp_path / "table.csv").write_text("who,a\n" + "".join(f"{name},1\n" for name in NAMES))
    assert "table.csv is not of the run" in run("explain", tmp_path, "Una")[1]


def test_files_that_a_command_does_not_read_may_be_changed_or_deleted(run, results):
    out = results[0]
    expected = run("explain", out, "Una")
    (out / "report.html").unlink()
    (out / "masses.png").write_bytes(b"mine")
    next(out.glob("masses.*")).unlink()
    assert run("explain", out, "Una") == expected
    assert run("report", out)[0] == 0
    assert (out / "report.html").is_file()


def test_a_partition_alone_works_wherever_it_is(run, results, tmp_path):
    out, partition, _ = results
    (tmp_path / "alone").mkdir()
    for place in (tmp_path / "alone" / "partition.npz", out / "mine.npz"):
        partition[:6].save(place)
        assert run("show", place)[1].startswith("6 objects in 2 clusters")
        code, said = run("explain", place, "007")
        assert code == 0, said
        assert said.startswith(f"note: No table is kept with {place}")


def test_a_folder_of_an_earlier_version_is_read_with_a_word_of_caution(run, results):
    out, partition, frame = results
    (out / "evidentia-run.json").unlink()
    code, said = run("explain", out, "Una")
    assert code == 0
    assert said.startswith(f"note: There is no {out / 'evidentia-run.json'}, so it is not known whether")
    assert said.endswith(f"{partition.explain('Una', frame)}\n")
