"""``evidentia fit``, ``show``, ``demo`` and ``datasets``, from the file to the files."""

import html
import re
import signal

import numpy as np
import pandas as pd
import pytest

import evidentia.app.report.results
from evidentia import EGMM, CredalPartition, load_model
from evidentia.app.advisor.rules import SCALERS
from evidentia.app.cli import fitting
from evidentia.app.cli.errors import UserError
from evidentia.app.report import results
from evidentia.prototypes import ecm
from evidentia.solvers import descent

FILES = [
    "ellipses.png",
    "evidentia-run.json",
    "masses.csv",
    "masses.png",
    "model.npz",
    "partition.npz",
    "partition.png",
    "report.html",
    "split.png",
    "table.csv",
    "trace.png",
]


def python_code(report):
    """The Python code a report offers to repeat its result."""
    return html.unescape(re.search(r"In Python</h3><pre><code>(.*?)</code>", report.read_text(), re.DOTALL)[1])


def test_names_steer_neither_spreadsheet_nor_terminal_nor_picture(run, tmp_path):
    """Names that are formulas, escape codes, two lines, no formula of TeX, or letters that the font lacks."""
    names = ["=1+1", "\x1b[31mred", "two\nlines", "$\\frac$", "日本", "-5", "'=2", *(f"n{i}" for i in range(13))]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        np.repeat([[0.0, 0], [9, 9]], 10, axis=0) + rng.normal(size=(20, 2)), columns=["=a", "語\x1b[5m"]
    )
    frame.insert(0, "@who", names)
    frame.to_csv(tmp_path / "evil.csv", index=False)
    code, said = run("fit", tmp_path / "evil.csv", "--id", "@who", "--clusters", "2", "--out", tmp_path / "out")
    assert code == 0  # warnings of missing glyphs are errors here
    assert "\x1b" not in said
    assert r"\x1b[5m" in said
    for table in ("masses.csv", "table.csv"):
        lines = (tmp_path / "out" / table).read_text().splitlines()
        assert lines[0].startswith("'@who,")
        assert lines[1].startswith("'=1+1,")
        assert any(line.startswith("-5,") for line in lines)
        assert any(line.startswith("''=2,") for line in lines)
    again = results.read_table(tmp_path / "out" / "table.csv")
    assert again.index.tolist() == names
    assert again.columns.tolist() == ["=a", "語\x1b[5m"]
    for arguments in (["show", tmp_path / "out", "--objects", "20"], ["explain", tmp_path / "out"]):
        code, said = run(*arguments)
        assert code == 0
        assert "\x1b" not in said
        assert r"two\nlines" in said
    code, said = run("explain", tmp_path / "out", "=1+1")
    assert code == 0
    assert said.startswith("=1+1: ")


def test_fit_says_what_it_used_and_writes_everything(run, table, patients, tmp_path):
    out = tmp_path / "made" / "here"
    code, said = run("fit", table, "--id", "patient", "--drop", "sex", "--clusters", "auto", "--out", out)
    assert code == 0
    assert re.search(r"clustered +age, weight\n", said)
    aside = r"site \(always 3\), diagnosis \(by its name the classes, 2 of them; --keep diagnosis clusters it\)"
    assert re.search(rf"left out +{aside}, sex \(--drop\)\n", said)
    assert "40 objects in 2 clusters" in said
    assert "Best: EGMM with 2 clusters" in said
    assert sorted(path.name for path in out.iterdir()) == sorted([*FILES, "selection.png"])

    masses = pd.read_csv(out / "masses.csv", dtype={"patient": str}, float_precision="round_trip")
    assert masses["patient"].tolist() == patients["patient"].tolist()
    np.testing.assert_allclose(masses.filter(like="m{").sum(axis=1), 1, rtol=1e-12)
    assert pd.crosstab(masses["cluster"], patients["diagnosis"]).to_numpy().tolist() == [[20, 0], [0, 20]]
    partition = CredalPartition.load(out / "partition.npz")
    np.testing.assert_array_equal(masses.filter(like="m{"), partition.masses)
    assert partition.object_names == tuple(patients["patient"])


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        (["--clusters", "1-3", "--starts", "2"], False),
        (["--clusters", "2", "--scale", "minmax", "--id", "patient", "--columns", "weight,age"], True),
        (["--method", "ecm", "--scale", "standard", "--clusters", "3", "--focal-sets", "pairs", "--rho", "2"], False),
        (["--method", "ecm", "--clusters", "2-3", "--starts", "2", "--alpha", "1.5", "--seed", "5"], False),
        (["--method", "fcm", "--clusters", "2", "--beta", "1.7", "--missing", "drop"], True),
        (["--method", "noise", "--clusters", "2", "--scale", "robust"], False),
        (["--method", "gustafson-kessel", "--clusters", "2", "--drop", "diagnosis"], False),
    ],
)
def test_the_code_in_the_report_repeats_the_result(run, patients, tmp_path, options, missing):
    if missing:
        patients.loc[3, "age"] = np.nan
        patients.loc[9, ["age", "weight"]] = np.nan
    patients["diagnosis"] += np.random.default_rng(0).normal(0, 0.3, 40)
    path = tmp_path / "semi.csv"
    patients.to_csv(path, index=False, sep=";", decimal=",")
    code, said = run("fit", path, "--out", tmp_path / "out", *options)
    assert code == 0, said
    names = {}
    exec(python_code(tmp_path / "out" / "report.html"), names)
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    np.testing.assert_allclose(names["model"].partition_.masses, partition.masses, atol=1e-12)
    assert names["model"].partition_.object_names == partition.object_names


