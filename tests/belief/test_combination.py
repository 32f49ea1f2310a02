import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evidentia.belief import (
    FocalSets,
    MassFunctions,
    cautious,
    coarsen,
    condition,
    conjunctive,
    dempster,
    discount,
    disjunctive,
    refine,
    yager,
)
from evidentia.belief.focal import canonical_order
from strategies import (
    all_subsets,
    as_dicts,
    assert_same_dicts,
    mass_function_pairs,
    mass_functions,
    random_mass_functions,
)


def twin(a, b, meet):
    """The definition, row by row, a single row against all of the other side."""
    left, right = as_dicts(a), as_dicts(b)
    n = max(len(left), len(right))
    out = []
    for x, y in zip(left * (n // len(left)), right * (n // len(right)), strict=True):
        row = {}
        for one, mass_one in x.items():
            for other, mass_other in y.items():
                both = meet(one, other)
                row[both] = row.get(both, 0) + mass_one * mass_other
        out.append(row)
    return out


MEETS = {conjunctive: frozenset.intersection, disjunctive: frozenset.union}


@pytest.mark.parametrize("rule", [conjunctive, disjunctive])
@given(pair=mass_function_pairs())
def test_conjunctive_and_disjunctive_match_their_definitions(rule, pair):
    a, b = pair
    got, meet = rule(a, b), MEETS[rule]
    assert_same_dicts(as_dicts(got), twin(a, b, meet))
    assert set(got.focal_sets) == {meet(x, y) for x in a.focal_sets for y in b.focal_sets}
    assert got.focal_sets.masks.tolist() == canonical_order(got.focal_sets.masks.tolist())
    assert_same_dicts(as_dicts(rule(b, a)), as_dicts(got))


@given(mass_function_pairs())
def test_yager_gives_the_conflict_to_the_frame(pair):
    expected = twin(*pair, frozenset.intersection)
    whole = all_subsets(pair[0].n_clusters)[-1]
    for row in expected:
        row[whole] = row.get(whole, 0) + row.pop(frozenset(), 0)
    assert_same_dicts(as_dicts(yager(*pair)), expected)


@given(mass_function_pairs())
def test_dempster_shares_the_conflict_or_names_the_rows_that_have_nothing_else(pair):
    joint = twin(*pair, frozenset.intersection)
    lost = [i for i, row in enumerate(joint) if not any(row)]
    if lost:
        with pytest.raises(ValueError, match=f"row(s)? {', '.join(map(str, lost))} of {len(joint)} have no cluster"):
            dempster(*pair)
        return
    expected = []
    for row in joint:
        rest = sum(x for a, x in row.items() if a)
        expected.append({a: x / rest for a, x in row.items() if a})
    assert_same_dicts(as_dicts(dempster(*pair)), expected)


def test_dempster_by_hand():
    # Zadeh's physicians: 0.99 against 0.99, and the 0.01 that they agree on takes all.
    a = MassFunctions([[0.99, 0.01]], FocalSets(3, [{0}, {1}]))
    b = MassFunctions([[0.99, 0.01]], FocalSets(3, [{2}, {1}]))
    assert as_dicts(dempster(a, b)) == [{frozenset({1}): 1.0}]
    assert conjunctive(a, b).empty[0] == pytest.approx(0.9999)
    assert as_dicts(yager(a, b))[0][frozenset({0, 1, 2})] == pytest.approx(0.9999)


def test_total_conflict_names_at_most_a_few_rows():
    family = FocalSets(2, [{0}, {1}])
    many = MassFunctions(np.tile([1.0, 0.0], (9, 1)), family)
    with pytest.raises(ValueError, match=r"rows 0, 1, 2, 3, 4, \.\.\. of 9 have no cluster"):
        dempster(many, MassFunctions([[0.0, 1.0]], family))


@given(mass_functions())
def test_neutral_and_absorbing_elements(m):
    c = m.n_clusters
    ignorant = MassFunctions([[1.0]], FocalSets(c, [range(c)]))
    outlier = MassFunctions([[1.0]], FocalSets(c, [()]))
    assert_same_dicts(as_dicts(conjunctive(m, ignorant)), as_dicts(m))
    assert_same_dicts(as_dicts(disjunctive(m, outlier)), as_dicts(m))
    assert as_dicts(conjunctive(m, outlier)) == [{frozenset(): pytest.approx(1)}] * len(m)
    assert as_dicts(disjunctive(m, ignorant)) == [{frozenset(range(c)): pytest.approx(1)}] * len(m)


@pytest.mark.parametrize("rule", [conjunctive, disjunctive])
@pytest.mark.parametrize("rows", [(3, 3), (3, 1), (1, 3)])
def test_the_power_set_path_equals_the_table_path(rule, rows, monkeypatch):
    a = random_mass_functions(rows[0], FocalSets(7, empty=False), seed=1)
    b = random_mass_functions(rows[1], FocalSets(7, omega=False), seed=2)
    fast = rule(a, b)
    monkeypatch.setattr("evidentia.belief.transforms.power_set_is_cheaper", lambda *_: False)
    plain = rule(a, b)
    assert fast.focal_sets == plain.focal_sets
    np.testing.assert_allclose(fast.masses, plain.masses, atol=1e-14)
    assert not np.array_equal(fast.masses, plain.masses)  # two paths, or this test compares one with itself


@pytest.mark.parametrize("rule", [conjunctive, dempster, yager, disjunctive])
def test_sixty_two_clusters_work_on_restricted_families(rule):
    a = random_mass_functions(4, FocalSets(62, [{0}, {0, 61}, {59, 60, 61}, range(62)]), seed=1, zeros=0)
    b = random_mass_functions(4, FocalSets(62, [(), {61}, {0, 60}, range(30, 62)]), seed=2, zeros=0)
    expected = twin(a, b, frozenset.union if rule is disjunctive else frozenset.intersection)
    whole = frozenset(range(62))
    for row in expected:
        if rule is yager:
            row[whole] = row.get(whole, 0) + row.pop(frozenset())
        if rule is dempster:
            conflict = row.pop(frozenset())
            row.update({key: x / (1 - conflict) for key, x in row.items()})
    assert_same_dicts(as_dicts(rule(a, b)), expected)


@pytest.mark.parametrize("rule", [conjunctive, disjunctive])
@pytest.mark.parametrize("rows", [(2, 2), (2, 1), (1, 2)])
def test_sets_that_thousands_of_pairs_meet_in_match_the_definition(rule, rows):
    pairs = list(FocalSets(13, "pairs", empty=False))
    wide = [frozenset(range(13)) - one for one in pairs]
    sides = [FocalSets(13, wide), FocalSets(13, wide[:-3])] if rule is disjunctive else [FocalSets(13, pairs)] * 2
    a, b = (random_mass_functions(n, family, seed=n, zeros=0) for n, family in zip(rows, sides))
    meeting = [MEETS[rule](x, y) for x in sides[0] for y in sides[1]]
    assert meeting.count(frozenset(range(13)) if rule is disjunctive else frozenset()) > 4_000
    got = rule(a, b)
    assert set(got.focal_sets) == set(meeting)
    for row, expected in zip(as_dicts(got), twin(a, b, MEETS[rule]), strict=True):
        assert row.keys() == expected.keys()
        assert [row[key] for key in row] == pytest.approx([expected[key] for key in row], rel=1e-13)


@pytest.mark.parametrize("rule", [conjunctive, cautious])
def test_blocks_of_rows_change_nothing_and_bound_the_memory(rule, monkeypatch):
    family = FocalSets(6)
    a, b = (discount(random_mass_functions(1500, family, seed=seed), 0.1) for seed in (1, 2))
    whole = rule(a, b)
    first = MassFunctions(a.masses[:1], family)
    one_against_all = rule(first, b), rule(b, first)
    monkeypatch.setattr("evidentia.belief.combination.BLOCK", 1 << 16)
    tracemalloc.start()
    blocked = rule(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert blocked.focal_sets == whole.focal_sets
    np.testing.assert_allclose(blocked.masses, whole.masses, atol=1e-13)
    for got, expected in zip((rule(first, b), rule(b, first)), one_against_all, strict=True):
        np.testing.assert_allclose(got.masses, expected.masses, atol=1e-13)
    assert peak < 8 * a.masses.nbytes  # the table of all pairs would be 64 times the masses


@pytest.mark.parametrize("rule", [conjunctive, disjunctive])
def test_no_rows_in_no_rows_out(rule):
    none = MassFunctions(np.empty((0, 4)), FocalSets(2))
    assert len(rule(none, none)) == 0
    assert len(rule(none, MassFunctions([[0, 1.0, 0, 0]], FocalSets(2)))) == 0


@pytest.mark.parametrize("rule", [conjunctive, disjunctive, dempster, yager, cautious])
def test_what_does_not_fit_together_is_said(rule):
    a = random_mass_functions(2, FocalSets(2))
    with pytest.raises(ValueError, match="Got 2 and 3 clusters: refine or coarsen"):
        rule(a, random_mass_functions(2, FocalSets(3)))
    with pytest.raises(ValueError, match="Got 2 and 3"):
        rule(a, random_mass_functions(3, FocalSets(2)))


# -- cautious ------------------------------------------------------------------------------------------------


def simple(subset, weight, n_clusters=3):
    """Mass ``1 - weight`` on one set, the rest on the frame."""
    return MassFunctions([[1 - weight, weight]], FocalSets(n_clusters, [subset, range(n_clusters)]))


def test_cautious_takes_the_smaller_weight_of_simple_mass_functions():
    both = cautious(conjunctive(simple({0}, 0.3), simple({1, 2}, 0.8)), conjunctive(simple({0}, 0.6), simple({1}, 0.5)))
    expected = conjunctive(conjunctive(simple({0}, 0.3), simple({1, 2}, 0.8)), simple({1}, 0.5))
    assert_same_dicts(as_dicts(both), as_dicts(expected))


@given(mass_function_pairs(dogmatic=False))
def test_cautious_is_the_minimum_of_the_weights(pair):
    a, b = pair
    got = cautious(a, b)
    subsets = all_subsets(a.n_clusters)

    def weights(row):
        q = {x: sum(mass for y, mass in row.items() if y >= x) for x in subsets}
        return [np.prod([q[y] ** (-((-1) ** len(y - x))) for y in subsets if y >= x]) for x in subsets[:-1]]

    left, right = as_dicts(a), as_dicts(b)
    n = max(len(left), len(right))
    for x, y, z in zip(left * (n // len(left)), right * (n // len(right)), as_dicts(got), strict=True):
        np.testing.assert_allclose(weights(z), np.minimum(weights(x), weights(y)), rtol=1e-6)


@given(mass_functions(dogmatic=False))
def test_cautious_with_itself_changes_nothing(m):
    again = cautious(m, m)
    assert_same_dicts(as_dicts(again), as_dicts(m), atol=1e-11)
    # No traces of rounding: the focal sets are those that have mass.
    assert set(again.focal_sets) == {a for row in as_dicts(m) for a, x in row.items() if x > 1e-12}


def test_cautious_refuses_dogmatic_mass_functions_and_names_the_cure():
    sure = MassFunctions([[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]], FocalSets(2, [{0}, {0, 1}]))
    with pytest.raises(ValueError, match=r"rows 1, 2 of the first mass functions .* discount\(m, 0.001\)"):
        cautious(sure, MassFunctions([[0.5, 0.5]], sure.focal_sets))
    with pytest.raises(ValueError, match=r"row 0 of the second mass functions"):
        cautious(MassFunctions([[0.5, 0.5]], sure.focal_sets), MassFunctions([[1.0]], FocalSets(2, [{0}])))
    np.testing.assert_allclose(cautious(discount(sure, 0.001), simple({0}, 0.001, 2)).belief[:, 0], 0.999)


def test_cautious_says_when_the_frame_is_too_large():
    family = FocalSets(20, [{0}, range(20)])
    with pytest.raises(ValueError, match="power set of 20 clusters is too large"):
        cautious(*[MassFunctions([[0.5, 0.5]], family)] * 2)


# -- one at a time -------------------------------------------------------------------------------------------


@given(mass_functions(), st.data())
def test_discounting_moves_a_share_to_the_frame(m, data):
    rates = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(m), max_size=len(m))))
    whole = frozenset(range(m.n_clusters))
    expected = [{a: (1 - r) * x for a, x in row.items()} for r, row in zip(rates, as_dicts(m), strict=True)]
    for r, row in zip(rates, expected, strict=True):
        row[whole] = row.get(whole, 0) + r
    assert_same_dicts(as_dicts(discount(m, rates)), expected)
    assert_same_dicts(as_dicts(discount(m, rates[0]))[:1], expected[:1])
    kept = m.focal_sets.masks.tolist()
    assert discount(m, 0.3).focal_sets.masks.tolist()[: len(kept)] == kept


@pytest.mark.parametrize(
    ("rate", "words"),
    [(1.5, "between 0 and 1"), (np.nan, "between 0 and 1"), ([0.1, 0.2, 0.3], "each of 2 rows")],
)
def test_discounting_by_nonsense_is_refused(rate, words):
    with pytest.raises(ValueError, match=words):
        discount(random_mass_functions(2, FocalSets(2)), rate)


@given(mass_functions(), st.data())
def test_conditioning_cuts_every_focal_set(m, data):
    subset = data.draw(st.sampled_from(all_subsets(m.n_clusters)))
    known = MassFunctions([[1.0]], FocalSets(m.n_clusters, [subset]))
    got = condition(m, subset)
    assert_same_dicts(as_dicts(got), twin(m, known, frozenset.intersection))
    outside = [k for k in range(m.n_clusters) if k not in subset]
    assert np.all(got.contour[:, outside] == 0)
    np.testing.assert_allclose(got.contour[:, list(subset)], m.contour[:, list(subset)], atol=1e-12)


# -- frames --------------------------------------------------------------------------------------------------


@st.composite
def partitions_of(draw, n_groups):
    """Shuffled fine clusters dealt into non-empty sets."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=n_groups, max_size=n_groups))
    fine = draw(st.permutations(range(sum(sizes))))
    cuts = np.cumsum(sizes)[:-1]
    return [frozenset(part.tolist()) for part in np.split(np.array(fine), cuts)]


@given(mass_functions(), st.data())
def test_refining_maps_sets_to_unions_and_coarsening_leads_back(m, data):
    groups = data.draw(partitions_of(m.n_clusters))
    fine = refine(m, groups)
    expected = [{frozenset().union(*(groups[k] for k in a)): x for a, x in row.items()} for row in as_dicts(m)]
    assert as_dicts(fine) == expected
    for kind in ("outer", "inner"):
        assert_same_dicts(as_dicts(coarsen(fine, groups, kind)), as_dicts(m))


@given(st.data())
def test_coarsening_matches_its_definition(data):
    groups = data.draw(partitions_of(data.draw(st.integers(1, 3))))
    assume(sum(map(len, groups)) <= 6)
    m = data.draw(mass_functions(n_clusters=sum(map(len, groups))))
    tests = {"outer": lambda a, g: bool(a & g), "inner": lambda a, g: g <= a}
    for kind, test in tests.items():
        expected = []
        for row in as_dicts(m):
            expected.append({})
            for a, x in row.items():
                image = frozenset(k for k, g in enumerate(groups) if test(a, g))
                expected[-1][image] = expected[-1].get(image, 0) + x
        got = coarsen(m, groups, kind)
        assert_same_dicts(as_dicts(got), expected)
        assert got.focal_sets.masks.tolist() == canonical_order(got.focal_sets.masks.tolist())


def test_two_half_views_fuse_to_three_clusters():
    # One image tells fluid (1) from the rest, the other lesion (0) from the rest; tissue (2) is what is left.
    first = MassFunctions([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.05, 0.9, 0.05]], FocalSets(2, empty=False))
    second = MassFunctions([[0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.85, 0.1, 0.05]], FocalSets(2, empty=False))
    fused = dempster(refine(first, [{1}, {0, 2}]), refine(second, [{0}, {1, 2}]))
    assert fused.n_clusters == 3
    assert fused.contour.argmax(axis=1).tolist() == [1, 2, 0]
    # Row 1, tissue alone: (0.8 * 0.8) / (1 - 0.1 * 0.1), by hand.
    assert as_dicts(fused)[1][frozenset({2})] == pytest.approx(0.64 / 0.99)


@pytest.mark.parametrize(
    ("refining", "words"),
    [
        ([{0}], "one set for each of the 2 clusters. Got 1"),
        ([{0}, set()], "the set of cluster 1 is empty"),
        ([{0, 1}, {1, 2}], "cluster 1 is in those of clusters 0 and 1"),
        ([{0}, {2}], "cluster 1 is in no set and 2 is in that of cluster 1"),
        ([{0}, {-1}], "cluster 1 is in no set"),
        ([{0}, 1], r"cluster 1 has 1: write \{1\}"),
        ([range(40), range(40, 80)], "names 80 clusters; 62 is the most"),
    ],
)
def test_a_refining_that_is_no_partition_is_explained(refining, words):
    with pytest.raises(ValueError, match=words):
        refine(random_mass_functions(1, FocalSets(2)), refining)


def test_a_refining_may_have_as_many_clusters_as_a_frame():
    fine = refine(random_mass_functions(1, FocalSets(2)), [range(31), range(31, 62)])
    assert fine.focal_sets.masks.tolist() == [0, (1 << 31) - 1, (1 << 62) - (1 << 31), (1 << 62) - 1]


@pytest.mark.parametrize(
    ("groups", "kind", "words"),
    [
        ([{0}, {1}], "outer", "share out the 3 clusters. Got groups of 2"),
        ([{0, 1}, {1, 2}], "outer", "cluster 1 is in those of groups 0 and 1"),
        ([{0, 1}, {2}], "middle", "'outer' or 'inner'. Got 'middle'"),
    ],
)
def test_a_coarsening_that_does_not_fit_is_explained(groups, kind, words):
    with pytest.raises(ValueError, match=words):
        coarsen(random_mass_functions(1, FocalSets(3)), groups, kind)
