"""
One answer that stands for many people
======================================

A survey asks as many young people as old ones, though there are four times as many old ones. Weights put that right.

An object of weight four counts as four: without weights the mixture describes the sample, with weights the
population.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM
from evidentia.plots import plot_ellipses

rng = np.random.default_rng(3)
young = rng.normal([24, 5], [4, 1.0], (150, 2))
old = rng.normal([60, 2.5], [9, 0.8], (150, 2))
X = np.vstack([young, old])
weight = np.repeat([1.0, 4.0], 150)

fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
for ax, (name, given) in zip(axes, {"as sampled": None, "weighted": weight}.items()):
    model = EGMM(2, model="VVV", random_state=0).fit(X, sample_weight=given)
    plot_ellipses(model, X, ax=ax)
    center = np.average(X[:, 0], weights=given)
    ax.set(title=f"{name}: mean age {center:.0f}", xlabel="age", ylabel="hours online")
    print(name, dict(zip(model.focal_sets_.names(), model.weights_.round(2).tolist())))
plt.show()
