"""Fit every number of clusters by every method, and set the criteria side by side."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from tqdm.auto import tqdm

from evidentia._base import BARELY_BETTER, FIRST_LOOK
from evidentia._parameters import JOBS, check_value, random_numbers
from evidentia._warnings import warn_user
from evidentia.methods import find, record
from evidentia.partition.explanation import join_words
from evidentia.rows import RowSource, as_rows
from evidentia.rows.passes import fit_together
from evidentia.rows.scan import scan_once
from evidentia.rows.shared_pass import Failure, seconds_aside
from evidentia.selection.criteria import CRITERIA, Criterion, find_criterion
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.threads import threads

__all__ = ["FIRST_LOOK", "Selection", "select"]

CAUGHT: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("CAUGHT", default=None)


@contextmanager
def separate_warnings() -> Iterator[None]:
    """Warnings go to the fit that gives them, also where several are under way."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        elsewhere = warnings.showwarning

        def show_warning(
            message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None
        ) -> None:
            caught = CAUGHT.get()
            if caught is None:
                elsewhere(message, category, filename, lineno, file, line)
            else:
                caught.append((str(message), category))

        warnings.showwarning = show_warning
        yield


KINDS = {"model": "", "covariance": " covariance"}  # what a row may have been fitted with, and the word behind it
TOGETHER = 8  # fits over rows that are not in memory whose passes are made together: each holds a sample of the rows


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What was tried, and what came out best.

    Attributes
    ----------
    table : DataFrame
        A row for every fit: ``method``, ``n_clusters``, a column for each criterion (NaN where it does not apply or
        the fit is of no use), ``seconds`` and ``note``.
    criterion : str
        The column that decided.
    best : (str, int)
        Method and number of clusters of the best row.
    choice : str
        What was chosen by which criterion, what was set aside in spite of a better value, and what came next, in one
        sentence.
    estimator_ : estimator
        The fitted model of that row.
    set_aside : DataFrame
        Candidates with a better value of the criterion that were not taken, one for each number of clusters that has
        some; ``note`` says why.
    """

    table: pd.DataFrame
    criterion: str
    best: tuple[str, int]
    estimator_: Any
    set_aside: pd.DataFrame = field(default_factory=pd.DataFrame)

    @classmethod
    def of_model(cls, model: Any) -> Selection:
        """What a model with ``n_clusters="auto"`` tried by itself: the best row for each number of clusters."""
        tried, name = model.selection_, type(model).__name__
        criterion = model.select_by
        chosen = tried["n_clusters"] == model.n_clusters_
        for kind in ("model", "covariance"):
            if kind in tried and f"{kind}_" in model.attributes:
                chosen &= tried[kind] == getattr(model, f"{kind}_")
        # What is above the chosen one was set aside, for the reason in its note.
        above = tried[criterion] > tried.loc[chosen, criterion].max()
        aside = above & ~tried["note"].str.contains(BARELY_BETTER)
        columns = ["method", *(c for c in ("n_clusters", "model", "covariance", criterion, "note") if c in tried)]
        ranked = tried.assign(method=name, aside=np.where(chosen, 0, np.where(aside, 2, 1)))
        ranked = ranked.sort_values(["aside", criterion], ascending=[True, False], kind="stable")[[*columns, "aside"]]
        found = [
            part.drop_duplicates("n_clusters").sort_values("n_clusters")[columns].reset_index(drop=True)
            for part in (ranked, ranked[ranked["aside"] == 2])
        ]
        return cls(found[0], criterion, (name, model.n_clusters_), model, found[1])

    def plot(self, *, criterion: str | None = None, ax: Any = None, **line: Any) -> Any:
        """Draw a criterion against the number of clusters, see :func:`evidentia.plots.plot_selection`."""
        import evidentia

        return evidentia.plots.plot_selection(self, criterion=criterion, ax=ax, **line)

    @property
    def choice(self) -> str:
        criterion, (method, n_clusters) = find_criterion(self.criterion), self.best
        ranked = self.table.dropna(subset=[self.criterion]).sort_values(
            self.criterion, ascending=not criterion.maximize, kind="stable"
        )
        at = (ranked["method"] == method) & (ranked["n_clusters"] == n_clusters)
        if not at.any():
            return f"None of them is an answer: in no fit does {criterion.words} mean anything."
        chosen, others = ranked[at].iloc[0], [row for _, row in ranked[~at].iterrows()]
        better = [row for row in others if criterion.better(row[self.criterion], chosen[self.criterion])]
        behind, level = others[len(better) :], [row for row in better if _is_barely_better(row)]
        aside = [row for _, row in self.set_aside.iterrows()] or [row for row in better if not _is_barely_better(row)]

        def row_text(row: Any) -> str:
            kind = "".join(f", {row[name]}{more}" for name, more in KINDS.items() if name in row)
            noun = "cluster" if row["n_clusters"] == 1 else "clusters"
            who = f"{row['method']} with " if row is chosen or row["method"] != method else ""
            return f"{who}{row['n_clusters']} {noun}{kind}"

        def value_text(row: Any) -> str:
            return f"{row[self.criterion]:.{criterion.digits}f}"

        way = "" if better or aside else "largest " if criterion.maximize else "smallest "
        text = f"Best: {row_text(chosen)}, by {way}{criterion.words} ({value_text(chosen)})"
        for reasons in dict.fromkeys(map(_reasons, aside)):
            listed = [f"{row_text(row)} ({value_text(row)})" for row in aside if _reasons(row) == reasons]
            why = reasons or "not fitted to the end"
            extreme = "higher" if criterion.maximize else "lower"
            text += f"; {extreme} {criterion.words}, but set aside ({why}): {join_words(listed)}"
        for row in level:
            text += f"; barely better: {row_text(row)} ({value_text(row)})"
        if behind and not level:
            second = behind[0]
            note = f", {_reasons(second)}" if _reasons(second) else ""
            text += f"; next best: {row_text(second)} ({value_text(second)}{note})"
            if value_text(second) == value_text(chosen):
                text += f". {criterion.words[0].upper()}{criterion.words[1:]} hardly tells the two apart"
        tried = self.table.loc[self.table["method"] == method, "n_clusters"]
        if tried.nunique() > 1 and n_clusters == tried.max():
            text += f". {n_clusters} is the largest number tried: more may be better"
        return f"{text}."

    def __str__(self) -> str:
        method, n_clusters = self.best
        shown = self.table.drop(columns="note").dropna(axis="columns", how="all")
        chosen = (shown["method"] == method) & (shown["n_clusters"] == n_clusters)
        shown.insert(0, "", np.where(chosen & self.table[self.criterion].notna(), "*", ""))
        numbers = shown.columns.intersection([*CRITERIA, self.criterion])
        digits = {name: find_criterion(name).digits for name in numbers} | {"seconds": 2}
        formats = {name: f"{{:.{count}f}}".format for name, count in digits.items()}
        lines = [shown.to_string(index=False, formatters=formats, na_rep="-"), self.choice]
        for _, row in self.table.iterrows():
            if reasons := _reasons(row):
                lines.append(f"{row['method']}, {row['n_clusters']} clusters: {reasons}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Selection({len(self.table)} fits, best: {self.best[0]} with {self.best[1]} clusters by {self.criterion})"
        )


def _join_notes(*notes: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, notes)))


def _is_barely_better(row: Any) -> bool:
    return BARELY_BETTER in str(row.get("note", ""))


def _reasons(row: Any) -> str:
    """Return the note of a row without what says only how far it was fitted, or that another was preferred."""
    notes = str(row.get("note", "")).split("; ")
    return "; ".join(note for note in notes if note not in (FIRST_LOOK, BARELY_BETTER))


def select(
    X: Any,
    methods: Any = "egmm",
    *,
    n_clusters: int | Iterable[int] = range(2, 7),
    metric: Any = None,
    criteria: str | Iterable[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Try numbers of clusters, and methods, and say which is best.

    A fit that fails is a row with a note; the others go on. An interrupt keeps the rows finished so far.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or what the methods take
        Rows of :func:`~evidentia.rows.open_rows` and Dask collections too, for methods that read them chunk by chunk.
    methods : str, estimator, or list or dict of them
        An estimator with the parameters you want, or the short name of a method, such as ``"egmm"`` or ``"ecm"``
        (:func:`evidentia.methods.clusterers` lists them). The keys of a dict name the methods in the table.
    n_clusters : int or iterable of int
        Numbers to try. A method that can only find its number itself has one row, with what it found.
    metric : str or callable, optional
        Given to every method, ``"precomputed"`` when X is a matrix of dissimilarities.
    criteria : {"bic", "ebic", "normalized_nonspecificity", "mpc"} or list of them, optional
        In order of preference; all four by default. The first one that speaks of every method decides: BIC for
        mixtures of single clusters, to which EGMM adds its automatic sets afterwards; EBIC where sets are fitted
        together with the clusters; nonspecificity N* when all methods know sets of clusters; else the modified
        partition coefficient. The losses that other methods minimize fall with every further cluster, so they do not
        choose. By BIC and EBIC the rules of a method hold as in its own fit: clusters that are not groups (``flaw_``)
        stand behind, and EGMM takes the larger of numbers whose BIC differs by no more than 2.
    random_state : int, RandomState or None
        Given to every fit, so that each can be repeated alone.
    n_jobs : int, optional
        Threads that work side by side within each fit; -1 for all cores, and None for all where the table is large
        enough to gain. A method with an ``n_jobs`` of its own keeps it. The result has the same bits for any number.
    verbose : int
        1 shows progress.

    Returns
    -------
    Selection

    See Also
    --------
    evidentia.plots.plot_selection : the criterion against the number of clusters.

    Notes
    -----
    Of rows that are not in memory the first pass, with the sample on which starts are tried, is shared by all fits that
    ask for the same. Up to eight fits then go over the rows together: each pass reads the rows once for all that are
    still under way, so that reading costs as many passes as the longest of them needs. Each gives what it gives alone,
    to the bit. One more pass adds up nonspecificity and the partition coefficient, over rows as often as their weights
    say. It is spared where ``criteria=["bic", "ebic"]`` is all that is asked.

    Examples
    --------
    >>> from evidentia.datasets import load
    >>> selection = select(load("iris").data, n_clusters=[2, 3], random_state=0)
    >>> selection
    Selection(2 fits, best: egmm with 3 clusters by bic)
    >>> selection.best, selection.criterion
    (('egmm', 3), 'bic')
    """
    _refuse_estimator(X)
    check_value(JOBS, n_jobs, "n_jobs", "select")
    estimators, used = _estimators(methods, metric), _criteria(criteria)
    plan, seed, source = _plan(estimators, n_clusters), _seed(random_state), as_rows(X)
    with nullcontext() if n_jobs is None else threads(n_jobs), scan_once():
        rows, leaders = _fit_all(X if source is None else source, estimators, plan, used, seed, verbose)
    table = pd.DataFrame(rows, columns=["method", "n_clusters", *used, "seconds", "note"])
    if not leaders:
        raise ValueError(
            f"None of the {len(rows)} fits can be used. {rows[0]['method']} with {rows[0]['n_clusters']} clusters: "
            f"{rows[0]['note'] or 'none of the criteria applies'}"
        )
    deciding = _choose_criterion(table, list(leaders), list(used))
    (row, model), passed = leaders[deciding].best, leaders[deciding].passed
    table["note"] = [_join_notes(one["note"], BARELY_BETTER * any(one is other for other in passed)) for one in rows]
    return Selection(table, deciding, (row["method"], row["n_clusters"]), model)


