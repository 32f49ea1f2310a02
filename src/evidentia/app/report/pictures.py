"""The pictures of a result, drawn once for the report and for files."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.app.advisor.table_model import TableModel
from evidentia.partition import CredalPartition
from evidentia.partition.profiles import Columns, profile, read_columns
from evidentia.plots.mpl import can_draw, spell_missing_letters
from evidentia.plots.partition import DENSE
from evidentia.plots.table import Plane, choose_plane, fill_missing, principal_plane
from evidentia.verdict.words import is_one_cloud

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 160
SAMPLE = 20_000  # rows by which the plane of a larger table is chosen
CANDIDATES = 20  # columns whose pairs are compared for the scatter plot
CLEARLY = 1.25  # principal components are drawn if they tell the clusters apart so many times as well as two columns
OVERLAPPING = 0.5  # of the most that a plane can tell: below it the picture warns


class Picture(NamedTuple):
    """A drawing as PNG; ``name`` is the stem of its file, ``alt`` says in words what there is to see."""

    name: str
    title: str
    caption: str
    alt: str
    png: bytes


class Shapes(NamedTuple):
    """Attributes that :func:`~evidentia.plots.plot_ellipses` reads from a model, in the units of the table."""

    partition_: CredalPartition
    cluster_centers_: np.ndarray
    covariances_: np.ndarray
    weights_: np.ndarray | None

    @classmethod
    def from_model(cls, table_model: TableModel, partition: CredalPartition) -> Shapes | None:
        """Return the shapes of the clusters, None if the model has none; its weights, if the partition has its sets."""
        centers, covariances = table_model.centers, table_model.covariances
        if centers is None or covariances is None or len(centers) != partition.n_clusters:
            return None
        same = partition.focal_sets == table_model.partition_.focal_sets
        return cls(partition, centers, covariances, getattr(table_model.model, "weights_", None) if same else None)


def draw(
    partition: CredalPartition,
    *,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
) -> list[Picture]:
    """All pictures that what is given allows, in the order a reader wants them.

    Of a result that is no answer, or one cluster, there is nothing to see but how it was found; without matplotlib there
    are none.
    """
    if not can_draw():
        return []
    table_model = model if isinstance(model, TableModel) else TableModel(model)
    model = table_model.model
    pictures = []
    if partition.no_answer is None and partition.n_clusters > 1:
        pictures += _split_pictures(partition)
        if X is not None:
            columns = read_columns(X, feature_names)
            if columns.numeric.any():
                pictures += _scatter_pictures(partition, table_model, columns)
        pictures.append(_mass_picture(partition))
        if getattr(model, "view_weights_", None) is not None:
            pictures += _view_pictures(model)
    return pictures + _search_pictures(partition, model, selection)


def _split_pictures(partition: CredalPartition) -> list[Picture]:
    """The line of the split that is supported least."""
    from evidentia import plots

    verdict = partition.verdict
    if verdict is None or verdict.line is None:
        return []
    return [
        _picture(
            "split",
            "The weakest split",
            "The objects on the line that parts the clusters of the weakest split best, and two densities: two normal "
            "clouds, and the best single cloud. Where the single cloud follows the bars as well, one group describes "
            "these objects.",
            "Bars of the objects on a line between two clusters, and the curves of two clouds and of one cloud.",
            lambda ax: plots.plot_split(verdict, ax=ax),
            figsize=(8, 3.4),
        )
    ]


def _scatter_pictures(partition: CredalPartition, table_model: TableModel, columns: Columns) -> list[Picture]:
    from evidentia import plots

    n, c = len(partition), partition.n_clusters
    numbers = columns.only(columns.numeric)
    view = choose_view(partition, numbers)
    what = "Each object has the color of the set that holds most of its mass."
    if n > DENSE:
        what = "Each cell has the color of the set that most of its objects have, darker where there are more of them."
    parts = is_one_cloud(partition.verdict)
    inside = "inside a part" if parts else "assigned to a cluster"
    around = f"A solid outline surrounds the objects {inside}, a dashed one those possibly in it."
    kind = f"Shaded plot of {n:,}" if n > DENSE else f"Scatter plot of {n:,}"
    found = [
        _picture(
            "partition",
            "The objects and their sets",
            " ".join(part for part in (what, around, view.words) if part),
            f"{kind} objects colored by set of clusters, with outlines of {c} {'parts' if parts else 'clusters'}.",
            lambda ax: plots.plot_partition(
                partition, view.xy, feature_names=view.names, centers=view.centers(table_model.centers), ax=ax
            ),
        )
    ]
    shapes = Shapes.from_model(table_model, partition)
    if view.columns is not None and columns.numeric.all() and shapes is not None:
        at = view.columns
        found.append(
            _picture(
                "ellipses",
                "The shape of the clusters",
                "Ellipses of the fitted model: center and spread of each cluster and, dashed, of sets.",
                f"Covariance ellipses of {c} clusters and of sets of clusters over the objects.",
                lambda ax: _ellipses(ax, shapes, columns.values, at, columns.names),
            )
        )
    return found


def _mass_picture(partition: CredalPartition) -> Picture:
    from evidentia import plots

    doubt = (
        "Columns of one color are objects inside one part of the cloud; colors of sets are objects between parts."
        if is_one_cloud(partition.verdict)
        else "A column in the color of one cluster is certainty; the colors of sets of several clusters are doubt."
    )
    return _picture(
        "masses",
        "Where the mass of each object goes",
        f"One thin column an object: the share of its mass on each set. {doubt}",
        f"Stacked mass profile of {len(partition)} objects over {len(partition.focal_sets)} sets of clusters.",
        lambda ax: plots.plot_masses(partition, ax=ax),
        figsize=(8, 3.4),
    )


def _view_pictures(model: Any) -> list[Picture]:
    """What each of several views counts and says."""
    from evidentia import plots

    names = ", ".join(model.view_names_)
    return [
        _picture(
            "view-weights",
            "How much each view counts",
            "The better a view agrees with the clusters of all, the more it counts.",
            f"Bars of the weights of the views {names}.",
            lambda ax: plots.plot_view_weights(model, ax=ax),
            figsize=(6, 1.2 + 0.4 * len(model.view_names_)),
        ),
        _picture(
            "view-conflict",
            "Where the views disagree",
            "The objects with the largest conflict, and the clusters that are plausible to each view, and to all.",
            f"Marks of the sets that the views {names} give to the objects about which they disagree most.",
            lambda ax: plots.plot_view_conflict(model, ax=ax),
            figsize=(7, 7),
        ),
    ]


def _search_pictures(partition: CredalPartition, model: Any, selection: Any) -> list[Picture]:
    """How many clusters, and how the fit went."""
    from evidentia import plots

    pictures = []
    table = getattr(selection, "table", None)
    if table is not None and table[selection.criterion].notna().any():
        pictures.append(
            _picture(
                "selection",
                "How many clusters",
                "The criterion for each number of clusters that was tried; the marked one was chosen.",
                f"Curve of the selection criterion over the number of clusters; {partition.n_clusters} was chosen.",
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


@dataclass(frozen=True)
class ScatterView:
    """What the picture of the objects shows.

    Attributes
    ----------
    xy : ndarray of shape (n_samples, 2)
        One column only of a table that has no more.
    names : tuple of str
    words : str
        Which columns these are, for the caption.
    columns : tuple of two int or None
        Their numbers; None for principal components, and for a single column.
    plane : Plane or None
    middle : ndarray of shape (n_clusters, n_features)
        Means of the objects assigned to each cluster.
    """

    xy: np.ndarray
    names: tuple[str, ...]
    words: str
    columns: tuple[int, int] | None
    plane: Plane | None
    middle: np.ndarray

    def centers(self, found: Any) -> np.ndarray:
        """Return where the numbers of the clusters stand: the model's centers, or the means of the assigned objects."""
        if isinstance(found, Mapping):  # of several views, whose columns lie side by side
            found = np.hstack(list(found.values()))
        centers = self.middle if found is None else np.asarray(found, dtype=float)
        if centers.shape != self.middle.shape:  # in other columns than those of the table
            centers = self.middle
        return centers if self.plane is None else self.plane.project(centers)


