"""Methods that are fitted to a sample of rows that are not in memory, and place all of them."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from evidentia import CEVCLUS, EVCLUS, select
from evidentia.partition import LazyPartition
from evidentia.relational import evclus
from evidentia.rows import source
from odd_rows import OddRows, Repeated

QUICK = {"n_init": 1, "random_state": 3, "tol": 1e-3}


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [9.0, 1.0], [1.0, 8.0]])
    return centers[rng.choice(3, size=n, p=[0.5, 0.3, 0.2])] + rng.normal(size=(n, 2))


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(evclus, "SAMPLE", 400)
    monkeypatch.setattr(evclus, "SAMPLE_OF_ALL_PAIRS", 150)


@pytest.mark.parametrize("known", [True, False])
def test_few_rows_are_fitted_as_in_memory_and_all_of_them_placed(known):
    X = blobs(300)
    inside = EVCLUS(3, **QUICK).fit(X)
    outside = EVCLUS(3, **QUICK).fit(OddRows(X, size=41, known=known))
    assert (inside.n_sampled_, outside.n_sampled_) == (None, 300)
    assert outside.criterion_ == inside.criterion_
    np.testing.assert_array_equal(outside._known_masses, inside._known_masses)
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.predict_partition(X).masses, atol=1e-12)
    assert isinstance(outside.partition_, LazyPartition)
    assert (outside.predict(X) == inside.labels_).mean() > 0.99


@pytest.mark.parametrize(("n_pairs", "size"), [(50, 400), (None, 150)])
def test_many_rows_are_fitted_on_a_sample_that_does_not_depend_on_their_order(n_pairs, size, small_samples):
    X = blobs(2_000)
    model = EVCLUS(3, n_pairs=n_pairs, **QUICK)
    with pytest.warns(UserWarning, match=f"EVCLUS was fitted to a sample of {size} of 2,000 rows"):
        masses = model.fit(OddRows(X, size=170)).partition_.compute().masses
    assert model.n_sampled_ == size
    truth = np.argmin([np.square(X - center).sum(axis=1) for center in ([0, 0], [9, 1], [1, 8])], axis=0)
    assert (np.asarray(model.labels_) == truth).mean() > 0.97  # clusters are numbered by size, as the groups are
    with pytest.warns(UserWarning, match="sample"):
        model.fit(OddRows(X[::-1], size=333, known=False))
    np.testing.assert_allclose(model.partition_.compute().masses[::-1], masses, atol=1e-12)
    assert len(pickle.dumps(model.partition_._bare()._place)) < 50_000  # what is sent to workers; shepard_ is not


@pytest.mark.parametrize("n_pairs", [None, 40])
def test_a_small_sparse_matrix_has_the_masses_of_the_dense_table(n_pairs, small_samples):
    X = blobs(150)
    dense, thin = (EVCLUS(3, n_pairs=n_pairs, **QUICK).fit(table) for table in (X, csr_array(X)))
    np.testing.assert_array_equal(thin.partition_.masses, dense.partition_.masses)
    assert (thin.n_sampled_, thin.criterion_, thin.delta0_) == (None, dense.criterion_, dense.delta0_)
    np.testing.assert_array_equal(thin.predict_partition(X).masses, dense.predict_partition(X).masses)


def test_of_a_large_sparse_matrix_a_sample_alone_is_made_dense(small_samples, monkeypatch):
    made = []

    def spy(self, *args, **kwargs):
        made.append(self.shape[0])
        return dense(self, *args, **kwargs)

    dense = csr_array.toarray
    monkeypatch.setattr(csr_array, "toarray", spy)
    monkeypatch.setattr(source, "chunk_rows", lambda n_features: 64)
    with pytest.warns(UserWarning, match="EVCLUS was fitted to a sample of 150 of 2,000 rows"):
        model = EVCLUS(3, **QUICK).fit(csr_array(blobs(2_000)))
    assert (model.n_sampled_, len(model.partition_), max(made)) == (150, 2_000, 64)


def test_a_weight_counts_as_copies_do(small_samples):
    X, weight = blobs(120), np.random.default_rng(0).integers(0, 3, size=120).astype(float)
    weighted = EVCLUS(3, n_pairs=20, **QUICK)
    weighted.fit(OddRows(X, weight, size=31))
    assert weighted.n_sampled_ == (weight > 0).sum()
    used = weighted._source.rows
    assert not (X[weight == 0][:, None] == used).all(axis=2).any()
    times = (X[weight == 2][:, None] == used).all(axis=2).sum() / (weight == 2).sum()
    assert times > 1.2  # a row of weight two is drawn more often than once


def test_select_takes_it(small_samples):
    found = select(OddRows(blobs(900)), EVCLUS(n_pairs=30, **QUICK), n_clusters=[2, 3], random_state=0)
    assert found.table["note"].str.contains("fitted to a sample of 400 of 900 rows").all()
    assert found.best == ("EVCLUS", 3)


def test_memory_does_not_grow_with_the_number_of_rows(small_samples):
    rows, model = Repeated(blobs(20_000), 100), EVCLUS(3, n_pairs=30, n_jobs=2, **QUICK)
    tracemalloc.start()
    with pytest.warns(UserWarning, match="sample of 400 of 2,000,000 rows"):
        model.fit(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 28e6  # the table has 32 MB
    assert len(model.partition_) == 2_000_000


@pytest.mark.parametrize("metric", ["precomputed", "gower"])
def test_metrics_that_are_not_of_numbers_are_refused(metric):
    with pytest.raises(TypeError, match=f"EVCLUS with metric='{metric}' needs its table in memory"):
        EVCLUS(2, metric=metric).fit(OddRows(blobs(30)))


def test_partners_are_of_rows_in_memory():
    with pytest.raises(TypeError, match="EVCLUS draws the partners itself"):
        EVCLUS(2, n_pairs=np.zeros((30, 2), dtype=int)).fit(OddRows(blobs(30)))


def test_links_need_rows_in_memory():
    with pytest.raises(TypeError, match="CEVCLUS needs all rows in memory"):
        CEVCLUS(2).fit(OddRows(blobs(30)))


def test_the_same_end_from_a_checkpoint(tmp_path, small_samples):
    model, rows = EVCLUS(3, n_pairs=30, n_init=1, tol=1e-3), OddRows(blobs(300), size=50)  # no seed but the file's
    ends = [model.fit(rows, checkpoint=tmp_path / "run.npz").criterion_ for _ in range(2)]
    assert ends[0] == ends[1]
