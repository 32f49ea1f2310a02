"""Is this grouping real? Two tables, cut into two clusters each: one has two groups, the other is a single cloud.

A Gaussian mixture is sure of itself in both. BootGMM asks how much the answer would change with other data: for the
cloud it leaves open which objects belong together. Run as ``python examples/is_this_grouping_real.py [FILE.png]``.
"""

import sys

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from evidentia import BootGMM
from evidentia.plots import plot_pair_draws, plot_partition


def main(path: str) -> None:
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(200, 2))
    groups = cloud + 4 * (np.arange(200) % 2)[:, None]
    _, axes = plt.subplots(2, 2, figsize=(12.5, 7.5), layout="constrained")
    for row, (name, X) in zip(axes, {"two groups": groups, "one cloud": cloud}.items()):
        model = BootGMM(2, model="VVV", n_boot=500, random_state=0).fit(X)
        plot_partition(model.partition_, X, ax=row[0])
        row[0].set_title(f"{name}: nonspecificity {model.partition_.normalized_nonspecificity:.2f}")
        by_width = np.argsort(model.intervals_.upper - model.intervals_.lower)
        i, j = model.intervals_.pairs[by_width[int(0.9 * len(by_width))]].tolist()
        plot_pair_draws(model, i, j, ax=row[1])
        row[1].set_title("a pair whose interval is wider than nine in ten")
    plt.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "is-this-grouping-real.png")
