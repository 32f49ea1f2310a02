"""The picture of a credal partition: every object by its set, and hulls of assigned and of possible members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia._objects import align_objects
from evidentia.partition import CredalPartition
from evidentia.plots.mpl import count, drawing, legend_columns, name_axes, new_axes, set_legend
from evidentia.plots.palette import set_style
from evidentia.plots.styles import point_area
from evidentia.plots.table import Columns, choose_plane, column_names, fill_missing, to_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DENSE", "PartitionPlotData", "density_plot_data", "partition_plot_data", "plot_partition"]

ASSIGNED, POSSIBLE = "-", (0, (4, 2))
HULL_LINES: dict[str | None, dict[str, Any]] = {
    "both": {"assigned to": ASSIGNED, "possibly in": POSSIBLE},
    "lower": {"assigned to": ASSIGNED},
    "upper": {"possibly in": POSSIBLE},
    None: {},
}
MANY = 2000  # points beyond which a vector file would be heavy
DENSE = 20_000  # points beyond which they hide each other, and their number is shown instead
CELLS = (150, 100)  # along x and y
FEW_OUTLIERS = 500  # drawn as crosses over shaded cells
PALEST = 0.3  # strength of color of a cell with one object


class PartitionPlotData(NamedTuple):
    """The numbers of :func:`plot_partition`.

    Attributes
    ----------
    xy : ndarray of shape (n_samples, 2)
    masks : ndarray of shape (n_samples,)
        Set of each object, see :meth:`~evidentia.partition.CredalPartition.sets`.
    lower, upper : list of n_clusters ndarrays of shape (n_corners, 2)
        Corners of the hulls of the objects assigned to and possibly in each cluster; two corners are a segment, one is
        a point, none an empty approximation.
    centers : ndarray of shape (n_clusters, 2) or None
    axis_names : tuple of two str
    """

    xy: np.ndarray
    masks: np.ndarray
    lower: list[np.ndarray]
    upper: list[np.ndarray]
    centers: np.ndarray | None
    axis_names: tuple[str, str]


def partition_plot_data(
    partition: CredalPartition,
    X: Any,
    *,
    columns: Columns = None,
    feature_names: Sequence[str] | None = None,
    centers: Any = None,
) -> PartitionPlotData:
    """Coordinates, sets and hulls of a credal partition, without drawing anything.

    The parameters are those of :func:`plot_partition`.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[1, 0, 0], [0.9, 0, 0.1], [0.2, 0.1, 0.7]], FocalSets(2, [{0}, {1}, {0, 1}]))
    >>> data = partition_plot_data(partition, [[0, 0], [2, 0], [1, 3]])
    >>> data.masks
    array([1, 1, 3])
    >>> [len(corners) for corners in data.lower], [len(corners) for corners in data.upper]
    ([2, 0], [3, 1])
    """
    table = to_table(align_objects(partition, X, ("the partition", "'X'")))
    if len(table) != len(partition):
        raise ValueError(f"'X' must have a row for each of the {len(partition)} objects. Got {len(table)} rows.")
    names = column_names(X, feature_names, table.shape[1])
    middle = None if centers is None else to_table(centers)
    if table.shape[1] == 1 and columns is None:  # one column: height shows how clear the best set is
        table = np.column_stack([table, partition.masses.max(axis=1)])
        names = [*names, "largest mass"]
        middle = None if middle is None else np.column_stack([middle, np.ones(len(middle))])
    if columns == "pca":
        table = fill_missing(table)
    plane = choose_plane(table, names, columns)
    xy, masks = plane.project(table), partition.set_masks
    clusters = range(partition.n_clusters)
    return PartitionPlotData(
        xy=xy,
        masks=masks,
        lower=[convex_hull(xy[masks == 1 << k]) for k in clusters],
        upper=[convex_hull(xy[masks >> k & 1 == 1]) for k in clusters],
        centers=None if middle is None else plane.project(middle),
        axis_names=plane.names,
    )


class DensityPlotData(NamedTuple):
    """Objects counted in the cells of a grid.

    Attributes
    ----------
    counts : ndarray of shape (n_rows, n_columns)
        Objects in each cell, the lowest row first.
    masks : ndarray of shape (n_rows, n_columns)
        The set that most of them have, -1 in an empty cell.
    extent : tuple of four float
        Left, right, bottom and top.
    """

    counts: np.ndarray
    masks: np.ndarray
    extent: tuple[float, float, float, float]


def density_plot_data(xy: np.ndarray, masks: np.ndarray, *, cells: tuple[int, int] = CELLS) -> DensityPlotData:
    """Count objects in the cells of a grid, and find the commonest set in each; a smaller mask wins a tie.

    Examples
    --------
    >>> xy = np.array([[0.0, 0.0], [0.1, 0.1], [0.2, 0.0], [1.0, 1.0]])
    >>> data = density_plot_data(xy, np.array([2, 1, 2, 3]), cells=(2, 2))
    >>> data.counts, data.masks
    (array([[3, 0],
           [0, 1]]), array([[ 2, -1],
           [-1,  3]]))
    """
    there = np.isfinite(xy).all(axis=1)
    xy, masks = xy[there], masks[there]
    low, high = (xy.min(axis=0), xy.max(axis=0)) if len(xy) else (np.zeros(2), np.ones(2))
    span = np.where(high > low, high - low, 1.0)
    at = np.minimum((xy - low) / span * cells, np.array(cells) - 1).astype(int)
    cell = at[:, 1] * cells[0] + at[:, 0]
    known, code = np.unique(masks, return_inverse=True)
    found, sizes = np.unique(cell * max(len(known), 1) + code, return_counts=True)
    counts, common = np.zeros(cells[0] * cells[1], dtype=int), np.full(cells[0] * cells[1], -1, dtype=np.int64)
    where, which = np.divmod(found, max(len(known), 1))
    np.add.at(counts, where, sizes)
    order = np.lexsort([-which, sizes])  # the largest is written last, and of equals the smallest mask
    common[where[order]] = known[which[order]]
    extent = (low[0], low[0] + span[0], low[1], low[1] + span[1])
    shape = cells[::-1]
    return DensityPlotData(counts.reshape(shape), common.reshape(shape), extent)


@drawing(":meth:`matplotlib.axes.Axes.scatter`, for instance ``s=30, alpha=0.5``", numbers="partition_plot_data")
def plot_partition(
    partition: CredalPartition,
    X: Any,
    *,
    columns: Columns = None,
    hulls: str | None = "both",
    feature_names: Sequence[str] | None = None,
    centers: Any = None,
    density: bool | None = None,
    ax: Axes | None = None,
    **scatter: Any,
) -> Axes:
    """Draw the objects by their sets, with hulls of the assigned and of the possible members.

    A filled hull with a solid outline holds the lower approximation of a cluster (who is assigned to it), a dashed one
    the upper approximation (who may be in it). The legend counts the objects of each set.

    Parameters
    ----------
    partition : CredalPartition
    X : array-like of shape (n_samples, n_features)
        The table that was clustered. An object with a missing coordinate is not drawn.
    columns : pair of int or str, "pca", optional
        Which columns to draw, by number or by name; ``"pca"`` draws the first two principal components (a missing
        entry then counts as the mean of its column). Without it, the first two columns; a table with one column is
        drawn against the largest mass.
    hulls : {"both", "lower", "upper"} or None
    feature_names : sequence of str, optional
        Names of the columns, when X is not a DataFrame.
    centers : array-like of shape (n_clusters, n_features), optional
        For instance ``model.cluster_centers_``; each is marked and numbered.
    density : bool, optional
        Shade small cells, in the color of the set that most of their objects have, the darker the more objects there
        are, instead of drawing points that hide each other. Without it, above 20,000 objects, unless keywords other
        than ``alpha`` ask for points of a certain look.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[1, 0, 0], [0.9, 0, 0.1], [0.2, 0.1, 0.7]], FocalSets(2, [{0}, {1}, {0, 1}]))
    >>> ax = plot_partition(partition, [[0, 0], [2, 0], [1, 3]], feature_names=["height", "weight"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('height', 'weight')
    """
    if hulls not in HULL_LINES:
        raise ValueError(f"'hulls' must be one of {', '.join(map(repr, HULL_LINES))}. Got {hulls!r}.")
    data = partition_plot_data(partition, X, columns=columns, feature_names=feature_names, centers=centers)
    shown = {**partition.set_counts}
    if 0 in shown:  # outliers last
        shown[0] = shown.pop(0)
    ax = new_axes(ax, figsize=(5.8 + 0.9 * legend_columns(len(shown)), 4.8))
    for k in range(partition.n_clusters):
        if hulls in ("both", "upper"):
            _draw_hull(ax, data.upper[k], set_style(1 << k, partition.n_clusters).color, assigned=False)
        if hulls in ("both", "lower"):
            _draw_hull(ax, data.lower[k], set_style(1 << k, partition.n_clusters).color, assigned=True)
    shades = None
    if _wants_density(density, len(partition), scatter):
        shades = _draw_density(ax, data, partition.n_clusters, **scatter)
    else:
        draw_points(ax, data.xy, data.masks, list(shown), partition.n_clusters, **scatter)
    if data.centers is not None:
        _draw_centers(ax, data.centers)
    set_legend(
        ax,
        shown,
        partition.n_clusters,
        partition.cluster_names,
        title="objects by set",
        number=count,
        lines=HULL_LINES[hulls],
        shades=shades,
    )
    name_axes(ax, data.axis_names)
    return ax


def _wants_density(density: bool | None, n_objects: int, scatter: Mapping[str, Any]) -> bool:
    look = sorted(set(scatter) - {"alpha"})
    if density and look:
        raise ValueError(f"density=True draws no points, which {look[0]!r} is about. Leave one of them out.")
    return bool(density) if density is not None else n_objects > DENSE and not look


def _draw_density(ax: Axes, data: PartitionPlotData, n_clusters: int, *, alpha: float = 1.0) -> dict[str, str]:
    """Shaded cells, and a few outliers as crosses; what the palest and the darkest shade stand for."""
    outliers = data.masks == 0
    crosses = outliers & (outliers.sum() <= FEW_OUTLIERS)
    found = density_plot_data(data.xy[~crosses], data.masks[~crosses])
    most = max(int(found.counts.max(initial=0)), 1)
    strength = PALEST + (1 - PALEST) * np.log(np.maximum(found.counts, 1)) / max(np.log(most), 1e-9)
    image = np.ones((*found.counts.shape, 4))
    image[..., 3] = np.where(found.counts > 0, alpha, 0.0)
    for mask in np.unique(found.masks[found.masks >= 0]).tolist():
        here = found.masks == mask
        color = np.array([int(set_style(mask, n_clusters).color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
        image[here, :3] = 1 - strength[here, None] * (1 - color)
    limits = [(low - 0.02 * (high - low), high + 0.02 * (high - low)) for low, high in np.reshape(found.extent, (2, 2))]
    ax.imshow(image, origin="lower", extent=found.extent, aspect="auto", interpolation="nearest", zorder=2.5)
    draw_points(ax, data.xy[crosses], data.masks[crosses], [0], n_clusters)
    if not crosses.any():  # an image leaves no margin
        ax.set(xlim=limits[0], ylim=limits[1])
    else:
        ax.autoscale()
    gray = f"#{round(255 * (1 - PALEST * 0.6)):02x}"
    return {"1 object in a cell": f"{gray}{gray[1:] * 2}", f"{most:,} objects in a cell": "#666666"}


def draw_points(
    ax: Axes, xy: np.ndarray, masks: np.ndarray, shown: Sequence[int], n_clusters: int, **scatter: Any
) -> None:
    """One scatter for each set, in the order given, so that the last lie on top."""
    size = point_area(len(xy))
    for mask in shown:
        style = set_style(mask, n_clusters)
        look: dict[str, Any] = {"s": size, "marker": style.marker, "color": style.color, "zorder": 2.5}
        look["rasterized"] = len(xy) > MANY
        if mask == 0:
            look["linewidths"] = 1.2
        elif len(xy) <= MANY:  # around the smallest points an outline would hide the color
            outline = style.edge if mask.bit_count() > 1 else "white"
            look.update(edgecolors=outline, linewidths=size**0.5 / 10)
        else:
            look["linewidths"] = 0
        ax.scatter(*xy[masks == mask].T, **{**look, **scatter})


def _draw_hull(ax: Axes, corners: np.ndarray, color: str, *, assigned: bool) -> None:
    from matplotlib.patches import Polygon

    line: dict[str, Any] = {"lw": 1.3, "ls": ASSIGNED, "zorder": 1.6}
    if not assigned:
        line = {"lw": 1.1, "ls": POSSIBLE, "alpha": 0.8, "zorder": 1.5}
    if len(corners) >= 3:
        ax.add_patch(Polygon(corners, closed=True, fill=False, ec=color, **line))
        if assigned:
            ax.add_patch(Polygon(corners, closed=True, fc=color, alpha=0.12, lw=0, zorder=1.4))
    elif len(corners) == 2:
        ax.plot(*corners.T, color=color, **line)
    elif len(corners) == 1:
        ax.plot(*corners.T, marker="o", ms=11, mfc="none", mec=color, mew=line["lw"], zorder=line["zorder"])


def _draw_centers(ax: Axes, centers: np.ndarray) -> None:
    """The number of each cluster, in a ring of its color."""
    for k, at in enumerate(centers):
        ring = {"boxstyle": "circle,pad=0.2", "fc": "white", "ec": set_style(1 << k, len(centers)).color, "lw": 1.8}
        ax.annotate(str(k), at, ha="center", va="center", fontsize="small", weight="bold", bbox=ring, zorder=3)


FLAT = 1e-9  # a cloud thinner than this share of its length is a line: rounding, not width
MANY = 1000  # points from which those well inside are left out first


def convex_hull(xy: np.ndarray) -> np.ndarray:
    """Corners of the convex hull in counter-clockwise order, shape (n_corners, 2).

    No corner without points, one for a single place, the two ends when all points lie on a line. Rows with NaN are left
    out.

    Examples
    --------
    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 0.5], [2, 2], [0, 2]])).shape
    (4, 2)
    >>> convex_hull(np.array([[0.0, 0.0], [3.0, 3.0], [1.0, 1.0]]))
    array([[0., 0.],
           [3., 3.]])
    """
    from scipy.spatial import ConvexHull

    xy = np.unique(_outer(xy[~np.isnan(xy).any(axis=1)]), axis=0)
    if len(xy) <= 2:
        return xy
    # A hull does not depend on units, but the test for a line does: both columns to the same length first.
    span = np.ptp(xy, axis=0)
    unit = (xy - xy.mean(axis=0)) / np.where(span > 0, span, 1)
    _, length, direction = np.linalg.svd(unit, full_matrices=False)
    if length[1] <= FLAT * length[0]:
        along = unit @ direction[0]
        ends = np.sort([along.argmin(), along.argmax()])
        return xy[ends]
    return xy[ConvexHull(unit).vertices]


def _outer(xy: np.ndarray) -> np.ndarray:
    """The points that may be corners: those not inside the octagon of the points farthest in eight directions."""
    if len(xy) <= MANY:
        return xy
    span = np.ptp(xy, axis=0)
    unit = (xy / np.where(span > 0, span, 1)).T
    angle = np.arange(8) * np.pi / 4
    corners = np.unique((np.column_stack([np.cos(angle), np.sin(angle)]) @ unit).argmax(axis=1))
    around = unit[:, corners] - unit[:, corners].mean(axis=1, keepdims=True)
    start = unit[:, corners[np.argsort(np.arctan2(around[1], around[0]))]]
    edges = np.roll(start, -1, axis=1) - start
    inside = np.ones(len(xy), dtype=bool)
    for (x, y), (dx, dy) in zip(start.T, edges.T):
        inside &= dx * (unit[1] - y) - dy * (unit[0] - x) > 0
    return xy[~inside]
