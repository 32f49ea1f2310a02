"""One pass over the rows of a source, wherever these are and whoever does the work.

A function of a piece of rows gives something that adds up (``a.plus(b)``). Pieces are added up within their handle, in
order, and then the handles, in order: the sum has the same bits on one thread, on many, or on a cluster of machines.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, reduce
from typing import Any, Protocol, Self, TypeVar

from evidentia.rows.source import MappedRows, RowSource
from evidentia.solvers.threads import n_threads

T = TypeVar("T")


class Additive(Protocol):
    """What a pass adds up."""

    def plus(self, other: Self) -> Self: ...


A = TypeVar("A", bound=Additive)


def add_up(function: Callable[..., A], rows: RowSource | MappedRows, *shared: Any) -> A:
    """``function(piece, *shared)`` of every piece, added up in the order of the rows."""
    found = (part for part in each_handle(partial(_sum_of, function, shared), rows) if part is not None)
    return reduce(lambda total, part: total.plus(part), found)


def _sum_of(function: Callable[..., Any], shared: tuple[Any, ...], rows: Any, handle: Any) -> Any:
    """The sum over the pieces of a handle; None when it has no rows."""
    total = None
    for piece in rows.read(handle):
        found = function(piece, *shared)
        total = found if total is None else total.plus(found)
    return total


def each_handle(work: Callable[[Any, Any], T], rows: RowSource | MappedRows) -> Iterator[T]:
    """``work(rows, handle)`` of every handle, in order; here, on threads, or on the active Dask client."""
    handles, here = rows.handles, partial(work, rows)
    source = rows.source if isinstance(rows, MappedRows) else rows
    if not source.in_memory and (client := active_client()) is not None:
        from evidentia.rows.cluster import on_client

        return on_client(client, work, rows)
    workers = min(n_threads(), len(handles))
    return map(here, handles) if workers < 2 else _on_threads(here, handles, workers)


def _on_threads(work: Callable[[Any], T], handles: Iterable[Any], workers: int) -> Iterator[T]:
    """Few results wait at a time, so that memory does not grow with the number of handles."""
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
    """The user's Dask client, if there is one; Dask is not imported for this."""
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
