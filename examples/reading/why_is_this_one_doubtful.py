"""
Why is this flower doubtful?
============================

The partition says *that* a flower is ambiguous between two clusters; the table says why.

:meth:`~evidentia.CredalPartition.explain` compares its columns with what is usual in each cluster. One column speaks
for one cluster, another column for the other.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import ECM
from evidentia.datasets import load

flowers = load("iris", as_frame=True).data
partition = ECM(3, focal_sets="full", random_state=0).fit(flowers).partition_
why = partition.explain(110, flowers)
print(why)

# %%
# The same as a picture: how many times as likely the value is in the cluster it speaks for.

table = why.to_frame()
first, second = (int(k) for k in np.argsort(-partition.contour[110])[:2])
side = np.where(table["speaks for"] == str(first), -1, np.where(table["speaks for"] == str(second), 1, 0))
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(table.index, side * np.log2(table["times"]), color=np.where(side < 0, "C0", "C1"))
ax.axvline(0, color="gray", linewidth=1)
ax.invert_yaxis()
ax.set(
    xlabel=f"speaks for cluster {first}  ←  (doublings of the likelihood)  →  speaks for cluster {second}", xlim=(-2, 2)
)
ax.set_title("Flower 110: columns that contradict each other")
plt.show()
