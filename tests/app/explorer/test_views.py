"""The views of a page without a browser: what is clicked is set, what would be drawn is read from Bokeh's models."""

import asyncio
import io
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from unittest.mock import Mock

import anndata
import numpy as np
import pandas as pd
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet

import evidentia
from evidentia import CECM, ECM, CredalPartition
from evidentia.app.cli.exploring import TableJob
from evidentia.app.cli.inputs import InputOptions
from evidentia.app.explorer import Exploration, Settings, StoppedFit, script
from evidentia.app.explorer.app import known_parameters, read_parameters
from evidentia.app.explorer.offline import send_all_messages
from evidentia.plots.styles import object_styles
from evidentia.storage import load_model

VIEWS = ("Questions", "Columns", "Numbers", "Peaks", "Tree", "Compare", "Log", "Map")
HTML = "<b>n0</b>"


def rows():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3)) + np.repeat([[0, 0, 0], [8, 8, 8]], 20, axis=0)
    return pd.DataFrame(table, columns=["u", "v", "w"], index=[HTML, *(f"n{k}" for k in range(1, 40))])


class Clicked:
    """A page of an exploration, and gestures that are done one after the other."""

    def __init__(self, explorer):
        self.explorer, self.exploration, self.page = explorer, explorer.exploration, explorer.page
        self.waiting = []
        self.page.act_later = lambda *what: self.waiting.append(what)

    def settle(self):
        while self.waiting:
            asyncio.run(self.page.act(*self.waiting.pop(0)))

    def open(self, view):
        self.page.tabs.choice.value = view
        self.settle()
        return self.page.tabs.open

    def click(self, label):
        for button in self.explorer.view.select(lambda one: getattr(one, "label", None) == label):
            button.clicks += 1
        self.settle()

    def select(self, points, indices):
        points.source.selected.indices = indices

    @property
    def status(self):
        return self.page.status.object


@pytest.fixture
def clicked():
    return Clicked(evidentia.explore(rows(), CECM(2, n_init=2, random_state=3)))


def test_no_style_sheet_comes_from_elsewhere_whatever_is_opened(clicked):
    """In a notebook no server is there to give them, and a network may not be."""
    root = clicked.explorer.view.get_root()
    seen = 0
    for view in VIEWS:
        clicked.open(view)
        clicked.page.select(np.array([1, 2]), clicked.page.undo)
        urls = [sheet.url for sheet in root.select({"type": ImportedStyleSheet})]
        assert [url for url in urls if not url.startswith("data:text/css;base64,")] == []
        seen += len(urls)
    assert seen > len(VIEWS)


def test_a_selection_is_shown_by_every_view_and_made_in_every_view(clicked):
    page = clicked.page
    peaks = clicked.open("Peaks")
    clicked.select(page.map, [3, 30])
    assert sorted(peaks.objects[peaks.source.selected.indices].tolist()) == [3, 30]
    assert page.table.widget.selection == [3, 30]
    clicked.select(peaks, [0, 1])
    best = np.sort(np.argsort(-clicked.exploration.peaks().score, kind="stable")[:2])
    assert page.selection.tolist() == best.tolist()
    assert page.map.source.selected.indices == best.tolist()
    clicked.exploration.set(clusters=3)
    compare = clicked.open("Compare")
    assert compare.source.selected.indices == best.tolist()
    clicked.select(compare, [7])
    assert page.table.widget.selection == [7]
    assert page.map.source.selected.indices == [7]


def test_matched_clusters_have_one_color_in_a_comparison_whatever_their_numbers(clicked):
    """Two clusters beside three, and the other way round; the present step looks as in the map."""
    exploration, compare = clicked.exploration, clicked.open("Compare")
    exploration.set(clusters=3)
    one, other = exploration.steps[0].partition, exploration.partition_
    assert (one.n_clusters, other.n_clusters) == (2, 3)
    exploration.steps[0].partition = one.relabel([1, 0])
    clicked.open("Map")
    for at, (there, here) in ((1, (one.relabel([1, 0]), other)), (0, (other, one.relabel([1, 0])))):
        exploration.at = at
        clicked.page.redraw()
        compare = clicked.open("Compare")
        colors = {name: np.array(compare.source.data[f"color {name}"]) for name in ("there", "here")}
        assert (colors["here"] == object_styles(here).colors).all()
        stay = np.setdiff1d(np.flatnonzero((there.sets().sum(1) == 1) & (here.sets().sum(1) == 1)), compare.differ)
        assert len(stay) > 20
        assert (colors["there"][stay] == colors["here"][stay]).all()
        clicked.open("Map")


