"""The page in a real browser, with real gestures of the mouse and keys; nothing is asked of another machine."""

import json
import os
import random
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from app.explorer.driving import COUNTER, MODELS, Driver, around
from app.explorer.served import Served
from evidentia import CredalPartition
from evidentia.app.explorer import Exploration, Settings
from evidentia.datasets import load


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Four groups at the corners of a square."""
    rng = np.random.default_rng(0)
    xy = np.repeat([[0, 0], [0, 8], [8, 0], [8, 8]], 12, axis=0) + 0.7 * rng.normal(size=(48, 2))
    names = [f"{place}{k}" for place in ("sw", "nw", "se", "ne") for k in range(12)]
    path = tmp_path_factory.mktemp("page") / "table.csv"
    pd.DataFrame({"name": names, "u": xy[:, 0], "v": xy[:, 1]}).to_csv(path, index=False)
    return path


WORDS = ("--id", "name", "--method", "cecm", "--clusters", 2)


@pytest.fixture(scope="module")
def served(table):
    with Served(table, *WORDS, "--port", 5506) as found:
        yield found


@pytest.fixture
def driver(page, served):
    return Driver(page, served)


def steps(table):
    return json.loads((table.parent / "table-explorer" / "steps.json").read_text())


def test_a_lasso_a_pair_a_question_and_undo(driver, table):
    page = driver.page
    driver.drag("map", around(0, 4, 3, 7))
    driver.sees("24 objects selected")
    first = steps(table)["at"]
    driver.click("Belong together")
    assert "belong together" in driver.status
    labels = CredalPartition.load(download(page, "partition", table.parent)).labels()
    assert len(set(labels[:24])) == 1
    assert set(labels[:24]) != set(labels[24:])
    driver.click("↶ Undo")
    assert steps(table)["at"] == first
    driver.click("↷ Redo")
    x, y = driver.data("map", "x"), driver.data("map", "y")
    driver.tap("map", [x[24], y[24]])
    driver.tap("map", [x[37], y[37]], shift=True)
    driver.sees("2 objects selected")
    driver.click("Name as group A")
    driver.tap("map", [x[3], y[3]])
    driver.click("Apart from group A")
    assert steps(table)["steps"][-1]["statements"][-1]["objects"] == ["se0", "ne1"]
    driver.tab("Questions")
    driver.click("Yes, together")
    assert "belong together" in driver.status
    driver.click("Don't know")
    assert "nobody knows" in driver.status
    driver.tab("Log")
    assert page.get_by_text("nobody knows").count() >= 1


def download(page, label, folder):
    with page.expect_download() as started:
        page.get_by_text(label, exact=True).first.click()
    path = folder / f"downloaded-{started.value.suggested_filename}"
    started.value.save_as(path)
    return path


def test_a_selection_sends_words_and_numbers_and_no_styles(page, served):
    """With its styles each line of words would have the whole page laid out anew, which takes longer than all else."""
    Driver(page, served)  # something is fitted, so that a page comes drawn
    frames = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame))))
    driver = Driver(page, served)
    frames.clear()
    driver.drag("map", around(0, 4, 3, 7))
    driver.sees("24 objects selected")
    sent = "".join(frames)
    assert "24 objects selected" in sent
    assert "stylesheets" not in sent


def test_the_table_is_the_keyboards_way_to_select(driver):
    box = driver.page.locator(".tabulator-row input[type=checkbox]").first
    box.focus()
    driver.page.keyboard.press("Space")
    driver.wait()
    assert driver.page.evaluate(f"(() => {{ {MODELS} return all.find(m => m.name == 'map').renderers.at(-1)"
                                ".data_source.selected.indices.length })()") == 1  # fmt: skip


def test_peaks_numbers_tree_and_comparison(driver, table):
    driver.tab("Peaks")
    x, y = driver.data("peaks", "x"), driver.data("peaks", "y")
    top = np.argsort(-np.array(x) * np.array(y))[:4]
    low, high = (
        np.min([np.array(x)[top], np.array(y)[top]], axis=1),
        np.max([np.array(x)[top], np.array(y)[top]], axis=1),
    )
    margin = 0.03 * (high - low) + [0.004, 0.2]
    corners = [(low - margin).tolist(), (high + margin).tolist()]
    driver.drag("peaks", corners)
    driver.click("BPEC around the selected")
    assert "BPEC around" in driver.status
    driver.tab("Tree")
    driver.click("Build the tree (method bhc)")
    assert steps(table)["steps"][-1]["settings"]["method"] == "bhc"
    handle = driver.page.get_by_role("slider", name="cut into clusters")
    handle.focus()
    driver.page.keyboard.press("ArrowRight")
    driver.wait()
    cut = steps(table)["steps"][-1]["settings"]["cut"]
    assert cut is not None
    ((at,), merges) = driver.data("tree", "y"), np.sort(np.array(driver.data("tree", "ys", 0)).max(axis=1))
    rest = {k: (merges[-k] + merges[1 - k]) / 2 for k in range(2, 6)}  # where the line of k clusters comes to rest
    assert at == pytest.approx(rest[cut])
    wanted = 3 if cut != 3 else 2
    driver.drag("tree", [[0.2, at], [0.5, merges[0]], [0.7, rest[wanted]]])
    assert steps(table)["steps"][-1]["settings"]["cut"] == wanted
    assert driver.data("tree", "y") == pytest.approx([rest[wanted]])
    driver.drag("tree", [[0.3, rest[wanted]], [0.3, 0.4 * rest[wanted] + 0.6 * merges[-wanted]]])  # the same cut
    assert driver.data("tree", "y") == pytest.approx([rest[wanted]])
    assert steps(table)["steps"][-1]["settings"]["cut"] == wanted
    assert steps(table)["at"] == len(steps(table)["steps"]) - 1
    driver.tab("Compare")
    driver.sees("Credal Rand index")
    driver.tab("Numbers")
    x, y = driver.data("numbers", "x"), driver.data("numbers", "y")
    driver.tap("numbers", [x[1], y[1]])
    assert steps(table)["steps"][-1]["settings"]["clusters"] == x[1]


def test_what_fails_is_a_sentence(driver, table):
    before = steps(table)
    driver.page.get_by_label("clusters: 3, 2-6, auto").fill("many")
    driver.page.keyboard.press("Tab")
    driver.click("Fit with these")
    assert "a number (3), a range (2-6) or auto" in driver.status
    assert driver.page.get_by_text("Traceback").count() == 0
    assert steps(table)["steps"] == before["steps"]


def test_caution_legend_and_color_change_what_is_drawn(driver):
    page = driver.page
    before = driver.data("map", "size")
    legend = page.locator(".bk-input-group input[type=checkbox]").first
    assert 0 not in before
    legend.click()
    driver.until(lambda: 0 in driver.data("map", "size"))
    page.get_by_role("radio", name="cautious choice").click()
    driver.wait()
    driver.sees("remain possible at caution 0.50")
    page.get_by_label("color by").select_option("u")
    driver.wait()


def test_two_pages_see_the_same_and_a_reload_loses_nothing(new_page, served):
    one, other = Driver(new_page(), served), Driver(new_page(), served)
    one.drag("map", around(8, 8, 3, 3))
    one.click("Belong together")
    other.until(lambda: other.status == one.status)
    other.page.reload()
    other.seen = 0
    other.wait()
    other.until(lambda: other.status == one.status)


def test_a_killed_server_is_taken_up_again(new_page, table, tmp_path):
    copy = tmp_path / "table.csv"
    copy.write_bytes(table.read_bytes())
    with Served(copy, *WORDS, "--port", 5606) as first:
        driver = Driver(new_page(), first)
        driver.drag("map", around(0, 4, 3, 7))
        driver.click("Belong together")
        words = driver.status
        driver.page.close()
        first.kill()
    with Served(copy, *WORDS, "--port", 5606) as second:
        assert "taken up" in second.log.read_text()
        assert Driver(new_page(), second).status == words


MOMENTS = int(os.environ.get("EVIDENTIA_KILLS", "2"))  # 20 in the long form


@pytest.fixture(scope="module")
def copied(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("killed") / "table.csv"
    path.write_bytes(table.read_bytes())
    return path


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_kill_9_of_the_server_at_any_moment_loses_no_step(browser, copied, moment):
    """Whatever a person was told is there when the folder is taken up; a step under way may be there or not."""
    chance = random.Random(moment)
    with Served(copied, *WORDS, "--port", 5656) as found:
        page = browser.new_page()
        driver = Driver(page, found)
        at, told = steps(copied)["at"], driver.status
        box = page.locator(".tabulator-row input[type=checkbox]")
        for row in chance.sample(range(12), 2):
            box.nth(row).click()
            driver.wait()
        threading.Timer(chance.uniform(0.05, 2), found.process.kill).start()
        while found.process.poll() is None:
            name, step = chance.choice([("Belong together", 1), ("↶ Undo", -1), ("↷ Redo", 1)])
            seen = page.evaluate(COUNTER)
            page.get_by_role("button", name=name, exact=True).click()
            while found.process.poll() is None and page.evaluate(COUNTER) == seen:
                page.wait_for_timeout(5)
            if page.evaluate(COUNTER) > seen and driver.status.partition(".")[0] != told.partition(".")[0]:
                wrong = page.get_by_role("alert").count()
                at, told = (at, told) if wrong else (at + step, driver.status)
        page.close()
    frame = pd.read_csv(copied).set_index("name")
    again = Exploration(frame, Settings("cecm", 2, ("u", "v")), folder=copied.parent / "table-explorer")
    assert abs(again.at - at) <= 1
    assert again.at != at or f" {again.step.words}." in f" {told}"
    again.join([40, 41])
    again.undo()


def test_from_a_table_to_a_corrected_partition_and_a_script(new_page, tmp_path):
    """What a new user does: wine, three clusters, something known, and the script that repeats it."""
    wine = load("wine", as_frame=True).data
    wine.to_csv(tmp_path / "wine.csv", index=False)
    began = time.monotonic()
    with Served(tmp_path / "wine.csv", "--port", 5706) as found:
        page = new_page(accept_downloads=True)
        driver = Driver(page, found)
        driver.page.get_by_label("clusters: 3, 2-6, auto").fill("3")
        driver.page.keyboard.press("Tab")
        driver.click("Fit with these")
        x, y = np.array(driver.data("map", "x")), np.array(driver.data("map", "y"))
        driver.drag("map", around(x[0], y[0], 0.08 * np.ptp(x), 0.08 * np.ptp(y)))
        driver.click("Belong together")
        assert "belong together" in driver.status
        path = download(page, "script", tmp_path)
        masses = CredalPartition.load(download(page, "partition", tmp_path)).masses
        assert time.monotonic() - began < 300
    subprocess.run([sys.executable, path.name], cwd=tmp_path, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert CredalPartition.load(tmp_path / "partition.npz").masses.tobytes() == masses.tobytes()
