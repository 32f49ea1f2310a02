"""BootGMM on rows that are not in memory: replicates by passes, with weights hashed from row and replicate."""

import pickle
import weakref

import dask.array
import numpy as np
import pandas as pd
import pytest

from evidentia import BootGMM, LatentClassMixture, open_rows, select
from evidentia.mixtures import bootgmm, bootstrap
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._replicates import fit_replicates
from evidentia.mixtures.gaussian_rows import AllRows
from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture
from evidentia.partition import LazyPartition
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.scan import Sketch, scan
from evidentia.rows.source import Chunk
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.poisson_weights import poisson_weights
from odd_rows import OddRows

CENTERS = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
QUICK = {"model": "VVV", "n_boot": 40, "random_state": 3}


def groups(n, seed=0):
    rng = np.random.default_rng(seed)
    return CENTERS[rng.choice(3, size=n, p=[0.5, 0.3, 0.2])] + rng.normal(size=(n, 2)) * [1, 0.7]


@pytest.fixture
def small_samples(monkeypatch):
    """A sample of 600 rows, of which 100 have intervals, and 20 replicates at a time."""
    settled = Sketch.keep_smallest
    monkeypatch.setattr(Sketch, "keep_smallest", lambda self: settled(self, 600))
    for module in ("rows.scan", "mixtures.bootgmm"):
        monkeypatch.setattr(f"evidentia.{module}.SKETCH_ROWS", 600)
    monkeypatch.setattr(bootgmm, "OBJECTS_OF_ALL_PAIRS", 100)
    monkeypatch.setattr(bootgmm, "OBJECTS", 200)
    monkeypatch.setattr(bootstrap, "CHUNK", 20)


# -- few rows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy", "parquet", "odd", "dask"])
def test_few_rows_are_fitted_as_in_memory(kind, tmp_path):
    X = groups(120)
    if kind == "npy":
        np.save(tmp_path / "rows.npy", X)
        rows = open_rows(tmp_path / "rows.npy")
    elif kind == "parquet":
        pd.DataFrame(X, columns=["u", "v"]).to_parquet(tmp_path / "rows.parquet", row_group_size=40)
        rows = open_rows(tmp_path / "rows.parquet")
    else:
        rows = OddRows(X, size=31, known=False) if kind == "odd" else dask.array.from_array(X, chunks=(40, -1))
    inside, outside = BootGMM(3, **QUICK).fit(X), BootGMM(3, **QUICK).fit(rows)
    assert (inside.n_sampled_, outside.n_sampled_) == (None, 120)
    assert outside.criterion_ == inside.criterion_
    np.testing.assert_array_equal(outside.intervals_.lower, inside.intervals_.lower)
    assert isinstance(outside.partition_, LazyPartition)
    np.testing.assert_allclose(
        outside.partition_.compute().masses, inside.predict_partition(X).masses, rtol=0, atol=1e-12
    )


def test_of_a_table_with_too_many_pairs_some_rows_have_intervals(small_samples):
    model = BootGMM(3, **QUICK).fit(OddRows(groups(500), size=70))
    assert model.n_sampled_ == 100
    assert len(model.intervals_.pairs) == 100 * 99 / 2
    assert len(model.partition_) == 500


# -- many rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["VVV", "VVI", "EEE"])
def test_replicates_by_passes_are_those_of_the_weights_written_out(model):
    X, replicates, seed = groups(3_000), np.array([2, 7, 11]), 5
    mixture = ParsimoniousGaussianMixture(3, model=model, random_state=0).fit(X)
    table = scan(OddRows(X, size=333), mixing=True, missing=False, who="me")._replace(
        rows=NumberedRows(OddRows(X, size=333))
    )
    settings = {
        "start": mixture._parameters,
        "rule": CovarianceModel(model),
        "tol": 1e-12,
        "max_iter": 60,
        "reg_covar": 1e-8,
    }
    found = AllRows(table, np.arange(2), mixture._em_settings).fit_replicates(replicates, seed, **settings)
    plain = fit_replicates(X, poisson_weights(0, 3_000, replicates, seed), **settings)
    assert len(set(found.log_likelihood)) == 3
    np.testing.assert_allclose(found.log_likelihood, plain.log_likelihood, rtol=1e-11)
    for one, other in zip(found.parameters, plain.parameters):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_pairs", [None, 30])
