"""Rows of a table that may be anywhere: in memory, in files, on other machines; and passes over them."""

from evidentia.rows.opening import open_rows
from evidentia.rows.source import RowSource, as_rows

__all__ = ["RowSource", "as_rows", "open_rows"]
