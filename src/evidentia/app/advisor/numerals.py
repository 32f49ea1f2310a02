"""Numbers as people and spreadsheets write them: ``1.234,5`` and ``1,234.5``, ``12 %``, ``€ 3,50``, ``?`` for none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import numpy as np
import pandas as pd

from evidentia.app.advisor.columns import is_numeric

OTHER = {".": ",", ",": "."}  # the mark that groups thousands, by the one before decimals
GROUPING = "'’\u00a0\u202f "  # marks that do so anywhere
# What stands for a missing number, beside what pandas reads as missing anyway.
MISSING = frozenset(["?", "-", "–", "—", ".", "..", "*", "na", "n.a.", "n/a", "nd", "n.d.", "k.a.", "none", "null",
                     "missing", "unknown", "#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?"])  # fmt: skip


@cache
def numeral(decimal: str) -> re.Pattern[str]:
    """A number, its thousands grouped or not, with a currency or a percent sign before or behind."""
    group = f"(?P<mark>[{re.escape(OTHER[decimal] + GROUPING)}])"
    whole = rf"[1-9]\d{{0,2}}{group}\d{{3}}(?:(?P=mark)\d{{3}})*|\d+"
    return re.compile(
        rf"(?P<before>[$€£¥]?) ?(?P<sign>[-+−]?) ?(?P<whole>{whole})?(?P<rest>{re.escape(decimal)}\d*)?"
        r"(?P<power>[eE][-+]?\d+)? ?(?P<behind>[$€£¥%‰]?)"
    )


def numbers_of(column: pd.Series, decimal: str) -> pd.Series | None:
    """The numbers that all cells of a column are in one way of writing, NaN where none is; None if they are not."""
    numbers, signs, n_numerals = np.full(len(column), np.nan), set(), 0
    for at, cell in enumerate(column):
        text = "" if pd.isna(cell) else str(cell).strip()
        if not text or text.lower() in MISSING:
            continue
        found = numeral(decimal).fullmatch(text)
        if found is None or not (found["whole"] or len(found["rest"] or "") > 1):
            return None
        n_numerals += 1
        signs.add((found["before"], found["behind"]))
        whole = re.sub(r"\D", "", found["whole"] or "0")
        rest = (found["rest"] or "").replace(decimal, ".") + (found["power"] or "")
        numbers[at] = float(whole + rest) * (-1 if found["sign"] in ("-", "−") else 1)
    absent = int(column.notna().sum()) - n_numerals
    # Percent and plain numbers in one column have different units.
    return pd.Series(numbers, column.index, name=column.name) if n_numerals > absent and len(signs) == 1 else None


def has_decimals(cells: Iterable[str], decimal: str) -> bool:
    """Whether some numeral can only be read with this decimal mark: thousands are groups of three.

    Examples
    --------
    >>> has_decimals(["1,234", "17"], ","), has_decimals(["1,25"], ","), has_decimals(["1.234,567"], ",")
    (False, True, True)
    """
    groups = re.compile(rf"[-+−$€£¥ ]*[1-9]\d{{0,2}}(?:{re.escape(decimal)}\d{{3}})+\D*")
    return any(decimal in cell and not groups.fullmatch(cell) for cell in map(str, cells))


def read_numerals(table: pd.DataFrame, decimal: str = ".", *, keep: Iterable[str] = ()) -> pd.DataFrame:
    """A table in which columns of written numbers are numbers.

    Parameters
    ----------
    table : DataFrame
    decimal : {".", ","}
        The decimal mark of the table. A column may have the other one, if it cannot be read otherwise.
    keep : iterable of str
        Columns that stay text.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "price": ["1.234,50", "980,00", "1.001,25"], "share": ["12 %", "?", "7,5 %"],
    ...     "day": ["1.2.2024", "3.2.2024", None]})
    >>> read_numerals(table, decimal=",")
         price  share       day
    0  1234.50   12.0  1.2.2024
    1   980.00    NaN  3.2.2024
    2  1001.25    7.5      None
    """
    found, kept = table.copy(deep=False), set(keep)
    for name in table:
        if name not in kept and (numbers := _read(table[name], decimal)) is not None:
            found[name] = numbers
    return found


def _read(column: pd.Series, decimal: str) -> pd.Series | None:
    if (
        is_numeric(column)
        or getattr(column.dtype, "kind", "O") in "Mm"
        or isinstance(column.dtype, pd.CategoricalDtype)
    ):
        return None
    other = OTHER[decimal]
    numbers = numbers_of(column, decimal)
    if numbers is None and has_decimals(column.dropna(), other):
        numbers = numbers_of(column, other)
    return numbers


def tell_numerals(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """What :func:`read_numerals` has changed, in a sentence or two."""
    read = [name for name in before if is_numeric(after[name]) and not is_numeric(before[name])]
    absent = {name: before[name][after[name].isna() & before[name].notna()] for name in read}
    plain = {name: pd.to_numeric(before[name], errors="coerce") for name in read}
    written = [name for name in read if not plain[name].astype(float).equals(after[name])]
    notes = []
    if written:
        name = written[0]
        row = int(after[name].abs().argmax())
        example = f"{before[name].iloc[row]} is {after[name].iloc[row]:.12g}"
        notes.append(f"Numbers as they are written were read in {', '.join(map(str, written))}: {example}.")
    gaps = [f"{cells.iloc[0]!r} in {name} ({len(cells)})" for name, cells in absent.items() if len(cells)]
    if gaps:
        notes.append(f"Cells that stand for a missing number were read so: {', '.join(gaps)}.")
    return notes
