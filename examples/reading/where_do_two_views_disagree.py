"""
Where do two views disagree?
============================

Shape and color of the same flowers, each clustered for itself, then fused.

Each view sees a difference that the other does not: together they tell three groups apart. A few flowers have the color
of one group and the shape of another: the views contradict each other about these, and Yager's rule leaves them to all
groups.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM, fuse
from evidentia.plots import plot_partition

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], [60, 40, 40])
shape, color = np.array([0.0, 0.0, 6.0])[group], np.array([0.0, 6.0, 6.0])[group]
strange = rng.choice(np.flatnonzero(group == 0), 4, replace=False)
shape[strange] = 6.0  # the shape of group 2, and the color of group 0
views = {"shape": shape, "color": color}
tables = {name: view[:, None] + rng.normal(size=(len(view), 1)) for name, view in views.items()}
parts = {name: EGMM(2, random_state=0).fit(table).partition_ for name, table in tables.items()}
found = fuse(parts, rule="yager")
_, (left, right) = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
X = np.hstack(list(tables.values()))
plot_partition(found.partition, X, feature_names=list(tables), ax=left)
left.set_title(f"{len(found.table)} groups, from two views that each see two")
points = right.scatter(*X.T, c=found.conflict, cmap="magma_r", vmin=0, vmax=1, edgecolors="gray", linewidths=0.4)
right.figure.colorbar(points, label="conflict of the views")
right.set(title="Where they contradict each other", xlabel="shape", ylabel="color")
plt.show()
