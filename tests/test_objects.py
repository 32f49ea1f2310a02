"""An object is its name: no public function depends on the order in which named objects come.

Functions that take two partitions, or a partition and a table, labels or a graph of the same objects, are found by
their signatures and docstrings. One that is added tomorrow fails here until it has a case.
"""

import inspect
import re
import warnings
from copy import copy
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import evidentia
from evidentia import (
    CEVCLUS,
    ECM,
    EGMM,
    EVCLUS,
    NNEVCLUS,
    RECM,
    ActiveSession,
    BeliefHierarchical,
    CredalPartition,
    FocalSets,
    SECMdd,
    belief,
    fuse,
    graphs,
    methods,
    metric_learning,
    plots,
    scores,
    views,
)
from evidentia._objects import match_names, row_names
from evidentia.app import report
from evidentia.constraints import ask_oracle
from evidentia.metric_learning import FDA, KFDA, LFDA
from evidentia.partition.alignment import moved_objects
from exported import exported, public_methods

N = 12
NAMES = [f"r{i}" for i in range(N)]
CLASSES = np.repeat([0, 1, 2], [5, 4, 3])
ORDER = np.random.default_rng(1).permutation(N)
SETS = FocalSets(3)
SMALL = {"n_clusters": 3, "random_state": 0, "n_init": 2}


def near_classes(seed):
    rng = np.random.default_rng(seed)
    sets = [SETS.index({k}) for k in CLASSES]
    sets[3] = SETS.index({0, 1})
    masses = 0.6 * np.eye(len(SETS))[sets] + 0.4 * rng.dirichlet(np.ones(len(SETS)), N)
    return CredalPartition(masses, SETS, object_names=NAMES)


P, Q = near_classes(0), near_classes(1)
X = pd.DataFrame(np.random.default_rng(2).normal(size=(N, 2)) + 5 * np.c_[CLASSES, -CLASSES], NAMES, ["u", "v"])
D = pd.DataFrame(np.hypot(*(X.to_numpy()[:, None] - X.to_numpy()).T), NAMES, NAMES)
TRUTH = pd.Series(CLASSES, NAMES)
WEIGHT = pd.Series(np.arange(1.0, N + 1), NAMES)
STATED, CORRECT = pd.Series(np.linspace(0.4, 1, N), NAMES), pd.Series(np.arange(N) % 3 > 0, NAMES)
SPREAD = pd.DataFrame(np.random.default_rng(3).uniform(0, 3, (N, 2)), NAMES, ["u", "v"])
PARTNERS = pd.DataFrame(  # nobody is its own partner, in the order of the table and in the other one
    [np.setdiff1d(np.random.default_rng(i).permutation(N)[:6], [i, np.argsort(ORDER)[i]])[:4] for i in range(N)], NAMES
)
GRAPH = nx.Graph([(one, other) for one in NAMES for other in NAMES if one < other and D.loc[one, other] < 8])


def take(given, at):
    """Some of the objects, with their names."""
    if isinstance(given, nx.Graph):
        ordered = nx.Graph()
        ordered.add_nodes_from(np.array(list(given))[at])
        ordered.add_edges_from(given.edges)
        return ordered
    if isinstance(given, pd.DataFrame):
        return given.iloc[at, at] if given.shape == (N, N) else given.iloc[at]
    return given.iloc[at] if isinstance(given, pd.Series) else given[at]


def without_names(given):
    return given.name_objects(None) if isinstance(given, CredalPartition) else given.reset_index(drop=True)


def bare(given):
    """The same with no place for names, or with none in it."""
    return given.name_objects(None) if isinstance(given, CredalPartition) else np.asarray(given)


def fuse_both(p, q, **options):
    found = fuse([p, q], frame=np.c_[[0, 1, 2], [0, 1, 2]], **options)
    return np.c_[found.partition.masses, found.conflict]


def place_both(p, q):
    return fuse([P, Q], frame=np.c_[[0, 1, 2], [0, 1, 2]]).place([p, q]).masses


def written(write):
    def run(p, table):
        with TemporaryDirectory() as folder:
            return write(folder, p, table)

    return run


