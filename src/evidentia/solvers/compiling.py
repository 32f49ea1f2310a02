"""Loops over numbers as machine code."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """``numba.njit``; what it makes is kept on disk where a folder can be written to, and made anew elsewhere.

    The code is kept beside the source, in the cache of the user or in ``NUMBA_CACHE_DIR``. An installation that
    belongs to another user, with a home that is read-only, has none of these, and numba then refuses to cache.
    """
    try:
        return cast(Function, njit(cache=True)(function))
    except RuntimeError:  # "no locator available"
        return cast(Function, njit(function))
