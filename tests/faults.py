"""Faults with real processes. Each function ends with what its name says or with an assertion; `tests/rows` calls them
once, and `ci/faults.py` often, at random moments."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path

import dask.config
import psutil
from distributed import Client, LocalCluster

from evidentia import EGMM
from evidentia.rows.cluster import PATIENCE
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import scan
from evidentia.solvers.descent import InterruptedFit
from made_rows import MadeRows, same, sum_alone, sums_of

HERE = Path(__file__).resolve().parent
LONG = 2 * PATIENCE  # seconds after which something hangs
POWERS = (1.7, 0.6)  # of the sums of two passes, one after the other


@contextmanager
def local_cluster(memory_limit="800MB", n_workers=2):
    """Workers that are processes of this machine."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=memory_limit, dashboard_address="127.0.0.1:0"
        ) as workers,
        Client(workers) as client,
    ):
        yield client


@contextmanager
def command_line_cluster(n_workers=2):
    """Scheduler and workers in processes of their own, which nothing but Dask's nannies brings back."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/scheduler.json"
        scheduler = _started(stack, "scheduler", "--port", "0", "--scheduler-file", file, "--no-dashboard")
        options = ["--nworkers", str(n_workers), "--nthreads", "1", "--memory-limit", "800MB", "--no-dashboard"]
        _started(stack, "worker", "--scheduler-file", file, "--local-directory", folder, *options)
        with Client(scheduler_file=file, timeout=LONG) as client:
            client.wait_for_workers(n_workers, timeout=LONG)
            yield client, scheduler


def _started(stack, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}


def passes_over(rows):
    return [reduce_rows(sums_of, rows, power) for power in POWERS]


def outcome_of(action):
    """What an action gives or raises; an assertion fails if it does neither."""
    outcome = []

    def run():
        try:
            outcome.append(action())
        except Exception as error:
            outcome.append(error)

    threading.Thread(target=run, daemon=True).start()
    end = time.monotonic() + LONG
    while not outcome and time.monotonic() < end:
        time.sleep(0.02)
    assert outcome, f"nothing came in {LONG:.0f} seconds"
    return outcome[0]


def until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, f"waited {LONG:.0f} seconds"
        time.sleep(0.05)


# -- processes that die ------------------------------------------------------------------------------------------------


def kill_a_worker(client, moment, rng=random):
    """SIGKILL in the middle of two passes: the same bits. Gives the number of parts that were read again."""
    until(lambda: len(pids := _pids(client)) == 2 and all(map(psutil.pid_exists, pids)))
    rows = MadeRows(24, 500, pause=0.08)
    expected = [sum_alone(MadeRows(24, 500), power) for power in POWERS]
    with tempfile.TemporaryDirectory() as diary:
        rows.diary = diary
        killer = threading.Thread(target=_kill_later, args=[rng.choice(_pids(client)), moment, diary])
        killer.start()
        found = outcome_of(lambda: passes_over(rows))
        killer.join()
        n_again = len(os.listdir(diary)) - len(POWERS) * len(rows.handles)
    assert isinstance(found, list), found
    assert all(same(one, other) for one, other in zip(found, expected, strict=True))
    return n_again


def _kill_later(pid, moment, diary):
    until(lambda: os.listdir(diary))
    time.sleep(moment)
    os.kill(pid, signal.SIGKILL)


def _pids(client):
    return [pid for pid in client.run(os.getpid, on_error="return").values() if isinstance(pid, int)]


def kill_the_scheduler(moment):
    """SIGKILL of the scheduler in the middle of a pass: gives the error."""
    with command_line_cluster(n_workers=1) as (_, scheduler):
        assert same(reduce_rows(sums_of, MadeRows(4), 1.7), sum_alone(MadeRows(4), 1.7))  # it works until then
        killer = threading.Timer(moment, scheduler.kill)
        killer.start()
        error = outcome_of(lambda: passes_over(MadeRows(40, pause=0.2)))
        killer.join()
    return error


def kill_the_client(moment):
    """SIGKILL of a fit together with its scheduler: its workers end by themselves. Gives the seconds that took."""
    with tempfile.TemporaryDirectory() as diary, _other_process("fit_for_long", diary) as process:
        until(lambda: len(os.listdir(diary)) > 4)
        workers = psutil.Process(process.pid).children(recursive=True)
        time.sleep(moment)
        process.kill()
        process.wait()
        begin = time.monotonic()
        until(lambda: not any(worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE for worker in workers))
        return time.monotonic() - begin


@contextmanager
def _other_process(function, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", f"import faults; faults.{function}{arguments!r}"],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


# -- memory and files --------------------------------------------------------------------------------------------------


def too_small_a_worker():
    """Workers with less memory than the software takes: gives the error, and how many parts were read."""
    unkilled = dask.config.set({"distributed.worker.memory.terminate": False})
    with tempfile.TemporaryDirectory() as diary, unkilled, local_cluster("200MB", n_workers=1):
        rows = MadeRows(40, 2000, diary=diary)
        error = outcome_of(lambda: scan(rows, mixing=True, missing=True, who="a fit"))
        return error, len(os.listdir(diary))


def greedy_rows():
    """Rows that take more memory than was expected: gives the error."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), local_cluster("500MB", n_workers=1):
        return outcome_of(lambda: passes_over(MadeRows(2, pause=2.0, greed=600_000_000)))


def lost_file(client):
    """A file that is gone between two passes: gives the error."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.bin"
        file.touch()
        rows = MadeRows(8, file=str(file))
        assert same(reduce_rows(sums_of, rows, 1.7), sum_alone(rows, 1.7))
        file.unlink()
        return outcome_of(lambda: reduce_rows(sums_of, rows, 1.7))


# -- interrupts --------------------------------------------------------------------------------------------------------


def fit_for_long(diary):
    """A fit whose passes over all rows take long; a note of every part that is read."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it: so would we
    with local_cluster(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = EGMM(2, model="VVV", init="k-means", n_init=1, tol=1e-13, random_state=0)
        model.fit(MadeRows(80, 1000, pause=0.5, diary=diary))
        print(any(issubclass(one.category, InterruptedFit) for one in caught), *model.cluster_centers_[:, 0])


def interrupt(moment, *, everybody):
    """SIGINT to a fit in its passes over all rows, and as a terminal does to its workers too: what was printed."""
    with tempfile.TemporaryDirectory() as diary, _other_process("fit_for_long", diary) as process:
        until(lambda: len(os.listdir(diary)) > 100 or process.poll() is not None)  # in the first of them
        time.sleep(moment)
        (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
        said, complaints = process.communicate(timeout=LONG)
        assert process.returncode == 0, complaints[-3000:]
        return said
