"""``evidentia fit`` with every method, with a table of dissimilarities, and with links."""

import html
import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from evidentia import CredalPartition
from evidentia.app.cli import tables
from evidentia.app.cli.errors import UserError
from evidentia.app.cli.fitting import FitRequest
from evidentia.app.cli.settings import MethodCommand
from evidentia.datasets import Dataset
from evidentia.methods import clusterers


def repeated(out):
    """What the Python code of the report gives."""
    code = re.search(r"In Python</h3><pre><code>(.*?)</code>", (out / "report.html").read_text(), re.DOTALL)[1]
    names = {}
    exec(html.unescape(code), names)
    return names["model"].partition_


@pytest.fixture
def distances(patients, tmp_path):
    """Dissimilarities of the patients, named in the first column and in the first line."""
    values = patients[["age", "weight"]].to_numpy()
    names = patients["patient"].map("p{}".format)
    path = tmp_path / "distances.csv"
    pd.DataFrame(cdist(values, values), index=names, columns=names.tolist()).to_csv(path)
    return path


@pytest.fixture
def links(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("first,second,link\n007,008,must-link\n007,046,cannot-link\n")
    return path


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("method", clusterers())
def test_every_method_that_fit_accepts_is_in_its_help(method, distances):
    accepted = clusterers()[method].method.reads_views
    with suppress(UserError):
        FitRequest(method, None, (), distances=distances).check()
        accepted = True
    assert accepted <= MethodCommand.offers(clusterers()[method])


def test_latent_classes_are_in_the_help(run):
    assert re.search(r"^ *latent-class  ", run("fit", "--help")[1], re.MULTILINE)


def test_the_help_of_explore_refers_to_a_list_that_is_there(run):
    said = run("explore", "--help")[1]
    assert "see below" not in said
    assert "fit --help" in said
    assert "Methods:" in run("fit", "--help")[1]


ELSEWHERE = ("ecm", "egmm", "fcm", "noise", "gustafson-kessel")
ON_TABLES = [name for name, cls in clusterers().items() if "table" in cls.method.reads]
ON_DISTANCES = [name for name, cls in clusterers().items() if "dissimilarities" in cls.method.reads]


@pytest.mark.parametrize("method", [method for method in ON_TABLES if method not in ELSEWHERE])
def test_every_method_fits_a_table_and_its_report_repeats_it(run, table, tmp_path, method):
    out = tmp_path / "out"
    options = ["--scale", "standard", "--id", "patient", "--columns", "age,weight", "--out", out]
    count = [] if method == "eknnclus" else ["--clusters", "2"]
    code, said = run("fit", table, "--method", method, *options, *count)
    assert code == 0, said
    assert "40 objects in 2 clusters" in said
    partition = CredalPartition.load(out / "partition.npz")
    np.testing.assert_allclose(repeated(out).masses, partition.masses, atol=1e-9)
    assert (out / "partition.png").exists()


@pytest.mark.parametrize("method", ["bpec", "evclus", "gmm"])
def test_the_number_of_clusters_is_chosen_for_methods_old_and_new(run, table, method):
    code, said = run("fit", table, "--columns", "age,weight", "--method", method, "--clusters", "2-3")
    assert code == 0, said
    found = r"Best: \w+ with [23] clusters(, [EVI]{3})?, by (largest|smallest) .*; next best: [23] clusters"
    assert re.search(found, said)


@pytest.mark.parametrize("method", [None, *ON_DISTANCES])
def test_dissimilarities_are_clustered_without_coordinates(run, distances, patients, tmp_path, method):
    out = tmp_path / "out"
    chosen = [] if method is None else ["--method", method]
    count = [] if method == "eknnclus" else ["--clusters", "2"]
    code, said = run("fit", "--distances", distances, *chosen, *count, "--out", out)
    assert code == 0, said
    assert "dissimilarities of 40 objects" in said
    partition = CredalPartition.load(out / "partition.npz")
    assert partition.object_names == tuple("p" + patients["patient"])
    labels = partition.labels()
    right = patients["diagnosis"].groupby(labels).transform(lambda one: one.mode()[0]) == patients["diagnosis"]
    torn = partition.focal_sets.card[partition.masses.argmax(axis=1)] > 1
    assert (right | torn).all()
    assert right.sum() >= 39
    np.testing.assert_allclose(repeated(out).masses, partition.masses, atol=1e-9)
    assert not (out / "partition.png").exists()
    assert (out / "masses.png").exists()


def test_a_data_set_of_dissimilarities_is_written_and_read_back(run, tmp_path, monkeypatch):
    points = np.random.default_rng(2).normal(size=(23, 3))
    dataset = Dataset(name="protein", dissimilarity=cdist(points, points))
    monkeypatch.setattr("evidentia.app.cli.examples.load", lambda name, download: dataset)
    code, said = run("datasets", "protein", "--to", tmp_path / "protein.csv")
    assert (code, "dissimilarities of 23 objects" in said) == (0, True)
    data, _, id_column = tables.read_distances(tmp_path / "protein.csv")
    np.testing.assert_allclose(data.to_numpy(), dataset.dissimilarity, rtol=1e-12)
    assert (id_column, data.index[2]) == ("object", "object2")


def test_numbers_alone_are_a_table_of_dissimilarities_too(run, tmp_path):
    x = np.r_[np.arange(5.0), np.arange(5.0) + 20]
    path = tmp_path / "bare.csv"
    np.savetxt(path, abs(x[:, None] - x), delimiter=",")
    code, said = run("fit", path, "--distances", "--clusters", "2-3", "--out", tmp_path / "out")
    assert code == 0, said
    assert "The first line" not in said
    assert len(CredalPartition.load(tmp_path / "out" / "partition.npz")) == 10
    assert len(repeated(tmp_path / "out")) == 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.iloc[:-1], "39 rows and 41 columns of them"),
        (lambda frame: frame.assign(p010="far"), "column 'p010' is not a column of numbers, as dissimilarities are"),
        (lambda frame: frame[["patient", *frame.columns[:0:-1]]], "in a different order"),
        (lambda frame: frame.assign(p010=-1.0), "entry [0, 3] = -1"),
    ],
)
def test_a_table_that_is_no_dissimilarity_is_refused(run, distances, change, words):
    change(pd.read_csv(distances)).to_csv(distances, index=False)
    code, said = run("fit", "--distances", distances, "--clusters", "2")
    assert code == 2
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--distances", "--method", "ecm"],
            "--distances: dissimilarities mean nothing to ecm. Methods that take them",
        ),
        (["--distances", "--scale", "standard"], "--scale is about the columns of a table"),
        (["--distances", "--id", "patiant"], "--id: there is no column 'patiant'. Did you mean 'patient'?"),
        (
            ["--method", "ecm", "--links", "links.csv"],
            "Methods that take them: cecm, cfcm, cop-kmeans, cevclus, nnevclus",
        ),
        (["--method", "eknnclus", "--clusters", "2"], "eknnclus finds the number of clusters itself"),
        (["--method", "cecm", "--links", "links.csv"], "--links needs one number of clusters"),
        (["--method", "cecm", "--clusters", "2", "--links", "none.csv"], "--links: there is no file none.csv"),
    ],
)
def test_a_mistake_ends_in_code_2_and_a_message(run, table, options, words):
    code, said = run("fit", table, *options)
    assert (code, "Traceback" in said) == (2, False), said
    assert words in said


