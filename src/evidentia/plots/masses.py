"""The mass profile: how much of each object's mass goes to which set of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.partition import CredalPartition
from evidentia.plots.mpl import drawing, legend_columns, new_axes, percent, set_legend
from evidentia.plots.palette import set_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDERS = ("cluster", "doubt", "given")
NAMED_BARS = 40  # bars that still have room for a name below
LETTERS = 90  # small letters that fit below a picture of the usual width
BINS = 1500  # more columns than a page has dots
VISIBLE = 0.005  # a set that never holds more mass than this would be a hairline


class MassPlotData(NamedTuple):
    """The numbers of :func:`plot_masses`.

    Attributes
    ----------
    objects : ndarray of shape (n_shown,)
        Objects from left to right.
    groups : ndarray of shape (n_shown,)
        Their most plausible cluster, -1 for an outlier.
    masks : ndarray of shape (n_stacked,)
        Sets from bottom to top: single clusters, larger sets, the empty set; those without visible mass are left out.
    masses : ndarray of shape (n_shown, n_stacked)
    """

    objects: np.ndarray
    groups: np.ndarray
    masks: np.ndarray
    masses: np.ndarray


def mass_plot_data(
    partition: CredalPartition, *, objects: Sequence[Any] | np.ndarray | None = None, order: str | None = None
) -> MassPlotData:
    """Masses in the order they are stacked, without drawing anything.

    The parameters are those of :func:`plot_masses`.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[0.1, 0.5, 0.4], [0, 0.2, 0.8], [0, 1, 0]], FocalSets(2, [set(), {0}, {1}]))
    >>> data = mass_plot_data(partition)
    >>> data.objects, data.masks
    (array([2, 0, 1]), array([1, 2, 0]))
    >>> data.masses[1]
    array([0.5, 0.4, 0.1])
    """
    chosen = _choose_objects(partition, objects)
    order = order or ("cluster" if objects is None else "given")
    if order not in ORDERS:
        raise ValueError(f"'order' must be one of {', '.join(map(repr, ORDERS))}. Got {order!r}.")
    masks = partition.set_masks[chosen]
    groups = np.where(masks == 0, -1, partition.labels()[chosen])
    # Rounded, so that ties keep the order of the table instead of the order of their last bits.
    doubt = np.round(1 - partition.singleton_belief.max(axis=1)[chosen], 9)
    if order != "given":
        several = masks & (masks - 1) != 0  # more than one bit
        keys = [doubt] if order == "doubt" else [doubt, masks, several, groups, groups < 0]
        moved = np.lexsort(keys)
        chosen, groups = chosen[moved], groups[moved]
    focal_sets = partition.focal_sets
    stack = np.lexsort([focal_sets.masks, focal_sets.card, focal_sets.card == 0])
    masses = partition.masses[np.ix_(chosen, stack)]
    seen = masses.max(axis=0, initial=0) > VISIBLE
    return MassPlotData(chosen, groups, focal_sets.masks[stack][seen], masses[:, seen])


@drawing(":meth:`matplotlib.axes.Axes.bar`, or ``fill_between`` for an area", numbers="mass_plot_data")
def plot_masses(
    partition: CredalPartition,
    *,
    objects: Sequence[Any] | np.ndarray | None = None,
    order: str | None = None,
    ax: Axes | None = None,
    **bars: Any,
) -> Axes:
    """Draw the mass function of each object as a stacked bar, focal sets colored as in :func:`plot_partition`.

    Few objects get a named bar each. Many become one area, grouped by most plausible cluster, outliers last; inside
    a cluster the assigned objects come first, then those of each larger set, and the less doubtful before the more
    doubtful. The legend says how much of all the mass drawn each set holds.

    Parameters
    ----------
    partition : CredalPartition
    objects : sequence of int or of object names, or bool array, optional
        The objects to draw; without it all of them.
    order : {"cluster", "doubt", "given"}, optional
        From left to right: by cluster as told above, by doubt alone (one minus the largest belief in a single
        cluster), or as given. Without it ``"cluster"`` for all objects, ``"given"`` for chosen ones.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> masses = [[0.1, 0.5, 0.4], [0, 0.2, 0.8], [0, 1, 0]]
    >>> partition = CredalPartition(masses, FocalSets(2, [set(), {0}, {1}]), object_names=["Ann", "Bo", "Cy"])
    >>> ax = plot_masses(partition, objects=["Cy", "Ann"])
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['Cy', 'Ann']
    """
    data = mass_plot_data(partition, objects=objects, order=order)
    ax = new_axes(ax, figsize=(7 + legend_columns(len(data.masks)), 3.8))
    if len(data.objects) <= NAMED_BARS:
        _draw_bars(ax, data, partition, bars)
    else:
        _draw_area(ax, data, partition, bars)
    ax.set(ylim=(0, 1), ylabel="mass")
    ax.spines[["top", "right"]].set_visible(False)
    share = data.masses.mean(axis=0) if len(data.objects) else np.zeros(len(data.masks))
    weights = dict(zip(data.masks.tolist(), share.tolist()))
    set_legend(
        ax, weights, partition.n_clusters, partition.cluster_names, title="mass by set", number=percent, patches=True
    )
    return ax


def average_neighbors(masses: np.ndarray, n_bins: int) -> np.ndarray:
    """Means of runs of consecutive rows, as equally long as they can be; all rows when they are fewer than the bins.

    Examples
    --------
    >>> average_neighbors(np.array([[1.0], [3.0], [5.0], [5.0]]), 2)
    array([[2.],
           [5.]])
    """
    if len(masses) <= n_bins:
        return masses
    starts = np.arange(n_bins) * len(masses) // n_bins
    return np.add.reduceat(masses, starts) / np.diff(starts, append=len(masses))[:, None]


def _choose_objects(partition: CredalPartition, objects: Sequence[Any] | np.ndarray | None) -> np.ndarray:
    """Indices of objects given as indices, names or a mask."""
    everyone = np.arange(len(partition))
    if objects is None:
        return everyone
    wanted = np.asarray(objects)
    if wanted.dtype.kind in "US":
        known = {name: i for i, name in enumerate(partition.object_names or ())}
        strangers = [name for name in wanted.tolist() if name not in known]
        if strangers:
            raise ValueError(f"The partition has no object named {strangers[0]!r}.")
        return np.array([known[name] for name in wanted.tolist()])
    try:
        return everyone[wanted.astype(int) if wanted.size == 0 else wanted]
    except IndexError as error:
        raise ValueError(f"'objects' must be indices below {len(partition)}, names or a mask: {error}.") from error


def _draw_bars(ax: Axes, data: MassPlotData, partition: CredalPartition, bars: dict[str, Any]) -> None:
    x = np.arange(len(data.objects))
    base = np.zeros(len(x))
    for mask, height in zip(data.masks.tolist(), data.masses.T):
        look = {"color": set_style(mask, partition.n_clusters).color, "width": 0.8}
        ax.bar(x, height, bottom=base, **{**look, **bars})
        base = base + height
    names = [partition.name(i) for i in data.objects.tolist()]
    crowded = (len(x) + 1) * max(map(len, names), default=0) > LETTERS
    ax.set_xticks(x, names, rotation=90 if crowded else 0, fontsize="small", parse_math=False)
    ax.tick_params(axis="x", length=0)
    ax.set(xlim=(-0.6, len(x) - 0.4), xlabel="object")


def _draw_area(ax: Axes, data: MassPlotData, partition: CredalPartition, bars: dict[str, Any]) -> None:
    n = len(data.objects)
    heights = average_neighbors(data.masses, BINS)
    edges = np.linspace(0, n, len(heights) + 1)
    tops = np.vstack([np.zeros(len(heights)), heights.cumsum(axis=1).T])
    tops = np.hstack([tops, tops[:, -1:]])  # step="post" wants the last height twice
    for mask, low, high in zip(data.masks.tolist(), tops[:-1], tops[1:]):
        look = {"color": set_style(mask, partition.n_clusters).color, "lw": 0, "step": "post"}
        ax.fill_between(edges, low, high, **{**look, **bars})
    ax.set_xlim(0, n)
    last = len(np.unique(data.groups)) - 1
    if np.count_nonzero(np.diff(data.groups)) == last:  # each group is one run, whatever order led to it
        _mark_groups(ax, data.groups, partition.cluster_names)
        ax.set_xlabel("objects by most plausible cluster")
    else:
        ax.set_xlabel("objects")


def _mark_groups(ax: Axes, groups: np.ndarray, cluster_names: Sequence[str] | None) -> None:
    """Name each group of objects below it, and part the groups by white lines."""
    starts = np.flatnonzero(np.diff(groups, prepend=-2))
    ends = np.append(starts[1:], len(groups))
    names = ["∅" if k < 0 else str(k) if cluster_names is None else cluster_names[k] for k in groups[starts].tolist()]
    slanted = sum(map(len, names)) > LETTERS / 2
    centers = (starts + ends) / 2
    lengths = np.array([2 if slanted else len(name) + 1 for name in names])
    shown = fitting_labels(centers / len(groups) * LETTERS, lengths)
    ax.vlines(starts[1:], 0, 1, color="white", lw=0.8)
    turn: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    ax.set_xticks(centers[shown], [names[at] for at in shown], fontsize="small", **turn)
    ax.tick_params(axis="x", length=0)


def fitting_labels(centers: np.ndarray, lengths: np.ndarray) -> list[int]:
    """Which labels to write so that none runs into the one before it.

    Examples
    --------
    >>> fitting_labels(np.array([1.0, 2.0, 6.0]), np.array([2, 3, 4]))
    [0, 2]
    """
    shown, end = [], -np.inf
    for at, (center, length) in enumerate(zip(centers.tolist(), lengths.tolist())):
        if center - length / 2 >= end:
            shown.append(at)
            end = center + length / 2
    return shown
