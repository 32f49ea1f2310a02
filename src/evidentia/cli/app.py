"""The commands. Heavy modules are imported inside them, so that ``evidentia --help`` answers at once."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

import evidentia
from evidentia.cli import terminal
from evidentia.cli.errors import INTERRUPTED, Commands, UserError

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.partition import CredalPartition

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


ASK_TOL = 1e-7  # somebody waits: later digits change no question
DEMO = """\
from evidentia import EGMM
from evidentia.datasets import load

iris = load("iris", as_frame=True)
model = EGMM(n_clusters="auto", random_state=0).fit(iris.data)
print(model.partition_)"""


class Method(StrEnum):
    egmm = "egmm"
    ecm = "ecm"
    fcm = "fcm"
    noise = "noise"
    gustafson_kessel = "gustafson-kessel"
    cecm = "cecm"
    ccm = "ccm"
    bcm = "bcm"
    bpec = "bpec"
    secmdd = "secmdd"
    wecmdd = "wecmdd"
    mecm = "mecm"
    evclus = "evclus"
    cevclus = "cevclus"
    recm = "recm"
    eknnclus = "eknnclus"
    bhc = "bhc"
    bootgmm = "bootgmm"
    gmm = "gmm"
    nnevclus = "nnevclus"


class FocalFamily(StrEnum):
    full = "full"
    pairs = "pairs"
    singletons = "singletons"
    near_pairs = "near-pairs"


class Scale(StrEnum):
    none = "none"
    standard = "standard"
    robust = "robust"
    minmax = "minmax"


class Metric(StrEnum):
    euclidean = "euclidean"
    mahalanobis = "mahalanobis"


class Rule(StrEnum):
    boundary = "boundary"
    uncertainty = "uncertainty"
    change = "change"
    random = "random"


class SegmentMethod(StrEnum):
    egmm = "egmm"
    ecm = "ecm"
    cecm = "cecm"


class SegmentScale(StrEnum):
    standard = "standard"
    none = "none"


class TwoMasks(TyperCommand):
    """Lets ``--different`` take two values each time, which typer cannot do for an option that may be repeated."""

    BETWEEN = "\n"

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


class Covariance(StrEnum):
    full = "full"
    diag = "diag"
    spherical = "spherical"


class Missing(StrEnum):
    error = "error"
    drop = "drop"
    em = "em"


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"evidentia {evidentia.__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(help="Show tracebacks of errors.")] = False,
) -> None:
    """Find groups in a table, and see which objects the data cannot place."""


@app.command()
def fit(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Table: .csv, .tsv, .parquet or .npz; one row an object.")
    ],
    method: Annotated[
        Method | None, typer.Option(help="Clustering method.", show_default="egmm; evclus with --distances")
    ] = None,
    distances: Annotated[
        bool, typer.Option("--distances", help="FILE is a square table of dissimilarities between objects.")
    ] = False,
    links: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Pairs known to belong together or apart (cecm, cevclus, nnevclus)."),
    ] = None,
    clusters: Annotated[
        str,
        typer.Option(metavar="auto|INT|FROM-TO", help="How many clusters, or the range to choose from; auto is 2-6."),
    ] = "auto",
    focal_sets: Annotated[
        FocalFamily | None, typer.Option(help="Sets of clusters an object may lie between.", show_default="full")
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Bring the columns to a common scale first.")] = Scale.none,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the objects.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Columns to leave out; repeat, or separate by commas.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Columns to cluster, instead of all numeric ones.")
    ] = None,
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="Rows with missing values: stop, leave out, or use what is there (egmm).",
            show_default="em for egmm, else error",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random starts; the same seed gives the same result.")
    ] = 0,
    starts: Annotated[int | None, typer.Option(min=1, help="Number of starts.", show_default="10")] = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="Most iterations of one start.")] = None,
    covariance: Annotated[
        Covariance | None, typer.Option(help="Form of the shared covariance (egmm).", show_default="full")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Penalty of large sets (ecm).")] = None,
    beta: Annotated[float | None, typer.Option(help="Fuzziness, above 1 (all but egmm).")] = None,
    rho: Annotated[
        float | None, typer.Option(help="Distance to the empty set: smaller means more outliers (ecm, noise).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write report, masses, partition and plots there.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only.")] = False,
) -> None:
    """Cluster the rows of a table and say how sure each one is."""
    from evidentia.cli import fitting, tables
    from evidentia.cli.recipe import recipe
    from evidentia.cli.running import check_out, print_distances, print_table, run

    counts = fitting.parse_clusters(clusters)
    method = method or (Method.evclus if distances else Method.egmm)
    fitting.check_kind(method.value, counts, distances=distances, links=links is not None)
    given = {
        "focal_sets": None if focal_sets is None else focal_sets.value,
        "covariance": None if covariance is None else covariance.value,
        "n_init": starts,
        "max_iter": max_iter,
        "alpha": alpha,
        "beta": beta,
        "rho": rho,
        "random_state": seed,
        "metric": "precomputed" if distances else None,
    }
    estimator = fitting.build(method.value, counts, given)
    if distances:
        table_only = {"--scale": scale is not Scale.none, "--drop": drop, "--columns": columns, "--missing": missing}
        for option, used in table_only.items():
            if used:
                raise UserError(f"{option} is about the columns of a table; --distances has none.")
    how = missing or (Missing.em if method is Method.egmm else Missing.error)
    if how is Missing.em and method is not Method.egmm:
        raise UserError(f"--missing em is an option of egmm; {method.value} takes error or drop.")

    if distances:
        data, source, id_column = tables.read_distances(file, id_column=id_column)
        check_out(out)
        if not quiet:
            print_distances(file, data)
        run(
            estimator,
            data,
            counts,
            out=out,
            quiet=quiet,
            notes=source.notes,
            object_column=id_column,
            links=_read_links(links, id_column),
            settings={"file": file, "objects": len(data), "object names": id_column or "row numbers, from 0"},
            command=_command(ctx),
            code=recipe(
                read=source.code,
                id_column=id_column,
                columns=data.columns.tolist(),
                left_out=[],
                dropped=None,
                scale="none",
                estimator=estimator,
                clusters=counts,
                links=None if links is None else str(links),
            ),
            title=file.name,
        )
        return
    source = tables.read_table(file, id_column=id_column)
    table = tables.choose_columns(source.frame, id_column=id_column, drop=drop or (), columns=columns or ())
    cures = "--missing drop leaves these rows out; --method egmm --missing em uses what is there"
    data, holes = tables.check_values(table.data, missing=how.value, cures=cures)
    if links is not None and len(data) < len(table.data) and id_column is None:
        raise UserError("--links count rows, and --missing drop takes some away. Name the objects by --id instead.")
    check_out(out)
    if not quiet:
        print_table(file, source.frame, data, table.left_out)
    run(
        estimator,
        data,
        counts,
        scale=scale.value,
        out=out,
        quiet=quiet,
        notes=[*source.notes, *([holes] if holes else [])],
        object_column=id_column,
        links=_read_links(links, id_column),
        settings={
            "file": file,
            "rows": len(data),
            "columns": ", ".join(data.columns),
            "left out": "; ".join(f"{name}: {why}" for name, why in table.left_out.items()) or "nothing",
            "object names": id_column or "row numbers, from 0",
            "scale": scale.value,
        },
        command=_command(ctx),
        code=recipe(
            read=source.code,
            id_column=id_column,
            columns=data.columns.tolist(),
            left_out=list(table.left_out),
            dropped=None if len(data) == len(table.data) else "any" if how is Missing.drop else "all",
            scale=scale.value,
            estimator=estimator,
            clusters=counts,
            links=None if links is None else str(links),
        ),
        title=file.name,
    )


@app.command()
def ask(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Table: .csv, .tsv, .parquet or .npz; one row an object.")
    ],
    clusters: Annotated[int, typer.Option(min=2, help="How many clusters.")],
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where answers are kept, and taken up again.", show_default="FILE-answers.csv"
        ),
    ] = None,
    rule: Annotated[Rule, typer.Option(help="How the next pair is chosen.")] = Rule.boundary,
    metric: Annotated[
        Metric, typer.Option(help="Round clusters (euclidean), or each with its own shape (mahalanobis).")
    ] = Metric.mahalanobis,
    scale: Annotated[Scale, typer.Option(help="Bring the columns to a common scale first.")] = Scale.standard,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the objects.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Columns neither to cluster nor to show; repeat, or commas."),
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Columns to cluster; the others are only shown.")
    ] = None,
    missing: Annotated[Missing, typer.Option(help="Rows with missing values: stop, or leave out.")] = Missing.error,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random starts.")] = 0,
    starts: Annotated[int, typer.Option(min=1, help="Number of starts of each fit.")] = 10,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write report, masses, partition and plots there at the end.")
    ] = None,
) -> None:
    """Answer questions about pairs of rows, and see the clusters follow; leave and come back at any time."""
    from evidentia.cli import asking, fitting, tables
    from evidentia.cli.running import check_out, print_summary, print_table
    from evidentia.constraints import ActiveSession
    from evidentia.prototypes import CECM

    if missing is Missing.em:
        raise UserError("--missing em is an option of fit with egmm; ask takes error or drop.")
    source = tables.read_table(file, id_column=id_column)
    table = tables.choose_columns(source.frame, id_column=id_column, drop=drop or (), columns=columns or ())
    data, holes = tables.check_values(table.data, missing=missing.value)
    check_out(out)
    scaled, scaler = fitting.rescale(data, scale.value)
    bars = int(sys.stderr.isatty())
    estimator = CECM(clusters, metric=metric.value, n_init=starts, tol=ASK_TOL, random_state=seed, verbose=bars)
    session = ActiveSession(estimator, scaled, rule=rule.value, random_state=seed)
    kept = answers or file.with_name(f"{file.name.split('.')[0]}-answers.csv")
    notes = [*source.notes, *([holes] if holes else []), *asking.take_up(session, kept)]
    print_table(file, source.frame, data, table.left_out)
    terminal.labelled(
        "method", f"CECM, {clusters} clusters, {metric.value}, columns on {scale.value} scale, seed {seed}"
    )
    terminal.labelled("answers", f"{kept}  ({asking.counted(session)})")
    for text in notes:
        terminal.note(text)

    hidden = [name for name, why in table.left_out.items() if why == "--drop"]
    conversation = asking.Conversation(session, asking.what_to_show(source.frame, data, hidden), kept)
    finished = conversation.hold()
    typer.echo()
    if finished:
        print_summary(session.partition)
        typer.echo()
    terminal.labelled("answers", f"{kept}  ({asking.counted(session)}; the same command goes on from there)")
    if not finished:
        raise typer.Exit(INTERRUPTED)
    if out is not None:
        from evidentia.report import write_results

        written = write_results(
            out,
            partition=session.partition,
            model=fitting.in_units_of(scaler, session.model),
            X=data,
            object_column=id_column,
            notes=[*notes, *conversation.notes],
            settings={"file": file, "rows": len(data), "scale": scale.value, "answers": asking.counted(session)},
            command=_command(ctx),
            title=file.name,
        )
        terminal.labelled("written", f"{written[0]}  (open it in a browser)")


@app.command(cls=TwoMasks)
def segment(
    images: Annotated[
        list[Path],
        typer.Argument(metavar="IMAGE...", help="PNG, JPEG, TIFF or NIfTI; several of the same place are channels."),
    ],
    clusters: Annotated[
        str | None, typer.Option(metavar="auto|INT|FROM-TO", help="How many clusters; auto, 2-6, is for egmm only.")
    ] = None,
    method: Annotated[
        SegmentMethod | None, typer.Option(help="Clustering method.", show_default="cecm with masks, else egmm")
    ] = None,
    same: Annotated[
        list[Path] | None, typer.Option(metavar="MASK", help="Region that is one segment (not black); repeat.")
    ] = None,
    different: Annotated[
        list[str] | None,
        typer.Option(metavar="MASK MASK", help="Two regions that are not the same segment; repeat."),
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
    focal_sets: Annotated[
        FocalFamily | None, typer.Option(help="Sets of clusters a pixel may lie between.", show_default="full")
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(help="Shape of the clusters (ecm, cecm).", show_default="euclidean")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Penalty of large sets (ecm, cecm).")] = None,
    rho: Annotated[
        float | None, typer.Option(help="Distance to the empty set: smaller means more outliers (ecm, cecm).")
    ] = None,
    xi: Annotated[float | None, typer.Option(help="Weight of the masks, 0 to 1 (cecm).", show_default="0.5")] = None,
    scale: Annotated[
        SegmentScale, typer.Option(help="Bring the channels to a common scale first.")
    ] = SegmentScale.standard,
    links: Annotated[int, typer.Option(min=1, help="Pairs of pixels drawn from each mask and each two masks.")] = 500,
    prototypes: Annotated[
        int | None,
        typer.Option(min=2, help="More distinct values than this are rounded.", show_default="65536; 1024 with --fuse"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random starts.")] = 0,
    starts: Annotated[int | None, typer.Option(min=1, help="Number of starts.", show_default="10")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the maps there.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only.")] = False,
) -> None:
    """Cluster the pixels of an image, and map how sure each one is."""
    from evidentia.cli import segmenting
    from evidentia.cli.running import check_out

    check_out(out)
    given = {
        "focal_sets": None if focal_sets is None else focal_sets.value,
        "metric": None if metric is None else metric.value,
        "alpha": alpha,
        "rho": rho,
        "xi": xi,
        "n_init": starts,
        "random_state": seed,
    }
    pairs = [(Path(a), Path(b)) for a, b in (two.split(TwoMasks.BETWEEN) for two in different or [])]
    masks = segmenting.Masks(same or [], pairs, within, background)
    job = segmenting.Job(
        images,
        masks,
        method=None if method is None else method.value,
        given=given,
        verbose=int(not quiet and sys.stderr.isatty()),
        scale=scale.value,
        n_links=links,
        n_prototypes=prototypes,
    )
    segmenting.run(job, clusters=clusters, meanings=fuse or [], out=out, quiet=quiet)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="partition.npz, or the directory that holds it.")],
    objects: Annotated[int, typer.Option(min=0, metavar="N", help="Also list the N most doubtful objects.")] = 0,
) -> None:
    """Print the summary of a finished partition again."""
    from evidentia.cli.running import print_doubtful, print_summary
    from evidentia.partition import CredalPartition

    partition = CredalPartition.load(file / "partition.npz" if file.is_dir() else file)
    print_summary(partition)
    if objects:
        typer.echo()
        print_doubtful(partition, objects)


@app.command()
def demo(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write.")] = Path("out/demo"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only.")] = False,
) -> None:
    """Cluster Fisher's irises, the number of clusters chosen from the data, and compare with the species."""
    from evidentia.cli.fitting import DEFAULT_RANGE
    from evidentia.cli.running import check_out, run
    from evidentia.datasets import load
    from evidentia.mixtures import EGMM

    check_out(out)
    iris = load("iris", as_frame=True)
    if not quiet:
        terminal.heading(f"Fisher's irises: {len(iris.data)} flowers, {iris.data.shape[1]} columns")
        terminal.labelled("clustered", ", ".join(iris.data.columns))
        terminal.labelled("left out", "the species, to compare with afterwards")
    run(
        EGMM(n_clusters="auto", cluster_range=DEFAULT_RANGE, random_state=0),
        iris.data,
        DEFAULT_RANGE,
        out=out,
        quiet=quiet,
        remark=lambda partition: compared(partition, iris.target, "species"),
        settings={"data": "Fisher's irises", "columns": ", ".join(iris.data.columns), "left out": "species"},
        command=_command(ctx),
        code=DEMO,
        title="Fisher's irises",
    )


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Describe this one.", show_default=False)] = None,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it as CSV, the classes in column 'label'.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch it from OpenML when it is not here.")] = False,
) -> None:
    """List the data sets that can be loaded, describe one, or write it to a file."""
    from evidentia.datasets import available, load

    if name is None:
        if to is not None or download:
            raise UserError("Which data set? 'evidentia datasets' lists the names.")
        table = available().drop(columns="used_by")
        names = table.index.str.ljust(table.index.str.len().max()).rename(None)
        typer.echo(table.set_axis(names).astype(str).replace("<NA>", "-").to_string())
        return
    dataset = load(name, download=download)
    if to is None:
        typer.echo(str(dataset))
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    if dataset.dissimilarity is not None:
        import pandas as pd

        square = pd.DataFrame(dataset.dissimilarity)
        called = list(dataset.object_names or map("object{}".format, square.index))
        square.set_axis(called).set_axis(called, axis=1).to_csv(to, index_label="object")
        typer.echo(f"{to}: dissimilarities of {len(square)} objects")
        return
    framed = dataset.as_frame()
    frame = framed.data if framed.target is None else framed.data.assign(label=framed.target)
    frame.to_csv(to, index=dataset.object_names is not None, index_label="object")
    typer.echo(f"{to}: {len(frame)} rows, {frame.shape[1]} columns")


def compared(partition: CredalPartition, truth: pd.Series, what: str) -> str:
    """How the clusters agree with known classes, in a sentence."""
    import pandas as pd
    from sklearn.metrics import adjusted_rand_score

    labels = pd.Series(partition.labels(), index=truth.index)
    held = pd.crosstab(labels, truth)
    parts = [
        f"cluster {k} holds {' and '.join(f'{n} {name}' for name, n in row.items() if n)}" for k, row in held.iterrows()
    ]
    return (
        f"Compared with the {what}, which the clustering never saw: {', '.join(parts)} "
        f"(adjusted Rand index {adjusted_rand_score(truth, labels):.2f})."
    )


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
