import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets

# Five objects by hand: sure of 0; torn between 1 and 2; an outlier; sure of 2 with some doubt; knows nothing.
FOCAL = FocalSets(3)  # {}, {0}, {1}, {2}, {0,1}, {0,2}, {1,2}, {0,1,2}
MASSES = np.array(
    [
        [0.0, 0.8, 0.0, 0.1, 0.1, 0.0, 0.0, 0.0],
        [0.1, 0.0, 0.2, 0.1, 0.0, 0.0, 0.6, 0.0],
        [0.7, 0.1, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0],
        [0.0, 0.0, 0.1, 0.6, 0.0, 0.3, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
)


@pytest.fixture
def partition():
    return CredalPartition(MASSES, FOCAL, object_names=list("abcde"), cluster_names=["red", "green", "blue"])


def random_partition(n=40, c=4, family="full", seed=0):
    focal = FocalSets(c, family)
    return CredalPartition(np.random.default_rng(seed).dirichlet(np.full(len(focal), 0.3), size=n), focal)


def test_hard_rough_and_outlier_views(partition):
    assert partition.sets().tolist() == [
        [True, False, False],
        [False, True, True],
        [False, False, False],
        [False, False, True],
        [True, True, True],
    ]
    assert partition.lower(0).tolist() == [0]
    assert partition.upper(0).tolist() == [0, 4]
    assert partition.lower(2).tolist() == [3]
    assert partition.upper(2).tolist() == [1, 3, 4]
    assert partition.outliers().tolist() == [2]
    # plausibilities of object 3: 0.3, 0.1, 0.9
    assert partition.labels()[[0, 3]].tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"There are clusters 0 to 2. Got 3"):
        partition.lower(3)


def test_fuzzy_and_possibilistic_views(partition):
    np.testing.assert_allclose(partition.contour[3], [0.3, 0.1, 0.9])
    np.testing.assert_allclose(partition.pignistic[3], [0.15, 0.1, 0.75])
    np.testing.assert_allclose(partition.fuzzy("plausibility")[3], np.array([0.3, 0.1, 0.9]) / 1.3)
    np.testing.assert_allclose(partition.fuzzy()[4], [1 / 3] * 3)
    lost = CredalPartition([[1.0, 0.0]], FocalSets(4, [(), {0, 1, 2, 3}]))
    assert lost.fuzzy().tolist() == lost.fuzzy("plausibility").tolist() == [[0.25] * 4]
    np.testing.assert_allclose(partition.pignistic[1], np.array([0, 0.5, 0.4]) / 0.9)
    with pytest.raises(ValueError, match="'rule' must be 'pignistic' or 'plausibility'"):
        partition.fuzzy("belief")


def test_largest_masses_come_first(partition):
    at, masses = partition.largest(2)
    assert [[partition.focal_sets.names()[j] for j in row] for row in at[:2]] == [["{0}", "{2}"], ["{1,2}", "{1}"]]
    np.testing.assert_allclose(masses[:2], [[0.8, 0.1], [0.6, 0.2]])


def test_print_is_for_a_person(partition):
    assert str(partition) == (
        "5 objects in 3 clusters\n"
        "  2 ( 40 %) assigned to one cluster      {red}: 1, {blue}: 1\n"
        "  2 ( 40 %) ambiguous between clusters   {green,blue}: 1, {red,green,blue}: 1\n"
        "  1 ( 20 %) outliers, in none of them\n"
        "Assigned: belief of 0.6 or more. Mean nonspecificity 0.51, mean uncertainty 0.59 "
        "(0: certain, 1: nothing known).\n"
        "Most doubtful: e, c, b."
    )
    # log2|A| / log2(3), the empty set counted as 3: rows 0.1, 0.6 + 0.1 log2 3, 0.2 + 0.7 log2 3, 0.3, log2 3
    expected = (0.1 + 0.6 + 0.2 + 0.3) / np.log2(3) + 0.1 + 0.7 + 1
    assert partition.normalized_nonspecificity == pytest.approx(expected / 5)
    kinds = "2 assigned, 2 ambiguous, 1 outliers"
    assert repr(partition) == f"CredalPartition(5 objects, 3 clusters, 8 focal sets: {kinds})"


def test_table_has_a_row_per_object(partition):
    table = partition.to_pandas()
    assert list(table.index) == list("abcde")
    assert table.loc["b", "set"] == "{green,blue}"
    assert table.loc["d", "cluster"] == "blue"
    assert table.loc["d", ["belief", "plausibility"]].tolist() == pytest.approx([0.6, 0.9])
    np.testing.assert_allclose(table.filter(like="m{").sum(axis=1), 1)
    assert table.loc["b", "m{green,blue}"] == 0.6
    assert CredalPartition(MASSES, FOCAL).to_pandas().index.tolist() == [0, 1, 2, 3, 4]


def test_anndata_gets_columns(partition):
    import anndata

    adata = anndata.AnnData(np.zeros((5, 2)), obs=pd.DataFrame(index=list("abcde")))
    partition.to_anndata(adata)
    assert adata.obs["evidentia_set"].tolist()[1] == "{green,blue}"
    np.testing.assert_allclose(adata.obs["evidentia_outlier"], MASSES[:, 0])
    np.testing.assert_allclose(adata.obsm["evidentia_masses"], MASSES)
    assert adata.uns["evidentia"]["focal_sets"][1] == "{red}"
    with pytest.raises(ValueError, match="has 4 observations, the partition 5"):
        partition.to_anndata(anndata.AnnData(np.zeros((4, 2))))


def test_anndata_in_another_order_gets_what_belongs_to_its_observations(partition):
    import anndata

    adata = anndata.AnnData(np.zeros((5, 2)), obs=pd.DataFrame(index=list("edcba")))
    partition.to_anndata(adata)
    np.testing.assert_array_equal(adata.obsm["evidentia_masses"], MASSES[::-1])
    assert adata.obs["evidentia_set"].tolist() == partition.to_pandas()["set"].tolist()[::-1]
    with pytest.raises(ValueError, match=r"of the AnnData object have names, such as 'e', and those of the partition"):
        partition.name_objects(None).to_anndata(adata)
    partition.name_objects(None).to_anndata(anndata.AnnData(np.zeros((5, 2))))  # whose names are "0" to "4"


def test_names_that_files_do_not_keep_are_refused():
    for what in ("object_names", "cluster_names"):
        with pytest.raises(ValueError, match=rf"'{what}' must not end in NUL characters, .* Got 'a\\x00'"):
            CredalPartition([[1, 0], [0, 1]], FocalSets(2, [{0}, {1}]), **{what: ["a\0", "a"]})


def test_it_cannot_be_changed_nor_be_wrong(partition):
    with pytest.raises(ValueError, match="read-only"):
        partition.masses[0, 0] = 1
    with pytest.raises(AttributeError, match="immutable"):
        partition.masses = MASSES
    with pytest.raises(ValueError, match=r"row 1 sums to 0.9 \(1 of 5 rows are off\)"):
        CredalPartition(MASSES - 0.1 * (np.arange(40).reshape(5, 8) == 8), FOCAL)
    with pytest.raises(ValueError, match=r"'object_names' must hold 5 names. Got 2"):
        CredalPartition(MASSES, FOCAL, object_names=["a", "b"])
    mine = MASSES.copy()
    CredalPartition(mine, FOCAL)
    mine[0, 0] = 3  # a copy was taken


def test_relabeling_moves_clusters_and_nothing_else():
    partition = random_partition()
    order = [2, 0, 3, 1]
    moved = partition.relabel(order)
    np.testing.assert_allclose(moved.contour, partition.contour[:, order])
    np.testing.assert_allclose(moved.pignistic, partition.pignistic[:, order])
    np.testing.assert_array_equal(moved.focal_sets.masks, partition.focal_sets.masks)  # the full family, in its order
    for mask, j in zip(moved.focal_sets, range(16)):
        old = {order[k] for k in mask}
        np.testing.assert_allclose(moved.masses[:, j], partition.masses[:, partition.focal_sets.index(old)])
    np.testing.assert_allclose(moved.relabel(np.argsort(order)).masses, partition.masses)
    with pytest.raises(ValueError, match=r"each of 0..3 once. Got \[0, 0, 1, 2\]"):
        partition.relabel([0, 0, 1, 2])


def test_align_undoes_a_relabeling_and_canonical_forgets_it():
    partition = random_partition(seed=3)
    for order in ([3, 1, 0, 2], [1, 2, 3, 0]):
        moved = partition.relabel(order)
        np.testing.assert_allclose(moved.align(partition).masses, partition.masses)
        np.testing.assert_allclose(moved.sort_clusters().masses, partition.sort_clusters().masses)
    sizes = partition.sort_clusters().pignistic.sum(axis=0)
    assert (np.diff(sizes) <= 0).all()
    with pytest.raises(ValueError, match="40 objects in 4 clusters and 40 objects in 3 clusters"):
        partition.align(random_partition(c=3))


def test_combine_is_dempsters_rule_object_by_object():
    a, b = random_partition(12, 3, seed=1), random_partition(12, 3, "pairs", seed=2)
    fused = a.combine(b)
    for i in range(12):
        expected = dict.fromkeys(range(8), 0.0)
        for j, A in enumerate(a.focal_sets.masks.tolist()):
            for k, B in enumerate(b.focal_sets.masks.tolist()):
                expected[A & B] += a.masses[i, j] * b.masses[i, k]
        for mask, mass in zip(fused.focal_sets.masks.tolist(), fused.masses[i]):
            assert mass == pytest.approx(0 if mask == 0 else expected[mask] / (1 - expected[0]))
    with pytest.raises(ValueError, match=r"refine\(…\) brings two frames to a common one"):
        a.combine(random_partition(12, 4))
    with pytest.raises(ValueError, match="must be one of 'dempster', 'conjunctive'"):
        a.combine(b, rule="mean")


def test_refined_frames_fuse_as_in_the_brain_image():
    """T1 knows fluid from the rest, T2 knows lesion from the rest; fused, the three are told apart."""
    t1 = CredalPartition([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]], FocalSets(2, [{0}, {1}, {0, 1}]), object_names=["p", "q"])
    t2 = CredalPartition([[0.6, 0.3, 0.1], [0.1, 0.9, 0.0]], FocalSets(2, [{0}, {1}, {0, 1}]), object_names=["q", "p"])
    names = ["fluid", "tissue", "lesion"]
    fused = t1.refine([{0}, {1, 2}], cluster_names=names).combine(t2.refine([{2}, {0, 1}]))
    assert fused.cluster_names == tuple(names)
    assert fused.object_names == ("p", "q")
    # object q by hand: conflict 0.1*0.6 = 0.06; lesion 0.8*0.6 + 0.1*0.6 = 0.54; tissue 0.8*0.3 = 0.24;
    # fluid 0.1*0.3 + 0.1*0.1 = 0.04; fluid or tissue 0.1*0.3 = 0.03; tissue or lesion 0.8*0.1 = 0.08; all 0.01
    expected = {"{lesion}": 0.54, "{tissue}": 0.24, "{fluid}": 0.04, "{fluid,tissue}": 0.03, "{tissue,lesion}": 0.08}
    found = dict(zip(fused.focal_sets.names(names), fused.masses[1]))
    for name, mass in expected.items():
        assert found[name] == pytest.approx(mass / 0.94)


