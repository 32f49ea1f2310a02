"""The page: complete, self-contained, safe with any text, right in its numbers."""

import re
from html import escape
from html.parser import HTMLParser
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evidentia import EGMM, CredalPartition, FocalSets
from evidentia.app.cli.errors import describe
from evidentia.app.report import pictures, results, write_report, write_results
from evidentia.app.report.page import clusters_section, decimals, doubtful_section
from evidentia.app.report.pictures import choose_view, plane_separation, telling_columns
from evidentia.partition.explanation import Explainer
from evidentia.partition.profiles import read_columns
from evidentia.selection import Selection, select

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
    assert len(reader.images) == 6  # the weakest split first
    for image in reader.images:
        assert image["src"].startswith("data:image/png;base64,iVBOR")
        assert len(image["alt"]) > 20
    assert "30 of 30 objects (100 %) are assigned to one cluster: 15 to cluster 0, 15 to cluster 1." in text
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
    masses = np.eye(4)[[1, 1, 2, 3, 0]]  # two assigned to 0, one to 1, one ambiguous, one outlier
    partition = CredalPartition(masses, FocalSets(2), cluster_names=["low", "high"])
    X = np.array([[1.0, 100], [2, np.nan], [9, 300], [5, 200], [33, 150]])
    # Ambiguous and outlying objects count half in each. Around 187.5, v is -87.5, -, 112.5, 12.5, -37.5: the clusters'
    # sums are -100 and 100 over sizes 3 and 2, so 10000/3 + 10000/2 of 21875 is between. Around 10, u: 64/3 + 64/2 of
    # 700.
    assert cells(clusters_section(partition, read_columns(X, ["u", "v"]))) == [
        *["", "tells apart", "all", "low", "high"],
        *["assigned to it", "", "3", "2", "1"],
        *["possibly in it", "", "", "3", "2"],
        *["v", "38 %", "188", "100", "300"],  # (100+300+200+150)/4, the missing value apart
        *["u", "8 %", "10.0", "1.5", "9.0"],  # (1+2+9+5+33)/5, (1+2)/2
    ]
    assert cells(clusters_section(partition, None))[:8] == ["", "all", "low", "high", "assigned to it", "3", "2", "1"]


def test_empty_clusters_are_said_to_be_so(tmp_path):
    partition = CredalPartition(np.eye(3)[[0, 0, 1]], FocalSets(3, [{0}, {1}, {2}]))
    text, _ = read(write_report(tmp_path / "r.html", partition=partition))
    assert "3 objects · 2 clusters (and 1 empty one)" in text


def test_a_set_beside_another_best_single_cluster_is_explained():
    """The largest mass is on {1,2}, but {0}, {0,1} and {0,2} together make 0 the most plausible."""
    odd = CredalPartition([[0.34, 0.36, 0.15, 0.15]], FocalSets(3, [{0}, {1, 2}, {0, 1}, {0, 2}]))
    assert odd.set_masks.tolist() == [0b110]
    assert odd.labels().tolist() == [0]
    said = "the best single cluster is the one of largest plausibility"
    assert said in doubtful_section(odd, Explainer(odd))
    plain = CredalPartition([[0, 0.4, 0.3, 0.3]], FocalSets(2))
    assert said not in doubtful_section(plain, Explainer(plain))


def test_the_most_doubtful_come_first_with_their_masses():
    masses = [[0, 0.9, 0, 0.1], [0, 0.25, 0.15, 0.6], [0.7, 0, 0.3, 0]]
    partition = CredalPartition(masses, FocalSets(2), object_names=["clear", "mixed", "out"])
    section = doubtful_section(partition, Explainer(partition))
    assert cells(section)[4:] == [
        *["mixed", "{0,1}", "0", "{0,1} 0.60, {0} 0.25, {1} 0.15"],
        *["out", "none of them", "1", "none of them 0.70, {1} 0.30"],
        *["clear", "{0}", "0", "{0} 0.90, {0,1} 0.10"],
    ]
    X = np.array([[0.0], [1.0], [2.0]])
    why = doubtful_section(partition, Explainer(partition, X, feature_names=["<age>"]))
    assert cells(why)[4] == "why"
    assert cells(why)[9::5] == [escape(reason) for reason in partition.reasons(X, [1, 2, 0], feature_names=["<age>"])]
    assert "<age>" not in why


