"""The commands. Heavy modules are imported inside them, so that ``evidentia --help`` answers at once."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import evidentia
from evidentia.app.cli import terminal
from evidentia.app.cli.errors import INTERRUPTED, Commands, UserError
from evidentia.app.cli.files import check_file, check_out, find_result, is_large
from evidentia.app.cli.options import (
    Columns,
    Distances,
    Drop,
    FitOn,
    Fits,
    FitScale,
    Frame,
    FusionRule,
    Holes,
    HowMany,
    IdColumn,
    Keep,
    Kept,
    LinksFile,
    MethodName,
    Missing,
    Quiet,
    Results,
    Rule,
    Scale,
    Scheduler,
    Seed,
    SegmentScale,
    SeveralViews,
    TableFile,
    TableFiles,
    TableKind,
    Tables,
)
from evidentia.app.cli.settings import MethodCommand

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


ON_DISK = "--checkpoint and --scheduler are for rows that stay in their files"


class TwoMasks(MethodCommand):
    """Lets ``--different`` take two values each time, which typer cannot do for an option that may be repeated."""

    BETWEEN = "\n"

    @staticmethod
    def look_for(file: Path) -> None:
        """Images are looked for with their masks."""

    @staticmethod
    def offers(cls: Any) -> bool:
        return "weights" in cls.method.takes and "table" in cls.method.reads

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        joined: list[str] = []
        rest = iter(args)
        for word in rest:
            joined.append(word)
            if word == "--different":
                two = [value for value in (next(rest, None), next(rest, None)) if value is not None]
                if len(two) < 2 or any(value.startswith("--") for value in two):
                    raise UserError("--different takes two masks: --different regionA.png regionB.png.")
                joined.append(self.BETWEEN.join(two))
        return super().parse_args(ctx, joined)


def _print_version(asked: bool) -> None:
    if asked:
        terminal.echo(f"evidentia {evidentia.__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(help="Show tracebacks of errors.")] = False,
) -> None:
    """Find groups in a table, and see which objects the data cannot place."""


def _check_in_memory(file: Path, checkpoint: Any, scheduler: Any, ensemble: Any, links: Any) -> None:
    """Refuse a file that is not there, and options that do not go together for a table in memory."""
    check_file(file)
    if checkpoint or scheduler:
        raise UserError(f"{ON_DISK}: 'data/*.parquet', .npy, .zarr.")
    if ensemble and links:
        raise UserError("--ensemble does not go with --links: links speak of rows that not every fit sees.")


@app.command(cls=MethodCommand)
def fit(
    ctx: typer.Context,
    files: TableFiles,
    method: MethodName = "auto",
    distances: Distances = None,
    views: SeveralViews = False,
    links: LinksFile = None,
    clusters: HowMany = "auto",
    scale: FitOn = FitScale.auto,
    id_column: IdColumn = None,
    drop: Drop = None,
    columns: Columns = None,
    keep: Keep = None,
    missing: Holes = None,
    seed: Seed = 0,
    out: Results = None,
    tables: TableKind = Tables.auto,
    checkpoint: Kept = None,
    scheduler: Scheduler = None,
    ensemble: Fits = None,
    quiet: Quiet = False,
) -> None:
    """Cluster the rows of a table and say how certain each one is; many rows stay in their files."""
    if views or len(files) > 1:
        one_table = {"--links": links, "--keep": keep, "--missing": missing, "--checkpoint": checkpoint,
                     "--scheduler": scheduler, "--ensemble": ensemble}  # fmt: skip
        _fit_views(ctx, files, views, method, clusters, one_table, distances=bool(distances), scale=scale.value,
                   id_column=id_column, drop=drop or (), columns=columns or (), seed=seed, out=out,
                   tables=tables.value, quiet=quiet)  # fmt: skip
        return
    (file,) = files
    if is_large(file):
        alone = {"--distances": distances, "--links": links, "--id": id_column, "--keep": keep, "--missing": missing,
                 "--ensemble": ensemble}  # fmt: skip
        _fit_large(ctx, file, method, clusters, seed, alone, checkpoint=checkpoint, scheduler=scheduler, quiet=quiet,
                   columns=columns or (), drop=drop or (), scale=scale.value, out=out)  # fmt: skip
        return
    _check_in_memory(file, checkpoint, scheduler, ensemble, links)
    from evidentia import methods
    from evidentia.app.cli import fitting, inputs

    count = fitting.parse_clusters(clusters)
    options = inputs.InputOptions(
        method=method,
        distances=distances,
        linked=links is not None,
        scale=scale.value,
        id_column=id_column,
        drop=drop or (),
        columns=columns or (),
        keep=keep or (),
        missing=None if missing is None else missing.value,
    )
    fitting.FitRequest(method, count, (), distances=bool(distances), linked=options.linked).check()
    able = methods.best_for("numbers").method.name
    cures = f"--missing drop leaves these rows out; --method {able} --missing em uses what is there"
    given = inputs.read(file, options, cures=cures)
    estimator, given = given.estimator(count, ctx.meta["settings"], seed, linked=options.linked)
    given.check_links(links)
    check_out(out, tables.value)
    if not quiet:
        given.print_heading()
        given.print_choice()
    fitting.run(
        estimator,
        given.data,
        count,
        scale=given.scale,
        out=out,
        tables=tables.value,
        quiet=quiet,
        notes=given.notes,
        object_column=given.id_column,
        links=_read_links(links, given.id_column),
        ensemble=ensemble,
        settings=given.words,
        command=_command(ctx),
        code=given.recipe(estimator, count, links, ensemble),
        title=file.name,
    )


def _fit_views(
    ctx: Any, files: list[Path], asked: bool, method: str, clusters: str, alone: dict[str, Any], **given: Any
) -> None:
    """Several files are views of the same objects, if that was said."""
    if not asked:
        raise UserError(
            f"There are {len(files)} files: {files[0]}, {files[1]}{' …' * (len(files) > 2)}. --views takes them for "
            "several tables of the same objects; without it name one. Names with spaces need quotes."
        )
    for option in (option for option, value in alone.items() if value):
        raise UserError(f"{option} is for one table, not for --views.")
    for file in files:
        check_file(file)
    from evidentia.app.cli.viewing import fit_views

    check_out(given["out"], given["tables"])
    fit_views(files, method, clusters, ctx.meta["settings"], command=_command(ctx), **given)


def _fit_large(
    ctx: Any, file: Path, method: str, clusters: str, seed: int, alone: dict[str, Any], **given: Any
) -> None:
    """Rows stay where they are; what can be done only with all of them at hand is refused."""
    from evidentia import methods
    from evidentia.app.cli import fitting
    from evidentia.app.cli.large import fit_large

    for option in (option for option, value in alone.items() if value):
        raise UserError(f"{option} needs all rows in memory, and those of {file} stay on disk.")
    check_out(given["out"])
    name = methods.best_for("numbers").method.name if method == "auto" else method
    request = fitting.FitRequest(name, fitting.parse_clusters(clusters), ctx.meta["settings"], seed)
    fit_large(str(file), request, command=_command(ctx), title=file.name, **given)


@app.command()
def ask(
    ctx: typer.Context,
    file: TableFile,
    clusters: Annotated[int, typer.Option(min=2, help="How many clusters.")],
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where answers are kept, and taken up again.", show_default="FILE-answers.csv"
        ),
    ] = None,
    rule: Annotated[Rule, typer.Option(help="How the next pair is chosen.")] = Rule.boundary,
    adaptive: Annotated[
        bool, typer.Option("--adaptive/--round", help="Each cluster with its own shape, or all of them round.")
    ] = True,
    scale: Annotated[Scale, typer.Option(help="Bring the columns to a common scale first.")] = Scale.standard,
    id_column: IdColumn = None,
    drop: Drop = None,
    columns: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Columns to cluster; the others are only shown.")
    ] = None,
    missing: Annotated[Missing, typer.Option(help="Rows with missing values: stop, or leave out.")] = Missing.error,
    seed: Seed = 0,
    starts: Annotated[int, typer.Option(min=1, help="Number of starts of each fit.")] = 10,
    out: Results = None,
) -> None:
    """Answer questions about pairs of rows, and see the clusters follow; leave and come back at any time."""
    check_file(file)
    from evidentia import methods
    from evidentia.app.cli import asking, inputs

    options = inputs.InputOptions(
        method=methods.best_for("links").method.name, distances=False, scale=scale.value, id_column=id_column,
        drop=drop or (), columns=columns or (),
        missing=missing.value,
    )  # fmt: skip
    given = inputs.read(file, options)
    check_out(out)
    kept = answers or file.with_name(f"{file.name.split('.')[0]}-answers.csv")
    asked = asking.AskJob(file, given, kept, clusters, rule.value, adaptive, starts, seed, out, _command(ctx))
    if not asking.run(asked):
        raise typer.Exit(INTERRUPTED)


@app.command()
def explore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Table, as for fit, or image.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where every step is kept, and taken up again.", show_default="FILE-explorer"),
    ] = None,
    method: MethodName = "auto",
    clusters: HowMany = "auto",
    scale: FitOn = FitScale.auto,
    id_column: IdColumn = None,
    drop: Drop = None,
    columns: Columns = None,
    keep: Keep = None,
    missing: Holes = None,
    seed: Seed = 0,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port; if it is taken, the next.")] = 5006,
    host: Annotated[str, typer.Option(help="Address that is listened at; other machines cannot reach this one.")] = (
        "127.0.0.1"
    ),
    allow_remote: Annotated[
        bool,
        typer.Option("--allow-remote", help="With --host: whoever gets hold of the address may see and change all."),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Look at the groups in the browser, say what you know, and see what moves; everything stays on this machine."""
    if is_large(file):
        raise UserError(
            f"The explorer reads one table into memory, and {file} is of those that are read chunk by chunk: several "
            "files, an array on disk, or a very large table. Take a sample of its rows, as CSV."
        )
    check_file(file)
    from evidentia.app.cli import exploring, fitting, inputs

    options = inputs.InputOptions(
        method=method, distances=False, scale=scale.value, id_column=id_column, drop=drop or (), columns=columns or (),
        keep=keep or (), missing=None if missing is None else missing.value,
    )  # fmt: skip
    out = out or file.with_name(f"{file.name.split('.')[0]}-explorer")
    check_out(out)
    number = fitting.parse_clusters(clusters)
    is_image = file.name.lower().endswith(exploring.IMAGES)
    job = (
        exploring.ImageJob(file, number, seed, out)
        if is_image
        else exploring.TableJob(file, options, number, seed, out)
    )
    exploring.run(job, port=port, host=host, allow_remote=allow_remote, browser=browser)


