"""What ``fit`` was given, read and checked: the one thing that a method sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from evidentia._objects import Names, row_names
from evidentia.constraints.pairwise import PairwiseConstraints
from evidentia.rows.checkpoint import Checkpoint
from evidentia.rows.passes import Additive, reduce_rows
from evidentia.rows.source import ArrayRows, RowSource

Rows = TypeVar("Rows")
A = TypeVar("A", bound=Additive)


@dataclass(frozen=True)
class Data(Generic[Rows]):
    """The objects of a fit and what is known of them.

    Parameters
    ----------
    given : object
        X in a table of this library: an array, a DataFrame, a list of objects, a source of rows.
    rows : RowSource, Source or Views
        The objects as the method reads them: rows of numbers, dissimilarities, several tables.
    weight : ndarray of shape (n_samples,) or None
        Weights of the objects; None if all are one, or if they come with the rows of a file.
    constraints : PairwiseConstraints
        Links by row number; empty if there are none.
    partial_labels : object
        What is known about the classes of some objects, as it was given; None if nothing is known.
    rng : RandomState
        What is drawn at random, is drawn from here.
    checkpoint : Checkpoint or None
        The file that keeps the sums of the passes.
    """

    given: Any
    rows: Rows
    weight: np.ndarray | None
    constraints: PairwiseConstraints
    partial_labels: Any
    rng: np.random.RandomState
    checkpoint: Checkpoint | None = None

    @property
    def names(self) -> Names | None:
        """Names of the objects; None if they have none."""
        return row_names(self.rows) or row_names(self.given)

    @property
    def table(self) -> np.ndarray:
        """The rows as an array, when they are in memory."""
        assert isinstance(self.rows, ArrayRows), "the rows are not in memory"
        return self.rows.table

    def reduce(self, kernel: Callable[..., A | None], *parameters: Any) -> A:
        """Return the sum of ``kernel(chunk, *parameters)`` over the chunks of the table, in the order of the rows."""
        assert isinstance(self.rows, RowSource), "only rows of numbers are read in chunks"
        return reduce_rows(kernel, self.rows, *parameters)
