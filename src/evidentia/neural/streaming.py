"""Batches of rows that are not in memory: every row once in a pass, while a few chunks are in memory at a time.

Rows of a file are often in some order, and those of a chunk then alike: a network that saw one chunk after the other
would learn the last and forget the first. Batches are therefore drawn from several places of the source at once, and
half of each are rows of a sample that stands for all, so that every row is compared with rows of every kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from evidentia.neural.training import STEP, Schedule
from evidentia.rows.scan import row_hashes
from evidentia.rows.source import Chunk, RowSource, drop_zero_weights

PLACES = 8  # parts of a source that are read side by side
MEMORY = 256 << 20  # bytes; where a part needs more to be read, they are fewer
LATE = 3.0  # by which steps are shorter than the first ones, after a descent on the sample came to rest


@dataclass(frozen=True)
class Stream:
    """All rows, and what is needed to make batches of them.

    Attributes
    ----------
    rows : RowSource
    n_rows : int
        Rows of a weight above zero.
    mean_weight : float
        Of these. In a pass a row comes as often as its weight over this one, rounded up or down at random.
    sample : ndarray of shape (n_sampled, n_features)
        Rows drawn evenly from all.
    held_back : ndarray of uint64
        Hashes of rows that are in no batch.
    """

    rows: RowSource
    n_rows: int
    mean_weight: float
    sample: np.ndarray
    held_back: np.ndarray

    def batches(self, size: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
        """Tables of about ``size`` rows, in which every row comes once; parts of the source come in random order."""
        half, n_places = max(1, size // 2), int(np.clip(MEMORY // self.rows.working_bytes, 1, PLACES))
        order = rng.permutation(len(self.rows.handles))
        for start in range(0, len(order), n_places):
            places = [self.rows.handles[at] for at in order[start : start + n_places]]
            for chunks in zip_longest(*(drop_zero_weights(self.rows.read(handle)) for handle in places)):
                drawn = [chunk.table[self._numbers(chunk, rng)] for chunk in chunks if chunk is not None]
                table = np.concatenate(drawn)
                for some in np.array_split(rng.permutation(len(table)), max(1, len(table) // half)):
                    others = rng.randint(len(self.sample), size=size - half)
                    yield np.concatenate([table[some], self.sample[others]])

    def _numbers(self, chunk: Chunk, rng: np.random.RandomState) -> np.ndarray:
        """Rows of a chunk that are learned from, by number."""
        numbers = np.arange(len(chunk.table))
        if chunk.weight is not None:
            share = chunk.weight / self.mean_weight
            numbers = np.repeat(numbers, np.floor(share + rng.uniform(size=len(share))).astype(np.int64))
        if len(self.held_back):
            numbers = numbers[~np.isin(row_hashes(chunk.table), self.held_back)[numbers]]
        return numbers

    def schedule(self, of_sample: Schedule) -> Schedule:
        """How passes over all rows go on from a descent on the sample: with short steps, and as patient in rows."""
        rate = STEP[of_sample.optimizer] if of_sample.learning_rate is None else of_sample.learning_rate
        patience = max(1, round(of_sample.patience * len(self.sample) / self.n_rows))
        return replace(of_sample, learning_rate=rate / LATE, patience=patience)
