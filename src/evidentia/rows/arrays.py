"""Rows of arrays in files: ``.npy``, and arrays that NumPy has mapped.

The rows are read, not mapped: a file that is cut while it is mapped ends the process, and mapped pages count as
memory of the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from io import BufferedReader
from typing import Any, NamedTuple

import numpy as np

from evidentia.rows.files import Block, FileRows, Files, choose_numbers, damaged_message, no_rows, reading, whole_file
from evidentia.rows.source import CHUNK_BYTES, chunk_bounds, chunk_rows

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
        """Bytes that the file has at least."""
        n, d = self.shape
        last = (n - 1) * self.strides[0] + (d - 1) * self.strides[1]
        return self.offset + (last + np.dtype(self.dtype).itemsize if n else 0)

    def read(self, file: BufferedReader, start: int, stop: int, columns: Sequence[int]) -> np.ndarray:
        """Some rows as doubles."""
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
        self.columns, self.weight = choose_numbers(files.path(0), widths[0], columns, weight)
        self.ends = np.cumsum([layout.shape[0] for layout in layouts])
        self.n_rows, self.n_features = int(self.ends[-1]), len(self.columns)
        if not self.n_rows:
            raise no_rows(files)
        self.handles = chunk_bounds(self.n_rows, self.n_features)

    def chosen_columns(self) -> Any:
        return [self.layouts, self.layout_of, self.columns, self.weight]

    def blocks(self, handle: tuple[int, int]) -> Iterator[Block]:
        start, stop = handle
        at = int(np.searchsorted(self.ends, start, side="right"))
        while start < stop:
            end = min(stop, int(self.ends[at]))
            if start < end:
                before = int(self.ends[at - 1]) if at else 0
                work = self._rows(at, start - before, end - before)
                yield from reading(self.files.path(at), partial(self.files.check, at), work, (EOFError, OSError))
            start, at = end, at + 1

    def _rows(self, at: int, start: int, stop: int) -> Iterator[Block]:
        layout = self.layouts[self.layout_of[at]]
        size = min(chunk_rows(self.n_features), max(1, MOST_BYTES // layout.strides[0]))
        wanted = self.columns if self.weight is None else [*self.columns, self.weight]
        place = f"{self.files.names[at]}, row "
        with open(self.files.path(at), "rb") as file:
            for first in range(start, stop, size):
                table = layout.read(file, first, min(first + size, stop), wanted)
                if self.weight is None:
                    yield Block(table, None, place, first)
                else:
                    yield Block(table[:, :-1].copy(), table[:, -1].copy(), place, first)


def open_npy(paths: Sequence[str], columns: Any, weight: Any) -> ArrayFileRows:
    """Rows of one or several ``.npy`` files."""
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
    """Rows of an array that NumPy has mapped, or of a part of one, from its file."""
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
