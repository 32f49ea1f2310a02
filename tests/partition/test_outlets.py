"""What a partition gives to others: equality, a notebook, the largest masses alone."""

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition import SparsePartition

rng = np.random.default_rng(2)
SETS = FocalSets(4, "pairs")
MASSES = rng.dirichlet(np.full(len(SETS), 0.2), size=30)
NAMES = [f"<b>{i}" for i in range(30)]
PARTITION = CredalPartition(MASSES, SETS, object_names=NAMES, label_rule="pignistic")


def test_partitions_are_equal_when_all_of_them_is():
    assert CredalPartition(MASSES, SETS, object_names=NAMES, label_rule="pignistic") == PARTITION
    assert hash(CredalPartition(MASSES, SETS, object_names=NAMES, label_rule="pignistic")) == hash(PARTITION)
    moved = MASSES.copy()
    moved[3, :2] = moved[3, 1::-1]
    for other in (
        CredalPartition(moved, SETS, object_names=NAMES, label_rule="pignistic"),
        CredalPartition(MASSES, SETS, object_names=NAMES),
        CredalPartition(MASSES, SETS, label_rule="pignistic"),
        CredalPartition(MASSES, FocalSets(4, SETS.masks[::-1].tolist()), object_names=NAMES, label_rule="pignistic"),
        PARTITION[:29],
        "a word",
    ):
        assert other != PARTITION


def test_a_notebook_shows_the_summary_and_the_most_doubtful():
    page = PARTITION._repr_html_()
    assert "30 objects in 4 clusters" in page
    worst = PARTITION.most_doubtful(5)
    for i in worst:
        assert f"&lt;b&gt;{i}" in page  # names are no markup
    assert "<b>" not in page
    assert page.count("<tr") == 6
    assert "no answer" not in CredalPartition(MASSES, SETS)._repr_html_()
    assert "<table" not in CredalPartition(MASSES, SETS, no_answer="It collapsed & fell.")._repr_html_()
    assert "collapsed &amp; fell" in CredalPartition(MASSES, SETS, no_answer="It collapsed & fell.")._repr_html_()


def test_the_largest_masses_and_the_rest():
    top = PARTITION.top(3)
    order = np.sort(MASSES, axis=1)[:, ::-1]
    np.testing.assert_allclose(top.masses, order[:, :3], atol=1e-7)
    np.testing.assert_allclose(top.rest, order[:, 3:].sum(axis=1), atol=1e-7)
    assert top.sets.tolist() == SETS.masks[np.argsort(-MASSES, axis=1, kind="stable")[:, :3]].tolist()
    again = top.to_partition()
    for i in range(30):
        for mask, mass in zip(SETS.masks.tolist(), again.masses[i]):
            kept = MASSES[i, SETS.masks == mask][0] if mask in top.sets[i] else 0
            assert mass == pytest.approx(kept + top.rest[i] * (mask == 0b1111), abs=1e-6)
    assert (again.label_rule, again.object_names) == ("pignistic", tuple(NAMES))
    np.testing.assert_allclose(PARTITION.top(99).to_partition().masses, MASSES, atol=1e-6)


def test_a_rest_needs_a_set_of_all_clusters():
    sets = FocalSets(3, "singletons", empty=False)
    partition = CredalPartition([[0.6, 0.3, 0.1]], sets).top(1).to_partition()
    assert partition.focal_sets.names() == ["{0}", "{1}", "{2}", "{0,1,2}"]
    np.testing.assert_allclose(partition.masses, [[0.6, 0, 0, 0.4]], atol=1e-6)


def test_its_file_is_small_and_is_read_again(tmp_path):
    masses = np.tile(MASSES, (200, 1))
    partition = CredalPartition(masses, SETS)
    whole, small = partition.save(tmp_path / "whole.npz"), partition.top(2).save(tmp_path / "top.npz")
    assert small.stat().st_size < 0.35 * whole.stat().st_size
    again = SparsePartition.load(small)
    np.testing.assert_array_equal(again.sets, partition.top(2).sets)
    np.testing.assert_array_equal(again.masses, partition.top(2).masses)
    np.testing.assert_array_equal(again.rest, partition.top(2).rest)
    assert again.focal_sets == SETS
    named = SparsePartition.load(PARTITION.top(2).save(tmp_path / "named.npz"))
    assert (named.object_names, named.label_rule, named.no_answer) == (tuple(NAMES), "pignistic", None)
    assert repr(named) == repr(PARTITION.top(2))
    with pytest.raises(ValueError, match=r"whole\.npz is an \.npz archive, .* not a sparse partition"):
        SparsePartition.load(whole)
