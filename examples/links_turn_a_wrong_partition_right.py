"""Can ten links turn a wrong partition into the right one? Four groups on a square; two and two belong together.

Left and right belong together as well as top and bottom do: nothing in the table tells which is meant. ECM with an
adaptive metric decides by chance, here for top and bottom. CECM listens to ten pairs of objects drawn at random (lines:
together; dashed: apart) and finds left and right. Run as
``python examples/links_turn_a_wrong_partition_right.py [FILE.png]``.
"""

import sys

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
from sklearn.metrics import rand_score

from evidentia import CECM, ECM, PairwiseConstraints
from evidentia.datasets import make_cecm_two_class
from evidentia.plots import plot_partition


def main(path: str) -> None:
    data = make_cecm_two_class(random_state=2)
    links = PairwiseConstraints.sample(data.target, 10, random_state=0)
    models = {
        "ECM, no links": ECM(2, focal_sets="full", adaptive=True, alpha=1, rho=10.0, random_state=0).fit(data.data),
        "CECM, ten links": CECM(2, adaptive=True, random_state=0).fit(data.data, constraints=links),
    }
    _, axes = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
    for ax, (name, model) in zip(axes, models.items()):
        plot_partition(model.partition_, data.data, hulls=None, ax=ax)
        ax.set_title(f"{name}: Rand index {rand_score(data.target, model.labels_):.2f}")
    for i, j, must, _ in links:
        axes[1].plot(*data.data[[i, j]].T, "k-" if must else "k--", linewidth=1)
    plt.savefig(path, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "links-turn-a-wrong-partition-right.png")
