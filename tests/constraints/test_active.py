"""Questions about pairs: which one is asked, what an answer does, and that none is lost."""

import os
import warnings
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import rand_score
from sklearn.preprocessing import FunctionTransformer

from evidentia import CECM, ECM, CredalPartition, FocalSets, methods
from evidentia._base import MethodBase
from evidentia._parameters import ANYTHING, param
from evidentia.constraints import ActiveSession, ContradictoryLinks, PairwiseConstraints, ask_oracle, questions
from evidentia.constraints.files import Answer, read_answers, write_answers
from evidentia.datasets import load
from evidentia.methods import Method
from evidentia.metric_learning import KPCCA, PCCA, learn_metric

LINE = np.array([[0.0], [0.5], [4.9], [9.0], [10.0], [5.2]])


class Told(MethodBase):
    """Answers with the partition it is given, with links with a later one; its criterion depends on its start."""

    method = Method(name="told", title="toy", papers=(), guide="active", takes=("links",))
    partition: Any = param(ANYTHING, default=None, kw_only=False)
    later: Any = param(ANYTHING, default=None)
    init: Any = param(ANYTHING, default="own starts")
    own: float = param(ANYTHING, default=2.0)
    given: float = param(ANYTHING, default=1.0)
    attributes = {"cluster_centers_": "ndarray"}

    def fit(self, X, y=None, constraints=None):
        self.partition_ = self.later if self.later is not None and len(constraints) else self.partition
        self.cluster_centers_ = np.array([[0.0], [10.0]])
        self.criterion_ = self.own if isinstance(self.init, str) else self.given
        self.n_links_ = len(constraints)
        return self


def partition_of(torn, k=(0, 0, 0, 1, 1, 1)):
    """Two clusters; object i has mass torn[i] on both and the rest on cluster k[i]."""
    masses = np.zeros((len(torn), 3))
    masses[np.arange(len(torn)), k] = 1 - np.asarray(torn)
    masses[:, 2] = torn
    return CredalPartition(masses, FocalSets(2, empty=False))


@pytest.fixture
def session():
    return ActiveSession(Told(partition_of([0.1, 0.2, 0.6, 0.1, 0.1, 0.7])), LINE)


@pytest.fixture(scope="module")
def corners():
    """Four groups of ten, named; geometry does not tell whether left and right or top and bottom belong together."""
    at = np.repeat([[0, 0], [0, 9], [8, 0], [8, 9]], 10, axis=0)
    rows = at + np.random.default_rng(0).normal(size=(40, 2))
    return pd.DataFrame(rows, columns=["x", "y"], index=[f"object {i}" for i in range(40)])


def model_of_corners():
    return CECM(2, adaptive=True, n_init=4, random_state=0)


# -- which question ---------------------------------------------------------------------------------------------------


def test_the_rule_of_the_paper_asks_about_the_most_torn_object_and_the_one_nearest_to_its_likelier_center(session):
    # object 5 has mass 0.7 on {0,1}, and 0.3 on cluster 1, whose center 10 is nearest to object 4
    assert session.ask()[:2] == (5, 4)
    assert session.ask().probability == pytest.approx(0.65 * 0.95 + 0.35 * 0.05)
    session.answer("don't know")
    assert session.ask()[:2] == (5, 0)  # the other center
    session.answer("different")
    assert session.ask()[:2] == (2, 0)  # the next torn object, mass 0.6, likelier in cluster 0


def test_nearest_is_measured_in_the_metric_of_the_cluster():
    table = np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 4.0], [5.0, 0.0]])
    metrics = np.array([np.diag([4.0, 0.25]), np.eye(2)])
    model = SimpleNamespace(
        cluster_centers_=np.zeros((2, 2)),
        cluster_metrics_=metrics,
        attributes={"cluster_centers_": "", "cluster_metrics_": ""},
    )
    # squared distances: 9/4, 16, 4, 100 in the first metric and 9, 4, 16, 25 in the second
    assert questions.surest_objects(model, table).tolist() == [0, 1]
    without = SimpleNamespace(partition_=partition_of([0.3, 0.1, 0.2, 0.6, 0.5, 0.4]), attributes={})
    assert questions.surest_objects(without, table).tolist() == [1, 5]