def _refuse_estimator(X: Any) -> None:
    """Refuse the order of arguments that scikit-learn has."""
    if isinstance(X, BaseEstimator):
        who = type(X).__name__
        raise TypeError(f"select takes the table before the methods, and X is an estimator. Write select(X, {who}()).")


class Leaders:
    """The fits that are best by one criterion, or that may still be.

    The rules by which a method chooses hold here too: a fit whose clusters are not groups stands behind all others, and
    of numbers of clusters whose BIC is level the largest is the best, where the method prefers it.
    """

    def __init__(self, criterion: Criterion):
        self.criterion = criterion
        self.fits: list[tuple[dict[str, Any], Any]] = []  # row and model, the best by the criterion alone first

    def add(self, row: dict[str, Any], model: Any) -> None:
        """Take one more fit, and drop those that cannot be the best any more."""
        name, sign = self.criterion.name, 1 if self.criterion.maximize else -1
        fits = [*self.fits, (row, model)]
        if self.criterion.penalized:
            fits = [fit for fit in fits if not fit[1].flaw_] or fits
        fits = sorted(fits, key=lambda fit: -sign * fit[0][name])
        first, top = fits[0]
        slack = top.barely_better if name == "bic" else 0.0
        near = [one for one in fits[1:] if one[0]["method"] == first["method"] and first[name] - one[0][name] <= slack]
        self.fits = [fits[0], *(near if slack else [])]

    @property
    def best(self) -> tuple[dict[str, Any], Any]:
        return max(self.fits, key=lambda fit: fit[0]["n_clusters"])

    @property
    def passed(self) -> list[dict[str, Any]]:
        """Rows that are barely better than the best, with fewer clusters."""
        rows = [row for row, _ in self.fits]
        return rows[: rows.index(self.best[0])]


