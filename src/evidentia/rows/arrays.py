"""Rows of arrays in files: ``.npy``, arrays that NumPy has mapped, Zarr.

Files of NumPy are cut as an array in memory is, so that a fit has the same bits; those that Dask opens are not. Rows
are read, not mapped: a file that is cut while it is mapped ends the process, and mapped pages count as memory of it.
The files of a Zarr array are looked up before they are read: zarr fills what is missing with zeros.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from io import BufferedReader
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from evidentia.rows.files import (
    HANDLE_CHUNKS,
    FileRows,
    Files,
    changed_message,
    choose_numbers,
    damaged_message,
    group_neighbors,
    listing,
    no_rows,
    reading,
    whole_file,
)
from evidentia.rows.source import CHUNK_BYTES, Chunk, chunk_bounds, chunk_rows

MOST_BYTES = 4 * CHUNK_BYTES  # read at a time, where few of many columns are used


class Layout(NamedTuple):
    """Where the numbers of an array are in its file."""

    shape: tuple[int, int]
    dtype: str
    offset: int  # bytes before the first number
    strides: tuple[int, int]  # bytes from a row to the next one, and from a column

    @classmethod
    def plain(cls, shape: tuple[int, int], dtype: np.dtype, offset: int, fortran: bool) -> Layout:
        n, d = shape
        step = dtype.itemsize
        return cls(shape, dtype.str, offset, (step, n * step) if fortran else (d * step, step))

    @property
    def by_rows(self) -> bool:
        return self.strides[0] >= self.strides[1]

    @property
    def end(self) -> int:
        """Return the bytes that the file has at least."""
        n, d = self.shape
        last = (n - 1) * self.strides[0] + (d - 1) * self.strides[1]
        return self.offset + (last + np.dtype(self.dtype).itemsize if n else 0)

    def read(self, file: BufferedReader, start: int, stop: int, columns: Sequence[int]) -> np.ndarray:
        """Read some rows as doubles."""
        dtype, (rows, between) = np.dtype(self.dtype), self.strides
        n, d = stop - start, self.shape[1]
        if self.by_rows:
            raw = _bytes(file, self.offset + start * rows, (n - 1) * rows + (d - 1) * between + dtype.itemsize)
            part = np.ndarray((n, d), dtype, raw, strides=self.strides)
            return np.ascontiguousarray(part if list(columns) == list(range(d)) else part[:, columns], dtype=np.float64)
        table = np.empty((n, len(columns)))
        for to, at in enumerate(columns):
            raw = _bytes(file, self.offset + start * rows + at * between, (n - 1) * rows + dtype.itemsize)
            table[:, to] = np.ndarray(n, dtype, raw, strides=(rows,))
        return table


def _bytes(file: BufferedReader, at: int, count: int) -> np.ndarray:
    raw = np.empty(count, dtype=np.uint8)
    file.seek(at)
    if file.readinto(raw.data) < count:
        raise EOFError("it ends before its last row")
    return raw


class ArrayFileRows(FileRows):
    """Rows of arrays in files, one after the other. They are cut as those of an array in memory."""

    def __init__(self, files: Files, layouts: Sequence[Layout], columns: Sequence[int] | None, weight: int | None):
        self.files, self.layouts = files, list(dict.fromkeys(layouts))
        self.layout_of = [self.layouts.index(layout) for layout in layouts]
        widths = [layout.shape[1] for layout in layouts]
        for at, width in enumerate(widths):
            if width != widths[0]:
                raise ValueError(
                    f"{files.path(at)} has {width} columns, but {files.path(0)} has {widths[0]}. "
                    "Files that are opened together need the same columns."
                )
        self.columns = choose_numbers(files.path(0), widths[0], columns, weight)
        self.weight = None if weight is None else int(weight)
        self.ends = np.cumsum([layout.shape[0] for layout in layouts])
        self.n_rows, self.n_features = int(self.ends[-1]), len(self.columns)
        if not self.n_rows:
            raise no_rows(files)
        self.handles = chunk_bounds(self.n_rows, self.n_features)

    def description(self) -> list[Any]:
        return [self.layouts, self.layout_of, *super().description()]

    def parts(self, handle: tuple[int, int]) -> Iterator[Chunk]:
        start, stop = handle
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop:
            end = min(stop, int(self.ends[at]))
            if start < end:
                before = int(self.ends[at - 1]) if at else 0
                work = self._rows(at, start - before, end - before)
                yield from reading(self.files.path(at), partial(self.files.check, at), work, (EOFError, OSError))
            start, at = end, at + 1

    def _rows(self, at: int, start: int, stop: int) -> Iterator[Chunk]:
        layout = self.layouts[self.layout_of[at]]
        size = min(chunk_rows(self.n_features), max(1, MOST_BYTES // layout.strides[0]))
        place = f"{self.files.names[at]}, row "
        with open(self.files.path(at), "rb") as file:
            for first in range(start, stop, size):
                yield Chunk(layout.read(file, first, min(first + size, stop), self.wanted), None, place, first)


def open_npy(paths: Sequence[str], columns: Any, weight: Any) -> ArrayFileRows:
    """Return the rows of one or several ``.npy`` files."""
    return ArrayFileRows(Files(paths), [_npy_layout(whole_file(path)) for path in paths], columns, weight)


def _npy_layout(path: str) -> Layout:
    try:
        with open(path, "rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            offset = file.tell()
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is not a whole NumPy file. numpy.save(path, array) writes one.") from error
    _check_kind(path, shape, dtype)
    layout = Layout.plain((shape[0], shape[1]), dtype, offset, fortran)
    if os.path.getsize(path) < layout.end:
        raise ValueError(damaged_message(path, EOFError("it ends before its last row")))
    return layout


def _check_kind(what: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if len(shape) != 2:
        raise ValueError(f"{what} should hold a table of rows and columns, but its shape is {shape}.")
    if dtype.kind not in "biuf":
        raise ValueError(f"{what} should hold numbers, but its type is {dtype}. Write array.astype(float) instead.")


def open_memmap(array: np.memmap, columns: Any, weight: Any) -> ArrayFileRows:
    """Return the rows of an array that NumPy has mapped, or of a part of one, to be read from its file."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None:
        raise TypeError("open_rows needs the file of a mapped array, and this one has none. Give it to fit as it is.")
    if root.mode == "c":
        raise ValueError(
            f"The array of {root.filename} was mapped copy-on-write, so that the file may hold other numbers. "
            "Map it with mode 'r'."
        )
    _check_kind("The mapped array", array.shape, array.dtype)
    if min(array.strides) <= 0:
        raise ValueError("The rows and columns of a mapped array must be in the order of its file. Save it as .npy.")
    root.flush()
    offset = root.offset + array.ctypes.data - root.ctypes.data
    layout = Layout((array.shape[0], array.shape[1]), array.dtype.str, offset, (array.strides[0], array.strides[1]))
    return ArrayFileRows(Files([os.fspath(root.filename)]), [layout], columns, weight)


