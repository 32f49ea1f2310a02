"""Draw the pictures of the documentation again: ``python docs/make_images.py``."""

from pathlib import Path
from runpy import run_path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from evidentia import ECM, EGMM, KPCCA, NNEVCLUS, WMVEC, CatECM, PairwiseConstraints, communities, fuse, select
from evidentia.datasets import load, make_butterfly, make_circles, make_egmm_four_class, make_student_four_class
from evidentia.plots import (
    plot_contours,
    plot_distances,
    plot_ellipses,
    plot_masses,
    plot_partition,
    plot_selection,
    plot_trace,
    plot_view_conflict,
    plot_view_weights,
)

IMAGES = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parents[1] / "examples"


def four_groups():
    """The example of the README: a table of 800 objects, and EGMM fitted to it."""
    X = make_egmm_four_class(random_state=0).as_frame().data
    return X, EGMM(random_state=0).fit(X)


def first_result():
    X, model = four_groups()
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
    plot_partition(model.partition_, X, centers=model.cluster_centers_, ax=left, s=16)
    left.set_title("Objects by the set that holds most of their mass")
    walk = X[X["x2"].between(3.6, 4.4)].sort_values("x1").index.to_numpy()
    walk = walk[np.linspace(0, len(walk) - 1, 24).astype(int)]
    plot_masses(model.partition_, objects=walk, ax=right)
    right.set(title="Masses of 24 objects on a walk from group 3 to group 0", xticks=[], xlabel="left to right")


def reading():
    X = make_butterfly().as_frame().data
    partition = ECM(n_clusters=2, rho=5, random_state=0).fit(X).partition_
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    plot_partition(partition, X, ax=left, s=60)
    left.get_legend().remove()
    for number, point in enumerate(X.to_numpy()):
        left.annotate(str(number), point, xytext=(-6, 8), textcoords="offset points", fontsize="small")
    left.margins(0.12)
    left.set_title("The objects")
    plot_masses(partition, objects=range(len(X)), ax=right)
    right.set_title("Their masses")


def ellipses():
    X, model = four_groups()
    plot_ellipses(model, X)


def contours():
    X, model = four_groups()
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    plot_contours(model, X, ax=left)
    plot_contours(model, X, what="plausibility", subset={0}, ax=right)


def masses():
    _, model = four_groups()
    plot_masses(model.partition_)


def selection():
    X, _ = four_groups()
    paper = {"model": "EEE", "prior": None, "init": "k-means", "n_init": 10}
    families = {family: EGMM(focal_sets=family, **paper) for family in ("full", "pairs")}
    plot_selection(select(X, families, criteria="ebic", random_state=0))


def trace():
    plot_trace(four_groups()[1])


def distances():
    circles = make_circles(random_state=0)
    links = PairwiseConstraints.sample(circles.target, 50, random_state=0)
    rows = KPCCA(1).fit(circles.data, constraints=links).transform(circles.data)
    plot_distances(circles.data, rows, labels=circles.target)


def nnevclus():
    X = make_student_four_class(random_state=0).as_frame().data
    model = NNEVCLUS(4, outliers=True, random_state=0).fit(X)
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
    plot_contours(model, X, what="plausibility", boundary=True, ax=left)
    left.set_title("Plausibility of each cluster")
    plot_contours(model, X, subset=(), ax=right)
    right.set_title("Mass on the empty set")


def fusion():
    iris = load("iris", as_frame=True)
    X = iris.data
    parts = {
        "egmm": EGMM(3, random_state=0).fit(X),
        "ecm": ECM(3, random_state=0).fit(X),
        "k-means": KMeans(3, random_state=0).fit_predict(X),
    }
    found = fuse(parts, rule="hedge")
    _, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
    columns = list(X.columns[[2, 3]])
    plot_partition(found.partition, X, columns=columns, ax=left, s=24)
    left.set_title("What the three say together")
    places = X[columns].to_numpy().T
    points = right.scatter(*places, c=found.conflict, s=24, cmap="magma_r", vmin=0, edgecolors="gray", linewidths=0.4)
    right.figure.colorbar(points, label="conflict of two of the three, on average")
    right.set(title="Where they contradict each other", xlabel=columns[0], ylabel=columns[1])


def graphs():
    communities(nx.karate_club_graph(), random_state=0).plot(names="all")


def views():
    rng = np.random.default_rng(0)
    group = np.arange(120) % 4
    seen = {"blood": [0, 0, 1, 1], "scan": [0, 1, 0, 1], "genes": [0, 1, 1, 0]}
    unit = {"blood": 1, "scan": 100, "genes": 0.01}
    tables = {
        name: unit[name] * (rng.normal(size=(120, 3)) + 5 * np.array(told)[group][:, None])
        for name, told in seen.items()
    }
    tables["noise"] = rng.normal(size=(120, 10))
    tables["blood"][:5] = tables["blood"][[2, 3, 0, 1, 6]]
    model = WMVEC(4, random_state=0).fit(tables)
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=(1, 1.4))
    plot_view_weights(model, ax=left)
    left.set_title("How much each view counts")
    plot_view_conflict(model, n_objects=12, ax=right)
    right.set_title("Where the views disagree")


def categories():
    rng = np.random.default_rng(0)
    party = np.repeat([0, 1, 2], [24, 18, 6])  # the last vote with either
    agrees = np.array([0.88, 0.12, 0.5])[party, None] > rng.uniform(size=(48, 14))
    votes = pd.DataFrame(np.where(agrees, "yes", "no")).mask(rng.uniform(size=(48, 14)) < 0.05)
    model = CatECM(2, random_state=0).fit(votes)
    order = np.argsort(model.partition_.pignistic[:, 1])
    _, (left, right) = plt.subplots(2, 1, figsize=(10, 5.2), height_ratios=[1.2, 1], layout="constrained")
    shown = votes.map({"yes": 1.0, "no": 0.0}.get).to_numpy(dtype=float)[order].T
    left.imshow(shown, cmap="cividis", aspect="auto", interpolation="nearest")
    left.set(xticks=[], ylabel="question", title="Answers of 48 people: yes (bright), no (dark), none (white)")
    plot_masses(model.partition_, objects=order.tolist(), order="given", ax=right).set_xticks([])


def series():
    run_path(str(EXAMPLES / "series_and_networks" / "which_recordings_are_alike.py"))


def main():
    IMAGES.mkdir(exist_ok=True)
    for draw in (
        first_result,
        reading,
        ellipses,
        contours,
        masses,
        selection,
        trace,
        distances,
        nnevclus,
        fusion,
        graphs,
        views,
        categories,
        series,
    ):
        draw()
        plt.savefig(IMAGES / f"{draw.__name__.replace('_', '-')}.png", dpi=110)
        plt.close()


if __name__ == "__main__":
    main()
