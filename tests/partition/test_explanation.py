"""Why an object is doubtful: the right clusters, the right columns, in words that hold."""

import json
import re
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evidentia import ECM, CredalPartition, FocalSets
from evidentia.partition.explanation import (
    ColumnEvidence,
    Competitor,
    DecisiveValue,
    Explainer,
    Explanation,
    _speakers,
    competing_clusters,
    ratio_text,
    tipping_level,
    tipping_value,
    value_text,
)
from evidentia.partition.profiles import Columns, Profiles, column_separations, profile, read_columns

PAIR = FocalSets(2, [set(), {0}, {1}, {0, 1}])


def crisp(labels, torn=(), out=0):
    """Sure objects of two clusters, then torn ones with the masses given, then outliers."""
    masses = [*np.eye(4)[np.asarray(labels) + 1], *torn, *([[1.0, 0, 0, 0]] * out)]
    return CredalPartition(masses, PAIR)


@pytest.fixture
def ages():
    """Four and five people; 'age' tells the clusters apart, 'noise' does not, 'size' a little; then Una, torn."""
    partition = CredalPartition(
        [*np.eye(4)[[1, 1, 1, 1, 2, 2, 2, 2, 2]], [0, 0.3, 0.1, 0.6]],
        PAIR,
        object_names=["Al", "Bo", "Cy", "Di", "Ed", "Fa", "Gi", "Hu", "Io", "Una"],
        cluster_names=["young", "old"],
    )
    frame = pd.DataFrame(
        {
            "age": [20, 22, 24, 26, 60, 62, 64, 66, 68, 41.0],
            "size": [1.6, 1.7, 1.8, 1.7, 1.8, 1.9, 1.7, 1.8, 1.8, 1.81],
            "noise": [5, 7, 6, 6, 7, 5, 6, 6, 6, 6.0],
        },
        index=partition.object_names,
    )
    return partition, frame


def test_profiles_by_hand(ages):
    partition, frame = ages
    found = profile(partition, read_columns(frame))
    np.testing.assert_allclose(found.means[:, 0], [23, 64])
    # Una may be in either, BetP 0.6 and 0.4: around the sure means 0.6 of her counts for young, 0.4 for old.
    young, old = (9 + 1 + 1 + 9 + 0.6 * 18**2) / 4.6, (16 + 4 + 0 + 4 + 16 + 0.4 * 23**2) / 5.4
    common = (4.6 * young + 5.4 * old) / 10
    expected = [sqrt((4.6 * young + 2 * common) / 6.6), sqrt((5.4 * old + 2 * common) / 7.4)]
    np.testing.assert_allclose(found.spreads[:, 0], expected)


def log_t(x, mean, spread):
    """Log density of Student's t with 4 degrees of freedom."""
    return stats.t.logpdf(x, 4, mean, spread)


def test_evidence_is_the_log_ratio_of_students_densities(ages):
    partition, frame = ages
    told = partition.explain("Una", frame)
    assert told.kind == "ambiguous"
    assert [one.name for one in told.clusters] == ["young", "old"]
    assert (told.clusters[0].mass, told.clusters[0].plausibility) == pytest.approx((0.3, 0.9))
    age = next(one for one in told.columns if one.column == "age")
    (m, n), (s, t) = age.usual, age.spreads
    ratio = log_t(41, m, s) - log_t(41, n, t)
    assert age.log_densities[0] - age.log_densities[1] == pytest.approx(ratio)
    assert age.speaks_for == "young"
    assert age.times == pytest.approx(exp(ratio))
    assert age.distance == pytest.approx((41 - m) / s)
    assert told.columns[-1].column == "noise"
    assert told.columns[-1].speaks_for is None


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(ages, scale):
    partition, frame = ages
    here, there = (Explainer(partition, table) for table in (frame, frame * [scale, 1, 1] + [7 * scale, 0, -3]))
    for one, other in zip(here.explain(9).columns, there.explain(9).columns):
        assert one.column == other.column
        assert np.diff(one.log_densities) == pytest.approx(np.diff(other.log_densities), rel=1e-6)
    assert here.explain(9).clusters[0].nearest == there.explain(9).clusters[0].nearest
    assert here.explain(9).clusters[0].distances == pytest.approx(there.explain(9).clusters[0].distances)


def test_nearest_sure_objects_are_nearest_in_spreads(ages):
    partition, frame = ages
    told = partition.explain("Una", frame)
    scale = profile(partition, read_columns(frame)).scale
    for cluster, members in zip(told.clusters, (frame.index[:4], frame.index[4:9])):
        far = ((frame.loc[members] - frame.loc["Una"]) / scale).pow(2).sum(axis=1).pow(0.5).sort_values()
        assert cluster.nearest == tuple(far.index[:3])
        assert cluster.distances == pytest.approx(far.tolist()[:3])


