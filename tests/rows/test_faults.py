"""What may go wrong on a cluster, with real processes: nothing lost, nothing wrong, nothing that waits for ever.

`ci/faults.py` does the same twenty times, at random moments.
"""

import numpy as np
import pytest

import faults


@pytest.fixture(scope="module")
def client():
    with faults.command_line_cluster() as (one, _):
        yield one


@pytest.mark.parametrize("moment", [0.2, 0.9])
def test_a_worker_that_is_killed_changes_no_bit(client, moment):
    assert faults.kill_a_worker(client, moment) > 0  # some parts had to be read again


def test_a_file_that_is_gone_between_two_passes(client):
    error = faults.lost_file(client)
    assert isinstance(error, FileNotFoundError)
    assert str(error).endswith("rows.bin was there when the rows were first read, and is gone.")


def test_a_scheduler_that_is_killed_ends_the_fit_with_an_error():
    error = faults.kill_the_scheduler(1.5)
    assert isinstance(error, ConnectionError)
    assert "The connection to the Dask scheduler was lost in the middle of a pass" in str(error)


def test_workers_that_are_too_small_are_not_begun_with():
    error, n_read = faults.too_small_a_worker()
    assert isinstance(error, MemoryError)
    assert "has a memory limit of 200 MB and begins no task above 160 MB" in str(error)
    assert n_read == 0


def test_rows_that_kill_one_worker_after_the_other():
    error = faults.greedy_rows()
    assert isinstance(error, MemoryError)
    assert str(error).startswith("2 Dask workers died one after the other while they worked on the same rows")


def test_an_interrupt_keeps_the_best_so_far():
    interrupted, *centers = faults.interrupt(0.3, everybody=True).split()
    assert interrupted == "True"
    np.testing.assert_allclose(sorted(map(float, centers)), [0, 8], atol=0.1)
