"""One self-contained HTML page about a fitted credal partition: no network, no scripts, prints well."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import evidentia
from evidentia.app.advisor.table_model import TableModel
from evidentia.app.report import words
from evidentia.app.report.pictures import Picture, draw
from evidentia.app.script import Script
from evidentia.belief import format_mask
from evidentia.files import write_whole
from evidentia.partition import CredalPartition
from evidentia.partition.alignment import align_objects
from evidentia.partition.counts import describe_clusters
from evidentia.partition.explanation import Explainer
from evidentia.partition.profiles import Columns, column_separations
from evidentia.plots.mpl import NEEDED, can_draw
from evidentia.plots.palette import set_style
from evidentia.safe_text import escape
from evidentia.verdict import Split, Verdict
from evidentia.verdict.result import FAR
from evidentia.verdict.words import describe_verdict, is_one_cloud

DOUBTFUL = 15  # objects in the table of the most doubtful
TOP, COLUMNS = 15, 60  # columns in the table of means that are shown at once, and with those folded away
BAR_SETS, NAMED_SETS = 8, 3  # sets drawn, and sets named, for one doubtful object
STARTS = 50  # rows of the table of starts
SPLITS, SENTENCES = 30, 3  # rows of the table of splits, and sentences about splits that are not supported
EVIDENCE = (
    "Evidence above zero is for two groups, below zero for one, in natural logarithms. It rests on a valley if the "
    "density has two peaks on the line that parts both sides best, else on the shape: two normal clouds against one "
    "cloud of any shape tried. p is the probability of such a second peak if the density has one."
)
OUTCOMES = {
    "kept": "kept",
    "same": "the same solution",
    "worse": "a worse solution",
    "rejected": "rejected: it collapsed",
    "failed": "no number",
}
BEST_SINGLE = (
    "The set is the cluster to which an object is assigned, or those between which it is ambiguous; the best single "
    "cluster is the one of largest {}, to which the mass of larger sets counts too. So the two can differ."
)
RULES = {"plausibility": "plausibility", "pignistic": "pignistic probability", "belief": "belief", "mass": "mass"}
WHY = (
    "Why: a column speaks for the cluster in which the value is likeliest, seen from the means and spreads of the "
    "objects in it, one column at a time. partition.explain(object, X) tells more, and what would settle it."
)


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
    model : fitted estimator or TableModel, optional
        Its parameters, its trace and the shape of its clusters are shown. With a
        :class:`~evidentia.app.advisor.TableModel` shapes are drawn in the units of X.
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
    >>> "1 of 2 objects (50 %) is assigned to one cluster" in page
    True
    """
    X = align_objects(partition, X, ("the partition", "'X'"))
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
    return write_whole(path, render(partition, pictures, **given, **about))


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
    model = model.model if isinstance(model, TableModel) else model
    method = None if model is None else type(model).__name__
    answer = partition.no_answer is None
    verdict = partition.verdict if answer else None
    several, cloud = answer and partition.n_clusters > 1, is_one_cloud(verdict)
    grouped = describe_groups(partition) if answer else []
    title = title or " in ".join([f"{len(partition)} objects", *grouped])
    facts = [f"{len(partition):,} objects", *grouped, *([method] if method else [])]
    if X is not None:
        facts.insert(1, f"{np.shape(X)[1]} columns")
    explainer = Explainer(partition, X, feature_names=feature_names)
    shown = list(pictures)
    drawn = "".join(figure(picture, selection) for picture in shown if picture.name != "split")
    sections = [
        ("Are these groups?", splits_section(verdict, shown) if several and verdict is not None else ""),
        ("The parts" if cloud else "The clusters", clusters_section(partition, explainer.columns) if several else ""),
        ("Pictures", drawn if can_draw() else f"<p>{NEEDED}</p>"),
        ("The most doubtful objects", doubtful_section(partition, explainer) if several and not cloud else ""),
        ("How it was found", search_section(model, selection, shown)),
        ("How it was made", f'<div class="settings">{settings_section(model, settings or {})}</div>'),
        ("Do it again", repeat_section(command, code or (None if model is None else default_code(model)))),
    ]
    template = Template(files("evidentia.app.report").joinpath("template.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(title),
        facts=escape(" · ".join(facts)),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in notes),
        summary=summary_section(partition, [words.few_starts(model), remark])
        if answer
        else no_answer_section(partition),
        sections="".join(
            f"<section><h2>{heading}</h2>{content}</section>\n" for heading, content in sections if content
        ),
        footer=escape(f"Written by evidentia {evidentia.__version__} on {date.today().isoformat()}."),
    )


