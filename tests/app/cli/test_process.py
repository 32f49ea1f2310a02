"""The installed command as a user runs it: streams, exit codes, no traceback, quick to start."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets

COMMAND = str(Path(sys.executable).with_name("evidentia"))


def call(*arguments, **environment):
    plain = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**plain, "OMP_NUM_THREADS": "1", **environment},
    )


def test_results_go_to_stdout_and_there_is_no_color_or_bar_in_a_pipe(table):
    done = call("fit", table, "--clusters", "2", "--columns", "age,weight")
    assert done.returncode == 0
    assert "40 objects in 2 clusters" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_mistake_is_one_line_on_stderr(table):
    done = call("fit", table, "--drop", "wieght")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: --drop: there is no column 'wieght'. Did you mean 'weight'?")
    assert len(done.stderr.splitlines()) == 1


def test_nobody_who_reads_on_is_no_failure_and_the_files_are_written(table, tmp_path):
    """As in ``| head``: the pipe is closed before the first word."""
    command = [COMMAND, "fit", str(table), "--clusters", "2", "--columns", "age,weight", "--out", str(tmp_path / "out")]
    reading, writing = os.pipe()
    os.close(reading)
    plain = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, env=plain)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize("deeper", ["", "x/y"])
def test_a_folder_that_cannot_be_written_to_is_found_before_the_fit(table, deeper):
    """/proc is read-only for root too."""
    done = call("fit", table, "--clusters", "2", "--columns", "age,weight", "--out", f"/proc/self/{deeper}")
    assert done.returncode == 2
    assert "nothing can be written there (/proc/self" in done.stderr
    assert "objects in 2 clusters" not in done.stdout


def test_a_fit_that_fails_leaves_no_folder(table, tmp_path):
    done = call("fit", table, "--clusters", "41", "--columns", "age,weight", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()


def test_debug_shows_where(table):
    done = call("--debug", "fit", table, "--drop", "wieght")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_version_and_help():
    import evidentia

    assert call("--version").stdout == f"evidentia {evidentia.__version__}\n"
    done = call("--help")
    assert done.returncode == 0
    for command in ("fit", "show", "demo", "datasets"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["fit", "missing.csv"], ["numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib"]),
        (["fit", "missing.csv", "--starts", "2", "--method", "ecm"], ["numpy", "pandas", "sklearn", "numba", "scipy"]),
        (["ask", "missing.csv", "--clusters", "2"], ["numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib"]),
        (["show", "missing"], ["numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib"]),
        (["explain", "missing"], ["numpy", "pandas", "sklearn", "numba", "scipy", "matplotlib"]),
    ],
)
def test_a_file_is_looked_for_before_anything_heavy_is_imported(arguments, heavy, tmp_path):
    done = modules_after(arguments, heavy, tmp_path)
    assert done.stderr.startswith("error: There is no file missing")
    assert done.stdout == "2 []\n"


def modules_after(arguments, heavy, directory):
    """Runs the command; it prints its exit code and which of some modules were imported."""
    code = (
        "import sys\nfrom evidentia.app.cli import main\n"
        f"sys.argv = ['evidentia', *{[str(word) for word in arguments]!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n"
        f"    print(end.code, sorted(set({heavy!r}) & set(sys.modules)))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=directory)


def test_show_needs_no_more_than_the_partition(tmp_path):
    CredalPartition(np.eye(4)[[1, 2, 3, 1]], FocalSets(2)).save(tmp_path / "partition.npz")
    done = modules_after(["show", tmp_path, "--objects", "1"], ["pandas", "sklearn", "numba", "scipy"], tmp_path)
    assert done.stdout.startswith("4 objects in 2 clusters")
    assert done.stdout.endswith("0 []\n")


def test_help_loads_nothing_heavy():
    code = (
        "import sys, evidentia.app.cli; print(sorted({'numpy', 'pandas', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_color_is_for_terminals_that_want_it(monkeypatch, environment, colored):
    from evidentia.app.cli import terminal

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for key, value in environment.items():
        monkeypatch.setenv(key, value)

    class Terminal:
        def isatty(self):
            return True

    assert terminal.has_color(Terminal()) is colored
    assert ("\x1b[" in terminal.style("x", Terminal(), bold=True)) is colored
