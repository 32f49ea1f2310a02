"""Ask the memory for numbers before they are needed, so that they come while others are worked on.

Processors guess what is read next where one line of memory follows another for long. Our blocks are many short lines
read side by side: in a pass over rows in memory the core waited for a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from evidentia.solvers.compiling import Compiled


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

    if config.DISABLE_JIT:
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


def _nothing(table: np.ndarray, at: int) -> None:
    """Ask for the number at place ``at`` of a contiguous array, and those around it that come with it."""


read_ahead: Callable[[np.ndarray, int], None] = _Instruction(_nothing, {})