class Wavering(TransformerMixin, BaseEstimator):
    """Keeps one column for an odd number of links, and both for an even one."""

    def fit(self, X, y=None, constraints=None):
        self.width_ = 2 - len(constraints) % 2
        return self

    def transform(self, X):
        return np.asarray(X)[:, : self.width_]


FROM_LINKS = [cls for cls in methods.all_methods().values() if cls.method.learner and "links" in cls.method.takes]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("learner", [*(cls() for cls in FROM_LINKS), PCCA(1), KPCCA(1), PCA(1), Wavering()])
def test_with_a_learned_metric_the_question_is_that_of_the_transformed_rows(learner, adaptive, corners):
    said = [(0, 10, "same"), (20, 30, "same"), (3, 25, "different")]
    model = CECM(2, adaptive=adaptive, n_init=2, random_state=0)
    session = ActiveSession(clone(model).set_params(metric_learner=learner), corners, answers=said)
    fitted, rows = learn_metric(learner, corners, session.links)
    assert fitted is not None
    assert session.ask() == ActiveSession(model, rows, answers=said).ask()
    session.answer("different")
    assert session.ask() not in (None, session.answers[-1][:2])  # another metric was learned, perhaps of another width


def test_the_object_nearest_to_a_center_is_sought_in_the_learned_space():
    """One column is noise of a large spread, which the learned metric leaves out."""
    table = np.c_[np.arange(6.0), 1e3 * np.array([0.0, 4, 1, 5, 2, 3])]
    learner = FunctionTransformer(lambda X: X[:, :1]).fit(table)
    model = SimpleNamespace(
        cluster_centers_=np.array([[1.1], [3.9]]), metric_learner_=learner, attributes={"cluster_centers_": ""}
    )
    assert questions.surest_objects(model, table).tolist() == [1, 4]


def test_the_paper_s_rule_needs_sets_of_two_clusters():
    partition = CredalPartition([[1, 0, 0], [0, 0, 1]], FocalSets(3, "singletons", empty=False, omega=False))
    with pytest.raises(ValueError, match="focal sets have none"):
        ActiveSession(Told(partition), LINE[:2]).ask()


def test_the_most_uncertain_pair_is_the_one_with_most_mass_on_neither():
    masses = np.random.default_rng(5).dirichlet([0.4] * 7, size=30)
    partition = CredalPartition(masses, FocalSets(3, empty=False))
    asked = ActiveSession(Told(partition), np.zeros((30, 1)), rule="uncertainty").ask()
    member = partition.focal_sets.member.astype(bool)

    def unknown(i, j):
        return sum(
            masses[i, a] * masses[j, b]
            for a in range(7)
            for b in range(7)
            if (member[a] & member[b]).any() and not (a == b and member[a].sum() == 1)
        )

    assert asked[:2] == max(combinations(range(30), 2), key=lambda pair: unknown(*pair))


def test_expected_change_weighs_the_answers_and_does_not_see_the_numbers_of_clusters(corners):
    session = ActiveSession(model_of_corners(), corners, rule="change")
    start = (session.model.cluster_centers_, session.model.covariances_)

    def pignistic(must=(), cannot=()):
        links = PairwiseConstraints.from_links(must, cannot)
        return CECM(2, adaptive=True, init=start).fit(corners, constraints=links).partition_.pignistic

    def change(pair):
        before = pignistic()
        p = before[pair[0]] @ before[pair[1]]
        moves = [
            min(np.abs(q[:, order] - before).sum() for order in ([0, 1], [1, 0])) / 80
            for q in (pignistic([pair]), pignistic([], [pair]))
        ]
        return p * moves[0] + (1 - p) * moves[1]

    asked = session.ask()[:2]
    others = [ActiveSession(model_of_corners(), corners, rule=rule).ask()[:2] for rule in ("boundary", "uncertainty")]
    assert change(asked) >= max(map(change, others)) - 1e-9


