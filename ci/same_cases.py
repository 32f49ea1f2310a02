"""The fits of ``same.py``: small tables of every kind, what each method accepts, and what is noted of a result."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

import evidentia

# -- what to adapt when names of the library change --------------------------------------------------------------------

# Arguments of ``fit``, by their names now and in versions to come: the first that is there is given.
ARGUMENTS = {
    "weights": ("sample_weight",),
    "links": ("constraints", "links"),
    "partial labels": ("partial_labels", "knowledge", "labels"),
    "uncertainty": ("uncertainty",),
    "dissimilarities": ("dissimilarities",),
    "partners": ("partners",),
}
# Those that are parameters of the constructor in later versions: the methods and the names of the parameters.
CONSTRUCTED = {
    "uncertainty": (("bhc",), "uncertainty"),
    "dissimilarities": (("nnevclus",), "metric"),
    "partners": (("evclus", "cevclus"), "n_pairs"),
}
# Words in the ``takes`` of a record for them. An argument without such words is given where ``fit`` has it.
TAKES = {"weights": ("weights",), "links": ("links",), "partial_labels": ("partial labels",)}
# Settings of the methods whose fits would take more than some seconds.
SMALL: dict[str, dict[str, Any]] = {
    "bootgmm": {"n_boot": 30},
    "nnevclus": {"n_init": 1, "max_iter": 30},
}
RANGE = {"cluster_range": (1, 4)}  # of numbers of clusters, where they are searched
# Parameters that change no result, or that have cases of their own.
NOT_VARIED = {
    "metric", "metric_params", "metric_learner", "views", "module", "device", "n_jobs", "verbose", "random_state",
    "tol", "max_iter", "n_init", "warm_start", "n_boot",
}  # fmt: skip


def registered() -> dict[str, Any]:
    """Return every class that has a record, by its short name."""
    return dict(evidentia.methods.all_methods())


def declared(cls: Any, name: str) -> tuple[list[str], Callable[[Any], bool]]:
    """Return the words that a parameter may be, and the function that checks a value."""
    check = cls.parameters[name].check
    return re.findall(r'"([^"]+)"', check.kind), check.accepts


def argument(cls: Any, what: str) -> str:
    """Return the name of an argument of ``fit``, or of a parameter for it, empty where a method accepts neither."""
    takes = set(cls.method.takes)
    named = [name for name in ARGUMENTS[what] if name in inspect.signature(cls.fit).parameters]
    if named:
        needed = TAKES.get(what) or TAKES.get(named[0])
        return named[0] if needed is None or takes & set(needed) else ""
    able, parameter = CONSTRUCTED.get(what, ((), ""))
    return parameter if cls.method.name in able else ""


# -- tables ------------------------------------------------------------------------------------------------------------

MOST_ROWS, MOST_CLUSTERS = 400, 4


class Table(NamedTuple):
    """A table, a number in place of the class of each object, and where it comes from."""

    X: Any
    y: np.ndarray
    origin: str = "generated"

    @property
    def n_clusters(self) -> int:
        return min(int(self.y.max()) + 1, MOST_CLUSTERS)


def blobs(n: int = 90, columns: int = 2) -> Table:
    X, y = make_blobs(n, columns, centers=3, cluster_std=1.6, random_state=4)[:2]
    return Table(X, y)


def paper(name: str, rows: int, columns: int) -> Table:
    """Return a data set of a paper, at most 400 of its rows; generated groups where it is not on this machine."""
    try:
        data = evidentia.datasets.load(name)
    except FileNotFoundError:
        return Table(*blobs(rows, columns)[:2], f"generated in place of {name}, which is not here")
    X = data.data if data.data is not None else data.dissimilarity
    y = np.arange(len(X)) * 3 // len(X) if data.target is None else np.asarray(data.target)
    some = np.arange(0, len(X), -(-len(X) // MOST_ROWS))
    return Table(X[some] if data.data is not None else X[np.ix_(some, some)], y[some], "the data set")


def with_gaps() -> Table:
    X, y, _ = paper("iris", 150, 4)
    return Table(np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X), y)


def answers(gaps: bool) -> Table:
    rng, y = np.random.default_rng(2), np.arange(90) % 3
    words = np.array(["no", "yes", "both", "none"], dtype=object)
    codes = np.where(rng.random((90, 5)) < 0.7, y[:, None], rng.integers(4, size=(90, 5)))
    X = pd.DataFrame(words[codes], columns=list("abcde"))
    return Table(X.mask(rng.random(X.shape) < 0.08, None) if gaps else X, y)


def mixed() -> Table:
    X, y, _ = blobs()
    return Table(answers(False).X.iloc[:, :2].assign(x=X[np.argsort(y % 3), 0], z=X[:, 1]), y)


def series() -> Table:
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    return Table(
        [np.sin(np.arange(12 + i % 4) / (2 + k)) + 0.2 * rng.normal(size=12 + i % 4) for i, k in enumerate(y)], y
    )


def masses() -> Table:
    sets, y = evidentia.FocalSets(3), np.arange(60) % 3
    drawn = np.random.default_rng(5).dirichlet(np.full(len(sets.masks), 0.3), size=60)
    drawn[np.arange(60), [list(sets.masks).index(1 << k) for k in y]] += 1
    return Table(evidentia.CredalPartition(drawn / 2, sets), y)


def two_views(matrices: bool) -> Table:
    X, y, origin = paper("seeds", 210, 7)
    views = {"size": X[::2, :3], "shape": X[::2, 3:]}
    return Table({name: cdist(v, v) if matrices else v for name, v in views.items()}, y[::2], origin)


# Name: the kind of table, as in the ``reads`` of a record (or see `kinds_read`), and the function that makes it.
TABLES: dict[str, tuple[str, Callable[[], Table]]] = {
    "blobs": ("table", blobs),
    "iris": ("table", partial(paper, "iris", 150, 4)),
    "wine": ("table", partial(paper, "wine", 178, 13)),
    "seeds": ("table", partial(paper, "seeds", 210, 7)),
    "fourclass": ("table", partial(paper, "fourclass", 400, 2)),
    "ecoli": ("table", partial(paper, "ecoli_egmm", 336, 5)),
    "diabetes": ("table", partial(paper, "diabetes", 145, 3)),
    "newthyroid": ("table", partial(paper, "newthyroid", 215, 5)),
    "glass": ("table", partial(paper, "glass", 214, 9)),
    "knowledge": ("table", partial(paper, "knowledge", 202, 5)),
    "butterfly": ("table", partial(paper, "butterfly12", 12, 2)),
    "iris with gaps": ("gaps", with_gaps),
    "protein": ("dissimilarities", partial(paper, "protein", 213, 2)),
    "answers": ("categories", partial(answers, False)),
    "answers with gaps": ("categories with gaps", partial(answers, True)),
    "mixed": ("mixed", mixed),
    "series": ("series", series),
    "masses": ("mass functions", masses),
    "two views": ("views", partial(two_views, False)),
    "two matrices": ("views of dissimilarities", partial(two_views, True)),
}
METRICS = {"dissimilarities": ("precomputed",), "mixed": ("gower",), "series": ("dtw", "soft-dtw")}


@cache
def table(name: str) -> Table:
    found = TABLES[name][1]()
    if TABLES[name][0] == "dissimilarities" and found.origin.startswith("generated"):
        return found._replace(X=cdist(found.X, found.X))
    return found


def kinds_read(cls: Any) -> set[str]:
    """Return the kinds of tables that a method reads."""
    kinds, gaps = set(cls.method.reads), "missing values" in cls.method.takes
    kinds |= {"mixed"} if {"categories", "table"} <= kinds else set()
    kinds |= {"categories with gaps"} if gaps and "categories" in kinds else set()
    kinds |= {"gaps"} if gaps and "table" in kinds else set()
    return kinds | ({"mixed", "series"} if "metric" in cls.parameters else set())


# -- cases -------------------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A method, a table, and what is special about the fit: in words, or settings."""

    method: str
    table: str
    variant: str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return ", ".join([f"{self.method}: {self.table}", *filter(None, [self.variant, *map(_setting, self.settings)])])


def _setting(one: tuple[str, Any]) -> str:
    return f"{one[0]}={one[1]!r}"


def all_cases() -> Iterator[Case]:
    """List the cases of every method, and of the functions that combine fits."""
    for name, cls in registered().items():
        yield from cases_of(name, cls)
    for name, calls in FUNCTIONS.items():
        yield from (Case(name, call) for call in calls)


def cases_of(name: str, cls: Any) -> Iterator[Case]:
    kinds, takes = kinds_read(cls), set(cls.method.takes)
    read = [one for one in TABLES if TABLES[one][0] in kinds]
    main = read[0]
    if cls.method.learner:  # what it learns from is in every case
        yield from (Case(name, one) for one in read if TABLES[one][0] == "table")
        yield from (Case(name, main, "", (setting,)) for setting in varied(cls))
        return
    for one in read:
        metrics = METRICS.get(TABLES[one][0], ()) if "metric" in cls.parameters else ()
        yield from (Case(name, one, "", (("metric", metric),)) for metric in metrics)
        if not metrics:
            yield Case(name, one)
    if "metric" in cls.parameters:
        yield Case(name, main, "", (("metric", "cityblock"),))
    if "table" in kinds:
        yield from (Case(name, main, variant) for variant in ("frame", "single precision"))
    if "rows beyond memory" in takes:
        yield from (Case(name, main, variant) for variant in ("npy", "dask", "sparse"))
    for what in ARGUMENTS:
        if argument(cls, what):
            yield Case(name, main, what)
            if "table" in kinds:
                yield Case(name, "iris", what)
    if argument(cls, "weights") and "gaps" in kinds:
        yield Case(name, "iris with gaps", "weights")
    if argument(cls, "links"):
        yield Case(name, main, "soft links")
        if "metric_learner" in cls.parameters:
            yield Case(name, main, "links, learned metric")
    if argument(cls, "partial labels"):
        yield Case(name, main, "possible labels")
    if hasattr(cls, "partial_fit"):
        yield Case(name, main, "partial fit")
    if "searched" in cls.method.number and "table" in kinds:
        yield from (Case(name, one, "", (("n_clusters", "auto"),)) for one in ("iris", "diabetes"))
    yield from (Case(name, main, "", (setting,)) for setting in varied(cls))


