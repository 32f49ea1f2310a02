"""
Customers: whom does the campaign reach?
========================================

Three segments by orders and spending, on logarithmic scales. Some customers are between two of them.

A campaign for the good customers costs money for each letter. Letters to those *assigned* to the segment waste none;
letters to all that are *possibly* in it miss none. The credal partition gives both numbers.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evidentia import EGMM
from evidentia.plots import plot_partition

rng = np.random.default_rng(5)
sizes, means = [300, 180, 90], [[0.5, 3.0], [2.0, 3.9], [2.6, 5.6]]
logs = np.vstack([rng.multivariate_normal(mean, [[0.18, 0.1], [0.1, 0.2]], size) for mean, size in zip(means, sizes)])
customers = pd.DataFrame(logs, columns=["log orders", "log spending"])

partition = EGMM(3, random_state=0).fit(customers).partition_
best = int(np.argmax([customers["log spending"][partition.lower(k)].mean() for k in range(3)]))
assigned, possibly = len(partition.lower(best)), len(partition.upper(best))

fig, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
plot_partition(partition, customers, ax=ax, s=12)
ax.set_title(f"Good customers: {assigned} assigned, {possibly} possibly (truth: {sizes[2]})")
plt.show()
