"""The pictures of a result, drawn once for the report and for files."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.partition import CredalPartition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 160
CANDIDATES = 20  # columns whose pairs are compared for the scatter plot


class Picture(NamedTuple):
    """A drawing as PNG; ``name`` is the stem of its file, ``alt`` says in words what there is to see."""

    name: str
    title: str
    caption: str
    alt: str
    png: bytes


def draw(
    partition: CredalPartition,
    *,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
) -> list[Picture]:
    """All pictures that what is given allows, in the order a reader wants them."""
    from evidentia import plots

    pictures = []
    n, c = len(partition), partition.n_clusters
    if X is not None:
        table = np.asarray(X, dtype=float)
        names = list(map(str, feature_names if feature_names is not None else getattr(X, "columns", ())))
        names = names or [f"column {j}" for j in range(table.shape[1])]
        columns = telling_columns(partition, table) if table.shape[1] > 1 else None
        which = ""
        if columns is not None and table.shape[1] > 2:
            which = f" Of the {table.shape[1]} columns, these two together tell the clusters apart best."
        centers = getattr(model, "cluster_centers_", None)
        pictures.append(
            _picture(
                "partition",
                "The objects and their sets",
                "Each object has the color of the set that holds most of its mass. A filled outline surrounds the "
                f"objects surely in a cluster, a dashed one those possibly in it.{which}",
                f"Scatter plot of {n} objects colored by set of clusters, with outlines of {c} clusters.",
                lambda ax: plots.plot_partition(
                    partition, table, columns=columns, feature_names=names, centers=centers, ax=ax
                ),
            )
        )
        shapes = [getattr(model, name, None) for name in ("covariance_", "covariances_")]
        if columns is not None and any(shape is not None for shape in shapes):
            pictures.append(
                _picture(
                    "ellipses",
                    "The shape of the clusters",
                    "Ellipses of the fitted model: center and spread of each cluster and, dashed, of sets.",
                    f"Covariance ellipses of {c} clusters and of sets of clusters over the objects.",
                    lambda ax: _ellipses(ax, model, table, columns, names),
                )
            )
    pictures.append(
        _picture(
            "masses",
            "Where the mass of each object goes",
            "One thin column an object: the share of its mass on each set. A column in the color of one cluster is "
            "certainty; the colors of sets of several clusters are doubt.",
            f"Stacked mass profile of {n} objects over {len(partition.focal_sets)} sets of clusters.",
            lambda ax: plots.plot_masses(partition, ax=ax),
            figsize=(8, 3.4),
        )
    )
    if selection is not None:
        pictures.append(
            _picture(
                "selection",
                "How many clusters",
                "The criterion for each number of clusters that was tried; the marked one was chosen.",
                f"Curve of the selection criterion over the number of clusters; {c} was chosen.",
                lambda ax: plots.plot_selection(selection, ax=ax),
                figsize=(6, 3.4),
            )
        )
    if getattr(model, "criterion_trace_", None) is not None:
        pictures.append(
            _picture(
                "trace",
                "How the fit went",
                "The criterion after each iteration. A curve that has become flat has arrived.",
                f"Criterion over {len(model.criterion_trace_)} iterations.",
                lambda ax: plots.plot_trace(model, ax=ax),
                figsize=(6, 3.4),
            )
        )
    return pictures


def telling_columns(partition: CredalPartition, table: np.ndarray) -> tuple[int, int]:
    r"""The two columns that together tell the clusters apart best, in the order of the table.

    Measured by :math:`\operatorname{tr}(T^{-1} B)`, the scatter between clusters relative to the total scatter of the
    two columns, objects weighted by their pignistic probabilities: a second column that repeats the first adds
    nothing. The pairs of the most telling single columns are compared.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition(np.eye(3)[[0, 0, 1, 1, 2, 2]], FocalSets(3, [{0}, {1}, {2}]))
    >>> first = np.array([0, 1, 8, 9, 8, 9])
    >>> telling_columns(partition, np.column_stack([first, 2 * first, [5, 4, 0, 1, 8, 9]]))
    (0, 2)
    """
    known = np.isfinite(table)
    values = np.where(known, table, 0.0)
    centered = np.where(known, values - values.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 0.0)
    norm = np.linalg.norm(centered, axis=0)
    unit = np.divide(centered, norm, out=np.zeros_like(centered), where=norm > 0)
    size = partition.pignistic.sum(axis=0)
    middle = (partition.pignistic.T @ unit) / np.sqrt(np.maximum(size, 1e-12))[:, None]
    alone = (middle**2).sum(axis=0)
    best = np.sort(np.argsort(-np.round(alone, 9), kind="stable")[:CANDIDATES])
    between, correlation = middle[:, best].T @ middle[:, best], unit[:, best].T @ unit[:, best]
    own = np.diag(between)
    together = (own[:, None] + own - 2 * correlation * between) / np.maximum(1 - correlation**2, 1e-3)
    first, second = np.triu_indices(len(best), k=1)
    at = np.round(together[first, second], 9).argmax()
    return int(best[first[at]]), int(best[second[at]])


def _ellipses(ax: Axes, model: Any, table: np.ndarray, columns: tuple[int, int], names: Sequence[str]) -> None:
    from evidentia import plots

    plots.plot_ellipses(model, table, columns=columns, ax=ax)
    ax.set(xlabel=names[columns[0]], ylabel=names[columns[1]])


def _picture(
    name: str,
    title: str,
    caption: str,
    alt: str,
    paint: Callable[[Axes], Any],
    *,
    figsize: tuple[float, float] = (8, 5),
) -> Picture:
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    file = io.BytesIO()
    figure = Figure(figsize=figsize, layout="constrained")
    paint(figure.add_subplot())
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return Picture(name, title, caption, alt, file.getvalue())
