"""A source of made-up rows that workers can import: slow, greedy, forgetful or broken as a test wants it."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evidentia.rows.passes import active_client
from evidentia.rows.source import Chunk, RowSource, chunk_rows


class MadeRows(RowSource):
    """Rows of two groups, made from a seed; parts have unequal lengths, and the third one none."""

    n_features = 3

    def __init__(self, n_handles=12, length=1000, *, pause=0.0, diary=None, file=None, bad=None, greed=0, broken=None):
        self.handles, self.length, self.pause = list(range(n_handles)), length, pause
        self.diary = diary  # folder in which each reading of a part leaves a file
        self.file = file  # without which there are no rows
        self.bad, self.broken = bad, broken  # part with a NaN; part that cannot be read the first time
        self.greed = greed  # bytes that reading takes
        self.n_rows = sum(map(self._length, self.handles))

    def _length(self, handle):
        return 0 if handle == 2 else self.length + 7 * handle

    def read(self, handle):
        if self.diary is not None:
            note = Path(self.diary) / f"{handle}-{time.monotonic_ns()}"
            note.touch()
            if handle == self.broken and len(list(note.parent.glob(f"{handle}-*"))) == 1:
                raise OSError(f"part {handle} cannot be read")
        if self.file is not None and not Path(self.file).exists():
            raise FileNotFoundError(f"{self.file} was there when the rows were first read, and is gone.")
        taken = np.ones(self.greed // 8)
        time.sleep(self.pause)
        rng = np.random.default_rng([5, handle])
        table = rng.normal(size=(self._length(handle), self.n_features)) * [1, 3, 0.2]
        table[:, 0] += 8 * (rng.random(len(table)) < 0.4)
        if handle == self.bad:
            table[11, 1] = np.nan
        size = min(chunk_rows(self.n_features), 400)
        for start in range(0, len(table), size):
            yield Chunk(table[start : start + size], None, f"part {handle}, row ", start)
        del taken

    def fingerprint(self):
        return f"made rows {len(self.handles)} {self.length}"


class Sums(NamedTuple):
    """Sums that depend on the order in which they are added up, in their last bits."""

    size: int
    total: np.ndarray

    def __add__(self, other):
        return Sums(self.size + other.size, self.total + other.total)


def sums_of(chunk, power):
    if np.isnan(chunk.table).any():
        raise ValueError(f"{chunk.where(int(np.isnan(chunk.table).any(axis=1).argmax()))} is empty")
    return Sums(len(chunk.table), (np.abs(chunk.table) ** power).sum(axis=0))


def sum_alone(rows, power):
    """The sum of a pass in plain loops."""
    total = None
    for handle in rows.handles:
        part = None
        for chunk in rows.read(handle):
            part = sums_of(chunk, power) if part is None else part + sums_of(chunk, power)
        if part is not None:
            total = part if total is None else total + part
    return total


def same(a, b):
    return a.size == b.size and a.total.tobytes() == b.total.tobytes()


# -- work on a handle --------------------------------------------------------------------------------------------------


def handle_of(rows, handle):
    return handle


def slow_if_even(rows, handle):
    time.sleep(0.1 * (handle % 2 == 0))
    return 10 * handle


def note_and_sleep(folder, rows, handle):
    time.sleep(0.05)
    (Path(folder) / str(handle)).touch()
    return handle


def client_of_a_task():
    import distributed

    distributed.get_client()
    return active_client()
