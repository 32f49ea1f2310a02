"""What the tests of the package may use: reference numbers, settled hypothesis, data that may be absent."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, and no deadline: a busy machine is not a bug.
settings.register_profile("evidentia", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("evidentia")

REFERENCE = Path(__file__).parent / "reference"


@pytest.fixture(scope="session")
def reference():
    """Load a JSON file of reference numbers by name: ``reference("makeF")``."""
    return lambda name: json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


# -- data that may not be distributed: the only reason to skip a test, but for a missing browser -----------------------


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "needs_data(*names): needs data sets whose files we may not distribute; '{x}' stands for the parameter x. "
        "Skipped where they are absent, failed if EVIDENTIA_REQUIRE_DATA is 1.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    import numpy as np

    np.random.seed(0)  # noqa: NPY002  scikit-learn's checks draw from it: the order of tests must not matter
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    for mark in item.iter_markers("needs_data"):
        skip_without_data(*(name.format(**parameters) for name in mark.args))


def skip_without_data(*names, allow_module_level=False):
    """Skip the test at hand where data sets are absent, and say which files it needs; all of them if none is named."""
    from evidentia.datasets.loading import BUILT_IN, data_directory, find_location
    from evidentia.datasets.registry import find, registry

    entries = [find(name) for name in names] or [it for it in registry().values() if it.name not in BUILT_IN]
    files = [
        file for it in entries if find_location(it, data_directory()) not in ("here", "cached") for file in it.files
    ]
    if not files:
        return
    shown = ", ".join(files if len(files) < 5 else [*files[:3], f"and {len(files) - 3} more files"])
    reason = f"needs {shown}: set EVIDENTIA_DATA to a directory that holds them"
    if os.environ.get("EVIDENTIA_REQUIRE_DATA") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=allow_module_level)