@app.command(cls=TwoMasks)
def segment(
    ctx: typer.Context,
    images: Annotated[
        list[Path],
        typer.Argument(metavar="IMAGE...", help="PNG, JPEG, TIFF or NIfTI; several of the same place are channels."),
    ],
    clusters: Annotated[
        str | None, typer.Option(metavar="auto|INT|FROM-TO", help="How many clusters; auto is for methods that choose.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Clustering method, see below.",
            show_default="what suits images",
        ),
    ] = None,
    same: Annotated[
        list[Path] | None, typer.Option(metavar="MASK", help="Region that is one segment (not black); repeat.")
    ] = None,
    different: Annotated[
        list[str] | None, typer.Option(metavar="MASK MASK", help="Two regions that are not the same segment; repeat.")
    ] = None,
    within: Annotated[Path | None, typer.Option(metavar="MASK", help="Segment what is inside of it only.")] = None,
    background: Annotated[
        float | None, typer.Option(metavar="VALUE|nan", help="Leave out pixels with this value in all channels.")
    ] = None,
    fuse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'A < B,C'",
            help="Segment each image for itself, then combine: what its clusters mean, dark to bright; once an image.",
        ),
    ] = None,
    scale: Annotated[
        SegmentScale, typer.Option(help="Bring the channels to a common scale first.")
    ] = SegmentScale.standard,
    links: Annotated[int, typer.Option(min=1, help="Pairs of pixels drawn from each mask and each two masks.")] = 500,
    prototypes: Annotated[
        int | None,
        typer.Option(min=2, help="More distinct values than this are rounded.", show_default="65536; 1024 with --fuse"),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the maps there.")] = None,
    quiet: Quiet = False,
) -> None:
    """Cluster the pixels of an image, and map how certain each one is."""
    from evidentia.app.cli import segmenting

    check_out(out)
    pairs = [(Path(a), Path(b)) for a, b in (two.split(TwoMasks.BETWEEN) for two in different or [])]
    masks = segmenting.Masks(same or [], pairs, within, background)
    job = segmenting.SegmentJob(
        images,
        masks,
        method=method,
        settings=ctx.meta["settings"],
        seed=seed,
        verbose=int(not quiet and sys.stderr.isatty()),
        scale=scale.value,
        n_links=links,
        n_prototypes=prototypes,
    )
    segmenting.run(job, clusters=clusters, meanings=fuse or [], out=out, quiet=quiet)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="model.npz, or the directory that fit --out wrote.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Table with the columns that were clustered, by name.")],
    id_column: IdColumn = None,
    missing: Holes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the masses (.csv, .parquet; '-' prints CSV) or the partition (.npz); many rows: a directory.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Place new rows in the clusters of a model, and say how certain each one is."""
    model = find_result(model, "model.npz")
    if not is_large(file):
        check_file(file)
    from evidentia.app.cli import predicting
    from evidentia.app.cli.terminal import print_summary

    predicting.check_out(out, file)
    found = predicting.read_model(model)
    partition = predicting.place(found, file, id_column=id_column, missing=None if missing is None else missing.value)
    if str(out) != "-":
        print_summary(partition.summary())
    if out is not None:
        written = predicting.write(partition, out, id_column or found.id_column or "object")
        if not quiet and str(out) != "-":
            terminal.print_labeled("written", str(written))
    elif not quiet:
        terminal.echo("\nNothing was written; --out FILE keeps the masses of every row.")


@app.command()
def fuse(
    ctx: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="partition.npz of the same objects, or their directories.")
    ],
    rule: Annotated[
        FusionRule,
        typer.Option(
            help="auto: average if clusters are the same, else dempster (all are right); hedge: doubt by conflict."
        ),
    ] = FusionRule.auto,
    frame: Annotated[
        Frame, typer.Option(help="Which clusters are the same: by name, by who is in them, or all combinations.")
    ] = Frame.auto,
    discount: Annotated[float, typer.Option(min=0, max=1, help="Doubt about every one of the partitions.")] = 0.0,
    min_share: Annotated[
        float, typer.Option(min=0, max=1, help="With refine: share of its smallest cluster that a combination holds.")
    ] = 0.2,
    out: Results = None,
) -> None:
    """Combine partitions of the same objects, by several methods, views or raters, and say where they disagree."""
    from evidentia.app.cli import fusing

    check_out(out)
    fusing.run(
        files,
        rule=rule.value,
        frame=frame.value,
        discount=discount,
        min_share=min_share,
        out=out,
        command=_command(ctx),
    )


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="partition.npz, or the directory that holds it.")],
    objects: Annotated[int, typer.Option(min=0, metavar="N", help="Also list the N most doubtful objects.")] = 0,
) -> None:
    """Print the summary of a finished partition again."""
    if (file / "summary.txt").is_file():  # of rows that stayed in their files
        terminal.echo(find_result(file, "summary.txt").read_text(encoding="utf-8").rstrip())
        if not objects:
            return
        file = find_result(file, "sample/partition.npz").parent
    archive = find_result(file, "partition.npz")
    from evidentia.app.cli.terminal import print_doubtful, print_summary
    from evidentia.partition import CredalPartition

    partition = CredalPartition.load(archive)
    print_summary(partition.summary())
    if objects:
        terminal.echo()
        print_doubtful(partition, objects)


@app.command()
def explain(
    results: Annotated[Path, typer.Argument(metavar="DIR", help="What --out wrote: the directory, or partition.npz.")],
    objects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="OBJECT...", help="Names of objects, or their numbers.", show_default="the most doubtful"
        ),
    ] = None,
    distances: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The dissimilarities that were clustered.")
    ] = None,
) -> None:
    """Say why objects are doubtful: which clusters compete, which columns speak for which, what would settle it."""
    archive = find_result(results, "partition.npz")
    from evidentia.app.cli.explaining import explanations

    for at, words in enumerate(explanations(archive, objects or (), distances)):
        terminal.echo(f"{chr(10) * (at > 0)}{words}")


@app.command()
def report(
    results: Annotated[Path, typer.Argument(metavar="DIR", help="What --out wrote: the directory, or partition.npz.")],
    interactive: Annotated[
        bool,
        typer.Option("--interactive", help="A page to look around in, all in one file; needs evidentia[explorer]."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write.", show_default="interactive.html or report.html in DIR"),
    ] = None,
) -> None:
    """Write a page about results: to point at objects, draw around them, filter and search with --interactive."""
    archive = find_result(results, "partition.npz")
    from evidentia.app.cli.explaining import write_page

    path = write_page(archive, out, interactive=interactive)
    typer.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB. Open it in a browser; it needs no network.")


@app.command()
def demo(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write.")] = Path("out/demo"),
    quiet: Quiet = False,
) -> None:
    """Cluster Fisher's irises, the number of clusters chosen from the data, and compare with the species."""
    from evidentia.app.cli.examples import show_irises

    show_irises(out, command=_command(ctx), quiet=quiet)


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Describe this one.", show_default=False)] = None,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it as CSV, the classes in column 'label'.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch it from OpenML when it is not here.")] = False,
) -> None:
    """List the data sets that can be loaded, describe one, or write it to a file."""
    from evidentia.app.cli import examples

    if name is not None:
        examples.show_dataset(name, to, download=download)
    elif to is not None or download:
        raise UserError("Which data set? 'evidentia datasets' lists the names.")
    else:
        examples.list_all()


def _read_links(path: Path | None, id_column: str | None) -> Any:
    """Links by the names of the objects, when these have names, else by row number."""
    from evidentia.constraints import PairwiseConstraints

    if path is None:
        return None
    if not path.is_file():
        raise UserError(f"--links: there is no file {path}.")
    return PairwiseConstraints.from_csv(path, by="index" if id_column is None else "name")


def _command(ctx: typer.Context) -> str:
    return shlex.join(["evidentia", *ctx.meta["arguments"]])


def main() -> None:
    """Entry point of the ``evidentia`` command."""
    app()
