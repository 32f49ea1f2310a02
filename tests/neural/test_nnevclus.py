"""NNEVCLUS as its users meet it."""

import inspect
import pickle
import sys

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from evidentia import load_model, methods
from evidentia.datasets import load
from evidentia.datasets.synthetic import make_student_four_class
from evidentia.dissimilarities import delta_star, make_source
from evidentia.methods import CHECKS_THAT_WEIGH
from evidentia.metric_learning import FDA
from evidentia.neural import (
    NNEVCLUS,
    inputs,
    knowledge,
    losses,
    network,
    objective,
    outliers,
    problem,
    search,
    training,
)
from evidentia.neural.search import Search
from evidentia.relational import EVCLUS
from evidentia.selection import select
from evidentia.solvers.descent import InterruptedFit

pytestmark = pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")  # most fits here are short on purpose


@pytest.fixture(scope="module")
def fourclass():
    data = make_student_four_class(400, random_state=2)
    return data.data, data.target


@pytest.fixture(scope="module")
def fitted(fourclass):
    """The settings of the paper's example, one of its five starts."""
    settings = {"hidden": 20, "n_pairs": 100, "outliers": True, "svm_gamma": 0.2, "n_init": 1, "random_state": 0}
    return NNEVCLUS(4, **settings).fit(fourclass[0])


# -- the paper's example ----------------------------------------------------------------------------------------------


def test_the_loss_is_within_a_fifth_of_evclus(fourclass, fitted):
    X, _ = fourclass
    free = EVCLUS(4, n_pairs=100, n_init=1, random_state=0).fit(X)
    assert free.criterion_ < fitted.loss_ < 1.2 * free.criterion_
    assert adjusted_rand_score(free.labels_, fitted.labels_) > 0.9


def test_a_fresh_sample_is_placed_and_its_outliers_found(fitted):
    fresh = make_student_four_class(1000, random_state=5)
    partition = fitted.predict_partition(fresh.data)
    assert adjusted_rand_score(fresh.target, partition.labels()) > 0.65
    assert 5 < len(partition.outliers()) < 200


def test_objects_far_from_all_others_are_outliers(fitted):
    angle = np.linspace(0, 2 * np.pi, 50)
    for radius in (60, 1e4):
        far = fitted.predict_partition(radius * np.c_[np.cos(angle), np.sin(angle)])
        assert (far.masses[:, 0] > 0.5).all()


def test_results_describe_the_fit(fourclass, fitted):
    X, _ = fourclass
    assert fitted.criterion_ == min(fitted.start_criteria_)
    assert fitted.criterion_ == pytest.approx(fitted.loss_, rel=1e-12)  # the order of a sum may differ
    assert fitted.criterion_trace_[-1] == fitted.criterion_
    assert len(fitted.criterion_trace_) == fitted.n_iter_ + 1
    assert fitted.criterion_trace_[-1] < fitted.criterion_trace_[0]
    found = fitted.shepard_
    d = np.linalg.norm(X[found.pairs[:, 0]] - X[found.pairs[:, 1]], axis=1)
    np.testing.assert_allclose(found.wanted, delta_star(d, fitted.delta0_))
    assert np.square(found.wanted - found.conflict).mean() == pytest.approx(fitted.loss_)
    assert fitted.stress_ == pytest.approx(fitted.loss_ / np.square(found.wanted).mean(), rel=1e-3)
    assert 0 < fitted.beta_[0] < fitted.beta_[1]
    np.testing.assert_allclose(fitted.predict_partition(X).masses, fitted.partition_.masses, atol=1e-12)
    assert (np.diff(fitted.partition_.pignistic.sum(axis=0)) <= 0).all()


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hidden": (12, 8)},
        {"n_pairs": 30},
        {"focal_sets": "near-pairs", "n_near": 1},
        {"metric": "cityblock"},
        {"metric": lambda a, b: float(np.abs(a - b).max())},
        {"optimizer": "adam", "batch_size": 30, "max_iter": 80, "n_init": 1},
        {"optimizer": "rmsprop", "batch_size": 30, "max_iter": 80, "n_init": 1, "metric": "cityblock"},
        {"early_stopping": True, "validation_fraction": 0.2},
        {"optimizer": "adam", "early_stopping": True, "batch_size": 30, "max_iter": 80, "n_init": 1},
        {"metric_learner": StandardScaler()},
        {"init": "belief-peaks"},
        {"init": "belief-peaks", "optimizer": "adam", "batch_size": 30, "max_iter": 80, "n_init": 1},
        {"delta0": None, "metric": lambda a, b: min(np.linalg.norm(a - b) / 6, 1)},
    ],
    ids=lambda settings: " ".join(settings) or "defaults",  # a function's text differs from worker to worker
)
def test_three_groups_are_found(blobs, settings):
    X, y = blobs
    model = NNEVCLUS(3, n_init=2, tol=1e-3, random_state=0).set_params(**settings).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert (model.predict(X) == model.labels_).all()
    assert len(model.validation_trace_) > 0 if model.early_stopping else len(model.validation_trace_) == 0
    assert model.loss_ < 0.05


