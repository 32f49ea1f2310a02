"""A graph, its nodes drawn by the set of communities they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia._parameters import SEED, check_value
from evidentia.graphs import Graph, read_graph
from evidentia.partition import CredalPartition
from evidentia.plots.mpl import count, drawing, legend_columns, new_axes, set_legend
from evidentia.plots.partition import draw_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("ambiguous", "all", None)


class GraphPlotData(NamedTuple):
    """The numbers of :func:`plot_graph`.

    Attributes
    ----------
    xy : ndarray of shape (n_nodes, 2)
    edges : ndarray of shape (n_edges, 2)
        Numbers of the nodes at both ends.
    masks : ndarray of shape (n_nodes,)
        The set of each node.
    ambiguous : ndarray
        Numbers of the nodes that belong to several communities.
    """

    xy: np.ndarray
    edges: np.ndarray
    masks: np.ndarray
    ambiguous: np.ndarray


def graph_plot_data(
    partition: CredalPartition, graph: Any, *, layout: Any = None, weight: str = "weight", random_state: int = 0
) -> GraphPlotData:
    """Places of the nodes, edges and sets, without drawing anything; arguments are those of :func:`plot_graph`.

    Examples
    --------
    >>> from evidentia.belief import FocalSets
    >>> partition = CredalPartition([[1, 0, 0], [0.2, 0.1, 0.7], [0, 1, 0]], FocalSets(2, [{0}, {1}, {0, 1}]))
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> data = graph_plot_data(partition, path, layout=[[0, 0], [1, 1], [2, 0]])
    >>> data.edges.tolist(), data.ambiguous.tolist()
    ([[0, 1], [1, 2]], [1])
    """
    check_value(SEED, random_state, "random_state", "plot_graph")
    found = read_graph(graph, weight=weight)
    partition = found.arrange(partition)
    if len(found) != len(partition):
        raise ValueError(f"The graph has {len(found)} nodes, but the partition has {len(partition)} objects.")
    if layout is None:
        layout = _spring(found, random_state)
    if isinstance(layout, Mapping):  # by node, in the order of the graph
        layout = [layout[node] for node in graph] if hasattr(graph, "is_directed") else list(layout.values())
    xy = np.asarray(layout, dtype=float)
    if xy.shape != (len(found), 2):
        raise ValueError(f"'layout' must hold two numbers for each of {len(found)} nodes. Got shape {xy.shape}.")
    ambiguous = np.flatnonzero(partition.sets().sum(axis=1) > 1)
    return GraphPlotData(xy, found.edges, partition.set_masks, ambiguous)


def _spring(graph: Graph, seed: int) -> list[Any]:
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError(
            "The layout of a graph needs networkx: pip install 'evidentia[graphs]'. Or give 'layout', two numbers for "
            "each node."
        ) from error
    placed = nx.spring_layout(nx.from_scipy_sparse_array(graph.weights), seed=seed, iterations=200)
    return [placed[i] for i in range(len(graph))]


@drawing(":meth:`matplotlib.axes.Axes.scatter` for the nodes", numbers="graph_plot_data")
def plot_graph(
    partition: CredalPartition,
    graph: Any,
    *,
    layout: Any = None,
    names: str | None = "ambiguous",
    weight: str = "weight",
    random_state: int = 0,
    ax: Axes | None = None,
    **scatter: Any,
) -> Axes:
    """Draw a graph, its nodes by their sets; those that belong to several communities are named.

    Parameters
    ----------
    partition : CredalPartition
        Of the nodes, joined with them by their names, or in their order if the nodes have none.
    graph : graph of NetworkX, or symmetric matrix of weights
    layout : dict or array-like of shape (n_nodes, 2), optional
        Places of the nodes; without, NetworkX lets springs pull them together.
    names : {"ambiguous", "all"} or None
        Which nodes have their names beside them.
    weight : str
        Of NetworkX: the attribute of the edges that is their weight.
    random_state : int
        Seed of the layout.
    """
    if names not in NAMES:
        raise ValueError(f"'names' must be one of {', '.join(map(repr, NAMES))}. Got {names!r}.")
    partition = read_graph(graph, weight=weight).arrange(partition)
    data = graph_plot_data(partition, graph, layout=layout, weight=weight, random_state=random_state)
    shown = {**partition.set_counts}
    ax = new_axes(ax, figsize=(5.8 + 0.9 * legend_columns(len(shown)), 5.0))
    from matplotlib.collections import LineCollection

    faint = float(np.clip(60 / max(1, len(data.edges)) ** 0.5, 0.12, 0.8))
    lines = LineCollection(list(data.xy[data.edges]), colors="#8a8a8a", linewidths=0.7, alpha=faint, zorder=1)
    ax.add_collection(lines)
    draw_points(ax, data.xy, data.masks, list(shown), partition.n_clusters, **scatter)
    for i in {"ambiguous": data.ambiguous.tolist(), "all": range(len(partition)), None: ()}[names]:
        ax.annotate(
            partition.name(i), data.xy[i], xytext=(5, 4), textcoords="offset points", fontsize="small", zorder=3,
            parse_math=False,
        )  # fmt: skip
    set_legend(ax, shown, partition.n_clusters, partition.cluster_names, title="nodes by set", number=count)
    ax.set_axis_off()
    return ax
