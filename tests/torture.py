"""What files must bear: damage, several writers at once, sudden death, a full disk, a folder that is read-only.

Whoever reads afterwards finds the old file or the new one, whole, or is told in a sentence. ``python tests/torture.py``
is the long form and prints counts; the tests run the short form.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidentia import CredalPartition, FocalSets, PairwiseConstraints
from evidentia.constraints.files import Answer, read_answers, write_answers
from evidentia.rows.checkpoint import Checkpoint
from evidentia.solvers.coordinates import moments_of
from reproduction.exhibit import Unit
from reproduction.running import Measurement, Store

NOBODY = 65534
NAMES = ["a", "b", "c", "dé", "=1+1", "7"]  # one bit makes some of them another


class Kind(NamedTuple):
    """A kind of file: its name, how one of two contents is written, and what reading finds, to be compared."""

    name: str
    write: Callable[[Path, int], Any]
    read: Callable[[Path], Any]


class Told(Exception):
    """The reader said, in words, what is wrong with the file."""


def _partition(seed: int) -> CredalPartition:
    masses = np.random.default_rng(seed).dirichlet([1, 2, 3], size=3)
    return CredalPartition(masses, FocalSets(3, [{0}, {1, 2}, {}]), object_names=NAMES[:3], cluster_names=NAMES[3:])


def _read_partition(path: Path) -> Any:
    found = CredalPartition.load(path)
    return found.masses.tolist(), found.focal_sets.masks.tolist(), found.object_names, found.cluster_names


@cache
def _network(seed: int) -> Any:
    from evidentia import NNEVCLUS

    X = np.random.default_rng(seed).normal(size=(12, 2)) + np.repeat([[0], [9]], 6, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NNEVCLUS(2, hidden=(3,), n_init=1, max_iter=2, random_state=seed).fit(X)


def _read_network(path: Path) -> Any:
    from evidentia import load_model

    found = load_model(path)
    weights = {name: values.tolist() for name, values in found.network_.state().items()}
    return found.partition_.masses.tolist(), weights, found.loss_, found.get_params()


def _write_checkpoint(path: Path, seed: int) -> None:
    kept = Checkpoint(path.with_name("none.npz"), "rows", "settings")
    kept.path, kept.seed = path, seed
    kept.sums = {"a": moments_of(np.random.default_rng(seed).normal(size=(9, 2)))}
    kept.write()


def _read_checkpoint(path: Path) -> Any:
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    found = Checkpoint(path, "rows", "settings")
    sums = {digest: [np.asarray(v).tolist() for v in held] for digest, held in found.sums.items()}
    return found.seed, sums


def _answers(seed: int) -> list[Answer]:
    return [Answer(0, 1, "same"), Answer(2, 3, "different"), Answer(4, 5, "unknown"), Answer(1, 4, "same")][seed:]


def _links(seed: int) -> PairwiseConstraints:
    return PairwiseConstraints.from_links([("a", "b", 0.25), ("b", "=1+1")][seed:], [("c", "dé")])


UNIT = Unit("a/b", moments_of, {"seed": 3})


class OneFile(Store):
    """Units at the path that is tortured."""

    def __init__(self, path: Path):
        super().__init__(path.parent)
        self.file = path

    def path(self, unit: Any) -> Path:
        return self.file


def _write_unit(path: Path, seed: int) -> None:
    store = OneFile(path)
    store.write(UNIT, Measurement({"ari": [0.731 + seed, 0.5]}, 2.25, ("late",)))


def _read_unit(path: Path) -> Any:
    store = OneFile(path)
    found = store.read(UNIT)
    if found is None:
        raise ValueError(f"{store.damaged or path}")
    return found.result, found.seconds, found.warnings


KINDS = {
    kind.name: kind
    for kind in (
        Kind("partition.npz", lambda path, seed: _partition(seed).save(path), _read_partition),
        Kind("network.npz", lambda path, seed: _network(seed).save(path), _read_network),
        Kind("checkpoint.npz", _write_checkpoint, _read_checkpoint),
        Kind(
            "answers.csv",
            lambda path, seed: write_answers(path, _answers(seed), NAMES),
            lambda path: read_answers(path, NAMES),
        ),
        Kind(
            "links.csv",
            lambda path, seed: _links(seed).to_csv(path),
            lambda path: [tuple(link) for link in PairwiseConstraints.from_csv(path)],
        ),
        Kind("unit.json", _write_unit, _read_unit),
    )
}


def read(kind: Kind, path: Path) -> Any:
    """What is in the file; `Told` when its reader refuses it in a sentence or warns. Anything else is a raw error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = kind.read(path)
        except ValueError as error:
            if path.name not in str(error):
                raise AssertionError(f"{error!r} does not name the file") from error
            raise Told(str(error)) from None
    if said:
        raise Told(str(said[0].message))
    return found


# -- damage -----------------------------------------------------------------------------------------------------------


def damage(kind: Kind, folder: Path, *, stride: int = 1, masks: tuple[int, ...] = (0xFF,), start: int = 0) -> Counter:
    """Flip bits of every byte and cut at every length; whatever is read is what was written."""
    path, counts = folder / kind.name, Counter()
    kind.write(path, 0)
    whole, wanted = path.read_bytes(), read(kind, path)
    for at in range(start, len(whole), stride):
        for mask in masks:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
            counts["flipped, " + _outcome(kind, path, wanted, f"byte {at} flipped by {mask:#x}")] += 1
        path.write_bytes(whole[:at])
        counts["cut, " + _outcome(kind, path, wanted, f"cut at byte {at}")] += 1
    return counts


