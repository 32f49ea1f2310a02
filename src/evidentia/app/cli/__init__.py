"""The ``evidentia`` command: from a table in a file to a credal partition a person can read."""

from evidentia.app.cli.app import app, main

__all__ = ["app", "main"]
