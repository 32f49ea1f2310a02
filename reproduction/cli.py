"""The command ``python -m reproduction``: the list, the progress, the tables and the counts of verdicts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated

import typer
from tqdm.auto import tqdm

from evidentia.datasets import data_directory
from reproduction import catalog, results
from reproduction.exhibit import VERDICTS, Cell, Exhibit, Unit, Verdict
from reproduction.files import DamagedFile
from reproduction.page import evidence, write_page
from reproduction.results import ExhibitResult, number
from reproduction.running import Failure, Outcome, Store, compute, longest_first

MARKS: dict[Verdict, str] = {"within": "=", "better": "+", "worse": "-", "different": "~", "not comparable": " "}
COLORS: dict[Verdict, str | None] = {
    "within": "green",
    "better": "blue",
    "worse": "red",
    "different": "yellow",
    "not comparable": None,
}
LEAST = 8  # width of a column
USER_MISTAKE, INTERRUPTED = 2, 130

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(context_settings={"help_option_names": ["-h", "--help"]})
def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(metavar="list|all|NAME...", help="What there is; everything; or papers and exhibits by name."),
    ],
    quick: Annotated[bool, typer.Option("--quick/--full", help="Few repetitions, or as many as the papers.")] = True,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where tables, figures and finished units are kept.")] = Path(
        "out/reproduction"
    ),
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes.", show_default="one a core")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of data and starts.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what is kept from earlier runs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the counts only, no tables.")] = False,
    only: Annotated[
        str | None,
        typer.Option(metavar="TABLE/METHOD,...", help="Only these units, * for any; print them and record nothing."),
    ] = None,
    only_methods: Annotated[
        str | None, typer.Option(metavar="METHOD,...", help="Only these methods, likewise.")
    ] = None,
    half: Annotated[
        str | None, typer.Option(metavar="development|judging", help="Only this half of 'defaults', likewise.")
    ] = None,
    renew: Annotated[
        bool,
        typer.Option("--renew", help="With --only-methods: put their cells in place of those in the record of --out."),
    ] = False,
) -> None:
    """Compute the tables and figures of the papers, and set the papers' numbers beside ours."""
    if what == ["list"]:
        print_list()
        return
    if out.exists() and not out.is_dir():
        complain(f"--out {out} is a file. Name a directory; it is made if it is not there.")
        raise typer.Exit(USER_MISTAKE)
    part = Part.read(only, only_methods, half) if only or only_methods or half else None
    if renew and not (only_methods and not (only or half) and (out / results.RECORD).exists()):
        complain(f"--renew goes with --only-methods alone, and needs a record in --out {out}.")
        raise typer.Exit(USER_MISTAKE)
    try:
        exhibits = catalog.find(what)
        if part is not None:
            part.check([unit for exhibit in exhibits for unit in exhibit.units(quick, seed)])
    except ValueError as error:
        complain(str(error))
        raise typer.Exit(USER_MISTAKE) from None
    run(exhibits, quick=quick, out=out, jobs=jobs, seed=seed, fresh=fresh, quiet=quiet, part=part, renew=renew)


@dataclass(frozen=True)
class Part:
    """Which units are wanted, where that is not all of them."""

    only: Sequence[str]
    methods: Sequence[str]
    half: str | None

    @classmethod
    def read(cls, only: str | None, methods: str | None, half: str | None) -> Part:
        """From the options, with names separated by commas."""
        return cls(only.split(",") if only else [], methods.split(",") if methods else [], half)

    def of(self, units: Sequence[Unit]) -> list[Unit]:
        """Those of the units that are wanted."""
        return [
            unit
            for unit in units
            if (not self.only or any(self._fits(unit, pattern) for pattern in self.only))
            and (not self.methods or unit.settings.get("method") in self.methods)
            and (self.half is None or unit.settings.get("half") == self.half)
        ]

    @staticmethod
    def _fits(unit: Unit, pattern: str) -> bool:
        return fnmatch(unit.key, pattern) or fnmatch(unit.key, f"{pattern}/*")

    def check(self, units: Sequence[Unit]) -> None:
        """Refuse a name that means none of the units."""
        for pattern in self.only:
            if not any(self._fits(unit, pattern) for unit in units):
                there = f"; one that there is: {units[0].key!r}" if units else ""
                raise ValueError(f"--only: no unit is called {pattern!r}{there}.")
        for option, name, wanted in (("--only-methods", "method", self.methods), ("--half", "half", [self.half])):
            known = sorted({unit.settings[name] for unit in units if name in unit.settings})
            for one in wanted:
                if one is not None and one not in known:
                    raise ValueError(f"{option}: there is no {one!r}. There are: {', '.join(known) or 'none here'}.")


