from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.belief import FocalSets, MassFunctions, from_contour, from_pignistic, pignistic, transforms
from strategies import all_subsets, as_dicts, mass_functions, random_mass_functions, random_masses

DEFINITIONS = {
    "belief": lambda a, b: bool(b) and b <= a,
    "plausibility": lambda a, b: bool(a & b),
    "commonality": lambda a, b: b >= a,
    "implicability": lambda a, b: b <= a,
}


def by_definition(m, kind, subsets):
    counts = DEFINITIONS[kind]
    return [[sum(x for b, x in row.items() if counts(a, b)) for a in subsets] for row in as_dicts(m)]


@pytest.mark.parametrize("kind", ["belief", "plausibility", "commonality"])
@given(m=mass_functions())
def test_focal_set_views_match_their_definitions(kind, m):
    np.testing.assert_allclose(getattr(m, kind), by_definition(m, kind, list(m.focal_sets)), atol=1e-12)


@given(mass_functions())
def test_cluster_views_match_their_definitions(m):
    singles = [frozenset({k}) for k in range(m.n_clusters)]
    np.testing.assert_allclose(m.contour, by_definition(m, "plausibility", singles), atol=1e-12)
    np.testing.assert_allclose(m.singleton_belief, by_definition(m, "belief", singles), atol=1e-12)
    for row, got in zip(as_dicts(m), m.pignistic, strict=True):
        rest = sum(x for a, x in row.items() if a)
        share = [sum(x / len(a) for a, x in row.items() if k in a) for k in range(m.n_clusters)]
        expected = np.array(share) / rest if rest else np.full(m.n_clusters, 1 / m.n_clusters)
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["belief", "plausibility", "commonality", "implicability"])
@given(m=mass_functions())
def test_fast_transforms_match_their_definitions_and_lead_back(kind, m):
    table = transforms.dense(m.masses, m.focal_sets)
    there = getattr(transforms, f"mass_to_{kind}")(table)
    subsets = all_subsets(m.n_clusters)
    columns = [sum(1 << k for k in a) for a in subsets]
    np.testing.assert_allclose(there[:, columns], by_definition(m, kind, subsets), atol=1e-12)
    np.testing.assert_allclose(getattr(transforms, f"{kind}_to_mass")(there), table, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_fast_transforms_do_not_depend_on_memory_order_and_leave_their_input_alone(order):
    table = np.array(transforms.dense(random_masses(3, FocalSets(3)), FocalSets(3)), order=order)
    before = table.copy()
    there = transforms.mass_to_commonality(table)
    np.testing.assert_allclose(there[:, 0], 1)
    np.testing.assert_allclose(there[:, 7], before[:, 7])
    np.testing.assert_allclose(there[:, 5], before[:, 5] + before[:, 7])
    assert np.array_equal(table, before)
    assert transforms.mass_to_commonality(table[:0]).shape == (0, 8)


@pytest.mark.parametrize("kind", ["belief", "plausibility", "commonality"])
def test_the_power_set_path_equals_the_table_path(kind):
    m = random_mass_functions(4, FocalSets(8))  # 65536 pairs: fast transforms
    assert transforms.power_set_is_cheaper(8, len(m.focal_sets) ** 2)
    rows = [m.focal_sets.index(a) for a in [(), {0}, {2, 5}, {1, 2, 7}, range(8)]]
    expected = by_definition(m, kind, [list(m.focal_sets)[at] for at in rows])
    np.testing.assert_allclose(getattr(m, kind)[:, rows], expected, atol=1e-12)


def test_sixteen_clusters_need_no_table_of_pairs():
    m = random_mass_functions(2, FocalSets(16))
    sets = m.focal_sets
    np.testing.assert_allclose(m.belief[:, sets.omega_index], 1 - m.empty)
    np.testing.assert_allclose(m.plausibility[:, sets.singleton_index], m.contour)
    np.testing.assert_allclose(m.commonality[:, sets.singleton_index], m.contour)


@pytest.mark.parametrize("kind", ["belief", "plausibility", "commonality"])
def test_sixty_two_clusters_work_on_restricted_families(kind):
    family = FocalSets(62, [(), {0}, {61}, {0, 61}, {5, 60, 61}, range(1, 62), range(62)])
    m = random_mass_functions(3, family, zeros=0)
    np.testing.assert_allclose(getattr(m, kind), by_definition(m, kind, list(family)), atol=1e-12)
    np.testing.assert_allclose(m.contour.sum(axis=1), m.masses @ family.card)
    np.testing.assert_allclose(m.pignistic.sum(axis=1), 1)
    with pytest.raises(ValueError, match="power set of 62 clusters is too large"):
        transforms.dense(m.masses, family)


@given(mass_functions())
def test_sparse_undoes_dense(m):
    masses, family = transforms.sparse(transforms.dense(m.masses, m.focal_sets))
    assert np.all(masses.any(axis=0))
    assert as_dicts(MassFunctions(masses, family)) == as_dicts(m)


@pytest.mark.parametrize("columns", [1, 3, 12])
def test_a_table_has_a_power_of_two_of_columns(columns):
    with pytest.raises(ValueError, match=rf"2\*\*n_clusters columns. Got {columns}"):
        transforms.mass_to_belief(np.ones((1, columns)))


@given(mass_functions(dogmatic=False))
def test_weights_match_their_definition_and_lead_back(m):
    table = transforms.dense(m.masses, m.focal_sets)
    log_weights = transforms.mass_to_log_weights(table)
    subsets = all_subsets(m.n_clusters)
    q = [dict(zip(subsets, row, strict=True)) for row in by_definition(m, "commonality", subsets)]
    for row, logs in zip(q, log_weights, strict=True):
        for a in subsets[:-1]:
            expected = -sum((-1) ** len(b - a) * np.log(row[b]) for b in subsets if b >= a)
            np.testing.assert_allclose(logs[sum(1 << k for k in a)], expected, atol=1e-9)
    np.testing.assert_allclose(log_weights[:, -1], 0)
    np.testing.assert_allclose(transforms.log_weights_to_mass(log_weights), table, atol=1e-12)


def test_views_agree_with_an_independent_program(extracted):
    for m, ref in extracted:
        np.testing.assert_allclose(m.contour, ref["pl"], atol=1e-12)
        np.testing.assert_allclose(m.singleton_belief, ref["bel"], atol=1e-12)
        np.testing.assert_allclose(m.pignistic, ref["betp_n"], atol=1e-12)
        np.testing.assert_allclose(pignistic(m.masses, m.focal_sets, normalize=False), ref["betp"], atol=1e-12)
        np.testing.assert_allclose(m.normalize().contour, ref["pl_n"], atol=1e-12)
        np.testing.assert_allclose(m.normalize().singleton_belief, ref["bel_n"], atol=1e-12)


rows_of_numbers = st.integers(1, 5).flatmap(
    lambda c: st.lists(st.lists(st.integers(0, 4), min_size=c, max_size=c), min_size=1, max_size=4)
)


def assert_nested(m):
    for row in as_dicts(m):
        chain = sorted(row, key=len)
        assert all(a <= b for a, b in pairwise(chain))


@given(rows_of_numbers)
def test_from_pignistic_is_consonant_and_leads_back(rows):
    weights = np.array(rows) + np.eye(1, len(rows[0]))  # no row of zeros; ties stay
    p = weights / weights.sum(axis=1, keepdims=True)
    m = MassFunctions(*from_pignistic(p))
    np.testing.assert_allclose(m.pignistic, p, atol=1e-12)
    assert_nested(m)
    assert np.all(m.masses.any(axis=0))


@given(mass_functions())
def test_from_pignistic_is_the_least_committed(m):
    proper = m.normalize()
    subsets = all_subsets(m.n_clusters)
    q = by_definition(proper, "commonality", subsets)
    q_least = by_definition(MassFunctions(*from_pignistic(proper.pignistic)), "commonality", subsets)
    assert np.all(np.array(q_least) >= np.array(q) - 1e-12)


@given(rows_of_numbers)
def test_from_contour_is_consonant_and_leads_back(rows):
    contour = np.array(rows) / 4
    m = MassFunctions(*from_contour(contour))
    np.testing.assert_allclose(m.contour, contour, atol=1e-12)
    np.testing.assert_allclose(m.empty, 1 - contour.max(axis=1), atol=1e-12)
    assert_nested(m)
    for row, got in zip(contour, by_definition(m, "plausibility", all_subsets(m.n_clusters)), strict=True):
        highest = [max((row[k] for k in a), default=0) for a in all_subsets(m.n_clusters)]
        np.testing.assert_allclose(got, highest, atol=1e-12)  # a possibility measure


def test_consonant_mass_functions_reach_sixty_two_clusters():
    p = np.random.default_rng(3).dirichlet(np.ones(62), size=2)
    masses, family = from_pignistic(p)
    assert len(family) == 2 * 62 - 1  # two chains that share the frame
    np.testing.assert_allclose(pignistic(masses, family), p, atol=1e-12)


def test_numbers_that_are_no_probability_do_not_become_mass_functions():
    with pytest.raises(ValueError, match=r"row 0 sums to 0.9"):
        MassFunctions(*from_pignistic(np.array([[0.5, 0.4]])))
    with pytest.raises(ValueError, match="must not be negative"):
        MassFunctions(*from_pignistic(np.array([[1.2, -0.2]])))
    with pytest.raises(ValueError, match="must not be negative"):
        MassFunctions(*from_contour(np.array([[1.5, 0.5]])))
