"""
An outlier score for every place
================================

How far does a cluster reach, and where does "none of them" begin?

The mass on the empty set is an outlier score between 0 and 1, for the objects of the fit and for new ones: here for
every place of the plane. The line is where it becomes the largest mass.
"""

import matplotlib.pyplot as plt
import numpy as np

from evidentia import ECM
from evidentia.datasets import make_student_four_class

X = make_student_four_class(random_state=0).data
model = ECM(4, focal_sets="pairs", rho=3, random_state=0).fit(X)

x, y = np.meshgrid(np.linspace(-8, 12, 160), np.linspace(-8, 12, 160))
places = model.predict_partition(np.column_stack([x.ravel(), y.ravel()]))
score = places.empty.reshape(x.shape)
strange = (places.hard_masks == 0).reshape(x.shape)

fig, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
drawn = ax.pcolormesh(x, y, score, cmap="Purples", vmin=0, vmax=1, rasterized=True)
ax.contour(x, y, strange, levels=[0.5], colors="crimson", linewidths=1.5)
ax.plot(*X.T, ".", color="black", markersize=4)
fig.colorbar(drawn, label="mass on the empty set")
ax.set(title=f"{len(model.partition_.outliers())} of 400 objects are outliers", xlim=(-8, 12), ylim=(-8, 12))
plt.show()