# -- sections ---------------------------------------------------------------------------------------------------------


def describe_groups(partition: CredalPartition) -> list[str]:
    """Return how many clusters there are, or parts of one cloud; nothing if there is one cluster."""
    if partition.n_clusters == 1:
        return []
    if is_one_cloud(partition.verdict):
        return [f"{describe_clusters(partition.n_clusters, partition.set_counts, 'part')} of one cloud"]
    return [describe_clusters(partition.n_clusters, partition.set_counts)]


def summary_section(partition: CredalPartition, sentences: Iterable[str | None]) -> str:
    """The verdict, the bar of assigned, ambiguous and outlying objects, and what each of the three means.

    One cluster has no such counts, and parts of one cloud have no bar: it would show certainty.
    """
    first, *more = describe_verdict(partition.verdict, partition.n_clusters) or [""]
    told = f'<p class="verdict"><strong>{escape(first)}</strong></p>' if first else ""
    cloud, single = is_one_cloud(partition.verdict), partition.n_clusters == 1
    shares = words.shares(partition)
    if single:
        shares = [share for share in shares if share.kind == "outlier" and share.size]
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
    bar = "" if cloud or single else f'<div class="bar" role="img" aria-label="{escape(alt)}">{bar}</div>'
    open_ = None if cloud or single else words.doubt(partition)
    tail = "".join(f"<p>{escape(sentence)}</p>" for sentence in (*more, open_, *sentences) if sentence)
    return f'{told}{bar}<ul class="shares">{lines}</ul>{tail}'


def splits_section(verdict: Verdict, pictures: Sequence[Picture]) -> str:
    """The evidence of each split, and the picture of the weakest one."""
    if not verdict.splits:
        return ""
    shown, more = verdict.splits[:SPLITS], len(verdict.splits) - SPLITS
    rows = [(split.names, split_cells(split)) for split in shown]
    text = "".join(f"<p>{escape(sentence)}</p>" for sentence in verdict.unsupported()[:SENTENCES])
    drawn = "".join(figure(picture) for picture in pictures if picture.name == "split")
    left = f"<p class=small>{more} more splits are not shown.</p>" if more > 0 else ""
    head = ["evidence", "basis", "p", "supported"]
    return f"{_cluster_table(head, rows)}<p class=small>{escape(EVIDENCE)}</p>{left}{text}{drawn}"


def split_cells(split: Split) -> list[str]:
    """Evidence, what it rests on, the probability of a second peak, and whether the split is supported."""
    evidence = "far apart" if split.evidence >= FAR else f"{split.evidence:.1f}"
    peak = "" if split.evidence >= FAR else f"{split.p:.2f}" if split.p >= 0.01 else "&lt; 0.01"
    return [evidence, "" if split.evidence >= FAR else split.basis, peak, "yes" if split.supported else "no"]


def no_answer_section(partition: CredalPartition) -> str:
    """In place of the summary: that there is no answer, why, and what to try."""
    return (
        f'<div class="no-answer"><h2>There is no answer</h2><p>{escape(partition.no_answer or "")}</p>'
        f"<p>None of the {len(partition):,} objects is assigned to a cluster. The masses that the fit ended with are "
        "in the files, but they tell how it failed, not how the objects are grouped.</p></div>"
    )


