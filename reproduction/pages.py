"""Write the pages about the papers from the tables and figures of a run, without computing anything.

``python -m reproduction.pages out/full`` takes over what ``python -m reproduction all --full --out out/full`` wrote;
without a directory the pages are written again from what is in ``docs/results``.
"""

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduction import catalogue
from reproduction.exhibit import VERDICTS, Cell
from reproduction.page import NOT_EXPLAINED, RULE, facts, percent, place
from reproduction.results import RECORD, Shown, good_share, grouped, number, read, spread, summed, tally

DOCS = Path(__file__).parents[1] / "docs"
MARKS = {"within": " =", "better": " ▲", "worse": " ▼", "not comparable": ""}
LEGEND = "Ours ± standard deviation (the paper's). = within, ▲ better, ▼ worse, no mark: not comparable."


def take_over(source: Path, target: Path) -> None:
    """Replace the tables and figures of the documentation by those of a run."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in (source / RECORD, *source.glob("*.csv"), *source.glob("*.png")):
        shutil.copy(path, target / path.name)


def pages(directory: Path) -> dict[str, str]:
    """Text of the overview and of each paper's page, by path below the documentation."""
    shown = read(directory)
    papers = [paper for paper in catalogue.PAPERS if any(one.paper == paper.name for one in shown)]
    written = {"results.md": overview(shown, [paper.name for paper in papers])}
    for paper in papers:
        own = [one for one in shown if one.paper == paper.name]
        written[f"results/{paper.name}.md"] = paper_page(paper.title, own)
    return written


def overview(shown: Sequence[Shown], papers: Sequence[str]) -> str:
    computed = [one for one in shown if not one.about["absent"]]
    counts = tally(computed)
    total = summed(counts.values())
    rows = [
        [f"[{paper}](results/{paper}.md)" if paper in papers else paper]
        + [f"{found[verdict]:,}" for verdict in VERDICTS]
        + [percent(good_share(found))]
        for paper, found in ({**counts, "in all": total} if len(counts) > 1 else counts).items()
    ]
    worse = [
        [f"[{one.name}](#{one.name})", plain("; ".join(cells)), plain(why or NOT_EXPLAINED)]
        for one in computed
        for why, cells in grouped(
            (f"{place(cell)}: {number(cell.ours)} ({number(cell.paper)})", cell.reason)
            for cell in one.cells
            if cell.verdict == "worse"
        ).items()
    ]
    parts = [
        "# The papers' tables",
        "Every table and figure of the papers this library is built on, computed by one command; the paper's number "
        "stands beside ours, cell by cell.",
        "```\npython -m reproduction list                  # what there is\n"
        "python -m reproduction egmm.table12          # one table\n"
        "python -m reproduction all --full --out DIR  # everything\n```",
        f"These pages: {', '.join(facts(computed))}.",
        table(["paper", *VERDICTS, "within or better, of the comparable"], rows),
        plain(RULE),
        "## Cells that are worse",
        table(["where", "cells: ours (the paper's)", "why"], worse, left=(0, 1, 2)) if worse else "None.",
        "```{toctree}\n:hidden:\n\n" + "\n".join(f"results/{paper}" for paper in papers) + "\n```",
    ]
    return "\n\n".join(parts) + "\n"


def paper_page(title: str, shown: Sequence[Shown]) -> str:
    parts = [f"# {plain(title)}", LEGEND]
    for one in shown:
        if not one.about["absent"]:
            parts += exhibit(one)
    absent = [
        f"- {plain(one.heading)} ({one.name}): {plain(one.about['absent'])}" for one in shown if one.about["absent"]
    ]
    if absent:
        parts += ["## Not computed", "\n".join(absent)]
    return "\n\n".join(parts) + "\n"


def exhibit(one: Shown) -> list[str]:
    title = plain(one.heading)
    parts = [f"({one.name})=\n## {title}"]
    if one.png:
        parts.append(f"![{title}]({one.name}.png)")
    if one.cells:
        rows = [
            [plain(row), *(table_cell(cells.get(column)) for column in one.columns)] for row, cells in one.table.items()
        ]
        parts.append(table(["", *map(plain, one.columns)], rows))
    notes = [plain(note) for note in one.about["notes"]]
    for verdict, what in (("worse", "reason"), ("not comparable", "incomparable")):
        said = ((place(cell), getattr(cell, what)) for cell in one.cells if cell.verdict == verdict)
        for why, cells in grouped(said).items():
            if why or verdict == "worse":
                which = f"{len(cells)} cells" if len(cells) > 6 else ", ".join(cells)
                notes.append(f"*{verdict}*, {plain(which)}: {plain(why or NOT_EXPLAINED)}")
    notes += [f"*failed*, {plain(failure['unit'])}: {plain(failure['error'])}" for failure in one.about["failures"]]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    run = f"`python -m reproduction {one.name}{'' if one.about['quick'] else ' --full'}`"
    parts.append(f"{run}, seed {one.about['seed']}" + (f"; [{one.name}.csv]({one.name}.csv)" if one.cells else ""))
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
        (DOCS / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
