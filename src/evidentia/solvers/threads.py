"""Threads of a fit: those that work on blocks of rows are counted by ``n_jobs``, linear algebra itself uses one.

Blocks do not depend on the number of threads, and none writes where another reads or writes: so a result has the same
bits for any number. Compiled loops let go of the interpreter (``nogil``); numba's own threads are not used, because two
fits at a time would end the process.

Our products are many and small, over blocks of rows that fit in the cache. Sharing each among cores gains nothing where
these are idle, and where another program keeps one busy, all wait for it: a fit took up to ten times as long.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")
Each = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]

_asked: ContextVar[int | None] = ContextVar("n_jobs", default=None)
_lock = threading.Lock()
_limits: list[Any] = []  # one for each fit that is under way, in any thread; the first holds the former setting


@lru_cache(maxsize=1)
def libraries(n_modules: int) -> ThreadpoolController:
    """Those loaded by now. Looking for them takes milliseconds, and only an import can bring more of them."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy's and SciPy's products use one core; the setting is the whole process's, so the last to leave restores."""
    with _lock:
        _limits.append(None if _limits else libraries(len(sys.modules)).limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits.pop()  # the first to come is the last to go
            if limit is not None:
                limit.restore_original_limits()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Compiled parts of other packages use one core when called from this thread."""
    with libraries(len(sys.modules)).limit(limits=1, user_api="openmp"):
        yield


def n_threads() -> int:
    """How many threads may work side by side: as many as the running fit was asked to use, else one for each core."""
    asked = _asked.get()
    return cpu_count() if asked is None else max(1, cpu_count() + 1 + asked if asked < 0 else asked)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """What runs inside may use ``n_jobs`` threads, as scikit-learn counts: -1 for all cores; None leaves it open."""
    token = _asked.set(n_jobs)
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def thread_pool(workers: int) -> Iterator[Each]:
    """``each(work, items)`` gives ``work(item)`` of all items, in their order, on so many threads of its own.

    What works on one of these uses no further threads. An interrupt waits for the items that are under way.

    Examples
    --------
    >>> with thread_pool(2) as each:
    ...     each(abs, [-3, 2, -1])
    [3, 2, 1]
    """
    with one_blas_thread():
        if workers < 2:
            yield lambda work, items: [work(item) for item in items]
            return
        with ThreadPoolExecutor(workers, initializer=_asked.set, initargs=(1,)) as pool:
            yield lambda work, items: list(pool.map(work, items))


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """Linear algebra inside uses one thread, and blocks of rows ``n_jobs``; None leaves it to the fit around."""
    with one_blas_thread(), threads(_asked.get() if n_jobs is None else n_jobs):
        yield
