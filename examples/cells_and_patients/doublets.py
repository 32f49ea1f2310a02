"""
Two cells in one droplet
========================

In single-cell work a droplet sometimes holds two cells. Its expression lies between two cell types.

A method that must choose puts such a doublet into one of the types. Here three types are simulated, with some
doublets between the first two, and :class:`~evidentia.EGMM` is told which clusters may share objects. Most of the
doublets end on the set of both types.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM, FocalSets
from evidentia.plots import plot_partition

rng = np.random.default_rng(1)
types = np.array([[0.0, 0.0], [6.0, 1.0], [2.0, 7.0]])
kind = np.repeat([0, 1, 2], [200, 150, 100])
cells = types[kind] + rng.normal(scale=0.7, size=(450, 2))
doublets = (types[0] + types[1]) / 2 + rng.normal(scale=0.7, size=(30, 2))
X = np.vstack([cells, doublets])

sets = FocalSets(3, [{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}])
model = EGMM(3, focal_sets=sets, model="EEE", random_state=0).fit(X)
ambiguous = model.partition_.sets().sum(axis=1) > 1
print(f"ambiguous: {ambiguous[450:].sum()} of 30 doublets, {ambiguous[:450].sum()} of 450 cells")

fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot_partition(model.partition_, X, hulls=None, ax=ax, s=16)
ax.plot(*doublets.T, "o", markerfacecolor="none", markeredgecolor="gray", markersize=9, linestyle="none")
ax.set(xlabel="marker 1", ylabel="marker 2", title="Circles: the doublets that were put in")
plt.show()
