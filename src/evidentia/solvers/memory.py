"""Refuse, before the work starts, what would not fit in the memory of this machine."""

from __future__ import annotations

import os

import numpy as np

SHARE = 0.8


def machine_memory() -> float:
    """Bytes of memory of this machine, infinity where it cannot be asked."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return np.inf


def refuse_beyond_memory(needed: float, what: str, cure: str) -> None:
    """``MemoryError`` when ``needed`` bytes are more than four fifths of the machine's memory.

    Examples
    --------
    >>> refuse_beyond_memory(1e18, "EVCLUS on 300,000,000 objects", "Set n_pairs (for example 100).")
    Traceback (most recent call last):
    ...
    MemoryError: EVCLUS on 300,000,000 objects needs about 931322574.6 GiB; this machine has ... GiB. Set n_pairs ...
    """
    there = machine_memory()
    if needed > SHARE * there:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.1f} GiB; this machine has {there / 2**30:.1f} GiB. {cure}"
        )
