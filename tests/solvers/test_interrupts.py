"""Compiled loops hear an interrupt: they are given their work in parts, and parts change no bit of the result."""

import os
import signal
import subprocess
import sys
import time
import warnings
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from evidentia import methods
from evidentia.constraints import PairwiseConstraints
from evidentia.hierarchy import BeliefHierarchical, _merge
from evidentia.mixtures import EGMM, BootGMM, ParsimoniousGaussianMixture
from evidentia.prototypes import CECM, ECM
from evidentia.relational import CEVCLUS, EVCLUS, EkNNclus
from evidentia.solvers import compiling, soft_warping

X, Y = make_blobs(90, centers=3, cluster_std=1.7, random_state=5)
LINKS = {"constraints": PairwiseConstraints.sample(Y, 40, random_state=1)}
METHODS = {
    "trees": (BeliefHierarchical(3), {}),
    "trees of far objects": (BeliefHierarchical(3, linkage="average", gamma=1e4), {}),
    "trees of masses": (BeliefHierarchical(3, linkage="product"), {}),
    "agglomerations": (EGMM(3, model="VVV"), {}),
    "replicates": (BootGMM(3, model="EEE", n_boot=20, random_state=0), {}),
    "linked masses": (CECM(3, n_init=2, random_state=0), LINKS),
    "labels of neighbors": (EkNNclus(n_neighbors=9, random_state=0), {}),
    "masses of pairs": (EVCLUS(3, n_pairs=8, n_init=1, random_state=0), {}),
    "masses of all pairs": (EVCLUS(4, n_init=1, random_state=0), {}),
    "masses of groups": (EVCLUS(3, n_pairs=40, n_init=1, random_state=0), {}),
    "sums of posteriors": (EGMM(3, model="EEE", random_state=0), {}),
    "sums of costs": (ECM(3, n_init=2, random_state=0), {}),
    "mixtures": (ParsimoniousGaussianMixture(3, random_state=0), {}),
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


SERIES = [np.cumsum(np.random.default_rng(i).normal(size=(12 + i % 5, 2)), axis=0) for i in range(20)]


def test_series_are_warped_in_small_parts_with_the_same_bits(monkeypatch):
    def warp():
        alike = soft_warping.divergence(SERIES, None, 0.5), soft_warping.divergence(SERIES[:3], SERIES[3:], 0.5)
        value, shares = soft_warping.align(SERIES[0], SERIES[1], 0.5)
        _, slope, mass = soft_warping.weighted_divergence(SERIES[0], SERIES, np.arange(1.0, 21.0), 0.5)
        return [*alike, np.array(value), shares, slope, mass]

    whole = warp()
    monkeypatch.setattr(compiling, "MOMENT", 200.0)
    for found, wanted in zip(warp(), whole):
        np.testing.assert_array_equal(found, wanted)


def longest_silence(work, seconds):
    """How long, by the clock of the processor, Python hears no signal in so many seconds of work and the end of it."""
    beats, asked = [time.process_time()], []

    def beat(*_):
        beats.append(time.process_time())
        if beats[-1] - beats[0] > seconds and not asked:
            asked.append(beats[-1])
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, beat)
    signal.setitimer(signal.ITIMER_PROF, 0.05, 0.05)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    beats.append(time.process_time())
    return max(later - earlier for earlier, later in pairwise(beats)), beats[-1] - asked[0] if asked else 0.0


def fit_some(cls, n, columns):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, n)
    rows = rng.normal(size=(n, columns)) + 2 * rng.normal(size=(6, columns))[truth]
    table = rows.round().clip(-2, 2).astype(int) if "table" not in cls.method.reads else rows
    if cls.method.reads_views:
        table = [rows, rng.normal(size=rows.shape)]
    if "views of dissimilarities" in cls.method.reads:
        table = [cdist(view, view) for view in table]
    wanted = {"n_jobs": 1, "random_state": 0, **cls.method.quick, "n_clusters": 6}
    more = {"y": truth} if "labels" in cls.method.takes and cls.method.learner else {}
    if "links" in cls.method.takes:
        more["constraints"] = PairwiseConstraints.sample(truth, n // 5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(**{name: value for name, value in wanted.items() if name in cls.parameters})
        model.fit(table, **more)


HERE = [name for name in methods.all_methods() if name != "nnevclus" or find_spec("torch")]  # an extra


@pytest.mark.parametrize("name", HERE)
def test_every_method_hears_a_signal_at_any_time(name):
    cls = methods.all_methods()[name]
    longest_silence(lambda: fit_some(cls, 150, 4), 20.0)  # compile
    silence, end = longest_silence(lambda: fit_some(cls, 1_200, 8), 1.5)
    assert silence < 1.5
    assert end < 3


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_pairs", [None, 55])
def test_a_sweep_over_many_sets_hears_a_signal(n_pairs):
    model, rows = EVCLUS(24, n_pairs=n_pairs, random_state=0, n_init=1, n_jobs=1), np.tile(X, (2, 1)) + np.eye(180, 2)
    EVCLUS(3, n_pairs=n_pairs, random_state=0, max_iter=2).fit(rows)  # compile
    silence, end = longest_silence(lambda: model.fit(rows), 1.0)
    assert silence < 1.5
    assert end < 3
