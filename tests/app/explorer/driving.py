"""Gestures in a page of the explorer: the mouse goes where objects are drawn, and waits until Python has answered."""

import re
import time

import numpy as np

CONTROLS = "button|checkbox|combobox|figure|img|listbox|radio|searchbox|slider|spinbutton|textbox"
MODELS = "const all = [...Bokeh.documents[0]._all_models.values()];"
COUNTER = f"(() => {{ if (!window.Bokeh?.documents?.length) return 0; {MODELS} "
COUNTER += "return all.find(m => m.title == 'counter')?.value ?? 0 })()"
PLACES = f"""([name, points]) => {{ {MODELS}
    const view = Bokeh.index.find_one(all.find(m => m.name == name && m.type == 'Figure'))
    view.canvas_view.el.scrollIntoView({{block: 'center'}})
    const box = view.canvas_view.el.getBoundingClientRect(), frame = view.frame.bbox
    const inside = (at, low, high) => Math.min(Math.max(at, low + 3), high - 3)
    return points.map(([x, y]) => [box.x + inside(view.frame.x_scale.compute(x), frame.left, frame.right),
                                   box.y + inside(view.frame.y_scale.compute(y), frame.top, frame.bottom)]) }}"""
DATA = f"""([name, column, at]) => {{ {MODELS} const figure = all.find(m => m.name == name && m.type == 'Figure')
    return Array.from(figure.renderers.at(at).data_source.get(column)) }}"""


class Driver:
    """A page, its gestures, and a wait for the end of what they set off."""

    def __init__(self, page, served):
        self.page, self.seen = page, 0
        page.goto(served.url)
        self.wait()

    def wait(self, seconds=60, rest=0.15):
        """Until Python has done something more, then nothing for a while: what is late was of an earlier gesture."""
        self.until(lambda: self.page.evaluate(COUNTER) > self.seen, seconds)
        while (count := self.page.evaluate(COUNTER)) > self.seen:
            self.seen = count
            self.page.wait_for_timeout(1000 * rest)

    def until(self, condition, seconds=60):
        """Until something holds that the last gesture brings about."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.status
            self.page.wait_for_timeout(20)

    def click(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()
        self.wait()

    def tab(self, name):
        self.page.get_by_role("radio", name=name, exact=True).click()
        self.wait()

    def places(self, figure, points):
        """Where points of a figure are on the screen, once it has come to rest."""
        before, found = None, self.page.evaluate(PLACES, [figure, points])
        while found != before:
            self.page.wait_for_timeout(150)
            before, found = found, self.page.evaluate(PLACES, [figure, points])
        return found

    def drag(self, figure, points):
        """Made again if nothing came of it: a gesture is lost on a busy machine while the page is laid out anew."""
        try:
            self._drag_once(figure, points)
            self.wait(20)
        except AssertionError:
            self._drag_once(figure, points)
            self.wait()

    def _drag_once(self, figure, points):
        places = self.places(figure, points)
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=6)
        self.page.mouse.up()

    def tap(self, figure, point, *, shift=False):
        (place,) = self.places(figure, [point])
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.click(*place)
        if shift:
            self.page.keyboard.up("Shift")
        self.wait()
        self.page.wait_for_timeout(400)  # two quick taps are one double tap

    @property
    def status(self):
        return self.page.locator("[role=status], [role=alert]").first.inner_text()

    def sees(self, words):
        """Wait until some words stand on the page."""
        self.page.get_by_text(words).first.wait_for(timeout=20_000)

    def data(self, figure, column, renderer=-1):
        return self.page.evaluate(DATA, [figure, column, renderer])


def around(x, y, width, height):
    """A loop around a place."""
    angle = np.linspace(0, 2 * np.pi, 16)
    return np.column_stack([x + width * np.cos(angle), y + height * np.sin(angle)]).tolist()


def unnamed(page):
    """Controls and pictures in the tree that screen readers are given, and that have no name."""
    lines = page.locator("body").aria_snapshot().splitlines()
    return [line.strip() for line in lines if re.match(rf"\s*- '?({CONTROLS})(?! \")", line)]
