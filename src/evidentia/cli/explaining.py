"""What ``evidentia explain`` does: read a directory of results, and say why objects are doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evidentia.cli.errors import UserError
from evidentia.cli.tables import read_distances
from evidentia.cli.terminal import note
from evidentia.partition import CredalPartition
from evidentia.partition.explanation import Explainer
from evidentia.report.results import find_table, read_table

DOUBTFUL = 10  # objects told about when none is named


def explanations(results: Path, objects: Sequence[str], distances: Path | None) -> Iterator[str]:
    """What there is to say about each object named; without any, a sentence about each of the most doubtful."""
    directory = results if results.is_dir() else results.parent
    partition = CredalPartition.load(directory / "partition.npz" if results.is_dir() else results)
    explainer = _explainer(partition, directory, distances)
    if objects:
        for which in objects:
            yield str(explainer.explain(which))
        return
    chosen = partition.most_doubtful(DOUBTFUL)
    width = max((len(explainer.name(i)) for i in chosen.tolist()), default=0)
    yield "\n".join(
        f"{explainer.name(i):<{width}}  {reason}" for i, reason in zip(chosen.tolist(), explainer.reasons(chosen))
    )


def _explainer(partition: CredalPartition, directory: Path, distances: Path | None) -> Explainer:
    if distances is not None:
        return Explainer(partition, dissimilarities=read_distances(distances)[0].to_numpy())
    table = find_table(directory)
    if table is None:
        note(
            f"There is no {directory / 'table.csv'}, so which columns speak for which cluster is not known. A fit of a "
            "table writes it; --distances FILE gives the dissimilarities that were clustered."
        )
        return Explainer(partition)
    try:
        frame = read_table(table)
    except (ValueError, OSError, ImportError) as error:
        raise UserError(f"{table} cannot be read: {error}. Fit again, or leave the file out.") from error
    return Explainer(partition, frame)
