"""What ``fit`` was given, read and checked: the one thing that a method sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from evidentia import methods
from evidentia._checks import check_weight
from evidentia._objects import Names, align_objects, row_names
from evidentia.constraints.pairwise import PairwiseConstraints, resolve_constraints
from evidentia.rows.checkpoint import Checkpoint
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.passes import Additive, reduce_rows
from evidentia.rows.source import ArrayRows, RowSource, SparseRows

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

    def align(self, value: Any, name: str) -> Any:
        """Return what is known of each object in the order of X: joined by names where both have names."""
        return align_objects(self.given, value, ("X", f"{name!r}"))

    @property
    def table(self) -> np.ndarray:
        """The rows as an array, when they are in memory."""
        assert isinstance(self.rows, ArrayRows), "the rows are not in memory"
        return self.rows.table

    def reduce(self, kernel: Callable[..., A | None], *parameters: Any) -> A:
        """Return the sum of ``kernel(chunk, *parameters)`` over the chunks of the table, in the order of the rows."""
        assert isinstance(self.rows, RowSource), "only rows of numbers are read in chunks"
        return reduce_rows(kernel, self.rows, *parameters)


NEEDED = {  # what the record of a method must list for an argument of fit, and what that argument is
    "sample_weight": ("weights", "weights of the objects"),
    "constraints": ("links", "links between objects"),
    "partial_labels": ("partial labels", "clusters known of some objects"),
    "checkpoint": ("rows beyond memory", "a file to go on from"),
}


def read_data(
    estimator: Any, X: Any, use_rep: str | None, *, sample_weight: Any, constraints: Any,
    partial_labels: Any, checkpoint: Any,
) -> Data[Any]:  # fmt: skip
    """Read what ``fit`` was given: any kind of table, names, weights, links, partial labels, all checked."""
    refuse_arguments(
        estimator, sample_weight=sample_weight, constraints=constraints, partial_labels=partial_labels,
        checkpoint=checkpoint,
    )  # fmt: skip
    X = estimator._as_table(X, use_rep)
    estimator._use_rep = use_rep
    for name in ("_stream", "_coverage", "_ranges"):  # fit begins anew
        vars(estimator).pop(name, None)
    rows, weight, links, kept = estimator._read_rows(X), None, no_links(), None
    if sample_weight is not None:
        rows, weight = weigh_rows(estimator, rows, sample_weight, X)
    if constraints is not None:
        lazy = isinstance(rows, RowSource) and not isinstance(rows, ArrayRows)
        rows = NumberedRows(rows) if lazy else rows
        links = resolve_constraints(estimator, constraints, linked_table(X, rows))
        links = links if estimator.method.learner else links.check()
    if checkpoint is not None:
        kept = open_checkpoint(estimator, checkpoint, rows)
    return Data(X, rows, weight, links, partial_labels, random_numbers_of(estimator, kept), kept)


@lru_cache(maxsize=1)
def no_links() -> PairwiseConstraints:
    """Return the links of a fit without any."""
    return PairwiseConstraints.from_links()


def linked_table(X: Any, rows: Any) -> Any:
    """Return the table whose rows links name by their names or numbers."""
    if isinstance(rows, NumberedRows):
        return range(rows.n_rows)
    return rows.table if isinstance(rows, ArrayRows) and not hasattr(X, "columns") else X


def refuse_arguments(estimator: Any, **given: Any) -> None:
    """Refuse arguments of ``fit`` that the record of a method does not list."""
    for name, value in given.items():
        needed, what = NEEDED[name]
        if value is not None and needed not in estimator.method.takes:
            able = [cls.__name__ for cls in methods.all_methods().values() if needed in cls.method.takes]
            raise TypeError(
                f"{type(estimator).__name__} does not accept '{name}' ({what}). Methods that do: {', '.join(able)}."
            )


def weigh_rows(estimator: Any, rows: Any, sample_weight: Any, X: Any) -> tuple[Any, np.ndarray | None]:
    """Return rows with their weights, and the weights."""
    if not isinstance(rows, RowSource):
        return rows, check_weight(estimator, sample_weight, len(rows), rows if row_names(rows) else X)
    if not isinstance(rows, ArrayRows | SparseRows):
        raise TypeError(
            f"{type(estimator).__name__} takes the weights of rows that are not in memory from one of their columns: "
            "open_rows(..., weight='its name')."
        )
    weight = check_weight(estimator, sample_weight, rows.n_rows or 0, X)
    return (ArrayRows(rows.table, weight) if isinstance(rows, ArrayRows) else SparseRows(rows.matrix, weight)), weight


def open_checkpoint(estimator: Any, path: Any, rows: RowSource) -> Checkpoint:
    """Open the checkpoint of this fit, or begin it."""
    values = estimator.get_params(deep=False)
    settings = [f"{name}={values[name]!r}" for name in estimator.parameters if name not in ("verbose", "n_jobs")]
    return Checkpoint(path, rows.fingerprint(), "\n".join([type(estimator).__name__, *settings]))


def random_numbers_of(estimator: Any, checkpoint: Checkpoint | None) -> np.random.RandomState:
    """Return the generator of a fit: that of ``random_state``, or of the seed that a checkpoint has kept."""
    unseeded = checkpoint is not None and estimator.random_state is None
    return check_random_state(checkpoint.seed if unseeded and checkpoint is not None else estimator.random_state)
