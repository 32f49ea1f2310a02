"""A partition in the terminal; it needs nothing but the partition, so that ``evidentia show`` answers at once."""

from __future__ import annotations

from evidentia.app.cli import terminal
from evidentia.partition import CredalPartition
from evidentia.safe_text import printable


def print_summary(partition: CredalPartition) -> None:
    first, *rest = partition.summary().splitlines()
    terminal.print_heading(first)
    terminal.echo("\n".join(rest))


def print_doubtful(partition: CredalPartition, count: int) -> None:
    """The objects that are hardest to place, and where their mass goes."""
    names = list(map(printable, partition.focal_sets.names(partition.cluster_names)))
    order, masses = partition.largest(4)
    rows = [("object", "set", "masses")]
    for i in partition.most_doubtful(count).tolist():
        shared = [f"{names[j]} {m:.2f}" for j, m in zip(order[i], masses[i]) if m >= 0.005]
        rows.append((printable(partition.name(i)), names[order[i, 0]], "  ".join(shared)))
    widths = [max(len(row[k]) for row in rows) for k in (0, 1)]
    for at, (name, best, shared_text) in enumerate(rows):
        line = f"  {name:<{widths[0]}}  {best:<{widths[1]}}  {shared_text}"
        terminal.echo(terminal.style(line, fg="cyan") if at == 0 else line)