def test_what_would_settle_it_makes_one_cluster_ten_times_as_plausible(ages):
    partition, frame = ages
    told = partition.explain("Una", frame)
    assert told.decisive.column == "age"
    age = next(one for one in told.columns if one.column == "age")
    odds = log(0.9 / 0.7)

    def after(value):
        ratio = [log_t(x, m, s) for x in (value, 41) for m, s in zip(age.usual, age.spreads)]
        return odds + (ratio[0] - ratio[1]) - (ratio[2] - ratio[3])

    (young, below, low), (old, above, high) = told.decisive.values
    assert (young, below, old, above) == ("young", "at most", "old", "at least")
    assert low < high
    assert after(low) == pytest.approx(log(10))
    assert after(high) == pytest.approx(-log(10))
    assert told.question == ((told.clusters[0].nearest[0], "young"), (told.clusters[1].nearest[0], "old"))


@pytest.mark.parametrize(("sa", "sb", "aim"), [(1.0, 1.0, 0.7), (0.5, 2.0, -1.2), (2.0, 0.5, 1.1), (3.0, 1.0, 0.0)])
@pytest.mark.parametrize("means", [(1.0, 5.0), (5.0, 1.0)])
def test_tipping_value_solves_its_equation_between_the_clusters(means, sa, sb, aim):
    x = tipping_value(np.array(means), np.array([sa, sb]), aim)

    def ratio(x):
        return log_t(x, means[0], sa) - log_t(x, means[1], sb)

    assert min(means) < x < max(means)
    assert ratio(x) == pytest.approx(aim, abs=1e-9)
    step = 1e-4 * (means[1] - means[0])
    assert ratio(x + step) < ratio(x)  # toward b it speaks less for a


def test_no_value_tips_what_is_too_wide():
    assert tipping_value(np.array([0.0, 1.0]), np.array([1.0, 3.0]), 5.0) is None
    assert tipping_value(np.array([2.0, 2.0]), np.array([1.0, 3.0]), 0.0) is None


def test_it_prints_for_a_person(ages):
    partition, frame = ages
    lines = str(partition.explain("Una", frame)).splitlines()
    assert lines[0] == "Una: ambiguous between clusters young and old, 0.60 of its mass is on {young,old}."
    assert lines[2].split("  ")[1] == "cluster"
    assert lines[3].split() == ["young", "0.30", "0.90", *lines[3].split()[3:]]
    assert any(line.split()[:2] == ["age", "41.0"] and "young, " in line and " times" in line for line in lines)
    assert lines[-2].startswith("What would settle it: age, which tells young and old apart best, at most ")
    assert lines[-2].endswith("; it is 41.0.")
    assert lines[-1] == "Or an answer: does Una belong with Cy (assigned to young) or with Ed (assigned to old)?"


def test_a_missing_value_says_nothing_and_is_worth_measuring(ages):
    partition, frame = ages
    frame.loc["Una", "age"] = np.nan
    told = partition.explain("Una", frame)
    age = next(one for one in told.columns if one.column == "age")
    assert (age.value, age.speaks_for, age.times) == (None, None, 1.0)
    assert (told.decisive.column, told.decisive.missing) == ("age", True)
    assert "it is missing" in str(told)
    assert all(np.isfinite(one.distances).all() and one.distances for one in told.clusters)
    assert "age is missing, and would tell most." in partition.reasons(frame, ["Una"])[0]


def test_an_object_of_which_nothing_is_known_has_no_neighbors(ages):
    partition, frame = ages
    frame.loc["Una"] = np.nan
    frame["empty"] = np.nan
    told = partition.explain("Una", frame)
    assert [one.nearest for one in told.clusters] == [(), ()]
    assert "nearest" not in str(told)


def test_nothing_is_in_doubt(ages):
    partition, frame = ages
    told = partition.explain(0, frame)
    assert not told.in_doubt
    assert told.kind == "assigned"
    assert told.columns == ()
    assert set(told.clusters[0].nearest) == {"Bo", "Cy", "Di"}
    assert str(told).startswith("Al: nothing is in doubt, 1.00 of its mass is on cluster young.")
    assert partition.reasons(frame, ["Al"]) == ["Nothing is in doubt: cluster young."]