def test_random_questions_depend_on_the_seed_only(corners):
    def pairs(seed):
        asking = ActiveSession(Told(partition_of([0.5] * 6)), LINE, rule="random", random_state=seed)
        return [asking.answer("unknown").answers[-1] for _ in range(15)]

    assert pairs(1) == pairs(1) != pairs(2)
    assert len({frozenset(given[:2]) for given in pairs(1)}) == 15  # all pairs of six objects, each once


@pytest.mark.parametrize("rule", ["boundary", "uncertainty", "random"])
def test_what_follows_from_answers_is_never_asked_and_questions_end(rule):
    truth = [0, 0, 1, 1, 0, 1]
    asking = ActiveSession(Told(partition_of([0.1, 0.2, 0.6, 0.1, 0.1, 0.7])), LINE, rule=rule, random_state=0)
    while asking.ask() is not None:
        first, second, _ = asking.ask()
        implied = {frozenset(pair) for pair in asking.links.closure().pairs.tolist()}
        assert frozenset((first, second)) not in implied
        asking.answer("same" if truth[first] == truth[second] else "different")
    assert len(asking.links.closure()) == 15
    assert not asking.worthwhile
    with pytest.raises(ValueError, match="no question left"):
        asking.answer("same")


# -- what an answer does ----------------------------------------------------------------------------------------------


def test_answers_become_links(session):
    session.answer("same", (0, 1)).answer("different", ("2", "0")).answer("don't know", (4, 5))
    assert session.links.must_link.tolist() == [[0, 1]]
    assert session.links.cannot_link.tolist() == [[2, 0]]
    assert session.model.n_links_ == 2
    assert repr(session) == "ActiveSession(Told, 6 objects, 3 answers: 1 same, 1 different, 1 unknown)"
    history = session.history
    assert history.answer.tolist() == ["same", "different", "unknown"]
    assert history.index.tolist() == [1, 2, 3]
    assert history.moved.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("told", "answer", "pair"),
    [("same", "different", ("object 3", "object 1")), ("different", "same", ("object 3", "object 1"))],
)
def test_a_contradiction_is_refused_with_the_chain_and_changes_nothing(corners, told, answer, pair):
    asking = ActiveSession(model_of_corners(), corners)
    asking.answer("same", (1, 2)).answer(told, (2, 3))
    with pytest.raises(ContradictoryLinks, match="contradicts earlier answers") as caught:
        asking.answer(answer, pair)
    for name in ("'object 1'", "'object 2'", "'object 3'"):
        assert name in str(caught.value)
    assert len(caught.value.contradictions[0].chain) == 3
    assert len(asking.answers) == 2


@pytest.mark.parametrize(
    ("answer", "pair", "message"),
    [
        ("yes", (0, 1), 'An answer is "same", "different" or "don\'t know"'),
        ("same", (2, 2), "'2' is one object, not two"),
        ("same", (0, 6), "no object 6 among 6"),
        ("same", ("0", "Eve"), "no object 'Eve' among 6"),
        ("different", (3, 2), "asked before: answer 1 is 'unknown'"),
    ],
)
def test_bad_answers_are_refused(session, answer, pair, message):
    session.answer("unknown", (2, 3))
    with pytest.raises(ValueError, match=message):
        session.answer(answer, pair)
    assert len(session.answers) == 1


def test_bad_sessions_are_refused():
    with pytest.raises(TypeError, match="ECM cannot learn from answers"):
        ActiveSession(ECM(2), LINE)
    with pytest.raises(TypeError, match="KMeans is no clustering method of evidentia"):
        ActiveSession(KMeans(2), LINE)
    with pytest.raises(ValueError, match="'rule' must be one of 'boundary'"):
        ActiveSession(Told(), LINE, rule="best")
    with pytest.raises(ValueError, match="'patience' must be a whole number from 1"):
        ActiveSession(Told(), LINE, patience=0)
    with pytest.raises(ValueError, match="2 of them are called 'a'"):
        ActiveSession(Told(), pd.DataFrame(LINE[:3], index=["a", "b", "a"]))