def test_means_and_decimals_survive_missing_and_constant_columns():
    table = np.array([[1.0, np.nan, 7, 1e-5], [np.nan, np.nan, 7, 3e-5]])
    partition = CredalPartition(np.eye(2)[[0, 0]], FocalSets(2, [{0}, {1}]))
    found = cells(clusters_section(partition, read_columns(table, list("abcd"))))
    rows = {found[at]: found[at + 2 : at + 5] for at in range(15, len(found), 5)}
    assert rows == {
        "a": ["1.00", "1.00", "–"],
        "b": ["–", "–", "–"],
        "c": ["7.00", "7.00", "–"],
        "d": ["0.0000200", "0.0000200", "–"],
    }
    assert [decimals(np.array(pair)) for pair in ([0.0, 4000], [0, 0.03], [7, 7.0], [])] == [0, 4, 2, 0]


def test_categories_show_the_most_common_one():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "color": ["red", "red", "blue", None]})
    partition = CredalPartition(np.eye(2)[[0, 0, 1, 1]], FocalSets(2, [{0}, {1}]))
    found = cells(clusters_section(partition, read_columns(frame)))
    assert found[found.index("color") + 2 :][:3] == ["red (67 %)", "red (100 %)", "blue (100 %)"]
    assert [picture.name for picture in pictures.draw(partition, X=frame)] == ["partition", "masses"]
    assert [picture.name for picture in pictures.draw(partition, X=frame[["color"]])] == ["masses"]


def test_columns_that_tell_less_are_folded_away():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 70)) + labels[:, None] * np.linspace(0, 3, 70)
    section = clusters_section(
        CredalPartition(np.eye(2)[labels], FocalSets(2, [{0}, {1}])), read_columns(X, [f"c{j}" for j in range(70)])
    )
    shown, folded = section.split("<details>")
    names = re.findall(r'<th scope="row">(c\d+)</th>', shown)
    assert len(names) == 15
    assert set(names) <= {f"c{j}" for j in range(40, 70)}
    assert len(re.findall(r'<th scope="row">', folded)) == 45
    assert "45 columns that tell less. 10 more tell still less." in folded
    bars = [float(width) for width in re.findall(r"width:(\d+)%", section)]
    assert bars == sorted(bars, reverse=True)


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


def test_the_plane_of_a_large_table_is_chosen_by_a_sample_and_shows_all_rows(monkeypatch):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 400)
    X = rng.standard_normal((400, 5)) + 6 * np.eye(3)[labels] @ np.eye(5)[[1, 3, 3]] * [1, 1, 1, -1, 1]
    X[labels == 2, 3] += 12
    X[5, 1] = np.nan
    partition = CredalPartition(np.eye(3)[labels], FocalSets(3, "singletons", empty=False, omega=False))
    columns = read_columns(X)
    exact = pictures.choose_view(partition, columns)
    monkeypatch.setattr(pictures, "SAMPLE", 150)
    asked = []
    told_by = pictures.telling_columns
    monkeypatch.setattr(pictures, "telling_columns", lambda p, t: asked.append((len(p), len(t))) or told_by(p, t))
    view = pictures.choose_view(partition, columns)
    assert asked == [(150, 150)]
    assert view.columns == exact.columns == (1, 3)
    np.testing.assert_array_equal(view.xy, exact.xy)
    np.testing.assert_array_equal(view.middle, exact.middle)