def main() -> None:
    app(prog_name="python -m reproduction")


def print_list() -> None:
    """Every table and figure, with what it needs and how long it takes."""
    exhibits = catalog.find([catalog.EVERYTHING])
    lacking = catalog.missing_data(exhibits)
    width = max(len(exhibit.name) for exhibit in exhibits)
    for paper in catalog.PAPERS:
        heading(f"{paper.name}: {paper.title}")
        for exhibit in sorted(paper.exhibits, key=lambda exhibit: results.natural(exhibit.name)):
            times = "" if exhibit.absent else " ".join(f"{duration(60 * minutes):>7}" for minutes in exhibit.minutes)
            typer.echo(f"  {exhibit.name:<{width}} {times:<15}  {exhibit.title}")
            below = []
            if exhibit.data:
                below.append(f"needs {', '.join(exhibit.data)}")
            if away := [name for name in exhibit.data if name in lacking]:
                below.append(f"not here: {', '.join(away)}")
            if exhibit.absent:
                below.append(f"not computed: {exhibit.absent}")
            if below:
                typer.secho(" " * (width + 20) + "; ".join(below), dim=True)
        typer.echo()
    typer.echo(
        "The two times are for one core, --quick and --full. 'python -m reproduction NAME' computes one, or a paper."
    )
    if lacking:
        tell_missing(lacking)


def run(
    exhibits: Sequence[Exhibit],
    *,
    quick: bool,
    out: Path,
    jobs: int | None,
    seed: int,
    fresh: bool,
    quiet: bool,
    part: Part | None = None,
    renew: bool = False,
) -> None:
    """Compute, print and write; an interruption keeps what is finished.

    A part of the units is only printed, unless the record is to be renewed by it.
    """
    import matplotlib

    matplotlib.use("agg")
    lacking = catalog.missing_data(exhibits)
    shown = [results.find_absent(exhibit, exhibit.absent) for exhibit in exhibits if exhibit.absent]
    away = [exhibit for exhibit in exhibits if exhibit.data and set(exhibit.data) <= set(lacking)]
    shown += [results.find_absent(exhibit, f"the data are not here: {', '.join(exhibit.data)}") for exhibit in away]
    chosen = [exhibit for exhibit in exhibits if not exhibit.absent and exhibit not in away]
    plan = {exhibit.name: exhibit.units(quick, seed) for exhibit in chosen}
    if part is not None:
        plan = {name: part.of(units) for name, units in plan.items()}
        chosen = [exhibit for exhibit in chosen if plan[exhibit.name]]
    planned = longest_first(chosen, plan, quick)
    units = [unit for unit, _ in planned]
    jobs = jobs or min(os.cpu_count() or 1, max(1, len(units)))
    mode = "quick" if quick else "full"
    heading(f"{len(chosen)} exhibits, {len(units)} units, {mode} run, seed {seed}")
    expected = duration(60 * sum(minutes for _, minutes in planned) / jobs)
    labeled("time", f"about {expected} with {jobs} process{'es' * (jobs > 1)}, less what is kept from before")
    for one in shown:
        labeled("left out", f"{one.name}: {one.about['absent']}")
    if lacking:
        tell_missing(lacking)

    store = Store(out / "units", fresh=fresh)
    with Progress(len(units), jobs) as progress:
        try:
            outcomes = compute(units, store, jobs=jobs, watcher=progress)
        except KeyboardInterrupt:
            progress.close()
            complain(
                f"interrupted. {progress.done} of {len(units)} units are done and kept in {store.directory}; "
                "the same command goes on from there."
            )
            raise typer.Exit(INTERRUPTED) from None
    for name in store.damaged:
        note(f"{name} was not what had been written, so that its unit was computed again.")

    computed = [results.gather(exhibit, plan[exhibit.name], outcomes, quick=quick, seed=seed) for exhibit in chosen]
    if renew:
        held = results.renew(out, computed)
    else:
        held = computed if part is not None else record(out, [*shown, *computed])
    if not quiet:
        for one in computed:
            if part is None or one.cells:
                print_exhibit(one, words=part is None)
        if part is None or renew:  # a part of the methods decides nothing about the best of all
            print_claims(held, computed)
    typer.echo()
    print_failures(computed)
    print_counts(computed)
    typer.echo()
    if part is None or renew:
        labeled("written", f"{write_page(out / 'index.html', held)}  (open it in a browser)")
        labeled("", f"{out / results.RECORD}, every number and unit; a PNG for each figure")