def _plan(estimators: Mapping[str, Any], n_clusters: int | Iterable[int]) -> list[tuple[str, int | None]]:
    """Each method with each number, or with none if it finds its own."""
    counts = list(n_clusters) if isinstance(n_clusters, Iterable) else [int(n_clusters)]
    if not counts:
        raise ValueError("'n_clusters' must hold at least one number. Got none.")
    return [
        (method, count)
        for method, estimator in estimators.items()
        for count in (counts if "given" in record(estimator).number else [None])
    ]


def _fit_all(
    X: Any,
    estimators: Mapping[str, Any],
    plan: list[tuple[str, int | None]],
    used: Mapping[str, Criterion],
    seed: int | None,
    verbose: int,
) -> tuple[list[dict[str, Any]], dict[str, Leaders]]:
    """Return the rows of the table, and what is best by each criterion."""
    rows: list[dict[str, Any]] = []
    leaders: dict[str, Leaders] = {}  # no model is kept that cannot be the best any more
    jobs = [partial(_try, X, estimators[method], method, count, used, seed) for method, count in plan]
    try:
        with separate_warnings(), tqdm(total=len(plan), desc="select", unit="fit", disable=not verbose) as bar:
            for row, model, interrupted in _outcomes(jobs, isinstance(X, RowSource)):
                rows.append(row)
                bar.update()
                for name, criterion in used.items():
                    if not np.isnan(row[name]):
                        leaders.setdefault(name, Leaders(criterion)).add(row, model)
                if interrupted:
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        if not leaders:
            raise
        message = f"select was interrupted after {len(rows)} of {len(plan)} fits; the table holds those."
        warn_user(message, InterruptedFit)
    return rows, leaders


