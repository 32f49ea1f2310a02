"""What ``evidentia predict`` does: rows of a table to the clusters of a model that ``evidentia fit --out`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import typer

from evidentia import load_model
from evidentia.app.advisor import TableModel
from evidentia.app.cli import tables
from evidentia.app.cli.errors import UserError, listing
from evidentia.app.cli.files import is_large
from evidentia.app.cli.terminal import print_note
from evidentia.app.report.results import write_table
from evidentia.partition import CredalPartition
from evidentia.rows import open_rows
from evidentia.safe_text import guard_table

ENDINGS = (".csv", ".parquet", ".npz")


def read_model(path: Path) -> TableModel:
    """The model of a file that ``fit --out`` wrote; one saved from Python will do."""
    found = load_model(path)
    if isinstance(found, TableModel):
        return found
    if not hasattr(found, "predict_partition"):
        raise UserError(f"{path} holds {type(found).__name__}, which places no rows in clusters.")
    names = getattr(found, "feature_names_in_", None)
    return TableModel(found, None if names is None else tuple(names.tolist()))


def place(model: TableModel, file: Path, *, id_column: str | None, missing: str | None) -> Any:
    """The partition of the rows of a file, lazy where they stay there."""
    if is_large(file):
        return model.predict_partition(_open(model, file))
    named = id_column or model.id_column
    source = tables.read_table(file, id_column=named)
    for text in source.notes:
        print_note(text)
    if id_column is not None or (named is not None and named in source.frame):
        names = tables.choose_columns(source.frame, id_column=named).frame.index
    else:
        names = pd.RangeIndex(len(source.frame))
    rows = model.rows(source.frame.drop(columns=[named] if named in source.frame else []).set_axis(names, axis=0))
    takes = "missing values" in model.model.method.takes or model.model.get_params().get("metric") == "gower"
    rows, holes = tables.check_values(rows, missing=missing or ("em" if takes else "error"), least=1)
    if holes is not None:
        print_note(holes)
    return model.predict_partition(rows)


def _open(model: TableModel, file: Path) -> Any:
    if model.categories:
        raise UserError(
            f"{file} is too large to be read whole, and categories ({listing(model.categories)}) need that."
        )
    return open_rows(str(file), columns=None if model.columns is None else list(model.columns))


def check_out(out: Path | None, file: Path) -> None:
    """Refuse a place that cannot be written to before the work is done."""
    if out is None or str(out) == "-" or is_large(file):
        return
    if out.suffix.lower() not in ENDINGS:
        raise UserError(f"--out {out}: the file is written by its ending, {', '.join(ENDINGS)}; '-' prints CSV.")


def write(partition: Any, out: Path, heading: str) -> Path:
    """The masses as a table, or the partition, by the ending of the file; of rows in files, a folder of Parquet."""
    if not isinstance(partition, CredalPartition):
        return partition.to_parquet(out)
    if out.suffix.lower() == ".npz":
        return partition.save(out)
    table = partition.to_pandas().rename_axis(heading)
    if str(out) != "-":
        return write_table(table, out)
    typer.echo(guard_table(table).to_csv(), nl=False)
    return out
