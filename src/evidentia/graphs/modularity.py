"""Modularity of a partition whose nodes may belong to several communities."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia.graphs.reading import Graph, read_graph
from evidentia.partition import CredalPartition


def modularity_of(graph: Graph, shares: np.ndarray) -> float:
    r"""Of memberships, shape (n_nodes, n_communities): :math:`\frac{1}{2m} \sum_k (u_k^T A u_k - (d^T u_k)^2 / 2m)`."""
    degrees = graph.degrees
    total = float(degrees.sum())
    inside = float((shares * (graph.weights @ shares)).sum())
    return (inside - float(np.square(degrees @ shares).sum()) / total) / total


def modularity(graph: Any, partition: Any, *, view: str = "pignistic", weight: str = "weight") -> float:
    r"""How much more of the edges lies within communities than chance would put there.

    .. math:: Q = \frac{1}{2m} \sum_{ij} \Big( A_{ij} - \frac{d_i d_j}{2m} \Big)\, u_i \cdot u_j

    with :math:`u_i` the probabilities of the communities for node i: the usual form for communities that overlap [1]_.
    Of labels it is Newman's modularity. (MECM's article has an evidential modularity of its own, which this is not.)

    Parameters
    ----------
    graph : graph of NetworkX, or symmetric matrix of weights
    partition : CredalPartition, or array of labels of shape (n_nodes,)
        Joined with the nodes by their names, where both have names.
    view : {"pignistic", "plausibility"}
        Which probabilities a partition gives.
    weight : str
        Of NetworkX: the attribute of the edges that is their weight.

    References
    ----------
    .. [1] T. Nepusz, A. Petróczi, L. Négyessy, F. Bazsó. Fuzzy communities and the concept of bridgeness in complex
       networks. Physical Review E 77, 016107, 2008.

    Examples
    --------
    Two triangles and an edge between them: of 7 edges 6 are within, and chance would have half of them there.

    >>> import networkx as nx
    >>> modularity(nx.barbell_graph(3, 0), [0, 0, 0, 1, 1, 1])     # 6/7 - 1/2
    0.357...
    """
    found = read_graph(graph, weight=weight)
    partition = found.arrange(partition)
    if isinstance(partition, CredalPartition):
        shares = partition.fuzzy(view)
    else:
        labels = np.unique(np.asarray(partition), return_inverse=True)[1]
        shares = np.eye(labels.max() + 1)[labels]
    if len(shares) != len(found):
        raise ValueError(f"The graph has {len(found)} nodes, but the partition has {len(shares)} objects.")
    return modularity_of(found, shares)
