"""
Doubt beside the cells, in AnnData
==================================

``tl.egmm(adata)`` writes the clusters, the sets and the doubt of each cell into ``obs``, in the way of scanpy's
tools.

Cells of three types along a path: those on the way from one type to the next are the doubtful ones.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np

from evidentia import tl

rng = np.random.default_rng(0)
path = np.concatenate([rng.normal(center, 0.35, 120) for center in (0, 2, 4)] + [rng.uniform(0, 4, 60)])
genes = np.column_stack([np.exp(-((path - place) ** 2) / 2) for place in np.linspace(-1, 5, 12)])
adata = anndata.AnnData(genes + 0.08 * rng.normal(size=genes.shape))
centered = adata.X - adata.X.mean(axis=0)
left, values, _ = np.linalg.svd(centered, full_matrices=False)
adata.obsm["X_pca"] = left[:, :2] * values[:2]

tl.egmm(adata, 3, use_rep="X_pca", model="EEE", focal_sets="pairs", random_state=0)
print(adata.obs.head())

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
drawn = ax.scatter(*adata.obsm["X_pca"].T, c=adata.obs["egmm_nonspecificity"], s=14, cmap="viridis", vmin=0)
fig.colorbar(drawn, label="nonspecificity")
ax.set(xlabel="PC 1", ylabel="PC 2", title="Cells between two types are in doubt")
plt.show()