# -- Zarr -------------------------------------------------------------------------------------------------------------


METADATA = ("zarr.json", ".zarray")  # of the third format of Zarr, and of the second


def metadata_of(folder: str) -> str | None:
    """Return the file that describes the array in a folder; None if there is none."""
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
        self.columns = choose_numbers(folder, array.shape[1], columns, weight)
        self.weight = None if weight is None else int(weight)
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
        """Return the number of rows that are in the same files."""
        return int((array.shards or array.chunks)[0])

    def _digest(self, array: Any, start: int, stop: int) -> str:
        """Return a digest of sizes and dates of the files of some rows."""
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

    def description(self) -> list[Any]:
        return [self.handles, *super().description()]

    @property
    def words(self) -> str:
        return f"{self.n_rows:,} rows of {self.n_features} columns"

    def parts(self, handle: tuple[int, int, str]) -> Iterator[Chunk]:
        start, stop, digest = handle
        what = f"{self.folder}, rows {start} to {stop - 1},"
        yield from reading(what, partial(self._check, start, stop, digest), self._rows(start, stop), (Exception,))

    def _check(self, start: int, stop: int, digest: str) -> None:
        self.files.check(0)
        if self._digest(self._open(), start, stop) != digest:
            raise ValueError(changed_message(self.folder))

    def _rows(self, start: int, stop: int) -> Iterator[Chunk]:
        array = self._open()
        chunk = int(array.chunks[0])
        step = chunk * max(1, chunk_rows(self.n_features) // chunk)  # a chunk is decoded once, whatever its size
        wanted = self.wanted
        everything = wanted == list(range(array.shape[1]))
        place = f"{os.path.basename(self.folder)}, row "
        for first in range(start, stop, step):
            part = slice(first, min(first + step, stop))
            raw = array[part] if everything else array.oindex[part, wanted]
            yield Chunk(np.ascontiguousarray(raw, dtype=np.float64), None, place, first)


def open_zarr(paths: Sequence[str], columns: Any, weight: Any) -> ZarrRows:
    """Return the rows of a Zarr array in a folder."""
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
