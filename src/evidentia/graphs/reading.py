"""A graph of NetworkX, or a symmetric matrix of weights, as the one thing that all else here reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csgraph, csr_array, issparse

from evidentia._objects import can_have_names, match_names, row_names

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Graph:
    """Weights of the edges, symmetric, and the names of the nodes if they have any.

    Attributes
    ----------
    weights : sparse array of shape (n_nodes, n_nodes)
        Zero on the diagonal: an edge from a node to itself says nothing about whom it belongs with.
    names : tuple of str, optional
    """

    weights: csr_array
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return self.weights.shape[0]

    @property
    def degrees(self) -> np.ndarray:
        """Sum of the weights of the edges of each node."""
        return np.asarray(self.weights.sum(axis=1)).ravel()

    @property
    def edges(self) -> np.ndarray:
        """Both ends of every edge, shape (n_edges, 2), each once."""
        rows, columns = self.weights.nonzero()
        return np.column_stack([rows, columns])[rows < columns]

    def name(self, i: int) -> str:
        """Name of node ``i``, its number when it has none."""
        return str(i) if self.names is None else self.names[i]

    def arrange(self, partition: Any) -> Any:
        """Return a partition or labels of the nodes in their order, joined by the names that both have."""
        if self.names is None or not can_have_names(partition):
            return partition
        at = match_names(self.names, row_names(partition), ("the graph", "the partition"))
        return partition if at is None else partition.iloc[at] if hasattr(partition, "iloc") else partition[at]

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes, {len(self.edges)} edges)"


def read_graph(graph: Any, *, weight: str = "weight", connected: bool = False) -> Graph:
    """A graph, checked.

    Parameters
    ----------
    graph : graph of NetworkX, sparse or dense array of shape (n_nodes, n_nodes), or Graph
        Undirected, with weights that are not negative: how strongly two nodes are connected. Nodes of NetworkX keep
        their names.
    weight : str
        Of NetworkX: the attribute of the edges that is their weight; one where they have none.
    connected : bool
        Whether a graph of several parts is refused.

    Examples
    --------
    >>> read_graph(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
    Graph(3 nodes, 2 edges)
    >>> read_graph(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]), connected=True)
    Traceback (most recent call last):
    ...
    ValueError: The graph has 2 parts that no edge connects, of 2 and 2 nodes (node 2 is not in the largest). ...
    """
    if not isinstance(graph, Graph):
        graph = _from_networkx(graph, weight) if hasattr(graph, "is_directed") else Graph(_from_matrix(graph))
    _check_weights(graph)
    if connected:
        _check_connected(graph)
    return graph


def _from_networkx(graph: Any, weight: str) -> Graph:
    import networkx as nx

    if graph.is_directed():
        raise ValueError(
            "The graph is directed, and communities here are those of undirected edges. Forget the direction first: "
            "graph.to_undirected()."
        )
    if not len(graph):
        raise ValueError("The graph has no nodes.")
    weights = csr_array(nx.to_scipy_sparse_array(graph, weight=weight, dtype=float, format="csr"))
    nodes = list(graph)
    plain = nodes == list(range(len(nodes)))
    return Graph(_without_loops(weights), None if plain else tuple(map(str, nodes)))


def _from_matrix(matrix: Any) -> csr_array:
    try:
        weights = csr_array(matrix if issparse(matrix) else np.asarray(matrix, dtype=float)).astype(float)
    except (ValueError, TypeError) as error:
        raise type(error)(f"A graph is a graph of NetworkX or a square matrix of weights. {error}.") from error
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or not weights.shape[0]:
        raise ValueError(
            f"A graph is a graph of NetworkX or a square matrix of weights. Got an array of shape {weights.shape}."
        )
    skew = (weights - weights.T).tocoo()
    apart = np.flatnonzero(np.abs(skew.data) > 1e-8 * np.abs(weights.data).max(initial=0))
    if len(apart):
        i, j = (int(at[apart[0]]) for at in skew.coords)
        raise ValueError(
            f"The weights are those of a directed graph: [{i}, {j}] = {weights[i, j]:g}, but [{j}, {i}] = "
            f"{weights[j, i]:g}. Forget the direction first, for instance A + A.T."
        )
    return _without_loops(weights)


def _without_loops(weights: csr_array) -> csr_array:
    weights = weights.copy()
    weights.setdiag(0)
    weights.eliminate_zeros()
    return weights


def _check_weights(graph: Graph) -> None:
    values = graph.weights.data
    for wrong, what in ((~np.isfinite(values), "finite"), (values < 0, "not negative")):
        if wrong.any():
            rows, columns = graph.weights.nonzero()
            at = int(wrong.argmax())
            raise ValueError(
                f"The weights of a graph must be {what}, but the edge of {graph.name(rows[at])} and "
                f"{graph.name(columns[at])} has {values[at]:g}. A weight says how strongly two nodes are connected; "
                "leave such edges out, or turn distances round, for instance 1 / (1 + distance)."
            )
    if not len(values):
        raise ValueError("The graph has no edges, so that no node belongs with another.")


def _check_connected(graph: Graph) -> None:
    count, part = csgraph.connected_components(graph.weights, directed=False)
    if count > 1:
        sizes = np.bincount(part)
        largest = np.sort(sizes)[::-1][:SHOWN]
        shown = ", ".join(map(str, largest[:-1])) + f" and {largest[-1]}" if count <= SHOWN else f"{largest[0]} to 1"
        stranger = graph.name(int(np.flatnonzero(part != sizes.argmax())[0]))
        raise ValueError(
            f"The graph has {count} parts that no edge connects, of {shown} nodes (node {stranger} is not in the "
            "largest). Parts are never one community: take each for itself, or the largest only, with NetworkX "
            "graph.subgraph(max(nx.connected_components(graph), key=len))."
        )
