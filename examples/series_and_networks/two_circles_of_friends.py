"""
Between two circles of friends
==============================

Who of eleven people belongs to which circle, and who to both? All that is known is who knows whom.

The dissimilarity is the number of steps from one to the other. :class:`~evidentia.SECMdd` picks a person who stands
for each circle (squares); person 5, whom one friend on either side connects, is ambiguous.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path

from evidentia import SECMdd
from evidentia.plots import plot_masses, set_style

left = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 4)]
right = [(6, 7), (6, 8), (7, 8), (7, 9), (7, 10), (9, 10)]
edges = [*left, (4, 5), (5, 6), *right]
network = np.zeros((11, 11))
network[tuple(zip(*edges))] = 1
steps = shortest_path(network, directed=False, unweighted=True)
model = SECMdd(2, metric="precomputed", random_state=0).fit(steps)

where = np.array(
    [
        [-3, 0],
        [-4, 1],
        [-4.3, -0.2],
        [-3.3, -1.2],
        [-1.7, -0.6],
        [0, 0],
        [1.7, 0.6],
        [3, 0],
        [2.6, 1.3],
        [3.6, -1.2],
        [4.4, -0.2],
    ]
)
fig, (graph, bars) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
for i, j in edges:
    graph.plot(*where[[i, j]].T, color="gray", linewidth=1, zorder=1)
for person, mask in enumerate(model.partition_.hard_masks):
    marker = "s" if person in model.medoid_indices_ else "o"
    graph.scatter(*where[person], s=420, marker=marker, color=set_style(int(mask), 2).color, zorder=2)
    graph.text(*where[person], str(person), ha="center", va="center", color="white", zorder=3)
graph.axis("off")
plot_masses(model.partition_, objects=range(11), ax=bars)
bars.set_title("Masses")
plt.show()
