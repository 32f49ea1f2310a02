"""Random mass functions, and plain dictionaries to check them against.

The dictionaries map frozensets of clusters to masses. Every definition is one line of set algebra on them, so
they serve as the slow twin of the array code without sharing masks, column orders or matrix products with it.
"""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from evidentia.belief import FocalSets, MassFunctions


def random_masses(n_samples, focal_sets, seed=0, zeros=0.3):
    """Rows that sum to one, a share of the entries exactly zero."""
    rng = np.random.default_rng(seed)
    masses = rng.gamma(0.7, size=(n_samples, len(focal_sets)))
    masses[rng.random(masses.shape) < zeros] = 0
    masses[np.arange(n_samples), rng.integers(len(focal_sets), size=n_samples)] += 0.1  # no empty row
    return masses / masses.sum(axis=1, keepdims=True)


def random_mass_functions(n_samples, focal_sets, seed=0, zeros=0.3):
    return MassFunctions(random_masses(n_samples, focal_sets, seed, zeros), focal_sets)


@st.composite
def focal_families(draw, n_clusters=None):
    """Any list of subsets, in any order, with or without the empty set and the frame."""
    c = draw(st.integers(1, 4)) if n_clusters is None else n_clusters
    return FocalSets(c, draw(st.lists(st.integers(0, 2**c - 1), min_size=1, unique=True)))


@st.composite
def mass_functions(draw, n_clusters=None, n_samples=None, dogmatic=True):
    """A batch of 1 to 3 mass functions; with ``dogmatic=False`` all have mass on the frame."""
    family = draw(focal_families(n_clusters))
    n = draw(st.integers(1, 3)) if n_samples is None else n_samples
    masses = random_masses(n, family, seed=draw(st.integers(0, 2**32 - 1)), zeros=draw(st.sampled_from([0, 0.4])))
    if not dogmatic:
        whole = (1 << family.n_clusters) - 1
        if whole not in family:
            family = FocalSets(family.n_clusters, [*family.masks.tolist(), whole])
            masses = np.column_stack([masses, np.zeros(n)])
        masses[:, family.index(whole)] += 0.2
        masses /= masses.sum(axis=1, keepdims=True)
    return MassFunctions(masses, family)


@st.composite
def mass_function_pairs(draw, dogmatic=True):
    """Two batches over the same clusters with different focal sets and matching numbers of rows."""
    c, n = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sizes = draw(st.sampled_from([(n, n), (n, 1), (1, n)]))
    return tuple(draw(mass_functions(c, size, dogmatic)) for size in sizes)


def all_subsets(n_clusters):
    return [frozenset(ks) for size in range(n_clusters + 1) for ks in combinations(range(n_clusters), size)]


def as_dicts(m):
    """One ``{frozenset: mass}`` a row, focal sets without mass left out."""
    subsets = list(m.focal_sets)
    return [{a: x for a, x in zip(subsets, row, strict=True) if x != 0} for row in m.masses.tolist()]


def assert_same_dicts(got, expected, atol=1e-12):
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        keys = sorted({*one, *other}, key=sorted)
        np.testing.assert_allclose([one.get(a, 0) for a in keys], [other.get(a, 0) for a in keys], atol=atol)
