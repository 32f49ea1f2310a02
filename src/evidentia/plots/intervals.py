"""Pictures of a bootstrapped mixture: draws of a pair, how well the partition renders the bounds, and coverage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from evidentia.plots.mpl import drawing, legend_beside, new_axes
from evidentia.plots.palette import HUES
from evidentia.plots.table import read_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHERWISE = "it is not a BootGMM"  # what a model without intervals may be
BINS = 40
NARROWEST = 0.05  # width of a histogram: a pair that is sure in every replicate should look so
SQUARES = 60  # along each axis: a square as wide as a dot
DOTS = 4  # pairs drawn in one square; more would hide each other
GRAY = "#5f5f5f"
BOUNDS = {"lower": ("belief", "lower bound", HUES[0]), "upper": ("plausibility", "upper bound", HUES[1])}
KINDS = {"ci_coverage": "confidence interval", "coverage": "belief to plausibility"}


class PairDraws(NamedTuple):
    """Bootstrap draws of the probability that two objects share a class, its bounds, and what the masses say of it."""

    draws: np.ndarray
    lower: float
    upper: float
    belief: float
    plausibility: float


def pair_draws_plot_data(model: Any, i: int, j: int) -> PairDraws:
    """Draws, confidence bounds, belief and plausibility of "objects i and j share a cluster".

    Parameters
    ----------
    model : BootGMM
        Fitted.
    i, j : int
        Two different objects. With ``n_pairs`` they need not be one of the pairs it looked at.

    Examples
    --------
    >>> from evidentia import BootGMM
    >>> X = [[0, 1], [1, 0], [0, 0], [1, 1], [9, 8], [8, 9], [9, 9], [8, 8], [9, 7]]
    >>> model = BootGMM(2, model="EII", n_boot=50, random_state=0).fit(X)
    >>> data = pair_draws_plot_data(model, 0, 8)
    >>> data.draws.shape, round(data.upper, 3), round(data.plausibility, 3)
    ((50,), 0.0, 0.0)
    """
    read_fitted(model, "intervals_", OTHERWISE)
    n = len(model.partition_)
    if i == j or not (0 <= i < n and 0 <= j < n):
        raise ValueError(f"i and j must be two different objects from 0 to {n - 1}. Got {i} and {j}.")
    draws = model.pair_draws(i, j)
    tail = (1 - model.confidence) / 2
    lower, upper = np.quantile(draws, [tail, 1 - tail]).tolist()
    relation = model.partition_.relational(np.array([[i, j]]))
    return PairDraws(draws, lower, upper, float(relation.same[0]), float(relation.plausibility_same[0]))


@drawing(":meth:`matplotlib.axes.Axes.hist`", numbers="pair_draws_plot_data")
def plot_pair_draws(
    model: Any, i: int, j: int, *, truth: float | None = None, ax: Axes | None = None, **bars: Any
) -> Axes:
    """Draw the bootstrap histogram of the probability that two objects share a class.

    Broken lines are the confidence bounds, dash-dotted ones belief and plausibility.

    Parameters
    ----------
    model : BootGMM
        Fitted.
    i, j : int
        Two different objects.
    truth : float, optional
        The true probability, where it is known, as a solid line.
    """
    data = pair_draws_plot_data(model, i, j)
    ax = new_axes(ax, figsize=(6, 3.6))
    span = [*data.draws, data.belief, data.plausibility]
    low = min(*span, 1 - NARROWEST)
    reach = (low, max(*span, low + NARROWEST))
    look = {"bins": BINS, "range": reach, "color": "#c9c9c9", "label": f"{len(data.draws)} replicates"}
    ax.hist(data.draws, **{**look, **bars})
    bounds = f"{100 * model.confidence:g} % bounds: {data.lower:.2f}, {data.upper:.2f}"
    said = f"belief {data.belief:.2f}, plausibility {data.plausibility:.2f}"
    for places, color, dashes, words in (
        ((data.lower, data.upper), "black", "--", bounds),
        ((data.belief, data.plausibility), HUES[0], "-.", said),
        (() if truth is None else (truth,), HUES[1], "-", "" if truth is None else f"truth {truth:.2f}"),
    ):
        for at, place in enumerate(places):
            ax.axvline(place, color=color, ls=dashes, lw=1.6, label="_" if at else words)
    ax.set(xlabel=f"probability that objects {i} and {j} share a class", ylabel="replicates")
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax


def interval_fit_plot_data(model: Any, bound: str = "lower") -> tuple[np.ndarray, np.ndarray]:
    """A bound of each pair's confidence interval, and the belief or plausibility that should meet it.

    Parameters
    ----------
    model : BootGMM
        Fitted.
    bound : {"lower", "upper"}
        Lower bounds go with belief, upper bounds with plausibility.

    Returns
    -------
    wanted, said : ndarray of shape (n_pairs,)
        In the order of ``model.intervals_.pairs``.
    """
    read_fitted(model, "intervals_", OTHERWISE)
    if bound not in BOUNDS:
        raise ValueError(f"'bound' must be 'lower' or 'upper'. Got {bound!r}.")
    relation = model.partition_.relational(model.intervals_.pairs)
    if bound == "lower":
        return model.intervals_.lower, relation.same
    return model.intervals_.upper, relation.plausibility_same


def thin_points(x: np.ndarray, y: np.ndarray, *, squares: int = SQUARES, most: int = DOTS) -> np.ndarray:
    """Points of the unit square to draw: the first few of each small square, so that the rare ones are seen.

    Examples
    --------
    >>> thin_points(np.array([0.01, 0.02, 0.03, 0.9]), np.array([0.01, 0.02, 0.03, 0.5]), squares=10, most=2)
    array([0, 1, 3])
    """
    column, row = (np.clip((part * squares).astype(int), 0, squares - 1) for part in (x, y))
    order = np.argsort(column * squares + row, kind="stable")
    cell = (column * squares + row)[order]
    new = np.append(True, cell[1:] != cell[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(cell)), 0))
    return np.sort(order[np.arange(len(cell)) - first < most])


@drawing(":meth:`matplotlib.axes.Axes.scatter`", numbers="interval_fit_plot_data")
def plot_interval_fit(model: Any, *, bound: str = "both", ax: Axes | None = None, **scatter: Any) -> Axes:
    """Draw belief against the lower bounds and plausibility against the upper ones, a dot for each pair of objects.

    On the diagonal the partition renders the interval exactly. Below it for belief, and above it for plausibility, its
    interval is the wider one. Most pairs are sure and lie in two corners: where dots would hide each other only a few
    are drawn.

    Parameters
    ----------
    model : BootGMM
        Fitted.
    bound : {"both", "lower", "upper"}
    """
    if bound not in ("both", *BOUNDS):
        raise ValueError(f"'bound' must be 'both', 'lower' or 'upper'. Got {bound!r}.")
    shown = list(BOUNDS) if bound == "both" else [bound]
    data = {name: interval_fit_plot_data(model, name) for name in shown}
    ax = new_axes(ax, figsize=(7.4, 4.4))
    ax.plot([0, 1], [0, 1], color=GRAY, lw=1, ls="--", label="exact", zorder=1)
    for name, (wanted, said) in data.items():
        measure, words, color = BOUNDS[name]
        off = model.approximation_[f"rmse_{name}"]
        dots = thin_points(wanted, said)
        look = {"s": 7, "color": color, "alpha": 0.45, "linewidths": 0, "rasterized": len(dots) > 2000}
        words = f"{measure} and {words}\n(off by {off:.3f}, root mean square)"
        ax.scatter(wanted[dots], said[dots], **{**look, "label": words, **scatter})
    measures = " or ".join(BOUNDS[name][0] for name in shown)
    ax.set(xlabel=f"{100 * model.confidence:g} % confidence bound", ylabel=measures)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax, *ax.get_legend_handles_labels(), markerscale=2)
    return ax


def coverage_plot_data(tables: pd.DataFrame | Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Coverage and length, with the standard error of the mean coverage, of one calibration or of several.

    Parameters
    ----------
    tables : DataFrame, or dict of names and DataFrames
        From :func:`evidentia.scores.calibrate`.

    Returns
    -------
    DataFrame
        Columns ``name``, ``confidence``, ``interval`` ("confidence interval" or "belief to plausibility"),
        ``coverage``, ``error`` (of that mean; NaN of one data set), ``length`` and ``datasets``.

    Examples
    --------
    >>> table = pd.DataFrame({"dataset": [0, 1], "confidence": 0.9, "ci_coverage": [0.8, 1.0], "coverage": [0.9, 0.9],
    ...     "ci_length": 0.2, "length": 0.3})
    >>> coverage_plot_data({"EII": table}).round(2).values.tolist()  # doctest: +NORMALIZE_WHITESPACE
    [['EII', 0.9, 'confidence interval', 0.9, 0.1, 0.2, 2],
     ['EII', 0.9, 'belief to plausibility', 0.9, 0.0, 0.3, 2]]
    """
    named = {"": tables} if isinstance(tables, pd.DataFrame) else tables
    rows = []
    for name, table in named.items():
        for level, found in table.groupby("confidence"):
            for column, interval in KINDS.items():
                rows.append(
                    {
                        "name": name,
                        "confidence": float(level),  # type: ignore[arg-type]
                        "interval": interval,
                        "coverage": found[column].mean(),
                        "error": found[column].sem(),
                        "length": found[column.replace("coverage", "length")].mean(),
                        "datasets": len(found),
                    }
                )
    return pd.DataFrame(rows)