def varied(cls: Any) -> Iterator[tuple[str, Any]]:
    """List every other word and truth value that a parameter accepts, and one other number for each."""
    for name, parameter in inspect.signature(cls).parameters.items():
        if name in NOT_VARIED:
            continue
        words, accepts = declared(cls, name)
        default = parameter.default
        yield from ((name, word) for word in words if word != default)
        if isinstance(default, bool):
            yield name, not default
        elif isinstance(default, float) and not np.isinf(default):
            near = default * (1.25 if default >= 1 else 0.8)
            yield from ((name, value) for value in (near, 0.5) if value != default and accepts(value))
        elif name != "n_clusters" and not accepts(object()):
            yield from ((name, value) for value in (3, 0.5) if value != default and accepts(value))


def problem(case: Case, folder: Path) -> tuple[Any, Any, dict[str, Any]]:
    """Return the model of a case, its table, and the arguments of ``fit``."""
    cls, used, variant = registered()[case.method], table(case.table), case.variant
    X, y, n_clusters = used.X, used.y, used.n_clusters
    settings = {**SMALL.get(case.method, {}), **dict(case.settings)}
    if "n_clusters" in cls.parameters and "given" in cls.method.number:
        settings.setdefault("n_clusters", n_clusters)
    if settings.get("n_clusters") == "auto" and set(RANGE) <= set(cls.parameters):
        settings |= RANGE
    if "random_state" in cls.parameters:
        settings["random_state"] = 0
    links = evidentia.PairwiseConstraints.sample(y, min(20, len(y)), random_state=0)
    given: dict[str, Any] = {}
    if cls.method.learner:
        given = {argument(cls, "links"): links} if argument(cls, "links") else {"y": y}
    elif variant in ARGUMENTS:
        given[argument(cls, variant)] = {
            "weights": 0.25 + np.arange(len(y)) % 5,
            "links": links,
            "partial labels": np.where(np.arange(len(y)) % 4 == 0, np.minimum(y, n_clusters - 1), -1),
            "uncertainty": np.full(np.shape(X), 0.3) if variant == "uncertainty" else None,
            "dissimilarities": cdist(X, X, "cityblock") if variant == "dissimilarities" else None,
            "partners": (np.arange(len(y))[:, None] + [1, 7, 20, 33, 41]) % len(y),
        }[variant]
    elif variant == "possible labels":
        possible = np.zeros((len(y), n_clusters), dtype=bool)
        possible[np.arange(0, len(y), 3), y[::3]] = possible[::3, -1] = True
        given[argument(cls, "partial labels")] = possible
    elif "links" in variant:
        certainty = 0.7 if variant == "soft links" else 1.0
        given[argument(cls, "links")] = evidentia.PairwiseConstraints(links.pairs, links.must, certainty)
        settings |= {"metric_learner": evidentia.PCCA()} if "metric" in variant else {}
    if variant in CONSTRUCTED and variant not in inspect.signature(cls.fit).parameters:
        settings |= given
        given = {}
    return cls(**settings), in_form(X, variant, folder), given


