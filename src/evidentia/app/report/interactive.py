"""One HTML page to look around in: a map, a table and the masses of what is selected, with everything inside it.

The page asks no other machine for anything, and forbids itself to. Bokeh draws the map; controls and table are plain
HTML, which keyboards and screen readers know. Sets travel as codes and numbers as bytes, so that 20,000 objects stay
below 4 MB.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidentia.app.report.page import decimals, describe_groups
from evidentia.app.report.pictures import choose_view
from evidentia.files import write_whole
from evidentia.partition import CredalPartition
from evidentia.partition.alignment import align_objects
from evidentia.partition.profiles import Columns, column_separations, read_columns
from evidentia.plots import partition_plot_data
from evidentia.plots.mpl import legend_labels
from evidentia.plots.palette import set_style
from evidentia.plots.styles import MISSING, ObjectStyles, choose_drawn, column_shades, number_palette, object_styles
from evidentia.plots.table import principal_plane
from evidentia.safe_text import escape, printable
from evidentia.verdict.words import describe_verdict

TOP = 6  # sets of largest mass that are told of an object
ROWS = 100  # of the table at once
MOST_COLUMNS = 12
ROOM = 2_500_000  # bytes for the objects, beside the 1.3 MB of Bokeh
LONGEST = 60  # letters of a name or a category
NEEDED = "The interactive page needs Bokeh: pip install 'evidentia[explorer]'."


class Placement(NamedTuple):
    """Where the objects are: coordinates, names of the axes, hulls as in ``plot_partition``, words about the view."""

    xy: np.ndarray
    names: tuple[str, str]
    lower: list[np.ndarray]
    upper: list[np.ndarray]
    words: str


def write_interactive(
    path: str | os.PathLike[str],
    *,
    partition: CredalPartition,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write a page in which a credal partition can be looked at: one file, no network.

    Point at an object to see its masses, draw around some to list them and their masses, show some sets of clusters or
    the doubtful objects only, find objects by name, color by a column. Of more than 20,000 objects, all that are
    ambiguous or outliers and a sample of the others are drawn, which the page says.

    Parameters
    ----------
    path : path of the HTML file
    partition : CredalPartition
    X : array-like of shape (n_samples, n_features), optional
        The objects, in units a reader knows. Without it the map shows the probabilities of the clusters.
    feature_names : sequence of str, optional
        Names of the columns of X; those of a DataFrame are found.
    title : str, optional

    Returns
    -------
    Path

    See Also
    --------
    write_report : a page without scripts, to read and to print.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[0, 0.9, 0.1, 0], [0, 0.2, 0.1, 0.7]], FocalSets(2), object_names=["Ann", "Bo"])
    >>> with TemporaryDirectory() as directory:
    ...     page = write_interactive(f"{directory}/look.html", partition=partition).read_text()
    >>> "<h1>2 objects in 2 clusters</h1>" in page
    True
    """
    X = align_objects(partition, X, ("the partition", "'X'"))
    columns = None if X is None else printable_columns(read_columns(X, feature_names))
    if columns is not None and len(columns.values) != len(partition):
        raise ValueError(
            f"'X' must have a row for each of the {len(partition)} objects. Got {len(columns.values)} rows."
        )
    names = partition.object_names or range(len(partition))
    page = render(partition, columns, [printable(str(name)) for name in names], title)
    return write_whole(path, page)


def printable_columns(columns: Columns) -> Columns:
    """Columns with names and categories that are :func:`~evidentia.safe_text.printable`."""
    levels = {j: tuple(map(printable, labels)) for j, labels in columns.levels.items()}
    return replace(columns, names=tuple(map(printable, columns.names)), levels=levels)


def render(partition: CredalPartition, columns: Columns | None, names: Sequence[str], title: str | None) -> str:
    """The page of :func:`write_interactive` as a string."""
    try:
        from bokeh.document import Document
        from bokeh.embed import file_html
        from bokeh.models import CustomJS
        from bokeh.resources import INLINE, Resources
        from jinja2 import Template
    except ImportError as error:
        raise ImportError(NEEDED) from error
    found = object_styles(partition)
    drawn = choose_drawn(found.kinds)
    where = place(partition, columns)
    about = describe(partition, found, columns, [names[i][:LONGEST] for i in drawn.objects.tolist()], drawn.objects)
    figure, models = draw_objects(partition, found, where, drawn.objects)
    document = Document()
    document.add_root(figure)
    source = files("evidentia.app.report")
    code = source.joinpath("interactive.js").read_text(encoding="utf-8")
    document.js_on_event("document_ready", CustomJS(args={**models, "about": about}, code=code))
    grouped = describe_groups(partition)
    title = title or " in ".join([f"{len(partition):,} objects", *grouped])
    told = [] if partition.no_answer else describe_verdict(partition.verdict, partition.n_clusters)
    facts = [f"{len(partition):,} objects", *grouped]
    facts += [] if columns is None else [f"{len(columns.names)} columns"]
    words = {
        "facts": " ".join([*told[:1], f"{' · '.join(facts)}.", drawn.words]),
        "note": f"There is no answer: {partition.no_answer}" if partition.no_answer else "",
        "view": where.words,
        "map_label": f"Map of the objects by {where.names[0]} and {where.names[1]}. The table says the same in words.",
    }
    page = Template(source.joinpath("interactive.html").read_text(encoding="utf-8"))
    variables = {name: escape(text) for name, text in words.items()}
    # Bokeh's own list of scripts names files of every package that extends it and was imported, Panel's among them.
    scripts = Resources(mode="inline", components=["bokeh"]).js_raw
    variables["library"] = "\n".join(f"<script>\n{script}\n</script>" for script in scripts)
    return file_html(document, INLINE, title=escape(title), template=page, template_variables=variables)


