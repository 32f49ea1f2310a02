"""Trees: the dendrogram of a hierarchy, by belief or by distance, and where to cut it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.plots.mpl import drawing, legend_beside, new_axes, whole_steps
from evidentia.plots.palette import HUES, set_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evidentia.hierarchy import BeliefHierarchical

NAMED_LEAVES = 40  # leaves that still have room for a name below
MARKED_LEAVES = 300  # leaves that still have room for a mark
MIXED = "#5f5f5f"


class DendrogramPlotData(NamedTuple):
    """The numbers of :func:`plot_dendrogram`.

    Attributes
    ----------
    leaves : ndarray of shape (n_leaves,)
        Leaves from left to right; the first stands at x = 0, the next at 1.
    x, y : ndarray of shape (n_leaves - 1, 4)
        Corners of the bracket of each merge: foot, shoulder, shoulder, foot.
    clusters : ndarray of shape (n_leaves - 1,)
        Cluster that the merge is inside of, -1 above the cut.
    """

    leaves: np.ndarray
    x: np.ndarray
    y: np.ndarray
    clusters: np.ndarray


def dendrogram_plot_data(linkage: np.ndarray, clusters: Sequence[int] | np.ndarray) -> DendrogramPlotData:
    """Corners of all brackets, without drawing anything.

    Parameters
    ----------
    linkage : ndarray of shape (n_leaves - 1, 4)
        A tree as SciPy has it.
    clusters : array-like of shape (n_leaves,)
        Cluster of each leaf.

    Examples
    --------
    >>> data = dendrogram_plot_data(np.array([[0, 2, 1.0, 2], [1, 3, 4.0, 3]]), [0, 1, 0])
    >>> data.leaves, data.clusters
    (array([1, 0, 2]), array([ 0, -1]))
    >>> data.x[1], data.y[1]
    (array([0. , 0. , 1.5, 1.5]), array([0., 4., 4., 1.]))
    """
    n = len(linkage) + 1
    pairs = linkage[:, :2].astype(int)
    leaves, waiting = [], [2 * n - 2]
    while waiting:  # a stack, not recursion: a chain of ten thousand merges is as deep
        node = waiting.pop()
        if node < n:
            leaves.append(node)
        else:
            waiting.extend(pairs[node - n, ::-1].tolist())
    place, height, cluster = np.zeros(2 * n - 1), np.zeros(2 * n - 1), np.full(2 * n - 1, -1)
    place[leaves] = np.arange(n)
    height[n:] = linkage[:, 2]
    cluster[:n] = clusters
    for t, (a, b) in enumerate(pairs):
        place[n + t] = (place[a] + place[b]) / 2
        cluster[n + t] = cluster[a] if cluster[a] == cluster[b] else -1
    left, right = pairs.T
    x = np.column_stack([place[left], place[left], place[right], place[right]])
    y = np.column_stack([height[left], linkage[:, 2], linkage[:, 2], height[right]])
    return DendrogramPlotData(np.array(leaves), x, y, cluster[n:])


@drawing(":class:`matplotlib.collections.LineCollection`", numbers="dendrogram_plot_data")
def plot_dendrogram(
    model: BeliefHierarchical,
    *,
    tree: str | np.ndarray = "belief",
    n_clusters: int | str | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    **lines: Any,
) -> Axes:
    """Draw the tree of a belief hierarchy, its clusters colored and its outliers marked.

    Parameters
    ----------
    model : fitted BeliefHierarchical
    tree : {"belief", "classical"} or ndarray
        Heights by the BetP index, SciPy's tree of the same leaves by distance, or any other SciPy tree of them. Colors
        are those of the belief clusters in either.
    n_clusters : int or "auto", optional
        The cut to color; without it that of ``labels_``.
    names : sequence of str, optional
        Names of the leaves.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    labels = model.labels_ if n_clusters is None else model.cut(n_clusters)
    n_shown = int(labels.max()) + 1
    partition = model.partition_ if n_clusters is None else model.partition(n_shown)
    n = len(model.linkage_) + 1
    clusters, lost = np.zeros(n, dtype=int), np.ones(n, dtype=bool)
    clusters[model.groups_] = labels
    lost[np.delete(model.groups_, partition.outliers())] = False  # a leaf none of whose objects fits anywhere
    known = {"belief": model.linkage_, "classical": None}
    if isinstance(tree, str) and tree not in known:
        raise ValueError(f"'tree' must be 'belief', 'classical' or a linkage matrix. Got {tree!r}.")
    chosen = (
        np.asarray(tree) if not isinstance(tree, str) else model.linkage_ if tree == "belief" else model.classical()
    )
    data = dendrogram_plot_data(chosen, clusters)

    ax = new_axes(ax, figsize=(7.5, 4))
    colors = [MIXED if k < 0 else HUES[k % len(HUES)] for k in data.clusters.tolist()]
    brackets = np.stack([data.x, data.y], axis=2)
    ax.add_collection(LineCollection(list(brackets), **{"colors": colors, "linewidths": 1.3, **lines}))
    top = data.y.max()
    ax.set(xlim=(-0.7, n - 0.3), ylim=(-0.03 * top, 1.05 * top))
    _mark_leaves(ax, data.leaves, clusters, lost, n_shown, names)
    ylabel = "BetP index (largest so far)" if isinstance(tree, str) and tree == "belief" else "distance"
    ax.set(ylabel=ylabel, xlabel="group" if n < len(labels) else "object")
    ax.spines[["top", "right"]].set_visible(False)
    counts = np.bincount(labels, minlength=n_shown)
    shown = range(min(n_shown, 16))
    handles = [Line2D([], [], color=HUES[k % len(HUES)], lw=2) for k in shown]
    words = [f"{{{k}}}  {counts[k]:,}" for k in shown]
    if lost.any():
        handles.append(Line2D([], [], ls="", marker="x", color="#111111"))
        words.append("∅ (outlier)")
    legend_beside(ax, handles, words, title="objects by cluster")
    return ax


