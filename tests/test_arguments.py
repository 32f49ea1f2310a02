"""Arguments that mean the same everywhere are checked everywhere: seeds, numbers of threads, names, one-sided metrics.

Classes and functions are found by what the package exports, so one that is added tomorrow is tested tomorrow.
"""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import evidentia
from evidentia import (
    CECM,
    ECM,
    EGMM,
    FCM,
    ActiveSession,
    CredalPartition,
    FocalSets,
    LatentClassMixture,
    PairwiseConstraints,
    ParsimoniousGaussianMixture,
    communities,
    datasets,
    ensemble,
    methods,
    plots,
    scores,
    select,
)
from evidentia._base import EvidentialClusterer, MethodBase
from evidentia.app import images
from evidentia.prototypes import belief_peaks
from exported import exported, public_methods

X = np.random.default_rng(0).normal(size=(40, 3)) + 6 * np.repeat([0, 1], 20)[:, None]
CATEGORIES = (X > 3).astype(int)
PATH = np.eye(5, k=1) + np.eye(5, k=-1)
SURE = CredalPartition(np.eye(2)[[0, 0, 0, 1, 1]], FocalSets(2, [{0}, {1}]))
IMAGE = (np.arange(64).reshape(8, 8) % 7).astype(np.uint8)
TRUTH = scores.KnownMixture([0.5, 0.5], [[0.0], [5.0]], [np.eye(1), np.eye(1)])
CLASSES = methods.all_methods()

WRONG = {
    "random_state": ("x", -1, 2**32, 2**40, 1.5, True, np.random.default_rng(0)),
    "n_jobs": (0, 1.5, "all", True, np.nan),
}


def sample_of(model, table):
    return lambda **given: model.fit(table).sample(3, **given)


CALLS = {
    "ActiveSession": lambda **given: ActiveSession(CECM(2), X, **given),
    "EGMM.sample": sample_of(EGMM(2, random_state=0), X),
    "EGMM.sets": lambda **given: EGMM(2, model="EII", random_state=0).fit(X).sets(X, **given),
    "KnownMixture.sample": TRUTH.sample,
    "LatentClassMixture.sample": sample_of(LatentClassMixture(1, random_state=0), CATEGORIES),
    "PairwiseConstraints.sample": lambda **given: PairwiseConstraints.sample([0, 0, 1, 1], 2, **given),
    "ParsimoniousGaussianMixture.sample": sample_of(ParsimoniousGaussianMixture(2, random_state=0), X),
    "calibrate": lambda **given: scores.calibrate(
        TRUTH, evidentia.BootGMM(2, n_boot=10), n_samples=40, n_datasets=1, **given
    ),
    "communities": lambda **given: communities(PATH, **given),
    "ensemble": lambda **given: ensemble(X, FCM(2, n_init=1), n_fits=2, **given),
    "graph_plot_data": lambda **given: plots.graph_plot_data(SURE, PATH, **given),
    "make_bananas": lambda **given: datasets.make_bananas(20, **given),
    "make_bootgmm_mixture": lambda **given: datasets.make_bootgmm_mixture(1, 20, **given),
    "make_cecm_two_class": lambda **given: datasets.make_cecm_two_class(20, **given),
    "make_circles": lambda **given: datasets.make_circles(20, **given),
    "make_egmm_four_class": lambda **given: datasets.make_egmm_four_class(20, **given),
    "make_egmm_two_class": lambda **given: datasets.make_egmm_two_class(20, **given),
    "make_mri_phantom": lambda **given: datasets.make_mri_phantom(32, **given),
    "make_student_four_class": lambda **given: datasets.make_student_four_class(20, **given),
    "plot_graph": lambda **given: plots.plot_graph(SURE, PATH, **given),
    "quantize": lambda **given: images.quantize(IMAGE, **given),
    "segment": lambda **given: images.segment(IMAGE, FCM(2, n_init=1), **given),
    "select": lambda **given: select(X, "fcm", n_clusters=[2], **given),
}


def takes(function):
    """Those of the arguments that a signature has."""
    try:
        return sorted(set(inspect.signature(function).parameters) & set(WRONG))
    except (TypeError, ValueError):
        return []


