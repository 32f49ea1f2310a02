"""What the families share: a line of the table, a stopwatch, and measurements in a process of their own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LAYOUT = "{:<44} {:<22} {:>10} {:>9} {:>9} {:>9}  {}"


@dataclass(frozen=True)
class Line:
    """One line of the table. ``ok`` is None for what is only information or could not be measured."""

    what: str
    size: str
    ours: str
    peer: str
    result: str
    target: str
    ok: bool | None

    def __str__(self) -> str:
        ok = {True: "yes", False: "NO", None: "-"}[self.ok]
        return LAYOUT.format(self.what, self.size, self.ours, self.peer, self.result, self.target, ok)


HEAD = LAYOUT.format("what", "size", "ours", "peer", "result", "target", "ok")


def print_table(lines: Iterable[Line], *, judged: bool = True) -> int:
    """Print the table line by line, and what it comes to: 1 if a target was missed or could not be measured.

    Sizes that are not ``judged`` are too small for the targets.
    """
    print(HEAD, "-" * len(HEAD), sep="\n", flush=True)
    missed = unknown = 0
    for line in lines:
        print(line, flush=True)
        missed += line.ok is False
        unknown += line.ok is None and line.target != ""
    if not judged:
        print("Small sizes: the targets are for the full ones.")
        return 0
    print(f"{missed} target(s) missed, {unknown} not measured." if missed or unknown else "All targets met.")
    return int(missed + unknown > 0)


def speed(what: str, size: str, ours: float, peer: float, target: float) -> Line:
    """Seconds of both and how many times faster ours is."""
    ratio = peer / ours
    return Line(what, size, duration(ours), duration(peer), f"{ratio:.1f} x", f">= {target:g} x", ratio >= target)


def beside_evclust(what: str, size: str, ours: float, theirs: float | str | None, target: float) -> Line:
    """The same where the peer may have failed, which a sentence says, or may not be there."""
    if isinstance(theirs, float):
        return speed(what, size, ours, theirs, target)
    if theirs is None:
        return Line(what, size, duration(ours), "", "no peer", f">= {target:g} x", None)
    print(f"evclust 0.2.1 cannot do {what}, {size}: {theirs}", file=sys.stderr)
    return Line(what, size, duration(ours), "", "peer fails", "", None)  # what the peer cannot do is no target


def seconds_by_evclust(module: str, function: str, *arguments: Any, python: str) -> dict[str, float | str]:
    """What ``module.function`` measures of each method in the peer's interpreter; nothing where it cannot run."""
    try:
        return in_own_process(module, function, *arguments, python=python)
    except RuntimeError as error:
        print(f"{python} could not run evclust 0.2.1: {error}", file=sys.stderr)
        return {}


def within(what: str, size: str, ours: float, peer: float, most: float) -> Line:
    """Seconds of both and how many times as long ours takes."""
    ratio = ours / peer
    return Line(what, size, duration(ours), duration(peer), f"{ratio:.2f} x", f"<= {most:g} x", ratio <= most)


def memory(what: str, size: str, megabytes: float, target: float) -> Line:
    """Peak memory beyond what was there before."""
    return Line(what, size, f"{megabytes:.0f} MB", "", "", f"< {target:g} MB", megabytes < target)


def duration(seconds: float) -> str:
    """Seconds in a readable unit."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"


def stopwatch(work: Callable[[], Any], repeats: int = 3) -> float:
    """CPU seconds of the fastest of several repeats. On one thread they are seconds on the clock of an idle machine."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak_beyond(work: Callable[[], Any]) -> float:
    """Megabytes by which the resident memory of this process rises above its present level; for a fresh process."""
    before = _resident("VmRSS")
    work()
    return (_resident("VmHWM") - before) / 1e6


def _resident(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:  # not Linux: only the peak is known, so what was needed before is counted as if still held
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def in_own_process(module: str, function: str, *arguments: Any, python: str = sys.executable) -> Any:
    """Call ``module.function(*arguments)`` in a new interpreter; both ways by JSON."""
    code = (
        f"import json, sys; from {module} import {function} as work; print(json.dumps(work(*json.loads(sys.argv[1]))))"
    )
    done = subprocess.run(
        [python, "-c", code, json.dumps(arguments)], cwd=ROOT, env=os.environ, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])
