"""One self-contained HTML page about a fitted credal partition: no network, no scripts, prints well."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import evidentia
from evidentia.belief.focal import format_mask
from evidentia.partition import CredalPartition
from evidentia.plots.palette import set_style
from evidentia.report import words
from evidentia.report.pictures import Picture, draw

DOUBTFUL = 15  # objects in the table of the most doubtful
COLUMNS = 40  # rows of the table of means
BAR_SETS, NAMED_SETS = 8, 3  # sets drawn, and sets named, for one doubtful object


def write_report(
    path: str | os.PathLike[str],
    *,
    partition: CredalPartition,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
    settings: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    remark: str | None = None,
    command: str | None = None,
    code: str | None = None,
    title: str | None = None,
) -> Path:
    """Write a page that explains a credal partition to a person.

    Parameters
    ----------
    path : path of the HTML file
    partition : CredalPartition
    model : fitted estimator, optional
        Its parameters, its trace and the shape of its clusters are shown.
    X : array-like of shape (n_samples, n_features), optional
        The objects, in units a reader knows: gives the means of the clusters and the scatter plot.
    feature_names : sequence of str, optional
        Names of the columns of X; those of a DataFrame are found.
    selection : Selection or DataFrame, optional
        How the number of clusters was chosen.
    settings : mapping, optional
        What else a reader should know, such as the name of the file.
    notes : sequence of str
        Warnings, shown at the top.
    remark : str, optional
        A sentence of your own about the result.
    command, code : str, optional
        The command line and the Python code that repeat the result. Without ``code`` it is made up from the model.
    title : str, optional

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[0, 0.9, 0.1, 0], [0, 0.2, 0.1, 0.7]], FocalSets(2), object_names=["Ann", "Bo"])
    >>> with TemporaryDirectory() as directory:
    ...     page = write_report(f"{directory}/report.html", partition=partition).read_text()
    >>> "1 of 2 objects (50 %) is surely in one cluster" in page
    True
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    given: dict[str, Any] = {"model": model, "X": X, "feature_names": feature_names, "selection": selection}
    pictures = draw(partition, **given)
    about: dict[str, Any] = {
        "settings": settings,
        "notes": notes,
        "remark": remark,
        "command": command,
        "code": code,
        "title": title,
    }
    path.write_text(render(partition, pictures, **given, **about), encoding="utf-8")
    return path


def render(
    partition: CredalPartition,
    pictures: Iterable[Picture],
    *,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
    settings: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    remark: str | None = None,
    command: str | None = None,
    code: str | None = None,
    title: str | None = None,
) -> str:
    """The page of :func:`write_report` as a string, with pictures that were drawn already."""
    method = None if model is None else type(model).__name__
    title = title or f"{len(partition)} objects in {partition.n_clusters} clusters"
    facts = [f"{len(partition):,} objects", f"{partition.n_clusters} clusters", *([method] if method else [])]
    if X is not None:
        facts.insert(1, f"{np.shape(X)[1]} columns")
    code = code or (None if model is None else default_code(model))
    template = Template(files("evidentia.report").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        facts=escape(" · ".join(facts)),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in notes),
        summary=summary_section(partition, [words.doubt(partition), words.starts(model), remark]),
        clusters=clusters_section(partition, X, feature_names),
        pictures="".join(figure(picture, selection) for picture in pictures),
        doubtful=doubtful_section(partition),
        settings=settings_section(model, settings or {}),
        repeat=repeat_section(command, code),
        footer=escape(f"Written by evidentia {evidentia.__version__} on {date.today().isoformat()}."),
    )


# -- sections ---------------------------------------------------------------------------------------------------------


def summary_section(partition: CredalPartition, sentences: Iterable[str | None]) -> str:
    """The bar of sure, torn and outlying objects, and what each of the three means."""
    shares = words.shares(partition)
    bar = "".join(
        f'<span class="{share.kind}" style="flex-grow:{share.size}">{share.size:,}</span>'
        for share in shares
        if share.size
    )
    lines = "".join(
        f'<li class="{share.kind}"><strong>{escape(share.sentence)}</strong> <span>{escape(share.meaning)}</span></li>'
        for share in shares
    )
    alt = ", ".join(f"{share.size} {share.kind}" for share in shares)
    tail = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)
    return f'<div class="bar" role="img" aria-label="{escape(alt)}">{bar}</div><ul class="shares">{lines}</ul>{tail}'


def clusters_section(partition: CredalPartition, X: Any, feature_names: Sequence[str] | None) -> str:
    """Sizes of the clusters and the mean of each column over the objects surely in them."""
    clusters = range(partition.n_clusters)
    lower = [partition.lower(k) for k in clusters]
    head = "".join(
        f'<th scope="col">{swatch([(1 << k, 1.0)], len(clusters))} {escape(words.cluster_name(partition, k))}</th>'
        for k in clusters
    )
    rows = [
        ("surely in it", [f"{sum(map(len, lower)):,}", *(f"{len(objects):,}" for objects in lower)]),
        ("possibly in it", ["", *(f"{len(partition.upper(k)):,}" for k in clusters)]),
    ]
    after = ""
    if X is not None:
        table = np.asarray(X, dtype=float)
        names = feature_names if feature_names is not None else getattr(X, "columns", range(table.shape[1]))
        means = [column_means(table), *(column_means(table[objects]) for objects in lower)]
        digits = decimals(table)
        for j, name in list(enumerate(names))[:COLUMNS]:
            rows.append((str(name), [f"{mean[j]:,.{digits[j]}f}" if np.isfinite(mean[j]) else "–" for mean in means]))
        after = "Below the sizes: the mean of each column, over all objects and over those surely in the cluster."
        if table.shape[1] > COLUMNS:
            after += f" {table.shape[1] - COLUMNS} more columns are not shown."
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, cells in rows
    )
    return (
        '<div class="scroll"><table><thead><tr><td></td><th scope="col">all</th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div><p class=small>{after}</p>"
    )


