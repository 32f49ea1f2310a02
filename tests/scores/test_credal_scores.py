"""Credal Rand indices and nonspecificity: reference numbers, definition pair by pair, special cases, errors."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import rand_score

from evidentia import CredalPartition, FocalSets
from evidentia.belief.uncertainty import belief_distance, conflict, jousselme_distance
from evidentia.scores import credal_rand_index, credal_scores, pair_nonspecificity

MEASURES = {"conflict": "c", "jousselme": "j", "belief": "b"}
SLOW = {"conflict": conflict, "jousselme": jousselme_distance, "belief": belief_distance}


@pytest.fixture
def numbers(reference):
    return reference("credal_measures")


def partition(numbers, which):
    focal_sets = FocalSets(3, [np.flatnonzero(row).tolist() for row in numbers["F"]])
    return CredalPartition(numbers[f"mass_{which}"], focal_sets)


def random_partition(n, seed, n_clusters=3, **families):
    focal_sets = FocalSets(n_clusters, **families)
    return CredalPartition(np.random.default_rng(seed).dirichlet(np.full(len(focal_sets), 0.3), n), focal_sets)


def index_by_definition(p, q, measure):
    """The calculus on the frame {same, different}, one pair of objects at a time."""
    frame = FocalSets(2)  # {}, {same}, {different}, {same, different}
    pairs = list(combinations(range(len(p)), 2))
    first, second = (np.transpose(partition.relational(pairs)) for partition in (p, q))
    return 1 - SLOW[measure](first, second, frame).mean()


@pytest.mark.parametrize("measure", MEASURES)
def test_index_agrees_with_reference(numbers, measure):
    a, b = partition(numbers, "A"), partition(numbers, "B")
    hard, key = numbers["hard_labels"], MEASURES[measure]
    for p, q, name in ((a, b, "A_B"), (a, a, "A_A"), (a, hard, "A_hard"), (hard, hard, "hard_hard")):
        expected = numbers[f"RI_{name}"][key]
        assert credal_rand_index(p, q, measure=measure) == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("which", ["A", "B"])
def test_nonspecificity_agrees_with_reference(numbers, which):
    assert pair_nonspecificity(partition(numbers, which)) == pytest.approx(numbers[f"nonspecificity_{which}"])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("n", [2, 30, 300])  # 300: more than one tile
def test_index_matches_its_definition(measure, n):
    p, q = random_partition(n, 0), random_partition(n, 1, 4, family="pairs", empty=False)
    expected = index_by_definition(p, q, measure)
    assert credal_rand_index(p, q, measure=measure) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 300])
def test_nonspecificity_matches_its_definition(n):
    p = random_partition(n, 2)
    masses = p.relational(list(combinations(range(n), 2)))
    assert pair_nonspecificity(p) == pytest.approx(np.mean(masses.empty + masses.unknown), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@given(labels=st.data())
def test_index_of_hard_partitions_is_the_rand_index(measure, labels):
    n = labels.draw(st.integers(2, 15))
    one, two = (labels.draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n)) for _ in range(2))
    assert credal_rand_index(one, two, measure=measure) == pytest.approx(rand_score(one, two), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_index_is_symmetric_and_blind_to_names_and_order(measure):
    p, q = random_partition(40, 4), random_partition(40, 5)
    value = credal_rand_index(p, q, measure=measure)
    order = np.random.default_rng(6).permutation(40)
    assert credal_rand_index(q, p, measure=measure) == pytest.approx(value, abs=1e-12)
    assert credal_rand_index(p.relabel([2, 0, 1]), q, measure=measure) == pytest.approx(value, abs=1e-12)
    assert credal_rand_index(p[order], q[order], measure=measure) == pytest.approx(value, abs=1e-12)
    assert credal_rand_index(p[order], q, measure=measure) != pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("measure", ["jousselme", "belief"])
def test_a_partition_is_at_distance_zero_from_itself_exactly(measure):
    p = random_partition(300, 7)
    assert credal_rand_index(p, p, measure=measure) == 1


def test_labels_are_certain_masses():
    labels = np.array(["x", "y", "x", "z"])
    certain = CredalPartition(np.eye(3)[[0, 1, 0, 2]], FocalSets(3, "singletons", empty=False, omega=False))
    p = random_partition(4, 8)
    for measure in MEASURES:
        expected = credal_rand_index(p, certain, measure=measure)
        assert credal_rand_index(p, labels, measure=measure) == pytest.approx(expected, abs=1e-14)
    assert pair_nonspecificity(certain) == 0


def test_there_may_be_more_classes_than_a_frame_holds():
    truth = np.repeat(np.arange(100), 2)
    assert credal_rand_index(truth, np.roll(truth, 1)) == pytest.approx(rand_score(truth, np.roll(truth, 1)))


def test_ignorance_is_consistent_with_everything_and_says_nothing():
    ignorant = CredalPartition(np.ones((4, 1)), FocalSets(2, [{0, 1}]))
    assert credal_rand_index(ignorant, [0, 1, 0, 1]) == 1
    assert pair_nonspecificity(ignorant) == 1


def test_outliers_agree_with_nothing():
    lost = CredalPartition(np.ones((4, 1)), FocalSets(2, [set()]))
    assert credal_rand_index(lost, [0, 1, 0, 1]) == 0
    assert pair_nonspecificity(lost) == 1


def test_table_of_scores(numbers):
    table = credal_scores(partition(numbers, "A"), numbers["hard_labels"])
    assert list(table.index) == ["consistency", "pair_nonspecificity", "jousselme", "belief"]
    expected = numbers["RI_A_hard"]
    np.testing.assert_allclose(table, [expected["c"], 0.7415, expected["j"], expected["b"]])


def test_bad_input_is_named():
    p = random_partition(5, 9)
    with pytest.raises(ValueError, match=r"'measure' must be one of 'conflict', 'jousselme', 'belief'. Got 'euclid'"):
        credal_rand_index(p, p, measure="euclid")
    with pytest.raises(ValueError, match=r"Both partitions must be of the same objects. Got 5 and 4 objects"):
        credal_rand_index(p, p[:4])
    with pytest.raises(ValueError, match="'q' must not have missing labels"):
        credal_rand_index(p, [0, 1, np.nan, 1, 0])
    with pytest.raises(ValueError, match=r"'p' must be a partition of at least two objects. Got 1"):
        credal_rand_index(p[:1], [0])


def test_the_empty_set_agrees_with_nothing_and_normalized_partitions_leave_it_out():
    names = ["a", "b", "c"]
    partition = CredalPartition(
        [[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0.2, 0, 0.8, 0]], FocalSets(2), object_names=names, label_rule="pignistic"
    )
    proper = partition.normalize()
    assert (proper.object_names, proper.label_rule) == (partition.object_names, "pignistic")
    np.testing.assert_allclose(proper.masses, [[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert credal_rand_index(proper, [0, 0, 1]) == pytest.approx(1)
    # The pairs hold 0.5, 0.4 and 0.8 beside the empty set.
    assert credal_rand_index(partition, [0, 0, 1]) == pytest.approx((0.5 + 0.4 + 0.8) / 3)
