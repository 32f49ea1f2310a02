"""``evidentia predict``: a model that ``fit --out`` wrote places new rows as the fit placed its own."""

import numpy as np
import pandas as pd
import pytest

from evidentia import ECM, CredalPartition, load_model
from evidentia.metric_learning import FDA


@pytest.fixture
def blobs():
    rng = np.random.default_rng(5)
    centers = np.repeat([[0.0, 500.0, 3.0], [4.0, 900.0, -3.0]], 30, axis=0)
    frame = pd.DataFrame(centers + rng.normal(0, [1, 80, 1], (60, 3)), columns=["a", "b", "c"])
    return frame.assign(who=[f"{i:03d}" for i in range(60)], kind=np.where(rng.random(60) < 0.5, "x", "y"))


@pytest.fixture
def table(blobs, tmp_path):
    blobs.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def placed(path):
    return pd.read_csv(path, index_col=0, dtype={0: str}).filter(regex="^m{")


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "egmm", "--columns", "a,b,c"],  # standardized by the look at the table
        ["--method", "ecm", "--clusters", "2", "--columns", "a,b,c", "--scale", "robust"],
        ["--method", "ecm", "--clusters", "2", "--columns", "a,c", "--scale", "minmax"],
        ["--method", "fcm", "--clusters", "2", "--columns", "c,a", "--scale", "none"],
        ["--method", "egmm", "--columns", "a,b,c", "--reduce", "pca"],
    ],
)
def test_new_rows_are_placed_as_those_of_the_fit(run, table, tmp_path, options):
    code, said = run("fit", table, "--id", "who", *options, "--out", tmp_path / "out")
    assert code == 0, said
    assert "model.npz" in said
    shuffled = pd.read_csv(table, dtype={"who": str})[["kind", "b", "c", "who", "a"]].iloc[::-1]
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    code, said = run(
        "predict", tmp_path / "out" / "model.npz", tmp_path / "new.csv", "--out", tmp_path / "new-masses.csv"
    )
    assert code == 0, said
    assert said.startswith("60 objects in 2 clusters")
    wanted, found = placed(tmp_path / "out" / "masses.csv"), placed(tmp_path / "new-masses.csv")
    assert found.index.tolist() == wanted.index.tolist()[::-1] == [f"{i:03d}" for i in range(60)][::-1]
    np.testing.assert_allclose(found.loc[wanted.index], wanted, atol=1e-12)


def test_mixed_columns_and_one_row(run, table, blobs, tmp_path):
    code, said = run("fit", table, "--drop", "who", "--keep", "kind", "--clusters", "2", "--out", tmp_path / "out")
    assert code == 0, said
    model = load_model(tmp_path / "out" / "model.npz")
    assert model.categories == ("kind",)
    assert type(model.model).__name__ == "LatentProfileMixture"
    blobs.drop(columns="who").iloc[[7]].to_csv(tmp_path / "new.csv", index=False)
    code, said = run("predict", tmp_path / "out", tmp_path / "new.csv", "--out", "-")
    assert code == 0, said
    lines = said.splitlines()
    assert lines[0].startswith("object,cluster,set,kind,belief")
    assert len(lines) == 2
    wanted = model.predict_partition(blobs.iloc[[7]]).masses[0]
    np.testing.assert_allclose(list(map(float, lines[1].split(",")[-len(wanted) :])), wanted, atol=1e-12)


def test_dissimilarities_to_the_fitted_objects(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) + np.repeat([[0], [9]], 10, axis=0)
    D = pd.DataFrame(np.linalg.norm(X[:, None] - X, axis=2)).add_prefix("o")
    D.set_axis(D.columns).to_csv(tmp_path / "d.csv", index_label="object")
    code, said = run("fit", tmp_path / "d.csv", "--distances", "--clusters", "2", "--out", tmp_path / "out")
    assert code == 0, said
    new = pd.DataFrame(np.linalg.norm(np.array([[0.5, 0], [9, 9]])[:, None] - X, axis=2), columns=D.columns)
    new.to_csv(tmp_path / "new.csv", index_label="object")
    code, said = run("predict", tmp_path / "out", tmp_path / "new.csv", "--out", tmp_path / "p.npz")
    assert code == 0, said
    labels = load_model(tmp_path / "out" / "model.npz").model.labels_
    assert CredalPartition.load(tmp_path / "p.npz").labels().tolist() == [labels[0], labels[19]]


