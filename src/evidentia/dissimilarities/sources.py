"""Objects that know how unlike they are, whatever they are: blocks of dissimilarities, the whole matrix, neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from evidentia.rows.scan import LARGEST
from evidentia.solvers.memory import refuse_beyond_memory, row_blocks
from evidentia.solvers.neighbors import nearest

ROUNDING = 1e-8  # of the largest entry: what two ways of computing a distance may differ by


def check_dissimilarities(matrix: np.ndarray, who: str, *, contrast: bool = True) -> np.ndarray:
    """The matrix, or a ``ValueError``: square, symmetric, not negative, zeros on the diagonal, not all equal.

    Without ``contrast`` all may be equal.

    Differences of the size of rounding errors are averaged out in a copy.

    Examples
    --------
    >>> check_dissimilarities(np.array([[0.0, 2.0], [1.0, 0.0]]), "SECMdd")
    Traceback (most recent call last):
    ...
    ValueError: SECMdd needs symmetric dissimilarities, but entries [0, 1] = 2 and [1, 0] = 1 differ by 1. If the
    difference has no meaning, average them: D = (D + D.T) / 2.
    """
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(
            f"{who} with metric='precomputed' needs a square matrix of dissimilarities. Got shape {matrix.shape}; "
            "for a table of attributes choose metric='euclidean'."
        )
    largest = np.abs(matrix).max()
    if matrix.min() < 0:
        i, j = np.unravel_index(matrix.argmin(), matrix.shape)
        raise ValueError(
            f"{who} needs dissimilarities that are not negative, but entry [{i}, {j}] = {matrix[i, j]:g}. "
            "If these are similarities, turn them round first, for instance D = S.max() - S."
        )
    diagonal = np.diagonal(matrix)
    if diagonal.max() > ROUNDING * largest:
        at = int(diagonal.argmax())
        raise ValueError(
            f"{who} needs zeros on the diagonal (an object is like itself), but entry [{at}, {at}] = {diagonal[at]:g}."
        )
    skew = np.abs(matrix - matrix.T)
    i, j = np.unravel_index(skew.argmax(), skew.shape)
    if skew[i, j] > ROUNDING * largest:
        raise ValueError(
            f"{who} needs symmetric dissimilarities, but entries [{i}, {j}] = {matrix[i, j]:g} and "
            f"[{j}, {i}] = {matrix[j, i]:g} differ by {skew[i, j]:g}. "
            "If the difference has no meaning, average them: D = (D + D.T) / 2."
        )
    if contrast and n > 1:
        off = matrix[~np.eye(n, dtype=bool)]
        if np.ptp(off) <= ROUNDING * largest:
            raise ValueError(f"All dissimilarities equal {off[0]:g}, so {who} finds no clusters in them. Look at X.")
    return (matrix + matrix.T) / 2 if skew[i, j] > 0 else matrix


FROM_ONE = ("cosine", "correlation")  # differences of a similarity from one, of which rounding leaves some last bits
LOST = 16 * np.finfo(float).eps
COMPARED = 16  # pairs of objects that show whether a function is symmetric
ALWAYS_DEFINED = ("cityblock", "l1", "manhattan", "euclidean", "l2", "chebyshev", "minkowski", "hamming")


class Source(Protocol):
    """Objects that know how unlike they are; rows and columns are slices or arrays of object numbers."""

    def __len__(self) -> int: ...

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        """Dissimilarities of some objects to some others, shape (n_rows, n_columns)."""

    def from_new(self, new: Any, columns: Any) -> np.ndarray:
        """Dissimilarities of new objects, as ``read_new`` gives them, to some of the known ones."""

    def needed_for_new(self) -> Source:
        """What ``from_new`` needs, and no more."""


@dataclass(frozen=True)
class Matrix:
    """A square matrix."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self.values[rows][:, columns]

    def from_new(self, new: np.ndarray, columns: Any) -> np.ndarray:
        return new[:, columns]

    def needed_for_new(self) -> Columns:
        return Columns(len(self))