def test_a_faint_majority_is_doubtful_too():
    partition = CredalPartition([[0.55, 0.45], [1, 0], [0, 1]], FocalSets(2, [{0}, {1}]))
    told = partition.explain(0, [[1.0], [0.0], [2.0]])
    assert (told.kind, told.in_doubt, len(told.clusters)) == ("ambiguous", True, 2)
    assert str(told).startswith("0: ambiguous between clusters 0 and 1, no set of clusters holds enough of its mass.")


def test_an_assigned_object_may_have_a_rival():
    partition = CredalPartition([[0.65, 0.35], [1, 0], [0, 1]], FocalSets(2, [{0}, {1}]))
    told = partition.explain(0, [[1.0], [0.0], [2.0]])
    assert (told.kind, told.in_doubt, len(told.clusters)) == ("assigned", True, 2)
    assert str(told).startswith("0: 0.65 of its mass is on cluster 0, but 1 cannot be ruled out.")


def test_an_outlier_is_far_by_the_columns_that_are_far():
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal([0, 50, 3], [1, 9, 2], (30, 3)), rng.normal([9, 50, 3], [1, 9, 2], (30, 3))])
    X = np.vstack([X, [8.5, 130, 3.2]])
    partition = crisp(np.repeat([0, 1], 30), out=1)
    told = partition.explain(60, X, feature_names=["a", "b", "c"])
    assert (told.kind, told.clusters[0].name, told.columns[0].column) == ("outlier", "1", "b")
    mean, spread = X[30:60, 1].mean(), told.columns[0].spreads[0]
    assert told.columns[0].distance == pytest.approx((130 - mean) / spread)
    assert told.decisive.values[0][:2] == ("1", "at most")
    assert told.decisive.values[0][2] == pytest.approx(mean + 3 * spread)
    text = str(told)
    assert "60: an outlier, 1.00 of its mass is on the empty set. The nearest cluster is 1." in text
    assert "spreads above" in text
    assert "What would bring it into 1: b at most " in text
    assert partition.reasons(X, [60])[0].startswith("In none; nearest is 1: column 1 is ")


def test_an_outlier_that_is_far_in_no_single_column():
    X = [[0.0, 0], [1, 1], [2, 2], [9, 0], [10, 1], [11, 2], [1, 1.5]]
    told = crisp([0, 0, 0, 1, 1, 1], out=1).explain(6, X)
    assert told.decisive is None
    assert "No single column is too far" in str(told)


def test_dissimilarities_give_neighbors_and_no_columns():
    place = np.array([0.0, 1, 3, 10, 12, 13, 6])
    D = np.abs(place[:, None] - place)
    partition = crisp([0, 0, 0, 1, 1, 1], torn=[[0, 0.2, 0.2, 0.6]])
    told = partition.explain(6, dissimilarities=D)
    assert told.columns == ()
    assert [(one.nearest, one.distances) for one in told.clusters] == [
        (("2", "1", "0"), (3.0, 5.0, 6.0)),
        (("3", "4", "5"), (4.0, 6.0, 7.0)),
    ]
    assert str(told).endswith("What would settle it: does 6 belong with 2 (assigned to 0) or with 3 (assigned to 1)?")
    assert "Or an answer" not in str(told)
    assert partition.reasons(dissimilarities=D, objects=[6]) == ["Between 0 and 1."]
    outlier = crisp([0, 0, 0, 1, 1, 1], out=1).explain(
        6, dissimilarities=np.abs(np.r_[place[:6], 8.0][:, None] - np.r_[place[:6], 8.0])
    )
    assert outlier.clusters[0].name == "1"


def test_masses_alone_still_say_who_competes():
    told = crisp([0, 1], torn=[[0, 0.1, 0.3, 0.6]]).explain(2)
    assert [one.name for one in told.clusters] == ["1", "0"]
    assert told.question == (("1", "1"), ("0", "0"))
    assert crisp([0, 1], out=1).explain(2).clusters[0].nearest == ()


def test_categories_speak_too():
    frame = pd.DataFrame({"color": ["red"] * 8 + ["blue"] * 8 + ["red"], "x": [*range(16), 7.5]})
    frame.loc[3, "color"] = None
    partition = crisp(np.repeat([0, 1], 8), torn=[[0, 0.1, 0.1, 0.8]])
    told = partition.explain(16, frame)
    color = told.columns[0]
    # Una counts half: 7.5 and 0.5 red of 7.5 and 8.5 known, two more at the overall shares 8/16 and 8/16.
    assert (color.column, color.value, color.usual, color.speaks_for) == ("color", "red", ("red", "blue"), "0")
    assert color.times == pytest.approx(((7.5 + 2 * 8 / 16) / 9.5) / ((0.5 + 2 * 8 / 16) / 10.5))
    assert "red" in str(told)
    json.dumps(told.to_dict())
    frame.loc[16, "color"] = None
    assert ("0", "is", "red") not in partition.explain(16, frame).decisive.values  # three times as likely is not ten


