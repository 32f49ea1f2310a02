"""Methods with centers over rows from anywhere: what the same rows in memory give, in bounded memory."""

import pickle
import tracemalloc
from importlib.util import find_spec

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from evidentia import ECM, FCM, FocalSets, GustafsonKessel, NoiseClustering, methods
from evidentia.constraints import PairwiseConstraints
from evidentia.experimental import BCM
from evidentia.prototypes import BPEC, CCM, CECM, CFCM
from evidentia.prototypes._base import Slices
from evidentia.prototypes._kernel import Criterion, Prototypes, descent_step
from evidentia.rows.numbered import NumberedRows, rows_apart
from evidentia.rows.scan import Sketch, scan
from evidentia.rows.source import ArrayRows, Chunk, RowSource, gather_rows
from evidentia.solvers.threads import threads
from odd_rows import OddRows

LARGE = 53_001  # more rows than a sample has
LINKS = PairwiseConstraints.from_links(must_link=[(3, 7_100), (7_100, 40_000)], cannot_link=[(3, 52_999), (11, 40_000)])
QUICK = {"n_init": 2, "random_state": 3, "tol": 1e-8, "max_iter": 1_000}
METHODS = {
    "ecm": ECM(3, alpha=1.3, beta=1.8, **QUICK),
    "ecm with metrics": ECM(3, adaptive=True, n_init=1, random_state=3, tol=1e-6),
    "ecm, near pairs": ECM(3, focal_sets="near-pairs", n_near=1, n_init=1, random_state=3, tol=1e-7),
    "ecm, full": ECM(3, focal_sets="full", alpha=1.3, **QUICK),
    "fcm": FCM(3, beta=1.7, **QUICK),
    "noise": NoiseClustering(3, **QUICK),
    "gustafson-kessel": GustafsonKessel(3, n_init=1, random_state=3, tol=1e-6),
    "ccm": CCM(3, gamma=1.4, **QUICK),
    "bcm": BCM(3, gamma=0.2, **QUICK),
    "cecm": CECM(3, n_init=1, random_state=3, tol=1e-7),
    "cfcm": CFCM(3, n_init=2, random_state=3, tol=1e-7),
    "bpec": BPEC(3, n_neighbors=20),
}
EVERY = pytest.mark.parametrize("name", METHODS)


def blobs(n, seed=0):
    rng = np.random.default_rng(seed)
    which = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centers = np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 5.0]])
    return centers[which] + rng.normal(size=(n, 2)) * np.array([1.0, 0.6, 1.4])[which, None]


def fitted(name, X, **kwargs):
    model = METHODS[name]
    if "links" in model.method.takes:
        kwargs["constraints"] = LINKS
    with threads(kwargs.pop("n_jobs", 1)):
        return clone(model).fit(X, **kwargs)


@pytest.fixture(scope="module")
def large():
    return blobs(LARGE)


@EVERY
def test_rows_from_a_source_give_what_rows_in_memory_give(name, large):
    inside, outside = fitted(name, large), fitted(name, OddRows(large))
    np.testing.assert_allclose(outside.cluster_centers_, inside.cluster_centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(outside.criterion_, inside.criterion_, rtol=1e-9)
    np.testing.assert_allclose(outside.criterion_trace_, inside.criterion_trace_, rtol=1e-9)
    np.testing.assert_allclose(outside.start_criteria_, inside.start_criteria_, rtol=1e-9)
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-9)
    np.testing.assert_array_equal(outside.labels_, inside.labels_)
    assert (np.diff(inside.criterion_trace_) <= 1e-12 * inside.criterion_).all()


@EVERY
def test_the_number_of_threads_changes_no_bit(name, large):
    one, *others = (fitted(name, large, n_jobs=n_jobs) for n_jobs in (1, 2, 3))
    for other in others:
        np.testing.assert_array_equal(other.cluster_centers_, one.cluster_centers_)
        np.testing.assert_array_equal(other.criterion_trace_, one.criterion_trace_)
        np.testing.assert_array_equal(other.partition_.masses, one.partition_.masses)


@pytest.mark.parametrize("name", ["ecm", "ecm with metrics", "bcm", "cecm"])
def test_a_few_rows_from_a_source_are_fitted_as_in_memory(name):
    X, links = blobs(700), PairwiseConstraints.from_links(must_link=[(3, 600)], cannot_link=[(3, 350)])
    kwargs = {"constraints": links} if name == "cecm" else {}
    for known in (True, False):
        inside = clone(METHODS[name]).fit(X, **kwargs)
        outside = clone(METHODS[name]).fit(OddRows(X, size=101, known=known), **kwargs)
        np.testing.assert_array_equal(outside.cluster_centers_, inside.cluster_centers_)
        np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-12)


