"""
The zoo: what each method means by doubt
========================================

The same objects, every method, three clusters: two groups that overlap, one apart, and two objects far from all of
them.

Each place is painted in the colors of the sets that would hold an object there, each set by its mass: blue, orange
and green are single clusters, mixed colors sets of two, gray is "any of them" and black is the empty set, "none of
them". What a method means by doubt is where the colors of single clusters end: memberships fade into each other,
sets lie between clusters, outliers begin at a distance or nowhere.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb

from evidentia import methods
from evidentia.plots import set_style

rng = np.random.default_rng(0)
groups = [rng.normal(center, spread, (40, 2)) for center, spread in (([0, 0], 0.8), ([3, 0], 0.8), ([1.5, 4.5], 0.6))]
X = np.vstack([*groups, [[-4, 5.5], [6.5, 6]]])
x, y = np.meshgrid(np.linspace(-5, 8, 66), np.linspace(-3, 8, 56))
places = np.column_stack([x.ravel(), y.ravel()])

QUICKER = {"bootgmm": {"n_boot": 100, "model": "EEE"}, "nnevclus": {"n_init": 1, "tol": 1e-2}, "egmm": {"model": "EEE"}}


def fitted(name, cls):
    """A method with three clusters, where that can be said, and all sets, where they can be chosen."""
    given = {"n_clusters": 3, "random_state": 0, "focal_sets": "full"}
    takes = {key: value for key, value in given.items() if key in cls.parameters}
    if "full" not in cls.method.families:
        takes.pop("focal_sets", None)
    return cls(**takes | QUICKER.get(name, {})).fit(X)


def painted(partition):
    """The color of each object: those of its sets, by their masses."""
    colors = [to_rgb(set_style(int(mask), partition.n_clusters).color) for mask in partition.focal_sets.masks]
    return np.clip(partition.masses @ np.array(colors), 0, 1)


zoo = {
    name: cls for name, cls in methods.all_methods().items() if not cls.method.learner and "table" in cls.method.reads
}
rows = -(-len(zoo) // 4)
fig, axes = plt.subplots(rows, 4, figsize=(13, 2.9 * rows), layout="constrained")
reference = fitted("egmm", zoo["egmm"]).predict_partition(places)
for ax, (name, cls) in zip(axes.flat, zoo.items()):
    found = fitted(name, cls).predict_partition(places)
    if found.n_clusters == 3:
        found = found.align(reference)  # the same color for the same cluster
    ax.imshow(painted(found).reshape(*x.shape, 3), origin="lower", extent=(-5, 8, -3, 8), aspect="auto")
    ax.scatter(*X.T, s=9, color="white", edgecolor="black", linewidth=0.5)
    ax.set_title(f"{cls.__name__}: {cls.method.doubt.replace('`', '')}", fontsize="medium")
for ax in axes.flat:
    ax.axis("off")
plt.show()
