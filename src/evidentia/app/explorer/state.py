"""An exploration of a table: what was decided and said, step by step, and what came of it.

Nothing here knows of a page. An action makes a :class:`Step` or raises an error whose message can be shown to a person,
and then nothing has changed. Steps make the log and the script; undo goes a step back.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia import methods
from evidentia.app.advisor import Recommendation, recommend
from evidentia.app.advisor.n_clusters import fit_number
from evidentia.app.advisor.rules import number_settings
from evidentia.app.explorer.folder import ARCHIVE, STEPS, TableFolder
from evidentia.app.explorer.history import History
from evidentia.app.explorer.steps import NOTHING, Origin, Settings, Step
from evidentia.constraints import ActiveSession, Contradiction, PairwiseConstraints, Question, Statement
from evidentia.constraints.active import refit, start_from
from evidentia.constraints.files import Answer, parse_answer
from evidentia.constraints.statements import as_answers, check_objects
from evidentia.partition import CredalPartition
from evidentia.partition.alignment import moved_objects
from evidentia.safe_text import printable_table

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.prototypes import BeliefPeaks
    from evidentia.selection import Selection

KEPT = 50  # steps back whose partitions are kept: 6 MB each of 100,000 objects over eight sets
MODELS = 3  # steps back whose models are at hand
TOL = 1e-7  # of CECM while somebody waits, as in evidentia ask


class Exploration(History[Step]):
    """A table, how it is clustered, and what a person says about it.

    Parameters
    ----------
    table : DataFrame
        All columns; objects are named by its index.
    settings : Settings, optional
        Where to begin; by default all columns, and what :func:`~evidentia.app.advisor.recommend` says.
    folder : path, optional
        Where every step is kept. If an exploration of this table is there, it is taken up; then ``settings`` are its
        own. Answers that ``evidentia ask`` added to ``answers.csv`` are a step of their own.
    origin : Origin
        For the script.

    Attributes
    ----------
    steps : list of Step
        Also those that were undone and can be redone.
    at : int
        The present step; -1 before :meth:`begin`.

    Examples
    --------
    >>> from evidentia.datasets import load
    >>> exploration = Exploration(load("iris", as_frame=True).data)
    >>> exploration.begin().words
    'EGMM, as many clusters as it finds best, columns on standard scale'
    >>> step = exploration.join(["50", "101"])
    >>> step.words, step.settings.method
    ('50 and 101 belong together', 'cecm')
    >>> exploration.undo().settings.method
    'auto'
    """

    def __init__(
        self,
        table: pd.DataFrame,
        settings: Settings | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        origin: Origin | None = None,
    ):
        super().__init__()
        self.table, self.origin = table, origin or Origin()
        self.names = tuple(map(str, table.index))
        self.rows = {name: row for row, name in enumerate(self.names)}
        if len(self.rows) < len(self.names):
            raise ValueError("Each object needs a name of its own: the index of the table repeats some.")
        if len(self.names) < 2:
            raise ValueError(f"{len(self.names)} rows cannot be explored: at least 2 are needed.")
        _ = self._read_at
        self.first = settings or Settings("auto", None, tuple(map(str, table.columns)))
        self._computed: dict[Any, Any] = {}  # graphs and numbers of the columns at hand
        self._choices: dict[Any, tuple[Recommendation, pd.DataFrame]] = {}
        words = f"{len(table):,} rows of {table.shape[1]} columns"
        self.folder = None if folder is None else TableFolder(folder, self.fingerprint, words, self.names)
        if self.folder is not None:
            self._resume(self.folder)

    # -- the table ----------------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """What tells this table from another."""
        from pandas.util import hash_pandas_object

        table = printable_table(self.table)  # without halves of letters, which have no bytes
        digest = hashlib.sha256("\n".join(map(str, table.columns)).encode())
        digest.update(np.ascontiguousarray(hash_pandas_object(table, index=True)).tobytes())
        return digest.hexdigest()[:16]

    def choice(self, settings: Settings | None = None) -> Recommendation:
        """Method, scale and columns that some settings lead to; without them those of the present step."""
        return self._prepare(settings or self.settings)[0]

    def rows_of(self, settings: Settings | None = None) -> pd.DataFrame:
        """The rows as the method is given them: the chosen columns, on the chosen scale."""
        return self._prepare(settings or self.settings)[1]

    def _prepare(self, settings: Settings) -> tuple[Recommendation, pd.DataFrame]:
        key = settings.method, settings.columns, settings.scale
        if key not in self._choices:
            gone = [name for name in settings.columns if name not in self.table]
            if gone or not settings.columns:
                raise ValueError(f"The table has no column {gone[0]!r}." if gone else "Choose at least one column.")
            frame = self.table[list(settings.columns)]
            chosen = recommend(frame, method=settings.method, scale=settings.scale, keep=settings.columns, square=False)
            self._choices = {**dict(list(self._choices.items())[-3:]), key: (chosen, chosen.prepare(frame))}
        return self._choices[key]

    def estimator(self, settings: Settings | None = None) -> Any:
        """The method with its settings, unfitted."""
        settings = settings or self.settings
        chosen = self.choice(settings)
        cls = self._find_method(settings)
        seed = {"random_state": settings.seed} if "random_state" in cls.parameters else {}
        number = number_settings(cls, settings.clusters)
        return cls(**{**seed, **chosen.settings, **number, **settings.parameters})

    def _find_method(self, settings: Settings) -> Any:
        """The class of the method; settings that it does not have are an error."""
        cls = methods.find(self.choice(settings).method)
        for name in set(settings.parameters) - set(cls.parameters):
            raise ValueError(f"{cls.__name__} has no setting {name!r}. It has: {', '.join(cls.parameters)}.")
        return cls

    # -- how it stands ------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self.step.settings if self.at >= 0 else self.first

    @property
    def partition_(self) -> CredalPartition:
        """The credal partition of the present step."""
        assert self.step.partition is not None
        return self.step.partition

    @property
    def constraints_(self) -> PairwiseConstraints:
        """The links that follow from all that was said, by name."""
        return PairwiseConstraints.from_statements(self.step.statements)

    @property
    def model_(self) -> Any:
        """The fitted model of the present step; of an exploration that was taken up it is fitted again."""
        step, at = self.step, self.at
        if step.model is None:
            while self.steps[at].began == "kept":
                at -= 1
            made, before = self.steps[at], self.steps[at - 1]
            starts = {"shapes": before.start, "masses": before.partition}
            if made.began == "centers":
                starts["centers"] = before.start[0] if isinstance(before.start, tuple) else before.start
            links = PairwiseConstraints.from_statements(made.statements)
            with self._work():
                step.model = self._fit_once(made.settings, links, starts.get(made.began))
        return step.model

    @property
    def table_changed(self) -> bool:
        """Whether the file of the table was written to after it was read."""
        path = self.origin.path
        return path is not None and (not path.exists() or path.stat().st_mtime_ns != self._read_at)

    @cached_property
    def _read_at(self) -> int:
        return 0 if self.origin.path is None else self.origin.path.stat().st_mtime_ns

    def broken_links(self) -> pd.DataFrame:
        """Links that the labels of the partition do not respect, with how far (``violations``)."""
        links = self.constraints_
        if not len(links):
            return links.to_pandas()
        found, label = links.violations(self.partition_), self.partition_.labels()
        first, second = (label[[self.rows[name] for name in found[end]]] for end in ("first", "second"))
        return found[(first == second) != (found["link"] == "must-link").to_numpy()]

    def contradictions(self) -> list[Contradiction]:
        """Chains of links, some of them soft, that no partition can obey."""
        return self.constraints_.contradictions()

    @property
    def takes_links(self) -> bool:
        """Whether the present method listens to what is said."""
        return "links" in methods.find(self.choice().method).method.takes

    # -- actions ------------------------------------------------------------------------------------------------------

    def begin(self, model: Any = None) -> Step:
        """Fit for the first time, or take a model that is fitted to the table already."""
        if self.at >= 0:
            return self.step
        return self._add(self._describe(self.first), self.first, (), model=model)

    def set(self, **changes: Any) -> Step:
        """Change settings: ``method``, ``clusters``, ``columns``, ``scale``, ``seed`` or ``parameters``."""
        if "method" in changes and changes["method"] != self.settings.method:
            changes = {"parameters": NOTHING, "cut": None, **changes}
        settings = replace(self.settings, **{"cut": None, **changes})
        if settings == self.settings:
            raise ValueError("Nothing was changed: these are the settings at hand.")
        cls = self._find_method(settings)
        if settings.clusters is not None and "given" not in cls.method.number:
            settings = replace(settings, clusters=None)
        if self.step.statements and "links" in cls.method.takes and not isinstance(settings.clusters, int):
            settings = replace(settings, clusters=self.partition_.n_clusters)
        words = self._describe(settings)
        if self.step.statements and "links" not in cls.method.takes:
            words += "; what was said is kept, but this method takes no links"
        return self._add(words, settings, self.step.statements)

    def join(self, objects: Iterable[Any], *, certainty: float = 1.0) -> Step:
        """Say that objects belong together; objects by name, or by row number."""
        return self.add_statements(Statement("together", self._name_objects(objects), certainty=certainty))

    def separate(self, objects: Iterable[Any], others: Iterable[Any], *, certainty: float = 1.0) -> Step:
        """Say that none of some objects belongs with any of some others."""
        return self.add_statements(
            Statement("apart", self._name_objects(objects), self._name_objects(others), certainty)
        )

    def label(self, objects: Iterable[Any], label: str, *, certainty: float = 1.0) -> Step:
        """Give objects a label: those of one belong together, those of different ones do not."""
        return self.add_statements(
            Statement("label", self._name_objects(objects), certainty=certainty, label=label.strip())
        )

    def answer(self, answer: str, pair: Iterable[Any]) -> Step:
        """Answer a question: "same", "different" or "don't know"."""
        first, second = self._name_objects(pair)
        word = parse_answer(answer)
        return self.add_statements(Statement.of_answer(first, second, word))

    def add_statements(self, *statements: Statement, words: str | None = None) -> Step:
        """Add statements, as one step; a method that takes links takes the place of one that does not."""
        for statement in statements:
            check_objects(statement, self.rows)
        words = words or "; ".join(map(str, statements))
        said = (*self.step.statements, *statements)
        if all(one.kind == "unknown" for one in statements):
            return self._add(words, self.settings, said, model=self.step.model, keep=True)
        return self._make_linked_step(words, said)

    def _make_linked_step(self, words: str, said: tuple[Statement, ...]) -> Step:
        """A step with these statements, and a method that listens to them."""
        PairwiseConstraints.from_statements(said).check()
        settings, note = self.settings, ""
        if not self.takes_links:
            frame = self.table[list(settings.columns)]
            method = recommend(frame, keep=settings.columns, linked=True, square=False).method
            waited = method == methods.best_for("links").method.name
            parameters = MappingProxyType({"tol": TOL} if waited else {})
            settings = replace(settings, method=method, parameters=parameters, cut=None)
            before, after = (methods.find(name).__name__ for name in (self.choice().method, method))
            note = f"{after} takes the place of {before}, which takes no links."
        if not isinstance(settings.clusters, int):
            settings = replace(settings, clusters=self.partition_.n_clusters)
        return self._add(words, settings, said, note=note)

    def choose_peaks(self, objects: Iterable[Any]) -> Step:
        """Take objects of the δ–Bel graph as centers: BPEC around them."""
        rows = [self.rows[name] for name in self._name_objects(objects)]
        if not rows:
            raise ValueError("Draw a box around at least one object of the graph.")
        cls, peaks = methods.best_for("peaks"), MappingProxyType({"peaks": rows})
        settings = replace(self.settings, method=cls.method.name, clusters=None, parameters=peaks, cut=None)
        return self._add(f"{cls.__name__} around {len(rows)} peaks of the graph", settings, self.step.statements)

    @property
    def has_tree(self) -> bool:
        """Whether the present method builds a tree."""
        return "trees" in methods.find(self.choice().method).method.chosen_for

    def cut(self, n_clusters: int) -> Step:
        """Cut the tree of a belief hierarchy into so many clusters."""
        if not self.has_tree:
            name = methods.best_for("trees").method.name
            raise ValueError(f"There is no tree to cut: choose the method {name} first.")
        self.model_.cut(n_clusters)  # refuses what the tree cannot give
        settings = replace(self.settings, cut=n_clusters)
        words = f"the tree cut into {n_clusters} cluster{'s' * (n_clusters != 1)}"
        return self._add(words, settings, self.step.statements, model=self.model_)

    # -- questions, peaks, numbers ------------------------------------------------------------------------------------

    def ask(self, rule: str = "boundary") -> Question | None:
        """The pair that is most worth a question; None when no pair is left.

        A method without links has none to ask about: the first answer brings one that has.
        """
        estimator, model = self.estimator(), self.model_
        if not self.takes_links:
            estimator = methods.best_for("links")(self.partition_.n_clusters)
            if rule == "change":
                raise ValueError(
                    "This rule tries answers out: say something first, or choose a method that takes links."
                )
        card = self.partition_.focal_sets.card
        rule = "uncertainty" if rule == "boundary" and not (card == 2).any() else rule
        answers = as_answers(self.step.statements, self.rows)
        session = ActiveSession(
            estimator, self.rows_of(), rule=rule, random_state=self.settings.seed, answers=answers, model=model
        )
        with self._work():
            return session.ask()

    def peaks(self) -> BeliefPeaks:
        """The δ–Bel graph of the columns and the scale at hand."""
        from evidentia.prototypes import belief_peaks

        settings = replace(self.settings, method=methods.best_for("peaks").method.name)
        return self._compute_once("peaks", lambda: belief_peaks(self.rows_of(settings)))

    def numbers(self) -> Selection:
        """Return numbers of clusters and their BIC, by Gaussian mixtures of the columns and the scale at hand."""
        from evidentia.selection import Selection

        def compute() -> Selection:
            mixture = methods.best_for("numbers").method.name
            same = self.choice().method == mixture and not isinstance(self.settings.clusters, int)
            settings = replace(self.settings, method=mixture, clusters=None, parameters=NOTHING, cut=None)
            model = self.model_ if same else self._fit_once(settings, PairwiseConstraints.from_links(), None)
            return Selection.of_model(model)

        return self._compute_once("numbers", compute)

    def _compute_once(self, what: str, compute: Callable[[], Any]) -> Any:
        """Something of the columns and the scale at hand, which others do not change."""
        key = what, self.settings.columns, self.settings.scale
        if key not in self._computed:
            with self._work():
                self._computed[key] = compute()
        return self._computed[key]

    # -- making steps -------------------------------------------------------------------------------------------------

    def _describe(self, settings: Settings) -> str:
        """``CECM, 3 clusters`` and what else is not as it is by default or was before."""
        estimator, chosen = self.estimator(settings), self.choice(settings)
        count = settings.clusters
        if isinstance(count, int):
            number = f"{count} cluster{'s' * (count != 1)}"
        else:
            found = "as many clusters as it finds best"
            number = found if count is None else f"the best of {count[0]} to {count[1]} clusters"
        more = [] if chosen.scale == "none" else [f"columns on {chosen.scale} scale"]
        more += [f"{name} {value}" for name, value in settings.parameters.items()]
        if len(settings.columns) < len(self.first.columns):
            more.append(f"{len(settings.columns)} columns")
        return ", ".join([type(estimator).__name__, number, *more])

    def _name_objects(self, objects: Iterable[Any]) -> tuple[str, ...]:
        found = []
        for one in objects:
            if not isinstance(one, str) and not 0 <= one < len(self.names):
                raise ValueError(f"There is no object {one!r} among {len(self.names)}: give a row number, or a name.")
            found.append(one if isinstance(one, str) else self.names[one])
        return tuple(found)

    def _fit_once(self, settings: Settings, links: PairwiseConstraints, start: Any) -> Any:
        """The model of one start, or of the method's own starts."""
        estimator, X = self.estimator(settings), self.rows_of(settings)
        if start is not None:
            estimator.set_params(init=start)
        if "links" in estimator.method.takes and len(links):
            return estimator.fit(X, constraints=links)
        return fit_number(estimator, X, settings.clusters)[0]

    def _fit(self, settings: Settings, said: tuple[Statement, ...]) -> tuple[Any, str]:
        """The better of the method's own starts and the solution at hand, and how the winner began."""
        links = PairwiseConstraints.from_statements(said)
        estimator, X = self.estimator(settings), self.rows_of(settings)
        if "links" not in estimator.method.takes or not len(links):
            return self._fit_once(settings, links, None), "fresh"
        start, began = self._start_for(settings, estimator)
        model, won = refit(estimator, X, links, start)
        return model, began if won and start is not None else "fresh"

    def _start_for(self, settings: Settings, estimator: Any) -> tuple[Any, str]:
        """From what a fit can go on, and what that is called."""
        before, start = self.settings, self.step.start
        same = (settings.columns, self.choice(settings).scale) == (before.columns, self.choice().scale)
        if not same or self.partition_.n_clusters != settings.clusters or "init" not in estimator.parameters:
            return None, ""
        if "cluster_centers_" not in estimator.attributes:
            alike = type(estimator) is methods.find(self.choice().method)
            return (self.partition_, "masses") if alike else (None, "")
        if start is None or isinstance(start, CredalPartition):
            return None, ""
        if isinstance(start, tuple) and settings == before:
            return start, "shapes"
        centers = start[0] if isinstance(start, tuple) else start
        fits = centers.shape == (settings.clusters, self.rows_of(settings).shape[1])
        return (centers, "centers") if fits else (None, "")

    def _add(
        self,
        words: str,
        settings: Settings,
        said: tuple[Statement, ...],
        *,
        model: Any = None,
        keep: bool = False,
        note: str = "",
    ) -> Step:
        """Fit unless a model is given, and make the step; whatever fails before its end changes nothing."""
        with self._change_lock():
            before = self.step.partition if self.at >= 0 else None
            began = "kept" if self.at >= 0 else "fresh"
            with self._work() as warned:
                if model is None and not keep:
                    model, began = self._fit(settings, said)
                    _ = model.partition_.verdict  # computed here, in the thread of the fit
            notes = (*([note] if note else []), *warned)
            if keep:
                partition = self.partition_
            else:
                partition = model.partition_ if settings.cut is None else model.partition(settings.cut)
                partition = self._renumber(partition, before)
            moved = np.empty(0, dtype=np.int64) if before is None or keep else moved_objects(before, partition)
            start = self.step.start if keep else start_from(model)
            step = Step(words, settings, said, partition, model, moved, began, notes, start)
            step.n_clusters = partition.n_clusters
            self._keep([*self.path, step], self.at + 1)
            return step

    def _renumber(self, partition: CredalPartition, before: CredalPartition | None) -> CredalPartition:
        """The partition with clusters numbered as they were, so that their colors stay, and with names."""
        partition = partition.name_objects(self.names)
        if before is not None and before.n_clusters == partition.n_clusters:
            partition = partition.align(before)
        return partition

    def _keep(self, steps: list[Step], at: int) -> None:
        step = steps[at]
        if step.partition is None:
            raise ValueError(f"Only the last {KEPT} steps can be undone.")
        if self.folder is not None:
            if not step.file:
                step.file = self.folder.keep(step.partition, step.moved, step.start)
            for old in steps[: max(at - KEPT, 0)]:
                old.file = ""
            answers = as_answers(step.statements, self.rows)
            self.folder.write_all(at, [one.to_dict() for one in steps], answers)
        for old in steps[: max(at - KEPT, 0)]:
            old.partition = old.model = old.start = None
        for old in steps[: max(at - MODELS, 0)]:
            old.model = None  # fitted again, if ever it is asked for
        self.steps, self.at = steps, at

    def _resume(self, folder: TableFolder) -> None:
        """Read the steps of a folder, and answers that were given elsewhere since."""
        found = folder.read()
        if found is None:
            return
        with folder.checking(STEPS):
            steps = [Step.from_dict(one, f"steps[{at}]") for at, one in enumerate(found.steps)]
            self._check_steps(steps, found.at)
        for step in steps:
            if step.file:
                step.partition, step.moved, step.start = folder.fetch(step.file)
        self.steps, self.at = steps, found.at
        answers = folder.new_answers()
        if answers is None:
            self._keep(self.steps, self.at)
        else:
            self._take_answers(answers, folder.answers.name)

    def _check_steps(self, steps: Sequence[Step], at: int) -> None:
        """Refuse steps that are not about this table, or that cannot have been made."""
        for number, step in enumerate(steps):
            where = f"steps[{number}]"
            if step.file and not ARCHIVE.fullmatch(step.file):
                raise ValueError(f"{where}.file: {step.file!r} is not the name of a step.")
            if number == 0 and step.began == "kept":
                raise ValueError(f"{where}.began: there is no step before the first one.")
            try:
                for statement in step.statements:
                    check_objects(statement, self.rows)
                if number == 0 or step.settings != steps[number - 1].settings:
                    self.estimator(step.settings)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
        if not steps[at].file:
            raise ValueError(f"steps[{at}].file: the present step has no file.")
        as_answers(steps[at].statements, self.rows)

    def _take_answers(self, answers: Sequence[Answer], name: str) -> None:
        """A step for what ``evidentia ask``, or an editor, did to the file of answers."""
        known = {frozenset(one[:2]): one.answer for one in as_answers(self.step.statements, self.rows)}
        given = {frozenset(one[:2]): one for one in answers}
        new = [one for pair, one in given.items() if known.get(pair) != one.answer]
        earlier = self.step.statements
        if any(pair not in given or given[pair].answer != word for pair, word in known.items()):
            earlier, new = tuple(one for one in earlier if one.certainty < 1), list(answers)  # some were taken back
        said = (*earlier, *(Statement.of_answer(self.names[a], self.names[b], word) for a, b, word in new))
        self._make_linked_step(f"{len(new)} answer{'s' * (len(new) != 1)} taken up from {name}", said)