@pytest.mark.parametrize("model", [ECM(3, focal_sets="full"), FCM(3, beta=1.7), GustafsonKessel(3), BCM(3)])
def test_all_rows_decide_and_not_the_sample_alone(model, monkeypatch):
    """A sample of few rows is far off; the end over all rows is that of a descent which never saw the sample."""
    X = blobs(4_000)
    model.set_params(n_init=1, random_state=3, tol=1e-13, max_iter=3_000)
    centers, criterion = model.fit(X).cluster_centers_, model.criterion_
    settings = {"rho": model.rho_} if "rho" in model.parameters else {}
    monkeypatch.setattr("evidentia.rows.scan.SKETCH_ROWS", 300)
    settled = Sketch.keep_smallest
    monkeypatch.setattr(Sketch, "keep_smallest", lambda self: settled(self, 300))
    monkeypatch.setattr("evidentia.rows.scan.SKETCH_ROWS", 300)
    alone = scan(ArrayRows(X), mixing=False, missing=False, who="a test").sample.X
    assert len(alone) == 300
    again = clone(model).set_params(**settings).fit(X)
    np.testing.assert_allclose(again.criterion_, criterion, rtol=1e-9)
    np.testing.assert_allclose(again.cluster_centers_, centers, atol=1e-4)
    assert np.abs(clone(model).set_params(**settings).fit(alone).cluster_centers_ - centers).max() > 1e-2
    assert (np.diff(again.criterion_trace_) <= 1e-12 * criterion).all()


@pytest.mark.parametrize("name", ["ecm", "gustafson-kessel", "bcm", "cecm"])
def test_weights_count_rows(name, large):
    weight = np.random.default_rng(1).integers(0, 3, size=len(large)).astype(float)
    weight[LINKS.objects] = [1, 2, 1, 1, 2]
    inside = fitted(name, large, sample_weight=weight)
    outside = fitted(name, OddRows(large, weight))
    assert (weight == 0).any()
    np.testing.assert_allclose(outside.cluster_centers_, inside.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-9)


@pytest.mark.parametrize("model", [FCM(3, beta=1.7), CCM(3)])
def test_a_weight_counts_as_copies_do(model, large):
    model.set_params(n_init=1, random_state=1, tol=1e-14, max_iter=2_000)
    weight = np.random.default_rng(1).integers(0, 4, size=len(large)).astype(float)
    centers, criterion = model.fit(large, sample_weight=weight).cluster_centers_, model.criterion_
    model.fit(np.repeat(large, weight.astype(int), axis=0))
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-5)
    np.testing.assert_allclose(model.criterion_, criterion, rtol=1e-10)


# -- linked rows ------------------------------------------------------------------------------------------------------


def test_linked_objects_of_a_source_keep_the_masses_that_links_gave_them(large):
    settings = {"xi": 0.999, "n_init": 1, "random_state": 0, "tol": 1e-6}
    near = int(np.abs(large[1_000:] - large[3]).sum(axis=1).argmin()) + 1_000
    links = PairwiseConstraints.from_links(cannot_link=[(3, near)])
    inside = CECM(3, **settings).fit(large, constraints=links)
    outside = CECM(3, **settings).fit(OddRows(large, known=False), constraints=links)
    assert np.abs(inside.predict_partition(large[[3, near]]).masses - inside.partition_.masses[[3, near]]).max() > 0.1
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-8)
    assert len(pickle.dumps(outside._solution)) < 20_000


def test_a_table_of_linked_objects_alone():
    X = blobs(6)
    links = PairwiseConstraints.from_links(must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5), (1, 2)])
    inside, outside = (CFCM(2, random_state=0).fit(rows, constraints=links) for rows in (X, OddRows(X, size=2)))
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-9)


def test_a_lazy_partition_has_the_same_attributes_with_links_as_without(tmp_path):
    X = blobs(50)
    links = PairwiseConstraints.from_links(must_link=[(0, 1)], cannot_link=[(0, 30)])
    for cls in (CECM, CFCM):
        plain, tied = (cls(2, random_state=0).fit(OddRows(X, size=9), **more) for more in ({}, {"constraints": links}))
        public = [{name for name in dir(one.partition_) if not name.startswith("_")} for one in (plain, tied)]
        assert public[0] == public[1]
        assert "masses" not in public[1]
        assert len(tied.partition_.compute().masses) == len(tied.partition_) == 50


def test_links_beyond_the_rows_of_a_source_are_refused():
    links = PairwiseConstraints.from_links(must_link=[(0, 50)])
    with pytest.raises(ValueError, match=r"Links must be between the rows 0\.\.49 of X"):
        CECM(2).fit(OddRows(blobs(50), size=9, known=False), constraints=links)


def test_a_metric_is_learned_of_a_table_in_memory_only():
    from evidentia.metric_learning import PCCA

    links = PairwiseConstraints.from_links(must_link=[(0, 40)])
    with pytest.raises(TypeError, match="CECM learns a metric of a table in memory only"):
        CECM(2, metric_learner=PCCA()).fit(OddRows(blobs(50), size=9), constraints=links)


