"""Compiled loops hear an interrupt: they are given their work in parts, and parts change no bit of the result."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from evidentia.constraints import PairwiseConstraints
from evidentia.hierarchy import BeliefHierarchical, _merge
from evidentia.mixtures import EGMM, BootGMM
from evidentia.prototypes import CECM
from evidentia.relational import CEVCLUS, EVCLUS, EkNNclus
from evidentia.solvers import compiling

X, Y = make_blobs(90, centers=3, cluster_std=1.7, random_state=5)
LINKS = {"constraints": PairwiseConstraints.sample(Y, 40, random_state=1)}
METHODS = {
    "trees": (BeliefHierarchical(3), {}),
    "trees of far objects": (BeliefHierarchical(3, linkage="average", gamma=1e4), {}),
    "agglomerations": (EGMM(3, model="VVV"), {}),
    "replicates": (BootGMM(3, model="EEE", n_boot=20, random_state=0), {}),
    "linked masses": (CECM(3, n_init=2, random_state=0), LINKS),
    "labels of neighbors": (EkNNclus(n_neighbors=9, random_state=0), {}),
    "masses of pairs": (EVCLUS(3, n_pairs=8, n_init=1, random_state=0), {}),
    "masses of linked pairs": (CEVCLUS(3, n_init=1, random_state=0), LINKS),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_work_in_small_parts_has_the_same_bits(name, monkeypatch):
    model, more = METHODS[name]
    whole = model.fit(X, **more).partition_.masses
    monkeypatch.setattr(compiling, "MOMENT", 200.0)
    monkeypatch.setattr(_merge, "MOMENT", 200.0)
    np.testing.assert_array_equal(model.fit(X, **more).partition_.masses, whole)


TREE_OF_TIES = """
import signal
import numpy as np
from evidentia.hierarchy._merge import LINKS, merge_by_distance
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
for n in (10, 6_000):
    squared, size = np.ones(n * (n - 1) // 2), np.ones(n)
    print(n, flush=True)
    merge_by_distance(squared, size, LINKS["ward"], 1.0, 0.95, True)
"""


def test_a_long_loop_hears_an_interrupt_from_the_keyboard():
    fitting = subprocess.Popen([sys.executable, "-c", TREE_OF_TIES], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert [fitting.stdout.readline() for _ in range(2)] == [b"10\n", b"6000\n"]
    time.sleep(2)
    assert fitting.poll() is None
    began = time.monotonic()
    os.kill(fitting.pid, signal.SIGINT)
    _, said = fitting.communicate(timeout=120)
    assert b"KeyboardInterrupt" in said
    assert time.monotonic() - began < 15
