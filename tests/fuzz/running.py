"""Cases one after the other, in processes that are watched: one that does not end, or dies, is a failure too."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .laws import ONE_FIT, TWO_FITS, Broken, Undecided, claimed, compare, refusal
from .problem import ESTIMATORS, LIMIT, Case, Problem, TooSlow

import_module("numba")  # whoever is stopped while it is loaded leaves half of it behind

HANGS = 5 * LIMIT  # seconds on the clock without a word, after which a process is ended
COUNTED = 1.0  # most seconds of a case that count as its method's: what is longer was compiling
REPORT = 60.0  # seconds between two notes of the counts
SHOWN = 3  # failures of one kind that are printed


class Outcome(NamedTuple):
    """How a case ended: ``held``, ``refused`` or ``undecided``, the law of two fits that it was about, and the fits."""

    word: str
    law: str
    fits: int


def check(case: Case) -> Outcome:
    """Draw a case and look at the laws; an error is a failure."""
    rng = case.rng()
    problem = Problem.draw(case.method, rng)
    able = [law for law in TWO_FITS if claimed(law, problem) is None]
    law = able[rng.integers(len(able))]
    try:
        model = problem.fit()
        for name, look in ONE_FIT.items():
            if claimed(name, problem) is None:
                look(problem, model)
        with np.errstate(over="ignore"):  # values beyond doubles are there to be refused
            two = TWO_FITS[law](problem, rng)
        fits = 1 + compare(two, rng, exact=law == "same bits", known=model if two.one is problem else None)
    except (ValueError, TypeError, MemoryError) as error:
        refusal(problem, error)
        return Outcome("refused", law, 1)
    except Broken as error:
        raise Broken(f"{law}: {error}") from error
    except Undecided:
        return Outcome("undecided", law, 4)
    return Outcome("held", law, fits)


@dataclass
class Counts:
    """What a run has seen."""

    fits: Counter = field(default_factory=Counter)
    outcomes: Counter = field(default_factory=Counter)
    failures: Counter = field(default_factory=Counter)

    def add(self, case: Case, outcome: Outcome) -> None:
        self.fits[case.method] += outcome.fits
        self.outcomes[f"{outcome.law}, {outcome.word}"] += 1

    def fail(self, case: Case, kind: str, words: str) -> None:
        """Note a failure, and print the first of each kind with the line that repeats it."""
        self.failures[f"{case.method}: {kind}"] += 1
        if self.failures[f"{case.method}: {kind}"] <= SHOWN:
            print(f"FAILED {case}: {words}\n    repeat: PYTHONPATH=tests python -m fuzz {case}", flush=True)

    def __str__(self) -> str:
        return str({name: count for name, count in self.in_numbers().items() if isinstance(count, int)})

    def in_numbers(self) -> dict[str, Any]:
        words = Counter()
        for name, count in self.outcomes.items():
            words[name.rsplit(", ", 1)[1]] += count
        return {
            "fits": self.fits.total(), **words, "failures": dict(self.failures),
            "fits by method": dict(self.fits), "outcomes": dict(self.outcomes),
        }  # fmt: skip


def _work(names: list[str], number: int, stride: int, pipe: Any) -> None:
    """Cases without end, always of the method that had least time; says which before, and how it ended after."""
    spent = dict.fromkeys(names, 0.0)
    while True:
        method = min(spent, key=spent.__getitem__)
        case, began = Case(method, number), time.process_time()
        number += stride
        pipe.send((case, None, ""))
        try:
            pipe.send((case, check(case), ""))
        except KeyboardInterrupt:
            return
        except (Exception, TooSlow) as error:
            pipe.send((case, None, _described(error)))
        spent[method] += min(time.process_time() - began, COUNTED)


def _described(error: BaseException) -> str:
    """The kind of a failure, where it came from, and its words."""
    last = [frame for frame in traceback.extract_tb(error.__traceback__) if "evidentia" in frame.filename][-1:]
    place = f"{Path(last[0].filename).name}:{last[0].lineno}" if last else "after the fit"
    kind = str(error).split(":")[0].split(",")[0] if isinstance(error, Broken) else type(error).__name__
    return f"{kind[:50]} ({place})\t{type(error).__name__}: {error}"


class Worker:
    """A process that works on cases of its own numbers."""

    def __init__(self, names: list[str], number: int, stride: int):
        self.names, self.stride = names, stride
        self._begin(number)

    def _begin(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(self.names, number, self.stride, other), daemon=True)
        self.process.start()
        other.close()
        self.case, self.heard, self.number = Case("", number), time.monotonic(), number

    def listen(self, counts: Counts) -> None:
        """Take what it says for a moment; end it when it hangs, and begin again after the case."""
        until = time.monotonic() + 1.0
        try:
            while time.monotonic() < until and self.pipe.poll(0.05):
                self.case, outcome, words = self.pipe.recv()
                self.heard, self.number = time.monotonic(), self.case.number
                if outcome is not None:
                    counts.add(self.case, outcome)
                elif words:
                    counts.fail(self.case, *words.split("\t", 1))
        except EOFError:
            counts.fail(self.case, "the process died", f"exit code {self.process.exitcode}")
            self._begin(self.number + self.stride)
        if time.monotonic() - self.heard > HANGS:
            self.process.kill()
            counts.fail(self.case, "no end", f"not ended after {HANGS:g} s")
            self._begin(self.number + self.stride)


def run_for(
    seconds: float, seed: int, jobs: int, names: list[str] | None = None, note: Callable[[Counts], None] = print
) -> Counts:
    """Cases numbered from the seed on, for some time; failures are printed, and every minute the counts are noted."""
    counts, began, said = Counts(), time.monotonic(), time.monotonic()
    workers = [Worker(names or list(ESTIMATORS), 10**9 * seed + at, jobs) for at in range(jobs)]
    while time.monotonic() - began < seconds:
        for worker in workers:
            worker.listen(counts)
        if time.monotonic() - said > REPORT:
            said = time.monotonic()
            note(counts)
    for worker in workers:
        worker.process.kill()
    return counts
