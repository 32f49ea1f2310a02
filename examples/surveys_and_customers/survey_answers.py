"""
What kinds of answers does a survey get?
========================================

Seven questions with three possible answers each, 400 people, three ways of thinking: categories only, no distances.

:class:`~evidentia.LatentClassMixture` finds the classes and their number by BIC; its table says what each class tends
to answer. Missing answers stay missing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evidentia import LatentClassMixture

rng = np.random.default_rng(0)
tendency = np.array([[0, 0, 0, 1, 1, 1, 1], [2, 2, 2, 2, 1, 1, 0], [0, 2, 1, 0, 2, 0, 2]])
kind = rng.choice(3, 400, p=[0.5, 0.3, 0.2])
answers = np.where(rng.random((400, 7)) < 0.75, tendency[kind], rng.integers(3, size=(400, 7)))
table = pd.DataFrame(np.array(["no", "perhaps", "yes"])[answers], columns=[f"question {q}" for q in range(1, 8)])
table = table.mask(rng.random(table.shape) < 0.05)

model = LatentClassMixture(cluster_range=(1, 5), n_init=3, random_state=0).fit(table)
print(model.partition_)

fig, axes = plt.subplots(1, model.n_clusters_, figsize=(11, 3.6), layout="constrained", sharey=True)
for k, ax in enumerate(axes):
    members = table[model.labels_ == k]
    shares = pd.DataFrame({name: column.value_counts(normalize=True) for name, column in members.items()})
    shares = shares.reindex(["no", "perhaps", "yes"]).fillna(0)
    start = np.zeros(7)
    for color, (answer, values) in zip(("C0", "silver", "C1"), shares.iterrows()):
        ax.barh(shares.columns, values, left=start, color=color, label=answer)
        start += values.to_numpy()
    ax.set(title=f"class {k}: {len(members)} people", xlabel="share of answers", xlim=(0, 1))
axes[0].invert_yaxis()
axes[-1].legend(loc="lower right")
plt.show()