@pytest.mark.parametrize(("own", "given", "kept"), [(2.0, 1.0, 1.0), (1.0, 2.0, 1.0)])
def test_of_a_warm_and_a_fresh_fit_the_one_with_the_lower_criterion_is_kept(own, given, kept):
    asking = ActiveSession(Told(partition_of([0.3] * 6), own=own, given=given), LINE)
    assert asking.model.criterion_ == own  # the first fit has nothing to go on from
    asking.answer("same")
    assert asking.model.criterion_ == kept
    assert asking.history.criterion.tolist() == [kept]


class Deaf(Told):
    """Its fit has an argument of that name, but the method takes no links."""

    method = replace(Told.method, name="deaf", takes=())


class Climbing(Told):
    method = replace(Told.method, name="climbing", criterion="maximized")


for toy in ("told", "deaf", "climbing"):  # no methods of the library
    del methods._REGISTERED[toy]


def test_what_a_method_takes_is_read_from_its_record():
    with pytest.raises(TypeError, match="Deaf cannot learn from answers: it takes no links"):
        ActiveSession(Deaf(partition_of([0.3] * 6)), LINE)


def test_of_two_fits_with_a_maximized_criterion_the_higher_one_is_kept():
    asking = ActiveSession(Climbing(partition_of([0.3] * 6), own=2.0, given=1.0), LINE)
    assert asking.answer("same").model.criterion_ == 2.0


def test_the_solution_at_hand_can_beat_the_estimator_s_own_starts(corners):
    asking = ActiveSession(CECM(2, adaptive=True, n_init=1, init="random", random_state=3), corners)
    for pair in [(0, 10), (20, 30)]:
        before = asking.model
        asking.answer("same", pair)
        start = (before.cluster_centers_, before.covariances_)
        fits = [
            CECM(2, adaptive=True, n_init=1, init=init, random_state=3).fit(corners, constraints=asking.links)
            for init in (start, "random")
        ]
        assert asking.model.criterion_ == min(fit.criterion_ for fit in fits)


def test_undo_gives_back_the_question_and_the_model(corners):
    asking = ActiveSession(model_of_corners(), corners)
    asking.answer("same")
    question, masses, history = asking.ask(), asking.partition.masses, asking.history
    asking.answer("different")
    assert not np.array_equal(asking.partition.masses, masses)
    assert asking.undo() == [Answer(question.first, question.second, "different")]
    assert asking.ask() == question
    np.testing.assert_array_equal(asking.partition.masses, masses)
    pd.testing.assert_frame_equal(asking.history, history)
    asking.answer("don't know").undo()
    assert asking.ask() == question
    asking.undo()
    with pytest.raises(ValueError, match="no answer to take back"):
        asking.undo()


def test_many_answers_are_one_step(corners):
    asking = ActiveSession(model_of_corners(), corners, answers=[(0, 10, "same")])
    before = asking.partition.masses
    asking.extend([(corners.index[0], 10, "same"), (10, 11, "same"), (0, 20, "different"), (11, 20, "different")])
    assert asking.answers == [(0, 10, "same"), (10, 11, "same"), (0, 20, "different"), (11, 20, "different")]
    assert not np.array_equal(asking.partition.masses, before)
    assert asking.history.moved.isna().tolist() == [True, True, True, False]  # what all of them did stands at the last
    assert asking.undo() == [(10, 11, "same"), (0, 20, "different"), (11, 20, "different")]
    np.testing.assert_array_equal(asking.partition.masses, before)
    assert asking.undo() == [(0, 10, "same")]
    assert asking.extend([]).answers == []


def test_many_answers_are_taken_all_or_none(session):
    session.extend([(0, 1, "same"), (1, 2, "same")])
    for more, message in (
        ([(3, 4, "same"), (0, 2, "different")], "'0' = '1' = '2'|'2' = '1' = '0'"),
        ([(3, 4, "same"), (1, 0, "different")], "asked before: answer 1 is 'same'"),
        ([(3, 4, "same"), (5, 5, "same")], "one object"),
        ([(3, 4, "same"), (3, "Eve", "same")], "no object 'Eve'"),
    ):
        with pytest.raises(ValueError, match=message):
            session.extend(more)
    assert len(session.answers) == 2