def test_a_category_that_would_settle_it():
    frame = pd.DataFrame({"color": ["red"] * 40 + ["blue"] * 40 + [None]})
    partition = crisp(np.repeat([0, 1], 40), torn=[[0, 0.1, 0.1, 0.8]])
    told = partition.explain(80, frame)
    assert told.decisive == ("color", True, (("0", "is", "red"), ("1", "is", "blue")))
    assert "is red (for 0) or is blue (for 1); it is missing." in str(told)


def test_a_rare_category_makes_an_outlier():
    frame = pd.DataFrame({"color": ["red"] * 40 + ["blue"] * 40 + ["green"]})
    told = crisp(np.repeat([0, 1], 40), out=1).explain(80, frame)
    assert told.columns[0].distance > 3
    assert told.decisive.values[0][1:] == ("is", "red")
    assert "color is unusual" in crisp(np.repeat([0, 1], 40), out=1).reasons(frame, [80])[0]


def test_taken_one_by_one_the_columns_can_mislead():
    labels = np.repeat([0, 1], 20)
    X = np.where(labels == 0, 0.0, 9.0)[:, None] + np.linspace(-1, 1, 20).repeat(2)[:, None]
    partition = crisp(labels, torn=[[0, 0.4, 0, 0.6]])
    told = partition.explain(40, np.vstack([X, [[8.9]]]))
    assert told.clusters[0].name == "0"
    assert told.note.startswith("Taken one by one the columns speak for 1: ")
    assert partition.explain(40, np.vstack([X, [[0.1]]])).note == ""


def test_frames_and_dicts(ages):
    partition, frame = ages
    told = partition.explain("Una", frame)
    table = told.to_frame()
    assert table.index.tolist() == [one.column for one in told.columns]
    assert table.loc["age", "usual in old"] == 64
    assert told.to_frame("clusters").loc["old", "plausibility"] == pytest.approx(0.7)
    assert partition.explain("Al", frame).to_frame().empty
    again = json.loads(json.dumps(told.to_dict()))
    assert again["clusters"][1]["name"] == "old"
    assert again["in_doubt"] is True
    with pytest.raises(AttributeError):
        told.kind = "sure"
    with pytest.raises(ValueError, match="'what' must be 'columns' or 'clusters'"):
        told.to_frame("rows")


def test_objects_without_names_are_found_by_number(ages):
    partition, frame = ages
    nameless = partition.name_objects(None)
    assert nameless.explain("9", frame.to_numpy()).index == 9
    assert nameless.explain(np.int64(-1), frame.to_numpy()).index == 9


def test_many_objects_get_the_sentence_of_each(ages):
    partition, frame = ages
    assert len(partition.reasons(frame)) == 10
    assert partition.reasons(frame)[9] == partition.reasons(frame, ["Una"])[0]
    size, age = partition.explain("Una", frame).columns[:2]
    assert partition.reasons(frame)[9] == (
        f"Between young and old: size speaks for old ({size.times:.2g} times as likely), age for young "
        f"({age.times:.2g} times)."
    )
    assert partition.reasons(frame, []) == []


def test_the_sentence_of_three_rivals_names_the_columns_of_the_explanation():
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(46, 4)) + np.vstack([np.eye(3)[labels] @ rng.normal(0, 3, (3, 4)), np.zeros(4)])
    X[45] = X[30:45].mean(axis=0)  # at the heart of the third, which is the least plausible
    masses = np.zeros((46, 8))
    masses[np.arange(45), 1 << labels] = 1
    masses[45, [0b001, 0b010, 0b111]] = [0.3, 0.1, 0.6]
    partition = CredalPartition(masses, FocalSets(3, [*map(bits, range(8))]))
    told, said = partition.explain(45, X), partition.reasons(X, [45])[0]
    assert [one.name for one in told.clusters] == ["0", "1", "2"]
    first = told.columns[0]
    assert first.speaks_for == "2"
    assert said.startswith(f"Between 0, 1 and 2: {first.column} speaks for 2 (")


