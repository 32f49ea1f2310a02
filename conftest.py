"""What holds for every test, of the package, of its docstrings and of its pages."""

import os
import sys

import pytest

os.environ["MPLBACKEND"] = "Agg"  # before anyone imports matplotlib: no test opens a window
os.environ["SCIPY_ARRAY_API"] = "1"  # before anyone imports SciPy: scikit-learn then runs its array check too
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anyone imports NumPy or torch: tests share the cores already


@pytest.fixture(autouse=True)
def _close_figures():
    """Left open they add up, and the twentieth is a warning in a test that did no wrong."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