def test_the_same_command_gives_the_same_bytes(run, table, tmp_path):
    for name in ("a", "b"):
        assert run("fit", table, "--method", "ecm", "--clusters", 3, "--out", tmp_path / name)[0] == 0
    assert (tmp_path / "a" / "masses.csv").read_bytes() == (tmp_path / "b" / "masses.csv").read_bytes()


def test_many_rows_are_written_as_parquet_unless_text_is_asked_for(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "MANY", 30)
    command = ["fit", table, "--method", "fcm", "--clusters", 2, "--id", "patient", "--out", tmp_path]
    code, said = run(*command)
    assert code == 0
    assert "masses.parquet, table.parquet, partition.npz" in said
    assert "So many rows are written as Parquet, which is quicker; --tables csv writes text." in said
    assert pd.read_parquet(tmp_path / "masses.parquet").index.name == "patient"
    assert run("explain", tmp_path)[0] == 0
    code, said = run(*command, "--tables", "csv")
    assert code == 0
    assert "masses.csv, table.csv, partition.npz" in said
    assert "Parquet" not in said
    assert not (tmp_path / "masses.parquet").exists()


def test_parquet_is_refused_before_the_fit_when_it_cannot_be_written(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    code, said = run("fit", table, "--clusters", 2, "--out", tmp_path / "out", "--tables", "parquet")
    assert code == 2
    assert said == "error: Parquet files need pyarrow: pip install 'evidentia[parquet]'. CSV needs nothing.\n"
    assert not (tmp_path / "out").exists()


def test_quiet_prints_the_summary_alone(run, table):
    code, said = run("fit", table, "--id", "patient", "--clusters", 2, "--columns", "age,weight", "--quiet")
    assert code == 0
    assert said.splitlines()[1] == "40 objects in 2 clusters"
    assert said.startswith("It cannot be told whether there are groups: a table of 40 objects is too small.\n")
    assert len(said.splitlines()) == 6


def test_centers_and_covariance_come_back_to_the_units_of_the_file(patients):
    data = patients[["age", "weight"]]
    plain = fitting.fit(EGMM(2, random_state=0), data, 2, "none").table_model
    for scale in SCALERS:
        scaled = fitting.fit(EGMM(2, random_state=0), data, 2, scale).table_model
        np.testing.assert_allclose(scaled.centers, plain.centers, rtol=1e-3)
        np.testing.assert_allclose(scaled.covariances, plain.covariances, rtol=2e-2)
        np.testing.assert_array_equal(scaled.predict(data), scaled.model.labels_)


@pytest.fixture
def reported(monkeypatch):
    """What the commands hand to the report, and a report written from it."""
    given, write = [], evidentia.app.report.results.fill_results

    def keep(*arguments, **words):
        given.append(words)
        return write(*arguments, **words)

    monkeypatch.setattr(evidentia.app.report.results, "fill_results", keep)
    return given


@pytest.mark.parametrize("method", ["egmm", "ecm", "gustafson-kessel", "fcm"])
@pytest.mark.parametrize("ensemble", [[], ["--ensemble", 4]])
def test_the_model_in_the_report_predicts_its_own_labels(run, table, patients, tmp_path, reported, method, ensemble):
    code, said = run("fit", table, "--method", method, "--clusters", 2, "--columns", "age,weight", "--id", "patient",
                     "--scale", "standard", *ensemble, "--out", tmp_path / "out")  # fmt: skip
    assert code == 0, said
    (words,) = reported
    np.testing.assert_array_equal(words["model"].predict(patients), words["model"].model.labels_)
    np.testing.assert_array_equal(
        load_model(tmp_path / "out/model.npz").predict(patients), words["model"].model.labels_
    )
    np.testing.assert_allclose(np.sort(words["model"].centers, axis=0), [[30, 60], [60, 90]], atol=5)


def test_the_model_in_the_report_on_rows_in_files_predicts_its_own_labels(run, patients, tmp_path, reported):
    rows = patients[["age", "weight"]].to_numpy()
    np.save(tmp_path / "x.npy", rows)
    code, said = run("fit", tmp_path / "x.npy", "--method", "ecm", "--clusters", 2, "--out", tmp_path / "out")
    assert code == 0, said
    (words,) = reported
    np.testing.assert_array_equal(words["model"].predict(rows), words["model"].partition_.compute().labels())
    np.testing.assert_array_equal(words["partition"].labels(), words["model"].predict(words["X"]))


def test_the_ellipses_of_an_ensemble_are_those_of_its_own_sets(run, table, tmp_path, reported):
    """The fused masses are on other sets than the weights of the mixture."""
    code, said = run("fit", table, "--clusters", 2, "--focal-sets", "singletons", "--columns", "age,weight",
                     "--ensemble", 4, "--out", tmp_path)  # fmt: skip
    assert code == 0, said
    (words,) = reported
    assert words["partition"].focal_sets != words["model"].partition_.focal_sets
    assert (tmp_path / "ellipses.png").exists()


def test_warnings_become_notes_also_in_the_report(run, table, tmp_path):
    code, said = run(
        "fit", table, "--method", "ecm", "--clusters", 2, "--max-iter", 1, "--starts", 1, "--out", tmp_path
    )
    assert code == 0
    assert "note: ECM" in said
    assert "max_iter=1" in said
    assert "Warning" not in said
    assert "max_iter=1" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--clusters", "many"], "Got 'many'"),
        (["--clusters", "6-2"], "from the smaller to the larger"),
        (["--clusters", "0"], "The number of clusters is at least 1"),
        (["--clusters", "41"], "Ask for fewer clusters"),
        (
            ["--drop", "sex", "--rho", "3"],
            "--rho means nothing to egmm: it is an option of bpec, catecm, ccm, cecm, ecm, ",
        ),
        (["--method", "fcm", "--focal-sets", "pairs"], "--focal-sets means nothing to fcm"),
        (
            ["--method", "ecm", "--clusters", "2", "--beta", "1"],
            "--beta of ecm must be a number > 1 and <= 100. Got '1'.",
        ),
        (
            ["--method", "ecm", "--missing", "em"],
            "--missing em is for methods that take missing values; ecm takes error or drop.",
        ),
        (["--method", "k-means"], "k-means"),
        (["--drop", "wieght"], "Did you mean 'weight'?"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_a_mistake_ends_in_code_2_and_a_message(run, table, options, words):
    code, said = run("fit", table, *options)
    assert code == 2
    assert words in said
    assert "Traceback" not in said


def test_out_must_not_be_a_file_and_is_not_made_for_nothing(run, table, tmp_path):
    code, said = run("fit", table, "--out", table)
    assert code == 2
    assert "is a file" in said
    assert run("fit", table, "--drop", "nothing", "--out", tmp_path / "new")[0] == 2
    assert not (tmp_path / "new").exists()


def test_an_error_of_ours_is_one_line_with_code_1(run, table, monkeypatch):
    def stumble(*arguments, **options):
        raise RuntimeError("the floor was wet")

    monkeypatch.setattr(EGMM, "fit", stumble)
    code, said = run("fit", table, "--clusters", 2, "--drop", "sex")
    assert code == 1
    assert "error: this should not have happened (RuntimeError: the floor was wet)" in said
    assert "--debug" in said


def interrupt_at(monkeypatch, call):
    """Press Ctrl-C in a certain iteration of ECM."""
    calls = iter(range(10**9))
    step = ecm.descent_step

    def pressed(*arguments, **options):
        if next(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return step(*arguments, **options)

    monkeypatch.setattr(ecm, "descent_step", pressed)


def test_an_interrupt_keeps_the_best_result_so_far(run, table, tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    interrupt_at(monkeypatch, 25)
    code, said = run("fit", table, "--method", "ecm", "--clusters", 2, "--out", tmp_path / "out")
    assert code == 130
    assert "interrupted" in said
    assert len(CredalPartition.load(tmp_path / "out" / "partition.npz")) == 40
    assert "interrupted" in (tmp_path / "out" / "report.html").read_text()
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_before_any_result_leaves_nothing_but_the_code(run, table, tmp_path, monkeypatch):
    interrupt_at(monkeypatch, 0)
    code, said = run("fit", table, "--method", "ecm", "--clusters", 2, "--out", tmp_path / "out")
    assert code == 130
    assert said.splitlines()[-1] == "error: interrupted."
    assert not (tmp_path / "out").exists()


def test_progress_is_shown_on_terminals_only(run, table, monkeypatch):
    shown = []
    tqdm = descent.tqdm
    monkeypatch.setattr(
        descent, "tqdm", lambda *a, **k: shown.append(not k["disable"]) or tqdm(*a, **{**k, "disable": True})
    )
    run("fit", table, "--clusters", 2)
    assert shown
    assert not any(shown)


@pytest.mark.parametrize(("text", "meant"), [("auto", None), ("3", 3), ("2-4", (2, 4)), (" 1 - 5 ", (1, 5))])
def test_numbers_of_clusters(text, meant):
    assert fitting.parse_clusters(text) == meant


@pytest.mark.parametrize("text", ["", "-3", "2-", "2.5", "-", "3-2", "0-2", "0"])
def test_numbers_of_clusters_that_are_none(text):
    with pytest.raises(UserError, match="--clusters"):
        fitting.parse_clusters(text)


def test_a_number_of_clusters_that_cannot_be_is_refused_before_the_profile_table(run, table):
    code, said = run("fit", table, "--clusters", "0")
    assert code == 2
    assert said == "error: --clusters: The number of clusters is at least 1. Got '0'.\n"


def test_show_prints_the_summary_again(run, table, tmp_path):
    run("fit", table, "--id", "patient", "--clusters", 2, "--columns", "age,weight", "--out", tmp_path / "out")
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    for path in (tmp_path / "out", tmp_path / "out" / "partition.npz"):
        assert run("show", path) == (0, partition.summary() + "\n")
    rows = run("show", tmp_path / "out", "--objects", 3)[1].splitlines()[-3:]
    assert [row.split()[0] for row in rows] == [partition.name(i) for i in partition.most_doubtful(3)]


def test_show_refuses_what_is_no_partition(run, table, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)))
    for path, words in ((tmp_path / "no.npz", "no file"), (tmp_path / "a.npz", "not one written by evidentia")):
        code, said = run("show", path)
        assert code == 2
        assert words in said
    code, said = run("show", table)
    assert code == 2
    assert "not an evidentia partition" in said


def test_fit_sends_a_partition_to_show(run, tmp_path):
    EGMM(2, random_state=0).fit([[0.0], [1], [9], [10]]).partition_.save(tmp_path / "p.npz")
    code, said = run("fit", tmp_path / "p.npz")
    assert code == 2
    assert "evidentia show" in said


def test_datasets_lists_describes_and_writes(run, tmp_path):
    code, said = run("datasets")
    assert code == 0
    assert re.search(r"^iris +150 +4 +3 +here$", said, re.MULTILINE)
    code, said = run("datasets", "iris")
    assert (code, "setosa (50)" in said) == (0, True)
    code, said = run("datasets", "iris", "--to", tmp_path / "new" / "iris.csv")
    assert code == 0
    frame = pd.read_csv(tmp_path / "new" / "iris.csv")
    assert frame.shape == (150, 5)
    assert frame["label"].value_counts().to_dict() == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert run("datasets", "irsi")[0] == 2
    assert run("datasets", "--to", tmp_path / "x.csv")[0] == 2


def test_demo_clusters_iris_and_compares_with_the_species(run, tmp_path):
    code, said = run("demo", "--out", tmp_path / "demo")
    assert code == 0
    assert "150 objects in" in said
    assert re.search(r"Compared with the species.*50 setosa.*adjusted Rand index 0\.\d\d", said)
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == sorted([*FILES, "selection.png"])
    names = {}
    exec(python_code(tmp_path / "demo" / "report.html"), names)
    masses = CredalPartition.load(tmp_path / "demo" / "partition.npz").masses
    np.testing.assert_allclose(names["model"].partition_.masses, masses, atol=1e-12)