def doubtful_section(partition: CredalPartition) -> str:
    """The objects that are hardest to place, with the sets that share their mass."""
    chosen = partition.most_doubtful(DOUBTFUL)
    few = partition[chosen]
    order, masses = few.largest(BAR_SETS)
    masks = partition.focal_sets.masks
    rows = []
    for i, label, sets, shares in zip(chosen.tolist(), few.labels().tolist(), order, masses.tolist()):
        shared = [(int(masks[j]), m) for j, m in zip(sets, shares) if m >= 0.005]
        listed = ", ".join(f"{set_name(partition, mask)} {m:.2f}" for mask, m in shared[:NAMED_SETS])
        listed += ", …" * (len(shared) > NAMED_SETS)
        rows.append(
            f'<tr><th scope="row">{escape(partition.name(i))}</th>'
            f'<td class="left">{escape(set_name(partition, int(masks[sets[0]])))}</td>'
            f"<td>{escape(words.cluster_name(partition, label))}</td>"
            f'<td class="mix">{swatch(shared, partition.n_clusters, wide=True)}</td>'
            f'<td class="left">{escape(listed)}</td></tr>'
        )
    return (
        '<div class="scroll"><table><thead><tr><th scope="col">object</th><th scope="col" class="left">set</th>'
        '<th scope="col">best single cluster</th><th scope="col" colspan="2" class="left">masses</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def selection_section(selection: Any) -> str:
    """The table behind the choice of the number of clusters."""
    table = getattr(selection, "table", selection)
    html = table.to_html(index=False, float_format=lambda value: f"{value:,.4g}", border=0, na_rep="", justify="right")
    return f'<details><summary>The numbers behind the choice</summary><div class="scroll">{html}</div></details>'


def settings_section(model: Any, settings: Mapping[str, Any]) -> str:
    """What was given, what the method was set to, and which versions ran."""
    used = {} if model is None else {"method": type(model).__name__, **model.get_params()}
    used.pop("verbose", None)
    numbers = {name: version(name) for name in ("evidentia", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")}
    groups = [("Input", settings), ("Method", used), ("Versions", {"python": platform.python_version(), **numbers})]
    return "".join(
        f"<div><h3>{heading}</h3><dl>"
        + "".join(f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>" for key, value in content.items())
        + "</dl></div>"
        for heading, content in groups
        if content
    )


def repeat_section(command: str | None, code: str | None) -> str:
    """Command line and Python code that give the same result."""
    parts = []
    if command:
        parts.append(f"<h3>In a terminal</h3><pre><code>{escape(command)}</code></pre>")
    if code:
        parts.append(f"<h3>In Python</h3><pre><code>{escape(code)}</code></pre>")
    return "".join(parts)


def figure(picture: Picture, selection: Any = None) -> str:
    """A picture with its words; the one about the number of clusters has its table folded in below."""
    table = selection_section(selection) if picture.name == "selection" else ""
    data = base64.b64encode(picture.png).decode("ascii")
    return (
        f'<figure id="{picture.name}"><h3>{escape(picture.title)}</h3>'
        f'<img src="data:image/png;base64,{data}" alt="{escape(picture.alt)}">'
        f"<figcaption>{escape(picture.caption)}{table}</figcaption></figure>"
    )


# -- small things -----------------------------------------------------------------------------------------------------


def default_code(model: Any) -> str:
    """Python code that fits a model with the same parameters, for a table called X."""
    return f"{import_lines(model)}\n\nmodel = {model!r}.fit(X)\nprint(model.partition_)"


def import_lines(model: Any, *others: str) -> str:
    """Where the class of a model is imported from, and other names of the package with it.

    Examples
    --------
    >>> from evidentia.experimental import BCM
    >>> from evidentia.prototypes import ECM
    >>> print(import_lines(ECM(), "select"))
    from evidentia import ECM, select
    >>> print(import_lines(BCM(), "select"))
    from evidentia import select
    from evidentia.experimental import BCM
    """
    name, folder = type(model).__name__, ".".join(type(model).__module__.split(".")[:2])
    if name in evidentia.__all__:
        return f"from evidentia import {', '.join([name, *others])}"
    return "\n".join([*[f"from evidentia import {other}" for other in others], f"from {folder} import {name}"])


def set_name(partition: CredalPartition, mask: int) -> str:
    return "none of them" if mask == 0 else format_mask(mask, partition.cluster_names)


def swatch(shared: Sequence[tuple[int, float]], n_clusters: int, *, wide: bool = False) -> str:
    """Patches in the colors of sets, as wide as their masses."""
    patches = "".join(
        f'<i style="flex-grow:{mass:.3f};background:{set_style(mask, n_clusters).color}"></i>' for mask, mass in shared
    )
    return f'<span class="swatch{" wide" if wide else ""}" aria-hidden="true">{patches}</span>'


def column_means(table: np.ndarray) -> np.ndarray:
    """Mean of what is observed in each column; NaN where nothing is."""
    known = np.isfinite(table)
    count = known.sum(axis=0)
    total = np.where(known, table, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(table.shape[1], np.nan), where=count > 0)


def decimals(table: np.ndarray) -> np.ndarray:
    """Decimals that show about three figures of each column's spread."""
    known = np.isfinite(table)
    low, high = np.where(known, table, np.inf).min(axis=0), np.where(known, table, -np.inf).max(axis=0)
    spread = np.where(high > low, high - low, np.maximum(np.abs(high), 1e-300))
    return np.clip(2 - np.floor(np.log10(spread)), 0, 12).astype(int)
