"""Curves: how a fit went, and how many clusters there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.plots.mpl import drawing, legend_beside, new_axes, whole_steps
from evidentia.plots.palette import HUES
from evidentia.plots.table import read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evidentia.selection import Selection


@drawing(":meth:`matplotlib.axes.Axes.plot`")
def plot_trace(model: Any, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the criterion of a fit against the iteration.

    Parameters
    ----------
    model : fitted estimator with ``criterion_trace_``

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ax = plot_trace(SimpleNamespace(criterion_trace_=[5.0, 2.5, 2.0]))
    >>> ax.lines[0].get_xydata()
    array([[1. , 5. ],
           [2. , 2.5],
           [3. , 2. ]])
    """
    trace = np.asarray(read_fitted(model, "criterion_trace_", "it is not iterative"), dtype=float)
    ax = new_axes(ax, figsize=(6, 3.6))
    look = {"color": HUES[0], "lw": 1.5, "marker": "o" if len(trace) <= 60 else "", "ms": 3.5}
    ax.plot(np.arange(1, len(trace) + 1), trace, **{**look, **line})
    ax.set(xlabel="iteration", ylabel="criterion")
    whole_steps(ax)
    return ax


@drawing(":meth:`matplotlib.axes.Axes.plot` for both curves")
def plot_learning_curve(model: Any, *, floor: Any = None, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw how a network learned: its loss and, when some pairs were held back, the loss of these.

    Parameters
    ----------
    model : fitted estimator with ``criterion_trace_`` and, if it has one, ``validation_trace_``
    floor : float or fitted estimator, optional
        A loss to compare with, or a model whose ``criterion_`` it is. :class:`~evidentia.relational.EVCLUS` has free
        masses where a network must compute them, so its loss is about as low as can be.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(criterion_trace_=[0.5, 0.2, 0.1], validation_trace_=[0.3, 0.2])
    >>> ax = plot_learning_curve(model, floor=0.05)
    >>> [line.get_label() for line in ax.lines]
    ['training', 'validation', 'floor 0.05']
    """
    ax = plot_trace(model, ax=ax, **{"label": "training", **line})
    held_back = np.asarray(getattr(model, "validation_trace_", ()), dtype=float)
    if held_back.size:  # the loss at the very start is on the first curve only, and this one may go on after its end
        look = {"color": HUES[1], "lw": 1.5, "label": "validation"}
        ax.plot(np.arange(2, held_back.size + 2), held_back, **{**look, **line})
    if floor is not None:
        value = float(getattr(floor, "criterion_", floor))
        who = type(floor).__name__ if hasattr(floor, "criterion_") else "floor"
        ax.axhline(value, color="#404040", lw=1, ls="--", label=f"{who} {value:.3g}")
    ax.set(ylabel="loss", yscale="log")
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax


def selection_plot_data(selection: Selection, *, criterion: str | None = None) -> dict[str, np.ndarray]:
    """The curve of each method, shape (n_tried, 2): numbers of clusters in rising order, and the criterion.

    Rows without a criterion (a fit that failed, a method the criterion does not speak of) are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from evidentia.selection import Selection
    >>> table = pd.DataFrame({"method": "egmm", "n_clusters": [3, 2], "ebic": [-63.1, -55.9]})
    >>> selection_plot_data(Selection(table, "ebic", ("egmm", 2), None))
    {'egmm': array([[  2. , -55.9],
           [  3. , -63.1]])}
    """
    table = selection.table
    criterion = selection.criterion if criterion is None else criterion
    numbers = [name for name in table.columns if name not in ("method", "n_clusters", "note")]
    if criterion not in numbers:
        raise ValueError(f"There is no criterion {criterion!r} in the table. It has: {', '.join(numbers)}.")
    curves = {}
    for method, rows in table.groupby("method", sort=False):
        rows = rows.dropna(subset=[criterion]).sort_values("n_clusters")
        if len(rows):
            curves[str(method)] = rows[["n_clusters", criterion]].to_numpy(dtype=float)
    if not curves:
        raise ValueError(f"None of the fits has a value of {criterion!r}. The table has: {', '.join(numbers)}.")
    return curves


@drawing(":meth:`matplotlib.axes.Axes.plot`", numbers="selection_plot_data")
def plot_selection(selection: Selection, *, criterion: str | None = None, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw a criterion against the number of clusters, a line for each method, the best choice marked.

    Parameters
    ----------
    selection : Selection
        From :func:`evidentia.selection.select`.
    criterion : str, optional
        A column of ``selection.table``; without it the criterion that made the choice.
    """
    from evidentia.selection import CRITERIA

    curves = selection_plot_data(selection, criterion=criterion)
    criterion = selection.criterion if criterion is None else criterion
    ax = new_axes(ax, figsize=(6, 3.6))
    for at, (method, curve) in enumerate(curves.items()):
        look = {"color": HUES[at % len(HUES)], "marker": "o", "ms": 5, "lw": 1.5, "label": method}
        ax.plot(*curve.T, **{**look, **line})
    # The choice was made by one criterion; on the curve of another one a mark would claim too much.
    if criterion == selection.criterion:
        method, n_clusters = selection.best
        best = curves[method][curves[method][:, 0] == n_clusters]
        ax.plot(
            *best.T, ls="", marker="o", ms=13, mfc="none", mec="black", mew=1.5, label=f"best: {n_clusters} clusters"
        )
    known = CRITERIA.get(criterion)
    good = f"{known.words} ({'larger' if known.maximize else 'smaller'} is better)" if known else criterion
    ax.set(xlabel="number of clusters", ylabel=good)
    whole_steps(ax)
    ax.margins(x=0.08, y=0.12)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax
