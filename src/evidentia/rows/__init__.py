"""Rows of a table that may be anywhere: in memory, in files, on other machines; and passes over them."""
