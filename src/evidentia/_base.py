"""What every estimator shares: one ``fit``, checks of parameters and tables, prediction from a credal partition."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from copy import copy
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from evidentia import methods
from evidentia._checks import (
    check_table,
    is_precomputed,
    is_single,
    refuse_masses,
)
from evidentia._data import NEEDED, Data, read_data
from evidentia._objects import Names, row_names
from evidentia._parameters import (
    BOOLEAN,
    JOBS,
    SEED,
    Check,
    Choice,
    Integer,
    Number,
    Parameter,
    Predicate,
    check_value,
    declare,
    fitted,
    param,
)
from evidentia.belief import FocalSets
from evidentia.belief.coverage import check_coverage
from evidentia.belief.focal import MAX_CLUSTERS, TOO_MANY
from evidentia.constraints.pairwise import PairwiseConstraints
from evidentia.coverage import calibrate_coverage, plain_method, sets_of_calibration
from evidentia.partition import CredalPartition, LazyPartition
from evidentia.partition.lazy import LazyLabels
from evidentia.rows import as_rows
from evidentia.rows.passes import show_progress
from evidentia.rows.scan import LEAST_SHARE, SKETCH_ROWS
from evidentia.rows.source import ArrayRows, RowSource, SparseRows, is_sparse
from evidentia.rows.tables import as_table, is_annotated
from evidentia.solvers.callbacks import CallbackSupportMixin, fit_task
from evidentia.solvers.descent import Run, Step, Vectors, best_descent
from evidentia.solvers.threads import limit_threads
from evidentia.storage import save_model
from evidentia.verdict.fitted import Gaussians, judge_gaussians, judge_moments, take_rows
from evidentia.verdict.result import Verdict, not_judged

FIRST_LOOK = "first look"  # the note of a fit that was ended early, as others promised more
BARELY_BETTER = "barely better, with fewer clusters"  # and passed over, since sets say that clusters may be one
COLLAPSED = "collapsed: a cluster shrank onto a few objects, so that its masses mean nothing."
RULE, WAY = "the rule of its record", "minimized or maximized"  # in docstrings, until the record says which


@dataclass_transform(kw_only_default=True, field_specifiers=(param, fitted))
class MethodBase(CallbackSupportMixin, BaseEstimator):
    """Base of everything whose parameters are declared by :func:`~evidentia._parameters.param`.

    A class whose body holds a record, ``method``, is known by its short name. ``given_again`` names parameters that may
    be objects no file can hold: :func:`~evidentia.load_model` is given them.
    """

    method: ClassVar[methods.Method]
    parameters: ClassVar[Mapping[str, Parameter]] = MappingProxyType({})
    attributes: ClassVar[Mapping[str, str]] = MappingProxyType({})  # see _parameters.declare
    given_again: ClassVar[tuple[str, ...]] = ()
    _least_share = LEAST_SHARE
    _largest: float | None = fitted(None)  # absolute value in a table in memory
    _ranges: Any = fitted(None)  # of the columns of a table in memory
    _use_rep: str | None = fitted(None)  # which part of an AnnData or MuData object was fitted
    _stream: Any = fitted(None)  # what ``partial_fit`` goes on from
    _sklearn_output_config: dict[str, Any] = fitted()  # what ``set_output`` asked for
    _coverage: Any = fitted(None)  # the calibration of ``sets``
    n_jobs = None  # of a method that has no such parameter
    random_state = None
    verbose = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        declare(cls)
        if "method" in vars(cls):  # pipelines route to a method only what it accepts
            accepted = {name: None if needed in cls.method.takes else UNUSED for name, (needed, _) in NEEDED.items()}
            named = inspect.signature(cls.fit).parameters
            cls.__metadata_request__fit = {name: value for name, value in accepted.items() if name in named}
        super().__init_subclass__(**kwargs)
        if "method" in vars(cls):
            methods.register(cls)
            said = (cls.__doc__ or "").replace(RULE, f'``"{cls.method.labels}"``')
            cls.__doc__ = cls.method.complete(said.replace(WAY, cls.method.criterion or WAY))

    def check_parameters(self) -> None:
        """Refuse a value that its declaration does not allow."""
        for name, parameter in self.parameters.items():
            check_value(parameter.check, getattr(self, name), name, type(self).__name__)

    def _as_table(self, X: Any, use_rep: str | None) -> Any:
        """Return X in a table of this library; of AnnData and MuData, the part that ``use_rep`` names."""
        return as_table(X, use_rep)

    def _new_table(self, X: Any) -> Any:
        """Return new rows in a table of this library: of AnnData and MuData, the part that was fitted."""
        return self._as_table(X, self._use_rep if is_annotated(X) else None)

    def _fitted_columns(self) -> Any:
        """Return the names of the columns that were fitted, or None if they had none."""
        return vars(self).get("feature_names_in_")

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


declare(MethodBase)


class EvidentialClusterer(ClusterMixin, TransformerMixin, MethodBase):
    """Base of the estimators whose result is ``partition_``.

    A subclass declares its parameters and its record, and gives ``_fit(data)`` and ``_masses(rows)``. The first is the
    method: it sets ``focal_sets_`` and whatever else is learned, and returns the masses of the objects, or None if
    ``_masses`` is to compute them. The second gives the masses of rows that were checked.
    """

    partition_: Any = fitted()  # a CredalPartition, or a LazyPartition of rows that are not in memory
    labels_: Any = fitted()
    focal_sets_: FocalSets = fitted()
    n_clusters_: int = fitted()
    constraints_: PairwiseConstraints = fitted()
    collapsed_: bool = fitted(False)  # whether the result is no answer: a likelihood grew without bound, for instance
    flaw_: str = fitted("")  # why clusters are not groups, for methods that look at that
    barely_better = 0.0  # difference of BIC up to which more clusters are preferred

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
        "verdict_": "Verdict\nWhether the clusters are groups, and on what that rests. It is computed when it is "
        "first asked for.",
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
            with data.checkpoint or nullcontext():
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
        reads = self.method.reads_sparse if issparse(X) else "rows beyond memory" in self.method.takes
        if lazy is not None and reads:
            return self._check_source(lazy, reset=True)
        if self._keeps_single and is_single(X):
            table = check_table(self, X, reset=True, dtype=np.float32)
            return ArrayRows(table.astype(np.float64) if len(table) <= SKETCH_ROWS else table)
        return ArrayRows(self._check_table(X, reset=True))

    def _store(self, data: Data[Any], masses: np.ndarray | LazyPartition | None) -> None:
        """Store the partition of the objects, their labels and the number of clusters."""
        if "links" in self.method.takes:
            self.constraints_ = data.constraints
        if masses is None and isinstance(data.rows, ArrayRows):
            self._refuse_masses(data.rows, self.focal_sets_)
            masses = self._masses(data.rows.table)
        if isinstance(masses, np.ndarray):
            self._publish(masses, data.names)
        else:
            self._publish_lazy(self._make_lazy(data.rows) if masses is None else masses, data.rows)
        self.partition_.__dict__["_verdict"] = partial(judge_fit, self._clouds(), *self._judged_rows(data))

    @property
    def verdict_(self) -> Verdict:
        check_is_fitted(self)
        found = self.partition_.verdict
        return not_judged("the rows of the fit were not kept", self.n_clusters_) if found is None else found

    def merged(self, valley: float | None = None) -> CredalPartition:
        """Return the partition of the groups that the verdict leaves: masses of joined clusters are summed.

        Parameters
        ----------
        valley : float in (0, 1], optional
            For bent groups: instead of the rule of the verdict, clusters are joined if a way between them exists on
            which the density does not fall below this share of the lower peak, such as 0.3. If all clusters would be
            joined, all of them are kept.

        Examples
        --------
        >>> from evidentia import EGMM
        >>> X = np.random.default_rng(0).random((300, 2))
        >>> model = EGMM(random_state=0).fit(X)
        >>> model.n_clusters_ > 1, model.merged().n_clusters
        (True, 1)
        """
        verdict = self.verdict_
        if verdict.answer == "not judged":
            raise ValueError(f"{type(self).__name__}.merged() needs a verdict, and there is none: {verdict.reason}.")
        if valley is not None and not 0 < valley <= 1:
            raise ValueError(f"'valley' must lie above 0 and not above 1. Got {valley!r}.")
        partition = self.partition_.compute() if isinstance(self.partition_, LazyPartition) else self.partition_
        return partition.coarsen(verdict.groups if valley is None else verdict.connected(valley))

    def predict_partition(self, X: Any) -> Any:
        """Credal partition of new rows, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows of :func:`~evidentia.rows.open_rows`

        Returns
        -------
        CredalPartition
            Or a :class:`~evidentia.partition.LazyPartition` of rows that are not in memory.

        Warns
        -----
        StrangeRows
            If rows in memory lie far outside the range of the fitted table (by more than half of it), or have
            categories that were not there. A method with an empty set makes outliers of rows that are far from all
            clusters; others are as certain of the nearest cluster as of any.
        """
        check_is_fitted(self)
        X = self._new_table(X)
        with limit_threads(self.n_jobs):
            if (lazy := as_rows(X)) is not None:
                found = self._make_lazy(self._check_source(lazy, reset=False))
                return found.compute() if isinstance(lazy, SparseRows) else found
            new = self._read_new(X)
            self._warn_of_strange(new)
            return self._partition_of(self._masses(new), row_names(new) or row_names(X))

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each new row, shape (n_samples,), by the rule of ``labels_``."""
        return self.predict_partition(X).labels()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Pignistic probability of each cluster for each new row, shape (n_samples, n_clusters)."""
        return self._as_precise(X, self._predict_in_memory(X).pignistic)

    def sets(self, X: Any, *, coverage: float = 0.9, sample_weight: Any = None, random_state: Any = 0) -> np.ndarray:
        """Return clusters for each fitted object that hold the right one for a stated share of the objects.

        Labels are drawn from the fit and the method is fitted anew, six times, to resampled rows; what the refits say
        of the drawn labels gives the least probability of a cluster in a set (see ``evidentia.coverage``). The sets of
        other levels then cost nothing: what one seed has calibrated is kept until the next fit or another seed.

        The share is one over all objects, not for each of them, and it is about clusters: it holds for classes only as
        far as the clusters are the classes. Groups of a shape that the method does not know, bent ones for instance,
        are covered less often than stated.

        Parameters
        ----------
        X : array-like
            What the method was fitted to, in memory and in the same order.
        coverage : float
            Share of the objects whose set holds the right cluster, between 0 and 1.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        random_state : int, RandomState or None
            Of the rows and labels that are drawn.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_clusters)
            Each holds at least the likeliest cluster.

        Warns
        -----
        CoverageWarning
            If the verdict does not say that there are groups, clusters are small, or refits find other clusters.

        See Also
        --------
        evidentia.partition.CredalPartition.sets : sets by the masses alone, without refits.

        Examples
        --------
        >>> from evidentia import EGMM
        >>> from evidentia.datasets import load
        >>> X = load("iris").data
        >>> model = EGMM(3, random_state=0).fit(X)
        >>> [float(model.sets(X, coverage=level).sum(axis=1).mean().round(2)) for level in (0.9, 0.99)]
        [1.08, 1.58]
        """
        check_is_fitted(self)
        level = check_coverage(coverage)
        kept = self._coverage
        if kept is None or kept.seed is None or kept.seed != random_state:
            self._coverage = calibrate_coverage(self, X, sample_weight, random_state)
        return sets_of_calibration(self._coverage, level, self.verdict_.answer)

    def _method_without_sets(self) -> Any:
        """Return the method, not fitted, whose probabilities the sets of a stated coverage rest on."""
        return plain_method(self)

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

    def _publish_lazy(self, partition: LazyPartition, rows: RowSource) -> None:
        """The partition of rows that are read chunk by chunk; of a sparse matrix it is made at once."""
        self.partition_ = partition.compute() if is_sparse(rows) else partition
        self.labels_ = self.partition_.labels() if is_sparse(rows) else LazyLabels(partition)
        self.n_clusters_ = self.focal_sets_.n_clusters

    def _refuse_masses(self, rows: RowSource, focal_sets: FocalSets) -> None:
        """A mass for every row and focal set must fit in memory, unless the rows are not there either."""
        if isinstance(rows, ArrayRows):
            refuse_masses(self, len(rows.table), focal_sets)

    def _without_partition(self) -> Self:
        """Return what places rows, which needs no partition, and must not hold one that needs it."""
        alone = copy(self)
        for name in self._not_for_placing:
            alone.__dict__.pop(name, None)
        return alone

    def _judged_rows(self, data: Data[Any]) -> tuple[Any, np.ndarray | None]:
        """Return the rows of numbers that clusters are judged by, and their weights; or why there are none."""
        if isinstance(data.rows, ArrayRows):
            numbers = "table" in self.method.reads and data.rows.table.dtype.kind in "biuf"
            return (data.rows, data.rows.weight) if numbers else ("the columns are categories", None)
        if isinstance(data.rows, RowSource):
            return data.rows, None
        metric = getattr(self, "metric", None)
        if not (metric is None or (isinstance(metric, str) and metric in PLAIN_METRICS)):
            return "objects are known by their dissimilarities only", None
        table = np.asarray(data.given) if isinstance(data.given, np.ndarray) or hasattr(data.given, "columns") else None
        if table is None or table.ndim != 2 or table.dtype.kind not in "biuf":
            return "the objects are no rows of numbers", None
        return ArrayRows(table.astype(float)), data.weight

    def _clouds(self) -> EvidentialClusterer:
        """Return the fitted method whose :meth:`_gaussians` are the clusters; it holds no partition."""
        return self._without_partition()

    def _gaussians(self, rows: np.ndarray) -> Gaussians | None:
        """Return rows and clusters as normal clouds, of a method that has such clusters."""
        return None

    def _make_lazy(self, rows: RowSource) -> LazyPartition:
        return LazyPartition(
            rows,
            self._without_partition()._masses,
            self.focal_sets_,
            label_rule=self.method.labels,
            no_answer=self._no_answer(),
        )

    def _read_new(self, X: Any) -> Any:
        """New objects, checked, as ``_masses`` takes them."""
        if self._keeps_single and is_single(X):
            return check_table(self, X, reset=False, dtype=np.float32)
        return self._check_table(X, reset=False)

    def _warn_of_strange(self, new: Any) -> None:
        """Warn if new rows have categories that were not there; numbers are looked at where they are checked."""

    def _column_names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _masses(self, rows: Any) -> np.ndarray:
        """Return the masses of objects as ``_read_rows`` or ``_read_new`` gives them, over the fitted clusters."""
        raise NotImplementedError

    def _no_answer(self) -> str | None:
        """Why a fit that collapsed is no answer, and what to try."""
        return f"{type(self).__name__} {COLLAPSED} {self._cure}" if self.collapsed_ else None

    def _publish(self, masses: np.ndarray, names: Names | None) -> None:
        self.partition_ = self._partition_of(masses, names)
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


# -- the verdict -------------------------------------------------------------------------------------------------------

PLAIN_METRICS = ("euclidean", "sqeuclidean", "cityblock", "manhattan", "chebyshev", "minkowski", "mahalanobis")


def judge_fit(
    estimator: EvidentialClusterer,
    rows: RowSource | str,
    weight: np.ndarray | None,
    partition: CredalPartition | LazyPartition,
) -> Verdict:
    """Judge whether the clusters of a fit are groups: by its normal clouds, or by the moments of its clusters."""
    if isinstance(rows, str):
        return not_judged(rows, partition.n_clusters, len(partition))
    if not isinstance(rows, ArrayRows) and is_sparse(rows):
        return not_judged("rows of a sparse matrix are not judged", partition.n_clusters, len(partition))
    some = take_rows(len(partition))
    table: np.ndarray
    if isinstance(partition, LazyPartition):
        table, shares, weight = sample_of(partition, some.step)
    else:
        if not isinstance(rows, ArrayRows):
            return not_judged("the rows are not in memory", partition.n_clusters, len(partition))
        table, shares = rows.table[some], (partition.pignistic * (1 - partition.empty[:, None]))[some]
        weight = None if weight is None else weight[some]
    table = np.asarray(table, dtype=float)
    clusters = estimator._gaussians(table)
    return judge_moments(table, shares, weight) if clusters is None else judge_gaussians(clusters, weight)


def sample_of(partition: LazyPartition, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return rows at even distances in each chunk, what of them is in each cluster, and their weights."""
    tables, shares, weights = [], [], []
    for handle in partition.rows.handles:
        for chunk in partition.rows.read(handle):
            part = partition._partition(chunk)[::step]
            tables.append(chunk.table[::step])
            shares.append(part.pignistic * (1 - part.empty[:, None]))
            weights.append(np.ones(len(part)) if chunk.weight is None else chunk.weight[::step])
    return np.concatenate(tables), np.concatenate(shares), np.concatenate(weights)


