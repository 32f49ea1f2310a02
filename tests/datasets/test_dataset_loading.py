"""The loader on a machine without data files, and the Dataset type."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evidentia import datasets
from evidentia.datasets import Dataset, data_directory, list_datasets, load
from evidentia.datasets import loading as loading_module


@pytest.fixture
def bare_machine(tmp_path, monkeypatch):
    """No data directory, an empty cache."""
    monkeypatch.delenv("EVIDENTIA_DATA", raising=False)
    monkeypatch.setenv("EVIDENTIA_CACHE", str(tmp_path / "cache"))
    elsewhere = tmp_path / "lib" / "python" / "evidentia" / "datasets" / "loading.py"
    monkeypatch.setattr(loading_module, "__file__", str(elsewhere))
    return tmp_path


@pytest.mark.usefixtures("bare_machine")
class TestBareMachine:
    def test_there_is_no_data_directory(self):
        assert data_directory() is None

    def test_iris_needs_no_files(self):
        iris = load("iris")
        assert iris.data[[0, 34, 37]].tolist() == [
            [5.1, 3.5, 1.4, 0.2],
            [4.9, 3.1, 1.5, 0.2],
            [4.9, 3.6, 1.4, 0.1],
        ]
        assert np.bincount(iris.target).tolist() == [50, 50, 50]
        assert iris.target_names == ("setosa", "versicolor", "virginica")
        assert iris.feature_names == ("sepal_length", "sepal_width", "petal_length", "petal_width")

    def test_wine_and_the_points_need_no_files(self):
        assert load("wine").data[0, -1] == 1065
        assert np.bincount(load("wine").target).tolist() == [59, 71, 48]
        assert load("butterfly12").data[-1].tolist() == [10, 10]
        assert load("butterfly11").data.shape == load("diamond11").data.shape == (11, 2)

    def test_a_missing_set_says_how_to_get_it(self):
        with pytest.raises(FileNotFoundError, match="not on this machine") as error:
            load("magic")
        assert "EVIDENTIA_DATA to a directory that holds magic.csv.gz" in str(error.value)
        assert "load('magic', download=True)" in str(error.value)

    def test_a_set_that_cannot_be_downloaded_does_not_offer_it(self):
        with pytest.raises(FileNotFoundError, match=r"protein\.dissimilarity\.npz and protein\.labels\.csv") as error:
            load("protein")
        assert "download" not in str(error.value)

    def test_available_says_where_each_set_is(self):
        where = list_datasets()["where"]
        assert where[["iris", "wine", "diamond11"]].tolist() == ["here"] * 3
        assert where["glass"] == "can be downloaded"
        assert where["protein"] == "not available"


def test_the_directory_beside_a_checkout_is_found(bare_machine, monkeypatch):
    root = bare_machine / "checkout"
    monkeypatch.setattr(loading_module, "__file__", str(root / "src" / "evidentia" / "datasets" / "loading.py"))
    (bare_machine / "shared" / "data").mkdir(parents=True)
    assert data_directory() is None  # an installed package could sit beside such a directory by chance
    root.mkdir()
    (root / "pyproject.toml").touch()
    assert data_directory() == bare_machine / "shared" / "data"


def test_the_environment_variable_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    assert data_directory() == tmp_path
    assert load("iris").data.shape == (150, 4)  # an empty directory does not hide the built-in copies
    with pytest.raises(FileNotFoundError, match=f"the data directory {tmp_path} lacks s2.csv"):
        load("s2")


def test_a_wrong_environment_variable_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match=r"EVIDENTIA_DATA is .*nowhere"):
        load("iris")


@pytest.mark.parametrize(
    ("wrong", "suggestion"),
    [("irsi", "'iris'"), ("Wine", "'wine'"), ("ecoli", "'ecoli_full'"), ("leaves", "'leaves_shape'")],
)
def test_an_unknown_name_lists_near_ones(wrong, suggestion):
    with pytest.raises(ValueError, match=f"no data set called '{wrong}'. Did you mean .*{suggestion}"):
        load(wrong)


def test_a_hopeless_name_points_to_the_list():
    with pytest.raises(ValueError, match=r"available\(\) lists all names"):
        load("qqqqqqq")


def test_a_dataset_cannot_be_changed():
    points = np.zeros((3, 2))
    dataset = Dataset(name="mine", data=points, feature_names=("a", "b"))
    with pytest.raises(AttributeError):
        dataset.name = "yours"
    with pytest.raises(ValueError, match="read-only"):
        dataset.data[0, 0] = 1
    points[0, 0] = 7  # the caller's array stays the caller's
    assert dataset.data[0, 0] == 0


def test_printing_shows_sizes_classes_and_missing_values():
    dataset = Dataset(
        name="mine",
        data=np.array([[1, np.nan], [2, 3], [4, 5]]),
        target=np.array([1, 0, 1]),
        feature_names=("height", "weight"),
        target_names=("cat", "dog"),
        description="Pets.",
    )
    assert repr(dataset) == "Dataset('mine', 3 objects, 2 attributes, 2 classes)"
    assert str(dataset).splitlines() == [
        "Dataset('mine', 3 objects, 2 attributes, 2 classes)",
        "  attributes  height, weight",
        "  classes     cat (1), dog (2)",
        "  missing     1 values",
        "  about       Pets.",
    ]
    assert str(dataset.as_frame()) == str(dataset)


def test_as_frame_keeps_names_and_codes():
    plain, framed = load("iris"), load("iris", as_frame=True)
    assert isinstance(framed.data, pd.DataFrame)
    assert tuple(framed.data.columns) == plain.feature_names
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.target.cat.codes, plain.target)
    assert framed.target.iloc[-1] == "virginica"
    assert load("butterfly11", as_frame=True).target is None


def test_public_names_exist_and_import_is_lazy():
    for name in datasets.__all__:
        assert getattr(datasets, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = datasets.nothing
    heavy = (
        "import sys, evidentia.datasets; "
        "print([name for name in ('pandas', 'sklearn', 'scipy') if name in sys.modules])"
    )
    source = str(Path(datasets.__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", heavy], capture_output=True, text=True, check=True, env={"PYTHONPATH": source}
    )
    assert run.stdout.strip() == "[]"
