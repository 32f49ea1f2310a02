"""One self-contained page with every table and figure: the papers' numbers beside ours, and the verdicts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import evidentia
from reproduction import catalogue
from reproduction.exhibit import VERDICTS, Cell, Verdict
from reproduction.results import Shown, good_share, grouped, number, spread, summed, tally

TITLE = "The papers' tables and figures, their numbers beside ours"
RULE = (
    "A cell is within when our number lies within two of the paper's standard deviations or within 0.05 of its figure "
    "(numbers that are not between 0 and 1 have a tolerance of their own, see the CSV); outside of that it is better "
    "or worse. Cells without a number of the paper, or of other data, are not comparable."
)
NOT_EXPLAINED = "not looked into"


def write_page(path: Path, shown: Sequence[Shown]) -> Path:
    """Write the page of some exhibits: no network, no scripts, light and dark."""
    template = Template(files("reproduction").joinpath("template.html").read_text(encoding="utf-8"))
    computed = [one for one in shown if not one.about["absent"]]
    papers = list(dict.fromkeys(one.paper for one in computed))
    titles = {paper.name: paper.title for paper in catalogue.PAPERS}
    text = template.substitute(
        title=TITLE,
        facts=escape(" · ".join(facts(computed))),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in cautions(computed)),
        summary=summary_section(tally(computed)),
        links="".join(f'<a href="#{name}">{name}</a>' for name in [*papers, *ends(shown)]),
        papers="".join(
            f'<section id="{paper}"><h2>{escape(titles.get(paper, paper))}</h2>'
            f"{''.join(exhibit_section(one) for one in computed if one.paper == paper)}</section>"
            for paper in papers
        ),
        worse=worse_section(computed),
        failures=failures_section(computed),
        absent=absent_section([one for one in shown if one.about["absent"]]),
        footer=escape(f"Written by evidentia {evidentia.__version__}. record.json holds every setting and version."),
    )
    path.write_text(text, encoding="utf-8")
    return path


# -- the top ----------------------------------------------------------------------------------------------------------


def facts(computed: Sequence[Shown]) -> list[str]:
    modes = sorted({"quick run" if one.about["quick"] else "full run" for one in computed})
    seeds = sorted({one.about["seed"] for one in computed})
    seconds = sum(
        {(one.paper, unit["key"]): unit["seconds"] for one in computed for unit in one.about["units"]}.values()
    )
    return [
        " and ".join(modes) or "nothing computed",
        f"seed {', '.join(map(str, seeds))}",
        f"{len(computed)} tables and figures",
        f"{sum(len(one.cells) for one in computed):,} cells",
        f"{seconds / 60:.1f} minutes of one core",
        f"evidentia {evidentia.__version__}",
    ]


def cautions(computed: Sequence[Shown]) -> list[str]:
    if any(one.about["quick"] for one in computed):
        return ["A quick run has few repetitions: single cells can differ from those of a full run."]
    return []


def summary_section(counts: Mapping[str, Mapping[Verdict, int]]) -> str:
    """The bar, the sentence and the table of verdicts."""
    total = summed(counts.values())
    share = good_share(total)
    if share is None:
        return "<p>No cell here can be compared with a number of a paper.</p>"
    comparable = sum(total[verdict] for verdict in VERDICTS[:3])
    bar = "".join(
        f'<span class="{verdict}" style="flex-grow:{total[verdict]}">{total[verdict]:,} {verdict}</span>'
        for verdict in VERDICTS[:3]
        if total[verdict]
    )
    sentence = (
        f"Of {comparable:,} cells that can be compared with a paper's number, {total['within']:,} agree with it, "
        f"{total['better']:,} are better and {total['worse']:,} worse: <strong>{share:.0%} within or better</strong>. "
        f"{total['not comparable']:,} cells are not comparable."
    )
    lines = {**counts, "in all": total} if len(counts) > 1 else counts
    head = "".join(f'<th scope="col">{verdict}</th>' for verdict in VERDICTS)
    rows = "".join(
        f'<tr><th scope="row">{escape(paper)}</th>{"".join(f"<td>{found[verdict]:,}</td>" for verdict in VERDICTS)}'
        f"<td>{percent(good_share(found))}</td></tr>"
        for paper, found in lines.items()
    )
    return (
        f'<div class="bar">{bar}</div><p>{sentence}</p><div class="scroll"><table><thead><tr><td></td>{head}'
        f'<th scope="col">within or better, of the comparable</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="small">{escape(RULE)}</p>'
    )


# -- one exhibit ------------------------------------------------------------------------------------------------------


def exhibit_section(one: Shown) -> str:
    title = f'<h3 id="{one.name}">{escape(one.heading)}<code>{one.name}</code></h3>'
    return f"{title}{figure(one)}{table(one)}{remarks(one)}{settings(one)}"


def figure(one: Shown) -> str:
    if not one.png:
        return ""
    data = base64.b64encode(one.png).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{data}" alt="{escape(one.heading)}"></figure>'


def table(one: Shown) -> str:
    if not one.cells:
        return ""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in one.columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(row)}</th>{"".join(table_cell(cells.get(column)) for column in one.columns)}</tr>'
        for row, cells in one.table.items()
    )
    return (
        f'<div class="scroll"><table class="cells"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def table_cell(cell: Cell | None) -> str:
    """Ours above the paper's number and the verdict, which is a word, not only a colour."""
    if cell is None:
        return "<td></td>"
    parts = [f"<span>{with_deviation(cell.ours, cell.deviation)}</span>"]
    if cell.paper is not None:
        parts.append(f'<span class="theirs">paper {with_deviation(cell.paper, cell.paper_deviation)}</span>')
        word = "failed" if cell.ours is None else cell.verdict
        parts.append(f'<span class="verdict">{word}</span>')
    why = cell.incomparable or cell.reason
    hint = f' title="{escape(why)}"' if why else ""
    return f'<td class="{cell.verdict.replace(" ", "-")}"{hint}>{"".join(parts)}</td>'


