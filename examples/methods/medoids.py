"""
One object that stands for a group
==================================

A mean of flowers is no flower. Medoids are: the picture names one that stands for each cluster and for each set.
"""

import matplotlib.pyplot as plt

from evidentia import SECMdd
from evidentia.datasets import load
from evidentia.plots import plot_medoids

X = load("iris", as_frame=True).data
model = SECMdd(3, random_state=0).fit(X)
plot_medoids(model, X)
plt.show()
