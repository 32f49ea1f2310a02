"""A lazy partition beside the one in memory; the rows are the masses themselves, so that nothing is fitted."""

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition.counts import Certainty
from evidentia.partition.lazy import LazyLabels, LazyPartition
from odd_rows import OddRows

FAMILY = FocalSets(3, [(), {0}, {2}, {0, 1}, {1, 2}])
MASSES = np.random.default_rng(3).dirichlet([0.3, 0.5, 0.4, 0.6, 0.5], size=29)
WEIGHT = np.arange(29) % 4 / 2


class CountedRows(OddRows):
    """Odd rows that count how often a handle was read, in copies of them too."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.reads = []

    def read(self, handle):
        self.reads.append(handle)
        return super().read(handle)


@pytest.fixture
def both():
    """Lazy over five handles, one of them empty; and in memory."""
    kwargs = {"cluster_names": ["a", "b", "c"], "label_rule": "belief"}
    rows = CountedRows(MASSES, WEIGHT, size=8)
    return LazyPartition(rows, lambda table: table.copy(), FAMILY, **kwargs), CredalPartition(MASSES, FAMILY, **kwargs)


def test_it_answers_as_the_one_in_memory(both):
    lazy, plain = both
    assert (len(lazy), lazy.n_clusters) == (29, 3)
    assert lazy.labels().dtype == np.int32
    for rule in (None, "plausibility", "mass"):
        np.testing.assert_array_equal(lazy.labels(rule), plain.labels(rule))
    assert (plain.labels() != plain.labels("plausibility")).any()  # so that the rule matters
    assert lazy.summary() == str(lazy)
    assert lazy.summary().replace("row ", "") == plain.summary()
    assert [len(part) for part in lazy.blocks()] == [4, 4, 4, 4, 4, 4, 2, 3]
    there = lazy.compute()
    np.testing.assert_array_equal(there.masses, MASSES)
    assert (there.cluster_names, there.label_rule, there.no_answer) == (("a", "b", "c"), "belief", None)
    assert repr(lazy) == "LazyPartition(29 rows of 5 columns in 5 parts, 3 clusters, 5 focal sets)"


def test_certainty_counts_each_row_as_its_weight_says(both):
    lazy, plain = both
    squares = (plain.pignistic**2).sum(axis=1)
    expected = WEIGHT.sum(), WEIGHT @ plain.nonspecificity, WEIGHT @ squares
    assert lazy.certainty == pytest.approx(Certainty(*expected))
    assert plain.certainty == pytest.approx(Certainty(29, plain.nonspecificity.sum(), squares.sum()))


def test_sums_over_parts_of_several_partitions_of_the_same_rows(both):
    lazy, _ = both
    turned = LazyPartition(lazy.rows, lambda table: table[:, ::-1].copy(), FAMILY)
    found = lazy.reduce(lambda one, two: Certainty(len(one), one.empty.sum(), two.empty.sum()), turned)
    assert found == pytest.approx(Certainty(29, MASSES[:, 0].sum(), MASSES[:, 4].sum()))


def test_a_pass_is_made_once_and_writing_is_a_pass(both, tmp_path):
    lazy, _ = both
    summary, _ = lazy.summary(), lazy.certainty
    assert len(lazy.rows.reads) == 10
    assert (lazy.summary(), lazy.certainty.total) == (summary, WEIGHT.sum())
    assert len(lazy.rows.reads) == 10
    another = LazyPartition(lazy.rows, lambda table: table.copy(), FAMILY, cluster_names="abc", label_rule="belief")
    another.to_parquet(tmp_path)
    assert len(lazy.rows.reads) == 15
    assert another.summary() == summary
    assert len(lazy.rows.reads) == 15


@pytest.mark.parametrize("masses", [None, "float32", "float64"])
def test_files_hold_what_the_table_in_memory_says(both, masses, tmp_path):
    lazy, plain = both
    folder = tmp_path / "new" / "folder"
    folder.mkdir(parents=True)
    (folder / "part-00077.parquet").write_text("of an earlier call")
    assert lazy.to_parquet(folder, masses=masses) == folder
    assert sorted(path.name for path in folder.iterdir()) == [f"part-0000{at}.parquet" for at in (1, 2, 3, 4)]
    found, expected = pd.read_parquet(folder), plain.to_pandas().reset_index(drop=True)
    names = [f"m{name}" for name in FAMILY.names("abc")] if masses else []
    assert list(found.columns) == ["cluster", "set", "plausibility", "nonspecificity", *names]
    assert found["set"].tolist() == expected["set"].tolist()
    np.testing.assert_array_equal(found["cluster"], plain.labels())
    numbers = ["plausibility", "nonspecificity", *names]
    np.testing.assert_allclose(found[numbers], expected[numbers], atol=1e-7)
    assert {str(found[name].dtype) for name in names} == ({masses} if masses else set())


def test_a_zarr_group_holds_the_same(both, tmp_path):
    import zarr

    lazy, plain = both
    assert lazy.to_zarr(tmp_path / "z", masses="float32") == tmp_path / "z"
    group = zarr.open_group(tmp_path / "z", mode="r")
    assert group["focal_sets"][:].tolist() == FAMILY.masks.tolist()
    assert group["set"][:].tolist() == plain.set_masks.tolist()
    np.testing.assert_array_equal(group["cluster"][:], plain.labels())
    np.testing.assert_array_equal(group["masses"][:], MASSES.astype(np.float32))
    np.testing.assert_allclose(group["plausibility"][:], plain.contour[np.arange(29), plain.labels()], atol=1e-7)
    np.testing.assert_allclose(group["nonspecificity"][:], plain.nonspecificity, atol=1e-7)
    assert {tuple(group[name].chunks) for name in ("cluster", "masses")} == {(65_536,), (65_536, 5)}


@pytest.mark.parametrize("write", ["to_parquet", "to_zarr"])
def test_masses_are_written_as_numbers_that_exist(both, write, tmp_path):
    with pytest.raises(ValueError, match=r"'masses' must be one of 'float32', 'float64' or None\. Got 'float16'"):
        getattr(both[0], write)(tmp_path / "x", masses="float16")
    assert not (tmp_path / "x").exists()


def test_a_source_of_unknown_length_is_counted_and_one_without_rows_is_empty(tmp_path):
    lazy = LazyPartition(OddRows(MASSES, size=8, known=False), lambda table: table.copy(), FAMILY)
    assert len(lazy) == 29
    nobody = LazyPartition(OddRows(MASSES[:0]), lambda table: table, FAMILY)
    assert (len(nobody), nobody.labels().shape, nobody.compute().masses.shape) == (0, (0,), (0, 5))
    assert list(nobody.to_parquet(tmp_path).iterdir()) == []


def test_labels_are_found_when_they_are_asked_for(both):
    lazy, plain = both
    labels = LazyLabels(lazy)
    assert (len(labels), lazy.rows.reads) == (29, [])
    np.testing.assert_array_equal(labels.compute(), plain.labels())
    assert np.asarray(labels, dtype=float).tolist() == plain.labels().tolist()
    assert repr(labels) == f"LazyLabels of {lazy!r}; compute() gives them"


def test_no_answer_is_told():
    lazy = LazyPartition(OddRows(MASSES), lambda table: table, FAMILY, no_answer="All rows are equal.")
    assert lazy.summary() == "29 objects: no answer\n  All rows are equal.\n  No object is assigned to a cluster."
    assert lazy.compute().no_answer == "All rows are equal."
