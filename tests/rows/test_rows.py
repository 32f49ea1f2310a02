"""Passes over rows: the same sum wherever the rows are and whoever adds up; a sample that does not know their order."""

import pickle
import threading
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from evidentia import EGMM
from evidentia.partition.lazy import LazyPartition
from evidentia.rows import passes
from evidentia.rows.passes import map_handles, reduce_rows
from evidentia.rows.scan import SKETCH_ROWS, Sketch, row_hashes, scan
from evidentia.rows.source import ArrayRows, Chunk, RowSource, chunk_rows, gather_rows
from evidentia.solvers.coordinates import moments_of
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.threads import threads
from odd_rows import OddRows


def blobs(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    which = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centers = rng.normal(size=(3, d)) * 4
    scales = np.array([1.0, 0.6, 1.7])[which, None] * np.linspace(0.5, 2, d)
    return centers[which] + scales * rng.normal(size=(n, d)), which


def moments(chunk, mixing=True):
    return moments_of(chunk.table, chunk.weight, mixing)


def test_a_pass_adds_up_in_order_on_any_number_of_threads():
    X, _ = blobs(200_000)
    rows, seen = ArrayRows(X), set()
    assert len(rows.handles) == 7

    def watched(chunk):
        seen.add(threading.get_ident())
        return moments(chunk)

    found = []
    for n_jobs in (1, 2, 3):
        seen.clear()
        with threads(n_jobs):
            found.append(reduce_rows(watched, rows))
        assert (seen == {threading.get_ident()}) == (n_jobs == 1)
        assert len(seen) <= n_jobs
    for one in found[1:]:
        for a, b in zip(one, found[0]):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(found[0].mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found[0].spread, np.cov(X.T, bias=True), rtol=1e-12)


def test_an_error_in_a_thread_is_the_error_of_the_pass():
    def fails(chunk):
        raise ArithmeticError(chunk.where(0))

    with threads(2), pytest.raises(ArithmeticError, match="row 0"):
        reduce_rows(fails, ArrayRows(blobs(100_000)[0]))


def test_few_results_wait_at_a_time(monkeypatch):
    rows = ArrayRows(blobs(400_000)[0])
    running = []

    def work(rows, handle):
        running.append(handle)
        return handle

    with threads(2):
        found = map_handles(work, rows)
        next(found)
        assert len(running) <= 6 < len(rows.handles)
        assert list(found) == rows.handles[1:]


def test_no_rows_at_all_is_said():
    with pytest.raises(ValueError, match="no row of a weight above zero"):
        reduce_rows(moments, OddRows(np.empty((0, 3))))


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_add_up(holes, weighted):
    X, _ = blobs(1_000)
    X[:, 1] += 1e8  # the spread is small beside the mean
    X[:, 2] = 3.25
    weight = np.random.default_rng(1).integers(1, 4, size=1_000).astype(float) if weighted else None
    if holes:
        X[::7, 0] = np.nan
        X[:300, 3] = np.nan
    parts = [
        moments_of(X[cut], None if weight is None else weight[cut])
        for cut in (slice(0, 300), slice(300, 307), slice(307, 1_000))
    ]
    whole = moments_of(X, weight)
    added = parts[0] + parts[1] + parts[2]
    assert added.total == pytest.approx(whole.total)
    for a, b in zip(added[1:], whole[1:]):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    table = np.ma.masked_invalid(X if weight is None else np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(whole.mean, table.mean(axis=0), rtol=1e-12)
    variances = whole.spread if holes else np.diag(whole.spread)
    np.testing.assert_allclose(variances, table.var(axis=0), rtol=1e-6, atol=1e-12)


def test_the_sketch_does_not_know_the_order_of_rows_nor_their_cut():
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    copies = np.random.default_rng(1).integers(1, 5, size=3_000)
    long = np.repeat(X, copies, axis=0)
    shuffled = long[np.random.default_rng(2).permutation(len(long))]
    one = Sketch.of(X, copies.astype(float)).keep_smallest(100)
    parts = [Sketch.of(part, None) for part in np.array_split(shuffled, 13)]
    other = parts[0]
    for part in parts[1:]:
        other = other + part
    other = other.keep_smallest(100)
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)
    assert len(np.unique(one.rows, axis=0)) == 100
    # The sample is spread as the table is: five standard errors at most.
    assert np.abs(one.rows.mean(axis=0)).max() < 5 / np.sqrt(100)


def test_hashes_tell_rows_apart_and_mean_zero_by_either_zero():
    X = np.random.default_rng(0).normal(size=(50_000, 3))
    assert len(np.unique(row_hashes(X))) == 50_000
    assert len(np.unique(row_hashes(X[:, ::-1]))) == 50_000
    odd = np.array([[0.0, np.nan], [-0.0, -np.nan]])
    assert len(np.unique(row_hashes(odd))) == 1
    bits = np.unpackbits(row_hashes(np.arange(4_096.0)[:, None]).view(np.uint8)).reshape(4_096, 64)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.05


def test_a_large_table_is_known_by_a_sample_of_its_rows():
    X, _ = blobs(120_000)
    table = scan(ArrayRows(X), mixing=True, missing=False, who="EGMM")
    assert not table.complete
    assert table.n_rows == 120_000
    assert table.sample.X.shape == (SKETCH_ROWS, 4)
    assert table.sample.weight.sum() == pytest.approx(120_000)
    np.testing.assert_allclose(table.moments.mean, X.mean(axis=0), rtol=1e-11)
    other = scan(OddRows(X[::-1], known=False), mixing=True, missing=False, who="EGMM")
    np.testing.assert_array_equal(table.sample.X, other.sample.X)


def test_rows_that_repeat_are_looked_for_again(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 2))[rng.integers(60_000, size=600_000)]
    distinct = np.unique(X, axis=0)
    calls = []
    monkeypatch.setattr(
        "evidentia.rows.scan.reduce_rows",
        lambda function, *rest: calls.append(function) or reduce_rows(function, *rest),
    )
    table = scan(ArrayRows(X), mixing=True, missing=False, who="EGMM")
    assert len(calls) > 1  # the first pass looked at too few hashes
    assert len(table.sample.X) == SKETCH_ROWS < len(distinct)
    kept = np.sort(row_hashes(distinct))[:SKETCH_ROWS]
    np.testing.assert_array_equal(row_hashes(table.sample.X), kept)