def clusters_section(partition: CredalPartition, columns: Columns | None) -> str:
    """Sizes of the clusters, and what is usual in each column, the column that tells them apart best first.

    Of parts of one cloud no column is said to tell them apart.
    """
    cloud = is_one_cloud(partition.verdict)
    clusters = range(partition.n_clusters)
    lower = [partition.lower(k) for k in clusters]
    head = [f"{swatch([(1 << k, 1.0)], len(clusters))} {escape(partition.cluster_name(k))}" for k in clusters]
    head = ["all", *head] if columns is None or cloud else ["tells apart", "all", *head]
    blank = [] if columns is None or cloud else [""]
    sizes = [
        (
            "inside it" if cloud else "assigned to it",
            [*blank, f"{sum(map(len, lower)):,}", *(f"{len(objects):,}" for objects in lower)],
        ),
        ("possibly in it", [*blank, "", *(f"{len(partition.upper(k)):,}" for k in clusters)]),
    ]
    if columns is None:
        return _cluster_table(head, sizes)
    separation = column_separations(partition, columns)
    ranked = np.argsort(-np.round(separation, 9), kind="stable").tolist()
    rows = [
        (
            columns.names[j],
            [*([] if cloud else [share_bar(separation[j])]), *map(escape, usual_cells(columns, j, lower))],
        )
        for j in ranked[:COLUMNS]
    ]
    words = (
        "Below the sizes: the mean of each column (of a column of categories the most common one), over all "
        "objects and over those inside each part."
        if cloud
        else "Below the sizes: the mean of each column (of a column of categories the most common one), over all "
        "objects and over those assigned to the cluster. Columns are ranked by how well they tell the clusters apart: "
        "the share of their scatter that lies between clusters."
    )
    found = f"{_cluster_table(head, [*sizes, *rows[:TOP]])}<p class=small>{words}</p>"
    if len(rows) > TOP:
        left = (
            f" {len(ranked) - COLUMNS} more {'are not shown' if cloud else 'tell still less'}."
            if len(ranked) > COLUMNS
            else ""
        )
        folded = f"<summary>{len(rows) - TOP} {'more columns' if cloud else 'columns that tell less'}.{left}</summary>"
        found += f"<details>{folded}{_cluster_table(head, rows[TOP:])}</details>"
    return found


def _cluster_table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table whose first column names its rows; cells and headings are HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, cells in rows
    )
    return f'<div class="scroll"><table><thead><tr><td></td>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def usual_cells(columns: Columns, j: int, lower: Sequence[np.ndarray]) -> list[str]:
    """What is usual in a column, over all objects and over those assigned to each cluster."""
    groups = [columns.values[:, j], *(columns.values[objects, j] for objects in lower)]
    known = [values[~np.isnan(values)] for values in groups]
    if j not in columns.levels:
        digits = decimals(known[0])
        return [f"{values.mean():,.{digits}f}" if len(values) else "–" for values in known]
    counts = [np.bincount(values.astype(int), minlength=1) for values in known]
    return [
        f"{columns.levels[j][int(count.argmax())]} ({100 * count.max() / count.sum():.0f} %)" if count.sum() else "–"
        for count in counts
    ]


def share_bar(share: float) -> str:
    """A bar as long as a share, and its number."""
    bar = f'<span class="share" aria-hidden="true"><i style="width:{100 * share:.0f}%"></i></span>'
    return f"{bar}{100 * share:.0f} %"


def doubtful_section(partition: CredalPartition, explainer: Explainer) -> str:
    """The objects that are hardest to place, with the sets that share their mass, and why."""
    chosen = partition.most_doubtful(DOUBTFUL)
    few = partition[chosen]
    order, masses = few.largest(BAR_SETS)
    masks = partition.focal_sets.masks
    why = explainer.reasons(chosen) if explainer.columns is not None else None
    rows, differ = [], False
    for at, (i, label, sets, shares) in enumerate(zip(chosen.tolist(), few.labels().tolist(), order, masses.tolist())):
        shared = [(int(masks[j]), m) for j, m in zip(sets, shares) if m >= 0.005]
        listed = ", ".join(f"{set_name(partition, mask)} {m:.2f}" for mask, m in shared[:NAMED_SETS])
        listed += ", …" * (len(shared) > NAMED_SETS)
        own = int(few.set_masks[at])
        differ |= own != 0 and not own >> label & 1
        rows.append(
            f'<tr><th scope="row">{escape(explainer.name(i))}</th>'
            f'<td class="left">{escape(set_name(partition, own))}</td>'
            f"<td>{escape(partition.cluster_name(label))}</td>"
            f'<td class="mix left">{swatch(shared, partition.n_clusters, wide=True)}<br>{escape(listed)}</td>'
            + (f'<td class="why">{escape(why[at])}</td>' if why else "")
            + "</tr>"
        )
    return (
        '<p class="small">The objects whose own best cluster is believed in least. The mass of an object adds up to 1; '
        "mass on a set such as {0,1} says &ldquo;one of these, the data do not tell which&rdquo;.</p>"
        '<div class="scroll"><table><thead><tr><th scope="col">object</th><th scope="col" class="left">set</th>'
        '<th scope="col">best single cluster</th><th scope="col" class="left">masses</th>'
        + ('<th scope="col" class="left">why</th>' if why else "")
        + f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        + (f'<p class="small">{escape(BEST_SINGLE.format(RULES[partition.label_rule]))}</p>' if differ else "")
        + (f'<p class="small">{escape(WHY)}</p>' if why else "")
    )


