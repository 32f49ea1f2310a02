"""Docstrings put together from parts, so that what several functions or classes share is written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
FIRST = ("Parameters", "Attributes", "Returns", "See Also")  # the others follow as they were written


def shared_docs(parameters: Mapping[str, str], **sections: str) -> Callable[[F], F]:
    """Add to a docstring the parameters of a function that it has in common with others, and whole sections.

    Examples
    --------
    >>> @shared_docs({"seed": "int\\nSeed."}, Returns="float")
    ... def draw(seed, low=0):
    ...     '''Draw a number.
    ...
    ...     Parameters
    ...     ----------
    ...     low : int
    ...     '''
    >>> print(draw.__doc__)
    Draw a number.
    <BLANKLINE>
    Parameters
    ----------
    seed : int
        Seed.
    low : int
    <BLANKLINE>
    Returns
    -------
    float
    """

    def complete(function: F) -> F:
        head, found = split_sections(function.__doc__)
        written = re.split(r"\n(?=\S)", found.get("Parameters", ""))[2:]
        entries = {text.split(" :")[0].split(",")[0].strip("*"): text for text in written}
        entries |= {name.strip("*"): entry(name, doc) for name, doc in parameters.items()}
        ordered = [entries[name] for name in inspect.signature(function).parameters if name in entries]
        shared = {name: section(name, [text]) for name, text in sections.items()}
        if ordered:
            found["Parameters"] = section("Parameters", ordered)
        function.__doc__ = join_sections(head, {**shared, **found})
        return function

    return complete


def split_sections(text: str | None) -> tuple[str, dict[str, str]]:
    """The words before the first section of a numpydoc text, and the sections, heading included, by their names."""
    head, *parts = re.split(r"\n\n(?=[A-Z][A-Za-z ]+\n-{3,}(?:\n|$))", inspect.cleandoc(text or ""))
    return head, {part.split("\n", 1)[0]: part for part in parts}


def join_sections(head: str, sections: Mapping[str, str]) -> str:
    names = sorted(sections, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return "\n\n".join([head, *(sections[name] for name in names)])


def section(name: str, entries: list[str]) -> str:
    return "\n".join([name, "-" * len(name), *entries])


def entry(name: str, doc: str) -> str:
    """A type in the first line and an explanation below it, as numpydoc writes them under a name."""
    kind, *lines = inspect.cleandoc(doc).split("\n")
    return "\n".join([f"{name} : {kind}", *(f"    {line}" if line else "" for line in lines)]).rstrip()
