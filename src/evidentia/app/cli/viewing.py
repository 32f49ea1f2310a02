"""``fit --views``: several files about the same objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer

from evidentia import methods
from evidentia.app.advisor.columns import is_numeric
from evidentia.app.advisor.n_clusters import Clusters, fit_number
from evidentia.app.advisor.rules import number_settings
from evidentia.app.cli import tables, terminal
from evidentia.app.cli.errors import INTERRUPTED, UserError, closest, listing
from evidentia.app.cli.fitting import parse_clusters, record_events
from evidentia.app.cli.settings import read_settings
from evidentia.app.cli.tables import split_names
from evidentia.app.cli.terminal import print_summary
from evidentia.app.run_folder import whole_run
from evidentia.app.script import Script

SHOWN = 12  # names of columns of a view


def view_names(files: Sequence[Path]) -> list[str]:
    """A name for each file: its stem, or the whole path where stems are the same.

    Examples
    --------
    >>> view_names([Path("a/blood.csv"), Path("scan.csv")]), view_names([Path("a/x.csv"), Path("b/x.csv")])
    (['blood', 'scan'], ['a/x.csv', 'b/x.csv'])
    """
    stems = [file.name.partition(".")[0] for file in files]
    return stems if len(set(stems)) == len(stems) else [file.as_posix() for file in files]


class FileView(NamedTuple):
    """A view from a file: its numbers, why columns were left out, notes, and an expression that reads it."""

    data: pd.DataFrame
    left_out: dict[str, str]
    notes: list[str]
    code: str


def read_view(
    file: Path, *, distances: bool, id_column: str | None, drop: Sequence[str], columns: Sequence[str]
) -> FileView:
    """The columns of numbers of one file, or a square of dissimilarities; objects are named by ``id_column``."""
    if distances:
        data, source, named = tables.read_distances(file, id_column=id_column)
        return FileView(data, {}, source.notes, source.code if named is None else f"{source.code}.set_index({named!r})")
    source = tables.read_table(file, id_column=id_column)
    here = [[name for name in split_names(given, source.frame.columns.tolist()) if name in source.frame]
            for given in (drop, columns)]  # fmt: skip
    table = tables.choose_columns(source.frame, id_column=id_column, drop=here[0], columns=here[1])
    text = {name: "no numbers" for name in table.frame.columns.tolist() if not is_numeric(table.frame[name])}
    data = table.frame.drop(columns=list(text)).astype(float)
    if data.empty:
        raise UserError(f"{file}: no column of numbers is left ({listing(list(text))}).")
    code = source.code if id_column is None else f"{source.code}.set_index({id_column!r})"
    return FileView(data, {**table.left_out, **text}, source.notes, f"{code}[{list(data.columns)!r}]")


def fit_views(
    files: Sequence[Path],
    method: str,
    clusters: str,
    settings: Sequence[str],
    *,
    distances: bool,
    scale: str,
    id_column: str | None,
    drop: Sequence[str],
    columns: Sequence[str],
    seed: int,
    out: Path | None,
    tables: str,
    quiet: bool,
    command: str,
) -> None:
    """Read the views, fit, print the summaries, write the files."""
    count = parse_clusters(clusters)
    if count is None:
        raise UserError("--views needs a number of clusters, or a range to choose from: --clusters 3, --clusters 2-6.")
    estimator = _estimator(method, count, settings, distances=distances, scale=scale, seed=seed)
    views = {}
    for name, file in zip(view_names(files), files):
        views[name] = view = read_view(file, distances=distances, id_column=id_column, drop=drop, columns=columns)
        if not quiet:
            terminal.print_heading(f"{file}: {len(view.data)} rows, view {name}")
            if not distances:
                terminal.print_labeled("clustered", listing(list(map(str, view.data.columns)), SHOWN))
            if view.left_out:
                reasons = [f"{one} ({why})" for one, why in view.left_out.items()]
                terminal.print_labeled("left out", listing(reasons, SHOWN))
    _check_names(views, drop=drop, columns=columns)
    with record_events() as noticed:
        model, selection = fit_number(estimator, {name: view.data for name, view in views.items()}, count)
    notes = [*(note for view in views.values() for note in view.notes), *noticed.notes]
    for text in notes:
        terminal.print_note(text)
    if not quiet:
        terminal.echo()
    print_summary(model.partition_.summary())
    if not quiet and selection is not None:
        terminal.echo(f"\n{selection}")
    said = model.view_summary()
    terminal.echo(f"\n{said}")
    if out is not None:
        _write(
            out,
            model,
            views,
            tables,
            id_column=id_column,
            quiet=quiet,
            selection=selection,
            notes=notes,
            remark=said,
            command=command,
        )
    if noticed.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_names(views: dict[str, FileView], *, drop: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a column that is in none of the files; one that is in some is meant for those."""
    known = [str(name) for view in views.values() for name in (*view.data.columns, *view.left_out)]
    for option, given in (("--drop", drop), ("--columns", columns)):
        for name in split_names(given, known):
            if name not in known:
                raise UserError(f"{option}: there is no column {name!r} in any of the files.{closest(name, known)}")


def _estimator(method: str, count: Clusters, settings: Sequence[str], *, distances: bool, scale: str, seed: int) -> Any:
    wanted = "views of dissimilarities" if distances else "views"
    able = [name for name, cls in methods.clusterers().items() if wanted in cls.method.reads]
    name = able[0] if method == "auto" else method
    cls = methods.find(name)
    if name not in able:
        raise UserError(f"--views{' --distances' * distances}: {name} does not read {wanted}. Take {listing(able)}.")
    given = read_settings(settings, cls, methods.clusterers())
    if scale == "standard" and "standardize" in cls.parameters:
        given["standardize"] = True
    elif scale not in ("auto", "none", "standard"):
        raise UserError(f"--scale {scale}: with --views it is standard (every column) or none; views have one scale.")
    return cls(random_state=seed, **given, **number_settings(cls, count))


def _write(
    out: Path, model: Any, views: dict[str, FileView], tables: str, *, id_column: str | None, quiet: bool, **words: Any
) -> None:
    from evidentia.app.report.results import fill_results

    joined = None
    if "views" in model.method.reads:
        joined = pd.concat({name: view.data for name, view in views.items()}, axis=1)
        joined = joined.set_axis([f"{name[0]}: {name[1]}" for name in joined.columns.tolist()], axis=1)
        if model.partition_.object_names is not None:
            joined = joined.reindex(list(model.partition_.object_names))
    with whole_run(out) as fresh:
        saved = model.save(fresh / "model.npz")
        written = fill_results(
            fresh,
            partition=model.partition_,
            model=model,
            X=joined,
            object_column=id_column,
            tables=tables,
            settings={"views": ", ".join(views), "object names": id_column or "row numbers, from 0"},
            title=", ".join(views),
            code=_recipe(model, views),
            **words,
        )
    if not quiet:
        terminal.echo()
        terminal.print_labeled("written", f"{out / written[0].name}  (open it in a browser)")
        terminal.print_labeled("", ", ".join(path.name for path in [*written[1:], saved]))


def _recipe(model: Any, views: dict[str, FileView]) -> str:
    """Return Python code that does the same."""
    script = Script()
    lines = [f"    {name!r}: {script.expression(view.code)}," for name, view in views.items()]
    script.add("views = {", *lines, "}")
    script.fit(model, model.n_clusters_, X="views")
    script.add("print(model.partition_)", "print(model.view_summary())")
    return str(script)
