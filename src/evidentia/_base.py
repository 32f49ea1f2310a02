"""What every estimator shares: one ``fit``, checks of parameters and tables, prediction from a credal partition."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from evidentia import methods
from evidentia._data import Data
from evidentia._objects import Names, align_objects, row_names
from evidentia._parameters import BOOLEAN, JOBS, SEED, Check, Choice, Integer, Kind, Number, ParameterBase, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS, TOO_MANY
from evidentia.constraints.pairwise import resolve_constraints
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.partition.lazy import LazyLabels
from evidentia.rows import as_rows
from evidentia.rows.checkpoint import Checkpoint, write_checkpoint
from evidentia.rows.dask import is_collection
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.passes import show_progress
from evidentia.rows.scan import SKETCH_ROWS
from evidentia.rows.source import ArrayRows, RowSource, SparseRows, is_sparse
from evidentia.rows.tables import as_table, new_table
from evidentia.rows.values import LARGEST, LEAST_SHARE, check_magnitude, check_precision, ranges_of
from evidentia.solvers.acceleration import Vectors
from evidentia.solvers.callbacks import CallbackSupportMixin, fit_task
from evidentia.solvers.descent import Run, Step, best_descent
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.threads import limit_threads
from evidentia.storage import save_model


class FittedAttributes:
    """What ``fit`` of every clusterer leaves behind."""

    partition_: Any  # a CredalPartition, or a LazyPartition of rows that are not in memory
    labels_: Any
    focal_sets_: FocalSets
    n_clusters_: int
    collapsed_ = False  # whether the result is no answer: a likelihood that grew without bound, for instance
    flaw_ = ""  # why clusters are not groups, for methods that look at that
    barely_better = 0.0  # difference of BIC up to which more clusters are preferred


FIRST_LOOK = "first look"  # the note of a fit that was ended early, as others promised more
BARELY_BETTER = "barely better, with fewer clusters"  # and passed over, since sets say that clusters may be one
COLLAPSED = "collapsed: a cluster shrank onto a few objects, so that its masses mean nothing."
RULE, WAY = "the rule of its record", "minimized or maximized"  # in docstrings, until the record says which


class FittedRange:
    """State that reading the table of ``fit`` leaves behind."""

    _largest: float | None = None  # absolute value in a table in memory
    _use_rep: str | None = None  # which part of an AnnData or MuData object was fitted
    n_jobs: Any = None  # of a method that has no such parameter
    random_state: Any = None
    verbose: Any = 0


class MethodBase(FittedRange, CallbackSupportMixin, ParameterBase):
    """Base of everything that has a record: a class whose body holds ``method`` is known by its short name."""

    method: ClassVar[methods.Method]
    _least_share = LEAST_SHARE

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "method" in vars(cls):
            methods.register(cls)
            said = (cls.__doc__ or "").replace(RULE, f'``"{cls.method.labels}"``')
            cls.__doc__ = cls.method.complete(said.replace(WAY, cls.method.criterion or WAY))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model to one ``.npz`` file, which :func:`evidentia.load_model` reads; no pickle.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Path
        """
        check_is_fitted(self)
        return save_model(self, path)


