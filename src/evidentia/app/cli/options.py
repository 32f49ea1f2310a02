"""Choices and options of the commands, those that several of them have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Scale(StrEnum):
    none = "none"
    standard = "standard"
    robust = "robust"
    minmax = "minmax"


class FitScale(StrEnum):
    auto = "auto"
    none = "none"
    standard = "standard"
    robust = "robust"
    minmax = "minmax"


class Rule(StrEnum):
    boundary = "boundary"
    uncertainty = "uncertainty"
    change = "change"
    random = "random"


class SegmentScale(StrEnum):
    standard = "standard"
    none = "none"


class FusionRule(StrEnum):
    auto = "auto"
    dempster = "dempster"
    conjunctive = "conjunctive"
    yager = "yager"
    disjunctive = "disjunctive"
    cautious = "cautious"
    average = "average"
    hedge = "hedge"


class Frame(StrEnum):
    auto = "auto"
    names = "names"
    match = "match"
    refine = "refine"


class Tables(StrEnum):
    auto = "auto"
    csv = "csv"
    parquet = "parquet"


class Missing(StrEnum):
    error = "error"
    drop = "drop"
    em = "em"


TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Table: .csv, .tsv (also .gz), .parquet, .feather, .xlsx, .h5ad, .fcs, .npz; '-' for CSV from a pipe.",
    ),
]
TableFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Table: .csv, .tsv (also .gz), .parquet, .feather, .xlsx, .h5ad, .fcs, .npz; '-' for CSV from a pipe. "
        "With --views several.",
    ),
]
SeveralViews = Annotated[
    bool, typer.Option("--views", help="The files are several tables of the same objects, joined by --id.")
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Columns to leave out; repeat, or separate by commas.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Cluster this one too, although it looks like names or classes."),
]
Distances = Annotated[
    bool | None,
    typer.Option(
        "--distances/--no-distances",
        help="Whether FILE is a square table of dissimilarities between objects.",
        show_default="when it looks like one",
    ),
]
IdColumn = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the objects.")]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random starts; the same seed gives the same result.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the summary only.")]
Results = Annotated[Path | None, typer.Option(metavar="DIR", help="Write report, masses, partition and plots there.")]
TableKind = Annotated[
    Tables, typer.Option(help="How --out writes masses and table; auto: CSV, above 50,000 rows Parquet.")
]
MethodName = Annotated[
    str,
    typer.Option(metavar="NAME", help="Clustering method (fit --help lists them); auto: what suits the columns."),
]
LinksFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Pairs known to belong together or apart.")]
HowMany = Annotated[
    str,
    typer.Option(
        metavar="auto|INT|FROM-TO",
        help="How many clusters, or the range to choose from; auto: as the method does it, else 2-6.",
    ),
]
FitOn = Annotated[
    FitScale, typer.Option(help="Bring the columns to a common scale first; auto: when their spreads differ.")
]
Columns = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Columns to cluster, instead of all that can be.")
]
Holes = Annotated[
    Missing | None,
    typer.Option(
        help="Rows with missing values: stop, leave out, or use what is there.",
        show_default="em for methods that can, else error",
    ),
]
Kept = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For many rows: where the fit is kept, and goes on from, should it be cut."),
]
Fits = Annotated[
    int | None,
    typer.Option(
        min=2, metavar="N", help="Fit N times more, to other rows and from other starts: what differs is doubt."
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="For many rows: a Dask scheduler whose workers do the work.")
]
