"""``evidentia datasets``: what can be loaded, one of them in words, or as a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from evidentia.app.cli import terminal
from evidentia.datasets import list_datasets, load
from evidentia.files import whole_file
from evidentia.safe_text import guard_table


def list_all() -> None:
    """Print a line for each data set."""
    table = list_datasets().drop(columns="used_by")
    names = table.index.str.ljust(table.index.str.len().max()).rename(None)
    terminal.echo(table.set_axis(names).astype(str).replace("<NA>", "-").to_string())


def show_dataset(name: str, to: Path | None, *, download: bool) -> None:
    """Describe a data set, or write it as CSV."""
    dataset = load(name, download=download)
    if to is None:
        terminal.echo(str(dataset))
        return
    if dataset.dissimilarity is not None:
        square = pd.DataFrame(dataset.dissimilarity)
        called = list(dataset.object_names or map("object{}".format, square.index))
        with whole_file(to) as file:
            guard_table(square.set_axis(called).set_axis(called, axis=1)).to_csv(file, index_label="object")
        terminal.echo(f"{to}: dissimilarities of {len(square)} objects")
        return
    framed = dataset.as_frame()
    frame = framed.data if framed.target is None else framed.data.assign(label=framed.target)
    with whole_file(to) as file:
        guard_table(frame).to_csv(file, index=dataset.object_names is not None, index_label="object")
    terminal.echo(f"{to}: {len(frame)} rows, {frame.shape[1]} columns")
