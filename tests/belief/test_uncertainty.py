import numpy as np
import pytest
from hypothesis import given

from evidentia.belief import (
    FocalSets,
    MassFunctions,
    belief_distance,
    conflict,
    confusion,
    conjunctive,
    dissonance,
    jirousek_shenoy_entropy,
    jousselme_distance,
    nonspecificity,
    normalized_nonspecificity,
    pairwise_conflict,
    pignistic_entropy,
)
from strategies import all_subsets, as_dicts, mass_functions, random_masses


def masses_and_others(m, seed=7):
    return m.masses, random_masses(len(m), m.focal_sets, seed)


def rows_of(m, others):
    return zip(as_dicts(m), as_dicts(MassFunctions(others, m.focal_sets)), strict=True)


# -- between mass functions ----------------------------------------------------------------------------------


@given(mass_functions())
def test_conflict_matches_its_definition_and_counts_the_empty_set(m):
    masses, others = masses_and_others(m)
    expected = [
        sum(x * y for a, x in one.items() for b, y in other.items() if not a & b) for one, other in rows_of(m, others)
    ]
    got = conflict(masses, others, m.focal_sets)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    np.testing.assert_allclose(conjunctive(m, MassFunctions(others, m.focal_sets)).empty, got, atol=1e-12)
    np.testing.assert_allclose(pairwise_conflict(masses, m.focal_sets, others).diagonal(), got, atol=1e-12)
    one_against_all = pairwise_conflict(others[:1], m.focal_sets, masses)[0]
    np.testing.assert_allclose(conflict(others[:1], masses, m.focal_sets), one_against_all, atol=1e-12)
    np.testing.assert_allclose(conflict(masses, others[:1], m.focal_sets), one_against_all, atol=1e-12)


def test_pairwise_conflict_agrees_with_an_independent_program(reference):
    ref = reference("credal_measures")
    family = FocalSets(3, map(np.flatnonzero, ref["F"]))
    for side in "AB":
        got = pairwise_conflict(np.array(ref[f"mass_{side}"]), family)
        pairs = ref[f"pairwise_{side}"]
        # Disjoint, or one of them empty; pairs run (1,0), (2,0), ..., (2,1), ...: the upper triangle by rows.
        np.testing.assert_allclose(got[np.triu_indices(5, 1)], np.add(pairs["Me"], pairs["M0"]), atol=1e-12)
        np.testing.assert_allclose(got, got.T)


@given(mass_functions())
def test_jousselme_distance_matches_its_definition(m):
    masses, others = masses_and_others(m)
    expected = []
    for one, other in rows_of(m, others):
        gap = {a: one.get(a, 0) - other.get(a, 0) for a in {*one, *other}}
        jaccard = [x * y * (len(a & b) / len(a | b) if a | b else 1) for a, x in gap.items() for b, y in gap.items()]
        expected.append(np.sqrt(max(sum(jaccard), 0) / 2))
    np.testing.assert_allclose(jousselme_distance(masses, others, m.focal_sets), expected, atol=1e-7)


@given(mass_functions())
def test_belief_distance_matches_its_definition(m):
    masses, others = masses_and_others(m)
    expected = []
    for one, other in rows_of(m, others):
        gaps = [
            sum(x for b, x in one.items() if b and b <= a) - sum(x for b, x in other.items() if b and b <= a)
            for a in all_subsets(m.n_clusters)
        ]
        expected.append(sum(map(abs, gaps)) / 2 ** (m.n_clusters - 1))
    np.testing.assert_allclose(belief_distance(masses, others, m.focal_sets), expected, atol=1e-12)


@pytest.mark.parametrize("distance", [jousselme_distance, belief_distance])
def test_both_are_distances_between_zero_and_one(distance):
    family = FocalSets(3)
    # All categorical mass functions among them: the extremes.
    masses = np.vstack([np.eye(8), random_masses(8, family)])
    table = np.array([distance(masses, row[None], family) for row in masses])
    np.testing.assert_allclose(table, table.T, atol=1e-12)
    np.testing.assert_allclose(table.diagonal(), 0, atol=1e-12)
    assert np.all(table[~np.eye(16, dtype=bool)] > 0.01)
    assert table.max() == pytest.approx(1)
    assert np.all(table[:, :, None] <= table[:, None, :] + table.T[None] + 1e-12)


def test_distances_agree_with_an_independent_program(reference):
    ref = reference("credal_measures")
    same_or_different = FocalSets(2, [(), {0}, {1}, {0, 1}])

    def relational(side):
        empty, same, different = (np.array(ref[f"pairwise_{side}"][key]) for key in ("Me", "M1", "M0"))
        return np.column_stack([empty, same, different, 1 - empty - same - different])

    a, b = relational("A"), relational("B")
    np.testing.assert_allclose(jousselme_distance(a, b, same_or_different), ref["jousselme_pairwise_A_B"], atol=1e-12)
    np.testing.assert_allclose(belief_distance(a, b, same_or_different), ref["bel_distance_pairwise_A_B"], atol=1e-12)