def functions():
    """Functions, classes and methods of classes that the packages export, by name; no estimators.

    ``sets``, which all methods inherit, stands once.
    """
    yield "EGMM.sets", EGMM.sets
    for _, name, thing in exported():
        if not (inspect.isclass(thing) and issubclass(thing, MethodBase)):
            yield name, thing
        for method, function in public_methods(thing):
            if function is not EvidentialClusterer.sets:
                yield f"{name}.{method}", function


FUNCTIONS = {name: takes(thing) for name, thing in functions() if takes(thing)}


def test_every_function_that_takes_a_seed_or_a_number_of_threads_is_called_below():
    assert set(FUNCTIONS) == set(CALLS)


@pytest.mark.parametrize(("name", "argument"), [(name, one) for name in FUNCTIONS for one in FUNCTIONS[name]])
@pytest.mark.filterwarnings("ignore")
def test_a_function_refuses_nonsense_by_the_name_of_the_argument(name, argument):
    who = {"graph_plot_data": "plot_graph"}.get(name, name)
    for value in WRONG[argument]:
        with pytest.raises(ValueError, match=rf"^The '{argument}' parameter of {who} must be .* Got .* instead\."):
            CALLS[name](**{argument: value})


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("plot_graph", "calibrate")])
@pytest.mark.filterwarnings("ignore")
def test_a_function_takes_the_seeds_that_scikit_learn_takes(name):
    for seed in (0, np.int64(3), 2**32 - 1, np.random.RandomState(0)):
        if name != "graph_plot_data" or isinstance(seed, int):
            CALLS[name](random_state=seed)


@pytest.mark.parametrize(
    ("name", "argument"), [(name, one) for name, cls in CLASSES.items() for one in WRONG if one in cls.parameters]
)
def test_an_estimator_refuses_nonsense_by_the_name_of_the_parameter(name, argument):
    cls = CLASSES[name]
    for value in WRONG[argument]:
        model = clone(cls(**{argument: value}))
        with pytest.raises(ValueError, match=f"^The '{argument}' parameter of {cls.__name__} must be "):
            model.fit(CATEGORIES if "categories" in cls.method.reads else X)
        with pytest.raises(NotFittedError):
            model.save("nowhere.npz")


def test_a_generator_is_refused_with_the_cure():
    with pytest.raises(ValueError, match=r"Draw an integer from it: int\(rng\.integers\(2\*\*32\)\)"):
        ECM(2, random_state=np.random.default_rng(0)).fit(X)


# -- names of parameters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda cls: cls.__name__)
def test_an_unknown_parameter_is_named_with_the_class_and_the_nearest(cls):
    name = next(iter(cls.parameters))
    with pytest.raises(TypeError, match=rf"^{cls.__name__} has no parameter '{name}x'\. Did you mean '{name}'\?$"):
        cls(**{f"{name}x": 1})
    with pytest.raises(TypeError, match=rf"^{cls.__name__} has no parameter 'qqqqqq'\. It has .*{name}"):
        cls(qqqqqq=1)


@pytest.mark.parametrize("cls", CLASSES.values(), ids=lambda cls: cls.__name__)
def test_too_many_values_without_a_name_are_refused_with_the_class_and_the_names_that_are_free(cls):
    free = [name for name, parameter in cls.parameters.items() if not parameter.kw_only]
    said = f"only {', '.join(map(repr, free))}" if free else "no value"
    with pytest.raises(TypeError, match=rf"^{cls.__name__} takes {said} without a name. Got {len(free) + 2} values"):
        cls(*range(len(free) + 2))
    for name in free:
        with pytest.raises(TypeError, match=rf"^{cls.__name__} was given .*'{name}' twice"):
            cls(*range(len(free)), **{name: 1})


# -- metrics -----------------------------------------------------------------------------------------------------------

MEASURED = [cls for cls in CLASSES.values() if "metric" in cls.parameters]


def one_way(one, other):
    return float(max(0.0, one[0] - other[0]))


def rounded_otherwise(one, other):
    return float(np.abs(one - other).sum()) * (1 + 1e-13 * (one[0] > other[0]))


def build(cls, **more):
    wanted = {"n_clusters": 2, "n_init": 1, "random_state": 0, **cls.method.quick}
    return cls(**{name: value for name, value in wanted.items() if name in cls.parameters}, **more)


