"""
Age, blood group and symptoms in one table
==========================================

Numbers, categories and yes-or-no columns have no common distance. Gower's dissimilarity gives them one.

:class:`~evidentia.EVCLUS` needs nothing else: objects that are unlike shall have masses in conflict. The Shepard
diagram shows how well that was met, and the masses show who is between the two groups of simulated patients.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from evidentia import EVCLUS
from evidentia.plots import plot_masses, plot_shepard

rng = np.random.default_rng(0)
ill = np.arange(60) < 30
table = pd.DataFrame(
    {
        "age": np.where(ill, rng.normal(65, 8, 60), rng.normal(40, 8, 60)).round(),
        "smokes": np.where(rng.random(60) < np.where(ill, 0.85, 0.15), "yes", "no"),
        "cough": np.where(rng.random(60) < np.where(ill, 0.9, 0.2), "often", "seldom"),
        "pressure": np.where(ill, rng.normal(150, 9, 60), rng.normal(122, 9, 60)).round(),
    },
    index=[f"patient {number}" for number in range(60)],
)
model = EVCLUS(2, metric="gower", random_state=0).fit(table)
print(
    table.assign(set=model.partition_.to_pandas()["set"]).loc[model.partition_.to_pandas().index].iloc[[0, 1, 58, 59]]
)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", width_ratios=[1, 1.5])
plot_shepard(model, ax=left)
plot_masses(model.partition_, ax=right)
right.set(xticks=[], xlabel="60 patients", title="Their masses")
plt.show()