def record(out: Path, shown: Sequence[ExhibitResult]) -> list[ExhibitResult]:
    """Add exhibits to the record of a directory; one that is damaged is told and written anew."""
    try:
        return results.write(out, shown)
    except DamagedFile as error:
        note(f"{error} It is written anew, with this run alone.")
        (out / results.RECORD).unlink()
        return results.write(out, shown)


class Progress:
    """A bar in a terminal, which says what is being computed; a line for each unit elsewhere."""

    def __init__(self, total: int, jobs: int):
        self.total, self.jobs, self.done = total, jobs, 0
        self.running: list[str] = []
        self.bar = tqdm(total=total, desc="reproduction", unit="unit", disable=not sys.stderr.isatty())

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.bar.close()

    def begins(self, unit: Unit) -> None:
        self.running.append(unit.key)
        self.bar.set_postfix_str(listing(self.running, self.jobs))

    def ends(self, unit: Unit, outcome: Outcome, kept: bool) -> None:
        self.done += not isinstance(outcome, Failure)
        if not kept:
            self.running.remove(unit.key)
            self.bar.set_postfix_str(listing(self.running, self.jobs))
        self.bar.update()
        if self.bar.disable and not kept:
            said = outcome.error if isinstance(outcome, Failure) else duration(outcome.seconds)
            typer.echo(f"{unit.key}: {said}", err=True)
        elif isinstance(outcome, Failure) and not kept:
            tqdm.write(f"{unit.key}: {outcome.error}", file=sys.stderr)


# -- printing ---------------------------------------------------------------------------------------------------------


def heading(text: str) -> None:
    typer.secho(text, bold=True)


def labeled(label: str, text: str) -> None:
    typer.echo(f"  {typer.style(f'{label:<11}', fg='cyan')} {text}")


def note(text: str) -> None:
    typer.echo(f"{typer.style('note:', fg='yellow')} {text}", err=True)


def complain(text: str) -> None:
    typer.echo(f"{typer.style('error:', fg='red', bold=True)} {text}", err=True)


