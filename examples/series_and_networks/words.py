"""
Words that look alike
=====================

A function says how unlike two words are. That is all a relational method needs.

The tree of :class:`~evidentia.BeliefHierarchical` is made from these numbers alone; a cut through it is a credal
partition.
"""

from difflib import SequenceMatcher

import matplotlib.pyplot as plt
import numpy as np

from evidentia import BeliefHierarchical
from evidentia.plots import plot_dendrogram

words = [
    "density", "densities", "dense", "medoid", "medoids", "medoidal",
    "belief", "believe", "believed", "cluster", "clusters", "clustering",
]  # fmt: skip
unlike = np.array([[1 - SequenceMatcher(None, one, other).ratio() for other in words] for one in words])
unlike = (unlike + unlike.T) / 2
model = BeliefHierarchical(4, metric="precomputed", linkage="average").fit(unlike)

fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
plot_dendrogram(model, names=words, ax=ax)
ax.tick_params(axis="x", rotation=30)
plt.show()
