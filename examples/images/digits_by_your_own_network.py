"""
Handwritten digits, by a network of your own
============================================

Which digits belong together? A small convolutional network, trained by :class:`~evidentia.NNEVCLUS` without labels.

Its masses are to be in conflict where images are unlike, pixel by pixel, even after a step of one pixel in any
direction. It learns from half of the images and then places the other half. Needs PyTorch (``pip install
"evidentia[nn]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from torch import nn

from evidentia import NNEVCLUS, FocalSets


def network(n_outputs: int) -> nn.Module:
    """Images of 8 × 8 pixels in one channel to one number for each set of clusters."""
    return nn.Sequential(
        nn.Conv2d(1, 8, kernel_size=3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 3 * 3, n_outputs),
    )


def unlike(images: np.ndarray) -> np.ndarray:
    """The smallest distance of two images when one of them may be moved by a pixel."""
    steps = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    flat = images.reshape(len(images), -1)
    moved = [np.roll(images, step, axis=(2, 3)).reshape(flat.shape) for step in steps]
    found = np.min([cdist(flat, other) for other in moved], axis=0)
    np.fill_diagonal(found, 0)
    return np.minimum(found, found.T)


images, digits = load_digits(n_class=3, return_X_y=True)
images = images.reshape(-1, 1, 8, 8) / 16
torch.manual_seed(0)
focal_sets = FocalSets(3, "pairs")
model = NNEVCLUS(
    3,
    focal_sets=focal_sets,
    module=network(len(focal_sets)),
    metric=unlike(images[::2]),
    n_init=1,
    tol=1e-3,
    random_state=0,
)
model.fit(images[::2])
found = model.predict_partition(images[1::2])
print(f"ARI with the digits: {adjusted_rand_score(digits[::2], model.labels_):.3f} in the fit,")
print(f"{adjusted_rand_score(digits[1::2], found.labels()):.3f} for {len(found)} new images")

# %%
# The assigned ones look like their cluster; the doubtful ones are badly written.

rows = {f"assigned to cluster {k}": found.lower(k) for k in range(3)}
rows["most in doubt"] = found.most_doubtful(10)
fig, axes = plt.subplots(len(rows), 10, figsize=(9, 4.2), layout="constrained")
for line, (name, members) in zip(axes, rows.items()):
    for ax in line:
        ax.axis("off")
    for ax, member in zip(line, members):
        ax.imshow(images[1::2][member, 0], cmap="gray_r")
    line[0].set_title(f"{name} ({len(members)})", loc="left", fontsize="medium")
plt.show()
