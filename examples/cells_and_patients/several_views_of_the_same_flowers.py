"""
Several views of the same flowers
=================================

Which part of a flower tells its species? Sepals and petals of the irises as two views, a third of pure noise.

WMVEC weighs the views while it looks for clusters, and tells about which flowers they disagree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from evidentia import WMVEC
from evidentia.datasets import load
from evidentia.plots import plot_partition, plot_view_conflict, plot_view_weights

iris = load("iris", as_frame=True)
sepals, petals = iris.data.iloc[:, :2], iris.data.iloc[:, 2:]
noise = np.random.default_rng(0).normal(size=(len(sepals), 4))
model = WMVEC(3, random_state=0).fit({"sepals": sepals, "petals": petals, "noise": noise})
print(model.view_summary())
print(f"adjusted Rand index with the species: {adjusted_rand_score(iris.target, model.labels_):.2f}")
_, axes = plt.subplot_mosaic("ab;cb", figsize=(11.5, 6.5), layout="constrained")
plot_view_weights(model, ax=axes["a"])
axes["a"].set_title("How much each view counts")
plot_partition(model.partition_, petals, ax=axes["c"])
axes["c"].set_title("Clusters of all views, drawn in petals")
plot_view_conflict(model, n_objects=20, ax=axes["b"])
axes["b"].set_title("Flowers about which the views disagree")
plt.show()
