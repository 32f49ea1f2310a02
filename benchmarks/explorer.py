"""The explorer in a browser without a window: seconds from a gesture until Python has answered and the page is drawn.

Beside them stand the CPU seconds of the server and of the browser, which others on the machine hardly disturb. Needs
Chromium and the extra ``explorer-test``; without a graphics card, so that drawing is in software.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.harness import ROOT, Line, duration
from benchmarks.processes import usage

# Most seconds, by number of objects: page ready, lasso, another color, what is said -> fitted -> drawn, an answer.
TARGETS = {150: (3, 0.3, 0.5, 1, 1), 5_000: (3, 0.3, 0.5, 1, 1), 20_000: (3, 1.5, 1.5, 1.5, 1.5), 100_000: None}


def write_table(path: Path, n: int) -> None:
    """Three groups in four columns."""
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0, 0, 0], [6, 0, 3, 0], [2, 6, 0, 3]])
    rows = centers[rng.integers(3, size=n)] + rng.standard_normal((n, 4))
    pd.DataFrame(rows, columns=[f"x{j}" for j in range(4)]).to_csv(path, index=False)


class Took(NamedTuple):
    """Seconds on the clock, and CPU seconds of the server and of the browser with its driver."""

    wall: float
    server: float
    browser: float


class Watch:
    """Measures what is done in a page.

    Parameters
    ----------
    page : Page of Playwright
    server : int
        Number of the process that serves it.
    """

    def __init__(self, page: Any, server: int):
        self.page, self.server = page, server

    def _cpu(self) -> tuple[float, float]:
        server = usage(self.server).cpu
        return server, usage(os.getpid()).cpu - server - time.process_time()

    def took(self, do: Callable[[], Any]) -> Took:
        """Until Python has answered what was done, and two more frames were drawn; then a rest, which counts as CPU."""
        from app.explorer.driving import COUNTER

        seen, before = self.page.evaluate(COUNTER), self._cpu()
        start = time.monotonic()
        do()
        self.page.wait_for_function(f"{COUNTER} > {seen}", polling=10)
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        wall = time.monotonic() - start
        self.page.wait_for_timeout(500)
        after = self._cpu()
        return Took(wall, after[0] - before[0], after[1] - before[1])


def lines(quick: bool) -> Iterator[Line]:
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "tests"))
    from shutil import which

    from app.explorer.conftest import BROWSERS
    from app.explorer.served import Served

    path = next(filter(None, map(which, BROWSERS)), None)
    if path is None:
        yield Line("explorer", "", "", "", "no browser", "", None)
        return
    for n in [150] if quick else TARGETS:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            table = Path(folder) / "table.csv"
            write_table(table, n)
            with Served(table, "--method", "cecm", "--clusters", 3, "--port", 5806) as served:
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
                yield from measured(browser, served, n)
                browser.close()


def measured(browser: Any, served: Any, n: int) -> Iterator[Line]:
    from app.explorer.driving import Driver, around

    warm = browser.new_page()
    Driver(warm, served)  # the first fit compiles
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    watch = Watch(page, served.process.pid)
    found = {"page ready": watch.took(lambda: page.goto(served.url, wait_until="commit"))}
    warm.close()
    one = Driver(page, served)
    x, y = np.array(one.data("map", "x")), np.array(one.data("map", "y"))
    loop = around(x[0], y[0], 0.05 * np.ptp(x), 0.05 * np.ptp(y))
    places = one.places("map", loop)

    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    page.wait_for_timeout(500)  # the line is drawn while the mouse moves; measured is what comes after
    found["lasso"] = watch.took(page.mouse.up)
    found["another color"] = watch.took(lambda: page.get_by_label("color by").select_option("x1"))
    together = page.get_by_role("button", name="Belong together", exact=True)
    watch.took(together.click)  # the first linked fit compiles
    watch.took(page.get_by_role("button", name="↶ Undo", exact=True).click)
    found["together, fitted, drawn"] = watch.took(together.click)
    one.tab("Questions")
    page.get_by_text("belong together? So far").wait_for()  # an answer before there is a question is refused at once
    found["answer, fitted, drawn"] = watch.took(page.get_by_role("button", name="Yes, together").click)
    targets = TARGETS[n] or [None] * len(found)
    for (what, took), most in zip(found.items(), targets):
        goal = "" if most is None else f"< {most:g} s"
        cpu = f"CPU {took.server:.2f} + {took.browser:.2f} s"
        yield Line(f"explorer: {what}", f"{n:,} objects", duration(took.wall), "", cpu, goal, most and took.wall < most)