def _outcomes(jobs: Sequence[Callable[[], Any]], together: bool) -> Iterator[Any]:
    """What the fits give: one after the other, or, of rows that are not in memory, some with passes made together."""
    if not together:
        yield from (job() for job in jobs)
        return
    for start in range(0, len(jobs), TOGETHER):
        # One that was interrupted comes last: those that ended before it count.
        found = fit_together(jobs[start : start + TOGETHER])
        for outcome in sorted(found, key=lambda one: isinstance(one, Failure) or one[2]):
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome


def _try(
    X: Any, estimator: Any, method: str, n_clusters: int | None, used: Mapping[str, Criterion], seed: int | None
) -> tuple[dict[str, Any], Any, bool]:
    """A row of the table, the fitted model, and whether it was interrupted; whatever goes wrong ends in the note."""
    row: dict[str, Any] = {"method": method, "n_clusters": n_clusters, **dict.fromkeys(used, np.nan)}
    caught: list[tuple[str, type[Warning]]] = []
    CAUGHT.set(caught)
    start, model, flaw, problems = perf_counter(), None, "", []
    try:
        model = clone(estimator)
        if n_clusters is not None:
            model.set_params(n_clusters=n_clusters)
        if seed is not None and "random_state" in model.parameters:
            model.set_params(random_state=seed)
        model.fit(X)
        row["n_clusters"], flaw = model.n_clusters_, model.flaw_
        if not model.collapsed_:  # a collapsed fit looks crisp and likely, and is neither
            row |= {name: criterion.evaluate(model) for name, criterion in used.items()}
    except Exception as error:
        problems = [f"{type(error).__name__}: {error}"]
    note = _join_notes(flaw, *(message.split(". ")[0] for message, _ in caught), *problems)
    row |= {"seconds": perf_counter() - start - seconds_aside(), "note": note}
    return row, model, any(issubclass(category, InterruptedFit) for _, category in caught)


