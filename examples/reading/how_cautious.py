"""
How cautious do you want to be?
===============================

A dial between one cluster for everybody and every cluster that cannot be ruled out.

At 0 each flower gets its most plausible cluster, and some of these are wrong. The further the dial is turned, the
more flowers keep several clusters, and the more often the right one is among them.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import ECM
from evidentia.datasets import load

iris = load("iris")
partition = ECM(3, focal_sets="full", random_state=0).fit(iris.data).partition_
# Which cluster is which species: the species of most of its flowers.
species = np.array([np.bincount(iris.target[partition.labels() == k]).argmax() for k in range(3)])
own = np.argsort(species)[iris.target]

dial = np.linspace(0, 1, 21)
sets = [partition.sets("cautious", cautiousness=value) for value in dial]
right = [found[np.arange(150), own].mean() for found in sets]
size = [found.sum(axis=1).mean() for found in sets]

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(dial, right, "o-", color="C0", markersize=4, label="the right species is in the set")
ax.set(xlabel="cautiousness", ylabel="share of flowers", ylim=(0.8, 1.005))
other = ax.twinx()
other.plot(dial, size, "s--", color="C1", markersize=4, label="species in a set, on average")
other.set(ylabel="species in a set", ylim=(0.95, 2.0))
ax.legend(handles=[*ax.lines, *other.lines], loc="upper left")
ax.set_title("Iris: what caution costs, and what it buys")
plt.show()
