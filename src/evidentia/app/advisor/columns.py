"""What one column of a table is: its kind, and whether it describes objects or only names or labels them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

FEW = 7  # values: whole numbers of no more than this may be codes of categories
ENOUGH = 10  # rows: with fewer, numbers that run on are no sign of a count
RARE = 0.05  # share of the rarer of two values; a column with less is nearly constant, and no category for its sake
FAR = 3.0  # ranges between the quartiles, beyond which a value is far out (Tukey)
LAST_WORD = frozenset(["class", "classes", "label", "labels", "target", "species", "cluster", "clusters", "truth"])
WHOLE_NAME = frozenset(["group", "category", "type", "outcome", "diagnosis", "variety", "y"])
NAMES = frozenset(["id", "ids", "uuid", "guid", "unnamed"])  # in a name of a column: it holds names of the rows
LAST_NAMES = frozenset(["index", "key", "nr", "no", "row", "number", "code", "name"])  # likewise, as the last word
DATE = re.compile(r"\s*(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})([ T]\d{1,2}:\d{2}.*)?\s*")

NUMBERS, COUNTS, TWO, CATEGORIES = "numbers", "whole numbers of few values", "two values", "categories"
TEXT, DATES, EMPTY = "text", "dates", "empty"


@dataclass(frozen=True)
class Column:
    """A column as it looks.

    Attributes
    ----------
    name : str
    kind : str
        "numbers", "whole numbers of few values", "two values", "categories", "text", "dates" or "empty".
    numeric : bool
        Whether it is stored as numbers (or as True and False).
    n_values : int
        Different values.
    missing : int
        Rows without a value.
    spread : float
        Standard deviation; NaN for what are no numbers.
    low, high : float
        Smallest and largest number.
    far : int
        Values more than three ranges between the quartiles away from the nearest quartile.
    aside : str
        Why it is not clustered; empty for a column that is.
    role : str
        What it seems to be for: "data", "names" of the rows, "classes" that are known already, or "unreadable".
    """

    name: str
    kind: str
    numeric: bool
    n_values: int
    missing: int
    spread: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    far: int = 0
    aside: str = ""
    role: str = "data"


def is_numeric(column: pd.Series) -> bool:
    """Whether a column is stored as numbers, or as True and False."""
    return getattr(column.dtype, "kind", "O") in "biuf"


def describe(column: pd.Series) -> Column:
    """The kind of a column, and why it should be set aside, seen for itself alone."""
    values = column.dropna()
    name, missing = str(column.name), int(len(column) - len(values))
    if values.empty:
        return Column(name, EMPTY, False, 0, missing, aside="empty", role="unreadable")
    n_values = int(values.nunique())
    if getattr(column.dtype, "kind", "O") in "Mm" or _are_dates(values):
        why = "dates or times; as numbers they could be clustered"
        return Column(name, DATES, False, n_values, missing, aside=why, role="unreadable")
    if not is_numeric(column):
        kind, aside, role = _words(column, values, n_values)
        aside = aside or _constant_reason(values, n_values, missing)
        return Column(name, kind, False, n_values, missing, aside=aside, role=role)
    return _numbers(column, values, n_values, missing)


def looks_like_classes(column: Column, n_rows: int, *, last_of_text: bool) -> str:
    """Why a column seems to hold the answer already, or nothing.

    ``last_of_text``: it is the last column, and the only one that is not numbers.
    """
    if column.aside or (column.kind == NUMBERS and not _is_whole(column)) or not 2 <= column.n_values <= n_rows / 3:
        return ""
    parts = _parts(column.name)
    if (parts and parts[-1] in LAST_WORD) or column.name.lower() in WHOLE_NAME:
        return f"by its name the classes, {column.n_values} of them"
    if last_of_text and column.kind in (CATEGORIES, TWO) and not column.numeric:
        return f"the last column, and the only text: perhaps the classes, {column.n_values} of them"
    return ""


def _words(column: pd.Series, values: pd.Series, n_values: int) -> tuple[str, str, str]:
    """Kind of a column that is not stored as numbers, why it is set aside, and its role."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return CATEGORIES, "", "data"
    text = values.astype(str)
    bad = text[pd.to_numeric(text, errors="coerce").isna()]
    if len(bad) < len(values) / 2:
        if bad.empty:
            return TEXT, "numbers stored as text; convert them", "unreadable"
        broken = f"text: {len(bad)} of {len(values)} values are no numbers, such as {bad.iloc[0]!r} in row"
        return TEXT, f"{broken} {bad.index[0]}; empty cells are missing values", "unreadable"
    if n_values == len(values) >= ENOUGH:
        return TEXT, "names every row", "names"
    if n_values > max(len(values) / 2, FEW):
        return TEXT, f"free text: {n_values} different values in {len(values)} rows", "data"
    return CATEGORIES, "", "data"