@dataclass(frozen=True)
class Columns:
    """Objects known by number only: a new one brings its dissimilarities to all of them."""

    n_objects: int

    def __len__(self) -> int:
        return self.n_objects

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        raise ValueError("The dissimilarities between the fitted objects were not kept.")

    def from_new(self, new: np.ndarray, columns: Any) -> np.ndarray:
        return new[:, columns]

    def needed_for_new(self) -> Columns:
        return self


@dataclass(frozen=True)
class Table:
    """Rows of numbers and the name of a metric."""

    rows: np.ndarray
    metric: str
    params: dict[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self._measure(self.rows[rows], self.rows[columns])

    def from_new(self, new: np.ndarray, columns: Any) -> np.ndarray:
        return self._measure(new, self.rows[columns])

    def needed_for_new(self) -> Table:
        return self

    def _measure(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        if self.metric in (
            "euclidean",
            "l2",
        ):  # scikit-learn's loses digits when rows are near each other and far from zero
            return cdist(one, other)
        if self.metric in PAIRWISE_BOOLEAN_FUNCTIONS:
            one, other = one.astype(bool), other.astype(bool)
        found = pairwise_distances(one, other, metric=self.metric, **self.params)
        if self.metric in FROM_ONE:
            found[np.abs(found) < LOST] = 0
        return found if self.metric in ALWAYS_DEFINED else _check_defined(found, one, other, self.metric)


def _check_defined(found: np.ndarray, one: np.ndarray, other: np.ndarray, metric: str) -> np.ndarray:
    """Refuse rows between which the metric has no value, such as angles to zero, or one whose square is lost."""
    for i, j in np.argwhere(found > LARGEST)[:1]:
        raise ValueError(
            f"The metric {metric!r} is {found[i, j]:g} between rows of X, whose square doubles do not carry. Measure X "
            "in a larger unit, for instance X / 1e100, or take another 'metric'."
        )
    for i, j in np.argwhere(~np.isfinite(found))[:1]:
        raise ValueError(
            f"The metric {metric!r} has no value between the rows {one[i]} and {other[j]} of X, as with rows of "
            "zeros or of a single value. Drop such rows, or take another 'metric', for instance 'euclidean'."
        )
    return found


@dataclass(frozen=True)
class Objects:
    """Objects of any kind and a function of two of them."""

    objects: Sequence[Any]
    function: Callable[..., float]
    params: dict[str, Any]

    def __len__(self) -> int:
        return len(self.objects)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        numbers = np.arange(len(self))
        return self._measure(self.objects, numbers[rows], numbers[columns])

    def from_new(self, new: Sequence[Any], columns: Any) -> np.ndarray:
        return self._measure(new, np.arange(len(new)), np.arange(len(self))[columns])

    def needed_for_new(self) -> Objects:
        return self

    def _measure(self, ours: Sequence[Any], rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), len(columns)))
        for a, i in enumerate(rows):
            for b, j in enumerate(columns):
                found[a, b] = self._call(ours[i], self.objects[j], i, j)
        return found

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def check_symmetric(self, who: str) -> None:
        """Refuse a function that depends on the order of two objects, as a matrix that is not symmetric is refused.

        Some pairs are compared, always the same ones.
        """
        n, rng = len(self), np.random.RandomState(0)
        first = rng.randint(n, size=COMPARED)
        pairs = np.column_stack([first, (first + rng.randint(1, n, size=COMPARED)) % n])
        both_ways = ((pair, pair[::-1]) for pair in pairs)
        values = np.array([[self._call(self.objects[i], self.objects[j], i, j) for i, j in ways] for ways in both_ways])
        skew = np.abs(values[:, 0] - values[:, 1])
        at = int(skew.argmax())
        if skew[at] > ROUNDING * values.max():
            (i, j), (there, back) = pairs[at], values[at]
            raise ValueError(
                f"{who} needs symmetric dissimilarities, but the metric {self.name} gives {there:g} for objects {i} "
                f"and {j}, and {back:g} for objects {j} and {i}. If the difference has no meaning, average them: "
                "lambda a, b: (f(a, b) + f(b, a)) / 2."
            )

    def _call(self, one: Any, other: Any, i: int, j: int) -> float:
        try:
            value = float(self.function(one, other, **self.params))
        except Exception as error:
            raise ValueError(f"The metric {self.name} failed on objects {i} and {j}: {error!r}.") from error
        if not 0 <= value < np.inf:
            raise ValueError(
                f"The metric {self.name} gave {value!r} for objects {i} and {j}; a dissimilarity is a finite number "
                ">= 0."
            )
        return value


