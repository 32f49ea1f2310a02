"""Docstrings that share their text: what several methods have in common is described in one place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])
MARK = re.compile(r"%\((\w+)\)s")


def fill_docs(texts: Mapping[str, str]) -> Callable[[Class], Class]:
    """Decorator of a class: a line ``%(name)s`` of its docstring becomes the text of that name.

    Examples
    --------
    >>> @fill_docs({"seed": "random_state : int"})
    ... class Method:
    ...     '''One method.
    ...
    ...     %(seed)s
    ...     '''
    >>> Method.__doc__
    'One method.\\n\\nrandom_state : int'
    """

    def fill(cls: Class) -> Class:
        lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
        marks = [MARK.fullmatch(line.strip()) for line in lines]
        cls.__doc__ = "\n".join(texts[mark[1]] if mark else line for mark, line in zip(marks, lines))
        return cls

    return fill