def test_a_table_of_categories_is_explored_by_the_probabilities_of_its_clusters():
    group, rng = np.repeat([0, 1], 30), np.random.default_rng(0)
    answers = [np.array(["no", "yes"])[np.where(rng.random(60) < 0.85, group, 1 - group)] for _ in range(5)]
    clicked = Clicked(evidentia.explore(pd.DataFrame(dict(zip("abcde", answers)))))
    drawn = clicked.page.map
    assert np.ptp(drawn.source.data["x"]) > 0.1
    assert drawn.figure.xaxis[0].axis_label.text == "PC 1 of the probabilities"
    for view in VIEWS:
        clicked.open(view)
        assert "should not have happened" not in clicked.status
    drawn.color.value = "c"
    clicked.page.select(np.array([1, 2]))
    clicked.click("Belong together")
    assert "1 and 2 belong together" in clicked.status


def test_the_table_turns_to_the_page_of_what_is_selected_however_it_is_sorted(clicked):
    table = clicked.page.table.widget
    clicked.select(clicked.page.map, [30, 35])
    assert table.page == 30 // table.page_size + 1
    table.sorters = [{"field": "column 0", "dir": "desc"}]
    clicked.select(clicked.page.map, [0])
    place = (-rows()["u"]).argsort().tolist().index(0)
    assert table.page == place // table.page_size + 1


def test_bars_stand_at_the_top_in_the_order_of_doubt(clicked):
    clicked.select(clicked.page.map, [0, 1])
    details = clicked.page.details
    assert details.names.data["y"].tolist() == [3, 2]
    assert details.figure.y_range.end == 3.6
    assert set(details.source.data["y"].tolist()) == {2, 3}


def test_what_moved_can_be_selected(clicked):
    clicked.exploration.set(clusters=3)
    moved = clicked.exploration.step.moved
    assert len(moved)
    clicked.click("Select what moved")
    assert clicked.page.selection.tolist() == moved.tolist()


def test_peaks_are_chosen_by_any_selection_so_by_the_keyboard_too(clicked):
    clicked.open("Peaks")
    clicked.click("BPEC around the selected")
    assert "Draw a box around at least one object" in clicked.status
    clicked.page.table.widget.selection = [2, 25, 26]
    clicked.click("BPEC around the selected")
    assert clicked.exploration.step.words == "BPEC around 3 peaks of the graph"


@pytest.mark.parametrize("view", ["Peaks", "Numbers"])
def test_a_graph_is_that_of_the_columns_at_hand(clicked, view):
    graph = clicked.open(view)
    before = list(graph.source.data["y"])
    clicked.page.columns.value = ["u"]
    clicked.click("Fit with these")
    assert clicked.exploration.settings.columns == ("u",)
    assert list(graph.source.data["y"]) != before
    clicked.click("↶ Undo")
    assert list(graph.source.data["y"]) == before


def test_the_same_number_of_clusters_can_be_clicked_again_after_undo(clicked):
    graph = clicked.open("Numbers")
    place = graph.source.data["x"].index(3)
    for _ in range(2):
        clicked.select(graph, [place])
        clicked.settle()
        assert clicked.exploration.settings.clusters == 3
        clicked.click("↶ Undo")
        assert clicked.exploration.settings.clusters == 2