def bits(mask):
    return {k for k in range(3) if mask >> k & 1}


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("Unna",), {}, "There is no object named 'Unna'. Did you mean 'Una'?"),
        (("xyz",), {}, "There is no object named 'xyz'. Objects are numbered from 0 to 9."),
        ((10,), {}, "There is no object 10: there are 10, counted from 0."),
        ((0, [[1.0]]), {}, "'X' must have a row for each of the 10 objects. Got 1 rows."),
        ((0, 7.5), {}, "'X' must have a row for each of the 10 objects. Got 0 rows."),
        ((0, np.zeros(10)), {}, "'X' must be a table with rows and columns. Got an array of shape (10,)."),
        ((0, np.zeros((10, 0))), {}, "'X' has no columns. Give the table that was clustered."),
        ((0, np.zeros((10, 2))), {"feature_names": ["a"]}, "'feature_names' must name 2 columns. Got 1 names."),
        (
            (0, np.zeros((10, 2))),
            {"dissimilarities": np.zeros((10, 10))},
            "Give the table 'X' or the 'dissimilarities'",
        ),
        (
            (0,),
            {"dissimilarities": np.zeros((10, 3))},
            "'dissimilarities' must be a square table, 10 × 10. Got shape (10, 3).",
        ),
    ],
)
def test_bad_input_is_a_sentence(ages, arguments, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ages[0].explain(*arguments, **options)


def test_rows_of_another_table_are_refused(ages):
    partition, frame = ages
    with pytest.raises(
        ValueError, match="must have the same objects, but only the partition has 'Al' and only 'X' has '"
    ):
        partition.explain(0, frame.rename({"Al": "Alf"}))
    with pytest.raises(TypeError, match="An object is given by its number or its name"):
        partition.explain(1.5, frame)
    with pytest.raises(TypeError, match="Got True"):
        partition.explain(True, frame)


def test_a_cluster_without_sure_objects_is_described_by_those_who_may_be_in_it():
    partition = CredalPartition([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0.1, 0.3, 0.6], [0, 0, 0.4, 0.6]], PAIR)
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    found = profile(partition, read_columns(X))
    betp = partition.pignistic[:, 1]
    assert found.means[1, 0] == pytest.approx((betp * X[:, 0]).sum() / betp.sum())
    assert partition.explain(2, X).question == ()  # nobody to compare with


def test_crumbs_of_mass_far_away_do_not_widen_a_cluster():
    masses = [[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], *[[0, 0.2, 0.8, 0]] * 40]
    X = np.array([[0.0], [1.0], [2.0], *[[100.0 + i % 3] for i in range(40)]])
    assert profile(CredalPartition(masses, PAIR), read_columns(X)).spreads[0, 0] < 2


def test_a_constant_column_speaks_for_nobody():
    X = np.column_stack([np.full(7, 0.1), [0, 1, 2, 7, 8, 9, 4.0]])
    told = crisp([0, 0, 0, 1, 1, 1], torn=[[0, 0.1, 0.1, 0.8]]).explain(6, X)
    constant = next(one for one in told.columns if one.column == "column 0")
    assert (constant.times, constant.speaks_for) == (1.0, None)


def test_every_method_can_be_asked():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (20, 3)), rng.normal(4, 1, (20, 3)), [[2, 2, 2]]])
    partition = ECM(2, random_state=0).fit(X).partition_
    told = partition.explain(40, X)
    assert told.in_doubt
    assert len(told.columns) == 3


@pytest.mark.parametrize("seed", range(4))
def test_separation_is_the_correlation_ratio(seed):
    rng = np.random.default_rng(seed)
    fuzzy = rng.dirichlet([1, 2, 0.5], 50)
    X = rng.normal(size=(50, 4)) * [1, 100, 1e-3, 1] + fuzzy @ rng.normal(size=(3, 4))
    partition = CredalPartition(fuzzy, FocalSets(3, "singletons", empty=False, omega=False))
    expected = []
    for x in X.T:
        middle = [(fuzzy[:, k] * x).sum() / fuzzy[:, k].sum() for k in range(3)]
        between = sum(fuzzy[:, k].sum() * (middle[k] - x.mean()) ** 2 for k in range(3))
        expected.append(between / ((x - x.mean()) ** 2).sum())
    np.testing.assert_allclose(column_separations(partition, read_columns(X)), expected)


def test_separation_of_categories_is_goodman_and_kruskals_tau():
    labels = np.repeat([0, 1], [6, 4])
    colors = np.array(list("rrrrgbbbgg"))
    partition = CredalPartition(np.eye(2)[labels], FocalSets(2, [{0}, {1}]))
    found = column_separations(partition, read_columns(pd.DataFrame({"color": colors})))
    table = pd.crosstab(labels, colors).to_numpy() / 10
    row, column = table.sum(axis=1), table.sum(axis=0)
    tau = ((table**2 / row[:, None]).sum() - (column**2).sum()) / (1 - (column**2).sum())
    assert found == pytest.approx([tau])


# -- words ------------------------------------------------------------------------------------------------------------


