"""Loops over numbers as machine code, made when they are first run; without numba they are run as they are.

While such a loop runs, Python hears no interrupt. Those that can be long are given their work in parts, of about
:data:`MOMENT` each.
"""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from importlib.util import find_spec
from typing import Any, TypeVar, overload

import numpy as np

from evidentia._warnings import warn_user

MOMENT = 1e8  # simple steps that a loop takes at once: some tenths of a second
SLOW = (
    "Without numba the loops of evidentia run as Python, often a hundred times slower: pip install 'evidentia[fast]'."
)
Function = TypeVar("Function", bound=Callable[..., Any])


class Compiled:
    """A function that numba compiles at its first call, so that numba is loaded when it is needed and not before."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self.function, self.options = function, options
        self.made: Callable[..., Any] | None = None
        update_wrapper(self, function)

    def __call__(self, *values: Any) -> Any:
        return (self.made or self.make())(*values)

    def make(self) -> Callable[..., Any]:
        """What is called; compiled functions among the names it uses are made first, as numba has to know them."""
        if self.made is None:
            if find_spec("numba") is None:
                warn_user(SLOW, UserWarning)
                self.made = _python_code(self.function)
            else:
                known = self.function.__globals__
                for name in self.function.__code__.co_names:
                    if isinstance(known.get(name), Compiled):
                        known[name] = known[name].make()
                self.made = _machine_code(self.function, self.options)
        return self.made


# What is divided by zero is infinite or NaN, without an error or a warning: here the two ways are the same.


def _python_code(function: Callable[..., Any]) -> Callable[..., Any]:
    return np.errstate(all="ignore")(function)


def _machine_code(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    from numba import config, njit

    if vars(config)["DISABLE_JIT"]:  # made when numba is loaded, which type checkers do not see
        return _python_code(function)
    options = {"error_model": "numpy", **options}
    made: Callable[..., Any]
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:  # "no locator available"
        made = njit(**options)(function)
    return made


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
        return lambda given: Compiled(given, options)
    return Compiled(function, options)


def at_a_time(work: float) -> int:
    """How many items, of so many simple steps each, a compiled loop may be given at once.

    Examples
    --------
    >>> at_a_time(1e5), at_a_time(1e12)
    (1000, 1)
    """
    return max(1, int(MOMENT / max(work, 1.0)))


def parts(n_items: int, work: float) -> Iterator[slice]:
    """Items, of so many simple steps each, as slices that a compiled loop may be given one after the other.

    Examples
    --------
    >>> list(parts(2500, 1e5))
    [slice(0, 1000, None), slice(1000, 2000, None), slice(2000, 2500, None)]
    """
    share = at_a_time(work)
    return (slice(start, min(start + share, n_items)) for start in range(0, n_items, share))


class _Instruction(Compiled):
    """Not a function that is compiled, but one instruction; as Python it is nothing."""

    def make(self) -> Callable[..., Any]:
        if self.made is None:
            self.made = self.function if find_spec("numba") is None else _instruction(self.function)
        return self.made


def _instruction(nothing: Callable[..., Any]) -> Callable[..., Any]:
    from llvmlite import ir
    from numba import config, types
    from numba.core.cgutils import voidptr_t
    from numba.extending import intrinsic

    if vars(config)["DISABLE_JIT"]:
        return nothing

    def ask(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, given[0])
        place = builder.bitcast(builder.gep(table.data, [given[1]]), voidptr_t)
        number = ir.IntType(32)
        prefetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [voidptr_t], ir.FunctionType(ir.VoidType(), [voidptr_t, number, number, number])
        )
        builder.call(prefetch, [place, number(0), number(1), number(1)])  # to read, not at once, as data
        return context.get_dummy_value()

    @intrinsic
    def read_ahead(typing: Any, table: Any, at: Any) -> Any:
        return types.void(table, types.intp), ask

    return read_ahead


def _ask_nothing(table: Any, at: int) -> None:
    """Ask the memory for the number at place ``at`` of a contiguous array, so that it comes while others are worked on.

    Processors guess what is read next where one line of memory follows another for long. Blocks of rows are many short
    lines read side by side: in a pass over rows in memory the core waited for a third of the time.
    """


read_ahead: Callable[[Any, int], None] = _Instruction(_ask_nothing, {})