def test_many_rows_have_intervals_as_long_as_those_in_memory(n_pairs, small_samples):
    X = groups(3_000)
    model = BootGMM(3, **{**QUICK, "n_boot": 200, "n_pairs": n_pairs}).fit(OddRows(X, size=333))
    size = model.n_sampled_
    assert size == (100 if n_pairs is None else 200)
    assert model.bootstrap_.n_drawn == 200
    posteriors = model.bootstrap_.posteriors(X[:300])
    inside = BootGMM(3, **{**QUICK, "n_boot": 200, "n_pairs": 4}).fit(X)  # draws rows, as in the paper
    drawn = inside.bootstrap_.posteriors(X[:300])
    order = [np.linalg.norm(inside.mixture_.means_ - mean, axis=1).argmin() for mean in model.mixture_.means_]
    ours, theirs = posteriors.std(axis=2), drawn[order].std(axis=2)
    torn = ours.max(axis=0) > 0.005
    assert torn.sum() > 30
    assert np.median(ours[:, torn].max(axis=0) / theirs[:, torn].max(axis=0)) == pytest.approx(1, abs=0.15)
    truth = np.argmin([np.square(X - center).sum(axis=1) for center in CENTERS], axis=0)
    assert (np.asarray(model.labels_) == truth).mean() > 0.93
    assert len(pickle.dumps(model.partition_._bare()._place)) < 300_000  # what is sent to workers


def test_numbers_and_models_are_averaged_over(small_samples):
    X = groups(2_500)
    model = BootGMM(n_boot=40, model=["EEE", "VVI", "VVV"], cluster_range=(2, 4), random_state=0)
    model.fit(OddRows(X, size=333))
    assert model.n_clusters_ == 3
    assert model.number_support_.sum() == pytest.approx(1)
    assert model.merge_share_.shape == (3, 3)
    assert "Number of clusters, with its support" in model.summary()


def test_the_same_bits_for_any_number_of_threads_and_nearly_for_other_parts(small_samples):
    X = groups(2_000)
    one = BootGMM(3, n_jobs=1, **QUICK).fit(OddRows(X, size=333))
    two = BootGMM(3, n_jobs=2, **QUICK).fit(OddRows(X, size=333))
    other = BootGMM(3, **QUICK).fit(OddRows(X, size=190, known=False))
    np.testing.assert_array_equal(one.intervals_.lower, two.intervals_.lower)
    np.testing.assert_array_equal(one.partition_.compute().masses, two.partition_.compute().masses)
    np.testing.assert_allclose(other.intervals_.lower, one.intervals_.lower, atol=1e-4)


def test_select_and_a_warm_start(small_samples):
    rows = OddRows(groups(2_000), size=333)
    found = select(rows, BootGMM(**QUICK), n_clusters=[2, 3], random_state=0)
    assert found.table["ebic"].notna().all()
    assert found.best == ("BootGMM", 3)
    model = BootGMM(3, warm_start=True, **{**QUICK, "n_boot": 20}).fit(rows)
    first = model.bootstrap_.chunks[0]
    model.set_params(n_boot=40).fit(rows)
    assert model.bootstrap_.chunks[0] is first
    whole = BootGMM(3, **QUICK).fit(rows)
    np.testing.assert_array_equal(model.intervals_.lower, whole.intervals_.lower)


def test_few_chunks_are_in_memory_at_a_time(small_samples):
    rows = Counting(groups(4_000), size=100)
    BootGMM(3, n_jobs=1, **{**QUICK, "n_boot": 20}).fit(rows)
    assert rows.total > 400
    assert rows.most <= 3


class Counting(OddRows):
    """Counts the chunks that are in memory, and those that were."""

    now = most = total = 0

    def read(self, handle):
        for chunk in super().read(handle):
            table = chunk.table.copy()
            self.now, self.total = self.now + 1, self.total + 1
            self.most = max(self.most, self.now)
            weakref.finalize(table, self.gone)
            yield Chunk(table, None, "row ", chunk.first)
            del table, chunk

    def gone(self):
        self.now -= 1


