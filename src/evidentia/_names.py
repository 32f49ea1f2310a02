"""Names and other text of the user's data, made safe for the programs that read it.

Spreadsheet programs run a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, terminals obey escape codes,
browsers run markup, a line break inside a name makes one line look like two, and some characters reverse the order in
which a line is shown. :func:`guard` is for CSV files, :func:`printable` for a line of text or code, :func:`escape` for
HTML.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
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


def printable_table(frame: Any) -> Any:
    """A table to show: names of rows and columns, and text, as :func:`printable` has them."""
    return _map_index(frame, lambda cell: printable(cell) if isinstance(cell, str) else cell)


def _map_index(frame: Any, change: Callable[[Any], Any]) -> Any:
    changed = frame.copy(deep=False)
    for at, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biufMm":
            changed.isetitem(at, frame.iloc[:, at].map(change))
    named = changed.set_axis(changed.columns.map(change), axis=1)
    named = named if changed.index.dtype.kind in "biuf" else named.set_axis(changed.index.map(change), axis=0)
    return named.rename_axis(index=change(frame.index.name))


def printable(text: str) -> str:
    r"""Text for one line of a terminal, a page or a script: controls are spelled out.

    Controls are escape codes, ends of lines, halves of letters, and characters that reverse the order of a line.

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


def escape(text: str) -> str:
    r"""Text as HTML that shows it: markup is escaped, and each line is :func:`printable`.

    Examples
    --------
    >>> print(escape("<b>a\u202e</b>\nb"))
    &lt;b&gt;a\u202e&lt;/b&gt;
    b
    """
    return html.escape("\n".join(map(printable, text.split("\n"))))