@pytest.mark.parametrize(("value", "words"), [(np.nan, "row 90000, column 2 holds nan.*EGMM"), (-np.inf, "holds -inf")])
def test_a_bad_cell_is_named(value, words):
    X, _ = blobs(100_000)
    X[90_000, 2] = value
    with pytest.raises(ValueError, match=words):
        scan(OddRows(X), mixing=True, missing=False, who="ECM")


def test_rows_of_nothing_but_holes_are_refused_where_holes_are_allowed():
    X, _ = blobs(100_000)
    X[70_000] = np.nan
    with pytest.raises(ValueError, match="row 70000 holds nothing but NaN"):
        scan(OddRows(X), mixing=True, missing=True, who="EGMM")


def test_rows_of_weight_zero_do_not_count_but_are_placed():
    X, _ = blobs(70_000)
    weight = np.ones(70_000)
    weight[:20_000] = 0
    weight[30_000] = 0
    far = X.copy()
    far[:20_000] += 1e3
    model = EGMM(3, model="VVI", random_state=0)
    a = model.fit(OddRows(far, weight))
    assert len(a.partition_) == 70_000
    centers = a.cluster_centers_
    b = EGMM(3, model="VVI", random_state=0).fit(X[weight > 0])
    np.testing.assert_allclose(centers, b.cluster_centers_, rtol=1e-6)


