"""A folder of results is one run: whatever fails and whenever a writer ends, and other files in it stay."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from evidentia.app.run_folder import LISTING, check_listed, finish_run, listed_files, whole_run
from whole_folders import STEPS, files_of, watching

OLD = {"partition.npz": "old", "table.csv": "old", "maps/part-0": "old", "maps/part-1": "old", "trace.png": "old"}
NEW = {"partition.npz": "new", "masses.csv": "new", "maps/part-0": "new", "report.html": "new"}
MINE = {"notes.txt": "dear", "maps/legend.txt": "diary", "data/rows.csv": "1"}


def fill(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def write(folder, files):
    with whole_run(folder) as fresh:
        fill(fresh, files)


@pytest.fixture
def out(tmp_path):
    write(tmp_path / "out", OLD)
    fill(tmp_path / "out", MINE)
    return tmp_path / "out"


def shown(folder):
    return {name: (folder / name).read_text() for name in files_of(folder) - {LISTING}}


def test_a_run_takes_the_place_of_the_one_before_and_other_files_stay(out):
    write(out, NEW)
    assert shown(out) == NEW | MINE
    assert set(listed_files(out)) == set(NEW)
    write(out, {"table.csv": "third"})
    assert shown(out) == {"table.csv": "third"} | MINE


def test_a_process_that_is_killed_at_any_step_leaves_one_run_which_the_next_reader_completes(out, tmp_path):
    moments = watching(out, tmp_path / "moments", lambda: write(out, NEW))
    assert len(moments) > 15
    found = []
    for moment in moments:
        visible = {name: text for name, text in shown(moment).items() if name not in MINE}
        assert visible.items() <= OLD.items() or visible.items() <= NEW.items(), moment
        assert shown(moment).items() >= MINE.items()
        finish_run(moment)
        found.append("new" if shown(moment) == NEW | MINE else "old" if shown(moment) == OLD | MINE else "torn")
        for name in listed_files(moment):
            check_listed(moment, name)
    assert found == sorted(found, reverse=True)  # old, and from one step on new
    assert set(found) == {"old", "new"}


def test_who_finishes_a_run_may_be_killed_too(out, tmp_path):
    moments = watching(out, tmp_path / "moments", lambda: write(out, NEW))
    begun = [moment for moment in moments if [*moment.glob("*.complete"), *moment.glob("*.moving")]]
    for at, moment in enumerate(begun[::15]):
        for again in watching(moment, tmp_path / f"again{at}", lambda moment=moment: finish_run(moment)):
            finish_run(again)
            assert shown(again) in (NEW | MINE, OLD | MINE)
            write(again, {"a": "third"})
            assert shown(again) == {"a": "third"} | MINE


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_at_any_step_leaves_the_old_run_or_the_new_one_and_loses_nothing(out, tmp_path, monkeypatch, error):
    for at in range(1000):
        steps = 0

        def failing(*arguments, step, at=at, **options):
            nonlocal steps
            steps += 1
            if steps == at + 1:
                raise error
            return step(*arguments, **options)

        with monkeypatch.context() as patch, suppress(OSError, KeyboardInterrupt):
            for name in (*STEPS, "fsync"):  # which each file ends with
                patch.setattr(os, name, partial(failing, step=getattr(os, name)))
            write(out, NEW)
        finish_run(out)
        everything = shown(out)
        run = {name: text for name, text in everything.items() if name not in MINE and "unfinished" not in name}
        assert run in (OLD, NEW), at
        assert everything.items() >= MINE.items()
        for name in [name for name in everything if name.startswith("unfinished") and LISTING not in name]:
            assert everything[name] == "new"
        if steps <= at:
            break
        write(out, OLD)
    assert at > 15


def test_an_error_names_the_file_that_the_user_knows_and_where_the_others_are(tmp_path):
    def write_until_full():
        with whole_run(tmp_path / "out") as fresh:
            fill(fresh, {"partition.npz": "new"})
            raise OSError(errno.ENOSPC, "full", str(fresh / "masses.csv"))

    with pytest.raises(OSError, match="full") as raised:
        write_until_full()
    assert raised.value.filename == str(tmp_path / "out" / "masses.csv")
    assert raised.value.__notes__ == [
        f"What was finished of this run is in {tmp_path / 'out' / 'unfinished'}: partition.npz. "
        "The run before is as it was."
    ]
    assert files_of(tmp_path) == {"out/unfinished/partition.npz"}


def test_a_run_that_wrote_nothing_leaves_no_folder(tmp_path):
    with pytest.raises(RuntimeError), whole_run(tmp_path / "out"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_the_folder_itself_stays_so_that_it_may_be_the_current_one(out, monkeypatch):
    monkeypatch.chdir(out)
    write(".", NEW)
    assert shown(Path()) == NEW | MINE
    assert Path.cwd() == out.resolve()


def test_permissions_stay(out):
    os.chmod(out / "partition.npz", 0o600)
    write(out, NEW)
    assert (out / "partition.npz").stat().st_mode & 0o777 == 0o600


def test_a_folder_of_a_stranger_moves_and_removes_nothing_outside_of_it(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "key").write_text("secret")
    made, files = tmp_path / "made", dict.fromkeys(["../home/key", "link/key", str(tmp_path / "home" / "key")], "0")
    made.mkdir()
    (made / "link").symlink_to(tmp_path / "home")
    (made / LISTING).write_text(json.dumps({"format": "evidentia-run", "version": 1, "files": files}))
    write(made, {"one": "1"})
    for ending in ("complete", "moving"):
        (made / f".evidentia-a.{ending}").symlink_to(tmp_path / "home")
        hidden = made / f".evidentia-b.{ending}"
        hidden.mkdir()
        (hidden / "new").symlink_to(tmp_path / "home")
        finish_run(made)
        inside = made / f".evidentia-c.{ending}"
        (inside / "new").mkdir(parents=True)
        fill(inside / "new", {"link/key": "theirs"})
        with pytest.raises(ValueError, match="is a link that leads out of"):
            finish_run(made)
        shutil.rmtree(made / ".evidentia-c.moving")
    assert (tmp_path / "home" / "key").read_text() == "secret"


WRITER = """
import signal, sys
from evidentia.app.run_folder import whole_run
signal.signal(signal.SIGINT, signal.default_int_handler)
turn = 0
while True:
    turn += 1
    with whole_run(sys.argv[1]) as fresh:
        for name in "abcdefgh"[: 4 + turn % 5]:
            (fresh / name).write_text(str(turn))
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("delay", [0.001, 0.0137, 0.0291])
def test_two_writers_that_are_stopped_at_a_random_moment_leave_one_run(tmp_path, sign, delay):
    out = tmp_path / "out"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(out)], stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        while not (out / LISTING).exists():
            assert all(writer.poll() is None for writer in writers)
        signal.sigtimedwait([], delay)
    finally:
        for writer in writers:
            writer.send_signal(sign)
            writer.wait()
    finish_run(out)
    for name in listed_files(out):
        check_listed(out, name)
    texts = {(out / name).read_text() for name in listed_files(out)}
    assert len(texts) == 1
    assert len(listed_files(out)) == 4 + int(texts.pop()) % 5