def test_batches_end_near_the_whole(blobs):
    X, _ = blobs
    whole = NNEVCLUS(3, n_init=2, tol=1e-3, random_state=0).fit(X)
    batches = NNEVCLUS(3, n_init=1, optimizer="adam", batch_size=45, max_iter=120, random_state=0).fit(X)
    assert batches.loss_ < 2 * whole.loss_
    assert whole.delta0_ == pytest.approx(batches.delta0_)


def test_the_loss_of_a_batch_is_that_of_the_metric(blobs):
    """Euclidean distances have a quick way of their own; the same rows by a function take the other."""
    X, _ = blobs
    settings = {"optimizer": "adam", "batch_size": 30, "max_iter": 3, "n_init": 1, "random_state": 0}
    quick = NNEVCLUS(3, **settings).fit(X)
    plain = NNEVCLUS(3, metric=lambda a, b: np.linalg.norm(a - b), **settings).fit(X)
    np.testing.assert_allclose(quick.criterion_trace_, plain.criterion_trace_, rtol=1e-4)


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_the_same_seed_gives_the_same_network_and_leaves_torch_alone(blobs, optimizer):
    X, _ = blobs
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    model = NNEVCLUS(3, n_init=2, max_iter=10, optimizer=optimizer, outliers=True, random_state=4)
    one = model.fit(X).partition_.masses
    torch.rand(3)
    torch.random.set_rng_state(before)
    assert (model.fit(X).partition_.masses == one).all()
    assert (torch.random.get_rng_state() == before).all()
    assert torch.get_num_threads() == threads
    assert not np.allclose(model.set_params(random_state=5).fit(X).partition_.masses, one)


def test_rows_in_another_order_are_the_same_objects(blobs):
    X, _ = blobs
    order = np.random.default_rng(0).permutation(len(X))
    one, other = (NNEVCLUS(3, n_init=1, max_iter=10, random_state=0).fit(rows) for rows in (X, X[order]))
    assert one.loss_ == pytest.approx(other.loss_, rel=1e-9)
    np.testing.assert_allclose(one.partition_.masses[order], other.partition_.masses, atol=1e-6)


def test_shifted_and_scaled_data_give_the_same_masses(blobs):
    X, _ = blobs
    one, other = (NNEVCLUS(3, n_init=1, max_iter=20, random_state=0).fit(rows) for rows in (X, 1e3 * X + 1e6))
    np.testing.assert_allclose(one.partition_.masses, other.partition_.masses, atol=1e-3)


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_trace_ends_at_the_network_that_is_kept(blobs, optimizer, early_stopping):
    X, _ = blobs
    model = NNEVCLUS(3, optimizer=optimizer, batch_size=30, max_iter=60, n_init=2, l2=0.01, random_state=0)
    model.set_params(early_stopping=early_stopping, patience=2, validation_fraction=0.3).fit(X)
    assert model.criterion_ == model.criterion_trace_[-1] == min(model.start_criteria_)
    assert model.n_iter_ == len(model.criterion_trace_) - 1 > 5
    assert model.criterion_ > model.loss_  # the weights count
    if early_stopping:
        assert model.n_iter_ == model.validation_trace_.argmin() + 1
        assert model.n_iter_ < len(model.validation_trace_) or optimizer == "adam"  # whose steps became short before
    assert model.n_clusters_ == 3
    assert (model.xi_, len(model.constraints_)) == (0.5, 0)


def test_families_of_focal_sets(blobs):
    X, _ = blobs
    counts = {"pairs": 8, "full": 8, "simple": 5, "singletons": 4}
    for name, count in counts.items():
        model = NNEVCLUS(3, focal_sets=name, n_init=1, max_iter=3, random_state=0).fit(X)
        assert len(model.focal_sets_) == count
        assert model.focal_sets_.empty_index == 0
    assert set(counts) | {"near-pairs"} == set(NNEVCLUS.method.families)