def page(write):
    def read(folder, p, table):
        text = write(f"{folder}/page.html", partition=p, X=table).read_text()
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|p[0-9]{4,}", "", text)  # what Bokeh numbers anew

    return written(read)


def results(folder, p, table):
    report.write_results(folder, partition=p, X=table, tables="csv")
    return pd.read_csv(f"{folder}/table.csv", index_col=0).to_numpy()


def observed(p, table):
    from anndata import AnnData

    adata = AnnData(np.zeros((N, 1)), obs=pd.DataFrame(index=table.index.astype(str)))
    p.to_anndata(adata)
    place = {name: i for i, name in enumerate(adata.obs_names)}
    return adata.obsm["evidentia_masses"][[place[name] for name in p.object_names or range(N)]]


def drawn(plot):
    def run(p, other):
        ax = plot(p, other)
        marks = [
            np.asarray(found.get_offsets()).round(9).tolist()
            for found in ax.collections
            if len(found.get_offsets()) > 1
        ]
        ax.figure.clear()
        return sorted(str(sorted(found)) for found in marks)

    return run


def fitted(estimator, what):
    def run(table, given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = estimator().fit(table, **{what: given})
        return model.partition_.masses if hasattr(model, "partition_") else model.transform(table)

    return run


def started(cls):
    def run(table, start):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return cls(3, focal_sets="full", init=start, random_state=0, max_iter=3).fit(table).partition_.masses

    return run


def made(estimator):
    """Masses of an estimator that has something for each object as a parameter."""

    def run(table, given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return estimator(given).fit(table).partition_.masses

    return run


def of_model(estimator, plot):
    """The picture of a fitted model whose partition is another one."""
    model = estimator.fit(X)

    def run(p, table):
        other = copy(model)
        other.partition_ = p
        return plot(other, table)

    return run


def curve(table, truth):
    session = ActiveSession(evidentia.CECM(3, random_state=0, n_init=1), table, random_state=0)
    return ask_oracle(session, truth, 3)["rand_index"].to_numpy()


MEDOIDS = SECMdd(3, random_state=0, n_init=2)
PARTITIONS = {
    "CredalPartition.align": lambda p, q: p.align(q.relabel([2, 0, 1])).masses,
    "CredalPartition.combine": lambda p, q: p.combine(q, rule="conjunctive").masses,
    **{
        f"evidentia.belief.{rule.__name__}": lambda p, q, rule=rule: rule(p, q).masses
        for rule in (belief.conjunctive, belief.disjunctive, belief.dempster, belief.yager, belief.cautious)
    },
    "evidentia.belief.average": lambda p, q: belief.average([p, q]).masses,
    "evidentia.belief.hedge": lambda p, q: belief.hedge([p, q]).masses,
    "evidentia.belief.combine_many": lambda p, q: belief.combine_many([p, q, p]).masses,
    "evidentia.belief.mean_conflict": lambda p, q: belief.mean_conflict([p, q])[0],
    "evidentia.fuse": fuse_both,
    "evidentia.partition.fuse": lambda p, q: fuse_both(p, q, rule="hedge"),
    "Fusion.place": place_both,
    "Ensemble.place": place_both,
    "evidentia.views.conflict_between_views": lambda p, q: views.conflict_between_views([p, q]),
    "evidentia.scores.credal_rand_index": lambda p, q: np.array(
        [scores.credal_rand_index(p, q, measure=measure) for measure in ("conflict", "jousselme", "belief")]
    ),
    "moved objects": lambda p, q: sorted(p.name(i) for i in moved_objects(p, q).tolist()),
}
TABLES = {
    "CredalPartition.explain": lambda p, table: str(p.explain("r3" if p.object_names else 3, table)),
    "CredalPartition.reasons": lambda p, table: np.array(p.reasons(table)),
    "CredalPartition.to_anndata": observed,
    "evidentia.plots.partition_plot_data": lambda p, table: plots.partition_plot_data(p, table).xy,
    "evidentia.plots.plot_partition": drawn(plots.plot_partition),
    "evidentia.plots.medoid_plot_data": of_model(MEDOIDS, lambda model, table: plots.medoid_plot_data(model, table).xy),
    "evidentia.plots.plot_medoids": of_model(MEDOIDS, drawn(plots.plot_medoids)),
    "evidentia.plots.plot_ellipses": of_model(
        ECM(3, adaptive=True, random_state=0, n_init=1), drawn(plots.plot_ellipses)
    ),
    "evidentia.app.report.write_report": page(report.write_report),
    "evidentia.app.report.write_interactive": page(report.write_interactive),
    "evidentia.app.report.write_results": written(results),
}
CASES = {
    **{name: (P, Q, run) for name, run in PARTITIONS.items()},
    **{name: (P, X, run) for name, run in TABLES.items()},
    "explain by dissimilarities": (
        P,
        D,
        lambda p, square: str(p.explain("r3" if p.object_names else 3, dissimilarities=square)),
    ),
    "fuse with labels": (P, TRUTH, fuse_both),
    "evidentia.scores.credal_scores": (P, TRUTH, lambda p, truth: scores.credal_scores(p, truth).to_numpy()),
    "evidentia.scores.reliability": (STATED, CORRECT, lambda p, right: np.array(scores.reliability(p, right)[1])),
    "evidentia.plots.plot_reliability": (STATED, CORRECT, drawn(plots.plot_reliability)),
    "evidentia.scores.hard_scores": (
        TRUTH // 2,
        TRUTH,
        lambda labels, truth: scores.hard_scores(labels, truth).to_numpy(),
    ),
    **{
        f"evidentia.scores.{name}": (TRUTH // 2, TRUTH, getattr(scores, name))
        for name in ("pair_precision", "pair_recall", "purity")
    },
    "evidentia.plots.distance_plot_data": (
        X,
        TRUTH,
        lambda table, labels: plots.distance_plot_data(table, labels=labels).order,
    ),
    "evidentia.plots.plot_distances": (
        X,
        D,
        lambda table, square: plots.plot_distances(table, square)[1].images[0].get_array(),
    ),
    "evidentia.metric_learning.learn_metric": (
        X,
        TRUTH,
        lambda table, truth: metric_learning.learn_metric(FDA(), table, labels=truth)[1],
    ),
    **{f"{cls.__name__}.fit": (X, TRUTH, fitted(cls, "y")) for cls in (FDA, KFDA, LFDA)},
    "evidentia.constraints.ask_oracle": (X, TRUTH, curve),
    "EGMM.fit": (X, P, fitted(lambda: EGMM(3, random_state=0, model="EII"), "partial_labels")),
    "EGMM.fit of numbers": (X, TRUTH, fitted(lambda: EGMM(3, random_state=0, model="EII"), "partial_labels")),
    "NNEVCLUS.fit": (
        X,
        TRUTH,
        fitted(lambda: NNEVCLUS(3, random_state=0, n_init=1, hidden=4, max_iter=20), "partial_labels"),
    ),
    "NNEVCLUS(metric)": (
        X,
        D**2,
        made(lambda square: NNEVCLUS(3, metric=square, random_state=0, n_init=1, hidden=4, max_iter=20)),
    ),
    "BeliefHierarchical(uncertainty)": (
        X,
        SPREAD,
        made(lambda spread: BeliefHierarchical(3, linkage="average", uncertainty=spread)),
    ),
    **{
        f"{cls.__name__}(n_pairs)": (
            X,
            PARTNERS,
            lambda table, pairs, cls=cls: cls(3, n_pairs=pairs, random_state=0, n_init=1).fit(table).partition_.masses,
        )
        for cls in (EVCLUS, CEVCLUS)
    },
    **{f"{cls.__name__}(init)": (X, P, started(cls)) for cls in (EVCLUS, CEVCLUS, RECM, NNEVCLUS)},
    "evidentia.belief.discount": (P, WEIGHT / (N + 1), lambda p, rate: belief.discount(p, rate).masses),
    "evidentia.graphs.modularity": (P, GRAPH, lambda p, graph: graphs.modularity(graph, p)),
    "evidentia.plots.graph_plot_data": (
        P,
        GRAPH,
        lambda p, graph: dict(zip(graph, plots.graph_plot_data(p, graph, layout=dict.fromkeys(graph, (0, 0))).masks)),
    ),
    "evidentia.plots.plot_graph": (
        P,
        GRAPH,
        drawn(lambda p, graph: plots.plot_graph(p, graph, layout={name: tuple(X.loc[name]) for name in graph})),
    ),
}
ALWAYS_NAMED = {
    "CredalPartition.to_anndata",
    "evidentia.graphs.modularity",
    "evidentia.plots.graph_plot_data",
    "evidentia.plots.plot_graph",
}
PAGES = {"evidentia.app.report.write_report", "evidentia.app.report.write_interactive", "evidentia.plots.plot_medoids"}
# What takes two things but does not compare their objects.
OTHER = {
    **dict.fromkeys(
        ("evidentia.communities", "evidentia.graphs.communities"), "the model gives settings, it is fitted anew"
    ),
    **dict.fromkeys(
        ("evidentia.explore", "evidentia.app.explorer.explore"), "the model gives settings, it is fitted anew"
    ),
    "evidentia.plots.plot_pair_draws": "truth is a number",
    "evidentia.scores.interval_coverage": "the true posterior is an array, which has no names",
    "LazyPartition.reduce": "partitions of the same rows, which have no names",
    "evidentia.plots.contour_plot_data": "X gives the range of the picture only",
    "evidentia.plots.plot_contours": "X gives the range of the picture only",
}


# -- which functions they are -----------------------------------------------------------------------------------------

A_PARTITION = re.compile(r"CredalPartition|LazyPartition|SparsePartition|MassFunctions|\bpartitions?\b")
SEVERAL = re.compile(r"[sS]equence|Mapping|\*others")
PARTITION_OR_MODEL = ("partition", "model", "session")
PER_OBJECT = re.compile(r"\(n_(samples|objects|rows)\b")
WEIGHTS = ("sample_weight",)  # have tests of their own, below
NEEDED_BY_FIT = {"partial_labels": "partial labels", "y": "labels"}
BESIDE = ("X", "y", "truth", "labels", "dissimilarities", "graph", "adata", "partial_labels", "after")


def public_functions():
    """Functions and public methods of classes that the packages export, by their names."""
    for home, name, thing in exported():
        if inspect.isfunction(thing):
            yield f"{home}.{name}", thing, None
        for method, function in public_methods(thing):
            yield f"{name}.{method}", function, thing


def kinds_of_parameters(function):
    """Annotation and documented type of each parameter."""
    documented = {}
    section = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")[2]
    for names, kind in re.findall(r"^(\w[\w, ]*) : (.+)$", section, re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), kind)
    parameters = inspect.signature(function).parameters.items()
    return {name: f"{one.annotation} {documented.get(name, '')}" for name, one in parameters}


def compares_objects(function, owner):
    """Whether a function takes two partitions, or a partition or table and something of the same objects."""
    kinds = kinds_of_parameters(function)
    if function.__name__ == "fit":  # all have the same arguments, and refuse what their record does not list
        record = getattr(owner, "method", None)
        takes = () if record is None else record.takes
        kinds = {name: kind for name, kind in kinds.items() if NEEDED_BY_FIT.get(name) in (None, *takes)}
    ignored = {name for name, kind in kinds.items() if name == "y" and "array-like" not in kind}
    partitions = [name for name, kind in kinds.items() if A_PARTITION.search(f"{name} {kind}")]
    count = len(partitions) + sum(bool(SEVERAL.search(kinds[name])) for name in partitions)
    count += sum(name in PARTITION_OR_MODEL for name in kinds if name not in partitions)
    count += (
        owner is not None
        and issubclass(owner, (belief.MassFunctions, evidentia.partition.LazyPartition))
        and "self" in kinds
    )
    told = {name for name, kind in kinds.items() if name in BESIDE or PER_OBJECT.search(kind)} - set(WEIGHTS)
    beside = told - set(partitions) - ignored
    return count + len(beside) >= 2


def parameters_of_objects():
    """Parameters of estimators that hold something of each object of the table to be fitted."""
    for cls in methods.all_methods().values():
        if cls.__module__.startswith("evidentia.experimental"):
            continue
        for name, parameter in cls.parameters.items():
            if PER_OBJECT.search(parameter.check.kind):
                yield f"{cls.__name__}({name})"


FOUND = sorted(
    {name for name, function, owner in public_functions() if compares_objects(function, owner)}
    | set(parameters_of_objects())
)


@pytest.mark.parametrize("name", FOUND)
def test_every_function_that_compares_objects_is_tested(name):
    assert name in CASES or name in OTHER, f"{name} takes two things of the same objects: give it a case in CASES"


def test_nothing_is_excused_that_is_not_there():
    assert set(OTHER) <= set(FOUND)
    assert {name for name in CASES if set(".(") & set(name) and " " not in name} <= set(FOUND)


# -- names decide ------------------------------------------------------------------------------------------------------


def assert_same(found, expected):
    if isinstance(found, np.ndarray) and found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, atol=1e-9)
    elif isinstance(found, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == pytest.approx(expected) if isinstance(found, float) else found == expected


def differ(found, expected):
    try:
        assert_same(found, expected)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("name", CASES)
def test_permuting_the_second_with_its_names_changes_nothing(name):
    first, second, run = CASES[name]
    assert_same(run(first, take(second, ORDER)), run(first, second))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ALWAYS_NAMED])