def place(partition: CredalPartition, columns: Columns | None) -> Placement:
    """The plane that tells the clusters apart best, as in the report; of probabilities when there are no numbers."""
    if columns is None or not columns.numeric.any():
        plane = principal_plane(partition.pignistic)
        xy = plane.project(partition.pignistic)
        axes: tuple[str, ...] = ("PC 1 of the probabilities", "PC 2 of the probabilities")
        words = "Objects whose probabilities of the clusters (pignistic) are alike lie close together."
    else:
        view = choose_view(partition, columns.only(columns.numeric))
        xy, axes, words = view.xy, view.names, view.words
    data = partition_plot_data(partition, xy, feature_names=axes)
    lost = int(np.isnan(data.xy).any(axis=1).sum())
    if lost:
        which = "object with a missing coordinate is" if lost == 1 else "objects with a missing coordinate are"
        words += f" {lost:,} {which} in the table only."
    return Placement(data.xy, data.axis_names, data.lower, data.upper, words.strip())


# -- what the script of the page is given -----------------------------------------------------------------------------


def describe(
    partition: CredalPartition, found: ObjectStyles, columns: Columns | None, names: Sequence[str], objects: np.ndarray
) -> dict[str, Any]:
    """Names, sets, largest masses and columns of the objects that are drawn."""
    part = partition[objects]
    at, masses = part.largest(TOP)
    room = ROOM - sum(len(name.encode()) + 4 for name in names) - int((at.size * 4 + 12 * len(objects)) * 4 / 3)
    listed, left_out = describe_columns(part, columns, objects, room)
    every = describe_sets(partition)
    legend = [
        {**every[partition.focal_sets.index(mask)], "mark": mark, "count": count}
        for mask, mark, count in zip(found.masks.tolist(), found.marks, found.counts.tolist())
    ]
    return {
        "names": list(names),
        "sets": legend,
        "every": every,
        "top_sets": at.astype(np.uint8 if len(every) <= 256 else np.uint16),
        "top_masses": np.round(masses * 10_000).astype(np.uint16),
        "columns": listed,
        "left_out": left_out,
        "ramp": list(number_palette()),
        "missing": MISSING,
        "rows": ROWS,
    }


def describe_sets(partition: CredalPartition) -> list[dict[str, str]]:
    """Name and colors of every focal set."""
    masks, c = partition.focal_sets.masks.tolist(), partition.n_clusters
    styles = [set_style(mask, c) for mask in masks]
    labels = map(printable, legend_labels(masks, c, partition.cluster_names))
    return [{"name": label, "fill": style.color, "edge": style.edge} for label, style in zip(labels, styles)]


def describe_columns(
    part: CredalPartition, columns: Columns | None, objects: np.ndarray, room: int
) -> tuple[list[dict[str, Any]], str]:
    """The columns that tell the clusters apart best, in their own order, as many as there is room for."""
    if columns is None:
        return [], ""
    each = int(len(objects) * 5 * 4 / 3) + 1  # four bytes for a number, one for its color, as text
    count = int(np.clip(room // each, 1, min(MOST_COLUMNS, len(columns.names))))
    values = columns.values[objects]
    telling = column_separations(part, Columns(values, columns.names, columns.levels))
    chosen = np.sort(np.argsort(-np.round(telling, 9), kind="stable")[:count])
    listed = []
    for j in chosen.tolist():
        levels = columns.levels.get(j)
        shades = column_shades(values[:, j], levels)
        known = values[~np.isnan(values[:, j]), j]
        listed.append(
            {
                "name": columns.names[j],
                "values": [] if levels else values[:, j].astype(np.float32),
                "codes": shades.codes,
                "levels": [label[:LONGEST] for label in shades.labels],
                "palette": list(shades.palette[:-1]) if levels else [],
                "digits": decimals(known),
                "low": shades.low,
                "high": shades.high,
                "gaps": len(known) < len(values),
            }
        )
    left = len(columns.names) - count
    return listed, f"{left} columns that tell less are left out." if left else ""


# -- the map ----------------------------------------------------------------------------------------------------------


def draw_objects(
    partition: CredalPartition, styles: ObjectStyles, where: Placement, objects: np.ndarray
) -> tuple[Any, dict[str, Any]]:
    """Return Bokeh's figure, and the models that the script of the page changes."""
    from bokeh.models import ColumnDataSource, CustomJSHover, HoverTool, PlainText

    from evidentia.app.maps import draw_map, hull_columns, mark_letters

    columns = {
        "x": where.xy[objects, 0].astype(np.float32),
        "y": where.xy[objects, 1].astype(np.float32),
        "code": styles.codes[objects],
        "color": styles.colors[objects],
        "mark": mark_letters(styles, objects),
        "size": styles.sizes[objects],
        "doubt": np.round(100 * np.clip(partition.doubt[objects], 0, 1)).astype(np.uint8),
        "row": np.arange(len(objects), dtype=np.uint16),
    }
    source = ColumnDataSource(columns, name="objects")
    axes = {f"{axis}_axis_label": PlainText(text=name) for axis, name in zip("xy", where.names)}  # no mathematics
    plot, points, hulls = draw_map(
        source, ColumnDataSource(hull_columns(where.lower, where.upper)), active_scroll="auto",
        sizing_mode="stretch_both", **axes,
    )  # fmt: skip
    hover = HoverTool(
        renderers=[points],
        tooltips='<div style="white-space: pre-line; max-width: 24em; overflow-wrap: anywhere">@row{custom}</div>',
        formatters={"@row": CustomJSHover(code="return window.evidentia_tell(value)")},
    )
    plot.add_tools(hover)
    return plot, {"source": source, "hulls": hulls}
