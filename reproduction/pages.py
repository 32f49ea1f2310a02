"""Write the pages about the papers from the record of a run, without computing anything.

``python -m reproduction.pages out/full`` takes over what ``python -m reproduction all --full --out out/full`` recorded;
without a directory the pages are written again from ``docs/results/record.json``, with the words and by the rules that
the code has now. The pages hold numbers: pictures stay beside the run, or the history would grow with each of them.
"""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evidentia.files import write_whole
from reproduction import catalog
from reproduction.claims import DecidedClaim
from reproduction.exhibit import VERDICTS, Cell
from reproduction.page import (
    CLAIM_RULE,
    NOT_EXPLAINED,
    OUTSIDE,
    RULE,
    evidence,
    facts,
    finding,
    headline,
    percent,
    place,
    reasons,
)
from reproduction.results import (
    RECORD,
    ExhibitResult,
    count_decided,
    findings,
    group_by_value,
    number,
    read,
    share_within,
    spread,
    sum_counts,
    tally,
)

DOCS = Path(__file__).parents[1] / "docs"
MARKS = {"within": " =", "better": " ▲", "worse": " ▼", "different": " ≠", "not comparable": ""}
LEGEND = "Ours ± standard deviation (the paper's). = within, ▲ better, ▼ worse, ≠ different, no mark: not comparable."


def take_over(source: Path, target: Path) -> None:
    """The record of a run in place of that of the documentation; one that was changed by hand is refused."""
    read(source)
    write_whole(target / RECORD, (source / RECORD).read_bytes())


def pages(directory: Path) -> dict[str, str]:
    """Text of the overview and of each paper's page, by path below the documentation."""
    shown = read(directory)
    claims = count_decided(shown)
    papers = [paper for paper in catalog.PAPERS if any(one.paper == paper.name for one in shown)]
    written = {"results.md": overview(shown, [paper.name for paper in papers])}
    for paper in papers:
        own = [one for one in shown if one.paper == paper.name]
        written[f"results/{paper.name}.md"] = paper_page(paper.title, own, claims.get(paper.name, []))
    return written


