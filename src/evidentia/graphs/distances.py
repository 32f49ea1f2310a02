"""How unlike two nodes of a graph are: as far as methods on dissimilarities need to know a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csgraph, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, eigsh

from evidentia.graphs.reading import Graph, read_graph
from evidentia.solvers.memory import refuse_beyond_memory

KINDS = ("spectral", "walk", "shortest-path")
DENSE = 500  # nodes up to which all eigenvectors are computed: it is quicker
STEPS = 4
COPIES = 3


def leading_vectors(graph: Graph, count: int) -> np.ndarray:
    r"""Nodes in the space of the leading eigenvectors, each times its eigenvalue, shape (n_nodes, count).

    Of :math:`D_\tau^{-1/2} (A + \tau / n) D_\tau^{-1/2}` with :math:`\tau` the mean degree: a faint edge between any
    two nodes keeps nodes of few edges from having an eigenvector of their own [1]_.

    References
    ----------
    .. [1] A. Amini, A. Chen, P. Bickel, E. Levina. Pseudo-likelihood methods for community detection in large sparse
       networks. Annals of Statistics 41(4):2097-2122, 2013.
    """
    n, degrees = len(graph), graph.degrees
    tau = degrees.mean()
    scale = 1 / np.sqrt(degrees + tau)
    weights = diags_array(scale) @ graph.weights @ diags_array(scale)
    if n <= max(DENSE, 2 * count):
        values, vectors = np.linalg.eigh(weights.toarray() + tau / n * np.outer(scale, scale))
    else:
        operator = LinearOperator((n, n), matvec=lambda x: weights @ x + tau / n * scale * (scale @ x), dtype=float)
        values, vectors = eigsh(operator, k=count, which="LA", v0=np.sqrt(degrees))
    order = np.argsort(-values, kind="stable")[:count]
    return vectors[:, order] * values[order]


def angles(rows: np.ndarray) -> np.ndarray:
    """One minus the cosine of the angle between any two rows, (n, n); a row of zeros is at right angles to all."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)
    found = np.clip(1 - rows @ rows.T, 0, 2)
    np.fill_diagonal(found, 0)
    return (found + found.T) / 2


def walk_rows(graph: Graph, steps: int) -> np.ndarray:
    r"""Where walks of so many steps from each node end, against where any walk ends, shape (n_nodes, n_nodes).

    :math:`(P^t_{ij} - \pi_j) / \sqrt{\pi_j}` for walks that may stay at a node, with :math:`\pi` where they end in the
    long run.
    """
    weights = graph.weights + diags_array(np.ones(len(graph)))
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    step = csr_array(diags_array(1 / degrees) @ weights)
    ends = step.toarray()
    for _ in range(steps - 1):
        ends = step @ ends
    rest = degrees / degrees.sum()
    return (ends - rest) / np.sqrt(rest)


def shortest_paths(graph: Graph) -> np.ndarray:
    """Length of the shortest path, a strong edge being a short one: 1 / weight."""
    lengths = graph.weights.copy()
    lengths.data = 1 / lengths.data
    return csgraph.shortest_path(lengths, directed=False)


def between_nodes(graph: Graph, kind: str, *, n_components: int | None = None, steps: int = STEPS) -> np.ndarray:
    """Dissimilarities of all nodes of a connected graph."""
    refuse_beyond_memory(
        8 * COPIES * len(graph) ** 2, f"All pairs of {len(graph):,} nodes", "Take a part of the graph."
    )
    if kind == "walk":
        return angles(walk_rows(graph, steps))
    if kind == "shortest-path":
        return shortest_paths(graph)
    if kind != "spectral":
        raise ValueError(f"The 'kind' of dissimilarity must be one of {', '.join(map(repr, KINDS))}. Got {kind!r}.")
    if n_components is None or not 1 <= n_components <= len(graph):
        raise ValueError(
            "kind='spectral' needs 'n_components', as many as there are communities, from 1 to the number of nodes. "
            f"Got {n_components!r}."
        )
    return angles(leading_vectors(graph, n_components))


def graph_dissimilarities(
    graph: Any, kind: str = "walk", *, n_components: int | None = None, steps: int = STEPS, weight: str = "weight"
) -> Any:
    """How unlike any two nodes are, for methods with ``metric="precomputed"``.

    Parameters
    ----------
    graph : graph of NetworkX, or symmetric matrix of weights
        Connected.
    kind : {"walk", "spectral", "shortest-path"}
        ``"walk"``: one minus the correlation of where short walks from both nodes end. ``"spectral"``: one minus the
        cosine in the space of the leading ``n_components`` eigenvectors of the normalized weights; it tells communities
        best, if their number is known (:func:`communities` tries several). ``"shortest-path"``: the length of the
        shortest path, which has few values in graphs where everybody knows everybody by a few steps.
    n_components : int, optional
        For ``"spectral"``: as many as there are communities.
    steps : int
        For ``"walk"``.
    weight : str
        Of NetworkX: the attribute of the edges that is their weight.

    Returns
    -------
    DataFrame or ndarray of shape (n_nodes, n_nodes)
        A DataFrame where nodes have names.

    Examples
    --------
    >>> import networkx as nx
    >>> graph_dissimilarities(nx.path_graph(3), "shortest-path")
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    found = read_graph(graph, weight=weight, connected=True)
    values = between_nodes(found, kind, n_components=n_components, steps=steps)
    return values if found.names is None else pd.DataFrame(values, index=found.names, columns=found.names)
