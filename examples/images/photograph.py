"""
Sky, roof or shadow?
====================

A photograph has no sharp border between what is lit and what is not. Which pixels could be either?

Colors are clustered by evidential c-means; the map on the right shows where the data cannot tell.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from evidentia.app.images import segment

photo = load_sample_image("china.jpg")[::3, ::3]
found = segment(photo, "ecm", 3, random_state=0)
print(found)

fig, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
axes[0].imshow(photo)
axes[0].set_title("photograph")
axes[1].imshow(found.means[found.labels()] / 255)
axes[1].set_title("most plausible cluster, in its mean color")
drawn = axes[2].imshow(found.nonspecificity(), cmap="magma")
axes[2].set_title("doubt")
fig.colorbar(drawn, ax=axes[2], label="nonspecificity")
for ax in axes:
    ax.axis("off")
plt.show()
