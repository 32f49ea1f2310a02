"""Every file of the data directory, against facts that the registry does not share."""

import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from tests.conftest import skip_without_data

from evidentia.datasets import data_directory, list_datasets, load
from evidentia.datasets.loading import BUILT_IN
from evidentia.datasets.registry import registry

skip_without_data(allow_module_level=True)
DIRECTORY = data_directory()


@pytest.mark.parametrize("name", registry())
def test_each_set_has_the_registered_shape_and_classes(name):
    entry, dataset = registry()[name], load(name)
    assert len(dataset) == entry.n
    if entry.features:
        assert dataset.data.shape == (entry.n, entry.d)
        assert dataset.data.dtype == np.float64
        assert np.isnan(dataset.data).sum() == entry.missing
        assert not np.isinf(dataset.data).any()
    assert len(dataset.feature_names) == entry.d
    if entry.classes is None:
        assert dataset.target is None
        assert dataset.target_names == ()
    else:
        assert dict(zip(dataset.target_names, np.bincount(dataset.target))) == entry.classes


@pytest.mark.parametrize("name", registry())
def test_labels_and_values_are_those_of_the_raw_file(name):
    entry, dataset = registry()[name], load(name)
    file = list(entry.files)[-1]
    raw = pd.read_csv(DIRECTORY / file, dtype=str, keep_default_na=False)
    if entry.classes is not None:
        assert [dataset.target_names[k] for k in dataset.target] == raw["label"].tolist()
    if entry.features and not entry.codes:
        row = len(raw) * 2 // 3
        wanted = [float(raw[column][row] or "nan") for column in entry.features]
        np.testing.assert_array_equal(dataset.data[row], wanted)


def test_registry_agrees_with_the_manifest():
    manifest = {fact["file"]: fact for fact in json.loads((DIRECTORY / "manifest.json").read_text())["files"]}
    files = {file: sha256 for entry in registry().values() for file, sha256 in entry.files.items()}
    assert files == {file: fact["sha256"] for file, fact in manifest.items()}
    for entry in registry().values():
        fact = manifest[next(iter(entry.files))]
        assert (entry.n, entry.missing) == (fact["n"], fact["missing_cells"])
        assert (entry.classes and len(entry.classes)) == fact["c"]
        assert entry.classes == fact.get("class_counts", entry.classes)
        assert (entry.origin, entry.license) == (fact["origin"], fact["license"])
        if entry.features:
            assert entry.d == fact["d"]


def test_every_data_file_can_be_loaded():
    present = {path.name for path in DIRECTORY.iterdir() if not path.name.lower().startswith("manifest")}
    assert present == {file for entry in registry().values() for file in entry.files}


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_copies_equal_the_files(name):
    from_file, built_in = load(name), BUILT_IN[name](registry()[name])
    np.testing.assert_array_equal(built_in.data, from_file.data)
    np.testing.assert_array_equal(built_in.target, from_file.target)
    assert built_in.data.dtype == from_file.data.dtype
    for field in ("name", "feature_names", "target_names", "object_names", "description"):
        assert getattr(built_in, field) == getattr(from_file, field)


def test_the_two_iris_sets_differ_in_the_three_known_cells():
    fisher, uci = load("iris").data, load("iris_uci").data
    assert np.argwhere(fisher != uci).tolist() == [[34, 3], [37, 1], [37, 2]]
    assert uci[37].tolist() == [4.9, 3.1, 1.5, 0.1]


def test_votes_are_ones_zeros_and_missing():
    votes = load("housevotes84")
    # first line of the file: n,y,n,y,y,y,n,n,n,y,,y,y,y,n,y,republican
    first = [0, 1, 0, 1, 1, 1, 0, 0, 0, 1, np.nan, 1, 1, 1, 0, 1]
    np.testing.assert_array_equal(votes.data[0], first)
    assert votes.target_names[votes.target[0]] == "republican"
    assert (~np.isnan(votes.data).any(axis=1)).sum() == 232


def test_protein_is_a_dissimilarity():
    protein = load("protein")
    assert protein.data is None
    assert protein.dissimilarity.shape == (213, 213)
    np.testing.assert_array_equal(protein.dissimilarity, protein.dissimilarity.T)
    assert not protein.dissimilarity.diagonal().any()
    assert protein.dissimilarity.max() == pytest.approx(13.64, abs=0.005)
    assert "dissimilarities" in repr(protein)


def test_mice_have_names_and_only_protein_levels():
    mice = load("mice_full")
    assert mice.object_names[0] == "309_1"
    assert len(set(mice.object_names)) == 1080
    assert all(feature.endswith("_N") for feature in mice.feature_names)
    assert load("mice_full", as_frame=True).data.index[0] == "309_1"


def test_number_names_are_in_the_order_of_the_numbers():
    assert load("s2").target_names == tuple(str(k) for k in range(1, 16))


def test_a_damaged_file_is_named_with_both_checksums_and_the_cure(tmp_path, monkeypatch):
    shutil.copy(DIRECTORY / "seeds.csv", tmp_path / "seeds.csv")
    (tmp_path / "seeds.csv").chmod(0o644)
    content = (tmp_path / "seeds.csv").read_bytes().replace(b"15.26", b"15.27", 1)
    (tmp_path / "seeds.csv").write_bytes(content)
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"seeds\.csv is damaged or another file") as error:
        load("seeds")
    message = str(error.value)
    assert "5da2872398c066ac169f6d16d5e330c8541531cdc0e986784e091761680b0887" in message
    assert hashlib.sha256(content).hexdigest() in message
    assert "EVIDENTIA_DATA" in message


def test_all_sets_are_here():
    table = list_datasets()
    assert set(table["where"]) == {"here"}
    assert table.loc["magic", ["objects", "attributes", "classes"]].tolist() == [19020, 10, 2]
    assert table["classes"].isna().sum() == 6