def overview(shown: Sequence[ExhibitResult], papers: Sequence[str]) -> str:
    computed = [one for one in shown if not one.about["absent"]]
    counts, claims = tally(computed), count_decided(shown)
    total = sum_counts(counts.values())
    every = [(paper, one) for paper, found in claims.items() for one in found]
    held = {**claims, "in all": [one for _, one in every]}
    rows = [
        [f"[{paper}](results/{paper}.md)" if paper in papers else paper]
        + [f"{found[verdict]:,}" for verdict in VERDICTS]
        + [percent(share_within(found)), claims_held(held.get(paper, []))]
        for paper, found in ({**counts, "in all": total} if len(counts) > 1 else counts).items()
    ]
    parts = [
        "# The papers' tables",
        "Every table and figure of the papers this library is built on, computed by one command; the paper's number "
        "stands beside ours, cell by cell.",
        "```\npython -m reproduction list                  # what there is\n"
        "python -m reproduction egmm.table12          # one table\n"
        "python -m reproduction all --full --out DIR  # everything, with pictures and a page to open in a browser\n```",
        f"These pages: {', '.join(facts(computed))}. All numbers, units and digests are in "
        f"[{RECORD}](results/{RECORD}). {digests(computed)}",
        headline(total),
        table(["paper", *VERDICTS, "within, of the comparable", "claims that hold"], rows),
        plain(RULE),
        "## What the papers say of their methods",
        plain(CLAIM_RULE),
        claims_table(every),
        "## Cells that are not within",
        outside_table(computed),
        "```{toctree}\n:hidden:\n\n" + "\n".join(f"results/{paper}" for paper in papers) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def digests(computed: Sequence[ExhibitResult]) -> str:
    """Say how many units can be told from changed ones, and of which papers the others are."""
    units = {(one.paper, key): kept for one in computed for key, (_, kept, _) in one.about["units"].items()}
    without = Counter(paper for (paper, _), kept in units.items() if kept is None)
    if not without:
        return f"All {len(units):,} units carry a digest."
    where = ", ".join(
        f"{count:,} of the {sum(of == paper for of, _ in units):,} of {paper}" for paper, count in without.items()
    )
    return (
        f"{len(units) - without.total():,} of {len(units):,} units carry a digest. The others ({where}) are of an "
        "earlier run with the same settings, before files had one."
    )


def claims_held(claims: Sequence[DecidedClaim]) -> str:
    found = findings(claims)
    counted = len(claims) - found["not computed"]
    return f"{found['holds']} of {counted}" if counted else "–"


def claims_table(claims: Sequence[tuple[str, DecidedClaim]]) -> str:
    rows = [
        [paper, plain(one.claim.place), plain(one.claim.text), f"**{finding(one)}**", plain(evidence(one))]
        for paper, one in claims
    ]
    return table(["paper", "where", "claim", "finding", "cases"], rows, left=range(5)) if rows else "None."


def outside_table(computed: Sequence[ExhibitResult]) -> str:
    rows = [
        [f"[{one.name}](#{one.name})", verdict, plain("; ".join(cells)), plain(why or NOT_EXPLAINED)]
        for one in computed
        for verdict in OUTSIDE
        for why, cells in group_by_value(
            (f"{place(cell)}: {number(cell.ours)} ({number(cell.paper)})", cell.reason)
            for cell in one.cells
            if cell.verdict == verdict
        ).items()
    ]
    return table(["where", "verdict", "cells: ours (the paper's)", "why"], rows, left=range(4)) if rows else "None."


def paper_page(title: str, shown: Sequence[ExhibitResult], claims: Sequence[DecidedClaim]) -> str:
    parts = [f"# {plain(title)}"]
    if claims:
        lines = [
            f"- {plain(one.claim.place)}: {plain(one.claim.text)} **{finding(one)}**"
            + (f": {plain(evidence(one))}" if one.cases else "")
            for one in claims
        ]
        parts += ["## Claims", plain(CLAIM_RULE), "\n".join(lines)]
    if any(cell.paper is not None for one in shown for cell in one.cells):
        parts.append(LEGEND)
    for one in shown:
        if not one.about["absent"]:
            parts += exhibit(one)
    absent = [
        f"- {plain(one.heading)} ({one.name}): {plain(one.about['absent'])}" for one in shown if one.about["absent"]
    ]
    if absent:
        parts += ["## Not computed", "\n".join(absent)]
    return "\n\n".join(parts) + "\n"


def exhibit(one: ExhibitResult) -> list[str]:
    parts = [f"({one.name})=\n## {plain(one.heading)}"]
    if one.cells:
        rows = [
            [plain(row), *(table_cell(cells.get(column)) for column in one.columns)] for row, cells in one.table.items()
        ]
        parts.append(table(["", *map(plain, one.columns)], rows))
    notes = [plain(text) for text in (*one.about["words"], *one.about["notes"])]
    notes += [f"*{verdict}*, {plain(which)}: {plain(why)}" for verdict, which, why in reasons(one)]
    failures = group_by_value((failure["unit"], failure["error"]) for failure in one.about["failures"])
    notes += [f"*failed*, {plain(', '.join(units))}: {plain(error)}" for error, units in failures.items()]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    size = "" if one.about["quick"] else " --full"
    what = "" if one.cells else " draws it"
    parts.append(f"`python -m reproduction {one.name}{size}`{what}, seed {one.about['seed']}")
    return parts


def table_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    beside = "" if cell.ours is None else spread(cell.deviation)
    theirs = "" if cell.paper is None else f" ({number(cell.paper)})"
    return f"{number(cell.ours)}{beside}{theirs}{MARKS[cell.verdict]}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    rule = [":--" if at in left else "--:" for at in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def plain(text: str) -> str:
    """Text in which Markdown finds nothing of its own."""
    return re.sub(r"([\\`*_{}\[\]<>|$#~])", r"\\\1", text)


def main() -> None:
    if len(sys.argv) > 1:
        take_over(Path(sys.argv[1]), DOCS / "results")
    for path, text in pages(DOCS / "results").items():
        write_whole(DOCS / path, text)


if __name__ == "__main__":
    main()
