"""
Between two wings, and far from both
====================================

Twelve objects: two wings, one object halfway between them, one far away.

A probability would give 0.5 and 0.5 to both of the odd ones. :class:`~evidentia.ECM` tells them apart: object 5 has
its mass on the set of both clusters, object 11 on the empty set.
"""

import matplotlib.pyplot as plt

from evidentia import ECM
from evidentia.datasets import make_butterfly
from evidentia.plots import plot_masses, plot_partition

X = make_butterfly().as_frame().data
partition = ECM(n_clusters=2, focal_sets="full", rho=5, random_state=0).fit(X).partition_

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
plot_partition(partition, X, ax=left, s=60)
left.get_legend().remove()
for number, point in enumerate(X.to_numpy()):
    left.annotate(str(number), point, xytext=(-6, 8), textcoords="offset points", fontsize="small")
left.margins(0.12)
left.set_title("The objects")
plot_masses(partition, objects=range(len(X)), ax=right)
right.set_title("Their masses")
plt.show()
