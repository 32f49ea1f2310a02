"""Callbacks of scikit-learn (1.9): whoever watches a fit hears of its tasks, and may end it.

A fit is a task, with the starts, or the numbers of clusters and models that are tried, as its subtasks, and iterations
as theirs. Where a callback asks for an end, the fit ends as by an interrupt from the keyboard: with the best so far.
With an older scikit-learn estimators have no ``set_callbacks``, and nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

__all__ = ["CallbackSupportMixin", "Task", "fit_task", "report_iteration", "subtask"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Estimators without callbacks."""


WATCHED = {"_skl_callbacks", "_parent_callback_ctx"}  # what scikit-learn sets on an estimator with callbacks


class Task(NamedTuple):
    """A task that is under way, and what its callbacks are called with."""

    context: Any
    about: dict[str, Any]


_running: ContextVar[Task | None] = ContextVar("task", default=None)


@contextmanager
def subtask(name: str) -> Iterator[Callable[[], bool]]:
    """A part of the running fit. What it yields ends the part, and says whether the fit is to end, too."""
    parent = _running.get()
    if parent is None:
        yield lambda: False
        return
    context = parent.context.subcontext(task_name=name, max_subtasks=None)
    context.call_on_fit_task_begin(**parent.about)
    token = _running.set(Task(context, parent.about))
    open_ = True

    def end() -> bool:
        nonlocal open_
        open_ = False
        return context.call_on_fit_task_end(**parent.about)

    try:
        yield end
    finally:
        _running.reset(token)
        if open_:  # an error, or an interrupt from elsewhere
            end()


def report_iteration() -> bool:
    """Tell that an iteration is complete; whether the fit is to end."""
    parent = _running.get()
    if parent is None:
        return False
    context = parent.context.subcontext(task_name="iteration")
    context.call_on_fit_task_begin(**parent.about)
    return context.call_on_fit_task_end(**parent.about)


@contextmanager
def fit_task(estimator: Any, X: Any, y: Any, metadata: dict[str, Any]) -> Iterator[None]:
    """The fit inside as a task for the callbacks of an estimator; fits inside of it are parts of it."""
    if not vars(estimator).keys() & WATCHED:
        yield
        return
    try:
        context = estimator._init_callback_context(max_subtasks=None)
        said = {name: value for name, value in metadata.items() if value is not None}
        about = {"estimator": estimator, "X": X, "y": y, "metadata": said}
        context.call_on_fit_task_begin(**about)
        token = _running.set(Task(context, about))
        try:
            yield
        finally:
            _running.reset(token)
        context.call_on_fit_task_end(**about, reconstruction_attributes={})
    finally:
        with_callbacks(lambda estimator: None)(estimator)  # whose end tears the callbacks down
