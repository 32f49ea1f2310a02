"""
Follow your neighbors
=====================

No center, no covariance, no number of clusters: only who is near to whom.

In :class:`~evidentia.EkNNclus` every object takes the cluster of its neighbors until nothing moves. How many clusters
come out depends on how many neighbors each object listens to: few of them leave many small clusters, many of them
four.
"""

import matplotlib.pyplot as plt

from evidentia import EkNNclus
from evidentia.datasets import make_student_four_class
from evidentia.plots import plot_partition

X = make_student_four_class(random_state=0).data
fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharey=True)
for ax, n_neighbors in zip(axes, (20, 30, "auto")):
    model = EkNNclus(n_neighbors=n_neighbors, random_state=0).fit(X)
    plot_partition(model.partition_, X, hulls=None, ax=ax, s=12)
    ax.get_legend().remove()
    ax.set_title(f"n_neighbors={n_neighbors!r}: {model.n_clusters_} clusters")
plt.show()