def test_rows_can_be_chosen(partition):
    chosen = partition[[3, 0]]
    assert chosen.object_names == ("d", "a")
    np.testing.assert_allclose(chosen.masses, MASSES[[3, 0]])
    assert len(partition[2]) == 1
    assert len(partition[np.array([True, False, True, False, False])]) == 2


def test_too_many_pairs_are_refused_before_memory_is_gone():
    n = 20_000
    big = CredalPartition(np.ones((n, 1)), FocalSets(1, [{0}]), copy=False)
    with pytest.raises(MemoryError, match=r"All pairs of 20000 objects need 11.9 GiB. Name the pairs"):
        big.relational()
    assert big.relational([[0, n - 1]]).same.tolist() == [1.0]


def test_names_may_be_an_index(partition):
    frame = pd.Index(["x", "y", "z", "u", "v"])
    assert CredalPartition(MASSES, FOCAL, object_names=frame).name(2) == "z"
    assert CredalPartition(MASSES, FOCAL).name(2) == "2"


def test_an_object_with_little_belief_is_ambiguous_wherever_it_is_shown(tmp_path):
    family = FocalSets(3, [{0}, {1}, {2}, {0, 1}])
    partition = CredalPartition([[0.5, 0.0, 0.3, 0.2], [0.9, 0.1, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]], family)
    assert partition.hard_masks.tolist() == [0b1, 0b1, 0b1]  # by the largest mass alone
    assert partition.set_masks.tolist() == [0b101, 0b1, 0b111]  # the two or three largest hold 0.8, 0.9 and 0.75
    assert partition.sets().tolist() == [[True, False, True], [True, False, False], [True, True, True]]
    assert partition.sets("mass").sum(axis=1).tolist() == [1, 1, 1]
    assert partition.sets(level=0.5).sum(axis=1).tolist() == [1, 1, 2]
    assert partition.set_counts == {0b1: 1, 0b101: 1, 0b111: 1}
    assert partition.lower(0).tolist() == [1]
    assert partition.lower(0, rule="mass").tolist() == [0, 1, 2]
    assert partition.upper(2).tolist() == [0, 2]
    table = partition.to_pandas()
    assert table["set"].tolist() == ["{0,2}", "{0}", "{0,1,2}"]
    assert table["kind"].tolist() == ["ambiguous", "assigned", "ambiguous"]
    assert partition.explain(0).kind == "ambiguous"
    assert "1 assigned, 2 ambiguous, 0 outliers" in repr(partition)
    assert "assigned to one cluster      {0}: 1\n" in str(partition)


