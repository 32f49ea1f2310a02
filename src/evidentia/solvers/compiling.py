"""Loops over numbers as machine code."""

from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def compiled(function: Function) -> Function: ...
@overload
def compiled(**options: Any) -> Callable[[Function], Function]: ...
def compiled(function: Any = None, **options: Any) -> Any:
    """``numba.njit``; what it makes is kept on disk where a folder can be written to, and made anew elsewhere.

    The code is kept beside the source, in the cache of the user or in ``NUMBA_CACHE_DIR``. An installation that
    belongs to another user, with a home that is read-only, has none of these, and numba then refuses to cache.
    With options alone, ``@compiled(nogil=True)``, a decorator.
    """
    if function is None:
        return lambda given: compiled(given, **options)
    try:
        return cast(Callable[..., Any], njit(cache=True, **options)(function))
    except RuntimeError:  # "no locator available"
        return cast(Callable[..., Any], njit(**options)(function))
