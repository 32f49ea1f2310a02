"""A session in which a clustering method asks an expert about pairs of objects, and learns from the answers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from evidentia import methods
from evidentia._objects import align_objects
from evidentia._parameters import random_numbers
from evidentia.constraints import questions
from evidentia.constraints.building import known_labels
from evidentia.constraints.chains import ContradictoryLinks
from evidentia.constraints.files import Answer, parse_answer, read_answers, write_answers
from evidentia.constraints.pairwise import PairwiseConstraints
from evidentia.partition import CredalPartition

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RULES", "ActiveSession", "Question", "ask_oracle", "refit", "start_from"]

RULES = ("boundary", "uncertainty", "change", "random")
CANDIDATES = 5  # of each of two rules, that the rule "change" tries out
TRIES = 1000


class Question(NamedTuple):
    """Two objects by row number, and the probability of "same" by the present partition."""

    first: int
    second: int
    probability: float


@dataclass
class Entry:
    """An answer, and what is known of its effect; nan when it was read from a file."""

    answer: Answer
    joined: bool = False  # given, and taken back, with the one before it
    start: Any = None  # from which the model before the answer was fitted, to come back to it
    probability: float = np.nan
    moved: float = np.nan
    nonspecificity: float = np.nan
    criterion: float = np.nan

    @property
    def is_uninformative(self) -> bool:
        """Whether the answer was "don't know", or was foreseen and moved no object to another cluster."""
        if self.answer.answer == "unknown":
            return True
        given = self.probability if self.answer.answer == "same" else 1 - self.probability
        return given > 0.5 and self.moved == 0


class ActiveSession:
    """Ask an expert which objects belong together, one pair at a time, each chosen in the light of the answers so far.

    Parameters
    ----------
    estimator : estimator
        One that takes links, such as CECM. It is cloned, not changed.
    X : array-like or DataFrame
        The table. Objects are named by the index of a DataFrame, else by their row numbers; names must differ.
    rule : {"boundary", "uncertainty", "change", "random"}
        What to ask. ``"boundary"`` is the rule of [1]_: the object with the largest mass on a set of two clusters, and
        the object nearest to the center of one of the two. ``"uncertainty"`` takes the pair with the most mass on
        neither "same" nor "different". ``"change"`` tries out both answers to ten pairs of these two rules and takes
        the pair that is expected to move the probabilities of the clusters most (21 fits a question). A pair whose
        answer follows from earlier ones is never asked.
    patience : int
        More questions are not :attr:`worthwhile` after so many answers in a row that taught nothing: each was
        "don't know", or was the likelier answer by the partition and moved no object to another cluster.
    random_state : int, RandomState or None
        For the rule "random".
    answers : iterable of (first, second, answer)
        What is known at the beginning, as in :meth:`extend`.
    model : fitted estimator, optional
        That of these answers, if it is at hand: it is not fitted again then.

    Attributes
    ----------
    names : tuple of str
    answers : list of Answer
        As they were given.

    Notes
    -----
    After an answer the estimator is fitted again when something asks for it: once from its own starts and, where it
    can be given a start, once from the solution at hand. The solution with the lower criterion is kept: links
    change which minimum is the best one, and a descent from the old one often stays beside it. With a metric learner
    there are its own starts only, since the metric changes with the answers.

    References
    ----------
    .. [1] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CECM: Constrained evidential c-means algorithm.
       Computational Statistics & Data Analysis 56(4):894-914, 2012.

    Examples
    --------
    >>> from evidentia import CECM
    >>> from evidentia.datasets import load
    >>> iris = load("iris", as_frame=True)
    >>> session = ActiveSession(CECM(3, adaptive=True, n_init=2, random_state=0), iris.data)
    >>> question = session.ask()
    >>> iris.target.iloc[[question.first, question.second]].tolist()
    ['virginica', 'virginica']
    >>> session.answer("same")
    ActiveSession(CECM, 150 objects, 1 answer: 1 same)
    >>> session.links
    PairwiseConstraints(1 must-link, 0 cannot-link)
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        *,
        rule: str = "boundary",
        patience: int = 10,
        random_state: Any = None,
        answers: Iterable[Sequence[Any]] = (),
        model: Any = None,
    ):
        if "links" not in methods.record(estimator).takes:
            raise TypeError(f"{type(estimator).__name__} cannot learn from answers: it takes no links.")
        if rule not in RULES:
            raise ValueError(f"'rule' must be one of {', '.join(map(repr, RULES))}. Got {rule!r}.")
        if not isinstance(patience, int) or patience < 1:
            raise ValueError(f"'patience' must be a whole number from 1. Got {patience!r}.")
        self.estimator, self.X, self.rule, self.patience = estimator, X, rule, patience
        self._rng = random_numbers(random_state, "ActiveSession")
        index = getattr(X, "index", None)
        n_objects = X.shape[0] if hasattr(X, "shape") else len(X)
        self.names = tuple(map(str, range(n_objects) if index is None or callable(index) else index))
        if len(set(self.names)) < n_objects:
            name, count = Counter(self.names).most_common(1)[0]
            raise ValueError(f"Each object needs a name of its own, but {count} of them are called {name!r}.")
        self._rows = {name: row for row, name in enumerate(self.names)}
        self._entries: list[Entry] = []
        self._start: Any = None
        self._model: Any = None
        self._before: CredalPartition | None = None
        self._question: Question | None = None
        self._again: questions.Pair | None = None  # a question whose answer was taken back
        self.extend(answers)
        self._model = model

    # -- questions and answers ----------------------------------------------------------------------------------------

    def ask(self) -> Question | None:
        """The next question, the same one until it is answered; None when every pair is answered or follows."""
        if self._question is None:
            pair = self._again or self._next_pair()
            self._question = None if pair is None else Question(*pair, self._probability(pair))
        return self._question

    def answer(self, answer: str, pair: Sequence[Any] | None = None) -> ActiveSession:
        """Take the answer to the question at hand, or to any other pair.

        Parameters
        ----------
        answer : {"same", "different", "don't know"}
            "unknown" is short for the last.
        pair : (first, second), optional
            Row numbers, or names as str.

        Raises
        ------
        ContradictoryLinks
            When earlier answers imply the opposite; nothing is changed then, and the message names them.
        """
        pair = self.ask() if pair is None else pair
        if pair is None:
            raise ValueError("There is no question left to answer.")
        given = self._parse((*pair[:2], answer))
        self._check([given], self.answers)
        before, entry = self.partition, Entry(given, start=self._start, probability=self._probability(given[:2]))
        self._entries.append(entry)
        self._question = self._again = None
        if given.answer == "unknown":
            self._record(entry, before)  # there is nothing to learn
        else:
            self._before, self._start, self._model = before, start_from(self._model), None
        return self

    def extend(self, answers: Iterable[Sequence[Any]]) -> ActiveSession:
        """Take many answers at once, as of objects circled on a map; one :meth:`undo` takes all of them back.

        Parameters
        ----------
        answers : iterable of (first, second, answer)
            As in :meth:`answer`. What was answered so before is left out.

        Raises
        ------
        ContradictoryLinks
            When they and earlier answers contradict each other; nothing is changed then.
        """
        known = {(frozenset(given[:2]), given.answer) for given in self.answers}
        new: list[Answer] = []
        for given in map(self._parse, answers):
            if (frozenset(given[:2]), given.answer) not in known:
                known.add((frozenset(given[:2]), given.answer))
                new.append(given)
        if not new:
            return self
        self._check(new, self.answers)
        start, model = self._start, self._model
        chance = np.full(len(new), np.nan)
        if model is not None:  # else there is nothing yet that these answers could change
            chance = questions.probability_same(model.partition_, [given[:2] for given in new])
            self._before, self._start = model.partition_, start_from(model)
        self._entries += [
            Entry(given, joined=at > 0, start=start, probability=float(chance[at])) for at, given in enumerate(new)
        ]
        self._model = self._question = self._again = None
        return self

    def undo(self) -> list[Answer]:
        """Take back the last answer, or all that were given with it; the question of a single one is asked again."""
        if not self._entries:
            raise ValueError("There is no answer to take back.")
        gone = [self._entries.pop()]
        while gone[0].joined:
            gone.insert(0, self._entries.pop())
        self._question, self._again = None, gone[0].answer[:2] if len(gone) == 1 else None
        if any(entry.answer.answer != "unknown" for entry in gone):
            self._start, self._model, self._before = gone[0].start, None, None
        return [entry.answer for entry in gone]

    def _parse(self, given: Sequence[Any]) -> Answer:
        first, second, answer = given
        word = parse_answer(answer)
        return Answer(self._row(first), self._row(second), word)

    def _probability(self, pair: questions.Pair) -> float:
        return float(questions.probability_same(self.partition, [pair])[0])

    def _row(self, name: Any) -> int:
        row = self._rows.get(name) if isinstance(name, str) else int(name)
        if row is None or not 0 <= row < len(self.names):
            raise ValueError(f"There is no object {name!r} among {len(self.names)}: give a row number, or a name.")
        return row

    def _check(self, new: Sequence[Answer], earlier: Sequence[Answer]) -> None:
        """Refuse answers about one object, about pairs that were asked before, or against earlier answers."""
        asked: dict[frozenset[int], tuple[int, str]] = {}
        for number, (a, b, word) in enumerate([*earlier, *new], start=1):
            first, second = self.names[a], self.names[b]
            if a == b:
                raise ValueError(f"{first!r} is one object, not two.")
            before = asked.setdefault(frozenset((a, b)), (number, word))
            if before[0] != number:
                raise ValueError(
                    f"{first!r} and {second!r} were asked before: answer {before[0]} is {before[1]!r}. "
                    "To change it, take back what was answered since."
                )
        found = _links([*earlier, *new]).contradictions()
        if found:
            proof = [self.names[row] for row in found[0].chain]
            last = new[-1]
            what = f"{last.answer!r} for {self.names[last.first]!r} and {self.names[last.second]!r} contradicts"
            raise ContradictoryLinks(
                f"{what if len(new) == 1 else 'These answers contradict each other, or'} earlier answers: together "
                f"they say {' = '.join(map(repr, proof))}, and that {proof[0]!r} and {proof[-1]!r} are different.",
                found,
            )

    # -- choosing -----------------------------------------------------------------------------------------------------

    def _next_pair(self) -> questions.Pair | None:
        known = questions.KnownPairs(self.links, len(self.names), {frozenset(given[:2]) for given in self.answers})
        if self.rule == "random":
            drawn = questions.random_questions(len(self.names), self._rng)
            return questions.first_unknown(drawn, known, TRIES) or questions.any_unknown(known)
        if self.rule == "change":
            candidates = self._candidates(known)
            return max(candidates, key=self._expected_change()) if candidates else questions.any_unknown(known)
        return questions.first_unknown(self._rank_pairs(self.rule), known) or questions.any_unknown(known)

    def _rank_pairs(self, rule: str) -> Iterator[questions.Pair]:
        choose = questions.boundary_pairs if rule == "boundary" else questions.uncertain_pairs
        return choose(self.model, self.X)

    def _candidates(self, known: questions.KnownPairs) -> list[questions.Pair]:
        ranked = ((pair for pair in self._rank_pairs(rule) if pair not in known) for rule in RULES[:2])
        return list(dict.fromkeys(chain.from_iterable(islice(pairs, CANDIDATES) for pairs in ranked)))

    def _expected_change(self) -> Callable[[questions.Pair], float]:
        """What an answer changes beyond fitting again from the present solution, as a function of the pair."""
        start = start_from(self.model)

        def refit_with(*more: Answer) -> CredalPartition:
            return _fit(self.estimator, self.X, _links([*self.answers, *more]), start).partition_

        before = refit_with()

        def change(pair: questions.Pair) -> float:
            same, different = (refit_with(Answer(pair[0], pair[1], word)) for word in ("same", "different"))
            return questions.expected_change(before, same, different, pair)

        return change

    # -- the model ----------------------------------------------------------------------------------------------------

    @property
    def model(self) -> Any:
        """The estimator, fitted with all answers."""
        if self._model is None:
            self._model, _ = refit(self.estimator, self.X, self.links, self._start)
            if self._entries and self._before is not None:
                self._record(self._entries[-1], self._before)
        return self._model

    @property
    def partition(self) -> CredalPartition:
        """The partition of the :attr:`model`."""
        return self.model.partition_

    def _record(self, entry: Entry, before: CredalPartition) -> None:
        partition = self._model.partition_
        rule = self._model.method.labels
        entry.moved = int((partition.align(before).labels(rule) != before.labels(rule)).sum())
        entry.nonspecificity = float(partition.nonspecificity.mean())
        entry.criterion = np.nan if self._model.method.criterion is None else float(self._model.criterion_)

    # -- how it stands ------------------------------------------------------------------------------------------------

    @property
    def answers(self) -> list[Answer]:
        return [entry.answer for entry in self._entries]

    @property
    def links(self) -> PairwiseConstraints:
        """What the answers say, by row number."""
        return _links(self.answers)

    @property
    def worthwhile(self) -> bool:
        """Whether more questions are expected to pay (see ``patience``)."""
        if self.ask() is None:
            return False
        last = self._entries[-self.patience :]
        return len(last) < self.patience or not all(entry.is_uninformative for entry in last)

    @property
    def history(self) -> pd.DataFrame:
        """One row per answer: the two names, the answer, and what came of it.

        ``probability`` is that of "same" before the answer; ``moved`` counts the objects that changed their cluster
        with it; ``nonspecificity`` (mean over objects) and ``criterion`` are those after it. Answers that were read
        from a file have no such numbers.
        """
        import pandas as pd

        _ = self.model  # so that the last answer has its numbers
        rows = [
            (
                *map(self.names.__getitem__, e.answer[:2]),
                e.answer[2],
                e.probability,
                e.moved,
                e.nonspecificity,
                e.criterion,
            )
            for e in self._entries
        ]
        columns = ["first", "second", "answer", "probability", "moved", "nonspecificity", "criterion"]
        return pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name="question"))

    def __repr__(self) -> str:
        counts = Counter(given.answer for given in self.answers)
        told = ", ".join(f"{counts[word]} {word}" for word in ("same", "different", "unknown") if counts[word])
        count = f"{len(self._entries)} answer{'s' * (len(self._entries) != 1)}"
        kind = type(self.estimator).__name__
        return f"ActiveSession({kind}, {len(self.names)} objects, {count}{f': {told}' if told else ''})"

    # -- files --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answers as CSV (``first``, ``second``, ``answer``), replacing the file at once."""
        write_answers(path, self.answers, self.names)

    def resume(self, path: str | os.PathLike[str]) -> ActiveSession:
        """Take up the answers of a file; a last line that was cut off is left out, with a warning.

        The model is fitted anew from its own starts, once. It can differ from that of the session that was left, which
        may have come to its solution by way of earlier ones.
        """
        if self._entries:
            raise ValueError(f"This session has {len(self._entries)} answers already. Take up a file in a new one.")
        answers = read_answers(path, self.names)
        self._check(answers, [])
        self._entries = [Entry(given) for given in answers]
        self._start = None
        self._model = self._question = self._again = None
        return self


