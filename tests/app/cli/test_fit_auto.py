"""``evidentia fit`` without a method: it looks, says what it saw and chose, and does that."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from evidentia import CredalPartition

RNG = np.random.default_rng(4)
TRUTH = np.repeat([0, 1], 25)


@pytest.fixture
def write(tmp_path):
    """``write(columns)`` makes a table of it, with two columns of numbers before, and gives its path."""

    def written(numbers=True, **columns):
        base = {"u": RNG.normal(size=50) + 9 * TRUTH, "v": RNG.normal(size=50) - 7 * TRUTH} if numbers else {}
        path = tmp_path / "table.csv"
        pd.DataFrame({**base, **columns}).to_csv(path, index=False)
        return path

    return written


def repeated(out):
    code = re.search(r"In Python</h3><pre><code>(.*?)</code>", (out / "report.html").read_text(), re.DOTALL)[1]
    names = {}
    exec(html.unescape(code), names)
    return names["model"].partition_


def line(said, label):
    return re.search(rf"^  {label} +(.*)$", said, re.MULTILINE)[1]


COLORS = np.where(TRUTH, "red", "blue")
SHAPES = np.where(TRUTH ^ (np.arange(50) % 9 == 0), "flat", "round")


def test_numbers(run, write, tmp_path):
    path = write(species=COLORS, number=np.arange(50))
    code, said = run("fit", path, "--clusters", "1-3", "--out", tmp_path / "out")
    assert code == 0, said
    assert line(said, "clustered") == "u, v"
    assert line(said, "left out") == (
        "species (by its name the classes, 2 of them; --keep species clusters it), "
        "number (only counts the rows; --id number takes it as their names)"
    )
    assert line(said, "seen").startswith("2 columns of numbers; spreads from ")
    assert line(said, "choice").startswith("All columns are numbers: a Gaussian mixture, EGMM. Spreads differ 1.")
    assert line(said, "method").startswith("EGMM, 1 to 3 clusters to choose from")
    page = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert "All columns are numbers: a Gaussian mixture, EGMM." in page
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    assert adjusted_rand_score(TRUTH, partition.labels()) == 1
    np.testing.assert_allclose(repeated(tmp_path / "out").masses, partition.masses, atol=1e-9)


@pytest.mark.parametrize("holes", [False, True])
def test_numbers_and_categories(run, write, tmp_path, holes):
    color = np.where(np.arange(50) == 7, None, COLORS) if holes else COLORS
    path = write(color=color, shape=SHAPES, flag=TRUTH)
    code, said = run("fit", path, "--clusters", "2", "--out", tmp_path / "out")
    assert code == 0, said
    assert line(said, "clustered") == "u, v, color, shape, flag"
    assert line(said, "choice").startswith(
        "Numbers and categories side by side: a mixture of both, LatentProfileMixture."
    )
    assert ("1 of 50 rows have missing values (color 1). What is observed is used." in said) == holes
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    assert adjusted_rand_score(TRUTH, partition.labels()) == 1
    np.testing.assert_allclose(repeated(tmp_path / "out").masses, partition.masses, atol=1e-9)


def test_categories(run, write, tmp_path):
    path = write(numbers=False, color=COLORS, shape=SHAPES, size=np.where(TRUTH, 3, 1), taste=np.where(TRUTH, "a", "b"))
    code, said = run("fit", path, "--out", tmp_path / "out")
    assert code == 0, said
    assert line(said, "choice").startswith("All columns are categories: a latent class mixture, LatentClassMixture.")
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    assert adjusted_rand_score(TRUTH, partition.labels()) == 1
    np.testing.assert_allclose(repeated(tmp_path / "out").masses, partition.masses, atol=1e-9)
    assert not (tmp_path / "out" / "partition.png").exists()


def test_a_wide_table(run, tmp_path):
    truth = np.repeat([0, 1, 2], 30)
    X = RNG.normal(size=(90, 200)) + 3 * (np.arange(200) % 3 == truth[:, None])
    pd.DataFrame(X).add_prefix("g").assign(label=truth).to_csv(tmp_path / "wide.csv", index=False)
    code, said = run("fit", tmp_path / "wide.csv", "--clusters", "2-4", "--out", tmp_path / "out")
    assert code == 0, said
    assert "200 columns are many for 90 rows: principal components, those that say more than noise." in said
    partition = CredalPartition.load(tmp_path / "out" / "partition.npz")
    assert adjusted_rand_score(truth, partition.labels()) == 1
    np.testing.assert_allclose(repeated(tmp_path / "out").masses, partition.masses, atol=1e-9)
    code, said = run("fit", tmp_path / "wide.csv", "--clusters", "3", "--reduce", "2")
    assert (code, "principal components" in line(said, "choice")) == (0, False)


def test_dissimilarities_are_seen(run, tmp_path):
    x = RNG.normal(size=30) + np.repeat([0, 20], 15)
    path = tmp_path / "square.csv"
    np.savetxt(path, abs(x[:, None] - x), delimiter=",")
    code, said = run("fit", path, "--clusters", "2")
    assert code == 0, said
    assert "square.csv: dissimilarities of 30 objects" in said
    assert "note: The table is a square of dissimilarities and is taken for one; --no-distances takes it for" in said
    assert line(said, "method").startswith("EVCLUS, 2 clusters")
    code, said = run("fit", path, "--no-distances", "--clusters", "2", "--method", "fcm")
    assert (code, "30 rows, 30 columns" in said) == (0, True)


def test_links_lead_to_a_method_that_takes_them(run, write, tmp_path):
    (tmp_path / "links.csv").write_text("first,second,link\n0,1,must-link\n0,30,cannot-link\n")
    code, said = run("fit", write(), "--links", tmp_path / "links.csv", "--clusters", "2")
    assert code == 0, said
    assert line(said, "choice").startswith("With links: CECM.")


def test_every_choice_can_be_overridden(run, write):
    path = write(species=COLORS, shape=SHAPES)
    code, said = run("fit", path, "--clusters", "2", "--method", "ecm", "--scale", "none", "--drop", "shape")
    assert code == 0, said
    assert not re.search(r"^  choice", said, re.MULTILINE)  # nothing was left to choose
    assert line(said, "method") == "ECM, 2 clusters, seed 0"
    code, said = run("fit", path, "--clusters", "2", "--keep", "species", "--drop", "shape")
    assert code == 0, said
    assert line(said, "clustered") == "u, v, species"


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        (
            {"u": [3.0] * 50, "v": ["x"] * 50},
            [],
            "Every column is constant, so nothing tells the rows apart (u: always 3.0; v: al",
        ),
        ({"c": COLORS}, ["--method", "ecm", "--columns", "c"], "ecm reads numbers, and all columns are categories (c)"),
        ({"c": COLORS}, ["--method", "egmm", "--keep", "c"], "--keep: 'c' cannot be used (text, of which egmm reads"),
        (
            {"c": COLORS, "s": SHAPES},
            ["--scale", "standard"],
            "The scale 'standard' is for columns of numbers, and 'c'",
        ),
        ({}, ["--method", "egmm", "--model", "VVX"], "--model of egmm must be one of 'auto', 'EII'"),
        ({}, ["--method", "egmm", "--clusters", "5-2"], "from the smaller to the larger"),
        ({}, ["--keep", "w"], "--keep: there is no column 'w'. The columns are u, v."),
        ({}, ["--method", "autp"], "There is no method 'autp'"),
        ({"d": ["2020-01-31", "2020-02-01"] * 25}, ["--keep", "d"], "'d' cannot be clustered (dates or times"),
    ],
)
def test_bad_input_ends_in_a_sentence_with_the_cure(run, write, columns, options, words):
    code, said = run("fit", write(**columns), *options)
    assert code == 2, said
    assert words in said
    assert "Traceback" not in said
