"""``evidentia fuse``, and ``evidentia fit --ensemble``."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition, FocalSets, fuse

TRUTH = np.repeat([0, 1], [4, 3])
OTHER = np.array([1, 1, 1, 0, 0, 0, 0])  # numbered the other way, and another opinion about object 3


def saved(path, labels, names):
    sure = CredalPartition(np.eye(2)[labels], FocalSets(2, "singletons", empty=False), object_names=list(names))
    return sure.save(path)


@pytest.fixture
def two(tmp_path):
    (tmp_path / "b").mkdir()
    return saved(tmp_path / "a.npz", TRUTH, "tuvwxyz"), saved(tmp_path / "b" / "partition.npz", OTHER, "tuvwxyz").parent


def test_two_partitions_are_fused_and_written(run, two, tmp_path):
    out = tmp_path / "out"
    code, said = run("fuse", *two, "--rule", "hedge", "--out", out)
    assert code == 0, said
    found = fuse({"a": TRUTH, "partition": OTHER}, rule="hedge")
    assert "2 partitions of 7 objects fused by averaging, with contradictions as doubt" in said
    assert "Conflict 0.14 on average, above 0.5 for 1. Most contested: w." in said
    np.testing.assert_array_equal(CredalPartition.load(out / "partition.npz").contour, found.partition.contour)
    conflict = pd.read_csv(out / "conflict.csv", index_col=0)["conflict"]
    assert (conflict.index[0], conflict.iloc[0], conflict.sum()) == ("w", 1.0, 1.0)
    assert pd.read_csv(out / "alignment.csv").to_numpy().tolist() == [[0, 0, 1], [1, 1, 0]]
    assert "7 objects in 2 clusters" in run("show", out)[1]
    assert "Most contested: w" in (out / "report.html").read_text()


def test_without_out_nothing_is_written(run, two):
    code, said = run("fuse", *two, "--frame", "refine", "--min-share", "0.3", "--discount", "0.1")
    assert code == 0
    assert "a cluster for each combination that holds enough objects" in said
    assert "Nothing was written; --out DIR" in said


def test_what_cannot_be_fused_is_refused_in_a_sentence(run, two, tmp_path):
    assert run("fuse", two[0])[1].endswith("takes two partitions or more: evidentia fuse a.npz b.npz.\n")
    assert "The same partition is named twice" in run("fuse", two[0], two[0])[1]
    assert "There is no file" in run("fuse", two[0], tmp_path / "c.npz")[1]
    strange = saved(tmp_path / "c.npz", TRUTH, "tuvwxyq")
    code, said = run("fuse", two[0], strange)
    assert code == 2
    assert "only partition a has 'z' and only partition c has 'q'" in said


def test_an_ensemble_of_fits(run, table, tmp_path):
    out = tmp_path / "out"
    code, said = run("fit", table, "--method", "fcm", "--clusters", "2", "--ensemble", "6", "--id", "patient",
                     "--out", out)  # fmt: skip
    assert code == 0, said
    assert "the masses are those of 6 fits to other rows, from other starts" in said
    partition = CredalPartition.load(out / "partition.npz")
    assert "{0,1}" in partition.focal_sets.names()  # fcm has single clusters only: these are the contradictions
    code = re.search(r"<code>(import pandas.*?)</code>", (out / "report.html").read_text(), re.DOTALL)[1]
    names = {}
    exec(unescape(code), names)  # the recipe of the report
    np.testing.assert_allclose(names["found"].partition.align(partition).masses, partition.masses, atol=1e-9)
    run("fit", table, "--method", "fcm", "--clusters", "2", "--id", "patient", "--out", tmp_path / "one")
    one = CredalPartition.load(tmp_path / "one" / "partition.npz")
    assert (partition.labels() == one.labels()).mean() > 0.9
    assert partition.object_names == one.object_names


def test_an_ensemble_does_not_go_with_links_or_rows_in_files(run, table, tmp_path):
    links = tmp_path / "links.csv"
    links.write_text("a,b,link\n")
    code, said = run("fit", table, "--method", "cecm", "--clusters", "2", "--links", links, "--ensemble", "4")
    assert (code, "--ensemble does not go with --links" in said) == (2, True)
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    assert "--ensemble needs all rows in memory" in run("fit", tmp_path / "x.npy", "--ensemble", "4")[1]