def test_rows_by_number():
    X, weight = blobs(40), np.arange(40.0)
    numbers = np.array([0, 4, 5, 17, 18, 19, 20, 39])
    for source in (ArrayRows(X, weight), OddRows(X, weight, size=5, known=False)):
        some, rest = rows_apart(source, numbers)
        np.testing.assert_array_equal(some.table, X[numbers])
        np.testing.assert_array_equal(some.weight, weight[numbers])
        left = gather_rows(rest)
        np.testing.assert_array_equal(left.table[left.weight > 0], np.delete(X, numbers, axis=0))
        np.testing.assert_array_equal(left.weight[left.weight > 0], np.delete(weight, numbers))
    counted = NumberedRows(OddRows(X, size=7, known=False))
    assert counted.n_rows == 40
    for chunk in (chunk for handle in counted.handles for chunk in counted.read(handle)):
        np.testing.assert_array_equal(chunk.table[0], X[chunk.first])


# -- memory -----------------------------------------------------------------------------------------------------------


class MadeRows(RowSource):
    """Rows that are made when they are read."""

    n_features = 5

    def __init__(self, n_rows):
        self.n_rows, self.handles = n_rows, range(0, n_rows, 20_000)

    def read(self, handle):
        rng = np.random.default_rng(handle)
        n = min(20_000, self.n_rows - handle)
        yield Chunk(rng.normal(size=(n, 5)) + 7 * rng.integers(3, size=(n, 1)), None, "row ", handle)

    def fingerprint(self):
        return f"made {self.n_rows}"


@pytest.mark.parametrize(
    "model",
    [ECM(3, n_init=1, random_state=0, tol=1e-4, n_jobs=1), CFCM(3, n_init=1, random_state=0, tol=1e-4, n_jobs=1)],
)
def test_memory_does_not_grow_with_the_number_of_rows(model):
    links = {"constraints": PairwiseConstraints.from_links(must_link=[(5, 150_005)])} if isinstance(model, CFCM) else {}
    model.fit(MadeRows(60_000), **(links and {"constraints": PairwiseConstraints.from_links(must_link=[(5, 50_005)])}))
    tracemalloc.start()
    model.fit(MadeRows(2_000_000), **links)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # the table has 80 MB
    assert len(pickle.dumps(model)) < 50_000
    assert len(model.partition_) == 2_000_000


# -- faults and refusals ----------------------------------------------------------------------------------------------


def test_a_fit_that_was_stopped_goes_on_and_ends_at_the_same_bits(large, tmp_path):
    class Broken(OddRows):
        reads = 0

        def read(self, handle):
            Broken.reads += 1
            if Broken.reads > 80:
                raise OSError("the disk is gone")
            return super().read(handle)

    model, whole = ECM(3, adaptive=True, n_init=1, tol=1e-10), OddRows(large)
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(Broken(large), checkpoint=tmp_path / "run.npz")
    again = model.fit(whole, checkpoint=tmp_path / "run.npz")
    centers, trace = again.cluster_centers_, again.criterion_trace_
    (tmp_path / "run.npz").rename(tmp_path / "other.npz")
    once_more = model.fit(whole, checkpoint=tmp_path / "other.npz")  # nothing but the first pass is made again
    np.testing.assert_array_equal(once_more.cluster_centers_, centers)
    np.testing.assert_array_equal(once_more.criterion_trace_, trace)


def test_what_arguments_of_a_pass_have_derived_is_no_part_of_them():
    """A pass is known by its arguments, whether or not they were used before."""
    prototypes = Prototypes(np.eye(2), np.stack([np.eye(2), 2 * np.eye(2)]))
    criterion = Criterion(FocalSets(2), 1.5, 2.0, 3.0)
    before = joblib.hash((prototypes, criterion))
    descent_step(Slices(np.ones((2, 5)), np.ones(5)), 5.0, criterion, prototypes)
    assert "metric" in vars(prototypes)
    assert joblib.hash((prototypes, criterion)) == before


HERE = [name for name in methods.all_methods() if name != "nnevclus" or find_spec("torch")]  # an extra


@pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")  # a quick fit
@pytest.mark.parametrize("name", HERE)
def test_who_takes_rows_beyond_memory_says_so_and_the_others_name_them(name):
    cls = methods.all_methods()[name]
    if "rows beyond memory" in cls.method.takes:
        table = np.round(blobs(60)) if "categories" in cls.method.reads else blobs(60)
        assert hasattr(cls(**cls.method.quick).fit(OddRows(table, size=13)).partition_, "compute")
        return
    with pytest.raises(TypeError, match=f"{cls.__name__} needs all rows in memory.*EGMM, .*BPEC, CCM, CECM, CFCM, ECM"):
        cls().fit(OddRows(blobs(60), size=13))