def test_a_tie_is_broken_alike_everywhere():
    partition = CredalPartition([[0.4, 0.2, 0.4]], FocalSets(2, [{0, 1}, {0}, {1}]))
    assert partition.hard_masks.tolist() == [2]
    assert partition.lower(1, rule="mass").tolist() == [0]


def test_labels_follow_one_rule_wherever_they_are_shown(tmp_path):
    focal_sets = FocalSets(3, [{0}, {1}, {2}, {1, 2}])
    masses = [[0.45, 0, 0, 0.55], [0.1, 0.5, 0.4, 0]]  # the first by plausibility is 1, by pignistic probability 0
    plain = CredalPartition(masses, focal_sets)
    assert plain.labels().tolist() == [1, 1]
    partition = CredalPartition(masses, focal_sets, label_rule="pignistic")
    copies = (partition, partition[[0, 1]], CredalPartition.load(partition.save(tmp_path / "p.npz")))
    for one in copies:
        assert one.label_rule == "pignistic"
        assert one.labels().tolist() == one.to_pandas()["cluster"].tolist() == [0, 1]
        assert one.labels("plausibility").tolist() == [1, 1]
    assert partition.relabel([2, 1, 0]).labels().tolist() == [2, 1]


def test_what_is_no_answer_calls_nobody_assigned(tmp_path):
    why = "EGMM collapsed. Ask for fewer clusters."
    partition = CredalPartition(np.eye(2)[[0, 0, 1]], FocalSets(2, [{0}, {1}]), no_answer=why)
    for one in (
        partition,
        partition[[2]],
        partition.relabel([1, 0]),
        CredalPartition.load(partition.save(tmp_path / "p")),
    ):
        assert one.no_answer == why
        assert one.summary() == f"{len(one)} objects: no answer\n  {why}\n  No object is assigned to a cluster."
        assert repr(one) == f"CredalPartition({len(one)} objects, 2 clusters: no answer)"
    sound = CredalPartition(np.eye(2)[[0, 0, 1]], FocalSets(2, [{0}, {1}]))
    assert sound.no_answer is None
    assert sound.combine(partition).no_answer == why
    assert partition.explain(0).note == why
