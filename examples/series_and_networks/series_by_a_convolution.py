"""
Series that begin at any moment
===============================

Series of three shapes, each somewhere in time: a convolution finds the shapes, wherever they are.

Euclidean distances between such series say little, so the fit is given dissimilarities that do not mind a shift: the
smallest distance of one series to all rotations of the other. The network is shift-invariant too, and so it can place
new series without any dissimilarity. Needs PyTorch (``pip install "evidentia[nn]"``).
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import nn

from evidentia import EVCLUS, NNEVCLUS, FocalSets

LENGTH = 48


def series(n_series: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A bump, a dip or two waves, each at a random moment of a noisy series."""
    time = np.arange(16)
    bump, waves = np.sin(np.pi * time / 16), np.sin(np.pi * time / 4)
    shapes = np.stack([bump, -bump, waves])
    kinds = rng.integers(3, size=n_series)
    found = np.zeros((n_series, LENGTH))
    found[:, :16] = shapes[kinds]
    starts = rng.integers(LENGTH, size=n_series)
    found = np.stack([np.roll(row, start) for row, start in zip(found, starts)])
    return found + 0.1 * rng.normal(size=found.shape), kinds


def nearest_rotation(found: np.ndarray) -> np.ndarray:
    """Distance of two series when one may be rotated: all rotations at once, by the Fourier transform."""
    spectrum = np.fft.rfft(found)
    product = np.fft.irfft(spectrum[:, None] * spectrum[None].conj(), n=LENGTH).max(axis=2)
    square = np.square(found).sum(axis=1)
    unlike = np.sqrt(np.maximum(square[:, None] + square - 2 * product, 0))
    np.fill_diagonal(unlike, 0)
    return (unlike + unlike.T) / 2


class Rotational(nn.Module):
    """Filters along the circle of time, and the mean and maximum of each: the same for every rotation."""

    def __init__(self, n_outputs: int):
        super().__init__()
        self.filters = nn.Conv1d(1, 12, kernel_size=12, padding="same", padding_mode="circular")
        self.outputs = nn.Linear(24, n_outputs)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        found = self.filters(rows[:, None]).relu()
        return self.outputs(torch.cat([found.mean(2), found.amax(2)], dim=1))


rng = np.random.default_rng(0)
(train, kinds), (new, new_kinds) = series(150, rng), series(200, rng)
focal_sets = FocalSets(3, "pairs")
torch.manual_seed(0)
module, unlike = Rotational(len(focal_sets)), nearest_rotation(train)
model = NNEVCLUS(3, focal_sets=focal_sets, module=module, metric=unlike, n_init=1, tol=1e-3, random_state=0)
model.fit(train)
found = model.predict_partition(new)
plain = EVCLUS(3, random_state=0).fit(train).labels_
print(f"ARI with the shapes: {adjusted_rand_score(kinds, plain):.3f} by Euclidean distances (EVCLUS),")
print(f"{adjusted_rand_score(kinds, model.labels_):.3f} by the network and dissimilarities that allow rotations,")
print(f"{adjusted_rand_score(new_kinds, found.labels()):.3f} for {len(new)} new series")

# %%
# Six new series of each cluster, of those that are assigned:

fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for k, ax in enumerate(axes):
    members = found.lower(k)
    ax.plot(new[members[:6]].T + 2.2 * np.arange(min(6, len(members))), color=f"C{k}", lw=1.2)
    ax.set(title=f"assigned to cluster {k}: {len(members)} new series", xlabel="time", yticks=[])
plt.show()
