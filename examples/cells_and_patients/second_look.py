"""
Which tumors want a second look?
================================

569 tumors, 30 measurements, no diagnosis given. Where the partition assigns, how often is it right?

Clusters are compared with the diagnosis afterwards. Those that the partition calls ambiguous are where most of the
mistakes are: a second look is best spent on these.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from evidentia import EGMM
from evidentia.plots import plot_partition

X, malignant = load_breast_cancer(return_X_y=True)
plane = PCA(3, random_state=0).fit_transform(StandardScaler().fit_transform(X))
partition = EGMM(2, random_state=0).fit(plane).partition_

labels = partition.labels()
wrong = labels != malignant if (labels == malignant).mean() > 0.5 else labels == malignant
ambiguous = partition.sets().sum(axis=1) > 1

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained", width_ratios=[1.6, 1])
plot_partition(partition, plane, columns=(0, 1), hulls=None, ax=left, s=14)
left.plot(*plane[wrong][:, :2].T, "x", color="crimson", markersize=6)
left.set(xlabel="PC 1", ylabel="PC 2", title="Crosses: not with their own diagnosis")
shares = [wrong.mean(), wrong[~ambiguous].mean(), wrong[ambiguous].mean()]
names = [f"all\n{len(wrong)}", f"assigned\n{(~ambiguous).sum()}", f"ambiguous\n{ambiguous.sum()}"]
bars = right.bar(names, shares, color=["gray", "C0", "C1"])
right.bar_label(bars, [f"{share:.0%}" for share in shares])
right.set(ylabel="share of wrong ones", title="Where the mistakes are", ylim=(0, max(shares) * 1.15))
plt.show()
