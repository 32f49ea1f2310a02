"""From options to a fitted model, printed and written: which estimator, on which scale, with how many clusters."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from sklearn.base import clone

from evidentia import methods
from evidentia.app.advisor import n_clusters as numbers
from evidentia.app.advisor.n_clusters import Clusters, fit_number, numbers_to_try
from evidentia.app.advisor.rules import number_settings, rescale
from evidentia.app.advisor.table_model import TableModel, scales_of
from evidentia.app.cli import terminal
from evidentia.app.cli.errors import INTERRUPTED, UserError
from evidentia.app.cli.settings import read_settings
from evidentia.app.report.words import few_starts
from evidentia.app.run_folder import whole_run
from evidentia.partition import CredalPartition
from evidentia.selection import ensemble


@dataclass(frozen=True)
class FitResult:
    """The fitted model with what makes its rows out of those of a file, the partition, and how the fit went.

    The partition is that of the model, or with an ensemble that of many fits like it.
    """

    table_model: TableModel
    partition: CredalPartition
    selection: Any
    notes: list[str]
    interrupted: bool


@dataclass(frozen=True)
class FitRequest:
    """What the options ask for: a method, its settings, how many clusters, and what it is to work on."""

    method: str
    clusters: Clusters
    settings: Sequence[str]  # words of the command line that are for the method
    seed: int = 0
    distances: bool = False
    linked: bool = False
    chosen: Mapping[str, Any] = field(default_factory=dict)  # settings that the look at the table suggests

    def estimator(self) -> Any:
        """The estimator, unfitted; what means nothing to the method is refused."""
        cls = methods.find(self.method)
        self.check()
        given = {**self.chosen, **self.given_settings()}
        if "random_state" in cls.parameters:
            given["random_state"] = self.seed
        return cls(**given, **number_settings(cls, self.clusters))

    def given_settings(self) -> dict[str, Any]:
        """The settings that the command line names."""
        return read_settings(self.settings, methods.find(self.method), methods.clusterers())

    def check(self) -> None:
        """Refuse a method that cannot use what the command line gives it; one to be chosen still will."""
        if self.method == "auto":
            return
        method, known = methods.find(self.method).method, methods.clusterers()

        def is_able(part: str, what: str) -> str:
            return ", ".join(name for name, cls in known.items() if what in getattr(cls.method, part))

        if self.distances and "dissimilarities" not in method.reads:
            raise UserError(
                f"--distances: dissimilarities mean nothing to {method.name}. Methods that take them: "
                f"{is_able('reads', 'dissimilarities')}."
            )
        if not self.distances and not {"table", "categories"} & set(method.reads):
            cure = "give several files with --views" if method.reads_views else "use it from Python"
            raise UserError(f"{method.name} reads {' or '.join(method.reads)}, not one table: {cure}.")
        if self.linked and "links" not in method.takes:
            raise UserError(
                f"--links: links mean nothing to {method.name}. Methods that take them: {is_able('takes', 'links')}."
            )
        if self.linked and not isinstance(self.clusters, int):
            raise UserError("--links needs one number of clusters, such as --clusters 3.")
        if "given" not in method.number and self.clusters is not None:
            raise UserError(f"{method.name} finds the number of clusters itself: leave --clusters out.")


def parse_clusters(text: str) -> Clusters:
    """What ``--clusters`` means."""
    try:
        return numbers.parse_clusters(text)
    except ValueError as error:
        raise UserError(f"--clusters: {error}") from None


def fit(estimator: Any, data: pd.DataFrame, clusters: Clusters, scale: str, links: Any = None) -> FitResult:
    """Fit on the chosen scale; an interrupt keeps the best solution so far."""
    scaled, scaler = rescale(data, scale)
    scales, selection = scales_of(scaler), None
    with record_events() as noticed:
        if links is not None:
            model = estimator.fit(scaled, constraints=links)
        else:
            model, selection = fit_number(estimator, scaled, clusters)
    if "verbose" in model.parameters:
        model.set_params(verbose=0)
    columns, named = data.columns.tolist(), data.index.name
    categories = tuple(name for name in columns if data[name].dtype == "category")
    table_model = TableModel(model, tuple(columns), categories, scales, None if named is None else str(named))
    return FitResult(table_model, model.partition_, selection, noticed.notes, noticed.interrupted)


def with_ensemble(fitted: FitResult, data: pd.DataFrame, n_fits: int, verbose: int = 0) -> FitResult:
    """Replace the partition by that of many fits like the model, its clusters in the order of the model's."""
    table_model, model = fitted.table_model, fitted.table_model.model
    given = {name: getattr(model, f"{name}_") for name in fixed_by_a_fit(model)}
    alike = clone(model).set_params(**given)
    with record_events() as noticed:
        seed = alike.get_params().get("random_state")
        found = ensemble(table_model.prepare(data), alike, n_fits=n_fits, random_state=seed, verbose=verbose)
    same = found.partition.n_clusters == model.n_clusters_
    partition = found.partition
    if same:
        alone = partition.align(model.partition_)
        partition = CredalPartition.from_fields(**{**alone.to_fields(), "verdict": model.partition_.verdict})
    used, contested = len(found.models), int((found.conflict > 0.5).sum())
    note = (
        f"the masses are those of {used} fits to other rows, from other starts; two of them contradict each other by "
        f"{found.conflict.mean():.2f} on average, and by more than half about {contested} objects. model.npz places "
        "new rows by the one fit before them."
    )
    notes = [*fitted.notes, *noticed.notes, note]
    return replace(fitted, partition=partition, notes=notes, interrupted=noticed.interrupted)


