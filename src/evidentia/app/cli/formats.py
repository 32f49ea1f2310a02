"""Tables of other programs: sheets of Excel, Feather, AnnData and FCS files, and what comes through a pipe."""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from evidentia.app.cli.errors import UserError, listing
from evidentia.rows.fcs import read_fcs
from evidentia.rows.tables import as_table, preferred_part
from evidentia.solvers.memory import refuse_beyond_memory

GZIP = b"\x1f\x8b"
_kept: list[Any] = []  # folders that go when the process ends


def read_sheet(path: Path, id_column: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """The first sheet of an Excel file: the table, a line of Python that reads it, and notes."""
    try:
        import openpyxl
    except ImportError as error:
        raise UserError("Excel files need openpyxl: pip install 'evidentia[excel]'. CSV needs nothing.") from error
    del openpyxl
    kinds = {} if id_column is None else {id_column: str}
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            first, *others = map(str, book.sheet_names)
            frame = book.parse(first, dtype=kinds)
    except Exception as error:  # a damaged archive fails in many ways
        raise UserError(f"{path} is not a whole Excel file (.xlsx): {error}") from error
    notes = [f"The sheet {first!r} was read; the others were not: {listing(others)}."] if others else []
    return frame, f"pd.read_excel({str(path)!r})", notes


def read_feather(path: Path, id_column: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """A Feather (Arrow) file."""
    try:
        import pyarrow
    except ImportError as error:
        raise UserError("Feather files need pyarrow: pip install 'evidentia[parquet]'. CSV needs nothing.") from error
    try:
        return pd.read_feather(path), f"pd.read_feather({str(path)!r})", []
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path} is not a whole Feather file: {str(error).splitlines()[0]}") from error


def read_cells(path: Path, id_column: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """An AnnData file: its principal components where it has them, else X; cells are named in ``obs_names``."""
    try:
        import anndata
    except ImportError as error:
        raise UserError("AnnData files need anndata: pip install 'evidentia[anndata]'. CSV needs nothing.") from error
    try:
        adata = anndata.read_h5ad(path, backed="r")
    except Exception as error:  # a damaged file fails in many ways
        raise UserError(f"{path} is not a whole AnnData file (.h5ad): {error}") from error
    rep = preferred_part(adata)
    if rep == "X":
        refuse_beyond_memory(
            8 * adata.n_obs * adata.n_vars, f"X of {path}", "Keep principal components in obsm['X_pca']."
        )
        adata = adata.to_memory()
        adata.X = adata.X.toarray() if hasattr(adata.X, "toarray") else adata.X
    frame = as_table(adata, rep).rename_axis(index="obs_names").reset_index()
    there = [name for name in ("X", *adata.obsm) if name != rep]
    notes = [f"{rep} was read; there is also {listing(there)}, which Python reads by use_rep."] if there else []
    code = f"as_table(anndata.read_h5ad({str(path)!r}), {rep!r}).rename_axis(index='obs_names').reset_index()"
    return frame, code, notes


def read_flow(path: Path, id_column: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """A file of a flow cytometer."""
    try:
        numbers, names = read_fcs(path)
    except ValueError as error:
        raise UserError(str(error)) from error
    return pd.DataFrame(numbers, columns=names), f"pd.DataFrame(read_fcs({str(path)!r})[0], columns={names!r})", []


READERS = {".xlsx": read_sheet, ".feather": read_feather, ".h5ad": read_cells, ".fcs": read_flow}


def from_pipe() -> Path:
    """What comes through the standard input, as a file of text, compressed or not."""
    return _spool(sys.stdin)


@cache
def _spool(stream: Any) -> Path:
    content = stream.buffer.read()
    if not content:
        raise UserError("Nothing came through the standard input (-).")
    folder = tempfile.TemporaryDirectory(prefix="evidentia-")
    _kept.append(folder)
    path = Path(folder.name) / ("input.csv.gz" if content.startswith(GZIP) else "input.csv")
    path.write_bytes(content)
    return path
