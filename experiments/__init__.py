"""The papers' tables and figures, one module a paper: ``python -m experiments.NAME --help``."""
