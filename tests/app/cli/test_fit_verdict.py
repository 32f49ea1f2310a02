"""Whether fit says the truth of tables without groups: twins of tables on which clusters were called certain."""

import re

import numpy as np
import pandas as pd
import pytest

from evidentia import CredalPartition

CUT = (
    "There is no evidence of groups: the {} clusters are parts of one cloud. Their labels cut this cloud into pieces; "
)
CERTAIN = ("100 %", "assigned", "certain", "tell the clusters apart", "Most doubtful")


@pytest.fixture
def fit_quietly(run, tmp_path):
    """``fit_quietly(frame, ...)`` gives what ``evidentia fit`` prints of a table when it is quiet."""

    def invoke(frame, *options):
        path = tmp_path / "table.csv"
        frame.to_csv(path, index=False)
        code, said = run("fit", path, "--quiet", *options)
        assert code == 0, said
        return said

    return invoke


def uniform_numbers():
    return pd.DataFrame(np.random.default_rng(5).random((400, 3)), columns=list("xyz"))


def skewed_houses(seed):
    z = np.random.default_rng(seed).normal(size=(800, 4))
    return pd.DataFrame(np.exp(0.8 * (z + 0.5 * z[:, :1])), columns=["rooms", "income", "people", "age"])


def skewed_guesses():
    return pd.DataFrame({"guess": np.round(np.random.default_rng(5).lognormal(5, 0.9, 1500))})


def salaries():
    """One curve: each player of a team earns in proportion to the pay of the team."""
    rng = np.random.default_rng(5)
    pay = rng.pareto(2.5, 400)
    columns = {f"player {k}": 1e6 * (1 + pay * (1 + 0.3 * k)) * np.exp(rng.normal(0, 0.08, 400)) for k in range(5)}
    return pd.DataFrame(columns)


@pytest.mark.parametrize("make", [uniform_numbers, skewed_guesses, salaries])
def test_clusters_without_groups_are_called_parts_of_one_cloud(fit_quietly, make):
    frame = make()
    said = fit_quietly(frame)
    first, second, inside, between, level, *_ = [line for line in said.splitlines() if not line.startswith("note: ")]
    count = int(second.split(" parts")[0].rsplit(" ", 1)[1])
    assert first.startswith(CUT.format(count))
    assert second == f"{len(frame)} objects in {count} parts of one cloud; one group describes them as well"
    assert count > 1
    assert int(inside.split()[0]) + int(between.split()[0]) == len(frame)
    assert level == "Inside: belief of 0.6 or more."
    assert not any(words in said for words in CERTAIN)


@pytest.mark.parametrize("seed", [5, 6])
def test_skewed_columns_are_never_said_to_be_groups(fit_quietly, seed):
    said = fit_quietly(skewed_houses(seed))
    assert said.startswith(("There is no evidence of groups", "It cannot be told whether there are groups"))
    assert "100 %" not in said


def test_one_cluster_is_told_as_no_groups(fit_quietly):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["fee", "aid"])
    assert fit_quietly(frame) == "No groups were found: one cluster describes all objects.\n50 objects in 1 cluster\n"


def test_a_survey_of_coin_tosses_is_not_certain(fit_quietly):
    rng = np.random.default_rng(5)
    answers = pd.DataFrame(rng.choice(["yes", "no", "maybe"], (300, 6)), columns=[f"question {k}" for k in "abcdef"])
    assert fit_quietly(answers).startswith("No groups were found")
    side = rng.integers(0, 2, 300)  # two leanings, so that many people cannot be told
    leaning = rng.random((300, 6)) < np.where(side, 0.75, 0.25)[:, None]
    said = fit_quietly(pd.DataFrame(np.where(leaning, "yes", "no"), columns=answers.columns))
    assert said.startswith("The clusters were not judged: the columns are categories.\n300 objects in 2 clusters\n")
    assert "ambiguous between clusters   {0,1}: " in said
    assert "100 %" not in said
    assert "mean uncertainty 0.00" not in said


def test_seven_tissues_are_found_and_said_to_be_groups(fit_quietly):
    rng = np.random.default_rng(5)
    tissue = rng.integers(0, 7, 189)
    genes = pd.DataFrame(rng.normal(size=(189, 100)) + 0.8 * rng.normal(size=(7, 100))[tissue]).add_prefix("gene ")
    told, count, *_ = fit_quietly(genes).splitlines()
    assert told.startswith("There are groups: ")
    assert count == "189 objects in 7 clusters"


def test_the_verdict_is_first_in_the_report_and_shown_again(fit_quietly, run, tmp_path):
    out = tmp_path / "out"
    said = fit_quietly(uniform_numbers(), "--out", out)
    assert run("show", out) == (0, said)
    verdict = CredalPartition.load(out / "partition.npz").verdict
    assert said.startswith(verdict.sentence)
    page = (out / "report.html").read_text(encoding="utf-8")
    body = re.sub("<[^>]*>", "", page[page.index("<main>") :])
    assert body.index(verdict.sentence) < body.index("inside one part")
    assert "parts of one cloud · EGMM" in page
    assert "The weakest split" in body
    for words in ("assigned", "tells apart", "tell the clusters apart", "100 %", "Most doubtful", "most doubtful"):
        assert words not in body


def test_a_report_of_one_cluster_shows_no_clusters(fit_quietly, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["fee", "aid"])
    fit_quietly(frame, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    body = re.sub("<[^>]*>", "", page[page.index("<main>") :])
    assert "No groups were found: one cluster describes all objects." in body
    for words in ("The clusters", "doubtful", "assigned", "tells apart", "100 %", "cluster 0"):
        assert words not in body


def test_starts_that_disagree_lower_the_confidence(fit_quietly, tmp_path):
    options = ("--method", "fcm", "--clusters", "12", "--out", tmp_path / "out")
    said = fit_quietly(uniform_numbers(), *options)
    words = "of 10 starts ended in this solution, so more starts may find a better one."
    assert f"Confidence is low: 1 {words}" in said
    assert words in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Confidence is low" not in fit_quietly(uniform_numbers(), "--method", "fcm", "--clusters", "2")
