"""Memory: rows in blocks that stay in the processor's cache, and a refusal of what the machine has no room for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

__all__ = ["refuse_beyond_memory"]

SHARE = 0.8
BLOCK_BYTES = 1 << 20
GROUPS, GROUPS_OF_PROCESS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def row_blocks(n_rows: int, width: int, n_bytes: int | None = None) -> Iterator[slice]:
    """Slices of rows such that a block of ``width`` doubles a row fills about ``n_bytes``, a megabyte.

    Examples
    --------
    >>> [block.stop - block.start for block in row_blocks(40_000, 8)]
    [16384, 16384, 7232]
    """
    size = max(16, (n_bytes or BLOCK_BYTES) // (8 * max(width, 1)))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def _limits_of_groups() -> Iterator[Path]:
    """Files with the limit of the process's container or job, and of all that these are part of.

    Of a line ``number:controllers:/path``, controllers are empty in version 2 of control groups.
    """
    with suppress(OSError):
        for line in GROUPS_OF_PROCESS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                top = GROUPS / controllers
                inside = top / path.strip("/")
                name = "memory.limit_in_bytes" if controllers else "memory.max"
                yield from (folder / name for folder in (inside, *inside.parents) if folder.is_relative_to(top))


def _limits() -> Iterator[float]:
    """Bytes that each of the machine, the container and the address space allow, as far as they can be asked."""
    with suppress(AttributeError, ValueError, OSError):
        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _limits_of_groups():
        with suppress(OSError, ValueError):
            yield float(path.read_text().strip().replace("max", "inf"))
    try:
        import resource  # not on Windows
    except ImportError:
        return
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed != resource.RLIM_INFINITY:
        yield float(allowed)


def machine_memory() -> float:
    """Bytes that a process may use here, infinity where nothing can be asked.

    The least of physical memory, the limits of a container or a job on a cluster, and the limit on addresses.
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
        kept = ", of which a fifth is for all else" if needed <= there else ""
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.1f} GiB; there are {there / 2**30:.1f} GiB here{kept}. {cure}"
        )