def _mark_leaves(
    ax: Axes, leaves: np.ndarray, clusters: np.ndarray, lost: np.ndarray, n_clusters: int, names: Sequence[str] | None
) -> None:
    """A mark and a name for each leaf, as far as there is room."""
    n = len(leaves)
    if n <= MARKED_LEAVES:
        size = 28 if n <= NAMED_LEAVES else 10
        for at, leaf in enumerate(leaves.tolist()):
            mask = 0 if lost[leaf] else 1 << int(clusters[leaf])
            style = set_style(mask, max(n_clusters, 2))
            ax.scatter(at, 0, s=size, c=style.color, marker=style.marker, zorder=3, clip_on=False)
    if n <= NAMED_LEAVES:
        written = [str(leaf) if names is None else names[leaf] for leaf in leaves.tolist()]
        ax.set_xticks(np.arange(n), written, fontsize="small", rotation=90 if max(map(len, written)) > 3 else 0)
        ax.tick_params(axis="x", length=0)
    else:
        ax.set_xticks([])


@drawing(":meth:`matplotlib.axes.Axes.plot`")
def plot_cut_scores(model: BeliefHierarchical, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw how well the cuts of a tree predict which objects are similar, by number of clusters; the best is marked.

    Parameters
    ----------
    model : fitted BeliefHierarchical
    """
    ax = new_axes(ax, figsize=(6, 3.6))
    numbers, scores = model.cut_scores_.T
    ax.plot(numbers, scores, **{"color": HUES[0], "marker": "o", "ms": 5, "lw": 1.5, "label": "cut", **line})
    if len(scores) and scores.max() > 0:
        best = int(scores.argmax())
        mark: dict[str, Any] = {"ls": "", "marker": "o", "ms": 13, "mfc": "none", "mec": "black", "mew": 1.5}
        ax.plot(numbers[best], scores[best], label=f"best: {int(numbers[best])} clusters", **mark)
    ax.set(xlabel="number of clusters", ylabel="correlation of cluster and similarity")
    whole_steps(ax)
    ax.margins(x=0.08, y=0.12)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax
