"""Rows of Parquet files, by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from evidentia.rows.files import (
    HANDLE_CHUNKS,
    Block,
    Columns,
    FileRows,
    Files,
    check_other_file,
    choose_columns,
    damaged_message,
    group_neighbors,
    no_rows,
    reading,
    whole_file,
)
from evidentia.rows.source import chunk_rows

BUFFER = 1 << 16  # bytes of a column that are read at a time, so that a large row group is never in memory whole


def pyarrow() -> Any:
    """pyarrow with its reader of Parquet, or a sentence."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'evidentia[parquet]'.") from error
    return pa


class ParquetRows(FileRows):
    """Rows of Parquet files. A handle is one or several row groups, (start, stop) among those of all files."""

    def __init__(self, files: Files, counts: Sequence[Sequence[int]], columns: Columns):
        self.files, self.columns, self.names = files, columns, columns.names
        self.counts = np.array([count for groups in counts for count in groups], dtype=np.int64)
        self.ends = np.cumsum([len(groups) for groups in counts])  # of the row groups of each file
        self.n_features, self.n_rows = len(columns.names), int(self.counts.sum())
        if not self.n_rows:
            raise no_rows(files)
        self.handles = group_neighbors(self.counts, HANDLE_CHUNKS * chunk_rows(self.n_features))

    def chosen_columns(self) -> Any:
        return self.columns

    def blocks(self, handle: tuple[int, int]) -> Iterator[Block]:
        start, stop = handle
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop:
            end, before = min(stop, int(self.ends[at])), int(self.ends[at - 1]) if at else 0
            groups = [group - before for group in range(start, end) if self.counts[group]]
            yield from self._of_file(at, groups)
            start, at = end, at + 1

    def _of_file(self, at: int, groups: Sequence[int]) -> Iterator[Block]:
        pa = pyarrow()
        path, check, errors = self.files.path(at), partial(self.files.check, at), (pa.ArrowException, OSError)

        def work() -> Iterator[Block]:
            metadata = _metadata(path, *self.files.stamps[at].tolist())
            with pa.parquet.ParquetFile(path, metadata=metadata, buffer_size=BUFFER, pre_buffer=False) as file:
                for group in groups:
                    rows = self._of_group(pa, file, f"{self.files.names[at]}, row group {group}, row ", group)
                    yield from reading(f"{path}, row group {group},", check, rows, errors)

        yield from reading(path, check, work(), errors)

    def _of_group(self, pa: Any, file: Any, place: str, group: int) -> Iterator[Block]:
        first = 0
        # Threads are ours to start: each reads a handle of its own.
        for batch in file.iter_batches(
            chunk_rows(self.n_features), row_groups=[group], columns=self.columns.all, use_threads=False
        ):
            table = np.empty((batch.num_rows, self.n_features))
            for to, name in enumerate(self.columns.names):
                table[:, to] = numbers(pa, batch, name)
            weight = None if self.columns.weight is None else numbers(pa, batch, self.columns.weight)
            yield Block(table, weight, place, first)
            first += batch.num_rows


def numbers(pa: Any, batch: Any, name: str) -> np.ndarray:
    """A column as doubles, NaN where it holds nothing."""
    column = batch.column(batch.schema.get_field_index(name))
    if pa.types.is_float16(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


@lru_cache(maxsize=256)
def _metadata(path: str, size: int, modified: int) -> Any:
    """The footer of a file, which says where its row groups are; read once for all handles of the file."""
    return pyarrow().parquet.read_metadata(path)


def open_parquet(paths: Sequence[str], columns: Any, weight: Any) -> ParquetRows:
    """Rows of one or several Parquet files."""
    pa = pyarrow()
    files = Files(paths)
    chosen, known, counts = None, {}, []
    for path in paths:
        try:
            footer = pa.parquet.read_metadata(whole_file(path))
            schema = footer.schema.to_arrow_schema()
        except (pa.ArrowException, OSError) as error:
            raise ValueError(damaged_message(path, error)) from error
        kinds = _kinds(pa, path, schema)
        if chosen is None:
            known, chosen = kinds, choose_columns(path, kinds, columns, weight)
        else:
            kinds = {name: None if kind == "null" and name in chosen.all else kind for name, kind in kinds.items()}
            check_other_file(path, kinds, paths[0], known, chosen, columns is not None)
        counts.append([footer.row_group(group).num_rows for group in range(footer.num_row_groups)])
    assert chosen is not None
    return ParquetRows(files, counts, chosen)


def _kinds(pa: Any, path: str, schema: Any) -> dict[str, str | None]:
    """What each column holds, None for numbers; the index of a pandas table is none of its columns."""
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise ValueError(f"{path} has several columns with the name {twice!r}. Rename them.")
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    kinds: dict[str, str | None] = {}
    for field in schema:
        kind = field.type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        kinds[field.name] = None if number or pa.types.is_boolean(kind) else str(kind)
        if field.name in index and kinds[field.name] is None and field.name.startswith("__index_level_"):
            kinds[field.name] = "the index"
    return kinds
