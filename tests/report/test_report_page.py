"""The page: complete, self-contained, safe with any text, right in its numbers."""

import re
from html.parser import HTMLParser
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from evidentia import EGMM, CredalPartition, FocalSets
from evidentia.report import pictures, results, write_report, write_results
from evidentia.report.page import clusters_section, column_means, decimals, doubtful_section
from evidentia.report.pictures import telling_columns
from evidentia.selection import select

NASTY = '<script>alert("x")</script> & $title $_{ \'"'
VOID = {"meta", "img", "br", "hr", "link"}


class Reader(HTMLParser):
    """Checks that tags are balanced, and collects pictures and links."""

    def __init__(self):
        super().__init__()
        self.open, self.images, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(path):
    reader = Reader()
    text = path.read_text(encoding="utf-8")
    reader.feed(text)
    assert reader.open == []
    return text, reader


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        np.vstack([rng.normal(0, 1, (15, 3)), rng.normal([6, 6, 0], 1, (15, 3))]), columns=["a", "b", NASTY]
    )
    X.index = [f"{NASTY} {i}" for i in range(30)]
    return X, select(X, EGMM(n_init=2), n_clusters=[2, 3], random_state=0)


def test_a_full_report_is_self_contained_and_escapes_everything(fitted, tmp_path):
    X, selection = fitted
    model = selection.estimator_
    path = write_report(
        tmp_path / "new" / "report.html",
        partition=model.partition_,
        model=model,
        X=X,
        selection=selection,
        settings={NASTY: NASTY},
        notes=[NASTY],
        remark=NASTY,
        command=f"evidentia fit {NASTY}",
        title=NASTY,
    )
    text, reader = read(path)
    assert "script" not in reader.tags
    assert "<script" not in text
    assert "$title" in text  # a dollar in the data is no placeholder
    assert not re.search(r"(?:src|href)=(?!\"data:)", text)
    assert not re.search(r"https?://|@import|url\(", text)
    assert len(reader.images) == 5
    for image in reader.images:
        assert image["src"].startswith("data:image/png;base64,iVBOR")
        assert len(image["alt"]) > 20
    assert "30 of 30 objects (100 %) are surely in one cluster: 15 in cluster 0, 15 in cluster 1." in text
    assert "from evidentia import EGMM" in text
    assert "prefers-color-scheme: dark" in text


def test_a_partition_alone_is_enough(tmp_path):
    text, reader = read(
        write_report(tmp_path / "r.html", partition=CredalPartition([[0, 0.1, 0.2, 0.7]], FocalSets(2)))
    )
    assert len(reader.images) == 1
    assert "In Python" not in text