def choose_view(partition: CredalPartition, numbers: Columns) -> ScatterView:
    r"""The two columns that tell the clusters apart best, or principal components if these tell clearly more.

    Planes are compared by :math:`\operatorname{tr}(T^{-1} B)`, the scatter between clusters relative to the total
    one, which is at most two. Columns are preferred, as a reader knows them; principal components are those of the
    table or of its standardized columns, whichever tells more. A large table is judged by a sample of its rows.
    """
    whole, names, parts = numbers.values, numbers.names, is_one_cloud(partition.verdict)
    middle = profile(partition, numbers).means
    if whole.shape[1] == 1:
        return ScatterView(whole, names, "", None, None, middle)
    table = whole
    if len(whole) > SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(len(whole), SAMPLE, replace=False))
        table, partition = whole[some], partition[some]
    columns = telling_columns(partition, table)
    plane = choose_plane(table, names, columns)
    filled = fill_missing(table)
    told = plane_separation(partition, plane.project(filled))
    words = f"Of the {len(names)} columns, these two together tell the clusters apart best." if len(names) > 2 else ""
    if parts and words:
        words = f"Of the {len(names)} columns, the cloud is cut along these two most."
    if len(names) > 2:
        planes = [principal_plane(filled, standardize=scaled) for scaled in (False, True)]
        found = [plane_separation(partition, one.project(filled)) for one in planes]
        at = int(np.argmax(found))
        if found[at] > CLEARLY * told:
            told, plane, share = found[at], planes[at], planes[at].share or 0.0
            shown = f"the first two principal components{' of the standardized columns' * at}"
            words = (
                f"No two of the {len(names)} columns tell the clusters apart as well as {shown}, which are shown: "
                f"{100 * share:.0f} % of the variance."
            )
            if parts:
                words = f"Drawn are {shown}: {100 * share:.0f} % of the variance."
    if not parts and told < OVERLAPPING * min(2, partition.n_clusters - 1):
        words += " Clusters that overlap here can be apart in the other columns." * (len(names) > 2)
    pair = columns if plane.share is None else None
    xy = plane.project(whole if pair else fill_missing(whole))
    return ScatterView(xy, plane.names, words.strip(), pair, plane, middle)


def plane_separation(partition: CredalPartition, xy: np.ndarray) -> float:
    r"""How well a plane tells the clusters apart: :math:`\operatorname{tr}(T^{-1} B)`, from 0 to 2."""
    centered = xy - xy.mean(axis=0)
    width = centered.std(axis=0)
    unit = centered / np.where(width > 0, width, 1.0)
    size = np.maximum(partition.pignistic.sum(axis=0), 1e-12)
    middle = (partition.pignistic.T @ unit) / np.sqrt(size)[:, None]
    return float(np.trace(np.linalg.pinv(unit.T @ unit, rcond=1e-3) @ (middle.T @ middle)))


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


def _ellipses(ax: Axes, shapes: Shapes, table: np.ndarray, columns: tuple[int, int], names: Sequence[str]) -> None:
    from evidentia import plots

    plots.plot_ellipses(shapes, table, columns=columns, ax=ax)
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
    spell_missing_letters(figure)
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return Picture(name, title, caption, alt, file.getvalue())
