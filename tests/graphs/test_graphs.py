"""Graphs: what is read and refused, dissimilarities, modularity against NetworkX, communities and torn nodes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import normalized_mutual_info_score

from evidentia import MECM, CredalPartition, FocalSets, communities
from evidentia.graphs import distances, graph_dissimilarities, modularity, read_graph
from evidentia.graphs.finding import central_nodes
from evidentia.plots import graph_plot_data, plot_graph


def weighted(n_nodes=30, seed=0):
    """A connected graph with weights of its own."""
    graph = nx.connected_watts_strogatz_graph(n_nodes, 6, 0.3, seed=seed)
    rng = np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: float(w) for edge, w in zip(graph.edges, rng.uniform(0.5, 3, 200))}, "weight")
    return graph


def planted(n_groups=6, size=12, n_torn=4, seed=0):
    """Groups whose members know most of each other, and nodes that know half of two groups each."""
    rng = np.random.default_rng(seed)
    member = np.repeat(np.eye(n_groups, dtype=bool), size, axis=0)
    torn = np.zeros((n_torn, n_groups), dtype=bool)
    torn[np.repeat(np.arange(n_torn), 2), np.arange(2 * n_torn) % n_groups] = True
    member = np.vstack([member, torn])
    share = member.astype(int) @ member.T > 0
    chance = np.where(share, 0.7 / member.sum(axis=1), 0.01)
    chance = np.minimum(chance, chance.T)
    upper = np.triu(rng.random(share.shape) < chance, 1)
    return (upper | upper.T).astype(float), member


# -- reading -----------------------------------------------------------------------------------------------------------


def test_the_same_graph_in_every_form():
    graph = weighted()
    A = nx.to_numpy_array(graph)
    for given in (graph, A, csr_array(A), read_graph(graph)):
        found = read_graph(given)
        np.testing.assert_array_equal(found.weights.toarray(), A)
        np.testing.assert_allclose(found.degrees, A.sum(axis=1))
        assert {tuple(edge) for edge in found.edges.tolist()} == {tuple(sorted(edge)) for edge in graph.edges}
    assert read_graph(graph, weight="none").weights.sum() == 2 * graph.number_of_edges()
    assert repr(found) == f"Graph(30 nodes, {graph.number_of_edges()} edges)"


def test_names_are_kept_and_loops_are_not():
    graph = nx.Graph([("ann", "bob"), ("bob", "cy"), ("cy", "cy")])
    found = read_graph(graph)
    assert found.names == ("ann", "bob", "cy")
    assert found.degrees.tolist() == [1, 2, 1]
    assert read_graph(nx.path_graph(3)).names is None


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([(0, 1)]), r"The graph is directed, .* graph.to_undirected\(\)"),
        (np.array([[0, 1], [2, 0]]), r"directed graph: \[0, 1\] = 1, but \[1, 0\] = 2. .* A \+ A.T"),
        (nx.Graph([("a", "b", {"weight": -2})]), r"must be not negative, but the edge of a and b has -2"),
        (np.array([[0, np.inf], [np.inf, 0]]), r"must be finite, but the edge of 0 and 1 has inf"),
        (
            [["a", "b"], ["b", "a"]],
            r"^A graph is a graph of NetworkX or a square matrix of weights\. could not convert",
        ),
        (np.ones((2, 3)), r"a square matrix of weights. Got an array of shape \(2, 3\)"),
        (nx.Graph(), r"The graph has no nodes"),
        (nx.empty_graph(3), r"The graph has no edges"),
        (
            nx.disjoint_union(nx.path_graph(4), nx.path_graph(2)),
            r"2 parts that no edge connects, of 4 and 2 nodes \(node 4 ",
        ),
        (nx.disjoint_union(nx.path_graph(4), nx.empty_graph(7)), r"8 parts that no edge connects, of 4 to 1 nodes"),
    ],
)
def test_what_is_no_connected_graph_is_refused_with_the_cure(graph, message):
    with pytest.raises(ValueError, match=message):
        communities(graph)


# -- dissimilarities ---------------------------------------------------------------------------------------------------


def test_shortest_paths_are_networkx_of_lengths_one_over_the_weight():
    graph = weighted()
    for _, _, edge in graph.edges(data=True):
        edge["length"] = 1 / edge["weight"]
    expected = nx.floyd_warshall_numpy(graph, weight="length")
    np.testing.assert_allclose(graph_dissimilarities(graph, "shortest-path"), expected)


def test_walks_are_matrix_powers():
    A = nx.to_numpy_array(weighted()) + np.eye(30)
    ends = np.linalg.matrix_power(A / A.sum(axis=1, keepdims=True), 3)
    rest = A.sum(axis=1) / A.sum()
    rows = (ends - rest) / np.sqrt(rest)
    length = np.linalg.norm(rows, axis=1)
    expected = 1 - rows @ rows.T / np.outer(length, length)
    np.testing.assert_allclose(graph_dissimilarities(weighted(), "walk", steps=3), expected, atol=1e-12)


def test_spectral_angles_are_those_of_the_whole_decomposition(monkeypatch):
    A = nx.to_numpy_array(weighted())
    tau = A.sum() / 30
    degrees = A.sum(axis=1) + tau
    values, vectors = np.linalg.eigh((A + tau / 30) / np.sqrt(np.outer(degrees, degrees)))
    rows = vectors[:, -4:] * values[-4:]
    length = np.linalg.norm(rows, axis=1)
    expected = 1 - rows @ rows.T / np.outer(length, length)
    np.testing.assert_allclose(graph_dissimilarities(weighted(), "spectral", n_components=4), expected, atol=1e-9)
    monkeypatch.setattr(distances, "DENSE", 0)  # as of a large graph
    np.testing.assert_allclose(graph_dissimilarities(weighted(), "spectral", n_components=4), expected, atol=1e-7)


def test_dissimilarities_have_the_names_of_the_nodes_and_serve_any_method():
    graph = nx.relabel_nodes(nx.barbell_graph(5, 0), dict(enumerate("abcdefghij")))
    found = graph_dissimilarities(graph)
    assert isinstance(found, pd.DataFrame)
    model = MECM(2, metric="precomputed", random_state=0).fit(found)
    assert model.partition_.object_names == tuple("abcdefghij")
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], [True] * 5 + [False] * 5)


def test_a_kind_that_is_none_and_a_missing_number_are_refused():
    for function in (communities, graph_dissimilarities):
        with pytest.raises(ValueError, match=r"must be one of 'spectral', 'walk', 'shortest-path'. Got 'hops'"):
            function(nx.path_graph(4), kind="hops")
    with pytest.raises(ValueError, match=r"'spectral' needs 'n_components', .* Got None"):
        graph_dissimilarities(nx.path_graph(4), "spectral")


# -- modularity --------------------------------------------------------------------------------------------------------


def test_modularity_of_labels_is_that_of_networkx():
    graph, labels = weighted(), np.random.default_rng(1).integers(0, 4, 30)
    groups = [set(np.flatnonzero(labels == k).tolist()) for k in range(4)]
    sure = CredalPartition(np.eye(4)[labels], FocalSets(4, "singletons", empty=False))
    for given in (labels, sure):
        assert modularity(graph, given) == pytest.approx(nx.community.modularity(graph, groups))
    plain = nx.community.modularity(graph, groups, weight=None)
    assert modularity(graph, labels, weight="none") == pytest.approx(plain) != nx.community.modularity(graph, groups)


@pytest.mark.parametrize("view", ["pignistic", "plausibility"])
def test_modularity_of_a_credal_partition_is_the_double_sum(view):
    graph, family = weighted(), FocalSets(3, "pairs")
    partition = CredalPartition(np.random.default_rng(2).dirichlet(np.ones(len(family)), size=30), family)
    A, u = nx.to_numpy_array(graph), partition.fuzzy(view)
    degrees, total = A.sum(axis=1), A.sum()
    slow = sum(
        (A[i, j] - degrees[i] * degrees[j] / total) * (u[i] @ u[j]) / total for i in range(30) for j in range(30)
    )
    assert modularity(graph, partition, view=view) == pytest.approx(slow)
    with pytest.raises(ValueError, match=r"30 nodes, but the partition has 29 objects"):
        modularity(graph, partition[:29])


# -- communities -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    A, member = planted()
    return communities(csr_array(A), random_state=0), member


def test_planted_groups_are_found_and_so_is_their_number(found):
    result, member = found
    sure = member.sum(axis=1) == 1
    assert result.partition.n_clusters == 6
    assert normalized_mutual_info_score(member[sure].argmax(axis=1), result.partition.labels()[sure]) > 0.95
    assert result.table.loc[result.table["modularity"].idxmax(), "n_clusters"] == 6
    assert result.table["n_clusters"].tolist() == list(range(2, 13))  # six more without success
    assert result.modularity == pytest.approx(modularity(result.graph, result.partition))


def test_torn_nodes_are_those_that_were_planted(found):
    result, member = found
    assert set(result.ambiguous) <= {"72", "73", "74", "75"}
    assert len(result.ambiguous) >= 2
    groups = {k: member[result.model.medoid_indices_[k]].argmax() for k in range(6)}
    for name, clusters in result.ambiguous.items():
        assert {int(groups[k]) for k in clusters} == set(np.flatnonzero(member[int(name)]).tolist())


def test_what_is_printed(found):
    said = str(found[0])
    assert said.startswith("76 nodes and ")
    assert "6 communities of 2 to 12 that were tried, modularity 0." in said
    assert "  medoids  0: " in said
    assert repr(found[0]).startswith("Communities(76 nodes, 6 communities, ")


def test_the_number_may_be_given_and_other_dissimilarities_taken():
    graph = nx.relabel_nodes(nx.barbell_graph(6, 0), dict(enumerate("abcdefghijkl")))
    result = communities(graph, 2, kind="walk", model=MECM(alpha=1.0, n_init=2), random_state=0)
    assert result.partition.object_names == tuple("abcdefghijkl")
    assert (result.model.alpha, result.table["n_clusters"].tolist()) == (1.0, [2])
    assert "2 communities as asked for" in str(result)
    assert communities(graph, [4, 3], random_state=0).table["n_clusters"].tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"three nodes or more. The graph has 2"):
        communities(nx.path_graph(2))
    for wrong in (0, 1, 12, [2.5], [], "many"):
        with pytest.raises(ValueError, match="'n_clusters' must"):
            communities(graph, wrong)


def test_clusters_are_numbered_from_the_largest():
    result = communities(nx.karate_club_graph(), 4, random_state=0)
    sizes = result.partition.pignistic.sum(axis=0)
    assert (np.diff(sizes) < 1).all()
    again = communities(nx.karate_club_graph(), 4, random_state=0)
    assert again.partition == result.partition


def test_central_nodes_are_well_connected_and_apart():
    line = np.array([0.0, 1.0, 5.0, 6.0, 20.0])
    # From node 1 of degree 5: 3 * 1, 4 * 4, 2 * 5, 1 * 19
    chosen = central_nodes(np.array([3.0, 5.0, 4.0, 2.0, 1.0]), np.abs(line[:, None] - line), 3)
    assert chosen.tolist() == [1, 4, 2]


# -- a picture ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def torn():
    sets = FocalSets(2, [{0}, {1}, {0, 1}])
    partition = CredalPartition([[1, 0, 0], [0.2, 0.1, 0.7], [0, 1, 0]], sets, object_names=["a", "b", "c"])
    return partition, nx.Graph([("a", "b"), ("b", "c")])


def test_the_numbers_of_the_picture(torn):
    partition, graph = torn
    places = {"c": (2, 0), "a": (0, 0), "b": (1, 1)}
    data = graph_plot_data(partition, graph, layout=places)
    assert data.xy.tolist() == [[0, 0], [1, 1], [2, 0]]
    assert (data.edges.tolist(), data.ambiguous.tolist(), data.masks.tolist()) == ([[0, 1], [1, 2]], [1], [1, 3, 2])
    np.testing.assert_array_equal(*(graph_plot_data(partition, graph, random_state=1).xy for _ in range(2)))
    for options, message in (
        ({"layout": [[0, 0]]}, r"two numbers for each of 3 nodes. Got shape \(1, 2\)"),
        ({"graph": nx.path_graph(4)}, r"4 nodes, but the partition has 3 objects"),
    ):
        with pytest.raises(ValueError, match=message):
            graph_plot_data(**{"partition": partition, "graph": graph, **options})


def test_the_picture_names_torn_nodes(torn):
    import matplotlib.pyplot as plt

    partition, graph = torn
    for names, shown in (("ambiguous", ["b"]), ("all", ["a", "b", "c"]), (None, [])):
        ax = plot_graph(partition, graph, names=names)
        assert [text.get_text() for text in ax.texts] == shown
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["{0}  1", "{1}  1", "{0,1}  1"]
        plt.close(ax.figure)
    with pytest.raises(ValueError, match="'names' must be one of 'ambiguous', 'all', None"):
        plot_graph(partition, graph, names="some")


def test_a_layout_without_networkx_names_the_extra(torn, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(ImportError, match=r"needs networkx: pip install 'evidentia\[graphs\]'. Or give 'layout'"):
        graph_plot_data(torn[0], path)