def in_form(X: Any, variant: str, folder: Path) -> Any:
    """Return a table in the form that a variant names."""
    if variant in ("npy", "dask", "sparse", "codes") and isinstance(X, pd.DataFrame):
        X = X.apply(lambda column: pd.factorize(column, sort=True)[0]).to_numpy(dtype=float)
    if variant == "npy":
        np.save(folder / "rows.npy", X)
        return evidentia.open_rows(folder / "rows.npy")
    if variant == "dask":
        return importlib.import_module("dask.array").from_array(X, chunks=(40, -1))
    if variant == "frame":
        return pd.DataFrame(X, [f"object {i}" for i in range(len(X))], [f"x{j}" for j in range(X.shape[1])])
    return csr_matrix(X) if variant == "sparse" else X.astype(np.float32) if variant == "single precision" else X


# -- what a case gives -------------------------------------------------------------------------------------------------

Result = dict[str, Any]  # "arrays", "numbers" and "texts" by name, "attributes" as lines, "seconds"


def run(case: Case, files: Path | None = None, limit: float = 100.0) -> Result:
    """Fit, and note all that can be compared; an error is a result too."""
    began = time.process_time()
    result: Result = {"arrays": {}, "numbers": {}, "texts": {}, "attributes": []}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            with time_limit(limit):
                if case.method in FUNCTIONS:
                    note(result, FUNCTIONS[case.method][case.table]())
                else:
                    fit(case, result, Path(folder), files)
        except Exception as error:
            result["texts"] |= {"raised": type(error).__name__, "message": str(error).replace(folder, "")}
    named = {one.category.__name__ for one in said if issubclass(one.category, UserWarning)}
    result["texts"] |= {"warnings": ", ".join(sorted(named))} if named else {}
    return {**result, "seconds": time.process_time() - began}


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"not ended after {seconds:g} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fit(case: Case, result: Result, folder: Path, files: Path | None) -> None:
    model, X, given = problem(case, folder)
    if case.variant == "partial fit":
        half = len(X) // 2
        model = model.partial_fit(X[:half]).partial_fit(X[half:])
    else:
        model.fit(X, **given)
    if files is not None:
        model.save(files / f"{case.method}.model.npz")
        if hasattr(model, "partition_"):
            model.partition_.save(files / f"{case.method}.partition.npz")
    note(result, model)
    try:
        lazy = case.variant in ("npy", "dask", "sparse")
        predicted(result, model, in_form(table(case.table).X, "codes", folder) if lazy else X)
    except (ValueError, TypeError, AttributeError, NotImplementedError) as error:
        result["texts"]["predict raised"] = type(error).__name__


