"""
Groups that overlap
===================

Four groups overlap. Which objects are assigned to theirs, and which could be in either of two?

:class:`~evidentia.EGMM` chooses the number of clusters, their shapes, and which clusters share objects. Solid lines
surround the objects that are assigned to a cluster, broken lines those that are possibly in it.
"""

import matplotlib.pyplot as plt

from evidentia import EGMM
from evidentia.datasets import make_egmm_four_class
from evidentia.plots import plot_partition

X = make_egmm_four_class(random_state=0).as_frame().data
model = EGMM(random_state=0).fit(X)
print(model.partition_)

plot_partition(model.partition_, X, centers=model.cluster_centers_, s=14)
plt.title("Each object by the set that holds most of its mass")
plt.show()
