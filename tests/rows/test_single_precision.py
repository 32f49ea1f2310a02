"""Tables in single precision: read chunk by chunk as doubles, never copied as a whole."""

import tracemalloc

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from evidentia import ECM, EGMM, EVCLUS, FCM, GustafsonKessel, NoiseClustering, open_rows
from evidentia.rows.scan import SKETCH_ROWS

ROWS = SKETCH_ROWS + 30_000
MODELS = {
    "egmm": EGMM(2, model="EEE", focal_sets="singletons", n_init=1, random_state=0),
    "egmm-reduced": EGMM(2, model="VVI", reduce=3, n_init=1, random_state=0),
    "ecm": ECM(2, n_init=1, random_state=0),
    "fcm": FCM(2, n_init=1, random_state=0),
    "noise": NoiseClustering(2, n_init=1, random_state=0),
    "gustafson-kessel": GustafsonKessel(2, n_init=1, random_state=0),
}
every = pytest.mark.parametrize("name", MODELS)


def table(n=ROWS, p=6):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, p)) + 5.0 * (rng.random(n) < 0.4)[:, None]).astype(np.float32)


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@every
@pytest.mark.parametrize("n", [500, ROWS])
def test_the_fit_has_the_bits_of_the_same_numbers_as_doubles(name, n):
    X = table(n)
    single, double = clone(MODELS[name]).fit(X), clone(MODELS[name]).fit(X.astype(float))
    assert single.partition_ == double.partition_
    np.testing.assert_array_equal(single.cluster_centers_, double.cluster_centers_)
    np.testing.assert_array_equal(single.predict_partition(X).masses, double.predict_partition(X.astype(float)).masses)


@every
def test_no_copy_of_the_whole_table_as_doubles(name):
    X = table(240_000)
    model = clone(MODELS[name]).set_params(n_jobs=1)  # how many chunks are under way at the peak is else by chance
    model.fit(X[:60_000])  # what is compiled, and imported
    whole = 8 * X.size
    for work in (model.fit, model.predict_partition):
        assert peak(lambda work=work: work(X)) < peak(lambda work=work: work(X.astype(float))) - 0.6 * whole


@every
def test_results_are_as_precise_as_the_table(name):
    X = table(300)
    model = clone(MODELS[name]).fit(X)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for given, kind in ((X, np.float32), (X.astype(float), np.float64), (X.tolist(), np.float64)):
        assert model.transform(given).dtype == model.predict_proba(given).dtype == kind
    named = clone(MODELS[name]).fit(frame)
    assert named.transform(frame).dtype == np.float32
    assert named.transform(frame.astype({"a": float})).dtype == np.float64
    assert model.partition_.masses.dtype == np.float64
    np.testing.assert_allclose(model.transform(X), model.partition_.masses, atol=1e-7)


def test_other_methods_work_in_doubles():
    X = table(60)
    assert EVCLUS(2, random_state=0).fit(X).transform(X).dtype == np.float64


@pytest.mark.parametrize("kind", ["npy", "parquet", "memmap", "dask"])
def test_rows_beyond_memory_have_the_same_bits(kind, tmp_path):
    X = table(3_000)
    if kind == "parquet":
        pd.DataFrame(X, columns=list("abcdef")).to_parquet(tmp_path / "rows.parquet")
        rows = open_rows(tmp_path / "rows.parquet")
    elif kind == "dask":
        rows = da.from_array(X, chunks=(1_000, 6))
    else:
        np.save(tmp_path / "rows.npy", X)
        rows = tmp_path / "rows.npy"
        rows = open_rows(np.load(rows, mmap_mode="r") if kind == "memmap" else rows)
    found = ECM(2, n_init=2, random_state=0).fit(rows)
    np.testing.assert_array_equal(
        found.cluster_centers_, ECM(2, n_init=2, random_state=0).fit(X.astype(float)).cluster_centers_
    )


@every
def test_large_numbers_of_single_precision(name):
    X = table(400) * np.float32(1e30)  # sums of them, and squares, are beyond single precision
    model, plain = clone(MODELS[name]).fit(X), clone(MODELS[name]).fit(table(400))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