def ask_oracle(session: ActiveSession, truth: Any, n_questions: int, *, unknown: Any = -1) -> pd.DataFrame:
    """Let a truth answer the questions of a session, and see how the partition comes closer to it.

    Parameters
    ----------
    session : ActiveSession
        Goes on from where it is, and is changed.
    truth : array-like of shape (n_samples,)
        Labels; a Series is joined with the table of the session by the names in its index. About objects whose label
        is None, NaN or ``unknown`` the oracle says "don't know".
    n_questions : int
        It stops earlier when no question is left.

    Returns
    -------
    DataFrame
        One row per number of answers, from those given before: ``rand_index`` of the estimator's labels over the
        objects whose label is known, ``nonspecificity``, and ``worthwhile``.

    Examples
    --------
    Four groups on the corners of a square; the expert thinks of left and right.

    >>> from evidentia import CECM
    >>> corners = np.array([[0, 0], [0, 9], [8, 0], [8, 9]])
    >>> X = np.repeat(corners, 10, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    >>> session = ActiveSession(CECM(2, adaptive=True, random_state=0), X)
    >>> curve = ask_oracle(session, np.repeat(["left", "right"], 20), 10)
    >>> curve.rand_index[[0, 10]].round(2).tolist()
    [0.49, 1.0]
    """
    import pandas as pd
    from sklearn.metrics import rand_score

    truth = align_objects(session.X, truth, ("the table of the session", "'truth'"))
    if len(truth) != len(session.names):
        raise ValueError(f"The truth has {len(truth)} labels for {len(session.names)} objects.")
    objects, labels = known_labels(truth, unknown)
    label = dict(zip(objects.tolist(), labels.tolist()))

    def score_now() -> tuple[int, float, float, bool]:
        found = session.partition
        score = rand_score(labels, found.labels(session.estimator.method.labels)[objects])
        return len(session.answers), score, float(found.nonspecificity.mean()), session.worthwhile

    rows = [score_now()]
    for _ in range(n_questions):
        question = session.ask()
        if question is None:
            break
        first, second = label.get(question.first), label.get(question.second)
        session.answer("unknown" if first is None or second is None else "same" if first == second else "different")
        rows.append(score_now())
    table = pd.DataFrame(rows, columns=["answers", "rand_index", "nonspecificity", "worthwhile"])
    return table.set_index("answers")


