"""What every test may use: reference numbers, a plotting backend without windows, settled hypothesis."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"  # before anyone imports matplotlib: no test opens a window
os.environ["SCIPY_ARRAY_API"] = "1"  # before anyone imports SciPy: scikit-learn then runs its array check too
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anyone imports NumPy or torch: tests share the cores already

# The same examples in every run, and no deadline: a busy machine is not a bug.
settings.register_profile("evidentia", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("evidentia")

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("EVIDENTIA_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def reference():
    """Load a JSON file of reference numbers by name: ``reference("makeF")``."""

    def load(name):
        path = DATA.parent / "reference" / f"{name}.json"
        if not path.exists():
            pytest.skip(f"no reference numbers at {path}: set EVIDENTIA_DATA to the data directory beside 'reference'")
        return json.loads(path.read_text(encoding="utf-8"))

    return load


def _skip_without_the_data():
    """A set that is not on this machine is no failure where the data directory is absent altogether."""
    try:
        return (yield)
    except FileNotFoundError as error:
        about_data = "EVIDENTIA_DATA" in str(error) or str(DATA.parent) in str(error)
        if DATA.is_dir() or not about_data:  # any other missing file is a failure
            raise
        pytest.skip(f"no data directory: {error}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from _skip_without_the_data())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from _skip_without_the_data())