SETTINGS = {
    "the paper's": {"model": "EEE", "focal_sets": "full", "prior": None, "init": "k-means", "n_init": 2},
    "a covariance each": {"model": "VVV"},
    "diagonal": {"model": "EVI", "focal_sets": "pairs"},
    "reduced": {"model": "VEE", "reduce": 3},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("n", [3_000, 90_000])
def test_egmm_is_the_same_from_a_source(settings, n):
    X, which = blobs(n)
    here = EGMM(3, random_state=0, **settings).fit(X)
    there = EGMM(3, random_state=0, **settings).fit(OddRows(X))
    assert isinstance(there.partition_, LazyPartition)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(there.covariances_, here.covariances_, rtol=1e-6, atol=1e-8)
    assert there.log_likelihood_ == pytest.approx(here.log_likelihood_, rel=1e-10)
    np.testing.assert_array_equal(there.focal_sets_.masks, here.focal_sets_.masks)
    np.testing.assert_allclose(there.partition_.compute().masses, here.partition_.masses, atol=1e-5)
    assert adjusted_rand_score(which, there.labels_) > 0.8
    assert np.diff(there.criterion_trace_).min(initial=0) >= -1e-9 * abs(there.criterion_)


def test_egmm_has_the_same_bits_on_any_number_of_threads():
    X, _ = blobs(150_000)
    X[::50, 1] = np.nan
    found = []
    for n_jobs in (1, 2, 3):
        with threads(n_jobs):
            found.append(EGMM(3, model="VVV", random_state=0).fit(X))
    for one in found[1:]:
        np.testing.assert_array_equal(one.cluster_centers_, found[0].cluster_centers_)
        np.testing.assert_array_equal(one.partition_.masses, found[0].partition_.masses)
        assert one.criterion_ == found[0].criterion_


def test_egmm_with_holes_from_a_source():
    X, _ = blobs(80_000)
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.05] = np.nan
    X[np.isnan(X).all(axis=1)] = 0
    here = EGMM(3, model="EEE", random_state=0).fit(X)
    there = EGMM(3, model="EEE", random_state=0).fit(OddRows(X))
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-6)
    assert there.ebic_ == pytest.approx(here.ebic_, rel=1e-9)


class Generated(RowSource):
    """Two million rows that are nowhere until they are read."""

    n_features, n_rows = 5, 2_000_000
    handles = range(100)

    def read(self, handle):
        rng = np.random.default_rng(handle)
        table = rng.normal(size=(20_000, 5))
        table[rng.uniform(size=20_000) < 0.4] += 5
        yield Chunk(table, None, f"part {handle}, row ", 0)

    def fingerprint(self):
        return "generated"


def test_memory_does_not_grow_with_the_number_of_rows():
    EGMM(2, model="EEI", random_state=0).fit(OddRows(blobs(60_000)[0]))  # what is loaded on first use does not count
    tracemalloc.start()
    try:
        model = EGMM(2, model="EEI", random_state=0).fit(Generated())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 << 20  # all rows are 80 MB, and their masses 48
    np.testing.assert_allclose(np.sort(model.cluster_centers_.mean(axis=1)), [0, 5], atol=0.01)
    assert len(pickle.dumps(model)) < 50_000