class EvidentialClusterer(FittedAttributes, ClusterMixin, TransformerMixin, MethodBase):
    """Base of the estimators whose result is ``partition_``.

    A subclass declares its parameters and its record, and gives ``_fit(data)`` and ``_masses(rows)``. The first is the
    method: it sets ``focal_sets_`` and whatever else is learned, and returns the masses of the objects, or None if
    ``_masses`` is to compute them. The second gives the masses of rows that were checked.
    """

    _not_for_placing: ClassVar[tuple[str, ...]] = ("partition_", "labels_")
    _cure = "Ask for fewer clusters, or give more objects."  # what to try after a collapse
    _keeps_single = False  # whether tables in single precision stay so, and become doubles chunk by chunk

    n_jobs: Any = param(
        JOBS,
        """Threads that work side by side; -1 for all cores, and None for all where the table is large enough to gain.
        The result has the same bits for any number.""",
        default=None,
    )

    attributes = {
        "partition_": "CredalPartition\nOr a :class:`~evidentia.partition.LazyPartition`, when X is not in memory.",
        "labels_": f"ndarray of shape (n_samples,)\nCluster of each object by {RULE}; ``partition_.labels(rule)`` has "
        "those of another rule.",
        "focal_sets_": "FocalSets",
        "n_clusters_": "int",
    }

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        constraints: Any = None,
        partial_labels: Any = None,
        use_rep: str | None = None,
        checkpoint: Any = None,
    ) -> Self:
        """Find clusters of objects.

        All methods have these arguments. What a method does not accept, by the ``takes`` of its record, is refused.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table in memory, of NumPy, pandas, polars, pyarrow, xarray, AnnData or MuData; rows of
            :func:`~evidentia.rows.open_rows`, a Dask collection or a sparse matrix, for the methods that read rows
            beyond memory; a matrix of dissimilarities with ``metric="precomputed"``, or any objects that ``metric``
            compares; several tables, for the methods on views.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        constraints : PairwiseConstraints, optional
            Links: pairs of objects that belong together, or do not. Hard links must not contradict each other. Rows
            that are not in memory are numbered in the order of their source.
        partial_labels : array-like of shape (n_samples,) or (n_samples, n_clusters), or CredalPartition, optional
            What is known about the clusters of some objects: for each object a cluster number or a set of them, -1
            where nothing is known; a table of bool that shows which clusters are possible; or mass functions.
        use_rep : str, optional
            The part of an AnnData or MuData object to cluster, see :func:`~evidentia.rows.tables.as_table`.
        checkpoint : path, optional
            For rows that are not in memory: a file from which the same fit goes on, should its process end.
        """
        self.check_parameters()
        given = {
            "sample_weight": sample_weight,
            "constraints": constraints,
            "partial_labels": partial_labels,
            "checkpoint": checkpoint,
        }
        with running(self, X, y, given):
            data = read_data(self, X, use_rep, **given)
            with write_checkpoint(data.checkpoint):
                masses = self._fit(data)
            self._store(data, masses)
        return self

    def _fit(self, data: Data[Any]) -> np.ndarray | LazyPartition | None:
        """Find the clusters: set ``focal_sets_`` and what else is learned, and return the masses of the objects.

        None stands for the masses that ``_masses`` computes of the rows.
        """
        raise NotImplementedError

    def _read_rows(self, X: Any) -> Any:
        """Return the objects to fit to as the method reads them, checked: here rows of numbers, wherever they are."""
        lazy = as_rows(X)
        if lazy is not None and (not issparse(X) or self.method.reads_sparse):
            return self._check_source(lazy, reset=True)
        if self._keeps_single and is_single(X):
            table = check_table(self, X, reset=True, dtype=np.float32)
            return ArrayRows(table.astype(np.float64) if len(table) <= SKETCH_ROWS else table)
        return ArrayRows(self._check_table(X, reset=True))

    def _store(self, data: Data[Any], masses: np.ndarray | LazyPartition | None) -> None:
        """Store the partition of the objects, their labels and the number of clusters."""
        if "links" in self.method.takes:
            self.constraints_ = data.constraints
        if masses is None:
            self._publish_rows(data.given, data.rows)
        elif isinstance(masses, LazyPartition):
            self._publish_lazy(masses, data.rows)
        else:
            self._publish(data.given, masses, data.names)

    def predict_partition(self, X: Any) -> Any:
        """Credal partition of new rows, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows of :func:`~evidentia.rows.open_rows`

        Returns
        -------
        CredalPartition
            Or a :class:`~evidentia.partition.LazyPartition` of rows that are not in memory.
        """
        check_is_fitted(self)
        X = new_table(self, X)
        with limit_threads(self.n_jobs):
            if (lazy := as_rows(X)) is not None:
                found = self._make_lazy(self._check_source(lazy, reset=False))
                return found.compute() if isinstance(lazy, SparseRows) else found
            return self._partition_of(self._masses(self._read_new(X)), row_names(X))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each new row, shape (n_samples,), by the rule of ``labels_``."""
        return self.predict_partition(X).labels()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Pignistic probability of each cluster for each new row, shape (n_samples, n_clusters)."""
        return self._as_precise(X, self._predict_in_memory(X).pignistic)

    def transform(self, X: Any) -> np.ndarray:
        """Return the masses of each new row, shape (n_samples, n_focal); ``set_output`` makes a table of them.

        ``fit_transform(X)`` is ``fit(X).transform(X)``, as scikit-learn requires: rows are placed as if they were new.
        The masses of the fit are ``partition_.masses``. They differ where the fit used more than the row itself: links,
        knowledge, or the dissimilarities of all objects at once (EVCLUS, CEVCLUS, BeliefHierarchical).
        """
        return self._as_precise(X, self._predict_in_memory(X).masses)

    def _as_precise(self, X: Any, found: np.ndarray) -> np.ndarray:
        """Numbers in the precision of X, where that is kept."""
        return found.astype(np.float32) if self._keeps_single and is_single(X) else found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of :meth:`transform`: ``m{0}``, ``m{0,1}`` and so on."""
        check_is_fitted(self)
        return np.array([f"m{name}" for name in self.focal_sets_.names()], dtype=object)

    def _predict_in_memory(self, X: Any) -> CredalPartition:
        """The partition of new rows, in memory."""
        found = self.predict_partition(X)
        return found.compute() if isinstance(found, LazyPartition) else found

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        return check_table(self, X, reset=reset)

    def _check_rows(self, X: Any, sample_weight: Any = None) -> RowSource:
        """The rows to fit to, wherever they are, with their weights."""
        return weigh_rows(self, self._read_rows(X), sample_weight, X)[0]

    def _check_source(self, rows: RowSource, *, reset: bool) -> RowSource:
        """Rows as many columns wide as those fitted; ``reset``: these are fitted now."""
        if reset:
            self.n_features_in_ = rows.n_features
            if rows.names is not None:
                self.feature_names_in_ = np.array(rows.names, dtype=object)
        elif rows.n_features != self.n_features_in_:
            raise ValueError(
                f"{type(self).__name__} was fitted to {self.n_features_in_} columns, but the rows have "
                f"{rows.n_features}."
            )
        return rows

    @contextmanager
    def _checkpointed_passes(self, path: Any, rows: RowSource) -> Iterator[np.random.RandomState]:
        """Passes over the rows are kept in a checkpoint, if a path is given; what is drawn is drawn from here."""
        kept = None if path is None else open_checkpoint(self, path, rows)
        with write_checkpoint(kept), show_progress(bool(self.verbose)):
            yield random_numbers_of(self, kept)

    def _publish_rows(self, X: Any, rows: RowSource) -> None:
        """Masses of the rows that were fitted, of those that are not in memory when they are asked for."""
        if isinstance(rows, ArrayRows):
            self._refuse_masses(rows, self.focal_sets_)
            self._publish(X, self._masses(rows.table))
            return
        self._publish_lazy(self._make_lazy(rows), rows)

    def _publish_lazy(self, partition: LazyPartition, rows: RowSource) -> None:
        """The partition of rows that are read chunk by chunk; of a sparse matrix it is made at once."""
        self.partition_ = partition.compute() if is_sparse(rows) else partition
        self.labels_ = self.partition_.labels() if is_sparse(rows) else LazyLabels(partition)
        self.n_clusters_ = self.focal_sets_.n_clusters

    def _refuse_masses(self, rows: RowSource, focal_sets: FocalSets) -> None:
        """A mass for every row and focal set must fit in memory, unless the rows are not there either."""
        if isinstance(rows, ArrayRows):
            refuse_masses(self, len(rows.table), focal_sets)

    def _make_lazy(self, rows: RowSource) -> LazyPartition:
        alone = copy(self)  # what places rows needs no partition, and must not hold one that needs it
        for name in self._not_for_placing:
            alone.__dict__.pop(name, None)
        return LazyPartition(
            rows, alone._masses, self.focal_sets_, label_rule=self.method.labels, no_answer=self._no_answer()
        )

    def _read_new(self, X: Any) -> Any:
        """New objects, checked, as ``_masses`` takes them."""
        if self._keeps_single and is_single(X):
            return check_table(self, X, reset=False, dtype=np.float32)
        return self._check_table(X, reset=False)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _no_answer(self) -> str | None:
        """Why a fit that collapsed is no answer, and what to try."""
        return f"{type(self).__name__} {COLLAPSED} {self._cure}" if self.collapsed_ else None

    def _publish(self, X: Any, masses: np.ndarray, names: Names | None = None) -> None:
        self.partition_ = self._partition_of(masses, names or row_names(X))
        self.labels_ = self.partition_.labels()
        self.n_clusters_ = self.partition_.n_clusters

    def _partition_of(self, masses: np.ndarray, names: Names | None) -> CredalPartition:
        """Return masses over the fitted clusters as a partition."""
        return CredalPartition(
            masses,
            self.focal_sets_,
            object_names=names,
            no_answer=self._no_answer(),
            label_rule=self.method.labels,
            copy=False,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.method.reads_sparse and not is_precomputed(self)
        tags.input_tags.allow_nan = "missing values" in self.method.takes
        tags.input_tags.pairwise = is_precomputed(self)
        if self._keeps_single:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# -- what fit is given -------------------------------------------------------------------------------------------------

NEEDED = {  # what the record of a method must list for an argument of fit, and what that argument is
    "sample_weight": ("weights", "weights of the objects"),
    "constraints": ("links", "links between objects"),
    "partial_labels": ("partial labels", "clusters known of some objects"),
    "checkpoint": ("rows beyond memory", "a file to go on from"),
}


@contextmanager
def running(estimator: MethodBase, X: Any, y: Any, given: dict[str, Any]) -> Iterator[None]:
    """Run a fit: one thread for linear algebra, ``n_jobs`` for blocks of rows, callbacks, progress."""
    with fit_task(estimator, X, y, given), limit_threads(estimator.n_jobs), show_progress(bool(estimator.verbose)):
        yield


def read_data(
    estimator: EvidentialClusterer, X: Any, use_rep: str | None, *, sample_weight: Any, constraints: Any,
    partial_labels: Any, checkpoint: Any,
) -> Data[Any]:  # fmt: skip
    """Read what ``fit`` was given: any kind of table, names, weights, links, partial labels, all checked."""
    refuse_arguments(
        estimator, sample_weight=sample_weight, constraints=constraints, partial_labels=partial_labels,
        checkpoint=checkpoint,
    )  # fmt: skip
    X = as_table(X, use_rep)
    estimator._use_rep = use_rep
    rows, weight = weigh_rows(estimator, estimator._read_rows(X), sample_weight, X)
    lazy = isinstance(rows, RowSource) and not isinstance(rows, ArrayRows)
    if lazy and constraints is not None:
        rows = NumberedRows(rows)
    links = resolve_constraints(estimator, constraints, range(rows.n_rows) if isinstance(rows, NumberedRows) else X)
    kept = None if checkpoint is None else open_checkpoint(estimator, checkpoint, rows)
    return Data(X, rows, weight, links.check(), partial_labels, random_numbers_of(estimator, kept), kept)


def refuse_arguments(estimator: MethodBase, **given: Any) -> None:
    """Refuse arguments of ``fit`` that the record of a method does not list."""
    for name, value in given.items():
        needed, what = NEEDED[name]
        if value is not None and needed not in estimator.method.takes:
            able = [cls.__name__ for cls in methods.clusterers().values() if needed in cls.method.takes]
            raise TypeError(
                f"{type(estimator).__name__} does not accept '{name}' ({what}). Methods that do: {', '.join(able)}."
            )


def weigh_rows(estimator: MethodBase, rows: Any, sample_weight: Any, X: Any) -> tuple[Any, np.ndarray | None]:
    """Return rows with their weights, and the weights; None if all are one or come with the rows."""
    if sample_weight is None:
        return rows, None
    if not isinstance(rows, RowSource):
        weight = check_weight(estimator, sample_weight, len(rows), X)
        return rows, weight
    if not isinstance(rows, ArrayRows | SparseRows):
        raise TypeError(
            f"{type(estimator).__name__} takes the weights of rows that are not in memory from one of their columns: "
            "open_rows(..., weight='its name')."
        )
    weight = check_weight(estimator, sample_weight, rows.n_rows or 0, X)
    return (ArrayRows(rows.table, weight) if isinstance(rows, ArrayRows) else SparseRows(rows.matrix, weight)), weight


def open_checkpoint(estimator: MethodBase, path: Any, rows: RowSource) -> Checkpoint:
    """Open the checkpoint of this fit, or begin it."""
    values = estimator.get_params(deep=False)
    settings = [f"{name}={values[name]!r}" for name in estimator.parameters if name not in ("verbose", "n_jobs")]
    return Checkpoint(path, rows.fingerprint(), "\n".join([type(estimator).__name__, *settings]))


def random_numbers_of(estimator: MethodBase, checkpoint: Checkpoint | None) -> np.random.RandomState:
    """Return the generator of a fit: that of ``random_state``, or of the seed that a checkpoint has kept."""
    unseeded = checkpoint is not None and estimator.random_state is None
    return check_random_state(checkpoint.seed if unseeded and checkpoint is not None else estimator.random_state)


class ClusterCount(Integer):
    """A number of clusters that sets of them can be made of."""

    def cure(self, value: Any) -> str:
        return TOO_MANY if isinstance(value, int | np.integer) and value > MAX_CLUSTERS else ""


N_CLUSTERS = ClusterCount(low=1, high=MAX_CLUSTERS)
ALPHA = Number(low=0, high=100)
BETA = Number(above=1, high=100)  # powers of masses vanish beyond
RHO_RANGE = 1e-70, 1e70  # of the distances in a table: squares, and products of these, are carried
RHO = Choice("auto") | Number(above=0)


def focal_families(*names: str) -> Check:
    """Named families of focal sets, or one given as a list, as FocalSets or as a function of the number of clusters."""
    return Choice(*names) | Kind("list of subsets, FocalSets or callable")


class IterativeClusterer(EvidentialClusterer):
    """Base of the methods that improve a criterion step by step, from several starts.

    Ends with :meth:`_publish_run`. Which way the criterion goes is said by ``method.criterion``.
    """

    n_clusters: Any = param(N_CLUSTERS, "Number of clusters.", default=2, kw_only=False)
    n_init: int = param(Integer(low=1), "Number of starts; the one with the best criterion is kept.", default=10)
    max_iter: int = param(Integer(low=1), "Most iterations of one start.", default=300)
    tol: float = param(
        Number(low=0),
        "A start ends when an iteration improves the criterion by no more than this share of it.",
        default=1e-10,
    )
    random_state: Any = param(SEED, "Seed of the starts; an integer makes the fit repeatable.", default=None)
    verbose: int = param(Integer(low=0) | BOOLEAN, "1 shows progress.", default=0)

    attributes = {
        "criterion_": f"float\nWhat was {WAY} (see above).",
        "criterion_trace_": "ndarray\nThe criterion after each iteration of the best start; it never gets worse by "
        "more than rounding (1e-12 of it).",
        "start_criteria_": "ndarray\nThe criterion at the end of every start.",
        "best_start_": "int\nPosition in ``start_criteria_`` of the start that was kept. ``criterion_`` is another "
        "number where the fit went on from there, with more sets or more rows.",
        "n_iter_": "int\nIterations of the best start.",
        "converged_": "bool\nWhether the best start came to rest before ``max_iter``.",
    }

    def _best_descent(
        self, step: Step, starts: Iterable[Any], n_starts: int, vectors: Vectors | None = None
    ) -> tuple[Run, list[Run]]:
        """The best run, and the runs from all starts: where steps that lower the criterion lead to."""
        return best_descent(
            step,
            starts,
            name=type(self).__name__,
            max_iter=self.max_iter,
            tol=self.tol,
            relative=True,
            n_starts=n_starts,
            verbose=self.verbose,
            vectors=vectors,
        )

    def _publish_run(self, best: Run, runs: list[Run], scale: float = 1.0) -> None:
        """Publish the criterion, traces and ends of the starts, multiplied by ``scale`` into the units of the paper.

        ``best`` is one of the runs, or went on from the one with the least objective.
        """
        publish_run(self, best, scale)
        ends = np.array([run.objective for run in runs])
        own = np.flatnonzero(ends == best.objective)
        self.best_start_ = int(own[0] if len(own) else np.where(np.isfinite(ends), ends, np.inf).argmin())
        self.start_criteria_ = scale * ends


def publish_run(estimator: Any, run: Run, scale: float = 1.0) -> None:
    """Criterion, its trace and how the run ended, multiplied by ``scale`` into the units of the paper."""
    estimator.criterion_trace_ = scale * run.trace
    estimator.criterion_ = float(estimator.criterion_trace_[-1])
    estimator.n_iter_, estimator.converged_ = run.n_iter, run.converged


def refuse_masses(estimator: Any, n: int, focal_sets: FocalSets) -> None:
    """A mass for each of n rows and every focal set must fit in memory: said before a fit."""
    beyond = ", or give the rows by evidentia.open_rows: masses are then made when they are asked for"
    refuse_beyond_memory(
        16 * n * len(focal_sets),  # the masses, and what a decision makes of them
        f"{type(estimator).__name__} with {len(focal_sets):,} focal sets for each of {n:,} rows",
        "Take fewer focal sets ('auto', 'singletons', 'pairs')"
        f"{beyond if 'rows beyond memory' in estimator.method.takes else ''}.",
    )


def is_precomputed(estimator: Any) -> bool:
    """Whether X is a matrix of dissimilarities."""
    return "metric" in estimator.parameters and isinstance(estimator.metric, str) and estimator.metric == "precomputed"


def is_single(X: Any) -> bool:
    """Whether all numbers of a table are of single precision."""
    kinds = [getattr(X, "dtype", None)] if not hasattr(X, "dtypes") else list(X.dtypes) if hasattr(X, "columns") else []
    return bool(kinds) and all(kind == np.float32 for kind in kinds)


def check_table(estimator: MethodBase, X: Any, *, reset: bool = True, dtype: Any = np.float64) -> np.ndarray:
    """Rows as doubles, or as ``dtype``; or an error that names the column, the count and the cure."""
    who = type(estimator).__name__
    refuse_rows(estimator, X)
    refuse_kinds(who, X)
    X = fill_masked(X, who, "X", missing="missing values" in estimator.method.takes)
    table = _validated(estimator, X, "a table X of numbers", dtype=dtype, reset=reset)
    check_values(estimator, table, getattr(X, "columns", None), reset=reset)
    return table


def _validated(estimator: BaseEstimator, X: Any, what: str, *, dtype: Any, reset: bool) -> np.ndarray:
    """Return X as an array of two dimensions, with as many columns of the same names as were fitted."""
    who, least = type(estimator).__name__, 2 if reset else 1
    try:
        table = check_array(
            X, dtype=dtype, ensure_all_finite=False, ensure_min_samples=least, estimator=estimator, input_name="X"
        )
    except (ValueError, TypeError) as error:
        cure = f"Give {who} {what}, a row for each object."
        raise type(error)(f"{str(error).rstrip('.')}. {cure}") from error
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        names = list(getattr(estimator, "feature_names_in_", []))
        if not names or not set(names) <= set(getattr(X, "columns", [])):
            raise
        cure = f"Give {who} the columns that it was fitted to, in their order: X[model.feature_names_in_]."
        raise ValueError(f"{str(error).rstrip()}\n{cure}") from error
    return table


def refuse_kinds(who: str, X: Any) -> None:
    """What is no table of numbers, though NumPy would make one of it."""
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        text = [str(name) for name, kind in zip(X.columns, X.dtypes) if getattr(kind, "kind", "O") not in "biuf"]
        if text:
            raise ValueError(
                f"{who} needs numeric columns, but these are not: {', '.join(text[:5])}"
                f"{f' and {len(text) - 5} more' if len(text) > 5 else ''}. Drop them, or encode them as numbers."
            )
    kind = getattr(getattr(X, "dtype", None), "kind", "f")
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: {who} needs real numbers. Take X.real if there is nothing else, or give real "
            "and imaginary parts as columns."
        )
    if kind in "mMSUV":
        what = {"m": "durations", "M": "dates", "V": "records"}.get(kind, "text")
        raise ValueError(
            f"{who} needs numbers, but X holds {what} ({X.dtype}). Convert it, for instance X.astype(float), once it "
            "is clear in which unit."
        )


def fill_masked(values: Any, who: str, name: str, *, missing: bool = False) -> Any:
    """Values of a masked array: entries under the mask are NaN where they may be missing, else refused."""
    if not np.ma.isMaskedArray(values):
        return values
    hidden = np.ma.getmaskarray(values)
    if not hidden.any():
        return values.data
    if missing:
        return np.where(hidden, np.nan, values.data)
    first = ", ".join(map(str, np.argwhere(hidden)[0]))
    raise ValueError(
        f"'{name}' of {who} is a masked array with {hidden.sum()} masked entries (first: [{first}]), but {who} takes "
        f"no missing values{' there' if name != 'X' else ''}. Fill them (.filled(...)) or drop those rows"
        f"{', or take EGMM, which accepts missing values' if name == 'X' else ''}."
    )


def check_values(estimator: MethodBase, table: np.ndarray, columns: Any = None, *, reset: bool = True) -> None:
    """Refuse numbers that are not finite, or that doubles cannot carry through squares.

    New rows (not ``reset``) may lie as far out, measured in the largest value that was fitted.
    """
    who, ranges = type(estimator).__name__, ranges_of(table)
    if not ranges.finite:
        _check_finite(estimator, table, columns)

    def place(row: int, column: int) -> str:
        return f"row {row}, column {_column(columns, column)}"

    fitted = 1.0 if reset or estimator._largest is None else estimator._largest
    check_magnitude(table, who, place, ranges, LARGEST * min(1.0, fitted))
    if reset:
        check_precision(ranges, table, who, partial(_column, columns), estimator._least_share)
        estimator._largest = float(ranges.largest.max(initial=0)) or 1.0


def refuse_rows(estimator: MethodBase, X: Any) -> None:
    """A sentence for a method that needs its table in memory and dense, and is given rows that are not."""
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} needs a dense table, and X is a sparse matrix (Sparse data was passed): "
            "X.toarray() makes one where it fits in memory, sklearn.decomposition.TruncatedSVD one of few columns. "
            f"Methods that read sparse rows: {_method_names(lambda method: method.reads_sparse)}."
        )
    if isinstance(X, RowSource) or is_collection(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in memory, as an array or a DataFrame. Give a sample of them, "
            "or take a method that reads rows chunk by chunk: "
            f"{_method_names(lambda method: 'rows beyond memory' in method.takes)}."
        )


def _method_names(does: Callable[[methods.Method], bool]) -> str:
    """Names of the methods that do something."""
    return ", ".join(cls.__name__ for cls in methods.clusterers().values() if does(cls.method))


def check_categories(estimator: EvidentialClusterer, X: Any, *, reset: bool = True) -> np.ndarray:
    """Rows of categories: text or whole numbers, missing entries kept."""
    refuse_rows(estimator, X)
    if getattr(getattr(X, "dtype", None), "kind", "O") in "cV":
        refuse_kinds(type(estimator).__name__, X)
    if np.ma.isMaskedArray(X):
        hidden, X = np.ma.getmaskarray(X), X.data.astype(object)
        X[hidden] = None
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        X = X.astype(object)  # columns of several kinds have no other type in common
    elif isinstance(X, list | tuple):
        X = np.array(X, dtype=object)  # NumPy would write numbers, and NaN, beside text as text
    table = _validated(estimator, X, "a table X of categories", dtype=None, reset=reset)
    return table.astype(table.dtype.newbyteorder("="), copy=False)


def _check_finite(estimator: MethodBase, table: np.ndarray, columns: Any) -> None:
    who = type(estimator).__name__
    for kind, found in (("inf", np.isinf(table)), ("NaN", np.isnan(table))):
        if kind == "NaN" and "missing values" in estimator.method.takes:
            _check_observed(who, found, columns)
        elif found.any():
            row, column = np.argwhere(found)[0]
            cure = (
                "Drop those rows, impute them (sklearn.impute), or take EGMM, which accepts missing values."
                if kind == "NaN"
                else "Look for a division by zero or a code for 'missing', and replace it."
            )
            raise ValueError(
                f"Input X contains {kind} in {found.any(axis=1).sum()} of {len(table)} rows "
                f"(first: row {row}, column {_column(columns, column)}); {who} needs finite numbers. {cure}"
            )


def _check_observed(who: str, missing: np.ndarray, columns: Any) -> None:
    """EM over the observed entries still needs something observed in each row and column."""
    if missing.all(axis=1).any():
        raise ValueError(
            f"{who} accepts missing values, but {missing.all(axis=1).sum()} of {len(missing)} rows "
            f"hold nothing but NaN (first: row {missing.all(axis=1).argmax()}). Drop them."
        )
    if len(missing) > 1 and missing.all(axis=0).any():
        raise ValueError(
            f"Column {_column(columns, int(missing.all(axis=0).argmax()))} holds nothing but NaN. Drop it before {who}."
        )


def _column(columns: Any, at: int) -> str:
    return str(at) if columns is None else repr(columns[at])


def check_enough_rows(estimator: BaseEstimator, n_samples: int, n_clusters: int) -> None:
    """Refuse to look for more clusters than there are objects."""
    if n_samples < n_clusters:
        raise ValueError(
            f"{type(estimator).__name__} was asked for n_clusters={n_clusters} but X has only "
            f"n_samples={n_samples} rows. Ask for fewer clusters."
        )


def check_single_clusters(estimator: BaseEstimator, focal_sets: FocalSets, reason: str) -> None:
    """Refuse a family without all single clusters; the reason goes on "MyMethod ..."."""
    missing = np.flatnonzero(focal_sets.singleton_index < 0)
    if len(missing):
        raise ValueError(
            f"{type(estimator).__name__} {reason}, so each must be a focal set. "
            f"{{{missing[0]}}} is not among: {', '.join(focal_sets.names())}."
        )


def check_weight(estimator: BaseEstimator, sample_weight: Any, n_samples: int, X: Any) -> np.ndarray | None:
    """Return the weights of the rows as doubles, in the order of X; None when all are one.

    A Series is joined with a table by the names in their indexes.
    """
    if sample_weight is None:
        return None
    who = type(estimator).__name__
    given = fill_masked(align_objects(X, sample_weight, ("X", f"'sample_weight' of {who}")), who, "sample_weight")
    try:
        weight = np.asarray(given, dtype=float)
    except (ValueError, TypeError) as error:
        raise type(error)(f"'sample_weight' of {who} must hold numbers: {error}") from error
    if weight.shape != (n_samples,):
        raise ValueError(
            f"'sample_weight' of {who} must hold one number for each of {n_samples} rows. Got {weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise ValueError(f"'sample_weight' of {who} must be finite, not negative, and not zero everywhere.")
    return weight


def check_rho(estimator: Any, unit: float) -> float:
    """A distance to the empty set that was given; refused where it is so many units of the table that it is lost."""
    rho = float(estimator.rho)
    if not RHO_RANGE[0] * unit <= rho <= RHO_RANGE[1] * unit:
        raise ValueError(
            f"The 'rho' parameter of {type(estimator).__name__} is a distance, and {rho:g} is out of all proportion to "
            f"the distances in X, of about {unit:.2g}. Give a distance beyond which objects are outliers, or 'auto'."
        )
    return rho


def largest_first(size: np.ndarray, tie: np.ndarray | None = None) -> np.ndarray:
    """Old numbers of the clusters in the order they are published: largest first, so that runs agree.

    Clusters of the same size are ordered by ``tie``, or keep their order.
    """
    return np.lexsort([np.arange(len(size)) if tie is None else tie, -np.round(size, 9)])


def warn_if_centers_coincide(estimator: MethodBase, centers: np.ndarray, spread: float) -> None:
    """Say so when two clusters became one, as happens in high dimension or with too many clusters.

    ``spread`` is a typical distance of an object from the mean.
    """
    gaps = np.linalg.norm(centers[:, None] - centers, axis=2) + np.where(np.eye(len(centers)), np.inf, 0)
    if len(centers) > 1 and gaps.min() <= 1e-3 * spread:
        a, b = np.unravel_index(gaps.argmin(), gaps.shape)
        sharper = "lower 'beta', " if "beta" in estimator.parameters else ""  # 2 is too fuzzy for many columns
        warn_user(
            f"{type(estimator).__name__}: the centers of clusters {a} and {b} coincide, so the data do not tell them "
            f"apart. Ask for fewer clusters, {sharper}scale the columns, or reduce the dimension first (e.g. PCA).",
            UserWarning,
        )
