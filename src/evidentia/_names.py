"""Names and other words of the user's data, where programs read them that would take them for orders.

Spreadsheet programs run a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, terminals obey escape codes,
and a line break inside a name makes one line look like two.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|-?(inf|nan)")
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # the way of writing
UNSHOWN = frozenset(["Cc", "Cs", "Zl", "Zp"])  # controls, halves of letters, ends of lines and paragraphs


def guard(cell: Any) -> Any:
    """Text that a spreadsheet program would run gets a quote in front, which makes it text there; numbers do not.

    Examples
    --------
    >>> [guard(cell) for cell in ("=1+1", "-5", "-a", "Ann", "'=1", 7)]
    ["'=1+1", '-5', "'-a", 'Ann', "''=1", 7]
    """
    dangerous = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if dangerous else cell


def unguard(cell: Any) -> Any:
    """What :func:`guard` was given.

    Examples
    --------
    >>> [unguard(cell) for cell in ("'=1+1", "-5", "'-a", "Ann", "''=1", "'s", 7)]
    ['=1+1', '-5', '-a', 'Ann', "'=1", "'s", 7]
    """
    return cell[1:] if isinstance(cell, str) and cell.startswith("'") and FORMULA.match(cell) else cell


def guard_table(frame: Any) -> Any:
    """A table for a CSV file: names of rows and columns, and text, as :func:`guard` has them."""
    return _map_index(frame, guard)


def unguard_table(frame: Any) -> Any:
    """The table that :func:`guard_table` was given."""
    return _map_index(frame, unguard)


def _map_index(frame: Any, change: Any) -> Any:
    changed = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biufMm":
            changed.isetitem(at, frame.iloc[:, at].map(change))
    named = changed.set_axis(changed.columns.map(change), axis=1)
    named = named if changed.index.dtype.kind in "biuf" else named.set_axis(changed.index.map(change), axis=0)
    return named.rename_axis(index=change(frame.index.name))


def printable(text: str) -> str:
    r"""Text for one line of a terminal: what would steer it is spelled out.

    Examples
    --------
    >>> print(printable("a\x1b[31m\nb"), printable("日本 é"))
    a\x1b[31m\nb 日本 é
    """
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if c in TURNING or unicodedata.category(c) in UNSHOWN else c for c in text
    )