def test_a_lazy_partition_answers_as_one_in_memory(tmp_path):
    X, _ = blobs(60_000)
    X[5] = 0.4  # some row is in doubt
    model = EGMM(3, model="VVV", random_state=0).fit(X)
    lazy, plain = model.predict_partition(OddRows(X)), model.partition_
    assert isinstance(lazy, LazyPartition)
    assert len(lazy) == 60_000
    np.testing.assert_array_equal(lazy.labels(), model.labels_)
    np.testing.assert_array_equal(model.predict(OddRows(X)), model.labels_)
    assert plain.summary() == str(plain)
    verdict, _, counts = plain.summary().partition("\n")  # rows that are read chunk by chunk have no verdict
    assert verdict.startswith("There are groups")
    assert lazy.summary().replace("row ", "") == counts
    np.testing.assert_allclose(np.concatenate([part.masses for part in lazy.blocks()]), plain.masses, atol=1e-12)
    folder = lazy.to_parquet(tmp_path / "masses", masses="float32")
    table = pd.read_parquet(folder)
    expected = plain.to_pandas().reset_index(drop=True)
    np.testing.assert_array_equal(table["cluster"], model.labels_)
    assert table["set"].tolist() == expected["set"].tolist()
    for name in table.columns[2:]:
        np.testing.assert_allclose(table[name], expected[name], atol=1e-6)
    assert sorted(table.columns) == sorted(set(expected.columns) - {"belief", "kind"})
    assert list(pd.read_parquet(lazy.to_parquet(tmp_path / "masses")).columns) == list(table.columns[:4])
    assert [path.suffix for path in folder.iterdir()] == [".parquet"] * 9
    with pytest.raises(ValueError, match="'masses' must be one of 'float32'"):
        lazy.to_parquet(tmp_path, masses=True)


def test_a_lazy_partition_in_zarr(tmp_path):
    import zarr

    X, _ = blobs(60_000)
    model = EGMM(3, model="EEE", random_state=0).fit(X)
    group = zarr.open_group(model.predict_partition(OddRows(X)).to_zarr(tmp_path / "masses.zarr", masses="float64"))
    np.testing.assert_array_equal(group["cluster"][:], model.labels_)
    np.testing.assert_allclose(group["masses"][:], model.partition_.masses, atol=1e-12)
    np.testing.assert_array_equal(group["focal_sets"][:], model.focal_sets_.masks)


def test_sources_of_another_width_and_weights_beside_them_are_refused():
    X, _ = blobs(3_000)
    model = EGMM(3, model="EEE", random_state=0).fit(X)
    with pytest.raises(ValueError, match="fitted to 4 columns, but the rows have 3"):
        model.predict_partition(OddRows(X[:, :3]))
    with pytest.raises(TypeError, match=r"open_rows\(..., weight="):
        model.fit(OddRows(X), sample_weight=np.ones(3_000))


def test_chunks_of_wide_tables_have_fewer_rows():
    assert chunk_rows(4) == 32_768
    assert chunk_rows(100) == 5_242
    assert chunk_rows(10**6) == 256


def test_gathering_keeps_weights_and_order():
    X, _ = blobs(20_000)
    rows = gather_rows(OddRows(X, np.arange(20_000.0)))
    np.testing.assert_array_equal(rows.table, X)
    np.testing.assert_array_equal(rows.weight, np.arange(20_000.0))


def test_an_array_in_memory_has_nothing_to_go_on_from():
    with pytest.raises(TypeError, match="gone when its process ends"):
        ArrayRows(np.ones((3, 2))).fingerprint()


def test_one_pass_is_not_sent_to_a_cluster_without_a_client(monkeypatch):
    monkeypatch.delitem(passes.sys.modules, "distributed", raising=False)
    assert passes.active_client() is None


class Interrupted(OddRows):
    """Rows whose reading is interrupted after so many handles."""

    def __init__(self, table, after):
        super().__init__(table)
        self.left = after

    def read(self, handle):
        self.left -= 1
        if self.left < 0:
            self.left = 10**9  # once
            raise KeyboardInterrupt
        return super().read(handle)


@pytest.mark.parametrize("n_passes", [1.5, 2.5])
def test_an_interrupt_in_a_pass_keeps_what_there_is(n_passes):
    """In the first pass over all rows that is the solution of the sample, later the last complete step."""
    X, _ = blobs(70_000)
    whole = EGMM(3, model="VVV", focal_sets="singletons", random_state=0).fit(X)
    rows = Interrupted(X, int(n_passes * 12))
    with threads(1), pytest.warns(InterruptedFit, match="interrupted"):
        kept = EGMM(3, model="VVV", focal_sets="singletons", tol=1e-12, random_state=0).fit(rows)
    np.testing.assert_allclose(kept.cluster_centers_, whole.cluster_centers_, atol=0.2)
