"""What ``evidentia fuse`` does: read partitions, combine, print, write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evidentia.app.cli import terminal
from evidentia.app.cli.errors import UserError
from evidentia.app.cli.files import find_result
from evidentia.app.report.results import fill_results, write_table
from evidentia.app.run_folder import whole_run
from evidentia.partition import CredalPartition, Fusion, fuse


def read_partitions(paths: Sequence[Path]) -> dict[str, CredalPartition]:
    """Partitions by short names: those of their directories, or of the files where these differ."""
    archives = [find_result(path, "partition.npz") for path in paths]
    ways = ([path.stem for path in archives], [path.resolve().parent.name for path in archives], list(map(str, paths)))
    names = next((way for way in ways if len(set(way)) == len(way)), None)
    if names is None:
        raise UserError("The same partition is named twice. Name each once.")
    return {name: CredalPartition.load(archive) for name, archive in zip(names, archives)}


def run(
    paths: Sequence[Path], *, rule: str, frame: str, discount: float, min_share: float, out: Path | None, command: str
) -> None:
    """Fuse, print the summary, write the files."""
    if len(paths) < 2:
        raise UserError("evidentia fuse takes two partitions or more: evidentia fuse a.npz b.npz.")
    found = fuse(read_partitions(paths), rule=rule, frame=frame, discount=discount, min_share=min_share)
    terminal.print_summary(found.summary())
    if out is None:
        terminal.echo("\nNothing was written; --out DIR keeps the report, the masses and the conflict of each object.")
        return
    written = write(found, out, command)
    terminal.echo()
    terminal.print_labeled("written", f"{written[0]}  (open it in a browser)")
    terminal.print_labeled("", ", ".join(path.name for path in written[1:]))


def write(found: Fusion, out: Path, command: str) -> list[Path]:
    """What ``fit --out`` writes of a partition; who is contested, and which clusters were taken for the same."""
    settings = {"fused": ", ".join(found.names), "rule": found.rule, "clusters compared by": found.frame}
    remark = found.summary().split("\n\n")[0]
    conflict = found.to_pandas()[["cluster", "set", "conflict"]].sort_values("conflict", ascending=False, kind="stable")
    with whole_run(out) as fresh:
        written = fill_results(
            fresh, partition=found.partition, settings=settings, remark=remark, command=command, title="Fusion"
        )
        written += [
            write_table(conflict, fresh / "conflict.csv"),
            write_table(found.alignment(), fresh / "alignment.csv"),
        ]
    return [out / path.name for path in written]
