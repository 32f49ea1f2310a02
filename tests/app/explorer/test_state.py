"""The state of an exploration, without a page: steps, what they keep and refuse, and the script that repeats them."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from evidentia import CECM, BeliefHierarchical, CredalPartition, FocalSets
from evidentia.app.explorer import Exploration, Settings, script
from evidentia.app.explorer.history import StoppedFit
from evidentia.app.explorer.state import KEPT
from evidentia.app.explorer.steps import Origin
from evidentia.constraints import ContradictoryLinks, Statement
from evidentia.partition.alignment import moved_objects

QUICK = MappingProxyType({"n_init": 2})


def corners(n=12):
    """Four groups at the corners of a square: links decide whether left and right are the clusters."""
    rng = np.random.default_rng(0)
    xy = np.repeat([[0, 0], [0, 8], [8, 0], [8, 8]], n, axis=0) + rng.normal(size=(4 * n, 2))
    names = [f"{place}{k}" for place in ("sw", "nw", "se", "ne") for k in range(n)]
    return pd.DataFrame({"u": xy[:, 0], "v": xy[:, 1], "note": ["<b>&"] * (4 * n)}, index=pd.Index(names, name="id"))


SETTINGS = Settings("ecm", 2, ("u", "v"), parameters=QUICK)
LINKED = Settings("cecm", 2, ("u", "v"), parameters=MappingProxyType({"adaptive": True, "n_init": 2}))


@pytest.fixture
def exploration():
    found = Exploration(corners(), LINKED)
    found.begin()
    return found


def labels(exploration, *names):
    return exploration.partition_.labels()[[exploration.rows[name] for name in names]].tolist()


def test_what_is_said_decides_the_clusters_and_what_moved_is_told(exploration):
    step = exploration.join(["sw0", "nw0", "nw1"])
    exploration.separate(["sw0", "sw1"], ["se0"])
    a, b, c, d = labels(exploration, "sw5", "nw5", "se5", "ne5")
    assert a == b != c == d
    assert exploration.broken_links().empty
    before = exploration.partition_
    step = exploration.undo()
    assert step is exploration.steps[1]
    step = exploration.redo()
    assert step.partition is before
    assert step.words == "sw0 and sw1 do not belong with se0"
    other = exploration.set(clusters=3)
    np.testing.assert_array_equal(other.moved, moved_objects(before, other.partition))
    assert other.settings.clusters == 3
    assert len(exploration.constraints_) == 5


def test_the_lower_criterion_of_old_centers_and_fresh_starts_wins(exploration):
    for number, pair in enumerate((("sw0", "nw0"), ("sw1", "se1"), ("nw2", "ne2"), ("se3", "nw4"))):
        before, links_before = exploration.step.start, exploration.step.statements
        step = exploration.join(pair, certainty=0.9 - 0.1 * number)
        assert step.statements[:-1] == links_before
        fits = [
            CECM(2, adaptive=True, n_init=2, random_state=0, **start).fit(
                exploration.rows_of(), constraints=exploration.constraints_
            )
            for start in ({}, {"init": before})
        ]
        assert step.model.criterion_ == min(fit.criterion_ for fit in fits)
        assert (step.began == "shapes") == (fits[1].criterion_ <= fits[0].criterion_)


def test_a_method_without_links_gives_way_to_one_that_listens():
    exploration = Exploration(corners(), SETTINGS)
    exploration.begin()
    step = exploration.answer("different", ["sw0", "nw0"])
    assert (step.settings.method, step.settings.clusters) == ("cecm", 2)
    assert dict(step.settings.parameters) == {"tol": 1e-7}
    back = exploration.set(method="ecm", parameters=QUICK)
    assert "takes no links" in back.words
    assert len(back.statements) == 1
    assert back.settings.clusters == 2


def test_clusters_keep_their_numbers(exploration):
    before = exploration.partition_
    step = exploration.join(["sw0", "sw1"])
    overlap = before.pignistic.T @ step.partition.pignistic
    assert np.trace(overlap) == pytest.approx(max(np.trace(overlap), np.trace(overlap[::-1])))


def test_contradictions_are_told_as_a_chain_and_change_nothing(exploration):
    exploration.join(["sw0", "nw0"])
    exploration.join(["nw0", "ne0"])
    with pytest.raises(ContradictoryLinks, match=r"'sw0' = 'nw0' = 'ne0'|'ne0' = 'nw0' = 'sw0'"):
        exploration.separate(["sw0"], ["ne0"])
    with pytest.raises(ContradictoryLinks, match="'nw0' and 'sw0' were said to belong together, and not to"):
        exploration.separate(["nw0"], ["sw0"])
    assert len(exploration.steps) == 3
    exploration.separate(["sw0"], ["ne0"], certainty=0.6)  # a soft one may contradict; it is shown
    assert [one.certainty for one in exploration.contradictions()] == [0.6]
    assert len(exploration.broken_links()) >= 1


def test_labels_put_objects_together_and_apart(exploration):
    exploration.label(["sw0", "nw0"], "left")
    exploration.label(["se0", "ne0"], " right ", certainty=0.7)
    found = {(link.first, link.second): (link.must, link.certainty) for link in exploration.constraints_}
    assert found["sw0", "nw0"] == (True, 1.0)
    assert found["se0", "ne0"] == (True, 0.7)
    assert found["nw0", "ne0"] == (False, 0.7)
    assert len(found) == 6
    a, b, c, d = labels(exploration, "sw5", "nw5", "se5", "ne5")
    assert a == b != c == d


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda e: e.join(["sw0"]), "at least two"),
        (lambda e: e.join(["sw0", "Eve"]), "no object 'Eve'"),
        (lambda e: e.join(["sw0", 99]), "no object 99 among 48"),
        (lambda e: e.separate(["sw0"], ["sw0", "nw0"]), "'sw0' is in both groups"),
        (lambda e: e.separate([], ["nw0"]), "at least one object"),
        (lambda e: e.label(["sw0"], "  "), "A label needs a word"),
        (lambda e: e.join(["sw0", "nw0"], certainty=0), r"\(0, 1\]"),
        (lambda e: e.answer("perhaps", ["sw0", "nw0"]), "An answer is"),
        (lambda e: e.set(method="ecmm"), "did you mean 'ecm'"),
        (lambda e: e.set(columns=()), "at least one column"),
        (lambda e: e.set(columns=("w",)), "no column 'w'"),
        (lambda e: e.set(clusters=2), "Nothing was changed"),
        (lambda e: e.set(clusters=100), "100"),
        (lambda e: e.set(parameters={"alpha": -1}), "alpha"),
        (lambda e: e.cut(3), "no tree"),
        (lambda e: e.choose_peaks([]), "at least one"),
        (lambda e: e.undo(), "nothing to undo"),
        (lambda e: e.redo(), "nothing to redo"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(exploration, act, message):
    partition = exploration.partition_
    with pytest.raises(ValueError, match=message):
        act(exploration)
    assert len(exploration.steps) == 1
    assert exploration.partition_ is partition
    exploration.join(["sw0", "sw1"])  # and it goes on


def test_peaks_and_cuts(exploration):
    graph = exploration.peaks()
    assert exploration.peaks() is graph
    step = exploration.choose_peaks([0, 12, 24, 36])
    assert step.partition.n_clusters == 4
    assert step.words == "BPEC around 4 peaks of the graph"
    exploration.set(method="bhc", clusters=None)
    cut = exploration.cut(5)
    assert cut.partition.n_clusters == 5
    assert cut.began == "kept"
    tree = BeliefHierarchical(random_state=0).fit(exploration.rows_of())
    np.testing.assert_array_equal(cut.partition.masses, tree.partition(5).masses)
    with pytest.raises(ValueError, match="leaves"):
        exploration.cut(49)


def test_numbers_of_clusters_by_bic():
    exploration = Exploration(corners(), SETTINGS)
    exploration.begin()
    found = exploration.numbers()
    assert found.criterion == "bic"
    assert found.best[1] == 4
    assert exploration.numbers() is found
    assert len(exploration.steps) == 1  # looking is no step


def test_questions_are_those_of_an_active_session(exploration):
    exploration.join(["sw0", "nw0"])
    question = exploration.ask()
    assert {exploration.names[row] for row in question[:2]} != {"sw0", "nw0"}
    step = exploration.answer("don't know", question[:2])
    assert step.began == "kept"
    assert step.partition is exploration.steps[-2].partition
    assert exploration.ask()[:2] != question[:2]
    assert exploration.ask("random") == exploration.ask("random")


def test_a_fit_can_be_stopped_and_a_second_one_is_refused_meanwhile():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 6))).add_prefix("x")
    settings = Settings("ecm", 6, tuple(table.columns), parameters={"n_init": 500, "focal_sets": "full"})
    exploration, seen = Exploration(table, settings), []

    def work():
        try:
            exploration.begin()
        except StoppedFit as error:
            seen.append(str(error))

    worker = threading.Thread(target=work)
    worker.start()
    deadline = time.monotonic() + 60
    while exploration._thread is None and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(ValueError, match="Another change is being computed"):
        exploration._add("", settings, ())
    exploration.stop()
    worker.join(60)
    assert seen == ["Stopped. Nothing was changed."]
    assert exploration.steps == []
    exploration.stop()  # nothing runs: nothing happens
    exploration.first = Settings("ecm", 2, ("x0",), parameters=QUICK)
    exploration.begin()


# -- on disk ----------------------------------------------------------------------------------------------------------


def test_every_step_is_taken_up_again(tmp_path):
    first = Exploration(corners(), LINKED, folder=tmp_path)
    first.begin()
    first.join(["sw0", "nw0"])
    first.separate(["sw0"], ["se0"], certainty=0.8)
    first.undo()
    again = Exploration(corners(), folder=tmp_path)
    assert [step.words for step in again.steps] == [step.words for step in first.steps]
    assert (again.at, again.settings) == (1, first.settings)
    np.testing.assert_array_equal(again.partition_.masses, first.partition_.masses)
    np.testing.assert_array_equal(again.redo().moved, first.steps[2].moved)
    assert again.partition_.object_names == first.names
    model = again.model_  # fitted again, from the same start
    np.testing.assert_array_equal(model.partition_.align(again.partition_).masses, again.partition_.masses)
    third = again.join(["ne0", "ne1"])
    other = Exploration(corners(), folder=tmp_path)
    np.testing.assert_array_equal(other.partition_.masses, third.partition.masses)


def test_the_second_of_two_explorers_goes_on(tmp_path):
    first = Exploration(corners(), LINKED, folder=tmp_path)
    first.begin()
    second = Exploration(corners(), folder=tmp_path)
    second.join(["sw0", "nw0"])
    with pytest.raises(ValueError, match="Another explorer has taken up"):
        first.join(["sw0", "sw1"])
    assert len(first.steps) == 1
    assert len(Exploration(corners(), folder=tmp_path).steps) == 2


def test_the_folder_of_another_table_is_refused_with_both_fingerprints(tmp_path):
    first = Exploration(corners(), LINKED, folder=tmp_path)
    first.begin()
    table = corners()
    table.iloc[3, 0] += 1e-9
    with pytest.raises(ValueError, match="another table") as caught:
        Exploration(table, folder=tmp_path)
    assert first.fingerprint in str(caught.value)
    assert Exploration(table).fingerprint in str(caught.value)
    assert Exploration(table.rename(columns={"u": "w"})).fingerprint != Exploration(table).fingerprint
    (tmp_path / "steps.json").write_text('{"format": "other"}')
    with pytest.raises(ValueError, match="damaged or was not written by evidentia explore"):
        Exploration(corners(), folder=tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        Exploration(corners(), folder=tmp_path / "steps.json")


def test_answers_given_elsewhere_are_taken_up(tmp_path):
    first = Exploration(corners(), LINKED, folder=tmp_path)
    first.begin()
    first.join(["sw0", "nw0"])
    first.separate(["sw3"], ["ne3"], certainty=0.5)
    path = tmp_path / "answers.csv"
    assert [line.rsplit(",", 1)[0] for line in path.read_text().splitlines()] == ["first,second,answer", "sw0,nw0,same"]
    path.write_text("first,second,answer\nsw0,nw0,same\nsw1,se1,different\n")
    with pytest.raises(ValueError, match="changed by another program"):
        first.join(["sw0", "sw1"])
    again = Exploration(corners(), folder=tmp_path)
    assert again.step.words == "1 answer taken up from answers.csv"
    assert [str(one) for one in again.step.statements] == [
        "sw0 and nw0 belong together",
        "sw3 does not belong with ne3 (50 % sure)",
        "sw1 does not belong with se1",
    ]
    path.write_text("first,second,answer\nsw1,se1,different\n")  # an answer was taken back
    again = Exploration(corners(), folder=tmp_path)
    assert [str(one) for one in again.step.statements] == [
        "sw3 does not belong with ne3 (50 % sure)",
        "sw1 does not belong with se1",
    ]
    path.write_text("first,second,answer\nsw1,Eve,different\n")
    with pytest.raises(ValueError, match="no object 'Eve' in the table"):
        Exploration(corners(), folder=tmp_path)


def test_a_plug_pulled_between_two_files_loses_nothing(tmp_path, monkeypatch):
    """The list of steps is written, the answers are not: they are written when the folder is taken up."""
    first = Exploration(corners(), LINKED, folder=tmp_path)
    first.begin()

    def pulled(*args):
        raise OSError("the plug")

    monkeypatch.setattr("evidentia.app.explorer.folder.write_answers", pulled)
    with pytest.raises(OSError, match="the plug"):
        first.join(["sw0", "nw0"])
    monkeypatch.undo()
    again = Exploration(corners(), folder=tmp_path)
    assert again.step.words == "sw0 and nw0 belong together"
    assert "\nsw0,nw0,same," in (tmp_path / "answers.csv").read_text()


def test_kill_9_at_twenty_random_moments_loses_no_step(tmp_path):
    """What a person was told is there afterwards; a step under way may be there or not. With a page: test_page.py."""
    program = Path(__file__).with_name("killed.py")
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, program, tmp_path, "20"], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["told"] > 40


def test_only_some_steps_can_be_undone_but_all_are_in_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr("evidentia.app.explorer.state.KEPT", 2)
    exploration = Exploration(corners(), SETTINGS, folder=tmp_path)
    exploration.begin()
    for seed in (1, 2, 3):
        exploration.set(seed=seed)
    assert len(list(tmp_path.glob("step-*.npz"))) == 3
    exploration.undo(), exploration.undo()
    with pytest.raises(ValueError, match="Only the last 2 steps"):
        exploration.undo()
    assert len(Exploration(corners(), folder=tmp_path).steps) == 4
    assert KEPT == 50


def test_a_file_that_changes_underneath_is_seen(tmp_path):
    path = tmp_path / "table.csv"
    corners().to_csv(path)
    exploration = Exploration(corners(), SETTINGS, origin=Origin(path=path))
    assert not exploration.table_changed
    os.utime(path, (1, 1))
    assert exploration.table_changed


@pytest.mark.parametrize("table", [corners().iloc[:1], corners().set_axis(["a"] * 48)])
def test_tables_that_cannot_be_explored(table):
    with pytest.raises(ValueError, match=r"at least 2 are needed|a name of its own"):
        Exploration(table)


def test_moved_objects_of_other_numbers_of_clusters():
    two, three = FocalSets(2, [{0}, {1}]), FocalSets(3, [{0}, {1}, {2}])
    before = CredalPartition(np.eye(2)[[0, 0, 0, 1, 1, 1]], two)
    after = CredalPartition(np.eye(3)[[2, 2, 1, 0, 0, 0]], three)
    assert moved_objects(before, after).tolist() == [2]
    assert moved_objects(after, before).tolist() == [2]


# -- the script -------------------------------------------------------------------------------------------------------


def run_script(text, folder):
    (folder / "again.py").write_text(text)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-W", "error", "again.py"], cwd=folder, env=env, check=True)
    return CredalPartition.load(folder / "partition.npz")


def test_the_script_repeats_everything_to_the_bit(tmp_path, monkeypatch):
    def continuing(estimator, X, links, start):  # as if the solution before always had the lower criterion
        return estimator.set_params(**({} if start is None else {"init": start})).fit(X, constraints=links), True

    monkeypatch.setattr("evidentia.app.explorer.state.refit", continuing)
    corners().to_csv(tmp_path / "table.csv")
    table = pd.read_csv(tmp_path / "table.csv").set_index("id")
    origin = Origin("pd.read_csv('table.csv')", "id")
    exploration = Exploration(table, SETTINGS, origin=origin, folder=tmp_path / "out")
    exploration.begin()
    exploration.join(["sw0", "nw0", "nw1"])
    exploration.set(scale="standard", parameters={"adaptive": True, "n_init": 1})
    exploration.join(["ne5", "se5"])
    exploration.separate(["sw2"], ["ne2", "ne3"], certainty=0.75)
    exploration.answer("don't know", ["sw5", "se5"])
    exploration.label(["se0", "se1"], "it's")
    exploration.join(["ne0", "ne1"])
    exploration.undo()
    began = [step.began for step in exploration.path]
    assert {"fresh", "kept", "centers", "shapes"} <= set(began)
    found = run_script(script(exploration), tmp_path)
    assert found.masses.tobytes() == exploration.partition_.masses.tobytes()
    assert json.loads((tmp_path / "out" / "steps.json").read_text())["at"] == 6
    again = Exploration(table, origin=origin, folder=tmp_path / "out")
    assert script(again) == script(exploration)


def test_the_script_repeats_trees_peaks_masses_and_searches(tmp_path):
    corners().to_csv(tmp_path / "table.csv")
    table = pd.read_csv(tmp_path / "table.csv").set_index("id")
    exploration = Exploration(table, Settings("ecm", (2, 4), ("u", "v"), parameters=QUICK))
    exploration.origin = Origin("pd.read_csv('table.csv')", "id")
    exploration.begin()
    exploration.set(method="bhc", clusters=None)
    exploration.cut(3)
    exploration.cut(4)
    exploration.choose_peaks([0, 13, 30, 40])
    exploration.set(method="cevclus", clusters=4, parameters=QUICK)
    exploration.join(["sw0", "sw1"])
    exploration.join(["ne0", "ne1"])
    found = run_script(script(exploration), tmp_path)
    assert found.masses.tobytes() == exploration.partition_.masses.tobytes()


def test_statements_in_words_and_as_code():
    assert str(Statement("together", ["a", "b", "c", "d", "e"])) == "a, b, c and 2 more belong together"
    assert str(Statement("label", ["a"], label="x")) == "a is 'x'"
    assert str(Statement("unknown", ["a"], ["b"])) == "nobody knows whether a belongs with b"
