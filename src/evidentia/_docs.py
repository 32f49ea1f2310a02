"""Docstrings that share their text: what several methods have in common is described in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])
MARK = re.compile(r"%\((\w+)\)s")

# Parameters and results of every method that descends on a criterion from several starts.
DESCENT = {
    "n_init": """
        n_init : int
            Number of starts; the one that ends with the lowest criterion is kept.
        """,
    "limits": """
        max_iter : int
        tol : float
            A descent ends when the criterion falls by less than this share of itself.
        random_state : int, RandomState or None
        verbose : int
            1 shows progress.
        """,
    "trace": """
        focal_sets_ : FocalSets
        rho_ : float or None
        criterion_ : float
        criterion_trace_ : ndarray
            Criterion after each iteration; it never rises.
        start_criteria_ : ndarray
            Final criterion of every start.
        n_iter_ : int
        """,
}


def fill(text: str, texts: Mapping[str, str]) -> str:
    """The text without its indentation, each line ``%(name)s`` replaced by the text of that name, filled in turn."""
    lines = cleandoc(text).splitlines()
    marks = [MARK.fullmatch(line.strip()) for line in lines]
    return "\n".join(fill(texts[mark[1]], texts) if mark else line for mark, line in zip(marks, lines))


def fill_docs(texts: Mapping[str, str]) -> Callable[[Class], Class]:
    """Decorator of a class that fills in its docstring.

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

    def decorate(cls: Class) -> Class:
        cls.__doc__ = fill(cls.__doc__ or "", texts)
        return cls

    return decorate