@pytest.mark.parametrize("method", ["cecm", "cevclus"])
def test_links_are_told_by_name(run, table, links, tmp_path, method):
    links.write_text("first,second,link\n007,008,cannot-link\n007,046,must-link\n")
    options = ["--id", "patient", "--columns", "age,weight", "--clusters", "2", "--method", method]
    out = tmp_path / "out"
    code, said = run("fit", table, *options, "--links", links, "--out", out)
    assert code == 0, said
    partition = CredalPartition.load(out / "partition.npz")
    first, last = partition.pignistic[[0, -1]]
    run("fit", table, *options, "--out", out / "free")
    free = CredalPartition.load(out / "free" / "partition.npz").pignistic[[0, -1]]
    assert first @ last > free[0] @ free[1] + 0.005  # against the data, so it was the links
    np.testing.assert_allclose(repeated(out).masses, partition.masses, atol=1e-9)


def test_rows_that_are_left_out_do_not_shift_links(run, patients, links, tmp_path):
    patients.loc[3, "age"] = np.nan
    path = tmp_path / "holes.csv"
    patients.to_csv(path, index=False)
    options = ["--missing", "drop", "--clusters", "2", "--method", "cecm", "--links", links]
    code, said = run("fit", path, *options)
    assert code == 2
    assert "Name the objects by --id instead" in said
    code, said = run("fit", path, *options, "--id", "patient")
    assert code == 0, said
