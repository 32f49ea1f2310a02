"""
The colors of a flower
======================

How many colors has a picture? Pixels are rows of three numbers, and they are many: a sample is enough to find the
clusters.

The mixture is fitted to two thousand pixels and then places all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from evidentia import EGMM

photo = load_sample_image("flower.jpg")[::4, ::4] / 255
pixels = photo.reshape(-1, 3)
sample = pixels[np.random.default_rng(0).choice(len(pixels), 2000, replace=False)]
model = EGMM(4, model="VVV", random_state=0).fit(sample)
found = model.predict_partition(pixels)
ambiguous = (found.sets().sum(axis=1) > 1).reshape(photo.shape[:2])

fig, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
axes[0].imshow(photo)
axes[0].set_title("picture")
axes[1].imshow(np.clip(model.cluster_centers_, 0, 1)[found.labels()].reshape(photo.shape))
axes[1].set_title("four colors")
axes[2].imshow(np.where(ambiguous[..., None], [0.9, 0.3, 0.1], photo * 0.35 + 0.6))
axes[2].set_title(f"ambiguous: {ambiguous.mean():.0%} of the pixels")
for ax in axes:
    ax.axis("off")
plt.show()
