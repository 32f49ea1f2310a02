"""Objects made from JSON by their type annotations, so that a file that is damaged is an error that says where."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def parse(kind: Any, value: Any, where: str) -> Any:
    """Return what a type annotation says, made from JSON.

    A tuple is made from a list, a dataclass from an object whose keys are its fields, a named tuple from a list.

    Parameters
    ----------
    kind : type or annotation
    value : JSON, as ``json.loads`` gives it
    where : str
        Words for the place of the value in its file.

    Raises
    ------
    ValueError
        Whose message begins with the place of what is wrong.

    Examples
    --------
    >>> parse(tuple[int, ...] | None, [1, 2], "at")
    (1, 2)
    >>> parse(tuple[int, ...] | None, [1, "2"], "at")
    Traceback (most recent call last):
    ...
    ValueError: at: expected a list of a whole number, or null. Got [1, '2'].
    """
    made, inner = get_origin(kind) or kind, get_args(kind)
    if made is Any:
        return value
    if made in (Union, UnionType):
        return _parse_any(inner, value, where)
    if made is Literal and value in inner:
        return value
    if made is tuple and isinstance(value, list) and (inner[-1] is ... or len(inner) == len(value)):
        kinds = (inner[0],) * len(value) if inner[-1] is ... else inner
        return tuple(parse(one, item, f"{where}[{at}]") for at, (one, item) in enumerate(zip(kinds, value)))
    if made is Mapping and isinstance(value, dict):
        return {key: parse(inner[1], item, f"{where}.{key}") for key, item in value.items()}
    if is_dataclass(made) and isinstance(value, dict):
        return make(made, get_type_hints(made), value, where)
    if (
        isinstance(made, type)
        and hasattr(made, "_fields")
        and isinstance(value, list)
        and len(value) == len(made._fields)
    ):
        return make(made, get_type_hints(made), dict(zip(made._fields, value)), where)
    if made is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if made is not float and made in WORDS and type(value) is made:
        return value
    raise _unexpected(kind, value, where)


def make(kind: Any, fields: Mapping[str, Any], given: Mapping[str, Any], where: str) -> Any:
    """Return an object of a class, made from values by name; ``fields`` are their annotations, all of them needed."""
    if missing := [name for name in fields if name not in given]:
        raise ValueError(f"{where} lacks {missing[0]!r}.")
    if strange := [name for name in given if name not in fields]:
        raise ValueError(f"{where} has {strange[0]!r}, which is not known.")
    parsed = {name: parse(one, given[name], f"{where}.{name}") for name, one in fields.items()}
    try:
        return kind(**parsed)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _parse_any(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    for kind in kinds:
        try:
            return parse(kind, value, where)
        except ValueError:
            continue
    raise _unexpected(Union[kinds], value, where)  # noqa: UP007 - made while the program runs


def _unexpected(kind: Any, value: Any, where: str) -> ValueError:
    return ValueError(f"{where}: expected {_describe(kind)}. Got {reprlib.repr(value)}.")


def _describe(kind: Any) -> str:
    made, inner = get_origin(kind) or kind, get_args(kind)
    if made in (Union, UnionType):
        return ", or ".join(map(_describe, inner))
    if made is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if made is tuple:
        return f"a list of {_describe(inner[0])}" if inner[-1] is ... else f"a list of {len(inner)}"
    if made is Mapping or is_dataclass(made):
        return "an object"
    return WORDS.get(made, "a list")