def test_a_session_goes_on_with_a_model_at_hand():
    model = Told(partition_of([0.1, 0.2, 0.6, 0.1, 0.1, 0.7])).fit(LINE, constraints=[])
    asking = ActiveSession(model, LINE, answers=[(0, 1, "same")], model=model)
    assert asking.model is model
    assert asking.ask()[:2] == (5, 4)
    assert asking.answer("same").model is not model


def test_questions_no_longer_pay_after_some_answers_that_taught_nothing():
    asking = ActiveSession(Told(partition_of([0.1, 0.2, 0.6, 0.1, 0.1, 0.7])), LINE, patience=3)
    for answer, pair, worthwhile in [
        ("same", (0, 1), True),
        ("same", (3, 4), True),
        ("same", (0, 4), True),  # not foreseen: that is news
        ("unknown", (2, 4), True),
        ("same", (0, 2), True),  # foreseen, moves nothing
        ("different", (5, 0), False),
    ]:
        assert asking.answer(answer, pair).worthwhile == worthwhile


@pytest.mark.parametrize(("k", "moved"), [((1, 1, 0, 0, 0, 0), 1), ((1, 1, 1, 0, 0, 0), 0)])
def test_an_answer_that_was_foreseen_teaches_when_it_moves_an_object_but_not_when_it_renumbers_clusters(k, moved):
    torn = [0.1, 0.2, 0.4, 0.1, 0.1, 0.4]
    asking = ActiveSession(Told(partition_of(torn), later=partition_of(torn, k)), LINE, patience=1)
    asking.answer("same", (0, 1))  # before the first answer object 2 was with 0 and 1
    assert asking.history.moved.tolist() == [moved]
    assert asking.worthwhile == (moved > 0)


# -- files ------------------------------------------------------------------------------------------------------------

NAMES = ("plain", "with, comma", 'with "quotes"', "Ümlaut", "two\nlines")
GIVEN = [Answer(0, 1, "same"), Answer(2, 3, "different"), Answer(1, 4, "unknown"), Answer(4, 0, "different")]


def test_a_session_that_was_left_is_taken_up_with_every_answer(corners, tmp_path):
    asking = ActiveSession(model_of_corners(), corners)
    for word in ("same", "different", "unknown"):
        asking.answer(word).save(tmp_path / "answers.csv")
    again = ActiveSession(model_of_corners(), corners.iloc[::-1]).resume(tmp_path / "answers.csv")  # rows may move
    assert again.history[["first", "second", "answer"]].equals(asking.history[["first", "second", "answer"]])
    assert again.history.moved.isna().all()
    assert len(again.model.constraints_) == 2
    with pytest.raises(ValueError, match="3 answers already"):
        again.resume(tmp_path / "answers.csv")


def test_a_file_cut_off_anywhere_gives_the_answers_before(tmp_path):
    path = tmp_path / "answers.csv"
    write_answers(path, GIVEN, NAMES)
    whole = path.read_bytes()
    counts = []
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        if cut < len("first,second,answer,check\n"):
            with pytest.raises(ValueError, match=r"Missing: |there is no column|cut off there"):
                read_answers(path, NAMES)
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = read_answers(path, NAMES)
        assert found == GIVEN[: len(found)]
        assert len(said) == (len(found) < len(GIVEN))  # cut in a line, or between two
        counts.append(len(found))
    assert counts == sorted(counts)
    assert counts[-1] == len(GIVEN)


def test_a_damaged_line_never_becomes_another_answer(tmp_path):
    path, names = tmp_path / "answers.csv", ["a", "b", "c", "d"]
    write_answers(path, [Answer(0, 1, "same"), Answer(2, 3, "different")], names)
    whole = path.read_text()
    for old, new, line in (("a,b", "a,c", 2), ("c,d", "b,d", 3), (",1/2", ",1/3", 2), ("different", "same", 3)):
        path.write_text(whole.replace(old, new))
        with pytest.raises(ValueError, match=f"answers.csv, line {line}: the line, or one before it, was damaged"):
            read_answers(path, names)
    header, first, second = whole.splitlines()
    for lines in ([header, second], [header, second, first], [header, first, first]):
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(ValueError, match=r"line \d: the line, or one before it, was damaged"):
            read_answers(path, names)


