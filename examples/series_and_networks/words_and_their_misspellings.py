"""
Words and their misspellings
============================

Which word was meant, and which spellings could be either?

Words have no mean, but Levenshtein's distance: the number of letters to add, drop or change. With a function of two
objects SoftECM represents each cluster, and each pair of them, by one of the words.
"""

import matplotlib.pyplot as plt

from evidentia import CredalPartition, SoftECM
from evidentia.plots import plot_masses

WORDS = [
    "dessert", "desert", "desserts", "dessret", "deserts", "desser", "dessart", "dezert", "decent", "descent", "desent",
    "decend", "decant", "decents", "descend", "deccent", "receipt", "reciept", "receit", "recipt", "receipts",
    "resceipt",
]  # fmt: skip


def levenshtein(a: str, b: str) -> float:
    """Letters to add, drop or change until one word is the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return float(row[-1])


model = SoftECM(3, metric=levenshtein, n_init=20, random_state=0).fit(WORDS)
partition = CredalPartition(model.partition_.masses, model.focal_sets_, object_names=WORDS)
sets = list(model.focal_sets_)
best = [sets[at] for at in partition.masses.argmax(axis=1)]
for subset, word in zip(filter(None, sets), model.prototypes_):
    held = [name for name, found in zip(WORDS, best) if found == subset]
    print(f"{sorted(subset)}, like {WORDS[word]!r}: {', '.join(held) or '-'}")
fig, ax = plt.subplots(figsize=(9, 4), layout="constrained")
plot_masses(partition, ax=ax)
ax.tick_params(axis="x", rotation=60)
plt.show()
