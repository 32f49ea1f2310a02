"""``fit`` for rows that stay in their files: a glob, an array on disk, a file too large to be read at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from evidentia import methods
from evidentia.app.advisor.table_model import TableModel
from evidentia.app.cli import fitting, terminal
from evidentia.app.cli.errors import INTERRUPTED, UserError, listing
from evidentia.app.cli.tables import split_names
from evidentia.app.run_folder import list_files, whole_run
from evidentia.files import write_whole
from evidentia.partition import CredalPartition
from evidentia.rows import RowSource, open_rows
from evidentia.rows.passes import show_progress
from evidentia.rows.scan import column_scales
from evidentia.rows.source import TransformedRows
from evidentia.solvers.coordinates import ColumnScales

SAMPLE = 20_000  # rows of the report
PLACES = 64  # parts of the source that these are from


def fit_large(
    where: str,
    request: fitting.FitRequest,
    *,
    columns: Sequence[str],
    drop: Sequence[str],
    scale: str,
    out: Path | None,
    checkpoint: Path | None,
    scheduler: str | None,
    quiet: bool,
    **words: Any,
) -> None:
    """Fit, print the summary, write a Parquet file for each part of the rows, and a report on a sample of them."""
    estimator = request.estimator()
    able = [name for name, cls in methods.clusterers().items() if "rows beyond memory" in cls.method.takes]
    if request.method not in able:
        raise UserError(f"{request.method} needs all rows in memory. Methods that do not: {', '.join(able)}.")
    with ExitStack() as stack:
        with fitting.record_events() as noticed, _client(scheduler):
            rows = _open(where, columns, drop)
            if not quiet:
                terminal.print_heading(f"{where}: {rows.words}")
                terminal.print_labeled("clustered", listing(list(rows.names or map(str, range(rows.n_features))), 30))
                terminal.print_labeled("method", f"{type(estimator).__name__}; rows are read anew in each pass")
            bars = not quiet and typer.get_text_stream("stderr").isatty()
            estimator.set_params(verbose=int(bars))
            itself = "standardize" in estimator.parameters  # so no scale is needed
            if scale == "none" and itself and estimator.standardize == "auto":
                estimator.set_params(standardize=False)
            scales = _scales(rows, "none" if scale == "auto" and itself else scale)
            used = rows if scales is None else TransformedRows(rows, scales)
            model = estimator.fit(used, checkpoint=checkpoint)
            fresh = None if out is None else stack.enter_context(whole_run(out))
            with show_progress(bars):
                partition = model.partition_
                if fresh is not None:
                    partition.to_parquet(fresh / "masses")
                summary = partition.summary()
        for text in noticed.notes:
            terminal.print_note(text)
        terminal.print_summary(summary)
        if fresh is not None:
            write_whole(fresh / "summary.txt", f"{summary}\n")
            table_model = TableModel(model.set_params(verbose=0), rows.names, scales=scales)
            table_model.save(fresh / "model.npz")
            _fill_sample(fresh / "sample", table_model, rows, noticed.notes, **words)
    if not quiet:
        _say_what_was_written(out)
    if noticed.interrupted:
        raise typer.Exit(INTERRUPTED)


def _say_what_was_written(out: Path | None) -> None:
    if out is None:
        terminal.echo("\nNothing was written; --out DIR keeps clusters and doubt of every row, and a report.")
        return
    terminal.print_labeled("written", f"{out / 'masses'}  (a Parquet file for each part of the rows)")
    terminal.print_labeled("", f"{out / 'model.npz'}  (the model; evidentia predict places new rows by it)")
    terminal.print_labeled("", f"{out / 'sample' / 'report.html'}  (a sample of the rows; open it in a browser)")


def _open(where: str, columns: Sequence[str], drop: Sequence[str]) -> RowSource:
    try:
        rows = open_rows(where)
        names = list(rows.names or ())
        asked, dropped = split_names(columns, names), split_names(drop, names)
        for option, name in [("columns", name) for name in asked] + [("drop", name) for name in dropped]:
            if name not in names:
                raise UserError(f"--{option}: there is no column of numbers {name!r}. These are: {listing(names, 20)}.")
        if asked or dropped:
            rows = open_rows(where, columns=[name for name in asked or names if name not in dropped])
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise UserError(str(error)) from error
    return rows


def _scales(rows: RowSource, scale: str) -> ColumnScales | None:
    """Return what brings the columns to a common scale."""
    if scale == "none":
        return None
    if scale not in ("auto", "standard"):
        raise UserError(f"--scale {scale} needs all rows in memory; none and standard do not.")
    return column_scales(rows)


def _fill_sample(folder: Path, table_model: TableModel, rows: RowSource, notes: Sequence[str], **words: Any) -> None:
    """Write the results of rows from many places of the source, in the units of the files, as a run of its own."""
    from evidentia.app.report.results import fill_results

    table = sample(rows)
    frame = pd.DataFrame(table, columns=[str(name) for name in rows.names or range(rows.n_features)])
    said = f"The report shows {len(table):,} of {len(table_model.partition_):,} rows; masses/ and summary.txt hold all."
    shown = table_model.predict_partition(frame).to_fields()
    fill_results(
        folder,
        partition=CredalPartition.from_fields(**{**shown, "verdict": table_model.partition_.verdict}),
        model=table_model,
        X=frame,
        notes=[said, *notes],
        **words,
    )
    list_files(folder)


def sample(rows: RowSource) -> np.ndarray:
    """Rows at even steps of parts at even steps: cheap, and good enough to look at."""
    handles = [rows.handles[at] for at in np.unique(np.linspace(0, len(rows.handles) - 1, PLACES).astype(int))]
    found, each = [], -(-SAMPLE // len(handles))
    for handle in handles:
        chunk = next(iter(rows.read(handle)), None)
        if chunk is not None:
            found.append(chunk.table[np.unique(np.linspace(0, len(chunk.table) - 1, each).astype(int))])
    return np.concatenate(found)


@contextmanager
def _client(scheduler: str | None) -> Iterator[None]:
    """A Dask client for the time of the fit, if a scheduler is named."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise UserError("--scheduler needs Dask: pip install 'evidentia[dask]'.") from error
    try:
        client = Client(scheduler, timeout="20s")
    except (OSError, ValueError) as error:
        raise UserError(f"--scheduler {scheduler}: nobody answers there ({type(error).__name__}).") from error
    with client:
        yield