def test_names_that_a_spreadsheet_would_run_are_kept_from_it_and_read_back(tmp_path):
    path, names = tmp_path / "answers.csv", ["=1+1", "'=1+1", "-5", "@x"]
    given = [Answer(0, 1, "same"), Answer(2, 3, "different")]
    write_answers(path, given, names)
    assert path.read_text().splitlines()[1].startswith("'=1+1,''=1+1,same,")
    assert read_answers(path, names) == given


def test_a_file_that_a_spreadsheet_saved_is_read(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(b"\xef\xbb\xbffirst,second,answer\r\nplain,\xc3\x9cmlaut,same\r\n\r\n")
    assert read_answers(path, NAMES) == [Answer(0, 3, "same")]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "answers.csv"
    write_answers(path, GIVEN[:2], NAMES)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_answers(path, GIVEN, NAMES)
    assert read_answers(path, NAMES) == GIVEN[:2]
    assert os.listdir(tmp_path) == ["answers.csv"]


def test_a_link_to_the_file_stays_a_link_and_permissions_stay(tmp_path):
    path, link = tmp_path / "answers.csv", tmp_path / "link.csv"
    write_answers(path, GIVEN[:1], NAMES)
    path.chmod(0o640)
    link.symlink_to(path)
    write_answers(link, GIVEN, NAMES)
    assert link.is_symlink()
    assert read_answers(path, NAMES) == GIVEN
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "must have the columns first, second, answer"),
        ("first,second,answer,check\n0,1,same,1/1-00000000\n", "line 2: the line, .* damaged or changed"),
        ("first,second,answer,check\n0,1,same\n2,3,same\n", "line 2: expected first, second, answer, check"),
        ("first,second,answer\n0,1,perhaps\n", "line 2: An answer is"),
        ("first,second,answer\n0,1,same\n0,17,same\n", "line 3: there is no object '17' in the table"),
        ("first,second,answer\n0,1\n2,3,same\n", "line 2: expected first, second, answer"),
        ("first,second,answer\n0,1,same\n1,0,same\n", "asked before: answer 1 is 'same'"),
        ("first,second,answer\n0,1,same\n1,2,same\n2,0,different\n", "contradict each other.*'2' = '1' = '0'"),
    ],
)
def test_files_that_cannot_be_taken_up_are_refused(session, tmp_path, text, message):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        session.resume(path)
    assert session.answers == []


# -- the oracle -------------------------------------------------------------------------------------------------------


def test_the_oracle_answers_by_the_truth_and_scores_what_is_known(corners):
    truth = np.repeat(["left", "right"], 20).astype(object)
    truth[[3, 17, 25]] = None
    asking = ActiveSession(model_of_corners(), corners)
    curve = ask_oracle(asking, truth, 8)
    assert curve.index.tolist() == list(range(9))
    for first, second, word in asking.answers:
        expected = "unknown" if None in (truth[first], truth[second]) else "same"
        assert word == ("different" if expected == "same" and truth[first] != truth[second] else expected)
    kept = [i for i in range(40) if truth[i] is not None]
    assert curve.rand_index.iloc[-1] == rand_score(truth[kept].tolist(), asking.model.labels_[kept])
    with pytest.raises(ValueError, match="39 labels for 40 objects"):
        ask_oracle(asking, truth[1:], 1)


def questions_until(score, session, truth, most):
    """Number of questions to a Rand index, or ``most`` when it was not reached."""
    for count in range(most):
        if ask_oracle(session, truth, int(count > 0)).rand_index.iloc[-1] >= score:
            return count
    return most


def test_the_paper_s_rule_needs_fewer_questions_than_random_pairs_on_iris():
    iris = load("iris")

    def needed(seed, **rule):
        estimator = CECM(3, adaptive=True, n_init=2, tol=1e-6, random_state=seed)
        return questions_until(0.98, ActiveSession(estimator, iris.data, **rule), iris.target, 41)

    active = [needed(seed) for seed in (0, 1)]
    drawn = [needed(seed, rule="random", random_state=seed) for seed in (0, 1)]
    assert max(active) <= 40  # the paper: the optimum with 40
    assert np.mean(active) < np.mean(drawn)
