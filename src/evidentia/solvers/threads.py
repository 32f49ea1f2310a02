"""One thread for linear algebra while a model is fitted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@lru_cache(maxsize=1)
def libraries(n_modules: int) -> ThreadpoolController:
    """Those loaded by now. Looking for them takes milliseconds, and only an import can bring more of them."""
    return ThreadpoolController()


def one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, during which NumPy's and SciPy's products use one core.

    Our products are many and small, over blocks of rows that fit in the cache. Sharing each among cores gains nothing
    where these are idle, and where another program keeps one busy, all wait for it: a fit took up to ten times as long.
    """

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