def test_the_order_matters_where_there_are_no_names(name):
    """Or the case above would say nothing."""
    first, second, run = CASES[name]
    assert differ(run(bare(first), bare(take(second, ORDER))), run(bare(first), bare(second)))


@pytest.mark.parametrize("name", [name for name, (first, _, _) in CASES.items() if first is P and name not in PAGES])
def test_the_result_is_in_the_order_of_the_first(name):
    first, second, run = CASES[name]
    found, expected = run(take(first, ORDER), second), run(first, second)
    by_object = isinstance(found, np.ndarray) and len(found) == N
    assert_same(found, expected[ORDER] if by_object else expected)


@pytest.mark.parametrize("name", CASES)
def test_names_against_no_names_are_refused(name):
    first, second, run = CASES[name]
    if name != "evidentia.constraints.ask_oracle":
        with pytest.raises(ValueError, match="have names, such as 'r"):
            run(without_names(first), second)
    if not isinstance(second, nx.Graph):
        with pytest.raises(ValueError, match=r"have names, such as 'r|must have the same objects"):
            run(first, without_names(second))


@pytest.mark.parametrize("name", CASES)
def test_other_names_are_refused(name):
    first, second, run = CASES[name]
    new = ["new", *NAMES[1:]]
    if isinstance(second, nx.Graph):
        second = nx.relabel_nodes(second, {"r0": "new"})
        run = run if name == "evidentia.graphs.modularity" else lambda p, graph: plots.graph_plot_data(p, graph)
    else:
        second = second.name_objects(new) if isinstance(second, CredalPartition) else second.set_axis(new)
    with pytest.raises(
        ValueError, match=r"must have the same objects, but only .* has '.*' and only .* has '"
    ) as error:
        run(first, second)
    assert re.findall(r"has '(\w+)'", str(error.value)) in (["r0", "new"], ["new", "r0"])


