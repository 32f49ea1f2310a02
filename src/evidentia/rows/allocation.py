"""Memory of a Dask worker, held on to while a task runs.

Nannies tell the allocator (MALLOC_TRIM_THRESHOLD_) to give back to the system whatever is free above 64 kB, and with
that variable set every array above 128 kB is taken from the system anew. Work on chunks of rows, which takes and leaves
the same few megabytes over and over, then spends most time on that: a fit of EGMM to 2 million rows of 10 columns took
11 s of CPU on a worker, and 4 s with this. While a task runs the allocator keeps what is free; afterwards it gives it
back.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers of mallopt(3)
KEPT = 32 << 20  # bytes; the largest size that the GNU allocator takes from what it keeps
USUAL = 128 << 10  # from which size on it asks the system, unless it is told otherwise

_lock = threading.Lock()
_tasks = 0  # under way in this process; the first sets, the last restores


@contextmanager
def memory_is_kept() -> Iterator[None]:
    """Let the allocator keep what is free inside, where a nanny has set it to give back everything at once."""
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
