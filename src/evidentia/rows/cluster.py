"""A pass on a cluster of machines: the handles of a source in groups, each group a task of the user's Dask client.

A task holds the work and a few handles, and nothing else: no task is tied to a worker, none needs what another one
left behind, and each can be computed again. What a lost worker had to do is therefore done by the others: Dask
schedules and repeats the tasks. Results come handle by handle and are added in the order of the handles, not as they
are completed, so that neither the grouping nor the number of workers changes a bit. What remains to be done here are
the groups, sentences for what goes wrong, and a comparison of the memory of workers with what a chunk needs: a worker
that has too little pauses for ever.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import dask.config
import distributed
from dask.delayed import delayed
from distributed.scheduler import KilledWorker

from evidentia.rows.dask import preloaded
from evidentia.rows.source import RowSource
from evidentia.solvers.threads import one_blas_thread

T = TypeVar("T")

TASKS = (
    4  # a pass has so many for each thread: enough to share the work evenly, few enough to cost the scheduler nothing
)
RETRIES = 2  # of a task whose rows could not be read: a network stumbles
PATIENCE = 120.0  # seconds without any worker that works, after which a pass is given up
LOOK_EVERY = 2.0  # seconds between looks at the workers while a result is waited for
PAUSE = 0.8  # share of its memory above which a worker begins no task, unless the user has set another

_known: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # workers of a client that have this package


def map_on_client(client: Any, work: Callable[[Any, Any], T], rows: RowSource) -> Iterator[T]:
    """Yield ``work(rows, handle)`` of every handle, in order, computed by the workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    work : callable
    rows : RowSource or MappedRows
    """
    if client.asynchronous:
        raise ValueError(
            "The active Dask client is asynchronous, and a fit waits for it: use Client(asynchronous=False)."
        )
    if not rows.handles:
        return
    n_threads = sum(worker.n_threads for worker in _ready_workers(client, work, rows.working_bytes))
    futures = deque(_submit(client, work, rows, _groups(rows.handles, TASKS * n_threads)))
    try:
        while futures:
            yield from _outcome(client, futures[0])
            futures.popleft().release()
    finally:
        if futures and client.status == "running":
            client.cancel(list(futures), force=True)


def _groups(handles: Sequence[Any], n_groups: int) -> list[Sequence[Any]]:
    """Return neighbors together, in groups whose sizes differ by one at most."""
    n_groups = min(len(handles), n_groups)
    cuts = [len(handles) * group // n_groups for group in range(n_groups + 1)]
    return [handles[start:end] for start, end in pairwise(cuts)]


# -- tasks -------------------------------------------------------------------------------------------------------------


def _submit(client: Any, work: Callable[[Any, Any], Any], rows: RowSource, groups: list[Sequence[Any]]) -> list[Any]:
    rows_only = rows.without_handles()
    if rows.block(groups[0][0]) is None:
        return [client.submit(work_on_group, work, rows_only, group, pure=False, retries=RETRIES) for group in groups]
    # Blocks of a Dask collection are computed on the way, and each is gone as soon as the work on it is done.
    one, several = delayed(work_on_block, pure=False), delayed(gather_results, pure=False)
    found = [several(*(one(work, rows_only, handle, rows.block(handle)) for handle in group)) for group in groups]
    return client.compute(found, retries=RETRIES)


def work_on_group(work: Callable[[Any, Any], Any], rows: Any, handles: Sequence[Any]) -> list[Any]:
    """Return the results of some handles, up to the first whose rows are refused: its error comes last."""
    found: list[Any] = []
    with one_blas_thread(), memory_is_kept():
        for handle in handles:
            try:
                found.append(work(rows, handle))
            except ValueError as error:
                return [*found, error]  # it would be the same if the work were done again
    return found


def work_on_block(work: Callable[[Any, Any], Any], rows: Any, handle: Any, block: Any) -> Any:
    """Return the result of a block that was computed just now."""
    with preloaded(block):
        return work_on_group(work, rows, [handle])[0]


def gather_results(*results: Any) -> list[Any]:
    return list(results)


def _outcome(client: Any, future: Any) -> Iterator[Any]:
    """Yield the results of a task, handle by handle; raise an error that says what went wrong."""
    _wait(client, future)
    try:
        found = future.result()
    except KilledWorker as error:
        raise MemoryError(
            f"{error.allowed_failures + 1} Dask workers died one after the other while they worked on the same rows, "
            f"the last one at {error.last_worker.address}; most often they had too little memory. Give workers more "
            "(memory_limit), or cut the rows into smaller parts; their logs say more."
        ) from error
    except distributed.CancelledError as error:
        raise _lost_error(client) from error
    except ModuleNotFoundError as error:
        raise _import_error(error, "a worker") from error
    for one in found:
        if isinstance(one, ValueError):
            raise one
        yield one


def _wait(client: Any, future: Any) -> None:
    """Wait until a task has ended; raise an error when no worker could work on it."""
    idle_since = None
    while True:
        try:
            distributed.wait([future], timeout=LOOK_EVERY)
            return
        except TimeoutError:
            pass
        except distributed.CancelledError as error:
            raise _lost_error(client) from error
        workers = _workers(client)
        if any(worker.status == "running" for worker in workers):
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since > PATIENCE:
            raise _too_small(workers[0], 0) if workers else _no_worker_error()


def _no_worker_error() -> Exception:
    return RuntimeError(
        f"There was no Dask worker for {PATIENCE:.0f} seconds, so the pass was given up. Start workers, wait for the "
        "first (client.wait_for_workers(1)), and fit again."
    )


def _lost_error(client: Any) -> Exception:
    if client.status == "running":
        return RuntimeError("Another program cancelled the tasks of this pass, or restarted the workers. Fit again.")
    return ConnectionError(
        "The connection to the Dask scheduler was lost in the middle of a pass: it ended, or the network did. Start it "
        "again, connect a new client, and fit again."
    )


def _import_error(error: Exception, worker: str) -> Exception:
    name = getattr(error, "name", None) or "evidentia"
    return ModuleNotFoundError(
        f"{worker} of the Dask cluster cannot import {name}. Install the same packages there as here "
        "(pip install 'evidentia[dask]'), and start it again.",
        name=name,
    )


# -- workers -----------------------------------------------------------------------------------------------------------


class Worker(NamedTuple):
    """A worker process as it last reported itself."""

    address: str
    status: str
    n_threads: int
    limit: int  # bytes; 0: none
    used: int  # bytes, without what could be moved to disk

    @property
    def pause(self) -> float:
        """Return the bytes above which it begins no task."""
        return self.limit * (dask.config.get("distributed.worker.memory.pause", PAUSE) or 1.0)


def _workers(client: Any) -> list[Worker]:
    try:
        told = client.scheduler_info(n_workers=-1)["workers"]
    except (OSError, distributed.CancelledError) as error:
        raise _lost_error(client) from error
    return [
        Worker(
            address,
            one["status"],
            one["nthreads"],
            one["memory_limit"] or 0,
            one["metrics"]["memory"] - one["metrics"].get("managed_bytes", 0),
        )
        for address, one in told.items()
    ]


def _ready_workers(client: Any, work: Any, need: int) -> list[Worker]:
    """Return the workers; raise an error if one lacks this package, or memory for a chunk in each thread."""
    workers = _workers(client)
    if not workers:  # some clusters start workers when there is something to do
        _wait(client, client.submit(len, (), pure=False))
        workers = _workers(client)
    known = _known.setdefault(client, set())
    if new := [worker.address for worker in workers if worker.address not in known]:
        used = _used_after_imports(client, work, new)
        workers = [worker._replace(used=used.get(worker.address, worker.used)) for worker in workers]
    for worker in workers:
        if worker.limit and worker.pause - worker.used < need * worker.n_threads:
            raise _too_small(worker, need)
    known.update(new)
    return workers


def _used_after_imports(client: Any, work: Any, addresses: list[str]) -> dict[str, int]:
    """Return the bytes that workers hold once they have loaded what the work needs; this call loads it."""
    from evidentia import __version__

    for address, version in client.run(
        resolve_name, "evidentia:__version__", workers=addresses, on_error="return"
    ).items():
        if isinstance(version, ImportError):
            raise _import_error(version, f"Worker {address}")
        if isinstance(version, str) and version != __version__:
            raise RuntimeError(
                f"Worker {address} of the Dask cluster has evidentia {version}, and this process {__version__}. "
                "Install the same version."
            )
    told = client.run(memory_in_use, work, workers=addresses, on_error="return")
    for address, bytes_used in told.items():
        if isinstance(bytes_used, ImportError):
            raise _import_error(bytes_used, f"Worker {address}")
    return {address: found for address, found in told.items() if isinstance(found, int)}


def memory_in_use(work: Any, dask_worker: Any) -> int:
    """Return the bytes of the process of a worker; the work is an argument so that its modules are loaded."""
    return int(dask_worker.monitor.get_process_memory())


def _too_small(worker: Worker, need: int) -> Exception:
    mb = 1e6
    wanted = (worker.used + need * worker.n_threads) / (worker.pause / worker.limit) if worker.limit else 0
    return MemoryError(
        f"Dask worker {worker.address} has a memory limit of {worker.limit / mb:.0f} MB and begins no task above "
        f"{worker.pause / mb:.0f} MB, but its software alone takes {worker.used / mb:.0f} MB"
        + (f", and a chunk of rows {need / mb:.0f} MB in each of its {worker.n_threads} threads" if need else "")
        + f". Give it at least {wanted / mb * 1.05:.0f} MB (memory_limit), or fewer threads."
    )


# -- memory of a worker ------------------------------------------------------------------------------------------------


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers of mallopt(3)
KEPT = 32 << 20  # bytes; the largest size that the GNU allocator takes from what it keeps
USUAL = 128 << 10  # from which size on it asks the system, unless it is told otherwise

_lock = threading.Lock()
_tasks = 0  # under way in this process; the first sets, the last restores


@contextmanager
def memory_is_kept() -> Iterator[None]:
    """Let the allocator keep what is free inside, where a nanny has set it to give back everything at once.

    Nannies tell the allocator (MALLOC_TRIM_THRESHOLD_) to give back to the system whatever is free above 64 kB, and
    with that variable set every array above 128 kB is taken from the system anew. Work on chunks of rows, which takes
    and leaves the same few megabytes over and over, then spends most time on that: a fit of EGMM to 2 million rows of
    10 columns took 11 s of CPU on a worker, and 4 s with this. Afterwards the allocator gives back what is free.
    """
    global _tasks
    library = _allocator()
    if library is None:
        yield
        return
    with _lock:
        _tasks += 1
        if _tasks == 1:
            _set(library, 4 * KEPT, KEPT)
    try:
        yield
    finally:
        with _lock:
            _tasks -= 1
            if not _tasks:
                trim, mmap = os.environ["MALLOC_TRIM_THRESHOLD_"], os.environ.get("MALLOC_MMAP_THRESHOLD_", USUAL)
                _set(library, int(trim), int(mmap))
                library.malloc_trim(0)


def _set(library: Any, trim: int, mmap: int) -> None:
    library.mallopt(TRIM_THRESHOLD, trim)
    library.mallopt(MMAP_THRESHOLD, mmap)


def _allocator() -> Any:
    """Return the GNU C library, if this process uses it and it was told when to give memory back."""
    if not os.environ.get("MALLOC_TRIM_THRESHOLD_", "").isdigit():
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
