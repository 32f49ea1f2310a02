"""
A tree with doubt in it
=======================

Hierarchical clustering by belief functions: at every height of the tree there is a credal partition.

Colors of the dendrogram are those of the clusters; on the right the partition at the cut.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import BeliefHierarchical
from evidentia.datasets import make_diamond
from evidentia.plots import plot_dendrogram, plot_partition

X = np.vstack([make_diamond().data, [0, 10]])
model = BeliefHierarchical(linkage="average").fit(X)

fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
plot_dendrogram(model, ax=left)
plot_partition(model.partition_, X, ax=right, s=60)
right.margins(0.1)
plt.show()