@dataclass(frozen=True)
class Subset:
    """Some of the objects of a source, in the order named."""

    source: Source
    objects: np.ndarray

    def __len__(self) -> int:
        return len(self.objects)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self.source.block(self.objects[rows], self.objects[columns])

    def from_new(self, new: Any, columns: Any) -> np.ndarray:
        return self.source.from_new(new, self.objects[columns])

    def needed_for_new(self) -> Subset:
        return Subset(self.source.needed_for_new(), self.objects)


def full_matrix(source: Source, *, who: str, cure: str, copies: int = 1) -> np.ndarray:
    """All dissimilarities, (n, n), symmetric: refused where ``copies`` of it do not fit in memory, or it is no matrix.

    Examples
    --------
    >>> full_matrix(Objects(["a", "abc", "ab"], lambda a, b: abs(len(a) - len(b)), {}), who="EVCLUS", cure="")
    array([[0., 2., 1.],
           [2., 0., 1.],
           [1., 1., 0.]])
    """
    n = len(source)
    refuse_beyond_memory(8 * copies * n**2, f"{who} on all pairs of {n:,} objects", cure)
    if isinstance(source, Matrix):
        return source.values  # checked when it was read
    return check_dissimilarities(source.block(slice(None), slice(None)), who)


def new_blocks(source: Source, new: Any, columns: Any = slice(None)) -> Iterator[tuple[slice, np.ndarray]]:
    """Dissimilarities of new objects to some of the known ones, some rows at a time: which, and (n_rows, n_columns)."""
    for rows in row_blocks(len(new), len(source)):
        yield rows, source.from_new(new[rows], columns)


def nearest_objects(source: Source, n_neighbors: int, new: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Dissimilarities to the nearest objects and their numbers, nearest first, both of shape (n, n_neighbors).

    Those of the objects themselves, of which none is its own neighbor, or those of new ones.

    Examples
    --------
    >>> nearest_objects(Objects([1, 2, 6], lambda a, b: abs(a - b), {}), 1)
    (array([[1.],
           [1.],
           [4.]]), array([[1],
           [0],
           [1]]))
    """
    if isinstance(source, Table) and not source.params and source.metric not in PAIRWISE_BOOLEAN_FUNCTIONS:
        distance, number = nearest(source.rows, n_neighbors, metric=source.metric, queries=new)
        if source.metric not in ALWAYS_DEFINED:
            every = source.rows if new is None else new
            for i in np.flatnonzero(~(distance <= LARGEST).all(axis=1))[:1]:
                _check_defined(distance[i : i + 1, -1:], every[i : i + 1], source.rows[number[i, -1:]], source.metric)
        return distance, number
    if isinstance(source, Matrix) and new is None:
        return nearest(source.values, n_neighbors, metric="precomputed")
    n = len(source if new is None else new)
    distance, number = np.empty((n, n_neighbors)), np.empty((n, n_neighbors), dtype=np.int64)
    for rows in row_blocks(n, len(source)):
        if new is None:
            block = source.block(rows, slice(None)).astype(float)
            block[np.arange(len(block)), np.arange(n)[rows]] = np.inf
        else:
            block = source.from_new(new[rows], slice(None))
        number[rows] = np.argsort(block, axis=1, kind="stable")[:, :n_neighbors]
        distance[rows] = np.take_along_axis(block, number[rows], axis=1)
    return distance, number
