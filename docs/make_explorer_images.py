"""Take the pictures of the explorer again: ``PYTHONPATH=tests python docs/make_explorer_images.py``, with a browser."""

import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from app.explorer.conftest import browser_path
from app.explorer.driving import Driver, around
from app.explorer.served import Served
from evidentia.datasets import load

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1360, "height": 860}
FRAME = (900, 569)


def image_page(playwright, folder):
    """Strokes over a picture of Saturn-like rings, made here."""
    y, x = np.mgrid[:120, :160]
    far = np.hypot(x - 80, 1.4 * (y - 60))
    level = np.select([far < 22, far < 34, far < 60], [205, 150, 95], 35) + np.random.default_rng(0).normal(
        0, 14, far.shape
    )
    path = Path(folder) / "rings.png"
    Image.fromarray(np.clip(level, 0, 255).astype(np.uint8)).save(path)
    with Served(path, "--clusters", 3, "--port", 5990) as served:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        driver = Driver(page, served)
        driver.drag("segments", [(70, 60), (80, 66), (92, 58)])
        page.get_by_role("radio", name="pink: another segment").click()
        driver.wait()
        driver.drag("segments", [(55, 60), (60, 72), (75, 79)])
        driver.click("Segment again")
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "explorer-image.png")
        browser.close()


def main():
    frames = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        image_page(playwright, folder)
        table = Path(folder) / "iris.csv"
        load("iris", as_frame=True).data.to_csv(table, index=False)
        with Served(table) as served:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE)
            driver = Driver(page, served)

            def shot(name=None, seconds=1.5):
                page.evaluate("window.scrollTo(0, 0)")
                page.wait_for_timeout(500)
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                if name is not None:
                    picture.save(IMAGES / f"explorer-{name}.png", optimize=True)
                if seconds:
                    frames.append((picture.resize(FRAME, Image.Resampling.LANCZOS), int(1000 * seconds)))

            shot("map")
            x, y = np.array(driver.data("map", "x")), np.array(driver.data("map", "y"))
            some = np.array([70, 77, 83, 126, 133])  # between two species
            driver.drag("map", around(x[some].mean(), y[some].mean(), 0.09 * np.ptp(x), 0.09 * np.ptp(y)))
            shot("lasso", 2)
            driver.click("Belong together")
            shot("together", 2.5)
            driver.tab("Questions")
            shot("question", 2)
            driver.click("Yes, together")
            driver.tab("Compare")
            shot("compare", 2.5)
            driver.tab("Numbers")
            shot("numbers", 0)
            driver.tab("Tree")
            driver.click("Build the tree (method bhc)")
            shot("tree", 0)
            browser.close()
    pictures = [picture.quantize(128, dither=Image.Dither.NONE) for picture, _ in frames]
    pictures[0].save(
        IMAGES / "explorer.gif", save_all=True, append_images=pictures[1:], loop=0, optimize=True,
        duration=[time for _, time in frames],
    )  # fmt: skip


if __name__ == "__main__":
    main()