def test_select_counts_clusters_not_principal_components(blobs):
    X, _ = blobs
    model = NNEVCLUS(n_components=2, n_init=1, max_iter=30, random_state=0)
    selection = select(X, model, n_clusters=[3, 4], criteria="normalized_nonspecificity")
    assert selection.table["n_clusters"].tolist() == [3, 4]
    assert selection.estimator_.n_clusters_ == selection.best[1]
    assert selection.estimator_.n_components == 2
    assert model.n_clusters == 2


def test_a_network_is_no_evclus_and_is_known_by_its_name():
    assert not issubclass(NNEVCLUS, EVCLUS)
    assert methods.find("nnevclus") is NNEVCLUS
    assert NNEVCLUS.method.number == ("given",)


def test_no_function_of_the_family_receives_the_estimator():
    """They take arrays and small frozen settings, so that each can be called alone."""
    for module in (inputs, knowledge, losses, network, objective, outliers, problem, search, training):
        source = inspect.getsource(module)
        assert "NNEVCLUS)" not in source, module.__name__
        assert ": NNEVCLUS" not in source, module.__name__
        assert "evidentia.neural.nnevclus" not in source, module.__name__


def test_belief_peaks_are_those_of_the_metric_with_its_arguments(blobs):
    """Any source will do, Gower's too."""
    X, y = blobs
    for settings in ({"metric": "gower"}, {"metric": "minkowski", "metric_params": {"p": 3}}):
        model = NNEVCLUS(3, init="belief-peaks", n_init=1, max_iter=60, random_state=0, **settings).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1
    stretched = {"metric": "minkowski", "metric_params": {"p": 2, "w": [1.0, 0.0]}}
    source = make_source(X, stretched["metric"], stretched["metric_params"], who="NNEVCLUS")
    plain = make_source(X[:, :1], "euclidean", who="NNEVCLUS")
    assert (problem.label_peaks(source, 3) == problem.label_peaks(plain, 3)).all()


# -- dissimilarities --------------------------------------------------------------------------------------------------


def test_dissimilarities_alone(blobs):
    X, y = blobs
    D = cdist(X, X)
    settings = {
        "metric": "precomputed",
        "n_components": 3,
        "n_init": 2,
        "tol": 1e-3,
        "random_state": 0,
        "outliers": True,
    }
    model = NNEVCLUS(3, **settings).fit(D[::2][:, ::2])
    assert adjusted_rand_score(y[::2], model.labels_) == 1
    assert adjusted_rand_score(y[1::2], model.predict(D[1::2][:, ::2])) == 1
    with pytest.raises(ValueError, match=r"X has 44 features, but NNEVCLUS is expecting 45 features.*dissimilarities"):
        model.predict(D[1::2][:, 1:89:2])


@pytest.mark.needs_data("protein")
def test_protein_is_recovered():
    data = load("protein")
    model = NNEVCLUS(4, focal_sets="simple", metric="precomputed", n_components=3, delta0=1.0, n_init=1, random_state=0)
    assert adjusted_rand_score(data.target, model.fit(data.dissimilarity).labels_) >= 0.98


