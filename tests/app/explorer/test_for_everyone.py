"""The page for those who use no mouse or do not see it: names of all controls, contrast of all words, the keyboard."""

import re

import numpy as np
import pandas as pd
import pytest

from app.explorer.driving import MODELS, Driver, unnamed
from app.explorer.served import Served

# Every piece of text that can be seen, also in shadow roots, with its color and the first color behind it.
INKS = """() => {
  const found = [], paper = (node) => {
    for (; node; node = node.parentNode ?? node.host) {
      if (!(node instanceof Element)) continue
      const color = getComputedStyle(node).backgroundColor
      if (!/, 0\\)$/.test(color)) return color
    }
    return "rgb(255, 255, 255)"
  }
  const walk = (node) => {
    if (node.nodeType == Node.TEXT_NODE && node.data.trim() && node.parentElement?.checkVisibility()) {
      const element = node.parentElement
      if (!element.closest("style, script, [disabled], .bk-disabled, option, [aria-hidden=true]"))
        found.push([node.data.trim().slice(0, 40), getComputedStyle(element).color, paper(element)])
    }
    if (node.shadowRoot) walk(node.shadowRoot)
    node.childNodes.forEach(walk)
  }
  walk(document.body)
  return found
}"""


def luminance(color):
    """Relative luminance of WCAG 2.2, of a color as browsers write it."""
    channel = np.array([float(part) for part in re.findall(r"[\d.]+", color)[:3]]) / 255
    return np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(ink, paper):
    """From 1 to 21; 4.5 is asked of words, 3 of symbols."""
    low, high = sorted([luminance(ink), luminance(paper)])
    return (high + 0.05) / (low + 0.05)


def test_the_measure_of_contrast_is_that_of_wcag():
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(118, 118, 118)", "rgb(255, 255, 255)") == pytest.approx(4.54, abs=0.005)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    rng = np.random.default_rng(0)
    xy = np.repeat([[0, 0], [5, 8]], 15, axis=0) + rng.normal(size=(30, 2))
    path = tmp_path_factory.mktemp("everyone") / "table.csv"
    pd.DataFrame(xy, columns=["u", "v"]).to_csv(path, index=False)
    with Served(path, "--method", "cecm", "--clusters", 2, "--port", 5756) as found:
        yield found


def test_every_control_has_a_name_and_all_words_are_readable(page, served):
    driver = Driver(page, served)
    seen = 0
    for view in ("Questions", "Columns", "Numbers", "Peaks", "Tree", "Compare", "Log", "Map"):
        driver.tab(view)
        assert unnamed(page) == []
        assert page.get_by_role("figure").count() == page.evaluate(FIGURES)
        inks = page.evaluate(INKS)
        least = [4.5 if re.search(r"\w", words) else 3 for words, _, _ in inks]
        pale = [one for one, most in zip(inks, least) if contrast(*one[1:]) < most]
        assert pale == []
        seen += len(inks)
    assert seen > 500


FIGURES = f"""(() => {{ {MODELS} const shown = (m) => Bokeh.index.find_one(m)?.el.isConnected
  return all.filter(m => m.type == 'Figure' && shown(m)).length }})()"""  # of Bokeh, in view


def figures(page):
    """Names of pictures in the tree that Chromium itself gives to screen readers."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [one["name"]["value"] for one in nodes if one.get("role", {}).get("value") == "figure"]


def test_pictures_say_what_they_show(page, served):
    driver = Driver(page, served)
    words = r"Map of 30 objects by u and v\. Sets: \{0\} \d+, \{1\} \d+.*\. The table below lists the objects\."
    assert re.fullmatch(words, figures(page)[0])
    page.get_by_label("color by").select_option("v")
    driver.wait()
    assert " Colored by v. " in figures(page)[0]
    page.locator(".tabulator-row input[type=checkbox]").nth(2).click()
    driver.wait()
    assert figures(page)[1] == "Masses as bars. 1 selected: 2."


def test_all_is_done_by_the_keyboard(page, served):
    """Rows are ticked, said to belong together, undone, and another view is opened, without a mouse."""
    driver = Driver(page, served)
    page.locator(".tabulator-row input[type=checkbox]").first.focus()
    for _ in range(2):
        page.keyboard.press("Space")
        driver.wait()
        page.keyboard.press("Tab")
    driver.sees("2 objects selected")
    page.get_by_role("button", name="Belong together").focus()
    page.keyboard.press("Enter")
    driver.wait()
    assert "0 and 1 belong together" in driver.status
    assert page.evaluate(FOCUSED) == "Belong together"  # who is busy is not thrown out
    page.get_by_role("radio", name="Map").focus()
    page.keyboard.press("ArrowRight")
    driver.wait()
    driver.sees("how the pair is chosen")
    slider = page.get_by_role("slider", name="how sure you are")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    driver.sees("how sure you are: 0.95")


FOCUSED = """() => {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return at?.innerText
}"""