# -- what goes wrong ---------------------------------------------------------------------------------------------------


class Interrupted(OddRows):
    """Rows whose reading is interrupted, once, in some pass."""

    passes = None

    def read(self, handle):
        if self.passes is not None and handle == self.handles[3]:
            self.passes -= 1
            if self.passes == 0:
                raise KeyboardInterrupt
        yield from super().read(handle)


def test_an_interrupt_keeps_the_replicates_that_are_finished(small_samples, monkeypatch):
    rows, fit = Interrupted(groups(2_000), size=333), bootgmm.GaussianAverage.fit_each
    monkeypatch.setattr(bootgmm.GaussianAverage, "fit_each", lambda *a: (fit(*a), setattr(rows, "passes", 2))[0])
    model = BootGMM(3, n_jobs=1, **QUICK)
    with pytest.warns(InterruptedFit, match="interrupted after 20 of 40 replicates"):
        model.fit(rows)
    assert model.bootstrap_.n_drawn == 20
    assert np.isfinite(model.partition_.compute().masses).all()


def test_an_interrupt_of_the_mixture_ends_the_fit(small_samples):
    rows = Interrupted(groups(2_000), size=333)
    rows.passes = 5  # the third over all rows with a mixture, after a count and a survey
    with pytest.raises(KeyboardInterrupt, match="BootGMM was interrupted before its first fit was complete"):
        BootGMM(3, n_jobs=1, **QUICK).fit(rows)


def test_a_checkpoint_goes_on_with_the_same_bits(small_samples, tmp_path, monkeypatch):
    rows, fit = Interrupted(groups(2_000), size=333), AllRows.fit_replicates
    whole = BootGMM(3, **QUICK).fit(rows)

    def fit_and_stop(self, *arguments, **more):
        rows.passes = 3
        return fit(self, *arguments, **more)

    monkeypatch.setattr(AllRows, "fit_replicates", fit_and_stop)
    with pytest.raises(KeyboardInterrupt):
        BootGMM(3, n_jobs=1, **QUICK).fit(rows, checkpoint=tmp_path / "run.npz")
    monkeypatch.setattr(AllRows, "fit_replicates", fit)
    again = Counting(rows.table, size=333)
    resumed = BootGMM(3, n_jobs=1, **QUICK).fit(again, checkpoint=tmp_path / "run.npz")
    np.testing.assert_array_equal(resumed.intervals_.lower, whole.intervals_.lower)
    anew = Counting(rows.table, size=333)
    BootGMM(3, n_jobs=1, **QUICK).fit(anew)
    assert again.total < anew.total


@pytest.mark.parametrize("fault", ["cut", "changed", "gone"])
def test_a_file_that_changes_between_passes_is_named(fault, small_samples, tmp_path, monkeypatch):
    file, fit = tmp_path / "rows.npy", AllRows.fit_replicates
    np.save(file, groups(2_000))

    def break_and_fit(self, *arguments, **more):
        if fault == "gone":
            file.unlink()
        elif fault == "cut":
            file.write_bytes(file.read_bytes()[:9_000])
        else:
            np.save(file, groups(2_100, 1))
        return fit(self, *arguments, **more)

    monkeypatch.setattr(AllRows, "fit_replicates", break_and_fit)
    with pytest.raises((ValueError, FileNotFoundError), match=r"rows\.npy"):
        BootGMM(3, **QUICK).fit(open_rows(file))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mixture": LatentClassMixture(2)}, "takes 'mixture' only where all rows are in memory"),
        ({"parametric": True}, "takes 'parametric' only where all rows are in memory"),
    ],
)
def test_what_needs_rows_in_memory_is_refused(settings, words):
    with pytest.raises(TypeError, match=words):
        BootGMM(3, **settings).fit(OddRows(groups(100)))


def test_weights_are_refused():
    with pytest.raises(TypeError, match="BootGMM draws every row alike"):
        BootGMM(3).fit(OddRows(groups(100), np.ones(100)))