def test_dissimilarities_beside_attributes(blobs):
    """The network sees the table; conflict follows other numbers."""
    X, y = blobs
    D = 1.0 * (y[:, None] // 2 != y // 2) + 0.01 * cdist(X, X)
    model = NNEVCLUS(2, metric=D, n_init=1, tol=1e-3, random_state=0).fit(X)
    assert adjusted_rand_score(y // 2, model.labels_) == 1
    with pytest.raises(ValueError, match=r"A matrix as 'metric' of NNEVCLUS must hold 90 × 90 finite numbers"):
        NNEVCLUS(2, metric=D[:, :3]).fit(X)
    with pytest.raises(ValueError, match="takes X for the dissimilarities"):
        NNEVCLUS(2, metric="precomputed", metric_learner=FDA()).fit(D)


# -- a network of one's own -------------------------------------------------------------------------------------------


class Convolution(torch.nn.Module):
    """Images of 8 × 8 pixels."""

    def __init__(self, n_outputs):
        super().__init__()
        self.see = torch.nn.Conv2d(1, 4, 3)
        self.tell = torch.nn.Linear(4, n_outputs)

    def forward(self, images):
        return self.tell(self.see(images).relu().amax((2, 3)))


def convolution(n_outputs=4):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Convolution(n_outputs)


@pytest.fixture(scope="module")
def stripes():
    """Upright and lying stripes anywhere in an image: distances of pixels say little, those of sums all."""
    rng = np.random.default_rng(0)
    images = 0.1 * rng.normal(size=(60, 1, 8, 8))
    y = np.arange(60) % 2
    for i, at in enumerate(rng.integers(1, 7, size=60)):
        images[i, 0, slice(None) if y[i] else at, at if y[i] else slice(None)] += 1
    feature = np.c_[images.sum(axis=2).max(axis=(1, 2)), images.sum(axis=3).max(axis=(1, 2))]
    return images, y, cdist(feature, feature)


def test_an_own_module_learns_images(stripes, tmp_path):
    images, y, D = stripes
    module = convolution()
    before = module.see.weight.detach().clone()
    model = NNEVCLUS(2, module=module, metric=D[:40, :40], n_init=3, max_iter=60, random_state=0).fit(images[:40])
    assert adjusted_rand_score(y[40:], model.predict(images[40:])) == 1
    assert (module.see.weight == before).all()
    model.save(tmp_path / "stripes.npz")
    again = load_model(tmp_path / "stripes.npz", module=convolution())
    np.testing.assert_allclose(
        again.predict_partition(images).masses, model.predict_partition(images).masses, atol=1e-12
    )
    with pytest.raises(ValueError, match="holds a model with a module of your own"):
        load_model(tmp_path / "stripes.npz")
    with pytest.raises(ValueError, match="module does not fit the weights"):
        load_model(tmp_path / "stripes.npz", module=convolution(5))
    with pytest.raises(ValueError, match=r"fitted to objects of shape \(1, 8, 8\)\. Got \(8, 8\)"):
        model.predict(images[:, 0])


def test_an_own_module_by_batches(stripes):
    images, y, D = stripes
    model = NNEVCLUS(
        2, module=convolution(), metric=D, optimizer="adam", batch_size=20, n_init=2, max_iter=60, random_state=0,
        outliers=True,
    )  # fmt: skip
    assert adjusted_rand_score(y, model.fit(images).labels_) > 0.9


def test_a_module_of_the_wrong_width(stripes):
    with pytest.raises(ValueError, match=r"each of 4 focal sets.*shape \(n, 4\)\. It gives 7"):
        NNEVCLUS(2, module=convolution(7)).fit(stripes[0])
    with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module"):
        NNEVCLUS(2, module="resnet").fit(stripes[0])


# -- bad input, interrupts, disasters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "sgd"}, "'optimizer' parameter of NNEVCLUS must be one of 'auto', 'lbfgs', 'rmsprop', 'adam'"),
        ({"device": "abacus"}, "must name a device of this machine, such as 'cpu' or 'cuda'. Got 'abacus'"),
        ({"hidden": (5, 0)}, r"'hidden' parameter of NNEVCLUS must be a number of units.*Got \(5, 0\)"),
        ({"hidden": 2.5}, "'hidden' parameter"),
        ({"n_pairs": 90}, "must be below the number of objects, 90"),
        ({"n_pairs": 5, "optimizer": "adam"}, "'n_pairs' is for optimizer='lbfgs'"),
        ({"nu": 0}, "'nu' parameter of NNEVCLUS must be a number > 0 and <= 1"),
        ({"init": "kmeans"}, "'init' parameter of NNEVCLUS must be one of 'auto', 'evclus', 'random', 'belief"),
        ({"n_components": 1.5}, r"'n_components' parameter of NNEVCLUS must be an integer >= 1 or a share in \(0, 1\)"),
        ({"focal_sets": "triples"}, "'focal_sets' parameter of NNEVCLUS must be one of 'pairs', 'full', 'simple', "),
        (
            {"metric": 3},
            "'metric' parameter of NNEVCLUS must be one of 'precomputed', 'gower', 'dtw', 'soft-dtw' or a metric",
        ),
        ({"delta0": 1.5}, "'delta0' parameter of NNEVCLUS must be 'auto' or a number > 0 and <= 1 or None"),
        ({"init": np.ones((90, 2))}, "'init' parameter of NNEVCLUS"),
        ({"focal_sets": [{0}, {1}, {2}], "outliers": True}, "needs the empty set"),
        ({"batch_size": 1}, "'batch_size' parameter"),
        ({"module": torch.nn.Linear(2, 8), "metric_learner": StandardScaler()}, "not both"),
    ],
    ids=str,
)
def test_settings_that_cannot_be(blobs, settings, message):
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(3).set_params(**settings).fit(blobs[0])


