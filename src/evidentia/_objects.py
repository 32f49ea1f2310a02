"""Who the objects are: what counts as the name of an object, and how two things get their objects into one order.

An index of pandas names the rows, unless it is 0, 1, ..., n-1 in this order: then rows have numbers only. Names are
compared as text.

- Two things with names are joined by their names. Both must have the same names, each once; names that are the same in
  the same order are taken as they are, even if some occur more than once.
- Two things without names have their objects in the same order.
- Names against no names are refused, because nothing shows whether the order is the same. Names that are the numbers
  0 to n-1 in this order contradict nothing.
- Arrays and lists have no place for names: they are taken in the order of what they are given with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

Names = tuple[str, ...]
SHOWN = 5
BOTH = ("the first partition", "the second partition")


def row_names(given: Any) -> Names | None:
    """Return the names of the objects of a partition, or of the rows of a table or Series; None if they have none.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 60, 45]})
    >>> row_names(table), row_names(table.iloc[1:]), row_names(table.set_axis([0, 1, 2]))
    (None, ('1', '2'), None)
    """
    if hasattr(given, "object_names"):
        return given.object_names
    if not _has_index(given):
        return None
    numbered = getattr(given.index, "dtype", np.dtype(object)).kind in "iu"
    if numbered and np.array_equal(np.asarray(given.index), np.arange(len(given.index))):
        return None
    return tuple(map(str, given.index))


def can_have_names(given: Any) -> bool:
    """Whether there is a place for names: in a partition or an index, but not in an array."""
    return hasattr(given, "object_names") or _has_index(given)


def match_names(ours: Names | None, theirs: Names | None, called: Sequence[str] = BOTH) -> np.ndarray | None:
    """Return where each of our objects is among theirs, None if both are in the same order.

    Parameters
    ----------
    ours, theirs : tuple of str or None
        Names of the objects, None if there is a place for names that is empty.
    called : (str, str)
        What both are called in messages.

    Examples
    --------
    >>> match_names(("a", "b", "c"), ("c", "a", "b"))
    array([1, 2, 0])
    """
    if ours == theirs:
        return None
    if ours is None or theirs is None:
        _check_unnamed(ours, theirs, called)
        return None
    place = {name: i for i, name in enumerate(theirs)}
    if alone := [_only(*pair) for pair in ((called[0], ours, place), (called[1], theirs, set(ours))) if _only(*pair)]:
        raise ValueError(
            f"{_sentence(called[0])} and {called[1]} must have the same objects, but {' and '.join(alone)}. Give both "
            "the same objects, in any order."
        )
    for name, names in zip(called, (ours, theirs)):
        if len(set(names)) < len(names):
            twice, count = Counter(names).most_common(1)[0]
            raise ValueError(
                f"{_sentence(called[0])} and {called[1]} have their objects in different orders, and these cannot be "
                f"matched: {count} objects of {name} have the name {twice!r}. Give every object a name of its own."
            )
    return np.array([place[name] for name in ours])


def match_objects(first: Any, second: Any, called: Sequence[str] = BOTH) -> np.ndarray | None:
    """Return where each object of the first is in the second, None if both are in the same order.

    The only place that decides whether two partitions, or a partition and a table, labels or weights, are of the same
    objects. How many there are is left to the caller.

    Parameters
    ----------
    first, second : partition, table, labels, array
    called : (str, str)
        What both are called in messages.
    """
    if not (can_have_names(first) and can_have_names(second)):
        return None
    return match_names(row_names(first), row_names(second), called)


def align_objects(first: Any, second: Any, called: Sequence[str] = BOTH, *, square: bool = False) -> Any:
    """Return the second with its objects in the order of the first; ``square``: those in its columns too."""
    at = match_objects(first, second, called)
    if at is None:
        return second
    if square:
        return second.iloc[at, at]
    return second.iloc[at] if hasattr(second, "iloc") else second[at]


def align_all(many: Sequence[Any], called: Sequence[str] | None = None) -> list[Any]:
    """Return all with their objects in the order of the first that has a place for names."""
    called = [f"partition {i}" for i in range(len(many))] if called is None else called
    leader = next((i for i, one in enumerate(many) if can_have_names(one)), 0)
    return [align_objects(many[leader], one, (called[leader], name)) for one, name in zip(many, called)]


def _has_index(X: Any) -> bool:
    index = getattr(X, "index", None)
    return index is not None and not callable(index) and hasattr(index, "__len__")


def _check_unnamed(ours: Names | None, theirs: Names | None, called: Sequence[str]) -> None:
    """Refuse names against no names, unless the names are the row numbers."""
    names = ours or theirs or ()
    if names == tuple(map(str, range(len(names)))):
        return
    named, unnamed = called if ours else called[::-1]
    raise ValueError(
        f"The objects of {named} have names, such as {names[0]!r}, and those of {unnamed} have none, so that their "
        "order cannot be checked. If it is the same, give both the same names or none: name_objects(names) or "
        "name_objects(None) of a partition, set_axis(names) or to_numpy() of a table or Series."
    )


def _only(called: str, names: Names, others: Any) -> str:
    """The names that only one of two has."""
    alone = [name for name in names if name not in others]
    more = f" and {len(alone) - SHOWN} more" if len(alone) > SHOWN else ""
    return f"only {called} has {', '.join(map(repr, alone[:SHOWN]))}{more}" if alone else ""


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
