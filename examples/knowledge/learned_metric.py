"""
A metric learned from links
===========================

A disc inside a ring: no straight line separates them. Fifty links teach a metric in which they are apart.

Left the distances of all pairs as they are, right as :class:`~evidentia.KPCCA` has learned them: two blocks, two
groups.
"""

import matplotlib.pyplot as plt

from evidentia import KPCCA, PairwiseConstraints
from evidentia.datasets import make_circles
from evidentia.plots import plot_distances

circles = make_circles(300, random_state=0)
links = PairwiseConstraints.sample(circles.target, 50, random_state=0)
rows = KPCCA(1).fit(circles.data, constraints=links).transform(circles.data)
plot_distances(circles.data, rows, labels=circles.target)
plt.show()
