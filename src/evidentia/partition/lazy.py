"""A credal partition of more objects than memory holds: masses are made when they are asked for, chunk by chunk."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial, reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from evidentia.belief.focal import FocalSets, format_mask
from evidentia.files import whole_file, whole_folder
from evidentia.partition.counts import Certainty, Counts, no_answer_in_words
from evidentia.partition.credal import CredalPartition
from evidentia.rows.passes import map_handles, reduce_rows
from evidentia.rows.source import Chunk, RowSource
from evidentia.verdict.result import Verdict

NUMBERS = ("float32", "float64")
COLUMNS = ("cluster", "set", "plausibility", "nonspecificity")  # of what is written of each object


class LazyPartition:
    """The credal partition of rows that are read when they are needed.

    What it answers takes a pass over the rows; never are the masses of all objects in memory, but for
    :meth:`compute`. Objects are numbered in the order of the source.

    Parameters
    ----------
    rows : RowSource
    place : callable
        Masses, shape (n, n_focal), of rows, shape (n, n_features).
    focal_sets : FocalSets
    cluster_names, no_answer, label_rule, verdict
        As of :class:`CredalPartition`.
    """

    object_names = None  # rows that are read when they are needed have numbers

    def __init__(
        self,
        rows: RowSource,
        place: Callable[[np.ndarray], np.ndarray],
        focal_sets: FocalSets,
        *,
        label_rule: str = "plausibility",
        cluster_names: Sequence[str] | None = None,
        no_answer: str | None = None,
        verdict: Callable[[LazyPartition], Verdict] | None = None,
    ):
        self.rows, self.focal_sets, self.label_rule, self.no_answer = rows, focal_sets, label_rule, no_answer
        self.cluster_names = None if cluster_names is None else tuple(cluster_names)
        self._place = place
        self._verdict: Verdict | Callable[[LazyPartition], Verdict] | None = verdict
        self._counts: Counts | None = None
        self._sums: Certainty | None = None

    @property
    def n_clusters(self) -> int:
        return self.focal_sets.n_clusters

    @property
    def verdict(self) -> Verdict | None:
        """Whether the clusters are groups; it takes a pass over the rows when it is first asked for."""
        if callable(self._verdict):
            self._verdict = self._verdict(self)
        return self._verdict

    @property
    def counts(self) -> Counts:
        """The numbers of :meth:`summary`."""
        # No cached_property: that of Python 3.11 has one lock for all partitions, and passes may wait for each other.
        if self._counts is None:
            self._counts = reduce_rows(self._bare()._count, self.rows)
        return self._counts

    @property
    def certainty(self) -> Certainty:
        """Sums of which criteria for the number of clusters are made; a row counts as its weight says."""
        if self._sums is None:
            self._sums = reduce_rows(self._bare()._certainty, self.rows)
        return self._sums

    def __len__(self) -> int:
        return self.rows.n_rows if self.rows.n_rows is not None else self.counts.n

    def blocks(self) -> Iterator[CredalPartition]:
        """The partition chunk by chunk, in order."""
        return (self._partition(chunk) for handle in self.rows.handles for chunk in self.rows.read(handle))

    def reduce(self, function: Callable[..., Any], *others: LazyPartition) -> Any:
        """``function(part, *parts)`` of every chunk of the rows, added up in order.

        ``others`` are partitions of the same rows; their parts of each chunk are given with it.
        """
        return reduce_rows(_apply_to_chunk, self.rows, function, self._bare(), *(other._bare() for other in others))

    def labels(self, rule: str | None = None) -> np.ndarray:
        """One cluster for each object, shape (n_samples,)."""
        found = list(map_handles(partial(_labels, self._bare(), rule), self.rows))
        return np.concatenate([np.empty(0, dtype=np.int32), *found])

    def compute(self) -> CredalPartition:
        """The partition in memory: as many numbers as objects times focal sets."""
        found = list(map_handles(partial(_masses, self._bare()), self.rows))
        masses = np.concatenate([np.empty((0, len(self.focal_sets))), *found])
        return CredalPartition(
            masses,
            self.focal_sets,
            cluster_names=self.cluster_names,
            no_answer=self.no_answer,
            label_rule=self.label_rule,
            verdict=lambda _: self.verdict,
            copy=False,
        )

    def to_parquet(self, folder: str | os.PathLike[str], *, masses: str | None = None) -> Path:
        """Write a Parquet file for each part of the source, in its order.

        Columns are the cluster, the set, plausibility of the cluster, and nonspecificity. Files are
        written where the rows are read, on a Dask cluster by the workers, beside the folder; they are in it once all of
        them are whole, and until then, or after a failure, those of an earlier call are.

        Parameters
        ----------
        folder : path
            Made if it is not there; files of an earlier call are replaced, and other files refused.
        masses : {"float32", "float64"}, optional
            Write the masses of all focal sets too.
        """
        self._check_numbers(masses)
        places = {handle: at for at, handle in enumerate(self.rows.handles)}
        with whole_folder(folder, "part-*.parquet") as fresh:
            written = map_handles(partial(_write_part, self._bare(), fresh, masses, places), self.rows)
            parts = [part for part in written if part is not None]
            self._counts = reduce(operator.add, parts) if parts else None
        return Path(folder).absolute()

    def to_zarr(self, folder: str | os.PathLike[str], *, masses: str | None = None) -> Path:
        """Write a Zarr group: arrays ``cluster``, ``set`` (bit k: cluster k), ``plausibility``, ``nonspecificity``.

        Parameters
        ----------
        folder : path
            A group of an earlier call is replaced once the new one is whole; other files are refused.
        masses : {"float32", "float64"}, optional
            Write ``masses``, (n_samples, n_focal), too; ``focal_sets`` has the sets as bits.
        """
        import zarr

        self._check_numbers(masses)
        with whole_folder(folder, "zarr.json", "focal_sets", "masses", *COLUMNS) as fresh:
            group = zarr.open_group(fresh, mode="w")
            group.create_array("focal_sets", data=self.focal_sets.masks)
            arrays: dict[str, Any] = {}
            for part in map_handles(partial(_columns_of_handle, self._bare(), masses), self.rows):
                for name, column in part.items():
                    if name not in arrays:
                        chunks, shape = (65_536, *column.shape[1:]), (0, *column.shape[1:])
                        arrays[name] = group.create_array(name, shape=shape, chunks=chunks, dtype=column.dtype)
                    arrays[name].append(column)
        return Path(folder)

    def summary(self) -> str:
        """What the partition says, in a few lines for a person."""
        if self.no_answer is not None:
            return no_answer_in_words(len(self), self.no_answer)
        empty = self.focal_sets.empty_index is not None
        return self.counts.to_text(self.n_clusters, self.cluster_names, empty=empty, verdict=self.verdict)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"LazyPartition({self.rows.words}, {self.n_clusters} clusters, {len(self.focal_sets)} focal sets)"

    def _bare(self) -> LazyPartition:
        """What places rows, without a list of them: what is sent to others who read them."""
        other = copy(self)
        other.rows, other._verdict = self.rows.without_handles(), None
        return other

    def _check_numbers(self, masses: str | None) -> None:
        if masses is not None and masses not in NUMBERS:
            raise ValueError(f"'masses' must be one of {', '.join(map(repr, NUMBERS))} or None. Got {masses!r}.")

    def _partition(self, chunk: Chunk) -> CredalPartition:
        masses = self._place(chunk.table)
        return CredalPartition(masses, self.focal_sets, label_rule=self.label_rule, copy=False)

    def _count(self, chunk: Chunk) -> Counts:
        return self._count_of(chunk, self._partition(chunk))

    def _count_of(self, chunk: Chunk, partition: CredalPartition) -> Counts:
        counts = partition.counts
        return counts._replace(worst=tuple((doubt, chunk.where(int(name))) for doubt, name in counts.worst))

    def _certainty(self, chunk: Chunk) -> Certainty:
        return Certainty.of(self._partition(chunk), chunk.weight)

    def _columns(self, partition: CredalPartition, masses: str | None) -> dict[str, np.ndarray]:
        labels = partition.labels()
        values = (
            labels.astype(np.int32),
            partition.set_masks,
            partition.contour[np.arange(len(labels)), labels].astype(np.float32),
            partition.nonspecificity.astype(np.float32),
        )
        found = dict(zip(COLUMNS, values))
        return found if masses is None else {**found, "masses": partition.masses.astype(masses)}


class LazyLabels:
    """Clusters of the objects of a lazy partition; ``numpy.asarray`` or :meth:`compute` takes a pass over the rows."""

    def __init__(self, partition: LazyPartition):
        self._partition = partition

    def compute(self) -> np.ndarray:
        return self._partition.labels()

    def __len__(self) -> int:
        return len(self._partition)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.compute(), dtype=dtype)

    def __repr__(self) -> str:
        return f"LazyLabels of {self._partition!r}; compute() gives them"


def _apply_to_chunk(chunk: Chunk, function: Callable[..., Any], *partitions: LazyPartition) -> Any:
    return function(*(partition._partition(chunk) for partition in partitions))


def _labels(partition: LazyPartition, rule: str | None, rows: RowSource, handle: Any) -> np.ndarray:
    found = [partition._partition(chunk).labels(rule).astype(np.int32) for chunk in rows.read(handle)]
    return np.concatenate([np.empty(0, dtype=np.int32), *found])


def _masses(partition: LazyPartition, rows: RowSource, handle: Any) -> np.ndarray:
    found = [partition._partition(chunk).masses for chunk in rows.read(handle)]
    return np.concatenate([np.empty((0, len(partition.focal_sets))), *found])


def _columns_of_handle(
    partition: LazyPartition, masses: str | None, rows: RowSource, handle: Any
) -> dict[str, np.ndarray]:
    chunks = [partition._columns(partition._partition(chunk), masses) for chunk in rows.read(handle)]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in (chunks[0] if chunks else [])}


def _write_part(
    partition: LazyPartition, folder: Path, masses: str | None, places: dict[Any, int], rows: RowSource, handle: Any
) -> Counts | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"m{name}" for name in partition.focal_sets.names(partition.cluster_names)]
    chunks = iter(rows.read(handle))
    first = next(chunks, None)
    if first is None:
        return None
    total: Counts | None = None
    writer: Any = None
    with whole_file(folder / f"part-{places[handle]:05d}.parquet") as file:
        for chunk in chain([first], chunks):
            found = partition._partition(chunk)
            columns: dict[str, Any] = partition._columns(found, masses)
            numbers = columns.pop("masses", np.empty((0, 0)))
            sets = {mask: format_mask(mask, partition.cluster_names) for mask in found.set_counts}
            columns["set"] = pa.array([sets[mask] for mask in columns["set"].tolist()]).dictionary_encode()
            table = pa.table({**columns, **dict(zip(names, numbers.T))})
            writer = pq.ParquetWriter(file, table.schema) if writer is None else writer
            writer.write_table(table)
            counts = partition._count_of(chunk, found)
            total = counts if total is None else total + counts
        writer.close()
    return total
