"""``python -m reproduction``: the list, a run, a second run, what is missing."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from reproduction import catalog, cli, results


@pytest.fixture
def run():
    """``run("all", ...)`` gives the exit code and everything that was printed."""

    def invoke(*arguments):
        result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
        return result.exit_code, result.output

    return invoke


@pytest.fixture
def without_data(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EVIDENTIA_CACHE", str(tmp_path / "data"))


def test_the_list_names_every_exhibit_of_every_paper(run):
    code, said = run("list")
    assert code == 0
    for exhibit in catalog.find(["all"]):
        assert f"  {exhibit.name} " in said
        assert exhibit.title in said


def test_the_list_says_how_long_what_is_needed_and_what_is_not_here(run, fake_paper, without_data):
    said = run("list")[1].splitlines()
    assert said[0] == "fake: Not <a> paper"
    assert said[1].split() == ["fake.table1", "0.6", "s", "1.2", "s", "Scores", "&", "more"]
    assert [line.split()[0] for line in said[2:5:2]] == ["fake.table2", "needs"]
    assert said[4].strip() == "needs magic; not here: magic"
    assert said[6].strip() == "not computed: a drawing, nothing to compute"
    assert "note: to have them: set EVIDENTIA_DATA to a directory with their files." in said


def test_a_run_prints_tables_writes_files_and_is_not_repeated(run, fake_paper, without_data, tmp_path):
    out = tmp_path / "results"
    command = ("all", "--out", out, "--jobs", "2", "--seed", "4")
    code, said = run(*command)
    assert code == 0
    assert "2 exhibits, 5 units, quick run, seed 4" in said
    assert "fake.table10: the data are not here: magic" in said
    assert "'evidentia datasets NAME --download' for magic" in said
    assert "  Iris  ours" in said
    assert "        paper    0.620    0.250    0.900" in said
    assert "error: fake.table1 broken: ValueError: the matrix is <singular>" in said
    assert "cells  within  better  worse  different  not comparable" in said
    assert "fake       0       1      0          2               3  0%" in said
    assert "Table 1: EGMM is best on <one> set. Iris: " in said
    assert sorted(path.name for path in out.iterdir()) == ["fake.table1.png", "index.html", "record.json", "units"]
    record = json.loads((out / "record.json").read_text())["exhibits"]["fake.table1"]
    assert (record["quick"], record["seed"], record["units"][0]) == (True, 4, "Iris/ECM")
    assert str(tmp_path) not in (out / "record.json").read_text() + (out / "index.html").read_text()

    again = run(*command, "--quiet")[1]
    assert "Iris/ECM: " in said
    assert "Iris/ECM: " not in again
    assert "broken: ValueError" in again  # a failure is tried again
    assert "  Iris  ours" not in again


def test_a_real_figure_is_drawn(run, tmp_path):
    code, said = run("bootgmm.figure7", "--out", tmp_path)
    assert code == 0, said
    assert "The paper's data sets are not published" in said
    assert (tmp_path / "bootgmm.figure7.png").stat().st_size > 10_000


def test_an_interruption_says_how_to_go_on(run, fake_paper, tmp_path, monkeypatch):
    def interrupted(units, store, *, jobs, watcher):
        watcher.ends(units[0], None, kept=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "compute", interrupted)
    code, said = run("fake", "--out", tmp_path)
    assert code == 130
    assert "1 of 5 units are done and kept in" in said
    assert "the same command goes on from there" in said


def test_a_damaged_file_is_told(run, fake_paper, tmp_path):
    command = ("fake.table2", "--out", tmp_path)
    run(*command)
    [kept] = tmp_path.glob("units/*/*.json")
    kept.write_text(kept.read_text().replace('"mean": 0.', '"mean": 0.9'))  # still JSON
    assert f"note: {kept.name} was not what had been written, so that its unit was computed again." in run(*command)[1]
    assert "computed again" not in run(*command)[1]


def test_a_record_changed_by_hand_is_told_and_written_anew(run, fake_paper, tmp_path):
    run("fake.table1", "--out", tmp_path)
    record = tmp_path / "record.json"
    record.write_text(record.read_text().replace('"paper": 0.62', '"paper": 0.61'))
    said = run("fake.table1", "--out", tmp_path)[1]
    assert "note: record.json is not what was written: its digest does not fit. It is written anew" in said
    assert "written anew" not in run("fake.table1", "--out", tmp_path)[1]


def test_an_unknown_name_is_an_error_of_one_line(run):
    code, said = run("egmm.tabel2")
    assert code == 2
    assert said.startswith("error: There is no paper or exhibit called 'egmm.tabel2'. Did you mean 'egmm.table2'")


def test_wide_tables_are_cut_into_pieces_that_fit(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.chunks(["ECM"] * 7, side=5) == [["ECM"] * 5, ["ECM"] * 2]  # nine characters each, 45 of them free
    assert cli.chunks([], side=0) == []
    assert cli.chunks(["a name that is far longer than any terminal that one would have today"], side=4) == [
        ["a name that is far longer than any terminal that one would have today"]
    ]


def test_a_part_of_the_units_is_printed_and_not_recorded(run, fake_paper, tmp_path):
    command = ("fake.table1", "--out", tmp_path)
    code, said = run(*command, "--only", "Wine/E*,Iris/EGMM", "--only-methods", "EGMM")
    assert code == 0
    assert "1 exhibits, 2 units, quick run" in said
    assert [key in said for key in ("Iris/ECM: ", "Iris/EGMM: ", "Wine/ECM: ", "Wine/EGMM: ")] == [0, 1, 0, 1]
    assert "  Iris  ours" in said
    assert [path.name for path in tmp_path.iterdir()] == ["units"]
    whole = run(*command)[1]
    assert "Iris/EGMM: " not in whole  # kept
    assert "Iris/ECM: " in whole
    assert (tmp_path / "record.json").exists()


def test_the_cells_of_one_method_are_renewed(run, fake_paper, tmp_path):
    """A record whose numbers of both methods are others: those of one are computed again, those of the other stay."""
    command = ("fake.table1", "--out", tmp_path)
    run(*command)
    [held] = results.read(tmp_path)
    other = replace(held, cells=[replace(cell, ours=cell.ours and cell.ours + 1) for cell in held.cells])
    results.write(tmp_path, [replace(other, about={**other.about, "notes": ["of all units"]})])
    code, said = run(*command, "--only-methods", "EGMM", "--renew")
    assert code == 0
    assert "record.json" in said
    [now] = results.read(tmp_path)
    for before, after in zip(held.cells, now.cells, strict=True):
        if before.column in ("ECM", "EGMM") and before.ours is not None:
            assert after.ours == pytest.approx(before.ours + (before.column == "ECM")), before
    assert now.about["units"] == held.about["units"]
    assert now.about["failures"] == held.about["failures"]
    assert now.about["notes"] == ["of all units"]


@pytest.mark.parametrize("options", [(), ("--only", "Iris/EGMM"), ("--only-methods", "EGMM")])
def test_what_cannot_be_renewed_is_an_error_of_one_line(run, fake_paper, tmp_path, options):
    code, said = run("fake.table1", "--out", tmp_path, "--renew", *options)
    assert (code, said.partition(" --out")[0]) == (
        2,
        "error: --renew goes with --only-methods alone, and needs a record in",
    )


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--only", "Iris/EGMN"), "--only: no unit is called 'Iris/EGMN'; one that there is: 'Iris/ECM'."),
        (("--only-methods", "ECM,EGMN"), "--only-methods: there is no 'EGMN'. There are: ECM, EGMM."),
        (("--half", "judging"), "--half: there is no 'judging'. There are: none here."),
    ],
)
def test_a_part_that_is_none_is_an_error_of_one_line(run, fake_paper, tmp_path, option, words):
    code, said = run("fake.table1", "--out", tmp_path, *option)
    assert (code, said) == (2, f"error: {words}\n")
