"""``evidentia ask`` as a person uses it: keys, leaving, coming back, and nothing lost."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from evidentia import CredalPartition
from evidentia.app.cli import app, asking

COMMAND = str(Path(sys.executable).with_name("evidentia"))
COLUMNS = ("--clusters", "2", "--id", "patient", "--drop", "diagnosis,site", "--starts", "2")


@pytest.fixture
def ask(table, tmp_path):
    """``ask("s", "q")`` types the keys, each with Enter, and gives the exit code and the screen."""

    def converse(*keys, options=()):
        arguments = ["ask", str(table), *COLUMNS, "--answers", str(tmp_path / "answers.csv"), *map(str, options)]
        result = CliRunner().invoke(app, arguments, input="".join(f"{key}\n" for key in keys))
        return result.exit_code, result.output

    return converse


@pytest.fixture
def answered(tmp_path):
    """What the file of answers holds, as lists of three."""
    return lambda: [line.split(",")[:3] for line in (tmp_path / "answers.csv").read_text().splitlines()[1:]]


def test_the_two_objects_stand_side_by_side(ask, patients):
    code, screen = ask("q")
    assert code == 0
    lines = screen[screen.index("Question 1: do these two belong together?") :].splitlines()
    _, first, second, _ = lines[1].split()
    rows = patients.set_index("patient").loc[[first, second]]
    shown = {line.split()[0]: line.split()[1:] for line in lines[2:5]}
    assert [float(value) for value in shown["age"][:2]] == rows.age.tolist()
    assert shown["sex"] == rows.sex.tolist()  # a column that is not clustered helps a person too
    gap = (rows.age.iloc[1] - rows.age.iloc[0]) / patients.age.std()
    assert shown["age"][2:] == [f"{gap:+.1f}", "sd"]
    assert "diagnosis" not in "".join(lines)
    assert "40 objects in 2 clusters" in screen


def test_answers_are_kept_and_taken_up_again(ask, answered):
    code, screen = ask("s", "different", "?", "q")
    assert code == 0
    assert [word for _, _, word in answered()] == ["same", "different", "unknown"]
    assert screen.count("Saved.") == 3
    assert "(3 answers: 1 same, 1 different, 1 don't know; the same command goes on from there)" in screen
    before = answered()
    code, screen = ask("s", "q")
    assert "(3 answers: 1 same, 1 different, 1 don't know)" in screen
    assert "Question 4" in screen
    assert answered()[:3] == before
    assert len(answered()) == 4


def test_undo_asks_again_and_is_kept(ask, answered):
    code, screen = ask("s", "u", "d", "u", "u", "q")
    assert code == 0
    assert answered() == []
    assert "Took back the answer 'same'" in screen
    assert "Took back the answer 'different'" in screen
    assert "There is no answer to take back." in screen
    assert screen.count("Question 1") == 4
    assert "Question 3" not in screen


def test_a_session_that_cannot_begin_leaves_no_file(table, tmp_path):
    arguments = ["ask", str(table), "--clusters", "99", "--answers", str(tmp_path / "answers.csv")]
    result = CliRunner().invoke(app, arguments, input="s\n")
    assert result.exit_code == 2
    assert not (tmp_path / "answers.csv").exists()


def test_other_keys_are_explained_and_answer_nothing(ask, tmp_path):
    code, screen = ask("n", "", "q")
    assert code == 0
    assert "'n' is none of these." in screen
    assert "Type one of these keys, then Enter." in screen
    assert not (tmp_path / "answers.csv").exists()


def test_the_end_of_input_leaves(ask, answered):
    code, screen = ask("s")
    assert code == 0
    assert len(answered()) == 1
    assert "Traceback" not in screen


def test_it_says_when_more_questions_do_not_pay(ask):
    code, screen = ask(*["?"] * 11, "q")
    assert code == 0
    before, after = screen.split("The last 10 answers taught nothing new")
    assert "Question 10" in before
    assert "Question 11" not in before
    assert "Question 12" in after


def test_out_holds_the_result_of_the_answers(ask, tmp_path):
    code, screen = ask("s", "q", options=["--out", tmp_path / "res"])
    assert code == 0
    assert "report.html" in screen
    assert len(CredalPartition.load(tmp_path / "res" / "partition.npz")) == 40
    assert "1 answer: 1 same" in (tmp_path / "res" / "report.html").read_text()


def test_a_file_cut_off_is_taken_up_and_mended(ask, answered, tmp_path):
    ask("s", "d", "q")
    path = tmp_path / "answers.csv"
    path.write_text(path.read_text()[:-4])
    _, screen = ask("q")
    assert "ends in the middle of line 3; the 1 answers before it were read" in " ".join(screen.split())
    assert [word for _, _, word in answered()] == ["same"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("patient,age\n1,2\n", "is not a file of answers"),
        ("first,second,answer\n007,900,same\n", "there is no object '900' in the table"),
        ("first,second,answer\n007,008,same\n008,009,same\n007,009,different\n", "'007' = '008' = '009'"),
    ],
)
def test_answers_that_cannot_be_taken_up_are_left_as_they_are(ask, tmp_path, content, message):
    path = tmp_path / "answers.csv"
    path.write_text(content)
    code, screen = ask("s", "q")
    assert code == 2
    assert message in screen
    assert path.read_text() == content


def test_bad_places_and_options_are_refused(ask, run, table, tmp_path):
    assert ask("q", options=["--missing", "em"])[0] == 2
    code, screen = run("ask", table, *COLUMNS, "--answers", tmp_path)
    assert (code, "is a directory" in screen) == (2, True)
    code, screen = run("ask", table, *COLUMNS, "--answers", table)
    assert (code, "is not a file of answers" in screen) == (2, True)
    assert run("ask", table)[0] == 2


def test_answers_are_kept_beside_the_table_by_default(table):
    CliRunner().invoke(app, ["ask", str(table), *COLUMNS], input="s\nq\n")
    assert len(table.with_name("patients-answers.csv").read_text().splitlines()) == 2


def test_rows_left_out_do_not_shift_the_others(patients, tmp_path):
    patients.loc[[0, 5], "age"] = np.nan
    patients.to_csv(tmp_path / "holes.csv", index=False)
    arguments = ["ask", str(tmp_path / "holes.csv"), "--clusters", "2", "--columns", "age,weight", "--missing", "drop"]
    screen = CliRunner().invoke(app, arguments, input="q\n").output
    lines = screen[screen.index("Question 1") :].splitlines()
    numbers = [int(name) for name in lines[1].split()[1:3]]
    assert next(line for line in lines if "patient" in line).split()[1:3] == [
        str(int(name)) for name in patients.patient.iloc[numbers]
    ]


def test_wide_tables_show_the_columns_that_differ_most():
    frame = pd.DataFrame(np.zeros((3, 40)), columns=[f"c{i}" for i in range(40)])
    frame.iloc[1, 33] = 5.0
    frame["note"] = ["a " * 40, "b", "c"]
    lines = asking.side_by_side(frame, 0, 1)
    assert len(lines) == 1 + 20 + 1
    assert any(line.split()[:3] == ["c33", "0", "5"] for line in lines)
    assert "the 20 of 41 columns that differ most" in lines[-1]
    assert max(map(len, asking.side_by_side(frame[["c0", "note"]], 0, 1))) < 60


# -- a real terminal --------------------------------------------------------------------------------------------------


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, *arguments):
        master, slave = pty.openpty()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self.master, self.screen = master, ""

    def wait_for(self, text, times=1):
        end = time.monotonic() + 90
        while self.screen.count(text) < times:
            assert time.monotonic() < end, self.screen
            self._read(0.2)

    def _read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.screen += os.read(self.master, 65536).decode()
            except OSError:  # the other end is closed
                return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def type(self, keys):
        time.sleep(0.5)  # nobody is quicker: Python itself misses an interrupt between its prompt and its reading
        os.write(self.master, keys.encode())

    def end(self):
        end = time.monotonic() + 90
        while self._read(0.2) or self.process.poll() is None:  # the other end closes when the command is over
            assert time.monotonic() < end, self.screen
        return self.process.returncode


def _own_terminal():
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches the command
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may ignore it


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_leaving_by_a_key_keeps_the_answers(table, tmp_path, answered, key):
    with Terminal("ask", table, *COLUMNS, "--answers", tmp_path / "answers.csv") as terminal:
        terminal.wait_for("q leave >")
        terminal.type("s\n")
        terminal.wait_for("q leave >", times=2)
        terminal.type(key)
        assert terminal.end() == 0
    assert "Traceback" not in terminal.screen
    assert "40 objects in 2 clusters" in terminal.screen
    assert [word for _, _, word in answered()] == ["same"]


def test_a_killed_session_has_every_answer(ask, table, tmp_path, answered):
    with Terminal("ask", table, *COLUMNS, "--answers", tmp_path / "answers.csv") as terminal:
        terminal.wait_for("q leave >")
        terminal.type("s\n")
        terminal.wait_for("q leave >", times=2)
        terminal.type("d\n")
        terminal.wait_for("Question 3")
        terminal.process.send_signal(signal.SIGKILL)
        assert terminal.end() == -signal.SIGKILL
    assert [word for _, _, word in answered()] == ["same", "different"]
    assert "Question 3" in ask("q")[1]


def test_an_interrupted_fit_keeps_the_answer_before_it(ask, answered, monkeypatch):
    from evidentia.constraints import active

    fitted = active._fit

    def interrupted(estimator, X, links, start=None):
        if len(links):
            signal.raise_signal(signal.SIGINT)
        return fitted(estimator, X, links, start)

    monkeypatch.setattr(active, "_fit", interrupted)
    code, screen = ask("d", "s")
    assert code == 130
    assert [word for _, _, word in answered()] == ["different"]
    assert "1 answer: 1 different; the same command goes on from there" in screen
    assert "Traceback" not in screen
