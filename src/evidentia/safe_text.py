"""Names and other text of the user's data, made safe for the programs that read it.

Spreadsheet programs run a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula; East Asian ones do so where
these signs are of full width, and some after blanks or a ``;``. Terminals obey escape codes,
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

__all__ = ["escape", "guard", "guard_table", "printable", "printable_table", "unguard", "unguard_table"]

FORMULA = re.compile(r"'*(?:[\t\r]|\s*[=+\-@＝＋－＠])")
SPELLED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4}))")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|-?(inf|nan)")
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # the way of writing
UNSHOWN = frozenset(["Cc", "Cs", "Zl", "Zp"])  # controls, halves of letters, ends of lines and paragraphs


def guard(cell: Any) -> Any:
    r"""Text that a spreadsheet program would run gets a quote in front, which makes it text there; numbers do not.

    Some programs read ``;`` as the end of a cell, so that each part of the text counts. Controls are spelled out, as
    :func:`printable` does; where that is done, or text looks like it, each backslash is written twice.

    Examples
    --------
    >>> [guard(cell) for cell in ("=1+1", "-5", "-a", "Ann", "'=1", " =1", "a;=1", 7)]
    ["'=1+1", '-5', "'-a", 'Ann', "''=1", "' =1", "a;'=1", 7]
    >>> print(guard("\x1b[31m"), guard("C:\\new"), guard(r"\x41"))
    \x1b[31m C:\new \\x41
    """
    if not isinstance(cell, str):
        return cell
    if SPELLED.search(cell) or printable(cell) != cell:
        cell = "".join(map(_spell, cell))
    return ";".join(
        f"'{part}" if FORMULA.match(part) and not NUMBER.fullmatch(part) else part for part in cell.split(";")
    )


def unguard(cell: Any) -> Any:
    """What :func:`guard` was given.

    Examples
    --------
    >>> [unguard(cell) for cell in ("'=1+1", "-5", "'-a", "Ann", "''=1", "'s", 7)]
    ['=1+1', '-5', '-a', 'Ann', "'=1", "'s", 7]
    """
    if not isinstance(cell, str):
        return cell
    parts = cell.split(";")
    cell = ";".join(part[1:] if part.startswith("'") and FORMULA.match(part) else part for part in parts)
    if not SPELLED.search(cell):
        return cell
    return re.sub(rf"\\\\|{SPELLED.pattern}", lambda found: chr(int(found[1] or found[2] or "5c", 16)), cell)


def _is_control(character: str) -> bool:
    return character in TURNING or unicodedata.category(character) in UNSHOWN


def _spell(character: str) -> str:
    if character == "\\":
        return 2 * character
    if not _is_control(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


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
    return "".join(c.encode("unicode_escape").decode() if _is_control(c) else c for c in text)


def escape(text: str) -> str:
    r"""Text as HTML that shows it: markup is escaped, and each line is :func:`printable`.

    Examples
    --------
    >>> print(escape("<b>a\u202e</b>\nb"))
    &lt;b&gt;a\u202e&lt;/b&gt;
    b
    """
    return html.escape("\n".join(map(printable, text.split("\n"))))
