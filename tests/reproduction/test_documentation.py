"""The pages of the documentation, made of the tables of a run."""

from reproduction import pages
from reproduction.exhibit import Cell, Exhibit
from reproduction.pages import DOCS
from reproduction.results import gather, left_out, write


def test_a_run_becomes_an_overview_and_a_page_for_each_paper(fake_paper, outcomes, tmp_path):
    exhibit = fake_paper.EXHIBITS[0]
    shown = gather(exhibit, exhibit.units(True, 0), outcomes, quick=False, seed=7)
    drawing = left_out(Exhibit("fake.figure1", "A drawing"), "nothing to compute")
    write(tmp_path / "run", [shown, drawing])
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "stale.csv").touch()
    pages.take_over(tmp_path / "run", tmp_path / "results")
    names = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert names == ["fake.table1.csv", "fake.table1.png", "record.json"]

    written = pages.pages(tmp_path / "results")
    assert list(written) == ["results.md", "results/fake.md"]
    overview, page = written.values()
    assert "| [fake](results/fake.md) | 2 | 0 | 1 | 3 | 67% |" in overview
    assert "| [fake.table1](#fake.table1) | Wine / ECM: 0.640 (0.990) | the start is another |" in overview
    assert "(fake.table1)=\n## Table 1. Scores & more" in page
    assert "![Table 1. Scores & more](fake.table1.png)" in page
    assert "|  | ECM | EGMM | broken |\n| :-- | --: | --: | --: |" in page
    assert "| Wine | 0.640 ± 0.012 (0.990) ▼ | 0.500 ± 0.012 | – (0.500) |" in page
    assert "- Two \\<methods\\>." in page
    assert "- *worse*, Wine / ECM: the start is another" in page
    assert "`python -m reproduction fake.table1 --full`, seed 7; [fake.table1.csv](fake.table1.csv)" in page
    assert "- Figure 1. A drawing (fake.figure1): nothing to compute" in page


def test_words_of_exhibits_are_not_markdown():
    assert pages.plain("a|b *c* _d_ $e$ {f} [g]") == r"a\|b \*c\* \_d\_ \$e\$ \{f\} \[g\]"
    assert pages.table_cell(None) == ""
    assert pages.table_cell(Cell("a", "x", 0.9, 0.0001, 0.5)) == "0.900 ± 0 (0.500) ▲"


def test_the_pages_are_those_of_the_tables_beside_them():
    results = DOCS / "results"
    written = pages.pages(results)
    for path, text in written.items():
        assert (DOCS / path).read_text(encoding="utf-8") == text, "run 'python -m reproduction.pages'"
    assert {f"results/{path.name}" for path in results.glob("*.md")} == {path for path in written if "/" in path}
