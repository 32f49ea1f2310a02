"""
More rows than memory
=====================

The rows stay in their file and are read in chunks. The answer is the same, and so is the doubt.

Sixty thousand rows are written in three files here; sixty million work in the same way. The picture is a density,
because nobody sees sixty thousand points.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from evidentia import EGMM, open_rows
from evidentia.plots import plot_partition

rng = np.random.default_rng(0)
rows = rng.normal(size=(60_000, 2)) + np.array([[0, 0], [5, 1], [2, 5]])[rng.integers(3, size=60_000)]
with tempfile.TemporaryDirectory() as folder:
    for part in range(3):
        np.save(Path(folder) / f"part-{part}.npy", rows[part::3])
    model = EGMM(3, model="EEE", random_state=0).fit(open_rows(f"{folder}/part-*.npy"))

found = model.predict_partition(rows)
print(found)
plot_partition(found, rows, density=True)
plt.show()