def listing(names: Sequence[str], most: int) -> str:
    """Some names in a sentence.

    >>> listing(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def tell_missing(lacking: dict[str, str]) -> None:
    """Which data are not here, and how to have them."""
    directory = data_directory()
    where = "there is no data directory" if directory is None else f"{directory} does not hold them"
    note(f"data that are not here: {', '.join(lacking)} ({where}). What needs none of them is computed.")
    note("to have them: set EVIDENTIA_DATA to a directory with their files.")
    if fetched := [name for name, state in lacking.items() if state == "can be downloaded"]:
        note(f"from OpenML: 'evidentia datasets NAME --download' for {', '.join(fetched)}.")


def print_exhibit(one: ExhibitResult, words: bool = True) -> None:
    typer.echo()
    heading(f"{one.name}  {one.about['title']}")
    for chunk in chunks(one.columns, max(map(len, one.table), default=0)):
        print_chunk(one, chunk)
    for text in (*(one.about["words"] if words else ()), *one.about["notes"]):
        labeled("note", text)


def print_chunk(one: ExhibitResult, columns: Sequence[str]) -> None:
    """Rows of ours with the verdict's mark, each above the row of the paper."""
    side = max(map(len, one.table))
    widths = [max(LEAST, len(column) + 1) for column in columns]
    head = "".join(f"{column:>{width}} " for column, width in zip(columns, widths))
    typer.secho(f"  {'':<{side}}        {head}".rstrip(), fg="cyan")
    for row, cells in one.table.items():
        ours = [mark(cells.get(column), width) for column, width in zip(columns, widths)]
        typer.echo(f"  {row:<{side}}  ours  {''.join(ours)}".rstrip())
        if any(column in cells and cells[column].paper is not None for column in columns):
            papers = [
                f"{number(cells[column].paper) if column in cells else '':>{width}} "
                for column, width in zip(columns, widths)
            ]
            typer.secho(f"  {'':<{side}}  paper {''.join(papers)}".rstrip(), dim=True)


def mark(cell: Cell | None, width: int) -> str:
    if cell is None:
        return " " * (width + 1)
    text = f"{number(cell.ours):>{width}}{MARKS[cell.verdict]}"
    return typer.style(text, fg=COLORS[cell.verdict])


def chunks(columns: Sequence[str], side: int) -> list[list[str]]:
    """Columns in groups that fit into the"""
    room = shutil.get_terminal_size((120, 24)).columns - side - 10
    groups: list[list[str]] = []
    used = room
    for column in columns:
        width = max(LEAST, len(column) + 1) + 1
        if used + width > room:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += width
    return groups


def print_failures(computed: Iterable[ExhibitResult]) -> None:
    """Once for each error, with the units it befell."""
    failures = [(f"{one.name} {failure['unit']}", failure) for one in computed for failure in one.about["failures"]]
    for error, units in results.group_by_value((name, found["error"]) for name, found in failures).items():
        complain(f"{listing(units, 4)}: {error}")


def print_counts(computed: Sequence[ExhibitResult]) -> None:
    """Verdicts of each paper and of all."""
    tally = results.tally(computed)
    if not tally:
        return
    lines = {**tally, "in all": results.sum_counts(tally.values())} if len(tally) > 1 else tally
    side = max(map(len, lines))
    heading(f"{'cells':<{side}}  {'  '.join(VERDICTS)}  within, of the comparable")
    for paper, counts in lines.items():
        numbers = "  ".join(f"{counts[verdict]:>{len(verdict)}}" for verdict in VERDICTS)
        share = results.share_within(counts)
        typer.echo(f"{paper:<{side}}  {numbers}  {'none is comparable' if share is None else f'{share:.0%}'}")
    typer.echo("within: two standard errors of both means, or 0.02; of counts, one object or 2 % of the class")


def print_claims(held: Sequence[ExhibitResult], computed: Sequence[ExhibitResult]) -> None:
    """The claims of the papers that an exhibit of this run has a part in."""
    names = {one.name for one in computed}
    for paper, claims in results.count_decided(held).items():
        there = [one for one in claims if one.cases and names & set(one.claim.exhibits)]
        if there:
            heading(f"{paper}: what the paper says of its method")
        for one in there:
            labeled(one.finding, f"{one.claim.place}: {one.claim.text} {evidence(one)}")


def duration(seconds: float) -> str:
    """
    >>> [duration(s) for s in (0.3, 42, 90, 3000, 9000)]
    ['0.3 s', '42 s', '1.5 min', '50 min', '2.5 h']
    """
    for size, unit in ((3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size or unit == "s":
            value = seconds / size
            return f"{value:.0f} {unit}" if value >= 10 or value == int(value) else f"{value:.1f} {unit}"
    raise AssertionError
