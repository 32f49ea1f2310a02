"""Threads of compiled loops: the same bits for any number of them, none left behind, settings as before."""

import threading

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

from evidentia.constraints import PairwiseConstraints
from evidentia.hierarchy import BeliefHierarchical, _merge
from evidentia.mixtures import BootGMM
from evidentia.prototypes import BPEC
from evidentia.relational import CEVCLUS, EVCLUS, EkNNclus
from evidentia.solvers import irqp as sweeps
from evidentia.solvers import neighbors, pair_quantiles
from evidentia.solvers.threads import n_threads, thread_pool, threads

X, Y = make_blobs(421, centers=4, cluster_std=1.7, random_state=5)
LINKS = PairwiseConstraints.sample(Y, 60, random_state=1)
METHODS = {
    "evclus": EVCLUS(3, n_init=2, random_state=0),
    "evclus, groups": EVCLUS(3, focal_sets="simple", n_pairs=8, n_init=2, random_state=0, tol=1e-3),
    "evclus, partners": EVCLUS(3, n_init=1, random_state=0, tol=1e-3),
    "cevclus": CEVCLUS(3, n_init=1, random_state=0, tol=1e-3),
    "cevclus, groups": CEVCLUS(3, n_pairs=8, n_init=1, random_state=0, tol=1e-3),
    "eknnclus": EkNNclus(n_neighbors=9, random_state=0),
    "bpec": BPEC(3, n_neighbors=20),
    "bhc, products": BeliefHierarchical(3, linkage="product", n_groups=60, random_state=0),
    "bootgmm": BootGMM(3, model="EEE", n_boot=20, n_pairs=6, random_state=0, tol=1e-3),
    "bootgmm, all pairs": BootGMM(3, model="EEE", n_boot=20, random_state=0, tol=1e-3),
}


@pytest.fixture
def any_size(monkeypatch):
    """Threads at work however small the table; gives the numbers of threads that were."""
    seen = []

    def noted(workers):
        seen.append(workers)
        return thread_pool(workers)

    for module in (sweeps, neighbors, pair_quantiles, _merge):
        monkeypatch.setattr(module, "ALONE", 0)
        monkeypatch.setattr(module, "thread_pool", noted)
    monkeypatch.setattr(neighbors, "ROWS", 50)
    monkeypatch.setattr(sweeps, "BLOCK", 64)
    monkeypatch.setattr(sweeps, "PART", 16)
    return seen


def settings():
    """Threads of compiled loops and of linear algebra, and threads that a thread_pool left behind."""
    of_loops = numba.get_num_threads()  # loads a library at its first call
    left = [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
    return of_loops, {library["filepath"]: library["num_threads"] for library in threadpool_info()}, left


def fitted(name, n_jobs):
    model = clone(METHODS[name]).set_params(n_jobs=n_jobs)
    told = {"constraints": LINKS} if "links" in model.method.takes else {}
    if name == "evclus, partners":
        rng = np.random.default_rng(0)
        model.n_pairs = (np.arange(len(X))[:, None] + 1 + rng.integers(0, len(X) - 1, (len(X), 5))) % len(X)
    model.fit(X, **told)
    return model.partition_.masses, model.predict_partition(X[:90] + 0.1).masses


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", METHODS)
def test_the_number_of_threads_changes_no_bit_and_no_setting(name, any_size):
    with threadpool_limits(2):
        before = settings()
        one, *others = (fitted(name, n_jobs) for n_jobs in (1, 2, 3))
        assert settings() == before
    assert set(any_size) == {1, 2, 3}
    for other in others:
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_every_thread_of_a_crew_works_and_asks_for_no_more():
    together = threading.Barrier(3, timeout=30)

    def meet(item):
        together.wait()
        return item, n_threads(), threading.get_ident()

    with threads(3), thread_pool(3) as each:
        met = each(meet, range(3))
    assert [item for item, _, _ in met] == [0, 1, 2]
    assert {asked for _, asked, _ in met} == {1}
    assert len({thread for _, _, thread in met} - {threading.get_ident()}) == 3
    with thread_pool(1) as each:
        assert each(lambda item: threading.get_ident(), [0]) == [threading.get_ident()]


def test_an_error_or_an_interrupt_in_a_crew_reaches_the_caller():
    for kind in (ArithmeticError, KeyboardInterrupt):

        def fail(item, kind=kind):
            raise kind

        before = settings()
        with pytest.raises(kind), thread_pool(2) as each:
            each(fail, range(9))
        assert settings() == before


def test_fits_in_two_threads_at_once(any_size):
    """Each has threads of its own."""
    alone = fitted("evclus, groups", 1)[0], fitted("evclus", 1)[0]
    before = settings()
    with thread_pool(2) as each:
        together = each(lambda name: fitted(name, 2)[0], ["evclus, groups", "evclus"])
    assert settings() == before
    for mine, theirs in zip(alone, together, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def slow_waves(seen):
    wave = np.zeros(len(seen), int)
    for i in range(len(seen)):
        wave[i] = max([wave[j] + 1 for j in range(i) if seen[i, j]], default=0)
    return wave


def test_rows_of_a_wave_do_not_see_each_other_and_all_come_in_turn():
    rng = np.random.default_rng(2)
    seen = rng.random((70, 70)) < 0.06
    seen = (seen | seen.T) & ~np.eye(70, dtype=bool)
    turns = sweeps.waves(csr_array(seen))
    assert 3 < len(turns) < 40
    np.testing.assert_array_equal(np.sort(np.concatenate(turns)), np.arange(70))
    for number, turn in enumerate(turns):
        assert not seen[np.ix_(turn, turn)].any()
        np.testing.assert_array_equal(slow_waves(seen)[turn], number)


def test_links_belong_to_the_waves():
    """Two groups that are not partners, but an expert linked objects of theirs."""
    targets = sweeps.GroupTargets(np.arange(6), np.array([[1], [0], [1]]), np.zeros((1, 3, 2, 2)))
    links = sweeps.Links(np.eye(1), np.array([0, 0, 1, 1, 1, 1, 2]), np.array([5, 1]), np.ones(2), 0.0)
    seen = sweeps._visible_rows(targets, links).toarray()
    np.testing.assert_array_equal(seen, [[0, 1, 1], [1, 0, 0], [1, 1, 0]])


def test_neighbors_of_equal_rows_are_others():
    rows = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 40, axis=0)
    distance, number = neighbors.nearest(rows, 7)
    assert distance.shape == number.shape == (200, 7)
    assert (distance == 0).all()
    found = neighbors.nearest(rows + np.arange(200)[:, None], 3)
    expected = NearestNeighbors(n_neighbors=3).fit(rows + np.arange(200)[:, None]).kneighbors()
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
