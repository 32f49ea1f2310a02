"""The tables and figures of the five papers, the papers' numbers beside ours. ``python -m reproduction list``."""
