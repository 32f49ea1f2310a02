"""From outcomes to cells, files and the page."""

import json
import re

import pytest

from reproduction.exhibit import Cell, Exhibit
from reproduction.files import DamagedFile
from reproduction.page import write_page
from reproduction.results import (
    RECORD,
    ExhibitResult,
    count_decided,
    find_absent,
    findings,
    gather,
    natural,
    neutral,
    read,
    rounded,
    share_within,
    sum_counts,
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
    assert first.counts == {"within": 2, "better": 0, "worse": 0, "different": 1, "not comparable": 3}
    assert first.about["failures"] == [
        {"unit": "broken", "error": "ValueError: the matrix is <singular>", "lacks_data": False}
    ]
    assert first.about["warnings"] == ["Iris/EGMM: late"]
    assert first.about["words"] == ["Two <methods>."]
    assert first.about["notes"] == ["4 <units>."]
    fingerprint, digest, seconds = first.about["units"]["Iris/EGMM"]
    assert (len(fingerprint), len(digest), seconds) == (16, 16, 1.5)
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


def test_the_verdict_is_that_of_the_rounded_number():
    cell = Cell("a", "x", 0.4799999999, paper=0.5)  # a hair outside
    assert cell.verdict == "worse"
    assert rounded(cell).verdict == "within"
    assert rounded(Cell("a", "x", float("nan"), float("nan"))) == Cell("a", "x", None)


def test_a_directory_gives_back_what_was_written(shown, tmp_path):
    held = write(tmp_path, [*shown, find_absent(Exhibit("fake.figure1", "A drawing"), "a drawing")])
    assert [one.name for one in held] == ["fake.table1", "fake.table2", "fake.figure1"]
    assert held[:2] == shown == read(tmp_path)[:2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fake.table1.png", "record.json"]
    record = json.loads((tmp_path / RECORD).read_text())
    assert record["exhibits"]["fake.table1"]["cells"][2] == {
        "row": "Wine",
        "column": "ECM",
        "ours": 0.64,
        "deviation": 0.0123457,
        "paper": 0.99,
        "runs": 2,
        "rival": True,
    }
    assert record["versions"]["evidentia"] == record["exhibits"]["fake.table1"]["version"]
    assert record["exhibits"]["fake.table1"]["units"] == list(record["units"]["fake"])  # once for all exhibits
    assert "0.64" in next(line for line in (tmp_path / RECORD).read_text().splitlines() if '"Wine"' in line)


def test_a_number_of_the_record_changed_by_hand_is_found(shown, tmp_path):
    write(tmp_path, shown)
    text = (tmp_path / RECORD).read_text()
    (tmp_path / RECORD).write_text(text.replace('"ours": 0.64', '"ours": 0.98'))
    with pytest.raises(DamagedFile, match=r"record\.json is not what was written: its digest does not fit"):
        read(tmp_path)
    with pytest.raises(DamagedFile, match=r"record\.json"):
        write(tmp_path, shown)


def test_words_and_rules_are_those_that_the_code_has_now(shown, tmp_path, fake_paper, monkeypatch):
    write(tmp_path, shown)

    def cells(results):
        return [Cell("Wine", "ECM", None, paper=0.7, reason="better known now")]

    monkeypatch.setattr(fake_paper, "EXHIBITS", [Exhibit("fake.table1", "New", cells=cells, words=("Anew.",))])
    one = read(tmp_path)[0]
    assert (one.about["title"], one.about["words"], one.about["notes"]) == ("New", ["Anew."], ["4 <units>."])
    assert one.table["Wine"]["ECM"] == Cell("Wine", "ECM", 0.64, 0.0123457, 0.7, reason="better known now", runs=2)
    assert one.table["Iris"]["ECM"].paper == 0.62  # what the code no longer knows stays as it was computed


def test_a_later_run_adds_to_a_directory_and_spoils_nothing(shown, tmp_path):
    write(tmp_path, shown[:1])
    write(tmp_path, [find_absent(Exhibit("fake.table1", "Scores"), "the data are not here: magic")])
    assert read(tmp_path) == shown[:1]
    write(
        tmp_path,
        [ExhibitResult("fake.table12", {**shown[0].about, "title": "Later", "words": []}, [Cell("a", "x", 1.0)])],
    )
    assert [one.about["title"] for one in read(tmp_path)] == ["Scores & more", "Later"]
    write(tmp_path, [ExhibitResult("fake.table1", {**shown[0].about})])  # without a figure and a table
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json"]


def test_verdicts_are_summed_by_paper_and_in_all():
    good, bad, none = Cell("a", "x", 0.9, paper=0.5), Cell("b", "x", 0.1, paper=0.5), Cell("c", "x", 0.1)
    found = tally(
        [
            ExhibitResult("p.table1", {}, [good, none]),
            ExhibitResult("q.table1", {}, [bad]),
            ExhibitResult("p.table2", {}, [good, bad]),
        ]
    )
    assert found["p"] == {"within": 0, "better": 2, "worse": 1, "different": 0, "not comparable": 1}
    assert share_within(found["p"]) == 0
    assert share_within({"within": 3, "better": 1, "worse": 1, "different": 1, "not comparable": 5}) == 0.5
    assert sum_counts(found.values()) == {"within": 0, "better": 2, "worse": 2, "different": 0, "not comparable": 1}
    assert share_within({"within": 0, "better": 0, "worse": 0, "different": 0, "not comparable": 4}) is None
    assert tally([ExhibitResult("p.figure1", {})]) == {}


def test_claims_are_decided_by_the_cells_of_all_exhibits(shown):
    [first, second] = count_decided(shown)["fake"]
    assert [(case.name, case.holds) for case in first.cases] == [("Iris", False), ("Wine", False)]
    assert (first.finding, second.finding) == ("does not hold", "not computed")
    assert findings([first, second])["holds"] == 0


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
    absent = find_absent(Exhibit("fake.figure1", "A drawing"), "nothing to compute")
    page = write_page(tmp_path / "index.html", [*shown, absent]).read_text()
    assert "Of 3 cells that can be compared with a paper&#x27;s number, 2 are within: 67%." in page
    assert "EGMM is best on &lt;one&gt; set." in page
    assert "does not hold (0 of 2)" in page
    assert "Iris: no, EGMM 0.25 against ECM 0.62" in page
    assert (
        '<td class="different" title="the start is another"><span>0.640<i> ± 0.012</i></span>'
        '<span class="theirs">paper 0.990</span><span class="verdict">different</span></td>'
    ) in page
    assert '<span class="theirs">paper 0.500</span><span class="verdict">failed</span>' in page
    assert '<b class="not-comparable">not comparable</b>, Iris / broken: another draw' in page
    assert page.count("data:image/png;base64,") == 1
    assert "the matrix is &lt;singular&gt;" in page
    assert "Two &lt;methods&gt;." in page
    assert "Not &lt;a&gt; paper" in page
    assert "Figure 1. A drawing <code>fake.figure1</code>: nothing to compute" in page
    assert "4 units, 6.0 seconds." in page
    assert "A quick run has few repetitions" in page
    for link in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{link}"' in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)  # nothing from elsewhere


def test_a_page_without_comparable_cells_says_so(fake_paper, tmp_path):
    page = write_page(tmp_path / "index.html", [find_absent(fake_paper.EXHIBITS[3], "a drawing")]).read_text()
    assert "No cell here can be compared" in page
