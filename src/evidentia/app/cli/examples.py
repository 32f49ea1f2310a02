"""Data to try: ``evidentia datasets`` lists, describes and writes them, ``evidentia demo`` clusters Fisher's irises."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sklearn.metrics import adjusted_rand_score

from evidentia.app.cli import inputs, tables, terminal
from evidentia.app.cli.files import check_out
from evidentia.app.cli.fitting import run
from evidentia.datasets import list_datasets, load
from evidentia.files import whole_file
from evidentia.partition import CredalPartition
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


SCRIPT = """\
from evidentia import recommend
from evidentia.datasets import load

iris = load("iris", as_frame=True)
choice = recommend(iris.data)
print(choice)
model = choice.fit(iris.data, random_state=0)
print(model.partition_)"""


def show_irises(out: Path, *, command: str, quiet: bool) -> None:
    """Cluster the irises with nothing set; write the results, and say how the clusters agree with the species."""
    check_out(out)
    iris = load("iris", as_frame=True)
    source = tables.Source(iris.data.assign(species=iris.target), SCRIPT)
    given = inputs.read_input(source, inputs.InputOptions(), title="Fisher's irises")
    estimator, given = given.estimator(None)
    if not quiet:
        given.print_heading()
        given.print_choice()
    run(
        estimator,
        given.data,
        None,
        scale=given.scale,
        out=out,
        quiet=quiet,
        remark=lambda partition: agreement_sentence(partition, iris.target, "species"),
        settings=given.words,
        command=command,
        code=SCRIPT,
        title="Fisher's irises",
    )
    if not quiet:
        terminal.print_labeled(
            "next", "evidentia explore table.csv  (look at a table of yours in the browser, and point)"
        )


def agreement_sentence(partition: CredalPartition, truth: pd.Series, what: str) -> str:
    """How the clusters agree with known classes, in a sentence."""
    labels = pd.Series(partition.labels(), index=truth.index)
    held = pd.crosstab(labels, truth)
    parts = [
        f"cluster {k} holds {' and '.join(f'{n} {name}' for name, n in row.items() if n)}" for k, row in held.iterrows()
    ]
    return (
        f"Compared with the {what}, which the clustering never saw: {', '.join(parts)} "
        f"(adjusted Rand index {adjusted_rand_score(truth, labels):.2f})."
    )