def _links(answers: Sequence[Answer]) -> PairwiseConstraints:
    told = [given for given in answers if given.answer != "unknown"]
    pairs = np.array([given[:2] for given in told], dtype=np.int64).reshape(-1, 2)
    return PairwiseConstraints(pairs, np.array([given.answer == "same" for given in told], dtype=bool))


def refit(estimator: Any, X: Any, links: PairwiseConstraints, start: Any = None) -> tuple[Any, bool]:
    """The estimator fitted from its own starts and, if there is one, from another start: the lower criterion wins.

    The second says whether that other start won. Links change which minimum is the best one, so neither is enough.
    """
    fresh = _fit(estimator, X, links)
    if start is None:
        return fresh, False
    continued = _fit(estimator, X, links, start)
    return (continued, True) if _cost(continued) <= _cost(fresh) else (fresh, False)


def _fit(estimator: Any, X: Any, links: PairwiseConstraints, start: Any = None) -> Any:
    model = clone(estimator)
    if start is not None:
        model.set_params(init=start)
    return model.fit(X, constraints=links)


def start_from(model: Any) -> Any:
    """From what a model of the same kind can go on: centers, with covariances when there are, or masses; else None.

    A metric that was learned changes with the links, and centers in its space mean nothing in the next one.
    """
    if "init" not in model.parameters or model.method.criterion is None:
        return None
    if "cluster_centers_" not in model.attributes:
        return model.partition_
    if getattr(model, "metric_learner_", None) is not None:
        return None
    covariances = model.covariances_ if "covariances_" in model.attributes else None
    return model.cluster_centers_ if covariances is None else (model.cluster_centers_, covariances)


def _cost(model: Any) -> float:
    """The criterion, turned so that less is better."""
    return model.criterion_ if model.method.criterion == "minimized" else -model.criterion_
