"""
Is this grouping real?
======================

Two tables, cut into two clusters each: one has two groups, the other is a single cloud.

A Gaussian mixture is certain of itself in both. :class:`~evidentia.BootGMM` asks how much the answer would change with
other data: for the cloud it leaves open which objects belong together.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import BootGMM
from evidentia.plots import plot_pair_draws, plot_partition

rng = np.random.default_rng(0)
cloud = rng.normal(size=(120, 2))
groups = cloud + 4 * (np.arange(120) % 2)[:, None]

fig, axes = plt.subplots(2, 2, figsize=(12.5, 7.5), layout="constrained")
for row, (name, X) in zip(axes, {"two groups": groups, "one cloud": cloud}.items()):
    model = BootGMM(2, model="VVV", n_boot=200, random_state=0).fit(X)
    plot_partition(model.partition_, X, ax=row[0])
    row[0].set_title(f"{name}: nonspecificity {model.partition_.normalized_nonspecificity:.2f}")
    by_width = np.argsort(model.intervals_.upper - model.intervals_.lower)
    i, j = model.intervals_.pairs[by_width[int(0.9 * len(by_width))]].tolist()
    plot_pair_draws(model, i, j, ax=row[1])
    row[1].set_title("a pair whose interval is wider than nine in ten")
plt.show()