def test_labels_that_cannot_be(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match=r"must lie in 0\.\.1, or be -1 for unknown\. Row 70 has 2 \(20 such rows\)"):
        NNEVCLUS(2).fit(X, partial_labels=y)
    with pytest.raises(ValueError, match="numbers clusters of its own"):
        NNEVCLUS(3, init="belief-peaks").fit(X, partial_labels=y)


def test_torch_is_named_when_it_is_missing(blobs, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'needs PyTorch: pip install "evidentia\[nn\]"'):
        NNEVCLUS(3).fit(blobs[0])


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_an_interrupt_keeps_the_best_state(blobs, optimizer, monkeypatch):
    X, _ = blobs
    calls = 0
    original = training._Best.update

    def update(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == 12:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(training._Best, "update", update)
    with pytest.warns(InterruptedFit, match="NNEVCLUS was interrupted"):
        model = NNEVCLUS(3, optimizer=optimizer, batch_size=30, random_state=0).fit(X)
    assert len(model.start_criteria_) == 1
    assert model.criterion_ < 0.9 * model.criterion_trace_[0]
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
@pytest.mark.parametrize("start", [0, 1])
def test_an_interrupt_before_anything_was_learned(blobs, optimizer, start, monkeypatch):
    """The first start has nothing to keep; a later one falls back on those before it."""
    seen = []
    original = Search.train

    def train(self, *arguments):
        seen.append(None)
        if len(seen) > start:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(Search, "train", train)
    model = NNEVCLUS(3, optimizer=optimizer, batch_size=30, max_iter=5, init="random", random_state=0)
    if start == 0:
        with pytest.raises(KeyboardInterrupt):
            model.fit(blobs[0])
    else:
        with pytest.warns(InterruptedFit):
            assert len(model.fit(blobs[0]).start_criteria_) == 1


class Fragile(torch.nn.Linear):
    """Gives NaN from some call on."""

    calls = 0
    last = 40

    def forward(self, inputs):
        Fragile.calls += self.training
        return super().forward(inputs) * (1 if Fragile.calls <= self.last or not self.training else np.nan)


@pytest.mark.parametrize(
    ("optimizer", "where"), [("lbfgs", "in iteration"), ("adam", "in batch 1 of epoch 13.*smaller learning_rate")]
)
def test_a_loss_that_is_no_number_names_the_place_and_goes_back(blobs, optimizer, where):
    X, _ = blobs
    Fragile.calls = 0
    torch.manual_seed(0)
    model = NNEVCLUS(3, module=Fragile(2, 8), optimizer=optimizer, batch_size=30, n_init=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=f"stopped being a number {where}"):
        model.fit(X)
    assert np.isfinite(model.loss_)
    assert model.criterion_ < model.criterion_trace_[0]
    Fragile.calls = 100
    with pytest.raises(FloatingPointError, match="before anything was learned"):
        model.fit(X)


def test_a_fitted_model_is_pickled(fitted, fourclass):
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(fourclass[0]) == fitted.labels_).all()


# -- scikit-learn -----------------------------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        NNEVCLUS(n_init=1, max_iter=20, hidden=5),
        NNEVCLUS(n_init=1, max_iter=20, hidden=5, optimizer="adam", batch_size=50, learning_rate=0.1, outliers=True),
    ],
    expected_failed_checks=lambda model: model.method.failing_checks,
)
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None


# These give a table of attributes to an estimator that says it wants a matrix.
OF_ATTRIBUTES = {
    "check_clustering",
    "check_positive_only_tag_during_fit",
    "check_estimators_nan_inf",
    *CHECKS_THAT_WEIGH,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_of_a_matrix():
    names = []
    for estimator, check in estimator_checks_generator(NNEVCLUS(n_init=1, max_iter=5, hidden=5, metric="precomputed")):
        if check.func.__name__ not in OF_ATTRIBUTES:
            check(estimator)
            names.append(check.func.__name__)
    assert "check_nonsquare_error" in names
    assert len(names) > 35


@pytest.mark.parametrize("own", [False, True])
def test_a_small_problem_takes_one_core_and_a_network_of_ones_own_all(own, monkeypatch):
    seen, train = [], Search.train
    monkeypatch.setattr(Search, "train", lambda *args: (seen.append(torch.get_num_threads()), train(*args))[1])
    X = np.random.default_rng(0).normal(size=(20, 2))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        NNEVCLUS(2, module=torch.nn.Linear(2, 4) if own else None, n_init=1, tol=1, random_state=0).fit(X)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [2 if own else 1]
