"""
Who is between two communities?
===============================

Six leagues whose teams play each other, and four teams that play in two of them.

A method that knows no sets must put each of them into one community or the other. Here two of the four are ambiguous,
drawn as diamonds, and nobody else is.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from evidentia import communities

LEAGUES, SIZE = 6, 10


def games(rng: np.random.Generator) -> nx.Graph:
    """Most teams of a league play each other; guest teams play half of two leagues each."""
    graph = nx.Graph()
    teams = {f"{league}{k}": {league} for league in range(LEAGUES) for k in range(SIZE)}
    teams |= {f"guest {k}": {k, k + 1} for k in range(4)}
    names = list(teams)
    for at, one in enumerate(names):
        for other in names[:at]:
            shared = teams[one] & teams[other]
            chance = 0.75 / max(len(teams[one]), len(teams[other])) if shared else 0.015
            if rng.random() < chance:
                graph.add_edge(one, other)
    return graph


graph = games(np.random.default_rng(1))
found = communities(graph, random_state=0)
ax = found.plot()
ax.set_title(f"{found.partition.n_clusters} communities, ambiguous: {', '.join(found.ambiguous)}", fontsize="medium")
plt.show()
