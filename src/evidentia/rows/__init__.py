"""Rows of a table that may be anywhere: in memory, in files, on other machines; and passes over them."""

from evidentia.rows.dask import as_rows
from evidentia.rows.opening import open_rows
from evidentia.rows.source import RowSource

__all__ = ["RowSource", "as_rows", "open_rows"]