def with_deviation(value: float | None, deviation: float | None) -> str:
    beside = "" if value is None or deviation is None else f"<i>{spread(deviation)}</i>"
    return f"{number(value)}{beside}"


def remarks(one: Shown) -> str:
    """Notes, then why cells are worse or not comparable, each reason once."""
    lines = [escape(note) for note in one.about["notes"]]
    worse = ((place(cell), cell.reason or NOT_EXPLAINED) for cell in one.cells if cell.verdict == "worse")
    for why, cells in grouped(worse).items():
        lines.append(f'<b class="worse">worse</b>, {escape(", ".join(cells))}: {escape(why)}')
    incomparable = ((place(cell), cell.incomparable) for cell in one.cells if cell.incomparable)
    for why, cells in grouped(incomparable).items():
        which = f"{len(cells)} cells" if len(cells) > 6 else ", ".join(cells)
        lines.append(f"<b>not comparable</b>, {escape(which)}: {escape(why)}")
    return f'<ul class="plain">{"".join(f"<li>{line}</li>" for line in lines)}</ul>' if lines else ""


def settings(one: Shown) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(unit["key"])}</th>'
        f'<td class="left"><code>{escape(json.dumps(unit["settings"], ensure_ascii=False))}</code></td>'
        f"<td>{unit['seconds']:.1f}</td></tr>"
        for unit in one.about["units"]
    )
    said = "".join(f"<li>{escape(text)}</li>" for text in one.about["warnings"])
    warned = f"<p>Warnings while computing:</p><ul>{said}</ul>" if said else ""
    return (
        f"<details><summary>Settings of {len(one.about['units'])} units, {one.about['seconds']:.1f} seconds</summary>"
        f'<div class="scroll"><table><thead><tr><th scope="col" class="left">unit</th>'
        f'<th scope="col" class="left">settings</th><th scope="col">seconds</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{warned}</details>"
    )


# -- the end ----------------------------------------------------------------------------------------------------------


def worse_section(computed: Iterable[Shown]) -> str:
    rows = "".join(
        f'<tr><th scope="row"><a href="#{one.name}">{one.name}</a></th><td class="left">{escape(place(cell))}</td>'
        f"<td>{number(cell.ours)}</td><td>{number(cell.paper)}</td>"
        f'<td class="left">{escape(cell.reason or NOT_EXPLAINED)}</td></tr>'
        for one in computed
        for cell in one.cells
        if cell.verdict == "worse"
    )
    if not rows:
        return ""
    head = '<th scope="col" class="left">exhibit</th><th scope="col" class="left">cell</th><th scope="col">ours</th>'
    return (
        f'<section id="worse"><h2>Cells that are worse than the paper\'s</h2><div class="scroll"><table>'
        f'<thead><tr>{head}<th scope="col">paper</th><th scope="col" class="left">why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def failures_section(computed: Iterable[Shown]) -> str:
    failures = [
        (f"{one.name} {failure['unit']}", failure["error"]) for one in computed for failure in one.about["failures"]
    ]
    lines = "".join(f"<li>{escape(', '.join(names))}: {escape(why)}</li>" for why, names in grouped(failures).items())
    return f'<section id="failures"><h2>What failed</h2><ul>{lines}</ul></section>' if lines else ""


def absent_section(absent: Iterable[Shown]) -> str:
    lines = "".join(
        f"<li>{escape(one.heading)} <code>{one.name}</code>: {escape(one.about['absent'])}</li>" for one in absent
    )
    return f'<section id="absent"><h2>What was not computed</h2><ul>{lines}</ul></section>' if lines else ""


def ends(shown: Iterable[Shown]) -> list[str]:
    """Which of the sections at the end there are."""
    has = {
        "worse": any(one.counts["worse"] for one in shown),
        "failures": any(one.about["failures"] for one in shown),
        "absent": any(one.about["absent"] for one in shown),
    }
    return [name for name, there in has.items() if there]


def place(cell: Cell) -> str:
    return f"{cell.row} / {cell.column}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