def search_section(model: Any, selection: Any, pictures: Sequence[Picture]) -> str:
    """How far the starts agree, what was rejected and why, and what came second."""
    said = [words.starts(model), getattr(selection, "choice", None)]
    text = "".join(f"<p>{escape(sentence)}</p>" for sentence in said if sentence)
    reasons = words.rejected_starts(model, selection)
    if reasons:
        listed = "".join(f"<li>{escape(reason)}</li>" for reason in reasons)
        text += f"<p>Tried, and not taken or to be taken with care:</p><ul>{listed}</ul>"
    ends = words.start_outcomes(model)
    if len({start.outcome for start in ends} - {"kept", "same"}):
        rows = "".join(
            f'<tr><th scope="row">{at}</th><td>{start.criterion:,.6g}</td>'
            f'<td class="left">{OUTCOMES[start.outcome]}</td></tr>'
            for at, start in enumerate(ends[:STARTS])
        )
        more = f"<p class=small>{len(ends) - STARTS} more starts are not shown.</p>" if len(ends) > STARTS else ""
        text += (
            "<details><summary>Each start</summary><table><thead><tr><th>start</th><th>criterion</th>"
            f'<th class="left">outcome</th></tr></thead><tbody>{rows}</tbody></table>{more}</details>'
        )
    if selection is not None and all(picture.name != "selection" for picture in pictures):
        text += selection_section(selection)
    return text


def selection_section(selection: Any) -> str:
    """The table behind the choice of the number of clusters."""
    table = getattr(selection, "table", selection)
    html = table.to_html(index=False, float_format=lambda value: f"{value:,.4g}", border=0, na_rep="", justify="right")
    return f'<details><summary>The numbers behind the choice</summary><div class="scroll">{html}</div></details>'


def settings_section(model: Any, settings: Mapping[str, Any]) -> str:
    """What was given, what the method was set to, and which versions ran."""
    used = {} if model is None else {"method": type(model).__name__, **model.get_params()}
    used.pop("verbose", None)
    packages = ("evidentia", "numpy", "scipy", "scikit-learn", "pandas", "numba", "matplotlib")
    numbers = {"python": platform.python_version()} | {name: version_of(name) for name in packages}
    groups = [("Input", settings), ("Method", used), ("Versions", numbers)]
    return "".join(
        f"<div><h3>{heading}</h3><dl>"
        + "".join(f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>" for key, value in content.items())
        + "</dl></div>"
        for heading, content in groups
        if content
    )


def version_of(package: str) -> str:
    """The version that is installed; some packages are extras."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def repeat_section(command: str | None, code: str | None) -> str:
    """Command line and Python code that give the same result."""
    parts = ['<p class="small">Select a box by clicking it, and copy.</p>'] if command or code else []
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
    """Return Python code that fits a model with the same parameters, for a table called X."""
    script = Script()
    script.fit(model, model.n_clusters_)
    script.add("print(model.partition_)")
    return str(script)


def set_name(partition: CredalPartition, mask: int) -> str:
    return "none of them" if mask == 0 else format_mask(mask, partition.cluster_names)


def swatch(shared: Sequence[tuple[int, float]], n_clusters: int, *, wide: bool = False) -> str:
    """Patches in the colors of sets, as wide as their masses."""
    patches = "".join(
        f'<i style="flex-grow:{mass:.3f};background:{set_style(mask, n_clusters).color}"></i>' for mask, mass in shared
    )
    return f'<span class="swatch{" wide" if wide else ""}" aria-hidden="true">{patches}</span>'


def decimals(values: np.ndarray) -> int:
    """Decimals that show about three figures of the spread of some numbers."""
    if not len(values):
        return 0
    low, high = float(values.min()), float(values.max())
    spread = high - low if high > low else max(abs(high), 1e-300)
    return int(np.clip(2 - np.floor(np.log10(spread)), 0, 12))
