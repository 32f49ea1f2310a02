"""The pages of the documentation, made of the tables of a run."""

import re

import pytest

from reproduction import catalog, pages
from reproduction.exhibit import Cell, Exhibit
from reproduction.page import OUTSIDE, place
from reproduction.pages import DOCS
from reproduction.results import count_decided, find_absent, gather, read, write

MIXTURE = "scikit-learn's mixture"


def test_a_run_becomes_an_overview_and_a_page_for_each_paper(fake_paper, outcomes, tmp_path):
    exhibit = fake_paper.EXHIBITS[0]
    shown = gather(exhibit, exhibit.units(True, 0), outcomes, quick=False, seed=7)
    drawing = find_absent(Exhibit("fake.figure1", "A drawing"), "nothing to compute")
    write(tmp_path / "run", [shown, drawing])
    pages.take_over(tmp_path / "run", tmp_path / "results")
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["record.json"]  # and no pictures

    written = pages.pages(tmp_path / "results")
    assert list(written) == ["results.md", "results/fake.md"]
    overview, page = written.values()
    assert "Of 3 cells that can be compared with a paper's number, 2 are within: 67%." in overview
    assert "All 4 units carry a digest." in overview
    assert "| [fake](results/fake.md) | 2 | 0 | 0 | 1 | 3 | 67% | 0 of 1 |" in overview
    assert (
        "| fake | Table 1 | EGMM is best on \\<one\\> set. | **does not hold (0 of 2)** | Iris: no, EGMM 0.25"
        in overview
    )
    assert "| [fake.table1](#fake.table1) | different | Wine / ECM: 0.640 (0.990) | the start is another |" in overview
    assert "- Table 1: EGMM is best on \\<one\\> set. **does not hold (0 of 2)**: Iris: no, EGMM 0.25" in page
    assert "- Table 10: It is quick. **not computed**" in page
    assert "(fake.table1)=\n## Table 1. Scores & more" in page
    assert "|  | ECM | EGMM | broken |\n| :-- | --: | --: | --: |" in page
    assert "| Wine | 0.640 ± 0.012 (0.990) ≠ | 0.500 ± 0.012 | – (0.500) |" in page
    assert "- Two \\<methods\\>.\n- 4 \\<units\\>." in page
    assert "- *different*, Wine / ECM: the start is another" in page
    assert "`python -m reproduction fake.table1 --full`, seed 7" in page
    assert "- Figure 1. A drawing (fake.figure1): nothing to compute" in page


def test_words_of_exhibits_are_not_markdown():
    assert pages.plain("a|b *c* _d_ $e$ {f} [g]") == r"a\|b \*c\* \_d\_ \$e\$ \{f\} \[g\]"
    assert pages.table_cell(None) == ""
    assert pages.table_cell(Cell("a", "x", 0.9, 0.0001, 0.5)) == "0.900 ± 0 (0.500) ▲"


def test_the_pages_are_those_of_the_record_beside_them():
    results = DOCS / "results"
    written = pages.pages(results)
    for path, text in written.items():
        assert (DOCS / path).read_text(encoding="utf-8") == text, "run 'python -m reproduction.pages'"
    assert {f"results/{path.name}" for path in results.glob("*.md")} == {path for path in written if "/" in path}


OF_THE_PAPERS = re.compile("bootgmm|bootclus|egmm|cecm|bhc|nn-evclus", re.IGNORECASE)  # also where they are rivals


def test_every_cell_of_a_papers_own_method_that_is_not_within_has_a_reason():
    silent = [
        f"{one.name}: {place(cell)} is {cell.verdict}"
        for one in read(DOCS / "results")
        for cell in one.cells
        if cell.verdict in OUTSIDE and not cell.reason and (not cell.rival or OF_THE_PAPERS.search(place(cell)))
    ]
    assert not silent, f"not looked into: {silent}"


def test_every_claim_has_a_verdict():
    decided = [(paper, one) for paper, found in count_decided(read(DOCS / "results")).items() for one in found]
    assert decided
    assert not [f"{paper}, {one.claim.place}" for paper, one in decided if one.finding == "not computed"]
    texts = [(paper, one.claim.place, one.claim.text) for paper, one in decided]
    assert len(set(texts)) == len(texts)  # and each counts once


def test_cells_of_the_record_are_those_of_the_code():
    """But for cells that only results bring forth, which an exhibit without results does not have."""
    frames = {one.name: one for paper in catalog.PAPERS for one in paper.exhibits if paper.claims}
    for one in read(DOCS / "results"):
        made = frames[one.name].cells({}) if one.name in frames and frames[one.name].cells else []
        known = {(cell.row, cell.column) for cell in made}
        rows = {row for row, _ in known}
        assert not {(c.row, c.column) for c in one.cells if c.row in rows} - known, (
            f"{one.name} has labels of an older run"
        )


def test_units_without_a_digest_are_counted_by_paper(fake_paper, outcomes):
    exhibit = fake_paper.EXHIBITS[0]
    shown = gather(exhibit, exhibit.units(True, 0), outcomes, quick=False, seed=7)
    shown.about["units"].update({key: [unit[0], None, unit[2]] for key, unit in list(shown.about["units"].items())[:3]})
    assert pages.digests([shown]).startswith("1 of 4 units carry a digest. The others (3 of the 4 of fake) are of")


@pytest.mark.parametrize("half", ["judging", "development"])
def test_the_comparison_with_other_packages_quotes_the_record(half):
    table = {one.name: one.table for one in read(DOCS / "results")}[f"defaults.{half}"]
    mean = {who: table[f"{who}, number unknown"]["ARI"].ours for who in ("EGMM", "HDBSCAN, scaled", MIXTURE)}
    times = {who: table[f"{who}, number unknown"]["CPU s, median"].ours for who in mean}
    said = " ".join((DOCS / "coming-from.md").read_text().split())
    for who, other in [("HDBSCAN", "HDBSCAN, scaled"), (f"{MIXTURE} by BIC", MIXTURE)]:
        if half == "judging":
            assert f"is {mean['EGMM']:.2f} for EGMM and {mean[other]:.2f} for {who} (" in said
            digits = 3 if times[other] < 0.01 else 2
            assert f"a median of {times[other]:.{digits}f} s, EGMM {times['EGMM']:.2f} s," in said
        else:
            assert f"for {who} ({mean['EGMM']:.2f} and {mean[other]:.2f} on the development half)" in said


def test_the_guide_shows_the_coverage_of_the_record():
    tables = {one.name: one.table for one in read(DOCS / "results")}
    lines = re.findall(
        r"^\| (\d) \((\w+)\) \| (0\.9\d?) \|(.*)\|$", (DOCS / "guide/bootgmm.md").read_text(), re.MULTILINE
    )
    assert len(lines) == 6
    for mixture, model, level, numbers in lines:
        table = tables[f"bootgmm.table{int(mixture) + 1}"]
        for column, entry in zip((model, "auto (averages)", "VVV"), numbers.split("|")):
            cells = [table[f"{float(level):.2f}, [Bel, Pl], {what}"][column].ours for what in ("coverage", "length")]
            assert entry.strip() == f"{cells[0]:.2f} ({cells[1]:.2f})"
