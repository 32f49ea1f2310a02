"""Rows of a table that may be anywhere: in memory, in files, on other machines; and passes over them."""

from evidentia.rows.opening import open_rows
from evidentia.rows.source import RowSource

__all__ = ["RowSource", "open_rows"]
