"""
Which pair should the expert look at?
=====================================

Most pairs say nothing that the data do not say themselves. The partition knows which ones would.

An :class:`~evidentia.constraints.ActiveSession` asks about the objects that are most in doubt; here the truth answers
in place of the expert. Pairs drawn at random (six draws) teach the shapes of the clusters sooner, and then leave a
rest that they seldom meet; the questions go on until nothing is in doubt: after 36 answers every flower is in the
right cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import rand_score

from evidentia import CECM, PairwiseConstraints
from evidentia.constraints import ActiveSession, ask_oracle
from evidentia.datasets import load

iris = load("iris")
model = CECM(3, adaptive=True, n_init=1, random_state=0)
asked = ask_oracle(ActiveSession(model, iris.data), iris.target, 36)

counts = np.array([12, 24, 36])
drawn = np.empty((6, 3))
for seed, column in np.ndindex(drawn.shape):
    links = PairwiseConstraints.sample(iris.target, counts[column], random_state=seed)
    drawn[seed, column] = rand_score(iris.target, model.fit(iris.data, constraints=links).labels_)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(asked.rand_index, "-", color="C0", linewidth=2, label="pairs that the partition asks about")
ax.plot(counts, drawn.T, ".", color="C1")
ax.plot(counts, drawn.mean(axis=0), "o--", color="C1", label="pairs drawn at random")
ax.set(xlabel="answers", ylabel="Rand index with the species", title="Answers about 150 flowers")
ax.legend()
plt.show()
