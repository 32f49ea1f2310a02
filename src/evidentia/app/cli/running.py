"""What ``fit`` and ``demo`` share: fit, print, write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from evidentia.app.advisor.n_clusters import Clusters, numbers_to_try
from evidentia.app.cli import fitting, terminal
from evidentia.app.cli.errors import INTERRUPTED, UserError
from evidentia.app.cli.summary import print_summary
from evidentia.app.run_folder import whole_run
from evidentia.files import check_writable
from evidentia.partition import CredalPartition


def run(
    estimator: Any,
    data: pd.DataFrame,
    clusters: Clusters,
    *,
    scale: str = "none",
    out: Path | None,
    tables: str = "auto",
    quiet: bool,
    notes: Sequence[str] = (),
    remark: Callable[[CredalPartition], str] | None = None,
    object_column: str | None = None,
    links: Any = None,
    ensemble: int | None = None,
    **words: Any,
) -> None:
    """Fit, print the summary, write the files; an interrupt does the last two with the best solution so far.

    ``notes`` go to stderr and into the report, ``remark`` adds a sentence about the result, ``words`` are those of
    :func:`evidentia.app.report.write_report`. With ``ensemble`` the partition is that of so many further fits.
    """
    if not quiet:
        terminal.print_labeled("method", _describe_fit(estimator, clusters, scale))
    if "verbose" in estimator.parameters:
        estimator.set_params(verbose=int(not quiet and sys.stderr.isatty()))
    fitted = fitting.fit(estimator, data, clusters, scale, links)
    if ensemble and not fitted.interrupted:
        fitted = fitting.with_ensemble(fitted, data, ensemble, verbose=int(not quiet and sys.stderr.isatty()))
    partition, notes = fitted.partition, [*notes, *fitted.notes]
    for text in notes:
        terminal.print_note(text)
    if not quiet:
        terminal.echo()
        if fitted.selection is not None:
            itself = numbers_to_try(estimator, clusters) is None  # a long search; the report has its table
            terminal.echo(f"{fitted.selection.choice if itself else fitted.selection}\n")
    print_summary(partition)
    sentence = None if remark is None else remark(partition)
    if sentence is not None:
        terminal.echo(f"\n{sentence}")
    if not quiet and out is None:
        terminal.echo("\nNothing was written; --out DIR keeps the report, the masses and the plots.")
    if out is not None:
        from evidentia.app.report.results import fill_results
        from evidentia.plots.mpl import NEEDED, can_draw

        with whole_run(out) as fresh:
            saved = fitted.placing.save(fresh / "model.npz")
            written = fill_results(
                fresh,
                partition=partition,
                model=fitted.placing,
                X=_numbers(estimator, data),
                selection=fitted.selection,
                object_column=object_column,
                tables=tables,
                notes=notes,
                remark=sentence,
                **words,
            )
        if not quiet:
            terminal.echo()
            terminal.print_labeled("written", f"{out / written[0].name}  (open it in a browser)")
            if not can_draw():
                terminal.print_labeled("", NEEDED)
            terminal.print_labeled("", ", ".join(path.name for path in [*written[1:], saved]))
            if tables == "auto" and written[1].suffix == ".parquet":
                terminal.print_labeled(
                    "", "So many rows are written as Parquet, which is quicker; --tables csv writes text."
                )
    if fitted.interrupted:
        raise typer.Exit(INTERRUPTED)


def check_out(out: Path | None, tables: str = "auto") -> None:
    """Refuse a place that cannot be written to, or a format, before the work is done, not after it."""
    if out is None:
        return
    if tables == "parquet":
        from evidentia.app.report.results import table_kind

        table_kind(tables, 0)
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file. Name a directory; it is made if it is not there.")
    try:
        check_writable(out)
    except OSError as error:
        raise UserError(f"--out {out}: nothing can be written there ({error.filename}: {error.strerror}).") from error


def _numbers(estimator: Any, data: pd.DataFrame) -> pd.DataFrame | None:
    """The columns of numbers, which the report shows."""
    numbers = data.select_dtypes("number")
    return None if estimator.get_params().get("metric") == "precomputed" or numbers.empty else numbers


def _describe_fit(estimator: Any, clusters: Clusters, scale: str) -> str:
    counts = numbers_to_try(estimator, clusters)
    if isinstance(clusters, int):
        count = f"{clusters} clusters"
    elif counts is not None:
        count = f"{counts[0]} to {counts[-1]} clusters to choose from"
    elif "searched" in estimator.method.number:
        low, high = estimator.cluster_range
        count = f"{low} to {high} clusters to choose from"
    else:
        count = "as many clusters as it finds"
    scaled = "" if scale == "none" else f", columns on {scale} scale"
    seed = estimator.get_params().get("random_state")
    return f"{type(estimator).__name__}, {count}{scaled}" + ("" if seed is None else f", seed {seed}")