def test_the_tree_of_an_exploration_that_was_taken_up_is_there(tmp_path):
    first = Exploration(rows(), Settings("bhc", None, ("u", "v")), folder=tmp_path)
    first.begin()
    first.cut(3)
    again = Clicked(evidentia.explore(rows(), folder=tmp_path))
    assert again.exploration.step.model is None
    tree = again.open("Tree")
    assert len(tree.source.data["xs"]) > 30
    assert not tree.number.disabled
    assert tree.number.value == 3
    tree.number.value = 4
    again.settle()
    assert again.exploration.step.words == "the tree cut into 4 clusters"


def test_the_log_lists_links_that_are_not_respected_and_chains_as_text(clicked):
    clicked.exploration.join([HTML, "n1"])
    clicked.exploration.join(["n1", "n2"], certainty=0.9)
    clicked.exploration.separate([HTML], ["n2"], certainty=0.6)
    log = clicked.open("Log").lines.object
    assert "Links that are not respected: 1 of 3" in log
    assert "cannot-link" in log
    assert "&lt;b&gt;n0&lt;/b&gt; = n1 = n2, yet apart (60% sure)" in log
    assert HTML not in log


def test_who_takes_links_in_place_of_another_is_told():
    clicked = Clicked(evidentia.explore(rows(), ECM(2, n_init=2, random_state=0)))
    clicked.page.select(np.array([1, 2]))
    clicked.click("Belong together")
    assert "Note: CECM takes the place of ECM, which takes no links." in clicked.status


def test_settings_are_those_of_the_methods_own_record(clicked):
    page = clicked.page
    assert page.parameters.value == "n_init=2"
    page.method.value = "ecm"
    assert page.parameters.value == ""
    assert "beta=2.0" in page.known.object
    assert "random_state" not in page.known.object
    page.parameters.value = "beta=1.5, focal_sets=pairs,n_init=3"
    clicked.click("Fit with these")
    assert dict(clicked.exploration.settings.parameters) == {"beta": 1.5, "focal_sets": "pairs", "n_init": 3}
    assert page.parameters.value == "beta=1.5, focal_sets=pairs, n_init=3"
    for wrong, words in {
        "gamma=1": "ECM has no setting &#x27;gamma&#x27;. It has: ",
        "beta": "a name and a value each",
        "beta=high": "beta",
    }.items():
        page.parameters.value = wrong
        clicked.click("Fit with these")
        assert words in clicked.status
        assert 'role="alert"' in clicked.status
    assert len(clicked.exploration.steps) == 2


def test_settings_that_are_no_words_stay(clicked):
    clicked.exploration.choose_peaks([2, 25])
    clicked.page.redraw()
    assert clicked.page.parameters.value == ""
    clicked.page.scale.value = "standard"
    clicked.click("Fit with these")
    assert dict(clicked.exploration.settings.parameters) == {"peaks": [2, 25]}


def test_settings_as_they_are_written():
    assert read_parameters(" a=None ,b = [1]") == {"a": None, "b": [1]}
    assert read_parameters("") == {}
    assert "focal_sets=full" in known_parameters("cecm")
    with pytest.raises(ValueError, match=r"as in n_init=5, alpha=2. Got '=2'"):
        read_parameters("=2")


def test_what_fails_while_it_is_drawn_or_made_is_a_sentence(clicked, monkeypatch):
    page = clicked.page
    monkeypatch.setattr(page.map, "coordinates", lambda: 1 / 0)
    clicked.click("↶ Undo")
    assert "There is nothing to undo." in clicked.status
    clicked.exploration.set(clusters=3)
    clicked.click("↶ Undo")
    assert "This should not have happened (ZeroDivisionError" in clicked.status
    monkeypatch.undo()
    (download,) = clicked.explorer.view.select(lambda one: getattr(one, "filename", None) == "masses.csv")
    monkeypatch.setattr(CredalPartition, "to_pandas", lambda self: 1 / 0)
    page.show_message("")
    download._clicks += 1
    assert "This should not have happened (ZeroDivisionError" in clicked.status
    assert not download.data
    monkeypatch.undo()
    download._clicks += 1
    assert download.data.startswith("data:text/")