def torn_explanation(**changed):
    """An explanation as it is printed, of values that are easily told apart."""
    nan = float("nan")
    columns = (
        ColumnEvidence("len", 1.52, (1.1, 2.9), (0.013, 0.5), (0.0, -2.5), 0.3, "a", 12.4),
        ColumnEvidence("color", "red", ("red", "blue"), (nan, nan), (0.0, 0.0), 0.0, None, 1.0),
        ColumnEvidence("weight", None, (100.0, 200.0), (20.0, 30.0), (0.0, 0.0), 0.0, None, 1.0),
    )
    clusters = (Competitor(0, "a", 0.1, 0.7, ("x", "y"), (0.123, 4.0)), Competitor(1, "bee", 0.256, 0.85, (), ()))
    decisive = DecisiveValue("len", False, (("a", "at most", 1.2345), ("bee", "at least", 3.3)))
    question = (("x", "a"), ("z", "bee"))
    given = {"columns": columns, "decisive": decisive, "question": question, "note": "Mind the gap."}
    return replace(Explanation("Zoe", 4, "ambiguous", "{a,bee}", 0.6, clusters), **{**given, **changed})


def test_the_whole_text():
    assert str(torn_explanation()).splitlines() == [
        "Zoe: ambiguous between clusters a and bee, 0.60 of its mass is on {a,bee}.",
        "",
        "  cluster  mass  plausibility  nearest assigned objects",
        "  a        0.10          0.70  x (0.12), y (4)",
        "  bee      0.26          0.85  -",
        "",
        "  column    value  speaks for            in a         in bee",
        "  len       1.520  a, 12 times  1.100 ± 0.013  2.900 ± 0.500",
        "  color       red  -                      red           blue",
        "  weight  missing  -                 100 ± 20       200 ± 30",
        "",
        "What would settle it: len, which tells a and bee apart best, "
        "at most 1.234 (for a) or at least 3.300 (for bee); it is 1.520.",
        "Or an answer: does Zoe belong with x (assigned to a) or with z (assigned to bee)?",
        "Mind the gap.",
    ]


def test_the_text_without_what_is_not_known():
    nobody = tuple(one._replace(nearest=(), distances=()) for one in torn_explanation().clusters)
    told = torn_explanation(clusters=nobody, columns=(), decisive=None, question=(), note="")
    assert str(told).splitlines()[2:] == [
        "  cluster  mass  plausibility",
        "  a        0.10          0.70",
        "  bee      0.26          0.85",
    ]
    lost = torn_explanation(decisive=DecisiveValue("weight", True, ()))
    assert "No value of weight, which tells a and bee apart best, would settle it alone; it is missing." in str(lost)


def test_the_text_of_an_outlier():
    columns = tuple(
        ColumnEvidence(name, value, (usual,), (spread,), (0.0,), distance, None, 1.0)
        for name, value, usual, spread, distance in [
            ("len", 1.2, 9.0, 2.0, -3.94),
            ("color", "red", "blue", float("nan"), 3.21),
            ("width", 5.5, 5.0, 0.4, 1.25),
        ]
    )
    told = torn_explanation(kind="outlier", set="{}", columns=columns, question=(), note="")
    told = replace(told, clusters=told.clusters[:1], decisive=DecisiveValue("len", False, (("a", "at least", 3.0),)))
    assert str(told).splitlines() == [
        "Zoe: an outlier, 0.60 of its mass is on the empty set. The nearest cluster is a.",
        "",
        "  cluster  mass  plausibility  nearest assigned objects",
        "  a        0.10          0.70  x (0.12), y (4)",
        "",
        "  column  value  too far                   in a",
        "  len       1.2  3.9 spreads below    9.0 ± 2.0",
        "  color     red  3.2 spreads               blue",
        "  width    5.50  -                  5.00 ± 0.40",
        "",
        "What would bring it into a: len at least 3.0.",
    ]
    assert str(replace(told, decisive=None)).splitlines()[-1].startswith("No single column is too far")
    assert str(replace(told, decisive=None, columns=())).splitlines()[-1].startswith("  a  ")


@pytest.mark.parametrize(("n", "most"), [(8, None), (9, 1), (12, 4)])
def test_eight_columns_are_printed(n, most):
    column = torn_explanation().columns[0]
    lines = str(torn_explanation(columns=(column,) * n)).splitlines()
    assert sum(line.startswith("  len ") for line in lines) == 8
    assert [line for line in lines if "more columns" in line] == ([f"{most} more columns say less."] if most else [])


