"""A test is skipped for want of data or of a browser, and says what would let it run."""

import re
from pathlib import Path

import pytest
from tests.app.explorer.conftest import browser_path
from tests.conftest import skip_without_data

HERE = Path(__file__).parent


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    monkeypatch.setenv("EVIDENTIA_CACHE", str(tmp_path))
    monkeypatch.delenv("EVIDENTIA_REQUIRE_DATA", raising=False)


def test_a_missing_file_is_named_and_a_failure_where_data_are_required(no_data, monkeypatch):
    reason = r"^needs protein\.dissimilarity\.npz, protein\.labels\.csv: set EVIDENTIA_DATA to a directory that holds"
    with pytest.raises(pytest.skip.Exception, match=reason):
        skip_without_data("iris", "protein")
    with pytest.raises(pytest.skip.Exception, match=r"^needs ecoli_full\.csv, .* and \d+ more files"):
        skip_without_data()
    monkeypatch.setenv("EVIDENTIA_REQUIRE_DATA", "1")
    with pytest.raises(pytest.fail.Exception, match=reason):
        skip_without_data("protein")


def test_what_everyone_has_is_never_skipped(no_data):
    skip_without_data("iris", "iris_uci", "wine", "butterfly12", "diamond11")


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_mark_reads_the_parameter(name):
    assert name in ("iris", "wine")


def test_a_missing_browser_is_named_and_a_failure_where_it_is_required(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("EVIDENTIA_BROWSER", raising=False)
    monkeypatch.delenv("EVIDENTIA_REQUIRE_BROWSER", raising=False)
    reason = r"^no browser tests: no Chromium found \(apt install chromium, or set EVIDENTIA_BROWSER\)$"
    with pytest.raises(pytest.skip.Exception, match=reason):
        browser_path()
    monkeypatch.setenv("EVIDENTIA_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match=reason):
        browser_path()
    mine = tmp_path / "mine"
    mine.touch(mode=0o755)
    monkeypatch.setenv("EVIDENTIA_BROWSER", str(mine))
    monkeypatch.setattr("tests.app.explorer.conftest.find_spec", lambda name: name == "playwright")
    assert browser_path() == str(mine)
    monkeypatch.setattr("tests.app.explorer.conftest.find_spec", lambda name: None)
    with pytest.raises(pytest.fail.Exception, match=r"no Playwright \(pip install evidentia\[explorer-test\]\)$"):
        browser_path()


@pytest.mark.parametrize("folder", [HERE, HERE.parent / "docs"], ids=lambda path: path.name)
def test_nothing_else_skips(folder):
    other = re.compile(r"pytest\.skip\(|skipif|importorskip|mark\.skip|SkipTest\b|xfail")
    elsewhere = {HERE / "conftest.py", HERE / "app" / "explorer" / "conftest.py", Path(__file__)}
    found = [path.name for path in folder.rglob("*.py") if path not in elsewhere and other.search(path.read_text())]
    assert found == []
