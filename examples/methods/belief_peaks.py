"""
Centers that stand out
======================

A center has many close neighbors (its belief is high) and is far from any better one (its δ is large).

:class:`~evidentia.BPEC` takes the objects in the upper right corner, so the number of clusters need not be given.
"""

import matplotlib.pyplot as plt

from evidentia import BPEC
from evidentia.datasets import make_student_four_class
from evidentia.plots import plot_belief_peaks, plot_partition

X = make_student_four_class(random_state=0).data
model = BPEC().fit(X)

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
plot_belief_peaks(model, ax=left)
plot_partition(model.partition_, X, centers=model.cluster_centers_, hulls=None, ax=right, s=14)
right.set_title(f"{model.n_clusters_} clusters")
plt.show()
