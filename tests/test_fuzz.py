"""Random fits against the laws, the short form; and that the laws would notice."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidentia.prototypes import FCM
from fuzz import problem as problems
from fuzz.__main__ import keep
from fuzz.laws import EXEMPT, ONE_FIT, TWO_FITS, Broken, claimed
from fuzz.problem import ESTIMATORS, UNITS, Case, Problem, TooSlow
from fuzz.running import Counts, Outcome, check
from fuzz.settings import DRAWN, FIXED, LEFT, kinds

HERE = Path(__file__).parent
CASES = 30
SLOW = {"nnevclus": 3, "bootgmm": 10, "cecm": 20}  # cases of those whose fits take longest
SEED = 16  # of the numbers of the cases


@pytest.mark.parametrize("method", ESTIMATORS)
def test_random_fits_keep_the_laws(method):
    counts = {"held": 0, "refused": 0, "undecided": 0}
    for number in range(SLOW.get(method, CASES)):
        case = Case(method, 10**9 * SEED + number)
        try:
            counts[check(case).word] += 1
        except (Exception, TooSlow) as error:
            raise AssertionError(f"{error}; PYTHONPATH=tests python -m fuzz {case} repeats it") from error
    assert counts["held"] > 0


def test_a_case_is_drawn_from_its_number_alone():
    one, again, other = (Problem.draw("ecm", Case("ecm", number).rng()) for number in (5, 5, 6))
    np.testing.assert_array_equal(one.X, again.X)
    assert one.settings == again.settings != other.settings
    assert Case.read(str(Case("cop-kmeans", 12))) == ("cop-kmeans", 12)


def test_a_column_without_a_number_is_drawn_in_silence():
    assert np.isnan(Problem.draw("egmm", Case("egmm", 2310).rng()).X).all(axis=0).any()


def test_values_that_a_change_of_units_lifts_beyond_doubles_are_refused():
    assert check(Case("secmdd", 102000001510)).word == "refused"


def test_strength_of_links_is_told_in_other_units_where_it_has_digits():
    assert check(Case("cecm", 401000047)) == ("held", "units", 3)  # else its xi is 1 - 1e-16


def test_equal_distances_are_those_of_the_metric():
    rows = 1e-15 * np.random.default_rng(0).normal(size=(9, 4))  # beside the gamma of soft-DTW they are all equal
    problem = Problem(ESTIMATORS["bhc"], rows, {"metric": "soft-dtw"}, {})
    assert "equal distances" in str(claimed("order", problem))
    assert claimed("order", replace(problem, settings={"metric": "cityblock"})) is None


def test_a_constant_beside_one_column_of_categories_is_no_second():
    rows = np.array([["1", "0"], ["2", "0"], ["1", None], ["2", "0"]], dtype=object)
    problem = Problem(ESTIMATORS["latent-profile"], rows, {}, {})
    assert "one column" in str(claimed("copies", problem))
    rows[0, 1] = "1"
    assert claimed("copies", problem) is None
    few = Problem(ESTIMATORS["latent-profile"], rows, {"n_clusters": 2}, {})  # 5 parameters, 3 different rows
    assert "fewer different rows than parameters" in str(claimed("order", few))


def test_a_search_that_rounding_moves_a_little_may_be_moved_far():
    assert check(Case("cevclus", 77000000569)).word == "undecided"


def test_every_parameter_is_drawn_or_left_with_a_reason():
    for cls in ESTIMATORS.values():
        for name, parameter in cls.parameters.items():
            for one in kinds(parameter.check):
                if type(one).__name__ == "Kind" and name not in FIXED:
                    assert one.words in {**DRAWN, **LEFT, "None": ""}, f"{cls.__name__}.{name}: {one.words}"
    assert all(LEFT.values())
    assert all(FIXED.values())


def test_what_is_not_claimed_names_laws_and_methods_that_there_are():
    for one in EXEMPT:
        assert set(one.laws) <= {*ONE_FIT, *TWO_FITS, "labels"}
        assert set(one.methods) <= set(ESTIMATORS)
        assert len(one.reason) > 10
    for name in UNITS:
        method, _, parameter = name.rpartition(".")
        assert any(parameter in cls.parameters for cls in ESTIMATORS.values() if method in ("", cls.method.name))


class NotOne(FCM):
    """Its masses add up to a little more than one."""

    def fit(self, *args, **kwargs):
        super().fit(*args, **kwargs)
        self.partition_.masses.flags.writeable = True
        self.partition_.masses[:] *= 1 + 1e-9
        return self


class Raw(FCM):
    """It fails without a word."""

    def fit(self, *args, **kwargs):
        raise np.linalg.LinAlgError("Singular matrix")


class Terse(FCM):
    """It refuses without a reason."""

    def fit(self, *args, **kwargs):
        raise ValueError("no")


class Divided(FCM):
    """It divides by zero."""

    def fit(self, *args, **kwargs):
        np.ones(1) / np.zeros(1)
        return super().fit(*args, **kwargs)


class Rising(FCM):
    """Its criterion gets worse."""

    def fit(self, *args, **kwargs):
        super().fit(*args, **kwargs)
        self.criterion_trace_ = np.array([1.0, 1.1])
        return self


class Endless(FCM):
    """It does not end."""

    def fit(self, *args, **kwargs):
        while True:
            pass


class Changed(FCM):
    """What it is given is not what it fits."""

    def fit(self, X, *args, **kwargs):
        return super().fit(self._change(np.asarray(X, dtype=float)), *args, **kwargs)

    def predict_partition(self, X):
        return self.partition_  # not what this is about


class Unseeded(Changed):
    def _change(self, X):
        return X + np.random.default_rng().normal(size=X.shape) * X.std()


class Ordered(Changed):
    def _change(self, X):
        return X * np.linspace(1, 2, len(X))[:, None]


class Measured(Changed):
    def _change(self, X):
        return np.where(np.abs(X) > 1, X, 0.0)


class Unweighted(FCM):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (NotOne, "off one by 1e-09"),
        (Raw, "raw error, LinAlgError"),
        (Terse, "says too little"),
        (Divided, "divide by zero"),
        (Rising, "the criterion gets worse, from .*1.0.* to .*1.1"),
        (Endless, "more than 0.2 s"),
        (Unseeded, "the same seed gives masses"),
        (Ordered, "order: masses of pairs differ"),
        (Measured, "(units|origin): masses of pairs differ"),
        (Unweighted, "copies: masses of pairs differ"),
    ],
)
def test_a_method_that_breaks_a_law_is_noticed(monkeypatch, wrong, words):
    monkeypatch.setitem(problems.ESTIMATORS, "fcm", wrong)
    if wrong is Endless:
        monkeypatch.setattr(problems, "LIMIT", 0.2)
    found = []
    for number in range(60):
        try:
            check(Case("fcm", number))
        except (Broken, RuntimeWarning, TooSlow) as failure:
            found.append(str(failure))
        if wrong is Endless:
            break
    assert [said for said in found if re.search(words, said)], set(found)


def test_counts_of_several_runs_add_up(tmp_path):
    one, other = Counts(), Counts()
    one.add(Case("ecm", 1), Outcome("held", "order", 3))
    other.add(Case("ecm", 2), Outcome("refused", "order", 1))
    other.add(Case("fcm", 3), Outcome("held", "order", 3))
    keep(tmp_path / "kept.json", 5, other)
    keep(tmp_path / "kept.json", 6, other)
    found = keep(tmp_path / "kept.json", 5, one)  # again, later in the same run
    assert found["fits"] == {"ecm": 4, "fcm": 3}
    assert found["outcomes"] == {"order, held": 2, "order, refused": 1}


def test_the_long_form_says_what_it_did_and_how_to_repeat_it():
    paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE)])
    command = [sys.executable, "-m", "fuzz", "--minutes", "0.1", "--seed", "3", "--methods", "fda,lfda"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr[-3000:]
    head, *_, last = done.stdout.splitlines()
    assert head == "fuzz --minutes 0.1 --seed 3"
    assert json.loads(last)["failures"] == {}
    once = subprocess.run(
        [*command[:3], "fda:12"], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths}
    )
    assert once.stdout.startswith("fda:12: ")
