"""Downloads, with a small stand-in for scikit-learn's ``fetch_openml``."""

import urllib.error

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from evidentia.datasets import fetch, list_datasets, load
from evidentia.datasets.registry import registry


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """An OpenML that holds what a test puts into it; counts the downloads. The data directory is empty."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("EVIDENTIA_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("EVIDENTIA_CACHE", str(tmp_path / "cache"))
    shelf = Bunch(sets={}, downloads=0, cache=tmp_path / "cache")

    def stand_in(*, data_id, as_frame, parser, cache):
        assert as_frame
        shelf.downloads += 1
        data, target = shelf.sets[data_id]
        return Bunch(data=data, target=target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", stand_in)
    return shelf


def glass_like(sizes=(70, 76, 17, 13, 9, 29)):
    names = ["'build wind float'", "'build wind non-float'", "'vehic wind float'", "containers", "tableware"]
    target = pd.Series(np.repeat([*names, "headlamps"], sizes), dtype="category")
    data = np.random.default_rng(0).normal(size=(len(target), 9))
    return pd.DataFrame(data, columns=["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]), target


def test_a_download_gets_our_names_and_is_cached(openml):
    openml.sets[41] = glass_like()
    assert list_datasets().loc["glass", "where"] == "can be downloaded"
    glass = fetch("glass")
    assert glass.target_names == ("1", "2", "3", "5", "6", "7")
    assert np.bincount(glass.target).tolist() == [70, 76, 17, 13, 9, 29]
    np.testing.assert_array_equal(glass.data, openml.sets[41][0].to_numpy())  # through the file, exactly
    assert list_datasets().loc["glass", "where"] == "cached"
    assert [path.name for path in openml.cache.iterdir()] == ["glass.csv.gz"]
    openml.sets.clear()
    np.testing.assert_array_equal(load("glass").data, glass.data)
    assert fetch("glass", as_frame=True).data.shape == (214, 9)
    assert openml.downloads == 1


def test_force_downloads_again(openml):
    openml.sets[41] = glass_like()
    fetch("glass")
    changed = glass_like()
    changed[0].iloc[0, 0] = 42.5
    openml.sets[41] = changed
    assert fetch("glass").data[0, 0] != 42.5
    assert fetch("glass", force=True).data[0, 0] == 42.5


def test_load_downloads_only_when_asked(openml):
    openml.sets[41] = glass_like()
    with pytest.raises(FileNotFoundError, match="not on this machine"):
        load("glass")
    assert openml.downloads == 0
    assert load("glass", download=True).data.shape == (214, 9)
    load("iris", download=True)  # built in: nothing to download
    assert openml.downloads == 1


def test_rows_and_columns_of_derived_sets_are_selected(openml):
    sizes = {"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52}
    target = pd.Series(np.repeat(list(sizes), list(sizes.values())))
    columns = ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"]
    data = pd.DataFrame(np.arange(336)[:, None] + np.arange(7) / 10, columns=columns)
    openml.sets[39] = data, target
    whole, egmm, nn = fetch("ecoli_full"), fetch("ecoli_egmm"), fetch("ecoli_nnevclus")
    assert whole.data.shape == (336, 7)
    assert egmm.data[0].tolist() == [0, 0.1, 0.4, 0.5, 0.6]
    assert np.bincount(nn.target).tolist() == [143, 77 + 35, 52]
    assert nn.data[143 + 77].tolist() == egmm.data[143 + 77 + 4].tolist()  # imL and imS are left out


def test_columns_are_matched_by_name_whatever_its_spelling(openml):
    data, target = glass_like()
    shuffled = data[data.columns[::-1]].rename(columns={"RI": "'ri':", "Na": "NA_"})
    openml.sets[41] = shuffled, target
    np.testing.assert_array_equal(fetch("glass").data, data.to_numpy())


def test_foreign_column_names_keep_their_order(openml):
    data, target = glass_like()
    openml.sets[41] = data.set_axis([f"V{9 - i}" for i in range(9)], axis=1), target
    np.testing.assert_array_equal(fetch("glass").data, data.to_numpy())


def test_votes_become_numbers(openml):
    rng = np.random.default_rng(1)
    votes = rng.choice(["n", "y"], (435, 16)).astype(object)
    votes.flat[:392] = np.nan
    columns = [f"v{i}" for i in range(16)]
    data = pd.DataFrame(votes, columns=columns).astype("category")
    openml.sets[56] = data, pd.Series(["democrat"] * 267 + ["republican"] * 168)
    dataset = fetch("housevotes84")
    assert np.isnan(dataset.data).sum() == 392
    np.testing.assert_array_equal(dataset.data[-1], votes[-1] == "y")


def test_numbered_classes_keep_their_numbers(openml):
    target = pd.Series(np.repeat([str(k) for k in range(1, 101)], 16))
    openml.sets[1491] = pd.DataFrame(np.zeros((1600, 64)), columns=[f"V{i}" for i in range(64)]), target
    leaves = fetch("leaves_margin")
    assert leaves.target_names[:3] == ("1", "2", "3")
    assert leaves.target_names[-1] == "100"
    assert np.bincount(leaves.target).tolist() == [16] * 100


def test_a_set_that_changed_at_the_origin_is_refused(openml):
    openml.sets[41] = glass_like(sizes=(70, 75, 18, 13, 9, 29))
    with pytest.raises(ValueError, match=r"OpenML data set 41 is not the 'glass' .* class sizes \[9, 13, 18"):
        fetch("glass")
    data, target = glass_like()
    openml.sets[41] = data.assign(Id=1.0), target
    with pytest.raises(ValueError, match=r"it has 10 attributes .*, expected 9"):
        fetch("glass")
    assert not openml.cache.exists()


def test_missing_values_that_should_not_be_are_refused(openml):
    data, target = glass_like()
    data.iloc[3, 3] = np.nan
    openml.sets[41] = data, target
    with pytest.raises(ValueError, match=r"missing values 1, expected 0"):
        fetch("glass")


@pytest.mark.parametrize("content", [b"not gzip at all", b""])
def test_a_damaged_cache_is_named_with_its_cure(openml, content):
    openml.cache.mkdir()
    (openml.cache / "glass.csv.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"glass\.csv\.gz is damaged .*fetch\('glass', force=True\)"):
        load("glass")


def test_a_truncated_cache_is_refused(openml):
    openml.sets[41] = glass_like()
    fetch("glass")
    path = openml.cache / "glass.csv.gz"
    pd.read_csv(path).iloc[:-5].to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"glass\.csv\.gz is not the 'glass' .*objects 209, expected 214"):
        load("glass")


def test_sets_without_a_download_say_where_they_come_from(openml):
    with pytest.raises(ValueError, match="'protein' cannot be downloaded; it comes from: R package evclust") as error:
        fetch("protein")
    assert "iris_uci, wine, ecoli_full" in str(error.value)
    assert openml.downloads == 0


def test_no_network_is_explained(openml, monkeypatch):
    def unreachable(**_):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    with pytest.raises(OSError, match=r"OpenML could not be reached to download 'wine'.*EVIDENTIA_DATA"):
        fetch("wine")


def test_label_maps_lead_to_registered_classes():
    for entry in registry().values():
        if entry.openml and entry.openml.labels:
            assert set(entry.openml.labels.values()) == set(entry.classes), entry.name
