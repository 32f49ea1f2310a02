"""A Python script that repeats what was done in an exploration, fit by fit, with the same result to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np

from evidentia.app.advisor.code import preparing_lines, reading_imports
from evidentia.app.advisor.n_clusters import numbers_to_try
from evidentia.app.explorer.segments import ImageExploration, ImageSettings
from evidentia.app.explorer.state import Exploration
from evidentia.app.explorer.steps import Step
from evidentia.app.report.page import import_lines
from evidentia.constraints import Statement
from evidentia.safe_text import printable

HEAD = '''"""What was done in the explorer, step by step. It gives the same partition, to the bit."""'''
STARTS = {"centers": "model.cluster_centers_", "shapes": "(model.cluster_centers_, model.covariances_)",
          "masses": "partition"}  # fmt: skip


def script(exploration: Exploration) -> str:
    """Lines that read the table, and then do what each step did; what was undone is not in it."""
    origin, table = exploration.origin, exploration.table
    lines = [f"table = {origin.code}"]
    if origin.id_column is not None:
        lines.append(f"table = table.set_index({origin.id_column!r})")
    if origin.dropped is not None:
        lines.append(f"table = table.dropna(subset={list(exploration.first.columns)!r}, how={origin.dropped!r})")
    imports: dict[str, None] = dict.fromkeys(chain(*reading_imports(origin.code)))
    before: Step | None = None
    prepared = None
    for number, step in enumerate(exploration.path, start=1):
        lines += ["", f"# {number}. {step.words}"]
        chosen, estimator = exploration.choice(step.settings), exploration.estimator(step.settings)
        left_out = [name for name in map(str, table.columns) if name not in (*chosen.columns, *origin.beside)]
        needed, preparing = preparing_lines(
            table="table", columns=chosen.columns, left_out=left_out, scale=chosen.scale, categories=chosen.categories
        )
        if preparing != prepared:
            imports |= dict.fromkeys(needed)
            lines += preparing
            prepared = preparing
        said = step.statements if before is None else step.statements[len(before.statements) :]
        if before is not None and step.statements[: len(before.statements)] != before.statements:
            lines.append("said = []  # begun anew")
            said = step.statements
        elif said and not (before and before.statements):
            lines.append("said = []")
        lines += [f"said += [{_code(one)}]" for one in said]
        imports |= dict.fromkeys(["from evidentia.constraints import PairwiseConstraints, Statement"] * bool(said))
        lines += _fitting_lines(step, before, estimator, imports)
        before = step
    lines += ["", "print(partition)", 'partition.save("partition.npz")']
    ours = [line for line in imports if "evidentia" in line]
    others = [line for line in imports if line not in ours]
    return _join([HEAD, "", *others, "", *sorted(ours), "", *lines])


def _fitting_lines(step: Step, before: Step | None, estimator: Any, imports: dict[str, None]) -> Iterator[str]:
    """Lines for the fit of a step, if it had one, and for its partition."""
    if step.began == "kept" and before is not None and before.settings == step.settings:
        return  # nothing was learned
    imports[import_lines(estimator)] = None
    counts = numbers_to_try(estimator, step.settings.clusters)
    if step.began == "kept":
        pass  # another cut of the same tree
    elif "links" in estimator.method.takes and any(one.kind != "unknown" for one in step.statements):
        if step.began in STARTS:
            yield "# From the solution before, which led to a lower criterion than starts of its own."
        made = constructor_code(estimator, **({"init": STARTS[step.began]} if step.began in STARTS else {}))
        yield "links = PairwiseConstraints.from_statements(said)"
        yield f"model = {made}.fit(X, constraints=links)"
    elif counts:
        imports["from evidentia import select"] = None
        made = constructor_code(estimator)
        yield f"model = select(X, {made}, n_clusters={counts!r}, random_state={step.settings.seed}).estimator_"
    else:
        yield f"model = {constructor_code(estimator)}.fit(X)"
    found = "model.partition_" if step.settings.cut is None else f"model.partition({step.settings.cut})"
    aligned = before is not None and before.n_clusters == step.n_clusters
    yield f"partition = {found}.align(partition)" if aligned else f"partition = {found}"


def constructor_code(estimator: Any, **code: str) -> str:
    """Python code for an unfitted estimator: what is not at its default, and parameters given as code.

    Examples
    --------
    >>> from evidentia import ECM
    >>> constructor_code(ECM(3, beta=1.5), init="centers")
    'ECM(n_clusters=3, beta=1.5, init=centers)'
    """
    given = {name: repr(value) for name, value in changed_parameters(estimator).items()} | code
    return f"{type(estimator).__name__}({', '.join(f'{name}={value}' for name, value in given.items())})"


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters that are not at their defaults, the number of clusters first."""
    known = sorted(estimator.parameters.items(), key=lambda item: item[1].kw_only)
    given = {name: getattr(estimator, name) for name, _ in known}
    return {name: given[name] for name, one in known if not np.array_equal(given[name], one.default)}


def image_script(exploration: ImageExploration) -> str:
    """The same for an image, by the actions of its exploration; a question is the one that was asked then."""
    first, *later = exploration.path
    lines = [HEAD, "", "from evidentia.app.explorer.segments import ImageExploration, ImageSettings, Stroke",
             "from evidentia.app.images import read_image, write_segmentation", "", f"image = {exploration.code}",
             f"exploration = ImageExploration(image, {first.settings!r})", "exploration.begin()"]  # fmt: skip
    before = first
    for number, step in enumerate(later, start=2):
        lines += ["", f"# {number}. {step.words}"]
        if len(step.answers) > len(before.answers):
            lines.append(f"exploration.answer({step.answers[-1].word!r}, exploration.ask())")
        elif len(step.strokes) > len(before.strokes):
            drawn = step.strokes[len(before.strokes) :]
            lines += ["exploration.draw([", *(f"    {one!r}," for one in drawn), "])"]
        else:
            lines.append(f"exploration.set({_changes(before.settings, step.settings)})")
        before = step
    return _join([*lines, "", 'write_segmentation(exploration.segmentation_, "segmentation")'])


def _join(lines: list[str]) -> str:
    """A script of these lines; names in comments, as ``repr`` does in code, cannot end a line or reverse its order."""
    return "".join(f"{printable(line)}\n" for line in lines)


def _changes(before: ImageSettings, after: ImageSettings) -> str:
    new = asdict(after)
    return ", ".join(f"{name}={new[name]!r}" for name, value in asdict(before).items() if new[name] != value)


def _code(statement: Statement) -> str:
    parts = [repr(statement.kind), repr(list(statement.objects))]
    parts += [repr(list(statement.others))] if statement.others else []
    parts += [f"certainty={statement.certainty!r}"] if statement.certainty < 1 else []
    parts += [f"label={statement.label!r}"] if statement.label else []
    return f"Statement({', '.join(parts)})"
