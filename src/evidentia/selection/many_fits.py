"""Many fits of one table, made one partition: its doubt includes the doubt about starts, rows and settings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import clone
from tqdm.auto import tqdm

from evidentia._checks import is_precomputed
from evidentia._parameters import JOBS, check_value, random_numbers, unknown_name
from evidentia._warnings import warn_user
from evidentia.partition import CredalPartition, Fusion, fuse
from evidentia.rows import as_rows
from evidentia.rows.strange import StrangeRows
from evidentia.rows.tables import as_table, take_objects
from evidentia.selection.search import CAUGHT, as_estimator, separate_warnings
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.threads import thread_pool

LEAST = 2  # fits that can be set against each other


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Fusion):
    """What many fits of one table say together: a :class:`~evidentia.partition.Fusion` that knows its fits.

    Attributes
    ----------
    fits : DataFrame
        A row for every fit: its seed, the settings that were drawn, ``n_clusters``, ``criterion`` where the method has
        one, and ``note``; ``used`` says whether it is part of the result.
    models : list of estimators
        Those that were used, fitted.
    rows : list of ndarray
        The rows that each of them was fitted to.
    """

    fits: pd.DataFrame
    models: list[Any]
    rows: list[np.ndarray]

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new rows, by what all models say about them.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what the models take
            Of dissimilarities: those to all fitted objects, shape (n_new, n_samples).
        """
        table = as_table(X)
        return self.place([_predict(model, table, rows) for model, rows in zip(self.models, self.rows)])

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each new row, shape (n_new,)."""
        return self.predict_partition(X).labels()

    def summary(self) -> str:
        """How many fits there were, where they disagree, and what they say together."""
        said = super().summary()
        left = len(self.fits) - len(self.models)
        return said.replace("partitions", "fits", 1) + (f"\n{left} of {len(self.fits)} fits left out." if left else "")


def ensemble(
    X: Any,
    method: Any = "egmm",
    *,
    n_fits: int = 50,
    rows: float = 0.5,
    settings: Mapping[str, Sequence[Any]] | None = None,
    rule: str = "hedge",
    frame: str = "match",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Ensemble:
    """Fit a table many times, from other starts, to other rows, with other settings, and fuse what comes out.

    Fits that fail or collapse are left out, with a note. An interrupt fuses those that are finished.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or what the method takes
        In memory. With ``metric="precomputed"``: dissimilarities.
    method : str or estimator
        A short name, or an estimator with the settings that all fits have.
    n_fits : int
        How many fits, two or more.
    rows : float
        Share of the rows, drawn anew and without replacement, that each fit sees; it then places the others. Fits to
        half of them differ as fits to new tables do; fits to more agree too often. 1: only starts and settings differ.
    settings : dict of sequences, optional
        Values of some parameters, such as ``{"n_clusters": [3, 4, 5]}``: each fit has one of each, all of them about as
        often.
    rule, frame
        As in :func:`evidentia.partition.fuse`. The default averages the fits, and where two of them contradict each
        other, puts that share of the mass on the union of what they say: objects whose cluster depends on the fit are
        ambiguous.
    random_state : int, RandomState or None
        An integer makes all of it repeatable.
    n_jobs : int, optional
        Fits that are under way at a time, in threads; -1 for all cores. The result is the same for any number.
    verbose : int
        1 shows progress.

    Returns
    -------
    Ensemble

    Examples
    --------
    >>> from evidentia import FCM
    >>> X = [[0.0], [1.0], [2.0], [5.2], [8.0], [9.0], [10.0], [11.0]]
    >>> found = ensemble(X, FCM(2, n_init=1), n_fits=20, random_state=0)
    >>> found
    Ensemble(20 partitions of 8 objects, 2 clusters, mean conflict 0.129)
    >>> int(found.most_contested(1)[0])
    3
    """
    estimator, table = as_estimator(method, "'method' of ensemble"), _read_table(X)
    check_value(JOBS, n_jobs, "n_jobs", "ensemble")
    if n_fits < LEAST or not 0 < rows <= 1:
        raise ValueError(f"ensemble needs n_fits >= 2 and 0 < rows <= 1. Got n_fits={n_fits} and rows={rows}.")
    rng = random_numbers(random_state, "ensemble")
    plan = _plan(estimator, dict(settings or {}), n_fits, rng)
    n = _length(table)
    size = max(LEAST, round(rows * n))
    drawn = [np.sort(rng.permutation(n)[:size]) for _ in plan]
    jobs = [partial(_fit, table, estimator, given, chosen) for given, chosen in zip(plan, drawn)]
    outcomes = _run(jobs, effective_n_jobs(n_jobs or 1), verbose)
    told = pd.DataFrame([row for row, _, _ in outcomes])
    used = [(model, found, chosen) for (_, model, found), chosen in zip(outcomes, drawn) if found is not None]
    if len(used) < LEAST:
        notes = told["note"][told["note"] != ""]
        raise ValueError(f"{len(used)} of {n_fits} fits can be used, and it takes two. {notes.iloc[0]}")
    fusion = fuse([found for _, found, _ in used], rule=rule, frame=frame)
    return Ensemble(
        **{field.name: getattr(fusion, field.name) for field in fields(fusion)},
        fits=told,
        models=[model for model, _, _ in used],
        rows=[chosen for _, _, chosen in used],
    )


def _read_table(X: Any) -> Any:
    """Return the objects, which must be in memory."""
    table = as_table(X)
    if as_rows(table) is not None and not issparse(table):
        raise TypeError("ensemble needs all rows in memory, as an array or a DataFrame. Give a sample of them.")
    if isinstance(table, str) or not (hasattr(table, "__len__") or hasattr(table, "shape")):
        raise TypeError(f"'X' of ensemble must be a table, a row for each object. Got {table!r}.")
    return table


def _plan(
    estimator: Any, settings: dict[str, Sequence[Any]], n_fits: int, rng: np.random.RandomState
) -> list[dict[str, Any]]:
    """The settings of each fit: every value about as often, in random order; a seed."""
    for name, values in settings.items():
        if name not in estimator.parameters:
            raise ValueError(unknown_name(name, estimator.parameters, type(estimator).__name__))
        if isinstance(values, str) or not len(values):
            raise ValueError(f"'settings' must hold a list of values for {name!r}. Got {values!r}.")
    order = {name: rng.permutation(np.arange(n_fits) % len(values)) for name, values in settings.items()}
    plan = [{name: settings[name][order[name][i]] for name in settings} for i in range(n_fits)]
    seeded = "random_state" in estimator.parameters and "random_state" not in settings
    seeds = rng.randint(2**31 - 1, size=n_fits).tolist()
    return [{**given, "random_state": seed} if seeded else given for given, seed in zip(plan, seeds)]


def _run(jobs: Sequence[Any], workers: int, verbose: int) -> list[Any]:
    """What the fits give, as many at a time as there are workers; an interrupt keeps those that are finished."""
    done: list[Any] = []
    try:
        with (
            separate_warnings(),
            thread_pool(workers) as each,
            tqdm(total=len(jobs), desc="ensemble", disable=not verbose) as bar,
        ):
            for start in range(0, len(jobs), workers):
                for outcome, interrupted in each(lambda job: job(), jobs[start : start + workers]):
                    if interrupted:  # a fit that was ended early is not what was asked for
                        raise KeyboardInterrupt
                    done.append(outcome)
                    bar.update()
    except KeyboardInterrupt:
        if sum(found is not None for _, _, found in done) < LEAST:
            raise
        warn_user(f"ensemble was interrupted after {len(done)} of {len(jobs)} fits, which are fused.", InterruptedFit)
    return done


def _fit(table: Any, estimator: Any, given: dict[str, Any], rows: np.ndarray) -> tuple[Any, bool]:
    """A row of the table of fits, the model and its partition of all rows (None if of no use); whether interrupted."""
    said: list[tuple[str, type[Warning]]] = []
    CAUGHT.set(said)
    row: dict[str, Any] = {**given, "n_clusters": given.get("n_clusters"), "criterion": np.nan, "used": False}
    model, found, problems = clone(estimator).set_params(**given), None, []
    try:
        model.fit(take_objects(table, rows, is_precomputed(model)))
        found = _predict(model, table, rows) if len(rows) < _length(table) else model.partition_
        row |= {"n_clusters": model.n_clusters_, "criterion": getattr(model, "criterion_", np.nan)}
        if found.no_answer is not None:
            problems, found = [found.no_answer], None
    except Exception as error:
        problems = [f"{type(error).__name__}: {error}"]
    row["used"] = found is not None
    row["note"] = "; ".join(dict.fromkeys([message.split(". ")[0] for message, _ in said] + problems))
    return (row, model, found), any(issubclass(category, InterruptedFit) for _, category in said)


def _length(table: Any) -> int:
    return table.shape[0] if hasattr(table, "shape") else len(table)


def _predict(model: Any, table: Any, rows: np.ndarray) -> CredalPartition:
    """Where a model puts all objects; dissimilarities are those to the rows that it was fitted to."""
    if is_precomputed(model):
        table = table.iloc[:, rows] if hasattr(table, "iloc") else np.asarray(table)[:, rows]
    with warnings.catch_warnings():  # it was fitted to a part of the rows: the range of all is wider
        warnings.simplefilter("ignore", StrangeRows)
        return model.predict_partition(table)
