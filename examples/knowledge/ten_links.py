"""
Ten links turn a wrong partition right
======================================

Four groups on a square; two and two belong together. Left and right, or top and bottom?

Nothing in the table tells which is meant. :class:`~evidentia.ECM` with an adaptive metric decides by chance, here for
top and bottom. :class:`~evidentia.CECM` listens to ten pairs of objects drawn at random (lines: together; dashed:
apart) and finds left and right.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import rand_score

from evidentia import CECM, ECM, PairwiseConstraints
from evidentia.datasets import make_cecm_two_class
from evidentia.plots import plot_partition

data = make_cecm_two_class(random_state=2)
links = PairwiseConstraints.sample(data.target, 10, random_state=0)
models = {
    "ECM, no links": ECM(2, focal_sets="full", adaptive=True, alpha=1, rho=10.0, random_state=0).fit(data.data),
    "CECM, ten links": CECM(2, adaptive=True, random_state=0).fit(data.data, constraints=links),
}
fig, axes = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    plot_partition(model.partition_, data.data, hulls=None, ax=ax)
    ax.set_title(f"{name}: Rand index {rand_score(data.target, model.labels_):.2f}")
for i, j, must, _ in links:
    axes[1].plot(*data.data[[i, j]].T, "-" if must else "--", color="gray", linewidth=1.5)
plt.show()
