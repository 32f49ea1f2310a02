"""``open_rows``: which files, and of which kind."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evidentia.rows.arrays import metadata_of, open_memmap, open_npy, open_zarr
from evidentia.rows.arrow import open_parquet, open_text
from evidentia.rows.files import listing
from evidentia.rows.source import RowSource

OPENERS: dict[str, Callable[..., RowSource]] = {
    ".npy": open_npy,
    ".parquet": open_parquet,
    ".pq": open_parquet,
    ".zarr": open_zarr,
    ".csv": open_text,
    ".csv.gz": open_text,
    ".tsv": open_text,
    ".tsv.gz": open_text,
}


def open_rows(
    where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | np.memmap,
    *,
    columns: Sequence[str] | Sequence[int] | None = None,
    weight: str | int | None = None,
) -> RowSource:
    """Open a table in files, to be read chunk by chunk: it need not fit into memory.

    Parameters
    ----------
    where : path, pattern, list of paths, or numpy.memmap
        Files of one kind, which their ending says: ``.npy``, ``.parquet`` (or ``.pq``), ``.csv`` and ``.tsv`` (also
        with ``.gz``); or the folder of a Zarr array. A pattern such as ``"data/*.parquet"`` has its files in the order
        of their names. The rows of several files follow each other; columns with names may stand in another order in
        each.
    columns : list of str or int, optional
        Columns to use: names, or numbers from 0 for arrays. By default all that hold numbers; a warning names the
        others.
    weight : str or int, optional
        Column with the weights of the rows, which is not clustered then: a row of weight two counts as two rows, one of
        weight zero has no part in the fit.

    Returns
    -------
    RowSource
        To be given to ``fit`` in place of a table. It is small and can be pickled; the rows stay where they are.
        Numbers of any type are read as doubles. A file that changes after it was opened is refused when it is read.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from evidentia import open_rows
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "cells.npy")
    >>> np.save(path, np.arange(12).reshape(4, 3))
    >>> rows = open_rows(path, columns=[2, 0])
    >>> rows
    ArrayFileRows(4 rows of 2 columns in 1 file)
    >>> for handle in rows.handles:
    ...     for chunk in rows.read(handle):
    ...         print(chunk.table.tolist())
    [[2.0, 0.0], [5.0, 3.0], [8.0, 6.0], [11.0, 9.0]]
    >>> folder.cleanup()
    """
    if isinstance(columns, str):
        raise TypeError(f"'columns' of open_rows must be a list of names. Got {columns!r}; [{columns!r}] is one.")
    if isinstance(where, np.memmap):
        return open_memmap(where, columns, weight)
    paths = _paths(where)
    openers = [_opener(path) for path in paths]
    for path, opener in zip(paths, openers):
        if opener != openers[0]:
            raise ValueError(
                f"Files that are opened together must be of one kind, but {paths[0]} and {path} are of two. "
                'Narrow the pattern, to "*.parquet" for instance.'
            )
    return openers[0](paths, columns, weight)


def _paths(where: Any) -> list[str]:
    if isinstance(where, str | os.PathLike):
        path = os.path.expanduser(os.fspath(where))
        if "://" in path:
            raise ValueError(
                f"open_rows reads files, not addresses: {path}. Mount the store, or give fit a Dask array."
            )
        if os.path.exists(path):
            return [path]
        if glob.has_magic(path):
            found = sorted(glob.glob(path, recursive=True))
            if not found:
                raise FileNotFoundError(f"No file matches {path} (looked in {os.getcwd()}).")
            return found
        raise FileNotFoundError(f"There is no file {path} (looked in {os.getcwd()}).")
    if isinstance(where, list | tuple) and where and all(isinstance(one, str | os.PathLike) for one in where):
        return [path for one in where for path in _paths(one)]
    if isinstance(where, list | tuple) and not where:
        raise ValueError("open_rows was given an empty list. Name at least one file.")
    raise TypeError(
        "open_rows takes a path, a pattern, a list of paths or a numpy.memmap. "
        f"Got {type(where).__name__}; a table in memory goes to fit as it is."
    )


def _opener(path: str) -> Callable[..., RowSource]:
    if os.path.isdir(path) and metadata_of(path) is not None:
        return open_zarr
    opener = next((OPENERS[ending] for ending in OPENERS if path.lower().endswith(ending)), None)
    if os.path.isdir(path) and opener != open_zarr:
        inside = {end for name in os.listdir(path) for end in OPENERS if name.lower().endswith(end)}
        pattern = os.path.join(path, f"*{min(inside) if len(inside) == 1 else '.parquet'}")
        raise ValueError(f"{path} is a folder. Name its files by a pattern, such as {pattern!r}.")
    if opener is None:
        raise ValueError(f"{path} has an ending that is not known. Known are {listing(OPENERS)}.")
    return opener