def test_many_clusters_are_cut_short():
    competitors = tuple(Competitor(k, f"c{k}", 0.1, 0.5, (), ()) for k in range(9))
    one = ColumnEvidence("len", 1.0, (1.0,) * 9, (1.0,) * 9, (0.0,) * 9, 0.0, None, 1.0)
    lines = str(torn_explanation(clusters=competitors, columns=(one,), decisive=None)).splitlines()
    assert lines[0].startswith("Zoe: ambiguous between clusters c0, c1, c2, c3, c4, c5 and 3 more, ")
    assert [line.split()[0] for line in lines[3:11]] == [f"c{k}" for k in range(8)]
    assert lines[11] == ""
    assert lines[12].split() == ["column", "value", "speaks", "for", "in", "c0", "in", "c1", "in", "c2", "in", "c3"]
    assert lines[13].count("±") == 4
    six = str(torn_explanation(clusters=competitors[:6], columns=(), decisive=None)).splitlines()[0]
    assert six.startswith("Zoe: ambiguous between clusters c0, c1, c2, c3, c4 and c5, ")


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(2.04, "2 times"), (9.94, "9.9 times"), (10.0, "10 times"), (999.6, "1000 times"), (1000.1, "over 1000 times")],
)
def test_ratios_in_words(ratio, words):
    assert ratio_text(ratio) == words


@pytest.mark.parametrize(
    ("spread", "text"), [(2.0, "12.3"), (20.0, "12"), (200.0, "12"), (0.02, "12.346"), (0.0, "12.345600000000")]
)
def test_a_number_has_the_decimals_that_its_spread_deserves(spread, text):
    assert value_text(12.3456, spread) == text
    assert value_text("red", spread) == "red"


def test_the_sentence_names_one_column_for_each_of_two_clusters():
    names, clusters = ["u", "v", "w", "x", "y"], ["p", "q", "r"]
    best, lead = np.array([0, 0, 1, 2, 2]), np.log([4.0, 5000.0, 1e9, 12.0, 1.9])
    text = "w speaks for q (over 1000 times as likely), v for p (over 1000 times)"
    assert _speakers(names, clusters, best, lead) == text
    assert _speakers(names, clusters, best[[0, 0, 0, 3, 4]], np.log([4, 3, 2.5, 2.2, 1.9])) == (
        "u speaks for p (4 times as likely), x for r (2.2 times)"
    )
    assert _speakers(names, clusters, best, np.log(np.full(5, 1.9))) == ""
    assert _speakers(names, clusters, best, np.array([0, 0, 0, 0, 2e3])).startswith("y speaks for r (over 1000 times")


# -- who competes, and for what ---------------------------------------------------------------------------------------


def test_competing_are_those_of_the_set_and_those_a_third_as_plausible():
    family = FocalSets(3, [{0}, {1}, {2}, {0, 1}, {0, 1, 2}])
    masses = [
        [0.75, 0.25, 0, 0, 0],  # exactly a third
        [0.76, 0.24, 0, 0, 0],
        [0.1, 0.3, 0, 0.6, 0],  # the set of both; 1 before 0
        [0.2, 0.1, 0.2, 0, 0.5],  # all; 0 and 2 alike
        [0.0, 0.0, 1.0, 0, 0],
    ]
    partition = CredalPartition(masses, family)
    assert competing_clusters(partition, np.arange(5)) == [[0, 1], [0], [1, 0], [0, 2, 1], [2]]
    assert competing_clusters(partition, np.array([3, 0])) == [[0, 2, 1], [0, 1]]


def test_equal_plausibility_is_decided_by_probability():
    wide = CredalPartition([[0.3, 0.3, 0.4]], FocalSets(3, [{0, 1}, {2}, {0, 1, 2}]))  # all 0.7, BetP of 2 largest
    assert competing_clusters(wide, np.array([0])) == [[2, 0, 1]]


def test_those_assigned_to_a_cluster_speak_for_it():
    """Object 0 is in cluster 0 by 0.4 only and nearest; 1 and 2 are assigned to it."""
    masses = [[0.4, 0.3, 0.3], [0.6, 0.4 - 1e-3, 1e-3], [0.9, 0.1, 0], [0, 1, 0], [0.2, 0.2, 0.6]]
    partition = CredalPartition(masses, FocalSets(2, [{0}, {1}, {0, 1}]))
    place = np.array([4.0, 1.0, 0.0, 9.0, 5.0])
    told = partition.explain(4, dissimilarities=np.abs(place[:, None] - place))
    assert [(one.nearest, one.distances) for one in told.clusters] == [(("1", "2"), (4.0, 5.0)), (("3",), (4.0,))]
    assert partition.explain(4).question == (("2", "0"), ("3", "1"))  # the surest, as nothing is known of distances
    assert partition.explain(1, dissimilarities=np.abs(place[:, None] - place)).clusters[0].nearest == ("2",)


