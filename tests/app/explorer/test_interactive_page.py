"""The interactive page, in a real browser and without a network."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from tests.app.explorer.gestures import lasso, model, places

from evidentia import CredalPartition, FocalSets
from evidentia.app.report import write_interactive
from evidentia.plots.styles import MISSING, number_palette, pack_colors

BAD = "<img src=x onerror=\"window.hurt='yes'\">"


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """150 objects: 70 at (0, 0), 70 at (10, 0), nine torn at (5, 0), an outlier at (5, 9); names that are HTML."""
    import_module("panel")  # which tells Bokeh of scripts of its own: they must not be asked for by the page
    rng = np.random.default_rng(0)
    at = np.repeat([0, 1, 2, 3], [70, 70, 9, 1])
    xy = np.array([[0, 0], [10, 0], [5, 0], [5, 9]])[at] + rng.uniform(-1, 1, (150, 2))
    masses = 0.9 * np.eye(4)[at] + 0.025
    masses[at == 2] = [0.1, 0.15, 0.7, 0.05]
    names = [f"object {i} {BAD}" for i in range(149)] + ["</script><script>window.hurt='yes'</script>"]
    partition = CredalPartition(
        masses,
        FocalSets(2, [{0}, {1}, {0, 1}, set()]),
        object_names=names,
        cluster_names=["left", f"<b>{BAD}"],
    )
    table = pd.DataFrame(xy, columns=["width $$x$$", f"height {BAD}"], index=names)
    table["kind"] = np.where(at == 0, BAD, "other")
    table.loc[table.index[3], "width $$x$$"] = np.nan
    path = tmp_path_factory.mktemp("few") / "page.html"
    write_interactive(path, partition=partition, X=table, title=f"A title {BAD}")
    return path


@pytest.fixture
def opened(few, page):
    page.goto(few.as_uri())
    page.wait_for_selector("body[data-ready]")
    yield page
    assert page.evaluate("window.hurt") is None
    assert page.locator("img, b:text('x')").count() == 0


def visible(page):
    return sum(size > 0 for size in model(page, "objects", "[...it.data.size]"))


def test_it_is_small_and_whole(few):
    assert few.stat().st_size < 2.5e6
    text = few.read_text()
    assert "default-src 'none'" in text
    assert "1 object with a missing coordinate is in the table only." in text


def test_a_lasso_fills_table_and_bars(opened):
    assert opened.locator("#status").inner_text() == "150 of 150 objects are shown, 0 selected."
    lasso(opened, "map", (3, -1.3), (7, 2))
    opened.wait_for_function("document.getElementById('which').textContent == 'Selected: 9'")
    assert opened.locator("#list tbody tr").count() == 9
    bars = opened.locator("#bars").inner_text().split("\n")
    assert bars[0] == "{0,1}"
    assert bars[1] == "0.70"
    first = opened.locator("#list tbody tr").first.inner_text()
    assert BAD in first
    assert "0.85" in first  # doubt: one minus the belief 0.15 in the second cluster
    opened.get_by_role("button", name="Clear the selection").click()
    assert opened.locator("#which").inner_text() == "Shown: 150 (none selected)"


def test_hover_tells_name_and_masses_as_text(opened):
    ((x, y),) = places(opened, "map", [model(opened, "objects", "[it.data.x[149], it.data.y[149]]")])
    opened.mouse.move(x - 30, y)
    opened.mouse.move(x, y, steps=4)
    tip = opened.get_by_text("set ∅ (outlier), doubt 0.98")  # Playwright looks into shadow roots
    tip.wait_for()
    text = tip.inner_text()
    assert "</script><script>window.hurt='yes'</script>" in text
    assert "∅ (outlier) 0.93" in text


def test_the_legend_filters(opened):
    counts = opened.locator("#sets b").all_inner_texts()
    assert counts == ["70", "70", "9", "1"]
    opened.locator("#sets input").first.uncheck()
    assert visible(opened) == 80
    assert opened.locator("#status").inner_text() == "80 of 150 objects are shown, 0 selected."
    opened.get_by_role("button", name="None").click()
    assert visible(opened) == 0
    opened.get_by_role("button", name="All", exact=True).click()
    assert visible(opened) == 150


def test_the_keyboard_filters_by_doubt_and_selects(opened):
    opened.get_by_label("Doubt of at least").focus()
    opened.keyboard.press("End")
    opened.wait_for_function("document.getElementById('status').textContent.startsWith('0 of')")
    for _ in range(15):
        opened.keyboard.press("ArrowLeft")
    opened.wait_for_function("document.getElementById('status').textContent.startsWith('10 of 150')")
    assert opened.locator("#least").inner_text() == "0.85"
    opened.get_by_role("button", name="Select all shown").focus()
    opened.keyboard.press("Enter")
    assert len(model(opened, "objects", "it.selected.indices")) == 10
    opened.locator("#list tbody button").nth(2).focus()
    opened.keyboard.press("Enter")
    assert len(model(opened, "objects", "it.selected.indices")) == 1


def test_search_selects_by_letters_of_the_name(opened):
    opened.get_by_label("Find by name").fill("OBJECT 14")
    assert model(opened, "objects", "it.selected.indices") == [14, *range(140, 149)]
    assert opened.locator("#found").inner_text() == "10 names have these letters."
    opened.get_by_label("Find by name").fill("")
    assert model(opened, "objects", "it.selected.indices") == []


def test_colors_by_a_column(opened):
    assert opened.locator("#color option").count() == 4
    before = model(opened, "objects", "[...it.data.color]")
    assert len(set(before)) == 4
    opened.get_by_label("Color by").select_option("width $$x$$")
    color, x = model(opened, "objects", "[[...it.data.color], [...it.data.x]]")
    ramp = pack_colors(number_palette()).tolist()
    assert color[3] == pack_colors([MISSING])[0]
    known = [i for i in range(150) if i != 3]
    assert color[min(known, key=lambda i: x[i])] == ramp[0]
    assert color[max(known, key=lambda i: x[i])] == ramp[-1]
    assert "missing" in opened.locator("#shades").inner_text()
    opened.get_by_label("Color by").select_option("kind")
    assert BAD in opened.locator("#shades").inner_text()
    assert len(set(model(opened, "objects", "[...it.data.color]"))) == 2
    opened.get_by_label("Color by").select_option("set")
    assert model(opened, "objects", "[...it.data.color]") == before


def test_the_table_sorts_by_a_column(opened):
    heading = opened.locator("#list thead button").nth(3)
    heading.click()
    assert opened.locator("#list thead th").nth(3).get_attribute("aria-sort") == "descending"
    cells = [float(text) for text in opened.locator("#list tbody tr td:nth-child(4)").all_inner_texts()[:20]]
    assert cells == sorted(cells, reverse=True)
    opened.locator("#list thead button").nth(3).press("Enter")
    assert opened.locator("#list thead th").nth(3).get_attribute("aria-sort") == "ascending"


def test_every_control_has_a_name(opened):
    unnamed = opened.evaluate(
        "() => [...document.querySelectorAll('main input, main select, main button')]"
        ".filter((one) => !(one.labels?.length || one.textContent.trim())).length"
    )
    assert unnamed == 0


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    rng = np.random.default_rng(1)
    at = rng.integers(0, 16, 40_000)
    masses = 0.8 * np.eye(16)[at] + 0.2 / 16
    names = [f"a name of a usual length {i}" for i in range(40_000)]
    partition = CredalPartition(masses, FocalSets(4), object_names=names)
    path = tmp_path_factory.mktemp("many") / "page.html"
    return write_interactive(path, partition=partition, X=rng.normal(size=(40_000, 30)) + at[:, None])


def test_many_objects_are_sampled_and_the_page_stays_small(many, page):
    assert many.stat().st_size < 4e6
    page.goto(many.as_uri())
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    said = page.locator("header").inner_text()
    assert "Drawn are 20,000 of 40,000 objects" in said
    assert "20,000 of 20,000 objects are shown" in said
    assert "columns that tell less are left out" in page.locator("#cut").inner_text()
