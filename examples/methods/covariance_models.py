"""
Fourteen shapes of a mixture
============================

Are clusters round, of equal size, turned in the same direction? Each letter of a model's name answers one question.

Volume, shape, orientation: E is equal, V varies, I means round or not turned. With ``model="auto"`` the criterion
chooses.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM
from evidentia.plots import plot_ellipses

rng = np.random.default_rng(0)
X = np.vstack(
    [
        rng.multivariate_normal([0, 0], [[2.0, 1.5], [1.5, 2.0]], 120),
        rng.multivariate_normal([5, 0], [[0.4, -0.3], [-0.3, 0.8]], 120),
        rng.multivariate_normal([2, 5], [[2.0, 0.0], [0.0, 0.3]], 120),
    ]
)
names = ["EII", "VVI", "EEE", "VVV"]
fig, axes = plt.subplots(1, 4, figsize=(14, 3.6), layout="constrained", sharex=True, sharey=True)
for ax, name in zip(axes, names):
    model = EGMM(3, model=name, focal_sets="singletons", random_state=0).fit(X)
    plot_ellipses(model, X, ax=ax)
    ax.set_title(f"{name}: EBIC {model.ebic_:.0f}")
    if ax.get_legend():
        ax.get_legend().remove()
plt.show()
