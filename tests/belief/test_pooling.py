"""Any number of opinions: the rules against plain loops, and how far opinions contradict each other."""

from functools import reduce
from itertools import permutations, product

import numpy as np
import pytest

from evidentia.belief import FocalSets, MassFunctions, average, combine_many, conjunctive, hedge, mean_conflict, pooling

FAMILIES = [[{0}, {1}, {0, 1, 2}], [{0, 1}, {2}, {1, 2}], [{2}, {0}, {0, 1, 2}, {1}], [set(), {1}, {0, 2}]]


def opinions(n_samples=7, families=FAMILIES, seed=0):
    rng = np.random.default_rng(seed)
    return [
        MassFunctions(rng.dirichlet(np.full(len(family), 0.6), size=n_samples), FocalSets(3, family))
        for family in families
    ]


def as_dicts(m):
    return [dict(zip(m.focal_sets.masks.tolist(), row)) for row in m.masses.tolist()]


def assert_same(m, rows):
    for found, expected in zip(as_dicts(m), rows, strict=True):
        for mask in {*found, *expected}:
            assert found.get(mask, 0) == pytest.approx(expected.get(mask, 0), abs=1e-12)


def slow_conflict(a, b):
    return [
        sum(x * y for (s, x), (t, y) in product(p.items(), q.items()) if not s & t)
        for p, q in zip(*map(as_dicts, (a, b)))
    ]


def test_mean_conflict_is_that_of_a_plain_loop():
    many = opinions()
    by_object, between = mean_conflict(many)
    pairs = {(j, k): slow_conflict(many[j], many[k]) for j, k in permutations(range(4), 2)}
    np.testing.assert_allclose(by_object, np.mean(list(pairs.values()), axis=0), rtol=1e-12)
    for (j, k), values in pairs.items():
        assert between[j, k] == pytest.approx(np.mean(values))
    assert not between.diagonal().any()


def test_the_conflict_of_two_is_what_the_conjunctive_rule_leaves_empty():
    a, b = opinions(families=FAMILIES[:2])
    np.testing.assert_allclose(mean_conflict([a, b])[0], conjunctive(a, b).empty, atol=1e-15)


def slow_hedge(many):
    """Every ordered pair of opinions, every pair of sets: united if disjoint, else half to each."""
    count, rows = len(many) * (len(many) - 1), []
    for i in range(len(many[0])):
        found = {}
        for a, b in permutations(many, 2):
            for (s, x), (t, y) in product(as_dicts(a)[i].items(), as_dicts(b)[i].items()):
                goal = [s | t] if s and t and not s & t else [s, t]
                for mask in goal:
                    found[mask] = found.get(mask, 0) + x * y / len(goal) / count
        rows.append(found)
    return rows


def test_hedge_is_that_of_a_plain_loop():
    many = opinions()
    assert_same(hedge(many), slow_hedge(many))


def test_hedge_in_small_blocks_is_the_same(monkeypatch):
    many = opinions()
    whole = hedge(many).masses, *mean_conflict(many)
    monkeypatch.setattr(pooling.combination, "BLOCK", 1)
    for a, b in zip(whole, (hedge(many).masses, *mean_conflict(many))):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_hedge_moves_just_the_conflict_to_unions():
    many = opinions(families=[[{0}, {1}], [{1}, {2}], [{0}, {2}]])
    found = hedge(many)
    np.testing.assert_allclose(found.masses[:, found.focal_sets.card == 2].sum(axis=1), mean_conflict(many)[0])


def test_opinions_that_do_not_contradict_each_other_are_averaged():
    a = MassFunctions([[0.7, 0.2, 0.1]], FocalSets(3, [{0}, {0, 1}, {0, 1, 2}]))
    b = MassFunctions([[0.4, 0.6]], FocalSets(3, [{0}, {0, 2}]))
    assert_same(hedge([a, b]), as_dicts(average([a, b])))
    assert_same(average([a, b]), [{1: 0.55, 3: 0.1, 7: 0.05, 5: 0.3}])


def test_dempster_of_many_is_the_table_of_all_products():
    many = opinions(families=FAMILIES[:3])
    rows = []
    for i in range(len(many[0])):
        found = {}
        for sets in product(*(as_dicts(m)[i].items() for m in many)):
            mask = reduce(int.__and__, [s for s, _ in sets])
            found[mask] = found.get(mask, 0) + np.prod([x for _, x in sets])
        rest = 1 - found.pop(0, 0)
        rows.append({mask: value / rest for mask, value in found.items()})
    assert_same(combine_many(many, "dempster"), rows)


def test_yager_gives_the_conflict_of_all_to_the_frame_once():
    sure = [MassFunctions([[1.0]], FocalSets(3, [{k}])) for k in (0, 0, 1)]
    for many in permutations(sure):
        assert_same(combine_many(many, "yager"), [{7: 1.0}])  # one pair after the other would depend on the order


@pytest.mark.parametrize("rule", pooling.RULES)
def test_the_order_does_not_matter(rule):
    many = opinions(families=[[{0}, {1, 2}, {0, 1, 2}], [{1}, {0, 1, 2}], [{0, 1}, {2}, {0, 1, 2}]])
    first = combine_many(many, rule)
    for other in permutations(many):
        assert_same(combine_many(other, rule), as_dicts(first))


@pytest.mark.parametrize("rule", ["conjunctive", "disjunctive", "average", "hedge"])
def test_sets_are_counted_before_they_are_made(rule):
    many = opinions(families=FAMILIES[:3])
    assert pooling.count_sets([m.focal_sets for m in many], rule) == len(combine_many(many, rule).focal_sets)


def test_too_many_sets_are_refused_with_a_cure():
    one = MassFunctions(np.full((1, 14), 1 / 14), FocalSets(14, [{k} for k in range(14)]))
    with pytest.raises(
        ValueError, match=r"'disjunctive' would make more than 4,096 sets of 14 clusters. Take rule='av"
    ):
        combine_many([one] * 9, "disjunctive")
    with pytest.raises(ValueError, match="'cautious' would make more than"):
        combine_many([one, one], "cautious")
    assert len(combine_many([one] * 9, "average").focal_sets) == 14
    with pytest.raises(ValueError, match=r"'rule' must be one of 'dempster', .* Got 'majority'"):
        combine_many([one, one], "majority")
