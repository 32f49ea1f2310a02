"""Computes units in processes of their own and keeps each one on disk as soon as it is done."""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

import evidentia
from evidentia.files import write_whole
from reproduction.exhibit import Exhibit, Result, Unit
from reproduction.files import DamagedFile, read_sealed, seal

# Set before a process starts, since the libraries read them when they are loaded: one unit, one core.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
OUT_OF_TIME = getattr(signal, "SIGXCPU", 0)


@dataclass(frozen=True)
class Measurement:
    """What a unit gave, and what was said meanwhile."""

    result: Result
    seconds: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why a unit gave nothing."""

    error: str
    lacks_data: bool = False


Outcome = Measurement | Failure
Outcomes = dict[str, Outcome]  # by the fingerprint of the unit


class Watcher(Protocol):
    """Hears of units as they begin and end; those that were kept from an earlier run only end."""

    def begins(self, unit: Unit) -> None: ...

    def ends(self, unit: Unit, outcome: Outcome, kept: bool) -> None: ...


class Store:
    """A directory with one small JSON file for each finished unit of this version of the package.

    Parameters
    ----------
    directory : Path
    fresh : bool
        Look at nothing that is there already.
    """

    def __init__(self, directory: Path, *, fresh: bool = False):
        self.directory = directory / evidentia.__version__
        self.fresh = fresh
        self.damaged: list[str] = []

    def path(self, unit: Unit) -> Path:
        readable = re.sub(r"[^A-Za-z0-9]+", "-", unit.key).strip("-")[:60]
        return self.directory / f"{readable}-{unit.fingerprint}.json"

    def read(self, unit: Unit) -> Measurement | None:
        """What is kept of a unit; None, and a line in `damaged`, when the file is not what was written."""
        path = self.path(unit)
        if self.fresh or not path.exists():
            return None
        try:
            kept = read_sealed(path)
            if kept["fingerprint"] != unit.fingerprint:
                raise DamagedFile(f"{path.name} is of another unit.")
            return Measurement(kept["result"], kept["seconds"], tuple(kept["warnings"]))
        except DamagedFile:
            self.damaged.append(path.name)
            return None

    def write(self, unit: Unit, measured: Measurement) -> None:
        write_whole(self.path(unit), json.dumps(seal(content(unit, measured)), indent=1))


def content(unit: Unit, measured: Measurement) -> dict[str, Any]:
    """All that a unit gave, with what it was computed from."""
    return {
        "key": unit.key,
        "fingerprint": unit.fingerprint,
        "measure": unit.measure_name,
        "settings": dict(unit.settings),
        "version": evidentia.__version__,
        "result": measured.result,
        "seconds": measured.seconds,
        "warnings": list(measured.warnings),
    }


def longest_first(
    exhibits: Iterable[Exhibit], plan: Mapping[str, Sequence[Unit]], quick: bool
) -> list[tuple[Unit, float]]:
    """The units of all exhibits, each once, with about how many minutes it takes.

    A long one that begins last would keep one process busy alone.
    """
    units: dict[str, tuple[Unit, float]] = {}
    for exhibit in exhibits:
        for unit in plan[exhibit.name]:
            share = exhibit.minutes[0 if quick else 1] / len(plan[exhibit.name])
            _, known = units.get(unit.fingerprint, (unit, 0.0))
            units[unit.fingerprint] = unit, max(share, known)
    return sorted(units.values(), key=lambda planned: -planned[1])


def compute(units: Iterable[Unit], store: Store, *, jobs: int = 1, watcher: Watcher | None = None) -> Outcomes:
    """Outcomes of units, from the store where they are in it.

    A unit that raises, or that brings its process down, is a `Failure`, and the others go on. An interruption loses
    only what is being computed at that moment.

    Parameters
    ----------
    units : iterable of Unit
        Begun in this order; those with the same fingerprint are computed once.
    store : Store
    jobs : int
        Number of processes. The results do not depend on it.
    watcher : Watcher, optional
    """
    outcomes: Outcomes = {}
    waiting = []
    for unit in {unit.fingerprint: unit for unit in units}.values():
        kept = store.read(unit)
        if kept is None:
            waiting.append(unit)
        else:
            outcomes[unit.fingerprint] = kept
            if watcher is not None:
                watcher.ends(unit, kept, kept=True)
    for unit, outcome in _run_in_processes(waiting, jobs, watcher.begins if watcher is not None else lambda unit: None):
        outcomes[unit.fingerprint] = outcome
        if isinstance(outcome, Measurement):
            store.write(unit, outcome)
        if watcher is not None:
            watcher.ends(unit, outcome, kept=False)
    return outcomes


def _run_in_processes(units: list[Unit], jobs: int, begins: Callable[[Unit], None]) -> Iterator[tuple[Unit, Outcome]]:
    """Units with their outcomes, as they come. (A pool of the library would not say which unit ended its process.)"""
    waiting = units[::-1]
    idle: list[_Worker] = []
    busy: dict[Connection, tuple[_Worker, Unit]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                worker, unit = idle.pop() if idle else _Worker(), waiting.pop()
                busy[worker.pipe] = worker, unit
                begins(unit)
                worker.pipe.send((unit.measure, dict(unit.settings), unit.limit))
            for pipe in wait(list(busy)):
                worker, unit = busy[pipe]  # type: ignore[index]
                try:
                    outcome: Outcome = worker.pipe.recv()
                    idle.append(worker)
                except EOFError:
                    worker.process.join()
                    outcome = _end_outcome(worker.process.exitcode, unit.limit)
                del busy[worker.pipe]
                yield unit, outcome
    finally:
        for worker, _ in busy.values():
            worker.process.terminate()
        for worker in [*idle, *(worker for worker, _ in busy.values())]:
            worker.pipe.close()  # an idle one ends by itself
            worker.process.join()


def _end_outcome(code: int | None, limit: int | None) -> Outcome:
    """What the end of a process means: the time limit of its unit, or a failure."""
    if limit is not None and code == -OUT_OF_TIME:
        return Measurement({"no end within": limit}, float(limit))
    return Failure(f"its process ended with code {code}; a lack of memory is the usual cause")


class _Worker:
    """A process that measures what it is sent; started anew, not forked, so that it has one thread everywhere."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        with _environment(ONE_THREAD):
            self.process.start()
        other.close()  # or the end of the process would never be noticed


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to handle
    os.environ["MPLBACKEND"] = "agg"
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            measure, settings, limit = pipe.recv()
            _limit_time(limit)
            pipe.send(measure_unit(measure, settings))