def test_what_can_be_taken_away_is_whole(clicked, tmp_path):
    files = {name: make() for name, make in clicked.page.files().values()}
    for name in ("model.npz", "partition.npz"):
        (tmp_path / name).write_bytes(files[name])
    masses = clicked.exploration.partition_.masses
    assert load_model(tmp_path / "model.npz").partition_.masses.tobytes() == masses.tobytes()
    assert CredalPartition.load(tmp_path / "partition.npz").masses.tobytes() == masses.tobytes()
    assert len(pd.read_csv(io.BytesIO(files["masses.csv"]))) == 40
    assert "partition.png" in zipfile.ZipFile(io.BytesIO(files["pictures.zip"])).namelist()
    assert files["partition.html"].startswith(b"<!DOCTYPE html>")
    assert HTML.encode() not in files["partition.html"].replace(rb"\u003c", b"")


@pytest.mark.parametrize("view", ["peaks", "ask"])
def test_graphs_and_questions_can_be_stopped(view, monkeypatch):
    """Both may take as long as a fit."""
    exploration, seen, asked = Exploration(rows(), Settings("cecm", 2, ("u", "v"))), [], threading.Event()
    exploration.begin()

    def endless(*args, **more):
        asked.set()
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("evidentia.prototypes.belief_peaks", endless)
    monkeypatch.setattr("evidentia.app.explorer.state.ActiveSession.ask", endless)

    def work():
        try:
            getattr(exploration, view)()
        except StoppedFit as error:
            seen.append(str(error))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    assert asked.wait(60)
    exploration.stop()
    worker.join(60)
    assert seen == ["Stopped. Nothing was changed."]


def test_maps_of_an_anndata_file_are_shown_and_the_script_reads_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = anndata.AnnData(rows().to_numpy(), obs=pd.DataFrame({"batch": ["a"] * 40}, index=rows().index))
    cells.obsm["X_pca"], cells.obsm["X_umap"] = rows().to_numpy()[:, :2].copy(), rows().to_numpy()[:, ::-1].copy()
    cells.write_h5ad("cells.h5ad")
    options = InputOptions(method="ecm", id_column="obs_names")
    exploration = TableJob(Path("cells.h5ad"), options, 2, 0, tmp_path / "out").exploration()
    exploration.begin()
    assert exploration.settings.columns == ("X_pca0", "X_pca1")
    clicked = Clicked(evidentia.app.explorer.Explorer(exploration))
    clicked.page.map.x.value, clicked.page.map.y.value = "X_umap0", "X_umap1"
    np.testing.assert_allclose(clicked.page.map.source.data["x"], rows()["w"])
    assert "obs batch" in clicked.page.map.color.options
    exploration.join([HTML, "n1"])
    Path("again.py").write_text(script(exploration))
    subprocess.run([sys.executable, "-W", "error", "again.py"], check=True)
    again = CredalPartition.load("partition.npz")
    assert again.masses.tobytes() == exploration.partition_.masses.tobytes()


class Socket:
    """What Panel writes to."""


def test_what_is_said_while_something_is_sent_is_sent_too(monkeypatch):
    """A page would stay busy for ever once its work is done, if that is told while it is told that it is busy."""
    from panel.io import document

    monkeypatch.setattr(document, "_dispatch_msgs", document._dispatch_msgs)
    send_all_messages()
    sent, doc, written = [], Document(), []

    def write(connection, events=None, msg=None):
        sent.append(msg)
        written.append(asyncio.get_running_loop().create_future())
        return written[-1:]

    monkeypatch.setitem(document.extra_socket_handlers, Socket, write)
    connection = Mock(_socket=Socket(), **{"protocol.create": lambda kind, events: events[0]})

    async def say():
        for words in ("busy", "done", "more"):
            if written:
                written[-1].set_result(None)  # what was sent has arrived, but who waits for it has not noticed yet
            document.schedule_write_events(doc, [connection], [words])
            await asyncio.sleep(0.01)
        written[-1].set_result(None)
        await asyncio.sleep(0.01)

    asyncio.run(say())
    assert sent == ["busy", "done", "more"]
    assert doc not in document._WRITE_MSGS
    assert doc not in document._WRITE_BLOCK
