"""A fitted credal partition as a page, and as a directory of files, for people."""

from evidentia.app.report.interactive import write_interactive
from evidentia.app.report.page import write_report
from evidentia.app.report.results import write_results

__all__ = ["write_interactive", "write_report", "write_results"]
