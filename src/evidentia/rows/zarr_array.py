"""Rows of a Zarr array in a folder, by chunks."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from evidentia.rows.files import (
    HANDLE_CHUNKS,
    Block,
    FileRows,
    Files,
    changed_message,
    choose_numbers,
    damaged_message,
    group_neighbors,
    listing,
    reading,
)
from evidentia.rows.source import chunk_rows

METADATA = ("zarr.json", ".zarray")  # of the third format of Zarr, and of the second


def metadata_of(folder: str) -> str | None:
    """The file that says what the array in a folder is."""
    paths = (os.path.join(folder, name) for name in METADATA)
    return next((path for path in paths if os.path.isfile(path)), None)


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ImportError("Zarr arrays need zarr: pip install 'evidentia[zarr]'.") from error
    return zarr


@lru_cache(maxsize=16)
def _array(folder: str, size: int, modified: int) -> Any:
    return _zarr().open_array(folder, mode="r")


class ZarrRows(FileRows):
    """Rows of a Zarr array. A handle is (start, stop, digest of its files): those not there would read as zeros."""

    def __init__(self, folder: str, metadata: str, columns: Any, weight: Any):
        self.folder, self.files = folder, Files([metadata])
        array = self._open()
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise ValueError(
                f"{folder} should hold a table of numbers, but its shape is {array.shape} and its type {array.dtype}."
            )
        self.n_rows = array.shape[0]
        if not self.n_rows:
            raise ValueError(f"There are no rows in {folder}.")
        self.columns, self.weight = choose_numbers(folder, array.shape[1], columns, weight)
        self.n_features = len(self.columns)
        step = self._file_rows(array)
        sizes = [min(step, self.n_rows - start) for start in range(0, self.n_rows, step)]
        self.handles = [
            (start * step, min(stop * step, self.n_rows), self._digest(array, start * step, stop * step))
            for start, stop in group_neighbors(sizes, HANDLE_CHUNKS * chunk_rows(self.n_features))
        ]

    def _open(self) -> Any:
        return _array(self.folder, *self.files.stamps[0].tolist())

    @staticmethod
    def _file_rows(array: Any) -> int:
        """Rows that are in the same files."""
        return int((array.shards or array.chunks)[0])

    def _digest(self, array: Any, start: int, stop: int) -> str:
        """What tells the files of some rows from others."""
        rows, columns = array.shards or array.chunks
        told = hashlib.blake2b(digest_size=8)
        for at in product(
            range(start // rows, -(-min(stop, array.shape[0]) // rows)), range(-(-array.shape[1] // columns))
        ):
            try:
                found = os.stat(os.path.join(self.folder, array.metadata.encode_chunk_key(at)))
                told.update(f"{found.st_size} {found.st_mtime_ns};".encode())
            except FileNotFoundError:
                told.update(b"none;")
        return told.hexdigest()

    def chosen_columns(self) -> Any:
        return [self.handles, self.columns, self.weight]

    @property
    def words(self) -> str:
        return f"{self.n_rows:,} rows of {self.n_features} columns"

    def blocks(self, handle: tuple[int, int, str]) -> Iterator[Block]:
        start, stop, digest = handle
        what = f"{self.folder}, rows {start} to {stop - 1},"
        yield from reading(what, partial(self._check, start, stop, digest), self._rows(start, stop), (Exception,))

    def _check(self, start: int, stop: int, digest: str) -> None:
        self.files.check(0)
        if self._digest(self._open(), start, stop) != digest:
            raise ValueError(changed_message(self.folder))

    def _rows(self, start: int, stop: int) -> Iterator[Block]:
        array = self._open()
        chunk = int(array.chunks[0])
        step = chunk * max(1, chunk_rows(self.n_features) // chunk)  # a chunk is decoded once, whatever its size
        wanted = self.columns if self.weight is None else [*self.columns, self.weight]
        everything = wanted == list(range(array.shape[1]))
        place = f"{os.path.basename(self.folder)}, row "
        for first in range(start, stop, step):
            part = slice(first, min(first + step, stop))
            raw = array[part] if everything else array.oindex[part, wanted]
            table = np.ascontiguousarray(raw, dtype=np.float64)
            if self.weight is None:
                yield Block(table, None, place, first)
            else:
                yield Block(table[:, :-1].copy(), table[:, -1].copy(), place, first)


def open_zarr(paths: Sequence[str], columns: Any, weight: Any) -> ZarrRows:
    """Rows of a Zarr array in a folder."""
    if len(paths) > 1:
        raise ValueError(f"One Zarr array can be opened at a time, but these are {len(paths)}: {listing(paths, 3)}.")
    folder = os.path.abspath(paths[0])
    metadata = metadata_of(folder)
    if metadata is None:
        raise ValueError(f"{folder} holds no Zarr array: there is no zarr.json or .zarray in it.")
    zarr = _zarr()
    try:
        found = zarr.open(folder, mode="r")
    except Exception as error:
        raise ValueError(damaged_message(folder, error)) from error
    if not isinstance(found, zarr.Array):
        inside = [name for name, _ in found.arrays()]
        raise ValueError(f"{folder} holds several arrays. Name the folder of one of them: {listing(inside)}.")
    return ZarrRows(folder, metadata, columns, weight)
