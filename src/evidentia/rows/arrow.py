"""Rows that pyarrow reads: of Parquet files, by row groups, and of ``.csv`` and ``.tsv``, from their beginning.

Its two streaming readers are used, not the scanner of its datasets: they read ahead only what they return, so that the
memory of a pass is known, and they name the row and the column of a cell that is not a number.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from evidentia.rows.files import (
    HANDLE_CHUNKS,
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
from evidentia.rows.source import CHUNK_BYTES, Chunk, chunk_rows

__all__ = ["counts_columns"]

LOOK_ROWS = 1_000  # of each table in text, to see which columns hold numbers
BUFFER = 1 << 16  # bytes of a column that are read at a time, so that a large row group is never in memory whole
EMPTY = ["", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "-nan", "null"]
NOT_A_NUMBER = re.compile(r"In CSV column #(\d+): Row #(\d+): .*invalid value '(.*)'", re.DOTALL)


def pyarrow() -> Any:
    """Return pyarrow with its readers; without it, raise an error that says how to install it."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet and CSV files need pyarrow: pip install 'evidentia[parquet]'.") from error
    return pa


class ArrowRows(FileRows):
    """Rows of files with named columns."""

    def __init__(self, files: Files, columns: tuple[str, ...], weight: str | None):
        self.files, self.columns, self.names, self.weight = files, columns, columns, weight
        self.n_features = len(columns)

    def as_chunks(self, pa: Any, batches: Iterable[Any], place: str) -> Iterator[Chunk]:
        """Yield batches of pyarrow as doubles, NaN where there is nothing."""
        first, wanted = 0, self.wanted
        for batch in batches:
            table = np.empty((batch.num_rows, len(wanted)))
            for at, name in enumerate(wanted):
                table[:, at] = _numbers(pa, batch, name)
            yield Chunk(table, None, place, first)
            first += batch.num_rows


