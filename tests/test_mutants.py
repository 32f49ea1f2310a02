"""The runner of mutation tests: what it changes, and that the changed code is what runs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mutants

TEXT = '''
TIE = 0.5
def weight(x, power=2):
    """At least 1."""
    if x > TIE and not x == 3:
        raise ValueError(f"{x}")
    x[0] = -power
    return x ** power
'''
CHANGES = """
0.5 => 1.5
2 => 3
x > TIE and (not x == 3) => x > TIE or not x == 3
x > TIE and (not x == 3) => not (x > TIE and (not x == 3))
x > TIE => x >= TIE
not x == 3 => x == 3
x == 3 => x != 3
3 => 4
raise ValueError(f'{x}') => pass
x[0] = -power => pass
0 => 1
-power => power
return x ** power => return None
x ** power => x * power
"""


def test_every_small_mistake_of_a_text():
    tree = ast.parse(TEXT)
    found = list(mutants.mutants(tree))
    assert [" ".join(it.text.split()) for it in found] == CHANGES.strip().splitlines()
    assert [it.first for it in found] == [2, 3, *[5] * 6, 6, 7, 7, 7, 8, 8]
    assert [it.inside for it in found] == [False] * 2 + [True] * 12
    found[-1].apply()
    assert ast.unparse(tree).endswith("return x * power")


LOOK = """
import ast, sys
import numpy as np
import mutants
from evidentia.belief import FocalSets, decide, decision

torn = np.array([[1.0]]), FocalSets(2, [{0, 1}])
path = mutants.SOURCE / "belief" / "decision.py"
texts = [it.text for it in mutants.mutants(ast.parse(path.read_text(encoding="utf-8")))]
before = decide(*torn)
mutants.transplant(path, texts.index(sys.argv[1]))
print(decision.TIE, decision.decide_sets.__defaults__[-1], before, decide(*torn))
"""


@pytest.mark.parametrize(
    ("mutant", "found"),
    [
        ("1e-10  =>  1.0000000001", "1.0000000001 0.6 [0] [0]"),
        ("0.6  =>  1.6", "1e-10 1.6 [0] [0]"),
        ("return labels  =>  return None", "1e-10 0.6 [0] None"),
    ],
)
def test_a_mutant_is_what_all_others_call(mutant, found):
    """A changed constant, default and line; names imported before stand for the changed function too."""
    command = [sys.executable, "-c", LOOK, mutant]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(mutants.__file__).parent)
    assert done.stdout.strip() == found


SUPER = """
import mutants
from evidentia.mixtures import _replicates

path = mutants.SOURCE / "mixtures" / "_replicates.py"
mutants.transplant(path, mutants.CANARY)
try:
    _replicates.WhitenedRows.__init__(None, None, None)
except SystemError:
    print("raises")
"""


def test_the_code_of_a_method_that_calls_its_base_is_changed_too():
    folder = Path(mutants.__file__).parent
    done = subprocess.run([sys.executable, "-c", SUPER], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == "raises\n", done.stderr
