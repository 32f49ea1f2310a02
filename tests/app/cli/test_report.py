"""``evidentia report``: pages from a directory of results."""

import sys

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.app.report import write_results

NAMES = ["007", "NA", "c", "d"]


@pytest.fixture
def results(tmp_path):
    partition = CredalPartition(np.eye(3)[[0, 0, 1, 2]], FocalSets(2, [{0}, {1}, {0, 1}]), object_names=NAMES)
    table = pd.DataFrame({"age": [20, 22, 60, 44.0], "color": ["red", "red", None, "blue"]}, index=NAMES)
    write_results(tmp_path / "out", partition=partition, X=table)
    return tmp_path / "out"


def test_an_interactive_page_stands_beside_the_report(run, results):
    before = (results / "report.html").read_bytes()
    for path in (results, results / "partition.npz"):
        code, said = run("report", path, "--interactive")
        assert code == 0
        assert said == f"{results / 'interactive.html'}: 1.3 MB. Open it in a browser; it needs no network.\n"
    page = (results / "interactive.html").read_text()
    assert "4 objects · 2 clusters · 2 columns" in page
    assert '"007"' in page
    assert (results / "report.html").read_bytes() == before


def test_a_report_that_tells_more_is_not_replaced(run, results):
    code, said = run("report", results)
    assert code == 2
    assert said.startswith(f"error: {results / 'report.html'} is there already, with more than can be found out")
    code, said = run("report", results, "--out", results / "new.html")
    assert code == 0
    assert "<script" not in (results / "new.html").read_text()


def test_without_a_table_the_page_shows_probabilities(run, results):
    (results / "table.csv").unlink()
    assert run("report", results, "--interactive")[0] == 0
    assert "PC 1 of the probabilities" in (results / "interactive.html").read_text()


def test_without_bokeh_the_extra_is_named(run, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.document", None)
    words = "error: The interactive page needs Bokeh: pip install 'evidentia[explorer]'.\n"
    assert run("report", results, "--interactive") == (2, words)
    assert not (results / "interactive.html").exists()


def test_results_that_are_not_there(run, tmp_path):
    code, said = run("report", tmp_path / "nothing", "--interactive")
    assert code == 2
    assert said.startswith(f"error: There is no file {tmp_path / 'nothing'}.")
