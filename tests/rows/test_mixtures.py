"""Mixtures with a component for each cluster over rows from anywhere: what the same rows in memory give."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from evidentia import BootGMM, LatentClassMixture, ParsimoniousGaussianMixture
from evidentia.mixtures import class_rows, finalists
from evidentia.mixtures.class_rows import MOST_CATEGORIES, Values
from evidentia.partition.lazy import LazyPartition
from evidentia.rows.checkpoint import Checkpoint
from evidentia.rows.scan import SKETCH_ROWS
from evidentia.rows.source import Chunk, RowSource
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.threads import threads
from odd_rows import OddRows

LARGE = 53_001  # more rows than a sample has


def blobs(n=LARGE, seed=0):
    rng = np.random.default_rng(seed)
    which = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centers = np.array([[0.0, 0.0], [5.0, 1.0], [1.0, 4.0]])
    return centers[which] + rng.normal(size=(n, 2)) * np.array([1.0, 0.6, 1.4])[which, None] * [1.0, 1.5]


def answers(n=LARGE, d=24, seed=0, holes=0.02):
    """Whole numbers, the categories of two classes."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(3, 3.0), size=(2, d))
    which = (rng.uniform(size=n) < 0.35).astype(int)
    X = (rng.uniform(size=(n, d, 1)) >= np.cumsum(probabilities[which], axis=2)[:, :, :-1]).sum(axis=2) * 3.0 - 2
    X[rng.uniform(size=X.shape) < holes] = np.nan
    return X


GAUSSIAN = {
    "free": ParsimoniousGaussianMixture(3, model="VVV", n_init=1, random_state=3),
    "diagonal": ParsimoniousGaussianMixture(3, model="EVI", n_init=1, random_state=3),
    "bounded": ParsimoniousGaussianMixture(3, model="VEV", max_eigenvalue_ratio=4, n_init=1, random_state=3),
    "searched": ParsimoniousGaussianMixture(
        model=["VII", "VVI"], init="k-means", n_init=1, cluster_range=(2, 4), random_state=3, select_by="icl"
    ),
}
CLASSES = {
    "classes": LatentClassMixture(2, n_init=2, alpha=0.3, random_state=3),
    "classes searched": LatentClassMixture(n_init=1, cluster_range=(1, 3), random_state=3),
}
MODELS = {**GAUSSIAN, **CLASSES}
EVERY = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(scope="module")
def tables():
    categories = answers()
    assert len(np.unique(categories, axis=0)) > SKETCH_ROWS
    return {**dict.fromkeys(GAUSSIAN, blobs()), **dict.fromkeys(CLASSES, categories)}


def numbers(model):
    parts = model.probabilities_ if isinstance(model, LatentClassMixture) else [model.means_, model.covariances_]
    return np.concatenate([model.weights_, *(part.ravel() for part in parts)])


@EVERY
def test_rows_from_a_source_give_what_rows_in_memory_give(name, tables):
    X = tables[name]
    inside, outside = (clone(MODELS[name]).fit(rows) for rows in (X, OddRows(X, known=False)))
    assert isinstance(outside.partition_, LazyPartition)
    assert len(outside.partition_) == LARGE
    np.testing.assert_allclose(numbers(outside), numbers(inside), rtol=0, atol=1e-9)
    np.testing.assert_allclose(outside.criterion_trace_, inside.criterion_trace_, rtol=1e-9)
    np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(outside.labels_, inside.labels_)
    for name in ("bic", "icl", "aic", "log_likelihood"):
        np.testing.assert_allclose(outside.selection_[name], inside.selection_[name], rtol=1e-9)
    assert outside.selection_["note"].tolist() == inside.selection_["note"].tolist()
    assert np.diff(inside.criterion_trace_).min(initial=0) >= 0
    chosen = inside.selection_[inside.selection_["note"] == ""]
    best = chosen.loc[chosen[inside.select_by].idxmax()]
    assert best["n_clusters"] == inside.n_clusters_
    for criterion in ("bic", "icl", "aic"):  # sums over all rows
        assert best[criterion] == pytest.approx(getattr(inside, criterion)(X), rel=1e-10)


@EVERY
def test_the_number_of_threads_changes_no_bit(name, tables):
    one, *others = (clone(MODELS[name]).set_params(n_jobs=n_jobs).fit(tables[name]) for n_jobs in (1, 2, 3))
    for other in others:
        np.testing.assert_array_equal(numbers(other), numbers(one))
        np.testing.assert_array_equal(other.criterion_trace_, one.criterion_trace_)
        np.testing.assert_array_equal(other.partition_.masses, one.partition_.masses)


