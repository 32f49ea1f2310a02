"""
Working days and holidays
=========================

Half-hourly electricity use of simulated days. On some days half of the house works and the other half stays at home.

The dissimilarity of two days is one minus the correlation of their curves: only the shape counts, not how much was
used. A day of both kinds belongs to neither alone: its mass is on the set of the two.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EVCLUS

rng = np.random.default_rng(0)
hour = np.arange(48) / 2


def bump(at, width):
    return np.exp(-((hour - at) ** 2) / (2 * width**2))


working, holiday = bump(7.5, 1.2) + 1.2 * bump(19, 2), bump(12.5, 3.5)
mixed = 0.8 * working + holiday
days = np.vstack([np.tile(working, (40, 1)), np.tile(holiday, (25, 1)), np.tile(mixed, (6, 1))])
days *= rng.uniform(0.6, 1.6, (71, 1))
days += 0.08 * rng.normal(size=days.shape)

partition = EVCLUS(2, metric="correlation", random_state=0).fit(days).partition_
print(partition)
kinds = {"assigned to 0": partition.lower(0), "assigned to 1": partition.lower(1)}
kinds["ambiguous"] = np.flatnonzero(partition.sets().sum(axis=1) > 1)

fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, color, (name, members) in zip(axes, ("C0", "C1", "C2"), kinds.items()):
    ax.plot(hour, days[members].T, color=color, linewidth=0.8, alpha=0.6)
    ax.set(title=f"{name}: {len(members)} days", xlabel="hour", xticks=range(0, 25, 6))
axes[0].set_ylabel("use")
plt.show()
