"""``ci/same.py`` finds no difference between two runs of the same code, and every difference that was made."""

import copy
import sys
from pathlib import Path

import numpy as np
import pytest

import evidentia

sys.path.insert(0, str(Path(__file__).parents[1] / "ci"))

import same
import same_cases

METHODS, TABLES = ["fcm", "latent-class", "fda", "bhc", "fuse"], ["blobs", "answers", "average, match"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def before(folder):
    same.write(folder / "before.npz", methods=METHODS, tables=TABLES, jobs=1, files=folder / "files")
    return same.read(folder / "before.npz")


def differences(before, after, rules=""):
    return same.compare(before, after, same.Rules(rules))[1]


def replaced(content, old, new):
    return [line.replace(old, new) for line in content]


def test_two_runs_of_the_same_code_are_the_same(before, folder, capsys):
    same.write(folder / "after.npz", methods=METHODS, tables=TABLES, jobs=1)
    rows, wrong = same.compare(before, same.read(folder / "after.npz"), same.Rules())
    assert wrong == []
    assert len(rows) == len(before["cases"]) >= 30
    assert same.main(["compare", *(str(folder / f"{name}.npz") for name in ("before", "after"))]) == 0
    assert "0 differences" in capsys.readouterr().out


def test_every_method_of_the_registry_has_a_case():
    assert {case.method for case in same_cases.all_cases()} >= set(evidentia.methods.all_methods())


def test_no_case_comes_twice():
    names = list(map(str, same_cases.all_cases()))
    assert len(names) == len(set(names))


@pytest.mark.parametrize("what", ["masses", "predicted", "labels", "masks"])
def test_an_array_that_differs_is_reported(before, what):
    after = copy.deepcopy(before)
    after["cases"]["fcm: blobs"]["arrays"][what].flat[2] += 1e-6 if what in ("masses", "predicted") else 1
    (line,) = differences(before, after)
    assert line.startswith("differs: fcm: blobs:")
    assert differences(before, after, "changed: fcm: blobs  # made for this test") == []


def test_a_mass_that_differs_in_its_last_bits_is_the_same(before):
    after = copy.deepcopy(before)
    after["cases"]["fcm: blobs"]["arrays"]["masses"] += 1e-12
    assert differences(before, after) == []


@pytest.mark.parametrize("name", ["criterion_", "n_clusters", "norm of cluster_centers_"])
def test_a_number_that_differs_is_reported(before, name):
    after = copy.deepcopy(before)
    after["cases"]["fcm: blobs"]["numbers"][name] += 1
    assert len(differences(before, after)) == 1


def test_a_fit_that_raises_is_reported(before, monkeypatch, folder):
    def fail(self, X, y=None, sample_weight=None):
        raise RuntimeError("no fit today")

    monkeypatch.setattr(evidentia.FCM, "fit", fail)
    after = copy.deepcopy(before)
    after["cases"]["fcm: blobs"] = same_cases.run(same_cases.Case("fcm", "blobs"))
    (line,) = differences(before, after)
    assert "raised: None, now RuntimeError (no fit today)" in line


def test_a_default_that_differs_is_reported(before):
    after = {**before, "surface": replaced(before["surface"], "ECM.beta = 2.0", "ECM.beta = 3.0")}
    assert {"- parameter ECM.beta = 2.0", "+ parameter ECM.beta = 3.0"} <= set(differences(before, after))


def test_an_export_that_is_gone_is_reported(before):
    after = {**before, "surface": [line for line in before["surface"] if line != "export evidentia.ECM"]}
    assert differences(before, after) == ["- export evidentia.ECM"]
    assert differences(before, after, "removed: export evidentia.ECM  # made for this test") == []


def test_a_case_that_is_gone_is_reported(before):
    after = {**before, "cases": {name: one for name, one in before["cases"].items() if name != "fcm: blobs"}}
    assert differences(before, after) == ["case gone: fcm: blobs"]


def test_a_rename_that_is_listed_is_accepted(before):
    after = copy.deepcopy(before)
    after["surface"] = replaced(before["surface"], "evidentia.scores", "evidentia.app.scores")
    after["cases"]["fcm: blobs, fuzzifier=2.5"] = after["cases"].pop("fcm: blobs, beta=2.5")
    rules = "evidentia.scores -> evidentia.app.scores  # an application\nfcm: beta -> fuzzifier  # plain words"
    assert differences(before, after)
    listed = same.Rules(rules + "\nold_name -> new_name  # never there")
    assert same.compare(before, after, listed)[1] == []
    assert listed.unused() == ["old_name | new_name"]


@pytest.mark.parametrize("rule", ["beta -> fuzzifier", "beta  # why", "removed: a line"])
def test_a_change_without_a_reason_or_a_form_is_refused(rule):
    with pytest.raises(ValueError, match="Got"):
        same.Rules(rule)


def test_files_that_were_written_are_loaded(before, folder):
    assert same.load(folder / "files") == []


def test_a_file_whose_masses_differ_is_reported(before, folder):
    content = same.read(folder / "files" / "same.npz")
    content["cases"]["fcm: blobs"]["arrays"]["predicted"] += np.float64(1e-3)
    other = folder / "other"
    other.mkdir()
    for file in (folder / "files").iterdir():
        (other / file.name).symlink_to(file)
    (other / "same.npz").unlink()
    same.save(other / "same.npz", content["cases"], {"methods": content["methods"]})
    (line,) = same.load(other)
    assert line.startswith("fcm: blobs: predicted differ")
