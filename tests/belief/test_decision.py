from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.belief import FocalSets, believed_sets, decide, decide_sets, top_focal_set
from strategies import as_dicts, mass_functions, random_mass_functions

RULES = ["plausibility", "belief", "pignistic", "mass"]


def scores_of(row, rule, c):
    """Score of each cluster by definition, as a share of the mass outside the empty set."""
    rest = sum(x for a, x in row.items() if a) or 1.0
    share = {
        "plausibility": lambda a, k: k in a,
        "belief": lambda a, k: a == {k},
        "pignistic": lambda a, k: (k in a) / (len(a) or 1),
    }[rule]
    return np.array([sum(x * share(a, k) for a, x in row.items()) / rest for k in range(c)])


def top_of(row):
    """Largest mass; among equals the smallest set, then the one whose highest members are lowest."""
    best = max(row.values())
    tied = [a for a, x in row.items() if x >= best - 1e-10]
    return min(tied, key=lambda a: (len(a), sum(1 << k for k in a)))


@pytest.mark.parametrize("rule", ["plausibility", "belief", "pignistic"])
@given(m=mass_functions())
def test_the_winner_has_the_highest_score(rule, m):
    labels = decide(m.masses, m.focal_sets, rule)
    for row, label in zip(as_dicts(m), labels, strict=True):
        scores = scores_of(row, rule, m.n_clusters)
        assert label == np.flatnonzero(scores >= scores.max() - 1e-10)[0]


@given(mass_functions())
def test_mass_rule_takes_the_top_set_and_its_most_plausible_cluster(m):
    labels = decide(m.masses, m.focal_sets, "mass")
    sets = decide_sets(m.masses, m.focal_sets, "mass")
    for row, label, chosen in zip(as_dicts(m), labels, sets, strict=True):
        top = top_of(row)
        assert set(np.flatnonzero(chosen)) == top
        plausible = scores_of(row, "plausibility", m.n_clusters)
        assert label == max(sorted(top), key=lambda k: round(plausible[k], 9), default=-1)


@pytest.mark.parametrize("rule", RULES)
@given(m=mass_functions(), reject=st.floats(0, 1))
def test_reject_takes_out_weak_winners_and_outliers_and_nobody_else(rule, m, reject):
    forced, picky = decide(m.masses, m.focal_sets, rule), decide(m.masses, m.focal_sets, rule, reject)
    for row, before, after in zip(as_dicts(m), forced, picky, strict=True):
        top = top_of(row)
        if rule == "mass":
            score = row[top] / (sum(x for a, x in row.items() if a) or 1.0)
        else:
            score = scores_of(row, rule, m.n_clusters).max()
        if abs(score - reject) > 1e-9:
            assert after == (-1 if not top or score < reject else before)


def test_by_hand():
    family = FocalSets(3, [(), {0}, {2}, {0, 1}, {1, 2}])
    masses = np.array(
        [
            [0.0, 0.30, 0.25, 0.0, 0.45],  # pl .3 .45 .7, bel .3 0 .25, betp .3 .225 .475, top {1,2}
            [0.6, 0.10, 0.05, 0.15, 0.10],  # of the rest 0.4: pl .625 .625 .375, bel .25 0 .125; top {}
        ]
    )
    assert decide(masses, family, "plausibility").tolist() == [2, 0]
    assert decide(masses, family, "belief").tolist() == [0, 0]
    assert decide(masses, family, "pignistic").tolist() == [2, 0]
    assert decide(masses, family, "mass").tolist() == [2, -1]
    assert decide(masses, family, "plausibility", reject=0.7).tolist() == [2, -1]
    assert decide(masses, family, "plausibility", reject=0.71).tolist() == [-1, -1]
    assert decide(masses, family, "belief", reject=0.0).tolist() == [0, -1]  # the outlier goes all the same
    assert decide_sets(masses, family, "mass").tolist() == [[False, True, True], [False] * 3]
    assert decide_sets(masses, family, "interval-dominance").tolist() == [[True] * 3, [True] * 3]
    # Bar of row 0: 0.5 * 0.3 + 0.5 * 0.7 = 0.5; of row 1: 0.5 * 0.25 + 0.5 * 0.625 = 0.4375.
    assert decide_sets(masses, family, "cautious", 0.5).tolist() == [[False, False, True], [True, True, False]]
    assert decide_sets(masses, family, "cautious", 0.7).tolist() == [[False, True, True], [True, True, True]]


def test_an_object_with_nothing_but_the_empty_set():
    outlier, family = np.array([[1.0, 0, 0, 0]]), FocalSets(2)
    for rule in RULES:
        assert decide(outlier, family, rule).tolist() == [-1 if rule == "mass" else 0]
        assert decide(outlier, family, rule, reject=0).tolist() == [-1]
    for rule in ("belief", "mass", "interval-dominance", "cautious"):
        assert not decide_sets(outlier, family, rule).any()


def test_an_impossible_cluster_is_in_no_set():
    # Nothing is believed, so cluster 2 is not strictly beaten; but nothing speaks for it either.
    torn = np.array([[1.0]])
    for rule in ("belief", "mass", "interval-dominance", "cautious"):
        assert decide_sets(torn, FocalSets(3, [{0, 1}]), rule, 1.0).tolist() == [[True, True, False]]


def test_rounding_does_not_break_ties():
    third = 1 / 3
    family = FocalSets(3, "singletons", empty=False, omega=False)
    masses = np.array([[third - 1e-13, third, third + 1e-13]])
    for rule in RULES:
        assert decide(masses, family, rule).tolist() == [0]
    assert decide(masses, family, "belief", reject=third).tolist() == [0]
    assert decide_sets(masses, family, "cautious", 0.0).all()
    assert decide_sets(masses, family, "mass").tolist() == [[True, False, False]]


