"""Communities of a graph: median evidential c-means on spectral angles, as many as modularity likes best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from tqdm.auto import tqdm

from evidentia._parameters import random_numbers
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS, canonical_order
from evidentia.graphs.distances import KINDS, angles, between_nodes, leading_vectors
from evidentia.graphs.reading import Graph, read_graph
from evidentia.partition import CredalPartition
from evidentia.prototypes import MECM


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


PATIENCE = 6  # numbers without a better modularity, after which the search ends
RIVAL = 3.0  # how many times as far a second medoid may be for a node to be ambiguous between both


@dataclass(frozen=True, eq=False, repr=False)
class Communities:
    """Communities of a graph, and the nodes between them.

    Attributes
    ----------
    partition : CredalPartition
        Of the nodes, with their names.
    modularity : float
        Of the pignistic probabilities.
    table : DataFrame
        Modularity for each number of communities that was tried, with single communities only.
    model : MECM
        The fitted model.
    graph : Graph
    """

    partition: CredalPartition
    modularity: float
    table: pd.DataFrame
    model: MECM
    graph: Graph

    @property
    def ambiguous(self) -> dict[str, tuple[int, ...]]:
        """Nodes that belong to several communities, and which these are."""
        sets = self.partition.sets()
        return {
            self.partition.name(i): tuple(np.flatnonzero(sets[i]).tolist())
            for i in np.flatnonzero(sets.sum(axis=1) > 1).tolist()
        }

    def plot(self, *, ax: Any = None, **look: Any) -> Any:
        """Draw the graph, see :func:`evidentia.plots.plot_graph`."""
        import evidentia

        return evidentia.plots.plot_graph(self.partition, self.graph, ax=ax, **look)

    def summary(self) -> str:
        """What was found, in a few lines for a person."""
        tried = self.table["n_clusters"]
        range_tried = f"of {tried.min()} to {tried.max()} that were tried" if len(tried) > 1 else "as asked for"
        head = (
            f"{len(self.graph)} nodes and {len(self.graph.edges)} edges: {self.partition.n_clusters} communities "
            f"{range_tried}, modularity {self.modularity:.3f}"
        )
        medoids = ", ".join(f"{k}: {self.partition.name(int(i))}" for k, i in enumerate(self.model.medoid_indices_))
        return f"{head}\n  medoids  {medoids}\n{self.partition.summary()}"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"Communities({len(self.graph)} nodes, {self.partition.n_clusters} communities, {len(self.ambiguous)} "
            f"nodes ambiguous, modularity {self.modularity:.3f})"
        )


def central_nodes(degrees: np.ndarray, dissimilarity: np.ndarray, count: int) -> np.ndarray:
    """Nodes of high degree, each next one also far from those before: the largest product of both.

    Examples
    --------
    >>> central_nodes(np.array([3.0, 2, 4, 1]), np.abs(np.subtract.outer([0.0, 1, 2, 9], [0.0, 1, 2, 9])), 2)
    array([2, 3])
    """
    chosen = [int(degrees.argmax())]
    while len(chosen) < count:
        score = degrees * dissimilarity[chosen].min(axis=0)
        score[chosen] = -1
        chosen.append(int(score.argmax()))
    return np.array(chosen)


def communities(
    graph: Any,
    n_clusters: int | Iterable[int] | str = "auto",
    *,
    model: MECM | None = None,
    kind: str = "spectral",
    weight: str = "weight",
    random_state: Any = None,
    verbose: int = 0,
) -> Communities:
    """Find communities in a graph, and the nodes that belong to several of them.

    For each number of communities :class:`~evidentia.prototypes.MECM` [1]_ is fitted with single communities only, from
    nodes of high degree that are far from each other and from random ones; the number with the largest
    :func:`modularity` is taken. From its medoids MECM is fitted once more, with a set for every two communities that
    some node is near to.

    Parameters
    ----------
    graph : graph of NetworkX, or symmetric matrix of weights
        Undirected and connected; weights say how strongly nodes are connected.
    n_clusters : int, iterable of int, or "auto"
        How many communities, or the numbers to try. ``"auto"`` begins with 2 and ends when six more have brought no
        better modularity.
    model : MECM, optional
        With settings of your own; ``MECM(alpha=0.5, beta=1.2, gamma=0.5, n_init=5)`` if there is none. A smaller
        ``alpha`` or ``gamma`` leaves more nodes ambiguous.
    kind : {"spectral", "walk", "shortest-path"}
        As in :func:`graph_dissimilarities`. With ``"spectral"`` there are as many components as communities.
    weight : str
        Of NetworkX: the attribute of the edges that is their weight; one where they have none.
    random_state : int, RandomState or None
        Seed of the random starts.
    verbose : int
        1 shows progress.

    Returns
    -------
    Communities

    Notes
    -----
    The formulas of MECM were not compared with its article. Which nodes lie between communities depends on them; the
    communities themselves are found with single communities only, as by medoids of any kind.

    References
    ----------
    .. [1] K. Zhou, A. Martin, Q. Pan, Z.-G. Liu. Median evidential c-means algorithm and its application to community
       detection. Knowledge-Based Systems 74:69-88, 2015.

    Examples
    --------
    Two groups of five who all know each other, and one node that knows two of each:

    >>> import networkx as nx
    >>> graph = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
    >>> graph.add_edges_from([("Jo", 0), ("Jo", 1), ("Jo", 5), ("Jo", 6)])
    >>> found = communities(graph, random_state=0)
    >>> found
    Communities(11 nodes, 2 communities, 1 nodes ambiguous, modularity 0.417)
    >>> found.ambiguous
    {'Jo': (0, 1)}
    """
    found = read_graph(graph, weight=weight, connected=True)
    numbers, patience = _numbers(n_clusters, len(found))
    base = MECM(alpha=0.5, beta=1.2, gamma=0.5, n_init=5) if model is None else model
    seed = random_numbers(random_state, "communities").randint(2**31 - 1)
    base = clone(base).set_params(metric="precomputed", random_state=seed)
    measured = _measured(found, kind, max(numbers))
    with tqdm(numbers, desc="communities", unit="number", leave=False, disable=not verbose) as bar:
        single, tried = _search(base, found, measured, bar, patience)
    dissimilarity = measured(single.n_clusters)
    medoids = single.medoid_indices_[single.partition_.largest_first()]
    sets = _rival_sets(dissimilarity, medoids)
    fitted = clone(base).set_params(n_clusters=len(medoids), init=medoids, focal_sets=sets)
    fitted.fit(dissimilarity if found.names is None else pd.DataFrame(dissimilarity, index=found.names))
    partition = fitted.partition_
    return Communities(partition, modularity_of(found, partition.pignistic), pd.DataFrame(tried), fitted, found)


def _numbers(n_clusters: Any, n_nodes: int) -> tuple[list[int], int]:
    """Numbers to try in rising order, and how many of them without success are enough."""
    most = min(n_nodes - 1, MAX_CLUSTERS - 1)
    if most < 2:
        raise ValueError(f"Communities are looked for among three nodes or more. The graph has {n_nodes}.")
    if isinstance(n_clusters, str):
        if n_clusters != "auto":
            raise ValueError(f"'n_clusters' must be a number, several numbers or 'auto'. Got {n_clusters!r}.")
        return list(range(2, max(2, min(most, n_nodes // 3)) + 1)), PATIENCE
    given = list(n_clusters) if isinstance(n_clusters, Iterable) else [n_clusters]
    if not given or not all(isinstance(k, int | np.integer) and 2 <= k <= most for k in given):
        raise ValueError(
            f"'n_clusters' must hold numbers from 2 to {most} for a graph of {n_nodes} nodes. Got {n_clusters!r}."
        )
    return sorted({int(k) for k in given}), MAX_CLUSTERS


def _measured(graph: Graph, kind: str, most: int) -> Any:
    """Dissimilarities for a number of communities: eigenvectors are computed once, other kinds do not depend on it."""
    if kind == "spectral":
        vectors = leading_vectors(graph, min(most, len(graph)))
        return lambda number: angles(vectors[:, :number])
    if kind not in KINDS:
        raise ValueError(f"The 'kind' of dissimilarity must be one of {', '.join(map(repr, KINDS))}. Got {kind!r}.")
    fixed = between_nodes(graph, kind)
    return lambda number: fixed


def _search(
    base: MECM, graph: Graph, measured: Any, numbers: Iterable[int], patience: int
) -> tuple[MECM, list[dict[str, Any]]]:
    """The fit of largest modularity, and what each number has; after ``patience`` numbers without success no more."""
    tried: list[dict[str, Any]] = []
    best, most = base, -np.inf
    for number in numbers:
        single = _single(base, graph, measured(number), number)
        quality = modularity_of(graph, single.partition_.pignistic)
        tried.append({"n_clusters": number, "modularity": quality})
        if quality > most:
            best, most = single, quality
        elif number - best.n_clusters >= patience:
            break
    return best, tried


def _single(base: MECM, graph: Graph, dissimilarity: np.ndarray, number: int) -> MECM:
    """The better of two fits with single communities: from central nodes, and from random ones."""
    alone = clone(base).set_params(n_clusters=number, focal_sets=FocalSets(number, "singletons", empty=False))
    central = clone(alone).set_params(init=central_nodes(graph.degrees, dissimilarity, number))
    return min((one.fit(dissimilarity) for one in (central, alone)), key=lambda one: one.criterion_)


def _rival_sets(dissimilarity: np.ndarray, medoids: np.ndarray) -> FocalSets:
    """Single communities, and every two that are nearest to some node, the second not much further than the first."""
    singles = [1 << k for k in range(len(medoids))]
    to_medoids = dissimilarity[:, medoids]
    order = np.argsort(to_medoids, axis=1, kind="stable")[:, :2]
    near, far = np.take_along_axis(to_medoids, order, axis=1).T
    pairs = np.bitwise_or.reduce(1 << order[far <= RIVAL * near], axis=1)
    return FocalSets(len(medoids), canonical_order({*singles, *pairs.tolist()}))