# -- what fit is given -------------------------------------------------------------------------------------------------


@contextmanager
def running(estimator: MethodBase, X: Any, y: Any, given: dict[str, Any]) -> Iterator[None]:
    """Run a fit: one thread for linear algebra, ``n_jobs`` for blocks of rows, callbacks, progress."""
    with fit_task(estimator, X, y, given), limit_threads(estimator.n_jobs), show_progress(bool(estimator.verbose)):
        yield


class ClusterCount(Integer):
    """A number of clusters that sets of them can be made of."""

    def cure(self, value: Any) -> str:
        return TOO_MANY if isinstance(value, int | np.integer) and value > MAX_CLUSTERS else ""


N_CLUSTERS = ClusterCount(low=1, high=MAX_CLUSTERS)
ALPHA = Number(low=0, high=100)
BETA = Number(above=1, high=100)  # powers of masses vanish beyond
RHO = Choice("auto") | Number(above=0)


def focal_families(*names: str) -> Check:
    """Named families of focal sets, or one given as a list, as FocalSets or as a function of the number of clusters."""
    return Choice(*names) | Predicate("list of subsets, FocalSets or callable")


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


def largest_first(size: np.ndarray, tie: np.ndarray | None = None) -> np.ndarray:
    """Old numbers of the clusters in the order they are published: largest first, so that runs agree.

    Clusters of the same size are ordered by ``tie``, or keep their order.
    """
    return np.lexsort([np.arange(len(size)) if tie is None else tie, -np.round(size, 9)])