def _numbers(column: pd.Series, values: pd.Series, n_values: int, missing: int) -> Column:
    numbers = values.to_numpy(dtype=float)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return Column(str(column.name), NUMBERS, True, n_values, missing)
    whole = bool((finite == np.round(finite)).all())
    share = float((finite == finite.min()).mean())
    two = n_values == 2 and len(values) >= ENOUGH and min(share, 1 - share) >= RARE
    kind = TWO if two else COUNTS if whole and n_values <= FEW else NUMBERS
    first, third = np.percentile(finite, [25, 75])
    reach = FAR * (third - first)
    far = int(((finite < first - reach) | (finite > third + reach)).sum()) if reach > 0 else 0
    with np.errstate(over="ignore"):
        spread = float(finite.std())
    names = _names_rows(column) if whole and not missing else ""
    aside, role = _constant_reason(values, n_values, missing) or names, "names" if names else "data"
    low, high = float(finite.min()), float(finite.max())
    return Column(str(column.name), kind, True, n_values, missing, spread, low, high, far, aside, role)


def _constant_reason(values: pd.Series, n_values: int, missing: int) -> str:
    return f"always {values.iloc[0]}{' or missing' * (missing > 0)}" if n_values == 1 and len(values) > 1 else ""


def _names_rows(column: pd.Series) -> str:
    """Whether whole numbers only count the rows, or are keys to them."""
    numbers = column.to_numpy(dtype=float)
    if len(numbers) < ENOUGH:
        return ""
    if (np.diff(numbers) == 1).all():
        return "only counts the rows"
    words = [part for part in _parts(str(column.name)) if not part.isdigit()]
    named = NAMES.intersection(words) or LAST_NAMES.intersection(words[-1:])  # "number of fires" is a count
    different = len(np.unique(numbers)) == len(numbers)
    return "an identifier by its name, different in every row" if named and different else ""


def _are_dates(values: pd.Series) -> bool:
    if is_numeric(values) or isinstance(values.dtype, pd.CategoricalDtype):
        return False
    return all(DATE.fullmatch(str(value)) for value in values.iloc[:100])


def _is_whole(column: Column) -> bool:
    return np.isfinite(column.low) and column.low == round(column.low) and column.high == round(column.high)


def _parts(name: str) -> list[str]:
    """Words of a name, also of ``MouseID`` and ``known_class``.

    Examples
    --------
    >>> _parts("MouseID"), _parts("known_class"), _parts("Unnamed: 0")
    (['mouse', 'id'], ['known', 'class'], ['unnamed', '0'])
    """
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def take_columns(frame: pd.DataFrame, columns: Sequence[str], categories: Sequence[str]) -> pd.DataFrame:
    """Some columns by name, numbers as float and the others as category; what is missing or no number is named."""
    missing = [repr(name) for name in columns if name not in frame]
    if missing:
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        what, was = ("column", "was") if len(missing) == 1 else ("columns", "were")
        raise ValueError(
            f"The table has no {what} {', '.join(missing[:8])}{more}, which {was} clustered. "
            f"It has {', '.join(map(str, frame.columns))}."
        )
    kinds: Any = {name: "category" if name in categories else float for name in columns}
    try:
        return frame[list(columns)].astype(kinds if len(categories) else float)  # all at once, for they may be many
    except (ValueError, TypeError) as error:
        text = [name for name in columns if name not in categories and not is_numeric(frame[name])]
        if not text:
            raise
        raise ValueError(f"Column {text[0]!r} is not a column of numbers: {error}.") from error


def as_frame(table: Any) -> pd.DataFrame:
    """A table whose columns have different names, all of them text; columns without names are x0, x1 and so on."""
    if isinstance(table, pd.DataFrame):
        frame = table.set_axis(table.columns.map(str), axis=1)
        if frame.columns.has_duplicates:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"Several columns have the same name: {twice}. Rename them.")
        return frame
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"A table has rows and columns. Got an array of shape {array.shape}; reshape(-1, 1) makes a column of it."
        )
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]).infer_objects()
