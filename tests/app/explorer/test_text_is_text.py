"""Names, cells, labels and file names that are markup stay text in every view of the explorer, in a real browser."""

import inspect

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from app.explorer.driving import Driver
from app.explorer.served import Served
from evidentia import CredalPartition, FocalSets
from evidentia.app.explorer.app import TABS
from evidentia.app.report import write_interactive, write_report
from evidentia.safe_text import TURNING, printable
from exported import exported
from hostile import PAYLOADS, check_unhurt, hostile, unshown, watch, words

FILE = "<img class=hurt src=f onerror=hurt=15> &lt;b class=hurt&gt; ${hurt=16} $$x$$ \u202e \x1b \udcff"
ID, KIND = "id " + PAYLOADS[1], "kind " + PAYLOADS[0]
NAMES = hostile("n", 2 * len(PAYLOADS))
COLUMNS = hostile("c", len(PAYLOADS) // 2, each=2)
LEVELS = hostile("l", 4, each=len(PAYLOADS) // 4)
LABEL = " ".join(["label", *(one for one in PAYLOADS if one.isprintable())])  # what a field takes
BUTTONS = {
    "Questions": ["Yes, together", "Don't know"],
    "Tree": ["Build the tree (method bhc)"],
    "Compare": ["Select what differs"],
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Two groups; rows, columns, categories and the file have payloads for names."""
    rng, group = np.random.default_rng(0), np.arange(len(NAMES)) % 2
    numbers = 8 * group[:, None] + rng.normal(size=(len(NAMES), len(COLUMNS)))
    table = pd.DataFrame({ID: NAMES, KIND: np.array(LEVELS)[2 * group + rng.integers(0, 2, len(NAMES))]})
    path = tmp_path_factory.mktemp("hostile") / f"{FILE}.parquet"
    frame = pd.concat([table, pd.DataFrame(numbers, columns=COLUMNS)], axis=1)
    path.write_bytes(frame.to_parquet())  # pyarrow opens only names that are text
    with Served(path, "--id", ID, "--method", "cecm", "--clusters", 2, "--port", 5956) as found:
        yield found


def choose_each(driver, label):
    """Take each option of a list in turn."""
    box = driver.page.get_by_label(label, exact=True)
    for at in range(box.locator("option").count()):
        if box.evaluate("box => box.selectedIndex") != at:
            box.select_option(index=at)
            driver.wait()


def hover(driver, row):
    """Point at an object of the map until its name is told."""
    (place,) = driver.places("map", [[driver.data("map", "x")[row], driver.data("map", "y")[row]]])
    driver.page.mouse.move(place[0] - 40, place[1] - 40)
    driver.page.mouse.move(*place, steps=8)
    driver.sees("mass of")


def test_every_view_of_a_table_shows_text(served, page, new_page, tmp_path):
    watch(page)
    driver = Driver(page, served)
    assert printable(FILE) in page.title()
    for label in ("color by", "across", "up"):
        choose_each(driver, label)
    assert unshown(page, [*COLUMNS, KIND]) == []
    titles = page.locator(".tabulator-col-title").all_inner_texts()
    assert [name for name in map(printable, [KIND, *COLUMNS]) if name not in titles] == []
    assert unshown(page, LEVELS) == []
    assert names_in_table(page) == set(map(printable, NAMES))
    for row in range(2):
        page.locator(".tabulator-row input[type=checkbox]").nth(row).click()
        driver.wait()
    driver.click("Name as group A")
    driver.click("Belong together")
    page.get_by_label("label for the selected").fill(LABEL)
    page.get_by_label("label for the selected").press("Tab")
    driver.click("Give label")
    assert repr(LABEL) in driver.status
    hover(driver, 5)
    for view in TABS:
        driver.tab(view)
        check_unhurt(page)
        for button in BUTTONS.get(view, ()):
            driver.click(button)
            check_unhurt(page)
    assert repr(LABEL) in "\n".join(words(page))
    for path in downloads(page, tmp_path):
        check_file(path, new_page)
    check_unhurt(page)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A report and an interactive page of a partition whose names are payloads, and what they should show."""
    rng, group = np.random.default_rng(0), np.arange(len(NAMES)) % 2
    clusters = hostile("g", 2)
    masses = 0.8 * np.eye(4)[group + 1] + 0.2 * rng.dirichlet(np.ones(4), len(NAMES))
    partition = CredalPartition(masses, FocalSets(2), object_names=NAMES, cluster_names=clusters)
    X = pd.DataFrame(group[:, None] + rng.normal(size=(len(NAMES), 3)), NAMES, COLUMNS[:3]).assign(
        **{KIND: np.array(LEVELS)[2 * group + rng.integers(0, 2, len(NAMES))]}
    )
    folder, title = tmp_path_factory.mktemp("told"), " ".join(PAYLOADS)
    write_interactive(folder / "interactive.html", partition=partition, X=X, title=title)
    write_report(
        folder / "report.html", partition=partition, X=X, title=title, settings={PAYLOADS[0]: title}, notes=[title],
        remark=title, command=title, code=title,
    )  # fmt: skip
    doubtful = [NAMES[row] for row in partition.most_doubtful(5)]
    return folder, [title, *clusters, *X.columns, *doubtful]


@pytest.mark.filterwarnings("ignore:constrained_layout")  # names that long leave no room in a picture
@pytest.mark.parametrize(("name", "letters"), [("report.html", None), ("interactive.html", 20)])  # shortened there
def test_every_part_of_a_page_to_keep_shows_text(told, page, name, letters):
    folder, shown = told
    watch(page)
    page.goto((folder / name).as_uri())
    page.wait_for_load_state()
    for part in page.locator("summary, thead button").all():
        part.click()
    for option in page.locator("#color option").all():
        page.locator("#color").select_option(option.get_attribute("value"))
    assert unshown(page, [printable(one)[:letters] for one in shown]) == []
    check_unhurt(page)


def test_every_export_that_writes_html_is_tested_here():
    """What the command line and the explorer show or write is made of these."""
    things = {name: thing for _, name, thing in exported()}
    written = {name for name, thing in things.items() if inspect.isfunction(thing) and ".html" in (thing.__doc__ or "")}
    shown = {name for name, thing in things.items() if "_repr_html_" in getattr(thing, "__dict__", ())}
    assert written == {"write_report", "write_interactive", "write_results"}
    assert shown == {"CredalPartition"}


def test_a_partition_in_a_notebook_shows_text(page):
    watch(page)
    page.goto("about:blank")
    for first in range(0, len(NAMES), 5):  # so many are shown
        names, clusters = NAMES[first : first + 5], hostile("g", 2)
        masses = np.eye(4)[[1, 2, 1, 2, 3]]
        partition = CredalPartition(masses, FocalSets(2), object_names=names, cluster_names=clusters)
        page.set_content(partition._repr_html_())
        assert unshown(page, [printable(name)[:40] for name in names]) == []
        assert not set("\n".join(words(page))) & TURNING
        assert page.locator(".hurt").count() == 0
        assert page.evaluate("window.hurt") is None


def test_the_page_of_an_image_shows_text(page, tmp_path):
    watch(page)
    level = np.repeat([40, 200], 12) + np.random.default_rng(0).normal(0, 8, (3, 24, 24))
    picture = np.clip(level, 0, 255).astype(np.uint8).transpose(1, 2, 0)
    Image.fromarray(picture).save(path := tmp_path / f"{FILE}.png")
    with Served(path, "--clusters", 2, "--port", 6056) as served:
        driver = Driver(page, served)
        assert unshown(page, [f"{path.name} {channel}" for channel in ("red", "green", "blue")]) == []
        for found in downloads(page, tmp_path):
            check_file(found, None)
        driver.click("Ask")
        check_unhurt(page)


def names_in_table(page):
    """What stands in the column of names, on all pages of the table."""
    found = set()
    while True:
        page.wait_for_timeout(300)
        found |= set(page.locator(".tabulator-cell[tabulator-field=object]").all_inner_texts())
        following = page.get_by_role("button", name="Next Page")
        if following.is_disabled():
            page.get_by_role("button", name="First Page").click()
            page.wait_for_timeout(300)
            return found
        following.click()


def downloads(page, folder):
    """The files of all buttons that give one."""
    found = []
    for link in page.locator("a[download]").all():
        with page.expect_download() as started:
            link.click()
        found.append(folder / started.value.suggested_filename)
        started.value.save_as(found[-1])
    return found


def check_file(path, new_page):
    """A script compiles and holds nothing that steers a terminal; a page shows text."""
    assert path.stat().st_size > 0
    if path.suffix == ".py":
        code = path.read_text(encoding="utf-8")
        compile(code, str(path), "exec")
        assert [c for c in code if c in TURNING or (c < " " and c != "\n") or "\x7f" <= c < "\xa0"] == []
    if path.suffix == ".html":
        other = new_page()
        watch(other)
        other.goto(path.as_uri())
        other.wait_for_selector("body[data-ready]")
        assert unshown(other, [name[:40] for name in NAMES if name.isprintable()]) == []
        check_unhurt(other)