def test_belief_distance_works_in_blocks(monkeypatch):
    family = FocalSets(4)
    a, b = random_masses(23, family, 1), random_masses(23, family, 2)
    whole = belief_distance(a, b, family)
    monkeypatch.setattr("evidentia.belief.uncertainty.BLOCK", 5 << 4)
    np.testing.assert_allclose(belief_distance(a, b, family), whole, atol=1e-15)


def test_sixty_two_clusters():
    family = FocalSets(62, "pairs")
    a, b = random_masses(3, family, 1), random_masses(3, family, 2)
    assert np.all(jousselme_distance(a, b, family) > 0)
    pair_01, pair_12, single_61 = (np.eye(len(family))[[family.index(s)]] for s in ({0, 1}, {1, 2}, {61}))
    np.testing.assert_allclose(jousselme_distance(pair_01, pair_12, family), np.sqrt((2 - 2 / 3) / 2))
    np.testing.assert_allclose(conflict(pair_01, single_61, family), 1)
    np.testing.assert_allclose(nonspecificity(pair_01, family), 1)
    with pytest.raises(ValueError, match="power set of 62 clusters is too large"):
        belief_distance(a, b, family)


# -- inside one mass function --------------------------------------------------------------------------------


@given(mass_functions())
def test_nonspecificity_matches_its_definition(m):
    expected = [sum(x * np.log2(len(a) or m.n_clusters) for a, x in row.items()) for row in as_dicts(m)]
    np.testing.assert_allclose(m.nonspecificity, expected, atol=1e-12)
    if m.n_clusters > 1:
        index = normalized_nonspecificity(m.masses, m.focal_sets)
        assert index == pytest.approx(np.mean(expected) / np.log2(m.n_clusters))
        assert 0 <= index <= 1 + 1e-12


def test_nonspecificity_of_one_cluster_is_zero():
    assert normalized_nonspecificity(np.array([[0.3, 0.7]]), FocalSets(1)) == 0


def test_normalized_nonspecificity_agrees_with_an_independent_program(extracted):
    for m, ref in extracted:
        assert normalized_nonspecificity(m.masses, m.focal_sets) == pytest.approx(ref["N"], abs=1e-12)
        assert m.normalized_nonspecificity == pytest.approx(ref["N"], abs=1e-12)


def shannon(values):
    return -sum(p * np.log2(p) for p in values if p > 0)


@given(mass_functions())
def test_entropies_match_their_definitions(m):
    proper = m.normalize()
    np.testing.assert_allclose(m.entropy, [shannon(p) for p in m.pignistic], atol=1e-12)
    expected = {jirousek_shenoy_entropy: [], dissonance: [], confusion: []}
    for row in as_dicts(proper):
        pl = [sum(x for a, x in row.items() if k in a) for k in range(m.n_clusters)]
        width = sum(x * np.log2(len(a)) for a, x in row.items())
        expected[jirousek_shenoy_entropy].append(shannon(np.array(pl) / sum(pl)) + width)
        plausible = {a: sum(x for b, x in row.items() if a & b) for a in row}
        believed = {a: sum(x for b, x in row.items() if b <= a) for a in row}
        expected[dissonance].append(-sum(x * np.log2(plausible[a]) for a, x in row.items()))
        expected[confusion].append(-sum(x * np.log2(believed[a]) for a, x in row.items()))
    for measure, values in expected.items():
        np.testing.assert_allclose(measure(m.masses, m.focal_sets), values, atol=1e-12)


@given(mass_functions())
def test_entropies_stay_in_their_ranges(m):
    top = np.log2(m.n_clusters)
    for measure, highest in [(pignistic_entropy, top), (jirousek_shenoy_entropy, 2 * top), (dissonance, top)]:
        values = measure(m.masses, m.focal_sets)
        assert np.all((values >= 0) & (values <= highest + 1e-12))
    assert np.all(confusion(m.masses, m.focal_sets) >= dissonance(m.masses, m.focal_sets) - 1e-12)


def test_probabilities_have_shannons_entropy_and_ignorance_the_largest():
    p = np.array([[0.5, 0.25, 0.25]])  # entropy 1.5
    singles = FocalSets(3, "singletons", empty=False, omega=False)
    for measure in (pignistic_entropy, jirousek_shenoy_entropy, dissonance, confusion):
        np.testing.assert_allclose(measure(p, singles), 1.5)
    ignorant, frame = np.ones((1, 1)), FocalSets(3, [range(3)])
    np.testing.assert_allclose(pignistic_entropy(ignorant, frame), np.log2(3))
    np.testing.assert_allclose(jirousek_shenoy_entropy(ignorant, frame), 2 * np.log2(3))
    for measure in (dissonance, confusion):
        assert str(measure(ignorant, frame)[0]) == "0.0"  # and not -0.0


def test_an_outlier_counts_as_ignorant():
    outlier, family = np.array([[1.0, 0, 0, 0]]), FocalSets(2)
    np.testing.assert_allclose(nonspecificity(outlier, family), 1)
    np.testing.assert_allclose(pignistic_entropy(outlier, family), 1)
    np.testing.assert_allclose(jirousek_shenoy_entropy(outlier, family), 2)
    np.testing.assert_allclose(dissonance(outlier, family), 0)
