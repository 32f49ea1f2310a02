"""
How many segments?
==================

One call fits several methods with several numbers of clusters and compares them by one criterion.

A number that is chosen should be seen beside those that were not: where the curve is flat, the data do not say.
"""

import matplotlib.pyplot as plt

from evidentia import EGMM, select
from evidentia.datasets import make_egmm_four_class
from evidentia.plots import plot_selection

X = make_egmm_four_class(400, random_state=0).data
families = {family: EGMM(model="EEE", focal_sets=family) for family in ("full", "pairs", "singletons")}
found = select(X, families, n_clusters=range(2, 7), criteria="ebic", random_state=0)
print(found.choice)

plot_selection(found)
plt.show()
