"""Python code that prepares a table as it was prepared here."""

from __future__ import annotations

from collections.abc import Sequence

from evidentia.app.advisor.rules import SCALERS

WIDTH = 100
# Functions of evidentia that read a table, and where they are.
READERS = {"as_table": "rows.tables", "read_fcs": "rows.fcs", "read_numerals": "app.advisor"}


def reading_imports(code: str) -> tuple[list[str], list[str]]:
    """What an expression that reads a table needs, of other packages and of evidentia.

    Examples
    --------
    >>> reading_imports("as_table(anndata.read_h5ad('cells.h5ad'), 'X')")
    (['import anndata', 'import pandas as pd'], ['from evidentia.rows.tables import as_table'])
    """
    ours = [f"from evidentia.{home} import {name}" for name, home in READERS.items() if f"{name}(" in code]
    others = ["import anndata"] * ("anndata." in code) + ["import numpy as np"] * ("np." in code)
    return [*others, "import pandas as pd"], ours


def preparing_lines(
    *,
    before: Sequence[str] = (),
    table: str = "X",
    columns: Sequence[str],
    left_out: Sequence[str],
    scale: str,
    categories: Sequence[str] = (),
    dropped: str | None = None,
) -> tuple[list[str], list[str]]:
    """Imports, and lines that make X of the chosen columns of a table, after the lines ``before``.

    Examples
    --------
    >>> imports, lines = preparing_lines(table="table", columns=["u", "v"], left_out=["w"], scale="minmax")
    >>> print(*imports, *lines, sep="\\n")
    from sklearn.preprocessing import MinMaxScaler
    X = table[['u', 'v']].astype(float)
    X = MinMaxScaler().set_output(transform="pandas").fit_transform(X)
    """
    lines = list(before)
    if left_out:
        keep, lose = f"X = {table}[{list(columns)!r}]", f"X = {table}.drop(columns={list(left_out)!r})"
        lines.append(keep if len(keep) <= max(len(lose), WIDTH) else lose)
    elif table != "X":
        lines.append(f"X = {table}")
    if not categories:
        lines[-1] += ".astype(float)"
    elif len(categories) == len(columns):
        lines[-1] += '.astype("category")'
    else:
        kinds = ", ".join(f'{name!r}: "category"' for name in categories)
        lines.append(f"X = X.astype({{{kinds}}})")
    if dropped is not None:
        lines.append(f"X = X.dropna(how={dropped!r})")
    if scale == "none":
        return [], lines
    lines.append(f'X = {SCALERS[scale]}().set_output(transform="pandas").fit_transform(X)')
    return [f"from sklearn.preprocessing import {SCALERS[scale]}"], lines
