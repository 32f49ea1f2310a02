"""Rows of a table that may be anywhere: in memory, in files, on other machines; and passes over them."""

from typing import Any

from evidentia.rows.dask import DaskRows, is_collection
from evidentia.rows.opening import open_rows
from evidentia.rows.source import RowSource

__all__ = ["DaskRows", "RowSource", "as_rows", "open_rows"]


def as_rows(X: Any) -> RowSource | None:
    """Rows that are not in memory: a source as it is, a Dask array or DataFrame block by block; None for all else."""
    if isinstance(X, RowSource):
        return X
    return DaskRows(X) if is_collection(X) else None
