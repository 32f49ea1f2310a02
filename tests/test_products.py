"""No infinity and no NaN goes into a matrix product, whatever becomes of the clusters."""

import json
import os
import subprocess
import sys
from pathlib import Path

from test_every_estimator import ESTIMATORS

WATCHED = Path(__file__).with_name("watched_products.py")


def test_only_finite_numbers_enter_the_products_of_every_estimator():
    here = os.pathsep.join([str(WATCHED.parents[1]), os.environ.get("PYTHONPATH", "")])
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": here}  # compiled functions have products too
    report = json.loads(subprocess.check_output([sys.executable, WATCHED], env=plain, text=True))
    assert list(report) == ESTIMATORS
    assert {name: found["bad"] for name, found in report.items() if found["bad"]} == {}
    for name, found in report.items():  # the test has looked: tables were fitted, and products were met
        assert found["fitted"] >= 3, (name, found["refusals"])
        assert found["looked_at"] >= 10, name