def test_a_model_saved_from_python(run, blobs, table, tmp_path):
    columns = blobs[["a", "b"]]
    model = ECM(2, random_state=0).fit(columns)
    model.save(tmp_path / "mine.npz")
    code, _ = run("predict", tmp_path / "mine.npz", table, "--out", tmp_path / "p.parquet")
    assert code == 0
    found = pd.read_parquet(tmp_path / "p.parquet").filter(regex="^m{")
    np.testing.assert_allclose(found, model.partition_.masses, atol=1e-12)
    ECM(2, random_state=0).fit(columns.to_numpy()).save(tmp_path / "bare.npz")
    code, said = run("predict", tmp_path / "bare.npz", table)
    assert code == 2
    assert "reads 2 columns that have no names, and the table has 5: a, b, c, who, kind" in said
    columns.to_csv(tmp_path / "two.csv", index=False)
    assert run("predict", tmp_path / "bare.npz", tmp_path / "two.csv")[0] == 0


def test_what_is_wrong_is_named(run, blobs, table, tmp_path):
    run("fit", table, "--columns", "a,b,c", "--clusters", "2", "--method", "ecm", "--out", tmp_path / "out")
    model = tmp_path / "out" / "model.npz"

    def refused(frame, *options):
        frame.to_csv(tmp_path / "new.csv", index=False)
        code, said = run("predict", model, tmp_path / "new.csv", *options)
        assert code == 2, said
        return " ".join(said.split())

    assert "no columns 'b', 'c', which were clustered. It has a, x" in refused(blobs[["a"]].assign(x=1.0))
    assert "Column 'b' is not a column of numbers" in refused(blobs.assign(b="tall"))
    assert "1 of 60 rows have missing values (a 1)" in refused(blobs.assign(a=blobs["a"].where(blobs.index > 0)))
    assert "there is no column 'whom'. Did you mean 'who'?" in refused(blobs, "--id", "whom")
    assert "by its ending, .csv, .parquet, .npz" in refused(blobs, "--out", tmp_path / "x.txt")
    code, said = run("predict", model, tmp_path / "new.csv", "--missing", "drop")
    assert code == 0
    assert "59 objects" not in said  # the last table has no holes
    for path, words in ((tmp_path / "none.npz", "There is no file"), (tmp_path, "There is no file"),
                        (tmp_path / "out" / "partition.npz", "not a model of evidentia")):  # fmt: skip
        code, said = run("predict", path, table)
        assert code == 2
        assert words in said
    FDA().fit(blobs[["a", "b"]], np.arange(60) // 30).save(tmp_path / "fda.npz")
    assert "holds FDA, which places no rows" in run("predict", tmp_path / "fda.npz", table)[1]


def test_missing_values_go_to_methods_that_take_them(run, blobs, table, tmp_path):
    run("fit", table, "--columns", "a,b,c", "--method", "egmm", "--clusters", "2", "--out", tmp_path / "out")
    blobs.assign(a=blobs["a"].where(blobs.index > 2)).to_csv(tmp_path / "new.csv", index=False)
    code, said = run("predict", tmp_path / "out", tmp_path / "new.csv")
    assert code == 0
    assert "What is observed is used" in said
    assert "60 objects" in said
    code, said = run(
        "predict", tmp_path / "out", tmp_path / "new.csv", "--missing", "drop", "--out", tmp_path / "p.csv"
    )
    assert code == 0
    assert "57 objects" in said
    assert placed(tmp_path / "p.csv").index[0] == "3"


def test_the_table_is_not_touched_by_what_is_written(run, table, tmp_path):
    run("fit", table, "--columns", "a,b,c", "--method", "ecm", "--clusters", "2", "--out", tmp_path / "out")
    before = table.read_bytes()
    assert run("predict", tmp_path / "out", table, "--out", table.with_suffix(".parquet"))[0] == 0
    assert table.read_bytes() == before


def test_rows_that_stay_in_their_files(run, blobs, tmp_path):
    for at in range(3):
        blobs[["a", "b", "c"]].iloc[20 * at : 20 * at + 20].to_parquet(tmp_path / f"part{at}.parquet")
    code, said = run("fit", tmp_path / "part*.parquet", "--method", "ecm", "--clusters", "2", "--out", tmp_path / "out")
    assert code == 0, said
    assert "model.npz" in said
    code, said = run("predict", tmp_path / "out", tmp_path / "part*.parquet", "--out", tmp_path / "again")
    assert code == 0, said
    assert "60 objects in 2 clusters" in said
    for path in sorted((tmp_path / "out" / "masses").iterdir()):
        pd.testing.assert_frame_equal(pd.read_parquet(path), pd.read_parquet(tmp_path / "again" / path.name))
    blobs.to_csv(tmp_path / "small.csv", index=False)
    run("predict", tmp_path / "out", tmp_path / "small.csv", "--out", tmp_path / "small-masses.csv")
    wanted = load_model(tmp_path / "out" / "model.npz").predict_partition(blobs).masses
    np.testing.assert_allclose(placed(tmp_path / "small-masses.csv"), wanted, atol=1e-12)