# -- weights ----------------------------------------------------------------------------------------------------------

WEIGHTED = sorted(name for name, cls in methods.all_methods().items() if "weights" in cls.method.takes)


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, way) for way in ("fit", "partial_fit") for name in WEIGHTED if hasattr(methods.find(name), way)],
)
def test_weights_of_named_rows_are_joined_with_them(name, way):
    cls = methods.find(name)
    table = pd.concat([X + 0.1 * k for k in range(8)]).set_axis([f"r{i}" for i in range(8 * N)])
    weight = pd.Series(np.arange(1.0, 8 * N + 1), table.index)
    settings = {key: value for key, value in {**SMALL, **cls.method.quick}.items() if key in cls.parameters}
    table = (table > 0).astype(str) if cls.method.reads == ("categories",) else table
    given = {"one": table[["u"]], "two": table[["v"]]} if cls.method.reads_views else table

    def run(weight, given=given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(cls(**settings), way)(given, sample_weight=weight).partition_.masses

    expected = run(weight)
    np.testing.assert_array_equal(run(weight.sample(frac=1, random_state=0)), expected)
    np.testing.assert_array_equal(run(weight.to_numpy()), expected)
    with pytest.raises(ValueError, match=r"'sample_weight' of .* have none"):
        run(weight.reset_index(drop=True))
    if not cls.method.reads_views:
        np.testing.assert_array_equal(run(weight, table.to_numpy()), expected)


# -- what a name is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, None),
        ([0, 1, 2], None),
        (pd.RangeIndex(3), None),
        (pd.Index([0, 1, 2], dtype="uint8"), None),
        (pd.RangeIndex(10, 13), ("10", "11", "12")),
        (pd.RangeIndex(2, -1, -1), ("2", "1", "0")),
        ([1, 2, 0], ("1", "2", "0")),
        ([7, "b", "b"], ("7", "b", "b")),
        (["0", "1", "2"], ("0", "1", "2")),
    ],
)
def test_an_index_names_the_rows_unless_it_numbers_them(index, names):
    frame = pd.DataFrame({"x": [1.0, 2.0, 9.0]}, index=index)
    assert row_names(frame) == row_names(frame["x"]) == names
    assert ECM(2, n_init=1, random_state=0).fit(frame).partition_.object_names == names
    assert row_names(frame.to_numpy()) is None
    assert row_names([[1.0]]) is None


