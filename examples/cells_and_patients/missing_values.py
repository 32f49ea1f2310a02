"""
Laboratory values that are missing
==================================

What is not measured cannot decide. Does the doubt grow where values are missing?

Every fourth value of the wine table is taken away. :class:`~evidentia.EGMM` uses what is left of each row, without
filling in anything, and its doubt grows with the number of holes in a row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from evidentia import EGMM

X, grower = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, [0, 6, 9, 10, 12]]
rng = np.random.default_rng(0)
X[rng.random(X.shape) < 0.25] = np.nan
X = X[~np.isnan(X).all(axis=1)]

partition = EGMM(3, model="EEE", focal_sets="pairs", random_state=0).fit(X).partition_
holes = np.isnan(X).sum(axis=1)
doubt = [partition.nonspecificity[holes == count] for count in range(4)]

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.boxplot(
    doubt, positions=range(4), widths=0.5, medianprops={"color": "C1", "linewidth": 2}, whis=(5, 95), showfliers=False
)
ax.set_xticks(range(4), [f"{count}\n({len(part)} rows)" for count, part in enumerate(doubt)])
ax.set(xlabel="missing values in a row, of 5", ylabel="nonspecificity", title="Less known, more doubt")
plt.show()
