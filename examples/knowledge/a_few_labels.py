"""
A few labels go a long way
==========================

Two bananas, and ten labeled objects of each: labels become links, and a metric learned from the links bends the
clusters.

Without them a method with round clusters cuts the bananas in the wrong way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from evidentia import CECM, ECM, KPCCA, PairwiseConstraints
from evidentia.datasets import make_bananas
from evidentia.plots import plot_partition

data = make_bananas(200, random_state=0)
labels = np.full(200, -1)
known = np.concatenate(
    [np.random.default_rng(1).choice(np.flatnonzero(data.target == k), 10, replace=False) for k in (0, 1)]
)
labels[known] = data.target[known]
links = PairwiseConstraints.from_labels(labels)
models = {
    "no labels": ECM(2, focal_sets="full", random_state=0).fit(data.data),
    f"{len(known)} labels, {len(links)} links": CECM(2, metric_learner=KPCCA(1), random_state=0).fit(
        data.data, constraints=links
    ),
}
fig, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    plot_partition(model.partition_, data.data, hulls=None, ax=ax, s=14)
    ax.set_title(f"{name}: ARI {adjusted_rand_score(data.target, model.labels_):.2f}")
axes[1].plot(*data.data[known].T, "o", markerfacecolor="none", markeredgecolor="gray", markersize=11)
plt.show()
