"""One self-contained page with every table and figure: the papers' numbers beside ours, and the verdicts."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import evidentia
from evidentia.files import write_whole
from reproduction import catalog
from reproduction.claims import DecidedClaim
from reproduction.exhibit import VERDICTS, Cell, Verdict
from reproduction.results import (
    ExhibitResult,
    count_decided,
    group_by_value,
    number,
    share_within,
    spread,
    sum_counts,
    tally,
)

TITLE = "The papers' tables and figures, their numbers beside ours"
RULE = (
    "A cell is within when the two means differ by no more than two standard errors of their difference, or by no more "
    "than 0.02, whichever is larger; of counts, by one object or 2 % of the class. Where a paper prints no deviation, "
    "its error is taken as zero, or as ours where its number is one draw of what ours is the mean of. Outside of that "
    "the paper's own method is better or worse, and a rival method, or a number that has no better side, is different. "
    "Cells without a number of the paper, or of other data, are not comparable."
)
CLAIM_RULE = (
    "A claim is a sentence of the paper. Its cases are decided by our means alone; a case is open when two means "
    "differ by less than two standard errors. A claim holds when as many cases hold as it says, all of them as a rule."
)
OUTSIDE = VERDICTS[1:4]
NOT_EXPLAINED = "not looked into"


def write_page(path: Path, shown: Sequence[ExhibitResult]) -> Path:
    """Write the page of some exhibits: no network, no scripts, light and dark."""
    template = Template(files("reproduction").joinpath("template.html").read_text(encoding="utf-8"))
    computed = [one for one in shown if not one.about["absent"]]
    papers = list(dict.fromkeys(one.paper for one in computed))
    titles = {paper.name: paper.title for paper in catalog.PAPERS}
    text = template.substitute(
        title=TITLE,
        facts=escape(" · ".join(facts(computed))),
        notes="".join(f'<p class="note">{escape(note)}</p>' for note in cautions(computed)),
        summary=summary_section(tally(computed)),
        claims=claims_section(count_decided(computed)),
        links="".join(f'<a href="#{name}">{name}</a>' for name in [*papers, *ends(shown)]),
        papers="".join(
            f'<section id="{paper}"><h2>{escape(titles.get(paper, paper))}</h2>'
            f"{''.join(exhibit_section(one) for one in computed if one.paper == paper)}</section>"
            for paper in papers
        ),
        outside=outside_section(computed),
        failures=failures_section(computed),
        absent=absent_section([one for one in shown if one.about["absent"]]),
        footer=escape(f"Written by evidentia {evidentia.__version__}. record.json holds every number and version."),
    )
    return write_whole(path, text)


# -- the top ----------------------------------------------------------------------------------------------------------


def facts(computed: Sequence[ExhibitResult]) -> list[str]:
    modes = sorted({"quick run" if one.about["quick"] else "full run" for one in computed})
    seeds = sorted({one.about["seed"] for one in computed})
    units = {(one.paper, key): seconds for one in computed for key, (*_, seconds) in one.about["units"].items()}
    seconds = sum(units.values())
    return [
        " and ".join(modes) or "nothing computed",
        f"seed {', '.join(map(str, seeds))}",
        f"{len(computed)} tables and figures",
        f"{sum(len(one.cells) for one in computed):,} cells",
        f"{seconds / 60:.1f} minutes of one core",
        f"evidentia {evidentia.__version__}",
    ]


def cautions(computed: Sequence[ExhibitResult]) -> list[str]:
    if any(one.about["quick"] for one in computed):
        return ["A quick run has few repetitions: single cells can differ from those of a full run."]
    return []


def headline(total: Mapping[Verdict, int]) -> str:
    """The counts in a sentence."""
    share = share_within(total)
    if share is None:
        return "No cell here can be compared with a number of a paper."
    comparable = sum(total.values()) - total["not comparable"]
    return (
        f"Of {comparable:,} cells that can be compared with a paper's number, {total['within']:,} are within: "
        f"{share:.0%}. Of the others {total['better']:,} are better and {total['worse']:,} worse than the paper's own "
        f"method was, and {total['different']:,} are different. {total['not comparable']:,} cells are not comparable."
    )


def summary_section(counts: Mapping[str, Mapping[Verdict, int]]) -> str:
    """The bar, the sentence and the table of verdicts."""
    total = sum_counts(counts.values())
    sentence = f"<p>{escape(headline(total))}</p>"
    if share_within(total) is None:
        return sentence
    bar = "".join(
        f'<span class="{verdict}" style="flex-grow:{total[verdict]}">{total[verdict]:,} {verdict}</span>'
        for verdict in VERDICTS[:4]
        if total[verdict]
    )
    lines = {**counts, "in all": total} if len(counts) > 1 else counts
    head = "".join(f'<th scope="col">{verdict}</th>' for verdict in VERDICTS)
    rows = "".join(
        f'<tr><th scope="row">{escape(paper)}</th>{"".join(f"<td>{found[verdict]:,}</td>" for verdict in VERDICTS)}'
        f"<td>{percent(share_within(found))}</td></tr>"
        for paper, found in lines.items()
    )
    return (
        f'<div class="bar">{bar}</div>{sentence}<div class="scroll"><table><thead><tr><td></td>{head}'
        f'<th scope="col">within, of the comparable</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="small">{escape(RULE)}</p>'
    )


def claims_section(claims: Mapping[str, Sequence[DecidedClaim]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(paper)}, {escape(one.claim.place)}</th><td class="left">{escape(one.claim.text)}'
        f'</td><td class="left">{escape(finding(one))}</td><td class="left">{escape(evidence(one))}</td></tr>'
        for paper, found in claims.items()
        for one in found
        if one.cases
    )
    if not rows:
        return ""
    head = "".join(f'<th scope="col" class="left">{word}</th>' for word in ("paper", "claim", "finding", "cases"))
    return (
        f'<section id="claims"><h2>What the papers say of their methods</h2><p class="small">{escape(CLAIM_RULE)}</p>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def finding(one: DecidedClaim) -> str:
    return f"{one.finding} ({one.score})" if one.score else one.finding


def evidence(one: DecidedClaim) -> str:
    """The cases one after the other, each with its numbers."""
    words = {True: "", False: "no, ", None: "open, "}
    return "; ".join(f"{case.name}: {words[case.holds]}{case.words}" for case in one.cases)


# -- one exhibit ------------------------------------------------------------------------------------------------------


def exhibit_section(one: ExhibitResult) -> str:
    title = f'<h3 id="{one.name}">{escape(one.heading)}<code>{one.name}</code></h3>'
    return f"{title}{figure(one)}{table(one)}{remarks(one)}{settings(one)}"


def figure(one: ExhibitResult) -> str:
    if not one.png:
        return ""
    data = base64.b64encode(one.png).decode("ascii")
    return f'<figure><img src="data:image/png;base64,{data}" alt="{escape(one.heading)}"></figure>'


def table(one: ExhibitResult) -> str:
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
    """Ours above the paper's number and the verdict, which is a word, not only a color."""
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