def fixed_by_a_fit(estimator: Any) -> list[str]:
    """Return the parameters that a fit may find and further fits are given: number of clusters, covariance model."""
    number = ["n_clusters"] * ("given" in estimator.method.number)
    kinds = [name for name in ("model", "covariance") if name in estimator.parameters]
    return number + [name for name in kinds if f"{name}_" in estimator.attributes]


class FitEvents:
    """What happened during a fit: warnings meant for the user, and whether the interrupt key was pressed."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.interrupted = False

    def warn(self, message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        text = str(message)
        if text not in self.notes:
            self.notes.append(text)

    def interrupt(self, number: int, frame: Any) -> None:
        self.interrupted = True
        raise KeyboardInterrupt


@contextmanager
def record_events() -> Iterator[FitEvents]:
    """Collect user warnings instead of printing them with file and line, and see interrupts that a fit survives."""
    noticed = FitEvents()
    in_main_thread = threading.current_thread() is threading.main_thread()  # the only one that may listen to signals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = noticed.warn
        before = signal.signal(signal.SIGINT, noticed.interrupt) if in_main_thread else None
        try:
            yield noticed
        finally:
            if in_main_thread:
                signal.signal(signal.SIGINT, before)


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
    fitted = fit(estimator, data, clusters, scale, links)
    if ensemble and not fitted.interrupted:
        fitted = with_ensemble(fitted, data, ensemble, verbose=int(not quiet and sys.stderr.isatty()))
    partition, notes = fitted.partition, [*notes, *fitted.notes]
    for text in notes:
        terminal.print_note(text)
    if not quiet:
        terminal.echo()
    terminal.print_summary(partition.summary())
    if doubtful := few_starts(fitted.table_model.model):
        terminal.echo(doubtful)
    if not quiet and fitted.selection is not None:
        itself = numbers_to_try(estimator, clusters) is None  # a long search; the report has its table
        terminal.echo(f"\n{fitted.selection.choice if itself else fitted.selection}")
    sentence = None if remark is None else remark(partition)
    if sentence is not None:
        terminal.echo(f"\n{sentence}")
    if not quiet and out is None:
        terminal.echo("\nNothing was written; --out DIR keeps the report, the masses and the plots.")
    if out is not None:
        from evidentia.app.report.results import fill_results
        from evidentia.plots.mpl import NEEDED, can_draw

        with whole_run(out) as fresh:
            saved = fitted.table_model.save(fresh / "model.npz")
            written = fill_results(
                fresh,
                partition=partition,
                model=fitted.table_model,
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
