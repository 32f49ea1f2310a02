"""Every estimator at its defaults in a process of its own where any warning is an error, while packages load too."""

import json
import os
import subprocess
import sys

import pytest

ALL = """
import json
import numpy as np
from evidentia import PairwiseConstraints, methods

rng = np.random.default_rng(0)
group = np.arange(60) // 30
X = rng.normal(size=(60, 3)) + 9 * group[:, None]
links = PairwiseConstraints.sample(group, 20, random_state=0)
told = {}
for name, cls in methods.all_methods().items():
    takes, learner = cls.method.takes, cls.method.learner
    more = {"constraints": links} if "links" in takes else {}
    more |= {"y": group} if "labels" in takes and learner else {}
    given = {"random_state": 0} if "random_state" in cls.parameters else {}
    table = (X > 4).astype(int) if "categories" in cls.method.reads else X
    if cls.method.reads_views:
        D = np.abs(X[:, :1] - X[:, 0])
        table = [D, 2 * D] if "views of dissimilarities" in cls.method.reads else [X, X[:, :2]]
    try:
        model = cls(**given).fit(table, **more)
        new = model.transform(table) if learner else model.predict(table)
    except Warning as warning:
        told[name] = repr(warning)
        continue
    assert len(new) == len(X)
print(json.dumps(told))
"""


@pytest.mark.parametrize("how", ["the option", "the environment"])
def test_no_estimator_warns_at_its_defaults(how):
    options = ["-W", "error"] if how == "the option" else []
    environment = {**os.environ, "PYTHONWARNINGS": "error" if how == "the environment" else ""}
    done = subprocess.run(
        [sys.executable, *options, "-c", ALL], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {}