def reasons(one: ExhibitResult) -> list[tuple[Verdict, str, str]]:
    """Verdict, cells and why, each reason once, of the cells that are not within."""
    found: list[tuple[Verdict, str, str]] = []
    for verdict in VERDICTS[1:]:
        silent = "" if verdict == "not comparable" else NOT_EXPLAINED
        said = ((place(cell), cell.incomparable or cell.reason) for cell in one.cells if cell.verdict == verdict)
        for why, cells in group_by_value(said).items():
            if why or silent:
                which = f"{len(cells)} cells" if len(cells) > 6 else ", ".join(cells)
                found.append((verdict, which, why or silent))
    return found


def remarks(one: ExhibitResult) -> str:
    """Words and notes, then why cells are not within, each reason once."""
    lines = [escape(text) for text in (*one.about["words"], *one.about["notes"])]
    lines += [
        f'<b class="{verdict.replace(" ", "-")}">{verdict}</b>, {escape(which)}: {escape(why)}'
        for verdict, which, why in reasons(one)
    ]
    return f'<ul class="plain">{"".join(f"<li>{line}</li>" for line in lines)}</ul>' if lines else ""


def settings(one: ExhibitResult) -> str:
    """How many units, how long, and what they warned of; the settings are in the files of the units."""
    units = one.about["units"]
    said = "".join(f"<li>{escape(text)}</li>" for text in one.about["warnings"])
    warned = f"<details><summary>Warnings while computing</summary><ul>{said}</ul></details>" if said else ""
    seconds = sum(taken for *_, taken in units.values())
    return f'<p class="small">{len(units)} units, {seconds:.1f} seconds.</p>{warned}'


# -- the end ----------------------------------------------------------------------------------------------------------


def outside_section(computed: Iterable[ExhibitResult]) -> str:
    rows = "".join(
        f'<tr><th scope="row"><a href="#{one.name}">{one.name}</a></th><td class="left">{escape(place(cell))}</td>'
        f'<td class="left">{cell.verdict}</td><td>{number(cell.ours)}</td><td>{number(cell.paper)}</td>'
        f'<td class="left">{escape(cell.reason or NOT_EXPLAINED)}</td></tr>'
        for one in computed
        for cell in one.cells
        if cell.verdict in OUTSIDE
    )
    if not rows:
        return ""
    titles = ("exhibit", "cell", "verdict", "ours", "paper", "why")
    head = "".join(f'<th scope="col" class="left">{title}</th>' for title in titles)
    return (
        f'<section id="outside"><h2>Cells that are not within</h2><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def failures_section(computed: Iterable[ExhibitResult]) -> str:
    failures = [
        (f"{one.name} {failure['unit']}", failure["error"]) for one in computed for failure in one.about["failures"]
    ]
    lines = "".join(
        f"<li>{escape(', '.join(names))}: {escape(why)}</li>" for why, names in group_by_value(failures).items()
    )
    return f'<section id="failures"><h2>What failed</h2><ul>{lines}</ul></section>' if lines else ""


def absent_section(absent: Iterable[ExhibitResult]) -> str:
    lines = "".join(
        f"<li>{escape(one.heading)} <code>{one.name}</code>: {escape(one.about['absent'])}</li>" for one in absent
    )
    return f'<section id="absent"><h2>What was not computed</h2><ul>{lines}</ul></section>' if lines else ""


def ends(shown: Iterable[ExhibitResult]) -> list[str]:
    """Which of the sections at the end there are."""
    has = {
        "outside": any(cell.verdict in OUTSIDE for one in shown for cell in one.cells),
        "failures": any(one.about["failures"] for one in shown),
        "absent": any(one.about["absent"] for one in shown),
    }
    return [name for name, there in has.items() if there]


def place(cell: Cell) -> str:
    return f"{cell.row} / {cell.column}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
