"""One pass over the rows of a source, wherever these are and whoever does the work.

A function of a chunk of rows gives something that adds up (``a + b``). Chunks are added up within their handle, in
order, and then the handles, in order: the sum has the same bits on one thread, on many, or on a cluster of machines.
"""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from tqdm.auto import tqdm

from evidentia.rows import checkpoint, shared_pass
from evidentia.rows.source import RowSource
from evidentia.solvers.threads import n_threads

__all__ = ["reduce_rows", "show_progress"]

T = TypeVar("T")
_shown: ContextVar[Iterator[int] | None] = ContextVar("shown", default=None)
NO_ROWS = "The table has no row of a weight above zero, so there is nothing to find in it."


class Additive(Protocol):
    """What a kernel returns for a chunk: something that adds up."""

    def __add__(self, other: Any, /) -> Any: ...


A = TypeVar("A", bound=Additive)


def reduce_rows(kernel: Callable[..., A | None], rows: RowSource, *parameters: Any) -> A:
    """Return the sum of ``kernel(chunk, *parameters)`` over all chunks, in the order of the rows; None adds nothing.

    Of rows that are not in memory, one reading serves all fits that :func:`fit_together` runs, and a fit with a
    checkpoint keeps the sum, and takes it from there when it is begun again.
    """
    work = partial(_sum_of_handle, kernel, parameters)
    if rows.in_memory:
        total = _sum(map_here(partial(work, rows), rows.handles))
    elif (fit := shared_pass.current()) is not None:
        total = fit.ask(shared_pass.Request(kernel, rows, parameters))
    elif (kept := checkpoint.active()) is None:
        total = _sum(map_handles(work, rows))
    else:
        digest = kept.digest(kernel, parameters, rows.changes)
        total = kept.find(digest)
        if total is None and (total := _sum(map_handles(work, rows))) is not None:
            kept.keep(digest, total)
    if total is None:
        raise ValueError(NO_ROWS)
    return cast(A, total)


def _sum_of_handle(kernel: Callable[..., Any], parameters: tuple[Any, ...], rows: Any, handle: Any) -> Any:
    """Return the sum over the chunks of a handle; None when it has no rows."""
    return _sum(kernel(chunk, *parameters) for chunk in rows.read(handle))


def _sum(parts: Iterable[Any]) -> Any:
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def fit_together(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what the jobs return, or a :class:`~evidentia.rows.shared_pass.Failure`; each reading serves all."""
    return shared_pass.work_together(jobs, _pass_for_all)


def _pass_for_all(source: RowSource, requests: list[shared_pass.Request]) -> list[Any]:
    totals: list[Any] = [None] * len(requests)
    for found in map_handles(shared_pass.work_of(requests), source):
        totals = [shared_pass.add_part(total, part) for total, part in zip(totals, found)]
    return [shared_pass.Failure(ValueError(NO_ROWS)) if total is None else total for total in totals]


@contextmanager
def show_progress(asked: bool) -> Iterator[None]:
    """Show how far passes over rows that are not in memory are, and the time left."""
    token = _shown.set(itertools.count(1) if asked else None)
    try:
        yield
    finally:
        _shown.reset(token)


def map_handles(work: Callable[[Any, Any], T], rows: RowSource) -> Iterator[T]:
    """Return ``work(rows, handle)`` of every handle, in order; here, on threads, or on the active Dask client."""
    if not rows.in_memory and (client := active_client()) is not None:
        from evidentia.rows.cluster import map_on_client

        found = map_on_client(client, work, rows)
    else:
        found = map_here(partial(work, rows), rows.handles)
    number = None if rows.in_memory else _shown.get()
    if number is None:
        return found
    return iter(tqdm(found, desc=f"pass {next(number)}", total=len(rows.handles), unit="part", leave=False))


def map_here(work: Callable[[Any], T], handles: Sequence[Any]) -> Iterator[T]:
    """Return ``work(handle)`` of every handle, in order, on threads if there are several."""
    workers = min(n_threads(), len(handles)) if len(handles) > 1 else 1
    return map(work, handles) if workers < 2 else _map_on_threads(work, handles, workers)


def _map_on_threads(work: Callable[[Any], T], handles: Iterable[Any], workers: int) -> Iterator[T]:
    """Yield results in order; few wait at a time, so that memory does not grow with the number of handles."""
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[T]] = deque()
    try:
        for handle in handles:
            waiting.append(pool.submit(work, handle))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def active_client() -> Any:
    """Return the user's Dask client, if there is one; Dask is not imported for this."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
        return None  # a fit that is itself a task: waiting for others could be waiting for itself
    except ValueError:
        pass
    try:
        return distributed.default_client()
    except ValueError:
        return None