@pytest.mark.parametrize("cls", MEASURED, ids=lambda cls: cls.__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_metric_that_depends_on_the_order_of_two_objects_is_refused_as_such_a_matrix_is(cls):
    said = rf"^{cls.__name__} needs symmetric dissimilarities, but .*If the difference has no meaning, average them"
    matrix = np.array([[one_way(a, b) for b in X] for a in X])
    for metric, table in ((one_way, X), ("precomputed", matrix)):
        with pytest.raises(ValueError, match=said):
            build(cls, metric=metric).fit(table)
    build(cls, metric=rounded_otherwise).fit(X)


def test_there_are_estimators_with_a_metric():
    assert {"EVCLUS", "CEVCLUS", "EkNNclus", "BeliefHierarchical", "NNEVCLUS"} <= {cls.__name__ for cls in MEASURED}


def test_belief_peaks_refuses_a_one_sided_metric_too():
    with pytest.raises(ValueError, match=r"^belief_peaks needs symmetric .* the metric one_way gives"):
        belief_peaks(X, metric=one_way)


# -- tables that are not those of the fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [ECM, EGMM, LatentClassMixture], ids=lambda cls: cls.__name__)
def test_columns_in_another_order_are_refused_with_the_cure_for_it(cls):
    import pandas as pd

    table = pd.DataFrame(CATEGORIES if cls is LatentClassMixture else X, columns=list("abc"))
    model = build(cls).set_params(n_clusters=1).fit(table)
    with pytest.raises(ValueError, match=r"in their order: X\[model\.feature_names_in_\]\.$") as refusal:
        model.predict(table[["c", "a", "b"]])
    assert "a row for each object" not in str(refusal.value)
    with pytest.raises(ValueError, match=r"Feature names seen at fit time, yet now missing:\n- b\n$"):
        model.predict(table.rename(columns={"b": "q"}))
    unnamed = build(cls).set_params(n_clusters=1).fit(table.to_numpy())
    with pytest.raises(ValueError, match=r"X has 2 features, but \w+ is expecting 3 features as input\.?$"):
        unnamed.predict(table.to_numpy()[:, :2])


CATEGORICAL = [cls for cls in CLASSES.values() if "categories" in cls.method.reads]
ANSWERS = np.vstack(
    [np.random.default_rng(1).integers(0, 2, (20, 4)), np.random.default_rng(2).integers(1, 3, (20, 4))]
)


@pytest.mark.parametrize("kind", ["f2", ">f2", "g", "f4", ">f8", "i1", ">i4", "u8", "O", "rows", "numbers"])
@pytest.mark.parametrize("cls", CATEGORICAL, ids=lambda cls: cls.__name__)
def test_the_width_of_numbers_that_are_categories_does_not_matter(cls, kind):
    told = {"rows": list(ANSWERS.astype("f2")), "numbers": list(map(list, ANSWERS.astype("g")))}
    given = told[kind] if kind in told else ANSWERS.astype(kind)
    usual, model = build(cls).fit(ANSWERS), build(cls).fit(given)
    np.testing.assert_allclose(model.partition_.masses, usual.partition_.masses, atol=1e-12)
    np.testing.assert_array_equal(model.predict(given[:5]), usual.predict(ANSWERS[:5]))


@pytest.mark.parametrize("cls", CATEGORICAL, ids=lambda cls: cls.__name__)
def test_entries_that_cannot_be_categories_are_refused_with_their_column(cls):
    with pytest.raises(TypeError, match=r"^Column 0 of X holds entries that cannot be categories"):
        build(cls).fit(np.array([[{}, {}]] * 10, dtype=object))


@pytest.mark.parametrize("kind", ["f2", ">f8", ">i4", "g", "S1", "U1"])
def test_gower_does_not_depend_on_how_a_table_is_stored(kind):
    from evidentia.dissimilarities import gower_distances

    table = ANSWERS.astype(str if kind[0] in "SU" else float)
    np.testing.assert_allclose(gower_distances(ANSWERS.astype(kind)), gower_distances(table))


def test_gower_refuses_records():
    from evidentia.dissimilarities import gower_distances

    with pytest.raises(ValueError, match="Gower's dissimilarity needs numbers, but X holds records"):
        gower_distances(np.zeros((3, 2), dtype="V4"))
