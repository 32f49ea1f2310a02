"""No interruption leaves a folder of two runs: a law for each command that writes a folder of results."""

import hashlib
import itertools
import shutil

import numpy as np
import pandas as pd
import pytest
import typer
from PIL import Image as Pillow

from evidentia import ECM
from evidentia.app.cli import app
from evidentia.app.report import results
from evidentia.app.report.pictures import Picture
from evidentia.app.run_folder import LISTING, check_listed, finish_run, listed_files
from whole_folders import files_of, watching

MINE = {"notes.txt": "dear", "masses/legend.txt": "diary"}
QUICK = ("--method", "ecm", "--starts", 1, "--quiet")


def fit(table, k, place):
    return ["fit", table, *QUICK, "--columns", "age,weight", "--clusters", k]


def fit_views(table, k, place):
    other = shutil.copy(table, place / "other.csv")
    return ["fit", table, other, "--views", "--clusters", k, "--drop", "sex,site,diagnosis,patient", "--quiet"]


def fit_in_files(table, k, place):
    parts = place / "parts"
    parts.mkdir(exist_ok=True)
    for at in range(k):  # of the first run there is a part less
        pd.read_csv(table)[["age", "weight"]].to_parquet(parts / f"{at}.parquet")
    return ["fit", f"{parts}/*.parquet", *QUICK, "--clusters", k]


def ask(table, k, place):
    answers = place / f"answers{k}.csv"
    return ["ask", table, "--columns", "age,weight", "--clusters", k, "--starts", 1, "--answers", answers]


def segment(table, k, place):
    gray = np.random.default_rng(0).integers(3, size=(8, 8)) * 100
    Pillow.fromarray(gray.astype(np.uint8)).save(place / "gray.png")
    return ["segment", place / "gray.png", *QUICK, "--clusters", k]


def fuse(table, k, place):
    X = pd.read_csv(table)[["age", "weight"]]
    paths = [place / f"{name}{k}.npz" for name in "ab"]
    for seed, path in enumerate(paths):
        ECM(k, n_init=1, random_state=seed).fit(X).partition_.save(path)
    return ["fuse", *paths]


def demo(table, k, place):
    """The demo has no options of its own: it follows a fit."""
    return fit(table, k, place) if k == 2 else ["demo", "--quiet"]


# How each command with --out DIR is called for k clusters. `explore` keeps a list of steps there, no run.
RECIPES = {
    "fit": (fit, fit_views, fit_in_files),
    "ask": (ask,),
    "segment": (segment,),
    "fuse": (fuse,),
    "demo": (demo,),
}
NO_RUNS = {"explore"}


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch):
    monkeypatch.setattr(results, "draw", lambda *args, **options: [Picture("masses", "Masses", "", "", b"\x89PNG")])


def test_each_command_that_writes_a_folder_is_held_to_the_law():
    commands = typer.main.get_command(app).commands
    writing = {
        name for name, command in commands.items() for p in command.params if p.name == "out" and p.metavar == "DIR"
    }
    assert writing == set(RECIPES) | NO_RUNS


@pytest.mark.parametrize("recipe", list(itertools.chain(*RECIPES.values())), ids=lambda recipe: recipe.__name__)
def test_no_interruption_leaves_a_folder_of_two_runs(recipe, table, tmp_path, monkeypatch):
    out, calls = tmp_path / "out", [recipe(table, k, tmp_path) for k in (2, 3)]
    keys = iter("qq") if recipe is ask else iter(())
    monkeypatch.setattr("builtins.input", lambda *prompt: next(keys))

    def call(arguments):
        app([str(word) for word in [*arguments, "--out", out]], standalone_mode=False)

    call(calls[0])
    for name, text in MINE.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)
    old = listed_files(out)
    assert old
    moments = watching(out, tmp_path / "moments", lambda: call(calls[1]))
    new = listed_files(out)
    assert {name: old.get(name) for name in new} != new
    for moment in moments:
        visible = files_of(moment) - set(MINE) - {LISTING}
        assert all(fits(moment, name, old) for name in visible) or all(fits(moment, name, new) for name in visible)
        finish_run(moment)
        run = listed_files(moment)
        assert run in (old, new)
        assert files_of(moment) == {*run, *MINE, LISTING}
        for name in run:
            check_listed(moment, name)
        for name, text in MINE.items():
            assert (moment / name).read_text() == text


def fits(folder, name, listed):
    return listed.get(name) == hashlib.sha256((folder / name).read_bytes()).hexdigest()
