"""A Python script that repeats what was done in an exploration, fit by fit, with the same result to the bit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evidentia.app.explorer.segments import ImageExploration, ImageSettings
from evidentia.app.explorer.state import Exploration
from evidentia.app.explorer.steps import Step
from evidentia.app.script import Script
from evidentia.constraints import Statement

HEAD = '''"""What was done in the explorer, step by step. It gives the same partition, to the bit."""'''
STARTS = {"centers": "model.cluster_centers_", "shapes": "(model.cluster_centers_, model.covariances_)",
          "masses": "partition"}  # fmt: skip


def script(exploration: Exploration) -> str:
    """Lines that read the table, and then do what each step did; what was undone is not in it."""
    origin, table, made = exploration.origin, exploration.table, Script(HEAD)
    made.read("table", origin.code, id_column=origin.id_column)
    if origin.dropped is not None:
        made.add(f"table = table.dropna(subset={list(exploration.first.columns)!r}, how={origin.dropped!r})")
    before: Step | None = None
    prepared: list[str] = []
    for number, step in enumerate(exploration.path, start=1):
        made.add("", f"# {number}. {step.words}")
        chosen, estimator, begins = (
            exploration.choice(step.settings),
            exploration.estimator(step.settings),
            len(made.lines),
        )
        left_out = [name for name in map(str, table.columns) if name not in (*chosen.columns, *origin.beside)]
        made.prepare(
            "table", columns=chosen.columns, left_out=left_out, scale=chosen.scale, categories=chosen.categories
        )
        if made.lines[begins:] == prepared:
            del made.lines[begins:]
        else:
            prepared = made.lines[begins:]
        said = step.statements if before is None else step.statements[len(before.statements) :]
        if before is not None and step.statements[: len(before.statements)] != before.statements:
            made.add("said = []  # begun anew")
            said = step.statements
        elif said and not (before and before.statements):
            made.add("said = []")
        if said:
            made.use("PairwiseConstraints", "Statement", of="constraints")
            made.add(*(f"said += [{_code(one)}]" for one in said))
        _add_fit(made, step, before, estimator)
        before = step
    made.add("", "print(partition)", 'partition.save("partition.npz")')
    return f"{made}\n"


def _add_fit(made: Script, step: Step, before: Step | None, estimator: Any) -> None:
    """Add lines for the fit of a step, if it had one, and for its partition."""
    if step.began == "kept" and before is not None and before.settings == step.settings:
        return  # nothing was learned
    if step.began != "kept":  # else it is another cut of the same tree
        linked = "links" in estimator.method.takes and any(one.kind != "unknown" for one in step.statements)
        start = {"init": STARTS[step.began]} if linked and step.began in STARTS else {}
        if start:
            made.add("# From the solution before, which led to a lower criterion than starts of its own.")
        if linked:
            made.add("links = PairwiseConstraints.from_statements(said)")
        made.fit(estimator, step.settings.clusters, linked=linked, **start)
    found = "model.partition_" if step.settings.cut is None else f"model.partition({step.settings.cut})"
    aligned = before is not None and before.n_clusters == step.n_clusters
    made.add(f"partition = {found}.align(partition)" if aligned else f"partition = {found}")


def image_script(exploration: ImageExploration) -> str:
    """The same for an image, by the actions of its exploration; a question is the one that was asked then."""
    made, (before, *later) = Script(HEAD), exploration.path
    made.use("ImageExploration", "ImageSettings", "Stroke", of="app.explorer.segments")
    made.use("read_image", "write_segmentation", of="app.images")
    made.add(f"image = {exploration.code}", f"exploration = ImageExploration(image, {before.settings!r})")
    made.add("exploration.begin()")
    for number, step in enumerate(later, start=2):
        made.add("", f"# {number}. {step.words}")
        if len(step.answers) > len(before.answers):
            made.add(f"exploration.answer({step.answers[-1].word!r}, exploration.ask())")
        elif len(step.strokes) > len(before.strokes):
            drawn = step.strokes[len(before.strokes) :]
            made.add("exploration.draw([", *(f"    {one!r}," for one in drawn), "])")
        else:
            made.add(f"exploration.set({_changes(before.settings, step.settings)})")
        before = step
    made.add("", 'write_segmentation(exploration.segmentation_, "segmentation")')
    return f"{made}\n"


def _changes(before: ImageSettings, after: ImageSettings) -> str:
    new = asdict(after)
    return ", ".join(f"{name}={new[name]!r}" for name, value in asdict(before).items() if new[name] != value)


def _code(statement: Statement) -> str:
    parts = [repr(statement.kind), repr(list(statement.objects))]
    parts += [repr(list(statement.others))] if statement.others else []
    parts += [f"certainty={statement.certainty!r}"] if statement.certainty < 1 else []
    parts += [f"label={statement.label!r}"] if statement.label else []
    return f"Statement({', '.join(parts)})"
