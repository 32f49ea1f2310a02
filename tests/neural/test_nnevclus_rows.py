"""NNEVCLUS on rows that are not in memory: a sample first, and then batches of all of them."""

import pickle
import weakref

import dask.array
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import adjusted_rand_score
from torch import nn

from evidentia import NNEVCLUS, FocalSets, PairwiseConstraints, load_model, open_rows, select
from evidentia.neural import search, streaming
from evidentia.neural.streaming import Stream
from evidentia.partition import LazyPartition
from evidentia.rows.scan import row_hashes
from evidentia.rows.source import Chunk
from evidentia.solvers.descent import InterruptedFit
from odd_rows import OddRows

QUICK = {"n_init": 1, "random_state": 3, "tol": 1e-2, "max_iter": 15}
RESTLESS = pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")
CENTERS = np.array([[0.0, 0.0], [9.0, 1.0], [1.0, 8.0]])


def groups(n, seed=0):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.choice(3, size=n, p=[0.5, 0.3, 0.2])] + rng.normal(size=(n, 2))


def largest_gap(a, b):
    return abs(a - b).max()


def own_module():
    """A module of the user's own with the same weights in every run: the first of the starts takes them as they are."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        return nn.Linear(2, 7)


@pytest.fixture
def small_sample(monkeypatch):
    """A sample of 400 rows."""
    for module in ("rows.scan", "neural.nnevclus"):
        monkeypatch.setattr(f"evidentia.{module}.SKETCH_ROWS", 400)


# -- few rows ----------------------------------------------------------------------------------------------------------


@RESTLESS
@pytest.mark.parametrize("kind", ["npy", "parquet", "odd", "dask"])
def test_few_rows_are_fitted_as_in_memory(kind, tmp_path):
    X = groups(150)
    if kind == "npy":
        np.save(tmp_path / "rows.npy", X)
        rows = open_rows(tmp_path / "rows.npy")
    elif kind == "parquet":
        pd.DataFrame(X, columns=["u", "v"]).to_parquet(tmp_path / "rows.parquet", row_group_size=40)
        rows = open_rows(tmp_path / "rows.parquet")
    elif kind == "odd":
        rows = OddRows(X, size=31, known=False)
    else:
        rows = dask.array.from_array(X, chunks=(40, -1))
    inside, outside = NNEVCLUS(3, outliers=True, **QUICK).fit(X), NNEVCLUS(3, outliers=True, **QUICK).fit(rows)
    assert outside.criterion_ == inside.criterion_
    np.testing.assert_array_equal(outside.criterion_trace_, inside.criterion_trace_)
    assert isinstance(outside.partition_, LazyPartition)
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.asarray(outside.labels_), inside.labels_)
    np.testing.assert_allclose(inside.predict_partition(OddRows(X)).compute().masses, inside.partition_.masses)


# -- many rows ---------------------------------------------------------------------------------------------------------


@RESTLESS
@pytest.mark.parametrize(
    "settings",
    [
        {"focal_sets": "near-pairs", "outliers": True},
        {"metric": "cityblock", "optimizer": "rmsprop", "max_iter": 60, "n_init": 3},
        {"metric": largest_gap, "batch_size": 20, "max_iter": 4},
        {"init": "belief-peaks"},
        {"init": "evclus"},
        {"module": own_module(), "focal_sets": FocalSets(3, "pairs", omega=False), "max_iter": 60, "n_init": 5},
    ],
)
def test_many_rows_are_gone_through_after_a_sample(settings, small_sample):
    X = groups(2_400)
    model = NNEVCLUS(3, **{**QUICK, **settings}).fit(OddRows(X, size=211))
    truth = np.argmin([np.square(X - center).sum(axis=1) for center in CENTERS], axis=0)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert model.criterion_ <= model.start_criteria_.min()
    assert len(model.partition_) == 2_400
    assert len(pickle.dumps(model.partition_._bare()._place)) < 50_000  # what is sent to workers


@RESTLESS
def test_all_rows_count_and_not_the_sample_alone(small_sample, monkeypatch):
    """Inputs are scaled by all rows, each is in a batch of every pass, and what the passes teach is what is kept."""
    monkeypatch.setattr(search, "descend_by_batches", spy := Spy(search.descend_by_batches))
    X = groups(2_400)
    model = NNEVCLUS(3, **QUICK).fit(OddRows(X, size=211))
    np.testing.assert_allclose(model._inputs.center, X.mean(axis=0))
    assert model._inputs.scale == pytest.approx(np.sqrt(X.var(axis=0).mean()))
    of_sample, of_all = spy.batches
    assert {len(batch) for batch in of_sample} <= set(range(128, 256))
    assert set(map(tuple, X)) <= set(map(tuple, np.concatenate(of_all)))
    assert model.n_iter_ == spy.trainings[1].kept  # of the passes
    np.testing.assert_array_equal(model.criterion_trace_[:-1], spy.trainings[1].trace)


class Spy:
    """Remembers the batches of the last epoch of each descent, and how it went."""

    def __init__(self, descend):
        self.descend, self.batches, self.trainings = descend, [], []

    def __call__(self, network, loss, batches, *rest, **more):
        self.batches.append([])

        def seen():
            self.batches[-1] = list(batches())
            return self.batches[-1]

        self.trainings.append(self.descend(network, loss, seen, *rest, **more))
        return self.trainings[-1]


@RESTLESS
def test_the_same_bits_for_any_number_of_threads(small_sample):
    rows = OddRows(groups(2_400), size=211)
    one, two = (NNEVCLUS(3, n_jobs=n_jobs, **QUICK).fit(rows) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.criterion_trace_, two.criterion_trace_)
    np.testing.assert_array_equal(one.partition_.compute().masses, two.partition_.compute().masses)


@RESTLESS
def test_rows_in_the_order_of_their_groups_do_no_harm(small_sample):
    X = groups(2_400)
    ordered = X[np.argsort(np.square(X[:, None] - CENTERS).sum(axis=2).argmin(axis=1), kind="stable")]
    model = NNEVCLUS(3, **QUICK).fit(OddRows(ordered, size=2_400))  # one part, from beginning to end
    assert model.criterion_ <= model.start_criteria_.min()


@RESTLESS
def test_passes_that_do_harm_are_not_kept(small_sample, monkeypatch):
    monkeypatch.setattr(streaming, "LATE", 1e-3)  # steps far too long
    model = NNEVCLUS(3, **QUICK).fit(OddRows(groups(2_400), size=211))
    assert model.criterion_ == model.start_criteria_[0] < 0.1


@RESTLESS
def test_rows_held_back_are_in_no_batch(small_sample, monkeypatch):
    monkeypatch.setattr(search, "descend_by_batches", spy := Spy(search.descend_by_batches))
    X = groups(2_400)
    model = NNEVCLUS(3, early_stopping=True, validation_fraction=0.2, **QUICK).fit(OddRows(X, size=211))
    assert len(model.validation_trace_)
    assert len(set(map(tuple, X)) - set(map(tuple, np.concatenate(spy.batches[1])))) == 80


@RESTLESS
def test_select_and_a_checkpoint(small_sample, tmp_path):
    rows = OddRows(groups(2_100), size=211)
    found = select(rows, NNEVCLUS(**QUICK), n_clusters=[2, 3], random_state=0)
    assert found.best == ("NNEVCLUS", 3)
    model = NNEVCLUS(3, n_init=1, max_iter=3)  # no seed but the file's
    ends = [model.fit(rows, checkpoint=tmp_path / "run.npz").criterion_ for _ in range(2)]
    assert ends[0] == ends[1]


@RESTLESS
def test_a_model_goes_through_a_file(small_sample, tmp_path):
    X = groups(2_100)
    model = NNEVCLUS(3, **QUICK).fit(OddRows(X, size=211))
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert not hasattr(again, "partition_")  # of rows that are not in memory
    np.testing.assert_allclose(again.predict_partition(X).masses, model.partition_.compute().masses, atol=1e-6)


# -- batches -----------------------------------------------------------------------------------------------------------


def stream_of(rows, sample, n_rows, mean_weight=1.0, held_back=()):
    return Stream(rows, n_rows, mean_weight, sample, row_hashes(np.asarray(held_back, dtype=float).reshape(-1, 2)))


def test_every_row_is_once_in_a_pass_and_half_of_a_batch_are_of_the_sample():
    X, sample = groups(1_000), -1e6 - np.arange(60.0).reshape(30, 2)
    rng = np.random.RandomState(0)
    passes = [list(stream_of(OddRows(X, size=150), sample, 1_000).batches(50, rng)) for _ in range(2)]
    for batches in passes:
        of_rows = [batch[batch[:, 0] > -1e5] for batch in batches]
        assert [len(batch) - len(part) for batch, part in zip(batches, of_rows)] == [25] * len(batches)
        assert min(map(len, of_rows)) >= 25
        assert sorted(map(tuple, np.concatenate(of_rows))) == sorted(map(tuple, X))
        places = [{int(np.flatnonzero((row == X).all(axis=1))[0]) // 150 for row in part} for part in of_rows[:5]]
        assert min(map(len, places)) > 3  # one batch is from several parts of the source
    assert not np.array_equal(passes[0][0], passes[1][0])


def test_a_row_comes_as_often_as_its_weight_says():
    X, weight = groups(600), np.resize([0.0, 0.5, 1.5, 2.0], 600)
    stream = stream_of(OddRows(X, weight, size=150), np.full((5, 2), -1e6), 450, weight[weight > 0].mean())
    rng, counts = np.random.RandomState(0), np.zeros(600)
    for _ in range(21):
        for batch in stream.batches(64, rng):
            for row in batch[batch[:, 0] > -1e5]:
                counts[np.flatnonzero((row == X).all(axis=1))[0]] += 1
    often = counts.reshape(-1, 4).mean(axis=0) / 21
    np.testing.assert_allclose(often, np.array([0, 0.5, 1.5, 2.0]) / (4 / 3), atol=0.03)


def test_few_chunks_are_in_memory_at_a_time(monkeypatch):
    monkeypatch.setattr(streaming, "PLACES", 3)
    rows = Counting(groups(2_000), size=100)
    n_batches = sum(1 for _ in stream_of(rows, groups(50, 1), 2_000).batches(64, np.random.RandomState(0)))
    assert n_batches >= 50
    assert 3 <= rows.most <= 2 * 3  # those of the next round come before the last are let go


def test_parts_that_need_much_memory_are_read_one_by_one():
    rows = Counting(groups(2_000), size=100)
    rows.needs = streaming.MEMORY
    list(stream_of(rows, groups(50, 1), 2_000).batches(64, np.random.RandomState(0)))
    assert rows.most <= 2


class Counting(OddRows):
    """Counts the chunks that are in memory."""

    now = most = 0
    needs = 1 << 20

    @property
    def working_bytes(self):
        return self.needs

    def read(self, handle):
        for chunk in super().read(handle):
            table = chunk.table.copy()
            self.now += 1
            self.most = max(self.most, self.now)
            weakref.finalize(table, self.gone)
            yield Chunk(table, None, "row ", chunk.first)
            del table, chunk

    def gone(self):
        self.now -= 1


# -- what goes wrong ---------------------------------------------------------------------------------------------------


class Interrupted(OddRows):
    """Rows whose reading is interrupted, once, at some reading of a part."""

    def __init__(self, table, at, **more):
        super().__init__(table, **more)
        self.left = at

    def read(self, handle):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        yield from super().read(handle)


@RESTLESS
@pytest.mark.parametrize(("n_passes", "kept"), [(1, 0), (2, 1), (3, 2)])
def test_an_interrupt_keeps_the_last_whole_pass(n_passes, kept, small_sample):
    X = groups(2_400)
    plain = NNEVCLUS(3, n_init=1, random_state=3, tol=0, max_iter=4).fit(OddRows(X, size=211))
    n_parts = len(OddRows(X, size=211).handles)
    rows = Interrupted(X, at=n_parts * n_passes + 5, size=211)  # the survey is the first reading of all parts
    model = NNEVCLUS(3, n_init=1, random_state=3, tol=0, max_iter=4)
    with pytest.warns(InterruptedFit, match="NNEVCLUS was interrupted"):
        model.fit(rows)
    if kept:
        np.testing.assert_array_equal(model.criterion_trace_[:-1], plain.criterion_trace_[:kept])
    else:
        assert model.criterion_ == model.start_criteria_[0] == plain.start_criteria_[0]
    assert np.isfinite(model.partition_.compute().masses).all()


@RESTLESS
@pytest.mark.parametrize("fault", ["cut", "changed", "gone"])
def test_a_file_that_changes_before_the_passes_is_named(fault, small_sample, tmp_path, monkeypatch):
    file = tmp_path / "rows.npy"
    np.save(file, groups(2_400))
    go_on = search.Search.train_on_stream

    def break_and_go_on(self, *arguments):
        if fault == "gone":
            file.unlink()
        elif fault == "cut":
            file.write_bytes(file.read_bytes()[:9_000])
        else:
            np.save(file, groups(1_700, 1))
        return go_on(self, *arguments)

    monkeypatch.setattr(search.Search, "train_on_stream", break_and_go_on)
    with pytest.raises((ValueError, FileNotFoundError), match=r"rows\.npy"):
        NNEVCLUS(3, **QUICK).fit(open_rows(file))


@RESTLESS
def test_a_loss_that_is_no_number_in_a_pass_keeps_the_network_of_the_sample(small_sample, monkeypatch):
    monkeypatch.setattr(streaming, "LATE", 1e-30)  # steps that lead nowhere
    model = NNEVCLUS(3, **QUICK)
    with pytest.warns(UserWarning, match="The loss of NNEVCLUS stopped being a number in batch . of epoch 0"):
        model.fit(OddRows(groups(2_400), size=211))
    assert model.criterion_ == model.start_criteria_[0]


@pytest.mark.parametrize(
    ("settings", "beside", "words"),
    [
        ({}, {"constraints": PairwiseConstraints([[0, 1]], [True])}, "takes 'constraints' only where all rows are in"),
        ({}, {"partial_labels": np.full(900, -1)}, "takes 'partial_labels' only where all rows are in memory"),
        ({"metric": np.eye(900)}, {}, "takes a matrix as 'metric' only where"),
        ({"metric_learner": object()}, {}, "takes 'metric_learner' only where"),
        ({"init": np.ones((900, 8)) / 8}, {}, "takes masses for 'init' only where"),
        ({"metric": "gower"}, {}, "with metric='gower' needs its table in memory"),
        ({"metric": "precomputed"}, {}, "with metric='precomputed' needs its table in memory"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(settings, beside, words):
    with pytest.raises(TypeError, match=words):
        NNEVCLUS(3, **settings).fit(OddRows(groups(900)), **beside)


@pytest.mark.parametrize(
    ("settings", "what"), [({"n_pairs": 50}, "n_pairs"), ({"optimizer": "lbfgs"}, "optimizer='lbfgs'")]
)
def test_all_pairs_at_once_are_refused_beyond_the_sample(settings, what, small_sample):
    with pytest.raises(ValueError, match=f"NNEVCLUS with {what} looks at all rows at once, but these are 900 that"):
        NNEVCLUS(3, **settings).fit(OddRows(groups(900)))
