"""Graphs: which nodes belong together, and which ones belong to several communities."""

from evidentia.graphs.distances import graph_dissimilarities
from evidentia.graphs.finding import Communities, communities, modularity
from evidentia.graphs.reading import Graph, read_graph

__all__ = ["Communities", "Graph", "communities", "graph_dissimilarities", "modularity", "read_graph"]
