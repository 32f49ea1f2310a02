"""Compiled functions on machines of all kinds: nothing compiled yet, nowhere to keep it, no compiler at all."""

import json
import os
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

import evidentia
from evidentia.solvers.compiling import Compiled, compiled

PACKAGE = Path(evidentia.__file__).parent

# Two families with compiled loops, which compile in seconds; the others use the same decorator.
FITS = """
import json
from evidentia import CECM, EkNNclus, PairwiseConstraints
from evidentia.datasets import make_diamond

X = make_diamond().data
links = PairwiseConstraints.from_links([(0, 1)], [(0, 10)])
models = [
    CECM(2, n_init=1, random_state=0).fit(X, constraints=links),
    EkNNclus(2, n_neighbors=4, random_state=0).fit(X),
]
"""
THE_OTHERS = """
from evidentia import BeliefHierarchical, EVCLUS, ParsimoniousGaussianMixture

models += [
    BeliefHierarchical(2).fit(X),
    EVCLUS(2, n_init=1, random_state=0).fit(X),
    ParsimoniousGaussianMixture(2, model="VVI", n_init=1, random_state=0).fit(X),
]
"""
PRINTED = "print(json.dumps([model.partition_.masses.ravel().tolist() for model in models]))"


def masses_here(fits):
    names = {}
    exec(fits, names)
    return list(chain.from_iterable(model.partition_.masses.ravel() for model in names["models"]))


def masses_elsewhere(fits, path=PACKAGE.parent, **changed):
    """In a process of its own, with another environment (None: without that variable)."""
    wanted = {**os.environ, "PYTHONPATH": str(path), **changed}
    given = {name: str(value) for name, value in wanted.items() if value is not None}
    code = fits + PRINTED
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(chain.from_iterable(json.loads(done.stdout)))


def test_with_an_empty_cache_all_is_compiled_anew_and_kept(tmp_path):
    assert masses_elsewhere(FITS, NUMBA_CACHE_DIR=tmp_path) == pytest.approx(masses_here(FITS), abs=1e-12)
    assert len(list(tmp_path.rglob("*.nbi"))) >= 6


def test_without_a_folder_to_write_to_all_is_compiled_for_this_process(tmp_path):
    """A file stands where the folder should be: not even root can make it."""
    shutil.copytree(PACKAGE, tmp_path / "evidentia", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [path for path in tmp_path.rglob("*") if path.is_dir()]:
        (folder / "__pycache__").touch()
    (tmp_path / "file").touch()
    nowhere = {name: tmp_path / "file" / name for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    found = masses_elsewhere(FITS, tmp_path, NUMBA_CACHE_DIR=None, **nowhere)
    assert found == pytest.approx(masses_here(FITS), abs=1e-12)
    assert not list(tmp_path.rglob("*.nbi"))


def test_without_a_compiler_the_same_loops_run_as_python():
    every = FITS + THE_OTHERS
    assert masses_elsewhere(every, NUMBA_DISABLE_JIT="1") == pytest.approx(masses_here(every), abs=1e-9)


def test_without_numba_the_same_loops_run_as_python():
    every, no_numba = FITS + THE_OTHERS, "import sys, warnings; sys.modules['numba'] = None\n"
    no_numba += "warnings.filterwarnings('ignore', 'Without numba .* pip install .evidentia.fast')\n"
    assert masses_elsewhere(no_numba + every) == pytest.approx(masses_here(every), abs=1e-9)


@pytest.mark.parametrize("without", ["numba", "compiler"])
def test_as_python_a_division_by_zero_is_infinite_without_a_warning(without):
    """An object sits on a prototype of a pass, and its inverse cost is found anew."""
    code = "import sys; sys.modules['numba'] = None; " if without == "numba" else ""
    code += (
        "import warnings; warnings.filterwarnings('ignore', 'Without numba');"
        "import numpy as np; from evidentia.solvers.compiling import compiled;"
        "assert compiled(lambda x, i: 1 / x[i])(np.zeros(3), 1) == np.inf"
    )
    setting = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=setting)


def test_numba_is_loaded_by_the_first_loop_and_not_before():
    code = "import sys; from evidentia import *; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})


@compiled
def doubled(x):
    return 2 * x


@compiled
def one_more_than_doubled(x):
    return doubled(x) + 1


def test_a_compiled_function_may_use_one_that_was_not_called_yet():
    assert isinstance(doubled, Compiled)
    assert one_more_than_doubled(20) == 41
    assert not isinstance(doubled, Compiled)  # what numba made is in its place


def test_only_one_module_knows_numba():
    """So that no function is compiled in a way that needs a folder."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [name for name, text in texts.items() if "import numba" in text or "from numba" in text] == ["compiling.py"]