def _limit_time(seconds: int | None) -> None:
    """Have the system end this process after so much more CPU time, or no longer do so; Windows cannot."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (hard if seconds is None else math.ceil(process_time()) + seconds, hard))


def _end_with_the_parent() -> None:
    """A parent that was killed could not end its workers, and a unit may take minutes."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def measure_unit(measure: Callable[..., Result], settings: Mapping[str, Any]) -> Outcome:
    """Call a unit's function; what it gives goes through JSON, so that it looks the same fresh and from the store."""
    begin = perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = json.loads(json.dumps(measure(**settings), default=_plain))
        except Exception as error:
            lacks_data = isinstance(error, FileNotFoundError) and "EVIDENTIA_DATA" in str(error)
            return Failure(_error_line(error), lacks_data)
    texts = dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in said)
    return Measurement(result, round(perf_counter() - begin, 3), tuple(texts))


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a unit returned a {type(value).__name__}, which JSON cannot hold")


def _error_line(error: Exception) -> str:
    """The error in one line, with the innermost place of the library or of this package that it came through."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    inner = [frame for frame in frames if frame.name != measure_unit.__name__ and _is_own(frame.filename)]
    return f"{text} ({Path(inner[-1].filename).name}, line {inner[-1].lineno})" if inner else text


def _is_own(filename: str) -> bool:
    """Whether a file is of the library or of this package, wherever the clone is and whatever it is called."""
    homes = (Path(evidentia.__file__).parent, Path(__file__).parent)
    return any(Path(filename).is_relative_to(home) for home in homes)
