"""A source of rows for tests: an array that counts as not being in memory, cut in odd chunks."""

import itertools

import numpy as np

from evidentia.rows.source import Chunk, RowSource


class OddRows(RowSource):
    """Rows of an array, in handles of ``size`` rows, each read in two chunks; some handles are empty."""

    def __init__(self, table, weight=None, size=7_001, known=True):
        self.table, self.weight = np.asarray(table, dtype=float), weight
        self.n_features = self.table.shape[1]
        self.n_rows = len(self.table) if known else None
        cuts = [*range(0, len(self.table), size), len(self.table)]
        self.handles = [(0, 0), *itertools.pairwise(cuts)]

    def read(self, handle):
        start, stop = handle
        for a, b in ((start, (start + stop) // 2), ((start + stop) // 2, stop)):
            if a < b:
                yield Chunk(self.table[a:b], None if self.weight is None else self.weight[a:b], "row ", a)

    def fingerprint(self):
        return f"{self.table.shape} {self.table.sum()!r}"


class Repeated(OddRows):
    """Rows of an array again and again, a little moved, so that they are many and take no room."""

    def __init__(self, table, times):
        super().__init__(table)
        self.handles, self.n_rows = list(range(times)), times * len(table)

    def read(self, handle):
        yield Chunk(self.table + 1e-3 * handle, None, "row ", handle * len(self.table))
