"""
Which recordings are alike?
===========================

Series of different lengths, of three shapes that come early or late, quickly or slowly.

Dynamic time warping compares them; SoftECM finds a typical series for each cluster, and for the pairs of them those in
between. Needs dtaidistance (``pip install "evidentia[series]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from evidentia import SoftECM
from evidentia.plots import plot_masses


def recordings(rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """One bump, two bumps, or a bump and a dip; the last four are halfway between the first two."""
    kinds = np.append(np.repeat([0, 1, 2], 12), [3] * 4)
    found = []
    for kind in kinds:
        time = np.linspace(0, 1, int(rng.integers(40, 61)))
        middle, width = rng.uniform(0.4, 0.6), rng.uniform(0.06, 0.09)
        first, second = (np.exp(-(((time - middle - shift) / width) ** 2)) for shift in (-0.15, 0.15))
        found.append(first + [0.0, 1.0, -1.0, 0.5][kind] * second + 0.05 * rng.normal(size=len(time)))
    return found, kinds


series, kinds = recordings(np.random.default_rng(0))
model = SoftECM(3, metric="dtw", random_state=0).fit(series)
print(model.partition_)
known = kinds < 3
print(f"adjusted Rand index of the three shapes: {adjusted_rand_score(kinds[known], model.labels_[known]):.2f}")
_, axes = plt.subplots(1, 4, figsize=(12.5, 3.4), width_ratios=[1, 1, 1, 1.2], layout="constrained")
for k, ax in enumerate(axes[:3]):
    for one in np.flatnonzero(model.labels_ == k):
        ax.plot(np.linspace(0, 1, len(series[one])), series[one], color="0.7", lw=0.7)
    typical = model.prototypes_[k]
    ax.plot(np.linspace(0, 1, len(typical)), typical, color=f"C{k}", lw=2.5)
    ax.set(title=f"cluster {k}: {np.count_nonzero(model.labels_ == k)} series", xlabel="time", ylim=(-1.3, 1.4))
plot_masses(model.partition_, ax=axes[3]).set_xticks([])
plt.show()