def _outcome(kind: Kind, path: Path, wanted: Any, what: str) -> str:
    try:
        found = read(kind, path)
    except Told:
        return "told"
    assert found == wanted, f"{kind.name}, {what}: read as if whole, but other than what was written"
    return "whole"


# -- processes --------------------------------------------------------------------------------------------------------


def forked(work: Callable[[], Any]) -> int:
    """A process of its own that does some work and ends; gives its number."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)


def several(kind: Kind, folder: Path, *, writes: int, writers: int = 4) -> Counter:
    """Several processes write to one path while another one reads."""
    path, counts = folder / kind.name, Counter()
    kind.write(path, 0)
    wanted = _both(kind, folder)

    def write() -> None:
        for turn in range(writes):
            kind.write(path, (turn + os.getpid()) % 2)

    children = {forked(write) for _ in range(writers)}
    while children:
        assert read(kind, path) in wanted
        counts["read while others wrote"] += 1
        for child in list(children):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                assert os.waitstatus_to_exitcode(status) == 0, "a writer failed"
                children.remove(child)
                counts["writes of several"] += writes
    _nothing_else(folder, path)
    return counts


def _both(kind: Kind, folder: Path) -> list[Any]:
    """The two contents that may be found."""
    found = []
    for seed in (0, 1):
        (folder / "apart").mkdir(exist_ok=True)
        kind.write(folder / "apart" / kind.name, seed)
        found.append(read(kind, folder / "apart" / kind.name))
    shutil.rmtree(folder / "apart")
    assert found[0] != found[1]
    return found


def _nothing_else(folder: Path, path: Path) -> None:
    assert os.listdir(folder) == [path.name], f"left behind: {os.listdir(folder)}"


def killed(kind: Kind, folder: Path, *, times: int, seed: int) -> Counter:
    """A process that writes without end is killed at a random moment, many times."""
    path, counts, rng = folder / kind.name, Counter(), random.Random(seed)
    kind.write(path, 0)
    wanted = _both(kind, folder)

    def write() -> None:
        turn = 0
        while True:
            kind.write(path, turn % 2)
            turn += 1

    for _ in range(times):
        child = forked(write)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert read(kind, path) in wanted
        counts["killed, whole"] += 1
        for left in folder.glob(".*.part"):
            left.unlink()
            counts["killed, temporary file left"] += 1
        _nothing_else(folder, path)
    return counts


def full(kind: Kind, folder: Path) -> Counter:
    """No room for the whole file: the old one stays, nothing else does, and the error names the path."""
    path, counts = folder / kind.name, Counter()
    kind.write(path, 1)
    size = path.stat().st_size
    kind.write(path, 0)
    before = path.read_bytes()
    for room in sorted({0, 1, size // 3, size // 2, size - 1}):

        def write(room: int = room) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            _refused(kind, path)

        counts["no room, told"] += _succeeded(write)
        assert path.read_bytes() == before
        _nothing_else(folder, path)
    return counts


def read_only(kind: Kind, folder: Path) -> Counter:
    """A folder that may not be written to, for root too."""
    path = folder / kind.name
    kind.write(path, 0)
    before = path.read_bytes()
    folder.chmod(0o555)

    def write() -> None:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        _refused(kind, path)

    told = _succeeded(write)
    folder.chmod(0o755)
    assert path.read_bytes() == before
    _nothing_else(folder, path)
    return Counter({"read-only, told": told})


def _refused(kind: Kind, path: Path) -> None:
    try:
        kind.write(path, 1)
    except OSError as error:
        told = error
    else:
        raise AssertionError("it was written")
    assert told.filename == str(path), repr(told)
    assert told.strerror


def _succeeded(work: Callable[[], None]) -> int:
    assert os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1]) == 0
    return 1


def small_disk(kind: Kind, folder: Path) -> Counter:
    """A disk of its own that is full but for a few pages, where one can be mounted."""
    disk, counts = folder / "disk", Counter()
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        return Counter({"no disk could be mounted": 1})
    try:
        path = disk / kind.name
        kind.write(path, 0)
        before = path.read_bytes()
        filler, room = disk / "filler", 65536
        while room:
            try:
                with open(filler, "ab") as file:
                    file.write(bytes(room))
            except OSError:
                room //= 2
        _refused(kind, path)
        assert path.read_bytes() == before
        assert sorted(os.listdir(disk)) == sorted([kind.name, "filler"])
        counts["full disk, told"] += 1
    finally:
        subprocess.run(["umount", disk], check=True)
    return counts


# -- running ----------------------------------------------------------------------------------------------------------


def processes(kind: Kind, *, kills: int, writes: int, seed: int) -> Counter:
    """All that needs processes, each in a folder of its own that anybody may look into."""
    counts: Counter = Counter()
    attacks: list[Callable[[Kind, Path], Counter]] = [
        lambda kind, folder: several(kind, folder, writes=writes),
        lambda kind, folder: killed(kind, folder, times=kills, seed=seed),
        full,
        read_only,
        small_disk,
    ]
    for attack in attacks:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
            counts += attack(kind, folder)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="in all, shared by the kinds of files")
    parser.add_argument("--writes", type=int, default=500, help="of each of four writers, for each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-damage", action="store_true", help="processes only")
    chosen = parser.parse_args()
    found = {}
    for kind in KINDS.values():
        counts = processes(kind, kills=-(-chosen.kills // len(KINDS)), writes=chosen.writes, seed=chosen.seed)
        if not chosen.no_damage:
            with tempfile.TemporaryDirectory() as folder:
                counts += damage(kind, Path(folder), masks=tuple(1 << bit for bit in range(8)))
        found[kind.name] = dict(counts)
        print(json.dumps({kind.name: found[kind.name]}), flush=True)


if __name__ == "__main__":
    main()