def test_three_sure_objects_are_named_and_an_infinite_distance_is_none():
    D = np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0)))
    D[6, 5] = D[5, 6] = np.inf
    told = crisp([0, 0, 0, 0, 1, 1], torn=[[0, 0.2, 0.2, 0.6]]).explain(6, dissimilarities=D)
    assert [one.nearest for one in told.clusters] == [("3", "2", "1"), ("4",)]


@pytest.mark.parametrize(("side", "where"), [(1, "at most"), (-1, "at least")])
def test_an_outlier_on_either_side_and_both_of_its_columns(side, where):
    noise = np.linspace(-1, 1, 20)
    X = np.column_stack([np.r_[noise, noise + 30, 31.0], side * np.r_[noise, noise, 40.0], np.r_[noise, noise, -25.0]])
    partition = crisp(np.repeat([0, 1], 20), out=1)
    explainer = Explainer(partition, X, feature_names=["a", "b", "c"])
    told = explainer.explain(40)
    spread = told.columns[0].spreads[0]
    assert [one.column for one in told.columns] == ["b", "c", "a"]
    assert told.decisive == ("b", False, (("1", where, pytest.approx(side * 3 * spread, abs=1e-9)),))
    b, c = (one.distance for one in told.columns[:2])
    above = "above" if side > 0 else "below"
    assert explainer.reasons([40]) == [
        f"In none; nearest is 1: b is {abs(b):.0f} spreads {above}, c is {abs(c):.0f} spreads below."
    ]


def test_tipping_values_reach_to_the_means():
    means, spreads = np.array([1.0, 4.0]), np.array([1.0, 2.0])
    at_first, at_second = (log_t(x, 1, 1) - log_t(x, 4, 2) for x in means)
    assert tipping_value(means, spreads, at_first - 0.01) == pytest.approx(1, abs=0.3)
    assert tipping_value(means, spreads, at_first + 0.01) is None
    assert tipping_value(means, spreads, at_second + 0.01) == pytest.approx(4, abs=0.3)
    assert tipping_value(means, spreads, at_second - 0.01) is None


def test_a_category_tips_from_the_evidence_that_it_has():
    columns = Columns(np.zeros((1, 1)), ("color",), {0: ("red", "blue", "green")})
    shares = {0: np.log([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3]])}  # ratios 3, 1/5 and 1
    nothing = np.full((2, 1), np.nan)
    found = Profiles(columns, nothing, nothing, shares, np.ones(1))
    for aim, answer in [(2.9, "red"), (1.1, "red"), (1 / 9, "red"), (3.1, None)]:
        assert tipping_level(found, 0, 0, 1, log(aim)) == (None if answer is None else ("is", answer))
    for aim, answer in [(4.9, "blue"), (1 / 9, "blue"), (5.1, None)]:
        assert tipping_level(found, 0, 1, 0, log(aim)) == (None if answer is None else ("is", answer))


@pytest.mark.parametrize("seed", range(20))
def test_the_category_that_would_settle_it_for_a_cluster_speaks_for_that_cluster(seed):
    rng = np.random.default_rng(seed)
    n, c = 60, int(rng.integers(2, 5))
    group = rng.integers(c, size=n)
    masses = rng.dirichlet(np.full(2**c, 0.15), size=n)
    masses[np.arange(n), 1 << group] += rng.random(n) * 2
    partition = CredalPartition(masses / masses.sum(axis=1, keepdims=True), FocalSets(c))
    words = np.array(["web", "app", "shop", "mail"])
    frame = pd.DataFrame(
        {
            "channel": np.where(rng.random(n) < 0.8, words[group], words[rng.integers(4, size=n)]),
            "plan": words[rng.integers(3, size=n)],
            "age": rng.normal(size=n) + 0.5 * group,
        }
    )
    explainer = Explainer(partition, frame)
    profiles, named = explainer.profiles, 0
    for i in range(n):
        told = explainer.explain(i)
        if told.kind == "outlier" or told.decisive is None:
            continue
        j = frame.columns.get_loc(told.decisive.column)
        shares = dict(zip([one.name for one in told.clusters], [one.cluster for one in told.clusters]))
        first, second = (one.name for one in told.clusters[:2])
        for who, how, value in told.decisive.values:
            if how == "is":
                rival = second if who == first else first
                at = profiles.columns.levels[j].index(value)
                assert profiles.shares[j][shares[who], at] > profiles.shares[j][shares[rival], at]
                named += 1
    assert named > 5