def _numbers(pa: Any, batch: Any, name: str) -> np.ndarray:
    column = batch.column(batch.schema.get_field_index(name))
    if pa.types.is_float16(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _open_all(
    paths: Sequence[str],
    columns: Any,
    weight: Any,
    inspect: Callable[[str], tuple[dict[str, str | None], Any]],
    broken: tuple[type[Exception], ...],
) -> tuple[tuple[str, ...], list[Any]]:
    """Return the columns to use, and what ``inspect`` returns of each file beside the kinds of its columns."""
    chosen: tuple[str, ...] = ()
    wanted, known, rest = [], {}, []
    for path in paths:
        try:
            kinds, one = inspect(whole_file(path))
        except broken as error:
            raise ValueError(damaged_message(path, error)) from error
        if not chosen:
            known, chosen = kinds, choose_columns(path, kinds, columns, weight)
            wanted = [*chosen, *([] if weight is None else [weight])]
        else:
            kinds = {name: None if kind == "null" and name in wanted else kind for name, kind in kinds.items()}
            check_other_file(path, kinds, paths[0], known, wanted, columns is not None)
        rest.append(one)
    return chosen, rest


# -- Parquet ----------------------------------------------------------------------------------------------------------


class ParquetRows(ArrowRows):
    """Rows of Parquet files. A handle is one or several row groups, (start, stop) among those of all files."""

    def __init__(self, files: Files, counts: Sequence[Sequence[int]], columns: tuple[str, ...], weight: str | None):
        super().__init__(files, columns, weight)
        self.counts = np.array([count for groups in counts for count in groups], dtype=np.int64)
        self.ends = np.cumsum([len(groups) for groups in counts])  # of the row groups of each file
        self.n_rows = int(self.counts.sum())
        self.handles = group_neighbors(self.counts, HANDLE_CHUNKS * chunk_rows(self.n_features))

    def parts(self, handle: tuple[int, int]) -> Iterator[Chunk]:
        start, stop = handle
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop:
            end, before = min(stop, int(self.ends[at])), int(self.ends[at - 1]) if at else 0
            groups = [group - before for group in range(start, end) if self.counts[group]]
            yield from self._of_file(at, groups)
            start, at = end, at + 1

    def _of_file(self, at: int, groups: Sequence[int]) -> Iterator[Chunk]:
        pa = pyarrow()
        path, check, errors = self.files.path(at), partial(self.files.check, at), (pa.ArrowException, OSError)

        def work() -> Iterator[Chunk]:
            footer, size = _footer(path, *self.files.stamps[at].tolist()), chunk_rows(self.n_features)
            with pa.parquet.ParquetFile(path, metadata=footer, buffer_size=BUFFER, pre_buffer=False) as file:
                for group in groups:  # threads are ours to start: each reads a handle of its own
                    batches = file.iter_batches(size, row_groups=[group], columns=self.wanted, use_threads=False)
                    rows = self.as_chunks(pa, batches, f"{self.files.names[at]}, row group {group}, row ")
                    yield from reading(f"{path}, row group {group},", check, rows, errors)

        yield from reading(path, check, work(), errors)


@lru_cache(maxsize=256)
def _footer(path: str, size: int, modified: int) -> Any:
    """Return the footer of a file, which says where its row groups are; read once for all handles of the file."""
    return pyarrow().parquet.read_metadata(path)


def open_parquet(paths: Sequence[str], columns: Any, weight: Any) -> ParquetRows:
    """Return the rows of one or several Parquet files."""
    pa = pyarrow()

    def inspect(path: str) -> tuple[dict[str, str | None], list[int]]:
        footer = pa.parquet.read_metadata(path)
        counts = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
        return _kinds(pa, path, footer.schema.to_arrow_schema()), counts

    files = Files(paths)
    chosen, counts = _open_all(paths, columns, weight, inspect, (pa.ArrowException, OSError))
    rows = ParquetRows(files, counts, chosen, weight)
    if not rows.n_rows:
        raise no_rows(files)
    return rows


def _kinds(pa: Any, path: str, schema: Any) -> dict[str, str | None]:
    """Return what each column holds, None for numbers; the index of a pandas table is not one of its columns."""
    _refuse_twins(path, schema.names)
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    kinds: dict[str, str | None] = {}
    for field in schema:
        kind = field.type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        kinds[field.name] = None if number or pa.types.is_boolean(kind) else str(kind)
        if field.name in index and kinds[field.name] is None and field.name.startswith("__index_level_"):
            kinds[field.name] = "the index"
    return kinds


def _refuse_twins(path: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{path} has several columns with the name {max(names, key=names.count)!r}. Rename them.")


# -- text -------------------------------------------------------------------------------------------------------------


class Head(NamedTuple):
    """How a table in text is written."""

    names: tuple[str, ...]
    separator: str
    has_names: bool  # in its first line, which holds numbers otherwise

    def open(self, pa: Any, path: str, size: int = CHUNK_BYTES, **conversion: Any) -> Any:
        """Return a reader of batches, each of ``size`` bytes of text; the first one decides on types."""
        return pa.csv.open_csv(
            path,
            read_options=pa.csv.ReadOptions(
                use_threads=False, block_size=size, column_names=None if self.has_names else self.names
            ),
            parse_options=pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(null_values=EMPTY, **conversion),
        )


class TextRows(ArrowRows):
    """Rows of tables in text. A handle is one or several files, (start, stop); the rows are not counted beforehand."""

    def __init__(self, files: Files, heads: Sequence[Head], columns: tuple[str, ...], weight: str | None):
        super().__init__(files, columns, weight)
        self.heads = list(dict.fromkeys(heads))
        self.head_of = [self.heads.index(head) for head in heads]
        self.handles = group_neighbors(files.stamps[:, 0], HANDLE_CHUNKS * CHUNK_BYTES)

    def parts(self, handle: tuple[int, int]) -> Iterator[Chunk]:
        broken = _broken(pyarrow())
        for at in range(*handle):
            yield from reading(self.files.path(at), partial(self.files.check, at), self._rows(at), broken)

    def _rows(self, at: int) -> Iterator[Chunk]:
        pa, path, head, wanted = pyarrow(), self.files.path(at), self.heads[self.head_of[at]], self.wanted
        numbers = dict.fromkeys(wanted, pa.float64())
        try:
            with head.open(pa, path, include_columns=wanted, column_types=numbers) as batches:
                yield from self.as_chunks(pa, batches, f"{self.files.names[at]}, row ")
        except pa.ArrowInvalid as error:
            if (wrong := NOT_A_NUMBER.match(str(error))) is None:
                raise
            row, name = int(wrong[2]) - 1 - head.has_names, head.names[int(wrong[1])]
            raise ValueError(
                f"{path}, row {row}, column {name!r} holds {wrong[3]!r}, which is not a number. Correct it, or leave "
                "it empty."
            ) from error


def _broken(pa: Any) -> tuple[type[Exception], ...]:
    return (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error, csv.Error)


def open_text(paths: Sequence[str], columns: Any, weight: Any) -> TextRows:
    """Return the rows of one or several tables in text."""
    pa = pyarrow()

    def inspect(path: str) -> tuple[dict[str, str | None], tuple[Head, bool]]:
        head, size = _head(path)
        with head.open(pa, path, size) as batches:
            kinds = {field.name: _kind_of_text(pa, field.type) for field in batches.schema}
            return kinds, (head, any(batch.num_rows for batch in batches))

    files = Files(paths)
    chosen, found = _open_all(paths, columns, weight, inspect, _broken(pa))
    if not any(has_rows for _, has_rows in found):
        raise no_rows(files)
    return TextRows(files, [head for head, _ in found], chosen, weight)


def _kind_of_text(pa: Any, kind: Any) -> str | None:
    """Return what a column holds, by its first rows; None for numbers and for nothing."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        return None
    return "text" if pa.types.is_string(kind) else str(kind)


def _head(path: str) -> tuple[Head, int]:
    """Return how a table is written, and the length of its first lines."""
    ending = path.lower()
    opened = gzip.open if ending.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        lines = list(islice(file, LOOK_ROWS))
    line, size = next((line for line in lines if line.strip()), ""), max(sum(map(len, lines)), 1)
    separator = "\t" if ending.removesuffix(".gz").endswith(".tsv") else max(",;\t", key=line.count)
    cells = next(csv.reader([line], delimiter=separator), [])
    if not counts_columns(cells) and all(map(_is_number, cells)):
        return Head(tuple(f"x{at}" for at in range(len(cells))), separator, False), size
    _refuse_twins(path, cells)
    return Head(tuple(cells), separator, True), size


def counts_columns(cells: Sequence[str]) -> bool:
    """Return whether a first line is 0, 1, 2 and so on: the names that pandas gives to columns without names.

    Examples
    --------
    >>> counts_columns(["0", "1", "2"]), counts_columns(["1", "2"]), counts_columns(["0"])
    (True, False, False)
    """
    return len(cells) > 1 and list(cells) == [str(at) for at in range(len(cells))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