def cells(section):
    return [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", section)]


def test_the_table_of_clusters_by_hand():
    masses = np.eye(4)[[1, 1, 2, 3, 0]]  # two surely in 0, one surely in 1, one torn, one outlier
    partition = CredalPartition(masses, FocalSets(2), cluster_names=["low", "high"])
    X = np.array([[1.0, 100], [2, np.nan], [9, 300], [5, 200], [33, 150]])
    assert cells(clusters_section(partition, X, ["u", "v"])) == [
        *["", "all", "low", "high"],
        *["surely in it", "3", "2", "1"],
        *["possibly in it", "", "3", "2"],
        *["u", "10.0", "1.5", "9.0"],  # (1+2+9+5+33)/5, (1+2)/2
        *["v", "188", "100", "300"],  # (100+300+200+150)/4, the missing value apart
    ]


def test_the_most_doubtful_come_first_with_their_masses():
    masses = [[0, 0.9, 0, 0.1], [0, 0.25, 0.15, 0.6], [0.7, 0, 0.3, 0]]
    section = doubtful_section(CredalPartition(masses, FocalSets(2), object_names=["sure", "torn", "out"]))
    assert cells(section)[4:] == [
        *["torn", "{0,1}", "0", "", "{0,1} 0.60, {0} 0.25, {1} 0.15"],
        *["out", "none of them", "1", "", "none of them 0.70, {1} 0.30"],
        *["sure", "{0}", "0", "", "{0} 0.90, {0,1} 0.10"],
    ]


def test_means_and_decimals_survive_missing_and_constant_columns():
    table = np.array([[1.0, np.nan, 7, 1e-5], [np.nan, np.nan, 7, 3e-5]])
    np.testing.assert_array_equal(column_means(table), [1, np.nan, 7, 2e-5])
    assert decimals(np.array([[0.0, 0, 7], [4000, 0.03, 7]])).tolist() == [0, 4, 2]
    assert decimals(table).tolist() == [2, 0, 2, 7]


@pytest.mark.parametrize("seed", range(8))
def test_telling_columns_are_those_of_the_largest_scatter_between_clusters(seed):
    rng = np.random.default_rng(seed)
    fuzzy = rng.dirichlet([0.3, 0.5, 1], 80)
    X = (rng.normal(0, 1, (80, 5)) + fuzzy @ rng.normal(0, 2, (3, 5))) * [1, 100, 1, 0.01, 1] + 7
    partition = CredalPartition(fuzzy, FocalSets(3, "singletons", empty=False, omega=False))

    def separation(pair):
        Z = X[:, pair] - X[:, pair].mean(axis=0)
        middle = [(fuzzy[:, [k]] * Z).sum(axis=0) / fuzzy[:, k].sum() for k in range(3)]
        between = sum(fuzzy[:, k].sum() * np.outer(middle[k], middle[k]) for k in range(3))
        return np.trace(np.linalg.solve(Z.T @ Z, between))

    assert telling_columns(partition, X) == max(combinations(range(5), 2), key=separation)


def test_a_column_that_repeats_another_is_not_telling():
    labels = np.repeat([0, 1, 2], 10)
    rng = np.random.default_rng(0)
    X = rng.normal(0, 0.1, (30, 4)) + np.array([[0, 0, 0, 0], [5, 0, 5, 1], [9, 0, 9, 0]])[labels]
    X[:, 2] = 2 * X[:, 0] + 1
    partition = CredalPartition(np.eye(3)[labels], FocalSets(3, "singletons", empty=False, omega=False))
    assert telling_columns(partition, X) == (0, 3)
    X[::7, 3] = np.nan
    assert telling_columns(partition, X) == (0, 3)


def test_results_are_files_and_the_first_is_the_report(fitted, tmp_path):
    X, selection = fitted
    files = write_results(
        tmp_path, partition=selection.estimator_.partition_, model=selection.estimator_, X=X, object_column="who"
    )
    assert files[0].name == "report.html"
    assert sorted(files) == sorted(tmp_path.iterdir())
    for file in files[3:]:
        assert file.read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(tmp_path / "masses.csv", index_col="who")
    assert table.index.tolist() == X.index.tolist()


def test_a_picture_that_fails_does_not_lose_the_result(fitted, tmp_path, monkeypatch):
    def stumble(*arguments, **options):
        raise RuntimeError("no ink")

    monkeypatch.setattr(results, "draw", stumble)
    partition = fitted[1].estimator_.partition_
    with pytest.raises(RuntimeError, match="no ink"):
        write_results(tmp_path, partition=partition)
    np.testing.assert_array_equal(CredalPartition.load(tmp_path / "partition.npz").masses, partition.masses)
    assert (tmp_path / "masses.csv").exists()


@pytest.mark.parametrize(("n_features", "names"), [(1, ["partition", "masses"]), (2, ["partition", "masses"])])
def test_pictures_need_no_model_and_one_column_is_enough(n_features, names):
    partition = CredalPartition(np.eye(4)[[1, 2, 3, 0, 1, 2]], FocalSets(2))
    X = np.arange(6.0 * n_features).reshape(6, n_features)
    drawn = pictures.draw(partition, X=X)
    assert [picture.name for picture in drawn] == names
    assert all(picture.png.startswith(b"\x89PNG") for picture in drawn)


def test_dollars_in_names_are_dollars():
    partition = CredalPartition(
        np.eye(4)[[1, 2, 3]], FocalSets(2), object_names=["$_{$ 0", "$_{$ 1", "$_{$ 2"], cluster_names=["$^$", "b"]
    )
    assert len(pictures.draw(partition, X=np.eye(3)[:, :2], feature_names=["$ per $_{", "y"])) == 2


def test_drawing_opens_no_figure_of_pyplot():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    pictures.draw(CredalPartition(np.eye(4)[[1, 2, 3]], FocalSets(2)), X=np.eye(3))
    assert plt.get_fignums() == before
