"""A real browser, or another user, for the tests that need one; without it they are skipped, and say why."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from urllib.parse import urlsplit

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser_path():
    """Where Chromium is. Without it, or without Playwright, skip; fail if EVIDENTIA_REQUIRE_BROWSER is 1."""
    named = os.environ.get("EVIDENTIA_BROWSER")
    path = shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)
    if path and find_spec("playwright"):
        return path
    reason = (
        f"no browser tests: {'no Playwright (pip install evidentia[explorer-test])' if path else 'no Chromium found'}"
        + ("" if path else " (apt install chromium, or set EVIDENTIA_BROWSER)")
    )
    if os.environ.get("EVIDENTIA_REQUIRE_BROWSER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def as_nobody():
    """Run a command as another user of this machine, ``as_nobody("cat", file)``, which only root can; else skip."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        pytest.skip("no test as another user: only root can act as one")

    def run(*command):
        who = {"user": 65534, "group": 65534, "extra_groups": []}
        return subprocess.run(list(map(str, command)), capture_output=True, timeout=60, cwd="/", **who)

    return run


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, for one file of tests: Playwright's event loop would disturb others if it stayed."""
    path = browser_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser):
    """Open pages, ``new_page()``; in the end none of them may have asked another machine or had an error.

    A page has ``outside``, addresses it asked for that are not on this machine, and ``errors``.
    """
    contexts = []

    def opened(**options):
        options.setdefault("viewport", {"width": 1400, "height": 900})
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.outside, page.errors = [], []
        page.on("request", lambda request: _local(request.url) or page.outside.append(request.url))
        page.on("requestfailed", lambda request: page.errors.append(f"{request.url}: {request.failure}"))
        page.on("pageerror", lambda error: page.errors.append(f"{error}: {error.stack}"))
        page.on("console", lambda message: _is_error(message) and page.errors.append(message.text))
        page.on("dialog", lambda dialog: (page.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return page

    yield opened
    pages = [page for context in contexts for page in context.pages]
    found = [(page.outside, page.errors) for page in pages]
    for context in contexts:
        context.close()
    assert found == [([], [])] * len(found)


def _is_error(message):
    return message.type == "error" and not message.location["url"].endswith("/favicon.ico")  # asked for unasked


def _local(url):
    parts = urlsplit(url)
    return parts.scheme in ("file", "data", "blob") or parts.hostname == "127.0.0.1"


@pytest.fixture
def page(new_page):
    """One page."""
    return new_page()