def test_top_set_does_not_depend_on_the_order_of_the_columns():
    masses, sets = np.array([0.3, 0.3, 0.3, 0.1]), [{0, 1}, {1}, {0}, ()]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        family = FocalSets(2, [sets[i] for i in order])
        assert family.masks[top_focal_set(masses[None, order], family)].tolist() == [1]


@given(mass_functions(), st.floats(0, 1))
def test_a_set_by_belief_follows_its_definition(m, level):
    """Sets are united in plain loops, the largest mass first, until together they hold the level."""
    whole = set(range(m.n_clusters))
    found = decide_sets(m.masses, m.focal_sets, "belief", level=level)
    for row, top, got in zip(as_dicts(m), decide_sets(m.masses, m.focal_sets), found, strict=True):
        expected = set(np.flatnonzero(top).tolist())
        held = [(mass, members) for members, mass in row.items()]
        if len(expected) == 1 and max(mass for mass, _ in held) < level - 1e-10:
            order = sorted(held, key=lambda one: (-round(one[0], 10), len(one[1]), sum(1 << k for k in one[1])))
            total, expected = 0.0, set()
            for mass, members in order:
                total, expected = total + mass, expected | (set(members) or whole)
                if total >= level - 1e-10:
                    break
        assert set(np.flatnonzero(got).tolist()) == expected


@given(mass_functions())
def test_an_object_is_assigned_exactly_if_its_belief_reaches_the_level(m):
    if m.n_clusters > 1:
        single = decide_sets(m.masses, m.focal_sets, "belief", level=0.6).sum(axis=1) == 1
        believed = m.singleton_belief.max(axis=1)
        assert np.array_equal(single[np.abs(believed - 0.6) > 1e-9], (believed > 0.6)[np.abs(believed - 0.6) > 1e-9])


def test_the_empty_set_counts_as_all_clusters_unless_it_is_the_largest():
    family = FocalSets(3, [set(), {0}, {1}, {0, 1}])
    masses = np.array([[0.42, 0.58, 0, 0], [0.1, 0.5, 0.3, 0.1], [0.25, 0.35, 0.1, 0.3], [0.52, 0.48, 0, 0]])
    assert believed_sets(masses, family, 0.6).tolist() == [0b111, 0b11, 0b11, 0]


@given(mass_functions(), st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_sets_grow_with_cautiousness_from_the_most_plausible_to_interval_dominance(m, dial):
    sets = [decide_sets(m.masses, m.focal_sets, "cautious", gamma) for gamma in [0.0, *sorted(dial), 1.0]]
    for small, large in pairwise(sets):
        assert np.all(small <= large)
    assert np.array_equal(sets[-1], decide_sets(m.masses, m.focal_sets, "interval-dominance"))
    for row, least, most in zip(as_dicts(m), sets[0], sets[-1], strict=True):
        plausible, believed = (scores_of(row, rule, m.n_clusters) for rule in ("plausibility", "belief"))
        assert least.tolist() == ((plausible >= plausible.max() - 1e-10) & (plausible > 0)).tolist()
        assert most.tolist() == ((plausible >= believed.max() - 1e-10) & (plausible > 0)).tolist()


def test_decisions_agree_with_an_independent_program(extracted):
    for m, ref in extracted:
        for rule, key, view in [("plausibility", "y_pl", m.contour), ("belief", "y_bel", m.singleton_belief)]:
            ours, theirs = decide(m.masses, m.focal_sets, rule), np.array(ref[key]) - 1
            # It draws lots for ties.
            unique = np.sum(view >= view.max(axis=1, keepdims=True) - 1e-9, axis=1) == 1
            assert unique.sum() >= 2
            assert np.array_equal(ours[unique], theirs[unique])
        assert decide_sets(m.masses, m.focal_sets, "mass").astype(int).tolist() == ref["Y"]
        assert decide_sets(m.masses, m.focal_sets, "interval-dominance").astype(int).tolist() == ref["Ynd"]
        outliers = np.flatnonzero(decide(m.masses, m.focal_sets, "mass") < 0) + 1
        assert outliers.tolist() == ref["outlier_1based"]


@pytest.mark.parametrize(
    ("choose", "words"),
    [
        (lambda *m: decide(*m, "median"), r"plausibility, belief, pignistic, mass\. Got 'median'"),
        (lambda *m: decide(*m, reject=1.5), r"lie between 0 and 1\. Got 1\.5"),
        (lambda *m: decide(*m, reject=np.nan), "lie between 0 and 1"),
        (lambda *m: decide_sets(*m, "pignistic"), r"belief, mass, interval-dominance, cautious\. Got 'pignistic'"),
        (lambda *m: decide_sets(*m, "belief", level=1.5), r"'level' must lie between 0 and 1\. Got 1\.5"),
        (lambda *m: decide_sets(*m, "cautious", -0.1), r"'cautiousness' must lie between 0 and 1\. Got -0\.1"),
        (lambda *m: decide_sets(*m, "cautious", 1.1), r"'cautiousness' must lie between 0 and 1\. Got 1\.1"),
    ],
)
def test_unknown_rules_and_values_out_of_range_are_named(choose, words):
    m = random_mass_functions(2, FocalSets(2))
    with pytest.raises(ValueError, match=words):
        choose(m.masses, m.focal_sets)
