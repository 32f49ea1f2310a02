"""Units run in processes, once, whatever happens to their neighbors."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evidentia
import fake_exhibits as fake
from evidentia.files import write_whole
from reproduction.exhibit import Unit
from reproduction.running import Failure, Measurement, Store, _is_own, compute, longest_first

TESTS = Path(fake.__file__).parent


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "units")


def scores(seed=0):
    return fake.units(True, seed)[:-1]


def touches(directory, names):
    return [Unit(name, fake.touch, {"directory": str(directory), "name": name}) for name in names]


def by_key(units, outcomes):
    return {unit.key: outcomes[unit.fingerprint] for unit in units}


def test_two_processes_give_what_one_gives_and_the_seed_changes_it(tmp_path):
    results = {}
    for name, seed, jobs in (("one", 5, 1), ("two", 5, 2), ("other", 6, 1)):
        found = by_key(scores(seed), compute(scores(seed), Store(tmp_path / name), jobs=jobs))
        results[name] = {key: outcome.result for key, outcome in found.items()}
    assert results["one"] == results["two"]
    assert results["one"]["Iris/ECM"] != results["other"]["Iris/ECM"]


def test_a_result_looks_the_same_fresh_and_from_the_store(store):
    units = scores()
    fresh = compute(units, store)
    assert compute(units, store) == fresh
    result = fresh[units[0].fingerprint].result
    assert isinstance(result["values"], list)
    assert result["runs"] == 2


def test_what_is_kept_is_not_computed_again_unless_asked_for(tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    units = touches(calls, "abc")
    compute(units[:2], Store(tmp_path / "units"))
    compute([*units, *units], Store(tmp_path / "units"), jobs=2)
    assert sorted(path.name[0] for path in calls.iterdir()) == ["a", "b", "c"]
    compute(units[:1], Store(tmp_path / "units", fresh=True))
    assert sorted(path.name[0] for path in calls.iterdir()) == ["a", "a", "b", "c"]


def test_another_version_of_the_package_computes_anew(tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    calls.mkdir()
    compute(touches(calls, "a"), Store(tmp_path / "units"))
    monkeypatch.setattr(evidentia, "__version__", "99.0")
    compute(touches(calls, "a"), Store(tmp_path / "units"))
    assert len(list(calls.iterdir())) == 2


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"result": {}, "seconds": 1}', '"text"'])
def test_a_damaged_file_is_as_good_as_none(store, damage):
    unit = Unit("a/b c", fake.complain)
    store.write(unit, Measurement({"x": 1}, 2.0, ("late",)))
    assert store.read(unit) == Measurement({"x": 1}, 2.0, ("late",))
    store.path(unit).write_text(damage)
    assert store.read(unit) is None
    assert store.damaged == [f"a-b-c-{unit.fingerprint}.json"]


@pytest.mark.parametrize(
    ("written", "changed"),
    [("0.731", "0.831"), ('"seed": 5', '"seed": 6'), ("2.25", "2.26"), ("late", "later"), ('"key": "a"', '"key": "b"')],
)
def test_a_number_changed_by_hand_is_found(store, written, changed):
    """The file is still JSON, and the one of this unit."""
    unit = Unit("a", fake.touch, {"seed": 5})
    store.write(unit, Measurement({"ari": [0.731, 0.5]}, 2.25, ("late",)))
    text = store.path(unit).read_text()
    assert written in text
    store.path(unit).write_text(text.replace(written, changed))
    assert store.read(unit) is None
    assert store.damaged == [store.path(unit).name]


def test_a_file_of_another_unit_is_not_believed(store):
    one, other = Unit("a", fake.complain), Unit("a", fake.complain, {"seed": 1})
    store.write(other, Measurement({"x": 1}, 2.0))
    store.path(one).write_bytes(store.path(other).read_bytes())
    assert store.read(one) is None


def test_an_interruption_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    write_whole(path, "old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["record.json"]
    write_whole(path, "new")
    assert path.read_text() == "new"


def interrupted(*_):
    raise KeyboardInterrupt


def test_a_damaged_file_is_written_anew(store):
    unit = Unit("a", fake.complain)
    store.write(unit, Measurement({}, 0.0))
    store.path(unit).write_bytes(store.path(unit).read_bytes()[:-5])
    compute([unit], store)
    assert json.loads(store.path(unit).read_text())["result"] == {"threads": "1"}
    assert [path.name for path in store.directory.iterdir()] == store.damaged  # and nothing half-written


def test_failures_are_told_and_the_rest_goes_on(store):
    units = [
        Unit("fails", fake.fail, {"why": "too flat"}),
        Unit("lacks", fake.lack),
        Unit("dies", fake.die),
        Unit("object", fake.unspeakable),
        *scores()[:1],
    ]
    found = by_key(units, compute(units, store, jobs=1))
    assert found["fails"] == Failure("ValueError: too flat")
    assert found["lacks"].lacks_data
    assert found["dies"].error.startswith("its process ended with code 3")
    assert "a unit returned a object" in found["object"].error
    assert isinstance(found["Iris/ECM"], Measurement)
    assert len(list(store.directory.iterdir())) == 1  # a failure is tried again next time


def test_a_place_is_told_when_it_is_of_the_library_whatever_the_clone_is_called(store):
    unit = Unit("library", fake.ask_the_library)
    error = compute([unit], store)[unit.fingerprint].error
    assert re.search(r"no data set called 'nowhere'.* \(\w+\.py, line \d+\)$", error)
    assert not _is_own("/home/ann/evidentia/tests/fake_exhibits.py")  # a clone called as the library


def test_a_unit_has_one_thread_and_its_warnings_are_kept_once(store, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    unit = Unit("complains", fake.complain)
    compute([unit], store)
    kept = store.read(unit)
    assert kept.result == {"threads": "1"}
    assert kept.warnings == ("UserWarning: it is late",)
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_the_watcher_hears_of_every_unit(store):
    heard = []

    class Watcher:
        def begins(self, unit):
            heard.append(("begins", unit.key))

        def ends(self, unit, outcome, kept):
            heard.append(("ends", unit.key, kept))

    units = scores()[:2]
    compute(units[:1], store)
    compute(units, store, watcher=Watcher())
    assert heard == [("ends", "Iris/ECM", True), ("begins", "Iris/EGMM"), ("ends", "Iris/EGMM", False)]


def test_a_worker_leaves_interruptions_to_its_parent(store):
    unit = Unit("interrupted", fake.interrupt_itself)
    assert compute([unit], store)[unit.fingerprint].result == {"alive": True}


def started(tmp_path):
    """A process that has finished units a and b and is dawdling over a third; where units leave their files."""
    calls = tmp_path / "calls"
    calls.mkdir()
    script = tmp_path / "script.py"
    script.write_text(f"""
import signal, sys; sys.path[:0] = [{str(TESTS)!r}, {str(TESTS.parent)!r}]
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it, and so would we
import fake_exhibits as fake
from pathlib import Path
from reproduction.exhibit import Unit
from reproduction.running import Store, compute
if __name__ == "__main__":
    settings = dict(directory={str(calls)!r})
    units = [Unit(name, fake.touch, dict(settings, name=name)) for name in "ab"]
    units.append(Unit("slow", fake.touch_and_dawdle, dict(settings, name="s")))
    compute(units, Store(Path({str(tmp_path / "units")!r})))
""")
    process = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, start_new_session=True, text=True)
    assert within_a_minute(lambda: len(list(calls.iterdir())) == 3)
    return process, calls


def within_a_minute(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def test_an_interruption_keeps_what_is_finished(tmp_path):
    process, calls = started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: the process and its workers
    said = process.communicate(timeout=30)[1]
    assert process.returncode != 0
    assert said.count("Traceback") == 1  # the parent's only
    store = Store(tmp_path / "units")
    units = touches(calls, "ab")
    assert all(store.read(unit) is not None for unit in units)
    compute(units, store)
    assert sorted(path.name[0] for path in calls.iterdir()) == ["a", "b", "s"]


def test_no_worker_outlives_its_parent(tmp_path):
    process, calls = started(tmp_path)
    [slow] = calls.glob("s-*")
    worker = int(slow.name.partition("-")[2])
    os.kill(worker, 0)  # it is there
    process.kill()
    process.communicate()

    def gone():
        status = Path(f"/proc/{worker}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"

    assert within_a_minute(gone)


def test_the_longest_unit_begins_first_and_shared_units_once():
    short = fake.Exhibit("fake.table3", "", minutes=(1, 1))
    long = fake.Exhibit("fake.table4", "", minutes=(2, 8))
    a, b, c, d = touches("x", "abcd")
    plan = {"fake.table3": [a, b], "fake.table4": [b, c, d]}  # quick: 1/2 and 2/3; full: 1/2 and 8/3 minutes each
    assert longest_first([short, long], plan, quick=True) == [(b, 2 / 3), (c, 2 / 3), (d, 2 / 3), (a, 1 / 2)]
    plan = {"fake.table3": [a], "fake.table4": [b, c, d]}
    assert [unit for unit, _ in longest_first([short, long], plan, quick=True)] == [a, b, c, d]
    assert [unit for unit, _ in longest_first([short, long], plan, quick=False)] == [b, c, d, a]


def test_a_unit_that_does_not_end_in_time_is_told_kept_and_spoils_no_other(store, tmp_path):
    endless = Unit("endless", fake.work_without_end, {"directory": str(tmp_path)}, limit=1)
    late = Unit("late", fake.work, {"seconds": 2})  # after the limit of the unit before it, which is none of its own
    units = [Unit("quick", fake.work, {"seconds": 0}, limit=1), late, endless, Unit("next", fake.complain)]
    found = by_key(units, compute(units, store))
    assert found["endless"] == Measurement({"no end within": 1}, 1.0)
    assert found["late"].result == {"seconds": 2}
    assert found["next"].result == {"threads": "1"}
    compute([endless], store)
    assert len(list(tmp_path.glob("begun-*"))) == 1


def test_the_limit_is_part_of_what_a_unit_is():
    assert Unit("a", fake.complain, limit=5).fingerprint != Unit("a", fake.complain).fingerprint
    assert Unit("a", fake.complain).fingerprint == "88f47d3ad8f5be74"  # records hold it


def test_an_error_of_several_lines_is_told_in_one(store):
    unit = Unit("a", fake.fail, {"why": "it is\n\n  singular"})
    [outcome] = compute([unit], store).values()
    assert outcome == Failure("ValueError: it is singular")