def test_results_are_files_and_the_first_is_the_report(fitted, tmp_path):
    X, selection = fitted
    files = write_results(
        tmp_path, partition=selection.estimator_.partition_, model=selection.estimator_, X=X, object_column="who"
    )
    assert files[0].name == "report.html"
    assert sorted([*files, tmp_path / "evidentia-run.json"]) == sorted(tmp_path.iterdir())
    assert [file.name for file in files[1:4]] == ["masses.csv", "table.csv", "partition.npz"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv", index_col="who"), X, check_names=False)
    for file in files[4:]:
        assert file.read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(tmp_path / "masses.csv", index_col="who")
    assert table.index.tolist() == X.index.tolist()


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(results, "MANY", 20)


def test_many_rows_are_written_as_parquet_and_can_be_read_again(fitted, tmp_path, few_are_many):
    X, selection = fitted
    partition = selection.estimator_.partition_
    write_results(tmp_path, partition=partition, X=X, tables="csv")
    files = write_results(tmp_path, partition=partition, X=X, object_column="who")
    assert [file.name for file in files[1:4]] == ["masses.parquet", "table.parquet", "partition.npz"]
    assert sorted([*files, tmp_path / "evidentia-run.json"]) == sorted(
        tmp_path.iterdir()
    )  # no CSV of an earlier fit is left beside them
    masses = pd.read_parquet(tmp_path / "masses.parquet")
    assert masses.index.name == "who"
    pd.testing.assert_frame_equal(masses, partition.to_pandas(), check_names=False)
    table = results.read_table(results.find_table(tmp_path))
    np.testing.assert_array_equal(table, X)
    assert table.index.tolist() == [str(name) for name in X.index]


@pytest.mark.parametrize("by_pyarrow", [True, False])
def test_text_of_many_rows_has_six_decimals_of_masses_and_all_of_the_table(
    fitted, tmp_path, few_are_many, by_pyarrow, monkeypatch
):
    if not by_pyarrow:
        monkeypatch.setattr(results, "find_spec", lambda name: None)
    X, selection = fitted
    X = (X + 1 / 3).set_axis([f'"{i}", é' for i in range(len(X))], axis=0)
    partition = selection.estimator_.partition_.name_objects(X.index)
    files = write_results(tmp_path, partition=partition, X=X, tables="csv" if by_pyarrow else "auto")
    assert [file.name for file in files[1:3]] == ["masses.csv", "table.csv"]
    masses = pd.read_csv(tmp_path / "masses.csv", index_col=0, float_precision="round_trip")
    np.testing.assert_array_equal(masses.filter(like="m{"), partition.masses.round(6))
    assert masses.index.name == "object"
    assert masses.columns.tolist() == partition.to_pandas().columns.tolist()
    assert masses["set"].tolist() == partition.to_pandas()["set"].tolist()
    table = pd.read_csv(tmp_path / "table.csv", index_col=0, float_precision="round_trip")
    np.testing.assert_array_equal(table, X)
    assert table.index.tolist() == X.index.tolist()


def test_parquet_without_pyarrow_and_unknown_kinds_of_tables_are_refused(monkeypatch):
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"Parquet files need pyarrow: pip install 'evidentia\[parquet\]'"):
        results.table_kind("parquet", 3)
    with pytest.raises(ValueError, match=r"'tables' must be one of 'auto', 'csv', 'parquet'. Got 'xlsx'."):
        results.table_kind("xlsx", 3)


def test_a_picture_that_fails_does_not_lose_the_result(fitted, tmp_path, monkeypatch):
    def stumble(*arguments, **options):
        raise RuntimeError("no ink")

    monkeypatch.setattr(results, "draw", stumble)
    partition = fitted[1].estimator_.partition_
    with pytest.raises(RuntimeError, match="no ink") as raised:
        write_results(tmp_path, partition=partition)
    kept = tmp_path / "unfinished"
    np.testing.assert_array_equal(CredalPartition.load(kept / "partition.npz").masses, partition.masses)
    assert (kept / "masses.csv").exists()
    assert raised.value.__notes__ == [
        f"What was finished of this run is in {kept}: masses.csv, partition.npz. The run before is as it was."
    ]
    assert describe(raised.value)[0].endswith(raised.value.__notes__[0])
    with pytest.raises(RuntimeError, match="no ink"):
        write_results(tmp_path, partition=partition)
    assert (tmp_path / "unfinished-2" / "partition.npz").exists()  # neither is lost


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


