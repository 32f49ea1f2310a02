"""What ``evidentia explain`` and ``evidentia report`` do with a directory of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.app.cli.errors import UserError
from evidentia.app.cli.tables import read_distances
from evidentia.app.cli.terminal import print_note
from evidentia.app.report import write_interactive, write_report
from evidentia.app.report.results import find_table, read_table
from evidentia.app.run_folder import LISTING, check_listed, listed_files
from evidentia.partition import CredalPartition
from evidentia.partition.explanation import Explainer

if TYPE_CHECKING:
    import pandas as pd

DOUBTFUL = 10  # objects told about when none is named


def explanations(archive: Path, objects: Sequence[str], distances: Path | None) -> Iterator[str]:
    """What there is to say about each object named; without any, a sentence about each of the most doubtful."""
    partition = CredalPartition.load(archive)
    explainer = _explainer(partition, archive, distances)
    if objects:
        for which in objects:
            yield str(explainer.explain(which))
        return
    chosen = partition.most_doubtful(DOUBTFUL)
    width = max((len(explainer.name(i)) for i in chosen.tolist()), default=0)
    yield "\n".join(
        f"{explainer.name(i):<{width}}  {reason}" for i, reason in zip(chosen.tolist(), explainer.reasons(chosen))
    )


def _explainer(partition: CredalPartition, archive: Path, distances: Path | None) -> Explainer:
    if distances is not None:
        return Explainer(partition, dissimilarities=read_distances(distances)[0].to_numpy())
    frame = _read_frame(archive)
    if frame is None:
        print_note(
            f"No table is kept with {archive}, so which columns speak for which cluster is not known. If "
            "dissimilarities were clustered, --distances FILE gives them."
        )
    return Explainer(partition, frame)


def _read_frame(archive: Path) -> pd.DataFrame | None:
    """The table that was clustered, of the same run as a partition; None where there is none."""
    folder = archive.parent
    table, listed = find_table(folder), listed_files(folder)
    if table is None or (listed is not None and archive.name not in listed):
        return None
    if listed is None:
        print_note(f"There is no {folder / LISTING}, so it is not known whether {table} is of the same run.")
    check_listed(folder, table.name)
    try:
        return read_table(table)
    except (ValueError, OSError, ImportError) as error:
        raise UserError(f"{table} cannot be read: {error}. Fit again, or leave the file out.") from error


def write_page(archive: Path, out: Path | None, *, interactive: bool) -> Path:
    """The page to read (``report.html``) or the one to look around in (``interactive.html``) of some results."""
    partition = CredalPartition.load(archive)
    path = out or archive.parent / ("interactive.html" if interactive else "report.html")
    if path.exists() and not interactive:
        raise UserError(
            f"{path} is there already, with more than can be found out from the results: how they were made. "
            "--interactive writes interactive.html beside it; --out FILE a report elsewhere."
        )
    return (write_interactive if interactive else write_report)(path, partition=partition, X=_read_frame(archive))
