"""What every exhibit promises, whoever wrote it."""

import json
from collections import Counter

import pytest

from evidentia.datasets.registry import registry
from reproduction import catalog
from reproduction.catalog import PAPERS, find, missing_data, shown_places
from reproduction.exhibit import Exhibit

EXHIBITS = find(["all"])
every_exhibit = pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)


def test_names_are_unique_and_begin_with_the_paper():
    assert max(Counter(exhibit.name for exhibit in EXHIBITS).values()) == 1
    for paper in PAPERS:
        assert {exhibit.paper for exhibit in paper.exhibits} == {paper.name}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_table_and_figure_of_a_paper_is_listed(paper):
    listed = set().union(*(shown_places(exhibit) for exhibit in paper.exhibits))
    assert paper.places - listed == set()
    assert listed - paper.places == set()


@every_exhibit
def test_data_are_known_and_words_are_there(exhibit):
    assert set(exhibit.data) <= set(registry())
    assert exhibit.title.strip()
    quick, full = exhibit.minutes
    assert 0 <= quick <= full
    assert bool(exhibit.absent) == (exhibit.units(True, 0) == [] and exhibit.cells is None)


@every_exhibit
def test_units_are_settled_by_mode_and_seed_without_any_data(exhibit, tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    for quick in (True, False):
        units = exhibit.units(quick, 3)
        assert [unit.fingerprint for unit in units] == [unit.fingerprint for unit in exhibit.units(quick, 3)]
        assert max(Counter(unit.key for unit in units).values(), default=1) == 1
        for unit in units:
            assert json.loads(json.dumps(dict(unit.settings))) == unit.settings  # also no tuples and no numbers as keys
            assert "<" not in unit.measure.__qualname__  # at the top level, where another process finds it


def test_units_that_share_a_key_are_the_same_within_a_paper():
    for paper in PAPERS:
        seen = {}
        for exhibit in paper.exhibits:
            for unit in exhibit.units(True, 0):
                assert seen.setdefault(unit.key, unit.fingerprint) == unit.fingerprint, (exhibit.name, unit.key)


@every_exhibit
def test_an_exhibit_survives_the_failure_of_all_its_units(exhibit):
    cells = exhibit.cells({}) if exhibit.cells is not None else []
    assert {cell.ours for cell in cells} <= {None}
    assert max(Counter((cell.row, cell.column) for cell in cells).values(), default=1) == 1
    notes = exhibit.notes({}) if exhibit.notes is not None else []
    assert all(isinstance(note, str) for note in notes)


def test_papers_exhibits_and_everything_are_found_once_and_in_order(fake_paper):
    first, second, third, drawing = fake_paper.EXHIBITS
    assert find(["all", "fake", "fake.table1"]) == [first, second, third, drawing]
    assert find(["fake.table10", "fake.table1"]) == [first, third]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fkae", "'fkae'. Did you mean 'fake'?"),
        ("fake.tabel10", "'fake.tabel10'. Did you mean 'fake.table10'"),
        ("zebra", "'python -m reproduction list' lists all names."),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(fake_paper, name, words):
    with pytest.raises(ValueError, match="There is no paper or exhibit called") as error:
        find([name])
    assert words in str(error.value)


def test_missing_data_are_those_neither_here_nor_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    monkeypatch.setenv("EVIDENTIA_CACHE", str(tmp_path))
    exhibits = [Exhibit("a.table1", "", data=["iris", "magic"]), Exhibit("a.table2", "", data=["protein", "magic"])]
    assert missing_data(exhibits) == {"magic": "can be downloaded", "protein": "not available"}


def test_a_paper_knows_its_places():
    assert catalog.Paper("x", "", 2, 1).places == {"table1", "table2", "figure1"}