def _choose_criterion(table: pd.DataFrame, answered: list[str], preferred: list[str]) -> str:
    """The first criterion that speaks of every method with a usable fit, else the first that speaks of any."""
    speaks = table.groupby("method")[preferred].count() > 0
    common = speaks.columns[speaks[speaks.any(axis=1)].all()]
    return next(name for name in preferred if name in (common if len(common) else answered))


def _estimators(methods: Any, metric: Any) -> dict[str, Any]:
    found = _name_methods(methods)
    if metric is None:
        return found
    for name, estimator in found.items():
        if "metric" not in estimator.parameters:
            raise ValueError(f"{name} has no metric to choose. Leave it out, or leave 'metric' out.")
    return {name: clone(estimator).set_params(metric=metric) for name, estimator in found.items()}


def _name_methods(methods: Any) -> dict[str, Any]:
    argument = "'methods' of select"
    if isinstance(methods, Mapping):
        return {str(name): as_estimator(method, argument) for name, method in methods.items()}
    if not isinstance(methods, Iterable) or isinstance(methods, str):
        methods = [methods]
    found: dict[str, Any] = {}
    for method in methods:
        estimator = as_estimator(method, argument)
        name = method if isinstance(method, str) else type(method).__name__
        if name in found:
            raise ValueError(f"Two methods are called {name!r}. Give a dict to name them apart.")
        found[name] = estimator
    if not found:
        raise ValueError("'methods' must hold at least one method. Got none.")
    return found


def as_estimator(method: Any, argument: str) -> Any:
    """Return the estimator of a short name, or the one given; refuse everything else by the name of the argument."""
    if isinstance(method, str):
        return find(method)()
    if not isinstance(method, BaseEstimator):
        name = method.__name__ if isinstance(method, type) else ""
        what = f"the class {name}. Give an estimator of it: {name}()" if name else reprlib.repr(method)
        raise TypeError(f"{argument} must be the short name of a method, such as 'egmm', or an estimator. Got {what}.")
    record(method)
    return method


def _criteria(criteria: str | Iterable[str] | None) -> dict[str, Criterion]:
    names = list(CRITERIA) if criteria is None else [criteria] if isinstance(criteria, str) else list(criteria)
    unknown = [name for name in names if name not in CRITERIA]
    if unknown or not names:
        raise ValueError(
            f"'criteria' must name some of {', '.join(map(repr, CRITERIA))}. Got {unknown[0] if unknown else names!r}."
        )
    return {name: CRITERIA[name] for name in names}


def _seed(random_state: Any) -> int | None:
    rng = random_numbers(random_state, "select")
    if isinstance(random_state, Integral):
        return int(random_state)
    return None if random_state is None else int(rng.randint(2**31 - 1))
