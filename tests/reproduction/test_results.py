"""From outcomes to cells, files and the page."""

import csv
import json
import re

import pytest

from reproduction.exhibit import Cell, Exhibit
from reproduction.page import write_page
from reproduction.results import (
    Shown,
    cells_from_csv,
    cells_to_csv,
    gather,
    good_share,
    left_out,
    natural,
    neutral,
    read,
    rounded,
    summed,
    tally,
    write,
)


@pytest.fixture
def shown(fake_paper, outcomes):
    return [
        gather(exhibit, exhibit.units(True, 0), outcomes, quick=True, seed=0) for exhibit in fake_paper.EXHIBITS[:2]
    ]


def test_gathering_keeps_numbers_settings_failures_and_warnings(shown):
    first, second = shown
    assert first.columns == ["ECM", "EGMM", "broken"]
    assert [first.table["Iris"][column].verdict for column in first.columns] == ["within", "within", "not comparable"]
    assert first.counts == {"within": 2, "better": 0, "worse": 1, "not comparable": 3}
    assert first.about["failures"] == [
        {"unit": "broken", "error": "ValueError: the matrix is <singular>", "lacks_data": False}
    ]
    assert first.about["warnings"] == ["Iris/EGMM: late"]
    assert first.about["seconds"] == 6.0
    assert first.about["units"][1]["settings"] == {"method": "EGMM", "data": "Iris", "runs": 2, "seed": 0}
    assert first.png.startswith(b"\x89PNG")
    assert second.cells == []
    assert second.about["failures"] == [
        {"unit": "making the table", "error": "KeyError: 'Iris/FCM'", "lacks_data": False}
    ]


def test_without_results_nothing_is_drawn_and_no_number_is_ours(fake_paper):
    exhibit = fake_paper.EXHIBITS[0]
    one = gather(exhibit, exhibit.units(True, 0), {}, quick=True, seed=0)
    assert one.png == b""
    assert one.about["failures"] == []
    assert {cell.ours for cell in one.cells} == {None, 0.4}


def test_csv_gives_the_cells_back():
    cells = [
        Cell("a, b", 'x "y"', 0.123456, 0.01, 0.5, 0.2, "lower", 0.1, "", "line\nbreak"),
        Cell("c", "x", None, paper=3.0),
        Cell("d", "x", 0.0, incomparable="other data"),
    ]
    assert cells_from_csv(cells_to_csv(cells)) == cells


def test_the_verdict_is_that_of_the_rounded_number():
    cell = Cell("a", "x", 0.4499999999, paper=0.5, tolerance=0.05)  # a hair outside
    assert cell.verdict == "worse"
    assert rounded(cell).verdict == "within"
    assert rounded(Cell("a", "x", float("nan"), float("nan"))) == Cell("a", "x", None)


def test_a_directory_gives_back_what_was_written(shown, tmp_path):
    held = write(tmp_path, [*shown, left_out(Exhibit("fake.figure1", "A drawing"), "a drawing")])
    assert [one.name for one in held] == ["fake.table1", "fake.table2", "fake.figure1"]
    assert held[0] == shown[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fake.table1.csv", "fake.table1.png", "record.json"]
    with (tmp_path / "fake.table1.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert lines[2] == {
        "row": "Wine",
        "column": "ECM",
        "ours": "0.64",
        "deviation": "0.0123457",
        "paper": "0.99",
        "paper_deviation": "",
        "verdict": "worse",
        "better": "higher",
        "tolerance": "0.05",
        "incomparable": "",
        "reason": "the start is another",
    }
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["versions"]["evidentia"] == record["exhibits"]["fake.table1"]["version"]
    assert record["exhibits"]["fake.table1"]["verdicts"]["worse"] == 1


def test_a_later_run_adds_to_a_directory_and_spoils_nothing(shown, tmp_path):
    write(tmp_path, shown[:1])
    write(tmp_path, [left_out(Exhibit("fake.table1", "Scores"), "the data are not here: magic")])
    assert read(tmp_path) == shown[:1]
    write(tmp_path, [Shown("fake.table10", {**shown[0].about, "title": "Later"}, [Cell("a", "x", 1.0)])])
    assert [one.about["title"] for one in read(tmp_path)] == ["Scores & more", "Later"]
    write(tmp_path, [Shown("fake.table1", {**shown[0].about, "title": "Anew"})])  # without a figure and a table
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fake.table10.csv", "record.json"]


def test_verdicts_are_summed_by_paper_and_in_all():
    good, bad, none = Cell("a", "x", 0.9, paper=0.5), Cell("b", "x", 0.1, paper=0.5), Cell("c", "x", 0.1)
    found = tally(
        [Shown("p.table1", {}, [good, none]), Shown("q.table1", {}, [bad]), Shown("p.table2", {}, [good, bad])]
    )
    assert found["p"] == {"within": 0, "better": 2, "worse": 1, "not comparable": 1}
    assert good_share(found["p"]) == pytest.approx(2 / 3)
    assert summed(found.values()) == {"within": 0, "better": 2, "worse": 2, "not comparable": 1}
    assert good_share({"within": 0, "better": 0, "worse": 0, "not comparable": 4}) is None
    assert tally([Shown("p.figure1", {})]) == {}


def test_names_sort_as_people_count():
    names = ["cecm.table1", "egmm.figure2", "egmm.table10", "egmm.table2", "egmm.more", "comparison.all"]
    assert sorted(names, key=natural) == [
        "egmm.table2",
        "egmm.table10",
        "egmm.figure2",
        "egmm.more",
        "cecm.table1",
        "comparison.all",
    ]


def test_words_name_no_place_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", "/home/ann")
    assert neutral(f"{tmp_path}/x.csv and /home/ann/y, None") == "EVIDENTIA_DATA/x.csv and ~/y, None"
    monkeypatch.setenv("HOME", "/")
    assert neutral("a/b") == "a/b"


def test_the_page_shows_numbers_verdicts_reasons_figures_and_failures(shown, tmp_path):
    absent = left_out(Exhibit("fake.figure1", "A drawing"), "nothing to compute")
    page = write_page(tmp_path / "index.html", [*shown, absent]).read_text()
    assert "2 agree with it, 0 are better and 1 worse: <strong>67% within or better</strong>" in page
    assert (
        '<td class="worse" title="the start is another"><span>0.640<i> ± 0.012</i></span>'
        '<span class="theirs">paper 0.990</span><span class="verdict">worse</span></td>'
    ) in page
    assert '<span class="theirs">paper 0.500</span><span class="verdict">failed</span>' in page
    assert "<b>not comparable</b>, Iris / broken: another draw" in page
    assert page.count("data:image/png;base64,") == 1
    assert "the matrix is &lt;singular&gt;" in page
    assert "Two &lt;methods&gt;." in page
    assert "Not &lt;a&gt; paper" in page
    assert "Figure 1. A drawing <code>fake.figure1</code>: nothing to compute" in page
    assert "{&quot;method&quot;: &quot;EGMM&quot;, &quot;data&quot;: &quot;Iris&quot;, &quot;runs&quot;: 2" in page
    assert "A quick run has few repetitions" in page
    for link in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{link}"' in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)  # nothing from elsewhere


def test_a_page_without_comparable_cells_says_so(fake_paper, tmp_path):
    page = write_page(tmp_path / "index.html", [left_out(fake_paper.EXHIBITS[3], "a drawing")]).read_text()
    assert "No cell here can be compared" in page