@pytest.mark.parametrize("name", ["free", "diagonal", "classes"])
def test_weights_count_rows(name, tables):
    X, rng = tables[name], np.random.default_rng(1)
    weight = np.append(np.zeros(100), rng.uniform(0.5, 2, size=LARGE - 100))
    inside = clone(MODELS[name]).fit(X, sample_weight=weight)
    outside = clone(MODELS[name]).fit(OddRows(X, weight))
    np.testing.assert_allclose(numbers(outside), numbers(inside), rtol=0, atol=1e-9)
    assert outside.ebic_ == pytest.approx(inside.ebic_, rel=1e-9)
    copies = rng.integers(0, 3, size=LARGE)
    weighted = clone(MODELS[name]).set_params(tol=1e-10).fit(X, sample_weight=copies)
    copied = clone(MODELS[name]).set_params(tol=1e-10).fit(np.repeat(X, copies, axis=0))
    np.testing.assert_allclose(numbers(weighted), numbers(copied), rtol=0, atol=1e-4)
    assert weighted.criterion_ == pytest.approx(copied.criterion_, rel=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_a_few_rows_from_a_source_are_fitted_as_in_memory(name, tables):
    X = tables[name][:800]
    for known in (True, False):
        inside, outside = clone(MODELS[name]).fit(X), clone(MODELS[name]).fit(OddRows(X, size=101, known=known))
        np.testing.assert_array_equal(numbers(outside), numbers(inside))
        np.testing.assert_allclose(outside.partition_.compute().masses, inside.partition_.masses, atol=1e-12)
        assert not outside.selection_["note"].str.contains("first look").any()


def test_all_rows_decide_and_not_the_sample_alone(monkeypatch):
    """The end over all rows is the one of a fit that never saw a sample."""
    X = blobs(6_000)
    model = ParsimoniousGaussianMixture(3, model="VVV", random_state=0, tol=1e-12, max_iter=5_000)
    whole = clone(model).fit(X)
    _small_samples(monkeypatch, 1_000)
    again = clone(model).fit(X)
    assert len(again.start_criteria_) == 1
    assert again.criterion_ == pytest.approx(whole.criterion_, rel=1e-10)
    np.testing.assert_allclose(numbers(again), numbers(whole), atol=1e-4)


def _small_samples(monkeypatch, size):
    from evidentia.rows.scan import Sketch

    settled = Sketch.keep_smallest
    monkeypatch.setattr(Sketch, "keep_smallest", lambda self: settled(self, size))
    for module in ("rows.scan", "mixtures.class_rows"):
        monkeypatch.setattr(f"evidentia.{module}.SKETCH_ROWS", size)


def test_first_looks_promise_what_the_fits_to_all_rows_have(monkeypatch):
    """The criteria of a look are raised by what all rows have above the sample, and near those of a whole fit."""
    X = blobs(20_000)
    model = ParsimoniousGaussianMixture(model=["VII", "EEE", "VVV"], cluster_range=(2, 4), n_init=1, random_state=0)
    whole = clone(model).fit(X).selection_
    _small_samples(monkeypatch, 5_000)
    fit = clone(model).fit(X)
    looks = fit.selection_["note"] == "first look"
    assert 0 < (~looks).sum() <= finalists.FINALISTS
    np.testing.assert_allclose(fit.selection_["bic"][~looks], whole["bic"][~looks], rtol=1e-6)
    offset = np.abs(fit.selection_["bic"] - whole["bic"])
    assert offset[looks].max() < 0.1 * (whole["bic"].max() - whole["bic"].min())
    assert (fit.selection_["bic"][looks] < fit.selection_["bic"][~looks].max()).all()


def test_looks_in_doubt_are_those_within_the_error_of_the_sample():
    """By hand: rows of weight 4, differences of +1 and -1 about their mean, so an error of 4 times the root of n."""
    from evidentia.belief import FocalSets
    from evidentia.mixtures._base import Candidate
    from evidentia.solvers.descent import Run

    weight, wave = np.full(100, 4.0), np.tile([1.0, -1.0], 50)
    density = {0: np.zeros(100), 1: wave, 2: wave, 3: np.zeros(100)}  # 2 DOUBT 4 sqrt(100) = 240 for 1 and 2

    def look(bic, at, collapsed=False):
        return Candidate(
            focal_sets=FocalSets(1), best=Run(at, np.zeros(1), True), runs=[], log_likelihood=0.0, n_parameters=1,
            n_objects=400.0, criteria={"bic": bic}, collapsed=collapsed,
        )  # fmt: skip

    looks = [look(0.0, 0), look(-239.0, 1), look(-241.0, 2), look(-1.0, 3), look(50.0, 0, collapsed=True)]
    found = finalists.doubtful_looks(looks, lambda one: (np.ones((100, 1)), density[one.best.state]), weight, "bic")
    assert found == [0, 1, 4]


def test_a_fit_that_was_stopped_goes_on_and_ends_at_the_same_bits(tmp_path, monkeypatch):
    X, path, passes, made = blobs(), tmp_path / "run.npz", [], []
    model = ParsimoniousGaussianMixture(3, model="VVI", n_init=1, random_state=3, tol=1e-9)
    whole = clone(model).fit(OddRows(X))

    class Stopped(Exception):
        pass

    def counted(self, digest, found, keep=Checkpoint.keep):
        passes.append(digest)
        keep(self, digest, found)
        if len(passes) == 4:
            raise Stopped

    monkeypatch.setattr(Checkpoint, "keep", counted)
    with pytest.raises(Stopped):
        clone(model).fit(OddRows(X), checkpoint=path)
    monkeypatch.setattr(Checkpoint, "keep", lambda self, digest, found: made.append(digest))
    resumed = clone(model).fit(OddRows(X), checkpoint=path)
    np.testing.assert_array_equal(numbers(resumed), numbers(whole))
    assert not set(passes[1:]) & set(made)


def test_classes_go_on_from_a_checkpoint(tmp_path):
    rows, path = OddRows(answers()), tmp_path / "run.npz"
    one, other = (clone(CLASSES["classes"]).fit(rows, checkpoint=path) for _ in range(2))
    np.testing.assert_array_equal(numbers(one), numbers(other))
    assert path.exists()


@EVERY
def test_an_interrupt_while_all_rows_are_read_keeps_the_best_look(name, tables, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(finalists, "descend", interrupted)
    with pytest.warns(InterruptedFit, match="first looks"):
        model = clone(MODELS[name]).fit(tables[name])
    assert model.selection_["note"].str.contains("interrupted").sum() == 1
    assert len(model.labels_) == LARGE


def test_a_component_that_collapses_on_all_rows_is_told(monkeypatch):
    """The sample knows nothing of the rows onto which a component collapses."""
    X = blobs(6_000)
    model = ParsimoniousGaussianMixture(2, model="VVV", n_init=1, random_state=0, reg_covar=0.3)
    _small_samples(monkeypatch, 1_000)
    monkeypatch.setattr(
        "evidentia.mixtures.parsimonious.as_first_look",
        lambda look, weight: finalists.replace(finalists.as_first_look(look, weight), collapsed=False),
    )
    with pytest.warns(UserWarning, match="a component collapsed in every start"):
        fit = model.fit(X)
    assert fit.collapsed_
    assert np.isnan(fit.selection_["bic"]).all()


def test_columns_that_are_constant_are_left_out_of_every_pass():
    X = np.insert(blobs(), 1, 7.25, axis=1)
    with pytest.warns(UserWarning, match=r"constant columns \[1\]"):
        wide = clone(GAUSSIAN["free"]).fit(OddRows(X))
    plain = clone(GAUSSIAN["free"]).fit(OddRows(blobs()))
    np.testing.assert_array_equal(wide.means_[:, 1], 7.25)
    assert wide.criterion_ == pytest.approx(plain.criterion_, rel=1e-4)
    with pytest.warns(UserWarning, match="constant columns"):
        single = ParsimoniousGaussianMixture(2, model="VVI", n_init=1, random_state=0).fit(OddRows(X[:, :2]))
    assert single.means_.shape == (2, 2)


def test_starts_of_the_caller_need_rows_in_memory():
    X = blobs()
    labels = np.digitize(X[:, 0], [2.5])
    model = ParsimoniousGaussianMixture(2, model="VVI", init=labels).fit(X)
    assert model.n_clusters_ == 2
    with pytest.raises(TypeError, match=r"only where all rows are in memory.*init='hierarchical'"):
        ParsimoniousGaussianMixture(2, model="VVI", init=labels).fit(OddRows(X))


def test_bad_rows_are_named():
    X = blobs()
    X[50_000, 1] = np.nan
    with pytest.raises(ValueError, match="ParsimoniousGaussianMixture needs finite numbers, but row 50000, column 1"):
        ParsimoniousGaussianMixture(2).fit(OddRows(X))


def test_the_bootstrap_of_a_large_table_starts_from_first_looks_too(monkeypatch):
    X = blobs(300)
    _small_samples(monkeypatch, 200)
    model = BootGMM(model=["VVI"], cluster_range=(2, 4), n_boot=20, random_state=0).fit(X)
    assert model.n_clusters_ >= 3


# -- categories -------------------------------------------------------------------------------------------------------


def test_many_rows_of_few_kinds_take_one_pass_and_give_the_whole_fit(monkeypatch):
    X = answers(120_000, d=5)
    monkeypatch.setattr(class_rows, "climb", None)  # no pass is needed
    model = clone(CLASSES["classes"]).fit(OddRows(X))
    kinds, counts = np.unique(np.nan_to_num(X, nan=99), axis=0, return_counts=True)
    merged = clone(CLASSES["classes"]).fit(np.where(kinds == 99, np.nan, kinds), sample_weight=counts)
    assert len(kinds) < 2_000
    np.testing.assert_allclose(numbers(model), numbers(merged), atol=1e-9)
    assert [found.tolist() for found in model.categories_] == [[-2, 1, 4]] * 5


def test_classes_place_new_rows_in_memory_or_not():
    X = answers(3_000)
    model = clone(CLASSES["classes"]).fit(OddRows(X))
    np.testing.assert_array_equal(model.predict(OddRows(X[:500], size=77)), model.predict(X[:500]))
    X[3, 2] = 100
    with pytest.raises(ValueError, match="categories that were not there in fit"):
        model.predict(OddRows(X))


@pytest.mark.parametrize(("value", "words"), [(2.5, r"such as 2.5 \(row 900\)"), (np.inf, r"such as inf \(row 900\)")])
def test_measurements_are_no_categories(value, words):
    X = answers(2_000)
    X[900, 3] = value
    with pytest.raises(ValueError, match=f"Column 3 of X holds numbers {words}.*LatentClassMixture reads"):
        LatentClassMixture(2).fit(OddRows(X))


def test_columns_of_too_many_numbers_or_none_are_refused():
    X = answers(30_000)
    X[:, 4] = np.arange(30_000)
    with pytest.raises(ValueError, match="Column 4 of X holds more than 10,000 different numbers"):
        LatentClassMixture(2).fit(OddRows(X, size=4_000))
    X[:, 4] = np.nan
    with pytest.raises(ValueError, match="Column 4 of X holds nothing but missing values"):
        LatentClassMixture(2).fit(OddRows(X))


def test_values_add_up_and_are_bounded():
    a = Values(np.array([0.0, 0, 2]), np.array([-1.0, 5, 0]))
    b = Values(np.array([0.0, 1, 2]), np.array([5.0, 3, 0]))
    both = a + b
    assert list(zip(both.column, both.value)) == [(0, -1), (0, 5), (1, 3), (2, 0)]
    many = [Values(np.zeros(9_000), np.arange(9_000.0) + shift) for shift in (0, 9_000, 18_000)]
    assert len((many[0] + many[1] + many[2]).value) == MOST_CATEGORIES + 1


# -- memory -----------------------------------------------------------------------------------------------------------


class Generated(RowSource):
    """Two million rows that are nowhere until they are read."""

    n_features, n_rows = 5, 2_000_000
    handles = range(100)

    def __init__(self, whole):
        self.whole = whole

    def read(self, handle):
        rng = np.random.default_rng(handle)
        table = rng.normal(size=(20_000, 5))
        table[rng.uniform(size=20_000) < 0.4] += 5
        yield Chunk(np.clip(np.round(1.5 * table), -5, 12) if self.whole else table, None, f"part {handle}, row ", 0)

    def fingerprint(self):
        return f"generated {self.whole}"


@pytest.mark.parametrize(
    "model",
    [
        ParsimoniousGaussianMixture(2, model="VVI", n_init=1, random_state=0),
        LatentClassMixture(2, n_init=1, tol=1e-3, random_state=0),
    ],
)
def test_memory_does_not_grow_with_the_number_of_rows(model):
    whole = isinstance(model, LatentClassMixture)
    small = next(Generated(whole).read(0)).table
    clone(model).fit(OddRows(small))  # what is loaded on first use does not count
    tracemalloc.start()
    try:
        with threads(1):
            model.fit(Generated(whole))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 70 << 20  # all rows are 80 MB, and their masses 32
    np.testing.assert_allclose(model.weights_, [0.6, 0.4], atol=0.02)
    assert len(pickle.dumps(model)) < 50_000