def test_names_that_are_the_numbers_in_order_contradict_nothing():
    assert match_names(("0", "1", "2"), None) is None
    assert match_names(None, ("0", "1", "2")) is None
    assert match_names(("0", "1", "2"), ("2", "0", "1")).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="have names, such as '2'"):
        match_names(None, ("2", "0", "1"))


def test_names_that_come_twice_are_taken_only_in_the_same_order():
    assert match_names(("a", "a", "b"), ("a", "a", "b")) is None
    with pytest.raises(ValueError, match=r"The first partition and .* cannot be matched: 2 objects of .* the name 'a'"):
        match_names(("a", "a", "b"), ("a", "b", "a"))


def test_other_rows_of_one_frame_are_other_objects():
    frame = X.reset_index(drop=True)
    one, other = (ECM(2, random_state=0, n_init=1).fit(part) for part in (frame.iloc[:8], frame.iloc[4:]))
    with pytest.raises(ValueError, match="those of partition 0 have none"):
        fuse([one, other])
    with pytest.raises(ValueError, match=r"only partition 0 has '0', '1', '2', '3' and only partition 1 has '8', '9'"):
        fuse([one.partition_.name_objects(frame.index[:8]), other])


def test_rows_of_a_shuffled_frame_are_joined_once_they_have_names():
    frame = X.reset_index(drop=True)
    one, other = (ECM(3, random_state=0).fit(part).partition_ for part in (frame, frame.iloc[ORDER]))
    with pytest.raises(ValueError, match=r"give both the same names or none: name_objects\(names\)"):
        scores.credal_rand_index(one, other, measure="jousselme")
    named = one.name_objects(frame.index)
    assert scores.credal_rand_index(named, other, measure="jousselme") == pytest.approx(1)
    found = fuse([named, other]).partition
    assert found.object_names == named.object_names
    assert scores.hard_scores(found.labels(), named.labels())["adjusted_rand"] == 1


def test_arrays_have_no_names_that_could_contradict():
    expected = scores.credal_scores(P, TRUTH)
    pd.testing.assert_series_equal(scores.credal_scores(P, CLASSES), expected)
    pd.testing.assert_series_equal(scores.credal_scores(P, CLASSES.tolist()), expected)
    found = fuse([CLASSES, P, P[ORDER]])
    assert found.partition.object_names == P.object_names
    np.testing.assert_array_equal(found.partition.masses, fuse([CLASSES, P, P]).partition.masses)