@drawing(":meth:`matplotlib.axes.Axes.errorbar`", numbers="coverage_plot_data")
def plot_coverage(tables: pd.DataFrame | Mapping[str, pd.DataFrame], *, ax: Axes | None = None, **bars: Any) -> Axes:
    """Draw how often intervals contained the truth, beside how often they should.

    Open marks are confidence intervals, filled ones those from belief to plausibility; bars are two standard errors of
    the mean over data sets, broken lines the nominal levels. The number at a mark is the mean length of its intervals.

    Parameters
    ----------
    tables : DataFrame, or dict of names and DataFrames
        From :func:`evidentia.scores.calibrate`.
    """
    data = coverage_plot_data(tables)
    names = list(dict.fromkeys(data["name"]))
    levels = sorted(set(data["confidence"]))
    places = 2 * len(levels)
    ax = new_axes(ax, figsize=(3.2 + 0.45 * places * len(names), 3.8))
    for at, level in enumerate(levels):
        color = HUES[at % len(HUES)]
        ax.axhline(level, color=color, lw=1, ls="--", zorder=1)
        for side, interval in enumerate(KINDS.values()):
            rows = data[(data["confidence"] == level) & (data["interval"] == interval)]
            x = np.array([names.index(name) for name in rows["name"]]) + 0.7 * ((2 * at + side + 0.5) / places - 0.5)
            look = {"fmt": "o" if side else "s", "color": color, "ms": 6, "capsize": 3, "lw": 1.2}
            face = {"mfc": color if side else "white", "label": f"{interval}, {level:g}"}
            ax.errorbar(x, rows["coverage"], 2 * rows["error"].fillna(0), **{**look, **face, **bars})
            for place, height, length in zip(x, rows["coverage"], rows["length"]):
                ax.annotate(f"{length:.2f}", (place, height), (5, 4), textcoords="offset points", fontsize="x-small")
    ax.set(xticks=range(len(names)), xlim=(-0.6, len(names) - 0.4), ylabel="share of pairs covered")
    ax.set_xticklabels(names, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax
