"""Passes on a Dask client: the same bits, few tasks, nothing pinned, and words for what goes wrong."""

import pickle
import sys
import time
from functools import partial

import numpy as np
import pytest
from distributed import Client, LocalCluster

from evidentia.rows import cluster, passes
from evidentia.rows.passes import map_handles, reduce_rows
from evidentia.rows.scan import scan
from evidentia.rows.source import ArrayRows
from made_rows import MadeRows, client_of_a_task, handle_of, note_and_sleep, same, slow_if_even, sum_alone, sums_of


@pytest.fixture(scope="module")
def workers():
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="800MB", dashboard_address="127.0.0.1:0") as here:
        yield here


@pytest.fixture
def client(workers):
    with Client(workers) as one:
        yield one


def submissions(client, monkeypatch):
    seen, real = [], client.submit

    def submit(function, *args, **kwargs):
        seen.append((function, args, kwargs))
        return real(function, *args, **kwargs)

    monkeypatch.setattr(client, "submit", submit)
    return seen


@pytest.mark.parametrize("tasks", [1, 2, 4, 50])
def test_the_grouping_changes_no_bit(client, monkeypatch, tasks):
    monkeypatch.setattr(cluster, "TASKS", tasks)
    seen = submissions(client, monkeypatch)
    rows = MadeRows(13)
    assert same(reduce_rows(sums_of, rows, 1.7), sum_alone(rows, 1.7))
    assert len(seen) == min(13, 2 * tasks)


def test_results_come_in_the_order_of_the_handles(client):
    assert list(map_handles(slow_if_even, MadeRows(9))) == [10 * handle for handle in range(9)]


def test_a_survey_is_the_same_as_in_this_process(client, monkeypatch):
    rows = MadeRows(12, 6000)
    there = scan(rows, mixing=True, missing=False, who="me")
    monkeypatch.setattr(passes, "active_client", lambda: None)
    here = scan(rows, mixing=True, missing=False, who="me")
    assert not here.complete
    np.testing.assert_array_equal(here.moments.squares, there.moments.squares)
    np.testing.assert_array_equal(here.sample.X, there.sample.X)


def test_no_task_is_tied_to_a_worker_and_none_is_large(client, monkeypatch):
    seen = submissions(client, monkeypatch)
    rows = MadeRows(4000, 2)
    assert len(list(map_handles(handle_of, rows))) == 4000
    assert len(seen) == 8
    for _, args, options in seen:
        assert set(options) == {"pure", "retries"}
        assert len(pickle.dumps(args)) < len(pickle.dumps(rows)) / 4


def test_what_is_in_memory_is_not_sent(client, monkeypatch):
    seen = submissions(client, monkeypatch)
    rows = ArrayRows(np.arange(12.0).reshape(4, 3) + 1)
    assert reduce_rows(sums_of, rows, 1.0).size == 4
    assert reduce_rows(sums_of, rows.map_chunks(lambda chunk: chunk), 1.0).size == 4
    assert seen == []


def test_rows_that_are_refused_are_named_and_not_read_again(client, tmp_path):
    with pytest.raises(ValueError, match=r"^part 5, row 11 is empty$"):
        reduce_rows(sums_of, MadeRows(8, diary=tmp_path, bad=5), 1.0)
    assert len(list(tmp_path.glob("5-*"))) == 1


def test_rows_that_could_not_be_read_are_read_again(client, tmp_path):
    found = reduce_rows(sums_of, MadeRows(8, diary=tmp_path, broken=4), 1.7)
    assert same(found, sum_alone(MadeRows(8), 1.7))
    assert len(list(tmp_path.glob("4-*"))) == 2


def test_what_is_not_waited_for_is_cancelled(client, tmp_path):
    results = map_handles(partial(note_and_sleep, str(tmp_path)), MadeRows(40))
    next(results)
    results.close()
    time.sleep(0.5)
    begun = len(list(tmp_path.iterdir()))
    time.sleep(1)
    assert begun < 30
    assert len(list(tmp_path.iterdir())) <= begun + 2 * 5  # tasks under way are not stopped
    assert not any(client.processing().values())


def test_memory_is_asked_before_the_work(client, tmp_path, monkeypatch):
    monkeypatch.setattr(MadeRows, "working_bytes", 590_000_000)
    rows = MadeRows(diary=tmp_path)
    with pytest.raises(MemoryError) as caught:
        reduce_rows(sums_of, rows, 1.0)
    said = str(caught.value)
    assert "has a memory limit of 800 MB and begins no task above 640 MB, but its software alone takes" in said
    assert "and a chunk of rows 590 MB in each of its 1 threads. Give it at least" in said
    least = float(said.split("at least ")[1].split(" MB")[0])
    assert (590 + 100) / 0.8 < least < (590 + 400) / 0.8
    assert not list(tmp_path.iterdir())


def test_a_worker_needs_the_package(workers):
    with Client(workers) as client:
        client.run(lambda: sys.modules.update(evidentia=None))
        try:
            with pytest.raises(
                ModuleNotFoundError, match=r"^Worker tcp://.* cannot import evidentia\. Install the same"
            ):
                reduce_rows(sums_of, MadeRows(), 1.0)
        finally:
            client.run(lambda: sys.modules.pop("evidentia"))


def test_a_worker_needs_the_same_version(client, monkeypatch):
    import evidentia

    monkeypatch.setattr(evidentia, "__version__", "99.5")
    with pytest.raises(RuntimeError, match=r"has evidentia .*, and this process 99\.5\. Install the same version"):
        reduce_rows(sums_of, MadeRows(), 1.0)


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    monkeypatch.setattr(cluster, "LOOK_EVERY", 0.2)
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as nobody,
        Client(nobody),
        pytest.raises(RuntimeError, match=r"^There was no Dask worker for 1 seconds, so the pass was given up\."),
    ):
        reduce_rows(sums_of, MadeRows(), 1.0)


def test_tasks_that_another_program_cancels(client):
    results = map_handles(slow_if_even, MadeRows(40))
    next(results)
    client.restart(wait_for_workers=True)
    with pytest.raises(RuntimeError, match="restarted the workers"):
        list(results)


def test_a_fit_inside_a_task_waits_for_nobody(client):
    rows = MadeRows(5)
    assert same(client.submit(reduce_rows, sums_of, rows, 1.7).result(), sum_alone(rows, 1.7))
    found = client.submit(client_of_a_task, pure=False).result()
    assert found is None


def test_a_client_that_does_not_wait():
    class Asynchronous:
        asynchronous = True

    with pytest.raises(ValueError, match=r"asynchronous=False"):
        list(cluster.map_on_client(Asynchronous(), slow_if_even, MadeRows()))
