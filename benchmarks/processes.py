"""Memory and CPU time of a process and of all that it started, as Linux counts them in /proc."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import ROOT

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
EVERY = 0.05  # seconds between two looks


class Usage(NamedTuple):
    """Of a process and its descendants at one moment."""

    cpu: float  # seconds, with those of children that have ended and were waited for
    resident: float  # bytes; what processes share counts for each of them

    @property
    def megabytes(self) -> float:
        return self.resident / 1e6


def usage(root: int) -> Usage:
    """What the processes of a tree have used so far, and hold now."""
    known = {int(path.name): fields for path in Path("/proc").glob("[0-9]*") if (fields := _fields(path))}
    tree, cpu, resident = {root}, 0.0, 0.0
    for pid in sorted(known, key=lambda pid: int(known[pid][19])):  # a child began after its parent
        if pid == root or int(known[pid][1]) in tree:
            tree.add(pid)
            cpu += sum(map(int, known[pid][11:15])) / TICK
            resident += int(known[pid][21]) * PAGE
    return Usage(cpu, resident)


def _fields(process: Path) -> list[str]:
    """Fields of a process from its state on; none if it has ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


class WatchedRun(NamedTuple):
    """What a function gave in an interpreter of its own, and the most memory that its processes held."""

    result: Any
    megabytes: float


def watch(module: str, function: str, *arguments: Any, python: str = sys.executable) -> WatchedRun:
    """Call ``module.function(*arguments)`` in a new interpreter, both ways by JSON, and watch its memory."""
    code = f"import json, sys; from {module} import {function} as work; found = work(*json.loads(sys.argv[1]))"
    code += "; json.dump(found, open(sys.argv[2], 'w'))"
    with tempfile.TemporaryDirectory() as folder:
        into, said = Path(folder) / "found.json", Path(folder) / "said.txt"
        with said.open("w") as output:
            command = [python, "-c", code, json.dumps(arguments), str(into)]
            child = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
            peak = 0.0
            try:
                while child.poll() is None:
                    peak = max(peak, usage(child.pid).megabytes)
                    time.sleep(EVERY)
            finally:
                child.kill()  # if we were interrupted
                child.wait()
        if child.returncode:
            raise RuntimeError((said.read_text().strip() or "no message").splitlines()[-1])
        return WatchedRun(json.loads(into.read_text()), peak)
