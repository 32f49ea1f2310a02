"""Refuse, before the work starts, what would not fit in the memory of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

SHARE = 0.8
CONTAINER = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # versions 2 and 1 of cgroups


def _limits() -> Iterator[float]:
    """Bytes that each of the machine, the container and the address space allow, as far as they can be asked."""
    with suppress(AttributeError, ValueError, OSError):
        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in CONTAINER:
        with suppress(OSError, ValueError):
            yield float(Path(path).read_text().strip().replace("max", "inf"))
    try:
        import resource  # not on Windows
    except ImportError:
        return
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY:
        yield float(allowed)


def machine_memory() -> float:
    """Bytes that a process may use here, infinity where nothing can be asked.

    The least of physical memory, the limit of a container, and the limit on addresses.
    """
    return min(_limits(), default=np.inf)


def refuse_beyond_memory(needed: float, what: str, cure: str) -> None:
    """``MemoryError`` when ``needed`` bytes are more than four fifths of what this process may use.

    Examples
    --------
    >>> refuse_beyond_memory(1e18, "EVCLUS on 300,000,000 objects", "Set n_pairs (for example 100).")
    Traceback (most recent call last):
    ...
    MemoryError: EVCLUS on 300,000,000 objects needs about 931322574.6 GiB; there are ... GiB here. Set n_pairs ...
    """
    there = machine_memory()
    if needed > SHARE * there:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.1f} GiB; there are {there / 2**30:.1f} GiB here. {cure}"
        )
