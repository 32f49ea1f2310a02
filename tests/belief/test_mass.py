import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from evidentia.belief import FocalSets, MassFunctions, normalize, recast
from evidentia.belief.mass import check_masses
from strategies import all_subsets, as_dicts, assert_same_dicts, mass_functions, random_masses


def test_a_row_that_does_not_sum_to_one_is_named():
    with pytest.raises(ValueError, match=r"row 1 sums to 0.7 \(1 of 2 rows are off\)"):
        MassFunctions([[0, 0.5, 0.2, 0.3], [0, 0.5, 0.2, 0]], FocalSets(2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_no_number_is_refused(bad):
    with pytest.raises(ValueError, match="row 2 sums to"):
        MassFunctions([[1, 0], [0, 1], [bad, 1]], FocalSets(2, [1, 2]))


def test_a_negative_mass_is_named_even_when_the_row_sums_to_one():
    with pytest.raises(ValueError, match=r"row 1, column 2 holds -0\.25"):
        MassFunctions([[0, 0, 0, 1], [0, 0.75, -0.25, 0.5]], FocalSets(2))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 4, 1)])
def test_a_wrong_shape_is_named(shape):
    with pytest.raises(ValueError, match="one column for each of the 4 focal sets"):
        MassFunctions(np.ones(shape), FocalSets(2))


def test_rounding_is_repaired_and_only_where_it_is_needed():
    rows = np.array([[0.1, 0.2, 0.7, 0.0], [0.3333333, 0.3333333, 0.3333333, 0.0], [-1e-9, 0.5, 0.5, 0.0]])
    m = MassFunctions(rows, FocalSets(2))
    assert np.array_equal(m.masses[0], rows[0])
    np.testing.assert_allclose(m.masses[1], [1 / 3, 1 / 3, 1 / 3, 0], rtol=1e-12)
    np.testing.assert_allclose(m.masses.sum(axis=1), 1, atol=1e-15)
    assert m.masses.min() == 0


def test_rounding_is_repaired_in_an_array_that_may_not_be_written_to():
    rows = np.array([[0.3333333, 0.3333333, 0.3333333, 0.0], [-1e-9, 0.5, 0.5, 0.0]])
    rows.flags.writeable = False
    before = rows.copy()
    np.testing.assert_allclose(check_masses(rows, 4).sum(axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(MassFunctions(rows, FocalSets(2), copy=False).masses.sum(axis=1), 1, atol=1e-15)
    assert np.array_equal(rows, before)


def test_it_keeps_its_own_copy_unless_told_otherwise():
    mine = np.array([[0.0, 1.0, 0.0, 0.0]])
    m = MassFunctions(mine, FocalSets(2))
    mine[0, 1] = 7
    assert m.masses[0, 1] == 1
    handed_over = np.array([[0.0, 1.0, 0.0, 0.0]])
    assert MassFunctions(handed_over, FocalSets(2), copy=False).masses is handed_over


VIEWS = [
    "masses",
    "empty",
    "belief",
    "plausibility",
    "commonality",
    "contour",
    "singleton_belief",
    "pignistic",
    "nonspecificity",
    "entropy",
]


@pytest.mark.parametrize("family", [FocalSets(2), FocalSets(2, empty=False)])
@pytest.mark.parametrize("name", VIEWS)
def test_nothing_of_it_can_be_changed(family, name):
    m = MassFunctions(random_masses(3, family), family)
    with pytest.raises(ValueError, match="read-only"):
        getattr(m, name)[...] = 0
    with pytest.raises(AttributeError, match=f"immutable: build a new one to change '{name}'"):
        setattr(m, name, None)
    assert getattr(m, name) is getattr(m, name)


def test_it_survives_copying_and_pickling():
    m = MassFunctions(random_masses(3, FocalSets(2)), FocalSets(2))
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert np.array_equal(twin.masses, m.masses)
        assert twin.focal_sets == m.focal_sets
        assert np.array_equal(twin.contour, m.contour)


def test_views_by_hand():
    m = MassFunctions([[0.2, 0.1, 0.3, 0.4]], FocalSets(2))
    np.testing.assert_allclose(m.empty, [0.2])
    np.testing.assert_allclose(m.belief, [[0, 0.1, 0.3, 0.8]])
    np.testing.assert_allclose(m.plausibility, [[0, 0.5, 0.7, 0.8]])
    np.testing.assert_allclose(m.commonality, [[1, 0.5, 0.7, 0.4]])
    np.testing.assert_allclose(m.contour, [[0.5, 0.7]])
    np.testing.assert_allclose(m.singleton_belief, [[0.1, 0.3]])
    np.testing.assert_allclose(m.pignistic, [[0.375, 0.625]])
    np.testing.assert_allclose(m.nonspecificity, [0.6])  # log2(2) times 0.4 and the 0.2 of the empty set
    np.testing.assert_allclose(m.entropy, [-0.375 * np.log2(0.375) - 0.625 * np.log2(0.625)])
    assert repr(m) == "MassFunctions(1 objects, 2 clusters, 4 focal sets)"
    assert MassFunctions([[1.0]], FocalSets(2, [{0}])).empty.tolist() == [0]


def dempster_twin(m, whole):
    rest = sum(x for a, x in m.items() if a)
    return {a: x / rest for a, x in m.items() if a} if rest else {whole: 1.0}


def yager_twin(m, whole):
    out = {a: x for a, x in m.items() if a}
    out[whole] = out.get(whole, 0) + m.get(frozenset(), 0)
    return out


@pytest.mark.parametrize(("rule", "twin"), [("dempster", dempster_twin), ("yager", yager_twin)])
@given(m=mass_functions())
def test_normalizing_matches_its_definition(rule, twin, m):
    whole = all_subsets(m.n_clusters)[-1]
    done = m.normalize(rule)
    assert done.focal_sets.empty_index is None
    assert_same_dicts(as_dicts(done), [twin(row, whole) for row in as_dicts(m)])


def test_normalizing_agrees_with_an_independent_program(reference):
    ref = reference("credal_measures")
    family = FocalSets(3, [np.flatnonzero(row) for row in ref["F"]])
    m = MassFunctions(ref["mass_A"], family)
    for rule in ("dempster", "yager"):
        expected = MassFunctions(ref[f"{rule}_normalised_A"], family)
        assert_same_dicts(as_dicts(m.normalize(rule)), as_dicts(expected))


def test_normalizing_knows_its_rules():
    with pytest.raises(ValueError, match=r"'dempster' or 'yager'\. Got 'smets'"):
        normalize(np.array([[1.0, 0]]), FocalSets(1), rule="smets")


@given(mass_functions())
def test_over_a_larger_family_says_the_same(m):
    wide = m.recast(FocalSets(m.n_clusters))
    assert_same_dicts(as_dicts(wide), as_dicts(m), atol=0)
    assert np.array_equal(wide.recast(m.focal_sets).masses, m.masses)


def test_recast_refuses_to_lose_mass():
    masses, family = np.array([[0.3, 0.7, 0.0]]), FocalSets(3, [{0}, {1, 2}, {2}])
    assert recast(masses, family, FocalSets(3, [{1, 2}, {0}])).tolist() == [[0.7, 0.3]]
    with pytest.raises(ValueError, match=r"\{1,2\} holds mass"):
        recast(masses, family, FocalSets(3, "simple"))
    with pytest.raises(ValueError, match="3 clusters cannot become those of 2"):
        recast(masses, family, FocalSets(2))
