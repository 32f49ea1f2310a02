"""Relational masses: definition over all pairs of focal sets, reference numbers, and the ways to walk over pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from evidentia import CredalPartition, FocalSets
from evidentia.partition.relational import TILE, PairFactors, pairwise, pairwise_blocks, triangle_tiles
from strategies import mass_functions


def by_definition(partition, i, j):
    """Sum m_i(A) m_j(B) into {}, same, different or unknown, one pair of focal sets at a time."""
    found = dict.fromkeys(("empty", "same", "different", "unknown"), 0.0)
    for a, first in zip(partition.focal_sets, partition.masses[i]):
        for b, second in zip(partition.focal_sets, partition.masses[j]):
            if not a or not b:
                kind = "empty"
            elif not a & b:
                kind = "different"
            else:
                kind = "same" if a == b and len(a) == 1 else "unknown"
            found[kind] += first * second
    return list(found.values())


def random_partition(n, n_clusters=3, seed=0, **families):
    focal_sets = FocalSets(n_clusters, **families)
    return CredalPartition(np.random.default_rng(seed).dirichlet(np.full(len(focal_sets), 0.3), n), focal_sets)


@given(mass_functions())
def test_relational_masses_match_their_definition(m):
    partition = CredalPartition(m.masses, m.focal_sets)
    pairs = list(combinations(range(len(partition)), 2))
    if not pairs:
        return
    slow = [by_definition(partition, i, j) for i, j in pairs]
    np.testing.assert_allclose(np.transpose(partition.relational(pairs)), slow, atol=1e-12)


def test_relational_masses_by_hand():
    # {0} with 0.5 and {0,1} with 0.5; {} with 0.2, {0} with 0.3, {1} with 0.5
    partition = CredalPartition([[0, 0.5, 0, 0.5], [0.2, 0.3, 0.5, 0]], FocalSets(2))
    found = partition.relational([(0, 1)])
    np.testing.assert_allclose(np.ravel(found), [0.2, 0.15, 0.25, 0.4])
    assert found.plausibility_same == pytest.approx(0.55)
    assert found.plausibility_different == pytest.approx(0.65)


def test_rounding_leaves_no_mass_below_zero():
    """Probabilities leave nothing unknown, but for rounding, which falls on either side."""
    partition = CredalPartition(np.random.default_rng(0).dirichlet([1, 1, 1], 30), FocalSets(3, [{0}, {1}, {2}]))
    for found in (partition.relational(), partition.relational(list(combinations(range(30), 2)))):
        assert found.unknown.min() == 0
        assert found.unknown.max() < 1e-15


@pytest.mark.parametrize("which", ["A", "B"])
def test_relational_masses_agree_with_reference(reference, which):
    numbers = reference("credal_measures")
    focal_sets = FocalSets(3, [np.flatnonzero(row).tolist() for row in numbers["F"]])
    pairs = [(i, j) for j in range(5) for i in range(j + 1, 5)]
    found = pairwise(np.array(numbers[f"mass_{which}"]), focal_sets, np.array(pairs))
    expected = numbers[f"pairwise_{which}"]
    np.testing.assert_allclose(found.empty, expected["Me"], atol=1e-12)
    np.testing.assert_allclose(found.same, expected["M1"], atol=1e-12)
    np.testing.assert_allclose(found.different, expected["M0"], atol=1e-12)


@pytest.mark.parametrize("families", [{}, {"family": "pairs", "empty": False}, {"family": [{2}, {0, 1}]}])
def test_blocks_and_chosen_pairs_agree(families):
    partition = random_partition(600, **families)
    i, j = np.indices((600, 600)).reshape(2, -1)
    chosen = partition.relational(np.column_stack([i, j]))
    for whole, part in zip(partition.relational(), chosen):
        np.testing.assert_allclose(whole.ravel(), part, atol=1e-12)
    rows = [rows for rows, _ in pairwise_blocks(partition.masses, partition.focal_sets)]
    assert len(rows) > 1
    assert [row for block in rows for row in range(block.start, block.stop)] == list(range(600))


def test_the_four_masses_add_up_to_one():
    masses = random_partition(50).relational()
    np.testing.assert_allclose(sum(masses), np.ones((50, 50)), atol=1e-12)
    assert min(array.min() for array in masses) >= 0


@pytest.mark.parametrize("n", [1, 2, TILE, TILE + 1, 2 * TILE + 77])
def test_tiles_hold_each_pair_once_and_diagonal_tiles_hold_it_twice(n):
    seen = np.zeros((n, n), dtype=int)
    for rows, columns in triangle_tiles(n):
        seen[rows, columns] += 1
        if rows == columns:
            seen[rows, columns] = np.triu(seen[rows, columns])
    np.testing.assert_array_equal(seen, np.triu(np.ones((n, n), dtype=int)))


def test_factors_cross_equals_the_rows_and_columns_of_the_whole():
    partition = random_partition(40, n_clusters=4, seed=3)
    tile = PairFactors.of(partition.masses, partition.focal_sets).cross(slice(5, 12), slice(20, 40))
    for part, whole in zip(tile, partition.relational()):
        np.testing.assert_allclose(part, whole[5:12, 20:40], atol=1e-14)