def note(result: Result, found: Any) -> None:
    """Note a fitted model, or what `select`, `ensemble`, `fuse` or `communities` return."""
    model = getattr(found, "estimator_", found)
    partition = in_memory(getattr(model, "partition_", getattr(model, "partition", None)))
    if partition is not None:
        result["arrays"] |= {"masses": partition.masses, "masks": partition.focal_sets.masks}
        result["arrays"]["labels"] = np.asarray(getattr(model, "labels_", partition.labels()))
        result["numbers"]["n_clusters"] = partition.n_clusters
    for name in ("criterion_", "criterion_trace_"):
        if np.size(value := getattr(model, name, ())):
            result["numbers"][name] = float(np.ravel(value)[-1])
    for name in sorted(one for one in dir(model) if one.endswith("_") and not one.startswith("_")):
        with contextlib.suppress(AttributeError):
            value = getattr(model, name)
            shape = f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else ""
            result["attributes"].append(f"{name}: {type(value).__name__} {shape}".rstrip())
            if isinstance(value, int | float | np.generic | np.ndarray) and np.asarray(value).dtype.kind in "fiub":
                result["numbers"][f"norm of {name}"] = float(
                    np.linalg.norm(np.nan_to_num(np.ravel(value).astype(float)))
                )
    for name in ("conflict", "between", "modularity"):
        if hasattr(found, name):
            result["numbers"][name] = float(np.linalg.norm(getattr(found, name)))
    tried = getattr(found, "table", None)
    if isinstance(tried, pd.DataFrame):
        numbers = tried.select_dtypes("number").drop(columns="seconds", errors="ignore")
        result["arrays"]["tried"] = numbers.to_numpy(dtype=float)


def predicted(result: Result, model: Any, X: Any) -> None:
    """Note what a model predicts for the rows that it was fitted to; of a learner, distances between its rows."""
    if not hasattr(model, "predict_partition"):
        result["arrays"]["predicted"] = pdist(np.asarray(model.transform(X))[:60])
        return
    result["arrays"]["predicted"] = in_memory(model.predict_partition(X)).masses
    result["arrays"]["predicted labels"] = np.asarray(model.predict(X))


def in_memory(partition: Any) -> Any:
    return partition.compute() if hasattr(partition, "compute") else partition


def _selected(name: str, methods: Any, **more: Any) -> Any:
    return evidentia.select(table(name).X, methods, n_clusters=[2, 3], random_state=0, **more)


def _ensemble(name: str, method: str, **more: Any) -> Any:
    model = registered()[method](n_clusters=table(name).n_clusters)
    return evidentia.ensemble(table(name).X, model, n_fits=5, random_state=0, **more)


def _fused(**more: Any) -> Any:
    rng, sets = np.random.default_rng(8), evidentia.FocalSets(3)
    drawn = [rng.dirichlet(np.full(len(sets.masks), 0.2), size=60) for _ in range(2)]
    known = 2 * np.eye(len(sets.masks))[np.arange(60) % 3 + 1]
    return evidentia.fuse([evidentia.CredalPartition((one + known) / 3, sets) for one in drawn], **more)


def _communities(**more: Any) -> Any:
    graph = importlib.import_module("networkx").karate_club_graph()
    return evidentia.communities(graph, random_state=0, **more)


RULES = ("dempster", "conjunctive", "yager", "disjunctive", "cautious", "average", "hedge")
FUSED = [{"rule": rule, "frame": frame} for rule in RULES for frame in ("match", "refine")] + [{"discount": 0.2}]
FUNCTIONS: dict[str, dict[str, Callable[[], Any]]] = {
    "select": {
        "iris, egmm and ecm": lambda: _selected("iris", ["egmm", "ecm"]),
        "iris, mixtures": lambda: _selected("iris", ["egmm", "gmm"], criteria="ebic"),
        "seeds, fcm": lambda: _selected("seeds", "fcm"),
        "protein, matrices": lambda: _selected("protein", ["recm", "evclus"], metric="precomputed"),
    },
    "ensemble": {
        "blobs, ecm": lambda: _ensemble("blobs", "ecm"),
        "iris, egmm": lambda: _ensemble("iris", "egmm"),
        "blobs, settings": lambda: _ensemble("blobs", "fcm", settings={"beta": [1.5, 2.0]}, rule="dempster"),
    },
    "fuse": {", ".join(map(str, given.values())): partial(_fused, **given) for given in FUSED},
    "communities": {kind: partial(_communities, kind=kind) for kind in ("spectral", "walk", "shortest-path")},
}