def sphere(n_clusters=12, n_features=30, seed=0):
    """Clusters that differ in every column by a little."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_clusters), 20)
    X = (
        rng.normal(size=(len(labels), n_features))
        + 0.6 * (rng.normal(size=(n_clusters, 2)) @ rng.normal(size=(2, n_features)))[labels]
    )
    return CredalPartition(np.eye(n_clusters)[labels], FocalSets(n_clusters, "singletons", empty=False, omega=False)), X


def test_principal_components_are_drawn_where_no_two_columns_tell_as_much():
    partition, X = sphere()
    view = choose_view(partition, read_columns(X))
    assert view.columns is None
    assert view.names[0].startswith("PC 1 (")
    pair = X[:, telling_columns(partition, X)]
    assert plane_separation(partition, view.xy) > 1.25 * plane_separation(partition, pair)
    share = sum(int(re.search(r"\((\d+) %\)", name)[1]) for name in view.names)
    told = int(re.search(r"No two of the 30 columns .* (\d+) % of the variance", view.words)[1])
    assert abs(told - share) <= 1
    scaled = choose_view(partition, read_columns(X * np.logspace(0, 6, 30)))
    assert "of the standardized columns" in scaled.words
    assert plane_separation(partition, scaled.xy) > plane_separation(partition, pair)


def test_two_columns_are_drawn_where_they_tell_enough():
    labels = np.repeat([0, 1, 2], 20)
    X = np.random.default_rng(1).normal(size=(60, 5))
    X[:, 3] += 9 * labels
    X[:, 1] += 9 * (labels == 1)
    X[::9, 1] = np.nan
    partition = CredalPartition(np.eye(3)[labels], FocalSets(3, [{0}, {1}, {2}]))
    view = choose_view(partition, read_columns(X, list("abcde")))
    assert (view.columns, view.names) == ((1, 3), ("b", "d"))
    assert view.words == "Of the 5 columns, these two together tell the clusters apart best."
    assert np.isnan(view.xy[0, 0])  # an object with a gap has no place in these columns


def test_a_plane_in_which_clusters_overlap_says_so():
    labels = np.repeat([0, 1, 2], 30)
    X = np.random.default_rng(1).normal(size=(90, 3)) + 0.8 * labels[:, None]
    partition = CredalPartition(np.eye(3)[labels], FocalSets(3, [{0}, {1}, {2}]))
    assert (
        "Clusters that overlap here can be apart in the other columns." in choose_view(partition, read_columns(X)).words
    )


def test_separation_of_a_plane_is_the_trace_of_between_by_total():
    rng = np.random.default_rng(5)
    fuzzy = rng.dirichlet([1, 2, 3], 40)
    xy = rng.normal(size=(40, 2)) @ [[1, 40], [0.3, -9]] + 100
    partition = CredalPartition(fuzzy, FocalSets(3, "singletons", empty=False, omega=False))
    Z = xy - xy.mean(axis=0)
    middle = [(fuzzy[:, [k]] * Z).sum(axis=0) / fuzzy[:, k].sum() for k in range(3)]
    between = sum(fuzzy[:, k].sum() * np.outer(middle[k], middle[k]) for k in range(3))
    assert plane_separation(partition, xy) == pytest.approx(np.trace(np.linalg.solve(Z.T @ Z, between)))


def test_numbers_of_clusters_stand_at_the_means_of_their_sure_objects_without_a_model():
    partition, X = sphere(3, 2)
    view = choose_view(partition, read_columns(X))
    np.testing.assert_allclose(view.centers(None), [X[partition.lower(k)].mean(axis=0) for k in range(3)])


def test_a_collapsed_model_is_no_answer(tmp_path):
    rng = np.random.default_rng(0)
    partition = CredalPartition(np.eye(2)[[0, 0, 1]], FocalSets(2, [{0}, {1}]), no_answer="It collapsed & fell. Try 2.")
    model = SimpleNamespace(
        partition_=partition,
        collapsed_=True,
        criterion_trace_=np.array([-5.0, 90.0]),
        start_criteria_=np.array([90.0, 80.0]),
        best_start_=0,
        selection_=pd.DataFrame({"n_clusters": [2, 3], "ebic": np.nan, "note": "covariance collapsed in every start"}),
        get_params=dict,
    )
    selection = Selection(model.selection_.assign(method="EGMM"), "ebic", ("EGMM", 2), model)
    path = write_report(
        tmp_path / "r.html", partition=partition, model=model, X=rng.normal(size=(3, 4)), selection=selection, code="x"
    )
    text, reader = read(path)
    assert "There is no answer" in text
    assert "It collapsed &amp; fell. Try 2." in text
    assert "assigned to one cluster" not in text
    assert "clusters, " not in text.split("<main>")[0]
    assert [image["alt"] for image in reader.images] == ["Criterion over 2 iterations."]
    assert "Covariance collapsed in every start: 2 and 3 clusters." in text


def test_rejected_starts_and_the_runner_up_are_told(tmp_path):
    partition = CredalPartition(np.eye(2)[[0, 0, 1]], FocalSets(2, [{0}, {1}]))
    model = SimpleNamespace(
        attributes=["collapsed_"],
        criterion_trace_=[-300.0, -210.0],
        start_criteria_=[-210.0, -241.8, -35.0],
        best_start_=0,
        get_params=dict,
    )
    table = pd.DataFrame(
        {"method": "EGMM", "n_clusters": [2, 3], "ebic": [-230.1, -234.5], "note": ["", "not converged"]}
    )
    selection = Selection(table, "ebic", ("EGMM", 2), model)
    text, _ = read(write_report(tmp_path / "r.html", partition=partition, model=model, selection=selection, code="x"))
    assert (
        "Best: EGMM with 2 clusters, by largest EBIC (-230.1); next best: 3 clusters (-234.5, not converged)." in text
    )
    assert "Not converged: EGMM with 3 clusters." in text
    assert "rejected: it collapsed" in text
    assert "a worse solution" in text


def test_many_rows_are_shaded_and_said_to_be():
    rng = np.random.default_rng(0)
    partition = CredalPartition(np.eye(2)[rng.integers(2, size=20_001)], FocalSets(2, [{0}, {1}]))
    picture = pictures.draw(partition, X=rng.normal(size=(20_001, 2)))[0]
    assert picture.caption.startswith("Each cell has the color of the set that most of its objects have")
    assert picture.alt.startswith("Shaded plot of 20,001 objects")
